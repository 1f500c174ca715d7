// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a level set, grids and points through a libgrain_vdb of any platform and reads the level set back; the same
// bytes are expected of all of them (test_vdb_library.py). The paths are where systems differ: not ASCII, and long.
#include "../../libgrain/vdb/vdb_shim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
static void *open_library(const char *path) { return (void *)LoadLibraryA(path); }
static void *find_function(void *library, const char *name) { return (void *)GetProcAddress((HMODULE)library, name); }
#else
#include <dlfcn.h>
static void *open_library(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static void *find_function(void *library, const char *name) { return dlsym(library, name); }
#endif

enum { EDGE = 5, BLOCK_COUNT = EDGE * EDGE * EDGE, POINT_COUNT = 20000 };

static VdbMessage message;

static void check(int32_t code, int32_t wanted, const char *what)
{
    if (code == wanted) return;
    fprintf(stderr, "%s: code %d instead of %d: %s\n", what, (int)code, (int)wanted, message.text);
    exit(1);
}

static void *need(void *library, const char *name)
{
    void *function = find_function(library, name);
    if (function) return function;
    fprintf(stderr, "the library has no %s\n", name);
    exit(1);
}

// The same numbers everywhere: integers, and powers of two.
static float random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(*state >> 40) * 0x1p-24f;
}

static int32_t write_piece(void *file, const void *data, int64_t bytes)
{
    return fwrite(data, 1, (size_t)bytes, file) == (size_t)bytes ? 0 : 1;
}

static FILE *create(const char *name)
{
    FILE *file = fopen(name, "wb");
    if (file) return file;
    fprintf(stderr, "%s cannot be created\n", name);
    exit(1);
}

static int32_t corner[3 * BLOCK_COUNT];
static float distance[512 * BLOCK_COUNT], density[512 * BLOCK_COUNT], velocity[3 * 512 * BLOCK_COUNT];

// A ball in blocks around the origin.
static void make_blocks(float background)
{
    uint64_t state = 1;
    for (int block = 0; block < BLOCK_COUNT; block++) {
        int place[3] = {block % EDGE - EDGE / 2, block / EDGE % EDGE - EDGE / 2, block / EDGE / EDGE - EDGE / 2};
        for (int axis = 0; axis < 3; axis++) corner[3 * block + axis] = 8 * place[axis];
        for (int i = 0; i < 512; i++) {
            double x = 8 * place[0] + i % 8, y = 8 * place[1] + i / 8 % 8, z = 8 * place[2] + i / 64;
            float value = (float)(sqrt(x * x + y * y + z * z) - 12.25) * 0.0625f;
            distance[512 * block + i] = value > background ? background : value < -background ? -background : value;
            density[512 * block + i] = value < 0.0f ? random_number(&state) : 0.0f;
            for (int axis = 0; axis < 3; axis++)
                velocity[512 * (3 * block + axis) + i] = value < 0.0f ? random_number(&state) - 0.5f : 0.0f;
        }
    }
}

static void write_grids(void *library, float background)
{
    const VdbNumber numbers[] = {{"frame", 12.0}, {"rate", 0.1}};
    const VdbGrid grids[] = {
        {"density", VDB_FOG, 0.0f, 0.0625, BLOCK_COUNT, corner, density},
        {"velocity", VDB_VELOCITY, 0.0f, 0.0625, BLOCK_COUNT, corner, velocity},
        {"surface", VDB_DISTANCE, background, 0.0625, BLOCK_COUNT, corner, distance},
    };
    const VdbFile all = {"driver", numbers, 2, grids, 3};
    FILE *file = create("grids.vdb");
    check(((VdbGridsWriteFn *)need(library, "vdb_grids_write"))(&all, write_piece, file, &message), VDB_OK, "grids");
    fclose(file);
}

static void write_points(void *library)
{
    static float position[3 * POINT_COUNT], speed[3 * POINT_COUNT], radius[POINT_COUNT], turn[4 * POINT_COUNT];
    static int64_t id[POINT_COUNT];
    uint64_t state = 2;
    for (int i = 0; i < POINT_COUNT; i++) {
        for (int axis = 0; axis < 3; axis++) position[3 * i + axis] = 4.0f * random_number(&state);
        for (int axis = 0; axis < 3; axis++) speed[3 * i + axis] = random_number(&state) - 0.5f;
        for (int axis = 0; axis < 4; axis++) turn[4 * i + axis] = random_number(&state);
        radius[i] = 0.01f + 0.01f * random_number(&state);
        id[i] = i * INT64_C(123456789);
    }
    const VdbPoints points = {"driver", 0.125, POINT_COUNT, position, speed, radius, turn, id};
    FILE *file = create("points.vdb");
    check(((VdbPointsWriteFn *)need(library, "vdb_points_write"))(&points, write_piece, file, &message), VDB_OK,
          "points");
    fclose(file);
}

static void write_level_set(void *library, const char *path, float background)
{
    static const int32_t inside[] = {-8, -8, -8, 8};
    const VdbLevelSet level_set = {
        "ball", 0.0625, {0.5, 0.25, 0.0}, background, BLOCK_COUNT, corner, distance, 512, 64, 8, 1, inside};
    VdbLevelSetWriteFn *write = (VdbLevelSetWriteFn *)need(library, "vdb_level_set_write");
    check(write(path, &level_set, &message), VDB_OK, path);
}

static void read_level_set(void *library, const char *path, float background)
{
    VdbLevelSetOpenFn *open = (VdbLevelSetOpenFn *)need(library, "vdb_level_set_open");
    VdbReader *reader;
    VdbLevelSetInfo info;
    check(open(path, "ball", &reader, &info, &message), VDB_OK, path);
    if (info.background != background || info.voxel_size != 0.0625 || info.offset[0] != 0.5 || info.block_count < 1) {
        fprintf(stderr, "%s: read something else than written\n", path);
        exit(1);
    }
    int32_t *corners = malloc(3 * sizeof *corners * (size_t)info.block_count);
    float *values = malloc(512 * sizeof *values * (size_t)info.block_count);
    check(((VdbLevelSetReadFn *)need(library, "vdb_level_set_read"))(reader, corners, values, &message), VDB_OK, path);
    for (int64_t block = 0; block < info.block_count; block++) {
        int number = 0;
        for (int axis = 2; axis >= 0; axis--) number = EDGE * number + corners[3 * block + axis] / 8 + EDGE / 2;
        if (number >= 0 && number < BLOCK_COUNT &&
            memcmp(values + 512 * block, distance + 512 * number, 512 * sizeof *values) == 0)
            continue;
        fprintf(stderr, "%s: block %d has other values\n", path, (int)block);
        exit(1);
    }
    free(corners);
    free(values);
    ((VdbReaderCloseFn *)need(library, "vdb_reader_close"))(reader);
    check(open(path, "cube", &reader, &info, &message), VDB_ERROR_FORMAT, "a grid that is not there");
}

// driver LIBRARY LEVEL_SET [LEVEL_SET]: writes grids.vdb, points.vdb and the level sets, reads the level sets back, and
// fails to read broken.vdb, which is to be there. A path from the command line would not be UTF-8 on Windows, hence %.
static void decode(char *path)
{
    char *out = path;
    for (const char *in = path; *in; in++) {
        unsigned byte = (unsigned char)*in;
        if (*in == '%' && sscanf(in + 1, "%2x", &byte) == 1) in += 2;
        *out++ = (char)byte;
    }
    *out = 0;
}

int main(int argument_count, char **arguments)
{
    const float background = 0.1875f;
    if (argument_count < 3) return 2;
    void *library = open_library(arguments[1]);
    if (!library) {
        fprintf(stderr, "%s cannot be loaded\n", arguments[1]);
        return 1;
    }
    if (((VdbVersionFn *)need(library, "vdb_shim_version"))() != VDB_SHIM_VERSION) return 3;
    make_blocks(background);
    write_grids(library, background);
    write_points(library);
    for (int i = 2; i < argument_count; i++) {
        decode(arguments[i]);
        write_level_set(library, arguments[i], background);
        read_level_set(library, arguments[i], background);
    }
    VdbReader *reader;
    VdbLevelSetInfo info;
    VdbLevelSetOpenFn *open = (VdbLevelSetOpenFn *)need(library, "vdb_level_set_open");
    check(open("nothing.vdb", NULL, &reader, &info, &message), VDB_ERROR_IO, "a file that is not there");
    check(open("broken.vdb", NULL, &reader, &info, &message), VDB_ERROR_FORMAT, "a file that is cut short");
    puts("done");
    return 0;
}
