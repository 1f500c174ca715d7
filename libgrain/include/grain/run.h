// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Options shared by all long calls: threads, progress, messages, cancelling.
#include "grain/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A progress callback returns exactly this value to continue. Any other value cancels the call, so a callback that
/// fails (a Python exception, for example) stops the work instead of being ignored.
#define GRAIN_CONTINUE 1

/// `stage` names the current step, `fraction` runs from 0 to 1. Called on the caller's thread, at most 20 times a
/// second.
typedef int32_t GrainProgressFn(void *user, const char *stage, float fraction);

/// One finding, as a complete sentence: a damaged file, for example. Called on the caller's thread; `text` is valid
/// during the call.
typedef void GrainMessageFn(void *user, const char *text);

/// Passing NULL instead of a GrainRun means: all cores, no callbacks. Results never depend on thread_count.
typedef struct GrainRun {
    uint32_t struct_size;
    int32_t thread_count;      ///< 0 uses all cores; at most 1024.
    GrainProgressFn *progress; ///< May be NULL.
    void *user;                ///< Passed to both callbacks.
    GrainMessageFn *message;   ///< May be NULL.
} GrainRun;

#ifdef __cplusplus
}
#endif
