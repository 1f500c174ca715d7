// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Ensures that one process at a time writes to a cache folder. The file "lock" in it names the writer.
///
/// File locks are used where the file system has them; the system releases them when the process ends. On network
/// shares without them (or with GRAIN_LOCK=heartbeat in the environment) the file exists only while a process writes:
/// its creator is the owner and touches it every few seconds. A lock that has not been touched for some time, or whose
/// process no longer exists on this machine, is stale and may be taken over.
#include "grain/base.h"

typedef struct CacheLock {
    int descriptor; ///< -1: not held
    int by_heartbeat;
    char *path;
    char owner[320]; ///< as written into the file
    double last_beat;
} CacheLock;

/// Initial value: not held.
#define CACHE_LOCK_NONE                                                                                                \
    {                                                                                                                  \
        .descriptor = -1                                                                                               \
    }

/// GRAIN_ERROR_BUSY names the owner.
GrainResult cache_lock_take(CacheLock *lock, const char *folder);
/// Call it regularly while the lock is held; it acts every few seconds only. GRAIN_ERROR_BUSY if another process has
/// taken the lock over.
GrainResult cache_lock_beat(CacheLock *lock);
void cache_lock_release(CacheLock *lock);
