// SPDX-License-Identifier: GPL-3.0-or-later
#include "mesh/mesh_winding.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "mesh/mesh_order.h"

#include <string.h>

// A group is summed up for points farther away than this many times its own radius. At 2.5 the sum over a closed mesh
// is within 0.01 of a whole number (test_mesh_winding.c), and only "more than a half" is asked.
#define REACH 2.5
// Triangles whose points are asked together.
#define ASKED_AT_ONCE 64

typedef struct Sums {
    Vec3d first; // area * place
    double area;
} Sums;

static Vec3d corner_at(const float *corners, int64_t triangle, int corner)
{
    const float *p = corners + 9 * triangle + 3 * corner;
    return vec3d((double)p[0], (double)p[1], (double)p[2]);
}

static Vec3d area_vector(const float *corners, int64_t triangle)
{
    Vec3d a = corner_at(corners, triangle, 0);
    Vec3d b = corner_at(corners, triangle, 1), c = corner_at(corners, triangle, 2);
    return vec3d_scale(vec3d_cross(vec3d_sub(b, a), vec3d_sub(c, a)), 0.5);
}

static Vec3d middle_of(const float *corners, int64_t triangle)
{
    Vec3d sum = vec3d_add(corner_at(corners, triangle, 0), corner_at(corners, triangle, 1));
    return vec3d_scale(vec3d_add(sum, corner_at(corners, triangle, 2)), 1.0 / 3.0);
}

// From all triangles below, not from the children: exact, and the few levels make it cheap.
static WindingNode node_of(const MeshWinding *w, int64_t first, int64_t last)
{
    Vec3d middle = {0}, normal = {0};
    double area_sum = 0.0;
    for (int64_t i = first; i < last; i++) {
        Vec3d vector = area_vector(w->corners, i);
        double area = vec3d_length(vector) + 1e-30; // all degenerate: still some middle
        middle = vec3d_add(middle, vec3d_scale(middle_of(w->corners, i), area));
        normal = vec3d_add(normal, vector);
        area_sum += area;
    }
    middle = vec3d_scale(middle, 1.0 / area_sum);
    double xx = 0, yy = 0, zz = 0, xy = 0, yz = 0, zx = 0, radius_squared = 0;
    for (int64_t i = first; i < last; i++) {
        Vec3d n = area_vector(w->corners, i), d = vec3d_sub(middle_of(w->corners, i), middle);
        xx += d.x * n.x, yy += d.y * n.y, zz += d.z * n.z;
        xy += d.x * n.y + d.y * n.x, yz += d.y * n.z + d.z * n.y, zx += d.z * n.x + d.x * n.z;
        for (int c = 0; c < 3; c++) {
            Vec3d offset = vec3d_sub(corner_at(w->corners, i, c), middle);
            radius_squared = real_max(radius_squared, vec3d_dot(offset, offset));
        }
    }
    return (WindingNode){.x = (float)middle.x,
                         .y = (float)middle.y,
                         .z = (float)middle.z,
                         .reach_squared = (float)(REACH * REACH * radius_squared),
                         .nx = (float)normal.x,
                         .ny = (float)normal.y,
                         .nz = (float)normal.z,
                         .xx = (float)xx,
                         .yy = (float)yy,
                         .zz = (float)zz,
                         .xy = (float)xy,
                         .yz = (float)yz,
                         .zx = (float)zx};
}

static GrainResult make_nodes(MeshWinding *w, int threads)
{
    int64_t total = 0, count = w->triangle_count;
    do {
        count = parallel_block_count(count, WINDING_FANOUT);
        w->level_start[w->level_count++] = total;
        total += count;
    } while (count > 1);
    w->level_start[w->level_count] = total;
    w->nodes = ALLOC(WindingNode, total);
    if (!w->nodes) return GRAIN_ERROR_MEMORY;
    int64_t size = WINDING_FANOUT;
    for (int level = 0; level < w->level_count; level++, size *= WINDING_FANOUT) {
        int64_t first_node = w->level_start[level], node_count = w->level_start[level + 1] - first_node;
        PARALLEL_BLOCKS(threads, node, node_count)
        {
            w->nodes[first_node + node] = node_of(w, node * size, parallel_block_end(node, size, w->triangle_count));
        }
    }
    return GRAIN_OK;
}

static GrainResult copy_corners(MeshWinding *w, const GrainMesh *mesh, const int32_t *order, const uint8_t *flipped,
                                int threads)
{
    w->corners = ALLOC(float, 9 * w->triangle_count);
    if (!w->corners) return GRAIN_ERROR_MEMORY;
    PARALLEL_FOR(threads, i, w->triangle_count)
    {
        int64_t triangle = order[i];
        int turned = flipped && flipped[triangle];
        for (int c = 0; c < 3; c++) {
            int from = turned && c ? 3 - c : c;
            Vec3d p = vec3d_sub(vec3d_from(mesh_vertex(mesh, triangle, from)), w->centre);
            float *to = w->corners + 9 * i + 3 * c;
            to[0] = (float)(p.x / w->scale), to[1] = (float)(p.y / w->scale), to[2] = (float)(p.z / w->scale);
        }
    }
    return GRAIN_OK;
}

GrainResult mesh_winding_build(MeshWinding *w, const GrainMesh *mesh, const uint8_t *flipped, const uint8_t *wanted,
                               int threads)
{
    *w = (MeshWinding){0};
    Vec3 low, high;
    mesh_bounds(mesh, threads, &low, &high);
    w->centre = vec3d_scale(vec3d_add(vec3d_from(low), vec3d_from(high)), 0.5);
    Vec3d size = vec3d_sub(vec3d_from(high), vec3d_from(low));
    w->scale = real_max(vec3d_length(size), 1e-30);
    int32_t *order = NULL;
    GrainResult result = mesh_order(mesh, wanted, threads, &order, &w->triangle_count);
    if (result == GRAIN_OK && w->triangle_count > 0) {
        result = copy_corners(w, mesh, order, flipped, threads);
        if (result == GRAIN_OK) result = make_nodes(w, threads);
    }
    alloc_free(order);
    if (result != GRAIN_OK) mesh_winding_free(w);
    return result;
}

// Just above and just below the middle of a triangle.
static void points_beside(const MeshWinding *w, const GrainMesh *mesh, int64_t triangle, Vec3d point[2])
{
    Vec3d corner[3];
    for (int c = 0; c < 3; c++) {
        Vec3d p = vec3d_sub(vec3d_from(mesh_vertex(mesh, triangle, c)), w->centre);
        corner[c] = vec3d_scale(p, 1.0 / w->scale);
    }
    Vec3d middle = vec3d_scale(vec3d_add(vec3d_add(corner[0], corner[1]), corner[2]), 1.0 / 3.0);
    Vec3d normal = vec3d_cross(vec3d_sub(corner[1], corner[0]), vec3d_sub(corner[2], corner[0]));
    // A little off the surface against the triangle's size, and more than float's rounding.
    double step = real_max(1e-3 * sqrt(vec3d_length(normal)), 2e-6);
    normal = vec3d_scale(vec3d_unit(normal), step);
    point[0] = vec3d_add(middle, normal), point[1] = vec3d_sub(middle, normal);
}

void mesh_winding_on(const MeshWinding *w, const GrainMesh *mesh, const int32_t *triangles, int64_t count, int threads,
                     float *number)
{
    int64_t block_count = parallel_block_count(count, ASKED_AT_ONCE);
    PARALLEL_BLOCKS(threads, block, block_count)
    {
        float x[2 * ASKED_AT_ONCE], y[2 * ASKED_AT_ONCE], z[2 * ASKED_AT_ONCE], both[2 * ASKED_AT_ONCE];
        int64_t first = block * ASKED_AT_ONCE, used = parallel_block_end(block, ASKED_AT_ONCE, count) - first;
        for (int64_t i = 0; i < used; i++) {
            Vec3d point[2];
            points_beside(w, mesh, triangles[first + i], point);
            for (int side = 0; side < 2; side++) {
                x[2 * i + side] = (float)point[side].x, y[2 * i + side] = (float)point[side].y;
                z[2 * i + side] = (float)point[side].z;
            }
        }
        SIMD_CALL(mesh_winding_at)(w, x, y, z, 2 * used, both);
        for (int64_t i = 0; i < used; i++) number[first + i] = 0.5f * (both[2 * i] + both[2 * i + 1]);
    }
}

void mesh_winding_free(MeshWinding *w)
{
    alloc_free(w->corners);
    alloc_free(w->nodes);
    *w = (MeshWinding){0};
}
