// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/rival_sph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NEIGHBOURS 96
#define SPARSE 0.6f
#define ITERATIONS 3

typedef struct Particle {
    Vec3 x, v, other, a, next;
    float filled, pressure, s[6], stress[6], mass, friction;
    int32_t neighbour[MOST_NEIGHBOURS];
    int32_t count;
} Particle;

struct RivalSph {
    SphRules rules;
    const Sph *from; // its walls and sizes
    int64_t count;
    Particle *particles;
    int32_t *head, *following;
    int64_t cells[3];
    Vec3 low;
};

RivalSph *rival_sph_create(const Sph *from)
{
    RivalSph *rival = calloc(1, sizeof *rival);
    rival->rules = from->rules;
    rival->from = from;
    rival->count = from->neighbours.count;
    rival->particles = calloc((size_t)from->neighbours.count, sizeof *rival->particles);
    rival->following = malloc((size_t)from->neighbours.count * sizeof(int32_t));
    for (int64_t i = 0; i < from->neighbours.count; i++) {
        Particle *p = &rival->particles[from->neighbours.id[i]];
        p->x = vec3(from->field[SPH_X][i], from->field[SPH_Y][i], from->field[SPH_Z][i]);
        p->v = vec3(from->field[SPH_U][i], from->field[SPH_V][i], from->field[SPH_W][i]);
        p->filled = from->field[SPH_FILLED][i];
        p->mass = from->field[SPH_MASS][i];
        p->friction = from->field[SPH_FRICTION][i];
    }
    return rival;
}

void rival_sph_destroy(RivalSph *rival)
{
    free(rival->particles);
    free(rival->head);
    free(rival->following);
    free(rival);
}

// --- neighbours -----------------------------------------------------------------------------------

static int64_t cell_of(const RivalSph *rival, Vec3 x, int64_t at[3])
{
    Vec3 way = vec3_scale(vec3_sub(x, rival->low), 1.0f / rival->rules.support);
    at[0] = (int64_t)way.x, at[1] = (int64_t)way.y, at[2] = (int64_t)way.z;
    return (at[2] * rival->cells[1] + at[1]) * rival->cells[0] + at[0];
}

static void fill_cells(RivalSph *rival)
{
    Vec3 high = rival->low = rival->particles[0].x;
    for (int64_t i = 0; i < rival->count; i++)
        rival->low = vec3_min(rival->low, rival->particles[i].x), high = vec3_max(high, rival->particles[i].x);
    rival->cells[0] = (int64_t)((high.x - rival->low.x) / rival->rules.support) + 1;
    rival->cells[1] = (int64_t)((high.y - rival->low.y) / rival->rules.support) + 1;
    rival->cells[2] = (int64_t)((high.z - rival->low.z) / rival->rules.support) + 1;
    size_t bytes = (size_t)(rival->cells[0] * rival->cells[1] * rival->cells[2]) * sizeof(int32_t);
    rival->head = realloc(rival->head, bytes);
    memset(rival->head, 0xff, bytes);
    for (int64_t i = 0; i < rival->count; i++) {
        int64_t at[3], cell = cell_of(rival, rival->particles[i].x, at);
        rival->following[i] = rival->head[cell];
        rival->head[cell] = (int32_t)i;
    }
}

static void find_neighbours(RivalSph *rival, Particle *p)
{
    int64_t at[3];
    float squared = rival->rules.support * rival->rules.support;
    cell_of(rival, p->x, at);
    p->count = 0;
    for (int64_t z = at[2] - 1; z <= at[2] + 1; z++)
        for (int64_t y = at[1] - 1; y <= at[1] + 1; y++)
            for (int64_t x = at[0] - 1; x <= at[0] + 1; x++) {
                if (x < 0 || y < 0 || z < 0 || x >= rival->cells[0] || y >= rival->cells[1] || z >= rival->cells[2])
                    continue;
                for (int32_t j = rival->head[(z * rival->cells[1] + y) * rival->cells[0] + x]; j >= 0;
                     j = rival->following[j]) {
                    Vec3 d = vec3_sub(p->x, rival->particles[j].x);
                    if (vec3_dot(d, d) < squared && p->count < MOST_NEIGHBOURS) p->neighbour[p->count++] = j;
                }
            }
}

// --- the step -------------------------------------------------------------------------------------

static float distance_to(const RivalSph *rival, Vec3 x, const SimCollider *wall)
{
    const double *origin = rival->from->base.origin;
    Vec3 from = {(float)((double)wall->plane_point.x - origin[0]), (float)((double)wall->plane_point.y - origin[1]),
                 (float)((double)wall->plane_point.z - origin[2])};
    return vec3_dot(vec3_sub(x, from), wall->plane_normal);
}

static float behind(const RivalSph *rival, const Particle *p, const SimCollider *wall, float *slope)
{
    float distance = fmaxf(distance_to(rival, p->x, wall), 0.1f * rival->rules.spacing);
    return sph_spline_behind(distance, rival->rules.support, slope);
}

// What a wall can give of a force: it never pulls, and along it holds by friction alone.
static Vec3 limit(Vec3 force, const SimCollider *wall)
{
    float press = vec3_dot(force, wall->plane_normal), hold = wall->friction * press;
    if (press <= 0.0f) return vec3(0, 0, 0);
    Vec3 along = vec3_add_scaled(force, wall->plane_normal, -press);
    float length = vec3_length(along);
    return vec3_add_scaled(vec3_scale(wall->plane_normal, press), along, length > hold ? hold / length : 1.0f);
}

static void begin(const RivalSph *rival, Particle *p)
{
    const SphRules *rules = &rival->rules;
    float h = rules->support, slope;
    p->filled = 0.0f;
    p->other = vec3(rules->gravity[0], rules->gravity[1], rules->gravity[2]);
    for (int32_t k = 0; k < p->count; k++) {
        const Particle *n = &rival->particles[p->neighbour[k]];
        Vec3 d = vec3_sub(p->x, n->x);
        float r = vec3_length(d), closing = fminf(vec3_dot(vec3_sub(p->v, n->v), d), 0.0f);
        p->filled += rules->volume * sph_spline(r, h);
        float along = rules->volume * h * rules->sound * rules->viscosity * sph_spline_slope(r, h) * closing /
                      (r * r + 0.01f * h * h);
        p->other = vec3_add_scaled(p->other, d, along);
    }
    for (int c = 0; c < rival->from->base.def.collider_count; c++)
        p->filled += behind(rival, p, &rival->from->base.rigid->objects[c].given, &slope);
    p->pressure = 0.0f;
    memset(p->s, 0, sizeof p->s);
    p->next = vec3_add_scaled(p->v, p->other, rules->dt);
}

static void correct(const RivalSph *rival, Particle *p)
{
    const SphRules *rules = &rival->rules;
    float g[3][3] = {{0}}, slope;
    for (int32_t k = 0; k < p->count; k++) {
        const Particle *n = &rival->particles[p->neighbour[k]];
        Vec3 d = vec3_sub(p->x, n->x), dv = vec3_sub(n->next, p->next);
        Vec3 w = vec3_scale(d, rules->volume * sph_spline_slope(vec3_length(d), rules->support));
        g[0][0] += dv.x * w.x, g[0][1] += dv.x * w.y, g[0][2] += dv.x * w.z;
        g[1][0] += dv.y * w.x, g[1][1] += dv.y * w.y, g[1][2] += dv.y * w.z;
        g[2][0] += dv.z * w.x, g[2][1] += dv.z * w.y, g[2][2] += dv.z * w.z;
    }
    for (int c = 0; c < rival->from->base.def.collider_count; c++) {
        const SimCollider *wall = &rival->from->base.rigid->objects[c].given;
        behind(rival, p, wall, &slope);
        Vec3 w = vec3_scale(wall->plane_normal, slope);
        g[0][0] += p->next.x * w.x, g[0][1] += p->next.x * w.y, g[0][2] += p->next.x * w.z;
        g[1][0] += p->next.y * w.x, g[1][1] += p->next.y * w.y, g[1][2] += p->next.y * w.z;
        g[2][0] += p->next.z * w.x, g[2][1] += p->next.z * w.y, g[2][2] += p->next.z * w.z;
    }
    float divergence = g[0][0] + g[1][1] + g[2][2], third = divergence / 3.0f,
          next = p->filled - rules->dt * divergence;
    p->pressure += rules->pressure_scale * fmaxf(next - 1.0f, 0.0f);
    if (next < SPARSE) p->pressure = 0.0f;
    float most = p->pressure * 0.8164966f * p->friction / sqrtf(1.0f + p->friction * p->friction);
    const float rate[6] = {g[0][0] - third,
                           g[1][1] - third,
                           g[2][2] - third,
                           0.5f * (g[0][1] + g[1][0]),
                           0.5f * (g[0][2] + g[2][0]),
                           0.5f * (g[1][2] + g[2][1])};
    for (int c = 0; c < 6; c++) {
        p->s[c] = fmaxf(fminf(p->s[c] + rules->friction_scale * rate[c], most), -most);
        p->stress[c] = (p->s[c] - (c < 3 ? p->pressure : 0.0f)) / (p->filled * p->filled);
    }
}

static Vec3 times(const float s[6], Vec3 d)
{
    return vec3(s[0] * d.x + s[3] * d.y + s[4] * d.z, s[3] * d.x + s[1] * d.y + s[5] * d.z,
                s[4] * d.x + s[5] * d.y + s[2] * d.z);
}

static void push(const RivalSph *rival, Particle *p)
{
    const SphRules *rules = &rival->rules;
    float slope;
    p->a = p->other;
    for (int32_t k = 0; k < p->count; k++) {
        const Particle *n = &rival->particles[p->neighbour[k]];
        Vec3 d = vec3_sub(p->x, n->x);
        float both[6], w = rules->volume * rules->volume / p->mass * sph_spline_slope(vec3_length(d), rules->support);
        for (int c = 0; c < 6; c++) both[c] = p->stress[c] + n->stress[c];
        p->a = vec3_add_scaled(p->a, times(both, d), w);
    }
    for (int c = 0; c < rival->from->base.def.collider_count; c++) {
        const SimCollider *wall = &rival->from->base.rigid->objects[c].given;
        behind(rival, p, wall, &slope);
        Vec3 force = vec3_scale(times(p->stress, wall->plane_normal), -rules->wall_share * rules->volume * slope);
        p->a = vec3_add_scaled(p->a, limit(force, wall), 1.0f / p->mass);
    }
}

static void move(const RivalSph *rival, Particle *p)
{
    p->v = p->next;
    if (vec3_length(p->v) < rival->rules.sleep_speed && vec3_length(p->a) < rival->rules.wake_acceleration)
        p->v = vec3(0, 0, 0);
    p->x = vec3_add_scaled(p->x, p->v, rival->rules.dt);
    for (int c = 0; c < rival->from->base.def.collider_count; c++) {
        const SimCollider *wall = &rival->from->base.rigid->objects[c].given;
        float nearest = (p->filled < SPARSE ? 1.0f : 0.6f) * rival->from->base.def.largest_radius;
        float deep = nearest - distance_to(rival, p->x, wall);
        if (deep <= 0.0f) continue;
        p->x = vec3_add_scaled(p->x, wall->plane_normal, deep);
        if (vec3_dot(p->v, wall->plane_normal) < 0.0f) p->v = vec3_add(p->v, limit(vec3_scale(p->v, -1.0f), wall));
    }
}

void rival_sph_step(RivalSph *rival, double seconds)
{
    float dt = rival->rules.dt;
    rival->rules.dt = (float)seconds;
    rival->rules.pressure_scale *= dt * dt / (rival->rules.dt * rival->rules.dt);
    rival->rules.friction_scale *= dt / rival->rules.dt;
    fill_cells(rival);
    for (int64_t i = 0; i < rival->count; i++) find_neighbours(rival, &rival->particles[i]);
    for (int64_t i = 0; i < rival->count; i++) begin(rival, &rival->particles[i]);
    for (int l = 0; l < ITERATIONS; l++) {
        for (int64_t i = 0; i < rival->count; i++) correct(rival, &rival->particles[i]);
        for (int64_t i = 0; i < rival->count; i++) push(rival, &rival->particles[i]);
        for (int64_t i = 0; i < rival->count; i++) {
            Particle *p = &rival->particles[i];
            p->next = vec3_add_scaled(p->v, p->a, rival->rules.dt);
        }
    }
    for (int64_t i = 0; i < rival->count; i++) move(rival, &rival->particles[i]);
}

double rival_sph_difference(const RivalSph *rival, const Sph *sph)
{
    double off = 0.0, fastest = 1e-12;
    for (int64_t i = 0; i < sph->neighbours.count; i++) {
        Vec3 v = {sph->field[SPH_U][i], sph->field[SPH_V][i], sph->field[SPH_W][i]};
        off = fmax(off, (double)vec3_length(vec3_sub(v, rival->particles[sph->neighbours.id[i]].v)));
        fastest = fmax(fastest, (double)vec3_length(v));
    }
    return off / fastest;
}
