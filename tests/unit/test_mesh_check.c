// SPDX-License-Identifier: GPL-3.0-or-later
#include "grain/grain.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

static GrainMeshReport check(const Shape *shape)
{
    GrainMeshReport report = {.struct_size = sizeof report};
    GrainMesh mesh = shape_mesh(shape);
    if (grain_mesh_check(&mesh, NULL, &report) != GRAIN_OK) test_fail(__FILE__, __LINE__, "%s", grain_last_error());
    return report;
}

// The text for this report holds this.
static int says(const GrainMeshReport *report, const char *words)
{
    char text[4096];
    return grain_mesh_report_text(report, text, sizeof text) == GRAIN_OK && strstr(text, words);
}

TEST(a_sound_mesh_has_no_findings)
{
    Shape shape = shape_box(-1, -2, -3, 1, 2, 3);
    GrainMeshReport r = check(&shape);
    shape_free(&shape);
    ENSURE(r.closed && r.shells == 1 && r.open_shells == 0 && r.inside_out_shells == 0);
    ENSURE_EQUAL(r.non_finite_vertices + r.broken_triangles + r.degenerate_triangles + r.duplicate_triangles +
                     r.duplicate_vertices + r.loose_vertices + r.open_edges + r.non_manifold_edges + r.flipped_edges +
                     r.flipped_triangles + r.non_orientable_shells,
                 0);
    ENSURE_NEAR(r.area, 88.0, 1e-9);
    ENSURE_NEAR(r.volume, 48.0, 1e-9);
    ENSURE(r.low[1] == -2.0 && r.high[2] == 3.0);
    char text[256];
    ENSURE_OK(grain_mesh_report_text(&r, text, sizeof text));
    ENSURE(strcmp(text, "12 triangles in 1 separate part, closed.\n") == 0);
}

TEST(what_has_no_place_is_counted_and_left_out)
{
    Shape shape = shape_box(-1, -1, -1, 1, 1, 1);
    shape.positions[3 * 7 + 1] = NAN; // corner of 6 triangles: none has it twice
    shape.triangles[0] = 99;
    GrainMeshReport r = check(&shape);
    int64_t with_corner = 0;
    for (int i = 3; i < 36; i++) with_corner += shape.triangles[i] == 7;
    shape_free(&shape);
    ENSURE_EQUAL(r.non_finite_vertices, 1);
    ENSURE_EQUAL(r.broken_triangles, with_corner + 1);
    ENSURE(!r.closed && r.open_edges > 0);
    ENSURE(says(&r, "no finite position"));
}

TEST(degenerate_and_duplicate_parts)
{
    Shape shape = shape_box(-1, -1, -1, 1, 1, 1), all = shape_join(shape, shape_plane(1));
    // The plane's two triangles: the first flat to a line, the second a copy of the box's first with another winding.
    all.triangles[36] = all.triangles[37] = 8, all.triangles[38] = 9;
    all.triangles[39] = all.triangles[1], all.triangles[40] = all.triangles[0], all.triangles[41] = all.triangles[2];
    GrainMeshReport r = check(&all);
    shape_free(&all);
    ENSURE_EQUAL(r.degenerate_triangles, 1);
    ENSURE_EQUAL(r.duplicate_triangles, 1);
    ENSURE_EQUAL(r.loose_vertices, 2);
    ENSURE_EQUAL(r.non_manifold_edges, 3); // the doubled triangle's
    ENSURE(says(&r, "Delete Loose") && says(&r, "Degenerate Dissolve"));
}

TEST(split_vertices_still_make_a_closed_mesh)
{
    Shape shape = shape_split(shape_sphere(4, 0.1));
    GrainMeshReport r = check(&shape);
    ENSURE_EQUAL(r.duplicate_vertices, shape.vertex_count - (10 * 4 * 4 + 2));
    shape_free(&shape);
    ENSURE(r.closed && r.shells == 1);
    ENSURE(says(&r, "Merge > By Distance"));
}

TEST(holes_and_separate_shells)
{
    Shape two = shape_join(shape_bucket(), shape_box(3, 3, 3, 4, 4, 4));
    GrainMeshReport r = check(&two);
    shape_free(&two);
    ENSURE(!r.closed);
    ENSURE_EQUAL(r.shells, 2);
    ENSURE_EQUAL(r.open_shells, 1);
    ENSURE_EQUAL(r.open_edges, 4);
    ENSURE_NEAR(r.volume, 8.0 + 1.0, 1e-9); // the bucket's lid is made up
    ENSURE(says(&r, "Fill Holes"));
}

TEST(turned_triangles_are_found)
{
    Shape shape = shape_sphere(4, 0.1);
    for (int i = 0; i < 5; i++) {
        int32_t *t = shape.triangles + 3 * (7 * i), swap = t[0];
        t[0] = t[1], t[1] = swap;
    }
    GrainMeshReport r = check(&shape);
    shape_free(&shape);
    ENSURE_EQUAL(r.flipped_triangles, 5);
    ENSURE(r.flipped_edges >= 9 && r.flipped_edges <= 15);
    ENSURE(!r.closed && r.open_edges == 0 && r.volume > 0.0);
    ENSURE(says(&r, "Recalculate Outside"));
}

TEST(inside_out_is_told_from_a_cavity)
{
    Shape inside_out = shape_torus(8, 16, 0.3);
    shape_turn_inside_out(&inside_out);
    GrainMeshReport r = check(&inside_out);
    shape_free(&inside_out);
    ENSURE_EQUAL(r.inside_out_shells, 1);
    ENSURE(r.closed);

    Shape inner = shape_sphere(4, 0.0);
    shape_move(&inner, 0.5f, 0, 0, 0);
    shape_turn_inside_out(&inner);
    Shape hollow = shape_join(shape_sphere(4, 0.0), inner);
    r = check(&hollow);
    shape_free(&hollow);
    ENSURE_EQUAL(r.inside_out_shells, 0);
    ENSURE_EQUAL(r.shells, 2);
}

TEST(a_moebius_strip_has_one_side)
{
    Shape strip = shape_moebius(24);
    GrainMeshReport r = check(&strip);
    shape_free(&strip);
    ENSURE_EQUAL(r.non_orientable_shells, 1);
    ENSURE_EQUAL(r.open_edges, 48);
}

TEST(the_fan_of_a_cylinder_is_counted_in_time)
{
    // 60,000 triangles around one vertex: nothing may compare all of them with all.
    enum { COUNT = 60000 };
    Shape fan = shape_plane(1);
    shape_free(&fan);
    static float positions[3 * (COUNT + 1)];
    static int32_t triangles[3 * COUNT];
    for (int i = 0; i < COUNT; i++) {
        positions[3 * i] = (float)cos(i * 2.0 * M_PI / COUNT),
                      positions[3 * i + 1] = (float)sin(i * 2.0 * M_PI / COUNT);
        triangles[3 * i] = i, triangles[3 * i + 1] = (i + 1) % COUNT, triangles[3 * i + 2] = COUNT;
    }
    GrainMesh mesh = {positions, triangles, COUNT + 1, COUNT};
    GrainMeshReport r = {.struct_size = sizeof r};
    ENSURE_OK(grain_mesh_check(&mesh, NULL, &r));
    ENSURE_EQUAL(r.open_edges, COUNT);
    ENSURE_EQUAL(r.shells, 1);
}

TEST(nothing_to_look_at)
{
    GrainMeshReport r = {.struct_size = sizeof r};
    GrainMesh none = {0};
    ENSURE_OK(grain_mesh_check(&none, NULL, &r));
    ENSURE(says(&r, "no faces"));
    none.triangle_count = 3;
    ENSURE_FAILS(grain_mesh_check(&none, NULL, &r), GRAIN_ERROR_ARGUMENT, "triangles");
    ENSURE_FAILS(grain_mesh_check(NULL, NULL, &r), GRAIN_ERROR_ARGUMENT, "NULL");
    r.struct_size = 8;
    ENSURE_FAILS(grain_mesh_check(&none, NULL, &r), GRAIN_ERROR_ABI, "GrainMeshReport");
    char small[8];
    r.struct_size = sizeof r;
    ENSURE_OK(grain_mesh_report_text(&r, small, sizeof small));
    ENSURE_EQUAL(strlen(small), 7);
}
