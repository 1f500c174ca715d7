// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Sand, snow and mud as a continuum: the material point method (MLS-MPM with APIC transfers: Hu et al. 2018, Jiang et
/// al. 2015; sand after Klar et al. 2016; snow after Stomakhin et al. 2013).
///
///     particles --scatter--> nodes --(gravity, colliders)--> nodes --gather--> particles, new stress
///
/// The grid only covers the material. Its nodes form blocks of 4 x 4 x 4. Particles are sorted by the block of their
/// first node, and scatter into a tile of 8 x 8 x 8 nodes that belongs to their block alone:
///
///     tile    0   1   2   3   4   5   6   7      a particle reaches three nodes along each axis; one that has moved
///     node    -1 | 0   1   2   3 | 4   5   6      by up to a cell out of its block still has them all in the tile,
///                  '- the block -'                so sorting can wait until one has moved farther
///
/// A node then sums the tiles around its block in a fixed order: no two threads write to the same node, and the bits do
/// not depend on the number of threads.
#include "base/simd.h"
#include "base/sort.h"
#include "sim/mpm/mpm_grid.h"
#include "sim/mpm/mpm_law.h"
#include "sim/solver_base.h"

/// Positions are relative to SolverBase.origin. Fields are grouped in fours for vector loads.
typedef struct MpmParticle {
    float position[3]; ///< m
    float volume;      ///< m3, at rest
    float velocity[3]; ///< m/s
    float mass;        ///< kg: the part coupled to the nodes, which is all of it except for loose, flying sand
    struct {
        float gradient[3]; ///< a column of the velocity gradient, 1/s
        float stress;      ///< Kirchhoff stress, Pa: xx, yy, zz; reduced by the same part as the mass
    } column[3];
    float shear_stress[3]; ///< xy, xz, yz
    float plastic;         ///< history of the law (mpm_law.h)
    float stretch[6];      ///< left Cauchy-Green tensor of the elastic part: xx, yy, zz, xy, xz, yz
    float radius;          ///< m, distance its centre keeps from colliders
    int32_t material;
    int32_t id;   ///< place in the order of birth
    float still;  ///< s for which it has hardly moved; INFINITY: it sleeps
    float pulled; ///< m/s: speed gained in the step, before colliders acted
    float moisture;
} MpmParticle;
#define MPM_PARTICLE_FLOATS ((int)(sizeof(MpmParticle) / sizeof(float)))

typedef struct Mpm {
    SolverBase base;
    int has_meshes; ///< among the colliders
    MpmMaterials materials;
    float sound;           ///< m/s
    float weight;          ///< m/s2: unit of cohesion, the initial gravity
    float particle_volume; ///< m3
    float cell, inverse_cell;
    float touch;      ///< m: nodes within this distance of a collider are held by it, as the particles around them are;
                      ///< farther ones only where sand is at rest (mpm_colliders.c)
    float step_limit; ///< s
    float longest_step; ///< s: the initial step_limit, which the contacts of bodies are tuned for
    int has_densities;  ///< materials differ in density
    float densest;      ///< kg/m3
    float full_mass;    ///< kg, of a node deep inside the densest material
    int64_t count, steps;
    int64_t capacity; ///< particles reserved
    MpmParticle *particles, *particles_before;
    SortItem *items;
    SortScratch sort;
    int32_t must_sort;
    Vec3 *pulls; ///< m/s2: accelerations by force fields, in the order of the particles: steps read them in turn
                 ///< instead of looking them up by id all over the memory
    int64_t pull_capacity;
    int must_order_pulls; ///< the particles or the accelerations have changed

    MpmBlock *blocks;
    int64_t block_count, block_capacity;
    int32_t *filled;       ///< blocks that hold particles
    int32_t *saved_blocks; ///< for checkpoints: corner and first particle of each of them
    int64_t saved_capacity;
    int64_t filled_count, filled_capacity;
    uint64_t *keys;
    int64_t key_capacity;
    MpmNode *tiles; ///< filled_count * MPM_TILE_STRIDE
    int64_t tile_capacity;
    float *rooms; ///< m3, of the particles around each node of a tile; for tiles with MpmRest.has_rooms
    int64_t room_capacity;
    MpmMotion *nodes; ///< block_count * MPM_BLOCK_NODES
    int64_t node_capacity;
    MpmSheet *sheets; ///< of static colliders, then of moving ones
    int64_t sheet_count, sheet_capacity;
    MpmWall *walls; ///< of the particles, if there are meshes; valid in split blocks
    int64_t wall_capacity;
    MpmImpulse *impulses; ///< body_count for each filled block
    int64_t impulse_capacity;
    MpmRest *rest;           ///< filled_count
    float scattered_seconds; ///< s, of the step the tiles were computed for
    int64_t rest_capacity;
    _Atomic int32_t may_have_sleepers;
    int32_t watch_turn; ///< sleeping blocks are checked when it is 0
    uint8_t *is_active; ///< of all blocks: whether its nodes are needed
    int64_t active_capacity;
    int32_t *left; ///< for each filled block: has a particle left its tile?
    int64_t left_capacity;
} Mpm;

// mpm.c
/// Updates materials and step limit for new friction and cohesion.
GrainResult mpm_choose_materials(Mpm *mpm, const SimSteering *now);

/// Room for Mpm.pulls.
GrainResult mpm_reserve_pulls(Mpm *mpm);

/// World position of a particle.
static inline Vec3 mpm_place_of(const Mpm *mpm, const MpmParticle *p)
{
    return solver_base_place(&mpm->base, p->position);
}

// mpm_blocks.c
/// Sorts the particles into blocks and links neighbouring blocks.
GrainResult mpm_sort(Mpm *mpm);
/// Restores the blocks of the last sort from saved_blocks.
GrainResult mpm_restore_blocks(Mpm *mpm, const int32_t *saved_blocks, int64_t filled_count);
void mpm_free_blocks(Mpm *mpm);
/// Finds which nodes the block's particles reach. Returns whether a particle no longer has all its nodes in the block's
/// tile; one without a finite position counts as outside.
int32_t mpm_find_reach(const Mpm *mpm, MpmBlock *block);

// mpm_change.c
/// Reserves memory for this many particles.
GrainResult mpm_reserve(Mpm *mpm, int64_t count);
/// Appends new particles of these materials.
void mpm_start_particles(Mpm *mpm, const Particles *start, const uint8_t *material, const float *moisture);
GrainResult mpm_change(void *state, const SimChange *change);
GrainResult mpm_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake);
void mpm_push(void *state, const Vec3 *acceleration, double seconds);

// mpm_grid.c
/// Sums the tiles around a block into its nodes and updates their velocities: gravity, then colliders.
void mpm_update_nodes(Mpm *mpm, int64_t block, float seconds);

// mpm_colliders.c
/// Samples static colliders at the nodes of each block.
GrainResult mpm_make_sheets(Mpm *mpm);
/// Samples moving colliders for this step.
GrainResult mpm_see_moving(Mpm *mpm);
/// Velocity of a block's nodes after the colliders.
void mpm_collide_nodes(const Mpm *mpm, const MpmBlock *block, float seconds, MpmMotion *nodes);
/// Keeps the particles of a block out of the colliders. impulses: one for each body.
void mpm_collide_particles(const Mpm *mpm, const MpmBlock *block, float seconds, MpmImpulse *impulses);

/// A collider sampled at the nodes of a block; NULL if it is far away.
const MpmSheet *mpm_sheet_of(const Mpm *mpm, const MpmBlock *block, int collider);
/// Adds momentum (kg m/s) at a place to a body; no effect on other colliders.
void mpm_give(const Mpm *mpm, int collider, MpmImpulse *impulses, Vec3d push, Vec3 place);

/// Whether a moving object may be near its particles or nodes.
int mpm_is_near_moving(const Mpm *mpm, const MpmBlock *block);

// mpm_bodies.c
/// Gives bodies the momentum they took from the nodes, for the share of the particles of a filled block. Call before
/// the particles move.
void mpm_pay_bodies(const Mpm *mpm, int64_t filled, MpmImpulse *impulses);

// mpm_walls.c
/// Finds the nodes behind thin walls, seen from the particles of a filled block; returns 0 if there are none.
int mpm_bar_particles(Mpm *mpm, int64_t filled);
/// Gives bodies the momentum that walls took from the particles of a block.
void mpm_pay_walls(const Mpm *mpm, const MpmBlock *block, MpmImpulse *impulses);

// mpm_sleep.c
struct MpmStep;
/// Wakes the particles in a block and around it.
void mpm_wake_around(Mpm *mpm, const MpmBlock *block);
float mpm_slow_speed(const Mpm *mpm, float seconds);
GrainResult mpm_grow_sleep(Mpm *mpm);
/// Finds the sleeping blocks after the particles were sorted or loaded.
void mpm_find_sleepers(Mpm *mpm);
/// At the start of a step: finds the blocks that must be computed.
void mpm_find_watchers(Mpm *mpm);
/// At the end of a step, for a filled block that was awake or watching.
void mpm_may_fall_asleep(Mpm *mpm, int64_t filled, const struct MpmStep *now);
void mpm_may_wake(Mpm *mpm, int64_t filled, const MpmMotion *tile, const struct MpmStep *now);

extern const Solver mpm_solver;
