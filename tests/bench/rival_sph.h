// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A step of the scheme of Ihmsen et al. 2013 as one would first write it: a cell list looked through for each particle
/// in every sum, one particle after another. It starts from the solver's state and ends within rounding of where it
/// does.
#include "sim/sph/sph.h"

typedef struct RivalSph RivalSph;

RivalSph *rival_sph_create(const Sph *from);
void rival_sph_step(RivalSph *rival, double seconds);
/// Largest difference of a velocity from the solver's, over the fastest of the solver's.
double rival_sph_difference(const RivalSph *rival, const Sph *sph);
void rival_sph_destroy(RivalSph *rival);
