// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/sand_scene.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"
#include "sim/material.h"
#include "sim/rigid/rigid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRAVITY 9.81f
#define SHAKE 0.05f // spacings

void sand_begin(SandScene *scene, const char *solver, float radius, float friction_degrees)
{
    memset(scene, 0, sizeof *scene);
    SimMesoNumbers numbers = sim_meso_numbers(0);
    scene->def = (SimDef){.solver = solver,
                          .gravity = {0.0f, 0.0f, -GRAVITY},
                          .largest_radius = radius,
                          .density = 2600.0f,
                          .friction = tanf(friction_degrees * 0.01745329f),
                          .restitution = 0.3f,
                          .softness = 0.1f,
                          .meso = sim_meso_of(&numbers)};
}

void sand_expect_fall(SandScene *scene, float height) { scene->def.expected_speed = sqrtf(2.0f * GRAVITY * height); }

void sand_add_plane(SandScene *scene, Vec3 point, Vec3 normal, float friction)
{
    scene->colliders[scene->def.collider_count++] =
        (SimCollider){.plane_point = point, .plane_normal = normal, .friction = friction};
}

GrainResult sand_add_prop(SandScene *scene, Shape shape, float friction, int *number)
{
    int i = *number = scene->def.collider_count++;
    scene->shape[i] = shape;
    scene->mesh[i] = shape_mesh(&scene->shape[i]);
    GrainSdfDef def;
    GrainRun run = {sizeof run, 1, NULL, NULL};
    TRY(grain_sdf_def_default(&def, sizeof def));
    def.voxel_size = scene->def.largest_radius; // as bakes of a continuum do
    def.band_voxels = 9.0f;
    scene->colliders[i] = (SimCollider){.friction = friction, .mesh = &scene->mesh[i]};
    TRY(grain_sdf_create(&scene->mesh[i], &def, &run, &scene->sdf[i]));
    scene->colliders[i].sdf = scene->sdf[i];
    return GRAIN_OK;
}

GrainResult sand_add_body(SandScene *scene, Shape shape, double density, float friction, int *number)
{
    TRY(sand_add_prop(scene, shape, friction, number));
    int i = *number;
    GrainMassProperties mass = {.struct_size = sizeof mass};
    GrainCoverDef def;
    GrainRun run = {sizeof run, 1, NULL, NULL};
    GrainView points;
    TRY(grain_mesh_mass(&scene->mesh[i], density, &mass));
    TRY(grain_cover_def_default(&def, sizeof def));
    def.radius = scene->def.largest_radius;
    TRY(grain_cover_mesh(&scene->mesh[i], &def, &run, &scene->cover[i]));
    TRY(grain_cover_view(scene->cover[i], GRAIN_COVER_POSITION, &points));
    scene->body[i] = (SimBody){.mass = mass.mass,
                               .centre = {mass.centre[0], mass.centre[1], mass.centre[2]},
                               .points = points.data,
                               .point_count = points.count,
                               .point_radius = def.radius};
    memcpy(scene->body[i].inertia, mass.inertia, sizeof mass.inertia);
    scene->colliders[i].body = &scene->body[i];
    return GRAIN_OK;
}

float *sand_add_poses(SandScene *scene, int number, Vec3 pivot, int count, double sample_seconds)
{
    float *poses = scene->samples[number] = ALLOC_ZEROED(float, 7 * count);
    for (int k = 0; poses && k < count; k++) {
        const float pose[7] = {pivot.x, pivot.y, pivot.z, 1.0f, 0.0f, 0.0f, 0.0f};
        memcpy(poses + 7 * k, pose, sizeof pose);
    }
    scene->colliders[number].motion = motion_of_poses(poses, count, sample_seconds);
    return poses;
}

float sand_spacing(const SandScene *scene) { return 2.0f * scene->def.largest_radius * 0.8908987f; } // 2^(-1/6)

GrainResult sand_fill_box(SandScene *scene, Vec3 low, Vec3 high, SandFn *is_inside, const void *user)
{
    float pitch = sand_spacing(scene), radius = scene->def.largest_radius;
    int along[3];
    const float size[3] = {high.x - low.x, high.y - low.y, high.z - low.z};
    for (int a = 0; a < 3; a++) along[a] = (int)((size[a] - 2.0f * radius) / pitch + 1.001f);
    for (int k = 0; k < along[2]; k++)
        for (int j = 0; j < along[1]; j++)
            for (int i = 0; i < along[0]; i++) {
                Rng4 random = rng_at(7, (uint64_t)scene->start.count, RNG_STREAM_TEST, 0);
                Vec3 shift = {rng_signed(random.word[0]), rng_signed(random.word[1]), rng_signed(random.word[2])};
                Vec3 at = {low.x + radius + (float)i * pitch, low.y + radius + (float)j * pitch,
                           low.z + radius + (float)k * pitch};
                if (is_inside && !is_inside(user, at)) continue;
                TRY(particles_add(&scene->start, vec3_add_scaled(at, shift, SHAKE * pitch), vec3(0, 0, 0), radius));
            }
    return GRAIN_OK;
}

GrainResult sand_fill_packed(SandScene *scene, Vec3 low, Vec3 high)
{
    float radius = scene->def.largest_radius, pitch = 2.02f * radius;
    const float step[3] = {pitch, 0.8660254f * pitch, 0.8164966f * pitch};
    for (int k = 0; low.z + radius + (float)k * step[2] <= high.z - radius; k++)
        for (int j = 0; low.y + radius + ((float)j + (float)(k % 2) / 3.0f) * step[1] <= high.y - radius; j++)
            for (int i = 0; low.x + radius + ((float)i + 0.5f * (float)((j + k) % 2)) * step[0] <= high.x - radius;
                 i++) {
                Rng4 random = rng_at(7, (uint64_t)scene->start.count, RNG_STREAM_TEST, 0);
                Vec3 shift = {rng_signed(random.word[0]), rng_signed(random.word[1]), rng_signed(random.word[2])};
                Vec3 at = {low.x + radius + ((float)i + 0.5f * (float)((j + k) % 2)) * step[0],
                           low.y + radius + ((float)j + (float)(k % 2) / 3.0f) * step[1],
                           low.z + radius + (float)k * step[2]};
                TRY(particles_add(&scene->start, vec3_add_scaled(at, shift, 0.005f * radius), vec3(0, 0, 0), radius));
            }
    return GRAIN_OK;
}

GrainResult sand_create(SandScene *scene, int threads)
{
    scene->def.colliders = scene->colliders;
    scene->def.particle_moisture = scene->moisture;
    TRY(sim_create(&scene->sim, &scene->def, &scene->start, 1.0, threads));
    return scene->sim.solver->read(scene->sim.state, &scene->now);
}

GrainResult sand_run(SandScene *scene, double seconds)
{
    scene->sim.frame_seconds = seconds;
    TRY(sim_advance_frame(&scene->sim, NULL));
    return scene->sim.solver->read(scene->sim.state, &scene->now);
}

void sand_end(SandScene *scene)
{
    sim_destroy(&scene->sim);
    particles_free(&scene->start);
    particles_free(&scene->now);
    alloc_free(scene->moisture);
    for (int i = 0; i < SAND_MAX_COLLIDERS; i++) {
        grain_sdf_destroy(scene->sdf[i]);
        grain_cover_destroy(scene->cover[i]);
        shape_free(&scene->shape[i]);
        alloc_free(scene->samples[i]);
    }
}

// --- what is measured -----------------------------------------------------------------------------

const RigidObject *sand_object(const SandScene *scene, int number)
{
    return &solver_rigid(scene->sim.state)->objects[number];
}

double sand_mean_speed(const SandScene *scene, double *fastest)
{
    double sum = 0.0;
    *fastest = 0.0;
    for (int64_t i = 0; i < scene->now.count; i++) {
        double speed = (double)vec3_length(scene->now.velocity[i]);
        sum += speed, *fastest = fmax(*fastest, speed);
    }
    return sum / (double)scene->now.count;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Mean of the highest twentieth of these.
static double top_of(double *height, int64_t count)
{
    int64_t top = 1 + count / 20;
    double sum = 0.0;
    if (count == 0) return 0.0;
    qsort(height, (size_t)count, sizeof *height, compare);
    for (int64_t i = count - top; i < count; i++) sum += height[i];
    return sum / (double)top;
}

// Strips by a coordinate: along x, or the distance from the z axis.
static void surface(const SandScene *scene, int is_round, double low, double high, int count, double *height)
{
    double *heights = malloc((size_t)scene->now.count * sizeof *heights);
    for (int s = 0; s < count; s++) {
        int64_t found = 0;
        double from = low + (high - low) * s / count, to = low + (high - low) * (s + 1) / count;
        for (int64_t i = 0; heights && i < scene->now.count; i++) {
            Vec3 p = scene->now.position[i];
            double at = is_round ? hypot((double)p.x, (double)p.y) : (double)p.x;
            if (at >= from && at < to) heights[found++] = (double)p.z;
        }
        height[s] = heights ? top_of(heights, found) : 0.0;
    }
    free(heights);
}

void sand_profile(const SandScene *scene, double low, double high, int count, double *height)
{
    surface(scene, 0, low, high, count, height);
}

double sand_reach(const SandScene *scene, double part)
{
    double *x = malloc((size_t)scene->now.count * sizeof *x), result = NAN;
    for (int64_t i = 0; x && i < scene->now.count; i++) x[i] = (double)scene->now.position[i].x;
    if (x) {
        qsort(x, (size_t)scene->now.count, sizeof *x, compare);
        result = x[(int64_t)(part * (double)(scene->now.count - 1))];
    }
    free(x);
    return result;
}

double sand_flank_angle(const SandScene *scene)
{
    enum { RINGS = 64 };
    double height[RINGS], step = (double)sand_spacing(scene), sum[5] = {0};
    surface(scene, 1, 0.0, RINGS * step, RINGS, height);
    double floor_height = (double)scene->def.largest_radius, peak = fmax(height[0], height[1]) - floor_height;
    for (int s = 0; s < RINGS; s++) {
        double r = ((double)s + 0.5) * step, z = height[s] - floor_height;
        if (z < 0.2 * peak) break; // the foot; what lies beyond is scattered
        if (z > 0.8 * peak) continue;
        sum[0] += 1.0, sum[1] += r, sum[2] += z, sum[3] += r * r, sum[4] += r * z;
    }
    double slope = (sum[0] * sum[4] - sum[1] * sum[2]) / (sum[0] * sum[3] - sum[1] * sum[1]);
    return atan(-slope) * 57.29578;
}
