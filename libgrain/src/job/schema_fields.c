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
     .meaning = "the direction of the acceleration: away from the middle; along the axis (z); around the axis, growing "
                "with the distance; in random directions; against the motion; towards the middle, as by a spring; away "
                "from the middle, growing with the distance"},
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
     .meaning = "acceleration. Vortex, harmonic and charge: per metre of distance, in 1/s2. Drag: the quadratic part "
                "in 1/m, at most 2"},
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
     .meaning = "what the field fades with: the distance; the height along the axis and the distance from it; the "
                "height and the angle in degrees"},
    POWER("power", range.power,
          "the field has its full strength up to the least distance, then falls as (1 + distance - least)^-power, with "
          "distances in m, and is 0 beyond the largest distance"),
    DISTANCE("min_distance", range.nearest, "the least distance"),
    DISTANCE("max_distance", range.farthest, "the largest distance"),
    POWER("radial_power", radial.power, "as `power`, away from the axis of a tube or cone"),
    DISTANCE("radial_min", radial.nearest, "the least distance from the axis; of a cone in degrees"),
    DISTANCE("radial_max", radial.farthest, "the largest distance from the axis; of a cone in degrees"),
    {.key = "side",
     .type = SETTING_CHOICE,
     INTO(Field, side),
     .words = field_side_names,
     .word = "both",
     .meaning = "the side of the axis on which the field acts"},
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
     .meaning = "random strength, different for each particle and frame"},
    {.key = "size",
     .type = SETTING_NUMBER,
     INTO(Field, size),
     .unit = "m",
     .high = MAX_LENGTH,
     .number = {1},
     .meaning = "size of the eddies of turbulence"},
    {.key = "global",
     .type = SETTING_FLAG,
     INTO(Field, is_global),
     .meaning = "whether turbulence stands still while the field moves"},
    {.key = "seed",
     .type = SETTING_INTEGER,
     INTO(Field, seed),
     .high = MAX_SEED,
     .meaning = "seed of turbulence and noise"},
    {.key = "linear_drag",
     .type = SETTING_NUMBER,
     INTO(Field, linear_drag),
     .unit = "1/s",
     .high = MAX_STRENGTH,
     .meaning =
         "linear part of drag; of harmonic, the damping relative to critical damping. Values above 2 count as 2"},
    {.key = "rest_length",
     .type = SETTING_NUMBER,
     INTO(Field, rest_length),
     .unit = "m",
     .high = MAX_LENGTH,
     .meaning = "distance at which harmonic does not pull"},
    {.key = "animation",
     .type = SETTING_OBJECT,
     .otherwise = "none",
     .allowed = "an object with `strength`: an array number, f32 x 1",
     .meaning = "a sample per frame, replacing the value above"},
};
const SettingBlock schema_field = {"field", field_settings, sizeof field_settings / sizeof *field_settings};
