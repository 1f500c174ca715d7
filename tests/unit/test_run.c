// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/parallel.h"
#include "base/run.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <string.h>

static int32_t answer(void *user, const char *stage, float fraction)
{
    (void)stage, (void)fraction;
    return *(int32_t *)user;
}

TEST(only_the_exact_answer_goes_on)
{
    int32_t replies[] = {GRAIN_CONTINUE, 0, 2, -1};
    for (int i = 0; i < 4; i++) {
        GrainRun options = {sizeof(GrainRun), 1, answer, &replies[i]};
        Run run;
        ENSURE_OK(run_begin(&run, &options));
        ENSURE_EQUAL(run_progress(&run, "test", 0.5), i == 0 ? GRAIN_OK : GRAIN_CANCELLED);
    }
}

static int32_t count_calls(void *user, const char *stage, float fraction)
{
    (void)stage, (void)fraction;
    ++*(int *)user;
    return GRAIN_CONTINUE;
}

// At most 20 times a second however often it is offered, and on a machine of any speed.
TEST(callback_is_held_to_its_rate)
{
    enum { CALLS = 4 };
    int calls = 0;
    GrainRun options = {sizeof(GrainRun), 1, count_calls, &calls};
    Run run;
    ENSURE_OK(run_begin(&run, &options));
    double began = run_clock(), last = began + 60.0;
    while (calls < CALLS && run_clock() < last) ENSURE_OK(run_progress(&run, "test", 0.0));
    ENSURE_EQUAL(calls, CALLS);
    ENSURE(run_clock() - began >= 0.05 * (CALLS - 1));
}

TEST(bad_options_are_named)
{
    Run run;
    GrainRun options = {sizeof(GrainRun), -3, NULL, NULL};
    ENSURE_FAILS(run_begin(&run, &options), GRAIN_ERROR_ARGUMENT, "thread_count is -3");
    options = (GrainRun){4, 1, NULL, NULL};
    ENSURE_FAILS(run_begin(&run, &options), GRAIN_ERROR_ABI, "GrainRun");
    ENSURE_OK(run_begin(&run, NULL));
    ENSURE(run.thread_count >= 1);
}

// The same sum by 1, 2, 3 and 8 threads, of numbers whose order matters.
TEST(block_sums_do_not_depend_on_threads)
{
    enum { COUNT = 100000 };
    static float values[COUNT];
    for (int i = 0; i < COUNT; i++) values[i] = 1.0f / (float)(1 + i * 7919 % COUNT);
    double first = 0.0;
    int threads[] = {1, 2, 3, 8};
    for (int t = 0; t < 4; t++) {
        double sums[COUNT / PARALLEL_BLOCK + 1] = {0};
        int64_t blocks = parallel_block_count(COUNT, PARALLEL_BLOCK);
        PARALLEL_BLOCKS(threads[t], block, blocks)
        {
            for (int64_t i = block * PARALLEL_BLOCK; i < parallel_block_end(block, PARALLEL_BLOCK, COUNT); i++)
                sums[block] += (double)values[i];
        }
        double sum = parallel_sum(sums, blocks);
        if (t == 0) first = sum;
        ENSURE(memcmp(&sum, &first, sizeof sum) == 0);
    }
}

// Every piece once, however many threads there are, also when one is slow and the others take over.
TEST(strips_do_every_piece_once)
{
    enum { PIECES = 500 };
    const int threads[] = {1, 2, 3, 8, 100};
    for (int t = 0; t < 5; t++) {
        for (int pieces = 0; pieces <= PIECES; pieces += pieces < 10 ? 1 : 245) {
            int done[PIECES] = {0}, slow = 0;
            PARALLEL_STRIPS(threads[t], piece, pieces)
            {
                __atomic_fetch_add(&done[piece], 1, __ATOMIC_RELAXED);
                for (int i = 0; piece == 0 && i < 20000; i++) __atomic_fetch_add(&slow, 1, __ATOMIC_RELAXED);
            }
            for (int i = 0; i < PIECES; i++) ENSURE_EQUAL(done[i], i < pieces);
        }
    }
}
