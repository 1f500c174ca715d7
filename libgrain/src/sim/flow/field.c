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

// --- how fast -------------------------------------------------------------------------------------

// s: what a field throws flies as after this time in it, unless it is out of the field's reach before.
#define THROWN_FOR 0.5f

// How far a fade reaches from the middle, as bounds.
typedef struct Extent {
    float reach; ///< m: integral of the factor over the distance
    float arm;   ///< m: largest product of factor and distance
} Extent;

static const Extent endless = {INFINITY, INFINITY};

// Powers of 1 and less are taken as if they did not fade, up to the farthest.
static Extent extent_of(const FieldRange *range)
{
    float farthest = range->farthest >= 0.0f ? range->farthest : INFINITY;
    float nearest = real_minf(real_maxf(range->nearest, 0.0f), farthest), tail = farthest - nearest, arm = farthest;
    if (range->power > 1.0f) tail = real_minf(tail, 1.0f / (range->power - 1.0f));
    if (range->power >= 1.0f) arm = real_minf(arm, real_maxf(nearest, 1.0f));
    return (Extent){nearest + tail, arm};
}

static Extent both(Extent a, Extent b)
{
    return (Extent){sqrtf(a.reach * a.reach + b.reach * b.reach), sqrtf(a.arm * a.arm + b.arm * b.arm)};
}

// As far as the angle of a cone opens up to its end.
static Extent cone_mouth(const Field *field)
{
    float degrees = field->radial.farthest, end = field->range.farthest;
    if (!(degrees >= 0.0f && degrees < 90.0f && end >= 0.0f)) return endless;
    float sine = real_sinf(degrees / 57.29578f), wide = end * sine / sqrtf(real_maxf(1.0f - sine * sine, 1e-12f));
    return (Extent){wide, wide};
}

static Extent extent_along_shape(FieldShape shape, Extent along, Extent across)
{
    return shape == FIELD_LINE ? across : shape == FIELD_PLANE ? along : both(along, across);
}

// `way`: along the way that the field pushes; `apart`: of the distance that springs, charges and vortices grow with.
static void extents_of(const Field *field, Extent *way, Extent *apart)
{
    Extent range = extent_of(&field->range), along = range, across = range;
    if (field->falloff == FIELD_TUBE) across = extent_of(&field->radial);
    if (field->falloff == FIELD_CONE) across = cone_mouth(field);
    if (field->falloff == FIELD_SPHERE && field->shape == FIELD_LINE) along = endless;
    if (field->falloff == FIELD_SPHERE && field->shape == FIELD_PLANE) across = endless;
    int is_ball = field->falloff == FIELD_SPHERE && field->shape == FIELD_POINT;
    Extent anywhere = is_ball ? range : both(along, across);
    *apart = is_ball ? range : extent_along_shape(field->shape, along, across);
    *way = field->kind == FIELD_WIND         ? along
           : field->kind == FIELD_VORTEX     ? across
           : field->kind == FIELD_TURBULENCE ? anywhere
                                             : *apart;
}

// A tube, cone, line or plane that turns sweeps up what is far from its middle.
static int sweeps(const Field *field)
{
    if (field->falloff == FIELD_SPHERE && field->shape == FIELD_POINT) return 0;
    const float *first = field->motion.samples;
    for (int64_t k = 1; field->motion.kind == MOTION_POSES && k < field->motion.sample_count; k++)
        for (int i = 3; i < MOTION_POSE_FLOATS; i++)
            if (first[MOTION_POSE_FLOATS * k + i] != first[i]) return 1;
    return 0;
}

// m/s: from the work of the field all the way through its reach, and twice the field's own speed, as of a ball that a
// bat meets.
static float speed_within_reach(const Field *field, float strength)
{
    Extent way, apart;
    if (sweeps(field)) return INFINITY;
    extents_of(field, &way, &apart);
    int grows = field->kind == FIELD_VORTEX || field->kind == FIELD_HARMONIC || field->kind == FIELD_CHARGE;
    float peak = strength;
    if (grows) peak *= field->kind == FIELD_HARMONIC ? real_maxf(apart.arm, field->rest_length) : apart.arm;
    if (!(peak < INFINITY) || !(way.reach < INFINITY)) return INFINITY;
    return sqrtf(2.0f * peak * 2.0f * way.reach) + 2.0f * (float)motion_fastest(&field->motion, NULL);
}

float fields_fastest(const Field *fields, int field_count)
{
    float sum = 0.0f;
    for (int f = 0; f < field_count; f++) {
        const Field *field = &fields[f];
        float least = real_maxf(0.0f, -field->strength.constant[0]);
        for (int64_t k = 0; k < field->strength.count; k++) least = real_maxf(least, -field->strength.samples[k]);
        if (field->kind == FIELD_DRAG) continue;
        float strength = real_maxf(curve_largest(&field->strength), least) + field->noise;
        sum += real_minf(THROWN_FOR * strength, speed_within_reach(field, strength));
    }
    return sum;
}
