// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Files that are complete or absent: written as NAME.part, flushed to the disk, renamed to NAME.
#include "grain/base.h"
#include <stddef.h>

typedef struct FileWriter {
    char *path, *part_path;
    int descriptor;
    int64_t bytes;
} FileWriter;

#define FILE_PART_SUFFIX ".part"

GrainResult file_create(FileWriter *file, const char *path);
GrainResult file_write(FileWriter *file, const void *data, size_t bytes);
/// Overwrites bytes written earlier, for headers whose contents are known last.
GrainResult file_patch(FileWriter *file, int64_t offset, const void *data, size_t bytes);
/// Flushes, renames and closes, even on failure; an existing file is then unchanged.
GrainResult file_commit(FileWriter *file);
/// Removes the .part file. No effect after file_commit.
void file_abandon(FileWriter *file);

/// Reads the whole file into a block from alloc_array, followed by a zero byte. The caller frees it.
GrainResult file_read(const char *path, void **data, int64_t *bytes);
/// Neither fails if there is nothing to do.
GrainResult file_make_folder(const char *path);
GrainResult file_remove(const char *path);
int file_exists(const char *path);
/// "folder/name", from alloc_array.
GrainResult file_join(const char *folder, const char *name, char **path);
