// SPDX-License-Identifier: GPL-3.0-or-later
// Meshes as arrays: points on a coarse lattice, where much coincides and lies in planes, or anywhere a float can be.
#include "fuzz/mesh_stages.h"
#include "shared/meshes.h"

#include <string.h>

#define MOST_VERTICES 400
#define MOST_TRIANGLES 500
#define SETTINGS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static float positions[3 * MOST_VERTICES];
    static int32_t triangles[3 * MOST_TRIANGLES];
    if (size < SETTINGS + 4) return 0;
    FuzzBytes settings = {data, data + SETTINGS}, bytes = {data + SETTINGS, data + size};
    uint8_t form = fuzz_byte(&bytes);
    int64_t vertex_count = (fuzz_byte(&bytes) | fuzz_byte(&bytes) << 8) % (MOST_VERTICES + 1), triangle_count = 0;
    for (int64_t i = 0; i < 3 * vertex_count; i++)
        positions[i] = form & 1 ? fuzz_float(&bytes) : (float)(int8_t)fuzz_byte(&bytes) * (form & 2 ? 1e-3f : 0.125f);
    for (; bytes.at < bytes.end && triangle_count < MOST_TRIANGLES; triangle_count++)
        for (int corner = 0; corner < 3; corner++) {
            int32_t vertex = (int32_t)(fuzz_byte(&bytes) | fuzz_byte(&bytes) << 8);
            // Mostly vertices that are there.
            if (vertex_count > 0 && vertex < 0xFFF0) vertex %= (int32_t)vertex_count;
            triangles[3 * triangle_count + corner] = vertex;
        }
    GrainMesh mesh = {positions, triangles, vertex_count, triangle_count};
    fuzz_mesh_stages(&mesh, &settings);
    return 0;
}

static Shape example(int index)
{
    switch (index / 2) {
    case 0:
        return shape_box(-1, -1, -1, 1, 1, 1);
    case 1:
        return shape_sphere(3, 0.1);
    case 2:
        return shape_torus(6, 10, 0.3);
    case 3:
        return shape_plane(4);
    case 4:
        return shape_bowl(4);
    case 5:
        return shape_bucket();
    case 6:
        return shape_moebius(12);
    case 7:
        return shape_fins(3, 0.05f);
    case 8:
        return shape_join(shape_sphere(2, 0.0), shape_box(-0.5f, -0.5f, -0.5f, 2, 0.5f, 0.5f));
    case 9:
        return shape_split(shape_tetrahedron());
    default:
        return (Shape){0};
    }
}

static uint8_t *put(uint8_t *to, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) *to++ = (uint8_t)(value >> (8 * i));
    return to;
}

// Odd ones as floats, even ones on the lattice.
size_t fuzz_seed(int index, uint8_t *data, size_t capacity)
{
    Shape shape = example(index);
    if (!shape.positions) return 0;
    uint8_t *to = data, form = index & 1;
    const uint8_t settings[SETTINGS] = {0, 11, 0, 1, 0, 9, (uint8_t)(index % 5), 3};
    size_t needed = SETTINGS + 3 + (size_t)shape.vertex_count * 12 + (size_t)shape.triangle_count * 6;
    if (needed <= capacity && shape.vertex_count <= MOST_VERTICES && shape.triangle_count <= MOST_TRIANGLES) {
        memcpy(to, settings, SETTINGS), to += SETTINGS;
        to = put(put(to, form, 1), (uint32_t)shape.vertex_count, 2);
        for (int64_t i = 0; i < 3 * shape.vertex_count; i++) {
            uint32_t word;
            memcpy(&word, &shape.positions[i], sizeof word);
            to = form ? put(to, word, 4) : put(to, (uint32_t)(int32_t)(shape.positions[i] * 8.0f), 1);
        }
        for (int64_t i = 0; i < 3 * shape.triangle_count; i++) to = put(to, (uint32_t)shape.triangles[i], 2);
    }
    shape_free(&shape);
    return (size_t)(to - data);
}
