// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Threads that work on one loop together: Grain's OpenMP runtime. Compilers turn the pragmas of parallel.h into calls
/// of their runtime's functions; openmp_gnu.c and openmp_clang.c have the few that are needed, on top of this.
///
/// Why not the compilers' own: gcc's cannot go into a library that is to work on older systems, clang's would have to
/// be shipped for every platform, and both take cores from Blender, and from each other, by spinning while they wait.
///
/// There is one pool of threads, for one loop at a time. A loop inside a loop, or on another thread meanwhile, runs on
/// its own thread alone.
#include <stdint.h>

#define TEAM_MOST_THREADS 1024

/// Pieces of a loop that threads take one by one: first, first + step, ... below end.
typedef struct TeamLoop {
    int64_t first, end, step;
} TeamLoop;

/// Runs the work on that many threads, this one among them, and returns when all are done. Fewer where the system has
/// no more to give. `loop` is what team_take takes from; NULL: none, or team_set_loop tells.
void team_run(int thread_count, void (*work)(void *data), void *data, const TeamLoop *loop);

/// Inside the work: which thread this is, of how many. Outside: 0 of 1.
int team_thread_index(void);
int team_thread_count(void);

/// Inside the work, which has one loop at most: every thread names the same one.
void team_set_loop(const TeamLoop *loop);
/// Takes the next piece; 0 when none is left.
int team_take(int64_t *first, int64_t *end);

/// Between these two this thread works alone, as thread 0 of 1, with a loop of its own. They nest.
void team_enter_alone(void);
void team_leave_alone(void);
