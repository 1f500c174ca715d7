// SPDX-License-Identifier: GPL-3.0-or-later
#include "mesh/mesh_order.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "base/sort.h"

// Three digits of 11 bits to sort by: 10 bits for each axis, one for "has no area", and 2 to spare.
#define AXIS_BITS 10
#define KEY_BITS (3 * AXIS_BITS + 1)
#define FLAT_BIT (1ull << (3 * AXIS_BITS))

// 10 bits to every third of 30.
static inline uint64_t spread_bits(uint64_t v)
{
    v = (v | v << 16) & 0x030000FF;
    v = (v | v << 8) & 0x0300F00F;
    v = (v | v << 4) & 0x030C30C3;
    return (v | v << 2) & 0x09249249;
}

static inline uint64_t cell_of(double place, double low, double cells)
{
    double cell = (place - low) * cells;
    return cell > 0.0 ? cell < (1 << AXIS_BITS) - 1 ? (uint64_t)cell : (1 << AXIS_BITS) - 1 : 0;
}

static uint64_t key_of(const GrainMesh *mesh, int64_t triangle, Vec3d low, double cells)
{
    Vec3d a = vec3d_from(mesh_vertex(mesh, triangle, 0));
    Vec3d b = vec3d_from(mesh_vertex(mesh, triangle, 1)), c = vec3d_from(mesh_vertex(mesh, triangle, 2));
    Vec3d normal = vec3d_cross(vec3d_sub(b, a), vec3d_sub(c, a));
    uint64_t flat = vec3d_dot(normal, normal) > 0.0 ? 0 : FLAT_BIT;
    Vec3d middle = vec3d_scale(vec3d_add(vec3d_add(a, b), c), 1.0 / 3.0);
    return flat | spread_bits(cell_of(middle.x, low.x, cells)) | spread_bits(cell_of(middle.y, low.y, cells)) << 1 |
           spread_bits(cell_of(middle.z, low.z, cells)) << 2;
}

GrainResult mesh_order(const GrainMesh *mesh, const uint8_t *wanted, int threads, int32_t **order, int64_t *count)
{
    *order = NULL;
    *count = 0;
    for (int64_t i = 0; i < mesh->triangle_count; i++) *count += !wanted || wanted[i];
    SortItem *items = ALLOC(SortItem, *count);
    if (!items) return GRAIN_ERROR_MEMORY;
    Vec3 low, high;
    mesh_bounds(mesh, threads, &low, &high);
    double size = real_max(real_max((double)high.x - (double)low.x, (double)high.y - (double)low.y),
                           (double)high.z - (double)low.z);
    double cells = size > 0.0 ? (1 << AXIS_BITS) / size : 0.0;
    int64_t place = 0;
    for (int64_t i = 0; i < mesh->triangle_count; i++)
        if (!wanted || wanted[i]) items[place++].value = (uint32_t)i;
    PARALLEL_FOR(threads, i, *count) { items[i].key = key_of(mesh, items[i].value, vec3d_from(low), cells); }
    SortScratch scratch = {0};
    GrainResult result = sort_by_key(items, *count, KEY_BITS, &scratch, threads);
    sort_scratch_free(&scratch);
    if (result == GRAIN_OK && !(*order = ALLOC(int32_t, *count))) result = GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) PARALLEL_FOR(threads, i, *count)(*order)[i] = (int32_t)items[i].value;
    alloc_free(items);
    return result;
}
