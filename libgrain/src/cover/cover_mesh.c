// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "cover/cover_surface.h"
#include "mesh/mesh_order.h"

#include <float.h>

static Vec3d corner_place(const CoverMesh *m, const GrainMesh *mesh, const CoverFrame *frame, int64_t leaf_triangle,
                          int corner)
{
    Vec3 p = mesh_vertex(mesh, m->triangle[leaf_triangle], corner);
    double s = 1.0 / frame->spacing;
    return vec3d(((double)p.x - frame->centre[0]) * s, ((double)p.y - frame->centre[1]) * s,
                 ((double)p.z - frame->centre[2]) * s);
}

static Vec3 to_single(Vec3d v) { return vec3((float)v.x, (float)v.y, (float)v.z); }

// A triangle no higher than the rounding of its corners has a normal made of noise, which would spoil the mean of its
// neighbours': the corners of an n-gon with points on straight sides make many of them. What lies on it lies on their
// edges as well.
#define NOISE_STEPS 64.0
// Unless such triangles are more than this part of the surface: then noise is all there is.
#define NOISE_AREA 0.01

// Area of a leaf triangle, and whether it is higher than noise.
static double measure_leaf(const CoverMesh *m, const GrainMesh *mesh, const CoverFrame *frame, int64_t leaf_triangle,
                           int *high)
{
    Vec3d c[3];
    double largest = 0.0, longest = 0.0;
    for (int k = 0; k < 3; k++) {
        Vec3 p = mesh_vertex(mesh, m->triangle[leaf_triangle], k);
        c[k] = corner_place(m, mesh, frame, leaf_triangle, k);
        largest = real_max(largest, (double)real_maxf(fabsf(p.x), real_maxf(fabsf(p.y), fabsf(p.z))));
    }
    for (int k = 0; k < 3; k++) longest = real_max(longest, vec3d_length(vec3d_sub(c[(k + 1) % 3], c[k])));
    double twice_area = vec3d_length(vec3d_cross(vec3d_sub(c[1], c[0]), vec3d_sub(c[2], c[0])));
    *high = twice_area > NOISE_STEPS * (double)FLT_EPSILON * largest / frame->spacing * longest;
    return 0.5 * twice_area;
}

// Slots for the triangles that have an area worth the name; their number to m->count.
static GrainResult choose_slots(CoverMesh *m, const GrainMesh *mesh, const CoverFrame *frame, int threads)
{
    int64_t count, kept = 0;
    double noise = 0.0;
    TRY(mesh_order(mesh, NULL, threads, &m->triangle, &count));
    uint8_t *kind = ALLOC(uint8_t, count); // 0 without area, 1 noise, 2 proper
    if (!kind) return GRAIN_ERROR_MEMORY;
    for (int64_t leaf_triangle = 0; leaf_triangle < count; leaf_triangle++) {
        int high;
        double area = measure_leaf(m, mesh, frame, leaf_triangle, &high);
        kind[leaf_triangle] = area > 0.0 ? high ? 2 : 1 : 0;
        m->area += area;
        noise += high ? 0.0 : area;
    }
    int least = noise > NOISE_AREA * m->area ? 1 : 2;
    for (int64_t leaf_triangle = 0; leaf_triangle < count; leaf_triangle++)
        if (kind[leaf_triangle] >= least) m->triangle[kept++] = m->triangle[leaf_triangle];
    alloc_free(kind);
    m->count = kept;
    if (kept == 0)
        return fail(GRAIN_ERROR_MESH,
                    "none of the mesh's %lld triangles has an area: check for a scale of 0, or use Merge by Distance",
                    (long long)mesh->triangle_count);
    return GRAIN_OK;
}

GrainResult cover_mesh_refit(CoverMesh *m, const GrainMesh *mesh, const CoverFrame *frame, int threads)
{
    Vec3 *corners = ALLOC(Vec3, 3 * m->count);
    if (!corners) return GRAIN_ERROR_MEMORY;
    PARALLEL_FOR(threads, leaf_triangle, m->count)
    {
        Vec3d c[3];
        for (int k = 0; k < 3; k++)
            c[k] = corner_place(m, mesh, frame, leaf_triangle, k), corners[3 * leaf_triangle + k] = to_single(c[k]);
        m->face_normal[leaf_triangle] =
            to_single(vec3d_unit(vec3d_cross(vec3d_sub(c[1], c[0]), vec3d_sub(c[2], c[0]))));
    }
    GrainResult result = GRAIN_OK;
    if (m->tree.leaves)
        mesh_tree_refit(&m->tree, corners, threads);
    else
        result = mesh_tree_build(&m->tree, corners, m->count, threads);
    alloc_free(corners);
    return result;
}

GrainResult cover_mesh_build_tree(CoverMesh *m, const GrainMesh *mesh, const CoverFrame *frame, int threads)
{
    *m = (CoverMesh){0};
    TRY(choose_slots(m, mesh, frame, threads));
    m->face_normal = ALLOC(Vec3, m->count);
    return m->face_normal ? cover_mesh_refit(m, mesh, frame, threads) : GRAIN_ERROR_MEMORY;
}

// A triangle has an inside for certain only where its shell is closed; a head without its neck is covered as it is.
static int is_solid(const SdfClassified *parts, int32_t triangle)
{
    if (parts->is_sheet && parts->is_sheet[triangle]) return 0;
    if (!parts->shells.shells) return 1;
    int32_t shell = parts->shells.shell_of[triangle];
    return shell >= 0 && mesh_shell_is_closed(&parts->shells.shells[shell]);
}

// Which triangles bound something solid, and normals that agree with their neighbours'.
static GrainResult sort_parts(CoverMesh *m, const GrainMesh *mesh, Run *run)
{
    m->solid = ALLOC(uint8_t, m->count);
    if (!m->solid) return GRAIN_ERROR_MEMORY;
    TRY(sdf_classify(&m->parts, mesh, GRAIN_SDF_AUTO, run));
    const uint8_t *flipped = sdf_classified_flipped(&m->parts);
    for (int64_t leaf_triangle = 0; leaf_triangle < m->count; leaf_triangle++) {
        int32_t triangle = m->triangle[leaf_triangle];
        m->solid[leaf_triangle] = (uint8_t)is_solid(&m->parts, triangle);
        m->solid_count += m->solid[leaf_triangle];
        if (flipped && flipped[triangle])
            m->face_normal[leaf_triangle] = vec3_scale(m->face_normal[leaf_triangle], -1.0f);
    }
    return GRAIN_OK;
}

GrainResult cover_mesh_build(CoverMesh *m, const GrainMesh *mesh, const CoverFrame *frame, Run *run)
{
    TRY(cover_mesh_build_tree(m, mesh, frame, run->thread_count));
    return sort_parts(m, mesh, run);
}

// --- normals of edges and corners -----------------------------------------------------------------

// Neighbours agree by now, but all of them may be wrong: only the field tells a body from a cavity and from a body
// inside out.
static void orient_faces(CoverMesh *m, const CoverSurface *surface, int threads)
{
    float reach = 0.5f * surface->sdf.voxel_size;
    PARALLEL_FOR(threads, leaf_triangle, m->count)
    {
        if (!m->solid[leaf_triangle]) continue;
        Vec3 middle = mesh_tree_place(&m->tree, (MeshPoint){(int32_t)leaf_triangle, 1.0f / 3.0f, 1.0f / 3.0f, 0.0f});
        Vec3 normal = m->face_normal[leaf_triangle];
        float front = sdf_sample_point(&surface->sdf, vec3_add_scaled(middle, normal, reach), NULL);
        float back = sdf_sample_point(&surface->sdf, vec3_add_scaled(middle, normal, -reach), NULL);
        if (front < 0.0f && back > 0.0f) m->face_normal[leaf_triangle] = vec3_scale(normal, -1.0f);
    }
}

static double angle_at(const CoverMesh *m, int64_t leaf_triangle, int corner)
{
    Vec3 a, ab, ac;
    mesh_tree_corners(&m->tree, (int32_t)leaf_triangle, &a, &ab, &ac);
    Vec3 to_next = corner == 0 ? ab : corner == 1 ? vec3_sub(ac, ab) : vec3_scale(ac, -1.0f);
    Vec3 to_last = corner == 0 ? ac : corner == 1 ? vec3_scale(ab, -1.0f) : vec3_sub(ab, ac);
    return real_atan2((double)vec3_length(vec3_cross(to_next, to_last)), (double)vec3_dot(to_next, to_last));
}

typedef struct Corners {
    CoverMesh *m;
    int32_t *leaf_of;     // triangle -> leaf triangle, -1 for none
    Vec3d *vertex_normal; // vertex -> sum
} Corners;

static void sum_vertex_normals(Corners *c, int threads)
{
    const MeshTopology *t = &c->m->parts.topology;
    PARALLEL_FOR(threads, v, t->vertex_count)
    {
        Vec3d sum = {0};
        for (int32_t i = t->corner_start[v]; i < t->corner_start[v + 1]; i++) {
            int32_t leaf_triangle = c->leaf_of[t->corners[i] / 3];
            if (leaf_triangle < 0) continue;
            double angle = angle_at(c->m, leaf_triangle, t->corners[i] % 3);
            sum = vec3d_add(sum, vec3d_scale(vec3d_from(c->m->face_normal[leaf_triangle]), angle));
        }
        c->vertex_normal[v] = sum;
    }
}

static void make_edge(const Corners *c, int64_t leaf_triangle, int corner)
{
    CoverMesh *m = c->m;
    Vec3 own = m->face_normal[leaf_triangle];
    MeshNeighbour other = mesh_neighbour(&m->parts.topology, 3 * m->triangle[leaf_triangle] + corner);
    int32_t other_leaf = other.edge >= 0 ? c->leaf_of[other.edge / 3] : -1;
    Vec3 sum = own;
    // A mean near 0 is a knife's edge or sheets that lie on each other: their own side is as good as any.
    if (other_leaf >= 0) sum = vec3_add(own, m->face_normal[other_leaf]);
    m->edge_normal[3 * leaf_triangle + corner] = vec3_length(sum) > 1e-3f ? vec3_normalize(sum, own) : own;
    m->rim[3 * leaf_triangle + corner] = other.triangles == 1 ? COVER_OPEN_EDGE : 0;
}

static void make_corner(const Corners *c, int64_t leaf_triangle, int corner)
{
    CoverMesh *m = c->m;
    int32_t vertex = m->parts.topology.vertex[3 * (int64_t)m->triangle[leaf_triangle] + corner];
    Vec3d sum = c->vertex_normal[vertex];
    m->corner_normal[3 * leaf_triangle + corner] =
        vec3d_length(sum) > 1e-3 ? to_single(vec3d_unit(sum)) : m->face_normal[leaf_triangle];
}

// Corners where an open edge begins or ends, whichever triangle it belongs to.
static GrainResult mark_rims(CoverMesh *m)
{
    const MeshTopology *t = &m->parts.topology;
    if (t->open_edges == 0) return GRAIN_OK;
    uint8_t *open = ALLOC_ZEROED(uint8_t, t->vertex_count);
    if (!open) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < 3 * m->count; i++) {
        if (!(m->rim[i] & COVER_OPEN_EDGE)) continue;
        int32_t corner = 3 * m->triangle[i / 3] + (int32_t)(i % 3);
        open[t->vertex[corner]] = open[t->vertex[mesh_next_corner(corner)]] = 1;
    }
    for (int64_t i = 0; i < 3 * m->count; i++)
        if (open[t->vertex[3 * (int64_t)m->triangle[i / 3] + i % 3]]) m->rim[i] |= COVER_OPEN_CORNER;
    alloc_free(open);
    return GRAIN_OK;
}

static GrainResult make_corners(CoverMesh *m, Corners *c, int threads)
{
    int64_t triangle_count = m->parts.topology.mesh->triangle_count;
    c->leaf_of = ALLOC(int32_t, triangle_count);
    c->vertex_normal = ALLOC(Vec3d, m->parts.topology.vertex_count);
    if (!m->edge_normal) m->edge_normal = ALLOC(Vec3, 3 * m->count);
    if (!m->corner_normal) m->corner_normal = ALLOC(Vec3, 3 * m->count);
    if (!m->rim) m->rim = ALLOC(uint8_t, 3 * m->count);
    if (!c->leaf_of || !c->vertex_normal || !m->edge_normal || !m->corner_normal || !m->rim) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < triangle_count; i++) c->leaf_of[i] = -1;
    for (int64_t leaf_triangle = 0; leaf_triangle < m->count; leaf_triangle++)
        c->leaf_of[m->triangle[leaf_triangle]] = (int32_t)leaf_triangle;
    sum_vertex_normals(c, threads);
    PARALLEL_FOR(threads, leaf_triangle, m->count)
    {
        for (int corner = 0; corner < 3; corner++)
            make_edge(c, leaf_triangle, corner), make_corner(c, leaf_triangle, corner);
    }
    return mark_rims(m);
}

void cover_mesh_turn(CoverMesh *m)
{
    for (int64_t leaf_triangle = 0; leaf_triangle < m->count; leaf_triangle++)
        m->face_normal[leaf_triangle] = vec3_scale(m->face_normal[leaf_triangle], -1.0f);
    for (int64_t i = 0; i < 3 * m->count; i++) {
        m->edge_normal[i] = vec3_scale(m->edge_normal[i], -1.0f);
        m->corner_normal[i] = vec3_scale(m->corner_normal[i], -1.0f);
    }
}

GrainResult cover_mesh_finish(CoverMesh *m, const CoverSurface *surface, int threads)
{
    if (surface->sdf_scale > 0.0f) orient_faces(m, surface, threads);
    Corners corners = {.m = m};
    GrainResult result = make_corners(m, &corners, threads);
    alloc_free(corners.leaf_of);
    alloc_free(corners.vertex_normal);
    return result;
}

void cover_mesh_free(CoverMesh *m)
{
    mesh_tree_free(&m->tree);
    sdf_classified_free(&m->parts);
    alloc_free(m->triangle);
    alloc_free(m->solid);
    alloc_free(m->face_normal);
    alloc_free(m->edge_normal);
    alloc_free(m->corner_normal);
    alloc_free(m->rim);
    *m = (CoverMesh){0};
}
