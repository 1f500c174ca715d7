// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Particles spread evenly over a surface, for objects that interact with particles.
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
    float radius;  ///< m, > 0, particle radius
    float offset;  ///< m, from the surface to the particle centres: negative inside, 0 (default) on the surface,
                   ///< positive outside. Open sheets have no inside: there it is measured along the face normals.
    float density; ///< (0, 8]: count * pi * radius^2 / area, the part of the surface that the particles' discs would
                   ///< cover if none overlapped. Default 1; discs that just touch give 0.907.
    float weight_support; ///< m, support radius of the kernel behind the weights. 0 (default): four particle radii.
    int32_t seed;         ///< Each seed gives a different arrangement of the same quality.
    int64_t max_count;    ///< GRAIN_ERROR_ARGUMENT, with the number needed, if it is larger. Default ten million.
} GrainCoverDef;
GRAIN_API GrainResult grain_cover_def_default(GrainCoverDef *def, uint32_t size);

/// Covers the mesh itself: sharp edges stay sharp, and parts thinner than a particle are kept. Parts of a closed mesh
/// inside another part get no particles; coincident sheets get one layer.
GRAIN_API GrainResult grain_cover_mesh(const GrainMesh *mesh, const GrainCoverDef *def, const GrainRun *run,
                                       GrainCover **out);
/// Covers the level set of a distance field at def->offset, which must be inside the band by at least one voxel. Edges
/// are rounded at the scale of a voxel.
GRAIN_API GrainResult grain_cover_create(const GrainSdf *sdf, const GrainCoverDef *def, const GrainRun *run,
                                         GrainCover **out);
GRAIN_API void grain_cover_destroy(GrainCover *cover);

typedef enum GrainCoverAttribute {
    GRAIN_COVER_POSITION = 0, ///< f32 x 3, m
    GRAIN_COVER_NORMAL = 1,   ///< f32 x 3, unit length, outward
    GRAIN_COVER_WEIGHT = 2,   ///< f32, m^3: 1 / sum of W over the cover (Akinci et al. 2012, cubic spline), the volume
                              ///< a particle stands for in SPH; smaller where particles are crowded
    GRAIN_COVER_VELOCITY = 3, ///< f32 x 3, m/s; 0 before the first grain_cover_follow or grain_cover_move
    GRAIN_COVER_ID = 4,       ///< i64; constant over the life of a particle, never reused
} GrainCoverAttribute;
/// The view is valid until the next call that takes a non-const cover.
GRAIN_API GrainResult grain_cover_view(const GrainCover *cover, GrainCoverAttribute attribute, GrainView *out);

/// How even a cover is. Lengths in m. Compare them with `spacing`, the distance between neighbours if the same number
/// of particles formed a perfect hexagonal lattice.
typedef struct GrainCoverQuality {
    uint32_t struct_size;
    int32_t iterations;   ///< until the particles came to rest
    int64_t count;        ///< particles
    int64_t count_wanted; ///< particles that density and area ask for
    double area;          ///< m^2, of the covered surface
    double spacing;
    double nearest_mean;      ///< mean distance to the nearest neighbour; perfect: spacing
    double nearest_deviation; ///< its standard deviation; perfect: 0
    double nearest_smallest;  ///< its minimum
    double largest_gap;       ///< largest distance from a point of the surface to the nearest particle; perfect:
                              ///< 0.577 spacing. Accurate to some percent at sharp edges.
    double largest_distance;  ///< largest distance of a particle from the surface that was asked for
} GrainCoverQuality;
GRAIN_API GrainResult grain_cover_quality(const GrainCover *cover, GrainCoverQuality *out);

// --- objects that move ------------------------------------------------------------------------------

/// Moves the cover of a rigid object. `pose` is a 4 x 4 matrix, row-major, applied to column vectors (x, y, z, 1); it
/// maps the positions at creation to the new ones. Velocities are the displacement since the last call divided by
/// `seconds` (> 0).
GRAIN_API GrainResult grain_cover_move(GrainCover *cover, const double pose[16], double seconds);

/// Attaches every particle to the nearest triangle. The mesh must be where the cover is.
GRAIN_API GrainResult grain_cover_bind(GrainCover *cover, const GrainMesh *mesh, const GrainRun *run);
/// The bound mesh has deformed: `positions` are its vertices (as many as before) `seconds` (> 0) later. Particles
/// follow their triangles; particles with new ids fill gaps that stretching has opened, and particles pushed together
/// are removed.
GRAIN_API GrainResult grain_cover_follow(GrainCover *cover, const float *positions, int64_t vertex_count,
                                         double seconds, const GrainRun *run);

#ifdef __cplusplus
}
#endif
