#include "sim/dem/dem.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

// Substeps in a contact. With 20 the restitution of a bounce comes out within 2 % (tests/physics/test_dem.c); with 10 the
// damped friction of a particle with ten contacts is no longer stable.
#define STEPS_PER_CONTACT 20.0
// Half of this, in radii, is how far a particle may go before the lists are made again: a larger skin means rarer but
// longer lists.
#define SKIN_RADII 0.35f

static GrainResult allocate(Dem *dem)
{
    float **arrays[] = {&dem->x,  &dem->y,  &dem->z,      &dem->vx,     &dem->vy,     &dem->vz,     &dem->radius,
                        &dem->ax, &dem->ay, &dem->az, &dem->list_x, &dem->list_y, &dem->list_z, &dem->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i] = ALLOC_ZEROED(float, dem->count))) return GRAIN_ERROR_MEMORY;
    dem->block_count = parallel_block_count(dem->count, PARALLEL_BLOCK);
    dem->id = ALLOC(int32_t, dem->count);
    dem->block_speed = ALLOC_ZEROED(double, dem->block_count);
    dem->candidates = ALLOC_ZEROED(DemCandidates, dem->def.collider_count);
    dem->colliders = ALLOC_ZEROED(SimCollider, dem->def.collider_count);
    return dem->id && dem->block_speed && dem->candidates && dem->colliders ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

static void destroy(void *state)
{
    Dem *dem = state;
    if (!dem) return;
    void *arrays[] = {dem->x,  dem->y,  dem->z,      dem->vx,     dem->vy,     dem->vz,      dem->radius,
                      dem->ax, dem->ay, dem->az, dem->list_x, dem->list_y, dem->list_z, dem->scratch,
                      dem->id, dem->block_speed, dem->colliders};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
    for (int c = 0; dem->candidates && c < dem->def.collider_count; c++) alloc_free(dem->candidates[c].particle);
    alloc_free(dem->candidates);
    cell_grid_free(&dem->grid);
    neighbour_list_free(&dem->neighbours);
    alloc_free(dem);
}

// Bell 2005, eq. 9 to 11: stiffness and damping of a linear contact from restitution e and duration t_c. The duration
// follows from how deep the fastest impact may sink in: v t_c / pi.
static void choose_contact_law(Dem *dem)
{
    const SimDef *def = &dem->def;
    double speed = fmax((double)def->expected_speed, 1e-3);
    double t_c = M_PI * (double)def->softness * (double)def->largest_radius / speed;
    double log_e = log((double)def->restitution);
    dem->contact_time = (float)t_c;
    dem->stiffness = (float)((M_PI * M_PI + log_e * log_e) / (t_c * t_c));
    dem->damping = (float)(-2.0 * log_e / t_c);
}

static GrainResult create_inside(Dem *dem, const SimDef *def, const Particles *start, int threads)
{
    dem->def = *def;
    dem->threads = threads;
    dem->count = start->count;
    TRY(allocate(dem));
    memcpy(dem->colliders, def->colliders, (size_t)def->collider_count * sizeof(SimCollider));
    dem->def.colliders = dem->colliders;
    dem->skin = SKIN_RADII * def->largest_radius;
    choose_contact_law(dem);
    for (int64_t i = 0; i < dem->count; i++) {
        dem->x[i] = start->position[i].x, dem->y[i] = start->position[i].y, dem->z[i] = start->position[i].z;
        dem->vx[i] = start->velocity[i].x, dem->vy[i] = start->velocity[i].y, dem->vz[i] = start->velocity[i].z;
        dem->radius[i] = start->radius[i];
        dem->id[i] = (int32_t)i;
    }
    dem->travelled = HUGE_VAL; // the first substep makes the lists
    return GRAIN_OK;
}

static GrainResult create(const SimDef *def, const Particles *start, int threads, void **state)
{
    *state = NULL;
    Dem *dem = ALLOC_ZEROED(Dem, 1);
    if (!dem) return GRAIN_ERROR_MEMORY;
    GrainResult result = create_inside(dem, def, start, threads);
    if (result == GRAIN_OK) *state = dem;
    else destroy(dem);
    return result;
}

static double largest_step(const void *state)
{
    return (double)((const Dem *)state)->contact_time / STEPS_PER_CONTACT;
}

static GrainResult step(void *state, double seconds)
{
    Dem *dem = state;
    TRY(dem_find_contacts(dem));
    dem_forces(dem, (float)seconds);
    return dem_integrate(dem, (float)seconds);
}

static GrainResult read(const void *state, Particles *out)
{
    const Dem *dem = state;
    TRY(particles_reserve(out, dem->count));
    out->count = dem->count;
    for (int64_t i = 0; i < dem->count; i++) {
        int32_t id = dem->id[i];
        out->position[id] = vec3(dem->x[i], dem->y[i], dem->z[i]);
        out->velocity[id] = vec3(dem->vx[i], dem->vy[i], dem->vz[i]);
        out->radius[id] = dem->radius[i];
    }
    return GRAIN_OK;
}

static int save(const void *state, Column columns[SOLVER_MAX_COLUMNS])
{
    const Dem *dem = state;
    int count = 0;
    columns[count++] = (Column){"dem.travelled", GRAIN_F64, 1, 1, &dem->travelled};
    columns[count++] = (Column){"dem.id", GRAIN_I32, 1, dem->count, dem->id};
    const struct {
        const char *name;
        const float *data;
    } arrays[] = {{"dem.x", dem->x},           {"dem.y", dem->y},           {"dem.z", dem->z},
                  {"dem.vx", dem->vx},         {"dem.vy", dem->vy},         {"dem.vz", dem->vz},
                  {"dem.list_x", dem->list_x}, {"dem.list_y", dem->list_y}, {"dem.list_z", dem->list_z},
                  {"dem.radius", dem->radius}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        columns[count++] = (Column){arrays[i].name, GRAIN_F32, 1, dem->count, arrays[i].data};
    return count;
}

static GrainResult load(void *state, const Column *columns, int column_count)
{
    Dem *dem = state;
    Column own[SOLVER_MAX_COLUMNS];
    int own_count = save(dem, own);
    for (int i = 0; i < own_count; i++)
        TRY(column_copy(columns, column_count, own[i].name, own[i].type, own[i].components, own[i].count,
                        (void *)own[i].data));
    return isfinite(dem->travelled) ? dem_restore_contacts(dem) : GRAIN_OK; // before the first substep there are none
}

const Solver dem_solver = {"dem", 1, create, destroy, largest_step, step, read, save, load};
