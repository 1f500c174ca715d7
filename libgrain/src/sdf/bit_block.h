// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// 8 x 8 x 8 yes or no: a word for each z, a byte of it for each y, a bit of that for each x. Used for the voxels of a
/// block and for the children of a node alike.
#include <stdint.h>

typedef struct BitBlock {
    uint64_t slice[8];
} BitBlock;

#define BIT_BLOCK_COLUMN_FIRST 0x0101010101010101ull
#define BIT_BLOCK_COLUMN_LAST 0x8080808080808080ull

static inline int bit_block_has(const BitBlock *bits, int slot)
{
    return (int)(bits->slice[slot >> 6] >> (slot & 63) & 1);
}
static inline void bit_block_add(BitBlock *bits, int slot) { bits->slice[slot >> 6] |= 1ull << (slot & 63); }
static inline int bit_block_is_empty(const BitBlock *bits)
{
    uint64_t any = 0;
    for (int z = 0; z < 8; z++) any |= bits->slice[z];
    return any == 0;
}

/// The six neighbours of all that is set.
static inline BitBlock bit_block_around(const BitBlock *bits)
{
    BitBlock around;
    for (int z = 0; z < 8; z++) {
        uint64_t own = bits->slice[z];
        around.slice[z] = (own & ~BIT_BLOCK_COLUMN_LAST) << 1 | (own & ~BIT_BLOCK_COLUMN_FIRST) >> 1 | own << 8 |
                          own >> 8 | (z > 0 ? bits->slice[z - 1] : 0) | (z < 7 ? bits->slice[z + 1] : 0);
    }
    return around;
}

/// Lets both sides grow into what is unknown until nothing changes. Where both arrive at once the outside wins;
/// returns how often.
static inline int64_t bit_block_flood(BitBlock *outside, BitBlock *inside, BitBlock *unknown)
{
    int64_t conflicts = 0;
    uint64_t grown = 1;
    while (grown) {
        BitBlock out = bit_block_around(outside), in = bit_block_around(inside);
        grown = 0;
        for (int z = 0; z < 8; z++) {
            uint64_t to_out = out.slice[z] & unknown->slice[z], to_in = in.slice[z] & unknown->slice[z];
            conflicts += __builtin_popcountll(to_out & to_in);
            to_in &= ~to_out;
            outside->slice[z] |= to_out;
            inside->slice[z] |= to_in;
            unknown->slice[z] &= ~(to_out | to_in);
            grown |= to_out | to_in;
        }
    }
    return conflicts;
}
