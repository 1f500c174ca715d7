// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/system.h"

#include <stdatomic.h>
#include <string.h>

// In front of every block: its size, for the byte count, the allocator's release and alloc_grow's copy.
typedef struct AllocHeader {
    uint64_t bytes;
} AllocHeader;

// Large blocks straight from the system and straight back: malloc keeps what it was given back, and stages that follow
// each other would then hold all their arrays at once. On pages of 2 MB where the system has them to give: a distance
// field of 180 MB costs 90 page faults then instead of 45,000, a tenth of the time it takes to make.
#define LARGE (2 * SYSTEM_LARGE_PAGE)

static void *allocate_from_system(void *user, uint64_t bytes, uint64_t alignment)
{
    (void)user;
    return bytes >= LARGE ? system_map(bytes) : system_allocate(bytes, alignment);
}

static void release_to_system(void *user, void *memory, uint64_t bytes)
{
    (void)user;
    if (bytes >= LARGE)
        system_unmap(memory, bytes);
    else
        system_free(memory);
}

static GrainAllocator allocator = {allocate_from_system, release_to_system, NULL};
static _Atomic int64_t allocated_bytes, allocated_peak;

int64_t alloc_bytes(void) { return allocated_bytes; }

int64_t alloc_peak(void) { return allocated_peak; }

void alloc_replace(const GrainAllocator *replacement)
{
    allocator = replacement ? *replacement : (GrainAllocator){allocate_from_system, release_to_system, NULL};
}

static AllocHeader *header_of(void *memory) { return (AllocHeader *)((char *)memory - ALLOC_ALIGNMENT); }

void *alloc_array(int64_t count, size_t size)
{
    uint64_t payload, bytes;
    // The header's line, the payload in whole lines, and one line more that a vector load at the end may touch.
    if (count < 0 || __builtin_mul_overflow((uint64_t)count, (uint64_t)size, &payload) ||
        __builtin_add_overflow(payload, 3 * (uint64_t)ALLOC_ALIGNMENT - 1, &bytes) || bytes > INT64_MAX) {
        fail(GRAIN_ERROR_MEMORY, "an array of %lld elements of %zu bytes is larger than any memory", (long long)count,
             size);
        return NULL;
    }
    bytes &= ~(uint64_t)(ALLOC_ALIGNMENT - 1);
    char *block = allocator.allocate(allocator.user, bytes, ALLOC_ALIGNMENT);
    if (!block) {
        fail(GRAIN_ERROR_MEMORY,
             "not enough memory for %.1f MB more (%.1f MB in use): use larger particles or voxels, or close other "
             "programs",
             (double)bytes / 1e6, (double)allocated_bytes / 1e6);
        return NULL;
    }
    ((AllocHeader *)block)->bytes = bytes;
    int64_t now = atomic_fetch_add(&allocated_bytes, (int64_t)bytes) + (int64_t)bytes;
    int64_t peak = allocated_peak;
    while (now > peak && !atomic_compare_exchange_weak(&allocated_peak, &peak, now)) {}
    return block + ALLOC_ALIGNMENT;
}

void *alloc_zeroed(int64_t count, size_t size)
{
    void *memory = alloc_array(count, size);
    if (memory) memset(memory, 0, (size_t)count * size);
    return memory;
}

void alloc_free(void *memory)
{
    if (!memory) return;
    AllocHeader *header = header_of(memory);
    uint64_t bytes = header->bytes;
    atomic_fetch_sub(&allocated_bytes, (int64_t)bytes);
    allocator.release(allocator.user, header, bytes);
}

GrainResult alloc_grow(void **memory, int64_t *capacity, int64_t needed, size_t size)
{
    if (needed <= *capacity) return GRAIN_OK;
    int64_t larger = *capacity + *capacity / 2;
    if (larger < needed) larger = needed;
    void *grown = alloc_array(larger, size);
    if (!grown) return GRAIN_ERROR_MEMORY;
    if (*memory) memcpy(grown, *memory, (size_t)*capacity * size);
    alloc_free(*memory);
    *memory = grown;
    *capacity = larger;
    return GRAIN_OK;
}

GrainResult alloc_grow_all(const AllocGrown *all, int count, int64_t *capacity, int64_t needed)
{
    if (needed <= *capacity) return GRAIN_OK;
    int64_t shared = INT64_MAX;
    for (int i = 0; i < count; i++) {
        int64_t room = *capacity > 0 ? *capacity + all[i].more : 0;
        TRY(alloc_grow(all[i].array, &room, needed + all[i].more, all[i].size));
        int64_t reached = room - all[i].more;
        shared = reached < shared ? reached : shared;
    }
    *capacity = shared;
    return GRAIN_OK;
}
