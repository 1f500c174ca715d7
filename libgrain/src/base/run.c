// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/run.h"
#include "base/error.h"
#include "base/system.h"

#include <time.h>

#define SECONDS_BETWEEN_CALLS 0.05
#define MAX_THREADS 1024

double run_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

GrainResult run_begin(Run *run, const GrainRun *options)
{
    *run = (Run){.thread_count = system_core_count(), .last_call = -SECONDS_BETWEEN_CALLS};
    if (!options) return GRAIN_OK;
    CHECK_STRUCT(options, GrainRun);
    if (options->thread_count < 0 || options->thread_count > MAX_THREADS)
        return fail(GRAIN_ERROR_ARGUMENT, "thread_count is %d; allowed are 0 (all cores) to %d", options->thread_count,
                    MAX_THREADS);
    if (options->thread_count > 0) run->thread_count = options->thread_count;
    run->progress = options->progress;
    run->message = options->message;
    run->user = options->user;
    return GRAIN_OK;
}

GrainResult run_progress(Run *run, const char *stage, double fraction)
{
    if (!run->progress) return GRAIN_OK;
    double now = run_clock();
    if (now - run->last_call < SECONDS_BETWEEN_CALLS) return GRAIN_OK;
    run->last_call = now;
    if (run->progress(run->user, stage, (float)fraction) == GRAIN_CONTINUE) return GRAIN_OK;
    return fail(GRAIN_CANCELLED, "cancelled during %s", stage);
}

void run_message(const Run *run, const char *text)
{
    if (run->message) run->message(run->user, text);
}
