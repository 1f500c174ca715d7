// SPDX-License-Identifier: GPL-3.0-or-later
// The sparse blocks: particles sorted by block, the blocks their influence reaches, neighbouring blocks.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "base/sort.h"
#include "volume/volume_inside.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Voxel coordinates fit int32 with room for the blocks around them.
#define MOST_VOXELS 1e9
#define MOST_KEY_BITS 62

static int64_t block_of(double voxel) { return (int64_t)floor((floor(voxel + 0.5)) / 8.0); }

static uint64_t key_of(const VolumeLattice *l, int64_t x, int64_t y, int64_t z)
{
    return ((uint64_t)(z - l->low[2]) << l->bits[1] | (uint64_t)(y - l->low[1])) << l->bits[0] |
           (uint64_t)(x - l->low[0]);
}

static void place_of_key(const VolumeLattice *l, uint64_t key, int64_t place[3])
{
    for (int axis = 0; axis < 3; axis++) {
        place[axis] = (int64_t)(key & (((uint64_t)1 << l->bits[axis]) - 1)) + l->low[axis];
        key >>= l->bits[axis];
    }
}

// --- the lattice ----------------------------------------------------------------------------------

typedef struct Box {
    Vec3 low, high;
    int64_t bad; ///< a particle that is nowhere, or -1
} Box;

static Box box_of(const Vec3 *position, int64_t first, int64_t end)
{
    Box box = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}, -1};
    for (int64_t i = first; i < end; i++) {
        if (!vec3_is_finite(position[i])) box.bad = i;
        box.low = vec3_min(box.low, position[i]);
        box.high = vec3_max(box.high, position[i]);
    }
    return box;
}

static GrainResult find_box(const VolumeParticles *in, int threads, Box *out)
{
    int64_t piece_count = parallel_block_count(in->count, PARALLEL_BLOCK);
    Box *pieces = ALLOC(Box, piece_count);
    if (!pieces) return GRAIN_ERROR_MEMORY;
    PARALLEL_BLOCKS(threads, piece, piece_count)
    {
        pieces[piece] =
            box_of(in->position, piece * PARALLEL_BLOCK, parallel_block_end(piece, PARALLEL_BLOCK, in->count));
    }
    *out = pieces[0];
    for (int64_t i = 1; i < piece_count; i++) {
        out->low = vec3_min(out->low, pieces[i].low);
        out->high = vec3_max(out->high, pieces[i].high);
        if (pieces[i].bad >= 0) out->bad = pieces[i].bad;
    }
    alloc_free(pieces);
    return GRAIN_OK;
}

static GrainResult place_lattice(VolumeLattice *l, const VolumeParticles *in, int threads)
{
    Box box;
    TRY(find_box(in, threads, &box));
    if (box.bad >= 0) return fail(GRAIN_ERROR_DIVERGED, "particle %lld has no finite position", (long long)box.bad);
    double voxel = (double)l->def->voxel_size;
    const double low[3] = {(double)box.low.x, (double)box.low.y, (double)box.low.z};
    const double high[3] = {(double)box.high.x, (double)box.high.y, (double)box.high.z};
    int bits = 0;
    for (int axis = 0; axis < 3; axis++) {
        if (!(fabs(low[axis]) < MOST_VOXELS * voxel) || !(fabs(high[axis]) < MOST_VOXELS * voxel))
            bits = 1 + MOST_KEY_BITS;
        if (bits > MOST_KEY_BITS) break;
        // A block more on either side, for what reaches out of the outermost particles' own.
        l->low[axis] = block_of(low[axis] / voxel) - 1;
        int64_t last = block_of(high[axis] / voxel) + 1 - l->low[axis];
        for (l->bits[axis] = 1; last >> l->bits[axis] > 0;) l->bits[axis]++;
        bits += l->bits[axis];
    }
    if (bits <= MOST_KEY_BITS) return GRAIN_OK;
    return fail(GRAIN_ERROR_ARGUMENT,
                "voxels of %g m are too small for sand that lies between (%g, %g, %g) and (%g, %g, %g) m; use larger "
                "ones, or remove sand that has fallen far down",
                voxel, low[0], low[1], low[2], high[0], high[1], high[2]);
}

// --- particles by block ---------------------------------------------------------------------------

static float width_of(const VolumeLattice *l, const VolumeParticles *in, int64_t i)
{
    float width = (in->width ? in->width[i] : 2.0f * in->radius[i]) / l->def->voxel_size;
    return width < 1.0f ? 1.0f : width > VOLUME_MOST_WIDTH ? VOLUME_MOST_WIDTH : width;
}

// What the spline adds up to over the voxels of a row: not quite the width where that is no whole number.
static double spline_sum(double at, double width)
{
    double sum = 0.0, reach = 1.5 * width;
    for (double i = ceil(at - reach); i <= at + reach; i += 1.0) {
        double t = fabs(i - at) / width, far = 1.5 - t;
        sum += t < 0.5 ? 0.75 - t * t : 0.5 * far * far;
    }
    return sum;
}

static VolumePoint make_point(const VolumeLattice *l, const VolumeParticles *in, int64_t i)
{
    double voxel = (double)l->def->voxel_size, place[3], sum = 1.0;
    float width = width_of(l, in, i), radius = in->radius[i];
    const double at[3] = {(double)in->position[i].x / voxel, (double)in->position[i].y / voxel,
                          (double)in->position[i].z / voxel};
    for (int axis = 0; axis < 3; axis++) {
        place[axis] = at[axis] - 8.0 * (double)block_of(at[axis]);
        if (width > 1.0f) sum *= spline_sum(place[axis], (double)width);
    }
    double cube = (double)radius * (double)radius * (double)radius;
    double amount = in->amount ? (double)in->amount[i] : in->amount_each + in->amount_of_cube * cube;
    Vec3 velocity = in->velocity ? in->velocity[i] : vec3(0, 0, 0);
    return (VolumePoint){(float)place[0],
                         (float)place[1],
                         (float)place[2],
                         {velocity.x, velocity.y, velocity.z},
                         (float)(amount / (sum * voxel * voxel * voxel)),
                         1.0f / width,
                         radius / l->def->voxel_size};
}

static int key_bits(const VolumeLattice *l) { return l->bits[0] + l->bits[1] + l->bits[2]; }

static GrainResult sort_particles(VolumeLattice *l, const VolumeParticles *in, SortItem *items, SortScratch *scratch,
                                  int threads)
{
    double voxel = (double)l->def->voxel_size;
    PARALLEL_FOR(threads, i, in->count)
    {
        uint64_t key = key_of(l, block_of((double)in->position[i].x / voxel),
                              block_of((double)in->position[i].y / voxel), block_of((double)in->position[i].z / voxel));
        items[i] = (SortItem){key, (uint32_t)i, 0};
    }
    TRY(sort_by_key(items, in->count, key_bits(l), scratch, threads));
    l->points = ALLOC(VolumePoint, in->count);
    if (!l->points) return GRAIN_ERROR_MEMORY;
    PARALLEL_FOR(threads, i, in->count) { l->points[i] = make_point(l, in, items[i].value); }
    for (int64_t i = 0; i < in->count; i++) l->cell_count += i == 0 || items[i].key != items[i - 1].key;
    l->cells = ALLOC(VolumeCell, l->cell_count);
    if (!l->cells) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0, cell = -1; i < in->count; i++) {
        if (i == 0 || items[i].key != items[i - 1].key) l->cells[++cell] = (VolumeCell){items[i].key, i, i};
        l->cells[cell].end = i + 1;
    }
    return GRAIN_OK;
}

// --- blocks ---------------------------------------------------------------------------------------

// Which of the three blocks of an axis a cell's particles reach: bits 0, 1, 2 for before, own, behind.
static void sides_reached(const VolumeLattice *l, const VolumeCell *cell, int sides[3])
{
    sides[0] = sides[1] = sides[2] = 2;
    for (int64_t i = cell->first; i < cell->end; i++) {
        const VolumePoint *p = &l->points[i];
        float reach = 1.5f / p->inverse_width;
        if (l->def->surface_radii > 0.0f)
            reach = real_maxf(
                reach, real_maxf(volume_surface_reach(p->radius, l->def->surface_radii), p->radius + VOLUME_BAND));
        reach = real_minf(reach, 8.0f);
        if (l->def->velocity_seconds > 0.0f) {
            const float *v = p->velocity;
            float way = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * l->def->velocity_seconds;
            reach = real_minf(reach + way / l->def->voxel_size, 8.0f);
        }
        const float at[3] = {p->x, p->y, p->z};
        for (int axis = 0; axis < 3; axis++)
            sides[axis] |= (at[axis] - reach < 0.0f ? 1 : 0) | (at[axis] + reach > 7.0f ? 4 : 0);
    }
}

static uint64_t key_near(const VolumeLattice *l, uint64_t key, const int step[3])
{
    int64_t place[3];
    place_of_key(l, key, place);
    return key_of(l, place[0] + step[0], place[1] + step[1], place[2] + step[2]);
}

static GrainResult list_blocks(VolumeLattice *l, SortScratch *scratch, int threads)
{
    SortItem *items = ALLOC(SortItem, 27 * l->cell_count);
    uint8_t *sides = ALLOC(uint8_t, 3 * l->cell_count);
    int64_t count = 0;
    GrainResult result = items && sides ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) {
        PARALLEL_BLOCKS(threads, c, l->cell_count)
        {
            int reached[3];
            sides_reached(l, &l->cells[c], reached);
            for (int axis = 0; axis < 3; axis++) sides[3 * c + axis] = (uint8_t)reached[axis];
        }
        for (int64_t c = 0; c < l->cell_count; c++)
            for (int way = 0; way < 27; way++) {
                const int step[3] = {way % 3 - 1, way / 3 % 3 - 1, way / 9 - 1};
                const uint8_t *own = sides + 3 * c;
                if ((own[0] >> (step[0] + 1) & own[1] >> (step[1] + 1) & own[2] >> (step[2] + 1) & 1) == 0) continue;
                items[count++] = (SortItem){key_near(l, l->cells[c].key, step), 0, 0};
            }
        result = sort_by_key(items, count, key_bits(l), scratch, threads);
    }
    if (result == GRAIN_OK) {
        l->block_key = ALLOC(uint64_t, count);
        result = l->block_key ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    }
    for (int64_t i = 0; result == GRAIN_OK && i < count; i++)
        if (i == 0 || items[i].key != items[i - 1].key) l->block_key[l->block_count++] = items[i].key;
    alloc_free(items);
    alloc_free(sides);
    return result;
}

GrainResult volume_lattice_make(VolumeLattice *lattice, const VolumeDef *def, const VolumeParticles *in, int threads)
{
    lattice->def = def;
    if (in->count == 0) return GRAIN_OK;
    if (in->count > UINT32_MAX) return fail(GRAIN_ERROR_ARGUMENT, "%lld particles are too many", (long long)in->count);
    TRY(place_lattice(lattice, in, threads));
    SortScratch scratch = {0};
    SortItem *items = ALLOC(SortItem, in->count);
    GrainResult result = items ? sort_particles(lattice, in, items, &scratch, threads) : GRAIN_ERROR_MEMORY;
    alloc_free(items);
    if (result == GRAIN_OK) result = list_blocks(lattice, &scratch, threads);
    sort_scratch_free(&scratch);
    return result;
}

void volume_lattice_free(VolumeLattice *lattice)
{
    alloc_free(lattice->points);
    alloc_free(lattice->cells);
    alloc_free(lattice->block_key);
    *lattice = (VolumeLattice){0};
}

const VolumeCell *volume_cell_near(const VolumeLattice *lattice, uint64_t block_key, const int step[3])
{
    int64_t place[3];
    place_of_key(lattice, block_key, place);
    for (int axis = 0; axis < 3; axis++) {
        int64_t at = place[axis] + step[axis] - lattice->low[axis];
        if (at < 0 || at >> lattice->bits[axis] > 0) return NULL;
    }
    uint64_t key = key_of(lattice, place[0] + step[0], place[1] + step[1], place[2] + step[2]);
    int64_t first = 0, end = lattice->cell_count;
    while (first < end) {
        int64_t middle = first + (end - first) / 2;
        if (lattice->cells[middle].key < key)
            first = middle + 1;
        else
            end = middle;
    }
    return first < lattice->cell_count && lattice->cells[first].key == key ? &lattice->cells[first] : NULL;
}

static int32_t find_block(const VolumeLattice *l, const int64_t place[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (place[axis] < l->low[axis] || (place[axis] - l->low[axis]) >> l->bits[axis] > 0) return -1;
    uint64_t key = key_of(l, place[0], place[1], place[2]);
    int64_t first = 0, end = l->block_count;
    while (first < end) {
        int64_t middle = first + (end - first) / 2;
        if (l->block_key[middle] < key)
            first = middle + 1;
        else
            end = middle;
    }
    return first < l->block_count && l->block_key[first] == key ? (int32_t)first : -1;
}

GrainResult volume_place_blocks(Volume *volume, const VolumeLattice *lattice, int threads)
{
    int64_t count = lattice->block_count;
    if (count > INT32_MAX / 2)
        return fail(GRAIN_ERROR_MEMORY, "%lld blocks of voxels are too many; use larger voxels", (long long)count);
    volume->block_count = count;
    volume->corner = ALLOC(int32_t, 3 * count);
    volume->neighbour = ALLOC(int32_t, 6 * count);
    if (!volume->corner || !volume->neighbour) return GRAIN_ERROR_MEMORY;
    PARALLEL_FOR(threads, block, count)
    {
        int64_t place[3];
        place_of_key(lattice, lattice->block_key[block], place);
        for (int axis = 0; axis < 3; axis++) {
            volume->corner[3 * block + axis] = (int32_t)(8 * place[axis]);
            for (int side = 0; side < 2; side++) {
                place[axis] += 2 * side - 1;
                volume->neighbour[6 * block + 2 * axis + side] = find_block(lattice, place);
                place[axis] -= 2 * side - 1;
            }
        }
    }
    return GRAIN_OK;
}

void volume_pad(const Volume *volume, const float *values, int64_t stride, int64_t block, float missing,
                float padded[1000])
{
    static const int pitch[3] = {1, 10, 100}, step[3] = {1, 8, 64};
    const float *own = values + stride * block;
    for (int z = 0; z < 8; z++)
        for (int y = 0; y < 8; y++)
            memcpy(padded + (z + 1) * 100 + (y + 1) * 10 + 1, own + 64 * z + 8 * y, 8 * sizeof *own);
    for (int side = 0; side < 6; side++) {
        int axis = side / 2, a = (axis + 1) % 3, b = (axis + 2) % 3;
        int32_t other = volume->neighbour[6 * block + side];
        const float *from = other < 0 ? NULL : values + stride * other + (side % 2 ? 0 : 7 * step[axis]);
        float *to = padded + 111 - pitch[axis] + (side % 2 ? 9 * pitch[axis] : 0);
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++)
                to[i * pitch[a] + j * pitch[b]] = from ? from[i * step[a] + j * step[b]] : missing;
    }
}
