// SPDX-License-Identifier: Apache-2.0
// Matrix units: products of tiles, which have up to 16 rows of 64 bytes. AMX and plain C compute
// the same.
//
// Tiles are configured as two by two tiles of sums, with their factors:
//
//                    6  7   right   [k / 4][16][4 bytes]
//     left   4       0  1   sums    [rows][16] of 32 bits
//  [rows][k] 5       2  3
//
//     tl_tiles               their state, of the function that uses them
//     tl_tile_begin(t, rows, k)   configures them, for 1 .. 16 rows and k bytes, a multiple of 4 in
//                            4 .. 64; all elements are 0
//     tl_tile_end()          releases the unit of this thread, whose state the system would save
//     tl_tile_zero(t, i)     sets the elements of tile i to 0
//     tl_tile_load(t, i, from, step)    tile i; `step` bytes lead from a row to the next
//     tl_tile_store(t, i, to, step)
//     tl_tile_add_us(t, sum, left, right)   adds products of unsigned and signed bytes, modulo
//     2^32:
//                            sum[r][c] += left[r][4 q + i] * right[q][c][i], over all q and i
//     tl_tile_add_ss(t, sum, left, right)   the same for two factors of signed bytes
//     tl_tile_add_pairs(t, sum, left, right)   the same for pairs of bfloat16 and sums of floats.
//                            Adds up the products of the even elements, those of the odd ones, and
//                            both sums, and adds that to the tile; each addition is rounded once,
//                            to nearest even, and subnormal numbers are 0
//
//     TL_TILE_COST           how long four products of tiles take, in rounds of 24 of vectors
//
// The numbers of tiles are literals.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TL_TILE_ROWS = 16, TL_TILE_BYTES = 64 };

/** Some rows, at least one, as tiles of equally many, so that one configuration fits all: the last
 *  tile may have rows of the one before. */
typedef struct tl_tile_split {
    int rows, each, tiles; // all rows, and those of a tile
} tl_tile_split;

static inline tl_tile_split tl_tile_split_of(int rows)
{
    const int tiles = (rows + TL_TILE_ROWS - 1) / TL_TILE_ROWS;
    return (tl_tile_split){rows, (rows + tiles - 1) / tiles, tiles};
}

/** The first row of tile i; *repeated: its rows that the tile before has, too. */
static inline int tl_tile_first(const tl_tile_split *s, int i, int *repeated)
{
    const int last = s->rows - s->each, first = i * s->each < last ? i * s->each : last;
    *repeated = i * s->each - first;
    return first;
}

#ifdef TL_SIMD_AMX
#include "kernel/simd/tl_tile_amx.h"
#else
#include "kernel/simd/tl_tile_c.h"
#endif
