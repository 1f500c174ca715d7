// SPDX-License-Identifier: GPL-3.0-or-later
// Walls thinner than two cells: nothing gets through them, and what happens on one side is not felt on the other.
#include "base/error.h"
#include "shared/sand_scene.h"
#include "unit/test.h"

#include <math.h>

// A closed box of thin walls, shaken hard.
typedef struct Shaken {
    float radius;      // m, of the particles
    float thick_cells; // of the walls
    double seconds;
} Shaken;

#define INSIDE 0.06f // m: half the side of the room in the box
#define SHAKEN_SPEED 5.0
#define SWING 0.1 // m
#define SAMPLE_SECONDS 2e-3

static Shape hollow_box(float inside, float thickness)
{
    float outside = inside + thickness;
    Shape room = shape_box(-inside, -inside, -inside, inside, inside, inside);
    shape_turn_inside_out(&room);
    return shape_join(shape_box(-outside, -outside, -outside, outside, outside, outside), room);
}

// Along a slanting line at SHAKEN_SPEED in the middle of each swing, turning to and fro by a quarter of a turn.
static void shake(float *poses, int count)
{
    for (int k = 0; k < count; k++) {
        double phase = SHAKEN_SPEED / SWING * SAMPLE_SECONDS * k, turn = 0.4 * sin(0.37 * phase);
        const double along[3] = {0.6, 0.48, 0.64};
        for (int axis = 0; axis < 3; axis++) poses[7 * k + axis] = (float)(SWING * along[axis] * sin(phase));
        poses[7 * k + 3] = (float)cos(turn);
        poses[7 * k + 4] = (float)(0.6 * sin(turn));
        poses[7 * k + 6] = (float)(0.8 * sin(turn));
    }
}

static int64_t count_outside(const SandScene *scene, int box)
{
    const RigidObject *object = sand_object(scene, box);
    int64_t outside = 0;
    for (int64_t i = 0; i < scene->now.count; i++) {
        Vec3d at = rigid_to_rest(object, vec3d_from(scene->now.position[i]));
        outside += fmax(fmax(fabs(at.x), fabs(at.y)), fabs(at.z)) > (double)INSIDE;
    }
    return outside;
}

static GrainResult shake_box(SandScene *scene, const Shaken *shaken, int64_t *outside)
{
    int box, samples = (int)(shaken->seconds / SAMPLE_SECONDS) + 2;
    float cell = 3.6f * shaken->radius;
    scene->def.expected_speed = (float)SHAKEN_SPEED + 1.5f;
    TRY(sand_add_prop(scene, hollow_box(INSIDE, shaken->thick_cells * cell), 0.4f, &box));
    float *poses = sand_add_poses(scene, box, vec3(0, 0, 0), samples, SAMPLE_SECONDS);
    if (!poses) return GRAIN_ERROR_MEMORY;
    shake(poses, samples);
    TRY(sand_fill_box(scene, vec3(-INSIDE, -INSIDE, -INSIDE), vec3(INSIDE, INSIDE, 0), NULL, NULL));
    TRY(sand_create(scene, 1));
    for (double time = 0.0; time < shaken->seconds - 1e-9; time += 0.5) {
        TRY(sand_run(scene, 0.5));
        *outside = count_outside(scene, box);
        if (*outside > 0) break;
    }
    return GRAIN_OK;
}

static void check_shaken(Shaken shaken)
{
    SandScene scene;
    int64_t outside = 0;
    sand_begin(&scene, "mpm", shaken.radius, 31.0f);
    GrainResult result = shake_box(&scene, &shaken, &outside);
    int64_t count = scene.now.count;
    sand_end(&scene);
    ENSURE_OK(result);
    printf("# %lld particles, walls of %.2f cells: %lld got out\n", (long long)count, (double)shaken.thick_cells,
           (long long)outside);
    ENSURE_EQUAL(outside, 0);
}

// Two blocks of sand without weight on both sides of an upright plate without friction; the right one moves.
typedef struct Parted {
    float thick_cells;
    int is_prop; // the plate could move
    Vec3 velocity;
} Parted;

#define PARTED_RADIUS 0.005f
#define PARTED_SIDE 0.08f

// *felt: mean speed of the sand at rest, m/s. *kept: mean velocity of the other's. *nearest: m, the least distance of
// its centres from the plate.
static GrainResult part(SandScene *scene, const Parted *parted, double *felt, Vec3d *kept, double *nearest)
{
    int plate;
    float half = 0.5f * parted->thick_cells * 3.6f * PARTED_RADIUS, side = PARTED_SIDE, width = 0.5f * side;
    scene->def.gravity = vec3(0, 0, 0);
    scene->def.expected_speed = 2.0f;
    TRY(sand_add_prop(scene, shape_box(-half, -5.0f * side, -5.0f * side, half, 5.0f * side, 5.0f * side), 0.0f,
                      &plate));
    if (parted->is_prop && !sand_add_poses(scene, plate, vec3(0, 0, 0), 2, 1.0)) return GRAIN_ERROR_MEMORY;
    TRY(sand_fill_box(scene, vec3(-half - side, -width, -width), vec3(-half, width, width), NULL, NULL));
    int64_t left = scene->start.count;
    TRY(sand_fill_box(scene, vec3(half, -width, -width), vec3(half + side, width, width), NULL, NULL));
    for (int64_t i = left; i < scene->start.count; i++) scene->start.velocity[i] = parted->velocity;
    TRY(sand_create(scene, 1));
    TRY(sand_run(scene, 0.03));
    *felt = 0.0, *kept = vec3d(0, 0, 0), *nearest = INFINITY;
    for (int64_t i = 0; i < scene->now.count; i++) {
        Vec3 v = scene->now.velocity[i];
        if (i < left) {
            *felt += (double)vec3_length(v) / (double)left;
            continue;
        }
        *kept = vec3d_add(*kept, vec3d_scale(vec3d_from(v), 1.0 / (double)(scene->now.count - left)));
        *nearest = fmin(*nearest, (double)(scene->now.position[i].x - half));
    }
    return GRAIN_OK;
}

static void check_parted(Parted parted)
{
    SandScene scene;
    double felt = NAN, nearest = NAN;
    Vec3d kept = {NAN, NAN, NAN};
    sand_begin(&scene, "mpm", PARTED_RADIUS, 31.0f);
    GrainResult result = part(&scene, &parted, &felt, &kept, &nearest);
    sand_end(&scene);
    ENSURE_OK(result);
    printf("# %.2f cells%s, (%.0f %.0f %.0f) m/s: the other side moves at %.1e m/s, this one at (%.3f %.3f %.3f), "
           "%.2f radii from the plate\n",
           (double)parted.thick_cells, parted.is_prop ? ", a prop" : "", (double)parted.velocity.x,
           (double)parted.velocity.y, (double)parted.velocity.z, felt, kept.x, kept.y, kept.z,
           nearest / (double)PARTED_RADIUS);
    // Nothing but rounding gets through. Nothing holds what goes along the plate; what runs into it is stopped, a
    // radius away. After 0.03 s the 8 cm have 0.34 m/s left on the mean before a thin plate, 0.23 before a thick one;
    // with nodes that let 0.3 of the speed through, it is 0.37.
    ENSURE(felt < 1e-5);
    ENSURE_NEAR(kept.y, (double)parted.velocity.y, 1e-3);
    ENSURE(fabs(kept.z) < 1e-3);
    ENSURE(nearest > 0.99 * (double)PARTED_RADIUS);
    if (parted.velocity.x < 0.0f)
        ENSURE(kept.x > 0.355 * (double)parted.velocity.x && kept.x < 1e-3);
    else
        ENSURE_NEAR(kept.x, 0.0, 1e-3);
}

TEST(mpm_sand_does_not_feel_what_is_behind_a_plate)
{
    const float thick[3] = {0.1f, 0.6f, 1.5f};
    for (int i = 0; i < 3; i++)
        for (int is_prop = 0; is_prop < 2; is_prop++) {
            check_parted((Parted){thick[i], is_prop, {0.0f, 1.0f, 0.0f}});
            check_parted((Parted){thick[i], is_prop, {-1.0f, 0.0f, 0.0f}});
        }
}

TEST(mpm_shaken_box_of_half_a_cell_leaks_nothing) { check_shaken((Shaken){0.008f, 0.5f, 2.0}); }
TEST(mpm_shaken_box_of_an_eighth_of_a_cell_leaks_nothing) { check_shaken((Shaken){0.008f, 0.125f, 5.0}); }
HEAVY_TEST(mpm_fine_shaken_boxes_leak_nothing)
{
    const float thick[4] = {0.125f, 0.5f, 1.0f, 1.9f};
    for (int i = 0; i < 4; i++) check_shaken((Shaken){0.004f, thick[i], 5.0});
}
