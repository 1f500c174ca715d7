// SPDX-License-Identifier: GPL-3.0-or-later
#include "cover/cover_tetra.h"

// A cell's corners are numbered by bits: 1 is one voxel on in x, 2 in y, 4 in z. All six tetrahedra share the diagonal
// from 0 to 7, and cells side by side cut their common face the same way.
static const uint8_t tetrahedra[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                         {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

typedef struct Cell {
    Vec3 first; // position of corner 0
    float voxel;
    float value[8]; // less the level
} Cell;

static Vec3 corner_position(const Cell *cell, int corner)
{
    return vec3(cell->first.x + cell->voxel * (float)(corner & 1),
                cell->first.y + cell->voxel * (float)(corner >> 1 & 1),
                cell->first.z + cell->voxel * (float)(corner >> 2));
}

static Vec3 crossing(const Cell *cell, int a, int b)
{
    float t = cell->value[a] / (cell->value[a] - cell->value[b]);
    Vec3 from = corner_position(cell, a), to = corner_position(cell, b);
    return vec3_add_scaled(from, vec3_sub(to, from), t);
}

// Which way a triangle is wound does not matter to those who ask.
static void visit_tetrahedron(const Cell *cell, const uint8_t corners[4], CoverTriangleFn *visit, void *user)
{
    int inside[4], outside[4], inside_count = 0, outside_count = 0;
    for (int i = 0; i < 4; i++) {
        if (cell->value[corners[i]] < 0.0f)
            inside[inside_count++] = corners[i];
        else
            outside[outside_count++] = corners[i];
    }
    if (inside_count == 0 || outside_count == 0) return;
    if (inside_count == 2) {
        Vec3 quad[4] = {crossing(cell, inside[0], outside[0]), crossing(cell, inside[0], outside[1]),
                        crossing(cell, inside[1], outside[1]), crossing(cell, inside[1], outside[0])};
        visit(user, (Vec3[3]){quad[0], quad[1], quad[2]});
        visit(user, (Vec3[3]){quad[0], quad[2], quad[3]});
        return;
    }
    int tip = inside_count == 1 ? inside[0] : outside[0];
    const int *base = inside_count == 1 ? outside : inside;
    visit(user, (Vec3[3]){crossing(cell, tip, base[0]), crossing(cell, tip, base[1]), crossing(cell, tip, base[2])});
}

// Whether the level passes through; fills cell->value if so.
static int load_cell(const GrainSdf *sdf, const float *values, int x, int y, int z, float level, Cell *cell)
{
    int inside = 0, known = 1;
    for (int corner = 0; corner < 8; corner++) {
        float value = values[sdf_block_index(x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2))];
        inside += value < level;
        known &= value > -sdf->half_width && value < sdf->half_width;
        cell->value[corner] = value - level;
    }
    return known && inside > 0 && inside < 8;
}

void cover_tetra_visit(const GrainSdf *sdf, int64_t block, float level, CoverTriangleFn *visit, void *user)
{
    int32_t at[3];
    sdf_block_corner(sdf, block, at);
    const float *values = sdf_block_values(sdf, block);
    for (int i = 0; i < 512; i++) {
        // Every third bit is one coordinate's (Morton 1966).
        int x = (i & 1) | (i >> 2 & 2) | (i >> 4 & 4), y = (i >> 1 & 1) | (i >> 3 & 2) | (i >> 5 & 4);
        int z = (i >> 2 & 1) | (i >> 4 & 2) | (i >> 6 & 4);
        Cell cell = {.voxel = sdf->voxel_size};
        if (!load_cell(sdf, values, x, y, z, level, &cell)) continue;
        cell.first = sdf_voxel_position(sdf, at[0] + x, at[1] + y, at[2] + z);
        for (int t = 0; t < 6; t++) visit_tetrahedron(&cell, tetrahedra[t], visit, user);
    }
}
