// SPDX-License-Identifier: GPL-3.0-or-later
// Packed frames of grains: what comes back, how near it is, how few bytes it takes, and what damage does.
#include "base/alloc.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/system.h"
#include "grain/grain.h"
#include "output/packed_file.h"
#include "unit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RADIUS 0.001f
#define STEP 1.2e-5
#define VELOCITY_STEP 2e-3

typedef struct Sample {
    int64_t count;
    Vec3 *position, *velocity;
    float *radius;
    Quat *orientation;
    int64_t *id;
} Sample;

enum { COLUMNS = 5 };
static const PackedColumn columns[COLUMNS] = {{"position", {GRAIN_F32, 3, CHUNK_LATTICE, STEP}, 1},
                                              {"velocity", {GRAIN_F32, 3, CHUNK_LATTICE, VELOCITY_STEP}, 0},
                                              {"radius", {GRAIN_F32, 1, CHUNK_LATTICE, 0.01 * 0.001}, 1},
                                              {"orientation", {GRAIN_F32, 4, CHUNK_ROTATION, 0.0}, 1},
                                              {"id", {GRAIN_I64, 1, CHUNK_EXACT, 0.0}, 1}};

static void sample_free(Sample *s)
{
    alloc_free(s->position);
    alloc_free(s->velocity);
    alloc_free(s->radius);
    alloc_free(s->orientation);
    alloc_free(s->id);
}

// A block of sand, in rows; those right of `still` move.
static int sample_make(Sample *s, int64_t count, int frame, float still)
{
    *s = (Sample){
        count, ALLOC(Vec3, count), ALLOC(Vec3, count), ALLOC(float, count), ALLOC(Quat, count), ALLOC(int64_t, count)};
    if (!s->position || !s->velocity || !s->radius || !s->orientation || !s->id) return 0;
    for (int64_t i = 0; i < count; i++) {
        Rng4 r = rng_at(1, (uint64_t)i, RNG_STREAM_TEST, 0), t = rng_at(2, (uint64_t)i, RNG_STREAM_TEST, 0);
        Vec3 p = {0.002f * (float)(i % 40) + 0.0007f * rng_signed(r.word[0]),
                  0.002f * (float)(i / 40 % 40) + 0.0007f * rng_signed(r.word[1]),
                  0.002f * (float)(i / 1600) + 0.0007f * rng_signed(r.word[2])};
        Vec3 v = p.x < still ? vec3(0, 0, 0) : vec3(0.3f + p.y, -0.2f, 5.0f * p.x);
        s->position[i] = vec3_add_scaled(p, v, (float)frame / 24.0f);
        s->velocity[i] = v;
        s->radius[i] = RADIUS * (1.0f + 0.3f * rng_signed(r.word[3]));
        Quat q = {rng_signed(t.word[0]), rng_signed(t.word[1]), rng_signed(t.word[2]), rng_signed(t.word[3])};
        float length = sqrtf(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
        s->orientation[i] = (Quat){q.w / length, q.x / length, q.y / length, q.z / length};
        s->id[i] = 1024 * i + 3;
    }
    return 1;
}

static char *path_at(int frame)
{
    char name[64], *path;
    snprintf(name, sizeof name, "grains_%06d.grain", frame);
    return file_join(test_folder(), name, &path) == GRAIN_OK ? path : NULL;
}

static GrainResult write_chunks(const Sample *s, int frame, int64_t chunk_size, int has_previous, int threads,
                                ColumnFileHeader *header)
{
    int64_t chunk_count = (s->count + chunk_size - 1) / chunk_size;
    uint32_t *sizes = ALLOC(uint32_t, chunk_count);
    for (int64_t i = 0; i < chunk_count; i++)
        sizes[i] = (uint32_t)(i < chunk_count - 1 ? chunk_size : s->count - i * chunk_size);
    *header = (ColumnFileHeader){.frame = frame, .time = frame / 24.0, .particles = s->count};
    const void *data[COLUMNS] = {s->position, s->velocity, s->radius, s->orientation, s->id};
    char *path = path_at(frame), *previous = has_previous ? path_at(frame - 1) : NULL;
    PackedWriter writer;
    GrainResult result = packed_begin(&writer, path, header, columns, COLUMNS, sizes, chunk_count, previous, threads);
    if (result == GRAIN_OK) result = packed_append(&writer, chunk_count, data);
    if (result == GRAIN_OK)
        result = packed_commit(&writer, header);
    else
        packed_abandon(&writer);
    alloc_free(path);
    alloc_free(previous);
    alloc_free(sizes);
    return result;
}

static double furthest(const Vec3 *a, const Vec3 *b, int64_t count)
{
    double most = 0.0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, (double)vec3_length(vec3_sub(a[i], b[i])));
    return most;
}

static double most_turned(const Quat *a, const Quat *b, int64_t count)
{
    double most = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double dot = (double)a[i].w * (double)b[i].w + (double)a[i].x * (double)b[i].x +
                     (double)a[i].y * (double)b[i].y + (double)a[i].z * (double)b[i].z;
        most = fmax(most, 2.0 * acos(fmin(fabs(dot), 1.0)));
    }
    return most;
}

static void ensure_near(const struct GrainFrame *frame, const Sample *s)
{
    ENSURE_EQUAL(frame->header.particles, s->count);
    ENSURE_EQUAL(frame->column_count, COLUMNS);
    // Half a step along each axis, and the rounding of a float.
    ENSURE(furthest(frame->columns[0].data, s->position, s->count) < 0.5001 * sqrt(3.0) * STEP);
    ENSURE(furthest(frame->columns[1].data, s->velocity, s->count) < 0.5001 * sqrt(3.0) * VELOCITY_STEP);
    const float *radius = frame->columns[2].data;
    for (int64_t i = 0; i < s->count; i++) ENSURE_NEAR(radius[i], s->radius[i], 0.501 * 1e-5);
    // Three parts off by half a step of sqrt(1/2) / 511 each, the fourth by what they make of it.
    ENSURE(most_turned(frame->columns[3].data, s->orientation, s->count) < 0.0055);
    ENSURE(memcmp(frame->columns[4].data, s->id, (size_t)s->count * sizeof(int64_t)) == 0);
}

static GrainResult read_frame(int frame, struct GrainFrame *out)
{
    char *path = path_at(frame);
    GrainResult result = column_file_read(path, out);
    alloc_free(path);
    return result;
}

TEST(packed_grains_come_back_within_the_error)
{
    static const int64_t counts[] = {0, 1, 63, 16384, 16385, 50000};
    for (int c = 0; c < 6; c++) {
        Sample s;
        ColumnFileHeader header;
        struct GrainFrame frame;
        ENSURE(sample_make(&s, counts[c], 1, 0.04f));
        ENSURE_OK(write_chunks(&s, 1, CHUNK_GRAINS, 0, 2, &header));
        ENSURE_OK(read_frame(1, &frame));
        ensure_near(&frame, &s);
        ENSURE(frame.header.checksum == header.checksum && frame.header.bytes == header.bytes);
        column_file_free(&frame);
        sample_free(&s);
    }
}

TEST(sand_at_rest_takes_next_to_nothing)
{
    Sample moving, still;
    ColumnFileHeader first, second, third;
    struct GrainFrame frame;
    ENSURE(sample_make(&moving, 50000, 1, 0.0f) && sample_make(&still, 50000, 1, 1.0f));
    ENSURE_OK(write_chunks(&still, 1, CHUNK_GRAINS, 0, 2, &first));
    ENSURE_OK(write_chunks(&still, 2, CHUNK_GRAINS, 1, 2, &second));
    ENSURE_OK(write_chunks(&still, 3, CHUNK_GRAINS, 1, 2, &third));
    ENSURE(second.bytes < 2000 && third.bytes == second.bytes);
    ENSURE_OK(read_frame(3, &frame));
    ensure_near(&frame, &still);
    column_file_free(&frame);
    // The third frame needs the first, not the second.
    char *path = path_at(2);
    ENSURE_OK(file_remove(path));
    alloc_free(path);
    ENSURE_OK(read_frame(3, &frame));
    column_file_free(&frame);
    path = path_at(1);
    ENSURE_OK(file_remove(path));
    alloc_free(path);
    ENSURE_FAILS(read_frame(3, &frame), GRAIN_ERROR_DAMAGED, "frame 3 needs frame 1");
    sample_free(&moving), sample_free(&still);
}

// A key frame of another bake is noticed, though it is a whole file of the right number.
TEST(a_changed_key_frame_is_noticed)
{
    Sample still, other;
    ColumnFileHeader header;
    struct GrainFrame frame;
    ENSURE(sample_make(&still, 20000, 1, 1.0f) && sample_make(&other, 20000, 5, 0.0f));
    ENSURE_OK(write_chunks(&still, 1, CHUNK_GRAINS, 0, 1, &header));
    ENSURE_OK(write_chunks(&still, 2, CHUNK_GRAINS, 1, 1, &header));
    ENSURE_OK(write_chunks(&other, 1, CHUNK_GRAINS, 0, 1, &header));
    ENSURE_FAILS(read_frame(2, &frame), GRAIN_ERROR_DAMAGED, "key frame");
    sample_free(&still), sample_free(&other);
}

TEST(a_key_frame_is_not_kept_for_ever)
{
    Sample s;
    ColumnFileHeader header;
    PackedFile file;
    int32_t oldest = 0;
    ENSURE(sample_make(&s, 100, 0, 1.0f));
    for (int frame = 1; frame <= 3 * PACKED_MOST_FRAMES_TO_KEY; frame++) {
        ENSURE_OK(write_chunks(&s, frame, CHUNK_GRAINS, frame > 1, 1, &header));
        char *path = path_at(frame);
        ENSURE_OK(packed_open(path, &file));
        alloc_free(path);
        if (file.blocks[0].mode == CHUNK_SAME && frame - file.blocks[0].key_frame > oldest)
            oldest = frame - file.blocks[0].key_frame;
        packed_close(&file);
    }
    ENSURE_EQUAL(oldest, PACKED_MOST_FRAMES_TO_KEY);
    sample_free(&s);
}

// However the grains are cut into chunks, and whatever the threads and the instruction set: the same grains.
TEST(grains_do_not_depend_on_how_they_were_packed)
{
    Sample s;
    ColumnFileHeader header, again;
    struct GrainFrame a, b;
    ENSURE(sample_make(&s, 40000, 3, 0.04f));
    ENSURE_OK(write_chunks(&s, 1, CHUNK_GRAINS, 0, 2, &header));
    ENSURE_OK(read_frame(1, &a));
    SimdSet best = simd_limit(SIMD_BASE);
    ENSURE_OK(write_chunks(&s, 1, CHUNK_GRAINS, 0, 1, &again));
    simd_limit(SIMD_AVX512);
    ENSURE(header.checksum == again.checksum);
    ENSURE_OK(write_chunks(&s, 2, 1000, 0, 1, &again));
    ENSURE_OK(read_frame(2, &b));
    for (int c = 0; c < COLUMNS; c++)
        ENSURE(memcmp(a.columns[c].data, b.columns[c].data, (size_t)column_bytes(&a.columns[c])) == 0);
    (void)best;
    column_file_free(&a), column_file_free(&b);
    sample_free(&s);
}

TEST(the_first_grains_are_read_without_the_others)
{
    Sample s;
    ColumnFileHeader header;
    struct GrainFrame whole;
    PackedFile file;
    ENSURE(sample_make(&s, 40000, 3, 0.04f));
    ENSURE_OK(write_chunks(&s, 1, CHUNK_GRAINS, 0, 2, &header));
    ENSURE_OK(read_frame(1, &whole));
    char *path = path_at(1);
    ENSURE_OK(packed_open(path, &file));
    alloc_free(path);
    Vec3 *some = ALLOC(Vec3, 17001);
    some[17000] = vec3(1, 2, 3);
    ENSURE_OK(packed_load(&file, 0, 17000, some, 2));
    ENSURE(memcmp(some, whole.columns[0].data, 17000 * sizeof *some) == 0);
    ENSURE(some[17000].x == 1.0f && some[17000].z == 3.0f);
    packed_close(&file);
    GrainFrame *opened;
    GrainView view;
    path = path_at(1);
    ENSURE_OK(grain_frame_open(path, &opened));
    alloc_free(path);
    ENSURE_OK(grain_frame_column(opened, "position", &view));
    ENSURE(!view.data && view.count == 40000 && view.components == 3);
    memset(some, 0, 17000 * sizeof *some);
    ENSURE_OK(grain_frame_load(opened, "position", 17000, some, NULL));
    ENSURE(memcmp(some, whole.columns[0].data, 17000 * sizeof *some) == 0);
    ENSURE_FAILS(grain_frame_load(opened, "colour", 1, some, NULL), GRAIN_ERROR_ARGUMENT, "position, velocity");
    ENSURE_FAILS(grain_frame_load(opened, "position", 40001, some, NULL), GRAIN_ERROR_ARGUMENT, "40001");
    grain_frame_destroy(opened);
    alloc_free(some);
    column_file_free(&whole);
    sample_free(&s);
}

// Whatever allocation fails while a frame is written or read: an error, and nothing is left behind.
static int64_t allocations_left;

static void *allocate_some(void *user, uint64_t bytes, uint64_t alignment)
{
    (void)user;
    return allocations_left-- > 0 ? system_allocate(bytes, alignment) : NULL;
}

static void release(void *user, void *memory, uint64_t bytes)
{
    (void)user, (void)bytes;
    system_free(memory);
}

static Vec3 few_positions[100];

static GrainResult write_and_read_few(const char *path)
{
    uint32_t size = 100;
    ColumnFileHeader header = {.frame = 1, .particles = 100};
    const void *data[] = {few_positions};
    PackedWriter writer;
    struct GrainFrame frame;
    GrainResult result = packed_begin(&writer, path, &header, columns, 1, &size, 1, NULL, 1);
    if (result == GRAIN_OK) result = packed_append(&writer, 1, data);
    if (result == GRAIN_OK)
        result = packed_commit(&writer, &header);
    else
        packed_abandon(&writer);
    if (result == GRAIN_OK) result = column_file_read(path, &frame);
    if (result == GRAIN_OK) column_file_free(&frame);
    return result;
}

TEST(packed_grains_survive_a_lack_of_memory)
{
    char path[512];
    snprintf(path, sizeof path, "%s/grains_000001.grain", test_folder());
    GrainAllocator stingy = {allocate_some, release, NULL};
    ENSURE_OK(grain_set_allocator(&stingy));
    GrainResult result = GRAIN_ERROR_MEMORY;
    int64_t tried = 0, leaked = 0;
    for (; result == GRAIN_ERROR_MEMORY && tried < 1000; tried++) {
        allocations_left = tried;
        result = write_and_read_few(path);
        leaked |= grain_allocated_bytes();
    }
    allocations_left = 1000;
    grain_set_allocator(NULL);
    ENSURE_OK(result);
    ENSURE(tried > 10 && leaked == 0);
}

// Values no lattice reaches are kept as they are.
TEST(grains_far_away_are_kept_exactly)
{
    Sample s;
    ColumnFileHeader header;
    struct GrainFrame frame;
    ENSURE(sample_make(&s, 5000, 3, 0.04f));
    s.position[17] = vec3(1e9f, -3e14f, 0.125f);
    s.velocity[18] = vec3(-7e14f, 0, 0);
    ENSURE_OK(write_chunks(&s, 1, CHUNK_GRAINS, 0, 2, &header));
    ENSURE_OK(read_frame(1, &frame));
    ENSURE(memcmp(frame.columns[0].data, s.position, 5000 * sizeof(Vec3)) == 0);
    ENSURE(memcmp(frame.columns[1].data, s.velocity, 5000 * sizeof(Vec3)) == 0);
    column_file_free(&frame);
    sample_free(&s);
}

static GrainResult read_changed(const char *path, const char *bytes, int64_t count)
{
    struct GrainFrame frame;
    FILE *file = fopen(path, "wb"); // not flushed to the disk: it is written a thousand times
    if (!file || fwrite(bytes, 1, (size_t)count, file) != (size_t)count || fclose(file) != 0) return GRAIN_ERROR_IO;
    GrainResult result = column_file_read(path, &frame);
    if (result == GRAIN_OK) column_file_free(&frame);
    return result;
}

// Bits flipped all over the file, lengths it could be cut to: always noticed, never a crash.
static void ensure_damage_is_noticed(int frame)
{
    char *path = path_at(frame);
    void *whole;
    int64_t bytes;
    ENSURE_OK(file_read(path, INT64_MAX, &whole, &bytes));
    int noticed = 0, expected = 0;
    for (int64_t bit = 0; bit < 8 * bytes; bit += 8 * bytes / 700 | 1) {
        ((char *)whole)[bit / 8] ^= (char)(1 << bit % 8);
        noticed += read_changed(path, whole, bytes) == GRAIN_ERROR_DAMAGED, expected++;
        ((char *)whole)[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (int64_t length = 0; length < bytes; length += bytes / 100 | 1)
        noticed += read_changed(path, whole, length) == GRAIN_ERROR_DAMAGED, expected++;
    GrainResult intact = read_changed(path, whole, bytes);
    alloc_free(whole);
    alloc_free(path);
    ENSURE_OK(intact);
    ENSURE_EQUAL(noticed, expected);
}

TEST(any_damage_to_packed_grains_is_noticed)
{
    Sample s;
    ColumnFileHeader header;
    ENSURE(sample_make(&s, 700, 1, 0.04f));
    ENSURE_OK(write_chunks(&s, 1, 300, 0, 1, &header));
    sample_free(&s);
    ENSURE(sample_make(&s, 700, 2, 0.04f));
    ENSURE_OK(write_chunks(&s, 2, 300, 1, 1, &header));
    sample_free(&s);
    ensure_damage_is_noticed(1);
    ensure_damage_is_noticed(2);
}
