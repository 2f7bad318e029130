// SPDX-License-Identifier: Apache-2.0
// Kernels of the matrix product of floats, in the vectors of kernel/simd/tl_simd.h.
//
// The columns of src2 are packed as panels of TL_GEMM_PANEL columns, those after the last are 0:
//
//     [panel][row of src2][TL_GEMM_PANEL]
//
// A sum is computed in parts of at most TL_GEMM_LEN. For each part some rows of src1, a group,
// stay in the L2 cache during a loop over the panels: each is multiplied by all strips of
// the group in turn, while the next panel is prefetched. Strips are read in place, or
// copied if their elements would conflict in a cache. Unpacked panels are packed in the
// loop: into one buffer, or, if other groups follow, side by side. Copies and panels are in
// scratch memory. A tile, a strip's rows by one or two vectors of a panel, is summed in
// registers:
//
//                         a panel, or half of it
//                         b b b b b b b b      one row of it: 2 (or 4) registers
//     a strip's rows   a  + + + + + + + +
//     one scalar of    a  + + + + + + + +      sums: 14 x 2 registers with AVX-512
//     each at a time   a  + + + + + + + +
//
// The order of a sum is that of k, in parts of TL_GEMM_LEN or less, which depend on k alone: tiles,
// groups and threads do not change the result.
//
// With few rows packing has no benefit: src2 is read once, in place.

#pragma once

#include "kernel/matmul/matmul_plan.h"
#include "kernel/tl_kernel.h"
#include "tensorlight/tl_linalg.h"

enum {
    TL_GEMM_PANEL = TL_MATMUL_PANEL, // columns
    TL_GEMM_LEN = 512,               // of a part of the sum
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
    int is_copied;   // packs strips of src1
} tl_gemm;

/** The task of one call: rows and columns of dst, and a part of the sum. */
typedef struct tl_gemm_part {
    size_t row, rows;
    size_t col, cols;     // col: a multiple of TL_GEMM_PANEL
    size_t begin, len;    // of the sum; dst already has the sum before it
    const float *panels;  // the first panel, at `begin`; NULL: src2 is not packed yet
    size_t panel_step;    // floats from a panel to the next
    float *buffer;        // then: for packed panels
    size_t buffer_floats; // at least those of a panel of the part
    float *copy;          // for TL_GEMM_COPY floats, if strips are copied
} tl_gemm_part;

/** Elements of a group of rows, which fits in the L2 cache with two panels; copied ones count
 * twice. */
static inline size_t tl_gemm_group(int is_copied)
{
    return is_copied ? 56 * 1024 : 84 * 1024;
}

/** Packs `len` rows and `cols` columns of src as panels, each of len * TL_GEMM_PANEL floats. */
typedef void tl_gemm_pack_func(const tl_gemm_matrix *src, size_t len, size_t cols, float *panels);

/** Computes a part. */
typedef void tl_gemm_block_func(const tl_gemm *g, const tl_gemm_part *part);

// Pairs of bfloat16 multiply two numbers at a time where a CPU can (AVX512_BF16). To all of the
// above a pair is one word of 32 bits: src1 is rounded to pairs before, row by row, src2 is packed
// in pairs of its rows,
//
//     [panel][pair of rows][TL_GEMM_PANEL][2]
//
// and k counts pairs; the last one is padded with 0. Sums are floats.

/** src [n] -> dst [(n + 1) / 2] pairs. */
typedef void tl_gemm_to_pairs_func(const float *src, size_t n, float *dst);

/** Computes `cols` columns from `col` on of all rows, at most TL_GEMM_FEW; m * cols, rounded up to
 *  whole vectors, is at most TL_GEMM_FEW_FLOATS. */
typedef void tl_gemm_few_func(const tl_gemm *g, size_t col, size_t cols);

#define TL_GEMM_KERNELS(ROW, arg)                  \
    TL_KERNELS(ROW, arg, tl_gemm_block, F32, BOTH) \
    TL_KERNELS(ROW, arg, tl_gemm_pairs, BF16, BF16)
TL_GEMM_KERNELS(TL_KERNEL_DECLARE, tl_gemm_block_func)

#define TL_GEMM_TO_PAIRS_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_gemm_to_pairs, BF16, BF16)
TL_GEMM_TO_PAIRS_KERNELS(TL_KERNEL_DECLARE, tl_gemm_to_pairs_func)

#define TL_GEMM_PACK_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_gemm_pack, F32, BOTH)
TL_GEMM_PACK_KERNELS(TL_KERNEL_DECLARE, tl_gemm_pack_func)

#define TL_GEMM_FEW_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_gemm_few, F32, SIMD)
TL_GEMM_FEW_KERNELS(TL_KERNEL_DECLARE, tl_gemm_few_func)

/** Packs all of src2 [k, n], whose data is `src`: see tl_exec_matmul_pack. */
void tl_gemm_pack(const tl_exec *exec, const tl_gemm_matrix *src, size_t k, size_t n,
                  float *panels);

/** Packs all of src2 in pairs, panel by panel. */
void tl_gemm_pack_pairs(const tl_exec *exec, const tl_gemm_matrix *src, size_t k, size_t n,
                        uint16_t *panels);

/** Rounds `rows` rows of `k` floats, one after the other, to pairs; rows of these are
 *  tl_gemm_pairs_row(k) words apart. */
void tl_gemm_to_pairs(const tl_exec *exec, const float *src, size_t rows, size_t k, float *dst);
size_t tl_gemm_pairs_row(size_t k);

/** Bytes of scratch memory with which tl_gemm_run is faster for this plan. Data is
 * ignored. */
size_t tl_gemm_scratch(const tl_matmul_plan *plan, int is_packed, int threads);

/** Executes a plan for floats. `packed`, if not NULL, is all of src2 in panels; src2 is then
 * ignored. `dtype` TL_BFLOAT16: src1 and the panels are pairs of bfloat16. Without scratch memory a
 * panel that is not packed needs 64 KB of the stack. */
void tl_gemm_run(const tl_exec *exec, const tl_matmul_plan *plan, const float *packed,
                 tl_dtype dtype, tl_activation act);
