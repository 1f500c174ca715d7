// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "grain/base.h"
#include <stddef.h>

/// Bytes currently allocated, and the largest number ever.
int64_t alloc_bytes(void);
int64_t alloc_peak(void);
/// Sets the allocator; NULL: the system's. Only while nothing is allocated.
void alloc_replace(const GrainAllocator *allocator);

/// Every block starts on a cache line, which is also the widest vector.
#define ALLOC_ALIGNMENT 64

/// count elements of size bytes each, not cleared. NULL with the error text set when memory is short or the product
/// overflows. Zero elements give a block that may be freed. A vector may be loaded from any element: up to 64 bytes
/// after the last one may be read, and are undefined.
void *alloc_array(int64_t count, size_t size);
/// The same, filled with zeros.
void *alloc_zeroed(int64_t count, size_t size);
/// Accepts NULL.
void alloc_free(void *memory);

#define ALLOC(Type, count) ((Type *)alloc_array((count), sizeof(Type)))
#define ALLOC_ZEROED(Type, count) ((Type *)alloc_zeroed((count), sizeof(Type)))

/// Grows an array to at least `needed` elements, by at least half its size. Keeps its contents.
GrainResult alloc_grow(void **memory, int64_t *capacity, int64_t needed, size_t size);

/// An array that shares its capacity with others.
typedef struct AllocGrown {
    void *array;  ///< address of the pointer to it
    size_t size;  ///< of an element
    int64_t more; ///< elements beyond the shared capacity
} AllocGrown;
/// Grows all of them to `needed` elements. *capacity is the new shared capacity, and stays valid on failure.
GrainResult alloc_grow_all(const AllocGrown *all, int count, int64_t *capacity, int64_t needed);
