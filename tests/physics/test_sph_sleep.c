// SPDX-License-Identifier: GPL-3.0-or-later
// Sand at rest sleeps and wakes in time, without a change that is seen, and with the same bits for any number of
// threads and after stop and resume.
#include "base/alloc.h"
#include "base/error.h"
#include "shared/sand_scene.h"
#include "sim/sph/sph.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

#define RADIUS 0.02f
#define PUSH_FROM 1.0 // s: when the box begins to push

static int64_t asleep_in(const SandScene *scene)
{
    SimStats stats;
    sph_solver.measure(scene->sim.state, &stats);
    return stats.asleep;
}

static int in_cone(const void *user, Vec3 place)
{
    return place.z + *(const float *)user * hypotf(place.x, place.y) < 0.32f;
}

// A cone that slumps into a heap, all of which sleeps after a second; beside it a box that stands before it pushes.
static GrainResult start_cone(SandScene *scene, int may_sleep, int threads)
{
    float slope = 1.0f;
    int number;
    sand_begin(scene, "sph", RADIUS, 30.0f);
    scene->def.may_sleep = may_sleep;
    sand_expect_fall(scene, 0.35f);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 1.0f);
    TRY(sand_add_prop(scene, shape_box(-0.8f, -0.1f, 0.0f, -0.6f, 0.1f, 0.2f), 0.4f, &number));
    float *poses = sand_add_poses(scene, number, vec3(0, 0, 0), 8, 0.25);
    if (!poses) return GRAIN_ERROR_MEMORY;
    for (int k = 0; k < 8; k++) poses[7 * k] = (float)fmax(0.0, 0.8 * (0.25 * k - PUSH_FROM));
    TRY(sand_fill_box(scene, vec3(-0.35f, -0.35f, 0), vec3(0.35f, 0.35f, 0.35f), in_cone, &slope));
    return sand_create(scene, threads);
}

// What sleeps is not worked on, stands where it would have come to rest, and wakes when it is pushed.
TEST(sph_heap_sleeps_where_it_would_rest)
{
    SandScene sleeping, awake;
    ENSURE_OK(start_cone(&sleeping, 1, 1));
    ENSURE_OK(start_cone(&awake, 0, 1));
    ENSURE_OK(sand_run(&sleeping, PUSH_FROM));
    ENSURE_OK(sand_run(&awake, PUSH_FROM));
    const Sph *sph = sleeping.sim.state;
    double sum = 0.0, most = 0.0;
    for (int64_t i = 0; i < sph->neighbours.count; i++) {
        Vec3 way = vec3_sub(sleeping.now.position[i], awake.now.position[i]);
        double gone = (double)(vec3_length(way) / sand_spacing(&sleeping));
        sum += gone, most = fmax(most, gone);
    }
    printf(
        "# %lld of %lld sleep, %lld of %lld blocks are worked on; %.4f spacings from where they rest, %.3f at most\n",
        (long long)asleep_in(&sleeping), (long long)sph->neighbours.count, (long long)sph->active_count,
        (long long)sph->neighbours.block_count, sum / (double)sph->neighbours.count, most);
    ENSURE(sph->neighbours.count > 500 && asleep_in(&sleeping) == sph->neighbours.count && sph->active_count == 0);
    ENSURE(asleep_in(&awake) == 0);
    ENSURE(sum < 0.01 * (double)sph->neighbours
                            .count); // what a particle goes in a quarter of a second when it is just slow: 0.035
    Particles before = {0};
    ENSURE_OK(sph_solver.read(sph, &before));
    ENSURE_OK(sand_run(&sleeping, 0.7)); // the box comes half a metre nearer
    int64_t pushed = 0;
    for (int64_t i = 0; i < sph->neighbours.count; i++)
        pushed += vec3_length(vec3_sub(sleeping.now.position[i], before.position[i])) > RADIUS;
    printf("# %lld pushed, %lld sleep on\n", (long long)pushed, (long long)asleep_in(&sleeping));
    ENSURE(pushed > sph->neighbours.count / 5 && asleep_in(&sleeping) < sph->neighbours.count);
    double front = sand_object(&sleeping, 1)->now.position.x - 0.6;
    for (int64_t i = 0; i < sph->neighbours.count; i++) { // nobody slept inside the box
        Vec3 p = sleeping.now.position[i];
        ENSURE(!((double)p.x > front - 0.2 && (double)p.x < front && fabsf(p.y) < 0.1f && p.z < 0.2f));
    }
    particles_free(&before);
    sand_end(&sleeping);
    sand_end(&awake);
}

static int same_state(const Sph *a, const Sph *b)
{
    return a->neighbours.count == b->neighbours.count &&
           memcmp(a->neighbours.fields, b->neighbours.fields,
                  (size_t)(SPH_FIELDS * a->neighbours.room) * sizeof(float)) == 0 &&
           memcmp(a->neighbours.id, b->neighbours.id, (size_t)a->neighbours.count * sizeof *a->neighbours.id) == 0;
}

MARKED_TEST(sph_sleep_any_number_of_threads, TEST_THREADS)
{
    SandScene one, more;
    ENSURE_OK(start_cone(&one, 1, 1));
    ENSURE_OK(sand_run(&one, 1.4)); // all asleep, and woken again
    for (int threads = 2; threads <= 3; threads++) {
        ENSURE_OK(start_cone(&more, 1, threads));
        ENSURE_OK(sand_run(&more, 1.4));
        ENSURE(same_state(one.sim.state, more.sim.state));
        sand_end(&more);
    }
    sand_end(&one);
}

// Saved while some sleep, while all do, and after some have woken: between two sorts, so that what was not worked on
// for long is worked on again.
TEST(sph_sleep_goes_on_from_what_was_saved)
{
    static const int saved_at[] = {420, 550, 800, 1050, 1200};
    SandScene whole, other;
    Column columns[SOLVER_MAX_COLUMNS];
    ENSURE_OK(start_cone(&whole, 1, 1));
    double seconds = 1e-3;
    int taken = 0, partly = 0;
    for (size_t k = 0; k < sizeof saved_at / sizeof *saved_at; k++) {
        for (; taken < saved_at[k]; taken++) ENSURE_OK(sph_solver.step(whole.sim.state, seconds));
        int64_t asleep = asleep_in(&whole);
        partly += asleep > 0 && asleep < whole.start.count;
        ENSURE_OK(start_cone(&other, 1, 2));
        int count = sph_solver.save(whole.sim.state, columns);
        ENSURE_OK(sph_solver.load(other.sim.state, columns, count));
        for (int i = 0; i < 100; i++) {
            ENSURE_OK(sph_solver.step(whole.sim.state, seconds));
            ENSURE_OK(sph_solver.step(other.sim.state, seconds));
        }
        taken += 100;
        ENSURE(same_state(whole.sim.state, other.sim.state));
        sand_end(&other);
    }
    ENSURE(partly >= 2);
    sand_end(&whole);
}

// A bed in a box: what falls on it wakes it there, and all sleep again.
TEST(sph_bed_wakes_where_a_lump_falls)
{
    SandScene scene;
    const float half = 0.3f;
    sand_begin(&scene, "sph", RADIUS, 30.0f);
    scene.def.may_sleep = 1;
    sand_expect_fall(&scene, 0.5f);
    sand_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    for (int i = 0; i < 4; i++) {
        Vec3 side = {i == 0 ? 1.0f : i == 1 ? -1.0f : 0.0f, i == 2 ? 1.0f : i == 3 ? -1.0f : 0.0f, 0.0f};
        sand_add_plane(&scene, vec3_scale(side, -half), side, 0.3f);
    }
    ENSURE_OK(sand_fill_box(&scene, vec3(-half, -half, 0), vec3(half, half, 0.16f), NULL, NULL));
    int64_t bed = scene.start.count;
    ENSURE_OK(sand_fill_box(&scene, vec3(-0.25f, -0.25f, 0.3f), vec3(-0.13f, -0.13f, 0.4f), NULL, NULL));
    for (int64_t i = bed; i < scene.start.count; i++) scene.start.velocity[i] = vec3(0, 0, 4.5f); // back after 0.95 s
    ENSURE_OK(sand_create(&scene, 1));
    ENSURE_OK(sand_run(&scene, 0.9));
    int64_t before = asleep_in(&scene);
    ENSURE_OK(sand_run(&scene, 0.15));
    int64_t woken = before - asleep_in(&scene);
    ENSURE_OK(sand_run(&scene, 1.2));
    printf("# %lld of %lld sleep, %lld wake below the lump, %lld of %lld sleep after it\n", (long long)before,
           (long long)bed, (long long)woken, (long long)asleep_in(&scene), (long long)scene.start.count);
    ENSURE(before > 0.99 * (double)bed && before <= bed); // what flies is awake
    ENSURE(woken > bed / 20);
    ENSURE(asleep_in(&scene) == scene.start.count);
    sand_end(&scene);
}

// What lay on particles that are taken away wakes and falls.
TEST(sph_sleepers_wake_when_what_they_lie_on_goes)
{
    SandScene scene;
    ENSURE_OK(start_cone(&scene, 1, 1));
    ENSURE_OK(sand_run(&scene, PUSH_FROM));
    Sph *sph = scene.sim.state;
    ENSURE(asleep_in(&scene) == sph->neighbours.count);
    double top = -1.0, later = -1.0;
    uint8_t *gone = ALLOC_ZEROED(uint8_t, sph->neighbours.count);
    for (int64_t i = 0; i < sph->neighbours.count; i++) {
        Vec3 p = scene.now.position[i];
        gone[i] = hypotf(p.x, p.y) < 0.1f && p.z < 3.0f * RADIUS;
        if (!gone[i]) top = fmax(top, (double)p.z);
    }
    SimChange change = {.gone = gone};
    ENSURE_OK(sph_solver.change(sph, &change));
    for (int k = 0; k < 300; k++) ENSURE_OK(sph_solver.step(sph, sph_solver.largest_step(sph)));
    ENSURE_OK(sph_solver.read(sph, &scene.now));
    for (int64_t i = 0; i < scene.now.count; i++)
        if (!gone[i]) later = fmax(later, (double)scene.now.position[i].z);
    printf("# the top was %.3f m high, then %.3f\n", top, later);
    ENSURE(later < top - (double)RADIUS);
    alloc_free(gone);
    sand_end(&scene);
}
