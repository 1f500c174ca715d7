#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/dem/dem.h"

#include <string.h>

static void reorder(float **array, float **scratch, const int32_t *order, int64_t count, int threads)
{
    float *from = *array, *to = *scratch;
    PARALLEL_FOR(threads, place, count) { to[place] = from[order[place]]; }
    *array = to;
    *scratch = from;
}

static void sort_by_cell(Dem *dem)
{
    const int32_t *order = dem->grid.order;
    float **arrays[] = {&dem->x, &dem->y, &dem->z, &dem->vx, &dem->vy, &dem->vz, &dem->radius};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        reorder(arrays[i], &dem->scratch, order, dem->count, dem->threads);
    int32_t *ids = (int32_t *)dem->scratch;
    PARALLEL_FOR(dem->threads, place, dem->count) { ids[place] = dem->id[order[place]]; }
    memcpy(dem->id, ids, (size_t)dem->count * sizeof *ids);
}

static float distance_to(const SimCollider *collider, Vec3 position)
{
    Vec3 gradient;
    if (collider->sdf) return sdf_sample_point(collider->sdf, position, &gradient);
    return vec3_dot(vec3_sub(position, collider->plane_point), collider->plane_normal);
}

// Who may touch the collider before the lists are made again. Far fewer than all, so that the distance field is asked
// for those only.
static GrainResult find_candidates(Dem *dem, const SimCollider *collider, DemCandidates *candidates)
{
    float *distance = dem->scratch;
    PARALLEL_FOR(dem->threads, i, dem->count)
    {
        distance[i] = distance_to(collider, vec3(dem->list_x[i], dem->list_y[i], dem->list_z[i]));
    }
    candidates->count = 0;
    for (int64_t i = 0; i < dem->count; i++) {
        if (distance[i] >= dem->radius[i] + dem->skin) continue;
        TRY(alloc_grow((void **)&candidates->particle, &candidates->capacity, candidates->count + 1, sizeof(int32_t)));
        candidates->particle[candidates->count++] = (int32_t)i;
    }
    return GRAIN_OK;
}

static GrainResult build_grid(Dem *dem, const float *x, const float *y, const float *z)
{
    float cell = 2.0f * dem->def.largest_radius + dem->skin;
    return cell_grid_build(&dem->grid, x, y, z, dem->count, cell, dem->threads);
}

static GrainResult make_lists(Dem *dem)
{
    TRY(neighbour_list_build(&dem->neighbours, &dem->grid, dem->list_x, dem->list_y, dem->list_z, dem->radius, dem->skin,
                             dem->threads));
    for (int c = 0; c < dem->def.collider_count; c++)
        TRY(find_candidates(dem, &dem->colliders[c], &dem->candidates[c]));
    return GRAIN_OK;
}

GrainResult dem_find_contacts(Dem *dem)
{
    if (2.0 * dem->travelled <= (double)dem->skin) return GRAIN_OK;
    TRY(build_grid(dem, dem->x, dem->y, dem->z));
    sort_by_cell(dem);
    memcpy(dem->list_x, dem->x, (size_t)dem->count * sizeof(float));
    memcpy(dem->list_y, dem->y, (size_t)dem->count * sizeof(float));
    memcpy(dem->list_z, dem->z, (size_t)dem->count * sizeof(float));
    dem->travelled = 0.0;
    return make_lists(dem);
}

GrainResult dem_restore_contacts(Dem *dem)
{
    // The particles stand in the order of these very cells, so sorting them again changes nothing.
    TRY(build_grid(dem, dem->list_x, dem->list_y, dem->list_z));
    return make_lists(dem);
}
