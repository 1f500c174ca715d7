#include "sim/mpm/mpm_eigen.h"
#include "sim/mpm/mpm_law_mud.h"
#include "sim/mpm/mpm_law_sand.h"
#include "sim/mpm/mpm_law_snow.h"
#include "sim/mpm/mpm_spline.h"

// Particles of one batch: whole vectors on every instruction set.
#define BATCH 32
// A particle flies alone where less than the first part of the bulk's mass is around it, and is part of the bulk from the
// second on. Alone on a node's eight cells, it makes up 0.03 of it at most.
#define ALONE 0.06f
#define NOT_ALONE 0.18f
// More than this part of the density at rest is a crowd (even packings differ by some hundredths), and per second this
// much of it turns into pressure.
#define CROWDED 1.03f
#define SPREAD_RATE 20.0f

// Numbers of a batch, one lane for each particle.
typedef struct Batch {
    float gradient[9][BATCH]; // of velocity, 1/s: [3 * column + row]
    float stretch[6][BATCH], plastic[BATCH], stress[6][BATCH];
    float crowd[BATCH]; // density around the particle, over that at rest
    float shear[BATCH], lame[BATCH], damping[BATCH], number[MPM_LAW_NUMBERS][BATCH];
    float kind[MPM_LAW_COUNT][BATCH]; // 1 where the particle is of that law
    int has_kind[MPM_LAW_COUNT];
} Batch;

// Velocity of the particle from the nodes, and its gradient; moves it.
SIMD_INLINE void gather_motion(MpmParticle *particle, const Spline *s, const Float4 *nodes, const MpmStep *step,
                               int is_loose, Batch *batch, int lane)
{
    // Sums over nodes 0, 1, 2 of the value, and of the value times the node's number: about the first node. About the
    // particle they follow in one go.
    Float4 sum = set4(0.0f), column[3] = {sum, sum, sum};
    for (int k = 0; k < 3; k++) {
        Float4 row[3];
        for (int j = 0; j < 3; j++) {
            const Float4 *node = nodes + s->first + (k * MPM_BOARD_SIDE + j) * MPM_BOARD_SIDE;
            Float4 a = node[0] * set4(s->weight[0][0]), b = node[1] * set4(s->weight[1][0]),
                   c = node[2] * set4(s->weight[2][0]), ahead = b + c, weight = set4(s->weight[k][2] * s->weight[j][1]);
            row[j] = (a + ahead) * weight;
            column[0] += (ahead + c) * weight;
        }
        Float4 ahead = row[1] + row[2], layer = row[0] + ahead;
        column[1] += ahead + row[2];
        sum += layer;
        if (k > 0) column[2] += layer;
        if (k > 1) column[2] += layer;
    }
    float scale = 4.0f * step->inverse_cell; // 4 / cell^2, and the ways are in cells
    float shared = 1.0f;
    if (is_loose && sum[3] < NOT_ALONE * step->full_mass) {
        float t = sum[3] / step->full_mass * (1.0f / (NOT_ALONE - ALONE)) - ALONE / (NOT_ALONE - ALONE);
        t = t > 0.0f ? t : 0.0f;
        shared = t * t * (3.0f - 2.0f * t);
    }
    batch->crowd[lane] = sum[3] / step->full_mass;
    for (int axis = 0; axis < 3; axis++) {
        float alone = particle->velocity[axis] + step->fall[axis];
        particle->velocity[axis] = shared * sum[axis] + (1.0f - shared) * alone;
        particle->position[axis] += step->seconds * particle->velocity[axis];
    }
    for (int c = 0; c < 3; c++) {
        Float4 about = (column[c] - sum * set4(s->from[c])) * set4(scale * shared);
        for (int r = 0; r < 3; r++) batch->gradient[3 * c + r][lane] = about[r];
    }
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

SIMD_INLINE MpmStretch apply_laws(const Batch *batch, int lane, const MpmMaterialV *m, const MpmStretch *trial,
                                  FloatV seconds)
{
    MpmStretch result = *trial;
    if (batch->has_kind[MPM_SAND]) {
        MpmStretch sand = mpm_law_sand(m, *trial);
        choose(&result, &sand, simd_load(batch->kind[MPM_SAND] + lane));
    }
    if (batch->has_kind[MPM_SNOW]) {
        MpmStretch snow = mpm_law_snow(m, *trial);
        choose(&result, &snow, simd_load(batch->kind[MPM_SNOW] + lane));
    }
    if (batch->has_kind[MPM_MUD]) {
        MpmStretch mud = mpm_law_mud(m, *trial, seconds);
        choose(&result, &mud, simd_load(batch->kind[MPM_MUD] + lane));
    }
    return result;
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

// Where more particles have gathered than their stretches tell of, which is the drift of a long flow, press them apart.
// Near a surface fewer are seen than there are, so too few says nothing.
SIMD_INLINE void spread_crowd(FloatV crowd, FloatV seconds, FloatV squared[3])
{
    FloatV volume = simd_sqrt(squared[0] * squared[1] * squared[2]);
    FloatV excess = simd_max(crowd * volume - CROWDED, simd_set1(0.0f));
    FloatV shrink = 1.0f - (2.0f / 3.0f) * simd_min(SPREAD_RATE * seconds * excess, simd_set1(0.01f));
    for (int i = 0; i < 3; i++) squared[i] *= shrink;
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

static void find_stress(Batch *batch, float step_seconds, int lanes)
{
    FloatV seconds = simd_set1(step_seconds);
    for (int lane = 0; lane < lanes; lane += SIMD_LANES) {
        FloatV b[6], out[6];
        stretch_on(batch, lane, seconds, b);
        Eigen eigen = eigen_of(b[0], b[1], b[2], b[3], b[4], b[5]);
        MpmMaterialV m = {simd_load(batch->shear + lane), simd_load(batch->lame + lane),
                          simd_load(batch->damping + lane), {{0}}};
        for (int i = 0; i < MPM_LAW_NUMBERS; i++) m.number[i] = simd_load(batch->number[i] + lane);
        MpmStretch trial = {.plastic = simd_load(batch->plastic + lane)};
        // No law stretches farther than this; a particle torn out of its surroundings must not become a number too large.
        for (int i = 0; i < 3; i++)
            trial.squared[i] = simd_min(simd_max(eigen.value[i], simd_set1(1e-4f)), simd_set1(1e4f));
        spread_crowd(simd_load(batch->crowd + lane), seconds, trial.squared);
        MpmStretch result = apply_laws(batch, lane, &m, &trial, seconds);
        simd_store(batch->plastic + lane, result.plastic);
        eigen_compose(&eigen, result.squared, out);
        for (int i = 0; i < 6; i++) simd_store(batch->stretch[i] + lane, out[i]);
        eigen_compose(&eigen, result.stress, out);
        add_damping(batch, lane, simd_select(result.flows, simd_set1(0.0f), m.damping), out);
        for (int i = 0; i < 6; i++) simd_store(batch->stress[i] + lane, out[i]);
    }
}

SIMD_INLINE void store_state(MpmParticle *particle, const Batch *batch, int lane)
{
    for (int i = 0; i < 6; i++) particle->stretch[i] = batch->stretch[i][lane];
    particle->plastic = batch->plastic[lane];
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++) particle->column[c].gradient[r] = batch->gradient[3 * c + r][lane];
        particle->column[c].stress = batch->stress[c][lane];
        particle->shear_stress[c] = batch->stress[3 + c][lane];
    }
}

void SIMD_NAME(mpm_gather)(MpmParticle *particles, int64_t count, const int32_t corner[4], const MpmMotion *board,
                           const MpmStep *step)
{
    const Float4 *nodes = (const Float4 *)board;
    const MpmMaterials *materials = step->materials;
    Batch batch;
    memset(&batch, 0, sizeof batch);
    for (int lane = 0; lane < BATCH; lane++) load_material(&materials->of[0], &batch, lane);
    for (int64_t begin = 0; begin < count; begin += BATCH) {
        int lanes = count - begin < BATCH ? (int)(count - begin) : BATCH;
        if (materials->count > 1) memset(batch.has_kind, 0, sizeof batch.has_kind);
        for (int lane = 0; lane < lanes; lane++) {
            MpmParticle *particle = &particles[begin + lane];
            const MpmMaterial *material = &materials->of[particle->material];
            Spline s = spline_at(particle, corner, step->inverse_cell);
            gather_motion(particle, &s, nodes, step, material->is_loose, &batch, lane);
            load_state(particle, &batch, lane);
            if (materials->count > 1) load_material(material, &batch, lane);
        }
        find_stress(&batch, step->seconds, (lanes + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES);
        for (int lane = 0; lane < lanes; lane++) store_state(&particles[begin + lane], &batch, lane);
    }
}
