// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// One writer to a cache folder at a time. The file "lock" in it says who writes.
///
/// Where the file system has locks they decide: the system itself releases one when its holder dies. On network shares
/// that do not (or with GRAIN_LOCK=heartbeat in the environment) the file exists only while a process writes: its
/// creator is the owner and touches it every few seconds. A lock that has not been touched for a while, or whose
/// process on this machine no longer exists, is stale and may be taken over.
#include "grain/base.h"

typedef struct CacheLock {
    int descriptor; ///< -1: not held
    int by_heartbeat;
    char *path;
    char owner[320]; ///< as written into the file
    double last_beat;
} CacheLock;

/// What an unheld lock is.
#define CACHE_LOCK_NONE                                                                                                \
    {                                                                                                                  \
        .descriptor = -1                                                                                               \
    }

/// GRAIN_ERROR_BUSY names the owner.
GrainResult cache_lock_take(CacheLock *lock, const char *folder);
/// To be called now and then while the lock is held; does something every few seconds only. GRAIN_ERROR_BUSY where
/// somebody took it over meanwhile.
GrainResult cache_lock_beat(CacheLock *lock);
void cache_lock_release(CacheLock *lock);
