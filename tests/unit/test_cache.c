// SPDX-License-Identifier: GPL-3.0-or-later
// The cache folder as a protocol: damage anywhere is found, one writer at a time, nothing removed that is not the
// cache's.
#include "base/alloc.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/system.h"
#include "grain/grain.h"
#include "output/cache.h"
#include "shared/portable.h"
#include "unit/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 12
#define PARTICLES 40

static CacheManifest wanted_manifest(void)
{
    return (CacheManifest){.fingerprint = "0123456789abcdef0123456789abcdef",
                           .job_name = (char *)"Sand",
                           .fps = 24.0,
                           .frame_start = 1,
                           .frame_end = FRAMES,
                           .stream = "coarse"};
}

// Frames, a kept checkpoint and the latest one.
static GrainResult write_cache(const char *folder)
{
    CacheManifest wanted = wanted_manifest();
    Particles particles = {0};
    Cache cache;
    GrainResult result = GRAIN_OK;
    for (int i = 0; i < PARTICLES && result == GRAIN_OK; i++)
        result = particles_add(&particles, vec3((float)i, 1, 2), vec3(0, 0, (float)-i), 0.5f);
    if (result == GRAIN_OK) result = cache_open(&cache, folder, &wanted, CACHE_KEEP);
    for (int32_t frame = 1; frame <= FRAMES && result == GRAIN_OK; frame++) {
        Column columns[PARTICLES_MAX_COLUMNS];
        int count = particles_columns(&particles, columns);
        result = cache_write_frame(&cache, frame, frame / 24.0, PARTICLES, columns, count);
        ColumnFileHeader header = {.frame = frame, .particles = PARTICLES};
        Column column = {"position", GRAIN_F32, 3, PARTICLES, particles.position};
        if (result == GRAIN_OK) result = cache_write_checkpoint(&cache, &header, &column, 1);
    }
    if (result == GRAIN_OK) cache_close(&cache);
    particles_free(&particles);
    return result;
}

static char *path_in(const char *folder, const char *name)
{
    char *path;
    return file_join(folder, name, &path) == GRAIN_OK ? path : NULL;
}

// Without flushing: thousands of these are written.
static int write_bytes(const char *path, const void *data, int64_t bytes)
{
    FILE *file = fopen(path, "wb");
    int written = file && fwrite(data, 1, (size_t)bytes, file) == (size_t)bytes;
    return file ? fclose(file) == 0 && written : 0;
}

static void count_words(void *user, const char *text) { *(int *)user += text[0] != 0; }

// Whether a program that loads this file would notice.
static int loading_fails(const char *folder, const char *name, const char *path)
{
    CacheManifest manifest;
    struct GrainFrame file;
    if (strcmp(name, "cache.json") == 0) {
        GrainResult result = cache_manifest_read(folder, &manifest);
        cache_manifest_free(&manifest);
        return result == GRAIN_ERROR_DAMAGED;
    }
    GrainResult result = column_file_read(path, &file);
    column_file_free(&file);
    return result == GRAIN_ERROR_DAMAGED;
}

static int is_noticed(const char *folder, const char *name, const char *path)
{
    int64_t damaged = 0;
    int told = 0;
    return cache_verify(folder, &(Run){.message = count_words, .user = &told}, &damaged) == GRAIN_OK && damaged == 1 &&
           told == 1 && loading_fails(folder, name, path);
}

// One bit anywhere in the list, a frame or a checkpoint, 125 times each; cut off anywhere, 25 times each.
TEST(one_bit_anywhere_is_noticed)
{
    static const char *const names[] = {"cache.json", "coarse_000007.grain", "checkpoint_000010.grain",
                                        "checkpoint.grain"};
    const char *folder = test_folder();
    ENSURE_OK(write_cache(folder));
    int noticed = 0, flips = 0, cuts = 0, noticed_cuts = 0;
    for (int n = 0; n < 4; n++) {
        char *path = path_in(folder, names[n]), *data;
        int64_t bytes;
        ENSURE_OK(file_read(path, INT64_MAX, (void **)&data, &bytes));
        for (int i = 0; i < 125; i++) {
            Rng4 r = rng_at(11, (uint64_t)i, RNG_STREAM_TEST, (uint32_t)n);
            int64_t at = r.word[0] % bytes;
            data[at] ^= (char)(1 << r.word[1] % 8);
            flips++;
            noticed += write_bytes(path, data, bytes) && is_noticed(folder, names[n], path);
            data[at] ^= (char)(1 << r.word[1] % 8);
            if (i % 5) continue;
            cuts++;
            noticed_cuts += write_bytes(path, data, r.word[2] % bytes) && is_noticed(folder, names[n], path);
        }
        write_bytes(path, data, bytes);
        alloc_free(data);
        alloc_free(path);
    }
    int64_t damaged;
    int told = 0;
    ENSURE_OK(cache_verify(folder, &(Run){.message = count_words, .user = &told}, &damaged));
    ENSURE_EQUAL(damaged, 0);
    ENSURE_EQUAL(noticed, flips);
    ENSURE_EQUAL(noticed_cuts, cuts);
    ENSURE_EQUAL(flips, 500);
}

// A whole frame in the place of another is damage too.
TEST(a_frame_in_the_wrong_place_is_noticed)
{
    const char *folder = test_folder();
    ENSURE_OK(write_cache(folder));
    char *from = path_in(folder, "coarse_000003.grain"), *to = path_in(folder, "coarse_000004.grain");
    int renamed = file_remove(to) == GRAIN_OK && rename(from, to) == 0, told = 0;
    alloc_free(from), alloc_free(to);
    int64_t damaged;
    ENSURE(renamed);
    ENSURE_OK(cache_verify(folder, &(Run){.message = count_words, .user = &told}, &damaged));
    ENSURE_EQUAL(damaged, 2); // one is another's, one is missing
}

TEST(repair_drops_what_is_damaged_and_nothing_else)
{
    const char *folder = test_folder();
    ENSURE_OK(write_cache(folder));
    char *frame = path_in(folder, "coarse_000005.grain"), *checkpoint = path_in(folder, "checkpoint_000010.grain");
    int written = write_bytes(frame, "GRAINFRM", 8) && write_bytes(checkpoint, "", 0), told = 0;
    int64_t dropped, damaged;
    GrainResult result = cache_repair(folder, &(Run){.message = count_words, .user = &told}, &dropped);
    int is_kept = file_exists(frame), is_removed = !file_exists(checkpoint);
    alloc_free(frame), alloc_free(checkpoint);
    ENSURE(written && is_kept && is_removed);
    ENSURE_OK(result);
    ENSURE_EQUAL(dropped, 2);
    ENSURE_OK(cache_verify(folder, &(Run){.message = count_words, .user = &told}, &damaged));
    ENSURE_EQUAL(damaged, 0);
    CacheManifest manifest;
    ENSURE_OK(cache_manifest_read(folder, &manifest));
    int64_t listed = manifest.frame_count;
    cache_manifest_keep_run(&manifest);
    int64_t run = manifest.frame_count;
    cache_manifest_free(&manifest);
    ENSURE_EQUAL(listed, FRAMES - 1);
    ENSURE_EQUAL(run, 4); // what a bake goes on from
}

TEST(garbage_is_what_no_list_names)
{
    static const char *const foreign[] = {"notes.txt",           "coarse_5.grain",      "coarse_000099.grain.bak",
                                          "coarse_+00099.grain", "Coarse_000098.grain", "grains_000099.grain",
                                          "checkpoint_99.grain", "job.json.part"};
    static const char *const garbage[] = {"coarse_000099.grain",      "coarse_-00003.grain", "checkpoint_000020.grain",
                                          "coarse_000013.grain.part", "cache.json.part",     "checkpoint.grain.part"};
    const char *folder = test_folder();
    int told = 0, left = 0;
    int64_t removed, bytes;
    ENSURE_OK(write_cache(folder));
    for (int i = 0; i < 8 + 6; i++) {
        char *path = path_in(folder, i < 8 ? foreign[i] : garbage[i - 8]);
        int written = write_bytes(path, "12345", 5);
        alloc_free(path);
        ENSURE(written);
    }
    ENSURE_OK(cache_collect_garbage(folder, 1, &(Run){.message = count_words, .user = &told}, &removed, &bytes));
    ENSURE_EQUAL(removed, 6);
    ENSURE_OK(cache_collect_garbage(folder, 0, &(Run){.message = count_words, .user = &told}, &removed, &bytes));
    ENSURE_EQUAL(removed, 6);
    ENSURE_EQUAL(bytes, 30);
    ENSURE_EQUAL(told, 12);
    for (int i = 0; i < 8 + 6; i++) {
        char *path = path_in(folder, i < 8 ? foreign[i] : garbage[i - 8]);
        left += file_exists(path) * (i < 8 ? 1 : 100);
        alloc_free(path);
    }
    ENSURE_EQUAL(left, 8);
    ENSURE_OK(cache_verify(folder, &(Run){.message = count_words, .user = &told}, &bytes));
    ENSURE_EQUAL(bytes, 0);
}

// --- the public calls -----------------------------------------------------------------------------

static void note_text(void *user, const char *text) { snprintf(user, 1024, "%s", text); }

static int is_listed(const GrainCacheFile *file, int32_t frame)
{
    SystemInfo info;
    return file->frame == frame && file->particles == PARTICLES && system_info(file->path, &info) == 0 &&
           info.bytes == file->bytes;
}

TEST(a_cache_lists_its_frames)
{
    const char *folder = test_folder();
    GrainCache *cache;
    GrainCacheInfo info = {.struct_size = sizeof info};
    ENSURE_OK(write_cache(folder));
    ENSURE_OK(grain_cache_open(folder, &cache));
    ENSURE_OK(grain_cache_info(cache, &info));
    int listed = 0, is_right = info.stream == GRAIN_STREAM_COARSE && info.fps == 24.0 && info.frame_start == 1 &&
                               info.frame_end == FRAMES && strcmp(info.job_name, "Sand") == 0 &&
                               strcmp(info.library, grain_version()) == 0 && strlen(info.fingerprint) == 32;
    for (int32_t i = 0; i < info.frame_count; i++) listed += is_listed(&info.frames[i], i + 1);
    int64_t rest = info.birth_count + info.body_count + info.grid_count + info.setting_count;
    grain_cache_destroy(cache);
    ENSURE(is_right);
    ENSURE_EQUAL(listed, FRAMES);
    ENSURE_EQUAL(rest, 0);
}

// One empty frame range with all that a manifest can hold beside frames.
static GrainResult write_rich_manifest(const char *folder, json_t *settings)
{
    CacheManifest wanted = wanted_manifest();
    wanted.bodies = (char *)"Ball\nLong Box";
    wanted.settings = settings;
    Cache cache;
    float rest[3] = {1.0f, 2.0f, 3.0f};
    Column column = {"rest", GRAIN_F32, 3, 1, rest};
    TRY(cache_open(&cache, folder, &wanted, CACHE_KEEP));
    GrainResult result = cache_write_birth(&cache, 1, 0.0, 1, &column, 1);
    if (result == GRAIN_OK) result = cache_write_frame(&cache, 1, 0.0, 1, &column, 1);
    cache_close(&cache);
    return result;
}

TEST(a_cache_lists_bodies_births_and_settings)
{
    const char *folder = test_folder();
    GrainCache *cache;
    GrainCacheInfo info = {.struct_size = sizeof info};
    json_t *settings = json_pack("{s:s, s:f, s:[i, i]}", "solver", "dem", "solver.friction", 0.25, "gravity", 0, -9);
    GrainResult result = write_rich_manifest(folder, settings);
    json_decref(settings);
    ENSURE_OK(result);
    ENSURE_OK(grain_cache_open(folder, &cache));
    ENSURE_OK(grain_cache_info(cache, &info));
    int has_bodies =
        info.body_count == 2 && strcmp(info.bodies[0], "Ball") == 0 && strcmp(info.bodies[1], "Long Box") == 0;
    int has_births = info.birth_count == 1 && info.births[0].frame == 1 && info.births[0].particles == 1 &&
                     file_exists(info.births[0].path);
    int has_settings = info.setting_count == 3 && strcmp(info.settings[0].key, "solver") == 0 &&
                       strcmp(info.settings[0].value, "\"dem\"") == 0 && strcmp(info.settings[1].value, "0.25") == 0 &&
                       strcmp(info.settings[2].value, "[0,-9]") == 0;
    grain_cache_destroy(cache);
    ENSURE(has_bodies);
    ENSURE(has_births);
    ENSURE(has_settings);
}

TEST(columns_of_a_frame_are_enumerated)
{
    static const char *const expected[] = {"position", "velocity", "radius"};
    const char *folder = test_folder();
    GrainCache *cache;
    GrainFrame *frame;
    ENSURE_OK(write_cache(folder));
    ENSURE_OK(grain_cache_open(folder, &cache));
    GrainResult result = grain_cache_read(cache, 7, &frame);
    grain_cache_destroy(cache);
    ENSURE_OK(result);
    int found = 0, count = grain_frame_column_count(frame);
    for (int i = 0; i < count && i < 3; i++) {
        GrainView view;
        const char *name = grain_frame_column_name(frame, i);
        found += strcmp(name, expected[i]) == 0 && grain_frame_column(frame, name, &view) == GRAIN_OK &&
                 view.count == PARTICLES && view.components == (i < 2 ? 3 : 1) && view.type == GRAIN_F32;
    }
    int has_no_more = !grain_frame_column_name(frame, 3) && !grain_frame_column_name(frame, -1);
    grain_frame_destroy(frame);
    ENSURE_EQUAL(count, 3);
    ENSURE_EQUAL(found, 3);
    ENSURE(has_no_more && grain_frame_column_count(NULL) == 0);
}

static int32_t number_read(const GrainCache *cache, int32_t number)
{
    GrainFrame *frame;
    GrainFrameInfo info = {.struct_size = sizeof info};
    if (grain_cache_read(cache, number, &frame) == GRAIN_OK) grain_frame_info(frame, &info);
    grain_frame_destroy(frame);
    return info.frame;
}

TEST(a_repaired_cache_gives_each_frame_by_its_number)
{
    const char *folder = test_folder();
    ENSURE_OK(write_cache(folder));
    char *damaged = path_in(folder, "coarse_000005.grain"), text[1024] = "";
    int written = write_bytes(damaged, "GRAINFRM", 8);
    alloc_free(damaged);
    const GrainRun run = {.struct_size = sizeof run, .message = note_text, .user = text};
    GrainCacheFindings found = {.struct_size = sizeof found};
    ENSURE(written);
    ENSURE_OK(grain_cache_verify(folder, &run, &found));
    ENSURE(found.files == 1 && strstr(text, "coarse_000005.grain"));
    ENSURE_OK(grain_cache_repair(folder, NULL, &found));
    ENSURE_EQUAL(found.files, 1);
    GrainCache *cache;
    ENSURE_OK(grain_cache_open(folder, &cache));
    GrainFrame *frame;
    int32_t sixth = number_read(cache, 6);
    GrainResult missing = grain_cache_read(cache, 5, &frame), after = grain_cache_check(cache, FRAMES + 1);
    GrainResult whole = grain_cache_check(cache, FRAMES);
    grain_cache_destroy(cache);
    ENSURE_EQUAL(sixth, 6);
    ENSURE_EQUAL(missing, GRAIN_ERROR_ARGUMENT);
    ENSURE_EQUAL(after, GRAIN_ERROR_ARGUMENT);
    ENSURE(strstr(grain_last_error(), "there are 1 to 12"));
    ENSURE_OK(whole);
    ENSURE_OK(grain_cache_clean(folder, 0, &run, &found)); // the damaged frame, which no list names any more
    ENSURE(found.files == 1 && found.bytes == 8 && strstr(text, "coarse_000005.grain"));
}

TEST(caches_inside_a_folder_are_found_in_order)
{
    static const char *const inside[] = {"volume", "grains", "grains_2of2", "grains_3", "notes"};
    static const char *const expected[] = {"", "/grains", "/grains_2of2", "/volume", NULL};
    const char *folder = test_folder();
    char path[4096];
    int found = 0;
    ENSURE_OK(write_cache(folder));
    for (int i = 0; i < 5; i++) {
        char *below = path_in(folder, inside[i]);
        GrainResult result = write_cache(below);
        alloc_free(below);
        ENSURE_OK(result);
    }
    for (int i = 0; expected[i]; i++) {
        ENSURE_OK(grain_cache_folder(folder, i, path, sizeof path));
        size_t length = strlen(folder);
        found += strncmp(path, folder, length) == 0 && strcmp(path + length, expected[i]) == 0;
    }
    ENSURE_EQUAL(found, 4);
    ENSURE_OK(grain_cache_folder(folder, 4, path, sizeof path));
    ENSURE_EQUAL(path[0], 0);
    ENSURE_FAILS(grain_cache_folder(folder, 1, path, 5), GRAIN_ERROR_ARGUMENT, "does not fit");
}

typedef struct Refuser {
    int64_t left;
} Refuser;

static void *allocate_some(void *user, uint64_t bytes, uint64_t alignment)
{
    Refuser *refuser = user;
    return refuser->left-- > 0 ? system_allocate(bytes, alignment) : NULL;
}

static void release_some(void *user, void *memory, uint64_t bytes)
{
    (void)user, (void)bytes;
    system_free(memory);
}

TEST(opening_a_cache_survives_any_refused_allocation)
{
    const char *folder = test_folder();
    json_t *settings = json_pack("{s:s, s:f}", "solver", "dem", "solver.friction", 0.25);
    GrainResult result = write_rich_manifest(folder, settings);
    json_decref(settings);
    ENSURE_OK(result);
    result = GRAIN_ERROR_MEMORY;
    int refused = 0;
    for (int64_t n = 0; result == GRAIN_ERROR_MEMORY && n < 1000; n++) {
        Refuser refuser = {n};
        GrainAllocator allocator = {allocate_some, release_some, &refuser};
        GrainCache *cache;
        ENSURE_OK(grain_set_allocator(&allocator));
        result = grain_cache_open(folder, &cache);
        grain_cache_destroy(cache);
        int64_t held = grain_allocated_bytes();
        grain_set_allocator(NULL);
        ENSURE_EQUAL(held, 0);
        refused += result == GRAIN_ERROR_MEMORY;
    }
    ENSURE_OK(result);
    ENSURE(refused > 10);
}

TEST(public_calls_on_caches_refuse_what_makes_no_sense)
{
    GrainCache *cache;
    GrainCacheFindings found = {.struct_size = 3};
    ENSURE_FAILS(grain_cache_open(NULL, &cache), GRAIN_ERROR_ARGUMENT, "folder");
    ENSURE_FAILS(grain_cache_open("/nowhere at all", &cache), GRAIN_ERROR_IO, "/nowhere at all");
    ENSURE(!cache);
    ENSURE_FAILS(grain_cache_verify("/nowhere at all", NULL, &found), GRAIN_ERROR_ABI, "GrainCacheFindings");
    GrainExportDef def;
    ENSURE_OK(grain_export_def_default(&def, sizeof def));
    ENSURE_FAILS(grain_frame_export(NULL, &def, NULL), GRAIN_ERROR_ARGUMENT, "NULL");
}
