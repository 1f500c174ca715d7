// SPDX-License-Identifier: GPL-3.0-or-later
// Turbulent fluid (Luciani 2000, section 5.1.4): a shear layer rolls up. Two streams pass each other at twice `SPEED`;
// a wave on the layer between them grows, as Kelvin and Helmholtz found, where without the streams it dies away.
//
// What it takes: a fluid thin enough for its waves (Reynolds number SPEED * WAVE / viscosity), streams slow against its
// sound, and no ends. Particles that reach each other softly (ip4) and move as those of a liquid do have a kinematic
// viscosity of about a third of their diameter times the speed they swarm at, and sound goes 4 times as fast as that:
// with SPEED at 0.4 of the sound's, a wave of 100 diameters has a Reynolds number of some 500.
#include "base/rng.h"
#include "grain/grain.h"
#include "shared/meso_scene.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>

#define DIAMETER 0.02f
#define WAVE (100.0f * DIAMETER) // one wave fits in
#define HEIGHT (0.75f * WAVE)
#define WIDTH (3.0f * DIAMETER)
#define SPEED 0.5f              // m/s, of each stream
#define SEED 0.06f              // m/s, of the wave
#define LAYER (3.0f * DIAMETER) // half of its thickness: SPEED tanh(z / LAYER)
#define SWARM 0.28f             // m/s, along each axis

// Particles within 8 diameters of an end are followed on the other side too, so that nobody notices the end. After 0.06
// s, before sound has come through those 8 diameters (0.13 s), copies are made anew.
#define COPIED (8.0f * DIAMETER)
#define SECONDS 0.06

static GrainResult place(SandScene *scene, const Particles *particles)
{
    meso_begin(scene, 0.5f * DIAMETER, (SimMesoNumbers){1400, 0.05f, 1.5f, 0.67f}); // ip4
    scene->def.gravity = vec3(0, 0, 0);
    scene->def.restitution = 1.0f;
    for (int side = -1; side <= 1; side += 2) {
        float n = (float)-side;
        sand_add_plane(scene, vec3(0, -0.5f * n * WIDTH, 0), vec3(0, n, 0), 0.0f);
        sand_add_plane(scene, vec3(0, 0, -0.5f * n * HEIGHT), vec3(0, 0, n), 0.0f);
    }
    GrainResult result = GRAIN_OK;
    for (int64_t i = 0; i < particles->count; i++)
        for (int copy = -1; copy <= 1 && result == GRAIN_OK; copy++) {
            Vec3 at = particles->position[i];
            at.x += (float)copy * WAVE;
            if (at.x >= -COPIED && at.x < WAVE + COPIED)
                result = particles_add(&scene->start, at, particles->velocity[i], particles->radius[i]);
        }
    return result == GRAIN_OK ? sand_create(scene, 1) : result;
}

static GrainResult go_on(Particles *particles)
{
    SandScene scene;
    GrainResult result = place(&scene, particles);
    if (result == GRAIN_OK) result = sand_run(&scene, SECONDS);
    particles->count = 0;
    for (int64_t i = 0; i < scene.now.count && result == GRAIN_OK; i++) {
        Vec3 at = scene.now.position[i];
        if (at.x >= 0.0f && at.x < WAVE)
            result = particles_add(particles, at, scene.now.velocity[i], scene.now.radius[i]);
    }
    sand_end(&scene);
    return result;
}

// A liquid at rest: from a lattice that melts for 0.36 s.
static GrainResult melt(Particles *particles)
{
    const float pitch = 1.04f * DIAMETER;
    const int along = (int)(WAVE / pitch), across = (int)(WIDTH / pitch), high = (int)(HEIGHT / pitch);
    GrainResult result = GRAIN_OK;
    for (int i = 0; i < along * across * high && result == GRAIN_OK; i++) {
        float sum[3] = {0}; // of three, each even in [-1, 1): 1 is its mean square
        for (uint32_t k = 0; k < 3; k++) {
            Rng4 random = rng_at(3, (uint64_t)i, RNG_STREAM_TEST, k);
            for (int axis = 0; axis < 3; axis++) sum[axis] += rng_signed(random.word[axis]);
        }
        Vec3 at = {((float)(i % along) + 0.5f) * WAVE / (float)along,
                   ((float)(i / along % across) + 0.5f) * WIDTH / (float)across - 0.5f * WIDTH,
                   ((float)(i / along / across) + 0.5f) * HEIGHT / (float)high - 0.5f * HEIGHT};
        result = particles_add(particles, at, vec3_scale(vec3(sum[0], sum[1], sum[2]), SWARM), 0.5f * DIAMETER);
    }
    for (int k = 0; k < 6 && result == GRAIN_OK; k++) result = go_on(particles);
    return result;
}

// The growing wave of a thin layer: its middle at SEED / (k SPEED) cos kx, and the flow on both sides that goes with
// it. Without streams that flow alone.
static void start_wave(Particles *particles, float speed)
{
    const float k = 6.2831853f / WAVE;
    for (int64_t i = 0; i < particles->count; i++) {
        Vec3 at = particles->position[i];
        float cosine = cosf(k * at.x), sine = sinf(k * at.x);
        float z = speed > 0.0f ? at.z - SEED / (k * speed) * cosine : at.z;
        float side = z > 0.0f ? 1.0f : -1.0f, wave = SEED * expf(-k * fabsf(z));
        Vec3 flow = {speed * tanhf(z / LAYER) + wave * (side * sine + cosine), 0, wave * (cosine - side * sine)};
        particles->velocity[i] = vec3_add(particles->velocity[i], flow);
    }
}

// m/s, up and down in the middle of the layer.
static double wave_of(const Particles *particles)
{
    const double k = 2.0 * M_PI / (double)WAVE;
    double cosine = 0.0, sine = 0.0, count = 0.0;
    for (int64_t i = 0; i < particles->count; i++) {
        double x = (double)particles->position[i].x, w = (double)particles->velocity[i].z;
        if (fabsf(particles->position[i].z) > WAVE / 16.0f) continue;
        cosine += w * cos(k * x), sine += w * sin(k * x), count += 1.0;
    }
    return 2.0 * hypot(cosine, sine) / count;
}

// m, half of the layer's thickness: of the tanh that lacks as much of the streams' energy.
static double layer_of(const Particles *particles)
{
    enum { SLICES = 60 };
    double sum[SLICES] = {0}, count[SLICES] = {0}, lacks = 0.0;
    for (int64_t i = 0; i < particles->count; i++) {
        int slice = (int)((particles->position[i].z / HEIGHT + 0.5f) * SLICES);
        if (slice < 0 || slice >= SLICES) continue;
        sum[slice] += (double)particles->velocity[i].x, count[slice] += 1.0;
    }
    for (int s = 0; s < SLICES; s++) {
        double part = sum[s] / fmax(count[s], 1.0) / (double)SPEED;
        lacks += (1.0 - part * part) * (double)HEIGHT / SLICES;
    }
    return 0.5 * lacks;
}

// 1/s, of a straight line through the logarithm, from the sixth look on (0.36 s: what the seed is not like the wave has
// died away); *layer: mean over that time.
static GrainResult growth_of(float speed, int looks, double *rate, double *layer, int64_t *lost)
{
    double n = 0.0, t = 0.0, y = 0.0, tt = 0.0, ty = 0.0;
    Particles particles = {0};
    *layer = 0.0;
    GrainResult result = melt(&particles);
    int64_t before = particles.count;
    if (result == GRAIN_OK) start_wave(&particles, speed);
    for (int look = 0; look <= looks && result == GRAIN_OK; look++) {
        if (look > 0) result = go_on(&particles);
        double time = look * SECONDS, wave = wave_of(&particles);
        if (look % 6 == 0)
            printf("# streams of %.1f m/s, %.2f s: wave %.3f m/s, layer %.1f diameters\n", (double)speed, time, wave,
                   speed > 0.0f ? layer_of(&particles) / (double)DIAMETER : 0.0);
        if (look < 6) continue;
        n += 1.0, t += time, y += log(wave), tt += time * time, ty += time * log(wave);
        *layer += layer_of(&particles);
    }
    *rate = (n * ty - t * y) / (n * tt - t * t);
    *layer /= n;
    *lost = before - particles.count;
    particles_free(&particles);
    return result;
}

// The wave grows at no less than half, and no more than, the rate of a fluid without viscosity and the same layer:
// SPEED / layer * f(k layer), f = 0.18 at k layer = 0.35 (Michalke 1964, figure 1: 0.16 to 0.19 between 0.25 and 0.6).
// Less by viscosity and by walls above and below; without viscosity or chance it could not be more. Without streams it
// dies away, by viscosity alone.
TEST(meso_turbulent_fluid_a_shear_layer_rolls_up)
{
    double growth, decay, layer, none;
    int64_t lost, lost_at_rest;
    ENSURE_OK(growth_of(SPEED, 36, &growth, &layer, &lost));
    ENSURE_OK(growth_of(0.0f, 18, &decay, &none, &lost_at_rest));
    double ideal = 0.18 * (double)SPEED / layer, k_layer = 2.0 * M_PI / (double)WAVE * layer;
    printf("# grows at %.2f 1/s, without viscosity %.2f; without streams at %.2f 1/s; k times layer %.2f\n", growth,
           ideal, decay, k_layer);
    ENSURE(k_layer > 0.25 && k_layer < 0.6);
    ENSURE(growth > 0.5 * ideal && growth < ideal);
    ENSURE(decay < 0.0);
    // Copies that are no longer quite the same lose or double some: one in a thousand at most.
    ENSURE(llabs(lost) < 14 && llabs(lost_at_rest) < 14);
}
