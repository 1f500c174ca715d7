// SPDX-License-Identifier: GPL-3.0-or-later
// .ply, text and binary of either byte order: the elements `vertex` (x, y, z) and `face` (a list of vertex_indices);
// everything else is stepped over.
#include "base/error.h"
#include "mesh/mesh_read.h"

#include <math.h>
#include <string.h>

#define MAX_ELEMENTS 16
#define MAX_PROPERTIES 64
#define FIX_HEADER "correct the header, or export the mesh again"

typedef enum PlyType { PLY_I8, PLY_U8, PLY_I16, PLY_U16, PLY_I32, PLY_U32, PLY_F32, PLY_F64, PLY_TYPE_COUNT } PlyType;

static const struct {
    const char *name, *other_name;
    int bytes;
} types[PLY_TYPE_COUNT] = {{"char", "int8", 1},     {"uchar", "uint8", 1},   {"short", "int16", 2},
                           {"ushort", "uint16", 2}, {"int", "int32", 4},     {"uint", "uint32", 4},
                           {"float", "float32", 4}, {"double", "float64", 8}};

typedef enum PlyRole { PLY_OTHER, PLY_X, PLY_Y, PLY_Z, PLY_CORNERS } PlyRole;

typedef struct PlyProperty {
    PlyType type, count_type; // count_type only for lists
    int is_list;
    PlyRole role;
} PlyProperty;

typedef struct PlyElement {
    int is_vertex, is_face;
    int64_t count;
    PlyProperty property[MAX_PROPERTIES];
    int property_count;
} PlyElement;

typedef enum PlyFormat { PLY_TEXT, PLY_LITTLE, PLY_BIG } PlyFormat;

typedef struct Ply {
    Reader *r;
    GrainMeshFile *file;
    PlyFormat format;
    PlyElement element[MAX_ELEMENTS];
    int element_count;
} Ply;

// --- the header -----------------------------------------------------------------------------------

static int take_type(Reader *r, PlyType *type)
{
    for (int i = 0; i < PLY_TYPE_COUNT; i++)
        if (reader_take_word(r, types[i].name) || reader_take_word(r, types[i].other_name)) {
            *type = (PlyType)i;
            return 1;
        }
    return 0;
}

static GrainResult read_format(Ply *ply)
{
    Reader *r = ply->r;
    if (reader_take_word(r, "ascii"))
        ply->format = PLY_TEXT;
    else if (reader_take_word(r, "binary_little_endian"))
        ply->format = PLY_LITTLE;
    else if (reader_take_word(r, "binary_big_endian"))
        ply->format = PLY_BIG;
    else
        return reader_fail(r, "the format must be ascii, binary_little_endian or binary_big_endian");
    return GRAIN_OK;
}

static GrainResult read_element(Ply *ply)
{
    Reader *r = ply->r;
    if (ply->element_count == MAX_ELEMENTS) return reader_fail(r, "more than %d kinds of elements", MAX_ELEMENTS);
    PlyElement *element = &ply->element[ply->element_count++];
    *element = (PlyElement){0};
    element->is_vertex = reader_take_word(r, "vertex");
    element->is_face = !element->is_vertex && reader_take_word(r, "face");
    if (!element->is_vertex && !element->is_face) { // step over its name
        reader_skip_blanks(r);
        while (r->at < r->end && *r->at != ' ' && *r->at != '\t' && *r->at != '\n') r->at++;
    }
    double count;
    if (!reader_take_number(r, &count) || !(count >= 0.0)) return reader_fail(r, "an element has no count");
    // An element takes a byte at least; so a wrong count is seen before anything is made for it.
    if (count > (double)(r->end - r->at))
        return reader_fail(r, "%.0f elements are announced, but the file has only %lld bytes", count,
                           (long long)(r->end - r->at));
    element->count = (int64_t)count;
    return GRAIN_OK;
}

static GrainResult read_property(Ply *ply)
{
    Reader *r = ply->r;
    if (ply->element_count == 0) return reader_fail(r, "a property before any element");
    PlyElement *element = &ply->element[ply->element_count - 1];
    if (element->property_count == MAX_PROPERTIES)
        return reader_fail(r, "an element has more than %d properties", MAX_PROPERTIES);
    PlyProperty *property = &element->property[element->property_count++];
    *property = (PlyProperty){.is_list = reader_take_word(r, "list")};
    if (property->is_list && !take_type(r, &property->count_type))
        return reader_fail(r, "a list's count has no known type");
    if (!take_type(r, &property->type)) return reader_fail(r, "a property has no known type");
    if (element->is_vertex && !property->is_list)
        property->role = reader_take_word(r, "x")   ? PLY_X
                         : reader_take_word(r, "y") ? PLY_Y
                         : reader_take_word(r, "z") ? PLY_Z
                                                    : PLY_OTHER;
    if (element->is_face && property->is_list &&
        (reader_take_word(r, "vertex_indices") || reader_take_word(r, "vertex_index")))
        property->role = PLY_CORNERS;
    return GRAIN_OK;
}

static GrainResult read_header(Ply *ply)
{
    Reader *r = ply->r;
    int has_format = 0;
    r->line = 1;
    if (!reader_take_word(r, "ply")) return reader_fail(r, "a .ply file begins with the word ply");
    while (reader_next_line(r)) {
        if (reader_take_word(r, "end_header")) {
            if (!has_format) return reader_fail(r, "the header has no format line");
            reader_next_line(r);
            return GRAIN_OK;
        }
        if (reader_take_word(r, "format")) {
            TRY(read_format(ply));
            has_format = 1;
        } else if (reader_take_word(r, "element"))
            TRY(read_element(ply));
        else if (reader_take_word(r, "property"))
            TRY(read_property(ply));
    }
    return reader_fail(r, "the header has no end_header line");
}

// --- the elements ---------------------------------------------------------------------------------

static GrainResult take_text_value(Ply *ply, double *value)
{
    Reader *r = ply->r;
    if (reader_is_line_over(r))
        return reader_fail(r, "a number is missing: the row has fewer than the header announces; " FIX_HEADER);
    if (reader_take_number(r, value) && reader_is_word_over(r)) return GRAIN_OK;
    return reader_fail(r, "a value is not a number");
}

static GrainResult take_binary_value(Ply *ply, PlyType type, double *value)
{
    Reader *r = ply->r;
    int bytes = types[type].bytes;
    if (r->end - r->at < bytes) return reader_fail(r, "the file is truncated");
    uint64_t word = 0;
    for (int i = 0; i < bytes; i++)
        word |= (uint64_t)(uint8_t)r->at[i] << (8 * (ply->format == PLY_LITTLE ? i : bytes - 1 - i));
    r->at += bytes;
    float single;
    uint32_t low = (uint32_t)word;
    switch (type) {
    case PLY_I8:
        *value = (int8_t)low;
        break;
    case PLY_I16:
        *value = (int16_t)low;
        break;
    case PLY_I32:
        *value = (int32_t)low;
        break;
    case PLY_F32:
        memcpy(&single, &low, 4), *value = (double)single;
        break;
    case PLY_F64:
        memcpy(value, &word, 8);
        break;
    default:
        *value = low;
        break;
    }
    return GRAIN_OK;
}

static GrainResult take_value(Ply *ply, PlyType type, double *value)
{
    return ply->format == PLY_TEXT ? take_text_value(ply, value) : take_binary_value(ply, type, value);
}

static GrainResult read_list(Ply *ply, const PlyProperty *property)
{
    double announced;
    TRY(take_value(ply, property->count_type, &announced));
    if (!(announced >= 0.0 && announced <= MESH_FILE_MAX_CORNERS) && property->role == PLY_CORNERS)
        return reader_fail(ply->r, "a face has %g corners; up to %d are allowed", announced, MESH_FILE_MAX_CORNERS);
    if (!(announced >= 0.0 && announced <= (double)(ply->r->end - ply->r->at)))
        return reader_fail(ply->r, "a list of %g values is longer than the file", announced);
    int64_t corners[MESH_FILE_MAX_CORNERS], count = (int64_t)announced;
    for (int64_t i = 0; i < count; i++) {
        double value;
        TRY(take_value(ply, property->type, &value));
        if (property->role != PLY_CORNERS) continue;
        if (value != floor(value)) return reader_fail(ply->r, "a face's corner is %g, not a whole number", value);
        corners[i] = value >= 0.0 && value <= INT32_MAX ? (int64_t)value : -1;
    }
    return property->role == PLY_CORNERS && count >= 3 ? mesh_file_add_face(ply->file, corners, count) : GRAIN_OK;
}

static GrainResult read_one(Ply *ply, const PlyElement *element)
{
    double place[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < element->property_count; i++) {
        const PlyProperty *property = &element->property[i];
        double value;
        if (property->is_list) {
            TRY(read_list(ply, property));
            continue;
        }
        TRY(take_value(ply, property->type, &value));
        if (property->role >= PLY_X && property->role <= PLY_Z) place[property->role - PLY_X] = value;
    }
    return element->is_vertex ? mesh_file_add_vertex(ply->file, place[0], place[1], place[2]) : GRAIN_OK;
}

// Of text, each element is a line. Where rows hold other values than the header says, numbers would be taken for what
// they are not.
static GrainResult read_row(Ply *ply, const PlyElement *element)
{
    Reader *r = ply->r;
    if (ply->format != PLY_TEXT) return read_one(ply, element);
    while (r->at < r->end && reader_is_line_over(r)) reader_next_line(r);
    TRY(read_one(ply, element));
    if (!reader_is_line_over(r))
        return reader_fail(r, "the row has more values than the header announces (%d properties): " FIX_HEADER,
                           element->property_count);
    reader_next_line(r);
    return GRAIN_OK;
}

// Behind the last element there may be an end of line, or zeros to fill up, but no values.
static GrainResult check_end(const Reader *r)
{
    for (const char *at = r->at; at < r->end; at++)
        if (*at != 0 && *at != ' ' && *at != '\t' && *at != '\r' && *at != '\n')
            return reader_fail(r,
                               "%lld bytes are left after the last row that the header announces: its counts or "
                               "properties are not those of the rows; " FIX_HEADER,
                               (long long)(r->end - at));
    return GRAIN_OK;
}

static GrainResult check_elements(const Ply *ply)
{
    int has[PLY_CORNERS + 1] = {0};
    for (int e = 0; e < ply->element_count; e++)
        for (int p = 0; p < ply->element[e].property_count; p++) has[ply->element[e].property[p].role] = 1;
    if (!has[PLY_X] || !has[PLY_Y] || !has[PLY_Z]) return reader_fail(ply->r, "the vertices have no x, y and z");
    if (!has[PLY_CORNERS]) return reader_fail(ply->r, "there are no faces (vertex_indices); is it a point cloud?");
    return GRAIN_OK;
}

GrainResult mesh_read_ply(Reader *r, GrainMeshFile *file)
{
    Ply ply = {.r = r, .file = file};
    TRY(read_header(&ply));
    TRY(check_elements(&ply));
    if (ply.format != PLY_TEXT) r->line = 0; // there are none
    for (int e = 0; e < ply.element_count; e++)
        for (int64_t i = 0; i < ply.element[e].count; i++) {
            // An element without properties is nothing at all, however often it is announced.
            if (ply.element[e].property_count == 0 && !ply.element[e].is_vertex) break;
            TRY(read_row(&ply, &ply.element[e]));
        }
    TRY(check_end(r));
    r->line = 0;
    if (file->triangle_count == 0) return reader_fail(r, "the file has no faces");
    return GRAIN_OK;
}
