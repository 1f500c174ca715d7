// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Render grains that follow a coarse bake (Ihmsen, Wahl, Teschner 2013, section 4; what differs and why:
/// docs/upsampling.md).
///
/// Grains do not interact. Each is a function of the coarse frames, the colliders, the seed and its own rank, so the
/// work can be divided into independent shards, and the bits do not depend on threads, shards or interruptions: sums
/// over coarse particles always run in the order of the coarse grid, and particles out of reach add an exact zero.
///
///     coarse particle c, layer j   ->  grain with rank j * coarse_total + c
///
/// Ranks are the order in files. So any prefix has the same number of grains from each coarse particle, and a shard is
/// a range of ranks.
#include "base/cell_grid.h"
#include "base/run.h"
#include "base/simd.h"
#include "motion/curve.h"
#include "sdf/sdf.h"
#include "sim/rigid/rigid_paint.h"
#include "sim/solver.h"

typedef enum UpsampleScheme {
    UPSAMPLE_GATED,      ///< ours
    UPSAMPLE_IHMSEN2013, ///< as printed, for comparison: alpha of section 4.2, no friction, nothing rejected at birth
} UpsampleScheme;

/// The colliders at one moment, each a distance field or an endless plane (sdf is NULL). Grains need no mesh, motion
/// and body of them.
typedef struct UpsampleWalls {
    int count;
    const SimCollider *collider; ///< with the friction and stickiness of this moment
    const MotionFrame *frame;    ///< where each is; the sdf is in its own space
    const RigidPaint *paint;     ///< two of each, of friction and of stickiness; NULL: 1 everywhere
    float weight;                ///< m/s2: the unit of stickiness
} UpsampleWalls;

/// The colliders at a time (s since the first frame). Called once per substep, between parallel regions; the result
/// stays valid until the next call.
typedef const UpsampleWalls *UpsampleWallsFn(void *user, double time);

#define UPSAMPLE_MAX_PER_PARTICLE 1000
/// A grain's id is this times its coarse particle, plus its layer: the same in every frame and every split.
#define UPSAMPLE_LAYERS 1024
_Static_assert(UPSAMPLE_MAX_PER_PARTICLE < UPSAMPLE_LAYERS, "no two grains have the same id");
static inline int64_t upsample_id(int64_t coarse, int64_t layer) { return coarse * UPSAMPLE_LAYERS + layer; }

typedef struct UpsampleDef {
    UpsampleScheme scheme;
    float coarse_radius; ///< m, mean radius of the coarse particles
    double per_particle; ///< grains per coarse particle, (0, 1000]; fractions are distributed evenly over the particles
    float size_spread;   ///< radii are even in +- this fraction
    float substep;       ///< s, at most
    uint64_t seed;
    Curve gravity;              ///< m/s2
    double frame_seconds;       ///< between samples of gravity
    int64_t coarse_total;       ///< coarse particles by the end of the bake, including those not yet born
    int32_t shard, shard_count; ///< shard counts from 0
    UpsampleWallsFn *walls;     ///< NULL: there are no colliders
    void *walls_user;
} UpsampleDef;

/// A stored coarse frame; arrays in the order of birth, so that later frames have more.
typedef struct UpsampleCoarse {
    int64_t count;
    const Vec3 *position, *velocity;
    const float *birth_time; ///< s since the first frame; NULL: unknown
    const float *radius;     ///< 0: removed, and its grains with it; NULL: no particle is
} UpsampleCoarse;

typedef struct Upsampler Upsampler;

/// Checks the def and allocates the memory for all grains of the shard; nothing is allocated later.
GrainResult upsample_create(const UpsampleDef *def, int threads, Upsampler **out);
void upsample_destroy(Upsampler *upsampler);

/// Makes the grains of the first frame.
GrainResult upsample_begin(Upsampler *upsampler, const UpsampleCoarse *first, double time);

/// Called after every substep with the completed fraction of the frame. Any result but GRAIN_OK stops the work and
/// leaves the grains between two frames: begin or load again.
typedef GrainResult UpsampleWatchFn(void *user, double fraction);
/// Advances from one coarse frame to the next.
GrainResult upsample_advance(Upsampler *upsampler, const UpsampleCoarse *from, const UpsampleCoarse *to, double time,
                             double seconds, UpsampleWatchFn *watch, void *user);

/// Grains born so far.
int64_t upsample_count(const Upsampler *upsampler);
/// Largest number of bytes allocated per grain of the shard.
double upsample_bytes_per_grain(void);

/// Grains in the order of their ranks: which they are, and what they do. Any of the arrays may be NULL. Calls with
/// ascending first are cheap; upsample_order comes before the first of them.
typedef struct UpsampleRows {
    Vec3 *position, *velocity;
    float *radius;
    Quat *orientation;
    int64_t *id;     ///< upsample_id
    int32_t *parent; ///< coarse particle
} UpsampleRows;
void upsample_order(Upsampler *upsampler);
void upsample_rows(const Upsampler *upsampler, int64_t first, int64_t count, const UpsampleRows *out);

/// The grains in the order of their ranks, cut into chunks of at most `most` (0 < most): writes how many are born of
/// each to sizes (may be NULL), returns how many chunks there are. A grain keeps its chunk and its place in it while
/// others are born, which is only so where no chunk reaches into another layer (by_layer).
int64_t upsample_chunks(const Upsampler *upsampler, int64_t most, int by_layer, uint32_t *sizes);

/// The way back, from a checkpoint: the state is exactly position, velocity and orientation of the grains of
/// coarse particles [0, coarse_count). GRAIN_ERROR_DAMAGED where count is not theirs.
GrainResult upsample_load(Upsampler *upsampler, int64_t coarse_count, int64_t count, const Vec3 *position,
                          const Vec3 *velocity, const Quat *orientation);

/// Grains the shard of this def will have when coarse particles [0, coarse_count) are born.
int64_t upsample_count_grains(const UpsampleDef *def, int64_t coarse_count);
/// m, mean radius of a grain: as much volume in all as the coarse particle has.
float upsample_grain_radius(const UpsampleDef *def);
