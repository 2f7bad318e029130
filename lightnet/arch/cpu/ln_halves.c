// SPDX-License-Identifier: Apache-2.0
// What operators and rules of bfloat16 share.

#include "arch/cpu/ln_halves.h"

#include "ir/ln_context_ops.h"
#include "lightnet/ln_rule.h"
#include "tensorlight/tl_blocked.h"

size_t ln_blocked_conv2d_row(const tl_tensor *src, int channels, const int size[2])
{
    if (src->dtype == TL_BFLOAT16)
        return tl_blocked_conv2d_packed_pairs(channels, size);
    return tl_blocked_conv2d_packed((int[]){channels, 1}, 1, size, src->ndim == 4 ? 1 : TL_BLOCK);
}

int ln_may_compute_in_halves(const ln_context *ctx)
{
    return ctx->precision == TL_BFLOAT16 && tl_isa_contains(ctx->isa, TL_ISA_AVX512BF16);
}

static int rounds(const ln_op *op)
{
    return ln_rule_is(op, "cast_cpu") && ln_rule_has_string(op, "dtype", "TL_BFLOAT16");
}

/** Whether a convolution adds the tensor, and reads it for nothing else. */
static int adds(const ln_op *op, const ln_tensor_entry *te)
{
    const ln_tensor_entry *src = NULL, *add = NULL;
    return ln_rule_is(op, "conv2d_blocked_cpu") && ln_rule_may_read(op, "add", &add) && add == te &&
           ln_rule_reads(op, "src", &src) && src != te;
}

int ln_is_read_as_halves(const ln_context *ctx, const ln_tensor_entry *te)
{
    ln_list *readers = NULL;
    if (ln_entry_is_mutated(te) || ln_context_readers(ctx, te, &readers) < 0)
        return 0;
    int all = readers != NULL;
    for (const ln_list *node = readers; node && all; node = node->next)
        all = rounds(node->data) || adds(node->data, te);
    ln_list_free(readers);
    return all;
}
