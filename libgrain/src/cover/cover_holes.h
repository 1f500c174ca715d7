// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Finds where a cover has too few floaters, and where too many.
#include "cover/cover_floaters.h"

/// A point of the surface that is far from all floaters: a corner of their Voronoi cells.
typedef struct CoverHole {
    Vec3 place, normal; ///< on the surface
    MeshPoint point;
    float size; ///< distance (in spacings) from place to the nearest floater, up to COVER_HOLE_REACH
} CoverHole;
#define COVER_HOLE_REACH 2.0f

typedef struct CoverHoles {
    CoverHole *holes;
    int64_t count, capacity;
} CoverHoles;

/// Finds all holes of at least this size, once for each floater around them. Requires the lists of floaters.
GrainResult cover_holes_find(CoverHoles *holes, const CoverFloaters *floaters, const CoverSurface *surface, float size,
                             int threads);
/// Keeps only the largest of holes within `distance` of each other.
GrainResult cover_holes_separate(CoverHoles *holes, float distance, int threads);
void cover_holes_free(CoverHoles *holes);

/// Distance to the nearest neighbour in the list; COVER_LIST_REACH when there is none.
float cover_nearest(const CoverFloaters *floaters, int64_t floater);

/// Fills holes and thins crowds: moves floaters from crowded regions to holes, and adds or removes floaters until there
/// are about `wanted` (0: any number). *changed receives the number of floaters added or removed, *largest_hole the
/// size of the largest hole before that, or 0 if all are small. Makes the lists, which are invalid if *changed is above
/// 0.
GrainResult cover_balance(CoverFloaters *floaters, const CoverSurface *surface, int64_t wanted, int threads,
                          int64_t *changed, float *largest_hole);

/// Visits the neighbours of a floater: for (k...) { int32_t other = cover_neighbour(floaters, i, k); if (other == i)
/// break; }
static inline int32_t cover_neighbour(const CoverFloaters *f, int64_t i, int32_t k)
{
    int64_t block = i / COVER_LIST_LANES;
    if (k >= f->list_length[block]) return (int32_t)i;
    return f->neighbours[(block * COVER_LIST_LENGTH + k) * COVER_LIST_LANES + i % COVER_LIST_LANES];
}
