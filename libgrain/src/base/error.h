// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "grain/base.h"

#include <stddef.h>

/// Format strings are C's on every system: MinGW's plain "printf" means Microsoft's.
#ifdef __clang__
#define LIKE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define LIKE_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#endif

/// Stores the text for grain_last_error on this thread and returns code, so that `return fail(...)` reads well.
/// Name the object, the value and the remedy.
GrainResult fail(GrainResult code, const char *format, ...) LIKE_PRINTF(2, 3);

/// The last text stored on this thread.
const char *error_text(void);

/// Prepends context to the last text ("object 'Tray': ...") and returns code.
GrainResult fail_within(GrainResult code, const char *format, ...) LIKE_PRINTF(2, 3);

/// Returns if the call fails.
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        GrainResult try_result = (call);                                                                               \
        if (try_result != GRAIN_OK) return try_result;                                                                 \
    } while (0)

/// The check every function with a sized struct starts with.
#define CHECK_STRUCT(pointer, Type)                                                                                    \
    do {                                                                                                               \
        if ((pointer) == NULL) return fail(GRAIN_ERROR_ARGUMENT, #Type " is NULL");                                    \
        if ((pointer)->struct_size != sizeof(Type))                                                                    \
            return fail(GRAIN_ERROR_ABI, #Type " has %u bytes here and %u at the caller: rebuild or reinstall both",   \
                        (unsigned)sizeof(Type), (unsigned)(pointer)->struct_size);                                     \
    } while (0)

/// The check every _def_default starts with; clears the struct and stamps its size.
#define BEGIN_DEFAULT(pointer, size, Type)                                                                             \
    do {                                                                                                               \
        if ((pointer) == NULL) return fail(GRAIN_ERROR_ARGUMENT, #Type " is NULL");                                    \
        if ((size) != sizeof(Type))                                                                                    \
            return fail(GRAIN_ERROR_ABI, #Type " has %u bytes here and %u at the caller: rebuild or reinstall both",   \
                        (unsigned)sizeof(Type), (unsigned)(size));                                                     \
        *(pointer) = (Type){.struct_size = sizeof(Type)};                                                              \
    } while (0)
