// SPDX-License-Identifier: GPL-3.0-or-later
// Collapse, splash and rest, refined: grains do not clump, sink, or enter what they must not enter.
#include "base/alloc.h"
#include "grain/grain.h"
#include "shared/meshes.h"
#include "shared/upsample_scene.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

#define FRAME 0.04

// 1/m3, of a cubic packing: what a coarse particle's diameter stands for.
static double nominal_density(float radius) { return 0.125 / pow((double)radius, 3.0); }

// A column falls apart on a floor around a block; after 1.2 s it rests.
static GrainResult record_collapse(Recording *recording, float radius)
{
    DemScene scene;
    scene_begin(&scene, radius);
    scene.def.rolling_friction = 0.3f;
    scene.def.expected_speed = 1.5f;
    scene_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    Shape block = shape_box(0.16f, -0.04f, -0.02f, 0.22f, 0.04f, 0.03f);
    GrainMesh mesh = shape_mesh(&block);
    *recording = (Recording){.radius = radius};
    recording_add_plane(recording, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    GrainResult result = scene_add_mesh(&scene, &mesh, 0.6f);
    if (result == GRAIN_OK) result = recording_add_mesh(recording, &mesh, 0.6f);
    shape_free(&block);
    if (result == GRAIN_OK) result = scene_fill_cylinder(&scene, 0.0f, 0.2f, 0.13f, 0.1f, 0.1f);
    if (result == GRAIN_OK) result = scene_create(&scene, 2);
    if (result == GRAIN_OK) result = recording_make(recording, &scene, 31, FRAME);
    if (result == GRAIN_OK) recording_put_to_rest(recording);
    scene_end(&scene);
    return result;
}

// A block of sand falls into a bed at 3 m/s and throws it up.
static GrainResult record_splash(Recording *recording, float radius)
{
    DemScene scene;
    scene_begin(&scene, radius);
    scene.def.expected_speed = 3.5f;
    scene_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    *recording = (Recording){.radius = radius};
    recording_add_plane(recording, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    GrainResult result = scene_fill_box(&scene, vec3(-0.16f, -0.16f, 0), vec3(0.16f, 0.16f, 0.05f), 0.02f, 0.1f);
    int64_t bed = scene.start.count;
    if (result == GRAIN_OK)
        result = scene_fill_box(&scene, vec3(-0.05f, -0.05f, 0.06f), vec3(0.05f, 0.05f, 0.16f), 0.02f, 0.1f);
    for (int64_t i = bed; i < scene.start.count; i++) scene.start.velocity[i] = vec3(0, 0, -3.0f);
    if (result == GRAIN_OK) result = scene_create(&scene, 2);
    if (result == GRAIN_OK) result = recording_make(recording, &scene, 31, FRAME);
    if (result == GRAIN_OK) recording_put_to_rest(recording);
    scene_end(&scene);
    return result;
}

static double mean_height(const Grains *g)
{
    double sum = 0;
    for (int64_t i = 0; i < g->count; i++) sum += (double)g->position[i].z;
    return sum / (double)g->count;
}

static int64_t count_moving(const Grains *g)
{
    int64_t moving = 0;
    for (int64_t i = 0; i < g->count; i++) moving += vec3_dot(g->velocity[i], g->velocity[i]) != 0.0f;
    return moving;
}

// Centres below the floor, or in the block of the collapse, which the splash has not.
static int64_t count_inside(const Recording *r, const Grains *g)
{
    int64_t inside = 0;
    for (int64_t i = 0; i < g->count; i++) {
        Vec3 p = g->position[i];
        inside += p.z < 0.0f || (r->walls.count > 1 && p.x > 0.16f && p.x < 0.22f && fabsf(p.y) < 0.04f && p.z < 0.03f);
    }
    return inside;
}

// 500 grains to a particle, born in the resting heap, a hundred substeps later. The paper's scheme, measured here:
// sinks by half a radius.
TEST(what_rests_does_not_move)
{
    Recording r;
    ENSURE_OK(record_collapse(&r, 0.012f));
    UpsampleDef def = recording_def(&r, 500.0, UPSAMPLE_GATED);
    Grains born, later;
    ENSURE_OK(recording_refine(&r, &def, 30, 30, 0, &born));
    ENSURE_OK(recording_refine(&r, &def, 30, 30, 25, &later));
    double sink = (mean_height(&born) - mean_height(&later)) / (double)r.radius;
    ENSURE(fabs(sink) < 0.02);
    ENSURE(count_moving(&later) == 0);
    ENSURE(count_inside(&r, &born) == 0 && count_inside(&r, &later) == 0);
    ENSURE(grains_clumped(&later, &def, nominal_density(r.radius)) <=
           grains_clumped(&born, &def, nominal_density(r.radius)));
    grains_free(&born), grains_free(&later);
    recording_end(&r);
}

typedef struct Clumps {
    double born, carried; // shares of clumped grains: born in the last frame; born in the first and carried there
    int64_t moving, inside;
} Clumps;

static GrainResult measure_clumps(const Recording *r, UpsampleScheme scheme, Clumps *out)
{
    // With so few grains chance alone makes some cells twice as full as the mean, so there is something to compare
    // with.
    UpsampleDef def = recording_def(r, 10.0, scheme);
    Grains born = {0}, carried = {0};
    GrainResult result = recording_refine(r, &def, 30, 30, 0, &born);
    if (result == GRAIN_OK) result = recording_refine(r, &def, 0, 30, 13, &carried);
    if (result == GRAIN_OK)
        *out = (Clumps){grains_clumped(&born, &def, nominal_density(r->radius)),
                        grains_clumped(&carried, &def, nominal_density(r->radius)), count_moving(&carried),
                        count_inside(r, &carried)};
    grains_free(&born), grains_free(&carried);
    return result;
}

// Grains carried through the whole shot clump no more than grains born where it ended; the paper's do, by about nine
// times, which also shows that the figure can tell.
static void ensure_no_clumps(GrainResult (*record)(Recording *recording, float radius))
{
    Recording r;
    Clumps ours, paper;
    ENSURE_OK(record(&r, 0.009f));
    ENSURE_OK(measure_clumps(&r, UPSAMPLE_GATED, &ours));
    ENSURE_OK(measure_clumps(&r, UPSAMPLE_IHMSEN2013, &paper));
    ENSURE(ours.born > 0.005);
    ENSURE(ours.carried <= 1.3 * ours.born);
    ENSURE(ours.moving == 0 && ours.inside == 0);
    ENSURE(paper.carried > 4.0 * paper.born);
    recording_end(&r);
}

TEST(a_collapse_does_not_clump) { ensure_no_clumps(record_collapse); }

TEST(a_splash_does_not_clump) { ensure_no_clumps(record_splash); }
