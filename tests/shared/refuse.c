// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/refuse.h"
#include "base/system.h"
#include "unit/test.h"

#define MOST_ALLOCATIONS 50000

typedef struct Refuser {
    int calls, refuse;
} Refuser;

static void *refusing_allocate(void *user, uint64_t bytes, uint64_t alignment)
{
    Refuser *refuser = user;
    return refuser->calls++ == refuser->refuse ? NULL : system_allocate(bytes, alignment);
}

static void refusing_release(void *user, void *memory, uint64_t bytes)
{
    (void)user, (void)bytes;
    system_free(memory);
}

void refuse_each_allocation(RefusedFn *run, void *user, int step, int least)
{
    // Outlives this call: where something leaks, the allocator cannot be changed back, and serves all later tests.
    static Refuser refuser;
    int refused = 0, asked_for_it = 1;
    for (int n = 0; asked_for_it && n < MOST_ALLOCATIONS; n += step) {
        refuser = (Refuser){0, n};
        ENSURE_OK(grain_set_allocator(&(GrainAllocator){refusing_allocate, refusing_release, &refuser}));
        GrainResult result = run(user);
        int64_t left = (int64_t)grain_allocated_bytes();
        asked_for_it = refuser.calls > n;
        if (result != (asked_for_it ? GRAIN_ERROR_MEMORY : GRAIN_OK) || left != 0) {
            test_fail(__FILE__, __LINE__, "allocation %d: result %d, %lld bytes left: %s", n, (int)result,
                      (long long)left, grain_last_error());
            grain_set_allocator(NULL);
            return;
        }
        ENSURE_OK(grain_set_allocator(NULL));
        refused += asked_for_it;
    }
    ENSURE(!asked_for_it && refused > least);
}
