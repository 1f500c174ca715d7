// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The constitutive laws of mpm. Each has a file mpm_law_NAME.h with its kernel and a line in the table of mpm_law.c.
#include "sim/solver.h"

typedef enum MpmLawKind { MPM_SAND, MPM_SNOW, MPM_MUD, MPM_LAW_COUNT } MpmLawKind;

#define MPM_LAW_NUMBERS 4
/// Solid fraction of packed grains.
#define MPM_PACKING 0.6f

typedef struct MpmMaterial {
    MpmLawKind kind;
    float density;                 ///< kg/m3, of the bulk
    float shear, lame;             ///< Pa: Lame's mu and lambda
    float damping;                 ///< Pa s: viscosity of material that does not flow, against ringing
    float number[MPM_LAW_NUMBERS]; ///< the law's own (see its file)
    float wet_tip;                 ///< of sand: added to number[1] by moisture 1
    float uneven, patch_cells;     ///< of snow: amplitude, and size in cells, of the variation of `plastic` at birth
    int is_loose;                  ///< grains thrown out of the bulk fly freely
} MpmMaterial;

typedef struct MpmMaterials {
    MpmMaterial of[SIM_MAX_MATERIALS];
    int count;
} MpmMaterials;

/// Names for the job, NULL at the end: "sand", "snow_powder", ...
extern const char *const mpm_law_names[];
/// The names among them of snow.
extern const char *const mpm_snow_names[];

/// One material from the solver's settings. sound_speed (m/s) sets how stiff it is, cell (m) how much it is damped.
GrainResult mpm_material_choose(const char *law, const SimMaterial *from, float sound_speed, float cell, float gravity,
                                float particle_radius, MpmMaterial *out);
