#pragma once
/// Discrete elements: spheres with damped linear springs and Coulomb friction (Bell, Yu, Mucha 2005, eq. 8 to 11, 18).
///
/// Particles are kept sorted by cell. Each sums its own contacts from a list of everybody near (both partners list each
/// other), so no result depends on who computes it, and the list is made again only when somebody has moved by half the
/// skin. The grains do not spin yet, which acts like a resistance to rolling without limit.
#include "base/neighbour_list.h"
#include "sim/solver.h"

extern const Solver dem_solver;

/// Places where a collider may touch a particle before the lists are made again.
typedef struct DemCandidates {
    int32_t *particle;
    int64_t count, capacity;
} DemCandidates;

typedef struct Dem {
    SimDef def;
    SimCollider *colliders; ///< own copy
    int threads;
    int64_t count;

    // In sorted order.
    float *x, *y, *z, *vx, *vy, *vz, *radius;
    float *ax, *ay, *az;             ///< acceleration of the present substep
    float *list_x, *list_y, *list_z; ///< where the particles were when the lists were made
    int32_t *id;                     ///< order of birth
    float *scratch;                  ///< one array, for reordering

    CellGrid grid;
    NeighbourList neighbours;
    DemCandidates *candidates; ///< one set for each collider
    double travelled;          ///< m, how far the fastest particle can have moved since the lists were made
    float skin;                ///< m
    double *block_speed;       ///< fastest speed of each block, m/s
    int64_t block_count;

    // Contact law, over the effective mass of a pair: f / m = stiffness * overlap - damping * separation speed.
    float contact_time; ///< s
    float stiffness;    ///< 1/s2
    float damping;      ///< 1/s
} Dem;

// dem_contacts.c
/// Makes the lists if somebody may have left the skin.
GrainResult dem_find_contacts(Dem *dem);
/// Makes them as they were when the particles stood at list_x, list_y, list_z.
GrainResult dem_restore_contacts(Dem *dem);

// dem_force.c
/// Gravity, grains and colliders into ax, ay, az.
void dem_forces(Dem *dem, float seconds);

// dem_integrate.c
/// Symplectic Euler; notes the fastest speed. GRAIN_ERROR_DIVERGED names the particle.
GrainResult dem_integrate(Dem *dem, float seconds);
