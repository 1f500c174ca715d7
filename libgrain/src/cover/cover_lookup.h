// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What is painted on a mesh, anywhere near it: as it is at the nearest point of the surface.
#include "cover/cover_tree.h"
#include "grain/mesh.h"

typedef struct CoverLookup {
    const GrainMesh *mesh; ///< borrowed
    CoverTree tree;
    int32_t *triangle; ///< slot -> the mesh's triangle
} CoverLookup;

/// Numbers given on a mesh; evenly in between within a triangle.
typedef struct CoverPaint {
    const float *numbers;
    int components; ///< 1 to 4, to an element
    int by_corner;  ///< an element for each corner of each triangle; else for each vertex
} CoverPaint;

GrainResult cover_lookup_create(CoverLookup *lookup, const GrainMesh *mesh, int threads);
void cover_lookup_free(CoverLookup *lookup);
/// The nearest point of the surface to each place. The bits do not depend on threads.
void cover_lookup_find(const CoverLookup *lookup, const Vec3 *places, int64_t count, int threads, CoverPoint *points);
/// paint->components numbers to out.
void cover_lookup_read(const CoverLookup *lookup, CoverPoint point, const CoverPaint *paint, float *out);
