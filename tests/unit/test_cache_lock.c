// SPDX-License-Identifier: GPL-3.0-or-later
// One writer at a time, however the locks are held, and nothing but the lock is touched.
#include "base/alloc.h"
#include "base/file.h"
#include "base/run.h"
#include "grain/grain.h"
#include "output/cache_lock.h"
#include "shared/portable.h"
#include "unit/test.h"

#include <pthread.h>
#include <string.h>

static void hold_by_heartbeat(int wanted) { portable_set_variable("GRAIN_LOCK", wanted ? "heartbeat" : NULL); }

static GrainResult write_text(const char *name, const char *text)
{
    char *path;
    FileWriter file;
    TRY(file_join(test_folder(), name, &path));
    GrainResult result = file_create(&file, path);
    if (result == GRAIN_OK) result = file_write(&file, text, strlen(text));
    if (result == GRAIN_OK) result = file_commit(&file);
    file_abandon(&file);
    alloc_free(path);
    return result;
}

static int has_text(const char *name, const char *text)
{
    char *path, *found;
    int64_t bytes;
    if (file_join(test_folder(), name, &path) != GRAIN_OK) return 0;
    int is_read = file_read_chosen(path, (void **)&found, &bytes) == GRAIN_OK;
    int is_same = is_read && strcmp(found, text) == 0;
    if (is_read) alloc_free(found);
    alloc_free(path);
    return is_same;
}

static int is_there(const char *name)
{
    char *path;
    int there = file_join(test_folder(), name, &path) == GRAIN_OK && file_exists(path);
    alloc_free(path);
    return there;
}

static int age(const char *name, int seconds)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return portable_age_file(path, seconds);
}

static GrainResult take_and_release(void)
{
    CacheLock lock;
    GrainResult result = cache_lock_take(&lock, test_folder());
    if (result == GRAIN_OK) cache_lock_release(&lock);
    return result;
}

static const char *text_of(int process, const char *host, const char *held)
{
    static char text[256];
    char own[64];
    system_host_name(own, sizeof own);
    snprintf(text, sizeof text, "process %d on %s (user x, since then)\n0123456789abcdef %s\n", process,
             host ? host : own, held);
    return text;
}

#define GONE 99999999 // above the largest number of a process anywhere
#define OTHER "another-machine"

// Either kind against either kind.
TEST(a_held_lock_is_respected_however_it_is_held)
{
    for (int pair = 0; pair < 4; pair++) {
        CacheLock lock;
        char host[64];
        system_host_name(host, sizeof host);
        hold_by_heartbeat(pair & 1);
        GrainResult first = cache_lock_take(&lock, test_folder());
        hold_by_heartbeat(pair >> 1);
        GrainResult second = take_and_release();
        int names_owner = strstr(grain_last_error(), host) && strstr(grain_last_error(), "since 20");
        GrainResult check = first == GRAIN_OK ? cache_lock_check(&lock) : first;
        if (first == GRAIN_OK) cache_lock_release(&lock);
        GrainResult third = take_and_release();
        hold_by_heartbeat(0);
        ENSURE_EQUAL(first, GRAIN_OK);
        ENSURE_EQUAL(second, GRAIN_ERROR_BUSY);
        ENSURE(names_owner);
        ENSURE_EQUAL(check, GRAIN_OK);
        ENSURE_EQUAL(third, GRAIN_OK);
        ENSURE(has_text("lock", "") && !is_there("lock.part"));
    }
}

typedef struct Found {
    const char *what, *text;
    int age, system, heartbeat; // s; what taking it by the system and by heartbeat gives
} Found;

// Whose owner may be alive, and whose is gone.
TEST(a_lock_that_is_found_is_stale_or_not)
{
    char texts[6][256];
    snprintf(texts[0], sizeof texts[0], "%s", text_of(GONE, NULL, "heartbeat"));
    snprintf(texts[1], sizeof texts[1], "%s", text_of(system_process_id(), NULL, "system"));
    snprintf(texts[2], sizeof texts[2], "%s", text_of(system_process_id(), NULL, "heartbeat"));
    snprintf(texts[3], sizeof texts[3], "%s", text_of(17, OTHER, "heartbeat"));
    snprintf(texts[4], sizeof texts[4], "%s", text_of(17, OTHER, "system"));
    snprintf(texts[5], sizeof texts[5], "%.*s", (int)strcspn(texts[2], "\n"), texts[2]);
    const Found found[] = {{"of a dead process", texts[0], 0, GRAIN_OK, GRAIN_OK},
                           {"whose number another process has now", texts[1], 0, GRAIN_OK, GRAIN_ERROR_BUSY},
                           {"of a living process without the system's locks", texts[2], 0, -1, GRAIN_ERROR_BUSY},
                           {"of another machine", texts[3], 0, -1, GRAIN_ERROR_BUSY},
                           {"of another machine that has locks of its own", texts[4], 0, -1, GRAIN_ERROR_BUSY},
                           {"of another machine, not touched for 100 s", texts[3], 100, -1, GRAIN_ERROR_BUSY},
                           {"of another machine, not touched for 10 minutes", texts[3], 600, GRAIN_OK, GRAIN_OK},
                           {"of an older Grain", texts[5], 0, -1, GRAIN_ERROR_BUSY},
                           {"of an older Grain, long ago", texts[5], 600, GRAIN_OK, GRAIN_OK},
                           {"without any sense", "process -1 on\n\n\x1b[2J", 0, -1, GRAIN_ERROR_BUSY},
                           {"empty", "", 0, GRAIN_OK, GRAIN_OK}};
    for (int i = 0; i < 2 * (int)(sizeof found / sizeof *found); i++) {
        const Found *lock = &found[i / 2];
        GrainResult expected = i & 1 ? lock->heartbeat : lock->system == -1 ? GRAIN_ERROR_BUSY : lock->system;
        ENSURE_OK(write_text("lock", lock->text));
        ENSURE(age("lock", lock->age));
        hold_by_heartbeat(i & 1);
        GrainResult result = take_and_release();
        hold_by_heartbeat(0);
        if (result != expected)
            test_fail(__FILE__, __LINE__, "a lock %s, taken by %s: %d, expected %d", lock->what,
                      i & 1 ? "heartbeat" : "the system", result, expected);
        ENSURE(result == GRAIN_OK || has_text("lock", lock->text));
        ENSURE(!strchr(grain_last_error(), '\x1b') && !is_there("lock.part"));
    }
}

// A process that was suspended finds another's text, or none, when it awakes.
TEST(an_owner_notices_that_its_lock_is_lost)
{
    if (!portable_frees_open_names()) SKIP("a lock that is held cannot be replaced here");
    for (int by_heartbeat = 0; by_heartbeat < 2; by_heartbeat++) {
        CacheLock lock;
        const char *other = text_of(17, OTHER, "heartbeat");
        hold_by_heartbeat(by_heartbeat);
        GrainResult taken = cache_lock_take(&lock, test_folder());
        hold_by_heartbeat(0);
        ENSURE_EQUAL(taken, GRAIN_OK);
        GrainResult early = cache_lock_beat(&lock), written = write_text("lock", other);
        GrainResult rested = cache_lock_beat(&lock); // not every time
        lock.last_beat = -1e9;
        GrainResult lost = cache_lock_beat(&lock);
        int names_other = strstr(grain_last_error(), "process 17 on " OTHER) != NULL;
        cache_lock_release(&lock);
        int is_left = has_text("lock", other);

        ENSURE_OK(write_text("lock", ""));
        taken = cache_lock_take(&lock, test_folder());
        char path[4096];
        snprintf(path, sizeof path, "%s/lock", test_folder());
        GrainResult removed = file_remove(path), gone = cache_lock_check(&lock);
        cache_lock_release(&lock);
        ENSURE(names_other && is_left && taken == GRAIN_OK && removed == GRAIN_OK && !is_there("lock"));
        ENSURE_EQUAL(early, GRAIN_OK);
        ENSURE_EQUAL(written, GRAIN_OK);
        ENSURE_EQUAL(rested, GRAIN_OK);
        ENSURE_EQUAL(lost, GRAIN_ERROR_BUSY);
        ENSURE_EQUAL(gone, GRAIN_ERROR_IO);
    }
}

TEST(a_gate_that_a_crash_left_is_stepped_over)
{
    ENSURE_OK(write_text("lock.part", text_of(GONE, NULL, "taking")));
    ENSURE_OK(take_and_release());
    ENSURE(!is_there("lock.part"));
}

// Killed before it could say who it is. Nothing that a cache holds may make others wait for five seconds.
TEST(a_gate_of_nobody_knows_whom_is_watched_for_three_seconds)
{
    double began = run_clock();
    ENSURE_OK(write_text("lock.part", ""));
    ENSURE_OK(take_and_release());
    ENSURE(!is_there("lock.part") && run_clock() - began > 2.5 && run_clock() - began < 5.0);
}

// --- many at once ---------------------------------------------------------------------------------

#define TAKERS 6
#define TAKES 15

static int inside, most_inside, taken_count;

static void *take_often(void *user)
{
    (void)user;
    for (int i = 0; i < TAKES; i++) {
        CacheLock lock;
        if (cache_lock_take(&lock, test_folder()) != GRAIN_OK) continue;
        int now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
        if (now > 1) __atomic_store_n(&most_inside, now, __ATOMIC_SEQ_CST);
        system_sleep(1e-3);
        __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&taken_count, 1, __ATOMIC_SEQ_CST);
        cache_lock_release(&lock);
    }
    return NULL;
}

TEST(many_take_a_lock_and_never_two_have_it)
{
    for (int by_heartbeat = 0; by_heartbeat < 2; by_heartbeat++) {
        pthread_t threads[TAKERS];
        inside = most_inside = taken_count = 0;
        // All begin by stepping over what two crashes have left.
        ENSURE_OK(write_text("lock.part", text_of(GONE, NULL, "taking")));
        ENSURE_OK(write_text("lock", text_of(GONE, NULL, "heartbeat")));
        hold_by_heartbeat(by_heartbeat);
        int started = 0;
        while (started < TAKERS && pthread_create(&threads[started], NULL, take_often, NULL) == 0) started++;
        for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
        hold_by_heartbeat(0);
        ENSURE_EQUAL(started, TAKERS);
        ENSURE_EQUAL(most_inside, 0);
        ENSURE(taken_count > TAKERS);
        ENSURE(has_text("lock", "") && !is_there("lock.part"));
    }
}

// --- what is no lock ------------------------------------------------------------------------------

TEST(a_lock_that_is_a_link_or_a_pipe_is_refused_and_its_target_left_alone)
{
    static const char *const names[] = {"lock", "lock.part"};
    ENSURE_OK(write_text("precious", "years of work"));
    for (int i = 0; i < 4; i++) {
        char path[4096], target[4096];
        snprintf(path, sizeof path, "%s/%s", test_folder(), names[i & 1]);
        snprintf(target, sizeof target, "%s/precious", test_folder());
        if (!(i & 2 ? portable_make_pipe(path) : portable_make_link(target, path)))
            SKIP("there are no links or pipes here");
        double began = run_clock();
        ENSURE_FAILS(take_and_release(), GRAIN_ERROR_IO, names[i & 1]);
        ENSURE(strstr(grain_last_error(), i & 2 ? "pipe" : "link") && strstr(grain_last_error(), "delete it"));
        ENSURE(run_clock() - began < 1.0);
        ENSURE(has_text("precious", "years of work") && is_there(names[i & 1]));
        ENSURE_OK(file_remove(path));
    }
}

// A file may have names in other folders, too: what is written into it changes there. It need not be a lock.
TEST(a_lock_with_another_name_elsewhere_is_replaced_not_written)
{
    static const char *const texts[] = {"years of work", "", "process 17 on another-machine (user x, since y)\n"};
    char path[4096], other[4096];
    snprintf(path, sizeof path, "%s/lock", test_folder());
    snprintf(other, sizeof other, "%s/precious", test_folder());
    for (int i = 0; i < 6; i++) {
        const char *text = texts[i % 3];
        ENSURE_OK(write_text("precious", text));
        ENSURE_OK(file_remove(path));
        if (!portable_make_name(other, path)) SKIP("a file has one name only here");
        int is_new = text[0] && i >= 3; // somebody may be at work
        if (!is_new) portable_age_file(other, 600);
        hold_by_heartbeat(i & 1);
        CacheLock lock;
        GrainResult result = cache_lock_take(&lock, test_folder());
        int is_safe = has_text("precious", text), is_held = cache_lock_check(&lock) == GRAIN_OK;
        cache_lock_release(&lock);
        hold_by_heartbeat(0);
        ENSURE_EQUAL(result, is_new ? GRAIN_ERROR_BUSY : GRAIN_OK);
        ENSURE(is_safe && is_held && has_text("precious", text));
        ENSURE(has_text("lock", is_new ? text : "") && !is_there("lock.part"));
    }
}
