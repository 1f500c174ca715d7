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

/// Settings of a body other than mesh and motion.
typedef struct JobBody {
    double density, mass; ///< kg/m3, kg; mass 0: follows from the density
    Vec3 velocity, spin;  ///< m/s, rad/s, at the first frame
    Vec3 pivot;           ///< m, the point whose path is written to the cache
    int has_pivot;        ///< else it is the centre of mass
    int32_t release_frame;
} JobBody;

/// Settings of an emitter other than mesh and motion (job_flow.c).
typedef struct JobEmitter {
    int from_surface, in_litres;
    Curve rate;     ///< particles, or litres of sand, a second
    Curve active;   ///< above 0.5: on
    Curve velocity; ///< m/s
    float normal_speed, jitter, inherit;
} JobEmitter;

/// An attribute that sources give to their particles. It is 0 for sources that do not have it.
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
    float settle;                   ///< sources, s: longest time to come to rest before the first frame; 0: none
    float moisture;                 ///< sources and emitters, [0, 1]
    Curve moisture_curve;           ///< of emitters
    JobEmitter emitter;
    MeshAttribute moisture_paint; ///< sources: factor of moisture; without numbers: 1 everywhere
    MeshAttribute
        paint[JOB_MAX_ATTRIBUTES]; ///< sources: of each of Job.attributes; without numbers: it has none of them
    float friction, thickness;     ///< colliders; friction of bodies too
    Curve friction_curve, stickiness_curve;         ///< likewise
    MeshAttribute friction_paint, stickiness_paint; ///< likewise; without numbers: 1 everywhere
    Motion motion;
    int samples_per_frame; ///< of its motion
    JobBody body;
    int material; ///< sources: 0, or which of Job.dem.materials, counted from 1
} JobObject;

/// Settings of dem only (job_dem.c).
typedef struct JobDem {
    const char *normal_law, *shear_law;
    const char *grain_shape; ///< a name of shape_names, or "mesh"
    int grain_balls;         ///< at most, of a mesh
    float cohesion, young_modulus, poisson_ratio;
    const char *integrator;
    float tolerance;
    int sleep;                                ///< grains at rest are skipped
    SimMaterial materials[JOB_MAX_MATERIALS]; ///< of sources with a material of their own
    int material_count;
} JobDem;

/// "upsample": how `grain upsample` refines the bake (job_upsample.c). The bake itself does not depend on it.
typedef struct JobUpsample {
    UpsampleScheme scheme;
    double per_particle; ///< grains; 0: `grains` is the total
    double grains;
    float size_spread, substep;
    uint64_t seed;
    double precision;    ///< of the positions on disk, in mean radii of the grains
    int has_orientation; ///< whether frames contain it
} JobUpsample;

/// "volume": the voxels made by `grain volume` (job_volume.c). No earlier stage depends on it.
typedef struct JobVolume {
    int from_grains;                      ///< else from the simulated particles
    float voxel_radii;                    ///< edge of a voxel, in radii of what it is made of
    int density, velocity, dust, surface; ///< the grids to write
    float surface_radii;                  ///< reach of a particle in the surface around it
    float dust_speed, dust_linger;        ///< m/s above which sand raises dust; s until it has disappeared
} JobVolume;

/// Settings of meso only, as given; Job.meso is the resulting law (job_meso.c).
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
/// The shape of a grain; GRAIN_ERROR_JOB if the object that defines it is missing.
GrainResult job_grain_shape(const Job *job, struct BallShape *out);
// job_steering.c
/// Friction and stickiness of colliders and bodies at a time (s), in the order of the objects. Returns whether they
/// ever change.
int job_grips(const Job *job, double seconds, SimGrip *out);
/// Whether any setting is animated or there are force fields.
int job_is_steered(const Job *job);
/// The animated settings at a time (s since the first frame).
SimSteering job_steering(const Job *job, double seconds);
/// Sets an animated setting of the scene (object NULL), or of an object, to a constant. GRAIN_ERROR_ARGUMENT names the
/// possible keys, or the range.
GrainResult job_set_steered(Job *job, JobObject *object, const char *key, int components, const double *value);

// job_fields.c
/// Whether frames are divided into slots: there are emitters or kill zones, or job_is_steered.
int job_has_slots(const Job *job);
/// Whether any particle is ever wet.
int job_is_wet(const Job *job);
/// Whether it is a source or an emitter.
static inline int job_is_source(const JobObject *object)
{
    return object->role == JOB_SOURCE || object->role == JOB_EMITTER;
}

// job_upsample.c
/// Fingerprint of the render grains of this job.
void job_upsample_fingerprint(const Job *job, char out[CACHE_FINGERPRINT_CHARS + 1]);

// job_settings.c
typedef enum JobStage { JOB_SIMULATE, JOB_UPSAMPLE, JOB_VOXELS } JobStage;
/// The settings a stage depends on, for CacheManifest.settings; release it with json_decref.
GrainResult job_settings(const Job *job, JobStage stage, void **out);

// job_volume.c
/// Fingerprint of the volumes of this job.
void job_volume_fingerprint(const Job *job, char out[CACHE_FINGERPRINT_CHARS + 1]);
