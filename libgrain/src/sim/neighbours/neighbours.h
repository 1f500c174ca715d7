// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Particles sorted by cell, eight consecutive ones in a block, a lane each. Shared by solvers with neighbours: the
/// columns of the particles, sorting, and which colliders a block is near to and touches in every step. The neighbours
/// themselves are listed by neighbours_rows.h (eight interleaved lists) or by the solver.
#include "base/cell_grid.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "sim/rigid/rigid_view.h"
#include "sim/solver_base.h"

#define BLOCK_LANES 8
/// Walls a particle can meet at once.
#define BLOCK_WALLS 3
#define BLOCK_CONTACTS (BLOCK_LANES * BLOCK_WALLS)
/// Coordinate (m) of unused lanes, out of reach of all particles.
#define BLOCK_NOWHERE 1e6f
/// Blocks handed to a thread at once.
#define BLOCK_RUN 32

/// A particle near a wall.
typedef struct BlockContact {
    int32_t lane, object;
    float distance;       ///< m, of the centre
    Vec3 normal, speed;   ///< of the wall
    float friction, pull; ///< of the wall: tangent; m/s2, by which it is sticky
    // The solver's to set:
    Vec3 push;       ///< N, on the particle: what a body gives
    float slope;     ///< 1/m, minus the derivative of the part of the neighbourhood behind the wall
    float approach;  ///< m/s, along the normal, before the step; below 0 they come closer
    float off, slid; ///< m/s that the wall has given along its normal, and taken along itself, in this step
    float kept;      ///< N s towards the wall that it kept from the particle
    int32_t holds;   ///< the particle does not leave it or pass it in this step
} BlockContact;

typedef struct Block {
    int64_t list, list_end; ///< its part of the lists
    int64_t near, near_end; ///< objects that stand near it
    int32_t contact_count;
    int32_t meets_body;
    float middle[3], reach; ///< a ball around its particles when the lists were made
    float moved, fastest;   ///< m2 since then, m2/s2: largest over its particles
} Block;                    // one cache line
_Static_assert(sizeof((Block){0}.near) == 8, "blocks times objects are more than 32 bits can count");

typedef struct Neighbours {
    SolverBase *base; ///< borrowed
    int field_count;  ///< the caller's to set, as are `field`, `cell`, `skin` and `wall_reach`
    float **field;    ///< columns of the particles: x, y, z from the origin (m), u, v, w (m/s), then the solver's own
    float cell;       ///< m: edge of a cell, as far as lists look
    float skin;       ///< m: how much farther that is than anything reaches
    float wall_reach; ///< m, from a centre to a wall
    float *fields;    ///< what the columns point into
    int64_t count, room, block_count; ///< particles; in whole blocks; blocks
    float *listed[3];                 ///< where they were when the lists were made
    int32_t *id;                      ///< number in the order of birth
    float *before;                    ///< room, for sorting
    int32_t *id_before;
    CellGrid grid;
    Block *block;
    BlockContact *contact; ///< BLOCK_CONTACTS of each block
    int32_t *near;
    int64_t near_capacity;
} Neighbours;

/// Sets the number of particles, and of threads with it. Existing particles keep their columns, those of new ones are
/// 0; lists must be made again. Start with a zeroed Neighbours.
GrainResult neighbours_resize(Neighbours *n, int64_t count);
void neighbours_free(Neighbours *n);
/// Removes the particles whose id is marked and closes the gaps.
void neighbours_remove(Neighbours *n, const uint8_t *gone);

/// Sets position, velocity and id of the next particle to be born, in row i.
void neighbours_start(Neighbours *n, int64_t i, Vec3 place, Vec3 velocity);
/// Solver.read; moisture: may be NULL. remedy: advice for the error about positions that are not finite.
GrainResult neighbours_read(const Neighbours *n, const float *radius, const float *moisture, const char *remedy,
                            Particles *out);
/// The rules of the columns of neighbours_save. The last arguments are the parts of a row of fields.
#define NEIGHBOURS_RULES(solver, field_count, ...)                                                                     \
    {solver ".fields", GRAIN_F32, field_count, COLUMN_ANY_LENGTH, {__VA_ARGS__}, solver ".id"},                        \
        {solver ".listed_x", GRAIN_F32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_PLACE}}, solver ".id"},                      \
        {solver ".listed_y", GRAIN_F32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_PLACE}}, solver ".id"},                      \
        {solver ".listed_z", GRAIN_F32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_PLACE}}, solver ".id"},                      \
    {                                                                                                                  \
        solver ".id", GRAIN_I32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_INDEX}}, NULL                                       \
    }
#define NEIGHBOURS_COLUMNS 5
/// Solver.save: fields, positions when the lists were made, and ids, named as in these rules.
void neighbours_save(const Neighbours *n, const ColumnRule rules[NEIGHBOURS_COLUMNS],
                     Column columns[NEIGHBOURS_COLUMNS]);
/// Solver.load: the solver's own columns, which point to where they go, then what moves.
GrainResult neighbours_load(Neighbours *n, const Column *own, int own_count, const Column *columns, int column_count);
/// Solver.push for particles that are awake: `still` (may be NULL) is not INFINITY.
void neighbours_push(Neighbours *n, const float *still, const Vec3 *acceleration, double seconds);

/// Sorts the particles by cell and notes their positions, from which lists are made.
GrainResult neighbours_sort(Neighbours *n);
/// The cells of the positions at the last sort, from which lists are made.
GrainResult neighbours_find_cells(Neighbours *n);
/// After the lists: bounding balls of the blocks, and the objects near each block.
GrainResult neighbours_find_objects(Neighbours *n);
/// Whether a particle has moved so far that the lists must be made again; *fastest in m/s. Checks `count` active
/// blocks, or all if active is NULL.
int neighbours_have_left(const Neighbours *n, const int32_t *active, int64_t count, float *fastest);

typedef void NeighboursPass(void *state, int64_t first, int64_t last);
/// Calls the pass for [0, count), in parallel and in pieces.
void neighbours_run(const Neighbours *n, int64_t count, NeighboursPass *pass, void *state);
/// Sets unused lanes of these columns to 0.
void neighbours_hold_padding(const Neighbours *n, float *const column[3]);

/// Finds the walls near a block's particles: its contacts, except for the fields that the solver sets.
void neighbours_meet_walls(const Neighbours *n, int64_t block);
/// Whether an object may come near a block's particles before the lists are made again.
int neighbours_may_meet(const Neighbours *n, const Block *block, int object);
/// Applies the reactions of contacts to bodies, one after another, so that the bits do not depend on the order of
/// threads.
void neighbours_load_bodies(const Neighbours *n);

static inline Vec3d neighbours_place_of(const Neighbours *n, int64_t i)
{
    const double *origin = n->base->origin;
    return vec3d((double)n->field[0][i] + origin[0], (double)n->field[1][i] + origin[1],
                 (double)n->field[2][i] + origin[2]);
}
static inline BlockContact *neighbours_contacts_of(const Neighbours *n, int64_t block)
{
    return n->contact + block * BLOCK_CONTACTS;
}
/// Number of particles in a block.
static inline int neighbours_lanes_of(const Neighbours *n, int64_t block)
{
    int64_t left = n->count - block * BLOCK_LANES;
    return left < BLOCK_LANES ? (int)left : BLOCK_LANES;
}
/// The cell of the particle in this row.
static inline int64_t neighbours_cell_of(const CellGrid *grid, int64_t row)
{
    int64_t low = 0, high = grid->cell_count;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (grid->cell_start[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}
