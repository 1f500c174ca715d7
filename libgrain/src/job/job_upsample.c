// SPDX-License-Identifier: GPL-3.0-or-later
// What a job says about the render grains.
#include "base/error.h"
#include "job/job.h"

#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

// Raised by every change that moves a bit of the grains.
#define UPSAMPLE_VERSION 3
#define DEFAULT_PER_PARTICLE 64.0
#define DEFAULT_PRECISION 0.01

GrainResult job_read_upsample(const JobNode *root, Job *job)
{
    static const char *const keys[] = {"grains_per_particle", "grains",      "size_spread", "substep", "seed", "scheme",
                                       "precision",           "orientation", NULL};
    static const char *const schemes[] = {[UPSAMPLE_GATED] = "gated", [UPSAMPLE_IHMSEN2013] = "ihmsen2013", NULL};
    JobUpsample *u = &job->upsample;
    *u = (JobUpsample){UPSAMPLE_GATED, DEFAULT_PER_PARTICLE, 0.0, 0.3f, 0.01f, job->seed, DEFAULT_PRECISION, 1};
    if (!json_object_get(root->object, "upsample")) return GRAIN_OK;
    JobNode node;
    int64_t seed;
    int scheme;
    TRY(job_child(root, "upsample", &node));
    TRY(job_check_keys(&node, keys));
    int has_total = json_object_get(node.object, "grains") != NULL;
    if (has_total && json_object_get(node.object, "grains_per_particle"))
        return fail(GRAIN_ERROR_JOB, "job.json: upsample has both grains and grains_per_particle; give one of them");
    TRY(job_number(&node, "grains_per_particle", 1, UPSAMPLE_MAX_PER_PARTICLE, DEFAULT_PER_PARTICLE, &u->per_particle));
    TRY(job_number(&node, "grains", 1, 1e12, 0, &u->grains));
    if (has_total) u->per_particle = 0.0;
    TRY(job_float(&node, "size_spread", 0, 0.9, 0.3, &u->size_spread));
    TRY(job_float(&node, "substep", 0.001, 0.05, 0.01, &u->substep));
    TRY(job_integer(&node, "seed", 0, (int64_t)1 << 53, (double)job->seed, &seed));
    TRY(job_choice(&node, "scheme", schemes, "gated", &scheme));
    TRY(job_number(&node, "precision", 1e-5, 0.5, DEFAULT_PRECISION, &u->precision));
    TRY(job_flag(&node, "orientation", 1, &u->has_orientation));
    u->seed = (uint64_t)seed;
    u->scheme = (UpsampleScheme)scheme;
    return GRAIN_OK;
}

void job_upsample_fingerprint(const Job *job, char out[CACHE_FINGERPRINT_CHARS + 1])
{
    const JobUpsample *u = &job->upsample;
    char text[512];
    int length = snprintf(text, sizeof text, "%s %d %d %.17g %.17g %.9g %.9g %llu %.17g %d", job->fingerprint,
                          UPSAMPLE_VERSION, (int)u->scheme, u->per_particle, u->grains, (double)u->size_spread,
                          (double)u->substep, (unsigned long long)u->seed, u->precision, u->has_orientation);
    XXH128_hash_t digest = XXH3_128bits(text, (size_t)length);
    snprintf(out, CACHE_FINGERPRINT_CHARS + 1, "%016llx%016llx", (unsigned long long)digest.high64,
             (unsigned long long)digest.low64);
}
