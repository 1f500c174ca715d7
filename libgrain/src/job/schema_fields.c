// SPDX-License-Identifier: GPL-3.0-or-later
// Force fields. The interface is Blender's own, so they have no labels.
#include "job/schema.h"

#define MAX_STRENGTH 1e6
#define MAX_LENGTH 1e6
#define MAX_SEED 9007199254740992.0 // 2^53

#define POWER(name, field, text)                                                                                       \
    {                                                                                                                  \
        .key = (name), .type = SETTING_NUMBER, INTO(Field, field), .high = 100, .meaning = (text)                      \
    }
#define DISTANCE(name, field, text)                                                                                    \
    {                                                                                                                  \
        .key = (name), .type = SETTING_NUMBER, INTO(Field, field), .unit = "m", .high = MAX_LENGTH,                    \
        .absence = SETTING_IS_ABSENT, .number = {-1}, .meaning = (text)                                                \
    }

static const Setting field_settings[] = {
    {.key = "name", .type = SETTING_TEXT, .absence = SETTING_REQUIRED, .meaning = "shown in messages"},
    {.key = "type",
     .type = SETTING_CHOICE,
     INTO(Field, kind),
     .words = field_kind_names,
     .absence = SETTING_REQUIRED,
     .meaning = "away from the middle; along the axis (z); around it, growing with the distance; in random directions; "
                "against the motion; a spring to the middle; away from it, growing with the distance"},
    {.key = "poses",
     .type = SETTING_ARRAY,
     .absence = SETTING_REQUIRED,
     .allowed = "an array number, f32 x 7, one or more",
     .meaning = "a sample per frame: position, and unit quaternion w, x, y, z"},
    {.key = "strength",
     .type = SETTING_NUMBER,
     INTO(Field, strength.constant[0]),
     .unit = "m/s2",
     .low = -MAX_STRENGTH,
     .high = MAX_STRENGTH,
     .is_animated = 1,
     .meaning = "of vortex, harmonic and charge in 1/s2; of drag the quadratic part in 1/m, at most 2"},
    {.key = "shape",
     .type = SETTING_CHOICE,
     INTO(Field, shape),
     .words = field_shape_names,
     .word = "point",
     .meaning = "the centre of the field: its position, its axis, or the plane across it"},
    {.key = "falloff",
     .type = SETTING_CHOICE,
     INTO(Field, falloff),
     .words = field_falloff_names,
     .word = "sphere",
     .meaning =
         "what it fades with: the distance; height along the axis, and distance from it; height, and angle in degrees"},
    POWER("power", range.power,
          "1 up to the least distance, then (1 + distance - least)^-power, with distances in m; 0 beyond the largest"),
    DISTANCE("min_distance", range.nearest, "the least distance"),
    DISTANCE("max_distance", range.farthest, "the largest distance"),
    POWER("radial_power", radial.power, "the same of tube and cone, away from the axis"),
    DISTANCE("radial_min", radial.nearest, "likewise; of a cone in degrees"),
    DISTANCE("radial_max", radial.farthest, "likewise; of a cone in degrees"),
    {.key = "side",
     .type = SETTING_CHOICE,
     INTO(Field, side),
     .words = field_side_names,
     .word = "both",
     .meaning = "of the axis, where it acts"},
    {.key = "flow",
     .type = SETTING_NUMBER,
     INTO(Field, flow),
     .unit = "1/s",
     .low = -MAX_STRENGTH,
     .high = MAX_STRENGTH,
     .meaning = "slows particles inside the field"},
    {.key = "noise",
     .type = SETTING_NUMBER,
     INTO(Field, noise),
     .unit = "m/s2",
     .high = MAX_STRENGTH,
     .meaning = "strength that differs from particle to particle and frame to frame"},
    {.key = "size",
     .type = SETTING_NUMBER,
     INTO(Field, size),
     .unit = "m",
     .high = MAX_LENGTH,
     .number = {1},
     .meaning = "of turbulence: of its eddies"},
    {.key = "global",
     .type = SETTING_FLAG,
     INTO(Field, is_global),
     .meaning = "of turbulence: it stands still while the field moves"},
    {.key = "seed", .type = SETTING_INTEGER, INTO(Field, seed), .high = MAX_SEED, .meaning = "of turbulence and noise"},
    {.key = "linear_drag",
     .type = SETTING_NUMBER,
     INTO(Field, linear_drag),
     .unit = "1/s",
     .high = MAX_STRENGTH,
     .meaning = "of drag; of harmonic, damping relative to critical damping; at most 2 counts"},
    {.key = "rest_length",
     .type = SETTING_NUMBER,
     INTO(Field, rest_length),
     .unit = "m",
     .high = MAX_LENGTH,
     .meaning = "of harmonic: the distance at which it does not pull"},
    {.key = "animation",
     .type = SETTING_OBJECT,
     .otherwise = "none",
     .allowed = "an object with `strength`: an array number, f32 x 1",
     .meaning = "a sample per frame, replacing the value above"},
};
const SettingBlock schema_field = {"field", field_settings, sizeof field_settings / sizeof *field_settings};
