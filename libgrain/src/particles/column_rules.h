// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What the columns of files may hold. A checksum does not tell who wrote a file, so numbers are compared with these
/// rules before anything is computed from them: what breaks a rule was not written by Grain, or was damaged since.
///
/// Solvers declare the columns of their checkpoints (Solver.columns); output/column_gate.h has those of all other
/// files.
#include "particles/particles.h"

/// The numbers allowed in a column, or in a part of a record.
typedef enum ColumnRange {
    COLUMN_FINITE,       ///< any number that is neither infinite nor NaN
    COLUMN_PLACE,        ///< m or m/s: at most 1e15, so that what is computed from it is finite
    COLUMN_NOT_NEGATIVE, ///< finite
    COLUMN_POSITIVE,     ///< finite, not 0
    COLUMN_STILL,        ///< s at rest; infinite: asleep
    COLUMN_TURN,         ///< a unit quaternion: four components
    COLUMN_FLAG,         ///< integer: 0 or 1
    COLUMN_INDEX,        ///< integer: not negative. Its upper end depends on the scene and is checked when it is used
    COLUMN_ANY,          ///< unused, or checked when it is used
} ColumnRange;

/// Consecutive components of a record.
typedef struct ColumnPart {
    int components;
    ColumnRange range;
} ColumnPart;

/// How many elements a column has.
typedef enum ColumnLength {
    COLUMN_ANY_LENGTH,
    COLUMN_ONE,
    COLUMN_PER_PARTICLE, ///< as many as the file has particles
} ColumnLength;

#define COLUMN_MAX_PARTS 24
typedef struct ColumnRule {
    const char *name; ///< NULL ends a table
    GrainType type;
    int components;
    ColumnLength length;
    ColumnPart parts[COLUMN_MAX_PARTS]; ///< in order, up to `components`. A single one counts for all components
    /// NULL, or the column with as many elements as this one has valid ones. Component after component then fills its
    /// own part of the column, and the rest of each part is padding.
    const char *rows_of;
} ColumnRule;

/// The rule of this column in a table ended by a NULL name, or NULL.
const ColumnRule *column_rule_find(const ColumnRule *table, const char *name);
/// The rule of columns that artists name: any finite numbers.
const ColumnRule *column_rule_of_attribute(void);
/// GRAIN_ERROR_DAMAGED, saying what is wrong with the column, if it breaks the rule. columns: all columns of the file,
/// which has this many particles.
GrainResult column_rule_check(const ColumnRule *rule, const Column *column, const Column *columns, int column_count,
                              int64_t particles);
