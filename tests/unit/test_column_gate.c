// SPDX-License-Identifier: GPL-3.0-or-later
// What columns of files may hold. Whole files made to harm are in tests/faults.
#include "base/alloc.h"
#include "output/column_gate.h"
#include "particles/column_rules.h"
#include "sim/sim.h"
#include "sim/solver_base.h"
#include "unit/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static GrainResult check(ColumnRange range, GrainType type, const void *number)
{
    const ColumnRule rule = {"x", type, 1, COLUMN_ONE, {{1, range}}, NULL};
    const Column column = {"x", type, 1, 1, number};
    return column_rule_check(&rule, &column, &column, 1, 1);
}

static int allows(ColumnRange range, double number)
{
    float narrow = (float)number;
    int wide_is_allowed = check(range, GRAIN_F64, &number) == GRAIN_OK;
    int narrow_is_allowed = check(range, GRAIN_F32, &narrow) == GRAIN_OK;
    return wide_is_allowed && narrow_is_allowed ? 1 : wide_is_allowed || narrow_is_allowed ? -1 : 0;
}

TEST(numbers_are_allowed_by_their_range)
{
    static const struct {
        double number;
        int finite, place, not_negative, positive, still; // 1: allowed
    } rows[] = {
        {0.0, 1, 1, 1, 0, 1},
        {-0.0, 1, 1, 1, 0, 1},
        {1.0, 1, 1, 1, 1, 1},
        {-1.0, 1, 1, 0, 0, 0},
        {1e-45, 1, 1, 1, 1, 1},
        {1e15, 1, 1, 1, 1, 1},
        {1.01e15, 1, 0, 1, 1, 1},
        {(double)FLT_MAX, 1, 0, 1, 1, 1},
        {-(double)FLT_MAX, 1, 0, 0, 0, 0},
        {INFINITY, 0, 0, 0, 0, 1},
        {-INFINITY, 0, 0, 0, 0, 0},
        {NAN, 0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ENSURE_EQUAL(allows(COLUMN_FINITE, rows[i].number), rows[i].finite);
        ENSURE_EQUAL(allows(COLUMN_PLACE, rows[i].number), rows[i].place);
        ENSURE_EQUAL(allows(COLUMN_NOT_NEGATIVE, rows[i].number), rows[i].not_negative);
        ENSURE_EQUAL(allows(COLUMN_POSITIVE, rows[i].number), rows[i].positive);
        ENSURE_EQUAL(allows(COLUMN_STILL, rows[i].number), rows[i].still);
        ENSURE_EQUAL(allows(COLUMN_ANY, rows[i].number), 1);
    }
    for (int32_t number = -1; number <= 2; number++) {
        ENSURE_EQUAL(check(COLUMN_FLAG, GRAIN_I32, &number) == GRAIN_OK, number == 0 || number == 1);
        ENSURE_EQUAL(check(COLUMN_INDEX, GRAIN_I32, &number) == GRAIN_OK, number >= 0);
    }
    int64_t large = INT64_MAX, small = -1;
    ENSURE_OK(check(COLUMN_INDEX, GRAIN_I64, &large));
    ENSURE_FAILS(check(COLUMN_INDEX, GRAIN_I64, &small), GRAIN_ERROR_DAMAGED, "not an index");
}

TEST(rotations_have_length_one)
{
    const ColumnRule rule = {"q", GRAIN_F32, 4, COLUMN_ANY_LENGTH, {{4, COLUMN_TURN}}, NULL};
    const float turns[][4] = {{1, 0, 0, 0}, {0.6f, 0, -0.8f, 0}, {0, 0, 0, 0}, {1, 1, 0, 0}, {NAN, 1, 0, 0}};
    for (int i = 0; i < 5; i++) {
        const Column column = {"q", GRAIN_F32, 4, 1, turns[i]};
        ENSURE_EQUAL(column_rule_check(&rule, &column, &column, 1, 1) == GRAIN_OK, i < 2);
    }
}

// Of a record only the numbers of a part are compared with the part's range, integers among floats as integers.
TEST(parts_of_records_have_ranges_of_their_own)
{
    enum { RECORDS = 3, FLOATS = 5 };
    const ColumnRule rule = {"r",
                             GRAIN_F32,
                             FLOATS,
                             COLUMN_ANY_LENGTH,
                             {{2, COLUMN_FINITE}, {1, COLUMN_POSITIVE}, {1, COLUMN_INDEX}, {1, COLUMN_ANY}},
                             NULL};
    // What harms in each place, and whether it is noticed there.
    const float wrong[] = {NAN, INFINITY, 0.0f, 0.0f, NAN};
    const int is_noticed[] = {1, 1, 1, 1, 0};
    const int32_t minus_one = -1;
    for (int record = 0; record < RECORDS; record++)
        for (int place = 0; place < FLOATS; place++) {
            float numbers[RECORDS][FLOATS];
            for (int i = 0; i < RECORDS; i++) {
                numbers[i][0] = -1.0f, numbers[i][1] = 0.0f, numbers[i][2] = 1.0f, numbers[i][4] = INFINITY;
                memcpy(&numbers[i][3], &i, sizeof i);
            }
            const Column column = {"r", GRAIN_F32, FLOATS, RECORDS, numbers};
            ENSURE_OK(column_rule_check(&rule, &column, &column, 1, 0));
            if (place == 3)
                memcpy(&numbers[record][place], &minus_one, sizeof minus_one);
            else
                numbers[record][place] = wrong[place];
            ENSURE_EQUAL(column_rule_check(&rule, &column, &column, 1, 0) == GRAIN_ERROR_DAMAGED, is_noticed[place]);
        }
}

// Fields one after another, each padded: what is beyond the last particle is nobody's.
TEST(padding_of_fields_is_not_looked_at)
{
    enum { ROOM = 8, PARTICLES = 3, FIELDS = 2 };
    const ColumnRule rule = {"fields", GRAIN_F32, FIELDS, COLUMN_ANY_LENGTH, {{1, COLUMN_FINITE}, {1, COLUMN_STILL}},
                             "id"};
    const int32_t id[PARTICLES] = {0, 1, 2};
    for (int at = 0; at < FIELDS * ROOM; at++) {
        float fields[FIELDS * ROOM] = {0};
        const Column columns[] = {{"fields", GRAIN_F32, FIELDS, ROOM, fields}, {"id", GRAIN_I32, 1, PARTICLES, id}};
        fields[at] = at < ROOM ? INFINITY : -1.0f;
        ENSURE_EQUAL(column_rule_check(&rule, columns, columns, 2, 0) == GRAIN_OK, at % ROOM >= PARTICLES);
    }
    float fields[FIELDS * 2] = {0};
    const Column shorter[] = {{"fields", GRAIN_F32, FIELDS, 2, fields}, {"id", GRAIN_I32, 1, PARTICLES, id}};
    ENSURE_FAILS(column_rule_check(&rule, shorter, shorter, 2, 0), GRAIN_ERROR_DAMAGED, "do not fit");
    ENSURE_FAILS(column_rule_check(&rule, shorter, shorter, 1, 0), GRAIN_ERROR_DAMAGED, "do not fit");
}

TEST(files_have_the_columns_of_their_kind)
{
    const float numbers[6] = {0, 0, 0, 0, 0, 0};
    const double zero = 0.0;
    struct GrainFrame frame = {.header.particles = 2, .column_count = 2};
    frame.columns[0] = (Column){"position", GRAIN_F32, 3, 2, numbers};
    frame.columns[1] = (Column){"heat of the artist", GRAIN_F32, 1, 2, numbers};
    ENSURE_EQUAL(column_gate_kind(&frame), COLUMN_FILE_FRAME);
    ENSURE_OK(column_gate_check("f", &frame));
    frame.columns[0].count = 1;
    ENSURE_FAILS(column_gate_check("f", &frame), GRAIN_ERROR_DAMAGED, "1 elements for 2");
    frame.columns[0] = (Column){"position", GRAIN_F32, 2, 2, numbers};
    ENSURE_FAILS(column_gate_check("f", &frame), GRAIN_ERROR_DAMAGED, "another number of components");

    frame.columns[0] = (Column){"sim.time", GRAIN_F64, 1, 1, &zero};
    ENSURE_EQUAL(column_gate_kind(&frame), COLUMN_FILE_CHECKPOINT);
    ENSURE_FAILS(column_gate_check("f", &frame), GRAIN_ERROR_DAMAGED, "heat of the artist");
    frame.column_count = 0;
    ENSURE_EQUAL(column_gate_kind(&frame), COLUMN_FILE_OTHER);
}

// No two columns of the same name with different rules, and all of a solver's are its own.
TEST(each_solver_declares_its_columns)
{
    for (int s = 0; solver_at(s); s++) {
        const ColumnRule *rules = solver_at(s)->columns;
        char prefix[32];
        snprintf(prefix, sizeof prefix, "%s.", solver_at(s)->name);
        ENSURE(rules && rules->name);
        for (const ColumnRule *rule = rules; rule->name; rule++) {
            int components = 0;
            for (int p = 0; p < COLUMN_MAX_PARTS; p++) components += rule->parts[p].components;
            ENSURE(strncmp(rule->name, prefix, strlen(prefix)) == 0);
            ENSURE(solver_find_rule(rule->name) == rule);
            ENSURE_EQUAL(components, rule->components);
        }
    }
}

TEST(ids_are_there_once)
{
    const int32_t good[] = {4, 0, 2}, twice[] = {4, 2, 4}, large[] = {0, 5, 1}, small[] = {0, -1, 1};
    const uint8_t is_gone[] = {0, 1, 0, 0, 1};
    const size_t stride = sizeof *good;
    ENSURE_OK(solver_check_ids(good, stride, 3, 5));
    ENSURE_FAILS(solver_check_ids(twice, stride, 3, 5), GRAIN_ERROR_DAMAGED, "do not match");
    ENSURE_FAILS(solver_check_ids(large, stride, 3, 5), GRAIN_ERROR_DAMAGED, "do not match");
    ENSURE_FAILS(solver_check_ids(small, stride, 3, 5), GRAIN_ERROR_DAMAGED, "do not match");
    ENSURE_OK(solver_check_ids(NULL, stride, 0, 0));
    SolverBase base = {.born = 5};
    ENSURE_OK(solver_base_check_ids(&base, good, stride, 3));
    base.is_gone = is_gone;
    ENSURE_FAILS(solver_base_check_ids(&base, good, stride, 3), GRAIN_ERROR_DAMAGED, "do not match");
}
