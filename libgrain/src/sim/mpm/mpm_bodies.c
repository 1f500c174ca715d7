// SPDX-License-Identifier: GPL-3.0-or-later
// Bodies are pushed by the particles, not by the nodes: what a node that a body holds has lost is as much as its
// particles lose by it, and the blocks around bring different ones. So the mass that goes with each node is summed for
// each block, and a node's loss counts for that mass. Momentum is kept to the rounding of the sums.
#include "base/error.h"
#include "sim/mpm/mpm.h"

#include <math.h>
#include <string.h>

// A place of a tile along one axis: before the block, in it or after it.
static inline int side_of(int place) { return place == 0 ? 0 : place < 5 ? 1 : 2; }

static int is_touched(const Mpm *mpm, const MpmBlock *block)
{
    for (int k = 0; k < MPM_AROUND; k++) {
        const MpmBlock *other = &mpm->blocks[block->around[k]];
        for (int32_t s = other->first_moving; s < other->moving_end; s++)
            if (mpm->sheets[s].nearest <= mpm->touch && mpm->base.rigid->objects[mpm->sheets[s].collider].body >= 0)
                return 1;
    }
    return 0;
}

// The part of a particle's mass that goes with each node of the tile.
static void add_follower(const Mpm *mpm, const MpmBlock *block, const MpmParticle *p, uint32_t barred, float *followed)
{
    int first = 0;
    float weight[3][3];
    static const int stride[3] = {1, MPM_TILE_SIDE, MPM_TILE_SIDE * MPM_TILE_SIDE};
    for (int axis = 0; axis < 3; axis++) {
        float at = p->position[axis] * mpm->inverse_cell - (float)(block->corner[axis] - 1);
        int place = (int)(at - 0.5f);
        float f = at - (float)place;
        weight[axis][0] = 0.5f * (1.5f - f) * (1.5f - f);
        weight[axis][1] = 0.75f - (f - 1.0f) * (f - 1.0f);
        weight[axis][2] = 0.5f * (f - 0.5f) * (f - 0.5f);
        first += place * stride[axis];
    }
    for (int i = 0; i < 27; i++)
        if (!(barred >> i & 1))
            followed[first + i / 9 * stride[2] + i / 3 % 3 * stride[1] + i % 3] +=
                p->mass * (weight[0][i % 3] * weight[1][i / 3 % 3] * weight[2][i / 9]);
}

void mpm_pay_bodies(const Mpm *mpm, int64_t filled, MpmImpulse *impulses)
{
    const MpmBlock *block = &mpm->blocks[mpm->filled[filled]];
    if (!is_touched(mpm, block)) return;
    float followed[MPM_TILE_NODES] = {0};
    int is_split = mpm->rest[filled].is_split;
    for (int32_t i = block->begin; i < block->end; i++)
        add_follower(mpm, block, &mpm->particles[i], is_split ? mpm->walls[i].barred : 0, followed);
    for (int i = 0; i < MPM_TILE_NODES; i++) {
        int at[3] = {i % MPM_TILE_SIDE, i / MPM_TILE_SIDE % MPM_TILE_SIDE, i / (MPM_TILE_SIDE * MPM_TILE_SIDE)},
            node = 0;
        double place[3];
        if (followed[i] == 0.0f) continue;
        for (int axis = 2; axis >= 0; axis--) {
            node = node * MPM_BLOCK_SIDE + (at[axis] + 3) % MPM_BLOCK_SIDE;
            place[axis] = mpm->base.origin[axis] + (double)mpm->cell * (block->corner[axis] - 1 + at[axis]);
        }
        const MpmBlock *owner = &mpm->blocks[block->around[side_of(at[0]) + 3 * side_of(at[1]) + 9 * side_of(at[2])]];
        for (int32_t s = owner->first_moving; s < owner->moving_end; s++) {
            const MpmSheet *sheet = &mpm->sheets[s];
            if (sheet->nearest > mpm->touch || mpm->base.rigid->objects[sheet->collider].body < 0) continue;
            mpm_give(mpm, sheet->collider, impulses, vec3d_scale(vec3d_from(sheet->taken[node]), (double)followed[i]),
                     vec3((float)place[0], (float)place[1], (float)place[2]));
        }
    }
}
