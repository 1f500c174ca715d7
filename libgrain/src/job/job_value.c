// SPDX-License-Identifier: GPL-3.0-or-later
#include "job/job_value.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "solver.friction is 7; allowed is a number from 0 to 2"
static GrainResult fail_value(const JobNode *node, const char *key, const char *allowed)
{
    const char *dot = node->path[0] ? "." : "";
    const json_t *value = json_object_get(node->object, key);
    if (!value)
        return fail(GRAIN_ERROR_JOB, "job.json: %s%s%s is missing; it must be %s", node->path, dot, key, allowed);
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
    GrainResult result = fail(GRAIN_ERROR_JOB, "job.json: %s%s%s is %.60s; it must be %s", node->path, dot, key,
                              text ? text : "too large to show", allowed);
    free(text);
    return result;
}

GrainResult job_number(const JobNode *node, const char *key, double low, double high, double *out)
{
    const json_t *value = json_object_get(node->object, key);
    *out = json_number_value(value);
    if (json_is_number(value) && *out >= low && *out <= high) return GRAIN_OK;
    char allowed[96];
    snprintf(allowed, sizeof allowed, "a number from %g to %g", low, high);
    return fail_value(node, key, allowed);
}

GrainResult job_integer(const JobNode *node, const char *key, int64_t low, int64_t high, int64_t *out)
{
    const json_t *value = json_object_get(node->object, key);
    *out = json_integer_value(value);
    if (json_is_integer(value) && *out >= low && *out <= high) return GRAIN_OK;
    char allowed[96];
    snprintf(allowed, sizeof allowed, "a whole number from %lld to %lld", (long long)low, (long long)high);
    return fail_value(node, key, allowed);
}

GrainResult job_flag(const JobNode *node, const char *key, int *out)
{
    const json_t *value = json_object_get(node->object, key);
    *out = json_is_true(value);
    return json_is_boolean(value) ? GRAIN_OK : fail_value(node, key, "true or false");
}

GrainResult job_text(const JobNode *node, const char *key, const char **out)
{
    *out = json_string_value(json_object_get(node->object, key));
    return *out ? GRAIN_OK : fail_value(node, key, "text");
}

GrainResult job_choice(const JobNode *node, const char *key, const char *const *words, int *out)
{
    const char *text = json_string_value(json_object_get(node->object, key));
    char allowed[256] = "";
    for (int i = 0; words[i]; i++) {
        if (text && strcmp(words[i], text) == 0) {
            *out = i;
            return GRAIN_OK;
        }
        size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s\"%s\"", i ? " or " : "", words[i]);
    }
    return fail_value(node, key, allowed);
}

GrainResult job_vector(const JobNode *node, const char *key, double low, double high, double out[3])
{
    const json_t *value = json_object_get(node->object, key);
    int good = json_is_array(value) && json_array_size(value) == 3;
    for (size_t i = 0; good && i < 3; i++) {
        const json_t *component = json_array_get(value, i);
        out[i] = json_number_value(component);
        good = json_is_number(component) && out[i] >= low && out[i] <= high;
    }
    if (good) return GRAIN_OK;
    char allowed[96];
    snprintf(allowed, sizeof allowed, "three numbers from %g to %g", low, high);
    return fail_value(node, key, allowed);
}

GrainResult job_child(const JobNode *node, const char *key, JobNode *out)
{
    const json_t *value = json_object_get(node->object, key);
    if (!json_is_object(value)) return fail_value(node, key, "an object {...}");
    out->object = value;
    snprintf(out->path, sizeof out->path, "%.100s%s%s", node->path, node->path[0] ? "." : "", key);
    return GRAIN_OK;
}

GrainResult job_list(const JobNode *node, const char *key, const json_t **out)
{
    *out = json_object_get(node->object, key); // the size of NULL is 0
    return !*out || json_is_array(*out) ? GRAIN_OK : fail_value(node, key, "a list [...]");
}
