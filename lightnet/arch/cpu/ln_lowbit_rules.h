// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of lowbit.opt.

#pragma once

#include <limits.h>

#include "arch/cpu/ln_lowbit.h"
#include "ir/ln_sizes.h"
#include "lightnet/ln_op.h"

/** Rows that share a scale; 0: all. */
static inline int scale_block(const ln_op *dequantize)
{
    return ln_op_int(dequantize, "block");
}

/** Whether the constant `w`, [k, n] or transposed, packs in `bits` bits with its scales `s`. */
static inline int packs_bits(const ln_op *dequantize, const ln_tensor_entry *w,
                             const ln_tensor_entry *s, int bits, int trans)
{
    const tl_tensor *const t = w->tensor;
    const int block = scale_block(dequantize), rows = trans ? 1 : 0;
    if (!w->isconst || !s->isconst || t->ndim != 2 || t->len <= 0 || s->tensor->dtype != TL_FLOAT)
        return 0;
    if (s->tensor->len > 1 && !ln_op_has_number(dequantize, "axis", block ? rows : 1 - rows))
        return 0;
    const tl_lowbit_param param = ln_lowbit_param(t->dims[rows], bits, block, 1, 0, 0);
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

/** Whether a product `y` may have so few rows that it is faster by bytes than by floats, or shares
 *  its weights with products that may. */
static inline int has_few_rows(const ln_context *ctx, const ln_tensor_entry *y)
{
    const int few = tl_isa_contains(ctx->isa, TL_ISA_AVX512VNNI) ? 64 : 8;
    const int ndim = y->tensor->ndim;
    for (int i = 0; i < ndim - 1; i++)
        if (ln_sizes_is_open(y, i))
            return 1;
    return ctx->many_shapes || y->tensor->len / y->tensor->dims[ndim - 1] <= few;
}

/** Whether the product `mul` of x and w, plus b, reads the constant w as the 8-bit integers that
 *  an operator dequantizes. */
static inline int reads_bytes(const ln_context *ctx, const ln_op *mul, const ln_tensor_entry *x,
                              const ln_tensor_entry *w, const ln_tensor_entry *b,
                              const ln_tensor_entry *y)
{
    const ln_op *const qw = ln_entry_creater(w), *const r = ln_entry_creater(x);
    const int trans = ln_op_bool(mul, "trans2");
    if (!qw || !ln_op_is_form_of(qw, LN_OP_DEQUANTIZE) || ln_op_bool(mul, "trans1") ||
        !ln_op_has_number(mul, "alpha", 1) || !ln_op_has_number(mul, "beta", 1))
        return 0;
    const ln_tensor_entry *const q = ln_op_input(qw, "src"), *const s = ln_op_input(qw, "scale");
    const int is_rounded = r && ln_op_is_form_of(r, LN_OP_ROUND_BLOCKS);
    return (q->tensor->dtype == TL_INT8 || q->tensor->dtype == TL_UINT8) &&
           packs_bits(qw, q, s, 8, trans) && is_beside(ln_op_input(qw, "zero"), s) &&
           x->tensor->ndim == y->tensor->ndim &&
           is_row_of(b, y->tensor->dims[y->tensor->ndim - 1]) &&
           (has_few_rows(ctx, y) || (is_rounded && rounds_packed_blocks(r, qw, q, trans)));
}
