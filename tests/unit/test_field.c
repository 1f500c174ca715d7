// SPDX-License-Identifier: GPL-3.0-or-later
// Force fields: the same bits by any instruction set and any number of threads.
#include "base/rng.h"
#include "base/simd.h"
#include "sim/flow/field.h"
#include "unit/test.h"

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
