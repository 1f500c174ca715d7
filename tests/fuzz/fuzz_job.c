// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs: job.json up to the first zero byte, geometry.bin behind it. What is read is also listed and hashed.
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"
#include "grain/grain.h"
#include "job/job.h"

#include <string.h>

static void list_settings(const Job *job)
{
    for (JobStage stage = JOB_SIMULATE; stage <= JOB_UPSAMPLE; stage++) {
        void *settings;
        if (job_settings(job, stage, &settings) != GRAIN_OK) fuzz_found("error '%s'", grain_last_error());
        char text[512];
        CacheManifest none = {0}, some = {.settings = settings};
        cache_manifest_explain(&none, &some, text, sizeof text);
        json_decref(settings);
    }
    char fingerprint[CACHE_FINGERPRINT_CHARS + 1];
    job_upsample_fingerprint(job, fingerprint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, 0, size);
    size_t text = end ? (size_t)(end - data) : size;
    fuzz_write("job.json", data, text);
    fuzz_write("geometry.bin", end ? end + 1 : data, end ? size - text - 1 : 0);
    Job job;
    GrainResult result = job_read(fuzz_folder(), &job);
    if (result == GRAIN_OK)
        list_settings(&job);
    else if (!grain_last_error()[0])
        fuzz_found("error %d without a word", (int)result);
    job_free(&job);
    return 0;
}

// A box, twelve triangles, one pose and the box again: 32-bit numbers all.
#define ARRAYS                                                                                                         \
    "\"geometry\":{\"file\":\"geometry.bin\",\"bytes\":364},\"arrays\":["                                              \
    "{\"type\":\"f32\",\"components\":3,\"count\":8,\"offset\":0},{\"type\":\"i32\",\"components\":3,\"count\":12,"    \
    "\"offset\":96},{\"type\":\"f32\",\"components\":7,\"count\":1,\"offset\":240},{\"type\":\"f32\",\"components\":"  \
    "3,"                                                                                                               \
    "\"count\":8,\"offset\":268}]"

static const char *const texts[] = {
    "{\"schema\":1,\"name\":\"Sand\",\"writer\":\"x\",\"fps\":24.0,\"frame_start\":1,\"frame_end\":60,\"gravity\":[0,0,"
    "-9.81],"
    "\"seed\":3,\"checkpoint_every\":5,\"solver\":{\"type\":\"dem\",\"particle_radius\":0.002,\"size_spread\":0.2,"
    "\"grain_shape\":\"mesh\",\"integrator\":\"rkf45\",\"tolerance\":1e-5,\"sleep\":true,\"normal_law\":\"hertz\"}"
    "," ARRAYS
    ",\"objects\":[{\"name\":\"Block\",\"role\":\"source\",\"positions\":0,\"triangles\":1,\"velocity\":[0,0,1],"
    "\"material\":{\"density\":2000}},{\"name\":\"G\",\"role\":\"grain\",\"positions\":3,\"triangles\":1}],"
    "\"upsample\":{\"grains\":1e6,\"seed\":4,\"scheme\":\"gated\"}}",
    "{\"schema\":1,\"fps\":25,\"frame_start\":-2,\"frame_end\":9,\"solver\":{\"type\":\"mpm\",\"particle_radius\":0.1,"
    "\"law\":\"mud\",\"cohesion\":2}," ARRAYS ",\"objects\":[{\"name\":\"A\",\"role\":\"source\",\"positions\":0,"
    "\"triangles\":1},{\"name\":\"B\",\"role\":\"body\",\"motion\":\"moving\",\"positions\":3,\"triangles\":1,"
    "\"poses\":2,"
    "\"density\":600,\"release_frame\":4},{\"name\":\"C\",\"role\":\"collider\",\"motion\":\"deforming\",\"positions\":"
    "0,"
    "\"triangles\":1,\"shapes\":3,\"samples_per_frame\":2},{\"name\":\"D\",\"role\":\"collider\",\"plane\":{\"point\":"
    "[0,0,0],\"normal\":[0,0,1]},\"friction\":0.3}],\"upsample\":{\"grains_per_particle\":9.5,\"size_spread\":0.1}}",
    "{\"schema\":1,\"fps\":24,\"frame_start\":1,\"frame_end\":2,\"solver\":{\"type\":\"dem\",\"particle_radius\":1}}",
};

size_t fuzz_seed(int index, uint8_t *data, size_t capacity)
{
    static const int32_t triangles[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                          2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    static const float pose[7] = {0.5f, 0.5f, 0.5f, 1, 0, 0, 0};
    float box[24];
    if (index >= (int)(sizeof texts / sizeof *texts) || capacity < 4096) return 0;
    for (int i = 0; i < 24; i++) box[i] = (float)(i / 3 >> i % 3 & 1);
    size_t length = strlen(texts[index]) + 1;
    memcpy(data, texts[index], length);
    memcpy(data + length, box, 96), memcpy(data + length + 96, triangles, 144);
    memcpy(data + length + 240, pose, 28), memcpy(data + length + 268, box, 96);
    return length + 364;
}
