#pragma once
/// Distance and winding number by going through all triangles, in doubles: what the fast ways are held against.
#include "grain/mesh.h"

/// m, not signed.
double brute_distance(const GrainMesh *mesh, const double place[3]);
double brute_winding(const GrainMesh *mesh, const double place[3]);
