// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/dem_scene.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void scene_begin(DemScene *scene, float radius)
{
    memset(scene, 0, sizeof *scene);
    scene->def = (SimDef){.solver = "dem",
                          .gravity = {0.0f, 0.0f, -9.81f},
                          .largest_radius = radius,
                          .density = 2600.0f,
                          .friction = 0.6f,
                          .rolling_friction = 0.1f,
                          .restitution = 0.3f,
                          .softness = 0.1f,
                          .expected_speed = 1.0f};
}

void scene_add_plane(DemScene *scene, Vec3 point, Vec3 normal, float friction)
{
    scene->colliders[scene->def.collider_count++] =
        (SimCollider){NULL, point, vec3_normalize(normal, vec3(0, 0, 1)), friction};
}

GrainResult scene_add_mesh(DemScene *scene, const GrainMesh *mesh, float friction)
{
    GrainSdfDef def;
    GrainRun run = {sizeof run, 1, NULL, NULL};
    GrainSdf **sdf = &scene->sdf[scene->def.collider_count];
    TRY(grain_sdf_def_default(&def, sizeof def));
    def.voxel_size = scene->def.largest_radius; // as bakes do
    TRY(grain_sdf_create(mesh, &def, &run, sdf));
    scene->colliders[scene->def.collider_count++] = (SimCollider){.sdf = *sdf, .friction = friction};
    return GRAIN_OK;
}

GrainResult scene_add_tray(DemScene *scene, Vec3 low, Vec3 high, float turn, float friction)
{
    float wall = 4.0f * scene->def.largest_radius, positions[16 * 3];
    for (int i = 0; i < 16; i++) { // 0 to 7 outside, 8 to 15 inside; bit 0: x, bit 1: y, bit 2: z
        float out = i < 8 ? wall : 0.0f;
        float x = i & 1 ? high.x + out : low.x - out, y = i & 2 ? high.y + out : low.y - out;
        positions[3 * i] = x * cosf(turn) - y * sinf(turn);
        positions[3 * i + 1] = x * sinf(turn) + y * cosf(turn);
        positions[3 * i + 2] = i & 4 ? high.z : low.z - out;
    }
    static const int32_t quads[14][4] = {{0, 2, 3, 1},    {0, 1, 5, 4},    {2, 6, 7, 3},   {0, 4, 6, 2},
                                         {1, 3, 7, 5},    {8, 9, 11, 10},  {8, 12, 13, 9}, {10, 11, 15, 14},
                                         {8, 10, 14, 12}, {9, 13, 15, 11}, {4, 5, 13, 12}, {6, 14, 15, 7},
                                         {4, 12, 14, 6},  {5, 7, 15, 13}};
    int32_t triangles[28 * 3];
    for (int q = 0; q < 14; q++)
        for (int k = 0; k < 3; k++)
            triangles[6 * q + k] = quads[q][k], triangles[6 * q + 3 + k] = quads[q][k == 0 ? 0 : k + 1];
    return scene_add_mesh(scene, &(GrainMesh){positions, triangles, 16, 28}, friction);
}

GrainResult scene_add_revolved(DemScene *scene, const float (*outline)[2], int count, float friction)
{
    enum { SEGMENTS = 48, MOST = 16 };
    float positions[3 * SEGMENTS * MOST];
    int32_t triangles[6 * SEGMENTS * MOST];
    if (count > MOST) return GRAIN_ERROR_ARGUMENT;
    for (int s = 0; s < SEGMENTS; s++) {
        double angle = 2.0 * M_PI * s / SEGMENTS;
        for (int i = 0; i < count; i++) {
            float *to = positions + 3 * (s * count + i);
            to[0] = outline[i][0] * (float)cos(angle), to[1] = outline[i][0] * (float)sin(angle), to[2] = outline[i][1];
            int32_t here = s * count, next = (s + 1) % SEGMENTS * count, j = (i + 1) % count;
            int32_t *quad = triangles + 6 * (s * count + i);
            quad[0] = here + i, quad[1] = next + i, quad[2] = next + j;
            quad[3] = here + i, quad[4] = next + j, quad[5] = here + j;
        }
    }
    return scene_add_mesh(scene, &(GrainMesh){positions, triangles, SEGMENTS * count, 2 * SEGMENTS * count}, friction);
}

GrainResult scene_set_shape(DemScene *scene, const char *name)
{
    scene->def.shape_count = 1;
    return shape_by_name(name, &scene->shape);
}

static GrainResult add_grain(DemScene *scene, Vec3 at, float radius, float jitter, float spread)
{
    Rng4 random = rng_at(3, (uint64_t)scene->start.count, RNG_STREAM_TEST, 0);
    Vec3 shift = {rng_signed(random.word[0]), rng_signed(random.word[1]), rng_signed(random.word[2])};
    float own_radius = radius * (1.0f + spread * rng_signed(random.word[3]));
    scene->def.largest_radius = fmaxf(scene->def.largest_radius, own_radius);
    return particles_add(&scene->start, vec3_add_scaled(at, shift, jitter), vec3(0, 0, 0), own_radius);
}

static GrainResult fill(DemScene *scene, Vec3 low, Vec3 high, float gap_radii, float spread, float cylinder)
{
    float radius = scene->def.largest_radius, pitch = radius * (2.0f * (1.0f + spread) + gap_radii);
    float jitter = 0.28f * radius * gap_radii; // within the gap on every axis, and on the diagonal
    for (float z = low.z + 0.5f * pitch; z <= high.z - 0.49f * pitch; z += pitch)
        for (float y = low.y + 0.5f * pitch; y <= high.y - 0.49f * pitch; y += pitch)
            for (float x = low.x + 0.5f * pitch; x <= high.x - 0.49f * pitch; x += pitch)
                if (cylinder <= 0.0f || x * x + y * y < cylinder * cylinder)
                    TRY(add_grain(scene, vec3(x, y, z), radius, jitter, spread));
    return GRAIN_OK;
}

GrainResult scene_fill_box(DemScene *scene, Vec3 low, Vec3 high, float gap_radii, float spread)
{
    return fill(scene, low, high, gap_radii, spread, 0.0f);
}

GrainResult scene_fill_cylinder(DemScene *scene, float bottom, float height, float radius, float gap_radii,
                                float spread)
{
    return fill(scene, vec3(-radius, -radius, bottom), vec3(radius, radius, bottom + height), gap_radii, spread,
                radius);
}

GrainResult scene_create(DemScene *scene, int threads)
{
    scene->def.colliders = scene->colliders;
    scene->def.shapes = &scene->shape;
    return solver_create(&dem_solver, &scene->def, &scene->start, threads > 0 ? threads : system_core_count(),
                         (void **)&scene->dem);
}

GrainResult scene_run(DemScene *scene, double seconds)
{
    double count = ceil(seconds / dem_solver.largest_step(scene->dem));
    for (int64_t i = 0; i < (int64_t)count; i++) TRY(dem_solver.step(scene->dem, seconds / count));
    return GRAIN_OK;
}

void scene_end(DemScene *scene)
{
    solver_destroy(&dem_solver, scene->dem);
    for (int i = 0; i < scene->def.collider_count; i++) grain_sdf_destroy(scene->sdf[i]);
    particles_free(&scene->start);
}

Vec3 scene_position(const DemScene *scene, int64_t ball)
{
    const DemBall *b = &scene->dem->balls[ball];
    return vec3(b->anchor[0] + b->offset[0], b->anchor[1] + b->offset[1], b->anchor[2] + b->offset[2]);
}

static double squared(const float v[3])
{
    return (double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2];
}

static int is_alone(const DemBall *ball) { return ball->inverse_inertia != 0.0f; }

double scene_mean_speed(const DemScene *scene)
{
    const Dem *dem = scene->dem;
    double sum = 0.0;
    for (int64_t i = 0; i < dem->count; i++)
        if (is_alone(&dem->balls[i])) sum += sqrt(squared(dem->balls[i].velocity));
    for (int64_t g = 0; g < dem->grain_count; g++) sum += sqrt(squared(dem->grains[g].velocity));
    return sum / (double)dem->base.born;
}

double scene_kinetic_energy(const DemScene *scene)
{
    const Dem *dem = scene->dem;
    double sum = 0.0;
    for (int64_t i = 0; i < dem->count; i++) {
        const DemBall *ball = &dem->balls[i];
        if (!is_alone(ball)) continue;
        sum += 0.5 * squared(ball->velocity) / (double)ball->inverse_mass;
        sum += 0.5 * squared(ball->spin) / (double)ball->inverse_inertia;
    }
    for (int64_t g = 0; g < dem->grain_count; g++) {
        const DemGrain *grain = &dem->grains[g];
        sum += 0.5 * squared(grain->velocity) / (double)grain->inverse_mass;
        for (int a = 0; a < 3; a++) sum += 0.5 * (double)grain->spin[a] * (double)grain->momentum[a];
    }
    return sum;
}

double scene_load(const DemScene *scene, int collider, Vec3 direction, float above)
{
    const Dem *dem = scene->dem;
    const float *records = dem->force + 4 * dem_round_up(dem->pairs.count);
    double sum = 0.0;
    for (int64_t wall = 0; wall < dem->walls.count; wall++) {
        if ((dem->walls.collider[wall] & ~DEM_WALL_FIXED) != collider) continue;
        if (scene_position(scene, dem->walls.ball[wall]).z < above) continue;
        sum += (double)vec3_dot(vec3(records[4 * wall], records[4 * wall + 1], records[4 * wall + 2]), direction);
    }
    return sum;
}

static void add_total(SceneTotals *t, double mass, const float anchor[3], const float offset[3],
                      const float velocity[3], const double own[3])
{
    double x[3], v[3];
    for (int a = 0; a < 3; a++) {
        x[a] = (double)anchor[a] + (double)offset[a];
        v[a] = (double)velocity[a];
        t->momentum[a] += mass * v[a];
    }
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        t->angular[a] += mass * (x[b] * v[c] - x[c] * v[b]) + own[a];
    }
    double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    t->mass += mass;
    t->mass_speed += mass * speed;
    t->lever_speed += mass * speed * sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

SceneTotals scene_totals(const DemScene *scene)
{
    const Dem *dem = scene->dem;
    SceneTotals totals = {0};
    for (int64_t i = 0; i < dem->count; i++) {
        const DemBall *b = &dem->balls[i];
        if (!is_alone(b)) continue;
        double inertia = 1.0 / (double)b->inverse_inertia;
        double own[3] = {inertia * (double)b->spin[0], inertia * (double)b->spin[1], inertia * (double)b->spin[2]};
        add_total(&totals, 1.0 / (double)b->inverse_mass, b->anchor, b->offset, b->velocity, own);
    }
    for (int64_t g = 0; g < dem->grain_count; g++) {
        const DemGrain *n = &dem->grains[g];
        double own[3] = {(double)n->momentum[0], (double)n->momentum[1], (double)n->momentum[2]};
        add_total(&totals, 1.0 / (double)n->inverse_mass, n->anchor, n->offset, n->velocity, own);
    }
    return totals;
}

// The surface: in columns of 1.5 grain diameters, the top of the highest grain; 0 where there is none.
enum { COLUMNS = 256, RINGS = 128 };

static void find_surface(const DemScene *scene, double column, float *top)
{
    for (int i = 0; i < COLUMNS * COLUMNS; i++) top[i] = 0.0f;
    for (int64_t i = 0; i < scene->dem->count; i++) {
        Vec3 at = scene_position(scene, i);
        int a = (int)floor((double)at.x / column) + COLUMNS / 2, b = (int)floor((double)at.y / column) + COLUMNS / 2;
        if (a < 0 || b < 0 || a >= COLUMNS || b >= COLUMNS) continue;
        float height = at.z + scene->dem->balls[i].radius;
        if (height > top[a * COLUMNS + b]) top[a * COLUMNS + b] = height;
    }
}

double scene_heap_angle(const DemScene *scene, double *height)
{
    double column = 3.0 * (double)scene->def.largest_radius;
    float *top = ALLOC(float, COLUMNS *COLUMNS);
    double sum[RINGS] = {0}, cells[RINGS] = {0};
    find_surface(scene, column, top);
    for (int a = 0; a < COLUMNS; a++)
        for (int b = 0; b < COLUMNS; b++) {
            int ring = (int)hypot(a + 0.5 - COLUMNS / 2, b + 0.5 - COLUMNS / 2);
            if (ring < RINGS) cells[ring]++, sum[ring] += (double)top[a * COLUMNS + b];
        }
    alloc_free(top);
    *height = sum[0] / cells[0];
    double n = 0, r1 = 0, z1 = 0, rr = 0, rz = 0;
    for (int ring = 0; ring < RINGS; ring++) {
        double z = sum[ring] / cells[ring], r = (ring + 0.5) * column;
        if (z > 0.8 * *height || z < 0.2 * *height) continue;
        n++, r1 += r, z1 += z, rr += r * r, rz += r * z;
    }
    if (n < 2) return 0.0;
    return atan(-(n * rz - r1 * z1) / (n * rr - r1 * r1)) * 180.0 / M_PI;
}

static int compare_distances(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

double scene_cone_angle(const DemScene *scene)
{
    int64_t count = scene->dem->count;
    double *distance = ALLOC(double, count), height = 0.0;
    for (int64_t i = 0; i < count; i++) {
        Vec3 at = scene_position(scene, i);
        distance[i] = hypot((double)at.x, (double)at.y);
        height += (double)at.z / (double)count;
    }
    qsort(distance, (size_t)count, sizeof *distance, compare_distances);
    double median = distance[count / 2];
    alloc_free(distance);
    // A cone's mean height is a quarter of its own; half of it lies within half of its radius (3/4 - 2/8 = 1/2).
    return atan(4.0 * height / (2.0 * median)) * 180.0 / M_PI;
}
