// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "grain/run.h"

/// A checked GrainRun, and the state that limits the rate of its callback.
typedef struct Run {
    int thread_count;
    GrainProgressFn *progress;
    GrainMessageFn *message;
    void *user;
    double last_call; // s, monotonic
} Run;

/// Accepts NULL options (all cores, no progress).
GrainResult run_begin(Run *run, const GrainRun *options);
/// Call between parallel regions. GRAIN_CANCELLED if the callback did not return GRAIN_CONTINUE.
GrainResult run_progress(Run *run, const char *stage, double fraction);
/// Passes a message to the caller's callback, if there is one.
void run_message(const Run *run, const char *text);
/// Monotonic seconds.
double run_clock(void);
