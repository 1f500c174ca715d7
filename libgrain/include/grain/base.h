// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Results, errors, memory and versions: what every other header of libgrain stands on.
/// Units are SI throughout. Paths are UTF-8. No call prints, exits or aborts.
#include <stdint.h>

#if defined(__GNUC__) && !defined(_WIN32)
#define GRAIN_API __attribute__((visibility("default")))
#elif defined(_WIN32) && defined(GRAIN_BUILDING)
#define GRAIN_API __declspec(dllexport)
#else
#define GRAIN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Raised by any change of a public struct's layout or of a field's meaning. The add-on refuses another number.
#define GRAIN_ABI_VERSION 2
GRAIN_API uint32_t grain_abi_version(void);
/// "0.1.0". Never NULL.
GRAIN_API const char *grain_version(void);
/// sizeof a public struct as this library was compiled, 0 for an unknown name. ctypes compares all of them at load.
GRAIN_API uint32_t grain_struct_size(const char *type_name);
/// The instruction set the kernels run on: "avx512", "avx2", "sse2", "neon" or "plain". Results do not depend on it.
GRAIN_API const char *grain_instruction_set(void);

typedef enum GrainResult {
    GRAIN_OK = 0,
    GRAIN_CANCELLED = 1,         ///< Asked for by a callback. Objects stay valid and hold their last whole step.
    GRAIN_ERROR_ARGUMENT = -1,   ///< A def or array is out of range; the text names field, value and range.
    GRAIN_ERROR_ABI = -2,        ///< struct_size differs: caller and library are of different builds.
    GRAIN_ERROR_MEMORY = -3,     ///< The text gives the number of bytes asked for.
    GRAIN_ERROR_MESH = -4,       ///< A mesh nothing can be made of; the text names the object and the remedy.
    GRAIN_ERROR_IO = -5,         ///< A file or folder; the text names the path and what the system said.
    GRAIN_ERROR_DIVERGED = -6,   ///< A non-finite value appeared; the text names particle, time and remedy.
    GRAIN_ERROR_JOB = -7,        ///< A job that cannot be read; the text names the key, the value and what is allowed.
    GRAIN_ERROR_DAMAGED = -8,    ///< A cache file whose checksum, size or header is wrong; the text names it.
    GRAIN_ERROR_OTHER_JOB = -9,  ///< The cache was baked from other settings.
    GRAIN_ERROR_BUSY = -10,      ///< Another process is writing to this cache.
    GRAIN_ERROR_DISK_FULL = -11, ///< No space left. What was baked before is whole.
} GrainResult;

/// What the last failing call on this thread said. Never NULL. Valid until this thread's next failing call.
GRAIN_API const char *grain_last_error(void);

/// Replaces malloc for everything libgrain allocates. release gets the bytes asked for.
typedef struct GrainAllocator {
    void *(*allocate)(void *user, uint64_t bytes, uint64_t alignment); ///< NULL refuses
    void (*release)(void *user, void *memory, uint64_t bytes);
    void *user;
} GrainAllocator;
/// NULL goes back to the system's. Refused (GRAIN_ERROR_ARGUMENT) while anything is allocated.
GRAIN_API GrainResult grain_set_allocator(const GrainAllocator *allocator);
/// Bytes held by libgrain in this process now, and the most it ever held.
GRAIN_API int64_t grain_allocated_bytes(void);
GRAIN_API int64_t grain_allocated_peak(void);

typedef enum GrainType { GRAIN_F32 = 0, GRAIN_I32 = 1, GRAIN_F64 = 2, GRAIN_I64 = 3 } GrainType;

/// Read-only window on one array. Valid until its owner is destroyed.
typedef struct GrainView {
    const void *data;
    int64_t count;
    int32_t components; ///< 1 to 16 values to an element
    int32_t type;       ///< GrainType
} GrainView;

#ifdef __cplusplus
}
#endif
