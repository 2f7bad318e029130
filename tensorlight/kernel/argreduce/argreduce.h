// SPDX-License-Identifier: Apache-2.0
// Kernels of the search for the extreme along an axis.

#pragma once

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "kernel/transpose/transpose.h"
#include "tensorlight/tl_nn.h"

/** Of equal elements, the first or the last one, and of NaN; PLAIN, only for floats: the first one,
 * a NaN at index 0 only. */
typedef enum tl_search { TL_SEARCH_FIRST, TL_SEARCH_LAST, TL_SEARCH_PLAIN } tl_search;

/** src [axis.outer, axis.len, axis.inner], axis.len >= 1 -> the others [axis.outer, axis.inner],
 * each of which may be NULL. */
typedef struct tl_argreduce_job {
    const void *src;
    void *best;
    int64_t *index;
    int32_t *short_index;
    tl_axis axis;
    tl_search search;
    int is_min;
    tl_transpose_kernel *transpose; // of elements of src
} tl_argreduce_job;

/** Computes the lines begin .. end-1 (tl_axis.h) of the tl_argreduce_job at `arg`. */
typedef void tl_argreduce_func(void *arg, size_t begin, size_t end);

#define TL_ARGREDUCE_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_argreduce, ALL, PLAIN) \
    TL_KERNELS(ROW, arg, tl_argreduce, F32, WIDE)
TL_ARGREDUCE_KERNELS(TL_KERNEL_DECLARE, tl_argreduce_func)
