// SPDX-License-Identifier: GPL-3.0-or-later
#include "console.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

char **console_arguments(int *count, char **given)
{
    (void)count;
    return given;
}

void console_catch_stop(void (*on_stop)(int signal))
{
    struct sigaction action = {.sa_handler = on_stop};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

ConsoleInput console_input(void)
{
    char taken[64];
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&input, 1, 0) <= 0) return CONSOLE_INPUT_NONE;
    return read(STDIN_FILENO, taken, sizeof taken) > 0 ? CONSOLE_INPUT_CAME : CONSOLE_INPUT_ENDED;
}

double console_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
