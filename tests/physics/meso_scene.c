#include "physics/meso_scene.h"
#include "base/error.h"
#include "base/rng.h"

// Of the radius: what the shaken lattice of sand_fill_box has room for.
#define FREE_RADIUS 0.8f
#define SIZES 0.2f

void meso_begin(SandScene *scene, float radius, MesoNumbers numbers)
{
    sand_begin(scene, "meso", radius, 0.0f);
    sand_expect_fall(scene, 20.0f * radius);
    scene->def.meso = meso_law_of(&numbers);
}

GrainResult meso_fill(SandScene *scene, Vec3 low, Vec3 high, SandFn *is_inside, const void *user)
{
    int64_t first = scene->start.count;
    TRY(sand_fill_box(scene, low, high, is_inside, user));
    for (int64_t i = first; i < scene->start.count; i++) {
        float part = rng_unit(rng_at(5, (uint64_t)i, RNG_STREAM_TEST, 0).word[0]);
        scene->start.radius[i] *= FREE_RADIUS * (1.0f - SIZES * part);
    }
    return GRAIN_OK;
}
