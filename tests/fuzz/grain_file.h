// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Plain .grain files as fuzz targets forge them: an input is a file, or changes to one that Grain wrote.
#include "output/column_file.h"

#define GRAIN_FILE_MOST 200000
typedef struct GrainFileBytes {
    size_t size;
    uint8_t data[GRAIN_FILE_MOST];
} GrainFileBytes;

/// The file of this name (folder.h), as a template for changes; ends the process if it is too long.
void grain_file_take(const char *name, GrainFileBytes *out);
/// Makes size and checksum right.
void grain_file_mend(uint8_t *file, size_t size);

/// How a file is made of an input.
enum { GRAIN_FILE_MENDS = 1, GRAIN_FILE_CHANGES = 2 };
/// Writes the file that the input is: with GRAIN_FILE_CHANGES in flags, changes to the template, otherwise the bytes of
/// the file. A change is 8 bytes: the column (from COLUMN_FILE_MAX_COLUMNS on: the header and the table), two bytes and
/// a half of the number's place, and a number of 32 bits.
void grain_file_forge(const char *name, const GrainFileBytes *from, unsigned flags, const uint8_t *data, size_t size);
/// The same for a whole input: flags, a byte that the target takes for the kind of the file, and what forge takes.
enum { GRAIN_FILE_HEADER = 2 };
/// A seed for a target of such inputs: the bytes of the file, if there is room, or a change that changes nothing.
size_t grain_file_seed(const GrainFileBytes *file, unsigned kind, int is_change, uint8_t *data, size_t capacity);
