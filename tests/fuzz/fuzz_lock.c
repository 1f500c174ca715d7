// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of a lock that make no sense: whoever takes it gets it or is told who has it, at once; and it is nobody's
// afterwards, or as it was.
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"
#include "grain/grain.h"
#include "output/cache_lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The bits of the first byte; the rest is the file.
#define BY_HEARTBEAT 1 // without locks of the system
#define IS_OLD 2       // not touched for hours: whoever wrote it is gone
#define HEADER 1
#define MOST_BYTES 16384

static uint8_t now[MOST_BYTES]; // what is there afterwards

// Long ago, before there was Grain.
static void make_old(void)
{
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    char path[300];
    fuzz_path("lock", path);
    if (utimensat(AT_FDCWD, path, times, 0) != 0) fuzz_found("could not set the time of %s", path);
}

static void check_busy(const uint8_t *data, size_t size)
{
    const char *text = grain_last_error();
    if (!strstr(text, "is being baked into by")) fuzz_found("busy: '%s'", text);
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F) fuzz_found("a control character is told");
    if (size == 0 || data[0] == 0) fuzz_found("a lock of nobody is busy");
    if (fuzz_read("lock", now, sizeof now) != size || memcmp(now, data, size) != 0)
        fuzz_found("the lock of another was changed");
}

static void check_taken(CacheLock *lock)
{
    size_t length = strlen(lock->text), size = fuzz_read("lock", now, sizeof now);
    if (size <= length || memcmp(now, lock->text, length) != 0) fuzz_found("the lock has another text than ours");
    if (cache_lock_check(lock) != GRAIN_OK) fuzz_found("lost at once: '%s'", grain_last_error());
    cache_lock_release(lock);
    if (fuzz_read("lock", now, sizeof now) != 0) fuzz_found("the lock has a text after its release");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CacheLock lock;
    char gate[300];
    if (size < HEADER || size > MOST_BYTES) return 0;
    fuzz_write("lock", data + HEADER, size - HEADER);
    if (data[0] & IS_OLD) make_old();
    setenv("GRAIN_LOCK", data[0] & BY_HEARTBEAT ? "heartbeat" : "", 1);
    GrainResult result = cache_lock_take(&lock, fuzz_folder());
    if (result != GRAIN_OK && (result != GRAIN_ERROR_BUSY || data[0] & IS_OLD))
        fuzz_found("error %d '%s'", (int)result, grain_last_error());
    if (result == GRAIN_OK)
        check_taken(&lock);
    else
        check_busy(data + HEADER, size - HEADER);
    fuzz_path("lock.part", gate);
    if (access(gate, F_OK) == 0) fuzz_found("lock.part is left");
    return 0;
}

// Of another machine, and of this one: by a process that is there, and by one that cannot be.
size_t fuzz_seed(int index, uint8_t *data, size_t capacity)
{
    static const struct Seed {
        int bits;
        const char *process, *host, *end;
    } seeds[] = {
        {0, "17", "elsewhere", "\n9f86d081884c7d65 system\n"},
        {BY_HEARTBEAT, "1", NULL, "\n0000000000000001 system\n"},
        {0, "1", NULL, "\n0123456789abcdef heartbeat\n"},
        {0, "999999999", NULL, "\n0123456789abcdef taking\n"},
        {BY_HEARTBEAT | IS_OLD, "17", "elsewhere", "\n0 system"},
        {0, "17", "elsewhere", "\n"},
    };
    char host[64];
    if (index >= (int)(sizeof seeds / sizeof *seeds) || capacity < 512) return 0;
    const struct Seed *seed = &seeds[index];
    system_host_name(host, sizeof host);
    data[0] = (uint8_t)seed->bits;
    return HEADER + (size_t)snprintf((char *)data + HEADER, capacity - HEADER,
                                     "process %s on %s (user artist, since 2026-11-16 14:02:11 UTC)%s", seed->process,
                                     seed->host ? seed->host : host, seed->end);
}
