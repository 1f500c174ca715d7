// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the C tests: all, or those whose "file:name" holds the text given. One line for each test, read by tests/run.py.
#include "grain/grain.h"
#include "shared/portable.h"
#include "unit/test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// A test that takes longer says so: the whole suite is to stay under two minutes.
#define SLOW_SECONDS 2.0

static Test *tests;
static int failed_here;
static const char *skipped_here; // why, or NULL
static char failure[4096], folder[256];

void test_register(Test *test)
{
    // Sorted by file and name, so that the order does not depend on the linker.
    Test **place = &tests;
    while (*place && (strcmp((*place)->file, test->file) < 0 ||
                      (strcmp((*place)->file, test->file) == 0 && strcmp((*place)->name, test->name) < 0)))
        place = &(*place)->next;
    test->next = *place;
    *place = test;
}

void test_fail(const char *file, int line, const char *format, ...)
{
    failed_here = 1;
    const char *base = strrchr(file, '/');
    int used = snprintf(failure, sizeof failure, "%s:%d: ", base ? base + 1 : file, line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure + used, sizeof failure - (size_t)used, format, arguments);
    va_end(arguments);
}

void test_skip(const char *reason) { skipped_here = reason; }

int test_has_failed(void) { return failed_here; }

int test_is_heavy(void)
{
    const char *value = getenv("GRAIN_HEAVY");
    return value && value[0] && strcmp(value, "0") != 0;
}

const char *test_folder(void)
{
    if (folder[0]) return folder;
    if (!portable_make_folder(folder, sizeof folder)) {
        perror(folder);
        exit(1);
    }
    return folder;
}

// "folder/file:name": unit/test_sort:..., physics/test_dem_pile:...
static void name_test(const Test *test, char *name, size_t size)
{
    const char *file = strrchr(test->file, '/');
    while (file && file > test->file && file[-1] != '/') file--;
    if (!file) file = test->file;
    snprintf(name, size, "%.*s:%s", (int)(strlen(file) - 2), file, test->name);
}

// Whether the name holds one of the words, which '|' separates.
static int is_wanted(const char *name, const char *words)
{
    for (;;) {
        size_t length = strcspn(words, "|");
        for (const char *at = name; strlen(at) >= length; at++)
            if (strncmp(at, words, length) == 0) return 1;
        if (words[length] == 0) return 0;
        words += length + 1;
    }
}

// Why a test is left out of this run; NULL: it is not.
static const char *reason_to_skip(const Test *test, const char *name)
{
    int is_physics = strncmp(name, "physics/", 8) == 0;
    if (test->marks & TEST_HEAVY && !test_is_heavy()) return "it takes minutes; --heavy runs it";
    if (is_physics && strcmp(GRAIN_SANITIZE, "address") == 0 && !(test->marks & TEST_ADDRESS))
        return "it is not marked for the address sanitizer";
    if (is_physics && strcmp(GRAIN_SANITIZE, "thread") == 0 && !(test->marks & TEST_THREADS))
        return "it is not marked for the thread sanitizer";
    return NULL;
}

static void run_test(const Test *test)
{
    failed_here = 0;
    skipped_here = NULL;
    folder[0] = 0;
    int64_t bytes_before = grain_allocated_bytes();
    test->run();
    if (!failed_here && grain_allocated_bytes() != bytes_before)
        test_fail(test->file, 0, "%lld bytes left behind", (long long)(grain_allocated_bytes() - bytes_before));
    if (folder[0] && !failed_here) portable_remove_folder(folder);
}

int main(int argument_count, char **arguments)
{
    const char *wanted = argument_count > 1 ? arguments[1] : "";
    int passed = 0, failed = 0, skipped = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (const Test *test = tests; test; test = test->next) {
        char name[256];
        name_test(test, name, sizeof name);
        if (!is_wanted(name, wanted)) continue;
        clock_t began = clock();
        const char *reason = reason_to_skip(test, name);
        if (!reason) run_test(test), reason = failed_here ? NULL : skipped_here;
        double seconds = (double)(clock() - began) / CLOCKS_PER_SEC; // of all threads
        int has_failed = !reason && failed_here;
        if (reason)
            printf("skip %s: %s\n", name, reason);
        else if (has_failed)
            printf("not ok %s: %s\n", name, failure);
        else
            printf("ok %s\n", name);
        if (seconds > SLOW_SECONDS) printf("# slow: %.1f s of processor time\n", seconds);
        failed += has_failed, skipped += reason != NULL, passed += !reason && !has_failed;
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed > 0;
}
