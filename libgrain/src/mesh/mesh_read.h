// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Reading mesh files. Every format walks over the whole file in memory with a Reader that cannot run past its end, and
/// puts what it finds into a GrainMeshFile.
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

/// Reads a file of any of the formats; its ending says which. The file's arrays are to be freed also after a failure.
GrainResult mesh_read(const char *path, GrainMeshFile *file);

/// Moves past blanks, not past the end of the line.
void reader_skip_blanks(Reader *reader);
/// Moves to the start of the next line. 0 at the end of the file.
int reader_next_line(Reader *reader);
/// Whether the next word of the line is this one; moves past it if so.
int reader_take_word(Reader *reader, const char *word);
/// A number, whatever the language settings say about decimal points. 0, and not moved, where there is none.
int reader_take_number(Reader *reader, double *value);
/// A failure with path and line in front.
GrainResult reader_fail(const Reader *reader, const char *format, ...) LIKE_PRINTF(2, 3);

GrainResult mesh_file_add_vertex(GrainMeshFile *file, double x, double y, double z);
/// A face of three corners or more as a fan; its vertices may come later, mesh_validate looks at the end.
GrainResult mesh_file_add_face(GrainMeshFile *file, const int64_t *corners, int64_t count);

/// Corners a face may have.
#define MESH_FILE_MAX_CORNERS 4096

GrainResult mesh_read_obj(Reader *reader, GrainMeshFile *file);
GrainResult mesh_read_ply(Reader *reader, GrainMeshFile *file);
GrainResult mesh_read_stl(Reader *reader, GrainMeshFile *file);
