// SPDX-License-Identifier: GPL-3.0-or-later
// The scheme of Ihmsen et al. 2013, as it is: heaps come out flatter than configured, the less so the steeper and the
// finer (figures 2 and 7). docs/sph.md has the table next to the paper's figures.
#include "physics/sand_experiments.h"
#include "unit/test.h"

static const SandKind paper = {"sph", "ihmsen2013"};

static GrainResult heap(float friction, int particles, double *angle)
{
    PourResult out = {0};
    GrainResult result = sand_collapse(paper, friction, particles, &out);
    *angle = out.angle;
    printf("# configured %.0f degrees, %lld particles: %.1f degrees, fastest %.3f m/s\n", (double)friction,
           (long long)out.particles, out.angle, out.fastest);
    return result;
}

TEST(sph_ihmsen2013_heaps_rise_with_the_angle_and_stay_below_it)
{
    double angle[3];
    for (int k = 0; k < 3; k++) ENSURE_OK(heap(30.0f + 15.0f * (float)k, 1500, &angle[k]));
    ENSURE(angle[0] > 5.0 && angle[0] < angle[1] && angle[1] < angle[2]);
    for (int k = 0; k < 3; k++) ENSURE(angle[k] < 30.0 + 15.0 * k);
}

// Figure 2 at the resolution of the coarsest of figure 7.
HEAVY_TEST(sph_ihmsen2013_heaps_rise_with_the_angle)
{
    double angle[3];
    for (int k = 0; k < 3; k++) ENSURE_OK(heap(30.0f + 15.0f * (float)k, 7000, &angle[k]));
    ENSURE(angle[0] < angle[1] && angle[1] < angle[2] && angle[2] < 60.0);
}

// Figure 7: 55 degrees come out as 31 with 7,000 particles, as 35 with 60,000 and as 45 with 500,000.
HEAVY_TEST(sph_ihmsen2013_heaps_rise_with_resolution)
{
    double coarse, fine;
    ENSURE_OK(heap(55.0f, 7000, &coarse));
    ENSURE_OK(heap(55.0f, 60000, &fine));
    ENSURE(coarse < fine && fine < 55.0);
}

// Some 40 minutes of processor time.
HEAVY_TEST(sph_ihmsen2013_heap_of_half_a_million)
{
    double coarse, fine;
    ENSURE_OK(heap(55.0f, 7000, &coarse));
    ENSURE_OK(heap(55.0f, 500000, &fine));
    ENSURE(coarse < fine && fine < 55.0);
}
