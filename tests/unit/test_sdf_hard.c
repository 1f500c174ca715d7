// SPDX-License-Identifier: GPL-3.0-or-later
// Meshes nobody would make on purpose: a usable field or a clear error, never a crash, a hang or a flood of memory.
#include "base/run.h"
#include "grain/grain.h"
#include "sdf/sdf.h"
#include "shared/brute.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

typedef struct Settings {
    float voxel, thickness;
    GrainSdfKind kind;
} Settings;

static GrainSdf *make(const Shape *shape, Settings settings)
{
    GrainSdfDef def;
    grain_sdf_def_default(&def, sizeof def);
    def.voxel_size = settings.voxel;
    def.thickness = settings.thickness;
    def.kind = settings.kind;
    GrainMesh mesh = shape_mesh(shape);
    GrainSdf *sdf = NULL;
    if (grain_sdf_create(&mesh, &def, NULL, &sdf) != GRAIN_OK) test_fail(__FILE__, __LINE__, "%s", grain_last_error());
    return sdf;
}

static float at(const GrainSdf *sdf, float x, float y, float z) { return sdf_sample_point(sdf, vec3(x, y, z), NULL); }

// Everything stored is a number within the band.
static int is_sound(const GrainSdf *sdf)
{
    for (int64_t i = 0; i < sdf->block_count * SDF_BLOCK_VALUES; i++)
        if (!(fabsf(sdf->values[i]) <= sdf->half_width)) return 0;
    return sdf->block_count > 0;
}

// Two voxels thick unless told otherwise, on both sides.
TEST(a_plane_becomes_a_shell)
{
    Shape plane = shape_plane(3);
    GrainSdf *thin = make(&plane, (Settings){.voxel = 0.05f});
    GrainSdf *thick = make(&plane, (Settings){.voxel = 0.05f, .thickness = 0.4f});
    shape_free(&plane);
    float on = at(thin, 0.1f, 0.2f, 0.0f), above = at(thin, 0.1f, 0.2f, 0.12f), below = at(thin, 0.1f, 0.2f, -0.12f);
    float inside = at(thick, 0.1f, 0.2f, 0.1f), middle = at(thick, 0.1f, 0.2f, 0.0f), out = at(thick, 0.1f, 0.2f, 0.3f);
    float side = at(thin, 1.1f, 0.0f, 0.0f);
    int sound = is_sound(thin) && is_sound(thick);
    grain_sdf_destroy(thin);
    grain_sdf_destroy(thick);
    ENSURE(sound);
    ENSURE_NEAR(on, -0.05, 2e-3); // a kink, which interpolation rounds off
    ENSURE_NEAR(above, 0.07, 1e-5);
    ENSURE_NEAR(below, 0.07, 1e-5);
    ENSURE_NEAR(inside, -0.1, 1e-5);
    ENSURE_NEAR(middle, -0.15, 1e-5); // held at the band's half width
    ENSURE_NEAR(out, 0.1, 1e-5);
    ENSURE_NEAR(side, 0.05, 1e-5);
}

// What sand is poured into must stay hollow; what is nearly closed must be filled.
TEST(vessels_are_hollow_and_nearly_closed_shells_are_solid)
{
    Shape bowl = shape_bowl(12), bucket = shape_bucket(), holed = shape_sphere(8, 0.0);
    holed.triangle_count -= 12; // about a hundredth of its surface
    Shape turned = shape_bucket();
    shape_turn_inside_out(&turned);
    GrainSdf *fields[] = {make(&bowl, (Settings){.voxel = 0.05f}),
                          make(&bucket, (Settings){.voxel = 0.05f}),
                          make(&turned, (Settings){.voxel = 0.05f}),
                          make(&holed, (Settings){.voxel = 0.05f}),
                          make(&bucket, (Settings){.voxel = 0.05f, .kind = GRAIN_SDF_SOLID}),
                          make(&holed, (Settings){.voxel = 0.05f, .kind = GRAIN_SDF_SHELL})};
    const int hollow[] = {1, 1, 1, 0, 0, 1};
    int right = 1;
    for (int i = 0; i < 6; i++) {
        right &= is_sound(fields[i]) && (at(fields[i], 0.0f, 0.0f, -0.5f) > 0.0f) == hollow[i];
        right &= at(fields[i], 0.0f, 0.0f, -1.5f) > 0.0f && at(fields[i], 0.0f, 0.0f, -0.99f) < 0.0f;
        grain_sdf_destroy(fields[i]);
    }
    shape_free(&bowl), shape_free(&bucket), shape_free(&holed), shape_free(&turned);
    ENSURE(right);
}

// A ground plane and a ball in one mesh: the ball is solid, the plane a shell.
TEST(sheets_and_solids_in_one_mesh)
{
    Shape plane = shape_plane(2);
    shape_move(&plane, 3.0f, 0.0f, 0.0f, -1.5f);
    Shape both = shape_join(shape_sphere(8, 0.0), plane);
    GrainSdf *sdf = make(&both, (Settings){.voxel = 0.06f});
    shape_free(&both);
    float ball = at(sdf, 0, 0, 0), ground = at(sdf, 2.0f, 2.0f, -1.5f), air = at(sdf, 1.6f, 0, 0),
          under = at(sdf, 0, 0, -2);
    int sound = is_sound(sdf);
    float half_width = sdf->half_width;
    grain_sdf_destroy(sdf);
    ENSURE(sound);
    ENSURE(ball == -half_width && air == half_width && under == half_width);
    ENSURE(ground < 0.0f);
}

TEST(one_triangle_a_line_and_a_point)
{
    Shape shape = shape_plane(1);
    shape.triangle_count = 1;
    for (int i = 0; i < 3; i++) {
        if (i == 1) shape.triangles[2] = shape.triangles[0]; // a line
        if (i == 2) shape.triangles[1] = shape.triangles[0]; // a point
        GrainSdf *sdf = make(&shape, (Settings){.voxel = 0.1f});
        ENSURE(sdf != NULL);
        float on = at(sdf, -1, -1, 0), off = at(sdf, -1, -1, 0.25f);
        int sound = is_sound(sdf);
        grain_sdf_destroy(sdf);
        ENSURE(sound && on < 0.0f);
        ENSURE_NEAR(off, 0.15, 0.003);
    }
    shape_free(&shape);
}

TEST(doubled_faces_make_no_difference)
{
    Shape once = shape_torus(10, 24, 0.3), twice = shape_join(shape_torus(10, 24, 0.3), shape_torus(10, 24, 0.3));
    // The same vertices too: every edge has four triangles then.
    for (int64_t i = 3 * once.triangle_count; i < 3 * twice.triangle_count; i++)
        twice.triangles[i] -= (int32_t)once.vertex_count;
    GrainSdf *a = make(&once, (Settings){.voxel = 0.05f}), *b = make(&twice, (Settings){.voxel = 0.05f});
    int alike = a->block_count == b->block_count;
    for (int64_t i = 0; alike && i < a->block_count * SDF_BLOCK_VALUES; i++) alike = a->values[i] == b->values[i];
    grain_sdf_destroy(a), grain_sdf_destroy(b);
    shape_free(&once), shape_free(&twice);
    ENSURE(alike);
}

// Two faces back to back enclose nothing: a sheet. A box a tenth of a voxel thin is a solid, however thin.
TEST(zero_thickness)
{
    Shape front = shape_plane(4), back = shape_plane(4);
    shape_turn_inside_out(&back);
    Shape both = shape_join(front, back);
    GrainSdf *sdf = make(&both, (Settings){.voxel = 0.05f});
    shape_free(&both);
    float on = at(sdf, 0.11f, 0.12f, 0.0f), off = at(sdf, 0.11f, 0.12f, 0.1f);
    int sound = is_sound(sdf);
    grain_sdf_destroy(sdf);
    Shape leaf = shape_box(-1, -1, 0, 1, 1, 0.005f);
    sdf = make(&leaf, (Settings){.voxel = 0.05f});
    shape_free(&leaf);
    float above = at(sdf, 0.1f, 0.2f, 0.105f);
    sound &= is_sound(sdf);
    grain_sdf_destroy(sdf);
    printf("# back to back: %g on, %g off\n", (double)on, (double)off);
    ENSURE(sound);
    ENSURE(off > 0.0f);
    ENSURE_NEAR(above, 0.1, 1e-3);
}

TEST(a_closed_surface_that_crosses_itself)
{
    // A figure of eight: the torus knot's tube, made so thick that it runs through itself.
    Shape knot = shape_torus_knot(1500);
    for (int64_t v = 0; v < knot.vertex_count; v++) knot.positions[3 * v + 2] *= 0.2f; // squeezed flat
    GrainSdf *sdf = make(&knot, (Settings){.voxel = 0.03f});
    GrainMesh mesh = shape_mesh(&knot);
    int64_t wrong = 0;
    for (int i = 0; i < 1500; i++) {
        int64_t block = (int64_t)i * 7919 % sdf->block_count;
        int32_t corner[3];
        sdf_block_corner(sdf, block, corner);
        int x = i % 8, y = i / 8 % 8, z = i / 64 % 8;
        const double place[3] = {(double)sdf->origin.x + (corner[0] + x) * (double)sdf->voxel_size,
                                 (double)sdf->origin.y + (corner[1] + y) * (double)sdf->voxel_size,
                                 (double)sdf->origin.z + (corner[2] + z) * (double)sdf->voxel_size};
        float value = sdf_block_values(sdf, block)[sdf_block_index(x, y, z)];
        wrong += (value < 0.0f) != (fabs(brute_winding(&mesh, place)) > 0.5) && fabsf(value) > 1e-4f * sdf->voxel_size;
    }
    int sound = is_sound(sdf);
    grain_sdf_destroy(sdf);
    shape_free(&knot);
    ENSURE(sound);
    ENSURE_EQUAL(wrong, 0);
}

TEST(a_strip_with_one_side_is_a_sheet)
{
    Shape strip = shape_moebius(40);
    GrainSdf *sdf = make(&strip, (Settings){.voxel = 0.03f});
    shape_free(&strip);
    float on = at(sdf, 1.0f, 0.0f, 0.0f), off = at(sdf, 0.0f, 0.0f, 0.0f);
    int sound = is_sound(sdf);
    float half_width = sdf->half_width;
    grain_sdf_destroy(sdf);
    ENSURE(sound && on < 0.0f && off == half_width);
}

// The same body, tiny, huge and far away: the same field, to what float coordinates can hold.
TEST(tiny_huge_and_far_away)
{
    static const struct {
        float scale, offset, tolerance; // voxels
    } cases[] = {{1e-6f, 0, 1e-4f},   {1e6f, 0, 1e-4f},   {1e-6f, 1e-3f, 0.02f}, {10.0f, 1e5f, 0.05f},
                 {1e6f, 1e6f, 1e-3f}, {1e-30f, 0, 1e-4f}, {1e30f, 0, 1e-4f}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Shape sphere = shape_sphere(16, 0.0);
        shape_move(&sphere, cases[i].scale, cases[i].offset, cases[i].offset, cases[i].offset);
        float voxel = 0.05f * cases[i].scale, o = cases[i].offset;
        GrainSdf *sdf = make(&sphere, (Settings){.voxel = voxel});
        shape_free(&sphere);
        ENSURE(sdf != NULL);
        float deep = at(sdf, o, o, o), near = at(sdf, o + 1.06f * cases[i].scale, o, o);
        int sound = is_sound(sdf);
        float half_width = sdf->half_width;
        grain_sdf_destroy(sdf);
        ENSURE(sound && deep == -half_width);
        // The sphere's triangles lie 0.003 inside its radius, and float may not hold the place asked for exactly.
        double place = ((double)(o + 1.06f * cases[i].scale) - (double)o) / (double)cases[i].scale - 1.0;
        ENSURE_NEAR(near / cases[i].scale, place, 0.004 + (double)cases[i].tolerance * 0.05);
    }
}

TEST(what_does_not_fit_is_refused_with_the_figure)
{
    Shape box = shape_box(-1, -1, -1, 1, 1, 1);
    GrainMesh mesh = shape_mesh(&box);
    GrainSdfDef def;
    GrainSdf *sdf;
    grain_sdf_def_default(&def, sizeof def);
    double begin = run_clock();
    def.voxel_size = 1e-5f;
    ENSURE_FAILS(grain_sdf_create(&mesh, &def, NULL, &sdf), GRAIN_ERROR_MEMORY, "GB");
    def.voxel_size = 1e-9f;
    ENSURE_FAILS(grain_sdf_create(&mesh, &def, NULL, &sdf), GRAIN_ERROR_MESH, "use voxels of 1.2e-07 m or larger");
    // A needle from corner to corner of a huge domain has few blocks, and those only are made.
    box.triangle_count = 1;
    mesh = shape_mesh(&box);
    box.positions[3] = -0.9999f, box.positions[4] = -1.0f, box.positions[5] = -1.0f;
    box.positions[6] = box.positions[7] = box.positions[8] = 1.0f;
    def.voxel_size = 1e-4f;
    ENSURE_OK(grain_sdf_create(&mesh, &def, NULL, &sdf));
    int64_t blocks = sdf->block_count;
    grain_sdf_destroy(sdf);
    shape_free(&box);
    ENSURE(blocks > 2000 && blocks < 60000);
    ENSURE(run_clock() - begin < 20.0);
}

TEST(split_and_turned_triangles_are_put_right)
{
    Shape whole = shape_torus(10, 24, 0.3), broken = shape_split(shape_torus(10, 24, 0.3));
    for (int64_t i = 0; i < broken.triangle_count; i += 7) {
        int32_t *t = broken.triangles + 3 * i, swap = t[0];
        t[0] = t[1], t[1] = swap;
    }
    GrainSdf *a = make(&whole, (Settings){.voxel = 0.06f}), *b = make(&broken, (Settings){.voxel = 0.06f});
    double worst = 0.0;
    int alike = a->block_count == b->block_count;
    for (int64_t i = 0; alike && i < a->block_count * SDF_BLOCK_VALUES; i++)
        worst = fmax(worst, fabs((double)a->values[i] - (double)b->values[i]));
    grain_sdf_destroy(a), grain_sdf_destroy(b);
    shape_free(&whole), shape_free(&broken);
    ENSURE(alike);
    ENSURE_NEAR(worst, 0.0, 1e-5 * 0.06);
}
