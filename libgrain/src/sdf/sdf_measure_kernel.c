#define SIMD_FIXED_LANES 8 // a packet
#include "sdf/sdf_measure.h"

#include <math.h>

typedef double DoubleV __attribute__((vector_size(8 * SIMD_LANES)));

// A triangle whose height is this much smaller than its length has no plane of its own.
#define FLATNESS 1e-12
// Lower bounds may be this much too high by rounding (voxels); a triangle is only passed over beyond it.
#define MARGIN 1e-3f

// --- from triangles to functions ------------------------------------------------------------------

typedef struct Corners {
    double place[9][8]; // ax ay az bx by bz cx cy cz of eight triangles, from the block's first voxel
} Corners;

// Lanes past the end repeat the last triangle: nothing new, nothing wrong.
static void load_corners(const MeasureMesh *mesh, const int32_t corner[3], const int32_t *triangles, int32_t count,
                         Corners *out)
{
    for (int lane = 0; lane < 8; lane++) {
        int32_t triangle = triangles[lane < count ? lane : count - 1];
        int turned = mesh->flipped && mesh->flipped[triangle];
        for (int c = 0; c < 3; c++) {
            int from = turned && c ? 3 - c : c;
            const float *p = mesh->positions + 3 * (int64_t)mesh->triangles[3 * (int64_t)triangle + from];
            for (int axis = 0; axis < 3; axis++)
                out->place[3 * c + axis][lane] =
                    ((double)p[axis] - mesh->origin[axis]) * mesh->voxels_per_metre - (double)corner[axis];
        }
    }
}

typedef struct V3 {
    DoubleV x, y, z;
} V3;

SIMD_INLINE V3 load3(const Corners *c, int corner)
{
    V3 v;
    memcpy(&v.x, c->place[3 * corner], sizeof v.x);
    memcpy(&v.y, c->place[3 * corner + 1], sizeof v.y);
    memcpy(&v.z, c->place[3 * corner + 2], sizeof v.z);
    return v;
}

SIMD_INLINE V3 sub3(V3 a, V3 b) { return (V3){a.x - b.x, a.y - b.y, a.z - b.z}; }
SIMD_INLINE V3 scale3(V3 a, DoubleV s) { return (V3){a.x * s, a.y * s, a.z * s}; }
SIMD_INLINE DoubleV dot3(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
SIMD_INLINE V3 cross3(V3 a, V3 b) { return (V3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

SIMD_INLINE DoubleV root(DoubleV v)
{
    for (int lane = 0; lane < 8; lane++) v[lane] = sqrt(v[lane]);
    return v;
}

SIMD_INLINE void store_float(float *to, DoubleV v)
{
    FloatV rounded = __builtin_convertvector(v, FloatV);
    simd_store(to, rounded);
}

// A function that is 0 at `from` and grows along `direction`.
SIMD_INLINE void store_function(MeasureGroup *g, int function, V3 direction, V3 from)
{
    store_float(g->constant[function], -dot3(direction, from));
    store_float(g->gx[function], direction.x);
    store_float(g->gy[function], direction.y);
    store_float(g->gz[function], direction.z);
}

// Directions for a triangle that is only a line or a point: orthonormal all the same, so that distances to its edges
// stay right, and never "above" it.
static void straighten_lane(V3 along[3], V3 *normal, const DoubleV length[3], int lane)
{
    int longest = 0;
    for (int edge = 1; edge < 3; edge++)
        if (length[edge][lane] > length[longest][lane]) longest = edge;
    double x = 1.0, y = 0.0, z = 0.0;
    if (length[longest][lane] > 0.0) x = along[longest].x[lane], y = along[longest].y[lane], z = along[longest].z[lane];
    // Any direction across: from the axis that is least along it.
    double ax = fabs(x), ay = fabs(y), az = fabs(z), nx, ny, nz;
    if (ax <= ay && ax <= az)
        nx = 0.0, ny = -z, nz = y;
    else if (ay <= az)
        nx = z, ny = 0.0, nz = -x;
    else
        nx = -y, ny = x, nz = 0.0;
    double s = 1.0 / sqrt(nx * nx + ny * ny + nz * nz);
    normal->x[lane] = nx * s, normal->y[lane] = ny * s, normal->z[lane] = nz * s;
    for (int edge = 0; edge < 3; edge++) along[edge].x[lane] = x, along[edge].y[lane] = y, along[edge].z[lane] = z;
}

static void make_group(const Corners *corners, MeasureGroup *g)
{
    V3 a = load3(corners, 0), b = load3(corners, 1), c = load3(corners, 2);
    V3 along[3] = {sub3(b, a), sub3(c, b), sub3(a, c)};
    V3 normal = cross3(along[0], along[1]);
    DoubleV length[3], longest = {0}, above = {0};
    for (int edge = 0; edge < 3; edge++) {
        length[edge] = root(dot3(along[edge], along[edge]));
        along[edge] = scale3(along[edge], 1.0 / length[edge]);
        for (int lane = 0; lane < 8; lane++)
            longest[lane] = length[edge][lane] > longest[lane] ? length[edge][lane] : longest[lane];
    }
    DoubleV twice_area = root(dot3(normal, normal));
    normal = scale3(normal, 1.0 / twice_area);
    for (int lane = 0; lane < 8; lane++) {
        if (twice_area[lane] > FLATNESS * longest[lane] * longest[lane]) continue;
        straighten_lane(along, &normal, length, lane);
        above[lane] = -1e30;
    }
    store_function(g, MEASURE_H, normal, a);
    const V3 from[3] = {a, b, c};
    for (int edge = 0; edge < 3; edge++) {
        store_function(g, MEASURE_T0 + edge, along[edge], from[edge]);
        store_function(g, MEASURE_S0 + edge, cross3(along[edge], normal), from[edge]);
        store_float(g->length[edge], length[edge]);
    }
    store_float(g->above, above);
    V3 middle = {(a.x + b.x + c.x) / 3.0, (a.y + b.y + c.y) / 3.0, (a.z + b.z + c.z) / 3.0};
    DoubleV radius = {0};
    for (int k = 0; k < 3; k++) {
        V3 off = sub3(from[k], middle);
        DoubleV squared = dot3(off, off);
        for (int lane = 0; lane < 8; lane++) radius[lane] = squared[lane] > radius[lane] ? squared[lane] : radius[lane];
    }
    store_float(g->middle[0], middle.x), store_float(g->middle[1], middle.y), store_float(g->middle[2], middle.z);
    store_float(g->radius, root(radius));
}

static void make_box(const Corners *corners, MeasureScratch *s, int32_t group)
{
    for (int axis = 0; axis < 3; axis++) {
        double low = corners->place[axis][0], high = low;
        for (int c = 0; c < 3; c++)
            for (int lane = 0; lane < 8; lane++) {
                double place = corners->place[3 * c + axis][lane];
                low = place < low ? place : low;
                high = place > high ? place : high;
            }
        s->low[axis][group] = (float)low;
        s->high[axis][group] = (float)high;
    }
    float largest = 0.0f;
    for (int lane = 0; lane < 8; lane++)
        largest = s->groups[group].radius[lane] > largest ? s->groups[group].radius[lane] : largest;
    s->largest[group] = largest;
}

// Where the lanes of a packet are, from its first voxel.
SIMD_INLINE FloatV lane_x(void) { return (FloatV){0, 1, 0, 1, 0, 1, 0, 1}; }
SIMD_INLINE FloatV lane_y(void) { return (FloatV){0, 0, 1, 1, 0, 0, 1, 1}; }
SIMD_INLINE FloatV lane_z(void) { return (FloatV){0, 0, 0, 0, 1, 1, 1, 1}; }

static void make_near(const MeasureGroup *g, int lane, MeasureNear *near)
{
    for (int f = 0; f < MEASURE_FUNCTIONS; f++) {
        if (f > MEASURE_S2) {
            near->gx[f] = near->gy[f] = near->gz[f] = 0.0f;
            continue;
        }
        near->gx[f] = g->gx[f][lane], near->gy[f] = g->gy[f][lane], near->gz[f] = g->gz[f][lane];
        FloatV at =
            g->constant[f][lane] + g->gx[f][lane] * lane_x() + g->gy[f][lane] * lane_y() + g->gz[f][lane] * lane_z();
        simd_store(near->lane[f], at);
    }
}

// --- from functions to distances ------------------------------------------------------------------

typedef struct Packet {
    float x, y, z;        // its first voxel
    FloatV px, py, pz;    // all of its voxels
    FloatV squared, side; // what MeasureState says
    IntV nearest;
} Packet;

SIMD_INLINE IntV select_int(IntV mask, IntV where_set, IntV where_clear)
{
    return (IntV)simd_select(mask, (FloatV)where_set, (FloatV)where_clear);
}

// Squared distance in the plane to one edge.
SIMD_INLINE FloatV edge_squared(FloatV t, FloatV s, FloatV length)
{
    FloatV over = simd_max(simd_max(-t, t - length), simd_set1(0.0f));
    return s * s + over * over;
}

SIMD_INLINE void take_nearer(Packet *p, const MeasureGroup *g, int lane, int32_t place, FloatV h, FloatV t0, FloatV t1,
                             FloatV t2, FloatV s0, FloatV s1, FloatV s2)
{
    FloatV edges = edge_squared(t0, s0, simd_set1(g->length[0][lane]));
    edges = simd_min(edges, edge_squared(t1, s1, simd_set1(g->length[1][lane])));
    edges = simd_min(edges, edge_squared(t2, s2, simd_set1(g->length[2][lane])));
    IntV above = simd_max(s0, simd_max(s1, s2)) <= g->above[lane];
    FloatV squared = h * h + (FloatV)((IntV)edges & ~above);
    IntV nearer = (squared < p->squared) | ((squared == p->squared) & (p->nearest > place));
    p->squared = simd_select(nearer, squared, p->squared);
    p->side = simd_select(nearer, (FloatV)((IntV)h & above), p->side);
    p->nearest = select_int(nearer, simd_set1_int(place), p->nearest);
}

SIMD_INLINE FloatV function_at(const MeasureGroup *g, int f, int lane, const Packet *p)
{
    return g->constant[f][lane] + g->gx[f][lane] * p->px + g->gy[f][lane] * p->py + g->gz[f][lane] * p->pz;
}

// One triangle of a long list.
SIMD_INLINE void measure_triangle(Packet *p, const MeasureGroup *g, int lane, int32_t place)
{
    FloatV h = function_at(g, MEASURE_H, lane, p);
    if (!simd_bits(h * h <= p->squared)) return;
    take_nearer(p, g, lane, place, h, function_at(g, MEASURE_T0, lane, p), function_at(g, MEASURE_T1, lane, p),
                function_at(g, MEASURE_T2, lane, p), function_at(g, MEASURE_S0, lane, p),
                function_at(g, MEASURE_S1, lane, p), function_at(g, MEASURE_S2, lane, p));
}

// One triangle of a short list: all functions go from the first packet to this one by a single sum each.
SIMD_INLINE void measure_near(Packet *p, const MeasureNear *near, const MeasureGroup *g, int lane, int32_t place)
{
    float step[8];
    simd_store(step, simd_load(near->gx) * p->x + simd_load(near->gy) * p->y + simd_load(near->gz) * p->z);
    FloatV h = simd_load(near->lane[MEASURE_H]) + step[MEASURE_H];
    if (!simd_bits(h * h <= p->squared)) return;
#define AT(f) (simd_load(near->lane[f]) + step[f])
    take_nearer(p, g, lane, place, h, AT(MEASURE_T0), AT(MEASURE_T1), AT(MEASURE_T2), AT(MEASURE_S0), AT(MEASURE_S1),
                AT(MEASURE_S2));
#undef AT
}

SIMD_INLINE float largest_of(FloatV v)
{
    float lanes[8], largest = 0.0f;
    simd_store(lanes, v);
    for (int lane = 0; lane < 8; lane++) largest = lanes[lane] > largest ? lanes[lane] : largest;
    return largest;
}

// Squared distance between boxes, a group to a lane: the packet's voxels, and each group's triangles.
SIMD_INLINE FloatV boxes_squared(const MeasureScratch *s, int32_t group, const Packet *p)
{
    FloatV zero = simd_set1(0.0f);
    FloatV x =
        simd_max(simd_max(simd_load(s->low[0] + group) - (p->x + 1.0f), p->x - simd_load(s->high[0] + group)), zero);
    FloatV y =
        simd_max(simd_max(simd_load(s->low[1] + group) - (p->y + 1.0f), p->y - simd_load(s->high[1] + group)), zero);
    FloatV z =
        simd_max(simd_max(simd_load(s->low[2] + group) - (p->z + 1.0f), p->z - simd_load(s->high[2] + group)), zero);
    return x * x + y * y + z * z;
}

// Some voxel of the packet is nearer to the group's box than to anything found so far.
SIMD_INLINE int is_box_near(const MeasureScratch *s, int32_t group, const Packet *p)
{
    FloatV zero = simd_set1(0.0f);
    FloatV x = simd_max(simd_max(s->low[0][group] - p->px, p->px - s->high[0][group]), zero);
    FloatV y = simd_max(simd_max(s->low[1][group] - p->py, p->py - s->high[1][group]), zero);
    FloatV z = simd_max(simd_max(s->low[2][group] - p->pz, p->pz - s->high[2][group]), zero);
    return simd_bits(x * x + y * y + z * z <= p->squared + MARGIN) != 0;
}

SIMD_INLINE int is_ball_near(const MeasureGroup *g, int lane, const Packet *p, FloatV reach)
{
    FloatV x = p->px - g->middle[0][lane], y = p->py - g->middle[1][lane], z = p->pz - g->middle[2][lane];
    FloatV with_radius = reach + g->radius[lane];
    return simd_bits(x * x + y * y + z * z <= with_radius * with_radius) != 0;
}

static void measure_group(Packet *p, const MeasureScratch *s, int32_t group, int32_t count, int32_t first_place)
{
    const MeasureGroup *g = &s->groups[group];
    int lanes = count - 8 * group < 8 ? count - 8 * group : 8;
    FloatV reach = simd_sqrt(p->squared) + MARGIN;
    for (int lane = 0; lane < lanes; lane++) {
        if (!is_ball_near(g, lane, p, reach)) continue;
        measure_triangle(p, g, lane, first_place + 8 * group + lane);
    }
}

static void measure_many(Packet *p, const MeasureScratch *s, int32_t count, int32_t first_place, int32_t hint)
{
    // The triangle that was nearest next door makes a tight bound to start from.
    if (hint >= 0) measure_triangle(p, &s->groups[hint / 8], hint % 8, first_place + hint);
    int32_t group_count = (count + 7) / 8;
    for (int32_t first = 0; first < group_count; first += 8) {
        FloatV squared = boxes_squared(s, first, p);
        uint32_t bits = simd_bits(squared <= largest_of(p->squared) + MARGIN);
        if (group_count - first < 8) bits &= (1u << (group_count - first)) - 1;
        for (; bits; bits &= bits - 1) {
            int32_t group = first + __builtin_ctz(bits);
            if (is_box_near(s, group, p)) measure_group(p, s, group, count, first_place);
        }
    }
}

static void measure_few(Packet *p, const MeasureScratch *s, int32_t count, int32_t first_place)
{
    for (int32_t group = 0; 8 * group < count; group++) {
        if (!is_box_near(s, group, p)) continue;
        for (int32_t i = 8 * group; i < count && i < 8 * group + 8; i++)
            measure_near(p, &s->near[i], &s->groups[group], i % 8, first_place + i);
    }
}

void SIMD_NAME(sdf_measure_begin)(MeasureState *state, float band)
{
    for (int i = 0; i < 512; i++) state->squared[i] = band * band, state->nearest[i] = -1, state->side[i] = 0.0f;
}

void SIMD_NAME(sdf_measure_add)(const MeasureMesh *mesh, const int32_t corner[3], const int32_t *triangles,
                                int32_t count, int32_t first_place, MeasureScratch *s, MeasureState *state)
{
    for (int32_t group = 0; 8 * group < count; group++) {
        Corners corners;
        load_corners(mesh, corner, triangles + 8 * group, count - 8 * group, &corners);
        make_group(&corners, &s->groups[group]);
        make_box(&corners, s, group);
        for (int lane = 0; count <= MEASURE_FEW && lane < 8 && 8 * group + lane < count; lane++)
            make_near(&s->groups[group], lane, &s->near[8 * group + lane]);
    }
    int32_t hint = -1;
    for (int packet = 0; packet < 64; packet++) {
        Packet p = {
            .x = (float)(2 * (packet & 3)), .y = (float)(2 * (packet >> 2 & 3)), .z = (float)(2 * (packet >> 4))};
        p.px = p.x + lane_x(), p.py = p.y + lane_y(), p.pz = p.z + lane_z();
        p.squared = simd_load(state->squared + 8 * packet);
        p.side = simd_load(state->side + 8 * packet);
        memcpy(&p.nearest, state->nearest + 8 * packet, sizeof p.nearest);
        if (count <= MEASURE_FEW)
            measure_few(&p, s, count, first_place);
        else
            measure_many(&p, s, count, first_place, hint);
        simd_store(state->squared + 8 * packet, p.squared);
        simd_store(state->side + 8 * packet, p.side);
        memcpy(state->nearest + 8 * packet, &p.nearest, sizeof p.nearest);
        int32_t found = state->nearest[8 * packet] - first_place;
        if (state->nearest[8 * packet] >= first_place) hint = found;
    }
}
