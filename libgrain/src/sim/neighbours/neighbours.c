// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/neighbours/neighbours.h"
#include "base/alloc.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

// Particles that justify another thread.
#define PARTICLES_PER_THREAD 500

static void free_arrays(Neighbours *n)
{
    void *arrays[] = {n->listed[0], n->listed[1], n->listed[2], n->before, n->id_before, n->block, n->contact};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
}

static GrainResult keep_fields(Neighbours *n, int64_t kept)
{
    float *fields = ALLOC_ZEROED(float, n->field_count * n->room);
    int32_t *id = ALLOC_ZEROED(int32_t, n->room);
    if (!fields || !id) {
        alloc_free(fields), alloc_free(id);
        return GRAIN_ERROR_MEMORY;
    }
    for (int f = 0; f < n->field_count; f++) {
        if (kept > 0) memcpy(fields + f * n->room, n->field[f], (size_t)kept * sizeof(float));
        n->field[f] = fields + f * n->room;
    }
    if (kept > 0) memcpy(id, n->id, (size_t)kept * sizeof *id);
    alloc_free(n->fields), alloc_free(n->id);
    n->fields = fields, n->id = id;
    return GRAIN_OK;
}

GrainResult neighbours_resize(Neighbours *n, int64_t count)
{
    TRY(solver_check_count(count));
    int64_t kept = count < n->count ? count : n->count;
    n->count = 0; // what fails half-way has no particles
    n->block_count = parallel_block_count(count, BLOCK_LANES);
    n->room = n->block_count * BLOCK_LANES;
    TRY(keep_fields(n, kept));
    free_arrays(n);
    for (int axis = 0; axis < 3; axis++) n->listed[axis] = ALLOC_ZEROED(float, n->room);
    n->before = ALLOC(float, n->room);
    n->id_before = ALLOC(int32_t, n->room);
    n->block = ALLOC_ZEROED(Block, n->block_count);
    n->contact = ALLOC(BlockContact, n->block_count * BLOCK_CONTACTS);
    if (!n->listed[0] || !n->listed[1] || !n->listed[2] || !n->before || !n->id_before || !n->block || !n->contact)
        return GRAIN_ERROR_MEMORY;
    n->count = count;
    solver_base_set_threads(n->base, count, PARTICLES_PER_THREAD);
    return GRAIN_OK;
}

void neighbours_free(Neighbours *n)
{
    cell_grid_free(&n->grid);
    free_arrays(n);
    alloc_free(n->fields);
    alloc_free(n->id);
    alloc_free(n->near);
}

void neighbours_remove(Neighbours *n, const uint8_t *gone)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n->count; i++) {
        if (gone[n->id[i]]) continue;
        for (int f = 0; f < n->field_count; f++) n->field[f][kept] = n->field[f][i];
        n->id[kept++] = n->id[i];
    }
    n->count = kept;
}

void neighbours_start(Neighbours *n, int64_t i, Vec3 place, Vec3 velocity)
{
    const double *origin = n->base->origin;
    n->field[0][i] = (float)((double)place.x - origin[0]);
    n->field[1][i] = (float)((double)place.y - origin[1]);
    n->field[2][i] = (float)((double)place.z - origin[2]);
    n->field[3][i] = velocity.x, n->field[4][i] = velocity.y, n->field[5][i] = velocity.z;
    n->id[i] = (int32_t)n->base->born++;
}

GrainResult neighbours_read(const Neighbours *n, const float *radius, const float *moisture, const char *remedy,
                            Particles *out)
{
    float *const *field = n->field;
    SolverLost lost = SOLVER_LOST_NONE;
    TRY(particles_reserve(out, n->base->born));
    if (moisture) TRY(particles_moisten(out));
    out->count = n->base->born;
    PARALLEL_FOR(n->base->threads, i, n->count)
    {
        int32_t id = n->id[i];
        const float place[3] = {field[0][i], field[1][i], field[2][i]};
        out->position[id] = solver_base_place(n->base, place);
        out->velocity[id] = vec3(field[3][i], field[4][i], field[5][i]);
        out->radius[id] = radius[i];
        if (moisture) out->moisture[id] = moisture[i];
        solver_note_lost(&lost, out->position[id], id);
    }
    return solver_check_lost(&lost, remedy);
}

void neighbours_save(const Neighbours *n, const ColumnRule rules[NEIGHBOURS_COLUMNS],
                     Column columns[NEIGHBOURS_COLUMNS])
{
    const void *data[NEIGHBOURS_COLUMNS] = {n->fields, n->listed[0], n->listed[1], n->listed[2], n->id};
    for (int i = 0; i < NEIGHBOURS_COLUMNS; i++)
        columns[i] = (Column){rules[i].name, rules[i].type, rules[i].components, n->room, data[i]};
    columns[NEIGHBOURS_COLUMNS - 1].count = n->count;
}

GrainResult neighbours_load(Neighbours *n, const Column *own, int own_count, const Column *columns, int column_count)
{
    for (int i = 0; i < own_count; i++)
        TRY(column_copy(columns, column_count, own[i].name, own[i].type, own[i].components, own[i].count,
                        (void *)own[i].data));
    TRY(solver_base_check_ids(n->base, n->id, sizeof *n->id, n->count));
    return solver_base_load(n->base, columns, column_count);
}

void neighbours_push(Neighbours *n, const float *still, const Vec3 *acceleration, double seconds)
{
    float *const *field = n->field, dt = (float)seconds;
    PARALLEL_FOR(n->base->threads, i, n->count)
    {
        Vec3 a = acceleration[n->id[i]];
        if (still && isinf(still[i])) continue;
        field[3][i] += a.x * dt, field[4][i] += a.y * dt, field[5][i] += a.z * dt;
    }
}

// --- order ------------------------------------------------------------------------------------------

static void copy_in_order(float *values, float *before, const int32_t *order, int64_t count, int threads)
{
    PARALLEL_FOR(threads, i, count) { before[i] = values[order[i]]; }
    PARALLEL_FOR(threads, i, count) { values[i] = before[i]; }
}

GrainResult neighbours_sort(Neighbours *n)
{
    int threads = n->base->threads;
    TRY(cell_grid_build(&n->grid, n->field[0], n->field[1], n->field[2], n->count, n->cell, threads));
    const int32_t *order = n->grid.order;
    for (int f = 0; f < n->field_count; f++) copy_in_order(n->field[f], n->before, order, n->count, threads);
    PARALLEL_FOR(threads, i, n->count) { n->id_before[i] = n->id[order[i]]; }
    int32_t *id = n->id;
    n->id = n->id_before, n->id_before = id;
    for (int axis = 0; axis < 3; axis++) memcpy(n->listed[axis], n->field[axis], (size_t)n->room * sizeof(float));
    return GRAIN_OK;
}

GrainResult neighbours_find_cells(Neighbours *n)
{
    return cell_grid_build(&n->grid, n->listed[0], n->listed[1], n->listed[2], n->count, n->cell, n->base->threads);
}

int neighbours_have_left(const Neighbours *n, const int32_t *active, int64_t count, float *fastest)
{
    float moved = 0.0f, speed = 0.0f, limit = 0.25f * n->skin * n->skin;
    for (int64_t k = 0; k < count; k++) {
        const Block *block = &n->block[active ? active[k] : k];
        // One that is nowhere has moved too.
        if (!(block->moved <= moved)) moved = block->moved;
        speed = real_maxf(speed, block->fastest);
    }
    *fastest = sqrtf(speed);
    return !(moved <= limit);
}

void neighbours_run(const Neighbours *n, int64_t count, NeighboursPass *pass, void *state)
{
    PARALLEL_STRIPS(n->base->threads, piece, parallel_block_count(count, BLOCK_RUN))
    {
        pass(state, piece * BLOCK_RUN, parallel_block_end(piece, BLOCK_RUN, count));
    }
}

void neighbours_hold_padding(const Neighbours *n, float *const column[3])
{
    for (int axis = 0; axis < 3; axis++)
        for (int64_t i = n->count; i < n->room; i++) column[axis][i] = 0.0f;
}
