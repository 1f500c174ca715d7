// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "base/run.h"
#include "cover/cover_floaters.h"
#include "grain/cover.h"

typedef struct CoverBinding CoverBinding; ///< cover_follow.c

struct GrainCover {
    GrainCoverDef def;
    GrainCoverQuality quality;
    int64_t count, capacity;
    int64_t next_id;
    float *position; ///< m, xyz
    float *normal;   ///< xyz
    float *weight;   ///< m^3
    float *velocity; ///< m/s, xyz
    int64_t *id;
    float *rest; ///< m, xyz, where grain_cover_move starts from; NULL before it
    CoverBinding *binding;
};

/// Distance of neighbours (m) in the perfect pattern for this radius and density.
double cover_spacing(const GrainCoverDef *def);
/// Radius of the kernel of the weights, in spacings.
float cover_support(const GrainCoverDef *def);
/// Quality figures that depend only on the positions of floaters, in m. largest_hole: in spacings if known, else 0.
/// Makes the lists again.
GrainResult cover_measure(CoverFloaters *floaters, const CoverSurface *surface, double area, float largest_hole,
                          int threads, GrainCoverQuality *quality);
/// The volume each floater represents (m^3). support in spacings.
GrainResult cover_weigh(const CoverFloaters *floaters, float support, double spacing, int threads, float *weights);
/// Reserves memory for this many particles.
GrainResult cover_reserve(GrainCover *cover, int64_t capacity);

// cover_follow.c: the work of the public calls; arguments are checked.
GrainResult cover_bind(GrainCover *cover, const GrainMesh *mesh, const Run *run);
GrainResult cover_follow(GrainCover *cover, const float *positions, int64_t vertex_count, double seconds,
                         const Run *run);
GrainResult cover_move(GrainCover *cover, const double pose[16], double seconds);
void cover_binding_free(CoverBinding *binding);
