#include "mesh/mesh.h"
#include "base/error.h"

// Half-edges and welded vertices are counted in int32.
#define MAX_TRIANGLES (INT32_MAX / 3)

GrainResult mesh_validate(const GrainMesh *mesh)
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
    if (mesh->vertex_count == 0 || mesh->triangle_count == 0)
        return fail(GRAIN_ERROR_MESH,
                    "the mesh has no faces (%lld vertices, %lld triangles): add a surface, or convert the curve or "
                    "text to a mesh",
                    (long long)mesh->vertex_count, (long long)mesh->triangle_count);
    if (!mesh->positions) return fail(GRAIN_ERROR_ARGUMENT, "GrainMesh.positions is NULL");
    if (!mesh->triangles) return fail(GRAIN_ERROR_ARGUMENT, "GrainMesh.triangles is NULL");
    for (int64_t vertex = 0; vertex < mesh->vertex_count; vertex++) {
        const float *p = mesh->positions + 3 * vertex;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            return fail(GRAIN_ERROR_MESH,
                        "vertex %lld is at (%g, %g, %g), which is no place: look at the object's modifiers and drivers",
                        (long long)vertex, (double)p[0], (double)p[1], (double)p[2]);
    }
    for (int64_t corner = 0; corner < 3 * mesh->triangle_count; corner++) {
        int32_t vertex = mesh->triangles[corner];
        if (vertex < 0 || vertex >= mesh->vertex_count)
            return fail(GRAIN_ERROR_MESH, "triangle %lld names vertex %d, but the mesh has vertices 0 to %lld",
                        (long long)(corner / 3), vertex, (long long)mesh->vertex_count - 1);
    }
    return GRAIN_OK;
}

void mesh_bounds(const GrainMesh *mesh, Vec3 *low, Vec3 *high)
{
    *low = *high = mesh_vertex(mesh, 0, 0);
    for (int64_t corner = 1; corner < 3 * mesh->triangle_count; corner++) {
        Vec3 p = mesh_vertex(mesh, corner / 3, (int)(corner % 3));
        *low = vec3_min(*low, p);
        *high = vec3_max(*high, p);
    }
}
