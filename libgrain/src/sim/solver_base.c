// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/solver_base.h"
#include "base/alloc.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

static void choose_origin(SolverBase *base, const SimDef *def, const Particles *start)
{
    Vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    if (start->count == 0) low = high = def->birthplace;
    for (int64_t i = 0; i < start->count; i++)
        low = vec3_min(low, start->position[i]), high = vec3_max(high, start->position[i]);
    base->origin[0] = 0.5 * ((double)low.x + (double)high.x);
    base->origin[1] = 0.5 * ((double)low.y + (double)high.y);
    base->origin[2] = 0.5 * ((double)low.z + (double)high.z);
}

GrainResult solver_base_begin(SolverBase *base, const SimDef *def, const Particles *start, int threads)
{
    base->def = *def;
    base->most_threads = threads;
    base->threads = 1;
    for (int i = 0; i < def->collider_count; i++)
        base->has_moving |= def->colliders[i].motion.kind != MOTION_STILL || def->colliders[i].body;
    choose_origin(base, def, start);
    if (def->more_material_count < SIM_MAX_MATERIALS) return GRAIN_OK;
    return fail(GRAIN_ERROR_ARGUMENT, "%d materials; a simulation has at most %d", def->more_material_count + 1,
                SIM_MAX_MATERIALS);
}

GrainResult solver_base_make_rigid(SolverBase *base, double frequency, double damping, int threads)
{
    RigidDef rigid = {.colliders = base->def.colliders,
                      .collider_count = base->def.collider_count,
                      .gravity = base->def.gravity,
                      .stiffness = frequency * frequency,
                      .damping = damping * frequency,
                      .point_reach = base->def.largest_radius,
                      .threads = threads};
    base->def.colliders = NULL; // they are RigidObject.given from now on
    return rigid_create(&rigid, &base->rigid);
}

void solver_base_free(SolverBase *base) { rigid_destroy(base->rigid); }

void solver_base_set_threads(SolverBase *base, int64_t count, int64_t per_thread)
{
    int64_t useful = 1 + count / per_thread;
    base->threads = useful < base->most_threads ? (int)useful : base->most_threads;
}

void solver_base_steer(SolverBase *base, const SimSteering *now, const SimGrip *grips)
{
    base->def.gravity = base->rigid->def.gravity = now->gravity;
    if (grips) rigid_steer(base->rigid, grips);
}

int solver_base_save(const SolverBase *base, Column *columns, int count)
{
    return base->has_moving ? count + rigid_save(base->rigid, columns + count) : count;
}

GrainResult solver_base_load(SolverBase *base, const Column *columns, int column_count)
{
    return base->has_moving ? rigid_load(base->rigid, columns, column_count) : GRAIN_OK;
}

static int32_t id_at(const int32_t *ids, size_t stride, int64_t i)
{
    int32_t id;
    memcpy(&id, (const char *)ids + (size_t)i * stride, sizeof id);
    return id;
}

GrainResult solver_check_ids(const int32_t *ids, size_t stride, int64_t count, int64_t end)
{
    uint64_t *seen = ALLOC_ZEROED(uint64_t, end / 64 + 1);
    if (!seen) return GRAIN_ERROR_MEMORY;
    int is_wrong = 0;
    for (int64_t i = 0; i < count && !is_wrong; i++) {
        int32_t id = id_at(ids, stride, i);
        is_wrong = id < 0 || id >= end || (seen[id / 64] >> id % 64 & 1);
        if (!is_wrong) seen[id / 64] |= UINT64_C(1) << id % 64;
    }
    alloc_free(seen);
    return is_wrong ? solver_fail_particles() : GRAIN_OK;
}

GrainResult solver_base_check_ids(const SolverBase *base, const int32_t *ids, size_t stride, int64_t count)
{
    TRY(solver_check_ids(ids, stride, count, base->born));
    for (int64_t i = 0; base->is_gone && i < count; i++)
        if (base->is_gone[id_at(ids, stride, i)]) return solver_fail_particles();
    return GRAIN_OK;
}

GrainResult solver_base_check_material(const SolverBase *base, int32_t material)
{
    int count = base->def.more_material_count + 1;
    if (material >= 0 && material < count) return GRAIN_OK;
    return fail(GRAIN_ERROR_DAMAGED, "the checkpoint has a particle of material %d, the job has %d materials", material,
                count);
}

GrainResult solver_fail_particles(void)
{
    return fail(GRAIN_ERROR_DAMAGED, "the checkpoint's particles do not match this job");
}

GrainResult solver_check_lost(const SolverLost *lost, const char *remedy)
{
    if (*lost == SOLVER_LOST_NONE) return GRAIN_OK;
    return fail(GRAIN_ERROR_DIVERGED, "the simulation diverged: the position of particle %d is not a number; %s",
                (int)*lost, remedy);
}

GrainResult solver_check_count(int64_t particles)
{
    if (particles <= INT32_MAX / 4) return GRAIN_OK;
    return fail(GRAIN_ERROR_MEMORY, "%lld particles are more than one simulation can hold; use larger ones",
                (long long)particles);
}

SimMaterial solver_material(const SimDef *def, int kind)
{
    if (kind > 0) return def->more_materials[kind - 1];
    return (SimMaterial){.density = def->density,
                         .friction = def->friction,
                         .rolling_friction = def->rolling_friction,
                         .restitution = def->restitution,
                         .cohesion = def->cohesion,
                         .young_modulus = def->young_modulus,
                         .poisson_ratio = def->poisson_ratio};
}
