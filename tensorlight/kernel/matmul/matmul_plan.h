// SPDX-License-Identifier: Apache-2.0
// The plan of a matrix multiplication: extents, and the offset of each matrix of the batch.

#pragma once

#include <stddef.h>

#include "tensorlight/tl_tensor.h"

/** A tensor as a batch of matrices; distances in elements, 0 along broadcast axes. */
typedef struct tl_matrices {
    const char *data; // or NULL
    size_t size;      // of an element
    size_t row, col;  // the distance of rows, of columns
    size_t batch[TL_MAXDIM];
} tl_matrices;

typedef struct tl_matmul_plan {
    size_t m, n, k;
    int n_batch;
    size_t batch[TL_MAXDIM];
    tl_matrices src1, src2, bias, dst;
    tl_matrices add;          // of the shape of dst
    tl_matrices zero1, zero2; // zero points of src1, src2
    double alpha, beta;
} tl_matmul_plan;

/** The tensors of a multiplication; all but src1, src2, dst may be NULL. */
typedef struct tl_matmul_tensors {
    const tl_tensor *src1, *src2, *bias, *add, *zero1, *zero2, *dst;
} tl_matmul_tensors;

/** The extent of axis `i` of `t`, counted from the last axis; 1 beyond the first axis. */
int tl_dim_from_end(const tl_tensor *t, int i);

/** A plan of these tensors, whose shapes match; alpha and beta are 0. The batch becomes more rows
 *  if src1 is neither transposed nor broadcast, zero1 is absent, src2, bias and zero2 are not
 *  batched, and bias is the same for all rows. */
tl_matmul_plan tl_matmul_plan_of(const tl_matmul_tensors *t, int trans1, int trans2);

/** The number of matrices. */
size_t tl_matmul_count(const tl_matmul_plan *p);

/** The element of `x` in matrix `index` of the batch, at row and column; NULL if `x` is absent. */
const char *tl_matmul_element(const tl_matmul_plan *p, const tl_matrices *x, size_t index,
                              size_t row, size_t col);
