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

// Two octaves of it. Particles that follow each other are mostly in the same cells.
typedef struct Turbulence {
    NoiseCell coarse, fine;
} Turbulence;

static Vec3 turbulence_at(const Field *field, Turbulence *cells, Vec3 p)
{
    float per_metre = 1.0f / real_maxf(field->size, 1e-6f);
    Vec3 at = vec3_scale(p, per_metre);
    uint64_t coarse[3], fine[3];
    for (int axis = 0; axis < 3; axis++)
        coarse[axis] = field->seed * 3 + (uint64_t)axis, fine[axis] = coarse[axis] + 7919;
    Vec3 whole = noise_vector_at(&cells->coarse, coarse, RNG_STREAM_FIELD_NOISE, at);
    Vec3 half = noise_vector_at(&cells->fine, fine, RNG_STREAM_FIELD_NOISE, vec3_scale(at, 2.0f));
    return vec3_add_scaled(whole, half, 0.5f);
}

// --- what it does ---------------------------------------------------------------------------------

static Vec3 act(const FieldMoment *m, Turbulence *cells, Vec3 place, Vec3 velocity, int64_t number)
{
    const Field *field = m->field;
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
    case FIELD_WIND:
        out = vec3_scale(m->axis, strength);
        break;
    case FIELD_VORTEX:
        out =
            vec3_scale(vec3_normalize(vec3_cross(m->axis, from_middle), vec3(0, 0, 0)), strength * vec3_length(apart));
        break;
    case FIELD_TURBULENCE:
        out = vec3_scale(turbulence_at(field, cells, field->is_global ? place : from_middle), strength);
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

void SIMD_NAME(field_act)(const FieldMoment *moment, const Particles *particles, int64_t first_number, int64_t begin,
                          int64_t end, Vec3 *acceleration)
{
    Turbulence cells = {0};
    for (int64_t i = begin; i < end; i++) {
        if (!(particles->radius[i] > 0.0f)) continue;
        Vec3 more = act(moment, &cells, particles->position[i], particles->velocity[i], first_number + i);
        acceleration[i] = vec3_add(acceleration[i], more);
    }
}
