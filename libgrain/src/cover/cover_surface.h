// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The surface that particles are spread over: a mesh moved along its normals, or a level of a distance field.
///
/// Positions and lengths are in spacings (the distance of neighbours in a perfect cover) from the middle of the
/// surface, so that a micrometre-sized object and a mountain far from the origin are treated alike.
#include "base/run.h"
#include "mesh/mesh_tree.h"
#include "sdf/sdf_classify.h"

typedef struct CoverFrame {
    double centre[3]; ///< m
    double spacing;   ///< m
} CoverFrame;

static inline Vec3 cover_to_local(const CoverFrame *frame, const float *p)
{
    double s = 1.0 / frame->spacing;
    return vec3((float)(((double)p[0] - frame->centre[0]) * s), (float)(((double)p[1] - frame->centre[1]) * s),
                (float)(((double)p[2] - frame->centre[2]) * s));
}

static inline void cover_to_world(const CoverFrame *frame, Vec3 p, float *out)
{
    out[0] = (float)(frame->centre[0] + (double)p.x * frame->spacing);
    out[1] = (float)(frame->centre[1] + (double)p.y * frame->spacing);
    out[2] = (float)(frame->centre[2] + (double)p.z * frame->spacing);
}

/// Triangles with an area, in the order of the tree's leaf triangles.
typedef struct CoverMesh {
    MeshTree tree;
    int64_t count;       ///< leaf triangles
    double area;         ///< of all of them, in spacings^2
    int32_t *triangle;   ///< leaf triangle -> the mesh's triangle
    uint8_t *solid;      ///< leaf triangle -> 1 if its shell is closed and so has an inside
    int64_t solid_count; ///< how many are
    Vec3 *face_normal;   ///< leaf triangle -> unit, outward
    Vec3 *edge_normal; ///< 3 * leaf triangle + corner the edge starts at -> unit, mean of both faces (Baerentzen 2002)
    Vec3 *corner_normal; ///< 3 * leaf triangle + corner -> unit, mean of the faces around, weighted by their angles
    uint8_t *rim;        ///< 3 * leaf triangle + corner: COVER_OPEN_EDGE, COVER_OPEN_CORNER
    SdfClassified parts;
} CoverMesh;
#define COVER_OPEN_EDGE 1   ///< nothing beyond the edge that starts at this corner
#define COVER_OPEN_CORNER 2 ///< the corner is on a rim

typedef struct CoverSurface {
    CoverFrame frame;
    float offset;              ///< in spacings
    const CoverMesh *mesh;     ///< NULL: the distance field is the surface
    GrainSdf sdf;              ///< the caller's field in the frame's coordinates; values are in metres
    float sdf_scale;           ///< from metres to spacings; 0: no field
    int32_t starts_from_field; ///< the surface is a level of the field
    int32_t has_buried;        ///< a part lies inside another: keep particles out of it
} CoverSurface;

/// A place on the surface and what is known about it.
typedef struct CoverPlaces {
    float *position[3];
    float *normal[3]; ///< unit, outward
    MeshPoint *point; ///< nearest point of the mesh; its leaf triangle is the next search's guess
    float *distance;  ///< remaining distance from the surface
} CoverPlaces;

/// Projects places [first, end) onto the surface in at most `passes` steps. One step is exact if the surface is the
/// mesh itself; otherwise more are needed near edges. Single-threaded; callers split their places into blocks.
void cover_surface_project(const CoverSurface *surface, const CoverPlaces *places, int64_t first, int64_t end,
                           int passes);

/// Whether the mesh below this place of the surface lies inside another part of it, where no sand can reach.
int cover_surface_is_buried(const CoverSurface *surface, Vec3 place, Vec3 normal, int32_t leaf_triangle);

/// Only the tree and the face normals, which suffice for a surface without an offset if `solid` is not used.
GrainResult cover_mesh_build_tree(CoverMesh *to, const GrainMesh *mesh, const CoverFrame *frame, int threads);
/// Updates the triangles to moved vertices.
GrainResult cover_mesh_refit(CoverMesh *to, const GrainMesh *mesh, const CoverFrame *frame, int threads);
/// Tree, face normals and `solid`, in the coordinates of the frame.
GrainResult cover_mesh_build(CoverMesh *to, const GrainMesh *mesh, const CoverFrame *frame, Run *run);
/// Turns the normals of solid parts outward, according to the surface's field (if any), then computes the normals of
/// edges and corners. May be called again with a better field.
GrainResult cover_mesh_finish(CoverMesh *to, const CoverSurface *surface, int threads);
/// Flips all normals.
void cover_mesh_turn(CoverMesh *mesh);
void cover_mesh_free(CoverMesh *mesh);
