// SPDX-License-Identifier: Apache-2.0
// Kernels of the negative log likelihood.

#ifndef NLLLOSS_H
#define NLLLOSS_H

#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_nn.h"

typedef struct tl_nllloss_job {
    const void *src;    /* [images, classes, places] */
    const void *target; /* [images, places], int32_t or int64_t */
    int is_wide;        /* int64_t */
    const void *weight; /* [classes], or NULL */
    void *dst;          /* [images, places], or one element */
    size_t len;         /* images * places */
    size_t classes, places;
    const tl_nllloss_param *param;
} tl_nllloss_job;

/** Computes the tl_nllloss_job. -1 (no reason recorded) and the target in `*bad`: it is neither a
 *  class nor ignored. */
typedef int tl_nllloss_func(const tl_nllloss_job *job, int64_t *bad);

#define TL_NLLLOSS_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_nllloss, FLT, PLAIN)
TL_NLLLOSS_KERNELS(TL_KERNEL_DECLARE, tl_nllloss_func)

#endif
