#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sdf/sdf_tree.h"

#include <string.h>

// 8 x 8 x 8 yes or no: a word for each z, a byte of it for each y, a bit of that for each x. Used for the voxels of a
// block and for the children of a node alike.
typedef struct Board {
    uint64_t slice[8];
} Board;

#define COLUMN_FIRST 0x0101010101010101ull
#define COLUMN_LAST 0x8080808080808080ull

static inline int board_has(const Board *board, int slot) { return (int)(board->slice[slot >> 6] >> (slot & 63) & 1); }
static inline void board_add(Board *board, int slot) { board->slice[slot >> 6] |= 1ull << (slot & 63); }
static inline int board_is_empty(const Board *board)
{
    uint64_t any = 0;
    for (int z = 0; z < 8; z++) any |= board->slice[z];
    return any == 0;
}

// The six neighbours of all that is set.
static inline Board board_around(const Board *board)
{
    Board around;
    for (int z = 0; z < 8; z++) {
        uint64_t own = board->slice[z];
        around.slice[z] = (own & ~COLUMN_LAST) << 1 | (own & ~COLUMN_FIRST) >> 1 | own << 8 | own >> 8 |
                          (z > 0 ? board->slice[z - 1] : 0) | (z < 7 ? board->slice[z + 1] : 0);
    }
    return around;
}

// Lets both sides grow into what is unknown until nothing changes. Where both arrive at once the outside wins, and the
// place is counted.
static int64_t board_flood(Board *outside, Board *inside, Board *unknown)
{
    int64_t conflicts = 0;
    uint64_t grown = 1;
    while (grown) {
        Board out = board_around(outside), in = board_around(inside);
        grown = 0;
        for (int z = 0; z < 8; z++) {
            uint64_t to_out = out.slice[z] & unknown->slice[z], to_in = in.slice[z] & unknown->slice[z];
            conflicts += __builtin_popcountll(to_out & to_in);
            to_in &= ~to_out;
            outside->slice[z] |= to_out;
            inside->slice[z] |= to_in;
            unknown->slice[z] &= ~(to_out | to_in);
            grown |= to_out | to_in;
        }
    }
    return conflicts;
}

typedef struct Fill {
    GrainSdf *sdf;
    uint8_t *block_unknown, *node_unknown; // nothing is known in there yet
    int64_t *conflicts;                    // of each block or node, summed in the end
    int64_t first_of_level[SDF_MAX_DEPTH + 2];
} Fill;

static int64_t fill_block(Fill *fill, int64_t block)
{
    float *values = fill->sdf->values + block * SDF_BLOCK_VALUES, half_width = fill->sdf->half_width;
    Board outside = {0}, inside = {0}, unknown = {0};
    for (int slot = 0; slot < 512; slot++) {
        float value = values[sdf_block_index(slot & 7, slot >> 3 & 7, slot >> 6)];
        board_add(value == SDF_FAR ? &unknown : value < 0.0f ? &inside : &outside, slot);
    }
    fill->block_unknown[block] = board_is_empty(&outside) && board_is_empty(&inside);
    if (fill->block_unknown[block] || board_is_empty(&unknown)) return 0;
    Board before = unknown;
    int64_t conflicts = board_flood(&outside, &inside, &unknown);
    for (int slot = 0; slot < 512; slot++)
        if (board_has(&before, slot))
            values[sdf_block_index(slot & 7, slot >> 3 & 7, slot >> 6)] =
                board_has(&inside, slot) ? -half_width : half_width;
    return conflicts;
}

// The whole of a child of a node of this level, for which nothing was known, is on one side.
static void settle_child(Fill *fill, int level, int32_t *entry, int32_t side)
{
    GrainSdf *sdf = fill->sdf;
    if (*entry < 0) {
        *entry = side;
    } else if (level == 1) {
        float value = side == SDF_INSIDE ? -sdf->half_width : sdf->half_width;
        float *values = sdf->values + (int64_t)*entry * SDF_BLOCK_VALUES;
        for (int i = 0; i < SDF_BLOCK_VALUES; i++) values[i] = value;
    } else {
        for (int slot = 0; slot < SDF_NODE_CHILDREN; slot++)
            settle_child(fill, level - 1, &sdf->nodes[(int64_t)*entry * SDF_NODE_CHILDREN + slot], side);
    }
}

// Side of the voxel (x, y, z) of a child of a node of this level, counted from the child's first voxel.
static int is_inside(const GrainSdf *sdf, int level, int32_t entry, int32_t x, int32_t y, int32_t z)
{
    for (level--; level >= 1 && entry >= 0; level--) {
        int shift = 3 * level;
        int32_t slot = (z >> shift & 7) << 6 | (y >> shift & 7) << 3 | (x >> shift & 7);
        entry = sdf->nodes[(int64_t)entry * SDF_NODE_CHILDREN + slot];
    }
    if (entry < 0) return entry == SDF_INSIDE;
    return sdf->values[(int64_t)entry * SDF_BLOCK_VALUES + sdf_block_index(x & 7, y & 7, z & 7)] < 0.0f;
}

// For each child with a known side that has an unknown neighbour: the voxel it shares a face with tells that
// neighbour's side, since no surface is near an empty child.
static void seed_unknown(const Fill *fill, int level, const int32_t *entries, const Board *unknown, Board *outside,
                         Board *inside)
{
    int32_t last = (1 << (3 * level)) - 1;
    for (int slot = 0; slot < SDF_NODE_CHILDREN; slot++) {
        if (board_has(unknown, slot)) continue;
        for (int face = 0; face < 6; face++) {
            int axis = face >> 1, shift = 3 * axis, place = slot >> shift & 7, ahead = face & 1;
            if (place == (ahead ? 7 : 0)) continue;
            int neighbour = slot + (ahead ? 1 : -1) * (1 << shift);
            if (!board_has(unknown, neighbour)) continue;
            int32_t corner[3] = {0, 0, 0};
            corner[axis] = ahead ? last : 0;
            int side = is_inside(fill->sdf, level, entries[slot], corner[0], corner[1], corner[2]);
            board_add(side ? inside : outside, neighbour);
        }
    }
}

static int64_t fill_node(Fill *fill, int level, int64_t node)
{
    int32_t *entries = fill->sdf->nodes + node * SDF_NODE_CHILDREN;
    const uint8_t *child_unknown = level > 1 ? fill->node_unknown : fill->block_unknown;
    Board unknown = {0}, outside = {0}, inside = {0};
    int known = 0;
    for (int slot = 0; slot < SDF_NODE_CHILDREN; slot++) {
        if (entries[slot] < 0 || child_unknown[entries[slot]])
            board_add(&unknown, slot);
        else
            known++;
    }
    fill->node_unknown[node] = known == 0;
    if (known == 0) return 0;
    seed_unknown(fill, level, entries, &unknown, &outside, &inside);
    Board left = unknown;
    int64_t conflicts = 0;
    for (int z = 0; z < 8; z++) {
        conflicts += __builtin_popcountll(outside.slice[z] & inside.slice[z]);
        inside.slice[z] &= ~outside.slice[z];
        left.slice[z] &= ~(outside.slice[z] | inside.slice[z]);
    }
    conflicts += board_flood(&outside, &inside, &left);
    for (int slot = 0; slot < SDF_NODE_CHILDREN; slot++)
        if (board_has(&unknown, slot))
            settle_child(fill, level, &entries[slot], board_has(&inside, slot) ? SDF_INSIDE : SDF_OUTSIDE);
    return conflicts;
}

// The far sides of a block, 217 values, from up to seven neighbours.
static void copy_far_sides(GrainSdf *sdf, int64_t block)
{
    float *values = sdf->values + block * SDF_BLOCK_VALUES;
    int32_t corner[3];
    sdf_block_corner(sdf, block, corner);
    for (int way = 1; way < 8; way++) {
        int dx = way & 1, dy = way >> 1 & 1, dz = way >> 2;
        int32_t other = sdf_find_block(sdf, corner[0] + 8 * dx, corner[1] + 8 * dy, corner[2] + 8 * dz);
        const float *from = other >= 0 ? sdf_block_values(sdf, other) : NULL;
        float held = other == SDF_INSIDE ? -sdf->half_width : sdf->half_width;
        for (int z = 0; z < (dz ? 1 : 8); z++)
            for (int y = 0; y < (dy ? 1 : 8); y++)
                for (int x = 0; x < (dx ? 1 : 8); x++)
                    values[sdf_block_index(x + 8 * dx, y + 8 * dy, z + 8 * dz)] =
                        from ? from[sdf_block_index(x, y, z)] : held;
    }
}

static void find_levels(Fill *fill)
{
    const GrainSdf *sdf = fill->sdf;
    int64_t first = 0;
    for (int level = sdf->depth; level >= 1; level--) {
        fill->first_of_level[level] = first;
        for (int64_t block = 0; block < sdf->block_count; block++)
            first += block == 0 || sdf->block_key[block] >> 9 * level != sdf->block_key[block - 1] >> 9 * level;
    }
    fill->first_of_level[0] = first;
}

static GrainResult fill_all(Fill *fill, int threads, int64_t *conflicts)
{
    GrainSdf *sdf = fill->sdf;
    int64_t most = sdf->block_count > sdf->node_count ? sdf->block_count : sdf->node_count;
    fill->block_unknown = ALLOC_ZEROED(uint8_t, sdf->block_count);
    fill->node_unknown = ALLOC_ZEROED(uint8_t, sdf->node_count);
    fill->conflicts = ALLOC_ZEROED(int64_t, most);
    if (!fill->block_unknown || !fill->node_unknown || !fill->conflicts) return GRAIN_ERROR_MEMORY;
    find_levels(fill);
    PARALLEL_BLOCKS(threads, block, sdf->block_count) { fill->conflicts[block] = fill_block(fill, block); }
    *conflicts = 0;
    for (int64_t block = 0; block < sdf->block_count; block++) *conflicts += fill->conflicts[block];
    for (int level = 1; level <= sdf->depth; level++) {
        int64_t first = fill->first_of_level[level], count = fill->first_of_level[level - 1] - first;
        PARALLEL_BLOCKS(threads, node, count) { fill->conflicts[node] = fill_node(fill, level, first + node); }
        for (int64_t node = 0; node < count; node++) *conflicts += fill->conflicts[node];
    }
    PARALLEL_BLOCKS(threads, block, sdf->block_count) { copy_far_sides(sdf, block); }
    return GRAIN_OK;
}

GrainResult sdf_tree_fill(GrainSdf *sdf, int threads, int64_t *conflicts)
{
    Fill fill = {.sdf = sdf};
    GrainResult result = fill_all(&fill, threads, conflicts);
    alloc_free(fill.block_unknown);
    alloc_free(fill.node_unknown);
    alloc_free(fill.conflicts);
    return result;
}
