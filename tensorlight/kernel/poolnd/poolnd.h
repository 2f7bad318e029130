// SPDX-License-Identifier: Apache-2.0
// Kernels of pooling over any number of axes.

#ifndef POOLND_H
#define POOLND_H

#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_vision.h"

/** src [planes, in..] -> dst [planes, out..], arg the same or NULL. */
typedef struct tl_poolnd_job {
    const void *src;
    void *dst;
    int64_t *arg;
    int in[TL_MAX_SPATIAL], out[TL_MAX_SPATIAL];
    size_t in_step[TL_MAX_SPATIAL]; /* elements between neighbours along an axis of src */
    size_t in_plane, out_plane;     /* elements of a plane */
    uint64_t lowest;                /* the bytes of the smallest value, of a window with nothing */
    tl_poolnd_param param;
    const tl_stop *stop; /* looked at now and then in a plane: windows may be large */
} tl_poolnd_job;

/** Computes the planes begin .. end-1 for the tl_poolnd_job at `arg`. */
typedef void tl_poolnd_func(void *arg, size_t begin, size_t end);

#define TL_POOLND_MAX_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_poolnd_max, ALL, PLAIN)
TL_POOLND_MAX_KERNELS(TL_KERNEL_DECLARE, tl_poolnd_func)

#define TL_POOLND_SUM_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_poolnd_sum, FLT, PLAIN)
TL_POOLND_SUM_KERNELS(TL_KERNEL_DECLARE, tl_poolnd_func)

#endif
