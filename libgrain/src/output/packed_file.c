// SPDX-License-Identifier: GPL-3.0-or-later
// Reading frames of grains. Their head is checked before anything in it is believed, and a block before it is unpacked.
#include "output/packed_file.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/system.h"
#include "output/column_gate.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

// Offsets within the header; docs/formats.md has the same tables.
enum {
    AT_MAGIC = 0,
    AT_FORMAT = 8,
    AT_FRAME = 12,
    AT_TIME = 16,
    AT_GRAINS = 24,
    AT_COLUMNS = 32,
    AT_CHUNKS = 36,
    AT_BYTES = 40,
    AT_CHECKSUM = 48,
    HEADER_BYTES = 64,
};
// Within an entry of the column table.
enum { AT_NAME = 0, AT_TYPE = 32, AT_COMPONENTS = 36, AT_CODING = 40, AT_STEP = 48, COLUMN_BYTES = 64 };
// Within an entry of the block table.
enum {
    AT_OFFSET = 0,
    AT_BLOCK_CHECKSUM = 8,
    AT_KEY_CHECKSUM = 16,
    AT_BLOCK_BYTES = 24,
    AT_KEY_FRAME = 28,
    AT_MODE = 32,
    AT_BLOCK_CODING = 33,
    AT_SPENT = 36,
    BLOCK_BYTES = 40,
};

static const char magic[8] = {'G', 'R', 'A', 'I', 'N', 'P', 'T', 'S'};

#define put(memory, at, value) memcpy((memory) + (at), &(value), sizeof(value))
#define get(memory, at, value) memcpy(&(value), (memory) + (at), sizeof(value))

// --- the head -------------------------------------------------------------------------------------

static int64_t chunk_table_bytes(int64_t chunk_count) { return (4 * chunk_count + 7) & ~(int64_t)7; }

int64_t packed_head_bytes(int column_count, int64_t chunk_count)
{
    return HEADER_BYTES + (int64_t)column_count * COLUMN_BYTES + chunk_table_bytes(chunk_count) +
           chunk_count * column_count * BLOCK_BYTES;
}

int64_t packed_value_bytes(const ChunkLayout *layout)
{
    return layout->components * (layout->type == GRAIN_F64 || layout->type == GRAIN_I64 ? 8 : 4);
}

static void put_block(uint8_t *entry, const PackedBlock *block)
{
    put(entry, AT_OFFSET, block->offset);
    put(entry, AT_BLOCK_CHECKSUM, block->checksum);
    put(entry, AT_KEY_CHECKSUM, block->key_checksum);
    put(entry, AT_BLOCK_BYTES, block->bytes);
    put(entry, AT_KEY_FRAME, block->key_frame);
    put(entry, AT_SPENT, block->spent);
    entry[AT_MODE] = block->mode;
    entry[AT_BLOCK_CODING] = block->coding;
}

void packed_put_head(PackedFile *file, uint8_t *head)
{
    int64_t head_bytes = packed_head_bytes(file->column_count, file->chunk_count);
    uint32_t format = PACKED_FILE_FORMAT, columns = (uint32_t)file->column_count, chunks = (uint32_t)file->chunk_count;
    memset(head, 0, (size_t)head_bytes);
    memcpy(head + AT_MAGIC, magic, sizeof magic);
    put(head, AT_FORMAT, format);
    put(head, AT_FRAME, file->header.frame);
    put(head, AT_TIME, file->header.time);
    put(head, AT_GRAINS, file->header.particles);
    put(head, AT_COLUMNS, columns);
    put(head, AT_CHUNKS, chunks);
    put(head, AT_BYTES, file->header.bytes);
    uint8_t *entry = head + HEADER_BYTES;
    for (int c = 0; c < file->column_count; c++, entry += COLUMN_BYTES) {
        const PackedColumn *column = &file->columns[c];
        uint32_t type = column->layout.type, components = (uint32_t)column->layout.components,
                 coding = column->layout.coding;
        memcpy(entry + AT_NAME, column->name, sizeof column->name);
        put(entry, AT_TYPE, type);
        put(entry, AT_COMPONENTS, components);
        put(entry, AT_CODING, coding);
        put(entry, AT_STEP, column->layout.step);
    }
    memcpy(entry, file->chunk_grains, (size_t)file->chunk_count * sizeof *file->chunk_grains);
    entry += chunk_table_bytes(file->chunk_count);
    for (int64_t b = 0; b < file->chunk_count * file->column_count; b++, entry += BLOCK_BYTES)
        put_block(entry, &file->blocks[b]);
    // The checksum counts as zeros in itself.
    file->header.checksum = XXH3_64bits(head, (size_t)head_bytes);
    put(head, AT_CHECKSUM, file->header.checksum);
}

static GrainResult fail_damaged(const PackedFile *file, const char *why)
{
    return fail(GRAIN_ERROR_DAMAGED, "'%s' is damaged (%s); make the grains again to redo it", file->path, why);
}

static int is_layout(const ChunkLayout *layout)
{
    if (layout->type > GRAIN_I64 || layout->components < 1 || layout->components > CHUNK_MAX_COMPONENTS) return 0;
    switch (layout->coding) {
    case CHUNK_EXACT:
        return 1;
    case CHUNK_LATTICE:
        return layout->type == GRAIN_F32 && isfinite(layout->step) && layout->step > 0.0;
    case CHUNK_ROTATION:
        return layout->type == GRAIN_F32 && layout->components == 4;
    }
    return 0;
}

static GrainResult get_columns(PackedFile *file, const uint8_t *entry)
{
    for (int c = 0; c < file->column_count; c++, entry += COLUMN_BYTES) {
        PackedColumn *column = &file->columns[c];
        uint32_t type, components, coding;
        memcpy(column->name, entry + AT_NAME, sizeof column->name);
        get(entry, AT_TYPE, type);
        get(entry, AT_COMPONENTS, components);
        get(entry, AT_CODING, coding);
        column->layout = (ChunkLayout){type <= GRAIN_I64 ? (GrainType)type : GRAIN_I64 + 1,
                                       components <= CHUNK_MAX_COMPONENTS ? (int)components : 0,
                                       coding <= CHUNK_ROTATION ? (ChunkCoding)coding : CHUNK_ROTATION + 1};
        get(entry, AT_STEP, column->layout.step);
        if (column->name[sizeof column->name - 1] != 0 || !is_layout(&column->layout))
            return fail_damaged(file, "a column's entry is not valid");
    }
    return GRAIN_OK;
}

static GrainResult get_chunks(PackedFile *file, const uint8_t *table)
{
    int64_t grains = 0;
    memcpy(file->chunk_grains, table, (size_t)file->chunk_count * sizeof *file->chunk_grains);
    for (int64_t i = 0; i < file->chunk_count; i++) {
        if (file->chunk_grains[i] > CHUNK_GRAINS) return fail_damaged(file, "a chunk is too large");
        grains += file->chunk_grains[i];
    }
    return grains == file->header.particles ? GRAIN_OK : fail_damaged(file, "its chunks do not add up");
}

// Blocks lie one behind the other and fill the file: there is no byte without a checksum.
static GrainResult get_blocks(PackedFile *file, const uint8_t *entry)
{
    int64_t at = packed_head_bytes(file->column_count, file->chunk_count);
    for (int64_t b = 0; b < file->chunk_count * file->column_count; b++, entry += BLOCK_BYTES) {
        PackedBlock *block = &file->blocks[b];
        const ChunkLayout *layout = &file->columns[b % file->column_count].layout;
        get(entry, AT_OFFSET, block->offset);
        get(entry, AT_BLOCK_CHECKSUM, block->checksum);
        get(entry, AT_KEY_CHECKSUM, block->key_checksum);
        get(entry, AT_BLOCK_BYTES, block->bytes);
        get(entry, AT_KEY_FRAME, block->key_frame);
        get(entry, AT_SPENT, block->spent);
        block->mode = entry[AT_MODE];
        block->coding = entry[AT_BLOCK_CODING];
        ChunkLayout stored = *layout;
        stored.coding = (ChunkCoding)block->coding;
        int is_keyed = block->mode == CHUNK_KEY || block->mode == CHUNK_SAME;
        int64_t grains = file->chunk_grains[b / file->column_count];
        if (block->offset != at || block->bytes > file->header.bytes - at || block->mode > CHUNK_SAME ||
            (block->coding != layout->coding && block->coding != CHUNK_EXACT) ||
            block->bytes > (grains > 0 ? chunk_bound(grains, chunk_words(&stored)) : 0) ||
            (is_keyed && (block->key_frame >= file->header.frame ||
                          file->header.frame - (int64_t)block->key_frame > PACKED_MOST_FRAMES_TO_KEY)))
            return fail_damaged(file, "a block's entry is not valid");
        at += block->bytes;
    }
    return at == file->header.bytes ? GRAIN_OK : fail_damaged(file, "its blocks do not add up");
}

static int read_at(int descriptor, void *to, int64_t bytes, int64_t offset)
{
    char *at = to;
    while (bytes > 0) {
        int64_t got = system_read_at(descriptor, at, (size_t)bytes, offset);
        if (got <= 0) return 0;
        at += got, offset += got, bytes -= got;
    }
    return 1;
}

static GrainResult check_header(PackedFile *file, const uint8_t *head, int64_t bytes)
{
    ColumnFileHeader *header = &file->header;
    uint32_t format, columns, chunks;
    if (memcmp(head, magic, sizeof magic) != 0) return fail_damaged(file, "it is not a file of render grains");
    get(head, AT_FORMAT, format);
    TRY(column_gate_check_format(file->path, format, PACKED_FILE_FORMAT));
    get(head, AT_BYTES, header->bytes);
    get(head, AT_COLUMNS, columns);
    get(head, AT_CHUNKS, chunks);
    if (header->bytes != bytes) return fail_damaged(file, "it is truncated");
    if (columns > COLUMN_FILE_MAX_COLUMNS || packed_head_bytes((int)columns, chunks) > bytes)
        return fail_damaged(file, "its tables reach past the end");
    file->column_count = (int)columns;
    file->chunk_count = chunks;
    get(head, AT_FRAME, header->frame);
    get(head, AT_TIME, header->time);
    get(head, AT_GRAINS, header->particles);
    get(head, AT_CHECKSUM, header->checksum);
    return column_gate_check_header(file->path, header);
}

static GrainResult check_head(PackedFile *file, uint8_t *head, int64_t head_bytes)
{
    memset(head + AT_CHECKSUM, 0, sizeof file->header.checksum);
    if (XXH3_64bits(head, (size_t)head_bytes) != file->header.checksum)
        return fail_damaged(file, "the checksum of its head is wrong");
    file->chunk_grains = ALLOC(uint32_t, file->chunk_count);
    file->blocks = ALLOC(PackedBlock, file->chunk_count * file->column_count);
    if (!file->chunk_grains || !file->blocks) return GRAIN_ERROR_MEMORY;
    const uint8_t *columns = head + HEADER_BYTES, *chunks = columns + (int64_t)file->column_count * COLUMN_BYTES;
    TRY(get_columns(file, columns));
    TRY(get_chunks(file, chunks));
    return get_blocks(file, chunks + chunk_table_bytes(file->chunk_count));
}

static GrainResult read_head(PackedFile *file)
{
    SystemInfo info;
    uint8_t header[HEADER_BYTES];
    if (system_info_of_file(file->descriptor, &info) != 0)
        return fail(GRAIN_ERROR_IO, "could not read '%s': %s", file->path, strerror(errno));
    if (info.bytes < HEADER_BYTES || !read_at(file->descriptor, header, HEADER_BYTES, 0))
        return fail_damaged(file, "it is truncated");
    TRY(check_header(file, header, info.bytes));
    int64_t head_bytes = packed_head_bytes(file->column_count, file->chunk_count);
    uint8_t *head = ALLOC(uint8_t, head_bytes);
    if (!head) return GRAIN_ERROR_MEMORY;
    GrainResult result = read_at(file->descriptor, head, head_bytes, 0) ? check_head(file, head, head_bytes)
                                                                        : fail_damaged(file, "it is truncated");
    alloc_free(head);
    return result;
}

GrainResult packed_open(const char *path, PackedFile *out)
{
    *out = (PackedFile){.descriptor = -1};
    size_t length = strlen(path) + 1;
    out->path = ALLOC(char, (int64_t)length);
    if (!out->path) return GRAIN_ERROR_MEMORY;
    memcpy(out->path, path, length);
    GrainResult result = file_open(path, &out->descriptor);
    if (result == GRAIN_OK) result = read_head(out);
    if (result != GRAIN_OK) packed_close(out);
    return result;
}

void packed_close(PackedFile *file)
{
    for (int i = 0; i < file->key_count; i++) packed_close(&file->keys[i]);
    if (file->descriptor >= 0) system_close(file->descriptor);
    alloc_free(file->keys);
    alloc_free(file->chunk_grains);
    alloc_free(file->blocks);
    alloc_free(file->path);
    *file = (PackedFile){.descriptor = -1};
}

int packed_recognises(const char *path)
{
    char start[sizeof magic];
    int descriptor = system_open(path, SYSTEM_READ);
    if (descriptor < 0) return 0;
    int is_packed = read_at(descriptor, start, sizeof start, 0) && memcmp(start, magic, sizeof magic) == 0;
    system_close(descriptor);
    return is_packed;
}

int packed_list_keys(const PackedFile *file, int32_t *frames)
{
    uint64_t ages = 0; // a bit for each frame that is so many frames back
    int count = 0;
    for (int64_t b = 0; b < file->chunk_count * file->column_count; b++)
        if (file->blocks[b].mode == CHUNK_KEY || file->blocks[b].mode == CHUNK_SAME)
            ages |= (uint64_t)1 << (file->header.frame - file->blocks[b].key_frame);
    for (int age = 1; age <= PACKED_MOST_FRAMES_TO_KEY; age++)
        if (ages >> age & 1) frames[count++] = file->header.frame - age;
    return count;
}

// --- blocks ---------------------------------------------------------------------------------------

GrainResult packed_scratch_create(PackedScratch *scratch, const PackedColumn *columns, int column_count)
{
    int most = 1;
    for (int c = 0; c < column_count; c++) {
        ChunkLayout exact = columns[c].layout;
        exact.coding = CHUNK_EXACT; // never fewer words than the column's own coding
        most = chunk_words(&exact) > most ? chunk_words(&exact) : most;
    }
    *scratch = (PackedScratch){.bytes = ALLOC(uint8_t, chunk_bound(CHUNK_GRAINS, most)),
                               .words = ALLOC(int32_t, (int64_t)most * CHUNK_GRAINS),
                               .key_words = ALLOC(int32_t, (int64_t)most * CHUNK_GRAINS)};
    GrainResult result = scratch->bytes && scratch->words && scratch->key_words ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) result = chunk_coder_create(&scratch->coder);
    if (result != GRAIN_OK) packed_scratch_destroy(scratch);
    return result;
}

void packed_scratch_destroy(PackedScratch *scratch)
{
    chunk_coder_destroy(&scratch->coder);
    alloc_free(scratch->bytes);
    alloc_free(scratch->words);
    alloc_free(scratch->key_words);
    *scratch = (PackedScratch){0};
}

static const PackedFile *find_key(const PackedFile *file, int32_t frame)
{
    for (int i = 0; i < file->key_count; i++)
        if (file->keys[i].header.frame == frame) return &file->keys[i];
    return NULL;
}

GrainResult packed_open_key(PackedFile *file, int32_t frame)
{
    if (find_key(file, frame)) return GRAIN_OK;
    if (!file->keys) file->keys = ALLOC(PackedFile, PACKED_MOST_FRAMES_TO_KEY);
    if (!file->keys) return GRAIN_ERROR_MEMORY;
    if (file->key_count == PACKED_MOST_FRAMES_TO_KEY) return fail_damaged(file, "it has too many key frames");
    char name[64], *path;
    int64_t folder = 0; // bytes of the path up to the file's name
    for (const char *at = file->path; (at = strpbrk(at, SYSTEM_SEPARATORS)); at++) folder = at - file->path + 1;
    snprintf(name, sizeof name, "grains_%06d.grain", frame);
    path = ALLOC(char, folder + (int64_t)sizeof name);
    if (!path) return GRAIN_ERROR_MEMORY;
    memcpy(path, file->path, (size_t)folder);
    memcpy(path + folder, name, sizeof name);
    PackedFile *key = &file->keys[file->key_count];
    GrainResult result = packed_open(path, key);
    if (result == GRAIN_OK && key->header.frame != frame) {
        result = fail_damaged(key, "it is another frame");
        packed_close(key);
    }
    alloc_free(path);
    if (result == GRAIN_OK)
        file->key_count++;
    else if (result != GRAIN_ERROR_MEMORY)
        result = fail_within(GRAIN_ERROR_DAMAGED, "frame %d needs frame %d", file->header.frame, frame);
    return result;
}

static const char *read_block(const PackedFile *file, const PackedBlock *block, uint8_t *bytes)
{
    if (!read_at(file->descriptor, bytes, block->bytes, block->offset)) return "it is truncated";
    return XXH3_64bits(bytes, block->bytes) == block->checksum ? NULL : "a checksum is wrong";
}

// The key frame's own words; it stands for itself.
static const char *decode_key(const PackedFile *file, const PackedBlock *block, int64_t chunk, int column,
                              int word_count, PackedScratch *scratch)
{
    const PackedFile *key = find_key(file, block->key_frame);
    int64_t count = file->chunk_grains[chunk];
    if (!key || chunk >= key->chunk_count || column >= key->column_count || key->chunk_grains[chunk] != count)
        return "its key frame is another one";
    const PackedBlock *from = &key->blocks[chunk * key->column_count + column];
    if (from->checksum != block->key_checksum || from->coding != block->coding || from->mode > CHUNK_DELTA ||
        from->bytes > chunk_bound(count, word_count))
        return "its key frame is another one";
    const char *wrong = read_block(key, from, scratch->bytes);
    if (wrong) return "its key frame is damaged";
    return chunk_decode(&scratch->coder, scratch->bytes, from->bytes, (ChunkMode)from->mode, NULL, count, word_count,
                        scratch->key_words)
               ? NULL
               : "its key frame is not valid";
}

const char *packed_decode(const PackedFile *file, int64_t chunk, int column, PackedScratch *scratch, int32_t *words)
{
    const PackedBlock *block = &file->blocks[chunk * file->column_count + column];
    ChunkLayout layout = file->columns[column].layout;
    layout.coding = (ChunkCoding)block->coding;
    int word_count = chunk_words(&layout), is_keyed = block->mode == CHUNK_KEY || block->mode == CHUNK_SAME;
    const char *wrong = is_keyed ? decode_key(file, block, chunk, column, word_count, scratch) : NULL;
    if (!wrong) wrong = read_block(file, block, scratch->bytes);
    if (wrong) return wrong;
    return chunk_decode(&scratch->coder, scratch->bytes, block->bytes, (ChunkMode)block->mode, scratch->key_words,
                        file->chunk_grains[chunk], word_count, words)
               ? NULL
               : "a block is not valid";
}

// --- columns --------------------------------------------------------------------------------------

// Chunks that hold the first `count` grains, and where each begins.
static GrainResult list_chunks(const PackedFile *file, int64_t count, int64_t **first, int64_t *chunk_count)
{
    int64_t at = 0;
    *chunk_count = 0;
    *first = ALLOC(int64_t, file->chunk_count + 1);
    if (!*first) return GRAIN_ERROR_MEMORY;
    while (*chunk_count < file->chunk_count && at < count) {
        (*first)[*chunk_count] = at;
        at += file->chunk_grains[(*chunk_count)++];
    }
    return GRAIN_OK;
}

static GrainResult open_keys(PackedFile *file, int column, int64_t chunk_count)
{
    for (int64_t chunk = 0; chunk < chunk_count; chunk++) {
        const PackedBlock *block = &file->blocks[chunk * file->column_count + column];
        if ((block->mode == CHUNK_KEY || block->mode == CHUNK_SAME) && file->chunk_grains[chunk] > 0)
            TRY(packed_open_key(file, block->key_frame));
    }
    return GRAIN_OK;
}

static const char *load_chunk(const PackedFile *file, int64_t chunk, int column, PackedScratch *scratch, int64_t wanted,
                              char *out)
{
    if (wanted == 0) return NULL;
    ChunkLayout layout = file->columns[column].layout;
    const char *wrong = packed_decode(file, chunk, column, scratch, scratch->words);
    layout.coding = (ChunkCoding)file->blocks[chunk * file->column_count + column].coding;
    if (!wrong) chunk_from_words(&layout, scratch->words, file->chunk_grains[chunk], wanted, out);
    return wrong;
}

static GrainResult load_chunks(PackedFile *file, int column, int64_t count, char *out, int threads,
                               const int64_t *first, int64_t chunk_count, PackedScratch *scratch, const char **wrong)
{
    int64_t row = packed_value_bytes(&file->columns[column].layout);
    PARALLEL_BLOCKS(threads, chunk, chunk_count)
    {
        int64_t grains = file->chunk_grains[chunk], left = count - first[chunk];
        wrong[chunk] = load_chunk(file, chunk, column, &scratch[parallel_thread_index()], left < grains ? left : grains,
                                  out + first[chunk] * row);
    }
    for (int64_t chunk = 0; chunk < chunk_count; chunk++)
        if (wrong[chunk])
            return fail(GRAIN_ERROR_DAMAGED,
                        "'%s' is damaged (grains %lld to %lld, %s: %s); make the grains again to redo it", file->path,
                        (long long)first[chunk], (long long)(first[chunk] + file->chunk_grains[chunk] - 1),
                        file->columns[column].name, wrong[chunk]);
    return GRAIN_OK;
}

GrainResult packed_load(PackedFile *file, int column, int64_t count, void *out, int threads)
{
    int64_t *first, chunk_count;
    if (count > file->header.particles) count = file->header.particles;
    TRY(list_chunks(file, count, &first, &chunk_count));
    // A thread has to have a chunk's worth to do before it pays.
    if (threads > 1 + count / CHUNK_GRAINS) threads = 1 + (int)(count / CHUNK_GRAINS);
    const char **wrong = ALLOC(const char *, chunk_count);
    PackedScratch *scratch = ALLOC_ZEROED(PackedScratch, threads);
    GrainResult result = wrong && scratch ? open_keys(file, column, chunk_count) : GRAIN_ERROR_MEMORY;
    for (int i = 0; i < threads && result == GRAIN_OK; i++)
        result = packed_scratch_create(&scratch[i], &file->columns[column], 1);
    if (result == GRAIN_OK) result = load_chunks(file, column, count, out, threads, first, chunk_count, scratch, wrong);
    for (int i = 0; scratch && i < threads; i++) packed_scratch_destroy(&scratch[i]);
    alloc_free(scratch);
    alloc_free(wrong);
    alloc_free(first);
    return result;
}

static GrainResult load_all(PackedFile *file, struct GrainFrame *out)
{
    int64_t bytes = 0, count = file->header.particles;
    for (int c = 0; c < file->column_count; c++)
        bytes += (count * packed_value_bytes(&file->columns[c].layout) + 63) & ~(int64_t)63;
    int64_t names = (int64_t)sizeof file->columns[0].name * file->column_count;
    out->memory = ALLOC(char, bytes + names);
    if (!out->memory) return GRAIN_ERROR_MEMORY;
    out->header = file->header;
    char *at = out->memory, *name = out->memory + bytes;
    for (int c = 0; c < file->column_count; c++, name += sizeof file->columns[0].name) {
        const ChunkLayout *layout = &file->columns[c].layout;
        memcpy(name, file->columns[c].name, sizeof file->columns[0].name);
        out->columns[out->column_count++] = (Column){name, layout->type, layout->components, count, at};
        TRY(packed_load(file, c, count, at, system_core_count()));
        at += (count * packed_value_bytes(layout) + 63) & ~(int64_t)63;
    }
    return GRAIN_OK;
}

GrainResult packed_read(const char *path, struct GrainFrame *out)
{
    PackedFile file;
    *out = (struct GrainFrame){0};
    TRY(packed_open(path, &file));
    GrainResult result = load_all(&file, out);
    if (result == GRAIN_OK) result = column_gate_check(path, out);
    packed_close(&file);
    if (result != GRAIN_OK) column_file_free(out);
    return result;
}
