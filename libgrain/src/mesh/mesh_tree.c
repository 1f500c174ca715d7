// SPDX-License-Identifier: GPL-3.0-or-later
#include "mesh/mesh_tree.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"

// A box that nothing is near to: for the children a node does not have.
#define NOWHERE 1e30f

typedef struct Box {
    Vec3 low, high;
} Box;

static const Box empty_box = {{NOWHERE, NOWHERE, NOWHERE}, {-NOWHERE, -NOWHERE, -NOWHERE}};

static Box box_join(Box a, Box b) { return (Box){vec3_min(a.low, b.low), vec3_max(a.high, b.high)}; }

static Box fill_leaf(MeshTree *tree, const Vec3 *corners, int64_t leaf)
{
    MeshTreeLeaf *to = &tree->leaves[leaf];
    Box box = empty_box;
    for (int i = 0; i < MESH_TREE_WIDTH; i++) {
        int64_t leaf_triangle = leaf * MESH_TREE_WIDTH + i;
        // The last leaf repeats the last triangle: found twice, it is still the same triangle.
        if (leaf_triangle >= tree->triangle_count) leaf_triangle = tree->triangle_count - 1;
        const Vec3 *corner = corners + 3 * leaf_triangle;
        Vec3 ab = vec3_sub(corner[1], corner[0]), ac = vec3_sub(corner[2], corner[0]);
        to->a[0][i] = corner[0].x, to->a[1][i] = corner[0].y, to->a[2][i] = corner[0].z;
        to->ab[0][i] = ab.x, to->ab[1][i] = ab.y, to->ab[2][i] = ab.z;
        to->ac[0][i] = ac.x, to->ac[1][i] = ac.y, to->ac[2][i] = ac.z;
        for (int c = 0; c < 3; c++) box = box_join(box, (Box){corner[c], corner[c]});
    }
    return box;
}

static void set_child(MeshTreeNode *node, int child, Box box)
{
    node->low[0][child] = box.low.x, node->low[1][child] = box.low.y, node->low[2][child] = box.low.z;
    node->high[0][child] = box.high.x, node->high[1][child] = box.high.y, node->high[2][child] = box.high.z;
}

static Box box_of_node(const MeshTreeNode *node)
{
    Box box = empty_box;
    for (int i = 0; i < MESH_TREE_WIDTH; i++)
        box = box_join(box, (Box){{node->low[0][i], node->low[1][i], node->low[2][i]},
                                  {node->high[0][i], node->high[1][i], node->high[2][i]}});
    return box;
}

void mesh_tree_refit(MeshTree *tree, const Vec3 *corners, int threads)
{
    PARALLEL_FOR(threads, node, tree->level_nodes[0])
    {
        for (int i = 0; i < MESH_TREE_WIDTH; i++) {
            int64_t leaf = node * MESH_TREE_WIDTH + i;
            set_child(&tree->nodes[node], i, leaf < tree->leaf_count ? fill_leaf(tree, corners, leaf) : empty_box);
        }
    }
    for (int level = 1; level < tree->level_count; level++) {
        const MeshTreeNode *below = tree->nodes + tree->level_start[level - 1];
        MeshTreeNode *nodes = tree->nodes + tree->level_start[level];
        PARALLEL_FOR(threads, node, tree->level_nodes[level])
        {
            for (int i = 0; i < MESH_TREE_WIDTH; i++) {
                int64_t child = node * MESH_TREE_WIDTH + i;
                set_child(&nodes[node], i,
                          child < tree->level_nodes[level - 1] ? box_of_node(&below[child]) : empty_box);
            }
        }
    }
}

GrainResult mesh_tree_build(MeshTree *tree, const Vec3 *corners, int64_t triangle_count, int threads)
{
    *tree = (MeshTree){.triangle_count = triangle_count,
                       .leaf_count = parallel_block_count(triangle_count, MESH_TREE_WIDTH)};
    int64_t count = tree->leaf_count, total = 0;
    do {
        count = parallel_block_count(count, MESH_TREE_WIDTH);
        tree->level_start[tree->level_count] = total;
        tree->level_nodes[tree->level_count++] = count;
        total += count;
    } while (count > 1);
    tree->leaves = ALLOC(MeshTreeLeaf, tree->leaf_count);
    tree->nodes = ALLOC(MeshTreeNode, total);
    if (!tree->leaves || !tree->nodes) {
        mesh_tree_free(tree);
        return GRAIN_ERROR_MEMORY;
    }
    mesh_tree_refit(tree, corners, threads);
    return GRAIN_OK;
}

void mesh_tree_free(MeshTree *tree)
{
    alloc_free(tree->leaves);
    alloc_free(tree->nodes);
    *tree = (MeshTree){0};
}

void mesh_tree_nearest(const MeshTree *tree, const float *x, const float *y, const float *z, int64_t count,
                       float enough, MeshPoint *points)
{
    SIMD_CALL(mesh_tree_nearest)(tree, x, y, z, count, enough * enough, points);
}

MeshPoint mesh_tree_within(const MeshTree *tree, Vec3 place, float reach, int32_t guess)
{
    return SIMD_CALL(mesh_tree_within)(tree, place, reach * reach, guess);
}

static int is_near(const MeshTreeNode *node, int child, Vec3 place, float reach)
{
    return node->low[0][child] <= place.x + reach && node->high[0][child] >= place.x - reach &&
           node->low[1][child] <= place.y + reach && node->high[1][child] >= place.y - reach &&
           node->low[2][child] <= place.z + reach && node->high[2][child] >= place.z - reach;
}

static int visit_below(const MeshTree *tree, int level, int64_t node, Vec3 place, float reach, MeshTreeVisitFn *visit,
                       void *user)
{
    const MeshTreeNode *own = &tree->nodes[tree->level_start[level] + node];
    for (int i = 0; i < MESH_TREE_WIDTH; i++) {
        if (!is_near(own, i, place, reach)) continue;
        int64_t child = node * MESH_TREE_WIDTH + i;
        if (level > 0) {
            int answer = visit_below(tree, level - 1, child, place, reach, visit, user);
            if (answer) return answer;
            continue;
        }
        int64_t end = (child + 1) * MESH_TREE_WIDTH;
        if (end > tree->triangle_count) end = tree->triangle_count;
        for (int64_t leaf_triangle = child * MESH_TREE_WIDTH; leaf_triangle < end; leaf_triangle++) {
            int answer = visit(user, (int32_t)leaf_triangle);
            if (answer) return answer;
        }
    }
    return 0;
}

int mesh_tree_visit(const MeshTree *tree, Vec3 place, float reach, MeshTreeVisitFn *visit, void *user)
{
    return visit_below(tree, tree->level_count - 1, 0, place, reach, visit, user);
}
