// SPDX-License-Identifier: GPL-3.0-or-later
// Distances and signs of closed meshes as they come out of scanners, Boolean operations and file converters: slivers,
// edges without a length, faces twice or folded back onto themselves, plates and bodies that touch, overlap or lie in
// each other, at any scale and far from the origin. Meshes are made from a number; every distance is held against all
// triangles, every sign against the winding number.
#include "base/rng.h"
#include "base/vec.h"
#include "grain/grain.h"
#include "sdf/sdf.h"
#include "shared/brute.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Voxels. Distances are sums of floats over a block's 8 voxels and its band: 2e-5 at the worst.
#define DISTANCE_ERROR 1e-4
// Voxels. Nearer to the surface, a sign says little: layers may lie closer to each other than that.
#define SURE 0.3

// --- making meshes ----------------------------------------------------------------------------------

// Random numbers of one mesh, one after another.
typedef struct Dice {
    uint64_t mesh;
    uint32_t draws;
} Dice;

static double throw(Dice * dice)
{
    return (double)rng_unit(rng_at(11, dice->mesh, RNG_STREAM_TEST, dice->draws++).word[0]);
}

static double throw_between(Dice *dice, double low, double high) { return low + (high - low) * throw(dice); }

static int64_t add_vertex(Shape *s, const float p[3])
{
    s->positions = realloc(s->positions, (size_t)(3 * s->vertex_count + 3) * sizeof(float));
    memcpy(s->positions + 3 * s->vertex_count, p, 3 * sizeof *p);
    return s->vertex_count++;
}

static void add_triangle(Shape *s, int64_t a, int64_t b, int64_t c)
{
    s->triangles = realloc(s->triangles, (size_t)(3 * s->triangle_count + 3) * sizeof(int32_t));
    const int32_t corners[3] = {(int32_t)a, (int32_t)b, (int32_t)c};
    memcpy(s->triangles + 3 * s->triangle_count++, corners, sizeof corners);
}

static void blend(const Shape *s, const int32_t v[3], const double weight[3], float out[3])
{
    for (int k = 0; k < 3; k++) {
        double sum = 0.0;
        for (int c = 0; c < 3; c++) sum += weight[c] * (double)s->positions[3 * v[c] + k];
        out[k] = (float)sum;
    }
}

// Cuts an edge for the triangle on one side of it only; a triangle without an area closes the gap. At 0 the cut is at
// the edge's end: an edge without a length.
static void cut_edge(Shape *s, int64_t triangle, double at)
{
    int32_t v[3];
    float place[3];
    memcpy(v, s->triangles + 3 * triangle, sizeof v);
    blend(s, v, (double[]){1.0 - at, at, 0.0}, place);
    int64_t middle = add_vertex(s, place);
    s->triangles[3 * triangle + 1] = (int32_t)middle;
    add_triangle(s, middle, v[1], v[2]);
    add_triangle(s, v[0], v[1], middle);
}

// Cuts a triangle into three around a place close to one of its edges.
static void cut_face(Shape *s, int64_t triangle, double off_edge, double along)
{
    int32_t v[3];
    float place[3];
    memcpy(v, s->triangles + 3 * triangle, sizeof v);
    blend(s, v, (double[]){(1.0 - off_edge) * (1.0 - along), (1.0 - off_edge) * along, off_edge}, place);
    int64_t middle = add_vertex(s, place);
    s->triangles[3 * triangle + 2] = (int32_t)middle;
    add_triangle(s, v[1], v[2], middle);
    add_triangle(s, v[2], v[0], middle);
}

// A face and its back: all of it lies on the surface, or some of it sticks out as a fin.
static void fold(Shape *s, int64_t triangle, double out)
{
    int32_t v[3];
    memcpy(v, s->triangles + 3 * triangle, sizeof v);
    int64_t tip = v[2];
    if (out > 0.0) {
        float place[3];
        blend(s, v, (double[]){0.5 + out, 0.5 + out, -2.0 * out}, place);
        tip = add_vertex(s, place);
    }
    add_triangle(s, v[0], v[1], tip);
    add_triangle(s, v[0], tip, v[1]);
}

static void turn(Shape *s, Dice *dice, double scale, double off)
{
    Vec3d about = vec3d(throw_between(dice, -3, 3), throw_between(dice, -3, 3), throw_between(dice, -3, 3));
    Vec3d move = vec3d(throw_between(dice, -off, off), throw_between(dice, -off, off), throw_between(dice, -off, off));
    Quatd q = quatd_from_rotation(about);
    for (int64_t i = 0; i < s->vertex_count; i++) {
        float *p = s->positions + 3 * i;
        Vec3d turned = quatd_rotate(q, vec3d((double)p[0], (double)p[1], (double)p[2]));
        turned = vec3d_add(vec3d_scale(turned, scale), move);
        p[0] = (float)turned.x, p[1] = (float)turned.y, p[2] = (float)turned.z;
    }
}

static Shape base_shape(Dice *dice)
{
    switch ((int)(5.0 * throw(dice))) {
    case 0:
        return shape_tetrahedron();
    case 1:
        return shape_box(0, 0, 0, (float)throw_between(dice, 0.05, 1.0), (float)throw_between(dice, 0.1, 1.0), 1);
    case 2:
        return shape_sphere(1 + (int)(2.0 * throw(dice)), 0.2 * throw(dice));
    case 3:
        return shape_torus(5 + (int)(4.0 * throw(dice)), 4, throw_between(dice, 0.15, 0.5));
    default:
        return shape_fins(2, (float)throw_between(dice, 0.02, 0.2));
    }
}

static void damage(Shape *s, Dice *dice, int cuts)
{
    for (int i = 0; i < cuts; i++) {
        int64_t triangle = (int64_t)(throw(dice) * (double)s->triangle_count);
        double small = pow(10.0, throw_between(dice, -9.0, -1.0)), how = throw(dice);
        if (how < 0.3)
            cut_edge(s, triangle, throw(dice) < 0.3 ? 0.0 : throw(dice));
        else if (how < 0.5)
            cut_edge(s, triangle, small);
        else if (how < 0.85)
            cut_face(s, triangle, small, throw(dice));
        else
            fold(s, triangle, throw(dice) < 0.5 ? 0.0 : 0.3 * throw(dice));
    }
}

static Shape damaged_shape(uint64_t number)
{
    Dice dice = {number, 0};
    Shape s = base_shape(&dice);
    if (throw(&dice) < 0.5) turn(&s, &dice, 1.0, 0.0);
    damage(&s, &dice, 1 + (int)(12.0 * throw(&dice)));
    turn(&s, &dice, pow(10.0, throw_between(&dice, -2.0, 2.0)), throw(&dice) < 0.5 ? 0.0 : 3.0);
    return s;
}

// Plates that touch, overlap or cross, each half a voxel to three voxels thick.
#define PLATE_VOXEL 0.01
static Shape plates(uint64_t number)
{
    Dice dice = {number, 0};
    Shape all = {0};
    int count = 2 + (int)(3.0 * throw(&dice));
    double top = 0.0;
    for (int i = 0; i < count; i++) {
        double thick = PLATE_VOXEL * throw_between(&dice, 0.5, 3.0), how = throw(&dice);
        double bottom = how < 0.5 ? top : top - thick * throw_between(&dice, 0.0, 1.0);
        Shape plate = shape_box((float)(-0.1 * throw(&dice)), (float)(-0.1 * throw(&dice)), (float)bottom,
                                (float)throw_between(&dice, 0.1, 0.25), (float)throw_between(&dice, 0.1, 0.25),
                                (float)(bottom + thick));
        if (how > 0.85) turn(&plate, &dice, 1.0, 0.02);
        top = bottom + thick;
        all = i == 0 ? plate : shape_join(all, plate);
    }
    turn(&all, &dice, 1.0, 0.3);
    return all;
}

// Cubes on a lattice: they share whole faces, edges or corners, and leave corners that look inwards between them.
static Shape blocks(Dice *dice)
{
    Shape all = {0};
    int count = 2 + (int)(5.0 * throw(dice));
    for (int i = 0; i < count; i++) {
        float low[3], high[3];
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = (float)(int)(3.0 * throw(dice));
            high[axis] = low[axis] + (float)(1 + (int)(2.0 * throw(dice)));
        }
        Shape block = shape_box(low[0], low[1], low[2], high[0], high[1], high[2]);
        all = i == 0 ? block : shape_join(all, block);
    }
    return all;
}

// Bodies beside, through and inside each other; some are inside out, as cavities are.
static Shape crowd(Dice *dice)
{
    Shape all = {0};
    int count = 2 + (int)(3.0 * throw(dice));
    for (int i = 0; i < count; i++) {
        Shape body = base_shape(dice);
        turn(&body, dice, throw(dice) < 0.3 ? throw_between(dice, 0.2, 0.5) : 1.0, throw_between(dice, 0.0, 1.5));
        if (throw(dice) < 0.25) shape_turn_inside_out(&body);
        all = i == 0 ? body : shape_join(all, body);
    }
    return all;
}

// Far from the origin, where floats leave few digits for the shape: triangles lose their area, edges their length.
static Shape bodies(uint64_t number)
{
    Dice dice = {number, 0};
    Shape s = throw(&dice) < 0.4 ? blocks(&dice) : crowd(&dice);
    if (throw(&dice) < 0.5) turn(&s, &dice, 1.0, 0.0);
    if (throw(&dice) < 0.5) damage(&s, &dice, 1 + (int)(8.0 * throw(&dice)));
    double scale = pow(10.0, throw_between(&dice, -3.0, 3.0));
    turn(&s, &dice, scale, throw(&dice) < 0.5 ? 0.0 : scale * pow(10.0, throw_between(&dice, 0.0, 4.0)));
    return s;
}

// --- comparing --------------------------------------------------------------------------------------

typedef struct Errors {
    double distance; // worst, voxels
    int64_t distances, signs, checked, blocks;
} Errors;

static void compare_voxel(const GrainMesh *mesh, const GrainSdf *sdf, const int32_t v[3], double value, Errors *errors)
{
    double voxel = (double)sdf->voxel_size, half_width = (double)sdf->half_width;
    const double place[3] = {(double)sdf->origin.x + v[0] * voxel, (double)sdf->origin.y + v[1] * voxel,
                             (double)sdf->origin.z + v[2] * voxel};
    double exact = brute_distance(mesh, place), off = fabs(fabs(value) - fmin(exact, half_width)) / voxel;
    errors->distance = fmax(errors->distance, off);
    errors->distances += off > DISTANCE_ERROR;
    if (exact > SURE * voxel) errors->signs += (value < 0.0) != (fabs(brute_winding(mesh, place)) > 0.5);
    errors->checked++;
}

// A block that is not stored says that the surface is farther away than the band is wide, and on which side all of the
// block lies. Its middle tells, unless the surface may be near: then each of its voxels does.
static void compare_missing_block(const GrainMesh *mesh, const GrainSdf *sdf, const int32_t first[3], Errors *errors)
{
    int32_t found = sdf_find_block(sdf, first[0], first[1], first[2]);
    if (found >= 0) return;
    double voxel = (double)sdf->voxel_size, half_width = (double)sdf->half_width;
    double value = found == SDF_INSIDE ? -half_width : half_width;
    const double middle[3] = {(double)sdf->origin.x + (first[0] + 3.5) * voxel,
                              (double)sdf->origin.y + (first[1] + 3.5) * voxel,
                              (double)sdf->origin.z + (first[2] + 3.5) * voxel};
    errors->blocks++;
    if (brute_distance(mesh, middle) > half_width + 6.1 * voxel) { // to its corners
        errors->signs += (value < 0.0) != (fabs(brute_winding(mesh, middle)) > 0.5);
        return;
    }
    for (int32_t i = 0; i < 512; i++)
        compare_voxel(mesh, sdf, (int32_t[]){first[0] + (i & 7), first[1] + (i >> 3 & 7), first[2] + (i >> 6)}, value,
                      errors);
}

// Those around the mesh: from one block before its box to one behind.
static void compare_missing_blocks(const GrainMesh *mesh, const GrainSdf *sdf, Errors *errors)
{
    const double origin[3] = {sdf->origin.x, sdf->origin.y, sdf->origin.z};
    int32_t first[3], last[3], end = 1 << 3 * (sdf->depth + 1);
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY, block = 8.0 * (double)sdf->voxel_size;
        for (int64_t i = 0; i < 3 * mesh->triangle_count; i++) {
            double place = (double)mesh->positions[3 * (int64_t)mesh->triangles[i] + k] - origin[k];
            low = fmin(low, place), high = fmax(high, place);
        }
        first[k] = (int32_t)fmax(0.0, 8.0 * (floor(low / block) - 1.0));
        last[k] = (int32_t)fmin(end - 8.0, 8.0 * (floor(high / block) + 1.0));
    }
    for (int32_t z = first[2]; z <= last[2]; z += 8)
        for (int32_t y = first[1]; y <= last[1]; y += 8)
            for (int32_t x = first[0]; x <= last[0]; x += 8)
                compare_missing_block(mesh, sdf, (int32_t[]){x, y, z}, errors);
}

// Every stride-th voxel of the band, and all around it. The last `copies` triangles are others once more: a surface is
// where it is however often it is said, so the winding number is that of the mesh without them.
static Errors compare(const Shape *shape, int64_t copies, float voxel, int64_t stride)
{
    GrainSdfDef def;
    grain_sdf_def_default(&def, sizeof def);
    def.voxel_size = voxel;
    GrainMesh mesh = shape_mesh(shape);
    GrainSdf *sdf = NULL;
    Errors errors = {0};
    if (grain_sdf_create(&mesh, &def, NULL, &sdf) != GRAIN_OK) {
        test_fail(__FILE__, __LINE__, "%s", grain_last_error());
        return errors;
    }
    mesh.triangle_count -= copies;
    compare_missing_blocks(&mesh, sdf, &errors);
    for (int64_t i = 0; i < 512 * sdf->block_count; i += stride) {
        int32_t v[3], x = (int32_t)(i & 7), y = (int32_t)(i >> 3 & 7), z = (int32_t)(i >> 6 & 7);
        sdf_block_corner(sdf, i >> 9, v);
        double value = (double)sdf_block_values(sdf, i >> 9)[sdf_block_index(x, y, z)];
        compare_voxel(&mesh, sdf, (int32_t[]){v[0] + x, v[1] + y, v[2] + z}, value, &errors);
    }
    grain_sdf_destroy(sdf);
    return errors;
}

static double size_of(const Shape *s)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < s->vertex_count; i++) {
        low = fmin(low, (double)s->positions[3 * i]);
        high = fmax(high, (double)s->positions[3 * i]);
    }
    return high - low;
}

static void judge(const char *what, uint64_t number, Errors errors, Errors *sum)
{
    if (errors.distances + errors.signs > 0)
        test_fail(__FILE__, __LINE__, "%s %llu: %lld distances off, by %.3g voxels at most, %lld signs wrong, of %lld",
                  what, (unsigned long long)number, (long long)errors.distances, errors.distance,
                  (long long)errors.signs, (long long)errors.checked);
    sum->distance = fmax(sum->distance, errors.distance);
    sum->distances += errors.distances, sum->signs += errors.signs, sum->checked += errors.checked;
    sum->blocks += errors.blocks;
}

static void print(const char *what, Errors sum)
{
    printf("# %s: %lld voxels and %lld blocks that are not stored, worst distance %.2e voxels, %lld wrong signs\n",
           what, (long long)sum.checked, (long long)sum.blocks, sum.distance, (long long)sum.signs);
}

typedef Shape MakeFn(uint64_t number);

// Whether a face of the first `count` is there once more, either way around: folded back onto itself.
static int is_folded(const Shape *s, int64_t count, const int32_t v[3])
{
    int seen = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t *t = s->triangles + 3 * i;
        int same = 0;
        for (int k = 0; k < 9; k++) same += t[k / 3] == v[k % 3];
        seen += same == 3;
    }
    return seen > 1;
}

// Some faces once or several times more; returns how many. Not in a mesh with folds, whose backs may be cut otherwise
// than their fronts: which of two layers is too many, nobody can tell there.
static int64_t copy_faces(Shape *s, uint64_t number)
{
    Dice dice = {number, 1000000};
    int64_t count = s->triangle_count, copies = 1 + (int64_t)(5.0 * throw(&dice));
    for (int64_t i = 0; i < count; i++)
        if (is_folded(s, count, s->triangles + 3 * i)) return 0;
    for (int64_t i = 0; i < copies; i++) {
        int32_t v[3];
        memcpy(v, s->triangles + 3 * (int64_t)(throw(&dice) * (double)count), sizeof v);
        add_triangle(s, v[0], v[1], v[2]);
    }
    return s->triangle_count - count;
}

// voxel 0: a tenth to a twenty-sixth of the mesh.
static void check_all(const char *what, MakeFn *make, double voxel, uint64_t first, uint64_t last, int64_t stride)
{
    Errors sum = {0};
    for (uint64_t number = first; number < last; number++) {
        Shape shape = make(number);
        double size = voxel > 0.0 ? voxel : size_of(&shape) / (10.0 + (double)(number % 17));
        int64_t copies = number % 4 == 3 ? copy_faces(&shape, number) : 0;
        judge(what, number, compare(&shape, copies, (float)size, stride), &sum);
        shape_free(&shape);
    }
    print(what, sum);
}

TEST(slivers_null_edges_and_folded_faces) { check_all("damaged meshes", damaged_shape, 0.0, 0, 150, 11); }
TEST(plates_that_touch_or_overlap) { check_all("plates", plates, PLATE_VOXEL, 0, 100, 7); }
TEST(bodies_beside_through_and_inside_each_other) { check_all("bodies", bodies, 0.0, 0, 100, 13); }
HEAVY_TEST(two_thousand_damaged_meshes)
{
    check_all("damaged meshes", damaged_shape, 0.0, 1000, 1900, 1);
    check_all("plates", plates, PLATE_VOXEL, 1000, 1400, 1);
    check_all("bodies", bodies, 0.0, 1000, 1700, 1);
}

// The two boxes of the report: one and a half voxels thick, one on the other.
TEST(two_boxes_on_each_other)
{
    Shape boxes = shape_join(shape_box(0, 0, 0, 0.2f, 0.2f, 0.015f), shape_box(0, 0, 0.015f, 0.2f, 0.2f, 0.03f));
    Errors errors = compare(&boxes, 0, 0.01f, 1), sum = {0};
    shape_free(&boxes);
    judge("two boxes", 0, errors, &sum);
}
