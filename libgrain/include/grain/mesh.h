// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Triangle meshes as they come from the artist.
#include "grain/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Borrowed for the length of the call; the library copies what it keeps.
typedef struct GrainMesh {
    const float *positions;   ///< m, xyz, 3 * vertex_count
    const int32_t *triangles; ///< 3 * triangle_count, outward winding
    int64_t vertex_count, triangle_count;
} GrainMesh;

/// What is wrong with a mesh, counted. All zero but the first lines: nothing is.
typedef struct GrainMeshReport {
    uint32_t struct_size;
    int32_t closed; ///< 1: every edge has two triangles that agree on what is outside.
    int64_t vertices, triangles;
    int64_t shells;                ///< separate surfaces
    int64_t open_shells;           ///< of these, such with holes or edges of three triangles
    int64_t inside_out_shells;     ///< of these, such whose normals point inwards; cavities are right that way
    int64_t non_finite_vertices;   ///< nowhere: not a number, or infinite
    int64_t broken_triangles;      ///< that name a vertex which is not there, or one that is nowhere
    int64_t degenerate_triangles;  ///< without an area
    int64_t duplicate_triangles;   ///< with the same corners as another one
    int64_t duplicate_vertices;    ///< at exactly the same place as another one
    int64_t loose_vertices;        ///< in no triangle
    int64_t open_edges;            ///< with one triangle. These three are counted with duplicate vertices taken as one.
    int64_t non_manifold_edges;    ///< with three triangles or more
    int64_t flipped_edges;         ///< with two whose windings disagree
    int64_t flipped_triangles;     ///< to be turned for all to agree
    int64_t non_orientable_shells; ///< for which no turning helps (a Moebius strip)
    double area;                   ///< m^2
    double volume;                 ///< m^3, of all shells, holes closed by a fan
    double low[3], high[3];        ///< m, box around all triangles
} GrainMeshReport;

/// Counts. Fails only where there is nothing to look at (no arrays, memory): what is wrong with the mesh is the result.
/// report->struct_size is set by the caller.
GRAIN_API GrainResult grain_mesh_check(const GrainMesh *mesh, const GrainRun *run, GrainMeshReport *report);
/// The report in words for an artist, a line for each finding, with the remedy in Blender's terms. Cut to fit; always
/// ends with a zero byte.
GRAIN_API GrainResult grain_mesh_report_text(const GrainMeshReport *report, char *buffer, int64_t size);

/// Of a body that fills the mesh evenly.
typedef struct GrainMassProperties {
    uint32_t struct_size;
    uint32_t reserved; ///< 0
    double mass;       ///< kg
    double volume;     ///< m^3
    double centre[3];  ///< m, of mass
    double inertia[9]; ///< kg m^2, about the centre, along the world's axes, row by row
} GrainMassProperties;

/// By integrating over the surface (Mirtich 1996). Turned triangles are turned back, inside-out shells are taken as if
/// they were not, holes are closed by a fan; shells that are more hole than surface count only where there are no
/// others; shells that overlap count twice where they do. GRAIN_ERROR_MESH when there is no volume. density in kg/m^3.
/// out->struct_size is set by the caller.
GRAIN_API GrainResult grain_mesh_mass(const GrainMesh *mesh, double density, GrainMassProperties *out);

/// A mesh from a file: .obj, .ply or .stl (text and binary). Faces of more than three corners are cut into triangles,
/// an STL's corners at one place become one vertex. The view is valid until grain_mesh_file_destroy.
typedef struct GrainMeshFile GrainMeshFile;
GRAIN_API GrainResult grain_mesh_file_read(const char *path, GrainMeshFile **out);
GRAIN_API void grain_mesh_file_destroy(GrainMeshFile *file);
GRAIN_API GrainResult grain_mesh_file_view(const GrainMeshFile *file, GrainMesh *out);

#ifdef __cplusplus
}
#endif
