// SPDX-License-Identifier: GPL-3.0-or-later
// The scenes of Bell, Yu and Mucha 2005: splash, avalanche against boxes, bulldozer, rings on poles. Small ones always,
// and at the paper's counts when long tests are asked for. Nothing blows up, nothing leaks, and what should move does.
#include "base/error.h"
#include "base/rng.h"
#include "base/run.h"
#include "grain/grain.h"
#include "shared/rigid_scene.h"
#include "unit/test.h"

#include <math.h>
#include <stdio.h>

#define RADIUS 0.02f // m, of the ball around a tetrahedral grain
#define FRAME (1.0 / 30.0)

static RigidScene scene; // too large for the stack

// The fastest ball and body (m/s).
static double fastest(void)
{
    const Dem *dem = scene.sand.dem;
    double most = 0.0;
    for (int64_t i = 0; i < dem->count; i++) {
        const float *v = dem->balls[i].velocity;
        most = fmax(most, (double)vec3_length(vec3(v[0], v[1], v[2])));
    }
    for (int b = 0; b < dem->base.rigid->body_count; b++)
        most = fmax(most, vec3d_length(dem->base.rigid->objects[dem->base.rigid->bodies[b].object].velocity));
    return most;
}

// Tetrahedral grains in a box, layer on layer, as many as wanted.
static GrainResult pour(int64_t wanted, Vec3 low, Vec3 high, Vec3 velocity)
{
    TRY(scene_set_shape(&scene.sand, "tetrahedron"));
    TRY(scene_fill_box(&scene.sand, low, high, 0.05f, 0.0f));
    if (scene.sand.start.count < wanted) return GRAIN_ERROR_ARGUMENT;
    scene.sand.start.count = wanted;
    for (int64_t i = 0; i < wanted; i++) scene.sand.start.velocity[i] = velocity;
    return scene_create(&scene.sand, wanted > 5000 ? 0 : 1);
}

// Height of a layer of grains; so many of them stand side by side along a length.
static float layer(void) { return 2.05f * RADIUS; }
static int64_t along(float length) { return (int64_t)floorf(length / layer() + 0.01f); }

// Runs one frame and says how long it took when that is worth knowing.
static GrainResult run_frame(double *seconds)
{
    double began = run_clock();
    GrainResult result = scene_run(&scene.sand, FRAME);
    *seconds += run_clock() - began;
    return result;
}

static void report(const char *name, double seconds, int frames)
{
    const Dem *dem = scene.sand.dem;
    if (frames > 5)
        printf("# %s: %lld spheres in %lld grains, %lld steps for %.2f s, %.1f s a frame of 1/30 s\n", name,
               (long long)dem->count, (long long)dem->base.born, (long long)dem->steps_done, frames * FRAME,
               seconds / frames);
}

static int64_t count_balls(int (*is_meant)(Vec3 at, float radius))
{
    int64_t count = 0;
    for (int64_t i = 0; i < scene.sand.dem->count; i++)
        count += is_meant(scene_position(&scene.sand, i), scene.sand.dem->balls[i].radius);
    return count;
}

// --- splash ---------------------------------------------------------------------------------------

static float tray_half;

// Balls may sink into a wall by a tenth of their radius; the ball's impact presses the bed that much.
static int is_in_tray_wall(Vec3 at, float radius)
{
    float inside = tray_half - 0.8f * radius;
    return at.z < 0.8f * radius || (at.z < tray_half && (fabsf(at.x) > inside || fabsf(at.y) > inside));
}

// A ball hits a bed of tetrahedral grains at 4 m/s, and stops in it.
static void splash(int64_t grains, float half, int frames)
{
    int tray, ball;
    double seconds = 0.0;
    int64_t layers = grains / (along(2.0f * half) * along(2.0f * half)) + 1;
    float depth = (float)layers * layer(), size = 0.35f * half;
    tray_half = half;
    rigid_scene_begin(&scene, RADIUS);
    scene.sand.def.expected_speed = 4.0f, scene.sand.def.rolling_friction = 0.0f;
    ENSURE_OK(rigid_scene_add_prop(
        &scene, rigid_scene_tray(vec3(-half, -half, 0.0f), vec3(half, half, depth + half), 4.0f * RADIUS), 0.5f,
        &tray));
    Vec3 start = {0.05f * half, -0.03f * half, depth + size + 0.01f};
    ENSURE_OK(rigid_scene_add_body(&scene, rigid_scene_ball(start, size), 2500.0, 0.5f, 0.025f * size, &ball));
    scene.body[ball].velocity = vec3(0, 0, -4.0f);
    ENSURE_OK(pour(grains, vec3(-half, -half, 0.0f), vec3(half, half, depth), vec3(0, 0, 0)));
    double highest = 0.0;
    for (int frame = 0; frame < frames; frame++) {
        ENSURE_OK(run_frame(&seconds));
        ENSURE(fastest() < 12.0); // a light grain leaves at up to twice the speed of the ball, and some pass it on
        ENSURE_EQUAL(count_balls(is_in_tray_wall), 0);
    }
    for (int64_t i = 0; i < scene.sand.dem->count; i++)
        highest = fmax(highest, (double)scene_position(&scene.sand, i).z);
    const RigidObject *object = rigid_scene_object(&scene, ball);
    report("splash", seconds, frames);
    ENSURE(vec3d_length(object->velocity) < 2.0);
    ENSURE(object->now.position.z > (double)size && object->now.position.z < (double)(start.z - 0.5f * size));
    ENSURE(highest > 2.0 * rigid_scene_mean_height(&scene) + 2.0 * (double)RADIUS); // above what has settled
    rigid_scene_end(&scene);
}

TEST(a_small_splash) { splash(600, 0.2f, 5); }

HEAVY_TEST(a_splash_of_45494_tetrahedra) { splash(45494, 0.75f, 30); }

// --- avalanche ------------------------------------------------------------------------------------

static float slope_half;

static int is_in_slope(Vec3 at, float radius)
{
    return at.z < 0.8f * radius || fabsf(at.y) > slope_half - 0.8f * radius;
}

// Grains come down a slope of 40 degrees at 3 m/s against a row of boxes that stand on it, and take them along.
static void avalanche(int64_t grains, float half, int boxes, int frames)
{
    float angle = 0.7f, size = 1.2f * half / (float)boxes, length = 3.4f * half;
    int box[16];
    double seconds = 0.0;
    int64_t layers = grains / (along(2.0f * half) * along(length)) + 1;
    slope_half = half;
    rigid_scene_begin(&scene, RADIUS);
    scene.sand.def.gravity = vec3(9.81f * sinf(angle), 0, -9.81f * cosf(angle));
    scene.sand.def.expected_speed = 5.0f, scene.sand.def.rolling_friction = 0.0f;
    scene_add_plane(&scene.sand, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    scene_add_plane(&scene.sand, vec3(0, -half, 0), vec3(0, 1, 0), 0.3f);
    scene_add_plane(&scene.sand, vec3(0, half, 0), vec3(0, -1, 0), 0.3f);
    for (int i = 0; i < boxes; i++) {
        Vec3 middle = {length + 0.1f + 0.5f * size, half * (2.0f * ((float)i + 0.5f) / (float)boxes - 1.0f),
                       0.5f * size};
        ENSURE_OK(rigid_scene_add_body(&scene, rigid_scene_box(middle, size), 400.0, 1.2f, 0.05f * size, &box[i]));
    }
    ENSURE_OK(pour(grains, vec3(0, -half, 0), vec3(length, half, (float)layers * layer() + 0.01f), vec3(3.0f, 0, 0)));
    double limit = 3.0 + 9.81 * frames * FRAME; // free fall, and half as much again of what is hit
    for (int frame = 0; frame < frames; frame++) {
        ENSURE_OK(run_frame(&seconds));
        ENSURE(fastest() < 1.5 * limit);
        ENSURE_EQUAL(count_balls(is_in_slope), 0);
        for (int i = 0; i < boxes; i++)
            ENSURE(rigid_scene_object(&scene, box[i])->now.position.z > 0.45 * (double)size);
    }
    report("avalanche", seconds, frames);
    for (int i = 0; i < boxes; i++) {
        const RigidObject *object = rigid_scene_object(&scene, box[i]);
        ENSURE(object->now.position.x > object->rest.x + 0.3 * (double)size);
    }
    rigid_scene_end(&scene);
}

TEST(a_small_avalanche_against_boxes) { avalanche(500, 0.15f, 2, 5); }

HEAVY_TEST(an_avalanche_of_294820_spheres_against_boxes) { avalanche(73705, 1.2f, 6, 15); }

// --- bulldozer ------------------------------------------------------------------------------------

static float bed_half, blade_at;

static int is_in_bed_wall(Vec3 at, float radius)
{
    return at.z < 0.8f * radius || fabsf(at.y) > bed_half - 0.8f * radius || at.x < 0.8f * radius;
}

// The blade is 10 cm thick and as wide as two thirds of the bed.
static int is_in_blade(Vec3 at, float radius)
{
    float depth = 0.2f * radius;
    return at.x > blade_at + depth && at.x < blade_at + 0.1f - depth && fabsf(at.y) < 0.667f * bed_half - depth;
}

static void bulldozer(int64_t grains, float half, int frames)
{
    int blade;
    double seconds = 0.0;
    float length = 3.0f * half, speed = 1.5f;
    int64_t layers = grains / (along(2.0f * half) * along(length)) + 1;
    float depth = (float)layers * layer();
    bed_half = half, blade_at = 0.0f;
    rigid_scene_begin(&scene, RADIUS);
    scene.sand.def.expected_speed = 3.0f, scene.sand.def.rolling_friction = 0.0f;
    scene_add_plane(&scene.sand, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    scene_add_plane(&scene.sand, vec3(0, -half, 0), vec3(0, 1, 0), 0.5f);
    scene_add_plane(&scene.sand, vec3(0, half, 0), vec3(0, -1, 0), 0.5f);
    scene_add_plane(&scene.sand, vec3(0, 0, 0), vec3(1, 0, 0), 0.5f);
    scene_add_plane(&scene.sand, vec3(0.11f + length, 0, 0), vec3(-1, 0, 0), 0.5f);
    ENSURE_OK(rigid_scene_add_prop(
        &scene, shape_box(0.0f, -0.667f * half, 0.2f * depth, 0.1f, 0.667f * half, 4.0f * depth), 0.5f, &blade));
    float *poses = rigid_scene_add_poses(&scene, blade, vec3(0, 0, 0), 32, FRAME);
    for (int k = 0; k < 32; k++) poses[7 * k] = speed * (float)FRAME * (float)k;
    ENSURE_OK(pour(grains, vec3(0.105f, -half, 0.0f), vec3(0.105f + length, half, depth + 0.01f), vec3(0, 0, 0)));
    double heaped = 0.0, elsewhere = 0.0;
    for (int frame = 0; frame < frames; frame++) {
        ENSURE_OK(run_frame(&seconds));
        blade_at = (float)rigid_scene_object(&scene, blade)->now.position.x;
        ENSURE(fastest() < 8.0);
        ENSURE_EQUAL(count_balls(is_in_bed_wall), 0);
    }
    for (int64_t i = 0; i < scene.sand.dem->count; i++) {
        Vec3 at = scene_position(&scene.sand, i);
        if (at.z > 0.4f * depth) ENSURE(!is_in_blade(at, scene.sand.dem->balls[i].radius));
        if (at.x > blade_at + 0.1f && at.x < blade_at + 0.5f * half) heaped = fmax(heaped, (double)at.z);
        if (at.x > 0.1f + 0.8f * length) elsewhere = fmax(elsewhere, (double)at.z);
    }
    report("bulldozer", seconds, frames);
    ENSURE_NEAR(blade_at, (double)speed * frames * FRAME, 1e-3);
    ENSURE(heaped > elsewhere + 1.5 * (double)RADIUS);
    rigid_scene_end(&scene);
}

TEST(a_small_bulldozer) { bulldozer(1000, 0.25f, 5); }

HEAVY_TEST(a_bulldozer_in_310149_spheres) { bulldozer(77537, 1.4f, 20); }

// --- rings ----------------------------------------------------------------------------------------

#define RING 0.05f   // m, from its middle to the middle of its tube
#define TUBE 0.0125f // m, radius
#define POLE 0.01f   // m, half its width
#define POLE_TOP 0.5f
#define POLES_APART 0.2f

static Vec3 pole_foot(int pole, int side)
{
    return vec3(POLES_APART * (float)(pole % side), POLES_APART * (float)(pole / side), 0.0f);
}

// Whether the pole goes through the ring: its axis meets the disc that the middle of the tube goes around, at this
// height.
static int is_around(const RigidObject *ring, Vec3 foot, double *height)
{
    Vec3d normal = quatd_rotate(ring->now.facing, (Vec3d){0, 0, 1});
    Vec3d apart = vec3d_sub((Vec3d){(double)foot.x, (double)foot.y, ring->now.position.z}, ring->now.position);
    double along = -vec3d_dot(apart, normal) / normal.z; // from the ring's height to where they meet
    *height = ring->now.position.z + along;
    apart.z = along;
    return fabs(normal.z) > 1e-3 && *height < (double)POLE_TOP && vec3d_length(apart) < (double)RING;
}

// Rings of 110 points fall over poles from all heights. Who is around a pole leaves it over the top, or not at all: in
// a frame none rises by more than 0.15 m.
static void rings(int side, int layers, float friction, int frames)
{
    enum { MOST = 1000 };
    static int pole_of[MOST];
    static double height_of[MOST];
    int number, poles = side * side, count = layers * poles, caught = 0;
    double seconds = 0.0;
    rigid_scene_begin(&scene, 0.01f);
    scene.sand.def.expected_speed = 3.0f;
    scene_add_plane(&scene.sand, vec3(0, 0, 0), vec3(0, 0, 1), friction);
    for (int p = 0; p < poles; p++) {
        Vec3 foot = pole_foot(p, side);
        ENSURE_OK(rigid_scene_add_prop(
            &scene, shape_box(foot.x - POLE, foot.y - POLE, -0.01f, foot.x + POLE, foot.y + POLE, POLE_TOP), friction,
            &number));
    }
    for (int i = 0; i < count; i++) {
        Rng4 random = rng_at(1, (uint64_t)i, RNG_STREAM_TEST, 0);
        Vec3 foot = pole_foot(i % poles, side);
        Shape ring = shape_torus(12, 32, (double)(TUBE / RING));
        shape_move(&ring, RING, foot.x + 0.015f * rng_signed(random.word[0]),
                   foot.y + 0.015f * rng_signed(random.word[1]), POLE_TOP + 0.05f + 0.04f * (float)(i / poles));
        ENSURE_OK(rigid_scene_add_body(&scene, ring, 1000.0, friction, 0.0084f, &number));
        scene.body[number].spin = vec3(2.0f * rng_signed(random.word[2]), 2.0f * rng_signed(random.word[3]), 0.0f);
        pole_of[i] = -1;
    }
    ENSURE_NEAR(scene.body[number].point_count, 110, 4);
    ENSURE_OK(scene_create(&scene.sand, count > 100 ? 0 : 1));
    const Rigid *rigid = scene.sand.dem->base.rigid;
    double limit = sqrt(2.0 * 9.81 * (double)(POLE_TOP + 0.04f * (float)layers)) + 1.0;
    for (int frame = 0; frame < frames; frame++) {
        ENSURE_OK(run_frame(&seconds));
        ENSURE(fastest() < limit);
        for (int b = 0; b < count; b++) {
            const RigidObject *ring = &rigid->objects[rigid->bodies[b].object];
            ENSURE(ring->now.position.z > 0.9 * (double)TUBE);
            int before = pole_of[b];
            double height_before = height_of[b];
            pole_of[b] = -1;
            for (int p = 0; p < poles && pole_of[b] < 0; p++)
                if (is_around(ring, pole_foot(p, side), &height_of[b])) pole_of[b] = p;
            if (before >= 0 && height_before < (double)(POLE_TOP - 0.15f)) ENSURE_EQUAL(pole_of[b], before);
        }
    }
    for (int b = 0; b < count; b++) caught += pole_of[b] >= 0;
    if (count > 100)
        printf("# rings: %d of %lld points, friction %.1f, %lld steps for %.2f s, %d around poles, %.1f s a frame\n",
               count, (long long)scene.body[number].point_count, (double)friction,
               (long long)scene.sand.dem->steps_done, frames * FRAME, caught, seconds / frames);
    ENSURE(caught > count / 10);
    rigid_scene_end(&scene);
}

TEST(a_few_rings_on_a_pole) { rings(1, 6, 0.3f, 20); }

HEAVY_TEST(a_thousand_rings_on_poles_of_low_friction) { rings(5, 40, 0.1f, 30); }

HEAVY_TEST(a_thousand_rings_on_poles_of_high_friction) { rings(5, 40, 0.8f, 30); }
