// SPDX-License-Identifier: GPL-3.0-or-later
#include "physics/sand_experiments.h"
#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>

// Two smooth sides, this many particles apart: what happens between them happens in a plane.
static float add_sides(SandScene *scene, int particles)
{
    float width = (float)(particles - 1) * sand_spacing(scene) + 2.0f * scene->def.largest_radius;
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 1, 0), 0.0f);
    sand_add_plane(scene, vec3(0, width, 0), vec3(0, -1, 0), 0.0f);
    return width;
}

// --- pouring --------------------------------------------------------------------------------------

#define SPOUT 2.8f // spacings: radius of the funnel's opening
#define FUNNEL 10.0f
#define FUNNEL_WALL 2.5f
#define FUNNEL_GAP 3.0f
enum { LIFT_SAMPLES = 48 };

// A funnel of 45 degrees under a tube, with its opening at z = 0, turned about the z axis.
static Shape funnel(float spout, float wide, float wall, float high)
{
    enum { SEGMENTS = 40, CORNERS = 6 };
    Shape shape = {malloc(SEGMENTS * CORNERS * 3 * sizeof(float)), malloc(SEGMENTS * CORNERS * 6 * sizeof(int32_t)),
                   SEGMENTS * CORNERS, SEGMENTS * CORNERS * 2};
    const float outline[CORNERS][2] = {{spout, 0.0f},       {spout + wall, 0.0f}, {wide + wall, wide - spout},
                                       {wide + wall, high}, {wide, high},         {wide, wide - spout}};
    for (int s = 0; s < SEGMENTS; s++) {
        double angle = 2.0 * M_PI * s / SEGMENTS;
        for (int i = 0; i < CORNERS; i++) {
            float *to = shape.positions + 3 * (CORNERS * s + i);
            to[0] = outline[i][0] * (float)cos(angle), to[1] = outline[i][0] * (float)sin(angle), to[2] = outline[i][1];
            int32_t here = CORNERS * s, next = (s + 1) % SEGMENTS * CORNERS, j = (i + 1) % CORNERS;
            int32_t *quad = shape.triangles + 6 * (CORNERS * s + i);
            quad[0] = here + i, quad[1] = next + i, quad[2] = next + j;
            quad[3] = here + i, quad[4] = next + j, quad[5] = here + j;
        }
    }
    return shape;
}

// The inside of the funnel, a radius away from its walls.
typedef struct FunnelRoom {
    float bottom, spout, wide, margin;
} FunnelRoom;

static int in_funnel(const void *user, Vec3 place)
{
    const FunnelRoom *room = user;
    float r = hypotf(place.x, place.y), z = place.z - room->bottom;
    return r < room->wide - room->margin && r < room->spout + z - 1.4142f * room->margin;
}

// The funnel rises with the tip of the heap as that grows: what falls must not fall far. What runs out in a second is
// Beverloo's law.
static double lift_funnel(SandScene *scene, int number, int particles, float tip)
{
    float pitch = sand_spacing(scene);
    double rate = 0.58 * sqrt(9.81 / (double)pitch) * pow(2.0 * (double)SPOUT, 2.5), seconds = 2.2 * particles / rate;
    float *poses = sand_add_poses(scene, number, vec3(0, 0, 0), LIFT_SAMPLES, seconds / (LIFT_SAMPLES - 1));
    for (int k = 1; poses && k < LIFT_SAMPLES; k++)
        poses[7 * k + 2] = tip * cbrtf((float)k / (float)(LIFT_SAMPLES - 1));
    return poses ? seconds : -1.0;
}

static GrainResult pour(SandScene *scene, int particles, PourResult *out)
{
    int number;
    float pitch = sand_spacing(scene), wide = FUNNEL * pitch, spout = SPOUT * pitch, gap = FUNNEL_GAP * pitch;
    float volume = (float)particles * pitch * pitch * pitch, slope = scene->def.friction;
    float tip = slope * cbrtf(3.0f * volume / (3.14159265f * slope)); // of a cone
    FunnelRoom room = {gap, spout, wide, scene->def.largest_radius};
    float above = wide - spout + volume / (3.14159265f * wide * wide);
    sand_expect_fall(scene, above);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 1.0f);
    Shape shape = funnel(spout, wide, FUNNEL_WALL * pitch, 1.3f * above);
    shape_move(&shape, 1.0f, 0.0f, 0.0f, gap);
    TRY(sand_add_prop(scene, shape, 0.1f, &number));
    double seconds = lift_funnel(scene, number, particles, tip);
    if (seconds < 0.0) return GRAIN_ERROR_MEMORY;
    TRY(sand_fill_box(scene, vec3(-wide, -wide, gap), vec3(wide, wide, gap + above), in_funnel, &room));
    TRY(sand_create(scene, 2));
    TRY(sand_run(scene, seconds + 0.7));
    out->particles = scene->now.count;
    out->angle = sand_flank_angle(scene);
    sand_mean_speed(scene, &out->fastest);
    TRY(sand_run(scene, 1.0));
    out->angle_later = sand_flank_angle(scene);
    sand_mean_speed(scene, &out->fastest_later);
    return GRAIN_OK;
}

GrainResult sand_pour(SandKind kind, float friction_degrees, int particles, PourResult *out)
{
    SandScene scene;
    sand_begin(&scene, kind.solver, 0.028f, friction_degrees);
    scene.def.model = kind.model;
    scene.def.may_sleep = 1; // as bakes do
    GrainResult result = pour(&scene, particles, out);
    sand_end(&scene);
    return result;
}

static int in_cylinder(const void *user, Vec3 place)
{
    float radius = *(const float *)user;
    return place.x * place.x + place.y * place.y < radius * radius;
}

static GrainResult collapse(SandScene *scene, float radius, PourResult *out)
{
    sand_expect_fall(scene, radius);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 1.0f);
    TRY(sand_fill_box(scene, vec3(-radius, -radius, 0), vec3(radius, radius, radius), in_cylinder, &radius));
    TRY(sand_create(scene, 2));
    TRY(sand_run(scene, 2.0));
    out->particles = scene->now.count;
    out->angle = sand_flank_angle(scene);
    sand_mean_speed(scene, &out->fastest);
    return GRAIN_OK;
}

GrainResult sand_collapse(SandKind kind, float friction_degrees, int particles, PourResult *out)
{
    SandScene scene;
    float radius = 0.65f, pitch = cbrtf(3.14159265f * radius * radius * radius / (float)particles);
    sand_begin(&scene, kind.solver, 0.5f * pitch / 0.8908987f, friction_degrees);
    scene.def.model = kind.model;
    scene.def.may_sleep = 1; // as bakes do
    GrainResult result = collapse(&scene, radius, out);
    sand_end(&scene);
    return result;
}

// --- the truck ------------------------------------------------------------------------------------

#define TRUCK_FRICTION 35.0f
#define TRUCK_FLANK 20.0f
#define TRUCK_SETTLE 0.5
#define TRUCK_SECONDS 2.0
#define TRUCK_SAMPLES 48.0 // a second
enum { TRUCK_STRIPS = 24 };

typedef struct Ridge {
    float middle, height, slope;
} Ridge;

static int in_ridge(const void *user, Vec3 place)
{
    const Ridge *ridge = user;
    return place.z < ridge->height - ridge->slope * fabsf(place.x - ridge->middle);
}

// Seen from the bed.
static void outline(const SandScene *scene, int bed, const Ridge *ridge, double *height)
{
    double half = (double)(ridge->height / ridge->slope), at = (double)ridge->middle;
    at += sand_object(scene, bed)->now.position.x;
    sand_profile(scene, at - 1.5 * half, at + 1.5 * half, TRUCK_STRIPS, height);
}

static GrainResult drive(SandScene *scene, float layers, double acceleration, TruckResult *out)
{
    int bed;
    float pitch = sand_spacing(scene), width = add_sides(scene, 3);
    Ridge ridge = {0.0f, layers * pitch, tanf(TRUCK_FLANK * 0.01745329f)};
    float half = ridge.height / ridge.slope;
    sand_expect_fall(scene, ridge.height);
    Shape slab = shape_box(-3.0f * half, -5.0f * pitch, -5.0f * pitch, 3.0f * half, width + 5.0f * pitch, 0.0f);
    TRY(sand_add_prop(scene, slab, 1.0f, &bed));
    int samples = (int)((TRUCK_SETTLE + TRUCK_SECONDS) * TRUCK_SAMPLES) + 1;
    float *poses = sand_add_poses(scene, bed, vec3(0, 0, 0), samples, 1.0 / TRUCK_SAMPLES);
    if (!poses) return GRAIN_ERROR_MEMORY;
    for (int k = 0; k < samples; k++) {
        double time = fmax(k / TRUCK_SAMPLES - TRUCK_SETTLE, 0.0);
        poses[7 * k] = (float)(0.5 * acceleration * time * time);
    }
    TRY(sand_fill_box(scene, vec3(-half, 0, 0), vec3(half, width, ridge.height), in_ridge, &ridge));
    TRY(sand_create(scene, 2));
    double before[TRUCK_STRIPS], after[TRUCK_STRIPS], area = 0.0;
    TRY(sand_run(scene, TRUCK_SETTLE));
    outline(scene, bed, &ridge, before);
    TRY(sand_run(scene, TRUCK_SECONDS));
    outline(scene, bed, &ridge, after);
    out->change = 0.0;
    for (int s = 0; s < TRUCK_STRIPS; s++) area += before[s], out->change += fabs(after[s] - before[s]);
    out->change /= area;
    return GRAIN_OK;
}

GrainResult sand_truck(SandKind kind, double acceleration, TruckResult *out)
{
    SandScene scene;
    sand_begin(&scene, kind.solver, 0.02f, TRUCK_FRICTION);
    scene.def.model = kind.model;
    scene.def.may_sleep = 1; // as bakes do
    GrainResult result = drive(&scene, kind.truck_layers, acceleration, out);
    sand_end(&scene);
    return result;
}

// --- three balls ----------------------------------------------------------------------------------

#define BALL_RADII 3.0f // spacings
#define BULK_DENSITY (0.6 * 2600.0)

static void depths(const SandScene *scene, const int *ball, float radius, float surface, double *depth)
{
    for (int k = 0; k < 3; k++) depth[k] = (double)(surface + radius) - sand_object(scene, ball[k])->now.position.z;
}

static GrainResult drop_balls(SandScene *scene, BallsResult *out)
{
    const double densities[3] = {0.5 * BULK_DENSITY, BULK_DENSITY, 3.0 * BULK_DENSITY};
    int ball[3];
    float pitch = sand_spacing(scene), radius = BALL_RADII * pitch, deep = 9.0f * pitch;
    float length = 31.0f * pitch, width = 11.0f * pitch, margin = 2.0f * scene->def.largest_radius;
    sand_expect_fall(scene, deep + 2.0f * radius);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 1, 0), 0.3f);
    sand_add_plane(scene, vec3(0, width, 0), vec3(0, -1, 0), 0.3f);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(1, 0, 0), 0.3f);
    sand_add_plane(scene, vec3(length, 0, 0), vec3(-1, 0, 0), 0.3f);
    for (int k = 0; k < 3; k++) {
        Shape shape = shape_sphere(6, 0.0);
        shape_move(&shape, radius, length * (1.0f + 2.0f * (float)k) / 6.0f, 0.5f * width, deep + 2.0f * radius);
        TRY(sand_add_body(scene, shape, densities[k], 0.5f, &ball[k]));
    }
    TRY(sand_fill_box(scene, vec3(0, 0, 0), vec3(length, width, deep + margin - pitch), NULL, NULL));
    TRY(sand_create(scene, 2));
    out->radius = (double)radius;
    TRY(sand_run(scene, 2.0));
    depths(scene, ball, radius, deep, out->depth);
    TRY(sand_run(scene, 0.5));
    depths(scene, ball, radius, deep, out->later);
    return GRAIN_OK;
}

GrainResult sand_three_balls(SandKind kind, BallsResult *out)
{
    SandScene scene;
    sand_begin(&scene, kind.solver, 0.02f, 30.0f);
    scene.def.model = kind.model;
    scene.def.may_sleep = 1; // as bakes do
    GrainResult result = drop_balls(&scene, out);
    sand_end(&scene);
    return result;
}

// --- the block ------------------------------------------------------------------------------------

#define BLOCK_LAYERS 12

static GrainResult let_go(SandScene *scene, float moisture, BlockResult *out)
{
    float pitch = sand_spacing(scene), width = add_sides(scene, 4), side = (float)BLOCK_LAYERS * pitch;
    float margin = 2.0f * scene->def.largest_radius - pitch;
    sand_expect_fall(scene, side);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.8f);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(1, 0, 0), 0.3f);
    TRY(sand_fill_box(scene, vec3(0, 0, 0), vec3(side + margin, width, side + margin), NULL, NULL));
    scene->moisture = ALLOC(float, scene->start.count);
    if (!scene->moisture) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < scene->start.count; i++) scene->moisture[i] = moisture;
    TRY(sand_create(scene, 2));
    TRY(sand_run(scene, 1.5));
    out->side = (double)side;
    out->run_out = sand_reach(scene, 0.98) - (double)side;
    sand_profile(scene, (double)(side - 2.0f * pitch), (double)(side - pitch), 1, &out->height);
    return GRAIN_OK;
}

GrainResult sand_block(SandKind kind, float moisture, BlockResult *out)
{
    SandScene scene;
    sand_begin(&scene, kind.solver, 0.01f, 35.0f);
    scene.def.model = kind.model;
    scene.def.may_sleep = 1; // as bakes do
    GrainResult result = let_go(&scene, moisture, out);
    sand_end(&scene);
    return result;
}

// --- the castle -----------------------------------------------------------------------------------

#define CASTLE_BASE 12.0f // spacings: side of the base, half as high
#define CASTLE_TOWER 5.0f // side of the tower, which stands on it
#define CASTLE_HEIGHT 14.0f

static int in_castle(const void *user, Vec3 place)
{
    float pitch = *(const float *)user,
          half = 0.5f * pitch * (place.z < 0.5f * CASTLE_BASE * pitch ? CASTLE_BASE : CASTLE_TOWER);
    return fabsf(place.x) < half && fabsf(place.y) < half;
}

// Of the tower: the mean of the highest that stand over its middle.
static double tower_height(const SandScene *scene)
{
    double height;
    float pitch = sand_spacing(scene);
    sand_profile(scene, (double)-pitch, (double)pitch, 1, &height);
    return height;
}

static GrainResult build_castle(SandScene *scene, float moisture, CastleResult *out)
{
    float pitch = sand_spacing(scene), side = 0.5f * CASTLE_BASE * pitch + scene->def.largest_radius;
    sand_expect_fall(scene, CASTLE_HEIGHT * pitch);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.8f);
    TRY(sand_fill_box(scene, vec3(-side, -side, 0), vec3(side, side, CASTLE_HEIGHT * pitch), in_castle, &pitch));
    scene->moisture = ALLOC(float, scene->start.count);
    if (!scene->moisture) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < scene->start.count; i++) scene->moisture[i] = moisture;
    TRY(sand_create(scene, 2));
    out->height = tower_height(scene);
    TRY(sand_run(scene, 1.5));
    out->height_later = tower_height(scene);
    sand_mean_speed(scene, &out->fastest);
    int64_t moved = 0;
    for (int64_t i = 0; i < scene->now.count; i++)
        moved += vec3_length(vec3_sub(scene->now.position[i], scene->start.position[i])) > pitch;
    out->moved = (double)moved / (double)scene->now.count;
    return GRAIN_OK;
}

GrainResult sand_castle(SandKind kind, float moisture, CastleResult *out)
{
    SandScene scene;
    sand_begin(&scene, kind.solver, 0.01f, 33.0f);
    scene.def.model = kind.model;
    scene.def.may_sleep = 1; // as bakes do
    GrainResult result = build_castle(&scene, moisture, out);
    sand_end(&scene);
    return result;
}
