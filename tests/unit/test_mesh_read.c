// SPDX-License-Identifier: GPL-3.0-or-later
#include "grain/grain.h"
#include "mesh/mesh_read.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

static const char *write_file(const char *name, const void *data, size_t bytes)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    if (file) fwrite(data, 1, bytes, file), fclose(file);
    return path;
}

static GrainResult read_text(const char *name, const char *text, GrainMeshFile **file)
{
    return grain_mesh_file_read(write_file(name, text, strlen(text)), file);
}

static int has_counts(const GrainMeshFile *file, int64_t vertices, int64_t triangles)
{
    GrainMesh mesh;
    return grain_mesh_file_view(file, &mesh) == GRAIN_OK && mesh.vertex_count == vertices &&
           mesh.triangle_count == triangles;
}

TEST(obj_with_slashes_negative_corners_and_polygons)
{
    GrainMeshFile *file;
    ENSURE_OK(read_text("a.obj",
                        "# a pyramid\r\nv 0 0 0\nv 1 0 0\nvt 0 0\nv 1 1 0 1.0\nv 0 1 0\n  v .5 5e-1 +1.5E+0\n"
                        "vn 0 0 1\nf 4/1 3/1 2/1 1/1\nf 1//1 2//1 5//1\nf -4 -3 \\\n -1 # comment\nf 3 4 5\nf 4 1 5\n",
                        &file));
    GrainMesh mesh;
    ENSURE(has_counts(file, 5, 6));
    grain_mesh_file_view(file, &mesh);
    int right = mesh.positions[12] == 0.5f && mesh.positions[13] == 0.5f && mesh.positions[14] == 1.5f &&
                mesh.triangles[9] == 1 && mesh.triangles[11] == 4;
    grain_mesh_file_destroy(file);
    ENSURE(right);
}

TEST(suzanne_comes_back_as_she_was)
{
    GrainMeshFile *file;
    Shape shape = shape_load(GRAIN_TEST_DATA "/suzanne.obj");
    ENSURE_OK(grain_mesh_file_read(GRAIN_TEST_DATA "/suzanne.obj", &file));
    GrainMesh mesh;
    grain_mesh_file_view(file, &mesh);
    int alike = mesh.vertex_count == shape.vertex_count && mesh.triangle_count == shape.triangle_count &&
                memcmp(mesh.positions, shape.positions, (size_t)(3 * mesh.vertex_count) * sizeof(float)) == 0 &&
                memcmp(mesh.triangles, shape.triangles, (size_t)(3 * mesh.triangle_count) * sizeof(int32_t)) == 0;
    grain_mesh_file_destroy(file);
    shape_free(&shape);
    ENSURE(alike);
}

TEST(numbers_are_read_to_the_last_digit)
{
    const char *texts[] = {"0.1",
                           "-3.4028235e38",
                           "1.17549435e-38",
                           "16777217",
                           "123456789012345678901234567890",
                           "1e-45",
                           "0.000000000000000000000000000000000000001",
                           "7",
                           ".5",
                           "5.",
                           "+12.5e+3",
                           "-2.5E-3",
                           "1e99999999999",
                           "1e-99999999999",
                           "0e5",
                           "-0.0",
                           "3.14159265358979"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Reader r = {"numbers", texts[i], texts[i] + strlen(texts[i]), 0};
        double value;
        ENSURE(reader_take_number(&r, &value) && r.at == r.end);
        ENSURE((float)value == strtof(texts[i], NULL));
    }
    // An "e" without a number behind it is left for what comes next.
    const char *ends[][2] = {{"3e", "e"}, {"3e+", "e+"}, {"-1.5exp", "exp"}, {"2 7", " 7"}, {"1e5.5", ".5"}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        Reader r = {"numbers", ends[i][0], ends[i][0] + strlen(ends[i][0]), 0};
        double value;
        ENSURE(reader_take_number(&r, &value) && strcmp(r.at, ends[i][1]) == 0);
    }
    const char *not_numbers[] = {"", ".", "-", "e5", "abc", "+.e1"};
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++) {
        Reader r = {"numbers", not_numbers[i], not_numbers[i] + strlen(not_numbers[i]), 0};
        double value;
        ENSURE(!reader_take_number(&r, &value));
    }
}

TEST(ply_as_text)
{
    GrainMeshFile *file;
    ENSURE_OK(
        read_text("a.ply",
                  "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\n"
                  "property float y\nproperty double z\nproperty uchar red\nelement face 2\n"
                  "property list uchar int vertex_indices\nproperty float quality\nelement edge 1\n"
                  "property int a\nend_header\n0 0 0 255\n1 0 0 0\n1 1 0 0\n0 1 0 0\n3 0 1 2 0.5\n3 0 2 3 0.1\n7\n",
                  &file));
    int right = has_counts(file, 4, 2);
    grain_mesh_file_destroy(file);
    ENSURE(right);
}

static size_t put(char *to, const void *value, size_t bytes, int swapped)
{
    for (size_t i = 0; i < bytes; i++) to[i] = ((const char *)value)[swapped ? bytes - 1 - i : i];
    return bytes;
}

TEST(ply_binary_of_both_byte_orders)
{
    for (int big = 0; big < 2; big++) {
        char data[1024];
        size_t used =
            (size_t)snprintf(data, sizeof data,
                             "ply\nformat binary_%s_endian 1.0\nelement vertex 4\nproperty float x\nproperty "
                             "float y\nproperty float z\nelement face 1\nproperty list uchar uint vertex_index\n"
                             "end_header\n",
                             big ? "big" : "little");
        const float places[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0.25f, 0, 1, 0};
        for (int i = 0; i < 12; i++) used += put(data + used, &places[i], 4, big);
        data[used++] = 4;
        for (uint32_t i = 0; i < 4; i++) used += put(data + used, &i, 4, big);
        GrainMeshFile *file;
        ENSURE_OK(grain_mesh_file_read(write_file("b.ply", data, used), &file));
        GrainMesh mesh;
        grain_mesh_file_view(file, &mesh);
        int right = has_counts(file, 4, 2) && mesh.positions[8] == 0.25f && mesh.triangles[5] == 3;
        grain_mesh_file_destroy(file);
        ENSURE(right);
        ENSURE_FAILS(grain_mesh_file_read(write_file("c.ply", data, used - 3), &file), GRAIN_ERROR_MESH, "truncated");
    }
}

TEST(stl_text_and_binary_with_corners_joined)
{
    Shape box = shape_split(shape_box(0, 0, 0, 1, 2, 3));
    char text[8192], data[84 + 50 * 12] = "solid but binary";
    size_t used = (size_t)snprintf(text, sizeof text, "solid box\n");
    uint32_t count = 12;
    memcpy(data + 80, &count, 4);
    for (int i = 0; i < 12; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, " facet normal 0 0 1\n  outer loop\n");
        for (int c = 0; c < 3; c++) {
            const float *p = box.positions + 9 * i + 3 * c;
            used += (size_t)snprintf(text + used, sizeof text - used, "   vertex %.9g %.9g %.9g\n", (double)p[0],
                                     (double)p[1], (double)p[2]);
            memcpy(data + 84 + 50 * i + 12 + 12 * c, p, 12);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "  endloop\n endfacet\n");
    }
    shape_free(&box);
    GrainMeshFile *file;
    ENSURE_OK(grain_mesh_file_read(write_file("a.stl", text, used), &file));
    int right = has_counts(file, 8, 12);
    grain_mesh_file_destroy(file);
    ENSURE(right);
    ENSURE_OK(grain_mesh_file_read(write_file("b.STL", data, sizeof data), &file));
    right = has_counts(file, 8, 12);
    grain_mesh_file_destroy(file);
    ENSURE(right);
    data[0] = 'x';
    ENSURE_FAILS(grain_mesh_file_read(write_file("c.stl", data, sizeof data - 1), &file), GRAIN_ERROR_MESH,
                 "truncated");
}

#define PLY_TRIANGLE                                                                                                   \
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"                  \
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n"

TEST(ply_may_have_blank_lines_and_end_without_one)
{
    GrainMeshFile *file;
    ENSURE_OK(read_text("a.ply", PLY_TRIANGLE "\n0 0 0 \r\n\n1 0 0\t\n0 1 0\n3 0 1 2\n \n\r\n", &file));
    grain_mesh_file_destroy(file);
    ENSURE_OK(read_text("a.ply", PLY_TRIANGLE "0 0 0\n1 0 0\n0 1 0\n3 0 1 2", &file));
    int right = has_counts(file, 3, 1);
    grain_mesh_file_destroy(file);
    ENSURE(right);
}

// Read on regardless, all of these gave meshes that nobody had made.
TEST(rows_that_do_not_fit_are_refused_with_the_line)
{
    static const struct {
        const char *name, *text, *word;
    } cases[] = {
        {"a.ply", PLY_TRIANGLE "0 0 0 9\n1 0 0 9\n0 1 0 9\n3 0 1 2\n", "line 10: the row has more"},
        {"a.ply", PLY_TRIANGLE "0 0 0\n1 0 0\n0 1 0\n3 0 1 2 7\n", "line 13: the row has more"},
        {"a.ply", PLY_TRIANGLE "0 0 0\n1 0\n0 1 0\n3 0 1 2\n", "line 11: a number is missing"},
        {"a.ply", PLY_TRIANGLE "0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n", "line 13: a number is missing"},
        {"a.ply", PLY_TRIANGLE "0 0 0\n1 0 0\n0 1,5 0\n3 0 1 2\n", "line 12: a value is not a number"},
        {"a.ply", PLY_TRIANGLE "0 0 0\n1 0 0\n0 1 0\n3 0 1.5 2\n", "whole number"},
        {"a.ply", PLY_TRIANGLE "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 1 2\n", "line 14: 8 bytes are left"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0,5\nf 1 2 3\n", "line 3"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 2.5\n", "line 4"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3x\n", "line 4"},
        {"a.stl", "solid\nfacet\nouter loop\nvertex 0 0 0 1\nvertex 1 0 0\nvertex 0 1 0\nendloop\n", "line 4"},
        {"a.stl",
         "solid\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nouter loop\n"
         "vertex 0 0 0\nvertex 1 0 0\nendloop\n",
         "line 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GrainMeshFile *file = NULL;
        GrainResult result = read_text(cases[i].name, cases[i].text, &file);
        grain_mesh_file_destroy(file);
        if (result != GRAIN_ERROR_MESH || !strstr(grain_last_error(), cases[i].word))
            test_fail(__FILE__, __LINE__, "case %d gave %d: %s", (int)i, (int)result, grain_last_error());
    }
}

// Vertices of 16 bytes under a header that says 12.
TEST(binary_rows_longer_than_the_header_says_are_refused)
{
    char data[1024];
    size_t used = (size_t)snprintf(data, sizeof data,
                                   "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty "
                                   "float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_index\n"
                                   "end_header\n");
    size_t header = used;
    for (int i = 0; i < 12; i++) used += put(data + used, &(const float){0.25f * (float)i}, 4, 0);
    data[used++] = 3;
    for (int32_t i = 0; i < 3; i++) used += put(data + used, &i, 4, 0);
    GrainMeshFile *file = NULL;
    GrainResult result = grain_mesh_file_read(write_file("a.ply", data, used), &file);
    grain_mesh_file_destroy(file);
    ENSURE_EQUAL(result, GRAIN_ERROR_MESH);
    // Rows as announced, and one more.
    memmove(data + header + 36, data + header + 48, 13);
    ENSURE_OK(grain_mesh_file_read(write_file("b.ply", data, header + 49), &file));
    grain_mesh_file_destroy(file);
    memset(data + header + 49, 5, 13);
    ENSURE_FAILS(grain_mesh_file_read(write_file("c.ply", data, header + 62), &file), GRAIN_ERROR_MESH, "13 bytes");
}

TEST(malformed_files_are_refused_with_the_line)
{
    static const struct {
        const char *name, *text, *word;
    } cases[] = {
        {"a.obj", "", "no faces"},
        {"a.obj", "v 0 0\n", "line 1"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", "line 4"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x\n", "not the number of a vertex"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "count from 1"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", "count from 1"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99\n", "refers to vertex 98"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n", "not finite"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1e400 0\nf 1 2 3\n", "not finite"},
        {"a.ply", "solid", "begins with"},
        {"a.ply", "ply\nformat ascii 1.0\n", "end_header"},
        {"a.ply", "ply\nformat cuneiform 1.0\nend_header\n", "format"},
        {"a.ply", "ply\nelement vertex 1\nend_header\n", "format"},
        {"a.ply", "ply\nformat ascii 1.0\nelement vertex 99999999999\nend_header\n", "bytes"},
        {"a.ply", "ply\nformat ascii 1.0\nproperty float x\nend_header\n", "before any element"},
        {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty flaot x\nend_header\n", "type"},
        {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", "x, y and z"},
        {"a.ply",
         "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 "
         "2 3\n",
         "point cloud"},
        {"a.ply",
         "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement face "
         "1\n"
         "property list int int vertex_indices\nend_header\n1 2 3\n1000000 0 0\n",
         "corners"},
        {"a.ply",
         "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nelement face "
         "1\n"
         "property list int int vertex_indices\nend_header\n1 2 3\n",
         "missing"},
        {"a.stl", "rubbish", "not an .stl"},
        {"a.stl", "solid\nvertex 0 0\n", "line 2"},
        {"a.stl", "solid\nvertex 0 0 0\nvertex 1 0 0\n", "truncated"},
        {"a.stl", "solid\nendsolid\n", "no triangles"},
        {"a.fbx", "", "end in .obj"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GrainMeshFile *file;
        ENSURE_FAILS(read_text(cases[i].name, cases[i].text, &file), GRAIN_ERROR_MESH, cases[i].word);
        ENSURE(file == NULL);
    }
    GrainMeshFile *file;
    ENSURE_FAILS(grain_mesh_file_read("/nowhere/a.obj", &file), GRAIN_ERROR_IO, "/nowhere/a.obj");
}
