// SPDX-License-Identifier: Apache-2.0
// Kernels of pooling over any number of axes: of tiles, for all jobs, and of rows of floats, for
// separable ones.

#pragma once

#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "kernel/tl_windows.h"

/** src [planes, in..] -> dst [planes, out..], arg the same or NULL. */
typedef struct tl_poolnd_job {
    const void *src;
    void *dst;
    int64_t *arg;
    tl_window_job axes;
    size_t in_plane; // elements of a channel of src
    uint64_t lowest; // the dtype's min as bytes, of windows without elements
    double p;        // of the norm; 0: mean
    int counts_padding, is_column_major;
    const tl_stop *stop;
    tl_range_func tiles; // the kernel for all jobs
} tl_poolnd_job;

/** Compute the planes (over the last two axes) begin .. end-1 of the tl_poolnd_job at `arg`. */
typedef void tl_poolnd_func(void *arg, size_t begin, size_t end);

#define TL_POOLND_MAX_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_poolnd_max, ALL, PLAIN)
#define TL_POOLND_SUM_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_poolnd_sum, FLT, PLAIN)
TL_POOLND_MAX_KERNELS(TL_KERNEL_DECLARE, tl_poolnd_func)
TL_POOLND_SUM_KERNELS(TL_KERNEL_DECLARE, tl_poolnd_func)

/** Only of separable jobs: without indices, norm or empty windows, whose windows have at most
 * TL_POOL_ROWS rows, each of which spans at most TL_POOL_SPAN elements of src. */
#define TL_POOL_MAX_KERNELS(ROW, arg)  TL_KERNELS(ROW, arg, tl_pool_rows_max, F32, SIMD)
#define TL_POOL_MEAN_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_pool_rows_mean, F32, SIMD)
TL_POOL_MAX_KERNELS(TL_KERNEL_DECLARE, tl_poolnd_func)
TL_POOL_MEAN_KERNELS(TL_KERNEL_DECLARE, tl_poolnd_func)

enum { TL_POOL_ROWS = 128, TL_POOL_SPAN = 1024 };

/** Rows are narrow if windows have at least so many times as many taps along them. */
enum { TL_POOL_NARROW = 4 };

/** Finds the taps begin .. end-1 along axis `i` of window `x` that are inside src. Returns the
 * position of tap 0. */
static inline int64_t tl_pool_taps(const tl_poolnd_job *job, int i, int x, int *begin, int *end)
{
    const tl_windows *const w = &job->axes.windows;
    const int64_t start = (int64_t)x * w->stride[i] - w->padding[i];
    tl_window_hits(w->size[i], w->dilation[i], start, job->axes.in[i], begin, end);
    return start;
}

/** Finds the windows begin .. end-1 along axis `i` whose taps are all inside src. */
static inline void tl_pool_full(const tl_poolnd_job *job, int i, int *begin, int *end)
{
    const tl_windows *const w = &job->axes.windows;
    tl_window_hits(job->axes.out[i], w->stride[i], -(int64_t)w->padding[i],
                   job->axes.in[i] - (int64_t)(w->size[i] - 1) * w->dilation[i], begin, end);
}

/** The number of taps along axis `i` of window `x` inside src, or inside src and its padding. */
static inline double tl_pool_count(const tl_poolnd_job *job, int i, int x)
{
    const tl_windows *const w = &job->axes.windows;
    const int before = job->counts_padding ? w->padding[i] : 0;
    const int after = job->counts_padding ? w->padding[w->n + i] : 0;
    int begin, end;
    tl_window_hits(w->size[i], w->dilation[i], (int64_t)x * w->stride[i] - w->padding[i] + before,
                   (int64_t)job->axes.in[i] + before + after, &begin, &end);
    return end - begin;
}
