// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/flow/emitter.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "base/rng.h"
#include "sim/rigid/rigid.h"

#include <math.h>
#include <string.h>

// Cells of a volume along its longest side, at most.
#define MOST_CELLS 48.0f
// s, over which the mesh's own velocity is taken.
#define MOMENT 1e-3

// --- when -----------------------------------------------------------------------------------------

double emitter_due(const EmitterDef *def, double time)
{
    double frames = time / def->frame_seconds, due = 0.0;
    for (double frame = 0.0; frame < frames; frame += 1.0) {
        double end = real_min(frame + 1.0, frames);
        if (!(curve_number(&def->active, frame) > 0.5f)) continue;
        double rate = 0.5 * ((double)curve_number(&def->rate, frame) + (double)curve_number(&def->rate, end));
        due += def->rate_scale * rate * (end - frame) * def->frame_seconds;
    }
    return due;
}

float emitter_fastest(const EmitterDef *def)
{
    float own = def->inherit > 0.0f ? def->inherit * (float)motion_fastest(&def->motion, def->mesh) : 0.0f;
    return curve_largest(&def->velocity) + fabsf(def->normal_speed) + def->jitter + own;
}

float emitter_radius(const Emitter *emitter, int64_t n)
{
    const EmitterDef *def = &emitter->def;
    return def->radius *
           (1.0f + def->size_spread * rng_signed(rng_at(def->seed, (uint64_t)n, RNG_STREAM_EMIT_RADIUS, 0).word[0]));
}

// --- what it is like now --------------------------------------------------------------------------

static const Vec3 *points_of(const Emitter *emitter)
{
    return (const Vec3 *)(emitter->points ? emitter->points : emitter->def.mesh->positions);
}

static GrainResult sum_areas(Emitter *emitter)
{
    const GrainMesh *mesh = emitter->def.mesh;
    const Vec3 *point = points_of(emitter);
    double sum = 0.0;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *corner = mesh->triangles + 3 * t;
        Vec3 a = point[corner[0]], side = vec3_sub(point[corner[1]], a), other = vec3_sub(point[corner[2]], a);
        sum += 0.5 * (double)vec3_length(vec3_cross(side, other));
        emitter->area[t] = sum;
    }
    if (sum > 0.0) return GRAIN_OK;
    return fail(GRAIN_ERROR_MESH,
                "its surface has no area, so nothing can be emitted from it; scale it up or choose another mesh");
}

static GrainResult add_cell(Emitter *emitter, Vec3 low)
{
    TRY(alloc_grow((void **)&emitter->cells, &emitter->cell_capacity, emitter->cell_count + 1, sizeof(Vec3)));
    emitter->cells[emitter->cell_count++] = low;
    return GRAIN_OK;
}

static GrainResult list_cells(Emitter *emitter, const GrainSdf *inside)
{
    Vec3 low, high, gradient;
    sdf_bounds(inside, &low, &high);
    Vec3 size = vec3_sub(high, low);
    float longest = real_maxf(real_maxf(size.x, size.y), size.z),
          cell = real_maxf(emitter->def.radius, longest / MOST_CELLS);
    emitter->cell_size = cell;
    emitter->cell_count = 0;
    int count[3] = {(int)(size.x / cell) + 1, (int)(size.y / cell) + 1, (int)(size.z / cell) + 1};
    for (int z = 0; z < count[2]; z++)
        for (int y = 0; y < count[1]; y++)
            for (int x = 0; x < count[0]; x++) {
                Vec3 at = vec3(low.x + cell * (float)x, low.y + cell * (float)y, low.z + cell * (float)z);
                Vec3 middle = vec3(at.x + 0.5f * cell, at.y + 0.5f * cell, at.z + 0.5f * cell);
                if (sdf_sample_point(inside, middle, &gradient) < 0.87f * cell) TRY(add_cell(emitter, at));
            }
    if (emitter->cell_count > 0) return GRAIN_OK;
    return fail(GRAIN_ERROR_MESH, "it has no inside to emit from; close the mesh, or emit from its surface");
}

// A mesh that bends, as it is at a sample.
static GrainResult bend(Emitter *emitter, int64_t sample, const GrainRun *run)
{
    const EmitterDef *def = &emitter->def;
    int64_t vertices = def->mesh->vertex_count;
    memcpy(emitter->points, motion_shape(&def->motion, sample), sizeof(Vec3) * (size_t)vertices);
    if (!def->inside) return sum_areas(emitter);
    GrainMesh mesh = *def->mesh;
    mesh.positions = emitter->points;
    GrainSdfDef sdf;
    TRY(grain_sdf_def_default(&sdf, sizeof sdf));
    sdf.voxel_size = def->radius;
    grain_sdf_destroy(emitter->bent);
    emitter->bent = NULL;
    TRY(grain_sdf_create(&mesh, &sdf, run, &emitter->bent));
    return list_cells(emitter, emitter->bent);
}

GrainResult emitter_create(Emitter *emitter, const EmitterDef *def, const GrainRun *run)
{
    *emitter = (Emitter){.def = *def, .sample = -1};
    if (!def->inside && !(emitter->area = ALLOC(double, def->mesh->triangle_count))) return GRAIN_ERROR_MEMORY;
    if (def->motion.kind == MOTION_SHAPES) {
        emitter->points = ALLOC(float, 3 * def->mesh->vertex_count);
        return emitter->points ? emitter_prepare(emitter, 0.0, run) : GRAIN_ERROR_MEMORY;
    }
    return def->inside ? list_cells(emitter, def->inside) : sum_areas(emitter);
}

void emitter_free(Emitter *emitter)
{
    alloc_free(emitter->area);
    alloc_free(emitter->cells);
    alloc_free(emitter->points);
    grain_sdf_destroy(emitter->bent);
    *emitter = (Emitter){0};
}

GrainResult emitter_prepare(Emitter *emitter, double time, const GrainRun *run)
{
    if (emitter->def.motion.kind != MOTION_SHAPES) return GRAIN_OK;
    int64_t sample = motion_nearest(&emitter->def.motion, time);
    if (sample == emitter->sample) return GRAIN_OK;
    emitter->sample = sample;
    return bend(emitter, sample, run);
}

// --- where ----------------------------------------------------------------------------------------

// A point of a mesh that bends, given by weights of a triangle's corners.
static Vec3 bent_point(const Emitter *emitter, const int32_t corner[3], const float weight[3], double time)
{
    Vec3 point[3], sum = {0, 0, 0};
    motion_corners(&emitter->def.motion, time, corner, point, NULL);
    for (int k = 0; k < 3; k++) sum = vec3_add_scaled(sum, point[k], weight[k]);
    return sum;
}

static int64_t triangle_at(const Emitter *emitter, double area)
{
    int64_t low = 0, high = emitter->def.mesh->triangle_count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (emitter->area[middle] <= area)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static Vec3 normal_of(const Vec3 *point, const int32_t *corner)
{
    Vec3 a = point[corner[0]];
    return vec3_normalize(vec3_cross(vec3_sub(point[corner[1]], a), vec3_sub(point[corner[2]], a)), vec3(0, 0, 0));
}

static Vec3 mix(const Vec3 *point, const int32_t *corner, const float weight[3])
{
    Vec3 sum = vec3_scale(point[corner[0]], weight[0]);
    return vec3_add_scaled(vec3_add_scaled(sum, point[corner[1]], weight[1]), point[corner[2]], weight[2]);
}

static void draw_on_surface(const Emitter *emitter, Rng4 random, double time, EmitterSpot *out, Vec3 *own)
{
    const EmitterDef *def = &emitter->def;
    const GrainMesh *mesh = def->mesh;
    double whole = emitter->area[mesh->triangle_count - 1];
    double part = ((double)random.word[0] + (double)(random.word[3] & 0xffff) * 0x1p-16) * 0x1p-32;
    const int32_t *corner = mesh->triangles + 3 * triangle_at(emitter, whole * part);
    float root = sqrtf(rng_unit(random.word[1])), other = rng_unit(random.word[2]);
    const float weight[3] = {1.0f - root, root * (1.0f - other), root * other};
    out->on = mix((const Vec3 *)mesh->positions, corner, weight);
    Vec3 normal;
    if (def->motion.kind == MOTION_SHAPES) {
        out->place = bent_point(emitter, corner, weight, time);
        Vec3 before = bent_point(emitter, corner, weight, time - MOMENT);
        *own = vec3_scale(vec3_sub(out->place, before), (float)(1.0 / MOMENT));
        normal = normal_of(points_of(emitter), corner);
    } else {
        Vec3d place = motion_carry(&def->motion, out->on, time),
              before = motion_carry(&def->motion, out->on, time - MOMENT);
        out->place = vec3_from(place);
        *own = vec3_from(vec3d_scale(vec3d_sub(place, before), 1.0 / MOMENT));
        normal = motion_turn(&def->motion, normal_of((const Vec3 *)mesh->positions, corner), time);
    }
    out->velocity = vec3_scale(normal, def->normal_speed);
}

static int draw_inside(const Emitter *emitter, Rng4 random, double time, EmitterSpot *out, Vec3 *own)
{
    const EmitterDef *def = &emitter->def;
    const GrainSdf *inside = emitter->bent ? emitter->bent : def->inside;
    int64_t cell = (int64_t)((double)random.word[0] * 0x1p-32 * (double)emitter->cell_count);
    Vec3 low = emitter->cells[cell], gradient;
    float size = emitter->cell_size;
    out->on = vec3(low.x + size * rng_unit(random.word[1]), low.y + size * rng_unit(random.word[2]),
                   low.z + size * rng_unit(random.word[3]));
    if (sdf_sample_point(inside, out->on, &gradient) > 0.0f) return 0;
    Vec3d place = motion_carry(&def->motion, out->on, time),
          before = motion_carry(&def->motion, out->on, time - MOMENT);
    out->place = vec3_from(place);
    *own = vec3_from(vec3d_scale(vec3d_sub(place, before), 1.0 / MOMENT));
    out->velocity =
        vec3_scale(motion_turn(&def->motion, vec3_normalize(gradient, vec3(0, 0, 0)), time), def->normal_speed);
    return 1;
}

// Even in the ball of this radius.
static Vec3 draw_in_ball(const Emitter *emitter, int64_t n, float radius)
{
    for (uint32_t draw = 0;; draw++) {
        Rng4 random = rng_at(emitter->def.seed, (uint64_t)n, RNG_STREAM_EMIT_JITTER, draw);
        Vec3 v = {rng_signed(random.word[0]), rng_signed(random.word[1]), rng_signed(random.word[2])};
        if (vec3_dot(v, v) <= 1.0f) return vec3_scale(v, radius);
    }
}

int emitter_draw(const Emitter *emitter, int64_t n, int attempt, double time, EmitterSpot *out)
{
    const EmitterDef *def = &emitter->def;
    Rng4 random = rng_at(def->seed, (uint64_t)n, RNG_STREAM_EMIT_PLACE, (uint32_t)attempt);
    Vec3 own = {0, 0, 0};
    if (!def->inside)
        draw_on_surface(emitter, random, time, out, &own);
    else if (!draw_inside(emitter, random, time, out, &own))
        return 0;
    out->velocity = vec3_add(out->velocity, curve_vector(&def->velocity, time / def->frame_seconds));
    out->velocity = vec3_add_scaled(out->velocity, own, def->inherit);
    if (def->jitter > 0.0f) out->velocity = vec3_add(out->velocity, draw_in_ball(emitter, n, def->jitter));
    return 1;
}
