// SPDX-License-Identifier: GPL-3.0-or-later
// Colliders as planes: near a ball, a collider is the plane through its nearest point, and in a corner the planes of
// all walls that meet there. Planes are found when the lists are made; a ball that moves on past a single plane gets a
// new one, so the distance field is asked only for balls that move, and grains at rest feel no noise of its sampling.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/dem/dem.h"

#include <math.h>

// After this way, in radii, a ball looks at the collider again. On a collider with a curvature radius of ten grains the
// distance then jumps by 2e-5 radii, far less than grains at rest overlap.
#define REFRESH_RADII 0.02f
// Normals that agree better than this (cosine) belong to one wall.
#define SAME_WALL 0.9f
// Gradients of a distance field have length 1, save where two walls are equally near.
#define CLEAN_GRADIENT 0.95f
// A plane counts where its foot, in radii, is as near as this to the surface; a wall that ended before gives none.
#define FOOT_RADII 0.15f

enum { CHUNK = 256, PROBES = 15, PROBE_BATCH = 16, MAX_PLANES = 3 };

static const SimCollider *given_of(const Dem *dem, int collider) { return &dem->base.rigid->objects[collider].given; }

// The ball's centre, and one radius from it towards the faces and corners of a cube.
static Vec3 probe_direction(int probe)
{
    static const float s = 0.57735027f;
    if (probe == 0) return vec3(0, 0, 0);
    if (probe <= 6) {
        float sign = probe % 2 ? 1.0f : -1.0f;
        int axis = (probe - 1) / 2;
        return vec3(axis == 0 ? sign : 0.0f, axis == 1 ? sign : 0.0f, axis == 2 ? sign : 0.0f);
    }
    int corner = probe - 7;
    return vec3(corner & 1 ? s : -s, corner & 2 ? s : -s, corner & 4 ? s : -s);
}

typedef struct Plane {
    Vec3 normal;
    float gap;
} Plane;

typedef struct Samples {
    float x[CHUNK], y[CHUNK], z[CHUNK], distance[CHUNK], gx[CHUNK], gy[CHUNK], gz[CHUNK];
} Samples;

static int is_known(const Plane *planes, int count, Vec3 normal)
{
    for (int i = 0; i < count; i++)
        if (vec3_dot(planes[i].normal, normal) > SAME_WALL) return 1;
    return 0;
}

// The planes seen from the probes of one ball, samples[first] on. The centre comes first; it is doubted only where it
// stands between two walls.
static int planes_of(const GrainSdf *sdf, const Samples *samples, int first, Vec3 position, float radius, float reach,
                     Plane planes[MAX_PLANES])
{
    int count = 0;
    Plane centre = {{0, 0, 0}, samples->distance[first]};
    float centre_slope = 0.0f;
    for (int probe = 0; probe < PROBES && count < MAX_PLANES; probe++) {
        int i = first + probe;
        Vec3 gradient = {samples->gx[i], samples->gy[i], samples->gz[i]};
        float slope = vec3_length(gradient);
        Vec3 normal = vec3_normalize(gradient, vec3(0, 0, 0));
        float gap = samples->distance[i] - radius * vec3_dot(normal, probe_direction(probe));
        if (probe == 0) centre = (Plane){normal, gap}, centre_slope = slope;
        if (slope < CLEAN_GRADIENT || gap >= reach || is_known(planes, count, normal)) continue;
        if (probe > 0 && vec3_dot(normal, centre.normal) > SAME_WALL && centre_slope >= CLEAN_GRADIENT) continue;
        Vec3 unused;
        if (probe > 0 &&
            fabsf(sdf_sample_point(sdf, vec3_add_scaled(position, normal, -gap), &unused)) > FOOT_RADII * radius)
            continue;
        planes[count++] = (Plane){normal, gap};
    }
    if (count == 0 && centre_slope > 0.0f) planes[count++] = centre;
    return count;
}

typedef struct Finder {
    Dem *dem;
    const int32_t *ball_before; // as in dem_list_pairs
    DemWallFound *found;
    int64_t count, room; // count runs on when there is no room
} Finder;

static void add_found(Finder *finder, int64_t ball, int collider, Plane plane, Vec3 drive, SimGrip part)
{
    if (finder->count < finder->room)
        finder->found[finder->count] = (DemWallFound){(int32_t)ball, collider, plane.normal, plane.gap, drive, part};
    finder->count++;
}

static const Vec3 no_drive = {0, 0, 0};
static const SimGrip whole = {1.0f, 1.0f};

static SimGrip painted_near(const RigidObject *object, float x, float y, float z)
{
    SimGrip part;
    rigid_paint_sample(&object->friction_paint, 1.0f, &x, &y, &z, 1, &part.friction);
    rigid_paint_sample(&object->stickiness_paint, 1.0f, &x, &y, &z, 1, &part.stickiness);
    return part;
}

static SimGrip painted_at(const RigidObject *object, const RigidPlane *plane)
{
    return (SimGrip){rigid_paint_at_plane(&object->friction_paint, 1.0f, &object->surface, plane),
                     rigid_paint_at_plane(&object->stickiness_paint, 1.0f, &object->surface, plane)};
}

// Balls near a collider, where they are in its coordinates of time 0.
typedef struct NearBalls {
    int count;
    int32_t ball[CHUNK];
    float x[CHUNK], y[CHUNK], z[CHUNK];
} NearBalls;

static Vec3 ball_seen_from(const RigidObject *object, const Dem *dem, int64_t ball)
{
    Vec3 at = {dem->x[ball], dem->y[ball], dem->z[ball]};
    if (!object->has_moved) return at;
    Vec3d apart = vec3d_sub(vec3d_from(at), object->list_pose.position);
    Vec3d rest = vec3d_add(quatd_rotate(quatd_conjugate(object->list_pose.facing), apart), object->rest);
    return vec3((float)rest.x, (float)rest.y, (float)rest.z);
}

static Vec3 normal_in_world(const RigidObject *object, Vec3 normal)
{
    if (!object->has_moved) return normal;
    Vec3d turned = quatd_rotate(object->list_pose.facing, vec3d_from(normal));
    return vec3((float)turned.x, (float)turned.y, (float)turned.z);
}

static float reach_to(const Dem *dem, const RigidObject *object, int64_t ball)
{
    return dem->reach[ball] + (float)object->margin;
}

static void probe_balls(Finder *finder, int collider, const NearBalls *near)
{
    const Dem *dem = finder->dem;
    const RigidObject *object = &dem->base.rigid->objects[collider];
    const GrainSdf *sdf = given_of(dem, collider)->sdf;
    Samples samples;
    for (int begin = 0; begin < near->count; begin += PROBE_BATCH) {
        int batch = near->count - begin < PROBE_BATCH ? near->count - begin : PROBE_BATCH;
        for (int k = 0; k < batch; k++) {
            float radius = dem->balls[near->ball[begin + k]].radius;
            for (int probe = 0; probe < PROBES; probe++) {
                Vec3 direction = probe_direction(probe);
                int i = k * PROBES + probe;
                samples.x[i] = near->x[begin + k] + direction.x * radius;
                samples.y[i] = near->y[begin + k] + direction.y * radius;
                samples.z[i] = near->z[begin + k] + direction.z * radius;
            }
        }
        sdf_sample(sdf, samples.x, samples.y, samples.z, batch * PROBES, samples.distance, samples.gx, samples.gy,
                   samples.gz);
        for (int k = 0; k < batch; k++) {
            int32_t ball = near->ball[begin + k];
            Plane planes[MAX_PLANES];
            int found =
                planes_of(sdf, &samples, k * PROBES, vec3(near->x[begin + k], near->y[begin + k], near->z[begin + k]),
                          dem->balls[ball].radius, reach_to(dem, object, ball), planes);
            SimGrip part = dem->is_painted
                               ? painted_near(object, near->x[begin + k], near->y[begin + k], near->z[begin + k])
                               : whole;
            for (int p = 0; p < found; p++) {
                planes[p].normal = normal_in_world(object, planes[p].normal);
                add_found(finder, ball, found > 1 ? collider | DEM_WALL_FIXED : collider, planes[p], no_drive, part);
            }
        }
    }
}

static void find_sdf_walls(Finder *finder, int collider, int64_t first, int64_t last)
{
    const Dem *dem = finder->dem;
    const RigidObject *object = &dem->base.rigid->objects[collider];
    const GrainSdf *sdf = given_of(dem, collider)->sdf;
    Vec3 low, high;
    sdf_bounds(sdf, &low, &high);
    Vec3 pivot = {(float)object->list_pose.position.x, (float)object->list_pose.position.y,
                  (float)object->list_pose.position.z};
    Vec3 rest = {(float)object->rest.x, (float)object->rest.y, (float)object->rest.z};
    // From the pivot to the farthest corner of the field.
    float around = vec3_length(vec3_max(vec3_sub(high, rest), vec3_sub(rest, low)));
    for (int64_t begin = first; begin < last; begin += CHUNK) {
        int64_t end = begin + CHUNK < last ? begin + CHUNK : last;
        NearBalls near = {0};
        float distance[CHUNK];
        for (int64_t i = begin; i < end; i++) {
            float reach = reach_to(dem, object, i), far = reach + around;
            Vec3 apart = {dem->x[i] - pivot.x, dem->y[i] - pivot.y, dem->z[i] - pivot.z};
            if (object->has_moved && vec3_dot(apart, apart) > far * far) continue;
            Vec3 at = ball_seen_from(object, dem, i);
            if (at.x < low.x - reach || at.x > high.x + reach || at.y < low.y - reach || at.y > high.y + reach ||
                at.z < low.z - reach || at.z > high.z + reach)
                continue;
            near.x[near.count] = at.x, near.y[near.count] = at.y, near.z[near.count] = at.z;
            near.ball[near.count++] = (int32_t)i;
        }
        sdf_sample(sdf, near.x, near.y, near.z, near.count, distance, NULL, NULL, NULL);
        int touching = 0;
        for (int k = 0; k < near.count; k++) {
            if (distance[k] >= reach_to(dem, object, near.ball[k])) continue;
            near.x[touching] = near.x[k], near.y[touching] = near.y[k], near.z[touching] = near.z[k];
            near.ball[touching++] = near.ball[k];
        }
        near.count = touching;
        probe_balls(finder, collider, &near);
    }
}

// On which sides of a sheet a ball was in the lists before, as far as it was listed there.
static int sides_before(const Dem *dem, const int32_t *ball_before, int64_t ball, int collider,
                        Vec3 sides[RIGID_MAX_PLANES])
{
    const DemWalls *before = &dem->walls_before;
    int64_t first_record = dem_round_up(dem->pairs_before.count);
    int count = 0;
    if (!ball_before || ball_before[ball] < 0) return 0;
    int32_t row = ball_before[ball];
    for (int64_t entry = dem->shared_start[row]; entry < dem->shared_start[row + 1]; entry++) {
        int64_t old = dem->shared[entry] - first_record;
        if (old < 0 || old >= before->count || (before->collider[old] & ~DEM_WALL_FIXED) != collider) continue;
        if (count < RIGID_MAX_PLANES)
            sides[count++] = vec3(before->normal.x[old], before->normal.y[old], before->normal.z[old]);
    }
    return count;
}

static void find_bending_walls(Finder *finder, int collider, int64_t first, int64_t last)
{
    const Dem *dem = finder->dem;
    const RigidObject *object = &dem->base.rigid->objects[collider];
    for (int64_t i = first; i < last; i++) {
        Vec3 at = {dem->x[i], dem->y[i], dem->z[i]}, sides[RIGID_MAX_PLANES];
        int side_count = sides_before(dem, finder->ball_before, i, collider, sides);
        RigidPlane planes[RIGID_MAX_PLANES];
        int found = rigid_surface_planes(&object->surface, at, reach_to(dem, object, i), sides, side_count, planes,
                                         RIGID_MAX_PLANES);
        for (int p = 0; p < found; p++)
            add_found(finder, i, collider | DEM_WALL_FIXED, (Plane){planes[p].normal, planes[p].distance},
                      rigid_drive_at(object, dem->base.rigid->listed_time, &planes[p]),
                      dem->is_painted ? painted_at(object, &planes[p]) : whole);
    }
}

static void find_plane_walls(Finder *finder, int collider, int64_t first, int64_t last)
{
    const Dem *dem = finder->dem;
    Vec3 point = given_of(dem, collider)->plane_point, normal = given_of(dem, collider)->plane_normal;
    for (int64_t i = first; i < last; i++) {
        double gap = ((double)dem->x[i] - (double)point.x) * (double)normal.x +
                     ((double)dem->y[i] - (double)point.y) * (double)normal.y +
                     ((double)dem->z[i] - (double)point.z) * (double)normal.z;
        if (gap < (double)dem->reach[i])
            add_found(finder, i, collider | DEM_WALL_FIXED, (Plane){normal, (float)gap}, no_drive, whole);
    }
}

static int64_t find_in_block(Dem *dem, const int32_t *ball_before, int64_t block)
{
    Finder finder = {dem, ball_before, dem->wall_found + block * dem->wall_room, 0, dem->wall_room};
    int64_t first = block * PARALLEL_BLOCK, last = parallel_block_end(block, PARALLEL_BLOCK, dem->count);
    for (int c = 0; c < dem->base.def.collider_count; c++) {
        if (given_of(dem, c)->motion.kind == MOTION_SHAPES)
            find_bending_walls(&finder, c, first, last);
        else if (given_of(dem, c)->sdf)
            find_sdf_walls(&finder, c, first, last);
        else
            find_plane_walls(&finder, c, first, last);
    }
    return finder.count;
}

static GrainResult find_all(Dem *dem, const int32_t *ball_before, int64_t *total)
{
    for (;;) {
        TRY(alloc_grow((void **)&dem->wall_found, &dem->wall_found_capacity, dem->wall_room * dem->block_count,
                       sizeof(DemWallFound)));
        PARALLEL_BLOCKS(dem->base.threads, block, dem->block_count)
        {
            dem->block_walls[block] = find_in_block(dem, ball_before, block);
        }
        int64_t most = 0, sum = 0;
        for (int64_t block = 0; block < dem->block_count; block++) {
            int64_t here = dem->block_walls[block];
            dem->block_walls[block] = sum;
            sum += here;
            most = here > most ? here : most;
        }
        dem->block_walls[dem->block_count] = sum;
        *total = sum;
        if (most <= dem->wall_room) return GRAIN_OK;
        dem->wall_room = most + most / 2;
    }
}

static GrainResult grow_walls(Dem *dem, int64_t count)
{
    DemWalls *walls = &dem->walls;
    int64_t padded = dem_round_up(count);
    TRY(alloc_grow((void **)&walls->ball, &walls->ball_capacity, padded, sizeof(int32_t)));
    TRY(alloc_grow((void **)&walls->collider, &walls->collider_capacity, padded, sizeof(int32_t)));
    TRY(alloc_grow((void **)&walls->gap, &walls->gap_capacity, padded, sizeof(float)));
    TRY(alloc_grow((void **)&walls->friction, &walls->friction_capacity, padded, sizeof(float)));
    if (dem->is_sticky) TRY(alloc_grow((void **)&walls->pull, &walls->pull_capacity, padded, sizeof(float)));
    if (dem->is_painted) TRY(alloc_grow((void **)&walls->part, &walls->part_capacity, padded, sizeof(SimGrip)));
    if (dem->material) TRY(alloc_grow((void **)&walls->mix, &walls->mix_capacity, padded, sizeof(int32_t)));
    DemVectors *vectors[] = {&walls->normal, &walls->sampled, &walls->shear, &walls->roll};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) TRY(dem_vectors_grow(vectors[i], padded));
    if (dem->base.has_moving) {
        TRY(dem_vectors_grow(&walls->drive, padded));
        TRY(alloc_grow((void **)&walls->partner, &walls->partner_capacity, padded, sizeof(float)));
        TRY(alloc_grow((void **)&walls->held, &walls->held_capacity, padded, sizeof(DemWallHeld)));
    }
    walls->count = count;
    for (int64_t wall = count; wall < padded; wall++) {
        walls->ball[wall] = 0;
        if (walls->mix) walls->mix[wall] = 0;
        walls->gap[wall] = 1e9f;
        walls->friction[wall] = 0.0f;
        if (walls->pull) walls->pull[wall] = 0.0f;
        walls->normal.x[wall] = walls->normal.y[wall] = walls->normal.z[wall] = 0.0f;
        walls->sampled.x[wall] = walls->sampled.y[wall] = walls->sampled.z[wall] = 0.0f;
        if (walls->partner) walls->partner[wall] = 0.0f;
        if (walls->partner) walls->drive.x[wall] = walls->drive.y[wall] = walls->drive.z[wall] = 0.0f;
    }
    return GRAIN_OK;
}

static void set_spring(DemVectors *to, int64_t wall, const DemVectors *from, int64_t old)
{
    to->x[wall] = old < 0 ? 0.0f : from->x[old];
    to->y[wall] = old < 0 ? 0.0f : from->y[old];
    to->z[wall] = old < 0 ? 0.0f : from->z[old];
}

// The wall of the previous lists that this one continues, or -1. `shared` is still that of those lists.
static int64_t wall_before(const Dem *dem, int32_t ball, const DemWallFound *found)
{
    const DemWalls *before = &dem->walls_before;
    int64_t first_record = dem_round_up(dem->pairs_before.count), best = -1;
    float best_cosine = SAME_WALL;
    if (ball < 0) return -1; // it was born since
    for (int64_t entry = dem->shared_start[ball]; entry < dem->shared_start[ball + 1]; entry++) {
        int64_t old = dem->shared[entry] - first_record;
        if (old < 0 || old >= before->count || ((before->collider[old] ^ found->collider) & ~DEM_WALL_FIXED)) continue;
        Vec3 normal = {before->normal.x[old], before->normal.y[old], before->normal.z[old]};
        float cosine = vec3_dot(normal, found->normal);
        if (cosine > best_cosine) best = old, best_cosine = cosine;
    }
    return best;
}

void dem_grip_walls(Dem *dem, int64_t first, int64_t last)
{
    DemWalls *walls = &dem->walls;
    for (int64_t wall = first; wall < last; wall++) {
        const SimCollider *given = &dem->base.rigid->objects[walls->collider[wall] & ~DEM_WALL_FIXED].given;
        SimGrip part = walls->part ? walls->part[wall] : whole;
        walls->friction[wall] = part.friction * given->friction;
        if (walls->pull) walls->pull[wall] = part.stickiness * given->stickiness * dem->base.rigid->weight;
    }
}

static void fill_wall(Dem *dem, int64_t wall, const DemWallFound *found, int64_t old)
{
    DemWalls *walls = &dem->walls;
    walls->ball[wall] = found->ball;
    walls->collider[wall] = found->collider;
    walls->gap[wall] = found->gap;
    if (walls->part) walls->part[wall] = found->part;
    dem_grip_walls(dem, wall, wall + 1);
    if (walls->mix)
        walls->mix[wall] = dem->material[dem->ball_particle[dem->id[found->ball]]] * (DEM_MAX_MATERIALS + 1);
    walls->normal.x[wall] = found->normal.x;
    walls->normal.y[wall] = found->normal.y;
    walls->normal.z[wall] = found->normal.z;
    walls->sampled.x[wall] = walls->sampled.y[wall] = walls->sampled.z[wall] = 0.0f;
    set_spring(&walls->shear, wall, &dem->walls_before.shear, old);
    set_spring(&walls->roll, wall, &dem->walls_before.roll, old);
    if (!walls->held) return;
    walls->partner[wall] = 0.0f;
    walls->drive.x[wall] = walls->drive.y[wall] = walls->drive.z[wall] = 0.0f;
    walls->held[wall] = (DemWallHeld){.normal = {found->normal.x, found->normal.y, found->normal.z},
                                      .gap = found->gap,
                                      .drive = {found->drive.x, found->drive.y, found->drive.z}};
}

GrainResult dem_restore_walls(Dem *dem, const int32_t *ball, const int32_t *collider, int64_t count)
{
    TRY(grow_walls(dem, count));
    for (int64_t wall = 0; wall < count; wall++) {
        int number = collider[wall] & ~DEM_WALL_FIXED;
        if (ball[wall] < 0 || ball[wall] >= dem->count || number < 0 || number >= dem->base.def.collider_count)
            return fail(GRAIN_ERROR_DAMAGED, "the checkpoint has a wall that belongs to no particle");
        if (!(collider[wall] & DEM_WALL_FIXED) && !given_of(dem, number)->sdf) // which would be sampled again
            return fail(GRAIN_ERROR_DAMAGED, "the checkpoint has a wall of collider %d, which has no distance field",
                        number);
        fill_wall(dem, wall, &(DemWallFound){.ball = ball[wall], .collider = collider[wall]}, -1);
    }
    return dem_list_loads(dem);
}

GrainResult dem_find_walls(Dem *dem, const int32_t *ball_before)
{
    int64_t count;
    TRY(find_all(dem, ball_before, &count));
    TRY(grow_walls(dem, count));
    PARALLEL_BLOCKS(dem->base.threads, block, dem->block_count)
    {
        const DemWallFound *found = dem->wall_found + block * dem->wall_room;
        for (int64_t wall = dem->block_walls[block]; wall < dem->block_walls[block + 1]; wall++, found++)
            fill_wall(dem, wall, found, ball_before ? wall_before(dem, ball_before[found->ball], found) : -1);
    }
    return dem_list_loads(dem);
}

static void look_again(Dem *dem, const int64_t *list, int count)
{
    DemWalls *walls = &dem->walls;
    Samples at;
    at.x[0] = at.y[0] = at.z[0] = 0.0f; // the compiler cannot see that count is above 0
    for (int k = 0; k < count; k++) {
        const DemBall *ball = &dem->balls[walls->ball[list[k]]];
        at.x[k] = ball->anchor[0] + ball->offset[0];
        at.y[k] = ball->anchor[1] + ball->offset[1];
        at.z[k] = ball->anchor[2] + ball->offset[2];
    }
    sdf_sample(given_of(dem, walls->collider[list[0]])->sdf, at.x, at.y, at.z, count, at.distance, at.gx, at.gy, at.gz);
    for (int k = 0; k < count; k++) {
        int64_t wall = list[k];
        const DemBall *ball = &dem->balls[walls->ball[wall]];
        Vec3 gradient = {at.gx[k], at.gy[k], at.gz[k]};
        if (vec3_dot(gradient, gradient) > 0.0f) { // else the plane before is the best guess
            Vec3 normal = vec3_normalize(gradient, vec3(0, 0, 0));
            walls->normal.x[wall] = normal.x, walls->normal.y[wall] = normal.y, walls->normal.z[wall] = normal.z;
            walls->gap[wall] = at.distance[k];
            walls->sampled.x[wall] = ball->offset[0];
            walls->sampled.y[wall] = ball->offset[1];
            walls->sampled.z[wall] = ball->offset[2];
        }
    }
}

void dem_refresh_walls(Dem *dem, int64_t first, int64_t last)
{
    const DemWalls *walls = &dem->walls;
    int64_t list[CHUNK];
    int count = 0;
    for (int64_t wall = first; wall < last; wall++) {
        if (walls->collider[wall] & DEM_WALL_FIXED) continue;
        if (dem->base.rigid->objects[walls->collider[wall]].has_moved) continue; // dem_drive_walls does it
        const DemBall *ball = &dem->balls[walls->ball[wall]];
        float dx = ball->offset[0] - walls->sampled.x[wall], dy = ball->offset[1] - walls->sampled.y[wall],
              dz = ball->offset[2] - walls->sampled.z[wall], way = REFRESH_RADII * ball->radius;
        if (dx * dx + dy * dy + dz * dz <= way * way) continue;
        if (count == CHUNK || (count > 0 && walls->collider[list[0]] != walls->collider[wall])) {
            look_again(dem, list, count);
            count = 0;
        }
        list[count++] = wall;
    }
    if (count > 0) look_again(dem, list, count);
}

void dem_free_walls(DemWalls *walls)
{
    alloc_free(walls->ball);
    alloc_free(walls->collider);
    alloc_free(walls->gap);
    alloc_free(walls->friction);
    alloc_free(walls->pull);
    alloc_free(walls->part);
    alloc_free(walls->mix);
    alloc_free(walls->partner);
    alloc_free(walls->held);
    DemVectors *vectors[] = {&walls->normal, &walls->sampled, &walls->shear, &walls->roll, &walls->drive};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) dem_vectors_free(vectors[i]);
}
