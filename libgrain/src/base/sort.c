// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/sort.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGIT_COUNT (1 << DIGIT_BITS)
// A histogram of 2048 digits is worth counting for some thousand items, not for fewer.
#define SORT_BLOCK 16384

static inline uint32_t digit_of(const SortItem *item, int shift)
{
    return (uint32_t)(item->key >> shift) & (DIGIT_COUNT - 1);
}

// One counting sort from `from` to `to`. histogram[block][digit] first holds counts, then where the block's items of
// that digit go: blocks keep their order inside a digit, which makes it stable and independent of threads.
static void sort_by_digit(const SortItem *from, SortItem *to, int64_t count, int shift, uint32_t *histogram,
                          int threads)
{
    int64_t block_count = parallel_block_count(count, SORT_BLOCK);
    PARALLEL_BLOCKS(threads, block, block_count)
    {
        uint32_t *counts = histogram + block * DIGIT_COUNT;
        memset(counts, 0, DIGIT_COUNT * sizeof *counts);
        int64_t end = parallel_block_end(block, SORT_BLOCK, count);
        for (int64_t i = block * SORT_BLOCK; i < end; i++) counts[digit_of(&from[i], shift)]++;
    }
    uint32_t place = 0;
    for (int digit = 0; digit < DIGIT_COUNT; digit++) {
        for (int64_t block = 0; block < block_count; block++) {
            uint32_t *slot = &histogram[block * DIGIT_COUNT + digit];
            uint32_t items = *slot;
            *slot = place;
            place += items;
        }
    }
    PARALLEL_BLOCKS(threads, block, block_count)
    {
        uint32_t *places = histogram + block * DIGIT_COUNT;
        int64_t end = parallel_block_end(block, SORT_BLOCK, count);
        for (int64_t i = block * SORT_BLOCK; i < end; i++) to[places[digit_of(&from[i], shift)]++] = from[i];
    }
}

GrainResult sort_by_key(SortItem *items, int64_t count, int key_bits, SortScratch *scratch, int threads)
{
    int64_t histogram_size = parallel_block_count(count, SORT_BLOCK) * DIGIT_COUNT;
    TRY(alloc_grow((void **)&scratch->items, &scratch->item_capacity, count, sizeof(SortItem)));
    TRY(alloc_grow((void **)&scratch->histogram, &scratch->histogram_capacity, histogram_size, sizeof(uint32_t)));
    SortItem *from = items, *to = scratch->items;
    for (int shift = 0; shift < key_bits; shift += DIGIT_BITS) {
        sort_by_digit(from, to, count, shift, scratch->histogram, threads);
        SortItem *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, (size_t)count * sizeof(SortItem));
    return GRAIN_OK;
}

void sort_scratch_free(SortScratch *scratch)
{
    alloc_free(scratch->items);
    alloc_free(scratch->histogram);
    *scratch = (SortScratch){0};
}
