// SPDX-License-Identifier: Apache-2.0
// Sampling at given positions: checks, choice of the kernel, threads.

#include "kernel/sample/sample.h"

#include <assert.h>
#include <limits.h>
#include <math.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_windows.h"
#include "tensor/tl_name.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick_grid, tl_sample_func, TL_GRID_SAMPLE_KERNELS)
TL_KERNEL_TABLE(pick_roi, tl_sample_func, TL_ROI_ALIGN_KERNELS)
TL_KERNEL_TABLE(pick_maxpool, tl_sample_func, TL_ROI_MAXPOOL_KERNELS)
TL_KERNEL_TABLE(pick_deform, tl_sample_func, TL_DEFORM_COLUMNS_KERNELS)
TL_KERNEL_TABLE(pick_col2im, tl_sample_func, TL_COL2IM_KERNELS)

static const char *const outside_names[] = {"TL_OUTSIDE_ZERO", "TL_OUTSIDE_BORDER",
                                            "TL_OUTSIDE_REFLECT"};
TL_NAME_AND_FROM_STR(tl_outside, outside_names, TL_OUTSIDE_SIZE)

// Checks that several make

static size_t product(const int *dims, int n)
{
    size_t result = 1;
    for (int i = 0; i < n; i++)
        result *= (size_t)dims[i];
    return result;
}

// Grid_sample

int tl_exec_grid_sample(const tl_exec *exec, const tl_tensor *src, const tl_tensor *grid,
                        tl_tensor *dst, tl_resample_mode mode, tl_outside outside,
                        int aligns_corners)
{
    assert(src->dtype == dst->dtype && src->ndim == dst->ndim && grid->ndim == src->ndim);
    if (dst->len == 0)
        return 0;
    const int n = src->ndim - 2;
    tl_grid_job job = {.src = src->data,
                       .dst = dst->data,
                       .grid = grid,
                       .n = n,
                       .channels = (size_t)src->dims[1],
                       .positions = product(dst->dims + 2, n),
                       .in_plane = product(src->dims + 2, n),
                       .mode = mode,
                       .outside = outside,
                       .aligns_corners = aligns_corners};
    memcpy(job.in, src->dims + 2, (size_t)n * sizeof(int));
    tl_parallel(exec, job.positions * (size_t)dst->dims[0], tl_axis_grain(64 + 8 * job.channels),
                pick_grid(exec, src->dtype), &job);
    return 0;
}

int tl_grid_sample_shape(const tl_tensor *src, const tl_tensor *grid, int *dims)
{
    const int n = src->ndim - 2;
    if (n < 1 || n > TL_GRID_AXES)
        return tl_fail("'src' has %d dimensions, expected 3 to %d", src->ndim, TL_GRID_AXES + 2);
    if (tl_check_float(src, "src") < 0 || tl_check_float(grid, "grid") < 0 ||
        tl_check_ndim(grid, "grid", src->ndim) < 0)
        return -1;
    if (grid->dims[0] != src->dims[0] || grid->dims[n + 1] != n)
        return tl_fail("'grid' has %d images of positions of %d numbers, expected %d of %d",
                       grid->dims[0], grid->dims[n + 1], src->dims[0], n);
    if (grid->len > 0 && product(src->dims + 2, n) == 0)
        return tl_fail("'src' has no elements to sample");
    dims[0] = src->dims[0];
    dims[1] = src->dims[1];
    memcpy(dims + 2, grid->dims + 1, (size_t)n * sizeof(int));
    return 0;
}

tl_tensor *tl_tensor_grid_sample(const tl_tensor *src, const tl_tensor *grid, tl_tensor *dst,
                                 tl_resample_mode mode, tl_outside outside, int aligns_corners)
{
    int dims[TL_MAXDIM];
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_operand(grid, "grid", dst) < 0 ||
        tl_grid_sample_shape(src, grid, dims) < 0)
        return NULL;
    if (!tl_resample_mode_name(mode) || !tl_outside_name(outside))
        return tl_fail("mode %d and outside %d, expected 0 to 2 each", mode, outside), NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, dims, src->dtype);
    return tl_result_end(
        result, dst,
        result ? tl_exec_grid_sample(NULL, src, grid, result, mode, outside, aligns_corners) : -1);
}

// Regions

static double number_at(const tl_tensor *t, size_t i)
{
    double value;
    tl_convert(&value, TL_DOUBLE, tl_pointer_add(t->data, (ptrdiff_t)i, t->dtype), t->dtype);
    return value;
}

// Checks the image and size of each region, which are known only at run time. `first`: index of
// the corners in a row of rois.
static int check_regions(const tl_tensor *src, const tl_tensor *rois, const tl_tensor *batch,
                         int first, const tl_roi_param *param)
{
    for (int r = 0; r < rois->dims[0]; r++) {
        const size_t row = (size_t)r * (size_t)rois->dims[1];
        const double image = batch ? number_at(batch, (size_t)r) : number_at(rois, row);
        if (!(image >= 0 && image < src->dims[0]))
            return tl_fail("region %d is of image %g, expected 0 to %d", r, image,
                           src->dims[0] - 1);
        for (int k = 0; k < 2; k++) {
            const double from = number_at(rois, row + first + k) * param->scale;
            const double to = number_at(rois, row + first + 2 + k) * param->scale;
            const double max = 16.0 * (src->dims[3 - k] + 16); // beyond it, time runs away
            if (!(fabs(from) <= 1e9 && fabs(to) <= 1e9 && to - from <= max))
                return tl_fail("region %d reaches from %g to %g of %d elements, expected at most "
                               "%g elements",
                               r, from, to, src->dims[3 - k], max);
        }
    }
    return 0;
}

static int run_roi(const tl_exec *exec, tl_sample_func *func, const tl_tensor *src,
                   const tl_tensor *rois, const tl_tensor *batch, tl_tensor *dst,
                   const tl_roi_param *param)
{
    assert(src->dtype == dst->dtype && src->dtype == rois->dtype);
    if (check_regions(src, rois, batch, batch ? 0 : 1, param) < 0)
        return -1;
    if (dst->len == 0)
        return 0;
    tl_roi_job job = {.src = src->data,
                      .rois = rois->data,
                      .dst = dst->data,
                      .batch = batch,
                      .channels = src->dims[1],
                      .in = {src->dims[2], src->dims[3]},
                      .param = *param,
                      .stop = exec ? exec->stop : NULL};
    tl_parallel(exec, (size_t)dst->dims[0] * (size_t)dst->dims[1],
                tl_axis_grain(product(param->size, 2) * 64), func, &job);
    return 0;
}

// Checks shared by both ROI operators; rois have `columns`.
static int infer_roi(const tl_tensor *src, const tl_tensor *rois, int columns,
                     const tl_roi_param *param, int *dims)
{
    if (!param)
        return tl_fail("'param' is NULL, expected parameters");
    if (tl_check_float(src, "src") < 0 || tl_check_ndim(src, "src", 4) < 0 ||
        tl_check_ndim(rois, "rois", 2) < 0 || tl_check_at_least("size", param->size, 2, 1) < 0 ||
        tl_check_at_least("samples", &param->samples, 1, 0) < 0)
        return -1;
    if (param->samples > 1024)
        return tl_fail("'samples' is %d, expected at most 1024", param->samples);
    if (rois->dtype != src->dtype || rois->dims[1] != columns)
        return tl_fail("'rois' has dtype %s and %d columns, expected %s and %d",
                       tl_dtype_name(rois->dtype), rois->dims[1], tl_dtype_name(src->dtype),
                       columns);
    if (!(param->scale > 0 && param->scale < INFINITY))
        return tl_fail("'scale' is %g, expected more than 0", param->scale);
    if (src->dims[2] == 0 || src->dims[3] == 0)
        return tl_fail("'src' has no elements to sample");
    dims[0] = rois->dims[0];
    dims[1] = src->dims[1];
    dims[2] = param->size[0];
    dims[3] = param->size[1];
    return 0;
}

int tl_exec_roi_align(const tl_exec *exec, const tl_tensor *src, const tl_tensor *rois,
                      const tl_tensor *batch, tl_tensor *dst, const tl_roi_param *param)
{
    return run_roi(exec, pick_roi(exec, src->dtype), src, rois, batch, dst, param);
}

int tl_roi_align_shape(const tl_tensor *src, const tl_tensor *rois, const tl_tensor *batch,
                       const tl_roi_param *param, int *dims)
{
    if (infer_roi(src, rois, 4, param, dims) < 0 || tl_check_dims(batch, "batch", 1, dims) < 0)
        return -1;
    if (batch->dtype != TL_INT64 && batch->dtype != TL_INT32)
        return tl_fail("'batch' has dtype %s, expected TL_INT64 or TL_INT32",
                       tl_dtype_name(batch->dtype));
    return 0;
}

tl_tensor *tl_tensor_roi_align(const tl_tensor *src, const tl_tensor *rois, const tl_tensor *batch,
                               tl_tensor *dst, const tl_roi_param *param)
{
    int dims[TL_MAXDIM];
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_operand(rois, "rois", dst) < 0 ||
        tl_check_operand(batch, "batch", dst) < 0 ||
        tl_roi_align_shape(src, rois, batch, param, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_roi_align(NULL, src, rois, batch, result, param) : -1);
}

int tl_exec_roi_maxpool(const tl_exec *exec, const tl_tensor *src, const tl_tensor *rois,
                        tl_tensor *dst, const tl_roi_param *param)
{
    return run_roi(exec, pick_maxpool(exec, src->dtype), src, rois, NULL, dst, param);
}

int tl_roi_maxpool_shape(const tl_tensor *src, const tl_tensor *rois, const tl_roi_param *param,
                         int *dims)
{
    return infer_roi(src, rois, 5, param, dims);
}

tl_tensor *tl_tensor_roi_maxpool(const tl_tensor *src, const tl_tensor *rois, tl_tensor *dst,
                                 const tl_roi_param *param)
{
    int dims[TL_MAXDIM];
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_operand(rois, "rois", dst) < 0 ||
        tl_roi_maxpool_shape(src, rois, param, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_roi_maxpool(NULL, src, rois, result, param) : -1);
}

// Deform_columns

int tl_exec_deform_columns(const tl_exec *exec, const tl_tensor *src, const tl_tensor *offset,
                           const tl_tensor *mask, tl_tensor *dst, const tl_windows *windows,
                           int group)
{
    assert(src->dtype == dst->dtype && src->dtype == offset->dtype);
    if (dst->len == 0)
        return 0;
    tl_deform_job job = {.src = src->data,
                         .offset = offset->data,
                         .mask = mask ? mask->data : NULL,
                         .dst = dst->data,
                         .channels = src->dims[1],
                         .group = group,
                         .in = {src->dims[2], src->dims[3]},
                         .out = {offset->dims[2], offset->dims[3]},
                         .windows = *windows,
                         .stop = exec ? exec->stop : NULL};
    const size_t units = (size_t)src->dims[0] * (size_t)src->dims[1];
    tl_parallel(exec, units, tl_axis_grain((size_t)dst->len / units * 16),
                pick_deform(exec, src->dtype), &job);
    return 0;
}

int tl_deform_columns_shape(const tl_tensor *src, const tl_tensor *offset, const tl_tensor *mask,
                            const tl_windows *windows, int group, int *dims)
{
    if (tl_check_float(src, "src") < 0 || tl_check_ndim(src, "src", 4) < 0 ||
        tl_check_same_dtype(src, offset) < 0 || (mask && tl_check_same_dtype(src, mask) < 0) ||
        tl_check_windows(windows, src) < 0 || tl_check_at_least("group", &group, 1, 1) < 0)
        return -1;
    if (src->dims[1] % group != 0)
        return tl_fail("'src' has %d channels, expected a multiple of 'group', %d", src->dims[1],
                       group);
    const double taps = (double)windows->size[0] * windows->size[1];
    if (taps * group * 2 > INT_MAX || taps * src->dims[1] > INT_MAX)
        return tl_fail("%g taps of %d groups and %d channels, expected less", taps, group,
                       src->dims[1]);
    int shape[] = {src->dims[0], group * windows->size[0] * windows->size[1] * 2, 0, 0};
    for (int i = 0; i < 2; i++)
        if ((shape[2 + i] = tl_windows_length(windows, i, src->dims[2 + i], 0)) < 0)
            return -1;
    if (tl_check_dims(offset, "offset", 4, shape) < 0)
        return -1;
    shape[1] /= 2;
    if (mask && tl_check_dims(mask, "mask", 4, shape) < 0)
        return -1;
    dims[0] = src->dims[0];
    dims[1] = src->dims[1] * windows->size[0] * windows->size[1];
    if ((double)shape[2] * shape[3] > INT_MAX)
        return tl_fail("%d x %d windows, expected at most %d", shape[2], shape[3], INT_MAX);
    dims[2] = shape[2] * shape[3];
    return 0;
}

tl_tensor *tl_tensor_deform_columns(const tl_tensor *src, const tl_tensor *offset,
                                    const tl_tensor *mask, tl_tensor *dst,
                                    const tl_windows *windows, int group)
{
    int dims[TL_MAXDIM];
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_operand(offset, "offset", dst) < 0 ||
        (mask && tl_check_operand(mask, "mask", dst) < 0) ||
        tl_deform_columns_shape(src, offset, mask, windows, group, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 3, dims, src->dtype);
    return tl_result_end(
        result, dst,
        result ? tl_exec_deform_columns(NULL, src, offset, mask, result, windows, group) : -1);
}

// Col2im

int tl_exec_col2im(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                   const tl_windows *windows)
{
    assert(src->dtype == dst->dtype && dst->ndim == windows->n + 2);
    if (dst->len == 0)
        return 0;
    tl_col2im_job job = {.src = src->data,
                         .dst = dst->data,
                         .taps = product(windows->size, windows->n),
                         .n_windows = (size_t)src->dims[2],
                         .out_plane = product(dst->dims + 2, windows->n),
                         .windows = *windows,
                         .stop = exec ? exec->stop : NULL};
    for (int i = 0; i < windows->n; i++) {
        job.out[i] = dst->dims[2 + i];
        job.n_along[i] = tl_windows_length(windows, i, job.out[i], 0);
    }
    tl_parallel(exec, (size_t)dst->dims[0] * (size_t)dst->dims[1],
                tl_axis_grain(job.taps * job.out_plane), pick_col2im(exec, src->dtype), &job);
    return 0;
}

int tl_col2im_shape(const tl_tensor *src, const tl_windows *windows, const int *extents, int *dims)
{
    if (!windows || windows->n < 1 || windows->n > TL_MAX_SPATIAL)
        return tl_fail("windows over %d axes, expected 1 to %d", windows ? windows->n : 0,
                       TL_MAX_SPATIAL);
    const tl_tensor image = {.ndim = windows->n + 2};
    if (tl_check_float(src, "src") < 0 || tl_check_ndim(src, "src", 3) < 0 ||
        tl_check_windows(windows, &image) < 0)
        return -1;
    double n_windows = 1, taps = 1;
    for (int i = 0; i < windows->n; i++) {
        const int n = tl_windows_length(windows, i, extents[i], 0);
        if (n < 0)
            return -1;
        n_windows *= n;
        taps *= windows->size[i];
        dims[2 + i] = extents[i];
    }
    if (src->dims[2] != n_windows || fmod(src->dims[1], taps) != 0)
        return tl_fail("'src' has %d rows of %d windows, expected a multiple of the %g taps, and "
                       "%g windows",
                       src->dims[1], src->dims[2], taps, n_windows);
    dims[0] = src->dims[0];
    dims[1] = (int)(src->dims[1] / taps);
    return 0;
}

tl_tensor *tl_tensor_col2im(const tl_tensor *src, tl_tensor *dst, const tl_windows *windows,
                            const int *extents)
{
    int dims[TL_MAXDIM];
    if (tl_check_operand(src, "src", dst) < 0 || tl_col2im_shape(src, windows, extents, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, windows->n + 2, dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_col2im(NULL, src, result, windows) : -1);
}
