// SPDX-License-Identifier: GPL-3.0-or-later
#include "simulate/simulate.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "mesh/mesh.h"
#include "sim/rigid/rigid.h"

#include <string.h>

// Colliders are sampled at voxels of this many radii: fine enough that a resting grain does not feel the grid.
#define COLLIDER_VOXEL_RADII 1.0f
// Wide enough for the largest grain and its skin to see the surface from outside, and to be pushed out from inside.
#define COLLIDER_BAND_VOXELS 3.0f
#define COLLIDER_MOST_VOXELS 16.0f
// A body, emitter or kill zone that is small against the grains has its own voxels: this many at least across its
// thinnest side.
#define BODY_VOXELS 8.0f
#define BODY_COLUMNS 4
#define BODY_FLOATS 13

// --- colliders ------------------------------------------------------------------------------------

static float smallest_extent(const GrainMesh *mesh)
{
    Vec3 low, high;
    mesh_bounds(mesh, 1, &low, &high);
    Vec3 size = vec3_sub(high, low);
    return real_maxf(real_minf(real_minf(size.x, size.y), size.z), 0.05f * vec3_length(size));
}

static GrainResult make_sdf(Simulation *simulation, const JobObject *object, GrainSdf **out)
{
    GrainSdfDef def;
    TRY(grain_sdf_def_default(&def, sizeof def));
    // The balls of a grain touch, but it is placed by the ball around it: the band must reach that far too.
    float around = 1.1f * simulation->job->particle_radius * (1.0f + simulation->job->size_spread);
    around *= solver_find(simulation->job->solver)->traits.collider_reach;
    def.voxel_size = COLLIDER_VOXEL_RADII * simulation->job->particle_radius * simulation->shape.smallest_ball;
    int is_fine = object->role == JOB_BODY || object->role == JOB_EMITTER || object->role == JOB_KILL;
    if (is_fine) def.voxel_size = real_minf(def.voxel_size, smallest_extent(&object->mesh) / BODY_VOXELS);
    def.voxel_size = real_maxf(def.voxel_size, around / (COLLIDER_MOST_VOXELS - 1.0f));
    def.band_voxels = real_maxf(COLLIDER_BAND_VOXELS, around / def.voxel_size + 1.0f);
    def.thickness = object->thickness;
    GrainRun options = {sizeof options, simulation->run.thread_count, simulation->run.progress, simulation->run.user};
    GrainResult result = grain_sdf_create(&object->mesh, &def, &options, out);
    if (result == GRAIN_OK || result == GRAIN_CANCELLED) return result;
    return fail_within(result, "object '%s'", object->name);
}

static GrainResult make_colliders(Simulation *simulation)
{
    const Job *job = simulation->job;
    simulation->sdf = ALLOC_ZEROED(GrainSdf *, job->object_count);
    if (!simulation->sdf) return GRAIN_ERROR_MEMORY;
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        TRY(run_progress(&simulation->run, "colliders", (double)i / job->object_count));
        int is_surface = object->role == JOB_EMITTER && object->emitter.from_surface;
        if (!object->is_plane && object->role != JOB_GRAIN && !is_surface)
            TRY(make_sdf(simulation, object, &simulation->sdf[i]));
    }
    TRY(job_make_solids(job, simulation->sdf, simulation->run.thread_count, &simulation->solids));
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
    if (job_is_wet(job) && !def.particle_moisture) { // whoever is born will be
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
    simulation->sim.slot_count = emission_slots(&simulation->emission);
    simulation->emission.sim = &simulation->sim;
    return GRAIN_OK;
}

// --- frames ---------------------------------------------------------------------------------------

// Where the bodies are, in the order of simulate_body_names.
static int body_columns(Simulation *simulation, Column columns[BODY_COLUMNS])
{
    const Rigid *rigid = simulation->sim.solver->rigid(simulation->sim.state);
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

GrainResult simulate_prepare(Simulation *simulation, const GrainRun *run)
{
    // During the simulation nothing is reported: what has to be made anew for meshes that bend is small.
    TRY(run_begin(&simulation->run, run));
    GrainRun silent = {sizeof silent, simulation->run.thread_count, NULL, NULL};
    TRY(make_colliders(simulation));
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
    job_free_solids(&simulation->solids);
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

GrainResult simulate_advance(Simulation *simulation, SimWatchFn *watch, void *user)
{
    Advance advance = {simulation, watch, user};
    return sim_advance_frame(&simulation->sim, &(SimWatch){watch ? watch_substep : NULL, change_particles, &advance});
}
