// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A folder for targets whose input is a file. Whatever cannot be done there ends the process.
#include <stddef.h>

/// Made by the first call, and removed with the files in it when the process ends.
const char *fuzz_folder(void);
/// The path of a name in it.
void fuzz_path(const char *name, char path[300]);
void fuzz_write(const char *name, const void *data, size_t size);
/// The first `capacity` bytes, or all of fewer.
size_t fuzz_read(const char *name, void *data, size_t capacity);
