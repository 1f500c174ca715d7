// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/rigid_scene.h"
#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void rigid_scene_begin(RigidScene *scene, float radius)
{
    memset(scene, 0, sizeof *scene);
    scene_begin(&scene->sand, radius);
}

GrainResult rigid_scene_add_prop(RigidScene *scene, Shape shape, float friction, int *number)
{
    int i = *number = scene->sand.def.collider_count;
    scene->shape[i] = shape;
    scene->mesh[i] = shape_mesh(&scene->shape[i]);
    TRY(scene_add_mesh(&scene->sand, &scene->mesh[i], friction));
    scene->sand.colliders[i].mesh = &scene->mesh[i];
    return GRAIN_OK;
}

float *rigid_scene_add_poses(RigidScene *scene, int number, Vec3 pivot, int count, double sample_seconds)
{
    float *poses = scene->samples[number] = ALLOC_ZEROED(float, 7 * count);
    for (int k = 0; k < count; k++) {
        const float pose[7] = {pivot.x, pivot.y, pivot.z, 1.0f, 0.0f, 0.0f, 0.0f};
        memcpy(poses + 7 * k, pose, sizeof pose);
    }
    scene->sand.colliders[number].motion = motion_of_poses(poses, count, sample_seconds);
    return poses;
}

float *rigid_scene_add_shapes(RigidScene *scene, int number, int count, double sample_seconds)
{
    const GrainMesh *mesh = &scene->mesh[number];
    float *shapes = scene->samples[number] = ALLOC_ZEROED(float, 3 * mesh->vertex_count * count);
    for (int k = 0; k < count; k++)
        memcpy(shapes + 3 * mesh->vertex_count * k, mesh->positions, 3 * (size_t)mesh->vertex_count * sizeof(float));
    scene->sand.colliders[number].motion = motion_of_shapes(shapes, mesh->vertex_count, count, sample_seconds);
    return shapes;
}

GrainResult rigid_scene_add_body(RigidScene *scene, Shape shape, double density, float friction, float point_radius,
                                 int *number)
{
    TRY(rigid_scene_add_prop(scene, shape, friction, number));
    int i = *number;
    GrainMassProperties mass = {.struct_size = sizeof mass};
    GrainCoverDef def;
    GrainRun run = {sizeof run, 1, NULL, NULL};
    GrainView points;
    TRY(grain_mesh_mass(&scene->mesh[i], density, &mass));
    TRY(grain_cover_def_default(&def, sizeof def));
    def.radius = point_radius;
    TRY(grain_cover_mesh(&scene->mesh[i], &def, &run, &scene->cover[i]));
    TRY(grain_cover_view(scene->cover[i], GRAIN_COVER_POSITION, &points));
    scene->body[i] = (SimBody){.mass = mass.mass,
                               .centre = {mass.centre[0], mass.centre[1], mass.centre[2]},
                               .points = points.data,
                               .point_count = points.count,
                               .point_radius = point_radius};
    memcpy(scene->body[i].inertia, mass.inertia, sizeof mass.inertia);
    scene->sand.colliders[i].body = &scene->body[i];
    return GRAIN_OK;
}

Shape rigid_scene_tray(Vec3 low, Vec3 high, float wall)
{
    Shape shape = {malloc(16 * 3 * sizeof(float)), malloc(28 * 3 * sizeof(int32_t)), 16, 28};
    for (int i = 0; i < 16; i++) { // 0 to 7 outside, 8 to 15 inside; bit 0: x, bit 1: y, bit 2: z
        float out = i < 8 ? wall : 0.0f;
        shape.positions[3 * i] = i & 1 ? high.x + out : low.x - out;
        shape.positions[3 * i + 1] = i & 2 ? high.y + out : low.y - out;
        shape.positions[3 * i + 2] = i & 4 ? high.z : low.z - out;
    }
    static const int32_t quads[14][4] = {{0, 2, 3, 1},    {0, 1, 5, 4},    {2, 6, 7, 3},   {0, 4, 6, 2},
                                         {1, 3, 7, 5},    {8, 9, 11, 10},  {8, 12, 13, 9}, {10, 11, 15, 14},
                                         {8, 10, 14, 12}, {9, 13, 15, 11}, {4, 5, 13, 12}, {6, 14, 15, 7},
                                         {4, 12, 14, 6},  {5, 7, 15, 13}};
    for (int q = 0; q < 14; q++)
        for (int k = 0; k < 3; k++)
            shape.triangles[6 * q + k] = quads[q][k], shape.triangles[6 * q + 3 + k] = quads[q][k == 0 ? 0 : k + 1];
    return shape;
}

Shape rigid_scene_box(Vec3 middle, float size)
{
    float h = 0.5f * size;
    return shape_box(middle.x - h, middle.y - h, middle.z - h, middle.x + h, middle.y + h, middle.z + h);
}

Shape rigid_scene_ball(Vec3 middle, float radius)
{
    Shape shape = shape_sphere(6, 0.0);
    shape_move(&shape, radius, middle.x, middle.y, middle.z);
    return shape;
}

void rigid_scene_end(RigidScene *scene)
{
    scene_end(&scene->sand);
    for (int i = 0; i < SCENE_MAX_COLLIDERS; i++) {
        shape_free(&scene->shape[i]);
        grain_cover_destroy(scene->cover[i]);
        alloc_free(scene->samples[i]);
    }
}

const RigidObject *rigid_scene_object(const RigidScene *scene, int number)
{
    return &scene->sand.dem->base.rigid->objects[number];
}

int64_t rigid_scene_count_inside(const RigidScene *scene, int number, Vec3 low, Vec3 high)
{
    int64_t count = 0;
    for (int64_t i = 0; i < scene->sand.dem->count; i++) {
        Vec3d at = rigid_to_rest(rigid_scene_object(scene, number), vec3d_from(scene_position(&scene->sand, i)));
        count += at.x > (double)low.x && at.x < (double)high.x && at.y > (double)low.y && at.y < (double)high.y &&
                 at.z > (double)low.z && at.z < (double)high.z;
    }
    return count;
}

double rigid_scene_mean_height(const RigidScene *scene)
{
    double sum = 0.0;
    for (int64_t i = 0; i < scene->sand.dem->count; i++) sum += (double)scene_position(&scene->sand, i).z;
    return sum / (double)scene->sand.dem->count;
}

SceneTotals rigid_scene_totals(const RigidScene *scene)
{
    SceneTotals totals = scene_totals(&scene->sand);
    const Rigid *rigid = scene->sand.dem->base.rigid;
    for (int b = 0; b < rigid->body_count; b++) {
        const RigidBody *body = &rigid->bodies[b];
        const RigidObject *object = &rigid->objects[body->object];
        double mass = 1.0 / body->inverse_mass;
        Vec3d momentum = vec3d_scale(object->velocity, mass);
        Vec3d angular = vec3d_add(body->angular, vec3d_cross(object->now.position, momentum));
        totals.mass += mass;
        totals.momentum[0] += momentum.x, totals.momentum[1] += momentum.y, totals.momentum[2] += momentum.z;
        totals.angular[0] += angular.x, totals.angular[1] += angular.y, totals.angular[2] += angular.z;
        totals.mass_speed += vec3d_length(momentum);
        totals.lever_speed += vec3d_length(momentum) * vec3d_length(object->now.position);
    }
    return totals;
}
