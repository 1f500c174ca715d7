// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Scenes with props that move and bodies, on top of those of grains.
#include "grain/cover.h"
#include "shared/dem_scene.h"
#include "shared/meshes.h"

typedef struct RigidScene {
    DemScene sand; ///< particles, planes; scene_create, scene_run and what is measured work on it
    Shape shape[SCENE_MAX_COLLIDERS];
    GrainMesh mesh[SCENE_MAX_COLLIDERS];
    SimBody body[SCENE_MAX_COLLIDERS];
    GrainCover *cover[SCENE_MAX_COLLIDERS];
    float *samples[SCENE_MAX_COLLIDERS];
} RigidScene;

/// As scene_begin.
void rigid_scene_begin(RigidScene *scene, float radius);
/// A prop that stands. Takes the shape over. *number: which collider it is.
GrainResult rigid_scene_add_prop(RigidScene *scene, Shape shape, float friction, int *number);
/// Poses for a prop or body, to be filled in: `count` of 7 numbers, all at the pivot and unturned at first.
float *rigid_scene_add_poses(RigidScene *scene, int number, Vec3 pivot, int count, double sample_seconds);
/// Positions for a prop that bends, to be filled in: `count` times its vertices, all as they are at first.
float *rigid_scene_add_shapes(RigidScene *scene, int number, int count, double sample_seconds);
/// A body of this density (kg/m3), covered with particles of this radius. Takes the shape over.
GrainResult rigid_scene_add_body(RigidScene *scene, Shape shape, double density, float friction, float point_radius,
                                 int *number);
/// A box without a lid: the inside spans low to high, walls are as thick as said.
Shape rigid_scene_tray(Vec3 low, Vec3 high, float wall);
Shape rigid_scene_box(Vec3 middle, float size);
Shape rigid_scene_ball(Vec3 middle, float radius);
void rigid_scene_end(RigidScene *scene);

const RigidObject *rigid_scene_object(const RigidScene *scene, int number);
/// Grains whose centre is in the box, seen from an object: in its coordinates of time 0.
int64_t rigid_scene_count_inside(const RigidScene *scene, int number, Vec3 low, Vec3 high);
/// m, mean over all grains.
double rigid_scene_mean_height(const RigidScene *scene);
/// Of sand and bodies together, about the origin.
SceneTotals rigid_scene_totals(const RigidScene *scene);
