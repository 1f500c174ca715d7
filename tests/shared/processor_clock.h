// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <time.h>

/// Seconds of processor time that all threads of this program have used: what others do on the machine does not count.
static inline double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
