// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// In front of every block: its size, for the byte count, the allocator's release and alloc_grow's copy.
typedef struct AllocHeader {
    uint64_t bytes;
} AllocHeader;

// Large blocks straight from the system and straight back: malloc keeps what it was given back, and stages that follow
// each other would then hold all their arrays at once. On pages of 2 MB where the system has them to give: a distance
// field of 180 MB costs 90 page faults then instead of 45,000, a tenth of the time it takes to make.
#define HUGE_PAGE ((uint64_t)2 << 20)
#define LARGE (2 * HUGE_PAGE)

static void *map_large(uint64_t bytes)
{
    uint64_t room = bytes + HUGE_PAGE;
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    // Cut down to what starts at a large page.
    uint64_t front = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = (front + bytes + page - 1) / page * page;
    if (front > 0) munmap(memory, front);
    if (room > end) munmap(memory + end, room - end);
#ifdef MADV_HUGEPAGE
    madvise(memory + front, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE); // a wish; without it the memory is as good
#endif
    return memory + front;
}

static void *system_allocate(void *user, uint64_t bytes, uint64_t alignment)
{
    (void)user;
    return bytes >= LARGE ? map_large(bytes) : aligned_alloc(alignment, bytes);
}

static void system_release(void *user, void *memory, uint64_t bytes)
{
    (void)user;
    if (bytes >= LARGE)
        munmap(memory, bytes);
    else
        free(memory);
}

static GrainAllocator allocator = {system_allocate, system_release, NULL};
static _Atomic int64_t allocated_bytes, allocated_peak;

GrainResult grain_set_allocator(const GrainAllocator *replacement)
{
    if (allocated_bytes != 0)
        return fail(GRAIN_ERROR_ARGUMENT, "the allocator cannot be changed while %lld bytes are in use",
                    (long long)allocated_bytes);
    if (replacement && (!replacement->allocate || !replacement->release))
        return fail(GRAIN_ERROR_ARGUMENT, "GrainAllocator needs both allocate and release");
    allocator = replacement ? *replacement : (GrainAllocator){system_allocate, system_release, NULL};
    return GRAIN_OK;
}

int64_t grain_allocated_bytes(void) { return allocated_bytes; }

int64_t grain_allocated_peak(void) { return allocated_peak; }

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
