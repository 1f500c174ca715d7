// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Finds the point of a triangle mesh nearest to any place.
///
/// Triangles are sorted along a space-filling curve; eight neighbours on the curve make a leaf, eight leaves a node,
/// eight nodes a node above. So the tree has no pointers, is made in one pass from below, and is made again the same
/// way when the mesh has moved:
///
///     level 2        [              node 0              ]
///     level 1        [ node 0 ][ node 1 ][ node 2 ] ...        a node holds its eight children's boxes
///     level 0        [leaf][leaf][leaf][leaf][leaf] ...        a leaf holds eight triangles
///
/// Slots are places in that order. Coordinates are whatever the caller's triangles are in; the cover counts in
/// spacings from the middle of the mesh, so that tiny and huge meshes stay in the range of float.
#include "base/simd.h"
#include "base/vec.h"
#include "grain/base.h"

#define MESH_TREE_WIDTH 8
/// 8^11 triangles are more than there are.
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

/// corners: three to a triangle, 3 * triangle_count, in the order of the slots.
GrainResult mesh_tree_build(MeshTree *tree, const Vec3 *corners, int64_t triangle_count, int threads);
/// The same triangles elsewhere.
void mesh_tree_refit(MeshTree *tree, const Vec3 *corners, int threads);
void mesh_tree_free(MeshTree *tree);

/// A point of the mesh: slot of the triangle and the place in it, a + v * (b - a) + w * (c - a).
typedef struct MeshPoint {
    int32_t slot;
    float v, w;
    float distance_squared;
} MeshPoint;

/// The mesh's nearest point to each of count places. points[i].slot is a guess on entry (or -1): the nearer it is, the
/// sooner the search ends. The result does not depend on it, except among triangles at the same distance, and except
/// where a triangle beside the guess has the foot of a perpendicular no longer than `enough`: that is taken at once.
void mesh_tree_nearest(const MeshTree *tree, const float *x, const float *y, const float *z, int64_t count,
                       float enough, MeshPoint *points);

/// The nearest point to one place, slot -1 where none is within reach. guess: as above.
MeshPoint mesh_tree_within(const MeshTree *tree, Vec3 place, float reach, int32_t guess);

/// Calls visit for all triangles that may be within reach of a place (and some that are not), until one answers other
/// than 0. Returns that answer.
typedef int MeshTreeVisitFn(void *user, int32_t slot);
int mesh_tree_visit(const MeshTree *tree, Vec3 place, float reach, MeshTreeVisitFn *visit, void *user);

static inline void mesh_tree_corners(const MeshTree *tree, int32_t slot, Vec3 *a, Vec3 *ab, Vec3 *ac)
{
    const MeshTreeLeaf *leaf = &tree->leaves[slot / MESH_TREE_WIDTH];
    int i = slot % MESH_TREE_WIDTH;
    *a = vec3(leaf->a[0][i], leaf->a[1][i], leaf->a[2][i]);
    *ab = vec3(leaf->ab[0][i], leaf->ab[1][i], leaf->ab[2][i]);
    *ac = vec3(leaf->ac[0][i], leaf->ac[1][i], leaf->ac[2][i]);
}

static inline Vec3 mesh_tree_place(const MeshTree *tree, MeshPoint point)
{
    Vec3 a, ab, ac;
    mesh_tree_corners(tree, point.slot, &a, &ab, &ac);
    return vec3_add_scaled(vec3_add_scaled(a, ab, point.v), ac, point.w);
}

SIMD_KERNEL(void, mesh_tree_nearest,
            (const MeshTree *tree, const float *x, const float *y, const float *z, int64_t count, float enough,
             MeshPoint *points))
SIMD_KERNEL(MeshPoint, mesh_tree_within, (const MeshTree *tree, Vec3 place, float reach_squared, int32_t guess))
