// SPDX-License-Identifier: GPL-3.0-or-later
#include "sdf/sdf_from_mesh.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "mesh/mesh.h"
#include "mesh/mesh_copies.h"
#include "sdf/sdf_candidates.h"
#include "sdf/sdf_classify.h"
#include "sdf/sdf_measure.h"
#include "sdf/sdf_sign.h"
#include "sdf/sdf_tree.h"

#include <math.h>
#include <string.h>

// Lattice coordinates beyond this are not counted from the world's origin any more, so that they fit into int32.
#define MAX_LATTICE 1e9
#define DEFAULT_THICKNESS_VOXELS 2.0
// Between two looks at the progress callback.
#define BLOCKS_PER_ROUND 16384

// A thread's own working memory.
typedef struct Worker {
    MeasureScratch scratch;
    MeasureState state;
    SdfNormals normals;
} Worker;

typedef struct Builder {
    GrainSdf *sdf;
    const GrainMesh *mesh;
    Run *run;
    double band, half_thickness; // voxels
    GrainMesh own;               // without copies of faces, where there are any; then `mesh` is this one
    int32_t *own_triangles;
    SdfClassified parts;
    SdfCandidates bins;
    MeasureMesh measured;
    SdfSigner signer;
    MeshWinding winding;
    Worker *workers;
    uint8_t *unsure;   // block -> holds voxels whose side the normals did not tell
    uint8_t *doubtful; // block -> the sides have to be looked at again (sdf_count_contradictions)
    int64_t *wrong;    // block -> voxels on the wrong side; NULL until doubtful blocks are looked at
} Builder;

static GrainResult choose_lattice(Builder *b)
{
    GrainSdf *sdf = b->sdf;
    Vec3 low, high;
    mesh_bounds(b->mesh, b->run->thread_count, &low, &high);
    double voxel = (double)sdf->voxel_size, margin = b->band + b->half_thickness + 1.0;
    const double lows[3] = {(double)low.x, (double)low.y, (double)low.z};
    const double highs[3] = {(double)high.x, (double)high.y, (double)high.z};
    double extent = 0.0;
    float origin[3];
    for (int axis = 0; axis < 3; axis++) {
        // Blocks start at multiples of eight, as in OpenVDB, and the outermost layer of blocks stays empty.
        double first = 8.0 * (floor((lows[axis] / voxel - margin) / 8.0) - 1.0);
        origin[axis] = (float)(first * voxel);
        sdf->lattice[axis] = fabs(first) < MAX_LATTICE ? (int32_t)first : 0;
        extent = real_max(extent, (highs[axis] - (double)origin[axis]) / voxel + margin + 16.0);
    }
    sdf->origin = vec3(origin[0], origin[1], origin[2]);
    if (!isfinite(extent) || !vec3_is_finite(sdf->origin))
        return fail(GRAIN_ERROR_MESH, "the mesh reaches from %g to %g m: too far for distances to be computed",
                    real_min(lows[0], real_min(lows[1], lows[2])), real_max(highs[0], real_max(highs[1], highs[2])));
    sdf->depth = 1;
    while (sdf->depth < SDF_MAX_DEPTH && (double)(1 << (3 * (sdf->depth + 1))) < extent) sdf->depth++;
    const int most = 1 << (3 * (SDF_MAX_DEPTH + 1));
    if (most < extent)
        return fail(GRAIN_ERROR_MESH,
                    "the mesh is %.4g m long, %.3g voxels of %g m, and %d fit along an axis: use voxels of %.2g m or "
                    "larger (they follow the particle radius), or look for a vertex far away from the others",
                    extent * voxel, extent, voxel, most, extent * voxel / most);
    float reach = sdf->half_width + (float)(b->half_thickness * voxel);
    sdf->bounds_low = vec3(low.x - reach, low.y - reach, low.z - reach);
    sdf->bounds_high = vec3(high.x + reach, high.y + reach, high.z + reach);
    return GRAIN_OK;
}

// Puts a cluster's solids or sheets into the last group, if they fit, or into a new one.
static void add_cluster(const Builder *b, uint32_t cluster, int sheets, const int32_t corner[3], MeasureScratch *s)
{
    int32_t place[SDF_CLUSTER_TRIANGLES], count = 0;
    for (int32_t at = b->bins.cluster_start[cluster]; at < b->bins.cluster_start[cluster + 1]; at++)
        if (!b->parts.is_sheet || b->parts.is_sheet[b->bins.triangle[at]] == sheets) place[count++] = at;
    if (count == 0) return;
    const float *box = b->bins.cluster_box + 6 * (int64_t)cluster;
    int32_t group = s->group_count - 1;
    int is_new = group < 0 || s->used[group] + count > 8;
    if (is_new) s->used[++group] = 0, s->group_count++;
    for (int axis = 0; axis < 3; axis++) {
        float low = box[axis] - (float)corner[axis], high = box[axis + 3] - (float)corner[axis];
        if (is_new || low < s->low[axis][group]) s->low[axis][group] = low;
        if (is_new || high > s->high[axis][group]) s->high[axis][group] = high;
    }
    for (int32_t i = 0; i < count; i++) s->place[group][s->used[group]++] = place[i];
}

// The distances of one block's voxels to the solids or to the sheets, as far as `band`.
static void measure(const Builder *b, int64_t block, int sheets, double band, Worker *worker)
{
    MeasureScratch *s = &worker->scratch;
    int32_t corner[3];
    int64_t end = b->bins.block_start[block + 1];
    sdf_block_corner(b->sdf, block, corner);
    SIMD_CALL(sdf_measure_begin)(&worker->state, (float)band);
    s->group_count = 0;
    for (int64_t i = b->bins.block_start[block]; i < end; i++) {
        add_cluster(b, b->bins.clusters[i], sheets, corner, s);
        if (s->group_count == 0 || (i + 1 < end && s->group_count < MEASURE_GROUPS)) continue;
        SIMD_CALL(sdf_measure_add)(&b->measured, corner, s, &worker->state);
        s->group_count = 0;
    }
}

// Signs for the voxels nearest to an edge or a corner, which the triangle's own plane does not tell.
static void sign_by_normals(Builder *b, int64_t block, const uint64_t voxels[8], Worker *worker)
{
    float *values = b->sdf->values + block * SDF_BLOCK_VALUES;
    int32_t corner[3];
    sdf_block_corner(b->sdf, block, corner);
    for (int word = 0; word < 8; word++)
        for (uint64_t bits = voxels[word]; bits; bits &= bits - 1) {
            int at = 64 * word + __builtin_ctzll(bits), packet = at / 8;
            int x = 2 * (packet & 3) + (at & 1), y = 2 * (packet >> 2 & 3) + (at >> 1 & 1);
            int z = 2 * (packet >> 4) + (at >> 2 & 1);
            int32_t triangle = b->bins.triangle[worker->state.nearest[at]];
            Vec3d place = {corner[0] + x, corner[1] + y, corner[2] + z};
            int side = sdf_side_by_normal(&b->signer, &worker->normals, triangle, place);
            if (side == 0) b->unsure[block] = 1;
            float *value = &values[sdf_block_index(x, y, z)];
            if (side < 0) *value = -*value;
        }
}

static void measure_solids(Builder *b, int64_t block)
{
    Worker *worker = &b->workers[parallel_thread_index()];
    uint64_t unsigned_voxels[8];
    measure(b, block, 0, b->band, worker);
    SIMD_CALL(sdf_measure_end)
    (&worker->state, b->sdf->voxel_size, b->sdf->values + block * SDF_BLOCK_VALUES, unsigned_voxels);
    if (b->parts.solids_closed) sign_by_normals(b, block, unsigned_voxels, worker);
}

static void measure_sheets(Builder *b, int64_t block)
{
    Worker *worker = &b->workers[parallel_thread_index()];
    const MeasureState *state = &worker->state;
    float *values = b->sdf->values + block * SDF_BLOCK_VALUES, half_width = b->sdf->half_width;
    measure(b, block, 1, b->band + b->half_thickness, worker);
    for (int slot = 0; slot < 512; slot++) {
        int x = slot & 7, y = slot >> 3 & 7, z = slot >> 6, at = sdf_measure_index(x, y, z);
        if (state->nearest[at] < 0) continue;
        float distance = (sqrtf(state->squared[at]) - (float)b->half_thickness) * b->sdf->voxel_size;
        float *value = &values[sdf_block_index(x, y, z)];
        distance = distance < -half_width ? -half_width : distance;
        *value = distance < *value ? distance : *value;
    }
}

typedef void BlockFn(Builder *b, int64_t block);

static GrainResult for_all_blocks(Builder *b, BlockFn *work, const char *stage, double from, double to)
{
    int64_t total = b->sdf->block_count;
    for (int64_t first = 0; first < total; first += BLOCKS_PER_ROUND) {
        int64_t count = total - first < BLOCKS_PER_ROUND ? total - first : BLOCKS_PER_ROUND;
        PARALLEL_BLOCKS(b->run->thread_count, i, count) { work(b, first + i); }
        TRY(run_progress(b->run, stage, from + (to - from) * (double)(first + count) / (double)total));
    }
    return GRAIN_OK;
}

// --- sides ----------------------------------------------------------------------------------------

static void forget_far(Builder *b, int64_t block)
{
    float *values = b->sdf->values + block * SDF_BLOCK_VALUES;
    for (int i = 0; i < SDF_BLOCK_VALUES; i++)
        if (fabsf(values[i]) >= b->sdf->half_width) values[i] = SDF_FAR;
}

static void ask_winding(Builder *b, int64_t block) { sdf_sign_by_winding(&b->signer, block); }

static void look_again(Builder *b, int64_t block)
{
    b->wrong[block] = b->doubtful[block] ? sdf_count_wrong_sides(&b->signer, block) : 0;
}

static void flip(GrainSdf *sdf)
{
    for (int64_t i = 0; i < sdf->block_count * SDF_BLOCK_VALUES; i++) sdf->values[i] = -sdf->values[i];
    for (int64_t i = 0; i < sdf->node_count * SDF_NODE_CHILDREN; i++)
        if (sdf->nodes[i] < 0) sdf->nodes[i] = SDF_INSIDE + SDF_OUTSIDE - sdf->nodes[i];
}

static GrainResult prepare_winding(Builder *b)
{
    if (b->signer.winding) return GRAIN_OK;
    TRY(sdf_classified_winding(&b->parts, &b->winding, b->run->thread_count));
    b->signer.winding = &b->winding;
    b->signer.closed = b->parts.solids_closed;
    return GRAIN_OK;
}

static GrainResult fill_by_winding(Builder *b)
{
    GrainSdf *sdf = b->sdf;
    int64_t conflicts;
    TRY(prepare_winding(b));
    TRY(for_all_blocks(b, ask_winding, "distance field: inside and outside", 0.5, 0.9));
    SdfJudge judge = {sdf_judge_by_winding, &b->signer};
    for (int64_t i = 0; i < sdf->node_count * SDF_NODE_CHILDREN; i++)
        if (sdf->nodes[i] < 0) sdf->nodes[i] = SDF_OUTSIDE;
    TRY(sdf_fill(sdf, &judge, b->run->thread_count, &conflicts));
    sdf_copy_far_sides(sdf, b->run->thread_count);
    return GRAIN_OK;
}

// Distances may fit together although sides are wrong, where layers of the surface are closer than two voxels: there
// the winding number has the last word. *wrong: voxels it disagrees about.
static GrainResult check_doubtful(Builder *b, int64_t *wrong)
{
    int64_t doubtful = 0;
    *wrong = 0;
    for (int64_t block = 0; block < b->sdf->block_count; block++) doubtful += b->doubtful[block];
    if (doubtful == 0) return GRAIN_OK;
    b->wrong = ALLOC(int64_t, b->sdf->block_count);
    if (!b->wrong) return GRAIN_ERROR_MEMORY;
    TRY(prepare_winding(b));
    TRY(for_all_blocks(b, look_again, "distance field: inside and outside", 0.5, 0.6));
    for (int64_t block = 0; block < b->sdf->block_count; block++) *wrong += b->wrong[block];
    return GRAIN_OK;
}

// Normals tell the sides of a closed mesh, unless it crosses itself or has shells in shells. Then the distances do not
// fit together, which is seen, and the winding number has to tell.
static GrainResult find_sides(Builder *b)
{
    GrainSdf *sdf = b->sdf;
    int threads = b->run->thread_count;
    int64_t conflicts = 0, contradictions = 0, wrong = 0;
    if (!b->parts.solids_closed) return fill_by_winding(b);
    TRY(sdf_fill(sdf, NULL, threads, &conflicts));
    sdf_copy_far_sides(sdf, threads);
    if (conflicts == 0) TRY(sdf_count_contradictions(sdf, threads, &contradictions, b->doubtful));
    for (int64_t block = 0; block < sdf->block_count; block++) contradictions += b->unsure[block];
    int is_inside_out = sdf_find_block(sdf, 0, 0, 0) == SDF_INSIDE;
    if (conflicts + contradictions == 0) {
        if (is_inside_out) flip(sdf); // closed all the same
        TRY(check_doubtful(b, &wrong));
    }
    if (conflicts + contradictions + wrong == 0) return GRAIN_OK;
    TRY(for_all_blocks(b, forget_far, "distance field: inside and outside", 0.5, 0.5));
    return fill_by_winding(b);
}

static GrainResult find_solids(Builder *b)
{
    GrainSdf *sdf = b->sdf;
    if (b->parts.solid_triangles == 0) {
        for (int64_t i = 0; i < sdf->block_count * SDF_BLOCK_VALUES; i++) sdf->values[i] = sdf->half_width;
        return GRAIN_OK;
    }
    b->signer = (SdfSigner){.sdf = sdf, .topology = &b->parts.topology, .flipped = sdf_classified_flipped(&b->parts)};
    TRY(for_all_blocks(b, measure_solids, "distance field: measuring", 0.2, 0.5));
    return find_sides(b);
}

// A face that is there twice is no hole in a solid, but counts twice for the winding number.
static GrainResult classify(Builder *b, GrainSdfKind kind)
{
    int64_t count;
    TRY(sdf_classify(&b->parts, b->mesh, kind, b->run));
    TRY(mesh_drop_copies(&b->parts.topology, b->run->thread_count, &b->own_triangles, &count));
    if (!b->own_triangles) return GRAIN_OK;
    b->own = *b->mesh;
    b->own.triangles = b->own_triangles, b->own.triangle_count = count;
    b->mesh = &b->own;
    sdf_classified_free(&b->parts);
    return sdf_classify(&b->parts, b->mesh, kind, b->run);
}

static GrainResult build(Builder *b, const GrainSdfDef *def)
{
    GrainSdf *sdf = b->sdf;
    Run *run = b->run;
    TRY(classify(b, (GrainSdfKind)def->kind));
    TRY(run_progress(run, "distance field: sorting", 0.05));
    if (b->parts.sheet_triangles == 0) b->half_thickness = 0.0;
    TRY(choose_lattice(b));
    TRY(sdf_candidates_build(&b->bins, sdf, b->mesh, b->band + b->half_thickness, run));
    TRY(sdf_tree_build(sdf));
    sdf->values = ALLOC(float, sdf->block_count *SDF_BLOCK_VALUES);
    b->workers = ALLOC_ZEROED(Worker, run->thread_count);
    b->unsure = ALLOC_ZEROED(uint8_t, sdf->block_count);
    b->doubtful = ALLOC_ZEROED(uint8_t, sdf->block_count);
    if (!sdf->values || !b->workers || !b->unsure || !b->doubtful) return GRAIN_ERROR_MEMORY;
    b->measured = (MeasureMesh){.order = b->bins.triangle,
                                .positions = b->mesh->positions,
                                .triangles = b->mesh->triangles,
                                .flipped = sdf_classified_flipped(&b->parts),
                                .origin = {(double)sdf->origin.x, (double)sdf->origin.y, (double)sdf->origin.z},
                                .voxels_per_metre = 1.0 / (double)sdf->voxel_size};
    TRY(find_solids(b));
    if (b->parts.sheet_triangles > 0) {
        TRY(for_all_blocks(b, measure_sheets, "distance field: sheets", 0.9, 1.0));
        sdf_copy_far_sides(sdf, run->thread_count);
    }
    return GRAIN_OK;
}

GrainResult sdf_from_mesh(GrainSdf *sdf, const GrainMesh *mesh, const GrainSdfDef *def, Run *run)
{
    double voxel = (double)def->voxel_size;
    double thickness = def->thickness > 0.0f ? (double)def->thickness / voxel : DEFAULT_THICKNESS_VOXELS;
    Builder b = {
        .sdf = sdf, .mesh = mesh, .run = run, .band = (double)def->band_voxels, .half_thickness = 0.5 * thickness};
    sdf->voxel_size = def->voxel_size;
    sdf->half_width = def->voxel_size * def->band_voxels;
    GrainResult result = build(&b, def);
    sdf_classified_free(&b.parts);
    alloc_free(b.own_triangles);
    sdf_candidates_free(&b.bins);
    mesh_winding_free(&b.winding);
    alloc_free(b.workers);
    alloc_free(b.unsure);
    alloc_free(b.doubtful);
    alloc_free(b.wrong);
    return result;
}
