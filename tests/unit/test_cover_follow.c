// SPDX-License-Identifier: GPL-3.0-or-later
// Covers of props that move: on the surface in every frame, velocities that are the difference of places, ids that
// last, and new particles only where stretching opens holes.
#include "grain/grain.h"
#include "shared/brute.h"
#include "shared/evenness.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define FRAME (1.0 / 24.0)

// A limb: a sphere drawn out to a length of 4, along z.
static Shape limb(void)
{
    Shape shape = shape_sphere(20, 0.0);
    for (int64_t v = 0; v < shape.vertex_count; v++) {
        float *p = shape.positions + 3 * v;
        p[0] *= 0.4f, p[1] *= 0.4f, p[2] *= 2.0f;
    }
    return shape;
}

// Bent by `bend` radians along its length, twisted, stretched.
static void pose_limb(const Shape *rest, double bend, double twist, double stretch, float *to)
{
    for (int64_t v = 0; v < rest->vertex_count; v++) {
        const float *p = rest->positions + 3 * v;
        double z = (double)p[2] * stretch, turn = twist * (double)p[2] / 2.0, c = cos(turn), s = sin(turn);
        double x = c * (double)p[0] - s * (double)p[1], y = s * (double)p[0] + c * (double)p[1];
        double along = bend * z / 4.0, radius = fabs(bend) > 1e-6 ? 4.0 / bend : 0.0;
        to[3 * v] = (float)(fabs(bend) > 1e-6 ? (radius + x) * cos(along) - radius : x);
        to[3 * v + 1] = (float)y;
        to[3 * v + 2] = (float)(fabs(bend) > 1e-6 ? (radius + x) * sin(along) : z);
    }
}

typedef struct Walk {
    Shape rest, posed;
    GrainCoverDef def;
    GrainCover *cover;
    GrainView position, velocity, id, normal;
} Walk;

static GrainResult view(Walk *w)
{
    GrainResult results[] = {grain_cover_view(w->cover, GRAIN_COVER_POSITION, &w->position),
                             grain_cover_view(w->cover, GRAIN_COVER_VELOCITY, &w->velocity),
                             grain_cover_view(w->cover, GRAIN_COVER_ID, &w->id),
                             grain_cover_view(w->cover, GRAIN_COVER_NORMAL, &w->normal)};
    for (int i = 0; i < 4; i++)
        if (results[i] != GRAIN_OK) return results[i];
    return GRAIN_OK;
}

static GrainResult begin(Walk *w, double count, float offset_radii)
{
    *w = (Walk){.rest = limb(), .posed = limb()};
    grain_cover_def_default(&w->def, sizeof w->def);
    w->def.radius = (float)sqrt(shape_area(&w->rest) / (count * PI));
    w->def.offset = offset_radii * w->def.radius;
    GrainMesh mesh = shape_mesh(&w->rest);
    GrainResult result = grain_cover_mesh(&mesh, &w->def, NULL, &w->cover);
    if (result == GRAIN_OK) result = grain_cover_bind(w->cover, &mesh, NULL);
    return result == GRAIN_OK ? view(w) : result;
}

static void end(Walk *w)
{
    grain_cover_destroy(w->cover);
    shape_free(&w->rest);
    shape_free(&w->posed);
}

static GrainResult step(Walk *w, double bend, double twist, double stretch)
{
    pose_limb(&w->rest, bend, twist, stretch, w->posed.positions);
    GrainResult result = grain_cover_follow(w->cover, w->posed.positions, w->posed.vertex_count, FRAME, NULL);
    return result == GRAIN_OK ? view(w) : result;
}

// In radii, of every seventh particle.
static double farthest(const Walk *w)
{
    GrainMesh mesh = shape_mesh(&w->posed);
    const float *p = w->position.data;
    double most = 0.0;
    for (int64_t i = 0; i < w->position.count; i += 7) {
        double place[3] = {(double)p[3 * i], (double)p[3 * i + 1], (double)p[3 * i + 2]};
        most = fmax(most, fabs(brute_distance(&mesh, place) - fabs((double)w->def.offset)));
    }
    return most / (double)w->def.radius;
}

// Largest difference between a velocity and what the places before and after say (m/s), over particles in both.
static double velocity_error(const Walk *w, const float *before, const int64_t *ids, int64_t count)
{
    const float *p = w->position.data, *v = w->velocity.data;
    const int64_t *id = w->id.data;
    double worst = 0.0;
    for (int64_t i = 0, j = 0; i < w->id.count; i++) {
        while (j < count && ids[j] < id[i]) j++;
        if (j == count) break;
        if (ids[j] != id[i]) continue;
        for (int k = 0; k < 3; k++)
            worst =
                fmax(worst, fabs((double)v[3 * i + k] - ((double)p[3 * i + k] - (double)before[3 * j + k]) / FRAME));
    }
    return worst;
}

static void *copy(GrainView view, size_t bytes)
{
    void *to = malloc((size_t)view.count * bytes);
    memcpy(to, view.data, (size_t)view.count * bytes);
    return to;
}

static void walk(const char *name, float offset_radii)
{
    Walk w;
    ENSURE_OK(begin(&w, 2000, offset_radii));
    double off = 0.0, wrong = 0.0, gap = 0.0;
    for (int frame = 1; frame <= 50; frame++) {
        float *before = copy(w.position, 12);
        int64_t *ids = copy(w.id, 8), count = w.id.count;
        double t = sin(PI * frame / 50.0);
        ENSURE_OK(step(&w, 1.6 * t, 1.2 * t, 1.0));
        wrong = fmax(wrong, velocity_error(&w, before, ids, count));
        free(before);
        free(ids);
        if (frame % 5 == 0) {
            GrainMesh mesh = shape_mesh(&w.posed);
            off = fmax(off, farthest(&w));
            if (offset_radii == 0.0f)
                gap =
                    fmax(gap, evenness_measure(w.position.data, w.position.count, &mesh, shape_area(&w.posed), 5).gap);
        }
        for (int64_t i = 1; i < w.id.count; i++)
            ENSURE(((const int64_t *)w.id.data)[i] > ((const int64_t *)w.id.data)[i - 1]);
    }
    printf("# %s: %lld particles, off by %.4f radii, velocities by %.2g m/s, gap %.3f\n", name,
           (long long)w.position.count, off, wrong, gap);
    ENSURE(off <= 0.05);
    ENSURE(wrong < 1e-4);
    ENSURE(gap < 1.05);
    end(&w);
}

TEST(bent_and_twisted) { walk("limb", 0.0f); }
TEST(bent_and_twisted_outside) { walk("limb, outside", 1.0f); }
TEST(bent_and_twisted_inside) { walk("limb, inside", -1.0f); }

TEST(stretching_adds_and_squeezing_removes)
{
    Walk w;
    ENSURE_OK(begin(&w, 1500, 0.0f));
    int64_t first = w.position.count, most = 0, fewest = INT64_MAX;
    double gap = 0.0, fastest = 0.0, smallest = 9.0;
    for (int frame = 1; frame <= 40; frame++) {
        // To twice its length, and then to half of it.
        double stretch = 1.0 + 1.0 * sin(2.0 * PI * frame / 40.0) * (frame <= 20 ? 1.0 : 0.5);
        ENSURE_OK(step(&w, 0.0, 0.0, stretch));
        GrainMesh mesh = shape_mesh(&w.posed);
        Evenness e = evenness_measure(w.position.data, w.position.count, &mesh, shape_area(&w.posed), 10);
        double spacing = 1.9046 * (double)w.def.radius;
        double here = sqrt(2.0 / sqrt(3.0) * shape_area(&w.posed) / (double)w.position.count);
        gap = fmax(gap, e.gap * here / spacing);
        smallest = fmin(smallest, e.nearest_smallest * here / spacing);
        most = w.position.count > most ? w.position.count : most;
        fewest = w.position.count < fewest ? w.position.count : fewest;
        for (int64_t i = 0; i < w.velocity.count; i++) {
            const float *v = (const float *)w.velocity.data + 3 * i;
            fastest = fmax(fastest, (double)sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        }
    }
    // No vertex moves faster than its end: 2 m * amplitude * 2 pi / 40 frames.
    double limit = 2.0 * 1.0 * 2.0 * PI / 40.0 / FRAME;
    printf("# %lld at first, %lld to %lld, gap %.3f, nearest %.3f spacings, fastest %.3f of %.3f m/s\n",
           (long long)first, (long long)fewest, (long long)most, gap, smallest, fastest, limit);
    ENSURE(most > first * 23 / 20);
    ENSURE(fewest < first);
    ENSURE(gap < 1.0);
    ENSURE(smallest > 0.45);
    ENSURE(fastest <= 1.001 * limit);
    end(&w);
}

TEST(standing_still_changes_nothing)
{
    Walk w;
    ENSURE_OK(begin(&w, 1000, 0.5f));
    float *before = copy(w.position, 12);
    int64_t count = w.position.count;
    ENSURE_OK(step(&w, 0.0, 0.0, 1.0));
    ENSURE_EQUAL(w.position.count, count);
    for (int64_t i = 0; i < 3 * count; i++) {
        ENSURE_NEAR(((const float *)w.position.data)[i], before[i], 1e-6);
        ENSURE_NEAR(((const float *)w.velocity.data)[i], 0.0, 1e-4);
    }
    free(before);
    end(&w);
}

TEST(inside_out_mesh_keeps_its_outside)
{
    Walk w = {.rest = limb(), .posed = limb()};
    shape_turn_inside_out(&w.rest);
    ENSURE_OK(grain_cover_def_default(&w.def, sizeof w.def));
    w.def.radius = 0.05f;
    w.def.offset = 0.05f;
    GrainMesh mesh = shape_mesh(&w.rest);
    ENSURE_OK(grain_cover_mesh(&mesh, &w.def, NULL, &w.cover));
    ENSURE_OK(grain_cover_bind(w.cover, &mesh, NULL));
    ENSURE_OK(step(&w, 0.0, 0.0, 1.6));
    for (int64_t i = 0; i < w.position.count; i++) {
        const float *p = (const float *)w.position.data + 3 * i, *n = (const float *)w.normal.data + 3 * i;
        // Outside the drawn-out sphere, normals away from its axis.
        ENSURE(hypotf(p[0], p[1]) / 0.4f + fabsf(p[2]) / 3.2f > 1.0f);
        ENSURE(p[0] * n[0] + p[1] * n[1] + p[2] * n[2] / 64.0f > 0.0f);
    }
    end(&w);
}

TEST(rigid_motion)
{
    Walk w;
    ENSURE_OK(begin(&w, 500, 0.0f));
    GrainMesh mesh = shape_mesh(&w.rest);
    GrainCover *cover;
    ENSURE_OK(grain_cover_mesh(&mesh, &w.def, NULL, &cover));
    GrainView position, velocity, normal;
    ENSURE_OK(grain_cover_view(cover, GRAIN_COVER_POSITION, &position));
    float *rest = copy(position, 12);
    for (int frame = 1; frame <= 3; frame++) {
        double angle = 0.3 * frame, c = cos(angle), s = sin(angle);
        const double pose[16] = {c, -s, 0, 1.0 * frame, s, c, 0, 0.5, 0, 0, 1, -2.0, 0, 0, 0, 1};
        float *before = copy(position, 12);
        ENSURE_OK(grain_cover_move(cover, pose, FRAME));
        ENSURE_OK(grain_cover_view(cover, GRAIN_COVER_POSITION, &position));
        ENSURE_OK(grain_cover_view(cover, GRAIN_COVER_VELOCITY, &velocity));
        ENSURE_OK(grain_cover_view(cover, GRAIN_COVER_NORMAL, &normal));
        for (int64_t i = 0; i < position.count; i++) {
            const float *p = (const float *)position.data + 3 * i, *v = (const float *)velocity.data + 3 * i;
            const float *n = (const float *)normal.data + 3 * i;
            ENSURE_NEAR(p[0], c * (double)rest[3 * i] - s * (double)rest[3 * i + 1] + frame, 1e-5);
            for (int k = 0; k < 3; k++) ENSURE_NEAR(v[k], ((double)p[k] - (double)before[3 * i + k]) / FRAME, 1e-4);
            ENSURE_NEAR(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1.0, 1e-5);
        }
        free(before);
    }
    free(rest);
    ENSURE_FAILS(grain_cover_move(w.cover, (double[16]){1}, FRAME), GRAIN_ERROR_ARGUMENT, "bound");
    ENSURE_FAILS(grain_cover_move(cover, (double[16]){1}, 0.0), GRAIN_ERROR_ARGUMENT, "seconds");
    grain_cover_destroy(cover);
    end(&w);
}

TEST(wrong_calls_are_refused)
{
    Walk w;
    ENSURE_OK(begin(&w, 300, 0.0f));
    ENSURE_FAILS(grain_cover_follow(w.cover, w.posed.positions, 7, FRAME, NULL), GRAIN_ERROR_MESH, "topology");
    ENSURE_FAILS(grain_cover_follow(w.cover, w.posed.positions, w.posed.vertex_count, 0.0, NULL), GRAIN_ERROR_ARGUMENT,
                 "seconds");
    w.posed.positions[4] = NAN;
    ENSURE_FAILS(grain_cover_follow(w.cover, w.posed.positions, w.posed.vertex_count, FRAME, NULL), GRAIN_ERROR_MESH,
                 "vertex 1");
    GrainMesh mesh = shape_mesh(&w.rest);
    GrainCover *cover;
    ENSURE_OK(grain_cover_mesh(&mesh, &w.def, NULL, &cover));
    ENSURE_FAILS(grain_cover_follow(cover, w.rest.positions, w.rest.vertex_count, FRAME, NULL), GRAIN_ERROR_ARGUMENT,
                 "grain_cover_bind");
    grain_cover_destroy(cover);
    end(&w);
}
