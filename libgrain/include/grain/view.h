// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Viewport support: grains as lit dots, and frames read in advance so that playback never blocks on the disk. For a
/// graphics card, a colour for each grain; without one, an image of all grains with depths to composite over the view.
#include "grain/output.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAIN_POINTS_COLOURS 256

/// Appearance of the grains. Colours are linear, 0 to 1.
typedef struct GrainPointsLook {
    uint32_t struct_size;
    float wet_value;                        ///< brightness at moisture 1 relative to dry, 0 to 1
    float largest_radius;                   ///< > 0; in the unit of the radii
    uint32_t reserved;                      ///< 0
    float colours[GRAIN_POINTS_COLOURS][3]; ///< chosen by the id of a grain
} GrainPointsLook;

/// The grains; all arrays have `count` elements.
typedef struct GrainPoints {
    uint32_t struct_size;
    uint32_t reserved; ///< 0
    int64_t count;
    const float *positions; ///< xyz
    const float *radii;
    const int32_t *ids;     ///< NULL: 0, 1, 2, ...
    const float *moistures; ///< NULL: dry
} GrainPoints;

/// Lights the grains from above, with normals estimated from neighbouring grains. out gets four bytes per grain: the
/// square roots of red, green and blue times 255, and the radius relative to the largest. bounds, unless NULL, gets the
/// minimum and then the maximum x, y and z; it is not changed if there are no grains.
GRAIN_API GrainResult grain_points_colour(const GrainPoints *points, const GrainPointsLook *look, const GrainRun *run,
                                          uint8_t *out, float bounds[6]);

/// The view. Pixels are counted from its lower left corner.
typedef struct GrainPointsView {
    uint32_t struct_size;
    int32_t width, height; ///< of the whole view, at most 16384
    int32_t left, bottom, right,
        top;             ///< the part to draw: 0 <= left < right <= width, likewise bottom and top
    float diameter;      ///< of the largest grain at w = 1, in pixels
    int32_t most_pixels; ///< largest dot, 1 to 32: caps the cost of grains close to the camera
    float matrix[16];    ///< to OpenGL clip space, row-major, applied to columns
    uint32_t reserved;   ///< 0
} GrainPointsView;

/// Two floats per pixel of the part, in rows from bottom to top: the depth (0 to 1, or 2 without a grain) and the
/// colour of the nearest grain as red * 65536 + green * 256 + blue. colours come from grain_points_colour.
GRAIN_API GrainResult grain_points_picture(const float *positions, const uint8_t *colours, int64_t count,
                                           const GrainPointsView *view, const GrainRun *run, float *out);

// --- frames read in advance -----------------------------------------------------------------------

#define GRAIN_PREFETCH_COLUMNS 8

typedef struct GrainPrefetch GrainPrefetch;

/// A frame to read. The arrays that columns and colours point to belong to the caller, who must not touch them between
/// grain_prefetch_add and grain_prefetch_finish (or a grain_prefetch_drop that returns 1). Everything else is copied.
typedef struct GrainPrefetchDef {
    uint32_t struct_size;
    int32_t column_count; ///< 1 to GRAIN_PREFETCH_COLUMNS
    const char *path;
    int64_t count; ///< number of grains to read, from the first
    const char *names[GRAIN_PREFETCH_COLUMNS];
    void *columns[GRAIN_PREFETCH_COLUMNS]; ///< arrays of count elements
    const GrainPointsLook *look;           ///< NULL: no dots. largest_radius is ignored.
    uint8_t *colours;                      ///< with a look: 4 * count bytes for the result of grain_points_colour
} GrainPrefetchDef;

/// The dots of a frame.
typedef struct GrainPrefetchPoints {
    uint32_t struct_size;
    int32_t are_made;     ///< 0: no look was given, or a grain has been removed (radius 0) and must not be drawn
    float largest_radius; ///< m
    float bounds[6];      ///< m; the least x, y and z, then the greatest
    uint32_t reserved;
} GrainPrefetchPoints;

/// Starts the reader thread. It uses all cores, at low priority if the system supports that.
GRAIN_API GrainResult grain_prefetch_create(GrainPrefetch **out);
/// Waits for the thread, which completes the frame it is reading. Other frames are dropped.
GRAIN_API void grain_prefetch_destroy(GrainPrefetch *prefetch);
/// Appends a frame to the queue; *number identifies it (1, 2, ...). With a look, columns must include "position" and
/// "radius"; "moisture" is used if present.
GRAIN_API GrainResult grain_prefetch_add(GrainPrefetch *prefetch, const GrainPrefetchDef *def, int64_t *number);
/// Removes a frame whose reading has not started and returns 1: its arrays belong to the caller again. Otherwise
/// returns 0, and the frame must be finished.
GRAIN_API int32_t grain_prefetch_drop(GrainPrefetch *prefetch, int64_t number);
/// Whether grain_prefetch_finish would return at once.
GRAIN_API int32_t grain_prefetch_is_done(GrainPrefetch *prefetch, int64_t number);
/// Waits until the frame is read and returns the result of reading it; a frame not yet started is read on the calling
/// thread. The number is invalid afterwards. May be called from any thread, but only once per number.
GRAIN_API GrainResult grain_prefetch_finish(GrainPrefetch *prefetch, int64_t number, GrainPrefetchPoints *points);

#ifdef __cplusplus
}
#endif
