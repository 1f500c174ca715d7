// SPDX-License-Identifier: GPL-3.0-or-later
// Where the energy is: in motion, in height, in contacts. What friction and damping took is what is missing.
#include "base/real.h"
#include "sim/dem/dem.h"

#include <math.h>

static double squared(const float v[3])
{
    return (double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2];
}

static double height_energy(const Dem *dem, double mass, const float anchor[3], const float offset[3])
{
    const float gravity[3] = {dem->base.def.gravity.x, dem->base.def.gravity.y, dem->base.def.gravity.z};
    double sum = 0.0;
    for (int a = 0; a < 3; a++) sum -= mass * (double)gravity[a] * ((double)anchor[a] + (double)offset[a]);
    return sum;
}

static void measure_motion(const Dem *dem, SimStats *out)
{
    for (int64_t i = 0; i < dem->count; i++) {
        const DemBall *ball = &dem->balls[i];
        if (ball->inverse_inertia == 0.0f) continue;
        double mass = 1.0 / (double)ball->inverse_mass;
        out->kinetic +=
            0.5 * mass * squared(ball->velocity) + 0.5 * squared(ball->spin) / (double)ball->inverse_inertia;
        out->potential += height_energy(dem, mass, ball->anchor, ball->offset);
    }
    for (int64_t g = 0; g < dem->grain_count; g++) {
        const DemGrain *grain = &dem->grains[g];
        double mass = 1.0 / (double)grain->inverse_mass;
        out->kinetic += 0.5 * mass * squared(grain->velocity);
        for (int a = 0; a < 3; a++) out->kinetic += 0.5 * (double)grain->spin[a] * (double)grain->momentum[a];
        out->potential += height_energy(dem, mass, grain->anchor, grain->offset);
    }
}

static double spring_squared(const DemVectors *springs, int64_t i)
{
    double x = (double)springs->x[i], y = (double)springs->y[i], z = (double)springs->z[i];
    return x * x + y * y + z * z;
}

// Of one contact with this overlap; the shear spring of the Hertz laws is taken as it is at this overlap.
static double contact_energy(const DemLaw *law, const DemMix *mix, double overlap, double mass, double radius,
                             double shear, double roll)
{
    int is_linear = law->normal == DEM_NORMAL_LINEAR;
    double k = (double)mix->stiffness * (is_linear ? mass : sqrt(radius * overlap));
    double energy = (is_linear ? 0.5 : 0.4) * k * overlap * overlap - mass * (double)mix->cohesion * overlap;
    return energy + 0.5 * k * ((double)law->shear_stiffness * shear + (double)law->roll_stiffness * roll);
}

static void measure_pairs(const Dem *dem, SimStats *out)
{
    const DemPairs *pairs = &dem->pairs;
    for (int64_t pair = 0; pair < pairs->count; pair++) {
        const DemBall *a = &dem->balls[pairs->a[pair]], *b = &dem->balls[pairs->b[pair]];
        double apart[3] = {(double)pairs->apart.x[pair], (double)pairs->apart.y[pair], (double)pairs->apart.z[pair]};
        double distance = 0.0, radius_a = (double)a->radius, radius_b = (double)b->radius;
        for (int k = 0; k < 3; k++) {
            double way = apart[k] + (double)a->offset[k] - (double)b->offset[k];
            distance += way * way;
        }
        double overlap = radius_a + radius_b - sqrt(distance);
        if (overlap <= 0.0) continue;
        const DemMix *mix = pairs->mix ? &dem->mixes.mix[pairs->mix[pair]] : &dem->law.first;
        out->contacts++;
        out->deepest = real_max(out->deepest, overlap / real_min(radius_a, radius_b));
        out->elastic +=
            contact_energy(&dem->law, mix, overlap, 1.0 / ((double)a->inverse_mass + (double)b->inverse_mass),
                           radius_a * radius_b / (radius_a + radius_b), spring_squared(&pairs->shear, pair),
                           dem->law.resists_rolling ? spring_squared(&pairs->roll, pair) : 0.0);
    }
}

static void measure_walls(const Dem *dem, SimStats *out)
{
    const DemWalls *walls = &dem->walls;
    for (int64_t wall = 0; wall < walls->count; wall++) {
        const DemBall *ball = &dem->balls[walls->ball[wall]];
        double gap = (double)walls->gap[wall];
        gap += ((double)ball->offset[0] - (double)walls->sampled.x[wall]) * (double)walls->normal.x[wall] +
               ((double)ball->offset[1] - (double)walls->sampled.y[wall]) * (double)walls->normal.y[wall] +
               ((double)ball->offset[2] - (double)walls->sampled.z[wall]) * (double)walls->normal.z[wall];
        double overlap = (double)ball->radius - gap;
        if (overlap <= 0.0) continue;
        const DemMix *mix = walls->mix ? &dem->mixes.mix[walls->mix[wall]] : &dem->law.first;
        out->contacts++;
        out->elastic += contact_energy(&dem->law, mix, overlap, 1.0 / (double)ball->inverse_mass, (double)ball->radius,
                                       spring_squared(&walls->shear, wall),
                                       dem->law.resists_rolling ? spring_squared(&walls->roll, wall) : 0.0);
    }
}

void dem_measure(const void *state, SimStats *out)
{
    const Dem *dem = state;
    *out = (SimStats){.steps = dem->steps_done, .rejected = dem->steps_rejected, .asleep = dem->sleep.asleep};
    measure_motion(dem, out);
    measure_pairs(dem, out);
    measure_walls(dem, out);
}
