// SPDX-License-Identifier: GPL-3.0-or-later
#include "upsample/upsample_inside.h"

// --- neighbours -----------------------------------------------------------------------------------

// A block's last vector ends with its last grain, so that nothing behind it is touched: some grains are then worked out
// twice, to the same values. Blocks smaller than a vector are padded, or go in parts.
SIMD_INLINE int vector_at(int i, int count)
{
    int last = count - SIMD_LANES;
    return i > last && last > 0 ? last : i;
}

static float smallest_lane(FloatV v)
{
    float lane[SIMD_LANES];
    simd_store(lane, v);
    for (int half = SIMD_LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lane[i] = lane[i] < lane[i + half] ? lane[i] : lane[i + half];
    return lane[0];
}

static void range_of(const float *values, int count, float *low, float *high)
{
    FloatV least = simd_set1(values[0]), most = least;
    int i = 0;
    for (; i + SIMD_LANES <= count; i += SIMD_LANES) {
        FloatV v = simd_load(values + i);
        least = simd_min(least, v), most = simd_max(most, v);
    }
    if (i < count && count > SIMD_LANES) {
        FloatV v = simd_load(values + count - SIMD_LANES);
        least = simd_min(least, v), most = simd_max(most, v);
        i = count;
    }
    *low = smallest_lane(least), *high = -smallest_lane(-most);
    for (; i < count; i++) *low = values[i] < *low ? values[i] : *low, *high = values[i] > *high ? values[i] : *high;
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

int SIMD_NAME(upsample_gather)(const float *x, const float *y, const float *z, int64_t *begin, int64_t end,
                               const BlockBox *box, float limit2, int32_t *out, int room)
{
    int taken = 0;
    int64_t i = *begin;
    for (; i < end && room - taken >= SIMD_LANES; i += SIMD_LANES) {
        FloatV dx = outside(simd_load(x + i), box->low[0], box->high[0]);
        FloatV dy = outside(simd_load(y + i), box->low[1], box->high[1]);
        FloatV dz = outside(simd_load(z + i), box->low[2], box->high[2]);
        uint32_t near = simd_bits(dx * dx + dy * dy + dz * dz < limit2);
        if (end - i < SIMD_LANES) near &= ((uint32_t)1 << (end - i)) - 1;
        taken += simd_store_picked(out + taken, simd_set1_int((int32_t)i) + simd_lane_index(), near);
    }
    *begin = i < end ? i : end;
    return taken;
}

// --- sums over the coarse particles ---------------------------------------------------------------

typedef struct Sums {
    FloatV weight, height, largest, vx, vy, vz, sx, sy, sz;
} Sums;

SIMD_INLINE Sums load_sums(const BlockSums *from, int i, int flags)
{
    Sums s = {.weight = simd_load(from->weight + i)};
    s.vx = simd_load(from->vx + i), s.vy = simd_load(from->vy + i), s.vz = simd_load(from->vz + i);
    if (flags & SUM_PAPER)
        s.largest = simd_load(from->largest + i);
    else
        s.height = simd_load(from->height + i);
    if (flags & SUM_SPIN)
        s.sx = simd_load(from->sx + i), s.sy = simd_load(from->sy + i), s.sz = simd_load(from->sz + i);
    return s;
}

SIMD_INLINE void store_sums(BlockSums *to, int i, const Sums *s, FloatV scale, int flags)
{
    simd_store(to->weight + i, scale * s->weight);
    simd_store(to->vx + i, scale * s->vx), simd_store(to->vy + i, scale * s->vy), simd_store(to->vz + i, scale * s->vz);
    if (flags & SUM_PAPER)
        simd_store(to->largest + i, scale * s->largest);
    else
        simd_store(to->height + i, scale * s->height);
    if (flags & SUM_SPIN)
        simd_store(to->sx + i, scale * s->sx), simd_store(to->sy + i, scale * s->sy),
            simd_store(to->sz + i, scale * s->sz);
}

// Equation 23's weight max(0, 1 - d^2/h^2)^3, but for a factor of h^6: one multiplication less, on a shorter way.
SIMD_INLINE FloatV weight_of(FloatV x, FloatV y, FloatV z, const CoarseRecord *c, FloatV reach2)
{
    FloatV dx = x - c->x, dy = y - c->y, dz = z - c->z;
    FloatV q = simd_max((reach2 - dz * dz) - (dx * dx + dy * dy), simd_set1(0.0f));
    return q * q * q;
}

SIMD_INLINE void add(Sums *s, FloatV w, const CoarseRecord *c, int flags)
{
    s->weight += w;
    s->vx += w * c->vx, s->vy += w * c->vy, s->vz += w * c->vz;
    if (flags & SUM_PAPER)
        s->largest = simd_max(s->largest, w);
    else
        s->height += w * c->height;
    if (flags & SUM_SPIN) s->sx += w * c->sx, s->sy += w * c->sy, s->sz += w * c->sz;
}

SIMD_INLINE void accumulate(const BlockPlaces *places, const CoarseList *near, int kind, int flags, BlockSums *sums)
{
    const float *x = places->x, *y = places->y, *z = places->z;
    const CoarseRecord *coarse = near->records;
    const int32_t *list = near->entry;
    int count = places->count, list_count = near->count;
    FloatV reach2 = simd_set1(near->reach * near->reach), scale = simd_set1(1.0f);
    if (flags & SUM_LAST) scale = 1.0f / (reach2 * reach2 * reach2);
    int is_whole = (flags & SUM_FIRST) && (flags & SUM_LAST);
    for (int k = 0; k < count; k += SIMD_LANES) {
        int i = is_whole ? vector_at(k, count) : k;
        FloatV px = simd_load(x + i), py = simd_load(y + i), pz = simd_load(z + i);
        Sums s = {0};
        if (!(flags & SUM_FIRST)) s = load_sums(sums, i, kind);
        int c = 0;
        for (; c + 1 < list_count;
             c += 2) { // two at once: a weight takes long to work out, the processor looks not far ahead
            const CoarseRecord *one = &coarse[list[c]], *two = &coarse[list[c + 1]];
            FloatV w = weight_of(px, py, pz, one, reach2), w2 = weight_of(px, py, pz, two, reach2);
            add(&s, w, one, kind);
            add(&s, w2, two, kind);
        }
        if (c < list_count) add(&s, weight_of(px, py, pz, &coarse[list[c]], reach2), &coarse[list[c]], kind);
        store_sums(sums, i, &s, scale, kind);
    }
}

void SIMD_NAME(upsample_accumulate)(const BlockPlaces *places, const CoarseList *near, int flags, BlockSums *sums)
{
    switch (flags & (SUM_SPIN | SUM_PAPER)) {
    case 0:
        accumulate(places, near, 0, flags, sums);
        break;
    case SUM_SPIN:
        accumulate(places, near, SUM_SPIN, flags, sums);
        break;
    case SUM_PAPER:
        accumulate(places, near, SUM_PAPER, flags, sums);
        break;
    default:
        accumulate(places, near, SUM_SPIN | SUM_PAPER, flags, sums);
    }
}

// --- velocities -----------------------------------------------------------------------------------

SIMD_INLINE FloatV clamp01(FloatV v) { return simd_min(simd_max(v, simd_set1(0.0f)), simd_set1(1.0f)); }

// Share of the kernel's weight on the open side of a plane: 1/2 + 315/256 int_0^q (1 - t^2)^4 dt.
SIMD_INLINE FloatV open_share(FloatV q)
{
    IntV is_far = q >= 1.0f;
    q = clamp01(q);
    FloatV q2 = q * q;
    FloatV share = 0.5f + (315.0f / 256.0f) * q *
                              (1.0f + q2 * (-4.0f / 3.0f + q2 * (6.0f / 5.0f + q2 * (-4.0f / 7.0f + q2 / 9.0f))));
    return simd_select(is_far, simd_set1(1.0f), share);
}

// What a grain of the sand's underside loses, at most.
#define HANGING 0.8f

// Weights against the part of space that is open. Sand above a grain does not carry it: where there is none below, and
// no wall, what there is counts for little, and the grain drops out.
void SIMD_NAME(upsample_sand)(const float *x, const float *y, const float *z, int count, const StepNumbers *step,
                              const BlockSums *sums, const BlockWalls *walls, float *sand)
{
    for (int k = 0; k < count; k += SIMD_LANES) {
        int i = vector_at(k, count);
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
    FloatV keep =
        clamp01((simd_load(walls->distance + i) - step->squeeze_low) / (step->squeeze_high - step->squeeze_low));
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
    Velocity flow = {simd_load(sums->vx + i) * inverse, simd_load(sums->vy + i) * inverse,
                     simd_load(sums->vz + i) * inverse};
    if (walls && step->scheme == UPSAMPLE_GATED) flow = squeeze(flow, step, walls, i);
    FloatV a = alpha_of(step, weight, largest, simd_load(sand + i));
    *alpha = a;
    own.x += step->gx, own.y += step->gy, own.z += step->gz;
    if (step->scheme == UPSAMPLE_IHMSEN2013) // equation 25
        return (Velocity){(1.0f - a) * flow.x + a * own.x, (1.0f - a) * flow.y + a * own.y,
                          (1.0f - a) * flow.z + a * own.z};
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

// Returns the squares of the speeds.
SIMD_INLINE FloatV blend_lanes(float *const *p, float *const *v, int i, int lanes, Velocity own, const FloatV at[3],
                               const StepNumbers *step, const BlockSums *sums, const BlockWalls *walls,
                               const float *sand, float *alpha)
{
    FloatV a;
    Velocity to = blend(step, sums, walls, sand, i, own, &a);
    simd_store(alpha + i, a);
    store_part(v[0] + i, to.x, lanes), store_part(v[1] + i, to.y, lanes), store_part(v[2] + i, to.z, lanes);
    if (!walls) {
        store_part(p[0] + i, at[0] + step->seconds * to.x, lanes);
        store_part(p[1] + i, at[1] + step->seconds * to.y, lanes);
        store_part(p[2] + i, at[2] + step->seconds * to.z, lanes);
    }
    return to.x * to.x + to.y * to.y + to.z * to.z;
}

// lanes: all, or those of a block smaller than a vector. What the last vector's grains were is loaded before any of
// them is changed.
SIMD_INLINE float blend_block(const BlockGrains *grains, int lanes, const StepNumbers *step, const BlockSums *sums,
                              const BlockWalls *walls, const float *sand, float *alpha)
{
    float *const *p = grains->position, *const *v = grains->velocity;
    int last = grains->count - lanes;
    FloatV last_at[3], fastest2 = simd_set1(0.0f);
    for (int axis = 0; axis < 3; axis++) last_at[axis] = load_part(p[axis] + last, lanes);
    Velocity last_own = {load_part(v[0] + last, lanes), load_part(v[1] + last, lanes), load_part(v[2] + last, lanes)};
    for (int i = 0; i < last; i += SIMD_LANES) {
        FloatV at[3] = {simd_load(p[0] + i), simd_load(p[1] + i), simd_load(p[2] + i)};
        Velocity own = {simd_load(v[0] + i), simd_load(v[1] + i), simd_load(v[2] + i)};
        fastest2 = simd_max(fastest2, blend_lanes(p, v, i, SIMD_LANES, own, at, step, sums, walls, sand, alpha));
    }
    FloatV last2 = blend_lanes(p, v, last, lanes, last_own, last_at, step, sums, walls, sand, alpha);
    float most = -smallest_lane(-fastest2);
    for (int lane = 0; lane < lanes; lane++) most = last2[lane] > most ? last2[lane] : most;
    return __builtin_sqrtf(most);
}

float SIMD_NAME(upsample_blend)(const BlockGrains *grains, const StepNumbers *step, const BlockSums *sums,
                                const BlockWalls *walls, const float *sand, float *alpha)
{
    // Twice, for the compiler: stores of a whole vector know their size.
    return grains->count < SIMD_LANES ? blend_block(grains, grains->count, step, sums, walls, sand, alpha)
                                      : blend_block(grains, SIMD_LANES, step, sums, walls, sand, alpha);
}

// --- how the coarse sand turns --------------------------------------------------------------------

void SIMD_NAME(upsample_add_spin)(const CoarseRecord *own, int count, const CoarseRecord *coarse, const int32_t *list,
                                  int list_count, float reach, SpinSums *sums)
{
    FloatV inverse_reach2 = simd_set1(1.0f / (reach * reach)), zero = simd_set1(0.0f);
    for (int i = 0; i < count; i += SIMD_LANES) {
        float lanes[6][SIMD_LANES];
        for (int lane = 0; lane < SIMD_LANES; lane++) {
            const CoarseRecord *c = &own[i + lane < count ? i + lane : i];
            lanes[0][lane] = c->x, lanes[1][lane] = c->y, lanes[2][lane] = c->z;
            lanes[3][lane] = c->vx, lanes[4][lane] = c->vy, lanes[5][lane] = c->vz;
        }
        FloatV px = simd_load(lanes[0]), py = simd_load(lanes[1]), pz = simd_load(lanes[2]);
        FloatV vx = simd_load(lanes[3]), vy = simd_load(lanes[4]), vz = simd_load(lanes[5]);
        FloatV sx = simd_load(sums->x + i), sy = simd_load(sums->y + i), sz = simd_load(sums->z + i);
        FloatV inertia = simd_load(sums->inertia + i);
        for (int k = 0; k < list_count; k++) {
            const CoarseRecord *c = &coarse[list[k]];
            FloatV dx = c->x - px, dy = c->y - py, dz = c->z - pz, ux = c->vx - vx, uy = c->vy - vy, uz = c->vz - vz;
            FloatV d2 = dx * dx + dy * dy + dz * dz, q = simd_max(1.0f - d2 * inverse_reach2, zero), w = q * q * q;
            sx += w * (dy * uz - dz * uy), sy += w * (dz * ux - dx * uz), sz += w * (dx * uy - dy * ux);
            inertia += w * d2;
        }
        simd_store(sums->x + i, sx), simd_store(sums->y + i, sy), simd_store(sums->z + i, sz);
        simd_store(sums->inertia + i, inertia);
    }
}

// --- turning --------------------------------------------------------------------------------------

// rad/s. Faster turning is a flicker at any frame rate.
#define MOST_SPIN 60.0f
// Grains of the surface roll on those below: this many times as fast as the sand turns inside.
#define SURFACE_ROLLING 3.0f

typedef struct Facing {
    FloatV w, x, y, z;
} Facing;

SIMD_INLINE Facing load_facing(float *const q[4], int i, int lanes)
{
    return (Facing){load_part(q[0] + i, lanes), load_part(q[1] + i, lanes), load_part(q[2] + i, lanes),
                    load_part(q[3] + i, lanes)};
}

// A grain in the air goes on tumbling about the axis it was turned about, which turning about it does not change.
SIMD_INLINE void turn_lanes(float *const q[4], const float *const v[3], int i, int lanes, Facing was,
                            const StepNumbers *step, const BlockSums *sums, const float *alpha, float seconds)
{
    FloatV tiny = simd_set1(1e-20f);
    FloatV vx = load_part(v[0] + i, lanes), vy = load_part(v[1] + i, lanes), vz = load_part(v[2] + i, lanes);
    FloatV speed = simd_sqrt(vx * vx + vy * vy + vz * vz), a = simd_load(alpha + i),
           weight = simd_load(sums->weight + i);
    FloatV inside = clamp01((weight / step->is_sand - 1.0f) * 2.0f); // a good way into the sand
    FloatV with_sand = (1.0f - a) * (SURFACE_ROLLING + (1.0f - SURFACE_ROLLING) * inside) / simd_max(weight, tiny);
    FloatV axis = simd_sqrt(was.x * was.x + was.y * was.y + was.z * was.z);
    FloatV alone = a * speed * step->tumbling / simd_max(axis, tiny);
    FloatV sx = with_sand * simd_load(sums->sx + i) + alone * was.x,
           sy = with_sand * simd_load(sums->sy + i) + alone * was.y,
           sz = with_sand * simd_load(sums->sz + i) + alone * was.z;
    FloatV rate = simd_sqrt(sx * sx + sy * sy + sz * sz);
    // q + (0, s dt / 2) q, made a unit again: turned by 2 atan(s dt / 2), which is near enough and never more than
    // half.
    FloatV half = 0.5f * seconds * simd_min(simd_set1(MOST_SPIN) / simd_max(rate, tiny), simd_set1(1.0f));
    sx *= half, sy *= half, sz *= half;
    FloatV rw = was.w - (sx * was.x + sy * was.y + sz * was.z), rx = was.x + sx * was.w + sy * was.z - sz * was.y,
           ry = was.y + sy * was.w + sz * was.x - sx * was.z, rz = was.z + sz * was.w + sx * was.y - sy * was.x;
    FloatV inverse = 1.0f / simd_sqrt(simd_max(rw * rw + rx * rx + ry * ry + rz * rz, tiny));
    IntV moves = speed > 0.0f;
    store_part(q[0] + i, simd_select(moves, rw * inverse, was.w), lanes);
    store_part(q[1] + i, simd_select(moves, rx * inverse, was.x), lanes);
    store_part(q[2] + i, simd_select(moves, ry * inverse, was.y), lanes);
    store_part(q[3] + i, simd_select(moves, rz * inverse, was.z), lanes);
}

SIMD_INLINE void turn_block(float *const q[4], const float *const v[3], int count, int lanes, const StepNumbers *step,
                            const BlockSums *sums, const float *alpha, float seconds)
{
    int last = count - lanes;
    Facing last_was = load_facing(q, last, lanes);
    for (int i = 0; i < last; i += SIMD_LANES)
        turn_lanes(q, v, i, SIMD_LANES, load_facing(q, i, SIMD_LANES), step, sums, alpha, seconds);
    turn_lanes(q, v, last, lanes, last_was, step, sums, alpha, seconds);
}

void SIMD_NAME(upsample_turn)(float *const q[4], const float *const v[3], int count, const StepNumbers *step,
                              const BlockSums *sums, const float *alpha, float seconds)
{
    if (count < SIMD_LANES)
        turn_block(q, v, count, count, step, sums, alpha, seconds);
    else
        turn_block(q, v, count, SIMD_LANES, step, sums, alpha, seconds);
}
