// SPDX-License-Identifier: GPL-3.0-or-later
// True distances from a function that has the right sign: where two neighbours differ in it the surface lies between
// them; from there on outward and inward by the eikonal equation (Rouy and Tourin 1992), layer after layer.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "volume/volume_inside.h"

#include <math.h>

// A layer each, and some more for what comes round a corner.
#define SWEEPS ((int)VOLUME_BAND + 2)
#define FAR_AWAY (VOLUME_BAND + 1.0f)

// Voxels from the centre of a cell to the plane that cuts its links, or FAR_AWAY where none is cut.
static float distance_to_cuts(const float *level, int at)
{
    static const int pitch[3] = {1, 10, 100};
    float sum = 0.0f, own = level[at];
    for (int axis = 0; axis < 3; axis++) {
        float nearest = FAR_AWAY;
        for (int side = -1; side <= 1; side += 2) {
            float other = level[at + side * pitch[axis]];
            if ((own < 0.0f) == (other < 0.0f)) continue;
            nearest = real_minf(nearest, real_maxf(own / (own - other), 1e-3f));
        }
        if (nearest < FAR_AWAY) sum += 1.0f / (nearest * nearest);
    }
    return sum > 0.0f ? 1.0f / sqrtf(sum) : FAR_AWAY;
}

static float least(float a, float b) { return a < b ? a : b; }

// Distance that follows from the neighbours' by |gradient| = 1.
static float distance_from(const float *distance, int at)
{
    float a = least(fabsf(distance[at - 1]), fabsf(distance[at + 1]));
    float b = least(fabsf(distance[at - 10]), fabsf(distance[at + 10]));
    float c = least(fabsf(distance[at - 100]), fabsf(distance[at + 100])), swap;
    if (a > b) swap = a, a = b, b = swap;
    if (b > c) swap = b, b = c, c = swap;
    if (a > b) swap = a, a = b, b = swap;
    float d = a + 1.0f;
    if (d > b) d = 0.5f * (a + b + sqrtf(real_maxf(2.0f - (a - b) * (a - b), 0.0f)));
    if (d > c) {
        float sum = a + b + c, squares = a * a + b * b + c * c;
        d = (sum + sqrtf(real_maxf(sum * sum - 3.0f * (squares - 1.0f), 0.0f))) / 3.0f;
    }
    return least(d, FAR_AWAY);
}

// Distances that the cuts gave stay: they are kept below 0 while the others are found.
static void start_block(const Volume *volume, int64_t block, float *distance)
{
    float level[1000];
    volume_pad(volume, volume->distance, VOLUME_VOXELS, block, VOLUME_BAND, level);
    for (int i = 0; i < VOLUME_VOXELS; i++) {
        float cut = distance_to_cuts(level, volume_padded_index(i));
        distance[VOLUME_VOXELS * block + i] = cut < FAR_AWAY ? -cut : FAR_AWAY;
    }
}

static void sweep_block(const Volume *volume, int64_t block, const float *from, float *to)
{
    float distance[1000];
    volume_pad(volume, from, VOLUME_VOXELS, block, FAR_AWAY, distance);
    for (int i = 0; i < VOLUME_VOXELS; i++) {
        int at = volume_padded_index(i);
        to[VOLUME_VOXELS * block + i] = distance[at] < 0.0f ? distance[at] : distance_from(distance, at);
    }
}

GrainResult volume_finish_distance(Volume *volume, int threads)
{
    int64_t count = volume->block_count;
    float *from = ALLOC(float, VOLUME_VOXELS *count), *to = ALLOC(float, VOLUME_VOXELS *count);
    GrainResult result = from && to ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) {
        PARALLEL_BLOCKS(threads, block, count) { start_block(volume, block, from); }
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            PARALLEL_BLOCKS(threads, block, count) { sweep_block(volume, block, from, to); }
            float *swap = from;
            from = to, to = swap;
        }
        float voxel = (float)volume->voxel_size;
        PARALLEL_FOR(threads, i, VOLUME_VOXELS * count)
        {
            float distance = least(fabsf(from[i]), VOLUME_BAND) * voxel;
            volume->distance[i] = volume->distance[i] < 0.0f ? -distance : distance;
        }
    }
    alloc_free(from);
    alloc_free(to);
    return result;
}
