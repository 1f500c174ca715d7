// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/system.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <stdlib.h>
#include <string.h>

TEST(blocks_are_aligned_counted_and_returned)
{
    int64_t before = grain_allocated_bytes();
    float *block = ALLOC(float, 1000);
    ENSURE(block && (uintptr_t)block % ALLOC_ALIGNMENT == 0);
    ENSURE(grain_allocated_bytes() >= before + 4000);
    ENSURE(grain_allocated_peak() >= grain_allocated_bytes());
    alloc_free(block);
    ENSURE_EQUAL(grain_allocated_bytes(), before);
    alloc_free(NULL);
}

TEST(sizes_that_overflow_are_refused)
{
    ENSURE(!alloc_array(INT64_MAX, 16));
    ENSURE(strstr(grain_last_error(), "larger than any memory"));
    ENSURE(!alloc_array(-1, 4));
    ENSURE(!alloc_array(INT64_MAX - 100, 1));
}

TEST(growing_keeps_the_contents)
{
    int *values = NULL;
    int64_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        ENSURE_OK(alloc_grow((void **)&values, &capacity, i + 1, sizeof *values));
        values[i] = i;
    }
    int intact = 1;
    for (int i = 0; i < 1000; i++) intact &= values[i] == i;
    alloc_free(values);
    ENSURE(intact);
}

typedef struct Counter {
    int calls, refuse_from;
} Counter;

static void *counting_allocate(void *user, uint64_t bytes, uint64_t alignment)
{
    Counter *counter = user;
    return counter->calls++ >= counter->refuse_from ? NULL : system_allocate(bytes, alignment);
}

static void counting_release(void *user, void *memory, uint64_t bytes)
{
    (void)user, (void)bytes;
    system_free(memory);
}

TEST(hook_sees_and_may_refuse_every_allocation)
{
    Counter counter = {0, 1};
    GrainAllocator allocator = {counting_allocate, counting_release, &counter};
    ENSURE_OK(grain_set_allocator(&allocator));
    void *first = alloc_array(10, 4), *second = alloc_array(10, 4);
    GrainResult refused = grain_set_allocator(NULL); // while a block is held
    alloc_free(first);
    ENSURE_OK(grain_set_allocator(NULL));
    ENSURE(first && !second && refused == GRAIN_ERROR_ARGUMENT);
    ENSURE_EQUAL(counter.calls, 2);
}

TEST(arrays_that_grow_together_agree_when_memory_runs_out)
{
    Counter counter = {0, 100};
    GrainAllocator allocator = {counting_allocate, counting_release, &counter};
    ENSURE_OK(grain_set_allocator(&allocator));
    int32_t *numbers = NULL, *starts = NULL;
    const AllocGrown all[] = {{&numbers, sizeof *numbers, 0}, {&starts, sizeof *starts, 1}};
    int64_t capacity = 0;
    GrainResult first = alloc_grow_all(all, 2, &capacity, 10);
    int is_roomy = capacity == 10;
    for (int i = 0; i < 10; i++) numbers[i] = starts[i] = i;
    starts[10] = 10;
    counter.refuse_from = counter.calls + 1; // the second array
    GrainResult refused = alloc_grow_all(all, 2, &capacity, 100);
    int is_kept = capacity == 10 && numbers[9] == 9 && starts[10] == 10;
    counter.refuse_from = 100;
    GrainResult second = alloc_grow_all(all, 2, &capacity, 100);
    int has_grown = capacity == 100 && numbers[9] == 9 && starts[10] == 10;
    alloc_free(numbers), alloc_free(starts);
    ENSURE_OK(grain_set_allocator(NULL));
    ENSURE(first == GRAIN_OK && is_roomy && refused == GRAIN_ERROR_MEMORY && is_kept);
    ENSURE(second == GRAIN_OK && has_grown);
}
