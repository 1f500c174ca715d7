// SPDX-License-Identifier: GPL-3.0-or-later
#define SIMD_FIXED_LANES 8 // a packet
#include "sdf/sdf_measure.h"
#include "sdf/sdf_tree.h"

#include <math.h>

// Twice the area over the squared perimeter. Below the first, a triangle is a sliver: the directions of its plane and
// its short edges are partly rounding, and have to be made perpendicular to each other again. Below the second it has
// no plane of its own at all.
#define SLIVER 1e-6
#define FLATNESS 1e-13
// Below this, beyond an acute corner a place may be closer to both edges' lines than floats can tell (NEAR_EDGE
// voxels); so close to an edge it is the edge that counts.
#define THIN 0.02
#define NEAR_EDGE 1e-5f
// Lower bounds may be this much too high by rounding (voxels); a triangle is only passed over beyond it.
#define MARGIN 1e-3f

// --- from triangles to functions ------------------------------------------------------------------

typedef struct Corners {
    DoubleV place[9]; // ax ay az bx by bz cx cy cz of eight triangles, from the block's first voxel
} Corners;

// Lanes past the end repeat the first triangle: nothing new, nothing wrong.
static void load_corners(const MeasureMesh *mesh, const int32_t corner[3], const int32_t place[8], int used,
                         Corners *out)
{
    const float *from[3][8];
    for (int lane = 0; lane < 8; lane++) {
        int32_t triangle = mesh->order[place[lane < used ? lane : 0]];
        const int32_t *vertex = mesh->triangles + 3 * (int64_t)triangle;
        int turned = mesh->flipped && mesh->flipped[triangle];
        from[0][lane] = mesh->positions + 3 * (int64_t)vertex[0];
        from[1][lane] = mesh->positions + 3 * (int64_t)vertex[turned ? 2 : 1];
        from[2][lane] = mesh->positions + 3 * (int64_t)vertex[turned ? 1 : 2];
    }
    for (int i = 0; i < 9; i++) {
        const float *const *p = from[i / 3];
        int axis = i % 3;
        FloatV given = {p[0][axis], p[1][axis], p[2][axis], p[3][axis], p[4][axis], p[5][axis], p[6][axis], p[7][axis]};
        DoubleV wide = __builtin_convertvector(given, DoubleV);
        out->place[i] = (wide - mesh->origin[axis]) * mesh->voxels_per_metre - (double)corner[axis];
    }
}

typedef struct V3 {
    DoubleV x, y, z;
} V3;

SIMD_INLINE V3 load3(const Corners *c, int corner)
{
    return (V3){c->place[3 * corner], c->place[3 * corner + 1], c->place[3 * corner + 2]};
}

SIMD_INLINE V3 sub3(V3 a, V3 b) { return (V3){a.x - b.x, a.y - b.y, a.z - b.z}; }
SIMD_INLINE V3 scale3(V3 a, DoubleV s) { return (V3){a.x * s, a.y * s, a.z * s}; }
SIMD_INLINE DoubleV dot3(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
SIMD_INLINE V3 cross3(V3 a, V3 b) { return (V3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

SIMD_INLINE void store_float(float *to, DoubleV v) { simd_store(to, __builtin_convertvector(v, FloatV)); }

// A function that is 0 at `from` and grows along `direction`.
SIMD_INLINE void store_function(MeasureGroup *g, int function, V3 direction, V3 from)
{
    FloatV x = __builtin_convertvector(direction.x, FloatV), y = __builtin_convertvector(direction.y, FloatV);
    FloatV z = __builtin_convertvector(direction.z, FloatV);
    store_float(g->constant[function], -dot3(direction, from));
    simd_store(g->gx[function], x), simd_store(g->gy[function], y), simd_store(g->gz[function], z);
    if (function < MEASURE_BOUNDS) simd_store(g->spread[function], 0.5f * (simd_abs(x) + simd_abs(y) + simd_abs(z)));
}

typedef struct Direction {
    double x, y, z;
} Direction;

static double dot_one(Direction a, Direction b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// Makes `a` perpendicular to the unit vector `to`, and one long. 0: it had nothing but rounding across.
static int straighten(Direction *a, Direction to)
{
    double along = dot_one(*a, to);
    Direction across = {a->x - along * to.x, a->y - along * to.y, a->z - along * to.z};
    double squared = dot_one(across, across);
    if (!(squared > 0.25)) return 0;
    double s = 1.0 / sqrt(squared);
    *a = (Direction){across.x * s, across.y * s, across.z * s};
    return 1;
}

// Any direction across: from the axis that is least along it.
static Direction any_across(Direction d)
{
    double ax = fabs(d.x), ay = fabs(d.y), az = fabs(d.z);
    Direction a = ax <= ay && ax <= az ? (Direction){0.0, -d.z, d.y}
                  : ay <= az           ? (Direction){d.z, 0.0, -d.x}
                                       : (Direction){-d.y, d.x, 0.0};
    double s = 1.0 / sqrt(dot_one(a, a));
    return (Direction){a.x * s, a.y * s, a.z * s};
}

// Directions for a sliver, a line or a point: orthonormal whatever rounding made of them, so that distances to its
// edges stay right. The longest edge is trusted; the rest gives way.
static void straighten_lane(V3 along[3], V3 *normal, const DoubleV length[3], int has_plane, int lane)
{
    int longest = 0;
    for (int edge = 1; edge < 3; edge++)
        if (length[edge][lane] > length[longest][lane]) longest = edge;
    Direction main = {1.0, 0.0, 0.0}, up = {normal->x[lane], normal->y[lane], normal->z[lane]};
    if (length[longest][lane] > 0.0)
        main = (Direction){along[longest].x[lane], along[longest].y[lane], along[longest].z[lane]};
    if (!has_plane || !straighten(&up, main)) up = any_across(main);
    for (int edge = 0; edge < 3; edge++) {
        Direction own = {along[edge].x[lane], along[edge].y[lane], along[edge].z[lane]};
        if (!(length[edge][lane] > 0.0) || !straighten(&own, up)) own = main;
        along[edge].x[lane] = own.x, along[edge].y[lane] = own.y, along[edge].z[lane] = own.z;
    }
    normal->x[lane] = up.x, normal->y[lane] = up.y, normal->z[lane] = up.z;
}

static void make_group(const Corners *corners, MeasureGroup *g)
{
    V3 a = load3(corners, 0), b = load3(corners, 1), c = load3(corners, 2);
    V3 along[3] = {sub3(b, a), sub3(c, b), sub3(a, c)};
    V3 normal = cross3(along[0], along[1]);
    DoubleV length[3], around = {0};
    for (int edge = 0; edge < 3; edge++) {
        length[edge] = simd_sqrt_double(dot3(along[edge], along[edge]));
        along[edge] = scale3(along[edge], 1.0 / length[edge]);
        around += length[edge];
    }
    DoubleV twice_area = simd_sqrt_double(dot3(normal, normal));
    normal = scale3(normal, 1.0 / twice_area);
    FloatV above = simd_set1(0.0f);
    DoubleV square = around * around;
    LongV thin = twice_area <= THIN * square;
    for (int lane = 0; lane < 8; lane++) {
        if (!thin[lane]) continue;
        int has_plane = twice_area[lane] > FLATNESS * square[lane];
        if (!(twice_area[lane] > SLIVER * square[lane])) straighten_lane(along, &normal, length, has_plane, lane);
        above[lane] = has_plane ? -NEAR_EDGE : -1e30f;
    }
    store_function(g, MEASURE_H, normal, a);
    const V3 from[3] = {a, b, c};
    for (int edge = 0; edge < 3; edge++) {
        store_function(g, MEASURE_T0 + edge, along[edge], from[edge]);
        store_function(g, MEASURE_S0 + edge, cross3(along[edge], normal), from[edge]);
        store_float(g->length[edge], length[edge]);
    }
    simd_store(g->above, above);
}

// Where the lanes of a packet are, from its middle.
SIMD_INLINE FloatV lane_x(void) { return (FloatV){-0.5f, 0.5f, -0.5f, 0.5f, -0.5f, 0.5f, -0.5f, 0.5f}; }
SIMD_INLINE FloatV lane_y(void) { return (FloatV){-0.5f, -0.5f, 0.5f, 0.5f, -0.5f, -0.5f, 0.5f, 0.5f}; }
SIMD_INLINE FloatV lane_z(void) { return (FloatV){-0.5f, -0.5f, -0.5f, -0.5f, 0.5f, 0.5f, 0.5f, 0.5f}; }

static void make_near(const MeasureGroup *g, int lane, MeasureNear *near)
{
    for (int f = 0; f <= MEASURE_T2; f++)
        simd_store(near->lane[f], g->gx[f][lane] * lane_x() + g->gy[f][lane] * lane_y() + g->gz[f][lane] * lane_z());
}

// --- from functions to distances ------------------------------------------------------------------

typedef struct Packet {
    float x, y, z;        // its middle
    FloatV squared, side; // what MeasureState says
    IntV nearest;
    float limit; // the largest of squared, and a little
} Packet;

// The block at work.
typedef struct Block {
    const MeasureMesh *mesh;
    const int32_t *corner;
    MeasureScratch *scratch;
} Block;

SIMD_INLINE float largest_of(FloatV v)
{
    float lanes[8];
    simd_store(lanes, v);
    float a = lanes[0] > lanes[1] ? lanes[0] : lanes[1], b = lanes[2] > lanes[3] ? lanes[2] : lanes[3];
    float c = lanes[4] > lanes[5] ? lanes[4] : lanes[5], d = lanes[6] > lanes[7] ? lanes[6] : lanes[7];
    a = a > b ? a : b, c = c > d ? c : d;
    return a > c ? a : c;
}

// Squared distance between boxes, a group to a lane: the packet's voxels, and each group's triangles.
SIMD_INLINE FloatV boxes_squared(const MeasureScratch *s, int32_t group, const Packet *p)
{
    FloatV zero = simd_set1(0.0f);
    FloatV x = simd_max(simd_load(s->low[0] + group) - (p->x + 0.5f), (p->x - 0.5f) - simd_load(s->high[0] + group));
    FloatV y = simd_max(simd_load(s->low[1] + group) - (p->y + 0.5f), (p->y - 0.5f) - simd_load(s->high[1] + group));
    FloatV z = simd_max(simd_load(s->low[2] + group) - (p->z + 0.5f), (p->z - 0.5f) - simd_load(s->high[2] + group));
    x = simd_max(x, zero), y = simd_max(y, zero), z = simd_max(z, zero);
    return x * x + y * y + z * z;
}

// The functions of a group's eight triangles in the middle of a packet.
typedef struct Middle {
    float value[MEASURE_FUNCTIONS - 1][8];
    int has_t;
} Middle;

SIMD_INLINE FloatV middle_of(const MeasureGroup *g, int f, const Packet *p, Middle *m)
{
    FloatV at = simd_load(g->constant[f]) + simd_load(g->gx[f]) * p->x + simd_load(g->gy[f]) * p->y +
                simd_load(g->gz[f]) * p->z;
    simd_store(m->value[f], at);
    return at;
}

// How far, squared, each of the eight triangles is from the packet at least: off its plane, and beyond an edge.
SIMD_INLINE FloatV bounds_squared(const MeasureGroup *g, const Packet *p, Middle *m)
{
    FloatV off = simd_abs(middle_of(g, MEASURE_H, p, m)) - simd_load(g->spread[MEASURE_H]);
    FloatV beyond = middle_of(g, MEASURE_S0, p, m) - simd_load(g->spread[MEASURE_S0]);
    beyond = simd_max(beyond, middle_of(g, MEASURE_S1, p, m) - simd_load(g->spread[MEASURE_S1]));
    beyond = simd_max(beyond, middle_of(g, MEASURE_S2, p, m) - simd_load(g->spread[MEASURE_S2]));
    off = simd_max(off, simd_set1(0.0f)), beyond = simd_max(beyond, simd_set1(0.0f));
    return off * off + beyond * beyond;
}

SIMD_INLINE IntV select_int(IntV mask, IntV where_set, IntV where_clear)
{
    return (IntV)simd_select(mask, (FloatV)where_set, (FloatV)where_clear);
}

// Squared distance in the plane to one edge.
SIMD_INLINE FloatV edge_squared(FloatV t, FloatV s, float length)
{
    FloatV over = simd_max(simd_max(-t, t - length), simd_set1(0.0f));
    return s * s + over * over;
}

// Takes one triangle into account.
SIMD_INLINE void measure_triangle(Packet *p, MeasureScratch *scratch, int32_t group, int lane, Middle *m)
{
    const MeasureGroup *g = &scratch->groups[group];
    MeasureNear *near = &scratch->near[group][lane];
    if (!scratch->has_near[group][lane]) make_near(g, lane, near), scratch->has_near[group][lane] = 1;
#define AT(f) (simd_load(near->lane[f]) + m->value[f][lane])
    FloatV h = AT(MEASURE_H), h_squared = h * h;
    FloatV s0 = AT(MEASURE_S0), s1 = AT(MEASURE_S1), s2 = AT(MEASURE_S2);
    FloatV beyond = simd_max(s0, simd_max(s1, s2)), out = simd_max(beyond, simd_set1(0.0f));
    if (!simd_bits(h_squared + out * out <= p->squared + MARGIN)) return;
    if (!m->has_t) {
        for (int f = MEASURE_T0; f <= MEASURE_T2; f++) middle_of(g, f, p, m);
        m->has_t = 1;
    }
    FloatV edges = edge_squared(AT(MEASURE_T0), s0, g->length[0][lane]);
    edges = simd_min(edges, edge_squared(AT(MEASURE_T1), s1, g->length[1][lane]));
    edges = simd_min(edges, edge_squared(AT(MEASURE_T2), s2, g->length[2][lane]));
#undef AT
    IntV above = beyond <= g->above[lane];
    int32_t place = scratch->place[group][lane];
    FloatV squared = h_squared + (FloatV)((IntV)edges & ~above);
    IntV nearer = (squared < p->squared) | ((squared == p->squared) & (p->nearest > place));
    p->squared = simd_select(nearer, squared, p->squared);
    p->side = simd_select(nearer, (FloatV)((IntV)h & above), p->side);
    p->nearest = select_int(nearer, simd_set1_int(place), p->nearest);
}

// All triangles of a group that may be near; lane `hint` first, unless it is -1.
SIMD_INLINE void measure_group(const Block *block, Packet *p, int32_t group, int hint)
{
    MeasureScratch *s = block->scratch;
    if (!s->has_group[group]) {
        Corners corners;
        load_corners(block->mesh, block->corner, s->place[group], s->used[group], &corners);
        make_group(&corners, &s->groups[group]);
        s->has_group[group] = 1;
    }
    Middle m;
    m.has_t = 0;
    FloatV bounds = bounds_squared(&s->groups[group], p, &m);
    uint32_t existing = (1u << s->used[group]) - 1;
    if (hint >= 0) {
        measure_triangle(p, s, group, hint, &m);
        p->limit = largest_of(p->squared) + MARGIN;
        existing &= ~(1u << hint);
    }
    uint32_t triangles = existing & simd_bits(bounds <= p->limit);
    if (!triangles) return;
    for (; triangles; triangles &= triangles - 1) measure_triangle(p, s, group, __builtin_ctz(triangles), &m);
    p->limit = largest_of(p->squared) + MARGIN;
}

// The triangle that was nearest next door: a tight bound to start from.
typedef struct Hint {
    int32_t group; // -1: none yet
    int lane;
} Hint;

static void measure_packet(const Block *block, Packet *p, Hint hint)
{
    const MeasureScratch *s = block->scratch;
    p->limit = largest_of(p->squared) + MARGIN;
    if (hint.group >= 0) measure_group(block, p, hint.group, hint.lane);
    for (int32_t first = 0; first < s->group_count; first += 8) {
        uint32_t groups = (1u << (s->group_count - first < 8 ? s->group_count - first : 8)) - 1;
        if (hint.group >= 0 && hint.group / 8 == first / 8) groups &= ~(1u << (hint.group % 8));
        groups &= simd_bits(boxes_squared(s, first, p) <= p->limit);
        for (; groups; groups &= groups - 1) measure_group(block, p, first + __builtin_ctz(groups), -1);
    }
}

// Where a place stands among the groups; they ascend. The hint stays as it is if the place is of another chunk.
static void find_hint(const MeasureScratch *s, int32_t place, Hint *hint)
{
    if (place < s->place[0][0]) return;
    int32_t group = 0;
    for (int32_t high = s->group_count; high - group > 1;) {
        int32_t middle = group + (high - group) / 2;
        if (s->place[middle][0] <= place)
            group = middle;
        else
            high = middle;
    }
    for (int lane = 0; lane < s->used[group]; lane++)
        if (s->place[group][lane] == place) *hint = (Hint){group, lane};
}

void SIMD_NAME(sdf_measure_begin)(MeasureState *state, float band)
{
    for (int i = 0; i < 512; i++) state->squared[i] = band * band, state->nearest[i] = -1, state->side[i] = 0.0f;
}

void SIMD_NAME(sdf_measure_add)(const MeasureMesh *mesh, const int32_t corner[3], MeasureScratch *scratch,
                                MeasureState *state)
{
    Block block = {mesh, corner, scratch};
    Hint hint = {-1, 0};
    int32_t hint_place = -1;
    memset(scratch->has_group, 0, (size_t)scratch->group_count);
    memset(scratch->has_near, 0, 8 * (size_t)scratch->group_count);
    for (int turn = 0; turn < 64; turn++) {
        // To and fro, so that the packet before is always next door.
        int z = turn >> 4, y = (turn >> 2 & 3) ^ (z & 1 ? 3 : 0), x = (turn & 3) ^ (turn & 4 ? 3 : 0);
        int at = 8 * (16 * z + 4 * y + x);
        Packet p = {.x = (float)(2 * x) + 0.5f, .y = (float)(2 * y) + 0.5f, .z = (float)(2 * z) + 0.5f};
        p.squared = simd_load(state->squared + at);
        p.side = simd_load(state->side + at);
        memcpy(&p.nearest, state->nearest + at, sizeof p.nearest);
        measure_packet(&block, &p, hint);
        simd_store(state->squared + at, p.squared);
        simd_store(state->side + at, p.side);
        memcpy(state->nearest + at, &p.nearest, sizeof p.nearest);
        if (state->nearest[at] == hint_place || state->nearest[at] < 0) continue;
        hint_place = state->nearest[at];
        find_hint(scratch, hint_place, &hint);
    }
}

void SIMD_NAME(sdf_measure_end)(const MeasureState *state, float voxel, float *values, uint64_t unsigned_voxels[8])
{
    const FloatV far = simd_set1(SDF_FAR);
    const IntV sign_bit = simd_set1_int(INT32_MIN);
    for (int packet = 0; packet < 64; packet++) {
        IntV nearest;
        memcpy(&nearest, state->nearest + 8 * packet, sizeof nearest);
        FloatV side = simd_load(state->side + 8 * packet), distance = simd_sqrt(simd_load(state->squared + 8 * packet));
        IntV found = nearest >= 0;
        distance = (FloatV)((IntV)(distance * voxel) | ((IntV)side & sign_bit));
        float lanes[8];
        simd_store(lanes, simd_select(found, distance, far));
        float *to = values + sdf_block_index(2 * (packet & 3), 2 * (packet >> 2 & 3), 2 * (packet >> 4));
        enum { Y = SDF_BLOCK_PITCH, Z = SDF_BLOCK_PITCH * SDF_BLOCK_PITCH };
        memcpy(to, lanes, 8), memcpy(to + Y, lanes + 2, 8);
        memcpy(to + Z, lanes + 4, 8), memcpy(to + Z + Y, lanes + 6, 8);
        uint64_t bits = simd_bits(found & (side == 0.0f));
        unsigned_voxels[packet / 8] = (packet % 8 ? unsigned_voxels[packet / 8] : 0) | bits << (8 * (packet % 8));
    }
}
