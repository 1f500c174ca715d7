// SPDX-License-Identifier: GPL-3.0-or-later
// Distance fields as OpenVDB level sets, through libgrain_vdb (vdb/vdb_shim.h).
#include "output/level_set_file.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sort.h"
#include "base/system.h"
#include "output/vdb.h"
#include "sdf/sdf_tree.h"

#include <string.h>

// A grid's lattice must fit int32 with room for the blocks around it.
#define MAX_LATTICE (1 << 30)

// --- writing --------------------------------------------------------------------------------------

// Boxes that are wholly inside: as many as the tree has such entries.
static int64_t list_inside(const GrainSdf *sdf, int32_t *boxes)
{
    int64_t first[SDF_MAX_DEPTH + 1], count = 0;
    sdf_tree_levels(sdf, first);
    // The corner of a node: that of any block below it, without the lower bits. Blocks ascend with the nodes.
    for (int level = 1; level <= sdf->depth; level++) {
        int32_t size = 1 << (3 * level);
        int64_t node = first[level] - 1;
        for (int64_t block = 0; block < sdf->block_count; block++) {
            if (block > 0 && sdf->block_key[block] >> 9 * level == sdf->block_key[block - 1] >> 9 * level) continue;
            node++;
            int32_t corner[3];
            sdf_block_corner(sdf, block, corner);
            for (int slot = 0; slot < SDF_NODE_CHILDREN; slot++) {
                if (sdf->nodes[node * SDF_NODE_CHILDREN + slot] != SDF_INSIDE) continue;
                if (boxes) {
                    int32_t *box = boxes + 4 * count;
                    for (int axis = 0; axis < 3; axis++)
                        box[axis] =
                            sdf->lattice[axis] + (corner[axis] & ~(8 * size - 1)) + (slot >> (3 * axis) & 7) * size;
                    box[3] = size;
                }
                count++;
            }
        }
    }
    return count;
}

static void fill_corners(const GrainSdf *sdf, int32_t *corners)
{
    for (int64_t block = 0; block < sdf->block_count; block++) {
        sdf_block_corner(sdf, block, corners + 3 * block);
        for (int axis = 0; axis < 3; axis++) corners[3 * block + axis] += sdf->lattice[axis];
    }
}

static GrainResult write_file(const GrainSdf *sdf, const char *path, const char *grid_name, int32_t *corners,
                              int32_t *boxes, int64_t box_count)
{
    double voxel = (double)sdf->voxel_size;
    VdbLevelSet level_set = {.name = grid_name,
                             .voxel_size = voxel,
                             .offset = {(double)sdf->origin.x - sdf->lattice[0] * voxel,
                                        (double)sdf->origin.y - sdf->lattice[1] * voxel,
                                        (double)sdf->origin.z - sdf->lattice[2] * voxel},
                             .background = sdf->half_width,
                             .block_count = sdf->block_count,
                             .corner = corners,
                             .values = sdf->values,
                             .block_stride = SDF_BLOCK_VALUES,
                             .slice = SDF_BLOCK_PITCH * SDF_BLOCK_PITCH,
                             .row = SDF_BLOCK_PITCH,
                             .inside_count = box_count,
                             .inside = boxes};
    FileWriter writer;
    VdbMessage message;
    TRY(file_create(&writer, path));
    int32_t code = vdb_shim()->level_set_write(writer.part_path, &level_set, &message);
    if (code == VDB_OK) return file_commit(&writer);
    file_abandon(&writer);
    return vdb_fail(code, path, &message);
}

GrainResult level_set_write(const GrainSdf *sdf, const char *path, const char *grid_name)
{
    TRY(vdb_need());
    int64_t box_count = list_inside(sdf, NULL);
    int32_t *corners = ALLOC(int32_t, 3 * sdf->block_count), *boxes = ALLOC(int32_t, 4 * box_count);
    GrainResult result = corners && boxes ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) {
        fill_corners(sdf, corners);
        list_inside(sdf, boxes);
        result = write_file(sdf, path, grid_name ? grid_name : "surface", corners, boxes, box_count);
    }
    alloc_free(corners);
    alloc_free(boxes);
    return result;
}

// --- reading --------------------------------------------------------------------------------------

typedef struct Import {
    GrainSdf *sdf;
    const char *path;
    VdbReader *reader;
    VdbLevelSetInfo info;
    int32_t *corner; // of OpenVDB's leaves
    float *values;   // 512 for each
    SortItem *items; // (block key, leaf, or NO_LEAF)
    int64_t item_count;
} Import;

#define NO_LEAF UINT32_MAX

static GrainResult place_lattice(Import *m)
{
    GrainSdf *sdf = m->sdf;
    int64_t low[3], high[3], extent = 0;
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = high[axis] = m->corner[axis];
        for (int64_t i = 1; i < m->info.block_count; i++) {
            int64_t at = m->corner[3 * i + axis];
            low[axis] = at < low[axis] ? at : low[axis];
            high[axis] = at > high[axis] ? at : high[axis];
        }
        // A layer of empty blocks around it, and one more before for the far sides.
        low[axis] -= 16, high[axis] += 16;
        extent = high[axis] - low[axis] > extent ? high[axis] - low[axis] : extent;
        if (low[axis] < -MAX_LATTICE || high[axis] > MAX_LATTICE)
            return fail(GRAIN_ERROR_DAMAGED, "%s: its voxels are %lld steps away from its origin", m->path,
                        (long long)low[axis]);
        sdf->lattice[axis] = (int32_t)low[axis];
    }
    double voxel = m->info.voxel_size;
    sdf->voxel_size = (float)voxel;
    sdf->half_width = m->info.background;
    sdf->origin =
        vec3((float)(m->info.offset[0] + (double)low[0] * voxel), (float)(m->info.offset[1] + (double)low[1] * voxel),
             (float)(m->info.offset[2] + (double)low[2] * voxel));
    sdf->bounds_low = sdf->origin;
    sdf->bounds_high =
        vec3((float)(m->info.offset[0] + (double)high[0] * voxel), (float)(m->info.offset[1] + (double)high[1] * voxel),
             (float)(m->info.offset[2] + (double)high[2] * voxel));
    sdf->depth = 1;
    while (sdf->depth <= SDF_MAX_DEPTH && (int64_t)1 << (3 * (sdf->depth + 1)) < extent) sdf->depth++;
    if (sdf->depth > SDF_MAX_DEPTH)
        return fail(GRAIN_ERROR_DAMAGED, "%s: %lld voxels along an axis are too many", m->path, (long long)extent);
    return GRAIN_OK;
}

// Whether the block before a leaf, in the directions given, copies a value of the band from it.
static int is_seen_from(const Import *m, const float *values, int dx, int dy, int dz)
{
    for (int z = 0; z < (dz ? 1 : 8); z++)
        for (int y = 0; y < (dy ? 1 : 8); y++)
            for (int x = 0; x < (dx ? 1 : 8); x++)
                if (fabsf(values[z * 64 + y * 8 + x]) < m->sdf->half_width) return 1;
    return 0;
}

// A block for each leaf, and for each place before a leaf that needs some of its values.
static GrainResult list_blocks(Import *m)
{
    GrainSdf *sdf = m->sdf;
    m->items = ALLOC(SortItem, 8 * m->info.block_count);
    if (!m->items) return GRAIN_ERROR_MEMORY;
    for (int64_t leaf = 0; leaf < m->info.block_count; leaf++)
        for (int way = 0; way < 8; way++) {
            int dx = way & 1, dy = way >> 1 & 1, dz = way >> 2;
            const int32_t *c = m->corner + 3 * leaf;
            if (way > 0 && !is_seen_from(m, m->values + 512 * leaf, dx, dy, dz)) continue;
            uint64_t key = sdf_block_key(c[0] - sdf->lattice[0] - 8 * dx, c[1] - sdf->lattice[1] - 8 * dy,
                                         c[2] - sdf->lattice[2] - 8 * dz, sdf->depth);
            m->items[m->item_count++] = (SortItem){key, way > 0 ? NO_LEAF : (uint32_t)leaf, 0};
        }
    SortScratch scratch = {0};
    GrainResult result = sort_by_key(m->items, m->item_count, 9 * sdf->depth, &scratch, 1);
    sort_scratch_free(&scratch);
    return result;
}

static void copy_leaf(const Import *m, const float *leaf, float *values)
{
    float half_width = m->sdf->half_width;
    for (int slot = 0; slot < 512; slot++) {
        float value = leaf[slot];
        value = value < -half_width ? -half_width : value > half_width ? half_width : value;
        values[sdf_block_index(slot & 7, slot >> 3 & 7, slot >> 6)] = value;
    }
}

static GrainResult make_blocks(Import *m)
{
    GrainSdf *sdf = m->sdf;
    for (int64_t i = 0; i < m->item_count; i++) sdf->block_count += i == 0 || m->items[i].key != m->items[i - 1].key;
    if (sdf->block_count > INT32_MAX / SDF_BLOCK_VALUES)
        return fail(GRAIN_ERROR_MEMORY, "%s: %lld blocks of voxels are too many", m->path, (long long)sdf->block_count);
    sdf->block_key = ALLOC(uint64_t, sdf->block_count);
    sdf->values = ALLOC(float, sdf->block_count *SDF_BLOCK_VALUES);
    if (!sdf->block_key || !sdf->values) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0, block = -1; i < m->item_count; i++) {
        if (i == 0 || m->items[i].key != m->items[i - 1].key) {
            sdf->block_key[++block] = m->items[i].key;
            float *values = sdf->values + block * SDF_BLOCK_VALUES;
            for (int k = 0; k < SDF_BLOCK_VALUES; k++) values[k] = SDF_FAR;
        }
        if (m->items[i].value != NO_LEAF)
            copy_leaf(m, m->values + 512 * (int64_t)m->items[i].value, sdf->values + block * SDF_BLOCK_VALUES);
    }
    return GRAIN_OK;
}

static GrainResult import_grid(Import *m, const char *grid_name)
{
    VdbMessage message;
    int32_t code = vdb_shim()->level_set_open(m->path, grid_name, &m->reader, &m->info, &message);
    if (code != VDB_OK) return vdb_fail(code, m->path, &message);
    if (m->info.block_count == 0) return fail(GRAIN_ERROR_DAMAGED, "%s: the level set is empty", m->path);
    if (!(m->info.voxel_size > 0.0) || !(m->info.background > 0.0f) || !isfinite(m->info.background))
        return fail(GRAIN_ERROR_DAMAGED, "%s: voxels of %g m and a background of %g m do not describe a level set",
                    m->path, m->info.voxel_size, (double)m->info.background);
    m->corner = ALLOC(int32_t, 3 * m->info.block_count);
    m->values = ALLOC(float, 512 * m->info.block_count);
    if (!m->corner || !m->values) return GRAIN_ERROR_MEMORY;
    code = vdb_shim()->level_set_read(m->reader, m->corner, m->values, &message);
    if (code != VDB_OK) return vdb_fail(code, m->path, &message);
    for (int64_t i = 0; i < 512 * m->info.block_count; i++)
        if (!isfinite(m->values[i])) return fail(GRAIN_ERROR_DAMAGED, "%s: a distance is not a number", m->path);
    TRY(place_lattice(m));
    TRY(list_blocks(m));
    TRY(make_blocks(m));
    TRY(sdf_tree_build(m->sdf));
    int64_t conflicts;
    TRY(sdf_fill(m->sdf, NULL, system_core_count(), &conflicts));
    sdf_copy_far_sides(m->sdf, system_core_count());
    return GRAIN_OK;
}

GrainResult level_set_read(const char *path, const char *grid_name, GrainSdf **out)
{
    TRY(vdb_need());
    TRY(file_check_chosen(path)); // OpenVDB would wait at a pipe
    GrainSdf *sdf = ALLOC_ZEROED(GrainSdf, 1);
    if (!sdf) return GRAIN_ERROR_MEMORY;
    Import import = {.sdf = sdf, .path = path};
    GrainResult result = import_grid(&import, grid_name);
    if (import.reader) vdb_shim()->reader_close(import.reader);
    alloc_free(import.corner);
    alloc_free(import.values);
    alloc_free(import.items);
    if (result == GRAIN_OK)
        *out = sdf;
    else
        grain_sdf_destroy(sdf);
    return result;
}
