// SPDX-License-Identifier: GPL-3.0-or-later
// The table of settings: what the compiler cannot check of it.
#include "grain/grain.h"
#include "job/schema.h"
#include "shape/shape.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EACH_SETTING(block, setting)                                                                                   \
    for (const SettingBlock *const *block = schema_blocks; *block; block++)                                            \
        for (const Setting *setting = (*block)->settings; setting < (*block)->settings + (*block)->count; setting++)

static int is_number(const Setting *setting)
{
    return setting->type == SETTING_NUMBER || setting->type == SETTING_INTEGER || setting->type == SETTING_VECTOR;
}

static int has_word(const Setting *setting, const char *word)
{
    for (int i = 0; schema_words(setting)[i]; i++)
        if (word && strcmp(schema_words(setting)[i], word) == 0) return 1;
    return 0;
}

TEST(each_key_is_there_once_for_a_role)
{
    EACH_SETTING(block, setting)
    {
        ENSURE(setting->key && setting->meaning);
        for (int role = 0; role < 32; role++)
            if (schema_has_role(setting, role)) ENSURE(schema_find(*block, role, setting->key) == setting);
    }
}

TEST(defaults_are_within_their_ranges)
{
    EACH_SETTING(block, setting)
    {
        int is_said = setting->absence == SETTING_DEFAULTS || setting->absence == SETTING_INHERITS;
        if (is_number(setting)) ENSURE(setting->low < setting->high);
        if (is_number(setting) && is_said)
            for (int i = 0; i < (setting->type == SETTING_VECTOR ? 3 : 1); i++)
                ENSURE(setting->number[i] >= setting->low && setting->number[i] <= setting->high);
        if (setting->soft_low != setting->soft_high)
            ENSURE((setting->soft_low >= setting->low || setting->soft_low == 0.0) &&
                   setting->soft_high > setting->soft_low && setting->soft_high <= setting->high);
        if (setting->type == SETTING_CHOICE && is_said) ENSURE(has_word(setting, setting->word));
    }
}

TEST(what_the_interface_shows_is_allowed_in_the_file)
{
    EACH_SETTING(block, setting)
    {
        const SettingShown *shown = setting->shown;
        if (!shown) continue;
        if (setting->type == SETTING_CHOICE) ENSURE(has_word(setting, shown->word));
        if (!is_number(setting)) continue;
        int is_angle = shown->as && strcmp(shown->as, "degrees") == 0;
        int is_millions = shown->as && strcmp(shown->as, "millions") == 0;
        ENSURE(is_angle || is_millions || !shown->as);
        double shown_number[3] = {shown->number, shown->number, shown->number};
        if (shown->low != shown->high) shown_number[1] = shown->low, shown_number[2] = shown->high;
        for (int i = 0; i < 3; i++) {
            double value = is_angle      ? tan(shown_number[i] * 3.14159265358979 / 180.0)
                           : is_millions ? 1e6 * shown_number[i]
                                         : shown_number[i];
            ENSURE(value >= setting->low && value <= setting->high);
        }
    }
}

TEST(each_choice_has_labels_for_all_its_words)
{
    EACH_SETTING(block, setting)
    {
        ENSURE((setting->type == SETTING_CHOICE) == (schema_words(setting) != NULL));
        for (int i = 0; setting->type == SETTING_CHOICE && schema_words(setting)[i]; i++) {
            SettingWord word = schema_label(setting, i);
            ENSURE(!word.label == !word.tip);
            ENSURE(word.label || !(setting->label || setting->word_labels));
        }
    }
}

TEST(a_label_comes_with_a_tip_of_one_breath)
{
    EACH_SETTING(block, setting)
    {
        if (!setting->tip) continue;
        ENSURE(setting->label != NULL);
        size_t length = strlen(setting->tip);
        ENSURE(length > 10 && length < 300 && setting->tip[length - 1] != '.');
    }
}

static int is_a_key(const char *key)
{
    EACH_SETTING(block, setting) if (strcmp(setting->key, key) == 0) return 1;
    return 0;
}

TEST(what_solvers_say_they_use_are_settings)
{
    for (int i = 0; solver_at(i); i++) {
        char list[512];
        ENSURE(strlen(solver_at(i)->traits.uses) < sizeof list);
        strcpy(list, solver_at(i)->traits.uses);
        for (char *key = strtok(list, " "); key; key = strtok(NULL, " "))
            ENSURE(is_a_key(key) && solver_uses(solver_at(i), key));
        for (int c = 0; c < SOLVER_MAX_CHOICES && solver_at(i)->traits.choices[c].key; c++)
            ENSURE(solver_uses(solver_at(i), solver_at(i)->traits.choices[c].key));
        ENSURE(!solver_uses(solver_at(i), "frict") && !solver_uses(solver_at(i), "density"));
    }
}

TEST(names_of_shapes_are_those_of_the_library)
{
    const char *const *shapes = schema_find(&schema_solver, 0, "grain_shape")->words;
    int count = 0;
    for (; shape_names[count]; count++) ENSURE(strcmp(shapes[count], shape_names[count]) == 0);
    ENSURE(strcmp(shapes[count], "mesh") == 0 && shapes[count + 1] == NULL);
}

TEST(defaults_of_meso_are_those_of_its_usual_interaction)
{
    const Setting *interaction = schema_find(&schema_solver, 0, "interaction");
    int usual = 0;
    while (strcmp(schema_words(interaction)[usual], interaction->word) != 0) usual++;
    SimMesoNumbers numbers = sim_meso_numbers(usual);
    ENSURE((float)schema_find(&schema_solver, 0, "elasticity")->number[0] == numbers.elasticity);
    ENSURE((float)schema_find(&schema_solver, 0, "viscosity")->number[0] == numbers.viscosity);
    ENSURE((float)schema_find(&schema_solver, 0, "elastic_reach")->number[0] == numbers.elastic_reach);
    ENSURE((float)schema_find(&schema_solver, 0, "reach_ratio")->number[0] == numbers.reach_ratio);
}

TEST(an_empty_block_is_read_as_its_defaults)
{
    JobVolume volume = {.voxel_radii = 7.0f, .dust = 1};
    JobNode empty = {json_object(), "volume"};
    ENSURE_OK(schema_read(&empty, &schema_volume, 0, &volume));
    ENSURE(volume.voxel_radii == 2.0f && volume.density == 1 && volume.dust == 0 && volume.dust_linger == 0.5f);
    json_decref((json_t *)empty.object);
}

TEST(the_schema_is_cut_where_the_room_ends)
{
    int64_t length = grain_job_schema(NULL, 0);
    char *whole = malloc((size_t)length + 1), part[100] = {0};
    ENSURE(whole != NULL);
    ENSURE_EQUAL(grain_job_schema(whole, length + 1), length);
    ENSURE_EQUAL((int64_t)strlen(whole), length);
    ENSURE_EQUAL(grain_job_schema(part, 50), length);
    ENSURE(strlen(part) == 49 && strncmp(part, whole, 49) == 0);
    free(whole);
}
