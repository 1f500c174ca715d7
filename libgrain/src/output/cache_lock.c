// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/cache_lock.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_BETWEEN_BEATS 5.0
// A lock that nobody touched for so long has lost its owner. Far longer than any pause between two beats: a share may
// hang.
#define STALE_SECONDS 120
// Tries at taking over, each against somebody else who does the same.
#define MOST_TRIES 5

static void describe_self(char *text, size_t bytes)
{
    char host[64] = "this machine", date[32] = "";
    gethostname(host, sizeof host - 1);
    const char *user = getenv("USER") ? getenv("USER") : getenv("LOGNAME");
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &utc);
    snprintf(text, bytes, "process %d on %s (user %.100s, since %s UTC)", (int)getpid(), host,
             user && *user ? user : "unknown", date);
}

static void read_owner(int descriptor, char *text, size_t bytes)
{
    ssize_t length = pread(descriptor, text, bytes - 1, 0);
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
    ssize_t length = (ssize_t)strlen(lock->owner);
    if (ftruncate(lock->descriptor, 0) != 0 || pwrite(lock->descriptor, lock->owner, (size_t)length, 0) != length)
        errno = 0;
    lock->last_beat = run_clock();
}

// --- by heartbeat -------------------------------------------------------------------------------

// Whether the owner of the lock file is certainly gone.
static int is_stale(const char *owner, const struct stat *found)
{
    char host[64] = "", own_host[64] = "this machine";
    int process = 0;
    gethostname(own_host, sizeof own_host - 1);
    if (sscanf(owner, "process %d on %63s", &process, host) == 2 && strcmp(host, own_host) == 0 && process > 0)
        return kill((pid_t)process, 0) != 0 && errno == ESRCH;
    return difftime(time(NULL), found->st_mtime) > STALE_SECONDS;
}

static GrainResult take_by_heartbeat(CacheLock *lock)
{
    char owner[320] = "";
    lock->by_heartbeat = 1;
    for (int attempt = 0; attempt < MOST_TRIES; attempt++) {
        lock->descriptor = open(lock->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (lock->descriptor >= 0) {
            write_owner(lock);
            return GRAIN_OK;
        }
        if (errno != EEXIST) return fail_to_open(lock);
        struct stat found;
        int descriptor = open(lock->path, O_RDONLY | O_CLOEXEC);
        if (descriptor < 0) continue; // gone again
        int is_known = fstat(descriptor, &found) == 0;
        read_owner(descriptor, owner, sizeof owner);
        close(descriptor);
        // Empty: released by flock, on a machine where the share has it.
        if (is_known && owner[0] && !is_stale(owner, &found)) break;
        unlink(lock->path);
    }
    return fail_busy(lock, owner);
}

// --- both ---------------------------------------------------------------------------------------

static int wants_heartbeat(void)
{
    const char *wanted = getenv("GRAIN_LOCK");
    return wanted && strcmp(wanted, "heartbeat") == 0;
}

static GrainResult take_by_flock(CacheLock *lock, int *has_flock)
{
    lock->descriptor = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock->descriptor < 0) return fail_to_open(lock);
    if (flock(lock->descriptor, LOCK_EX | LOCK_NB) == 0) {
        write_owner(lock);
        return GRAIN_OK;
    }
    *has_flock = errno == EWOULDBLOCK;
    char owner[320];
    read_owner(lock->descriptor, owner, sizeof owner);
    close(lock->descriptor);
    lock->descriptor = -1;
    return *has_flock ? fail_busy(lock, owner) : GRAIN_OK;
}

GrainResult cache_lock_take(CacheLock *lock, const char *folder)
{
    *lock = (CacheLock)CACHE_LOCK_NONE;
    TRY(file_join(folder, "lock", &lock->path));
    describe_self(lock->owner, sizeof lock->owner);
    int has_flock = !wants_heartbeat();
    GrainResult result = has_flock ? take_by_flock(lock, &has_flock) : GRAIN_OK;
    if (!has_flock) result = take_by_heartbeat(lock);
    if (result != GRAIN_OK) cache_lock_release(lock);
    return result;
}

GrainResult cache_lock_beat(CacheLock *lock)
{
    if (lock->descriptor < 0 || run_clock() - lock->last_beat < SECONDS_BETWEEN_BEATS) return GRAIN_OK;
    lock->last_beat = run_clock();
    futimens(lock->descriptor, NULL); // a share that is away for a moment is no reason to stop
    if (!lock->by_heartbeat) return GRAIN_OK;
    char owner[320] = "";
    int descriptor = open(lock->path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return GRAIN_OK;
    read_owner(descriptor, owner, sizeof owner);
    close(descriptor);
    return strcmp(owner, lock->owner) == 0 ? GRAIN_OK : fail_busy(lock, owner);
}

void cache_lock_release(CacheLock *lock)
{
    if (lock->descriptor >= 0) {
        char owner[320] = "";
        if (lock->by_heartbeat) {
            int descriptor = open(lock->path, O_RDONLY | O_CLOEXEC);
            if (descriptor >= 0) read_owner(descriptor, owner, sizeof owner), close(descriptor);
            if (strcmp(owner, lock->owner) == 0) unlink(lock->path); // unless somebody took it over
        } else if (ftruncate(lock->descriptor, 0) != 0) {
            errno = 0;
        }
        close(lock->descriptor);
    }
    alloc_free(lock->path);
    *lock = (CacheLock)CACHE_LOCK_NONE;
}
