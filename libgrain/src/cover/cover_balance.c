// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "cover/cover_holes.h"

#include <string.h>

// A hole larger than this (in spacings) gets a floater. The perfect pattern has 0.577, a missing particle leaves 1.
#define HOLE 0.74f
// Smaller ones down to here are filled where floaters are missing anyway.
#define SMALL_HOLE 0.66f
// Of two floaters nearer than this one has to go.
#define CROWD 0.6f
// And so has one that is pushed harder than this: the perfect pattern has 0.22, one half as dense again 0.55.
#define CROWDING 0.65f
// Holes within this distance are one: only the largest of them is filled, the others are looked at again. So with
// floaters that have to go.
#define SEPARATE 1.0f
// The count may differ from what is wanted by this part before floaters are added or taken out for it.
#define COUNT_TOLERANCE 0.002

typedef struct Balance {
    CoverFloaters *f;
    CoverHoles holes;
    float *crowding; // how hard a floater is pushed from all sides
    uint8_t *keep;
    int64_t leaving;
    SortItem *items;
    SortScratch scratch;
} Balance;

static float crowding_of(const CoverFloaters *f, int64_t floater, float *nearest)
{
    float crowding = 0.0f;
    Vec3 middle = cover_get(f->places.position, floater);
    *nearest = COVER_LIST_REACH;
    for (int32_t k = 0;; k++) {
        int32_t other = cover_neighbour(f, floater, k);
        if (other == floater) return crowding;
        float distance = vec3_length(vec3_sub(cover_get(f->places.position, other), middle));
        float nearness = real_maxf(1.0f - distance / COVER_REACH, 0.0f);
        crowding += nearness * nearness * nearness;
        *nearest = real_minf(*nearest, distance);
    }
}

// Floats above 0 sort like their bits; all turned over, so that the largest comes first.
static uint64_t largest_first(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return ~bits;
}

// Whether no neighbour is leaving already.
static int may_leave(const Balance *b, int64_t floater)
{
    const CoverFloaters *f = b->f;
    Vec3 middle = cover_get(f->places.position, floater);
    for (int32_t k = 0;; k++) {
        int32_t other = cover_neighbour(f, floater, k);
        if (other == floater) return 1;
        if (b->keep[other]) continue;
        if (vec3_length(vec3_sub(cover_get(f->places.position, other), middle)) < SEPARATE) return 0;
    }
}

// Whether another one that stays nearly lies upon it.
static int is_crowded(const Balance *b, int64_t floater)
{
    const CoverFloaters *f = b->f;
    Vec3 middle = cover_get(f->places.position, floater);
    for (int32_t k = 0;; k++) {
        int32_t other = cover_neighbour(f, floater, k);
        if (other == floater) return 0;
        if (b->keep[other] && vec3_length(vec3_sub(cover_get(f->places.position, other), middle)) < CROWD) return 1;
    }
}

static void leave(Balance *b, int64_t floater)
{
    b->keep[floater] = 0;
    b->leaving++;
}

// Of those that nearly lie upon each other all but one, and those in the thick of it.
static void drop_crowds(Balance *b, int threads)
{
    CoverFloaters *f = b->f;
    float *nearest = f->spare[0];
    PARALLEL_FOR(threads, i, f->count) { b->crowding[i] = crowding_of(f, i, &nearest[i]); }
    for (int64_t i = 0; i < f->count; i++)
        if ((nearest[i] < CROWD && is_crowded(b, i)) || (b->crowding[i] > CROWDING && may_leave(b, i))) leave(b, i);
}

// As many more as are too many, the most crowded first.
static GrainResult drop_surplus(Balance *b, int64_t surplus, int threads)
{
    int64_t count = b->f->count;
    for (int64_t i = 0; i < count; i++) b->items[i] = (SortItem){largest_first(b->crowding[i]), (uint32_t)i, 0};
    TRY(sort_by_key(b->items, count, 32, &b->scratch, threads));
    for (int64_t i = 0; i < count && surplus > 0; i++) {
        int64_t floater = b->items[i].value;
        if (!b->keep[floater] || !may_leave(b, floater)) continue;
        leave(b, floater);
        surplus--;
    }
    return GRAIN_OK;
}

// Holes in the order of their size: those that must be filled, and as many more as floaters are missing.
static GrainResult choose_holes(Balance *b, int64_t missing, int threads)
{
    int64_t count = b->holes.count, chosen = 0;
    if (count == 0) return GRAIN_OK;
    SortItem *items = ALLOC(SortItem, count);
    CoverHole *sorted = ALLOC(CoverHole, count);
    GrainResult result = items && sorted ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) {
        for (int64_t i = 0; i < count; i++)
            items[i] = (SortItem){largest_first(b->holes.holes[i].size), (uint32_t)i, 0};
        result = sort_by_key(items, count, 32, &b->scratch, threads);
    }
    for (int64_t i = 0; result == GRAIN_OK && i < count; i++) {
        sorted[i] = b->holes.holes[items[i].value];
        chosen += sorted[i].size > HOLE || i < missing;
    }
    if (result == GRAIN_OK) memcpy(b->holes.holes, sorted, (size_t)count * sizeof *sorted);
    b->holes.count = chosen;
    alloc_free(items);
    alloc_free(sorted);
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

static GrainResult balance(Balance *b, const CoverSurface *surface, int64_t wanted, int threads, float *largest_hole)
{
    int64_t count = b->f->count;
    b->crowding = ALLOC(float, count);
    b->keep = ALLOC(uint8_t, count);
    b->items = ALLOC(SortItem, count);
    if (!b->crowding || !b->keep || !b->items) return GRAIN_ERROR_MEMORY;
    memset(b->keep, 1, (size_t)count);
    TRY(cover_floaters_list(b->f, threads));
    TRY(cover_holes_find(&b->holes, b->f, surface, SMALL_HOLE, threads));
    *largest_hole = 0.0f;
    for (int64_t i = 0; i < b->holes.count; i++) *largest_hole = real_maxf(*largest_hole, b->holes.holes[i].size);
    TRY(cover_holes_separate(&b->holes, SEPARATE, threads));
    drop_crowds(b, threads);
    int64_t tolerance = (int64_t)(COUNT_TOLERANCE * (double)wanted), missing = wanted - (count - b->leaving);
    // Where crowds had to go, the surface has no room for as many as its area asks for: it is folded or thin.
    TRY(choose_holes(b, missing > tolerance && b->leaving <= tolerance ? missing : 0, threads));
    int64_t surplus = count - b->leaving + b->holes.count - wanted;
    if (wanted > 0 && surplus > tolerance) TRY(drop_surplus(b, surplus, threads));
    cover_floaters_keep(b->f, b->keep);
    return add_floaters(b);
}

GrainResult cover_balance(CoverFloaters *f, const CoverSurface *surface, int64_t wanted, int threads, int64_t *changed,
                          float *largest_hole)
{
    Balance b = {.f = f};
    GrainResult result = balance(&b, surface, wanted, threads, largest_hole);
    *changed = b.holes.count + b.leaving;
    cover_holes_free(&b.holes);
    sort_scratch_free(&b.scratch);
    alloc_free(b.crowding);
    alloc_free(b.keep);
    alloc_free(b.items);
    return result;
}
