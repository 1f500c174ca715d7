#pragma once
/// The `grain` program: one command, one file. docs/formats.md documents the output and the exit codes.

#include "grain/grain.h"

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
/// A usage error: says what is wrong and how to get help.
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

// progress.c
/// Whole number in [low, high]; 0 when the text is none.
int cli_parse_number(const char *text, long low, long high, int32_t *out);
/// A GrainBakeStatusFn that prints JSON lines; user is the GrainBakeStatus that keeps the last one.
int32_t cli_on_status(void *user, const GrainBakeStatus *status);
/// From now on SIGTERM and SIGINT make cli_on_status say stop.
void cli_stop_on_signals(void);
/// The closing line; returns the exit code.
int cli_end(GrainResult result, const GrainBakeStatus *last);

int cmd_bake(int argument_count, char **arguments);
int cmd_cover(int argument_count, char **arguments);
int cmd_info(int argument_count, char **arguments);
int cmd_sdf(int argument_count, char **arguments);
int cmd_upsample(int argument_count, char **arguments);
