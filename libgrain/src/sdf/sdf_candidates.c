// SPDX-License-Identifier: GPL-3.0-or-later
#include "sdf/sdf_candidates.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "base/sort.h"
#include "base/system.h"
#include "mesh/mesh.h"
#include "mesh/mesh_order.h"
#include "sdf/sdf_tree.h"

#include <stdatomic.h>
#include <string.h>

// A cluster stays within half a block: larger ones are listed in more blocks than their triangles reach.
#define CLUSTER_EXTENT 4.0
// Places of the spatial order handled at once; clusters end there.
#define SEGMENT 4096
// sdf_sample counts values in int32.
#define MAX_BLOCKS (INT32_MAX / SDF_BLOCK_VALUES)
// A block of a dense mesh has some twenty clusters.
#define MAX_LISTINGS ((int64_t)32 * MAX_BLOCKS)
// A surface whose estimate is this many times what there is room for is refused at once. The estimate counts layers
// that lie on each other apart, though they share blocks: so not at the first byte too many.
#define HOPELESS 2.0
// Boxes of more blocks than this are halved and looked at in parts: most of a long diagonal triangle's box is empty.
#define FEW_BLOCKS 64

// A cluster, or one triangle, in voxels.
typedef struct Shape {
    Vec3d low, high;
    int axis_count;        // 0; 1: only its normal; 4: one triangle
    Vec3d axis[4];         // its normal, and in a triangle's plane the outward normal of each edge
    double least, most[4]; // the shape lies below most[i] along axis[i], and above least along its normal
} Shape;

// What a segment of the order gives: its clusters, and the blocks each is near to. It is walked over twice, first to
// count and then to write: walking is a twentieth of all the work, and arrays that grow would take twice the memory.
typedef struct Segment {
    int64_t cluster_count, listing_count;
    int64_t first_cluster; // of all segments' clusters
    SortItem *listings;    // where the segment's begin; NULL while counting
    GrainResult result;
} Segment;

typedef struct Binner {
    SdfCandidates *bins;
    GrainSdf *sdf;
    const GrainMesh *mesh;
    Vec3d origin;
    double voxels_per_metre, reach;
    float looseness; // voxels, by which boxes in floats are widened
    Segment *segments;
    int64_t segment_count;
    SortItem *listings;
    int64_t most_listings;    // that fit into memory
    _Atomic int64_t *counted; // listings of all segments up to now
} Binner;

static inline Vec3d voxel_place(const Binner *b, Vec3 p)
{
    return vec3d_scale(vec3d_sub(vec3d_from(p), b->origin), b->voxels_per_metre);
}

static inline double lower(double a, double b) { return a < b ? a : b; }
static inline double higher(double a, double b) { return a > b ? a : b; }

static inline void shape_add(Shape *shape, Vec3d p)
{
    shape->low = vec3d(lower(shape->low.x, p.x), lower(shape->low.y, p.y), lower(shape->low.z, p.z));
    shape->high = vec3d(higher(shape->high.x, p.x), higher(shape->high.y, p.y), higher(shape->high.z, p.z));
}

static inline Shape shape_of_triangle(const Binner *b, int32_t triangle, Vec3d corner[3])
{
    for (int c = 0; c < 3; c++) corner[c] = voxel_place(b, mesh_vertex(b->mesh, triangle, c));
    Shape shape = {.low = corner[0], .high = corner[0]};
    shape_add(&shape, corner[1]);
    shape_add(&shape, corner[2]);
    return shape;
}

static double shape_extent(const Shape *shape)
{
    Vec3d size = vec3d_sub(shape->high, shape->low);
    return higher(size.x, higher(size.y, size.z));
}

static void shape_find_edges(Shape *shape, const Vec3d corner[3])
{
    Vec3d normal = vec3d_unit(vec3d_cross(vec3d_sub(corner[1], corner[0]), vec3d_sub(corner[2], corner[0])));
    shape->axis_count = vec3d_dot(normal, normal) > 0.5 ? 4 : 0;
    shape->axis[0] = normal;
    shape->least = shape->most[0] = vec3d_dot(normal, corner[0]);
    for (int edge = 0; edge < 3; edge++) {
        Vec3d along = vec3d_unit(vec3d_sub(corner[(edge + 1) % 3], corner[edge]));
        shape->axis[edge + 1] = vec3d_cross(along, normal);
        shape->most[edge + 1] = vec3d_dot(shape->axis[edge + 1], corner[edge]);
    }
}

// Between which planes a cluster lies: a slanting one is much thinner than its box.
static void shape_find_slab(Shape *shape, Vec3d (*corners)[3], int64_t count)
{
    Vec3d sum = {0};
    for (int64_t i = 0; i < count; i++) {
        const Vec3d *c = corners[i];
        sum = vec3d_add(sum, vec3d_cross(vec3d_sub(c[1], c[0]), vec3d_sub(c[2], c[0])));
    }
    Vec3d normal = vec3d_unit(sum);
    shape->axis_count = vec3d_dot(normal, normal) > 0.5;
    shape->axis[0] = normal;
    shape->least = shape->most[0] = vec3d_dot(normal, corners[0][0]);
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            double along = vec3d_dot(normal, corners[i][c]);
            shape->least = lower(shape->least, along);
            shape->most[0] = higher(shape->most[0], along);
        }
}

// The shape is farther than reach from the box around centre. The 1e-6 is for rounding.
static int is_apart(const Shape *shape, Vec3d centre, Vec3d half, double reach)
{
    double x = higher(0.0, higher(shape->low.x - centre.x, centre.x - shape->high.x) - half.x);
    double y = higher(0.0, higher(shape->low.y - centre.y, centre.y - shape->high.y) - half.y);
    double z = higher(0.0, higher(shape->low.z - centre.z, centre.z - shape->high.z) - half.z);
    if (x * x + y * y + z * z > reach * reach + 1e-6) return 1;
    for (int i = 0; i < shape->axis_count; i++) {
        Vec3d axis = shape->axis[i];
        double along = vec3d_dot(axis, centre), off = along - shape->most[i];
        double radius = fabs(axis.x) * half.x + fabs(axis.y) * half.y + fabs(axis.z) * half.z;
        if (i == 0) off = higher(off, shape->least - along);
        if (off > radius + reach + 1e-6) return 1;
    }
    return 0;
}

// Blocks, by their place in the lattice of blocks: [first, last] along each axis.
typedef struct Range {
    int32_t first[3], last[3];
} Range;

// Where a shape's listings go.
typedef struct Listing {
    Segment *segment;
    uint32_t cluster;
} Listing;

static void list_block(const Binner *b, int32_t x, int32_t y, int32_t z, Listing *listing)
{
    Segment *s = listing->segment;
    if (s->listings)
        s->listings[s->listing_count] =
            (SortItem){sdf_block_key(8 * x, 8 * y, 8 * z, b->sdf->depth), listing->cluster, 0};
    if (++s->listing_count > b->most_listings) s->result = GRAIN_ERROR_MEMORY;
}

static void list_blocks(const Binner *b, const Shape *shape, const Range *range, Listing *listing)
{
    int64_t blocks = 1;
    int longest = 0;
    double centre[3], half[3];
    for (int axis = 0; axis < 3; axis++) {
        int32_t size = range->last[axis] - range->first[axis] + 1;
        if (size > range->last[longest] - range->first[longest] + 1) longest = axis;
        blocks = blocks > FEW_BLOCKS ? blocks : blocks * size;
        centre[axis] = 4.0 * ((double)range->first[axis] + (double)range->last[axis] + 1.0);
        half[axis] = 4.0 * size;
    }
    if (listing->segment->result != GRAIN_OK) return;
    if (blocks > FEW_BLOCKS) {
        Vec3d middle = {centre[0], centre[1], centre[2]}, halves = {half[0], half[1], half[2]};
        if (is_apart(shape, middle, halves, b->reach)) return;
        Range lower_half = *range, upper_half = *range;
        lower_half.last[longest] = range->first[longest] + (range->last[longest] - range->first[longest]) / 2;
        upper_half.first[longest] = lower_half.last[longest] + 1;
        list_blocks(b, shape, &lower_half, listing);
        list_blocks(b, shape, &upper_half, listing);
        return;
    }
    for (int32_t z = range->first[2]; z <= range->last[2]; z++)
        for (int32_t y = range->first[1]; y <= range->last[1]; y++)
            for (int32_t x = range->first[0]; x <= range->last[0]; x++) {
                Vec3d middle = {8.0 * x + 4.0, 8.0 * y + 4.0, 8.0 * z + 4.0};
                // From the block's first voxel to the next one's: it keeps copies of those.
                if (!is_apart(shape, middle, vec3d(4.0, 4.0, 4.0), b->reach)) list_block(b, x, y, z, listing);
            }
}

static void list_shape(const Binner *b, const Shape *shape, Listing *listing)
{
    const double low[3] = {shape->low.x, shape->low.y, shape->low.z};
    const double high[3] = {shape->high.x, shape->high.y, shape->high.z};
    Range range;
    for (int axis = 0; axis < 3; axis++) {
        // A block reaches from 8 i to 8 i + 8, both included.
        range.first[axis] = (int32_t)ceil((low[axis] - b->reach) / 8.0 - 1.0 - 1e-9);
        range.last[axis] = (int32_t)floor((high[axis] + b->reach) / 8.0 + 1e-9);
    }
    int64_t before = listing->segment->listing_count;
    list_blocks(b, shape, &range, listing);
    int64_t added = listing->segment->listing_count - before;
    // All of these blocks are different ones.
    if (added > MAX_BLOCKS) listing->segment->result = GRAIN_ERROR_MEMORY;
    if (!listing->segment->listings && atomic_fetch_add(b->counted, added) + added > b->most_listings)
        listing->segment->result = GRAIN_ERROR_MEMORY;
}

static void add_cluster(const Binner *b, Segment *segment, const Shape *cluster, int64_t place)
{
    int64_t count = segment->first_cluster + segment->cluster_count++;
    if (segment->listings) {
        b->bins->cluster_start[count] = (int32_t)place;
        float *box = b->bins->cluster_box + 6 * count, loose = b->looseness;
        box[0] = (float)cluster->low.x - loose, box[1] = (float)cluster->low.y - loose;
        box[2] = (float)cluster->low.z - loose, box[3] = (float)cluster->high.x + loose;
        box[4] = (float)cluster->high.y + loose, box[5] = (float)cluster->high.z + loose;
    }
    Listing listing = {segment, (uint32_t)count};
    list_shape(b, cluster, &listing);
}

// Cuts a segment of the order into clusters and lists them.
static void walk_segment(const Binner *b, int64_t index)
{
    Segment *segment = &b->segments[index];
    int64_t end = parallel_block_end(index, SEGMENT, b->mesh->triangle_count);
    for (int64_t place = index * SEGMENT, next; place < end; place = next) {
        Vec3d corners[SDF_CLUSTER_TRIANGLES][3];
        Shape cluster = shape_of_triangle(b, b->bins->triangle[place], corners[0]);
        next = place + 1;
        while (next < end && next - place < SDF_CLUSTER_TRIANGLES) {
            Shape both = cluster, added = shape_of_triangle(b, b->bins->triangle[next], corners[next - place]);
            shape_add(&both, added.low);
            shape_add(&both, added.high);
            if (shape_extent(&both) > CLUSTER_EXTENT) break;
            cluster = both;
            next++;
        }
        if (next == place + 1)
            shape_find_edges(&cluster, corners[0]);
        else
            shape_find_slab(&cluster, corners, next - place);
        add_cluster(b, segment, &cluster, place);
        if (segment->result != GRAIN_OK) return;
    }
}

// Bytes for a band along the whole surface: an evenly slanting layer of 2 * reach + 1 voxels touches (2 * reach + 13) /
// 8 blocks for each 8 x 8 voxels of it.
static double estimate_bytes(const Binner *b)
{
    double area = 0.0, voxel = (double)b->sdf->voxel_size;
    for (int64_t i = 0; i < b->mesh->triangle_count; i++) {
        Vec3d a = vec3d_from(mesh_vertex(b->mesh, i, 0));
        Vec3d u = vec3d_sub(vec3d_from(mesh_vertex(b->mesh, i, 1)), a);
        Vec3d v = vec3d_sub(vec3d_from(mesh_vertex(b->mesh, i, 2)), a);
        area += 0.5 * vec3d_length(vec3d_cross(u, v));
    }
    return area / (voxel * voxel) / 64.0 * (2.0 * b->reach + 13.0) / 8.0 * (SDF_BLOCK_VALUES * sizeof(float));
}

static GrainResult refuse(const Binner *b, double bytes)
{
    double voxel = (double)b->sdf->voxel_size, available = (double)system_memory_available();
    double room = real_min(0.5 * available, 0.5 * MAX_BLOCKS * SDF_BLOCK_VALUES * sizeof(float));
    return fail(GRAIN_ERROR_MEMORY,
                "the distance field would need about %.3g GB at a voxel size of %g m (%.1f GB are free): use voxels of "
                "%.2g m or larger, or a smaller object",
                bytes / 1e9, voxel, available / 1e9, voxel * sqrt(real_max(bytes, room) / real_max(room, 1.0)));
}

static GrainResult count_clusters(Binner *b, int threads)
{
    _Atomic int64_t counted = 0;
    double bytes = estimate_bytes(b), available = (double)system_memory_available();
    if (bytes > HOPELESS * real_min(available, (double)MAX_BLOCKS * SDF_BLOCK_VALUES * sizeof(float)))
        return refuse(b, bytes);
    // Listings are sorted with as much again for scratch.
    int64_t most = (int64_t)(available / (4.0 * sizeof(SortItem)));
    b->most_listings = most < MAX_LISTINGS ? most : MAX_LISTINGS;
    b->counted = &counted;
    PARALLEL_BLOCKS(threads, segment, b->segment_count) { walk_segment(b, segment); }
    for (int64_t i = 0; i < b->segment_count; i++)
        if (b->segments[i].result != GRAIN_OK) return refuse(b, bytes);
    return GRAIN_OK;
}

// Writes each segment's findings where they belong, in the order of the segments. *listings gets their number.
static GrainResult write_clusters(Binner *b, int threads, int64_t *listings)
{
    int64_t clusters = 0, total = 0;
    for (int64_t i = 0; i < b->segment_count; i++) {
        total += b->segments[i].listing_count;
        clusters += b->segments[i].cluster_count;
    }
    b->bins->cluster_count = clusters;
    b->bins->cluster_start = ALLOC(int32_t, clusters + 1);
    b->bins->cluster_box = ALLOC(float, 6 * clusters);
    b->listings = ALLOC(SortItem, total);
    if (!b->bins->cluster_start || !b->bins->cluster_box || !b->listings) return GRAIN_ERROR_MEMORY;
    clusters = 0, *listings = 0;
    for (int64_t i = 0; i < b->segment_count; i++) {
        Segment *s = &b->segments[i];
        int64_t own_clusters = s->cluster_count, own_listings = s->listing_count;
        *s = (Segment){.first_cluster = clusters, .listings = b->listings + *listings};
        clusters += own_clusters, *listings += own_listings;
    }
    PARALLEL_BLOCKS(threads, segment, b->segment_count) { walk_segment(b, segment); }
    b->bins->cluster_start[clusters] = (int32_t)b->mesh->triangle_count;
    return GRAIN_OK;
}

static GrainResult gather_blocks(Binner *b, int64_t total)
{
    int64_t count = 0;
    for (int64_t i = 0; i < total; i++) count += i == 0 || b->listings[i].key != b->listings[i - 1].key;
    double bytes = (double)count * (SDF_BLOCK_VALUES * sizeof(float) + 64.0);
    if (count > MAX_BLOCKS || bytes > 0.8 * (double)system_memory_available()) return refuse(b, bytes);
    GrainSdf *sdf = b->sdf;
    sdf->block_count = count;
    sdf->block_key = ALLOC(uint64_t, count);
    b->bins->block_start = ALLOC(int64_t, count + 1);
    b->bins->clusters = ALLOC(uint32_t, total);
    if (!sdf->block_key || !b->bins->block_start || !b->bins->clusters) return GRAIN_ERROR_MEMORY;
    int64_t block = 0;
    for (int64_t i = 0; i < total; i++) {
        b->bins->clusters[i] = b->listings[i].value;
        if (i > 0 && b->listings[i].key == b->listings[i - 1].key) continue;
        sdf->block_key[block] = b->listings[i].key;
        b->bins->block_start[block++] = i;
    }
    b->bins->block_start[count] = total;
    return GRAIN_OK;
}

static GrainResult build(Binner *b, Run *run)
{
    int64_t count, total;
    TRY(mesh_order(b->mesh, NULL, run->thread_count, &b->bins->triangle, &count));
    TRY(run_progress(run, "distance field: sorting", 0.1));
    b->segment_count = parallel_block_count(count, SEGMENT);
    b->segments = ALLOC_ZEROED(Segment, b->segment_count);
    if (!b->segments) return GRAIN_ERROR_MEMORY;
    TRY(count_clusters(b, run->thread_count));
    TRY(write_clusters(b, run->thread_count, &total));
    SortScratch scratch = {0};
    GrainResult result = sort_by_key(b->listings, total, 9 * b->sdf->depth, &scratch, run->thread_count);
    sort_scratch_free(&scratch);
    return result == GRAIN_OK ? gather_blocks(b, total) : result;
}

GrainResult sdf_candidates_build(SdfCandidates *bins, GrainSdf *sdf, const GrainMesh *mesh, double reach, Run *run)
{
    *bins = (SdfCandidates){0};
    Binner binner = {.bins = bins,
                     .sdf = sdf,
                     .mesh = mesh,
                     .origin = vec3d_from(sdf->origin),
                     .voxels_per_metre = 1.0 / (double)sdf->voxel_size,
                     .reach = reach,
                     .looseness = 1e-4f + 2e-7f * (float)(1 << (3 * (sdf->depth + 1)))};
    GrainResult result = build(&binner, run);
    alloc_free(binner.segments);
    alloc_free(binner.listings);
    if (result != GRAIN_OK) sdf_candidates_free(bins);
    return result;
}

void sdf_candidates_free(SdfCandidates *bins)
{
    alloc_free(bins->triangle);
    alloc_free(bins->cluster_start);
    alloc_free(bins->cluster_box);
    alloc_free(bins->clusters);
    alloc_free(bins->block_start);
    *bins = (SdfCandidates){0};
}
