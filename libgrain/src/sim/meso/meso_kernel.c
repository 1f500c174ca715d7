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

// Counts are constants where it matters, and loops over them vanish.
SIMD_INLINE void kick(Meso *meso, int64_t block, int elastic_count, int viscous_count, int implicit)
{
    const float *x = meso->field[MESO_X], *y = meso->field[MESO_Y], *z = meso->field[MESO_Z];
    const float *u = meso->field[MESO_U], *v = meso->field[MESO_V], *w = meso->field[MESO_W];
    const float *radius = meso->field[MESO_RADIUS];
    const MesoRules *rules = &meso->rules;
    const Block *own = &meso->blocks.block[block];
    int64_t i = block * BLOCK_LANES;
    FloatV xi = simd_load(x + i), yi = simd_load(y + i), zi = simd_load(z + i), ri = simd_load(radius + i);
    FloatV ui = simd_load(u + i), vi = simd_load(v + i), wi = simd_load(w + i),
           inverse = 1.0f / simd_load(meso->field[MESO_MASS] + i);
    FloatV push[3] = {none(), none(), none()}, stiff = none(), thick = none();
    float closest = SAME_PLACE * meso->smallest;
    for (int64_t k = own->list; k < own[1].list; k++) {
        int32_t j = meso->blocks.list[k];
        FloatV dx = xi - x[j], dy = yi - y[j], dz = zi - z[j], sum = ri + radius[j];
        FloatV squared = dx * dx + dy * dy + dz * dz, distance = simd_sqrt(squared);
        FloatV over = 1.0f / simd_max(distance, simd_set1(closest)), along = none(), viscous = none();
        for (int s = 0; s < elastic_count; s++) {
            const SimMesoSegment *e = &rules->law.elastic[s];
            IntV acts = (distance >= e->from * sum) & (distance <= e->to * sum);
            FloatV strength = where(acts, e->strength) * sum;
            along += strength * (e->rest * sum - distance);
            stiff += strength;
        }
        for (int s = 0; s < viscous_count; s++) {
            const SimMesoSegment *e = &rules->law.viscous[s];
            viscous += where((distance >= e->from * sum) & (distance <= e->to * sum), e->strength);
        }
        viscous *= sum;
        thick += viscous;
        if (implicit) {
            simd_store(meso->weight + k * BLOCK_LANES, viscous * over * over);
        } else if (viscous_count > 0) {
            FloatV rate = ((ui - u[j]) * dx + (vi - v[j]) * dy + (wi - w[j]) * dz) * over;
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
    meso->notes[block].stiff = largest(stiff * inverse);
    meso->notes[block].thick = largest(thick * inverse);
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
            FloatV gone = x - simd_load(meso->blocks.listed[axis] + i);
            simd_store(meso->field[MESO_U + axis] + i, v);
            simd_store(meso->field[MESO_X + axis] + i, x);
            speed += v * v, way += gone * gone;
        }
        meso->blocks.block[b].moved = largest(way);
        meso->blocks.block[b].fastest = largest(speed);
    }
}

// --- the implicit solution --------------------------------------------------------------------------

// dt C v of a block, for velocities that stand in three columns.
SIMD_INLINE void resist(const Meso *meso, int64_t block, float *const *velocity, FloatV out[3])
{
    const float *x = meso->field[MESO_X], *y = meso->field[MESO_Y], *z = meso->field[MESO_Z];
    const float *u = velocity[0], *v = velocity[1], *w = velocity[2];
    const Block *own = &meso->blocks.block[block];
    int64_t i = block * BLOCK_LANES;
    FloatV xi = simd_load(x + i), yi = simd_load(y + i), zi = simd_load(z + i);
    FloatV ui = simd_load(u + i), vi = simd_load(v + i), wi = simd_load(w + i), sum[3] = {none(), none(), none()};
    for (int64_t k = own->list; k < own[1].list; k++) {
        int32_t j = meso->blocks.list[k];
        FloatV dx = xi - x[j], dy = yi - y[j], dz = zi - z[j];
        FloatV along =
            ((ui - u[j]) * dx + (vi - v[j]) * dy + (wi - w[j]) * dz) * simd_load(meso->weight + k * BLOCK_LANES);
        sum[0] += along * dx, sum[1] += along * dy, sum[2] += along * dz;
    }
    for (int c = 0; c < 3; c++) out[c] = sum[c] * meso->rules.dt;
}

void SIMD_NAME(meso_viscous_begin)(Meso *meso, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) {
        int64_t i = b * BLOCK_LANES;
        FloatV mass = simd_load(meso->field[MESO_MASS] + i), drag[3], moving = none(), changed = none();
        resist(meso, b, meso->work + MESO_NEXT_U, drag);
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
        resist(meso, b, meso->work + MESO_ALONG_U, drag);
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
    }
}
