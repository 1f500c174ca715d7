// SPDX-License-Identifier: GPL-3.0-or-later
#include "fill/fill.h"
#include "base/error.h"
#include "base/real.h"
#include "base/rng.h"

#include <math.h>

// Sites of the hexagonal close packing: rows shifted by half a spacing, layers by a third of a row.
typedef struct Lattice {
    Vec3 low;
    float spacing, row_step, layer_step;
    int64_t columns, rows, layers;
} Lattice;

static Lattice lattice_in(Vec3 low, Vec3 high, float spacing)
{
    Lattice lattice = {low, spacing, spacing * 0.8660254f, spacing * 0.8164966f, 0, 0, 0};
    lattice.columns = (int64_t)((double)(high.x - low.x) / (double)lattice.spacing) + 2;
    lattice.rows = (int64_t)((double)(high.y - low.y) / (double)lattice.row_step) + 2;
    lattice.layers = (int64_t)((double)(high.z - low.z) / (double)lattice.layer_step) + 2;
    return lattice;
}

static Vec3 lattice_site(const Lattice *lattice, int64_t column, int64_t row, int64_t layer)
{
    float shift_x = 0.5f * (float)((row + layer) % 2), shift_y = (layer % 2) ? 1.0f / 3.0f : 0.0f;
    return vec3(lattice->low.x + lattice->spacing * ((float)column + shift_x),
                lattice->low.y + lattice->row_step * ((float)row + shift_y),
                lattice->low.z + lattice->layer_step * (float)layer);
}

// The largest particles just touch; smaller ones are moved about in the room that leaves, so that no two overlap and
// the lattice does not show.
static float spacing_of(float radius, float size_spread) { return 2.0f * radius * (1.0f + size_spread) * 1.001f; }

static int has_room(const FillDef *def, Vec3 position, float radius)
{
    Vec3 gradient;
    if (sdf_sample_point(def->inside, position, &gradient) > -radius) return 0;
    for (int i = 0; i < def->avoid_count; i++)
        if (sdf_sample_point(def->avoid[i], position, &gradient) < radius) return 0;
    return 1;
}

// The volume between the triangles, at most that of the box around the mesh, which is all an open mesh can tell.
static double volume_of(const GrainMesh *mesh)
{
    Vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    const Vec3 *point = (const Vec3 *)mesh->positions;
    for (int64_t i = 0; i < mesh->vertex_count; i++) low = vec3_min(low, point[i]), high = vec3_max(high, point[i]);
    double volume = 0.0;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *corner = mesh->triangles + 3 * t;
        Vec3 a = vec3_sub(point[corner[0]], low), b = vec3_sub(point[corner[1]], low),
             c = vec3_sub(point[corner[2]], low);
        volume += (double)vec3_dot(a, vec3_cross(b, c)) / 6.0;
    }
    Vec3 size = vec3_sub(high, low);
    return real_min(fabs(volume), (double)size.x * (double)size.y * (double)size.z);
}

double fill_estimate(const GrainMesh *mesh, float radius, float size_spread)
{
    double spacing = (double)spacing_of(radius, size_spread);
    return volume_of(mesh) * M_SQRT2 / (spacing * spacing * spacing);
}

GrainResult fill_volume(Particles *particles, const FillDef *def, Run *run)
{
    Vec3 low, high;
    sdf_bounds(def->inside, &low, &high);
    float spacing = spacing_of(def->radius, def->size_spread);
    Lattice lattice = lattice_in(low, high, spacing);
    int64_t before = particles->count;
    uint64_t site = 0;
    for (int64_t layer = 0; layer < lattice.layers; layer++) {
        TRY(run_progress(run, "fill", (double)layer / (double)lattice.layers));
        for (int64_t row = 0; row < lattice.rows; row++) {
            for (int64_t column = 0; column < lattice.columns; column++, site++) {
                Rng4 jitter = rng_at(def->seed, site, RNG_STREAM_FILL_JITTER, 0);
                float size = rng_signed(rng_at(def->seed, site, RNG_STREAM_FILL_RADIUS, 0).word[0]);
                float radius = def->radius * (1.0f + def->size_spread * size);
                Vec3 direction =
                    vec3(rng_signed(jitter.word[0]), rng_signed(jitter.word[1]), rng_signed(jitter.word[2]));
                // Within a cube of half side room / sqrt(3), hence within the site's own sphere.
                float room = (0.5f * spacing - radius) * 0.57735f;
                Vec3 position = vec3_add_scaled(lattice_site(&lattice, column, row, layer), direction, room);
                if (!has_room(def, position, radius)) continue;
                Vec3 shaken = vec3_add_scaled(position, direction, def->shake * radius);
                if (def->shake > 0.0f && has_room(def, shaken, radius)) position = shaken;
                TRY(particles_add(particles, position, def->velocity, radius));
            }
        }
    }
    if (particles->count > before) return GRAIN_OK;
    return fail(
        GRAIN_ERROR_MESH,
        "no particle of radius %g m fits inside; use a smaller particle radius, move the object out of colliders "
        "and other sources, or close the mesh if it is open",
        (double)def->radius);
}
