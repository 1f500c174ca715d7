// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"

#include <float.h>
#include <getopt.h>
#include <stdio.h>

static const char help[] =
    "usage: grain info CACHE [--job JOB]\n"
    "\n"
    "Prints the contents of a cache folder and of the render grains in it, and checks the checksum of every file.\n"
    "\n"
    "  --job JOB   also report for each stage whether it matches the job in this folder, and if not, why\n"
    "\n"
    "exit codes: 0 intact, 2 usage, 4 no cache there, 11 a file is damaged (named)\n";

typedef struct Extent {
    float low[3], high[3];
} Extent;

static void extend(Extent *extent, const GrainFrame *frame)
{
    GrainView view;
    if (grain_frame_column(frame, "position", &view) != GRAIN_OK) return;
    if (view.components != 3 || view.type != GRAIN_F32) return;
    const float *position = view.data;
    for (int64_t i = 0; i < 3 * view.count; i++) {
        float *low = &extent->low[i % 3], *high = &extent->high[i % 3];
        *low = position[i] < *low ? position[i] : *low;
        *high = position[i] > *high ? position[i] : *high;
    }
}

static GrainResult check_frame(const GrainCache *cache, const GrainCacheInfo *info, int32_t number, Extent *extent)
{
    if (info->stream == GRAIN_STREAM_VOLUME) return grain_cache_check(cache, number);
    GrainFrame *frame;
    GrainResult result = grain_cache_read(cache, number, &frame);
    if (result == GRAIN_OK) extend(extent, frame);
    grain_frame_destroy(frame);
    return result;
}

typedef struct Sums {
    Extent extent;
    double bytes, particles; // a forged list may claim more than a whole number holds
    int64_t most, damaged;
} Sums;

// Names what is damaged; returns the exit code.
static int check_frames(const GrainCache *cache, const GrainCacheInfo *info, Sums *sums)
{
    int exit_code = EXIT_DONE;
    *sums = (Sums){.extent = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}}};
    for (int64_t i = 0; i < info->frame_count; i++) {
        const GrainCacheFile *file = &info->frames[i];
        GrainResult result = check_frame(cache, info, file->frame, &sums->extent);
        if (result != GRAIN_OK) {
            exit_code = cli_fail(result == GRAIN_ERROR_MEMORY ? result : GRAIN_ERROR_DAMAGED);
            sums->damaged++;
        }
        sums->bytes += (double)file->bytes;
        sums->particles += (double)file->particles;
        sums->most = file->particles > sums->most ? file->particles : sums->most;
    }
    return exit_code;
}

// The same for births and checkpoints.
static int check_rest(const GrainCache *cache, Sums *sums)
{
    GrainCacheFindings found = {.struct_size = sizeof found};
    GrainResult result = grain_cache_check_rest(cache, &cli_telling, &found);
    if (result != GRAIN_OK) return cli_fail(result);
    sums->damaged += found.files;
    return found.files ? EXIT_DAMAGED : EXIT_DONE;
}

// Whether the stage was made with the job's settings as they are now.
static GrainResult print_state(const GrainCache *cache, const GrainJob *job)
{
    char changes[512];
    int32_t is_current;
    GrainResult result = grain_job_compare(job, cache, &is_current, changes, sizeof changes);
    if (result != GRAIN_OK) return result;
    cli_print(stdout, "state        %s%s\n", is_current ? "up to date with the job" : "out of date: ", changes);
    return GRAIN_OK;
}

static void print_sums(const GrainCacheInfo *info, const Sums *sums)
{
    const Extent *extent = &sums->extent;
    printf("frames       %lld of %d (%d to %d) at %g a second\n", (long long)info->frame_count,
           info->frame_end - info->frame_start + 1, info->frame_start, info->frame_end, info->fps);
    printf("particles    %lld\n", (long long)sums->most);
    for (int64_t i = 0; i < info->body_count; i++)
        cli_print(stdout, "%s %s%s", i > 0 ? "," : "bodies      ", info->bodies[i],
                  i + 1 < info->body_count ? "" : "\n");
    printf("size         %.1f MB, %.1f bytes a particle and frame\n", sums->bytes / 1e6,
           sums->particles > 0.0 ? sums->bytes / sums->particles : 0.0);
    if (sums->most > 0 && extent->low[0] <= extent->high[0])
        printf("extent       (%g, %g, %g) to (%g, %g, %g) m\n", (double)extent->low[0], (double)extent->low[1],
               (double)extent->low[2], (double)extent->high[0], (double)extent->high[1], (double)extent->high[2]);
    if (sums->damaged)
        printf("damage       %lld file%s (listed above); bake again to replace %s\n", (long long)sums->damaged,
               sums->damaged == 1 ? "" : "s", sums->damaged == 1 ? "it" : "them");
    else
        printf("damage       none\n");
}

static int print_info(const char *folder, const GrainCache *cache, const GrainJob *job)
{
    static const char *const stages[] = {
        [GRAIN_STREAM_COARSE] = "simulate", [GRAIN_STREAM_GRAINS] = "upsample", [GRAIN_STREAM_VOLUME] = "volume"};
    GrainCacheInfo info = {.struct_size = sizeof info};
    Sums sums;
    GrainResult result = grain_cache_info(cache, &info);
    if (result != GRAIN_OK) return cli_fail(result);
    int exit_code = check_frames(cache, &info, &sums), rest = check_rest(cache, &sums);
    if (exit_code == EXIT_DONE) exit_code = rest;
    cli_print(stdout, "cache        %s\n", folder);
    printf("stage        %s\n", stages[info.stream]);
    cli_print(stdout, "job          %s\n", info.job_name);
    cli_print(stdout, "written by   Grain %s\n", info.library);
    cli_print(stdout, "settings     %s\n", info.fingerprint);
    for (int64_t i = 0; i < info.setting_count; i++)
        cli_print(stdout, "  %-24s %s\n", info.settings[i].key, info.settings[i].value);
    if (job) result = print_state(cache, job);
    if (result != GRAIN_OK) exit_code = cli_fail(result);
    print_sums(&info, &sums);
    return exit_code;
}

static int info(const char *folder, void *user)
{
    GrainCache *cache;
    GrainResult result = grain_cache_open(folder, &cache);
    if (result != GRAIN_OK) return cli_fail(result);
    int exit_code = print_info(folder, cache, user);
    grain_cache_destroy(cache);
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
    GrainJob *job = NULL;
    if (job_folder) {
        GrainResult result = grain_job_read(job_folder, &job);
        if (result != GRAIN_OK) return cli_fail(result);
    }
    int exit_code = cli_each_cache(arguments[optind], info, job);
    grain_job_destroy(job);
    return exit_code;
}
