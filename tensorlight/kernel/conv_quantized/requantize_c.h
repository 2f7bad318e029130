// SPDX-License-Identifier: Apache-2.0
// Results from exact sums, in plain C: the operations of tl_quantized.h, each rounded once.

#pragma once

#include "kernel/conv_quantized/conv_quantized.h"

/** The initial value of the sums of channel c of a block: the bias minus zero * weight_sum. */
static inline uint32_t tl_quantized_start_c(const tl_quantized_head *head,
                                            const tl_quantized_param *q, int c)
{
    return (uint32_t)head->bias[c] - (uint32_t)q->zero * (uint32_t)head->weight_sum[c];
}

/** The values of a block's sums of products, before the activation. */
static inline void tl_quantized_values_c(const tl_quantized_head *head, const tl_quantized_param *q,
                                         const uint32_t *sum, float *v)
{
    for (int c = 0; c < TL_BLOCK; c++) {
        const uint32_t start = tl_quantized_start_c(head, q, c);
        const float factor = head->factor[c] * q->scale;
        const float product = (float)(int32_t)(sum[c] + start) * factor;
        v[c] = product + head->addend[c];
    }
}

/** Applies the activation to a block, and writes it from element `at` of dst on. `act_exec` has the
 * instruction set of the activation. */
static inline void tl_quantized_finish_c(const tl_quantized_param *q, const tl_exec *act_exec,
                                         float *v, int is_float, void *dst, size_t at)
{
    int dim = TL_BLOCK;
    tl_tensor t = {.dtype = TL_FLOAT, .len = dim, .ndim = 1, .dims = &dim, .data = v};
    if (q->act.act != TL_ACT_NONE)
        tl_exec_act(act_exec, &t, &t, q->act);
    for (int c = 0; c < TL_BLOCK; c++)
        if (is_float)
            ((float *)dst)[at + c] = v[c];
        else
            ((uint8_t *)dst)[at + c] = tl_quantized_byte(q, v[c]);
}
