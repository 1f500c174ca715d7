// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The gate for .grain files: every column has a rule (particles/column_rules.h) and is compared with it before
/// anything else sees it. What depends on the scene (does a particle have this material?) is checked by who reads the
/// file.
#include "output/column_file.h"

/// The kind of a file, by its first column.
typedef enum ColumnFileKind {
    COLUMN_FILE_OTHER,
    COLUMN_FILE_FRAME,      ///< of particles or grains, and the state of upsampling
    COLUMN_FILE_BIRTH,      ///< what particles were born with
    COLUMN_FILE_CHECKPOINT, ///< of a simulation
    COLUMN_FILE_FIELD,      ///< distances (sdf_store.h)
} ColumnFileKind;
ColumnFileKind column_gate_kind(const struct GrainFrame *file);

/// GRAIN_ERROR_DAMAGED for a format that this version cannot read, `newest` being the last one it knows.
GrainResult column_gate_check_format(const char *path, uint32_t format, uint32_t newest);
/// GRAIN_ERROR_DAMAGED for a header that no file has.
GrainResult column_gate_check_header(const char *path, const ColumnFileHeader *header);
/// GRAIN_ERROR_DAMAGED for a column that breaks its rule, or that such a file does not have.
GrainResult column_gate_check(const char *path, const struct GrainFrame *file);
/// The same for values of one column of a frame.
GrainResult column_gate_check_values(const char *path, const Column *column);
