// SPDX-License-Identifier: GPL-3.0-or-later
// Viscous forces at the end of the step, by conjugate gradients. The search starts from the velocities without them and
// every direction has no momentum in all, so momentum is kept however early it ends; and as what is sought dissipates,
// velocities that are not quite those sought are still calmer than those at the start.
#include "base/parallel.h"
#include "sim/meso/meso.h"

// What may be missing: of what the other forces change in the step, and of all momentum. (Not of what is missing at
// first: that may be thousands of times the momentum, and a hundredth of it no solution.)
#define LEFT_OF_CHANGE 3e-2
#define LEFT_OF_ALL 1e-5
// Passes at most.
#define MOST_PASSES 60

static double first_sum(const Meso *meso)
{
    double sum = 0.0;
    for (int64_t b = 0; b < meso->neighbours.block_count; b++) sum += meso->notes[b].first;
    return sum;
}

static void pass_begin(void *meso, int64_t first, int64_t last)
{
    SIMD_CALL(meso_viscous_begin)(meso, first, last);
    for (int64_t b = first; b < last; b++) meso_keep_at_walls(meso, b);
    SIMD_CALL(meso_viscous_left)(meso, first, last);
}

static void pass_hold(void *meso, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) meso_hold_at_walls(meso, b);
    SIMD_CALL(meso_viscous_show)(meso, first, last);
}

static void pass_image(void *meso, int64_t first, int64_t last) { SIMD_CALL(meso_viscous_image)(meso, first, last); }

static void run(Meso *meso, NeighboursPass *pass)
{
    neighbours_run(&meso->neighbours, meso->neighbours.block_count, pass, meso);
}

static void go(Meso *meso, float way)
{
    PARALLEL_STRIPS(meso->base.threads, piece, parallel_block_count(meso->neighbours.block_count, BLOCK_RUN))
    {
        int64_t first = piece * BLOCK_RUN, last = parallel_block_end(piece, BLOCK_RUN, meso->neighbours.block_count);
        SIMD_CALL(meso_viscous_go)(meso, first, last, way);
        for (int64_t b = first; b < last; b++) meso_keep_at_walls(meso, b);
        SIMD_CALL(meso_viscous_left)(meso, first, last);
    }
}

static void turn(Meso *meso, float kept)
{
    PARALLEL_STRIPS(meso->base.threads, piece, parallel_block_count(meso->neighbours.block_count, BLOCK_RUN))
    {
        SIMD_CALL(meso_viscous_turn)
        (meso, piece * BLOCK_RUN, parallel_block_end(piece, BLOCK_RUN, meso->neighbours.block_count), kept);
    }
}

void meso_solve_viscous(Meso *meso)
{
    run(meso, pass_hold);
    run(meso, pass_begin);
    turn(meso, 0.0f);
    double missing = first_sum(meso), moving = 0.0, changed = 0.0;
    for (int64_t b = 0; b < meso->neighbours.block_count; b++)
        moving += meso->notes[b].second, changed += meso->notes[b].third;
    double enough = LEFT_OF_CHANGE * LEFT_OF_CHANGE * changed + LEFT_OF_ALL * LEFT_OF_ALL * moving;
    meso->solved++;
    for (int pass = 0; pass < MOST_PASSES && missing > enough; pass++) {
        run(meso, pass_image);
        double bend = first_sum(meso);
        if (!(bend > 0.0)) break; // nothing is left but rounding
        go(meso, (float)(missing / bend));
        double before = missing;
        missing = first_sum(meso);
        turn(meso, (float)(missing / before));
        meso->iterations++;
    }
}
