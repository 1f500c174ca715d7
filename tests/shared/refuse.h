// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Every allocation may fail: something is run with its first allocation refused, then with its second, until it needs
/// no more.
#include "grain/grain.h"

typedef GrainResult RefusedFn(void *user);
/// Each time but the last it must give GRAIN_ERROR_MEMORY, then GRAIN_OK, and leave nothing behind; otherwise the test
/// fails. step: 1 refuses each, 7 every seventh. least: how many must have been refused, or nothing was tested.
void refuse_each_allocation(RefusedFn *run, void *user, int step, int least);
