#pragma once
/// Scenes of the mesoscopic model.
#include "physics/sand_scene.h"
#include "sim/meso/meso.h"
#include "sim/meso/meso_law.h"

/// As sand_begin, of this material.
void meso_begin(SandScene *scene, float radius, MesoNumbers numbers);
/// As sand_fill_box, but of radii between 0.8 and 1 of those that do not overlap, so that nothing is under pressure.
GrainResult meso_fill(SandScene *scene, Vec3 low, Vec3 high, SandFn *is_inside, const void *user);
static inline Meso *meso_of(const SandScene *scene) { return scene->sim.state; }
