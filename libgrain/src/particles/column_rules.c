// SPDX-License-Identifier: GPL-3.0-or-later
#include "particles/column_rules.h"
#include "base/error.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/// m, m/s. What is computed from such numbers, squares and sums of squares too, stays finite in single precision.
#define FARTHEST 1e15

typedef struct Limits {
    double low, high;
    const char *text; ///< what is wrong with other numbers: "... is nan, which is not finite"
} Limits;

static const Limits limits[] = {
    [COLUMN_FINITE] = {-DBL_MAX, DBL_MAX, "not finite"},
    [COLUMN_PLACE] = {-FARTHEST, FARTHEST, "too large for any scene"},
    [COLUMN_NOT_NEGATIVE] = {0.0, DBL_MAX, "not a finite number from 0 on"},
    [COLUMN_POSITIVE] = {DBL_TRUE_MIN, DBL_MAX, "not a finite number above 0"},
    [COLUMN_STILL] = {0.0, INFINITY, "not a time"},
    [COLUMN_TURN] = {-1.01, 1.01, "not part of a rotation"},
    [COLUMN_FLAG] = {0.0, 1.0, "neither 0 nor 1"},
    [COLUMN_INDEX] = {0.0, (double)INT64_MAX, "not an index"},
    [COLUMN_ANY] = {-INFINITY, INFINITY, ""},
};

const ColumnRule *column_rule_find(const ColumnRule *table, const char *name)
{
    for (; table && table->name; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

const ColumnRule *column_rule_of_attribute(void)
{
    static const ColumnRule attribute = {"", GRAIN_F32, 0, COLUMN_ANY_LENGTH, {{0, COLUMN_FINITE}}, NULL};
    return &attribute;
}

// --- numbers --------------------------------------------------------------------------------------

static int is_integer(ColumnRange range) { return range == COLUMN_FLAG || range == COLUMN_INDEX; }

// Records of floats hold integers too, of four bytes each.
static double number_at(const Column *column, int64_t index, ColumnRange range)
{
    switch (column->type) {
    case GRAIN_F64:
        return ((const double *)column->data)[index];
    case GRAIN_I64:
        return (double)((const int64_t *)column->data)[index];
    case GRAIN_I32:
        return (double)((const int32_t *)column->data)[index];
    case GRAIN_F32:
        break;
    }
    return is_integer(range) ? (double)((const int32_t *)column->data)[index]
                             : (double)((const float *)column->data)[index];
}

// The largest finite double stands for the largest finite float.
static float nearest_float(double limit)
{
    if (isinf(limit)) return (float)limit;
    return limit > (double)FLT_MAX ? FLT_MAX : limit < -(double)FLT_MAX ? -FLT_MAX : (float)limit;
}

// The usual case, for a million numbers at once: a loop that compilers turn into vectors.
static int are_floats_within(const float *numbers, int64_t count, float low, float high)
{
    int outside = 0;
    for (int64_t i = 0; i < count; i++) outside |= !(numbers[i] >= low) | !(numbers[i] <= high);
    return !outside;
}

static GrainResult fail_number(const Column *column, int64_t element, double number, const char *text)
{
    return fail(GRAIN_ERROR_DAMAGED, "element %lld of '%s' is %g, %s", (long long)element, column->name, number, text);
}

/// `elements` times `components` numbers, of which the first is number `first` of the column.
typedef struct Span {
    int64_t first, elements, stride;
    int components;
} Span;

static GrainResult check_span(const Column *column, Span span, ColumnRange range)
{
    const Limits *allowed = &limits[range];
    if (range == COLUMN_ANY) return GRAIN_OK;
    int is_dense = span.stride == span.components && column->type == GRAIN_F32 && !is_integer(range);
    if (is_dense && range != COLUMN_POSITIVE &&
        are_floats_within((const float *)column->data + span.first, span.elements * span.components,
                          nearest_float(allowed->low), nearest_float(allowed->high)))
        return GRAIN_OK;
    for (int64_t i = 0; i < span.elements; i++)
        for (int c = 0; c < span.components; c++) {
            double number = number_at(column, span.first + i * span.stride + c, range);
            if (!(number >= allowed->low && number <= allowed->high))
                return fail_number(column, i, number, allowed->text);
        }
    return GRAIN_OK;
}

static GrainResult check_turns(const Column *column, Span span)
{
    for (int64_t i = 0; i < span.elements; i++) {
        double squared = 0.0;
        for (int c = 0; c < span.components; c++) {
            double number = number_at(column, span.first + i * span.stride + c, COLUMN_TURN);
            squared += number * number;
        }
        if (!(squared > 0.9 && squared < 1.1))
            return fail_number(column, i, squared, "the square of a rotation's length, which should be 1");
    }
    return GRAIN_OK;
}

static GrainResult check_part(const Column *column, Span span, ColumnRange range)
{
    TRY(check_span(column, span, range));
    return range == COLUMN_TURN ? check_turns(column, span) : GRAIN_OK;
}

// --- columns --------------------------------------------------------------------------------------

static GrainResult check_records(const ColumnRule *rule, const Column *column)
{
    int at = 0;
    for (int p = 0; p < COLUMN_MAX_PARTS && at < column->components; p++) {
        int components = rule->parts[p].components > 0 ? rule->parts[p].components : column->components - at;
        Span span = {at, column->count, column->components, components};
        TRY(check_part(column, span, rule->parts[p].range));
        at += components;
    }
    return GRAIN_OK;
}

static GrainResult check_rows(const ColumnRule *rule, const Column *column, int64_t rows)
{
    int at = 0;
    for (int p = 0; p < COLUMN_MAX_PARTS && at < column->components; p++) {
        int components = rule->parts[p].components > 0 ? rule->parts[p].components : column->components - at;
        for (int end = at + components; at < end; at++)
            TRY(check_span(column, (Span){at * column->count, rows, 1, 1}, rule->parts[p].range));
    }
    return GRAIN_OK;
}

GrainResult column_rule_check(const ColumnRule *rule, const Column *column, const Column *columns, int column_count,
                              int64_t particles)
{
    if (rule->components > 0 && (column->type != rule->type || column->components != rule->components))
        return fail(GRAIN_ERROR_DAMAGED, "the column '%s' has another type or another number of components",
                    column->name);
    if (rule->length == COLUMN_ONE && column->count != 1)
        return fail(GRAIN_ERROR_DAMAGED, "the column '%s' has %lld elements, not 1", column->name,
                    (long long)column->count);
    if (rule->length == COLUMN_PER_PARTICLE && column->count != particles)
        return fail(GRAIN_ERROR_DAMAGED, "the column '%s' has %lld elements for %lld particles", column->name,
                    (long long)column->count, (long long)particles);
    if (!rule->rows_of) return check_records(rule, column);
    const Column *of = column_find(columns, column_count, rule->rows_of);
    if (!of || of->count > column->count)
        return fail(GRAIN_ERROR_DAMAGED, "the columns '%s' and '%s' do not fit each other", rule->rows_of,
                    column->name);
    return check_rows(rule, column, of->count);
}
