// SPDX-License-Identifier: GPL-3.0-or-later
// Particles that come and go.
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "sim/meso/meso.h"

#include <math.h>
#include <string.h>

// Fewer particles than this are not worth another thread.
#define PARTICLES_PER_THREAD 500

double meso_mass(float density, float radius) { return 4.18879020 * (double)(density * radius * radius * radius); }

static void remove_gone(Meso *meso, const uint8_t *gone)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < meso->neighbours.count; i++) {
        if (gone[meso->neighbours.id[i]]) continue;
        for (int f = 0; f < MESO_FIELDS; f++) meso->field[f][kept] = meso->field[f][i];
        meso->neighbours.id[kept++] = meso->neighbours.id[i];
    }
    meso->neighbours.count = kept;
}

static GrainResult resize(Meso *meso, int64_t count)
{
    Neighbours *neighbours = &meso->neighbours;
    int64_t kept = neighbours->count, useful = 1 + count / PARTICLES_PER_THREAD;
    TRY(neighbours_resize(neighbours, count, useful < meso->most_threads ? (int)useful : meso->most_threads));
    float *fields = ALLOC_ZEROED(float, MESO_FIELDS * neighbours->room);
    if (!fields) return GRAIN_ERROR_MEMORY;
    for (int f = 0; f < MESO_FIELDS; f++) {
        if (kept > 0) memcpy(fields + f * neighbours->room, meso->field[f], (size_t)kept * sizeof(float));
        meso->field[f] = fields + f * neighbours->room;
    }
    alloc_free(meso->fields), alloc_free(meso->works), alloc_free(meso->notes);
    alloc_free(meso->records), alloc_free(meso->seen);
    meso->fields = fields;
    meso->works = ALLOC_ZEROED(float, MESO_WORKS * neighbours->room);
    meso->notes = ALLOC_ZEROED(MesoNote, neighbours->block_count);
    meso->records = ALLOC_ZEROED(MesoRecord, neighbours->room + 1);
    meso->seen = ALLOC_ZEROED(float, 4 * (neighbours->room + 1));
    if (!meso->works || !meso->notes || !meso->records || !meso->seen) return GRAIN_ERROR_MEMORY;
    meso->records[neighbours->room] = (MesoRecord){.place = {BLOCK_NOWHERE, BLOCK_NOWHERE, BLOCK_NOWHERE}};
    for (int w = 0; w < MESO_WORKS; w++) meso->work[w] = meso->works + w * neighbours->room;
    for (int axis = 0; axis < 3; axis++) neighbours->place[axis] = meso->field[MESO_X + axis];
    neighbours->radius = meso->field[MESO_RADIUS];
    for (int64_t i = count; i < neighbours->room; i++) { // lanes of no particle
        meso->field[MESO_X][i] = BLOCK_NOWHERE;
        meso->field[MESO_MASS][i] = (float)meso_mass(meso->def.density, meso->def.largest_radius);
        meso->field[MESO_RADIUS][i] = meso->def.largest_radius;
    }
    return GRAIN_OK;
}

static void add(Meso *meso, int64_t first, const Particles *born, const uint8_t *material)
{
    const SimDef *def = &meso->def;
    for (int64_t k = 0; k < born->count; k++) {
        int64_t i = first + k;
        int kind = material ? material[k] : 0;
        float density = kind > 0 ? def->more_materials[kind - 1].density : def->density;
        Vec3 place = born->position[k], speed = born->velocity[k];
        meso->field[MESO_X][i] = (float)((double)place.x - meso->neighbours.origin[0]);
        meso->field[MESO_Y][i] = (float)((double)place.y - meso->neighbours.origin[1]);
        meso->field[MESO_Z][i] = (float)((double)place.z - meso->neighbours.origin[2]);
        meso->field[MESO_U][i] = speed.x, meso->field[MESO_V][i] = speed.y, meso->field[MESO_W][i] = speed.z;
        meso->field[MESO_MASS][i] = (float)meso_mass(density, born->radius[k]);
        meso->field[MESO_RADIUS][i] = born->radius[k];
        meso->fastest = real_maxf(meso->fastest, vec3_length(speed));
        meso->neighbours.id[i] = (int32_t)meso->born++;
    }
}

GrainResult meso_change(void *state, const SimChange *change)
{
    Meso *meso = state;
    if (change->gone) remove_gone(meso, change->gone);
    int64_t kept = meso->neighbours.count, born = change->born ? change->born->count : 0;
    TRY(resize(meso, kept + born));
    if (born > 0) add(meso, kept, change->born, change->material);
    meso->must_list = meso->must_record = 1;
    return GRAIN_OK;
}

// Nobody sleeps here.
GrainResult meso_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake)
{
    Meso *meso = state;
    Vec3 gravity = now->gravity;
    (void)wake;
    meso_steer_viscosity(meso, now->viscosity);
    if (grips) rigid_steer(meso->rigid, grips);
    meso->def.gravity = meso->rigid->def.gravity = gravity;
    meso->rules.gravity[0] = gravity.x, meso->rules.gravity[1] = gravity.y, meso->rules.gravity[2] = gravity.z;
    return GRAIN_OK;
}

void meso_push(void *state, const Vec3 *acceleration, double seconds)
{
    Meso *meso = state;
    float dt = (float)seconds;
    for (int64_t i = 0; i < meso->neighbours.count; i++) {
        Vec3 a = acceleration[meso->neighbours.id[i]];
        meso->field[MESO_U][i] += a.x * dt, meso->field[MESO_V][i] += a.y * dt, meso->field[MESO_W][i] += a.z * dt;
    }
    meso->must_record = 1;
}
