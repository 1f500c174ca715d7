// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Options of long calls: threads, progress, cancelling.
#include "grain/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The only return value that continues. Any other value cancels, so that a callback that fails stops the work.
#define GRAIN_CONTINUE 1
typedef int32_t GrainProgressFn(void *user, const char *stage, float fraction);

/// Options of every long call. NULL: all cores, no progress. Results do not depend on thread_count.
typedef struct GrainRun {
    uint32_t struct_size;
    int32_t thread_count; ///< 0 uses all cores; at most 1024.
    GrainProgressFn
        *progress; ///< Called on the caller's thread only, between parallel regions, at most 20 times a second.
    void *user;
} GrainRun;

#ifdef __cplusplus
}
#endif
