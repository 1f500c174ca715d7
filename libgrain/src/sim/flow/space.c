// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/flow/space.h"
#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

// How much more than a ball's surroundings is put into the table at once, in largest diameters.
#define WIDER 16.0f

static uint64_t cell_of(const FlowSpace *space, int64_t x, int64_t y, int64_t z)
{
    // Three large primes (Teschner et al. 2003): cells that share a place in the table only cost a look.
    uint64_t hash = (uint64_t)x * 73856093u ^ (uint64_t)y * 19349663u ^ (uint64_t)z * 83492791u;
    return hash & space->mask;
}

GrainResult flow_space_begin(FlowSpace *space, float largest_radius, const Particles *there, const uint8_t *gone,
                             int64_t more)
{
    int64_t count = there->count + more;
    const AllocGrown balls[] = {
        {&space->next, sizeof(int32_t), 0}, {&space->place, sizeof(Vec3), 0}, {&space->radius, sizeof(float), 0}};
    int64_t table = 64;
    while (table < 2 * count) table *= 2;
    TRY(alloc_grow_all(balls, 3, &space->capacity, count));
    TRY(alloc_grow((void **)&space->first, &space->table_capacity, table, sizeof(int32_t)));
    space->mask = (uint64_t)table - 1;
    memset(space->first, 0xff, (size_t)table * sizeof(int32_t));
    space->cell = 2.0f * largest_radius;
    space->count = 0;
    space->there = there, space->gone = gone;
    space->low = vec3(INFINITY, INFINITY, INFINITY), space->high = vec3(-INFINITY, -INFINITY, -INFINITY);
    return GRAIN_OK;
}

void flow_space_put(FlowSpace *space, Vec3 place, float radius)
{
    double per_cell = 1.0 / (double)space->cell;
    uint64_t cell = cell_of(space, (int64_t)floor((double)place.x * per_cell),
                            (int64_t)floor((double)place.y * per_cell), (int64_t)floor((double)place.z * per_cell));
    int64_t ball = space->count++;
    space->place[ball] = place;
    space->radius[ball] = radius;
    space->next[ball] = space->first[cell];
    space->first[cell] = (int32_t)ball;
}

static int is_in_box(Vec3 place, Vec3 low, Vec3 high)
{
    return place.x >= low.x && place.y >= low.y && place.z >= low.z && place.x <= high.x && place.y <= high.y &&
           place.z <= high.z;
}

// Extends the box far beyond the balls that could touch one here, so that it is seldom extended.
static void put_near(FlowSpace *space, Vec3 place)
{
    Vec3 around = vec3(space->cell, space->cell, space->cell);
    Vec3 from = vec3_sub(place, around), to = vec3_add(place, around);
    if (is_in_box(from, space->low, space->high) && is_in_box(to, space->low, space->high)) return;
    Vec3 low = vec3_min(space->low, from), high = vec3_max(space->high, to), size = vec3_sub(high, low);
    size = vec3_add(size, vec3(WIDER * space->cell, WIDER * space->cell, WIDER * space->cell));
    low = vec3_sub(low, size), high = vec3_add(high, size);
    for (int64_t i = 0; i < space->there->count; i++) {
        Vec3 at = space->there->position[i];
        if (!is_in_box(at, low, high) || is_in_box(at, space->low, space->high)) continue;
        if (space->there->radius[i] > 0.0f && !space->gone[i]) flow_space_put(space, at, space->there->radius[i]);
    }
    space->low = low, space->high = high;
}

int flow_space_is_free(FlowSpace *space, Vec3 place, float radius)
{
    put_near(space, place);
    double per_cell = 1.0 / (double)space->cell;
    int64_t at[3] = {(int64_t)floor((double)place.x * per_cell), (int64_t)floor((double)place.y * per_cell),
                     (int64_t)floor((double)place.z * per_cell)};
    for (int k = 0; k < 27; k++) {
        uint64_t cell = cell_of(space, at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1);
        for (int32_t ball = space->first[cell]; ball >= 0; ball = space->next[ball]) {
            Vec3 apart = vec3_sub(place, space->place[ball]);
            float touch = radius + space->radius[ball];
            if (vec3_dot(apart, apart) < touch * touch) return 0;
        }
    }
    return 1;
}

void flow_space_free(FlowSpace *space)
{
    alloc_free(space->first);
    alloc_free(space->next);
    alloc_free(space->place);
    alloc_free(space->radius);
    *space = (FlowSpace){0};
}
