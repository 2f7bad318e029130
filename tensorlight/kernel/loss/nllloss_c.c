// SPDX-License-Identifier: Apache-2.0
// The negative log likelihood in plain C; sums in double.

#include "kernel/loss/nllloss.h"

static inline int64_t target_at(const tl_nllloss_job *job, size_t i)
{
    return job->is_wide ? ((const int64_t *)job->target)[i] : ((const int32_t *)job->target)[i];
}

#define TL_TEMPLATE "kernel/loss/nllloss_c.inc.h"
#include "tensor/tl_each_float.inc.h"
