// SPDX-License-Identifier: GPL-3.0-or-later
// The table of solvers: whole rows, and traits that agree with what the solvers do.
#include "base/real.h"
#include "grain/grain.h"
#include "sim/sim.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

TEST(rows_of_solvers_are_whole)
{
    char names[256] = "";
    for (int i = 0; solver_at(i); i++) {
        const Solver *s = solver_at(i);
        ENSURE(solver_find(s->name) == s && s->version > 0);
        ENSURE(s->label && s->tip);
        ENSURE(s->state_bytes > 0 && s->start && s->free && s->largest_step && s->step && s->read && s->save &&
               s->load);
        ENSURE(s->measure && s->change && s->steer && s->push);
        ENSURE(s->traits.collider_reach >= 1.0f && s->traits.steers != 0);
        strcat(strcat(names, i > 0 ? ", " : ""), s->name);
    }
    ENSURE(strcmp(names, solver_names()) == 0);
    ENSURE(solver_at(-1) == NULL && solver_find("sand") == NULL && solver_choices("nothing") == NULL);
}

// Keys stand side by side in job.json, so no two solvers may share one.
TEST(choices_of_solvers_have_one_owner)
{
    for (int i = 0; solver_at(i); i++)
        for (int c = 0; c < SOLVER_MAX_CHOICES; c++) {
            const SolverChoice *choice = &solver_at(i)->traits.choices[c];
            if (choice->key) ENSURE(choice->names[0] && solver_choices(choice->key) == choice->names);
        }
    ENSURE(solver_steers(solver_find("mpm"), "sand") && !solver_steers(solver_find("mpm"), "snow_wet"));
}

// A cubic metre filled with the densest packing of the largest balls, and one of single grains as they heap.
TEST(particles_share_a_volume_of_sand)
{
    double packed = 0.74048049, radius = 0.01, spread = 0.2, largest = radius * (1.0 + spread);
    for (int i = 0; solver_at(i); i++) {
        const SolverTraits *traits = &solver_at(i)->traits;
        double room = solver_room(solver_at(i), radius, spread),
               grain = solver_grain_volume(solver_at(i), (float)largest);
        if (traits->is_continuum)
            ENSURE_NEAR(room * packed, 4.0 / 3.0 * M_PI * largest * largest * largest, 1e-7 * room);
        else
            ENSURE_NEAR(room * 0.6, 4.0 / 3.0 * M_PI * radius * radius * radius * 1.04, 1e-7 * room);
        ENSURE_NEAR(grain, (double)traits->grain_share * room, 1e-6 * room);
    }
}
