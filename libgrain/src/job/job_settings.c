// SPDX-License-Identifier: GPL-3.0-or-later
// The settings of a stage as a flat list, for people: kept beside the frames, so that it can be told what has changed
// since. Whether anything has is the fingerprint's to say.
#include "base/error.h"
#include "job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static void set_hash(json_t *list, const char *key, XXH64_hash_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    json_object_set_new(list, key, json_string(text));
}

// The bytes that an array number stands for.
static XXH64_hash_t hash_of_array(const Job *job, const json_t *number)
{
    const json_t *array = json_array_get(json_object_get(job->json, "arrays"), (size_t)json_integer_value(number));
    int64_t offset = json_integer_value(json_object_get(array, "offset"));
    int64_t bytes = 4 * json_integer_value(json_object_get(array, "count")) *
                    json_integer_value(json_object_get(array, "components"));
    return XXH3_64bits(job->geometry + offset, (size_t)bytes);
}

// An object is too much to list: one number for all that is said of it, its meshes included.
static GrainResult add_object(json_t *list, const Job *job, json_t *object)
{
    static const char *const arrays[] = {"positions",      "triangles",      "poses",           "shapes",
                                         "moisture_paint", "friction_paint", "stickiness_paint"};
    json_t *copy = json_deep_copy(object), *attribute;
    size_t number_of;
    for (size_t i = 0; copy && i < sizeof arrays / sizeof *arrays; i++) {
        const json_t *number = json_object_get(object, arrays[i]);
        if (number) set_hash(copy, arrays[i], hash_of_array(job, number));
    }
    json_array_foreach(json_object_get(copy, "attributes"), number_of, attribute)
        set_hash(attribute, "values", hash_of_array(job, json_object_get(attribute, "values")));
    const char *key_of;
    json_t *curve;
    json_object_foreach(json_object_get(object, "animation"), key_of, curve)
        set_hash(json_object_get(copy, "animation"), key_of, hash_of_array(job, curve));
    const json_t *material = json_object_get(object, "material");
    json_object_foreach(json_object_get(material, "animation"), key_of, curve)
        set_hash(json_object_get(json_object_get(copy, "material"), "animation"), key_of, hash_of_array(job, curve));
    json_object_del(copy, "name");
    char *text = copy ? json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL, key[160];
    json_decref(copy);
    if (!text) return fail(GRAIN_ERROR_MEMORY, "not enough memory for the job's settings");
    snprintf(key, sizeof key, "object '%.120s'", json_string_value(json_object_get(object, "name")));
    set_hash(list, key, XXH3_64bits(text, strlen(text)));
    free(text);
    return GRAIN_OK;
}

static void add_group(json_t *list, const char *name, const json_t *group)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)group, key, value)
    {
        char path[160];
        if (strcmp(key, "animation") == 0) continue; // numbers of arrays say nothing
        snprintf(path, sizeof path, "%.60s.%.90s", name, key);
        json_object_set(list, path, value);
    }
}

static void add_curves(json_t *list, const Job *job, const char *name, const json_t *curves)
{
    const char *key;
    json_t *number;
    json_object_foreach((json_t *)curves, key, number)
    {
        char path[160];
        snprintf(path, sizeof path, "%.60s.%.90s", name, key);
        set_hash(list, path, hash_of_array(job, number));
    }
}

static GrainResult add_simulation(json_t *list, const Job *job)
{
    static const char *const plain[] = {"fps", "frame_start", "gravity", "seed"};
    add_curves(list, job, "animation", json_object_get(job->json, "animation"));
    add_curves(list, job, "solver.animation", json_object_get(json_object_get(job->json, "solver"), "animation"));
    json_t *object;
    size_t number;
    for (int i = 0; i < 4; i++) {
        json_t *value = json_object_get(job->json, plain[i]);
        if (value) json_object_set(list, plain[i], value);
    }
    add_group(list, "solver", json_object_get(job->json, "solver"));
    json_array_foreach(json_object_get(job->json, "objects"), number, object) TRY(add_object(list, job, object));
    json_array_foreach(json_object_get(job->json, "fields"), number, object) TRY(add_object(list, job, object));
    return GRAIN_OK;
}

GrainResult job_settings(const Job *job, JobStage stage, void **out)
{
    json_t *list = json_object();
    GrainResult result = list ? GRAIN_OK : fail(GRAIN_ERROR_MEMORY, "not enough memory for the job's settings");
    if (list && stage == JOB_SIMULATE) result = add_simulation(list, job);
    if (list && stage == JOB_UPSAMPLE) {
        json_object_set_new(list, "the bake", json_string(job->fingerprint));
        add_group(list, "upsample", json_object_get(job->json, "upsample"));
    }
    if (list && stage == JOB_VOXELS) {
        char grains[CACHE_FINGERPRINT_CHARS + 1];
        job_upsample_fingerprint(job, grains);
        json_object_set_new(list, "the bake", json_string(job->fingerprint));
        if (job->volume.from_grains) json_object_set_new(list, "the grains", json_string(grains));
        add_group(list, "volume", json_object_get(job->json, "volume"));
    }
    if (result != GRAIN_OK) {
        json_decref(list);
        list = NULL;
    }
    *out = list;
    return result;
}
