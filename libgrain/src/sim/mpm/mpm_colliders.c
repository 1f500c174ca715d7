// Colliders meet the material twice. On the nodes inside them, no material moves in, and what presses against them is
// held by friction. And no particle's centre comes nearer than its radius: that alone holds back what flies alone, and
// what a wall thinner than a cell, with no node inside, would let through.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/mpm/mpm.h"

#include <math.h>

// Particles come this near a collider, in cells from the nodes of their block's board, at most.
#define NEAR_CELLS 2.0f

static void node_positions(const Mpm *mpm, const MpmBlock *block, float x[], float y[], float z[])
{
    for (int i = 0; i < MPM_BLOCK_NODES; i++) {
        x[i] = (float)(mpm->origin[0] + (double)mpm->cell * (block->corner[0] + i % MPM_BLOCK_SIDE));
        y[i] = (float)(mpm->origin[1] + (double)mpm->cell * (block->corner[1] + i / MPM_BLOCK_SIDE % MPM_BLOCK_SIDE));
        z[i] = (float)(mpm->origin[2] + (double)mpm->cell * (block->corner[2] + i / (MPM_BLOCK_SIDE * MPM_BLOCK_SIDE)));
    }
}

// The collider as the block's nodes see it; 0 when it is too far away to matter.
static int look(const Mpm *mpm, const MpmBlock *block, int collider, MpmSheet *sheet)
{
    const SimCollider *c = &mpm->colliders[collider];
    float x[MPM_BLOCK_NODES], y[MPM_BLOCK_NODES], z[MPM_BLOCK_NODES], gx[MPM_BLOCK_NODES], gy[MPM_BLOCK_NODES],
        gz[MPM_BLOCK_NODES];
    node_positions(mpm, block, x, y, z);
    sheet->collider = collider;
    sheet->nearest = INFINITY;
    if (c->sdf) sdf_sample(c->sdf, x, y, z, MPM_BLOCK_NODES, sheet->distance, gx, gy, gz);
    for (int i = 0; i < MPM_BLOCK_NODES; i++) {
        Vec3 normal = c->plane_normal;
        if (c->sdf)
            normal = vec3_normalize(vec3(gx[i], gy[i], gz[i]), vec3(0, 0, 0));
        else
            sheet->distance[i] = vec3_dot(vec3_sub(vec3(x[i], y[i], z[i]), c->plane_point), normal);
        sheet->normal[i][0] = normal.x, sheet->normal[i][1] = normal.y, sheet->normal[i][2] = normal.z;
        sheet->nearest = fminf(sheet->nearest, sheet->distance[i]);
    }
    float reach = NEAR_CELLS * mpm->cell;
    return sheet->nearest < (c->sdf ? fminf(reach, 0.99f * sdf_half_width(c->sdf)) : reach);
}

GrainResult mpm_make_sheets(Mpm *mpm)
{
    int64_t all = mpm->block_count * mpm->def.collider_count;
    mpm->sheet_count = 0;
    if (all == 0) return GRAIN_OK;
    // Looking is most of the work, keeping is little: all threads look, one keeps, in the order of the blocks.
    uint8_t *is_near = ALLOC(uint8_t, all);
    if (!is_near) return GRAIN_ERROR_MEMORY;
    PARALLEL_BLOCKS(mpm->threads, b, mpm->block_count)
    {
        MpmSheet sheet;
        for (int c = 0; c < mpm->def.collider_count; c++)
            is_near[b * mpm->def.collider_count + c] = (uint8_t)look(mpm, &mpm->blocks[b], c, &sheet);
    }
    int64_t count = 0;
    for (int64_t b = 0; b < mpm->block_count; b++) {
        mpm->blocks[b].first_sheet = (int32_t)count;
        for (int c = 0; c < mpm->def.collider_count; c++) count += is_near[b * mpm->def.collider_count + c];
        mpm->blocks[b].sheet_end = (int32_t)count;
    }
    GrainResult result = alloc_grow((void **)&mpm->sheets, &mpm->sheet_capacity, count, sizeof(MpmSheet));
    if (result == GRAIN_OK) {
        mpm->sheet_count = count;
        PARALLEL_BLOCKS(mpm->threads, b, mpm->block_count)
        {
            int32_t next = mpm->blocks[b].first_sheet;
            for (int c = 0; c < mpm->def.collider_count; c++)
                if (is_near[b * mpm->def.collider_count + c]) look(mpm, &mpm->blocks[b], c, &mpm->sheets[next++]);
        }
    }
    alloc_free(is_near);
    return result;
}

// Takes away what goes into the collider, and of what goes along it as much as friction holds.
static inline Vec3 slide(Vec3 velocity, Vec3 normal, float friction)
{
    float into = vec3_dot(velocity, normal);
    if (into >= 0.0f) return velocity;
    Vec3 along = vec3_add_scaled(velocity, normal, -into);
    float speed = vec3_length(along), held = -into * friction;
    return speed > held ? vec3_scale(along, 1.0f - held / speed) : vec3(0, 0, 0);
}

void mpm_collide_nodes(const Mpm *mpm, const MpmBlock *block, MpmMotion *nodes)
{
    for (int32_t s = block->first_sheet; s < block->sheet_end; s++) {
        const MpmSheet *sheet = &mpm->sheets[s];
        if (sheet->nearest > 0.0f) continue;
        float friction = mpm->colliders[sheet->collider].friction;
        for (int i = 0; i < MPM_BLOCK_NODES; i++) {
            if (sheet->distance[i] > 0.0f || nodes[i].mass == 0.0f) continue;
            Vec3 normal = {sheet->normal[i][0], sheet->normal[i][1], sheet->normal[i][2]};
            Vec3 v = slide(vec3(nodes[i].after[0], nodes[i].after[1], nodes[i].after[2]), normal, friction);
            nodes[i].after[0] = v.x, nodes[i].after[1] = v.y, nodes[i].after[2] = v.z;
        }
    }
}

static void push_out(MpmParticle *particle, float distance, Vec3 normal, float friction)
{
    if (distance >= particle->radius) return;
    Vec3 v = slide(vec3(particle->velocity[0], particle->velocity[1], particle->velocity[2]), normal, friction);
    float way = particle->radius - distance;
    particle->velocity[0] = v.x, particle->velocity[1] = v.y, particle->velocity[2] = v.z;
    particle->position[0] += way * normal.x;
    particle->position[1] += way * normal.y;
    particle->position[2] += way * normal.z;
}

static void collide_with(const Mpm *mpm, const MpmBlock *block, const SimCollider *c)
{
    enum { CHUNK = 64 };
    float x[CHUNK], y[CHUNK], z[CHUNK], distance[CHUNK], gx[CHUNK], gy[CHUNK], gz[CHUNK];
    for (int32_t begin = block->begin; begin < block->end; begin += CHUNK) {
        int count = block->end - begin < CHUNK ? block->end - begin : CHUNK;
        MpmParticle *p = mpm->particles + begin;
        for (int i = 0; i < count; i++) {
            x[i] = (float)((double)p[i].position[0] + mpm->origin[0]);
            y[i] = (float)((double)p[i].position[1] + mpm->origin[1]);
            z[i] = (float)((double)p[i].position[2] + mpm->origin[2]);
        }
        if (c->sdf) sdf_sample(c->sdf, x, y, z, count, distance, gx, gy, gz);
        for (int i = 0; i < count; i++) {
            Vec3 normal = c->plane_normal;
            if (c->sdf) {
                normal = vec3_normalize(vec3(gx[i], gy[i], gz[i]), vec3(0, 0, 0));
                if (vec3_dot(normal, normal) == 0.0f) continue;
            } else {
                distance[i] = vec3_dot(vec3_sub(vec3(x[i], y[i], z[i]), c->plane_point), normal);
            }
            push_out(&p[i], distance[i], normal, c->friction);
        }
    }
}

void mpm_collide_particles(const Mpm *mpm, const MpmBlock *block)
{
    // Particles lie between the nodes of this block and those after it: colliders near any of these count.
    uint64_t done = 0;
    for (int k = 0; k < MPM_AROUND; k++) {
        if (block->around[k] < 0) continue;
        const MpmBlock *other = &mpm->blocks[block->around[k]];
        for (int32_t s = other->first_sheet; s < other->sheet_end; s++) {
            int collider = mpm->sheets[s].collider;
            if (collider < 64 && (done >> collider & 1)) continue;
            if (collider < 64) done |= 1ull << collider;
            collide_with(mpm, block, &mpm->colliders[collider]);
        }
    }
}
