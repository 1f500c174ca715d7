// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/neighbours/neighbours.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// Neighbours handed to a thread at once.
#define LIST_BLOCKS 64
// Room to begin with, for the neighbours of a particle as they are found, and for the rows of a block.
#define FIRST_FOUND_ROOM 256
#define FIRST_ROWS 32

static void free_arrays(Neighbours *neighbours)
{
    void *arrays[] = {neighbours->listed[0], neighbours->listed[1], neighbours->listed[2], neighbours->extent,
                      neighbours->before,    neighbours->id_before, neighbours->block,     neighbours->contact};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
}

GrainResult neighbours_resize(Neighbours *neighbours, int64_t count, int threads)
{
    if (count > INT32_MAX / 4)
        return fail(GRAIN_ERROR_MEMORY, "%lld particles are more than one simulation can hold; use larger ones",
                    (long long)count);
    int64_t kept = count < neighbours->count ? count : neighbours->count;
    free_arrays(neighbours);
    neighbours->count = count;
    neighbours->block_count = parallel_block_count(count, BLOCK_LANES);
    neighbours->room = neighbours->block_count * BLOCK_LANES;
    neighbours->threads = threads;
    for (int axis = 0; axis < 3; axis++) neighbours->listed[axis] = ALLOC_ZEROED(float, neighbours->room);
    neighbours->extent = ALLOC_ZEROED(float, neighbours->room);
    neighbours->before = ALLOC(float, neighbours->room);
    neighbours->id_before = ALLOC(int32_t, neighbours->room);
    neighbours->block = ALLOC_ZEROED(Block, neighbours->block_count);
    neighbours->contact = ALLOC(BlockContact, neighbours->block_count * BLOCK_CONTACTS);
    int32_t *id = ALLOC_ZEROED(int32_t, neighbours->room);
    if (id && kept > 0) memcpy(id, neighbours->id, (size_t)kept * sizeof *id);
    alloc_free(neighbours->id);
    neighbours->id = id;
    int is_made = neighbours->listed[0] && neighbours->listed[1] && neighbours->listed[2] && neighbours->extent &&
                  neighbours->before && id && neighbours->id_before && neighbours->block && neighbours->contact;
    return is_made ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

void neighbours_free(Neighbours *neighbours)
{
    cell_grid_free(&neighbours->grid);
    free_arrays(neighbours);
    alloc_free(neighbours->id);
    alloc_free(neighbours->list);
    alloc_free(neighbours->near);
    alloc_free(neighbours->found);
    *neighbours = (Neighbours){0};
}

// --- lists: hold until a particle has gone half of the skin ----------------------------------------

static float cell_size(const Neighbours *neighbours)
{
    return 2.0f * neighbours->reach * neighbours->largest + neighbours->skin;
}

// A ball around the block's particles.
static void enclose(const Neighbours *neighbours, int64_t number)
{
    Block *block = &neighbours->block[number];
    int64_t begin = number * BLOCK_LANES, end = begin + neighbours_lanes_of(neighbours, number);
    float squared = 0.0f;
    for (int axis = 0; axis < 3; axis++) {
        float low = INFINITY, high = -INFINITY;
        for (int64_t i = begin; i < end; i++)
            low = real_minf(low, neighbours->listed[axis][i]), high = real_maxf(high, neighbours->listed[axis][i]);
        block->middle[axis] = 0.5f * (low + high);
        squared += 0.25f * (high - low) * (high - low);
    }
    block->reach = sqrtf(squared);
}

static int stands(const Neighbours *neighbours, int number) { return !neighbours->rigid->objects[number].has_moved; }

static void places_of(const Neighbours *neighbours, float *const axis[3], int64_t first, int count, Vec3 *places)
{
    for (int i = 0; i < count; i++)
        places[i] = vec3((float)((double)axis[0][first + i] + neighbours->origin[0]),
                         (float)((double)axis[1][first + i] + neighbours->origin[1]),
                         (float)((double)axis[2][first + i] + neighbours->origin[2]));
}

static int is_near(const Neighbours *neighbours, int64_t block, int number)
{
    Vec3 places[BLOCK_LANES] = {0};
    RigidView view;
    int lanes = neighbours_lanes_of(neighbours, block), found = 0;
    float reach = neighbours->wall_reach + 0.5f * neighbours->skin;
    places_of(neighbours, neighbours->listed, block * BLOCK_LANES, lanes, places);
    rigid_view(neighbours->rigid, number, places, lanes, reach, &view);
    const GrainSdf *sdf = neighbours->rigid->objects[number].given.sdf;
    if (sdf) reach = real_minf(reach, 0.99f * sdf_half_width(sdf)); // it knows no farther
    for (int i = 0; i < lanes; i++) found |= view.distance[i] < reach;
    return found;
}

static GrainResult find_near(Neighbours *neighbours)
{
    int objects = neighbours->rigid->object_count;
    // Room for all that can be; little of it is ever touched.
    TRY(alloc_grow((void **)&neighbours->near, &neighbours->near_capacity, neighbours->block_count * objects,
                   sizeof *neighbours->near));
    PARALLEL_FOR(neighbours->threads, b, neighbours->block_count)
    {
        Block *block = &neighbours->block[b];
        block->near = block->near_end = b * objects;
        for (int c = 0; c < objects; c++)
            if (stands(neighbours, c) && is_near(neighbours, b, c)) neighbours->near[block->near_end++] = c;
    }
    return GRAIN_OK;
}

// Whether all lists found room; if not, there is more of it now.
static GrainResult fill_lists(Neighbours *neighbours, int *is_done)
{
    int64_t pieces = parallel_block_count(neighbours->block_count, LIST_BLOCKS),
            a_piece = LIST_BLOCKS * neighbours->rows_a_block;
    int64_t a_thread = BLOCK_LANES * neighbours->found_room;
    TRY(alloc_grow((void **)&neighbours->found, &neighbours->found_capacity, neighbours->threads * a_thread,
                   sizeof(int32_t)));
    TRY(alloc_grow((void **)&neighbours->list, &neighbours->list_capacity, pieces * a_piece * BLOCK_LANES,
                   sizeof(int32_t)));
    _Atomic int found_short = 0, rows_short = 0;
    PARALLEL_BLOCKS(neighbours->threads, piece, pieces)
    {
        int64_t first = piece * LIST_BLOCKS, last = parallel_block_end(piece, LIST_BLOCKS, neighbours->block_count);
        int64_t rows = SIMD_CALL(neighbours_fill_lists)(neighbours, first, last, piece * a_piece, a_piece,
                                                        neighbours->found + parallel_thread_index() * a_thread);
        if (rows == NEIGHBOURS_FOUND_SHORT) found_short = 1;
        if (rows > a_piece) rows_short = 1;
        for (int64_t b = first; b < last; b++) enclose(neighbours, b);
    }
    if (found_short) neighbours->found_room *= 2;
    if (rows_short) neighbours->rows_a_block += neighbours->rows_a_block / 2;
    *is_done = !found_short && !rows_short;
    return GRAIN_OK;
}

GrainResult neighbours_make_lists(Neighbours *neighbours)
{
    TRY(cell_grid_build(&neighbours->grid, neighbours->listed[0], neighbours->listed[1], neighbours->listed[2],
                        neighbours->count, cell_size(neighbours), neighbours->threads));
    PARALLEL_FOR(neighbours->threads, i, neighbours->count)
    {
        neighbours->extent[i] = neighbours->reach * neighbours->radius[i] + 0.5f * neighbours->skin;
    }
    if (neighbours->found_room == 0) neighbours->found_room = FIRST_FOUND_ROOM, neighbours->rows_a_block = FIRST_ROWS;
    for (int is_done = 0; !is_done;) TRY(fill_lists(neighbours, &is_done));
    return find_near(neighbours);
}

static void copy_in_order(float *values, float *before, const int32_t *order, int64_t count, int threads)
{
    PARALLEL_FOR(threads, i, count) { before[i] = values[order[i]]; }
    PARALLEL_FOR(threads, i, count) { values[i] = before[i]; }
}

GrainResult neighbours_sort(Neighbours *neighbours, float *const *columns, int column_count)
{
    TRY(cell_grid_build(&neighbours->grid, neighbours->place[0], neighbours->place[1], neighbours->place[2],
                        neighbours->count, cell_size(neighbours), neighbours->threads));
    const int32_t *order = neighbours->grid.order;
    for (int c = 0; c < column_count; c++)
        copy_in_order(columns[c], neighbours->before, order, neighbours->count, neighbours->threads);
    PARALLEL_FOR(neighbours->threads, i, neighbours->count) { neighbours->id_before[i] = neighbours->id[order[i]]; }
    int32_t *id = neighbours->id;
    neighbours->id = neighbours->id_before, neighbours->id_before = id;
    for (int axis = 0; axis < 3; axis++)
        memcpy(neighbours->listed[axis], neighbours->place[axis], (size_t)neighbours->room * sizeof(float));
    return neighbours_make_lists(neighbours);
}

int neighbours_have_left(const Neighbours *neighbours, float *fastest)
{
    float moved = 0.0f, speed = 0.0f, limit = 0.25f * neighbours->skin * neighbours->skin;
    for (int64_t b = 0; b < neighbours->block_count; b++) {
        // One that is nowhere has moved too.
        if (!(neighbours->block[b].moved <= moved)) moved = neighbours->block[b].moved;
        speed = real_maxf(speed, neighbours->block[b].fastest);
    }
    *fastest = sqrtf(speed);
    return !(moved <= limit);
}

// --- walls: in every step --------------------------------------------------------------------------

static void meet(const Neighbours *neighbours, Block *block, int number, const Vec3 *places, int lanes,
                 int met[BLOCK_LANES])
{
    BlockContact *contacts = neighbours_contacts_of(neighbours, block - neighbours->block);
    RigidView view;
    rigid_view(neighbours->rigid, number, places, lanes, neighbours->wall_reach, &view);
    for (int i = 0; i < lanes; i++) {
        Vec3 normal = view.normal[i];
        if (view.distance[i] >= neighbours->wall_reach || met[i] == BLOCK_WALLS || vec3_dot(normal, normal) < 0.5f)
            continue;
        met[i]++;
        contacts[block->contact_count++] = (BlockContact){.lane = i,
                                                          .object = number,
                                                          .distance = view.distance[i],
                                                          .normal = normal,
                                                          .speed = view.speed[i],
                                                          .friction = view.friction[i],
                                                          .pull = view.pull[i]};
        block->meets_body |= neighbours->rigid->objects[number].body >= 0;
    }
}

void neighbours_meet_walls(const Neighbours *neighbours, int64_t number)
{
    Block *block = &neighbours->block[number];
    int moving_near = 0;
    block->meets_body = block->contact_count = 0;
    Vec3d middle = {(double)block->middle[0] + neighbours->origin[0], (double)block->middle[1] + neighbours->origin[1],
                    (double)block->middle[2] + neighbours->origin[2]};
    double reach = (double)(block->reach + neighbours->wall_reach + neighbours->skin);
    for (int c = 0; neighbours->has_moving && c < neighbours->rigid->object_count; c++)
        moving_near |= !stands(neighbours, c) && rigid_may_reach(neighbours->rigid, c, middle, reach);
    if (block->near == block->near_end && !moving_near) return;
    Vec3 places[BLOCK_LANES];
    int met[BLOCK_LANES] = {0}, lanes = neighbours_lanes_of(neighbours, number);
    places_of(neighbours, neighbours->place, number * BLOCK_LANES, lanes, places);
    for (int64_t k = block->near; k < block->near_end; k++)
        meet(neighbours, block, neighbours->near[k], places, lanes, met);
    for (int c = 0; moving_near && c < neighbours->rigid->object_count; c++)
        if (!stands(neighbours, c) && rigid_may_reach(neighbours->rigid, c, middle, reach))
            meet(neighbours, block, c, places, lanes, met);
}

void neighbours_load_bodies(const Neighbours *neighbours)
{
    if (neighbours->rigid->body_count == 0) return;
    for (int64_t b = 0; b < neighbours->block_count; b++) {
        const Block *block = &neighbours->block[b];
        if (!block->meets_body) continue;
        for (int k = 0; k < block->contact_count; k++) {
            const BlockContact *contact = &neighbours_contacts_of(neighbours, b)[k];
            const RigidObject *object = &neighbours->rigid->objects[contact->object];
            if (object->body < 0) continue;
            // On its surface, where the push acts.
            Vec3d place = vec3d_sub(neighbours_place_of(neighbours, b * BLOCK_LANES + contact->lane),
                                    vec3d_scale(vec3d_from(contact->normal), (double)contact->distance));
            Vec3d push = vec3d_scale(vec3d_from(contact->push), -1.0);
            rigid_add_load(neighbours->rigid, contact->object, push,
                           vec3d_cross(vec3d_sub(place, object->now.position), push));
        }
    }
}
