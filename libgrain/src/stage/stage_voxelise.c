// SPDX-License-Identifier: GPL-3.0-or-later
// Turning the frames of a bake or of its grains, each on its own, into a sequence of .vdb files.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/real.h"
#include "base/system.h"
#include "output/volume_file.h"
#include "shape/shape.h"
#include "sim/solver.h"
#include "stage/stage.h"
#include "volume/volume.h"
#include "volume/volume_dust.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_GRIDS 4
// Edge of a voxel of dust, in radii of the simulated particles: dust is soft.
#define DUST_VOXEL_RADII 4.0f

typedef struct Voxelise {
    char *coarse_folder, *grain_folder;
    CacheManifest coarse, grains;
    const CacheManifest *source;        ///< of these
    double amount_each, amount_of_cube; ///< of a simulated particle (volume.h)
    Dust *dust;
    int64_t particles;
} Voxelise;

/// A frame as it is in memory, and what is made of it.
typedef struct VolumeFrame {
    struct GrainFrame coarse, grains;
    Volume sand, dust;
    VdbGrid grids[MOST_GRIDS];
    int grid_count;
} VolumeFrame;

// --- the plan -------------------------------------------------------------------------------------

static GrainResult read_source(Runner *runner)
{
    Voxelise *v = runner->state;
    const Job *job = &runner->job;
    TRY(stage_bake_folder(runner, &v->coarse_folder));
    TRY(stage_read_input(runner, v->coarse_folder, job->fingerprint, "baked frames", "grain bake", &v->coarse));
    v->source = &v->coarse;
    if (!job->volume.from_grains) return GRAIN_OK;
    char fingerprint[CACHE_FINGERPRINT_CHARS + 1];
    job_upsample_fingerprint(job, fingerprint);
    TRY(file_enter(v->coarse_folder, "grains", &v->grain_folder));
    v->source = &v->grains;
    return stage_read_input(runner, v->grain_folder, fingerprint, "render grains", "grain upsample", &v->grains);
}

// Edge of a voxel of sand: in radii of what it is made of.
static float sand_voxel(const Runner *runner)
{
    const Voxelise *v = runner->state;
    float voxel = runner->job.volume.voxel_radii * runner->job.particle_radius;
    if (!runner->job.volume.from_grains) return voxel;
    double per_particle = (double)v->grains.frames[0].particles / (double)v->coarse.frames[0].particles;
    return voxel / (float)real_cbrt(real_max(per_particle, 1.0));
}

static float dust_voxel(const Runner *runner) { return DUST_VOXEL_RADII * runner->job.particle_radius; }

// How much sand there is in a simulated particle.
static GrainResult measure_particles(Runner *runner)
{
    Voxelise *v = runner->state;
    float largest = runner->job.particle_radius * (1.0f + runner->job.size_spread);
    v->amount_each = solver_grain_volume(solver_find(runner->job.solver), largest);
    if (v->amount_each > 0.0) return GRAIN_OK;
    BallShape shape;
    TRY(job_grain_shape(&runner->job, &shape));
    v->amount_of_cube = shape.volume;
    return GRAIN_OK;
}

static GrainResult plan(Runner *runner, CacheManifest *wanted, char **folder)
{
    Voxelise *v = runner->state;
    const JobVolume *wish = &runner->job.volume;
    int has_sand = wish->density || wish->velocity || wish->surface, count = 0;
    TRY(vdb_need());
    TRY(read_source(runner));
    TRY(stage_choose_frames(runner, v->source));
    TRY(measure_particles(runner));
    wanted->fps = v->coarse.fps;
    wanted->voxel_size = (double)(has_sand ? sand_voxel(runner) : dust_voxel(runner));
    wanted->number_shift = v->coarse.frame_start < 0 ? -v->coarse.frame_start : 0;
    if (wish->density) wanted->grids[count++] = "density";
    if (wish->velocity) wanted->grids[count++] = "velocity";
    if (wish->dust) wanted->grids[count++] = "dust";
    if (wish->surface) wanted->grids[count++] = "surface";
    return file_enter(v->coarse_folder, "volume", folder);
}

// --- one frame ------------------------------------------------------------------------------------

static GrainResult view(const struct GrainFrame *frame, VolumeParticles *out)
{
    const Column *position = column_find(frame->columns, frame->column_count, "position"),
                 *velocity = column_find(frame->columns, frame->column_count, "velocity"),
                 *radius = column_find(frame->columns, frame->column_count, "radius");
    int64_t count = frame->header.particles;
    const Column *const all[] = {position, velocity, radius};
    for (int i = 0; i < 3; i++)
        if (!all[i] || all[i]->type != GRAIN_F32 || all[i]->count != count || all[i]->components != (i < 2 ? 3 : 1))
            return fail(GRAIN_ERROR_DAMAGED, "frame %d has no positions, velocities or radii; make it again",
                        frame->header.frame);
    *out = (VolumeParticles){count, position->data, velocity->data, radius->data, 0.0, 0.0, NULL, NULL};
    return GRAIN_OK;
}

static double sum_of_cubes(const VolumeParticles *particles)
{
    double sum = 0.0;
    for (int64_t i = 0; i < particles->count; i++) {
        double radius = (double)particles->radius[i];
        sum += radius * radius * radius;
    }
    return sum;
}

static GrainResult read_frame(const Runner *runner, int32_t frame, VolumeFrame *f, VolumeParticles *sand)
{
    const Voxelise *v = runner->state;
    VolumeParticles coarse;
    TRY(cache_read_frame(v->coarse_folder, "coarse", &v->coarse.frames[frame - v->coarse.frame_start], &f->coarse));
    TRY(view(&f->coarse, &coarse));
    coarse.amount_each = v->amount_each, coarse.amount_of_cube = v->amount_of_cube;
    *sand = coarse;
    if (!runner->job.volume.from_grains) return GRAIN_OK;
    TRY(cache_read_frame(v->grain_folder, "grains", &v->grains.frames[frame - v->grains.frame_start], &f->grains));
    TRY(view(&f->grains, sand));
    // Grains share out their particles' sand by their own size.
    double amount = v->amount_each * (double)coarse.count + v->amount_of_cube * sum_of_cubes(&coarse);
    double cubes = sum_of_cubes(sand);
    sand->amount_of_cube = cubes > 0.0 ? amount / cubes : 0.0;
    return GRAIN_OK;
}

static void add_grid(VolumeFrame *f, const char *name, VdbGridKind kind, const Volume *volume, const float *values)
{
    f->grids[f->grid_count++] = (VdbGrid){name,
                                          kind,
                                          kind == VDB_DISTANCE ? VOLUME_BAND * (float)volume->voxel_size : 0.0f,
                                          volume->voxel_size,
                                          volume->block_count,
                                          volume->corner,
                                          values};
}

static GrainResult make_dust(Runner *runner, int32_t frame, VolumeFrame *f)
{
    Voxelise *v = runner->state;
    VolumeParticles puffs;
    TRY(dust_at(v->dust, frame, runner->run.thread_count, &puffs));
    VolumeDef def = {.voxel_size = dust_voxel(runner)};
    TRY(volume_make(&f->dust, &def, &puffs, runner->run.thread_count));
    add_grid(f, "dust", VDB_FOG, &f->dust, f->dust.density);
    return GRAIN_OK;
}

static GrainResult make_sand(const Runner *runner, const VolumeParticles *sand, VolumeFrame *f)
{
    const Voxelise *v = runner->state;
    const JobVolume *wish = &runner->job.volume;
    // The longest shutter is open for a frame, half of it before and half behind.
    VolumeDef def = {.voxel_size = sand_voxel(runner),
                     .velocity_seconds = wish->velocity ? (float)(0.5 / v->coarse.fps) : 0.0f,
                     .surface_radii = wish->surface ? wish->surface_radii : 0.0f};
    double needed = volume_bytes(sand->count, 0, &def), free_bytes = (double)system_memory_available();
    if (needed > free_bytes)
        return fail(GRAIN_ERROR_MEMORY,
                    "%.1f million particles need %.1f GB of memory where %.1f are free; make the volume "
                    "of the simulated particles instead, or of fewer grains",
                    1e-6 * (double)sand->count, 1e-9 * needed, 1e-9 * free_bytes);
    TRY(volume_make(&f->sand, &def, sand, runner->run.thread_count));
    if (wish->density) add_grid(f, "density", VDB_FOG, &f->sand, f->sand.density);
    if (wish->velocity) add_grid(f, "velocity", VDB_VELOCITY, &f->sand, f->sand.velocity);
    if (wish->surface) add_grid(f, "surface", VDB_DISTANCE, &f->sand, f->sand.distance);
    return GRAIN_OK;
}

static GrainResult make_grids(Runner *runner, int32_t frame, VolumeFrame *f)
{
    Voxelise *v = runner->state;
    const JobVolume *wish = &runner->job.volume;
    VolumeParticles sand;
    TRY(read_frame(runner, frame, f, &sand));
    v->particles = sand.count;
    if (wish->density || wish->velocity || wish->surface) TRY(make_sand(runner, &sand, f));
    return wish->dust ? make_dust(runner, frame, f) : GRAIN_OK;
}

static GrainResult write_file(Runner *runner, int32_t frame, const VolumeFrame *f)
{
    Voxelise *v = runner->state;
    char creator[64], *path;
    snprintf(creator, sizeof creator, "Grain %s", grain_version());
    const VdbNumber numbers[] = {{"grain_density", (double)runner->job.density},
                                 {"frame", frame},
                                 {"seconds", f->coarse.header.time},
                                 {"fps", v->coarse.fps}};
    VdbFile file = {creator, numbers, sizeof numbers / sizeof *numbers, f->grids, f->grid_count};
    ColumnFileHeader header = {.frame = frame, .particles = v->particles};
    TRY(volume_file_path(runner->cache.folder, frame + runner->cache.manifest.number_shift, &path));
    GrainResult result = volume_file_write(path, &file, &header);
    alloc_free(path);
    return result == GRAIN_OK ? cache_add_frame(&runner->cache, &header) : result;
}

static GrainResult next_frame(Runner *runner)
{
    VolumeFrame f = {0};
    int32_t frame = runner->done + 1;
    GrainResult result = make_grids(runner, frame, &f);
    if (result == GRAIN_OK) result = write_file(runner, frame, &f);
    volume_free(&f.sand);
    volume_free(&f.dust);
    column_file_free(&f.coarse);
    column_file_free(&f.grains);
    return result;
}

// --- dust -----------------------------------------------------------------------------------------

// Dust remembers where sand was: it reads the frames before the first one that is to be made as well.
static GrainResult read_for_dust(void *user, int32_t frame, Dust *dust)
{
    const Runner *runner = user;
    const Voxelise *v = runner->state;
    if (frame < v->coarse.frame_start) return GRAIN_OK;
    struct GrainFrame file;
    VolumeParticles coarse = {0};
    TRY(cache_read_frame(v->coarse_folder, "coarse", &v->coarse.frames[frame - v->coarse.frame_start], &file));
    GrainResult result = view(&file, &coarse);
    coarse.amount_each = v->amount_each, coarse.amount_of_cube = v->amount_of_cube;
    if (result == GRAIN_OK) result = dust_add(dust, frame, &coarse);
    column_file_free(&file);
    return result;
}

static GrainResult start_dust(Runner *runner)
{
    Voxelise *v = runner->state;
    if (!runner->job.volume.dust) return GRAIN_OK;
    DustDef def = {.speed = runner->job.volume.dust_speed,
                   .linger = runner->job.volume.dust_linger,
                   .frame_seconds = (float)(1.0 / v->coarse.fps),
                   .voxel_size = dust_voxel(runner),
                   .read = read_for_dust,
                   .user = runner};
    return dust_create(&def, &v->dust);
}

// --- resuming -------------------------------------------------------------------------------------

// Frames stay up to the first that is damaged or missing.
static GrainResult keep_whole_frames(Runner *runner)
{
    CacheManifest *manifest = &runner->cache.manifest;
    int64_t whole = 0;
    cache_manifest_keep_run(manifest);
    GrainResult result = GRAIN_OK;
    for (; whole < manifest->frame_count; whole++) {
        result = volume_file_check(runner->cache.folder, manifest, &manifest->frames[whole]);
        if (result != GRAIN_OK) break;
    }
    if (result == GRAIN_ERROR_MEMORY) return result;
    if (result != GRAIN_OK) {
        char text[1024];
        snprintf(text, sizeof text, "frame %d is made again: %s", manifest->frames[whole].frame, grain_last_error());
        stage_warn(runner, text);
    }
    manifest->frame_count = whole;
    return GRAIN_OK;
}

static GrainResult resume(Runner *runner)
{
    Voxelise *v = runner->state;
    const CacheManifest *manifest = &runner->cache.manifest;
    TRY(keep_whole_frames(runner));
    runner->origin = manifest->frame_start - 1;
    runner->done = runner->resumed_from = manifest->frame_start + (int32_t)manifest->frame_count - 1;
    v->particles = v->source->frames[0].particles;
    return GRAIN_OK;
}

// --- the row --------------------------------------------------------------------------------------

static void measure(const Runner *runner, GrainStageStatus *status)
{
    status->particles = ((const Voxelise *)runner->state)->particles;
}

static void free_state(Runner *runner)
{
    Voxelise *v = runner->state;
    dust_destroy(v->dust);
    cache_manifest_free(&v->coarse);
    cache_manifest_free(&v->grains);
    alloc_free(v->coarse_folder);
    alloc_free(v->grain_folder);
}

const Stage stage_voxelise = {.name = "volume",
                              .command = "grain volume",
                              .stream = "volume",
                              .state_bytes = sizeof(Voxelise),
                              .opening = CACHE_REPLACE,
                              .settings = JOB_VOXELS,
                              .fingerprint = job_volume_fingerprint,
                              .plan = plan,
                              .prepare = start_dust,
                              .resume = resume,
                              .frame = next_frame,
                              .measure = measure,
                              .free = free_state};
