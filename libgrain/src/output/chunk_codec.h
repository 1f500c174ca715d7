// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// One column of a chunk of grains as bytes (docs/formats.md, "A block of a chunk"):
///
///     values  ->  words: whole 32-bit numbers  ->  differences  ->  byte planes  ->  zstd
///
/// Words do not depend on the chunk a grain is in, so differently cut shards decode to the same bits, and sand at rest
/// decodes to the same bits in every frame.
#include "base/simd.h"
#include "grain/base.h"

/// Most grains of a chunk: a plane fits into the first-level cache, and the table of chunks is negligible.
#define CHUNK_GRAINS 16384
#define CHUNK_MAX_COMPONENTS 16
#define CHUNK_MAX_WORDS (2 * CHUNK_MAX_COMPONENTS)

/// How values become words.
typedef enum ChunkCoding {
    CHUNK_EXACT = 0,   ///< their bits; of 8 bytes the low half, then the high one
    CHUNK_LATTICE = 1, ///< f32: the nearest multiple of a step
    CHUNK_ROTATION =
        2, ///< f32 x 4, a unit quaternion: index of the largest component, then the three others in 1023 steps
} ChunkCoding;

/// What the differences of words are relative to.
typedef enum ChunkMode {
    CHUNK_PLAIN = 0, ///< nothing
    CHUNK_DELTA = 1, ///< the grain before
    CHUNK_KEY = 2,   ///< the same grain in the key frame
    CHUNK_SAME = 3,  ///< likewise, without any difference: no bytes
} ChunkMode;

typedef struct ChunkLayout {
    GrainType type;
    int components;
    ChunkCoding coding;
    double step; ///< of the lattice
} ChunkLayout;

/// Words per grain.
int chunk_words(const ChunkLayout *layout);
/// Values of count grains, in rows, as words, in columns of count. Returns 0 if a value is beyond the lattice.
int chunk_to_words(const ChunkLayout *layout, const void *values, int64_t count, int32_t *words);
/// The inverse, for the first `wanted` of count grains.
void chunk_from_words(const ChunkLayout *layout, const int32_t *words, int64_t count, int64_t wanted, void *values);

/// Scratch memory of a thread.
typedef struct ChunkCoder {
    uint32_t *folded;                ///< CHUNK_GRAINS
    uint8_t *planes;                 ///< 4 * CHUNK_GRAINS
    void *compressor, *decompressor; ///< memory of zstd's contexts
    void *compression, *decompression;
} ChunkCoder;
GrainResult chunk_coder_create(ChunkCoder *coder);
void chunk_coder_destroy(ChunkCoder *coder);

/// Most bytes of a block.
int64_t chunk_bound(int64_t count, int word_count);
/// Chooses the mode that takes fewest bytes in the long run; returns the bytes written to out. key: words of the key
/// frame, or NULL; spent: bytes that blocks of this key frame have taken so far.
int64_t chunk_encode(ChunkCoder *coder, const int32_t *words, const int32_t *key, int64_t spent, int64_t count,
                     int word_count, ChunkMode *mode, uint8_t *out);
/// Returns 0 if the bytes are not valid. key is read in the modes that need one.
int chunk_decode(ChunkCoder *coder, const uint8_t *block, int64_t bytes, ChunkMode mode, const int32_t *key,
                 int64_t count, int word_count, int32_t *words);

// Kernels; one word of each grain, or one component of the values.
/// Returns 0 if a value is too far from zero or not finite.
SIMD_KERNEL(int, chunk_to_lattice, (const float *values, int64_t count, int stride, double per_step, int32_t *words))
SIMD_KERNEL(void, chunk_from_lattice, (const int32_t *words, int64_t count, int stride, double step, float *values))
/// Adds the number of bits of the differences in the modes plain, delta and key to the sums.
SIMD_KERNEL(void, chunk_measure, (const int32_t *words, const int32_t *key, int64_t count, uint64_t bits[3]))
/// Differences with the sign as the lowest bit; returns which bits occur.
SIMD_KERNEL(uint32_t, chunk_fold,
            (const int32_t *words, const int32_t *key, int64_t count, ChunkMode mode, uint32_t *folded))
SIMD_KERNEL(void, chunk_split, (const uint32_t *folded, int64_t count, int shift, uint8_t *plane))
/// The inverse, from consecutive planes.
SIMD_KERNEL(void, chunk_join, (const uint8_t *planes, int plane_count, int64_t count, int32_t *differences))
