// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Shared by the files of this folder.
#include "upsample/upsample.h"

/// Reach of a coarse particle over its radius; the paper's h_HR.
#define UPSAMPLE_REACH 3.0f
/// Sum of weights in full sand: (64 pi / 315) h^3 over the volume of a cell of a cubic packing, (2 r)^3.
#define UPSAMPLE_FULL_SUM 2.1541f
/// Below the first share of that sum a grain flies, above the second it is part of the sand. The second is the level of
/// a flat heap's surface, one radius above the topmost centres.
#define UPSAMPLE_FLIES 0.25f
#define UPSAMPLE_IS_SAND 0.5f
/// s. Over this time alpha acts as it does in one step of the paper.
#define UPSAMPLE_BLEND_TIME 0.01f

/// Grains worked on together: their sums stay in the first-level cache.
#define UPSAMPLE_BLOCK 256
/// Coarse particles taken in at once.
#define UPSAMPLE_CHUNK 256
/// Coarse particles around a group of blocks, at most; where there are more, each block looks for itself.
#define UPSAMPLE_NEAR 512
/// Colliders around a block, at most; where there are more, its grains ask all there are.
#define UPSAMPLE_NEAR_WALLS 32
/// More than any number of substeps between two sorts.
#define UPSAMPLE_NEVER_SORTED 1000
/// Of a wall, in coarse radii: within this the sand around a grain is measured against the part of space that is open.
#define UPSAMPLE_WALL_RANGE 2.4f
/// Blocks handed to a thread at once.
#define UPSAMPLE_BLOCKS_IN_CHUNK 64

/// A coarse particle as the kernel reads it.
typedef struct CoarseRecord {
    float x, y, z;    ///< m, at the start of the substep
    float vx, vy, vz; ///< m/s, mean over the substep
    float sx, sy, sz; ///< rad/s
    float height;     ///< m, against gravity
    float unused[2];
} CoarseRecord;

/// The coarse sand during one substep, in the order of its grid.
typedef struct CoarseField {
    CellGrid grid;
    float reach;     ///< m, also the cells' side
    int64_t present; ///< particles born by now
    int64_t count;   ///< those of them that are not gone: only these are in the grid
    CoarseRecord *records;
    float *x, *y, *z; ///< by index, of all present
    int32_t *alive;   ///< index in the grid -> index; only where some are gone
    float *alive_x, *alive_y, *alive_z;
    int64_t alive_capacity[4];
    float *sorted_x, *sorted_y, *sorted_z;
    Vec3 up;       ///< against gravity, a unit
    Vec3 *shift;   ///< by index, displacement over the substep; then used for spins
    float fastest; ///< m/s
    int32_t
        *first; ///< place of the first particle of a cell or of one behind it, by the cell's key, one more at the end
    int is_listed; ///< whether it is: not where cells are too many
    int64_t capacity, first_capacity;
} CoarseField;

/// Sums over the coarse particles around each grain of a block.
typedef struct BlockSums {
    float weight[UPSAMPLE_BLOCK + 32];
    float height[UPSAMPLE_BLOCK + 32];  ///< of the coarse particles; not for the paper's scheme
    float largest[UPSAMPLE_BLOCK + 32]; ///< of the weights; only for the paper's scheme
    float vx[UPSAMPLE_BLOCK + 32], vy[UPSAMPLE_BLOCK + 32], vz[UPSAMPLE_BLOCK + 32];
    float sx[UPSAMPLE_BLOCK + 32], sy[UPSAMPLE_BLOCK + 32], sz[UPSAMPLE_BLOCK + 32];
} BlockSums;

/// Colliders as the grains of a block see them at the start of a substep.
typedef struct BlockWalls {
    float distance[UPSAMPLE_BLOCK + 32];
    float nx[UPSAMPLE_BLOCK + 32], ny[UPSAMPLE_BLOCK + 32], nz[UPSAMPLE_BLOCK + 32];
    float vx[UPSAMPLE_BLOCK + 32], vy[UPSAMPLE_BLOCK + 32], vz[UPSAMPLE_BLOCK + 32]; ///< of the nearest wall there
    int nearest[UPSAMPLE_BLOCK + 32];                                                ///< which collider; -1: none near
    int near[UPSAMPLE_NEAR_WALLS]; ///< colliders that may be within `range` of a grain during the substep, ascending
    int near_count;                ///< -1: too many to list
    float range;                   ///< m
} BlockWalls;

/// Grains in the order of their cells; columns of four bytes, so that one spare column is enough to sort them all.
#define UPSAMPLE_COLUMNS 11
typedef union GrainColumns {
    struct {
        float *x, *y, *z, *vx, *vy, *vz;
        float *qw, *qx, *qy, *qz;
        uint32_t *number; ///< of the grain within the shard, in the order of ranks
    };
    void *column[UPSAMPLE_COLUMNS];
} GrainColumns;

typedef struct StepNumbers {
    UpsampleScheme scheme;
    float seconds;
    float inverse_reach2;            ///< 1 / h^2
    float wall_range;                ///< m
    float flies, is_sand;            ///< sums of weights
    float blend;                     ///< seconds over UPSAMPLE_BLEND_TIME
    float friction;                  ///< m/s taken off in the substep by full sand
    float gx, gy, gz;                ///< m/s gained by falling for the substep
    float weight_at_radius;          ///< of the paper's second case
    float ux, uy, uz;                ///< upwards, a unit; 0 where nothing falls
    float hang_low, hang_high;       ///< m: sand this far above a grain, and none below, does not carry it
    float carry_low, carry_high;     ///< m: a wall this far below it does
    float tumbling;                  ///< rad/m: turning of a free grain over its way
    float squeeze_low, squeeze_high; ///< m: from a wall; between them the flow towards it fades out
} StepNumbers;

/// Box around a block's grains.
typedef struct BlockBox {
    float low[3], high[3];
} BlockBox;
SIMD_KERNEL(void, upsample_box, (const float *x, const float *y, const float *z, int count, BlockBox *box))
/// Lists those of places [*begin, end) that are nearer to the box than the root of limit2, in their order, until there
/// is no more room for a vector of them; *begin is then where to go on. Returns how many. One place behind the last is
/// written to.
SIMD_KERNEL(int, upsample_gather,
            (const float *x, const float *y, const float *z, int64_t *begin, int64_t end, const BlockBox *box,
             float limit2, int32_t *out, int room))
/// Adds the coarse particles listed to the sums of count grains. The first call for a block begins them, the last
/// brings them to the weights' scale.
enum { SUM_SPIN = 1, SUM_PAPER = 2, SUM_FIRST = 4, SUM_LAST = 8 };
SIMD_KERNEL(void, upsample_accumulate,
            (const float *x, const float *y, const float *z, int count, const CoarseRecord *coarse, const int32_t *list,
             int list_count, float reach, int flags, BlockSums *sums))
/// Coarse particles whose spin is worked out together.
#define UPSAMPLE_SPIN_BLOCK 16
/// Sums around each of them: moments of the velocities, and of the masses.
typedef struct SpinSums {
    float x[UPSAMPLE_SPIN_BLOCK], y[UPSAMPLE_SPIN_BLOCK], z[UPSAMPLE_SPIN_BLOCK], inertia[UPSAMPLE_SPIN_BLOCK];
} SpinSums;
SIMD_KERNEL(void, upsample_add_spin,
            (const CoarseRecord *own, int count, const CoarseRecord *coarse, const int32_t *list, int list_count,
             float reach, SpinSums *sums))
/// How much sand a grain has around it that carries it, to compare with StepNumbers.flies and .is_sand. In the paper's
/// scheme nobody asks. walls may be NULL.
SIMD_KERNEL(void, upsample_sand,
            (const float *x, const float *y, const float *z, int count, const StepNumbers *step, const BlockSums *sums,
             const BlockWalls *walls, float *sand))
/// Velocities from the sums (walls may be NULL); moves the grains too where walls is NULL. alpha gets what is left of
/// the grain's own motion, 0 to 1. Returns the largest speed.
SIMD_KERNEL(float, upsample_blend,
            (float *x, float *y, float *z, float *vx, float *vy, float *vz, int count, const StepNumbers *step,
             const BlockSums *sums, const BlockWalls *walls, const float *sand, float *alpha))

typedef struct UpsampleScratch UpsampleScratch;

/// Turns the grains (w, x, y, z) over a frame, by how the sand turns around them; those that stand still do not.
SIMD_KERNEL(void, upsample_turn,
            (float *const q[4], const float *const v[3], int count, const StepNumbers *step, const BlockSums *sums,
             const float *alpha, float seconds))

struct Upsampler {
    UpsampleDef def;
    int threads;
    float grain_radius; ///< m, mean
    float reach;        ///< m
    int64_t rank_begin, rank_end;
    int64_t layers;       ///< the last one may have grains of some coarse particles only
    int64_t full_numbers; ///< grains of the shard in the layers that all coarse particles have
    int64_t capacity;     ///< grains of the shard when all are born
    int64_t count;        ///< born
    int64_t coarse_born;  ///< coarse particles whose grains are born
    GrainColumns grains;
    void *spare;     ///< a column's worth, swapped in by sorting
    uint32_t *order; ///< sorting: new place -> old place; writing: number -> place
    // Sorted cells and the blocks cut from them.
    int substeps_since_sort;
    uint32_t *histogram;
    uint8_t *is_mixed; ///< cells, likewise
    int64_t histogram_cells;
    uint32_t *block_start; ///< block_count + 1 places
    int64_t *strip_blocks; ///< blocks in each strip of places
    int64_t block_count;
    float group_side; ///< m; blocks within a cube of it share their search
    CoarseField field;
    uint8_t *is_gone; ///< coarse particle -> whether it is, by the last frame
    int any_gone;
    Vec3 gravity; ///< m/s2, in the present substep
    const UpsampleCollider *colliders;
    int collider_count;
    float fastest; ///< m/s, of all grains after the last substep
    float *chunk_fastest;
    UpsampleScratch *scratch; ///< one for each thread
};

// upsample_coarse.c
GrainResult coarse_field_reserve(CoarseField *field, int64_t count);
/// The coarse particles that are there at `time`, between the two frames `span` seconds apart, of which the first is at
/// `from_time`; displaced over `seconds`.
GrainResult coarse_field_set(CoarseField *field, const UpsampleCoarse *from, const UpsampleCoarse *to, double from_time,
                             double span, double time, double seconds, float radius, int threads);
/// As it stands in one frame, with its velocities.
GrainResult coarse_field_still(CoarseField *field, const UpsampleCoarse *coarse, float radius, int threads);
/// How the sand turns around each particle.
void coarse_field_spin(CoarseField *field, int threads);
void coarse_field_free(CoarseField *field);
/// m2. A little farther than the weights reach, for rounding: what is left out must add an exact zero.
static inline float coarse_field_limit2(const CoarseField *field)
{
    return field->reach * field->reach * (1.0f + 1e-5f);
}

/// Goes through the rows of cells that a box and the reach around it touch, in the order of the grid.
typedef struct CoarseWalk {
    const CoarseField *field;
    float low[3], high[3];                   ///< of the box
    int64_t cell_low[3], cell_high[3], y, z; ///< cells' numbers
} CoarseWalk;
void coarse_walk_begin(CoarseWalk *walk, const CoarseField *field, const float low[3], const float high[3]);
/// The next run of places, [begin, end); 0 when there is none.
int coarse_walk_next(CoarseWalk *walk, int64_t *begin, int64_t *end);

/// Coarse particles around a group of blocks, in the order of the grid.
typedef struct CoarseNear {
    int count; ///< -1: too many to list
    float x[UPSAMPLE_NEAR + 32], y[UPSAMPLE_NEAR + 32], z[UPSAMPLE_NEAR + 32];
    CoarseRecord records[UPSAMPLE_NEAR];
} CoarseNear;
void coarse_field_near(const CoarseField *field, const BlockBox *box, CoarseNear *near);

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
/// near: NULL, or what holds all that is near the box. Positions of small blocks are left in scratch->x, y, z, padded.
void upsample_block_sums(const CoarseField *field, const CoarseNear *near, const BlockBox *box, const float *x,
                         const float *y, const float *z, int count, int flags, UpsampleScratch *scratch);

// upsample_walls.c
/// 0 when no collider is within `range` of any grain of the block, nor comes there within `seconds`; otherwise fills
/// walls. What is said of a grain does not depend on the block it is in.
int upsample_find_walls(const Upsampler *upsampler, const BlockBox *box, const float *x, const float *y, const float *z,
                        int count, float range, float seconds, BlockWalls *walls);
/// Moves the grains at places [first, first + count) by their velocities, around and along the colliders.
/// Returns the largest speed.
float upsample_move_among_walls(Upsampler *upsampler, int64_t first, int count, float seconds, const BlockWalls *walls);
/// Puts a point out of all colliders, to `radius` from their surface; 0 when there is no way out.
int upsample_push_out(const Upsampler *upsampler, Vec3 *position, float radius);

// upsample_advect.c
StepNumbers upsample_step_numbers(const Upsampler *upsampler, float seconds);
/// frame_seconds is 0 but in the last substep of a frame, when grains turn.
void upsample_substep(Upsampler *upsampler, float seconds, float frame_seconds);

// upsample_sort.c
GrainResult upsample_sort_reserve(Upsampler *upsampler);
void upsample_sort(Upsampler *upsampler);

// upsample_birth.c
/// Grains of the coarse particles up to `end` that are not born yet, where the field has them.
void upsample_birth(Upsampler *upsampler, int64_t end);

// upsample.c
/// The number within the shard of a coarse particle's grain; 0 when it is not the shard's, or is not at all.
int upsample_number(const Upsampler *upsampler, int64_t coarse, int64_t layer, int64_t *number);
/// The way back.
void upsample_identity(const Upsampler *upsampler, int64_t number, int64_t *coarse, int64_t *layer);
float upsample_radius_of(const Upsampler *upsampler, int64_t coarse, int64_t layer);
