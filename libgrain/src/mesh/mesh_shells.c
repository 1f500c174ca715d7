// SPDX-License-Identifier: GPL-3.0-or-later
#include "mesh/mesh_shells.h"
#include "base/alloc.h"
#include "base/error.h"

// Union-find over triangles, with the winding: turned[i] says whether i runs against parent[i]. The lowest member is
// the root.
typedef struct Groups {
    int32_t *parent;
    uint8_t *turned;
} Groups;

static int32_t group_root(Groups *g, int32_t member, int *turned)
{
    int sum = 0;
    int32_t root = member;
    for (; g->parent[root] != root; root = g->parent[root]) sum ^= g->turned[root];
    if (turned) *turned = sum;
    while (g->parent[member] != root && member != root) { // all on the way now point at the root
        int32_t next = g->parent[member];
        int own = g->turned[member];
        g->parent[member] = root;
        g->turned[member] = (uint8_t)sum;
        sum ^= own;
        member = next;
    }
    return root;
}

// Puts two into one group, the second turned against the first or not. 0 when they were in one and disagree.
static int group_join(Groups *g, int32_t a, int32_t b, int against)
{
    int turned_a, turned_b;
    int32_t root_a = group_root(g, a, &turned_a), root_b = group_root(g, b, &turned_b);
    int turned = turned_a ^ turned_b ^ against;
    if (root_a == root_b) return turned == 0;
    int32_t high = root_a > root_b ? root_a : root_b, low = root_a > root_b ? root_b : root_a;
    g->parent[high] = low;
    g->turned[high] = (uint8_t)turned;
    return 1;
}

static GrainResult groups_begin(Groups *g, int64_t count)
{
    g->parent = ALLOC(int32_t, count);
    g->turned = ALLOC_ZEROED(uint8_t, count);
    if (!g->parent || !g->turned) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) g->parent[i] = (int32_t)i;
    return GRAIN_OK;
}

static void groups_end(Groups *g)
{
    alloc_free(g->parent);
    alloc_free(g->turned);
}

// --- shells ---------------------------------------------------------------------------------------

typedef struct Finder {
    MeshShells *s;
    const MeshTopology *t;
    Groups patch;     // hang together by edges of exactly two triangles: one winding rules them
    Groups shell;     // hang together by any edge
    Groups rim;       // vertices that hang together by open edges
    uint8_t *twisted; // triangle -> its patch contradicts itself there
    int32_t *crowded; // triangle -> its edges with three triangles or more
    int32_t *tally;   // patch root -> turned triangles less straight ones; later vertex weights
    uint64_t *edges;
} Finder;

static void join_run(Finder *f, const uint64_t *run, int64_t count)
{
    const MeshTopology *t = f->t;
    int32_t first = (int32_t)(uint32_t)run[0], second = count > 1 ? (int32_t)(uint32_t)run[1] : first;
    if (count == 1) {
        f->s->open[first] = 1;
        group_join(&f->rim, t->vertex[first], t->vertex[mesh_next_corner(first)], 0);
    } else if (count == 2) {
        int same_way = t->vertex[first] == t->vertex[second];
        if (!group_join(&f->patch, first / 3, second / 3, same_way)) f->twisted[first / 3] = 1;
    }
    for (int64_t i = 1; i < count; i++) group_join(&f->shell, first / 3, (int32_t)(uint32_t)run[i] / 3, 0);
    for (int64_t i = 0; count > 2 && i < count; i++) f->crowded[(uint32_t)run[i] / 3]++;
}

static void join_all(Finder *f)
{
    for (int64_t v = 0; v < f->t->vertex_count; v++) {
        int64_t count = mesh_edges_at(f->t, (int32_t)v, f->edges);
        for (int64_t i = 0, end; i < count; i = end) {
            for (end = i + 1; end < count && f->edges[end] >> 32 == f->edges[i] >> 32;) end++;
            join_run(f, f->edges + i, end - i);
        }
    }
}

// The winding most triangles of a patch have is the right one.
static void settle_windings(Finder *f)
{
    int64_t triangle_count = f->t->mesh->triangle_count;
    for (int64_t i = 0; i < triangle_count; i++) {
        int turned;
        int32_t root = group_root(&f->patch, (int32_t)i, &turned);
        f->tally[root] += turned ? 1 : -1;
        f->s->flipped[i] = (uint8_t)turned;
    }
    for (int64_t i = 0; i < triangle_count; i++)
        if (f->tally[group_root(&f->patch, (int32_t)i, NULL)] > 0) f->s->flipped[i] ^= 1;
}

static GrainResult number_shells(Finder *f)
{
    MeshShells *s = f->s;
    int64_t triangle_count = f->t->mesh->triangle_count, capacity = 0;
    for (int64_t i = 0; i < triangle_count; i++) {
        const int32_t *v = f->t->vertex + 3 * i;
        s->shell_of[i] = -1;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
        int32_t root = group_root(&f->shell, (int32_t)i, NULL);
        if (root == i) {
            TRY(alloc_grow((void **)&s->shells, &capacity, s->shell_count + 1, sizeof(MeshShell)));
            s->shells[s->shell_count++] = (MeshShell){.orientable = 1};
        }
        s->shell_of[i] = root == i ? (int32_t)s->shell_count - 1 : s->shell_of[root];
        MeshShell *shell = &s->shells[s->shell_of[i]];
        shell->triangle_count++;
        shell->flipped_triangles += s->flipped[i];
        shell->crowded_edges += f->crowded[i];
        if (f->twisted[i]) shell->orientable = 0;
        for (int c = 0; s->open && c < 3; c++) shell->open_edges += s->open[3 * i + c];
    }
    return GRAIN_OK;
}

static Vec3d place_of(const MeshTopology *t, int32_t vertex)
{
    const float *p = t->mesh->positions + 3 * (int64_t)vertex;
    return vec3d((double)p[0], (double)p[1], (double)p[2]);
}

// Open edges that hang together make a hole's rim; its middle is the mean of their ends.
static void find_holes(Finder *f)
{
    MeshShells *s = f->s;
    const MeshTopology *t = f->t;
    for (int64_t c = 0; c < 3 * t->mesh->triangle_count; c++) {
        if (!s->open[c]) continue;
        int32_t a = t->vertex[c], b = t->vertex[mesh_next_corner((int32_t)c)];
        int32_t root = group_root(&f->rim, a, NULL);
        Vec3d both = vec3d_add(place_of(t, a), place_of(t, b));
        s->hole_centre[root] = vec3d_add(s->hole_centre[root], both);
        f->tally[root] += 2;
    }
    // Roots are lower than what hangs on them: their sums are still sums when the others ask.
    for (int64_t v = t->vertex_count - 1; v >= 0; v--) {
        int32_t root = group_root(&f->rim, (int32_t)v, NULL);
        if (f->tally[root] > 0) s->hole_centre[v] = vec3d_scale(s->hole_centre[root], 1.0 / f->tally[root]);
    }
}

void mesh_shells_visit(const MeshShells *s, Vec3d relative_to, MeshVisitFn *visit, void *user)
{
    const MeshTopology *t = s->topology;
    for (int64_t triangle = 0; triangle < t->mesh->triangle_count; triangle++) {
        int32_t shell = s->shell_of[triangle];
        if (shell < 0) continue;
        int turned = s->flipped[triangle];
        Vec3d place[3];
        for (int c = 0; c < 3; c++) place[c] = vec3d_sub(place_of(t, t->vertex[3 * triangle + c]), relative_to);
        visit(user, shell, place[0], place[turned ? 2 : 1], place[turned ? 1 : 2], 0);
        for (int c = 0; s->open && c < 3; c++) {
            if (!s->open[3 * triangle + c]) continue;
            Vec3d middle = vec3d_sub(s->hole_centre[t->vertex[3 * triangle + c]], relative_to);
            Vec3d from = place[c], to = place[(c + 1) % 3];
            visit(user, shell, turned ? from : to, turned ? to : from, middle, 1);
        }
    }
}

static void add_to_shell(void *user, int32_t shell, Vec3d a, Vec3d b, Vec3d c, int is_cap)
{
    MeshShell *sum = &((MeshShell *)user)[shell];
    Vec3d normal = vec3d_cross(vec3d_sub(b, a), vec3d_sub(c, a));
    *(is_cap ? &sum->hole_area : &sum->area) += 0.5 * vec3d_length(normal);
    sum->volume += vec3d_dot(a, normal) / 6.0;
}

static GrainResult find(Finder *f)
{
    MeshShells *s = f->s;
    const MeshTopology *t = f->t;
    int64_t triangle_count = t->mesh->triangle_count;
    TRY(groups_begin(&f->patch, triangle_count));
    TRY(groups_begin(&f->shell, triangle_count));
    TRY(groups_begin(&f->rim, t->vertex_count));
    int64_t most = t->vertex_count > triangle_count ? t->vertex_count : triangle_count;
    if (!(f->twisted = ALLOC_ZEROED(uint8_t, triangle_count)) ||
        !(f->crowded = ALLOC_ZEROED(int32_t, triangle_count)) || !(f->tally = ALLOC_ZEROED(int32_t, most)) ||
        !(f->edges = ALLOC(uint64_t, 2 * mesh_most_corners(t))) || !(s->shell_of = ALLOC(int32_t, triangle_count)) ||
        !(s->flipped = ALLOC(uint8_t, triangle_count)))
        return GRAIN_ERROR_MEMORY;
    if (t->open_edges > 0 && (!(s->open = ALLOC_ZEROED(uint8_t, 3 * triangle_count)) ||
                              !(s->hole_centre = ALLOC_ZEROED(Vec3d, t->vertex_count))))
        return GRAIN_ERROR_MEMORY;
    join_all(f);
    settle_windings(f);
    TRY(number_shells(f));
    if (s->open) {
        for (int64_t i = 0; i < most; i++) f->tally[i] = 0;
        find_holes(f);
    }
    Vec3 low, high;
    mesh_bounds(t->mesh, 1, &low, &high);
    Vec3d middle = vec3d_scale(vec3d_add(vec3d_from(low), vec3d_from(high)), 0.5);
    mesh_shells_visit(s, middle, add_to_shell, s->shells);
    return GRAIN_OK;
}

GrainResult mesh_shells_find(MeshShells *s, const MeshTopology *topology)
{
    *s = (MeshShells){.topology = topology};
    Finder f = {.s = s, .t = topology};
    GrainResult result = find(&f);
    groups_end(&f.patch);
    groups_end(&f.shell);
    groups_end(&f.rim);
    alloc_free(f.twisted);
    alloc_free(f.crowded);
    alloc_free(f.tally);
    alloc_free(f.edges);
    if (result != GRAIN_OK) mesh_shells_free(s);
    return result;
}

void mesh_shells_free(MeshShells *s)
{
    alloc_free(s->shells);
    alloc_free(s->shell_of);
    alloc_free(s->flipped);
    alloc_free(s->open);
    alloc_free(s->hole_centre);
    *s = (MeshShells){0};
}
