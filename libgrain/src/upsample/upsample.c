// SPDX-License-Identifier: GPL-3.0-or-later
#include "upsample/upsample.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "base/rng.h"
#include "upsample/upsample_inside.h"

#include <math.h>
#include <string.h>

// Between two sorts boxes grow by what the grains move; at eight substeps the sort costs a tenth of the rest.
#define SUBSTEPS_BETWEEN_SORTS 8
// Grains fill their share of the coarse packing's volume as closely as the coarse particles do, a little less so that
// the heap looks loose.
#define FILLING 1.0

// --- numbers --------------------------------------------------------------------------------------
// Every coarse particle has floor(per_particle) grains; the fraction left gives one more to some of them, spread
// evenly: floor(c * fraction) of the first c.

static int64_t base_layers(const UpsampleDef *def) { return (int64_t)floor(def->per_particle); }
static double fraction_of(const UpsampleDef *def) { return def->per_particle - floor(def->per_particle); }
static int64_t extras_before(const UpsampleDef *def, int64_t coarse)
{
    return (int64_t)floor((double)coarse * fraction_of(def));
}

static int64_t layer_count(const UpsampleDef *def) { return base_layers(def) + (fraction_of(def) > 0.0); }

static void shard_ranks(const UpsampleDef *def, int64_t *begin, int64_t *end)
{
    // Nothing is lost below 2^53 / UPSAMPLE_LAYERS coarse particles.
    int64_t ranks = layer_count(def) * def->coarse_total;
    *begin = ranks / def->shard_count * def->shard + ranks % def->shard_count * def->shard / def->shard_count;
    int32_t next = def->shard + 1;
    *end = ranks / def->shard_count * next + ranks % def->shard_count * next / def->shard_count;
}

// Ranks below `rank` of coarse particles below `coarse`, in the full layers.
static int64_t full_ranks_before(int64_t rank, int64_t coarse, int64_t total)
{
    int64_t rest = rank % total;
    return rank / total * coarse + (rest < coarse ? rest : coarse);
}

int64_t upsample_count_grains(const UpsampleDef *def, int64_t coarse_count)
{
    int64_t begin, end, total = def->coarse_total, full = base_layers(def) * total;
    if (total == 0) return 0;
    shard_ranks(def, &begin, &end);
    int64_t full_end = end < full ? end : full, count = 0;
    if (begin < full_end)
        count = full_ranks_before(full_end, coarse_count, total) - full_ranks_before(begin, coarse_count, total);
    if (end <= full) return count;
    int64_t from = begin > full ? begin - full : 0, to = end - full;
    if (to > coarse_count) to = coarse_count;
    return to > from ? count + extras_before(def, to) - extras_before(def, from) : count;
}

int upsample_number(const Upsampler *u, int64_t coarse, int64_t layer, int64_t *number)
{
    const UpsampleDef *def = &u->def;
    int64_t rank = layer * def->coarse_total + coarse, full = base_layers(def) * def->coarse_total;
    if (rank < u->rank_begin || rank >= u->rank_end) return 0;
    if (rank < full) {
        *number = rank - u->rank_begin;
        return 1;
    }
    int64_t before = extras_before(def, coarse), from = u->rank_begin > full ? u->rank_begin - full : 0;
    if (extras_before(def, coarse + 1) == before) return 0;
    *number = u->full_numbers + before - extras_before(def, from);
    return 1;
}

void upsample_identity(const Upsampler *u, int64_t number, int64_t *coarse, int64_t *layer)
{
    const UpsampleDef *def = &u->def;
    int64_t total = def->coarse_total, full = base_layers(def) * total;
    if (number < u->full_numbers) {
        *layer = (u->rank_begin + number) / total;
        *coarse = (u->rank_begin + number) % total;
        return;
    }
    int64_t wanted = extras_before(def, u->rank_begin > full ? u->rank_begin - full : 0) + number - u->full_numbers;
    int64_t c = (int64_t)((double)wanted / fraction_of(def));
    while (c > 0 && extras_before(def, c) > wanted) c--;
    while (extras_before(def, c + 1) <= wanted) c++;
    *layer = base_layers(def);
    *coarse = c;
}

float upsample_grain_radius(const UpsampleDef *def)
{
    return (float)((double)def->coarse_radius * real_cbrt(FILLING / def->per_particle));
}

float upsample_radius_of(const Upsampler *u, int64_t coarse, int64_t layer)
{
    Rng4 r = rng_at(u->def.seed, (uint64_t)upsample_id(coarse, layer), RNG_STREAM_UPSAMPLE_RADIUS, 0);
    return u->grain_radius * (1.0f + u->def.size_spread * rng_signed(r.word[0]));
}

// --- making and ending ----------------------------------------------------------------------------

static int has_finite_gravity(const UpsampleDef *def)
{
    int is_finite = vec3_is_finite(curve_constant(&def->gravity));
    for (int64_t i = 0; i < def->gravity.count; i++)
        is_finite &= vec3_is_finite(curve_vector(&def->gravity, (double)i));
    return is_finite;
}

static GrainResult check_def(const UpsampleDef *def)
{
    if (!(def->per_particle > 0.0 && def->per_particle <= UPSAMPLE_MAX_PER_PARTICLE))
        return fail(GRAIN_ERROR_ARGUMENT, "%g grains for a coarse particle; allowed are more than 0 and at most %d",
                    def->per_particle, UPSAMPLE_MAX_PER_PARTICLE);
    if (!(def->coarse_radius > 0.0f) || !isfinite(def->coarse_radius) || !(def->substep > 0.0f) ||
        !(def->size_spread >= 0.0f && def->size_spread < 1.0f) || !has_finite_gravity(def))
        return fail(GRAIN_ERROR_ARGUMENT, "radius, substep, size spread or gravity is out of range");
    if (def->coarse_total < 0 || def->coarse_total > INT32_MAX)
        return fail(GRAIN_ERROR_ARGUMENT, "%lld coarse particles; at most %d can be refined",
                    (long long)def->coarse_total, INT32_MAX);
    if (def->shard_count < 1 || def->shard < 0 || def->shard >= def->shard_count)
        return fail(GRAIN_ERROR_ARGUMENT, "there is no shard %d of %d; shards count from 1", def->shard + 1,
                    def->shard_count);
    if (upsample_count_grains(def, def->coarse_total) > UINT32_MAX - 1)
        return fail(GRAIN_ERROR_MEMORY, "%.1f billion grains in one shard; cut them into more shards",
                    1e-9 * (double)upsample_count_grains(def, def->coarse_total));
    return GRAIN_OK;
}

// Columns, the spare one, the order and the blocks.
double upsample_bytes_per_grain(void) { return 4.0 * (UPSAMPLE_COLUMNS + 3); }

static GrainResult reserve(Upsampler *u)
{
    for (int c = 0; c < UPSAMPLE_COLUMNS; c++) {
        u->grains.column[c] = ALLOC(uint32_t, u->capacity);
        if (!u->grains.column[c]) return GRAIN_ERROR_MEMORY;
    }
    u->spare = ALLOC(uint32_t, u->capacity);
    u->order = ALLOC(uint32_t, u->capacity);
    u->scratch = ALLOC(UpsampleScratch, u->threads);
    u->is_gone = ALLOC_ZEROED(uint8_t, u->def.coarse_total);
    if (!u->spare || !u->order || !u->scratch || !u->is_gone) return GRAIN_ERROR_MEMORY;
    return upsample_sort_reserve(u);
}

static void set_gravity(Upsampler *u, double time)
{
    u->gravity = curve_vector(&u->def.gravity, u->def.gravity.count > 0 ? time / u->def.frame_seconds : 0.0);
    u->field.up = vec3_normalize(vec3_scale(u->gravity, -1.0f), vec3(0, 0, 0));
}

GrainResult upsample_create(const UpsampleDef *def, int threads, Upsampler **out)
{
    *out = NULL;
    TRY(check_def(def));
    Upsampler *u = ALLOC_ZEROED(Upsampler, 1);
    if (!u) return GRAIN_ERROR_MEMORY;
    u->def = *def;
    u->threads = threads;
    u->grain_radius = upsample_grain_radius(def);
    u->reach = UPSAMPLE_REACH * def->coarse_radius;
    u->layers = layer_count(def);
    u->capacity = upsample_count_grains(def, def->coarse_total);
    shard_ranks(def, &u->rank_begin, &u->rank_end);
    int64_t full = base_layers(def) * def->coarse_total;
    u->full_numbers = (u->rank_end < full ? u->rank_end : full) - u->rank_begin;
    if (u->full_numbers < 0) u->full_numbers = 0;
    u->substeps_since_sort = UPSAMPLE_NEVER_SORTED;
    set_gravity(u, 0.0);
    GrainResult result = reserve(u);
    if (result == GRAIN_OK) result = coarse_field_reserve(&u->field, def->coarse_total);
    if (result == GRAIN_OK)
        *out = u;
    else
        upsample_destroy(u);
    return result;
}

void upsample_destroy(Upsampler *u)
{
    if (!u) return;
    for (int c = 0; c < UPSAMPLE_COLUMNS; c++) alloc_free(u->grains.column[c]);
    alloc_free(u->spare);
    alloc_free(u->order);
    alloc_free(u->scratch);
    alloc_free(u->histogram);
    alloc_free(u->is_mixed);
    alloc_free(u->block_start);
    alloc_free(u->strip_blocks);
    alloc_free(u->chunk_fastest);
    alloc_free(u->is_gone);
    coarse_field_free(&u->field);
    alloc_free(u);
}

// --- time -----------------------------------------------------------------------------------------

static void place_walls(Upsampler *u, double time)
{
    if (u->def.walls) u->walls = *u->def.walls(u->def.walls_user, time);
}

static GrainResult check_coarse(const Upsampler *u, const UpsampleCoarse *coarse)
{
    if (coarse->count <= u->def.coarse_total && coarse->count >= u->coarse_born) return GRAIN_OK;
    return fail(GRAIN_ERROR_DAMAGED, "a coarse frame has %lld particles where %lld to %lld were expected; bake again",
                (long long)coarse->count, (long long)u->coarse_born, (long long)u->def.coarse_total);
}

static GrainResult birth_at_rest(Upsampler *u, const UpsampleCoarse *coarse, double time)
{
    set_gravity(u, time);
    place_walls(u, time);
    TRY(coarse_field_still(&u->field, coarse, u->def.coarse_radius, u->threads));
    upsample_birth(u, coarse->count);
    return GRAIN_OK;
}

// Grains of particles that are gone lie where these were last, out of everybody's way.
static void park_gone(Upsampler *u, const UpsampleCoarse *coarse)
{
    GrainColumns *g = &u->grains;
    for (int64_t i = 0; coarse->radius && i < coarse->count; i++)
        u->any_gone |= u->is_gone[i] = coarse->radius[i] == 0.0f;
    if (!u->any_gone) return;
    PARALLEL_FOR(u->threads, i, u->count)
    {
        int64_t parent, layer;
        upsample_identity(u, g->number[i], &parent, &layer);
        if (!u->is_gone[parent]) continue;
        Vec3 place = coarse->position[parent];
        g->x[i] = place.x, g->y[i] = place.y, g->z[i] = place.z;
        g->vx[i] = g->vy[i] = g->vz[i] = 0.0f;
    }
    // They have moved farther than what stands between two sorts allows for.
    u->substeps_since_sort = UPSAMPLE_NEVER_SORTED;
}

GrainResult upsample_begin(Upsampler *u, const UpsampleCoarse *first, double time)
{
    u->count = u->coarse_born = 0;
    u->fastest = 0.0f;
    TRY(check_coarse(u, first));
    TRY(birth_at_rest(u, first, time));
    park_gone(u, first);
    return GRAIN_OK;
}

GrainResult upsample_advance(Upsampler *u, const UpsampleCoarse *from, const UpsampleCoarse *to, double time,
                             double seconds, UpsampleWatchFn *watch, void *user)
{
    TRY(check_coarse(u, to));
    int64_t steps = (int64_t)ceil(seconds / (double)u->def.substep - 1e-6);
    if (steps < 1) steps = 1;
    double step = seconds / (double)steps;
    for (int64_t i = 0; i < steps; i++) {
        double now = time + step * (double)i;
        set_gravity(u, now + 0.5 * step);
        place_walls(u, now + step);
        TRY(coarse_field_set(&u->field, from, to, time, seconds, now, step, u->def.coarse_radius, u->threads));
        if (u->field.present > u->coarse_born) upsample_birth(u, u->field.present);
        int is_last = i == steps - 1;
        if (is_last) coarse_field_spin(&u->field, u->threads);
        if (u->substeps_since_sort >= SUBSTEPS_BETWEEN_SORTS) upsample_sort(u);
        upsample_substep(u, (float)step, is_last ? (float)seconds : 0.0f);
        u->substeps_since_sort++;
        if (watch) TRY(watch(user, (double)(i + 1) / (double)steps));
    }
    if (to->count > u->coarse_born) TRY(birth_at_rest(u, to, time + seconds));
    park_gone(u, to);
    return GRAIN_OK;
}

// --- rows -----------------------------------------------------------------------------------------

int64_t upsample_count(const Upsampler *u) { return u->count; }

// order: born grains in the order of ranks -> place. Through the spare column, which has a slot for every number.
void upsample_order(Upsampler *u)
{
    uint32_t *place_of = u->spare, none = UINT32_MAX;
    PARALLEL_FOR(u->threads, i, u->capacity) { place_of[i] = none; }
    PARALLEL_FOR(u->threads, i, u->count) { place_of[u->grains.number[i]] = (uint32_t)i; }
    int64_t row = 0;
    for (int64_t number = 0; number < u->capacity; number++)
        if (place_of[number] != none) u->order[row++] = place_of[number];
}

void upsample_rows(const Upsampler *u, int64_t first, int64_t count, const UpsampleRows *out)
{
    const GrainColumns *g = &u->grains;
    PARALLEL_FOR(u->threads, i, count)
    {
        uint32_t p = u->order[first + i];
        if (out->position) out->position[i] = vec3(g->x[p], g->y[p], g->z[p]);
        if (out->velocity) out->velocity[i] = vec3(g->vx[p], g->vy[p], g->vz[p]);
        if (out->orientation) out->orientation[i] = (Quat){g->qw[p], g->qx[p], g->qy[p], g->qz[p]};
        if (!out->radius && !out->id && !out->parent) continue;
        int64_t coarse, layer;
        upsample_identity(u, g->number[p], &coarse, &layer);
        if (out->radius) out->radius[i] = u->is_gone[coarse] ? 0.0f : upsample_radius_of(u, coarse, layer);
        if (out->id) out->id[i] = upsample_id(coarse, layer);
        if (out->parent) out->parent[i] = (int32_t)coarse;
    }
}

// Of the numbers from `first` on, where their layer ends.
static int64_t layer_end(const Upsampler *u, int64_t first)
{
    if (first >= u->full_numbers) return u->capacity;
    int64_t total = u->def.coarse_total, end = first + total - (u->rank_begin + first) % total;
    return end < u->full_numbers ? end : u->full_numbers;
}

// Of the numbers from `first` on, which all are of one layer, how many are born; they come first.
static int64_t count_born(const Upsampler *u, int64_t first)
{
    const UpsampleDef *def = &u->def;
    if (first < u->full_numbers) return u->coarse_born - (u->rank_begin + first) % def->coarse_total;
    int64_t full = base_layers(def) * def->coarse_total, from = u->rank_begin > full ? u->rank_begin - full : 0;
    return extras_before(def, u->coarse_born) - extras_before(def, from) - (first - u->full_numbers);
}

int64_t upsample_chunks(const Upsampler *u, int64_t most, int by_layer, uint32_t *sizes)
{
    int64_t chunks = 0;
    for (int64_t first = 0; first < u->capacity; chunks++) {
        int64_t end = by_layer ? layer_end(u, first) : u->capacity;
        if (end > first + most) end = first + most;
        int64_t born = by_layer ? count_born(u, first) : end - first;
        if (born > end - first) born = end - first;
        if (sizes) sizes[chunks] = (uint32_t)(born > 0 ? born : 0);
        first = end;
    }
    return chunks;
}

GrainResult upsample_load(Upsampler *u, int64_t coarse_count, int64_t count, const Vec3 *position, const Vec3 *velocity,
                          const Quat *orientation)
{
    if (coarse_count < 0 || coarse_count > u->def.coarse_total || count != upsample_count_grains(&u->def, coarse_count))
        return fail(GRAIN_ERROR_DAMAGED, "a frame of %lld grains where %lld were expected", (long long)count,
                    (long long)upsample_count_grains(&u->def, coarse_count));
    GrainColumns *g = &u->grains;
    int64_t row = 0;
    float fastest = 0.0f;
    for (int64_t number = 0; number < u->capacity; number++) {
        int64_t coarse, layer;
        upsample_identity(u, number, &coarse, &layer);
        if (coarse >= coarse_count) continue;
        Vec3 p = position[row], v = velocity[row];
        Quat q = orientation[row];
        g->x[row] = p.x, g->y[row] = p.y, g->z[row] = p.z;
        g->vx[row] = v.x, g->vy[row] = v.y, g->vz[row] = v.z;
        g->qw[row] = q.w, g->qx[row] = q.x, g->qy[row] = q.y, g->qz[row] = q.z;
        g->number[row++] = (uint32_t)number;
        fastest = real_maxf(fastest, vec3_length(v));
    }
    u->count = count;
    u->coarse_born = coarse_count;
    u->fastest = fastest;
    u->substeps_since_sort = UPSAMPLE_NEVER_SORTED;
    return GRAIN_OK;
}
