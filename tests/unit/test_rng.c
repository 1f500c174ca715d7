// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/noise.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

// Known answers published with Random123 (Salmon et al. 2011), file kat_vectors.
TEST(philox_gives_the_published_numbers)
{
    Rng4 zero = rng_philox((Rng4){{0, 0, 0, 0}}, 0, 0);
    ENSURE(zero.word[0] == 0x6627e8d5 && zero.word[1] == 0xe169c58d && zero.word[2] == 0xbc57ac4c &&
           zero.word[3] == 0x9b00dbd8);
    Rng4 ones = rng_philox((Rng4){{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u);
    ENSURE(ones.word[0] == 0x408f276d && ones.word[1] == 0x41c83b0e && ones.word[2] == 0xa20bc7c6 &&
           ones.word[3] == 0x6d5451fd);
    Rng4 pi = rng_philox((Rng4){{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0);
    ENSURE(pi.word[0] == 0xd16cfe09 && pi.word[1] == 0x94fdcceb && pi.word[2] == 0x5001e420 &&
           pi.word[3] == 0x24126ea1);
}

TEST(streams_and_seeds_differ)
{
    Rng4 a = rng_at(1, 5, RNG_STREAM_TEST, 0), b = rng_at(1, 5, RNG_STREAM_FILL_JITTER, 0),
         c = rng_at(2, 5, RNG_STREAM_TEST, 0);
    ENSURE(memcmp(&a, &b, sizeof a) != 0 && memcmp(&a, &c, sizeof a) != 0);
}

// Mean 1/2 and variance 1/12 of a uniform number; 100,000 draws have a standard error of 0.0009 and 0.0002: 5 sigma.
TEST(unit_numbers_are_uniform)
{
    double sum = 0, squares = 0;
    for (uint64_t id = 0; id < 100000; id++) {
        float value = rng_unit(rng_at(7, id, RNG_STREAM_TEST, 0).word[0]);
        ENSURE(value >= 0.0f && value < 1.0f);
        sum += (double)value;
        squares += (double)value * (double)value;
    }
    double mean = sum / 1e5;
    ENSURE_NEAR(mean, 0.5, 0.0046);
    ENSURE_NEAR(squares / 1e5 - mean * mean, 1.0 / 12.0, 0.0012);
    ENSURE(rng_unit(~0u) < 1.0f && rng_signed(0) == -1.0f);
}

// A cell that is kept from point to point gives the bits of one that is made for each, on a way through many cells and
// back, and far from the origin.
TEST(noise_with_a_kept_cell_is_the_noise)
{
    const uint64_t seeds[3] = {17, 18, 19};
    NoiseCell cell = {0};
    float low = 0.0f, high = 0.0f;
    for (int i = 0; i < 20000; i++) {
        Rng4 r = rng_at(1, (uint64_t)i, RNG_STREAM_TEST, 0);
        float reach = i % 100 == 99 ? 1e6f : 3.0f;
        Vec3 p = {reach * rng_signed(r.word[0]), 0.01f * (float)(i % 500), rng_signed(r.word[1])};
        Vec3 kept = noise_vector_at(&cell, seeds, RNG_STREAM_TEST, p);
        Vec3 made = {noise_at(17, RNG_STREAM_TEST, p), noise_at(18, RNG_STREAM_TEST, p),
                     noise_at(19, RNG_STREAM_TEST, p)};
        ENSURE(memcmp(&kept, &made, sizeof kept) == 0);
        low = fminf(low, made.x), high = fmaxf(high, made.x);
    }
    ENSURE(low < -0.5f && high > 0.5f && low > -2.0f && high < 2.0f);
}

TEST(noise_of_points_in_one_cell_is_the_noise)
{
    const uint64_t seeds[3] = {17, 18, 19};
    NoiseCell cell = {0}, other = {0};
    int together = 0;
    for (int i = 0; i < 2000; i++) {
        float p[3][NOISE_LANES], low[3], out[3][NOISE_LANES];
        Rng4 middle = rng_at(2, (uint64_t)i, RNG_STREAM_TEST, 0);
        int is_one_cell = 1;
        for (int l = 0; l < NOISE_LANES; l++)
            for (int axis = 0; axis < 3; axis++) {
                Rng4 r = rng_at(3, (uint64_t)(i * NOISE_LANES + l), RNG_STREAM_TEST, 0);
                p[axis][l] = 20.0f * rng_signed(middle.word[axis]) + 0.2f * rng_signed(r.word[axis]);
                is_one_cell &= floorf(p[axis][l]) == floorf(p[axis][0]);
            }
        ENSURE(noise_is_one_cell(p, low) == is_one_cell);
        if (!is_one_cell) continue;
        noise_vectors_at(&cell, seeds, RNG_STREAM_TEST, low, p, out);
        for (int l = 0; l < NOISE_LANES; l++) {
            Vec3 one = noise_vector_at(&other, seeds, RNG_STREAM_TEST, vec3(p[0][l], p[1][l], p[2][l]));
            ENSURE(out[0][l] == one.x && out[1][l] == one.y && out[2][l] == one.z);
        }
        together++;
    }
    ENSURE(together > 300 && together < 1700);
}
