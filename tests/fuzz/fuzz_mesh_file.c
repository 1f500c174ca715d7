// SPDX-License-Identifier: GPL-3.0-or-later
// Files: .obj, .ply and .stl, as text and binary; what can be read goes through all stages.
#include "fuzz/mesh_stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The first byte tells the format, the next ones the settings, the rest is the file.
#define HEADER 9
// What the stages are to work on; more is only read.
#define MOST_TRIANGLES 600

static char folder[256];

static void remove_folder(void) { rmdir(folder); }

static const char *path_of(int format)
{
    static const char *const ends[] = {"obj", "ply", "stl"};
    static char path[300];
    if (!folder[0]) {
        const char *root = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/grain_fuzz_XXXXXX", root ? root : "/tmp");
        if (!mkdtemp(folder)) fuzz_found("no folder %s", folder);
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/a.%s", folder, ends[format]);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEADER) return 0;
    const char *path = path_of(data[0] % 3);
    FuzzBytes settings = {data + 1, data + HEADER};
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data + HEADER, 1, size - HEADER, out) != size - HEADER || fclose(out) != 0)
        fuzz_found("could not write %s", path);
    GrainMeshFile *file;
    GrainResult result = grain_mesh_file_read(path, &file);
    unlink(path);
    if (result != GRAIN_OK && (file || !strstr(grain_last_error(), "a."))) fuzz_found("error '%s'", grain_last_error());
    GrainMesh mesh;
    if (result == GRAIN_OK && grain_mesh_file_view(file, &mesh) == GRAIN_OK && mesh.triangle_count <= MOST_TRIANGLES)
        fuzz_mesh_stages(&mesh, &settings);
    grain_mesh_file_destroy(file);
    return 0;
}

#define OBJ_CORNERS "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nv 0 0 1.5\n"
#define PLY_HEAD(format)                                                                                               \
    "ply\nformat " format " 1.0\ncomment by hand\nelement vertex 4\nproperty float x\nproperty float y\n"              \
    "property double z\nproperty uchar red\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n"

static const struct {
    int format;
    const char *text;
} texts[] = {
    {0, OBJ_CORNERS "f 4 3 2 1\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n"},
    {0, "# made by hand\r\no pyramid\r\n" OBJ_CORNERS "vt 0 0\nvn 0 0 1\ns off\nusemtl a\nf 4/1/1 3/1/1 2/1/1 1/1/1\n"
        "f 1//1 2//1 5//1\nf -4 -3 \\\n -1\nl 1 2\n"},
    {0, "v 0 0 0 1 0.5 0.5 0.5\nv 1e-3 0 0\nv 0 1e-3 0\nv 0 0 1e-3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nf 1 2 3 4 1 2 "
        "3 4\n"},
    {1, PLY_HEAD("ascii") "0 0 0 255\n1 0 0 0\n0 1 0 0\n0 0 1 0\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n"},
    {2, "solid a\nfacet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
        "facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\nendsolid a\n"},
};
#define TEXTS ((int)(sizeof texts / sizeof *texts))

static const int32_t corner_of[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
static const float tetrahedron[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static uint8_t *put(uint8_t *to, const void *value, size_t bytes, int swapped)
{
    for (size_t i = 0; i < bytes; i++) *to++ = ((const uint8_t *)value)[swapped ? bytes - 1 - i : i];
    return to;
}

static uint8_t *put_ply(uint8_t *to, int swapped)
{
    const char *head = swapped ? PLY_HEAD("binary_big_endian") : PLY_HEAD("binary_little_endian");
    const uint8_t corners = 3, red = 7;
    to = put(to, head, strlen(head), 0);
    for (int i = 0; i < 4; i++) {
        double z = (double)tetrahedron[i][2];
        to = put(put(to, &tetrahedron[i][0], 4, swapped), &tetrahedron[i][1], 4, swapped);
        to = put(put(to, &z, 8, swapped), &red, 1, 0);
    }
    for (int i = 0; i < 12; i++) {
        if (i % 3 == 0) to = put(to, &corners, 1, 0);
        to = put(to, &corner_of[i], 4, swapped);
    }
    return to;
}

static uint8_t *put_stl(uint8_t *to)
{
    const uint32_t count = 4;
    memset(to, 0, 80);
    to = put(to + 80, &count, 4, 0);
    for (int i = 0; i < 4; i++) {
        memset(to, 0, 12), to += 12;
        for (int corner = 0; corner < 3; corner++) to = put(to, tetrahedron[corner_of[3 * i + corner]], 12, 0);
        memset(to, 0, 2), to += 2;
    }
    return to;
}

size_t fuzz_seed(int index, uint8_t *data, size_t capacity)
{
    const uint8_t settings[HEADER - 1] = {0, 9, 0, 1, 0, 7, (uint8_t)(index % 5), 3};
    if (index >= TEXTS + 3 || capacity < 2048) return 0;
    data[0] = (uint8_t)(index < TEXTS ? texts[index].format : index < TEXTS + 2 ? 1 : 2);
    uint8_t *to = put(data + 1, settings, sizeof settings, 0);
    if (index < TEXTS)
        to = put(to, texts[index].text, strlen(texts[index].text), 0);
    else
        to = index < TEXTS + 2 ? put_ply(to, index == TEXTS + 1) : put_stl(to);
    return (size_t)(to - data);
}
