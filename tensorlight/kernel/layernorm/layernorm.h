// SPDX-License-Identifier: Apache-2.0
// Kernels that normalize lines of elements by their own mean and variance.
//
// src is lines, each [parts, inner]: a part has one scale and one bias, and those of adjacent lines
// are contiguous, repeated after `period` lines.
//
//     layernorm, rmsnorm    a line is [len, 1], period 1: each line has the same
//     groupnorm             a line is [C / groups, H * W], period `groups`: each image has the same
//     scales of groups      a line is [1, ..], period `groups`

#pragma once

#include "kernel/tl_kernel.h"

typedef struct tl_layernorm_job {
    const void *src;
    const void *scale, *bias; // [period, parts], or NULL
    void *dst;                // may be src
    void *mean, *inv_std;     // one per line, of the type to compute in; or NULL
    size_t parts, inner, period;
    int is_centered; // the mean is subtracted
    double epsilon;
} tl_layernorm_job;

/** Computes the lines begin .. end-1 of the tl_layernorm_job at `arg`. */
typedef void tl_layernorm_func(void *arg, size_t begin, size_t end);

#define TL_LAYERNORM_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_layernorm, FLT, PLAIN) \
    TL_KERNELS(ROW, arg, tl_layernorm, F32, SIMD)
TL_LAYERNORM_KERNELS(TL_KERNEL_DECLARE, tl_layernorm_func)
