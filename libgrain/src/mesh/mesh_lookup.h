// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What is painted on a mesh, anywhere near it: as it is at the nearest point of the surface.
#include "grain/mesh.h"
#include "mesh/mesh_tree.h"

typedef struct MeshLookup {
    const GrainMesh *mesh; ///< borrowed
    MeshTree tree;
    int32_t *triangle; ///< leaf triangle -> the mesh's triangle
} MeshLookup;

/// Numbers given on a mesh; evenly in between within a triangle.
typedef struct MeshAttribute {
    const float *numbers;
    int components; ///< 1 to 4, to an element
    int by_corner;  ///< an element for each corner of each triangle; else for each vertex
} MeshAttribute;

GrainResult mesh_lookup_create(MeshLookup *lookup, const GrainMesh *mesh, int threads);
void mesh_lookup_free(MeshLookup *lookup);
/// The nearest point of the surface to each place. The bits do not depend on threads.
void mesh_lookup_find(const MeshLookup *lookup, const Vec3 *places, int64_t count, int threads, MeshPoint *points);
/// attribute->components numbers to out.
void mesh_lookup_read(const MeshLookup *lookup, MeshPoint point, const MeshAttribute *attribute, float *out);
