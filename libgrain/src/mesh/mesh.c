// SPDX-License-Identifier: GPL-3.0-or-later
#include "mesh/mesh.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "mesh/mesh_read.h"

// Half-edges and welded vertices are counted in int32.
#define MAX_TRIANGLES (INT32_MAX / 3)
// Pieces of work for the passes over all vertices and triangles.
#define PIECES 64

// Any vertex without a place or triangle without a vertex: a number at or above 0.
static int64_t find_wrong(const GrainMesh *mesh, int threads)
{
    int64_t wrong[PIECES], coordinates = 3 * mesh->vertex_count, corners = 3 * mesh->triangle_count;
    PARALLEL_BLOCKS(threads, piece, PIECES)
    {
        int64_t found = 0, end = coordinates * (piece + 1) / PIECES;
        for (int64_t i = coordinates * piece / PIECES; i < end; i++)
            found |= !(fabsf(mesh->positions[i]) <= MESH_FARTHEST); // NaN too
        end = corners * (piece + 1) / PIECES;
        for (int64_t i = corners * piece / PIECES; i < end; i++)
            found |= (uint32_t)mesh->triangles[i] >= (uint64_t)mesh->vertex_count;
        wrong[piece] = found;
    }
    for (int piece = 0; piece < PIECES; piece++)
        if (wrong[piece]) return piece;
    return -1;
}

static GrainResult say_wrong(const GrainMesh *mesh)
{
    for (int64_t vertex = 0; vertex < mesh->vertex_count; vertex++) {
        const float *p = mesh->positions + 3 * vertex;
        if (mesh_is_place(p)) continue;
        int is_finite = isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
        return fail(GRAIN_ERROR_MESH,
                    "vertex %lld is at (%g, %g, %g), which is %s: check the object's modifiers and drivers",
                    (long long)vertex, (double)p[0], (double)p[1], (double)p[2],
                    is_finite ? "too far away to compute with" : "not finite");
    }
    int64_t corner = 0;
    while (mesh->triangles[corner] >= 0 && mesh->triangles[corner] < mesh->vertex_count) corner++;
    return fail(GRAIN_ERROR_MESH, "triangle %lld refers to vertex %d, but the mesh has vertices 0 to %lld",
                (long long)(corner / 3), mesh->triangles[corner], (long long)mesh->vertex_count - 1);
}

GrainResult mesh_validate_arrays(const GrainMesh *mesh)
{
    if (!mesh) return fail(GRAIN_ERROR_ARGUMENT, "GrainMesh is NULL");
    if (mesh->vertex_count < 0 || mesh->triangle_count < 0)
        return fail(GRAIN_ERROR_ARGUMENT, "the mesh has %lld vertices and %lld triangles; neither may be negative",
                    (long long)mesh->vertex_count, (long long)mesh->triangle_count);
    if (mesh->vertex_count > INT32_MAX || mesh->triangle_count > MAX_TRIANGLES)
        return fail(GRAIN_ERROR_MESH,
                    "the mesh has %lld vertices and %lld triangles; at most %d and %d fit: use Blender's Decimate "
                    "modifier on it",
                    (long long)mesh->vertex_count, (long long)mesh->triangle_count, INT32_MAX, MAX_TRIANGLES);
    if (!mesh->positions && mesh->vertex_count > 0) return fail(GRAIN_ERROR_ARGUMENT, "GrainMesh.positions is NULL");
    if (!mesh->triangles && mesh->triangle_count > 0) return fail(GRAIN_ERROR_ARGUMENT, "GrainMesh.triangles is NULL");
    return GRAIN_OK;
}

GrainResult mesh_validate_on(const GrainMesh *mesh, int threads)
{
    TRY(mesh_validate_arrays(mesh));
    if (mesh->vertex_count == 0 || mesh->triangle_count == 0)
        return fail(GRAIN_ERROR_MESH,
                    "the mesh has no faces (%lld vertices, %lld triangles): add a surface, or convert the curve or "
                    "text to a mesh",
                    (long long)mesh->vertex_count, (long long)mesh->triangle_count);
    int64_t wrong = find_wrong(mesh, threads);
    return wrong < 0 ? GRAIN_OK : say_wrong(mesh);
}

GrainResult mesh_validate(const GrainMesh *mesh) { return mesh_validate_on(mesh, 1); }

void mesh_bounds(const GrainMesh *mesh, int threads, Vec3 *low, Vec3 *high)
{
    Vec3 lows[PIECES], highs[PIECES];
    int64_t corner_count = 3 * mesh->triangle_count;
    PARALLEL_BLOCKS(threads, piece, PIECES)
    {
        int64_t end = corner_count * (piece + 1) / PIECES;
        Vec3 least = mesh_vertex(mesh, 0, 0), most = least;
        for (int64_t corner = corner_count * piece / PIECES; corner < end; corner++) {
            const float *p = mesh->positions + 3 * (int64_t)mesh->triangles[corner];
            least = vec3_min(least, vec3(p[0], p[1], p[2]));
            most = vec3_max(most, vec3(p[0], p[1], p[2]));
        }
        lows[piece] = least;
        highs[piece] = most;
    }
    *low = lows[0], *high = highs[0];
    for (int piece = 1; piece < PIECES; piece++) {
        *low = vec3_min(*low, lows[piece]);
        *high = vec3_max(*high, highs[piece]);
    }
}

// --- public ---------------------------------------------------------------------------------------

GrainResult grain_mesh_check(const GrainMesh *mesh, const GrainRun *options, GrainMeshReport *report)
{
    CHECK_STRUCT(report, GrainMeshReport);
    *report = (GrainMeshReport){.struct_size = sizeof *report};
    Run run;
    TRY(run_begin(&run, options));
    TRY(mesh_validate_arrays(mesh));
    return mesh_check(mesh, &run, report);
}

GrainResult grain_mesh_report_text(const GrainMeshReport *report, char *buffer, int64_t size)
{
    CHECK_STRUCT(report, GrainMeshReport);
    if (!buffer || size < 1) return fail(GRAIN_ERROR_ARGUMENT, "grain_mesh_report_text needs a buffer");
    mesh_report_text(report, buffer, size);
    return GRAIN_OK;
}

GrainResult grain_mesh_mass(const GrainMesh *mesh, double density, GrainMassProperties *out)
{
    CHECK_STRUCT(out, GrainMassProperties);
    *out = (GrainMassProperties){.struct_size = sizeof *out};
    if (!(density > 0.0) || !isfinite(density))
        return fail(GRAIN_ERROR_ARGUMENT, "density is %g kg/m^3; it must be above 0", density);
    TRY(mesh_validate(mesh));
    return mesh_mass(mesh, density, out);
}

GrainResult grain_mesh_file_read(const char *path, GrainMeshFile **out)
{
    if (!out) return fail(GRAIN_ERROR_ARGUMENT, "grain_mesh_file_read needs a pointer for its result");
    *out = NULL;
    if (!path) return fail(GRAIN_ERROR_ARGUMENT, "grain_mesh_file_read needs a path");
    GrainMeshFile *file = ALLOC_ZEROED(GrainMeshFile, 1);
    if (!file) return GRAIN_ERROR_MEMORY;
    GrainResult result = mesh_read(path, file);
    if (result == GRAIN_OK)
        *out = file;
    else
        grain_mesh_file_destroy(file);
    return result;
}

void grain_mesh_file_destroy(GrainMeshFile *file)
{
    if (!file) return;
    alloc_free(file->positions);
    alloc_free(file->triangles);
    alloc_free(file);
}

GrainResult grain_mesh_file_view(const GrainMeshFile *file, GrainMesh *out)
{
    if (!file || !out) return fail(GRAIN_ERROR_ARGUMENT, "grain_mesh_file_view needs a GrainMeshFile and a GrainMesh");
    *out = (GrainMesh){file->positions, file->triangles, file->vertex_count, file->triangle_count};
    return GRAIN_OK;
}
