// SPDX-License-Identifier: GPL-3.0-or-later
// Forces, motion and the passes of the implicit solution, eight particles at a time.
#define SIMD_FIXED_LANES 8
#include "sim/meso/meso.h"

// Part of a radius: those closer have no line of centres.
#define SAME_PLACE 1e-6f

SIMD_INLINE FloatV none(void) { return simd_set1(0.0f); }

static float largest(FloatV v)
{
    float most = v[0];
    for (int lane = 1; lane < SIMD_LANES; lane++) most = v[lane] > most ? v[lane] : most;
    return most;
}

static double sum_of(FloatV v)
{
    double sum = 0.0;
    for (int lane = 0; lane < SIMD_LANES; lane++) sum += (double)v[lane];
    return sum;
}

SIMD_INLINE FloatV where(IntV mask, float value) { return (FloatV)(mask & (IntV)simd_set1(value)); }

// What a row of eight particles is seen as: place and radius, or what stands in `seen`.
SIMD_INLINE void see_places(const Meso *meso, const int32_t *row, FloatV out[4])
{
    simd_load_records(meso->records[0].place, MESO_RECORD_FLOATS, row, out);
}
SIMD_INLINE void see_velocities(const Meso *meso, const int32_t *row, FloatV out[4])
{
    simd_load_records(meso->records[0].velocity, MESO_RECORD_FLOATS, row, out);
}

// Side by side, eight records make eight vectors of eight.
SIMD_INLINE void write_records(const Meso *meso, int64_t i)
{
    float halves[2][BLOCK_LANES][4] __attribute__((aligned(64)));
    simd_store_records(halves[0][0], simd_load(meso->field[MESO_X] + i), simd_load(meso->field[MESO_Y] + i),
                       simd_load(meso->field[MESO_Z] + i), simd_load(meso->field[MESO_RADIUS] + i));
    simd_store_records(halves[1][0], simd_load(meso->field[MESO_U] + i), simd_load(meso->field[MESO_V] + i),
                       simd_load(meso->field[MESO_W] + i), simd_load(meso->field[MESO_MASS] + i));
    for (int lane = 0; lane < BLOCK_LANES; lane++) {
        memcpy(meso->records[i + lane].place, halves[0][lane], sizeof halves[0][lane]);
        memcpy(meso->records[i + lane].velocity, halves[1][lane], sizeof halves[1][lane]);
    }
}

void SIMD_NAME(meso_record)(Meso *meso, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) write_records(meso, b * BLOCK_LANES);
}

// Counts are constants where it matters, and loops over them vanish.
SIMD_INLINE void kick(Meso *meso, int64_t block, int elastic_count, int viscous_count, int implicit)
{
    const MesoRules *rules = &meso->rules;
    const Block *own = &meso->neighbours.block[block];
    int64_t i = block * BLOCK_LANES;
    FloatV xi = simd_load(meso->field[MESO_X] + i), yi = simd_load(meso->field[MESO_Y] + i),
           zi = simd_load(meso->field[MESO_Z] + i), ri = simd_load(meso->field[MESO_RADIUS] + i);
    FloatV ui = simd_load(meso->field[MESO_U] + i), vi = simd_load(meso->field[MESO_V] + i),
           wi = simd_load(meso->field[MESO_W] + i), inverse = 1.0f / simd_load(meso->field[MESO_MASS] + i);
    FloatV push[3] = {none(), none(), none()}, springs = none(), dampers = none();
    float closest = SAME_PLACE * meso->smallest;
    for (int64_t k = own->list; k < own->list_end; k++) {
        const int32_t *row = meso->rows.list + k * BLOCK_LANES;
        FloatV other[4];
        see_places(meso, row, other);
        FloatV dx = xi - other[0], dy = yi - other[1], dz = zi - other[2], sum = ri + other[3];
        FloatV squared = dx * dx + dy * dy + dz * dz, distance = simd_sqrt(squared);
        FloatV over = 1.0f / simd_max(distance, simd_set1(closest)), along = none(), viscous = none();
        for (int s = 0; s < elastic_count; s++) {
            const SimMesoSegment *e = &rules->law.elastic[s];
            IntV acts = (distance >= e->from * sum) & (distance <= e->to * sum);
            FloatV strength = where(acts, e->strength) * sum;
            along += strength * (e->rest * sum - distance);
            springs += strength;
        }
        for (int s = 0; s < viscous_count; s++) {
            const SimMesoSegment *e = &rules->law.viscous[s];
            viscous += where((distance >= e->from * sum) & (distance <= e->to * sum), e->strength);
        }
        viscous *= sum;
        dampers += viscous;
        if (implicit) {
            simd_store(meso->weight + k * BLOCK_LANES, viscous * over * over);
        } else if (viscous_count > 0) {
            see_velocities(meso, row, other);
            FloatV rate = ((ui - other[0]) * dx + (vi - other[1]) * dy + (wi - other[2]) * dz) * over;
            along -= viscous * rate;
        }
        along *= over;
        push[0] += along * dx, push[1] += along * dy, push[2] += along * dz;
    }
    const FloatV before[3] = {ui, vi, wi};
    float slowed = 1.0f / (1.0f + rules->law.ambient * rules->dt);
    for (int c = 0; c < 3; c++)
        simd_store(meso->work[MESO_NEXT_U + c] + i,
                   slowed * (before[c] + rules->dt * (push[c] * inverse + rules->gravity[c])));
    meso->notes[block].spring_rate = largest(springs * inverse);
    meso->notes[block].damping_rate = largest(dampers * inverse);
}

void SIMD_NAME(meso_kick)(Meso *meso, int64_t first, int64_t last)
{
    const MesoRules *rules = &meso->rules;
    int is_simple = rules->law.elastic_count <= 1 && rules->law.viscous_count <= 1;
    for (int64_t b = first; b < last; b++) {
        if (rules->implicit)
            kick(meso, b, rules->law.elastic_count, rules->law.viscous_count, 1);
        else if (is_simple && rules->law.viscous_count == 0)
            kick(meso, b, 1, 0, 0); // where there is none, its strength is 0
        else if (is_simple)
            kick(meso, b, 1, 1, 0);
        else
            kick(meso, b, rules->law.elastic_count, rules->law.viscous_count, 0);
    }
}

void SIMD_NAME(meso_drift)(Meso *meso, int64_t first, int64_t last)
{
    const MesoRules *rules = &meso->rules;
    for (int64_t b = first; b < last; b++) {
        int64_t i = b * BLOCK_LANES;
        FloatV speed = none(), way = none();
        for (int axis = 0; axis < 3; axis++) {
            FloatV v = simd_load(meso->work[MESO_NEXT_U + axis] + i);
            FloatV x = simd_load(meso->field[MESO_X + axis] + i) + rules->dt * v;
            FloatV gone = x - simd_load(meso->neighbours.listed[axis] + i);
            simd_store(meso->field[MESO_U + axis] + i, v);
            simd_store(meso->field[MESO_X + axis] + i, x);
            speed += v * v, way += gone * gone;
        }
        write_records(meso, i);
        meso->neighbours.block[b].moved = largest(way);
        meso->neighbours.block[b].fastest = largest(speed);
    }
}

// --- the implicit solution --------------------------------------------------------------------------

// Velocities for neighbours to look at.
SIMD_INLINE void show(const Meso *meso, int64_t i, float *const *velocity)
{
    simd_store_records(meso->seen + 4 * i, simd_load(velocity[0] + i), simd_load(velocity[1] + i),
                       simd_load(velocity[2] + i), none());
}

void SIMD_NAME(meso_viscous_show)(Meso *meso, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) show(meso, b * BLOCK_LANES, meso->work + MESO_NEXT_U);
}

// dt C v of a block, for the velocities that are shown. Places are those the weights were found for.
SIMD_INLINE void resist(const Meso *meso, int64_t block, FloatV out[3])
{
    const Block *own = &meso->neighbours.block[block];
    int64_t i = block * BLOCK_LANES;
    int32_t itself[BLOCK_LANES];
    for (int lane = 0; lane < BLOCK_LANES; lane++) itself[lane] = (int32_t)i + lane;
    FloatV here[4], self[4], sum[3] = {none(), none(), none()};
    see_places(meso, itself, here);
    simd_load_records(meso->seen, 4, itself, self);
    for (int64_t k = own->list; k < own->list_end; k++) {
        const int32_t *row = meso->rows.list + k * BLOCK_LANES;
        FloatV there[4], other[4];
        see_places(meso, row, there);
        simd_load_records(meso->seen, 4, row, other);
        FloatV dx = here[0] - there[0], dy = here[1] - there[1], dz = here[2] - there[2];
        FloatV along = ((self[0] - other[0]) * dx + (self[1] - other[1]) * dy + (self[2] - other[2]) * dz) *
                       simd_load(meso->weight + k * BLOCK_LANES);
        sum[0] += along * dx, sum[1] += along * dy, sum[2] += along * dz;
    }
    for (int c = 0; c < 3; c++) out[c] = sum[c] * meso->rules.dt;
}

void SIMD_NAME(meso_viscous_begin)(Meso *meso, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) {
        int64_t i = b * BLOCK_LANES;
        FloatV mass = simd_load(meso->field[MESO_MASS] + i), drag[3], moving = none(), changed = none();
        resist(meso, b, drag);
        for (int c = 0; c < 3; c++) {
            FloatV v = simd_load(meso->work[MESO_NEXT_U + c] + i), change = v - simd_load(meso->field[MESO_U + c] + i);
            simd_store(meso->work[MESO_LEFT_U + c] + i, -drag[c]);
            moving += mass * v * v, changed += mass * change * change;
        }
        meso->notes[b].second = sum_of(moving);
        meso->notes[b].third = sum_of(changed);
    }
}

void SIMD_NAME(meso_viscous_image)(Meso *meso, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) {
        int64_t i = b * BLOCK_LANES;
        FloatV mass = simd_load(meso->field[MESO_MASS] + i), drag[3], sum = none();
        resist(meso, b, drag);
        for (int c = 0; c < 3; c++) {
            FloatV along = simd_load(meso->work[MESO_ALONG_U + c] + i), image = mass * along + drag[c];
            simd_store(meso->work[MESO_IMAGE_U + c] + i, image);
            sum += image * along;
        }
        meso->notes[b].first = sum_of(sum);
    }
}

void SIMD_NAME(meso_viscous_go)(Meso *meso, int64_t first, int64_t last, float way)
{
    for (int64_t b = first; b < last; b++) {
        int64_t i = b * BLOCK_LANES;
        for (int c = 0; c < 3; c++) {
            FloatV left =
                simd_load(meso->work[MESO_LEFT_U + c] + i) - way * simd_load(meso->work[MESO_IMAGE_U + c] + i);
            FloatV v = simd_load(meso->work[MESO_NEXT_U + c] + i) + way * simd_load(meso->work[MESO_ALONG_U + c] + i);
            simd_store(meso->work[MESO_LEFT_U + c] + i, left);
            simd_store(meso->work[MESO_NEXT_U + c] + i, v);
        }
    }
}

void SIMD_NAME(meso_viscous_left)(Meso *meso, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) {
        int64_t i = b * BLOCK_LANES;
        FloatV missing = none();
        for (int c = 0; c < 3; c++) {
            FloatV left = simd_load(meso->work[MESO_LEFT_U + c] + i);
            missing += left * left;
        }
        meso->notes[b].first = sum_of(missing / simd_load(meso->field[MESO_MASS] + i));
    }
}

void SIMD_NAME(meso_viscous_turn)(Meso *meso, int64_t first, int64_t last, float kept)
{
    for (int64_t i = first * BLOCK_LANES; i < last * BLOCK_LANES; i += BLOCK_LANES) {
        FloatV mass = simd_load(meso->field[MESO_MASS] + i);
        for (int c = 0; c < 3; c++)
            simd_store(meso->work[MESO_ALONG_U + c] + i, simd_load(meso->work[MESO_LEFT_U + c] + i) / mass +
                                                             kept * simd_load(meso->work[MESO_ALONG_U + c] + i));
        show(meso, i, meso->work + MESO_ALONG_U);
    }
}
