// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of a cache (cache.json) that make no sense, in a folder with frames, a birth and a checkpoint. What is accepted
// fits its ranges and can be shown, checked, written and read again.
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"
#include "grain/grain.h"
#include "output/manifest.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

// The bits of the first byte; the rest is the file.
#define IS_SEALED 1   // the checksum is added: what is behind it is reached
#define IS_REPAIRED 2 // what is damaged is dropped and the list written again, which is slower
#define HEADER 1
#define FRAMES 2
#define PARTICLES 5
#define MOST_CHECKED 4 // frames of those listed

static const char *folder;

static void need(GrainResult result)
{
    if (result != GRAIN_OK) fuzz_found("error %d '%s'", (int)result, grain_last_error());
}

static void make_folder(void)
{
    static float position[3 * PARTICLES], rest[3 * PARTICLES];
    if (folder) return;
    folder = fuzz_folder();
    json_t *settings =
        json_pack("{s:f, s:[i, i, f], s:s}", "fps", 24.0, "gravity", 0, 0, -9.81, "object 'Sand'", "0123456789abcdef");
    CacheManifest wanted = {.fingerprint = "0123456789abcdef0123456789abcdef",
                            .job_name = (char *)"Sand",
                            .bodies = (char *)"Crate\nBall",
                            .settings = settings,
                            .fps = 24.0,
                            .frame_start = 1,
                            .frame_end = FRAMES,
                            .stream = "coarse"};
    Column column = {"position", GRAIN_F32, 3, PARTICLES, position}, birth = {"rest", GRAIN_F32, 3, PARTICLES, rest};
    ColumnFileHeader header = {.frame = FRAMES, .particles = PARTICLES};
    Cache cache;
    need(cache_open(&cache, folder, &wanted, CACHE_KEEP));
    need(cache_write_birth(&cache, 1, 0.0, PARTICLES, &birth, 1));
    for (int32_t frame = 1; frame <= FRAMES; frame++)
        need(cache_write_frame(&cache, frame, frame / 24.0, PARTICLES, &column, 1));
    need(cache_write_checkpoint(&cache, &header, &column, 1));
    cache_close(&cache);
    json_decref(settings);
}

// --- what is promised ---------------------------------------------------------------------------------

static void check_files(const GrainCacheFile *files, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const GrainCacheFile *file = &files[i];
        if (abs(file->frame) > FRAME_LIMIT || (i > 0 && file->frame <= file[-1].frame) || file->particles < 0 ||
            file->bytes < 0 || strncmp(file->path, folder, strlen(folder)) != 0 || strstr(file->path, ".."))
            fuzz_found("frame %d of %lld particles and %lld bytes in '%s'", file->frame, (long long)file->particles,
                       (long long)file->bytes, file->path);
    }
}

static void check_info(const GrainCacheInfo *info)
{
    size_t shown = strlen(info->job_name) + strlen(info->library);
    for (int64_t i = 0; i < info->body_count; i++) shown += strlen(info->bodies[i]);
    for (int64_t i = 0; i < info->setting_count; i++)
        shown += strlen(info->settings[i].key) + strlen(info->settings[i].value);
    if (shown > ((size_t)1 << 30)) fuzz_found("%zu bytes of text", shown);
    if (!(info->fps >= 1.0 && info->fps <= 1000.0)) fuzz_found("fps %g", info->fps);
    if (abs(info->frame_start) > FRAME_LIMIT || abs(info->frame_end) > FRAME_LIMIT ||
        info->frame_end < info->frame_start || (info->frame_count > 0 && info->frames[0].frame < info->frame_start))
        fuzz_found("frames %d to %d", info->frame_start, info->frame_end);
    if (strspn(info->fingerprint, "0123456789abcdef") != CACHE_FINGERPRINT_CHARS)
        fuzz_found("fingerprint '%s'", info->fingerprint);
    int is_volume = info->stream == GRAIN_STREAM_VOLUME;
    if (is_volume != (info->grid_count > 0) || is_volume != (info->voxel_size > 0.0) || info->voxel_size > 1e6 ||
        info->number_shift < 0 || info->number_shift > FRAME_LIMIT)
        fuzz_found("%lld grids of %g m, %lld", (long long)info->grid_count, info->voxel_size,
                   (long long)info->number_shift);
    check_files(info->frames, info->frame_count);
    check_files(info->births, info->birth_count);
}

static void check_failure(GrainResult result)
{
    if ((result != GRAIN_ERROR_DAMAGED && result != GRAIN_ERROR_MEMORY) || !strstr(grain_last_error(), "cache.json"))
        fuzz_found("error %d '%s'", (int)result, grain_last_error());
}

static void explain(void)
{
    char text[512];
    CacheManifest none = {0}, some;
    need(cache_manifest_read(folder, &some));
    cache_manifest_explain(&none, &some, text, sizeof text);
    cache_manifest_explain(&some, &none, text, sizeof text);
    cache_manifest_free(&some);
}

typedef enum Verdict { REFUSED, ACCEPTED, UNSURE } Verdict;

// UNSURE: the text has its checksum and is no JSON, which may be for want of memory.
static Verdict open_and_look(void)
{
    GrainCache *cache;
    GrainCacheInfo info = {.struct_size = sizeof info};
    GrainCacheFindings found = {.struct_size = sizeof found};
    GrainResult result = grain_cache_open(folder, &cache);
    if (result != GRAIN_OK) {
        check_failure(result);
        return result == GRAIN_ERROR_MEMORY ? UNSURE : REFUSED;
    }
    need(grain_cache_info(cache, &info));
    check_info(&info);
    for (int64_t i = 0; i < info.frame_count && i < MOST_CHECKED; i++) grain_cache_check(cache, info.frames[i].frame);
    need(grain_cache_check_rest(cache, NULL, &found));
    grain_cache_destroy(cache);
    explain();
    return ACCEPTED;
}

static void repair_and_look(void)
{
    GrainCacheFindings found = {.struct_size = sizeof found};
    need(grain_cache_repair(folder, NULL, &found));
    need(grain_cache_verify(folder, NULL, &found));
    if (found.files > 0) fuzz_found("%lld damaged after the repair: %s", (long long)found.files, grain_last_error());
    if (open_and_look() != ACCEPTED) fuzz_found("refused after the repair: %s", grain_last_error());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GrainCacheFindings found = {.struct_size = sizeof found};
    if (size < HEADER) return 0;
    make_folder();
    size_t bytes = size - HEADER;
    char *text = malloc(bytes + MANIFEST_SEAL_BYTES + 1);
    if (!text) return 0;
    memcpy(text, data + HEADER, bytes);
    manifest_seal(text + bytes, text, bytes);
    fuzz_write("cache.json", text, bytes + (data[0] & IS_SEALED ? MANIFEST_SEAL_BYTES : 0));
    free(text);
    Verdict verdict = open_and_look();
    if (verdict == UNSURE && data[0] & IS_SEALED) return 0;
    need(grain_cache_verify(folder, NULL, &found));
    if (verdict == REFUSED && found.files != 1) fuzz_found("verify finds %lld damaged files", (long long)found.files);
    GrainResult result = grain_cache_clean(folder, 1, NULL, &found);
    if ((result == GRAIN_OK) != (verdict == ACCEPTED)) fuzz_found("gc: error %d '%s'", (int)result, grain_last_error());
    if (verdict == ACCEPTED && data[0] & IS_REPAIRED) repair_and_look();
    return 0;
}

// --- seeds --------------------------------------------------------------------------------------------

#define BEGIN                                                                                                          \
    "{\"format\":2,\"library\":\"0.1.0\",\"job\":\"Sand\",\"fingerprint\":\"0123456789abcdef0123456789abcdef\","       \
    "\"settings\":{\"fps\":24.0,\"gravity\":[0,0,-9.81],\"object 'A'\":\"0123456789abcdef\",\"sleep\":true},"          \
    "\"fps\":24.0,\"frame_start\":-2,\"frame_end\":60,\"bodies\":[\"Crate\",\"Ball\"],"
#define ENTRY(frame) "{\"frame\":" frame ",\"particles\":5,\"bytes\":192,\"checksum\":\"0123456789abcdef\"}"

static const char *const texts[] = {
    BEGIN "\"births\":[" ENTRY("-2") "," ENTRY("4") "],\"streams\":{\"grains\":{\"columns\":[\"position\",\"id\"],"
                                                    "\"bytes_per_particle\":28.5}},\"frames\":[" ENTRY("-2") "," ENTRY(
                                                        "-1") "," ENTRY("7") "]",
    BEGIN "\"births\":[],\"streams\":{\"volume\":{\"grids\":[\"density\",\"velocity\",\"dust\",\"surface\"],"
          "\"voxel_size\":0.02,\"number_shift\":2}},\"frames\":[" ENTRY("-2") "," ENTRY("0") "]",
    "{\"format\":2,\"library\":\"\",\"job\":\"\",\"fingerprint\":\"ffffffffffffffffffffffffffffffff\",\"fps\":1,"
    "\"frame_start\":0,\"frame_end\":0,\"streams\":{\"coarse\":{}},\"frames\":[]",
};

// The first as Grain wrote it, all others by hand and without a checksum.
size_t fuzz_seed(int index, uint8_t *data, size_t capacity)
{
    static char written[4096];
    static size_t bytes;
    make_folder();
    if (bytes == 0) bytes = fuzz_read("cache.json", written, sizeof written);
    if (index > (int)(sizeof texts / sizeof *texts) + 1 || capacity < HEADER + sizeof written) return 0;
    const char *text = index < 2 ? written : texts[index - 2];
    size_t length = index == 0 ? bytes : index == 1 ? bytes - MANIFEST_SEAL_BYTES : strlen(text);
    data[0] = index == 0 ? 0 : IS_SEALED | IS_REPAIRED;
    memcpy(data + HEADER, text, length);
    return HEADER + length;
}
