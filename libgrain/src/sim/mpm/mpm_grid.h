// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The grid: nodes in blocks of 4 x 4 x 4, and the colliders near them.
#include "base/vec.h"

#define MPM_BLOCK_SIDE 4
/// Colliders within this distance of a node, in cells, are sampled for its block.
#define MPM_NEAR_CELLS 2.0f
#define MPM_BLOCK_NODES 64
#define MPM_TILE_SIDE 8
#define MPM_TILE_NODES 512
/// Padded, because nodes are loaded four at a time along x.
#define MPM_TILE_STRIDE 520
/// Blocks around a block, itself in the middle; x runs fastest.
#define MPM_AROUND 27
/// Of a filled block in checkpoints: corner, first particle.
#define MPM_FILLED_INTS 4

/// The sum over particles at a node: momentum, including the impulse of their stress within the step.
typedef struct MpmNode {
    float momentum[3], mass;
} MpmNode;
/// Motion of a node after the step. mass: of the particles around it, as if all of their mass were coupled to the node
/// and had the density of the densest material: a measure of how full the node is, also where materials of different
/// densities meet and where sand flies.
typedef struct MpmMotion {
    float velocity[3], mass;
} MpmMotion;

/// Blocks that hold particles, and all around them, in ascending order of their keys.
typedef struct MpmBlock {
    int32_t corner[4];                ///< node coordinates of the first node; [3] is 0
    int32_t begin, end;               ///< particles; equal if there are none
    int32_t tile;                     ///< the tile its particles scatter into; -1 if there are none
    int32_t around[MPM_AROUND];       ///< blocks; -1 if not stored
    uint32_t reach;                   ///< bits: the blocks whose nodes its particles reach, 1 << index in around
    int32_t first_sheet, sheet_end;   ///< static colliders near its nodes
    int32_t first_moving, moving_end; ///< moving ones, in this step
} MpmBlock;

/// A collider sampled at the nodes of one block.
typedef struct MpmSheet {
    Vec3 normal[MPM_BLOCK_NODES], speed[MPM_BLOCK_NODES]; ///< of the surface, m/s
    float distance[MPM_BLOCK_NODES];
    Vec3 taken[MPM_BLOCK_NODES];                            ///< m/s: change of the nodes' velocities by a body
    float friction[MPM_BLOCK_NODES], pull[MPM_BLOCK_NODES]; ///< as in RigidView
    int32_t collider;
    float nearest; ///< smallest distance
} MpmSheet;

/// The nodes behind a thin wall, seen from a particle (mpm_walls.c).
typedef struct MpmWall {
    float normal[3], friction; ///< towards the particle
    float speed[3], pull;      ///< m/s, of the wall; m/s2, pull of a sticky wall
    float distance;            ///< m
    float taken[3];            ///< kg m/s: momentum the wall took from the particle in this step
    uint32_t barred;           ///< bits: nodes excluded for the particle, 1 << (9 * z + 3 * y + x)
    int32_t collider;
} MpmWall;

/// Momentum that the material gave to a body.
typedef struct MpmImpulse {
    Vec3d linear, angular; ///< kg m/s; kg m2/s, about the body's centre
} MpmImpulse;

/// Of a filled block: it sleeps; its tile is up to date; it sleeps beside a block that is awake; a thin wall separates
/// particles from nodes; its mass does not say how full the nodes are (MpmMotion).
typedef struct MpmRest {
    uint8_t is_asleep, is_scattered, is_watching, is_split, has_rooms;
} MpmRest;
