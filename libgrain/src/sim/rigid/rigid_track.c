// SPDX-License-Identifier: GPL-3.0-or-later
// Where props are between the samples the artist's scene was read at.
//
// Poses run smoothly through their samples (cubic Hermite pieces) and never past one: the slope at a sample is the
// harmonic mean of those on either side, and 0 where they point in different directions (Fritsch and Butland 1984). So
// a prop that stops does stop, and a tray that is shaken does not kick its sand at each sample.
#include "base/real.h"
#include "sim/rigid/rigid.h"

#include <math.h>

static int64_t interval_of(double seconds, double sample_seconds, int64_t count, double *fraction)
{
    double at = sample_seconds > 0.0 ? seconds / sample_seconds : 0.0;
    *fraction = 0.0;
    if (!(at > 0.0)) return 0;
    if (at >= (double)(count - 1)) return count - 1;
    int64_t interval = (int64_t)at;
    *fraction = at - (double)interval;
    return interval;
}

static Vec3d place_of(const SimCollider *collider, int64_t sample)
{
    const float *p = collider->poses + 7 * sample;
    return (Vec3d){(double)p[0], (double)p[1], (double)p[2]};
}

static Quatd facing_of(const SimCollider *collider, int64_t sample)
{
    const float *p = collider->poses + 7 * sample;
    return quatd_normalize((Quatd){(double)p[3], (double)p[4], (double)p[5], (double)p[6]});
}

static double slope(double before, double after)
{
    return before * after > 0.0 ? 2.0 * before * after / (before + after) : 0.0;
}

static Vec3d slopes(Vec3d before, Vec3d after)
{
    return (Vec3d){slope(before.x, after.x), slope(before.y, after.y), slope(before.z, after.z)};
}

// From 0 to way while t goes from 0 to 1, starting and ending with these slopes.
static Vec3d hermite(Vec3d way, Vec3d first, Vec3d last, double t)
{
    double t2 = t * t, t3 = t2 * t;
    Vec3d sum = vec3d_scale(way, 3.0 * t2 - 2.0 * t3);
    sum = vec3d_add(sum, vec3d_scale(first, t3 - 2.0 * t2 + t));
    return vec3d_add(sum, vec3d_scale(last, t3 - t2));
}

// From sample k to the next; before the first and after the last nothing moves.
static Vec3d way_from(const SimCollider *collider, int64_t k)
{
    if (k < 0 || k + 1 >= collider->pose_count) return (Vec3d){0, 0, 0};
    return vec3d_sub(place_of(collider, k + 1), place_of(collider, k));
}

static Vec3d turn_from(const SimCollider *collider, int64_t k)
{
    if (k < 0 || k + 1 >= collider->pose_count) return (Vec3d){0, 0, 0};
    return quatd_to_rotation(quatd_multiply(facing_of(collider, k + 1), quatd_conjugate(facing_of(collider, k))));
}

// What moves at the first or last sample is taken to have moved like that before, or to go on so: a prop that runs
// through the whole shot does not start from rest.
static Vec3d slope_at(Vec3d before, Vec3d after, int is_end)
{
    if (is_end) return vec3d_dot(before, before) > vec3d_dot(after, after) ? before : after;
    return slopes(before, after);
}

RigidPose rigid_pose_at(const SimCollider *collider, double seconds)
{
    double t;
    int64_t last = collider->pose_count - 1;
    int64_t k = interval_of(seconds, collider->sample_seconds, collider->pose_count, &t);
    RigidPose pose = {place_of(collider, k), facing_of(collider, k)};
    if (k == last) return pose;
    Vec3d way = way_from(collider, k), turn = turn_from(collider, k);
    pose.position = vec3d_add(pose.position, hermite(way, slope_at(way_from(collider, k - 1), way, k == 0),
                                                     slope_at(way, way_from(collider, k + 1), k + 1 == last), t));
    Vec3d turned = hermite(turn, slope_at(turn_from(collider, k - 1), turn, k == 0),
                           slope_at(turn, turn_from(collider, k + 1), k + 1 == last), t);
    pose.facing = quatd_normalize(quatd_multiply(quatd_from_rotation(turned), pose.facing));
    return pose;
}

int64_t rigid_shape_interval(const SimCollider *collider, double seconds)
{
    double t;
    return interval_of(seconds, collider->sample_seconds, collider->shape_count, &t);
}

void rigid_shape_at(const SimCollider *collider, double seconds, const int32_t *triangle, Vec3 corner[3], Vec3 speed[3])
{
    double t;
    int64_t k = interval_of(seconds, collider->sample_seconds, collider->shape_count, &t);
    int64_t stride = collider->mesh->vertex_count;
    const Vec3 *now = (const Vec3 *)collider->shapes + k * stride;
    const Vec3 *next = k + 1 < collider->shape_count ? now + stride : now;
    for (int c = 0; c < 3; c++) {
        Vec3 way = vec3_sub(next[triangle[c]], now[triangle[c]]);
        corner[c] = vec3_add_scaled(now[triangle[c]], way, (float)t);
        speed[c] = vec3_scale(way, (float)(1.0 / collider->sample_seconds));
    }
}

double rigid_fastest(const SimCollider *collider)
{
    double fastest = 0.0;
    if (collider->poses) {
        Vec3d pivot = place_of(collider, 0);
        double radius = 0.0;
        for (int64_t v = 0; collider->mesh && v < collider->mesh->vertex_count; v++) {
            const float *p = collider->mesh->positions + 3 * v;
            Vec3d arm = vec3d_sub((Vec3d){(double)p[0], (double)p[1], (double)p[2]}, pivot);
            radius = real_max(radius, vec3d_length(arm));
        }
        for (int64_t k = 0; k + 1 < collider->pose_count; k++) // Hermite pieces go at most 1.5 times as fast
            fastest =
                real_max(fastest, vec3d_length(way_from(collider, k)) + radius * vec3d_length(turn_from(collider, k)));
        fastest *= 1.5;
    }
    const Vec3 *shapes = (const Vec3 *)collider->shapes;
    int64_t stride = collider->shapes ? collider->mesh->vertex_count : 0;
    for (int64_t i = 0; i < (collider->shape_count - 1) * stride; i++)
        fastest = real_max(fastest, (double)vec3_length(vec3_sub(shapes[i + stride], shapes[i])));
    return collider->sample_seconds > 0.0 ? fastest / collider->sample_seconds : 0.0;
}
