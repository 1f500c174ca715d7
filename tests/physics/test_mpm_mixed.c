// SPDX-License-Identifier: GPL-3.0-or-later
// Several materials in one simulation: each keeps its density, its friction and its law.
#include "base/error.h"
#include "base/rng.h"
#include "shared/mpm_scene.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

#define RADIUS 0.003f // m, of a particle
#define SIDE 0.06f    // m, of a box or a block
enum { MOST = 20000 };

static uint8_t kinds[MOST];

// A block of particles of one kind, its corner at `low`.
static GrainResult add_block(MpmScene *scene, Vec3 low, Vec3 size, uint8_t kind)
{
    float pitch = (float)mpm_scene_spacing(scene);
    int count[3] = {(int)(size.x / pitch), (int)(size.y / pitch), (int)(size.z / pitch)};
    for (int k = 0; k < count[2]; k++)
        for (int j = 0; j < count[1]; j++)
            for (int i = 0; i < count[0]; i++) {
                Vec3 at = {(float)i + 0.5f, (float)j + 0.5f, (float)k + 0.5f};
                if (scene->start.count == MOST) return GRAIN_ERROR_MEMORY;
                kinds[scene->start.count] = kind;
                Rng4 random = rng_at(scene->seed, (uint64_t)scene->start.count, RNG_STREAM_TEST, 0);
                Vec3 shift = {rng_signed(random.word[0]), rng_signed(random.word[1]), rng_signed(random.word[2])};
                at = vec3_add_scaled(vec3_add_scaled(low, at, pitch), shift, 0.3f * pitch);
                TRY(particles_add(&scene->start, at, vec3(0, 0, 0), scene->def.largest_radius));
            }
    return GRAIN_OK;
}

static void begin(MpmScene *scene, const SimMaterial *second)
{
    mpm_scene_begin(scene, RADIUS, 30.0f);
    scene->def.expected_speed = sqrtf(2.0f * 9.81f * SIDE);
    scene->def.more_materials = second, scene->def.more_material_count = 1;
    scene->def.particle_material = kinds;
    mpm_scene_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
}

// Two layers in a box: how much less high each is after a second, the lower one first. swapped: that is of the second
// kind.
static GrainResult stack(const SimMaterial *second, int swapped, double sunk[2])
{
    MpmScene scene;
    begin(&scene, second);
    float pitch = (float)mpm_scene_spacing(&scene), wide = pitch * floorf(SIDE / pitch);
    const Vec3 walls[4][2] = {
        {{0, 0, 0}, {1, 0, 0}}, {{wide, 0, 0}, {-1, 0, 0}}, {{0, 0, 0}, {0, 1, 0}}, {{0, wide, 0}, {0, -1, 0}}};
    for (int i = 0; i < 4; i++) mpm_scene_add_plane(&scene, walls[i][0], walls[i][1], 0.0f);
    Vec3 half = {SIDE, SIDE, 0.5f * SIDE};
    float first_height = pitch * floorf(half.z / pitch);
    TRY(add_block(&scene, vec3(0, 0, 0), half, (uint8_t)swapped));
    TRY(add_block(&scene, vec3(0, 0, first_height), half, (uint8_t)!swapped));
    TRY(mpm_scene_create(&scene, 2));
    GrainResult result = mpm_scene_run(&scene, 1.0);
    double sum[2] = {0};
    int64_t count[2] = {0};
    for (int64_t i = 0; i < scene.mpm->count; i++) {
        const MpmParticle *p = &scene.mpm->particles[i];
        int layer = p->material != swapped;
        sum[layer] += (double)mpm_place_of(scene.mpm, p).z, count[layer]++;
    }
    // The middle of a layer is half its height above what is below it.
    double height = (double)first_height, lower = 2.0 * sum[0] / (double)count[0];
    sunk[0] = 1.0 - lower / height;
    sunk[1] = 1.0 - 2.0 * (sum[1] / (double)count[1] - lower) / height;
    mpm_scene_end(&scene);
    return result;
}

// Light sand over heavy sand, or under it, is no looser. A layer settles by 2 %, and what is pressed by one three times
// as dense by 4 % more; taken by its weight it would be loose sand, and sink by 0.4.
static void check_stack(int swapped)
{
    const SimMaterial light = {.density = 800.0f, .friction = 0.6f};
    double sunk[2];
    ENSURE_OK(stack(&light, swapped, sunk));
    printf("# %s sand below: it sinks by %.3f, the other by %.3f of its height\n", swapped ? "light" : "heavy", sunk[0],
           sunk[1]);
    for (int layer = 0; layer < 2; layer++) ENSURE_NEAR(sunk[layer], 0.0, 0.08);
}

TEST(mpm_light_sand_lies_on_heavy_sand) { check_stack(0); }
TEST(mpm_heavy_sand_lies_on_light_sand) { check_stack(1); }

// m: how far out the particles of a kind are from the middle of their block, on the mean.
static double spread(const MpmScene *scene, int kind, float middle)
{
    double sum = 0.0;
    int64_t count = 0;
    for (int64_t i = 0; i < scene->mpm->count; i++) {
        if (scene->mpm->particles[i].material != kind) continue;
        Vec3 at = mpm_place_of(scene->mpm, &scene->mpm->particles[i]);
        sum += fabs((double)(at.x - middle)), count++;
    }
    return sum / (double)count;
}

typedef struct Spread {
    double sand, snow; // over the first
} Spread;

static GrainResult collapse(int threads, Spread *out)
{
    const SimMaterial snow = {.density = 400.0f, .friction = 0.6f, .law = "snow_chunky"};
    const Vec3 size = {SIDE, SIDE, SIDE};
    MpmScene scene;
    begin(&scene, &snow);
    TRY(add_block(&scene, vec3(0, 0, 0), size, 0));
    TRY(add_block(&scene, vec3(4.0f * SIDE, 0, 0), size, 1));
    TRY(mpm_scene_create(&scene, threads));
    double before = spread(&scene, 0, 0.5f * SIDE);
    GrainResult result = mpm_scene_run(&scene, 0.4);
    *out = (Spread){spread(&scene, 0, 0.5f * SIDE) / before, spread(&scene, 1, 4.5f * SIDE) / before};
    mpm_scene_end(&scene);
    return result;
}

// A block of sand and one of snow, apart: one runs out and the other stands, to the same bits for any number of threads
// and any instruction set.
TEST(mpm_snow_stands_where_sand_of_the_same_simulation_runs_out)
{
    Spread first, other;
    ENSURE_OK(collapse(1, &first));
    printf("# spread over the first: sand %.2f, snow %.2f\n", first.sand, first.snow);
    ENSURE(first.sand > 1.3 && first.snow < 1.1);
    for (int threads = 2; threads <= 3; threads++) {
        ENSURE_OK(collapse(threads, &other));
        ENSURE(memcmp(&other, &first, sizeof first) == 0);
    }
    SimdSet best = simd_set();
    for (int set = SIMD_BASE; set < (int)best; set++) {
        simd_limit((SimdSet)set);
        GrainResult result = collapse(1, &other);
        simd_limit(best);
        ENSURE_OK(result);
        ENSURE(memcmp(&other, &first, sizeof first) == 0);
    }
}
