// SPDX-License-Identifier: GPL-3.0-or-later
// Snowballs that drop: powder, chunks and wet snow break as Stomakhin et al. 2013 describe them.
#include "base/alloc.h"
#include "base/error.h"
#include "shared/sand_scene.h"
#include "unit/test.h"

#include <math.h>

#define BALL 0.1f  // m, radius
#define SPEED 6.0f // m/s, when it hits the floor
#define LINK 1.6f  // spacings: what is nearer belongs together

typedef struct Broken {
    double off;    // part of the particles that are not in the largest piece
    double grains; // in pieces of less than four
    int clumps;    // pieces of four and more, without the largest
    double height; // m, of the highest particle
} Broken;

static int in_ball(const void *user, Vec3 place)
{
    Vec3 apart = vec3_sub(place, *(const Vec3 *)user);
    return vec3_dot(apart, apart) < BALL * BALL;
}

static int32_t piece_of(int32_t *piece, int32_t i)
{
    while (piece[i] != i) i = piece[i] = piece[piece[i]];
    return i;
}

// Everything within LINK spacings is one piece.
static void find_pieces(const Particles *now, float link, int32_t *piece)
{
    for (int32_t i = 0; i < now->count; i++) piece[i] = i;
    for (int32_t i = 0; i < now->count; i++)
        for (int32_t j = 0; j < i; j++) {
            Vec3 apart = vec3_sub(now->position[i], now->position[j]);
            if (fabsf(apart.x) < link && vec3_dot(apart, apart) < link * link)
                piece[piece_of(piece, i)] = piece_of(piece, j);
        }
}

static GrainResult count_pieces(const SandScene *scene, Broken *out)
{
    int64_t count = scene->now.count, largest = 0, grains = 0;
    int32_t *piece = ALLOC(int32_t, count), *size = ALLOC_ZEROED(int32_t, count);
    GrainResult result = piece && size ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) find_pieces(&scene->now, LINK * sand_spacing(scene), piece);
    *out = (Broken){.clumps = -1};
    for (int32_t i = 0; result == GRAIN_OK && i < count; i++) {
        size[piece_of(piece, i)]++;
        out->height = fmax(out->height, (double)scene->now.position[i].z);
    }
    for (int64_t i = 0; result == GRAIN_OK && i < count; i++) {
        if (size[i] > largest) largest = size[i];
        if (size[i] < 4) grains += size[i];
        out->clumps += size[i] >= 4;
    }
    out->off = 1.0 - (double)largest / (double)count;
    out->grains = (double)grains / (double)count;
    alloc_free(piece);
    alloc_free(size);
    return result;
}

static GrainResult drop(SandScene *scene, Broken *out)
{
    Vec3 middle = {0, 0, BALL + 2.0f * scene->def.largest_radius};
    scene->def.expected_speed = SPEED;
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    Vec3 low = {-BALL, -BALL, middle.z - BALL}, high = {BALL, BALL, middle.z + BALL};
    TRY(sand_fill_box(scene, low, high, in_ball, &middle));
    for (int64_t i = 0; i < scene->start.count; i++) scene->start.velocity[i] = vec3(0, 0, -SPEED);
    TRY(sand_create(scene, 1));
    TRY(sand_run(scene, 0.5));
    return count_pieces(scene, out);
}

static void drop_ball(const char *law, Broken *out)
{
    SandScene scene;
    sand_begin(&scene, "mpm", 0.005f, 31.0f);
    scene.def.law = law;
    scene.def.density = 667.0f; // 400 kg/m3 of snow
    GrainResult result = drop(&scene, out);
    sand_end(&scene);
    ENSURE_OK(result);
    printf("# %s: %.1f %% come off, %.1f %% as grains, and %d clumps; it lies %.2f radii high\n", law, 100.0 * out->off,
           100.0 * out->grains, out->clumps, out->height / (double)BALL);
}

// Powder loses the most, mainly as grains. Chunky snow loses less, and of that less as grains. Wet snow stays in one
// piece that is pressed flat. All of them lie as a heap: none bounces, none runs out as sand does.
TEST(mpm_snowballs_break_by_their_kind)
{
    Broken powder = {0}, chunky = {0}, wet = {0};
    drop_ball("snow_powder", &powder);
    drop_ball("snow_chunky", &chunky);
    drop_ball("snow_wet", &wet);
    ENSURE(powder.off > 0.1 && powder.off < 0.5 && powder.grains > 0.7 * powder.off);
    ENSURE(chunky.off > 0.01 && chunky.off < 0.5 * powder.off && chunky.clumps >= 5);
    ENSURE(chunky.grains / chunky.off < powder.grains / powder.off);
    ENSURE(wet.off < 1e-3 && wet.height < 1.6 * (double)BALL);
    ENSURE(powder.height > 0.5 * (double)BALL && chunky.height > 0.5 * (double)BALL);
}
