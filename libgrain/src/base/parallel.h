// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The only OpenMP in Grain (its threads are in base/team.h). Work is divided into pieces independent of the number of
/// threads, each piece writes only its own results, and sums are added in the order of the pieces. So results have the
/// same bits for any number of threads.
///
///     PARALLEL_FOR (threads, i, count) { out[i] = f(in[i]); }            // cheap, even work
///     PARALLEL_BLOCKS (threads, block, block_count) { sums[block] = ...; } // uneven work, or sums
///     PARALLEL_STRIPS (threads, block, block_count) { sums[block] = ...; } // loop after loop over the same data
#include "base/team.h"

#define PARALLEL_PRAGMA(text) _Pragma(#text)

/// Default size of a block: large enough to hide the cost of scheduling it, small enough to divide 100k particles
/// evenly among 16 cores.
#define PARALLEL_BLOCK 2048

/// Loops with fewer elements run on one thread, because waking a team takes some microseconds.
#define PARALLEL_MINIMUM 1024

#define PARALLEL_FOR(threads, i, count)                                                                                \
    PARALLEL_PRAGMA(omp parallel for num_threads(threads) schedule(static) if((count) > PARALLEL_MINIMUM))             \
    for (int64_t i = 0; i < (count); i++)

#define PARALLEL_BLOCKS(threads, block, block_count)                                                                   \
    PARALLEL_PRAGMA(omp parallel for num_threads(threads) schedule(dynamic, 1) if((block_count) > 1))                  \
    for (int64_t block = 0; block < (block_count); block++)

/// For consecutive loops whose pieces use the same data: a thread starts with the same pieces each time, which keeps
/// them in its caches. A thread that finishes early takes pieces of others, since pieces and cores may differ in speed.
#define PARALLEL_STRIPS(threads, block, block_count)                                                                   \
    for (ParallelStrips strips_, *once_ = parallel_strips(&strips_, threads, block_count); once_; once_ = NULL)        \
        PARALLEL_PRAGMA(omp parallel num_threads(strips_.count) if (strips_.count > 1))                                \
    for (int64_t turn_ = 0, block; (block = parallel_next(&strips_, &turn_)) >= 0;)

/// Index of the current thread, for per-thread scratch memory. Valid inside the loops above, 0 <= index < threads.
static inline int parallel_thread_index(void) { return team_thread_index(); }

#define PARALLEL_MOST_STRIPS 64

/// State of PARALLEL_STRIPS: a range of pieces for each thread.
typedef struct ParallelStrips {
    int count;
    struct {
        int64_t next, end;
        char unused[112]; ///< keeps counters in separate cache lines, and out of adjacent ones
    } strip[PARALLEL_MOST_STRIPS];
} ParallelStrips;

static inline ParallelStrips *parallel_strips(ParallelStrips *strips, int threads, int64_t block_count)
{
    int64_t count = threads < PARALLEL_MOST_STRIPS ? threads : PARALLEL_MOST_STRIPS;
    if (count > block_count) count = block_count > 0 ? block_count : 1;
    strips->count = (int)count;
    for (int64_t i = 0; i < count; i++) {
        strips->strip[i].next = block_count * i / count;
        strips->strip[i].end = block_count * (i + 1) / count;
    }
    return strips;
}

/// The next piece for this thread, or -1. *turn: number of strips found empty so far, starting with its own.
static inline int64_t parallel_next(ParallelStrips *strips, int64_t *turn)
{
    for (; *turn < strips->count; ++*turn) {
        int64_t i = (parallel_thread_index() + *turn) % strips->count;
        int64_t piece = __atomic_fetch_add(&strips->strip[i].next, 1, __ATOMIC_RELAXED);
        if (piece < strips->strip[i].end) return piece;
    }
    return -1;
}

static inline int64_t parallel_block_count(int64_t count, int64_t block_size)
{
    return (count + block_size - 1) / block_size;
}

static inline int64_t parallel_block_end(int64_t block, int64_t block_size, int64_t count)
{
    int64_t end = (block + 1) * block_size;
    return end < count ? end : count;
}

static inline double parallel_sum(const double *block_sums, int64_t block_count)
{
    double sum = 0.0;
    for (int64_t block = 0; block < block_count; block++) sum += block_sums[block];
    return sum;
}
