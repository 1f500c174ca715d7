// SPDX-License-Identifier: GPL-3.0-or-later
// What tells the states of matter apart (Luciani 2000, section 4), each measured on the interaction that gives it.
#include "base/rng.h"
#include "grain/grain.h"
#include "shared/meso_scene.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIUS 0.01f
#define DIAMETER (2.0f * RADIUS)
#define GRAVITY 9.81f

// --- gas ------------------------------------------------------------------------------------------

// Two jets meet in a box without friction or loss. Energy is kept to 1 % at every one of 40 looks over 10,000 steps,
// and in the end no direction is preferred: of n particles the mean squares along two axes differ by sqrt(4 / n) of
// their mean by chance, 6 % for 1,000; 4 times that is allowed. At first all motion is along x.
TEST(meso_gas_two_jets_end_isotropic_and_keep_their_energy)
{
    SandScene scene;
    meso_begin(&scene, RADIUS, (SimMesoNumbers){3e4f, 0, 1.0f, 1.0f}); // ip1
    scene.def.gravity = vec3(0, 0, 0);
    scene.def.restitution = 1.0f;
    float half = 14.0f * RADIUS;
    for (int axis = 0; axis < 6; axis++) {
        float side = axis % 2 ? -1.0f : 1.0f;
        Vec3 n = axis < 2 ? vec3(side, 0, 0) : axis < 4 ? vec3(0, side, 0) : vec3(0, 0, side);
        sand_add_plane(&scene, vec3_scale(n, -half), n, 0.0f);
    }
    for (int side = -1; side <= 1; side += 2) {
        float low = side < 0 ? -half : 2.0f * RADIUS, high = side < 0 ? -2.0f * RADIUS : half;
        ENSURE_OK(
            meso_fill(&scene, vec3(low, -0.7f * half, -0.7f * half), vec3(high, 0.7f * half, 0.7f * half), NULL, NULL));
    }
    for (int64_t i = 0; i < scene.start.count; i++)
        scene.start.velocity[i] = vec3(scene.start.position[i].x < 0.0f ? 1.0f : -1.0f, 0, 0);
    ENSURE_OK(sand_create(&scene, 1));
    SimStats stats;
    meso_solver.measure(scene.sim.state, &stats);
    double first = stats.kinetic, worst = 0.0;
    for (int i = 0; i < 10000; i++) {
        ENSURE_OK(meso_solver.step(scene.sim.state, meso_solver.largest_step(scene.sim.state)));
        if (i % 250 != 249) continue;
        meso_solver.measure(scene.sim.state, &stats);
        worst = fmax(worst, fabs((stats.kinetic + stats.elastic) / first - 1.0));
    }
    ENSURE_OK(meso_solver.read(scene.sim.state, &scene.now));
    double square[3] = {0};
    for (int64_t i = 0; i < scene.now.count; i++) {
        Vec3 v = scene.now.velocity[i];
        square[0] += (double)(v.x * v.x), square[1] += (double)(v.y * v.y), square[2] += (double)(v.z * v.z);
    }
    double mean = (square[0] + square[1] + square[2]) / 3.0, chance = sqrt(4.0 / (double)scene.now.count);
    printf("# %lld particles, energy off by %.4f at most, squares along x, y, z over their mean: %.3f %.3f %.3f\n",
           (long long)scene.now.count, worst, square[0] / mean, square[1] / mean, square[2] / mean);
    ENSURE(scene.now.count > 600);
    ENSURE(worst < 0.01);
    for (int axis = 0; axis < 3; axis++) ENSURE_NEAR(square[axis] / mean, 1.0, 4.0 * chance);
    sand_end(&scene);
}

// --- grains ---------------------------------------------------------------------------------------

// Degrees, of the cone whose centre of mass is as high and whose mean distance from its axis is as large.
static double cone_angle(const SandScene *scene)
{
    double height = 0.0, away = 0.0;
    for (int64_t i = 0; i < scene->now.count; i++) {
        Vec3 p = scene->now.position[i];
        height += (double)p.z - 0.7 * (double)RADIUS; // the lowest layer's centres are there
        away += hypot((double)p.x, (double)p.y);
    }
    return atan(2.0 * height / away) * 57.29578;
}

// How unevenly particles of one height are pressed: standard deviation of the elastic forces on a particle, added up,
// over their mean in a layer a diameter thick, in the lower half of a heap or pool. A pressure would leave 0.
static double unevenness(const SandScene *scene)
{
    enum { LAYERS = 40 };
    const Meso *meso = meso_of(scene);
    const SimMesoSegment *e = &meso->rules.law.elastic[0];
    double sum[LAYERS] = {0}, squares[LAYERS] = {0}, count[LAYERS] = {0}, mean_z = 0.0, all = 0.0, spread = 0.0;
    for (int64_t i = 0; i < meso->neighbours.count; i++)
        mean_z += neighbours_place_of(&meso->neighbours, i).z / (double)meso->neighbours.count;
    for (int64_t i = 0; i < meso->neighbours.count; i++) {
        Vec3d a = neighbours_place_of(&meso->neighbours, i);
        double pressed = 0.0;
        int layer = (int)(a.z / (double)DIAMETER);
        if (a.z > mean_z || layer >= LAYERS) continue;
        for (int64_t j = 0; j < meso->neighbours.count; j++) {
            Vec3d b = neighbours_place_of(&meso->neighbours, j);
            double across = (double)(meso->field[MESO_RADIUS][i] + meso->field[MESO_RADIUS][j]);
            double gap = (double)e->rest * across - vec3d_length(vec3d_sub(a, b));
            if (i != j && gap > 0.0) pressed += gap * across; // times the elasticity
        }
        sum[layer] += pressed, squares[layer] += pressed * pressed, count[layer] += 1.0;
    }
    for (int k = 0; k < LAYERS; k++) {
        if (count[k] < 10.0) continue;
        double mean = sum[k] / count[k];
        spread += count[k] * sqrt(fmax(squares[k] / count[k] - mean * mean, 0.0)) / mean;
        all += count[k];
    }
    return spread / all;
}

// Variance of what each grain sets in motion over its mean: 1 where grains that slide do not take others along.
static double burstiness(const int *moved, int count)
{
    double square = 0.0, mean = 0.0;
    for (int i = 0; i < count; i++) mean += moved[i] / (double)count;
    for (int i = 0; i < count; i++) square += (moved[i] - mean) * (moved[i] - mean) / (count - 1.0);
    return square / mean;
}

// Grains fall one after another onto a spot of a rough floor. What makes them grains:
// - the heap stands: its flank changes by less than half a degree in the last second, at more than twice the 3 degrees
// a
//   fluid may have (balls without friction stand at some 6 to 10; docs/meso.md);
// - it grows by avalanches: how many a single grain sets in motion varies twice as much as if they slid each for
// itself;
// - what presses on them is not a pressure: twice as uneven as in the pool of the test below, which has 0.25.
TEST(meso_grains_pile_up_by_avalanches_with_uneven_forces)
{
    enum { HEAP = 300, GRAINS = 350 };
    const float every = 0.2f;
    SandScene scene;
    meso_begin(&scene, RADIUS, (SimMesoNumbers){8e4f, 40, 1.0f, 1.0f}); // ip3, hard
    sand_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.8f);
    // First a heap, then single grains, as fast as they fall through what surrounds them.
    scene.def.meso.ambient = 8.0f;
    float fall = GRAVITY / scene.def.meso.ambient;
    for (int i = 0; i < GRAINS; i++) {
        Rng4 random = rng_at(11, (uint64_t)i, RNG_STREAM_TEST, 0);
        float arrives = i < HEAP ? 4.0f * (float)i / HEAP : 5.0f + every * (float)(i - HEAP);
        Vec3 place = {RADIUS * rng_signed(random.word[0]), RADIUS * rng_signed(random.word[1]),
                      4.0f * DIAMETER + fall * arrives};
        float radius = 0.8f * RADIUS * (1.0f - 0.2f * rng_unit(random.word[3]));
        ENSURE_OK(particles_add(&scene.start, place, vec3(0, 0, -fall), radius));
    }
    ENSURE_OK(sand_create(&scene, 1));
    int moved[GRAINS - HEAP];
    Vec3 before[GRAINS];
    ENSURE_OK(sand_run(&scene, 5.0));
    for (int k = 0; k < GRAINS - HEAP; k++) {
        for (int i = 0; i < HEAP + k; i++) before[i] = scene.now.position[i];
        ENSURE_OK(sand_run(&scene, (double)every));
        moved[k] = 0;
        for (int i = 0; i < HEAP + k; i++)
            moved[k] += vec3_length(vec3_sub(scene.now.position[i], before[i])) > 0.25f * DIAMETER;
    }
    int largest = 0;
    for (int k = 0; k < GRAINS - HEAP; k++) largest = moved[k] > largest ? moved[k] : largest;
    double bursty = burstiness(moved, GRAINS - HEAP);
    ENSURE_OK(sand_run(&scene, 1.5));
    double angle = cone_angle(&scene), fastest;
    ENSURE_OK(sand_run(&scene, 1.0));
    double later = cone_angle(&scene), speed = sand_mean_speed(&scene, &fastest), uneven = unevenness(&scene);
    printf("# %lld grains: %.2f degrees, %.2f a second later at %.5f m/s; a grain moves up to %d others, bursty by "
           "%.1f; pressed unevenly by "
           "%.2f\n",
           (long long)scene.now.count, angle, later, speed, largest, bursty, uneven);
    ENSURE(later > 6.0);
    ENSURE_NEAR(later, angle, 0.5);
    ENSURE(bursty > 2.0);
    ENSURE(uneven > 0.6);
    sand_end(&scene);
}

// --- fluid ----------------------------------------------------------------------------------------

// A dam breaks in a tray with a rough floor: in the end the surface is flat within 3 degrees, and what presses on
// particles is nearly a pressure.
TEST(meso_fluid_spreads_flat)
{
    MesoSlope slope;
    SandScene scene;
    ENSURE_OK(meso_break_dam(&scene, (SimMesoNumbers){1500, 10, 1.5f, 0.67f}, 6.0, &slope)); // ip4
    double uneven = unevenness(&scene);
    printf("# slope %.2f degrees, covered %.2f of the tray, pressed unevenly by %.2f\n", slope.degrees, slope.covered,
           uneven);
    ENSURE(slope.covered > 0.99);
    ENSURE_NEAR(slope.degrees, 0.0, 3.0);
    ENSURE(uneven < 0.35);
    sand_end(&scene);
}

// --- paste ----------------------------------------------------------------------------------------

// A paste is pushed out of a slot between two smooth sides by a piston and falls on the floor, as out of a tube. It
// folds from side to side: where the thread stands 8 diameters above the floor, its middle crosses the axis at least
// three times, after times that differ from their mean by less than half of it (a thread that just wanders off crosses
// once, at most). Folds keep more than half of their height for 2 s after the last has come,
// and go on sinking.
TEST(meso_paste_folds)
{
    SandScene scene;
    meso_begin(&scene, RADIUS, (SimMesoNumbers){1e4f, 600, 1.0f, 2.0f}); // ip5
    const float width = 2.0f * DIAMETER, wall = 3.0f * DIAMETER, mouth = 20.0f * DIAMETER, length = 160.0f * DIAMETER;
    const float side = 0.5f * width, top = mouth + length, speed = 1.0f;
    int left, right, piston;
    sand_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.8f);
    sand_add_plane(&scene, vec3(0, -side, 0), vec3(0, 1, 0), 0.0f);
    sand_add_plane(&scene, vec3(0, side, 0), vec3(0, -1, 0), 0.0f);
    ENSURE_OK(sand_add_prop(&scene, shape_box(-side - wall, -width, mouth, -side, width, top), 0.0f, &left));
    ENSURE_OK(sand_add_prop(&scene, shape_box(side, -width, mouth, side + wall, width, top), 0.0f, &right));
    ENSURE_OK(
        sand_add_prop(&scene, shape_box(-0.9f * side, -width, top, 0.9f * side, width, top + wall), 0.0f, &piston));
    double pushing = (double)(length / speed);
    float *poses = sand_add_poses(&scene, piston, vec3(0, 0, 0), 2, pushing);
    ENSURE(poses);
    poses[7 + 2] = -length;
    ENSURE_OK(meso_fill(&scene, vec3(-side, -side, mouth), vec3(side, side, top), NULL, NULL));
    for (int64_t i = 0; i < scene.start.count; i++) scene.start.velocity[i].z = -speed;
    ENSURE_OK(sand_create(&scene, 1));
    MesoThread thread = {0};
    ENSURE_OK(meso_watch_thread(&scene, 8.0 * (double)DIAMETER, pushing, &thread));
    printf("# %lld particles: %d crossings, one every %.2f s, these differ by %.2f of that, swing %.1f diameters; %.1f "
           "diameters high, %.2f of it 2 s later, %.2f 4 s later\n",
           (long long)scene.now.count, thread.crossings, thread.half_period, thread.spread,
           thread.swing / (double)DIAMETER, thread.height / (double)DIAMETER, thread.after_2, thread.after_4);
    ENSURE(thread.crossings >= 3);
    ENSURE(thread.spread < 0.5);
    ENSURE(thread.after_2 > 0.5);
    ENSURE(thread.after_4 < thread.after_2);
    sand_end(&scene);
}
