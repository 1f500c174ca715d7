// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sdf/bit_block.h"
#include "sdf/sdf_tree.h"

#include <string.h>

// Blocks handed to a thread at once.
#define BLOCKS_AT_ONCE 16
// Neighbouring values may differ by this much of a voxel's way and still be distances: rounding.
#define STEEPEST 1.002f
// Voxels. Where the second difference of distances across the surface is larger, the sides are checked once more. Two
// layers in front of each other have one as large as the gap between them, and a voxel of a wrong side is at most half
// the gap from the surface: one that is farther off than 0.3 is always found.
#define SHARP_TURN 0.6f

typedef struct Fill {
    GrainSdf *sdf;
    const SdfJudge *judge;
    uint8_t *block_unknown, *node_unknown; // nothing is known in there yet
    int64_t *conflicts;                    // of each piece of work, summed in the end
    int64_t first_of_level[SDF_MAX_DEPTH + 1];
} Fill;

static int64_t sum_conflicts(const Fill *fill, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) sum += fill->conflicts[i];
    return sum;
}

// --- blocks ---------------------------------------------------------------------------------------

static void judge_far_voxels(const Fill *fill, const float *before, int64_t block)
{
    float *values = fill->sdf->values + block * SDF_BLOCK_VALUES, half_width = fill->sdf->half_width;
    float x[512], y[512], z[512];
    uint8_t inside[512];
    int16_t place[512];
    int32_t corner[3];
    int64_t count = 0;
    sdf_block_corner(fill->sdf, block, corner);
    for (int slot = 0; slot < 512; slot++) {
        int vx = slot & 7, vy = slot >> 3 & 7, vz = slot >> 6;
        if (before[sdf_block_index(vx, vy, vz)] != SDF_FAR) continue;
        place[count] = (int16_t)sdf_block_index(vx, vy, vz);
        x[count] = (float)(corner[0] + vx), y[count] = (float)(corner[1] + vy), z[count] = (float)(corner[2] + vz);
        count++;
    }
    fill->judge->judge(fill->judge->user, x, y, z, count, inside);
    for (int64_t i = 0; i < count; i++) values[place[i]] = inside[i] ? -half_width : half_width;
}

static int64_t fill_block(Fill *fill, int64_t block)
{
    float *values = fill->sdf->values + block * SDF_BLOCK_VALUES, before[SDF_BLOCK_VALUES];
    if (fill->judge) memcpy(before, values, sizeof before);
    int64_t conflicts = SIMD_CALL(sdf_fill_block)(values, fill->sdf->half_width);
    fill->block_unknown[block] = conflicts == SDF_NOTHING_KNOWN;
    if (conflicts == SDF_NOTHING_KNOWN) return 0;
    if (conflicts > 0 && fill->judge) judge_far_voxels(fill, before, block);
    return conflicts;
}

// --- nodes ----------------------------------------------------------------------------------------

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
static void seed_unknown(const Fill *fill, int level, const int32_t *entries, const BitBlock *unknown,
                         BitBlock *outside, BitBlock *inside)
{
    int32_t last = (1 << (3 * level)) - 1;
    for (int slot = 0; slot < SDF_NODE_CHILDREN; slot++) {
        if (bit_block_has(unknown, slot)) continue;
        for (int face = 0; face < 6; face++) {
            int axis = face >> 1, shift = 3 * axis, place = slot >> shift & 7, ahead = face & 1;
            if (place == (ahead ? 7 : 0)) continue;
            int neighbour = slot + (ahead ? 1 : -1) * (1 << shift);
            if (!bit_block_has(unknown, neighbour)) continue;
            int32_t corner[3] = {0, 0, 0};
            corner[axis] = ahead ? last : 0;
            int side = is_inside(fill->sdf, level, entries[slot], corner[0], corner[1], corner[2]);
            bit_block_add(side ? inside : outside, neighbour);
        }
    }
}

// Asks for the middle of each unknown child.
static void judge_children(const Fill *fill, int level, int64_t node, const BitBlock *unknown, BitBlock *inside)
{
    float x[512], y[512], z[512];
    uint8_t answer[512];
    int16_t place[512];
    int64_t count = 0;
    int32_t first[3] = {0, 0, 0}, size = 1 << (3 * level);
    // The node's first voxel: from any block below it.
    int64_t child = node;
    for (int down = level; down >= 1; down--) {
        int slot = 0;
        while (fill->sdf->nodes[child * SDF_NODE_CHILDREN + slot] < 0) slot++;
        child = fill->sdf->nodes[child * SDF_NODE_CHILDREN + slot];
    }
    sdf_block_corner(fill->sdf, child, first);
    for (int axis = 0; axis < 3; axis++) first[axis] &= ~(8 * size - 1);
    for (int slot = 0; slot < SDF_NODE_CHILDREN; slot++) {
        if (!bit_block_has(unknown, slot)) continue;
        place[count] = (int16_t)slot;
        x[count] = (float)(first[0] + (slot & 7) * size + size / 2);
        y[count] = (float)(first[1] + (slot >> 3 & 7) * size + size / 2);
        z[count] = (float)(first[2] + (slot >> 6) * size + size / 2);
        count++;
    }
    fill->judge->judge(fill->judge->user, x, y, z, count, answer);
    *inside = (BitBlock){0};
    for (int64_t i = 0; i < count; i++)
        if (answer[i]) bit_block_add(inside, place[i]);
}

static int64_t fill_node(Fill *fill, int level, int64_t node)
{
    int32_t *entries = fill->sdf->nodes + node * SDF_NODE_CHILDREN;
    const uint8_t *child_unknown = level > 1 ? fill->node_unknown : fill->block_unknown;
    BitBlock unknown = {0}, outside = {0}, inside = {0};
    int known = 0;
    for (int slot = 0; slot < SDF_NODE_CHILDREN; slot++) {
        if (entries[slot] < 0 || child_unknown[entries[slot]])
            bit_block_add(&unknown, slot);
        else
            known++;
    }
    fill->node_unknown[node] = known == 0 && level < fill->sdf->depth;
    if (fill->node_unknown[node]) return 0;
    seed_unknown(fill, level, entries, &unknown, &outside, &inside);
    BitBlock left = unknown;
    int64_t conflicts = 0;
    for (int z = 0; z < 8; z++) {
        conflicts += __builtin_popcountll(outside.slice[z] & inside.slice[z]);
        inside.slice[z] &= ~outside.slice[z];
        left.slice[z] &= ~(outside.slice[z] | inside.slice[z]);
    }
    conflicts += bit_block_flood(&outside, &inside, &left);
    if (conflicts > 0 && fill->judge) judge_children(fill, level, node, &unknown, &inside);
    for (int slot = 0; slot < SDF_NODE_CHILDREN; slot++)
        if (bit_block_has(&unknown, slot))
            settle_child(fill, level, &entries[slot], bit_block_has(&inside, slot) ? SDF_INSIDE : SDF_OUTSIDE);
    return conflicts;
}

static GrainResult fill_all(Fill *fill, int threads, int64_t *conflicts)
{
    GrainSdf *sdf = fill->sdf;
    int64_t pieces = parallel_block_count(sdf->block_count, BLOCKS_AT_ONCE);
    fill->block_unknown = ALLOC_ZEROED(uint8_t, sdf->block_count);
    fill->node_unknown = ALLOC_ZEROED(uint8_t, sdf->node_count);
    fill->conflicts = ALLOC_ZEROED(int64_t, pieces > sdf->node_count ? pieces : sdf->node_count);
    if (!fill->block_unknown || !fill->node_unknown || !fill->conflicts) return GRAIN_ERROR_MEMORY;
    sdf_tree_levels(sdf, fill->first_of_level);
    PARALLEL_BLOCKS(threads, piece, pieces)
    {
        int64_t end = parallel_block_end(piece, BLOCKS_AT_ONCE, sdf->block_count), sum = 0;
        for (int64_t block = piece * BLOCKS_AT_ONCE; block < end; block++) sum += fill_block(fill, block);
        fill->conflicts[piece] = sum;
    }
    *conflicts = sum_conflicts(fill, pieces);
    for (int level = 1; level <= sdf->depth; level++) {
        int64_t first = fill->first_of_level[level],
                next = level > 1 ? fill->first_of_level[level - 1] : sdf->node_count;
        PARALLEL_BLOCKS(threads, node, next - first) { fill->conflicts[node] = fill_node(fill, level, first + node); }
        *conflicts += sum_conflicts(fill, next - first);
    }
    return GRAIN_OK;
}

GrainResult sdf_fill(GrainSdf *sdf, const SdfJudge *judge, int threads, int64_t *conflicts)
{
    Fill fill = {.sdf = sdf, .judge = judge};
    GrainResult result = fill_all(&fill, threads, conflicts);
    alloc_free(fill.block_unknown);
    alloc_free(fill.node_unknown);
    alloc_free(fill.conflicts);
    return result;
}

// --- far sides ------------------------------------------------------------------------------------

// One of the seven ways to a neighbour ahead, by bits: x, y, z. Sizes are known to the compiler, which makes straight
// copies of them.
#define COPY_WAY(dx, dy, dz)                                                                                           \
    do {                                                                                                               \
        const float *from = source(sdf, corner, dx, dy, dz, held);                                                     \
        int stride = from == held ? 0 : 1;                                                                             \
        for (int z = 0; z < (dz ? 1 : 8); z++)                                                                         \
            for (int y = 0; y < (dy ? 1 : 8); y++)                                                                     \
                memcpy(&values[sdf_block_index(8 * dx, y + 8 * dy, z + 8 * dz)],                                       \
                       &from[stride * sdf_block_index(0, y, z)], (dx ? 1 : 8) * sizeof(float));                        \
    } while (0)

// The values of the neighbour, or eight times what stands for all of them.
static inline const float *source(const GrainSdf *sdf, const int32_t corner[3], int dx, int dy, int dz, float *held)
{
    int32_t block = sdf_find_block(sdf, corner[0] + 8 * dx, corner[1] + 8 * dy, corner[2] + 8 * dz);
    if (block >= 0) return sdf_block_values(sdf, block);
    for (int i = 0; i < 8; i++) held[i] = block == SDF_INSIDE ? -sdf->half_width : sdf->half_width;
    return held;
}

// 217 values from up to seven neighbours.
static void copy_far_sides(GrainSdf *sdf, int64_t block)
{
    float *values = sdf->values + block * SDF_BLOCK_VALUES, held[8];
    int32_t corner[3];
    sdf_block_corner(sdf, block, corner);
    COPY_WAY(1, 0, 0);
    COPY_WAY(0, 1, 0);
    COPY_WAY(1, 1, 0);
    COPY_WAY(0, 0, 1);
    COPY_WAY(1, 0, 1);
    COPY_WAY(0, 1, 1);
    COPY_WAY(1, 1, 1);
}

void sdf_copy_far_sides(GrainSdf *sdf, int threads)
{
    int64_t pieces = parallel_block_count(sdf->block_count, BLOCKS_AT_ONCE);
    PARALLEL_BLOCKS(threads, piece, pieces)
    {
        int64_t end = parallel_block_end(piece, BLOCKS_AT_ONCE, sdf->block_count);
        for (int64_t block = piece * BLOCKS_AT_ONCE; block < end; block++) copy_far_sides(sdf, block);
    }
}

// --- checking -------------------------------------------------------------------------------------

// Empty entries on a node's faces against what lies behind them; inside the node, the filling has compared.
static int64_t compare_faces(const GrainSdf *sdf, const int32_t first[3])
{
    int64_t contradictions = 0;
    for (int face = 0; face < 6; face++)
        for (int side = 0; side < 64; side++) {
            int axis = face >> 1, next = (axis + 1) % 3, last = (axis + 2) % 3;
            int32_t here[3], behind[3];
            here[axis] = behind[axis] = first[axis] + (face & 1 ? 56 : 0);
            here[next] = behind[next] = first[next] + 8 * (side & 7);
            here[last] = behind[last] = first[last] + 8 * (side >> 3);
            int32_t own = sdf_find_block(sdf, here[0], here[1], here[2]);
            if (own >= 0) continue;
            behind[axis] += face & 1 ? 8 : -8;
            int32_t other = sdf_find_block(sdf, behind[0], behind[1], behind[2]);
            contradictions += other < 0 && own != other;
        }
    return contradictions;
}

static int64_t compare_nodes(const GrainSdf *sdf, int64_t piece)
{
    int64_t end = parallel_block_end(piece, BLOCKS_AT_ONCE, sdf->block_count), contradictions = 0;
    for (int64_t block = piece * BLOCKS_AT_ONCE; block < end; block++) {
        // Each node once, by its first block.
        if (block > 0 && sdf->block_key[block - 1] >> 9 == sdf->block_key[block] >> 9) continue;
        int32_t first[3];
        sdf_block_corner(sdf, block, first);
        for (int axis = 0; axis < 3; axis++) first[axis] &= ~63;
        contradictions += compare_faces(sdf, first);
    }
    return contradictions;
}

static int is_doubtful(const GrainSdf *sdf, int64_t block)
{
    const float *before[3];
    int32_t corner[3];
    sdf_block_corner(sdf, block, corner);
    for (int axis = 0; axis < 3; axis++) {
        int32_t at[3] = {corner[0], corner[1], corner[2]};
        at[axis] -= 8; // the outermost layer of blocks is empty: never below 0
        int32_t neighbour = sdf_find_block(sdf, at[0], at[1], at[2]);
        before[axis] = neighbour >= 0 ? sdf_block_values(sdf, neighbour) : NULL;
    }
    return SIMD_CALL(sdf_sharpest_turn)(sdf_block_values(sdf, block), before, sdf->half_width) >
           SHARP_TURN * sdf->voxel_size;
}

static int64_t compare_values(const GrainSdf *sdf, int64_t piece, uint8_t *doubtful)
{
    int64_t end = parallel_block_end(piece, BLOCKS_AT_ONCE, sdf->block_count), contradictions = 0;
    for (int64_t block = piece * BLOCKS_AT_ONCE; block < end; block++) {
        contradictions += SIMD_CALL(sdf_steepest)(sdf_block_values(sdf, block)) > STEEPEST * sdf->voxel_size;
        doubtful[block] = (uint8_t)is_doubtful(sdf, block);
    }
    return contradictions;
}

GrainResult sdf_count_contradictions(const GrainSdf *sdf, int threads, int64_t *count, uint8_t *doubtful)
{
    int64_t pieces = parallel_block_count(sdf->block_count, BLOCKS_AT_ONCE);
    int64_t *found = ALLOC(int64_t, pieces);
    if (!found) return GRAIN_ERROR_MEMORY;
    PARALLEL_BLOCKS(threads, piece, pieces)
    {
        found[piece] = compare_values(sdf, piece, doubtful) + compare_nodes(sdf, piece);
    }
    *count = 0;
    for (int64_t piece = 0; piece < pieces; piece++) *count += found[piece];
    alloc_free(found);
    return GRAIN_OK;
}
