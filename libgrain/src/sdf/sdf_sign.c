// SPDX-License-Identifier: GPL-3.0-or-later
#include "sdf/sdf_sign.h"
#include "base/real.h"

#include <math.h>

// Voxels; the side of what is closer to the surface is a matter of rounding.
#define ON_SURFACE 1e-3f

// --- by normals: Baerentzen & Aanaes 2002 ---------------------------------------------------------

static Vec3d place_of(const SdfSigner *s, int32_t vertex)
{
    const float *p = s->topology->mesh->positions + 3 * (int64_t)vertex;
    Vec3d place = {(double)p[0], (double)p[1], (double)p[2]};
    return vec3d_scale(vec3d_sub(place, vec3d_from(s->sdf->origin)), 1.0 / (double)s->sdf->voxel_size);
}

static Vec3d face_normal(const SdfSigner *s, int32_t triangle)
{
    const int32_t *v = s->topology->vertex + 3 * (int64_t)triangle;
    Vec3d a = place_of(s, v[0]), b = place_of(s, v[1]), c = place_of(s, v[2]);
    Vec3d normal = vec3d_unit(vec3d_cross(vec3d_sub(b, a), vec3d_sub(c, a)));
    return s->flipped && s->flipped[triangle] ? vec3d_scale(normal, -1.0) : normal;
}

static double corner_angle(const SdfSigner *s, int32_t corner)
{
    const int32_t *vertex = s->topology->vertex;
    Vec3d at = place_of(s, vertex[corner]);
    Vec3d u = vec3d_sub(place_of(s, vertex[mesh_next_corner(corner)]), at);
    Vec3d v = vec3d_sub(place_of(s, vertex[mesh_previous_corner(corner)]), at);
    return real_atan2(vec3d_length(vec3d_cross(u, v)), vec3d_dot(u, v));
}

// Goes around the vertex from triangle to triangle, so that where two surfaces touch in one vertex only the one that
// is nearest counts. 0 when the way does not close.
static int vertex_normal(const SdfSigner *s, int32_t corner, Vec3d *normal)
{
    const MeshTopology *t = s->topology;
    int64_t most = mesh_corner_count(t, t->vertex[corner]);
    int32_t here = corner, through = corner; // the edge to go on through: the one leaving the vertex first
    *normal = vec3d(0.0, 0.0, 0.0);
    for (int64_t step = 0; step < most; step++) {
        *normal = vec3d_add(*normal, vec3d_scale(face_normal(s, here / 3), corner_angle(s, here)));
        MeshNeighbour beside = mesh_neighbour(t, through);
        if (beside.edge < 0) return 0;
        // Its corner at the vertex, and its other edge there.
        int32_t starts = beside.edge, ends = mesh_next_corner(starts);
        here = t->vertex[starts] == t->vertex[corner] ? starts : ends;
        through = here == starts ? mesh_previous_corner(here) : here;
        if (here == corner) return 1;
    }
    return 0;
}

static int edge_normal(const SdfSigner *s, int32_t corner, Vec3d *normal)
{
    MeshNeighbour beside = mesh_neighbour(s->topology, corner);
    if (beside.edge < 0) return 0;
    *normal = vec3d_add(face_normal(s, corner / 3), face_normal(s, beside.edge / 3));
    return 1;
}

typedef enum Part { PART_FACE, PART_CORNER, PART_EDGE } Part;

// The closest point of a triangle (Ericson 2005, 5.1.5): the way from it to p, and what it lies on: the face, a corner
// or the edge that starts at that corner.
static Part closest_part(Vec3d p, const Vec3d c[3], int *corner, Vec3d *offset)
{
    Vec3d ab = vec3d_sub(c[1], c[0]), ac = vec3d_sub(c[2], c[0]);
    Vec3d ap = vec3d_sub(p, c[0]), bp = vec3d_sub(p, c[1]), cp = vec3d_sub(p, c[2]);
    double d1 = vec3d_dot(ab, ap), d2 = vec3d_dot(ac, ap), d3 = vec3d_dot(ab, bp), d4 = vec3d_dot(ac, bp);
    double d5 = vec3d_dot(ab, cp), d6 = vec3d_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2, v = 0.0, w = 0.0;
    Part part = PART_CORNER;
    if (d1 <= 0 && d2 <= 0)
        *corner = 0;
    else if (d3 >= 0 && d4 <= d3)
        *corner = 1, v = 1.0;
    else if (vc <= 0 && d1 >= 0 && d3 <= 0)
        part = PART_EDGE, *corner = 0, v = d1 / (d1 - d3);
    else if (d6 >= 0 && d5 <= d6)
        *corner = 2, w = 1.0;
    else if (vb <= 0 && d2 >= 0 && d6 <= 0)
        part = PART_EDGE, *corner = 2, w = d2 / (d2 - d6);
    else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
        part = PART_EDGE, *corner = 1, w = (d4 - d3) / ((d4 - d3) + (d5 - d6)), v = 1.0 - w;
    else
        part = PART_FACE, *corner = 0, v = vb / (va + vb + vc), w = vc / (va + vb + vc);
    *offset = vec3d_sub(ap, vec3d_add(vec3d_scale(ab, v), vec3d_scale(ac, w)));
    return part;
}

int sdf_side_by_normal(const SdfSigner *s, SdfNormals *normals, int32_t triangle, Vec3d place)
{
    const int32_t *v = s->topology->vertex + 3 * (int64_t)triangle;
    const Vec3d corners[3] = {place_of(s, v[0]), place_of(s, v[1]), place_of(s, v[2])};
    int corner;
    Vec3d offset;
    Part part = closest_part(place, corners, &corner, &offset);
    if (part == PART_FACE) return vec3d_dot(offset, face_normal(s, triangle)) < 0.0 ? -1 : 1;
    corner += 3 * triangle;
    uint32_t key = 1 + 2 * (uint32_t)corner + (part == PART_CORNER), slot = key * 2654435761u >> 26;
    if (normals->entry[slot].key != key) {
        Vec3d normal, own = face_normal(s, triangle);
        int known = part == PART_CORNER ? vertex_normal(s, corner, &normal) : edge_normal(s, corner, &normal);
        // A triangle without an area is nearest only where no other is as near: its edges say nothing.
        if (vec3d_dot(own, own) < 0.5) known = 0;
        normals->entry[slot].key = key;
        normals->entry[slot].known = known;
        normals->entry[slot].normal = normal;
    }
    if (!normals->entry[slot].known) return 0;
    return vec3d_dot(offset, normals->entry[slot].normal) < 0.0 ? -1 : 1;
}

// --- by the winding number ------------------------------------------------------------------------

void sdf_judge_by_winding(const void *user, const float *x, const float *y, const float *z, int64_t count,
                          uint8_t *inside)
{
    const SdfSigner *s = user;
    const MeshWinding *w = s->winding;
    double voxel = (double)s->sdf->voxel_size / w->scale;
    Vec3d first = vec3d_scale(vec3d_sub(vec3d_from(s->sdf->origin), w->centre), 1.0 / w->scale);
    enum { AT_ONCE = 64 };
    for (int64_t begin = 0; begin < count; begin += AT_ONCE) {
        int64_t used = count - begin < AT_ONCE ? count - begin : AT_ONCE;
        float px[AT_ONCE], py[AT_ONCE], pz[AT_ONCE], number[AT_ONCE];
        for (int64_t i = 0; i < used; i++) {
            px[i] = (float)(first.x + (double)x[begin + i] * voxel);
            py[i] = (float)(first.y + (double)y[begin + i] * voxel);
            pz[i] = (float)(first.z + (double)z[begin + i] * voxel);
        }
        SIMD_CALL(mesh_winding_at)(w, px, py, pz, used, number);
        // Around either way: what is closed but inside out is inside all the same.
        for (int64_t i = 0; i < used; i++) inside[begin + i] = fabsf(number[i]) > 0.5f;
    }
}

// The thirteen neighbours that come before a voxel, and how far they are.
static const struct {
    int8_t x, y, z;
    float way;
} earlier[13] = {{-1, 0, 0, 1.0f},        {0, -1, 0, 1.0f},          {0, 0, -1, 1.0f},         {-1, -1, 0, 1.41421356f},
                 {1, -1, 0, 1.41421356f}, {-1, 0, -1, 1.41421356f},  {1, 0, -1, 1.41421356f},  {0, -1, -1, 1.41421356f},
                 {0, 1, -1, 1.41421356f}, {-1, -1, -1, 1.73205081f}, {1, -1, -1, 1.73205081f}, {-1, 1, -1, 1.73205081f},
                 {1, 1, -1, 1.73205081f}};

// A neighbour for which no surface can lie on the way between: both distances together are longer than the way.
static int same_side_neighbour(const float *size, int x, int y, int z)
{
    float own = size[sdf_block_index(x, y, z)];
    for (int i = 0; i < 13; i++) {
        int nx = x + earlier[i].x, ny = y + earlier[i].y, nz = z + earlier[i].z;
        if (nx < 0 || ny < 0 || nz < 0 || nx > 7 || ny > 7) continue;
        float other = size[sdf_block_index(nx, ny, nz)];
        if (other < SDF_FAR && own + other > 1.001f * earlier[i].way) return nz * 64 + ny * 8 + nx;
    }
    return -1;
}

// Voxel -> whether it is inside, by the winding number; of those that are SDF_FAR nothing is said.
static void ask_block(const SdfSigner *s, int64_t block, uint8_t inside[512])
{
    const float *values = s->sdf->values + block * SDF_BLOCK_VALUES;
    float size[SDF_BLOCK_VALUES], x[512], y[512], z[512];
    int16_t asked[512]; // voxel -> the question whose answer holds for it
    uint8_t answers[512];
    int32_t corner[3];
    int64_t count = 0;
    sdf_block_corner(s->sdf, block, corner);
    for (int slot = 0; slot < 512; slot++) {
        int i = sdf_block_index(slot & 7, slot >> 3 & 7, slot >> 6);
        size[i] = values[i] == SDF_FAR ? SDF_FAR : fabsf(values[i]) / s->sdf->voxel_size;
    }
    for (int slot = 0; slot < 512; slot++) {
        int vx = slot & 7, vy = slot >> 3 & 7, vz = slot >> 6;
        asked[slot] = -1;
        if (size[sdf_block_index(vx, vy, vz)] == SDF_FAR) continue;
        int neighbour = s->closed ? same_side_neighbour(size, vx, vy, vz) : -1;
        if (neighbour >= 0) {
            asked[slot] = asked[neighbour];
            continue;
        }
        x[count] = (float)(corner[0] + vx), y[count] = (float)(corner[1] + vy), z[count] = (float)(corner[2] + vz);
        asked[slot] = (int16_t)count++;
    }
    sdf_judge_by_winding(s, x, y, z, count, answers);
    for (int slot = 0; slot < 512; slot++) inside[slot] = asked[slot] >= 0 && answers[asked[slot]];
}

void sdf_sign_by_winding(const SdfSigner *s, int64_t block)
{
    float *values = s->sdf->values + block * SDF_BLOCK_VALUES;
    uint8_t inside[512];
    ask_block(s, block, inside);
    for (int slot = 0; slot < 512; slot++) {
        float *value = &values[sdf_block_index(slot & 7, slot >> 3 & 7, slot >> 6)];
        if (*value != SDF_FAR) *value = inside[slot] ? -fabsf(*value) : fabsf(*value);
    }
}

int64_t sdf_count_wrong_sides(const SdfSigner *s, int64_t block)
{
    const float *values = s->sdf->values + block * SDF_BLOCK_VALUES;
    float on_surface = ON_SURFACE * s->sdf->voxel_size;
    int64_t count = 0;
    uint8_t inside[512];
    ask_block(s, block, inside);
    for (int slot = 0; slot < 512; slot++) {
        float value = values[sdf_block_index(slot & 7, slot >> 3 & 7, slot >> 6)];
        count += fabsf(value) > on_surface && value < SDF_FAR && (value < 0.0f) != inside[slot];
    }
    return count;
}
