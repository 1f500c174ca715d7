// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Everything that Grain needs from the operating system. system_linux.c, system_macos.c (both with what they share in
/// system_posix.c) and system_windows.c each implement all of it; no other file includes a system header.
///
/// Paths are UTF-8, of any length the system can take. A call that fails returns -1 (or NULL) and leaves the reason in
/// errno, as POSIX numbers it.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/// Separator of paths.
#ifdef _WIN32
#define SYSTEM_SEPARATORS "/\\"
#else
#define SYSTEM_SEPARATORS "/"
#endif

// --- files --------------------------------------------------------------------------------------

/// Only regular files are opened, and no opening waits. Otherwise: ELOOP for a link, EISDIR for a folder, ENXIO for
/// pipes, sockets and devices.
typedef enum SystemOpening {
    SYSTEM_READ,
    SYSTEM_READ_CHOSEN, ///< follows links: for a path that a user chose
    SYSTEM_UPDATE,      ///< for reading and writing; created if missing
    SYSTEM_MAKE,        ///< for reading and writing; EEXIST if it exists, as whatever
} SystemOpening;

typedef enum SystemKind { SYSTEM_FILE, SYSTEM_FOLDER, SYSTEM_LINK, SYSTEM_OTHER } SystemKind;

typedef struct SystemInfo {
    SystemKind kind;
    int64_t bytes;
    time_t changed;
    int64_t names;        ///< of a file; 2 or more: what is written into it changes under other names (hard links), too
    uint64_t identity[2]; ///< equal for two names of one file; zeros where the file system does not tell
} SystemInfo;

/// Returns a descriptor. Other processes may rename or remove the file while it is open, and child processes do not
/// inherit it.
int system_open(const char *path, SystemOpening how);
int system_close(int file);
/// Both may transfer fewer bytes than requested; neither fails with EINTR.
int64_t system_read(int file, void *to, size_t bytes);
int64_t system_write(int file, const void *from, size_t bytes);
/// The same at an offset, without changing the position of system_read and system_write.
int64_t system_read_at(int file, void *to, size_t bytes, int64_t offset);
int64_t system_write_at(int file, const void *from, size_t bytes, int64_t offset);
int system_truncate(int file, int64_t bytes);
/// Returns when all written data is on the disk.
int system_flush(int file);
/// Sets its modification time to now.
int system_touch(int file);
/// Locks the file exclusively until it is closed or the process ends, without waiting. EWOULDBLOCK: another process
/// holds the lock; any other error: the file system has no locks.
int system_lock(int file);

/// Follows links.
int system_info(const char *path, SystemInfo *out);
int system_info_of_link(const char *path, SystemInfo *out);
int system_info_of_file(int file, SystemInfo *out);
/// EEXIST if a file or folder of that name exists.
int system_make_folder(const char *path);

/// A folder, open. The path to it may lead through links. The calls below have it by its handle: what becomes of the
/// path meanwhile does not matter. Their names have no separators, and they do not follow links.
typedef struct SystemFolder SystemFolder;
SystemFolder *system_folder_open(const char *path);
/// The next name, valid until the next call; NULL at the end. "." and ".." are among them.
const char *system_folder_next(SystemFolder *folder);
void system_folder_close(SystemFolder *folder);
int system_open_in(const SystemFolder *folder, const char *name, SystemOpening how);
int system_info_in(const SystemFolder *folder, const char *name, SystemInfo *out);
/// Replaces an existing file, even one that is being read, and flushes the change to the disk.
int system_rename_in(const SystemFolder *folder, const char *from, const char *to);
/// A link itself; not a folder.
int system_remove_in(const SystemFolder *folder, const char *name);

// --- memory -------------------------------------------------------------------------------------

/// Memory available without swapping; INT64_MAX if unknown.
int64_t system_memory_available(void);
void *system_allocate(uint64_t bytes, uint64_t alignment);
void system_free(void *memory);
/// Large blocks, allocated from and returned to the system directly, on large pages if possible.
void *system_map(uint64_t bytes);
void system_unmap(void *memory, uint64_t bytes);
#define SYSTEM_LARGE_PAGE ((uint64_t)2 << 20)

// --- libraries ----------------------------------------------------------------------------------

/// "libNAME.so", "NAME.dll" or "libNAME.dylib".
#if defined(_WIN32)
#define SYSTEM_LIBRARY_NAME(name) name ".dll"
#elif defined(__APPLE__)
#define SYSTEM_LIBRARY_NAME(name) "lib" name ".dylib"
#else
#define SYSTEM_LIBRARY_NAME(name) "lib" name ".so"
#endif

/// By its path.
void *system_library_open(const char *path);
/// By its name, where Linux keeps libraries. NULL on other systems: they would take one from the current folder, where
/// anybody's may lie.
void *system_library_find(const char *name);
/// Why this thread's last system_library_open failed.
const char *system_library_error(void);
void *system_library_symbol(void *library, const char *name);
/// The folder of the program or library that holds the address, with a slash at its end.
int system_folder_of_code(const void *address, char *path, size_t bytes);

// --- threads and processes ----------------------------------------------------------------------

/// Cores this process may use.
int system_core_count(void);
/// As pthread_create, but signals go to the program's own threads, and the stack has room for our kernels everywhere.
int system_thread_start(pthread_t *thread, void *(*run)(void *), void *data);
/// Lowers the priority of this thread below that of the user interface.
void system_thread_yields(void);

/// Prevents the program or library containing the address from being unloaded, because threads wait in it.
void system_keep_loaded(const void *address);
/// Calls in_child in every process forked from this one, in which only the calling thread exists.
void system_after_fork(void (*in_child)(void));

void system_sleep(double seconds);

int system_process_id(void);
int system_process_is_gone(int process);
void system_host_name(char *name, size_t bytes);
/// NULL where it is not known.
const char *system_user_name(void);
int system_utc(time_t moment, struct tm *out);
