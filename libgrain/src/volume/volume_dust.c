// SPDX-License-Identifier: GPL-3.0-or-later
#include "volume/volume_dust.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"

#include <math.h>

// A puff is so many voxels wide at birth and at its end.
#define WIDTH_AT_BIRTH 1.2f
#define WIDTH_AT_END 3.0f
// s in which the air would stop a puff that went on as it began.
#define STOPPING_TIME 0.15f
// The air's own stirring, over the speed of the sand.
#define STIR 0.25f

typedef struct Puff {
    Vec3 position, velocity;
    float amount;
} Puff;

typedef struct PuffFrame {
    int32_t frame;
    int is_filled;
    Puff *puffs;
    int64_t count, capacity;
} PuffFrame;

struct Dust {
    DustDef def;
    PuffFrame *ring; ///< frame F in place F modulo the number of frames
    int32_t frame_count;
    // What dust_at hands out.
    Vec3 *position;
    float *radius, *amount, *width;
    int64_t position_capacity, radius_capacity, amount_capacity, width_capacity;
};

GrainResult dust_create(const DustDef *def, Dust **out)
{
    *out = ALLOC_ZEROED(Dust, 1);
    if (!*out) return GRAIN_ERROR_MEMORY;
    (*out)->def = *def;
    (*out)->frame_count = 1 + (int32_t)(def->linger / def->frame_seconds);
    (*out)->ring = ALLOC_ZEROED(PuffFrame, (*out)->frame_count);
    return (*out)->ring ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

void dust_destroy(Dust *dust)
{
    if (!dust) return;
    for (int32_t i = 0; dust->ring && i < dust->frame_count; i++) alloc_free(dust->ring[i].puffs);
    alloc_free(dust->ring);
    alloc_free(dust->position);
    alloc_free(dust->radius);
    alloc_free(dust->amount);
    alloc_free(dust->width);
    alloc_free(dust);
}

static PuffFrame *place_of(const Dust *dust, int32_t frame)
{
    int32_t place = frame % dust->frame_count;
    return &dust->ring[place < 0 ? place + dust->frame_count : place];
}

// From 0 at the speed where dust begins to 1 at twice that, smoothly.
static float share_raised(float speed, float begins)
{
    float t = real_minf(real_maxf(speed / begins - 1.0f, 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

GrainResult dust_add(Dust *dust, int32_t frame, const VolumeParticles *sand)
{
    PuffFrame *place = place_of(dust, frame);
    place->count = 0;
    for (int64_t i = 0; i < sand->count; i++) {
        float share = share_raised(vec3_length(sand->velocity[i]), dust->def.speed), radius = sand->radius[i];
        if (!(share > 0.0f)) continue;
        double amount = sand->amount_each + sand->amount_of_cube * (double)radius * (double)radius * (double)radius;
        TRY(alloc_grow((void **)&place->puffs, &place->capacity, place->count + 1, sizeof(Puff)));
        place->puffs[place->count++] = (Puff){sand->position[i], sand->velocity[i], share * (float)amount};
    }
    return GRAIN_OK;
}

static GrainResult fill_ring(Dust *dust, int32_t frame)
{
    for (int32_t f = frame - dust->frame_count + 1; f <= frame; f++) {
        PuffFrame *place = place_of(dust, f);
        if (place->is_filled && place->frame == f) continue;
        place->frame = f, place->is_filled = 0, place->count = 0;
        TRY(dust->def.read(dust->def.user, f, dust));
        place->is_filled = 1;
    }
    return GRAIN_OK;
}

// Like a sine, of parabolas: the same bits on every machine.
static float wave(float turns)
{
    float s = 2.0f * (turns - floorf(turns)) - 1.0f;
    return 4.0f * s * (1.0f - fabsf(s));
}

// A flow without sources made of plain waves, each across its own direction; lengths in voxels.
static Vec3 stirring(Vec3 at, float voxel)
{
    static const struct {
        Vec3 turns, way; ///< turns to a voxel along each axis; a direction across it
    } waves[] = {
        {{0.071f, 0.013f, 0.029f}, {-0.405f, 0.0f, 0.914f}}, {{-0.017f, 0.083f, 0.021f}, {0.0f, -0.245f, 0.969f}},
        {{0.031f, -0.023f, 0.067f}, {0.596f, 0.803f, 0.0f}}, {{0.157f, 0.119f, -0.043f}, {-0.604f, 0.797f, 0.0f}},
        {{-0.101f, 0.053f, 0.173f}, {0.864f, 0.0f, 0.503f}}, {{0.047f, 0.191f, 0.089f}, {0.0f, -0.422f, 0.906f}},
    };
    Vec3 sum = {0, 0, 0};
    for (int i = 0; i < 6; i++)
        sum = vec3_add_scaled(sum, waves[i].way, wave(vec3_dot(at, waves[i].turns) / voxel) * (i < 3 ? 1.0f : 0.5f));
    return sum;
}

static GrainResult reserve(Dust *dust, int64_t count)
{
    TRY(alloc_grow((void **)&dust->position, &dust->position_capacity, count, sizeof(Vec3)));
    TRY(alloc_grow((void **)&dust->radius, &dust->radius_capacity, count, sizeof(float)));
    TRY(alloc_grow((void **)&dust->amount, &dust->amount_capacity, count, sizeof(float)));
    return alloc_grow((void **)&dust->width, &dust->width_capacity, count, sizeof(float));
}

static void age_puffs(Dust *dust, const PuffFrame *from, float age, float fade, int64_t first, int threads)
{
    const DustDef *def = &dust->def;
    float way = age / (1.0f + age / STOPPING_TIME);
    float old = def->linger > 0.0f ? sqrtf(age / def->linger) : 0.0f;
    float width = def->voxel_size * (WIDTH_AT_BIRTH + (WIDTH_AT_END - WIDTH_AT_BIRTH) * old);
    PARALLEL_FOR(threads, i, from->count)
    {
        const Puff *puff = &from->puffs[i];
        Vec3 stir = vec3_scale(stirring(puff->position, def->voxel_size), STIR * vec3_length(puff->velocity));
        dust->position[first + i] = vec3_add_scaled(puff->position, vec3_add(puff->velocity, stir), way);
        dust->radius[first + i] = 0.5f * def->voxel_size;
        dust->amount[first + i] = fade * puff->amount;
        dust->width[first + i] = width;
    }
}

GrainResult dust_at(Dust *dust, int32_t frame, int threads, VolumeParticles *out)
{
    TRY(fill_ring(dust, frame));
    int32_t frames = dust->frame_count;
    int64_t count = 0, first = 0;
    float whole = 0.0f;
    for (int32_t i = 0; i < frames; i++) {
        float left = 1.0f - (float)i / (float)frames;
        count += dust->ring[i].count;
        whole += left * left;
    }
    TRY(reserve(dust, count));
    for (int32_t i = 0; i < frames; i++) {
        const PuffFrame *from = place_of(dust, frame - i);
        float left = 1.0f - (float)i / (float)frames;
        age_puffs(dust, from, (float)i * dust->def.frame_seconds, left * left / whole, first, threads);
        first += from->count;
    }
    *out = (VolumeParticles){.count = count,
                             .position = dust->position,
                             .radius = dust->radius,
                             .amount = dust->amount,
                             .width = dust->width};
    return GRAIN_OK;
}
