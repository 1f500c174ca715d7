// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/rng.h"
#include "base/sort.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <string.h>

TEST(sort_is_stable_and_alike_for_any_thread_count)
{
    enum { COUNT = 70001 }; // several blocks, the last one not full
    SortItem *items = ALLOC(SortItem, COUNT), *first = ALLOC(SortItem, COUNT);
    SortScratch scratch = {0};
    int ordered = 1, alike = 1;
    for (int threads = 1; threads <= 4; threads++) {
        for (uint32_t i = 0; i < COUNT; i++)
            items[i] = (SortItem){rng_at(1, i, RNG_STREAM_TEST, 0).word[0] % 5000, i, 0};
        ENSURE_OK(sort_by_key(items, COUNT, 13, &scratch, threads));
        for (int i = 1; i < COUNT; i++)
            ordered &= items[i - 1].key < items[i].key ||
                       (items[i - 1].key == items[i].key && items[i - 1].value < items[i].value);
        if (threads == 1) memcpy(first, items, COUNT * sizeof *items);
        alike &= memcmp(first, items, COUNT * sizeof *items) == 0;
    }
    sort_scratch_free(&scratch);
    alloc_free(items);
    alloc_free(first);
    ENSURE(ordered && alike);
}
