// SPDX-License-Identifier: Apache-2.0
// Kernels of resampling, and the tables that they read.

#pragma once

#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_vision.h"

/** Taps along one axis: dst[i] is the sum of weights[i * n + k] * src[indices[i * n + k]], k < n;
 * in TL_RESAMPLE_NEAREST src[indices[i]], or for -1 the fill value. */
typedef struct tl_resample_table {
    int n;
    int *indices;
    double *weights; // NULL: TL_RESAMPLE_NEAREST
} tl_resample_table;

/** The number of taps per index of dst along one axis. */
int64_t tl_resample_taps(const tl_resample_param *param, int axis);

/** Whether resampling leaves the axis unchanged. */
int tl_resample_is_identity(const tl_resample_param *param, int axis, int in, int out);

/** Whether index `i` of dst samples outside src. */
int tl_resample_is_outside(const tl_resample_param *param, int axis, int in, int i);

/** Fills the arrays of the table, which have out * n elements. */
void tl_resample_fill_table(const tl_resample_table *table, const tl_resample_param *param,
                            int axis, int in, int out);

/** src [in] -> dst [out], both of `ndim` dimensions, none of them 0. */
typedef struct tl_nearest_job {
    const void *src;
    void *dst;
    int ndim; // 1 .. TL_MAXDIM
    int in[TL_MAXDIM], out[TL_MAXDIM];
    const int *indices[TL_MAXDIM]; // NULL: the axis is unchanged
    uint64_t fill;                 // the element for index -1, as bytes
} tl_nearest_job;

/** src [outer, in, inner] -> dst [outer, out, inner] along one axis. */
typedef struct tl_filter_job {
    const void *src;
    void *dst;
    size_t in, out, inner;
    tl_resample_table table;
} tl_filter_job;

/** Computes units begin .. end-1 of the job at `arg`: of a tl_nearest_job the rows of dst (all axes
 *  but the last), of a tl_filter_job the lines [inner] of dst, or [out] where inner is 1. */
typedef void tl_resample_func(void *arg, size_t begin, size_t end);

/** Moves sums of integers away from 0 by slightly more than their max rounding error. They are
 * truncated next, and a constant image must stay constant. */
void tl_resample_away_from_0_f32_c(float *sums, size_t n);
void tl_resample_away_from_0_f64_c(double *sums, size_t n);

#define TL_RESAMPLE_FILTER_KERNELS(ROW, arg)                \
    ROW(arg, tl_resample_filter_f64_c, TL_DOUBLE, TL_ISA_C) \
    ROW(arg, tl_resample_filter_f32_c, TL_FLOAT, TL_ISA_C)
TL_RESAMPLE_FILTER_KERNELS(TL_KERNEL_DECLARE, tl_resample_func)

#define TL_RESAMPLE_NEAREST_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_resample_nearest, UINT, PLAIN)
TL_RESAMPLE_NEAREST_KERNELS(TL_KERNEL_DECLARE, tl_resample_func)
