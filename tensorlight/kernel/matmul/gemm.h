// SPDX-License-Identifier: Apache-2.0
// Kernels of matrix multiplication (GEMM) of floats, in the vectors of kernel/simd/tl_simd.h.
//
// The columns of src2 are packed as panels of TL_GEMM_PANEL columns, padded with 0:
//
//     [panel][row of src2][TL_GEMM_PANEL]
//
// A sum is computed in parts of at most TL_GEMM_LEN terms. For each part, a group of strips of src1
// (a strip has the rows of a tile) stays in the L2 cache during a loop over the panels: each panel
// is multiplied by all strips of the group, while the next panel is prefetched. Strips are read in
// place, or copied if their elements would conflict in a cache. Unpacked panels are packed in the
// loop: into one buffer, or, if other groups follow, side by side. Copies and panels are in scratch
// memory. A tile, a strip by one or two vectors of a panel, is summed in registers:
//
//                         a panel, or half of it
//                         b b b b b b b b      one row of it: 2 (or 4) registers
//     a strip's rows   a  + + + + + + + +
//     one scalar of    a  + + + + + + + +      sums: 14 x 2 registers with AVX-512
//     each at a time   a  + + + + + + + +
//
// A sum adds its terms in order, in parts whose length depends only on k: tiles, groups and threads
// do not change the result. With few rows, src2 is read once, in place, without packing.

#pragma once

#include "kernel/matmul/matmul_plan.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_half.h"
#include "tensorlight/tl_linalg.h"

enum {
    TL_GEMM_PANEL = TL_MATMUL_PANEL, // columns
    TL_GEMM_LEN = 512,               // max terms of a part of the sum
    TL_GEMM_STREAMED = 2,            // max rows that are memory-bound: panels are read in order
    TL_GEMM_COPY = 80 * 1024,        // floats of the copy of a group
    TL_GEMM_FEW = 8,                 // max rows of tl_gemm_few_func
    TL_GEMM_FEW_FLOATS = 4096,       // max sums that it computes at once
};

/** A matrix: element [row, col] is data[row * row_step + col * col_step]. One of the steps is 1
 *  for more than one row and more than one column. */
typedef struct tl_gemm_matrix {
    const float *data; // or NULL: absent
    size_t row, col;   // the distance of rows, of columns
} tl_gemm_matrix;

/** dst = act(alpha * src1 x src2 + beta * bias + add). The columns of dst and add have the distance
 *  1, those of bias 1 or 0. */
typedef struct tl_gemm {
    size_t m, n, k;
    tl_gemm_matrix src1, src2, bias, add;
    float *dst;
    size_t dst_row;
    float alpha, beta;
    tl_activation act;
    float low, high; // bounds of results: tl_act_bounds
    int is_copied;   // copies strips of src1
    int is_split;    // numbers are sums of TL_GEMM_PARTS; is_copied is 0
    const tl_stop *stop;
} tl_gemm;

/** The task of one call: rows and columns of dst, and a part of the sum. */
typedef struct tl_gemm_part {
    size_t row, rows;
    size_t col, cols;     // col: a multiple of TL_GEMM_PANEL
    size_t begin, len;    // terms of the sum; dst contains the sum of those before
    const float *panels;  // the first panel, at row `begin`; NULL: src2 is not packed yet
    size_t panel_step;    // floats from a panel to the next
    float *buffer;        // if panels is NULL: space for packed panels
    size_t buffer_floats; // at least those of a panel of the part
    float *copy;          // space for TL_GEMM_COPY floats, if strips are copied
} tl_gemm_part;

/** Max floats of a group: it fits in the L2 cache with two panels. Copies need the space twice. */
static inline size_t tl_gemm_group(int is_copied)
{
    return is_copied ? 56 * 1024 : 84 * 1024;
}

/** Packs `len` rows and `cols` columns of src as panels, each of len * TL_GEMM_PANEL floats. */
typedef void tl_gemm_pack_func(const tl_gemm_matrix *src, size_t len, size_t cols, float *panels);

/** Computes a part. */
typedef void tl_gemm_block_func(const tl_gemm *g, const tl_gemm_part *part);

// CPUs with AVX512_BF16 multiply pairs of bfloat16. The kernels above then handle a pair as one
// float of 32 bits: src1 is rounded to pairs first, row by row; src2 is packed in pairs of rows,
//
//     [panel][pair of rows][TL_GEMM_PANEL][2]
//
// and k counts pairs, the last of which is padded with 0. Sums are floats.

// Matrix units multiply these pairs many times as fast as vectors multiply floats. So they multiply
// floats as sums of three parts, x = a + b + c:
//
//     a = x rounded to bfloat16, b = x - a rounded, c = x - a - b
//
// All three are numbers of bfloat16, of 8 bits each, since both differences are exact; |b| is at
// most about 2^-8 |x|, and |c| 2^-17 |x|. Of the nine products of two parts, six are computed:
// those of a and any part, and of b and b. The others together are at most about 2^-24 of the
// product, and mostly below 2^-27. In a part of the sum (TL_GEMM_LEN), the products of a and a are
// added last, so that the sums of the small ones are hardly rounded. The errors are at most about
// those of sums of floats: docs/performance.md.
//
// Rows of src1 and columns of src2 are cut into chunks of TL_GEMM_CHUNK numbers, the last of which
// is padded with 0. A chunk is 16 pairs of each part, one part after the other,
//
//     src1: [row][chunk][part][pair]    src2: [panel][chunk][part][pair of rows][TL_GEMM_PANEL][2]
//
// and k counts these pairs, TL_GEMM_SPLIT of a chunk.
//
// Numbers that are not finite: parts of an infinite x are finite but for c, which is x; those of
// NaN are NaN. The product of c or NaN and the first part of the other factor is infinite or NaN,
// and so is each sum with it. So a finite sum has finite factors, and is right. Each sum that is
// not finite, by its factors or by an overflow, is computed again, in order, from x = a + b + c: it
// is that of floats. Parts of the largest numbers do not overflow.
//
// Instruction sets without matrix units unpack the floats of src2, panel by panel.
//
// Parts, products and sums below 2^-126 may count as 0. So the absolute error of a term x * y may
// be larger than that of floats, by up to 2^-125 (|x| + |y|) + 2^-123. Numbers below 2^-133 are 0.

enum {
    TL_GEMM_PARTS = 3,
    TL_GEMM_CHUNK = 32, // numbers
    TL_GEMM_SPLIT = TL_GEMM_PARTS * TL_GEMM_CHUNK / 2,
};

/** Words of the pairs of `k` numbers, or of their parts. */
static inline size_t tl_gemm_words(size_t k, int is_split)
{
    return is_split ? tl_ceil_div(k, TL_GEMM_CHUNK) * TL_GEMM_SPLIT : tl_ceil_div(k, 2);
}

/** The index of the first part of number k in a row; the others are TL_GEMM_CHUNK apart. */
static inline size_t tl_gemm_split_index(size_t k)
{
    return k / TL_GEMM_CHUNK * TL_GEMM_PARTS * TL_GEMM_CHUNK + k % TL_GEMM_CHUNK;
}

/** The same of row k, column c of a panel; the others are TL_GEMM_PANEL_PART apart. */
enum { TL_GEMM_PANEL_PART = TL_GEMM_CHUNK * TL_GEMM_PANEL };

static inline size_t tl_gemm_panel_index(size_t k, size_t c)
{
    return tl_gemm_split_index(k - k % 2) * TL_GEMM_PANEL + 2 * c + k % 2;
}

/** The number with these parts, whose upper halves are bfloat16: both sums are exact. */
static inline float tl_gemm_join(uint32_t a, uint32_t b, uint32_t c)
{
    return tl_float_of_bits(a) + (tl_float_of_bits(b) + tl_float_of_bits(c));
}

/** Rows k and k + 1, k even, of a panel of parts. */
static inline void tl_gemm_join_rows(const uint16_t *panel, size_t k, float *to)
{
    uint32_t a[TL_GEMM_PANEL], b[TL_GEMM_PANEL], c[TL_GEMM_PANEL];
    panel += tl_gemm_panel_index(k, 0);
    memcpy(a, panel, sizeof(a));
    memcpy(b, panel + TL_GEMM_PANEL_PART, sizeof(b));
    memcpy(c, panel + 2 * TL_GEMM_PANEL_PART, sizeof(c));
    for (int i = 0; i < TL_GEMM_PANEL; i++) {
        to[i] = tl_gemm_join(a[i] << 16, b[i] << 16, c[i] << 16);
        to[TL_GEMM_PANEL + i] =
            tl_gemm_join(a[i] & 0xffff0000, b[i] & 0xffff0000, c[i] & 0xffff0000);
    }
}

/** The parts of x: to[0], to[step] and to[2 * step]. */
static inline void tl_gemm_split(float x, uint16_t *to, size_t step)
{
    const float max = 0x1.fep127f; // the largest number that is not rounded to infinity
    for (int i = 0; i < TL_GEMM_PARTS; i++) {
        const int is_last = i == TL_GEMM_PARTS - 1;
        const float part = !is_last && x > max ? max : !is_last && x < -max ? -max : x;
        to[i * step] = tl_bfloat_from_float(part);
        x -= tl_bfloat_to_float(to[i * step]);
    }
}

/** src [n] -> dst [(n + 1) / 2] pairs, or their parts, whole chunks. */
typedef void tl_gemm_to_pairs_func(const float *src, size_t n, float *dst);

/** Computes `cols` columns from `col` on of all rows, at most TL_GEMM_FEW; m * cols, rounded up to
 *  whole vectors, is at most TL_GEMM_FEW_FLOATS. */
typedef void tl_gemm_few_func(const tl_gemm *g, size_t col, size_t cols);

#define TL_GEMM_KERNELS(ROW, arg)                   \
    TL_KERNELS(ROW, arg, tl_gemm_block, F32, BOTH)  \
    TL_KERNELS(ROW, arg, tl_gemm_pairs, BF16, BF16) \
    TL_GEMM_UNIT_KERNELS(ROW, arg)
/** Those that support is_split. */
#define TL_GEMM_UNIT_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_gemm_tile, BF16, PAIR_TILE)
TL_GEMM_KERNELS(TL_KERNEL_DECLARE, tl_gemm_block_func)

/** By the precision: TL_FLOAT has parts. */
#define TL_GEMM_TO_PAIRS_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_gemm_to_pairs, BF16, BF16) \
    TL_KERNELS(ROW, arg, tl_gemm_to_parts, F32, BF16)
TL_GEMM_TO_PAIRS_KERNELS(TL_KERNEL_DECLARE, tl_gemm_to_pairs_func)

#define TL_GEMM_PACK_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_gemm_pack, F32, BOTH)
TL_GEMM_PACK_KERNELS(TL_KERNEL_DECLARE, tl_gemm_pack_func)

#define TL_GEMM_FEW_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_gemm_few, F32, SIMD)
TL_GEMM_FEW_KERNELS(TL_KERNEL_DECLARE, tl_gemm_few_func)

/** Packs all of src2 [k, n] from `src`: see tl_exec_matmul_pack. */
void tl_gemm_pack(const tl_exec *exec, const tl_gemm_matrix *src, size_t k, size_t n,
                  float *panels);

/** Packs all of src2 in pairs or their parts, panel by panel. */
void tl_gemm_pack_pairs(const tl_exec *exec, const tl_gemm_matrix *src, size_t k, size_t n,
                        int is_split, uint16_t *panels);

/** Rows begin .. begin + len of a panel of parts as floats, and one more if `len` is odd; `begin`
 * is even. */
void tl_gemm_unpack(const uint16_t *panel, size_t begin, size_t len, float *to);

/** Rounds `rows` rows of `k` floats, one after the other, to pairs, or splits them; rows of these
 * are tl_gemm_pairs_row words apart. */
void tl_gemm_to_pairs(const tl_exec *exec, const float *src, size_t rows, size_t k, int is_split,
                      float *dst);
size_t tl_gemm_pairs_row(size_t k, int is_split);

/** Bytes of scratch memory that make tl_gemm_run faster for this plan, whose data is ignored. */
size_t tl_gemm_scratch(const tl_matmul_plan *plan, int is_packed, int threads);

/** Executes a plan for floats. `packed`, if not NULL, is all of src2 in panels; src2 is then
 * ignored. `dtype` TL_BFLOAT16: src1 and the panels are pairs of bfloat16. Without scratch memory a
 * panel that is not packed needs 64 KB of the stack. */
void tl_gemm_run(const tl_exec *exec, const tl_matmul_plan *plan, const float *packed,
                 tl_dtype dtype, tl_activation act);

/** Whether the instruction set has matrix units, which multiply parts. */
int tl_gemm_has_units(const tl_exec *exec);

/** Executes a plan with src2 in panels of parts, and src1 in parts with tl_gemm_has_units, else in
 *  floats; then it needs 64 KB of the stack. */
void tl_gemm_run_split(const tl_exec *exec, const tl_matmul_plan *plan, const float *packed,
                       tl_activation act);
