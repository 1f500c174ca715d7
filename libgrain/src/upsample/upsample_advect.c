// One substep: block by block, who is near, what the flow is there, where the grains go.
#include "base/parallel.h"
#include "upsample/upsample_inside.h"

#include <math.h>
#include <string.h>

// Friction between a grain and the sand it has partly left, over gravity: it rests from a quarter of the way between
// flying and being sand.
#define FRICTION_OVER_GRAVITY 4.0f
// --- sums -----------------------------------------------------------------------------------------

// Padded to whole vectors, so that no lane reads what another thread may be writing.
static void take_positions(UpsampleScratch *scratch, const float *x, const float *y, const float *z, int count)
{
    size_t bytes = (size_t)count * sizeof(float);
    if (scratch->x != x) memcpy(scratch->x, x, bytes), memcpy(scratch->y, y, bytes), memcpy(scratch->z, z, bytes);
    for (int i = count; i < count + 32; i++)
        scratch->x[i] = scratch->x[0], scratch->y[i] = scratch->y[0], scratch->z[i] = scratch->z[0];
}

static void clear_sums(BlockSums *sums, int count, int with_spin)
{
    size_t bytes = (size_t)(count + 32) * sizeof(float);
    memset(sums->weight, 0, bytes), memset(sums->largest, 0, bytes), memset(sums->height, 0, bytes);
    memset(sums->vx, 0, bytes), memset(sums->vy, 0, bytes), memset(sums->vz, 0, bytes);
    if (with_spin) memset(sums->sx, 0, bytes), memset(sums->sy, 0, bytes), memset(sums->sz, 0, bytes);
}

void upsample_block_sums(const CoarseField *field, const float *x, const float *y, const float *z, int count,
                         int with_spin, int is_paper, UpsampleScratch *scratch)
{
    float inverse_reach2 = 1.0f / (field->reach * field->reach);
    take_positions(scratch, x, y, z, count);
    clear_sums(&scratch->sums, count, with_spin);
    BlockBox box;
    SIMD_CALL(upsample_box)(scratch->x, scratch->y, scratch->z, count, &box);
    // A little farther than the weights reach, for rounding: what is left out must add an exact zero.
    box.limit2 = field->reach * field->reach * (1.0f + 1e-5f);
    CoarseWalk walk;
    coarse_walk_begin(&walk, field, box.low, box.high);
    int64_t begin, end;
    int taken = 0;
    while (coarse_walk_next(&walk, &begin, &end)) {
        while (begin < end) {
            taken += SIMD_CALL(upsample_gather)(field->sorted_x, field->sorted_y, field->sorted_z, field->records, &begin,
                                                end, &box, scratch->records + taken, UPSAMPLE_CHUNK - taken);
            if (begin == end) break;
            SIMD_CALL(upsample_accumulate)
            (scratch->x, scratch->y, scratch->z, count, scratch->records, taken, inverse_reach2, with_spin, is_paper,
             &scratch->sums);
            taken = 0;
        }
    }
    if (taken > 0)
        SIMD_CALL(upsample_accumulate)
        (scratch->x, scratch->y, scratch->z, count, scratch->records, taken, inverse_reach2, with_spin, is_paper,
         &scratch->sums);
}

// --- the substep ----------------------------------------------------------------------------------

StepNumbers upsample_step_numbers(const Upsampler *u, float seconds)
{
    const UpsampleDef *def = &u->def;
    float q = 1.0f - 1.0f / (UPSAMPLE_REACH * UPSAMPLE_REACH), strength = vec3_length(def->gravity);
    return (StepNumbers){.scheme = def->scheme,
                         .seconds = seconds,
                         .inverse_reach2 = 1.0f / (u->reach * u->reach),
                         .wall_range = UPSAMPLE_WALL_RANGE * def->coarse_radius,
                         .flies = UPSAMPLE_FLIES * UPSAMPLE_FULL_SUM,
                         .is_sand = UPSAMPLE_IS_SAND * UPSAMPLE_FULL_SUM,
                         .blend = seconds / UPSAMPLE_BLEND_TIME,
                         .friction = FRICTION_OVER_GRAVITY * strength * seconds,
                         .gx = def->gravity.x * seconds,
                         .gy = def->gravity.y * seconds,
                         .gz = def->gravity.z * seconds,
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

static float advect_block(Upsampler *u, const StepNumbers *step, int64_t first, int count, float frame_seconds,
                          UpsampleScratch *scratch)
{
    GrainColumns *g = &u->grains;
    float *x = g->x + first, *y = g->y + first, *z = g->z + first;
    float *vx = g->vx + first, *vy = g->vy + first, *vz = g->vz + first;
    int with_spin = frame_seconds > 0.0f;
    upsample_block_sums(&u->field, x, y, z, count, with_spin, step->scheme == UPSAMPLE_IHMSEN2013, scratch);
    float fastest = fmaxf(u->fastest + vec3_length(vec3(step->gx, step->gy, step->gz)), u->field.fastest);
    float largest = u->grain_radius * (1.0f + u->def.size_spread);
    float range = fmaxf(step->wall_range, 1.5f * largest + fastest * step->seconds);
    const BlockWalls *walls = NULL;
    if (upsample_find_walls(u, scratch->x, scratch->y, scratch->z, count, range, step->seconds, &scratch->walls))
        walls = &scratch->walls;
    if (step->scheme == UPSAMPLE_GATED)
        SIMD_CALL(upsample_sand)
        (scratch->x, scratch->y, scratch->z, count, step, &scratch->sums, walls, scratch->sand);
    fastest = SIMD_CALL(upsample_blend)(x, y, z, vx, vy, vz, count, step, &scratch->sums, walls, scratch->sand, scratch->alpha);
    if (walls) fastest = upsample_move_among_walls(u, first, count, step->seconds, walls);
    if (with_spin) {
        float *const q[4] = {g->qw + first, g->qx + first, g->qy + first, g->qz + first};
        const float *const v[3] = {vx, vy, vz};
        SIMD_CALL(upsample_turn)(q, v, count, step, &scratch->sums, scratch->alpha, frame_seconds);
    }
    return fastest;
}

void upsample_substep(Upsampler *u, float seconds, float frame_seconds)
{
    StepNumbers step = upsample_step_numbers(u, seconds);
    int64_t chunk_count = parallel_block_count(u->block_count, UPSAMPLE_BLOCKS_IN_CHUNK);
    PARALLEL_BLOCKS(u->threads, chunk, chunk_count)
    {
        float fastest = 0.0f;
        int64_t end = parallel_block_end(chunk, UPSAMPLE_BLOCKS_IN_CHUNK, u->block_count);
        for (int64_t block = chunk * UPSAMPLE_BLOCKS_IN_CHUNK; block < end; block++) {
            int64_t first = u->block_start[block];
            fastest = fmaxf(fastest, advect_block(u, &step, first, (int)(u->block_start[block + 1] - first),
                                                  frame_seconds, &u->scratch[parallel_thread_index()]));
        }
        u->chunk_fastest[chunk] = fastest;
    }
    u->fastest = 0.0f;
    for (int64_t chunk = 0; chunk < chunk_count; chunk++) u->fastest = fmaxf(u->fastest, u->chunk_fastest[chunk]);
}
