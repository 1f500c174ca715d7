// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Scenes in memory: made in code, read from job folders and written to them.
///
///     GrainScene *scene;
///     grain_scene_create(&scene);
///     grain_scene_set_number(scene, GRAIN_SCENE, "fps", 24);
///     grain_scene_set_number(scene, GRAIN_SCENE, "solver.particle_radius", 0.01);
///     GrainObjectDef def;
///     grain_object_def_default(&def, sizeof def);
///     def.role = GRAIN_ROLE_SOURCE, def.name = "Sand", def.mesh = &box;
///     grain_scene_add(scene, &def, &sand);
///     grain_scene_set_number(scene, sand, "moisture", 0.2);
///     grain_scene_write(scene, "pour");
///
/// Every setting has the key, unit, range and default of docs/formats.md; keys of a block are written with a dot
/// ("solver.friction", "upsample.grains", and of a source "material.density"). Settings that are never set keep their
/// defaults. Arrays and texts are copied. A call that fails leaves the scene unchanged.
#include "grain/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainScene GrainScene;

/// In place of an object's number: the scene itself.
#define GRAIN_SCENE (-1)

typedef enum GrainRole {
    GRAIN_ROLE_SOURCE = 0,    ///< Sand fills its mesh at the first frame.
    GRAIN_ROLE_COLLIDER = 1,  ///< A mesh or an endless plane; static, or moving or deforming by its samples.
    GRAIN_ROLE_SHAPE = 2,     ///< The shape of the grains if "solver.grain_shape" is "mesh".
    GRAIN_ROLE_BODY = 3,      ///< A rigid body that sand moves.
    GRAIN_ROLE_EMITTER = 4,   ///< Emits sand over time.
    GRAIN_ROLE_KILL_ZONE = 5, ///< Removes the sand that enters it.
    GRAIN_ROLE_FIELD = 6,     ///< A force field. It has poses and no mesh.
} GrainRole;

typedef struct GrainObjectDef {
    uint32_t struct_size;
    int32_t role;              ///< GrainRole
    const char *name;          ///< For messages and settings; required.
    const GrainMesh *mesh;     ///< In world space, at the first frame. NULL: an endless plane or a force field.
    double plane_point[3];     ///< m
    double plane_normal[3];    ///< Towards the sand, of any length. Default (0, 0, 1).
    const float *poses;        ///< 7 numbers a sample: position of the pivot (x, y, z; m) and rotation since the
                               ///< first frame (w, x, y, z). NULL: static. Force fields have one sample a frame;
                               ///< the first is their position and orientation.
    int64_t pose_count;        ///< samples
    const float *shapes;       ///< Positions of all vertices at each sample, for deforming meshes. NULL: none. Not
                               ///< together with poses.
    int64_t shape_count;       ///< samples
    int32_t samples_per_frame; ///< [1, 100]. Default 1.
    uint32_t reserved;         ///< 0
} GrainObjectDef;
GRAIN_API GrainResult grain_object_def_default(GrainObjectDef *def, uint32_t size);

/// Values on the surface of an object, interpolated within triangles.
typedef struct GrainAttributeDef {
    uint32_t struct_size;
    int32_t components; ///< 1 to 4 numbers per element
    const char *name; ///< "friction_paint", "stickiness_paint" and "moisture_paint" are factors from 0 to 1; any other
                      ///< name is an attribute that a source or emitter hands to its particles.
    const float *values; ///< count * components
    int64_t count;       ///< The mesh's vertices, or three times its triangles where by_corner is 1.
    int32_t by_corner;   ///< 1: an element for each corner of each triangle. Default 0. Not for factors.
    uint32_t reserved;   ///< 0
} GrainAttributeDef;
GRAIN_API GrainResult grain_attribute_def_default(GrainAttributeDef *def, uint32_t size);

/// An empty scene: 24 frames a second, frames 1 to 250, the solver "mpm", no objects. As in Blender, where nothing is
/// set.
GRAIN_API GrainResult grain_scene_create(GrainScene **out);
GRAIN_API void grain_scene_destroy(GrainScene *scene);
/// The scene of a job folder (docs/formats.md). GRAIN_ERROR_JOB names the key, its value and what is allowed.
GRAIN_API GrainResult grain_scene_read(const char *job_folder, GrainScene **out);
/// Checks the scene as grain_scene_check does and writes it as a job folder, which is made if missing.
GRAIN_API GrainResult grain_scene_write(const GrainScene *scene, const char *job_folder);
/// Checks that the scene can be baked: every key, value and array, as if it were read from a job folder.
GRAIN_API GrainResult grain_scene_check(const GrainScene *scene);
/// Identifies scenes that bake to the same frames: 32 hexadecimal digits and a zero byte. Checks the scene.
GRAIN_API GrainResult grain_scene_fingerprint(const GrainScene *scene, char out[33]);

/// *object gets the number of the object, counted from 0; may be NULL.
GRAIN_API GrainResult grain_scene_add(GrainScene *scene, const GrainObjectDef *def, int32_t *object);
GRAIN_API int32_t grain_scene_object_count(const GrainScene *scene);
/// The object with this name, or -1 (GRAIN_SCENE).
GRAIN_API int32_t grain_scene_find(const GrainScene *scene, const char *name);

/// Sets a setting of an object or, with GRAIN_SCENE, of the scene. Integer settings require whole numbers. Fails with
/// GRAIN_ERROR_JOB, naming the key, the value and what is allowed, or with GRAIN_ERROR_ARGUMENT if the key or the
/// object does not exist.
GRAIN_API GrainResult grain_scene_set_number(GrainScene *scene, int32_t object, const char *key, double value);
GRAIN_API GrainResult grain_scene_set_flag(GrainScene *scene, int32_t object, const char *key, int32_t value);
GRAIN_API GrainResult grain_scene_set_text(GrainScene *scene, int32_t object, const char *key, const char *value);
GRAIN_API GrainResult grain_scene_set_vector(GrainScene *scene, int32_t object, const char *key, const double value[3]);
/// Animates a setting: one sample of 1 or 3 components per frame, from the first frame on, interpolated linearly. The
/// last sample is held.
GRAIN_API GrainResult grain_scene_set_curve(GrainScene *scene, int32_t object, const char *key, const float *samples,
                                            int32_t components, int64_t count);
GRAIN_API GrainResult grain_scene_set_attribute(GrainScene *scene, int32_t object, const GrainAttributeDef *def);

#ifdef __cplusplus
}
#endif
