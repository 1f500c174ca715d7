// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.h"
#include "sim/mpm/mpm.h"

#include <string.h>

// Lighter nodes than this part of a full one carry nothing: a quotient of two rounding errors.
#define LEAST_MASS 1e-7f

// An MpmNode.
typedef float Sum __attribute__((vector_size(16)));

// Where a block's nodes and the tile of the block at `offset` (-1, 0, 1) from it overlap along one axis: `count` of
// them, from this node and that place on the tile.
typedef struct Overlap {
    int node, place, count;
} Overlap;

static Overlap overlap_of(int offset)
{
    // Tile place 0 is node -1 of its own block.
    if (offset < 0) return (Overlap){0, 5, 3}; // that block is before: its tile ends at my node 2
    if (offset > 0) return (Overlap){3, 0, 1}; // it comes after: its tile starts at my last node
    return (Overlap){0, 1, 4};
}

static void add_tile(Sum *nodes, const Sum *tile, Overlap x, Overlap y, Overlap z)
{
    for (int k = 0; k < z.count; k++)
        for (int j = 0; j < y.count; j++) {
            Sum *to = nodes + ((z.node + k) * MPM_BLOCK_SIDE + y.node + j) * MPM_BLOCK_SIDE + x.node;
            const Sum *from = tile + ((z.place + k) * MPM_TILE_SIDE + y.place + j) * MPM_TILE_SIDE + x.place;
            to[0] += from[0];
            if (x.count == 1) continue;
            to[1] += from[1], to[2] += from[2];
            if (x.count == 4) to[3] += from[3];
        }
}

// Of a tile without rooms.
static void add_masses(float *rooms, const MpmNode *tile, float room_for_mass, Overlap x, Overlap y, Overlap z)
{
    for (int k = 0; k < z.count; k++)
        for (int j = 0; j < y.count; j++)
            for (int i = 0; i < x.count; i++)
                rooms[((z.node + k) * MPM_BLOCK_SIDE + y.node + j) * MPM_BLOCK_SIDE + x.node + i] +=
                    room_for_mass *
                    tile[((z.place + k) * MPM_TILE_SIDE + y.place + j) * MPM_TILE_SIDE + x.place + i].mass;
}

// Whether one of the tiles around has rooms: where a tile has none, all are as dense as the densest.
static int has_rooms_around(const Mpm *mpm, const MpmBlock *block)
{
    for (int k = 0; k < MPM_AROUND; k++) {
        int32_t tile = block->around[k] < 0 ? -1 : mpm->blocks[block->around[k]].tile;
        if (tile >= 0 && mpm->rest[tile].has_rooms) return 1;
    }
    return 0;
}

static void add_rooms(float *rooms, const float *tile, Overlap x, Overlap y, Overlap z)
{
    for (int k = 0; k < z.count; k++)
        for (int j = 0; j < y.count; j++)
            for (int i = 0; i < x.count; i++)
                rooms[((z.node + k) * MPM_BLOCK_SIDE + y.node + j) * MPM_BLOCK_SIDE + x.node + i] +=
                    tile[((z.place + k) * MPM_TILE_SIDE + y.place + j) * MPM_TILE_SIDE + x.place + i];
}

void mpm_update_nodes(Mpm *mpm, int64_t number, float seconds)
{
    const MpmBlock *block = &mpm->blocks[number];
    Sum sums[MPM_BLOCK_NODES];
    float rooms[MPM_BLOCK_NODES], room_for_mass = 1.0f / mpm->densest;
    int has_rooms = has_rooms_around(mpm, block);
    memset(sums, 0, sizeof sums);
    memset(rooms, 0, sizeof rooms);
    for (int k = 0; k < MPM_AROUND; k++) {
        if (block->around[k] < 0) continue;
        int64_t tile = mpm->blocks[block->around[k]].tile;
        if (tile < 0) continue;
        Overlap x = overlap_of(k % 3 - 1), y = overlap_of(k / 3 % 3 - 1), z = overlap_of(k / 9 - 1);
        const MpmNode *brought = mpm->tiles + tile * MPM_TILE_STRIDE;
        add_tile(sums, (const Sum *)brought, x, y, z);
        if (!has_rooms) continue;
        if (mpm->rest[tile].has_rooms)
            add_rooms(rooms, mpm->rooms + tile * MPM_TILE_STRIDE, x, y, z);
        else
            add_masses(rooms, brought, room_for_mass, x, y, z);
    }
    MpmMotion *nodes = mpm->nodes + number * MPM_BLOCK_NODES;
    Vec3 g = vec3_scale(mpm->base.def.gravity, seconds);
    float least = LEAST_MASS * mpm->full_mass;
    for (int i = 0; i < MPM_BLOCK_NODES; i++) {
        float mass = sums[i][3];
        nodes[i] = (MpmMotion){.mass = has_rooms ? mpm->densest * rooms[i] : mass};
        if (mass <= least) continue;
        nodes[i].velocity[0] = sums[i][0] / mass + g.x;
        nodes[i].velocity[1] = sums[i][1] / mass + g.y;
        nodes[i].velocity[2] = sums[i][2] / mass + g.z;
    }
    mpm_collide_nodes(mpm, block, seconds, nodes);
}
