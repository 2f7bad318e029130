// SPDX-License-Identifier: Apache-2.0
// Kernels of element-wise operations on 8-bit tensors (tl_quantized.h).

#ifndef QUANTELEW_H
#define QUANTELEW_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/quantized/quantized.h"

typedef enum tl_quantelew_op { TL_QUANTELEW_ADD, TL_QUANTELEW_MUL } tl_quantelew_op;

typedef struct tl_quantelew_job {
    const uint8_t *a, *b;
    uint8_t *dst;
    size_t len;   // of a and dst
    size_t plane; // elements of a for each 16 of b that are repeated, or 0: b is like a
    tl_quantelew_op op;
    float zeros[2], factors[2];
    tl_quantized_param q; // act, dst_factor, dst_zero
    float low, high;      // the bounds of the activation, of tl_act_bounds
    uint8_t bounds[2];    // and as bytes
    int is_small;         // whether no result can overflow 32 bits
    const tl_exec *alone; // the exec for activations in plain C
} tl_quantelew_job;

enum { TL_QUANTELEW_CHUNK = 64 }; // elements of a unit of work

/** Computes the units begin .. end-1, of 64 elements each, the last one of fewer, for the
 *  tl_quantelew_job at `arg`. `plane` is 0 or a multiple of 16. */
typedef void tl_quantelew_func(void *arg, size_t begin, size_t end);

/** dst[i] = table[src[i]]; dst may be src. */
typedef void tl_quantlook_func(const uint8_t *src, const uint8_t *table, uint8_t *dst, size_t n);

#define TL_QUANTELEW_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_quantelew, U8, BOTH)
TL_QUANTELEW_KERNELS(TL_KERNEL_DECLARE, tl_quantelew_func)

#define TL_QUANTLOOK_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_quantlook, U8, BOTH)
TL_QUANTLOOK_KERNELS(TL_KERNEL_DECLARE, tl_quantlook_func)

#endif
