// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The `grain` program: one command, one file, over the public headers alone. docs/formats.md documents the output and
/// the exit codes.

#include "grain/grain.h"

#include <stdio.h>

/// Format strings are C's on every system: MinGW's plain "printf" means Microsoft's.
#ifdef __clang__
#define LIKE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define LIKE_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#endif

enum {
    EXIT_DONE = 0,
    EXIT_INTERNAL = 1,
    EXIT_USAGE = 2,
    EXIT_JOB = 3,
    EXIT_IO = 4,
    EXIT_STOPPED = 5,
    EXIT_MEMORY = 6,
    EXIT_DIVERGED = 7,
    EXIT_OTHER_JOB = 8,
    EXIT_BUSY = 9,
    EXIT_DISK_FULL = 10,
    EXIT_DAMAGED = 11,
};

/// The exit code that goes with a GrainResult.
int cli_exit_code(int result);
/// The library's last error as one line on stderr; returns the exit code.
int cli_fail(int result);
/// The same for what was wrong with a mesh: names its file, too.
int cli_fail_with_mesh(int result, const char *path);
/// A usage error: says what is wrong and how to get help.
int cli_usage(const char *command, const char *format, ...) LIKE_PRINTF(2, 3);

// text.c
/// Puts a question mark in the place of everything that is not UTF-8, or that a terminal takes for a command.
void cli_clean(char *text);
/// As fprintf, but cleaned: for a line, or a part of one, with names in it. Only at its end may there be a newline.
void cli_print(FILE *to, const char *format, ...) LIKE_PRINTF(2, 3);

// progress.c
/// Of the commands that work on a job.
#define CLI_HELP_STOP                                                                                                  \
    "  --stop-on-input\n"                                                                                              \
    "                  stop, as on SIGTERM, once anything comes through standard input. Its end alone stops\n"         \
    "                  nothing, and without this option it is not read\n"
/// Whole number in [low, high]; 0 when the text is none.
int cli_parse_number(const char *text, int64_t low, int64_t high, int32_t *out);
/// A GrainStageStatusFn that prints JSON lines; user is the GrainStageStatus that keeps the last one.
int32_t cli_on_status(void *user, const GrainStageStatus *status);
/// From now on anything that comes through standard input makes cli_on_status say stop.
void cli_stop_on_input(void);
/// From now on SIGTERM and SIGINT make cli_on_status say stop.
void cli_stop_on_signals(void);
/// The closing line; returns the exit code.
int cli_end(GrainResult result, const GrainStageStatus *last);

// cmd_repair.c
/// Calls with a cache folder and each folder of grains and volumes in it; returns the first exit code that is not
/// EXIT_DONE.
typedef int CliCacheFn(const char *folder, void *user);
int cli_each_cache(const char *folder, CliCacheFn *call, void *user);
/// What is found in it is told on stderr.
extern const GrainRun cli_telling;
/// The one folder named on the command line; NULL: end with *exit_code.
const char *cli_one_folder(const char *command, const char *help, int argument_count, char **arguments, int *exit_code);

int cmd_bake(int argument_count, char **arguments);
int cmd_cover(int argument_count, char **arguments);
int cmd_export(int argument_count, char **arguments);
int cmd_gc(int argument_count, char **arguments);
int cmd_info(int argument_count, char **arguments);
int cmd_repair(int argument_count, char **arguments);
int cmd_schema(int argument_count, char **arguments);
int cmd_sdf(int argument_count, char **arguments);
int cmd_upsample(int argument_count, char **arguments);
int cmd_verify(int argument_count, char **arguments);
int cmd_volume(int argument_count, char **arguments);
