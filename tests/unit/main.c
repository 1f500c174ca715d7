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

int main(int argument_count, char **arguments)
{
    const char *wanted = argument_count > 1 ? arguments[1] : "";
    int passed = 0, failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (const Test *test = tests; test; test = test->next) {
        char name[256];
        name_test(test, name, sizeof name);
        if (!is_wanted(name, wanted) || (test->is_heavy && !getenv("GRAIN_HEAVY"))) continue;
        failed_here = 0;
        folder[0] = 0;
        int64_t bytes_before = grain_allocated_bytes();
        clock_t began = clock();
        test->run();
        double seconds = (double)(clock() - began) / CLOCKS_PER_SEC; // of all threads
        if (!failed_here && grain_allocated_bytes() != bytes_before)
            test_fail(test->file, 0, "%lld bytes left behind", (long long)(grain_allocated_bytes() - bytes_before));
        if (folder[0] && !failed_here) portable_remove_folder(folder);
        if (failed_here)
            printf("not ok %s: %s\n", name, failure);
        else
            printf("ok %s\n", name);
        if (seconds > SLOW_SECONDS) printf("# slow: %.1f s of processor time\n", seconds);
        passed += !failed_here;
        failed += failed_here;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
