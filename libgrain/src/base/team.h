// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Threads that share the work of a loop: Grain's OpenMP runtime. Compilers turn the pragmas of parallel.h into calls
/// of their runtime's functions; openmp_gnu.c and openmp_clang.c have the few that are needed, on top of this.
///
/// Why not the runtimes of the compilers? gcc's cannot be linked into a library for older systems, clang's would have
/// to be shipped for every platform, and both take cores from Blender, and from each other, by spinning while they
/// wait.
///
/// There is one pool of threads, which runs one loop at a time. A nested loop, or one started meanwhile by another
/// thread, runs on its calling thread alone.
#include <stdint.h>

#define TEAM_MOST_THREADS 1024

/// Pieces of a loop, taken by threads one at a time: first, first + step, ... below end.
typedef struct TeamLoop {
    int64_t first, end, step;
} TeamLoop;

/// Runs the work on this many threads, including the calling one, and returns when all are done. Uses fewer threads if
/// the system cannot provide them. team_take takes pieces from `loop`; NULL: none, or set by team_set_loop.
void team_run(int thread_count, void (*work)(void *data), void *data, const TeamLoop *loop);

/// Inside the work: index of this thread and number of threads. Outside: 0 and 1.
int team_thread_index(void);
int team_thread_count(void);

/// Inside the work, which has at most one loop: every thread must pass the same one.
void team_set_loop(const TeamLoop *loop);
/// Takes the next piece; returns 0 if none is left.
int team_take(int64_t *first, int64_t *end);

/// Between these two calls, this thread works alone, as thread 0 of 1, with its own loop. Calls may be nested.
void team_enter_alone(void);
void team_leave_alone(void);
