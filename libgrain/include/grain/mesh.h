// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Triangle meshes: reading, checking, mass properties.
#include "grain/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The caller keeps the arrays alive for the length of the call; the library copies what it needs later.
typedef struct GrainMesh {
    const float *positions;   ///< m, xyz, 3 * vertex_count numbers
    const int32_t *triangles; ///< vertex indices, 3 * triangle_count; counter-clockwise seen from outside
    int64_t vertex_count, triangle_count;
} GrainMesh;

/// Every defect of a mesh, counted. All counters from open_shells to non_orientable_shells are zero for a clean mesh.
typedef struct GrainMeshReport {
    uint32_t struct_size;
    int32_t closed; ///< 1: every edge has exactly two triangles, and they agree about which side is outside
    int64_t vertices, triangles;
    int64_t shells;                ///< connected parts of the surface
    int64_t open_shells;           ///< shells with holes or non-manifold edges
    int64_t inside_out_shells;     ///< shells whose normals point inwards, except cavities, where that is correct
    int64_t non_finite_vertices;   ///< a coordinate is NaN, infinite or beyond 1e37 m
    int64_t broken_triangles;      ///< an index is out of range or refers to a non-finite vertex
    int64_t degenerate_triangles;  ///< zero area
    int64_t duplicate_triangles;   ///< same corners as another triangle
    int64_t duplicate_vertices;    ///< exactly the same position as another vertex
    int64_t loose_vertices;        ///< not used by any triangle
    int64_t open_edges;            ///< one triangle. Edges are counted with duplicate vertices merged.
    int64_t non_manifold_edges;    ///< three or more triangles
    int64_t flipped_edges;         ///< two triangles with contradictory winding
    int64_t flipped_triangles;     ///< triangles to reverse to make the winding consistent
    int64_t non_orientable_shells; ///< shells for which that is impossible, such as a Moebius strip
    double area;                   ///< m^2
    double volume;                 ///< m^3 enclosed by all shells; holes are closed with a triangle fan
    double low[3], high[3];        ///< m, bounding box of all triangles
} GrainMeshReport;

/// Checks a mesh. Defects are the result, not an error; the call fails only without arrays or without memory. The
/// caller sets report->struct_size.
GRAIN_API GrainResult grain_mesh_check(const GrainMesh *mesh, const GrainRun *run, GrainMeshReport *report);
/// The report as text for an artist: one line per kind of defect, with the remedy in Blender's terms. Cut to fit;
/// always ends with a zero byte.
GRAIN_API GrainResult grain_mesh_report_text(const GrainMeshReport *report, char *buffer, int64_t size);

/// Mass properties of a solid of uniform density.
typedef struct GrainMassProperties {
    uint32_t struct_size;
    uint32_t reserved; ///< 0
    double mass;       ///< kg
    double volume;     ///< m^3
    double centre[3];  ///< m, centre of mass
    double inertia[9]; ///< kg m^2, about the centre of mass, along the world axes, row-major
} GrainMassProperties;

/// Integrates over the surface (Mirtich 1996). Defects are repaired on the way: the winding is made consistent,
/// inside-out shells are turned, holes are closed with a triangle fan. Shells that consist mostly of a hole only count
/// if there are no others. Where shells overlap, the overlap counts twice. GRAIN_ERROR_MESH if no volume is enclosed.
/// density in kg/m^3. The caller sets out->struct_size.
GRAIN_API GrainResult grain_mesh_mass(const GrainMesh *mesh, double density, GrainMassProperties *out);

/// A mesh file: .obj, .ply or .stl, text or binary. Faces with more than three corners are triangulated; identical
/// corners of an STL file are merged into one vertex.
typedef struct GrainMeshFile GrainMeshFile;
GRAIN_API GrainResult grain_mesh_file_read(const char *path, GrainMeshFile **out);
GRAIN_API void grain_mesh_file_destroy(GrainMeshFile *file);
/// The view is valid until grain_mesh_file_destroy.
GRAIN_API GrainResult grain_mesh_file_view(const GrainMeshFile *file, GrainMesh *out);

#ifdef __cplusplus
}
#endif
