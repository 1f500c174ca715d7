#include "sim/mpm/mpm_spline.h"

// The particle's velocity gradient along one axis, over a cell, as momentum; and the push of its stress.
SIMD_INLINE Float8 column_of(const MpmParticle *p, int axis, float mass_cell, float push)
{
    static const int xy = 0, xz = 1, yz = 2;
    const float *g = p->column[axis].gradient, *s = p->shear_stress;
    Float8 column = {g[0] * mass_cell, g[1] * mass_cell, g[2] * mass_cell, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    column[4] = push * (axis == 0 ? p->column[0].stress : axis == 1 ? s[xy] : s[xz]);
    column[5] = push * (axis == 0 ? s[xy] : axis == 1 ? p->column[1].stress : s[yz]);
    column[6] = push * (axis == 0 ? s[xz] : axis == 1 ? s[yz] : p->column[2].stress);
    return column;
}

// Momentum and mass of the particles, and what their stress pushes, to the nodes.
void SIMD_NAME(mpm_scatter)(const MpmParticle *particles, int64_t count, const int32_t corner[4], float inverse_cell,
                            MpmNode *board)
{
    Float8 *nodes = (Float8 *)board;
    float cell = 1.0f / inverse_cell;
    for (int i = 0; i < MPM_BOARD_NODES; i++) nodes[i] = set8(0.0f);
    for (int64_t p = 0; p < count; p++) {
        const MpmParticle *particle = &particles[p];
        Spline s = spline_at(particle, corner, inverse_cell);
        // The spline's inertia is cell^2 / 4: the gradient of its weights is 4 / cell^2 * weight * way.
        float push = -4.0f * particle->volume * inverse_cell, mass = particle->mass;
        Float8 column[3], along_x[3];
        for (int axis = 0; axis < 3; axis++) column[axis] = column_of(particle, axis, mass * cell, push);
        Float8 momentum = {particle->velocity[0] * mass, particle->velocity[1] * mass, particle->velocity[2] * mass, mass,
                           0.0f, 0.0f, 0.0f, 0.0f};
        for (int i = 0; i < 3; i++) along_x[i] = column[0] * set8((float)i - s.from[0]);
        for (int k = 0; k < 3; k++) {
            Float8 layer = momentum + column[2] * set8((float)k - s.from[2]);
            for (int j = 0; j < 3; j++) {
                Float8 row = layer + column[1] * set8((float)j - s.from[1]);
                float weight = s.weight[k][2] * s.weight[j][1];
                Float8 *node = nodes + s.first + (k * MPM_BOARD_SIDE + j) * MPM_BOARD_SIDE;
                for (int i = 0; i < 3; i++) node[i] += (row + along_x[i]) * set8(weight * s.weight[i][0]);
            }
        }
    }
}
