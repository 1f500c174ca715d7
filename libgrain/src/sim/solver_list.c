// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/dem/dem.h"
#include "sim/meso/meso.h"
#include "sim/mpm/mpm.h"
#include "sim/solver.h"
#include "sim/sph/sph.h"

#include <string.h>

// To add a solver: a folder beside dem/ with a header that declares its Solver, and its address and name here.
static const Solver *const solvers[] = {&dem_solver, &mpm_solver, &sph_solver, &meso_solver};

const char *solver_names(void) { return "dem, mpm, sph, meso"; }

const Solver *solver_find(const char *name)
{
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++)
        if (strcmp(solvers[i]->name, name) == 0) return solvers[i];
    return NULL;
}
