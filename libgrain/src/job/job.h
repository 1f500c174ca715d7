#pragma once
/// The job as read from its folder, every value checked (docs/formats.md has the table of keys).
#include "base/vec.h"
#include "grain/mesh.h"
#include "job/job_value.h"
#include "output/cache.h"
#include "sim/solver.h"

#define JOB_MAX_MATERIALS 7

typedef enum JobRole { JOB_SOURCE, JOB_COLLIDER, JOB_GRAIN } JobRole;

typedef struct JobObject {
    const char *name; ///< borrowed from the job's JSON, as is all text here
    JobRole role;
    int is_plane;
    GrainMesh mesh;                 ///< borrowed from geometry; world space
    Vec3 plane_point, plane_normal; ///< unit normal
    Vec3 velocity;                  ///< sources, m/s
    float friction, thickness;      ///< colliders
    int material;                   ///< sources: 0, or which of Job.dem.materials, counted from 1
} JobObject;

/// What only dem asks for (job_dem.c).
typedef struct JobDem {
    const char *normal_law, *shear_law;
    const char *grain_shape; ///< a name of dem_shape_names, or "mesh"
    int grain_balls;         ///< at most, of a mesh
    float cohesion, young_modulus, poisson_ratio;
    const char *integrator;
    float tolerance;
    int sleep; ///< grains at rest are left alone
    SimMaterial materials[JOB_MAX_MATERIALS]; ///< of sources that are not as the solver says
    int material_count;
} JobDem;

typedef struct Job {
    const char *name;
    double fps;
    int32_t frame_start, frame_end;
    Vec3 gravity;
    uint64_t seed;
    const char *solver;
    float particle_radius, size_spread, density, friction, rolling_friction, restitution, softness;
    JobDem dem;
    JobObject *objects;
    int object_count;
    char fingerprint[CACHE_FINGERPRINT_CHARS + 1];

    void *json;     ///< the parsed file, which text points into
    char *geometry; ///< geometry.bin
    int64_t geometry_bytes;
} Job;

/// GRAIN_ERROR_JOB names the key, its value and what is allowed.
GrainResult job_read(const char *folder, Job *out);
void job_free(Job *job);

// job_dem.c
/// The keys of "solver" that are dem's own.
GrainResult job_read_dem(const JobNode *solver, Job *job);
/// A source's "material": what of it differs from the solver's settings.
GrainResult job_read_material(const JobNode *source, Job *job, int *material);

// bake.c runs a job; the public call is grain_bake.
