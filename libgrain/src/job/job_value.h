// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Single values out of a JSON object. Every failure names the key with its path, the value found and what is allowed.
#include "grain/base.h"
#include <jansson.h>

/// An object of the job and how to name it in a message: "solver", "objects[2] 'Tray'", "" for the top level.
typedef struct JobNode {
    const json_t *object;
    char path[160];
} JobNode;

// The value of a key that must be there.
GrainResult job_number(const JobNode *node, const char *key, double low, double high, double *out);
GrainResult job_integer(const JobNode *node, const char *key, int64_t low, int64_t high, int64_t *out);
GrainResult job_text(const JobNode *node, const char *key, const char **out);
/// The number of the value in the NULL-ended list of words.
GrainResult job_choice(const JobNode *node, const char *key, const char *const *words, int *out);
/// true or false.
GrainResult job_flag(const JobNode *node, const char *key, int *out);
/// Three numbers.
GrainResult job_vector(const JobNode *node, const char *key, double low, double high, double out[3]);
/// An object below this one; a missing one is an error.
GrainResult job_child(const JobNode *node, const char *key, JobNode *out);
/// A list below this one; a missing one is empty.
GrainResult job_list(const JobNode *node, const char *key, const json_t **out);
