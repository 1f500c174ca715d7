// SPDX-License-Identifier: GPL-3.0-or-later
// Loops over one word of each grain; plain C that the compiler turns into vectors.
#include "output/chunk_codec.h"

#include <math.h>

// Beyond this a word could not be told from another; differences of words this large still fit 32 bits.
#define LATTICE_LIMIT 1073741824.0
// A double this large has no room for a fraction, so that adding it rounds to the nearest whole number, which then
// stands in the low bits.
#define ROUNDS_TO_WHOLE 6755399441055744.0

int SIMD_NAME(chunk_to_lattice)(const float *restrict values, int64_t count, int stride, double per_step,
                                int32_t *restrict words)
{
    int64_t outside = 0;
    for (int64_t i = 0; i < count; i++) {
        double steps = (double)values[i * stride] * per_step, rounded;
        outside |= !(fabs(steps) < LATTICE_LIMIT);
        rounded = steps + ROUNDS_TO_WHOLE;
        int64_t bits;
        memcpy(&bits, &rounded, sizeof bits);
        words[i] = (int32_t)bits;
    }
    return !outside;
}

void SIMD_NAME(chunk_from_lattice)(const int32_t *restrict words, int64_t count, int stride, double step,
                                   float *restrict values)
{
    for (int64_t i = 0; i < count; i++) values[i * stride] = (float)((double)words[i] * step);
}

SIMD_INLINE uint32_t fold(uint32_t difference) { return difference << 1 ^ (0u - (difference >> 31)); }

// Of a folded difference: taken from the exponent of a float, which every instruction set has.
SIMD_INLINE uint32_t bit_length(uint32_t folded)
{
    float magnitude = (float)(int32_t)(folded >> 1);
    uint32_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    uint32_t exponent = bits >> 23;
    return (exponent > 126 ? exponent - 126 : 0) + (folded != 0);
}

SIMD_INLINE uint32_t sum_of_bits(const int32_t *restrict words, const int32_t *restrict against, int64_t count)
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < count; i++) sum += bit_length(fold((uint32_t)words[i] - (uint32_t)against[i]));
    return sum;
}

void SIMD_NAME(chunk_measure)(const int32_t *words, const int32_t *key, int64_t count, uint64_t bits[3])
{
    uint32_t plain = 0;
    for (int64_t i = 0; i < count; i++) plain += bit_length(fold((uint32_t)words[i]));
    bits[CHUNK_PLAIN] += plain;
    bits[CHUNK_DELTA] += bit_length(fold((uint32_t)words[0])) + sum_of_bits(words + 1, words, count - 1);
    if (key) bits[CHUNK_KEY] += sum_of_bits(words, key, count);
}

SIMD_INLINE uint32_t fold_against(const int32_t *restrict words, const int32_t *restrict against, int64_t count,
                                  uint32_t *restrict folded)
{
    uint32_t all = 0;
    for (int64_t i = 0; i < count; i++) {
        folded[i] = fold((uint32_t)words[i] - (uint32_t)against[i]);
        all |= folded[i];
    }
    return all;
}

uint32_t SIMD_NAME(chunk_fold)(const int32_t *words, const int32_t *key, int64_t count, ChunkMode mode,
                               uint32_t *restrict folded)
{
    if (mode == CHUNK_KEY) return fold_against(words, key, count, folded);
    if (mode == CHUNK_DELTA) {
        folded[0] = fold((uint32_t)words[0]);
        return folded[0] | fold_against(words + 1, words, count - 1, folded + 1);
    }
    uint32_t all = 0;
    for (int64_t i = 0; i < count; i++) {
        folded[i] = fold((uint32_t)words[i]);
        all |= folded[i];
    }
    return all;
}

void SIMD_NAME(chunk_split)(const uint32_t *restrict folded, int64_t count, int shift, uint8_t *restrict plane)
{
    for (int64_t i = 0; i < count; i++) plane[i] = (uint8_t)(folded[i] >> shift);
}

SIMD_INLINE int32_t unfold(uint32_t folded) { return (int32_t)(folded >> 1 ^ (0u - (folded & 1))); }

void SIMD_NAME(chunk_join)(const uint8_t *restrict planes, int plane_count, int64_t count,
                           int32_t *restrict differences)
{
    const uint8_t *p0 = planes, *p1 = p0 + count, *p2 = p1 + count, *p3 = p2 + count;
    switch (plane_count) {
    case 0:
        memset(differences, 0, (size_t)count * sizeof *differences);
        return;
    case 1:
        for (int64_t i = 0; i < count; i++) differences[i] = unfold(p0[i]);
        return;
    case 2:
        for (int64_t i = 0; i < count; i++) differences[i] = unfold((uint32_t)p0[i] | (uint32_t)p1[i] << 8);
        return;
    case 3:
        for (int64_t i = 0; i < count; i++)
            differences[i] = unfold((uint32_t)p0[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16);
        return;
    default:
        for (int64_t i = 0; i < count; i++)
            differences[i] =
                unfold((uint32_t)p0[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16 | (uint32_t)p3[i] << 24);
    }
}
