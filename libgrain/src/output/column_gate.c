// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/column_gate.h"
#include "base/error.h"
#include "particles/column_rules.h"
#include "sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// Grains are numbered in 64 bits, up to a thousand of them for each particle.
#define MOST_PARTICLES (INT64_C(1) << 40)

// --- rules ----------------------------------------------------------------------------------------
// Columns of artists' attributes have no row: any finite numbers are allowed.

static const ColumnRule frame_rules[] = {
    {"position", GRAIN_F32, 3, COLUMN_PER_PARTICLE, {{3, COLUMN_PLACE}}, NULL},
    {"velocity", GRAIN_F32, 3, COLUMN_PER_PARTICLE, {{3, COLUMN_PLACE}}, NULL},
    {"radius", GRAIN_F32, 1, COLUMN_PER_PARTICLE, {{1, COLUMN_NOT_NEGATIVE}}, NULL},
    {"orientation", GRAIN_F32, 4, COLUMN_PER_PARTICLE, {{4, COLUMN_TURN}}, NULL},
    {"moisture", GRAIN_F32, 1, COLUMN_PER_PARTICLE, {{1, COLUMN_FINITE}}, NULL},
    {"birth_time", GRAIN_F32, 1, COLUMN_PER_PARTICLE, {{1, COLUMN_FINITE}}, NULL},
    {"id", GRAIN_I64, 1, COLUMN_PER_PARTICLE, {{1, COLUMN_INDEX}}, NULL},
    {"body.position", GRAIN_F32, 3, COLUMN_ANY_LENGTH, {{3, COLUMN_PLACE}}, NULL},
    {"body.orientation", GRAIN_F32, 4, COLUMN_ANY_LENGTH, {{4, COLUMN_TURN}}, NULL},
    {"body.velocity", GRAIN_F32, 3, COLUMN_ANY_LENGTH, {{3, COLUMN_PLACE}}, NULL},
    {"body.spin", GRAIN_F32, 3, COLUMN_ANY_LENGTH, {{3, COLUMN_FINITE}}, NULL},
    {NULL}};

static const ColumnRule birth_rules[] = {{"rest", GRAIN_F32, 3, COLUMN_PER_PARTICLE, {{3, COLUMN_PLACE}}, NULL},
                                         {"source_id", GRAIN_I32, 1, COLUMN_PER_PARTICLE, {{1, COLUMN_INDEX}}, NULL},
                                         {"id", GRAIN_I64, 1, COLUMN_PER_PARTICLE, {{1, COLUMN_INDEX}}, NULL},
                                         {NULL}};

// Of particles born since the last frame (job/birth.h).
static const ColumnRule pending_birth_rules[] = {
    {"birth.rest", GRAIN_F32, 3, COLUMN_ANY_LENGTH, {{3, COLUMN_PLACE}}, NULL},
    {"birth.source", GRAIN_I32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_INDEX}}, NULL},
    {"birth.values", GRAIN_F32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_FINITE}}, NULL},
    {NULL}};

// Whether keys and nodes are a tree is checked by sdf_store.c.
static const ColumnRule field_rules[] = {{"head", GRAIN_F32, 11, COLUMN_ONE, {{11, COLUMN_PLACE}}, NULL},
                                         {"lattice", GRAIN_I32, 4, COLUMN_ONE, {{4, COLUMN_ANY}}, NULL},
                                         {"keys", GRAIN_I32, 2, COLUMN_PER_PARTICLE, {{2, COLUMN_ANY}}, NULL},
                                         {"nodes", GRAIN_I32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_ANY}}, NULL},
                                         {"values", GRAIN_F32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_FINITE}}, NULL},
                                         {NULL}};

typedef struct Kind {
    const char *first_column;
    const ColumnRule *rules;
    int has_attributes;
} Kind;

static const Kind kinds[] = {
    [COLUMN_FILE_OTHER] = {NULL, frame_rules, 1},   [COLUMN_FILE_FRAME] = {"position", frame_rules, 1},
    [COLUMN_FILE_BIRTH] = {"rest", birth_rules, 1}, [COLUMN_FILE_CHECKPOINT] = {"sim.time", sim_column_rules, 0},
    [COLUMN_FILE_FIELD] = {"head", field_rules, 0},
};

ColumnFileKind column_gate_kind(const struct GrainFrame *file)
{
    for (int kind = 1; file->column_count > 0 && kind < (int)(sizeof kinds / sizeof *kinds); kind++)
        if (strcmp(file->columns[0].name, kinds[kind].first_column) == 0) return (ColumnFileKind)kind;
    return COLUMN_FILE_OTHER;
}

static const ColumnRule *find_rule(ColumnFileKind kind, const char *name)
{
    const ColumnRule *rule = column_rule_find(kinds[kind].rules, name);
    if (kind == COLUMN_FILE_CHECKPOINT) {
        if (!rule) rule = column_rule_find(pending_birth_rules, name);
        if (!rule) rule = solver_find_rule(name);
    }
    return rule || !kinds[kind].has_attributes ? rule : column_rule_of_attribute();
}

// --- the gate -------------------------------------------------------------------------------------

static GrainResult fail_damaged(const char *path)
{
    char why[512];
    snprintf(why, sizeof why, "%s", error_text());
    return fail(GRAIN_ERROR_DAMAGED, "'%s' is damaged (%s); bake again to redo it", path, why);
}

GrainResult column_gate_check_format(const char *path, uint32_t format, uint32_t newest)
{
    if (format >= 1 && format <= newest) return GRAIN_OK;
    if (format == 0) return fail(GRAIN_ERROR_DAMAGED, "'%s' is damaged (its format is 0); bake again to redo it", path);
    return fail(GRAIN_ERROR_DAMAGED, "'%s' was written by a newer Grain (format %u, this one reads %u); update Grain",
                path, format, newest);
}

GrainResult column_gate_check_header(const char *path, const ColumnFileHeader *header)
{
    if (isfinite(header->time) && header->particles >= 0 && header->particles <= MOST_PARTICLES) return GRAIN_OK;
    fail(GRAIN_ERROR_DAMAGED, "its header has time %g and %lld particles", header->time, (long long)header->particles);
    return fail_damaged(path);
}

GrainResult column_gate_check(const char *path, const struct GrainFrame *file)
{
    ColumnFileKind kind = column_gate_kind(file);
    for (int c = 0; c < file->column_count; c++) {
        const Column *column = &file->columns[c];
        const ColumnRule *rule = find_rule(kind, column->name);
        GrainResult result =
            rule ? column_rule_check(rule, column, file->columns, file->column_count, file->header.particles)
                 : fail(GRAIN_ERROR_DAMAGED, "it has a column '%s'", column->name);
        if (result != GRAIN_OK) return fail_damaged(path);
    }
    return GRAIN_OK;
}

GrainResult column_gate_check_values(const char *path, const Column *column)
{
    GrainResult result =
        column_rule_check(find_rule(COLUMN_FILE_FRAME, column->name), column, column, 1, column->count);
    return result == GRAIN_OK ? GRAIN_OK : fail_damaged(path);
}
