// SPDX-License-Identifier: GPL-3.0-or-later
#include "simulate/emission.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "mesh/mesh.h"
#include "sim/rigid/rigid.h"
#include "sim/rigid/rigid_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Attempts to place a particle before it is skipped.
#define ATTEMPTS 24
// Particles come and go so often in a frame that nothing is thrown farther than its own diameter meanwhile, within
// these limits.
#define LEAST_FLOWS 4
#define MOST_FLOWS 64
// Force fields and animated settings act anew at least so often in a frame.
#define STEERED_SLOTS 8
// Particles lower than the scene by this many of its diagonals, or farther off in any direction by five times that, are
// lost.
#define LOST_BELOW 20.0f
#define LOST_BESIDE 100.0f
#define LITRE 1e-3
// Refused particles are not worth a warning below this fraction; nor is a second one, unless the first was this far
// off.
#define REFUSED_LEAST 0.01
#define REFUSED_MORE 0.1
// s of emission, until a warning need not wait for the end.
#define WARN_AFTER 1.0

/// A particle that is due.
typedef struct FlowBirth {
    double time;
    int64_t number;
    int32_t emitter;
} FlowBirth;

// --- emitters and zones ---------------------------------------------------------------------------

EmitterDef emission_emitter(const Job *job, int number, const GrainSdf *inside)
{
    const JobObject *object = &job->objects[number];
    const JobEmitter *emitter = &object->emitter;
    double room = solver_room(solver_find(job->solver), (double)job->particle_radius, (double)job->size_spread);
    return (EmitterDef){.mesh = &object->mesh,
                        .inside = emitter->from_surface ? NULL : inside,
                        .motion = object->motion,
                        .rate = emitter->rate,
                        .rate_scale = emitter->in_litres ? LITRE / room : 1.0,
                        .active = emitter->active,
                        .velocity = emitter->velocity,
                        .normal_speed = emitter->normal_speed,
                        .jitter = emitter->jitter,
                        .inherit = emitter->inherit,
                        .radius = job->particle_radius,
                        .size_spread = job->size_spread,
                        .frame_seconds = 1.0 / job->fps,
                        .seed = job->seed + (uint64_t)number};
}

double emission_most(const Job *job, int object)
{
    double end = (job->frame_end - job->frame_start) / job->fps, most = 0.0;
    for (int i = 0; i < job->object_count; i++) {
        if (job->objects[i].role != JOB_EMITTER || (object >= 0 && object != i)) continue;
        EmitterDef def = emission_emitter(job, i, NULL);
        most += emitter_due(&def, end);
    }
    return most;
}

// Extends the bounds by the object over its motion.
static void enclose(Emission *emission, const JobObject *object)
{
    if (object->is_plane || object->role == JOB_GRAIN) return;
    Vec3 low, high;
    mesh_bounds(&object->mesh, 1, &low, &high);
    emission->low = vec3_min(emission->low, low), emission->high = vec3_max(emission->high, high);
    Vec3 half = vec3_scale(vec3_sub(high, low), 0.5f);
    float reach = vec3_length(half);
    const Motion *motion = &object->motion;
    for (int64_t k = 0; motion->kind == MOTION_POSES && k < motion->sample_count; k++) {
        const float *pose = motion->samples + MOTION_POSE_FLOATS * k;
        Vec3 pivot = {pose[0], pose[1], pose[2]};
        emission->low = vec3_min(emission->low, vec3_sub(pivot, vec3(reach, reach, reach)));
        emission->high = vec3_max(emission->high, vec3_add(pivot, vec3(reach, reach, reach)));
    }
    const Vec3 *point = motion->kind == MOTION_SHAPES ? motion_shape(motion, 0) : NULL;
    for (int64_t k = 0; point && k < motion->sample_count * motion->vertex_count; k++)
        emission->low = vec3_min(emission->low, point[k]), emission->high = vec3_max(emission->high, point[k]);
}

// Extends the bounds by the point of an endless plane nearest to everything else.
static void enclose_plane(Emission *emission, const JobObject *object)
{
    if (!(emission->low.x <= emission->high.x)) return;
    Vec3 middle = vec3_scale(vec3_add(emission->low, emission->high), 0.5f);
    float above = vec3_dot(vec3_sub(middle, object->plane_point), object->plane_normal);
    Vec3 foot = vec3_add_scaled(middle, object->plane_normal, -above);
    emission->low = vec3_min(emission->low, foot), emission->high = vec3_max(emission->high, foot);
}

static GrainResult add_emitter(Emission *emission, int object, const GrainSdf *sdf)
{
    EmitterDef def = emission_emitter(emission->job, object, sdf);
    emission->emitter_object[emission->emitter_count] = object;
    GrainResult result = emitter_create(&emission->emitters[emission->emitter_count++], &def, &emission->run);
    if (result == GRAIN_OK || result == GRAIN_CANCELLED) return result;
    return fail_within(result, "object '%s'", emission->job->objects[object].name);
}

GrainResult emission_begin(Emission *emission, const Job *job, GrainSdf *const *sdf, Birth *birth, const GrainRun *run)
{
    *emission = (Emission){.job = job, .birth = birth, .run = *run};
    emission->low = vec3(INFINITY, INFINITY, INFINITY), emission->high = vec3(-INFINITY, -INFINITY, -INFINITY);
    emission->emitters = ALLOC_ZEROED(Emitter, job->object_count);
    emission->emitter_object = ALLOC_ZEROED(int, job->object_count);
    emission->tallies = ALLOC_ZEROED(EmissionTally, job->object_count);
    emission->zones = ALLOC_ZEROED(Zone, job->object_count);
    emission->grips = ALLOC_ZEROED(SimGrip, job->object_count);
    if (!emission->emitters || !emission->emitter_object || !emission->tallies || !emission->zones || !emission->grips)
        return GRAIN_ERROR_MEMORY;
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        enclose(emission, object);
        if (object->role == JOB_EMITTER) TRY(add_emitter(emission, i, sdf[i]));
        if (object->role == JOB_KILL)
            emission->zones[emission->zone_count++] = (Zone){
                .mesh = &object->mesh, .inside = sdf[i], .motion = object->motion, .voxel_size = job->particle_radius};
    }
    for (int i = 0; i < job->object_count; i++)
        if (job->objects[i].is_plane) enclose_plane(emission, &job->objects[i]);
    return GRAIN_OK;
}

void emission_free(Emission *emission)
{
    for (int i = 0; i < emission->emitter_count; i++) emitter_free(&emission->emitters[i]);
    for (int i = 0; i < emission->zone_count; i++) zone_free(&emission->zones[i]);
    void *const arrays[] = {emission->emitters,  emission->emitter_object, emission->zones,
                            emission->due,       emission->born_rest,      emission->born_on,
                            emission->born_time, emission->born_material,  emission->born_emitter,
                            emission->gone,      emission->acceleration,   emission->grips,
                            emission->tallies};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
    flow_space_free(&emission->space);
    particles_free(&emission->now);
    particles_free(&emission->born);
    *emission = (Emission){0};
}

int emission_slots(const Emission *emission, int *flow_slots)
{
    *flow_slots = 1;
    if (!job_has_slots(emission->job)) return 1;
    double fastest = 0.0, diameter = 2.0 * (double)emission->job->particle_radius;
    for (int i = 0; i < emission->emitter_count; i++)
        fastest = real_max(fastest, (double)emitter_fastest(&emission->emitters[i].def));
    double flows = ceil(fastest / emission->job->fps / diameter);
    int count = flows < LEAST_FLOWS ? LEAST_FLOWS : flows > MOST_FLOWS ? MOST_FLOWS : (int)flows;
    while (job_is_steered(emission->job) && count * *flow_slots < STEERED_SLOTS) ++*flow_slots;
    return count * *flow_slots;
}

// --- removal --------------------------------------------------------------------------------------

static int is_lost(const Emission *emission, Vec3 place, Vec3 down)
{
    Vec3 middle = vec3_scale(vec3_add(emission->low, emission->high), 0.5f);
    float size = vec3_length(vec3_sub(emission->high, emission->low));
    Vec3 off = vec3_sub(place, middle);
    return vec3_dot(off, down) > LOST_BELOW * size || vec3_dot(off, off) > LOST_BESIDE * LOST_BESIDE * size * size;
}

static GrainResult find_gone(Emission *emission, double from, double to, int64_t *count)
{
    const Particles *now = &emission->now;
    float seconds = (float)(to - from);
    Vec3 down = vec3_normalize(curve_vector(&emission->job->gravity, to * emission->job->fps), vec3(0, 0, 0));
    *count = 0;
    TRY(alloc_grow((void **)&emission->gone, &emission->gone_capacity, now->count, 1));
    for (int z = 0; z < emission->zone_count; z++) TRY(zone_prepare(&emission->zones[z], to, &emission->run));
    PARALLEL_FOR(emission->run.thread_count, i, now->count)
    {
        Vec3 place = now->position[i], way = vec3_scale(now->velocity[i], seconds);
        int is_there = now->radius[i] != 0.0f, goes = is_there && is_lost(emission, place, down);
        for (int z = 0; z < emission->zone_count && is_there && !goes; z++) {
            const Zone *zone = &emission->zones[z];
            goes =
                !zone_box_is_missed(zone->low, zone->high, vec3_sub(place, way), place) && zone_has(zone, place, way);
        }
        emission->gone[i] = (uint8_t)goes;
    }
    for (int64_t i = 0; i < now->count; i++) *count += emission->gone[i];
    return GRAIN_OK;
}

// --- emission -------------------------------------------------------------------------------------

static int compare_births(const void *a, const void *b)
{
    const FlowBirth *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    if (x->emitter != y->emitter) return x->emitter < y->emitter ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

// Sorted by time, over all emitters.
static GrainResult list_due(Emission *emission, double from, double to, int64_t *count)
{
    *count = 0;
    for (int e = 0; e < emission->emitter_count; e++) {
        const EmitterDef *def = &emission->emitters[e].def;
        double before = emitter_due(def, from), after = emitter_due(def, to);
        // The first comes when half a particle is due: a low rate must not wait for a whole one.
        for (int64_t n = (int64_t)ceil(before - 0.5); (double)n + 0.5 <= after; n++) {
            double due = (double)n + 0.5;
            if (due <= before) continue;
            TRY(alloc_grow((void **)&emission->due, &emission->due_capacity, *count + 1, sizeof(FlowBirth)));
            emission->due[(*count)++] = (FlowBirth){from + (to - from) * (due - before) / (after - before), n, e};
        }
    }
    if (*count > 1) qsort(emission->due, (size_t)*count, sizeof(FlowBirth), compare_births);
    return GRAIN_OK;
}

static int hits_collider(const Emission *emission, Vec3 place, float radius)
{
    const Rigid *rigid = solver_rigid(emission->sim->state);
    for (int i = 0; i < rigid->object_count; i++) {
        RigidView view;
        if (!rigid_may_reach(rigid, i, vec3d_from(place), (double)radius)) continue;
        rigid_view(rigid, i, &place, 1, 2.0f * radius, &view);
        if (view.distance[0] < radius) return 1;
    }
    return 0;
}

static GrainResult reserve_born(Emission *emission, int64_t count)
{
    int64_t grown[5];
    for (int i = 0; i < 5; i++) grown[i] = emission->born_capacity;
    TRY(alloc_grow((void **)&emission->born_rest, &grown[0], count, sizeof(Vec3)));
    TRY(alloc_grow((void **)&emission->born_on, &grown[1], count, sizeof(Vec3)));
    TRY(alloc_grow((void **)&emission->born_time, &grown[2], count, sizeof(float)));
    TRY(alloc_grow((void **)&emission->born_material, &grown[3], count, 1));
    TRY(alloc_grow((void **)&emission->born_emitter, &grown[4], count, sizeof(int32_t)));
    emission->born_capacity = count > emission->born_capacity ? count : emission->born_capacity;
    return particles_reserve(&emission->born, count);
}

// Places it where it is at the end of the slot, after flying since its birth. Returns 0 if there is no room.
static int try_birth(Emission *emission, const FlowBirth *due, double to)
{
    const Emitter *emitter = &emission->emitters[due->emitter];
    float radius = emitter_radius(emitter, due->number), flown = (float)(to - due->time);
    Vec3 gravity = curve_vector(&emission->job->gravity, to * emission->job->fps);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        EmitterSpot spot;
        if (!emitter_draw(emitter, due->number, attempt, due->time, &spot)) continue;
        Vec3 place = vec3_add_scaled(vec3_add_scaled(spot.place, spot.velocity, flown), gravity, 0.5f * flown * flown);
        if (!flow_space_is_free(&emission->space, place, radius) || hits_collider(emission, place, radius)) continue;
        int64_t i = emission->born.count++;
        emission->born.position[i] = place;
        emission->born.velocity[i] = vec3_add_scaled(spot.velocity, gravity, flown);
        emission->born.radius[i] = radius;
        emission->born_rest[i] = spot.place;
        emission->born_on[i] = spot.on;
        emission->born_time[i] = (float)due->time;
        emission->born_emitter[i] = due->emitter;
        emission->born_material[i] = (uint8_t)emission->job->objects[emission->emitter_object[due->emitter]].material;
        flow_space_put(&emission->space, place, radius);
        return 1;
    }
    return 0;
}

static void tally(Emission *emission, const FlowBirth *due, int is_born)
{
    EmissionTally *tally = &emission->tallies[due->emitter];
    if (tally->due == 0) tally->first = due->time;
    tally->due++;
    tally->refused += !is_born;
}

static GrainResult give_birth(Emission *emission, double to, int64_t due_count)
{
    const Job *job = emission->job;
    const Particles *now = &emission->now;
    TRY(reserve_born(emission, due_count));
    TRY(flow_space_begin(&emission->space, job->particle_radius * (1.0f + job->size_spread), now, emission->gone,
                         due_count));
    for (int e = 0; e < emission->emitter_count; e++) {
        GrainResult result = emitter_prepare(&emission->emitters[e], to, &emission->run);
        if (result != GRAIN_OK)
            return fail_within(result, "object '%s'", job->objects[emission->emitter_object[e]].name);
    }
    for (int64_t i = 0; i < due_count; i++)
        tally(emission, &emission->due[i], try_birth(emission, &emission->due[i], to));
    return GRAIN_OK;
}

static void warn_of(const Emission *emission, int e, GrainMessageFn *message, void *user)
{
    const Job *job = emission->job;
    const EmissionTally *tally = &emission->tallies[e];
    const JobObject *object = &job->objects[emission->emitter_object[e]];
    char text[500];
    // In litres the rate and the room grow alike when particles shrink.
    snprintf(text, sizeof text,
             "emitter '%.100s' had no room for all its particles: it emitted %lld of %lld from frame %.0f to %.0f. "
             "Give the sand more speed, make the emitter larger, keep other objects out of it, or use a lower rate%s",
             object->name, (long long)(tally->due - tally->refused), (long long)tally->due,
             job->frame_start + floor(tally->first * job->fps), job->frame_start + rint(emission->sim->time * job->fps),
             object->emitter.in_litres ? "" : " or smaller particles");
    message(user, text);
}

void emission_warn(Emission *emission, int is_end, GrainMessageFn *message, void *user)
{
    for (int e = 0; e < emission->emitter_count; e++) {
        EmissionTally *tally = &emission->tallies[e];
        double refused = (double)tally->refused / real_max((double)tally->due, 1.0);
        int is_early = !is_end && (tally->told > 0.0 || emission->sim->time - tally->first < WARN_AFTER);
        if (is_early || refused <= (tally->told > 0.0 ? tally->told + REFUSED_MORE : REFUSED_LEAST)) continue;
        warn_of(emission, e, message, user);
        tally->told = refused;
    }
}

// Attributes of consecutive births from one emitter.
static GrainResult note_births(Emission *emission, int64_t first, int64_t last)
{
    const Job *job = emission->job;
    int object = emission->emitter_object[emission->born_emitter[first]];
    const JobObject *emitter = &job->objects[object];
    TRY(birth_add(emission->birth, object, emission->born_rest + first, emission->born_on + first, last - first));
    float *moisture = emission->born.moisture;
    if (!moisture) return GRAIN_OK;
    TRY(birth_moisten(emission->birth, object, emission->born_on + first, last - first, moisture + first));
    for (int64_t i = first; i < last; i++)
        moisture[i] *= curve_number(&emitter->moisture_curve, (double)emission->born_time[i] * job->fps);
    return GRAIN_OK;
}

static GrainResult note_all_births(Emission *emission)
{
    if (job_is_wet(emission->job)) TRY(particles_moisten(&emission->born));
    for (int64_t first = 0, last; first < emission->born.count; first = last) {
        for (last = first + 1;
             last < emission->born.count && emission->born_emitter[last] == emission->born_emitter[first];)
            last++;
        TRY(note_births(emission, first, last));
    }
    return GRAIN_OK;
}

GrainResult emission_begin_steering(Emission *emission)
{
    SimSteering now = job_steering(emission->job, 0.0);
    const SimGrip *grips = job_grips(emission->job, 0.0, emission->grips) ? emission->grips : NULL;
    return job_is_steered(emission->job) ? sim_steer(emission->sim, &now, grips, NULL) : GRAIN_OK;
}

static GrainResult steer(Emission *emission, double time, const SimGrip *grips)
{
    const Job *job = emission->job;
    SimSteering now = job_steering(job, time);
    if (job->field_count == 0) return sim_steer(emission->sim, &now, grips, NULL);
    if (!emission->is_read) TRY(sim_read(emission->sim, &emission->now));
    TRY(alloc_grow((void **)&emission->acceleration, &emission->acceleration_capacity, emission->now.count,
                   sizeof(Vec3)));
    for (int64_t i = 0; i < emission->now.count; i++) emission->acceleration[i] = vec3(0, 0, 0);
    fields_add(job->fields, job->field_count, &emission->now, time, emission->run.thread_count, emission->acceleration);
    fields_pull_bodies(job->fields, job->field_count, solver_rigid(emission->sim->state), time);
    return sim_steer(emission->sim, &now, grips, emission->acceleration);
}

GrainResult emission_steer(void *user, double time)
{
    Emission *emission = user;
    GrainResult result = GRAIN_OK;
    if (job_is_steered(emission->job))
        result = steer(emission, time, job_grips(emission->job, time, emission->grips) ? emission->grips : NULL);
    emission->is_read = 0;
    return result;
}

GrainResult emission_steer_now(Emission *emission, double time)
{
    job_grips(emission->job, time, emission->grips);
    return steer(emission, time, emission->grips);
}

// The change in what was read before it, for the fields.
static GrainResult change_read(Emission *emission)
{
    Particles *now = &emission->now;
    const Particles *born = &emission->born;
    for (int64_t i = 0; i < now->count; i++)
        if (emission->gone[i]) now->radius[i] = 0.0f;
    TRY(particles_reserve(now, now->count + born->count));
    for (int64_t i = 0; i < born->count; i++, now->count++) {
        now->position[now->count] = born->position[i];
        now->velocity[now->count] = born->velocity[i];
        now->radius[now->count] = born->radius[i];
    }
    return GRAIN_OK;
}

GrainResult emission_change(void *user, double from, double to)
{
    Emission *emission = user;
    int64_t gone_count, due_count;
    TRY(sim_read(emission->sim, &emission->now));
    TRY(find_gone(emission, from, to, &gone_count));
    TRY(list_due(emission, from, to, &due_count));
    emission->born.count = 0;
    if (due_count > 0) TRY(give_birth(emission, to, due_count));
    emission->is_read = 1;
    if (emission->born.count == 0 && gone_count == 0) return GRAIN_OK;
    TRY(note_all_births(emission));
    SimChange change = {.born = &emission->born,
                        .material = emission->job->dem.material_count > 0 ? emission->born_material : NULL,
                        .position = emission->now.position,
                        .gone = gone_count > 0 ? emission->gone : NULL};
    TRY(sim_change(emission->sim, &change, emission->born_time));
    return change_read(emission);
}
