// SPDX-License-Identifier: GPL-3.0-or-later
// Sand poured onto a block, without Blender and without files: a scene made in code, simulated frame by frame, and
// refined into render grains. Build it against an installed libgrain:
//
//     cc pour.c $(pkg-config --cflags --libs grain) -o pour
//     ./pour             prints a line a frame
//     ./pour FOLDER      also writes the scene as a job, for `grain bake FOLDER`, and the frames' columns beside it
#include <grain/grain.h>

#include <stdio.h>
#include <stdlib.h>

// What libgrain cannot do it says in words.
static void check(GrainResult result)
{
    if (result == GRAIN_OK) return;
    fprintf(stderr, "pour: %s\n", grain_last_error());
    exit(1);
}

/// A box and its 12 triangles, wound outward.
typedef struct Box {
    float corners[8][3];
    GrainMesh mesh;
} Box;

static void make_box(Box *box, float x, float y, float z, float size, float height)
{
    static const int32_t triangles[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                          2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    for (int i = 0; i < 8; i++) {
        box->corners[i][0] = x + (i & 1 ? size : -size) / 2.0f;
        box->corners[i][1] = y + (i & 2 ? size : -size) / 2.0f;
        box->corners[i][2] = z + (i & 4 ? height : 0.0f);
    }
    box->mesh =
        (GrainMesh){.positions = box->corners[0], .triangles = triangles, .vertex_count = 8, .triangle_count = 12};
}

static int32_t add(GrainScene *scene, GrainRole role, const char *name, const GrainMesh *mesh)
{
    GrainObjectDef def;
    int32_t object;
    check(grain_object_def_default(&def, sizeof def));
    def.role = role, def.name = name, def.mesh = mesh; // without a mesh: an endless plane
    check(grain_scene_add(scene, &def, &object));
    return object;
}

static GrainScene *make_scene(void)
{
    GrainScene *scene;
    Box sand, block, spout;
    make_box(&sand, 0.0f, 0.0f, 0.11f, 0.1f, 0.05f);
    make_box(&block, 0.0f, 0.0f, 0.0f, 0.12f, 0.1f);
    make_box(&spout, 0.0f, 0.0f, 0.3f, 0.04f, 0.04f);
    check(grain_scene_create(&scene));
    check(grain_scene_set_number(scene, GRAIN_SCENE, "frame_end", 8));
    check(grain_scene_set_text(scene, GRAIN_SCENE, "solver.type", "dem"));
    check(grain_scene_set_number(scene, GRAIN_SCENE, "solver.particle_radius", 0.005)); // m
    check(grain_scene_set_number(scene, GRAIN_SCENE, "upsample.grains_per_particle", 20));
    add(scene, GRAIN_ROLE_COLLIDER, "Ground", NULL);
    add(scene, GRAIN_ROLE_COLLIDER, "Block", &block.mesh);
    add(scene, GRAIN_ROLE_SOURCE, "Sand", &sand.mesh);
    int32_t emitter = add(scene, GRAIN_ROLE_EMITTER, "Spout", &spout.mesh);
    check(grain_scene_set_number(scene, emitter, "rate", 1500)); // particles a second
    check(grain_scene_set_vector(scene, emitter, "velocity", (const double[3]){0.0, 0.0, -1.0}));
    return scene;
}

// All columns of a frame, as FOLDER/frame_0001.position and so on.
static void write_columns(const GrainFrame *frame, int number, const char *folder)
{
    static const int bytes[] = {[GRAIN_F32] = 4, [GRAIN_I32] = 4, [GRAIN_F64] = 8, [GRAIN_I64] = 8};
    for (int32_t i = 0; i < grain_frame_column_count(frame); i++) {
        const char *name = grain_frame_column_name(frame, i);
        char path[4096];
        GrainView view;
        check(grain_frame_column(frame, name, &view));
        snprintf(path, sizeof path, "%s/frame_%04d.%s", folder, number, name);
        FILE *file = fopen(path, "wb");
        size_t count = (size_t)(view.count * view.components);
        if (!file || fwrite(view.data, (size_t)bytes[view.type], count, file) != count || fclose(file) != 0) {
            perror(path);
            exit(1);
        }
    }
}

int main(int argument_count, char **arguments)
{
    const char *folder = argument_count > 1 ? arguments[1] : NULL;
    GrainScene *scene = make_scene();
    GrainSim *sim;
    GrainUpsampler *upsampler;
    if (folder) check(grain_scene_write(scene, folder));
    check(grain_sim_create(scene, NULL, &sim));
    check(grain_upsampler_create(scene, grain_sim_frame(sim), NULL, &upsampler));
    for (int frame = 1; frame <= 8; frame++) {
        GrainFrameInfo coarse = {.struct_size = sizeof coarse}, fine = {.struct_size = sizeof fine};
        if (frame > 1) {
            check(grain_sim_advance(sim, NULL));
            check(grain_upsampler_advance(upsampler, grain_sim_frame(sim), NULL));
        }
        check(grain_frame_info(grain_sim_frame(sim), &coarse));
        check(grain_frame_info(grain_upsampler_frame(upsampler), &fine));
        printf("frame %d: %lld particles, %lld grains\n", (int)coarse.frame, (long long)coarse.particles,
               (long long)fine.particles);
        if (folder) write_columns(grain_sim_frame(sim), coarse.frame, folder);
    }
    grain_upsampler_destroy(upsampler);
    grain_sim_destroy(sim);
    grain_scene_destroy(scene);
    return 0;
}
