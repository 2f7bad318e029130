// SPDX-License-Identifier: Apache-2.0
// Kernels of the reductions along any set of axes.

#pragma once

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensorlight/tl_nn.h"

/** Max adjacent results that are computed together. */
enum { TL_REDUCE_LINES = 64 };

/** Adjacent elements of one result that are summed separately. */
enum { TL_REDUCE_LANES = 32 };

/** Whether a line has too few elements for that. */
#define TL_REDUCE_IS_SHORT(len) ((len) < (size_t)2 * TL_REDUCE_LANES)

/** An axis of src: its length, and the distance of its elements. */
typedef struct tl_reduce_axis {
    size_t len, stride;
} tl_reduce_axis;

/** src as kept and reduced axes, both in order, adjacent ones merged and those of
 * length 1 dropped. `line` is the last reduced axis if it is src's last one, and so contiguous;
 * otherwise its length is 1 and the results' last axis is contiguous. */
typedef struct tl_reduce_job {
    const void *src;
    void *dst;
    tl_reduce_op op;
    tl_reduce_axis kept[TL_MAXDIM], reduced[TL_MAXDIM];
    int n_kept, n_reduced;
    size_t line;  // its length
    size_t count; // elements per result, may be 0
} tl_reduce_job;

/** Computes the results begin .. end-1 of the tl_reduce_job at `arg`. */
typedef void tl_reduce_func(void *arg, size_t begin, size_t end);

#define TL_REDUCE_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_reduce, ALL, PLAIN) \
    TL_KERNELS(ROW, arg, tl_reduce, F32, WIDE)
TL_REDUCE_KERNELS(TL_KERNEL_DECLARE, tl_reduce_func)

/** Kernels for jobs whose only reduced axis is the line, and for operations of tl_reduce_is_lines:
 * sums in another order, still in double. */
#define TL_REDUCE_LINES_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_reduce_lines, F32, SIMD)
TL_REDUCE_LINES_KERNELS(TL_KERNEL_DECLARE, tl_reduce_func)

static inline int tl_reduce_is_lines(const tl_reduce_job *job)
{
    return job->line > 1 && job->n_reduced == 0 && job->op != TL_REDUCE_PROD &&
           job->op != TL_REDUCE_LOG_SUM_EXP;
}
