// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Nearest-point search on a triangle mesh.
///
/// Triangles are sorted along a space-filling curve; eight neighbours on the curve make a leaf, eight leaves a node,
/// eight nodes a node above. So the tree has no pointers, is made in one pass from below, and is made again the same
/// way when the mesh has moved:
///
///     level 2        [              node 0              ]
///     level 1        [ node 0 ][ node 1 ][ node 2 ] ...        a node holds its eight children's boxes
///     level 0        [leaf][leaf][leaf][leaf][leaf] ...        a leaf holds eight triangles
///
/// A leaf triangle is the number of a triangle in that order. Coordinates are those of the caller's triangles. A cover,
/// for example, measures in spacings from the centre of the mesh, so that tiny and huge meshes stay in the range of
/// float.
#include "base/simd.h"
#include "base/vec.h"
#include "grain/base.h"

#define MESH_TREE_WIDTH 8
/// 8^11 triangles are more than a mesh can have.
#define MESH_TREE_MAX_LEVELS 11

/// Eight triangles side by side: corner a, edges to b and c.
typedef struct MeshTreeLeaf {
    float a[3][MESH_TREE_WIDTH], ab[3][MESH_TREE_WIDTH], ac[3][MESH_TREE_WIDTH];
} MeshTreeLeaf;

typedef struct MeshTreeNode {
    float low[3][MESH_TREE_WIDTH], high[3][MESH_TREE_WIDTH];
} MeshTreeNode;

typedef struct MeshTree {
    int64_t triangle_count;
    int64_t leaf_count;
    int32_t level_count;                       ///< of nodes; at least 1
    int64_t level_start[MESH_TREE_MAX_LEVELS]; ///< first node of each level, from the leaves' parents up
    int64_t level_nodes[MESH_TREE_MAX_LEVELS];
    MeshTreeLeaf *leaves;
    MeshTreeNode *nodes;
} MeshTree;

/// corners: three to a triangle, 3 * triangle_count, in the order of the leaf triangles.
GrainResult mesh_tree_build(MeshTree *tree, const Vec3 *corners, int64_t triangle_count, int threads);
/// Rebuilds the tree after the triangles have moved.
void mesh_tree_refit(MeshTree *tree, const Vec3 *corners, int threads);
void mesh_tree_free(MeshTree *tree);

/// A point on the mesh: its leaf triangle and the position there, a + v * (b - a) + w * (c - a).
typedef struct MeshPoint {
    int32_t leaf_triangle;
    float v, w;
    float distance_squared;
} MeshPoint;

/// The nearest point on the mesh for each of count positions. On entry, points[i].leaf_triangle is a guess (or -1); a
/// better guess shortens the search. The result does not depend on it, with two exceptions: triangles at the same
/// distance, and a triangle next to the guess with a perpendicular no longer than `enough`, which is accepted at once.
void mesh_tree_nearest(const MeshTree *tree, const float *x, const float *y, const float *z, int64_t count,
                       float enough, MeshPoint *points);

/// The nearest point for one position; its leaf triangle is -1 if none is within reach. guess: as above.
MeshPoint mesh_tree_within(const MeshTree *tree, Vec3 place, float reach, int32_t guess);

/// Calls visit for all triangles within reach of a position, and some that are not, until a call returns a value other
/// than 0. Returns that value.
typedef int MeshTreeVisitFn(void *user, int32_t leaf_triangle);
int mesh_tree_visit(const MeshTree *tree, Vec3 place, float reach, MeshTreeVisitFn *visit, void *user);

static inline void mesh_tree_corners(const MeshTree *tree, int32_t leaf_triangle, Vec3 *a, Vec3 *ab, Vec3 *ac)
{
    const MeshTreeLeaf *leaf = &tree->leaves[leaf_triangle / MESH_TREE_WIDTH];
    int i = leaf_triangle % MESH_TREE_WIDTH;
    *a = vec3(leaf->a[0][i], leaf->a[1][i], leaf->a[2][i]);
    *ab = vec3(leaf->ab[0][i], leaf->ab[1][i], leaf->ab[2][i]);
    *ac = vec3(leaf->ac[0][i], leaf->ac[1][i], leaf->ac[2][i]);
}

static inline Vec3 mesh_tree_place(const MeshTree *tree, MeshPoint point)
{
    Vec3 a, ab, ac;
    mesh_tree_corners(tree, point.leaf_triangle, &a, &ab, &ac);
    return vec3_add_scaled(vec3_add_scaled(a, ab, point.v), ac, point.w);
}

SIMD_KERNEL(void, mesh_tree_nearest,
            (const MeshTree *tree, const float *x, const float *y, const float *z, int64_t count, float enough,
             MeshPoint *points))
SIMD_KERNEL(MeshPoint, mesh_tree_within, (const MeshTree *tree, Vec3 place, float reach_squared, int32_t guess))
