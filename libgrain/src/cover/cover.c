// SPDX-License-Identifier: GPL-3.0-or-later
#include "cover/cover.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "cover/cover_holes.h"
#include "mesh/mesh.h"

#include <string.h>

#define DEFAULT_MAX_COUNT 10000000
#define MAX_DENSITY 8.0f
// Voxels of the field behind a mesh, in spacings. It tells inside from outside and where an offset surface roughly is;
// where exactly, the mesh itself tells.
#define VOXEL 0.8
#define OFFSET_VOXEL 0.5
#define MIN_BAND_VOXELS 2.0
#define MAX_BAND_VOXELS 16.0
// Kernels longer than this (in spacings) would sum over hundreds of neighbours.
#define MAX_SUPPORT 16.0f
// Squares of lengths in spacings have to stay within float's range.
#define MOST_SPACINGS 1e18
#define FIRST_ITERATIONS 40
#define LATER_ITERATIONS 15
#define BALANCE_ROUNDS 5
// Floaters farther from the surface than this, in radii, in spite of all are in places that it does not have.
#define FARTHEST 0.015

GrainResult grain_cover_def_default(GrainCoverDef *def, uint32_t size)
{
    BEGIN_DEFAULT(def, size, GrainCoverDef);
    def->radius = 0.01f;
    def->density = 1.0f;
    def->max_count = DEFAULT_MAX_COUNT;
    return GRAIN_OK;
}

double cover_spacing(const GrainCoverDef *def)
{
    const double pi = 3.14159265358979323846;
    double radius = (double)def->radius;
    return sqrt(COVER_PER_AREA * pi * radius * radius / (double)def->density);
}

static GrainResult check_def(const GrainCoverDef *def)
{
    CHECK_STRUCT(def, GrainCoverDef);
    if (!(def->radius > 0.0f && def->radius <= MESH_FARTHEST))
        return fail(GRAIN_ERROR_ARGUMENT, "radius is %g m; it must be above 0 and at most %g m", (double)def->radius,
                    (double)MESH_FARTHEST);
    if (!(def->density > 0.0f && def->density <= MAX_DENSITY))
        return fail(GRAIN_ERROR_ARGUMENT, "density is %g; allowed are numbers above 0 up to %g", (double)def->density,
                    (double)MAX_DENSITY);
    if (!(fabsf(def->offset) <= MESH_FARTHEST))
        return fail(GRAIN_ERROR_ARGUMENT, "offset is %g m; allowed are up to %g m to either side", (double)def->offset,
                    (double)MESH_FARTHEST);
    float most = MAX_SUPPORT * (float)cover_spacing(def);
    if (!(def->weight_support >= 0.0f && def->weight_support <= most))
        return fail(GRAIN_ERROR_ARGUMENT, "weight_support is %g m; allowed are 0 (four radii) to %g m",
                    (double)def->weight_support, (double)most);
    if (def->max_count < 1 || def->max_count > INT32_MAX / 2)
        return fail(GRAIN_ERROR_ARGUMENT, "max_count is %lld; allowed are 1 to %d", (long long)def->max_count,
                    INT32_MAX / 2);
    return GRAIN_OK;
}

// --- spreading ------------------------------------------------------------------------------------

// Takes out what could not be brought to the surface or lies inside another part.
static GrainResult drop_lost(CoverFloaters *f, const CoverSurface *surface, float farthest)
{
    uint8_t *keep = ALLOC(uint8_t, f->count);
    if (!keep) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < f->count; i++) {
        Vec3 place = cover_get(f->places.position, i), normal = cover_get(f->places.normal, i);
        keep[i] = f->places.distance[i] <= farthest;
        if (keep[i] && surface->has_buried)
            keep[i] = !cover_surface_is_buried(surface, place, normal, f->places.point[i].leaf_triangle);
    }
    cover_floaters_keep(f, keep);
    alloc_free(keep);
    return GRAIN_OK;
}

// From where cover_start has put the floaters to an even cover.
static GrainResult spread(CoverFloaters *f, const CoverSurface *surface, const GrainCoverDef *def, Run *run,
                          GrainCoverQuality *quality, double area, float *largest_hole)
{
    float farthest = (float)(FARTHEST * (double)def->radius / surface->frame.spacing);
    cover_floaters_project(f, surface, 8, run->thread_count);
    TRY(drop_lost(f, surface, 1.0f));
    quality->count_wanted = (int64_t)(COVER_PER_AREA * area + 0.5);
    // The area of a sheet moved along its normals is unknown, so the spacing alone decides.
    int64_t wanted = surface->offset == 0.0f || surface->starts_from_field ? quality->count_wanted : 0;
    TRY(cover_relax(f, surface, FIRST_ITERATIONS, run, &quality->iterations));
    for (int round = 0; round < BALANCE_ROUNDS; round++) {
        int64_t changed;
        cover_floaters_project(f, surface, 8, run->thread_count);
        TRY(drop_lost(f, surface, farthest));
        TRY(cover_balance(f, surface, wanted, run->thread_count, &changed, largest_hole));
        if (changed == 0) return GRAIN_OK;
        TRY(cover_relax(f, surface, LATER_ITERATIONS, run, &quality->iterations));
    }
    cover_floaters_project(f, surface, 8, run->thread_count);
    *largest_hole = 0.0f; // as far as anybody knows
    return drop_lost(f, surface, farthest);
}

// --- the result -----------------------------------------------------------------------------------

static GrainResult grow(void **array, int64_t count, int64_t capacity, size_t size)
{
    void *larger = alloc_zeroed(capacity, size);
    if (!larger) return GRAIN_ERROR_MEMORY;
    if (*array) memcpy(larger, *array, (size_t)count * size);
    alloc_free(*array);
    *array = larger;
    return GRAIN_OK;
}

GrainResult cover_reserve(GrainCover *cover, int64_t capacity)
{
    if (capacity <= cover->capacity) return GRAIN_OK;
    TRY(grow((void **)&cover->position, 3 * cover->count, 3 * capacity, sizeof(float)));
    TRY(grow((void **)&cover->normal, 3 * cover->count, 3 * capacity, sizeof(float)));
    TRY(grow((void **)&cover->velocity, 3 * cover->count, 3 * capacity, sizeof(float)));
    TRY(grow((void **)&cover->weight, cover->count, capacity, sizeof(float)));
    TRY(grow((void **)&cover->id, cover->count, capacity, sizeof(int64_t)));
    cover->capacity = capacity;
    return GRAIN_OK;
}

float cover_support(const GrainCoverDef *def)
{
    float metres = def->weight_support > 0.0f ? def->weight_support : 4.0f * def->radius;
    return real_minf((float)((double)metres / cover_spacing(def)), MAX_SUPPORT);
}

static GrainResult take(GrainCover *cover, CoverFloaters *f, const CoverSurface *surface, double area,
                        float largest_hole, int threads)
{
    if (f->count == 0)
        return fail(GRAIN_ERROR_MESH, "no particle found a place on the surface: use a smaller radius or offset");
    // The area of a sheet moved along its normals is unknown: assume what these particles cover.
    if (surface->offset != 0.0f && !surface->starts_from_field) area = (double)f->count / COVER_PER_AREA;
    TRY(cover_measure(f, surface, area, largest_hole, threads, &cover->quality));
    TRY(cover_reserve(cover, f->count));
    cover->count = cover->next_id = f->count;
    for (int64_t i = 0; i < f->count; i++) {
        Vec3 normal = cover_get(f->places.normal, i);
        cover_to_world(&surface->frame, cover_get(f->places.position, i), cover->position + 3 * i);
        memcpy(cover->normal + 3 * i, &normal, sizeof normal);
        cover->id[i] = i;
    }
    return cover_weigh(f, cover_support(&cover->def), surface->frame.spacing, threads, cover->weight);
}

// The floaters that cover_start has put down become the cover.
static GrainResult finish(GrainCover *cover, CoverFloaters *f, const CoverSurface *surface, double area, Run *run)
{
    float largest_hole = 0.0f;
    TRY(spread(f, surface, &cover->def, run, &cover->quality, area, &largest_hole));
    return take(cover, f, surface, area, largest_hole, run->thread_count);
}

// The caller's field as it looks in the surface's frame; its arrays are shared.
static void see_field(CoverSurface *surface, const GrainSdf *sdf)
{
    const CoverFrame *frame = &surface->frame;
    surface->sdf = *sdf;
    surface->sdf.origin = vec3((float)(((double)sdf->origin.x - frame->centre[0]) / frame->spacing),
                               (float)(((double)sdf->origin.y - frame->centre[1]) / frame->spacing),
                               (float)(((double)sdf->origin.z - frame->centre[2]) / frame->spacing));
    surface->sdf.voxel_size = (float)((double)sdf->voxel_size / frame->spacing);
    surface->sdf_scale = (float)(1.0 / frame->spacing);
}

static GrainResult set_frame(CoverSurface *surface, const GrainCoverDef *def, Vec3 low, Vec3 high)
{
    Vec3d size = vec3d_sub(vec3d_from(high), vec3d_from(low));
    double across = vec3d_length(size) + fabs((double)def->offset);
    if (across > MOST_SPACINGS * cover_spacing(def))
        return fail(
            GRAIN_ERROR_MESH,
            "the mesh is %.3g m long with its offset, too long for particles %.3g m apart: use a larger radius, or "
            "look for a vertex far away from the others",
            across, cover_spacing(def));
    surface->frame = (CoverFrame){{0.5 * ((double)low.x + (double)high.x), 0.5 * ((double)low.y + (double)high.y),
                                   0.5 * ((double)low.z + (double)high.z)},
                                  cover_spacing(def)};
    surface->offset = (float)((double)def->offset / surface->frame.spacing);
    return GRAIN_OK;
}

static GrainResult begin(const GrainCoverDef *def, const GrainRun *options, GrainCover **out, GrainCover **cover,
                         Run *run)
{
    if (!out) return fail(GRAIN_ERROR_ARGUMENT, "grain_cover_create needs a pointer for its result");
    *out = NULL;
    TRY(check_def(def));
    TRY(run_begin(run, options));
    *cover = ALLOC_ZEROED(GrainCover, 1);
    if (!*cover) return GRAIN_ERROR_MEMORY;
    (*cover)->def = *def;
    (*cover)->quality.struct_size = sizeof(GrainCoverQuality);
    return GRAIN_OK;
}

static GrainResult end(GrainResult result, GrainCover *cover, GrainCover **out)
{
    if (result == GRAIN_OK)
        *out = cover;
    else
        grain_cover_destroy(cover);
    return result;
}

GrainResult grain_cover_create(const GrainSdf *sdf, const GrainCoverDef *def, const GrainRun *options, GrainCover **out)
{
    Run run;
    GrainCover *cover;
    if (out) *out = NULL;
    if (!sdf) return fail(GRAIN_ERROR_ARGUMENT, "grain_cover_create needs a GrainSdf");
    TRY(begin(def, options, out, &cover, &run));
    float deepest = sdf_half_width(sdf) - sdf_voxel_size(sdf);
    if (fabsf(def->offset) > deepest)
        return end(fail(GRAIN_ERROR_ARGUMENT,
                        "offset is %g m, but this distance field knows only %g m to either side of the surface: make "
                        "it with a larger band_voxels",
                        (double)def->offset, (double)deepest),
                   cover, out);
    CoverSurface surface = {0};
    Vec3 low, high;
    sdf_bounds(sdf, &low, &high);
    GrainResult result = set_frame(&surface, def, low, high);
    see_field(&surface, sdf);
    surface.starts_from_field = 1;
    CoverFloaters floaters = {0};
    double area = 0.0;
    if (result == GRAIN_OK)
        result = cover_start(&floaters, &surface, def->seed, def->max_count, run.thread_count, &area);
    if (result == GRAIN_OK) result = finish(cover, &floaters, &surface, area, &run);
    cover_floaters_free(&floaters);
    return end(result, cover, out);
}

// --- meshes ---------------------------------------------------------------------------------------

// The mesh's triangles that bound something solid.
static GrainResult list_solids(const CoverMesh *own, const GrainMesh *mesh, int32_t **triangles)
{
    *triangles = ALLOC(int32_t, 3 * own->solid_count);
    if (!*triangles) return GRAIN_ERROR_MEMORY;
    int32_t *to = *triangles;
    for (int64_t leaf_triangle = 0; leaf_triangle < own->count; leaf_triangle++) {
        if (!own->solid[leaf_triangle]) continue;
        memcpy(to, mesh->triangles + 3 * (int64_t)own->triangle[leaf_triangle], 3 * sizeof *to);
        to += 3;
    }
    return GRAIN_OK;
}

static GrainResult make_field(CoverSurface *surface, const GrainMesh *mesh, const Run *run, GrainSdf **sdf)
{
    GrainSdfDef def;
    TRY(grain_sdf_def_default(&def, sizeof def));
    double offset = surface->starts_from_field ? fabs((double)surface->offset) : 0.0;
    double voxel = real_max(offset > 0.0 ? OFFSET_VOXEL : VOXEL, offset / (MAX_BAND_VOXELS - 2.0));
    def.voxel_size = (float)(voxel * surface->frame.spacing);
    def.band_voxels = (float)real_min(real_max(MIN_BAND_VOXELS, offset / voxel + 2.0), MAX_BAND_VOXELS);
    def.kind = GRAIN_SDF_SOLID;
    GrainRun options = {sizeof options, run->thread_count, run->progress, run->user};
    int32_t *triangles;
    TRY(list_solids(surface->mesh, mesh, &triangles));
    GrainMesh solids = {mesh->positions, triangles, mesh->vertex_count, surface->mesh->solid_count};
    GrainResult result = grain_sdf_create(&solids, &def, &options, sdf);
    alloc_free(triangles);
    if (result == GRAIN_OK) see_field(surface, *sdf);
    return result;
}

typedef struct MeshCover {
    CoverMesh mesh;
    CoverSurface surface;
    CoverFloaters floaters;
    GrainSdf *sdf;
    double area;
} MeshCover;

static GrainResult probe_sides(const MeshCover *m, int threads, CoverSides *sides)
{
    MeshWinding winding;
    TRY(sdf_classified_winding(&m->mesh.parts, &winding, threads));
    GrainResult result = cover_probe_sides(&m->floaters, &m->surface, &winding, threads, sides);
    mesh_winding_free(&winding);
    return result;
}

// Sees to it that normals point outward and that what lies inside is known. Winding numbers at some places settle that
// for nearly every mesh; only where they find parts inside others, or some parts inside out and some not, a field is
// needed: to tell triangle by triangle, and to keep the floaters out of there.
static GrainResult look_inside(MeshCover *m, const GrainMesh *mesh, Run *run)
{
    CoverSides sides;
    TRY(probe_sides(m, run->thread_count, &sides));
    if (sides.buried > 0 || (sides.inward > 0 && (sides.outward > 0 || m->mesh.solid_count < m->mesh.count))) {
        TRY(make_field(&m->surface, mesh, run, &m->sdf));
        return cover_mesh_finish(&m->mesh, &m->surface, run->thread_count);
    }
    if (sides.inward > 0) cover_mesh_turn(&m->mesh);
    return GRAIN_OK;
}

static GrainResult cover_mesh(MeshCover *m, GrainCover *cover, const GrainMesh *mesh, Run *run)
{
    CoverSurface *surface = &m->surface;
    const GrainCoverDef *def = &cover->def;
    TRY(cover_mesh_build(&m->mesh, mesh, &surface->frame, run));
    surface->mesh = &m->mesh;
    // An offset from a body is a surface of its own, which only the field knows; from a sheet, it is the sheet moved.
    surface->starts_from_field = surface->offset != 0.0f && m->mesh.solid_count == m->mesh.count;
    // Before the field, which would not fit into memory either.
    if (!surface->starts_from_field) TRY(cover_check_count(COVER_PER_AREA * m->mesh.area, def->max_count));
    if (surface->offset != 0.0f && m->mesh.solid_count > 0) TRY(make_field(surface, mesh, run, &m->sdf));
    TRY(cover_mesh_finish(&m->mesh, surface, run->thread_count));
    TRY(cover_start(&m->floaters, surface, def->seed, def->max_count, run->thread_count, &m->area));
    if (!surface->starts_from_field) TRY(cover_thin_piles(&m->floaters, run->thread_count, &m->area));
    if (surface->offset == 0.0f && m->mesh.solid_count > 0) TRY(look_inside(m, mesh, run));
    if (!surface->starts_from_field) TRY(cover_drop_hidden(&m->floaters, surface, run->thread_count, &m->area));
    return finish(cover, &m->floaters, surface, m->area, run);
}

GrainResult grain_cover_mesh(const GrainMesh *mesh, const GrainCoverDef *def, const GrainRun *options, GrainCover **out)
{
    Run run;
    GrainCover *cover;
    if (out) *out = NULL;
    TRY(run_begin(&run, options));
    TRY(mesh_validate_on(mesh, run.thread_count));
    TRY(begin(def, options, out, &cover, &run));
    MeshCover m = {0};
    Vec3 low, high;
    mesh_bounds(mesh, run.thread_count, &low, &high);
    GrainResult result = set_frame(&m.surface, def, low, high);
    if (result == GRAIN_OK) result = cover_mesh(&m, cover, mesh, &run);
    cover_mesh_free(&m.mesh);
    cover_floaters_free(&m.floaters);
    grain_sdf_destroy(m.sdf);
    return end(result, cover, out);
}

void grain_cover_destroy(GrainCover *cover)
{
    if (!cover) return;
    alloc_free(cover->position);
    alloc_free(cover->normal);
    alloc_free(cover->weight);
    alloc_free(cover->velocity);
    alloc_free(cover->id);
    alloc_free(cover->rest);
    cover_binding_free(cover->binding);
    alloc_free(cover);
}

GrainResult grain_cover_view(const GrainCover *cover, GrainCoverAttribute attribute, GrainView *out)
{
    if (!cover || !out) return fail(GRAIN_ERROR_ARGUMENT, "grain_cover_view needs a cover and a pointer for the view");
    switch (attribute) {
    case GRAIN_COVER_POSITION:
        *out = (GrainView){cover->position, cover->count, 3, GRAIN_F32};
        return GRAIN_OK;
    case GRAIN_COVER_NORMAL:
        *out = (GrainView){cover->normal, cover->count, 3, GRAIN_F32};
        return GRAIN_OK;
    case GRAIN_COVER_WEIGHT:
        *out = (GrainView){cover->weight, cover->count, 1, GRAIN_F32};
        return GRAIN_OK;
    case GRAIN_COVER_VELOCITY:
        *out = (GrainView){cover->velocity, cover->count, 3, GRAIN_F32};
        return GRAIN_OK;
    case GRAIN_COVER_ID:
        *out = (GrainView){cover->id, cover->count, 1, GRAIN_I64};
        return GRAIN_OK;
    }
    return fail(GRAIN_ERROR_ARGUMENT, "attribute is %d; a cover has 0 (position) to 4 (id)", (int)attribute);
}

GrainResult grain_cover_quality(const GrainCover *cover, GrainCoverQuality *out)
{
    CHECK_STRUCT(out, GrainCoverQuality);
    if (!cover) return fail(GRAIN_ERROR_ARGUMENT, "grain_cover_quality needs a cover");
    *out = cover->quality;
    return GRAIN_OK;
}

// --- covers that move -----------------------------------------------------------------------------

GrainResult grain_cover_bind(GrainCover *cover, const GrainMesh *mesh, const GrainRun *options)
{
    if (!cover) return fail(GRAIN_ERROR_ARGUMENT, "grain_cover_bind needs a cover");
    Run run;
    TRY(run_begin(&run, options));
    TRY(mesh_validate(mesh));
    return cover_bind(cover, mesh, &run);
}

static GrainResult check_seconds(double seconds)
{
    if (seconds > 0.0 && isfinite(seconds)) return GRAIN_OK;
    return fail(GRAIN_ERROR_ARGUMENT, "seconds is %g; it must be above 0", seconds);
}

GrainResult grain_cover_follow(GrainCover *cover, const float *positions, int64_t vertex_count, double seconds,
                               const GrainRun *options)
{
    if (!cover || !positions) return fail(GRAIN_ERROR_ARGUMENT, "grain_cover_follow needs a cover and positions");
    if (!cover->binding)
        return fail(GRAIN_ERROR_ARGUMENT, "the cover is not bound to a mesh: call grain_cover_bind first");
    TRY(check_seconds(seconds));
    Run run;
    TRY(run_begin(&run, options));
    return cover_follow(cover, positions, vertex_count, seconds, &run);
}

GrainResult grain_cover_move(GrainCover *cover, const double pose[16], double seconds)
{
    if (!cover || !pose) return fail(GRAIN_ERROR_ARGUMENT, "grain_cover_move needs a cover and a pose");
    if (cover->binding) return fail(GRAIN_ERROR_ARGUMENT, "the cover is bound to a mesh: use grain_cover_follow");
    TRY(check_seconds(seconds));
    for (int i = 0; i < 12; i++)
        if (!isfinite(pose[i]))
            return fail(GRAIN_ERROR_ARGUMENT, "the pose contains %g: check the object's drivers", pose[i]);
    return cover_move(cover, pose, seconds);
}
