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
    if (count <= field->capacity) return GRAIN_OK;
    int64_t grown[8];
    for (int i = 0; i < 8; i++) grown[i] = field->capacity;
    TRY(alloc_grow((void **)&field->x, &grown[0], count, sizeof(float)));
    TRY(alloc_grow((void **)&field->y, &grown[1], count, sizeof(float)));
    TRY(alloc_grow((void **)&field->z, &grown[2], count, sizeof(float)));
    TRY(alloc_grow((void **)&field->sorted_x, &grown[5], count, sizeof(float)));
    TRY(alloc_grow((void **)&field->sorted_y, &grown[6], count, sizeof(float)));
    TRY(alloc_grow((void **)&field->sorted_z, &grown[7], count, sizeof(float)));
    TRY(alloc_grow((void **)&field->shift, &grown[3], count, sizeof(Vec3)));
    TRY(alloc_grow((void **)&field->records, &grown[4], count, sizeof(CoarseRecord)));
    field->capacity = grown[0];
    return GRAIN_OK;
}

void coarse_field_free(CoarseField *field)
{
    alloc_free(field->x), alloc_free(field->y), alloc_free(field->z);
    alloc_free(field->sorted_x), alloc_free(field->sorted_y), alloc_free(field->sorted_z);
    alloc_free(field->shift);
    alloc_free(field->records);
    alloc_free(field->row_start);
    cell_grid_free(&field->grid);
    *field = (CoarseField){0};
}

// --- motion ---------------------------------------------------------------------------------------

typedef struct Span {
    float seconds;         // between the frames
    float begin[3], end[3]; // of the cubic's terms, at the start and the end of the substep: way, first, last velocity
    float sleep;           // m
} Span;

static Vec3 limit(Vec3 bend, float most)
{
    float length = vec3_length(bend);
    return length > most ? vec3_scale(bend, most / length) : bend;
}

// Hermite's cubic, as a straight way plus two bends, so that a particle that does not move stays where it is to the bit.
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

static GrainResult list_rows(CoarseField *field)
{
    const CellGrid *grid = &field->grid;
    uint64_t rows = grid->cells[1] * grid->cells[2];
    field->has_rows = grid->cell_count > 0 && rows < (uint64_t)(8 * field->count + (1 << 16));
    if (!field->has_rows) return GRAIN_OK;
    TRY(alloc_grow((void **)&field->row_start, &field->row_capacity, (int64_t)rows + 1, sizeof(int32_t)));
    int64_t next = 0;
    for (int64_t cell = 0; cell < grid->cell_count; cell++) {
        int64_t row = (int64_t)(grid->cell_key[cell] / grid->cells[0]);
        for (; next <= row; next++) field->row_start[next] = (int32_t)cell;
    }
    for (; next <= (int64_t)rows; next++) field->row_start[next] = (int32_t)grid->cell_count;
    return GRAIN_OK;
}

static GrainResult sort_records(CoarseField *field, double seconds, int threads)
{
    TRY(cell_grid_build(&field->grid, field->x, field->y, field->z, field->count, field->reach, threads));
    float per_second = seconds > 0.0 ? (float)(1.0 / seconds) : 0.0f, fastest2 = 0.0f;
    for (int64_t i = 0; i < field->count; i++) {
        int32_t from = field->grid.order[i];
        Vec3 v = vec3_scale(field->shift[from], per_second);
        float speed2 = vec3_dot(v, v);
        fastest2 = speed2 > fastest2 ? speed2 : fastest2;
        field->sorted_x[i] = field->x[from], field->sorted_y[i] = field->y[from], field->sorted_z[i] = field->z[from];
        field->records[i] = (CoarseRecord){field->x[from], field->y[from], field->z[from], v.x, v.y, v.z, 0, 0, 0, 0, {0}};
        field->records[i].height = vec3_dot(vec3(field->x[from], field->y[from], field->z[from]), field->up);
    }
    field->fastest = sqrtf(fastest2);
    return list_rows(field);
}

GrainResult coarse_field_set(CoarseField *field, const UpsampleCoarse *from, const UpsampleCoarse *to, double from_time,
                             double span_seconds, double time, double seconds, float radius, int threads)
{
    field->reach = UPSAMPLE_REACH * radius;
    field->count = present_at(from, to, time);
    Span span = {.seconds = (float)span_seconds, .sleep = SLEEP_RADII * radius};
    cubic_terms((float)((time - from_time) / span_seconds), span.begin);
    cubic_terms((float)((time - from_time + seconds) / span_seconds), span.end);
    float left = (float)(from_time + span_seconds - time), step = (float)seconds;
    PARALLEL_FOR(threads, i, field->count)
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
    return sort_records(field, seconds, threads);
}

GrainResult coarse_field_still(CoarseField *field, const UpsampleCoarse *coarse, float radius, int threads)
{
    field->reach = UPSAMPLE_REACH * radius;
    field->count = coarse->count;
    PARALLEL_FOR(threads, i, field->count)
    {
        Vec3 p = coarse->position[i];
        field->x[i] = p.x, field->y[i] = p.y, field->z[i] = p.z;
        field->shift[i] = coarse->velocity[i];
    }
    return sort_records(field, 1.0, threads);
}

// For a body that turns by s, (x_k - x_j) x (v_k - v_j) summed with weights over neighbours evenly around is
// 2/3 s sum w d^2; for any smooth flow that gives half the curl.
void coarse_field_spin(CoarseField *field, int threads)
{
    float inverse_reach2 = 1.0f / (field->reach * field->reach);
    int64_t block_count = parallel_block_count(field->grid.cell_count, 64);
    PARALLEL_BLOCKS(threads, block, block_count)
    {
        for (int64_t cell = 64 * block; cell < parallel_block_end(block, 64, field->grid.cell_count); cell++) {
            const CellRows *rows = &field->grid.rows[cell];
            for (int32_t i = field->grid.cell_start[cell]; i < field->grid.cell_start[cell + 1]; i++) {
                CoarseRecord *own = &field->records[i];
                Vec3 moment = {0, 0, 0};
                float inertia = 1e-30f;
                for (int row = 0; row < 9; row++)
                    for (int32_t k = rows->begin[row]; k < rows->end[row]; k++) {
                        const CoarseRecord *other = &field->records[k];
                        Vec3 d = {other->x - own->x, other->y - own->y, other->z - own->z};
                        float d2 = vec3_dot(d, d), q = 1.0f - d2 * inverse_reach2;
                        if (!(q > 0.0f)) continue;
                        Vec3 v = {other->vx - own->vx, other->vy - own->vy, other->vz - own->vz};
                        moment = vec3_add_scaled(moment, vec3_cross(d, v), q * q * q);
                        inertia += q * q * q * d2;
                    }
                Vec3 spin = vec3_scale(moment, 1.5f / inertia);
                own->sx = spin.x, own->sy = spin.y, own->sz = spin.z;
            }
        }
    }
}

// --- who is near ----------------------------------------------------------------------------------

void coarse_walk_begin(CoarseWalk *walk, const CoarseField *field, const float low[3], const float high[3])
{
    const CellGrid *grid = &field->grid;
    *walk = (CoarseWalk){.field = field};
    for (int axis = 0; axis < 3; axis++) {
        walk->low[axis] = low[axis], walk->high[axis] = high[axis];
        double reach = (double)field->reach * (1.0 + 1e-5); // nobody who could add more than an exact zero is left out
        double from = floor(((double)low[axis] - reach - grid->low[axis]) * grid->cells_per_metre);
        double to = floor(((double)high[axis] + reach - grid->low[axis]) * grid->cells_per_metre);
        double last = (double)grid->cells[axis] - 3.0; // cells are counted with an empty one at either end
        walk->cell_low[axis] = from < 0.0 ? 1 : from > last ? (int64_t)last + 1 : (int64_t)from + 1;
        walk->cell_high[axis] = to < 0.0 ? 0 : to > last ? (int64_t)last + 1 : (int64_t)to + 1;
        if (!(to >= from)) walk->cell_high[axis] = 0; // NaN: nobody is near
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

int coarse_walk_next(CoarseWalk *walk, int64_t *begin, int64_t *end)
{
    const CellGrid *grid = &walk->field->grid;
    while (walk->z <= walk->cell_high[2]) {
        uint64_t row = (uint64_t)walk->z * grid->cells[1] + (uint64_t)walk->y;
        uint64_t from = row * grid->cells[0] + (uint64_t)walk->cell_low[0];
        uint64_t to = row * grid->cells[0] + (uint64_t)walk->cell_high[0];
        if (++walk->y > walk->cell_high[1]) walk->y = walk->cell_low[1], walk->z++;
        int64_t low = 0, high = grid->cell_count;
        if (walk->field->has_rows) low = walk->field->row_start[row], high = walk->field->row_start[row + 1];
        int64_t first = first_from(grid->cell_key, low, high, from), last = first;
        while (last < high && grid->cell_key[last] <= to) last++;
        if (last == first) continue;
        *begin = grid->cell_start[first], *end = grid->cell_start[last];
        return 1;
    }
    return 0;
}
