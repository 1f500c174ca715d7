// SPDX-License-Identifier: GPL-3.0-or-later
// Adding and removing particles, animated parameters, force fields.
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "sim/meso/meso.h"

#include <math.h>
#include <string.h>

double meso_mass(float density, float radius) { return 4.18879020 * (double)(density * radius * radius * radius); }

static GrainResult resize(Meso *meso, int64_t count)
{
    Neighbours *n = &meso->neighbours;
    TRY(neighbours_resize(n, count));
    void *const old[] = {meso->works, meso->notes, meso->records, meso->seen};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) alloc_free(old[i]);
    meso->works = ALLOC_ZEROED(float, MESO_WORKS * n->room);
    meso->notes = ALLOC_ZEROED(MesoNote, n->block_count);
    meso->records = ALLOC_ZEROED(MesoRecord, n->room + 1);
    meso->seen = ALLOC_ZEROED(float, 4 * (n->room + 1));
    if (!meso->works || !meso->notes || !meso->records || !meso->seen) return GRAIN_ERROR_MEMORY;
    meso->records[n->room] = (MesoRecord){.place = {BLOCK_NOWHERE, BLOCK_NOWHERE, BLOCK_NOWHERE}};
    for (int w = 0; w < MESO_WORKS; w++) meso->work[w] = meso->works + w * n->room;
    meso->rows.radius = meso->field[MESO_RADIUS];
    for (int64_t i = count; i < n->room; i++) { // unused lanes
        meso->field[MESO_X][i] = BLOCK_NOWHERE;
        meso->field[MESO_MASS][i] = (float)meso_mass(meso->base.def.density, meso->base.def.largest_radius);
        meso->field[MESO_RADIUS][i] = meso->base.def.largest_radius;
    }
    return GRAIN_OK;
}

static void add(Meso *meso, int64_t first, const Particles *born, const uint8_t *material)
{
    for (int64_t k = 0; k < born->count; k++) {
        int64_t i = first + k;
        float density = solver_material(&meso->base.def, material ? material[k] : 0).density;
        neighbours_start(&meso->neighbours, i, born->position[k], born->velocity[k]);
        meso->field[MESO_MASS][i] = (float)meso_mass(density, born->radius[k]);
        meso->field[MESO_RADIUS][i] = born->radius[k];
        meso->fastest = real_maxf(meso->fastest, vec3_length(born->velocity[k]));
    }
}

GrainResult meso_change(void *state, const SimChange *change)
{
    Meso *meso = state;
    if (change->gone) neighbours_remove(&meso->neighbours, change->gone);
    int64_t kept = meso->neighbours.count, born = change->born ? change->born->count : 0;
    TRY(resize(meso, kept + born));
    if (born > 0) add(meso, kept, change->born, change->material);
    meso->must_list = meso->must_record = 1;
    return GRAIN_OK;
}

// Particles of meso do not sleep.
GrainResult meso_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake)
{
    Meso *meso = state;
    Vec3 gravity = now->gravity;
    (void)wake;
    solver_base_steer(&meso->base, now, grips);
    meso_steer_viscosity(meso, now->viscosity);
    meso->rules.gravity[0] = gravity.x, meso->rules.gravity[1] = gravity.y, meso->rules.gravity[2] = gravity.z;
    return GRAIN_OK;
}

void meso_push(void *state, const Vec3 *acceleration, double seconds)
{
    Meso *meso = state;
    neighbours_push(&meso->neighbours, NULL, acceleration, seconds);
    meso->must_record = 1;
}
