#pragma once
/// The only OpenMP in Grain. Work is cut into pieces that do not depend on the number of threads, each piece writes
/// only its own results, and sums are added in the order of the pieces: so the bits are the same for any thread count.
///
///     PARALLEL_FOR (threads, i, count) { out[i] = f(in[i]); }            // cheap, even work
///     PARALLEL_BLOCKS (threads, block, block_count) { sums[block] = ...; } // uneven work, or sums
///     PARALLEL_STRIPS (threads, block, block_count) { sums[block] = ...; } // even work on data that stays in the caches
#include <omp.h>
#include <stdint.h>

#define PARALLEL_PRAGMA(text) _Pragma(#text)

/// Elements of a block, where nothing else decides it: large enough to hide the cost of handing it out, small enough
/// to share 100k particles evenly among 16 cores.
#define PARALLEL_BLOCK 2048

/// Below this many elements a loop stays on one thread: waking a team costs some microseconds.
#define PARALLEL_MINIMUM 1024

#define PARALLEL_FOR(threads, i, count)                                                                                \
    PARALLEL_PRAGMA(omp parallel for num_threads(threads) schedule(static) if((count) > PARALLEL_MINIMUM))             \
    for (int64_t i = 0; i < (count); i++)

#define PARALLEL_BLOCKS(threads, block, block_count)                                                                   \
    PARALLEL_PRAGMA(omp parallel for num_threads(threads) schedule(dynamic, 1) if((block_count) > 1))                  \
    for (int64_t block = 0; block < (block_count); block++)

/// Even work whose pieces meet the same data in one loop after another: a thread gets the same pieces each time.
#define PARALLEL_STRIPS(threads, block, block_count)                                                                   \
    PARALLEL_PRAGMA(omp parallel for num_threads(threads) schedule(static) if((block_count) > 1))                      \
    for (int64_t block = 0; block < (block_count); block++)

static inline int parallel_core_count(void) { return omp_get_num_procs(); }

/// For scratch memory of which each thread has its own; valid inside the loops above, 0 <= index < threads.
static inline int parallel_thread_index(void) { return omp_get_thread_num(); }

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
