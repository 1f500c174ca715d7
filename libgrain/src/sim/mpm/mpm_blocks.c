// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/mpm/mpm.h"

#include <math.h>
#include <string.h>

// Blocks along an axis, at most: what float32 positions can tell apart, and what a key has room for.
#define MAX_BLOCKS (1 << 20)
// Of a cell's place in its block.
#define CELL_BITS 6

// Blocks are numbered with x running fastest, counted from the lowest one. Around those
// that are stored, which are one farther out than those that hold particles, one more stays empty, so that the end
// of a row is never adjacent to the start of the next.
typedef struct Numbering {
    int32_t low[3];
    uint64_t row, slab; // step in the key from one y, one z to the next
    int bits;
} Numbering;

typedef struct Bounds {
    int32_t low[3], high[3];
    int64_t lost; // a particle that is nowhere, or -1
} Bounds;

static inline int32_t floor_div(int32_t node) { return node >= 0 ? node / MPM_BLOCK_SIDE : ~(~node / MPM_BLOCK_SIDE); }

// The block that holds the first of the particle's nodes; 0 when it is nowhere. *cell: that node's place in it.
static inline int block_of(const Mpm *mpm, const MpmParticle *particle, int32_t block[3], uint32_t *cell)
{
    *cell = 0;
    for (int axis = 0; axis < 3; axis++) {
        float node = floorf(particle->position[axis] * mpm->inverse_cell - 0.5f);
        if (!(fabsf(node) < (float)MAX_BLOCKS)) return 0;
        block[axis] = floor_div((int32_t)node);
        *cell |= ((uint32_t)(int32_t)node & (MPM_BLOCK_SIDE - 1)) << (2 * axis);
    }
    return 1;
}

static Bounds bounds_of(const Mpm *mpm, int64_t begin, int64_t end)
{
    Bounds b = {{MAX_BLOCKS, MAX_BLOCKS, MAX_BLOCKS}, {-MAX_BLOCKS, -MAX_BLOCKS, -MAX_BLOCKS}, -1};
    int32_t at[3];
    uint32_t cell;
    for (int64_t i = begin; i < end; i++) {
        if (!block_of(mpm, &mpm->particles[i], at, &cell)) {
            b.lost = i;
            continue;
        }
        for (int axis = 0; axis < 3; axis++) {
            b.low[axis] = at[axis] < b.low[axis] ? at[axis] : b.low[axis];
            b.high[axis] = at[axis] > b.high[axis] ? at[axis] : b.high[axis];
        }
    }
    return b;
}

static GrainResult number_blocks(const Mpm *mpm, Numbering *out)
{
    enum { PIECES = 64 };
    Bounds piece[PIECES];
    int64_t size = (mpm->count + PIECES - 1) / PIECES;
    PARALLEL_BLOCKS(mpm->base.threads, p, PIECES)
    {
        piece[p] = bounds_of(mpm, p * size, parallel_block_end(p, size, mpm->count));
    }
    uint64_t across[3];
    for (int p = 0; p < PIECES; p++) {
        if (piece[p].lost < 0) continue;
        const MpmParticle *lost = &mpm->particles[piece[p].lost];
        return fail(GRAIN_ERROR_DIVERGED,
                    "particle %d is at (%g, %g, %g): it was thrown out of the scene; use a larger particle radius, or "
                    "slow down what moves",
                    lost->id, (double)lost->position[0] + mpm->base.origin[0],
                    (double)lost->position[1] + mpm->base.origin[1], (double)lost->position[2] + mpm->base.origin[2]);
    }
    for (int axis = 0; axis < 3; axis++) {
        int32_t low = MAX_BLOCKS, high = -MAX_BLOCKS;
        for (int p = 0; p < PIECES; p++) {
            low = piece[p].low[axis] < low ? piece[p].low[axis] : low;
            high = piece[p].high[axis] > high ? piece[p].high[axis] : high;
        }
        out->low[axis] = low - 2;
        across[axis] = (uint64_t)(high - low + 5);
    }
    out->row = across[0];
    out->slab = across[0] * across[1];
    out->bits = 64 - __builtin_clzll(out->slab * across[2]);
    return GRAIN_OK;
}

static inline uint64_t key_of(const Numbering *n, const int32_t block[3])
{
    return (uint64_t)(block[2] - n->low[2]) * n->slab + (uint64_t)(block[1] - n->low[1]) * n->row +
           (uint64_t)(block[0] - n->low[0]);
}

// By their blocks, and in a block by their cells; and what fields do to them, as they are at hand.
static GrainResult order_particles(Mpm *mpm, const Numbering *numbering)
{
    const Vec3 *acceleration = mpm->base.acceleration;
    if (acceleration) TRY(mpm_reserve_pulls(mpm));
    PARALLEL_FOR(mpm->base.threads, i, mpm->count)
    {
        int32_t block[3] = {0};
        uint32_t cell;
        block_of(mpm, &mpm->particles[i], block, &cell);
        mpm->items[i] = (SortItem){key_of(numbering, block) << CELL_BITS | cell, (uint32_t)i, 0};
    }
    TRY(sort_by_key(mpm->items, mpm->count, numbering->bits + CELL_BITS, &mpm->sort, mpm->base.threads));
    PARALLEL_FOR(mpm->base.threads, i, mpm->count)
    {
        const MpmParticle *p = &mpm->particles[mpm->items[i].value];
        mpm->particles_before[i] = *p;
        if (acceleration) mpm->pulls[i] = acceleration[p->id];
    }
    MpmParticle *sorted = mpm->particles_before;
    mpm->particles_before = mpm->particles;
    mpm->particles = sorted;
    return GRAIN_OK;
}

// Three axes at once; the fourth number is the particle's volume, which does not matter.
typedef float Float4 __attribute__((vector_size(16)));
typedef int32_t Int4 __attribute__((vector_size(16)));

static inline Float4 select4(Int4 mask, Float4 where_set, Float4 where_clear)
{
    return (Float4)((mask & (Int4)where_set) | (~mask & (Int4)where_clear));
}

int32_t mpm_find_reach(const Mpm *mpm, MpmBlock *block)
{
    const int32_t *corner = block->corner;
    Float4 start = {(float)(corner[0] - 1), (float)(corner[1] - 1), (float)(corner[2] - 1), 0.0f};
    Float4 low = (Float4){0} + INFINITY, high = -low;
    Int4 within = (Int4){0} - 1;
    for (int32_t i = block->begin; i < block->end; i++) {
        Float4 at;
        memcpy(&at, mpm->particles[i].position, sizeof at);
        at = at * mpm->inverse_cell - start;
        within &= (at >= 0.5f) & (at < 6.5f);
        low = select4(at < low, at, low), high = select4(at > high, at, high);
    }
    // Places from at - 0.5, rounded down, to two beyond: 0 is the block's before, 5 to 7 are those after.
    int has[3][3];
    for (int axis = 0; axis < 3; axis++) {
        has[axis][0] = !(low[axis] >= 1.5f);
        has[axis][1] = 1;
        has[axis][2] = !(high[axis] < 3.5f);
    }
    block->reach = 0;
    for (int k = 0; k < MPM_AROUND; k++)
        block->reach |= (uint32_t)(has[0][k % 3] && has[1][k / 3 % 3] && has[2][k / 9]) << k;
    return !(within[0] & within[1] & within[2]);
}

// --- the list of blocks ---------------------------------------------------------------------------

// Keys of all blocks, each once, from those of the filled ones.
static GrainResult list_keys(Mpm *mpm, const Numbering *n, const uint64_t *filled, int64_t filled_count)
{
    SortItem *around = ALLOC(SortItem, filled_count * MPM_AROUND);
    SortScratch scratch = {0};
    if (!around) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < filled_count; i++)
        for (int k = 0; k < MPM_AROUND; k++) {
            int64_t offset = (int64_t)n->slab * (k / 9 - 1) + (int64_t)n->row * (k / 3 % 3 - 1) + k % 3 - 1;
            around[i * MPM_AROUND + k] = (SortItem){filled[i] + (uint64_t)offset, 0, 0};
        }
    GrainResult result = sort_by_key(around, filled_count * MPM_AROUND, n->bits, &scratch, mpm->base.threads);
    int64_t count = 0;
    for (int64_t i = 0; result == GRAIN_OK && i < filled_count * MPM_AROUND; i++)
        if (i == 0 || around[i].key != around[i - 1].key) around[count++].key = around[i].key;
    if (result == GRAIN_OK) result = alloc_grow((void **)&mpm->keys, &mpm->key_capacity, count, sizeof(uint64_t));
    for (int64_t i = 0; result == GRAIN_OK && i < count; i++) mpm->keys[i] = around[i].key;
    mpm->block_count = count;
    sort_scratch_free(&scratch);
    alloc_free(around);
    return result;
}

// Going through the blocks in order, each of the 27 that are around one only ever moves forward.
static void find_around(Mpm *mpm, const Numbering *n, int64_t first, int64_t last)
{
    for (int k = 0; k < MPM_AROUND; k++) {
        int64_t offset = (int64_t)n->slab * (k / 9 - 1) + (int64_t)n->row * (k / 3 % 3 - 1) + k % 3 - 1;
        int64_t low = 0, high = mpm->block_count;
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (mpm->keys[middle] < mpm->keys[first] + (uint64_t)offset)
                low = middle + 1;
            else
                high = middle;
        }
        for (int64_t b = first, finger = low; b < last; b++) {
            uint64_t wanted = mpm->keys[b] + (uint64_t)offset;
            while (finger < mpm->block_count && mpm->keys[finger] < wanted) finger++;
            mpm->blocks[b].around[k] = finger < mpm->block_count && mpm->keys[finger] == wanted ? (int32_t)finger : -1;
        }
    }
}

static GrainResult grow_blocks(Mpm *mpm)
{
    TRY(alloc_grow((void **)&mpm->blocks, &mpm->block_capacity, mpm->block_count, sizeof(MpmBlock)));
    TRY(alloc_grow((void **)&mpm->nodes, &mpm->node_capacity, mpm->block_count * MPM_BLOCK_NODES, sizeof(MpmMotion)));
    TRY(alloc_grow((void **)&mpm->tiles, &mpm->tile_capacity, mpm->filled_count * MPM_TILE_STRIDE, sizeof(MpmNode)));
    TRY(alloc_grow((void **)&mpm->rooms, &mpm->room_capacity, mpm->filled_count * MPM_TILE_STRIDE, sizeof(float)));
    TRY(alloc_grow((void **)&mpm->filled, &mpm->filled_capacity, mpm->filled_count, sizeof(int32_t)));
    TRY(alloc_grow((void **)&mpm->saved_blocks, &mpm->saved_capacity, mpm->filled_count,
                   MPM_FILLED_INTS * sizeof(int32_t)));
    TRY(alloc_grow((void **)&mpm->impulses, &mpm->impulse_capacity, mpm->filled_count * mpm->base.rigid->body_count,
                   sizeof(MpmImpulse)));
    TRY(mpm_grow_sleep(mpm));
    if (mpm->has_meshes) TRY(alloc_grow((void **)&mpm->walls, &mpm->wall_capacity, mpm->count, sizeof(MpmWall)));
    return alloc_grow((void **)&mpm->left, &mpm->left_capacity, mpm->filled_count, sizeof(int32_t));
}

// Blocks from the keys of the filled ones, in ascending order, and where their particles start.
static GrainResult make_blocks(Mpm *mpm, const Numbering *n, const uint64_t *filled, const int32_t *starts,
                               int64_t filled_count)
{
    TRY(list_keys(mpm, n, filled, filled_count));
    mpm->filled_count = filled_count;
    TRY(grow_blocks(mpm));
    int64_t next = 0;
    for (int64_t b = 0; b < mpm->block_count; b++) {
        uint64_t key = mpm->keys[b];
        MpmBlock *block = &mpm->blocks[b];
        *block = (MpmBlock){.tile = -1};
        block->corner[0] = ((int32_t)(key % n->row) + n->low[0]) * MPM_BLOCK_SIDE;
        block->corner[1] = ((int32_t)(key % n->slab / n->row) + n->low[1]) * MPM_BLOCK_SIDE;
        block->corner[2] = ((int32_t)(key / n->slab) + n->low[2]) * MPM_BLOCK_SIDE;
        if (next == filled_count || filled[next] != key) continue;
        block->begin = starts[next];
        block->end = next + 1 < filled_count ? starts[next + 1] : (int32_t)mpm->count;
        block->tile = (int32_t)next;
        int32_t *saved = mpm->saved_blocks + MPM_FILLED_INTS * next;
        memcpy(saved, block->corner, 3 * sizeof *saved);
        saved[3] = block->begin;
        mpm->filled[next++] = (int32_t)b;
    }
    int64_t pieces = parallel_block_count(mpm->block_count, PARALLEL_BLOCK);
    PARALLEL_BLOCKS(mpm->base.threads, p, pieces)
    {
        find_around(mpm, n, p * PARALLEL_BLOCK, parallel_block_end(p, PARALLEL_BLOCK, mpm->block_count));
    }
    mpm->must_order_pulls = 1;
    mpm_find_sleepers(mpm);
    return mpm_make_sheets(mpm);
}

static int is_first_in_block(const Mpm *mpm, int64_t i)
{
    return i == 0 || mpm->items[i].key >> CELL_BITS != mpm->items[i - 1].key >> CELL_BITS;
}

GrainResult mpm_sort(Mpm *mpm)
{
    Numbering numbering;
    TRY(number_blocks(mpm, &numbering));
    TRY(order_particles(mpm, &numbering));
    int64_t count = 0;
    for (int64_t i = 0; i < mpm->count; i++) count += is_first_in_block(mpm, i);
    uint64_t *filled = ALLOC(uint64_t, count);
    int32_t *starts = ALLOC(int32_t, count);
    GrainResult result = filled && starts ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    int64_t next = 0;
    for (int64_t i = 0; result == GRAIN_OK && i < mpm->count; i++) {
        if (!is_first_in_block(mpm, i)) continue;
        filled[next] = mpm->items[i].key >> CELL_BITS;
        starts[next++] = (int32_t)i;
    }
    if (result == GRAIN_OK) result = make_blocks(mpm, &numbering, filled, starts, count);
    alloc_free(filled);
    alloc_free(starts);
    mpm->must_sort = 0;
    mpm->must_order_pulls = !mpm->base.acceleration;
    return result;
}

static GrainResult number_saved(const Mpm *mpm, const int32_t *saved, int64_t count, Numbering *n)
{
    int32_t high[3] = {-MAX_BLOCKS, -MAX_BLOCKS, -MAX_BLOCKS};
    *n = (Numbering){.low = {MAX_BLOCKS, MAX_BLOCKS, MAX_BLOCKS}};
    for (int64_t i = 0; i < count; i++, saved += MPM_FILLED_INTS) {
        if (saved[3] >= mpm->count || (i > 0 ? saved[3] <= saved[3 - MPM_FILLED_INTS] : saved[3] != 0))
            return fail(GRAIN_ERROR_DAMAGED, "the checkpoint's blocks do not fit its particles");
        for (int axis = 0; axis < 3; axis++) {
            int32_t at = floor_div(saved[axis]);
            if (at <= -MAX_BLOCKS || at >= MAX_BLOCKS)
                return fail(GRAIN_ERROR_DAMAGED, "the checkpoint's blocks are out of range");
            n->low[axis] = at - 2 < n->low[axis] ? at - 2 : n->low[axis];
            high[axis] = at > high[axis] ? at : high[axis];
        }
    }
    n->row = (uint64_t)(high[0] - n->low[0] + 3);
    n->slab = n->row * (uint64_t)(high[1] - n->low[1] + 3);
    n->bits = 64 - __builtin_clzll(n->slab * (uint64_t)(high[2] - n->low[2] + 3));
    return GRAIN_OK;
}

// Particles are spread to the nodes around their block without looking where these are.
static GrainResult check_place(const Mpm *mpm, const int32_t block[3], int64_t begin, int64_t end)
{
    MpmBlock holding = {.begin = (int32_t)begin, .end = (int32_t)end};
    for (int axis = 0; axis < 3; axis++) holding.corner[axis] = block[axis] * MPM_BLOCK_SIDE;
    if (!mpm_find_reach(mpm, &holding)) return GRAIN_OK;
    return fail(GRAIN_ERROR_DAMAGED, "the checkpoint's particles %lld to %lld are not in their block", (long long)begin,
                (long long)end - 1);
}

GrainResult mpm_restore_blocks(Mpm *mpm, const int32_t *saved, int64_t count)
{
    Numbering numbering;
    TRY(number_saved(mpm, saved, count, &numbering));
    uint64_t *filled = ALLOC(uint64_t, count);
    int32_t *starts = ALLOC(int32_t, count);
    GrainResult result = filled && starts ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; result == GRAIN_OK && i < count; i++) {
        const int32_t *corner = saved + MPM_FILLED_INTS * i;
        int32_t block[3] = {floor_div(corner[0]), floor_div(corner[1]), floor_div(corner[2])};
        filled[i] = key_of(&numbering, block);
        starts[i] = corner[3];
        if (i > 0 && filled[i] <= filled[i - 1])
            result = fail(GRAIN_ERROR_DAMAGED, "the checkpoint's blocks are not in order");
        else
            result = check_place(mpm, block, starts[i], i + 1 < count ? corner[3 + MPM_FILLED_INTS] : mpm->count);
    }
    if (result == GRAIN_OK) result = make_blocks(mpm, &numbering, filled, starts, count);
    alloc_free(filled);
    alloc_free(starts);
    return result;
}

void mpm_free_blocks(Mpm *mpm)
{
    void *arrays[] = {mpm->blocks, mpm->filled,    mpm->keys,         mpm->tiles, mpm->nodes,
                      mpm->sheets, mpm->left,      mpm->saved_blocks, mpm->pulls, mpm->impulses,
                      mpm->rest,   mpm->is_active, mpm->walls,        mpm->rooms};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
    sort_scratch_free(&mpm->sort);
}
