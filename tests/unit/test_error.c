// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <pthread.h>
#include <string.h>

TEST(text_is_kept_and_context_goes_in_front)
{
    ENSURE_EQUAL(fail(GRAIN_ERROR_MESH, "triangle %d has no area", 7), GRAIN_ERROR_MESH);
    ENSURE_EQUAL(fail_within(GRAIN_ERROR_MESH, "object '%s'", "Tray"), GRAIN_ERROR_MESH);
    ENSURE(strcmp(grain_last_error(), "object 'Tray': triangle 7 has no area") == 0);
}

TEST(long_text_is_cut_not_overrun)
{
    char name[5000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    fail(GRAIN_ERROR_IO, "%s", name);
    ENSURE(strlen(grain_last_error()) == 2047);
}

static void *fail_elsewhere(void *unused)
{
    (void)unused;
    fail(GRAIN_ERROR_IO, "elsewhere");
    return NULL;
}

TEST(each_thread_has_its_own_text)
{
    fail(GRAIN_ERROR_IO, "here");
    pthread_t thread;
    ENSURE_EQUAL(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    ENSURE(strcmp(grain_last_error(), "here") == 0);
}

TEST(struct_sizes_are_known_by_name)
{
    ENSURE_EQUAL(grain_struct_size("GrainRun"), sizeof(GrainRun));
    ENSURE_EQUAL(grain_struct_size("GrainNoSuchThing"), 0);
    ENSURE_EQUAL(grain_struct_size(NULL), 0);
    ENSURE_EQUAL(grain_abi_version(), GRAIN_ABI_VERSION);
}
