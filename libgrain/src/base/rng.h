// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Counter-based random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as
/// 1, 2, 3"). A number follows from (seed, id, stream) alone, so it does not matter which thread asks, or when.
#include <stdint.h>

typedef struct Rng4 {
    uint32_t word[4];
} Rng4;

/// Purposes of random numbers. Each has its own stream, so that adding one does not change the others.
typedef enum RngStream {
    RNG_STREAM_FILL_JITTER = 1,
    RNG_STREAM_FILL_RADIUS = 2,
    RNG_STREAM_COVER_START = 3,
    RNG_STREAM_GRAIN_FACING = 20,
    RNG_STREAM_UPSAMPLE_BIRTH = 30,
    RNG_STREAM_UPSAMPLE_REDRAW = 31,
    RNG_STREAM_UPSAMPLE_RADIUS = 32,
    RNG_STREAM_UPSAMPLE_FACING = 33,
    RNG_STREAM_EMIT_PLACE = 40,
    RNG_STREAM_EMIT_RADIUS = 41,
    RNG_STREAM_EMIT_JITTER = 42,
    RNG_STREAM_FIELD_NOISE = 50,
    RNG_STREAM_SNOW = 60,
    RNG_STREAM_TEST = 100,
} RngStream;

static inline Rng4 rng_philox(Rng4 counter, uint32_t key_a, uint32_t key_b)
{
    for (int round = 0; round < 10; round++) {
        uint64_t product_a = (uint64_t)0xD2511F53u * counter.word[0];
        uint64_t product_b = (uint64_t)0xCD9E8D57u * counter.word[2];
        counter = (Rng4){{(uint32_t)(product_b >> 32) ^ counter.word[1] ^ key_a, (uint32_t)product_b,
                          (uint32_t)(product_a >> 32) ^ counter.word[3] ^ key_b, (uint32_t)product_a}};
        key_a += 0x9E3779B9u;
        key_b += 0xBB67AE85u;
    }
    return counter;
}

static inline Rng4 rng_at(uint64_t seed, uint64_t id, RngStream stream, uint32_t draw)
{
    Rng4 counter = {{(uint32_t)id, (uint32_t)(id >> 32), (uint32_t)stream, draw}};
    return rng_philox(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
}

/// In [0, 1): the 24 bits a float can hold.
static inline float rng_unit(uint32_t word) { return (float)(word >> 8) * 0x1p-24f; }

/// In [-1, 1).
static inline float rng_signed(uint32_t word) { return 2.0f * rng_unit(word) - 1.0f; }
