// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What every solver has: its settings, the solid things of the scene, and how many particles were ever born. It is the
/// first member of a solver's state, so that a state is also a SolverBase.
#include "base/error.h"
#include "sim/rigid/rigid.h"
#include "sim/solver.h"

#include <stdatomic.h>

typedef struct SolverBase {
    SimDef def;             ///< gravity as it is now; colliders: the own copy
    SimCollider *colliders; ///< own copy
    Rigid *rigid;           ///< the same, as what can move
    int has_moving;         ///< some of them are moved or may be
    int threads;            ///< as many as the particles are worth
    int most_threads;
    const Vec3 *acceleration; ///< m/s2, by id, of force fields, which a step begins with; NULL: there are none
    double origin[3];         ///< m: between the particles at the start, where places may be counted from
    int64_t born;             ///< particles that there ever were; those that are gone are not stored
} SolverBase;

/// Of a zeroed base. What the def points to but colliders stays the caller's.
GrainResult solver_base_begin(SolverBase *base, const SimDef *def, const Particles *start, int threads);
/// Makes what is solid. Bodies touch each other as springs of this frequency (1/s), critically damped at damping 2.
GrainResult solver_base_make_rigid(SolverBase *base, double frequency, double damping, int threads);
void solver_base_free(SolverBase *base);

/// A thread is worth its while for this many particles.
void solver_base_set_threads(SolverBase *base, int64_t count, int64_t per_thread);
/// Gravity and grips as they are from now on.
void solver_base_steer(SolverBase *base, const SimSteering *now, const SimGrip *grips);
/// What an id of a checkpoint must be: GRAIN_ERROR_DAMAGED where nobody has it.
GrainResult solver_base_check_id(const SolverBase *base, int32_t id);

/// GRAIN_ERROR_MEMORY for more particles than indices can name.
GrainResult solver_check_count(int64_t particles);
/// Kind 0, 1, ... of a simulation's materials, as at the start.
SimMaterial solver_material(const SimDef *def, int kind);

/// The smallest id among particles whose position is no number, found by all threads of a read-out.
typedef _Atomic int32_t SolverLost;
#define SOLVER_LOST_NOBODY INT32_MAX
static inline void solver_note_lost(SolverLost *lost, Vec3 place, int32_t id)
{
    if (vec3_is_finite(place)) return;
    int32_t least = atomic_load(lost);
    while (id < least && !atomic_compare_exchange_weak(lost, &least, id)) {}
}
/// GRAIN_ERROR_DIVERGED where there is one.
GrainResult solver_check_lost(const SolverLost *lost, const char *remedy);

/// A place that counts from the origin, in the world.
static inline Vec3 solver_base_place(const SolverBase *base, const float place[3])
{
    return vec3((float)((double)place[0] + base->origin[0]), (float)((double)place[1] + base->origin[1]),
                (float)((double)place[2] + base->origin[2]));
}
