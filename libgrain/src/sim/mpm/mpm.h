// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Sand, snow and mud as a continuum: the material point method (MLS-MPM with APIC transfers: Hu et al. 2018, Jiang et
/// al. 2015; sand after Klar et al. 2016; snow after Stomakhin et al. 2013).
///
///     particles --scatter--> nodes --(gravity, colliders)--> nodes --gather--> particles, new stress
///
/// The grid is as large as the material. Its nodes stand in blocks of 4 x 4 x 4. Particles are sorted by the block
/// their first node lies in, and scatter into a board of 8 x 8 x 8 nodes that their block alone writes:
///
///     board    0   1   2   3   4   5   6   7      a particle reaches three nodes along each axis; one that has moved
///     node    -1 | 0   1   2   3 | 4   5   6      by up to a cell out of its block still finds them all here, so
///                  '- the block -'                sorting can wait until the first has moved farther
///
/// A node's sum is then taken over the boards around its block, in a fixed order: no two threads write to one place,
/// and the bits do not depend on how many there are.
#include "base/simd.h"
#include "base/sort.h"
#include "sim/mpm/mpm_grid.h"
#include "sim/mpm/mpm_law.h"
#include "sim/solver_base.h"

/// Lengths count from Mpm.origin. In fours, as vectors hold them.
typedef struct MpmParticle {
    float position[3]; ///< m
    float volume;      ///< m3, at rest
    float velocity[3]; ///< m/s
    float mass;        ///< kg: as much of it as goes with the nodes, which is all but where loose sand flies alone
    struct {
        float gradient[3]; ///< a column of the velocity gradient, 1/s
        float stress;      ///< Kirchhoff stress, Pa: xx, yy, zz; as small a part as that of the mass
    } column[3];
    float shear_stress[3]; ///< xy, xz, yz
    float plastic;         ///< what the law remembers (mpm_law.h)
    float stretch[6];      ///< left Cauchy-Green tensor of the elastic part: xx, yy, zz, xy, xz, yz
    float radius;          ///< m, how near its centre comes to a collider
    int32_t material;
    int32_t id;   ///< place in the order of birth
    float still;  ///< s: so long it has hardly moved; INFINITY: it sleeps
    float pulled; ///< m/s: speed that the step gave it, before colliders held it
    float moisture;
} MpmParticle;
#define MPM_PARTICLE_FLOATS ((int)(sizeof(MpmParticle) / sizeof(float)))

typedef struct Mpm {
    SolverBase base;
    int has_meshes; ///< among the colliders
    MpmMaterials materials;
    float sound;           ///< m/s
    float weight;          ///< m/s2: what cohesion counts in, gravity at the start
    float particle_volume; ///< m3
    float cell, inverse_cell;
    float touch; ///< m: nodes as near as this to a collider are held by it, as the particles around them are; farther
                 ///< ones where sand lies still (mpm_colliders.c)
    float step_limit;   ///< s
    float longest_step; ///< s: step_limit at the start, which bodies were made for
    int has_densities;  ///< not all materials are as dense as each other
    float densest;      ///< kg/m3
    float full_mass;    ///< kg, on a node deep inside, of the densest
    int64_t count, steps;
    int64_t capacity; ///< particles that there is room for
    MpmParticle *particles, *particles_before;
    SortItem *items;
    SortScratch sort;
    int32_t must_sort;

    MpmBlock *blocks;
    int64_t block_count, block_capacity;
    int32_t *filled;       ///< blocks that hold particles
    int32_t *saved_blocks; ///< for checkpoints: corner and first particle of each of them
    int64_t saved_capacity;
    int64_t filled_count, filled_capacity;
    uint64_t *keys;
    int64_t key_capacity;
    MpmNode *boards; ///< filled_count * MPM_BOARD_STRIDE
    int64_t board_capacity;
    float *rooms; ///< m3, of the particles around each node of a board; of those boards that have rooms
    int64_t room_capacity;
    MpmMotion *nodes; ///< block_count * MPM_BLOCK_NODES
    int64_t node_capacity;
    MpmSheet *sheets; ///< of what stands, then of what moves
    int64_t sheet_count, sheet_capacity;
    MpmWall *walls; ///< of the particles, where there are meshes; valid in blocks that are split
    int64_t wall_capacity;
    MpmImpulse *impulses; ///< body_count for each filled block
    int64_t impulse_capacity;
    MpmRest *rest;           ///< filled_count
    float scattered_seconds; ///< of the step that the boards were made for
    int64_t rest_capacity;
    int32_t watch_turn; ///< sleepers watch when it is 0
    uint8_t *is_active; ///< of all blocks: somebody needs its nodes
    int64_t active_capacity;
    int32_t *left; ///< for each filled block: has a particle left its board?
    int64_t left_capacity;
} Mpm;

// mpm.c
/// Materials and the step as friction and cohesion ask for.
GrainResult mpm_choose_materials(Mpm *mpm, const SimSteering *now);

/// Of a particle, in the world.
static inline Vec3 mpm_place_of(const Mpm *mpm, const MpmParticle *p)
{
    return solver_base_place(&mpm->base, p->position);
}

// mpm_blocks.c
/// Sorts the particles into blocks and finds who is around whom.
GrainResult mpm_sort(Mpm *mpm);
/// The blocks as they were when the particles were sorted last, from what was saved of them.
GrainResult mpm_restore_blocks(Mpm *mpm, const int32_t *saved_blocks, int64_t filled_count);
void mpm_free_blocks(Mpm *mpm);
/// Which nodes the block's particles reach. Returns whether one of them no longer has all its nodes on the block's
/// board; one that is nowhere has left.
int32_t mpm_find_reach(const Mpm *mpm, MpmBlock *block);

// mpm_change.c
/// Room for this many particles.
GrainResult mpm_reserve(Mpm *mpm, int64_t count);
/// How particles of these kinds start: `count` of them, born from now on.
void mpm_start_particles(Mpm *mpm, const Particles *start, const uint8_t *material, const float *moisture);
GrainResult mpm_change(void *state, const SimChange *change);
GrainResult mpm_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake);
void mpm_push(void *state, const Vec3 *acceleration, double seconds);
/// The same for particles [first, last) with the acceleration of force fields.
void mpm_pull(Mpm *mpm, int64_t first, int64_t last, double seconds);

// mpm_grid.c
/// Sums the boards of all around a block into its nodes and moves them: gravity, then colliders.
void mpm_update_nodes(Mpm *mpm, int64_t block, float seconds);

// mpm_colliders.c
/// What stands still, as the nodes of each block see it.
GrainResult mpm_make_sheets(Mpm *mpm);
/// What moves, in this step.
GrainResult mpm_see_moving(Mpm *mpm);
/// Velocity of a block's nodes after the colliders.
void mpm_collide_nodes(const Mpm *mpm, const MpmBlock *block, float seconds, MpmMotion *nodes);
/// Keeps the particles of a block out of the colliders. impulses: one for each body.
void mpm_collide_particles(const Mpm *mpm, const MpmBlock *block, float seconds, MpmImpulse *impulses);

/// A collider as the nodes of a block see it; NULL when it is far from them.
const MpmSheet *mpm_sheet_of(const Mpm *mpm, const MpmBlock *block, int collider);
/// Momentum (kg m/s) for a body, at a place; others do not mind.
void mpm_give(const Mpm *mpm, int collider, MpmImpulse *impulses, Vec3d push, Vec3 place);

/// Whether something that moves may be near its particles or nodes.
int mpm_is_near_moving(const Mpm *mpm, const MpmBlock *block);

// mpm_bodies.c
/// What bodies have taken from the nodes, as far as the particles of a filled block go with the nodes: theirs. Before
/// the particles move.
void mpm_pay_bodies(const Mpm *mpm, int64_t filled, MpmImpulse *impulses);

// mpm_walls.c
/// Finds which nodes lie behind thin walls for the particles of a filled block; 0 when none does.
int mpm_bar_particles(Mpm *mpm, int64_t filled);
/// What the walls have taken from the particles of a block, to the bodies among them.
void mpm_pay_walls(const Mpm *mpm, const MpmBlock *block, MpmImpulse *impulses);

// mpm_sleep.c
struct MpmStep;
/// Particles in a block and those around it.
void mpm_wake_around(Mpm *mpm, const MpmBlock *block);
float mpm_slow_speed(const Mpm *mpm, float seconds);
GrainResult mpm_grow_sleep(Mpm *mpm);
/// After the particles were sorted or loaded.
void mpm_find_sleepers(Mpm *mpm);
/// At the start of a step: who must be computed.
void mpm_find_watchers(Mpm *mpm);
/// At its end, for one filled block that was awake, or watching.
void mpm_may_fall_asleep(Mpm *mpm, int64_t filled, const struct MpmStep *now);
void mpm_may_wake(Mpm *mpm, int64_t filled, const MpmMotion *board, const struct MpmStep *now);

extern const Solver mpm_solver;
