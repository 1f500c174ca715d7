// SPDX-License-Identifier: GPL-3.0-or-later
#include "shape/shape.h"
#include "base/error.h"
#include "base/real.h"
#include "mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Lines along x, in each of the two other directions, by which the inside of the union is measured. Volumes come out
// within 0.1 %, inertia within 0.2 % (tests/unit/test_shape.c).
#define COUNTED 128

// --- the table ----------------------------------------------------------------------------------

// Bell 2005, figure 4: balls at the corners of a tetrahedron and of a cube. Balls overlap enough to leave no gap that
// another grain's ball could catch in.
static int tetrahedron_balls(ShapeBall *balls)
{
    const float s = 1.5f / (2.0f * 1.41421356f); // edge of one and a half radii
    for (int i = 0; i < 4; i++)
        balls[i] = (ShapeBall){{i & 2 ? -s : s, i & 1 ? -s : s, (i == 0 || i == 3) ? s : -s}, 1.0f};
    return 4;
}

static int cube_balls(ShapeBall *balls)
{
    for (int i = 0; i < 8; i++)
        balls[i] = (ShapeBall){{i & 1 ? -0.7f : 0.7f, i & 2 ? -0.7f : 0.7f, i & 4 ? -0.7f : 0.7f}, 1.0f};
    return 8;
}

static int rod_balls(ShapeBall *balls)
{
    for (int i = 0; i < 4; i++) balls[i] = (ShapeBall){{1.1f * ((float)i - 1.5f), 0.0f, 0.0f}, 1.0f};
    return 4;
}

static int bean_balls(ShapeBall *balls)
{
    balls[0] = (ShapeBall){{0.0f, 0.0f, 0.0f}, 1.0f};
    balls[1] = (ShapeBall){{0.9f, 0.45f, 0.0f}, 0.9f};
    balls[2] = (ShapeBall){{-0.9f, 0.45f, 0.0f}, 0.9f};
    return 3;
}

static int sphere_balls(ShapeBall *balls)
{
    balls[0] = (ShapeBall){{0.0f, 0.0f, 0.0f}, 1.0f};
    return 1;
}

const char *const shape_names[] = {"sphere", "tetrahedron", "cube", "rod", "bean", NULL};
static int (*const makers[])(ShapeBall *) = {sphere_balls, tetrahedron_balls, cube_balls, rod_balls, bean_balls};

GrainResult shape_by_name(const char *name, BallShape *out)
{
    ShapeBall balls[GRAIN_SHAPE_MAX_BALLS];
    for (int i = 0; shape_names[i]; i++)
        if (strcmp(shape_names[i], name) == 0) return shape_from_balls(balls, makers[i](balls), out);
    return fail(GRAIN_ERROR_ARGUMENT,
                "there is no grain shape '%.40s'; allowed are sphere, tetrahedron, cube, rod, bean", name);
}

// --- mass ---------------------------------------------------------------------------------------

typedef struct Moments {
    double volume, first[3], second[6]; // of position: xx yy zz xy xz yz
} Moments;

typedef struct Span {
    double begin, end;
} Span;

static int compare_spans(const void *a, const void *b)
{
    double first = ((const Span *)a)->begin, second = ((const Span *)b)->begin;
    return (first > second) - (first < second);
}

// The parts of a line along x that lie inside, none overlapping another; returns how many.
static int spans_of(const ShapeBall *balls, int ball_count, double y, double z, Span *spans)
{
    int found = 0, merged = 0;
    for (int i = 0; i < ball_count; i++) {
        double dy = y - (double)balls[i].at.y, dz = z - (double)balls[i].at.z, radius = (double)balls[i].radius;
        double squared = radius * radius - dy * dy - dz * dz;
        if (squared <= 0.0) continue;
        double half = sqrt(squared), x = (double)balls[i].at.x;
        spans[found++] = (Span){x - half, x + half};
    }
    qsort(spans, (size_t)found, sizeof *spans, compare_spans);
    for (int i = 0; i < found; i++) {
        if (merged > 0 && spans[i].begin <= spans[merged - 1].end)
            spans[merged - 1].end = real_max(spans[merged - 1].end, spans[i].end);
        else
            spans[merged++] = spans[i];
    }
    return merged;
}

static void add_span(Moments *m, Span span, double y, double z)
{
    double length = span.end - span.begin, x1 = 0.5 * (span.end * span.end - span.begin * span.begin);
    m->volume += length;
    m->first[0] += x1, m->first[1] += y * length, m->first[2] += z * length;
    m->second[0] += (real_pow(span.end, 3.0) - real_pow(span.begin, 3.0)) / 3.0;
    m->second[1] += y * y * length, m->second[2] += z * z * length;
    m->second[3] += y * x1, m->second[4] += z * x1, m->second[5] += y * z * length;
}

static Moments moments_of(const ShapeBall *balls, int ball_count)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, step[3];
    for (int i = 0; i < ball_count; i++) {
        double at[3] = {(double)balls[i].at.x, (double)balls[i].at.y, (double)balls[i].at.z};
        for (int a = 0; a < 3; a++) {
            low[a] = real_min(low[a], at[a] - (double)balls[i].radius);
            high[a] = real_max(high[a], at[a] + (double)balls[i].radius);
        }
    }
    for (int a = 0; a < 3; a++) step[a] = (high[a] - low[a]) / COUNTED;
    Moments m = {0};
    for (int z = 0; z < COUNTED; z++)
        for (int y = 0; y < COUNTED; y++) {
            Span spans[GRAIN_SHAPE_MAX_BALLS];
            double at_y = low[1] + (y + 0.5) * step[1], at_z = low[2] + (z + 0.5) * step[2];
            int count = spans_of(balls, ball_count, at_y, at_z, spans);
            for (int i = 0; i < count; i++) add_span(&m, spans[i], at_y, at_z);
        }
    double cell = step[1] * step[2];
    m.volume *= cell;
    for (int a = 0; a < 3; a++) m.first[a] *= cell;
    for (int a = 0; a < 6; a++) m.second[a] *= cell;
    return m;
}

// Jacobi's rotations on a symmetric matrix: eigenvalues on its diagonal, eigenvectors in the columns of axes.
static void principal_axes(double matrix[3][3], double axes[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) axes[i][j] = i == j;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                // Below the noise of measuring, axes are as good as any: a cube keeps its own.
                if (fabs(matrix[p][q]) < 1e-6 * (fabs(matrix[p][p]) + fabs(matrix[q][q]))) continue;
                double theta = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
                double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < 3; k++) {
                    double kp = matrix[k][p], kq = matrix[k][q];
                    matrix[k][p] = c * kp - s * kq, matrix[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < 3; k++) {
                    double pk = matrix[p][k], qk = matrix[q][k];
                    matrix[p][k] = c * pk - s * qk, matrix[q][k] = s * pk + c * qk;
                }
                for (int k = 0; k < 3; k++) {
                    double kp = axes[k][p], kq = axes[k][q];
                    axes[k][p] = c * kp - s * kq, axes[k][q] = s * kp + c * kq;
                }
            }
    double determinant = axes[0][0] * (axes[1][1] * axes[2][2] - axes[1][2] * axes[2][1]) -
                         axes[0][1] * (axes[1][0] * axes[2][2] - axes[1][2] * axes[2][0]) +
                         axes[0][2] * (axes[1][0] * axes[2][1] - axes[1][1] * axes[2][0]);
    if (determinant < 0.0)
        for (int k = 0; k < 3; k++) axes[k][2] = -axes[k][2];
}

// The rotation with these columns.
static Quat quat_from_columns(double m[3][3])
{
    double four[4] = {1.0 + m[0][0] + m[1][1] + m[2][2], 1.0 + m[0][0] - m[1][1] - m[2][2],
                      1.0 - m[0][0] + m[1][1] - m[2][2], 1.0 - m[0][0] - m[1][1] + m[2][2]};
    int largest = 0;
    for (int i = 1; i < 4; i++)
        if (four[i] > four[largest]) largest = i;
    double w = m[2][1] - m[1][2], x = m[0][2] - m[2][0], y = m[1][0] - m[0][1];
    double xy = m[0][1] + m[1][0], xz = m[0][2] + m[2][0], yz = m[1][2] + m[2][1];
    double rows[4][4] = {{four[0], w, x, y}, {w, four[1], xy, xz}, {x, xy, four[2], yz}, {y, xz, yz, four[3]}};
    const double *q = rows[largest];
    return quat_normalize((Quat){(float)q[0], (float)q[1], (float)q[2], (float)q[3]});
}

// Moves the balls into the frame of their own mass and scales them so that they fit a ball of radius 1.
static void settle_frame(BallShape *shape, const Moments *m)
{
    double centre[3], covariance[3][3], axes[3][3];
    for (int a = 0; a < 3; a++) centre[a] = m->first[a] / m->volume;
    static const int cross[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) covariance[a][b] = m->second[cross[a][b]] - m->volume * centre[a] * centre[b];
    principal_axes(covariance, axes);
    double reach = 0.0;
    for (int i = 0; i < shape->ball_count; i++) {
        ShapeBall *ball = &shape->balls[i];
        double at[3] = {(double)ball->at.x - centre[0], (double)ball->at.y - centre[1], (double)ball->at.z - centre[2]};
        double turned[3];
        for (int a = 0; a < 3; a++) turned[a] = at[0] * axes[0][a] + at[1] * axes[1][a] + at[2] * axes[2][a];
        ball->at = vec3((float)turned[0], (float)turned[1], (float)turned[2]);
        reach = real_max(reach, sqrt(turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2]) +
                                    (double)ball->radius);
    }
    double scale = 1.0 / reach;
    shape->volume = m->volume * real_pow(scale, 3.0);
    for (int a = 0; a < 3; a++)
        shape->inertia[a] =
            (covariance[(a + 1) % 3][(a + 1) % 3] + covariance[(a + 2) % 3][(a + 2) % 3]) * real_pow(scale, 5.0);
    shape->centre = vec3((float)centre[0], (float)centre[1], (float)centre[2]);
    shape->scale = (float)reach;
    shape->from_given = quat_conjugate(quat_from_columns(axes));
    shape->smallest_ball = 1.0f;
    for (int i = 0; i < shape->ball_count; i++) {
        shape->balls[i].at = vec3_scale(shape->balls[i].at, (float)scale);
        shape->balls[i].radius *= (float)scale;
        shape->smallest_ball = real_minf(shape->smallest_ball, shape->balls[i].radius);
    }
}

GrainResult shape_from_balls(const ShapeBall *balls, int ball_count, BallShape *out)
{
    *out = (BallShape){.ball_count = ball_count};
    if (ball_count < 1 || ball_count > GRAIN_SHAPE_MAX_BALLS)
        return fail(GRAIN_ERROR_ARGUMENT, "a grain of %d balls; it must have 1 to %d", ball_count,
                    GRAIN_SHAPE_MAX_BALLS);
    memcpy(out->balls, balls, (size_t)ball_count * sizeof *balls);
    if (ball_count == 1) { // exact
        double inertia = 8.0 / 15.0 * M_PI;
        *out = (BallShape){.ball_count = 1,
                           .balls = {{{0, 0, 0}, 1.0f}},
                           .volume = 4.0 / 3.0 * M_PI,
                           .inertia = {inertia, inertia, inertia},
                           .smallest_ball = 1.0f,
                           .from_given = quat_identity(),
                           .centre = balls[0].at,
                           .scale = balls[0].radius};
        return GRAIN_OK;
    }
    Moments moments = moments_of(balls, ball_count);
    if (!(moments.volume > 0.0)) return fail(GRAIN_ERROR_ARGUMENT, "a grain's balls have no volume");
    settle_frame(out, &moments);
    return GRAIN_OK;
}

// --- public -------------------------------------------------------------------------------------

GrainResult grain_shape_make(const char *name, const GrainMesh *mesh, int32_t most_balls, GrainShape *out)
{
    CHECK_STRUCT(out, GrainShape);
    if (!name) return fail(GRAIN_ERROR_ARGUMENT, "grain_shape_make: name is NULL");
    BallShape shape;
    if (strcmp(name, "mesh") == 0) {
        if (!mesh) return fail(GRAIN_ERROR_ARGUMENT, "grain_shape_make: a grain shaped like a mesh needs the mesh");
        if (most_balls < 1 || most_balls > GRAIN_SHAPE_MAX_BALLS)
            return fail(GRAIN_ERROR_ARGUMENT, "grain_shape_make: most_balls is %d; it must be 1 to %d", most_balls,
                        GRAIN_SHAPE_MAX_BALLS);
        TRY(mesh_validate(mesh));
        TRY(shape_from_mesh(mesh, most_balls, &shape));
    } else {
        TRY(shape_by_name(name, &shape));
    }
    *out = (GrainShape){.struct_size = sizeof *out,
                        .ball_count = shape.ball_count,
                        .centre = {shape.centre.x, shape.centre.y, shape.centre.z},
                        .scale = shape.scale};
    for (int i = 0; i < shape.ball_count; i++) {
        Vec3 at = quat_rotate(quat_conjugate(shape.from_given), shape.balls[i].at);
        float *ball = out->balls[i];
        ball[0] = at.x, ball[1] = at.y, ball[2] = at.z, ball[3] = shape.balls[i].radius;
    }
    return GRAIN_OK;
}
