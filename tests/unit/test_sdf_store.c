// SPDX-License-Identifier: GPL-3.0-or-later
// Distance fields kept in a cache folder: found again to the bit, made again where they are not as they should be.
#include "base/alloc.h"
#include "base/system.h"
#include "output/sdf_store.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <string.h>

typedef struct Kept {
    Shape shape;
    GrainMesh mesh;
    GrainSdfDef def;
    SdfStore store;
    int made; ///< whether the last call made its field: it then reports progress
} Kept;

static int32_t note_progress(void *user, const char *stage, float fraction)
{
    (void)stage, (void)fraction;
    ((Kept *)user)->made = 1;
    return GRAIN_CONTINUE;
}

static GrainResult kept_begin(Kept *kept, float size)
{
    *kept = (Kept){.shape = shape_box(-size, -size, -size, size, size, size)};
    kept->mesh = shape_mesh(&kept->shape);
    TRY(grain_sdf_def_default(&kept->def, sizeof kept->def));
    kept->def.voxel_size = 0.02f;
    kept->def.band_voxels = 8.0f;
    return sdf_store_begin(&kept->store, test_folder(), "coarse");
}

static void kept_end(Kept *kept)
{
    sdf_store_free(&kept->store);
    shape_free(&kept->shape);
}

static GrainResult make(Kept *kept, GrainSdf **out)
{
    GrainRun run = {sizeof run, 1, note_progress, kept};
    kept->made = 0;
    return sdf_store_make(&kept->store, &kept->mesh, &kept->def, &run, out);
}

static int is_same(const GrainSdf *a, const GrainSdf *b)
{
    return a->block_count == b->block_count && a->node_count == b->node_count && a->depth == b->depth &&
           memcmp(a->lattice, b->lattice, sizeof a->lattice) == 0 &&
           memcmp(&a->origin, &b->origin, sizeof(Vec3)) == 0 && a->voxel_size == b->voxel_size &&
           a->half_width == b->half_width && memcmp(&a->bounds_low, &b->bounds_low, 2 * sizeof(Vec3)) == 0 &&
           memcmp(a->values, b->values, sizeof(float) * SDF_BLOCK_VALUES * (size_t)a->block_count) == 0 &&
           memcmp(a->block_key, b->block_key, sizeof(uint64_t) * (size_t)a->block_count) == 0 &&
           memcmp(a->nodes, b->nodes, sizeof(int32_t) * SDF_NODE_CHILDREN * (size_t)a->node_count) == 0;
}

typedef struct Files {
    int count;
    char *last;
} Files;

static GrainResult note_file(void *user, const FileEntry *entry)
{
    Files *files = user;
    files->count++;
    alloc_free(files->last);
    return file_join(entry->path, "", &files->last);
}

static int count_files(void)
{
    Files files = {0};
    sdf_store_each_file(test_folder(), note_file, &files);
    alloc_free(files.last);
    return files.count;
}

TEST(a_field_is_made_once_and_found_again_to_the_bit)
{
    Kept kept;
    GrainSdf *made, *found, *other;
    ENSURE_OK(kept_begin(&kept, 0.4f));
    ENSURE_OK(make(&kept, &made));
    ENSURE_EQUAL(kept.made, 1);
    ENSURE_EQUAL(count_files(), 1);
    ENSURE_OK(make(&kept, &found));
    ENSURE_EQUAL(kept.made, 0);
    ENSURE(is_same(made, found));
    kept.def.thickness = 0.05f; // another field, even though this mesh is none of a sheet
    ENSURE_OK(make(&kept, &other));
    ENSURE_EQUAL(kept.made, 1);
    ENSURE_EQUAL(count_files(), 2);
    grain_sdf_destroy(made), grain_sdf_destroy(found), grain_sdf_destroy(other);
    kept_end(&kept);
}

static GrainResult damage(const char *path, int64_t at)
{
    char *bytes;
    int64_t count;
    FileWriter file;
    TRY(file_read(path, INT64_MAX, (void **)&bytes, &count));
    bytes[at < 0 ? count + at : at] ^= 4;
    GrainResult result = file_create(&file, path);
    if (result == GRAIN_OK) result = file_write(&file, bytes, (size_t)count);
    if (result == GRAIN_OK) result = file_commit(&file);
    alloc_free(bytes);
    return result;
}

TEST(a_damaged_field_is_made_again)
{
    Kept kept;
    GrainSdf *made, *again;
    ENSURE_OK(kept_begin(&kept, 0.4f));
    ENSURE_OK(make(&kept, &made));
    char *path;
    ENSURE_OK(file_join(kept.store.folder, kept.store.used[0], &path));
    const int64_t places[] = {3, 700, -100};
    for (int i = 0; i < 3; i++) {
        ENSURE_OK(damage(path, places[i]));
        ENSURE_OK(make(&kept, &again));
        ENSURE_EQUAL(kept.made, 1);
        ENSURE(is_same(made, again));
        grain_sdf_destroy(again);
        ENSURE_OK(make(&kept, &again)); // and whole on the disk again
        ENSURE_EQUAL(kept.made, 0);
        grain_sdf_destroy(again);
    }
    alloc_free(path);
    grain_sdf_destroy(made);
    kept_end(&kept);
}

TEST(fields_nobody_asks_for_any_more_are_dropped)
{
    Kept kept;
    GrainSdf *sdf;
    SdfStore later, fine;
    ENSURE_OK(kept_begin(&kept, 0.4f));
    ENSURE_OK(make(&kept, &sdf));
    grain_sdf_destroy(sdf);
    sdf_store_drop_unused(&kept.store);
    ENSURE_EQUAL(count_files(), 1);
    ENSURE_OK(sdf_store_begin(&fine, test_folder(), "fine")); // has none of its own
    sdf_store_drop_unused(&fine);
    ENSURE_EQUAL(count_files(), 1);
    ENSURE_OK(sdf_store_begin(&later, test_folder(), "coarse"));
    sdf_store_drop_unused(&later);
    ENSURE_EQUAL(count_files(), 0);
    sdf_store_free(&later), sdf_store_free(&fine);
    kept_end(&kept);
}

TEST(small_fields_are_not_kept_and_no_folder_keeps_nothing)
{
    Kept kept;
    GrainSdf *sdf;
    ENSURE_OK(kept_begin(&kept, 0.05f));
    ENSURE_OK(make(&kept, &sdf));
    grain_sdf_destroy(sdf);
    ENSURE_EQUAL(count_files(), 0);
    sdf_store_free(&kept.store);
    ENSURE_OK(sdf_store_begin(&kept.store, NULL, "coarse"));
    ENSURE_OK(make(&kept, &sdf));
    grain_sdf_destroy(sdf);
    sdf_store_drop_unused(&kept.store);
    kept_end(&kept);
}

typedef struct Refuser {
    int calls, refuse;
} Refuser;

static void *refusing_allocate(void *user, uint64_t bytes, uint64_t alignment)
{
    Refuser *refuser = user;
    return refuser->calls++ == refuser->refuse ? NULL : system_allocate(bytes, alignment);
}

static void refusing_release(void *user, void *memory, uint64_t bytes)
{
    (void)user, (void)bytes;
    system_free(memory);
}

// Made and kept, then found: twice, as a refusal may come in either.
static GrainResult make_and_find(Kept *kept)
{
    GrainResult result = GRAIN_OK;
    for (int i = 0; i < 2 && result == GRAIN_OK; i++) {
        GrainSdf *sdf;
        result = make(kept, &sdf);
        if (result == GRAIN_OK) grain_sdf_destroy(sdf);
    }
    return result;
}

TEST(every_allocation_of_a_store_may_fail)
{
    int refused = 0, is_asked = 1;
    float positions[3 * 8];
    int32_t triangles[3 * 12];
    Shape shape = shape_box(-0.4f, -0.4f, -0.4f, 0.4f, 0.4f, 0.4f);
    GrainMesh box = shape_mesh(&shape), mesh = {positions, triangles, box.vertex_count, box.triangle_count};
    memcpy(positions, box.positions, sizeof positions), memcpy(triangles, box.triangles, sizeof triangles);
    shape_free(&shape); // no memory may be held while the allocator is exchanged
    for (int n = 0; is_asked; n++) {
        Refuser refuser = {0, n};
        GrainAllocator allocator = {refusing_allocate, refusing_release, &refuser};
        Kept kept = {.mesh = mesh};
        grain_sdf_def_default(&kept.def, sizeof kept.def);
        kept.def.voxel_size = 0.02f, kept.def.band_voxels = 8.0f;
        ENSURE_OK(grain_set_allocator(&allocator));
        GrainResult result = sdf_store_begin(&kept.store, test_folder(), "coarse");
        if (result == GRAIN_OK) result = make_and_find(&kept);
        kept.store.used_count = 0;
        if (result == GRAIN_OK) sdf_store_drop_unused(&kept.store); // so that the next round makes it again
        sdf_store_free(&kept.store);
        int64_t left = (int64_t)grain_allocated_bytes();
        grain_set_allocator(NULL);
        is_asked = refuser.calls > n && result != GRAIN_OK;
        refused += is_asked;
        ENSURE_EQUAL(left, 0);
        ENSURE(result == GRAIN_OK || (result == GRAIN_ERROR_MEMORY && is_asked));
    }
    ENSURE(refused > 20);
}
