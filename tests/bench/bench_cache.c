// SPDX-License-Identifier: GPL-3.0-or-later
// Frames of grains on disk: a splash, simulated, refined and written frame by frame as packed grains, as OpenVDB points
// and as plain floats; then ten of its impacts side by side, for the time 20 million grains take. Position and velocity
// only, to a memory disk, on two threads.
//
// OpenVDB's points have 16 bits to a coordinate within a voxel of eight grains: finer than our 1/100 radius. With 8
// bits they are about as coarse as ours; that figure stands beside the ratio. They keep no order, so that who is who
// from frame to frame would take an id more, which is not counted.
#include "base/alloc.h"
#include "bench/bench.h"
#include "bench/rival_openvdb.h"
#include "grain/grain.h"
#include "refine/refine_output.h"
#include "shared/upsample_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RADIUS 0.005f
#define FPS 24.0
#define FRAMES 40
#define PER_PARTICLE 280.0
#define THREADS 2
#define IMPACT 3
#define COPIES_OF 20000000

typedef struct Frames {
    char folder[256], path[320], previous[320], other[320];
    PackedColumn columns[2];
    double position_error;
    Upsampler *upsampler;
    Grains grains;
} Frames;

static GrainResult record_splash(Recording *recording)
{
    DemScene scene;
    scene_begin(&scene, RADIUS);
    scene.def.expected_speed = 3.5f;
    scene_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    *recording = (Recording){.radius = RADIUS};
    recording_add_plane(recording, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    GrainResult result = scene_fill_box(&scene, vec3(-0.16f, -0.16f, 0), vec3(0.16f, 0.16f, 0.05f), 0.02f, 0.1f);
    int64_t bed = scene.start.count;
    if (result == GRAIN_OK)
        result = scene_fill_box(&scene, vec3(-0.05f, -0.05f, 0.06f), vec3(0.05f, 0.05f, 0.16f), 0.02f, 0.1f);
    for (int64_t i = bed; i < scene.start.count; i++) scene.start.velocity[i] = vec3(0, 0, -3.0f);
    if (result == GRAIN_OK) result = scene_create(&scene, THREADS);
    if (result == GRAIN_OK) result = recording_make(recording, &scene, FRAMES, 1.0 / FPS);
    scene_end(&scene);
    return result;
}

static GrainResult write_packed(const Frames *f, int frame, const Vec3 *position, const Vec3 *velocity, int64_t count,
                                const char *previous, ColumnFileHeader *header)
{
    int64_t chunk_count = (count + CHUNK_GRAINS - 1) / CHUNK_GRAINS;
    uint32_t *sizes = ALLOC(uint32_t, chunk_count);
    if (!sizes) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < chunk_count; i++)
        sizes[i] = (uint32_t)(i < chunk_count - 1 ? CHUNK_GRAINS : count - i * CHUNK_GRAINS);
    *header = (ColumnFileHeader){.frame = frame, .particles = count};
    const void *data[2] = {position, velocity};
    PackedWriter writer;
    GrainResult result = packed_begin(&writer, f->path, header, f->columns, 2, sizes, chunk_count, previous, THREADS);
    if (result == GRAIN_OK) result = packed_append(&writer, chunk_count, data);
    if (result == GRAIN_OK)
        result = packed_commit(&writer, header);
    else
        packed_abandon(&writer);
    alloc_free(sizes);
    return result;
}

static GrainResult read_packed(const char *path, Vec3 *position, Vec3 *velocity, int64_t count)
{
    const GrainRun run = {.struct_size = sizeof run, .thread_count = THREADS};
    GrainFrame *frame;
    GrainResult result = grain_frame_open(path, &frame);
    if (result == GRAIN_OK) result = grain_frame_load(frame, "position", count, position, &run);
    if (result == GRAIN_OK) result = grain_frame_load(frame, "velocity", count, velocity, &run);
    grain_frame_destroy(frame);
    return result;
}

static double furthest(const Vec3 *a, const Vec3 *b, int64_t count)
{
    float most = 0.0f;
    for (int64_t i = 0; i < count; i++) most = fmaxf(most, vec3_length(vec3_sub(a[i], b[i])));
    return (double)most;
}

// --- the shot -------------------------------------------------------------------------------------

typedef struct Sums {
    double packed, vdb16, vdb8, impact, rest, speed_at_impact;
    Vec3 *position, *velocity; // of the impact
} Sums;

static GrainResult measure_frame(Frames *f, int frame, Sums *sums, Vec3 *again, Vec3 *again_velocity)
{
    const Grains *g = &f->grains;
    ColumnFileHeader header;
    snprintf(f->previous, sizeof f->previous, "%s", f->path);
    snprintf(f->path, sizeof f->path, "%s/grains_%06d.grain", f->folder, frame + 1);
    GrainResult result =
        write_packed(f, frame + 1, g->position, g->velocity, g->count, frame > 0 ? f->previous : NULL, &header);
    if (result == GRAIN_OK) result = read_packed(f->path, again, again_velocity, g->count);
    if (result != GRAIN_OK) return result;
    double error = furthest(g->position, again, g->count), speed = 0.0;
    if (error > 1.001 * f->position_error)
        printf("position is off by %g m where %g are allowed\n", error, f->position_error);
    RivalPoints *rival = rival_points_create(&g->position[0].x, &g->velocity[0].x, g->count);
    double packed = (double)header.bytes / (double)g->count;
    double vdb16 = (double)rival_points_write(rival, f->other, 16, THREADS) / (double)g->count;
    double vdb8 = (double)rival_points_write(rival, f->other, 8, THREADS) / (double)g->count;
    rival_points_destroy(rival);
    for (int64_t i = 0; i < g->count; i++) speed += (double)vec3_length(g->velocity[i]) / (double)g->count;
    sums->packed += packed / FRAMES, sums->vdb16 += vdb16 / FRAMES, sums->vdb8 += vdb8 / FRAMES;
    if (packed > sums->impact) sums->impact = packed;
    sums->rest = packed;
    if (frame < 10 || frame % 8 == 7)
        printf("%6d %10.4f | %8.2f %10.2f %10.2f %8.2f | %8.4f\n", frame, speed, packed, vdb16, vdb8, 24.0,
               error / f->position_error * 0.01);
    fflush(stdout);
    if (frame != IMPACT) return GRAIN_OK;
    sums->speed_at_impact = speed;
    memcpy(sums->position, g->position, (size_t)g->count * sizeof(Vec3));
    memcpy(sums->velocity, g->velocity, (size_t)g->count * sizeof(Vec3));
    return GRAIN_OK;
}

static GrainResult measure_shot(Frames *f, const Recording *recording, Sums *sums)
{
    Grains *g = &f->grains;
    Vec3 *again = ALLOC(Vec3, g->count), *again_velocity = ALLOC(Vec3, g->count);
    GrainResult result = again && again_velocity ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    printf("bytes a grain and frame, position and velocity, %lld grains\n", (long long)g->count);
    printf("%6s %10s | %8s %10s %10s %8s | %8s\n", "frame", "mean m/s", "packed", "VDB 16 bit", "VDB 8 bit", "float32",
           "error r");
    for (int frame = 0; frame < FRAMES && result == GRAIN_OK; frame++) {
        UpsampleCoarse now = recording_frame(recording, frame);
        if (frame == 0)
            result = upsample_begin(f->upsampler, &now, 0.0);
        else {
            UpsampleCoarse from = recording_frame(recording, frame - 1);
            result = upsample_advance(f->upsampler, &from, &now, (frame - 1) / FPS, 1.0 / FPS, NULL, NULL);
        }
        if (result != GRAIN_OK) break;
        upsample_order(f->upsampler);
        upsample_rows(f->upsampler, 0, g->count, &(UpsampleRows){.position = g->position, .velocity = g->velocity});
        result = measure_frame(f, frame, sums, again, again_velocity);
    }
    alloc_free(again);
    alloc_free(again_velocity);
    return result;
}

// --- 20 million -----------------------------------------------------------------------------------

static int64_t make_copies(const Sums *sums, int64_t count, Vec3 **position, Vec3 **velocity)
{
    int64_t copies = (COPIES_OF + count - 1) / count, total = COPIES_OF;
    *position = ALLOC(Vec3, total), *velocity = ALLOC(Vec3, total);
    if (!*position || !*velocity) return 0;
    for (int64_t c = 0; c < copies; c++) {
        int64_t first = c * count, part = total - first < count ? total - first : count;
        for (int64_t i = 0; i < part; i++)
            (*position)[first + i] = vec3_add(sums->position[i], vec3(0.5f * (float)(c % 5), 0.5f * (float)(c / 5), 0));
        memcpy(*velocity + first, sums->velocity, (size_t)part * sizeof(Vec3));
    }
    return total;
}

typedef struct Times {
    double write, read, bytes;
} Times;

static Times time_packed(Frames *f, const Vec3 *position, const Vec3 *velocity, int64_t count, Vec3 *out,
                         Vec3 *out_velocity)
{
    Times best = {1e30, 1e30, 0};
    ColumnFileHeader header;
    snprintf(f->path, sizeof f->path, "%s/grains_%06d.grain", f->folder, 1);
    for (int i = 0; i < 3; i++) {
        double began = run_clock();
        if (write_packed(f, 1, position, velocity, count, NULL, &header) != GRAIN_OK) break;
        double written = run_clock();
        if (read_packed(f->path, out, out_velocity, count) != GRAIN_OK) break;
        double read = run_clock();
        best = (Times){fmin(best.write, written - began), fmin(best.read, read - written),
                       (double)header.bytes / (double)count};
    }
    return best;
}

static Times time_floats(const Frames *f, const Vec3 *position, const Vec3 *velocity, int64_t count)
{
    Times best = {1e30, 1e30, 0};
    Column columns[2] = {{"position", GRAIN_F32, 3, count, position}, {"velocity", GRAIN_F32, 3, count, velocity}};
    for (int i = 0; i < 2; i++) {
        ColumnFileHeader header = {.frame = 1, .particles = count};
        struct GrainFrame frame;
        double began = run_clock();
        if (column_file_write(f->other, &header, columns, 2) != GRAIN_OK) break;
        double written = run_clock();
        if (column_file_read(f->other, &frame) != GRAIN_OK) break;
        double read = run_clock();
        column_file_free(&frame);
        best = (Times){fmin(best.write, written - began), fmin(best.read, read - written),
                       (double)header.bytes / (double)count};
    }
    return best;
}

static Times time_vdb(const Frames *f, const Vec3 *position, const Vec3 *velocity, int64_t count, Vec3 *out,
                      Vec3 *out_velocity)
{
    RivalPoints *rival = rival_points_create(&position[0].x, &velocity[0].x, count);
    double began = run_clock(), bytes = (double)rival_points_write(rival, f->other, 16, THREADS), written = run_clock();
    rival_points_destroy(rival);
    double between = run_clock();
    rival_points_read(f->other, &out[0].x, &out_velocity[0].x, THREADS);
    return (Times){written - began, run_clock() - between, bytes / (double)count};
}

static void measure_speed(Frames *f, const Sums *sums)
{
    Vec3 *position, *velocity, *out = ALLOC(Vec3, COPIES_OF), *out_velocity = ALLOC(Vec3, COPIES_OF);
    int64_t count = make_copies(sums, f->grains.count, &position, &velocity);
    if (count > 0 && out && out_velocity) {
        memset(out, 0, (size_t)count * sizeof *out), memset(out_velocity, 0, (size_t)count * sizeof *out);
        Times ours = time_packed(f, position, velocity, count, out, out_velocity);
        unlink(f->path);
        Times floats = time_floats(f, position, velocity, count);
        Times vdb = time_vdb(f, position, velocity, count, out, out_velocity);
        printf("\n%lld grains at the impact (mean %.2f m/s), %d threads\n%16s %10s %10s %12s\n", (long long)count,
               sums->speed_at_impact, THREADS, "", "write s", "read s", "bytes/grain");
        printf("%16s %10.3f %10.3f %12.2f\n", "packed", ours.write, ours.read, ours.bytes);
        printf("%16s %10.3f %10.3f %12.2f\n", "VDB points", vdb.write, vdb.read, vdb.bytes);
        printf("%16s %10.3f %10.3f %12.2f\n", "float32", floats.write, floats.read, floats.bytes);
        bench_figure("write_20m_seconds", ours.write);
        bench_figure("read_20m_seconds", ours.read);
        bench_figure("write_ratio", vdb.write / ours.write);
        bench_figure("read_ratio", vdb.read / ours.read);
    }
    alloc_free(position), alloc_free(velocity);
    alloc_free(out), alloc_free(out_velocity);
}

// --- all ------------------------------------------------------------------------------------------

static GrainResult prepare(Frames *f, const Recording *recording, Sums *sums)
{
    UpsampleDef def = recording_def(recording, PER_PARTICLE, UPSAMPLE_GATED);
    RefineOutput output = {0};
    refine_errors(&output, 0.01, (double)upsample_grain_radius(&def), FPS);
    f->position_error = output.position_error;
    f->columns[0] =
        (PackedColumn){"position", {GRAIN_F32, 3, CHUNK_LATTICE, 2.0 * output.position_error / sqrt(3.0)}, 1};
    f->columns[1] =
        (PackedColumn){"velocity", {GRAIN_F32, 3, CHUNK_LATTICE, 2.0 * output.velocity_error / sqrt(3.0)}, 0};
    int64_t count = upsample_count_grains(&def, recording->count);
    f->grains = (Grains){.count = count, .position = ALLOC(Vec3, count), .velocity = ALLOC(Vec3, count)};
    *sums = (Sums){.position = ALLOC(Vec3, count), .velocity = ALLOC(Vec3, count)};
    if (!f->grains.position || !f->grains.velocity || !sums->position || !sums->velocity) return GRAIN_ERROR_MEMORY;
    return upsample_create(&def, THREADS, &f->upsampler);
}

static void remove_files(Frames *f)
{
    for (int frame = 0; frame < FRAMES; frame++) {
        snprintf(f->path, sizeof f->path, "%s/grains_%06d.grain", f->folder, frame + 1);
        unlink(f->path);
    }
    unlink(f->other);
    rmdir(f->folder);
}

BENCH(cache)
{
    Recording recording;
    Frames f = {0};
    Sums sums = {0};
    struct stat status;
    snprintf(f.folder, sizeof f.folder, "%s/grain_bench_XXXXXX", stat("/dev/shm", &status) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(f.folder)) return;
    snprintf(f.other, sizeof f.other, "%s/other", f.folder);
    GrainResult result = record_splash(&recording);
    if (result == GRAIN_OK) result = prepare(&f, &recording, &sums);
    if (result == GRAIN_OK) result = measure_shot(&f, &recording, &sums);
    if (result == GRAIN_OK) {
        printf("%6s %10s | %8.2f %10.2f %10.2f %8.2f\n", "mean", "", sums.packed, sums.vdb16, sums.vdb8, 24.0);
        bench_figure("bytes_at_most", sums.impact);
        bench_figure("bytes_at_rest", sums.rest);
        bench_figure("bytes", sums.packed);
        bench_figure("ratio", sums.vdb16 / sums.packed);
        bench_figure("ratio_to_8_bit", sums.vdb8 / sums.packed);
        measure_speed(&f, &sums);
    } else
        fprintf(stderr, "%s\n", grain_last_error());
    upsample_destroy(f.upsampler);
    grains_free(&f.grains);
    alloc_free(sums.position), alloc_free(sums.velocity);
    recording_end(&recording);
    remove_files(&f);
}
