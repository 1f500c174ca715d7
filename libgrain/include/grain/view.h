// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Support for viewports: particles as shaded points, and frames loaded before they are needed.
#include "grain/output.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- shaded points ----------------------------------------------------------------------------------

#define GRAIN_POINTS_COLOURS 256

/// The appearance of particles. Colours are linear, 0 to 1.
typedef struct GrainPointsLook {
    uint32_t struct_size;
    float wet_value;                        ///< 0 to 1, brightness at moisture 1 relative to moisture 0
    float largest_radius;                   ///< > 0, in the units of GrainPoints.radii
    uint32_t reserved;                      ///< 0
    float colours[GRAIN_POINTS_COLOURS][3]; ///< a particle's id picks one of these, the same in every frame
} GrainPointsLook;

/// The particles. All arrays have `count` elements.
typedef struct GrainPoints {
    uint32_t struct_size;
    uint32_t reserved; ///< 0
    int64_t count;
    const float *positions; ///< xyz
    const float *radii;
    const int32_t *ids;     ///< NULL: the index is the id
    const float *moistures; ///< NULL: all 0
} GrainPoints;

/// Computes a colour for every particle, lit from above; the surface normal near a particle is estimated from the
/// density of the others around it. `out` receives four bytes per particle: the square roots of red, green and blue,
/// and the radius relative to the largest one, each scaled to 0 to 255. `bounds` (may be NULL) receives the lowest x, y
/// and z, then the highest; it is left unchanged if there are no particles.
GRAIN_API GrainResult grain_points_colour(const GrainPoints *points, const GrainPointsLook *look, const GrainRun *run,
                                          uint8_t *out, float bounds[6]);

/// The image to draw. Pixels are counted from the lower left corner of the viewport.
typedef struct GrainPointsView {
    uint32_t struct_size;
    int32_t width, height; ///< of the whole viewport, 1 to 16384
    int32_t left, bottom;  ///< The rectangle to draw: 0 <= left < right <= width,
    int32_t right, top;    ///< 0 <= bottom < top <= height.
    float diameter;        ///< pixels, of the largest particle at w = 1
    int32_t most_pixels;   ///< 1 to 32, limit of a point's width; caps the cost of points close to the camera
    float matrix[16];      ///< from particle positions to OpenGL clip space; row-major, applied to column vectors
    uint32_t reserved;     ///< 0
} GrainPointsView;

/// Draws particles on the CPU, for machines without a usable graphics card. `out` receives two floats per pixel of the
/// rectangle, bottom row first: the depth (0 to 1, or 2 where there is nothing) and the colour of the nearest particle
/// as red * 65536 + green * 256 + blue. `colours` come from grain_points_colour.
GRAIN_API GrainResult grain_points_picture(const float *positions, const uint8_t *colours, int64_t count,
                                           const GrainPointsView *view, const GrainRun *run, float *out);

// --- frames loaded in advance -----------------------------------------------------------------------

#define GRAIN_PREFETCH_COLUMNS 8

/// A background thread that loads frames in the order they were requested, so that playback never blocks on a disk.
typedef struct GrainPrefetch GrainPrefetch;

/// A frame to load. The memory behind `columns` and `colours` belongs to the caller, who must not touch it from
/// grain_prefetch_add until grain_prefetch_finish, or a grain_prefetch_drop that returns 1. Everything else is copied.
typedef struct GrainPrefetchDef {
    uint32_t struct_size;
    int32_t column_count; ///< 1 to GRAIN_PREFETCH_COLUMNS
    const char *path;     ///< of the frame's file
    int64_t count;        ///< how many elements to load, from the first on
    const char *names[GRAIN_PREFETCH_COLUMNS];
    void *columns[GRAIN_PREFETCH_COLUMNS]; ///< room for `count` elements of each column
    const GrainPointsLook *look;           ///< also compute colours; NULL: do not. largest_radius is ignored.
    uint8_t *colours;                      ///< with a look: room for 4 * count bytes, as from grain_points_colour
} GrainPrefetchDef;

/// The colours of a frame that was loaded with a look.
typedef struct GrainPrefetchPoints {
    uint32_t struct_size;
    int32_t are_made;     ///< 0: no look was given, or a particle has been removed (radius 0) and must be filtered out
    float largest_radius; ///< m
    float bounds[6];      ///< m, lowest x, y, z, then highest
    uint32_t reserved;    ///< 0
} GrainPrefetchPoints;

/// Starts the thread. It uses all cores, at low priority where the system allows that.
GRAIN_API GrainResult grain_prefetch_create(GrainPrefetch **out);
/// Ends the thread, after the frame it is loading. Requests that were not finished are discarded.
GRAIN_API void grain_prefetch_destroy(GrainPrefetch *prefetch);
/// Queues a frame and returns its number, counted from 1. With a look, the columns must include "position" and
/// "radius"; "moisture" is used if present.
GRAIN_API GrainResult grain_prefetch_add(GrainPrefetch *prefetch, const GrainPrefetchDef *def, int64_t *number);
/// Removes a frame from the queue if loading has not begun: returns 1, and its memory is the caller's again. Otherwise
/// returns 0: call grain_prefetch_finish.
GRAIN_API int32_t grain_prefetch_drop(GrainPrefetch *prefetch, int64_t number);
/// 1 if grain_prefetch_finish would return at once.
GRAIN_API int32_t grain_prefetch_is_done(GrainPrefetch *prefetch, int64_t number);
/// Waits for a frame and returns the result of loading it; a frame that is still queued is loaded right here. The
/// number is invalid afterwards. May be called from any thread, once per number.
GRAIN_API GrainResult grain_prefetch_finish(GrainPrefetch *prefetch, int64_t number, GrainPrefetchPoints *points);

#ifdef __cplusplus
}
#endif
