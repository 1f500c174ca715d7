// SPDX-License-Identifier: GPL-3.0-or-later
// The transitions of the paper's figures 8 and 12: slopes and spreads that change in one direction as a number grows.
#include "grain/grain.h"
#include "shared/meso_scene.h"
#include "unit/test.h"

#include <math.h>

// K rising at one viscosity, both reaches the same (ip3): from a fluid to grains. The dam of meso_fluid_spreads_flat; a
// particle's weight presses it in by a fifth of its diameter at the least elasticity, by a thousandth at the most. The
// surface gets steeper from step to step, and at the end has left what a fluid may have, 3 degrees.
TEST(meso_elasticity_makes_grains_of_a_fluid)
{
    enum { STEPS = 4 };
    static const float elasticity[STEPS] = {1300, 5300, 27000, 270000};
    MesoSlope slope[STEPS];
    for (int i = 0; i < STEPS; i++) {
        SandScene scene;
        ENSURE_OK(meso_break_dam(&scene, (SimMesoNumbers){elasticity[i], 10, 1.0f, 1.0f}, 4.0, &slope[i]));
        printf("# %6.0f Pa: %.2f degrees, centre of mass at %.1f mm, run out %.3f m\n", (double)elasticity[i],
               slope[i].degrees, 1000.0 * slope[i].height, slope[i].run_out);
        sand_end(&scene);
    }
    for (int i = 1; i < STEPS; i++) ENSURE(slope[i].degrees > slope[i - 1].degrees);
    ENSURE(slope[0].degrees < 3.0);
    ENSURE(slope[STEPS - 1].degrees > 4.5);
}

static int in_cylinder(const void *user, Vec3 place) { return hypotf(place.x, place.y) < *(const float *)user; }

// Rs from 1 to 4 at the elasticity and viscosity of grains: from grains to cream. A cylinder collapses for 2 s: the
// farther viscosity reaches, the higher it still stands and the less it has spread.
TEST(meso_reach_makes_cream_of_grains)
{
    enum { STEPS = 4 };
    static const float ratio[STEPS] = {1.0f, 2.0f, 3.0f, 4.0f};
    double height[STEPS], away[STEPS];
    for (int i = 0; i < STEPS; i++) {
        SandScene scene;
        float radius = 0.08f;
        meso_begin(&scene, 0.01f, (SimMesoNumbers){27000, 20, 1.0f, ratio[i]});
        sand_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
        ENSURE_OK(
            meso_fill(&scene, vec3(-radius, -radius, 0), vec3(radius, radius, 2.0f * radius), in_cylinder, &radius));
        ENSURE_OK(sand_create(&scene, 1));
        ENSURE_OK(sand_run(&scene, 2.0));
        height[i] = away[i] = 0.0;
        for (int64_t k = 0; k < scene.now.count; k++) {
            Vec3 p = scene.now.position[k];
            height[i] += (double)p.z / (double)scene.now.count;
            away[i] += hypot((double)p.x, (double)p.y) / (double)scene.now.count;
        }
        printf("# Rs %.0f: centre of mass at %.1f mm, mean distance from the axis %.1f mm\n", (double)ratio[i],
               1000.0 * height[i], 1000.0 * away[i]);
        sand_end(&scene);
    }
    for (int i = 1; i < STEPS; i++) ENSURE(height[i] > height[i - 1] && away[i] < away[i - 1]);
    ENSURE(height[STEPS - 1] > 2.0 * height[0]);
}

// --- the map ----------------------------------------------------------------------------------------

typedef enum Zone { FLUID, DRY_SAND, DAMP_SAND, FOAM, CREAM, PASTE } Zone;
static const char *const zone_names[] = {"fluid", "dry sand", "damp sand", "foam", "cream", "paste"};

typedef struct Collapse {
    double early, late; // height of the centre of mass after 0.3 s and 2 s, over that at first
    double degrees;     // of the cone with that height and spread at the end
    double squeezed;    // how near the nearest neighbour is: part of the sum of radii that is overlapped
} Collapse;

static double height_of(const SandScene *scene, double *away)
{
    double height = 0.0, count = (double)scene->now.count;
    *away = 0.0;
    for (int64_t i = 0; i < scene->now.count; i++) {
        Vec3 p = scene->now.position[i];
        height += (double)p.z / count, *away += hypot((double)p.x, (double)p.y) / count;
    }
    return height;
}

static double squeezed_by(const SandScene *scene)
{
    double sum = 0.0;
    for (int64_t i = 0; i < scene->now.count; i++) {
        double nearest = INFINITY;
        for (int64_t j = 0; j < scene->now.count; j++) {
            float apart = vec3_length(vec3_sub(scene->now.position[i], scene->now.position[j]));
            if (i != j) nearest = fmin(nearest, (double)(apart / (scene->now.radius[i] + scene->now.radius[j])));
        }
        sum += (1.0 - nearest) / (double)scene->now.count;
    }
    return sum;
}

// The cylinder from above, of a material as the add-on's sliders give it: firmness is K times a diameter over the
// weight of a particle.
static GrainResult collapse(float firmness, float ratio, Collapse *out)
{
    const float radius = 0.08f, mean = 0.9f * 0.008f; // of a particle
    float weight = (float)meso_mass(2600.0f, mean) * 9.81f;
    double away;
    SandScene scene;
    meso_begin(&scene, 0.01f, (SimMesoNumbers){firmness * weight / (4.0f * mean * mean), 20, 1.0f, ratio});
    sand_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    GrainResult result =
        meso_fill(&scene, vec3(-radius, -radius, 0), vec3(radius, radius, 2.0f * radius), in_cylinder, &radius);
    if (result == GRAIN_OK) result = sand_create(&scene, 1);
    double first = height_of(&scene, &away);
    if (result == GRAIN_OK) result = sand_run(&scene, 0.3);
    out->early = height_of(&scene, &away) / first;
    if (result == GRAIN_OK) result = sand_run(&scene, 1.7);
    double last = height_of(&scene, &away);
    out->late = last / first;
    out->degrees = atan(2.0 * (last - 0.007) / away) * 57.29578; // centres of the lowest lie at 0.007 m
    out->squeezed = squeezed_by(&scene);
    sand_end(&scene);
    return result;
}

static Zone zone_of(const Collapse *c)
{
    if (c->degrees < 3.0) return FLUID;               // flat, as in meso_fluid_spreads_flat
    if (c->squeezed > 0.1) return FOAM;               // its own weight presses it in by a tenth
    if (c->early >= 0.5) return PASTE;                // still half as high when a fluid has come down
    if (c->early >= 1.6 * c->late) return CREAM;      // comes down slowly
    return c->degrees >= 10.0 ? DAMP_SAND : DRY_SAND; // at once; and stays up, or runs
}

// What the add-on's panel calls a material (addon/grain/scene/consistency.py) is what it does: two of each zone, one of
// them near its limit. docs/meso.md has all 112 that the limits are from.
TEST(meso_zones_are_where_the_map_has_them)
{
    static const struct {
        float firmness, ratio;
        Zone zone;
    } cases[] = {{20, 0.8f, FLUID},     {300, 0.9f, FLUID},     {20, 1.0f, DRY_SAND}, {100, 1.1f, DRY_SAND},
                 {20, 1.5f, DAMP_SAND}, {300, 1.2f, DAMP_SAND}, {5, 1.5f, FOAM},      {10, 2.6f, FOAM},
                 {20, 2.2f, CREAM},     {300, 2.0f, CREAM},     {20, 2.6f, PASTE},    {300, 2.4f, PASTE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Collapse result;
        ENSURE_OK(collapse(cases[i].firmness, cases[i].ratio, &result));
        Zone zone = zone_of(&result);
        printf("# firmness %3.0f, Rs %.1f: %.2f of its height after 0.3 s, %.2f after 2 s, %.1f degrees, squeezed by "
               "%.2f: %s\n",
               (double)cases[i].firmness, (double)cases[i].ratio, result.early, result.late, result.degrees,
               result.squeezed, zone_names[zone]);
        ENSURE(zone == cases[i].zone);
    }
}
