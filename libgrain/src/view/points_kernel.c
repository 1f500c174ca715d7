// SPDX-License-Identifier: GPL-3.0-or-later
// Plain C that the compiler turns into vectors.
#include "view/points_kernel.h"

#include <math.h>

#define NEAREST_W 1e-6f // behind the eye

void SIMD_NAME(points_places)(const GrainPointsView *view, const float *restrict positions,
                              const uint8_t *restrict colours, int64_t count, PointsPlaces *restrict out)
{
    float m[16], x[POINTS_RUN], y[POINTS_RUN], wide[POINTS_RUN];
    memcpy(m, view->matrix, sizeof m);
    const float width = 0.5f * (float)view->width, height = 0.5f * (float)view->height;
    const float low_x = (float)view->left, low_y = (float)view->bottom;
    const float size = view->diameter * (1.0f / 255.0f), most = (float)view->most_pixels;
    const int32_t across = view->right - view->left, up = view->top - view->bottom;
    const float right = (float)across + most, top = (float)up + most;
    for (int64_t i = 0; i < count; i++) wide[i] = size * (float)colours[4 * i + 3];
    for (int64_t i = 0; i < count; i++) {
        const float px = positions[3 * i], py = positions[3 * i + 1], pz = positions[3 * i + 2];
        float w = m[12] * px + m[13] * py + m[14] * pz + m[15];
        float inverse = w > NEAREST_W ? 1.0f / w : NAN; // behind the eye nothing is anywhere
        out->depth[i] = 0.5f + 0.5f * inverse * (m[8] * px + m[9] * py + m[10] * pz + m[11]);
        x[i] = width + width * inverse * (m[0] * px + m[1] * py + m[2] * pz + m[3]) - low_x;
        y[i] = height + height * inverse * (m[4] * px + m[5] * py + m[6] * pz + m[7]) - low_y;
        wide[i] = wide[i] * inverse + 0.5f;
    }
    for (int64_t i = 0; i < count; i++) {
        float depth = out->depth[i];
        int32_t is_seen = depth >= 0.0f && depth <= 1.0f && x[i] > -most && x[i] < right && y[i] > -most && y[i] < top;
        float w = wide[i] < most ? wide[i] : most;
        int32_t side = (int32_t)(w > 1.0f ? w : 1.0f);
        float half = 0.5f * (float)(side - 1);
        // Down to whole numbers: above 0 that is what a conversion does.
        int32_t left = (int32_t)((is_seen ? x[i] : 0.0f) - half + 64.0f) - 64;
        int32_t bottom = (int32_t)((is_seen ? y[i] : 0.0f) - half + 64.0f) - 64;
        int32_t is_simple = is_seen && side < POINTS_SMALLEST_BALL && left >= 0 && bottom >= 0 &&
                            left + side <= across && bottom + side <= up;
        out->left[i] = left;
        out->bottom[i] = bottom;
        out->side[i] = is_seen ? side : 0;
        out->corner[i] = is_simple ? bottom * across + left : -1;
    }
}

SIMD_INLINE int32_t cell_along(const PointsLight *light, int k, float place, float shift)
{
    float at = (place - light->low[k]) * light->cells_per_length + shift;
    float most = (float)(light->size[k] - 1);
    at = at > 0.0f ? at : 0.0f; // NaN: 0
    return (int32_t)(at < most ? at : most);
}

SIMD_INLINE int32_t cell_at(const PointsLight *light, const int32_t at[3])
{
    return (at[2] * light->size[1] + at[1]) * light->size[0] + at[0];
}

SIMD_INLINE float shift_by(uint32_t shifts, int k)
{
    return (float)(int32_t)(shifts >> 10 * k & 1023) * (1.0f / 1024.0f) - 0.5f;
}

void SIMD_NAME(points_cells)(const PointsLight *light, const float *restrict positions, const uint32_t *restrict dice,
                             int64_t count, int32_t *restrict cells)
{
    const PointsLight grid = *light;
    for (int64_t i = 0; dice && i < count; i++) {
        const float *p = positions + 3 * i;
        uint32_t shifts = dice[i] * 0x9E3779B9u;
        const int32_t at[3] = {cell_along(&grid, 0, p[0], shift_by(shifts, 0)),
                               cell_along(&grid, 1, p[1], shift_by(shifts, 1)),
                               cell_along(&grid, 2, p[2], shift_by(shifts, 2))};
        cells[i] = cell_at(&grid, at);
    }
    for (int64_t i = 0; !dice && i < count; i++) {
        const float *p = positions + 3 * i;
        const int32_t at[3] = {cell_along(&grid, 0, p[0], 0.0f), cell_along(&grid, 1, p[1], 0.0f),
                               cell_along(&grid, 2, p[2], 0.0f)};
        cells[i] = cell_at(&grid, at);
    }
}
