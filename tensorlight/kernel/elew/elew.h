// SPDX-License-Identifier: Apache-2.0
// Kernels of the binary operations between elements.

#ifndef ELEW_H
#define ELEW_H

#include "kernel/tl_kernel.h"

/** dst[i] = src1[i] op src2[i], as tl_elew has it; dst may be a source. -1 (no reason recorded, dst
 *  partly written) at an integer or bool division by zero, else 0. */
typedef int tl_elew_kernel(tl_elew_op op, const void *src1, const void *src2, void *dst,
                           size_t len);

#define TL_ELEW_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_elew, ALL, PLAIN) \
    TL_KERNELS(ROW, arg, tl_elew, F32, SIMD)
TL_ELEW_KERNELS(TL_KERNEL_DECLARE, tl_elew_kernel)

#endif
