// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Experiments that any solver of bulk sand must pass, each run from start to end, and what came out.
#include "shared/sand_scene.h"

/// Which solver, and of sph which model.
typedef struct SandKind {
    const char *solver, *model;
    float truck_layers; ///< of particles, in the load of a truck
} SandKind;

/// Sand poured into a heap from a funnel that rises with it.
typedef struct PourResult {
    int64_t particles;
    double angle;       ///< degrees, of the flank
    double fastest;     ///< m/s, at the end
    double angle_later; ///< of what was poured, a second after that; likewise
    double fastest_later;
} PourResult;
GrainResult sand_pour(SandKind kind, float friction_degrees, int particles, PourResult *out);

/// A cylinder of sand as high as its radius, 0.65 m, collapses: the heap it leaves after 2 s.
GrainResult sand_collapse(SandKind kind, float friction_degrees, int particles, PourResult *out);

/// The accelerating truck (Ihmsen et al. 2013, section 6.1): a ridge of sand whose flanks stand 15 degrees below the
/// friction angle of 35, on a bed that is accelerated for 2 s.
typedef struct TruckResult {
    double change; ///< of the ridge's outline, seen from the bed, over its area
} TruckResult;
GrainResult sand_truck(SandKind kind, double acceleration, TruckResult *out);

/// Three balls dropped on a bed of sand, 0.5, 1 and 3 times as dense as it (figure 5).
typedef struct BallsResult {
    double depth[3]; ///< m, of their lowest points below the surface, 2 s after they were dropped
    double later[3]; ///< half a second after that
    double radius;
} BallsResult;
GrainResult sand_three_balls(SandKind kind, BallsResult *out);

/// A block of sand that nothing holds any longer (figure 3).
typedef struct BlockResult {
    double side;    ///< m, height and length of the block
    double run_out; ///< m, how far 98 % of it have gone beyond its face
    double height;  ///< m, of what stands within a spacing behind where the face was
} BlockResult;
GrainResult sand_block(SandKind kind, float moisture, BlockResult *out);

/// A castle: a square tower on a broad base, both with upright faces that nothing holds.
typedef struct CastleResult {
    double height;       ///< m, of the tower at first
    double height_later; ///< after 1.5 s
    double moved;        ///< part of the particles that are more than a spacing from where they were
    double fastest;      ///< m/s, at the end
} CastleResult;
GrainResult sand_castle(SandKind kind, float moisture, CastleResult *out);
