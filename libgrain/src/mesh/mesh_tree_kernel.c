// SPDX-License-Identifier: GPL-3.0-or-later
#include "mesh/mesh_tree.h"

// Eight lanes in every build, for a node has eight children; a narrower instruction set takes two or more turns.
typedef float Float8 __attribute__((vector_size(32)));
typedef int32_t Int8 __attribute__((vector_size(32)));
#define FAR_AWAY 3.0e38f
// Children waiting to be looked at: seven for each level at most, and the eighth is taken at once.
#define STACK_SIZE (MESH_TREE_WIDTH * MESH_TREE_MAX_LEVELS)

SIMD_INLINE Float8 load(const float *from)
{
    Float8 v;
    memcpy(&v, from, sizeof v);
    return v;
}

SIMD_INLINE Float8 choose(Int8 mask, Float8 where_set, Float8 where_clear)
{
    return (Float8)((mask & (Int8)where_set) | (~mask & (Int8)where_clear));
}

SIMD_INLINE Float8 lower(Float8 a, Float8 b) { return choose(a < b, a, b); }
SIMD_INLINE Float8 higher(Float8 a, Float8 b) { return choose(a > b, a, b); }
SIMD_INLINE Float8 all(float value) { return (Float8){0} + value; }
SIMD_INLINE Float8 to_unit(Float8 v) { return lower(higher(v, all(0.0f)), all(1.0f)); }

typedef struct Candidate {
    Float8 v, w, distance_squared;
} Candidate;

typedef struct Triangles {
    Float8 ab[3], ac[3], ap[3];
} Triangles;

SIMD_INLINE Float8 dot(const Float8 a[3], const Float8 b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

SIMD_INLINE Float8 distance_to(const Triangles *t, Float8 v, Float8 w)
{
    Float8 offset[3];
    for (int axis = 0; axis < 3; axis++) offset[axis] = t->ap[axis] - v * t->ab[axis] - w * t->ac[axis];
    return dot(offset, offset);
}

SIMD_INLINE void keep_nearer(Candidate *best, const Triangles *t, Float8 v, Float8 w)
{
    Float8 squared = distance_to(t, v, w);
    Int8 nearer = squared < best->distance_squared;
    best->v = choose(nearer, v, best->v);
    best->w = choose(nearer, w, best->w);
    best->distance_squared = choose(nearer, squared, best->distance_squared);
}

// Nearest points of eight triangles: on the three edges and, where the foot of the perpendicular falls inside, there.
SIMD_INLINE Candidate nearest_of_leaf(const MeshTreeLeaf *leaf, float x, float y, float z)
{
    Triangles t;
    for (int axis = 0; axis < 3; axis++) t.ab[axis] = load(leaf->ab[axis]), t.ac[axis] = load(leaf->ac[axis]);
    t.ap[0] = x - load(leaf->a[0]), t.ap[1] = y - load(leaf->a[1]), t.ap[2] = z - load(leaf->a[2]);
    Float8 d1 = dot(t.ab, t.ap), d2 = dot(t.ac, t.ap);
    Float8 bb = dot(t.ab, t.ab), cc = dot(t.ac, t.ac), bc = dot(t.ab, t.ac);
    Float8 zero = all(0.0f);

    Candidate best;
    best.v = to_unit(d1 / bb), best.w = zero;
    best.distance_squared = distance_to(&t, best.v, best.w);
    keep_nearer(&best, &t, zero, to_unit(d2 / cc));
    Float8 along = to_unit((d2 - d1 + bb - bc) / (bb + cc - 2.0f * bc));
    keep_nearer(&best, &t, 1.0f - along, along);

    Float8 scale = 1.0f / (bb * cc - bc * bc);
    Float8 v = (cc * d1 - bc * d2) * scale, w = (bb * d2 - bc * d1) * scale;
    Int8 inside = (v >= 0.0f) & (w >= 0.0f) & (v + w <= 1.0f);
    keep_nearer(&best, &t, choose(inside, v, best.v), choose(inside, w, best.w));
    return best;
}

typedef struct Search {
    float x, y, z;
    MeshPoint best;
    int64_t guessed; // leaf that has been searched already
} Search;

SIMD_INLINE void search_leaf(const MeshTree *tree, Search *search, int64_t leaf)
{
    Candidate found = nearest_of_leaf(&tree->leaves[leaf], search->x, search->y, search->z);
    for (int i = 0; i < MESH_TREE_WIDTH; i++) {
        if (!(found.distance_squared[i] < search->best.distance_squared)) continue;
        int64_t leaf_triangle = leaf * MESH_TREE_WIDTH + i;
        if (leaf_triangle >= tree->triangle_count) leaf_triangle = tree->triangle_count - 1;
        search->best = (MeshPoint){(int32_t)leaf_triangle, found.v[i], found.w[i], found.distance_squared[i]};
    }
}

SIMD_INLINE Float8 distances_to_children(const MeshTreeNode *node, const Search *search)
{
    const float place[3] = {search->x, search->y, search->z};
    Float8 squared = all(0.0f);
    for (int axis = 0; axis < 3; axis++) {
        Float8 outside =
            higher(higher(load(node->low[axis]) - place[axis], place[axis] - load(node->high[axis])), all(0.0f));
        squared += outside * outside;
    }
    return squared;
}

typedef struct Waiting {
    float distance_squared;
    int32_t level; // -1: a leaf
    int64_t index;
} Waiting;

SIMD_INLINE void search_tree(const MeshTree *tree, Search *search)
{
    Waiting stack[STACK_SIZE];
    int depth = 0;
    stack[depth++] = (Waiting){0.0f, tree->level_count - 1, 0};
    while (depth > 0) {
        Waiting next = stack[--depth];
        if (!(next.distance_squared < search->best.distance_squared)) continue;
        if (next.level < 0) {
            if (next.index != search->guessed) search_leaf(tree, search, next.index);
            continue;
        }
        Float8 squared = distances_to_children(&tree->nodes[tree->level_start[next.level] + next.index], search);
        // The nearest child goes on top; sorting only what is pushed now.
        int first = depth;
        for (int i = 0; i < MESH_TREE_WIDTH; i++) {
            if (!(squared[i] < search->best.distance_squared)) continue;
            int place = depth++;
            for (; place > first && stack[place - 1].distance_squared < squared[i]; place--)
                stack[place] = stack[place - 1];
            stack[place] = (Waiting){squared[i], next.level - 1, next.index * MESH_TREE_WIDTH + i};
        }
    }
}

// Inside the triangle, not on its edges, where the neighbour might be nearer.
SIMD_INLINE int is_within(MeshPoint point) { return point.v > 0.0f && point.w > 0.0f && point.v + point.w < 1.0f; }

void SIMD_NAME(mesh_tree_nearest)(const MeshTree *tree, const float *x, const float *y, const float *z, int64_t count,
                                  float enough, MeshPoint *points)
{
    for (int64_t i = 0; i < count; i++) {
        Search search = {x[i], y[i], z[i], {0, 0.0f, 0.0f, FAR_AWAY}, -1};
        if (points[i].leaf_triangle >= 0) {
            search.guessed = points[i].leaf_triangle / MESH_TREE_WIDTH;
            search_leaf(tree, &search, search.guessed);
            if (search.best.distance_squared < enough && is_within(search.best)) {
                points[i] = search.best;
                continue;
            }
        }
        search_tree(tree, &search);
        points[i] = search.best;
    }
}

MeshPoint SIMD_NAME(mesh_tree_within)(const MeshTree *tree, Vec3 place, float reach_squared, int32_t guess)
{
    Search search = {place.x, place.y, place.z, {-1, 0.0f, 0.0f, reach_squared}, -1};
    if (guess >= 0) {
        search.guessed = guess / MESH_TREE_WIDTH;
        search_leaf(tree, &search, search.guessed);
    }
    search_tree(tree, &search);
    return search.best;
}
