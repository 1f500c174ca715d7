// SPDX-License-Identifier: GPL-3.0-or-later
// Bodies that the material point method pushes: what sand loses they gain.
#include "base/error.h"
#include "shared/sand_scene.h"
#include "sim/mpm/mpm.h"
#include "sim/mpm/mpm_transfer.h"
#include "unit/test.h"

#include <math.h>

#define RADIUS 0.005f

typedef struct Hit {
    const char *name;
    Shape shape;
    double density;
    float cohesion;
    int sparse; // only every Nth particle: they fly alone
} Hit;

typedef struct HitResult {
    double lost;  // of momentum, over what the sand brought
    double speed; // m/s, of the body in the end
} HitResult;

static Vec3d sand_momentum(const Mpm *mpm)
{
    Vec3d sum = {0};
    for (int64_t i = 0; i < mpm->count; i++) {
        const MpmParticle *p = &mpm->particles[i];
        Vec3d velocity = {(double)p->velocity[0], (double)p->velocity[1], (double)p->velocity[2]};
        sum = vec3d_add(sum, vec3d_scale(velocity, (double)mpm_mass_of(&mpm->materials, p)));
    }
    return sum;
}

// A lump of sand flies against a body that hangs in the air, and hits it beside its middle.
static GrainResult hit(SandScene *scene, const Hit *what, HitResult *out)
{
    int number;
    scene->def.gravity = vec3(0, 0, 0);
    scene->def.expected_speed = 2.0f;
    scene->def.cohesion = what->cohesion;
    TRY(sand_add_body(scene, what->shape, what->density, 0.4f, &number));
    TRY(sand_fill_box(scene, vec3(-0.04f, -0.02f, 0.05f), vec3(0.04f, 0.06f, 0.13f), NULL, NULL));
    Particles *start = &scene->start;
    start->count /= what->sparse;
    for (int64_t i = 0; i < start->count; i++) {
        start->position[i] = start->position[i * what->sparse];
        start->velocity[i] = vec3(0.1f, 0.0f, -1.0f);
    }
    TRY(sand_create(scene, 1));
    Vec3d before = sand_momentum(scene->sim.state);
    TRY(sand_run(scene, 0.15));
    Vec3d velocity = sand_object(scene, number)->velocity;
    Vec3d after = vec3d_add(sand_momentum(scene->sim.state), vec3d_scale(velocity, scene->body[number].mass));
    out->lost = vec3d_length(vec3d_sub(after, before)) / vec3d_length(before);
    out->speed = vec3d_length(velocity);
    return GRAIN_OK;
}

static void check_hit(const Hit *what, HitResult *out)
{
    SandScene scene;
    sand_begin(&scene, "mpm", RADIUS, 31.0f);
    GrainResult result = hit(&scene, what, out);
    sand_end(&scene);
    ENSURE_OK(result);
    printf("# %s: %.1e of the momentum lost; it moves at %.2f m/s\n", what->name, out->lost, out->speed);
}

static Shape ball(void)
{
    Shape shape = shape_sphere(6, 0.0);
    shape_move(&shape, 0.04f, 0, 0, 0);
    return shape;
}

static Shape plate(void) { return shape_box(-0.06f, -0.06f, -0.002f, 0.06f, 0.06f, 0.002f); } // a fifth of a cell

// Sums of floats over some thousand particles and hundreds of steps. In sprays a part of each grain's motion is the
// nodes' and a part its own.
TEST(mpm_keeps_momentum_with_bodies)
{
    Hit hits[] = {{"ball", ball(), 1500.0, 0.0f, 1},
                  {"ball in damp sand", ball(), 1500.0, 5.0f, 1},
                  {"thin plate", plate(), 1500.0, 0.0f, 1},
                  {"thin plate in damp sand", plate(), 1500.0, 5.0f, 1},
                  {"ball in a spray", ball(), 1500.0, 0.0f, 9},
                  {"thin plate in a spray", plate(), 1500.0, 0.0f, 9},
                  {"ball in a thinner spray", ball(), 1500.0, 0.0f, 17},
                  {"ball among single grains", ball(), 1500.0, 0.0f, 101},
                  {"thin plate among single grains", plate(), 1500.0, 0.0f, 101}};
    for (int i = 0; i < 9; i++) {
        HitResult result = {NAN, NAN};
        check_hit(&hits[i], &result);
        ENSURE(result.lost < 1e-4 && result.speed > 0.005);
    }
}

// A stamp comes down on sand that sleeps: it wakes before it is touched, and gives way.
static GrainResult stamp(SandScene *scene, SimStats *before, SimStats *after)
{
    enum { SAMPLES = 31 };
    int number;
    scene->def.may_sleep = 1;
    scene->def.expected_speed = 2.0f;
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    for (int i = 0; i < 4; i++) {
        Vec3 side = {i == 0 ? 1.0f : i == 1 ? -1.0f : 0.0f, i == 2 ? 1.0f : i == 3 ? -1.0f : 0.0f, 0.0f};
        sand_add_plane(scene, vec3_scale(side, -0.08f), side, 0.3f);
    }
    TRY(sand_add_prop(scene, shape_box(-0.03f, -0.03f, 0.5f, 0.03f, 0.03f, 0.55f), 0.5f, &number));
    float *poses = sand_add_poses(scene, number, vec3(0, 0, 0), SAMPLES, 0.05);
    if (!poses) return GRAIN_ERROR_MEMORY;
    for (int k = 24; k < SAMPLES; k++) poses[7 * k + 2] = -0.08f * (float)(k - 24); // at 1.6 m/s, 3 cm into the sand
    TRY(sand_fill_box(scene, vec3(-0.08f, -0.08f, 0), vec3(0.08f, 0.08f, 0.05f), NULL, NULL));
    TRY(sand_create(scene, 1));
    TRY(sand_run(scene, 1.2));
    scene->sim.solver->measure(scene->sim.state, before);
    TRY(sand_run(scene, 0.3));
    scene->sim.solver->measure(scene->sim.state, after);
    return GRAIN_OK;
}

TEST(mpm_sleepers_wake_before_a_prop)
{
    SandScene scene;
    SimStats before = {0}, after = {0};
    sand_begin(&scene, "mpm", RADIUS, 31.0f);
    GrainResult result = stamp(&scene, &before, &after);
    double count = (double)scene.now.count;
    int64_t inside = 0;
    for (int64_t i = 0; i < scene.now.count; i++) {
        Vec3 p = scene.now.position[i];
        inside += fabsf(p.x) < 0.03f && fabsf(p.y) < 0.03f && p.z > 0.022f; // where the stamp is now
    }
    sand_end(&scene);
    ENSURE_OK(result);
    printf("# %.1f %% asleep, then %.1f %%\n", 100.0 * (double)before.asleep / count,
           100.0 * (double)after.asleep / count);
    ENSURE((double)before.asleep > 0.99 * count && (double)after.asleep < 0.5 * count);
    ENSURE_EQUAL(inside, 0);
}
