// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Triangle meshes: checked, measured, read from files.
#include "grain/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Borrowed for the duration of the call; the library copies what it keeps.
typedef struct GrainMesh {
    const float *positions;   ///< m, xyz, 3 * vertex_count
    const int32_t *triangles; ///< 3 * triangle_count, outward winding
    int64_t vertex_count, triangle_count;
} GrainMesh;

/// Counts of everything that may be wrong with a mesh. For a clean mesh, open_shells to non_orientable_shells are 0.
typedef struct GrainMeshReport {
    uint32_t struct_size;
    int32_t closed; ///< 1: every edge has exactly two triangles with consistent winding
    int64_t vertices, triangles;
    int64_t shells;               ///< separate surfaces
    int64_t open_shells;          ///< shells with holes or non-manifold edges
    int64_t inside_out_shells;    ///< shells whose normals point inwards; does not count cavities, whose normals should
    int64_t non_finite_vertices;  ///< with a NaN or infinite coordinate
    int64_t broken_triangles;     ///< with an index out of range or a non-finite vertex
    int64_t degenerate_triangles; ///< with zero area
    int64_t duplicate_triangles;  ///< with the same corners as another triangle
    int64_t duplicate_vertices;   ///< at exactly the position of another vertex
    int64_t loose_vertices;       ///< in no triangle
    int64_t open_edges;           ///< edges of one triangle; this and the next two counts merge duplicate vertices
    int64_t non_manifold_edges;   ///< edges of three or more triangles
    int64_t flipped_edges;        ///< edges of two triangles with opposite winding
    int64_t flipped_triangles;    ///< triangles to flip for a consistent winding
    int64_t non_orientable_shells; ///< shells that cannot be wound consistently (a Moebius strip)
    double area;                   ///< m^2
    double volume;                 ///< m^3, of all shells, with holes closed by a fan
    double low[3], high[3];        ///< m, bounding box of all triangles
} GrainMeshReport;

/// Fills the report. Defects of the mesh are the result, not an error; the call fails only without arrays or memory.
/// The caller sets report->struct_size.
GRAIN_API GrainResult grain_mesh_check(const GrainMesh *mesh, const GrainRun *run, GrainMeshReport *report);
/// The report as text for an artist: one line per finding, with the remedy in Blender's terms. Truncated to size bytes,
/// including the terminating zero.
GRAIN_API GrainResult grain_mesh_report_text(const GrainMeshReport *report, char *buffer, int64_t size);

/// Of a solid of uniform density.
typedef struct GrainMassProperties {
    uint32_t struct_size;
    uint32_t reserved; ///< 0
    double mass;       ///< kg
    double volume;     ///< m^3
    double centre[3];  ///< m, of mass
    double inertia[9]; ///< kg m^2, about the centre, in world axes, row-major
} GrainMassProperties;

/// Integrates over the surface (Mirtich 1996). Flipped triangles and inside-out shells are corrected first, and holes
/// are closed by a fan. Shells with more hole than surface are used only if there are no others. The overlap of two
/// shells counts twice. Fails with GRAIN_ERROR_MESH if the mesh encloses no volume. density is in kg/m^3. The caller
/// sets out->struct_size.
GRAIN_API GrainResult grain_mesh_mass(const GrainMesh *mesh, double density, GrainMassProperties *out);

/// A mesh read from an .obj, .ply or .stl file (text or binary). Polygons are split into triangles, and coincident
/// corners of an STL file are merged. The view is valid until grain_mesh_file_destroy.
typedef struct GrainMeshFile GrainMeshFile;
GRAIN_API GrainResult grain_mesh_file_read(const char *path, GrainMeshFile **out);
GRAIN_API void grain_mesh_file_destroy(GrainMeshFile *file);
GRAIN_API GrainResult grain_mesh_file_view(const GrainMeshFile *file, GrainMesh *out);

#ifdef __cplusplus
}
#endif
