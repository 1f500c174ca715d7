// SPDX-License-Identifier: GPL-3.0-or-later
#include "simulate/simulate.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "grain/sim.h"
#include "mesh/mesh.h"
#include "output/column_file.h"
#include "scene/scene.h"
#include "sim/rigid/rigid.h"

#include <string.h>

#define BODY_COLUMNS 4
#define BODY_FLOATS 13

// --- colliders ------------------------------------------------------------------------------------

static GrainResult make_sdfs(Simulation *simulation, SceneSdfs *sdfs)
{
    const Job *job = simulation->job;
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        TRY(run_progress(&simulation->run, "colliders", (double)i / job->object_count));
        int is_surface = object->role == JOB_EMITTER && object->emitter.from_surface;
        if (!object->is_plane && object->role != JOB_GRAIN && !is_surface)
            TRY(scene_sdf_make(sdfs, object, NULL, &simulation->sdf[i]));
    }
    sdf_store_drop_unused(&sdfs->store);
    return GRAIN_OK;
}

static GrainResult make_colliders(Simulation *simulation, const char *cache_folder)
{
    const Job *job = simulation->job;
    SceneSdfs sdfs;
    simulation->sdf = ALLOC_ZEROED(GrainSdf *, job->object_count);
    if (!simulation->sdf) return GRAIN_ERROR_MEMORY;
    GrainRun run = {sizeof run, simulation->run.thread_count, simulation->run.progress, simulation->run.user};
    TRY(scene_sdfs_begin(&sdfs, job, SCENE_FOR_PARTICLES, simulation->shape.smallest_ball, cache_folder, &run));
    GrainResult result = make_sdfs(simulation, &sdfs);
    scene_sdfs_free(&sdfs);
    TRY(result);
    TRY(scene_solids_make(&simulation->solids, job, simulation->sdf, simulation->run.thread_count));
    simulation->body_state = ALLOC_ZEROED(float, BODY_FLOATS * simulation->solids.body_count);
    return simulation->body_state ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

// --- the solver -----------------------------------------------------------------------------------

static GrainResult create_sim(Simulation *simulation)
{
    const Job *job = simulation->job;
    SimDef def = {.solver = job->solver,
                  .gravity = curve_constant(&job->gravity),
                  .largest_radius = job->particle_radius * (1.0f + job->size_spread),
                  .density = job->density,
                  .friction = job->friction,
                  .rolling_friction = job->rolling_friction,
                  .restitution = job->restitution,
                  .law = job->law,
                  .model = job->model,
                  .particle_moisture = simulation->particle_moisture,
                  .moisture_diffusion = job->moisture_diffusion,
                  .meso = job->meso,
                  .cohesion = job->dem.cohesion,
                  .young_modulus = job->dem.young_modulus,
                  .poisson_ratio = job->dem.poisson_ratio,
                  .normal_law = job->dem.normal_law,
                  .shear_law = job->dem.shear_law,
                  .may_sleep = job->dem.sleep,
                  .integrator = job->dem.integrator,
                  .tolerance = job->dem.tolerance,
                  .more_materials = job->dem.materials,
                  .more_material_count = job->dem.material_count,
                  .particle_material = simulation->particle_material,
                  .shapes = &simulation->shape,
                  .shape_count = 1,
                  .seed = job->seed,
                  .softness = job->softness,
                  .expected_speed = simulate_expected_speed(simulation),
                  .colliders = simulation->solids.colliders,
                  .collider_count = simulation->solids.collider_count};
    if (job_is_wet(job) && !def.particle_moisture) { // emitted particles will be
        TRY(alloc_grow((void **)&simulation->particle_moisture, &simulation->moisture_capacity, 1, sizeof(float)));
        def.particle_moisture = simulation->particle_moisture;
    }
    // Those that settle come first, without the others.
    Particles start = simulation->particles;
    if (simulation->settle_count > 0) start.count = simulation->settle_count;
    if (start.count < simulation->particles.count) def.smallest_born = job->particle_radius * (1.0f - job->size_spread);
    if (simulation->emission.emitter_count > 0) {
        def.smallest_born = job->particle_radius * (1.0f - job->size_spread);
        def.birthplace = ((const Vec3 *)simulation->emission.emitters[0].def.mesh->positions)[0];
    }
    TRY(sim_create(&simulation->sim, &def, &start, 1.0 / job->fps, simulation->run.thread_count));
    simulation->sim.slot_count = emission_slots(&simulation->emission, &simulation->sim.flow_slots);
    simulation->emission.sim = &simulation->sim;
    return GRAIN_OK;
}

// --- frames ---------------------------------------------------------------------------------------

// Where the bodies are, in the order of simulate_body_names.
static int body_columns(Simulation *simulation, Column columns[BODY_COLUMNS])
{
    const Rigid *rigid = solver_rigid(simulation->sim.state);
    int64_t count = simulation->solids.body_count;
    if (count == 0) return 0;
    float *position = simulation->body_state, *orientation = position + 3 * count, *velocity = orientation + 4 * count,
          *spin = velocity + 3 * count;
    for (int b = 0; b < rigid->body_count; b++) {
        const RigidObject *object = &rigid->objects[rigid->bodies[b].object];
        Vec3d at = rigid_body_pivot(rigid, b), arm = vec3d_sub(at, object->now.position);
        Vec3d speed = vec3d_add(object->velocity, vec3d_cross(object->spin, arm));
        Quatd q = object->now.facing;
        const double numbers[BODY_FLOATS] = {
            at.x,    at.y,           at.z,           q.w,           q.x, q.y, q.z, speed.x, speed.y,
            speed.z, object->spin.x, object->spin.y, object->spin.z};
        for (int i = 0; i < 3; i++) position[3 * b + i] = (float)numbers[i];
        for (int i = 0; i < 4; i++) orientation[4 * b + i] = (float)numbers[3 + i];
        for (int i = 0; i < 3; i++) velocity[3 * b + i] = (float)numbers[7 + i];
        for (int i = 0; i < 3; i++) spin[3 * b + i] = (float)numbers[10 + i];
    }
    columns[0] = (Column){"body.position", GRAIN_F32, 3, count, position};
    columns[1] = (Column){"body.orientation", GRAIN_F32, 4, count, orientation};
    columns[2] = (Column){"body.velocity", GRAIN_F32, 3, count, velocity};
    columns[3] = (Column){"body.spin", GRAIN_F32, 3, count, spin};
    return BODY_COLUMNS;
}

GrainResult simulate_body_names(const Job *job, char **out)
{
    size_t bytes = 1;
    for (int i = 0; i < job->object_count; i++)
        if (job->objects[i].role == JOB_BODY) bytes += strlen(job->objects[i].name) + 1;
    *out = ALLOC_ZEROED(char, (int64_t)bytes);
    if (!*out) return GRAIN_ERROR_MEMORY;
    for (int i = 0; i < job->object_count; i++) {
        if (job->objects[i].role != JOB_BODY) continue;
        if ((*out)[0]) strcat(*out, "\n");
        strcat(*out, job->objects[i].name);
    }
    return GRAIN_OK;
}

GrainResult simulate_columns(Simulation *simulation, Column columns[SIMULATE_MAX_COLUMNS], int *count)
{
    const Particles *now = &simulation->particles;
    TRY(sim_read(&simulation->sim, &simulation->particles));
    *count = particles_columns(now, columns);
    *count += body_columns(simulation, columns + *count);
    if (now->moisture) columns[(*count)++] = (Column){"moisture", GRAIN_F32, 1, now->count, now->moisture};
    if (simulation->emission.emitter_count > 0)
        columns[(*count)++] = (Column){"birth_time", GRAIN_F32, 1, now->count, simulation->sim.population.birth_time};
    return GRAIN_OK;
}

// --- all of it ------------------------------------------------------------------------------------

GrainResult simulate_plan(Simulation *simulation, const Job *job)
{
    simulation->job = job;
    TRY(job_grain_shape(job, &simulation->shape));
    return simulate_check_memory(job, simulation->shape.ball_count);
}

GrainResult simulate_prepare(Simulation *simulation, const char *cache_folder, const GrainRun *run)
{
    // During the simulation nothing is reported: what has to be made anew for meshes that bend is small.
    TRY(run_begin(&simulation->run, run));
    GrainRun silent = {sizeof silent, simulation->run.thread_count, NULL, NULL};
    TRY(make_colliders(simulation, cache_folder));
    TRY(birth_begin(&simulation->birth, simulation->job, simulation->run.thread_count));
    TRY(simulate_fill(simulation));
    TRY(emission_begin(&simulation->emission, simulation->job, simulation->sdf, &simulation->birth, &silent));
    return create_sim(simulation);
}

void simulate_free(Simulation *simulation)
{
    sim_destroy(&simulation->sim);
    particles_free(&simulation->particles);
    for (int i = 0; simulation->sdf && i < simulation->job->object_count; i++) grain_sdf_destroy(simulation->sdf[i]);
    alloc_free(simulation->sdf);
    scene_solids_free(&simulation->solids);
    alloc_free(simulation->body_state);
    emission_free(&simulation->emission);
    birth_free(&simulation->birth);
    alloc_free(simulation->particle_material);
    alloc_free(simulation->particle_moisture);
    *simulation = (Simulation){0};
}

GrainResult simulate_start(Simulation *simulation) { return emission_steer(&simulation->emission, 0.0); }

typedef struct Advance {
    Simulation *simulation;
    SimWatchFn *watch;
    void *user;
} Advance;

static GrainResult watch_substep(void *user, double frame_fraction)
{
    const Advance *advance = user;
    return advance->watch(advance->user, frame_fraction);
}

static GrainResult change_particles(void *user, double from, double to)
{
    return emission_change(&((Advance *)user)->simulation->emission, from, to);
}

static GrainResult steer(void *user, double time)
{
    return emission_steer(&((Advance *)user)->simulation->emission, time);
}

GrainResult simulate_advance(Simulation *simulation, SimWatchFn *watch, void *user)
{
    Advance advance = {simulation, watch, user};
    SimWatch own = {watch ? watch_substep : NULL, change_particles, &advance, steer};
    return sim_advance_frame(&simulation->sim, &own);
}

// --- the public calls -----------------------------------------------------------------------------

struct GrainSim {
    Job job; ///< borrows from the scene
    Simulation simulation;
    struct GrainFrame frame; ///< its columns are the simulation's
    float *birth_time;       ///< of the frame: the simulation's own changes within a frame
    int64_t birth_time_capacity;
    const GrainScene *scene;
    GrainResult failed; ///< GRAIN_OK unless it can only be destroyed
};

// The frame that the simulation has reached.
static GrainResult take_frame(GrainSim *sim, int32_t number)
{
    struct GrainFrame *frame = &sim->frame;
    int64_t count;
    TRY(simulate_columns(&sim->simulation, frame->columns, &frame->column_count));
    count = sim->simulation.particles.count;
    frame->header = (ColumnFileHeader){.frame = number, .time = sim->simulation.sim.time, .particles = count};
    for (int c = 0; c < frame->column_count; c++) {
        if (strcmp(frame->columns[c].name, "birth_time") != 0) continue;
        TRY(alloc_grow((void **)&sim->birth_time, &sim->birth_time_capacity, count, sizeof(float)));
        if (count > 0) memcpy(sim->birth_time, frame->columns[c].data, sizeof(float) * (size_t)count);
        frame->columns[c].data = sim->birth_time;
    }
    return GRAIN_OK;
}

static GrainResult watch_settling(void *user, double fraction) { return run_progress(user, "settling", fraction); }
static GrainResult watch_frame(void *user, double fraction) { return run_progress(user, "simulate", fraction); }

static GrainResult create_inside(GrainSim *sim, const GrainRun *run)
{
    double longest, moving;
    TRY(simulate_plan(&sim->simulation, &sim->job));
    TRY(simulate_prepare(&sim->simulation, NULL, run));
    TRY(simulate_settle(&sim->simulation, watch_settling, &sim->simulation.run, &longest, &moving));
    TRY(simulate_start(&sim->simulation));
    return take_frame(sim, sim->job.frame_start);
}

GrainResult grain_sim_create(const GrainScene *scene, const GrainRun *run, GrainSim **out)
{
    if (!out) return fail(GRAIN_ERROR_ARGUMENT, "grain_sim_create needs a pointer for its result");
    *out = NULL;
    if (!scene) return fail(GRAIN_ERROR_ARGUMENT, "GrainScene is NULL");
    GrainSim *sim = ALLOC_ZEROED(GrainSim, 1);
    if (!sim) return GRAIN_ERROR_MEMORY;
    sim->scene = scene;
    GrainResult result = scene_begin_job(scene, &sim->job);
    if (result == GRAIN_OK) result = create_inside(sim, run);
    if (result == GRAIN_OK)
        *out = sim;
    else
        grain_sim_destroy(sim);
    return result;
}

void grain_sim_destroy(GrainSim *sim)
{
    if (!sim) return;
    simulate_free(&sim->simulation);
    alloc_free(sim->birth_time);
    scene_end_job(&sim->job);
    alloc_free(sim);
}

static GrainResult check_sim(const GrainSim *sim)
{
    if (!sim) return fail(GRAIN_ERROR_ARGUMENT, "GrainSim is NULL");
    if (sim->failed == GRAIN_OK) return GRAIN_OK;
    return fail(sim->failed, "the simulation has failed before; destroy it");
}

static void tell(void *user, const char *text) { run_message(user, text); }

GrainResult grain_sim_advance(GrainSim *sim, const GrainRun *run)
{
    Run watch;
    TRY(check_sim(sim));
    TRY(run_begin(&watch, run));
    GrainResult result = simulate_advance(&sim->simulation, watch_frame, &watch);
    if (result == GRAIN_OK) result = take_frame(sim, sim->frame.header.frame + 1);
    if (result == GRAIN_OK && watch.message)
        emission_warn(&sim->simulation.emission, sim->frame.header.frame == sim->job.frame_end, tell, &watch);
    if (result != GRAIN_OK && result != GRAIN_CANCELLED) sim->failed = result;
    return result;
}

const GrainFrame *grain_sim_frame(const GrainSim *sim) { return sim ? &sim->frame : NULL; }

// Numbers of the scene's objects count its force fields too, of which the job has a list of their own.
static JobObject *find_object(GrainSim *sim, int32_t number)
{
    const char *name = json_string_value(json_object_get(scene_node(sim->scene, number), "name"));
    for (int i = 0; name && i < sim->job.object_count; i++)
        if (strcmp(sim->job.objects[i].name, name) == 0) return &sim->job.objects[i];
    return NULL;
}

static GrainResult set(GrainSim *sim, int32_t number, const char *key, int components, const double *value)
{
    TRY(check_sim(sim));
    if (!key || !value) return fail(GRAIN_ERROR_ARGUMENT, "the key or the value is NULL");
    JobObject *object = number == GRAIN_SCENE ? NULL : find_object(sim, number);
    if (number != GRAIN_SCENE && !object)
        return fail(GRAIN_ERROR_ARGUMENT, "there is no source, collider or other object %d in the scene", number);
    TRY(job_set_steered(&sim->job, object, key, components, value));
    const Sim *state = &sim->simulation.sim;
    sim->failed = emission_steer_now(&sim->simulation.emission, state->time + state->frame_done);
    return sim->failed;
}

GrainResult grain_sim_set_vector(GrainSim *sim, int32_t object, const char *key, const double value[3])
{
    return set(sim, object, key, 3, value);
}

GrainResult grain_sim_set_number(GrainSim *sim, int32_t object, const char *key, double value)
{
    return set(sim, object, key, 1, &value);
}
