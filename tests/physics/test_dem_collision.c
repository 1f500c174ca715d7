// Two balls, one contact: restitution, conserved quantities.
#include "base/rng.h"
#include "grain/grain.h"
#include "physics/dem_scene.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

// Two balls of radius 5 mm and 4 mm meet head on, `gap` apart at first; the ratio of the speeds after and before.
static double restitution_of(float wanted, float speed, float gap)
{
    DemScene scene;
    scene_begin(&scene, 0.005f);
    scene.def.gravity = vec3(0, 0, 0);
    scene.def.restitution = wanted;
    particles_add(&scene.start, vec3(0, 0, 0), vec3(0.5f * speed, 0, 0), 0.005f);
    particles_add(&scene.start, vec3(0.009f + gap, 0, 0), vec3(-0.5f * speed, 0, 0), 0.004f);
    double after = -1.0;
    if (scene_create(&scene, 1) == GRAIN_OK && scene_run(&scene, 0.02 / (double)speed) == GRAIN_OK)
        after = fabs((double)(scene.dem->balls[0].velocity[0] - scene.dem->balls[1].velocity[0])) / (double)speed;
    scene_end(&scene);
    return after;
}

// 1 % also for a single collision, whatever part of a substep it begins in.
TEST(restitution_is_as_asked)
{
    static const float wanted[] = {0.2f, 0.3f, 0.5f, 0.8f, 0.95f};
    for (int i = 0; i < 5; i++)
        for (float speed = 1.0f; speed > 0.01f; speed *= 0.2f)
            for (int phase = 0; phase < 16; phase++) {
                float gap = 1e-4f + speed * 8e-5f * (float)phase / 16.0f; // a substep is 7.9e-5 s
                ENSURE_NEAR(restitution_of(wanted[i], speed, gap) / (double)wanted[i], 1.0, 0.01);
            }
}

typedef struct Totals {
    double momentum[3], angular[3], mass_speed, lever_speed;
} Totals;

static Totals totals_of(const DemScene *scene)
{
    Totals t = {0};
    for (int64_t i = 0; i < scene->dem->count; i++) {
        const DemBall *ball = &scene->dem->balls[i];
        double mass = 1.0 / (double)ball->inverse_mass, inertia = 1.0 / (double)ball->inverse_inertia, x[3], v[3];
        for (int axis = 0; axis < 3; axis++) {
            x[axis] = (double)ball->anchor[axis] + (double)ball->offset[axis];
            v[axis] = (double)ball->velocity[axis];
            t.momentum[axis] += mass * v[axis];
        }
        for (int axis = 0; axis < 3; axis++) {
            int b = (axis + 1) % 3, c = (axis + 2) % 3;
            t.angular[axis] += mass * (x[b] * v[c] - x[c] * v[b]) + inertia * (double)ball->spin[axis];
        }
        double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        t.mass_speed += mass * speed;
        t.lever_speed += mass * speed * sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    }
    return t;
}

// A cloud that falls together, spins and flies apart again, without gravity. Momentum and angular momentum stay; the
// tolerance is float rounding: some thousand steps of 6e-8 each, most of which cancel.
TEST(momentum_and_spin_of_a_cloud_stay)
{
    DemScene scene;
    scene_begin(&scene, 0.005f);
    scene.def.gravity = vec3(0, 0, 0);
    scene.def.rolling_friction = 0.3f;
    ENSURE_OK(scene_fill_box(&scene, vec3(-0.04f, -0.04f, -0.04f), vec3(0.04f, 0.04f, 0.04f), 0.3f, 0.2f));
    for (int64_t i = 0; i < scene.start.count; i++) {
        Vec3 at = scene.start.position[i];
        Rng4 random = rng_at(5, (uint64_t)i, RNG_STREAM_TEST, 1);
        scene.start.velocity[i] = vec3_add(vec3_scale(at, -20.0f), vec3_cross(vec3(0, 3, 9), at));
        scene.start.velocity[i].x += 0.2f * rng_signed(random.word[0]);
    }
    ENSURE_OK(scene_create(&scene, 1));
    Totals before = totals_of(&scene);
    double energy = scene_kinetic_energy(&scene);
    ENSURE_OK(scene_run(&scene, 0.1));
    Totals after = totals_of(&scene);
    ENSURE(scene_kinetic_energy(&scene) < 0.9 * energy); // it did collide
    for (int axis = 0; axis < 3; axis++) {
        ENSURE_NEAR(after.momentum[axis] / before.mass_speed, before.momentum[axis] / before.mass_speed, 1e-6);
        ENSURE_NEAR(after.angular[axis] / before.lever_speed, before.angular[axis] / before.lever_speed, 5e-6);
    }
    scene_end(&scene);
}
