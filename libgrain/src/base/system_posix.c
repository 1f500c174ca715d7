// SPDX-License-Identifier: GPL-3.0-or-later
// What Linux and macOS do alike.
#include "base/system.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)8 << 20) // macOS gives threads half a megabyte

// --- files --------------------------------------------------------------------------------------

static int open_at(int folder, const char *name, SystemOpening how)
{
    static const int flags[] = {[SYSTEM_READ] = O_RDONLY | O_NOFOLLOW,
                                [SYSTEM_READ_CHOSEN] = O_RDONLY,
                                [SYSTEM_UPDATE] = O_RDWR | O_CREAT | O_NOFOLLOW,
                                [SYSTEM_MAKE] = O_RDWR | O_CREAT | O_EXCL};
    struct stat found;
    int file = openat(folder, name, flags[how] | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (file < 0) return -1;
    int error = fstat(file, &found) != 0 ? errno : S_ISREG(found.st_mode) ? 0 : S_ISDIR(found.st_mode) ? EISDIR : ENXIO;
    if (error == 0) return file;
    close(file);
    errno = error;
    return -1;
}

int system_open(const char *path, SystemOpening how) { return open_at(AT_FDCWD, path, how); }

int system_close(int file) { return close(file); }

int64_t system_read(int file, void *to, size_t bytes)
{
    ssize_t got;
    do got = read(file, to, bytes);
    while (got < 0 && errno == EINTR);
    return got;
}

int64_t system_write(int file, const void *from, size_t bytes)
{
    ssize_t written;
    do written = write(file, from, bytes);
    while (written < 0 && errno == EINTR);
    return written;
}

int64_t system_read_at(int file, void *to, size_t bytes, int64_t offset)
{
    ssize_t got;
    do got = pread(file, to, bytes, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got;
}

int64_t system_write_at(int file, const void *from, size_t bytes, int64_t offset)
{
    ssize_t written;
    do written = pwrite(file, from, bytes, (off_t)offset);
    while (written < 0 && errno == EINTR);
    return written;
}

int system_truncate(int file, int64_t bytes) { return ftruncate(file, (off_t)bytes); }

int system_flush(int file)
{
#ifdef F_FULLFSYNC // fsync leaves it in the drive's own memory there
    if (fcntl(file, F_FULLFSYNC) == 0) return 0;
#endif
    return fsync(file);
}

int system_touch(int file) { return futimens(file, NULL); }

int system_lock(int file) { return flock(file, LOCK_EX | LOCK_NB); }

static int take_info(int result, const struct stat *found, SystemInfo *out)
{
    if (result != 0) return -1;
    *out = (SystemInfo){.kind = S_ISREG(found->st_mode)   ? SYSTEM_FILE
                                : S_ISDIR(found->st_mode) ? SYSTEM_FOLDER
                                : S_ISLNK(found->st_mode) ? SYSTEM_LINK
                                                          : SYSTEM_OTHER,
                        .bytes = found->st_size,
                        .changed = found->st_mtime,
                        .names = (int64_t)found->st_nlink,
                        .identity = {(uint64_t)found->st_dev, (uint64_t)found->st_ino}};
    return 0;
}

int system_info(const char *path, SystemInfo *out)
{
    struct stat found;
    return take_info(stat(path, &found), &found, out);
}

int system_info_of_link(const char *path, SystemInfo *out)
{
    struct stat found;
    return take_info(lstat(path, &found), &found, out);
}

int system_info_of_file(int file, SystemInfo *out)
{
    struct stat found;
    return take_info(fstat(file, &found), &found, out);
}

int system_make_folder(const char *path) { return mkdir(path, 0777); }

// --- folders ------------------------------------------------------------------------------------

static DIR *directory_of(const SystemFolder *folder) { return (DIR *)folder; }

static int handle_of(const SystemFolder *folder) { return dirfd(directory_of(folder)); }

SystemFolder *system_folder_open(const char *path) { return (SystemFolder *)opendir(path); }

const char *system_folder_next(SystemFolder *folder)
{
    const struct dirent *entry = readdir(directory_of(folder));
    return entry ? entry->d_name : NULL;
}

void system_folder_close(SystemFolder *folder) { closedir(directory_of(folder)); }

int system_open_in(const SystemFolder *folder, const char *name, SystemOpening how)
{
    return open_at(handle_of(folder), name, how);
}

int system_info_in(const SystemFolder *folder, const char *name, SystemInfo *out)
{
    struct stat found;
    return take_info(fstatat(handle_of(folder), name, &found, AT_SYMLINK_NOFOLLOW), &found, out);
}

int system_rename_in(const SystemFolder *folder, const char *from, const char *to)
{
    int handle = handle_of(folder);
    if (renameat(handle, from, handle, to) != 0) return -1;
    // The rename itself must reach the disk too, or a power cut brings back the old name. Some network file systems
    // refuse this; the file's own flush has been checked.
    fsync(handle);
    return 0;
}

int system_remove_in(const SystemFolder *folder, const char *name) { return unlinkat(handle_of(folder), name, 0); }

// --- memory -------------------------------------------------------------------------------------

void *system_allocate(uint64_t bytes, uint64_t alignment)
{
    void *memory = NULL;
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

void system_free(void *memory) { free(memory); }

// --- libraries ----------------------------------------------------------------------------------

void *system_library_open(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

const char *system_library_error(void)
{
    const char *text = dlerror();
    return text ? text : "no reason is known";
}

void *system_library_symbol(void *library, const char *name) { return dlsym(library, name); }

int system_folder_of_code(const void *address, char *path, size_t bytes)
{
    Dl_info info;
    char program[4096];
    if (!dladdr(address, &info) || !info.dli_fname) return -1;
    const char *file = info.dli_fname, *slash = strrchr(file, '/');
    if (!slash) { // a program on Linux that was found along PATH: all that is known there is the word it was called by
        ssize_t count = readlink("/proc/self/exe", program, sizeof program - 1);
        program[count > 0 ? count : 0] = 0;
        file = program, slash = strrchr(file, '/');
    }
    size_t length = slash ? (size_t)(slash - file) + 1 : 0;
    if (length == 0 || length >= bytes) return -1;
    memcpy(path, file, length);
    path[length] = 0;
    return 0;
}

// --- threads and processes ----------------------------------------------------------------------

int system_thread_start(pthread_t *thread, void *(*run)(void *), void *data)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, &attributes, run, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

void system_keep_loaded(const void *address)
{
    Dl_info info;
    if (dladdr(address, &info) && info.dli_fname) dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void system_after_fork(void (*in_child)(void)) { pthread_atfork(NULL, NULL, in_child); }

void system_sleep(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {}
}

int system_process_id(void) { return (int)getpid(); }

int system_process_is_gone(int process) { return kill((pid_t)process, 0) != 0 && errno == ESRCH; }

void system_host_name(char *name, size_t bytes)
{
    if (gethostname(name, bytes) != 0) snprintf(name, bytes, "this machine");
    name[bytes - 1] = 0;
}

const char *system_user_name(void)
{
    const char *name = getenv("USER") ? getenv("USER") : getenv("LOGNAME");
    return name && *name ? name : NULL;
}

int system_utc(time_t moment, struct tm *out) { return gmtime_r(&moment, out) ? 0 : -1; }
