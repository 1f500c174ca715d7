// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Files that are whole or not there: written as NAME.part, flushed to the disk, renamed to NAME.
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
/// Overwrites what was written before, for a head that is known last.
GrainResult file_patch(FileWriter *file, int64_t offset, const void *data, size_t bytes);
/// Flushes and renames; after it, success or not, the writer is closed. On failure the old file, if any, is untouched.
GrainResult file_commit(FileWriter *file);
/// Removes the .part. Harmless after file_commit.
void file_abandon(FileWriter *file);

/// The whole file in one block of alloc_array, with a zero byte behind it. The caller frees it.
GrainResult file_read(const char *path, void **data, int64_t *bytes);
/// Both are harmless where there is nothing to do.
GrainResult file_make_folder(const char *path);
GrainResult file_remove(const char *path);
int file_exists(const char *path);
/// "folder/name", from alloc_array.
GrainResult file_join(const char *folder, const char *name, char **path);
