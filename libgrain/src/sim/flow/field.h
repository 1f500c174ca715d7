// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Blender's force fields, as they act on particles of mass 1: they give accelerations.
#include "motion/curve.h"
#include "sim/solver.h"

typedef enum FieldKind {
    FIELD_FORCE,      ///< away from the middle
    FIELD_WIND,       ///< along the axis
    FIELD_VORTEX,     ///< around the axis
    FIELD_TURBULENCE, ///< anywhere, changing over `size`
    FIELD_DRAG,       ///< against the motion
    FIELD_HARMONIC,   ///< a spring to the middle
    FIELD_CHARGE,     ///< away from the middle, growing with the distance unless it falls off
} FieldKind;
/// Names for the job, NULL at the end, in the order above; likewise of the others.
extern const char *const field_kind_names[], *const field_shape_names[], *const field_falloff_names[],
                                                                             *const field_side_names[];

typedef enum FieldShape { FIELD_POINT, FIELD_LINE, FIELD_PLANE } FieldShape;
typedef enum FieldFalloff { FIELD_SPHERE, FIELD_TUBE, FIELD_CONE } FieldFalloff;
typedef enum FieldSide { FIELD_BOTH, FIELD_POSITIVE, FIELD_NEGATIVE } FieldSide;

/// 1 up to `nearest`, then (1 + distance - nearest)^-power, 0 from `farthest` on; negative values switch these two off.
typedef struct FieldRange {
    float power, nearest, farthest;
} FieldRange;

typedef struct Field {
    FieldKind kind;
    FieldShape shape; ///< whether the middle is a point, the axis, or the plane across it
    FieldFalloff
        falloff; ///< over the distance, the height along the axis and the distance from it, or the height and the angle
    FieldSide side;           ///< of the axis where it acts
    FieldRange range, radial; ///< radial: m, or degrees of a cone
    Curve strength;           ///< m/s2; of drag the quadratic part, 1/m, of a spring 1/s2
    float flow;               ///< 1/s: drag inside the field
    float noise;              ///< m/s2: strength that varies from particle to particle and frame to frame
    float size;               ///< m, of turbulence
    float linear_drag;        ///< 1/s, of drag; of a spring, damping over the critical one
    float rest_length;        ///< m, of a spring
    int is_global;            ///< turbulence stands still while the field moves
    uint64_t seed;
    Motion motion; ///< position and facing; the axis is z
    double frame_seconds;
} Field;

/// Adds the accelerations of the fields at a time (s). Removed particles (radius 0) are skipped.
void fields_add(const Field *fields, int field_count, const Particles *particles, double time, int threads,
                Vec3 *acceleration);
/// The same for bodies, evaluated at their centres of mass: an acceleration without torque, independent of mass.
void fields_pull_bodies(const Field *fields, int field_count, struct Rigid *rigid, double time);
/// m/s, estimate of the largest speed that they give: that of half a second in them, or less where they end or fade.
float fields_fastest(const Field *fields, int field_count);
