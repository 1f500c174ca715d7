// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Results, errors, memory, versions and views: the basis of all other headers.
///
/// Units are SI. Paths are UTF-8. No function prints, exits or aborts. Objects belong to the caller, who returns them
/// to the matching _destroy function. An object may be used by one thread at a time, different objects by different
/// threads. Structs that begin with struct_size must have it set, by the caller or by their _def_default function.
/// Systems: Linux (x86-64, ARM64), Windows (x86-64), macOS (x86-64, ARM64).
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

/// Raised by every release that changes the layout of a public struct or the meaning of a field; a test compares the
/// layout with that of the last release. Refuse a library with another number.
#define GRAIN_ABI_VERSION 2
GRAIN_API uint32_t grain_abi_version(void);
/// For example "0.1.0".
GRAIN_API const char *grain_version(void);
/// The size of a public struct in this library, 0 for an unknown name. For bindings in other languages: compare it with
/// the size of your own declaration when loading the library.
GRAIN_API uint32_t grain_struct_size(const char *type_name);
/// The instruction set in use: "avx512", "avx2", "sse2", "neon" or "plain". Results do not depend on it.
GRAIN_API const char *grain_instruction_set(void);

typedef enum GrainResult {
    GRAIN_OK = 0,
    GRAIN_CANCELLED = 1,       ///< Requested by a callback. Objects stay valid, in the state of the last complete step.
    GRAIN_ERROR_ARGUMENT = -1, ///< An argument is out of range; the text names it, its value and the range.
    GRAIN_ERROR_ABI = -2,      ///< struct_size is wrong: caller and library come from different versions.
    GRAIN_ERROR_MEMORY = -3,   ///< Out of memory; the text gives the number of bytes requested.
    GRAIN_ERROR_MESH = -4,     ///< The mesh cannot be used; the text names the object and the remedy.
    GRAIN_ERROR_IO = -5,       ///< A file or folder; the text gives the path and the system's reason.
    GRAIN_ERROR_DIVERGED = -6, ///< The simulation became non-finite; the text names particle, time and remedy.
    GRAIN_ERROR_JOB = -7,      ///< The job is invalid; the text names the key, its value and what is allowed.
    GRAIN_ERROR_DAMAGED = -8,  ///< A cache file has a wrong checksum, size or header; the text names it.
    GRAIN_ERROR_OTHER_JOB = -9,  ///< The cache was made with other settings.
    GRAIN_ERROR_BUSY = -10,      ///< Another process is writing to this cache.
    GRAIN_ERROR_DISK_FULL = -11, ///< No space left on the disk. Everything written before is complete.
} GrainResult;

/// The text of the last error on this thread, a complete sentence. Never NULL. Valid until the next error on this
/// thread.
GRAIN_API const char *grain_last_error(void);

/// A replacement for malloc and free. `release` receives the size that was requested.
typedef struct GrainAllocator {
    void *(*allocate)(void *user, uint64_t bytes, uint64_t alignment); ///< returns NULL on failure
    void (*release)(void *user, void *memory, uint64_t bytes);
    void *user;
} GrainAllocator;
/// NULL restores the default. GRAIN_ERROR_ARGUMENT while any memory is allocated.
GRAIN_API GrainResult grain_set_allocator(const GrainAllocator *allocator);
/// Bytes allocated by libgrain in this process: now, and at most so far.
GRAIN_API int64_t grain_allocated_bytes(void);
GRAIN_API int64_t grain_allocated_peak(void);

/// The type of the numbers in an array.
typedef enum GrainType { GRAIN_F32 = 0, GRAIN_I32 = 1, GRAIN_F64 = 2, GRAIN_I64 = 3 } GrainType;

/// A read-only view of an array that belongs to an object. Valid until the object is destroyed or changed.
typedef struct GrainView {
    const void *data;
    int64_t count;
    int32_t components; ///< numbers per element, 1 to 64
    int32_t type;       ///< GrainType
} GrainView;

#ifdef __cplusplus
}
#endif
