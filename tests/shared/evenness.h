// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// How even points lie on a surface, measured without the library's help: the definition behind the rivals' figures.
#include "grain/mesh.h"

/// Distances over the spacing of the perfect hexagonal layout of as many points on the same area: a perfect cover has
/// nearest 1 and gap 0.577.
typedef struct Evenness {
    double nearest_mean;
    double nearest_deviation; ///< over the mean
    double nearest_smallest;
    double gap; ///< largest distance from a point of the surface to the nearest of the points
} Evenness;

/// positions: xyz. The gap is looked for at probes random places on the surface for each point; 0 leaves it out.
Evenness evenness_measure(const float *positions, int64_t count, const GrainMesh *surface, double area, int probes);
