// SPDX-License-Identifier: Apache-2.0
// Kernels of element-wise operations on 8-bit tensors (tl_quantized.h).

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/conv_quantized/conv_quantized.h"

typedef enum tl_elementwise_u8_op {
    TL_ELEMENTWISE_U8_ADD,
    TL_ELEMENTWISE_U8_MUL
} tl_elementwise_u8_op;

typedef struct tl_elementwise_u8_job {
    const uint8_t *a, *b;
    uint8_t *dst;
    size_t len;   // of a and dst
    size_t plane; // b has 16 elements for each `plane` elements of a; 0: as many as a
    tl_elementwise_u8_op op;
    float zeros[2], factors[2];
    tl_quantized_param q;    // act, dst_factor, dst_zero
    float low, high;         // the bounds of the activation, of tl_act_bounds
    uint8_t bounds[2];       // the same as bytes
    int is_small;            // no result can overflow 32 bits
    const tl_exec *act_exec; // the exec for activations in plain C
} tl_elementwise_u8_job;

enum { TL_ELEMENTWISE_U8_CHUNK = 64 }; // elements of a unit of work

/** Computes the units begin .. end-1, of 64 elements each, the last one of fewer, for the
 *  tl_elementwise_u8_job at `arg`. `plane` is 0 or a multiple of 16. */
typedef void tl_elementwise_u8_func(void *arg, size_t begin, size_t end);

/** dst[i] = table[src[i]]; dst may be src. */
typedef void tl_lookup_func(const uint8_t *src, const uint8_t *table, uint8_t *dst, size_t n);

#define TL_ELEMENTWISE_U8_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_elementwise, U8, BOTH)
TL_ELEMENTWISE_U8_KERNELS(TL_KERNEL_DECLARE, tl_elementwise_u8_func)

#define TL_LOOKUP_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_lookup, U8, BOTH)
TL_LOOKUP_KERNELS(TL_KERNEL_DECLARE, tl_lookup_func)
