#include "base/parallel.h"
#include "sim/dem/dem.h"

#include <math.h>

// Friction resists sliding as a viscous force up to the Coulomb limit. The viscosity is this much of what would stop the
// sliding of a pair in one substep: a grain with ten contacts still stops instead of swinging.
#define SLIDE_STOP_FRACTION 0.2f

typedef struct ContactLaw {
    float stiffness, damping, slide_damping;
} ContactLaw;

// Acceleration times effective mass over mass, of one contact. separation_velocity is that of the particle relative to
// what it touches; normal points to the particle.
static inline Vec3 contact(const ContactLaw *law, float overlap, Vec3 normal, Vec3 separation_velocity, float friction)
{
    float normal_speed = vec3_dot(separation_velocity, normal);
    float push = law->stiffness * overlap - law->damping * normal_speed;
    if (push <= 0.0f) return vec3(0, 0, 0); // damping must not pull
    Vec3 slide = vec3_add_scaled(separation_velocity, normal, -normal_speed);
    float slide_speed = vec3_length(slide), grip = law->slide_damping * slide_speed, limit = friction * push;
    float drag = slide_speed > 0.0f ? -(grip < limit ? grip : limit) / slide_speed : 0.0f;
    return vec3_add_scaled(vec3_scale(normal, push), slide, drag);
}

static inline Vec3 grain_contacts(const Dem *dem, const ContactLaw *law, int64_t i)
{
    Vec3 sum = {0, 0, 0};
    float x = dem->x[i], y = dem->y[i], z = dem->z[i], radius = dem->radius[i];
    float mass = radius * radius * radius; // up to a factor that all share
    for (int64_t entry = dem->neighbours.start[i]; entry < dem->neighbours.start[i + 1]; entry++) {
        int32_t j = dem->neighbours.neighbour[entry];
        Vec3 between = {x - dem->x[j], y - dem->y[j], z - dem->z[j]};
        float reach = radius + dem->radius[j], squared = vec3_dot(between, between);
        if (squared >= reach * reach || squared == 0.0f) continue;
        float distance = sqrtf(squared), inverse = 1.0f / distance;
        Vec3 velocity = {dem->vx[i] - dem->vx[j], dem->vy[i] - dem->vy[j], dem->vz[i] - dem->vz[j]};
        float other_mass = dem->radius[j] * dem->radius[j] * dem->radius[j];
        Vec3 force = contact(law, reach - distance, vec3_scale(between, inverse), velocity, dem->def.friction);
        sum = vec3_add_scaled(sum, force, other_mass / (mass + other_mass));
    }
    return sum;
}

static void add_collider(Dem *dem, const ContactLaw *law, const SimCollider *collider, const DemCandidates *candidates)
{
    PARALLEL_FOR(dem->threads, entry, candidates->count)
    {
        int32_t i = candidates->particle[entry];
        Vec3 position = {dem->x[i], dem->y[i], dem->z[i]}, normal = collider->plane_normal;
        float distance;
        if (collider->sdf) {
            distance = sdf_sample_point(collider->sdf, position, &normal);
            normal = vec3_normalize(normal, vec3(0, 0, 0)); // deep inside there is no way out to point to
        } else {
            distance = vec3_dot(vec3_sub(position, collider->plane_point), normal);
        }
        if (distance < dem->radius[i]) {
            // A collider does not give way: the effective mass is the particle's own.
            Vec3 velocity = {dem->vx[i], dem->vy[i], dem->vz[i]};
            Vec3 force = contact(law, dem->radius[i] - distance, normal, velocity, collider->friction);
            dem->ax[i] += force.x, dem->ay[i] += force.y, dem->az[i] += force.z;
        }
    }
}

void dem_forces(Dem *dem, float seconds)
{
    ContactLaw law = {dem->stiffness, dem->damping, SLIDE_STOP_FRACTION / seconds};
    PARALLEL_BLOCKS(dem->threads, block, dem->block_count)
    {
        for (int64_t i = block * PARALLEL_BLOCK; i < parallel_block_end(block, PARALLEL_BLOCK, dem->count); i++) {
            Vec3 sum = vec3_add(dem->def.gravity, grain_contacts(dem, &law, i));
            dem->ax[i] = sum.x, dem->ay[i] = sum.y, dem->az[i] = sum.z;
        }
    }
    for (int c = 0; c < dem->def.collider_count; c++)
        add_collider(dem, &law, &dem->colliders[c], &dem->candidates[c]);
}
