// SPDX-License-Identifier: GPL-3.0-or-later
// One particle of sand or mud in a field of motion that is given, as in a laboratory's shear box: what it bears.
#include "base/error.h"
#include "sim/mpm/mpm.h"
#include "sim/mpm/mpm_transfer.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

#define CELL 0.01f
#define GRAVITY 0.01f   // m/s2: so that a cell's weight (mpm_law.c) is nothing against the load
#define SOUND 8.0f      // m/s
#define STEP 1e-4f      // s
#define LIGHTLY 0.002f  // pressed, as logarithm of volume
#define HEAVILY 0.014f  // as below a tenth of a metre of sand in the tests of slopes
#define PLATE_RATE 1e3f // 1/s: the load is found within ten steps
#define FULL_MASS 1.0f
#define MIDDLE (1.5f * CELL)

typedef struct Element {
    MpmMaterials materials;
    MpmStep step;
    float pressed;                     // at the start, and by its load
    _Alignas(64) MpmParticle particle; // as vectors hold it
} Element;

static GrainResult start_element_of(Element *element, const char *law, float gravity, float degrees, float pressed,
                                    float plastic)
{
    memset(element, 0, sizeof *element);
    SimMaterial material = {.density = 2600.0f, .friction = tanf(degrees * 0.01745329f)};
    element->materials.count = 1;
    element->pressed = pressed;
    element->step = (MpmStep){
        .materials = &element->materials, .seconds = STEP, .inverse_cell = 1.0f / CELL, .full_mass = FULL_MASS};
    float stretch = expf(-2.0f / 3.0f * pressed);
    element->particle =
        (MpmParticle){.volume = CELL * CELL * CELL / 8.0f, .stretch = {stretch, stretch, stretch}, .plastic = plastic};
    TRY(mpm_material_choose(law, &material, SOUND, CELL, gravity, CELL / 3.6f, &element->materials.of[0]));
    element->particle.mass = mpm_mass_of(&element->materials, &element->particle);
    return GRAIN_OK;
}

// plastic: MpmParticle.plastic, -1 for firm sand, 0 for loosened sand.
static GrainResult start_element(Element *element, float degrees, float pressed, float plastic)
{
    return start_element_of(element, "sand", GRAVITY, degrees, pressed, plastic);
}

// Motion of all nodes that a particle in the middle sees. rate: the velocity's gradient, 1/s, rows first.
static void fill_tile(MpmMotion *tile, const float rate[3][3])
{
    memset(tile, 0, MPM_TILE_STRIDE * sizeof *tile);
    for (int node = 0; node < MPM_TILE_NODES; node++) {
        int at[3] = {node % MPM_TILE_SIDE - 1, node / MPM_TILE_SIDE % MPM_TILE_SIDE - 1,
                     node / (MPM_TILE_SIDE * MPM_TILE_SIDE) - 1};
        tile[node].mass = FULL_MASS;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) tile[node].velocity[r] += rate[r][c] * ((float)at[c] * CELL - MIDDLE);
    }
}

static double normal(const Element *element, int axis) { return -(double)element->particle.column[axis].stress; }

// Sheared along x under a load along z that stays: a plate lies on it. Held across. Degrees of the shear stress over
// the normal one in the end. rate: 1/s
static double shear(Element *element, float rate, double strain)
{
    const int32_t corner[4] = {0, 0, 0, 0};
    const MpmMaterial *material = &element->materials.of[0];
    double load = (double)(element->pressed * (material->lame + 2.0f / 3.0f * material->shear)),
           stiffness = (double)(material->lame + 2.0f * material->shear), angle = 0.0;
    _Alignas(64) MpmMotion tile[MPM_TILE_STRIDE];
    for (double time = 0.0; time < strain / (double)rate; time += (double)STEP) {
        float gives = time > 0.0 ? (float)((normal(element, 2) - load) / stiffness) * PLATE_RATE : 0.0f;
        fill_tile(tile, (const float[3][3]){{0, 0, rate}, {0, 0, 0}, {0, 0, gives}});
        for (int axis = 0; axis < 3; axis++) element->particle.position[axis] = MIDDLE;
        SIMD_CALL(mpm_gather)(&element->particle, 1, corner, tile, NULL, &element->step);
        angle = atan2((double)element->particle.shear_stress[1], normal(element, 2)) * 57.29578;
    }
    return angle;
}

static void check_shear(float plastic, double strain, double tolerance)
{
    for (float degrees = 20.0f; degrees < 46.0f; degrees += 5.0f) {
        Element element;
        ENSURE_OK(start_element(&element, degrees, LIGHTLY, plastic));
        double angle = shear(&element, 1.0f, strain);
        printf("# friction %.0f: bears %.2f, firm by %.2f\n", (double)degrees, angle,
               -(double)element.particle.plastic);
        ENSURE_NEAR(angle, (double)degrees, tolerance);
    }
}

// Half of it is still firm then. Half a degree, as the stress along the slope is still finding its place; where firm
// sand dilates across the slope as well, it is 38.5 for 40.
TEST(mpm_firm_sand_bears_its_friction_angle) { check_shear(-1.0f, 0.05, 0.5); }

// For as long as one likes: only the length of a step makes it inexact. Without double shearing it would be atan(sin
// a), 32.7 for 40.
TEST(mpm_loosened_sand_bears_its_friction_angle) { check_shear(0.0f, 0.5, 0.1); }

// What bears a load has to be sheared by several times its elastic strain until its stress has turned into the slope.
// It is still firm then: loosened by the same shear as sand that bears little, nothing of its firmness would be left,
// and deep layers would flow early.
TEST(mpm_sand_under_load_stays_firm_until_its_stress_has_turned)
{
    Element element;
    ENSURE_OK(start_element(&element, 45.0f, HEAVILY, -1.0f));
    double angle = shear(&element, 0.2f, 0.15); // as a slope creeps
    printf("# friction 45 under load: bears %.2f, firm by %.2f\n", angle, -(double)element.particle.plastic);
    ENSURE_NEAR(angle, 45.0, 1.0);
    ENSURE(-element.particle.plastic > 0.5f);
}

// Sheared until its stress has turned into the slope, then left alone for five seconds: it stays as it is. What the
// series of the law (mpm_law_sand.h) lose in each step adds up: ending at the third power they changed the stress by
// 0.9 of the load.
TEST(mpm_sand_at_rest_keeps_its_stress)
{
    const int32_t corner[4] = {0, 0, 0, 0};
    const float still[3][3] = {{0}};
    Element element;
    ENSURE_OK(start_element(&element, 45.0f, HEAVILY, -1.0f));
    shear(&element, 0.2f, 0.15);
    _Alignas(64) MpmMotion tile[MPM_TILE_STRIDE];
    fill_tile(tile, still);
    MpmParticle before = {0}; // once it stands
    for (int step = 0; step < 50000; step++) {
        SIMD_CALL(mpm_gather)(&element.particle, 1, corner, tile, NULL, &element.step);
        if (step == 0) before = element.particle;
    }
    double scale = (double)before.column[2].stress, largest = 0.0;
    for (int i = 0; i < 3; i++) {
        largest = fmax(largest, fabs((double)(element.particle.column[i].stress - before.column[i].stress) / scale));
        largest = fmax(largest, fabs((double)(element.particle.shear_stress[i] - before.shear_stress[i]) / scale));
    }
    printf("# sheared to %.1f degrees, the stress changes by %.1e in five seconds\n",
           atan2((double)before.shear_stress[1], -scale) * 57.29578, largest);
    ENSURE(largest < 1e-3); // roundings of floats
}

// A grain that lies alone and sleeps brings nothing to the nodes. Sand that comes near moves them, and it must wake.
TEST(mpm_grain_that_sleeps_alone_feels_sand_that_comes)
{
    const int32_t corner[4] = {0, 0, 0, 0};
    Element element;
    ENSURE_OK(start_element(&element, 30.0f, 0.0f, -1.0f));
    element.particle.mass = 0.0f;
    element.step.fall[2] = -GRAVITY * STEP;
    element.particle.pulled = GRAVITY * STEP;
    for (int axis = 0; axis < 3; axis++) element.particle.position[axis] = MIDDLE;
    _Alignas(64) MpmMotion tile[MPM_TILE_STRIDE];
    memset(tile, 0, sizeof tile);
    float more = SIMD_CALL(mpm_stronger_pull)(&element.particle, 1, corner, tile, NULL, &element.step);
    ENSURE(fabsf(more) < 1e-9f); // nobody is there
    for (int node = 0; node < MPM_TILE_NODES; node++) tile[node] = (MpmMotion){{1.0f, 0.0f, 0.0f}, FULL_MASS};
    more = SIMD_CALL(mpm_stronger_pull)(&element.particle, 1, corner, tile, NULL, &element.step);
    ENSURE_NEAR(more, 1.0, 1e-3);
}

// Pa: what mud bears along x that is sheared at this rate (1/s) until its stress has settled.
static double mud_bears(float rate, double strain, Element *element)
{
    if (start_element_of(element, "mud", 9.81f, 31.0f, LIGHTLY, 0.0f) != GRAIN_OK) return NAN;
    shear(element, rate, strain);
    return (double)element->particle.shear_stress[1];
}

// Bingham: elastic up to the yield stress, 20 radii of its own weight times friction, then more by viscosity times the
// rate. 1 %: normal stresses of the second order in the elastic strain, 0.02.
TEST(mpm_mud_yields_and_flows_as_bingham_says)
{
    Element element;
    double half = mud_bears(0.02f, 0.008, &element), shear_modulus = (double)element.materials.of[0].shear;
    double density = (double)element.materials.of[0].density;
    double yield = 20.0 * density * 9.81 * (double)CELL / 3.6 * tan(31.0 * 0.01745329);
    double viscosity = 0.5 * 0.05 * density * (double)SOUND * (double)CELL;
    double slow = mud_bears(1.0f, 0.5, &element), quick = mud_bears(41.0f, 4.0, &element);
    printf("# mud: %.1f Pa at a strain of 0.008, %.1f and %.1f flowing at 1 and 41 1/s; yield stress %.1f Pa\n", half,
           slow, quick, yield);
    ENSURE_NEAR(half, 0.008 * shear_modulus, 0.01 * half);
    ENSURE_NEAR(slow - viscosity, yield, 0.005 * yield);
    ENSURE_NEAR(quick - slow, 40.0 * viscosity, 0.01 * 40.0 * viscosity);
}
