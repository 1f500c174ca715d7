// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/mpm/mpm_eigen.h"
#include "sim/mpm/mpm_law_mud.h"
#include "sim/mpm/mpm_law_sand.h"
#include "sim/mpm/mpm_law_snow.h"
#include "sim/mpm/mpm_spline.h"
#include "sim/mpm/mpm_transfer.h"
#include "sim/rigid/rigid_view.h"

// Particles of one batch: whole vectors on every instruction set.
#define BATCH 32
#define RECORDS 5
// More than this part of the density at rest is a crowd (even packings differ by some hundredths), and per second this
// much of it turns into pressure.
#define CROWDED 1.03f
#define SPREAD_RATE 20.0f
// Less than this part of the density at rest is loose, also where the slope of the density, times this many cells, is
// added: at a surface few are around for another reason. Poured sand lands so; it bears nothing before it has come
// closer. Where more than half is around, it is unevenness rather than an edge that makes a slope: then fewer cells.
#define LOOSE 0.85f
#define EDGE_CELLS 2.0f
#define INSIDE_CELLS 0.75f
#define INSIDE 0.5f

// Numbers of a batch, one lane for each particle.
typedef struct Batch {
    float gradient[9][BATCH]; // of velocity, 1/s: [3 * column + row]
    float stretch[6][BATCH], plastic[BATCH];
    float mass[BATCH];   // around the particle, on its nodes, kg
    float slope[BATCH];  // of it, squared, in masses a cell
    float pulled[BATCH]; // MpmParticle.pulled, squared until the stress is found
    float shared[BATCH]; // what goes with the nodes in the next step
    float shear[BATCH], lame[BATCH], damping[BATCH], number[MPM_LAW_NUMBERS][BATCH];
    float kind[MPM_LAW_COUNT][BATCH]; // 1 where the particle is of that law
    int has_kind[MPM_LAW_COUNT];
    // Results as particles keep them, in fours: columns, shear stress and plastic, the first of the stretch; then its
    // rest.
    _Alignas(64) float record[RECORDS][4 * BATCH];
    float last_stretch[2][BATCH];
} Batch;

// Sums over the nodes around a particle of the nodes' motion, and along each axis of the motion times the node's
// number.
typedef struct Sums {
    Float4 all, column[3];
} Sums;

SIMD_INLINE Sums sum_nodes(const Spline *s, const Float4 *nodes)
{
    Row all = ROW_ZERO, along_y = ROW_ZERO, along_z = ROW_ZERO, along_x = spline_row(s);
    for (int k = 0; k < 3; k++) {
        Row row[3];
        for (int j = 0; j < 3; j++)
            row[j] = row_scale(row_load(nodes + s->first + (k * MPM_TILE_SIDE + j) * MPM_TILE_SIDE), s->weight[j][1]);
        Row ahead = row_add(row[1], row[2]), layer = row_scale(row_add(row[0], ahead), s->weight[k][2]);
        along_y = row_add(along_y, row_scale(row_add(ahead, row[2]), s->weight[k][2]));
        all = row_add(all, layer);
        if (k > 0) along_z = row_add(along_z, layer);
        if (k > 1) along_z = row_add(along_z, layer);
    }
    all = row_multiply(all, along_x);
    Float4 third = row_node(all, 2), ahead = row_node(all, 1) + third;
    return (Sums){row_node(all, 0) + ahead,
                  {ahead + third, row_sum(row_multiply(along_y, along_x)), row_sum(row_multiply(along_z, along_x))}};
}

// Rows of nodes around one particle, as far apart as on a tile.
#define PATCH_NODES ((2 * MPM_TILE_SIDE + 2) * MPM_TILE_SIDE + 4)

// Of a velocity at a thin wall: what the wall leaves of it, as nodes are held (mpm_colliders.c).
SIMD_INLINE Float4 held_by(Float4 velocity, const MpmWall *wall, float seconds)
{
    Vec3 normal = {wall->normal[0], wall->normal[1], wall->normal[2]},
         speed = {wall->speed[0], wall->speed[1], wall->speed[2]};
    Vec3 against = vec3_sub(vec3(velocity[0], velocity[1], velocity[2]), speed);
    float into = vec3_dot(against, normal);
    if (into < 0.0f) {
        Vec3 along = vec3_add_scaled(against, normal, -into);
        float fast = __builtin_sqrtf(vec3_dot(along, along)), held = -into * wall->friction;
        against = vec3_scale(along, fast > held ? 1.0f - held / fast : 0.0f);
    }
    if (wall->pull > 0.0f) against = rigid_stick(against, normal, wall->friction, seconds * wall->pull);
    return (Float4){against.x + speed.x, against.y + speed.y, against.z + speed.z, 0.0f};
}

// The nodes around a particle, those that are barred as the particle alone, held by the wall, would have moved them. As
// heavy as the others on the mean: a wall is no surface that sand could be loose at.
SIMD_INLINE void patch_nodes(const MpmParticle *particle, const Spline *s, const MpmStep *step, MpmWall *wall,
                             const Float4 *nodes, Float4 patch[PATCH_NODES])
{
    float push =
        particle->mass > 0.0f ? -4.0f * particle->volume * step->inverse_cell * step->seconds / particle->mass : 0.0f;
    float seen = 0.0f, mass = 0.0f;
    Float4 velocity = {particle->velocity[0] + step->fall[0], particle->velocity[1] + step->fall[1],
                       particle->velocity[2] + step->fall[2], 0.0f},
           column[3], taken = set4(0.0f);
    for (int axis = 0; axis < 3; axis++) column[axis] = spline_column(particle, axis, 1.0f / step->inverse_cell, push);
    for (int i = 0; i < 36; i++) { // rows of four
        int x = i % 4, y = i / 4 % 3, z = i / 12, place = (z * MPM_TILE_SIDE + y) * MPM_TILE_SIDE + x;
        patch[place] = nodes[s->first + place];
        if (x == 3 || wall->barred >> (9 * z + 3 * y + x) & 1) continue;
        float weight = s->weight[x][0] * s->weight[y][1] * s->weight[z][2];
        seen += weight, mass += weight * patch[place][3];
    }
    for (int i = 0; i < 27; i++) {
        int x = i % 3, y = i / 3 % 3, z = i / 9;
        if (!(wall->barred >> i & 1)) continue;
        Float4 own = velocity + column[0] * set4((float)x - s->from[0]) + column[1] * set4((float)y - s->from[1]) +
                     column[2] * set4((float)z - s->from[2]);
        Float4 held = held_by(own, wall, step->seconds);
        taken += (own - held) * set4(s->weight[x][0] * s->weight[y][1] * s->weight[z][2] * particle->mass);
        held[3] = seen > 0.0f ? mass / seen : 0.0f;
        patch[(z * MPM_TILE_SIDE + y) * MPM_TILE_SIDE + x] = held;
    }
    for (int axis = 0; axis < 3; axis++) wall->taken[axis] = taken[axis];
}

// The same sums where a wall may be.
SIMD_INLINE Sums sum_beside(const MpmParticle *particle, Spline *s, const MpmStep *step, MpmWall *wall,
                            const Float4 *nodes)
{
    if (!wall || !wall->barred) return sum_nodes(s, nodes);
    Float4 patch[PATCH_NODES];
    patch_nodes(particle, s, step, wall, nodes, patch);
    Spline moved = *s;
    moved.first = 0;
    return sum_nodes(&moved, patch);
}

// What of a particle goes with the nodes, from the mass around it.
SIMD_INLINE float share_now(const MpmParticle *particle, float mass, const MpmStep *step)
{
    int is_loose = step->materials->of[particle->material].is_loose && particle->moisture == 0.0f;
    return is_loose ? mpm_share_of(mass, step->full_mass) : 1.0f;
}

// Velocity of the particle from its sums, and the velocity's gradient; moves it. As much of it goes with the nodes as
// it has brought to them.
SIMD_INLINE void move_particle(MpmParticle *particle, const Spline *s, Float4 sum, const Float4 column[3],
                               const MpmStep *step, Batch *batch, int lane)
{
    float scale = 4.0f * step->inverse_cell; // 4 / cell^2, and the ways are in cells
    float all = mpm_mass_of(step->materials, particle), shared = particle->mass / all, squared = 0.0f;
    batch->mass[lane] = sum[3];
    batch->shared[lane] = share_now(particle, sum[3], step);
    particle->mass = batch->shared[lane] * all;
    for (int axis = 0; axis < 3; axis++) {
        float alone = particle->velocity[axis] + step->fall[axis];
        particle->velocity[axis] = shared * sum[axis] + (1.0f - shared) * alone;
        particle->position[axis] += step->seconds * particle->velocity[axis];
        squared += particle->velocity[axis] * particle->velocity[axis];
    }
    batch->pulled[lane] = squared;
    float slope = 0.0f;
    for (int c = 0; c < 3; c++) {
        Float4 about = column[c] - sum * set4(s->from[c]);
        slope += 16.0f * about[3] * about[3];
        about *= set4(scale * shared);
        for (int r = 0; r < 3; r++) batch->gradient[3 * c + r][lane] = about[r];
    }
    batch->slope[lane] = slope;
}

SIMD_INLINE void load_state(const MpmParticle *particle, Batch *batch, int lane)
{
    for (int i = 0; i < 6; i++) batch->stretch[i][lane] = particle->stretch[i];
    batch->plastic[lane] = particle->plastic;
}

SIMD_INLINE void load_material(const MpmMaterial *material, Batch *batch, int lane)
{
    batch->shear[lane] = material->shear;
    batch->lame[lane] = material->lame;
    batch->damping[lane] = material->damping;
    for (int i = 0; i < MPM_LAW_NUMBERS; i++) batch->number[i][lane] = material->number[i];
    for (int i = 0; i < MPM_LAW_COUNT; i++) batch->kind[i][lane] = material->kind == (MpmLawKind)i ? 1.0f : 0.0f;
    batch->has_kind[material->kind] = 1;
}

SIMD_INLINE void choose(MpmStretch *chosen, const MpmStretch *from, FloatV is_kind)
{
    IntV mask = is_kind > simd_set1(0.5f);
    for (int i = 0; i < 3; i++) {
        chosen->squared[i] = simd_select(mask, from->squared[i], chosen->squared[i]);
        chosen->stress[i] = simd_select(mask, from->stress[i], chosen->stress[i]);
    }
    chosen->plastic = simd_select(mask, from->plastic, chosen->plastic);
    chosen->flows = (mask & from->flows) | (~mask & chosen->flows);
}

SIMD_INLINE void choose_state(MpmState *chosen, const MpmState *from, FloatV is_kind)
{
    IntV mask = is_kind > simd_set1(0.5f);
    for (int i = 0; i < 6; i++) {
        chosen->stretch[i] = simd_select(mask, from->stretch[i], chosen->stretch[i]);
        chosen->stress[i] = simd_select(mask, from->stress[i], chosen->stress[i]);
    }
    chosen->plastic = simd_select(mask, from->plastic, chosen->plastic);
    chosen->flows = (mask & from->flows) | (~mask & chosen->flows);
}

// The laws that work on principal stretches; squeeze is taken from the logarithm of volume.
SIMD_INLINE void apply_principal_laws(const Batch *batch, int lane, const MpmMaterialV *m, FloatV squeeze,
                                      FloatV seconds, MpmState *state)
{
    const FloatV *b = state->stretch;
    Eigen eigen = eigen_of(b[0], b[1], b[2], b[3], b[4], b[5]);
    MpmStretch trial = {.plastic = state->plastic};
    // No law stretches farther than this; a particle torn out of its surroundings must not become a number too large.
    for (int i = 0; i < 3; i++) {
        trial.squared[i] = simd_min(simd_max(eigen.value[i], simd_set1(1e-4f)), simd_set1(1e4f));
        trial.squared[i] *= 1.0f - (2.0f / 3.0f) * squeeze;
    }
    MpmStretch result = trial;
    if (batch->has_kind[MPM_SNOW]) {
        MpmStretch snow = mpm_law_snow(m, trial);
        choose(&result, &snow, simd_load(batch->kind[MPM_SNOW] + lane));
    }
    if (batch->has_kind[MPM_MUD]) {
        MpmStretch mud = mpm_law_mud(m, trial, seconds);
        choose(&result, &mud, simd_load(batch->kind[MPM_MUD] + lane));
    }
    eigen_compose(&eigen, result.squared, state->stretch);
    eigen_compose(&eigen, result.stress, state->stress);
    state->plastic = result.plastic;
    state->flows = result.flows;
}

SIMD_INLINE void apply_laws(const Batch *batch, int lane, const MpmMaterialV *m, FloatV squeeze, FloatV seconds,
                            MpmState *state)
{
    MpmState sand = *state;
    int has_others = batch->has_kind[MPM_SNOW] || batch->has_kind[MPM_MUD];
    if (has_others) apply_principal_laws(batch, lane, m, squeeze, seconds, state);
    if (!batch->has_kind[MPM_SAND]) return;
    FloatV g[9];
    for (int i = 0; i < 9; i++) g[i] = simd_load(batch->gradient[i] + lane);
    FloatV spin[3] = {0.5f * (g[3] - g[1]), 0.5f * (g[6] - g[2]), 0.5f * (g[7] - g[5])};
    mpm_law_sand(m, squeeze, seconds, spin, &sand);
    if (has_others)
        choose_state(state, &sand, simd_load(batch->kind[MPM_SAND] + lane));
    else
        *state = sand;
}

// The elastic stretch after this step's motion: (1 + dt L) b (1 + dt L)^T.
SIMD_INLINE void stretch_on(const Batch *batch, int lane, FloatV seconds, FloatV out[6])
{
    FloatV b[3][3], g[3][3], gb[3][3];
    static const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            b[r][c] = simd_load(batch->stretch[place[r][c]] + lane);
            g[r][c] = seconds * simd_load(batch->gradient[3 * c + r] + lane);
            if (r == c) g[r][c] += 1.0f;
        }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) gb[r][c] = g[r][0] * b[0][c] + g[r][1] * b[1][c] + g[r][2] * b[2][c];
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 6; i++) {
        int r = row[i], c = column[i];
        out[i] = gb[r][0] * g[c][0] + gb[r][1] * g[c][1] + gb[r][2] * g[c][2];
    }
}

// crowd: density around the particle, over that at rest; bulk: the same, with what a surface takes away made good.
// Where more particles have gathered than their stretches tell of, which is the drift of a long flow, press them apart:
// by how much the logarithm of their volume sinks. Where there are too few, it rises.
SIMD_INLINE FloatV squeeze_of(FloatV crowd, FloatV bulk, FloatV squared_volume, FloatV seconds)
{
    FloatV zero = simd_set1(0.0f), excess = simd_max(crowd * simd_sqrt(squared_volume) - CROWDED, zero);
    FloatV missing = simd_max(LOOSE - bulk, zero);
    return simd_min(SPREAD_RATE * seconds * (excess - missing), simd_set1(0.01f));
}

// What does not flow is damped: without, a heap at rest would ring on for seconds.
SIMD_INLINE void add_damping(const Batch *batch, int lane, FloatV viscosity, FloatV stress[6])
{
    FloatV g[9];
    for (int i = 0; i < 9; i++) g[i] = simd_load(batch->gradient[i] + lane);
    FloatV third = (g[0] + g[4] + g[8]) * (1.0f / 3.0f);
    stress[0] += 2.0f * viscosity * (g[0] - third);
    stress[1] += 2.0f * viscosity * (g[4] - third);
    stress[2] += 2.0f * viscosity * (g[8] - third);
    stress[3] += viscosity * (g[3] + g[1]);
    stress[4] += viscosity * (g[6] + g[2]);
    stress[5] += viscosity * (g[7] + g[5]);
}

SIMD_INLINE void store_records(Batch *batch, int lane, const MpmState *state)
{
    const FloatV *stress = state->stress, *stretch = state->stretch;
    for (int c = 0; c < 3; c++)
        simd_store_records(batch->record[c] + 4 * lane, simd_load(batch->gradient[3 * c] + lane),
                           simd_load(batch->gradient[3 * c + 1] + lane), simd_load(batch->gradient[3 * c + 2] + lane),
                           stress[c]);
    simd_store_records(batch->record[3] + 4 * lane, stress[3], stress[4], stress[5], state->plastic);
    simd_store_records(batch->record[4] + 4 * lane, stretch[0], stretch[1], stretch[2], stretch[3]);
    for (int i = 0; i < 2; i++) simd_store(batch->last_stretch[i] + lane, stretch[4 + i]);
}

static void find_stress(Batch *batch, const MpmStep *step, int lanes)
{
    FloatV seconds = simd_set1(step->seconds), full_mass = simd_set1(step->full_mass);
    for (int lane = 0; lane < lanes; lane += SIMD_LANES) {
        MpmState state = {.plastic = simd_load(batch->plastic + lane)};
        stretch_on(batch, lane, seconds, state.stretch);
        MpmMaterialV m = {
            simd_load(batch->shear + lane), simd_load(batch->lame + lane), simd_load(batch->damping + lane), {{0}}};
        for (int i = 0; i < MPM_LAW_NUMBERS; i++) m.number[i] = simd_load(batch->number[i] + lane);
        FloatV squared_volume = simd_max(symmetric_determinant(state.stretch), simd_set1(0.0f));
        FloatV crowd = simd_load(batch->mass + lane) / full_mass;
        FloatV cells = simd_select(crowd > simd_set1(INSIDE), simd_set1(INSIDE_CELLS), simd_set1(EDGE_CELLS));
        FloatV bulk = crowd + cells * simd_sqrt(simd_load(batch->slope + lane)) / full_mass;
        FloatV squeeze = squeeze_of(crowd, bulk, squared_volume, seconds);
        apply_laws(batch, lane, &m, squeeze, seconds, &state);
        add_damping(batch, lane, simd_select(state.flows, simd_set1(0.0f), m.damping), state.stress);
        FloatV shared = simd_load(batch->shared + lane);
        for (int i = 0; i < 6; i++) state.stress[i] *= shared;
        store_records(batch, lane, &state);
        simd_store(batch->pulled + lane, simd_sqrt(simd_load(batch->pulled + lane)));
    }
}

SIMD_INLINE void store_state(MpmParticle *particle, const Batch *batch, int lane)
{
    const Float4 *record = (const Float4 *)(const void *)batch->record + lane;
    for (int c = 0; c < 3; c++) *(Float4 *)(void *)&particle->column[c] = record[c * BATCH];
    *(Float4 *)(void *)particle->shear_stress = record[3 * BATCH];
    *(Float4 *)(void *)particle->stretch = record[4 * BATCH];
    for (int i = 0; i < 2; i++) particle->stretch[4 + i] = batch->last_stretch[i][lane];
    particle->pulled = batch->pulled[lane];
}

SIMD_INLINE void gather_one(MpmParticle *particle, int lane, const int32_t corner[4], const Float4 *nodes,
                            MpmWall *wall, const MpmStep *step, Batch *batch)
{
    const MpmMaterials *materials = step->materials;
    const MpmMaterial *material = &materials->of[particle->material];
    Spline spline = spline_at(particle, corner, step->inverse_cell);
    Sums sums = sum_beside(particle, &spline, step, wall, nodes);
    move_particle(particle, &spline, sums.all, sums.column, step, batch, lane);
    load_state(particle, batch, lane);
    if (materials->count > 1) load_material(material, batch, lane);
    if (step->is_damp && material->kind == MPM_SAND)
        batch->number[1][lane] = material->number[1] + particle->moisture * material->wet_tip;
}

void SIMD_NAME(mpm_gather)(MpmParticle *particles, int64_t count, const int32_t corner[4], const MpmMotion *tile,
                           MpmWall *walls, const MpmStep *step)
{
    const Float4 *nodes = (const Float4 *)tile;
    const MpmMaterials *materials = step->materials;
    Batch batch;
    memset(&batch, 0, sizeof batch);
    for (int lane = 0; lane < BATCH; lane++) load_material(&materials->of[0], &batch, lane);
    for (int64_t begin = 0; begin < count; begin += BATCH) {
        int lanes = count - begin < BATCH ? (int)(count - begin) : BATCH;
        if (materials->count > 1) memset(batch.has_kind, 0, sizeof batch.has_kind);
        for (int lane = 0; lane < lanes; lane++)
            gather_one(&particles[begin + lane], lane, corner, nodes, walls ? &walls[begin + lane] : NULL, step,
                       &batch);
        find_stress(&batch, step, (lanes + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES);
        for (int lane = 0; lane < lanes; lane++) store_state(&particles[begin + lane], &batch, lane);
    }
}

float SIMD_NAME(mpm_stronger_pull)(const MpmParticle *particles, int64_t count, const int32_t corner[4],
                                   const MpmMotion *tile, MpmWall *walls, const MpmStep *step)
{
    const Float4 *nodes = (const Float4 *)tile;
    float most = 0.0f;
    for (int64_t i = 0; i < count; i++) {
        const MpmParticle *particle = &particles[i];
        Spline s = spline_at(particle, corner, step->inverse_cell);
        Float4 sum = sum_beside(particle, &s, step, walls ? &walls[i] : NULL, nodes).all;
        // As far as it went with the nodes when it fell asleep, or would now: sand may have come near a grain that lies
        // alone.
        float shared = particle->mass / mpm_mass_of(step->materials, particle), squared = 0.0f,
              now = share_now(particle, sum[3], step);
        shared = now > shared ? now : shared;
        for (int axis = 0; axis < 3; axis++) {
            float speed = shared * sum[axis] + (1.0f - shared) * step->fall[axis];
            squared += speed * speed;
        }
        float more = __builtin_sqrtf(squared) - particle->pulled;
        most = more > most ? more : most;
    }
    return most;
}
