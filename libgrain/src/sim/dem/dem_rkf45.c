// SPDX-License-Identifier: GPL-3.0-or-later
// The adaptive integrator of Bell 2005, section 3.3: Runge, Kutta, Fehlberg (NASA TR R-315, 1969). Six stages give a
// state of the fifth order and, by the difference to one of the fourth, its error; a step whose error is above the
// tolerance is done again shorter.
//
// Everything that has a rate is a row of floats here: balls and grains as they stand in memory, with rates of 0 for
// what does not change (radius, mass, ...), and the springs of the contacts.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/dem/dem_contacts.h"
#include "sim/dem/dem_grain_motion.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { STAGES = 6, MAX_ROWS = 14 };

static const float part_of_stage[STAGES][STAGES - 1] = {
    {0},
    {1.0f / 4},
    {3.0f / 32, 9.0f / 32},
    {1932.0f / 2197, -7200.0f / 2197, 7296.0f / 2197},
    {439.0f / 216, -8.0f, 3680.0f / 513, -845.0f / 4104},
    {-8.0f / 27, 2.0f, -3544.0f / 2565, 1859.0f / 4104, -11.0f / 40}};
static const float part_of_result[STAGES] = {16.0f / 135, 0, 6656.0f / 12825, 28561.0f / 56430, -9.0f / 50, 2.0f / 55};
static const float part_of_error[STAGES] = {1.0f / 360, 0, -128.0f / 4275, -2197.0f / 75240, 1.0f / 50, 2.0f / 55};

// Of a contact's duration: the first step tried, and one so short that it is taken whatever its error is. Where a
// contact begins or slips, rates jump, and no step is short enough.
#define FIRST_STEP (1.0 / 40.0)
#define SHORTEST_STEP (1.0 / 400.0)
#define SAFETY 0.9

typedef struct Row {
    float *state, *start, *rate[STAGES];
    int64_t count;
    int is_spring; // the kernel turns the spring of a stage into its rate where it stands
} Row;

typedef struct DemAdaptive {
    double step; // s, to try next
    float *scratch;
    int64_t scratch_capacity;
    Row rows[MAX_ROWS];
    int row_count;
    double *block_error;
    int64_t block_error_capacity;
} DemAdaptive;

const char *const dem_integrator_names[] = {"symplectic", "rkf45", NULL};

GrainResult dem_adaptive_create(Dem *dem)
{
    const char *name = dem->base.def.integrator;
    if (!name || strcmp(name, dem_integrator_names[0]) == 0) return GRAIN_OK;
    if (strcmp(name, dem_integrator_names[1]) != 0)
        return fail(GRAIN_ERROR_ARGUMENT, "there is no integrator '%.40s'; allowed are symplectic, rkf45", name);
    if (dem->base.has_moving)
        return fail(GRAIN_ERROR_ARGUMENT,
                    "the integrator rkf45 supports static colliders only; use symplectic if colliders or bodies move");
    if (!(dem->base.def.tolerance > 0.0f))
        return fail(GRAIN_ERROR_ARGUMENT, "the tolerance of rkf45 is %g; it must be above 0",
                    (double)dem->base.def.tolerance);
    dem->adaptive = ALLOC_ZEROED(DemAdaptive, 1);
    if (!dem->adaptive) return GRAIN_ERROR_MEMORY;
    dem->adaptive->step = FIRST_STEP * (double)dem->law.contact_seconds;
    return GRAIN_OK;
}

void dem_adaptive_destroy(DemAdaptive *adaptive)
{
    if (!adaptive) return;
    alloc_free(adaptive->scratch);
    alloc_free(adaptive->block_error);
    alloc_free(adaptive);
}

double *dem_adaptive_step(DemAdaptive *adaptive) { return &adaptive->step; }

// --- rows ---------------------------------------------------------------------------------------

static void add_row(DemAdaptive *adaptive, float *state, int64_t count, int is_spring)
{
    adaptive->rows[adaptive->row_count++] = (Row){.state = state, .count = count, .is_spring = is_spring};
}

static void add_springs(DemAdaptive *adaptive, const DemVectors *springs, int64_t count)
{
    add_row(adaptive, springs->x, count, 1);
    add_row(adaptive, springs->y, count, 1);
    add_row(adaptive, springs->z, count, 1);
}

// After the lists have been made.
static GrainResult lay_out_rows(Dem *dem)
{
    DemAdaptive *adaptive = dem->adaptive;
    int64_t pairs = dem_round_up(dem->pairs.count), walls = dem_round_up(dem->walls.count), sum = 0;
    adaptive->row_count = 0;
    add_row(adaptive, (float *)dem->balls, DEM_BALL_FLOATS * dem->count, 0);
    add_row(adaptive, (float *)dem->grains, DEM_GRAIN_FLOATS * dem->grain_count, 0);
    add_springs(adaptive, &dem->pairs.shear, pairs);
    add_springs(adaptive, &dem->walls.shear, walls);
    add_springs(adaptive, &dem->walls.roll, walls);
    if (dem->law.resists_rolling) add_springs(adaptive, &dem->pairs.roll, pairs);
    for (int r = 0; r < adaptive->row_count; r++) sum += (STAGES + 1) * dem_round_up(adaptive->rows[r].count);
    TRY(alloc_grow((void **)&adaptive->scratch, &adaptive->scratch_capacity, sum, sizeof(float)));
    TRY(alloc_grow((void **)&adaptive->block_error, &adaptive->block_error_capacity, dem->block_count, sizeof(double)));
    float *next = adaptive->scratch;
    for (int r = 0; r < adaptive->row_count; r++) {
        Row *row = &adaptive->rows[r];
        int64_t padded = dem_round_up(row->count);
        row->start = next, next += padded;
        for (int stage = 0; stage < STAGES; stage++) row->rate[stage] = next, next += padded;
    }
    return GRAIN_OK;
}

static void remember_start(const Dem *dem)
{
    for (int r = 0; r < dem->adaptive->row_count; r++) {
        const Row *row = &dem->adaptive->rows[r];
        if (row->count > 0) memcpy(row->start, row->state, (size_t)row->count * sizeof(float));
    }
}

// start + seconds * sum of parts[k] rate[k].
static void combine(const Dem *dem, const Row *row, float *to, const float *parts, int stages, float seconds)
{
    PARALLEL_FOR(dem->base.threads, i, row->count)
    {
        float sum = 0.0f;
        for (int k = 0; k < stages; k++) sum += parts[k] * row->rate[k][i];
        to[i] = row->start[i] + seconds * sum;
    }
}

// --- the state of a stage and its rates ---------------------------------------------------------

// Grains' spins and balls follow from how they face now.
static void follow_grains(const Dem *dem)
{
    PARALLEL_FOR(dem->base.threads, g, dem->grain_count)
    {
        DemGrain *grain = &dem->grains[g];
        int32_t id = dem->grain_id[g];
        dem_write3(grain->spin, dem_spin_ahead(grain, dem_read3(grain->momentum), vec3(0, 0, 0), 0.0f));
        dem_carry_balls(dem, grain, dem->grain_first[id], dem->grain_first[id + 1]);
    }
}

static void set_stage(const Dem *dem, int stage, float seconds)
{
    for (int r = 0; r < dem->adaptive->row_count; r++) {
        const Row *row = &dem->adaptive->rows[r];
        combine(dem, row, row->is_spring ? row->rate[stage] : row->state, part_of_stage[stage], stage, seconds);
    }
    follow_grains(dem);
}

static void set_result(const Dem *dem, float seconds)
{
    for (int r = 0; r < dem->adaptive->row_count; r++) {
        const Row *row = &dem->adaptive->rows[r];
        combine(dem, row, row->state, part_of_result, STAGES, seconds);
    }
    follow_grains(dem);
}

static void add_record(const Dem *dem, int64_t record, float sign, Vec3 *push, Vec3 *turn, Vec3 *roll)
{
    *push = vec3_add_scaled(*push, dem_read3(dem->force + 4 * record), sign);
    *turn = vec3_add(*turn, dem_read3(dem->moment + 4 * record));
    if (dem->torque) *roll = vec3_add_scaled(*roll, dem_read3(dem->torque + 4 * record), sign);
}

// As in dem_move_kernel.c, without moving anything.
static void find_ball_rate(const Dem *dem, int64_t i, DemBall *rate)
{
    const DemBall *ball = &dem->balls[i];
    Vec3 push = {0, 0, 0}, turn = {0, 0, 0}, roll = {0, 0, 0};
    for (int64_t own = dem->pairs.own[i]; own < dem->pairs.own[i + 1]; own++)
        add_record(dem, own, 1.0f, &push, &turn, &roll);
    for (int64_t entry = dem->shared_start[i]; entry < dem->shared_start[i + 1]; entry++)
        add_record(dem, dem->shared[entry], -1.0f, &push, &turn, &roll);
    turn = vec3_add_scaled(roll, turn, -ball->radius);
    *rate = (DemBall){0};
    if (ball->inverse_inertia == 0.0f) { // its grain moves it
        dem_write3(dem->push + 4 * i, push);
        dem_write3(dem->turn + 4 * i, turn);
        return;
    }
    memcpy(rate->offset, ball->velocity, sizeof rate->offset);
    dem_write3(rate->velocity, vec3_add_scaled(dem->base.def.gravity, push, ball->inverse_mass));
    dem_write3(rate->spin, vec3_scale(turn, ball->inverse_inertia));
}

static void find_grain_rate(const Dem *dem, int64_t g, DemGrain *rate)
{
    const DemGrain *grain = &dem->grains[g];
    int32_t id = dem->grain_id[g];
    DemLoad load = dem_load_of(dem, dem->grain_first[id], dem->grain_first[id + 1]);
    Vec3 turned = dem_read3(grain->turned), spin = dem_read3(grain->spin);
    float w = sqrtf(real_maxf(1.0f - vec3_dot(turned, turned), 0.0f));
    *rate = (DemGrain){0};
    memcpy(rate->offset, grain->velocity, sizeof rate->offset);
    dem_write3(rate->velocity, vec3_add_scaled(dem->base.def.gravity, load.force, grain->inverse_mass));
    dem_write3(rate->momentum, load.torque);
    dem_write3(rate->turned, vec3_scale(vec3_add(vec3_scale(spin, w), vec3_cross(spin, turned)), 0.5f));
}

// The springs of this stage stand where their rates will.
static void find_rates(Dem *dem, const DemWork *given, int stage)
{
    const Row *rows = dem->adaptive->rows;
    DemWork work = *given;
    DemVectors *springs[] = {&work.pairs.shear, &work.walls.shear, &work.walls.roll, &work.pairs.roll};
    for (int r = 2; r < dem->adaptive->row_count; r += 3) {
        DemVectors *vectors = springs[(r - 2) / 3];
        vectors->x = rows[r].rate[stage], vectors->y = rows[r + 1].rate[stage], vectors->z = rows[r + 2].rate[stage];
    }
    work.gives_rates = 1;
    dem_find_forces(dem, &work);
    DemBall *balls = (DemBall *)rows[0].rate[stage];
    DemGrain *grains = (DemGrain *)rows[1].rate[stage];
    PARALLEL_FOR(dem->base.threads, i, dem->count) { find_ball_rate(dem, i, &balls[i]); }
    PARALLEL_FOR(dem->base.threads, g, dem->grain_count) { find_grain_rate(dem, g, &grains[g]); }
}

// --- steps --------------------------------------------------------------------------------------

static double length_of_error(const Row *row, int64_t first)
{
    double squared = 0.0;
    for (int a = 0; a < 3; a++) {
        double error = 0.0;
        for (int k = 0; k < STAGES; k++) error += (double)(part_of_error[k] * row->rate[k][first + a]);
        squared += error * error;
    }
    return sqrt(squared);
}

#define BALL_AT(field) ((int64_t)(DEM_BALL_FLOATS * i) + (int64_t)(offsetof(DemBall, field) / sizeof(float)))
#define GRAIN_AT(field) ((int64_t)(DEM_GRAIN_FLOATS * i) + (int64_t)(offsetof(DemGrain, field) / sizeof(float)))

// Of a second's step, in radii: of place, and of speed for the time a contact lasts.
static double ball_error(const Dem *dem, int64_t i)
{
    const Row *row = &dem->adaptive->rows[0];
    const DemBall *ball = &dem->balls[i];
    double lasting = (double)dem->law.contact_seconds / M_PI, radius = (double)ball->radius;
    double place = length_of_error(row, BALL_AT(offset)), speed = length_of_error(row, BALL_AT(velocity));
    double spin = length_of_error(row, BALL_AT(spin)) * radius;
    return real_max(place, lasting * real_max(speed, spin)) / radius;
}

static double grain_error(const Dem *dem, int64_t i)
{
    const Row *row = &dem->adaptive->rows[1];
    const DemGrain *grain = &dem->grains[i];
    double lasting = (double)dem->law.contact_seconds / M_PI, radius = (double)grain->radius;
    double lightest = real_max(real_max((double)grain->inverse_inertia[0], (double)grain->inverse_inertia[1]),
                               (double)grain->inverse_inertia[2]);
    double place =
        real_max(length_of_error(row, GRAIN_AT(offset)), 2.0 * radius * length_of_error(row, GRAIN_AT(turned)));
    double speed = real_max(length_of_error(row, GRAIN_AT(velocity)),
                            lightest * radius * length_of_error(row, GRAIN_AT(momentum)));
    return real_max(place, lasting * speed) / radius;
}

// Over the tolerance; NaN counts as endless.
static double error_of_step(const Dem *dem, double seconds)
{
    DemAdaptive *adaptive = dem->adaptive;
    PARALLEL_BLOCKS(dem->base.threads, block, dem->block_count)
    {
        int64_t first = block * PARALLEL_BLOCK, last = parallel_block_end(block, PARALLEL_BLOCK, dem->count);
        double most = 0.0;
        for (int64_t i = first; i < last; i++) {
            double error = ball_error(dem, i);
            if (!(error <= most)) most = error;
        }
        for (int64_t i = first; i < last && i < dem->grain_count; i++) {
            double error = grain_error(dem, i);
            if (!(error <= most)) most = error;
        }
        adaptive->block_error[block] = most;
    }
    double most = 0.0;
    for (int64_t block = 0; block < dem->block_count; block++)
        if (!(adaptive->block_error[block] <= most)) most = adaptive->block_error[block];
    return isfinite(most) ? most * seconds / (double)dem->base.def.tolerance : (double)INFINITY;
}

static int has_left(const Dem *dem)
{
    for (int64_t i = 0; i < dem->count; i++) {
        const DemBall *ball = &dem->balls[i];
        Vec3 offset = dem_read3(ball->offset);
        if (!(vec3_dot(offset, offset) <= ball->skin_squared)) return 1;
    }
    return 0;
}

// One step that is accepted, of at most `most` seconds; returns how long it was.
static double take_step(Dem *dem, double most)
{
    DemAdaptive *adaptive = dem->adaptive;
    double shortest = SHORTEST_STEP * (double)dem->law.contact_seconds;
    DemWork work = dem_work(dem);
    dem_law_soften_sliding(&work.law, FIRST_STEP * (double)dem->law.contact_seconds);
    dem_find_forces(dem, &work); // puts springs back that stretch too far, or have come off
    remember_start(dem);
    set_stage(dem, 0, 0.0f);
    find_rates(dem, &work, 0);
    for (;;) {
        double seconds = real_min(adaptive->step, most);
        for (int stage = 1; stage < STAGES; stage++) {
            set_stage(dem, stage, (float)seconds);
            find_rates(dem, &work, stage);
        }
        double error = error_of_step(dem, seconds);
        double growth = real_min(real_max(SAFETY * real_pow(real_max(error, 1e-10), -0.2), 0.2), 4.0);
        if (error <= 1.0 || seconds <= shortest) {
            // A step cut short by `most` says nothing against a longer one.
            if (seconds * growth > adaptive->step || seconds == adaptive->step)
                adaptive->step = real_max(seconds * growth, shortest);
            set_result(dem, (float)seconds);
            return seconds;
        }
        adaptive->step = real_max(seconds * growth, shortest);
        dem->steps_rejected++;
    }
}

GrainResult dem_adaptive_advance(Dem *dem, double seconds)
{
    double done = 0.0;
    while (done < seconds) {
        TRY(dem_make_lists(dem, dem->adaptive->step));
        TRY(lay_out_rows(dem));
        double left = seconds - done, step = take_step(dem, left);
        done = step >= left ? seconds : done + step;
        dem->must_list = has_left(dem);
        dem->steps_done++;
    }
    return GRAIN_OK;
}
