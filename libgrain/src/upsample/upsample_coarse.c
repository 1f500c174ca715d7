// SPDX-License-Identifier: GPL-3.0-or-later
// The coarse sand between two stored frames, as grains see it during one substep.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "upsample/upsample_inside.h"

#include <math.h>
#include <string.h>

// A particle that moved less than this from one frame to the next, in radii, and comes and goes slower than ten times
// that, is asleep: what it does is the solver's breathing, and grains around it are not to move at all.
#define SLEEP_RADII 5e-4f
// The path between two frames is bent by its velocities, but by no more than this many times the way it makes: a bounce
// within the frame would otherwise be drawn as a plunge through the floor.
#define MOST_BEND 3.0f
// m/s2; free flight is always allowed its own bend.
#define BEND_OF_FALL 9.81f

GrainResult coarse_field_reserve(CoarseField *field, int64_t count)
{
    const AllocGrown all[] = {{&field->x, sizeof(float), 0},        {&field->y, sizeof(float), 0},
                              {&field->z, sizeof(float), 0},        {&field->sorted_x, sizeof(float), 0},
                              {&field->sorted_y, sizeof(float), 0}, {&field->sorted_z, sizeof(float), 0},
                              {&field->shift, sizeof(Vec3), 0},     {&field->records, sizeof(CoarseRecord), 0}};
    return alloc_grow_all(all, sizeof all / sizeof *all, &field->capacity, count);
}

void coarse_field_free(CoarseField *field)
{
    alloc_free(field->x), alloc_free(field->y), alloc_free(field->z);
    alloc_free(field->sorted_x), alloc_free(field->sorted_y), alloc_free(field->sorted_z);
    alloc_free(field->alive), alloc_free(field->alive_x), alloc_free(field->alive_y), alloc_free(field->alive_z);
    alloc_free(field->shift);
    alloc_free(field->records);
    alloc_free(field->first);
    cell_grid_free(&field->grid);
    *field = (CoarseField){0};
}

// --- motion ---------------------------------------------------------------------------------------

typedef struct Span {
    float seconds;          // between the frames
    float begin[3], end[3]; // of the cubic's terms, at the start and the end of the substep: way, first, last velocity
    float sleep;            // m
} Span;

static Vec3 limit(Vec3 bend, float most)
{
    float length = vec3_length(bend);
    return length > most ? vec3_scale(bend, most / length) : bend;
}

// Hermite's cubic, as a straight way plus two bends, so that a particle that does not move stays where it is to the
// bit.
static void cubic_terms(float s, float out[3])
{
    out[0] = s;
    out[1] = s * (1.0f - s) * (1.0f - s);
    out[2] = -s * s * (1.0f - s);
}

static void place(const Span *span, Vec3 from, Vec3 to, Vec3 first, Vec3 last, Vec3 *position, Vec3 *shift)
{
    Vec3 way = vec3_sub(to, from), bend_first = vec3_sub(vec3_scale(first, span->seconds), way),
         bend_last = vec3_sub(vec3_scale(last, span->seconds), way);
    float length = vec3_length(way);
    if (length <= span->sleep && vec3_length(bend_first) <= 10.0f * span->sleep &&
        vec3_length(bend_last) <= 10.0f * span->sleep) {
        *position = from, *shift = vec3(0, 0, 0);
        return;
    }
    float most = MOST_BEND * length + BEND_OF_FALL * span->seconds * span->seconds;
    bend_first = limit(bend_first, most), bend_last = limit(bend_last, most);
    Vec3 begin = vec3_scale(way, span->begin[0]), end = vec3_scale(way, span->end[0]);
    begin = vec3_add_scaled(vec3_add_scaled(begin, bend_first, span->begin[1]), bend_last, span->begin[2]);
    end = vec3_add_scaled(vec3_add_scaled(end, bend_first, span->end[1]), bend_last, span->end[2]);
    *position = vec3_add(from, begin);
    *shift = vec3_sub(end, begin);
}

// Particles of the second frame that are there already: all of the first, then those born by now.
static int64_t present_at(const UpsampleCoarse *from, const UpsampleCoarse *to, double time)
{
    int64_t count = from->count;
    if (to->birth_time)
        while (count < to->count && (double)to->birth_time[count] <= time) count++;
    return count;
}

// --- the field ------------------------------------------------------------------------------------

static GrainResult list_cells(CoarseField *field)
{
    const CellGrid *grid = &field->grid;
    double cells = (double)grid->cells[0] * (double)grid->cells[1] * (double)grid->cells[2];
    field->is_listed = grid->cell_count > 0 && cells < 8.0 * (double)field->count + 65536.0;
    if (!field->is_listed) return GRAIN_OK;
    int64_t last = (int64_t)cells, next = 0;
    TRY(alloc_grow((void **)&field->first, &field->first_capacity, last + 1, sizeof(int32_t)));
    for (int64_t cell = 0; cell < grid->cell_count; cell++)
        for (; next <= (int64_t)grid->cell_key[cell]; next++) field->first[next] = grid->cell_start[cell];
    for (; next <= last; next++) field->first[next] = (int32_t)field->count;
    return GRAIN_OK;
}

// Those that are not gone, where some are; radius: of the first `known`.
static GrainResult list_alive(CoarseField *field, const float *radius, int64_t known)
{
    int64_t gone = 0, kept = 0;
    for (int64_t i = 0; radius && i < known; i++) gone += radius[i] == 0.0f;
    field->count = field->present - gone;
    if (gone == 0) return GRAIN_OK;
    TRY(alloc_grow((void **)&field->alive, &field->alive_capacity[0], field->count, sizeof(int32_t)));
    TRY(alloc_grow((void **)&field->alive_x, &field->alive_capacity[1], field->count, sizeof(float)));
    TRY(alloc_grow((void **)&field->alive_y, &field->alive_capacity[2], field->count, sizeof(float)));
    TRY(alloc_grow((void **)&field->alive_z, &field->alive_capacity[3], field->count, sizeof(float)));
    for (int64_t i = 0; i < field->present; i++) {
        if (i < known && radius[i] == 0.0f) continue;
        field->alive_x[kept] = field->x[i], field->alive_y[kept] = field->y[i], field->alive_z[kept] = field->z[i];
        field->alive[kept++] = (int32_t)i;
    }
    return GRAIN_OK;
}

static GrainResult sort_records(CoarseField *field, double seconds, int threads)
{
    int all = field->count == field->present;
    TRY(cell_grid_build(&field->grid, all ? field->x : field->alive_x, all ? field->y : field->alive_y,
                        all ? field->z : field->alive_z, field->count, field->reach, threads));
    float per_second = seconds > 0.0 ? (float)(1.0 / seconds) : 0.0f, fastest2 = 0.0f;
    for (int64_t i = 0; i < field->count; i++) {
        int32_t from = all ? field->grid.order[i] : field->alive[field->grid.order[i]];
        Vec3 v = vec3_scale(field->shift[from], per_second);
        float speed2 = vec3_dot(v, v);
        fastest2 = speed2 > fastest2 ? speed2 : fastest2;
        field->sorted_x[i] = field->x[from], field->sorted_y[i] = field->y[from], field->sorted_z[i] = field->z[from];
        field->records[i] =
            (CoarseRecord){field->x[from], field->y[from], field->z[from], v.x, v.y, v.z, 0, 0, 0, 0, {0}};
        field->records[i].height = vec3_dot(vec3(field->x[from], field->y[from], field->z[from]), field->up);
    }
    field->fastest = sqrtf(fastest2);
    return list_cells(field);
}

GrainResult coarse_field_set(CoarseField *field, const UpsampleCoarse *from, const UpsampleCoarse *to, double from_time,
                             double span_seconds, double time, double seconds, float radius, int threads)
{
    field->reach = UPSAMPLE_REACH * radius;
    field->present = present_at(from, to, time);
    Span span = {.seconds = (float)span_seconds, .sleep = SLEEP_RADII * radius};
    cubic_terms((float)((time - from_time) / span_seconds), span.begin);
    cubic_terms((float)((time - from_time + seconds) / span_seconds), span.end);
    float left = (float)(from_time + span_seconds - time), step = (float)seconds;
    PARALLEL_FOR(threads, i, field->present)
    {
        Vec3 position, shift;
        if (i < from->count) {
            place(&span, from->position[i], to->position[i], from->velocity[i], to->velocity[i], &position, &shift);
        } else { // born since: back along its velocity
            position = vec3_add_scaled(to->position[i], to->velocity[i], -left);
            shift = vec3_scale(to->velocity[i], step);
        }
        field->x[i] = position.x, field->y[i] = position.y, field->z[i] = position.z;
        field->shift[i] = shift;
    }
    TRY(list_alive(field, from->radius, from->count));
    return sort_records(field, seconds, threads);
}

GrainResult coarse_field_still(CoarseField *field, const UpsampleCoarse *coarse, float radius, int threads)
{
    field->reach = UPSAMPLE_REACH * radius;
    field->present = coarse->count;
    PARALLEL_FOR(threads, i, field->present)
    {
        Vec3 p = coarse->position[i];
        field->x[i] = p.x, field->y[i] = p.y, field->z[i] = p.z;
        field->shift[i] = coarse->velocity[i];
    }
    TRY(list_alive(field, coarse->radius, coarse->count));
    return sort_records(field, 1.0, threads);
}

// --- neighbours -----------------------------------------------------------------------------------

void coarse_walk_begin(CoarseWalk *walk, const CoarseField *field, const float low[3], const float high[3])
{
    const CellGrid *grid = &field->grid;
    *walk = (CoarseWalk){.field = field};
    for (int axis = 0; axis < 3; axis++) {
        walk->low[axis] = low[axis], walk->high[axis] = high[axis];
        double reach =
            (double)field->reach * (1.0 + 1e-5); // leaves out no particle that contributes more than an exact zero
        double from = floor(((double)low[axis] - reach - grid->low[axis]) * grid->cells_per_metre);
        double to = floor(((double)high[axis] + reach - grid->low[axis]) * grid->cells_per_metre);
        double last = (double)grid->cells[axis] - 3.0; // cells are counted with an empty one at either end
        walk->cell_low[axis] = from < 0.0 ? 1 : from > last ? (int64_t)last + 1 : (int64_t)from + 1;
        walk->cell_high[axis] = to < 0.0 ? 0 : to > last ? (int64_t)last + 1 : (int64_t)to + 1;
        if (!(to >= from)) walk->cell_high[axis] = 0; // NaN: no particle is near
    }
    walk->y = walk->cell_low[1], walk->z = walk->cell_low[2];
    if (grid->cell_count == 0 || walk->cell_high[0] < walk->cell_low[0] || walk->cell_high[1] < walk->cell_low[1])
        walk->z = walk->cell_high[2] + 1;
}

static int64_t first_from(const uint64_t *key, int64_t low, int64_t high, uint64_t wanted)
{
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (key[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// To the row of this cell, over rows without particles: a box from one end of a scene to a lone grain far away has
// thousands of millions of them.
static void skip_rows(CoarseWalk *walk, uint64_t key)
{
    const CellGrid *grid = &walk->field->grid;
    int64_t row = (int64_t)(key / grid->cells[0]), y = row % (int64_t)grid->cells[1], z = row / (int64_t)grid->cells[1];
    if (y > walk->cell_high[1]) z++;
    if (y < walk->cell_low[1] || y > walk->cell_high[1]) y = walk->cell_low[1];
    if (z > walk->z || (z == walk->z && y > walk->y)) walk->y = y, walk->z = z;
}

int coarse_walk_next(CoarseWalk *walk, int64_t *begin, int64_t *end)
{
    const CellGrid *grid = &walk->field->grid;
    while (walk->z <= walk->cell_high[2]) {
        uint64_t row = (uint64_t)walk->z * grid->cells[1] + (uint64_t)walk->y;
        uint64_t from = row * grid->cells[0] + (uint64_t)walk->cell_low[0];
        uint64_t to = row * grid->cells[0] + (uint64_t)walk->cell_high[0];
        if (++walk->y > walk->cell_high[1]) walk->y = walk->cell_low[1], walk->z++;
        if (walk->field->is_listed) {
            *begin = walk->field->first[from], *end = walk->field->first[to + 1];
        } else {
            int64_t first = first_from(grid->cell_key, 0, grid->cell_count, from), last = first;
            while (last < grid->cell_count && grid->cell_key[last] <= to) last++;
            if (last == grid->cell_count) walk->z = walk->cell_high[2] + 1;
            if (first == last && last < grid->cell_count) skip_rows(walk, grid->cell_key[last]);
            *begin = grid->cell_start[first], *end = grid->cell_start[last];
        }
        if (*begin < *end) return 1;
    }
    return 0;
}

void coarse_field_near(const CoarseField *field, const BlockBox *box, CoarseNear *near)
{
    float limit2 = coarse_field_limit2(field);
    int32_t list[UPSAMPLE_NEAR + 1];
    CoarseWalk walk;
    coarse_walk_begin(&walk, field, box->low, box->high);
    int64_t begin, end;
    int count = 0;
    near->count = -1;
    while (coarse_walk_next(&walk, &begin, &end)) {
        count += SIMD_CALL(upsample_gather)(field->sorted_x, field->sorted_y, field->sorted_z, &begin, end, box, limit2,
                                            list + count, UPSAMPLE_NEAR - count);
        if (begin < end) return;
    }
    for (int i = 0; i < count; i++) {
        near->records[i] = field->records[list[i]];
        near->x[i] = near->records[i].x, near->y[i] = near->records[i].y, near->z[i] = near->records[i].z;
    }
    for (int i = count; i < count + 32; i++) near->x[i] = near->y[i] = near->z[i] = 0.0f;
    near->count = count;
}

// --- how it turns ----------------------------------------------------------------------------------

// Blocks of neighbours in the order of the grid, which are near each other.
static void spin_of_block(const CoarseField *field, int64_t first, int count, Vec3 *spin)
{
    int32_t list[UPSAMPLE_CHUNK + 1];
    SpinSums sums = {0};
    BlockBox box;
    float x[UPSAMPLE_SPIN_BLOCK], y[UPSAMPLE_SPIN_BLOCK], z[UPSAMPLE_SPIN_BLOCK];
    for (int i = 0; i < UPSAMPLE_SPIN_BLOCK; i++) {
        int64_t from = first + (i < count ? i : 0);
        x[i] = field->sorted_x[from], y[i] = field->sorted_y[from], z[i] = field->sorted_z[from];
    }
    SIMD_CALL(upsample_box)(x, y, z, count, &box);
    CoarseWalk walk;
    coarse_walk_begin(&walk, field, box.low, box.high);
    int64_t begin, end;
    int taken = 0;
    while (coarse_walk_next(&walk, &begin, &end))
        while (begin < end) {
            taken += SIMD_CALL(upsample_gather)(field->sorted_x, field->sorted_y, field->sorted_z, &begin, end, &box,
                                                coarse_field_limit2(field), list + taken, UPSAMPLE_CHUNK - taken);
            if (begin == end) break;
            SIMD_CALL(upsample_add_spin)
            (field->records + first, count, field->records, list, taken, field->reach, &sums);
            taken = 0;
        }
    SIMD_CALL(upsample_add_spin)(field->records + first, count, field->records, list, taken, field->reach, &sums);
    for (int i = 0; i < count; i++)
        spin[i] = vec3_scale(vec3(sums.x[i], sums.y[i], sums.z[i]), 1.5f / (sums.inertia[i] + 1e-30f));
}

// For a body that turns by s, (x_k - x_j) x (v_k - v_j) summed with weights over neighbours evenly around is
// 2/3 s sum w d^2; for any smooth flow that gives half the curl.
void coarse_field_spin(CoarseField *field, int threads)
{
    Vec3 *spin = field->shift; // has done its work
    int64_t block_count = parallel_block_count(field->count, UPSAMPLE_SPIN_BLOCK);
    int64_t chunk_count = parallel_block_count(block_count, UPSAMPLE_BLOCKS_IN_CHUNK);
    PARALLEL_BLOCKS(threads, chunk, chunk_count)
    {
        int64_t last = parallel_block_end(chunk, UPSAMPLE_BLOCKS_IN_CHUNK, block_count);
        for (int64_t block = chunk * UPSAMPLE_BLOCKS_IN_CHUNK; block < last; block++) {
            int64_t first = block * UPSAMPLE_SPIN_BLOCK;
            spin_of_block(field, first, (int)(parallel_block_end(block, UPSAMPLE_SPIN_BLOCK, field->count) - first),
                          spin + first);
        }
    }
    PARALLEL_FOR(threads, i, field->count)
    {
        field->records[i].sx = spin[i].x, field->records[i].sy = spin[i].y, field->records[i].sz = spin[i].z;
    }
}
