// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static int64_t system_available(void)
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

int64_t memory_available(void)
{
    int64_t group = group_limit(), system = system_available();
    return group < system ? group : system;
}
