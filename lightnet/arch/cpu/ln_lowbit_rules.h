// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of lowbit.opt.

#pragma once

#include <limits.h>

#include "arch/cpu/ln_lowbit.h"
#include "lightnet/ln_op.h"

/** Rows that share a scale; 0: all. */
static inline int scale_block(const ln_op *dequantize)
{
    return ln_op_int(dequantize, "block");
}

/** Whether the constant `w`, [k, n] or transposed, packs with its scales `s`. */
static inline int packs_bits(const ln_op *dequantize, const ln_tensor_entry *w,
                             const ln_tensor_entry *s, int trans)
{
    const tl_tensor *const t = w->tensor;
    const int block = scale_block(dequantize), rows = trans ? 1 : 0;
    if (!w->isconst || !s->isconst || t->ndim != 2 || t->len <= 0 || s->tensor->dtype != TL_FLOAT)
        return 0;
    if (s->tensor->len > 1 && !ln_op_has_number(dequantize, "axis", block ? rows : 1 - rows))
        return 0;
    const tl_lowbit_param param = ln_lowbit_param(t->dims[rows], 4, block, 1, 0, 0);
    return param.block > 0 &&
           ln_lowbit_has_scales(t->dims[rows], t->dims[1 - rows], s->tensor, block, trans) &&
           tl_lowbit_packed(t->dims[rows], t->dims[1 - rows], &param) <= INT_MAX;
}

/** Whether the source is rounded in the blocks in which `w` is packed. */
static inline int rounds_packed_blocks(const ln_op *round_blocks, const ln_op *dequantize,
                                       const ln_tensor_entry *w, int trans)
{
    const int k = w->tensor->dims[trans ? 1 : 0], block = scale_block(dequantize);
    return ln_op_int(round_blocks, "block") == tl_lowbit_block(k, block ? block : k);
}

/** Whether `signs`, which is combined with bytes by XOR, flips the highest bit of each element. */
static inline int flips_signs(const ln_context *ctx, const ln_tensor_entry *signs, int bits)
{
    return ln_rule_scalar(ctx, signs) == (bits == 4 ? 0x88 : 0xaa);
}

/** The stored zero point of weights without zero points. */
static inline int common_zero(const ln_tensor_entry *w, const ln_tensor_entry *zero, int bits)
{
    return zero || w->tensor->dtype == TL_UINT8 ? 0 : 1 << (bits - 1);
}

/** Whether zero points, which may be absent, are constants, one for each scale. */
static inline int is_beside(const ln_tensor_entry *zero, const ln_tensor_entry *scale)
{
    return !zero || (zero->isconst && tl_tensor_issameshape(zero->tensor, scale->tensor));
}

/** Whether `b`, which may be absent, is one float for each of `n` columns. */
static inline int is_row_of(const ln_tensor_entry *b, int n)
{
    return !b || (b->tensor->dtype == TL_FLOAT && b->tensor->len == n && b->tensor->ndim >= 1 &&
                  b->tensor->dims[b->tensor->ndim - 1] == n);
}
