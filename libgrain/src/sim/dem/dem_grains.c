// SPDX-License-Identifier: GPL-3.0-or-later
// Grains of several balls: making them, and keeping them and their balls in step when the lists are made.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "base/rng.h"
#include "sim/dem/dem.h"

#include <math.h>
#include <string.h>

static int shape_of(const SimDef *def, int64_t particle)
{
    return def->particle_shape ? def->particle_shape[particle] : 0;
}

static int balls_of(const SimDef *def, int64_t particle)
{
    return def->shape_count > 0 ? def->shapes[shape_of(def, particle)].ball_count : 1;
}

void dem_free_grains(Dem *dem)
{
    void *arrays[] = {dem->ball_particle,
                      dem->grains,
                      dem->grains_before,
                      dem->grain_id,
                      dem->grain_id_before,
                      dem->grain_first,
                      dem->grain_shape,
                      dem->grain_particle,
                      dem->arms,
                      dem->push,
                      dem->turn,
                      dem->body,
                      dem->row,
                      dem->shapes,
                      dem->particle_grain};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
}

void dem_count_grains(const Dem *dem, const Particles *born, int64_t *balls, int64_t *grains)
{
    *balls = *grains = 0;
    for (int64_t i = 0; i < born->count; i++) {
        int here = balls_of(&dem->base.def, dem->base.born + i);
        *balls += here;
        *grains += here > 1;
    }
}

// --- start --------------------------------------------------------------------------------------

// Even over all rotations (Shoemake 1992).
static Quat random_facing(uint64_t seed, int64_t particle)
{
    Rng4 random = rng_at(seed, (uint64_t)particle, RNG_STREAM_GRAIN_FACING, 0);
    float u = rng_unit(random.word[0]), a = (float)(2.0 * M_PI) * rng_unit(random.word[1]),
          b = (float)(2.0 * M_PI) * rng_unit(random.word[2]);
    float p = sqrtf(1.0f - u), q = sqrtf(u);
    return quat_normalize((Quat){q * real_cosf(b), p * real_sinf(a), p * real_cosf(a), q * real_sinf(b)});
}

static Quat facing_of(const DemGrain *grain)
{
    return (Quat){grain->facing[0], grain->facing[1], grain->facing[2], grain->facing[3]};
}

static Vec3 listed_arm(const Dem *dem, const DemGrain *grain, int32_t id, int ball)
{
    const ShapeBall *shape = &dem->shapes[dem->grain_shape[id]].balls[ball];
    return quat_rotate(facing_of(grain), vec3_scale(shape->at, grain->radius));
}

static DemBall lone_ball(const Particles *start, int64_t i, float density)
{
    float radius = start->radius[i];
    double mass = (double)density * 4.0 / 3.0 * M_PI * real_pow((double)radius, 3.0);
    return (DemBall){.radius = radius,
                     .inverse_mass = (float)(1.0 / mass),
                     .inverse_inertia = (float)(2.5 / (mass * (double)radius * (double)radius)),
                     .velocity = {start->velocity[i].x, start->velocity[i].y, start->velocity[i].z},
                     .anchor = {start->position[i].x, start->position[i].y, start->position[i].z}};
}

static DemGrain grain_at_start(const BallShape *shape, uint64_t seed, const Particles *start, int64_t i,
                               int64_t particle, float density)
{
    double size = (double)start->radius[i], mass = (double)density * shape->volume * real_pow(size, 3.0);
    Quat facing = random_facing(seed, particle);
    DemGrain grain = {.radius = start->radius[i],
                      .inverse_mass = (float)(1.0 / mass),
                      .velocity = {start->velocity[i].x, start->velocity[i].y, start->velocity[i].z},
                      .facing = {facing.w, facing.x, facing.y, facing.z},
                      .anchor = {start->position[i].x, start->position[i].y, start->position[i].z}};
    for (int a = 0; a < 3; a++)
        grain.inverse_inertia[a] = (float)(1.0 / ((double)density * shape->inertia[a] * real_pow(size, 5.0)));
    return grain;
}

// Behind the existing balls. Numbers of balls and grains continue.
static void start_grain(Dem *dem, const Particles *born, int64_t i, float density, int balls)
{
    const SimDef *def = &dem->base.def;
    int64_t particle = dem->base.born, id = dem->grain_born++, at = dem->grain_count++;
    const BallShape *shape = &dem->shapes[shape_of(def, particle)];
    dem->grain_id[at] = (int32_t)id;
    dem->grain_first[id] = (int32_t)dem->ball_born;
    dem->grain_first[id + 1] = (int32_t)(dem->ball_born + balls);
    dem->grain_shape[id] = (uint8_t)shape_of(def, particle);
    dem->grain_particle[id] = (int32_t)particle;
    dem->grains[at] = grain_at_start(shape, def->seed, born, i, particle, density);
    for (int k = 0; k < balls; k++) {
        int64_t row = dem->count++, ball = dem->ball_born++;
        dem->balls[row] =
            (DemBall){.radius = shape->balls[k].radius * born->radius[i], .inverse_mass = dem->grains[at].inverse_mass};
        memcpy(dem->balls[row].velocity, dem->grains[at].velocity, 3 * sizeof(float));
        dem->id[row] = (int32_t)ball;
        dem->ball_particle[ball] = (int32_t)particle;
        dem->row[ball] = (int32_t)row;
    }
}

void dem_start_grains(Dem *dem, const Particles *born, const uint8_t *kinds)
{
    const SimDef *def = &dem->base.def;
    for (int64_t i = 0; i < born->count; i++, dem->base.born++) {
        int64_t particle = dem->base.born;
        int balls = balls_of(def, particle), kind = kinds ? kinds[i] : 0;
        float density = dem_material(def, kind).density;
        if (dem->material) dem->material[particle] = (uint8_t)kind;
        if (dem->particle_grain) dem->particle_grain[particle] = balls > 1 ? (int32_t)dem->grain_born : -1;
        if (balls > 1) {
            start_grain(dem, born, i, density, balls);
            continue;
        }
        int64_t row = dem->count++, ball = dem->ball_born++;
        dem->balls[row] = lone_ball(born, i, density);
        dem->id[row] = (int32_t)ball;
        dem->ball_particle[ball] = (int32_t)particle;
        if (dem->row) dem->row[ball] = (int32_t)row;
    }
    dem_anchor_grains(dem);
}

void dem_remove_grains(Dem *dem, const uint8_t *gone)
{
    int64_t kept = 0;
    for (int64_t g = 0; g < dem->grain_count; g++) {
        if (gone[dem->grain_particle[dem->grain_id[g]]]) continue;
        dem->grains[kept] = dem->grains[g];
        dem->grain_id[kept++] = dem->grain_id[g];
    }
    dem->grain_count = kept;
    for (int64_t row = 0; dem->row && row < dem->count; row++) dem->row[dem->id[row]] = (int32_t)row;
}

// --- when lists are made ------------------------------------------------------------------------

static Quat facing_now(const DemGrain *grain)
{
    Vec3 turned = {grain->turned[0], grain->turned[1], grain->turned[2]};
    float w = sqrtf(real_maxf(1.0f - vec3_dot(turned, turned), 0.0f));
    return quat_normalize(quat_multiply((Quat){w, turned.x, turned.y, turned.z}, facing_of(grain)));
}

Quat dem_grain_orientation(const Dem *dem, int64_t g)
{
    return quat_multiply(facing_now(&dem->grains[g]), dem->shapes[dem->grain_shape[dem->grain_id[g]]].from_given);
}

static void anchor_grain(Dem *dem, int64_t g)
{
    DemGrain *grain = &dem->grains[g];
    int32_t id = dem->grain_id[g];
    Quat facing = facing_now(grain);
    grain->facing[0] = facing.w, grain->facing[1] = facing.x, grain->facing[2] = facing.y, grain->facing[3] = facing.z;
    for (int a = 0; a < 3; a++) {
        float at = grain->anchor[a] + grain->offset[a];
        grain->offset[a] = (grain->anchor[a] - at) + grain->offset[a];
        grain->anchor[a] = at;
        grain->turned[a] = 0.0f;
    }
    for (int32_t ball = dem->grain_first[id]; ball < dem->grain_first[id + 1]; ball++) {
        Vec3 arm = listed_arm(dem, grain, id, ball - dem->grain_first[id]);
        DemBall *b = &dem->balls[dem->row[ball]];
        const float listed[3] = {arm.x, arm.y, arm.z};
        for (int a = 0; a < 3; a++) {
            b->anchor[a] = grain->anchor[a] + listed[a];
            b->offset[a] = grain->offset[a] + ((grain->anchor[a] - b->anchor[a]) + listed[a]);
        }
    }
}

void dem_anchor_grains(Dem *dem)
{
    PARALLEL_FOR(dem->base.threads, g, dem->grain_count) { anchor_grain(dem, g); }
}

void dem_sort_grains(Dem *dem)
{
    if (dem->grain_count == 0) return;
    PARALLEL_FOR(dem->base.threads, row, dem->count) { dem->row[dem->id[row]] = (int32_t)row; }
    // The row of each grain before sorting, by its id.
    int32_t *before = dem->body; // is filled anew below
    for (int64_t g = 0; g < dem->grain_count; g++) before[dem->grain_id[g]] = (int32_t)g;
    DemGrain *grains = dem->grains;
    int32_t *ids = dem->grain_id;
    dem->grains = dem->grains_before, dem->grains_before = grains;
    dem->grain_id = dem->grain_id_before, dem->grain_id_before = ids;
    // A grain's balls are near each other, so the row of the first tells where the grain belongs.
    int64_t count = 0;
    for (int64_t row = 0; row < dem->count; row++) {
        int32_t ball = dem->id[row], particle = dem->ball_particle[ball];
        if (dem->balls[row].inverse_inertia != 0.0f || (ball > 0 && dem->ball_particle[ball - 1] == particle)) continue;
        dem->grain_id[count++] = dem->particle_grain[particle];
    }
    PARALLEL_FOR(dem->base.threads, g, dem->grain_count)
    {
        dem->grains[g] = dem->grains_before[before[dem->grain_id[g]]];
    }
}

void dem_place_arms(Dem *dem)
{
    if (!dem->body) return;
    PARALLEL_FOR(dem->base.threads, row, dem->count) { dem->body[row] = (int32_t)(-1 - row); }
    PARALLEL_FOR(dem->base.threads, g, dem->grain_count)
    {
        const DemGrain *grain = &dem->grains[g];
        int32_t id = dem->grain_id[g];
        Vec3 turned = {grain->turned[0], grain->turned[1], grain->turned[2]};
        for (int32_t ball = dem->grain_first[id]; ball < dem->grain_first[id + 1]; ball++) {
            int32_t row = dem->row[ball];
            const DemBall *b = &dem->balls[row];
            Vec3 arm = listed_arm(dem, grain, id, ball - dem->grain_first[id]);
            Vec3 now = vec3_add(arm, dem_turn_arm(turned, arm));
            dem->arms[row] = (DemArm){.listed = {arm.x, arm.y, arm.z},
                                      .now = {now.x, now.y, now.z},
                                      .rounding = {(grain->anchor[0] - b->anchor[0]) + arm.x,
                                                   (grain->anchor[1] - b->anchor[1]) + arm.y,
                                                   (grain->anchor[2] - b->anchor[2]) + arm.z}};
            dem->body[row] = (int32_t)g;
        }
    }
}
