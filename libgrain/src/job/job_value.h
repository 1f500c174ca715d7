// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Single values out of a JSON object. Every failure names the key with its path, the value found and what is allowed.
#include "base/vec.h"
#include "grain/base.h"
#include <jansson.h>

/// An object of the job and how to name it in a message: "solver", "objects[2] 'Tray'", "" for the top level.
typedef struct JobNode {
    const json_t *object;
    char path[160];
} JobNode;

#define JOB_REQUIRED NAN

/// Refuses keys that are not in the NULL-ended list: a misspelt setting must not pass silently.
GrainResult job_check_keys(const JobNode *node, const char *const *allowed);
/// fallback is used where the key is missing; JOB_REQUIRED makes that an error.
GrainResult job_number(const JobNode *node, const char *key, double low, double high, double fallback, double *out);
GrainResult job_float(const JobNode *node, const char *key, double low, double high, double fallback, float *out);
GrainResult job_integer(const JobNode *node, const char *key, int64_t low, int64_t high, double fallback, int64_t *out);
/// NULL fallback: required.
GrainResult job_text(const JobNode *node, const char *key, const char *fallback, const char **out);
/// The number of the value in the NULL-ended list of words.
GrainResult job_choice(const JobNode *node, const char *key, const char *const *words, const char *fallback, int *out);
/// true or false.
GrainResult job_flag(const JobNode *node, const char *key, int fallback, int *out);
/// Three numbers within +- limit. NULL fallback: required.
GrainResult job_vector(const JobNode *node, const char *key, double limit, const Vec3 *fallback, Vec3 *out);
/// An object below this one; a missing one is an error.
GrainResult job_child(const JobNode *node, const char *key, JobNode *out);
/// A list below this one; a missing one is empty.
GrainResult job_list(const JobNode *node, const char *key, const json_t **out);
