// Grains of several balls: making them, and keeping them and their balls in step when the lists are made.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
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

static GrainResult allocate(Dem *dem)
{
    dem->ball_particle = ALLOC(int32_t, dem->count);
    if (!dem->ball_particle) return GRAIN_ERROR_MEMORY;
    if (dem->grain_count == 0) return GRAIN_OK;
    dem->grains = ALLOC_ZEROED(DemGrain, dem->grain_count);
    dem->grains_before = ALLOC_ZEROED(DemGrain, dem->grain_count);
    dem->grain_id = ALLOC(int32_t, dem->grain_count);
    dem->grain_id_before = ALLOC(int32_t, dem->grain_count);
    dem->grain_first = ALLOC(int32_t, dem->grain_count + 1);
    dem->grain_shape = ALLOC(uint8_t, dem->grain_count);
    dem->grain_particle = ALLOC(int32_t, dem->grain_count);
    dem->arms = ALLOC_ZEROED(DemArm, dem->count);
    dem->push = ALLOC_ZEROED(float, 4 * dem->count);
    dem->turn = ALLOC_ZEROED(float, 4 * dem->count);
    dem->body = ALLOC(int32_t, dem->count);
    dem->place = ALLOC(int32_t, dem->count);
    dem->shapes = ALLOC(DemShape, dem->def.shape_count);
    dem->particle_grain = ALLOC(int32_t, dem->particle_count);
    return dem->grains && dem->grains_before && dem->grain_id && dem->grain_id_before && dem->grain_first &&
                   dem->grain_shape && dem->grain_particle && dem->arms && dem->push && dem->turn && dem->body &&
                   dem->place && dem->shapes && dem->particle_grain
               ? GRAIN_OK
               : GRAIN_ERROR_MEMORY;
}

void dem_free_grains(Dem *dem)
{
    void *arrays[] = {dem->ball_particle, dem->grains,      dem->grains_before,  dem->grain_id, dem->grain_id_before,
                      dem->grain_first,   dem->grain_shape, dem->grain_particle, dem->arms,     dem->push,
                      dem->turn,          dem->body,        dem->place,          dem->shapes,   dem->particle_grain};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
}

GrainResult dem_plan_grains(Dem *dem, const SimDef *def, const Particles *start)
{
    dem->particle_count = start->count;
    for (int64_t i = 0; i < start->count; i++) {
        int balls = balls_of(def, i);
        dem->count += balls;
        dem->grain_count += balls > 1;
    }
    if (dem->count > INT32_MAX / 4)
        return fail(GRAIN_ERROR_MEMORY,
                    "%lld grains are %lld balls, more than one simulation can hold; use larger grains",
                    (long long)start->count, (long long)dem->count);
    return allocate(dem);
}

// --- start --------------------------------------------------------------------------------------

// Even over all rotations (Shoemake 1992).
static Quat random_facing(uint64_t seed, int64_t particle)
{
    Rng4 random = rng_at(seed, (uint64_t)particle, RNG_STREAM_GRAIN_FACING, 0);
    float u = rng_unit(random.word[0]), a = (float)(2.0 * M_PI) * rng_unit(random.word[1]),
          b = (float)(2.0 * M_PI) * rng_unit(random.word[2]);
    float p = sqrtf(1.0f - u), q = sqrtf(u);
    return quat_normalize((Quat){q * cosf(b), p * sinf(a), p * cosf(a), q * sinf(b)});
}

static Quat facing_of(const DemGrain *grain)
{
    return (Quat){grain->facing[0], grain->facing[1], grain->facing[2], grain->facing[3]};
}

static Vec3 listed_arm(const Dem *dem, const DemGrain *grain, int32_t id, int ball)
{
    const DemShapeBall *shape = &dem->shapes[dem->grain_shape[id]].balls[ball];
    return quat_rotate(facing_of(grain), vec3_scale(shape->at, grain->radius));
}

static DemBall lone_ball(const Particles *start, int64_t i, float density)
{
    float radius = start->radius[i];
    double mass = (double)density * 4.0 / 3.0 * M_PI * pow((double)radius, 3.0);
    return (DemBall){.radius = radius,
                     .inverse_mass = (float)(1.0 / mass),
                     .inverse_inertia = (float)(2.5 / (mass * (double)radius * (double)radius)),
                     .velocity = {start->velocity[i].x, start->velocity[i].y, start->velocity[i].z},
                     .anchor = {start->position[i].x, start->position[i].y, start->position[i].z}};
}

static DemGrain grain_at_start(const DemShape *shape, const SimDef *def, const Particles *start, int64_t i,
                               float density)
{
    double size = (double)start->radius[i], mass = (double)density * shape->volume * pow(size, 3.0);
    Quat facing = random_facing(def->seed, i);
    DemGrain grain = {.radius = start->radius[i],
                      .inverse_mass = (float)(1.0 / mass),
                      .velocity = {start->velocity[i].x, start->velocity[i].y, start->velocity[i].z},
                      .facing = {facing.w, facing.x, facing.y, facing.z},
                      .anchor = {start->position[i].x, start->position[i].y, start->position[i].z}};
    for (int a = 0; a < 3; a++)
        grain.inverse_inertia[a] = (float)(1.0 / ((double)density * shape->inertia[a] * pow(size, 5.0)));
    return grain;
}

void dem_start_grains(Dem *dem, const SimDef *def, const Particles *start)
{
    int32_t ball = 0, grain = 0;
    if (dem->shapes) memcpy(dem->shapes, def->shapes, (size_t)def->shape_count * sizeof *dem->shapes);
    for (int64_t i = 0; i < start->count; i++) {
        int balls = balls_of(def, i);
        float density = dem_material(def, dem->material ? dem->material[i] : 0).density;
        if (dem->particle_grain) dem->particle_grain[i] = balls > 1 ? grain : -1;
        if (balls == 1) {
            dem->balls[ball] = lone_ball(start, i, density);
            dem->ball_particle[ball++] = (int32_t)i;
            continue;
        }
        const DemShape *shape = &def->shapes[shape_of(def, i)];
        dem->grain_id[grain] = grain;
        dem->grain_first[grain] = ball;
        dem->grain_shape[grain] = (uint8_t)shape_of(def, i);
        dem->grain_particle[grain] = (int32_t)i;
        dem->grains[grain] = grain_at_start(shape, def, start, i, density);
        for (int k = 0; k < balls; k++, ball++) {
            dem->balls[ball] = (DemBall){.radius = shape->balls[k].radius * start->radius[i],
                                         .inverse_mass = dem->grains[grain].inverse_mass};
            memcpy(dem->balls[ball].velocity, dem->grains[grain].velocity, 3 * sizeof(float));
            dem->ball_particle[ball] = (int32_t)i;
            dem->place[ball] = ball;
        }
        grain++;
    }
    if (grain > 0) dem->grain_first[grain] = ball;
    dem_anchor_grains(dem);
}

// --- when lists are made ------------------------------------------------------------------------

static Quat facing_now(const DemGrain *grain)
{
    Vec3 turned = {grain->turned[0], grain->turned[1], grain->turned[2]};
    float w = sqrtf(fmaxf(1.0f - vec3_dot(turned, turned), 0.0f));
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
        DemBall *b = &dem->balls[dem->place[ball]];
        const float listed[3] = {arm.x, arm.y, arm.z};
        for (int a = 0; a < 3; a++) {
            b->anchor[a] = grain->anchor[a] + listed[a];
            b->offset[a] = grain->offset[a] + ((grain->anchor[a] - b->anchor[a]) + listed[a]);
        }
    }
}

void dem_anchor_grains(Dem *dem)
{
    PARALLEL_FOR(dem->threads, g, dem->grain_count) { anchor_grain(dem, g); }
}

void dem_sort_grains(Dem *dem)
{
    if (dem->grain_count == 0) return;
    PARALLEL_FOR(dem->threads, place, dem->count) { dem->place[dem->id[place]] = (int32_t)place; }
    // Where each grain stood before, by its id.
    int32_t *before = dem->body; // is filled anew below
    for (int64_t g = 0; g < dem->grain_count; g++) before[dem->grain_id[g]] = (int32_t)g;
    DemGrain *grains = dem->grains;
    int32_t *ids = dem->grain_id;
    dem->grains = dem->grains_before, dem->grains_before = grains;
    dem->grain_id = dem->grain_id_before, dem->grain_id_before = ids;
    // A grain's balls are near each other, so the place of the first tells where the grain belongs.
    int64_t count = 0;
    for (int64_t place = 0; place < dem->count; place++) {
        int32_t ball = dem->id[place], particle = dem->ball_particle[ball];
        if (dem->balls[place].inverse_inertia != 0.0f || (ball > 0 && dem->ball_particle[ball - 1] == particle))
            continue;
        dem->grain_id[count++] = dem->particle_grain[particle];
    }
    PARALLEL_FOR(dem->threads, g, dem->grain_count) { dem->grains[g] = dem->grains_before[before[dem->grain_id[g]]]; }
}

void dem_place_arms(Dem *dem)
{
    if (dem->grain_count == 0) return;
    PARALLEL_FOR(dem->threads, place, dem->count) { dem->body[place] = (int32_t)(-1 - place); }
    PARALLEL_FOR(dem->threads, g, dem->grain_count)
    {
        const DemGrain *grain = &dem->grains[g];
        int32_t id = dem->grain_id[g];
        Vec3 turned = {grain->turned[0], grain->turned[1], grain->turned[2]};
        for (int32_t ball = dem->grain_first[id]; ball < dem->grain_first[id + 1]; ball++) {
            int32_t place = dem->place[ball];
            const DemBall *b = &dem->balls[place];
            Vec3 arm = listed_arm(dem, grain, id, ball - dem->grain_first[id]);
            Vec3 now = vec3_add(arm, dem_turn_arm(turned, arm));
            dem->arms[place] = (DemArm){.listed = {arm.x, arm.y, arm.z},
                                        .now = {now.x, now.y, now.z},
                                        .rounding = {(grain->anchor[0] - b->anchor[0]) + arm.x,
                                                     (grain->anchor[1] - b->anchor[1]) + arm.y,
                                                     (grain->anchor[2] - b->anchor[2]) + arm.z}};
            dem->body[place] = (int32_t)g;
        }
    }
}
