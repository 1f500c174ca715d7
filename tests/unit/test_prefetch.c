// SPDX-License-Identifier: GPL-3.0-or-later
// Frames read in advance on another thread: the same bytes as read here, in any order of asking, and a clean end at any
// moment.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "grain/grain.h"
#include "output/packed_file.h"
#include "unit/test.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#define COUNT 30000
#define USED 20000 // of them
#define FRAMES 6

static const PackedColumn columns[2] = {{"position", {GRAIN_F32, 3, CHUNK_LATTICE, 1e-4}, 1},
                                        {"radius", {GRAIN_F32, 1, CHUNK_LATTICE, 1e-5}, 1}};

typedef struct Room {
    float positions[3 * USED], radii[USED];
    uint8_t colours[4 * USED];
} Room;

static char *path_at(int frame)
{
    char name[64], *path;
    snprintf(name, sizeof name, "grains_%06d.grain", frame);
    return file_join(test_folder(), name, &path) == GRAIN_OK ? path : NULL;
}

static GrainResult write_chunks(const char *path, int frame, const float *positions, const float *radii)
{
    enum { CHUNK = 5000 };
    uint32_t sizes[COUNT / CHUNK];
    for (int i = 0; i < COUNT / CHUNK; i++) sizes[i] = CHUNK;
    ColumnFileHeader header = {.frame = frame, .particles = COUNT};
    const void *data[2] = {positions, radii};
    PackedWriter writer;
    TRY(packed_begin(&writer, path, &header, columns, 2, sizes, COUNT / CHUNK, NULL, 1));
    TRY(packed_append(&writer, COUNT / CHUNK, data));
    return packed_commit(&writer, &header);
}

// A heap that falls; in the last frame one of its grains is gone.
static GrainResult write_frames(void)
{
    float *positions = ALLOC(float, 3 * COUNT), *radii = ALLOC(float, COUNT);
    GrainResult result = positions && radii ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    for (int frame = 0; frame < FRAMES && result == GRAIN_OK; frame++) {
        for (int i = 0; i < COUNT; i++) {
            Rng4 dice = rng_at(3, (uint64_t)i, RNG_STREAM_TEST, 0);
            for (int k = 0; k < 3; k++)
                positions[3 * i + k] = rng_signed(dice.word[k]) - (k == 2 ? 0.1f * (float)frame : 0.0f);
            radii[i] = frame == FRAMES - 1 && i == 7 ? 0.0f : 0.01f + 0.001f * (float)(i % 5);
        }
        char *path = path_at(frame);
        result = path ? write_chunks(path, frame, positions, radii) : GRAIN_ERROR_MEMORY;
        alloc_free(path);
    }
    alloc_free(positions);
    alloc_free(radii);
    return result;
}

static GrainPointsLook some_look(void)
{
    GrainPointsLook look = {.struct_size = sizeof look, .wet_value = 0.5f};
    for (int i = 0; i < GRAIN_POINTS_COLOURS; i++)
        for (int k = 0; k < 3; k++) look.colours[i][k] = (float)(i * (k + 1) % 256) / 255.0f;
    return look;
}

// Whatever is only lent to the call goes out of scope with it.
static GrainResult add(GrainPrefetch *prefetch, int frame, Room *room, int64_t *number)
{
    char *path = path_at(frame), position[] = "position", radius[] = "radius";
    GrainPointsLook look = some_look();
    GrainPrefetchDef def = {.struct_size = sizeof def,
                            .column_count = 2,
                            .path = path,
                            .count = USED,
                            .names = {position, radius},
                            .columns = {room->positions, room->radii},
                            .look = &look,
                            .colours = room->colours};
    GrainResult result = grain_prefetch_add(prefetch, &def, number);
    memset(path, 'x', strlen(path));
    memset(position, 'x', sizeof position - 1);
    memset(&look, 0, sizeof look);
    alloc_free(path);
    return result;
}

static GrainResult read_here(int frame, Room *room)
{
    char *path = path_at(frame);
    GrainFrame *opened;
    GrainResult result = grain_frame_open(path, &opened);
    alloc_free(path);
    TRY(result);
    result = grain_frame_load(opened, "position", USED, room->positions, NULL);
    if (result == GRAIN_OK) result = grain_frame_load(opened, "radius", USED, room->radii, NULL);
    grain_frame_destroy(opened);
    TRY(result);
    GrainPointsLook look = some_look();
    for (int i = 0; i < USED; i++)
        if (room->radii[i] > look.largest_radius) look.largest_radius = room->radii[i];
    GrainPoints points = {
        .struct_size = sizeof points, .count = USED, .positions = room->positions, .radii = room->radii};
    return grain_points_colour(&points, &look, NULL, room->colours, NULL);
}

TEST(frames_read_ahead_are_those_read_here)
{
    static const int order[FRAMES] = {4, 0, 5, 3, 1, 2}; // of asking
    ENSURE_OK(write_frames());
    Room *rooms = ALLOC_ZEROED(Room, FRAMES + 1), *here = rooms + FRAMES;
    GrainPrefetch *prefetch;
    int64_t numbers[FRAMES];
    ENSURE(rooms);
    ENSURE_OK(grain_prefetch_create(&prefetch));
    for (int i = 0; i < FRAMES; i++) ENSURE_OK(add(prefetch, i, &rooms[i], &numbers[i]));
    while (!grain_prefetch_is_done(prefetch, numbers[1])) sched_yield();
    ENSURE(grain_prefetch_is_done(prefetch, numbers[0]) && !grain_prefetch_drop(prefetch, numbers[0]));
    for (int i = 0; i < FRAMES; i++) {
        GrainPrefetchPoints points = {.struct_size = sizeof points};
        const Room *room = &rooms[order[i]];
        ENSURE_OK(grain_prefetch_finish(prefetch, numbers[order[i]], &points));
        ENSURE_OK(read_here(order[i], here));
        ENSURE(memcmp(room->positions, here->positions, sizeof here->positions) == 0);
        ENSURE(memcmp(room->radii, here->radii, sizeof here->radii) == 0);
        ENSURE_EQUAL(points.are_made,
                     order[i] < FRAMES - 1); // a grain that is gone is not drawn: who asks leaves it out
        if (!points.are_made) continue;
        ENSURE(memcmp(room->colours, here->colours, sizeof here->colours) == 0);
        ENSURE_NEAR(points.largest_radius, 0.014, 1e-5);
        ENSURE_NEAR(points.bounds[2], -1.0 - 0.1 * order[i], 1e-3);
        ENSURE_NEAR(points.bounds[5], 1.0 - 0.1 * order[i], 1e-3);
        ENSURE_EQUAL(grain_prefetch_finish(prefetch, numbers[order[i]], &points), GRAIN_ERROR_ARGUMENT);
    }
    grain_prefetch_destroy(prefetch);
    alloc_free(rooms);
}

TEST(what_was_dropped_is_not_read)
{
    ENSURE_OK(write_frames());
    Room *rooms = ALLOC_ZEROED(Room, FRAMES);
    ENSURE(rooms);
    int all_dropped = 0;
    for (int turn = 0; turn < 20; turn++) {
        GrainPrefetch *prefetch;
        int64_t numbers[FRAMES];
        ENSURE_OK(grain_prefetch_create(&prefetch));
        memset(rooms, 0, FRAMES * sizeof *rooms);
        for (int i = 0; i < FRAMES; i++) ENSURE_OK(add(prefetch, i, &rooms[i], &numbers[i]));
        int dropped = 0;
        for (int i = FRAMES - 1; i >= 0; i--) {
            if (!grain_prefetch_drop(prefetch, numbers[i])) continue;
            dropped++;
            ENSURE(rooms[i].radii[0] == 0.0f);
            ENSURE_EQUAL(grain_prefetch_drop(prefetch, numbers[i]), 0);
        }
        all_dropped += dropped;
        for (int i = 0; i < turn % 3; i++) {
            GrainPrefetchPoints points = {.struct_size = sizeof points};
            (void)grain_prefetch_finish(prefetch, numbers[i], &points);
        }
        grain_prefetch_destroy(prefetch); // in the middle of it
    }
    ENSURE(all_dropped > 0); // six frames take longer than asking for them, at least once
    alloc_free(rooms);
}

TEST(what_cannot_be_read_ahead_says_why)
{
    Room *room = ALLOC_ZEROED(Room, 1);
    GrainPrefetch *prefetch;
    GrainPrefetchPoints points = {.struct_size = sizeof points};
    int64_t number;
    ENSURE(room);
    ENSURE_OK(grain_prefetch_create(&prefetch));
    ENSURE_OK(add(prefetch, 77, room, &number));
    ENSURE_EQUAL(grain_prefetch_finish(prefetch, number, &points), GRAIN_ERROR_IO);
    ENSURE(strstr(grain_last_error(), "grains_000077.grain"));
    GrainPointsLook look = some_look();
    GrainPrefetchDef def = {.struct_size = sizeof def,
                            .column_count = 1,
                            .path = "x",
                            .count = 1,
                            .names = {"position"},
                            .columns = {room}};
    def.look = &look;
    ENSURE_EQUAL(grain_prefetch_add(prefetch, &def, &number), GRAIN_ERROR_ARGUMENT);
    ENSURE(strstr(grain_last_error(), "radius"));
    def.look = NULL, def.column_count = 0;
    ENSURE_EQUAL(grain_prefetch_add(prefetch, &def, &number), GRAIN_ERROR_ARGUMENT);
    def.struct_size--;
    ENSURE_EQUAL(grain_prefetch_add(prefetch, &def, &number), GRAIN_ERROR_ABI);
    grain_prefetch_destroy(prefetch);
    grain_prefetch_destroy(NULL);
    alloc_free(room);
}
