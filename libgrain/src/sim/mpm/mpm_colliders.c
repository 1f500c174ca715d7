// SPDX-License-Identifier: GPL-3.0-or-later
// Colliders meet the material twice. On the nodes inside them, no material moves in, and what presses against them is
// held by friction. And no particle's centre comes nearer than its radius: that alone holds back what flies alone, and
// what a wall thinner than a cell, with no node inside, would let through. What bodies take from the material's motion
// is theirs.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/mpm/mpm.h"
#include "sim/mpm/mpm_transfer.h"
#include "sim/rigid/rigid_view.h"

#include <math.h>
#include <string.h>

// Above those that touch, nodes are held as far up as this (cells) where sand lies on the collider and does not slide:
// by all but bodies, which sand must give way to.
// Free ones between held ones, as above floors askew to the grid, let deep layers of friction 45 flow on the floor
// at 42.5 degrees. What slides is held by those that touch alone: held higher up it would be dragged, and columns run
// out by a fifth less.
#define LIES_CELLS 0.75f
// Of a full node's mass. Where so much more is missing than above sand that fills all down to the collider, sand has
// not come down yet.
#define LIES_SLACK 0.1f

static void view_object(const Mpm *mpm, int number, const Vec3 *points, int count, RigidView *view)
{
    rigid_view(mpm->base.rigid, number, points, count, MPM_NEAR_CELLS * mpm->cell, view);
}

// How near to a node an object must be to matter; a distance field knows only its band.
static float reach_of(const Mpm *mpm, int number)
{
    const GrainSdf *sdf = mpm->base.rigid->objects[number].given.sdf;
    float reach = MPM_NEAR_CELLS * mpm->cell;
    return sdf ? real_minf(reach, 0.99f * sdf_half_width(sdf)) : reach;
}

// --- what stands: seen once for each list of blocks -------------------------------------------------

static void node_positions(const Mpm *mpm, const MpmBlock *block, Vec3 points[MPM_BLOCK_NODES])
{
    for (int i = 0; i < MPM_BLOCK_NODES; i++) {
        int at[3] = {i % MPM_BLOCK_SIDE, i / MPM_BLOCK_SIDE % MPM_BLOCK_SIDE, i / (MPM_BLOCK_SIDE * MPM_BLOCK_SIDE)};
        double p[3];
        for (int axis = 0; axis < 3; axis++)
            p[axis] = mpm->base.origin[axis] + (double)mpm->cell * (block->corner[axis] + at[axis]);
        points[i] = vec3((float)p[0], (float)p[1], (float)p[2]);
    }
}

// The object as the block's nodes see it; 0 when it is too far away to matter.
static int look(const Mpm *mpm, const MpmBlock *block, int number, MpmSheet *sheet)
{
    Vec3 points[MPM_BLOCK_NODES];
    RigidView view;
    node_positions(mpm, block, points);
    view_object(mpm, number, points, MPM_BLOCK_NODES, &view);
    sheet->collider = number;
    sheet->nearest = INFINITY;
    memcpy(sheet->distance, view.distance, sizeof sheet->distance);
    memcpy(sheet->normal, view.normal, sizeof sheet->normal);
    memcpy(sheet->speed, view.speed, sizeof sheet->speed);
    memcpy(sheet->friction, view.friction, sizeof sheet->friction);
    memcpy(sheet->pull, view.pull, sizeof sheet->pull);
    for (int i = 0; i < MPM_BLOCK_NODES; i++) sheet->nearest = real_minf(sheet->nearest, sheet->distance[i]);
    return sheet->nearest < reach_of(mpm, number);
}

static int stands(const Mpm *mpm, int number) { return !mpm->base.rigid->objects[number].has_moved; }

GrainResult mpm_make_sheets(Mpm *mpm)
{
    int objects = mpm->base.rigid->object_count;
    mpm->sheet_count = 0;
    if (objects == 0) return GRAIN_OK;
    // Looking is most of the work, keeping is little: all threads look, one counts, all look again and keep.
    uint8_t *is_near = ALLOC_ZEROED(uint8_t, mpm->block_count * objects);
    if (!is_near) return GRAIN_ERROR_MEMORY;
    PARALLEL_BLOCKS(mpm->base.threads, b, mpm->block_count)
    {
        MpmSheet sheet;
        for (int c = 0; c < objects; c++)
            is_near[b * objects + c] = stands(mpm, c) && look(mpm, &mpm->blocks[b], c, &sheet);
    }
    int64_t count = 0;
    for (int64_t b = 0; b < mpm->block_count; b++) {
        mpm->blocks[b].first_sheet = (int32_t)count;
        for (int c = 0; c < objects; c++) count += is_near[b * objects + c];
        mpm->blocks[b].sheet_end = (int32_t)count;
    }
    GrainResult result = alloc_grow((void **)&mpm->sheets, &mpm->sheet_capacity, count, sizeof(MpmSheet));
    if (result == GRAIN_OK) {
        mpm->sheet_count = count;
        PARALLEL_BLOCKS(mpm->base.threads, b, mpm->block_count)
        {
            int32_t next = mpm->blocks[b].first_sheet;
            for (int c = 0; c < objects; c++)
                if (is_near[b * objects + c]) look(mpm, &mpm->blocks[b], c, &mpm->sheets[next++]);
        }
    }
    alloc_free(is_near);
    return result;
}

const MpmSheet *mpm_sheet_of(const Mpm *mpm, const MpmBlock *block, int collider)
{
    for (int32_t s = block->first_sheet; s < block->sheet_end; s++)
        if (mpm->sheets[s].collider == collider) return &mpm->sheets[s];
    for (int32_t s = block->first_moving; s < block->moving_end; s++)
        if (mpm->sheets[s].collider == collider) return &mpm->sheets[s];
    return NULL;
}

// --- what moves: asked at every step ----------------------------------------------------------------

// Whether an object that moves may be near a block: by the balls around both.
static int may_be_near(const Mpm *mpm, const MpmBlock *block, int number)
{
    double half = 0.5 * MPM_TILE_SIDE;
    Vec3d middle = vec3d(mpm->base.origin[0] + (double)mpm->cell * (block->corner[0] - 1 + half),
                         mpm->base.origin[1] + (double)mpm->cell * (block->corner[1] - 1 + half),
                         mpm->base.origin[2] + (double)mpm->cell * (block->corner[2] - 1 + half));
    return rigid_may_reach(mpm->base.rigid, number, middle, (1.75 * half + (double)MPM_NEAR_CELLS) * (double)mpm->cell);
}

int mpm_is_near_moving(const Mpm *mpm, const MpmBlock *block)
{
    if (!mpm->base.has_moving || mpm->base.rigid->is_held) return 0;
    for (int c = 0; c < mpm->base.rigid->object_count; c++)
        if (!stands(mpm, c) && may_be_near(mpm, block, c)) return 1;
    return 0;
}

GrainResult mpm_see_moving(Mpm *mpm)
{
    int objects = mpm->base.rigid->object_count;
    PARALLEL_FOR(mpm->base.threads, b, mpm->block_count)
    {
        MpmBlock *block = &mpm->blocks[b];
        int32_t near = 0;
        for (int c = 0; c < objects && mpm->is_active[b]; c++) near += !stands(mpm, c) && may_be_near(mpm, block, c);
        block->moving_end = near;
    }
    int64_t count = mpm->sheet_count;
    for (int64_t b = 0; b < mpm->block_count; b++) {
        MpmBlock *block = &mpm->blocks[b];
        block->first_moving = (int32_t)count;
        count += block->moving_end;
        block->moving_end = (int32_t)count;
    }
    TRY(alloc_grow((void **)&mpm->sheets, &mpm->sheet_capacity, count, sizeof(MpmSheet)));
    PARALLEL_STRIPS(mpm->base.threads, b, mpm->block_count)
    {
        const MpmBlock *block = &mpm->blocks[b];
        int32_t next = block->first_moving;
        for (int c = 0; c < objects && next < block->moving_end; c++) {
            if (stands(mpm, c) || !may_be_near(mpm, block, c)) continue;
            MpmSheet *sheet = &mpm->sheets[next++];
            if (!look(mpm, block, c, sheet)) sheet->nearest = INFINITY;
        }
    }
    return GRAIN_OK;
}

// --- contact ----------------------------------------------------------------------------------------

// Takes away what goes into the object, and of what goes along it as much as friction holds. Velocities against the
// object.
static inline Vec3 slide(Vec3 velocity, Vec3 normal, float friction)
{
    float into = vec3_dot(velocity, normal);
    if (into >= 0.0f) return velocity;
    Vec3 along = vec3_add_scaled(velocity, normal, -into);
    float speed = vec3_length(along), held = -into * friction;
    return speed > held ? vec3_scale(along, 1.0f - held / speed) : vec3(0, 0, 0);
}

void mpm_give(const Mpm *mpm, int collider, MpmImpulse *impulses, Vec3d push, Vec3 place)
{
    const RigidObject *object = &mpm->base.rigid->objects[collider];
    if (object->body < 0) return;
    MpmImpulse *to = &impulses[object->body];
    to->linear = vec3d_add(to->linear, push);
    Vec3d arm = vec3d_sub(vec3d_from(place), object->now.position);
    to->angular = vec3d_add(to->angular, vec3d_cross(arm, push));
}

// Velocities of the world; hold: m/s that a sticky surface takes of what leaves it.
static inline Vec3 meet(Vec3 velocity, Vec3 normal, Vec3 speed, float friction, float hold)
{
    Vec3 against = slide(vec3_sub(velocity, speed), normal, friction);
    if (hold > 0.0f) against = rigid_stick(against, normal, friction, hold);
    return vec3_add(against, speed);
}

// Part of a full node's mass where all beyond a plane is filled. cells: how far beyond it the node is, up to 1.
static float fill_above(float cells)
{
    float rest = 1.5f - cells; // the spline's integral, in its middle and in its tail
    return cells < 0.5f ? 0.5f + 0.75f * cells - cells * cells * cells / 3.0f : 1.0f - rest * rest * rest / 6.0f;
}

// A node above those that touch: sand lies there on what is below it, and friction holds it.
static int lies_still(const Mpm *mpm, const MpmSheet *sheet, int i, const MpmMotion *node)
{
    float cells = sheet->distance[i] * mpm->inverse_cell;
    if (cells > LIES_CELLS || node->mass < (fill_above(cells) - LIES_SLACK) * mpm->full_mass) return 0;
    Vec3 against = vec3_sub(vec3(node->velocity[0], node->velocity[1], node->velocity[2]), sheet->speed[i]);
    Vec3 left = slide(against, sheet->normal[i], sheet->friction[i]);
    return vec3_dot(left, left) == 0.0f;
}

// taken: what a body takes from the nodes' velocities, or NULL.
static void collide_sheet(const Mpm *mpm, const MpmSheet *sheet, float seconds, MpmMotion *nodes, Vec3 *taken)
{
    for (int i = 0; i < MPM_BLOCK_NODES; i++) {
        if (taken) taken[i] = vec3(0, 0, 0);
        if (nodes[i].mass == 0.0f) continue;
        if (sheet->distance[i] > mpm->touch && (taken || !lies_still(mpm, sheet, i, &nodes[i]))) continue;
        Vec3 before = {nodes[i].velocity[0], nodes[i].velocity[1], nodes[i].velocity[2]};
        Vec3 after = meet(before, sheet->normal[i], sheet->speed[i], sheet->friction[i], seconds * sheet->pull[i]);
        nodes[i].velocity[0] = after.x, nodes[i].velocity[1] = after.y, nodes[i].velocity[2] = after.z;
        if (taken) taken[i] = vec3_sub(before, after);
    }
}

void mpm_collide_nodes(const Mpm *mpm, const MpmBlock *block, float seconds, MpmMotion *nodes)
{
    float reach = LIES_CELLS * mpm->cell;
    for (int32_t s = block->first_sheet; s < block->sheet_end; s++)
        if (mpm->sheets[s].nearest <= reach) collide_sheet(mpm, &mpm->sheets[s], seconds, nodes, NULL);
    for (int32_t s = block->first_moving; s < block->moving_end; s++) {
        MpmSheet *sheet = &mpm->sheets[s];
        int is_body = mpm->base.rigid->objects[sheet->collider].body >= 0;
        if (sheet->nearest <= (is_body ? mpm->touch : reach))
            collide_sheet(mpm, sheet, seconds, nodes, is_body ? sheet->taken : NULL);
    }
}

// m/s that a sticky surface takes from a particle of what leaves it. The nodes between a particle that hangs on and
// those that fall are both's, so it is dragged along though dry sand does not pull: as long as the surface bears its
// weight, only what is fast enough to get out of its reach leaves.
static float hold_of(const Mpm *mpm, const RigidView *view, int i, float seconds)
{
    Vec3 gravity = mpm->base.def.gravity, normal = view->normal[i];
    float away = vec3_dot(gravity, normal), along = vec3_length(vec3_add_scaled(gravity, normal, -away)),
          pull = view->pull[i];
    int bears = view->friction[i] * (pull - away) >= along && pull >= away;
    return bears ? sqrtf(2.0f * (RIGID_STICK_RADII - 1.0f) * mpm->base.def.largest_radius * pull) : seconds * pull;
}

static void push_out(const Mpm *mpm, int number, MpmParticle *p, Vec3 place, const RigidView *view, int i,
                     float seconds, MpmImpulse *impulses)
{
    Vec3 normal = view->normal[i];
    float hold = view->pull[i] > 0.0f ? hold_of(mpm, view, i, seconds) : 0.0f;
    float reach = hold > 0.0f ? RIGID_STICK_RADII * mpm->base.def.largest_radius : p->radius,
          way = p->radius - view->distance[i];
    if (view->distance[i] >= reach || vec3_dot(normal, normal) == 0.0f) return;
    Vec3 before = {p->velocity[0], p->velocity[1], p->velocity[2]}, speed = view->speed[i], after, moved;
    if (way > 0.0f) {
        after = meet(before, normal, speed, view->friction[i], hold);
        moved = vec3_scale(normal, way);
    } else { // the nodes have taken it along already: what is held goes back
        after = vec3_add(rigid_stick(vec3_sub(before, speed), normal, view->friction[i], hold), speed);
        moved = vec3_scale(vec3_sub(after, before), seconds);
    }
    p->velocity[0] = after.x, p->velocity[1] = after.y, p->velocity[2] = after.z;
    p->position[0] += moved.x, p->position[1] += moved.y, p->position[2] += moved.z;
    Vec3d push = vec3d_scale(vec3d_sub(vec3d_from(before), vec3d_from(after)), (double)mpm_mass_of(&mpm->materials, p));
    mpm_give(mpm, number, impulses, push, place);
}

static void collide_with(const Mpm *mpm, const MpmBlock *block, int number, float seconds, MpmImpulse *impulses)
{
    Vec3 points[RIGID_VIEW_CHUNK];
    RigidView view;
    for (int32_t begin = block->begin; begin < block->end; begin += RIGID_VIEW_CHUNK) {
        int count = block->end - begin < RIGID_VIEW_CHUNK ? block->end - begin : RIGID_VIEW_CHUNK;
        MpmParticle *p = mpm->particles + begin;
        for (int i = 0; i < count; i++) points[i] = mpm_place_of(mpm, &p[i]);
        view_object(mpm, number, points, count, &view);
        for (int i = 0; i < count; i++) push_out(mpm, number, &p[i], points[i], &view, i, seconds, impulses);
    }
}

// Particles lie between the nodes of their block and those around: objects near any of these count.
static int is_near_particles(const Mpm *mpm, const MpmBlock *block, int number)
{
    for (int k = 0; k < MPM_AROUND; k++) {
        const MpmBlock *other = &mpm->blocks[block->around[k]];
        for (int32_t s = other->first_sheet; s < other->sheet_end; s++)
            if (mpm->sheets[s].collider == number) return 1;
    }
    return 0;
}

void mpm_collide_particles(const Mpm *mpm, const MpmBlock *block, float seconds, MpmImpulse *impulses)
{
    for (int c = 0; c < mpm->base.rigid->object_count; c++)
        if (stands(mpm, c) ? is_near_particles(mpm, block, c) : may_be_near(mpm, block, c))
            collide_with(mpm, block, c, seconds, impulses);
}
