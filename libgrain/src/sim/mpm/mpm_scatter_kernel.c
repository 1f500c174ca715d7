// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/mpm/mpm_spline.h"
#include "sim/mpm/mpm_transfer.h"

// What the particles of one cell bring to their nodes: nine rows, [3 * z + y].
typedef struct Brought {
    Row row[9];
    int first; // place of the first node on the tile
} Brought;

SIMD_INLINE void put_down(const Brought *brought, Float4 *nodes)
{
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++) {
            Float4 *to = nodes + brought->first + (k * MPM_TILE_SIDE + j) * MPM_TILE_SIDE;
            row_store(to, row_add(row_load(to), brought->row[3 * k + j]));
        }
}

// 1 for the nodes of a row that are not barred.
SIMD_INLINE Row free_nodes(uint32_t barred)
{
    return row_along((Float4){barred & 1 ? 0.0f : 1.0f, barred & 2 ? 0.0f : 1.0f, barred & 4 ? 0.0f : 1.0f, 0.0f});
}

// So many particles before it is read is a velocity written.
enum { PULLED_BEFORE = 4 };

SIMD_INLINE void pull_next(MpmParticle *particles, int64_t count, int64_t p, const Vec3 *acceleration, float seconds)
{
    if (p < count) mpm_pull(&particles[p], acceleration[p], seconds);
}

// Momentum and mass of the particles, and what their stress pushes within the step, to the nodes. Those of one cell
// stand together mostly (mpm_blocks.c): what they bring is summed before it is put down.
void SIMD_NAME(mpm_scatter)(MpmParticle *particles, int64_t count, const int32_t corner[4], float inverse_cell,
                            float seconds, const Vec3 *acceleration, const MpmWall *walls, MpmNode *tile)
{
    Float4 *nodes = (Float4 *)tile;
    float cell = 1.0f / inverse_cell;
    Brought brought = {.first = -1};
    memset(tile, 0, MPM_TILE_STRIDE * sizeof *tile);
    for (int64_t p = 0; acceleration && p < PULLED_BEFORE; p++) pull_next(particles, count, p, acceleration, seconds);
    for (int64_t p = 0; p < count; p++) {
        const MpmParticle *particle = &particles[p];
        if (acceleration) pull_next(particles, count, p + PULLED_BEFORE, acceleration, seconds);
        Spline s = spline_at(particle, corner, inverse_cell);
        if (s.first != brought.first) {
            if (p > 0) put_down(&brought, nodes);
            for (int i = 0; i < 9; i++) brought.row[i] = ROW_ZERO;
            brought.first = s.first;
        }
        // The spline's inertia is cell^2 / 4: the gradient of its weights is 4 / cell^2 * weight * way.
        float push = -4.0f * particle->volume * inverse_cell * seconds, mass = particle->mass;
        Float4 momentum = *(const Float4 *)(const void *)particle->velocity * set4(mass);
        momentum[3] = mass;
        Row along_x = spline_row(&s), way_x = row_along((Float4){0.0f, 1.0f, 2.0f, 0.0f} - set4(s.from[0]));
        Row column[3], shift_y[3];
        for (int axis = 0; axis < 3; axis++) column[axis] = row_of(spline_column(particle, axis, mass * cell, push));
        Row start = row_multiply(row_add(row_of(momentum), row_multiply(column[0], way_x)), along_x);
        column[1] = row_multiply(column[1], along_x), column[2] = row_multiply(column[2], along_x);
        for (int j = 0; j < 3; j++) shift_y[j] = row_scale(column[1], (float)j - s.from[1]);
        for (int k = 0; k < 3; k++) {
            Row layer = row_add(start, row_scale(column[2], (float)k - s.from[2]));
            for (int j = 0; j < 3; j++) {
                Row more = row_scale(row_add(layer, shift_y[j]), s.weight[k][2] * s.weight[j][1]);
                if (walls && walls[p].barred) more = row_multiply(more, free_nodes(walls[p].barred >> (9 * k + 3 * j)));
                brought.row[3 * k + j] = row_add(brought.row[3 * k + j], more);
            }
        }
    }
    if (count > 0) put_down(&brought, nodes);
}

// The room that the particles take, to the nodes. Where all are equally dense and none flies alone, their mass tells.
void SIMD_NAME(mpm_scatter_room)(const MpmParticle *particles, int64_t count, const int32_t corner[4],
                                 float inverse_cell, const MpmWall *walls, float *tile)
{
    memset(tile, 0, MPM_TILE_STRIDE * sizeof *tile);
    for (int64_t p = 0; p < count; p++) {
        Spline s = spline_at(&particles[p], corner, inverse_cell);
        uint32_t barred = walls ? walls[p].barred : 0;
        for (int i = 0; i < 27; i++) {
            int x = i % 3, y = i / 3 % 3, z = i / 9;
            if (barred >> i & 1) continue;
            tile[s.first + (z * MPM_TILE_SIDE + y) * MPM_TILE_SIDE + x] +=
                particles[p].volume * (s.weight[x][0] * s.weight[y][1] * s.weight[z][2]);
        }
    }
}
