// SPDX-License-Identifier: GPL-3.0-or-later
// Plain C: of the instruction sets it is the noise that gains, whose eight corners become one vector.
#include "sim/flow/field_kernel.h"
#include "base/noise.h"
#include "base/real.h"

#include <math.h>

// --- how far --------------------------------------------------------------------------------------

// 1 at any distance, which then need not be known.
static int is_everywhere(const FieldRange *range)
{
    return !(range->farthest >= 0.0f) && !(range->nearest >= 0.0f) && !(range->power > 0.0f);
}

static float fade(const FieldRange *range, float distance)
{
    if (range->farthest >= 0.0f && distance > range->farthest) return 0.0f;
    if (range->nearest >= 0.0f && distance < range->nearest) return 1.0f;
    float over = distance - real_maxf(range->nearest, 0.0f);
    return range->power > 0.0f ? real_powf(1.0f + over, -range->power) : 1.0f;
}

static float falloff_of(const FieldMoment *m, Vec3 from_middle, Vec3 apart)
{
    const Field *field = m->field;
    float height = vec3_dot(from_middle, m->axis);
    if (field->side == FIELD_POSITIVE && height < 0.0f) return 0.0f;
    if (field->side == FIELD_NEGATIVE && height > 0.0f) return 0.0f;
    if (field->falloff == FIELD_SPHERE)
        return is_everywhere(&field->range) ? 1.0f : fade(&field->range, vec3_length(apart));
    float across = vec3_length(vec3_add_scaled(from_middle, m->axis, -height));
    if (field->falloff == FIELD_CONE) across = real_atan2f(across, fabsf(height)) * 57.29578f;
    return fade(&field->range, fabsf(height)) * fade(&field->radial, across);
}

// --- turbulence -----------------------------------------------------------------------------------

// Two octaves of it. Particles that follow each other are mostly in the same cells, and then looked up together.
typedef struct Turbulence {
    NoiseCells coarse, fine;
    uint64_t coarse_seed[3], fine_seed[3];
    float per_metre;
    int64_t ready_from, ready_to; // particles whose noise is known
    float ready[3][NOISE_LANES];
} Turbulence;

static Turbulence turbulence_of(const Field *field)
{
    Turbulence t = {.per_metre = 1.0f / real_maxf(field->size, 1e-6f)};
    for (int axis = 0; axis < 3; axis++) {
        t.coarse_seed[axis] = field->seed * 3 + (uint64_t)axis;
        t.fine_seed[axis] = t.coarse_seed[axis] + 7919;
    }
    return t;
}

static Vec3 noise_place(const FieldMoment *m, const Turbulence *t, Vec3 place)
{
    return vec3_scale(m->field->is_global ? place : vec3_sub(place, m->place), t->per_metre);
}

// Of the particles from i on that are in one fine cell, which are in one coarse cell too.
static void look_ahead(const FieldMoment *m, Turbulence *t, const Vec3 *place, int64_t i, int64_t end)
{
    float whole[3][NOISE_LANES], half[3][NOISE_LANES], low[3], fine[3][NOISE_LANES];
    for (int l = 0; l < NOISE_LANES; l++) {
        Vec3 at = noise_place(m, t, place[i + l < end ? i + l : i]);
        whole[0][l] = at.x, whole[1][l] = at.y, whole[2][l] = at.z;
    }
    for (int axis = 0; axis < 3; axis++)
        for (int l = 0; l < NOISE_LANES; l++) half[axis][l] = whole[axis][l] * 2.0f;
    t->ready_from = i;
    t->ready_to = i + noise_in_one_cell(half, low);
    noise_vectors_at(&t->fine, t->fine_seed, RNG_STREAM_FIELD_NOISE, low, half, fine);
    for (int axis = 0; axis < 3; axis++) low[axis] = noise_floor(low[axis] * 0.5f);
    noise_vectors_at(&t->coarse, t->coarse_seed, RNG_STREAM_FIELD_NOISE, low, whole, t->ready);
    for (int axis = 0; axis < 3; axis++)
        for (int l = 0; l < NOISE_LANES; l++) t->ready[axis][l] = t->ready[axis][l] + fine[axis][l] * 0.5f;
}

static Vec3 turbulence_at(const Turbulence *t, int64_t i)
{
    int64_t l = i - t->ready_from;
    return vec3(t->ready[0][l], t->ready[1][l], t->ready[2][l]);
}

// --- what it does ---------------------------------------------------------------------------------

// way: the axis, or what turbulence has there.
static Vec3 act(const FieldMoment *m, Vec3 way, const Particles *particles, int64_t i, int64_t number)
{
    const Field *field = m->field;
    Vec3 place = particles->position[i], velocity = particles->velocity[i];
    Vec3 from_middle = vec3_sub(place, m->place), apart = from_middle, out = {0, 0, 0};
    float height = vec3_dot(from_middle, m->axis), strength = m->strength;
    if (field->shape == FIELD_LINE) apart = vec3_add_scaled(from_middle, m->axis, -height);
    if (field->shape == FIELD_PLANE) apart = vec3_scale(m->axis, height);
    float falloff = falloff_of(m, from_middle, apart);
    if (!(falloff > 0.0f)) return out;
    if (field->noise > 0.0f)
        strength +=
            0.5f * field->noise *
            rng_signed(rng_at(field->seed, (uint64_t)number, RNG_STREAM_FIELD_NOISE, (uint32_t)m->frame).word[3]);
    switch (field->kind) {
    case FIELD_FORCE:
        out = vec3_scale(vec3_normalize(apart, vec3(0, 0, 0)), strength);
        break;
    case FIELD_VORTEX:
        out =
            vec3_scale(vec3_normalize(vec3_cross(m->axis, from_middle), vec3(0, 0, 0)), strength * vec3_length(apart));
        break;
    case FIELD_WIND:
    case FIELD_TURBULENCE:
        out = vec3_scale(way, strength);
        break;
    case FIELD_DRAG:
        out = vec3_scale(velocity,
                         -(real_minf(strength, 2.0f) * vec3_length(velocity) + real_minf(field->linear_drag, 2.0f)));
        break;
    case FIELD_HARMONIC:
        out = vec3_scale(vec3_normalize(apart, vec3(0, 0, 0)), -strength * (vec3_length(apart) - field->rest_length));
        out = vec3_add_scaled(out, velocity, -2.0f * field->linear_drag * sqrtf(fabsf(strength)));
        break;
    case FIELD_CHARGE:
        out = vec3_scale(apart, strength);
        break;
    }
    out = vec3_scale(out, falloff);
    int slows = field->kind != FIELD_DRAG && field->kind != FIELD_HARMONIC;
    return slows && field->flow != 0.0f ? vec3_add_scaled(out, velocity, -field->flow * falloff) : out;
}

// Wind and turbulence that are the same at any distance, on everything: most that are.
static int is_even(const Field *field)
{
    int is_endless = is_everywhere(&field->range) && (field->falloff == FIELD_SPHERE || is_everywhere(&field->radial));
    return (field->kind == FIELD_WIND || field->kind == FIELD_TURBULENCE) && is_endless && field->side == FIELD_BOTH &&
           !(field->noise > 0.0f) && field->flow == 0.0f;
}

void SIMD_NAME(field_act)(const FieldMoment *moment, const Particles *particles, int64_t first_number, int64_t begin,
                          int64_t end, Vec3 *acceleration)
{
    Turbulence turbulence = turbulence_of(moment->field);
    int is_turbulence = moment->field->kind == FIELD_TURBULENCE, is_same = is_even(moment->field);
    Vec3 way = moment->axis;
    for (int64_t i = begin; i < end; i++) {
        if (!(particles->radius[i] > 0.0f)) continue;
        if (is_turbulence && i >= turbulence.ready_to) look_ahead(moment, &turbulence, particles->position, i, end);
        if (is_turbulence) way = turbulence_at(&turbulence, i);
        Vec3 more = is_same ? vec3_scale(way, moment->strength) : act(moment, way, particles, i, first_number + i);
        acceleration[i] = vec3_add(acceleration[i], more);
    }
}
