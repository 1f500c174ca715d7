// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// 8 x 8 x 8 yes or no: a word for each z, a byte of it for each y, a bit of that for each x. Used for the voxels of a
/// block and for the children of a node alike.
#include <stdint.h>

typedef struct Board {
    uint64_t slice[8];
} Board;

#define BOARD_COLUMN_FIRST 0x0101010101010101ull
#define BOARD_COLUMN_LAST 0x8080808080808080ull

static inline int board_has(const Board *board, int slot) { return (int)(board->slice[slot >> 6] >> (slot & 63) & 1); }
static inline void board_add(Board *board, int slot) { board->slice[slot >> 6] |= 1ull << (slot & 63); }
static inline int board_is_empty(const Board *board)
{
    uint64_t any = 0;
    for (int z = 0; z < 8; z++) any |= board->slice[z];
    return any == 0;
}

/// The six neighbours of all that is set.
static inline Board board_around(const Board *board)
{
    Board around;
    for (int z = 0; z < 8; z++) {
        uint64_t own = board->slice[z];
        around.slice[z] = (own & ~BOARD_COLUMN_LAST) << 1 | (own & ~BOARD_COLUMN_FIRST) >> 1 | own << 8 | own >> 8 |
                          (z > 0 ? board->slice[z - 1] : 0) | (z < 7 ? board->slice[z + 1] : 0);
    }
    return around;
}

/// Lets both sides grow into what is unknown until nothing changes. Where both arrive at once the outside wins;
/// returns how often.
static inline int64_t board_flood(Board *outside, Board *inside, Board *unknown)
{
    int64_t conflicts = 0;
    uint64_t grown = 1;
    while (grown) {
        Board out = board_around(outside), in = board_around(inside);
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
