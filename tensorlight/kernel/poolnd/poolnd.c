// SPDX-License-Identifier: Apache-2.0
// Pooling over any number of axes: checks, choice of the kernel, threads.

#include "kernel/poolnd/poolnd.h"

#include <assert.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_nn_check.h"
#include "kernel/tl_windows.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick_max, tl_poolnd_func, TL_POOLND_MAX_KERNELS)
TL_KERNEL_TABLE(pick_sum, tl_poolnd_func, TL_POOLND_SUM_KERNELS)

static const char *const kind_names[] = {"TL_POOL_MAX", "TL_POOL_MEAN", "TL_POOL_NORM"};

const char *tl_pool_kind_name(tl_pool_kind kind)
{
    return kind >= 0 && kind < TL_POOL_KIND_SIZE ? kind_names[kind] : NULL;
}

tl_pool_kind tl_pool_kind_from_str(const char *str)
{
    for (int i = 0; str && i < TL_POOL_KIND_SIZE; i++)
        if (!strcmp(str, kind_names[i]))
            return (tl_pool_kind)i;
    return TL_POOL_KIND_INVALID;
}

int tl_exec_poolnd(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                   const tl_poolnd_param *param)
{
    tl_poolnd_func *const func =
        param->kind == TL_POOL_MAX ? pick_max(exec, src->dtype) : pick_sum(exec, src->dtype);
    const int n = param->windows.n;
    assert(func && src->ndim == n + 2 && dst->ndim == src->ndim && src->dtype == dst->dtype);
    assert(!arg || (param->kind == TL_POOL_MAX && arg->dtype == TL_INT64 && arg->len == dst->len));
    if (dst->len == 0)
        return 0;
    tl_poolnd_job job = {.src = src->data,
                         .dst = dst->data,
                         .arg = arg ? arg->data : NULL,
                         .in_plane = 1,
                         .out_plane = 1,
                         .param = *param,
                         .stop = exec ? exec->stop : NULL};
    tl_dtype_min(src->dtype, &job.lowest);
    for (int i = n - 1; i >= 0; i--) {
        job.in[i] = src->dims[2 + i];
        job.out[i] = dst->dims[2 + i];
        job.in_step[i] = job.in_plane;
        job.in_plane *= job.in[i];
        job.out_plane *= job.out[i];
    }
    tl_parallel(exec, (size_t)dst->len / job.out_plane,
                tl_axis_grain((job.in_plane + job.out_plane) * 4), func, &job);
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
    if (tl_check_data(src, "src") < 0 || tl_poolnd_shape(src, param, dims) < 0 ||
        tl_check_apart(dst, src) < 0)
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
