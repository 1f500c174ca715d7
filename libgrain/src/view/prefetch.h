// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A thread that reads frames before they are needed (grain/view.h). Arguments are checked by the caller.
#include "grain/view.h"

GrainResult prefetch_create(GrainPrefetch **out);
void prefetch_destroy(GrainPrefetch *prefetch);
GrainResult prefetch_add(GrainPrefetch *prefetch, const GrainPrefetchDef *def, int64_t *number);
int prefetch_drop(GrainPrefetch *prefetch, int64_t number);
int prefetch_is_done(GrainPrefetch *prefetch, int64_t number);
GrainResult prefetch_finish(GrainPrefetch *prefetch, int64_t number, GrainPrefetchPoints *points);
/// The memory for the column of this name; NULL where the def has none.
void *prefetch_column(const GrainPrefetchDef *def, const char *name);
