// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The C tests' own few macros. A test is a function registered by TEST; it runs to its first failed ENSURE.
///
///     TEST(sphere_falls) { ENSURE_NEAR(height, 0.5, 1e-3); }
///
/// Each test must leave no memory behind: main checks the byte count after each.
#include "base/error.h"
#include <stdint.h>
#include <stdio.h>

/// What decides whether a test runs. A build with a sanitizer is many times slower: it runs every test of unit/, and of
/// physics/ those that are marked for it.
typedef enum TestMark {
    TEST_HEAVY = 1,   ///< takes minutes: runs only with `./build.sh test --heavy`
    TEST_ADDRESS = 2, ///< of physics/: also runs under the address sanitizer
    TEST_THREADS = 4, ///< of physics/: also runs under the thread sanitizer
} TestMark;

typedef void TestFn(void);
typedef struct Test {
    const char *file, *name;
    TestFn *run;
    int marks; ///< of TestMark
    struct Test *next;
} Test;

void test_register(Test *test);
/// Notes the failure; the macros then return from the test.
void test_fail(const char *file, int line, const char *format, ...) LIKE_PRINTF(3, 4);
/// Notes why this test cannot run here; SKIP then returns from it.
void test_skip(const char *reason);
/// Whether this test has failed already: for one that runs many cases.
int test_has_failed(void);
/// Whether tests may take minutes: GRAIN_HEAVY is set, and not to 0.
int test_is_heavy(void);
/// A fresh folder for this test, removed when the test passes.
const char *test_folder(void);

#define MARKED_TEST(name, marks)                                                                                       \
    static void test_##name(void);                                                                                     \
    __attribute__((constructor)) static void register_##name(void)                                                     \
    {                                                                                                                  \
        static Test test = {__FILE__, #name, test_##name, marks, 0};                                                   \
        test_register(&test);                                                                                          \
    }                                                                                                                  \
    static void test_##name(void)
#define TEST(name) MARKED_TEST(name, 0)
#define HEAVY_TEST(name) MARKED_TEST(name, TEST_HEAVY)

/// For a test that has nothing to test on this machine.
#define SKIP(reason)                                                                                                   \
    do {                                                                                                               \
        test_skip(reason);                                                                                             \
        return;                                                                                                        \
    } while (0)

#define ENSURE(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            test_fail(__FILE__, __LINE__, "%s", #condition);                                                           \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

#define ENSURE_OK(call)                                                                                                \
    do {                                                                                                               \
        int ensure_result = (int)(call);                                                                               \
        if (ensure_result != 0) {                                                                                      \
            test_fail(__FILE__, __LINE__, "%s gave %d: %s", #call, ensure_result, grain_last_error());                 \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

#define ENSURE_NEAR(value, expected, tolerance)                                                                        \
    do {                                                                                                               \
        double ensure_value = (double)(value), ensure_expected = (double)(expected);                                   \
        double ensure_off = ensure_value - ensure_expected;                                                            \
        if (!((ensure_off < 0 ? -ensure_off : ensure_off) <= (double)(tolerance))) {                                   \
            test_fail(__FILE__, __LINE__, "%s is %.9g, expected %.9g within %.3g", #value, ensure_value,               \
                      ensure_expected, (double)(tolerance));                                                           \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

#define ENSURE_EQUAL(value, expected)                                                                                  \
    do {                                                                                                               \
        long long ensure_value = (long long)(value), ensure_expected = (long long)(expected);                          \
        if (ensure_value != ensure_expected) {                                                                         \
            test_fail(__FILE__, __LINE__, "%s is %lld, expected %lld", #value, ensure_value, ensure_expected);         \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

/// The call fails with this code, and the text for the artist holds this word.
#define ENSURE_FAILS(call, code, word)                                                                                 \
    do {                                                                                                               \
        int ensure_result = (int)(call);                                                                               \
        if (ensure_result != (int)(code) || !strstr(grain_last_error(), word)) {                                       \
            test_fail(__FILE__, __LINE__, "%s gave %d (expected %d, text with '%s'): %s", #call, ensure_result,        \
                      (int)(code), word, grain_last_error());                                                          \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)
