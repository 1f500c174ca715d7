// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/file.h"
#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    file->descriptor = open(file->part_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->descriptor >= 0) return GRAIN_OK;
    GrainResult result = fail_with_errno("write", path);
    file_abandon(file);
    return result;
}

GrainResult file_write(FileWriter *file, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t written = write(file->descriptor, from, bytes);
        if (written < 0 && errno == EINTR) continue;
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
        ssize_t written = pwrite(file->descriptor, from, bytes, (off_t)offset);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail_with_errno("write", file->path);
        from += written;
        bytes -= (size_t)written;
        offset += written;
    }
    return GRAIN_OK;
}

// The rename itself must reach the disk too, or a power cut brings back the old name.
static void flush_folder_of(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder) return;
    memcpy(folder, path, length);
    folder[length] = 0;
    int descriptor = open(slash ? (length ? folder : "/") : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor); // some network file systems refuse this; the file's own flush has been checked
    close(descriptor);
}

GrainResult file_commit(FileWriter *file)
{
    GrainResult result = GRAIN_OK;
    if (fsync(file->descriptor) != 0) result = fail_with_errno("flush", file->path);
    if (close(file->descriptor) != 0 && result == GRAIN_OK) result = fail_with_errno("close", file->path);
    file->descriptor = -1;
    if (result == GRAIN_OK && rename(file->part_path, file->path) != 0) result = fail_with_errno("rename", file->path);
    if (result == GRAIN_OK) {
        flush_folder_of(file->path);
        alloc_free(file->part_path);
        file->part_path = NULL;
    }
    file_abandon(file);
    return result;
}

void file_abandon(FileWriter *file)
{
    if (file->descriptor >= 0) close(file->descriptor);
    file->descriptor = -1;
    if (file->part_path) unlink(file->part_path);
    alloc_free(file->part_path);
    alloc_free(file->path);
    file->path = file->part_path = NULL;
}

static GrainResult read_all(int descriptor, const char *path, void **data, int64_t *bytes)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0) return fail_with_errno("read", path);
    if (!S_ISREG(status.st_mode)) return fail(GRAIN_ERROR_IO, "could not read '%s': it is not a file", path);
    char *memory = ALLOC(char, (int64_t)status.st_size + 1);
    if (!memory) return GRAIN_ERROR_MEMORY;
    int64_t got = 0;
    while (got < status.st_size) {
        ssize_t piece = read(descriptor, memory + got, (size_t)(status.st_size - got));
        if (piece < 0 && errno == EINTR) continue;
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
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return fail_with_errno("read", path);
    GrainResult result = read_all(descriptor, path, data, bytes);
    close(descriptor);
    return result;
}

GrainResult file_make_folder(const char *path)
{
    char *partial = copy_joined(path, "", "");
    if (!partial) return GRAIN_ERROR_MEMORY;
    GrainResult result = GRAIN_OK;
    for (char *slash = partial + 1; result == GRAIN_OK; slash++) {
        slash = strchr(slash, '/');
        if (slash) *slash = 0;
        struct stat status;
        if (mkdir(partial, 0777) != 0 && (errno != EEXIST || stat(partial, &status) != 0 || !S_ISDIR(status.st_mode)))
            result = fail_with_errno("make the folder", path);
        if (!slash) break;
        *slash = '/';
    }
    alloc_free(partial);
    return result;
}

GrainResult file_remove(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return GRAIN_OK;
    return fail_with_errno("remove", path);
}

int file_exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}
