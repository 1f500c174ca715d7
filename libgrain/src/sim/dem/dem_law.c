// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/dem/dem_law.h"
#include "base/error.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

// --- the tables: to add a law, add its row here, its enum and its lines in dem_contact_simd.h -----

static const struct {
    double alpha, beta;
} exponents[] = {[DEM_NORMAL_LINEAR] = {0.0, 1.0},
                 [DEM_NORMAL_HERTZ] = {0.5, 1.5},
                 [DEM_NORMAL_HERTZ_TSUJI] = {0.25, 1.5},
                 [DEM_NORMAL_HERTZ_DASHPOT] = {0.0, 1.5}};

const char *const dem_normal_names[] = {[DEM_NORMAL_LINEAR] = "linear",
                                        [DEM_NORMAL_HERTZ] = "hertz",
                                        [DEM_NORMAL_HERTZ_TSUJI] = "hertz_tsuji",
                                        [DEM_NORMAL_HERTZ_DASHPOT] = "hertz_dashpot",
                                        NULL};

const char *const dem_shear_names[] = {
    [DEM_SHEAR_SPRING] = "spring",   [DEM_SHEAR_SLIDING] = "sliding", [DEM_SHEAR_VISCOUS] = "viscous",
    [DEM_SHEAR_COULOMB] = "coulomb", [DEM_SHEAR_NONE] = "none",       NULL};

// --- constants ----------------------------------------------------------------------------------

// Tangential over normal stiffness of the linear law: 2/7 makes the two oscillations of a bouncing sphere equally long
// (Schaefer, Dippel, Wolf 1996, section 4.2), so that friction neither rings nor lags. The spring moves 2/7 of the
// effective mass, so it is as well damped with the same ratio of the dampings.
#define LINEAR_SHEAR (2.0 / 7.0)
// The rolling spring twists 2/5 m r2 by a lever of half a radius: about the same frequency again.
#define ROLL_STIFFNESS 0.3f
#define ROLL_DAMPING 0.3f
// Of what would stop the sliding of a pair in one substep. A grain with ten contacts still stops instead of swinging.
#define SLIDE_STOP 0.1
// Duration of an undamped Hertz collision over deepest overlap and speed (Landau and Lifshitz, Theory of Elasticity,
// 9).
#define HERTZ_DURATION 2.9432

// --- restitution --------------------------------------------------------------------------------

static double force_at(double x, double v, double alpha, double beta, double damping)
{
    double at = x > 0.0 ? x : 0.0;
    return damping * (alpha > 0.0 ? real_pow(at, alpha) : 1.0) * v + real_pow(at, beta);
}

double dem_law_restitution(DemNormal normal, double damping)
{
    double alpha = exponents[normal].alpha, beta = exponents[normal].beta;
    double x = 0.0, v = 1.0, step = 1e-3;
    for (int i = 0; i < 30000; i++) {
        double before_x = x, before_v = v, f[4], speed[4];
        for (int stage = 0; stage < 4; stage++) { // Runge-Kutta, fourth order
            double part = stage == 0 ? 0.0 : stage == 3 ? step : 0.5 * step;
            double at_v = before_v - (stage ? part * f[stage - 1] : 0.0);
            double at_x = before_x + (stage ? part * speed[stage - 1] : 0.0);
            speed[stage] = at_v;
            f[stage] = force_at(at_x, at_v, alpha, beta, damping);
        }
        x = before_x + step / 6.0 * (speed[0] + 2.0 * speed[1] + 2.0 * speed[2] + speed[3]);
        v = before_v - step / 6.0 * (f[0] + 2.0 * f[1] + 2.0 * f[2] + f[3]);
        // It parts when nothing pushes any more: the overlap left over has no part in it.
        if (x <= 0.0 || (v < 0.0 && force_at(x, v, alpha, beta, damping) <= 0.0)) return -v;
    }
    return 0.0;
}

double dem_law_damping(DemNormal normal, double restitution)
{
    if (restitution >= 1.0) return 0.0;
    double low = 0.0, high = 16.0; // restitution falls with damping; below 0.02 at the upper end, for all laws
    for (int i = 0; i < 48; i++) {
        double middle = 0.5 * (low + high);
        if (dem_law_restitution(normal, middle) > restitution)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

// --- choosing -----------------------------------------------------------------------------------

static GrainResult find_name(const char *what, const char *wanted, const char *const *names, int *out)
{
    *out = 0;
    if (!wanted) return GRAIN_OK;
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], wanted) == 0) return *out = i, GRAIN_OK;
    char list[160] = "";
    for (int i = 0; names[i]; i++) {
        if (i) strcat(list, ", ");
        strcat(list, names[i]);
    }
    return fail(GRAIN_ERROR_ARGUMENT, "there is no %s '%.40s'; allowed are %s", what, wanted, list);
}

SimMaterial dem_material(const SimDef *def, int material)
{
    if (material > 0) return def->more_materials[material - 1];
    return (SimMaterial){def->density,  def->friction,      def->rolling_friction, def->restitution,
                         def->cohesion, def->young_modulus, def->poisson_ratio};
}

static float geometric_mean(float a, float b) { return (float)sqrt((double)a * (double)b); }

// E_eff of Bell 2005, eq. 14. Without a modulus, it is chosen so that the fastest expected impact sinks in by softness.
static double effective_modulus(const SimDef *def, const SimMaterial *a, const SimMaterial *b)
{
    if (a->young_modulus > 0.0f && b->young_modulus > 0.0f)
        return 1.0 / ((1.0 - (double)a->poisson_ratio * (double)a->poisson_ratio) / (double)a->young_modulus +
                      (1.0 - (double)b->poisson_ratio * (double)b->poisson_ratio) / (double)b->young_modulus);
    // Deepest overlap of an undamped collision of two alike: (15 m v2 / (16 E sqrt(R)))^(2/5), solved for E; radii
    // cancel.
    double mass = 2.0 / 3.0 * M_PI * sqrt((double)a->density * (double)b->density);
    double speed = real_max((double)def->expected_speed, 1e-3);
    return 15.0 * mass * speed * speed / (16.0 * sqrt(0.5) * real_pow((double)def->softness, 2.5));
}

// Length (over radius) and duration of a collision of two grains of one size, undamped, at the expected speed.
static void scales(const SimDef *def, const SimMaterial *a, const SimMaterial *b, double *depth, double *unit_length)
{
    double mass = 2.0 / 3.0 * M_PI * sqrt((double)a->density * (double)b->density),
           modulus = effective_modulus(def, a, b);
    double speed = real_max((double)def->expected_speed, 1e-3);
    // k_r = 4/3 E sqrt(R); the length in which eq. 7 has no numbers left but the damping is (m v2 / k_r)^(2/5).
    *unit_length = real_pow(mass * speed * speed / (4.0 / 3.0 * modulus * sqrt(0.5)), 0.4);
    *depth = real_pow(1.25, 0.4) * *unit_length;
}

// radius: the one that softness is meant for.
static DemMix mix_of(const SimDef *def, DemNormal normal, const SimMaterial *a, const SimMaterial *b, float radius)
{
    DemMix mix = {.rolling_friction = geometric_mean(a->rolling_friction, b->rolling_friction)};
    double restitution = (double)geometric_mean(a->restitution, b->restitution);
    double damping = dem_law_damping(normal, restitution), speed = real_max((double)def->expected_speed, 1e-3);
    if (normal == DEM_NORMAL_LINEAR) {
        // As long as an undamped impact at the fastest expected speed needs to sink in by softness: v t / pi.
        double frequency = speed / ((double)def->softness * (double)radius);
        mix.stiffness = (float)(frequency * frequency);
        mix.damping = (float)(damping * frequency);
        return mix;
    }
    double depth, unit_length;
    scales(def, a, b, &depth, &unit_length);
    double unit_seconds = unit_length * (double)radius / speed;
    mix.stiffness = (float)(4.0 / 3.0 * effective_modulus(def, a, b));
    mix.damping = (float)(normal == DEM_NORMAL_HERTZ         ? damping * unit_seconds
                          : normal == DEM_NORMAL_HERTZ_TSUJI ? damping
                                                             : damping / unit_seconds);
    return mix;
}

static double contact_seconds(const SimDef *def, DemNormal normal, int material_count, float smallest_radius,
                              float reference_radius)
{
    double speed = real_max((double)def->expected_speed, 1e-3);
    if (normal == DEM_NORMAL_LINEAR) return M_PI * (double)def->softness * (double)reference_radius / speed;
    double shortest = INFINITY;
    for (int m = 0; m < material_count; m++) {
        SimMaterial material = dem_material(def, m);
        double depth, unit_length;
        scales(def, &material, &material, &depth, &unit_length);
        shortest = real_min(shortest, HERTZ_DURATION * depth * (double)smallest_radius / speed);
    }
    return shortest;
}

static void choose_mixes(const SimDef *def, float radius, DemLaw *law, DemMixes *mixes)
{
    for (int a = 0; a < law->material_count; a++)
        for (int b = 0; b < law->material_count; b++) {
            SimMaterial first = dem_material(def, a), second = dem_material(def, b);
            DemMix *mix = &mixes->mix[a * DEM_MAX_MATERIALS + b];
            *mix = mix_of(def, law->normal, &first, &second, radius);
            law->resists_rolling |= mix->rolling_friction > 0.0f;
        }
    SimSteering start = {0};
    for (int i = 0; i < law->material_count; i++) {
        SimMaterial material = dem_material(def, i);
        start.friction[i] = material.friction, start.cohesion[i] = material.cohesion;
    }
    dem_law_steer(law, mixes, &start);
}

void dem_law_steer(DemLaw *law, DemMixes *mixes, const SimSteering *now)
{
    law->is_cohesive = 0;
    for (int a = 0; a < law->material_count; a++)
        for (int b = 0; b < law->material_count; b++) {
            DemMix *mix = &mixes->mix[a * DEM_MAX_MATERIALS + b];
            mix->friction = geometric_mean(now->friction[a], now->friction[b]);
            // Of effective mass, which is half a grain's.
            mix->cohesion = (float)(2.0 * (double)geometric_mean(now->cohesion[a], now->cohesion[b]) * law->weight);
            law->is_cohesive |= mix->cohesion > 0.0f;
        }
    law->first = mixes->mix[0];
}

GrainResult dem_law_choose(const SimDef *def, float smallest_radius, float largest_radius, DemLaw *law, DemMixes *mixes)
{
    int normal, shear;
    TRY(find_name("normal law", def->normal_law, dem_normal_names, &normal));
    TRY(find_name("shear law", def->shear_law, dem_shear_names, &shear));
    if (def->more_material_count + 1 > DEM_MAX_MATERIALS)
        return fail(GRAIN_ERROR_ARGUMENT, "%d kinds of grain; at most %d can be mixed", def->more_material_count + 1,
                    DEM_MAX_MATERIALS);
    *law = (DemLaw){.normal = (DemNormal)normal,
                    .shear = (DemShear)shear,
                    .material_count = def->more_material_count + 1,
                    .weight = vec3_length(def->gravity) > 0.0f ? (double)vec3_length(def->gravity) : 9.81,
                    .shear_stiffness = (float)LINEAR_SHEAR,
                    .shear_damping = (float)LINEAR_SHEAR,
                    .roll_stiffness = ROLL_STIFFNESS,
                    .roll_damping = ROLL_DAMPING};
    if (normal != DEM_NORMAL_LINEAR) {
        // Mindlin: 8 G_eff sqrt(R overlap) against 2 E_eff sqrt(R overlap), which is 3/2 k; damped to the same degree.
        double poisson = (double)def->poisson_ratio, ratio = 3.0 * (1.0 - poisson) / (2.0 - poisson);
        law->shear_stiffness = (float)ratio;
        law->shear_damping = (float)sqrt(ratio / 1.5 * LINEAR_SHEAR);
    }
    // All contacts of the linear law last equally long, so the fastest impact sinks all balls in equally far: by
    // softness for the middle one of the usual spreads, and by no more than twice that for the smallest.
    float reference = real_minf(sqrtf(smallest_radius * largest_radius), 2.0f * smallest_radius);
    choose_mixes(def, reference, law, mixes);
    law->contact_seconds = (float)contact_seconds(def, law->normal, law->material_count, smallest_radius, reference);
    return GRAIN_OK;
}

void dem_law_soften_sliding(DemLaw *law, double seconds) { law->viscosity = (float)(SLIDE_STOP / seconds); }

void dem_law_for_step(DemLaw *law, DemMixes *mixes, double seconds)
{
    dem_law_soften_sliding(law, seconds);
    if (law->normal != DEM_NORMAL_LINEAR) return; // depends on the overlap: the kernel does it
    for (int a = 0; a < law->material_count; a++)
        for (int b = 0; b < law->material_count; b++) {
            DemMix *mix = &mixes->mix[a * DEM_MAX_MATERIALS + b];
            float part = (float)(1.0 / (1.0 + 0.5 * seconds * (double)mix->damping));
            mix->stiffness *= part;
            mix->damping *= part;
        }
    law->first = mixes->mix[0];
}
