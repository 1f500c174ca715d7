// SPDX-License-Identifier: GPL-3.0-or-later
// .vdb files read back as distance fields, as `grain` wrote them and as other programs compress them.
#include "fuzz/checks.h"
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"
#include "output/vdb.h"
#include "shared/meshes.h"

#include <string.h>

#define FILE_NAME "surface.vdb"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[300];
    GrainSdf *sdf;
    fuzz_write(FILE_NAME, data, size);
    fuzz_path(FILE_NAME, path);
    if (grain_sdf_read_vdb(path, NULL, &sdf) == GRAIN_OK)
        fuzz_sample(sdf);
    else if (sdf || !strstr(grain_last_error(), FILE_NAME))
        fuzz_found("error '%s'", grain_last_error());
    grain_sdf_destroy(sdf);
    return 0;
}

// --- seeds ----------------------------------------------------------------------------------------

// A level set as grain_sdf_write_vdb writes it, of a box far enough from the origin to need one large node only: the
// masks of one take half of an input.
static size_t seed_of_mesh(float voxel, uint8_t *data, size_t capacity)
{
    char path[300];
    Shape shape = shape_box(9, 9, 9, 10, 10, 10);
    GrainMesh mesh = shape_mesh(&shape);
    GrainSdfDef def;
    GrainSdf *sdf;
    fuzz_must(grain_sdf_def_default(&def, sizeof def));
    def.voxel_size = voxel, def.band_voxels = 2.0f;
    fuzz_must(grain_sdf_create(&mesh, &def, NULL, &sdf));
    fuzz_path(FILE_NAME, path);
    fuzz_must(grain_sdf_write_vdb(sdf, path, "surface"));
    grain_sdf_destroy(sdf);
    shape_free(&shape);
    return fuzz_read(FILE_NAME, data, capacity);
}

typedef struct Sink {
    uint8_t *data;
    size_t size, capacity;
} Sink;

static int32_t take(void *user, const void *data, int64_t bytes)
{
    Sink *sink = user;
    if (sink->size + (size_t)bytes > sink->capacity) return 1;
    memcpy(sink->data + sink->size, data, (size_t)bytes);
    sink->size += (size_t)bytes;
    return 0;
}

// What `grain volume` writes: a fog, empty to be short, and behind it a level set, both in halves.
static size_t seed_of_volume(uint8_t *data, size_t capacity)
{
    static float distance[512];
    static const int32_t corner[3] = {8, 0, 8};
    for (int i = 0; i < 512; i++) distance[i] = 0.02f * (float)(i % 8 - 4);
    const VdbGrid grids[] = {{"density", VDB_FOG, 0.0f, 0.02, 0, corner, distance},
                             {"surface", VDB_DISTANCE, 0.06f, 0.02, 1, corner, distance}};
    const VdbFile file = {"fuzz", NULL, 0, grids, 2};
    Sink sink = {data, 0, capacity};
    VdbMessage message;
    fuzz_must(vdb_need());
    if (vdb_shim()->grids_write(&file, take, &sink, &message) != VDB_OK) fuzz_found("%s", message.text);
    return sink.size;
}

size_t fuzz_seed(int index, uint8_t *data, size_t capacity)
{
    if (index >= 3) return 0;
    return index == 2 ? seed_of_volume(data, capacity) : seed_of_mesh(index ? 0.5f : 0.25f, data, capacity);
}
