// SPDX-License-Identifier: GPL-3.0-or-later
#include "cover/cover_floaters.h"

// Nearer than this (in spacings) two floaters have no direction from each other any more.
#define COINCIDENT 1e-3f
// The longest step, in spacings: farther would jump over neighbours.
#define LONGEST_MOVE 0.3f
SIMD_INLINE IntV load_int(const int32_t *from)
{
    IntV v;
    memcpy(&v, from, sizeof v);
    return v;
}

void SIMD_NAME(cover_push)(const CoverFloaters *f, int64_t first, int64_t end, float strength, float memory)
{
    const float *x = f->places.position[0], *y = f->places.position[1], *z = f->places.position[2];
    FloatV zero = simd_set1(0.0f), one = simd_set1(1.0f);
    for (int64_t i = first; i < end; i += SIMD_LANES) {
        int64_t block = i / COVER_LIST_LANES;
        const int32_t *list = f->neighbours + block * COVER_LIST_LENGTH * COVER_LIST_LANES + i % COVER_LIST_LANES;
        FloatV px = simd_load(x + i), py = simd_load(y + i), pz = simd_load(z + i);
        IntV own = simd_set1_int((int32_t)i) + simd_lane_index();
        FloatV fx = zero, fy = zero, fz = zero;
        for (int32_t k = 0; k < f->list_length[block]; k++) {
            IntV other = load_int(list + (int64_t)k * COVER_LIST_LANES);
            FloatV dx = px - simd_gather(x, other), dy = py - simd_gather(y, other), dz = pz - simd_gather(z, other);
            FloatV squared = dx * dx + dy * dy + dz * dz;
            // At the same place (a corner may draw several): the one that comes later is pushed one way, the other the
            // other way. The floater itself, which ends short lists, gets no direction.
            FloatV apart = __builtin_convertvector((other < own) - (own < other), FloatV) * COINCIDENT;
            IntV coincident = squared < COINCIDENT * COINCIDENT;
            dx = simd_select(coincident, apart, dx), dy = simd_select(coincident, 0.7f * apart, dy);
            dz = simd_select(coincident, 0.4f * apart, dz);
            FloatV distance = simd_max(simd_sqrt(squared), simd_set1(COINCIDENT));
            FloatV nearness = simd_max(one - distance * (1.0f / COVER_REACH), zero);
            FloatV push = nearness * nearness / distance;
            fx += push * dx, fy += push * dy, fz += push * dz;
        }
        FloatV mx = memory * simd_load(f->move[0] + i) + strength * fx;
        FloatV my = memory * simd_load(f->move[1] + i) + strength * fy;
        FloatV mz = memory * simd_load(f->move[2] + i) + strength * fz;
        FloatV nx = simd_load(f->places.normal[0] + i), ny = simd_load(f->places.normal[1] + i);
        FloatV nz = simd_load(f->places.normal[2] + i);
        FloatV off = mx * nx + my * ny + mz * nz;
        mx -= off * nx, my -= off * ny, mz -= off * nz;
        FloatV length = simd_sqrt(mx * mx + my * my + mz * mz);
        FloatV held = simd_select(length > LONGEST_MOVE, LONGEST_MOVE / length, one);
        mx *= held, my *= held, mz *= held;
        simd_store(f->move[0] + i, mx), simd_store(f->move[1] + i, my), simd_store(f->move[2] + i, mz);
        simd_store(f->next[0] + i, px + mx), simd_store(f->next[1] + i, py + my), simd_store(f->next[2] + i, pz + mz);
    }
}

typedef struct Lister {
    const CoverFloaters *f;
    const float *x, *y, *z;
    int32_t floater;
    int32_t *list;
    int32_t length;
} Lister;

SIMD_INLINE int is_behind_wall(const Lister *l, int32_t other)
{
    float *const *n = l->f->places.normal;
    Vec3 way = vec3(l->x[other] - l->x[l->floater], l->y[other] - l->y[l->floater], l->z[other] - l->z[l->floater]);
    return cover_is_behind_wall(cover_get(n, l->floater), cover_get(n, other), way);
}

static float squared_way(const Lister *l, int32_t other)
{
    float dx = l->x[other] - l->x[l->floater], dy = l->y[other] - l->y[l->floater], dz = l->z[other] - l->z[l->floater];
    return dx * dx + dy * dy + dz * dz;
}

// In a list that is full, in the place of the farthest.
static void prefer_nearer(const Lister *l, int32_t found)
{
    int farthest = 0;
    float most = 0.0f;
    for (int k = 0; k < COVER_LIST_LENGTH; k++) {
        float squared = squared_way(l, l->list[COVER_LIST_LANES * k]);
        if (squared > most) most = squared, farthest = k;
    }
    if (squared_way(l, found) < most) l->list[COVER_LIST_LANES * farthest] = found;
}

// The neighbours among the floaters [begin, end).
SIMD_INLINE void list_row(Lister *l, int32_t begin, int32_t end)
{
    int32_t i = l->floater;
    for (int32_t other = begin; other < end; other += SIMD_LANES) {
        FloatV dx = simd_load(l->x + other) - l->x[i], dy = simd_load(l->y + other) - l->y[i];
        FloatV dz = simd_load(l->z + other) - l->z[i];
        uint32_t bits = simd_bits(dx * dx + dy * dy + dz * dz < COVER_LIST_REACH * COVER_LIST_REACH);
        if (end - other < SIMD_LANES) bits &= (1u << (end - other)) - 1;
        for (; bits; bits &= bits - 1) {
            int32_t found = other + __builtin_ctz(bits);
            if (found == i || is_behind_wall(l, found)) continue;
            if (l->length < COVER_LIST_LENGTH)
                l->list[COVER_LIST_LANES * l->length++] = found;
            else
                prefer_nearer(l, found);
        }
    }
}

static int64_t cell_of(const CellGrid *grid, int64_t place)
{
    int64_t low = 0, high = grid->cell_count - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (grid->cell_start[middle] <= place)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void SIMD_NAME(cover_list)(const CoverFloaters *f, int64_t first, int64_t end)
{
    const CellGrid *grid = &f->grid;
    int64_t cell = cell_of(grid, first);
    Lister l = {f, f->places.position[0], f->places.position[1], f->places.position[2], 0, NULL, 0};
    for (int64_t base = first; base < end; base += COVER_LIST_LANES) {
        int32_t *lists = f->neighbours + base * COVER_LIST_LENGTH, lengths[COVER_LIST_LANES] = {0}, longest = 0;
        for (int lane = 0; lane < COVER_LIST_LANES && base + lane < end; lane++) {
            while (grid->cell_start[cell + 1] <= base + lane) cell++;
            l.floater = (int32_t)(base + lane), l.list = lists + lane, l.length = 0;
            const CellRows *rows = &grid->rows[cell];
            for (int row = 0; row < 9; row++) list_row(&l, rows->begin[row], rows->end[row]);
            lengths[lane] = l.length;
            longest = l.length > longest ? l.length : longest;
        }
        for (int lane = 0; lane < COVER_LIST_LANES; lane++)
            for (int32_t k = lengths[lane]; k < longest; k++)
                lists[k * COVER_LIST_LANES + lane] = (int32_t)(base + lane);
        f->list_length[base / COVER_LIST_LANES] = longest;
    }
}
