// SPDX-License-Identifier: GPL-3.0-or-later
// Where objects are between the samples that were taken of the artist's scene.
//
// Poses are interpolated by monotone cubic Hermite pieces: the slope at a sample is the harmonic mean of the slopes on
// either side, and 0 where those have different signs (Fritsch and Butland 1984). The curve never overshoots a sample,
// so an object that stops does stop, and a tray that is shaken does not kick its sand at every sample.
#include "base/real.h"
#include "motion/motion.h"

#include <math.h>

static int64_t interval_of(const Motion *motion, double seconds, double *fraction)
{
    double at = motion->period > 0.0 ? seconds / motion->period : 0.0;
    int64_t count = motion->sample_count;
    *fraction = 0.0;
    if (!(at > 0.0)) return 0;
    if (at >= (double)(count - 1)) return count - 1;
    int64_t interval = (int64_t)at;
    *fraction = at - (double)interval;
    return interval;
}

static Vec3d position_at(const Motion *motion, int64_t sample)
{
    const float *p = motion->samples + MOTION_POSE_FLOATS * sample;
    return (Vec3d){(double)p[0], (double)p[1], (double)p[2]};
}

static Quatd facing_at(const Motion *motion, int64_t sample)
{
    const float *p = motion->samples + MOTION_POSE_FLOATS * sample;
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

// From 0 to `way` as t goes from 0 to 1, with these slopes at the start and the end.
static Vec3d hermite(Vec3d way, Vec3d first, Vec3d last, double t)
{
    double t2 = t * t, t3 = t2 * t;
    Vec3d sum = vec3d_scale(way, 3.0 * t2 - 2.0 * t3);
    sum = vec3d_add(sum, vec3d_scale(first, t3 - 2.0 * t2 + t));
    return vec3d_add(sum, vec3d_scale(last, t3 - t2));
}

// From sample k to the next; nothing moves before the first and after the last.
static Vec3d way_from(const Motion *motion, int64_t k)
{
    if (k < 0 || k + 1 >= motion->sample_count) return (Vec3d){0, 0, 0};
    return vec3d_sub(position_at(motion, k + 1), position_at(motion, k));
}

static Vec3d turn_from(const Motion *motion, int64_t k)
{
    if (k < 0 || k + 1 >= motion->sample_count) return (Vec3d){0, 0, 0};
    return quatd_to_rotation(quatd_multiply(facing_at(motion, k + 1), quatd_conjugate(facing_at(motion, k))));
}

// What moves at the first or last sample is taken to move likewise before or after it: an object that is in motion
// throughout the shot does not start from rest.
static Vec3d slope_at(Vec3d before, Vec3d after, int is_end)
{
    if (is_end) return vec3d_dot(before, before) > vec3d_dot(after, after) ? before : after;
    return slopes(before, after);
}

Vec3d motion_pivot(const Motion *motion)
{
    return motion->kind == MOTION_POSES ? position_at(motion, 0) : vec3d(0, 0, 0);
}

Pose motion_pose(const Motion *motion, double seconds)
{
    if (motion->kind != MOTION_POSES) return (Pose){vec3d(0, 0, 0), quatd_identity()};
    double t;
    int64_t last = motion->sample_count - 1;
    int64_t k = interval_of(motion, seconds, &t);
    Pose pose = {position_at(motion, k), facing_at(motion, k)};
    if (k == last) return pose;
    Vec3d way = way_from(motion, k), turn = turn_from(motion, k);
    pose.position = vec3d_add(pose.position, hermite(way, slope_at(way_from(motion, k - 1), way, k == 0),
                                                     slope_at(way, way_from(motion, k + 1), k + 1 == last), t));
    Vec3d turned = hermite(turn, slope_at(turn_from(motion, k - 1), turn, k == 0),
                           slope_at(turn, turn_from(motion, k + 1), k + 1 == last), t);
    pose.facing = quatd_normalize(quatd_multiply(quatd_from_rotation(turned), pose.facing));
    return pose;
}

Vec3d motion_carry(const Motion *motion, Vec3 point, double seconds)
{
    if (motion->kind != MOTION_POSES) return vec3d_from(point);
    Pose pose = motion_pose(motion, seconds);
    Vec3d arm = vec3d_sub(vec3d_from(point), motion_pivot(motion));
    return vec3d_add(pose.position, quatd_rotate(pose.facing, arm));
}

Vec3 motion_turn(const Motion *motion, Vec3 direction, double seconds)
{
    if (motion->kind != MOTION_POSES) return direction;
    return vec3_from(quatd_rotate(motion_pose(motion, seconds).facing, vec3d_from(direction)));
}

const Vec3 *motion_shape(const Motion *motion, int64_t sample)
{
    return (const Vec3 *)motion->samples + motion->vertex_count * sample;
}

int64_t motion_nearest(const Motion *motion, double seconds)
{
    double t;
    int64_t k = interval_of(motion, seconds, &t);
    return t < 0.5 ? k : k + 1;
}

int64_t motion_interval(const Motion *motion, double seconds)
{
    double t;
    return interval_of(motion, seconds, &t);
}

void motion_corners(const Motion *motion, double seconds, const int32_t *triangle, Vec3 corner[3], Vec3 speed[3])
{
    double t;
    int64_t k = interval_of(motion, seconds, &t);
    const Vec3 *now = motion_shape(motion, k);
    const Vec3 *next = k + 1 < motion->sample_count ? motion_shape(motion, k + 1) : now;
    for (int c = 0; c < 3; c++) {
        Vec3 way = vec3_sub(next[triangle[c]], now[triangle[c]]);
        corner[c] = vec3_add_scaled(now[triangle[c]], way, (float)t);
        if (speed) speed[c] = vec3_scale(way, (float)(1.0 / motion->period));
    }
}

// m between two samples, at most. Hermite pieces run at most 1.5 times as fast as the straight line.
static double longest_step_of_poses(const Motion *motion, const GrainMesh *mesh)
{
    Vec3d pivot = motion_pivot(motion);
    double radius = 0.0, longest = 0.0;
    for (int64_t v = 0; mesh && v < mesh->vertex_count; v++)
        radius = real_max(radius, vec3d_length(vec3d_sub(vec3d_from(((const Vec3 *)mesh->positions)[v]), pivot)));
    for (int64_t k = 0; k + 1 < motion->sample_count; k++)
        longest = real_max(longest, vec3d_length(way_from(motion, k)) + radius * vec3d_length(turn_from(motion, k)));
    return 1.5 * longest;
}

static double longest_step_of_shapes(const Motion *motion)
{
    const Vec3 *now = motion_shape(motion, 0), *next = now + motion->vertex_count;
    double longest = 0.0;
    for (int64_t i = 0; i < (motion->sample_count - 1) * motion->vertex_count; i++)
        longest = real_max(longest, (double)vec3_length(vec3_sub(next[i], now[i])));
    return longest;
}

double motion_fastest(const Motion *motion, const GrainMesh *mesh)
{
    if (motion->kind == MOTION_STILL || !(motion->period > 0.0)) return 0.0;
    double longest =
        motion->kind == MOTION_POSES ? longest_step_of_poses(motion, mesh) : longest_step_of_shapes(motion);
    return longest / motion->period;
}
