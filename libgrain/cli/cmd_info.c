#include "base/error.h"
#include "cli.h"
#include "output/cache.h"

#include <float.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] = "usage: grain info CACHE\n"
                           "\n"
                           "Prints what a cache folder holds and checks every frame's checksum.\n"
                           "\n"
                           "exit codes: 0 whole, 2 usage, 4 no cache there, 11 a frame is damaged (named)\n";

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

static GrainResult check_frame(const char *folder, const char *stream, const CacheFrame *frame, Extent *extent)
{
    struct GrainFrame file;
    TRY(cache_read_frame(folder, stream, frame, &file));
    const Column *positions = column_find(file.columns, file.column_count, "position");
    if (positions && positions->components == 3) extend(extent, positions);
    grain_file_free(&file);
    return GRAIN_OK;
}

static int print_info(const char *folder, const CacheManifest *manifest)
{
    Extent extent = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};
    int64_t bytes = 0, particles = 0, most = 0, damaged = 0;
    int exit_code = EXIT_DONE;
    for (int64_t i = 0; i < manifest->frame_count; i++) {
        const CacheFrame *frame = &manifest->frames[i];
        GrainResult result = check_frame(folder, manifest->stream, frame, &extent);
        if (result != GRAIN_OK) {
            exit_code = cli_fail(result == GRAIN_ERROR_MEMORY ? result : GRAIN_ERROR_DAMAGED);
            damaged++;
        }
        bytes += frame->bytes;
        particles += frame->particles;
        most = frame->particles > most ? frame->particles : most;
    }
    int32_t wanted = manifest->frame_end - manifest->frame_start + 1;
    printf("job          %s\n", manifest->job_name);
    printf("written by   Grain %s\n", manifest->library);
    printf("settings     %s\n", manifest->fingerprint);
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
        printf("damage       %lld frames (named above); bake again to redo them\n", (long long)damaged);
    else
        printf("damage       none\n");
    return exit_code;
}

int cmd_info(int argument_count, char **arguments)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    int option;
    while ((option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1) {
        if (option != 'h') return cli_usage("info", "the command line was not understood");
        fputs(help, stdout);
        return EXIT_DONE;
    }
    if (optind != argument_count - 1) return cli_usage("info", "name one cache folder");
    const char *folder = arguments[optind];
    CacheManifest manifest;
    GrainResult result = cache_manifest_read(folder, &manifest);
    if (result != GRAIN_OK) return cli_fail(result);
    int exit_code = print_info(folder, &manifest);
    cache_manifest_free(&manifest);
    return exit_code;
}
