// SPDX-License-Identifier: GPL-3.0-or-later
// The contact laws, one by one: Bell, Yu, Mucha 2005, eq. 7 to 19 and figure 3.
#include "grain/grain.h"
#include "shared/dem_scene.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

// Two balls of 1 kg meet with k_r = 1e6 and k_d as in figure 3, resolved by 1000 substeps: the law, not the integrator.
static double restitution_of(DemNormal normal, double k_r, double k_d, float speed)
{
    DemScene scene;
    scene_begin(&scene, 0.1f);
    scene.def.gravity = vec3(0, 0, 0);
    scene.def.normal_law = dem_normal_names[normal];
    particles_add(&scene.start, vec3(0, 0, 0), vec3(0.5f * speed, 0, 0), 0.1f);
    particles_add(&scene.start, vec3(0.2001f, 0, 0), vec3(-0.5f * speed, 0, 0), 0.1f);
    if (scene_create(&scene, 1) != GRAIN_OK) return -1.0;
    Dem *dem = scene.dem;
    dem->balls[0].inverse_mass = dem->balls[1].inverse_mass = 1.0f;
    double mass = 0.5, radius = 0.05,
           depth = pow(mass * (double)speed * (double)speed / k_r, normal == DEM_NORMAL_LINEAR ? 0.5 : 0.4);
    double seconds = depth / (double)speed / 1000.0;
    DemMix *mix = &dem->mixes.mix[0];
    switch (normal) {
    case DEM_NORMAL_LINEAR:
        mix->stiffness = (float)(k_r / mass), mix->damping = (float)(k_d / mass);
        break;
    case DEM_NORMAL_HERTZ:
        mix->stiffness = (float)(k_r / sqrt(radius)), mix->damping = (float)(k_d / k_r);
        break;
    case DEM_NORMAL_HERTZ_TSUJI:
        mix->stiffness = (float)(k_r / sqrt(radius)), mix->damping = (float)(k_d / sqrt(mass * k_r));
        break;
    case DEM_NORMAL_HERTZ_DASHPOT:
        mix->stiffness = (float)(k_r / sqrt(radius)), mix->damping = (float)(k_d / mass);
        break;
    }
    dem->law.first = *mix;
    double after = -1.0, until = 0.0001 / (double)speed + 6.0 * depth / (double)speed;
    for (double t = 0.0; t < until; t += seconds) dem_solver.step(dem, seconds);
    after = fabs((double)(dem->balls[0].velocity[0] - dem->balls[1].velocity[0])) / (double)speed;
    scene_end(&scene);
    return after;
}

static const double damping[] = {50.0, 100.0, 250.0, 500.0};

// Figure 3, upper left and lower left: independent of speed. Two decades; 1 % of the energy lost.
MARKED_TEST(linear_and_tsuji_restitution_is_the_same_at_any_speed, TEST_ADDRESS)
{
    static const DemNormal normals[] = {DEM_NORMAL_LINEAR, DEM_NORMAL_HERTZ_TSUJI};
    for (int n = 0; n < 2; n++)
        for (int d = 0; d < 4; d++) {
            double at_one = restitution_of(normals[n], 1e6, damping[d], 1.0f);
            ENSURE(at_one > 0.3 && at_one < 0.995);
            for (float speed = 0.1f; speed < 20.0f; speed *= 10.0f)
                ENSURE_NEAR(1.0 - restitution_of(normals[n], 1e6, damping[d], speed), 1.0 - at_one,
                            0.01 * (1.0 - at_one));
        }
}

// Figure 3, lower right: 1 - e grows as v^(1/5) where little is lost (5 %), and in all of it follows the series of
// Ramirez, Poeschel, Brilliantov, Schwager 1999, eq. 20: 1 - e = x - 0.6 x2 + 0.315 x3 - 0.161 x4 with x proportional
// to v^(1/5).
MARKED_TEST(hertz_restitution_falls_with_the_fifth_root_of_speed, TEST_ADDRESS)
{
    double slow = 1.0 - restitution_of(DEM_NORMAL_HERTZ, 1e6, 50.0, 0.01f);
    double fast = 1.0 - restitution_of(DEM_NORMAL_HERTZ, 1e6, 50.0, 1.0f);
    ENSURE_NEAR(log(fast / slow) / log(100.0), 0.2, 0.01);
    double x_of_50 = fast * (1.0 + 0.6 * fast); // the series turned round; what is left out is 1e-5
    for (int d = 0; d < 4; d++) {
        double before = 1.0;
        for (float speed = 0.1f; speed < 20.0f; speed *= 10.0f) {
            double now = restitution_of(DEM_NORMAL_HERTZ, 1e6, damping[d], speed);
            double x = x_of_50 * damping[d] / 50.0 * pow((double)speed, 0.2);
            ENSURE_NEAR(1.0 - now, x - 0.6 * x * x + 0.315 * x * x * x - 0.161 * x * x * x * x, 0.02 * x);
            ENSURE(now < before);
            before = now;
        }
    }
}

// Figure 3, upper right: the unnatural one.
MARKED_TEST(dashpot_restitution_rises_with_speed, TEST_ADDRESS)
{
    for (int d = 0; d < 4; d++) {
        double before = 0.0;
        for (float speed = 0.1f; speed < 20.0f; speed *= 10.0f) {
            double now = restitution_of(DEM_NORMAL_HERTZ_DASHPOT, 1e6, damping[d], speed);
            ENSURE(now > before);
            before = now;
        }
    }
}

// Bell's eq. 9 and 10 hold for contacts that end with the overlap, by when damping pulls. Ours never pulls and must be
// damped more to lose as much: the table of both, and where they meet.
MARKED_TEST(damping_gives_the_restitution_asked_for_by_every_law, TEST_ADDRESS)
{
    for (int normal = 0; dem_normal_names[normal]; normal++)
        for (double restitution = 0.05; restitution < 1.0; restitution += 0.15)
            ENSURE_NEAR(dem_law_restitution((DemNormal)normal, dem_law_damping((DemNormal)normal, restitution)),
                        restitution, 0.002);
    double e = 0.95, by_equation_9 = -2.0 * log(e) / sqrt(log(e) * log(e) + M_PI * M_PI);
    ENSURE_NEAR(dem_law_damping(DEM_NORMAL_LINEAR, e) / by_equation_9, 1.0, 0.02);
}

// The settings reach the balls: each law bounces as asked at the fastest expected speed, with the step it asks for. 2
// %: 20 substeps a contact.
MARKED_TEST(every_law_bounces_as_asked, TEST_ADDRESS)
{
    for (int normal = 0; dem_normal_names[normal]; normal++) {
        DemScene scene;
        scene_begin(&scene, 0.005f);
        scene.def.gravity = vec3(0, 0, 0);
        scene.def.normal_law = dem_normal_names[normal];
        scene.def.restitution = 0.6f;
        scene.def.poisson_ratio = 0.3f;
        particles_add(&scene.start, vec3(0, 0, 0), vec3(0.5f, 0, 0), 0.005f);
        particles_add(&scene.start, vec3(0.0101f, 0, 0), vec3(-0.5f, 0, 0), 0.005f);
        ENSURE_OK(scene_create(&scene, 1));
        ENSURE_OK(scene_run(&scene, 0.01));
        ENSURE_NEAR(scene.dem->balls[1].velocity[0] - scene.dem->balls[0].velocity[0], 0.6, 0.012);
        scene_end(&scene);
    }
}

// Hertz from the modulus (eq. 13 to 15): a ball of glass on a like one sinks in by (15 m v2 / (16 E R^1/2))^(2/5), 1 %.
MARKED_TEST(hertz_overlap_follows_from_the_modulus, TEST_ADDRESS)
{
    DemScene scene;
    scene_begin(&scene, 0.01f);
    scene.def.gravity = vec3(0, 0, 0);
    scene.def.normal_law = "hertz";
    scene.def.restitution = 1.0f;
    scene.def.young_modulus = 1e7f;
    scene.def.poisson_ratio = 0.25f;
    particles_add(&scene.start, vec3(0, 0, 0), vec3(0.5f, 0, 0), 0.01f);
    particles_add(&scene.start, vec3(0.0201f, 0, 0), vec3(-0.5f, 0, 0), 0.01f);
    ENSURE_OK(scene_create(&scene, 1));
    double mass = 0.5 / (double)scene.dem->balls[0].inverse_mass, modulus = 0.5 * 1e7 / (1.0 - 0.0625);
    double expected = pow(15.0 * mass / (16.0 * modulus * sqrt(0.005)), 0.4), deepest = 0.0;
    for (int i = 0; i < 2000; i++) {
        ENSURE_OK(dem_solver.step(scene.dem, 0.1 * dem_solver.largest_step(scene.dem)));
        double overlap = 0.02 - (double)(scene_position(&scene, 1).x - scene_position(&scene, 0).x);
        deepest = overlap > deepest ? overlap : deepest;
    }
    ENSURE_NEAR(deepest / expected, 1.0, 0.01);
    scene_end(&scene);
}

// A ball set down on a floor that slides: how far it is carried along tells the friction law. It cannot roll.
static GrainResult drag(DemScene *scene, const char *shear_law, float tilt_degrees, double seconds, double *speed)
{
    scene_begin(scene, 0.005f);
    scene->def.shear_law = shear_law;
    scene->def.rolling_friction = 100.0f;
    float tilt = tilt_degrees * (float)(M_PI / 180.0);
    scene->def.gravity = vec3(9.81f * sinf(tilt), 0, -9.81f * cosf(tilt));
    scene_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    GrainResult result = particles_add(&scene->start, vec3(0, 0, 0.005f), vec3(0, 0, 0), 0.005f);
    if (result == GRAIN_OK) result = scene_create(scene, 1);
    if (result == GRAIN_OK) result = scene_run(scene, seconds);
    *speed = result == GRAIN_OK ? (double)scene->dem->balls[0].velocity[0] : -1.0;
    return result;
}

// Friction 0.5 is an angle of 26.6 degrees. Above it all laws with a Coulomb limit accelerate by g (sin - mu cos);
// below it only the spring holds.
MARKED_TEST(coulomb_limit_holds_for_every_law_that_has_one, TEST_ADDRESS)
{
    static const char *const laws[] = {"spring", "sliding", "coulomb"};
    for (int i = 0; i < 3; i++) {
        DemScene scene;
        double speed, tilt = 35.0 * M_PI / 180.0;
        ENSURE_OK(drag(&scene, laws[i], 35.0f, 0.2, &speed));
        ENSURE_NEAR(speed, 0.2 * 9.81 * (sin(tilt) - 0.5 * cos(tilt)), 0.01);
        scene_end(&scene);
    }
    DemScene scene;
    double speed, tilt = 35.0 * M_PI / 180.0;
    ENSURE_OK(drag(&scene, "none", 35.0f, 0.2, &speed));
    ENSURE_NEAR(speed, 0.2 * 9.81 * sin(tilt), 0.002);
    scene_end(&scene);
}

MARKED_TEST(only_the_spring_holds_on_a_slope, TEST_ADDRESS)
{
    DemScene scene;
    double speed;
    ENSURE_OK(drag(&scene, "spring", 25.0f, 0.5, &speed));
    ENSURE_NEAR(speed, 0.0, 1e-6);
    scene_end(&scene);
    ENSURE_OK(drag(&scene, "sliding", 25.0f, 0.5, &speed));
    ENSURE(speed > 1e-4); // creeps
    scene_end(&scene);
}

// The pull is proportional to the effective radius, as that of a liquid bridge or of surfaces that stick: twice as
// strong towards a wall as between two grains. So a ceiling carries a grain of cohesion 0.55, and drops one of 0.45.
MARKED_TEST(cohesion_carries_what_it_says, TEST_ADDRESS)
{
    static const float cohesion[] = {0.45f, 0.55f};
    for (int i = 0; i < 2; i++) {
        DemScene scene;
        scene_begin(&scene, 0.005f);
        scene.def.cohesion = cohesion[i];
        scene_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, -1), 0.5f); // a ceiling
        ENSURE_OK(particles_add(&scene.start, vec3(0, 0, -0.0049999f), vec3(0, 0, 0), 0.005f));
        ENSURE_OK(scene_create(&scene, 1));
        ENSURE_OK(scene_run(&scene, 0.2));
        ENSURE((scene_position(&scene, 0).z < -0.02f) == (2.0f * cohesion[i] < 1.0f));
        scene_end(&scene);
    }
}

// Kinds of grain mix by geometric means: a ball of friction 0.8 between balls of 0.2 slides as one of 0.4.
MARKED_TEST(materials_mix, TEST_ADDRESS)
{
    SimDef def = {.friction = 0.8f,
                  .restitution = 0.9f,
                  .density = 2600.0f,
                  .largest_radius = 0.01f,
                  .softness = 0.1f,
                  .expected_speed = 1.0f,
                  .gravity = {0, 0, -9.81f}};
    SimMaterial second = {.density = 1000.0f, .friction = 0.2f, .restitution = 0.4f, .cohesion = 3.0f};
    def.more_materials = &second, def.more_material_count = 1;
    DemLaw law;
    DemMixes mixes;
    ENSURE_OK(dem_law_choose(&def, 0.01f, 0.01f, &law, &mixes));
    const DemMix *mixed = &mixes.mix[1], *back = &mixes.mix[DEM_MAX_MATERIALS];
    ENSURE_NEAR(mixed->friction, 0.4, 1e-6);
    ENSURE_NEAR(mixed->cohesion, 0.0, 0.0); // one of them does not stick
    ENSURE(memcmp(mixed, back, sizeof *mixed) == 0);
    ENSURE_NEAR(dem_law_restitution(DEM_NORMAL_LINEAR, (double)mixed->damping / sqrt((double)mixed->stiffness)), 0.6,
                0.002);
    def.normal_law = "rubber";
    ENSURE_FAILS(dem_law_choose(&def, 0.01f, 0.01f, &law, &mixes), GRAIN_ERROR_ARGUMENT, "hertz_tsuji");
}
