// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The single table of the settings in job.json: every key with its type, unit, range, default and values. Jobs are
/// read with it, `grain schema` prints it, and the add-on and the tables of docs/formats.md are generated from that
/// output.
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
    SETTING_OBJECT, ///< an object or a list, read by code of its own
} SettingType;

/// What a missing key means.
typedef enum SettingAbsence {
    SETTING_DEFAULTS,  ///< the default
    SETTING_REQUIRED,  ///< an error
    SETTING_INHERITS,  ///< the value the field already has; `otherwise` describes it
    SETTING_IS_ABSENT, ///< the setting is absent, which the default represents
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
/// In a row: the field for the value; its type determines the conversion.
#define INTO(Type, field) .offset = offsetof(Type, field), .store = STORE_OF(((Type *)0)->field)

/// Label and tooltip of one of the values of a choice.
typedef struct SettingWord {
    const char *label, *tip;
} SettingWord;

/// Where the interface differs from the file: an angle instead of its tangent, or a default that suits artists better
/// than the meaning of a missing key.
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
    const char *otherwise;          ///< the meaning of a missing key in words, if it is not a plain value
    const char *const *words;       ///< NULL: the values the solvers have for this key
    const SettingWord *word_labels; ///< of each word; NULL where they have none, and where the words are solvers
    const SettingShown *shown;
    const char *label, *tip; ///< of the interface; NULL: not shown
    const char *meaning;     ///< for docs/formats.md
    const char *allowed;     ///< likewise, if it is not a single value
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

/// Structs of blocks that have none elsewhere.
typedef struct GeometryEntry {
    const char *file;
    int64_t bytes;
} GeometryEntry;
typedef struct AttributeEntry {
    const char *name;
    int is_of_corners;
} AttributeEntry;

/// The row of an existing key. role: of objects; ignored for other blocks.
const Setting *schema_find(const SettingBlock *block, int role, const char *key);
/// The words of a choice, NULL-ended.
const char *const *schema_words(const Setting *setting);
/// What the interface calls one of the words, which may be nothing. Solvers say that in their rows.
SettingWord schema_label(const Setting *setting, int word);
/// Whether objects of this role have the setting.
static inline int schema_has_role(const Setting *setting, int role)
{
    return setting->roles == 0 || (setting->roles >> role & 1u) != 0;
}

/// Fails for unknown keys, so that a misspelt setting does not pass silently, and for keys of "animation" that cannot
/// be animated.
GrainResult schema_check_keys(const JobNode *node, const SettingBlock *block, int role);
/// Reads every setting of the block that has a field of *out. Fails as job_read does.
GrainResult schema_read(const JobNode *node, const SettingBlock *block, int role, void *out);
/// One of them, before the others.
GrainResult schema_read_one(const JobNode *node, const SettingBlock *block, int role, const char *key, void *out);

// schema_print.c
/// As grain_job_schema says.
int64_t schema_print(char *out, int64_t room);
