// SPDX-License-Identifier: GPL-3.0-or-later
// Packed frames of grains, with a key frame beside them: heads, tables and blocks that make no sense.
#include "base/alloc.h"
#include "base/file.h"
#include "fuzz/fuzz.h"
#include "grain/grain.h"
#include "output/packed_file.h"

#define XXH_INLINE_ALL
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

// The first byte tells whether checksums are made right, so that what is behind them is reached; the rest is the file.
#define HEADER 1
#define GRAINS 60
#define CHUNK 25
// Elements that are unpacked; a few bytes can stand for millions of zeros.
#define MOST_ELEMENTS 100000

static char folder[256], key_path[300], path[300];

static void remove_folder(void)
{
    unlink(key_path);
    rmdir(folder);
}

enum { COLUMNS = 4 };
static const PackedColumn columns[COLUMNS] = {{"position", {GRAIN_F32, 3, CHUNK_LATTICE, 1e-5}, 1},
                                              {"velocity", {GRAIN_F32, 3, CHUNK_LATTICE, 1e-3}, 0},
                                              {"orientation", {GRAIN_F32, 4, CHUNK_ROTATION, 0.0}, 1},
                                              {"id", {GRAIN_I64, 1, CHUNK_EXACT, 0.0}, 1}};

static GrainResult write_frame(const char *to, int frame, const char *previous)
{
    static float position[3 * GRAINS], velocity[3 * GRAINS], orientation[4 * GRAINS];
    static int64_t id[GRAINS];
    const uint32_t sizes[] = {CHUNK, CHUNK, GRAINS - 2 * CHUNK};
    for (int i = 0; i < GRAINS; i++) {
        // The first chunk rests, the second moves a little, the third is elsewhere.
        float moved = i < CHUNK ? 0.0f : i < 2 * CHUNK ? 1e-4f * (float)frame : (float)(frame * i);
        for (int axis = 0; axis < 3; axis++) {
            position[3 * i + axis] = 0.01f * sinf((float)(7 * i + axis)) + moved;
            velocity[3 * i + axis] = moved * 24.0f;
        }
        orientation[4 * i + i % 4] = 0.8f, orientation[4 * i + (i + 1) % 4] = -0.6f;
        id[i] = 1024 * i;
    }
    ColumnFileHeader header = {.frame = frame, .time = frame / 24.0, .particles = GRAINS};
    const void *data[COLUMNS] = {position, velocity, orientation, id};
    PackedWriter writer;
    GrainResult result = packed_begin(&writer, to, &header, columns, COLUMNS, sizes, 3, previous, 1);
    if (result == GRAIN_OK) result = packed_append(&writer, 3, data);
    if (result == GRAIN_OK) return packed_commit(&writer, &header);
    packed_abandon(&writer);
    return result;
}

static void make_folder(void)
{
    const char *root = getenv("TMPDIR");
    if (folder[0]) return;
    snprintf(folder, sizeof folder, "%s/grain_fuzz_XXXXXX", root ? root : "/tmp");
    if (!mkdtemp(folder)) fuzz_found("no folder %s", folder);
    snprintf(key_path, sizeof key_path, "%s/grains_000001.grain", folder);
    snprintf(path, sizeof path, "%s/grains_000002.grain", folder);
    atexit(remove_folder);
    if (write_frame(key_path, 1, NULL) != GRAIN_OK) fuzz_found("%s", grain_last_error());
}

// Makes the checksums right, wherever the tables say they are.
static void mend(uint8_t *file, size_t size)
{
    uint32_t column_count, chunk_count;
    uint64_t whole = size, sum = 0;
    if (size < 64) return;
    memcpy(&column_count, file + 32, 4), memcpy(&chunk_count, file + 36, 4);
    memcpy(file + 40, &whole, 8);
    if (column_count > COLUMN_FILE_MAX_COLUMNS) return;
    int64_t head = packed_head_bytes((int)column_count, chunk_count), blocks = (int64_t)column_count * chunk_count;
    if (head > (int64_t)size) return;
    uint8_t *entry = file + head - 40 * blocks;
    for (int64_t b = 0; b < blocks; b++, entry += 40) {
        uint64_t offset, checksum;
        uint32_t bytes;
        memcpy(&offset, entry, 8), memcpy(&bytes, entry + 24, 4);
        if (offset > size || bytes > size - offset) continue;
        checksum = XXH3_64bits(file + offset, bytes);
        memcpy(entry + 8, &checksum, 8);
    }
    memcpy(file + 48, &sum, 8);
    sum = XXH3_64bits(file, (size_t)head);
    memcpy(file + 48, &sum, 8);
}

static void load(GrainFrame *frame, const char *name)
{
    GrainView view;
    if (grain_frame_column(frame, name, &view) != GRAIN_OK) return;
    int64_t most = MOST_ELEMENTS / view.components, count = view.count < most ? view.count : most;
    void *out = alloc_array(count * view.components, 8);
    GrainResult result = grain_frame_load(frame, name, count, out, &(GrainRun){sizeof(GrainRun), 1, NULL, NULL, NULL});
    if (result != GRAIN_OK && (result != GRAIN_ERROR_DAMAGED || !strstr(grain_last_error(), "grains_")))
        fuzz_found("error %d '%s'", result, grain_last_error());
    alloc_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEADER) return 0;
    make_folder();
    uint8_t *file = malloc(size);
    memcpy(file, data + HEADER, size - HEADER);
    if (data[0] & 1) mend(file, size - HEADER);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(file, 1, size - HEADER, out) != size - HEADER || fclose(out) != 0)
        fuzz_found("could not write %s", path);
    free(file);
    GrainFrame *frame;
    GrainResult result = grain_frame_open(path, &frame);
    if (result != GRAIN_OK && (frame || !strstr(grain_last_error(), "grains_")))
        fuzz_found("error '%s'", grain_last_error());
    for (int c = 0; c < COLUMNS && result == GRAIN_OK; c++) load(frame, columns[c].name);
    grain_frame_destroy(frame);
    unlink(path);
    return 0;
}

size_t fuzz_seed(int index, uint8_t *data, size_t capacity)
{
    if (index >= 2) return 0;
    make_folder();
    if (write_frame(path, 2, index == 0 ? NULL : key_path) != GRAIN_OK) fuzz_found("%s", grain_last_error());
    FILE *in = fopen(path, "rb");
    if (!in) fuzz_found("could not read %s", path);
    data[0] = 1;
    size_t bytes = fread(data + HEADER, 1, capacity - HEADER, in);
    fclose(in);
    unlink(path);
    return HEADER + bytes;
}
