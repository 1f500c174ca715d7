// SPDX-License-Identifier: GPL-3.0-or-later
// One substep, block by block: neighbours, the flow at each grain, the motion of grains.
#include "base/parallel.h"
#include "base/real.h"
#include "upsample/upsample_inside.h"

#include <math.h>
#include <string.h>

// Friction between a grain and the sand it has partly left, over gravity: it rests from a quarter of the way between
// flying and being sand.
#define FRICTION_OVER_GRAVITY 4.0f
// Of any instruction set.
#define MOST_LANES 16

// --- sums -----------------------------------------------------------------------------------------

// Padded to whole vectors, so that no lane reads what another thread may be writing.
static void take_positions(UpsampleScratch *scratch, const float *x, const float *y, const float *z, int count)
{
    size_t bytes = (size_t)count * sizeof(float);
    if (scratch->x != x) memcpy(scratch->x, x, bytes), memcpy(scratch->y, y, bytes), memcpy(scratch->z, z, bytes);
    for (int i = count; i < count + MOST_LANES; i++)
        scratch->x[i] = scratch->x[0], scratch->y[i] = scratch->y[0], scratch->z[i] = scratch->z[0];
}

// Takes in those of places [begin, end) that are near the box; where there is no more room, those taken so far are
// added.
typedef struct Taking {
    BlockPlaces grains;
    const float *x, *y, *z; // coarse
    const CoarseRecord *records;
    const BlockBox *box;
    float reach, limit2;
    UpsampleScratch *scratch;
    int flags, taken;
} Taking;

static void add_taken(Taking *taking, int is_last)
{
    UpsampleScratch *scratch = taking->scratch;
    CoarseList near = {taking->records, scratch->list, taking->taken, taking->reach};
    SIMD_CALL(upsample_accumulate)
    (&taking->grains, &near, taking->flags | (is_last ? SUM_LAST : 0), &scratch->sums);
    taking->flags &= ~SUM_FIRST;
    taking->taken = 0;
}

static void take(Taking *taking, int64_t begin, int64_t end)
{
    while (begin < end) {
        taking->taken +=
            SIMD_CALL(upsample_gather)(taking->x, taking->y, taking->z, &begin, end, taking->box, taking->limit2,
                                       taking->scratch->list + taking->taken, UPSAMPLE_CHUNK - taking->taken);
        if (begin < end) add_taken(taking, 0);
    }
}

void upsample_block_sums(const CoarseField *field, const CoarseNear *near, const BlockBox *box, const float *x,
                         const float *y, const float *z, int count, int flags, UpsampleScratch *scratch)
{
    // Sums that are worked out in one go need no padding, but for blocks smaller than a vector.
    if (count < MOST_LANES || !near || near->count < 0 || near->count > UPSAMPLE_CHUNK - MOST_LANES) {
        take_positions(scratch, x, y, z, count);
        x = scratch->x, y = scratch->y, z = scratch->z;
    }
    Taking taking = {.grains = {x, y, z, count},
                     .box = box,
                     .reach = field->reach,
                     .limit2 = coarse_field_limit2(field),
                     .scratch = scratch,
                     .flags = flags | SUM_FIRST};
    if (near && near->count >= 0) {
        taking.x = near->x, taking.y = near->y, taking.z = near->z, taking.records = near->records;
        take(&taking, 0, near->count);
    } else {
        taking.x = field->sorted_x, taking.y = field->sorted_y, taking.z = field->sorted_z,
        taking.records = field->records;
        CoarseWalk walk;
        coarse_walk_begin(&walk, field, box->low, box->high);
        int64_t begin, end;
        while (coarse_walk_next(&walk, &begin, &end)) take(&taking, begin, end);
    }
    add_taken(&taking, 1);
}

// --- the substep ----------------------------------------------------------------------------------

StepNumbers upsample_step_numbers(const Upsampler *u, float seconds)
{
    const UpsampleDef *def = &u->def;
    float q = 1.0f - 1.0f / (UPSAMPLE_REACH * UPSAMPLE_REACH), strength = vec3_length(u->gravity);
    return (StepNumbers){.scheme = def->scheme,
                         .seconds = seconds,
                         .inverse_reach2 = 1.0f / (u->reach * u->reach),
                         .wall_range = UPSAMPLE_WALL_RANGE * def->coarse_radius,
                         .flies = UPSAMPLE_FLIES * UPSAMPLE_FULL_SUM,
                         .is_sand = UPSAMPLE_IS_SAND * UPSAMPLE_FULL_SUM,
                         .blend = seconds / UPSAMPLE_BLEND_TIME,
                         .friction = FRICTION_OVER_GRAVITY * strength * seconds,
                         .gx = u->gravity.x * seconds,
                         .gy = u->gravity.y * seconds,
                         .gz = u->gravity.z * seconds,
                         .weight_at_radius = q * q * q,
                         .ux = u->field.up.x,
                         .uy = u->field.up.y,
                         .uz = u->field.up.z,
                         .hang_low = 0.6f * def->coarse_radius,
                         .hang_high = 1.2f * def->coarse_radius,
                         .carry_low = u->grain_radius,
                         .carry_high = u->grain_radius + 1.5f * def->coarse_radius,
                         .tumbling = 0.5f / def->coarse_radius,
                         .squeeze_low = u->grain_radius,
                         .squeeze_high = u->grain_radius + def->coarse_radius};
}

static float advect_block(Upsampler *u, const StepNumbers *step, int64_t first, int count, const BlockBox *box,
                          float frame_seconds, UpsampleScratch *scratch)
{
    GrainColumns *g = &u->grains;
    float *x = g->x + first, *y = g->y + first, *z = g->z + first;
    int with_spin = frame_seconds > 0.0f;
    int flags = (with_spin ? SUM_SPIN : 0) | (step->scheme == UPSAMPLE_IHMSEN2013 ? SUM_PAPER : 0);
    upsample_block_sums(&u->field, &scratch->near, box, x, y, z, count, flags, scratch);
    float fastest = real_maxf(u->fastest + vec3_length(vec3(step->gx, step->gy, step->gz)), u->field.fastest);
    float largest = u->grain_radius * (1.0f + u->def.size_spread);
    float range = real_maxf(step->wall_range, 1.5f * largest + fastest * step->seconds);
    const BlockWalls *walls = NULL;
    if (upsample_find_walls(u, box, x, y, z, count, range, step->seconds, &scratch->walls)) walls = &scratch->walls;
    if (step->scheme == UPSAMPLE_GATED) {
        int is_small = count < MOST_LANES;
        SIMD_CALL(upsample_sand)
        (is_small ? scratch->x : x, is_small ? scratch->y : y, is_small ? scratch->z : z, count, step, &scratch->sums,
         walls, scratch->sand);
    }
    BlockGrains grains = {{x, y, z}, {g->vx + first, g->vy + first, g->vz + first}, count};
    fastest = SIMD_CALL(upsample_blend)(&grains, step, &scratch->sums, walls, scratch->sand, scratch->alpha);
    if (walls) fastest = upsample_move_among_walls(u, first, count, step->seconds, walls);
    if (with_spin) {
        float *const q[4] = {g->qw + first, g->qx + first, g->qy + first, g->qz + first};
        const float *const v[3] = {g->vx + first, g->vy + first, g->vz + first};
        SIMD_CALL(upsample_turn)(q, v, count, step, &scratch->sums, scratch->alpha, frame_seconds);
    }
    return fastest;
}

static BlockBox box_around(const BlockBox *a, const BlockBox *b)
{
    BlockBox box;
    for (int axis = 0; axis < 3; axis++) {
        box.low[axis] = a->low[axis] < b->low[axis] ? a->low[axis] : b->low[axis];
        box.high[axis] = a->high[axis] > b->high[axis] ? a->high[axis] : b->high[axis];
    }
    return box;
}

static int is_within(const BlockBox *box, float side)
{
    return box->high[0] - box->low[0] <= side && box->high[1] - box->low[1] <= side &&
           box->high[2] - box->low[2] <= side;
}

// Blocks that follow each other are mostly the eight parts of a cube: who is near is looked up once for all of them.
// Returns how many of the boxes are in the group.
static int gather_group(const Upsampler *u, const BlockBox *boxes, int count, CoarseNear *near)
{
    BlockBox group = boxes[0];
    int taken = 1;
    for (; taken < count; taken++) {
        BlockBox larger = box_around(&group, &boxes[taken]);
        if (!is_within(&larger, u->group_side)) break;
        group = larger;
    }
    coarse_field_near(&u->field, &group, near);
    return taken;
}

// Returns the largest speed.
static float advect_chunk(Upsampler *u, const StepNumbers *step, const uint32_t *start, int count, float frame_seconds,
                          UpsampleScratch *scratch)
{
    const GrainColumns *g = &u->grains;
    for (int i = 0; i < count; i++) SIMD_CALL(upsample_box)
    (g->x + start[i], g->y + start[i], g->z + start[i], (int)(start[i + 1] - start[i]), &scratch->box[i]);
    float fastest = 0.0f;
    for (int i = 0, group_end = 0; i < count; i++) {
        if (i == group_end) group_end += gather_group(u, scratch->box + i, count - i, &scratch->near);
        float speed =
            advect_block(u, step, start[i], (int)(start[i + 1] - start[i]), &scratch->box[i], frame_seconds, scratch);
        fastest = real_maxf(fastest, speed);
    }
    return fastest;
}

void upsample_substep(Upsampler *u, float seconds, float frame_seconds)
{
    StepNumbers step = upsample_step_numbers(u, seconds);
    int64_t chunk_count = parallel_block_count(u->block_count, UPSAMPLE_BLOCKS_IN_CHUNK);
    PARALLEL_BLOCKS(u->threads, chunk, chunk_count)
    {
        int64_t first = chunk * UPSAMPLE_BLOCKS_IN_CHUNK,
                end = parallel_block_end(chunk, UPSAMPLE_BLOCKS_IN_CHUNK, u->block_count);
        u->chunk_fastest[chunk] = advect_chunk(u, &step, u->block_start + first, (int)(end - first), frame_seconds,
                                               &u->scratch[parallel_thread_index()]);
    }
    u->fastest = 0.0f;
    for (int64_t chunk = 0; chunk < chunk_count; chunk++) u->fastest = real_maxf(u->fastest, u->chunk_fastest[chunk]);
}
