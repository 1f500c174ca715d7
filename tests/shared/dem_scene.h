// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Small scenes for the physics of discrete elements, built without a job, and what is measured on them.
#include "sim/dem/dem.h"

#define SCENE_MAX_COLLIDERS 1100

typedef struct DemScene {
    SimDef def;
    Particles start;
    SimCollider colliders[SCENE_MAX_COLLIDERS];
    GrainSdf *sdf[SCENE_MAX_COLLIDERS]; ///< of the colliders; NULL for planes
    BallShape shape;                    ///< of all grains, when scene_set_shape was called
    Dem *dem;
} DemScene;

/// Quartz of friction 0.6 and restitution 0.3 under gravity, nothing in it yet. radius is the mean one.
void scene_begin(DemScene *scene, float radius);
void scene_add_plane(DemScene *scene, Vec3 point, Vec3 normal, float friction);
/// A box open at the top, as a mesh: the inside spans low to high, walls are two grains thick. Turned about z by
/// `turn`.
GrainResult scene_add_tray(DemScene *scene, Vec3 low, Vec3 high, float turn, float friction);
/// A closed outline of (distance from the z axis, height) pairs, counter-clockwise as seen with the axis on the left,
/// turned around the axis; none of it may touch the axis.
GrainResult scene_add_revolved(DemScene *scene, const float (*outline)[2], int count, float friction);
/// Any closed mesh.
GrainResult scene_add_mesh(DemScene *scene, const GrainMesh *mesh, float friction);
/// Grains of this shape instead of spheres; radius is that of the ball around one.
GrainResult scene_set_shape(DemScene *scene, const char *name);
/// Grains with a gap of gap_radii between them, radii spread evenly by +- spread, in a box, or in a cylinder along z.
GrainResult scene_fill_box(DemScene *scene, Vec3 low, Vec3 high, float gap_radii, float spread);
GrainResult scene_fill_cylinder(DemScene *scene, float bottom, float height, float radius, float gap_radii,
                                float spread);
/// Threads 0 uses all cores.
GrainResult scene_create(DemScene *scene, int threads);
GrainResult scene_run(DemScene *scene, double seconds);
void scene_end(DemScene *scene);

Vec3 scene_position(const DemScene *scene, int64_t ball);
/// kg m/s and kg m2/s about the origin; and what they would be if all moved one way, to compare errors with.
typedef struct SceneTotals {
    double mass, momentum[3], angular[3], mass_speed, lever_speed;
} SceneTotals;
SceneTotals scene_totals(const DemScene *scene);
/// m/s, mean over the grains of the speed of their centres.
double scene_mean_speed(const DemScene *scene);
/// N, what grains do to a collider, along a direction, where they touch it above this height.
double scene_load(const DemScene *scene, int collider, Vec3 direction, float above);
/// J: of motion and spin.
double scene_kinetic_energy(const DemScene *scene);
/// Slope of a heap around the z axis (degrees): a line through the mean heights of the surface in rings, from 20 to 80
/// % of the heap's height.
double scene_heap_angle(const DemScene *scene, double *height);
/// Slope (degrees) of the cone whose grains have this mean height and median distance from the axis. Unlike the line
/// above it needs no surface, which is rough by the size of a grain, and so can be compared between few and many.
double scene_cone_angle(const DemScene *scene);
