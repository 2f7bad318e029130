// SPDX-License-Identifier: Apache-2.0
// Kernels of the matrix product of floats, in the vectors of kernel/simd/tl_simd.h.
//
// The columns of src2 are packed as panels of TL_GEMM_PANEL columns, those after the last are 0:
//
//     [panel][row of src2][TL_GEMM_PANEL]
//
// A block is some rows by some columns of the result and a part of at most TL_GEMM_LEN of the sum:
// its panels stay in the second cache while strips of rows pass by in the first. Strips are read as
// they lie, or copied where their rows would compete for the same places of the cache. A tile, a
// strip's rows by one or two vectors of a panel, is summed in registers:
//
//                         a panel, or half of it
//                         b b b b b b b b      one row of it: 2 (or 4) registers
//     a strip's rows   a  + + + + + + + +
//     one number of    a  + + + + + + + +      sums: 14 x 2 registers with AVX-512
//     each at a time   a  + + + + + + + +
//
// The order of a sum is that of k, in parts of TL_GEMM_LEN or less, which depend on k alone: tiles,
// blocks and threads do not change the result.
//
// With few rows there is nothing to gain from packing: src2 is read once, as it lies.

#ifndef GEMM_H
#define GEMM_H

#include "kernel/matmul/matmul_plan.h"
#include "kernel/tl_kernel.h"
#include "tensorlight/tl_linalg.h"

enum {
    TL_GEMM_PANEL = TL_MATMUL_PANEL, /* columns */
    TL_GEMM_LEN = 512,               /* of a part of the sum */
    TL_GEMM_FLOATS = 96 * 1024,      /* of a block's panels */
    TL_GEMM_FEW = 8,                 /* rows at most that tl_gemm_few_func takes */
    TL_GEMM_FEW_FLOATS = 4096,       /* sums at most that it makes at once */
};

/** A matrix: element [row, col] is data[row * row_step + col * col_step]. One of the steps is 1
 *  where there is more than one row and more than one column. */
typedef struct tl_gemm_matrix {
    const float *data; /* or NULL: absent */
    size_t row, col;   /* the distance of rows, of columns */
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
    float low, high; /* what results are kept between: tl_act_bounds */
} tl_gemm;

/** What one call computes: rows and columns of dst, and a part of the sum. */
typedef struct tl_gemm_part {
    size_t row, rows;
    size_t col, cols;    /* col: a multiple of TL_GEMM_PANEL */
    size_t begin, len;   /* of the sum; what is there before is in dst already */
    const float *panels; /* the part's first panel, at `begin` */
    size_t panel_step;   /* floats from a panel to the next */
} tl_gemm_part;

/** Packs `len` rows and `cols` columns of src as panels, each of len * TL_GEMM_PANEL floats. */
typedef void tl_gemm_pack_func(const tl_gemm_matrix *src, size_t len, size_t cols, float *panels);

/** Computes a part; `panels` are those of src2. */
typedef void tl_gemm_block_func(const tl_gemm *g, const tl_gemm_part *part);

/** Computes `cols` columns from `col` on of all rows, at most TL_GEMM_FEW; m * cols, rounded up to
 *  whole vectors, is at most TL_GEMM_FEW_FLOATS. */
typedef void tl_gemm_few_func(const tl_gemm *g, size_t col, size_t cols);

#define TL_KERNEL(name, dtype, isa) TL_KERNEL_DECLARE(tl_gemm_block_func, name, dtype, isa)
#include "kernel/matmul/gemm.def"
#undef TL_KERNEL
#define TL_KERNEL(name, dtype, isa) TL_KERNEL_DECLARE(tl_gemm_pack_func, name, dtype, isa)
#include "kernel/matmul/gemm_pack.def"
#undef TL_KERNEL
#define TL_KERNEL(name, dtype, isa) TL_KERNEL_DECLARE(tl_gemm_few_func, name, dtype, isa)
#include "kernel/matmul/gemm_few.def"
#undef TL_KERNEL

/** Packs all of src2 [k, n], whose data is `src`: see tl_exec_matmul_pack. */
void tl_gemm_pack(const tl_exec *exec, const tl_gemm_matrix *src, size_t k, size_t n,
                  float *panels);

/** Carries out a plan for floats. `packed`, if not NULL, is all of src2 in panels; src2 is then not
 *  looked at. */
void tl_gemm_run(const tl_exec *exec, const tl_matmul_plan *plan, const float *packed,
                 tl_activation act);

#endif
