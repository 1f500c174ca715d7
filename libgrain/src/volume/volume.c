// SPDX-License-Identifier: GPL-3.0-or-later
#include "volume/volume.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "base/system.h"
#include "volume/volume_inside.h"

#include <string.h>

// Below this share of a voxel, rounding to halves leaves nothing worth storing.
#define LEAST_DENSITY 1e-6f

static void gather(VolumeSums *sums, const VolumeLattice *lattice, int64_t block)
{
    const VolumeDef *def = lattice->def;
    memset(sums, 0, sizeof *sums);
    for (int way = 0; way < 27; way++) {
        const int step[3] = {way % 3 - 1, way / 3 % 3 - 1, way / 9 - 1};
        const VolumeCell *cell = volume_cell_near(lattice, lattice->block_key[block], step);
        if (!cell) continue;
        const float shift[3] = {8.0f * (float)step[0], 8.0f * (float)step[1], 8.0f * (float)step[2]};
        const VolumePoint *points = lattice->points + cell->first;
        int64_t count = cell->end - cell->first;
        SIMD_CALL(volume_gather_amount)(sums, points, count, shift, def->velocity_seconds > 0.0f);
        if (def->surface_radii > 0.0f) SIMD_CALL(volume_gather_surface)(sums, points, count, shift, def->surface_radii);
    }
}

// The mean of the centres around a point on the outside of much sand lies further in than a radius, the more the
// further they count: worked out for cubic and hexagonal packings, between which this lies within 5 %. With the plain
// radius of Zhu and Bridson smooth surfaces would shrink and stand off the floor.
static float radii_to_mean(float reach) { return real_maxf(1.0f, 0.2f + 0.235f * reach); }

// How far the surface is by Zhu and Bridson, in voxels: below 0 inside. Their function has the right sign only.
static float level_of(const VolumeSums *sums, int voxel, float radii)
{
    float weight = sums->weight[voxel];
    if (!(weight > 1e-6f)) return VOLUME_BAND;
    float x = sums->offset[0][voxel] / weight, y = sums->offset[1][voxel] / weight, z = sums->offset[2][voxel] / weight;
    return sqrtf(x * x + y * y + z * z) - radii * sums->radius[voxel] / weight;
}

static void store(Volume *volume, int64_t block, const VolumeSums *sums, float radii)
{
    float *density = volume->density + VOLUME_VOXELS * block;
    for (int i = 0; i < VOLUME_VOXELS; i++) density[i] = sums->amount[i] > LEAST_DENSITY ? sums->amount[i] : 0.0f;
    if (volume->velocity)
        for (int axis = 0; axis < 3; axis++) {
            float *velocity = volume->velocity + VOLUME_VOXELS * (3 * block + axis);
            for (int i = 0; i < VOLUME_VOXELS; i++)
                velocity[i] = density[i] > 0.0f ? sums->momentum[axis][i] / sums->amount[i] : 0.0f;
        }
    if (volume->distance)
        for (int i = 0; i < VOLUME_VOXELS; i++) volume->distance[VOLUME_VOXELS * block + i] = level_of(sums, i, radii);
}

static GrainResult fill_blocks(Volume *volume, const VolumeLattice *lattice, int threads)
{
    const VolumeDef *def = lattice->def;
    int64_t count = lattice->block_count;
    double needed = volume_bytes(0, count, def), free_bytes = (double)system_memory_available();
    if (needed > free_bytes)
        return fail(GRAIN_ERROR_MEMORY,
                    "%.0f million voxels need %.1f GB of memory where %.1f are free; use larger voxels",
                    1e-6 * VOLUME_VOXELS * (double)count, 1e-9 * needed, 1e-9 * free_bytes);
    volume->density = ALLOC(float, VOLUME_VOXELS *count);
    if (def->velocity_seconds > 0.0f) volume->velocity = ALLOC(float, 3 * VOLUME_VOXELS * count);
    if (def->surface_radii > 0.0f) volume->distance = ALLOC(float, VOLUME_VOXELS *count);
    VolumeSums *sums = ALLOC(VolumeSums, threads);
    GrainResult result = volume->density && sums && (volume->velocity || def->velocity_seconds <= 0.0f) &&
                                 (volume->distance || def->surface_radii <= 0.0f)
                             ? GRAIN_OK
                             : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) {
        float radii = def->surface_radii > 0.0f ? radii_to_mean(def->surface_radii) : 0.0f;
        PARALLEL_BLOCKS(threads, block, count)
        {
            VolumeSums *own = &sums[parallel_thread_index()];
            gather(own, lattice, block);
            store(volume, block, own, radii);
        }
    }
    alloc_free(sums);
    return result;
}

static GrainResult make(Volume *volume, VolumeLattice *lattice, const VolumeDef *def, const VolumeParticles *particles,
                        int threads)
{
    TRY(volume_lattice_make(lattice, def, particles, threads));
    TRY(volume_place_blocks(volume, lattice, threads));
    TRY(fill_blocks(volume, lattice, threads));
    if (volume->velocity) TRY(volume_finish_velocity(volume, def->velocity_seconds, threads));
    if (volume->distance) TRY(volume_finish_distance(volume, threads));
    return GRAIN_OK;
}

GrainResult volume_make(Volume *out, const VolumeDef *def, const VolumeParticles *particles, int threads)
{
    *out = (Volume){.voxel_size = (double)def->voxel_size};
    VolumeLattice lattice = {0};
    GrainResult result = make(out, &lattice, def, particles, threads);
    volume_lattice_free(&lattice);
    if (result != GRAIN_OK) volume_free(out);
    return result;
}

void volume_free(Volume *volume)
{
    alloc_free(volume->corner);
    alloc_free(volume->neighbour);
    alloc_free(volume->density);
    alloc_free(volume->velocity);
    alloc_free(volume->distance);
    *volume = (Volume){0};
}

double volume_bytes(int64_t particles, int64_t blocks, const VolumeDef *def)
{
    // Sorted items and their double; the finishing passes hold everything twice.
    double of_particle = sizeof(VolumePoint) + 2.0 * 16.0;
    double grids = 1.0 + (def->velocity_seconds > 0.0f ? 7.0 : 0.0) + (def->surface_radii > 0.0f ? 3.0 : 0.0);
    return of_particle * (double)particles + 4.0 * VOLUME_VOXELS * grids * (double)blocks;
}
