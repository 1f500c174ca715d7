// The transitions of the paper's figures 8 and 12: slopes and spreads that change in one direction as a number grows.
#include "grain/grain.h"
#include "physics/meso_scene.h"
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
        ENSURE_OK(meso_break_dam(&scene, (MesoNumbers){elasticity[i], 10, 1.0f, 1.0f}, 4.0, &slope[i]));
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
        meso_begin(&scene, 0.01f, (MesoNumbers){27000, 20, 1.0f, ratio[i]});
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
