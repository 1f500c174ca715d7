// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What all solvers share: settings, colliders and bodies, and the number of particles ever born. It is the first
/// member of every solver's state, so that a pointer to a state is also a pointer to its SolverBase.
#include "base/error.h"
#include "sim/rigid/rigid.h"
#include "sim/solver.h"

#include <stdatomic.h>

typedef struct SolverBase {
    SimDef def;     ///< gravity: the current value; colliders: NULL
    Rigid *rigid;   ///< the colliders and bodies
    int has_moving; ///< some of them move or can be moved
    int threads;    ///< in use, depending on the number of particles
    int most_threads;
    const uint8_t *is_gone;   ///< of each id, while a checkpoint is loaded; NULL: none is
    const Vec3 *acceleration; ///< m/s2, by id, of force fields, applied at the start of a step; NULL: none
    double origin[3];         ///< m: middle of the initial particles; solvers may store positions relative to it
    int64_t born;             ///< particles ever born; removed ones are not stored
} SolverBase;

/// base: zeroed. What the def points to is borrowed.
GrainResult solver_base_begin(SolverBase *base, const SimDef *def, const Particles *start, int threads);
/// Makes the colliders and bodies. Contacts between bodies are springs of this frequency (1/s); a damping of 2 is
/// critical.
GrainResult solver_base_make_rigid(SolverBase *base, double frequency, double damping, int threads);
void solver_base_free(SolverBase *base);

/// Uses one thread for every `per_thread` particles, up to most_threads.
void solver_base_set_threads(SolverBase *base, int64_t count, int64_t per_thread);
/// Sets gravity and the grips of colliders.
void solver_base_steer(SolverBase *base, const SimSteering *now, const SimGrip *grips);
/// Solver.save and Solver.load of what moves: adds its columns behind `count` of the solver's own and returns how many
/// there are then.
int solver_base_save(const SolverBase *base, Column *columns, int count);
GrainResult solver_base_load(SolverBase *base, const Column *columns, int column_count);
/// GRAIN_ERROR_DAMAGED unless these are different numbers below `end`. ids: the first; the next one is `stride` bytes
/// on.
GrainResult solver_check_ids(const int32_t *ids, size_t stride, int64_t count, int64_t end);
/// The same for ids of particles, none of which may be removed.
GrainResult solver_base_check_ids(const SolverBase *base, const int32_t *ids, size_t stride, int64_t count);
/// GRAIN_ERROR_DAMAGED unless there is a material of this number.
GrainResult solver_base_check_material(const SolverBase *base, int32_t material);
/// GRAIN_ERROR_DAMAGED: a checkpoint has other particles than the job.
GrainResult solver_fail_particles(void);

/// GRAIN_ERROR_MEMORY for more particles than 32-bit indices can count.
GrainResult solver_check_count(int64_t particles);
/// The initial properties of material 0, 1, ... of a simulation.
SimMaterial solver_material(const SimDef *def, int kind);

/// The smallest id among particles without a finite position, shared by the threads of a read-out.
typedef _Atomic int32_t SolverLost;
#define SOLVER_LOST_NONE INT32_MAX
static inline void solver_note_lost(SolverLost *lost, Vec3 place, int32_t id)
{
    if (vec3_is_finite(place)) return;
    int32_t least = atomic_load(lost);
    while (id < least && !atomic_compare_exchange_weak(lost, &least, id)) {}
}
/// GRAIN_ERROR_DIVERGED if there is one.
GrainResult solver_check_lost(const SolverLost *lost, const char *remedy);

/// Adds the kinetic and potential energy of a particle to the statistics.
static inline void solver_base_add_energy(const SolverBase *base, double mass, Vec3d velocity, Vec3d place,
                                          SimStats *stats)
{
    stats->kinetic += 0.5 * mass * vec3d_dot(velocity, velocity);
    stats->potential -= mass * vec3d_dot(vec3d_from(base->def.gravity), place);
}

/// World position of a place relative to the origin.
static inline Vec3 solver_base_place(const SolverBase *base, const float place[3])
{
    return vec3((float)((double)place[0] + base->origin[0]), (float)((double)place[1] + base->origin[1]),
                (float)((double)place[2] + base->origin[2]));
}
