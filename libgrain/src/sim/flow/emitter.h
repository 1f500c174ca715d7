// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Emitters: meshes, possibly moving or deforming, that particles come out of. Everything is a function of time and
/// seed, so an emitter has no state to save: particle n is due when the rate has added up to n, and its position, size
/// and speed are drawn from the random numbers of n.
#include "mesh/mesh.h"
#include "motion/curve.h"
#include "sim/solver.h"

typedef struct EmitterDef {
    const GrainMesh *mesh;  ///< at time 0
    const GrainSdf *inside; ///< of it; NULL: particles are born on the surface
    Motion motion;
    Curve rate; ///< times rate_scale: particles a second
    double rate_scale;
    Curve active;       ///< above 0.5: on; a sample holds until the next frame
    Curve velocity;     ///< m/s
    float normal_speed; ///< m/s, out of the surface
    float jitter;       ///< m/s: largest random velocity, in any direction
    float inherit;      ///< fraction of the mesh's own velocity that is added
    float radius, size_spread;
    double frame_seconds;
    uint64_t seed;
} EmitterDef;

typedef struct Emitter {
    EmitterDef def;
    double *area; ///< m2, sum over the triangles up to each; for surfaces
    Vec3 *cells;  ///< low corners of the cells that overlap the inside
    int64_t cell_count, cell_capacity;
    float cell_size;
    int64_t sample; ///< of a deforming mesh: the sample that area or cells belong to; -1: none yet
    GrainSdf *bent; ///< its inside at that sample
    float *points;  ///< its positions at that sample
} Emitter;

/// A candidate for the position of a new particle.
typedef struct EmitterSpot {
    Vec3 place;    ///< m, in the world
    Vec3 on;       ///< m: the same place on the mesh at time 0
    Vec3 velocity; ///< m/s
} EmitterSpot;

GrainResult emitter_create(Emitter *emitter, const EmitterDef *def, const GrainRun *run);
void emitter_free(Emitter *emitter);
/// Particles that are due by this time (s); not a whole number.
double emitter_due(const EmitterDef *def, double time);
/// Must be called before spots up to this time are drawn.
GrainResult emitter_prepare(Emitter *emitter, double time, const GrainRun *run);
/// m, radius of particle n.
float emitter_radius(const Emitter *emitter, int64_t n);
/// Draws a position for particle n at this time. Returns 0 if it is not on (or inside) the mesh: try the next attempt.
int emitter_draw(const Emitter *emitter, int64_t n, int attempt, double time, EmitterSpot *out);
/// m/s, estimate of the highest speed of its particles.
float emitter_fastest(const EmitterDef *def);
