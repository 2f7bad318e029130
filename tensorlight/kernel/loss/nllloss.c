// SPDX-License-Identifier: Apache-2.0
// The negative log likelihood: names, checks, choice of the kernel. One thread: the order of a sum
// is part of its result.

#include "kernel/loss/nllloss.h"

#include <assert.h>
#include <inttypes.h>

#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick, tl_nllloss_func, TL_NLLLOSS_KERNELS)

static const char *const names[TL_LOSS_REDUCTION_SIZE] = {
    [TL_LOSS_NONE] = "TL_LOSS_NONE",
    [TL_LOSS_SUM] = "TL_LOSS_SUM",
    [TL_LOSS_MEAN] = "TL_LOSS_MEAN",
};

const char *tl_loss_reduction_name(tl_loss_reduction reduction)
{
    return reduction >= 0 && reduction < TL_LOSS_REDUCTION_SIZE ? names[reduction] : NULL;
}

tl_loss_reduction tl_loss_reduction_from_str(const char *str)
{
    for (int i = 0; str && i < TL_LOSS_REDUCTION_SIZE; i++)
        if (strcmp(names[i], str) == 0)
            return (tl_loss_reduction)i;
    return TL_LOSS_REDUCTION_INVALID;
}

int tl_nllloss_check(const tl_tensor *src, const tl_tensor *target, const tl_tensor *weight)
{
    char text1[TL_SHAPE_TEXT_SIZE], text2[TL_SHAPE_TEXT_SIZE];
    if (target->dtype != TL_INT32 && target->dtype != TL_INT64)
        return tl_fail("'target' has dtype %s, expected TL_INT32 or TL_INT64",
                       tl_dtype_name(target->dtype));
    int is_fit = src->ndim >= 2 && target->ndim == src->ndim - 1;
    for (int i = 0; is_fit && i < target->ndim; i++)
        is_fit = target->dims[i] == src->dims[i == 0 ? 0 : i + 1];
    if (!is_fit)
        return tl_fail("'src' has shape %s and 'target' %s, expected [N, C, ..] and [N, ..]",
                       tl_shape_text(text1, src->ndim, src->dims),
                       tl_shape_text(text2, target->ndim, target->dims));
    if (weight && (weight->ndim != 1 || weight->len != src->dims[1]))
        return tl_fail("'weight' has shape %s, expected [%d]",
                       tl_shape_text(text1, weight->ndim, weight->dims), src->dims[1]);
    return 0;
}

int tl_exec_nllloss(const tl_exec *exec, const tl_tensor *src, const tl_tensor *target,
                    const tl_tensor *weight, tl_tensor *dst, const tl_nllloss_param *param)
{
    assert(tl_dtype_is_float(src->dtype) && dst->dtype == src->dtype);
    assert(!weight || weight->dtype == src->dtype);
    assert(dst->len == (param->reduction == TL_LOSS_NONE ? target->len : 1));
    const size_t images = (size_t)src->dims[0];
    const tl_nllloss_job job = {
        .src = src->data,
        .target = target->data,
        .is_wide = target->dtype == TL_INT64,
        .weight = weight ? weight->data : NULL,
        .dst = dst->data,
        .len = (size_t)target->len,
        .classes = (size_t)src->dims[1],
        .places = images ? (size_t)target->len / images : 0,
        .param = param,
    };
    int64_t bad = 0;
    if (pick(exec, src->dtype)(&job, &bad) < 0)
        return tl_fail("'target' has %" PRId64 ", expected 0 to %zu", bad, job.classes - 1);
    return 0;
}

tl_tensor *tl_tensor_nllloss(const tl_tensor *src, const tl_tensor *target, const tl_tensor *weight,
                             tl_tensor *dst, const tl_nllloss_param *param)
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_data(target, "target") < 0 || tl_check_apart(dst, src) < 0 ||
        tl_check_apart(dst, target) < 0)
        return NULL;
    if (weight && (tl_check_data(weight, "weight") < 0 || tl_check_same_dtype(src, weight) < 0 ||
                   tl_check_apart(dst, weight) < 0))
        return NULL;
    if (tl_nllloss_check(src, target, weight) < 0)
        return NULL;
    const int ndim = param->reduction == TL_LOSS_NONE ? target->ndim : 0;
    tl_tensor *const result = tl_result_begin(dst, ndim, target->dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_nllloss(NULL, src, target, weight, result, param) : -1);
}
