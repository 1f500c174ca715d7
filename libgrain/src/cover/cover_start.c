// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "cover/cover_floaters.h"
#include "cover/cover_tetra.h"

// The surface is walked along a curve that keeps neighbours together, and a floater is put down each time another
// share of 1 lies behind: at the places phase, phase + 1, phase + 2, ... So a triangle with the share s gets floor(s),
// and one more with the remaining probability; and unlike throwing dice for each triangle, any larger piece of the
// surface gets what is due to it too. That leaves only short ways to go.
typedef struct Start {
    const CoverSurface *surface;
    CoverFloaters *floaters;
    uint64_t seed;
    double phase; // [0, 1)
} Start;

static Vec3 mix(Vec3 a, Vec3 b, float t) { return vec3_add_scaled(a, vec3_sub(b, a), t); }

static float length_squared(Vec3 a, Vec3 b)
{
    Vec3 d = vec3_sub(b, a);
    return vec3_dot(d, d);
}

// The place at `fraction` of a triangle with the given share. Cutting the longest edge in the middle cuts the area in
// half; so, half by half, down to a piece with a share of 1 or less, and there at random.
static Vec3 place_in(Vec3 a, Vec3 b, Vec3 c, double share, double fraction, Rng4 random)
{
    while (share > 1.0) {
        float ab = length_squared(a, b), bc = length_squared(b, c), ca = length_squared(c, a);
        // Turned so that the longest edge is from a to b.
        if (bc >= ab && bc >= ca) {
            Vec3 swap = a;
            a = b, b = c, c = swap;
        } else if (ca >= ab) {
            Vec3 swap = a;
            a = c, c = b, b = swap;
        }
        Vec3 middle = mix(a, b, 0.5f);
        fraction *= 2.0;
        if (fraction < 1.0) {
            b = middle;
        } else {
            a = middle;
            fraction -= 1.0;
        }
        share *= 0.5;
    }
    float root = sqrtf(rng_unit(random.word[0])), t = rng_unit(random.word[1]);
    return mix(a, mix(b, c, t), root);
}

// Number of places phase + 0, 1, 2, ... before a share.
static int64_t places_before(const Start *s, double share)
{
    int64_t count = (int64_t)ceil(share - s->phase);
    return count > 0 ? count : 0;
}

// Puts the floaters of one triangle, whose share runs from `from` to `to`.
static void fill_triangle(Start *s, const Vec3 corner[3], double from, double to, int32_t leaf_triangle)
{
    CoverFloaters *f = s->floaters;
    int64_t end = places_before(s, to);
    for (int64_t i = places_before(s, from); i < end; i++) {
        double fraction = ((double)i + s->phase - from) / (to - from);
        Rng4 random = rng_at(s->seed, (uint64_t)i, RNG_STREAM_COVER_START, 0);
        cover_set(f->places.position, i, place_in(corner[0], corner[1], corner[2], to - from, fraction, random));
        f->places.point[i] = (MeshPoint){leaf_triangle, 0.0f, 0.0f, 0.0f};
    }
}

GrainResult cover_check_count(double count, int64_t max_count)
{
    if (count <= (double)max_count) return GRAIN_OK;
    return fail(GRAIN_ERROR_MESH,
                "covering this surface takes %.3g particles of this radius; at most %lld are allowed: use a larger "
                "radius or a lower density",
                count, (long long)max_count);
}

// Settles the phase and makes room; the number of floaters to floaters->count.
static GrainResult begin(Start *s, double share, int64_t max_count)
{
    TRY(cover_check_count(share, max_count));
    s->phase = share < 1.0 ? 0.0 : (double)rng_unit(rng_at(s->seed, 0, RNG_STREAM_COVER_START, 1).word[0]);
    int64_t count = places_before(s, share);
    TRY(cover_floaters_reserve(s->floaters, count));
    s->floaters->count = count;
    return GRAIN_OK;
}

// --- on a mesh ------------------------------------------------------------------------------------

// A triangle of the surface: the mesh's own, moved along its corners' normals where it is a sheet with an offset.
static void surface_triangle(const CoverSurface *surface, int64_t leaf_triangle, Vec3 corner[3])
{
    const CoverMesh *mesh = surface->mesh;
    Vec3 ab, ac;
    mesh_tree_corners(&mesh->tree, (int32_t)leaf_triangle, &corner[0], &ab, &ac);
    corner[1] = vec3_add(corner[0], ab), corner[2] = vec3_add(corner[0], ac);
    for (int c = 0; c < 3; c++)
        corner[c] = vec3_add_scaled(corner[c], mesh->corner_normal[3 * leaf_triangle + c], surface->offset);
}

static double area_of(const Vec3 corner[3])
{
    Vec3 normal = vec3_cross(vec3_sub(corner[1], corner[0]), vec3_sub(corner[2], corner[0]));
    return 0.5 * (double)vec3_length(normal);
}

static GrainResult start_on_mesh(Start *s, int64_t max_count, int threads, double *area)
{
    int64_t count = s->surface->mesh->count;
    double *share = ALLOC(double, count + 1);
    if (!share) return GRAIN_ERROR_MEMORY;
    PARALLEL_FOR(threads, leaf_triangle, count)
    {
        Vec3 corner[3];
        surface_triangle(s->surface, leaf_triangle, corner);
        share[leaf_triangle] = COVER_PER_AREA * area_of(corner);
    }
    double sum = 0.0;
    for (int64_t leaf_triangle = 0; leaf_triangle < count; leaf_triangle++) {
        double own = share[leaf_triangle];
        share[leaf_triangle] = sum;
        sum += own;
    }
    share[count] = sum;
    *area = sum / COVER_PER_AREA;
    GrainResult result = begin(s, sum, max_count);
    if (result == GRAIN_OK && s->floaters->count == 0)
        result =
            fail(GRAIN_ERROR_MESH, "the mesh is so thin that not one particle finds room: use a smaller radius, or "
                                   "check for a vertex far away from the others");
    if (result == GRAIN_OK) {
        PARALLEL_FOR(threads, leaf_triangle, count)
        {
            Vec3 corner[3];
            surface_triangle(s->surface, leaf_triangle, corner);
            fill_triangle(s, corner, share[leaf_triangle], share[leaf_triangle + 1], (int32_t)leaf_triangle);
        }
    }
    alloc_free(share);
    return result;
}

// --- on a level of the field ----------------------------------------------------------------------

typedef struct BlockFill {
    Start *start;
    double from, done; // share before the block, and inside it up to now
} BlockFill;

static void sum_share(void *user, const Vec3 corner[3]) { *(double *)user += COVER_PER_AREA * area_of(corner); }

static void fill_next(void *user, const Vec3 corner[3])
{
    BlockFill *b = user;
    double after = b->done + COVER_PER_AREA * area_of(corner);
    fill_triangle(b->start, corner, b->from + b->done, b->from + after, -1);
    b->done = after;
}

static GrainResult start_on_field(Start *s, int64_t max_count, int threads, double *area)
{
    const CoverSurface *surface = s->surface;
    int64_t count = surface->sdf.block_count;
    double *share = ALLOC(double, count + 1);
    if (!share) return GRAIN_ERROR_MEMORY;
    float level = surface->offset / surface->sdf_scale;
    PARALLEL_BLOCKS(threads, block, count)
    {
        double sum = 0.0;
        cover_tetra_visit(&surface->sdf, block, level, sum_share, &sum);
        share[block] = sum;
    }
    double sum = 0.0;
    for (int64_t block = 0; block < count; block++) {
        double own = share[block];
        share[block] = sum;
        sum += own;
    }
    share[count] = sum;
    *area = sum / COVER_PER_AREA;
    GrainResult result = GRAIN_OK;
    if (!(sum > 0.0))
        result = fail(GRAIN_ERROR_MESH,
                      "the distance field has no surface at %g m: the offset is deeper than the object is thick, or "
                      "its parts are thinner than a voxel",
                      (double)level);
    if (result == GRAIN_OK) result = begin(s, sum, max_count);
    if (result == GRAIN_OK) {
        PARALLEL_BLOCKS(threads, block, count)
        {
            BlockFill fill = {s, share[block], 0.0};
            cover_tetra_visit(&surface->sdf, block, level, fill_next, &fill);
        }
    }
    alloc_free(share);
    return result;
}

GrainResult cover_start(CoverFloaters *f, const CoverSurface *surface, int32_t seed, int64_t max_count, int threads,
                        double *area)
{
    Start start = {surface, f, (uint64_t)(uint32_t)seed, 0.0};
    if (surface->starts_from_field) return start_on_field(&start, max_count, threads, area);
    return start_on_mesh(&start, max_count, threads, area);
}
