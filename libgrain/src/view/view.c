// SPDX-License-Identifier: GPL-3.0-or-later
// The public calls of grain/view.h check their arguments here; points.c, points_picture.c and prefetch.c do the work.
#include "base/error.h"
#include "view/points.h"
#include "view/prefetch.h"

#include <math.h>

#define MOST_SIDE 16384
#define MOST_PIXELS 32
// Below that one thread is done before a second has come: while a bake has the cores that may take longer than the
// work.
#define PER_THREAD 200000

static int threads_for(int64_t count, const Run *run)
{
    int64_t useful = count / PER_THREAD + 1;
    return useful < run->thread_count ? (int)useful : run->thread_count;
}

GrainResult grain_points_colour(const GrainPoints *points, const GrainPointsLook *look, const GrainRun *options,
                                uint8_t *out, float bounds[6])
{
    Run run;
    CHECK_STRUCT(points, GrainPoints);
    CHECK_STRUCT(look, GrainPointsLook);
    TRY(run_begin(&run, options));
    if (points->count < 0)
        return fail(GRAIN_ERROR_ARGUMENT, "GrainPoints.count is %lld; it must be at least 0", (long long)points->count);
    if (points->count == 0) return GRAIN_OK;
    if (!points->positions || !points->radii || !out)
        return fail(GRAIN_ERROR_ARGUMENT, "grain_points_colour: positions, radii or out is NULL");
    if (!(look->largest_radius > 0.0f) || !isfinite(look->largest_radius))
        return fail(GRAIN_ERROR_ARGUMENT, "largest_radius is %g; it must be above 0", (double)look->largest_radius);
    run.thread_count = threads_for(points->count, &run);
    return points_colour(points, look, &run, out, bounds);
}

GrainResult grain_points_picture(const float *positions, const uint8_t *colours, int64_t count,
                                 const GrainPointsView *view, const GrainRun *options, float *out)
{
    Run run;
    CHECK_STRUCT(view, GrainPointsView);
    TRY(run_begin(&run, options));
    if (count < 0)
        return fail(GRAIN_ERROR_ARGUMENT, "grain_points_picture: count is %lld; it must be at least 0",
                    (long long)count);
    if (!out || (count > 0 && (!positions || !colours)))
        return fail(GRAIN_ERROR_ARGUMENT, "grain_points_picture: positions, colours or out is NULL");
    if (view->width < 1 || view->height < 1 || view->width > MOST_SIDE || view->height > MOST_SIDE)
        return fail(GRAIN_ERROR_ARGUMENT, "the view is %d x %d pixels; allowed are 1 to %d", view->width, view->height,
                    MOST_SIDE);
    if (view->left < 0 || view->bottom < 0 || view->right <= view->left || view->top <= view->bottom ||
        view->right > view->width || view->top > view->height)
        return fail(GRAIN_ERROR_ARGUMENT, "the part from (%d, %d) to (%d, %d) is not inside a view of %d x %d pixels",
                    view->left, view->bottom, view->right, view->top, view->width, view->height);
    if (view->most_pixels < 1 || view->most_pixels > MOST_PIXELS)
        return fail(GRAIN_ERROR_ARGUMENT, "most_pixels is %d; allowed are 1 to %d", view->most_pixels, MOST_PIXELS);
    run.thread_count = threads_for(count, &run);
    return points_picture(positions, colours, count, view, &run, out);
}

// --- frames read in advance -----------------------------------------------------------------------

GrainResult grain_prefetch_create(GrainPrefetch **out)
{
    if (!out) return fail(GRAIN_ERROR_ARGUMENT, "grain_prefetch_create: out is NULL");
    *out = NULL;
    return prefetch_create(out);
}

void grain_prefetch_destroy(GrainPrefetch *prefetch)
{
    if (prefetch) prefetch_destroy(prefetch);
}

static GrainResult check_def(const GrainPrefetchDef *def)
{
    if (!def->path) return fail(GRAIN_ERROR_ARGUMENT, "grain_prefetch_add: path is NULL");
    if (def->column_count < 1 || def->column_count > GRAIN_PREFETCH_COLUMNS || def->count < 0)
        return fail(GRAIN_ERROR_ARGUMENT, "grain_prefetch_add: %lld elements of %d columns", (long long)def->count,
                    def->column_count);
    for (int c = 0; c < def->column_count; c++)
        if (!def->names[c] || !def->columns[c])
            return fail(GRAIN_ERROR_ARGUMENT, "grain_prefetch_add: column %d has no name or no array", c);
    if (!def->look) return GRAIN_OK;
    CHECK_STRUCT(def->look, GrainPointsLook);
    if (!def->colours || !prefetch_column(def, "position") || !prefetch_column(def, "radius"))
        return fail(GRAIN_ERROR_ARGUMENT, "grain_prefetch_add: points need colours, 'position' and 'radius'");
    return GRAIN_OK;
}

GrainResult grain_prefetch_add(GrainPrefetch *prefetch, const GrainPrefetchDef *def, int64_t *number)
{
    if (!prefetch || !number) return fail(GRAIN_ERROR_ARGUMENT, "grain_prefetch_add: prefetch or number is NULL");
    CHECK_STRUCT(def, GrainPrefetchDef);
    TRY(check_def(def));
    return prefetch_add(prefetch, def, number);
}

int32_t grain_prefetch_drop(GrainPrefetch *prefetch, int64_t number)
{
    return prefetch && prefetch_drop(prefetch, number);
}

int32_t grain_prefetch_is_done(GrainPrefetch *prefetch, int64_t number)
{
    return prefetch && prefetch_is_done(prefetch, number);
}

GrainResult grain_prefetch_finish(GrainPrefetch *prefetch, int64_t number, GrainPrefetchPoints *points)
{
    if (!prefetch) return fail(GRAIN_ERROR_ARGUMENT, "grain_prefetch_finish: prefetch is NULL");
    CHECK_STRUCT(points, GrainPrefetchPoints);
    return prefetch_finish(prefetch, number, points);
}
