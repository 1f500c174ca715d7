// SPDX-License-Identifier: GPL-3.0-or-later
#include "fuzz/grain_file.h"
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

// docs/formats.md
enum { HEADER_BYTES = 64, AT_COLUMNS = 32, AT_BYTES = 40, AT_CHECKSUM = 48, ENTRY_BYTES = 64, AT_OFFSET = 40 };
#define MOST_CHANGES 64

void grain_file_take(const char *name, GrainFileBytes *out)
{
    out->size = fuzz_read(name, out->data, sizeof out->data);
    if (out->size == sizeof out->data) fuzz_found("%s has more than %d bytes", name, GRAIN_FILE_MOST);
}

// --- changes --------------------------------------------------------------------------------------

void grain_file_mend(uint8_t *file, size_t size)
{
    uint64_t bytes = size, sum = 0;
    if (size < HEADER_BYTES) return;
    memcpy(file + AT_BYTES, &bytes, sizeof bytes);
    memcpy(file + AT_CHECKSUM, &sum, sizeof sum);
    sum = XXH3_64bits(file, size);
    memcpy(file + AT_CHECKSUM, &sum, sizeof sum);
}

// Where the numbers of a column are in the file, in words of 32 bits; of what is no column: the head of the file.
static void find_words(const GrainFileBytes *file, uint8_t column, size_t *first, size_t *count)
{
    uint32_t columns;
    memcpy(&columns, file->data + AT_COLUMNS, sizeof columns);
    uint64_t from = 0, to = HEADER_BYTES + (uint64_t)ENTRY_BYTES * columns;
    if (column < COLUMN_FILE_MAX_COLUMNS) {
        const uint8_t *entry = file->data + HEADER_BYTES + (size_t)ENTRY_BYTES * (column % columns);
        memcpy(&from, entry + AT_OFFSET, sizeof from);
        to = file->size;
        if (column % columns + 1 < columns) memcpy(&to, entry + ENTRY_BYTES + AT_OFFSET, sizeof to);
    }
    *first = (size_t)from / 4, *count = (size_t)(to - from) / 4;
}

void grain_file_forge(const char *name, const GrainFileBytes *from, unsigned flags, const uint8_t *data, size_t size)
{
    static GrainFileBytes file;
    if (!(flags & GRAIN_FILE_CHANGES)) {
        file.size = size < sizeof file.data ? size : sizeof file.data;
        memcpy(file.data, data, file.size);
        if (flags & GRAIN_FILE_MENDS) grain_file_mend(file.data, file.size);
        fuzz_write(name, file.data, file.size);
        return;
    }
    file = *from;
    for (int i = 0; i < MOST_CHANGES && size >= 8; i++, data += 8, size -= 8) {
        size_t first, count, place = (size_t)(data[1] | data[2] << 8);
        find_words(from, data[0], &first, &count);
        if (count > 0) memcpy(file.data + 4 * (first + place % count), data + 4, 4);
    }
    grain_file_mend(file.data, file.size);
    fuzz_write(name, file.data, file.size);
}

size_t grain_file_seed(const GrainFileBytes *file, unsigned kind, int is_change, uint8_t *data, size_t capacity)
{
    static const uint8_t none[8] = {COLUMN_FILE_MAX_COLUMNS, 0, 0, 0, 'G', 'R', 'A', 'I'};
    int is_whole = !is_change && file->size <= capacity - GRAIN_FILE_HEADER;
    size_t size = is_whole ? file->size : sizeof none;
    data[0] = is_whole ? GRAIN_FILE_MENDS : GRAIN_FILE_CHANGES;
    data[1] = (uint8_t)kind;
    memcpy(data + GRAIN_FILE_HEADER, is_whole ? file->data : none, size);
    return GRAIN_FILE_HEADER + size;
}
