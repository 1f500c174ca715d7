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
#define MOST_TRIES 4 // at creating a file that somebody else creates, too

static GrainResult fail_with_errno(const char *what, const char *path)
{
    int error = errno;
    if (error == ENOSPC || error == EDQUOT)
        return fail(GRAIN_ERROR_DISK_FULL, "the disk is full: could not %s '%s'; free some space, then resume", what,
                    path);
    if (error == ENOMEM) return fail(GRAIN_ERROR_MEMORY, "not enough memory to %s '%s'", what, path);
    if (error == ELOOP)
        return fail(GRAIN_ERROR_IO,
                    "could not %s '%s': it is a link, and links are not followed here; replace it by "
                    "what it leads to, or delete it",
                    what, path);
    if (error == EISDIR)
        return fail(GRAIN_ERROR_IO, "could not %s '%s': it is not a file but a folder; move it away", what, path);
    if (error == ENXIO)
        return fail(GRAIN_ERROR_IO, "could not %s '%s': it is not a file but a pipe, a socket or a device; delete it",
                    what, path);
    const char *remedy = "";
    if (error == EROFS || error == EACCES || error == EPERM) remedy = "; choose a folder you may write to";
    if (error == ENOENT) remedy = "; the folder or file is missing";
    return fail(GRAIN_ERROR_IO, "could not %s '%s': %s%s", what, path, strerror(error), remedy);
}

// --- paths --------------------------------------------------------------------------------------

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

GrainResult file_enter(const char *folder, const char *name, char **path)
{
    SystemInfo info;
    TRY(file_join(folder, name, path));
    if (system_info_of_link(*path, &info) != 0 || info.kind == SYSTEM_FOLDER) return GRAIN_OK;
    GrainResult result =
        info.kind == SYSTEM_LINK
            ? fail(GRAIN_ERROR_IO,
                   "'%s' is a link, and links are not followed here; replace it by the folder it leads "
                   "to, or delete it",
                   *path)
            : fail(GRAIN_ERROR_IO, "'%s' is not a folder; move it away", *path);
    alloc_free(*path);
    *path = NULL;
    return result;
}

static const char *name_in(const char *path)
{
    const char *name = path;
    for (const char *at = path; *at; at++)
        if (strchr(SYSTEM_SEPARATORS, *at)) name = at + 1;
    return name;
}

// NULL with errno.
static SystemFolder *open_folder_of(const char *path)
{
    char *folder = copy_joined(path, "", "");
    if (!folder) {
        errno = ENOMEM;
        return NULL;
    }
    folder[name_in(path) - path] = 0;
    SystemFolder *opened = system_folder_open(*folder ? folder : ".");
    int error = errno;
    alloc_free(folder);
    errno = error;
    return opened;
}

// --- writing ------------------------------------------------------------------------------------

int file_is_named(const SystemFolder *folder, const char *name, int descriptor)
{
    SystemInfo named, opened;
    return system_info_in(folder, name, &named) == 0 && system_info_of_file(descriptor, &opened) == 0 &&
           memcmp(named.identity, opened.identity, sizeof named.identity) == 0;
}

// Whoever takes a cache over removes the .part file and makes a new one.
static int is_own_part(const FileWriter *file)
{
    return file_is_named(file->folder, file->part_name, file->descriptor);
}

static GrainResult create_part(FileWriter *file)
{
    for (int attempt = 0; attempt < MOST_TRIES; attempt++) {
        SystemInfo found;
        file->descriptor = system_open_in(file->folder, file->part_name, SYSTEM_MAKE);
        if (file->descriptor >= 0) return GRAIN_OK;
        if (errno != EEXIST) return fail_with_errno("write", file->path);
        errno = EISDIR;
        int is_there = system_info_in(file->folder, file->part_name, &found) == 0;
        if ((is_there && found.kind == SYSTEM_FOLDER) ||
            (system_remove_in(file->folder, file->part_name) != 0 && errno != ENOENT))
            return fail_with_errno("replace", file->part_path);
    }
    return fail(GRAIN_ERROR_BUSY, "another program writes '%s'; wait for it or stop it", file->path);
}

GrainResult file_create(FileWriter *file, const char *path)
{
    *file = (FileWriter){.descriptor = -1};
    file->path = copy_joined(path, "", "");
    file->part_path = copy_joined(path, FILE_PART_SUFFIX, "");
    GrainResult result = file->path && file->part_path ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) {
        file->name = name_in(file->path), file->part_name = name_in(file->part_path);
        file->folder = open_folder_of(path);
        result = file->folder ? create_part(file) : fail_with_errno("write", path);
    }
    if (result != GRAIN_OK) file_abandon(file);
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

static GrainResult fail_as_taken(const FileWriter *file)
{
    SystemInfo found;
    if (system_info_in(file->folder, file->part_name, &found) != 0)
        return fail(GRAIN_ERROR_IO, "'%s' was removed before it was complete; run this again", file->part_path);
    return fail(GRAIN_ERROR_BUSY, "'%s' was replaced by another program; wait for it or stop it", file->part_path);
}

GrainResult file_commit(FileWriter *file)
{
    GrainResult result = GRAIN_OK;
    if (system_flush(file->descriptor) != 0) result = fail_with_errno("flush", file->path);
    int is_own = is_own_part(file);
    if (result == GRAIN_OK && !is_own) result = fail_as_taken(file);
    if (system_close(file->descriptor) != 0 && result == GRAIN_OK) result = fail_with_errno("close", file->path);
    file->descriptor = -1;
    if (result == GRAIN_OK && system_rename_in(file->folder, file->part_name, file->name) != 0)
        result = fail_with_errno("rename", file->path);
    if (result != GRAIN_OK && is_own) system_remove_in(file->folder, file->part_name);
    file_abandon(file);
    return result;
}

void file_abandon(FileWriter *file)
{
    if (file->descriptor >= 0) {
        if (file->folder && is_own_part(file)) system_remove_in(file->folder, file->part_name);
        system_close(file->descriptor);
    }
    if (file->folder) system_folder_close(file->folder);
    alloc_free(file->part_path);
    alloc_free(file->path);
    *file = (FileWriter){.descriptor = -1, .bytes = file->bytes};
}

// --- reading ------------------------------------------------------------------------------------

GrainResult file_read_open(int descriptor, const char *path, int64_t most, void **data, int64_t *bytes)
{
    *data = NULL;
    *bytes = 0;
    SystemInfo info;
    if (system_info_of_file(descriptor, &info) != 0) return fail_with_errno("read", path);
    if (info.bytes > most)
        return fail(GRAIN_ERROR_IO, "'%s' has %lld bytes and may have %lld at most: it is damaged, or another file",
                    path, (long long)info.bytes, (long long)most);
    char *memory = ALLOC(char, info.bytes + 1);
    if (!memory) return fail_within(GRAIN_ERROR_MEMORY, "could not read '%s'", path);
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

static GrainResult open_and_read(const char *path, SystemOpening how, int64_t most, void **data, int64_t *bytes)
{
    *data = NULL;
    *bytes = 0;
    int descriptor = system_open(path, how);
    if (descriptor < 0) return fail_with_errno("read", path);
    GrainResult result = file_read_open(descriptor, path, most, data, bytes);
    system_close(descriptor);
    return result;
}

GrainResult file_read(const char *path, int64_t most, void **data, int64_t *bytes)
{
    return open_and_read(path, SYSTEM_READ, most, data, bytes);
}

GrainResult file_read_chosen(const char *path, void **data, int64_t *bytes)
{
    return open_and_read(path, SYSTEM_READ_CHOSEN, INT64_MAX, data, bytes);
}

GrainResult file_check_chosen(const char *path)
{
    int descriptor = system_open(path, SYSTEM_READ_CHOSEN);
    if (descriptor < 0) return fail_with_errno("read", path);
    system_close(descriptor);
    return GRAIN_OK;
}

GrainResult file_open(const char *path, int *descriptor)
{
    *descriptor = system_open(path, SYSTEM_READ);
    return *descriptor >= 0 ? GRAIN_OK : fail_with_errno("read", path);
}

int file_exists(const char *path)
{
    SystemInfo info;
    return system_info_of_link(path, &info) == 0;
}

int file_has_size(const char *path, int64_t bytes)
{
    SystemInfo info;
    return system_info_of_link(path, &info) == 0 && info.kind == SYSTEM_FILE && info.bytes == bytes;
}

// --- folders ------------------------------------------------------------------------------------

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

static GrainResult remove_in(const SystemFolder *folder, const char *name, const char *path)
{
    if (system_remove_in(folder, name) == 0 || errno == ENOENT) return GRAIN_OK;
    return fail_with_errno("remove", path);
}

GrainResult file_remove(const char *path)
{
    SystemFolder *folder = open_folder_of(path);
    if (!folder) return errno == ENOENT ? GRAIN_OK : fail_with_errno("remove", path);
    GrainResult result = remove_in(folder, name_in(path), path);
    system_folder_close(folder);
    return result;
}

GrainResult file_visit(const char *folder, FileVisitFn *call, void *user)
{
    SystemFolder *listing = system_folder_open(folder);
    if (!listing) return fail_with_errno("list", folder);
    GrainResult result = GRAIN_OK;
    const char *name;
    while (result == GRAIN_OK && (name = system_folder_next(listing))) {
        char *path;
        result = file_join(folder, name, &path);
        if (result == GRAIN_OK) result = call(user, &(FileEntry){listing, name, path});
        alloc_free(path);
    }
    system_folder_close(listing);
    return result;
}

int file_entry_is_file(const FileEntry *entry, int64_t *bytes)
{
    SystemInfo info;
    if (system_info_in(entry->folder, entry->name, &info) != 0 || info.kind != SYSTEM_FILE) return 0;
    *bytes = info.bytes;
    return 1;
}

GrainResult file_entry_remove(const FileEntry *entry) { return remove_in(entry->folder, entry->name, entry->path); }
