// SPDX-License-Identifier: GPL-3.0-or-later
// cache.json, the list of a cache: what it may say, with a right checksum, and what becomes of it when memory is short.
#include "base/alloc.h"
#include "base/file.h"
#include "grain/grain.h"
#include "output/manifest.h"
#include "unit/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *path_of_list(const char *folder)
{
    char *path;
    return file_join(folder, "cache.json", &path) == GRAIN_OK ? path : NULL;
}

// text: the object without its end.
static int write_sealed(const char *folder, const char *text)
{
    char seal[MANIFEST_SEAL_BYTES + 1], *path = path_of_list(folder);
    manifest_seal(seal, text, strlen(text));
    FILE *file = fopen(path, "wb");
    alloc_free(path);
    int is_written = file && fputs(text, file) >= 0 && fputs(seal, file) >= 0;
    return file ? fclose(file) == 0 && is_written : 0;
}

#define HEAD                                                                                                           \
    "{\"format\":2,\"library\":\"0.1.0\",\"job\":\"Sand\",\"fingerprint\":\"0123456789abcdef0123456789abcdef\","
#define RANGE "\"fps\":24,\"frame_start\":-1,\"frame_end\":9,"
#define STREAMS "\"streams\":{\"coarse\":{}},"
#define FRAME(frame, particles, bytes)                                                                                 \
    "{\"frame\":" frame ",\"particles\":" particles ",\"bytes\":" bytes ",\"checksum\":\"0123456789abcdef\"}"
#define VOLUME(what) "\"streams\":{\"volume\":{" what "}},"

// What early caches lack may be missing, every number may be at the end of its range, and unknown keys do no harm.
TEST(lists_at_the_ends_of_their_ranges_are_read)
{
    static const char *const texts[] = {
        HEAD RANGE STREAMS "\"frames\":[]",
        HEAD STREAMS
        "\"fps\":1000.0,\"frame_start\":-1048574,\"frame_end\":1048574,\"colour\":[{}],\"bodies\":[],"
        "\"frames\":[" FRAME("-1048574", "0", "0") "," FRAME("1048574", "1099511627776", "9007199254740992") "]",
        HEAD RANGE VOLUME("\"grids\":[\"surface\"],\"voxel_size\":1e-12,\"number_shift\":1048574") "\"frames\":[]",
        HEAD RANGE VOLUME("\"grids\":[\"dust\",\"velocity\",\"surface\",\"density\"],\"voxel_size\":1000000,"
                          "\"number_shift\":0") "\"frames\":[]",
    };
    const char *folder = test_folder();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CacheManifest manifest;
        ENSURE(write_sealed(folder, texts[i]));
        ENSURE_OK(cache_manifest_read(folder, &manifest));
        int64_t count = manifest.frame_count;
        int is_last_right = count == 0 || manifest.frames[count - 1].checksum == UINT64_C(0x0123456789abcdef);
        cache_manifest_free(&manifest);
        ENSURE_EQUAL(count, i == 1 ? 2 : 0);
        ENSURE(is_last_right);
    }
}

// One step beyond. Each is named with its value.
TEST(values_outside_their_ranges_are_named)
{
    static const struct Forged {
        const char *text, *named;
    } all[] = {
        {HEAD "\"fps\":1000.5,\"frame_start\":1,\"frame_end\":9," STREAMS "\"frames\":[]", "fps is 1000.5"},
        {HEAD "\"fps\":24,\"frame_start\":-1048575,\"frame_end\":9," STREAMS "\"frames\":[]",
         "frame_start is -1048575"},
        {HEAD "\"fps\":24,\"frame_start\":1,\"frame_end\":0," STREAMS "\"frames\":[]", "frame_end is 0"},
        {HEAD RANGE "\"frames\":[]", "streams is missing"},
        {HEAD RANGE STREAMS "\"births\":[]", "frames is missing"},
        {HEAD RANGE STREAMS "\"frames\":[" FRAME("-2", "1", "1") "]", "frames[0].frame is -2"},
        {HEAD RANGE STREAMS "\"frames\":[" FRAME("3", "1", "1") "," FRAME("3", "1", "1") "]", "frames[1].frame is 3"},
        {HEAD RANGE STREAMS "\"frames\":[" FRAME("3", "1099511627777", "1") "]",
         "frames[0].particles is 1099511627777"},
        {HEAD RANGE STREAMS "\"frames\":[" FRAME("3", "1", "9007199254740993") "]",
         "frames[0].bytes is 90071992547409"},
        {HEAD RANGE STREAMS "\"frames\":[" FRAME("3.0", "1", "1") "]", "frames[0].frame is 3.0"},
        {HEAD RANGE STREAMS "\"bodies\":[\"a\",null],\"frames\":[]", "bodies[1] is null"},
        {HEAD RANGE VOLUME("\"grids\":[\"dust\"],\"number_shift\":0") "\"frames\":[]", "voxel_size is missing"},
        {HEAD RANGE VOLUME("\"grids\":[\"dust\"],\"voxel_size\":0,\"number_shift\":0") "\"frames\":[]",
         "voxel_size is 0"},
        {HEAD RANGE "\"streams\":{\"coarse\":{},\"sand\":{}},\"frames\":[]", "streams is {"},
        {"{\"format\":3", "newer Grain (format 3)"},
    };
    const char *folder = test_folder();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CacheManifest manifest;
        ENSURE(write_sealed(folder, all[i].text));
        ENSURE_FAILS(cache_manifest_read(folder, &manifest), GRAIN_ERROR_DAMAGED, all[i].named);
    }
}

// --- memory that is short, of the library that parses ---------------------------------------------------------------

static int64_t until_refusal;
static int is_refused_for_good;

static void *refuse(size_t bytes)
{
    int is_refused = until_refusal-- <= 0;
    return is_refused && (is_refused_for_good || until_refusal == -1) ? NULL : malloc(bytes);
}

static GrainResult write_list(const char *folder, json_t *settings)
{
    CacheManifest wanted = {.fingerprint = "0123456789abcdef0123456789abcdef",
                            .job_name = (char *)"Sand",
                            .bodies = (char *)"Crate\nBall",
                            .settings = settings,
                            .fps = 24.0,
                            .frame_end = 3,
                            .stream = "coarse",
                            .has_orientation = 1};
    CacheFrame frame = {.particles = 1, .bytes = 2, .checksum = 3};
    CacheManifest manifest = {.stream = "coarse"};
    int64_t bytes = 0;
    GrainResult result = manifest_set_job(&manifest, &wanted);
    for (; frame.frame < 3 && result == GRAIN_OK; frame.frame++) result = manifest_add_frame(&manifest, &frame);
    if (result == GRAIN_OK) result = manifest_write(folder, &manifest, &bytes);
    cache_manifest_free(&manifest);
    return result;
}

static GrainResult read_list(const char *folder, json_t *settings)
{
    (void)settings;
    CacheManifest manifest;
    GrainResult result = cache_manifest_read(folder, &manifest);
    if (result != GRAIN_OK) return result;
    int is_whole = manifest.frame_count == 3 && strcmp(manifest.bodies, "Crate\nBall") == 0;
    cache_manifest_free(&manifest);
    return is_whole ? GRAIN_OK : GRAIN_ERROR_DAMAGED;
}

typedef GrainResult ListFn(const char *folder, json_t *settings);

// With each allocation refused. Counts those after which it neither fails for want of memory nor has a whole
// list.
static GrainResult count_losses(ListFn *call, const char *folder, json_t *settings, int *refused, int *losses)
{
    GrainResult result = GRAIN_OK;
    for (int64_t n = 0; n < 1000; n++) {
        until_refusal = n;
        json_set_alloc_funcs(refuse, free);
        result = call(folder, settings);
        json_set_alloc_funcs(malloc, free);
        if (until_refusal >= 0) return result; // nothing was refused any more
        ++*refused;
        *losses += result == GRAIN_OK ? read_list(folder, NULL) != GRAIN_OK : result != GRAIN_ERROR_MEMORY;
    }
    return GRAIN_ERROR_MEMORY;
}

// A list that is called damaged is replaced, and one that lacks a frame loses it.
TEST(short_memory_is_neither_damage_nor_a_shorter_list)
{
    const char *folder = test_folder();
    json_t *settings = json_pack("{s:f}", "fps", 24.0);
    int refused = 0, losses = 0;
    is_refused_for_good = 0;
    GrainResult written = count_losses(write_list, folder, settings, &refused, &losses);
    // Jansson loses letters of what it reads where a single allocation is refused.
    is_refused_for_good = 1;
    GrainResult read = count_losses(read_list, folder, settings, &refused, &losses);
    json_decref(settings);
    ENSURE_OK(written);
    ENSURE_OK(read);
    ENSURE_EQUAL(losses, 0);
    ENSURE(refused > 40);
}
