// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/upsample_scene.h"
#include "base/alloc.h"
#include "base/cell_grid.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

GrainResult recording_make(Recording *recording, DemScene *scene, int frames, double frame_seconds)
{
    recording->frame_seconds = frame_seconds;
    recording->frames = frames;
    recording->count = scene->start.count;
    for (int f = 0; f < frames; f++) {
        if (f > 0) TRY(scene_run(scene, frame_seconds));
        recording->position[f] = ALLOC(Vec3, recording->count);
        recording->velocity[f] = ALLOC(Vec3, recording->count);
        Particles now = {
            .capacity = recording->count, .position = recording->position[f], .velocity = recording->velocity[f]};
        now.radius = ALLOC(float, recording->count);
        if (!now.position || !now.velocity || !now.radius) return GRAIN_ERROR_MEMORY;
        GrainResult result = dem_solver.read(scene->dem, &now);
        alloc_free(now.radius);
        alloc_free(now.orientation);
        TRY(result);
    }
    return GRAIN_OK;
}

void recording_add_plane(Recording *recording, Vec3 point, Vec3 normal, float friction)
{
    recording->colliders[recording->walls.count++] = (SimCollider){
        .plane_point = point, .plane_normal = vec3_normalize(normal, vec3(0, 0, 1)), .friction = friction};
}

GrainResult recording_add_mesh(Recording *recording, const GrainMesh *mesh, float friction)
{
    GrainSdfDef def;
    GrainRun run = {sizeof run, 1, NULL, NULL};
    TRY(grain_sdf_def_default(&def, sizeof def));
    def.voxel_size = 0.25f * recording->radius; // as grain_upsample does
    def.band_voxels = 12.0f;
    GrainSdf **sdf = &recording->sdf[recording->walls.count];
    TRY(grain_sdf_create(mesh, &def, &run, sdf));
    recording->colliders[recording->walls.count++] = (SimCollider){.sdf = *sdf, .friction = friction};
    return GRAIN_OK;
}

void recording_end(Recording *recording)
{
    for (int f = 0; f < RECORDING_MOST_FRAMES; f++)
        alloc_free(recording->position[f]), alloc_free(recording->velocity[f]);
    for (int i = 0; i < 8; i++) grain_sdf_destroy(recording->sdf[i]);
    *recording = (Recording){0};
}

UpsampleCoarse recording_frame(const Recording *recording, int frame)
{
    return (UpsampleCoarse){recording->count, recording->position[frame], recording->velocity[frame], NULL};
}

void recording_put_to_rest(Recording *recording)
{
    memset(recording->velocity[recording->frames - 1], 0, (size_t)recording->count * sizeof(Vec3));
}

void grains_free(Grains *grains)
{
    alloc_free(grains->position), alloc_free(grains->velocity), alloc_free(grains->radius);
    *grains = (Grains){0};
}

static const UpsampleWalls *walls_at(void *user, double time)
{
    Recording *recording = user;
    (void)time;
    recording->walls.collider = recording->colliders, recording->walls.frame = recording->frame;
    return &recording->walls;
}

UpsampleDef recording_def(const Recording *recording, double per_particle, UpsampleScheme scheme)
{
    return (UpsampleDef){.scheme = scheme,
                         .coarse_radius = recording->radius,
                         .per_particle = per_particle,
                         .size_spread = 0.2f,
                         .substep = 0.01f,
                         .gravity = {.constant = {0, 0, -9.81f}, .components = 3},
                         .coarse_total = recording->count,
                         .shard_count = 1,
                         .walls = walls_at,
                         .walls_user = (void *)recording};
}

static GrainResult take_grains(Upsampler *upsampler, Grains *out)
{
    int64_t count = upsample_count(upsampler);
    *out = (Grains){count, ALLOC(Vec3, count), ALLOC(Vec3, count), ALLOC(float, count)};
    if (!out->position || !out->velocity || !out->radius) return GRAIN_ERROR_MEMORY;
    upsample_order(upsampler);
    upsample_rows(upsampler, 0, count, &(UpsampleRows){out->position, out->velocity, out->radius, NULL, NULL, NULL});
    return GRAIN_OK;
}

GrainResult recording_refine(const Recording *recording, const UpsampleDef *def, int first, int last, int still,
                             Grains *out)
{
    Upsampler *upsampler;
    TRY(upsample_create(def, 2, &upsampler));
    UpsampleCoarse from = recording_frame(recording, first);
    GrainResult result = upsample_begin(upsampler, &from, 0.0);
    double seconds = recording->frame_seconds;
    for (int f = first; f < last + still && result == GRAIN_OK; f++) {
        UpsampleCoarse to = recording_frame(recording, f < last ? f + 1 : last);
        result = upsample_advance(upsampler, &from, &to, (f - first) * seconds, seconds, NULL, NULL);
        from = to;
    }
    if (result == GRAIN_OK) result = take_grains(upsampler, out);
    upsample_destroy(upsampler);
    return result;
}

double grains_clumped(const Grains *grains, const UpsampleDef *def, double coarse_per_volume)
{
    float side = 1.5f * def->coarse_radius;
    float *x = ALLOC(float, grains->count), *y = ALLOC(float, grains->count), *z = ALLOC(float, grains->count);
    // Cells of a lattice fixed in space: the grid's own begins wherever the lowest grain is.
    for (int64_t i = 0; i < grains->count; i++)
        x[i] = floorf(grains->position[i].x / side) * side, y[i] = floorf(grains->position[i].y / side) * side,
        z[i] = floorf(grains->position[i].z / side) * side;
    CellGrid grid = {0};
    int64_t clumped = 0;
    double nominal = coarse_per_volume * def->per_particle * pow((double)side, 3.0);
    if (cell_grid_build(&grid, x, y, z, grains->count, 0.5f * side, 1) == GRAIN_OK)
        for (int64_t cell = 0; cell < grid.cell_count; cell++) {
            int32_t held = grid.cell_start[cell + 1] - grid.cell_start[cell];
            if (held > 2.0 * nominal) clumped += held;
        }
    cell_grid_free(&grid);
    alloc_free(x), alloc_free(y), alloc_free(z);
    return (double)clumped / (double)grains->count;
}
