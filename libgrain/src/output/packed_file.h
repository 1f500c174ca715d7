// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Packed frames of render grains: chunks of grains, with a block of bytes for each column of a chunk (docs/formats.md
/// describes every byte).
///
/// A grain keeps its chunk and its index there for the whole bake. A block is either complete, or the difference from a
/// complete block of an earlier frame, its key frame. Reading a frame therefore needs its key frames, but never a chain
/// of them.
#include "output/chunk_codec.h"
#include "output/column_file.h"

#define PACKED_FILE_FORMAT 2
/// A block is written completely at least this often, in frames, to limit the effect of damage.
#define PACKED_MOST_FRAMES_TO_KEY 32

typedef struct PackedColumn {
    char name[32];
    ChunkLayout layout;
    int is_keyed; ///< for writing: use key frames if they save space
} PackedColumn;

typedef struct PackedBlock {
    int64_t offset;
    uint64_t checksum;     ///< XXH3-64 of its bytes
    uint64_t key_checksum; ///< of the block in the key frame, if there is one
    uint32_t bytes;
    int32_t key_frame;
    uint32_t spent;       ///< bytes of blocks since the key frame, this one's included
    uint8_t mode, coding; ///< ChunkMode, ChunkCoding: the column's, or exact if a value did not fit the lattice
} PackedBlock;

/// An open file with the key frames needed so far. For one thread at a time.
typedef struct PackedFile {
    ColumnFileHeader header;
    PackedColumn columns[COLUMN_FILE_MAX_COLUMNS];
    int column_count;
    int64_t chunk_count;
    uint32_t *chunk_grains;
    PackedBlock *blocks; ///< chunk by chunk, one for each column
    char *path;
    int descriptor;
    struct PackedFile *keys; ///< without keys of their own
    int key_count;
} PackedFile;

/// Whether the file begins like a packed frame.
int packed_recognises(const char *path);
/// Reads and checks the head only.
GrainResult packed_open(const char *path, PackedFile *out);
void packed_close(PackedFile *file);
/// The key frames of the file, each once; returns their number, at most PACKED_MOST_FRAMES_TO_KEY.
int packed_list_keys(const PackedFile *file, int32_t *frames);
/// Decodes a column of the first `count` grains; reads only their chunks.
GrainResult packed_load(PackedFile *file, int column, int64_t count, void *out, int threads);
/// The whole file as column_file_read gives it: every column, every checksum.
GrainResult packed_read(const char *path, struct GrainFrame *out);

/// Scratch memory of a thread for reading blocks of these columns.
typedef struct PackedScratch {
    ChunkCoder coder;
    uint8_t *bytes;
    int32_t *words, *key_words;
} PackedScratch;
GrainResult packed_scratch_create(PackedScratch *scratch, const PackedColumn *columns, int column_count);
void packed_scratch_destroy(PackedScratch *scratch);

/// Opens the key frame `frame` beside the file, once.
GrainResult packed_open_key(PackedFile *file, int32_t frame);
/// The words of a block, the key frame's added (packed_open_key has been called). Returns NULL, or an error text.
const char *packed_decode(const PackedFile *file, int64_t chunk, int column, PackedScratch *scratch, int32_t *words);

/// Writes a file chunk by chunk; it appears complete or not at all (base/file.h).
typedef struct PackedWriter {
    FileWriter file;
    PackedFile head; ///< as readers will see it
    PackedFile previous;
    int has_previous;
    int64_t next_chunk;
    int threads, buffer_count;
    PackedScratch *scratch; ///< of each thread
    uint8_t *packed;        ///< room for a chunk in each buffer
    int64_t packed_room;
    const char **buffer_error;
    int64_t *buffer_first; ///< of the chunk's grains among those given
} PackedWriter;
/// chunk_grains[i] is at most CHUNK_GRAINS. previous: the frame before this one, for key frames; NULL for none. Call
/// packed_abandon after any failure, or to cancel.
GrainResult packed_begin(PackedWriter *writer, const char *path, const ColumnFileHeader *header,
                         const PackedColumn *columns, int column_count, const uint32_t *chunk_grains,
                         int64_t chunk_count, const char *previous, int threads);
/// The next chunks; data[c] are the values of column c of their grains.
GrainResult packed_append(PackedWriter *writer, int64_t chunk_count, const void *const *data);
/// Fills in header->bytes and header->checksum.
GrainResult packed_commit(PackedWriter *writer, ColumnFileHeader *header);
void packed_abandon(PackedWriter *writer);

/// Bytes of the head, and the head itself with its checksum (also put into file->header).
int64_t packed_head_bytes(int column_count, int64_t chunk_count);
void packed_put_head(PackedFile *file, uint8_t *head);
int64_t packed_value_bytes(const ChunkLayout *layout);
