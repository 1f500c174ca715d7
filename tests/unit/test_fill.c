// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/cell_grid.h"
#include "fill/fill.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
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
    int moving = particles.velocity[particles.count - 1].y == 2.0f;
    particles_free(&particles);
    grain_sdf_destroy(box);
    ENSURE_OK(result);
    ENSURE(worst.deepest <= 1e-6f && moving);
    // The trilinear field is exact on flat faces away from the corners; there it is off by a fraction of a voxel.
    ENSURE(worst.outside <= 0.005f);
}

// Centres keep a radius away from the walls: (1 - 2 r)^3 of the estimate. Where the lattice ends within that room is
// chance, so it is the mean over twelve radii; each may be half a layer of some ten off along one axis, which leaves
// 5 % / sqrt(12) of the mean; two of those.
TEST(boxes_get_as_many_as_was_estimated)
{
    enum { RADII = 12 };
    double sum = 0.0;
    GrainSdf *box;
    Run run;
    ENSURE_OK(run_begin(&run, NULL));
    ENSURE_OK(make_box(0.05f, &box));
    for (int k = 0; k < RADII; k++) {
        Particles particles = {0};
        FillDef def = {.inside = box, .radius = 0.035f + 0.0015f * (float)k, .size_spread = 0.2f, .seed = 4};
        double room = pow(1.0 - 2.0 * (double)def.radius, 3.0);
        ENSURE_OK(fill_volume(&particles, &def, &run));
        sum += (double)particles.count / (room * fill_estimate(&unit_box, def.radius, def.size_spread));
        particles_free(&particles);
    }
    grain_sdf_destroy(box);
    printf("# %.3f of the estimate\n", sum / RADII);
    ENSURE_NEAR(sum / RADII, 1.0, 0.03);
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

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// Different heights among the particles, to a hundredth of a radius.
static int64_t count_heights(const Particles *p)
{
    float *height = ALLOC(float, p->count);
    int64_t different = height ? 1 : 0;
    for (int64_t i = 0; height && i < p->count; i++) height[i] = floorf(100.0f * p->position[i].z / p->radius[i]);
    if (height) qsort(height, (size_t)p->count, sizeof *height, compare_floats);
    for (int64_t i = 1; height && i < p->count; i++) different += height[i] != height[i - 1];
    alloc_free(height);
    return different;
}

// As many as unshaken, still inside, none closer to another than two ways of half a radius bring them, and in
// no layers: the lattice has a dozen, each of two heights at most as it is moved by less than a hundredth of a radius.
// Only beside the walls some stay where they were: half of the ways lead out.
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
    int64_t even_heights = count_heights(&even), heights = count_heights(&shaken);
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
    // A way is within a cube of half side 0.5 r, so the diagonals of two are the most that neighbours can meet by.
    ENSURE(worst.deepest > 0.0f && worst.deepest < 2.0f * 0.5f * def.radius * 1.7321f);
    printf("# of %lld particles %lld stayed; %lld heights, %lld when shaken; they meet by %.2f radii\n",
           (long long)count, (long long)stayed, (long long)even_heights, (long long)heights,
           (double)(worst.deepest / def.radius));
    ENSURE(even_heights < 30);
    ENSURE(heights > 500); // of 1700: shaken layers of 1.6 radii, one to a radius, leave no gaps
    ENSURE(stayed < count / 4);
}
