// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Grains as lit dots, for a viewport that has to follow a million of them: a colour for each, which a graphics card
/// draws as it is, and for machines without one a picture of them all, with depths, ready to be laid over the view.
#include "grain/output.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAIN_POINTS_COLOURS 256

/// What grains look like. Colours are linear, 0 to 1.
typedef struct GrainPointsLook {
    uint32_t struct_size;
    float wet_value;                        ///< brightness where moisture is 1, against dry; 0 to 1
    float largest_radius;                   ///< > 0; in the unit of the radii
    uint32_t reserved;                      ///< 0
    float colours[GRAIN_POINTS_COLOURS][3]; ///< a grain has the one that its number picks, for life
} GrainPointsLook;

/// Of the grains, all arrays `count` long.
typedef struct GrainPoints {
    uint32_t struct_size;
    uint32_t reserved; ///< 0
    int64_t count;
    const float *positions; ///< xyz
    const float *radii;
    const int32_t *ids;     ///< NULL: numbered as they stand
    const float *moistures; ///< NULL: dry
} GrainPoints;

/// Lights the grains from above: which way the surface faces near a grain follows from where the others are. Four bytes
/// to a grain: the square roots of red, green and blue over 255, and the radius against the largest. bounds, where not
/// NULL, gets the least x, y and z and then the greatest; it is left alone where there are no grains.
GRAIN_API GrainResult grain_points_colour(const GrainPoints *points, const GrainPointsLook *look, const GrainRun *run,
                                          uint8_t *out, float bounds[6]);

/// Where from. Pixels are counted from the lower left corner of the view.
typedef struct GrainPointsView {
    uint32_t struct_size;
    int32_t width, height; ///< of the whole view, at most 16384
    int32_t left, bottom, right,
        top;             ///< the part of it that is made: 0 <= left < right <= width, likewise bottom and top
    float diameter;      ///< pixels of the largest grain where w is 1
    int32_t most_pixels; ///< a dot is never wider, 1 to 32: what covers the view is not drawn again and again
    float matrix[16];    ///< grains to the clip space of OpenGL, row by row, applied to columns
    uint32_t reserved;   ///< 0
} GrainPointsView;

/// Two floats to each pixel of the part, row by row from below: the depth, 0 to 1 or 2 where no grain is, and its
/// colour as red * 65536 + green * 256 + blue. The nearest grain is seen. colours are those of grain_points_colour.
GRAIN_API GrainResult grain_points_picture(const float *positions, const uint8_t *colours, int64_t count,
                                           const GrainPointsView *view, const GrainRun *run, float *out);

// --- frames read in advance -----------------------------------------------------------------------

#define GRAIN_PREFETCH_COLUMNS 8

typedef struct GrainPrefetch GrainPrefetch;

/// One frame to be read. What the pointers of columns and colours lead to belongs to the caller, who leaves it alone
/// from grain_prefetch_add until grain_prefetch_finish or a grain_prefetch_drop that gives it back; all else is copied.
typedef struct GrainPrefetchDef {
    uint32_t struct_size;
    int32_t column_count; ///< 1 to GRAIN_PREFETCH_COLUMNS
    const char *path;
    int64_t count; ///< so many of the frame's grains, the first
    const char *names[GRAIN_PREFETCH_COLUMNS];
    void *columns[GRAIN_PREFETCH_COLUMNS]; ///< room for count elements of each
    const GrainPointsLook *look;           ///< NULL: no dots; largest_radius is not looked at
    uint8_t *colours;                      ///< as grain_points_colour gives them, with a look: room for count times 4
} GrainPrefetchDef;

/// What became of the dots.
typedef struct GrainPrefetchPoints {
    uint32_t struct_size;
    int32_t are_made;     ///< 0: no look was given, or a grain is gone (its radius is 0) and must not be drawn
    float largest_radius; ///< m
    float bounds[6];      ///< m; the least x, y and z, then the greatest
    uint32_t reserved;
} GrainPrefetchPoints;

/// Starts the thread. It works on all cores, and lets others first where the system can do that.
GRAIN_API GrainResult grain_prefetch_create(GrainPrefetch **out);
/// Returns when the thread has ended; the frame it was at is read to its end. Frames not yet finished are forgotten.
GRAIN_API void grain_prefetch_destroy(GrainPrefetch *prefetch);
/// Puts a frame behind those that wait. number is its own, from 1. Of a look with dots, columns must hold "position"
/// and "radius"; "moisture" is used where it is among them.
GRAIN_API GrainResult grain_prefetch_add(GrainPrefetch *prefetch, const GrainPrefetchDef *def, int64_t *number);
/// Forgets a frame, if nobody has begun to read it: 1, and its memory is the caller's again. Otherwise 0: finish it.
GRAIN_API int32_t grain_prefetch_drop(GrainPrefetch *prefetch, int64_t number);
/// Whether grain_prefetch_finish would return at once.
GRAIN_API int32_t grain_prefetch_is_done(GrainPrefetch *prefetch, int64_t number);
/// Returns when the frame is read, with what reading it gave; one that nobody has begun is read here and now.
/// Its number is none from then on. Any thread may call this, one for each number.
GRAIN_API GrainResult grain_prefetch_finish(GrainPrefetch *prefetch, int64_t number, GrainPrefetchPoints *points);

#ifdef __cplusplus
}
#endif
