// SPDX-License-Identifier: GPL-3.0-or-later
// Birth: where the grains of a coarse particle stand at first (Ihmsen 2013, section 4.1).
//
// Around the particle are seven support points, its centre and a radius away along each axis, each in the middle of a
// cube of its diameter. Grains take the cubes in turn and lie in them by a sequence that fills evenly from any
// beginning, with a start of its own for each particle and cube. Two things the paper does not do: a place where there
// is too little sand (beyond the surface) or that is in a collider is thrown away and drawn again. So nothing has to
// fall, and nothing sinks.
#include "base/parallel.h"
#include "base/real.h"
#include "base/rng.h"
#include "upsample/upsample_inside.h"

#include <math.h>
#include <string.h>

// Draws before a place is taken nearer to the particle instead, and how often it is moved there.
#define MOST_DRAWS 24
#define MOST_SHRINKS 4
// Share of the sand at the particle's own centre that its grains need around them, where that is less than the surface
// has: a lone particle makes a ball.
#define LONE_SHARE 0.6f
#define PARTICLES_AT_ONCE 16

typedef struct Newborn {
    int64_t coarse, layer;
    uint32_t number;
} Newborn;

// Steps of the sequence that fills a cube evenly (Roberts 2018): powers of the root of x^4 = x + 1, in 2^-32.
static const uint32_t even_step[3] = {3518319153u, 2882110345u, 2360945575u};

static Vec3 support_point(int64_t cube, float radius)
{
    Vec3 offset = {0, 0, 0};
    float side = cube % 2 == 0 ? -radius : radius;
    if (cube == 1 || cube == 2) offset.x = side;
    if (cube == 3 || cube == 4) offset.y = side;
    if (cube == 5 || cube == 6) offset.z = side;
    return offset;
}

// The draw 0 is the sequence's; later ones are random.
static Vec3 draw_offset(const UpsampleDef *def, int64_t coarse, int64_t layer, int draw)
{
    int64_t cube = layer % 7, turn = layer / 7;
    Rng4 r;
    if (def->scheme == UPSAMPLE_GATED && draw == 0) {
        r = rng_at(def->seed, (uint64_t)coarse, RNG_STREAM_UPSAMPLE_BIRTH, (uint32_t)cube);
        for (int axis = 0; axis < 3; axis++) r.word[axis] += (uint32_t)turn * even_step[axis];
    } else {
        r = rng_at(def->seed, (uint64_t)upsample_id(coarse, layer), RNG_STREAM_UPSAMPLE_REDRAW, (uint32_t)draw);
        if (draw > 0) cube = r.word[3] % 7;
    }
    Vec3 inside = {rng_signed(r.word[0]), rng_signed(r.word[1]), rng_signed(r.word[2])};
    return vec3_add_scaled(support_point(cube, def->coarse_radius), inside, def->coarse_radius);
}

// After the draws, ever nearer to the particle.
static Vec3 offset_at(const UpsampleDef *def, const Newborn *grain, int attempt)
{
    if (attempt < MOST_DRAWS) return draw_offset(def, grain->coarse, grain->layer, attempt);
    Vec3 last = draw_offset(def, grain->coarse, grain->layer, MOST_DRAWS - 1);
    return vec3_scale(last, ldexpf(1.0f, MOST_DRAWS - 1 - attempt));
}

static Quat random_orientation(const UpsampleDef *def, const Newborn *grain)
{
    // Marsaglia 1972: two points in discs make one on the sphere in four dimensions.
    Rng4 r = rng_at(def->seed, (uint64_t)upsample_id(grain->coarse, grain->layer), RNG_STREAM_UPSAMPLE_FACING, 0);
    float u = rng_unit(r.word[0]), a = 6.2831853f * rng_unit(r.word[1]), b = 6.2831853f * rng_unit(r.word[2]);
    float near = sqrtf(1.0f - u), far = sqrtf(u);
    return quat_normalize((Quat){far * real_cosf(b), near * real_sinf(a), near * real_cosf(a), far * real_sinf(b)});
}

// --- one particle's grains ------------------------------------------------------------------------

static void settle(Upsampler *u, const Newborn *grain, int64_t place, Vec3 position, Vec3 velocity)
{
    GrainColumns *g = &u->grains;
    Quat facing = random_orientation(&u->def, grain);
    g->x[place] = position.x, g->y[place] = position.y, g->z[place] = position.z;
    g->vx[place] = velocity.x, g->vy[place] = velocity.y, g->vz[place] = velocity.z;
    g->qw[place] = facing.w, g->qx[place] = facing.x, g->qy[place] = facing.y, g->qz[place] = facing.z;
    g->number[place] = grain->number;
}

// How much sand a grain of this particle needs around it.
static float sand_needed(Upsampler *u, Vec3 centre, UpsampleScratch *scratch)
{
    if (u->def.scheme == UPSAMPLE_IHMSEN2013) return 0.0f;
    BlockBox box = {{centre.x, centre.y, centre.z}, {centre.x, centre.y, centre.z}};
    upsample_block_sums(&u->field, NULL, &box, &centre.x, &centre.y, &centre.z, 1, 0, scratch);
    // Its own weight, 1, and what else there is.
    float own = LONE_SHARE * scratch->sums.weight[0], surface = UPSAMPLE_IS_SAND * UPSAMPLE_FULL_SUM;
    return own < surface ? own : surface;
}

// Tries a place for each grain of the batch; those that found one are settled, the others come first again.
static int try_batch(Upsampler *u, Vec3 centre, float needed, Newborn *grains, int64_t *places, int count, int attempt,
                     UpsampleScratch *scratch)
{
    for (int i = 0; i < count; i++) {
        Vec3 p = vec3_add(centre, offset_at(&u->def, &grains[i], attempt));
        scratch->x[i] = p.x, scratch->y[i] = p.y, scratch->z[i] = p.z;
    }
    BlockBox box;
    SIMD_CALL(upsample_box)(scratch->x, scratch->y, scratch->z, count, &box);
    upsample_block_sums(&u->field, NULL, &box, scratch->x, scratch->y, scratch->z, count, 0, scratch);
    const BlockSums *sums = &scratch->sums;
    int has_walls =
        upsample_find_walls(u, &box, scratch->x, scratch->y, scratch->z, count, u->reach, 0.0f, &scratch->walls);
    int left = 0, is_paper = u->def.scheme == UPSAMPLE_IHMSEN2013;
    StepNumbers step = upsample_step_numbers(u, 0.0f);
    step.hang_high = INFINITY; // the underside of the sand is sand as well
    if (!is_paper) SIMD_CALL(upsample_sand)
    (scratch->x, scratch->y, scratch->z, count, &step, sums, has_walls ? &scratch->walls : NULL, scratch->sand);
    int is_last = attempt == MOST_DRAWS + MOST_SHRINKS - 1;
    for (int i = 0; i < count; i++) {
        Vec3 position = {scratch->x[i], scratch->y[i], scratch->z[i]};
        float radius = upsample_radius_of(u, grains[i].coarse, grains[i].layer);
        int is_free = !has_walls || scratch->walls.distance[i] >= radius;
        if (!is_free && is_paper) is_free = upsample_push_out(u, &position, radius);
        if (!is_last && !(is_free && (is_paper || scratch->sand[i] >= needed))) {
            grains[left] = grains[i], places[left++] = places[i];
            continue;
        }
        if (!is_free && !upsample_push_out(u, &position, radius)) position = centre;
        float inverse = 1.0f / real_maxf(sums->weight[i], 1e-20f);
        settle(u, &grains[i], places[i], position,
               vec3(sums->vx[i] * inverse, sums->vy[i] * inverse, sums->vz[i] * inverse));
    }
    return left;
}

static void place_batch(Upsampler *u, Vec3 centre, float needed, Newborn *grains, int64_t *places, int count,
                        UpsampleScratch *scratch)
{
    for (int attempt = 0; count > 0 && attempt < MOST_DRAWS + MOST_SHRINKS; attempt++)
        count = try_batch(u, centre, needed, grains, places, count, attempt, scratch);
}

static void birth_of(Upsampler *u, int64_t coarse, int64_t place, UpsampleScratch *scratch)
{
    Newborn grains[UPSAMPLE_BLOCK];
    int64_t places[UPSAMPLE_BLOCK], number;
    Vec3 centre = {u->field.x[coarse], u->field.y[coarse], u->field.z[coarse]};
    float needed = sand_needed(u, centre, scratch);
    int count = 0;
    for (int64_t layer = 0; layer < u->layers; layer++) {
        if (!upsample_number(u, coarse, layer, &number)) continue;
        grains[count] = (Newborn){coarse, layer, (uint32_t)number};
        places[count++] = place++;
        if (count < UPSAMPLE_BLOCK) continue;
        place_batch(u, centre, needed, grains, places, count, scratch);
        count = 0;
    }
    place_batch(u, centre, needed, grains, places, count, scratch);
}

void upsample_birth(Upsampler *u, int64_t end)
{
    int64_t begin = u->coarse_born, before = upsample_count_grains(&u->def, begin);
    int64_t block_count = parallel_block_count(end - begin, PARTICLES_AT_ONCE);
    PARALLEL_BLOCKS(u->threads, block, block_count)
    {
        int64_t first = begin + block * PARTICLES_AT_ONCE,
                last = first + PARTICLES_AT_ONCE < end ? first + PARTICLES_AT_ONCE : end;
        for (int64_t coarse = first; coarse < last; coarse++)
            birth_of(u, coarse, u->count + upsample_count_grains(&u->def, coarse) - before,
                     &u->scratch[parallel_thread_index()]);
    }
    u->count += upsample_count_grains(&u->def, end) - before;
    u->coarse_born = end;
    u->substeps_since_sort = UPSAMPLE_NEVER_SORTED;
}
