// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Particles spread evenly over a surface: how props, walls and characters meet the sand.
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
    float offset;  ///< m, from the surface to the particles' centres: below 0 inside, 0 (default) on it, above outside.
                   ///< An open sheet has no inside: there it is the distance along the faces' normals.
    float density; ///< (0, 8]: part of the surface that the particles' discs would cover if they did not overlap,
                   ///< count * pi * radius^2 / area. Default 1; discs that just touch are 0.907.
    float weight_support; ///< m, where the kernel behind the weights ends. 0 (default): four radii.
    int32_t seed;         ///< Another number, another cover just as even.
    int64_t max_count;    ///< Refused, with the figure, when more particles are needed. Default ten million.
} GrainCoverDef;
GRAIN_API GrainResult grain_cover_def_default(GrainCoverDef *def, uint32_t size);

/// Covers the surface itself, exactly: sharp edges stay sharp, and parts thinner than a particle stay. Parts of a
/// closed mesh that lie inside another part get no particles; sheets that lie on each other get one layer.
GRAIN_API GrainResult grain_cover_mesh(const GrainMesh *mesh, const GrainCoverDef *def, const GrainRun *run,
                                       GrainCover **out);
/// Covers the surface where the distance field has the value def->offset. Its edges are as round as its voxels are
/// large. offset must lie inside the band by a voxel at least.
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
/// The view is valid until the next call that takes the cover without const.
GRAIN_API GrainResult grain_cover_view(const GrainCover *cover, GrainCoverAttribute attribute, GrainView *out);

/// How even a cover is. Distances in m unless said otherwise; spacing is what they are compared with: the distance of
/// neighbours if as many particles lay in a perfect hexagonal pattern.
typedef struct GrainCoverQuality {
    uint32_t struct_size;
    int32_t iterations;   ///< until the particles had come to rest
    int64_t count;        ///< particles
    int64_t count_wanted; ///< from density and area
    double area;          ///< m^2, of the surface covered
    double spacing;
    double nearest_mean;      ///< distance to the nearest neighbour; perfect: spacing
    double nearest_deviation; ///< its standard deviation
    double nearest_smallest;
    double largest_gap;      ///< from a point on the surface to the nearest particle; perfect: 0.577 spacing. Found to
                             ///< some percent at sharp edges.
    double largest_distance; ///< of a particle from the surface asked for
} GrainCoverQuality;
GRAIN_API GrainResult grain_cover_quality(const GrainCover *cover, GrainCoverQuality *out);

// --- props that move --------------------------------------------------------------------------------

/// Places a rigid prop's cover: pose is a 4 x 4 matrix, row by row, applied to columns (x, y, z, 1), from where the
/// particles were when the cover was made. Velocities become the difference to the last place over seconds (> 0).
GRAIN_API GrainResult grain_cover_move(GrainCover *cover, const double pose[16], double seconds);

/// Ties every particle to the triangle nearest to it. The mesh must be where the cover is.
GRAIN_API GrainResult grain_cover_bind(GrainCover *cover, const GrainMesh *mesh, const GrainRun *run);
/// The bound mesh has been bent: positions are its vertices now, as many as before, seconds (> 0) later. Every
/// particle follows its triangle; where stretching has opened holes new ones are added (with new ids), and where
/// particles were pushed together some are taken out.
GRAIN_API GrainResult grain_cover_follow(GrainCover *cover, const float *positions, int64_t vertex_count,
                                         double seconds, const GrainRun *run);

#ifdef __cplusplus
}
#endif
