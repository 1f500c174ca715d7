// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Small scenes for the material point method, built without a job, and what is measured on them.
#include "sim/mpm/mpm.h"

typedef struct MpmScene {
    SimDef def;
    Particles start;
    SimCollider colliders[5];
    GrainSdf *sdf; ///< of a mesh among the colliders
    uint64_t seed; ///< of how unevenly it is filled
    Mpm *mpm;
} MpmScene;

/// Sand of this friction angle (degrees) on nothing yet. radius is that of its particles.
void mpm_scene_begin(MpmScene *scene, float radius, float friction_degrees);
void mpm_scene_add_plane(MpmScene *scene, Vec3 point, Vec3 normal, float friction);
/// Particles evenly, each as far from the next as sources are filled; inside a cylinder along z that narrows from
/// bottom to top radius.
GrainResult mpm_scene_fill(MpmScene *scene, float bottom, float height, float bottom_radius, float top_radius);
/// m, from one particle to the next.
double mpm_scene_spacing(const MpmScene *scene);
GrainResult mpm_scene_create(MpmScene *scene, int threads);
GrainResult mpm_scene_run(MpmScene *scene, double seconds);
void mpm_scene_end(MpmScene *scene);

/// m/s, mean over the particles.
double mpm_scene_mean_speed(const MpmScene *scene);
Vec3d mpm_scene_momentum(const MpmScene *scene);
/// m: distance from the z axis that this part of the particles stays within.
double mpm_scene_reach(const MpmScene *scene, double part);
/// Slope of a heap around the z axis (degrees), as that of a cone with its mean height and volume: on a cone the mean
/// height above the floor is a quarter of the peak's, and the median distance from the axis 0.6157 of the foot's
/// radius.
double mpm_scene_heap_angle(const MpmScene *scene);
/// Height of the surface (m) in rings around the z axis, `wide` (m) each: the mean of as many of the highest particles
/// there as a layer has, and half a spacing. 0 where there are none.
void mpm_scene_surface(const MpmScene *scene, int rings, double wide, double *height);
/// Slope of a heap around the z axis (degrees): the straight line through the surface between 15 and 80 % of its
/// height.
double mpm_scene_flank_angle(const MpmScene *scene);
