// SPDX-License-Identifier: GPL-3.0-or-later
// Detail the coarse particles do not have: gaps too narrow for them, surfaces smoother than they are.
#include "base/alloc.h"
#include "base/rng.h"
#include "grain/grain.h"
#include "shared/meshes.h"
#include "shared/upsample_scene.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

// --- the ladder -----------------------------------------------------------------------------------

#define RUNG_COUNT 8
#define RUNG_HEIGHT 0.2f // m, of the rungs' upper side above the ground

typedef struct Ladder {
    float radius, gap, width; // coarse radius; between rungs; of a rung
} Ladder;

static Shape ladder_shape(const Ladder *ladder)
{
    Shape all = {0};
    for (int i = 0; i < RUNG_COUNT; i++) {
        float x = (float)i * (ladder->gap + ladder->width);
        Shape rung = shape_box(x, -0.3f, RUNG_HEIGHT - 2.0f * ladder->radius, x + ladder->width, 0.3f, RUNG_HEIGHT);
        all = i == 0 ? rung : shape_join(all, rung);
    }
    return all;
}

// Sand is poured over rungs that are nearer to each other than a coarse particle is wide. Walls keep it from spilling
// over the sides.
static GrainResult record_ladder(Recording *recording, const Ladder *ladder)
{
    DemScene scene;
    float end = RUNG_COUNT * (ladder->gap + ladder->width) - ladder->gap;
    *recording = (Recording){.radius = ladder->radius};
    scene_begin(&scene, ladder->radius);
    scene.def.expected_speed = 2.0f;
    const Vec3 points[] = {{0, 0, 0}, {0, 0, 0}, {end, 0, 0}, {0, -0.1f, 0}, {0, 0.1f, 0}};
    const Vec3 normals[] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    for (int i = 0; i < 5; i++) {
        scene_add_plane(&scene, points[i], normals[i], 0.4f);
        recording_add_plane(recording, points[i], normals[i], 0.4f);
    }
    Shape rungs = ladder_shape(ladder);
    GrainMesh mesh = shape_mesh(&rungs);
    GrainResult result = scene_add_mesh(&scene, &mesh, 0.4f);
    if (result == GRAIN_OK) result = recording_add_mesh(recording, &mesh, 0.4f);
    shape_free(&rungs);
    if (result == GRAIN_OK)
        result = scene_fill_box(&scene, vec3(0.02f, -0.08f, RUNG_HEIGHT + 0.08f),
                                vec3(end - 0.02f, 0.08f, RUNG_HEIGHT + 0.2f), 0.3f, 0.1f);
    if (result == GRAIN_OK) result = scene_create(&scene, 2);
    if (result == GRAIN_OK) result = recording_make(recording, &scene, 21, 0.04);
    if (result == GRAIN_OK) recording_put_to_rest(recording);
    scene_end(&scene);
    return result;
}

TEST(grains_fall_through_gaps_that_stop_particles)
{
    Recording r;
    const Ladder ladder = {0.012f, 0.018f, 0.024f};
    ENSURE_OK(record_ladder(&r, &ladder));
    int64_t coarse_below = 0;
    for (int64_t i = 0; i < r.count; i++) coarse_below += r.position[20][i].z < RUNG_HEIGHT - ladder.radius;
    UpsampleDef def = recording_def(&r, 50.0, UPSAMPLE_GATED);
    Grains g;
    ENSURE_OK(recording_refine(&r, &def, 0, 20, 10, &g));
    int64_t below = 0, shadow = 0, on_ground = 0;
    for (int64_t i = 0; i < g.count; i++) {
        Vec3 p = g.position[i];
        below += p.z < RUNG_HEIGHT - 2.0f * ladder.radius;
        if (p.z > 2.0f * g.radius[i]) continue;
        on_ground++;
        float x = fmodf(p.x, ladder.gap + ladder.width);
        shadow += x > ladder.width;
    }
    // None of the particles, but over one in a hundred grains; more than four in five of them below gaps, which are
    // three sevenths of the width: grains scatter a little on their way down.
    ENSURE(coarse_below == 0);
    ENSURE(below > g.count / 100 && on_ground == below);
    ENSURE((double)shadow > 0.8 * (double)on_ground);
    grains_free(&g);
    recording_end(&r);
}

// --- the surface ----------------------------------------------------------------------------------

#define BED_SIDE 0.24f
#define MAP 28 // heights along a side of the inner square

typedef struct HeightMap {
    double height[MAP][MAP];
} HeightMap;

static GrainResult record_bed(Recording *recording, float radius)
{
    DemScene scene;
    *recording = (Recording){.radius = radius};
    scene_begin(&scene, radius);
    const Vec3 points[] = {{0, 0, 0}, {0, 0, 0}, {BED_SIDE, 0, 0}, {0, 0, 0}, {0, BED_SIDE, 0}};
    const Vec3 normals[] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    for (int i = 0; i < 5; i++) {
        scene_add_plane(&scene, points[i], normals[i], 0.4f);
        recording_add_plane(recording, points[i], normals[i], 0.4f);
    }
    GrainResult result = scene_fill_box(&scene, vec3(0, 0, 0), vec3(BED_SIDE, BED_SIDE, 8.0f * radius), 0.1f, 0.2f);
    if (result == GRAIN_OK) result = scene_create(&scene, 2);
    if (result == GRAIN_OK) result = recording_make(recording, &scene, 16, 0.04);
    if (result == GRAIN_OK) recording_put_to_rest(recording);
    scene_end(&scene);
    return result;
}

static float map_step(float radius) { return (BED_SIDE - 6.0f * radius) / MAP; }

// The highest grain over each square, with the grain's radius on top.
static void map_grains(const Recording *r, const Grains *g, HeightMap *map)
{
    float step = map_step(r->radius), low = 3.0f * r->radius;
    memset(map, 0, sizeof *map);
    for (int64_t i = 0; i < g->count; i++) {
        int x = (int)floorf((g->position[i].x - low) / step), y = (int)floorf((g->position[i].y - low) / step);
        if (x < 0 || y < 0 || x >= MAP || y >= MAP) continue;
        map->height[y][x] = fmax(map->height[y][x], (double)(g->position[i].z));
    }
}

// Where the coarse particles' sum of weights falls to half of what it is inside, from above, in double precision.
static void map_coarse(const Recording *r, HeightMap *map)
{
    double reach2 = 9.0 * (double)r->radius * (double)r->radius, level = 0.5 * 2.1541;
    float step = map_step(r->radius), low = 3.0f * r->radius;
    for (int y = 0; y < MAP; y++)
        for (int x = 0; x < MAP; x++) {
            double px = (double)(low + step * ((float)x + 0.5f)), py = (double)(low + step * ((float)y + 0.5f)),
                   z = 0.15, sum = 0;
            for (; z > 0 && sum < level; z -= 0.05 * (double)r->radius) {
                sum = 0;
                for (int64_t i = 0; i < r->count; i++) {
                    Vec3 c = r->position[r->frames - 1][i];
                    double dx = px - (double)c.x, dy = py - (double)c.y, dz = z - (double)c.z;
                    double q = 1.0 - (dx * dx + dy * dy + dz * dz) / reach2;
                    if (q > 0) sum += q * q * q;
                }
            }
            map->height[y][x] = z;
        }
}

// Power of the map's rows at wave number k (whole waves along the side).
static double power_at(const HeightMap *map, int k)
{
    double power = 0;
    for (int y = 0; y < MAP; y++) {
        double re = 0, im = 0, mean = 0;
        for (int x = 0; x < MAP; x++) mean += map->height[y][x] / MAP;
        for (int x = 0; x < MAP; x++) {
            double window = 0.5 - 0.5 * cos(6.283185307 * (x + 0.5) / MAP), a = 6.283185307 * k * x / MAP;
            re += window * (map->height[y][x] - mean) * cos(a), im += window * (map->height[y][x] - mean) * sin(a);
        }
        power += re * re + im * im;
    }
    return power;
}

// The grains' surface is the coarse particles' one, without their bumps: one wave for each particle's width, seven of
// them along the square, has no more power than its neighbours in the spectrum.
TEST(the_surface_is_the_coarse_one_without_its_pattern)
{
    Recording r;
    static HeightMap fine, coarse;
    ENSURE_OK(record_bed(&r, 0.012f));
    UpsampleDef def = recording_def(&r, 500.0, UPSAMPLE_GATED);
    Grains g;
    ENSURE_OK(recording_refine(&r, &def, 15, 15, 5, &g));
    map_grains(&r, &g, &fine);
    map_coarse(&r, &coarse);
    double squares = 0;
    for (int y = 0; y < MAP; y++)
        for (int x = 0; x < MAP; x++) squares += pow((fine.height[y][x] - coarse.height[y][x]) / (double)r.radius, 2.0);
    int wave = (int)lroundf(MAP * map_step(r.radius) / (2.0f * r.radius));
    double around = 0.25 * (power_at(&fine, wave - 2) + power_at(&fine, wave - 1) + power_at(&fine, wave + 1) +
                            power_at(&fine, wave + 2));
    ENSURE(sqrt(squares / (MAP * MAP)) < 0.5);
    ENSURE(power_at(&fine, wave) < 1.3 * around);
    grains_free(&g);
    recording_end(&r);
}
