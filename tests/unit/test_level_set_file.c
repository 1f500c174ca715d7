// SPDX-License-Identifier: GPL-3.0-or-later
#include "grain/grain.h"
#include "sdf/sdf.h"
#include "shared/meshes.h"
#include "shared/portable.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

static int has_openvdb(void)
{
    GrainSdf *sdf = NULL;
    grain_sdf_read_vdb("/nowhere.vdb", NULL, &sdf);
    return !strstr(grain_last_error(), "cannot be loaded");
}

static GrainSdf *make(Shape *shape, float voxel)
{
    GrainSdfDef def;
    grain_sdf_def_default(&def, sizeof def);
    def.voxel_size = voxel;
    GrainMesh mesh = shape_mesh(shape);
    GrainSdf *sdf = NULL;
    if (grain_sdf_create(&mesh, &def, NULL, &sdf) != GRAIN_OK) test_fail(__FILE__, __LINE__, "%s", grain_last_error());
    shape_free(shape);
    return sdf;
}

// Places where two fields differ: all voxels of both, and places all over.
static int64_t differences(const GrainSdf *a, const GrainSdf *b)
{
    int64_t count = a->block_count > 0 && b->block_count > 0 ? 0 : 1;
    for (int64_t block = 0; block < a->block_count; block++) {
        int32_t corner[3];
        sdf_block_corner(a, block, corner);
        for (int slot = 0; slot < 729; slot++) {
            int x = slot % 9, y = slot / 9 % 9, z = slot / 81;
            Vec3 p = sdf_voxel_position(a, corner[0] + x, corner[1] + y, corner[2] + z);
            float own = sdf_block_values(a, block)[slot], other = sdf_sample_point(b, p, NULL);
            count += !(fabsf(own - other) < 2e-3f * a->voxel_size);
        }
    }
    Vec3 low, high;
    sdf_bounds(a, &low, &high);
    for (int i = 0; i < 4000; i++) {
        float u = (float)(i % 16) / 15.0f, v = (float)(i / 16 % 16) / 15.0f, w = (float)(i / 256) / 15.0f;
        Vec3 p = {low.x + u * (high.x - low.x), low.y + v * (high.y - low.y), low.z + w * (high.z - low.z)};
        count += !(fabsf(sdf_sample_point(a, p, NULL) - sdf_sample_point(b, p, NULL)) < 2e-3f * a->voxel_size);
    }
    return count;
}

TEST(a_level_set_comes_back_as_it_was)
{
    if (!has_openvdb()) return;
    char path[512];
    snprintf(path, sizeof path, "%s/a.vdb", test_folder());
    Shape far = shape_sphere(6, 0.1), big = shape_sphere(3, 0.0);
    shape_move(&far, 1.0f, 1000.3f, -2000.7f, 512.1f);
    Shape shapes[] = {shape_torus_knot(800), shape_load(GRAIN_TEST_DATA "/suzanne.obj"), far, big};
    const float voxels[] = {0.05f, 0.05f, 0.1f, 0.004f}; // the last one is deep enough for large inside boxes
    for (int i = 0; i < 4; i++) {
        GrainSdf *written = make(&shapes[i], voxels[i]), *read;
        ENSURE(written != NULL);
        ENSURE_OK(grain_sdf_write_vdb(written, path, "sand"));
        ENSURE_OK(grain_sdf_read_vdb(path, i % 2 ? "sand" : NULL, &read));
        int64_t different = i < 3 ? differences(written, read) : 0;
        Vec3 middle = {(read->bounds_low.x + read->bounds_high.x) / 2, (read->bounds_low.y + read->bounds_high.y) / 2,
                       (read->bounds_low.z + read->bounds_high.z) / 2};
        int deep = i != 3 || sdf_sample_point(read, middle, NULL) == -read->half_width;
        grain_sdf_destroy(written);
        grain_sdf_destroy(read);
        ENSURE_EQUAL(different, 0);
        ENSURE(deep);
    }
}

TEST(what_cannot_be_read_or_written_is_said)
{
    if (!has_openvdb()) return;
    char path[512];
    GrainSdf *sdf;
    ENSURE_FAILS(grain_sdf_read_vdb("/nowhere.vdb", NULL, &sdf), GRAIN_ERROR_IO, "/nowhere.vdb");
    snprintf(path, sizeof path, "%s/pipe.vdb", test_folder());
    if (portable_make_pipe(path)) ENSURE_FAILS(grain_sdf_read_vdb(path, NULL, &sdf), GRAIN_ERROR_IO, "a pipe");
    snprintf(path, sizeof path, "%s/b.vdb", test_folder());
    FILE *file = fopen(path, "w");
    fputs("this is no vdb file, whatever its name says", file);
    fclose(file);
    ENSURE(grain_sdf_read_vdb(path, NULL, &sdf) < 0 && sdf == NULL && strstr(grain_last_error(), "b.vdb"));

    Shape box = shape_box(0, 0, 0, 1, 1, 1);
    GrainSdf *made = make(&box, 0.1f);
    ENSURE_FAILS(grain_sdf_write_vdb(made, "/nowhere/c.vdb", NULL), GRAIN_ERROR_IO, "/nowhere/c.vdb");
    ENSURE_OK(grain_sdf_write_vdb(made, path, "one"));
    ENSURE(grain_sdf_read_vdb(path, "two", &sdf) < 0 && strstr(grain_last_error(), "holds: one"));
    grain_sdf_destroy(made);

    // Cut short at any length: an error, never a crash.
    char data[4096];
    file = fopen(path, "rb");
    size_t length = fread(data, 1, sizeof data, file);
    fclose(file);
    for (size_t keep = 0; keep < length; keep += 97) {
        file = fopen(path, "wb");
        fwrite(data, 1, keep, file);
        fclose(file);
        ENSURE(grain_sdf_read_vdb(path, NULL, &sdf) < 0 && sdf == NULL);
    }
}
