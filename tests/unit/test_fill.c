// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/cell_grid.h"
#include "fill/fill.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

static const float box_points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1};
static const int32_t box_triangles[] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
static const GrainMesh unit_box = {box_points, box_triangles, 8, 12};

static GrainResult make_box(float voxel, GrainSdf **out)
{
    GrainSdfDef def;
    grain_sdf_def_default(&def, sizeof def);
    def.voxel_size = voxel;
    return grain_sdf_create(&unit_box, &def, NULL, out);
}

typedef struct Overlaps {
    float deepest, outside;
} Overlaps;

static Overlaps measure(const Particles *p)
{
    Overlaps worst = {0, 0};
    for (int64_t i = 0; i < p->count; i++) {
        Vec3 a = p->position[i];
        float r = p->radius[i];
        float low = fminf(fminf(a.x, a.y), a.z) - r, high = fmaxf(fmaxf(a.x, a.y), a.z) + r - 1.0f;
        worst.outside = fmaxf(worst.outside, fmaxf(-low, high));
        for (int64_t j = 0; j < i; j++)
            worst.deepest = fmaxf(worst.deepest, r + p->radius[j] - vec3_length(vec3_sub(a, p->position[j])));
    }
    return worst;
}

TEST(particles_fill_the_box_without_overlap)
{
    GrainSdf *box;
    Run run;
    ENSURE_OK(run_begin(&run, NULL));
    ENSURE_OK(make_box(0.05f, &box));
    Particles particles = {0};
    FillDef def = {.inside = box, .radius = 0.05f, .size_spread = 0.2f, .velocity = {1, 2, 3}, .seed = 4};
    GrainResult result = fill_volume(&particles, &def, &run);
    Overlaps worst = measure(&particles);
    double estimate = fill_estimate(&unit_box, def.radius, def.size_spread);
    int64_t count = particles.count;
    int moving = particles.velocity[count - 1].y == 2.0f;
    particles_free(&particles);
    grain_sdf_destroy(box);
    ENSURE_OK(result);
    ENSURE(worst.deepest <= 1e-6f && moving);
    // The trilinear field is exact on flat faces away from the corners; there it is off by a fraction of a voxel.
    ENSURE(worst.outside <= 0.005f);
    // The walls take half a spacing on each side: (1 - 0.12)^3 of the estimate, rounded to whole layers (10 %).
    ENSURE_NEAR((double)count / estimate, 0.68, 0.1);
}

TEST(nothing_is_put_into_what_is_to_be_avoided)
{
    GrainSdf *box;
    Run run;
    ENSURE_OK(run_begin(&run, NULL));
    ENSURE_OK(make_box(0.05f, &box));
    Particles particles = {0};
    const GrainSdf *avoid[] = {box};
    FillDef def = {.inside = box, .avoid = avoid, .avoid_count = 1, .radius = 0.05f};
    GrainResult result = fill_volume(&particles, &def, &run);
    particles_free(&particles);
    grain_sdf_destroy(box);
    ENSURE_FAILS(result, GRAIN_ERROR_MESH, "particle radius");
}

// As many as unshaken, still inside, none where another was, and no two heights alike: a lattice has some twenty.
TEST(shaken_particles_stand_in_no_rows)
{
    GrainSdf *box;
    Run run;
    ENSURE_OK(run_begin(&run, NULL));
    ENSURE_OK(make_box(0.05f, &box));
    Particles even = {0}, shaken = {0};
    FillDef def = {.inside = box, .radius = 0.04f, .seed = 4};
    GrainResult result = fill_volume(&even, &def, &run);
    def.shake = 0.5f;
    if (result == GRAIN_OK) result = fill_volume(&shaken, &def, &run);
    Overlaps worst = measure(&shaken);
    int64_t even_count = even.count, count = shaken.count, stayed = 0;
    float farthest = 0.0f;
    for (int64_t i = 0; result == GRAIN_OK && i < count && i < even_count; i++) {
        Vec3 way = vec3_sub(shaken.position[i], even.position[i]);
        farthest = fmaxf(farthest, fmaxf(fmaxf(fabsf(way.x), fabsf(way.y)), fabsf(way.z)));
        stayed += way.x == 0.0f && way.y == 0.0f && way.z == 0.0f;
    }
    particles_free(&even);
    particles_free(&shaken);
    grain_sdf_destroy(box);
    ENSURE_OK(result);
    ENSURE_EQUAL(count, even_count);
    ENSURE(worst.outside <= 0.004f && farthest <= 0.5f * def.radius * 1.001f);
    ENSURE(stayed < count / 4); // those beside the walls, for half of the ways
}
