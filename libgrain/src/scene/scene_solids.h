// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The colliders and bodies of a scene, at the resolution of the simulation and, finer, at that of render grains: the
/// same objects with the same motion, friction and stickiness.
#include "job/job.h"
#include "output/sdf_store.h"

// scene_sdf.c

typedef enum SceneDetail { SCENE_FOR_PARTICLES, SCENE_FOR_GRAINS } SceneDetail;

/// Makes the distance fields of a scene.
typedef struct SceneSdfs {
    const Job *job;
    SceneDetail detail;
    float smallest_ball; ///< of a grain, relative to the particle radius; for particles
    SdfStore store;
    GrainRun run;
} SceneSdfs;
/// cache_folder: where fields are kept; NULL: nowhere.
GrainResult scene_sdfs_begin(SceneSdfs *sdfs, const Job *job, SceneDetail detail, float smallest_ball,
                             const char *cache_folder, const GrainRun *run);
/// shape: the mesh of a deforming object at some time; NULL: at the first frame.
GrainResult scene_sdf_make(SceneSdfs *sdfs, const JobObject *object, const GrainMesh *shape, GrainSdf **out);
void scene_sdfs_free(SceneSdfs *sdfs);

// scene_solids.c

/// The collider that an object is. sdf: NULL for planes and for meshes that bend.
SimCollider scene_collider(const JobObject *object, const GrainSdf *sdf);

/// The colliders and bodies of a simulation.
typedef struct SceneSolids {
    SimCollider *colliders;
    int collider_count;
    SimBody *bodies;            ///< of each collider; those of no body are empty
    struct GrainCover **covers; ///< likewise
    int *object;                ///< collider -> the job's object
    int body_count;
} SceneSolids;
/// sdf: of each object, where it has one; they have to stay.
GrainResult scene_solids_make(SceneSolids *solids, const Job *job, GrainSdf *const *sdf, int threads);
void scene_solids_free(SceneSolids *solids);

// scene_walls.c

/// The colliders and bodies at any time of a bake, for render grains.
typedef struct SceneWalls {
    const Job *job;
    SceneSdfs sdfs;
    SimCollider *colliders;
    MotionFrame *frames;
    RigidPaint *paint; ///< two for each collider: friction and stickiness
    UpsampleWalls now; ///< these three
    int *object;       ///< collider -> the job's object
    int *body;         ///< its number among the bodies, or -1
    Vec3d *rest;       ///< m, pivots at time 0
    // Poses of bodies at both ends of the current frame.
    double from_time;
    Pose *from, *to;
} SceneWalls;
/// Makes the distance fields of all objects that do not deform. A zeroed SceneWalls may be freed.
GrainResult scene_walls_make(SceneWalls *walls, const Job *job, const char *cache_folder, const GrainRun *run);
/// Where bodies start from: the first coarse frame.
GrainResult scene_walls_begin(SceneWalls *walls, const struct GrainFrame *first);
/// Prepares the step between two coarse frames: bodies move between the poses of these frames, deforming colliders take
/// their shape at the end.
GrainResult scene_walls_frame(SceneWalls *walls, const struct GrainFrame *from, const struct GrainFrame *to,
                              double from_time);
/// An UpsampleWallsFn; user is the SceneWalls.
const UpsampleWalls *scene_walls_at(void *user, double time);
void scene_walls_free(SceneWalls *walls);
