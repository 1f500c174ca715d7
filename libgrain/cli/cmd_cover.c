// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"
#include "console.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: grain cover MESH --radius R [--offset D] [--density D] [--seed N] [--threads N] [-o OUT.ply]\n"
    "\n"
    "Spreads particles evenly over the surface of a mesh (.obj, .ply or .stl) and reports how even they are.\n"
    "\n"
    "  --radius R      radius of a particle, in the unit of the mesh\n"
    "  --offset D      distance of the particle centres from the surface, negative inside; default 0.\n"
    "                  On an open mesh it is measured along the normals.\n"
    "  --density D     fraction of the surface that the discs of the particles would cover without overlap, up to 8;\n"
    "                  default 1. Discs that just touch are 0.907.\n"
    "  --seed N        changes the arrangement; default 0\n"
    "  --threads N     default: all cores. The result does not depend on it.\n"
    "  -o OUT.ply      write the particles as binary PLY: x y z nx ny nz radius weight\n"
    "\n"
    "exit codes: 0 done, 2 usage, 3 the mesh cannot be used, 4 file, 5 interrupted, 6 memory, 10 disk full\n";

typedef struct Command {
    GrainCoverDef def;
    GrainRun run;
    const char *mesh_path, *out_path;
} Command;

static int take_float(const char *text, float *out)
{
    char *end;
    double value = strtod(text, &end);
    *out = (float)value;
    return *text != 0 && *end == 0 && isfinite(value) && isfinite(*out);
}

static int take_int(const char *text, int64_t low, int64_t high, int32_t *out)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    *out = (int32_t)value;
    return *text != 0 && *end == 0 && value >= low && value <= high;
}

// -1 to go on, otherwise the exit code.
static int parse(int argument_count, char **arguments, Command *command)
{
    static const struct option options[] = {
        {"radius", required_argument, NULL, 'r'},  {"offset", required_argument, NULL, 'd'},
        {"density", required_argument, NULL, 'D'}, {"seed", required_argument, NULL, 's'},
        {"threads", required_argument, NULL, 't'}, {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},          {0}};
    int option;
    command->def.radius = 0.0f;
    while ((option = getopt_long(argument_count, arguments, "ho:", options, NULL)) != -1) {
        int fine = 1;
        switch (option) {
        case 'r':
            fine = take_float(optarg, &command->def.radius) && command->def.radius > 0.0f;
            break;
        case 'd':
            fine = take_float(optarg, &command->def.offset);
            break;
        case 'D':
            fine = take_float(optarg, &command->def.density) && command->def.density > 0.0f;
            break;
        case 's':
            fine = take_int(optarg, INT32_MIN, INT32_MAX, &command->def.seed);
            break;
        case 't':
            fine = take_int(optarg, 1, 1024, &command->run.thread_count);
            break;
        case 'o':
            command->out_path = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_DONE;
        default:
            return cli_usage("cover", "the command line was not understood");
        }
        if (!fine) return cli_usage("cover", "'%s' is not a valid number for this option", optarg);
    }
    if (optind != argument_count - 1) return cli_usage("cover", "give one mesh file");
    if (command->def.radius == 0.0f) return cli_usage("cover", "--radius is missing");
    command->mesh_path = arguments[optind];
    return -1;
}

static void print_quality(const GrainCoverQuality *q, float radius, double seconds)
{
    printf("particles    %lld (%lld requested)\n", (long long)q->count, (long long)q->count_wanted);
    printf("area         %g\n", q->area);
    printf("spacing      %g, in a perfect hexagonal pattern\n", q->spacing);
    if (q->count > 1) {
        printf("nearest      mean %.3f, smallest %.3f of the spacing (perfect: 1)\n", q->nearest_mean / q->spacing,
               q->nearest_smallest / q->spacing);
        printf("deviation    %.1f %% of the mean\n", 100.0 * q->nearest_deviation / q->nearest_mean);
        printf("largest gap  %.3f of the spacing (perfect: 0.577)\n", q->largest_gap / q->spacing);
    }
    printf("off surface  %.4f radii at most\n", q->largest_distance / (double)radius);
    printf("time         %.3f s, %d iterations\n", seconds, q->iterations);
}

static GrainResult describe(const Command *command, const GrainCover *cover, double seconds)
{
    GrainCoverQuality quality = {.struct_size = sizeof quality};
    GrainResult result = grain_cover_quality(cover, &quality);
    if (result == GRAIN_OK && command->out_path) result = grain_cover_write_ply(cover, command->out_path);
    if (result == GRAIN_OK) print_quality(&quality, command->def.radius, seconds);
    return result;
}

static GrainResult cover_file(const Command *command, const GrainMeshFile *file)
{
    GrainMesh mesh;
    GrainCover *cover = NULL;
    double began = console_seconds();
    GrainResult result = grain_mesh_file_view(file, &mesh);
    if (result == GRAIN_OK) result = grain_cover_mesh(&mesh, &command->def, &command->run, &cover);
    if (result == GRAIN_OK) result = describe(command, cover, console_seconds() - began);
    grain_cover_destroy(cover);
    return result;
}

int cmd_cover(int argument_count, char **arguments)
{
    Command command = {.run = {.struct_size = sizeof(GrainRun)}};
    grain_cover_def_default(&command.def, sizeof command.def);
    int exit_code = parse(argument_count, arguments, &command);
    if (exit_code >= 0) return exit_code;
    GrainMeshFile *file;
    GrainResult result = grain_mesh_file_read(command.mesh_path, &file);
    if (result != GRAIN_OK) return cli_fail(result);
    result = cover_file(&command, file);
    grain_mesh_file_destroy(file);
    return result == GRAIN_OK ? EXIT_DONE : cli_fail_with_mesh(result, command.mesh_path);
}
