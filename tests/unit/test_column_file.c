// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/file.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/run.h"
#include "grain/grain.h"
#include "output/column_file.h"
#include "shared/portable.h"
#include "unit/test.h"

#include <string.h>

static const float positions[] = {1, 2, 3, 4, 5, 6};
static const int32_t numbers[] = {7, -8};

static GrainResult write_sample(const char *path)
{
    Column columns[] = {{"position", GRAIN_F32, 3, 2, positions}, {"number", GRAIN_I32, 1, 2, numbers}};
    ColumnFileHeader header = {.frame = -3, .substep = 9, .time = 1.5, .particles = 2};
    return column_file_write(path, &header, columns, 2);
}

TEST(what_is_written_is_read_back)
{
    char *path;
    GrainFrame *frame;
    GrainView view;
    GrainFrameInfo info = {.struct_size = sizeof info};
    ENSURE_OK(file_join(test_folder(), "a.grain", &path));
    ENSURE_OK(write_sample(path));
    ENSURE_OK(grain_frame_read(path, &frame));
    alloc_free(path);
    ENSURE_OK(grain_frame_info(frame, &info));
    ENSURE_OK(grain_frame_column(frame, "position", &view));
    int same = view.count == 2 && view.components == 3 && view.type == GRAIN_F32 &&
               memcmp(view.data, positions, sizeof positions) == 0;
    GrainResult missing = grain_frame_column(frame, "colour", &view);
    int told = strstr(grain_last_error(), "position, number") != NULL;
    grain_frame_destroy(frame);
    ENSURE(same && missing == GRAIN_ERROR_ARGUMENT && told);
    ENSURE(info.frame == -3 && info.particles == 2 && info.time == 1.5);
}

static GrainResult read_bytes(const char *path, const char *bytes, int64_t count)
{
    FileWriter file;
    GrainResult result = file_create(&file, path);
    if (result == GRAIN_OK) result = file_write(&file, bytes, (size_t)count);
    if (result == GRAIN_OK) result = file_commit(&file);
    if (result != GRAIN_OK) return result;
    GrainFrame *frame;
    result = grain_frame_read(path, &frame);
    grain_frame_destroy(frame);
    return result;
}

// Every single bit of the file flipped, every length it could be cut to: always noticed, never a crash.
TEST(any_damage_is_noticed)
{
    char *path;
    void *whole;
    int64_t bytes;
    ENSURE_OK(file_join(test_folder(), "a.grain", &path));
    ENSURE_OK(write_sample(path));
    ENSURE_OK(file_read(path, INT64_MAX, &whole, &bytes));
    int noticed = 0, expected = 0;
    for (int64_t bit = 0; bit < 8 * bytes; bit += 7) {
        ((char *)whole)[bit / 8] ^= (char)(1 << bit % 8);
        noticed += read_bytes(path, whole, bytes) == GRAIN_ERROR_DAMAGED, expected++;
        ((char *)whole)[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (int64_t length = 0; length < bytes; length += 5)
        noticed += read_bytes(path, whole, length) == GRAIN_ERROR_DAMAGED, expected++;
    GrainResult intact = read_bytes(path, whole, bytes);
    alloc_free(whole);
    alloc_free(path);
    ENSURE_OK(intact);
    ENSURE_EQUAL(noticed, expected);
}

// A terabyte of nothing takes no room on a disk.
TEST(a_file_longer_than_it_says_is_not_read)
{
    char *path;
    ENSURE_OK(file_join(test_folder(), "a.grain", &path));
    ENSURE_OK(write_sample(path));
    int descriptor = system_open(path, SYSTEM_UPDATE);
    int is_long = descriptor >= 0 && system_truncate(descriptor, (int64_t)1 << 40) == 0;
    system_close(descriptor);
    GrainFrame *frame;
    double began = run_clock();
    GrainResult result = grain_frame_read(path, &frame);
    double seconds = run_clock() - began;
    file_remove(path);
    alloc_free(path);
    if (!is_long) SKIP("there are no files with gaps here");
    ENSURE_EQUAL(result, GRAIN_ERROR_DAMAGED);
    ENSURE(strstr(grain_last_error(), "a.grain") && strstr(grain_last_error(), "longer than it says"));
    ENSURE(seconds < 1.0);
}

// One or two columns in turns.
static int replaces(const char *path, int i)
{
    Column columns[] = {{"position", GRAIN_F32, 3, 2, positions}, {"number", GRAIN_I32, 1, 2, numbers}};
    ColumnFileHeader header = {.frame = i, .particles = 2};
    return column_file_write(path, &header, columns, 1 + i % 2) == GRAIN_OK;
}

static int is_whole(const char *path)
{
    GrainFrame *frame;
    int is_read = grain_frame_read(path, &frame) == GRAIN_OK;
    if (!is_read) printf("# %s\n", grain_last_error());
    grain_frame_destroy(frame);
    return is_read;
}

// By another program, of another size each time.
TEST(a_file_that_is_replaced_while_it_is_read_is_whole)
{
    enum { TIMES = 500 };
    if (!portable_frees_open_names()) SKIP("nobody can replace an open file here");
    char *path;
    int failed[2] = {0};
    ENSURE_OK(file_join(test_folder(), "a.grain", &path));
    ENSURE(replaces(path, 0));
    PARALLEL_BLOCKS(2, reads, 2)
    {
        for (int i = 0; i < TIMES && !failed[reads]; i++) failed[reads] = reads ? !is_whole(path) : !replaces(path, i);
    }
    alloc_free(path);
    ENSURE(!failed[0] && !failed[1]);
}

TEST(bad_arguments_are_refused)
{
    GrainFrame *frame;
    GrainFrameInfo info = {0};
    ENSURE_FAILS(grain_frame_read(NULL, &frame), GRAIN_ERROR_ARGUMENT, "NULL");
    ENSURE_FAILS(grain_frame_info(NULL, &info), GRAIN_ERROR_ARGUMENT, "NULL");
    ENSURE_FAILS(grain_frame_column(NULL, "x", NULL), GRAIN_ERROR_ARGUMENT, "NULL");
    grain_frame_destroy(NULL);
}
