#pragma once
/// The .grain container: a header, a table of columns, the columns (docs/formats.md gives every byte).
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

/// A file in memory, checked: the columns point into it.
struct GrainFrame {
    GrainFileHeader header;
    Column columns[GRAIN_FILE_MAX_COLUMNS];
    int column_count;
    char *memory;
};
GrainResult grain_file_read(const char *path, struct GrainFrame *out);
void grain_file_free(struct GrainFrame *file);
