// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The .grain container: a header, a table of columns, the columns (docs/formats.md describes every byte).
#include "base/file.h"
#include "particles/particles.h"

#define COLUMN_FILE_FORMAT 1
#define COLUMN_FILE_MAX_COLUMNS 64
#define COLUMN_FILE_MAX_COMPONENTS 64

typedef struct ColumnFileHeader {
    int32_t frame;
    uint32_t substep;
    double time; ///< s
    int64_t particles;
    int64_t bytes;     ///< of the file; set by writing and reading
    uint64_t checksum; ///< likewise
} ColumnFileHeader;

/// Writes the file completely or not at all (base/file.h). Fills in header->bytes and header->checksum.
GrainResult column_file_write(const char *path, ColumnFileHeader *header, const Column *columns, int column_count);

/// The same in pieces, for columns that are never completely in memory: begin with columns without data, append the
/// bytes of each column in order, in pieces of any size, and end each with column_file_end_column. Call
/// column_file_abandon after any failure, or to cancel.
typedef struct ColumnFileStream {
    FileWriter file;
    void *hash;
    int64_t column_bytes; ///< of the current column so far
    ColumnFileHeader header;
} ColumnFileStream;
GrainResult column_file_begin(ColumnFileStream *stream, const char *path, const ColumnFileHeader *header,
                              const Column *columns, int column_count);
GrainResult column_file_append(ColumnFileStream *stream, const void *data, int64_t bytes);
GrainResult column_file_end_column(ColumnFileStream *stream);
/// Fills in header->bytes and header->checksum.
GrainResult column_file_commit(ColumnFileStream *stream, ColumnFileHeader *header);
void column_file_abandon(ColumnFileStream *stream);

/// A file in memory, checked: the columns point into it.
struct GrainFrame {
    ColumnFileHeader header;
    Column columns[COLUMN_FILE_MAX_COLUMNS];
    int column_count;
    char *memory;
    struct PackedFile *packed; ///< of grain_frame_open: columns without data
};
/// Also reads packed frames of grains (output/packed_file.h), decoded into columns.
GrainResult column_file_read(const char *path, struct GrainFrame *out);
void column_file_free(struct GrainFrame *file);
