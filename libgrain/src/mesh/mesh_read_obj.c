// SPDX-License-Identifier: GPL-3.0-or-later
// Wavefront .obj: only `v` and `f` lines count.
#include "base/error.h"
#include "mesh/mesh_read.h"

#include <math.h>

static GrainResult read_vertex(Reader *r, GrainMeshFile *file)
{
    double place[3];
    for (int axis = 0; axis < 3; axis++)
        if (!reader_take_number(r, &place[axis]) || !reader_is_word_over(r))
            return reader_fail(r, "a vertex needs three numbers, with decimal points and blanks between them");
    return mesh_file_add_vertex(file, place[0], place[1], place[2]);
}

// A long line may go on after a backslash.
static void skip_to_corner(Reader *r)
{
    reader_skip_blanks(r);
    while (r->at < r->end && *r->at == '\\') {
        reader_next_line(r);
        reader_skip_blanks(r);
    }
}

// `f 1 2 3`, `f 1/1 2/2 3/3`, `f 1//1 2//2 3//3`, counted from 1, or backwards from -1, the vertex read last.
static GrainResult read_face(Reader *r, GrainMeshFile *file)
{
    int64_t corners[MESH_FILE_MAX_CORNERS], count = 0;
    for (skip_to_corner(r); r->at < r->end && *r->at != '\n' && *r->at != '#'; skip_to_corner(r)) {
        double number;
        if (!reader_take_number(r, &number) || number != floor(number) || !(*r->at == '/' || reader_is_word_over(r)))
            return reader_fail(r, "a face's corner is not the number of a vertex");
        // Texture and normal, which do not matter here, hang on after slashes.
        while (r->at < r->end && *r->at != ' ' && *r->at != '\t' && *r->at != '\r' && *r->at != '\n') r->at++;
        int64_t vertex = number >= 1.0 && number <= INT32_MAX     ? (int64_t)number - 1
                         : number <= -1.0 && number >= -INT32_MAX ? file->vertex_count + (int64_t)number
                                                                  : -1;
        if (vertex < 0) return reader_fail(r, "a face names vertex %g; vertices count from 1", number);
        if (count == MESH_FILE_MAX_CORNERS)
            return reader_fail(r, "a face has more than %d corners: triangulate it", MESH_FILE_MAX_CORNERS);
        corners[count++] = vertex;
    }
    if (count < 3) return reader_fail(r, "a face needs at least three corners, this one has %d", (int)count);
    return mesh_file_add_face(file, corners, count);
}

GrainResult mesh_read_obj(Reader *r, GrainMeshFile *file)
{
    r->line = 1;
    do {
        if (reader_take_word(r, "v"))
            TRY(read_vertex(r, file));
        else if (reader_take_word(r, "f"))
            TRY(read_face(r, file));
    } while (reader_next_line(r));
    r->line = 0;
    if (file->triangle_count == 0) return reader_fail(r, "the file has no faces; is it an .obj file?");
    return GRAIN_OK;
}
