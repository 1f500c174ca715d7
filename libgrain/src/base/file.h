// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The door to the file system: what is read and written inside a cache or a job folder goes through here.
///
/// Folders are shared and may come from a stranger. The path to a folder may lead through links, as its user likes;
/// inside it no link is followed, only regular files are opened, and nothing waits. New files are complete or absent:
/// created exclusively as NAME.part, flushed to the disk, renamed to NAME. What is in the way of NAME.part, left by an
/// interrupted write or put there by somebody, is removed unless it is a folder; of a link that is the link itself,
/// never its target.
#include "base/system.h"
#include "grain/base.h"

typedef struct FileWriter {
    char *path, *part_path;
    const char *name, *part_name; ///< within them
    SystemFolder *folder;         ///< of both, so that they stay in one place whatever becomes of the path
    int descriptor;
    int64_t bytes;
} FileWriter;

#define FILE_PART_SUFFIX ".part"

GrainResult file_create(FileWriter *file, const char *path);
GrainResult file_write(FileWriter *file, const void *data, size_t bytes);
/// Overwrites bytes written earlier, for headers whose contents are known last.
GrainResult file_patch(FileWriter *file, int64_t offset, const void *data, size_t bytes);
/// Flushes, renames and closes, even on failure; an existing file is then unchanged. GRAIN_ERROR_BUSY where another
/// program has put its own .part file in the place of this one.
GrainResult file_commit(FileWriter *file);
/// Removes the .part file. No effect after file_commit.
void file_abandon(FileWriter *file);

/// Opens a file for reading; the caller closes the descriptor.
GrainResult file_open(const char *path, int *descriptor);
/// Reads the whole file into a block from alloc_array, followed by a zero byte. The caller frees it. One that has more
/// bytes than `most` is an error and not read: a file of terabytes takes no room on a disk if there is nothing in it.
GrainResult file_read(const char *path, int64_t most, void **data, int64_t *bytes);
/// The same of an open file, from where it stands. The path is for messages.
GrainResult file_read_open(int descriptor, const char *path, int64_t most, void **data, int64_t *bytes);
/// For a path that a user chose, which may be a link: the same without a limit, and whether another library may open
/// and read it.
GrainResult file_read_chosen(const char *path, void **data, int64_t *bytes);
GrainResult file_check_chosen(const char *path);
/// Neither fails if there is nothing to do. A link is removed, not its target.
GrainResult file_make_folder(const char *path);
GrainResult file_remove(const char *path);
/// Whether there is anything of that name.
int file_exists(const char *path);
/// Whether it is a regular file of this size.
int file_has_size(const char *path, int64_t bytes);

/// Whether the name is still that of the open file: it may have been removed or replaced.
int file_is_named(const SystemFolder *folder, const char *name, int descriptor);

/// "folder/name", from alloc_array.
GrainResult file_join(const char *folder, const char *name, char **path);
/// The same for a folder inside a folder: fails where the name is that of a link or a file. It need not exist.
GrainResult file_enter(const char *folder, const char *name, char **path);

/// A name in a folder that is visited.
typedef struct FileEntry {
    const SystemFolder *folder;
    const char *name, *path;
} FileEntry;
typedef GrainResult FileVisitFn(void *user, const FileEntry *entry);
/// Calls with each name in a folder, which it may remove. GRAIN_ERROR_IO if there is no such folder.
GrainResult file_visit(const char *folder, FileVisitFn *call, void *user);
/// Whether it is a regular file, and its size.
int file_entry_is_file(const FileEntry *entry, int64_t *bytes);
GrainResult file_entry_remove(const FileEntry *entry);
