// SPDX-License-Identifier: GPL-3.0-or-later
// grain_volume: the frames of a bake or of its grains, each on its own, into a sequence of .vdb files.
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "base/run.h"
#include "base/system.h"
#include "grain/job.h"
#include "job/job.h"
#include "output/volume_file.h"
#include "shape/shape.h"
#include "sim/solver.h"
#include "volume/volume.h"
#include "volume/volume_dust.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_GRIDS 4
// Edge of a voxel of dust, in radii of the simulated particles: dust is soft.
#define DUST_VOXEL_RADII 4.0f

typedef struct Volumes {
    const GrainVolumeDef *def;
    Job job;
    Run run;
    char *coarse_folder, *grain_folder;
    CacheManifest coarse, grains;
    const CacheManifest *source; ///< of these
    const char *source_folder;
    Cache cache;
    double amount_each, amount_of_cube; ///< of a simulated particle (volume.h)
    Dust *dust;
    int64_t particles;
    int32_t first, last, done;
    int32_t resumed_from;
    double began, seconds_per_frame;
} Volumes;

/// A frame as it is in memory, and what is made of it.
typedef struct VolumeFrame {
    struct GrainFrame coarse, grains;
    Volume sand, dust;
    VdbGrid grids[MOST_GRIDS];
    int grid_count;
} VolumeFrame;

// --- reporting ----------------------------------------------------------------------------------

static GrainResult report(Volumes *v, GrainBakeEvent event, const char *stage)
{
    if (!v->def->status) return GRAIN_OK;
    double frames = (double)v->last - v->cache.manifest.frame_start + 1.0;
    GrainBakeStatus status = {.struct_size = sizeof status,
                              .event = event,
                              .frame_start = v->first,
                              .frame_end = v->last,
                              .frame = event == GRAIN_BAKE_FRAME ? v->done : v->done + 1,
                              .resumed_from = v->resumed_from,
                              .particles = v->particles,
                              .bytes_written = v->cache.bytes_written,
                              .fraction = real_max((v->done - v->cache.manifest.frame_start + 1.0) / frames, 0.0),
                              .seconds = run_clock() - v->began,
                              .seconds_left = -1.0,
                              .seconds_per_frame = v->seconds_per_frame,
                              .stage = stage};
    if (v->seconds_per_frame > 0.0) status.seconds_left = v->seconds_per_frame * (v->last - v->done);
    if (v->def->status(v->def->user, &status) == GRAIN_CONTINUE) return GRAIN_OK;
    return fail(GRAIN_CANCELLED, "stopped after frame %d; run the same command again to resume", v->done);
}

// --- what is there --------------------------------------------------------------------------------

static GrainResult read_manifest(const char *folder, const char *fingerprint, const char *what, const char *command,
                                 CacheManifest *out)
{
    GrainResult result = cache_manifest_read(folder, out);
    cache_manifest_keep_run(out);
    if (result == GRAIN_ERROR_IO || (result == GRAIN_OK && out->frame_count == 0))
        return fail(GRAIN_ERROR_IO, "there are no %s in '%s' yet: run %s first, then volume", what, folder, command);
    TRY(result);
    if (strcmp(out->fingerprint, fingerprint) == 0) return GRAIN_OK;
    return fail(GRAIN_ERROR_OTHER_JOB,
                "the %s in '%s' were made with other settings, another scene or another version of Grain: run %s first",
                what, folder, command);
}

static GrainResult read_source(Volumes *v)
{
    const char *given = v->def->cache_folder;
    TRY(given ? file_join(given, "", &v->coarse_folder) : file_join(v->def->job_folder, "cache/", &v->coarse_folder));
    TRY(read_manifest(v->coarse_folder, v->job.fingerprint, "baked frames", "grain bake", &v->coarse));
    v->source = &v->coarse, v->source_folder = v->coarse_folder;
    if (v->job.volume.from_grains) {
        char fingerprint[CACHE_FINGERPRINT_CHARS + 1];
        job_upsample_fingerprint(&v->job, fingerprint);
        TRY(file_join(v->coarse_folder, "grains", &v->grain_folder));
        TRY(read_manifest(v->grain_folder, fingerprint, "render grains", "grain upsample", &v->grains));
        v->source = &v->grains, v->source_folder = v->grain_folder;
    }
    int32_t start = v->source->frame_start, end = start + (int32_t)v->source->frame_count - 1;
    v->first = start, v->last = end;
    if (!v->def->limit_frames) return GRAIN_OK;
    v->first = v->def->first_frame, v->last = v->def->last_frame;
    if (v->first >= start && v->last <= end && v->first <= v->last) return GRAIN_OK;
    return fail(GRAIN_ERROR_ARGUMENT, "frames %d to %d were asked for; there are %d to %d", v->first, v->last, start,
                end);
}

// Edge of a voxel of sand: in radii of what it is made of.
static float sand_voxel(const Volumes *v)
{
    float voxel = v->job.volume.voxel_radii * v->job.particle_radius;
    if (!v->job.volume.from_grains) return voxel;
    double per_particle = (double)v->grains.frames[0].particles / (double)v->coarse.frames[0].particles;
    return voxel / (float)real_cbrt(real_max(per_particle, 1.0));
}

static float dust_voxel(const Volumes *v) { return DUST_VOXEL_RADII * v->job.particle_radius; }

static GrainResult open_cache(Volumes *v)
{
    const JobVolume *wish = &v->job.volume;
    int has_sand = wish->density || wish->velocity || wish->surface;
    CacheManifest wanted = {.stream = "volume",
                            .voxel_size = (double)(has_sand ? sand_voxel(v) : dust_voxel(v)),
                            .number_shift = v->coarse.frame_start < 0 ? -v->coarse.frame_start : 0,
                            .job_name = (char *)v->job.name,
                            .fps = v->coarse.fps,
                            .frame_start = v->first,
                            .frame_end = v->last};
    job_volume_fingerprint(&v->job, wanted.fingerprint);
    int count = 0;
    if (wish->density) wanted.grids[count++] = "density";
    if (wish->velocity) wanted.grids[count++] = "velocity";
    if (wish->dust) wanted.grids[count++] = "dust";
    if (wish->surface) wanted.grids[count++] = "surface";
    char *folder = NULL;
    TRY(job_settings(&v->job, JOB_VOXELS, &wanted.settings));
    GrainResult result = file_join(v->coarse_folder, "volume", &folder);
    if (result == GRAIN_OK)
        result = cache_open(&v->cache, folder, &wanted, v->def->force ? CACHE_RESTART : CACHE_REPLACE);
    alloc_free(folder);
    json_decref(wanted.settings);
    return result;
}

// How much sand there is in a simulated particle.
static GrainResult measure_particles(Volumes *v)
{
    float largest = v->job.particle_radius * (1.0f + v->job.size_spread);
    v->amount_each = solver_grain_volume(solver_find(v->job.solver), largest);
    if (v->amount_each > 0.0) return GRAIN_OK;
    BallShape shape;
    TRY(job_grain_shape(&v->job, &shape));
    v->amount_of_cube = shape.volume;
    return GRAIN_OK;
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

static GrainResult read_frame(const Volumes *v, int32_t frame, VolumeFrame *f, VolumeParticles *sand)
{
    VolumeParticles coarse;
    TRY(cache_read_frame(v->coarse_folder, "coarse", &v->coarse.frames[frame - v->coarse.frame_start], &f->coarse));
    TRY(view(&f->coarse, &coarse));
    coarse.amount_each = v->amount_each, coarse.amount_of_cube = v->amount_of_cube;
    *sand = coarse;
    if (!v->job.volume.from_grains) return GRAIN_OK;
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

static GrainResult make_dust(Volumes *v, int32_t frame, VolumeFrame *f)
{
    VolumeParticles puffs;
    TRY(dust_at(v->dust, frame, v->run.thread_count, &puffs));
    VolumeDef def = {.voxel_size = dust_voxel(v)};
    TRY(volume_make(&f->dust, &def, &puffs, v->run.thread_count));
    add_grid(f, "dust", VDB_FOG, &f->dust, f->dust.density);
    return GRAIN_OK;
}

static GrainResult make_sand(const Volumes *v, const VolumeParticles *sand, VolumeFrame *f)
{
    const JobVolume *wish = &v->job.volume;
    // The longest shutter is open for a frame, half of it before and half behind.
    VolumeDef def = {.voxel_size = sand_voxel(v),
                     .velocity_seconds = wish->velocity ? (float)(0.5 / v->coarse.fps) : 0.0f,
                     .surface_radii = wish->surface ? wish->surface_radii : 0.0f};
    double needed = volume_bytes(sand->count, 0, &def), free_bytes = (double)system_memory_available();
    if (needed > free_bytes)
        return fail(GRAIN_ERROR_MEMORY,
                    "%.1f million particles need %.1f GB of memory where %.1f are free; make the volume "
                    "of the simulated particles instead, or of fewer grains",
                    1e-6 * (double)sand->count, 1e-9 * needed, 1e-9 * free_bytes);
    TRY(volume_make(&f->sand, &def, sand, v->run.thread_count));
    if (wish->density) add_grid(f, "density", VDB_FOG, &f->sand, f->sand.density);
    if (wish->velocity) add_grid(f, "velocity", VDB_VELOCITY, &f->sand, f->sand.velocity);
    if (wish->surface) add_grid(f, "surface", VDB_DISTANCE, &f->sand, f->sand.distance);
    return GRAIN_OK;
}

static GrainResult make_grids(Volumes *v, int32_t frame, VolumeFrame *f)
{
    const JobVolume *wish = &v->job.volume;
    VolumeParticles sand;
    TRY(read_frame(v, frame, f, &sand));
    v->particles = sand.count;
    if (wish->density || wish->velocity || wish->surface) TRY(make_sand(v, &sand, f));
    return wish->dust ? make_dust(v, frame, f) : GRAIN_OK;
}

static GrainResult write_file(Volumes *v, int32_t frame, const VolumeFrame *f)
{
    char creator[64], *path;
    snprintf(creator, sizeof creator, "Grain %s", grain_version());
    const VdbNumber numbers[] = {{"grain_density", (double)v->job.density},
                                 {"frame", frame},
                                 {"seconds", f->coarse.header.time},
                                 {"fps", v->coarse.fps}};
    VdbFile file = {creator, numbers, sizeof numbers / sizeof *numbers, f->grids, f->grid_count};
    GrainFileHeader header = {.frame = frame, .particles = v->particles};
    TRY(volume_file_path(v->cache.folder, frame + v->cache.manifest.number_shift, &path));
    GrainResult result = volume_file_write(path, &file, &header);
    alloc_free(path);
    return result == GRAIN_OK ? cache_add_frame(&v->cache, &header) : result;
}

static GrainResult make_frame(Volumes *v, int32_t frame)
{
    VolumeFrame f = {0};
    GrainResult result = make_grids(v, frame, &f);
    if (result == GRAIN_OK) result = write_file(v, frame, &f);
    volume_free(&f.sand);
    volume_free(&f.dust);
    grain_file_free(&f.coarse);
    grain_file_free(&f.grains);
    return result;
}

// --- dust -----------------------------------------------------------------------------------------

// Dust remembers where sand was: it reads the frames before the first one that is to be made as well.
static GrainResult read_for_dust(void *user, int32_t frame, Dust *dust)
{
    const Volumes *v = user;
    if (frame < v->coarse.frame_start) return GRAIN_OK;
    struct GrainFrame file;
    VolumeParticles coarse = {0};
    TRY(cache_read_frame(v->coarse_folder, "coarse", &v->coarse.frames[frame - v->coarse.frame_start], &file));
    GrainResult result = view(&file, &coarse);
    coarse.amount_each = v->amount_each, coarse.amount_of_cube = v->amount_of_cube;
    if (result == GRAIN_OK) result = dust_add(dust, frame, &coarse);
    grain_file_free(&file);
    return result;
}

static GrainResult start_dust(Volumes *v)
{
    if (!v->job.volume.dust) return GRAIN_OK;
    DustDef def = {.speed = v->job.volume.dust_speed,
                   .linger = v->job.volume.dust_linger,
                   .frame_seconds = (float)(1.0 / v->coarse.fps),
                   .voxel_size = dust_voxel(v),
                   .read = read_for_dust,
                   .user = v};
    return dust_create(&def, &v->dust);
}

// --- all of them ----------------------------------------------------------------------------------

// Frames stay up to the first that is damaged or missing.
static GrainResult keep_whole_frames(Volumes *v)
{
    CacheManifest *manifest = &v->cache.manifest;
    int64_t whole = 0;
    cache_manifest_keep_run(manifest);
    GrainResult result = GRAIN_OK;
    for (; whole < manifest->frame_count; whole++) {
        result = volume_file_check(v->cache.folder, manifest, &manifest->frames[whole]);
        if (result != GRAIN_OK) break;
    }
    if (result == GRAIN_ERROR_MEMORY) return result;
    if (result != GRAIN_OK) {
        char text[1024];
        snprintf(text, sizeof text, "frame %d is made again: %s", manifest->frames[whole].frame, grain_last_error());
        TRY(report(v, GRAIN_BAKE_WARNING, text));
    }
    manifest->frame_count = whole;
    return GRAIN_OK;
}

static GrainResult make_all(Volumes *v)
{
    TRY(job_read(v->def->job_folder, &v->job));
    TRY(vdb_need());
    TRY(read_source(v));
    TRY(measure_particles(v));
    TRY(open_cache(v));
    TRY(start_dust(v));
    TRY(keep_whole_frames(v));
    const CacheManifest *manifest = &v->cache.manifest;
    v->done = v->resumed_from = manifest->frame_start + (int32_t)manifest->frame_count - 1;
    v->particles = v->source->frames[0].particles;
    TRY(report(v, GRAIN_BAKE_STARTED, v->cache.folder));
    while (v->done < v->last) {
        double frame_began = run_clock();
        TRY(make_frame(v, v->done + 1));
        v->done++;
        v->seconds_per_frame = run_clock() - frame_began;
        TRY(report(v, GRAIN_BAKE_FRAME, "volume"));
    }
    return GRAIN_OK;
}

GrainResult grain_volume_def_default(GrainVolumeDef *def, uint32_t size)
{
    BEGIN_DEFAULT(def, size, GrainVolumeDef);
    return GRAIN_OK;
}

GrainResult grain_volume(const GrainVolumeDef *def)
{
    CHECK_STRUCT(def, GrainVolumeDef);
    if (!def->job_folder) return fail(GRAIN_ERROR_ARGUMENT, "GrainVolumeDef.job_folder is NULL");
    Volumes v = {.def = def, .began = run_clock(), .cache.lock = CACHE_LOCK_NONE};
    GrainRun options = {sizeof options, def->thread_count, NULL, NULL};
    TRY(run_begin(&v.run, &options));
    GrainResult result = make_all(&v);

    dust_destroy(v.dust);
    cache_manifest_free(&v.coarse);
    cache_manifest_free(&v.grains);
    cache_close(&v.cache);
    alloc_free(v.coarse_folder);
    alloc_free(v.grain_folder);
    job_free(&v.job);
    return result;
}
