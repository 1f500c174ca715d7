#pragma once
/// The `grain` program: one command, one file. docs/formats.md documents the output and the exit codes.

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

int cmd_bake(int argument_count, char **arguments);
int cmd_cover(int argument_count, char **arguments);
int cmd_info(int argument_count, char **arguments);
int cmd_sdf(int argument_count, char **arguments);
