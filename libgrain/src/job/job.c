// SPDX-License-Identifier: GPL-3.0-or-later
// The public calls on a job; job_read.c and the files beside it read one.
#include "job/job.h"
#include "base/alloc.h"
#include "base/error.h"
#include "grain/job.h"
#include "job/schema.h"
#include "output/cache_view.h"

#include <jansson.h>
#include <string.h>

struct GrainJob {
    Job job;
};

GrainResult grain_job_read(const char *folder, GrainJob **out)
{
    if (!folder || !out) return fail(GRAIN_ERROR_ARGUMENT, "grain_job_read: folder or out is NULL");
    *out = NULL;
    GrainJob *job = ALLOC_ZEROED(GrainJob, 1);
    if (!job) return GRAIN_ERROR_MEMORY;
    GrainResult result = job_read(folder, &job->job);
    if (result == GRAIN_OK)
        *out = job;
    else
        alloc_free(job);
    return result;
}

void grain_job_destroy(GrainJob *job)
{
    if (!job) return;
    job_free(&job->job);
    alloc_free(job);
}

static JobStage stage_of(const GrainCache *cache)
{
    switch (cache->info.stream) {
    case GRAIN_STREAM_GRAINS:
        return JOB_UPSAMPLE;
    case GRAIN_STREAM_VOLUME:
        return JOB_VOXELS;
    default:
        return JOB_SIMULATE;
    }
}

// What the manifest would say if the stage ran now.
static GrainResult expect(const Job *job, JobStage stage, CacheManifest *out)
{
    memcpy(out->fingerprint, job->fingerprint, sizeof out->fingerprint);
    if (stage == JOB_UPSAMPLE) job_upsample_fingerprint(job, out->fingerprint);
    if (stage == JOB_VOXELS) job_volume_fingerprint(job, out->fingerprint);
    return job_settings(job, stage, &out->settings);
}

GrainResult grain_job_compare(const GrainJob *job, const GrainCache *cache, int32_t *is_current, char *changes,
                              int64_t size)
{
    if (!job || !cache || !is_current || !changes || size < 1)
        return fail(GRAIN_ERROR_ARGUMENT, "grain_job_compare: job, cache, is_current or changes is NULL");
    CacheManifest wanted = {0};
    changes[0] = 0;
    GrainResult result = expect(&job->job, stage_of(cache), &wanted);
    *is_current = strcmp(wanted.fingerprint, cache->manifest.fingerprint) == 0;
    if (result == GRAIN_OK && !*is_current) cache_manifest_explain(&cache->manifest, &wanted, changes, (size_t)size);
    json_decref(wanted.settings);
    return result;
}

int64_t grain_job_schema(char *out, int64_t room) { return schema_print(out, room); }
