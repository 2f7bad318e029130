// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication in plain C.

#ifndef T // once

#include "kernel/matmul/matmul.h"

#include <stdint.h>
#include <string.h>

// The products of packed blocks

// All types are converted to one of these.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/matmul/matmul_c.c"
#define TL_TAG      f64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u32
#include "tensor/tl_one_type.inc.h"
#undef TL_TUNED_ALL

// From and to tensors

enum { LANES = 8 };

#define SUM      C
#define SCALE(d) ((C)(d))
#include "tensor/tl_each_float.inc.h"
#undef SUM
#undef SCALE

#define SCALE(d) ((SUM)(int64_t)(d))
#define SUM      uint64_t
#define TL_TAG   i64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u64
#include "tensor/tl_one_type.inc.h"
#undef SUM

#define SUM    uint32_t
#define TL_TAG i32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"

#else // for each type

#ifndef SUM

// The products of packed blocks, for one type of sums

// One tile: acc += transposed panel1 [len, TILE_ROWS] x panel2 [len, TILE_COLS]. Compilers keep it
// in vector registers.
static void NAME(multiply_tile, c)(const T *panel1, const T *panel2, T *acc, size_t len)
{
    T tile[TL_MATMUL_TILE_ROWS][TL_MATMUL_TILE_COLS];
    memset(tile, 0, sizeof(tile));
    for (size_t k = 0; k < len; k++) {
        for (int r = 0; r < TL_MATMUL_TILE_ROWS; r++)
            for (int c = 0; c < TL_MATMUL_TILE_COLS; c++)
                tile[r][c] += panel1[r] * panel2[c];
        panel1 += TL_MATMUL_TILE_ROWS;
        panel2 += TL_MATMUL_TILE_COLS;
    }
    for (int r = 0; r < TL_MATMUL_TILE_ROWS; r++)
        for (int c = 0; c < TL_MATMUL_TILE_COLS; c++)
            acc[r * TL_MATMUL_COLS + c] += tile[r][c];
}

void NAME(tl_matmul, c)(const void *panels1, const void *panels2, void *acc, size_t rows,
                        size_t cols, size_t len)
{
    for (size_t c = 0; c < cols; c += TL_MATMUL_TILE_COLS)
        for (size_t r = 0; r < rows; r += TL_MATMUL_TILE_ROWS)
            NAME(multiply_tile, c)
    ((const T *)panels1 + r * len, (const T *)panels2 + c * len, (T *)acc + r * TL_MATMUL_COLS + c,
     len);
}

#else

// From tensors of one type to sums of the type SUM, and back

// Packs `n` lines from `first` on as one panel of `width`. Reads memory in order, whether lines are
// adjacent (step 1) or each is contiguous.
static void NAME(pack_panel, c)(const tl_matmul_lines *lines, size_t first, size_t n, size_t width,
                                SUM *panel)
{
    const T *const src = (const T *)lines->src + first * lines->step;
    const T *const zeros = (const T *)lines->zero;
    SUM zero[TL_MATMUL_TILE_COLS] = {0};
    if (n < width)
        memset(panel, 0, width * lines->len * sizeof(*panel));
    for (size_t j = 0; zeros && j < n; j++)
        zero[j] = (SUM)LOAD(zeros[(first + j) * lines->zero_step]);
    if (lines->step == 1) {
        for (size_t k = 0; k < lines->len; k++)
            for (size_t j = 0; j < n; j++)
                panel[k * width + j] = (SUM)LOAD(src[k * lines->len_step + j]) - zero[j];
        return;
    }
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < lines->len; k++)
            panel[k * width + j] = (SUM)LOAD(src[j * lines->step + k * lines->len_step]) - zero[j];
}

void NAME(tl_matmul_pack, c)(const tl_matmul_lines *lines, size_t width, void *panels)
{
    for (size_t first = 0; first < lines->n; first += width)
        NAME(pack_panel, c)
    (lines, first, tl_min_size(width, lines->n - first), width, (SUM *)panels + first * lines->len);
}

// The dot product of two lines, in lanes that compilers vectorize.
static SUM NAME(dot, c)(const T *a, size_t a_step, const T *b, size_t len)
{
    SUM lanes[LANES] = {0}, sum = 0;
    size_t k = 0;
    for (; k + LANES <= len; k += LANES)
        for (size_t j = 0; j < LANES; j++)
            lanes[j] += (SUM)LOAD(a[(k + j) * a_step]) * (SUM)LOAD(b[k + j]);
    for (; k < len; k++)
        sum += (SUM)LOAD(a[k * a_step]) * (SUM)LOAD(b[k]);
    for (size_t j = 0; j < LANES; j++)
        sum += lanes[j];
    return sum;
}

void NAME(tl_matmul_row, c)(const void *row, size_t row_step, const tl_matmul_lines *lines,
                            void *acc)
{
    const T *const a = row, *const b = lines->src;
    SUM *const sums = acc;
    if (lines->len_step == 1) {
        for (size_t j = 0; j < lines->n; j++)
            sums[j] += NAME(dot, c)(a, row_step, b + j * lines->step, lines->len);
        return;
    }
    for (size_t k = 0; k < lines->len; k++) {
        const SUM x = (SUM)LOAD(a[k * row_step]);
        for (size_t j = 0; j < lines->n; j++)
            sums[j] += x * (SUM)LOAD(b[k * lines->len_step + j * lines->step]);
    }
}

void NAME(tl_matmul_store, c)(const void *acc, void *dst, size_t n, double alpha, const void *bias,
                              size_t bias_step, double beta)
{
    const SUM *const sums = acc;
    const T *const b = bias;
    T *const d = dst;
    const SUM factor = SCALE(alpha), bias_factor = SCALE(beta);
    for (size_t j = 0; j < n; j++) {
        SUM sum = factor * sums[j];
        if (b)
            sum += bias_factor * (SUM)LOAD(b[j * bias_step]);
        d[j] = STORE((C)sum);
    }
}

#endif

#endif
