// SPDX-License-Identifier: GPL-3.0-or-later
// The particles that a simulation starts with.
#include "base/alloc.h"
#include "base/error.h"
#include "fill/fill.h"
#include "simulate/simulate.h"

// The particles added last are of this kind.
static GrainResult note_material(Simulation *simulation, int material)
{
    if (simulation->job->dem.material_count == 0) return GRAIN_OK;
    TRY(alloc_grow((void **)&simulation->particle_material, &simulation->material_capacity, simulation->particles.count,
                   1));
    for (; simulation->material_noted < simulation->particles.count; simulation->material_noted++)
        simulation->particle_material[simulation->material_noted] = (uint8_t)material;
    return GRAIN_OK;
}

// As wet as the source is painted where they are.
static GrainResult note_moisture(Simulation *simulation, int object)
{
    const JobObject *source = &simulation->job->objects[object];
    int64_t first = simulation->moisture_noted, count = simulation->particles.count - first;
    if (!job_is_wet(simulation->job)) return GRAIN_OK;
    TRY(alloc_grow((void **)&simulation->particle_moisture, &simulation->moisture_capacity, simulation->particles.count,
                   sizeof(float)));
    float *moisture = simulation->particle_moisture + first;
    TRY(birth_moisten(&simulation->birth, object, simulation->particles.position + first, count, moisture));
    for (int64_t i = 0; i < count; i++) moisture[i] *= source->moisture;
    simulation->moisture_noted += count;
    return GRAIN_OK;
}

// The particles added last are this source's.
static GrainResult note_birth(Simulation *simulation, int object)
{
    int64_t first = simulation->birth.count;
    const Vec3 *places = simulation->particles.position + first;
    TRY(birth_add(&simulation->birth, object, places, places, simulation->particles.count - first));
    TRY(note_material(simulation, simulation->job->objects[object].material));
    return note_moisture(simulation, object);
}

// Those that settle, or those that do not.
static GrainResult fill_some(Simulation *simulation, int settles, const GrainSdf **avoid, int *avoid_count)
{
    const Job *job = simulation->job;
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        if (object->role != JOB_SOURCE || settles != (object->settle > 0.0f)) continue;
        FillDef fill = {simulation->sdf[i],
                        avoid,
                        *avoid_count,
                        job->particle_radius,
                        job->size_spread,
                        object->velocity,
                        job->seed + (uint64_t)i,
                        solver_find(job->solver)->traits.fill_shake};
        GrainResult result = fill_volume(&simulation->particles, &fill, &simulation->run);
        if (result != GRAIN_OK && result != GRAIN_CANCELLED) result = fail_within(result, "object '%s'", object->name);
        TRY(result);
        TRY(note_birth(simulation, i));
        avoid[(*avoid_count)++] = simulation->sdf[i];
    }
    return GRAIN_OK;
}

GrainResult simulate_fill(Simulation *simulation)
{
    const Job *job = simulation->job;
    const GrainSdf **avoid = ALLOC(const GrainSdf *, job->object_count);
    if (!avoid) return GRAIN_ERROR_MEMORY;
    int avoid_count = 0;
    for (int i = 0; i < job->object_count; i++)
        if ((job->objects[i].role == JOB_COLLIDER || job->objects[i].role == JOB_BODY) && simulation->sdf[i])
            avoid[avoid_count++] = simulation->sdf[i];
    GrainResult result = fill_some(simulation, 1, avoid, &avoid_count);
    simulation->settle_count = simulation->particles.count;
    if (result == GRAIN_OK) result = fill_some(simulation, 0, avoid, &avoid_count);
    alloc_free(avoid);
    return result;
}
