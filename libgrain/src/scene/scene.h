// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A scene under construction: the document of job.json and the arrays of geometry.bin. Converting it to a Job
/// (job/job.h) applies the checks of files, so there is only one list of settings.
#include "grain/scene.h"
#include "job/job.h"

struct GrainScene {
    json_t *document;
    json_t **nodes; ///< of objects and force fields, in the order they were added; the document's
    int32_t node_count;
    int64_t node_capacity;
    char *geometry;
    int64_t geometry_bytes, geometry_capacity;
};

/// The scene as stages take it, with every value checked. It borrows from the scene, which must not change meanwhile.
GrainResult scene_begin_job(const GrainScene *scene, Job *out);
void scene_end_job(Job *job);

// scene_setting.c
/// Checks a value of a setting, which remains the caller's. GRAIN_ERROR_JOB names what is allowed, as job_read does;
/// GRAIN_ERROR_ARGUMENT if the key does not exist.
GrainResult scene_check_setting(const GrainScene *scene, int32_t object, const char *key, json_t *value);
/// Checks that a setting can be animated with samples of this many components.
GrainResult scene_check_curve(const GrainScene *scene, int32_t object, const char *key, int components);

// scene_document.c
/// The scene of a document and a geometry, both of which it takes over even if that fails.
GrainResult scene_from_document(GrainScene *scene, json_t *document, char *geometry, int64_t geometry_bytes);
/// The node of an object, or (GRAIN_SCENE) the whole document; NULL where there is no such object.
json_t *scene_node(const GrainScene *scene, int32_t object);
/// Sets a key, which may lead into blocks ("solver.friction"), and takes the value over. block: put the last part of
/// the key into this block ("animation"), or NULL.
GrainResult scene_set(json_t *node, const char *key, const char *block, json_t *value);
/// Adds a node to one of the document's lists, and takes it over.
GrainResult scene_append(GrainScene *scene, const char *list, json_t *node);
/// Adds an array to the geometry; *number is its place in "arrays".
GrainResult scene_add_array(GrainScene *scene, int is_float, int components, int64_t count, const void *data,
                            json_t **number);
/// How many arrays there are, and a way back to fewer.
typedef struct SceneMark {
    size_t array_count;
    int64_t geometry_bytes;
} SceneMark;
SceneMark scene_mark(const GrainScene *scene);
void scene_revert(GrainScene *scene, SceneMark mark);
GrainResult scene_write_files(const GrainScene *scene, const char *folder);
