// SPDX-License-Identifier: GPL-3.0-or-later
#include "sdf/sdf.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/run.h"
#include "mesh/mesh.h"
#include "sdf/sdf_from_mesh.h"

#define MIN_BAND 2.0f
#define MAX_BAND 16.0f
#define DEFAULT_BAND 3.0f
#define MAX_THICKNESS 64.0f // voxels
#define MAX_VOXEL 2e36f     // m: thickness and band stay within float's range
// Points transposed at once: three arrays in, four out, all in the first-level cache.
#define SAMPLE_BLOCK 512

GrainResult grain_sdf_def_default(GrainSdfDef *def, uint32_t size)
{
    BEGIN_DEFAULT(def, size, GrainSdfDef);
    def->band_voxels = DEFAULT_BAND;
    return GRAIN_OK;
}

static GrainResult check_def(const GrainSdfDef *def)
{
    CHECK_STRUCT(def, GrainSdfDef);
    if (!(def->voxel_size > 0.0f && def->voxel_size <= MAX_VOXEL))
        return fail(GRAIN_ERROR_ARGUMENT, "voxel_size is %g m; it must be above 0 and at most %g m",
                    (double)def->voxel_size, (double)MAX_VOXEL);
    if (!(def->band_voxels >= MIN_BAND && def->band_voxels <= MAX_BAND))
        return fail(GRAIN_ERROR_ARGUMENT, "band_voxels is %g; allowed are %g to %g", (double)def->band_voxels,
                    (double)MIN_BAND, (double)MAX_BAND);
    if (!(def->thickness >= 0.0f) || !isfinite(def->thickness))
        return fail(GRAIN_ERROR_ARGUMENT, "thickness is %g m; it must be 0 (two voxels) or above",
                    (double)def->thickness);
    if (def->thickness > MAX_THICKNESS * def->voxel_size)
        return fail(GRAIN_ERROR_ARGUMENT,
                    "thickness is %g m, %.0f voxels; at most %g voxels are allowed: use larger voxels",
                    (double)def->thickness, (double)def->thickness / (double)def->voxel_size, (double)MAX_THICKNESS);
    if (def->kind < GRAIN_SDF_AUTO || def->kind > GRAIN_SDF_SHELL)
        return fail(GRAIN_ERROR_ARGUMENT, "kind is %d; allowed are 0 (auto), 1 (solid) and 2 (shell)", def->kind);
    return GRAIN_OK;
}

GrainResult grain_sdf_create(const GrainMesh *mesh, const GrainSdfDef *def, const GrainRun *options, GrainSdf **out)
{
    if (!out) return fail(GRAIN_ERROR_ARGUMENT, "grain_sdf_create needs a pointer for its result");
    *out = NULL;
    Run run;
    TRY(run_begin(&run, options));
    TRY(check_def(def));
    TRY(mesh_validate_on(mesh, run.thread_count));
    GrainSdf *sdf = ALLOC_ZEROED(GrainSdf, 1);
    if (!sdf) return GRAIN_ERROR_MEMORY;
    GrainResult result = sdf_from_mesh(sdf, mesh, def, &run);
    if (result == GRAIN_OK)
        *out = sdf;
    else
        grain_sdf_destroy(sdf);
    return result;
}

void grain_sdf_destroy(GrainSdf *sdf)
{
    if (!sdf) return;
    alloc_free(sdf->nodes);
    alloc_free(sdf->values);
    alloc_free(sdf->block_key);
    alloc_free(sdf);
}

void sdf_bounds(const GrainSdf *sdf, Vec3 *low, Vec3 *high)
{
    *low = sdf->bounds_low;
    *high = sdf->bounds_high;
}

void sdf_sample(const GrainSdf *sdf, const float *x, const float *y, const float *z, int64_t count, float *distance,
                float *gx, float *gy, float *gz)
{
    SIMD_CALL(sdf_sample)(sdf, x, y, z, count, distance, gx, gy, gz);
}

float sdf_sample_point(const GrainSdf *sdf, Vec3 position, Vec3 *gradient)
{
    float distance;
    Vec3 slope;
    sdf_sample(sdf, &position.x, &position.y, &position.z, 1, &distance, &slope.x, &slope.y, &slope.z);
    if (gradient) *gradient = slope;
    return distance;
}

static void sample_interleaved(const GrainSdf *sdf, const float *positions, int64_t count, float *distances,
                               float *gradients)
{
    float in[3][SAMPLE_BLOCK], slope[3][SAMPLE_BLOCK];
    for (int64_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++) in[axis][i] = positions[3 * i + axis];
    if (gradients)
        sdf_sample(sdf, in[0], in[1], in[2], count, distances, slope[0], slope[1], slope[2]);
    else
        sdf_sample(sdf, in[0], in[1], in[2], count, distances, NULL, NULL, NULL);
    for (int64_t i = 0; gradients && i < count; i++)
        for (int axis = 0; axis < 3; axis++) gradients[3 * i + axis] = slope[axis][i];
}

GrainResult grain_sdf_sample(const GrainSdf *sdf, const float *positions, int64_t count, float *distances,
                             float *gradients, const GrainRun *options)
{
    if (!sdf || count < 0 || (count > 0 && (!positions || !distances)))
        return fail(GRAIN_ERROR_ARGUMENT, "grain_sdf_sample needs a GrainSdf, positions and an array for distances");
    Run run;
    TRY(run_begin(&run, options));
    int64_t block_count = parallel_block_count(count, SAMPLE_BLOCK);
    PARALLEL_BLOCKS(run.thread_count, block, block_count)
    {
        int64_t first = block * SAMPLE_BLOCK, end = parallel_block_end(block, SAMPLE_BLOCK, count);
        sample_interleaved(sdf, positions + 3 * first, end - first, distances + first,
                           gradients ? gradients + 3 * first : NULL);
    }
    return GRAIN_OK;
}
