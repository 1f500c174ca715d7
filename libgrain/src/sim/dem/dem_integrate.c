#include "base/error.h"
#include "base/parallel.h"
#include "sim/dem/dem.h"

#include <math.h>

static float move_block(Dem *dem, int64_t begin, int64_t end, float seconds)
{
    float fastest = 0.0f;
    for (int64_t i = begin; i < end; i++) {
        dem->vx[i] += dem->ax[i] * seconds;
        dem->vy[i] += dem->ay[i] * seconds;
        dem->vz[i] += dem->az[i] * seconds;
        dem->x[i] += dem->vx[i] * seconds;
        dem->y[i] += dem->vy[i] * seconds;
        dem->z[i] += dem->vz[i] * seconds;
        float speed = dem->vx[i] * dem->vx[i] + dem->vy[i] * dem->vy[i] + dem->vz[i] * dem->vz[i];
        fastest = speed <= fastest ? fastest : speed; // this way round a NaN wins
    }
    return fastest;
}

static GrainResult name_the_diverged(const Dem *dem)
{
    for (int64_t i = 0; i < dem->count; i++)
        if (!(dem->vx[i] * dem->vx[i] + dem->vy[i] * dem->vy[i] + dem->vz[i] * dem->vz[i] < INFINITY))
            return fail(GRAIN_ERROR_DIVERGED,
                        "particle %d left the range of numbers: it was pressed too deep into another or a collider; use a "
                        "smaller softness, or check that the sources do not start inside each other",
                        dem->id[i]);
    return fail(GRAIN_ERROR_DIVERGED, "a particle left the range of numbers");
}

GrainResult dem_integrate(Dem *dem, float seconds)
{
    PARALLEL_BLOCKS(dem->threads, block, dem->block_count)
    {
        int64_t end = parallel_block_end(block, PARALLEL_BLOCK, dem->count);
        dem->block_speed[block] = (double)move_block(dem, block * PARALLEL_BLOCK, end, seconds);
    }
    double fastest = 0.0;
    for (int64_t block = 0; block < dem->block_count; block++)
        fastest = dem->block_speed[block] <= fastest ? fastest : dem->block_speed[block];
    if (!isfinite(fastest)) return name_the_diverged(dem);
    dem->travelled += sqrt(fastest) * (double)seconds;
    return GRAIN_OK;
}
