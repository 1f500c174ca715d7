// SPDX-License-Identifier: GPL-3.0-or-later
#include "fuzz/mesh_stages.h"
#include "sdf/sdf.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// So that an input takes milliseconds.
#define MOST_PARTICLES 600
#define MOST_VOXELS_ACROSS 24

// A failure has a text and a code of its own.
static int succeeded(GrainResult result, const char *what)
{
    if (result == GRAIN_OK) return 1;
    const char *text = grain_last_error();
    if (result > 0 || strlen(text) < 10) fuzz_found("%s failed with %d and the text '%s'", what, (int)result, text);
    return 0;
}

static void ensure_finite(const float *values, int64_t count, const char *what, const char *which)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) fuzz_found("%s: %s %lld is %g", what, which, (long long)i, (double)values[i]);
}

static double check_mesh(const GrainMesh *mesh)
{
    GrainMeshReport report = {.struct_size = sizeof report};
    GrainMassProperties mass = {.struct_size = sizeof mass};
    char text[700];
    if (!succeeded(grain_mesh_check(mesh, NULL, &report), "mesh_check")) return 0.0;
    if (succeeded(grain_mesh_report_text(&report, text, sizeof text), "mesh_report_text") &&
        !memchr(text, 0, sizeof text))
        fuzz_found("mesh_report_text: no end");
    if (succeeded(grain_mesh_mass(mesh, 2600.0, &mass), "mesh_mass") &&
        !(mass.volume > 0.0 && isfinite(mass.inertia[0])))
        fuzz_found("mesh_mass: volume %g, inertia %g", mass.volume, mass.inertia[0]);
    double size = 0.0;
    for (int axis = 0; axis < 3; axis++) size = fmax(size, report.high[axis] - report.low[axis]);
    return size;
}

// A part of the mesh's size, or something no artist meant.
static float choose_length(FuzzBytes *settings, double size, int most_parts)
{
    const float odd[] = {
        0.0f, -1.0f, NAN, INFINITY, FLT_MIN, FLT_MAX, 1e-45f, (float)(1e3 * size), (float)(1e-9 * size)};
    uint8_t choice = fuzz_byte(settings);
    if (choice >= 247) return odd[choice - 247];
    return (float)(size / (1.0 + choice % most_parts));
}

static void check_sdf(const GrainSdf *sdf)
{
    for (int64_t i = 0; i < sdf->block_count * SDF_BLOCK_VALUES; i++)
        if (!(fabsf(sdf->values[i]) <= sdf->half_width)) fuzz_found("sdf: a distance of %g", (double)sdf->values[i]);
    const float places[] = {0,   0,        0,      1e38f,         -1e38f,        3,
                            NAN, INFINITY, 1e-30f, sdf->origin.x, sdf->origin.y, sdf->origin.z};
    float distances[4], gradients[12];
    if (succeeded(grain_sdf_sample(sdf, places, 4, distances, gradients, NULL), "sdf_sample"))
        ensure_finite(distances, 4, "sdf_sample", "distance"), ensure_finite(gradients, 12, "sdf_sample", "gradient");
}

static void check_cover(const GrainCover *cover, const GrainCoverDef *def, const char *what)
{
    static const struct {
        GrainCoverAttribute attribute;
        const char *name;
    } attributes[] = {{GRAIN_COVER_POSITION, "position"},
                      {GRAIN_COVER_NORMAL, "normal"},
                      {GRAIN_COVER_WEIGHT, "weight"},
                      {GRAIN_COVER_VELOCITY, "velocity"}};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        GrainView view;
        if (!succeeded(grain_cover_view(cover, attributes[i].attribute, &view), "cover_view")) continue;
        // Following may add some.
        if (view.count > 4 * def->max_count) fuzz_found("%s: %lld particles", what, (long long)view.count);
        ensure_finite(view.data, view.count * view.components, what, attributes[i].name);
    }
}

// The mesh comes down and shears; then one vertex flies off.
static void follow(GrainCover *cover, const GrainCoverDef *def, const GrainMesh *mesh, double size)
{
    if (!succeeded(grain_cover_bind(cover, mesh, NULL), "cover_bind")) return;
    size_t bytes = (size_t)mesh->vertex_count * 3 * sizeof(float);
    float *bent = malloc(bytes);
    if (!bent) return;
    memcpy(bent, mesh->positions, bytes);
    for (int frame = 1; frame <= 2; frame++) {
        for (int64_t i = 0; i < mesh->vertex_count; i++) bent[3 * i] += 0.1f * bent[3 * i + 1] - 0.05f * (float)size;
        if (frame == 2) bent[0] += 3.0f * (float)size;
        if (succeeded(grain_cover_follow(cover, bent, mesh->vertex_count, 1.0 / 24.0, NULL), "cover_follow"))
            check_cover(cover, def, "cover_follow");
    }
    free(bent);
}

void fuzz_mesh_stages(const GrainMesh *mesh, FuzzBytes *settings)
{
    double size = check_mesh(mesh);
    GrainRun run = {sizeof run, 1 + fuzz_byte(settings) % 2, NULL, NULL};
    GrainSdfDef sdf_def;
    GrainCoverDef def;
    grain_sdf_def_default(&sdf_def, sizeof sdf_def);
    grain_cover_def_default(&def, sizeof def);
    sdf_def.voxel_size = choose_length(settings, size, MOST_VOXELS_ACROSS);
    sdf_def.kind = fuzz_byte(settings) % 3;
    sdf_def.band_voxels = 2.0f + (float)(fuzz_byte(settings) % 4);
    sdf_def.thickness = (float)(fuzz_byte(settings) % 5) * sdf_def.voxel_size;
    def.radius = choose_length(settings, size, MOST_VOXELS_ACROSS);
    def.offset = 0.5f * (float)(fuzz_byte(settings) % 5 - 2) * def.radius;
    def.density = 0.25f * (float)(1 + fuzz_byte(settings) % 8);
    def.max_count = MOST_PARTICLES;
    GrainSdf *sdf = NULL;
    GrainCover *cover = NULL;
    if (succeeded(grain_sdf_create(mesh, &sdf_def, &run, &sdf), "sdf_create")) {
        check_sdf(sdf);
        if (succeeded(grain_cover_create(sdf, &def, &run, &cover), "cover_create"))
            check_cover(cover, &def, "cover_create");
        grain_cover_destroy(cover);
    }
    grain_sdf_destroy(sdf);
    if (succeeded(grain_cover_mesh(mesh, &def, &run, &cover), "cover_mesh")) {
        check_cover(cover, &def, "cover_mesh");
        follow(cover, &def, mesh, size);
    }
    grain_cover_destroy(cover);
}
