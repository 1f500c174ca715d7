// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// OpenVDB as a handful of C calls. This is libgrain_vdb, the only C++ of Grain: libgrain loads it when a .vdb file
/// is to be written or read (src/output/vdb.c), so that a Blender with an OpenVDB of its own never meets ours
/// otherwise. No exception gets out: every call returns 0, or a VdbError and a text.
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Raised by any change below; libgrain refuses a shim of another number.
#define VDB_SHIM_VERSION 2
#ifndef _WIN32
#define VDB_SHIM_API __attribute__((__visibility__("default")))
#elif defined(VDB_SHIM_BUILDING)
#define VDB_SHIM_API __declspec(dllexport)
#else
#define VDB_SHIM_API
#endif

typedef enum VdbError {
    VDB_OK = 0,
    VDB_ERROR_IO = 1,     ///< the file cannot be opened, written or read
    VDB_ERROR_FORMAT = 2, ///< it holds something else than asked for
    VDB_ERROR_MEMORY = 3,
    VDB_ERROR_OTHER = 4,
} VdbError;

/// Where an error's text goes; always ends with a zero byte.
typedef struct VdbMessage {
    char text[1024];
} VdbMessage;

/// A level set: blocks of 8 x 8 x 8 distances, and boxes that are wholly inside. Voxel coordinates of blocks are
/// multiples of 8.
typedef struct VdbLevelSet {
    const char *name;
    double voxel_size; ///< m
    double offset[3];  ///< m, where voxel (0, 0, 0) is
    float background;  ///< m, half width of the band
    int64_t block_count;
    const int32_t *corner; ///< 3 for each block: its first voxel
    const float *values;   ///< m; voxel (x, y, z) of block b at b * block_stride + z * slice + y * row + x
    int64_t block_stride, slice, row;
    int64_t inside_count;
    const int32_t *inside; ///< 4 for each box that is inside: first voxel, and length of its edges
} VdbLevelSet;

typedef uint32_t VdbVersionFn(void);
/// Paths are UTF-8 on every system.
typedef int32_t VdbLevelSetWriteFn(const char *path, const VdbLevelSet *level_set, VdbMessage *message);

typedef struct VdbReader VdbReader;
typedef struct VdbLevelSetInfo {
    double voxel_size, offset[3];
    float background;
    int32_t unused;
    int64_t block_count;
} VdbLevelSetInfo;
/// Opens one grid of a file, or its only level set when name is NULL.
typedef int32_t VdbLevelSetOpenFn(const char *path, const char *name, VdbReader **reader, VdbLevelSetInfo *info,
                                  VdbMessage *message);
/// Fills corner (3 for each block) and values (512 for each, x fastest, inactive ones included).
typedef int32_t VdbLevelSetReadFn(VdbReader *reader, int32_t *corner, float *values, VdbMessage *message);
typedef void VdbReaderCloseFn(VdbReader *reader);

/// What a file's bytes are handed to, in order; anything but 0 gives up with VDB_ERROR_IO and no text.
typedef int32_t VdbSinkFn(void *user, const void *data, int64_t bytes);

typedef enum VdbGridKind {
    VDB_FOG = 0,      ///< active where above 0
    VDB_VELOCITY = 1, ///< three numbers a voxel; active where not 0
    VDB_DISTANCE = 2, ///< a level set: active where nearer than the background
} VdbGridKind;

/// A grid of blocks of 8 x 8 x 8 voxels, stored as halves. Voxel (i, j, k) is at voxel_size * (i, j, k).
typedef struct VdbGrid {
    const char *name;
    int32_t kind;     ///< VdbGridKind
    float background; ///< of a level set; the others' is 0
    double voxel_size;
    int64_t block_count;
    const int32_t *corner; ///< 3 for each block: its first voxel
    const float *values;   ///< 512 for each block and component, x fastest; the components of a block follow each other
} VdbGrid;

/// A number that stands in every grid's metadata.
typedef struct VdbNumber {
    const char *name;
    double value;
} VdbNumber;

typedef struct VdbFile {
    const char *creator;
    const VdbNumber *numbers;
    int64_t number_count;
    const VdbGrid *grids;
    int64_t grid_count;
} VdbFile;
typedef int32_t VdbGridsWriteFn(const VdbFile *file, VdbSinkFn *sink, void *user, VdbMessage *message);

/// Points for OpenVDB's point grids, as Houdini reads them: positions in 16 bits of a voxel, "v" and "pscale" as
/// halves, "id" and "orient" (x, y, z, w) where given.
typedef struct VdbPoints {
    const char *creator;
    double voxel_size; ///< m
    int64_t count;
    const float *position;    ///< 3 for each, m
    const float *velocity;    ///< 3 for each, m/s; may be NULL
    const float *radius;      ///< m; may be NULL
    const float *orientation; ///< 4 for each, w first; may be NULL
    const int64_t *id;        ///< may be NULL
} VdbPoints;
typedef int32_t VdbPointsWriteFn(const VdbPoints *points, VdbSinkFn *sink, void *user, VdbMessage *message);

VDB_SHIM_API VdbVersionFn vdb_shim_version;
VDB_SHIM_API VdbLevelSetWriteFn vdb_level_set_write;
VDB_SHIM_API VdbLevelSetOpenFn vdb_level_set_open;
VDB_SHIM_API VdbLevelSetReadFn vdb_level_set_read;
VDB_SHIM_API VdbReaderCloseFn vdb_reader_close;
VDB_SHIM_API VdbGridsWriteFn vdb_grids_write;
VDB_SHIM_API VdbPointsWriteFn vdb_points_write;

#ifdef __cplusplus
}
#endif
