// SPDX-License-Identifier: Apache-2.0
// Kernels that sample images at given positions, and one that sums overlapping windows (col2im).

#pragma once

#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_vision.h"

enum { TL_GRID_AXES = 3 }; // at most

/** src [images, channels, in..] -> dst [images, channels, positions]. */
typedef struct tl_grid_job {
    const void *src;
    void *dst;
    const tl_tensor *grid;
    int n, in[TL_GRID_AXES];
    size_t channels, positions, in_plane;
    tl_resample_mode mode;
    tl_outside outside;
    int aligns_corners;
} tl_grid_job;

/** src [.., channels, in..] -> dst [regions, channels, size..]. */
typedef struct tl_roi_job {
    const void *src, *rois;
    void *dst;
    const tl_tensor *batch; // of roi_align
    int channels, in[2];
    tl_roi_param param;
    const tl_stop *stop; // polled: regions determine the number of samples and elements
} tl_roi_job;

/** src [images, channels, in..] -> dst [images, channels * taps, out..]. */
typedef struct tl_deform_job {
    const void *src, *offset, *mask;
    void *dst;
    int channels, group, in[2], out[2];
    tl_windows windows;
    const tl_stop *stop;
} tl_deform_job;

/** src [planes, taps, windows] -> dst [planes, out..]. */
typedef struct tl_col2im_job {
    const void *src;
    void *dst;
    size_t taps, n_windows, out_plane;
    int out[TL_MAX_SPATIAL], n_along[TL_MAX_SPATIAL]; // windows along each axis
    tl_windows windows;
    const tl_stop *stop;
} tl_col2im_job;

/** Computes units begin .. end-1 of the job at `arg`: of tl_grid_sample positions of all images, of
 *  tl_roi_align and tl_roi_maxpool channels of all regions, of tl_deform_columns channels of all
 *  images, of tl_col2im planes. */
typedef void tl_sample_func(void *arg, size_t begin, size_t end);

#define TL_COL2IM_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_col2im, FLT, PLAIN)
TL_COL2IM_KERNELS(TL_KERNEL_DECLARE, tl_sample_func)

#define TL_DEFORM_COLUMNS_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_deform_columns, FLT, PLAIN)
TL_DEFORM_COLUMNS_KERNELS(TL_KERNEL_DECLARE, tl_sample_func)

#define TL_GRID_SAMPLE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_grid_sample, FLT, PLAIN)
TL_GRID_SAMPLE_KERNELS(TL_KERNEL_DECLARE, tl_sample_func)

#define TL_ROI_ALIGN_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_roi_align, FLT, PLAIN)
TL_ROI_ALIGN_KERNELS(TL_KERNEL_DECLARE, tl_sample_func)

#define TL_ROI_MAXPOOL_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_roi_maxpool, FLT, PLAIN)
TL_ROI_MAXPOOL_KERNELS(TL_KERNEL_DECLARE, tl_sample_func)
