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
//                            4 .. 64. Does nothing if they have this configuration; otherwise,
//                            elements are undefined. *t is {0} before the first call
//     tl_tile_end()          releases the unit of this thread, whose state the system would save
//     tl_tile_zero(t, i)     sets the elements of tile i to 0
//     tl_tile_load(t, i, from, step)    tile i; `step` bytes lead from a row to the next
//     tl_tile_store(t, i, to, step)
//     tl_tile_add_us(t, sum, left, right)   adds products of unsigned and signed bytes:
//                            sum[r][c] += left[r][4 q + i] * right[q][c][i], over all q and i,
//                            modulo 2^32
//     tl_tile_add_su(t, sum, left, right)   the same for signed and unsigned bytes
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

/** Adds the products of one or two tiles of rows with one or two tiles of columns, whose factors
 * are `left_step` and `right_step` bytes from row to row. `kind`: us, su or pairs. */
#define TL_TILE_MULTIPLY(kind, t, left, next_left, left_step, has_rows, right, next_right, \
                         right_step, has_columns)                                          \
    do {                                                                                   \
        tl_tile_load(t, 4, left, left_step);                                               \
        tl_tile_load(t, 6, right, right_step);                                             \
        tl_tile_add_##kind(t, 0, 4, 6);                                                    \
        if (has_rows) {                                                                    \
            tl_tile_load(t, 5, next_left, left_step);                                      \
            tl_tile_add_##kind(t, 2, 5, 6);                                                \
        }                                                                                  \
        if (has_columns) {                                                                 \
            tl_tile_load(t, 7, next_right, right_step);                                    \
            tl_tile_add_##kind(t, 1, 4, 7);                                                \
        }                                                                                  \
        if ((has_rows) && (has_columns))                                                   \
            tl_tile_add_##kind(t, 3, 5, 7);                                                \
    } while (0)

/** Adds the products of all left and right factors. `kind`: us, su or pairs. */
#define TL_TILE_ADD_ALL(kind, t)        \
    do {                                \
        tl_tile_add_##kind(t, 0, 4, 6); \
        tl_tile_add_##kind(t, 1, 4, 7); \
        tl_tile_add_##kind(t, 2, 5, 6); \
        tl_tile_add_##kind(t, 3, 5, 7); \
    } while (0)

/** Sets the sums of all tiles to 0. */
static inline void tl_tile_zero_sums(tl_tiles *t)
{
    tl_tile_zero(t, 0);
    tl_tile_zero(t, 1);
    tl_tile_zero(t, 2);
    tl_tile_zero(t, 3);
}

/** Loads or stores the sums of one or two tiles of rows, `row` bytes apart, and two of columns,
 *  `column` bytes apart. */
static inline void tl_tile_load_sums(tl_tiles *t, const void *from, ptrdiff_t step, size_t row,
                                     int has_rows, size_t column)
{
    const char *const first = from, *const second = first + row;
    tl_tile_load(t, 0, first, step);
    tl_tile_load(t, 1, first + column, step);
    if (!has_rows)
        return;
    tl_tile_load(t, 2, second, step);
    tl_tile_load(t, 3, second + column, step);
}

static inline void tl_tile_store_sums(tl_tiles *t, void *to, ptrdiff_t step, size_t row,
                                      int has_rows, size_t column)
{
    char *const first = to, *const second = first + row;
    tl_tile_store(t, 0, first, step);
    tl_tile_store(t, 1, first + column, step);
    if (!has_rows)
        return;
    tl_tile_store(t, 2, second, step);
    tl_tile_store(t, 3, second + column, step);
}
