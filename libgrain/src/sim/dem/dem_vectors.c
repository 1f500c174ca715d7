// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "sim/dem/dem.h"

GrainResult dem_vectors_grow(DemVectors *vectors, int64_t count)
{
    TRY(alloc_grow((void **)&vectors->x, &vectors->capacity[0], count, sizeof(float)));
    TRY(alloc_grow((void **)&vectors->y, &vectors->capacity[1], count, sizeof(float)));
    return alloc_grow((void **)&vectors->z, &vectors->capacity[2], count, sizeof(float));
}

void dem_vectors_free(DemVectors *vectors)
{
    alloc_free(vectors->x);
    alloc_free(vectors->y);
    alloc_free(vectors->z);
    *vectors = (DemVectors){0};
}
