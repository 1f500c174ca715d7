// SPDX-License-Identifier: GPL-3.0-or-later
// What a job says about volumes.
#include "base/error.h"
#include "job/job.h"

#include <stdio.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

// Raised by every change that moves a bit of the volumes.
#define VOLUME_VERSION 2

GrainResult job_read_volume(const JobNode *root, Job *job)
{
    static const char *const keys[] = {"source",  "voxel_size",    "density",    "velocity",    "dust",
                                       "surface", "surface_reach", "dust_speed", "dust_linger", NULL};
    static const char *const sources[] = {"coarse", "grains", NULL};
    JobVolume *v = &job->volume;
    *v = (JobVolume){.voxel_radii = 2.0f,
                     .density = 1,
                     .velocity = 1,
                     .surface_radii = 4.0f,
                     .dust_speed = 1.0f,
                     .dust_linger = 0.5f};
    if (!json_object_get(root->object, "volume")) return GRAIN_OK;
    JobNode node;
    TRY(job_child(root, "volume", &node));
    TRY(job_check_keys(&node, keys));
    TRY(job_choice(&node, "source", sources, "coarse", &v->from_grains));
    TRY(job_float(&node, "voxel_size", 0.5, 100, 2, &v->voxel_radii));
    TRY(job_flag(&node, "density", 1, &v->density));
    TRY(job_flag(&node, "velocity", 1, &v->velocity));
    TRY(job_flag(&node, "dust", 0, &v->dust));
    TRY(job_flag(&node, "surface", 0, &v->surface));
    TRY(job_float(&node, "surface_reach", 2, 8, 4, &v->surface_radii));
    TRY(job_float(&node, "dust_speed", 0.001, 1000, 1, &v->dust_speed));
    TRY(job_float(&node, "dust_linger", 0, 10, 0.5, &v->dust_linger));
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
