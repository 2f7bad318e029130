// SPDX-License-Identifier: Apache-2.0
// The negative log likelihood; sums in double. One thread: the order of a sum is part of its
// result.

#ifndef T // once

#include <assert.h>
#include <inttypes.h>
#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_name.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

typedef struct nllloss_job {
    const void *src;    // [images, classes, places]
    const void *target; // [images, places], int32_t or int64_t
    int is_wide;        // int64_t
    const void *weight; // [classes], or NULL
    void *dst;          // [images, places], or one element
    size_t len;         // images * places
    size_t classes, places;
    const tl_nllloss_param *param;
} nllloss_job;

// Computes the nllloss_job. -1 (no reason recorded) and the target in `*bad`: it is neither a
// class nor ignored.
typedef int nllloss_func(const nllloss_job *job, int64_t *bad);

static inline int64_t target_at(const nllloss_job *job, size_t i)
{
    return job->is_wide ? ((const int64_t *)job->target)[i] : ((const int32_t *)job->target)[i];
}

#define TL_TEMPLATE "kernel/loss/nllloss.c"
#include "tensor/tl_each_float.inc.h"

TL_PLAIN_TABLE(pick, nllloss_func, nllloss, FLT)

static const char *const names[TL_LOSS_REDUCTION_SIZE] = {
    [TL_LOSS_NONE] = "TL_LOSS_NONE",
    [TL_LOSS_SUM] = "TL_LOSS_SUM",
    [TL_LOSS_MEAN] = "TL_LOSS_MEAN",
};
TL_NAME_AND_FROM_STR(tl_loss_reduction, names, TL_LOSS_REDUCTION_SIZE)

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
    const nllloss_job job = {
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
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_operand(target, "target", dst) < 0)
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

#else // for each type

static int NAME(nllloss, c)(const nllloss_job *job, int64_t *bad)
{
    const T *const src = job->src, *const weights = job->weight;
    T *const dst = job->dst;
    const tl_loss_reduction reduction = job->param->reduction;
    double loss_sum = 0, weight_sum = 0;
    for (size_t i = 0; i < job->len; i++) {
        const int64_t target = target_at(job, i);
        const int is_ignored = job->param->is_ignoring && target == job->param->ignored;
        if (!is_ignored && (target < 0 || (uint64_t)target >= job->classes)) {
            *bad = target;
            return -1;
        }
        C loss = 0;
        if (!is_ignored) {
            const size_t class = (size_t)target;
            const size_t row = i / job->places * job->classes + class;
            const C weight = weights ? LOAD(weights[class]) : 1;
            loss = -LOAD(src[row * job->places + i % job->places]) * weight;
            weight_sum += (double)weight;
        }
        loss_sum += (double)loss;
        if (reduction == TL_LOSS_NONE)
            dst[i] = STORE(loss);
    }
    if (reduction != TL_LOSS_NONE)
        *dst = STORE((C)(reduction == TL_LOSS_MEAN ? loss_sum / weight_sum : loss_sum));
    return 0;
}

#endif
