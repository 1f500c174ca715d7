// SPDX-License-Identifier: GPL-3.0-or-later
// What the elastoplastic model must do beyond test_sand.c: hold a configured angle.
#include "physics/sand_experiments.h"
#include "unit/test.h"

static const SandKind sph = {"sph", "elastoplastic"};

static void check_pour(float friction, int particles)
{
    PourResult pour;
    ENSURE_OK(sand_pour(sph, friction, particles, &pour));
    printf("# friction %.0f degrees: %lld particles poured to %.1f degrees, fastest then %.1e m/s; a second later "
           "%.1f, %.1e\n",
           (double)friction, (long long)pour.particles, pour.angle, pour.fastest, pour.angle_later, pour.fastest_later);
    ENSURE_NEAR(pour.angle, (double)friction, 3.0); // a heap of this size is some ten layers high
    ENSURE(pour.fastest < 0.05);
    ENSURE_NEAR(pour.angle_later, pour.angle, 0.1); // it does not creep: what is at rest sleeps
}

HEAVY_TEST(sph_pours_heaps_of_20_25_and_30_degrees)
{
    for (int k = 0; k < 3; k++) check_pour(20.0f + 5.0f * (float)k, 3000);
}
