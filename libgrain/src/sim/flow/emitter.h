// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Emitters: where and when particles are born of a mesh that may move and bend. Everything follows from the time and
/// the seed, so there is no state to be kept: the n-th particle is due when the rate has added up to n, at a place,
/// with a size and a speed that are drawn for n.
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
    float jitter;       ///< m/s: up to so much is added in any direction
    float inherit;      ///< part of the mesh's own velocity
    float radius, size_spread;
    double frame_seconds;
    uint64_t seed;
} EmitterDef;

typedef struct Emitter {
    EmitterDef def;
    double *area; ///< of the triangles up to each, m2; of surfaces
    Vec3 *cells;  ///< low corners of cells that may hold some of the inside
    int64_t cell_count, cell_capacity;
    float cell_size;
    int64_t sample; ///< of a mesh that bends: what area or cells are made of; -1: nothing yet
    GrainSdf *bent; ///< the inside of it then
    float *points;  ///< its positions then
} Emitter;

/// A particle that could be born.
typedef struct EmitterSpot {
    Vec3 place;    ///< m, where it is born
    Vec3 on;       ///< m: the same place on the mesh at time 0
    Vec3 velocity; ///< m/s
} EmitterSpot;

GrainResult emitter_create(Emitter *emitter, const EmitterDef *def, const GrainRun *run);
void emitter_free(Emitter *emitter);
/// Particles that are due by this time (s); not a whole number.
double emitter_due(const EmitterDef *def, double time);
/// Before spots are drawn up to this time.
GrainResult emitter_prepare(Emitter *emitter, double time, const GrainRun *run);
/// m, of particle number n.
float emitter_radius(const Emitter *emitter, int64_t n);
/// One of the places where particle n may be born at this time; 0 where this one is not on the mesh after all.
int emitter_draw(const Emitter *emitter, int64_t n, int attempt, double time, EmitterSpot *out);
/// m/s, about the fastest it can throw.
float emitter_fastest(const EmitterDef *def);
