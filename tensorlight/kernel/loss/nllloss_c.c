// SPDX-License-Identifier: Apache-2.0
// The negative log likelihood in plain C; sums in double.

#ifndef T // once

#include "kernel/loss/nllloss.h"

static inline int64_t target_at(const tl_nllloss_job *job, size_t i)
{
    return job->is_wide ? ((const int64_t *)job->target)[i] : ((const int32_t *)job->target)[i];
}

#define TL_TEMPLATE "kernel/loss/nllloss_c.c"
#include "tensor/tl_each_float.inc.h"

#else // for each type

int NAME(tl_nllloss, c)(const tl_nllloss_job *job, int64_t *bad)
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
