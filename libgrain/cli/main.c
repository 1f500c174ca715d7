// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"
#include "console.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// To add a command: a file cmd_<name>.c and a row here.
static const struct {
    const char *name, *summary;
    int (*run)(int argument_count, char **arguments);
} commands[] = {
    {"bake", "simulate a job into its cache", cmd_bake},
    {"cover", "spread particles evenly over a mesh", cmd_cover},
    {"export", "write a frame for other programs: PLY, OpenVDB points or grids", cmd_export},
    {"gc", "remove files that a cache no longer lists", cmd_gc},
    {"info", "show the contents of a cache", cmd_info},
    {"repair", "remove damaged frames from a cache", cmd_repair},
    {"schema", "list every setting of a job, with its range and default, as JSON", cmd_schema},
    {"sdf", "turn a mesh into an OpenVDB level set", cmd_sdf},
    {"upsample", "refine a bake into render grains", cmd_upsample},
    {"verify", "check every file of a cache", cmd_verify},
    {"volume", "turn a bake or its grains into OpenVDB volumes", cmd_volume},
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

int cli_exit_code(int result)
{
    switch (result) {
    case GRAIN_OK:
        return EXIT_DONE;
    case GRAIN_ERROR_ARGUMENT: // what a command passes on is from its command line
        return EXIT_USAGE;
    case GRAIN_CANCELLED:
        return EXIT_STOPPED;
    case GRAIN_ERROR_JOB:
    case GRAIN_ERROR_MESH:
        return EXIT_JOB;
    case GRAIN_ERROR_IO:
        return EXIT_IO;
    case GRAIN_ERROR_MEMORY:
        return EXIT_MEMORY;
    case GRAIN_ERROR_DIVERGED:
        return EXIT_DIVERGED;
    case GRAIN_ERROR_OTHER_JOB:
        return EXIT_OTHER_JOB;
    case GRAIN_ERROR_BUSY:
        return EXIT_BUSY;
    case GRAIN_ERROR_DISK_FULL:
        return EXIT_DISK_FULL;
    case GRAIN_ERROR_DAMAGED:
        return EXIT_DAMAGED;
    default:
        return EXIT_INTERNAL;
    }
}

int cli_fail(int result)
{
    cli_print(stderr, "grain: %s\n", grain_last_error());
    return cli_exit_code(result);
}

int cli_fail_with_mesh(int result, const char *path)
{
    const char *text = grain_last_error();
    if (result != GRAIN_ERROR_MESH || strstr(text, path)) return cli_fail(result);
    cli_print(stderr, "grain: '%s': %s\n", path, text);
    return cli_exit_code(result);
}

int cli_usage(const char *command, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_print(stderr, "grain %s: %s (grain %s --help)\n", command, text, command);
    return EXIT_USAGE;
}

static void print_help(FILE *to)
{
    fputs("usage: grain COMMAND [options]\n\n", to);
    for (size_t i = 0; i < COMMAND_COUNT; i++) fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\n  grain COMMAND --help   options and exit codes of a command\n  grain --version\n", to);
}

int main(int argument_count, char **arguments)
{
    arguments = console_arguments(&argument_count, arguments);
    const char *wanted = argument_count > 1 ? arguments[1] : "";
    if (strcmp(wanted, "--version") == 0) {
        printf("grain %s (%s)\n", grain_version(), grain_instruction_set());
        return EXIT_DONE;
    }
    if (strcmp(wanted, "--help") == 0 || strcmp(wanted, "-h") == 0 || strcmp(wanted, "help") == 0) {
        print_help(stdout);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, wanted) == 0) return commands[i].run(argument_count - 1, arguments + 1);
    if (wanted[0]) cli_print(stderr, "grain: unknown command '%s'\n", wanted);
    print_help(stderr);
    return EXIT_USAGE;
}
