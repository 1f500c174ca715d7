// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/export.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "cover/cover.h"
#include "output/volume_file.h"
#include "volume/volume.h"

#include <stdio.h>
#include <string.h>

// Particles turned into rows at once.
#define ROWS 16384
#define MOST_PROPERTIES 256
#define SPHERE 4.18879020478639

/// One number of a row: where it comes from and what it is there.
typedef struct Property {
    const char *from; ///< its first value; NULL: the particle's number
    size_t stride, size;
    GrainType type;
} Property;

typedef struct Table {
    Property properties[MOST_PROPERTIES];
    int count;
    size_t row_bytes;
    char header[16384];
    size_t header_length;
} Table;

static const size_t type_bytes[] = {[GRAIN_F32] = 4, [GRAIN_I32] = 4, [GRAIN_F64] = 8, [GRAIN_I64] = 8};

static GrainResult add(Table *table, const Column *column, int component, const char *name)
{
    static const char *const type_names[] = {
        [GRAIN_F32] = "float", [GRAIN_I32] = "int", [GRAIN_F64] = "double", [GRAIN_I64] = "double"};
    size_t bytes = type_bytes[column->type];
    if (table->count == MOST_PROPERTIES)
        return fail(GRAIN_ERROR_ARGUMENT, "the frame has more than %d numbers to a particle", MOST_PROPERTIES);
    table->properties[table->count++] =
        (Property){column->data ? (const char *)column->data + (size_t)component * bytes : NULL,
                   bytes * (size_t)column->components, bytes, column->type};
    table->row_bytes += bytes;
    table->header_length +=
        (size_t)snprintf(table->header + table->header_length, sizeof table->header - table->header_length,
                         "property %s %s\n", type_names[column->type], name);
    return GRAIN_OK;
}

static GrainResult add_named(Table *table, const Column *column, const char *const *names)
{
    for (int i = 0; i < column->components; i++) TRY(add(table, column, i, names[i]));
    return GRAIN_OK;
}

// Columns beyond the known ones: by their own name, with a number where an element has several. PLY ends a name at a
// blank.
static GrainResult add_other(Table *table, const Column *column)
{
    for (int i = 0; i < column->components; i++) {
        char name[48];
        snprintf(name, sizeof name, column->components > 1 ? "%s_%d" : "%s", column->name, i);
        for (char *at = name; *at; at++)
            if (*at <= ' ') *at = '_';
        TRY(add(table, column, i, name));
    }
    return GRAIN_OK;
}

static const Column *find(const struct GrainFrame *frame, const char *name, GrainType type, int components)
{
    const Column *column = column_find(frame->columns, frame->column_count, name);
    int fits =
        column && column->type == type && column->components == components && column->count == frame->header.particles;
    return fits ? column : NULL;
}

static GrainResult list_properties(const struct GrainFrame *frame, Table *table)
{
    static const struct {
        const char *name;
        GrainType type;
        const char *properties[5];
    } known[] = {{"position", GRAIN_F32, {"x", "y", "z"}},
                 {"velocity", GRAIN_F32, {"vx", "vy", "vz"}},
                 {"radius", GRAIN_F32, {"radius"}},
                 {"orientation", GRAIN_F32, {"qw", "qx", "qy", "qz"}},
                 {"id", GRAIN_I64, {"id"}}};
    static const Column number = {"id", GRAIN_I32, 1, 0, NULL};
    int64_t count = frame->header.particles;
    table->header_length = (size_t)snprintf(table->header, sizeof table->header,
                                            "ply\nformat binary_little_endian 1.0\ncomment Grain %s, frame %d, metres\n"
                                            "element vertex %lld\n",
                                            grain_version(), frame->header.frame, (long long)count);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        int components = 0;
        while (known[k].properties[components]) components++;
        const Column *column = find(frame, known[k].name, known[k].type, components);
        if (column)
            TRY(add_named(table, column, known[k].properties));
        else if (k == 0)
            return fail(GRAIN_ERROR_DAMAGED, "frame %d has no positions", frame->header.frame);
        else if (strcmp(known[k].name, "id") == 0)
            TRY(add_named(table, &number, known[k].properties));
    }
    for (int c = 0; c < frame->column_count; c++) {
        const Column *column = &frame->columns[c];
        int is_known = 0;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) is_known |= strcmp(column->name, known[k].name) == 0;
        if (!is_known && column->count == count && strncmp(column->name, "body.", 5) != 0)
            TRY(add_other(table, column));
    }
    table->header_length += (size_t)snprintf(table->header + table->header_length,
                                             sizeof table->header - table->header_length, "end_header\n");
    return GRAIN_OK;
}

static void fill_row(const Table *table, int64_t particle, char *row)
{
    for (int i = 0; i < table->count; i++) {
        const Property *property = &table->properties[i];
        const char *from = property->from ? property->from + (size_t)particle * property->stride : NULL;
        if (!from) {
            int32_t number = (int32_t)particle;
            memcpy(row, &number, sizeof number);
        } else if (property->type == GRAIN_I64) {
            int64_t whole;
            memcpy(&whole, from, sizeof whole);
            double value = (double)whole;
            memcpy(row, &value, sizeof value);
        } else {
            memcpy(row, from, property->size);
        }
        row += property->size;
    }
}

static GrainResult write_rows(FileWriter *file, const Table *table, int64_t count)
{
    char *rows = ALLOC(char, ROWS *(int64_t)table->row_bytes);
    GrainResult result = rows ? file_write(file, table->header, table->header_length) : GRAIN_ERROR_MEMORY;
    for (int64_t first = 0; result == GRAIN_OK && first < count; first += ROWS) {
        int64_t own = count - first < ROWS ? count - first : ROWS;
        for (int64_t i = 0; i < own; i++) fill_row(table, first + i, rows + (size_t)i * table->row_bytes);
        result = file_write(file, rows, (size_t)own * table->row_bytes);
    }
    alloc_free(rows);
    return result;
}

GrainResult export_ply(const char *path, const struct GrainFrame *frame)
{
    Table *table = ALLOC_ZEROED(Table, 1);
    if (!table) return GRAIN_ERROR_MEMORY;
    FileWriter file;
    GrainResult result = list_properties(frame, table);
    if (result == GRAIN_OK) result = file_create(&file, path);
    if (result == GRAIN_OK) {
        result = write_rows(&file, table, frame->header.particles);
        if (result == GRAIN_OK)
            result = file_commit(&file);
        else
            file_abandon(&file);
    }
    alloc_free(table);
    return result;
}

// --- OpenVDB --------------------------------------------------------------------------------------

static float mean_radius(const Column *radius)
{
    double sum = 0.0;
    for (int64_t i = 0; i < radius->count; i++) sum += (double)((const float *)radius->data)[i];
    return radius->count > 0 ? (float)(sum / (double)radius->count) : 1.0f;
}

static GrainResult find_sand(const struct GrainFrame *frame, const Column **position, const Column **velocity,
                             const Column **radius)
{
    *position = find(frame, "position", GRAIN_F32, 3);
    *velocity = find(frame, "velocity", GRAIN_F32, 3);
    *radius = find(frame, "radius", GRAIN_F32, 1);
    if (*position && *velocity && *radius) return GRAIN_OK;
    return fail(GRAIN_ERROR_DAMAGED, "frame %d has no positions, velocities or radii", frame->header.frame);
}

GrainResult export_points(const char *path, const struct GrainFrame *frame)
{
    const Column *position, *velocity, *radius;
    TRY(find_sand(frame, &position, &velocity, &radius));
    const Column *orientation = find(frame, "orientation", GRAIN_F32, 4), *id = find(frame, "id", GRAIN_I64, 1);
    int64_t *numbers = id ? NULL : ALLOC(int64_t, frame->header.particles);
    if (!id && !numbers) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; numbers && i < frame->header.particles; i++) numbers[i] = i;
    char creator[64];
    snprintf(creator, sizeof creator, "Grain %s", grain_version());
    // Voxels of two diameters hold about ten grains each, as OpenVDB likes it; 1/65536 of that is far below a grain.
    VdbPoints points = {.creator = creator,
                        .voxel_size = 4.0 * (double)mean_radius(radius),
                        .count = frame->header.particles,
                        .position = position->data,
                        .velocity = velocity->data,
                        .radius = radius->data,
                        .orientation = orientation ? orientation->data : NULL,
                        .id = id ? id->data : numbers};
    GrainResult result = volume_file_write_points(path, &points);
    alloc_free(numbers);
    return result;
}

GrainResult export_grids(const char *path, const struct GrainFrame *frame, float voxel_radii, double fps, int threads)
{
    const Column *position, *velocity, *radius;
    TRY(find_sand(frame, &position, &velocity, &radius));
    VolumeParticles particles = {.count = frame->header.particles,
                                 .position = position->data,
                                 .velocity = velocity->data,
                                 .radius = radius->data,
                                 .amount_of_cube = SPHERE};
    VolumeDef def = {.voxel_size = voxel_radii * mean_radius(radius), .velocity_seconds = (float)(0.5 / fps)};
    Volume volume;
    TRY(volume_make(&volume, &def, &particles, threads));
    char creator[64];
    snprintf(creator, sizeof creator, "Grain %s", grain_version());
    const VdbNumber numbers[] = {{"frame", frame->header.frame}, {"seconds", frame->header.time}, {"fps", fps}};
    const VdbGrid grids[] = {
        {"density", VDB_FOG, 0.0f, volume.voxel_size, volume.block_count, volume.corner, volume.density},
        {"velocity", VDB_VELOCITY, 0.0f, volume.voxel_size, volume.block_count, volume.corner, volume.velocity}};
    VdbFile file = {creator, numbers, sizeof numbers / sizeof *numbers, grids, sizeof grids / sizeof *grids};
    ColumnFileHeader header;
    GrainResult result = volume_file_write(path, &file, &header);
    volume_free(&volume);
    return result;
}

GrainResult export_frame(const struct GrainFrame *frame, const GrainExportDef *def, int threads)
{
    switch (def->format) {
    case GRAIN_EXPORT_PLY:
        return export_ply(def->path, frame);
    case GRAIN_EXPORT_VDB_POINTS:
        return export_points(def->path, frame);
    default:
        return export_grids(def->path, frame, def->voxel_size, def->fps, threads);
    }
}

// --- covers -----------------------------------------------------------------------------------------

static GrainResult write_cover(FileWriter *file, const GrainCover *cover)
{
    enum { COLUMNS = 8, BATCH = 1024 };
    float rows[BATCH][COLUMNS];
    char header[512];
    int length = snprintf(header, sizeof header,
                          "ply\nformat binary_little_endian 1.0\ncomment Grain %s\nelement vertex %lld\n"
                          "property float x\nproperty float y\nproperty float z\n"
                          "property float nx\nproperty float ny\nproperty float nz\n"
                          "property float radius\nproperty float weight\nend_header\n",
                          grain_version(), (long long)cover->count);
    TRY(file_write(file, header, (size_t)length));
    for (int64_t first = 0; first < cover->count; first += BATCH) {
        int64_t count = cover->count - first < BATCH ? cover->count - first : BATCH;
        for (int64_t i = 0; i < count; i++) {
            memcpy(rows[i], cover->position + 3 * (first + i), 3 * sizeof(float));
            memcpy(rows[i] + 3, cover->normal + 3 * (first + i), 3 * sizeof(float));
            rows[i][6] = cover->def.radius;
            rows[i][7] = cover->weight[first + i];
        }
        TRY(file_write(file, rows, (size_t)count * sizeof *rows));
    }
    return GRAIN_OK;
}

GrainResult export_cover(const char *path, const GrainCover *cover)
{
    FileWriter file;
    TRY(file_create(&file, path));
    GrainResult result = write_cover(&file, cover);
    if (result == GRAIN_OK) return file_commit(&file);
    file_abandon(&file);
    return result;
}
