// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/rigid/rigid_surface.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "mesh/mesh_order.h"

#include <math.h>

// Triangles whose nearest points differ by less than this part of the distance share it: an edge or a corner of the
// mesh.
#define SAME_POINT 1e-3f
// Of the coordinates: what rounding makes of the same point.
#define ROUNDING 1e-6f
// Normals that agree better than this (cosine) belong to one wall.
#define SAME_WALL 0.9f
// Cosine to a sheet's normal below which a place is beyond the rim rather than behind the sheet.
#define BEHIND 0.7f
// Cosine from which a normal known from before belongs to the same part of a sheet.
#define SAME_SIDE 0.6f
// Of a triangle's size: nearer than this to its rim a point belongs to the rim.
#define RIM 1e-4f
#define STRAIGHT 0.995f
enum { MAX_NEAR = 64 };

GrainResult rigid_surface_create(RigidSurface *surface, const GrainMesh *mesh, int threads)
{
    *surface = (RigidSurface){0};
    GrainMeshReport report = {.struct_size = sizeof report};
    GrainRun run = {sizeof run, threads, NULL, NULL};
    TRY(grain_mesh_check(mesh, &run, &report));
    surface->is_closed = report.closed;
    int64_t count;
    GrainResult result = mesh_order(mesh, NULL, threads, &surface->triangle, &count);
    surface->corners = result == GRAIN_OK ? ALLOC(Vec3, 3 * count) : NULL;
    if (result == GRAIN_OK && !surface->corners) result = GRAIN_ERROR_MEMORY;
    for (int64_t leaf_triangle = 0; result == GRAIN_OK && leaf_triangle < count; leaf_triangle++)
        for (int c = 0; c < 3; c++)
            surface->corners[3 * leaf_triangle + c] = mesh_vertex(mesh, surface->triangle[leaf_triangle], c);
    if (result == GRAIN_OK) result = mesh_tree_build(&surface->tree, surface->corners, count, threads);
    if (result == GRAIN_OK)
        rigid_surface_refit(surface, threads);
    else
        rigid_surface_free(surface);
    return result;
}

void rigid_surface_free(RigidSurface *surface)
{
    mesh_tree_free(&surface->tree);
    alloc_free(surface->triangle);
    alloc_free(surface->corners);
    *surface = (RigidSurface){0};
}

void rigid_surface_refit(RigidSurface *surface, int threads)
{
    mesh_tree_refit(&surface->tree, surface->corners, threads);
    surface->low = surface->high = surface->corners[0];
    for (int64_t i = 1; i < 3 * surface->tree.triangle_count; i++) {
        surface->low = vec3_min(surface->low, surface->corners[i]);
        surface->high = vec3_max(surface->high, surface->corners[i]);
    }
}

// --- nearest points -------------------------------------------------------------------------------

typedef struct Near {
    int32_t leaf_triangle;
    float v, w, squared; // place in the triangle; distance
    Vec3 foot, face;     // unit normal of the face, 0 where it has none
} Near;

typedef struct Search {
    const RigidSurface *surface;
    Vec3 place;
    float reach;
    Near near[MAX_NEAR]; // in no order; when there are too many, the farthest is dropped
    int count;
} Search;

// Ericson, Real-Time Collision Detection, 5.1.5: by the region of the triangle's plane the place projects into.
static void nearest_in_triangle(Vec3 place, Vec3 a, Vec3 ab, Vec3 ac, float *v, float *w)
{
    Vec3 ap = vec3_sub(place, a);
    float d1 = vec3_dot(ab, ap), d2 = vec3_dot(ac, ap);
    *v = *w = 0.0f;
    if (d1 <= 0.0f && d2 <= 0.0f) return;
    Vec3 bp = vec3_sub(ap, ab);
    float d3 = vec3_dot(ab, bp), d4 = vec3_dot(ac, bp);
    if (d3 >= 0.0f && d4 <= d3) {
        *v = 1.0f;
        return;
    }
    float vc = d1 * d4 - d3 * d2;
    if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) {
        *v = d1 / (d1 - d3);
        return;
    }
    Vec3 cp = vec3_sub(ap, ac);
    float d5 = vec3_dot(ab, cp), d6 = vec3_dot(ac, cp);
    if (d6 >= 0.0f && d5 <= d6) {
        *w = 1.0f;
        return;
    }
    float vb = d5 * d2 - d1 * d6;
    if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) {
        *w = d2 / (d2 - d6);
        return;
    }
    float va = d3 * d6 - d5 * d4;
    if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f) {
        *w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        *v = 1.0f - *w;
        return;
    }
    float sum = va + vb + vc;
    if (!(sum > 0.0f)) return;
    *v = vb / sum, *w = vc / sum;
}

static Near near_of(const RigidSurface *surface, Vec3 place, int32_t leaf_triangle)
{
    Vec3 a, ab, ac;
    mesh_tree_corners(&surface->tree, leaf_triangle, &a, &ab, &ac);
    Near near = {.leaf_triangle = leaf_triangle};
    nearest_in_triangle(place, a, ab, ac, &near.v, &near.w);
    near.foot = vec3_add_scaled(vec3_add_scaled(a, ab, near.v), ac, near.w);
    Vec3 apart = vec3_sub(place, near.foot);
    near.squared = vec3_dot(apart, apart);
    near.face = vec3_normalize(vec3_cross(ab, ac), vec3(0, 0, 0));
    return near;
}

static int visit(void *user, int32_t leaf_triangle)
{
    Search *search = user;
    if (leaf_triangle >= search->surface->tree.triangle_count) return 0;
    Near near = near_of(search->surface, search->place, leaf_triangle);
    if (near.squared > search->reach * search->reach) return 0;
    if (search->count < MAX_NEAR) {
        search->near[search->count++] = near;
        return 0;
    }
    int farthest = 0;
    for (int i = 1; i < MAX_NEAR; i++)
        if (search->near[i].squared > search->near[farthest].squared) farthest = i;
    if (near.squared < search->near[farthest].squared) search->near[farthest] = near;
    return 0;
}

static void search_around(Search *search, const RigidSurface *surface, Vec3 place, float reach)
{
    search->surface = surface;
    search->place = place;
    search->reach = reach;
    search->count = 0; // and so nothing in `near` yet
    mesh_tree_visit(&surface->tree, place, reach, visit, search);
}

// The angle a triangle has at a point of its rim counts how much of the outside there is its own (Baerentzen and Aanaes
// 2005): a corner's own, half a turn on an edge, a whole one inside.
static float angle_at(const RigidSurface *surface, const Near *near)
{
    Vec3 a, ab, ac;
    mesh_tree_corners(&surface->tree, near->leaf_triangle, &a, &ab, &ac);
    float u = 1.0f - near->v - near->w;
    int at_a = u > 1.0f - RIM, at_b = near->v > 1.0f - RIM, at_c = near->w > 1.0f - RIM;
    if (!at_a && !at_b && !at_c) return u > RIM && near->v > RIM && near->w > RIM ? 6.2831853f : 3.1415927f;
    Vec3 first = at_a ? ab : at_b ? vec3_sub(ac, ab) : vec3_scale(ac, -1.0f);
    Vec3 second = at_a ? ac : at_b ? vec3_scale(ab, -1.0f) : vec3_sub(ab, ac);
    Vec3 none = {0, 0, 0};
    float cosine = vec3_dot(vec3_normalize(first, none), vec3_normalize(second, none));
    return real_acosf(real_maxf(-1.0f, real_minf(1.0f, cosine)));
}

// The mesh's outward direction at its nearest point, from all faces that meet there.
static Vec3 outward_at(const Search *search, const Near *nearest)
{
    Vec3 sum = {0, 0, 0};
    Vec3 size = {fabsf(search->place.x), fabsf(search->place.y), fabsf(search->place.z)};
    float tolerance = SAME_POINT * sqrtf(nearest->squared) + ROUNDING * (size.x + size.y + size.z);
    for (int i = 0; i < search->count; i++) {
        const Near *near = &search->near[i];
        Vec3 apart = vec3_sub(near->foot, nearest->foot);
        if (vec3_dot(apart, apart) > tolerance * tolerance) continue;
        sum = vec3_add_scaled(sum, near->face, angle_at(search->surface, near));
    }
    return vec3_normalize(sum, nearest->face);
}

// Straight above or below a face the surface's own normal is taken: the direction to a place that is a millionth of a
// radius away is mostly rounding.
static RigidPlane plane_at(const Near *near, Vec3 apart, Vec3 outward)
{
    RigidPlane plane = {.foot = near->foot, .leaf_triangle = near->leaf_triangle, .v = near->v, .w = near->w};
    float distance = sqrtf(near->squared), along = vec3_dot(apart, outward);
    if (fabsf(along) >= STRAIGHT * distance) {
        plane.normal = outward;
        plane.distance = along;
        return plane;
    }
    float sign = along < 0.0f ? -1.0f : 1.0f;
    plane.normal = vec3_scale(apart, sign / distance);
    plane.distance = sign * distance;
    return plane;
}

// Never by the order they were met in. Among those as near as rounding can tell, the one the place is straight above:
// beside an edge, a face seen from its rim says nothing about inside and outside.
static int is_nearer(const Near *a, const Near *b, Vec3 place)
{
    float margin = 2.0f * SAME_POINT * b->squared;
    if (fabsf(a->squared - b->squared) > margin) return a->squared < b->squared;
    float straight_a = fabsf(vec3_dot(vec3_sub(place, a->foot), a->face));
    float straight_b = fabsf(vec3_dot(vec3_sub(place, b->foot), b->face));
    return straight_a != straight_b ? straight_a > straight_b : a->leaf_triangle < b->leaf_triangle;
}

// Of a sheet: towards the side the place has come from, or where that is not known, towards where it is.
static Vec3 sheet_normal(const Near *near, Vec3 apart, const Vec3 *sides, int side_count)
{
    float along = vec3_dot(apart, near->face), surest = SAME_SIDE;
    for (int i = 0; i < side_count; i++) {
        float agrees = vec3_dot(sides[i], near->face);
        if (fabsf(agrees) > surest) surest = fabsf(agrees), along = agrees;
    }
    Vec3 outward = vec3_scale(near->face, along < 0.0f ? -1.0f : 1.0f);
    // Past its rim nothing is behind it.
    if (vec3_dot(apart, outward) > -BEHIND * sqrtf(near->squared)) outward = vec3_normalize(apart, outward);
    return outward;
}

static int is_beside(const RigidSurface *surface, Vec3 place, float reach)
{
    return place.x < surface->low.x - reach || place.x > surface->high.x + reach || place.y < surface->low.y - reach ||
           place.y > surface->high.y + reach || place.z < surface->low.z - reach || place.z > surface->high.z + reach;
}

static int is_inside_face(float v, float w) { return v > RIM && w > RIM && v + w < 1.0f - RIM; }

static Vec3 outward_from(const Search *search, const Near *near, Vec3 apart, const Vec3 *sides, int side_count)
{
    if (!search->surface->is_closed) return sheet_normal(near, apart, sides, side_count);
    return is_inside_face(near->v, near->w) ? near->face : outward_at(search, near);
}

int rigid_surface_planes(const RigidSurface *surface, Vec3 place, float reach, const Vec3 *sides, int side_count,
                         RigidPlane *planes, int room)
{
    if (is_beside(surface, place, reach)) return 0;
    Search search;
    search_around(&search, surface, place, reach);
    int count = 0;
    for (int rank = 0; rank < search.count && count < room; rank++) {
        int best = -1;
        for (int i = 0; i < search.count; i++)
            if (search.near[i].squared >= 0.0f && (best < 0 || is_nearer(&search.near[i], &search.near[best], place)))
                best = i;
        if (best < 0) break;
        Near *near = &search.near[best];
        Vec3 apart = vec3_sub(place, near->foot);
        RigidPlane plane = plane_at(near, apart, outward_from(&search, near, apart, sides, side_count));
        near->squared = -1.0f - near->squared; // done with
        // Beyond the nearest, only walls the place stands right in front of count: of others the rim is no wall.
        int is_known = count > 0 && fabsf(vec3_dot(plane.normal, near->face)) < 0.99f;
        for (int i = 0; i < count; i++) is_known |= vec3_dot(planes[i].normal, plane.normal) > SAME_WALL;
        if (!is_known) planes[count++] = plane;
    }
    return count;
}

int rigid_surface_plane(const RigidSurface *surface, Vec3 place, float reach, int32_t guess, const Vec3 *side,
                        RigidPlane *plane)
{
    if (is_beside(surface, place, reach)) return 0;
    MeshPoint nearest = mesh_tree_within(&surface->tree, place, reach, guess);
    if (nearest.leaf_triangle < 0) return 0;
    if (surface->is_closed && is_inside_face(nearest.v, nearest.w)) {
        Near face = near_of(surface, place, nearest.leaf_triangle);
        *plane = plane_at(&face, vec3_sub(place, face.foot), face.face);
        return 1;
    }
    // What meets in that point, or is as near as rounding can tell.
    float rounding = ROUNDING * (fabsf(place.x) + fabsf(place.y) + fabsf(place.z));
    float about = sqrtf(nearest.distance_squared) * (1.0f + 2.0f * SAME_POINT) + rounding;
    Search search;
    search_around(&search, surface, place, about);
    int best = 0;
    for (int i = 1; i < search.count; i++)
        if (is_nearer(&search.near[i], &search.near[best], place)) best = i;
    if (search.count == 0) return 0;
    const Near *near = &search.near[best];
    Vec3 apart = vec3_sub(place, near->foot);
    *plane = plane_at(near, apart, outward_from(&search, near, apart, side, side != NULL));
    return 1;
}
