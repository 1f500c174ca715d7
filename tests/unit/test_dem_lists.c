// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of pairs: all that are near, each once, whatever the sizes.
#include "base/rng.h"
#include "grain/grain.h"
#include "shared/dem_scene.h"
#include "unit/test.h"

#include <math.h>

static GrainResult scatter(DemScene *scene, int count, float size_ratio)
{
    scene_begin(scene, 0.001f);
    float side = 0.1f;
    scene->def.largest_radius = 0.001f * size_ratio;
    for (int i = 0; i < count; i++) {
        Rng4 random = rng_at(9, (uint64_t)i, RNG_STREAM_TEST, 0);
        float radius = 0.001f * powf(size_ratio, rng_unit(random.word[3]));
        Vec3 at = {side * rng_unit(random.word[0]), side * rng_unit(random.word[1]), side * rng_unit(random.word[2])};
        Vec3 velocity = {rng_signed(random.word[2]), rng_signed(random.word[0]), rng_signed(random.word[1])};
        GrainResult result = particles_add(&scene->start, at, velocity, radius);
        if (result != GRAIN_OK) return result;
    }
    return scene_create(scene, 1);
}

static int is_listed(const DemPairs *pairs, int32_t a, int32_t b)
{
    for (int64_t pair = pairs->own[a]; pair < pairs->own[a + 1]; pair++)
        if (pairs->a[pair] == a && pairs->b[pair] == b) return 1;
    return 0;
}

TEST(every_pair_is_listed_once_for_any_sizes)
{
    static const float ratios[] = {1.0f, 2.0f, 5.0f, 10.0f, 40.0f};
    for (int r = 0; r < 5; r++) {
        DemScene scene;
        ENSURE_OK(scatter(&scene, 2500, ratios[r]));
        ENSURE_OK(dem_make_lists(scene.dem, 1e-5));
        const Dem *dem = scene.dem;
        if (ratios[r] >= 5.0f) ENSURE(dem->levels.count > 1);
        int64_t near = 0;
        for (int32_t a = 0; a < dem->count; a++)
            for (int32_t b = a + 1; b < dem->count; b++) {
                float dx = dem->x[a] - dem->x[b], dy = dem->y[a] - dem->y[b], dz = dem->z[a] - dem->z[b];
                float reach = dem->reach[a] + dem->reach[b];
                if (dx * dx + dy * dy + dz * dz >= reach * reach) continue;
                ENSURE(is_listed(&dem->pairs, a, b));
                near++;
            }
        ENSURE_EQUAL(dem->pairs.count, near);
        scene_end(&scene);
    }
}
