// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Named meshes for tests and benchmarks. Made with malloc, freed with shape_free.
#include "grain/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Shape {
    float *positions;
    int32_t *triangles;
    int64_t vertex_count, triangle_count;
} Shape;

void shape_free(Shape *shape);
/// Borrowed: valid as long as the shape.
GrainMesh shape_mesh(const Shape *shape);

/// 12 triangles, outward.
Shape shape_box(float low_x, float low_y, float low_z, float high_x, float high_y, float high_z);
/// Corner at the origin, legs of 1 along the axes.
Shape shape_tetrahedron(void);
/// Radius 1, an icosahedron cut into 20 n^2 triangles, with bumps of this height (0: a plain sphere).
Shape shape_sphere(int n, double bumps);
/// Ring of radius 1 around z, tube radius r, 2 * around * along triangles.
Shape shape_torus(int around, int along, double r);
/// (2, 3) torus knot with bumps on its tube of radius 0.22, of about this many triangles.
Shape shape_torus_knot(int64_t triangles);
/// A block with `count` upright plates on it, each `thickness` wide.
Shape shape_fins(int count, float thickness);
/// n x n squares in z = 0, from -1 to 1.
Shape shape_plane(int n);
/// Open at the top: the lower half of a sphere of radius 1.
Shape shape_bowl(int rings);
/// A box from -1 to 1 without its lid.
Shape shape_bucket(void);
/// A strip with half a twist: it has only one side.
Shape shape_moebius(int n);

/// Both in one mesh. Frees them.
Shape shape_join(Shape a, Shape b);
/// Changed in place.
void shape_move(Shape *shape, float scale, float x, float y, float z);
void shape_turn_inside_out(Shape *shape);
/// Every triangle with vertices of its own, as an STL file has them.
Shape shape_split(Shape shape);
/// A text file of lines `v x y z` and `f a b c`; vertex_count 0 when it cannot be read.
Shape shape_load(const char *path);
/// m^2
double shape_area(const Shape *shape);

#ifdef __cplusplus
}
#endif
