// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The one table of what job.json may say: every key with its type, unit, range, default and words. The reader of jobs
/// works through it, `grain schema` prints it, and the add-on and the tables of docs/formats.md are made from that.
///
/// To add a setting: a row in schema_*.c. With a field (INTO) it is read, checked and documented from then on.
#include "job/job.h"

/// The newest "schema" of a job that this library reads.
#define JOB_SCHEMA 1

typedef enum SettingType {
    SETTING_NUMBER,
    SETTING_INTEGER,
    SETTING_FLAG,   ///< true or false
    SETTING_CHOICE, ///< one of `words`
    SETTING_TEXT,
    SETTING_VECTOR, ///< three numbers
    SETTING_ARRAY,  ///< the number of an entry of "arrays"
    SETTING_OBJECT, ///< an object, or a list, which code of its own reads
} SettingType;

/// What a missing key means.
typedef enum SettingAbsence {
    SETTING_DEFAULTS,  ///< the default
    SETTING_REQUIRED,  ///< an error
    SETTING_INHERITS,  ///< what the field holds already; `otherwise` says in words what that is
    SETTING_IS_ABSENT, ///< that there is none, which the field's default stands for
} SettingAbsence;

/// How a field of a C struct is laid out.
typedef enum SettingStore {
    STORE_NOTHING,
    STORE_FLOAT,
    STORE_DOUBLE,
    STORE_INT,
    STORE_INT64,
    STORE_TEXT,
    STORE_VECTOR,
} SettingStore;
#define STORE_OF(field)                                                                                                \
    _Generic((field),                                                                                                  \
        float: STORE_FLOAT,                                                                                            \
        double: STORE_DOUBLE,                                                                                          \
        int: STORE_INT,                                                                                                \
        unsigned: STORE_INT,                                                                                           \
        int64_t: STORE_INT64,                                                                                          \
        uint64_t: STORE_INT64,                                                                                         \
        const char *: STORE_TEXT,                                                                                      \
        float *: STORE_VECTOR,                                                                                         \
        Vec3: STORE_VECTOR)
/// In a row: where the value goes. The type of the field says how.
#define INTO(Type, field) .offset = offsetof(Type, field), .store = STORE_OF(((Type *)0)->field)

/// What the interface calls one of the words of a choice.
typedef struct SettingWord {
    const char *label, *tip;
} SettingWord;

/// Where the interface shows or starts with something else than the file: an angle instead of its tangent, a value that
/// is a better start for an artist than what a missing key means.
typedef struct SettingShown {
    const char *as;   ///< "degrees": of the angle whose tangent the value is; "millions"; NULL: the value itself
    double number;    ///< the default
    const char *word; ///< the default of a choice
    double low, high; ///< both 0: as in the file
    double soft_low, soft_high;
} SettingShown;

typedef struct Setting {
    const char *key;
    SettingType type;
    SettingStore store;
    size_t offset;
    unsigned roles; ///< of objects, bits by JobRole: those that have it; 0: all
    const char *unit;
    double low, high; ///< of each component
    double soft_low,
        soft_high; ///< the useful part of the range, for sliders; both 0: all of it; soft_low 0: from `low`
    SettingAbsence absence;
    double number[3];               ///< the default; of a flag, 1 is true
    const char *word;               ///< the default of a choice or text
    const char *otherwise;          ///< in words, what a missing key means where that is no plain value
    const char *const *words;       ///< NULL: those of the solvers' choice of this key
    const SettingWord *word_labels; ///< of each word
    const SettingShown *shown;
    const char *label, *tip; ///< of the interface; NULL: it does not show it
    const char *meaning;     ///< for docs/formats.md
    const char *allowed;     ///< likewise, of what is no single value
    int is_animated;         ///< "animation" beside it may hold a curve
    int is_no_result;        ///< not part of the fingerprint: it does not change what is baked
} Setting;

#define ROLE(name) (1u << JOB_##name)

typedef struct SettingBlock {
    const char *name;
    const Setting *settings;
    int count;
} SettingBlock;
extern const SettingBlock schema_job, schema_geometry, schema_array, schema_object, schema_plane, schema_attribute,
    schema_material, schema_solver, schema_field, schema_upsample, schema_volume;
/// All of them, NULL-ended, in the order of docs/formats.md.
extern const SettingBlock *const schema_blocks[];

/// What a few blocks are read into that have no struct elsewhere.
typedef struct GeometryEntry {
    const char *file;
    int64_t bytes;
} GeometryEntry;
typedef struct AttributeEntry {
    const char *name;
    int is_of_corners;
} AttributeEntry;

/// The row of a key that is known to be there. role: of objects; of other blocks any.
const Setting *schema_find(const SettingBlock *block, int role, const char *key);
/// The words of a choice, NULL-ended.
const char *const *schema_words(const Setting *setting);
/// Whether objects of this role have the setting.
static inline int schema_has_role(const Setting *setting, int role)
{
    return setting->roles == 0 || (setting->roles >> role & 1u) != 0;
}

/// Refuses keys that the block does not have: a misspelt setting must not pass silently. Likewise those of its
/// "animation" that cannot change over the shot.
GrainResult schema_check_keys(const JobNode *node, const SettingBlock *block, int role);
/// Reads every setting of the block that has a field of *out. Fails as job_read does.
GrainResult schema_read(const JobNode *node, const SettingBlock *block, int role, void *out);
/// One of them, before the others.
GrainResult schema_read_one(const JobNode *node, const SettingBlock *block, int role, const char *key, void *out);

// schema_print.c
/// As grain_job_schema says.
int64_t schema_print(char *out, int64_t room);
