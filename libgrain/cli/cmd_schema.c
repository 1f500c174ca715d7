// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: grain schema\n"
    "\n"
    "Prints every key of job.json as JSON: type, unit, range, default, choices, label and tooltip, and which\n"
    "solvers use it. docs/formats.md describes it under \"The schema\".\n"
    "\n"
    "exit codes: 0 done, 2 usage, 6 not enough memory\n";

int cmd_schema(int argument_count, char **arguments)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    int option;
    while ((option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1) {
        if (option != 'h') return cli_usage("schema", "the command line was not understood");
        fputs(help, stdout);
        return EXIT_DONE;
    }
    if (optind != argument_count) return cli_usage("schema", "it takes no arguments");
    int64_t room = grain_job_schema(NULL, 0) + 1;
    char *text = malloc((size_t)room);
    if (!text) {
        fputs("grain: not enough memory for the schema\n", stderr);
        return EXIT_MEMORY;
    }
    grain_job_schema(text, room);
    fputs(text, stdout);
    free(text);
    return EXIT_DONE;
}
