// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/cache_lock.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/run.h"
#include "base/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS_BETWEEN_BEATS 5.0
// A lock not touched for this long has lost its owner. Much longer than the pause between two touches, because a
// network share may hang.
#define STALE_SECONDS 120
// Tries at taking over, each against somebody else who does the same.
#define MOST_TRIES 5

static void describe_self(char *text, size_t bytes)
{
    char host[64], date[32] = "";
    const char *user = system_user_name();
    struct tm utc;
    system_host_name(host, sizeof host);
    if (system_utc(time(NULL), &utc) == 0) strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &utc);
    snprintf(text, bytes, "process %d on %s (user %.100s, since %s UTC)", system_process_id(), host,
             user ? user : "unknown", date);
}

static void read_owner(int descriptor, char *text, size_t bytes)
{
    int64_t length = system_read_at(descriptor, text, bytes - 1, 0);
    text[length > 0 ? length : 0] = 0;
}

static GrainResult fail_busy(const CacheLock *lock, const char *owner)
{
    int folder_length = (int)(strlen(lock->path) - strlen("lock"));
    return fail(GRAIN_ERROR_BUSY, "'%.*s' is being baked into by %s; wait for it or stop it", folder_length, lock->path,
                owner[0] ? owner : "another process");
}

static GrainResult fail_to_open(const CacheLock *lock)
{
    int folder_length = (int)(strlen(lock->path) - strlen("lock"));
    return fail(errno == ENOSPC ? GRAIN_ERROR_DISK_FULL : GRAIN_ERROR_IO,
                "could not write into the cache folder '%.*s': %s; choose a folder you may write to", folder_length,
                lock->path, strerror(errno));
}

// A full disk is reported by the first write that matters; here the text is only a courtesy to whoever is refused.
static void write_owner(CacheLock *lock)
{
    int64_t length = (int64_t)strlen(lock->owner);
    if (system_truncate(lock->descriptor, 0) != 0 ||
        system_write_at(lock->descriptor, lock->owner, (size_t)length, 0) != length)
        errno = 0;
    lock->last_beat = run_clock();
}

// --- by heartbeat -------------------------------------------------------------------------------

// Whether the owner of the lock file is certainly gone.
static int is_stale(const char *owner, const SystemInfo *found)
{
    char host[64] = "", own_host[64];
    int process = 0;
    system_host_name(own_host, sizeof own_host);
    if (sscanf(owner, "process %d on %63s", &process, host) == 2 && strcmp(host, own_host) == 0 && process > 0)
        return system_process_is_gone(process);
    return difftime(time(NULL), found->changed) > STALE_SECONDS;
}

static GrainResult take_by_heartbeat(CacheLock *lock)
{
    char owner[320] = "";
    lock->by_heartbeat = 1;
    for (int attempt = 0; attempt < MOST_TRIES; attempt++) {
        lock->descriptor = system_open(lock->path, SYSTEM_MAKE);
        if (lock->descriptor >= 0) {
            write_owner(lock);
            return GRAIN_OK;
        }
        if (errno != EEXIST) return fail_to_open(lock);
        SystemInfo found;
        int descriptor = system_open(lock->path, SYSTEM_READ);
        if (descriptor < 0) continue; // gone again
        int is_known = system_info_of_file(descriptor, &found) == 0;
        read_owner(descriptor, owner, sizeof owner);
        system_close(descriptor);
        // Empty: released by the system, on a machine where the share has locks.
        if (is_known && owner[0] && !is_stale(owner, &found)) break;
        system_remove(lock->path);
    }
    return fail_busy(lock, owner);
}

// --- both ---------------------------------------------------------------------------------------

static int wants_heartbeat(void)
{
    const char *wanted = getenv("GRAIN_LOCK");
    return wanted && strcmp(wanted, "heartbeat") == 0;
}

static GrainResult take_by_system(CacheLock *lock, int *has_locks)
{
    lock->descriptor = system_open(lock->path, SYSTEM_UPDATE);
    if (lock->descriptor < 0) return fail_to_open(lock);
    if (system_lock(lock->descriptor) == 0) {
        write_owner(lock);
        return GRAIN_OK;
    }
    *has_locks = errno == EWOULDBLOCK;
    char owner[320];
    read_owner(lock->descriptor, owner, sizeof owner);
    system_close(lock->descriptor);
    lock->descriptor = -1;
    return *has_locks ? fail_busy(lock, owner) : GRAIN_OK;
}

GrainResult cache_lock_take(CacheLock *lock, const char *folder)
{
    *lock = (CacheLock)CACHE_LOCK_NONE;
    TRY(file_join(folder, "lock", &lock->path));
    describe_self(lock->owner, sizeof lock->owner);
    int has_locks = !wants_heartbeat();
    GrainResult result = has_locks ? take_by_system(lock, &has_locks) : GRAIN_OK;
    if (!has_locks) result = take_by_heartbeat(lock);
    if (result != GRAIN_OK) cache_lock_release(lock);
    return result;
}

GrainResult cache_lock_beat(CacheLock *lock)
{
    if (lock->descriptor < 0 || run_clock() - lock->last_beat < SECONDS_BETWEEN_BEATS) return GRAIN_OK;
    lock->last_beat = run_clock();
    system_touch(lock->descriptor); // a share that is away for a moment is no reason to stop
    if (!lock->by_heartbeat) return GRAIN_OK;
    char owner[320] = "";
    int descriptor = system_open(lock->path, SYSTEM_READ);
    if (descriptor < 0) return GRAIN_OK;
    read_owner(descriptor, owner, sizeof owner);
    system_close(descriptor);
    return strcmp(owner, lock->owner) == 0 ? GRAIN_OK : fail_busy(lock, owner);
}

void cache_lock_release(CacheLock *lock)
{
    if (lock->descriptor >= 0) {
        char owner[320] = "";
        if (lock->by_heartbeat) {
            int descriptor = system_open(lock->path, SYSTEM_READ);
            if (descriptor >= 0) read_owner(descriptor, owner, sizeof owner), system_close(descriptor);
            if (strcmp(owner, lock->owner) == 0) system_remove(lock->path); // unless somebody took it over
        } else if (system_truncate(lock->descriptor, 0) != 0) {
            errno = 0;
        }
        system_close(lock->descriptor);
    }
    alloc_free(lock->path);
    *lock = (CacheLock)CACHE_LOCK_NONE;
}
