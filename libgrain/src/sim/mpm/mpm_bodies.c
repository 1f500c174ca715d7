// Bodies are pushed by the particles, not by the nodes: a body holds the nodes that it touches, but a particle that flies
// alone does not go with them, and what a node brings is as much as its particles take from it. So the mass that goes with
// each node is summed first, and a node's loss counts for that mass. Momentum is kept to the rounding of the sums.
#include "base/error.h"
#include "sim/mpm/mpm.h"

#include <math.h>
#include <string.h>

// A place of a board along one axis: before the block, in it or after it.
static inline int side_of(int place) { return place == 0 ? 0 : place < 5 ? 1 : 2; }

static int is_touched(const Mpm *mpm, const MpmBlock *block)
{
    for (int k = 0; k < MPM_AROUND; k++) {
        const MpmBlock *other = &mpm->blocks[block->around[k]];
        for (int32_t s = other->first_moving; s < other->moving_end; s++)
            if (mpm->sheets[s].nearest <= mpm->touch && mpm->rigid->objects[mpm->sheets[s].collider].body >= 0) return 1;
    }
    return 0;
}

// The part of a particle's mass that goes with each node of the board.
static void add_follower(const Mpm *mpm, const MpmBlock *block, const MpmParticle *p, uint32_t barred, const MpmMotion *board,
                         float *followed)
{
    int first = 0;
    float weight[3][3], along[27], seen = 0.0f, mass = 0.0f;
    static const int stride[3] = {1, MPM_BOARD_SIDE, MPM_BOARD_SIDE * MPM_BOARD_SIDE};
    for (int axis = 0; axis < 3; axis++) {
        float at = p->position[axis] * mpm->inverse_cell - (float)(block->corner[axis] - 1);
        int place = (int)(at - 0.5f);
        float f = at - (float)place;
        weight[axis][0] = 0.5f * (1.5f - f) * (1.5f - f);
        weight[axis][1] = 0.75f - (f - 1.0f) * (f - 1.0f);
        weight[axis][2] = 0.5f * (f - 0.5f) * (f - 0.5f);
        first += place * stride[axis];
    }
    for (int i = 0; i < 27; i++) {
        along[i] = barred >> i & 1 ? 0.0f : weight[0][i % 3] * weight[1][i / 3 % 3] * weight[2][i / 9];
        seen += along[i];
        mass += along[i] * board[first + i / 9 * stride[2] + i / 3 % 3 * stride[1] + i % 3].mass;
    }
    if (!(seen > 0.0f)) return;
    int is_loose = mpm->materials.of[p->material].is_loose && p->moisture == 0.0f;
    float share = p->mass * (is_loose ? mpm_share_of(mass / seen, mpm->full_mass) : 1.0f);
    for (int i = 0; i < 27; i++) followed[first + i / 9 * stride[2] + i / 3 % 3 * stride[1] + i % 3] += share * along[i];
}

void mpm_pay_bodies(const Mpm *mpm, int64_t filled, const MpmMotion *board, MpmImpulse *impulses)
{
    const MpmBlock *block = &mpm->blocks[mpm->filled[filled]];
    if (!is_touched(mpm, block)) return;
    float followed[MPM_BOARD_NODES] = {0};
    int is_split = mpm->rest[filled].is_split;
    for (int32_t i = block->begin; i < block->end; i++)
        add_follower(mpm, block, &mpm->particles[i], is_split ? mpm->walls[i].barred : 0, board, followed);
    for (int i = 0; i < MPM_BOARD_NODES; i++) {
        int at[3] = {i % MPM_BOARD_SIDE, i / MPM_BOARD_SIDE % MPM_BOARD_SIDE, i / (MPM_BOARD_SIDE * MPM_BOARD_SIDE)}, node = 0;
        double place[3];
        if (followed[i] == 0.0f) continue;
        for (int axis = 2; axis >= 0; axis--) {
            node = node * MPM_BLOCK_SIDE + (at[axis] + 3) % MPM_BLOCK_SIDE;
            place[axis] = mpm->origin[axis] + (double)mpm->cell * (block->corner[axis] - 1 + at[axis]);
        }
        const MpmBlock *owner = &mpm->blocks[block->around[side_of(at[0]) + 3 * side_of(at[1]) + 9 * side_of(at[2])]];
        for (int32_t s = owner->first_moving; s < owner->moving_end; s++) {
            const MpmSheet *sheet = &mpm->sheets[s];
            if (sheet->nearest > mpm->touch || mpm->rigid->objects[sheet->collider].body < 0) continue;
            mpm_give(mpm, sheet->collider, impulses, vec3d_scale(vec3d_from(sheet->taken[node]), (double)followed[i]),
                     vec3((float)place[0], (float)place[1], (float)place[2]));
        }
    }
}
