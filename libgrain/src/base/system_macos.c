// SPDX-License-Identifier: GPL-3.0-or-later
// What macOS does in its own way; the rest is in system_posix.c.
#include "base/system.h"

#include <mach/mach.h>
#include <pthread/qos.h>
#include <sys/mman.h>
#include <unistd.h>

// --- memory -------------------------------------------------------------------------------------

int64_t system_memory_available(void)
{
    vm_statistics64_data_t found;
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    host_t host = mach_host_self();
    kern_return_t result = host_statistics64(host, HOST_VM_INFO64, (host_info64_t)&found, &count);
    mach_port_deallocate(mach_task_self(), host);
    if (result != KERN_SUCCESS) return INT64_MAX;
    // Inactive pages hold what can be read again or is swapped first.
    uint64_t pages = (uint64_t)found.free_count + found.inactive_count + found.purgeable_count;
    return (int64_t)(pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

void *system_map(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void system_unmap(void *memory, uint64_t bytes) { munmap(memory, bytes); }

// --- libraries ----------------------------------------------------------------------------------

void *system_library_find(const char *name) { return (void)name, NULL; }

// --- threads ------------------------------------------------------------------------------------

int system_core_count(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

void system_thread_yields(void) { pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0); }
