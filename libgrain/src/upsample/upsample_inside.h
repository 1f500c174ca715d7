// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Shared by the files of this folder.
#include "upsample/upsample_block.h"

/// Sum of weights in full sand: (64 pi / 315) h^3 over the volume of a cell of a cubic packing, (2 r)^3.
#define UPSAMPLE_FULL_SUM 2.1541f
/// Below the first fraction of that sum a grain flies, above the second it belongs to the sand. The second is reached
/// at the surface of a flat heap, one radius above the topmost centres.
#define UPSAMPLE_FLIES 0.25f
#define UPSAMPLE_IS_SAND 0.5f
/// s, time over which alpha acts as in one step of the paper.
#define UPSAMPLE_BLEND_TIME 0.01f

/// Coarse particles processed at once.
#define UPSAMPLE_CHUNK 256
/// Larger than any number of substeps between two sorts.
#define UPSAMPLE_NEVER_SORTED 1000
/// Coarse radii: near a wall within this distance, the sand around a grain is related to the open part of space.
#define UPSAMPLE_WALL_RANGE 2.4f
/// Blocks handed to a thread at once.
#define UPSAMPLE_BLOCKS_IN_CHUNK 64

/// Grains in the order of their cells, in columns of four bytes, so that one spare column suffices for sorting.
#define UPSAMPLE_COLUMNS 11
typedef union GrainColumns {
    struct {
        float *x, *y, *z, *vx, *vy, *vz;
        float *qw, *qx, *qy, *qz;
        uint32_t *number; ///< of the grain within the shard, in the order of ranks
    };
    void *column[UPSAMPLE_COLUMNS];
} GrainColumns;

typedef struct UpsampleScratch UpsampleScratch;

struct Upsampler {
    UpsampleDef def;
    int threads;
    float grain_radius; ///< m, mean
    float reach;        ///< m
    int64_t rank_begin, rank_end;
    int64_t layers;       ///< the last one may be incomplete
    int64_t full_numbers; ///< grains of the shard in complete layers
    int64_t capacity;     ///< grains of the shard once all are born
    int64_t count;        ///< born
    int64_t coarse_born;  ///< coarse particles whose grains are born
    GrainColumns grains;
    void *spare;     ///< a column's worth, swapped in by sorting
    uint32_t *order; ///< sorting: new index -> old index; writing: number -> index
    // Sorted cells and the blocks cut from them.
    int substeps_since_sort;
    uint32_t *histogram;
    uint8_t *is_mixed; ///< cells, likewise
    int64_t histogram_cells;
    uint32_t *block_start; ///< block_count + 1 indices
    int64_t *strip_blocks; ///< blocks in each strip of indices
    int64_t block_count;
    float group_side; ///< m; blocks within a cube of it share their search
    CoarseField field;
    uint8_t *is_gone; ///< coarse particle -> whether it was removed by the last frame
    int any_gone;
    Vec3 gravity;        ///< m/s2, in the current substep
    UpsampleWalls walls; ///< likewise
    float fastest;       ///< m/s, of all grains after the last substep
    float *chunk_fastest;
    UpsampleScratch *scratch; ///< one for each thread
};

// upsample_advect.c: one block's sums.
struct UpsampleScratch {
    int32_t list[UPSAMPLE_CHUNK + 1]; ///< coarse particles near the block
    CoarseNear near;
    BlockBox box[UPSAMPLE_BLOCKS_IN_CHUNK];
    BlockSums sums;
    BlockWalls walls;
    float sand[UPSAMPLE_BLOCK + 32], alpha[UPSAMPLE_BLOCK + 32];
    float x[UPSAMPLE_BLOCK + 32], y[UPSAMPLE_BLOCK + 32], z[UPSAMPLE_BLOCK + 32];
};
/// near: NULL, or all coarse particles near the box. Positions of small blocks are left in scratch->x, y, z, padded.
void upsample_block_sums(const CoarseField *field, const CoarseNear *near, const BlockBox *box, const float *x,
                         const float *y, const float *z, int count, int flags, UpsampleScratch *scratch);

// upsample_walls.c
/// Returns 0 if no collider is, or comes within `seconds`, within `range` of a grain of the block; otherwise fills
/// walls. The result for a grain does not depend on its block.
int upsample_find_walls(const Upsampler *upsampler, const BlockBox *box, const float *x, const float *y, const float *z,
                        int count, float range, float seconds, BlockWalls *walls);
/// Moves the grains [first, first + count) by their velocities, around and along the colliders. Returns the largest
/// speed.
float upsample_move_among_walls(Upsampler *upsampler, int64_t first, int count, float seconds, const BlockWalls *walls);
/// Moves a point out of all colliders, to `radius` from their surfaces; returns 0 if that is impossible.
int upsample_push_out(const Upsampler *upsampler, Vec3 *position, float radius);

// upsample_advect.c
StepNumbers upsample_step_numbers(const Upsampler *upsampler, float seconds);
/// frame_seconds is 0 except in the last substep of a frame, when grains are rotated.
void upsample_substep(Upsampler *upsampler, float seconds, float frame_seconds);

// upsample_sort.c
GrainResult upsample_sort_reserve(Upsampler *upsampler);
void upsample_sort(Upsampler *upsampler);

// upsample_birth.c
/// Makes the grains of coarse particles up to `end` that are not born yet, at their positions in the field.
void upsample_birth(Upsampler *upsampler, int64_t end);

// upsample.c
/// The number of a grain within the shard; returns 0 if the grain does not exist or belongs to another shard.
int upsample_number(const Upsampler *upsampler, int64_t coarse, int64_t layer, int64_t *number);
/// The inverse.
void upsample_identity(const Upsampler *upsampler, int64_t number, int64_t *coarse, int64_t *layer);
float upsample_radius_of(const Upsampler *upsampler, int64_t coarse, int64_t layer);
