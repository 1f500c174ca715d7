// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Ensures that one process at a time writes to a cache folder. The file "lock" in it names the writer; docs/formats.md
/// ("The lock") defines every step, and the add-on's engine follows the same text. In short:
/// - Whoever takes the lock first creates "lock.part" exclusively, so that only one process at a time decides.
/// - It then lets the system lock "lock" (flock, LockFileEx) where the file system can, and reads the text in it. The
///   cache is busy if another process has the system's lock, or if the text is of a holder that may be alive.
/// - It writes its own text with a random number, and reads it back by name: a file that was replaced meanwhile shows.
/// - A holder touches the file every few seconds and looks whether the text is still its own. A text that was not
///   touched for two minutes, or is of a process of this machine that does not exist, is stale: its lock may be taken.
/// The file is never removed, only emptied: there is no moment between removing and creating to slip into. Except where
/// it has other names (hard links), which may be outside the cache: whoever takes it removes this one, behind the gate.
#include "base/system.h"
#include "grain/base.h"

#define CACHE_LOCK_TEXT 384

typedef struct CacheLock {
    int descriptor;                  ///< -1: not held
    SystemFolder *folder;            ///< it is in
    char *path;                      ///< of the folder, with a slash at its end
    char text[CACHE_LOCK_TEXT - 16]; ///< as in the file, without the word at its end
    int is_mute;                     ///< held by the system without a text, because the disk is full
    double last_beat;
} CacheLock;

/// Initial value: not held.
#define CACHE_LOCK_NONE                                                                                                \
    {                                                                                                                  \
        .descriptor = -1                                                                                               \
    }

/// GRAIN_ERROR_BUSY names the owner. May wait for a second or two while others take or ask for the lock.
GrainResult cache_lock_take(CacheLock *lock, const char *folder);
/// Call it regularly while the lock is held; it acts every few seconds only. GRAIN_ERROR_BUSY if another process has
/// taken the lock over.
GrainResult cache_lock_beat(CacheLock *lock);
/// The same at once: before anything is written that another owner would read. A process that was suspended learns here
/// that its lock was taken over.
GrainResult cache_lock_check(CacheLock *lock);
void cache_lock_release(CacheLock *lock);
