#include "sim/mpm/mpm_spline.h"

// Momentum and mass of the particles, and what their stress pushes in this step, to the nodes.
void SIMD_NAME(mpm_scatter)(const MpmParticle *particles, int64_t count, const int32_t corner[3], float inverse_cell,
                            float cell, MpmNode *board)
{
    Float4 *nodes = (Float4 *)board;
    for (int i = 0; i < MPM_BOARD_NODES; i++) nodes[i] = set4(0.0f);
    for (int64_t p = 0; p < count; p++) {
        const MpmParticle *particle = &particles[p];
        Spline s = spline_at(particle->position, corner, inverse_cell);
        const Float4 *affine = (const Float4 *)particle->affine;
        Float4 momentum = *(const Float4 *)particle->velocity * set4(particle->mass);
        momentum[3] = particle->mass;
        Float4 along_x[3];
        for (int i = 0; i < 3; i++) along_x[i] = affine[0] * set4(((float)i - s.from[0]) * cell);
        for (int k = 0; k < 3; k++) {
            Float4 layer = momentum + affine[2] * set4(((float)k - s.from[2]) * cell);
            for (int j = 0; j < 3; j++) {
                Float4 row = layer + affine[1] * set4(((float)j - s.from[1]) * cell);
                float weight = s.weight[2][k] * s.weight[1][j];
                Float4 *node = nodes + s.first + (k * MPM_BOARD_SIDE + j) * MPM_BOARD_SIDE;
                for (int i = 0; i < 3; i++) node[i] += (row + along_x[i]) * set4(weight * s.weight[0][i]);
            }
        }
    }
}
