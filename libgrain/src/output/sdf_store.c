// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/sdf_store.h"
#include "base/alloc.h"
#include "base/error.h"
#include "output/column_file.h"
#include "sdf/sdf_tree.h"

#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

// Raised by every change that moves a bit of a distance field.
#define SDF_VERSION 1
// Smaller fields are made in less than a tenth of a second, larger ones fill disks. In between it pays: a ball of 3 MB
// takes 0.25 s of a core to make and 0.01 s to find, one of 85 MB 0.9 s and 0.1 s.
#define LEAST_BYTES (INT64_C(1) << 20)
#define MOST_BYTES (INT64_C(1) << 30)
#define HASH_CHARS 32
#define HEAD_FLOATS 11

// --- files ----------------------------------------------------------------------------------------

static GrainResult write_field(const char *path, const GrainSdf *sdf)
{
    const float head[HEAD_FLOATS] = {sdf->origin.x,      sdf->origin.y,      sdf->origin.z,     sdf->voxel_size,
                                     sdf->half_width,    sdf->bounds_low.x,  sdf->bounds_low.y, sdf->bounds_low.z,
                                     sdf->bounds_high.x, sdf->bounds_high.y, sdf->bounds_high.z};
    const int32_t lattice[4] = {sdf->lattice[0], sdf->lattice[1], sdf->lattice[2], sdf->depth};
    const Column columns[] = {{"head", GRAIN_F32, HEAD_FLOATS, 1, head},
                              {"lattice", GRAIN_I32, 4, 1, lattice},
                              {"keys", GRAIN_I32, 2, sdf->block_count, sdf->block_key},
                              {"nodes", GRAIN_I32, 1, sdf->node_count * SDF_NODE_CHILDREN, sdf->nodes},
                              {"values", GRAIN_F32, 1, sdf->block_count * SDF_BLOCK_VALUES, sdf->values}};
    ColumnFileHeader header = {.particles = sdf->block_count};
    return column_file_write(path, &header, columns, sizeof columns / sizeof *columns);
}

// Children are where the keys say that there are any.
static int is_sound(const GrainSdf *sdf)
{
    int64_t first[SDF_MAX_DEPTH + 1];
    for (int64_t block = 1; block < sdf->block_count; block++)
        if (sdf->block_key[block] <= sdf->block_key[block - 1]) return 0;
    sdf_tree_levels(sdf, first);
    if (first[0] != sdf->node_count) return 0;
    for (int64_t i = 0; i < sdf->node_count * SDF_NODE_CHILDREN; i++) {
        int is_last_level = i / SDF_NODE_CHILDREN >= first[1];
        int64_t child = sdf->nodes[i], end = is_last_level ? sdf->block_count : sdf->node_count;
        if (child < SDF_INSIDE || child >= end) return 0;
        if (!is_last_level && child >= 0 && child <= i / SDF_NODE_CHILDREN) return 0;
    }
    return 1;
}

static GrainResult copy_field(const struct GrainFrame *file, GrainSdf *sdf)
{
    float head[HEAD_FLOATS];
    int32_t lattice[4];
    const Column *columns = file->columns, *nodes = column_find(columns, file->column_count, "nodes");
    int count = file->column_count;
    int64_t blocks = file->header.particles;
    TRY(column_copy(columns, count, "head", GRAIN_F32, HEAD_FLOATS, 1, head));
    TRY(column_copy(columns, count, "lattice", GRAIN_I32, 4, 1, lattice));
    if (!nodes || nodes->count % SDF_NODE_CHILDREN != 0 || nodes->count == 0 || blocks < 1 || blocks > INT32_MAX ||
        lattice[3] < 1 || lattice[3] > SDF_MAX_DEPTH)
        return fail(GRAIN_ERROR_DAMAGED, "a stored distance field is not valid");
    sdf->origin = vec3(head[0], head[1], head[2]);
    sdf->voxel_size = head[3], sdf->half_width = head[4];
    sdf->bounds_low = vec3(head[5], head[6], head[7]), sdf->bounds_high = vec3(head[8], head[9], head[10]);
    memcpy(sdf->lattice, lattice, sizeof sdf->lattice);
    sdf->depth = lattice[3];
    sdf->block_count = blocks, sdf->node_count = nodes->count / SDF_NODE_CHILDREN;
    sdf->block_key = ALLOC(uint64_t, blocks);
    sdf->nodes = ALLOC(int32_t, nodes->count);
    sdf->values = ALLOC(float, blocks *SDF_BLOCK_VALUES);
    if (!sdf->block_key || !sdf->nodes || !sdf->values) return GRAIN_ERROR_MEMORY;
    TRY(column_copy(columns, count, "keys", GRAIN_I32, 2, blocks, sdf->block_key));
    TRY(column_copy(columns, count, "nodes", GRAIN_I32, 1, nodes->count, sdf->nodes));
    TRY(column_copy(columns, count, "values", GRAIN_F32, 1, blocks * SDF_BLOCK_VALUES, sdf->values));
    return is_sound(sdf) ? GRAIN_OK : fail(GRAIN_ERROR_DAMAGED, "the tree of a stored distance field is not valid");
}

static GrainResult read_field(const char *path, GrainSdf **out)
{
    struct GrainFrame file;
    TRY(column_file_read(path, &file));
    GrainSdf *sdf = ALLOC_ZEROED(GrainSdf, 1);
    GrainResult result = sdf ? copy_field(&file, sdf) : GRAIN_ERROR_MEMORY;
    column_file_free(&file);
    if (result == GRAIN_OK)
        *out = sdf;
    else
        grain_sdf_destroy(sdf);
    return result;
}

// --- the store ------------------------------------------------------------------------------------

GrainResult sdf_store_begin(SdfStore *store, const char *cache_folder, const char *name)
{
    *store = (SdfStore){.name = name};
    return cache_folder ? file_enter(cache_folder, "sdf", &store->folder) : GRAIN_OK;
}

void sdf_store_free(SdfStore *store)
{
    alloc_free(store->folder);
    alloc_free(store->used);
    *store = (SdfStore){0};
}

// All that a field follows from.
static void name_field(const SdfStore *store, const GrainMesh *mesh, const GrainSdfDef *def, char *out)
{
    const int64_t counts[2] = {mesh->vertex_count, mesh->triangle_count};
    const float lengths[3] = {def->voxel_size, def->band_voxels, def->thickness};
    const int32_t kinds[2] = {def->kind, SDF_VERSION};
    XXH3_state_t hash;
    XXH3_INITSTATE(&hash);
    XXH3_128bits_reset(&hash);
    XXH3_128bits_update(&hash, counts, sizeof counts);
    XXH3_128bits_update(&hash, lengths, sizeof lengths);
    XXH3_128bits_update(&hash, kinds, sizeof kinds);
    XXH3_128bits_update(&hash, mesh->positions, sizeof(float) * 3 * (size_t)mesh->vertex_count);
    XXH3_128bits_update(&hash, mesh->triangles, sizeof(int32_t) * 3 * (size_t)mesh->triangle_count);
    XXH128_hash_t digest = XXH3_128bits_digest(&hash);
    snprintf(out, SDF_STORE_NAME_CHARS + 1, "%.20s_%016llx%016llx.grain", store->name,
             (unsigned long long)digest.high64, (unsigned long long)digest.low64);
}

static GrainResult find_path(SdfStore *store, const GrainMesh *mesh, const GrainSdfDef *def, char **path)
{
    TRY(alloc_grow((void **)&store->used, &store->used_capacity, store->used_count + 1, sizeof *store->used));
    char *name = store->used[store->used_count++];
    name_field(store, mesh, def, name);
    return file_join(store->folder, name, path);
}

// A disk that is full or read-only is no reason to stop.
static GrainResult keep(const SdfStore *store, const char *path, const GrainSdf *sdf)
{
    int64_t bytes = (int64_t)sizeof(float) * SDF_BLOCK_VALUES * sdf->block_count;
    if (bytes < LEAST_BYTES || bytes > MOST_BYTES) return GRAIN_OK;
    GrainResult result = file_make_folder(store->folder);
    if (result == GRAIN_OK) result = write_field(path, sdf);
    return result == GRAIN_ERROR_MEMORY ? result : GRAIN_OK;
}

GrainResult sdf_store_make(SdfStore *store, const GrainMesh *mesh, const GrainSdfDef *def, const GrainRun *run,
                           GrainSdf **out)
{
    *out = NULL;
    if (!store->folder) return grain_sdf_create(mesh, def, run, out);
    char *path = NULL;
    GrainResult result = find_path(store, mesh, def, &path);
    if (result == GRAIN_OK && file_exists(path)) {
        result = read_field(path, out);
        if (result != GRAIN_ERROR_MEMORY) result = GRAIN_OK;
    }
    if (result == GRAIN_OK && !*out) {
        result = grain_sdf_create(mesh, def, run, out);
        if (result == GRAIN_OK) result = keep(store, path, *out);
        if (result != GRAIN_OK) {
            grain_sdf_destroy(*out);
            *out = NULL;
        }
    }
    alloc_free(path);
    return result;
}

// NAME_HASH.grain, or that with .part
static int is_kept(const char *file, const char *name)
{
    const char *bar = strchr(file, '_');
    if (!bar || strspn(bar + 1, "0123456789abcdef") != HASH_CHARS) return 0;
    if (name && (strlen(name) != (size_t)(bar - file) || strncmp(file, name, strlen(name)) != 0)) return 0;
    const char *end = bar + 1 + HASH_CHARS;
    return strcmp(end, ".grain") == 0 || strcmp(end, ".grain" FILE_PART_SUFFIX) == 0;
}

static int is_used(const SdfStore *store, const char *file)
{
    for (int64_t i = 0; i < store->used_count; i++)
        if (strcmp(store->used[i], file) == 0) return 1;
    return 0;
}

typedef struct Kept {
    const char *name;      ///< NULL: those of any store
    const SdfStore *store; ///< NULL: used or not
    FileVisitFn *call;
    void *user;
} Kept;

static GrainResult visit_kept(void *user, const FileEntry *entry)
{
    const Kept *kept = user;
    if (!is_kept(entry->name, kept->name) || (kept->store && is_used(kept->store, entry->name))) return GRAIN_OK;
    return kept->call(kept->user, entry);
}

static GrainResult remove_file(void *user, const FileEntry *entry)
{
    int64_t bytes;
    (void)user;
    // Only plain files: a folder or a link of such a name is not ours.
    return file_entry_is_file(entry, &bytes) ? file_entry_remove(entry) : GRAIN_OK;
}

void sdf_store_drop_unused(const SdfStore *store)
{
    Kept unused = {store->name, store, remove_file, NULL};
    if (store->folder && file_exists(store->folder)) file_visit(store->folder, visit_kept, &unused);
}

GrainResult sdf_store_each_file(const char *cache_folder, FileVisitFn *call, void *user)
{
    char *folder;
    Kept all = {NULL, NULL, call, user};
    TRY(file_enter(cache_folder, "sdf", &folder));
    GrainResult result = file_exists(folder) ? file_visit(folder, visit_kept, &all) : GRAIN_OK;
    alloc_free(folder);
    return result;
}
