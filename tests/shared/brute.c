// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/brute.h"

#include <math.h>

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void load(const GrainMesh *mesh, int64_t triangle, const double place[3], double corner[3][3])
{
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++)
            corner[c][k] = (double)mesh->positions[3 * (int64_t)mesh->triangles[3 * triangle + c] + k] - place[k];
}

// From the origin to a segment.
static double segment_squared(const double *a, const double *b)
{
    double along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, length = dot(along, along);
    double t = length > 0.0 ? fmin(1.0, fmax(0.0, -dot(a, along) / length)) : 0.0;
    double p[3] = {a[0] + t * along[0], a[1] + t * along[1], a[2] + t * along[2]};
    return dot(p, p);
}

static void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2], out[2] = a[0] * b[1] - a[1] * b[0];
}

// From the origin to a triangle: the foot of the perpendicular on its plane, pulled into the triangle, or an edge. What
// is measured is always a point of the triangle, so one without a plane of its own is no nearer than it is.
static double triangle_squared(double c[3][3])
{
    double best = fmin(segment_squared(c[0], c[1]), fmin(segment_squared(c[1], c[2]), segment_squared(c[2], c[0])));
    double u[3], v[3];
    for (int k = 0; k < 3; k++) u[k] = c[1][k] - c[0][k], v[k] = c[2][k] - c[0][k];
    double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), area = uu * vv - uv * uv;
    if (!(area > 0.0)) return best;
    double s = (uv * dot(c[0], v) - vv * dot(c[0], u)) / area, t = (uv * dot(c[0], u) - uu * dot(c[0], v)) / area;
    s = fmin(1.0, fmax(0.0, s)), t = fmin(1.0 - s, fmax(0.0, t));
    double foot[3];
    for (int k = 0; k < 3; k++) foot[k] = c[0][k] + s * u[k] + t * v[k];
    return fmin(best, dot(foot, foot));
}

double brute_distance(const GrainMesh *mesh, const double place[3])
{
    double best = INFINITY, corner[3][3];
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        load(mesh, i, place, corner);
        best = fmin(best, triangle_squared(corner));
    }
    return sqrt(best);
}

double brute_winding(const GrainMesh *mesh, const double place[3])
{
    double sum = 0.0, c[3][3], normal[3];
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        load(mesh, i, place, c);
        double a = sqrt(dot(c[0], c[0])), b = sqrt(dot(c[1], c[1])), d = sqrt(dot(c[2], c[2]));
        cross(c[1], c[2], normal);
        double below = a * b * d + dot(c[0], c[1]) * d + dot(c[1], c[2]) * a + dot(c[2], c[0]) * b;
        sum += 2.0 * atan2(dot(c[0], normal), below);
    }
    return sum / (4.0 * M_PI);
}

// Twice the area of (a, b, origin) seen along x.
static double turn(const double *a, const double *b) { return a[1] * b[2] - a[2] * b[1]; }

int brute_winding_row(const GrainMesh *mesh, const double first[3], double step, int64_t count, int32_t *winding)
{
    const double place[3] = {first[0], first[1] + 1.234e-6 * step, first[2] + 0.777e-6 * step};
    int sum = 0;
    for (int64_t i = 0; i < count; i++) winding[i] = 0;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        double c[3][3];
        load(mesh, i, place, c);
        double a = turn(c[1], c[2]), b = turn(c[2], c[0]), d = turn(c[0], c[1]);
        int side = a > 0.0 && b > 0.0 && d > 0.0 ? 1 : a < 0.0 && b < 0.0 && d < 0.0 ? -1 : 0;
        if (side == 0) continue;
        sum += side;
        // Everything before the crossing has it ahead.
        double crossing = (a * c[0][0] + b * c[1][0] + d * c[2][0]) / (a + b + d) / step;
        int64_t end = crossing <= 0.0 ? 0 : crossing >= (double)count ? count : (int64_t)ceil(crossing);
        for (int64_t k = 0; k < end; k++) winding[k] += side;
    }
    return sum == 0;
}
