#include "physics/mpm_scene.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mpm_scene_begin(MpmScene *scene, float radius, float friction_degrees)
{
    memset(scene, 0, sizeof *scene);
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

GrainResult mpm_scene_fill(MpmScene *scene, float bottom, float height, float bottom_radius, float top_radius)
{
    float radius = scene->def.largest_radius, pitch = 2.0f * radius * 0.8909f; // a cube of a particle's volume
    int across = (int)(fmaxf(bottom_radius, top_radius) / pitch) + 1;
    for (int k = 0; ((float)k + 0.5f) * pitch < height; k++) {
        float z = ((float)k + 0.5f) * pitch, limit = bottom_radius + (top_radius - bottom_radius) * z / height;
        for (int j = -across; j < across; j++)
            for (int i = -across; i < across; i++) {
                Rng4 random = rng_at(7, (uint64_t)scene->start.count, RNG_STREAM_TEST, 0);
                Vec3 shift = {rng_signed(random.word[0]), rng_signed(random.word[1]), rng_signed(random.word[2])};
                Vec3 at = vec3(((float)i + 0.5f) * pitch, ((float)j + 0.5f) * pitch, bottom + radius - 0.5f * pitch + z);
                if (at.x * at.x + at.y * at.y > limit * limit) continue;
                TRY(particles_add(&scene->start, vec3_add_scaled(at, shift, 0.3f * pitch), vec3(0, 0, 0), radius));
            }
    }
    return GRAIN_OK;
}

GrainResult mpm_scene_create(MpmScene *scene, int threads)
{
    scene->def.colliders = scene->colliders;
    return mpm_solver.create(&scene->def, &scene->start, threads, (void **)&scene->mpm);
}

GrainResult mpm_scene_run(MpmScene *scene, double seconds)
{
    double count = ceil(seconds / mpm_solver.largest_step(scene->mpm));
    for (int64_t i = 0; i < (int64_t)count; i++) TRY(mpm_solver.step(scene->mpm, seconds / count));
    return GRAIN_OK;
}

void mpm_scene_end(MpmScene *scene)
{
    mpm_solver.destroy(scene->mpm);
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
        sum = vec3d_add(sum, vec3d_scale(v, (double)p->mass));
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
        distance[i] = hypot((double)mpm->particles[i].position[0] + mpm->origin[0],
                            (double)mpm->particles[i].position[1] + mpm->origin[1]);
    qsort(distance, (size_t)mpm->count, sizeof *distance, compare);
    result = distance[(int64_t)(part * (double)(mpm->count - 1))];
    free(distance);
    return result;
}

double mpm_scene_heap_angle(const MpmScene *scene)
{
    const Mpm *mpm = scene->mpm;
    double height = 0.0;
    for (int64_t i = 0; i < mpm->count; i++) height += (double)mpm->particles[i].position[2] + mpm->origin[2];
    double lowest = (double)scene->def.largest_radius; // of centres on the floor
    double peak = 4.0 * (height / (double)mpm->count - lowest), foot = mpm_scene_reach(scene, 0.5) / 0.6157;
    return atan2(peak, foot) * 57.29578;
}
