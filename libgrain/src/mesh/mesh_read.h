// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Readers of mesh files. Each reads the whole file in memory with a Reader that cannot run past its end, and fills a
/// GrainMeshFile.
#include "base/error.h"
#include "mesh/mesh.h"

struct GrainMeshFile {
    float *positions;
    int32_t *triangles;
    int64_t vertex_count, triangle_count;
    int64_t position_capacity, corner_capacity;
};

typedef struct Reader {
    const char *path;
    const char *at, *end; ///< end[0] is a zero byte
    int64_t line;         ///< of text, from 1
} Reader;

/// Reads a file in the format given by its extension. The caller frees the file's arrays, even after a failure.
GrainResult mesh_read(const char *path, GrainMeshFile *file);

/// Skips blanks within the line.
void reader_skip_blanks(Reader *reader);
/// Moves to the start of the next line. 0 at the end of the file.
int reader_next_line(Reader *reader);
/// Whether the next word of the line is this one; moves past it if so.
int reader_take_word(Reader *reader, const char *word);
/// Reads a number, independent of the locale. Returns 0, without moving, if there is none.
int reader_take_number(Reader *reader, double *value);
/// Whether the word that was read ends here.
int reader_is_word_over(const Reader *reader);
/// Whether nothing but blanks is left of the line.
int reader_is_line_over(Reader *reader);
/// Fails, with path and line prepended.
GrainResult reader_fail(const Reader *reader, const char *format, ...) LIKE_PRINTF(2, 3);

GrainResult mesh_file_add_vertex(GrainMeshFile *file, double x, double y, double z);
/// Adds a polygon as a fan of triangles. Its vertices may follow later in the file; mesh_validate checks them.
GrainResult mesh_file_add_face(GrainMeshFile *file, const int64_t *corners, int64_t count);

/// Largest number of corners of a face.
#define MESH_FILE_MAX_CORNERS 4096

GrainResult mesh_read_obj(Reader *reader, GrainMeshFile *file);
GrainResult mesh_read_ply(Reader *reader, GrainMeshFile *file);
GrainResult mesh_read_stl(Reader *reader, GrainMeshFile *file);
