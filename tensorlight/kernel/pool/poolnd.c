// SPDX-License-Identifier: Apache-2.0
// Pooling over any number of axes: checks, choice of the kernel, threads.

#include "kernel/pool/poolnd.h"

#include <assert.h>
#include <math.h>

#include "kernel/tl_axis.h"
#include "tensor/tl_name.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"
#include "tensorlight/tl_vision.h"

TL_KERNEL_TABLE(pick_rows_max, tl_poolnd_func, TL_POOL_MAX_KERNELS)
TL_KERNEL_TABLE(pick_rows_mean, tl_poolnd_func, TL_POOL_MEAN_KERNELS)
TL_KERNEL_TABLE(pick_max, tl_poolnd_func, TL_POOLND_MAX_KERNELS)
TL_KERNEL_TABLE(pick_sum, tl_poolnd_func, TL_POOLND_SUM_KERNELS)

static const char *const kind_names[] = {"TL_POOL_MAX", "TL_POOL_MEAN", "TL_POOL_NORM"};
TL_NAME_AND_FROM_STR(tl_pool_kind, kind_names, TL_POOL_KIND_SIZE)

static int is_separable(const tl_poolnd_job *job)
{
    const tl_windows *const w = &job->axes.windows;
    const int last = w->n - 1;
    int64_t rows = 1;
    for (int i = 0; i < last && rows <= TL_POOL_ROWS; i++)
        rows *= w->size[i];
    if (job->arg || job->p != 0 || rows > TL_POOL_ROWS ||
        job->axes.out[last] <= w->size[last] / TL_POOL_NARROW ||
        (int64_t)(w->size[last] - 1) * w->dilation[last] >= TL_POOL_SPAN)
        return 0;
    for (int i = 0; i < w->n; i++) {
        int full, full_end;
        tl_pool_full(job, i, &full, &full_end);
        for (int x = 0, begin, end; x < job->axes.out[i]; x++) {
            if (x == full && full < full_end)
                x = full_end;
            if (x == job->axes.out[i])
                break;
            tl_pool_taps(job, i, x, &begin, &end);
            if (begin == end)
                return 0;
        }
    }
    return 1;
}

// Whether each window is a whole channel of src.
static int is_global(const tl_poolnd_param *param, const tl_tensor *src)
{
    const tl_windows *const w = &param->windows;
    for (int i = 0; i < w->n; i++)
        if (w->size[i] != src->dims[2 + i] || w->padding[i] || w->padding[w->n + i])
            return 0;
    return 1;
}

static int has_nan(const tl_tensor *t)
{
    double x;
    for (int i = 0; i < t->len && tl_dtype_is_float(t->dtype); i++) {
        tl_convert(&x, TL_DOUBLE, tl_pointer_add(t->data, i, t->dtype), t->dtype);
        if (isnan(x))
            return 1;
    }
    return 0;
}

// Pools whole channels. 0: a NaN may not be the first element, and not be the max.
static int reduce_channels(const tl_exec *exec, tl_pool_kind kind, const tl_tensor *src,
                           tl_tensor *dst)
{
    static const int axes[] = {2, 3, 4, 5, 6, 7};
    tl_exec_reduce(exec, src, dst, kind == TL_POOL_MAX ? TL_REDUCE_MAX : TL_REDUCE_MEAN, axes,
                   src->ndim - 2);
    return kind == TL_POOL_MEAN || !has_nan(dst);
}

int tl_exec_poolnd(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                   const tl_poolnd_param *param)
{
    assert(src->ndim == param->windows.n + 2);
    assert(dst->ndim == src->ndim && src->dtype == dst->dtype);
    assert(!arg || (param->kind == TL_POOL_MAX && arg->dtype == TL_INT64 && arg->len == dst->len));
    if (dst->len == 0)
        return 0;
    if (!arg && param->kind != TL_POOL_NORM && is_global(param, src) &&
        reduce_channels(exec, param->kind, src, dst))
        return 0;
    const int is_max = param->kind == TL_POOL_MAX;
    tl_poolnd_job job = {.src = src->data,
                         .dst = dst->data,
                         .arg = arg ? arg->data : NULL,
                         .axes = tl_window_job_of(&param->windows, src, dst, 0, 0),
                         .in_plane = 1,
                         .p = param->kind == TL_POOL_NORM ? param->p : 0,
                         .counts_padding = param->counts_padding,
                         .is_column_major = param->is_column_major,
                         .stop = exec ? exec->stop : NULL,
                         .tiles = is_max ? pick_max(exec, src->dtype) : pick_sum(exec, src->dtype)};
    tl_poolnd_func *const rows =
        !is_separable(&job) ? NULL : (is_max ? pick_rows_max : pick_rows_mean)(exec, src->dtype);
    tl_dtype_min(src->dtype, &job.lowest);
    const int last = job.axes.windows.n - 1;
    const size_t plane = (size_t)job.axes.out[last - 1] * job.axes.out[last];
    double cost = (double)plane;
    for (int i = 0; i <= last; i++) {
        job.in_plane *= job.axes.in[i];
        cost *= job.axes.windows.size[i];
    }
    tl_parallel(exec, (size_t)dst->len / plane, tl_axis_grain(cost < 1e6 ? (size_t)cost : 1000000),
                rows ? rows : job.tiles, &job);
    return 0;
}

int tl_poolnd_shape(const tl_tensor *src, const tl_poolnd_param *param, int *dims)
{
    if (!param)
        return tl_fail("'param' is NULL, expected parameters");
    const tl_windows *const w = &param->windows;
    if (tl_check_windows(w, src) < 0 || tl_check_at_least("padding", w->padding, 2 * w->n, 0) < 0)
        return -1;
    if (!tl_pool_kind_name(param->kind))
        return tl_fail("pool kind %d, expected 0 to %d", param->kind, TL_POOL_KIND_SIZE - 1);
    if (param->kind != TL_POOL_MAX && tl_check_float(src, "src") < 0)
        return -1;
    if (param->kind == TL_POOL_NORM && !(param->p > 0))
        return tl_fail("'p' is %g, expected more than 0", param->p);
    dims[0] = src->dims[0];
    dims[1] = src->dims[1];
    for (int i = 0; i < w->n; i++)
        if ((dims[2 + i] = tl_windows_length(w, i, src->dims[2 + i], param->is_ceil)) < 0)
            return -1;
    return 0;
}

tl_tensor *tl_tensor_poolnd(const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                            const tl_poolnd_param *param)
{
    int dims[TL_MAXDIM];
    if (tl_check_operand(src, "src", dst) < 0 || tl_poolnd_shape(src, param, dims) < 0)
        return NULL;
    if (arg && param->kind != TL_POOL_MAX) {
        tl_fail("'arg' is given for %s, expected it for TL_POOL_MAX",
                tl_pool_kind_name(param->kind));
        return NULL;
    }
    if (arg && (tl_check_given(arg, "arg", src->ndim, dims, TL_INT64) < 0 ||
                tl_check_apart(arg, src) < 0 || (dst && tl_check_apart(arg, dst) < 0)))
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_poolnd(NULL, src, result, arg, param) : -1);
}
