// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/dem/dem.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/dem/dem_contacts.h"

#include <math.h>
#include <string.h>

// Substeps in a contact. With 20 the restitution of a bounce comes out within 1 % (tests/physics/test_dem_collision.c).
#define STEPS_PER_CONTACT 20.0

// Of the smallest radius: how far a collider may move before lists are made again (the distance field has to reach that
// much farther), and how far its fastest point may go in one substep.
#define COLLIDER_MARGIN 0.4f
#define COLLIDER_WAY 0.25

// --- life ---------------------------------------------------------------------------------------

static void dem_free(void *state)
{
    Dem *dem = state;
    dem_free_lists(dem);
    dem_free_grains(dem);
    dem_adaptive_destroy(dem->adaptive);
    dem_sleep_free(dem);
    void *arrays[] = {dem->balls, dem->balls_before, dem->id,       dem->id_before,  dem->block_walls, dem->x, dem->y,
                      dem->z,     dem->reach,        dem->material, dem->row_before, dem->ball_before};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
}

// Bodies touch each other by the linear law, whatever grains do: as long a contact, the same restitution.
static GrainResult create_rigid(Dem *dem, float smallest)
{
    const SimDef *def = &dem->base.def;
    double damping = dem_law_damping(DEM_NORMAL_LINEAR, (double)def->restitution);
    for (int i = 0; i < def->collider_count; i++) {
        dem->is_sticky |= def->colliders[i].stickiness > 0.0f;
        dem->is_painted |= def->colliders[i].friction_paint || def->colliders[i].stickiness_paint;
    }
    dem->smallest_radius = smallest;
    dem->largest_margin = COLLIDER_MARGIN * smallest;
    // Of bodies there may be many among few grains.
    return solver_base_make_rigid(&dem->base, M_PI / (double)dem->law.contact_seconds, damping, dem->base.most_threads);
}

// Of all balls, those to be born included.
static void find_radii(const Dem *dem, float *smallest, float *largest)
{
    const SimDef *def = &dem->base.def;
    *smallest = def->largest_radius, *largest = dem->count > 0 ? 0.0f : *smallest; // bodies may be alone
    for (int64_t i = 0; i < dem->count; i++) {
        *smallest = real_minf(*smallest, dem->balls[i].radius);
        *largest = real_maxf(*largest, dem->balls[i].radius);
    }
    if (!(def->smallest_born > 0.0f)) return;
    int balls = def->shape_count > 0 ? def->shapes[0].ball_count : 1;
    for (int k = 0; k < balls; k++) {
        float part = def->shape_count > 0 ? def->shapes[0].balls[k].radius : 1.0f;
        *smallest = real_minf(*smallest, part * def->smallest_born);
        *largest = real_maxf(dem->count > 0 || k > 0 ? *largest : 0.0f, part * def->largest_radius);
    }
}

static GrainResult start(void *state, const SimDef *def, const Particles *start)
{
    Dem *dem = state;
    dem->found_per_ball = 8;
    dem->wall_room = PARALLEL_BLOCK;
    dem->shapes = ALLOC(BallShape, def->shape_count);
    if (!dem->shapes) return GRAIN_ERROR_MEMORY;
    if (def->shape_count > 0) memcpy(dem->shapes, def->shapes, (size_t)def->shape_count * sizeof *dem->shapes);
    dem->base.def.shapes = dem->shapes;
    TRY(dem_reserve(dem, start));
    dem_start_grains(dem, start, def->particle_material);
    dem_set_threads(dem);
    dem->base.def.particle_shape = NULL; // particles born later have the first shape
    float smallest, largest;
    find_radii(dem, &smallest, &largest);
    TRY(dem_law_choose(def, smallest, largest, &dem->law, &dem->mixes));
    TRY(create_rigid(dem, smallest));
    dem->must_list = 1;
    TRY(dem_adaptive_create(dem));
    return dem_sleep_create(dem);
}

// --- step ---------------------------------------------------------------------------------------

double dem_longest_step(const Dem *dem)
{
    // The adaptive integrator cuts its steps itself; this is how often it can be stopped.
    if (dem->adaptive) return (double)dem->law.contact_seconds;
    double longest = (double)dem->law.contact_seconds / STEPS_PER_CONTACT, speed = rigid_speed(dem->base.rigid);
    return speed > 0.0 ? real_min(longest, COLLIDER_WAY * (double)dem->smallest_radius / speed) : longest;
}

static double largest_step(const void *state) { return dem_longest_step(state); }

DemWork dem_work(const Dem *dem)
{
    return (DemWork){.balls = dem->balls,
                     .pairs = dem->pairs,
                     .walls = dem->walls,
                     .force = dem->force,
                     .moment = dem->moment,
                     .torque = dem->torque,
                     .law = dem->law,
                     .mixes = &dem->mixes,
                     .wakes_all = 1};
}

static GrainResult step(void *state, double seconds)
{
    Dem *dem = state;
    if (dem->base.acceleration) dem_push(dem, dem->base.acceleration, seconds);
    if (dem->adaptive) return dem_adaptive_advance(dem, seconds);
    TRY(dem_make_lists(dem, seconds));
    DemMixes mixes = dem->mixes;
    DemWork work = dem_work(dem);
    work.mixes = &mixes;
    work.seconds = (float)seconds;
    dem_law_for_step(&work.law, &mixes, seconds);
    TRY(rigid_find_loads(dem->base.rigid, seconds));
    work.wakes_all = dem->sleep.asleep == 0 || dem->sleep.evaluate_all;
    dem->sleep.evaluate_all = 0;
    dem_find_forces(dem, &work);
    dem_load_bodies(dem);
    dem_move_all(dem, (float)seconds);
    TRY(rigid_move(dem->base.rigid, seconds));
    dem->must_list |= rigid_has_left(dem->base.rigid);
    dem->steps_done++;
    return dem_sleep_end_step(dem);
}

// --- reading ------------------------------------------------------------------------------------

static void read_ball(const Dem *dem, int64_t i, Particles *out, SolverLost *lost)
{
    const DemBall *ball = &dem->balls[i];
    if (ball->inverse_inertia == 0.0f) return; // of a grain of several
    int32_t particle = dem->ball_particle[dem->id[i]];
    out->position[particle] =
        vec3(ball->anchor[0] + ball->offset[0], ball->anchor[1] + ball->offset[1], ball->anchor[2] + ball->offset[2]);
    out->velocity[particle] = vec3(ball->velocity[0], ball->velocity[1], ball->velocity[2]);
    out->radius[particle] = ball->radius;
    if (out->orientation) out->orientation[particle] = quat_identity();
    solver_note_lost(lost, out->position[particle], particle);
}

static void read_grain(const Dem *dem, int64_t g, Particles *out, SolverLost *lost)
{
    const DemGrain *grain = &dem->grains[g];
    int32_t particle = dem->grain_particle[dem->grain_id[g]];
    out->position[particle] = vec3(grain->anchor[0] + grain->offset[0], grain->anchor[1] + grain->offset[1],
                                   grain->anchor[2] + grain->offset[2]);
    out->velocity[particle] = vec3(grain->velocity[0], grain->velocity[1], grain->velocity[2]);
    out->radius[particle] = grain->radius;
    out->orientation[particle] = dem_grain_orientation(dem, g);
    solver_note_lost(lost, out->position[particle], particle);
}

static GrainResult read(const void *state, Particles *out)
{
    const Dem *dem = state;
    SolverLost lost = SOLVER_LOST_NONE;
    TRY(particles_reserve(out, dem->base.born));
    if (dem->grain_count > 0) TRY(particles_orient(out));
    out->count = dem->base.born;
    PARALLEL_FOR(dem->base.threads, i, dem->count) { read_ball(dem, i, out, &lost); }
    PARALLEL_FOR(dem->base.threads, g, dem->grain_count) { read_grain(dem, g, out, &lost); }
    return lost == SOLVER_LOST_NONE ? GRAIN_OK : dem_name_lost(dem);
}

const Solver dem_solver = {
    .name = "dem",
    .label = "Individual Grains",
    .tip = "Every particle is a grain that rolls, rubs and stacks: for close-ups, rubble and few large "
           "grains. Slow for many",
    .traits = {.has_shapes = 1,
               .collider_reach = 1.0f,
               .steers = SIM_STEERS_FRICTION | SIM_STEERS_COHESION,
               .memory = 1300.0f,
               .checkpoint = 240.0f,
               .uses = "friction rolling_friction restitution softness normal_law shear_law cohesion young_modulus "
                       "poisson_ratio grain_shape grain_balls integrator tolerance sleep",
               .choices = {{"normal_law", dem_normal_names},
                           {"shear_law", dem_shear_names},
                           {"integrator", dem_integrator_names}}},
    .version = 8,
    .state_bytes = sizeof(Dem),
    .start = start,
    .free = dem_free,
    .largest_step = largest_step,
    .step = step,
    .read = read,
    .columns = dem_column_rules,
    .save = dem_save,
    .load = dem_load,
    .measure = dem_measure,
    .change = dem_change,
    .steer = dem_steer,
    .push = dem_push};
