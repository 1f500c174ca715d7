// SPDX-License-Identifier: GPL-3.0-or-later
// Writing frames of grains: chunks are packed side by side, then written one behind the other.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "output/packed_file.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

// Chunks packed before they are written, for each thread.
#define BUFFERS_FOR_A_THREAD 8

static int64_t packed_room(const PackedColumn *columns, int column_count)
{
    int64_t room = 0;
    for (int c = 0; c < column_count; c++) {
        ChunkLayout exact = columns[c].layout;
        exact.coding = CHUNK_EXACT;
        room += chunk_bound(CHUNK_GRAINS, chunk_words(&exact));
    }
    return room;
}

static GrainResult take_memory(PackedWriter *writer, const PackedColumn *columns, const uint32_t *chunk_grains)
{
    PackedFile *head = &writer->head;
    int threads = writer->threads;
    writer->buffer_count = BUFFERS_FOR_A_THREAD * threads;
    writer->packed_room = packed_room(columns, head->column_count);
    head->chunk_grains = ALLOC(uint32_t, head->chunk_count);
    head->blocks = ALLOC_ZEROED(PackedBlock, head->chunk_count * head->column_count);
    writer->scratch = ALLOC_ZEROED(PackedScratch, threads);
    writer->packed = ALLOC(uint8_t, writer->buffer_count * writer->packed_room);
    writer->buffer_error = ALLOC(const char *, writer->buffer_count);
    writer->buffer_first = ALLOC(int64_t, writer->buffer_count);
    if (!head->chunk_grains || !head->blocks || !writer->scratch || !writer->packed || !writer->buffer_error ||
        !writer->buffer_first)
        return GRAIN_ERROR_MEMORY;
    memcpy(head->chunk_grains, chunk_grains, (size_t)head->chunk_count * sizeof *chunk_grains);
    for (int i = 0; i < threads; i++) TRY(packed_scratch_create(&writer->scratch[i], columns, head->column_count));
    return GRAIN_OK;
}

static int is_same_column(const PackedColumn *a, const PackedColumn *b)
{
    return strcmp(a->name, b->name) == 0 && a->layout.type == b->layout.type &&
           a->layout.components == b->layout.components && a->layout.coding == b->layout.coding &&
           a->layout.step == b->layout.step;
}

// The frame whose blocks these would be taken against: of the one before, itself or its own.
static int find_key(const PackedWriter *writer, int64_t chunk, int column, PackedBlock *key)
{
    const PackedFile *before = &writer->previous, *head = &writer->head;
    const PackedColumn *wanted = &head->columns[column];
    if (!writer->has_previous || !wanted->is_keyed || chunk >= before->chunk_count || column >= before->column_count ||
        before->chunk_grains[chunk] != head->chunk_grains[chunk] || !is_same_column(&before->columns[column], wanted))
        return 0;
    *key = before->blocks[chunk * before->column_count + column];
    if (key->mode <= CHUNK_DELTA) {
        key->key_frame = before->header.frame, key->key_checksum = key->checksum;
        key->spent = 0;
    }
    return key->key_frame < head->header.frame &&
           head->header.frame - (int64_t)key->key_frame <= PACKED_MOST_FRAMES_TO_KEY;
}

static GrainResult open_previous(PackedWriter *writer, const char *previous)
{
    if (!previous) return GRAIN_OK;
    TRY(packed_open(previous, &writer->previous));
    writer->has_previous = 1;
    for (int64_t chunk = 0; chunk < writer->head.chunk_count; chunk++)
        for (int c = 0; c < writer->head.column_count; c++) {
            PackedBlock key;
            if (find_key(writer, chunk, c, &key) && key.key_frame != writer->previous.header.frame)
                TRY(packed_open_key(&writer->previous, key.key_frame));
        }
    return GRAIN_OK;
}

GrainResult packed_begin(PackedWriter *writer, const char *path, const ColumnFileHeader *header,
                         const PackedColumn *columns, int column_count, const uint32_t *chunk_grains,
                         int64_t chunk_count, const char *previous, int threads)
{
    *writer = (PackedWriter){.file.descriptor = -1, .threads = threads, .previous.descriptor = -1};
    PackedFile *head = &writer->head;
    *head = (PackedFile){.header = *header, .descriptor = -1, .column_count = column_count, .chunk_count = chunk_count};
    if (column_count > COLUMN_FILE_MAX_COLUMNS || chunk_count > UINT32_MAX)
        return fail(GRAIN_ERROR_ARGUMENT, "%d columns, %lld chunks; a file of grains allows %d and 4 billion",
                    column_count, (long long)chunk_count, COLUMN_FILE_MAX_COLUMNS);
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
    int64_t head_bytes = packed_head_bytes(column_count, chunk_count);
    uint8_t *zeros = ALLOC_ZEROED(uint8_t, head_bytes);
    if (!zeros) return GRAIN_ERROR_MEMORY;
    GrainResult result = file_write(&writer->file, zeros, (size_t)head_bytes);
    alloc_free(zeros);
    return result;
}

static const char *find_key_words(const PackedWriter *writer, int64_t chunk, int column, const PackedBlock *key,
                                  PackedScratch *scratch)
{
    // The frame before stands for its key frame: what is there to add is in its table.
    const PackedFile *file = &writer->previous;
    for (int i = 0; i < file->key_count; i++)
        if (file->keys[i].header.frame == key->key_frame)
            return packed_decode(&file->keys[i], chunk, column, scratch, scratch->key_words);
    return packed_decode(file, chunk, column, scratch, scratch->key_words);
}

static const char *pack_block(PackedWriter *writer, int64_t chunk, int column, const void *values,
                              PackedScratch *scratch, uint8_t *out, PackedBlock *block)
{
    int64_t count = writer->head.chunk_grains[chunk];
    ChunkLayout layout = writer->head.columns[column].layout;
    if (!chunk_to_words(&layout, values, count, scratch->words)) {
        layout.coding = CHUNK_EXACT;
        chunk_to_words(&layout, values, count, scratch->words);
    }
    PackedBlock key = {0};
    int has_key = find_key(writer, chunk, column, &key) && key.coding == layout.coding;
    if (has_key) {
        const char *wrong = find_key_words(writer, chunk, column, &key, scratch);
        if (wrong) return wrong;
    }
    ChunkMode mode;
    int64_t bytes = chunk_encode(&scratch->coder, scratch->words, has_key ? scratch->key_words : NULL, key.spent, count,
                                 chunk_words(&layout), &mode, out);
    *block = (PackedBlock){.checksum = XXH3_64bits(out, (size_t)bytes),
                           .bytes = (uint32_t)bytes,
                           .mode = (uint8_t)mode,
                           .coding = (uint8_t)layout.coding};
    if (mode == CHUNK_KEY || mode == CHUNK_SAME) {
        block->key_frame = key.key_frame, block->key_checksum = key.key_checksum;
        block->spent = key.spent + block->bytes; // less than a whole block takes
    }
    return NULL;
}

static const char *pack_chunk(PackedWriter *writer, int64_t chunk, int64_t first, const void *const *data,
                              PackedScratch *scratch, uint8_t *out)
{
    const PackedFile *head = &writer->head;
    PackedBlock *blocks = &head->blocks[chunk * head->column_count];
    for (int c = 0; c < head->column_count; c++) {
        const char *values = (const char *)data[c] + first * packed_value_bytes(&head->columns[c].layout);
        if (head->chunk_grains[chunk] == 0) {
            blocks[c] =
                (PackedBlock){.checksum = XXH3_64bits(out, 0), .coding = (uint8_t)head->columns[c].layout.coding};
            continue;
        }
        const char *wrong = pack_block(writer, chunk, c, values, scratch, out, &blocks[c]);
        if (wrong) return wrong;
        out += blocks[c].bytes;
    }
    return NULL;
}

static GrainResult write_chunk(PackedWriter *writer, int64_t chunk, const uint8_t *packed)
{
    PackedBlock *blocks = &writer->head.blocks[chunk * writer->head.column_count];
    int64_t bytes = 0;
    for (int c = 0; c < writer->head.column_count; c++) {
        blocks[c].offset = writer->file.bytes + bytes;
        bytes += blocks[c].bytes;
    }
    return file_write(&writer->file, packed, (size_t)bytes);
}

// first: of the chunk's grains among those the caller has given.
static GrainResult append_buffers(PackedWriter *writer, int64_t buffers, int64_t *first, const void *const *data)
{
    int64_t begin = writer->next_chunk, *start = writer->buffer_first;
    for (int64_t buffer = 0; buffer < buffers; buffer++) {
        start[buffer] = *first;
        *first += writer->head.chunk_grains[begin + buffer];
    }
    PARALLEL_BLOCKS(writer->threads, buffer, buffers)
    {
        writer->buffer_error[buffer] =
            pack_chunk(writer, begin + buffer, start[buffer], data, &writer->scratch[parallel_thread_index()],
                       writer->packed + buffer * writer->packed_room);
    }
    for (int64_t buffer = 0; buffer < buffers; buffer++) {
        if (writer->buffer_error[buffer])
            return fail(GRAIN_ERROR_DAMAGED, "'%s' is damaged (%s); make the grains again to redo it",
                        writer->previous.path, writer->buffer_error[buffer]);
        TRY(write_chunk(writer, begin + buffer, writer->packed + buffer * writer->packed_room));
    }
    writer->next_chunk += buffers;
    return GRAIN_OK;
}

GrainResult packed_append(PackedWriter *writer, int64_t chunk_count, const void *const *data)
{
    int64_t first = 0;
    for (int64_t done = 0; done < chunk_count;) {
        int64_t buffers = chunk_count - done < writer->buffer_count ? chunk_count - done : writer->buffer_count;
        TRY(append_buffers(writer, buffers, &first, data));
        done += buffers;
    }
    return GRAIN_OK;
}

static void give_back(PackedWriter *writer)
{
    for (int i = 0; writer->scratch && i < writer->threads; i++) packed_scratch_destroy(&writer->scratch[i]);
    alloc_free(writer->scratch);
    alloc_free(writer->packed);
    alloc_free(writer->buffer_error);
    alloc_free(writer->buffer_first);
    writer->scratch = NULL, writer->packed = NULL, writer->buffer_error = NULL, writer->buffer_first = NULL;
    packed_close(&writer->previous);
    packed_close(&writer->head);
}

void packed_abandon(PackedWriter *writer)
{
    give_back(writer);
    file_abandon(&writer->file);
}

static GrainResult write_head(PackedWriter *writer)
{
    PackedFile *head = &writer->head;
    int64_t head_bytes = packed_head_bytes(head->column_count, head->chunk_count);
    uint8_t *memory = ALLOC(uint8_t, head_bytes);
    if (!memory) return GRAIN_ERROR_MEMORY;
    head->header.bytes = writer->file.bytes;
    packed_put_head(head, memory);
    GrainResult result = file_patch(&writer->file, 0, memory, (size_t)head_bytes);
    alloc_free(memory);
    return result;
}

GrainResult packed_commit(PackedWriter *writer, ColumnFileHeader *header)
{
    GrainResult result = write_head(writer);
    if (result == GRAIN_OK) {
        *header = writer->head.header;
        result = file_commit(&writer->file);
    }
    packed_abandon(writer);
    return result;
}
