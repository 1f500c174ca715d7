// SPDX-License-Identifier: GPL-3.0-or-later
// The threads under OpenMP's loops: every piece once, by threads with numbers of their own, however loops meet.
#include "base/parallel.h"
#include "base/system.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <stdatomic.h>
#include <string.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#define MOST 5000

static _Atomic int done[MOST];

static int all_done_once(int64_t count)
{
    for (int64_t i = 0; i < MOST; i++)
        if (done[i] != (i < count)) return 0;
    return 1;
}

TEST(every_piece_is_done_once)
{
    static const int threads[] = {1, 2, 3, 8, 33};
    static const int64_t counts[] = {0, 1, 2, 7, 1023, 1025, MOST};
    for (int t = 0; t < 5; t++)
        for (int c = 0; c < 7; c++) {
            memset(done, 0, sizeof done);
            PARALLEL_FOR(threads[t], i, counts[c])
            done[i]++;
            ENSURE(all_done_once(counts[c]));
            memset(done, 0, sizeof done);
            PARALLEL_BLOCKS(threads[t], block, counts[c])
            done[block]++;
            ENSURE(all_done_once(counts[c]));
            memset(done, 0, sizeof done);
            PARALLEL_STRIPS(threads[t], block, counts[c])
            done[block]++;
            ENSURE(all_done_once(counts[c]));
        }
}

// Scratch memory of its own for each thread: no two have the same number at the same time.
TEST(threads_have_numbers_of_their_own)
{
    enum { THREADS = 6 };
    _Atomic int inside[THREADS] = {0}, shared = 0, outside = 0;
    for (int round = 0; round < 200; round++) PARALLEL_BLOCKS(THREADS, block, 40)
        {
            int index = parallel_thread_index();
            if (index < 0 || index >= THREADS) {
                outside++;
                continue;
            }
            if (inside[index]++ > 0) shared++;
            inside[index]--;
        }
    ENSURE_EQUAL(shared, 0);
    ENSURE_EQUAL(outside, 0);
    ENSURE_EQUAL(parallel_thread_index(), 0);
}

// A loop inside a loop has its own pieces, and the outer one goes on with its own after it.
TEST(loops_inside_loops)
{
    enum { OUTER = 30, INNER = 40 };
    static _Atomic int count[OUTER][INNER];
    _Atomic int wrong = 0;
    memset(count, 0, sizeof count);
    for (int threads = 1; threads <= 4; threads += 3) PARALLEL_BLOCKS(threads, outer, OUTER)
        {
            int index = parallel_thread_index();
            PARALLEL_BLOCKS(threads, inner, INNER)
            {
                count[outer][inner]++;
                if (threads > 1 && parallel_thread_index() != 0) wrong++;
            }
            if (parallel_thread_index() != index) wrong++;
        }
    for (int i = 0; i < OUTER * INNER; i++) wrong += count[i / INNER][i % INNER] != 2;
    ENSURE_EQUAL(wrong, 0);
}

typedef struct Caller {
    int64_t sum;
} Caller;

static void *sum_many_times(void *pointer)
{
    Caller *caller = pointer;
    for (int round = 0; round < 300; round++) {
        int64_t sums[16] = {0};
        PARALLEL_BLOCKS(3, block, 16)
        for (int64_t i = 0; i < 100; i++) sums[block] += block * i;
        for (int block = 0; block < 16; block++) caller->sum += sums[block];
    }
    return NULL;
}

// As Blender's thread and the one that reads ahead do.
TEST(threads_of_the_program_may_loop_at_once)
{
    enum { CALLERS = 4 };
    Caller callers[CALLERS] = {0};
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++) ENSURE_EQUAL(system_thread_start(&threads[i], sum_many_times, &callers[i]), 0);
    for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < CALLERS; i++) ENSURE_EQUAL(callers[i].sum, 300 * 120 * 4950);
}

// clang hands over every variable that a loop uses as an argument of its own.
TEST(loops_may_use_many_variables)
{
    int64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, j = 9, k = 10, l = 11, m = 12, n = 13;
    double sums[64];
    PARALLEL_BLOCKS(4, block, 64)
    sums[block] = (double)(a + b + c + d + e + f + g + h + j + k + l + m + n + block);
    ENSURE_NEAR(parallel_sum(sums, 64), 64 * 91 + 32 * 63, 0.0);
    a += b + c + d + e + f + g + h + j + k + l + m + n;
    ENSURE_EQUAL(a, 91);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) // which refuses threads after a fork
#define CANNOT_FORK
#endif
#endif
#ifdef _WIN32
#define CANNOT_FORK
#endif

#ifndef CANNOT_FORK
// A program that forks, as Python's may: of the pool's threads none are in the child.
TEST(a_forked_process_gets_threads_of_its_own)
{
    Caller before = {0};
    sum_many_times(&before);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        Caller inside = {0};
        sum_many_times(&inside);
        _exit(inside.sum == before.sum ? 42 : 1);
    }
    int status = 0;
    ENSURE(child > 0 && waitpid(child, &status, 0) == child);
    ENSURE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}
#endif
