// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The five interactions of the paper's figure 3, which the seven numbers of a material are started from.
#include "sim/solver.h"

/// "ip1", ..., NULL-ended.
extern const char *const meso_interaction_names[];

/// A material in four numbers and two that are seldom asked for.
typedef struct MesoNumbers {
    float elasticity, viscosity; ///< Pa, Pa s: K and Z of a pair over the sum of its radii
    float elastic_reach;         ///< De over the sum of radii
    float reach_ratio;           ///< Rs = Dv / De
} MesoNumbers;

/// What an interaction is unless it is told otherwise.
MesoNumbers meso_numbers_of(int interaction);
/// The simple law: one piece each, elastic with its rest length where it ends.
SimMeso meso_law_of(const MesoNumbers *numbers);
