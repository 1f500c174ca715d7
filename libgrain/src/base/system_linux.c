// SPDX-License-Identifier: GPL-3.0-or-later
// What Linux does in its own way; the rest is in system_posix.c.
#include "base/system.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICENESS 10 // between a program's interface and a bake, which the add-on gives 15

// --- memory -------------------------------------------------------------------------------------

// In a container the limit of its control group counts, where there is one.
static int64_t group_limit(void)
{
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
    long long limit = 0, used = 0;
    if (!file) return INT64_MAX;
    int known = fscanf(file, "%lld", &limit) == 1;
    fclose(file);
    file = known ? fopen("/sys/fs/cgroup/memory.current", "r") : NULL;
    if (!file) return INT64_MAX;
    known = fscanf(file, "%lld", &used) == 1;
    fclose(file);
    return known ? limit > used ? limit - used : 0 : INT64_MAX;
}

static int64_t machine_has(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    if (file) {
        char line[128];
        long long kilobytes = -1;
        while (fgets(line, sizeof line, file) && kilobytes < 0)
            if (strncmp(line, "MemAvailable:", 13) == 0 && sscanf(line + 13, "%lld", &kilobytes) != 1) kilobytes = -1;
        fclose(file);
        if (kilobytes >= 0) return kilobytes * 1024;
    }
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (int64_t)pages * bytes : INT64_MAX;
}

int64_t system_memory_available(void)
{
    int64_t group = group_limit(), machine = machine_has();
    return group < machine ? group : machine;
}

void *system_map(uint64_t bytes)
{
    uint64_t room = bytes + SYSTEM_LARGE_PAGE;
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    // Cut down to what starts at a large page.
    uint64_t front = (SYSTEM_LARGE_PAGE - (uintptr_t)memory % SYSTEM_LARGE_PAGE) % SYSTEM_LARGE_PAGE;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = (front + bytes + page - 1) / page * page;
    if (front > 0) munmap(memory, front);
    if (room > end) munmap(memory + end, room - end);
    // A wish; without it the memory is as good.
    madvise(memory + front, bytes & ~(SYSTEM_LARGE_PAGE - 1), MADV_HUGEPAGE);
    return memory + front;
}

void system_unmap(void *memory, uint64_t bytes) { munmap(memory, bytes); }

// --- libraries ----------------------------------------------------------------------------------

void *system_library_find(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }

// --- threads ------------------------------------------------------------------------------------

int system_core_count(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 0) return CPU_COUNT(&cores);
    long online = sysconf(_SC_NPROCESSORS_ONLN); // more cores than the set has room for
    return online > 0 ? (int)online : 1;
}

// A thread has a priority of its own here; where it may not be changed, they compete.
void system_thread_yields(void) { (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS); }
