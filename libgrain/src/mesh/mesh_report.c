// SPDX-License-Identifier: GPL-3.0-or-later
// The counts of a GrainMeshReport in an artist's words.
#include "base/error.h"
#include "mesh/mesh.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct Text {
    char *buffer;
    int64_t size, used;
} Text;

static void add(Text *text, const char *format, ...) LIKE_PRINTF(2, 3);
static void add(Text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int64_t room = text->size - text->used;
    int length = vsnprintf(text->buffer + text->used, (size_t)room, format, arguments);
    va_end(arguments);
    text->used += length < room ? length : room - 1;
}

// "1 open edge", "3 open edges".
static void add_count(Text *text, int64_t count, const char *one, const char *many, const char *remedy)
{
    if (count > 0) add(text, "%lld %s: %s.\n", (long long)count, count == 1 ? one : many, remedy);
}

void mesh_report_text(const GrainMeshReport *r, char *buffer, int64_t size)
{
    Text text = {buffer, size, 0};
    buffer[0] = 0;
    if (r->triangles == 0) {
        add(&text, "The mesh has no faces: add a surface, or convert the curve or text to a mesh.\n");
        return;
    }
    add(&text, "%lld triangle%s in %lld separate part%s, %s.\n", (long long)r->triangles, r->triangles == 1 ? "" : "s",
        (long long)r->shells, r->shells == 1 ? "" : "s", r->closed ? "closed" : "not closed");
    add_count(&text, r->non_finite_vertices, "vertex has no finite position, or is too far away",
              "vertices have no finite position, or are too far away",
              "check the object's modifiers, drivers and simulations, or delete the vertices");
    add_count(&text, r->broken_triangles, "triangle refers to a vertex that is missing or not finite",
              "triangles refer to vertices that are missing or not finite",
              "run Mesh > Clean Up, or export the mesh again");
    add_count(&text, r->duplicate_vertices, "vertex coincides with another one", "vertices coincide with other ones",
              "Mesh > Merge > By Distance joins them; Grain takes them as one");
    add_count(&text, r->degenerate_triangles, "triangle has no area", "triangles have no area",
              "Mesh > Clean Up > Degenerate Dissolve removes them");
    add_count(&text, r->duplicate_triangles, "triangle coincides with another one",
              "triangles coincide with other ones", "Mesh > Merge > By Distance, then delete the doubled faces");
    add_count(&text, r->loose_vertices, "vertex belongs to no face", "vertices belong to no face",
              "Mesh > Clean Up > Delete Loose removes them; Grain does not see them");
    add_count(&text, r->open_edges, "edge is open (a hole's rim)", "edges are open (rims of holes)",
              "Mesh > Clean Up > Fill Holes closes them; or give the surface a thickness with the Solidify modifier");
    add_count(&text, r->non_manifold_edges, "edge has three faces or more", "edges have three faces or more",
              "Select > All by Trait > Non Manifold finds them; delete the inner walls");
    add_count(&text, r->flipped_edges, "edge has faces that point opposite ways",
              "edges have faces that point opposite ways", "Mesh > Normals > Recalculate Outside turns them");
    add_count(&text, r->inside_out_shells, "part is inside out", "parts are inside out",
              "Mesh > Normals > Recalculate Outside turns them");
    add_count(&text, r->non_orientable_shells, "part has only one side (as a Moebius strip)",
              "parts have only one side (as a Moebius strip)", "it is taken as a sheet; Solidify makes a body of it");
}
