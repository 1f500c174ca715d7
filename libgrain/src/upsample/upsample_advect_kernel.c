#include "upsample/upsample_inside.h"

// --- who is near ----------------------------------------------------------------------------------

static void range_of(const float *values, int count, float *low, float *high)
{
    FloatV l = simd_set1(values[0]), h = l;
    for (int i = 0; i < count; i += SIMD_LANES) { // what pads the last vector lies within the block's box
        FloatV v = simd_load(values + i);
        l = simd_min(l, v), h = simd_max(h, v);
    }
    *low = l[0], *high = h[0];
    for (int lane = 1; lane < SIMD_LANES; lane++) {
        *low = l[lane] < *low ? l[lane] : *low;
        *high = h[lane] > *high ? h[lane] : *high;
    }
}

void SIMD_NAME(upsample_box)(const float *x, const float *y, const float *z, int count, BlockBox *box)
{
    range_of(x, count, &box->low[0], &box->high[0]);
    range_of(y, count, &box->low[1], &box->high[1]);
    range_of(z, count, &box->low[2], &box->high[2]);
}

SIMD_INLINE FloatV outside(FloatV v, float low, float high)
{
    return simd_max(simd_max(low - v, v - high), simd_set1(0.0f));
}

int SIMD_NAME(upsample_gather)(const float *x, const float *y, const float *z, const CoarseRecord *records,
                               int64_t *begin, int64_t end, const BlockBox *box, CoarseRecord *out, int room)
{
    int taken = 0;
    int64_t i = *begin;
    for (; i < end && room - taken >= SIMD_LANES; i += SIMD_LANES) {
        FloatV dx = outside(simd_load(x + i), box->low[0], box->high[0]);
        FloatV dy = outside(simd_load(y + i), box->low[1], box->high[1]);
        FloatV dz = outside(simd_load(z + i), box->low[2], box->high[2]);
        uint32_t near = simd_bits(dx * dx + dy * dy + dz * dz < box->limit2);
        if (end - i < SIMD_LANES) near &= ((uint32_t)1 << (end - i)) - 1;
        for (; near; near &= near - 1) out[taken++] = records[i + __builtin_ctz(near)];
    }
    *begin = i < end ? i : end;
    return taken;
}

// --- sums over the coarse particles ---------------------------------------------------------------

typedef struct Sums {
    FloatV weight, height, largest, vx, vy, vz, sx, sy, sz;
} Sums;

SIMD_INLINE Sums load_sums(const BlockSums *from, int i, int with_spin, int is_paper)
{
    Sums s = {.weight = simd_load(from->weight + i)};
    s.vx = simd_load(from->vx + i), s.vy = simd_load(from->vy + i), s.vz = simd_load(from->vz + i);
    if (is_paper) s.largest = simd_load(from->largest + i);
    else s.height = simd_load(from->height + i);
    if (with_spin) s.sx = simd_load(from->sx + i), s.sy = simd_load(from->sy + i), s.sz = simd_load(from->sz + i);
    return s;
}

SIMD_INLINE void store_sums(BlockSums *to, int i, const Sums *s, int with_spin, int is_paper)
{
    simd_store(to->weight + i, s->weight);
    simd_store(to->vx + i, s->vx), simd_store(to->vy + i, s->vy), simd_store(to->vz + i, s->vz);
    if (is_paper) simd_store(to->largest + i, s->largest);
    else simd_store(to->height + i, s->height);
    if (with_spin) simd_store(to->sx + i, s->sx), simd_store(to->sy + i, s->sy), simd_store(to->sz + i, s->sz);
}

// w = max(0, 1 - d^2/h^2)^3, equation 23
SIMD_INLINE void add(Sums *s, FloatV x, FloatV y, FloatV z, const CoarseRecord *c, FloatV inverse_reach2, int with_spin,
                     int is_paper)
{
    FloatV dx = x - c->x, dy = y - c->y, dz = z - c->z;
    FloatV q = simd_max(1.0f - (dx * dx + dy * dy + dz * dz) * inverse_reach2, simd_set1(0.0f));
    FloatV w = q * q * q;
    s->weight += w;
    s->vx += w * c->vx, s->vy += w * c->vy, s->vz += w * c->vz;
    if (is_paper) s->largest = simd_max(s->largest, w);
    else s->height += w * c->height;
    if (with_spin) s->sx += w * c->sx, s->sy += w * c->sy, s->sz += w * c->sz;
}

// With 32 registers two vectors of grains at once: a coarse particle is spread over the lanes once for both. With 16 the
// sums of one fill them.
#if SIMD_IS_AVX512
#define VECTORS 2
#else
#define VECTORS 1
#endif

SIMD_INLINE void accumulate(const float *x, const float *y, const float *z, int count, const CoarseRecord *coarse,
                            int coarse_count, float inverse_reach2, int with_spin, int is_paper, BlockSums *sums)
{
    FloatV scale = simd_set1(inverse_reach2);
    for (int i = 0; i < count; i += VECTORS * SIMD_LANES) {
        FloatV px[VECTORS], py[VECTORS], pz[VECTORS];
        Sums s[VECTORS];
        for (int v = 0; v < VECTORS; v++) {
            int at = i + v * SIMD_LANES;
            px[v] = simd_load(x + at), py[v] = simd_load(y + at), pz[v] = simd_load(z + at);
            s[v] = load_sums(sums, at, with_spin, is_paper);
        }
        for (int k = 0; k < coarse_count; k++)
            for (int v = 0; v < VECTORS; v++) add(&s[v], px[v], py[v], pz[v], &coarse[k], scale, with_spin, is_paper);
        for (int v = 0; v < VECTORS; v++) store_sums(sums, i + v * SIMD_LANES, &s[v], with_spin, is_paper);
    }
}

void SIMD_NAME(upsample_accumulate)(const float *x, const float *y, const float *z, int count,
                                    const CoarseRecord *coarse, int coarse_count, float inverse_reach2, int with_spin,
                                    int is_paper, BlockSums *sums)
{
    if (with_spin && is_paper)
        accumulate(x, y, z, count, coarse, coarse_count, inverse_reach2, 1, 1, sums);
    else if (with_spin)
        accumulate(x, y, z, count, coarse, coarse_count, inverse_reach2, 1, 0, sums);
    else if (is_paper)
        accumulate(x, y, z, count, coarse, coarse_count, inverse_reach2, 0, 1, sums);
    else
        accumulate(x, y, z, count, coarse, coarse_count, inverse_reach2, 0, 0, sums);
}

// --- velocities -----------------------------------------------------------------------------------

SIMD_INLINE FloatV clamp01(FloatV v) { return simd_min(simd_max(v, simd_set1(0.0f)), simd_set1(1.0f)); }

// Share of the kernel's weight on the open side of a plane: 1/2 + 315/256 int_0^q (1 - t^2)^4 dt.
SIMD_INLINE FloatV open_share(FloatV q)
{
    IntV is_far = q >= 1.0f;
    q = clamp01(q);
    FloatV q2 = q * q;
    FloatV share = 0.5f + (315.0f / 256.0f) * q * (1.0f + q2 * (-4.0f / 3.0f + q2 * (6.0f / 5.0f + q2 * (-4.0f / 7.0f + q2 / 9.0f))));
    return simd_select(is_far, simd_set1(1.0f), share);
}

// What a grain of the sand's underside loses, at most.
#define HANGING 0.8f

// Weights against the part of space that is open. Sand above a grain does not carry it: where there is none below, and no
// wall, what there is counts for little, and the grain drops out.
void SIMD_NAME(upsample_sand)(const float *x, const float *y, const float *z, int count, const StepNumbers *step,
                              const BlockSums *sums, const BlockWalls *walls, float *sand)
{
    for (int i = 0; i < count; i += SIMD_LANES) {
        FloatV weight = simd_load(sums->weight + i), carried = simd_set1(0.0f), share = simd_set1(1.0f);
        FloatV height = simd_load(x + i) * step->ux + simd_load(y + i) * step->uy + simd_load(z + i) * step->uz;
        FloatV above = simd_load(sums->height + i) / simd_max(weight, simd_set1(1e-20f)) - height;
        if (walls) {
            FloatV distance = simd_load(walls->distance + i);
            FloatV upward = simd_load(walls->nx + i) * step->ux + simd_load(walls->ny + i) * step->uy +
                            simd_load(walls->nz + i) * step->uz;
            share = open_share(distance / step->wall_range);
            carried = clamp01(upward) * clamp01((step->carry_high - distance) / (step->carry_high - step->carry_low));
        }
        FloatV hangs = clamp01((above - step->hang_low) / (step->hang_high - step->hang_low)) * (1.0f - carried);
        simd_store(sand + i, weight / share * (1.0f - HANGING * hangs));
    }
}

// What a lane's grain keeps of its own motion: the paper's cases, or the gate on how much sand carries it.
SIMD_INLINE FloatV alpha_of(const StepNumbers *step, FloatV weight, FloatV largest, FloatV sand)
{
    if (step->scheme == UPSAMPLE_IHMSEN2013) {
        IntV sparse = (largest >= 0.6f * weight) | (largest <= step->weight_at_radius);
        return simd_select(sparse, 1.0f - largest, simd_set1(0.0f));
    }
    FloatV t = clamp01((sand - step->flies) / (step->is_sand - step->flies));
    return 1.0f - t * t * (3.0f - 2.0f * t);
}

typedef struct Velocity {
    FloatV x, y, z;
} Velocity;

// The flow towards a wall fades out before it: the coarse centres stay a radius away from it, the grains between them
// and the wall must not be pressed into a sheet.
SIMD_INLINE Velocity squeeze(Velocity flow, const StepNumbers *step, const BlockWalls *walls, int i)
{
    FloatV nx = simd_load(walls->nx + i), ny = simd_load(walls->ny + i), nz = simd_load(walls->nz + i);
    FloatV wx = simd_load(walls->vx + i), wy = simd_load(walls->vy + i), wz = simd_load(walls->vz + i);
    FloatV keep = clamp01((simd_load(walls->distance + i) - step->squeeze_low) / (step->squeeze_high - step->squeeze_low));
    FloatV towards = (flow.x - wx) * nx + (flow.y - wy) * ny + (flow.z - wz) * nz;
    FloatV off = simd_min(towards, simd_set1(0.0f)) * (1.0f - keep);
    return (Velocity){flow.x - off * nx, flow.y - off * ny, flow.z - off * nz};
}

SIMD_INLINE Velocity blend(const StepNumbers *step, const BlockSums *sums, const BlockWalls *walls, const float *sand,
                           int i, Velocity own, FloatV *alpha)
{
    FloatV weight = simd_load(sums->weight + i), zero = simd_set1(0.0f);
    FloatV largest = step->scheme == UPSAMPLE_IHMSEN2013 ? simd_load(sums->largest + i) : zero;
    FloatV inverse = 1.0f / simd_max(weight, simd_set1(1e-20f));
    Velocity flow = {simd_load(sums->vx + i) * inverse, simd_load(sums->vy + i) * inverse, simd_load(sums->vz + i) * inverse};
    if (walls && step->scheme == UPSAMPLE_GATED) flow = squeeze(flow, step, walls, i);
    FloatV a = alpha_of(step, weight, largest, simd_load(sand + i));
    *alpha = a;
    own.x += step->gx, own.y += step->gy, own.z += step->gz;
    if (step->scheme == UPSAMPLE_IHMSEN2013) // equation 25
        return (Velocity){(1.0f - a) * flow.x + a * own.x, (1.0f - a) * flow.y + a * own.y, (1.0f - a) * flow.z + a * own.z};
    // Drag towards the flow, the same over any number of substeps, and dry friction against it, which ends the motion.
    FloatV ux = own.x - flow.x, uy = own.y - flow.y, uz = own.z - flow.z;
    FloatV keep = a / simd_max(a + (1.0f - a) * step->blend, simd_set1(1e-20f));
    FloatV speed = keep * simd_sqrt(ux * ux + uy * uy + uz * uz);
    keep *= simd_max(1.0f - step->friction * (1.0f - a) / simd_max(speed, simd_set1(1e-20f)), zero);
    return (Velocity){flow.x + keep * ux, flow.y + keep * uy, flow.z + keep * uz};
}

// The first lanes only: the next block's grains stand behind them, and those belong to another thread.
SIMD_INLINE FloatV load_part(const float *from, int lanes)
{
    FloatV v = simd_set1(0.0f);
    memcpy(&v, from, (size_t)lanes * sizeof(float));
    return v;
}

SIMD_INLINE void store_part(float *to, FloatV v, int lanes) { memcpy(to, &v, (size_t)lanes * sizeof(float)); }

SIMD_INLINE FloatV blend_lanes(float *const p[3], float *const v[3], int i, int lanes, const StepNumbers *step,
                               const BlockSums *sums, const BlockWalls *walls, const float *sand, float *alpha)
{
    FloatV a;
    Velocity own = {load_part(v[0] + i, lanes), load_part(v[1] + i, lanes), load_part(v[2] + i, lanes)};
    Velocity to = blend(step, sums, walls, sand, i, own, &a);
    simd_store(alpha + i, a);
    store_part(v[0] + i, to.x, lanes), store_part(v[1] + i, to.y, lanes), store_part(v[2] + i, to.z, lanes);
    if (!walls) {
        store_part(p[0] + i, load_part(p[0] + i, lanes) + step->seconds * to.x, lanes);
        store_part(p[1] + i, load_part(p[1] + i, lanes) + step->seconds * to.y, lanes);
        store_part(p[2] + i, load_part(p[2] + i, lanes) + step->seconds * to.z, lanes);
    }
    return to.x * to.x + to.y * to.y + to.z * to.z;
}

float SIMD_NAME(upsample_blend)(float *x, float *y, float *z, float *vx, float *vy, float *vz, int count,
                                const StepNumbers *step, const BlockSums *sums, const BlockWalls *walls, const float *sand,
                                float *alpha)
{
    float *const p[3] = {x, y, z}, *const v[3] = {vx, vy, vz};
    FloatV fastest2 = simd_set1(0.0f);
    int i = 0;
    for (; i + SIMD_LANES <= count; i += SIMD_LANES)
        fastest2 = simd_max(fastest2, blend_lanes(p, v, i, SIMD_LANES, step, sums, walls, sand, alpha));
    float most = 0.0f;
    for (int lane = 0; lane < SIMD_LANES; lane++) most = fastest2[lane] > most ? fastest2[lane] : most;
    if (i == count) return __builtin_sqrtf(most);
    FloatV last2 = blend_lanes(p, v, i, count - i, step, sums, walls, sand, alpha);
    for (int lane = 0; lane < count - i; lane++) most = last2[lane] > most ? last2[lane] : most;
    return __builtin_sqrtf(most);
}

// --- turning --------------------------------------------------------------------------------------

// rad/s. Faster turning is a flicker at any frame rate.
#define MOST_SPIN 60.0f
// Grains of the surface roll on those below: this many times as fast as the sand turns inside.
#define SURFACE_ROLLING 3.0f

// A grain in the air goes on tumbling about the axis it was turned about, which turning about it does not change.
SIMD_INLINE void turn_lanes(float *const q[4], const float *const v[3], int i, int lanes, const StepNumbers *step,
                            const BlockSums *sums, const float *alpha, float seconds)
{
    FloatV qw = load_part(q[0] + i, lanes), qx = load_part(q[1] + i, lanes), qy = load_part(q[2] + i, lanes),
           qz = load_part(q[3] + i, lanes), tiny = simd_set1(1e-20f);
    FloatV vx = load_part(v[0] + i, lanes), vy = load_part(v[1] + i, lanes), vz = load_part(v[2] + i, lanes);
    FloatV speed = simd_sqrt(vx * vx + vy * vy + vz * vz), a = simd_load(alpha + i), weight = simd_load(sums->weight + i);
    FloatV inside = clamp01((weight / step->is_sand - 1.0f) * 2.0f); // a good way into the sand
    FloatV with_sand = (1.0f - a) * (SURFACE_ROLLING + (1.0f - SURFACE_ROLLING) * inside) / simd_max(weight, tiny);
    FloatV alone = a * speed * step->tumbling / simd_max(simd_sqrt(qx * qx + qy * qy + qz * qz), tiny);
    FloatV sx = with_sand * simd_load(sums->sx + i) + alone * qx, sy = with_sand * simd_load(sums->sy + i) + alone * qy,
           sz = with_sand * simd_load(sums->sz + i) + alone * qz;
    FloatV rate = simd_sqrt(sx * sx + sy * sy + sz * sz);
    // q + (0, s dt / 2) q, made a unit again: turned by 2 atan(s dt / 2), which is near enough and never more than half.
    FloatV half = 0.5f * seconds * simd_min(simd_set1(MOST_SPIN) / simd_max(rate, tiny), simd_set1(1.0f));
    sx *= half, sy *= half, sz *= half;
    FloatV rw = qw - (sx * qx + sy * qy + sz * qz), rx = qx + sx * qw + sy * qz - sz * qy,
           ry = qy + sy * qw + sz * qx - sx * qz, rz = qz + sz * qw + sx * qy - sy * qx;
    FloatV inverse = 1.0f / simd_sqrt(simd_max(rw * rw + rx * rx + ry * ry + rz * rz, tiny));
    IntV moves = speed > 0.0f;
    store_part(q[0] + i, simd_select(moves, rw * inverse, qw), lanes);
    store_part(q[1] + i, simd_select(moves, rx * inverse, qx), lanes);
    store_part(q[2] + i, simd_select(moves, ry * inverse, qy), lanes);
    store_part(q[3] + i, simd_select(moves, rz * inverse, qz), lanes);
}

void SIMD_NAME(upsample_turn)(float *const q[4], const float *const v[3], int count, const StepNumbers *step,
                              const BlockSums *sums, const float *alpha, float seconds)
{
    int i = 0;
    for (; i + SIMD_LANES <= count; i += SIMD_LANES) turn_lanes(q, v, i, SIMD_LANES, step, sums, alpha, seconds);
    if (i < count) turn_lanes(q, v, i, count - i, step, sums, alpha, seconds);
}
