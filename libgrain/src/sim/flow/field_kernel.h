// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What one force field adds to the accelerations of particles.
#include "base/simd.h"
#include "particles/particles.h"
#include "sim/flow/field.h"

/// A field at one moment.
typedef struct FieldMoment {
    const Field *field;
    Vec3 place, axis;
    float strength;
    uint64_t frame; ///< noise changes with it
} FieldMoment;

/// For rows [begin, end), whose numbers for noise are counted from `first_number`. Removed particles (radius 0) are
/// skipped.
SIMD_KERNEL(void, field_act,
            (const FieldMoment *moment, const Particles *particles, int64_t first_number, int64_t begin, int64_t end,
             Vec3 *acceleration))
