// SPDX-License-Identifier: GPL-3.0-or-later
// What an emitter, a kill zone and force fields cost together: frames of 200,000 particles that flow, with and without
// them. At most 1.1 times as much processor time is the aim (`cost`).
//
// Both simulations run in the same process and take turns, frame by frame, so that a machine that slows down slows
// both. The additions are weak enough to leave the sand as it is: a breeze of a two-hundredth of gravity, a thin
// stream, and a zone that takes what has spread farthest. Nothing falls from higher than the sand itself: steps follow
// from the fastest impact, and shorter ones would cost more than what is measured here.
#include "base/error.h"
#include "bench/bench.h"
#include "shared/meshes.h"
#include "shared/processor_clock.h"

#include <math.h>
#include <stdlib.h>

#define RADIUS 0.004
#define THREADS 2
enum { WARM = 2, FRAMES = 7 };

static GrainResult add(GrainScene *scene, GrainRole role, const char *name, Shape *shape, int32_t *object)
{
    GrainMesh mesh = shape_mesh(shape);
    GrainObjectDef def;
    GrainResult result = grain_object_def_default(&def, sizeof def);
    def.role = role, def.name = name, def.mesh = &mesh;
    if (result == GRAIN_OK) result = grain_scene_add(scene, &def, object);
    shape_free(shape);
    return result;
}

// A block of sand that collapses on a floor.
static GrainResult make_sand(GrainScene *scene, const char *solver)
{
    Shape block = shape_box(-0.25f, -0.25f, 0.005f, 0.25f, 0.25f, 0.55f);
    GrainObjectDef floor;
    TRY(grain_scene_set_text(scene, GRAIN_SCENE, "solver.type", solver));
    TRY(grain_scene_set_number(scene, GRAIN_SCENE, "solver.particle_radius", RADIUS));
    TRY(grain_object_def_default(&floor, sizeof floor));
    floor.role = GRAIN_ROLE_COLLIDER, floor.name = "Floor";
    TRY(grain_scene_add(scene, &floor, NULL));
    return add(scene, GRAIN_ROLE_SOURCE, "Sand", &block, NULL);
}

static GrainResult make_additions(GrainScene *scene)
{
    static const float pose[7] = {0, 0, 1, 1, 0, 0, 0};
    Shape tap = shape_box(0.3f, -0.05f, 0.4f, 0.4f, 0.05f, 0.5f);
    Shape drain = shape_box(0.4f, -1.0f, -0.1f, 1.0f, 1.0f, 0.2f);
    int32_t emitter, field;
    TRY(add(scene, GRAIN_ROLE_EMITTER, "Tap", &tap, &emitter));
    TRY(grain_scene_set_number(scene, emitter, "rate", 2400));
    TRY(add(scene, GRAIN_ROLE_KILL_ZONE, "Drain", &drain, NULL));
    for (int i = 0; i < 2; i++) {
        GrainObjectDef def;
        TRY(grain_object_def_default(&def, sizeof def));
        def.role = GRAIN_ROLE_FIELD, def.name = i ? "Gusts" : "Breeze", def.poses = pose, def.pose_count = 1;
        TRY(grain_scene_add(scene, &def, &field));
        TRY(grain_scene_set_text(scene, field, "type", i ? "turbulence" : "wind"));
        TRY(grain_scene_set_number(scene, field, "strength", 0.05));
    }
    return GRAIN_OK;
}

static GrainResult create(const char *solver, int has_additions, GrainScene **scene, GrainSim **sim)
{
    GrainRun run = {.struct_size = sizeof run, .thread_count = THREADS};
    TRY(grain_scene_create(scene));
    TRY(make_sand(*scene, solver));
    if (has_additions) TRY(make_additions(*scene));
    return grain_sim_create(*scene, &run, sim);
}

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

// s of processor time for each frame of both, in turns.
static GrainResult advance(GrainSim *const sim[2], double seconds[2][FRAMES])
{
    for (int frame = -WARM; frame < FRAMES; frame++)
        for (int k = 0; k < 2; k++) {
            double began = processor_seconds();
            TRY(grain_sim_advance(sim[k], NULL));
            if (frame >= 0) seconds[k][frame] = processor_seconds() - began;
        }
    return GRAIN_OK;
}

static GrainResult measure(const char *solver, double median[2], int64_t particles[2])
{
    GrainScene *scene[2] = {0};
    GrainSim *sim[2] = {0};
    double seconds[2][FRAMES];
    GrainResult result = GRAIN_OK;
    for (int k = 0; k < 2 && result == GRAIN_OK; k++) result = create(solver, k, &scene[k], &sim[k]);
    if (result == GRAIN_OK) result = advance(sim, seconds);
    for (int k = 0; k < 2 && result == GRAIN_OK; k++) {
        GrainFrameInfo info = {.struct_size = sizeof info};
        result = grain_frame_info(grain_sim_frame(sim[k]), &info);
        particles[k] = info.particles;
        qsort(seconds[k], FRAMES, sizeof(double), compare);
        median[k] = seconds[k][FRAMES / 2];
    }
    for (int k = 0; k < 2; k++) grain_sim_destroy(sim[k]), grain_scene_destroy(scene[k]);
    return result;
}

BENCH(emission)
{
    static const char *const solvers[] = {"mpm", "sph", "meso"};
    printf("%6s %10s %12s %12s %6s\n", "solver", "particles", "without, s", "with, s", "cost");
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        double median[2];
        int64_t particles[2];
        char figure[32];
        if (measure(solvers[i], median, particles) != GRAIN_OK) {
            printf("%6s: %s\n", solvers[i], grain_last_error());
            continue;
        }
        printf("%6s %10lld %12.2f %12.2f %6.3f\n", solvers[i], (long long)particles[0], median[0], median[1],
               median[1] / median[0]);
        fflush(stdout);
        snprintf(figure, sizeof figure, "%s_cost", solvers[i]);
        bench_figure(figure, median[1] / median[0]);
    }
}
