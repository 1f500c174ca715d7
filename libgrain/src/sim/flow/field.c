// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/flow/field.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/flow/field_kernel.h"
#include "sim/rigid/rigid.h"

#include <math.h>
#include <stddef.h>

const char *const field_kind_names[] = {"force", "wind", "vortex", "turbulence", "drag", "harmonic", "charge", NULL};
const char *const field_shape_names[] = {"point", "line", "plane", NULL};
const char *const field_falloff_names[] = {"sphere", "tube", "cone", NULL};
const char *const field_side_names[] = {"both", "positive", "negative", NULL};

// Bodies are numbered from here on: their noise is none of a particle's.
#define BODY_NUMBERS (INT64_C(1) << 48)

static FieldMoment moment_of(const Field *field, double time)
{
    Pose pose = motion_pose(&field->motion, time);
    Vec3d axis = quatd_rotate(pose.facing, vec3d(0, 0, 1));
    double frames = time / field->frame_seconds;
    return (FieldMoment){field, vec3((float)pose.position.x, (float)pose.position.y, (float)pose.position.z),
                         vec3((float)axis.x, (float)axis.y, (float)axis.z), curve_number(&field->strength, frames),
                         (uint64_t)(int64_t)floor(frames + 1e-6)};
}

void fields_add(const Field *fields, int field_count, const Particles *particles, double time, int threads,
                Vec3 *acceleration)
{
    PARALLEL_BLOCKS(threads, block, parallel_block_count(particles->count, PARALLEL_BLOCK))
    {
        int64_t begin = block * PARALLEL_BLOCK, end = parallel_block_end(block, PARALLEL_BLOCK, particles->count);
        for (int f = 0; f < field_count; f++) {
            FieldMoment moment = moment_of(&fields[f], time);
            SIMD_CALL(field_act)(&moment, particles, 0, begin, end, acceleration);
        }
    }
}

void fields_pull_bodies(const Field *fields, int field_count, Rigid *rigid, double time)
{
    for (int b = 0; b < rigid->body_count; b++) {
        const RigidObject *object = &rigid->objects[rigid->bodies[b].object];
        Vec3d at = object->now.position, speed = object->velocity;
        Vec3 place = vec3_from(at), velocity = vec3_from(speed), sum = {0, 0, 0};
        float radius = 1.0f; // a body is never removed
        Particles body = {.count = 1, .position = &place, .velocity = &velocity, .radius = &radius};
        for (int f = 0; f < field_count; f++) {
            FieldMoment moment = moment_of(&fields[f], time);
            SIMD_CALL(field_act)(&moment, &body, BODY_NUMBERS + b, 0, 1, &sum);
        }
        rigid_pull(rigid, b, vec3d_from(sum));
    }
}

float fields_strongest(const Field *fields, int field_count)
{
    float sum = 0.0f;
    for (int f = 0; f < field_count; f++) {
        float least = 0.0f;
        for (int64_t k = 0; k < fields[f].strength.count; k++) least = real_maxf(least, -fields[f].strength.samples[k]);
        least = real_maxf(least, -fields[f].strength.constant[0]);
        if (fields[f].kind != FIELD_DRAG) sum += real_maxf(curve_largest(&fields[f].strength), least) + fields[f].noise;
    }
    return sum;
}
