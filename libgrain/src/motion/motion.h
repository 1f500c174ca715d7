// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Motion of an object over the shot: none, rigid (poses) or deforming (shapes). Samples are borrowed and evenly
/// spaced. The first is at time 0, when the object is as its mesh says; the last one is held.
#include "base/vec.h"
#include "grain/mesh.h"

typedef enum MotionKind { MOTION_STILL, MOTION_POSES, MOTION_SHAPES } MotionKind;

typedef struct Motion {
    MotionKind kind;
    const float *samples; ///< poses: 7 numbers each, the position of the pivot (x, y, z) and the rotation about it
                          ///< since time 0 (w, x, y, z); shapes: the positions of all vertices
    int64_t sample_count;
    int64_t vertex_count; ///< of shapes
    double period;        ///< s from one sample to the next
} Motion;

typedef struct Pose {
    Vec3d position; ///< m, of the pivot
    Quatd facing;   ///< rotation since time 0
} Pose;

/// Where an object is at a moment and how it moves. Its own space is the world at time 0.
typedef struct MotionFrame {
    int is_moving;       ///< 0: it is where it was, and the fields below are not used
    Quat rotation;       ///< own space to world
    Vec3 position;       ///< m, of the own space's origin in the world
    Vec3 velocity, spin; ///< of that point, m/s; rad/s
} MotionFrame;

#define MOTION_POSE_FLOATS 7

/// s between samples evenly spaced over a frame.
static inline double motion_period(double fps, int samples_per_frame) { return 1.0 / (fps * samples_per_frame); }

static inline Motion motion_of_poses(const float *poses, int64_t count, double period)
{
    return (Motion){MOTION_POSES, poses, count, 0, period};
}
static inline Motion motion_of_shapes(const float *positions, int64_t vertex_count, int64_t count, double period)
{
    return (Motion){MOTION_SHAPES, positions, count, vertex_count, period};
}

// --- poses; what stands still and what bends keeps the pose of time 0, the identity about the origin ---

/// m, the pivot at time 0.
Vec3d motion_pivot(const Motion *motion);
Pose motion_pose(const Motion *motion, double seconds);
/// Current position of a point of the mesh at time 0.
Vec3d motion_carry(const Motion *motion, Vec3 point, double seconds);
/// The same for a direction.
Vec3 motion_turn(const Motion *motion, Vec3 direction, double seconds);

// --- shapes ---

/// The positions of all vertices at a sample.
const Vec3 *motion_shape(const Motion *motion, int64_t sample);
/// The sample closest to this time.
int64_t motion_nearest(const Motion *motion, double seconds);
/// The sample interval this time lies in. Within one, every vertex moves along a straight line.
int64_t motion_interval(const Motion *motion, double seconds);
/// Positions and velocities of the corners of a triangle (m, m/s; speed may be NULL).
void motion_corners(const Motion *motion, double seconds, const int32_t *triangle, Vec3 corner[3], Vec3 speed[3]);

/// m/s, an upper bound on the speed of any vertex over the whole shot. mesh: at time 0; NULL: only the pivot counts.
double motion_fastest(const Motion *motion, const GrainMesh *mesh);
