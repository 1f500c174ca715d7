// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/chunk_codec.h"
#include "base/alloc.h"
#include "base/error.h"

#define ZSTD_STATIC_LINKING_ONLY
#include <math.h>
#include <string.h>
#include <zstd.h>

#define ZSTD_LEVEL 1
// A key frame is asked for only where it saves this share: a frame that needs no other is quicker to read.
#define KEY_SAVES 0.25
// Of a rotation: the three smaller parts are at most sqrt(1/2).
#define ROTATION_STEPS 511
#define ROTATION_STEP (0.70710678118654752 / ROTATION_STEPS)

// --- values and words -----------------------------------------------------------------------------

static int words_in_value(GrainType type) { return type == GRAIN_F64 || type == GRAIN_I64 ? 2 : 1; }

int chunk_words(const ChunkLayout *layout)
{
    return layout->coding == CHUNK_EXACT ? layout->components * words_in_value(layout->type) : layout->components;
}

// Rows of words as columns of them.
static void transpose_in(const int32_t *rows, int64_t count, int width, int32_t *words)
{
    for (int w = 0; w < width; w++)
        for (int64_t i = 0; i < count; i++) words[w * count + i] = rows[i * width + w];
}

static void transpose_out(const int32_t *words, int64_t count, int64_t wanted, int width, int32_t *rows)
{
    for (int w = 0; w < width; w++)
        for (int64_t i = 0; i < wanted; i++) rows[i * width + w] = words[w * count + i];
}

static int32_t rotation_word(double part)
{
    double steps = part / ROTATION_STEP;
    steps = steps > -ROTATION_STEPS ? steps : -ROTATION_STEPS; // also what is no number
    steps = steps < ROTATION_STEPS ? steps : ROTATION_STEPS;
    return (int32_t)(floor(steps + 0.5));
}

static void rotation_in(const float *values, int64_t count, int32_t *words)
{
    for (int64_t i = 0; i < count; i++) {
        const float *q = values + 4 * i;
        int largest = 0;
        for (int part = 1; part < 4; part++)
            if (fabsf(q[part]) > fabsf(q[largest])) largest = part;
        double sign = q[largest] < 0.0f ? -1.0 : 1.0; // a turn and its opposite quaternion are one
        words[i] = largest;
        for (int part = 0, word = 1; part < 4; part++)
            if (part != largest) words[word++ * count + i] = rotation_word(sign * (double)q[part]);
    }
}

static void rotation_out(const int32_t *words, int64_t count, int64_t wanted, float *values)
{
    for (int64_t i = 0; i < wanted; i++) {
        int largest = words[i] & 3;
        double rest = 1.0;
        for (int part = 0, word = 1; part < 4; part++) {
            if (part == largest) continue;
            double value = (double)words[word++ * count + i] * ROTATION_STEP;
            rest -= value * value;
            values[4 * i + part] = (float)value;
        }
        values[4 * i + largest] = (float)sqrt(rest > 0.0 ? rest : 0.0);
    }
}

int chunk_to_words(const ChunkLayout *layout, const void *values, int64_t count, int32_t *words)
{
    if (layout->coding == CHUNK_EXACT) {
        transpose_in(values, count, chunk_words(layout), words);
        return 1;
    }
    if (layout->coding == CHUNK_ROTATION) {
        rotation_in(values, count, words);
        return 1;
    }
    int inside = 1;
    for (int c = 0; c < layout->components; c++)
        inside &= SIMD_CALL(chunk_to_lattice)((const float *)values + c, count, layout->components, 1.0 / layout->step,
                                              words + c * count);
    return inside;
}

void chunk_from_words(const ChunkLayout *layout, const int32_t *words, int64_t count, int64_t wanted, void *values)
{
    if (layout->coding == CHUNK_EXACT)
        transpose_out(words, count, wanted, chunk_words(layout), values);
    else if (layout->coding == CHUNK_ROTATION)
        rotation_out(words, count, wanted, values);
    else
        for (int c = 0; c < layout->components; c++) SIMD_CALL(chunk_from_lattice)
    (words + c * count, wanted, layout->components, layout->step, (float *)values + c);
}

// --- words and bytes ------------------------------------------------------------------------------
// A block: u8 planes of each word, u32 bytes of each plane, the planes. A plane of as many bytes as there are grains
// stands as it is, one of none is zeros, any other is a zstd frame.

GrainResult chunk_coder_create(ChunkCoder *coder)
{
    size_t compression = ZSTD_estimateCCtxSize_usingCParams(ZSTD_getCParams(ZSTD_LEVEL, CHUNK_GRAINS, 0)),
           decompression = ZSTD_estimateDCtxSize();
    *coder = (ChunkCoder){ALLOC(uint32_t, CHUNK_GRAINS), ALLOC(uint8_t, 4 * CHUNK_GRAINS),
                          ALLOC(char, (int64_t)compression), ALLOC(char, (int64_t)decompression)};
    if (coder->folded && coder->planes && coder->compressor && coder->decompressor) {
        coder->compression = ZSTD_initStaticCCtx(coder->compressor, compression);
        coder->decompression = ZSTD_initStaticDCtx(coder->decompressor, decompression);
        if (coder->compression && coder->decompression) return GRAIN_OK;
    }
    chunk_coder_destroy(coder);
    return fail(GRAIN_ERROR_MEMORY, "not enough memory to pack grains");
}

void chunk_coder_destroy(ChunkCoder *coder)
{
    alloc_free(coder->folded);
    alloc_free(coder->planes);
    alloc_free(coder->compressor);
    alloc_free(coder->decompressor);
    *coder = (ChunkCoder){0};
}

int64_t chunk_bound(int64_t count, int word_count) { return word_count * (1 + 4 * (4 + count)); }

// Once what was spent on differences to a key frame would have paid for a new one, a new one is made: then it costs at
// most twice what knowing the future would.
static ChunkMode choose_mode(const int32_t *words, const int32_t *key, int64_t spent, int64_t count, int word_count)
{
    uint64_t bits[3] = {0};
    for (int w = 0; w < word_count; w++)
        SIMD_CALL(chunk_measure)(words + w * count, key ? key + w * count : NULL, count, bits);
    ChunkMode mode = bits[CHUNK_DELTA] < bits[CHUNK_PLAIN] ? CHUNK_DELTA : CHUNK_PLAIN;
    if (!key) return mode;
    if (bits[CHUNK_KEY] == 0) return CHUNK_SAME;
    int pays = (double)bits[CHUNK_KEY] <= (1.0 - KEY_SAVES) * (double)bits[mode] &&
               8 * (uint64_t)spent + bits[CHUNK_KEY] <= bits[mode];
    return pays ? CHUNK_KEY : mode;
}

static uint32_t pack_plane(ChunkCoder *coder, const uint8_t *plane, int64_t count, uint8_t *out)
{
    size_t packed = ZSTD_compressCCtx(coder->compression, out, (size_t)count, plane, (size_t)count, ZSTD_LEVEL);
    if (!ZSTD_isError(packed) && packed < (size_t)count) return (uint32_t)packed;
    memcpy(out, plane, (size_t)count);
    return (uint32_t)count;
}

int64_t chunk_encode(ChunkCoder *coder, const int32_t *words, const int32_t *key, int64_t spent, int64_t count,
                     int word_count, ChunkMode *mode, uint8_t *out)
{
    *mode = choose_mode(words, key, spent, count, word_count);
    if (*mode == CHUNK_SAME) return 0;
    uint32_t all[CHUNK_MAX_WORDS];
    int planes = 0, plane = 0;
    for (int w = 0; w < word_count; w++) {
        all[w] = SIMD_CALL(chunk_fold)(words + w * count, key ? key + w * count : NULL, count, *mode, coder->folded);
        out[w] = all[w] ? (uint8_t)((39 - __builtin_clz(all[w])) / 8) : 0;
        planes += out[w];
    }
    uint8_t *lengths = out + word_count, *to = lengths + 4 * planes;
    for (int w = 0; w < word_count; w++) {
        SIMD_CALL(chunk_fold)(words + w * count, key ? key + w * count : NULL, count, *mode, coder->folded);
        for (int p = 0; p < out[w]; p++) {
            uint32_t length = 0;
            if (all[w] >> (8 * p) & 255) {
                SIMD_CALL(chunk_split)(coder->folded, count, 8 * p, coder->planes);
                length = pack_plane(coder, coder->planes, count, to);
            }
            memcpy(lengths + 4 * plane++, &length, sizeof length);
            to += length;
        }
    }
    return to - out;
}

static int unpack_plane(ChunkCoder *coder, const uint8_t *from, uint32_t length, int64_t count, uint8_t *plane)
{
    if (length == 0)
        memset(plane, 0, (size_t)count);
    else if (length == count)
        memcpy(plane, from, (size_t)count);
    else
        return ZSTD_decompressDCtx(coder->decompression, plane, (size_t)count, from, length) == (size_t)count;
    return 1;
}

static int decode_word(ChunkCoder *coder, int plane_count, const uint8_t **lengths, const uint8_t **from,
                       const uint8_t *end, int64_t count, int32_t *differences)
{
    for (int p = 0; p < plane_count; p++) {
        uint32_t length;
        memcpy(&length, *lengths, sizeof length);
        if (length > count || length > end - *from) return 0;
        if (!unpack_plane(coder, *from, length, count, coder->planes + p * count)) return 0;
        *lengths += sizeof length;
        *from += length;
    }
    SIMD_CALL(chunk_join)(coder->planes, plane_count, count, differences);
    return 1;
}

// Sums wrap around, as the differences did.
static void add_against(int32_t *words, const int32_t *key, ChunkMode mode, int64_t count)
{
    if (mode == CHUNK_DELTA) {
        uint32_t sum = 0;
        for (int64_t i = 0; i < count; i++) words[i] = (int32_t)(sum += (uint32_t)words[i]);
    } else if (mode == CHUNK_KEY) {
        for (int64_t i = 0; i < count; i++) words[i] = (int32_t)((uint32_t)words[i] + (uint32_t)key[i]);
    }
}

int chunk_decode(ChunkCoder *coder, const uint8_t *block, int64_t bytes, ChunkMode mode, const int32_t *key,
                 int64_t count, int word_count, int32_t *words)
{
    if (count < 1 || count > CHUNK_GRAINS || word_count < 1 || word_count > CHUNK_MAX_WORDS) return 0;
    if (mode == CHUNK_SAME) {
        memcpy(words, key, (size_t)(count * word_count) * sizeof *words);
        return bytes == 0;
    }
    if (bytes < word_count) return 0;
    int planes = 0;
    for (int w = 0; w < word_count; w++) {
        if (block[w] > 4) return 0;
        planes += block[w];
    }
    const uint8_t *lengths = block + word_count, *from = lengths + 4 * planes, *end = block + bytes;
    if (bytes < word_count + 4 * planes) return 0;
    for (int w = 0; w < word_count; w++) {
        int32_t *out = words + w * count;
        if (!decode_word(coder, block[w], &lengths, &from, end, count, out)) return 0;
        add_against(out, key ? key + w * count : NULL, mode, count);
    }
    return from == end;
}
