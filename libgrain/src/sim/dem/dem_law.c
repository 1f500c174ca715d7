#include "sim/dem/dem_law.h"

#include <math.h>

// Tangential over normal stiffness: between 2/3 and 1 for Mindlin's contact of real materials; 2/7 makes the two
// oscillations of a bouncing sphere equally long (Schaefer, Dippel, Wolf 1996, section 4.2), so that friction neither
// rings nor lags.
#define SHEAR_STIFFNESS (2.0f / 7.0f)
// The tangential spring moves 2/7 of the mass the normal one does, so it is as well damped with this.
#define SHEAR_DAMPING (2.0f / 7.0f)
// The rolling spring twists a moment of inertia of 2/5 m r2 by a lever of r/2 (effective radius): the same frequency.
#define ROLL_STIFFNESS (2.0f / 7.0f)
#define ROLL_DAMPING (2.0f / 7.0f)

// Restitution of a damped linear contact, zeta of critical damping, that ends when the force reaches zero (Schwager and
// Poeschel 2007, eq. 21 to 23): Bell's eq. 9 ends it when the overlap does, by which time damping pulls.
static double linear_restitution(double zeta)
{
    if (zeta <= 0.0) return 1.0;
    if (fabs(zeta - 1.0) < 1e-9) return exp(-2.0);
    if (zeta > 1.0) {
        double root = sqrt(zeta * zeta - 1.0);
        return exp(-zeta / root * log((zeta + root) / (zeta - root)));
    }
    double root = sqrt(1.0 - zeta * zeta);
    double angle = atan2(2.0 * zeta * root, 1.0 - 2.0 * zeta * zeta);
    return exp(-zeta / root * (M_PI - angle));
}

double dem_linear_damping_ratio(double restitution)
{
    double low = 0.0, high = 30.0; // restitution falls with zeta; at 30 it is below 1e-3
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        if (linear_restitution(middle) > restitution)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

GrainResult dem_law_choose(const SimDef *def, DemLaw *law)
{
    *law = (DemLaw){.shear = DEM_SHEAR_SPRING,
                    .shear_stiffness = SHEAR_STIFFNESS,
                    .shear_damping = SHEAR_DAMPING,
                    .friction = def->friction,
                    .rolling_friction = def->rolling_friction,
                    .roll_stiffness = ROLL_STIFFNESS,
                    .roll_damping = ROLL_DAMPING};
    // The contact lasts as long as an undamped impact at the fastest expected speed needs to sink in by softness:
    // v t / pi. Damped ones last about as long.
    double speed = fmax((double)def->expected_speed, 1e-3);
    double seconds = M_PI * (double)def->softness * (double)def->largest_radius / speed;
    double zeta = dem_linear_damping_ratio((double)def->restitution);
    double frequency = M_PI / seconds;
    law->stiffness = (float)(frequency * frequency);
    law->damping = (float)(2.0 * zeta * frequency);
    law->contact_seconds = (float)seconds;
    return GRAIN_OK;
}

DemLaw dem_law_for_step(const DemLaw *law, double seconds)
{
    DemLaw now = *law;
    float part = (float)(1.0 / (1.0 + 0.5 * seconds * (double)law->damping));
    now.stiffness *= part;
    now.damping *= part;
    return now;
}
