// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that can be wrong with a mesh, counted.
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "base/run.h"
#include "base/sort.h"
#include "mesh/mesh_shells.h"
#include "mesh/mesh_winding.h"

#include <string.h>

// A triangle whose height is below this part of its length has no area: what float coordinates can tell.
#define FLATNESS 1e-7

typedef struct Checker {
    const GrainMesh *mesh;
    GrainMeshReport *report;
    int threads;
    int32_t *kept;    // corners of the triangles that can be looked at; NULL when all can
    GrainMesh sound;  // those triangles
    int32_t *same_as; // vertex -> the first at its place
    MeshTopology topology;
    MeshShells shells;
} Checker;

static int is_finite_vertex(const GrainMesh *mesh, int64_t vertex)
{
    return mesh_is_place(mesh->positions + 3 * vertex);
}

static int is_broken(const GrainMesh *mesh, int64_t triangle)
{
    for (int c = 0; c < 3; c++) {
        int32_t vertex = mesh->triangles[3 * triangle + c];
        if (vertex < 0 || vertex >= mesh->vertex_count || !is_finite_vertex(mesh, vertex)) return 1;
    }
    return 0;
}

// Leaves out what has no place; the rest of the check looks at what is left.
static GrainResult keep_sound(Checker *k)
{
    const GrainMesh *mesh = k->mesh;
    GrainMeshReport *r = k->report;
    for (int64_t v = 0; v < mesh->vertex_count; v++) r->non_finite_vertices += !is_finite_vertex(mesh, v);
    for (int64_t i = 0; i < mesh->triangle_count; i++) r->broken_triangles += is_broken(mesh, i);
    k->sound = *mesh;
    if (r->broken_triangles == 0) return GRAIN_OK;
    k->kept = ALLOC(int32_t, 3 * (mesh->triangle_count - r->broken_triangles));
    if (!k->kept) return GRAIN_ERROR_MEMORY;
    int64_t count = 0;
    for (int64_t i = 0; i < mesh->triangle_count; i++)
        if (!is_broken(mesh, i)) memcpy(k->kept + 3 * count++, mesh->triangles + 3 * i, 3 * sizeof(int32_t));
    k->sound.triangles = k->kept;
    k->sound.triangle_count = count;
    return GRAIN_OK;
}

static GrainResult count_vertices(Checker *k)
{
    GrainMeshReport *r = k->report;
    TRY(mesh_weld(&k->sound, k->threads, &k->same_as, &r->duplicate_vertices));
    uint8_t *used = ALLOC_ZEROED(uint8_t, k->sound.vertex_count);
    if (!used) return GRAIN_ERROR_MEMORY;
    for (int64_t c = 0; c < 3 * k->sound.triangle_count; c++) used[k->sound.triangles[c]] = 1;
    for (int64_t v = 0; v < k->sound.vertex_count; v++) r->loose_vertices += !used[v];
    alloc_free(used);
    return GRAIN_OK;
}

static void count_degenerate(Checker *k)
{
    for (int64_t i = 0; i < k->sound.triangle_count; i++) {
        Vec3d a = vec3d_from(mesh_vertex(&k->sound, i, 0)), b = vec3d_from(mesh_vertex(&k->sound, i, 1));
        Vec3d c = vec3d_from(mesh_vertex(&k->sound, i, 2));
        Vec3d ab = vec3d_sub(b, a), bc = vec3d_sub(c, b), ca = vec3d_sub(a, c);
        double longest = real_max(vec3d_dot(ab, ab), real_max(vec3d_dot(bc, bc), vec3d_dot(ca, ca)));
        k->report->degenerate_triangles += !(vec3d_length(vec3d_cross(ab, bc)) > FLATNESS * longest);
    }
}

// A triangle's three places, lowest first: the same for any winding and any first corner.
static void sorted_places(const Checker *k, int64_t triangle, int32_t place[3])
{
    for (int c = 0; c < 3; c++) {
        int32_t v = k->same_as[k->sound.triangles[3 * triangle + c]];
        int at = c;
        for (; at > 0 && place[at - 1] > v; at--) place[at] = place[at - 1];
        place[at] = v;
    }
}

static GrainResult count_duplicates(Checker *k)
{
    int64_t count = k->sound.triangle_count;
    SortItem *items = ALLOC(SortItem, count);
    SortScratch scratch = {0};
    GrainResult result = items ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; result == GRAIN_OK && i < count; i++) {
        int32_t place[3];
        sorted_places(k, i, place);
        uint64_t hash = (uint64_t)place[0] * 0x9E3779B97F4A7C15ull ^ (uint64_t)place[1] * 0xC2B2AE3D27D4EB4Full ^
                        (uint64_t)place[2] * 0x165667B19E3779F9ull;
        items[i] = (SortItem){(hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ull >> 20, (uint32_t)i, 0};
    }
    if (result == GRAIN_OK) result = sort_by_key(items, count, 44, &scratch, k->threads);
    for (int64_t i = 1, first = 0; result == GRAIN_OK && i < count; i++) {
        if (items[i].key != items[first].key) {
            first = i;
            continue;
        }
        int32_t own[3], other[3];
        sorted_places(k, items[i].value, own);
        sorted_places(k, items[first].value, other);
        k->report->duplicate_triangles += memcmp(own, other, sizeof own) == 0;
    }
    sort_scratch_free(&scratch);
    alloc_free(items);
    return result;
}

// A shell whose normals point inwards is a cavity if another shell goes around it, and inside out if none does.
static GrainResult count_inside_out(Checker *k)
{
    const MeshShells *s = &k->shells;
    int64_t negative = 0;
    for (int64_t i = 0; i < s->shell_count; i++) negative += s->shells[i].volume < 0.0 && s->shells[i].orientable;
    if (negative == 0) return GRAIN_OK;
    MeshWinding winding;
    uint8_t *seen = ALLOC_ZEROED(uint8_t, s->shell_count);
    int32_t *asked = ALLOC(int32_t, negative);
    float *number = ALLOC(float, negative);
    GrainResult result = seen && asked && number ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) result = mesh_winding_build(&winding, &k->sound, s->flipped, NULL, k->threads);
    if (result == GRAIN_OK) {
        int64_t count = 0;
        for (int64_t i = 0; i < k->sound.triangle_count; i++) {
            int32_t shell = s->shell_of[i];
            if (shell < 0 || seen[shell] || s->shells[shell].volume >= 0.0 || !s->shells[shell].orientable) continue;
            seen[shell] = 1;
            asked[count++] = (int32_t)i;
        }
        mesh_winding_on(&winding, &k->sound, asked, count, k->threads, number);
        // On its own surface an inside-out shell counts minus one half; what is beyond that is the others'.
        for (int64_t i = 0; i < count; i++) k->report->inside_out_shells += number[i] + 0.5f < 0.5f;
        mesh_winding_free(&winding);
    }
    alloc_free(seen), alloc_free(asked), alloc_free(number);
    return result;
}

static GrainResult count_shells(Checker *k)
{
    GrainMeshReport *r = k->report;
    const MeshTopology *t = &k->topology;
    TRY(mesh_topology_build(&k->topology, &k->sound, 1, k->threads));
    TRY(mesh_shells_find(&k->shells, t));
    r->open_edges = t->open_edges, r->non_manifold_edges = t->crowded_edges, r->flipped_edges = t->flipped_edges;
    r->shells = k->shells.shell_count;
    for (int64_t i = 0; i < k->shells.shell_count; i++) {
        const MeshShell *shell = &k->shells.shells[i];
        r->open_shells += shell->open_edges > 0 || shell->crowded_edges > 0;
        r->non_orientable_shells += !shell->orientable;
        r->flipped_triangles += shell->flipped_triangles;
        r->area += shell->area;
        r->volume += shell->volume;
    }
    r->closed = mesh_is_closed(t) && r->shells > 0;
    return count_inside_out(k);
}

static GrainResult check(Checker *k, Run *run)
{
    TRY(keep_sound(k));
    TRY(run_progress(run, "mesh check", 0.1));
    TRY(count_vertices(k));
    if (k->sound.triangle_count == 0) return GRAIN_OK;
    count_degenerate(k);
    TRY(count_duplicates(k));
    TRY(run_progress(run, "mesh check", 0.4));
    TRY(count_shells(k));
    Vec3 low, high;
    mesh_bounds(&k->sound, k->threads, &low, &high);
    Vec3d least = vec3d_from(low), most = vec3d_from(high);
    memcpy(k->report->low, &least, sizeof least);
    memcpy(k->report->high, &most, sizeof most);
    return GRAIN_OK;
}

GrainResult mesh_check(const GrainMesh *mesh, Run *run, GrainMeshReport *report)
{
    *report = (GrainMeshReport){
        .struct_size = sizeof *report, .vertices = mesh->vertex_count, .triangles = mesh->triangle_count};
    Checker checker = {.mesh = mesh, .report = report, .threads = run->thread_count};
    GrainResult result = check(&checker, run);
    mesh_shells_free(&checker.shells);
    mesh_topology_free(&checker.topology);
    alloc_free(checker.kept);
    alloc_free(checker.same_as);
    return result;
}
