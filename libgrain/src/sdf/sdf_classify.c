// SPDX-License-Identifier: GPL-3.0-or-later
#include "sdf/sdf_classify.h"
#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

// On the surface of a solid the winding number is one half on average: 0 outside, 1 inside. A hole pulls it down: a
// sphere with a hole of 5 % of its surface has 0.475, a box without its lid 0.40, half a sphere 0.29, a plane 0. Below
// this, a shell is a vessel or a sheet and must not be filled.
#define SOLID_WINDING 0.45
// A shell whose edges all balance has no holes: the winding number next to it is a whole number. Folded back onto
// itself it encloses nothing anywhere, else it does behind this part of its area at least.
#define SOLID_SHARE 0.02
// Triangles of a shell that are asked.
#define SAMPLES 512
// Open shells of fewer triangles than this are crumbs: a mesh of loose triangles has nothing else. So many of them, at
// least, are asked; where there are more, those between two that are asked go with the first.
#define CRUMB 4
#define CRUMBS_ASKED 4096

static GrainResult make_sheets(SdfClassified *parts, const GrainMesh *mesh)
{
    parts->is_sheet = ALLOC_ZEROED(uint8_t, mesh->triangle_count);
    return parts->is_sheet ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

typedef struct ShellSample {
    double area, winding; // sums
    double enclosing;     // area next to which the surface goes around something
    int64_t seen;
    int32_t like;      // the shell whose sums hold for this one
    int is_unbalanced; // some edge is passed more often one way than the other
} ShellSample;

// Looks at the edges of more or less than two triangles. Buffer: room for all edges at a vertex.
static void balance_edges(const SdfClassified *parts, int32_t vertex, uint64_t *buffer, ShellSample *samples)
{
    const MeshTopology *t = &parts->topology;
    int64_t count = mesh_edges_at(t, vertex, buffer);
    for (int64_t first = 0, next; first < count; first = next) {
        int sum = 0;
        for (next = first; next < count && buffer[next] >> 32 == buffer[first] >> 32; next++) {
            int32_t corner = (int32_t)(uint32_t)buffer[next];
            int runs_up = t->vertex[corner] == vertex, is_turned = parts->shells.flipped[corner / 3];
            sum += runs_up != is_turned ? 1 : -1;
        }
        int32_t shell = parts->shells.shell_of[(int32_t)(uint32_t)buffer[first] / 3];
        if (sum != 0 && shell >= 0) samples[shell].is_unbalanced = 1;
    }
}

static GrainResult find_unbalanced(const SdfClassified *parts, ShellSample *samples)
{
    uint64_t *buffer = ALLOC(uint64_t, 2 * mesh_most_corners(&parts->topology) + 1);
    if (!buffer) return GRAIN_ERROR_MEMORY;
    for (int64_t vertex = 0; vertex < parts->topology.vertex_count; vertex++)
        balance_edges(parts, (int32_t)vertex, buffer, samples);
    alloc_free(buffer);
    return GRAIN_OK;
}

// Whether a shell with holes or crowded edges is a sheet nevertheless.
static int is_sheet(const ShellSample *sample)
{
    if (!sample->is_unbalanced) return sample->enclosing <= SOLID_SHARE * sample->area;
    return fabs(sample->winding) <= SOLID_WINDING * sample->area;
}

static int is_crumb(const MeshShell *shell) { return shell->open_edges > 0 && shell->triangle_count < CRUMB; }

// Chooses the shells that are asked, each for itself or for others too.
static void choose_shells(const MeshShells *shells, ShellSample *samples)
{
    int64_t crumbs = 0, crumb = 0;
    for (int64_t i = 0; i < shells->shell_count; i++) crumbs += is_crumb(&shells->shells[i]);
    int64_t stride = crumbs / CRUMBS_ASKED + 1;
    for (int32_t i = 0, leader = 0; i < shells->shell_count; i++) {
        samples[i].like = i;
        if (!is_crumb(&shells->shells[i])) continue;
        if (crumb++ % stride == 0) leader = i;
        samples[i].like = leader;
    }
}

static int64_t list_asked(const SdfClassified *parts, const GrainMesh *mesh, ShellSample *samples, int32_t *asked)
{
    const MeshShells *shells = &parts->shells;
    int64_t count = 0;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        int32_t shell = shells->shell_of[i];
        if (shell < 0 || mesh_shell_is_closed(&shells->shells[shell]) || samples[shell].like != shell) continue;
        int64_t stride = shells->shells[shell].triangle_count / SAMPLES + 1;
        if (samples[shell].seen++ % stride == 0) asked[count++] = (int32_t)i;
    }
    return count;
}

// Sums, over some triangles of each shell, of the winding number on them.
static GrainResult sample_shells(const SdfClassified *parts, const GrainMesh *mesh, const MeshWinding *winding,
                                 ShellSample *samples, int threads)
{
    int32_t *asked = ALLOC(int32_t, mesh->triangle_count);
    float *number = ALLOC(float, mesh->triangle_count); // the mean of both sides
    int64_t count = 0;
    if (asked && number) {
        choose_shells(&parts->shells, samples);
        count = list_asked(parts, mesh, samples, asked);
        mesh_winding_on(winding, mesh, asked, count, threads, number);
    }
    for (int64_t i = 0; i < count; i++) {
        ShellSample *sample = &samples[parts->shells.shell_of[asked[i]]];
        Vec3d a = vec3d_from(mesh_vertex(mesh, asked[i], 0)), b = vec3d_from(mesh_vertex(mesh, asked[i], 1));
        Vec3d c = vec3d_from(mesh_vertex(mesh, asked[i], 2));
        double area = vec3d_length(vec3d_cross(vec3d_sub(b, a), vec3d_sub(c, a))), between = (double)number[i];
        sample->area += area;
        sample->winding += area * between;
        sample->enclosing += fabs(between) > 0.25 ? area : 0.0;
    }
    GrainResult result = asked && number ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    alloc_free(asked), alloc_free(number);
    return result;
}

static GrainResult tell_sheets(SdfClassified *parts, const GrainMesh *mesh, int threads)
{
    const MeshShells *shells = &parts->shells;
    MeshWinding winding;
    TRY(mesh_winding_build(&winding, mesh, shells->flipped, NULL, threads));
    ShellSample *samples = ALLOC_ZEROED(ShellSample, shells->shell_count);
    GrainResult result = samples ? make_sheets(parts, mesh) : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) result = find_unbalanced(parts, samples);
    if (result == GRAIN_OK) result = sample_shells(parts, mesh, &winding, samples, threads);
    if (result == GRAIN_OK) {
        for (int64_t i = 0; i < mesh->triangle_count; i++) {
            int32_t shell = shells->shell_of[i];
            // Lines and points, which belong to no shell, have no inside.
            parts->is_sheet[i] =
                shell < 0 || (!mesh_shell_is_closed(&shells->shells[shell]) && is_sheet(&samples[samples[shell].like]));
        }
    }
    alloc_free(samples);
    mesh_winding_free(&winding);
    return result;
}

// Closed shells without lone lines need no winding numbers.
static int has_only_closed(const MeshShells *shells, int64_t triangle_count)
{
    for (int64_t i = 0; i < shells->shell_count; i++)
        if (!mesh_shell_is_closed(&shells->shells[i])) return 0;
    for (int64_t i = 0; i < triangle_count; i++)
        if (shells->shell_of[i] < 0) return 0;
    return 1;
}

static void count_parts(SdfClassified *parts, const GrainMesh *mesh)
{
    parts->solids_closed = 1;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        int sheet = parts->is_sheet && parts->is_sheet[i];
        parts->sheet_triangles += sheet;
        int32_t shell = parts->shells.shell_of ? parts->shells.shell_of[i] : 0;
        if (sheet || !parts->shells.shells) continue;
        if (shell < 0 || !mesh_shell_is_closed(&parts->shells.shells[shell])) parts->solids_closed = 0;
    }
    parts->solid_triangles = mesh->triangle_count - parts->sheet_triangles;
    if (parts->sheet_triangles == 0) {
        alloc_free(parts->is_sheet);
        parts->is_sheet = NULL;
    }
}

static GrainResult find(SdfClassified *parts, const GrainMesh *mesh, GrainSdfKind kind, Run *run)
{
    if (kind == GRAIN_SDF_SHELL) {
        TRY(make_sheets(parts, mesh));
        memset(parts->is_sheet, 1, (size_t)mesh->triangle_count);
        count_parts(parts, mesh);
        return GRAIN_OK;
    }
    TRY(mesh_topology_build(&parts->topology, mesh, 1, run->thread_count));
    parts->solid_triangles = mesh->triangle_count;
    parts->solids_closed = 1;
    int lone_lines = parts->topology.corner_start[parts->topology.vertex_count] != 3 * mesh->triangle_count;
    if (mesh_is_closed(&parts->topology) && !lone_lines) return GRAIN_OK;
    TRY(mesh_shells_find(&parts->shells, &parts->topology));
    if (kind == GRAIN_SDF_AUTO && !has_only_closed(&parts->shells, mesh->triangle_count))
        TRY(tell_sheets(parts, mesh, run->thread_count));
    count_parts(parts, mesh);
    return GRAIN_OK;
}

GrainResult sdf_classify(SdfClassified *parts, const GrainMesh *mesh, GrainSdfKind kind, Run *run)
{
    *parts = (SdfClassified){0};
    GrainResult result = find(parts, mesh, kind, run);
    if (result != GRAIN_OK) sdf_classified_free(parts);
    return result;
}

GrainResult sdf_classified_winding(const SdfClassified *parts, MeshWinding *winding, int threads)
{
    const GrainMesh *mesh = parts->topology.mesh;
    if (!parts->is_sheet) return mesh_winding_build(winding, mesh, sdf_classified_flipped(parts), NULL, threads);
    uint8_t *wanted = ALLOC(uint8_t, mesh->triangle_count);
    if (!wanted) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < mesh->triangle_count; i++) wanted[i] = !parts->is_sheet[i];
    GrainResult result = mesh_winding_build(winding, mesh, sdf_classified_flipped(parts), wanted, threads);
    alloc_free(wanted);
    return result;
}

void sdf_classified_free(SdfClassified *parts)
{
    mesh_topology_free(&parts->topology);
    mesh_shells_free(&parts->shells);
    alloc_free(parts->is_sheet);
    *parts = (SdfClassified){0};
}
