// SPDX-License-Identifier: GPL-3.0-or-later
// Force fields: the same bits by any instruction set and any number of threads; how fast they are expected to throw.
#include "base/rng.h"
#include "base/simd.h"
#include "sim/flow/field.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

enum { COUNT = 5000, KINDS = FIELD_CHARGE + 1 };

typedef struct Scattered {
    Vec3 position[COUNT], velocity[COUNT];
    float radius[COUNT];
} Scattered;

static Field field_of(int kind)
{
    static const float pose[7] = {0.1f, -0.2f, 0.3f, 0.8f, 0.6f, 0, 0};
    Field field = {.kind = (FieldKind)kind,
                   .shape = (FieldShape)(kind % 3),
                   .falloff = (FieldFalloff)(kind % 3),
                   .range = {kind % 2 ? 1.5f : 0.0f, kind % 2 ? 0.2f : -1.0f, -1.0f},
                   .radial = {0.5f, 0.1f, 40.0f},
                   .flow = 0.1f,
                   .noise = kind % 2 ? 0.3f : 0.0f,
                   .size = 0.4f,
                   .linear_drag = 0.2f,
                   .rest_length = 0.3f,
                   .seed = 7,
                   .frame_seconds = 1.0 / 24.0};
    field.strength.constant[0] = 2.0f;
    field.motion = (Motion){.kind = MOTION_POSES, .samples = pose, .sample_count = 1, .period = 1.0};
    return field;
}

static void accelerate(const Field *fields, const Particles *particles, int threads, Vec3 *out)
{
    memset(out, 0, COUNT * sizeof *out);
    fields_add(fields, KINDS, particles, 0.1, threads, out);
}

TEST(fields_have_the_same_bits_by_any_instructions_and_threads)
{
    static Scattered scattered;
    static Vec3 expected[COUNT], other[COUNT];
    Field fields[KINDS];
    for (int kind = 0; kind < KINDS; kind++) fields[kind] = field_of(kind);
    for (int i = 0; i < COUNT; i++) {
        Rng4 r = rng_at(3, (uint64_t)i, RNG_STREAM_TEST, 0), s = rng_at(3, (uint64_t)i, RNG_STREAM_TEST, 1);
        scattered.position[i] = vec3(rng_signed(r.word[0]), rng_signed(r.word[1]), rng_signed(r.word[2]));
        scattered.velocity[i] = vec3(rng_signed(s.word[0]), rng_signed(s.word[1]), rng_signed(s.word[2]));
        scattered.radius[i] = i % 50 ? 0.01f : 0.0f;
    }
    Particles particles = {
        .count = COUNT, .position = scattered.position, .velocity = scattered.velocity, .radius = scattered.radius};
    accelerate(fields, &particles, 1, expected);
    int64_t moved = 0;
    for (int i = 0; i < COUNT; i++) moved += vec3_length(expected[i]) > 0.0f;
    ENSURE(moved == COUNT - COUNT / 50); // all but those that were removed
    accelerate(fields, &particles, 3, other);
    ENSURE(memcmp(other, expected, sizeof other) == 0);
    SimdSet best = simd_set();
    for (int set = SIMD_BASE; set < (int)best; set++) {
        simd_limit((SimdSet)set);
        accelerate(fields, &particles, 2, other);
        simd_limit(best);
        ENSURE(memcmp(other, expected, sizeof other) == 0);
    }
}

// --- expected speed -------------------------------------------------------------------------------

static const FieldRange everywhere = {0.0f, -1.0f, -1.0f};

static Field endless_field(int kind, float strength)
{
    Field field = field_of(kind);
    field.range = field.radial = everywhere;
    field.noise = field.flow = field.linear_drag = field.rest_length = 0.0f;
    field.strength.constant[0] = strength;
    return field;
}

static float fastest_of(const Field *field) { return fields_fastest(field, 1); }

TEST(fields_without_end_throw_as_after_half_a_second)
{
    Field fields[2 * KINDS];
    float sum = 0.0f;
    for (int i = 0; i < 2 * KINDS; i++) {
        fields[i] = endless_field(i % KINDS, i < KINDS ? 3.0f : -1e4f);
        fields[i].noise = 0.5f;
        // One that fades slowly, and one that is cut off along the axis only, go on for ever as well.
        if (i % 3 == 1) fields[i].range.power = fields[i].radial.power = 0.5f;
        float wanted = i % KINDS == FIELD_DRAG ? 0.0f : 0.5f * (i < KINDS ? 3.5f : 1e4f + 0.5f);
        ENSURE(fastest_of(&fields[i]) == wanted);
        sum += wanted;
    }
    ENSURE_NEAR(fields_fastest(fields, 2 * KINDS), sum, 1e-6f * sum);
    const float samples[3] = {1.0f, -40.0f, 20.0f}; // keyed
    Field keyed = endless_field(FIELD_WIND, 0.0f);
    keyed.strength.samples = samples, keyed.strength.count = 3, keyed.strength.components = 1;
    ENSURE(fastest_of(&keyed) == 20.0f);
}

TEST(fields_of_short_reach_throw_no_faster_than_their_work)
{
    Field spring = endless_field(FIELD_HARMONIC, 1e4f);
    spring.shape = FIELD_POINT, spring.falloff = FIELD_SPHERE, spring.range.farthest = 0.008f;
    float speed = fastest_of(&spring);
    ENSURE(speed >= 0.8f && speed <= 2.0f); // 0.8 m/s from the rim to the middle
    Field cut[] = {endless_field(FIELD_FORCE, 1e4f), endless_field(FIELD_WIND, 1e4f), endless_field(FIELD_VORTEX, 1e4f),
                   endless_field(FIELD_CHARGE, -1e4f)};
    const float least[] = {12.6f, 17.8f, 1.0f, 0.8f}; // over 8 mm, or 16 across; of the vortex that of its spiral
    for (int i = 0; i < 4; i++) {
        cut[i].shape = FIELD_POINT, cut[i].falloff = FIELD_SPHERE, cut[i].range.farthest = 0.008f;
        speed = fastest_of(&cut[i]);
        ENSURE(speed >= least[i] - 0.2f && speed < 2.5f * least[i]);
    }
    // Fading alone: 1 m at full strength is what (1 + d)^-2 adds up to.
    Field fading = endless_field(FIELD_FORCE, 1e4f);
    fading.shape = FIELD_POINT, fading.falloff = FIELD_SPHERE, fading.range.power = 2.0f;
    speed = fastest_of(&fading);
    ENSURE(speed >= 141.0f && speed <= 201.0f);
    // A weak one is what it was.
    fading.strength.constant[0] = 10.0f;
    ENSURE(fastest_of(&fading) == 5.0f);
}

TEST(fields_that_end_in_one_direction_only_go_on_for_ever)
{
    static const float turning[14] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0},
                       passing[14] = {0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0};
    Field wind = endless_field(FIELD_WIND, 1e3f);
    wind.shape = FIELD_POINT, wind.falloff = FIELD_TUBE, wind.radial.farthest = 0.01f; // a jet
    ENSURE(fastest_of(&wind) == 500.0f);
    wind.range.farthest = 0.01f;
    ENSURE(fastest_of(&wind) < 10.0f);
    wind.motion.samples = turning, wind.motion.sample_count = 2; // sweeps round
    ENSURE(fastest_of(&wind) == 500.0f);
    wind.motion.samples = passing; // 10 m in a period of 1 s; a curve through the samples is faster in places
    ENSURE(fastest_of(&wind) > 20.0f && fastest_of(&wind) < 45.0f);
    Field push = endless_field(FIELD_FORCE, 1e3f);
    push.falloff = FIELD_SPHERE, push.shape = FIELD_LINE, push.range.farthest = 0.01f;
    ENSURE(fastest_of(&push) < 10.0f);
    push.kind = FIELD_WIND; // along the line
    ENSURE(fastest_of(&push) == 500.0f);
    push.shape = FIELD_PLANE;
    ENSURE(fastest_of(&push) < 10.0f);
    push.kind = FIELD_TURBULENCE; // along the plane
    ENSURE(fastest_of(&push) == 500.0f);
    push.kind = FIELD_WIND, push.falloff = FIELD_CONE, push.radial.farthest = 30.0f;
    ENSURE(fastest_of(&push) < 10.0f);
    push.kind = FIELD_VORTEX, push.shape = FIELD_LINE;
    ENSURE(fastest_of(&push) < 10.0f);
    push.radial.farthest = 90.0f;
    ENSURE(fastest_of(&push) == 500.0f);
}

// Free particles, from rest at all places, in fields of all kinds and shapes that end within centimetres.
TEST(nothing_at_rest_is_thrown_faster_than_expected)
{
    enum { FREE = 64, STEPS = 4000 };
    const float step = 2e-5f;
    for (int trial = 0; trial < KINDS * 9; trial++) {
        Field field = endless_field(trial % KINDS, trial % 2 ? -3e3f : 3e3f);
        field.shape = (FieldShape)(trial / KINDS % 3), field.falloff = (FieldFalloff)(trial / KINDS / 3);
        field.range.farthest = 0.02f, field.radial.farthest = field.falloff == FIELD_CONE ? 50.0f : 0.03f;
        field.rest_length = trial % 4 ? 0.0f : 0.015f;
        field.size = 0.01f;
        float fastest = 0.0f, expected = fastest_of(&field);
        if (field.kind == FIELD_DRAG || expected == 0.5f * 3e3f) continue; // not limited by its reach
        static Vec3 place[FREE], velocity[FREE], acceleration[FREE];
        static float radius[FREE];
        Particles particles = {.count = FREE, .position = place, .velocity = velocity, .radius = radius};
        for (int i = 0; i < FREE; i++) {
            Rng4 r = rng_at(5, (uint64_t)(trial * FREE + i), RNG_STREAM_TEST, 0);
            place[i] = vec3(0.1f + 0.03f * rng_signed(r.word[0]), -0.2f + 0.03f * rng_signed(r.word[1]),
                            0.3f + 0.03f * rng_signed(r.word[2]));
            velocity[i] = vec3(0, 0, 0), radius[i] = 0.001f;
        }
        for (int k = 0; k < STEPS; k++) {
            memset(acceleration, 0, sizeof acceleration);
            fields_add(&field, 1, &particles, 0.0, 1, acceleration);
            for (int i = 0; i < FREE; i++) {
                velocity[i] = vec3_add_scaled(velocity[i], acceleration[i], step);
                place[i] = vec3_add_scaled(place[i], velocity[i], step);
                fastest = fmaxf(fastest, vec3_length(velocity[i]));
            }
        }
        ENSURE(fastest > 0.2f * expected && fastest < 1.001f * expected); // measured: 0.26 to 1.00
    }
}
