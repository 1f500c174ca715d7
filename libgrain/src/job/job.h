// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The job as read from its folder, every value checked (docs/formats.md has the table of keys).
#include "base/vec.h"
#include "grain/mesh.h"
#include "job/job_value.h"
#include "mesh/mesh_lookup.h"
#include "output/cache.h"
#include "sim/flow/field.h"
#include "sim/solver.h"
#include "upsample/upsample.h"

#define JOB_MAX_MATERIALS (SIM_MAX_MATERIALS - 1)

#define JOB_MAX_ATTRIBUTES 16
#define JOB_ATTRIBUTE_CHARS 31

typedef enum JobRole { JOB_SOURCE, JOB_COLLIDER, JOB_GRAIN, JOB_BODY, JOB_EMITTER, JOB_KILL } JobRole;

/// What is said of a body apart from its mesh and its motion .
typedef struct JobBody {
    double density, mass; ///< kg/m3, kg; mass 0: follows from the density
    Vec3 velocity, spin;  ///< m/s, rad/s, at the first frame
    Vec3 pivot;           ///< m, the point whose way is written to the cache
    int has_pivot;        ///< else it is the centre of mass
    int32_t release_frame;
} JobBody;

/// What is said of an emitter apart from its mesh and its motion (job_flow.c).
typedef struct JobEmitter {
    int from_surface, in_litres;
    Curve rate;     ///< particles, or litres of sand, a second
    Curve active;   ///< above 0.5: on
    Curve velocity; ///< m/s
    float normal_speed, jitter, inherit;
} JobEmitter;

/// What sources give their particles at birth, by name. What a source does not have is 0 there.
typedef struct JobAttribute {
    const char *name;
    int components;
} JobAttribute;

typedef struct JobObject {
    const char *name; ///< borrowed from the job's JSON, as is all text here
    JobRole role;
    int is_plane;
    GrainMesh mesh;                 ///< borrowed from geometry; world space, at the first frame
    Vec3 plane_point, plane_normal; ///< unit normal
    Vec3 velocity;                  ///< sources, m/s
    float settle;         ///< sources, s: so long at most their sand comes to rest before the first frame; 0: not
    float moisture;       ///< sources and emitters, [0, 1]
    Curve moisture_curve; ///< of emitters
    JobEmitter emitter;
    MeshAttribute moisture_paint; ///< sources: what moisture is multiplied by; without numbers: 1 all over
    MeshAttribute
        paint[JOB_MAX_ATTRIBUTES]; ///< sources: of each of Job.attributes; without numbers: it has none of them
    float friction, thickness;     ///< colliders; friction of bodies too
    Curve friction_curve, stickiness_curve;         ///< likewise
    MeshAttribute friction_paint, stickiness_paint; ///< likewise; without numbers: 1 all over
    Motion motion;
    int samples_per_frame; ///< of its motion
    JobBody body;
    int material; ///< sources: 0, or which of Job.dem.materials, counted from 1
} JobObject;

/// What only dem asks for (job_dem.c).
typedef struct JobDem {
    const char *normal_law, *shear_law;
    const char *grain_shape; ///< a name of shape_names, or "mesh"
    int grain_balls;         ///< at most, of a mesh
    float cohesion, young_modulus, poisson_ratio;
    const char *integrator;
    float tolerance;
    int sleep;                                ///< grains at rest are left alone
    SimMaterial materials[JOB_MAX_MATERIALS]; ///< of sources that are not as the solver says
    int material_count;
} JobDem;

/// "upsample": how `grain upsample` refines the bake (job_upsample.c). No part of what the bake itself depends on.
typedef struct JobUpsample {
    UpsampleScheme scheme;
    double per_particle; ///< grains; 0: `grains` says how many in all
    double grains;
    float size_spread, substep;
    uint64_t seed;
    double precision;    ///< of the positions on disk, in mean radii of the grains
    int has_orientation; ///< whether frames tell it
} JobUpsample;

/// "volume": which voxels `grain volume` makes (job_volume.c). No part of what anything before it depends on.
typedef struct JobVolume {
    int from_grains;                      ///< else from the simulated particles
    float voxel_radii;                    ///< edge of a voxel, in radii of what it is made of
    int density, velocity, dust, surface; ///< grids that are wanted
    float surface_radii;                  ///< how far a particle counts for its neighbours' surface
    float dust_speed, dust_linger;        ///< m/s from which sand raises dust; s until it is gone
} JobVolume;

/// What only meso asks for, as the job gives it; Job.meso is the law that follows (job_meso.c).
typedef struct JobMeso {
    int interaction;
    SimMesoNumbers numbers;
    float ambient; ///< 1/s
} JobMeso;

typedef struct Job {
    const char *name, *writer;
    double fps;
    int32_t frame_start, frame_end;
    int32_t checkpoint_every; ///< frames
    Curve gravity;            ///< m/s2
    uint64_t seed;
    const char *solver;
    const char *law;          ///< of mpm: a name of mpm_law_names
    const char *model;        ///< of sph: a name of sph_model_names
    float moisture_diffusion; ///< of sph, m2/s
    JobMeso meso_given;
    SimMeso meso;
    float particle_radius, size_spread, density, friction, rolling_friction, restitution, softness;
    JobDem dem;
    JobUpsample upsample;
    JobVolume volume;
    JobObject *objects;
    int object_count;
    Curve friction_curve[SIM_MAX_MATERIALS], cohesion_curve[SIM_MAX_MATERIALS]; ///< of each kind of grain
    Curve viscosity_curve;                                                      ///< of meso
    Field *fields;                                                              ///< force fields
    int field_count;
    JobAttribute attributes[JOB_MAX_ATTRIBUTES]; ///< of all sources, each name once
    int attribute_count;
    char fingerprint[CACHE_FINGERPRINT_CHARS + 1];

    void *json;     ///< the parsed file, which text points into
    char *geometry; ///< geometry.bin
    int64_t geometry_bytes;
} Job;

/// GRAIN_ERROR_JOB names the key, its value and what is allowed.
GrainResult job_read(const char *folder, Job *out);
/// The same of a document that is in memory, with what geometry.bin would hold. The job keeps a reference to the
/// document; out->geometry is the caller's. Whatever is returned, *out is to be freed, without its geometry.
GrainResult job_of_document(void *document, char *geometry, int64_t geometry_bytes, Job *out);
void job_free(Job *job);

// job_dem.c
struct BallShape;
/// What a single grain is like; GRAIN_ERROR_JOB where it is to be like an object that is not there.
GrainResult job_grain_shape(const Job *job, struct BallShape *out);
// job_steering.c
/// How colliders and bodies hold on to sand at so many seconds, in the objects' order; returns whether that ever
/// changes.
int job_grips(const Job *job, double seconds, SimGrip *out);
/// Whether anything changes, force fields included.
int job_is_steered(const Job *job);
/// What holds at so many seconds since the first frame.
SimSteering job_steering(const Job *job, double seconds);
/// Sets such a setting of the scene (object NULL), or of an object, to a constant. GRAIN_ERROR_ARGUMENT names those
/// there are, or the range.
GrainResult job_set_steered(Job *job, JobObject *object, const char *key, int components, const double *value);

// job_fields.c
/// Whether any particle is ever wet.
int job_is_wet(const Job *job);
/// Whether particles are born of it.
static inline int job_is_source(const JobObject *object)
{
    return object->role == JOB_SOURCE || object->role == JOB_EMITTER;
}

// job_upsample.c
/// Fingerprint of the grains made of this job's bake.
void job_upsample_fingerprint(const Job *job, char out[CACHE_FINGERPRINT_CHARS + 1]);

// job_settings.c
typedef enum JobStage { JOB_SIMULATE, JOB_UPSAMPLE, JOB_VOXELS } JobStage;
/// What the stage depends on, key by key, for CacheManifest.settings; json_decref it.
GrainResult job_settings(const Job *job, JobStage stage, void **out);

// job_volume.c
/// Fingerprint of the volumes made of this job's bake or grains.
void job_volume_fingerprint(const Job *job, char out[CACHE_FINGERPRINT_CHARS + 1]);
