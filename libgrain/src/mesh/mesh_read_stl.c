// SPDX-License-Identifier: GPL-3.0-or-later
// .stl, text and binary: triangles without shared vertices. Corners at the same place become one vertex.
#include "base/alloc.h"
#include "base/error.h"
#include "mesh/mesh_read.h"
#include "mesh/mesh_topology.h"

#include <string.h>

#define HEADER_BYTES 80
#define TRIANGLE_BYTES 50

static int64_t binary_count(const Reader *r)
{
    int64_t bytes = r->end - r->at;
    uint32_t count;
    if (bytes < HEADER_BYTES + 4) return -1;
    memcpy(&count, r->at + HEADER_BYTES, 4);
    // Some programs put something after the last triangle.
    return (int64_t)count * TRIANGLE_BYTES <= bytes - HEADER_BYTES - 4 ? (int64_t)count : -1;
}

static GrainResult read_binary(Reader *r, GrainMeshFile *file, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float place[9]; // after the normal, which the winding tells as well
        memcpy(place, r->at + HEADER_BYTES + 4 + i * TRIANGLE_BYTES + 12, sizeof place);
        for (int c = 0; c < 3; c++)
            TRY(mesh_file_add_vertex(file, (double)place[3 * c], (double)place[3 * c + 1], (double)place[3 * c + 2]));
        const int64_t corners[3] = {3 * i, 3 * i + 1, 3 * i + 2};
        TRY(mesh_file_add_face(file, corners, 3));
    }
    return GRAIN_OK;
}

static GrainResult read_text(Reader *r, GrainMeshFile *file)
{
    r->line = 1;
    do {
        if (reader_take_word(r, "endloop") && file->vertex_count % 3 != 0)
            return reader_fail(
                r, "a facet has more or less than three vertices: triangulate the mesh and export it again");
        if (!reader_take_word(r, "vertex")) continue;
        double place[3];
        for (int axis = 0; axis < 3; axis++)
            if (!reader_take_number(r, &place[axis])) return reader_fail(r, "a vertex needs three numbers");
        if (!reader_is_line_over(r)) return reader_fail(r, "a vertex has more than its three numbers");
        TRY(mesh_file_add_vertex(file, place[0], place[1], place[2]));
        if (file->vertex_count % 3 != 0) continue;
        const int64_t corners[3] = {file->vertex_count - 3, file->vertex_count - 2, file->vertex_count - 1};
        TRY(mesh_file_add_face(file, corners, 3));
    } while (reader_next_line(r));
    r->line = 0;
    if (file->vertex_count % 3 != 0) return reader_fail(r, "the last triangle is incomplete: the file is truncated");
    return GRAIN_OK;
}

static GrainResult join_corners(GrainMeshFile *file)
{
    GrainMesh soup = {file->positions, file->triangles, file->vertex_count, file->triangle_count};
    int32_t *same_as;
    int64_t doubled, kept = 0;
    TRY(mesh_weld(&soup, 1, &same_as, &doubled));
    // The first at a place comes before the others, so it has its new number when they ask.
    for (int64_t v = 0; v < file->vertex_count; v++) {
        if (same_as[v] != v) {
            same_as[v] = same_as[same_as[v]];
            continue;
        }
        memmove(file->positions + 3 * kept, file->positions + 3 * v, 3 * sizeof(float));
        same_as[v] = (int32_t)kept++;
    }
    for (int64_t c = 0; c < 3 * file->triangle_count; c++) file->triangles[c] = same_as[file->triangles[c]];
    file->vertex_count = kept;
    alloc_free(same_as);
    return GRAIN_OK;
}

GrainResult mesh_read_stl(Reader *r, GrainMeshFile *file)
{
    int64_t bytes = r->end - r->at, count = binary_count(r);
    int says_text = bytes >= 5 && memcmp(r->at, "solid", 5) == 0;
    // Binary files may begin with "solid" too; then the count fits the length exactly.
    if (count >= 0 && (!says_text || HEADER_BYTES + 4 + count * TRIANGLE_BYTES == bytes))
        TRY(read_binary(r, file, count));
    else if (says_text)
        TRY(read_text(r, file));
    else
        return reader_fail(r, "this is not an .stl file, or it is truncated (%lld bytes)", (long long)bytes);
    if (file->triangle_count == 0) return reader_fail(r, "the file has no triangles");
    return join_corners(file);
}
