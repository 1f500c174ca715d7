#include "sdf/sdf_bins.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "mesh/mesh.h"
#include "mesh/mesh_order.h"
#include "sdf/sdf_tree.h"

#include <string.h>

// A cluster stays within half a block: larger ones are listed in more blocks than their triangles reach.
#define CLUSTER_EXTENT 4.0
// Places of the spatial order handled at once; clusters end there.
#define SEGMENT 4096
// sdf_sample counts values in int32.
#define MAX_BLOCKS (INT32_MAX / SDF_BLOCK_VALUES)
// More listings than this need 8 GB for themselves alone.
#define MAX_LISTINGS ((int64_t)1 << 28)
// Boxes of more blocks than this are halved and looked at in parts: most of a long diagonal triangle's box is empty.
#define FEW_BLOCKS 64

// A cluster, or one triangle, in voxels.
typedef struct Shape {
    Vec3d low, high;
    int is_flat;    // one triangle with a plane of its own
    Vec3d axis[4];  // its normal, and in its plane the outward normal of each edge
    double most[4]; // the shape lies below most[i] along axis[i]; along axis[0] also above it
} Shape;

typedef struct Binner {
    SdfBins *bins;
    GrainSdf *sdf;
    const GrainMesh *mesh;
    double reach;
    int64_t segment_count;
    int64_t *segment_clusters, *segment_listings; // of each segment; then where its own start
    SortItem *listings;
} Binner;

static Vec3d voxel_place(const Binner *b, Vec3 p)
{
    double s = 1.0 / (double)b->sdf->voxel_size;
    return vec3d_scale(vec3d_sub(vec3d_from(p), vec3d_from(b->sdf->origin)), s);
}

static void shape_add(Shape *shape, Vec3d p)
{
    shape->low = vec3d(fmin(shape->low.x, p.x), fmin(shape->low.y, p.y), fmin(shape->low.z, p.z));
    shape->high = vec3d(fmax(shape->high.x, p.x), fmax(shape->high.y, p.y), fmax(shape->high.z, p.z));
}

static Shape shape_of_triangle(const Binner *b, int32_t triangle, Vec3d corner[3])
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
    return fmax(size.x, fmax(size.y, size.z));
}

static void shape_find_axes(Shape *shape, const Vec3d corner[3])
{
    Vec3d normal = vec3d_unit(vec3d_cross(vec3d_sub(corner[1], corner[0]), vec3d_sub(corner[2], corner[0])));
    shape->is_flat = vec3d_dot(normal, normal) > 0.5;
    shape->axis[0] = normal;
    shape->most[0] = vec3d_dot(normal, corner[0]);
    for (int edge = 0; edge < 3; edge++) {
        Vec3d along = vec3d_unit(vec3d_sub(corner[(edge + 1) % 3], corner[edge]));
        shape->axis[edge + 1] = vec3d_cross(along, normal);
        shape->most[edge + 1] = vec3d_dot(shape->axis[edge + 1], corner[edge]);
    }
}

// The shape is farther than reach from the box around centre. The 1e-6 is for rounding.
static int is_apart(const Shape *shape, Vec3d centre, Vec3d half, double reach)
{
    double x = fmax(0.0, fmax(shape->low.x - centre.x, centre.x - shape->high.x) - half.x);
    double y = fmax(0.0, fmax(shape->low.y - centre.y, centre.y - shape->high.y) - half.y);
    double z = fmax(0.0, fmax(shape->low.z - centre.z, centre.z - shape->high.z) - half.z);
    if (x * x + y * y + z * z > reach * reach + 1e-6) return 1;
    if (!shape->is_flat) return 0;
    for (int i = 0; i < 4; i++) {
        Vec3d axis = shape->axis[i];
        double off = vec3d_dot(axis, centre) - shape->most[i];
        double radius = fabs(axis.x) * half.x + fabs(axis.y) * half.y + fabs(axis.z) * half.z;
        if ((i == 0 ? fabs(off) : off) > radius + reach + 1e-6) return 1;
    }
    return 0;
}

// Blocks, by their place in the lattice of blocks: [first, last] along each axis.
typedef struct Range {
    int32_t first[3], last[3];
} Range;

typedef struct Listing {
    SortItem *next; // NULL: only count
    int64_t count, limit;
    uint32_t cluster;
} Listing;

static void list_blocks(const Binner *b, const Shape *shape, const Range *range, Listing *listing)
{
    int64_t blocks = 1;
    int longest = 0;
    Vec3d centre, half;
    double *to[2][3] = {{&centre.x, &centre.y, &centre.z}, {&half.x, &half.y, &half.z}};
    for (int axis = 0; axis < 3; axis++) {
        int32_t size = range->last[axis] - range->first[axis] + 1;
        if (size > range->last[longest] - range->first[longest] + 1) longest = axis;
        blocks = blocks > FEW_BLOCKS ? blocks : blocks * size;
        *to[0][axis] = 4.0 * ((double)range->first[axis] + (double)range->last[axis] + 1.0);
        *to[1][axis] = 4.0 * size;
    }
    if (listing->count > listing->limit) return;
    if (blocks > FEW_BLOCKS) {
        if (is_apart(shape, centre, half, b->reach)) return;
        Range lower = *range, upper = *range;
        lower.last[longest] = range->first[longest] + (range->last[longest] - range->first[longest]) / 2;
        upper.first[longest] = lower.last[longest] + 1;
        list_blocks(b, shape, &lower, listing);
        list_blocks(b, shape, &upper, listing);
        return;
    }
    for (int32_t z = range->first[2]; z <= range->last[2]; z++)
        for (int32_t y = range->first[1]; y <= range->last[1]; y++)
            for (int32_t x = range->first[0]; x <= range->last[0]; x++) {
                Vec3d middle = {8.0 * x + 4.0, 8.0 * y + 4.0, 8.0 * z + 4.0};
                // From the block's first voxel to the next one's: it keeps copies of those.
                if (is_apart(shape, middle, vec3d(4.0, 4.0, 4.0), b->reach)) continue;
                if (listing->next)
                    *listing->next++ =
                        (SortItem){sdf_block_key(8 * x, 8 * y, 8 * z, b->sdf->depth), listing->cluster, 0};
                listing->count++;
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
    int64_t before = listing->count;
    list_blocks(b, shape, &range, listing);
    // All of these blocks are different ones.
    if (listing->count - before > MAX_BLOCKS) listing->count = listing->limit + 1;
}

// Cuts a segment of the order into clusters and lists them. Runs twice: to count, and to write what was counted.
static void walk_segment(const Binner *b, int64_t segment, int64_t *cluster_count, Listing *listing)
{
    int64_t first = segment * SEGMENT, end = parallel_block_end(segment, SEGMENT, b->mesh->triangle_count);
    int64_t clusters = 0;
    for (int64_t place = first, next; place < end; place = next, clusters++) {
        Vec3d corner[3];
        Shape cluster = shape_of_triangle(b, b->bins->triangle[place], corner);
        next = place + 1;
        while (next < end && next - place < SDF_CLUSTER_TRIANGLES) {
            Vec3d unused[3];
            Shape both = cluster, added = shape_of_triangle(b, b->bins->triangle[next], unused);
            shape_add(&both, added.low);
            shape_add(&both, added.high);
            if (shape_extent(&both) > CLUSTER_EXTENT) break;
            cluster = both;
            next++;
        }
        if (next == place + 1) shape_find_axes(&cluster, corner);
        listing->cluster = (uint32_t)(b->segment_clusters[segment] + clusters);
        if (listing->next) b->bins->cluster_start[listing->cluster] = (int32_t)place;
        list_shape(b, &cluster, listing);
        if (listing->count > listing->limit) return;
    }
    *cluster_count = clusters;
}

static GrainResult refuse(const Binner *b, double bytes)
{
    double voxel = (double)b->sdf->voxel_size, available = (double)memory_available();
    double least = voxel * sqrt(bytes / fmax(1.0, fmin(0.5 * available, 4.0 * MAX_BLOCKS * SDF_BLOCK_VALUES)));
    return fail(
        GRAIN_ERROR_MEMORY,
        "the distance field would need %.1f GB at a voxel size of %g m (%.1f GB are free): use voxels of %.2g m "
        "or larger, or a smaller object",
        bytes / 1e9, voxel, available / 1e9, least * 1.05);
}

static GrainResult count_listings(Binner *b, int threads, int64_t *total)
{
    PARALLEL_BLOCKS(threads, segment, b->segment_count)
    {
        Listing listing = {.limit = MAX_LISTINGS};
        int64_t clusters = 0;
        b->segment_clusters[segment] = 0;
        walk_segment(b, segment, &clusters, &listing);
        b->segment_clusters[segment] = clusters;
        b->segment_listings[segment] = listing.count;
    }
    int64_t clusters = 0;
    *total = 0;
    for (int64_t segment = 0; segment < b->segment_count; segment++) {
        int64_t own_clusters = b->segment_clusters[segment], own_listings = b->segment_listings[segment];
        b->segment_clusters[segment] = clusters;
        b->segment_listings[segment] = *total;
        clusters += own_clusters;
        *total += own_listings;
        if (*total > MAX_LISTINGS) return refuse(b, (double)MAX_LISTINGS * SDF_BLOCK_VALUES * 4.0);
    }
    b->bins->cluster_count = clusters;
    int64_t bytes = 2 * *total * (int64_t)sizeof(SortItem);
    return bytes > memory_available() / 2 ? refuse(b, (double)bytes * 2.0) : GRAIN_OK;
}

static GrainResult write_listings(Binner *b, int64_t total, int threads)
{
    b->bins->cluster_start = ALLOC(int32_t, b->bins->cluster_count + 1);
    b->listings = ALLOC(SortItem, total);
    if (!b->bins->cluster_start || !b->listings) return GRAIN_ERROR_MEMORY;
    PARALLEL_BLOCKS(threads, segment, b->segment_count)
    {
        Listing listing = {.next = b->listings + b->segment_listings[segment], .limit = MAX_LISTINGS};
        int64_t clusters;
        walk_segment(b, segment, &clusters, &listing);
    }
    b->bins->cluster_start[b->bins->cluster_count] = (int32_t)b->mesh->triangle_count;
    SortScratch scratch = {0};
    GrainResult result = sort_by_key(b->listings, total, 9 * b->sdf->depth, &scratch, threads);
    sort_scratch_free(&scratch);
    return result;
}

static GrainResult gather_blocks(Binner *b, int64_t total)
{
    int64_t count = 0;
    for (int64_t i = 0; i < total; i++) count += i == 0 || b->listings[i].key != b->listings[i - 1].key;
    double bytes = (double)count * (SDF_BLOCK_VALUES * sizeof(float) + 64.0);
    if (count > MAX_BLOCKS || bytes > 0.8 * (double)memory_available()) return refuse(b, bytes);
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
    int64_t count;
    TRY(mesh_order(b->mesh, NULL, run->thread_count, &b->bins->triangle, &count));
    TRY(run_progress(run, "distance field: sorting", 0.1));
    b->segment_count = parallel_block_count(count, SEGMENT);
    b->segment_clusters = ALLOC(int64_t, b->segment_count);
    b->segment_listings = ALLOC(int64_t, b->segment_count);
    if (!b->segment_clusters || !b->segment_listings) return GRAIN_ERROR_MEMORY;
    int64_t total;
    TRY(count_listings(b, run->thread_count, &total));
    TRY(write_listings(b, total, run->thread_count));
    return gather_blocks(b, total);
}

GrainResult sdf_bins_build(SdfBins *bins, GrainSdf *sdf, const GrainMesh *mesh, double reach, Run *run)
{
    *bins = (SdfBins){0};
    Binner binner = {.bins = bins, .sdf = sdf, .mesh = mesh, .reach = reach};
    GrainResult result = build(&binner, run);
    alloc_free(binner.segment_clusters);
    alloc_free(binner.segment_listings);
    alloc_free(binner.listings);
    if (result != GRAIN_OK) sdf_bins_free(bins);
    return result;
}

void sdf_bins_free(SdfBins *bins)
{
    alloc_free(bins->triangle);
    alloc_free(bins->cluster_start);
    alloc_free(bins->clusters);
    alloc_free(bins->block_start);
    *bins = (SdfBins){0};
}
