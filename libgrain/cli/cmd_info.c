// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.h"
#include "cli.h"
#include "job/job.h"
#include "output/volume_file.h"

#include <float.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: grain info CACHE [--job JOB]\n"
    "\n"
    "Prints the contents of a cache folder and of the render grains in it, and checks the checksum of every frame.\n"
    "\n"
    "  --job JOB   also report for each stage whether it matches the job in this folder, and if not, why\n"
    "\n"
    "exit codes: 0 intact, 2 usage, 4 no cache there, 11 a frame is damaged (named)\n";

typedef struct Extent {
    Vec3 low, high;
} Extent;

static void extend(Extent *extent, const Column *positions)
{
    const Vec3 *position = positions->data;
    for (int64_t i = 0; i < positions->count; i++) {
        extent->low = vec3_min(extent->low, position[i]);
        extent->high = vec3_max(extent->high, position[i]);
    }
}

static GrainResult check_frame(const char *folder, const CacheManifest *manifest, const CacheFrame *frame,
                               Extent *extent)
{
    if (strcmp(manifest->stream, "volume") == 0) return volume_file_check(folder, manifest, frame);
    struct GrainFrame file;
    TRY(cache_read_frame(folder, manifest->stream, frame, &file));
    const Column *positions = column_find(file.columns, file.column_count, "position");
    if (positions && positions->components == 3) extend(extent, positions);
    grain_file_free(&file);
    return GRAIN_OK;
}

static void print_settings(const CacheManifest *manifest)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)manifest->settings, key, value)
    {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
        printf("  %-24s %s\n", key, text ? text : "");
        free(text);
    }
}

static JobStage stage_of(const CacheManifest *manifest)
{
    if (strcmp(manifest->stream, "volume") == 0) return JOB_VOXELS;
    return strcmp(manifest->stream, "coarse") == 0 ? JOB_SIMULATE : JOB_UPSAMPLE;
}

// Whether the stage was made with the job's settings as they are now.
static GrainResult print_state(const CacheManifest *manifest, const Job *job)
{
    CacheManifest wanted = {.stream = manifest->stream};
    JobStage stage = stage_of(manifest);
    TRY(job_settings(job, stage, &wanted.settings));
    memcpy(wanted.fingerprint, job->fingerprint, sizeof wanted.fingerprint);
    if (stage == JOB_UPSAMPLE) job_upsample_fingerprint(job, wanted.fingerprint);
    if (stage == JOB_VOXELS) job_volume_fingerprint(job, wanted.fingerprint);
    char changes[512] = "";
    int is_same = strcmp(wanted.fingerprint, manifest->fingerprint) == 0;
    if (!is_same) cache_manifest_explain(manifest, &wanted, changes, sizeof changes);
    printf("state        %s%s\n", is_same ? "up to date with the job" : "out of date: ", changes);
    json_decref(wanted.settings);
    return GRAIN_OK;
}

static int print_info(const char *folder, const CacheManifest *manifest, const Job *job)
{
    Extent extent = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
    int64_t bytes = 0, particles = 0, most = 0, damaged = 0;
    int exit_code = EXIT_DONE;
    for (int64_t i = 0; i < manifest->frame_count; i++) {
        const CacheFrame *frame = &manifest->frames[i];
        GrainResult result = check_frame(folder, manifest, frame, &extent);
        if (result != GRAIN_OK) {
            exit_code = cli_fail(result == GRAIN_ERROR_MEMORY ? result : GRAIN_ERROR_DAMAGED);
            damaged++;
        }
        bytes += frame->bytes;
        particles += frame->particles;
        most = frame->particles > most ? frame->particles : most;
    }
    int32_t wanted = manifest->frame_end - manifest->frame_start + 1;
    printf("cache        %s\n", folder);
    static const char *const stages[] = {
        [JOB_SIMULATE] = "simulate", [JOB_UPSAMPLE] = "upsample", [JOB_VOXELS] = "volume"};
    printf("stage        %s\n", stages[stage_of(manifest)]);
    printf("job          %s\n", manifest->job_name);
    printf("written by   Grain %s\n", manifest->library);
    printf("settings     %s\n", manifest->fingerprint);
    print_settings(manifest);
    if (job && print_state(manifest, job) != GRAIN_OK) exit_code = cli_fail(GRAIN_ERROR_MEMORY);
    printf("frames       %lld of %d (%d to %d) at %g a second\n", (long long)manifest->frame_count, wanted,
           manifest->frame_start, manifest->frame_end, manifest->fps);
    printf("particles    %lld\n", (long long)most);
    if (manifest->bodies[0]) {
        printf("bodies      ");
        for (const char *name = manifest->bodies; *name;) {
            int length = (int)strcspn(name, "\n");
            printf(" %.*s%s", length, name, name[length] ? "," : "\n");
            name += length + (name[length] != 0);
        }
    }
    printf("size         %.1f MB, %.1f bytes a particle and frame\n", (double)bytes / 1e6,
           particles ? (double)bytes / (double)particles : 0.0);
    if (most > 0 && extent.low.x <= extent.high.x)
        printf("extent       (%g, %g, %g) to (%g, %g, %g) m\n", (double)extent.low.x, (double)extent.low.y,
               (double)extent.low.z, (double)extent.high.x, (double)extent.high.y, (double)extent.high.z);
    if (damaged)
        printf("damage       %lld frames (listed above); bake again to replace them\n", (long long)damaged);
    else
        printf("damage       none\n");
    return exit_code;
}

static int info(const char *folder, void *user)
{
    CacheManifest manifest;
    GrainResult result = cache_manifest_read(folder, &manifest);
    if (result != GRAIN_OK) return cli_fail(result);
    int exit_code = print_info(folder, &manifest, user);
    cache_manifest_free(&manifest);
    return exit_code;
}

int cmd_info(int argument_count, char **arguments)
{
    static const struct option options[] = {
        {"job", required_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    const char *job_folder = NULL;
    int option;
    while ((option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1) {
        if (option == 'j') {
            job_folder = optarg;
            continue;
        }
        if (option != 'h') return cli_usage("info", "the command line was not understood");
        fputs(help, stdout);
        return EXIT_DONE;
    }
    if (optind != argument_count - 1) return cli_usage("info", "give one cache folder");
    Job job = {0};
    if (job_folder) {
        GrainResult result = job_read(job_folder, &job);
        if (result != GRAIN_OK) return cli_fail(result);
    }
    int exit_code = cli_each_cache(arguments[optind], info, job_folder ? &job : NULL);
    job_free(&job);
    return exit_code;
}
