// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Frames of render grains, packed: chunks of grains, a block of bytes for each column of a chunk (docs/formats.md
/// gives every byte).
///
/// A grain keeps its chunk and its place there for the whole bake. A block stands for itself, or holds what changed
/// since the last frame, its key frame, where the chunk's column does. So any frame is read by itself and key frames,
/// never through a chain.
#include "output/chunk_codec.h"
#include "output/grain_file.h"

#define GRAINS_FILE_FORMAT 2
/// A block is written whole again after this many frames, so that damage to one does not reach far.
#define GRAINS_MOST_FRAMES_TO_KEY 32

typedef struct GrainsColumn {
    char name[32];
    ChunkLayout layout;
    int is_keyed; ///< for writing: whether key frames may help
} GrainsColumn;

typedef struct GrainsBlock {
    int64_t offset;
    uint64_t checksum;     ///< XXH3-64 of its bytes
    uint64_t key_checksum; ///< of the block in the key frame, where there is one
    uint32_t bytes;
    int32_t key_frame;
    uint32_t spent;       ///< bytes of blocks since the key frame, this one's included
    uint8_t mode, coding; ///< ChunkMode, ChunkCoding: the column's, or exact where a value did not fit its lattice
} GrainsBlock;

/// A file and the key frames it has needed so far. One thread at a time.
typedef struct GrainsFile {
    GrainFileHeader header;
    GrainsColumn columns[GRAIN_FILE_MAX_COLUMNS];
    int column_count;
    int64_t chunk_count;
    uint32_t *chunk_grains;
    GrainsBlock *blocks; ///< chunk after chunk, a block for each column
    char *path;
    int descriptor;
    struct GrainsFile *keys; ///< without keys of their own
    int key_count;
} GrainsFile;

/// Whether the file begins as one of grains does.
int grains_is_packed(const char *path);
/// Reads and checks the head only.
GrainResult grains_open(const char *path, GrainsFile *out);
void grains_close(GrainsFile *file);
/// The frames that blocks of the file lean on, each once; returns how many, at most GRAINS_MOST_FRAMES_TO_KEY.
int grains_list_keys(const GrainsFile *file, int32_t *frames);
/// Decodes a column of the first `count` grains; reads no more than their chunks.
GrainResult grains_load(GrainsFile *file, int column, int64_t count, void *out, int threads);
/// The whole file as grain_file_read gives it: every column, every checksum.
GrainResult grains_read(const char *path, struct GrainFrame *out);

/// What a thread needs to read blocks of these columns.
typedef struct GrainsScratch {
    ChunkCoder coder;
    uint8_t *bytes;
    int32_t *words, *key_words;
} GrainsScratch;
GrainResult grains_scratch_create(GrainsScratch *scratch, const GrainsColumn *columns, int column_count);
void grains_scratch_destroy(GrainsScratch *scratch);

/// Opens the key frame `frame` beside the file, once.
GrainResult grains_open_key(GrainsFile *file, int32_t frame);
/// The words of a block, the key frame's added (grains_open_key has been called). Returns NULL, or what is wrong.
const char *grains_decode(const GrainsFile *file, int64_t chunk, int column, GrainsScratch *scratch, int32_t *words);

/// Writing, chunk after chunk; whole or not at all (base/file.h).
typedef struct GrainsWriter {
    FileWriter file;
    GrainsFile head; ///< as it will be read
    GrainsFile previous;
    int has_previous;
    int64_t next_chunk;
    int threads, slot_count;
    GrainsScratch *scratch; ///< of each thread
    uint8_t *packed;        ///< room for a chunk in each slot
    int64_t packed_room;
    const char **slot_error;
    int64_t *slot_first; ///< of the chunk's grains among those given
} GrainsWriter;
/// chunk_grains[i] is at most CHUNK_GRAINS. previous: the frame before this one, for key frames; NULL for none. After a
/// failure here or later, and instead of grains_commit, grains_abandon.
GrainResult grains_begin(GrainsWriter *writer, const char *path, const GrainFileHeader *header,
                         const GrainsColumn *columns, int column_count, const uint32_t *chunk_grains,
                         int64_t chunk_count, const char *previous, int threads);
/// The next chunks; data[c] are the values of column c of their grains.
GrainResult grains_append(GrainsWriter *writer, int64_t chunk_count, const void *const *data);
/// Fills in header->bytes and header->checksum.
GrainResult grains_commit(GrainsWriter *writer, GrainFileHeader *header);
void grains_abandon(GrainsWriter *writer);

/// Bytes of the head, and the head itself with its checksum (also put into file->header).
int64_t grains_head_bytes(int column_count, int64_t chunk_count);
void grains_put_head(GrainsFile *file, uint8_t *head);
int64_t grains_value_bytes(const ChunkLayout *layout);
