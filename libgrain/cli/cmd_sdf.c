// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: grain sdf MESH --voxel SIZE [options] -o FILE.vdb\n"
    "\n"
    "Turns a mesh (.obj, .ply, .stl) into signed distances and writes them as an OpenVDB level set.\n"
    "Findings about the mesh go to stderr.\n"
    "\n"
    "  -v, --voxel SIZE      size of a voxel in metres\n"
    "  -b, --band COUNT      half width of the band in voxels, 2 to 16 (3)\n"
    "  -t, --thickness SIZE  thickness in metres given to an open surface (two voxels)\n"
    "  -k, --kind KIND       auto, solid or shell (auto: closed and nearly closed surfaces are solid)\n"
    "  -n, --name NAME       name of the grid in the file (surface)\n"
    "  -o, --out FILE        .vdb file to write\n"
    "  -j, --threads COUNT   0 uses all cores (0)\n"
    "  -q, --quiet           do not report findings\n"
    "\n"
    "exit codes: 0 done, 2 usage, 3 the mesh cannot be used, 4 file, 6 memory\n";

typedef struct Options {
    const char *mesh, *out, *name;
    GrainSdfDef def;
    GrainRun run;
    int quiet;
} Options;

// The whole word must be a number.
static int parse_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == 0 && isfinite(*value);
}

static int parse_kind(const char *text, int32_t *kind)
{
    static const char *const names[] = {"auto", "solid", "shell"};
    for (int32_t i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *kind = i;
            return 1;
        }
    return 0;
}

static int parse_one(int letter, const char *text, Options *options)
{
    double number;
    if (letter == 'q') return options->quiet = 1;
    if (letter == 'o') return options->out = text, 1;
    if (letter == 'n') return options->name = text, 1;
    if (letter == 'k') return parse_kind(text, &options->def.kind);
    if (!parse_number(text, &number)) return 0;
    if (letter == 'v') options->def.voxel_size = (float)number;
    if (letter == 'b') options->def.band_voxels = (float)number;
    if (letter == 't') options->def.thickness = (float)number;
    if (letter == 'j') options->run.thread_count = (int32_t)number;
    return 1;
}

// An exit code, or -1 to go on.
static int parse(int argument_count, char **arguments, Options *options)
{
    static const struct option names[] = {{"voxel", required_argument, NULL, 'v'},
                                          {"band", required_argument, NULL, 'b'},
                                          {"thickness", required_argument, NULL, 't'},
                                          {"kind", required_argument, NULL, 'k'},
                                          {"name", required_argument, NULL, 'n'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"threads", required_argument, NULL, 'j'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    *options = (Options){.run = {.struct_size = sizeof(GrainRun)}};
    grain_sdf_def_default(&options->def, sizeof options->def);
    opterr = 0;
    for (int letter; (letter = getopt_long(argument_count, arguments, ":v:b:t:k:n:o:j:qh", names, NULL)) != -1;) {
        if (letter == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (letter == ':') return cli_usage("sdf", "%s needs a value", arguments[optind - 1]);
        if (letter == '?') return cli_usage("sdf", "unknown option %s", arguments[optind - 1]);
        if (!parse_one(letter, optarg, options))
            return cli_usage("sdf", "'%s' is not a valid value for -%c", optarg, letter);
    }
    if (optind + 1 != argument_count) return cli_usage("sdf", "give one mesh file");
    options->mesh = arguments[optind];
    if (!options->out) return cli_usage("sdf", "-o FILE.vdb is missing");
    if (options->def.voxel_size == 0.0f) return cli_usage("sdf", "--voxel SIZE is missing");
    return -1;
}

static void print_findings(const GrainMesh *mesh, const Options *options)
{
    GrainMeshReport report = {.struct_size = sizeof report};
    char text[4096];
    if (grain_mesh_check(mesh, &options->run, &report) != GRAIN_OK) return;
    if (grain_mesh_report_text(&report, text, sizeof text) == GRAIN_OK) fputs(text, stderr);
}

int cmd_sdf(int argument_count, char **arguments)
{
    Options options;
    int code = parse(argument_count, arguments, &options);
    if (code >= 0) return code;
    GrainMeshFile *file = NULL;
    GrainSdf *sdf = NULL;
    GrainMesh mesh;
    GrainResult result = grain_mesh_file_read(options.mesh, &file);
    if (result == GRAIN_OK) result = grain_mesh_file_view(file, &mesh);
    if (result == GRAIN_OK && !options.quiet) print_findings(&mesh, &options);
    if (result == GRAIN_OK) result = grain_sdf_create(&mesh, &options.def, &options.run, &sdf);
    if (result == GRAIN_OK) result = grain_sdf_write_vdb(sdf, options.out, options.name);
    grain_sdf_destroy(sdf);
    grain_mesh_file_destroy(file);
    return result == GRAIN_OK ? EXIT_DONE : cli_fail_with_mesh(result, options.mesh);
}
