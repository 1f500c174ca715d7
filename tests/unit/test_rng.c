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

// A cell that is kept gives the bits of one that is made for each point, on a way through many cells and back, and far
// from the origin.
TEST(noise_of_points_in_one_cell_is_the_noise)
{
    const uint64_t seeds[3] = {17, 18, 19};
    NoiseCells cells = {0};
    float least = 0.0f, most = 0.0f;
    int whole = 0, cut = 0;
    for (int i = 0; i < 4000; i++) {
        float p[3][NOISE_LANES], low[3], out[3][NOISE_LANES], reach = i % 100 == 99 ? 1e6f : 3.0f;
        Rng4 middle = rng_at(2, (uint64_t)(i / 2), RNG_STREAM_TEST, 0);
        int same = 0;
        for (int l = 0; l < NOISE_LANES; l++)
            for (int axis = 0; axis < 3; axis++) {
                Rng4 r = rng_at(3, (uint64_t)(i * NOISE_LANES + l), RNG_STREAM_TEST, 0);
                p[axis][l] = reach * rng_signed(middle.word[axis]) + 0.1f * rng_signed(r.word[axis]);
            }
        while (same < NOISE_LANES && floorf(p[0][same]) == floorf(p[0][0]) && floorf(p[1][same]) == floorf(p[1][0]) &&
               floorf(p[2][same]) == floorf(p[2][0]))
            same++;
        ENSURE(noise_in_one_cell(p, low) == same);
        noise_vectors_at(&cells, seeds, RNG_STREAM_TEST, low, p, out);
        for (int l = 0; l < same; l++)
            for (int n = 0; n < 3; n++) {
                float one = noise_at(seeds[n], RNG_STREAM_TEST, vec3(p[0][l], p[1][l], p[2][l]));
                ENSURE(memcmp(&out[n][l], &one, sizeof one) == 0);
                least = fminf(least, one), most = fmaxf(most, one);
            }
        whole += same == NOISE_LANES, cut += same < NOISE_LANES;
    }
    ENSURE(whole > 500 && cut > 500);
    ENSURE(least < -0.5f && most > 0.5f && least > -2.0f && most < 2.0f);
}
