// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints of the state: what they hold, and what its numbers may be.
#include "base/error.h"
#include "sim/dem/dem.h"

#define VECTORS(name, range)                                                                                           \
    {name "_x", GRAIN_F32, 1, COLUMN_ANY_LENGTH, {{1, range}}, NULL},                                                  \
        {name "_y", GRAIN_F32, 1, COLUMN_ANY_LENGTH, {{1, range}}, NULL},                                              \
    {                                                                                                                  \
        name "_z", GRAIN_F32, 1, COLUMN_ANY_LENGTH, {{1, range}}, NULL                                                 \
    }

const ColumnRule dem_column_rules[] = {
    {"dem.must_list", GRAIN_I32, 1, COLUMN_ONE, {{1, COLUMN_FLAG}}, NULL},
    {"dem.id", GRAIN_I32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_INDEX}}, NULL},
    {"dem.balls", // DemBall
     GRAIN_F32,
     DEM_BALL_FLOATS,
     COLUMN_ANY_LENGTH,
     {{3, COLUMN_PLACE},
      {1, COLUMN_POSITIVE},
      {3, COLUMN_FINITE},
      {1, COLUMN_NOT_NEGATIVE},
      {3, COLUMN_FINITE},
      {1, COLUMN_NOT_NEGATIVE},
      {3, COLUMN_PLACE},
      {1, COLUMN_NOT_NEGATIVE}},
     NULL},
    {"dem.adaptive_step", GRAIN_F64, 1, COLUMN_ONE, {{1, COLUMN_NOT_NEGATIVE}}, NULL},
    {"dem.grain_id", GRAIN_I32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_INDEX}}, NULL},
    {"dem.grains", // DemGrain
     GRAIN_F32,
     DEM_GRAIN_FLOATS,
     COLUMN_ANY_LENGTH,
     {{3, COLUMN_PLACE},
      {1, COLUMN_NOT_NEGATIVE},
      {3, COLUMN_FINITE},
      {1, COLUMN_POSITIVE},
      {3, COLUMN_FINITE},
      {1, COLUMN_ANY},
      {3, COLUMN_FINITE},
      {1, COLUMN_ANY},
      {3, COLUMN_FINITE},
      {1, COLUMN_ANY},
      {3, COLUMN_NOT_NEGATIVE},
      {1, COLUMN_ANY},
      {4, COLUMN_TURN},
      {3, COLUMN_PLACE},
      {1, COLUMN_ANY}},
     NULL},
    VECTORS("dem.shear", COLUMN_FINITE),
    VECTORS("dem.roll", COLUMN_FINITE),
    VECTORS("dem.wall_shear", COLUMN_FINITE),
    VECTORS("dem.wall_roll", COLUMN_FINITE),
    VECTORS("dem.wall_normal", COLUMN_FINITE),
    VECTORS("dem.wall_sampled", COLUMN_PLACE),
    {"dem.wall_gap", GRAIN_F32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_FINITE}}, NULL},
    {"dem.wall_part", GRAIN_F32, 2, COLUMN_ANY_LENGTH, {{2, COLUMN_FINITE}}, NULL},
    {"dem.wall_ball", GRAIN_I32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_INDEX}}, NULL},
    {"dem.wall_collider", GRAIN_I32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_INDEX}}, NULL},
    {"dem.wall_held", // DemWallHeld
     GRAIN_F32,
     DEM_HELD_FLOATS,
     COLUMN_ANY_LENGTH,
     {{4, COLUMN_FINITE}, {3, COLUMN_PLACE}, {1, COLUMN_ANY}, {3, COLUMN_FINITE}, {1, COLUMN_ANY}},
     NULL},
    {"dem.wall_partner", GRAIN_F32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_NOT_NEGATIVE}}, NULL},
    {"dem.quiet", GRAIN_I32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_INDEX}}, NULL},
    {"dem.quiet_steps", GRAIN_I32, 1, COLUMN_ONE, {{1, COLUMN_INDEX}}, NULL},
    {"dem.evaluate_all", GRAIN_I32, 1, COLUMN_ONE, {{1, COLUMN_FLAG}}, NULL},
    {"dem.force", GRAIN_F32, 4, COLUMN_ANY_LENGTH, {{3, COLUMN_FINITE}, {1, COLUMN_ANY}}, NULL},
    {"dem.moment", GRAIN_F32, 4, COLUMN_ANY_LENGTH, {{3, COLUMN_FINITE}, {1, COLUMN_ANY}}, NULL},
    {"dem.torque", GRAIN_F32, 4, COLUMN_ANY_LENGTH, {{3, COLUMN_FINITE}, {1, COLUMN_ANY}}, NULL},
    {NULL}};

static int add_vectors(Column *columns, int count, const char *const names[3], const DemVectors *vectors,
                       int64_t entries)
{
    columns[count++] = (Column){names[0], GRAIN_F32, 1, entries, vectors->x};
    columns[count++] = (Column){names[1], GRAIN_F32, 1, entries, vectors->y};
    columns[count++] = (Column){names[2], GRAIN_F32, 1, entries, vectors->z};
    return count;
}

static int save_balls(const Dem *dem, Column *columns)
{
    columns[0] = (Column){"dem.must_list", GRAIN_I32, 1, 1, &dem->must_list};
    columns[1] = (Column){"dem.id", GRAIN_I32, 1, dem->count, dem->id};
    columns[2] = (Column){"dem.balls", GRAIN_F32, DEM_BALL_FLOATS, dem->count, dem->balls};
    int count = 3;
    if (dem->adaptive)
        columns[count++] = (Column){"dem.adaptive_step", GRAIN_F64, 1, 1, dem_adaptive_step(dem->adaptive)};
    if (dem->grain_count == 0) return count;
    columns[count++] = (Column){"dem.grain_id", GRAIN_I32, 1, dem->grain_count, dem->grain_id};
    columns[count++] = (Column){"dem.grains", GRAIN_F32, DEM_GRAIN_FLOATS, dem->grain_count, dem->grains};
    return count;
}

// The springs of pairs and walls; the lists themselves follow from the balls' anchors.
static int save_contacts(const Dem *dem, Column *columns)
{
    static const char *const names[][3] = {{"dem.shear_x", "dem.shear_y", "dem.shear_z"},
                                           {"dem.roll_x", "dem.roll_y", "dem.roll_z"},
                                           {"dem.wall_shear_x", "dem.wall_shear_y", "dem.wall_shear_z"},
                                           {"dem.wall_roll_x", "dem.wall_roll_y", "dem.wall_roll_z"},
                                           {"dem.wall_normal_x", "dem.wall_normal_y", "dem.wall_normal_z"},
                                           {"dem.wall_sampled_x", "dem.wall_sampled_y", "dem.wall_sampled_z"}};
    int count = add_vectors(columns, 0, names[0], &dem->pairs.shear, dem->pairs.count);
    if (dem->law.resists_rolling) count = add_vectors(columns, count, names[1], &dem->pairs.roll, dem->pairs.count);
    const DemVectors *walls[] = {&dem->walls.shear, &dem->walls.roll, &dem->walls.normal, &dem->walls.sampled};
    for (int i = 0; i < 4; i++) count = add_vectors(columns, count, names[2 + i], walls[i], dem->walls.count);
    columns[count++] = (Column){"dem.wall_gap", GRAIN_F32, 1, dem->walls.count, dem->walls.gap};
    if (dem->is_painted) columns[count++] = (Column){"dem.wall_part", GRAIN_F32, 2, dem->walls.count, dem->walls.part};
    if (!dem->base.has_moving) return count;
    columns[count++] = (Column){"dem.wall_ball", GRAIN_I32, 1, dem->walls.count, dem->walls.ball};
    columns[count++] = (Column){"dem.wall_collider", GRAIN_I32, 1, dem->walls.count, dem->walls.collider};
    columns[count++] = (Column){"dem.wall_held", GRAIN_F32, DEM_HELD_FLOATS, dem->walls.count, dem->walls.held};
    columns[count++] = (Column){"dem.wall_partner", GRAIN_F32, 1, dem->walls.count, dem->walls.partner};
    return count;
}

// Forces of sleeping contacts are not computed again: a resumed run must have the same.
static int save_sleep(const Dem *dem, Column *columns)
{
    if (!dem->sleep.is_allowed) return 0;
    columns[0] = (Column){"dem.quiet", GRAIN_I32, 1, dem->count, dem->sleep.quiet};
    columns[1] = (Column){"dem.quiet_steps", GRAIN_I32, 1, 1, &dem->sleep.steps};
    columns[2] = (Column){"dem.evaluate_all", GRAIN_I32, 1, 1, &dem->sleep.evaluate_all};
    columns[3] = (Column){"dem.force", GRAIN_F32, 4, dem->record_count, dem->force};
    columns[4] = (Column){"dem.moment", GRAIN_F32, 4, dem->record_count, dem->moment};
    if (!dem->torque) return 5;
    columns[5] = (Column){"dem.torque", GRAIN_F32, 4, dem->record_count, dem->torque};
    return 6;
}

int dem_save(const void *state, Column columns[SOLVER_MAX_COLUMNS])
{
    const Dem *dem = state;
    int count = save_balls(dem, columns);
    count += save_contacts(dem, columns + count);
    count += save_sleep(dem, columns + count);
    return solver_base_save(&dem->base, columns, count);
}

static GrainResult copy_columns(const Column *columns, int column_count, const Column *own, int own_count)
{
    for (int i = 0; i < own_count; i++)
        TRY(column_copy(columns, column_count, own[i].name, own[i].type, own[i].components, own[i].count,
                        (void *)own[i].data));
    return GRAIN_OK;
}

// Balls of grains of several have no inertia of their own.
static GrainResult check_balls(const Dem *dem)
{
    for (int64_t i = 0; i < dem->count; i++) {
        int is_part = dem->particle_grain && dem->particle_grain[dem->ball_particle[dem->id[i]]] >= 0;
        if (is_part != (dem->balls[i].inverse_inertia == 0.0f)) return solver_fail_particles();
    }
    return GRAIN_OK;
}

// As many balls and grains as the scene has, each once, and none of a removed particle.
static GrainResult check_ids(const Dem *dem)
{
    const uint8_t *is_gone = dem->base.is_gone;
    TRY(solver_check_ids(dem->id, sizeof *dem->id, dem->count, dem->ball_born));
    TRY(solver_check_ids(dem->grain_id, sizeof *dem->grain_id, dem->grain_count, dem->grain_born));
    for (int64_t i = 0; is_gone && i < dem->count; i++)
        if (is_gone[dem->ball_particle[dem->id[i]]]) return solver_fail_particles();
    for (int64_t g = 0; is_gone && g < dem->grain_count; g++)
        if (is_gone[dem->grain_particle[dem->grain_id[g]]]) return solver_fail_particles();
    return GRAIN_OK;
}

GrainResult dem_load(void *state, const Column *columns, int column_count)
{
    Dem *dem = state;
    Column own[SOLVER_MAX_COLUMNS];
    TRY(copy_columns(columns, column_count, own, save_balls(dem, own)));
    TRY(check_ids(dem));
    TRY(check_balls(dem));
    for (int64_t i = 0; dem->row && i < dem->count; i++) dem->row[dem->id[i]] = (int32_t)i;
    TRY(solver_base_load(&dem->base, columns, column_count));
    dem->has_changed = 0;
    const Column *shear = column_find(columns, column_count, "dem.shear_x");
    if (shear && shear->count == 0 && dem->must_list) return GRAIN_OK; // saved before the first substep
    TRY(dem_restore_lists(dem, columns, column_count));
    TRY(copy_columns(columns, column_count, own, save_contacts(dem, own)));
    dem_grip_walls(dem, 0, dem->walls.count);
    TRY(copy_columns(columns, column_count, own, save_sleep(dem, own)));
    return dem_sleep_choose(dem);
}
