// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Frames read before they are wanted, on a thread of the library's own: who shows sand need not wait for a disk, and
/// no thread of a scripting language has to run beside the program that draws.
#include "grain/dots.h"
#include "grain/output.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAIN_AHEAD_COLUMNS 8

typedef struct GrainAhead GrainAhead;

/// One frame to be read. What the pointers of columns and colours lead to belongs to the caller, who leaves it alone
/// from grain_ahead_add until grain_ahead_finish or a grain_ahead_drop that gives it back; all else is copied.
typedef struct GrainAheadDef {
    uint32_t struct_size;
    int32_t column_count; ///< 1 to GRAIN_AHEAD_COLUMNS
    const char *path;
    int64_t count; ///< so many of the frame's grains, the first
    const char *names[GRAIN_AHEAD_COLUMNS];
    void *columns[GRAIN_AHEAD_COLUMNS]; ///< room for count elements of each
    const GrainDotsLook *look;          ///< NULL: no dots; largest_radius is not looked at
    uint8_t *colours;                   ///< as grain_dots_colour gives them, with a look: room for count times 4
} GrainAheadDef;

/// What became of the dots.
typedef struct GrainAheadDots {
    uint32_t struct_size;
    int32_t are_made;     ///< 0: no look was given, or a grain is gone (its radius is 0) and must not be drawn
    float largest_radius; ///< m
    float bounds[6];      ///< m; the least x, y and z, then the greatest
    uint32_t reserved;
} GrainAheadDots;

/// Starts the thread. It works on all cores, and lets others first where the system can do that.
GRAIN_API GrainResult grain_ahead_create(GrainAhead **out);
/// Returns when the thread has ended; the frame it was at is read to its end. Frames not yet finished are forgotten.
GRAIN_API void grain_ahead_destroy(GrainAhead *ahead);
/// Puts a frame behind those that wait. number is its own, from 1. Of a look with dots, columns must hold "position"
/// and "radius"; "moisture" is used where it is among them.
GRAIN_API GrainResult grain_ahead_add(GrainAhead *ahead, const GrainAheadDef *def, int64_t *number);
/// Forgets a frame, if nobody has begun to read it: 1, and its memory is the caller's again. Otherwise 0: finish it.
GRAIN_API int32_t grain_ahead_drop(GrainAhead *ahead, int64_t number);
/// Whether grain_ahead_finish would return at once.
GRAIN_API int32_t grain_ahead_is_done(GrainAhead *ahead, int64_t number);
/// Returns when the frame is read, with what reading it gave; one that nobody has begun is read here and now.
/// Its number is none from then on. Any thread may call this, one for each number.
GRAIN_API GrainResult grain_ahead_finish(GrainAhead *ahead, int64_t number, GrainAheadDots *dots);

#ifdef __cplusplus
}
#endif
