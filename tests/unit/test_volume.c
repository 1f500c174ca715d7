// SPDX-License-Identifier: GPL-3.0-or-later
// Particles as voxels: nothing is lost, distances are distances, the bits depend on nothing but the particles.
#include "base/alloc.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/simd.h"
#include "base/system.h"
#include "grain/grain.h"
#include "unit/test.h"
#include "volume/volume.h"
#include "volume/volume_dust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 4000
#define SPHERE 4.18879020478639

typedef struct Sand {
    Vec3 position[COUNT], velocity[COUNT];
    float radius[COUNT];
    int64_t count;
} Sand;

static VolumeParticles particles_of(const Sand *sand)
{
    return (VolumeParticles){.count = sand->count,
                             .position = sand->position,
                             .velocity = sand->velocity,
                             .radius = sand->radius,
                             .amount_of_cube = SPHERE};
}

static float random_float(int i, int k) { return rng_signed(rng_at(5, (uint64_t)i, 0, (uint32_t)k).word[0]); }

// All over a box about `centre`, in clouds and strays.
static void scatter(Sand *sand, Vec3 centre, float size)
{
    sand->count = COUNT;
    for (int i = 0; i < COUNT; i++) {
        float spread = i % 3 ? size : 0.1f * size;
        sand->position[i] = vec3(centre.x + spread * random_float(i, 0), centre.y + spread * random_float(i, 1),
                                 centre.z + spread * random_float(i, 2));
        sand->velocity[i] = vec3(random_float(i, 3), random_float(i, 4), 3.0f + random_float(i, 5));
        sand->radius[i] = 0.01f * (1.0f + 0.3f * random_float(i, 6));
    }
}

static double amount_in(const Volume *v, Vec3 *centre)
{
    double sum = 0.0, moment[3] = {0};
    for (int64_t i = 0; i < 512 * v->block_count; i++) {
        double value = (double)v->density[i];
        const int32_t *corner = v->corner + 3 * (i / 512);
        sum += value;
        moment[0] += value * (corner[0] + (i & 7));
        moment[1] += value * (corner[1] + (i >> 3 & 7));
        moment[2] += value * (corner[2] + (i >> 6 & 7));
    }
    double h = v->voxel_size;
    *centre = vec3((float)(h * moment[0] / sum), (float)(h * moment[1] / sum), (float)(h * moment[2] / sum));
    return sum * h * h * h;
}

static Sand sand;

// For voxels from half a radius to 20, near the origin and far away. Rounding in floats: 1e-4 would already be a grain
// lost.
TEST(volumes_hold_all_the_sand_where_it_is)
{
    const float voxels[] = {0.005f, 0.013f, 0.02f, 0.2f};
    const Vec3 places[] = {{0.003f, -0.001f, 0.0f}, {-700.0f, 500.0f, 90.0f}};
    for (int p = 0; p < 2; p++)
        for (int k = 0; k < 4; k++) {
            scatter(&sand, places[p], 0.4f);
            VolumeParticles particles = particles_of(&sand);
            double amount = 0.0, moment = 0.0;
            for (int i = 0; i < COUNT; i++) {
                double own = SPHERE * pow((double)sand.radius[i], 3.0);
                amount += own, moment += own * (double)sand.position[i].z;
            }
            Volume volume;
            VolumeDef def = {.voxel_size = voxels[k]};
            ENSURE_OK(volume_make(&volume, &def, &particles, 2));
            Vec3 centre;
            double found = amount_in(&volume, &centre);
            volume_free(&volume);
            ENSURE_NEAR(found / amount, 1.0, 2e-5);
            ENSURE_NEAR(centre.z, moment / amount, 1e-3 * (double)voxels[k] + 1e-5);
        }
}

static int is_same(const Volume *a, const Volume *b)
{
    size_t bytes = 512 * sizeof(float) * (size_t)a->block_count;
    return a->block_count == b->block_count && memcmp(a->density, b->density, bytes) == 0 &&
           memcmp(a->velocity, b->velocity, 3 * bytes) == 0 && memcmp(a->distance, b->distance, bytes) == 0;
}

TEST(volumes_have_the_same_bits_for_any_number_of_threads_and_any_cpu)
{
    scatter(&sand, vec3(0.1f, 0.2f, 0.3f), 0.5f);
    VolumeParticles particles = particles_of(&sand);
    VolumeDef def = {.voxel_size = 0.015f, .velocity_seconds = 0.02f, .surface_radii = 4.0f};
    Volume first, other;
    ENSURE_OK(volume_make(&first, &def, &particles, 1));
    int same = 1;
    const struct {
        int threads;
        SimdSet set;
    } ways[] = {{2, SIMD_AVX512}, {5, SIMD_AVX2}, {3, SIMD_BASE}};
    for (int i = 0; i < 3; i++) {
        simd_limit(ways[i].set);
        GrainResult result = volume_make(&other, &def, &particles, ways[i].threads);
        same = same && result == GRAIN_OK && is_same(&first, &other);
        volume_free(&other);
    }
    simd_limit(SIMD_AVX512);
    volume_free(&first);
    ENSURE(same);
}

// Distance from the nearest particle's surface.
static float distance_from_sand(Vec3 at)
{
    float nearest = INFINITY;
    for (int64_t i = 0; i < sand.count; i++)
        nearest = fminf(nearest, vec3_length(vec3_sub(at, sand.position[i])) - sand.radius[i]);
    return nearest;
}

// A ball of particles. Outside, the smooth surface lies within a radius of the particles' own: it fills dents and
// rounds corners off, but never loses a layer. The distances of two voxels next to each other along an axis through the
// ball differ by nearly a voxel.
TEST(surfaces_are_distances_from_the_sand)
{
    const float spacing = 0.02f, ball = 0.12f, voxel = 0.01f;
    sand.count = 0;
    for (int z = -9; z <= 9; z++)
        for (int y = -9; y <= 9; y++)
            for (int x = -9; x <= 9; x++) {
                Vec3 at = vec3_scale(vec3((float)x, (float)y, (float)z), spacing);
                if (vec3_length(at) > ball - 0.01f || sand.count == COUNT) continue;
                sand.radius[sand.count] = 0.01f;
                sand.position[sand.count++] = at;
            }
    VolumeParticles particles = particles_of(&sand);
    VolumeDef def = {.voxel_size = voxel, .surface_radii = 4.0f};
    Volume v;
    ENSURE_OK(volume_make(&v, &def, &particles, 2));
    double worst = 0.0, slope = 0.0;
    int64_t inside = 0, pairs = 0;
    for (int64_t i = 0; i < 512 * v.block_count; i++) {
        const int32_t *corner = v.corner + 3 * (i / 512);
        Vec3 at = vec3_scale(
            vec3((float)(corner[0] + (i & 7)), (float)(corner[1] + (i >> 3 & 7)), (float)(corner[2] + (i >> 6 & 7))),
            voxel);
        float truth = vec3_length(at) - ball, found = v.distance[i];
        inside += found < 0.0f;
        if (truth > 0.0f && truth < 2.0f * voxel) worst = fmax(worst, fabs((double)(found - distance_from_sand(at))));
        if ((i & 7) < 7 && fabsf(found) < 2.5f * voxel && fabsf(at.y) < 0.02f && fabsf(at.z) < 0.02f) {
            slope += fabs((double)(v.distance[i + 1] - found)) / (double)voxel;
            pairs++;
        }
    }
    volume_free(&v);
    double volume_inside = (double)inside * pow((double)voxel, 3.0),
           true_volume = (double)sand.count * pow((double)spacing, 3.0);
    ENSURE_NEAR(worst, 0.0, 0.01);
    ENSURE_NEAR(volume_inside / true_volume, 1.0, 0.15);
    ENSURE(pairs > 20);
    ENSURE_NEAR(slope / (double)pairs, 1.0, 0.15);
}

// A clump that flies at 6 m/s with a shutter of 1/24 s: half of that, 0.125 m, before and behind it a ray must find its
// velocity, here some 6 of 8 voxels; what is at rest leaves none.
TEST(velocities_reach_as_far_as_the_sand_flies)
{
    sand.count = 200;
    for (int i = 0; i < 200; i++) {
        int flies = i < 100;
        sand.position[i] = vec3((flies ? 0.0f : 2.0f) + 0.02f * random_float(i, 0), 0.02f * random_float(i, 1),
                                0.02f * random_float(i, 2));
        sand.velocity[i] = vec3(flies ? 6.0f : 0.0f, 0.0f, 0.0f);
        sand.radius[i] = 0.01f;
    }
    VolumeParticles particles = particles_of(&sand);
    VolumeDef def = {.voxel_size = 0.02f, .velocity_seconds = 0.5f / 24.0f};
    Volume v;
    ENSURE_OK(volume_make(&v, &def, &particles, 2));
    float before = 0.0f, behind = 0.0f, wrong = 0.0f, at_rest = 0.0f;
    for (int64_t i = 0; i < 512 * v.block_count; i++) {
        int64_t block = i / 512;
        int x = v.corner[3 * block] + (int)(i & 7), y = v.corner[3 * block + 1] + (int)(i >> 3 & 7);
        int z = v.corner[3 * block + 2] + (int)(i >> 6 & 7);
        const float *velocity = v.velocity + 1536 * block + (i & 511);
        wrong = fmaxf(wrong, fmaxf(fabsf(velocity[512]), fabsf(velocity[1024])));
        if (y == 0 && z == 0 && x == 6) before = velocity[0];
        if (y == 0 && z == 0 && x == -6) behind = velocity[0];
        if (x > 50) at_rest = fmaxf(at_rest, fabsf(velocity[0]));
    }
    volume_free(&v);
    ENSURE_NEAR(before, 6.0, 1e-4);
    ENSURE_NEAR(behind, 6.0, 1e-4);
    ENSURE(wrong < 1e-4f && at_rest == 0.0f);
}

TEST(volumes_of_nothing_and_of_what_makes_no_sense)
{
    Volume v;
    VolumeDef def = {.voxel_size = 0.02f, .velocity_seconds = 0.02f, .surface_radii = 4.0f};
    sand.count = 0;
    VolumeParticles particles = particles_of(&sand);
    ENSURE_OK(volume_make(&v, &def, &particles, 2));
    ENSURE(v.block_count == 0);
    volume_free(&v);
    scatter(&sand, vec3(0, 0, 0), 1.0f);
    particles = particles_of(&sand);
    sand.position[1234].y = NAN;
    ENSURE_FAILS(volume_make(&v, &def, &particles, 2), GRAIN_ERROR_DIVERGED, "1234");
    sand.position[1234].y = 1e30f;
    ENSURE_FAILS(volume_make(&v, &def, &particles, 2), GRAIN_ERROR_ARGUMENT, "larger ones");
}

typedef struct Refuser {
    int calls, refuse;
} Refuser;

static void *refuse_one(void *user, uint64_t bytes, uint64_t alignment)
{
    Refuser *refuser = user;
    return refuser->calls++ == refuser->refuse ? NULL : system_allocate(bytes, alignment);
}

static void release(void *user, void *memory, uint64_t bytes)
{
    (void)user, (void)bytes;
    system_free(memory);
}

TEST(volumes_survive_every_refused_allocation)
{
    scatter(&sand, vec3(0, 0, 0), 0.1f);
    VolumeParticles particles = particles_of(&sand);
    VolumeDef def = {.voxel_size = 0.03f, .velocity_seconds = 0.02f, .surface_radii = 4.0f};
    Refuser refuser = {0, -1};
    GrainAllocator allocator = {refuse_one, release, &refuser};
    int failures = 0, calls = 1;
    for (int refuse = -1; refuse < calls; refuse++) {
        refuser = (Refuser){0, refuse};
        ENSURE_OK(grain_set_allocator(&allocator));
        Volume v;
        GrainResult result = volume_make(&v, &def, &particles, 1);
        if (result == GRAIN_OK) volume_free(&v);
        int64_t left = grain_allocated_bytes();
        ENSURE_OK(grain_set_allocator(NULL));
        ENSURE(left == 0);
        if (refuse < 0) calls = refuser.calls;
        failures += result == GRAIN_ERROR_MEMORY;
    }
    ENSURE_EQUAL(failures, calls);
}

// --- dust -----------------------------------------------------------------------------------------

static GrainResult read_sand(void *user, int32_t frame, Dust *dust)
{
    (void)user;
    if (frame < 1) return GRAIN_OK;
    VolumeParticles particles = particles_of(&sand);
    return dust_add(dust, frame, &particles);
}

static double dust_amount(Dust *dust, int32_t frame)
{
    VolumeParticles puffs;
    if (dust_at(dust, frame, 2, &puffs) != GRAIN_OK) return -1.0;
    double sum = 0.0;
    for (int64_t i = 0; i < puffs.count; i++) sum += (double)puffs.amount[i];
    return sum;
}

// Sand that keeps moving at twice the speed keeps as much dust in the air as there is sand; slow sand raises none; any
// order of frames gives the same.
TEST(dust_comes_from_fast_sand_and_stays_a_while)
{
    scatter(&sand, vec3(0, 0, 0), 0.2f);
    double amount = 0.0;
    for (int i = 0; i < COUNT; i++) {
        int fast = i % 2;
        sand.velocity[i] = vec3(fast ? 2.5f : 0.9f, 0.0f, 0.0f);
        if (fast) amount += SPHERE * pow((double)sand.radius[i], 3.0);
    }
    DustDef def = {
        .speed = 1.0f, .linger = 0.5f, .frame_seconds = 1.0f / 24.0f, .voxel_size = 0.04f, .read = read_sand};
    Dust *dust, *jumping;
    ENSURE_OK(dust_create(&def, &dust));
    ENSURE_OK(dust_create(&def, &jumping));
    double first = dust_amount(dust, 1), later = 0.0;
    for (int32_t frame = 2; frame <= 40; frame++) later = dust_amount(dust, frame);
    double jumped = dust_amount(jumping, 40), back = dust_amount(jumping, 1);
    dust_destroy(dust);
    dust_destroy(jumping);
    ENSURE(first > 0.0 && first < 0.3 * later);
    ENSURE_NEAR(later / amount, 1.0, 1e-3);
    ENSURE(jumped == later && back == first);
}
