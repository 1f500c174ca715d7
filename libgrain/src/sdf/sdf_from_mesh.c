#include "sdf/sdf_from_mesh.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "mesh/mesh.h"
#include "sdf/sdf_tree.h"

#include <math.h>
#include <string.h>

// Lattice coordinates beyond this are not counted from the world's origin any more, so that they fit into int32.
#define MAX_LATTICE 1e9

typedef struct Vec3d {
    double x, y, z;
} Vec3d;

static inline Vec3d sub(Vec3d a, Vec3d b) { return (Vec3d){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline double dot(Vec3d a, Vec3d b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline Vec3d cross(Vec3d a, Vec3d b)
{
    return (Vec3d){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline Vec3d unit(Vec3d a)
{
    double length = sqrt(dot(a, a)), s = length > 0.0 ? 1.0 / length : 0.0;
    return (Vec3d){a.x * s, a.y * s, a.z * s};
}

typedef struct Builder {
    GrainSdf *sdf;
    const GrainMesh *mesh;
    double band; // voxels
    int threads;
    SortItem *pairs; // (block key, triangle)
    int64_t pair_count, pair_capacity;
    int64_t *block_start;
    Vec3d *face_normal, *vertex_normal;
    int32_t *twin; // half-edge -> the half-edge of the neighbouring triangle
    SortScratch sort;
} Builder;

static GrainResult choose_lattice(GrainSdf *sdf, const GrainMesh *mesh, const GrainSdfDef *def)
{
    Vec3 low, high;
    mesh_bounds(mesh, &low, &high);
    sdf->voxel_size = def->voxel_size;
    sdf->half_width = def->voxel_size * def->band_voxels;
    double voxel = (double)def->voxel_size, margin = (double)def->band_voxels + 1.0;
    double lows[3] = {(double)low.x, (double)low.y, (double)low.z};
    double highs[3] = {(double)high.x, (double)high.y, (double)high.z}, extent = 0.0;
    float origin[3];
    for (int axis = 0; axis < 3; axis++) {
        // Blocks start at multiples of eight, as in OpenVDB, and the outermost layer of blocks stays empty.
        double first = 8.0 * (floor((lows[axis] / voxel - margin) / 8.0) - 1.0);
        origin[axis] = (float)(first * voxel);
        sdf->lattice[axis] = fabs(first) < MAX_LATTICE ? (int32_t)first : 0;
        extent = fmax(extent, (highs[axis] - (double)origin[axis]) / voxel + margin + 8.0);
    }
    sdf->origin = vec3(origin[0], origin[1], origin[2]);
    sdf->depth = 1;
    while (sdf->depth < SDF_MAX_DEPTH && (double)(1 << (3 * (sdf->depth + 1))) <= extent) sdf->depth++;
    if (!((double)(1 << (3 * (sdf->depth + 1))) > extent))
        return fail(GRAIN_ERROR_ARGUMENT,
                    "voxel_size %g m is too small for a mesh of %g m: no more than %d voxels fit along an axis", voxel,
                    extent * voxel, 1 << (3 * (SDF_MAX_DEPTH + 1)));
    float reach = sdf->half_width;
    sdf->bounds_low = vec3(low.x - reach, low.y - reach, low.z - reach);
    sdf->bounds_high = vec3(high.x + reach, high.y + reach, high.z + reach);
    return GRAIN_OK;
}

static Vec3d voxel_coordinates(const GrainSdf *sdf, Vec3 p)
{
    double s = 1.0 / (double)sdf->voxel_size;
    return (Vec3d){((double)p.x - (double)sdf->origin.x) * s, ((double)p.y - (double)sdf->origin.y) * s,
                   ((double)p.z - (double)sdf->origin.z) * s};
}

static void corners_of(const Builder *b, int64_t triangle, Vec3d corner[3])
{
    for (int c = 0; c < 3; c++) corner[c] = voxel_coordinates(b->sdf, mesh_vertex(b->mesh, triangle, c));
}

static GrainResult bin_triangles(Builder *b)
{
    for (int64_t t = 0; t < b->mesh->triangle_count; t++) {
        Vec3d c[3];
        corners_of(b, t, c);
        // One voxel more on the low side: a block also needs the first voxels of the next one.
        int32_t x0 = (int32_t)floor((fmin(fmin(c[0].x, c[1].x), c[2].x) - b->band - 1.0) / 8.0);
        int32_t y0 = (int32_t)floor((fmin(fmin(c[0].y, c[1].y), c[2].y) - b->band - 1.0) / 8.0);
        int32_t z0 = (int32_t)floor((fmin(fmin(c[0].z, c[1].z), c[2].z) - b->band - 1.0) / 8.0);
        int32_t x1 = (int32_t)floor((fmax(fmax(c[0].x, c[1].x), c[2].x) + b->band) / 8.0);
        int32_t y1 = (int32_t)floor((fmax(fmax(c[0].y, c[1].y), c[2].y) + b->band) / 8.0);
        int32_t z1 = (int32_t)floor((fmax(fmax(c[0].z, c[1].z), c[2].z) + b->band) / 8.0);
        Vec3d n = unit(cross(sub(c[1], c[0]), sub(c[2], c[0])));
        double reach = b->band + 4.0 * (fabs(n.x) + fabs(n.y) + fabs(n.z));
        for (int32_t z = z0; z <= z1; z++)
            for (int32_t y = y0; y <= y1; y++)
                for (int32_t x = x0; x <= x1; x++) {
                    Vec3d centre = {8.0 * x + 4.0, 8.0 * y + 4.0, 8.0 * z + 4.0};
                    if (fabs(dot(sub(centre, c[0]), n)) > reach) continue;
                    TRY(alloc_grow((void **)&b->pairs, &b->pair_capacity, b->pair_count + 1, sizeof(SortItem)));
                    b->pairs[b->pair_count++] =
                        (SortItem){sdf_block_key(8 * x, 8 * y, 8 * z, b->sdf->depth), (uint32_t)t, 0};
                }
    }
    return sort_by_key(b->pairs, b->pair_count, 9 * b->sdf->depth, &b->sort, b->threads);
}

static GrainResult make_blocks(Builder *b)
{
    GrainSdf *sdf = b->sdf;
    int64_t count = 0;
    for (int64_t i = 0; i < b->pair_count; i++) count += i == 0 || b->pairs[i].key != b->pairs[i - 1].key;
    sdf->block_key = ALLOC(uint64_t, count);
    sdf->values = ALLOC(float, count *SDF_BLOCK_VALUES);
    b->block_start = ALLOC(int64_t, count + 1);
    if (!sdf->block_key || !sdf->values || !b->block_start) return GRAIN_ERROR_MEMORY;
    sdf->block_count = count;
    count = 0;
    for (int64_t i = 0; i < b->pair_count; i++) {
        if (i > 0 && b->pairs[i].key == b->pairs[i - 1].key) continue;
        sdf->block_key[count] = b->pairs[i].key;
        b->block_start[count++] = i;
    }
    b->block_start[count] = b->pair_count;
    return sdf_tree_build(sdf);
}

// Angle-weighted pseudonormals (Baerentzen & Aanaes 2002).
static GrainResult make_normals(Builder *b)
{
    const GrainMesh *mesh = b->mesh;
    int64_t edge_count = 3 * mesh->triangle_count;
    b->face_normal = ALLOC(Vec3d, mesh->triangle_count);
    b->vertex_normal = ALLOC_ZEROED(Vec3d, mesh->vertex_count);
    b->twin = ALLOC(int32_t, edge_count);
    SortItem *edges = ALLOC(SortItem, edge_count);
    if (!b->face_normal || !b->vertex_normal || !b->twin || !edges) {
        alloc_free(edges);
        return GRAIN_ERROR_MEMORY;
    }
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        Vec3d c[3];
        corners_of(b, t, c);
        b->face_normal[t] = unit(cross(sub(c[1], c[0]), sub(c[2], c[0])));
        for (int k = 0; k < 3; k++) {
            Vec3d u = unit(sub(c[(k + 1) % 3], c[k])), v = unit(sub(c[(k + 2) % 3], c[k])), n = b->face_normal[t];
            double angle = acos(fmax(-1.0, fmin(1.0, dot(u, v))));
            Vec3d *sum = &b->vertex_normal[mesh->triangles[3 * t + k]];
            *sum = (Vec3d){sum->x + angle * n.x, sum->y + angle * n.y, sum->z + angle * n.z};
            uint64_t from = (uint64_t)mesh->triangles[3 * t + k], to = (uint64_t)mesh->triangles[3 * t + (k + 1) % 3];
            edges[3 * t + k] = (SortItem){from < to ? from << 32 | to : to << 32 | from, (uint32_t)(3 * t + k), 0};
        }
    }
    GrainResult result = sort_by_key(edges, edge_count, 63, &b->sort, b->threads);
    for (int64_t i = 0; i < edge_count; i++) {
        int64_t other = i + 1 < edge_count && edges[i + 1].key == edges[i].key ? i + 1
                        : i > 0 && edges[i - 1].key == edges[i].key            ? i - 1
                                                                               : i;
        b->twin[edges[i].value] = (int32_t)edges[other].value;
    }
    alloc_free(edges);
    return result;
}

// Closest point of a triangle (Ericson 2005, 5.1.5): offset from it to p, and which part it lies on: 0 face, 1 to 3
// corner, 4 to 6 edge.
static double closest(Vec3d p, const Vec3d c[3], int *part, Vec3d *offset)
{
    Vec3d ab = sub(c[1], c[0]), ac = sub(c[2], c[0]), ap = sub(p, c[0]), bp = sub(p, c[1]), cp = sub(p, c[2]);
    double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp), d6 = dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2, v = 0.0, w = 0.0;
    if (d1 <= 0 && d2 <= 0) {
        *part = 1;
    } else if (d3 >= 0 && d4 <= d3) {
        *part = 2, v = 1.0;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        *part = 4, v = d1 / (d1 - d3);
    } else if (d6 >= 0 && d5 <= d6) {
        *part = 3, w = 1.0;
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        *part = 6, w = d2 / (d2 - d6);
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        *part = 5, w = (d4 - d3) / ((d4 - d3) + (d5 - d6)), v = 1.0 - w;
    } else {
        *part = 0, v = vb / (va + vb + vc), w = vc / (va + vb + vc);
    }
    *offset = (Vec3d){ap.x - v * ab.x - w * ac.x, ap.y - v * ab.y - w * ac.y, ap.z - v * ab.z - w * ac.z};
    return dot(*offset, *offset);
}

static float measure_voxel(const Builder *b, int64_t block, Vec3d p)
{
    double best = b->band * b->band, side = 1.0;
    int found = 0;
    for (int64_t i = b->block_start[block]; i < b->block_start[block + 1]; i++) {
        int64_t t = b->pairs[i].value;
        Vec3d corner[3], offset;
        int part;
        corners_of(b, t, corner);
        double squared = closest(p, corner, &part, &offset);
        if (!(squared < best)) continue;
        best = squared;
        found = 1;
        Vec3d normal = b->face_normal[t];
        if (part >= 4) {
            Vec3d other = b->face_normal[b->twin[3 * t + part - 4] / 3];
            normal = (Vec3d){normal.x + other.x, normal.y + other.y, normal.z + other.z};
        } else if (part >= 1) {
            normal = b->vertex_normal[b->mesh->triangles[3 * t + part - 1]];
        }
        side = dot(offset, normal) < 0.0 ? -1.0 : 1.0;
    }
    return found ? (float)(side * sqrt(best) * (double)b->sdf->voxel_size) : SDF_FAR;
}

static void measure_blocks(Builder *b)
{
    PARALLEL_BLOCKS(b->threads, block, b->sdf->block_count)
    {
        int32_t corner[3];
        sdf_block_corner(b->sdf, block, corner);
        float *values = b->sdf->values + block * SDF_BLOCK_VALUES;
        for (int slot = 0; slot < 512; slot++) {
            int x = slot & 7, y = slot >> 3 & 7, z = slot >> 6;
            Vec3d p = {corner[0] + x, corner[1] + y, corner[2] + z};
            values[sdf_block_index(x, y, z)] = measure_voxel(b, block, p);
        }
    }
}

static GrainResult build(Builder *b, const GrainSdfDef *def, Run *run)
{
    TRY(choose_lattice(b->sdf, b->mesh, def));
    TRY(bin_triangles(b));
    TRY(make_blocks(b));
    TRY(make_normals(b));
    TRY(run_progress(run, "distance field", 0.2));
    measure_blocks(b);
    TRY(run_progress(run, "distance field", 0.9));
    int64_t conflicts;
    TRY(sdf_tree_fill(b->sdf, b->threads, &conflicts));
    GrainSdf *sdf = b->sdf;
    if (sdf_find_block(sdf, 0, 0, 0) == SDF_INSIDE) { // inside out
        for (int64_t i = 0; i < sdf->block_count * SDF_BLOCK_VALUES; i++) sdf->values[i] = -sdf->values[i];
        for (int64_t i = 0; i < sdf->node_count * SDF_NODE_CHILDREN; i++)
            if (sdf->nodes[i] < 0) sdf->nodes[i] = SDF_INSIDE + SDF_OUTSIDE - sdf->nodes[i];
    }
    return GRAIN_OK;
}

GrainResult sdf_from_mesh(GrainSdf *sdf, const GrainMesh *mesh, const GrainSdfDef *def, Run *run)
{
    Builder b = {.sdf = sdf, .mesh = mesh, .band = (double)def->band_voxels, .threads = run->thread_count};
    GrainResult result = build(&b, def, run);
    alloc_free(b.pairs);
    alloc_free(b.block_start);
    alloc_free(b.face_normal);
    alloc_free(b.vertex_normal);
    alloc_free(b.twin);
    sort_scratch_free(&b.sort);
    return result;
}
