// SPDX-License-Identifier: GPL-3.0-or-later
// grain_bake: a job, stage by stage, into a cache.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/real.h"
#include "base/run.h"
#include "base/system.h"
#include "fill/fill.h"
#include "grain/job.h"
#include "job/bake_flow.h"
#include "mesh/mesh.h"
#include "shape/shape.h"
#include "sim/rigid/rigid.h"
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Colliders are sampled at voxels of this many radii: fine enough that a resting grain does not feel the grid.
#define COLLIDER_VOXEL_RADII 1.0f
// Wide enough for the largest grain and its skin to see the surface from outside, and to be pushed out from inside.
#define COLLIDER_BAND_VOXELS 3.0f
#define COLLIDER_MOST_VOXELS 16.0f
// What a particle costs at the peak: solver arrays, neighbour list, the frame being written.
#define BYTES_PER_PARTICLE 900.0
// A body, emitter or kill zone that is small against the grains has its own voxels: this many at least across its
// thinnest side.
#define BODY_VOXELS 8.0f
#define BODY_COLUMNS 4
#define BODY_FLOATS 13
// s; a floor far below must not make the steps of the whole bake tiny.
#define LONGEST_FALL 2.0f

typedef struct Bake {
    const GrainBakeDef *def;
    Job job;
    Run run; ///< of the stages before the simulation
    Cache cache;
    Sim sim;
    Particles particles;  ///< as filled, then as read for each frame
    int64_t settle_count; ///< the first of them, which come to rest before the first frame; 0: none
    GrainSdf **sdf;       ///< of each object; NULL for planes
    JobSolids solids;
    float *body_state; ///< as written to frames: position, orientation, velocity, spin of all bodies, one after another
    BallShape shape;   ///< of all grains
    uint8_t *particle_material; ///< NULL when all sources are of one kind
    int64_t material_capacity, material_noted;
    float *particle_moisture; ///< NULL when all sources are dry
    int64_t moisture_capacity, moisture_noted;
    Birth birth;
    int64_t births_written;
    BakeFlow flow;
    SimStats stats;       ///< at the frame written last
    int32_t last_frame;   ///< whole in the cache
    int32_t resumed_from; ///< what last_frame was at the start
    double began, frame_began, seconds_per_frame, last_report;
} Bake;

// --- reporting ----------------------------------------------------------------------------------

static GrainResult report(Bake *bake, GrainBakeEvent event, const char *stage, double fraction)
{
    const GrainBakeDef *def = bake->def;
    TRY(cache_beat(&bake->cache));
    if (!def->status) return GRAIN_OK;
    GrainBakeStatus status = {
        .struct_size = sizeof status,
        .event = event,
        .frame_start = bake->job.frame_start,
        .frame_end = bake->job.frame_end,
        .frame = event == GRAIN_BAKE_FRAME ? bake->last_frame : bake->last_frame + 1,
        .resumed_from = bake->resumed_from,
        .particles = bake->particles.count,
        .bytes_written = bake->cache.bytes_written,
        .fraction = fraction,
        .seconds = run_clock() - bake->began,
        .seconds_left = -1.0,
        .seconds_per_frame = bake->seconds_per_frame,
        .kinetic_energy = bake->stats.kinetic,
        .potential_energy = bake->stats.potential,
        .elastic_energy = bake->stats.elastic,
        .deepest_overlap = bake->stats.deepest,
        .contacts = bake->stats.contacts,
        .substeps = bake->stats.steps,
        .rejected_substeps = bake->stats.rejected,
        .stage = stage,
    };
    // The time left follows the frames of this run only; the latest counts most, as sand at rest bakes faster.
    if (bake->seconds_per_frame > 0.0)
        status.seconds_left = bake->seconds_per_frame * (bake->job.frame_end - bake->last_frame);
    if (def->status(def->user, &status) == GRAIN_CONTINUE) return GRAIN_OK;
    return fail(GRAIN_CANCELLED, "stopped at frame %d; bake again to resume", bake->last_frame);
}

static void warn(void *user, const char *text) { report(user, GRAIN_BAKE_WARNING, text, 0.0); }

static int32_t report_stage(void *user, const char *stage, float fraction)
{
    return report(user, GRAIN_BAKE_PREPARING, stage, (double)fraction) == GRAIN_OK ? GRAIN_CONTINUE : 0;
}

static double fraction_of(const Bake *bake, double frames_done)
{
    int32_t frames = bake->job.frame_end - bake->job.frame_start;
    return frames > 0 ? frames_done / frames : 1.0;
}

static GrainResult watch_substep(void *user, double frame_fraction)
{
    Bake *bake = user;
    double now = run_clock();
    if (now - bake->last_report < 0.05) return GRAIN_OK;
    bake->last_report = now;
    double frames_done = bake->last_frame - bake->job.frame_start + frame_fraction;
    return report(bake, GRAIN_BAKE_PROGRESS, "simulate", fraction_of(bake, frames_done));
}

static GrainResult change_particles(void *user, double from, double to)
{
    return bake_flow_change(&((Bake *)user)->flow, from, to);
}

// --- stages -------------------------------------------------------------------------------------

// One a line, in the order of the columns in frames.
static GrainResult join_body_names(const Job *job, char **out)
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

static GrainResult open_cache(Bake *bake)
{
    const Job *job = &bake->job;
    CacheManifest wanted = {.stream = "coarse",
                            .job_name = (char *)job->name,
                            .fps = job->fps,
                            .frame_start = job->frame_start,
                            .frame_end = job->frame_end};
    memcpy(wanted.fingerprint, job->fingerprint, sizeof wanted.fingerprint);
    char *folder = NULL;
    TRY(join_body_names(job, &wanted.bodies));
    GrainResult result = job_settings(job, JOB_SIMULATE, &wanted.settings);
    if (result == GRAIN_OK && !bake->def->cache_folder) result = file_join(bake->def->job_folder, "cache", &folder);
    if (result == GRAIN_OK)
        result = cache_open(&bake->cache, folder ? folder : bake->def->cache_folder, &wanted,
                            (CacheOpening[]){CACHE_KEEP, CACHE_RESTART, CACHE_ADOPT}[bake->def->restart]);
    if (result == GRAIN_OK && bake->def->restart == 2) cache_forget_frames(&bake->cache, bake->def->keep_frame);
    bake->cache.checkpoint_every = job->checkpoint_every;
    alloc_free(folder);
    alloc_free(wanted.bodies);
    json_decref(wanted.settings);
    return result;
}

static float smallest_extent(const GrainMesh *mesh)
{
    Vec3 low, high;
    mesh_bounds(mesh, 1, &low, &high);
    Vec3 size = vec3_sub(high, low);
    return real_maxf(real_minf(real_minf(size.x, size.y), size.z), 0.05f * vec3_length(size));
}

static GrainResult make_sdf(Bake *bake, const JobObject *object, GrainSdf **out)
{
    GrainSdfDef def;
    TRY(grain_sdf_def_default(&def, sizeof def));
    // The balls of a grain touch, but it is placed by the ball around it: the band must reach that far too.
    float around = 1.1f * bake->job.particle_radius * (1.0f + bake->job.size_spread);
    around *= solver_find(bake->job.solver)->traits.collider_reach;
    def.voxel_size = COLLIDER_VOXEL_RADII * bake->job.particle_radius * bake->shape.smallest_ball;
    int is_fine = object->role == JOB_BODY || object->role == JOB_EMITTER || object->role == JOB_KILL;
    if (is_fine) def.voxel_size = real_minf(def.voxel_size, smallest_extent(&object->mesh) / BODY_VOXELS);
    def.voxel_size = real_maxf(def.voxel_size, around / (COLLIDER_MOST_VOXELS - 1.0f));
    def.band_voxels = real_maxf(COLLIDER_BAND_VOXELS, around / def.voxel_size + 1.0f);
    def.thickness = object->thickness;
    GrainRun options = {sizeof options, bake->run.thread_count, report_stage, bake};
    GrainResult result = grain_sdf_create(&object->mesh, &def, &options, out);
    if (result == GRAIN_OK || result == GRAIN_CANCELLED) return result;
    return fail_within(result, "object '%s'", object->name);
}

static GrainResult make_colliders(Bake *bake)
{
    const Job *job = &bake->job;
    bake->sdf = ALLOC_ZEROED(GrainSdf *, job->object_count);
    if (!bake->sdf) return GRAIN_ERROR_MEMORY;
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        TRY(report(bake, GRAIN_BAKE_PREPARING, "colliders", (double)i / job->object_count));
        int is_surface = object->role == JOB_EMITTER && object->emitter.from_surface;
        if (!object->is_plane && object->role != JOB_GRAIN && !is_surface) TRY(make_sdf(bake, object, &bake->sdf[i]));
    }
    TRY(job_make_solids(job, bake->sdf, bake->run.thread_count, &bake->solids));
    bake->body_state = ALLOC_ZEROED(float, BODY_FLOATS * bake->solids.body_count);
    return bake->body_state ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

// Refuses what cannot fit before anything large is made. The volume of an open mesh means little, so the box around it
// is the limit.
static GrainResult check_memory(const Job *job, int balls)
{
    double particles = 0.0, each = BYTES_PER_PARTICLE * balls, memory = (double)system_memory_available();
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        if (!job_is_source(object)) continue;
        int is_emitter = object->role == JOB_EMITTER;
        particles +=
            is_emitter ? bake_flow_most(job, i) : fill_estimate(&object->mesh, job->particle_radius, job->size_spread);
        if (particles * each < memory && particles * balls < INT32_MAX / 4) continue;
        return fail(GRAIN_ERROR_MEMORY,
                    "object '%s' would %s up to %.0f million particles, about %.0f GB of memory where %.0f are free; "
                    "use a larger particle radius%s",
                    object->name, is_emitter ? "emit" : "hold", particles / 1e6, particles * each / 1e9, memory / 1e9,
                    is_emitter ? " or a lower rate" : "");
    }
    return GRAIN_OK;
}

// The particles added last are of this kind.
static GrainResult note_material(Bake *bake, int material)
{
    if (bake->job.dem.material_count == 0) return GRAIN_OK;
    TRY(alloc_grow((void **)&bake->particle_material, &bake->material_capacity, bake->particles.count, 1));
    for (; bake->material_noted < bake->particles.count; bake->material_noted++)
        bake->particle_material[bake->material_noted] = (uint8_t)material;
    return GRAIN_OK;
}

// As wet as the source is painted where they are.
static GrainResult note_moisture(Bake *bake, int object)
{
    const JobObject *source = &bake->job.objects[object];
    int64_t first = bake->moisture_noted, count = bake->particles.count - first;
    if (!job_is_wet(&bake->job)) return GRAIN_OK;
    TRY(alloc_grow((void **)&bake->particle_moisture, &bake->moisture_capacity, bake->particles.count, sizeof(float)));
    float *moisture = bake->particle_moisture + first;
    for (int64_t i = 0; i < count; i++) moisture[i] = 1.0f;
    if (source->moisture_paint.numbers)
        TRY(birth_paint(&bake->birth, object, &source->moisture_paint, bake->particles.position + first, count,
                        moisture));
    for (int64_t i = 0; i < count; i++) moisture[i] *= source->moisture;
    bake->moisture_noted += count;
    return GRAIN_OK;
}

// The particles added last are this source's.
static GrainResult note_birth(Bake *bake, int object)
{
    int64_t first = bake->birth.count;
    const Vec3 *places = bake->particles.position + first;
    TRY(birth_add(&bake->birth, object, places, places, bake->particles.count - first));
    TRY(note_material(bake, bake->job.objects[object].material));
    return note_moisture(bake, object);
}

// Those that settle, or those that do not.
static GrainResult fill_some(Bake *bake, int settles, const GrainSdf **avoid, int *avoid_count)
{
    const Job *job = &bake->job;
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        if (object->role != JOB_SOURCE || settles != (object->settle > 0.0f)) continue;
        FillDef fill = {bake->sdf[i],
                        avoid,
                        *avoid_count,
                        job->particle_radius,
                        job->size_spread,
                        object->velocity,
                        job->seed + (uint64_t)i,
                        solver_find(job->solver)->traits.fill_shake};
        GrainResult result = fill_volume(&bake->particles, &fill, &bake->run);
        if (result != GRAIN_OK && result != GRAIN_CANCELLED) result = fail_within(result, "object '%s'", object->name);
        TRY(result);
        TRY(note_birth(bake, i));
        avoid[(*avoid_count)++] = bake->sdf[i];
    }
    return GRAIN_OK;
}

// A source gets no particle inside a collider, nor inside a source that was filled before it.
static GrainResult fill_sources(Bake *bake)
{
    const Job *job = &bake->job;
    const GrainSdf **avoid = ALLOC(const GrainSdf *, job->object_count);
    if (!avoid) return GRAIN_ERROR_MEMORY;
    int avoid_count = 0;
    for (int i = 0; i < job->object_count; i++)
        if ((job->objects[i].role == JOB_COLLIDER || job->objects[i].role == JOB_BODY) && bake->sdf[i])
            avoid[avoid_count++] = bake->sdf[i];
    GrainResult result = fill_some(bake, 1, avoid, &avoid_count);
    bake->settle_count = bake->particles.count;
    if (result == GRAIN_OK) result = fill_some(bake, 0, avoid, &avoid_count);
    alloc_free(avoid);
    return result;
}

// Where and how fast emitters throw.
static void expect_emitters(const Bake *bake, Vec3 up, float *highest, float *fastest)
{
    for (int e = 0; e < bake->flow.emitter_count; e++) {
        const EmitterDef *def = &bake->flow.emitters[e].def;
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

// How fast something can hit something: falling through the height of the scene, though for no longer than a shot
// lasts, on top of the sources' own speed.
static float expected_speed(const Bake *bake)
{
    float lowest = INFINITY, highest = -INFINITY, fastest = 0.0f;
    float strength = curve_largest(&bake->job.gravity);
    Vec3 up = vec3_normalize(vec3_scale(curve_constant(&bake->job.gravity), -1.0f), vec3(0, 0, 1));
    for (int64_t i = 0; i < bake->particles.count; i++) {
        float height = vec3_dot(bake->particles.position[i], up);
        lowest = real_minf(lowest, height), highest = real_maxf(highest, height);
        fastest = real_maxf(fastest, vec3_length(bake->particles.velocity[i]));
    }
    for (int i = 0; i < bake->job.object_count; i++) {
        const JobObject *object = &bake->job.objects[i];
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
    expect_emitters(bake, up, &highest, &fastest);
    if (bake->flow.emitter_count > 0 && !(lowest < INFINITY)) lowest = highest; // nothing to hit but each other
    // What a prop throws flies as fast as the prop.
    for (int i = 0; i < bake->solids.collider_count; i++)
        fastest = real_maxf(fastest,
                            (float)motion_fastest(&bake->solids.colliders[i].motion, bake->solids.colliders[i].mesh));
    // What a force field throws flies as after half a second in it.
    fastest += 0.5f * fields_strongest(bake->job.fields, bake->job.field_count);
    float fall = sqrtf(2.0f * strength * real_maxf(highest - lowest, bake->job.particle_radius));
    return fastest + real_minf(fall, strength * LONGEST_FALL);
}

static GrainResult create_sim(Bake *bake)
{
    const Job *job = &bake->job;
    SimDef def = {.solver = job->solver,
                  .gravity = curve_constant(&job->gravity),
                  .largest_radius = job->particle_radius * (1.0f + job->size_spread),
                  .density = job->density,
                  .friction = job->friction,
                  .rolling_friction = job->rolling_friction,
                  .restitution = job->restitution,
                  .law = job->law,
                  .model = job->model,
                  .particle_moisture = bake->particle_moisture,
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
                  .particle_material = bake->particle_material,
                  .shapes = &bake->shape,
                  .shape_count = 1,
                  .seed = job->seed,
                  .softness = job->softness,
                  .expected_speed = expected_speed(bake),
                  .colliders = bake->solids.colliders,
                  .collider_count = bake->solids.collider_count};
    if (job_is_wet(job) && !def.particle_moisture) { // whoever is born will be
        TRY(alloc_grow((void **)&bake->particle_moisture, &bake->moisture_capacity, 1, sizeof(float)));
        def.particle_moisture = bake->particle_moisture;
    }
    // Those that settle come first, without the others.
    Particles start = bake->particles;
    if (bake->settle_count > 0) start.count = bake->settle_count;
    if (start.count < bake->particles.count) def.smallest_born = job->particle_radius * (1.0f - job->size_spread);
    if (bake->flow.emitter_count > 0) {
        def.smallest_born = job->particle_radius * (1.0f - job->size_spread);
        def.birthplace = ((const Vec3 *)bake->flow.emitters[0].def.mesh->positions)[0];
    }
    TRY(sim_create(&bake->sim, &def, &start, 1.0 / job->fps, bake->run.thread_count));
    bake->sim.slot_count = bake_flow_slots(&bake->flow);
    bake->flow.sim = &bake->sim;
    return GRAIN_OK;
}

static GrainResult write_checkpoint(Bake *bake)
{
    Column columns[SOLVER_MAX_COLUMNS + BIRTH_PENDING_COLUMNS];
    int count = sim_save(&bake->sim, columns);
    float *values = NULL;
    if (bake->flow.emitter_count > 0) {
        TRY(birth_pending(&bake->birth, bake->births_written, &values, columns + count));
        count += BIRTH_PENDING_COLUMNS;
    }
    GrainFileHeader header = {.frame = bake->last_frame,
                              .substep = bake->sim.substep,
                              .time = bake->sim.time,
                              .particles = bake->particles.count};
    GrainResult result = cache_write_checkpoint(&bake->cache, &header, columns, count);
    alloc_free(values);
    return result;
}

// Where the bodies are, in the order the cache's manifest names them.
static int body_columns(Bake *bake, Column columns[BODY_COLUMNS])
{
    const Rigid *rigid = bake->sim.solver->rigid(bake->sim.state);
    int64_t count = bake->solids.body_count;
    if (count == 0) return 0;
    float *position = bake->body_state, *orientation = position + 3 * count, *velocity = orientation + 4 * count,
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

// What those born since the last frame brought with them.
static GrainResult write_births(Bake *bake, int32_t frame)
{
    Column columns[BIRTH_MAX_COLUMNS];
    int64_t count = bake->birth.count - bake->births_written;
    if (count == 0) return GRAIN_OK;
    int column_count = birth_columns(&bake->birth, bake->births_written, columns);
    TRY(cache_write_birth(&bake->cache, frame, bake->sim.time, count, columns, column_count));
    bake->births_written = bake->birth.count;
    return GRAIN_OK;
}

static GrainResult write_frame(Bake *bake, int32_t frame)
{
    TRY(write_births(bake, frame));
    TRY(sim_read(&bake->sim, &bake->particles));
    Column columns[BODY_COLUMNS + 2];
    int column_count = body_columns(bake, columns);
    if (bake->particles.moisture)
        columns[column_count++] = (Column){"moisture", GRAIN_F32, 1, bake->particles.count, bake->particles.moisture};
    if (bake->flow.emitter_count > 0)
        columns[column_count++] =
            (Column){"birth_time", GRAIN_F32, 1, bake->particles.count, bake->sim.population.birth_time};
    TRY(cache_write_frame(&bake->cache, frame, bake->sim.time, &bake->particles, columns, column_count));
    bake->last_frame = frame;
    bake->sim.solver->measure(bake->sim.state, &bake->stats);
    return write_checkpoint(bake);
}

static GrainResult watch_settling(void *user, double fraction)
{
    Bake *bake = user;
    double now = run_clock();
    if (now - bake->last_report < 0.05) return GRAIN_OK;
    bake->last_report = now;
    return report(bake, GRAIN_BAKE_PREPARING, "settling", fraction);
}

// Sand that is to be at rest comes to rest; then the rest of the sand is there too.
static GrainResult settle(Bake *bake)
{
    const Job *job = &bake->job;
    float longest = 0.0f;
    double moving;
    int64_t first = bake->settle_count;
    for (int i = 0; i < job->object_count; i++) longest = real_maxf(longest, job->objects[i].settle);
    if (first == 0) return GRAIN_OK;
    TRY(bake_flow_begin_steering(&bake->flow));
    TRY(sim_settle(&bake->sim, (double)longest, job->particle_radius, &(SimWatch){watch_settling, NULL, bake},
                   &moving));
    if (moving > 0.0) {
        char text[200];
        snprintf(text, sizeof text,
                 "after %g s of settling %.3g %% of the sand still moves; it starts as it is. Let it settle longer, or "
                 "see what "
                 "lets it fall",
                 (double)longest, 100.0 * moving);
        warn(bake, text);
    }
    Particles others = {.count = bake->particles.count - first,
                        .position = bake->particles.position + first,
                        .velocity = bake->particles.velocity + first,
                        .radius = bake->particles.radius + first,
                        .moisture = bake->particle_moisture ? bake->particle_moisture + first : NULL};
    SimChange change = {.born = &others, .material = bake->particle_material ? bake->particle_material + first : NULL};
    return sim_change(&bake->sim, &change, NULL); // even without new particles: lists learn that colliders move again
}

// From the checkpoint in the cache, or from the sources as filled.
static GrainResult start_or_resume(Bake *bake)
{
    struct GrainFrame checkpoint;
    int found;
    bake->last_frame = bake->job.frame_start - 1;
    TRY(cache_find_checkpoint(&bake->cache, &checkpoint, &found, warn, bake));
    if (found) {
        GrainResult result = sim_load(&bake->sim, checkpoint.columns, checkpoint.column_count);
        bake->last_frame = checkpoint.header.frame;
        bake->births_written = bake->birth.count;
        if (result == GRAIN_OK && bake->flow.emitter_count > 0)
            result = birth_resume(&bake->birth, checkpoint.columns, checkpoint.column_count);
        grain_file_free(&checkpoint);
        if (result != GRAIN_OK)
            return fail_within(result, "the checkpoint in '%s' cannot be used; bake anew (--restart)",
                               bake->cache.folder);
    }
    if (!found) TRY(settle(bake));
    bake->resumed_from = bake->last_frame;
    TRY(report(bake, GRAIN_BAKE_STARTED, bake->cache.folder, 0.0));
    if (bake->last_frame >= bake->job.frame_start) return GRAIN_OK;
    TRY(bake_flow_steer(&bake->flow, 0.0));
    return write_frame(bake, bake->job.frame_start);
}

static GrainResult bake_frames(Bake *bake)
{
    int32_t until = bake->job.frame_end;
    if (bake->def->limit_frames && bake->def->last_frame < until) until = bake->def->last_frame;
    while (bake->last_frame < until) {
        bake->frame_began = run_clock();
        GrainResult result = sim_advance_frame(&bake->sim, &(SimWatch){watch_substep, change_particles, bake});
        if (result == GRAIN_CANCELLED) TRY(write_checkpoint(bake));
        TRY(result);
        TRY(write_frame(bake, bake->last_frame + 1));
        bake->seconds_per_frame = run_clock() - bake->frame_began;
        // A wish to stop that comes here needs no further checkpoint: the one just written is the latest.
        TRY(report(bake, GRAIN_BAKE_FRAME, "simulate", fraction_of(bake, bake->last_frame - bake->job.frame_start)));
    }
    return GRAIN_OK;
}

static GrainResult begin_flow(Bake *bake)
{
    // In the middle of a bake nothing is reported: what has to be made anew for meshes that bend is small.
    GrainRun run = {sizeof run, bake->run.thread_count, NULL, NULL};
    return bake_flow_begin(&bake->flow, &bake->job, bake->sdf, &bake->birth, &run);
}

static GrainResult bake_all(Bake *bake)
{
    TRY(job_read(bake->def->job_folder, &bake->job));
    TRY(job_grain_shape(&bake->job, &bake->shape));
    TRY(check_memory(&bake->job, bake->shape.ball_count));
    TRY(open_cache(bake));
    TRY(make_colliders(bake));
    TRY(birth_begin(&bake->birth, &bake->job, bake->run.thread_count));
    TRY(fill_sources(bake));
    TRY(begin_flow(bake));
    TRY(create_sim(bake));
    TRY(start_or_resume(bake));
    return bake_frames(bake);
}

GrainResult grain_bake_def_default(GrainBakeDef *def, uint32_t size)
{
    BEGIN_DEFAULT(def, size, GrainBakeDef);
    return GRAIN_OK;
}

GrainResult grain_bake(const GrainBakeDef *def)
{
    CHECK_STRUCT(def, GrainBakeDef);
    if (!def->job_folder) return fail(GRAIN_ERROR_ARGUMENT, "GrainBakeDef.job_folder is NULL");
    if (def->restart < 0 || def->restart > 2)
        return fail(GRAIN_ERROR_ARGUMENT, "GrainBakeDef.restart is %d; it must be 0, 1 or 2", def->restart);
    Bake bake = {.def = def, .began = run_clock(), .cache.lock = CACHE_LOCK_NONE};
    GrainRun options = {sizeof options, def->thread_count, report_stage, &bake};
    TRY(run_begin(&bake.run, &options));
    GrainResult result = bake_all(&bake);

    sim_destroy(&bake.sim);
    particles_free(&bake.particles);
    for (int i = 0; bake.sdf && i < bake.job.object_count; i++) grain_sdf_destroy(bake.sdf[i]);
    alloc_free(bake.sdf);
    job_free_solids(&bake.solids);
    alloc_free(bake.body_state);
    bake_flow_free(&bake.flow);
    birth_free(&bake.birth);
    alloc_free(bake.particle_material);
    alloc_free(bake.particle_moisture);
    cache_close(&bake.cache);
    job_free(&bake.job);
    return result;
}
