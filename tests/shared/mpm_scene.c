// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/mpm_scene.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"
#include "sim/mpm/mpm_transfer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mpm_scene_begin(MpmScene *scene, float radius, float friction_degrees)
{
    memset(scene, 0, sizeof *scene);
    scene->seed = 7;
    scene->def = (SimDef){.solver = "mpm",
                          .gravity = {0.0f, 0.0f, -9.81f},
                          .largest_radius = radius,
                          .density = 2600.0f,
                          .friction = tanf(friction_degrees * 0.01745329f),
                          .expected_speed = 2.0f};
}

void mpm_scene_add_plane(MpmScene *scene, Vec3 point, Vec3 normal, float friction)
{
    scene->colliders[scene->def.collider_count++] =
        (SimCollider){.plane_point = point, .plane_normal = normal, .friction = friction};
}

// Of a cube with a particle's volume.
double mpm_scene_spacing(const MpmScene *scene) { return 2.0 * 0.8909 * (double)scene->def.largest_radius; }

GrainResult mpm_scene_fill(MpmScene *scene, float bottom, float height, float bottom_radius, float top_radius)
{
    float radius = scene->def.largest_radius, pitch = (float)mpm_scene_spacing(scene);
    int across = (int)(fmaxf(bottom_radius, top_radius) / pitch) + 1;
    for (int k = 0; ((float)k + 0.5f) * pitch < height; k++) {
        float z = ((float)k + 0.5f) * pitch, limit = bottom_radius + (top_radius - bottom_radius) * z / height;
        for (int j = -across; j < across; j++)
            for (int i = -across; i < across; i++) {
                Rng4 random = rng_at(scene->seed, (uint64_t)scene->start.count, RNG_STREAM_TEST, 0);
                Vec3 shift = {rng_signed(random.word[0]), rng_signed(random.word[1]), rng_signed(random.word[2])};
                Vec3 at =
                    vec3(((float)i + 0.5f) * pitch, ((float)j + 0.5f) * pitch, bottom + radius - 0.5f * pitch + z);
                if (at.x * at.x + at.y * at.y > limit * limit) continue;
                TRY(particles_add(&scene->start, vec3_add_scaled(at, shift, 0.3f * pitch), vec3(0, 0, 0), radius));
            }
    }
    return GRAIN_OK;
}

GrainResult mpm_scene_create(MpmScene *scene, int threads)
{
    scene->def.colliders = scene->colliders;
    return solver_create(&mpm_solver, &scene->def, &scene->start, threads, (void **)&scene->mpm);
}

GrainResult mpm_scene_run(MpmScene *scene, double seconds)
{
    double count = ceil(seconds / mpm_solver.largest_step(scene->mpm));
    for (int64_t i = 0; i < (int64_t)count; i++) TRY(mpm_solver.step(scene->mpm, seconds / count));
    return GRAIN_OK;
}

void mpm_scene_end(MpmScene *scene)
{
    solver_destroy(&mpm_solver, scene->mpm);
    grain_sdf_destroy(scene->sdf);
    particles_free(&scene->start);
}

double mpm_scene_mean_speed(const MpmScene *scene)
{
    double sum = 0.0;
    for (int64_t i = 0; i < scene->mpm->count; i++) {
        const float *v = scene->mpm->particles[i].velocity;
        sum += (double)vec3_length(vec3(v[0], v[1], v[2]));
    }
    return sum / (double)scene->mpm->count;
}

Vec3d mpm_scene_momentum(const MpmScene *scene)
{
    Vec3d sum = {0};
    for (int64_t i = 0; i < scene->mpm->count; i++) {
        const MpmParticle *p = &scene->mpm->particles[i];
        Vec3d v = {(double)p->velocity[0], (double)p->velocity[1], (double)p->velocity[2]};
        sum = vec3d_add(sum, vec3d_scale(v, (double)mpm_mass_of(&scene->mpm->materials, p)));
    }
    return sum;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double mpm_scene_reach(const MpmScene *scene, double part)
{
    const Mpm *mpm = scene->mpm;
    double *distance = malloc((size_t)mpm->count * sizeof *distance), result;
    if (!distance) return NAN;
    for (int64_t i = 0; i < mpm->count; i++)
        distance[i] = hypot((double)mpm->particles[i].position[0] + mpm->base.origin[0],
                            (double)mpm->particles[i].position[1] + mpm->base.origin[1]);
    qsort(distance, (size_t)mpm->count, sizeof *distance, compare);
    result = distance[(int64_t)(part * (double)(mpm->count - 1))];
    free(distance);
    return result;
}

double mpm_scene_heap_angle(const MpmScene *scene)
{
    const Mpm *mpm = scene->mpm;
    double height = 0.0;
    for (int64_t i = 0; i < mpm->count; i++) height += (double)mpm->particles[i].position[2] + mpm->base.origin[2];
    double lowest = (double)scene->def.largest_radius; // of centres on the floor
    double peak = 4.0 * (height / (double)mpm->count - lowest), foot = mpm_scene_reach(scene, 0.5) / 0.6157;
    return atan2(peak, foot) * 57.29578;
}

typedef struct InRing {
    int ring;
    double height;
} InRing;

static int compare_in_ring(const void *a, const void *b)
{
    const InRing *x = a, *y = b;
    return x->ring != y->ring ? x->ring - y->ring : x->height < y->height ? 1 : x->height > y->height ? -1 : 0;
}

void mpm_scene_surface(const MpmScene *scene, int rings, double wide, double *height)
{
    const Mpm *mpm = scene->mpm;
    double pitch = mpm_scene_spacing(scene);
    InRing *all = malloc((size_t)mpm->count * sizeof *all);
    memset(height, 0, (size_t)rings * sizeof *height);
    for (int64_t i = 0; all && i < mpm->count; i++) {
        Vec3 at = mpm_place_of(mpm, &mpm->particles[i]);
        all[i] = (InRing){(int)fmin(hypot((double)at.x, (double)at.y) / wide, rings), (double)at.z};
    }
    if (all) qsort(all, (size_t)mpm->count, sizeof *all, compare_in_ring);
    for (int64_t first = 0, end; all && first < mpm->count && all[first].ring < rings; first = end) {
        int ring = all[first].ring;
        int64_t layer = (int64_t)ceil(M_PI * wide * wide * (2 * ring + 1) / (pitch * pitch)), used;
        double sum = 0.0;
        for (end = first; end < mpm->count && all[end].ring == ring;) end++;
        used = layer < end - first ? layer : end - first;
        for (int64_t i = first; i < first + used; i++) sum += all[i].height;
        height[ring] = sum / (double)used + 0.5 * pitch;
    }
    free(all);
}

double mpm_scene_flank_angle(const MpmScene *scene)
{
    enum { RINGS = 40 };
    double height[RINGS], wide = mpm_scene_reach(scene, 0.998) / (RINGS - 1), peak = 0.0, sum[5] = {0};
    mpm_scene_surface(scene, RINGS, wide, height);
    for (int i = 0; i < RINGS; i++) peak = fmax(peak, height[i]);
    for (int i = 0; i < RINGS; i++) {
        double r = (i + 0.5) * wide, z = height[i];
        if (z > 0.8 * peak) memset(sum, 0, sizeof sum); // not there yet: the innermost rings have few particles
        if (z < 0.15 * peak || z > 0.8 * peak) continue;
        sum[0] += 1.0, sum[1] += r, sum[2] += z, sum[3] += r * r, sum[4] += r * z;
    }
    return atan2(sum[1] * sum[2] - sum[0] * sum[4], sum[0] * sum[3] - sum[1] * sum[1]) * 57.29578;
}
