// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Grains as lit dots, for a viewport that has to follow a million of them: a colour for each, which a graphics card
/// draws as it is, and for machines without one a picture of them all, with depths, ready to be laid over the view.
#include "grain/run.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAIN_DOTS_COLOURS 256

/// What grains look like. Colours are linear, 0 to 1.
typedef struct GrainDotsLook {
    uint32_t struct_size;
    float wet_value;                      ///< brightness where moisture is 1, against dry; 0 to 1
    float largest_radius;                 ///< > 0; in the unit of the radii
    uint32_t reserved;                    ///< 0
    float colours[GRAIN_DOTS_COLOURS][3]; ///< a grain has the one that its number picks, for life
} GrainDotsLook;

/// Of the grains, all arrays `count` long.
typedef struct GrainDots {
    uint32_t struct_size;
    uint32_t reserved; ///< 0
    int64_t count;
    const float *positions; ///< xyz
    const float *radii;
    const int32_t *ids;     ///< NULL: numbered as they stand
    const float *moistures; ///< NULL: dry
} GrainDots;

/// Lights the grains from above: which way the surface faces near a grain follows from where the others are. Four bytes
/// to a grain: the square roots of red, green and blue over 255, and the radius against the largest. bounds, where not
/// NULL, gets the least x, y and z and then the greatest; it is left alone where there are no grains.
GRAIN_API GrainResult grain_dots_colour(const GrainDots *dots, const GrainDotsLook *look, const GrainRun *run,
                                        uint8_t *out, float bounds[6]);

/// Where from. Pixels are counted from the lower left corner of the view.
typedef struct GrainDotsView {
    uint32_t struct_size;
    int32_t width, height; ///< of the whole view, at most 16384
    int32_t left, bottom, right,
        top;             ///< the part of it that is made: 0 <= left < right <= width, likewise bottom and top
    float diameter;      ///< pixels of the largest grain where w is 1
    int32_t most_pixels; ///< a dot is never wider, 1 to 32: what covers the view is not drawn again and again
    float matrix[16];    ///< grains to the clip space of OpenGL, row by row, applied to columns
    uint32_t reserved;   ///< 0
} GrainDotsView;

/// Two floats to each pixel of the part, row by row from below: the depth, 0 to 1 or 2 where no grain is, and its
/// colour as red * 65536 + green * 256 + blue. The nearest grain is seen. colours are those of grain_dots_colour.
GRAIN_API GrainResult grain_dots_picture(const float *positions, const uint8_t *colours, int64_t count,
                                         const GrainDotsView *view, const GrainRun *run, float *out);

#ifdef __cplusplus
}
#endif
