// SPDX-License-Identifier: GPL-3.0-or-later
// The one rule for how finely the meshes of a scene become distance fields.
#include "base/error.h"
#include "base/real.h"
#include "mesh/mesh.h"
#include "scene/scene_solids.h"

// Simulation. Colliders are sampled at voxels of this many radii: fine enough that a resting grain does not feel the
// grid. The band is wide enough for the largest grain and its skin to see the surface from outside, and to be pushed
// out from inside.
#define COARSE_VOXEL_RADII 1.0f
#define COARSE_BAND_VOXELS 3.0f
#define COARSE_MOST_VOXELS 16.0f
// What is small against the grains has its own voxels: this many at least across its thinnest side.
#define SMALL_VOXELS 8.0f

// Render grains. They see gaps that the simulated particles cannot enter, and edges are rounded by less than a grain.
// Large colliders get by with voxels twice as large.
#define FINE_VOXEL_RADII 0.25f
#define FINE_BAND_VOXELS 12.0f
#define LARGE_VOXEL_RADII 0.5f
#define LARGE_BAND_VOXELS 8.0f
// Voxels that the surface itself may have before it is large: the band is then some 12 million.
#define MOST_SURFACE_VOXELS 500e3
// A field reaches no farther than half of that thickness.
#define MOST_THICKNESS_VOXELS 60.0f

GrainResult scene_sdfs_begin(SceneSdfs *sdfs, const Job *job, SceneDetail detail, float smallest_ball,
                             const char *cache_folder, const GrainRun *run)
{
    static const char *const names[] = {[SCENE_FOR_PARTICLES] = "coarse", [SCENE_FOR_GRAINS] = "fine"};
    *sdfs = (SceneSdfs){.job = job, .detail = detail, .smallest_ball = smallest_ball, .run = *run};
    return sdf_store_begin(&sdfs->store, cache_folder, names[detail]);
}

void scene_sdfs_free(SceneSdfs *sdfs) { sdf_store_free(&sdfs->store); }

static float smallest_extent(const GrainMesh *mesh)
{
    Vec3 low, high;
    mesh_bounds(mesh, 1, &low, &high);
    Vec3 size = vec3_sub(high, low);
    return real_maxf(real_minf(real_minf(size.x, size.y), size.z), 0.05f * vec3_length(size));
}

static void choose_coarse(const SceneSdfs *sdfs, const JobObject *object, const GrainMesh *mesh, GrainSdfDef *def)
{
    const Job *job = sdfs->job;
    // The balls of a grain touch, but it is placed by the ball around it: the band must reach that far too.
    float around = 1.1f * job->particle_radius * (1.0f + job->size_spread);
    around *= solver_find(job->solver)->traits.collider_reach;
    def->voxel_size = COARSE_VOXEL_RADII * job->particle_radius * sdfs->smallest_ball;
    if (object->role == JOB_BODY || object->role == JOB_EMITTER || object->role == JOB_KILL)
        def->voxel_size = real_minf(def->voxel_size, smallest_extent(mesh) / SMALL_VOXELS);
    def->voxel_size = real_maxf(def->voxel_size, around / (COARSE_MOST_VOXELS - 1.0f));
    def->band_voxels = real_maxf(COARSE_BAND_VOXELS, around / def->voxel_size + 1.0f);
    def->thickness = object->thickness;
}

static double mesh_area(const GrainMesh *mesh)
{
    double area = 0.0;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        Vec3d p[3];
        for (int k = 0; k < 3; k++) {
            const float *from = mesh->positions + 3 * (int64_t)mesh->triangles[3 * t + k];
            p[k] = vec3d((double)from[0], (double)from[1], (double)from[2]);
        }
        area += 0.5 * vec3d_length(vec3d_cross(vec3d_sub(p[1], p[0]), vec3d_sub(p[2], p[0])));
    }
    return area;
}

static void choose_fine(const SceneSdfs *sdfs, const JobObject *object, const GrainMesh *mesh, GrainSdfDef *def)
{
    float radius = sdfs->job->particle_radius;
    def->voxel_size = FINE_VOXEL_RADII * radius, def->band_voxels = FINE_BAND_VOXELS;
    if (mesh_area(mesh) / ((double)def->voxel_size * (double)def->voxel_size) > MOST_SURFACE_VOXELS)
        def->voxel_size = LARGE_VOXEL_RADII * radius, def->band_voxels = LARGE_BAND_VOXELS;
    // The shell of a sheet is as thick as the simulation's, two of whose voxels it is unless the object says otherwise.
    def->thickness = object->thickness > 0.0f ? object->thickness : 2.0f * COARSE_VOXEL_RADII * radius;
    while (def->thickness > MOST_THICKNESS_VOXELS * def->voxel_size) def->voxel_size *= 2.0f;
}

// Shapes of a mesh that bends are not kept: there is one for every frame, wanted once.
GrainResult scene_sdf_make(SceneSdfs *sdfs, const JobObject *object, const GrainMesh *shape, GrainSdf **out)
{
    const GrainMesh *mesh = shape ? shape : &object->mesh;
    GrainSdfDef def;
    TRY(grain_sdf_def_default(&def, sizeof def));
    (sdfs->detail == SCENE_FOR_GRAINS ? choose_fine : choose_coarse)(sdfs, object, mesh, &def);
    GrainResult result = shape ? grain_sdf_create(mesh, &def, &sdfs->run, out)
                               : sdf_store_make(&sdfs->store, mesh, &def, &sdfs->run, out);
    return result == GRAIN_OK || result == GRAIN_CANCELLED ? result : fail_within(result, "object '%s'", object->name);
}
