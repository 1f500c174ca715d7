// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "grain/base.h"
#include <stddef.h>

/// Bytes held now, and the most ever held.
int64_t alloc_bytes(void);
int64_t alloc_peak(void);
/// Where memory comes from, from now on; NULL: the system. Only while nothing is held.
void alloc_replace(const GrainAllocator *allocator);

/// Every block starts on a cache line, which is also the widest vector.
#define ALLOC_ALIGNMENT 64

/// count elements of size bytes each, not cleared. NULL with the error text set when memory is short or the product
/// overflows. Zero elements give a block that may be freed. A vector may be loaded from any element: what lies behind
/// the last one, up to 64 bytes, can be read but means nothing.
void *alloc_array(int64_t count, size_t size);
/// The same, filled with zeros.
void *alloc_zeroed(int64_t count, size_t size);
/// Accepts NULL.
void alloc_free(void *memory);

#define ALLOC(Type, count) ((Type *)alloc_array((count), sizeof(Type)))
#define ALLOC_ZEROED(Type, count) ((Type *)alloc_zeroed((count), sizeof(Type)))

/// Makes room for at least `needed` elements in a growing array, by half its size at least. The old contents stay.
GrainResult alloc_grow(void **memory, int64_t *capacity, int64_t needed, size_t size);

/// An array that grows together with others.
typedef struct AllocGrown {
    void *array;  ///< address of the pointer to it
    size_t size;  ///< of an element
    int64_t more; ///< elements it has beyond the capacity that they share
} AllocGrown;
/// Makes room in all of them for `needed` elements. *capacity is what all have afterwards, and stays valid on failure.
GrainResult alloc_grow_all(const AllocGrown *all, int count, int64_t *capacity, int64_t needed);
