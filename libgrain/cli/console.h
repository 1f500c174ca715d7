// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What the program needs of the operating system: console_posix.c, console_windows.c.

/// For main(): the arguments as UTF-8, and standard output that takes bytes as they are.
char **console_arguments(int *count, char **given);
/// Calls on_stop when the user or the system asks the program to end. Writing to a closed pipe becomes an error.
void console_catch_stop(void (*on_stop)(int signal));

typedef enum ConsoleInput { CONSOLE_INPUT_NONE, CONSOLE_INPUT_CAME, CONSOLE_INPUT_ENDED } ConsoleInput;
/// What has become of standard input since the last call, without waiting. On Windows anything but a pipe counts as
/// ended.
ConsoleInput console_input(void);

/// Seconds on a clock that is never set.
double console_seconds(void);
