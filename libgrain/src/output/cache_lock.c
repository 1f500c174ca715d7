// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/cache_lock.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCK_NAME "lock"
#define GATE_NAME "lock.part"
#define SECONDS_BETWEEN_BEATS 5.0
// A text not touched for this long has lost its owner. Much longer than the pause between two touches, because a
// network share may hang.
#define STALE_SECONDS 120
#define SECONDS_BETWEEN_TRIES 0.1
// Taking a lock is a matter of milliseconds. Who is slower than this notices that the gate is gone, and begins again.
#define GATE_SECONDS 3.0
#define LONGEST_SECONDS 30.0 // of taking, where many want the lock
#define PROBE_SECONDS 1.0    // others ask the system for an instant whether a lock is held
#define MOST_TRIES 5         // each against somebody who replaces the file

typedef enum Held { HELD_UNKNOWN, HELD_BY_SYSTEM, HELD_BY_HEARTBEAT, HELD_WHILE_TAKING } Held;
static const char *const held_words[] = {"unknown", "system", "heartbeat", "taking"};

// --- the text -----------------------------------------------------------------------------------

/// What a lock file says; empty where nobody holds it.
typedef struct Note {
    char text[CACHE_LOCK_TEXT];
    char host[64];
    int process; ///< 0: not known
    Held held;
    time_t changed;
} Note;

// Not a secret: it only has to be another one each time.
static uint64_t draw_key(void)
{
    static uint64_t count;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t key = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    key += (uint64_t)system_process_id() << 40 ^ __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) << 56;
    key = (key ^ key >> 30) * UINT64_C(0xbf58476d1ce4e5b9); // the mixer of splitmix64
    key = (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
    return key ^ key >> 31;
}

static void describe_self(char *text, size_t bytes)
{
    char host[64], date[32] = "";
    const char *user = system_user_name();
    struct tm utc;
    system_host_name(host, sizeof host);
    if (system_utc(time(NULL), &utc) == 0) strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &utc);
    snprintf(text, bytes, "process %d on %s (user %.100s, since %s UTC)\n%016" PRIx64, system_process_id(), host,
             user ? user : "unknown", date, draw_key());
}

// The text may be anybody's. No process is meant by a number that a process cannot have, nor by one without a host.
static void parse(Note *note)
{
    static const char begin[] = "process ";
    const char *second = strchr(note->text, '\n');
    char word[16] = "", *end = note->text;
    if (strncmp(note->text, begin, strlen(begin)) == 0) {
        long long process = strtoll(note->text + strlen(begin), &end, 10); // the largest there is where it is too large
        if (process > 0 && process <= INT32_MAX && sscanf(end, " on %63s (", note->host) == 1)
            note->process = (int)process;
    }
    if (second) sscanf(second, "%*[0-9a-f\n] %15[a-z]", word);
    for (Held held = HELD_BY_SYSTEM; held <= HELD_WHILE_TAKING; held++)
        if (strcmp(word, held_words[held]) == 0) note->held = held;
}

static int read_note(int descriptor, Note *note)
{
    SystemInfo info;
    *note = (Note){0};
    int64_t length = system_read_at(descriptor, note->text, sizeof note->text - 1, 0);
    if (length < 0 || system_info_of_file(descriptor, &info) != 0) return -1;
    note->changed = info.changed;
    parse(note);
    return 0;
}

// What the file of that name says now; ENOENT where there is none.
static int read_named(const CacheLock *lock, const char *name, Note *note)
{
    *note = (Note){0};
    int descriptor = system_open_in(lock->folder, name, SYSTEM_READ);
    if (descriptor < 0) return -1;
    int result = read_note(descriptor, note), error = errno;
    system_close(descriptor);
    errno = error;
    return result;
}

// The way it is held may be another; who and the number are not.
static int is_own(const CacheLock *lock, const Note *note)
{
    return strncmp(note->text, lock->text, strlen(lock->text)) == 0;
}

static int has_own(const CacheLock *lock, const char *name)
{
    Note note;
    return read_named(lock, name, &note) == 0 && is_own(lock, &note);
}

// -1 where it could not be written, which a full disk is the most likely reason for.
static int write_text(const CacheLock *lock, int descriptor, Held held)
{
    char text[CACHE_LOCK_TEXT];
    int length = snprintf(text, sizeof text, "%s %s\n", lock->text, held_words[held]);
    if (system_write_at(descriptor, text, (size_t)length, 0) != length) return -1;
    return system_truncate(descriptor, length);
}

// --- errors -------------------------------------------------------------------------------------

static GrainResult fail_busy(const CacheLock *lock, const Note *note)
{
    char owner[CACHE_LOCK_TEXT];
    size_t length = strcspn(note->text, "\n");
    for (size_t i = 0; i < length; i++) {
        unsigned char letter = (unsigned char)note->text[i];
        owner[i] = letter < ' ' || letter == 0x7F ? '?' : note->text[i];
    }
    owner[length] = 0;
    return fail(GRAIN_ERROR_BUSY, "'%s' is being baked into by %s; wait for it or stop it", lock->path,
                length > 0 ? owner : "another process");
}

static GrainResult fail_to_open(const CacheLock *lock, const char *name)
{
    int error = errno;
    if (error == ENOSPC)
        return fail(GRAIN_ERROR_DISK_FULL, "the disk is full: could not write into the cache folder '%s'", lock->path);
    if (error == ELOOP || error == EISDIR || error == ENXIO)
        return fail(GRAIN_ERROR_IO, "'%s' in the cache folder '%s' is %s; delete it, then try again", name, lock->path,
                    error == ELOOP    ? "a link"
                    : error == EISDIR ? "a folder"
                                      : "a pipe, a socket or a device");
    return fail(GRAIN_ERROR_IO, "could not write into the cache folder '%s': %s; choose a folder you may write to",
                lock->path, strerror(error));
}

// --- the gate: who may take the lock ------------------------------------------------------------

static int is_process_gone(const Note *note)
{
    char host[64];
    system_host_name(host, sizeof host);
    return note->process > 0 && strcmp(note->host, host) == 0 && system_process_is_gone(note->process);
}

typedef struct Gate {
    int descriptor;
    time_t opened; ///< by the clock of the file system
} Gate;

// Looks at a gate that somebody else has opened, and removes it if a crash has left it.
static GrainResult wait_at_gate(const CacheLock *lock, Note *seen, double *since)
{
    Note note;
    if (read_named(lock, GATE_NAME, &note) != 0) return errno == ENOENT ? GRAIN_OK : fail_to_open(lock, GATE_NAME);
    if (strcmp(note.text, seen->text) != 0) *since = run_clock();
    *seen = note;
    if (!is_process_gone(&note) && run_clock() - *since < GATE_SECONDS) {
        system_sleep(SECONDS_BETWEEN_TRIES);
        return GRAIN_OK;
    }
    *since = run_clock();
    return system_remove_in(lock->folder, GATE_NAME) == 0 || errno == ENOENT ? GRAIN_OK : fail_to_open(lock, GATE_NAME);
}

static GrainResult open_gate(const CacheLock *lock, Gate *gate)
{
    Note seen = {0};
    SystemInfo info;
    double began = run_clock(), since = began;
    while ((gate->descriptor = system_open_in(lock->folder, GATE_NAME, SYSTEM_MAKE)) < 0) {
        if (errno != EEXIST) return fail_to_open(lock, GATE_NAME);
        TRY(wait_at_gate(lock, &seen, &since));
        if (run_clock() - began > LONGEST_SECONDS) return fail_busy(lock, &seen);
    }
    write_text(lock, gate->descriptor, HELD_WHILE_TAKING); // for whoever waits: without it they wait all the same
    gate->opened = system_info_of_file(gate->descriptor, &info) == 0 ? info.changed : time(NULL);
    return GRAIN_OK;
}

static int is_own_gate(const CacheLock *lock, const Gate *gate)
{
    return file_is_named(lock->folder, GATE_NAME, gate->descriptor);
}

static void close_gate(const CacheLock *lock, const Gate *gate)
{
    if (is_own_gate(lock, gate)) system_remove_in(lock->folder, GATE_NAME);
    system_close(gate->descriptor);
}

// --- taking -------------------------------------------------------------------------------------

static int wants_heartbeat(void)
{
    const char *wanted = getenv("GRAIN_LOCK");
    return wanted && strcmp(wanted, "heartbeat") == 0;
}

// Whether the owner is gone. `granted`: how we have the lock ourselves. now: by the clock of the file system.
static int is_stale(const Note *note, Held granted, time_t now)
{
    char host[64];
    system_host_name(host, sizeof host);
    int was_here = note->process > 0 && strcmp(note->host, host) == 0;
    if (was_here && note->held == HELD_BY_SYSTEM && granted == HELD_BY_SYSTEM) return 1;
    return is_process_gone(note) || difftime(now, note->changed) >= STALE_SECONDS;
}

// Opens the file and lets the system lock it, if it can: *held says how.
static GrainResult open_lock(CacheLock *lock, time_t now, Held *held)
{
    double began = run_clock();
    for (;;) {
        lock->descriptor = system_open_in(lock->folder, LOCK_NAME, SYSTEM_UPDATE);
        if (lock->descriptor < 0) return fail_to_open(lock, LOCK_NAME);
        int is_locked = !wants_heartbeat() && system_lock(lock->descriptor) == 0;
        *held = is_locked ? HELD_BY_SYSTEM : HELD_BY_HEARTBEAT;
        if (is_locked || wants_heartbeat() || errno != EWOULDBLOCK) return GRAIN_OK;
        // Somebody has it: the owner, or another who has just asked for it while nobody has.
        Note note = {0};
        read_note(lock->descriptor, &note);
        system_close(lock->descriptor);
        lock->descriptor = -1;
        int is_owned = note.text[0] && !is_stale(&note, HELD_UNKNOWN, now);
        if (is_owned || run_clock() - began > PROBE_SECONDS) return fail_busy(lock, &note);
        system_sleep(SECONDS_BETWEEN_TRIES);
    }
}

// Whether the file has other names, perhaps outside the cache: nothing is written into it then.
static int is_shared(const CacheLock *lock)
{
    SystemInfo info;
    return system_info_of_file(lock->descriptor, &info) == 0 && info.names > 1;
}

// The next try makes a file of our own.
static GrainResult drop_shared(const CacheLock *lock, const Gate *gate)
{
    if (!is_own_gate(lock, gate) || system_remove_in(lock->folder, LOCK_NAME) == 0 || errno == ENOENT) return GRAIN_OK;
    return fail_to_open(lock, LOCK_NAME);
}

// Behind the gate. *is_taken is 0 where somebody replaced a file meanwhile, or it was not for this cache alone.
static GrainResult take_once(CacheLock *lock, const Gate *gate, int *is_taken)
{
    Held held;
    Note note;
    TRY(open_lock(lock, gate->opened, &held));
    if (read_note(lock->descriptor, &note) != 0) return fail_to_open(lock, LOCK_NAME);
    if (note.text[0] && !is_own(lock, &note) && !is_stale(&note, held, gate->opened)) return fail_busy(lock, &note);
    if (is_shared(lock)) return drop_shared(lock, gate);
    // On a full disk the system's lock has to do, or nothing could be deleted there.
    lock->is_mute = write_text(lock, lock->descriptor, held) != 0;
    if (lock->is_mute && held != HELD_BY_SYSTEM) return fail_to_open(lock, LOCK_NAME);
    *is_taken = is_own_gate(lock, gate) && (lock->is_mute || has_own(lock, LOCK_NAME));
    return GRAIN_OK;
}

static GrainResult take(CacheLock *lock)
{
    for (int attempt = 0; attempt < MOST_TRIES; attempt++) {
        Gate gate;
        int is_taken = 0;
        TRY(open_gate(lock, &gate));
        GrainResult result = take_once(lock, &gate, &is_taken);
        close_gate(lock, &gate);
        if (result != GRAIN_OK || is_taken) return result;
        system_close(lock->descriptor);
        lock->descriptor = -1;
    }
    return fail(GRAIN_ERROR_BUSY, "the file 'lock' in '%s' is replaced again and again by another program; stop it",
                lock->path);
}

GrainResult cache_lock_take(CacheLock *lock, const char *folder)
{
    *lock = (CacheLock)CACHE_LOCK_NONE;
    TRY(file_join(folder, "", &lock->path));
    describe_self(lock->text, sizeof lock->text);
    lock->folder = system_folder_open(folder);
    GrainResult result = lock->folder ? take(lock) : fail_to_open(lock, LOCK_NAME);
    if (result != GRAIN_OK) cache_lock_release(lock);
    lock->last_beat = run_clock();
    return result;
}

// --- holding ------------------------------------------------------------------------------------

static int is_beat_due(const CacheLock *lock) { return run_clock() - lock->last_beat >= SECONDS_BETWEEN_BEATS; }

GrainResult cache_lock_check(CacheLock *lock)
{
    Note note;
    if (lock->descriptor < 0 || lock->is_mute) return GRAIN_OK;
    if (is_beat_due(lock)) { // not each time: the disk would have to write that too
        lock->last_beat = run_clock();
        system_touch(lock->descriptor);
    }
    if (read_named(lock, LOCK_NAME, &note) == 0) return is_own(lock, &note) ? GRAIN_OK : fail_busy(lock, &note);
    if (errno != ENOENT) return GRAIN_OK; // a share that is away for a moment is no reason to stop
    return fail(GRAIN_ERROR_IO,
                "'%slock' was deleted while it was held: another program may be writing to the cache; "
                "bake again to continue",
                lock->path);
}

GrainResult cache_lock_beat(CacheLock *lock) { return is_beat_due(lock) ? cache_lock_check(lock) : GRAIN_OK; }

void cache_lock_release(CacheLock *lock)
{
    if (lock->descriptor >= 0) {
        // Unless somebody took it over.
        if ((lock->is_mute || has_own(lock, LOCK_NAME)) && system_truncate(lock->descriptor, 0) != 0) errno = 0;
        system_close(lock->descriptor);
    }
    if (lock->folder) system_folder_close(lock->folder);
    alloc_free(lock->path);
    *lock = (CacheLock)CACHE_LOCK_NONE;
}
