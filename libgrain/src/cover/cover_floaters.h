// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Floaters: particles that move towards an even cover (Witkin & Heckbert 1994). They repel each other along the
/// surface, and are moved from crowded regions to holes.
///
/// Lengths are in spacings, as in cover_surface.h. Arrays are in the order of the grid, which changes whenever the grid
/// is rebuilt.
#include "base/cell_grid.h"
#include "cover/cover_surface.h"

/// Floaters push each other up to here (in spacings). Between the first (1) and second (1.73) ring of neighbours of the
/// perfect pattern: with a shorter reach holes close slowly, with a longer one the second ring bends the pattern
/// (trials on a flat sheet: 1.2 leaves holes of 0.79, 1.7 ends with a mean distance 2 % lower than 1.5).
#define COVER_REACH 1.5f
/// Lists contain all floaters within this distance, so that they remain valid while floaters move a little.
#define COVER_LIST_REACH 1.85f
/// 16 floaters share a block of the list: neighbour k of floater 16 * block + lane is
/// neighbours[(block * COVER_LIST_LENGTH + k) * 16 + lane]. Short lists end in the floater itself, which does not push.
#define COVER_LIST_LANES 16
/// The perfect pattern has 13 within reach. If more floaters crowd together, the farthest are ignored.
#define COVER_LIST_LENGTH 40

/// Floaters handed to a thread at once: near edges a search takes longer than elsewhere, so small blocks even it out.
#define COVER_BLOCK 512
/// Arrays of floats that are sorted with the floaters: place, normal, last step, distance.
#define COVER_SORTED 10

typedef struct CoverFloaters {
    int64_t count, capacity;
    CoverPlaces places;
    float *move[3]; ///< last step
    float *next[3]; ///< places after the next step
    CellGrid grid;
    int32_t *neighbours;        ///< places in the grid's order
    int32_t *list_length;       ///< of each block of 16: neighbours of the one that has most
    float *spare[COVER_SORTED]; ///< for putting arrays in order
    MeshPoint *spare_points;
    double *sums; ///< one for each block of COVER_BLOCK
} CoverFloaters;

/// Reserves memory for at least this many floaters.
GrainResult cover_floaters_reserve(CoverFloaters *floaters, int64_t capacity);
void cover_floaters_free(CoverFloaters *floaters);
/// Sorts the floaters into the grid and lists their neighbours.
GrainResult cover_floaters_list(CoverFloaters *floaters, int threads);
/// Keeps the floaters marked 1 in keep, in their order. Lists are invalid afterwards.
void cover_floaters_keep(CoverFloaters *floaters, const uint8_t *keep);

/// Puts floaters on the surface at random, with the density of the perfect pattern, evenly on average: floor(share) in
/// each triangle and one more with the remaining probability (Bell, Yu & Mucha 2005, 3.3.1). *area receives the area of
/// the surface (spacings^2).
GrainResult cover_start(CoverFloaters *floaters, const CoverSurface *surface, int32_t seed, int64_t max_count,
                        int threads, double *area);
/// Before relaxation, thins floaters out where more surface is piled up within a spacing than particles could cover.
/// *area is reduced accordingly.
GrainResult cover_thin_piles(CoverFloaters *floaters, int threads, double *area);
/// Orientation of the faces below the floaters, from winding numbers in front of and behind some of them.
typedef struct CoverSides {
    int64_t outward, inward;
    int64_t buried; ///< inside on both sides
} CoverSides;
GrainResult cover_probe_sides(const CoverFloaters *floaters, const CoverSurface *surface, const MeshWinding *winding,
                              int threads, CoverSides *sides);
/// Before relaxation, removes floaters on parts of the mesh inside other parts, according to the distance field (sets
/// has_buried), and on all but one of several coincident sheets. *area is reduced accordingly.
GrainResult cover_drop_hidden(CoverFloaters *floaters, CoverSurface *surface, int threads, double *area);
/// Fails if the count exceeds the allowed one.
GrainResult cover_check_count(double count, int64_t max_count);
/// The share of a triangle is its area times this: the perfect pattern's particles in a spacing squared.
#define COVER_PER_AREA 1.1547005383792515

/// Lets floaters repel each other until they rest, for at most max_iterations; adds their number to *iterations.
GrainResult cover_relax(CoverFloaters *floaters, const CoverSurface *surface, int max_iterations, Run *run,
                        int32_t *iterations);
/// Projects all floaters onto the surface in at most `passes` steps each.
void cover_floaters_project(CoverFloaters *floaters, const CoverSurface *surface, int passes, int threads);

static inline Vec3 cover_get(float *const column[3], int64_t i)
{
    return vec3(column[0][i], column[1][i], column[2][i]);
}
static inline void cover_set(float *const column[3], int64_t i, Vec3 v)
{
    column[0][i] = v.x, column[1][i] = v.y, column[2][i] = v.z;
}

/// Floaters on opposite faces of a wall that is at least this thick (in spacings) ignore each other: each side has
/// its own cover. The two sides of a thinner wall share one. With a smaller value, floaters at the thin edges of
/// Suzanne's ears never come to rest, because their neighbours change too often where both sides meet.
#define COVER_WALL 0.6f
static inline int cover_is_behind_wall(Vec3 normal, Vec3 other_normal, Vec3 way)
{
    // Turned away from each other by more than 120 degrees.
    return vec3_dot(normal, other_normal) < -0.5f && fabsf(vec3_dot(normal, way)) > COVER_WALL;
}

/// One step of floaters [first, end), first a multiple of 16: repulsion by the list, along the surface, into move and
/// next.
SIMD_KERNEL(void, cover_push, (const CoverFloaters *floaters, int64_t first, int64_t end, float strength, float memory))
/// The list of floaters [first, end), first a multiple of 16.
SIMD_KERNEL(void, cover_list, (const CoverFloaters *floaters, int64_t first, int64_t end))
