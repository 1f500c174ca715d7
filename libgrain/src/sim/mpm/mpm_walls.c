// SPDX-License-Identifier: GPL-3.0-or-later
// Thin walls. A particle reaches a cell and a half far, through a wall that is thinner: what happens behind it would be
// felt before it. So nodes behind a wall are barred for a particle, as in Hu et al. 2018 (section 4): it brings nothing
// to them, and finds there instead what it would have brought itself, held by the wall.
//
//         o   o | o   o      p reaches four nodes of the row, two of them behind the wall. Behind means: seen from the
//           p   |            particle's place on the surface beyond it, and the other way round, with normals that
//         o   o | o   o      point apart. Around the rim of a sheet they do not, and both sides are one.
//
// Only blocks on whose tiles a collider has normals that point apart look at their particles.
#include "base/error.h"
#include "sim/mpm/mpm.h"
#include "sim/rigid/rigid_view.h"

#include <math.h>

// Cosine between normals that point apart.
#define APART (-0.3f)
// Colliders near one block, at most; others are not thin.
#define MOST_NEAR 16

// A collider as the nodes of a tile see it: by the blocks around.
typedef struct Seen {
    const MpmSheet *sheet[MPM_AROUND];
} Seen;

// A place of a tile along one axis: before the block, in it or after it, and which node there.
static inline int side_of(int place, int *node)
{
    *node = (place + 3) % MPM_BLOCK_SIDE;
    return place == 0 ? 0 : place < 5 ? 1 : 2;
}

static inline const MpmSheet *sheet_at(const Seen *seen, int x, int y, int z, int *node)
{
    int in_x, in_y, in_z;
    int around = side_of(x, &in_x) + 3 * side_of(y, &in_y) + 9 * side_of(z, &in_z);
    *node = (in_z * MPM_BLOCK_SIDE + in_y) * MPM_BLOCK_SIDE + in_x;
    return seen->sheet[around];
}

// Some normal of the tile's that points away from `from`, if there is one; *least: the cosine between them.
static Vec3 most_apart(const Seen *seen, Vec3 from, float *least)
{
    Vec3 most = from;
    *least = 1.0f;
    for (int i = 0; i < MPM_TILE_NODES; i++) {
        int node;
        const MpmSheet *sheet = sheet_at(seen, i % MPM_TILE_SIDE, i / MPM_TILE_SIDE % MPM_TILE_SIDE,
                                         i / (MPM_TILE_SIDE * MPM_TILE_SIDE), &node);
        if (!sheet || vec3_dot(sheet->normal[node], sheet->normal[node]) == 0.0f) continue;
        float cosine = vec3_dot(from, sheet->normal[node]);
        if (cosine < *least) *least = cosine, most = sheet->normal[node];
    }
    return most;
}

// From any normal to the one farthest from it, and from there again.
static int may_be_thin(const Seen *seen)
{
    float least;
    Vec3 normal = most_apart(seen, vec3(0.57735f, 0.57735f, 0.57735f), &least);
    most_apart(seen, normal, &least);
    return least < APART;
}

// Colliders that have a surface, near the nodes of the blocks around.
static int list_near(const Mpm *mpm, const MpmBlock *block, int32_t near[MOST_NEAR])
{
    int count = 0;
    for (int k = 0; k < MPM_AROUND; k++) {
        const MpmBlock *other = &mpm->blocks[block->around[k]];
        int32_t standing = other->sheet_end - other->first_sheet,
                all = standing + other->moving_end - other->first_moving;
        for (int32_t i = 0; i < all; i++) {
            const MpmSheet *sheet =
                &mpm->sheets[i < standing ? other->first_sheet + i : other->first_moving + i - standing];
            int known = !mpm->base.rigid->objects[sheet->collider].given.mesh || sheet->nearest == INFINITY;
            for (int n = 0; n < count; n++) known |= near[n] == sheet->collider;
            if (!known && count < MOST_NEAR) near[count++] = sheet->collider;
        }
    }
    return count;
}

// Nodes behind the wall that has this distance and normal at the particle.
static uint32_t barred_nodes(const Mpm *mpm, const MpmBlock *block, const MpmParticle *p, const Seen *seen, Vec3 normal,
                             float distance)
{
    int first[3];
    float from[3];
    uint32_t barred = 0;
    for (int axis = 0; axis < 3; axis++) {
        float at = p->position[axis] * mpm->inverse_cell - (float)(block->corner[axis] - 1);
        first[axis] = (int)(at - 0.5f);
        from[axis] = at - (float)first[axis];
    }
    for (int i = 0; i < 27; i++) {
        int x = i % 3, y = i / 3 % 3, z = i / 9, node;
        Vec3 way = vec3_scale(vec3((float)x - from[0], (float)y - from[1], (float)z - from[2]), mpm->cell);
        if (vec3_dot(way, normal) + distance >= 0.0f) continue;
        const MpmSheet *sheet = sheet_at(seen, first[0] + x, first[1] + y, first[2] + z, &node);
        if (!sheet || vec3_dot(sheet->normal[node], normal) > APART) continue;
        if (sheet->distance[node] - vec3_dot(way, sheet->normal[node]) < 0.0f) barred |= 1u << i;
    }
    return barred;
}

// Of several walls the nearest counts.
static int bar_by(Mpm *mpm, const MpmBlock *block, int collider, const Seen *seen)
{
    Vec3 points[RIGID_VIEW_CHUNK];
    RigidView view;
    uint32_t any = 0;
    for (int32_t begin = block->begin; begin < block->end; begin += RIGID_VIEW_CHUNK) {
        int count = block->end - begin < RIGID_VIEW_CHUNK ? block->end - begin : RIGID_VIEW_CHUNK;
        const MpmParticle *p = mpm->particles + begin;
        for (int i = 0; i < count; i++) points[i] = mpm_place_of(mpm, &p[i]);
        rigid_view(mpm->base.rigid, collider, points, count, MPM_NEAR_CELLS * mpm->cell, &view);
        for (int i = 0; i < count; i++) {
            Vec3 normal = view.normal[i], speed = view.speed[i];
            MpmWall *wall = &mpm->walls[begin + i];
            if (vec3_dot(normal, normal) == 0.0f || view.distance[i] >= wall->distance) continue;
            uint32_t barred = barred_nodes(mpm, block, &p[i], seen, normal, view.distance[i]);
            if (!barred) continue;
            *wall = (MpmWall){.normal = {normal.x, normal.y, normal.z},
                              .friction = view.friction[i],
                              .speed = {speed.x, speed.y, speed.z},
                              .pull = view.pull[i],
                              .distance = view.distance[i],
                              .barred = barred,
                              .collider = collider};
            any |= barred;
        }
    }
    return any != 0;
}

int mpm_bar_particles(Mpm *mpm, int64_t filled)
{
    const MpmBlock *block = &mpm->blocks[mpm->filled[filled]];
    int32_t near[MOST_NEAR];
    int is_split = 0, count = mpm->has_meshes ? list_near(mpm, block, near) : 0, is_clear = 0;
    for (int n = 0; n < count; n++) {
        Seen seen;
        for (int k = 0; k < MPM_AROUND; k++) seen.sheet[k] = mpm_sheet_of(mpm, &mpm->blocks[block->around[k]], near[n]);
        if (!may_be_thin(&seen)) continue;
        for (int32_t i = block->begin; i < block->end && !is_clear; i++)
            mpm->walls[i] = (MpmWall){.distance = INFINITY};
        is_clear = 1;
        is_split |= bar_by(mpm, block, near[n], &seen);
    }
    return is_split;
}

void mpm_pay_walls(const Mpm *mpm, const MpmBlock *block, MpmImpulse *impulses)
{
    for (int32_t i = block->begin; i < block->end; i++) {
        const MpmWall *wall = &mpm->walls[i];
        if (!wall->barred) continue;
        mpm_give(mpm, wall->collider, impulses, vec3d_from(vec3(wall->taken[0], wall->taken[1], wall->taken[2])),
                 mpm_place_of(mpm, &mpm->particles[i]));
    }
}
