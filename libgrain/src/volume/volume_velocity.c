// SPDX-License-Identifier: GPL-3.0-or-later
// Velocities beyond the sand. A renderer that blurs looks up the velocity where a ray passes and goes back along it
// (Kim and Ko 2007): next to fast sand it must find the sand's own.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "volume/volume_inside.h"

#include <math.h>
#include <string.h>

// Layers of voxels: as far as blocks reach beyond the sand.
#define MOST_LAYERS 8
// Of a voxel in the time that counts: slower is at rest, and rest needs no storage.
#define AT_REST 1e-3f

typedef struct Spread {
    const Volume *volume;
    float *known, *known_next;       ///< 1 or 0 for each voxel
    float *velocity, *velocity_next; ///< 3 x 512 for each block
    float voxels_of_speed;           ///< voxels passed at 1 m/s
} Spread;

static float speed_at(const float *velocity, int voxel)
{
    float x = velocity[voxel], y = velocity[VOLUME_VOXELS + voxel], z = velocity[2 * VOLUME_VOXELS + voxel];
    return sqrtf(x * x + y * y + z * z);
}

static void start_block(const Spread *s, int64_t block, float *fastest)
{
    float *velocity = s->velocity + 3 * VOLUME_VOXELS * block;
    *fastest = 0.0f;
    for (int i = 0; i < VOLUME_VOXELS; i++) {
        s->known[VOLUME_VOXELS * block + i] = s->volume->density[VOLUME_VOXELS * block + i] > 0.0f;
        float speed = speed_at(velocity, i);
        if (speed * s->voxels_of_speed < AT_REST)
            velocity[i] = velocity[VOLUME_VOXELS + i] = velocity[2 * VOLUME_VOXELS + i] = 0.0f;
        *fastest = speed > *fastest ? speed : *fastest;
    }
}

// Each voxel that knows nothing takes the mean of the neighbours that do, unless sand that slow never comes there.
static void spread_block(const Spread *s, int64_t block, int layer)
{
    static const int sides[6] = {-1, 1, -10, 10, -100, 100};
    float known[1000], value[3][1000];
    volume_pad(s->volume, s->known, VOLUME_VOXELS, block, 0.0f, known);
    for (int axis = 0; axis < 3; axis++)
        volume_pad(s->volume, s->velocity + VOLUME_VOXELS * axis, 3 * VOLUME_VOXELS, block, 0.0f, value[axis]);
    float *next = s->velocity_next + 3 * VOLUME_VOXELS * block, *known_next = s->known_next + VOLUME_VOXELS * block;
    memcpy(next, s->velocity + 3 * VOLUME_VOXELS * block, 3 * VOLUME_VOXELS * sizeof *next);
    memcpy(known_next, s->known + VOLUME_VOXELS * block, VOLUME_VOXELS * sizeof *known_next);
    for (int i = 0; i < VOLUME_VOXELS; i++) {
        int at = volume_padded_index(i);
        if (known[at] > 0.0f) continue;
        float count = 0.0f, sum[3] = {0};
        for (int side = 0; side < 6; side++) {
            int other = at + sides[side];
            count += known[other];
            for (int axis = 0; axis < 3; axis++) sum[axis] += known[other] * value[axis][other];
        }
        if (count == 0.0f) continue;
        known_next[i] = 1.0f;
        float speed = sqrtf(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / count;
        if (speed * s->voxels_of_speed < (float)(layer - 1)) continue;
        for (int axis = 0; axis < 3; axis++) next[VOLUME_VOXELS * axis + i] = sum[axis] / count;
    }
}

static GrainResult spread(Spread *s, float *fastest, int threads)
{
    int64_t count = s->volume->block_count;
    PARALLEL_BLOCKS(threads, block, count) { start_block(s, block, &fastest[block]); }
    float most = 0.0f;
    for (int64_t block = 0; block < count; block++) most = fastest[block] > most ? fastest[block] : most;
    float way = most * s->voxels_of_speed;
    int layers = way < AT_REST ? 0 : way > MOST_LAYERS - 1 ? MOST_LAYERS : (int)way + 1;
    for (int layer = 1; layer <= layers; layer++) {
        PARALLEL_BLOCKS(threads, block, count) { spread_block(s, block, layer); }
        float *swap = s->known;
        s->known = s->known_next, s->known_next = swap;
        swap = s->velocity;
        s->velocity = s->velocity_next, s->velocity_next = swap;
    }
    return GRAIN_OK;
}

GrainResult volume_finish_velocity(Volume *volume, float seconds, int threads)
{
    int64_t count = volume->block_count;
    Spread s = {.volume = volume,
                .known = ALLOC(float, VOLUME_VOXELS *count),
                .known_next = ALLOC(float, VOLUME_VOXELS *count),
                .velocity = volume->velocity,
                .velocity_next = ALLOC(float, 3 * VOLUME_VOXELS * count),
                .voxels_of_speed = seconds / (float)volume->voxel_size};
    float *fastest = ALLOC(float, count);
    GrainResult result =
        s.known && s.known_next && s.velocity_next && fastest ? spread(&s, fastest, threads) : GRAIN_ERROR_MEMORY;
    volume->velocity = s.velocity;
    alloc_free(s.known);
    alloc_free(s.known_next);
    alloc_free(s.velocity_next);
    alloc_free(fastest);
    return result;
}
