// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Scenes of the mesoscopic model.
#include "shared/sand_scene.h"
#include "sim/meso/meso.h"

/// As sand_begin, of this material.
void meso_begin(SandScene *scene, float radius, SimMesoNumbers numbers);
/// As sand_fill_box, but of radii between 0.8 and 1 of those that do not overlap, so that nothing is under pressure.
GrainResult meso_fill(SandScene *scene, Vec3 low, Vec3 high, SandFn *is_inside, const void *user);
static inline Meso *meso_of(const SandScene *scene) { return scene->sim.state; }

/// A column in a tray of 40 by 4 diameters whose dam is taken away; the floor is rough, the sides are smooth.
typedef struct MesoSlope {
    double degrees; ///< of a straight line through the surface
    double covered; ///< part of the tray
    double run_out; ///< m, how far 98 % have come
    double height;  ///< m, of the centre of mass
} MesoSlope;
/// Leaves the scene for more to be measured, whatever it returns; sand_end it.
GrainResult meso_break_dam(SandScene *scene, SimMesoNumbers numbers, double seconds, MesoSlope *out);

/// A thread that comes down on the floor around the z axis, folding along x.
typedef struct MesoThread {
    int crossings;              ///< of the axis, from side to side
    double half_period, spread; ///< s, from one to the next; its standard deviation over it
    double swing;               ///< m, how far to a side
    double height;              ///< m, of what lies when the last has come
    double after_2, after_4;    ///< of that height, 2 s and 4 s later
} MesoThread;
/// Watches its middle at this height for `seconds`, then what lies for 4 s more.
GrainResult meso_watch_thread(SandScene *scene, double height, double seconds, MesoThread *out);
