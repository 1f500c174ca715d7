// SPDX-License-Identifier: GPL-3.0-or-later
// Writing frames of grains: chunks are packed side by side, then written one behind the other.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "output/grains_file.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

// Chunks packed before they are written, for each thread.
#define SLOTS_FOR_A_THREAD 8

static int64_t packed_room(const GrainsColumn *columns, int column_count)
{
    int64_t room = 0;
    for (int c = 0; c < column_count; c++) {
        ChunkLayout exact = columns[c].layout;
        exact.coding = CHUNK_EXACT;
        room += chunk_bound(CHUNK_GRAINS, chunk_words(&exact));
    }
    return room;
}

static GrainResult take_memory(GrainsWriter *writer, const GrainsColumn *columns, const uint32_t *chunk_grains)
{
    GrainsFile *head = &writer->head;
    int threads = writer->threads;
    writer->slot_count = SLOTS_FOR_A_THREAD * threads;
    writer->packed_room = packed_room(columns, head->column_count);
    head->chunk_grains = ALLOC(uint32_t, head->chunk_count);
    head->blocks = ALLOC_ZEROED(GrainsBlock, head->chunk_count * head->column_count);
    writer->scratch = ALLOC_ZEROED(GrainsScratch, threads);
    writer->packed = ALLOC(uint8_t, writer->slot_count * writer->packed_room);
    writer->slot_error = ALLOC(const char *, writer->slot_count);
    writer->slot_first = ALLOC(int64_t, writer->slot_count);
    if (!head->chunk_grains || !head->blocks || !writer->scratch || !writer->packed || !writer->slot_error ||
        !writer->slot_first)
        return GRAIN_ERROR_MEMORY;
    memcpy(head->chunk_grains, chunk_grains, (size_t)head->chunk_count * sizeof *chunk_grains);
    for (int i = 0; i < threads; i++) TRY(grains_scratch_create(&writer->scratch[i], columns, head->column_count));
    return GRAIN_OK;
}

static int is_same_column(const GrainsColumn *a, const GrainsColumn *b)
{
    return strcmp(a->name, b->name) == 0 && a->layout.type == b->layout.type &&
           a->layout.components == b->layout.components && a->layout.coding == b->layout.coding &&
           a->layout.step == b->layout.step;
}

// The frame whose blocks these would be taken against: of the one before, itself or its own.
static int find_key(const GrainsWriter *writer, int64_t chunk, int column, GrainsBlock *key)
{
    const GrainsFile *before = &writer->previous, *head = &writer->head;
    const GrainsColumn *wanted = &head->columns[column];
    if (!writer->has_previous || !wanted->is_keyed || chunk >= before->chunk_count || column >= before->column_count ||
        before->chunk_grains[chunk] != head->chunk_grains[chunk] || !is_same_column(&before->columns[column], wanted))
        return 0;
    *key = before->blocks[chunk * before->column_count + column];
    if (key->mode <= CHUNK_DELTA) {
        key->key_frame = before->header.frame, key->key_checksum = key->checksum;
        key->spent = 0;
    }
    return key->key_frame < head->header.frame &&
           head->header.frame - (int64_t)key->key_frame <= GRAINS_MOST_FRAMES_TO_KEY;
}

static GrainResult open_previous(GrainsWriter *writer, const char *previous)
{
    if (!previous) return GRAIN_OK;
    TRY(grains_open(previous, &writer->previous));
    writer->has_previous = 1;
    for (int64_t chunk = 0; chunk < writer->head.chunk_count; chunk++)
        for (int c = 0; c < writer->head.column_count; c++) {
            GrainsBlock key;
            if (find_key(writer, chunk, c, &key) && key.key_frame != writer->previous.header.frame)
                TRY(grains_open_key(&writer->previous, key.key_frame));
        }
    return GRAIN_OK;
}

GrainResult grains_begin(GrainsWriter *writer, const char *path, const GrainFileHeader *header,
                         const GrainsColumn *columns, int column_count, const uint32_t *chunk_grains,
                         int64_t chunk_count, const char *previous, int threads)
{
    *writer = (GrainsWriter){.file.descriptor = -1, .threads = threads, .previous.descriptor = -1};
    GrainsFile *head = &writer->head;
    *head = (GrainsFile){.header = *header, .descriptor = -1, .column_count = column_count, .chunk_count = chunk_count};
    if (column_count > GRAIN_FILE_MAX_COLUMNS || chunk_count > UINT32_MAX)
        return fail(GRAIN_ERROR_ARGUMENT, "%d columns, %lld chunks; a file of grains allows %d and 4 billion",
                    column_count, (long long)chunk_count, GRAIN_FILE_MAX_COLUMNS);
    for (int c = 0; c < column_count; c++) {
        if (columns[c].layout.components < 1 || columns[c].layout.components > CHUNK_MAX_COMPONENTS)
            return fail(GRAIN_ERROR_ARGUMENT, "column '%s' has %d components; a file of grains allows 1 to %d",
                        columns[c].name, columns[c].layout.components, CHUNK_MAX_COMPONENTS);
        head->columns[c] = columns[c];
    }
    TRY(take_memory(writer, columns, chunk_grains));
    TRY(open_previous(writer, previous));
    TRY(file_create(&writer->file, path));
    // Room for the head, which is known last.
    int64_t head_bytes = grains_head_bytes(column_count, chunk_count);
    uint8_t *zeros = ALLOC_ZEROED(uint8_t, head_bytes);
    if (!zeros) return GRAIN_ERROR_MEMORY;
    GrainResult result = file_write(&writer->file, zeros, (size_t)head_bytes);
    alloc_free(zeros);
    return result;
}

static const char *find_key_words(const GrainsWriter *writer, int64_t chunk, int column, const GrainsBlock *key,
                                  GrainsScratch *scratch)
{
    // The frame before stands for its key frame: what is there to add is in its table.
    const GrainsFile *file = &writer->previous;
    for (int i = 0; i < file->key_count; i++)
        if (file->keys[i].header.frame == key->key_frame)
            return grains_decode(&file->keys[i], chunk, column, scratch, scratch->key_words);
    return grains_decode(file, chunk, column, scratch, scratch->key_words);
}

static const char *pack_block(GrainsWriter *writer, int64_t chunk, int column, const void *values,
                              GrainsScratch *scratch, uint8_t *out, GrainsBlock *block)
{
    int64_t count = writer->head.chunk_grains[chunk];
    ChunkLayout layout = writer->head.columns[column].layout;
    if (!chunk_to_words(&layout, values, count, scratch->words)) {
        layout.coding = CHUNK_EXACT;
        chunk_to_words(&layout, values, count, scratch->words);
    }
    GrainsBlock key = {0};
    int has_key = find_key(writer, chunk, column, &key) && key.coding == layout.coding;
    if (has_key) {
        const char *wrong = find_key_words(writer, chunk, column, &key, scratch);
        if (wrong) return wrong;
    }
    ChunkMode mode;
    int64_t bytes = chunk_encode(&scratch->coder, scratch->words, has_key ? scratch->key_words : NULL, key.spent, count,
                                 chunk_words(&layout), &mode, out);
    *block = (GrainsBlock){.checksum = XXH3_64bits(out, (size_t)bytes),
                           .bytes = (uint32_t)bytes,
                           .mode = (uint8_t)mode,
                           .coding = (uint8_t)layout.coding};
    if (mode == CHUNK_KEY || mode == CHUNK_SAME) {
        block->key_frame = key.key_frame, block->key_checksum = key.key_checksum;
        block->spent = key.spent + block->bytes; // less than a whole block takes
    }
    return NULL;
}

static const char *pack_chunk(GrainsWriter *writer, int64_t chunk, int64_t first, const void *const *data,
                              GrainsScratch *scratch, uint8_t *out)
{
    const GrainsFile *head = &writer->head;
    GrainsBlock *blocks = &head->blocks[chunk * head->column_count];
    for (int c = 0; c < head->column_count; c++) {
        const char *values = (const char *)data[c] + first * grains_value_bytes(&head->columns[c].layout);
        if (head->chunk_grains[chunk] == 0) {
            blocks[c] =
                (GrainsBlock){.checksum = XXH3_64bits(out, 0), .coding = (uint8_t)head->columns[c].layout.coding};
            continue;
        }
        const char *wrong = pack_block(writer, chunk, c, values, scratch, out, &blocks[c]);
        if (wrong) return wrong;
        out += blocks[c].bytes;
    }
    return NULL;
}

static GrainResult write_chunk(GrainsWriter *writer, int64_t chunk, const uint8_t *packed)
{
    GrainsBlock *blocks = &writer->head.blocks[chunk * writer->head.column_count];
    int64_t bytes = 0;
    for (int c = 0; c < writer->head.column_count; c++) {
        blocks[c].offset = writer->file.bytes + bytes;
        bytes += blocks[c].bytes;
    }
    return file_write(&writer->file, packed, (size_t)bytes);
}

// first: of the chunk's grains among those the caller has given.
static GrainResult append_slots(GrainsWriter *writer, int64_t slots, int64_t *first, const void *const *data)
{
    int64_t begin = writer->next_chunk, *start = writer->slot_first;
    for (int64_t slot = 0; slot < slots; slot++) {
        start[slot] = *first;
        *first += writer->head.chunk_grains[begin + slot];
    }
    PARALLEL_BLOCKS(writer->threads, slot, slots)
    {
        writer->slot_error[slot] =
            pack_chunk(writer, begin + slot, start[slot], data, &writer->scratch[parallel_thread_index()],
                       writer->packed + slot * writer->packed_room);
    }
    for (int64_t slot = 0; slot < slots; slot++) {
        if (writer->slot_error[slot])
            return fail(GRAIN_ERROR_DAMAGED, "'%s' is damaged (%s); make the grains again to redo it",
                        writer->previous.path, writer->slot_error[slot]);
        TRY(write_chunk(writer, begin + slot, writer->packed + slot * writer->packed_room));
    }
    writer->next_chunk += slots;
    return GRAIN_OK;
}

GrainResult grains_append(GrainsWriter *writer, int64_t chunk_count, const void *const *data)
{
    int64_t first = 0;
    for (int64_t done = 0; done < chunk_count;) {
        int64_t slots = chunk_count - done < writer->slot_count ? chunk_count - done : writer->slot_count;
        TRY(append_slots(writer, slots, &first, data));
        done += slots;
    }
    return GRAIN_OK;
}

static void give_back(GrainsWriter *writer)
{
    for (int i = 0; writer->scratch && i < writer->threads; i++) grains_scratch_destroy(&writer->scratch[i]);
    alloc_free(writer->scratch);
    alloc_free(writer->packed);
    alloc_free(writer->slot_error);
    alloc_free(writer->slot_first);
    writer->scratch = NULL, writer->packed = NULL, writer->slot_error = NULL, writer->slot_first = NULL;
    grains_close(&writer->previous);
    grains_close(&writer->head);
}

void grains_abandon(GrainsWriter *writer)
{
    give_back(writer);
    file_abandon(&writer->file);
}

static GrainResult write_head(GrainsWriter *writer)
{
    GrainsFile *head = &writer->head;
    int64_t head_bytes = grains_head_bytes(head->column_count, head->chunk_count);
    uint8_t *memory = ALLOC(uint8_t, head_bytes);
    if (!memory) return GRAIN_ERROR_MEMORY;
    head->header.bytes = writer->file.bytes;
    grains_put_head(head, memory);
    GrainResult result = file_patch(&writer->file, 0, memory, (size_t)head_bytes);
    alloc_free(memory);
    return result;
}

GrainResult grains_commit(GrainsWriter *writer, GrainFileHeader *header)
{
    GrainResult result = write_head(writer);
    if (result == GRAIN_OK) {
        *header = writer->head.header;
        result = file_commit(&writer->file);
    }
    grains_abandon(writer);
    return result;
}
