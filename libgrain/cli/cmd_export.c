// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.h"
#include "base/system.h"
#include "cli.h"
#include "output/cache.h"
#include "output/export.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: grain export CACHE --frame N --format ply|vdbpoints|vdb -o FILE [--voxel-size R] [--threads N]\n\nWrites "
    "one frame of a cache folder, of the bake or of its render grains (CACHE/grains), for other programs.\n\n  --frame "
    "N       the frame to write\n  --format ply        binary PLY: x y z vx vy vz radius, orientation, id, "
    "attributes\n           vdbpoints  OpenVDB points for Houdini: P in 16 bits, v and pscale as halves, orient, id\n  "
    "         vdb        OpenVDB grids density and velocity\n  -o FILE         the file to write\n  --voxel-size R  "
    "for vdb: edge of a voxel in mean particle radii, 0.5 to 100; default 2\n  --threads N     default: all cores. The "
    "file does not depend on it.\n\nexit codes: 0 done, 2 usage, 4 file or folder, 6 memory, 10 disk full, 11 the "
    "frame is damaged\n";

typedef enum Format { FORMAT_NONE, FORMAT_PLY, FORMAT_POINTS, FORMAT_GRIDS } Format;

typedef struct Command {
    const char *folder, *out_path;
    Format format;
    int32_t frame, has_frame, threads;
    float voxel_radii;
} Command;

static Format find_format(const char *text)
{
    if (strcmp(text, "ply") == 0) return FORMAT_PLY;
    if (strcmp(text, "vdbpoints") == 0) return FORMAT_POINTS;
    return strcmp(text, "vdb") == 0 ? FORMAT_GRIDS : FORMAT_NONE;
}

// -1 to go on, otherwise the exit code.
static int parse(int argument_count, char **arguments, Command *command)
{
    static const struct option options[] = {{"frame", required_argument, NULL, 'n'},
                                            {"format", required_argument, NULL, 'f'},
                                            {"voxel-size", required_argument, NULL, 'v'},
                                            {"threads", required_argument, NULL, 't'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int option;
    char *end;
    while ((option = getopt_long(argument_count, arguments, "ho:", options, NULL)) != -1) {
        switch (option) {
        case 'n':
            command->has_frame = cli_parse_number(optarg, -1048574, 1048574, &command->frame);
            if (!command->has_frame) return cli_usage("export", "--frame is '%s'; it must be a frame's number", optarg);
            break;
        case 'f':
            command->format = find_format(optarg);
            if (!command->format)
                return cli_usage("export", "--format is '%s'; it must be ply, vdbpoints or vdb", optarg);
            break;
        case 'v':
            command->voxel_radii = strtof(optarg, &end);
            if (*end || !(command->voxel_radii >= 0.5f) || !(command->voxel_radii <= 100.0f))
                return cli_usage("export", "--voxel-size is '%s'; it must be a number from 0.5 to 100", optarg);
            break;
        case 't':
            if (!cli_parse_number(optarg, 1, 1024, &command->threads))
                return cli_usage("export", "--threads is '%s'; it must be a number from 1 to 1024", optarg);
            break;
        case 'o':
            command->out_path = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_DONE;
        default:
            return cli_usage("export", "the command line was not understood");
        }
    }
    if (optind != argument_count - 1) return cli_usage("export", "give one cache folder");
    if (!command->has_frame) return cli_usage("export", "--frame is missing");
    if (!command->format) return cli_usage("export", "--format is missing");
    if (!command->out_path) return cli_usage("export", "-o FILE is missing");
    command->folder = arguments[optind];
    return -1;
}

static GrainResult write_frame(const Command *command, const CacheManifest *manifest, const struct GrainFrame *frame)
{
    switch (command->format) {
    case FORMAT_PLY:
        return export_ply(command->out_path, frame);
    case FORMAT_POINTS:
        return export_points(command->out_path, frame);
    default:
        return export_grids(command->out_path, frame, command->voxel_radii, manifest->fps, command->threads);
    }
}

static GrainResult export_frame(const Command *command, const CacheManifest *manifest)
{
    int64_t number = (int64_t)command->frame - manifest->frame_start;
    if (strcmp(manifest->stream, "volume") == 0)
        return fail(GRAIN_ERROR_ARGUMENT, "'%s' contains volumes, which other programs can open directly",
                    command->folder);
    if (number < 0 || number >= manifest->frame_count)
        return fail(GRAIN_ERROR_ARGUMENT, "frame %d was requested; there are %d to %lld", command->frame,
                    manifest->frame_start, manifest->frame_start + (long long)manifest->frame_count - 1);
    struct GrainFrame frame;
    TRY(cache_read_frame(command->folder, manifest->stream, &manifest->frames[number], &frame));
    GrainResult result = write_frame(command, manifest, &frame);
    grain_file_free(&frame);
    return result;
}

int cmd_export(int argument_count, char **arguments)
{
    Command command = {.voxel_radii = 2.0f, .threads = system_core_count()};
    int exit_code = parse(argument_count, arguments, &command);
    if (exit_code >= 0) return exit_code;
    CacheManifest manifest;
    GrainResult result = cache_manifest_read(command.folder, &manifest);
    if (result != GRAIN_OK) return cli_fail(result);
    result = export_frame(&command, &manifest);
    cache_manifest_free(&manifest);
    if (result == GRAIN_ERROR_ARGUMENT) return cli_usage("export", "%s", grain_last_error());
    return result == GRAIN_OK ? EXIT_DONE : cli_fail(result);
}
