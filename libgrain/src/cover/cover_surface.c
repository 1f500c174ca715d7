// SPDX-License-Identifier: GPL-3.0-or-later
#include "cover/cover_surface.h"
#include "base/real.h"

#include <stddef.h>

// Parts of a triangle, in the numbering of CoverMesh: 0 to 2 the edge that starts at that corner, 3 to 5 a corner.
enum { PART_EDGE = 0, PART_CORNER = 3, PART_FACE = 6 };
// Nearer than this, in parts of the triangle, is on the edge.
#define ON_EDGE 1e-5f
// A point so near to the mesh (in spacings) does not tell a direction.
#define NO_DIRECTION 1e-4f
// Places at most this far (in spacings) from the surface are on it; a fiftieth of what is asked for.
#define ON_SURFACE 2e-4f
// So far (in spacings) from a face is near enough to it, whatever else may be nearer.
#define SAME_LAYER 0.05f
#define SAMPLE_BLOCK 256

static int part_of(MeshPoint point)
{
    float u = 1.0f - point.v - point.w;
    if (u >= 1.0f - ON_EDGE) return PART_CORNER;
    if (point.v >= 1.0f - ON_EDGE) return PART_CORNER + 1;
    if (point.w >= 1.0f - ON_EDGE) return PART_CORNER + 2;
    if (point.w <= ON_EDGE) return PART_EDGE;
    if (u <= ON_EDGE) return PART_EDGE + 1;
    if (point.v <= ON_EDGE) return PART_EDGE + 2;
    return PART_FACE;
}

static Vec3 normal_at(const CoverMesh *mesh, int32_t leaf_triangle, int part)
{
    if (part == PART_FACE || !mesh->edge_normal) return mesh->face_normal[leaf_triangle];
    return part >= PART_CORNER ? mesh->corner_normal[3 * leaf_triangle + part - PART_CORNER]
                               : mesh->edge_normal[3 * leaf_triangle + part - PART_EDGE];
}

static int is_on_rim(const CoverMesh *mesh, int32_t leaf_triangle, int part)
{
    if (part == PART_FACE) return 0;
    return part >= PART_CORNER ? mesh->rim[3 * leaf_triangle + part - PART_CORNER] & COVER_OPEN_CORNER
                               : mesh->rim[3 * leaf_triangle + part - PART_EDGE] & COVER_OPEN_EDGE;
}

static inline Vec3 get(float *const column[3], int64_t i) { return vec3(column[0][i], column[1][i], column[2][i]); }
static inline void set(float *const column[3], int64_t i, Vec3 v)
{
    column[0][i] = v.x, column[1][i] = v.y, column[2][i] = v.z;
}

// Where the surface at the given offset has the mesh's point `foot` nearest to it, seen from place.
static Vec3 above_point(const CoverSurface *surface, Vec3 place, Vec3 foot, MeshPoint point, Vec3 *normal)
{
    const CoverMesh *mesh = surface->mesh;
    int part = part_of(point);
    *normal = normal_at(mesh, point.leaf_triangle, part);
    float offset = surface->offset;
    if (offset == 0.0f) return foot;
    Vec3 away = vec3_sub(place, foot);
    float distance = vec3_length(away), side = vec3_dot(away, *normal) < 0.0f ? -1.0f : 1.0f;
    // Beyond an edge the surface is a piece of a cylinder or sphere around it; a sheet ends at its rim.
    if (part != PART_FACE && distance > NO_DIRECTION && side * offset > 0.0f &&
        !is_on_rim(mesh, point.leaf_triangle, part))
        *normal = vec3_scale(away, side / distance);
    return vec3_add_scaled(foot, *normal, offset);
}

// Distance of a place from the surface, when foot is the mesh's nearest point.
static float distance_left(const CoverSurface *surface, MeshPoint point)
{
    return fabsf(sqrtf(point.distance_squared) - fabsf(surface->offset));
}

static void project_to_mesh(const CoverSurface *surface, const CoverPlaces *places, int64_t first, int64_t end,
                            int passes)
{
    const MeshTree *tree = &surface->mesh->tree;
    float *const *p = places->position;
    float enough = surface->offset == 0.0f ? SAME_LAYER : 0.0f;
    mesh_tree_nearest(tree, p[0] + first, p[1] + first, p[2] + first, end - first, enough, places->point + first);
    for (int64_t i = first; i < end; i++) {
        for (int pass = 0;; pass++) {
            MeshPoint *point = &places->point[i];
            Vec3 normal, place = get(p, i), foot = mesh_tree_place(tree, *point);
            set(p, i, above_point(surface, place, foot, *point, &normal));
            set(places->normal, i, normal);
            places->distance[i] = 0.0f;
            if (surface->offset == 0.0f) break;
            // In a concave corner another part of the mesh may be nearer now.
            mesh_tree_nearest(tree, p[0] + i, p[1] + i, p[2] + i, 1, 0.0f, point);
            places->distance[i] = distance_left(surface, *point);
            if (places->distance[i] < ON_SURFACE || pass + 1 >= passes) break;
        }
    }
}

static void project_to_field(const CoverSurface *surface, const CoverPlaces *places, int64_t first, int64_t end,
                             int passes)
{
    float distance[SAMPLE_BLOCK], slope[3][SAMPLE_BLOCK];
    float *const *p = places->position;
    for (int pass = 0; pass < passes; pass++) {
        int left = 0;
        sdf_sample(&surface->sdf, p[0] + first, p[1] + first, p[2] + first, end - first, distance, slope[0], slope[1],
                   slope[2]);
        for (int64_t i = first; i < end; i++) {
            Vec3 g =
                vec3_scale(vec3(slope[0][i - first], slope[1][i - first], slope[2][i - first]), surface->sdf_scale);
            float off = distance[i - first] * surface->sdf_scale - surface->offset;
            float length = vec3_length(g);
            places->distance[i] = fabsf(off);
            if (length > 0.0f) set(places->normal, i, vec3_scale(g, 1.0f / length));
            if (fabsf(off) < ON_SURFACE) continue;
            // Newton's step, held back where the field is folded and its slope too small to be trusted.
            set(p, i, vec3_add_scaled(get(p, i), g, -off / real_maxf(length * length, 0.25f)));
            left = 1;
        }
        if (!left) return;
    }
}

void cover_surface_project(const CoverSurface *surface, const CoverPlaces *places, int64_t first, int64_t end,
                           int passes)
{
    for (int64_t from = first; from < end; from += SAMPLE_BLOCK) {
        int64_t to = from + SAMPLE_BLOCK < end ? from + SAMPLE_BLOCK : end;
        if (surface->mesh)
            project_to_mesh(surface, places, from, to, passes);
        else
            project_to_field(surface, places, from, to, passes);
    }
}

int cover_surface_is_buried(const CoverSurface *surface, Vec3 place, Vec3 normal, int32_t leaf_triangle)
{
    if (surface->sdf_scale == 0.0f || !surface->mesh || !surface->mesh->solid[leaf_triangle]) return 0;
    float reach = 0.5f * surface->sdf.voxel_size, offset = surface->offset;
    return sdf_sample_point(&surface->sdf, vec3_add_scaled(place, normal, reach - offset), NULL) < 0.0f &&
           sdf_sample_point(&surface->sdf, vec3_add_scaled(place, normal, -reach - offset), NULL) < 0.0f;
}
