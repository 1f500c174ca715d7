// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The grid: nodes in blocks of 4 x 4 x 4, and what stands or moves near them.
#include "base/vec.h"

#define MPM_BLOCK_SIDE 4
/// Colliders nearer to a node than this, in cells, are kept in mind for its block.
#define MPM_NEAR_CELLS 2.0f
#define MPM_BLOCK_NODES 64
#define MPM_BOARD_SIDE 8
#define MPM_BOARD_NODES 512
/// Nodes are taken four at a time along x: behind the last ones there is room.
#define MPM_BOARD_STRIDE 520
/// Blocks around a block, itself in the middle; x runs fastest.
#define MPM_AROUND 27
/// Of a filled block in checkpoints: corner, first particle.
#define MPM_FILLED_INTS 4

/// What particles bring to a node: momentum, and what their stress adds to it within the step.
typedef struct MpmNode {
    float momentum[3], mass;
} MpmNode;
/// How a node moves after the step. mass: of the particles around it, as if all of each went with the node and were as
/// dense as the densest: how full it is there, also where materials of several densities meet, and where sand flies.
typedef struct MpmMotion {
    float velocity[3], mass;
} MpmMotion;

/// Blocks that hold particles, and all around them, in ascending order of their keys.
typedef struct MpmBlock {
    int32_t corner[4];                ///< node coordinates of the first node; [3] is 0
    int32_t begin, end;               ///< particles; equal where there are none
    int32_t board;                    ///< which board its particles scatter into; -1 where there are none
    int32_t around[MPM_AROUND];       ///< blocks; -1 where none is stored
    uint32_t reach;                   ///< which of them its particles reach the nodes of, 1 << place in around
    int32_t first_sheet, sheet_end;   ///< colliders near its nodes that stand
    int32_t first_moving, moving_end; ///< and those that move, in this step
} MpmBlock;

/// A collider as the nodes of one block see it.
typedef struct MpmSheet {
    Vec3 normal[MPM_BLOCK_NODES], speed[MPM_BLOCK_NODES]; ///< of the surface, m/s
    float distance[MPM_BLOCK_NODES];
    Vec3 taken[MPM_BLOCK_NODES];                            ///< m/s: of the nodes' velocities, by a body
    float friction[MPM_BLOCK_NODES], pull[MPM_BLOCK_NODES]; ///< as in RigidView
    int32_t collider;
    float nearest; ///< smallest distance
} MpmSheet;

/// What is behind a thin wall, seen from a particle (mpm_walls.c).
typedef struct MpmWall {
    float normal[3], friction; ///< towards the particle
    float speed[3], pull;      ///< m/s, of the wall; m/s2, by which it is sticky
    float distance;            ///< m
    float taken[3];            ///< kg m/s: what the wall has taken from the particle in this step
    uint32_t barred;           ///< nodes that are not the particle's, 1 << (9 * z + 3 * y + x)
    int32_t collider;
} MpmWall;

/// What the material has given to a body.
typedef struct MpmImpulse {
    Vec3d linear, angular; ///< kg m/s; kg m2/s, about the body's centre
} MpmImpulse;

/// Of a filled block: does it sleep, is what it brings to the nodes known already, is somebody awake beside it, does a
/// thin wall part particles from nodes, and does the mass that it brings not tell how full the nodes are?
typedef struct MpmRest {
    uint8_t is_asleep, is_scattered, is_watching, is_split, has_rooms;
} MpmRest;
