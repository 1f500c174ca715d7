// SPDX-License-Identifier: GPL-3.0-or-later
// What a job says about volumes.
#include "base/error.h"
#include "job/job.h"
#include "job/job_parts.h"
#include "job/schema.h"

#include <stdio.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

// Raised by every change that moves a bit of the volumes.
#define VOLUME_VERSION 2

GrainResult job_read_volume(const JobNode *root, Job *job)
{
    JobVolume *v = &job->volume;
    JobNode node = {0}; // everything at its default
    if (json_object_get(root->object, "volume")) TRY(job_child(root, "volume", &node));
    TRY(schema_check_keys(&node, &schema_volume, 0));
    TRY(schema_read(&node, &schema_volume, 0, v));
    if (v->density || v->velocity || v->dust || v->surface) return GRAIN_OK;
    return fail(GRAIN_ERROR_JOB, "job.json: volume asks for no grid; set density, velocity, dust or surface to true");
}

void job_volume_fingerprint(const Job *job, char out[CACHE_FINGERPRINT_CHARS + 1])
{
    const JobVolume *v = &job->volume;
    char source[CACHE_FINGERPRINT_CHARS + 1] = "", text[512];
    if (v->from_grains) job_upsample_fingerprint(job, source);
    int length = snprintf(text, sizeof text, "%s %s %d %.9g %d %d %d %d %.9g %.9g %.9g", job->fingerprint, source,
                          VOLUME_VERSION, (double)v->voxel_radii, v->density, v->velocity, v->dust, v->surface,
                          (double)v->surface_radii, (double)v->dust_speed, (double)v->dust_linger);
    XXH128_hash_t digest = XXH3_128bits(text, (size_t)length);
    snprintf(out, CACHE_FINGERPRINT_CHARS + 1, "%016llx%016llx", (unsigned long long)digest.high64,
             (unsigned long long)digest.low64);
}
