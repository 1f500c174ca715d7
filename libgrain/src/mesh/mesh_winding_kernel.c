// SPDX-License-Identifier: GPL-3.0-or-later
#include "mesh/mesh_winding.h"

typedef struct Query {
    FloatV x, y, z, sum;
} Query;

// Within 2e-6 of the true angle.
SIMD_INLINE FloatV simd_atan2(FloatV y, FloatV x)
{
    const float quarter = 1.57079637f, half = 3.14159274f;
    FloatV size_y = simd_abs(y), size_x = simd_abs(x);
    FloatV larger = simd_max(simd_max(size_x, size_y), simd_set1(1e-37f)), smaller = simd_min(size_x, size_y);
    FloatV t = smaller / larger, s = t * t;
    // Odd polynomial of degree 15 on [0, 1] (Abramowitz & Stegun 1964, 4.4.49).
    FloatV p = 0.0028662257f * s - 0.0161657367f;
    p = p * s + 0.0429096138f;
    p = p * s - 0.0752896400f;
    p = p * s + 0.1065626393f;
    p = p * s - 0.1420889944f;
    p = p * s + 0.1999355085f;
    p = p * s - 0.3333314528f;
    FloatV angle = t + t * s * p;
    angle = simd_select(size_y > size_x, quarter - angle, angle);
    angle = simd_select(x < 0.0f, half - angle, angle);
    return simd_select(y < 0.0f, -angle, angle);
}

// Solid angle of a triangle over 4 pi (van Oosterom & Strackee 1983).
SIMD_INLINE FloatV triangle_part(const float *c, const Query *q)
{
    FloatV ax = c[0] - q->x, ay = c[1] - q->y, az = c[2] - q->z;
    FloatV bx = c[3] - q->x, by = c[4] - q->y, bz = c[5] - q->z;
    FloatV cx = c[6] - q->x, cy = c[7] - q->y, cz = c[8] - q->z;
    FloatV la = simd_sqrt(ax * ax + ay * ay + az * az);
    FloatV lb = simd_sqrt(bx * bx + by * by + bz * bz);
    FloatV lc = simd_sqrt(cx * cx + cy * cy + cz * cz);
    // Against the edges from a: for small triangles a . (b x c) would lose the digits it lives from.
    FloatV ux = bx - ax, uy = by - ay, uz = bz - az, vx = cx - ax, vy = cy - ay, vz = cz - az;
    FloatV volume = ax * (uy * vz - uz * vy) + ay * (uz * vx - ux * vz) + az * (ux * vy - uy * vx);
    FloatV below = la * lb * lc + (ax * bx + ay * by + az * bz) * lc + (bx * cx + by * cy + bz * cz) * la +
                   (cx * ax + cy * ay + cz * az) * lb;
    return simd_atan2(volume, below) * 0.159154943f;
}

SIMD_INLINE FloatV node_part(const WindingNode *n, FloatV rx, FloatV ry, FloatV rz, FloatV squared)
{
    FloatV inverse = 1.0f / simd_max(squared, simd_set1(1e-30f));
    FloatV cubed = inverse * simd_sqrt(inverse);
    FloatV dipole = rx * n->nx + ry * n->ny + rz * n->nz;
    FloatV trace = simd_set1(n->xx + n->yy + n->zz);
    FloatV twice =
        rx * rx * n->xx + ry * ry * n->yy + rz * rz * n->zz + rx * ry * n->xy + ry * rz * n->yz + rz * rx * n->zx;
    return (dipole + trace - 3.0f * twice * inverse) * cubed * 0.0795774715f;
}

typedef struct Step {
    int32_t level;
    int64_t node; // within its level
    IntV lanes;   // that still need it
} Step;

static void add_leaf(const MeshWinding *w, int64_t leaf, IntV lanes, Query *q)
{
    int64_t first = leaf * WINDING_FANOUT, last = first + WINDING_FANOUT;
    if (last > w->triangle_count) last = w->triangle_count;
    FloatV zero = simd_set1(0.0f);
    for (int64_t i = first; i < last; i++) q->sum += simd_select(lanes, triangle_part(w->corners + 9 * i, q), zero);
}

static void add_all(const MeshWinding *w, Query *q)
{
    Step stack[12 * WINDING_FANOUT];
    int depth = 0;
    stack[depth++] = (Step){w->level_count - 1, 0, simd_set1_int(-1)};
    FloatV zero = simd_set1(0.0f);
    while (depth > 0) {
        Step step = stack[--depth];
        const WindingNode *node = &w->nodes[w->level_start[step.level] + step.node];
        FloatV rx = node->x - q->x, ry = node->y - q->y, rz = node->z - q->z;
        FloatV squared = rx * rx + ry * ry + rz * rz;
        IntV far = (squared > node->reach_squared) & step.lanes, near = ~far & step.lanes;
        if (simd_bits(far)) q->sum += simd_select(far, node_part(node, rx, ry, rz, squared), zero);
        if (!simd_bits(near)) continue;
        if (step.level == 0) {
            add_leaf(w, step.node, near, q);
            continue;
        }
        int64_t first = step.node * WINDING_FANOUT, last = first + WINDING_FANOUT;
        int64_t below = w->level_start[step.level] - w->level_start[step.level - 1];
        if (last > below) last = below;
        for (int64_t child = last - 1; child >= first; child--) stack[depth++] = (Step){step.level - 1, child, near};
    }
}

void SIMD_NAME(mesh_winding_at)(const MeshWinding *w, const float *x, const float *y, const float *z, int64_t count,
                                float *number)
{
    for (int64_t i = 0; i < count; i += SIMD_LANES) {
        float lanes[4][SIMD_LANES] = {{0}};
        int64_t used = count - i < SIMD_LANES ? count - i : SIMD_LANES;
        size_t bytes = (size_t)used * sizeof(float);
        memcpy(lanes[0], x + i, bytes), memcpy(lanes[1], y + i, bytes), memcpy(lanes[2], z + i, bytes);
        Query q = {simd_load(lanes[0]), simd_load(lanes[1]), simd_load(lanes[2]), simd_set1(0.0f)};
        if (w->triangle_count > 0) add_all(w, &q);
        simd_store(lanes[3], q.sum);
        memcpy(number + i, lanes[3], bytes);
    }
}
