// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "grain/base.h"

/// A key and the index it belongs to.
typedef struct SortItem {
    uint64_t key;
    uint32_t value;
    uint32_t unused;
} SortItem;

/// Stable sort by the lowest key_bits of the key: as many counting sorts as there are digits of 11 bits, the last digit
/// first. The order does not depend on the number of threads. scratch has room for count items; histogram is grown as
/// needed and stays with the caller, so that sorting every step allocates nothing. The result ends up in items.
typedef struct SortScratch {
    SortItem *items;
    uint32_t *histogram;
    int64_t item_capacity, histogram_capacity;
} SortScratch;

GrainResult sort_by_key(SortItem *items, int64_t count, int key_bits, SortScratch *scratch, int threads);
void sort_scratch_free(SortScratch *scratch);
