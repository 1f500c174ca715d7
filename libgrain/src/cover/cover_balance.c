#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "cover/cover_holes.h"

#include <string.h>

// A hole larger than this (in spacings) gets a floater. The perfect pattern has 0.577, a missing particle leaves 1.
#define HOLE 0.74f
// Of two floaters nearer than this one has to go.
#define CROWD 0.6f
// Holes and crowds within this distance are one: only the worst of them is acted upon, the others are looked at again.
#define SEPARATE 1.0f
// The count may be above what is wanted by this part before floaters are taken out for it.
#define COUNT_TOLERANCE 0.002

typedef struct Balance {
    CoverFloaters *f;
    CoverHoles holes;
    float *crowding; // how hard a floater is pushed from all sides
    uint8_t *keep;
    int64_t leaving;
} Balance;

static void measure_crowding(Balance *b, int threads)
{
    const CoverFloaters *f = b->f;
    PARALLEL_FOR(threads, i, f->count)
    {
        float crowding = 0.0f;
        Vec3 middle = cover_get(f->places.position, i);
        for (int32_t k = 0;; k++) {
            int32_t other = cover_neighbour(f, i, k);
            if (other == i) break;
            float distance = vec3_length(vec3_sub(cover_get(f->places.position, other), middle));
            float nearness = fmaxf(1.0f - distance / COVER_REACH, 0.0f);
            crowding += nearness * nearness * nearness;
        }
        b->crowding[i] = crowding;
    }
}

// Whether nobody near who is more crowded is leaving too.
static int may_leave(const Balance *b, int64_t floater)
{
    const CoverFloaters *f = b->f;
    for (int32_t k = 0;; k++) {
        int32_t other = cover_neighbour(f, floater, k);
        if (other == floater) return 1;
        if (!b->keep[other]) return 0;
    }
}

static void leave(Balance *b, int64_t floater)
{
    b->keep[floater] = 0;
    b->leaving++;
}

// Those that another one nearly lies upon.
static void drop_crowds(Balance *b)
{
    for (int64_t i = 0; i < b->f->count; i++)
        if (cover_nearest(b->f, i) < CROWD && may_leave(b, i)) leave(b, i);
}

// As many more as are too many, the most crowded first.
static GrainResult drop_surplus(Balance *b, int64_t surplus, int threads)
{
    int64_t count = b->f->count;
    SortItem *items = ALLOC(SortItem, count);
    if (!items) return GRAIN_ERROR_MEMORY;
    measure_crowding(b, threads);
    for (int64_t i = 0; i < count; i++) {
        // Floats above 0 sort like their bits; all turned over, so that the largest comes first.
        uint32_t bits;
        memcpy(&bits, &b->crowding[i], sizeof bits);
        items[i] = (SortItem){~bits, (uint32_t)i, 0};
    }
    SortScratch scratch = {0};
    GrainResult result = sort_by_key(items, count, 32, &scratch, threads);
    for (int64_t i = 0; result == GRAIN_OK && i < count && surplus > 0; i++) {
        int64_t floater = items[i].value;
        if (!b->keep[floater] || !may_leave(b, floater)) continue;
        leave(b, floater);
        surplus--;
    }
    sort_scratch_free(&scratch);
    alloc_free(items);
    return result;
}

static GrainResult add_floaters(Balance *b)
{
    CoverFloaters *f = b->f;
    TRY(cover_floaters_reserve(f, f->count + b->holes.count));
    for (int64_t i = 0; i < b->holes.count; i++) {
        int64_t place = f->count++;
        cover_set(f->places.position, place, b->holes.holes[i].place);
        cover_set(f->places.normal, place, b->holes.holes[i].normal);
        cover_set(f->move, place, vec3(0, 0, 0));
        f->places.point[place] = b->holes.holes[i].point;
        f->places.distance[place] = 0.0f;
    }
    return GRAIN_OK;
}

static GrainResult balance(Balance *b, const CoverSurface *surface, int64_t wanted, int threads)
{
    int64_t count = b->f->count;
    b->crowding = ALLOC(float, count);
    b->keep = ALLOC(uint8_t, count);
    if (!b->crowding || !b->keep) return GRAIN_ERROR_MEMORY;
    memset(b->keep, 1, (size_t)count);
    TRY(cover_floaters_list(b->f, threads));
    TRY(cover_holes_find(&b->holes, b->f, surface, HOLE, threads));
    TRY(cover_holes_separate(&b->holes, SEPARATE, threads));
    drop_crowds(b);
    int64_t after = count + b->holes.count - b->leaving;
    if ((double)(after - wanted) > COUNT_TOLERANCE * (double)wanted) TRY(drop_surplus(b, after - wanted, threads));
    cover_floaters_keep(b->f, b->keep);
    return add_floaters(b);
}

GrainResult cover_balance(CoverFloaters *f, const CoverSurface *surface, int64_t wanted, int threads, int64_t *changed)
{
    Balance b = {.f = f};
    GrainResult result = balance(&b, surface, wanted, threads);
    *changed = b.holes.count + b.leaving;
    cover_holes_free(&b.holes);
    alloc_free(b.crowding);
    alloc_free(b.keep);
    return result;
}
