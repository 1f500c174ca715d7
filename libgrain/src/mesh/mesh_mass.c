// SPDX-License-Identifier: GPL-3.0-or-later
// Mass, centre and inertia from the surface alone. Mirtich 1996, "Fast and accurate computation of
// polyhedral mass properties": integrals of 1, x, x^2, x y ... over the volume become integrals over the faces.
#include "base/error.h"
#include "base/parallel.h"
#include "mesh/mesh_shells.h"

#include <string.h>

// A volume below this part of (area)^(3/2) is rounding, or a sheet.
#define LEAST_VOLUME 1e-9

// Integrals over the volume.
typedef struct Moments {
    double volume;
    double first[3];  // x, y, z
    double second[3]; // x^2, y^2, z^2
    double mixed[3];  // x y, y z, z x
} Moments;

// A shell with more hole than this part of its surface is a sheet. Beside proper bodies sheets weigh nothing: Suzanne's
// eyes are half spheres in sockets that are closed without them.
#define SHEET_HOLES 0.1

typedef struct Summing {
    const MeshShells *shells;
    int with_sheets;
    Moments sum;
} Summing;

static int is_sheet(const MeshShell *shell) { return shell->hole_area > SHEET_HOLES * shell->area; }

// The tetrahedron from the origin to a triangle, signed. The mean over its corners (0, a, b, c) of a product of two
// coordinates: (sum of corners)_i (sum)_j + sum over corners of a_i a_j, over 20.
static void add_triangle(void *user, int32_t shell, Vec3d a, Vec3d b, Vec3d c, int is_cap)
{
    (void)is_cap;
    Summing *s = user;
    if (is_sheet(&s->shells->shells[shell]) && !s->with_sheets) return;
    double volume = vec3d_dot(a, vec3d_cross(b, c)) / 6.0;
    if (s->shells->shells[shell].volume < 0.0) volume = -volume; // inside out
    const double p[3][3] = {{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}};
    double total[3];
    for (int i = 0; i < 3; i++) total[i] = p[0][i] + p[1][i] + p[2][i];
    s->sum.volume += volume;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        double squares = 0.0, products = 0.0;
        for (int k = 0; k < 3; k++) squares += p[k][i] * p[k][i], products += p[k][i] * p[k][j];
        s->sum.first[i] += volume * total[i] / 4.0;
        s->sum.second[i] += volume * (total[i] * total[i] + squares) / 20.0;
        s->sum.mixed[i] += volume * (total[i] * total[j] + products) / 20.0;
    }
}

static void write_properties(const Moments *m, Vec3d origin, double density, GrainMassProperties *out)
{
    const double from[3] = {origin.x, origin.y, origin.z};
    double off[3];
    out->volume = m->volume;
    out->mass = density * m->volume;
    for (int i = 0; i < 3; i++) {
        off[i] = m->first[i] / m->volume;
        out->centre[i] = from[i] + off[i];
    }
    // About the centre: Steiner's theorem backwards.
    double square[3], mixed[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        square[i] = density * (m->second[i] - m->volume * off[i] * off[i]);
        mixed[i] = density * (m->mixed[i] - m->volume * off[i] * off[j]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out->inertia[3 * i + i] = square[j] + square[k];
        out->inertia[3 * i + j] = out->inertia[3 * j + i] = -mixed[i];
    }
}

static GrainResult find_mass(const MeshShells *shells, double density, GrainMassProperties *out)
{
    Vec3 low, high;
    mesh_bounds(shells->topology->mesh, 1, &low, &high);
    // From the middle of the mesh: far from the origin, the sums would lose all digits.
    Vec3d middle = vec3d_scale(vec3d_add(vec3d_from(low), vec3d_from(high)), 0.5);
    Summing summing = {.shells = shells, .with_sheets = 1};
    for (int64_t i = 0; i < shells->shell_count; i++)
        if (!is_sheet(&shells->shells[i])) summing.with_sheets = 0;
    mesh_shells_visit(shells, middle, add_triangle, &summing);
    double area = 0.0;
    for (int64_t i = 0; i < shells->shell_count; i++) area += shells->shells[i].area;
    if (!(summing.sum.volume > LEAST_VOLUME * area * sqrt(area)))
        return fail(GRAIN_ERROR_MESH,
                    "the mesh encloses no volume (%g m^3, %lld open edges), so it has no mass: close it, or give it a "
                    "thickness with the Solidify modifier",
                    summing.sum.volume, (long long)shells->topology->open_edges);
    write_properties(&summing.sum, middle, density, out);
    return GRAIN_OK;
}

GrainResult mesh_mass(const GrainMesh *mesh, double density, GrainMassProperties *out)
{
    *out = (GrainMassProperties){.struct_size = sizeof *out};
    MeshTopology topology;
    MeshShells shells;
    TRY(mesh_topology_build(&topology, mesh, 1, 1));
    GrainResult result = mesh_shells_find(&shells, &topology);
    if (result == GRAIN_OK) {
        result = find_mass(&shells, density, out);
        mesh_shells_free(&shells);
    }
    mesh_topology_free(&topology);
    return result;
}
