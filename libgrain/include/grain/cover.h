// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Particles spread evenly over a surface.
///
///     GrainCoverDef def;
///     grain_cover_def_default(&def, sizeof def);
///     def.radius = 0.01f;
///     GrainCover *cover;
///     if (grain_cover_mesh(&mesh, &def, NULL, &cover) != GRAIN_OK) { puts(grain_last_error()); ... }
///     GrainView positions;
///     grain_cover_view(cover, GRAIN_COVER_POSITION, &positions);
///     ...
///     grain_cover_destroy(cover);
#include "grain/sdf.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainCover GrainCover;

typedef struct GrainCoverDef {
    uint32_t struct_size;
    float radius;  ///< m, > 0, of a particle
    float offset;  ///< m, distance of the particle centres from the surface: negative inside, positive outside. Default
                   ///< 0. On an open sheet it is measured along the normals.
    float density; ///< (0, 8]: fraction of the surface that the particles' discs would cover without overlap,
                   ///< count * pi * radius^2 / area. Default 1; discs that just touch are 0.907.
    float weight_support; ///< m, support of the kernel used for weights. 0 (default): four radii.
    int32_t seed;         ///< Changes the arrangement.
    int64_t max_count;    ///< The call fails, with the number, if more particles are needed. Default ten million.
} GrainCoverDef;
GRAIN_API GrainResult grain_cover_def_default(GrainCoverDef *def, uint32_t size);

/// Covers the surface itself: sharp edges stay sharp, and parts thinner than a particle are covered too. Parts of a
/// closed mesh inside other parts get no particles; coincident sheets get one layer.
GRAIN_API GrainResult grain_cover_mesh(const GrainMesh *mesh, const GrainCoverDef *def, const GrainRun *run,
                                       GrainCover **out);
/// Covers the level set def->offset of the distance field. Edges are rounded by the size of a voxel. offset must be at
/// least a voxel inside the band.
GRAIN_API GrainResult grain_cover_create(const GrainSdf *sdf, const GrainCoverDef *def, const GrainRun *run,
                                         GrainCover **out);
GRAIN_API void grain_cover_destroy(GrainCover *cover);

typedef enum GrainCoverAttribute {
    GRAIN_COVER_POSITION = 0, ///< f32 x 3, m
    GRAIN_COVER_NORMAL = 1,   ///< f32 x 3, unit length, outward
    GRAIN_COVER_WEIGHT = 2,   ///< f32, m^3: 1 / sum of W over the cover (Akinci et al. 2012, cubic spline): what a
                              ///< particle stands for in SPH, smaller where particles are crowded
    GRAIN_COVER_VELOCITY = 3, ///< f32 x 3, m/s; 0 before the first grain_cover_follow or grain_cover_move
    GRAIN_COVER_ID = 4,       ///< i64; a particle keeps its id for life, and no id is used twice
} GrainCoverAttribute;
/// The view is valid until the next call that takes a non-const cover.
GRAIN_API GrainResult grain_cover_view(const GrainCover *cover, GrainCoverAttribute attribute, GrainView *out);

/// How even a cover is. Distances are in m. Compare them with spacing, the distance between neighbours if the same
/// number of particles formed a perfect hexagonal pattern.
typedef struct GrainCoverQuality {
    uint32_t struct_size;
    int32_t iterations;   ///< until the particles came to rest
    int64_t count;        ///< particles
    int64_t count_wanted; ///< from density and area
    double area;          ///< m^2, of the covered surface
    double spacing;
    double nearest_mean;      ///< distance to the nearest neighbour; perfect: spacing
    double nearest_deviation; ///< its standard deviation
    double nearest_smallest;
    double largest_gap; ///< from a point on the surface to the nearest particle; perfect: 0.577 spacing. Accurate to
                        ///< some percent at sharp edges.
    double largest_distance; ///< of a particle from the requested surface
} GrainCoverQuality;
GRAIN_API GrainResult grain_cover_quality(const GrainCover *cover, GrainCoverQuality *out);

// --- moving surfaces ---------------------------------------------------------------------------------

/// Moves the cover rigidly. pose is a row-major 4 x 4 matrix, applied to columns (x, y, z, 1), relative to the
/// positions when the cover was made. Velocities become the displacement since the previous pose divided by seconds (>
/// 0).
GRAIN_API GrainResult grain_cover_move(GrainCover *cover, const double pose[16], double seconds);

/// Binds every particle to its nearest triangle. The mesh must be in the position of the cover.
GRAIN_API GrainResult grain_cover_bind(GrainCover *cover, const GrainMesh *mesh, const GrainRun *run);
/// Follows the bound mesh as it deforms: positions are its vertices, the same number as before, seconds (> 0) later.
/// Every particle follows its triangle. Particles are added, with new ids, where stretching opens holes, and removed
/// where they crowd.
GRAIN_API GrainResult grain_cover_follow(GrainCover *cover, const float *positions, int64_t vertex_count,
                                         double seconds, const GrainRun *run);

#ifdef __cplusplus
}
#endif
