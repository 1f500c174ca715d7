// SPDX-License-Identifier: GPL-3.0-or-later
#include "mesh/mesh_read.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

// --- words ----------------------------------------------------------------------------------------

void reader_skip_blanks(Reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

int reader_next_line(Reader *r)
{
    while (r->at < r->end && *r->at != '\n') r->at++;
    if (r->at == r->end) return 0;
    r->at++;
    r->line++;
    return r->at < r->end;
}

static int is_word_end(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0; }

int reader_take_word(Reader *r, const char *word)
{
    reader_skip_blanks(r);
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0 || !is_word_end(r->at[length])) return 0;
    r->at += length;
    return 1;
}

int reader_is_word_over(const Reader *r) { return is_word_end(*r->at); }

int reader_is_line_over(Reader *r)
{
    reader_skip_blanks(r);
    return r->at == r->end || *r->at == '\n';
}

GrainResult reader_fail(const Reader *r, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (r->line > 0) return fail(GRAIN_ERROR_MESH, "%s, line %lld: %s", r->path, (long long)r->line, text);
    return fail(GRAIN_ERROR_MESH, "%s: %s", r->path, text);
}

// --- vertices and faces ---------------------------------------------------------------------------

GrainResult mesh_file_add_vertex(GrainMeshFile *file, double x, double y, double z)
{
    int64_t needed = 3 * (file->vertex_count + 1);
    TRY(alloc_grow((void **)&file->positions, &file->position_capacity, needed, sizeof(float)));
    float *p = file->positions + 3 * file->vertex_count++;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
    return GRAIN_OK;
}

GrainResult mesh_file_add_face(GrainMeshFile *file, const int64_t *corners, int64_t count)
{
    int64_t needed = 3 * (file->triangle_count + count - 2);
    TRY(alloc_grow((void **)&file->triangles, &file->corner_capacity, needed, sizeof(int32_t)));
    for (int64_t i = 2; i < count; i++) {
        const int64_t fan[3] = {corners[0], corners[i - 1], corners[i]};
        int32_t *t = file->triangles + 3 * file->triangle_count++;
        for (int c = 0; c < 3; c++) t[c] = fan[c] >= 0 && fan[c] <= INT32_MAX ? (int32_t)fan[c] : -1;
    }
    return GRAIN_OK;
}

// --- entry ----------------------------------------------------------------------------------------

static GrainResult read_format(Reader *reader, GrainMeshFile *file)
{
    const char *dot = strrchr(reader->path, '.');
    if (dot && strcasecmp(dot, ".obj") == 0) return mesh_read_obj(reader, file);
    if (dot && strcasecmp(dot, ".ply") == 0) return mesh_read_ply(reader, file);
    if (dot && strcasecmp(dot, ".stl") == 0) return mesh_read_stl(reader, file);
    return fail(GRAIN_ERROR_MESH, "%s: a mesh file must end in .obj, .ply or .stl", reader->path);
}

GrainResult mesh_read(const char *path, GrainMeshFile *file)
{
    void *data;
    int64_t bytes;
    TRY(file_read_chosen(path, &data, &bytes));
    Reader reader = {path, data, (const char *)data + bytes, 0};
    GrainResult result = read_format(&reader, file);
    alloc_free(data);
    if (result != GRAIN_OK) return result;
    GrainMesh mesh = {file->positions, file->triangles, file->vertex_count, file->triangle_count};
    result = mesh_validate(&mesh);
    return result == GRAIN_OK ? GRAIN_OK : fail_within(result, "%s", path);
}
