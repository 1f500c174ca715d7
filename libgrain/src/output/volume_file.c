// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/volume_file.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/system.h"

#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define PIECE (1 << 20)

typedef struct Sink {
    FileWriter file;
    XXH3_state_t *hash;
    GrainResult result;
} Sink;

static int32_t take(void *user, const void *data, int64_t bytes)
{
    Sink *sink = user;
    XXH3_64bits_update(sink->hash, data, (size_t)bytes);
    sink->result = file_write(&sink->file, data, (size_t)bytes);
    return sink->result == GRAIN_OK ? 0 : 1;
}

static GrainResult begin(Sink *sink, const char *path)
{
    *sink = (Sink){.file.descriptor = -1};
    TRY(vdb_need());
    sink->hash = XXH3_createState();
    if (!sink->hash) return fail(GRAIN_ERROR_MEMORY, "not enough memory to write '%s'", path);
    XXH3_64bits_reset(sink->hash);
    GrainResult result = file_create(&sink->file, path);
    if (result != GRAIN_OK) XXH3_freeState(sink->hash);
    return result;
}

// code: what the shim said.
static GrainResult end(Sink *sink, const char *path, int32_t code, const VdbMessage *message, ColumnFileHeader *header)
{
    header->bytes = sink->file.bytes;
    header->checksum = XXH3_64bits_digest(sink->hash);
    XXH3_freeState(sink->hash);
    if (code == VDB_OK) return file_commit(&sink->file);
    file_abandon(&sink->file);
    return sink->result != GRAIN_OK ? sink->result : vdb_fail(code, path, message);
}

GrainResult volume_file_write(const char *path, const VdbFile *file, ColumnFileHeader *header)
{
    Sink sink;
    VdbMessage message;
    TRY(begin(&sink, path));
    int32_t code = vdb_shim()->grids_write(file, take, &sink, &message);
    return end(&sink, path, code, &message, header);
}

GrainResult volume_file_write_points(const char *path, const VdbPoints *points)
{
    Sink sink;
    VdbMessage message;
    ColumnFileHeader header;
    TRY(begin(&sink, path));
    int32_t code = vdb_shim()->points_write(points, take, &sink, &message);
    return end(&sink, path, code, &message, &header);
}

// A file of another size is not read: a terabyte of nothing takes no room on a disk, but an hour to read.
static GrainResult check_size(const char *path, int descriptor, int64_t expected)
{
    SystemInfo info;
    if (system_info_of_file(descriptor, &info) != 0) return fail(GRAIN_ERROR_DAMAGED, "'%s' cannot be read", path);
    if (info.bytes == expected) return GRAIN_OK;
    return fail(GRAIN_ERROR_DAMAGED, "'%s' is damaged: it has %lld bytes instead of %lld", path, (long long)info.bytes,
                (long long)expected);
}

// Of a file as it lies there.
static GrainResult check_sum(const char *path, int descriptor, uint64_t expected)
{
    char *piece = ALLOC(char, PIECE);
    XXH3_state_t *hash = piece ? XXH3_createState() : NULL;
    GrainResult result = hash ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (hash) {
        int64_t got;
        XXH3_64bits_reset(hash);
        while ((got = system_read(descriptor, piece, PIECE)) > 0) XXH3_64bits_update(hash, piece, (size_t)got);
        if (got < 0)
            result = fail(GRAIN_ERROR_DAMAGED, "'%s' cannot be read", path);
        else if (XXH3_64bits_digest(hash) != expected)
            result = fail(GRAIN_ERROR_DAMAGED, "'%s' is damaged: its checksum is wrong", path);
    }
    XXH3_freeState(hash);
    alloc_free(piece);
    return result;
}

static GrainResult compare(const char *path, const CacheFrame *frame)
{
    int descriptor;
    if (file_open(path, &descriptor) != GRAIN_OK) return GRAIN_ERROR_DAMAGED;
    GrainResult result = check_size(path, descriptor, frame->bytes);
    if (result == GRAIN_OK) result = check_sum(path, descriptor, frame->checksum);
    system_close(descriptor);
    return result;
}

GrainResult volume_file_path(const char *folder, int32_t number, char **path)
{
    char name[64];
    snprintf(name, sizeof name, "volume_%04d.vdb", number);
    return file_join(folder, name, path);
}

GrainResult volume_file_check(const char *folder, const CacheManifest *manifest, const CacheFrame *frame)
{
    char *path;
    TRY(volume_file_path(folder, frame->frame + manifest->number_shift, &path));
    GrainResult result = compare(path, frame);
    alloc_free(path);
    return result;
}
