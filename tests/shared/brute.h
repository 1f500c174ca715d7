// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Distance and winding number by going through all triangles, in doubles: what the fast ways are held against.
#include "grain/mesh.h"

/// m, not signed.
double brute_distance(const GrainMesh *mesh, const double place[3]);
double brute_winding(const GrainMesh *mesh, const double place[3]);
/// Winding numbers of a closed mesh at count places in a row along x, from first on, counted by the crossings of the
/// line through them. The line is moved sideways by a millionth of a step, so that it meets no edge. 0: it was not
/// closed there.
int brute_winding_row(const GrainMesh *mesh, const double first[3], double step, int64_t count, int32_t *winding);
