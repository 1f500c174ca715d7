// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/column_file.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "output/column_gate.h"
#include "output/packed_file.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

// Offsets within the header; docs/formats.md has the same table.
enum {
    AT_MAGIC = 0,
    AT_FORMAT = 8,
    AT_FRAME = 12,
    AT_TIME = 16,
    AT_PARTICLES = 24,
    AT_COLUMNS = 32,
    AT_SUBSTEP = 36,
    AT_BYTES = 40,
    AT_CHECKSUM = 48,
    HEADER_BYTES = 64,
};
// Within an entry of the column table.
enum {
    AT_NAME = 0,
    NAME_BYTES = 32,
    AT_TYPE = 32,
    AT_COMPONENTS = 36,
    AT_OFFSET = 40,
    AT_COUNT = 48,
    ENTRY_BYTES = 64
};

static const char magic[8] = {'G', 'R', 'A', 'I', 'N', 'F', 'R', 'M'};

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the cache is little-endian; a big-endian machine needs byte swaps in put() and get()"
#endif
#define put(memory, at, value) memcpy((memory) + (at), &(value), sizeof(value))
#define get(memory, at, value) memcpy(&(value), (memory) + (at), sizeof(value))

static int64_t round_up(int64_t bytes) { return (bytes + 63) & ~(int64_t)63; }

static void write_entry(char *entry, const Column *column, uint64_t offset)
{
    uint32_t type = (uint32_t)column->type, components = (uint32_t)column->components;
    uint64_t count = (uint64_t)column->count;
    strncpy(entry + AT_NAME, column->name, NAME_BYTES - 1);
    put(entry, AT_TYPE, type);
    put(entry, AT_COMPONENTS, components);
    put(entry, AT_OFFSET, offset);
    put(entry, AT_COUNT, count);
}

static void write_header(char *memory, const ColumnFileHeader *header, int column_count)
{
    uint32_t format = COLUMN_FILE_FORMAT, columns = (uint32_t)column_count;
    memcpy(memory + AT_MAGIC, magic, sizeof magic);
    put(memory, AT_FORMAT, format);
    put(memory, AT_FRAME, header->frame);
    put(memory, AT_TIME, header->time);
    put(memory, AT_PARTICLES, header->particles);
    put(memory, AT_COLUMNS, columns);
    put(memory, AT_SUBSTEP, header->substep);
    put(memory, AT_BYTES, header->bytes);
}

GrainResult column_file_begin(ColumnFileStream *stream, const char *path, const ColumnFileHeader *header,
                              const Column *columns, int column_count)
{
    char head[HEADER_BYTES + COLUMN_FILE_MAX_COLUMNS * ENTRY_BYTES] = {0};
    *stream = (ColumnFileStream){.file.descriptor = -1, .header = *header};
    if (column_count > COLUMN_FILE_MAX_COLUMNS)
        return fail(GRAIN_ERROR_ARGUMENT, "%d columns; a file has at most %d", column_count, COLUMN_FILE_MAX_COLUMNS);
    for (int i = 0; i < column_count; i++) // what is written can be read
        if (columns[i].components < 1 || columns[i].components > COLUMN_FILE_MAX_COMPONENTS)
            return fail(GRAIN_ERROR_ARGUMENT, "column '%s' has %d components; a file allows 1 to %d", columns[i].name,
                        columns[i].components, COLUMN_FILE_MAX_COMPONENTS);
    int64_t head_bytes = HEADER_BYTES + (int64_t)column_count * ENTRY_BYTES;
    stream->header.bytes = head_bytes;
    for (int i = 0; i < column_count; i++) {
        write_entry(head + HEADER_BYTES + i * ENTRY_BYTES, &columns[i], (uint64_t)stream->header.bytes);
        stream->header.bytes += round_up(column_bytes(&columns[i]));
    }
    write_header(head, &stream->header, column_count);
    stream->hash = XXH3_createState();
    if (!stream->hash) return fail(GRAIN_ERROR_MEMORY, "not enough memory for a checksum");
    XXH3_64bits_reset(stream->hash);
    TRY(file_create(&stream->file, path));
    // The checksum counts as zeros in itself.
    TRY(column_file_append(stream, head, head_bytes));
    stream->column_bytes = 0;
    return GRAIN_OK;
}

GrainResult column_file_append(ColumnFileStream *stream, const void *data, int64_t bytes)
{
    if (bytes <= 0) return GRAIN_OK;
    stream->column_bytes += bytes;
    XXH3_64bits_update(stream->hash, data, (size_t)bytes);
    return file_write(&stream->file, data, (size_t)bytes);
}

GrainResult column_file_end_column(ColumnFileStream *stream)
{
    static const char zeros[64] = {0};
    TRY(column_file_append(stream, zeros, round_up(stream->column_bytes) - stream->column_bytes));
    stream->column_bytes = 0;
    return GRAIN_OK;
}

void column_file_abandon(ColumnFileStream *stream)
{
    XXH3_freeState(stream->hash);
    stream->hash = NULL;
    file_abandon(&stream->file);
}

GrainResult column_file_commit(ColumnFileStream *stream, ColumnFileHeader *header)
{
    stream->header.checksum = XXH3_64bits_digest(stream->hash);
    XXH3_freeState(stream->hash);
    stream->hash = NULL;
    *header = stream->header;
    GrainResult result = file_patch(&stream->file, AT_CHECKSUM, &header->checksum, sizeof header->checksum);
    if (result == GRAIN_OK) return file_commit(&stream->file);
    file_abandon(&stream->file);
    return result;
}

static GrainResult append_all(ColumnFileStream *stream, const Column *columns, int column_count)
{
    for (int i = 0; i < column_count; i++) {
        TRY(column_file_append(stream, columns[i].data, column_bytes(&columns[i])));
        TRY(column_file_end_column(stream));
    }
    return GRAIN_OK;
}

GrainResult column_file_write(const char *path, ColumnFileHeader *header, const Column *columns, int column_count)
{
    ColumnFileStream stream;
    GrainResult result = column_file_begin(&stream, path, header, columns, column_count);
    if (result == GRAIN_OK) result = append_all(&stream, columns, column_count);
    if (result == GRAIN_OK) return column_file_commit(&stream, header);
    column_file_abandon(&stream);
    return result;
}

static GrainResult fail_damaged(const char *path, const char *why)
{
    return fail(GRAIN_ERROR_DAMAGED, "'%s' is damaged (%s); bake again to redo it", path, why);
}

static GrainResult read_entry(const char *path, const char *memory, int64_t bytes, int number, Column *column)
{
    const char *entry = memory + HEADER_BYTES + number * ENTRY_BYTES;
    uint32_t type, components;
    uint64_t offset, count;
    get(entry, AT_TYPE, type);
    get(entry, AT_COMPONENTS, components);
    get(entry, AT_OFFSET, offset);
    get(entry, AT_COUNT, count);
    if (type > GRAIN_I64 || components < 1 || components > COLUMN_FILE_MAX_COMPONENTS || count > (uint64_t)bytes ||
        offset > (uint64_t)bytes || offset % 64 != 0 || entry[NAME_BYTES - 1] != 0)
        return fail_damaged(path, "a column's entry is not valid");
    *column = (Column){entry + AT_NAME, (GrainType)type, (int32_t)components, (int64_t)count, memory + offset};
    if (column_bytes(column) > bytes - (int64_t)offset) return fail_damaged(path, "a column reaches past the end");
    return GRAIN_OK;
}

// What a file of so many bytes begins with.
static GrainResult check_start(const char *path, const char *memory, int64_t bytes, ColumnFileHeader *header)
{
    uint32_t format;
    if (bytes < HEADER_BYTES || memcmp(memory, magic, sizeof magic) != 0)
        return fail_damaged(path, bytes < HEADER_BYTES ? "it is truncated" : "it is not a Grain file");
    get(memory, AT_FORMAT, format);
    TRY(column_gate_check_format(path, format, COLUMN_FILE_FORMAT));
    get(memory, AT_BYTES, header->bytes);
    if (header->bytes == bytes) return GRAIN_OK;
    return fail_damaged(path, bytes < header->bytes ? "it is truncated" : "it is longer than it says");
}

// Its size is looked at before memory is asked for. All is read from one opening: another program may put another file
// in its place at any moment.
static GrainResult read_open(int descriptor, const char *path, void **memory, int64_t *bytes)
{
    char start[HEADER_BYTES] = {0};
    SystemInfo info = {0};
    ColumnFileHeader header;
    if (system_info_of_file(descriptor, &info) != 0 || system_read_at(descriptor, start, sizeof start, 0) < 0)
        return fail_damaged(path, "it cannot be read");
    TRY(check_start(path, start, info.bytes, &header));
    return file_read_open(descriptor, path, info.bytes, memory, bytes);
}

static GrainResult read_whole(const char *path, void **memory, int64_t *bytes)
{
    int descriptor;
    TRY(file_open(path, &descriptor));
    GrainResult result = read_open(descriptor, path, memory, bytes);
    system_close(descriptor);
    return result;
}

static GrainResult check_and_index(const char *path, char *memory, int64_t bytes, struct GrainFrame *out)
{
    uint32_t columns;
    ColumnFileHeader *header = &out->header;
    TRY(check_start(path, memory, bytes, header));
    get(memory, AT_CHECKSUM, header->checksum);
    memset(memory + AT_CHECKSUM, 0, sizeof header->checksum);
    if (XXH3_64bits(memory, (size_t)bytes) != header->checksum) return fail_damaged(path, "its checksum is wrong");

    get(memory, AT_FRAME, header->frame);
    get(memory, AT_TIME, header->time);
    get(memory, AT_PARTICLES, header->particles);
    get(memory, AT_SUBSTEP, header->substep);
    get(memory, AT_COLUMNS, columns);
    TRY(column_gate_check_header(path, header));
    if (columns > COLUMN_FILE_MAX_COLUMNS || HEADER_BYTES + (int64_t)columns * ENTRY_BYTES > bytes)
        return fail_damaged(path, "it has too many columns");
    out->column_count = (int)columns;
    for (int i = 0; i < out->column_count; i++) TRY(read_entry(path, memory, bytes, i, &out->columns[i]));
    return column_gate_check(path, out);
}

GrainResult column_file_read(const char *path, struct GrainFrame *out)
{
    if (packed_recognises(path)) return packed_read(path, out);
    *out = (struct GrainFrame){0};
    void *memory;
    int64_t bytes;
    TRY(read_whole(path, &memory, &bytes));
    out->memory = memory;
    GrainResult result = check_and_index(path, out->memory, bytes, out);
    if (result != GRAIN_OK) column_file_free(out);
    return result;
}

void column_file_free(struct GrainFrame *file)
{
    if (file->packed) packed_close(file->packed);
    alloc_free(file->packed);
    alloc_free(file->memory);
    *file = (struct GrainFrame){0};
}
