// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "cover/cover.h"
#include "cover/cover_holes.h"

#include <float.h>
#include <string.h>

// Stretched so far apart that a hole of this size (in spacings) opens, the cover gets another particle. A fresh one has
// holes up to 0.74, and stretching by a quarter must not yet change anything: particles that come and go would show.
#define OPENED 0.95f
// Pushed together to less than this, one of two goes.
#define CLOSED 0.5f
// A wide crack takes more than one row of particles.
#define ROUNDS 4

// Where a particle is tied to: a point of a triangle, so far along the normal there, and what is left (a normal that is
// interpolated between corners is not quite at right angles to the triangle), counted along the triangle's own axes.
typedef struct Tie {
    int32_t triangle;
    float v, w;
    float height;  // m
    float rest[3]; // m
} Tie;

struct CoverBinding {
    CoverMesh mesh;   // as it was last, around frame
    CoverFrame frame; // its centre stays where the mesh was bound
    int64_t vertex_count, triangle_count;
    int32_t *triangles;
    int32_t *same_as;      // vertex -> the lowest one at the same place when bound
    float *positions;      // of the last call
    Vec3 *normals;         // of each vertex, as of the last call
    float *next_positions; // of this call
    Vec3 *next_normals;
    Tie *ties;
    int64_t tie_capacity;
    CoverFloaters feet; // the particles' points on the mesh
    double side;        // -1 where the mesh's own normals point inward, 1 otherwise
};

void cover_binding_free(CoverBinding *b)
{
    if (!b) return;
    cover_mesh_free(&b->mesh);
    cover_floaters_free(&b->feet);
    alloc_free(b->triangles);
    alloc_free(b->same_as);
    alloc_free(b->positions);
    alloc_free(b->normals);
    alloc_free(b->next_positions);
    alloc_free(b->next_normals);
    alloc_free(b->ties);
    alloc_free(b);
}

// --- places on a bent mesh ------------------------------------------------------------------------

static GrainMesh mesh_of(const CoverBinding *b, const float *positions)
{
    return (GrainMesh){positions, b->triangles, b->vertex_count, b->triangle_count};
}

static double angle_between(Vec3d a, Vec3d b) { return real_atan2(vec3d_length(vec3d_cross(a, b)), vec3d_dot(a, b)); }

// Means of the faces around, weighted by their angles (Baerentzen & Aanaes 2002). Only of faces that are in the tree:
// the others' normals are noise.
static GrainResult make_normals(const CoverBinding *b, const float *positions, Vec3 *normals)
{
    GrainMesh mesh = mesh_of(b, positions);
    Vec3d *sums = ALLOC_ZEROED(Vec3d, b->vertex_count);
    if (!sums) return GRAIN_ERROR_MEMORY;
    for (int64_t leaf_triangle = 0; leaf_triangle < b->mesh.count; leaf_triangle++) {
        int32_t t = b->mesh.triangle[leaf_triangle];
        Vec3d p[3];
        for (int c = 0; c < 3; c++) p[c] = vec3d_from(mesh_vertex(&mesh, t, c));
        Vec3d normal = vec3d_unit(vec3d_cross(vec3d_sub(p[1], p[0]), vec3d_sub(p[2], p[0])));
        for (int c = 0; c < 3; c++) {
            double angle = angle_between(vec3d_sub(p[(c + 1) % 3], p[c]), vec3d_sub(p[(c + 2) % 3], p[c]));
            Vec3d *sum = &sums[b->same_as[b->triangles[3 * (int64_t)t + c]]];
            *sum = vec3d_add(*sum, vec3d_scale(normal, angle));
        }
    }
    for (int64_t v = 0; v < b->vertex_count; v++) {
        Vec3d normal = vec3d_unit(sums[b->same_as[v]]);
        normals[v] = vec3((float)normal.x, (float)normal.y, (float)normal.z);
    }
    alloc_free(sums);
    return GRAIN_OK;
}

typedef struct Footing {
    Vec3d foot;
    Vec3d normal;  // interpolated
    Vec3d axis[3]; // the triangle's own
} Footing;

static Footing stand_on(const CoverBinding *b, const float *positions, const Vec3 *normals, int32_t triangle, float v,
                        float w)
{
    GrainMesh mesh = mesh_of(b, positions);
    Vec3d p[3], n[3];
    for (int c = 0; c < 3; c++) {
        p[c] = vec3d_from(mesh_vertex(&mesh, triangle, c));
        n[c] = vec3d_from(normals[b->triangles[3 * (int64_t)triangle + c]]);
    }
    Vec3d ab = vec3d_sub(p[1], p[0]), ac = vec3d_sub(p[2], p[0]);
    double in_b = (double)v, in_c = (double)w, in_a = 1.0 - in_b - in_c;
    Footing f;
    f.foot = vec3d_add(p[0], vec3d_add(vec3d_scale(ab, in_b), vec3d_scale(ac, in_c)));
    f.axis[0] = vec3d_unit(ab);
    f.axis[2] = vec3d_unit(vec3d_cross(ab, ac));
    f.axis[1] = vec3d_cross(f.axis[2], f.axis[0]);
    f.normal =
        vec3d_unit(vec3d_add(vec3d_scale(n[0], in_a), vec3d_add(vec3d_scale(n[1], in_b), vec3d_scale(n[2], in_c))));
    // Folded so that the normals cancel out: the face's own.
    if (vec3d_dot(f.normal, f.normal) < 0.5) f.normal = f.axis[2];
    return f;
}

static void place_tied(const CoverBinding *b, const float *positions, const Vec3 *normals, const Tie *tie,
                       float position[3], float normal[3])
{
    Footing f = stand_on(b, positions, normals, tie->triangle, tie->v, tie->w);
    Vec3d p = vec3d_add(f.foot, vec3d_scale(f.normal, (double)tie->height));
    for (int axis = 0; axis < 3; axis++) p = vec3d_add(p, vec3d_scale(f.axis[axis], (double)tie->rest[axis]));
    position[0] = (float)p.x, position[1] = (float)p.y, position[2] = (float)p.z;
    Vec3d outward = vec3d_scale(f.normal, b->side);
    normal[0] = (float)outward.x, normal[1] = (float)outward.y, normal[2] = (float)outward.z;
}

// --- binding --------------------------------------------------------------------------------------

static GrainResult copy_mesh(CoverBinding *b, const GrainMesh *mesh, int threads)
{
    size_t vertex_bytes = 3 * (size_t)mesh->vertex_count * sizeof(float);
    b->vertex_count = mesh->vertex_count;
    b->triangle_count = mesh->triangle_count;
    b->triangles = ALLOC(int32_t, 3 * mesh->triangle_count);
    b->positions = ALLOC(float, 3 * mesh->vertex_count);
    b->next_positions = ALLOC(float, 3 * mesh->vertex_count);
    b->normals = ALLOC(Vec3, mesh->vertex_count);
    b->next_normals = ALLOC(Vec3, mesh->vertex_count);
    if (!b->triangles || !b->positions || !b->next_positions || !b->normals || !b->next_normals)
        return GRAIN_ERROR_MEMORY;
    memcpy(b->triangles, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof(int32_t));
    memcpy(b->positions, mesh->positions, vertex_bytes);
    int64_t doubled;
    return mesh_weld(mesh, threads, &b->same_as, &doubled);
}

static GrainResult load_feet(CoverBinding *b, int64_t count, const float *place, size_t stride)
{
    CoverFloaters *f = &b->feet;
    TRY(cover_floaters_reserve(f, count));
    f->count = count;
    for (int64_t i = 0; i < count; i++) {
        const float *p = (const float *)((const char *)place + (size_t)i * stride);
        cover_set(f->places.position, i, cover_to_local(&b->frame, p));
        f->places.point[i] = (MeshPoint){-1, 0.0f, 0.0f, 0.0f};
    }
    return GRAIN_OK;
}

static Tie tie_to(const CoverBinding *b, const float position[3], MeshPoint point)
{
    Tie tie = {.triangle = b->mesh.triangle[point.leaf_triangle], .v = point.v, .w = point.w};
    Footing f = stand_on(b, b->positions, b->normals, tie.triangle, tie.v, tie.w);
    Vec3d way = vec3d_sub(vec3d((double)position[0], (double)position[1], (double)position[2]), f.foot);
    double height = vec3d_dot(way, f.normal);
    way = vec3d_sub(way, vec3d_scale(f.normal, height));
    tie.height = (float)height;
    for (int axis = 0; axis < 3; axis++) tie.rest[axis] = (float)vec3d_dot(way, f.axis[axis]);
    return tie;
}

// The cover's normals point outward; the mesh's need not.
static void find_side(CoverBinding *b, const GrainCover *cover)
{
    int64_t agreeing = 0;
    for (int64_t i = 0; i < cover->count; i++) {
        const float *n = cover->normal + 3 * i;
        const Tie *tie = &b->ties[i];
        Footing f = stand_on(b, b->positions, b->normals, tie->triangle, tie->v, tie->w);
        agreeing += vec3d_dot(f.normal, vec3d((double)n[0], (double)n[1], (double)n[2])) < 0.0 ? -1 : 1;
    }
    b->side = agreeing < 0 ? -1.0 : 1.0;
}

static GrainResult bind(CoverBinding *b, GrainCover *cover, const GrainMesh *mesh, int threads)
{
    Vec3 low, high;
    mesh_bounds(mesh, threads, &low, &high);
    b->frame = (CoverFrame){{0.5 * ((double)low.x + (double)high.x), 0.5 * ((double)low.y + (double)high.y),
                             0.5 * ((double)low.z + (double)high.z)},
                            cover_spacing(&cover->def)};
    TRY(copy_mesh(b, mesh, threads));
    TRY(cover_mesh_build_tree(&b->mesh, mesh, &b->frame, threads));
    TRY(make_normals(b, b->positions, b->normals));
    b->tie_capacity = cover->count;
    b->ties = ALLOC(Tie, cover->count);
    if (!b->ties) return GRAIN_ERROR_MEMORY;
    TRY(load_feet(b, cover->count, cover->position, 3 * sizeof(float)));
    CoverSurface surface = {.frame = b->frame, .mesh = &b->mesh};
    cover_floaters_project(&b->feet, &surface, 1, threads);
    PARALLEL_FOR(threads, i, cover->count) { b->ties[i] = tie_to(b, cover->position + 3 * i, b->feet.places.point[i]); }
    find_side(b, cover);
    return GRAIN_OK;
}

GrainResult cover_bind(GrainCover *cover, const GrainMesh *mesh, const Run *run)
{
    CoverBinding *binding = ALLOC_ZEROED(CoverBinding, 1);
    if (!binding) return GRAIN_ERROR_MEMORY;
    GrainResult result = bind(binding, cover, mesh, run->thread_count);
    if (result != GRAIN_OK) {
        cover_binding_free(binding);
        return result;
    }
    cover_binding_free(cover->binding);
    cover->binding = binding;
    return GRAIN_OK;
}

// --- following ------------------------------------------------------------------------------------

// Along one axis (m/s), held within the range of floats.
static float speed(float from, float to, double seconds)
{
    double exact = ((double)to - (double)from) / seconds;
    return (float)real_min(real_max(exact, -(double)FLT_MAX), (double)FLT_MAX);
}

static void move_particles(GrainCover *cover, double seconds, int threads)
{
    CoverBinding *b = cover->binding;
    PARALLEL_FOR(threads, i, cover->count)
    {
        float *p = cover->position + 3 * i, position[3];
        place_tied(b, b->next_positions, b->next_normals, &b->ties[i], position, cover->normal + 3 * i);
        for (int axis = 0; axis < 3; axis++) {
            cover->velocity[3 * i + axis] = speed(p[axis], position[axis], seconds);
            p[axis] = position[axis];
        }
    }
}

// The particles' points on the bent mesh, sorted into a grid and listed. After it place i belongs to particle
// feet.grid.order[i].
static GrainResult list_feet(GrainCover *cover, int threads)
{
    CoverBinding *b = cover->binding;
    CoverFloaters *f = &b->feet;
    TRY(cover_floaters_reserve(f, cover->count));
    f->count = cover->count;
    PARALLEL_FOR(threads, i, cover->count)
    {
        const Tie *tie = &b->ties[i];
        Footing footing = stand_on(b, b->next_positions, b->next_normals, tie->triangle, tie->v, tie->w);
        float foot[3] = {(float)footing.foot.x, (float)footing.foot.y, (float)footing.foot.z};
        Vec3d n = footing.normal;
        cover_set(f->places.position, i, cover_to_local(&b->frame, foot));
        cover_set(f->places.normal, i, vec3((float)n.x, (float)n.y, (float)n.z));
        f->places.point[i] = (MeshPoint){-1, 0.0f, 0.0f, 0.0f};
    }
    return cover_floaters_list(f, threads);
}

// Takes out the younger of two that were pushed together. *left gets how many went.
static GrainResult thin_out(GrainCover *cover, int64_t *left)
{
    CoverBinding *b = cover->binding;
    const CoverFloaters *f = &b->feet;
    uint8_t *keep = ALLOC(uint8_t, cover->count);
    if (!keep) return GRAIN_ERROR_MEMORY;
    memset(keep, 1, (size_t)cover->count);
    *left = 0;
    for (int64_t place = 0; place < f->count; place++) {
        int32_t own = f->grid.order[place];
        for (int32_t k = 0; keep[own]; k++) {
            int32_t other_place = cover_neighbour(f, place, k), other = f->grid.order[other_place];
            if (other_place == place) break;
            Vec3 way = vec3_sub(cover_get(f->places.position, other_place), cover_get(f->places.position, place));
            if (!keep[other] || vec3_dot(way, way) >= CLOSED * CLOSED) continue;
            keep[own > other ? own : other] = 0;
            (*left)++;
        }
    }
    int64_t kept = 0;
    for (int64_t i = 0; *left > 0 && i < cover->count; i++) {
        if (!keep[i]) continue;
        memmove(cover->position + 3 * kept, cover->position + 3 * i, 3 * sizeof(float));
        memmove(cover->normal + 3 * kept, cover->normal + 3 * i, 3 * sizeof(float));
        memmove(cover->velocity + 3 * kept, cover->velocity + 3 * i, 3 * sizeof(float));
        cover->id[kept] = cover->id[i];
        b->ties[kept++] = b->ties[i];
    }
    if (*left > 0) cover->count = kept;
    alloc_free(keep);
    return GRAIN_OK;
}

// Where a new particle would have been at the last call tells how fast it is.
static void add_particle(GrainCover *cover, const CoverHole *hole, double seconds)
{
    CoverBinding *b = cover->binding;
    int64_t i = cover->count++;
    float before[3], normal_before[3];
    b->ties[i] = (Tie){.triangle = b->mesh.triangle[hole->point.leaf_triangle],
                       .v = hole->point.v,
                       .w = hole->point.w,
                       .height = (float)b->side * cover->def.offset};
    place_tied(b, b->positions, b->normals, &b->ties[i], before, normal_before);
    place_tied(b, b->next_positions, b->next_normals, &b->ties[i], cover->position + 3 * i, cover->normal + 3 * i);
    for (int axis = 0; axis < 3; axis++)
        cover->velocity[3 * i + axis] = speed(before[axis], cover->position[3 * i + axis], seconds);
    cover->id[i] = cover->next_id++;
}

// Fills what stretching has opened. *added gets how many came.
static GrainResult fill_cracks(GrainCover *cover, double seconds, int threads, int64_t *added)
{
    CoverBinding *b = cover->binding;
    CoverSurface surface = {.frame = b->frame, .mesh = &b->mesh};
    CoverHoles holes = {0};
    GrainResult result = cover_holes_find(&holes, &b->feet, &surface, OPENED, threads);
    if (result == GRAIN_OK) result = cover_holes_separate(&holes, OPENED, threads);
    *added = holes.count;
    int64_t count = cover->count + holes.count;
    if (result == GRAIN_OK) result = cover_reserve(cover, count);
    if (result == GRAIN_OK) result = alloc_grow((void **)&b->ties, &b->tie_capacity, count, sizeof(Tie));
    for (int64_t i = 0; result == GRAIN_OK && i < holes.count; i++) add_particle(cover, &holes.holes[i], seconds);
    cover_holes_free(&holes);
    return result;
}

static GrainResult recover(GrainCover *cover, double seconds, int threads)
{
    int64_t left, added;
    TRY(list_feet(cover, threads));
    TRY(thin_out(cover, &left));
    for (int round = 0; round < ROUNDS; round++) {
        if (round > 0 || left > 0) TRY(list_feet(cover, threads));
        TRY(fill_cracks(cover, seconds, threads, &added));
        if (added == 0) break;
    }
    return GRAIN_OK;
}

static GrainResult measure_again(GrainCover *cover, int threads)
{
    CoverBinding *b = cover->binding;
    CoverSurface surface = {.frame = b->frame, .mesh = &b->mesh};
    double area = 0.0;
    for (int64_t leaf_triangle = 0; leaf_triangle < b->mesh.count; leaf_triangle++) {
        Vec3 a, ab, ac;
        mesh_tree_corners(&b->mesh.tree, (int32_t)leaf_triangle, &a, &ab, &ac);
        area += 0.5 * (double)vec3_length(vec3_cross(ab, ac));
    }
    TRY(list_feet(cover, threads));
    for (int64_t i = 0; i < b->feet.count; i++) b->feet.places.distance[i] = 0.0f;
    TRY(cover_measure(&b->feet, &surface, area, 0.0f, threads, &cover->quality));
    cover->quality.count_wanted = (int64_t)(COVER_PER_AREA * area + 0.5);
    TRY(load_feet(b, cover->count, cover->position, 3 * sizeof(float)));
    return cover_weigh(&b->feet, cover_support(&cover->def), b->frame.spacing, threads, cover->weight);
}

GrainResult cover_follow(GrainCover *cover, const float *positions, int64_t vertex_count, double seconds,
                         const Run *run)
{
    CoverBinding *b = cover->binding;
    if (vertex_count != b->vertex_count)
        return fail(GRAIN_ERROR_MESH,
                    "the mesh has %lld vertices now and had %lld when it was covered: a modifier changes its topology "
                    "during the animation",
                    (long long)vertex_count, (long long)b->vertex_count);
    GrainMesh mesh = mesh_of(b, positions);
    TRY(mesh_validate(&mesh));
    memcpy(b->next_positions, positions, 3 * (size_t)vertex_count * sizeof(float));
    TRY(make_normals(b, b->next_positions, b->next_normals));
    mesh.positions = b->next_positions;
    TRY(cover_mesh_refit(&b->mesh, &mesh, &b->frame, run->thread_count));
    move_particles(cover, seconds, run->thread_count);
    TRY(recover(cover, seconds, run->thread_count));
    TRY(measure_again(cover, run->thread_count));
    float *swap = b->positions;
    b->positions = b->next_positions, b->next_positions = swap;
    Vec3 *swap_normals = b->normals;
    b->normals = b->next_normals, b->next_normals = swap_normals;
    return GRAIN_OK;
}

// --- rigid motion ---------------------------------------------------------------------------------

static GrainResult keep_rest(GrainCover *cover)
{
    if (cover->rest) return GRAIN_OK;
    cover->rest = ALLOC(float, 6 * cover->count);
    if (!cover->rest) return GRAIN_ERROR_MEMORY;
    memcpy(cover->rest, cover->position, 3 * (size_t)cover->count * sizeof(float));
    memcpy(cover->rest + 3 * cover->count, cover->normal, 3 * (size_t)cover->count * sizeof(float));
    return GRAIN_OK;
}

GrainResult cover_move(GrainCover *cover, const double pose[16], double seconds)
{
    TRY(keep_rest(cover));
    for (int64_t i = 0; i < cover->count; i++) {
        const float *from = cover->rest + 3 * i, *normal = cover->rest + 3 * (cover->count + i);
        Vec3d turned = {0};
        double *axis[3] = {&turned.x, &turned.y, &turned.z};
        for (int row = 0; row < 3; row++) {
            const double *m = pose + 4 * row;
            float *p = &cover->position[3 * i + row];
            float to = (float)(m[0] * (double)from[0] + m[1] * (double)from[1] + m[2] * (double)from[2] + m[3]);
            cover->velocity[3 * i + row] = speed(*p, to, seconds);
            *p = to;
            *axis[row] = m[0] * (double)normal[0] + m[1] * (double)normal[1] + m[2] * (double)normal[2];
        }
        turned = vec3d_unit(turned);
        cover->normal[3 * i] = (float)turned.x, cover->normal[3 * i + 1] = (float)turned.y;
        cover->normal[3 * i + 2] = (float)turned.z;
    }
    return GRAIN_OK;
}
