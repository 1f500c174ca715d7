// SPDX-License-Identifier: GPL-3.0-or-later
// What a simulation decides by itself: whether it fits into memory, how fast things may become, when sand is at rest.
#include "base/error.h"
#include "base/real.h"
#include "base/system.h"
#include "fill/fill.h"
#include "sim/rigid/rigid.h"
#include "simulate/simulate.h"

#include <math.h>

// s; a floor far below must not make the steps of the whole simulation tiny.
#define LONGEST_FALL 2.0f

// --- memory ---------------------------------------------------------------------------------------

// Refuses what cannot fit before anything large is made. The volume of an open mesh means little, so the box around it
// is the limit.
GrainResult simulate_check_memory(const Job *job, int balls)
{
    double particles = 0.0, each = (double)solver_find(job->solver)->traits.memory * balls,
           memory = (double)system_memory_available();
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        if (!job_is_source(object)) continue;
        int is_emitter = object->role == JOB_EMITTER;
        particles +=
            is_emitter ? emission_most(job, i) : fill_estimate(&object->mesh, job->particle_radius, job->size_spread);
        if (particles * each < memory && particles * balls < INT32_MAX / 4) continue;
        return fail(GRAIN_ERROR_MEMORY,
                    "object '%s' would %s up to %.0f million particles, about %.0f GB of memory where %.0f are free; "
                    "use a larger particle radius%s",
                    object->name, is_emitter ? "emit" : "hold", particles / 1e6, particles * each / 1e9, memory / 1e9,
                    is_emitter ? " or a lower rate" : "");
    }
    return GRAIN_OK;
}

// --- speed ----------------------------------------------------------------------------------------

// Where and how fast emitters throw.
static void expect_emitters(const Simulation *simulation, Vec3 up, float *highest, float *fastest)
{
    for (int e = 0; e < simulation->emission.emitter_count; e++) {
        const EmitterDef *def = &simulation->emission.emitters[e].def;
        *fastest = real_maxf(*fastest, emitter_fastest(def));
        float lift = 0.0f;
        const Motion *motion = &def->motion;
        for (int64_t k = 1; motion->kind == MOTION_POSES && k < motion->sample_count; k++) {
            const float *first = motion->samples, *pose = first + MOTION_POSE_FLOATS * k;
            lift = real_maxf(lift, vec3_dot(vec3(pose[0] - first[0], pose[1] - first[1], pose[2] - first[2]), up));
        }
        for (int64_t v = 0; v < def->mesh->vertex_count; v++)
            *highest = real_maxf(*highest, lift + vec3_dot(((const Vec3 *)def->mesh->positions)[v], up));
        for (int64_t v = 0; motion->kind == MOTION_SHAPES && v < motion->sample_count * motion->vertex_count; v++)
            *highest = real_maxf(*highest, vec3_dot(motion_shape(motion, 0)[v], up));
    }
}

float simulate_expected_speed(const Simulation *simulation)
{
    float lowest = INFINITY, highest = -INFINITY, fastest = 0.0f;
    float strength = curve_largest(&simulation->job->gravity);
    Vec3 up = vec3_normalize(vec3_scale(curve_constant(&simulation->job->gravity), -1.0f), vec3(0, 0, 1));
    for (int64_t i = 0; i < simulation->particles.count; i++) {
        float height = vec3_dot(simulation->particles.position[i], up);
        lowest = real_minf(lowest, height), highest = real_maxf(highest, height);
        fastest = real_maxf(fastest, vec3_length(simulation->particles.velocity[i]));
    }
    for (int i = 0; i < simulation->job->object_count; i++) {
        const JobObject *object = &simulation->job->objects[i];
        if (object->role == JOB_BODY) fastest = real_maxf(fastest, vec3_length(object->body.velocity));
        if (object->role != JOB_COLLIDER && object->role != JOB_BODY) continue;
        if (object->is_plane) lowest = real_minf(lowest, vec3_dot(object->plane_point, up));
        for (int64_t v = 0; v < object->mesh.vertex_count; v++) {
            const float *p = object->mesh.positions + 3 * v;
            float height = vec3_dot(vec3(p[0], p[1], p[2]), up);
            lowest = real_minf(lowest, height);
            if (object->role == JOB_BODY) highest = real_maxf(highest, height);
        }
    }
    expect_emitters(simulation, up, &highest, &fastest);
    if (simulation->emission.emitter_count > 0 && !(lowest < INFINITY))
        lowest = highest; // nothing to hit but each other
    // What a prop throws flies as fast as the prop.
    for (int i = 0; i < simulation->solids.collider_count; i++)
        fastest = real_maxf(fastest, (float)motion_fastest(&simulation->solids.colliders[i].motion,
                                                           simulation->solids.colliders[i].mesh));
    fastest += fields_fastest(simulation->job->fields, simulation->job->field_count);
    float fall = sqrtf(2.0f * strength * real_maxf(highest - lowest, simulation->job->particle_radius));
    return fastest + real_minf(fall, strength * LONGEST_FALL);
}

// --- settling -------------------------------------------------------------------------------------

GrainResult simulate_settle(Simulation *simulation, SimWatchFn *watch, void *user, double *longest, double *moving)
{
    const Job *job = simulation->job;
    int64_t first = simulation->settle_count;
    *longest = *moving = 0.0;
    for (int i = 0; i < job->object_count; i++) *longest = real_max(*longest, (double)job->objects[i].settle);
    if (first == 0) return GRAIN_OK;
    TRY(emission_begin_steering(&simulation->emission));
    TRY(sim_settle(&simulation->sim, *longest, job->particle_radius, &(SimWatch){watch, NULL, user}, moving));
    Particles others = {.count = simulation->particles.count - first,
                        .position = simulation->particles.position + first,
                        .velocity = simulation->particles.velocity + first,
                        .radius = simulation->particles.radius + first,
                        .moisture = simulation->particle_moisture ? simulation->particle_moisture + first : NULL};
    SimChange change = {.born = &others,
                        .material = simulation->particle_material ? simulation->particle_material + first : NULL};
    return sim_change(&simulation->sim, &change, NULL); // with no others, lists still learn that props move again
}
