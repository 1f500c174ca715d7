// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/rng.h"
#include "base/simd.h"
#include "grain/grain.h"
#include "shared/meshes.h"
#include "unit/test.h"
#include "upsample/upsample_inside.h"

#include <math.h>
#include <string.h>

#define RADIUS 0.02f

typedef struct Lump {
    UpsampleCoarse frame[2];
    Vec3 *position, *later, *velocity;
} Lump;

// A jittered lattice of side^3 particles above z = 0 in a smooth flow, and a few that have flown off.
static void lump_begin(Lump *lump, int side, int strays)
{
    int64_t cube = (int64_t)side * side * side, count = cube + strays;
    lump->position = ALLOC(Vec3, count), lump->later = ALLOC(Vec3, count), lump->velocity = ALLOC(Vec3, count);
    for (int64_t i = 0; i < count; i++) {
        Rng4 r = rng_at(3, (uint64_t)i, RNG_STREAM_TEST, 0);
        Vec3 at = {(float)(i % side) + 0.5f, (float)(i / side % side) + 0.5f, (float)(i / side / side) + 0.5f};
        if (i >= cube)
            at = vec3(3.0f * (float)side * rng_unit(r.word[3]), -2.0f, (float)side * (1.0f + rng_unit(r.word[0])));
        at = vec3_add_scaled(at, vec3(rng_signed(r.word[0]), rng_signed(r.word[1]), rng_signed(r.word[2])), 0.15f);
        Vec3 p = lump->position[i] = vec3_scale(at, 2.0f * RADIUS);
        lump->velocity[i] =
            vec3(0.5f * sinf(5.0f * p.y), 0.3f * cosf(4.0f * p.z), 0.4f * sinf(6.0f * p.x) - (i >= cube));
        lump->later[i] = vec3_add_scaled(p, lump->velocity[i], 0.04f);
    }
    lump->frame[0] = (UpsampleCoarse){count, lump->position, lump->velocity, NULL};
    lump->frame[1] = (UpsampleCoarse){count, lump->later, lump->velocity, NULL};
}

static void lump_end(Lump *lump) { alloc_free(lump->position), alloc_free(lump->later), alloc_free(lump->velocity); }

static const UpsampleWalls *floor_at(void *user, double time)
{
    static const SimCollider floor = {.plane_normal = {0, 0, 1}, .friction = 0.6f};
    static const MotionFrame still = {0};
    static const UpsampleWalls walls = {1, &floor, &still, NULL, 9.81f};
    (void)user, (void)time;
    return &walls;
}

static UpsampleDef def_for(const Lump *lump, double per_particle)
{
    return (UpsampleDef){.coarse_radius = RADIUS,
                         .per_particle = per_particle,
                         .size_spread = 0.3f,
                         .substep = 0.01f,
                         .seed = 5,
                         .gravity = {.constant = {0, 0, -9.81f}, .components = 3},
                         .coarse_total = lump->frame[0].count,
                         .shard_count = 1,
                         .walls = floor_at};
}

typedef struct Grains {
    int64_t count;
    Vec3 *position, *velocity;
    float *radius;
    Quat *orientation;
    int64_t *id;
} Grains;

static Grains grains_of(Upsampler *upsampler)
{
    int64_t count = upsample_count(upsampler);
    Grains g = {
        count, ALLOC(Vec3, count), ALLOC(Vec3, count), ALLOC(float, count), ALLOC(Quat, count), ALLOC(int64_t, count)};
    upsample_order(upsampler);
    upsample_rows(upsampler, 0, count, &(UpsampleRows){g.position, g.velocity, g.radius, g.orientation, g.id, NULL});
    return g;
}

static void grains_free(Grains *g)
{
    alloc_free(g->position), alloc_free(g->velocity), alloc_free(g->radius), alloc_free(g->orientation),
        alloc_free(g->id);
}

static int same_grains(const Grains *a, const Grains *b, int64_t offset)
{
    size_t n = (size_t)b->count;
    return memcmp(a->position + offset, b->position, n * sizeof(Vec3)) == 0 &&
           memcmp(a->velocity + offset, b->velocity, n * sizeof(Vec3)) == 0 &&
           memcmp(a->radius + offset, b->radius, n * sizeof(float)) == 0 &&
           memcmp(a->orientation + offset, b->orientation, n * sizeof(Quat)) == 0 &&
           memcmp(a->id + offset, b->id, n * sizeof(int64_t)) == 0;
}

// From birth over `frames` frames back and forth between the two, 40 ms each.
static GrainResult run_frames(const UpsampleDef *def, const Lump *lump, int threads, int frames, Grains *out)
{
    Upsampler *upsampler;
    GrainResult result = upsample_create(def, threads, &upsampler);
    if (result != GRAIN_OK) return result;
    result = upsample_begin(upsampler, &lump->frame[0], 0.0);
    for (int i = 0; i < frames && result == GRAIN_OK; i++)
        result = upsample_advance(upsampler, &lump->frame[i % 2], &lump->frame[1 - i % 2], 0.04 * i, 0.04, NULL, NULL);
    if (result == GRAIN_OK) *out = grains_of(upsampler);
    upsample_destroy(upsampler);
    return result;
}

// --- the kernel -----------------------------------------------------------------------------------

typedef struct Reference {
    double v[3], alpha;
} Reference;

// Equations 23 to 25 with the gate, written down once more in double precision and without any grid or cells.
static Reference reference_velocity(const CoarseField *field, const StepNumbers *step, Vec3 p, Vec3 own)
{
    double sum = 0, most = 0, height = 0, v[3] = {0}, before[3] = {(double)own.x, (double)own.y, (double)own.z};
    double g[3] = {(double)step->gx, (double)step->gy, (double)step->gz};
    for (int64_t i = 0; i < field->count; i++) {
        const CoarseRecord *c = &field->records[i];
        double d[3] = {(double)p.x - (double)c->x, (double)p.y - (double)c->y, (double)p.z - (double)c->z};
        double q = 1.0 - (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / ((double)field->reach * (double)field->reach);
        if (q <= 0) continue;
        double w = q * q * q;
        sum += w, most = fmax(most, w), height += w * (double)c->z;
        v[0] += w * (double)c->vx, v[1] += w * (double)c->vy, v[2] += w * (double)c->vz;
    }
    for (int k = 0; k < 3; k++) v[k] = sum > 0 ? v[k] / sum : 0.0;
    Reference out = {.alpha = 0};
    if (step->scheme == UPSAMPLE_IHMSEN2013) {
        if (most >= 0.6 * sum || most <= (double)step->weight_at_radius) out.alpha = 1.0 - most;
        for (int k = 0; k < 3; k++) out.v[k] = (1 - out.alpha) * v[k] + out.alpha * (before[k] + g[k]);
        return out;
    }
    double above = sum > 0 ? height / sum - (double)p.z : 0.0;
    double hangs = (above - (double)step->hang_low) / ((double)step->hang_high - (double)step->hang_low);
    sum *= 1.0 - 0.8 * fmin(fmax(hangs, 0.0), 1.0);
    double t = fmin(fmax((sum - (double)step->flies) / ((double)step->is_sand - (double)step->flies), 0.0), 1.0);
    out.alpha = 1.0 - t * t * (3.0 - 2.0 * t);
    double u[3], length = 0, keep = out.alpha / (out.alpha + (1.0 - out.alpha) * (double)step->blend);
    for (int k = 0; k < 3; k++) u[k] = keep * (before[k] + g[k] - v[k]), length += u[k] * u[k];
    length = sqrt(length);
    double slowed = length > 0 ? fmax(1.0 - (double)step->friction * (1.0 - out.alpha) / length, 0.0) : 0.0;
    for (int k = 0; k < 3; k++) out.v[k] = v[k] + slowed * u[k];
    return out;
}

// Grains all over the lump and around it. The tolerance is float32's: some 40 terms of relative rounding 6e-8 make
// about 2e-6 of the speed; 1e-5 leaves room for the gate's slope, which is 3 at its steepest.
static void check_kernel(UpsampleScheme scheme)
{
    Lump lump;
    lump_begin(&lump, 12, 40);
    UpsampleDef def = def_for(&lump, 1.0);
    def.scheme = scheme;
    def.walls = NULL;
    Upsampler *u;
    ENSURE_OK(upsample_create(&def, 1, &u));
    ENSURE_OK(coarse_field_set(&u->field, &lump.frame[0], &lump.frame[1], 0.0, 0.04, 0.01, 0.01, RADIUS, 1));
    StepNumbers step = upsample_step_numbers(u, 0.01f);
    UpsampleScratch *scratch = u->scratch;
    int branch[3] = {0};
    double worst = 0;
    enum { COUNT = 100 };
    for (int block = 0; block < 40; block++) {
        float p[3][COUNT + 32], v[3][COUNT], start[3][COUNT], own[3][COUNT];
        for (int i = 0; i < COUNT; i++) {
            Rng4 r = rng_at(9, (uint64_t)(block * COUNT + i), RNG_STREAM_TEST, 1),
                 s = rng_at(9, r.word[3], RNG_STREAM_TEST, 2);
            const CoarseRecord *near = &u->field.records[r.word[3] % (uint32_t)u->field.count];
            float spread = 3.3f * RADIUS; // some beyond everybody's reach
            start[0][i] = p[0][i] = near->x + spread * rng_signed(r.word[0]);
            start[1][i] = p[1][i] = near->y + spread * rng_signed(r.word[1]);
            start[2][i] = p[2][i] = near->z + spread * rng_signed(r.word[2]);
            for (int k = 0; k < 3; k++) own[k][i] = v[k][i] = 0.5f * rng_signed(s.word[k]);
        }
        BlockBox box;
        SIMD_CALL(upsample_box)(p[0], p[1], p[2], COUNT, &box);
        int flags = scheme == UPSAMPLE_IHMSEN2013 ? SUM_PAPER : 0;
        upsample_block_sums(&u->field, NULL, &box, p[0], p[1], p[2], COUNT, flags, scratch);
        SIMD_CALL(upsample_sand)(p[0], p[1], p[2], COUNT, &step, &scratch->sums, NULL, scratch->sand);
        BlockGrains grains = {{p[0], p[1], p[2]}, {v[0], v[1], v[2]}, COUNT};
        SIMD_CALL(upsample_blend)(&grains, &step, &scratch->sums, NULL, scratch->sand, scratch->alpha);
        for (int i = 0; i < COUNT; i++) {
            Reference r = reference_velocity(&u->field, &step, vec3(start[0][i], start[1][i], start[2][i]),
                                             vec3(own[0][i], own[1][i], own[2][i]));
            branch[r.alpha == 0.0 ? 0 : r.alpha < 1.0 ? 1 : 2]++;
            // Where the paper's alpha jumps, rounding may take the other side.
            if (scheme == UPSAMPLE_IHMSEN2013 && fabs(r.alpha - (double)scratch->alpha[i]) > 1e-4) continue;
            for (int k = 0; k < 3; k++) {
                worst = fmax(worst, fabs(r.v[k] - (double)v[k][i]));
                ENSURE_NEAR((double)p[k][i], (double)start[k][i] + 0.01 * (double)v[k][i], 2e-7); // moved by it
            }
        }
    }
    upsample_destroy(u);
    lump_end(&lump);
    // In the sand, at its surface, in the air (where the paper's alpha is 1 only out of everybody's reach).
    ENSURE(branch[0] > 300 && branch[1] > 200 && branch[2] > (scheme == UPSAMPLE_GATED ? 100 : 5));
    ENSURE_NEAR(worst, 0.0, 1e-5); // of a speed scale of 1 m/s
}

TEST(kernel_equals_brute_force)
{
    for (SimdSet set = SIMD_BASE; set <= SIMD_AVX512; set++) {
        if (simd_limit(set) != set) continue;
        check_kernel(UPSAMPLE_GATED);
        check_kernel(UPSAMPLE_IHMSEN2013);
    }
    simd_limit(SIMD_AVX512);
}

// --- numbers --------------------------------------------------------------------------------------

TEST(every_grain_has_one_number_in_one_shard)
{
    const double per_particle[] = {1.0, 3.0, 7.0, 2.3, 0.4, 12.999};
    for (int k = 0; k < 6; k++) {
        int64_t total = 101, sum = 0;
        for (int shards = 1; shards <= 9; shards += 4) {
            sum = 0;
            for (int shard = 0; shard < shards; shard++) {
                UpsampleDef def = {.coarse_radius = 1,
                                   .per_particle = per_particle[k],
                                   .substep = 0.01f,
                                   .coarse_total = total,
                                   .shard = shard,
                                   .shard_count = shards};
                Upsampler *u;
                ENSURE_OK(upsample_create(&def, 1, &u));
                for (int64_t number = 0; number < u->capacity; number++) {
                    int64_t coarse, layer, back;
                    upsample_identity(u, number, &coarse, &layer);
                    ENSURE(coarse >= 0 && coarse < total && layer >= 0 && layer < u->layers);
                    ENSURE(upsample_number(u, coarse, layer, &back) && back == number);
                }
                for (int64_t coarse = 0; coarse <= total; coarse++) {
                    int64_t counted = 0, number;
                    for (int64_t c = 0; c < coarse; c++)
                        for (int64_t layer = 0; layer < u->layers; layer++)
                            counted += upsample_number(u, c, layer, &number);
                    ENSURE(counted == upsample_count_grains(&def, coarse));
                }
                sum += u->capacity;
                upsample_destroy(u);
            }
            ENSURE(sum == (int64_t)floor(per_particle[k] * (double)total));
        }
    }
}

// --- the same bits --------------------------------------------------------------------------------

static int shards_agree(const Lump *lump, double per_particle, int shards)
{
    Grains whole;
    UpsampleDef def = def_for(lump, per_particle);
    if (run_frames(&def, lump, 1, 5, &whole) != GRAIN_OK) return 0;
    int64_t offset = 0;
    int agree = 1;
    for (int shard = 0; shard < shards; shard++) {
        Grains part;
        def.shard = shard, def.shard_count = shards;
        if (run_frames(&def, lump, 1 + shard % 3, 5, &part) != GRAIN_OK) return 0;
        agree &= same_grains(&whole, &part, offset);
        offset += part.count;
        grains_free(&part);
    }
    agree &= offset == whole.count;
    grains_free(&whole);
    return agree;
}

TEST(any_split_into_shards_gives_the_same_grains)
{
    Lump lump;
    lump_begin(&lump, 8, 20);
    ENSURE(shards_agree(&lump, 20.0, 4));
    ENSURE(shards_agree(&lump, 20.0, 7));
    ENSURE(shards_agree(&lump, 3.7, 7));
    lump_end(&lump);
}

TEST(any_number_of_threads_and_any_instruction_set_gives_the_same_grains)
{
    Lump lump;
    lump_begin(&lump, 8, 20);
    UpsampleDef def = def_for(&lump, 30.0);
    Grains one, other;
    ENSURE_OK(run_frames(&def, &lump, 1, 5, &one));
    for (int threads = 2; threads <= 3; threads++) {
        ENSURE_OK(run_frames(&def, &lump, threads, 5, &other));
        ENSURE(other.count == one.count && same_grains(&one, &other, 0));
        grains_free(&other);
    }
    for (SimdSet set = SIMD_BASE; set < SIMD_AVX512; set++) {
        simd_limit(set);
        ENSURE_OK(run_frames(&def, &lump, 1, 5, &other));
        ENSURE(other.count == one.count && same_grains(&one, &other, 0));
        grains_free(&other);
    }
    simd_limit(SIMD_AVX512);
    grains_free(&one);
    lump_end(&lump);
}

#define MOST_PROPS 64

typedef struct Props {
    SimCollider colliders[MOST_PROPS];
    MotionFrame frames[MOST_PROPS];
    UpsampleWalls walls;
} Props;

static const UpsampleWalls *props_at(void *user, double time)
{
    Props *props = user;
    (void)time;
    props->walls.collider = props->colliders, props->walls.frame = props->frames;
    return &props->walls;
}

static void add_prop(Props *props, SimCollider collider, MotionFrame frame)
{
    props->colliders[props->walls.count] = collider;
    props->frames[props->walls.count++] = frame;
}

// Which colliders a grain asks is a matter of time, not of what comes out. Floors below the floor are near every grain
// that comes to it, and so many that blocks cannot list them, but never in anyone's way: their grains ask all colliders
// there are. Balls far off are in nobody's list.
TEST(colliders_that_nobody_meets_change_nothing)
{
    Lump lump;
    lump_begin(&lump, 8, 40);
    Shape shape = shape_sphere(8, 0.0);
    shape_move(&shape, 2.5f * RADIUS, 0, 0, 0);
    GrainMesh mesh = shape_mesh(&shape);
    GrainSdfDef sdf_def;
    GrainSdf *ball;
    ENSURE_OK(grain_sdf_def_default(&sdf_def, sizeof sdf_def));
    sdf_def.voxel_size = 0.25f * RADIUS;
    ENSURE_OK(grain_sdf_create(&mesh, &sdf_def, NULL, &ball));
    shape_free(&shape);
    UpsampleDef def = def_for(&lump, 60.0);
    Grains seen[3];
    for (int kind = 0; kind < 3; kind++) {
        Props props = {0};
        SimCollider floor = {.plane_normal = {0, 0, 1}, .friction = 0.6f};
        add_prop(&props, floor, (MotionFrame){0});
        for (int i = 0; kind == 1 && i < 40; i++) { // deeper than a grain's stride along the floor
            floor.plane_point.z = -RADIUS * (1.5f + 0.01f * (float)i);
            add_prop(&props, floor, (MotionFrame){0});
        }
        for (int i = 0; i < 5; i++)
            add_prop(&props, (SimCollider){.sdf = ball, .friction = 0.4f},
                     (MotionFrame){.is_moving = i > 0,
                                   .rotation = {0.8f, 0.6f, 0, 0},
                                   .position = {0.07f * (float)i, 0.16f, 0.04f},
                                   .velocity = {0, 0.3f * (float)i, 0.2f},
                                   .spin = {0, 0, 3.0f}});
        for (int i = 0; kind == 2 && i < 10; i++)
            add_prop(&props, (SimCollider){.sdf = ball},
                     (MotionFrame){.is_moving = 1, .rotation = {1, 0, 0, 0}, .position = {(float)i - 5.0f, 3, 0}});
        def.walls = props_at, def.walls_user = &props;
        ENSURE_OK(run_frames(&def, &lump, 2, 4, &seen[kind]));
        ENSURE(seen[kind].count == seen[0].count && same_grains(&seen[0], &seen[kind], 0));
    }
    for (int kind = 0; kind < 3; kind++) grains_free(&seen[kind]);
    grain_sdf_destroy(ball);
    lump_end(&lump);
}

TEST(going_on_from_a_written_frame_gives_the_same_grains)
{
    Lump lump;
    lump_begin(&lump, 7, 10);
    UpsampleDef def = def_for(&lump, 25.0);
    Grains through, half, after;
    ENSURE_OK(run_frames(&def, &lump, 2, 6, &through));
    ENSURE_OK(run_frames(&def, &lump, 2, 3, &half));
    Upsampler *u;
    ENSURE_OK(upsample_create(&def, 1, &u));
    ENSURE_OK(upsample_load(u, lump.frame[0].count, half.count, half.position, half.velocity, half.orientation));
    for (int i = 3; i < 6; i++)
        ENSURE_OK(upsample_advance(u, &lump.frame[i % 2], &lump.frame[1 - i % 2], 0.04 * i, 0.04, NULL, NULL));
    after = grains_of(u);
    ENSURE(after.count == through.count && same_grains(&through, &after, 0));
    ENSURE(upsample_load(u, lump.frame[0].count, half.count - 1, half.position, half.velocity, half.orientation) ==
           GRAIN_ERROR_DAMAGED);
    upsample_destroy(u);
    grains_free(&through), grains_free(&half), grains_free(&after);
    lump_end(&lump);
}

// --- birth ----------------------------------------------------------------------------------------

// A prefix has the same number of grains from each coarse particle, give or take one.
TEST(a_prefix_is_an_even_sample)
{
    Lump lump;
    lump_begin(&lump, 6, 0);
    UpsampleDef def = def_for(&lump, 10.0);
    Grains g;
    ENSURE_OK(run_frames(&def, &lump, 1, 0, &g));
    int counts[216] = {0};
    for (int64_t i = 0; i < g.count * 3 / 10; i++) counts[g.id[i] / 1024]++;
    for (int c = 0; c < 216; c++) ENSURE(counts[c] >= 2 && counts[c] <= 4);
    for (int64_t i = 0; i < g.count; i++) {
        ENSURE(g.position[i].z >= g.radius[i] * 0.97f); // no grain in the floor
        ENSURE_NEAR((double)g.radius[i], (double)RADIUS * cbrt(0.1), 0.31 * (double)RADIUS * cbrt(0.1));
    }
    grains_free(&g);
    lump_end(&lump);
}

// Particles that appear later give birth then; with a birth time, at their place of that moment.
TEST(emitted_particles_give_birth_in_time)
{
    Lump lump;
    lump_begin(&lump, 6, 0);
    float times[216];
    for (int i = 0; i < 216; i++) times[i] = i < 100 ? 0.0f : i < 150 ? 0.015f : 0.035f;
    UpsampleDef def = def_for(&lump, 5.0);
    Upsampler *u;
    ENSURE_OK(upsample_create(&def, 1, &u));
    UpsampleCoarse first = lump.frame[0], second = lump.frame[1];
    first.count = 100;
    ENSURE_OK(upsample_begin(u, &first, 0.0));
    ENSURE(upsample_count(u) == 500);
    second.birth_time = times;
    ENSURE_OK(upsample_advance(u, &first, &second, 0.0, 0.04, NULL, NULL));
    ENSURE(upsample_count(u) == 1080);
    Grains g = grains_of(u);
    for (int64_t i = 0; i < g.count; i++) {
        ENSURE(i == 0 || (g.id[i - 1] % 1024) * 216 + g.id[i - 1] / 1024 < (g.id[i] % 1024) * 216 + g.id[i] / 1024);
        Vec3 parent = lump.later[g.id[i] / 1024];
        ENSURE(vec3_length(vec3_sub(g.position[i], parent)) < 3.5f * RADIUS);
    }
    grains_free(&g);
    // A frame that lost particles is not one of this bake.
    ENSURE(upsample_advance(u, &second, &first, 0.04, 0.04, NULL, NULL) == GRAIN_ERROR_DAMAGED);
    upsample_destroy(u);
    lump_end(&lump);
}

// Ids of the grains, at the chunk and place each is in; -1 where none is born yet.
static int64_t *place_ids(Upsampler *upsampler, int64_t most, int64_t *chunk_count)
{
    *chunk_count = upsample_chunks(upsampler, most, 1, NULL);
    uint32_t *sizes = ALLOC(uint32_t, *chunk_count);
    int64_t *ids = ALLOC(int64_t, *chunk_count * most), row = 0;
    upsample_chunks(upsampler, most, 1, sizes);
    Grains g = grains_of(upsampler);
    for (int64_t i = 0; i < *chunk_count * most; i++) ids[i] = i % most < sizes[i / most] ? g.id[row++] : -1;
    int is_whole = row == g.count;
    grains_free(&g);
    alloc_free(sizes);
    if (!is_whole) ids[0] = -2;
    return ids;
}

// What packed frames stand on: a grain stays in its chunk and place while others are born, in every shard.
TEST(grains_keep_their_chunk_while_others_are_born)
{
    Lump lump;
    lump_begin(&lump, 6, 5);
    for (int shard = 0; shard < 3; shard++) {
        UpsampleDef def = def_for(&lump, 3.4);
        def.shard = shard, def.shard_count = 3;
        UpsampleCoarse first = lump.frame[0];
        first.count = 100;
        Upsampler *upsampler;
        int64_t before, after, kept = 0, born = 0, moved = 0;
        ENSURE_OK(upsample_create(&def, 1, &upsampler));
        ENSURE_OK(upsample_begin(upsampler, &first, 0.0));
        int64_t *early = place_ids(upsampler, 50, &before);
        ENSURE_OK(upsample_advance(upsampler, &first, &lump.frame[1], 0.0, 0.04, NULL, NULL));
        int64_t *late = place_ids(upsampler, 50, &after);
        ENSURE_EQUAL(before, after);
        for (int64_t i = 0; i < 50 * after; i++) {
            kept += early[i] >= 0 && early[i] == late[i];
            born += early[i] < 0 && late[i] >= 0;
            moved += early[i] >= 0 && early[i] != late[i];
        }
        ENSURE(kept == upsample_count_grains(&def, 100) && born > 0 && moved == 0);
        ENSURE_EQUAL(kept + born, upsample_count(upsampler));
        alloc_free(early), alloc_free(late);
        upsample_destroy(upsampler);
    }
    lump_end(&lump);
}

// --- turning --------------------------------------------------------------------------------------

// A lump that turns like a solid body turns its grains as fast as itself: over a frame by 2 atan(s T / 2), the kernel's
// own formula, of the s = 3 rad/s inside. 10 %: the coarse neighbourhood is not quite even.
TEST(grains_turn_with_the_sand)
{
    Lump lump;
    lump_begin(&lump, 10, 0);
    float middle = 10.0f * RADIUS;
    for (int64_t i = 0; i < 1000; i++) {
        Vec3 p = lump.position[i];
        lump.velocity[i] = vec3(-3.0f * (p.y - middle), 3.0f * (p.x - middle), 0);
        lump.later[i] = vec3_add_scaled(p, lump.velocity[i], 0.04f);
    }
    UpsampleDef def = def_for(&lump, 5.0);
    def.walls = NULL;
    Grains before, after;
    ENSURE_OK(run_frames(&def, &lump, 1, 0, &before));
    ENSURE_OK(run_frames(&def, &lump, 1, 1, &after));
    double turned = 0;
    int64_t inside = 0;
    for (int64_t i = 0; i < before.count; i++) {
        Vec3 p = before.position[i];
        if (vec3_length(vec3_sub(p, vec3(middle, middle, middle))) > 0.5f * middle) continue;
        Quat turn = quat_multiply(after.orientation[i], quat_conjugate(before.orientation[i]));
        turned += 2.0 * (double)atan2f(turn.z, turn.w), inside++;
    }
    ENSURE(inside > 100);
    ENSURE_NEAR(turned / (double)inside, 2.0 * atan(0.5 * 3.0 * 0.04), 0.012);
    grains_free(&before), grains_free(&after);
    lump_end(&lump);
}

// --- free grains ----------------------------------------------------------------------------------

// All grains of a lump, set down where no coarse particle is, one at each place.
static GrainResult set_free(Upsampler *upsampler, const Lump *lump, const Vec3 *place, const Vec3 *velocity)
{
    int64_t count = upsample_count(upsampler);
    Quat *facing = ALLOC(Quat, count);
    for (int64_t i = 0; i < count; i++) facing[i] = quat_identity();
    GrainResult result = upsample_load(upsampler, lump->frame[0].count, count, place, velocity, facing);
    alloc_free(facing);
    return result;
}

// From straight down to sideways over the first frame, and sideways from then on: 0.04 s at (5, 0, -5) on average, then
// at (10, 0, 0). 1e-5: float.
TEST(free_grains_fall_the_way_gravity_points_now)
{
    const float samples[] = {0, 0, -10, 10, 0, 0};
    Lump lump;
    lump_begin(&lump, 1, 0);
    UpsampleDef def = def_for(&lump, 1.0);
    def.walls = NULL;
    def.gravity = (Curve){.samples = samples, .count = 2, .components = 3};
    def.frame_seconds = 0.04;
    Upsampler *upsampler;
    ENSURE_OK(upsample_create(&def, 1, &upsampler));
    ENSURE_OK(upsample_begin(upsampler, &lump.frame[0], 0.0));
    ENSURE_EQUAL(upsample_count(upsampler), 1);
    ENSURE_OK(set_free(upsampler, &lump, &(Vec3){50, 50, 50}, &(Vec3){0, 0, 1}));
    for (int frame = 0; frame < 2; frame++)
        ENSURE_OK(upsample_advance(upsampler, &lump.frame[0], &lump.frame[0], 0.04 * frame, 0.04, NULL, NULL));
    Grains g = grains_of(upsampler);
    ENSURE_NEAR(g.velocity[0].x, 0.6, 1e-5);
    ENSURE_NEAR(g.velocity[0].y, 0.0, 1e-5);
    ENSURE_NEAR(g.velocity[0].z, 0.8, 1e-5);
    grains_free(&g);
    upsample_destroy(upsampler);
    lump_end(&lump);
}

// A box painted from 0 at x = -1 to 1 at x = 1.
typedef struct PaintedBox {
    Shape shape;
    GrainMesh mesh;
    GrainSdf *sdf;
    float numbers[8];
    RigidPaint paint[2]; // friction, stickiness
    SimCollider collider;
    MotionFrame frame;
    UpsampleWalls walls;
} PaintedBox;

static GrainResult painted_box_create(PaintedBox *box)
{
    GrainSdfDef def;
    memset(box->paint, 0, sizeof box->paint);
    box->shape = shape_box(-1, -1, -1, 1, 1, 1);
    box->mesh = shape_mesh(&box->shape);
    for (int v = 0; v < 8; v++) box->numbers[v] = 0.5f + 0.5f * box->mesh.positions[3 * v];
    TRY(grain_sdf_def_default(&def, sizeof def));
    def.voxel_size = 0.05f;
    TRY(grain_sdf_create(&box->mesh, &def, NULL, &box->sdf));
    box->collider = (SimCollider){.sdf = box->sdf, .friction = 0.5f};
    box->frame = (MotionFrame){0};
    box->walls = (UpsampleWalls){1, &box->collider, &box->frame, box->paint, 9.81f};
    return GRAIN_OK;
}

static GrainResult paint_box(PaintedBox *box, RigidPaint *paint)
{
    return rigid_paint_create(paint, box->numbers, &box->mesh, box->sdf, 1);
}

static void painted_box_free(PaintedBox *box)
{
    for (int k = 0; k < 2; k++) rigid_paint_free(&box->paint[k]);
    grain_sdf_destroy(box->sdf);
    shape_free(&box->shape);
}

static const UpsampleWalls *painted_box_at(void *user, double time)
{
    (void)time;
    return &((PaintedBox *)user)->walls;
}

// Two grains on the box, one at each end of it, for 0.04 s.
static GrainResult grains_on_box(PaintedBox *box, float side, Vec3 velocity, Grains *out)
{
    Lump lump;
    Upsampler *upsampler;
    lump_begin(&lump, 1, 1);
    UpsampleDef def = def_for(&lump, 1.0);
    def.size_spread = 0.0f;
    def.walls = painted_box_at;
    def.walls_user = box;
    float height = side * (1.0f + upsample_grain_radius(&def));
    const Vec3 place[2] = {{-0.9f, 0, height}, {0.9f, 0, height}}, moving[2] = {velocity, velocity};
    TRY(upsample_create(&def, 1, &upsampler));
    TRY(upsample_begin(upsampler, &lump.frame[0], 0.0));
    TRY(set_free(upsampler, &lump, place, moving));
    TRY(upsample_advance(upsampler, &lump.frame[0], &lump.frame[0], 0.0, 0.04, NULL, NULL));
    *out = grains_of(upsampler);
    upsample_destroy(upsampler);
    lump_end(&lump);
    return GRAIN_OK;
}

// Coulomb: 0.5 g times what is painted there. 2e-3 m/s: a hundredth, for the distance field's rounding.
TEST(friction_of_free_grains_is_as_it_is_painted)
{
    PaintedBox box;
    ENSURE_OK(painted_box_create(&box));
    ENSURE_OK(paint_box(&box, &box.paint[0]));
    Grains g;
    ENSURE_OK(grains_on_box(&box, 1.0f, vec3(0, 1, 0), &g));
    ENSURE_NEAR(g.velocity[0].y, 1.0 - 0.5 * 0.05 * 9.81 * 0.04, 2e-3);
    ENSURE_NEAR(g.velocity[1].y, 1.0 - 0.5 * 0.95 * 9.81 * 0.04, 2e-3);
    grains_free(&g);
    painted_box_free(&box);
}

// Below the box: twice its weight holds a grain there, a tenth of it does not.
TEST(sticky_walls_hold_free_grains_where_they_are_painted)
{
    PaintedBox box;
    ENSURE_OK(painted_box_create(&box));
    ENSURE_OK(paint_box(&box, &box.paint[1]));
    box.collider.stickiness = 2.0f;
    Grains g;
    ENSURE_OK(grains_on_box(&box, -1.0f, vec3(0, 0.1f, 0), &g));
    ENSURE(g.velocity[0].z < -0.3f);
    ENSURE_NEAR(g.velocity[0].y, 0.1, 0.02);
    ENSURE_NEAR(g.velocity[1].z, 0.0, 1e-6);
    ENSURE_NEAR(g.velocity[1].y, 0.0, 1e-6); // 0.5 * 0.9 g take 0.18 m/s in that time
    grains_free(&g);
    painted_box_free(&box);
}

TEST(a_def_out_of_range_is_refused)
{
    Lump lump;
    lump_begin(&lump, 3, 0);
    Upsampler *u;
    for (int k = 0; k < 6; k++) {
        UpsampleDef def = def_for(&lump, k == 0 ? 0.0 : k == 1 ? 1001.0 : 5.0);
        if (k == 2) def.shard = 1;
        if (k == 3) def.coarse_radius = 0.0f;
        if (k == 4) def.substep = -1.0f;
        if (k == 5) def.gravity.constant[0] = NAN;
        ENSURE(upsample_create(&def, 1, &u) == GRAIN_ERROR_ARGUMENT && u == NULL);
    }
    lump_end(&lump);
}
