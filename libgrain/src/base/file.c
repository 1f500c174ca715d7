// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/file.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/system.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifndef EDQUOT // Windows knows quotas, but tells of a full disk
#define EDQUOT ENOSPC
#endif

static GrainResult fail_with_errno(const char *what, const char *path)
{
    int error = errno;
    if (error == ENOSPC || error == EDQUOT)
        return fail(GRAIN_ERROR_DISK_FULL, "the disk is full: could not %s '%s'; free some space, then bake on", what,
                    path);
    const char *remedy = "";
    if (error == EROFS || error == EACCES || error == EPERM) remedy = "; choose a folder you may write to";
    if (error == ENOENT) remedy = "; the folder or file is missing";
    return fail(GRAIN_ERROR_IO, "could not %s '%s': %s%s", what, path, strerror(error), remedy);
}

static char *copy_joined(const char *a, const char *b, const char *c)
{
    size_t length = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = ALLOC(char, (int64_t)length);
    if (text) snprintf(text, length, "%s%s%s", a, b, c);
    return text;
}

GrainResult file_join(const char *folder, const char *name, char **path)
{
    size_t length = strlen(folder);
    *path = copy_joined(folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name);
    return *path ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

GrainResult file_create(FileWriter *file, const char *path)
{
    *file = (FileWriter){.descriptor = -1};
    file->path = copy_joined(path, "", "");
    file->part_path = copy_joined(path, FILE_PART_SUFFIX, "");
    if (!file->path || !file->part_path) {
        file_abandon(file);
        return GRAIN_ERROR_MEMORY;
    }
    file->descriptor = system_open(file->part_path, SYSTEM_REPLACE);
    if (file->descriptor >= 0) return GRAIN_OK;
    GrainResult result = fail_with_errno("write", path);
    file_abandon(file);
    return result;
}

GrainResult file_write(FileWriter *file, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        int64_t written = system_write(file->descriptor, from, bytes);
        if (written < 0) return fail_with_errno("write", file->path);
        from += written;
        bytes -= (size_t)written;
        file->bytes += written;
    }
    return GRAIN_OK;
}

GrainResult file_patch(FileWriter *file, int64_t offset, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        int64_t written = system_write_at(file->descriptor, from, bytes, offset);
        if (written < 0) return fail_with_errno("write", file->path);
        from += written;
        bytes -= (size_t)written;
        offset += written;
    }
    return GRAIN_OK;
}

GrainResult file_commit(FileWriter *file)
{
    GrainResult result = GRAIN_OK;
    if (system_flush(file->descriptor) != 0) result = fail_with_errno("flush", file->path);
    if (system_close(file->descriptor) != 0 && result == GRAIN_OK) result = fail_with_errno("close", file->path);
    file->descriptor = -1;
    if (result == GRAIN_OK && system_rename(file->part_path, file->path) != 0)
        result = fail_with_errno("rename", file->path);
    if (result == GRAIN_OK) {
        alloc_free(file->part_path);
        file->part_path = NULL;
    }
    file_abandon(file);
    return result;
}

void file_abandon(FileWriter *file)
{
    if (file->descriptor >= 0) system_close(file->descriptor);
    file->descriptor = -1;
    if (file->part_path) system_remove(file->part_path);
    alloc_free(file->part_path);
    alloc_free(file->path);
    file->path = file->part_path = NULL;
}

static GrainResult fail_not_a_file(const char *path)
{
    return fail(GRAIN_ERROR_IO, "could not read '%s': it is not a file", path);
}

static GrainResult read_all(int descriptor, const char *path, void **data, int64_t *bytes)
{
    SystemInfo info;
    if (system_info_of_file(descriptor, &info) != 0) return fail_with_errno("read", path);
    if (info.kind != SYSTEM_FILE) return fail_not_a_file(path);
    char *memory = ALLOC(char, info.bytes + 1);
    if (!memory) return GRAIN_ERROR_MEMORY;
    int64_t got = 0;
    while (got < info.bytes) {
        int64_t piece = system_read(descriptor, memory + got, (size_t)(info.bytes - got));
        if (piece < 0) {
            alloc_free(memory);
            return fail_with_errno("read", path);
        }
        if (piece == 0) break; // it shrank meanwhile; the caller's checks see that it is short
        got += piece;
    }
    memory[got] = 0;
    *data = memory;
    *bytes = got;
    return GRAIN_OK;
}

GrainResult file_read(const char *path, void **data, int64_t *bytes)
{
    *data = NULL;
    *bytes = 0;
    int descriptor = system_open(path, SYSTEM_READ);
    if (descriptor < 0) return errno == EISDIR ? fail_not_a_file(path) : fail_with_errno("read", path);
    GrainResult result = read_all(descriptor, path, data, bytes);
    system_close(descriptor);
    return result;
}

GrainResult file_make_folder(const char *path)
{
    char *partial = copy_joined(path, "", "");
    if (!partial) return GRAIN_ERROR_MEMORY;
    // A folder further up may refuse and yet be there, as the server of a share does: the last one tells.
    int error = *partial ? 0 : ENOENT, is_there = 0;
    for (char *end = partial; *end;) {
        end += 1 + strcspn(end + 1, SYSTEM_SEPARATORS);
        char separator = *end;
        SystemInfo info;
        *end = 0;
        is_there = system_make_folder(partial) == 0 ||
                   (errno == EEXIST && system_info(partial, &info) == 0 && info.kind == SYSTEM_FOLDER);
        if (!is_there && !error) error = errno;
        *end = separator;
    }
    alloc_free(partial);
    if (is_there) return GRAIN_OK;
    errno = error;
    return fail_with_errno("make the folder", path);
}

GrainResult file_remove(const char *path)
{
    if (system_remove(path) == 0 || errno == ENOENT) return GRAIN_OK;
    return fail_with_errno("remove", path);
}

int file_exists(const char *path)
{
    SystemInfo info;
    return system_info(path, &info) == 0;
}
