// SPDX-License-Identifier: GPL-3.0-or-later
// A mesh as balls: the largest ball that fits anywhere, then again and again the one that covers most of what is not
// yet covered. The distance field tells how large a ball fits where.
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "sdf/sdf.h"
#include "shape/shape.h"

#include <math.h>

// Voxels along the mesh's longest side: the band must reach from the surface to the middle.
#define VOXELS 28
#define BAND_VOXELS 16.0f
// Enough when this much of the inside is covered.
#define COVERED_ENOUGH 0.98

typedef struct Site {
    Vec3 at;
    float room; // radius of the ball that fits here
    int covered;
    int64_t gain; // sites a ball here would add; it was so in that round, and can only have become less
    int round;
} Site;

static int covers(const Site *ball, const Site *site)
{
    Vec3 between = vec3_sub(ball->at, site->at);
    return vec3_dot(between, between) < ball->room * ball->room;
}

static int64_t find_sites(const GrainSdf *sdf, Site *sites)
{
    Vec3 low, high;
    sdf_bounds(sdf, &low, &high);
    float step = sdf_voxel_size(sdf);
    int64_t count = 0;
    for (float z = low.z; z < high.z; z += step)
        for (float y = low.y; y < high.y; y += step)
            for (float x = low.x; x < high.x; x += step) {
                Vec3 at = {x, y, z}, gradient;
                float distance = sdf_sample_point(sdf, at, &gradient);
                if (distance >= 0.0f) continue;
                if (sites) sites[count] = (Site){at, -distance, 0, INT64_MAX, -1};
                count++;
            }
    return count;
}

static int64_t gain_of(const Site *sites, int64_t count, const Site *ball)
{
    int64_t gain = 0;
    for (int64_t i = 0; i < count; i++) gain += !sites[i].covered && covers(ball, &sites[i]);
    return gain;
}

// Where a ball adds most. As gains never grow, most sites need not be looked at again.
static int64_t best_site(Site *sites, int64_t count, float least_room, int round)
{
    for (;;) {
        int64_t best = -1;
        for (int64_t i = 0; i < count; i++)
            if (sites[i].room >= least_room && (best < 0 || sites[i].gain > sites[best].gain)) best = i;
        if (best < 0 || sites[best].gain == 0) return -1;
        if (sites[best].round == round) return best;
        sites[best].gain = gain_of(sites, count, &sites[best]);
        sites[best].round = round;
    }
}

static int choose_balls(Site *sites, int64_t count, float voxel, int wanted, ShapeBall *balls)
{
    int made = 0;
    int64_t covered = 0;
    float largest = 0.0f;
    for (int64_t i = 0; i < count; i++) {
        largest = real_maxf(largest, sites[i].room);
        sites[i].gain =
            (int64_t)(1.5 * 4.19 * real_pow((double)(sites[i].room / voxel) + 1.0, 3.0)); // more than it can be
    }
    while (made < wanted && (double)covered < COVERED_ENOUGH * (double)count) {
        // Balls much smaller than the largest would set the time step for all.
        int64_t best = best_site(sites, count, 0.25f * largest, made);
        if (best < 0) break;
        balls[made++] = (ShapeBall){sites[best].at, sites[best].room};
        for (int64_t i = 0; i < count; i++)
            if (!sites[i].covered && covers(&sites[best], &sites[i])) sites[i].covered = 1, covered++;
    }
    return made;
}

static float longest_side(const GrainMesh *mesh)
{
    Vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        Vec3 at = {mesh->positions[3 * v], mesh->positions[3 * v + 1], mesh->positions[3 * v + 2]};
        low = vec3_min(low, at), high = vec3_max(high, at);
    }
    return real_maxf(high.x - low.x, real_maxf(high.y - low.y, high.z - low.z));
}

GrainResult shape_from_mesh(const GrainMesh *mesh, int ball_count, BallShape *out)
{
    GrainSdf *sdf;
    GrainSdfDef def;
    GrainRun run = {sizeof run, 1, NULL, NULL};
    TRY(grain_sdf_def_default(&def, sizeof def));
    def.voxel_size = longest_side(mesh) / VOXELS;
    def.band_voxels = BAND_VOXELS;
    TRY(grain_sdf_create(mesh, &def, &run, &sdf));
    int64_t count = find_sites(sdf, NULL);
    Site *sites = ALLOC(Site, count);
    ShapeBall balls[GRAIN_SHAPE_MAX_BALLS];
    GrainResult result = sites ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (sites) {
        find_sites(sdf, sites);
        int made = choose_balls(sites, count, def.voxel_size,
                                ball_count < GRAIN_SHAPE_MAX_BALLS ? ball_count : GRAIN_SHAPE_MAX_BALLS, balls);
        result = made > 0 ? shape_from_balls(balls, made, out)
                          : fail(GRAIN_ERROR_MESH, "no ball fits into the grain's mesh; it must be closed");
    }
    alloc_free(sites);
    grain_sdf_destroy(sdf);
    return result;
}
