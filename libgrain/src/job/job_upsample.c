// SPDX-License-Identifier: GPL-3.0-or-later
// What a job says about the render grains.
#include "base/error.h"
#include "job/job.h"
#include "job/job_parts.h"
#include "job/schema.h"

#include <stdio.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

// Raised by every change that moves a bit of the grains.
#define UPSAMPLE_VERSION 3

GrainResult job_read_upsample(const JobNode *root, Job *job)
{
    JobUpsample *u = &job->upsample;
    JobNode node = {0}; // everything at its default
    if (json_object_get(root->object, "upsample")) TRY(job_child(root, "upsample", &node));
    TRY(schema_check_keys(&node, &schema_upsample, 0));
    int has_total = json_object_get(node.object, "grains") != NULL;
    if (has_total && json_object_get(node.object, "grains_per_particle"))
        return fail(GRAIN_ERROR_JOB, "job.json: upsample has both grains and grains_per_particle; give one of them");
    u->seed = job->seed;
    TRY(schema_read(&node, &schema_upsample, 0, u));
    if (has_total) u->per_particle = 0.0;
    return GRAIN_OK;
}

// Whether something is sticky where there is no gravity. Earlier versions let go of its grains: only their caches have
// to be made anew.
static int is_sticky_without_weight(const Job *job)
{
    int is_sticky = 0;
    for (int i = 0; i < job->object_count; i++) is_sticky |= curve_largest(&job->objects[i].stickiness_curve) > 0.0f;
    return is_sticky && vec3_length(curve_constant(&job->gravity)) == 0.0f;
}

void job_upsample_fingerprint(const Job *job, char out[CACHE_FINGERPRINT_CHARS + 1])
{
    const JobUpsample *u = &job->upsample;
    char text[512];
    int length = snprintf(text, sizeof text, "%s %d %d %.17g %.17g %.9g %.9g %llu %.17g %d%s", job->fingerprint,
                          UPSAMPLE_VERSION, (int)u->scheme, u->per_particle, u->grains, (double)u->size_spread,
                          (double)u->substep, (unsigned long long)u->seed, u->precision, u->has_orientation,
                          is_sticky_without_weight(job) ? " sticky" : "");
    XXH128_hash_t digest = XXH3_128bits(text, (size_t)length);
    snprintf(out, CACHE_FINGERPRINT_CHARS + 1, "%016llx%016llx", (unsigned long long)digest.high64,
             (unsigned long long)digest.low64);
}
