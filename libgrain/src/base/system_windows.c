// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#define PATH_UNITS 32768 // the longest path that Windows takes, in UTF-16
#define SHORT_PATH 240   // from 248 on folders need the prefix \\?\, from 260 on files do
// Scanners and indexers open a new file for some moments.
#define RETRIES 40
#define RETRY_MILLISECONDS 25
#define QUOTA_EXCEEDED 1295 // ERROR_DISK_QUOTA_EXCEEDED, which older headers lack

// --- paths and errors ---------------------------------------------------------------------------

static int set_errno(void)
{
    static const struct {
        DWORD error;
        int number;
    } numbers[] = {
        {ERROR_FILE_NOT_FOUND, ENOENT},      {ERROR_PATH_NOT_FOUND, ENOENT},  {ERROR_INVALID_NAME, ENOENT},
        {ERROR_BAD_NETPATH, ENOENT},         {ERROR_BAD_PATHNAME, ENOENT},    {ERROR_INVALID_DRIVE, ENOENT},
        {ERROR_FILE_EXISTS, EEXIST},         {ERROR_ALREADY_EXISTS, EEXIST},  {ERROR_DISK_FULL, ENOSPC},
        {ERROR_HANDLE_DISK_FULL, ENOSPC},    {QUOTA_EXCEEDED, ENOSPC},        {ERROR_WRITE_PROTECT, EROFS},
        {ERROR_LOCK_VIOLATION, EWOULDBLOCK}, {ERROR_IO_PENDING, EWOULDBLOCK}, {ERROR_INVALID_HANDLE, EBADF},
        {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},   {ERROR_OUTOFMEMORY, ENOMEM},     {ERROR_INVALID_FUNCTION, ENOTSUP},
        {ERROR_NOT_SUPPORTED, ENOTSUP},      {ERROR_ACCESS_DENIED, EACCES},   {ERROR_SHARING_VIOLATION, EACCES},
        {ERROR_DIRECTORY, ENOTDIR},          {ERROR_BROKEN_PIPE, EPIPE},      {ERROR_NO_DATA, EPIPE},
    };
    DWORD error = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].error == error) errno = numbers[i].number;
    return -1;
}

/// A buffer each for the two paths a call may have; one of a thread, because 64 KB are much for its stack.
typedef struct WidePath {
    wchar_t text[PATH_UNITS], full[PATH_UNITS];
} WidePath;

static WidePath *wide_paths(void)
{
    static __thread WidePath *paths;
    if (!paths) paths = malloc(2 * sizeof *paths);
    if (!paths) errno = ENOMEM;
    return paths;
}

static char *to_utf8(const wchar_t *text, char *out, int bytes)
{
    return WideCharToMultiByte(CP_UTF8, 0, text, -1, out, bytes, NULL, NULL) > 0 ? out : NULL;
}

// NULL with errno where the path cannot be one. `which`: 0 or 1, of wide_paths.
static const wchar_t *wide(const char *path, int which)
{
    WidePath *paths = wide_paths();
    if (!paths) return NULL;
    wchar_t *text = paths[which].text, *full = paths[which].full;
    if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, text, PATH_UNITS)) {
        errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : EINVAL;
        return NULL;
    }
    if (wcsncmp(text, L"\\\\?\\", 4) == 0) { // what was joined to such a path by slashes
        for (wchar_t *slash = text; (slash = wcschr(slash, L'/'));) *slash = L'\\';
        return text;
    }
    if (wcslen(text) < SHORT_PATH) return text;
    // The prefix wants an absolute path with backslashes, and UNC instead of the first of two.
    DWORD length = GetFullPathNameW(text, PATH_UNITS - 8, full + 8, NULL);
    if (length == 0 || length >= PATH_UNITS - 8) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    int is_share = full[8] == L'\\' && full[9] == L'\\';
    const wchar_t *prefix = is_share ? L"\\\\?\\UNC" : L"\\\\?\\";
    wchar_t *begin = full + 8 + is_share - wcslen(prefix);
    memcpy(begin, prefix, wcslen(prefix) * sizeof *begin);
    return begin;
}

static int may_pass(DWORD error) { return error == ERROR_SHARING_VIOLATION || error == ERROR_ACCESS_DENIED; }

// --- files --------------------------------------------------------------------------------------

static HANDLE open_shared(const wchar_t *path, DWORD share, DWORD access, DWORD how, DWORD flags)
{
    HANDLE handle = INVALID_HANDLE_VALUE;
    for (int attempt = 0; attempt < RETRIES; attempt++) {
        handle = CreateFileW(path, access, share, NULL, how, flags, NULL);
        if (handle != INVALID_HANDLE_VALUE || GetLastError() != ERROR_SHARING_VIOLATION) break;
        Sleep(RETRY_MILLISECONDS);
    }
    return handle;
}

static HANDLE open_handle(const wchar_t *path, DWORD access, DWORD how, DWORD flags)
{
    return open_shared(path, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, access, how, flags);
}

// What a handle is of. Reparse points that stand for another name are links; others, of files kept in a cloud or packed
// by the system, are files like any.
static int kind_of_handle(HANDLE handle, SystemKind *kind)
{
    FILE_ATTRIBUTE_TAG_INFO found;
    *kind = SYSTEM_OTHER;
    if (GetFileType(handle) != FILE_TYPE_DISK) return 0;
    if (!GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &found, sizeof found)) {
        BY_HANDLE_FILE_INFORMATION plain; // some shares know only this
        if (!GetFileInformationByHandle(handle, &plain)) return set_errno();
        found = (FILE_ATTRIBUTE_TAG_INFO){.FileAttributes = plain.dwFileAttributes};
        if (plain.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) found.ReparseTag = IO_REPARSE_TAG_SYMLINK;
    }
    int is_link = found.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT && IsReparseTagNameSurrogate(found.ReparseTag);
    *kind = is_link ? SYSTEM_LINK : found.FileAttributes & FILE_ATTRIBUTE_DIRECTORY ? SYSTEM_FOLDER : SYSTEM_FILE;
    return 0;
}

// Looks before it opens, because the handle of a link itself cannot be read, nor that of a link's target refused.
static int refuse_links(const wchar_t *name)
{
    SystemKind kind;
    HANDLE handle = open_handle(name, FILE_READ_ATTRIBUTES, OPEN_EXISTING,
                                FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS);
    if (handle == INVALID_HANDLE_VALUE) return 0; // the opening says why
    int result = kind_of_handle(handle, &kind);
    CloseHandle(handle);
    if (result == 0 && kind == SYSTEM_LINK) {
        errno = ELOOP;
        return -1;
    }
    return result;
}

int system_open(const char *path, SystemOpening how)
{
    static const struct {
        DWORD access, creation;
        int flags;
    } ways[] = {[SYSTEM_READ] = {GENERIC_READ, OPEN_EXISTING, _O_RDONLY},
                [SYSTEM_READ_CHOSEN] = {GENERIC_READ, OPEN_EXISTING, _O_RDONLY},
                [SYSTEM_UPDATE] = {GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS, _O_RDWR},
                [SYSTEM_MAKE] = {GENERIC_READ | GENERIC_WRITE, CREATE_NEW, _O_RDWR}};
    SystemKind kind;
    const wchar_t *name = wide(path, 0);
    if (!name || ((how == SYSTEM_READ || how == SYSTEM_UPDATE) && refuse_links(name) != 0)) return -1;
    HANDLE handle = open_handle(name, ways[how].access, ways[how].creation, FILE_ATTRIBUTE_NORMAL);
    if (handle == INVALID_HANDLE_VALUE) {
        DWORD error = GetLastError(), attributes = GetFileAttributesW(name);
        SetLastError(error);
        set_errno();
        if (attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY)
            errno = how == SYSTEM_MAKE ? EEXIST : EISDIR;
        return -1;
    }
    int result = kind_of_handle(handle, &kind);
    if (result == 0 && kind != SYSTEM_FILE) {
        errno = kind == SYSTEM_FOLDER ? EISDIR : ENXIO;
        result = -1;
    }
    int file = result == 0 ? _open_osfhandle((intptr_t)handle, ways[how].flags | _O_BINARY | _O_NOINHERIT) : -1;
    if (file < 0) CloseHandle(handle);
    return file;
}

int system_close(int file) { return _close(file); }

static HANDLE handle_of(int file) { return (HANDLE)_get_osfhandle(file); }

static DWORD at_most(size_t bytes) { return bytes > 1u << 30 ? 1u << 30 : (DWORD)bytes; }

int64_t system_read(int file, void *to, size_t bytes)
{
    DWORD got = 0;
    return ReadFile(handle_of(file), to, at_most(bytes), &got, NULL) ? (int64_t)got : set_errno();
}

int64_t system_write(int file, const void *from, size_t bytes)
{
    DWORD written = 0;
    return WriteFile(handle_of(file), from, at_most(bytes), &written, NULL) ? (int64_t)written : set_errno();
}

// Reading and writing at an offset moves the place of the handle, too; it is put back.
typedef struct Place {
    HANDLE handle;
    LARGE_INTEGER before;
    OVERLAPPED at;
} Place;

static Place place_begin(int file, int64_t offset)
{
    Place place = {.handle = handle_of(file), .at = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)}};
    SetFilePointerEx(place.handle, (LARGE_INTEGER){0}, &place.before, FILE_CURRENT);
    return place;
}

static int64_t place_end(const Place *place, BOOL is_done, DWORD moved)
{
    int64_t result = is_done ? (int64_t)moved : GetLastError() == ERROR_HANDLE_EOF ? 0 : set_errno();
    SetFilePointerEx(place->handle, place->before, NULL, FILE_BEGIN);
    return result;
}

int64_t system_read_at(int file, void *to, size_t bytes, int64_t offset)
{
    DWORD got = 0;
    Place place = place_begin(file, offset);
    BOOL is_done = ReadFile(place.handle, to, at_most(bytes), &got, &place.at);
    return place_end(&place, is_done, got);
}

int64_t system_write_at(int file, const void *from, size_t bytes, int64_t offset)
{
    DWORD written = 0;
    Place place = place_begin(file, offset);
    BOOL is_done = WriteFile(place.handle, from, at_most(bytes), &written, &place.at);
    return place_end(&place, is_done, written);
}

int system_truncate(int file, int64_t bytes)
{
    FILE_END_OF_FILE_INFO end = {.EndOfFile = {.QuadPart = bytes}};
    return SetFileInformationByHandle(handle_of(file), FileEndOfFileInfo, &end, sizeof end) ? 0 : set_errno();
}

int system_flush(int file) { return FlushFileBuffers(handle_of(file)) ? 0 : set_errno(); }

int system_touch(int file)
{
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    return SetFileTime(handle_of(file), NULL, NULL, &now) ? 0 : set_errno();
}

int system_lock(int file)
{
    // A lock keeps others from reading here: a byte far behind the text that says who holds it. The add-on's
    // engine/cache.py tries the same byte.
    OVERLAPPED at = {.Offset = 0x40000000};
    return LockFileEx(handle_of(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at) ? 0
                                                                                                          : set_errno();
}

static time_t unix_time(FILETIME time)
{
    uint64_t ticks = (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime; // of 100 ns, since 1601
    return (time_t)(ticks / 10000000 - 11644473600);
}

static int info_of_handle(HANDLE handle, SystemInfo *out)
{
    BY_HANDLE_FILE_INFORMATION found;
    SystemKind kind;
    *out = (SystemInfo){.kind = SYSTEM_OTHER};
    if (kind_of_handle(handle, &kind) != 0) return -1;
    if (kind == SYSTEM_OTHER) return 0;
    if (!GetFileInformationByHandle(handle, &found)) return set_errno();
    *out = (SystemInfo){
        .kind = kind,
        .bytes = (int64_t)((uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow),
        .changed = unix_time(found.ftLastWriteTime),
        .names = (int64_t)found.nNumberOfLinks,
        .identity = {found.dwVolumeSerialNumber, (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow}};
    return 0;
}

static int info_of_name(const char *path, DWORD flags, SystemInfo *out)
{
    const wchar_t *name = wide(path, 0);
    if (!name) return -1;
    HANDLE handle = open_handle(name, FILE_READ_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags);
    if (handle == INVALID_HANDLE_VALUE) return set_errno();
    int result = info_of_handle(handle, out);
    CloseHandle(handle);
    return result;
}

int system_info(const char *path, SystemInfo *out) { return info_of_name(path, 0, out); }

int system_info_of_link(const char *path, SystemInfo *out)
{
    return info_of_name(path, FILE_FLAG_OPEN_REPARSE_POINT, out);
}

int system_info_of_file(int file, SystemInfo *out) { return info_of_handle(handle_of(file), out); }

// --- names --------------------------------------------------------------------------------------

// As FILE_RENAME_INFO with flags, which older headers do not have.
typedef struct RenameInfo {
    DWORD flags;
    HANDLE root;
    DWORD name_bytes;
    wchar_t name[];
} RenameInfo;
#define RENAME_CLASS ((FILE_INFO_BY_HANDLE_CLASS)22) // FileRenameInfoEx, from Windows 10 on
#define RENAME_REPLACES_OPEN_FILES 0x3               // FILE_RENAME_REPLACE_IF_EXISTS | FILE_RENAME_POSIX_SEMANTICS

// Only this way a file that somebody reads gives its name away. Not every file system has it.
static int rename_over_open(const wchar_t *from, const wchar_t *to)
{
    size_t bytes = wcslen(to) * sizeof *to;
    RenameInfo *info = calloc(1, sizeof *info + bytes + sizeof *to);
    HANDLE handle = open_handle(from, DELETE | SYNCHRONIZE, OPEN_EXISTING, FILE_FLAG_WRITE_THROUGH);
    int is_done = 0;
    if (info && handle != INVALID_HANDLE_VALUE) {
        info->flags = RENAME_REPLACES_OPEN_FILES;
        info->name_bytes = (DWORD)bytes;
        memcpy(info->name, to, bytes);
        is_done = SetFileInformationByHandle(handle, RENAME_CLASS, info, (DWORD)(sizeof *info + bytes));
    }
    if (handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
    free(info);
    return is_done;
}

static int rename_path(const char *from, const char *to)
{
    const wchar_t *old_name = wide(from, 0), *new_name = wide(to, 1);
    if (!old_name || !new_name) return -1;
    for (int attempt = 0; attempt < RETRIES; attempt++) {
        if (MoveFileExW(old_name, new_name, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return 0;
        DWORD error = GetLastError();
        if (!may_pass(error)) break;
        if (rename_over_open(old_name, new_name)) return 0;
        Sleep(RETRY_MILLISECONDS);
        SetLastError(error);
    }
    return set_errno();
}

#define DISPOSITION_CLASS ((FILE_INFO_BY_HANDLE_CLASS)21) // FileDispositionInfoEx, from Windows 10 on
// FILE_DISPOSITION_DELETE | FILE_DISPOSITION_POSIX_SEMANTICS: the name is free at once, even if somebody reads the file
#define REMOVES_OPEN_FILES 0x3

// The name itself, if it is that of a link.
static int remove_path(const char *path)
{
    const wchar_t *name = wide(path, 0);
    if (!name) return -1;
    SystemKind kind = SYSTEM_OTHER;
    DWORD how = REMOVES_OPEN_FILES;
    HANDLE handle = open_handle(name, DELETE | FILE_READ_ATTRIBUTES, OPEN_EXISTING,
                                FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS);
    if (handle == INVALID_HANDLE_VALUE) return set_errno();
    int result = kind_of_handle(handle, &kind);
    if (result == 0 && kind == SYSTEM_FOLDER) {
        errno = EISDIR;
        result = -1;
    }
    int is_done = result == 0 && SetFileInformationByHandle(handle, DISPOSITION_CLASS, &how, sizeof how);
    if (result == 0 && !is_done) {
        FILE_DISPOSITION_INFO plain = {.DeleteFile = TRUE}; // not every file system has the other
        if (!SetFileInformationByHandle(handle, FileDispositionInfo, &plain, sizeof plain)) result = set_errno();
    }
    CloseHandle(handle);
    return result;
}

int system_make_folder(const char *path)
{
    const wchar_t *name = wide(path, 0);
    if (!name) return -1;
    if (CreateDirectoryW(name, NULL)) return 0;
    DWORD error = GetLastError();
    // Drives and shares ("C:", "//server/share") are there, but refuse in other words.
    if (GetFileAttributesW(name) != INVALID_FILE_ATTRIBUTES) error = ERROR_ALREADY_EXISTS;
    SetLastError(error);
    return set_errno();
}

// --- folders ------------------------------------------------------------------------------------

// Windows opens no file by the handle of its folder. But a folder that is open without FILE_SHARE_DELETE, and all above
// it, can be neither renamed nor removed: its path stays what it was.
struct SystemFolder {
    HANDLE handle, find;
    WIN32_FIND_DATAW found;
    int has_next;
    char name[4 * MAX_PATH];
    char path[]; ///< with a slash at its end
};

SystemFolder *system_folder_open(const char *path)
{
    size_t bytes = strlen(path) + 2;
    SystemFolder *folder = calloc(1, sizeof *folder + bytes);
    if (!folder) return NULL;
    snprintf(folder->path, bytes, "%s/", path);
    folder->find = INVALID_HANDLE_VALUE;
    SystemKind kind = SYSTEM_OTHER;
    const wchar_t *name = wide(path, 0);
    folder->handle = name ? open_shared(name, FILE_SHARE_READ | FILE_SHARE_WRITE, FILE_LIST_DIRECTORY, OPEN_EXISTING,
                                        FILE_FLAG_BACKUP_SEMANTICS)
                          : INVALID_HANDLE_VALUE;
    if (name && folder->handle == INVALID_HANDLE_VALUE) set_errno();
    if (folder->handle != INVALID_HANDLE_VALUE && kind_of_handle(folder->handle, &kind) == 0) {
        if (kind == SYSTEM_FOLDER) return folder;
        errno = ENOTDIR;
    }
    int error = errno;
    system_folder_close(folder);
    errno = error;
    return NULL;
}

// "folder/name" in the buffer of the thread. NULL with errno.
static char *path_in(const SystemFolder *folder, const char *name)
{
    static __thread char *paths[2];
    static __thread int next;
    size_t bytes = strlen(folder->path) + strlen(name) + 1;
    next = !next;
    char *path = realloc(paths[next], bytes);
    if (!path) {
        errno = ENOMEM;
        return NULL;
    }
    paths[next] = path;
    snprintf(path, bytes, "%s%s", folder->path, name);
    return path;
}

const char *system_folder_next(SystemFolder *folder)
{
    if (folder->find == INVALID_HANDLE_VALUE) {
        const char *pattern = path_in(folder, "*");
        const wchar_t *name = pattern ? wide(pattern, 0) : NULL;
        folder->find = name ? FindFirstFileW(name, &folder->found) : INVALID_HANDLE_VALUE;
        folder->has_next = folder->find != INVALID_HANDLE_VALUE;
    }
    if (!folder->has_next) return NULL;
    if (!to_utf8(folder->found.cFileName, folder->name, sizeof folder->name)) folder->name[0] = 0;
    folder->has_next = FindNextFileW(folder->find, &folder->found);
    return folder->name;
}

void system_folder_close(SystemFolder *folder)
{
    if (folder->find != INVALID_HANDLE_VALUE) FindClose(folder->find);
    if (folder->handle != INVALID_HANDLE_VALUE) CloseHandle(folder->handle);
    free(folder);
}

int system_open_in(const SystemFolder *folder, const char *name, SystemOpening how)
{
    const char *path = path_in(folder, name);
    return path ? system_open(path, how) : -1;
}

int system_info_in(const SystemFolder *folder, const char *name, SystemInfo *out)
{
    const char *path = path_in(folder, name);
    return path ? system_info_of_link(path, out) : -1;
}

int system_rename_in(const SystemFolder *folder, const char *from, const char *to)
{
    const char *old_path = path_in(folder, from), *new_path = path_in(folder, to);
    return old_path && new_path ? rename_path(old_path, new_path) : -1;
}

int system_remove_in(const SystemFolder *folder, const char *name)
{
    const char *path = path_in(folder, name);
    return path ? remove_path(path) : -1;
}

// --- memory -------------------------------------------------------------------------------------

int64_t system_memory_available(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    if (!GlobalMemoryStatusEx(&status)) return INT64_MAX;
    uint64_t available = status.ullAvailPhys < status.ullAvailPageFile ? status.ullAvailPhys : status.ullAvailPageFile;
    return (int64_t)available;
}

void *system_allocate(uint64_t bytes, uint64_t alignment) { return _aligned_malloc(bytes, alignment); }

void system_free(void *memory) { _aligned_free(memory); }

void *system_map(uint64_t bytes) { return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }

void system_unmap(void *memory, uint64_t bytes)
{
    (void)bytes;
    VirtualFree(memory, 0, MEM_RELEASE);
}

// --- libraries ----------------------------------------------------------------------------------

static __thread char library_error[512];

void *system_library_open(const char *path)
{
    const wchar_t *name = wide(path, 0);
    HMODULE library = name ? LoadLibraryExW(name, NULL, LOAD_WITH_ALTERED_SEARCH_PATH) : NULL;
    if (!library)
        snprintf(library_error, sizeof library_error, "%s: Windows' error %lu", path, (unsigned long)GetLastError());
    return library;
}

void *system_library_find(const char *name) { return (void)name, NULL; }

const char *system_library_error(void) { return library_error; }

void *system_library_symbol(void *library, const char *name) { return (void *)GetProcAddress(library, name); }

int system_folder_of_code(const void *address, char *path, size_t bytes)
{
    HMODULE module;
    DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    WidePath *paths = wide_paths();
    if (!paths || !GetModuleHandleExW(flags, address, &module)) return -1;
    DWORD length = GetModuleFileNameW(module, paths->text, PATH_UNITS);
    if (length == 0 || length >= PATH_UNITS) return -1;
    wchar_t *slash = wcsrchr(paths->text, L'\\');
    if (!slash) return -1;
    slash[1] = 0;
    return to_utf8(paths->text, path, (int)bytes) ? 0 : -1;
}

// --- threads and processes ----------------------------------------------------------------------

int system_core_count(void)
{
    // Of all groups of 64.
    DWORD count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    DWORD_PTR own = 0, all = 0;
    if (count <= 64 && GetProcessAffinityMask(GetCurrentProcess(), &own, &all) && own) {
        count = 0;
        for (; own; own &= own - 1) count++;
    }
    return count > 0 ? (int)count : 1;
}

int system_thread_start(pthread_t *thread, void *(*run)(void *), void *data)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)8 << 20);
    int error = pthread_create(thread, &attributes, run, data);
    pthread_attr_destroy(&attributes);
    return error;
}

void system_thread_yields(void) { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL); }

void system_keep_loaded(const void *address)
{
    HMODULE module;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN, address, &module);
}

void system_after_fork(void (*in_child)(void)) { (void)in_child; } // nothing forks here

void system_sleep(double seconds) { Sleep((DWORD)(1000.0 * seconds)); }

int system_process_id(void) { return (int)GetCurrentProcessId(); }

int system_process_is_gone(int process)
{
    HANDLE handle = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)process);
    if (!handle) return GetLastError() == ERROR_INVALID_PARAMETER;
    DWORD code = STILL_ACTIVE;
    GetExitCodeProcess(handle, &code);
    CloseHandle(handle);
    return code != STILL_ACTIVE;
}

void system_host_name(char *name, size_t bytes)
{
    wchar_t found[256];
    DWORD length = sizeof found / sizeof *found;
    if (!GetComputerNameExW(ComputerNamePhysicalDnsHostname, found, &length) || !to_utf8(found, name, (int)bytes))
        snprintf(name, bytes, "this machine");
}

const char *system_user_name(void)
{
    static __thread char name[256];
    const wchar_t *found = _wgetenv(L"USERNAME");
    return found && *found ? to_utf8(found, name, sizeof name) : NULL;
}

int system_utc(time_t moment, struct tm *out) { return gmtime_s(out, &moment) == 0 ? 0 : -1; }
