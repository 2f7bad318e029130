// SPDX-License-Identifier: Apache-2.0
// Kernels of rotations by angles (tl_attention.h).

#pragma once

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_tensor.h"

typedef struct tl_rotate_job {
    const void *src, *cosines, *sines;
    void *dst;
    size_t len;         // of a row
    int is_whole;       // each element of a row has its own cosine and sine; else each pair
    int is_interleaved; // pairs are adjacent; else `len` / 2 apart
    int ndim;           // axes of rows, all but the last one
    size_t dims[TL_MAXDIM];
    size_t steps[TL_MAXDIM]; // of rows of cosines, from index to index; 0: repeated
} tl_rotate_job;

/** Rotates the rows begin .. end-1 of the tl_rotate_job at `arg`. */
typedef void tl_rotate_func(void *arg, size_t begin, size_t end);

#define TL_ROTATE_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_rotate, FLT, PLAIN) \
    TL_KERNELS(ROW, arg, tl_rotate, F32, WIDE)
TL_ROTATE_KERNELS(TL_KERNEL_DECLARE, tl_rotate_func)

/** The row of cosines for row `row`. */
static inline size_t tl_rotate_row(const tl_rotate_job *job, size_t row)
{
    size_t at = 0;
    for (int i = job->ndim - 1; i >= 0; row /= job->dims[i--])
        at += row % job->dims[i] * job->steps[i];
    return at;
}
