// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/solver.h"
#include "base/alloc.h"
#include "base/real.h"
#include "sim/solver_base.h"

#include <math.h>
#include <string.h>

// Every solver: its folder declares NAME_solver.
#define SOLVERS(X) X(dem) X(mpm) X(sph) X(meso)

#define DECLARE(name) extern const Solver name##_solver;
SOLVERS(DECLARE)
#define ADDRESS(name) &name##_solver,
static const Solver *const solvers[] = {SOLVERS(ADDRESS) NULL};
#define NAME_AFTER_COMMA(name) ", " #name
#define NAME(name) #name,
const char *const solver_name_list[] = {SOLVERS(NAME) NULL};

const char *solver_names(void) { return &(SOLVERS(NAME_AFTER_COMMA))[2]; }

const Solver *solver_at(int index)
{
    int count = (int)(sizeof solvers / sizeof *solvers);
    return index >= 0 && index < count ? solvers[index] : NULL;
}

const Solver *solver_find(const char *name)
{
    for (int i = 0; solvers[i]; i++)
        if (strcmp(solvers[i]->name, name) == 0) return solvers[i];
    return NULL;
}

const ColumnRule *solver_find_rule(const char *name)
{
    const ColumnRule *rule = column_rule_find(rigid_column_rules, name);
    for (int i = 0; solvers[i] && !rule; i++) rule = column_rule_find(solvers[i]->columns, name);
    return rule;
}

const char *const *solver_choices(const char *key)
{
    for (int i = 0; solvers[i]; i++)
        for (int c = 0; c < SOLVER_MAX_CHOICES; c++) {
            const SolverChoice *choice = &solvers[i]->traits.choices[c];
            if (choice->key && strcmp(choice->key, key) == 0) return choice->names;
        }
    return NULL;
}

int solver_uses(const Solver *solver, const char *key)
{
    size_t length = strlen(key);
    for (const char *word = solver->traits.uses; *word; word += strcspn(word, " ")) {
        word += strspn(word, " ");
        if (strncmp(word, key, length) == 0 && (word[length] == ' ' || word[length] == '\0')) return 1;
    }
    return 0;
}

uint32_t solver_steers(const Solver *solver, const char *law)
{
    const char *const *fixed = solver->traits.fixed_laws;
    for (int i = 0; fixed && fixed[i]; i++)
        if (strcmp(fixed[i], law) == 0) return 0;
    return solver->traits.steers;
}

// --- states ---------------------------------------------------------------------------------------

GrainResult solver_create(const Solver *solver, const SimDef *def, const Particles *start, int threads, void **state)
{
    *state = NULL;
    void *made = alloc_zeroed(1, (size_t)solver->state_bytes);
    if (!made) return GRAIN_ERROR_MEMORY;
    GrainResult result = solver_base_begin(made, def, start, threads);
    if (result == GRAIN_OK) result = solver->start(made, def, start);
    if (result == GRAIN_OK)
        *state = made;
    else
        solver_destroy(solver, made);
    return result;
}

void solver_destroy(const Solver *solver, void *state)
{
    if (!state) return;
    solver->free(state);
    solver_base_free(state);
    alloc_free(state);
}

Rigid *solver_rigid(const void *state) { return ((const SolverBase *)state)->rigid; }

// --- how much sand a particle is ------------------------------------------------------------------

double solver_bulk_room(float largest_radius)
{
    double spacing = 2.0 * (double)largest_radius;
    return spacing * spacing * spacing / 1.41421356;
}

double solver_room(const Solver *solver, double radius, double size_spread)
{
    if (solver->traits.is_continuum) return real_pow(2.0 * (radius * (1.0 + size_spread)), 3.0) / M_SQRT2;
    return 4.0 / 3.0 * M_PI * real_pow(radius, 3.0) * (1.0 + size_spread * size_spread) / SOLVER_HEAP_PACKING;
}

double solver_grain_volume(const Solver *solver, float largest_radius)
{
    return (double)solver->traits.grain_share * solver_bulk_room(largest_radius);
}
