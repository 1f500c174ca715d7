// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/blocks/blocks.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// Blocks handed to a thread at once.
#define LIST_BLOCKS 64
// Room to begin with, for the neighbours of a particle as they are found, and for the rows of a block.
#define FIRST_FOUND_ROOM 256
#define FIRST_ROWS 32

static void free_arrays(Blocks *blocks)
{
    void *arrays[] = {blocks->listed[0], blocks->listed[1], blocks->listed[2], blocks->extent,
                      blocks->before,    blocks->id_before, blocks->block,     blocks->contact};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
}

GrainResult blocks_resize(Blocks *blocks, int64_t count, int threads)
{
    if (count > INT32_MAX / 4)
        return fail(GRAIN_ERROR_MEMORY, "%lld particles are more than one simulation can hold; use larger ones",
                    (long long)count);
    int64_t kept = count < blocks->count ? count : blocks->count;
    free_arrays(blocks);
    blocks->count = count;
    blocks->block_count = parallel_block_count(count, BLOCK_LANES);
    blocks->room = blocks->block_count * BLOCK_LANES;
    blocks->threads = threads;
    for (int axis = 0; axis < 3; axis++) blocks->listed[axis] = ALLOC_ZEROED(float, blocks->room);
    blocks->extent = ALLOC_ZEROED(float, blocks->room);
    blocks->before = ALLOC(float, blocks->room);
    blocks->id_before = ALLOC(int32_t, blocks->room);
    blocks->block = ALLOC_ZEROED(Block, blocks->block_count);
    blocks->contact = ALLOC(BlockContact, blocks->block_count * BLOCK_CONTACTS);
    int32_t *id = ALLOC_ZEROED(int32_t, blocks->room);
    if (id && kept > 0) memcpy(id, blocks->id, (size_t)kept * sizeof *id);
    alloc_free(blocks->id);
    blocks->id = id;
    int is_made = blocks->listed[0] && blocks->listed[1] && blocks->listed[2] && blocks->extent && blocks->before &&
                  id && blocks->id_before && blocks->block && blocks->contact;
    return is_made ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

void blocks_free(Blocks *blocks)
{
    cell_grid_free(&blocks->grid);
    free_arrays(blocks);
    alloc_free(blocks->id);
    alloc_free(blocks->list);
    alloc_free(blocks->near);
    alloc_free(blocks->found);
    *blocks = (Blocks){0};
}

// --- lists: hold until a particle has gone half of the skin ----------------------------------------

static float cell_size(const Blocks *blocks) { return 2.0f * blocks->reach * blocks->largest + blocks->skin; }

// A ball around the block's particles.
static void enclose(const Blocks *blocks, int64_t number)
{
    Block *block = &blocks->block[number];
    int64_t begin = number * BLOCK_LANES, end = begin + blocks_lanes_of(blocks, number);
    float squared = 0.0f;
    for (int axis = 0; axis < 3; axis++) {
        float low = INFINITY, high = -INFINITY;
        for (int64_t i = begin; i < end; i++)
            low = real_minf(low, blocks->listed[axis][i]), high = real_maxf(high, blocks->listed[axis][i]);
        block->middle[axis] = 0.5f * (low + high);
        squared += 0.25f * (high - low) * (high - low);
    }
    block->reach = sqrtf(squared);
}

static int stands(const Blocks *blocks, int number) { return !blocks->rigid->objects[number].has_moved; }

static void places_of(const Blocks *blocks, float *const axis[3], int64_t first, int count, Vec3 *places)
{
    for (int i = 0; i < count; i++)
        places[i] = vec3((float)((double)axis[0][first + i] + blocks->origin[0]),
                         (float)((double)axis[1][first + i] + blocks->origin[1]),
                         (float)((double)axis[2][first + i] + blocks->origin[2]));
}

static int is_near(const Blocks *blocks, int64_t block, int number)
{
    Vec3 places[BLOCK_LANES] = {0};
    RigidView view;
    int lanes = blocks_lanes_of(blocks, block), found = 0;
    float reach = blocks->wall_reach + 0.5f * blocks->skin;
    places_of(blocks, blocks->listed, block * BLOCK_LANES, lanes, places);
    rigid_view(blocks->rigid, number, places, lanes, reach, &view);
    const GrainSdf *sdf = blocks->rigid->objects[number].given.sdf;
    if (sdf) reach = real_minf(reach, 0.99f * sdf_half_width(sdf)); // it knows no farther
    for (int i = 0; i < lanes; i++) found |= view.distance[i] < reach;
    return found;
}

static GrainResult find_near(Blocks *blocks)
{
    int objects = blocks->rigid->object_count;
    // Room for all that can be; little of it is ever touched.
    TRY(alloc_grow((void **)&blocks->near, &blocks->near_capacity, blocks->block_count * objects,
                   sizeof *blocks->near));
    PARALLEL_FOR(blocks->threads, b, blocks->block_count)
    {
        Block *block = &blocks->block[b];
        block->near = block->near_end = b * objects;
        for (int c = 0; c < objects; c++)
            if (stands(blocks, c) && is_near(blocks, b, c)) blocks->near[block->near_end++] = c;
    }
    return GRAIN_OK;
}

// Whether all lists found room; if not, there is more of it now.
static GrainResult fill_lists(Blocks *blocks, int *is_done)
{
    int64_t pieces = parallel_block_count(blocks->block_count, LIST_BLOCKS),
            a_piece = LIST_BLOCKS * blocks->rows_a_block;
    int64_t a_thread = BLOCK_LANES * blocks->found_room;
    TRY(alloc_grow((void **)&blocks->found, &blocks->found_capacity, blocks->threads * a_thread, sizeof(int32_t)));
    TRY(alloc_grow((void **)&blocks->list, &blocks->list_capacity, pieces * a_piece * BLOCK_LANES, sizeof(int32_t)));
    _Atomic int found_short = 0, rows_short = 0;
    PARALLEL_BLOCKS(blocks->threads, piece, pieces)
    {
        int64_t first = piece * LIST_BLOCKS, last = parallel_block_end(piece, LIST_BLOCKS, blocks->block_count);
        int64_t rows = SIMD_CALL(blocks_fill_lists)(blocks, first, last, piece * a_piece, a_piece,
                                                    blocks->found + parallel_thread_index() * a_thread);
        if (rows == BLOCKS_FOUND_SHORT) found_short = 1;
        if (rows > a_piece) rows_short = 1;
        for (int64_t b = first; b < last; b++) enclose(blocks, b);
    }
    if (found_short) blocks->found_room *= 2;
    if (rows_short) blocks->rows_a_block += blocks->rows_a_block / 2;
    *is_done = !found_short && !rows_short;
    return GRAIN_OK;
}

GrainResult blocks_make_lists(Blocks *blocks)
{
    TRY(cell_grid_build(&blocks->grid, blocks->listed[0], blocks->listed[1], blocks->listed[2], blocks->count,
                        cell_size(blocks), blocks->threads));
    PARALLEL_FOR(blocks->threads, i, blocks->count)
    {
        blocks->extent[i] = blocks->reach * blocks->radius[i] + 0.5f * blocks->skin;
    }
    if (blocks->found_room == 0) blocks->found_room = FIRST_FOUND_ROOM, blocks->rows_a_block = FIRST_ROWS;
    for (int is_done = 0; !is_done;) TRY(fill_lists(blocks, &is_done));
    return find_near(blocks);
}

static void copy_in_order(float *values, float *before, const int32_t *order, int64_t count, int threads)
{
    PARALLEL_FOR(threads, i, count) { before[i] = values[order[i]]; }
    PARALLEL_FOR(threads, i, count) { values[i] = before[i]; }
}

GrainResult blocks_sort(Blocks *blocks, float *const *columns, int column_count)
{
    TRY(cell_grid_build(&blocks->grid, blocks->place[0], blocks->place[1], blocks->place[2], blocks->count,
                        cell_size(blocks), blocks->threads));
    const int32_t *order = blocks->grid.order;
    for (int c = 0; c < column_count; c++)
        copy_in_order(columns[c], blocks->before, order, blocks->count, blocks->threads);
    PARALLEL_FOR(blocks->threads, i, blocks->count) { blocks->id_before[i] = blocks->id[order[i]]; }
    int32_t *id = blocks->id;
    blocks->id = blocks->id_before, blocks->id_before = id;
    for (int axis = 0; axis < 3; axis++)
        memcpy(blocks->listed[axis], blocks->place[axis], (size_t)blocks->room * sizeof(float));
    return blocks_make_lists(blocks);
}

int blocks_have_left(const Blocks *blocks, float *fastest)
{
    float moved = 0.0f, speed = 0.0f, limit = 0.25f * blocks->skin * blocks->skin;
    for (int64_t b = 0; b < blocks->block_count; b++) {
        // One that is nowhere has moved too.
        if (!(blocks->block[b].moved <= moved)) moved = blocks->block[b].moved;
        speed = real_maxf(speed, blocks->block[b].fastest);
    }
    *fastest = sqrtf(speed);
    return !(moved <= limit);
}

// --- walls: in every step --------------------------------------------------------------------------

static void meet(const Blocks *blocks, Block *block, int number, const Vec3 *places, int lanes, int met[BLOCK_LANES])
{
    BlockContact *contacts = blocks_contacts_of(blocks, block - blocks->block);
    RigidView view;
    rigid_view(blocks->rigid, number, places, lanes, blocks->wall_reach, &view);
    for (int i = 0; i < lanes; i++) {
        Vec3 normal = view.normal[i];
        if (view.distance[i] >= blocks->wall_reach || met[i] == BLOCK_WALLS || vec3_dot(normal, normal) < 0.5f)
            continue;
        met[i]++;
        contacts[block->contact_count++] = (BlockContact){.lane = i,
                                                          .object = number,
                                                          .distance = view.distance[i],
                                                          .normal = normal,
                                                          .speed = view.speed[i],
                                                          .friction = view.friction[i],
                                                          .pull = view.pull[i]};
        block->meets_body |= blocks->rigid->objects[number].body >= 0;
    }
}

void blocks_meet_walls(const Blocks *blocks, int64_t number)
{
    Block *block = &blocks->block[number];
    int moving_near = 0;
    block->meets_body = block->contact_count = 0;
    Vec3d middle = {(double)block->middle[0] + blocks->origin[0], (double)block->middle[1] + blocks->origin[1],
                    (double)block->middle[2] + blocks->origin[2]};
    double reach = (double)(block->reach + blocks->wall_reach + blocks->skin);
    for (int c = 0; blocks->has_moving && c < blocks->rigid->object_count; c++)
        moving_near |= !stands(blocks, c) && rigid_may_reach(blocks->rigid, c, middle, reach);
    if (block->near == block->near_end && !moving_near) return;
    Vec3 places[BLOCK_LANES];
    int met[BLOCK_LANES] = {0}, lanes = blocks_lanes_of(blocks, number);
    places_of(blocks, blocks->place, number * BLOCK_LANES, lanes, places);
    for (int64_t k = block->near; k < block->near_end; k++) meet(blocks, block, blocks->near[k], places, lanes, met);
    for (int c = 0; moving_near && c < blocks->rigid->object_count; c++)
        if (!stands(blocks, c) && rigid_may_reach(blocks->rigid, c, middle, reach))
            meet(blocks, block, c, places, lanes, met);
}

void blocks_load_bodies(const Blocks *blocks)
{
    if (blocks->rigid->body_count == 0) return;
    for (int64_t b = 0; b < blocks->block_count; b++) {
        const Block *block = &blocks->block[b];
        if (!block->meets_body) continue;
        for (int k = 0; k < block->contact_count; k++) {
            const BlockContact *contact = &blocks_contacts_of(blocks, b)[k];
            const RigidObject *object = &blocks->rigid->objects[contact->object];
            if (object->body < 0) continue;
            // On its surface, where the push acts.
            Vec3d place = vec3d_sub(blocks_place_of(blocks, b * BLOCK_LANES + contact->lane),
                                    vec3d_scale(vec3d_from(contact->normal), (double)contact->distance));
            Vec3d push = vec3d_scale(vec3d_from(contact->push), -1.0);
            rigid_add_load(blocks->rigid, contact->object, push,
                           vec3d_cross(vec3d_sub(place, object->now.position), push));
        }
    }
}
