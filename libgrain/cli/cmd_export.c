// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"

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

typedef struct Command {
    const char *folder;
    int32_t frame, has_frame, has_format;
    GrainExportDef def;
    GrainRun run;
} Command;

static int find_format(const char *text, int32_t *format)
{
    static const char *const names[] = {
        [GRAIN_EXPORT_PLY] = "ply", [GRAIN_EXPORT_VDB_POINTS] = "vdbpoints", [GRAIN_EXPORT_VDB_GRIDS] = "vdb"};
    for (int32_t i = 0; i < (int32_t)(sizeof names / sizeof *names); i++)
        if (strcmp(text, names[i]) == 0) {
            *format = i;
            return 1;
        }
    return 0;
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
            command->has_format = find_format(optarg, &command->def.format);
            if (!command->has_format)
                return cli_usage("export", "--format is '%s'; it must be ply, vdbpoints or vdb", optarg);
            break;
        case 'v':
            command->def.voxel_size = strtof(optarg, &end);
            if (*end || !(command->def.voxel_size >= 0.5f) || !(command->def.voxel_size <= 100.0f))
                return cli_usage("export", "--voxel-size is '%s'; it must be a number from 0.5 to 100", optarg);
            break;
        case 't':
            if (!cli_parse_number(optarg, 1, 1024, &command->run.thread_count))
                return cli_usage("export", "--threads is '%s'; it must be a number from 1 to 1024", optarg);
            break;
        case 'o':
            command->def.path = optarg;
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
    if (!command->has_format) return cli_usage("export", "--format is missing");
    if (!command->def.path) return cli_usage("export", "-o FILE is missing");
    command->folder = arguments[optind];
    return -1;
}

static GrainResult export_frame(Command *command, const GrainCache *cache)
{
    GrainFrame *frame;
    GrainCacheInfo info = {.struct_size = sizeof info};
    GrainResult result = grain_cache_read(cache, command->frame, &frame);
    if (result != GRAIN_OK) return result;
    result = grain_cache_info(cache, &info);
    command->def.fps = info.fps;
    if (result == GRAIN_OK) result = grain_frame_export(frame, &command->def, &command->run);
    grain_frame_destroy(frame);
    return result;
}

int cmd_export(int argument_count, char **arguments)
{
    Command command = {.run = {.struct_size = sizeof(GrainRun)}};
    grain_export_def_default(&command.def, sizeof command.def);
    int exit_code = parse(argument_count, arguments, &command);
    if (exit_code >= 0) return exit_code;
    GrainCache *cache;
    GrainResult result = grain_cache_open(command.folder, &cache);
    if (result != GRAIN_OK) return cli_fail(result);
    result = export_frame(&command, cache);
    grain_cache_destroy(cache);
    if (result == GRAIN_ERROR_ARGUMENT) return cli_usage("export", "%s", grain_last_error());
    return result == GRAIN_OK ? EXIT_DONE : cli_fail(result);
}
