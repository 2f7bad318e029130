// SPDX-License-Identifier: Apache-2.0
// Matrix units in plain C: see tl_tile.h.

#pragma once

#define TL_TILE_COST 4096

#include <math.h>

#include "tensor/tl_half.h"

typedef struct tl_tiles {
    int rows, quads;
    uint8_t bytes[8][TL_TILE_ROWS][TL_TILE_BYTES];
} tl_tiles;

static inline void tl_tile_begin(tl_tiles *t, int rows, int k)
{
    t->rows = rows;
    t->quads = k / 4;
}

static inline void tl_tile_end(void)
{
}

/** The rows of tile i, and the bytes of one. */
static inline int tl_tile_rows(const tl_tiles *t, int i)
{
    return i < 6 ? t->rows : t->quads;
}

static inline size_t tl_tile_row_bytes(const tl_tiles *t, int i)
{
    return i < 4 || i > 5 ? TL_TILE_BYTES : 4 * (size_t)t->quads;
}

static inline void tl_tile_load(tl_tiles *t, int i, const void *from, ptrdiff_t step)
{
    for (int r = 0; r < tl_tile_rows(t, i); r++)
        memcpy(t->bytes[i][r], (const char *)from + r * step, tl_tile_row_bytes(t, i));
}

static inline void tl_tile_store(const tl_tiles *t, int i, void *to, ptrdiff_t step)
{
    for (int r = 0; r < tl_tile_rows(t, i); r++)
        memcpy((char *)to + r * step, t->bytes[i][r], tl_tile_row_bytes(t, i));
}

static inline void tl_tile_zero(tl_tiles *t, int i)
{
    memset(t->bytes[i], 0, sizeof(t->bytes[i]));
}

/** tl_tile_add_`name` for these types of factors. */
#define TL_TILE_ADD(name, left_type, right_type)                                                  \
    static inline void tl_tile_add_##name(tl_tiles *t, int sum, int left, int right)              \
    {                                                                                             \
        for (int r = 0; r < t->rows; r++) {                                                       \
            uint32_t sums[TL_TILE_ROWS];                                                          \
            memcpy(sums, t->bytes[sum][r], sizeof(sums));                                         \
            for (int q = 0; q < t->quads; q++) {                                                  \
                const left_type *const a = (const left_type *)t->bytes[left][r] + 4 * q;          \
                const right_type *b = (const right_type *)t->bytes[right][q];                     \
                for (int c = 0; c < TL_TILE_ROWS; c++, b += 4)                                    \
                    sums[c] += (uint32_t)(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]); \
            }                                                                                     \
            memcpy(t->bytes[sum][r], sums, sizeof(sums));                                         \
        }                                                                                         \
    }
TL_TILE_ADD(us, uint8_t, int8_t)
TL_TILE_ADD(su, int8_t, uint8_t)

/** Rounded as if the exponent had no limit, then 0 if the result is subnormal. */
static inline float tl_tile_rounded(double x)
{
    const float rounded = (float)x, zero = copysignf(0, rounded);
    return fabs(x) < 0x1p-126 - 0x1p-151 ? zero : rounded;
}

/** Element i, 0 or 1, of the pair at `p`. */
static inline double tl_tile_element(const uint8_t *p, int i)
{
    uint16_t bits;
    memcpy(&bits, p + 2 * i, sizeof(bits));
    return (double)tl_tile_rounded((double)tl_bfloat_to_float(bits));
}

/** Products of two elements are exact in double, and rounding a sum twice is harmless: double has
 *  more than twice the bits of float. The inner loops are over columns, so that they become
 *  vectors. */
static inline void tl_tile_add_pairs(tl_tiles *t, int sum, int left, int right)
{
    double of_right[TL_TILE_ROWS][2][TL_TILE_ROWS];
    for (int q = 0; q < t->quads; q++)
        for (int i = 0; i < 2; i++)
            for (int c = 0; c < TL_TILE_ROWS; c++)
                of_right[q][i][c] = tl_tile_element(t->bytes[right][q] + 4 * c, i);
    for (int r = 0; r < t->rows; r++) {
        float sums[TL_TILE_ROWS], of[2][TL_TILE_ROWS] = {{0}};
        memcpy(sums, t->bytes[sum][r], sizeof(sums));
        for (int q = 0; q < t->quads; q++)
            for (int i = 0; i < 2; i++) {
                const double a = tl_tile_element(t->bytes[left][r] + 4 * q, i);
                for (int c = 0; c < TL_TILE_ROWS; c++)
                    of[i][c] = tl_tile_rounded(a * of_right[q][i][c] + (double)of[i][c]);
            }
        for (int c = 0; c < TL_TILE_ROWS; c++) {
            const double both = (double)tl_tile_rounded((double)of[0][c] + (double)of[1][c]);
            sums[c] = tl_tile_rounded((double)tl_tile_rounded((double)sums[c]) + both);
        }
        memcpy(t->bytes[sum][r], sums, sizeof(sums));
    }
}
