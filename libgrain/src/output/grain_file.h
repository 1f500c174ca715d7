// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The .grain container: a header, a table of columns, the columns (docs/formats.md gives every byte).
#include "base/file.h"
#include "particles/particles.h"

#define GRAIN_FILE_FORMAT 1
#define GRAIN_FILE_MAX_COLUMNS 64
#define GRAIN_FILE_MAX_COMPONENTS 64

typedef struct GrainFileHeader {
    int32_t frame;
    uint32_t substep;
    double time; ///< s
    int64_t particles;
    int64_t bytes;     ///< of the file; set by writing and reading
    uint64_t checksum; ///< likewise
} GrainFileHeader;

/// Whole or not at all (base/file.h). Fills in header->bytes and header->checksum.
GrainResult grain_file_write(const char *path, GrainFileHeader *header, const Column *columns, int column_count);

/// The same piece by piece, for columns that are never whole in memory: begin with columns without data, then append
/// each column's bytes, in order and in pieces of any size, each column ended by grain_file_end_column. After any
/// failure, and instead of grain_file_commit, grain_file_abandon.
typedef struct GrainFileStream {
    FileWriter file;
    void *hash;
    int64_t column_bytes; ///< of the present column so far
    GrainFileHeader header;
} GrainFileStream;
GrainResult grain_file_begin(GrainFileStream *stream, const char *path, const GrainFileHeader *header,
                             const Column *columns, int column_count);
GrainResult grain_file_append(GrainFileStream *stream, const void *data, int64_t bytes);
GrainResult grain_file_end_column(GrainFileStream *stream);
/// Fills in header->bytes and header->checksum.
GrainResult grain_file_commit(GrainFileStream *stream, GrainFileHeader *header);
void grain_file_abandon(GrainFileStream *stream);

/// A file in memory, checked: the columns point into it.
struct GrainFrame {
    GrainFileHeader header;
    Column columns[GRAIN_FILE_MAX_COLUMNS];
    int column_count;
    char *memory;
    struct GrainsFile *packed; ///< of grain_frame_open: columns without data
};
/// Also reads packed frames of grains (output/grains_file.h), as the columns they stand for.
GrainResult grain_file_read(const char *path, struct GrainFrame *out);
void grain_file_free(struct GrainFrame *file);
