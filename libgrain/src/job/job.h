#pragma once
/// The job as read from its folder, every value checked (docs/formats.md has the table of keys).
#include "base/vec.h"
#include "grain/mesh.h"
#include "output/cache.h"

typedef enum JobRole { JOB_SOURCE, JOB_COLLIDER } JobRole;

typedef struct JobObject {
    const char *name; ///< borrowed from the job's JSON, as is all text here
    JobRole role;
    int is_plane;
    GrainMesh mesh;                 ///< borrowed from geometry; world space
    Vec3 plane_point, plane_normal; ///< unit normal
    Vec3 velocity;                  ///< sources, m/s
    float friction, thickness;      ///< colliders
} JobObject;

typedef struct Job {
    const char *name;
    double fps;
    int32_t frame_start, frame_end;
    Vec3 gravity;
    uint64_t seed;
    const char *solver;
    float particle_radius, size_spread, density, friction, rolling_friction, restitution, softness;
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

// bake.c runs a job; the public call is grain_bake.
