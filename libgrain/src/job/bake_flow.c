// SPDX-License-Identifier: GPL-3.0-or-later
#include "job/bake_flow.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "mesh/mesh.h"
#include "sim/rigid/rigid.h"
#include "sim/rigid/rigid_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Places that are tried for a particle before it is given up.
#define ATTEMPTS 24
// A frame is cut so that nothing is thrown farther than its own diameter in a slot, within these limits.
#define LEAST_SLOTS 4
#define MOST_SLOTS 64
// Force fields, and settings that change, are looked at as often.
#define FIELD_SLOTS 8
// What is lower than the scene by so many of its diagonals, or farther off in any direction by five times that, is
// lost.
#define LOST_BELOW 20.0f
#define LOST_BESIDE 100.0f
#define LITRE 1e-3

/// A particle that is due.
typedef struct FlowBirth {
    double time;
    int64_t number;
    int32_t emitter;
} FlowBirth;

// --- emitters and zones ---------------------------------------------------------------------------

EmitterDef bake_flow_emitter(const Job *job, int number, const GrainSdf *inside)
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

double bake_flow_most(const Job *job, int object)
{
    double end = (job->frame_end - job->frame_start) / job->fps, most = 0.0;
    for (int i = 0; i < job->object_count; i++) {
        if (job->objects[i].role != JOB_EMITTER || (object >= 0 && object != i)) continue;
        EmitterDef def = bake_flow_emitter(job, i, NULL);
        most += emitter_due(&def, end);
    }
    return most;
}

// Grows the box by what the object is at some time.
static void enclose(BakeFlow *flow, const JobObject *object)
{
    if (object->is_plane || object->role == JOB_GRAIN) return;
    Vec3 low, high;
    mesh_bounds(&object->mesh, 1, &low, &high);
    flow->low = vec3_min(flow->low, low), flow->high = vec3_max(flow->high, high);
    Vec3 half = vec3_scale(vec3_sub(high, low), 0.5f);
    float reach = vec3_length(half);
    const Motion *motion = &object->motion;
    for (int64_t k = 0; motion->kind == MOTION_POSES && k < motion->sample_count; k++) {
        const float *pose = motion->samples + MOTION_POSE_FLOATS * k;
        Vec3 pivot = {pose[0], pose[1], pose[2]};
        flow->low = vec3_min(flow->low, vec3_sub(pivot, vec3(reach, reach, reach)));
        flow->high = vec3_max(flow->high, vec3_add(pivot, vec3(reach, reach, reach)));
    }
    const Vec3 *point = motion->kind == MOTION_SHAPES ? motion_shape(motion, 0) : NULL;
    for (int64_t k = 0; point && k < motion->sample_count * motion->vertex_count; k++)
        flow->low = vec3_min(flow->low, point[k]), flow->high = vec3_max(flow->high, point[k]);
}

// An endless plane, where it is nearest to everything else.
static void enclose_plane(BakeFlow *flow, const JobObject *object)
{
    if (!(flow->low.x <= flow->high.x)) return;
    Vec3 middle = vec3_scale(vec3_add(flow->low, flow->high), 0.5f);
    float above = vec3_dot(vec3_sub(middle, object->plane_point), object->plane_normal);
    Vec3 foot = vec3_add_scaled(middle, object->plane_normal, -above);
    flow->low = vec3_min(flow->low, foot), flow->high = vec3_max(flow->high, foot);
}

static GrainResult add_emitter(BakeFlow *flow, int object, const GrainSdf *sdf)
{
    EmitterDef def = bake_flow_emitter(flow->job, object, sdf);
    flow->emitter_object[flow->emitter_count] = object;
    GrainResult result = emitter_create(&flow->emitters[flow->emitter_count++], &def, &flow->run);
    if (result == GRAIN_OK || result == GRAIN_CANCELLED) return result;
    return fail_within(result, "object '%s'", flow->job->objects[object].name);
}

GrainResult bake_flow_begin(BakeFlow *flow, const Job *job, GrainSdf *const *sdf, Birth *birth, const GrainRun *run)
{
    *flow = (BakeFlow){.job = job, .birth = birth, .run = *run};
    flow->low = vec3(INFINITY, INFINITY, INFINITY), flow->high = vec3(-INFINITY, -INFINITY, -INFINITY);
    flow->emitters = ALLOC_ZEROED(Emitter, job->object_count);
    flow->emitter_object = ALLOC_ZEROED(int, job->object_count);
    flow->zones = ALLOC_ZEROED(Zone, job->object_count);
    flow->grips = ALLOC_ZEROED(SimGrip, job->object_count);
    if (!flow->emitters || !flow->emitter_object || !flow->zones || !flow->grips) return GRAIN_ERROR_MEMORY;
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        enclose(flow, object);
        if (object->role == JOB_EMITTER) TRY(add_emitter(flow, i, sdf[i]));
        if (object->role == JOB_KILL)
            flow->zones[flow->zone_count++] = (Zone){
                .mesh = &object->mesh, .inside = sdf[i], .motion = object->motion, .voxel_size = job->particle_radius};
    }
    for (int i = 0; i < job->object_count; i++)
        if (job->objects[i].is_plane) enclose_plane(flow, &job->objects[i]);
    return GRAIN_OK;
}

void bake_flow_free(BakeFlow *flow)
{
    for (int i = 0; i < flow->emitter_count; i++) emitter_free(&flow->emitters[i]);
    for (int i = 0; i < flow->zone_count; i++) zone_free(&flow->zones[i]);
    void *const arrays[] = {flow->emitters,     flow->emitter_object, flow->zones,        flow->due,
                            flow->born_rest,    flow->born_on,        flow->born_time,    flow->born_material,
                            flow->born_emitter, flow->gone,           flow->acceleration, flow->grips};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
    flow_space_free(&flow->space);
    particles_free(&flow->now);
    particles_free(&flow->born);
    *flow = (BakeFlow){0};
}

int bake_flow_slots(const BakeFlow *flow)
{
    int least = job_is_steered(flow->job) ? FIELD_SLOTS : LEAST_SLOTS;
    if (flow->emitter_count == 0) return flow->zone_count > 0 || job_is_steered(flow->job) ? least : 1;
    double fastest = 0.0, diameter = 2.0 * (double)flow->job->particle_radius;
    for (int i = 0; i < flow->emitter_count; i++)
        fastest = real_max(fastest, (double)emitter_fastest(&flow->emitters[i].def));
    double slots = ceil(fastest / flow->job->fps / diameter);
    return slots < least ? least : slots > MOST_SLOTS ? MOST_SLOTS : (int)slots;
}

// --- who goes -------------------------------------------------------------------------------------

static int is_lost(const BakeFlow *flow, Vec3 place, Vec3 down)
{
    Vec3 middle = vec3_scale(vec3_add(flow->low, flow->high), 0.5f);
    float size = vec3_length(vec3_sub(flow->high, flow->low));
    Vec3 off = vec3_sub(place, middle);
    return vec3_dot(off, down) > LOST_BELOW * size || vec3_dot(off, off) > LOST_BESIDE * LOST_BESIDE * size * size;
}

static GrainResult find_gone(BakeFlow *flow, double from, double to, int64_t *count)
{
    const Particles *now = &flow->now;
    float seconds = (float)(to - from);
    Vec3 down = vec3_normalize(curve_vector(&flow->job->gravity, to * flow->job->fps), vec3(0, 0, 0));
    *count = 0;
    TRY(alloc_grow((void **)&flow->gone, &flow->gone_capacity, now->count, 1));
    for (int z = 0; z < flow->zone_count; z++) TRY(zone_prepare(&flow->zones[z], to, &flow->run));
    for (int64_t i = 0; i < now->count; i++) {
        flow->gone[i] = 0;
        if (now->radius[i] == 0.0f) continue; // long since
        Vec3 place = now->position[i], way = vec3_scale(now->velocity[i], seconds);
        int goes = is_lost(flow, place, down);
        for (int z = 0; z < flow->zone_count && !goes; z++) goes = zone_has(&flow->zones[z], place, way, to);
        flow->gone[i] = (uint8_t)goes;
        *count += goes;
    }
    return GRAIN_OK;
}

// --- who comes ------------------------------------------------------------------------------------

static int compare_births(const void *a, const void *b)
{
    const FlowBirth *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    if (x->emitter != y->emitter) return x->emitter < y->emitter ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

// In the order of time, whoever they are of.
static GrainResult list_due(BakeFlow *flow, double from, double to, int64_t *count)
{
    *count = 0;
    for (int e = 0; e < flow->emitter_count; e++) {
        const EmitterDef *def = &flow->emitters[e].def;
        double before = emitter_due(def, from), after = emitter_due(def, to);
        // The first comes when half a particle is due: a low rate must not wait for a whole one.
        for (int64_t n = (int64_t)ceil(before - 0.5); (double)n + 0.5 <= after; n++) {
            double due = (double)n + 0.5;
            if (due <= before) continue;
            TRY(alloc_grow((void **)&flow->due, &flow->due_capacity, *count + 1, sizeof(FlowBirth)));
            flow->due[(*count)++] = (FlowBirth){from + (to - from) * (due - before) / (after - before), n, e};
        }
    }
    if (*count > 1) qsort(flow->due, (size_t)*count, sizeof(FlowBirth), compare_births);
    return GRAIN_OK;
}

static int hits_collider(const BakeFlow *flow, Vec3 place, float radius)
{
    const Rigid *rigid = flow->sim->solver->rigid(flow->sim->state);
    for (int i = 0; i < rigid->object_count; i++) {
        RigidView view;
        if (!rigid_may_reach(rigid, i, vec3d_from(place), (double)radius)) continue;
        rigid_view(rigid, i, &place, 1, 2.0f * radius, &view);
        if (view.distance[0] < radius) return 1;
    }
    return 0;
}

static GrainResult reserve_born(BakeFlow *flow, int64_t count)
{
    int64_t grown[5];
    for (int i = 0; i < 5; i++) grown[i] = flow->born_capacity;
    TRY(alloc_grow((void **)&flow->born_rest, &grown[0], count, sizeof(Vec3)));
    TRY(alloc_grow((void **)&flow->born_on, &grown[1], count, sizeof(Vec3)));
    TRY(alloc_grow((void **)&flow->born_time, &grown[2], count, sizeof(float)));
    TRY(alloc_grow((void **)&flow->born_material, &grown[3], count, 1));
    TRY(alloc_grow((void **)&flow->born_emitter, &grown[4], count, sizeof(int32_t)));
    flow->born_capacity = count > flow->born_capacity ? count : flow->born_capacity;
    return particles_reserve(&flow->born, count);
}

// At the end of the slot it has flown since its birth.
static void try_birth(BakeFlow *flow, const FlowBirth *due, double to)
{
    const Emitter *emitter = &flow->emitters[due->emitter];
    float radius = emitter_radius(emitter, due->number), flown = (float)(to - due->time);
    Vec3 gravity = curve_vector(&flow->job->gravity, to * flow->job->fps);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        EmitterSpot spot;
        if (!emitter_draw(emitter, due->number, attempt, due->time, &spot)) continue;
        Vec3 place = vec3_add_scaled(vec3_add_scaled(spot.place, spot.velocity, flown), gravity, 0.5f * flown * flown);
        if (!flow_space_is_free(&flow->space, place, radius) || hits_collider(flow, place, radius)) continue;
        int64_t i = flow->born.count++;
        flow->born.position[i] = place;
        flow->born.velocity[i] = vec3_add_scaled(spot.velocity, gravity, flown);
        flow->born.radius[i] = radius;
        flow->born_rest[i] = spot.place;
        flow->born_on[i] = spot.on;
        flow->born_time[i] = (float)due->time;
        flow->born_emitter[i] = due->emitter;
        flow->born_material[i] = (uint8_t)flow->job->objects[flow->emitter_object[due->emitter]].material;
        flow_space_put(&flow->space, place, radius);
        return;
    }
}

static GrainResult give_birth(BakeFlow *flow, double to, int64_t due_count)
{
    const Job *job = flow->job;
    const Particles *now = &flow->now;
    TRY(reserve_born(flow, due_count));
    TRY(flow_space_begin(&flow->space, job->particle_radius * (1.0f + job->size_spread), now->count + due_count));
    for (int64_t i = 0; i < now->count; i++)
        if (now->radius[i] > 0.0f && !flow->gone[i]) flow_space_put(&flow->space, now->position[i], now->radius[i]);
    for (int e = 0; e < flow->emitter_count; e++) {
        GrainResult result = emitter_prepare(&flow->emitters[e], to, &flow->run);
        if (result != GRAIN_OK) return fail_within(result, "object '%s'", job->objects[flow->emitter_object[e]].name);
    }
    for (int64_t i = 0; i < due_count; i++) try_birth(flow, &flow->due[i], to);
    return GRAIN_OK;
}

// What those of one emitter that follow each other bring with them.
static GrainResult note_births(BakeFlow *flow, int64_t first, int64_t last)
{
    const Job *job = flow->job;
    int object = flow->emitter_object[flow->born_emitter[first]];
    const JobObject *emitter = &job->objects[object];
    TRY(birth_add(flow->birth, object, flow->born_rest + first, flow->born_on + first, last - first));
    float *moisture = flow->born.moisture;
    if (!moisture) return GRAIN_OK;
    for (int64_t i = first; i < last; i++) moisture[i] = 1.0f;
    if (emitter->moisture_paint.numbers)
        TRY(birth_paint(flow->birth, object, &emitter->moisture_paint, flow->born_on + first, last - first,
                        moisture + first));
    for (int64_t i = first; i < last; i++)
        moisture[i] *= curve_number(&emitter->moisture_curve, (double)flow->born_time[i] * job->fps);
    return GRAIN_OK;
}

static GrainResult note_all_births(BakeFlow *flow)
{
    if (job_is_wet(flow->job)) TRY(particles_moisten(&flow->born));
    for (int64_t first = 0, last; first < flow->born.count; first = last) {
        for (last = first + 1; last < flow->born.count && flow->born_emitter[last] == flow->born_emitter[first];)
            last++;
        TRY(note_births(flow, first, last));
    }
    return GRAIN_OK;
}

GrainResult bake_flow_begin_steering(BakeFlow *flow)
{
    SimSteering now = job_steering(flow->job, 0.0);
    const SimGrip *grips = job_grips(flow->job, 0.0, flow->grips) ? flow->grips : NULL;
    return job_is_steered(flow->job) ? sim_steer(flow->sim, &now, grips, NULL) : GRAIN_OK;
}

GrainResult bake_flow_steer(BakeFlow *flow, double time)
{
    const Job *job = flow->job;
    if (!job_is_steered(job)) return GRAIN_OK;
    SimSteering now = job_steering(job, time);
    const SimGrip *grips = job_grips(job, time, flow->grips) ? flow->grips : NULL;
    if (job->field_count == 0) return sim_steer(flow->sim, &now, grips, NULL);
    TRY(sim_read(flow->sim, &flow->now));
    TRY(alloc_grow((void **)&flow->acceleration, &flow->acceleration_capacity, flow->now.count, sizeof(Vec3)));
    for (int64_t i = 0; i < flow->now.count; i++) flow->acceleration[i] = vec3(0, 0, 0);
    fields_add(job->fields, job->field_count, &flow->now, time, flow->run.thread_count, flow->acceleration);
    fields_pull_bodies(job->fields, job->field_count, flow->sim->solver->rigid(flow->sim->state), time);
    return sim_steer(flow->sim, &now, grips, flow->acceleration);
}

static GrainResult change_all(BakeFlow *flow, double from, double to)
{
    int64_t gone_count, due_count;
    TRY(sim_read(flow->sim, &flow->now));
    TRY(find_gone(flow, from, to, &gone_count));
    TRY(list_due(flow, from, to, &due_count));
    flow->born.count = 0;
    if (due_count > 0) TRY(give_birth(flow, to, due_count));
    if (flow->born.count == 0 && gone_count == 0) return GRAIN_OK;
    TRY(note_all_births(flow));
    SimChange change = {.born = &flow->born,
                        .material = flow->job->dem.material_count > 0 ? flow->born_material : NULL,
                        .gone = gone_count > 0 ? flow->gone : NULL};
    return sim_change(flow->sim, &change, flow->born_time);
}

GrainResult bake_flow_change(void *user, double from, double to)
{
    BakeFlow *flow = user;
    TRY(change_all(flow, from, to));
    return bake_flow_steer(flow, to);
}
