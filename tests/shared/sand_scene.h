// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Sand among planes, props and bodies, built without a job, for any solver; and what is measured on it.
#include "grain/cover.h"
#include "shared/meshes.h"
#include "sim/rigid/rigid.h"
#include "sim/sim.h"

#define SAND_MAX_COLLIDERS 8

typedef struct SandScene {
    SimDef def;
    Particles start, now; ///< now: as read last
    SimCollider colliders[SAND_MAX_COLLIDERS];
    Shape shape[SAND_MAX_COLLIDERS];
    GrainMesh mesh[SAND_MAX_COLLIDERS];
    GrainSdf *sdf[SAND_MAX_COLLIDERS];
    SimBody body[SAND_MAX_COLLIDERS];
    GrainCover *cover[SAND_MAX_COLLIDERS];
    float *samples[SAND_MAX_COLLIDERS];
    float *moisture;
    Sim sim;
} SandScene;

/// Sand of this friction angle (degrees) in particles of this radius, on nothing yet; for meso its first interaction.
void sand_begin(SandScene *scene, const char *solver, float radius, float friction_degrees);
/// The fall (m) that gives the fastest impact expected.
void sand_expect_fall(SandScene *scene, float height);
void sand_add_plane(SandScene *scene, Vec3 point, Vec3 normal, float friction);
/// Takes the shape over. *number: which collider it is.
GrainResult sand_add_prop(SandScene *scene, Shape shape, float friction, int *number);
GrainResult sand_add_body(SandScene *scene, Shape shape, double density, float friction, int *number);
/// Poses for a prop, to be filled in: `count` of 7 numbers, all at the pivot and unturned at first.
float *sand_add_poses(SandScene *scene, int number, Vec3 pivot, int count, double sample_seconds);

/// Whether sand is put at a place.
typedef int SandFn(const void *user, Vec3 place);
/// As dense as sources are filled, on a cubic lattice that is shaken a little; a radius away from the box's sides.
GrainResult sand_fill_box(SandScene *scene, Vec3 low, Vec3 high, SandFn *is_inside, const void *user);
/// As sources are filled: balls that just do not touch, packed as densely as can be, so that no solver's particles
/// overlap. Shaken by a hundredth of a radius.
GrainResult sand_fill_packed(SandScene *scene, Vec3 low, Vec3 high);
/// m, from one particle to the next: of the lattice that sand_fill_box uses.
float sand_spacing(const SandScene *scene);
GrainResult sand_create(SandScene *scene, int threads);
GrainResult sand_run(SandScene *scene, double seconds);
void sand_end(SandScene *scene);

const RigidObject *sand_object(const SandScene *scene, int number);
/// m/s, mean and largest over the particles.
double sand_mean_speed(const SandScene *scene, double *fastest);
/// Height of the surface (m) in `count` strips of equal width from low to high along x: the mean of the highest
/// twentieth of the particles there, at least one; 0 where there are none.
void sand_profile(const SandScene *scene, double low, double high, int count, double *height);
/// m: x that this part of the particles stays below.
double sand_reach(const SandScene *scene, double part);
/// Slope (degrees) of a heap around the z axis: the straight line through the surface between a fifth and four fifths
/// of its height.
double sand_flank_angle(const SandScene *scene);
