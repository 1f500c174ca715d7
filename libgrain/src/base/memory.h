// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <stdint.h>

/// Bytes this process could still use without the system running short; INT64_MAX where nobody knows.
int64_t memory_available(void);
