// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of gemm.opt.

#pragma once

#include <string.h>

#include "arch/cpu/ln_choice.h"
#include "lightnet/ln_op.h"
#include "tensorlight/tl_linalg.h"

/** Up to so many rows, an unpacked matrix is read once: packing it would only cost memory, unless
 * as bfloat16. Up to so many columns, panels would be mostly empty. */
enum { FEW_ROWS = 3, FEW_COLUMNS = 8 };

/** Whether the result has many rows, or programs for other shapes share the packed matrix, which
 * AVX-512 reads as fast as an unpacked one. */
static inline int has_rows(const ln_context *ctx, const ln_tensor_entry *y, int columns)
{
    return y->tensor->len / columns > FEW_ROWS ||
           (ctx->many_shapes && tl_isa_contains(ctx->isa, TL_ISA_AVX512));
}

/** Whether packing the constant `w` is worthwhile for a product `y`. */
static inline int is_worth_packing(const ln_context *ctx, const ln_tensor_entry *w,
                                   const ln_tensor_entry *y)
{
    const int columns = y->tensor->dims[y->tensor->ndim - 1];
    return w->isconst && w->tensor->dtype == TL_FLOAT && w->tensor->ndim == 2 &&
           columns > FEW_COLUMNS && (ln_may_compute_in_halves(ctx) || has_rows(ctx, y, columns));
}

/** Whether an operator with optional activation has none. */
static inline int is_linear(const ln_op *op)
{
    const char *const act = ln_op_string(op, "act");
    return !*act || strcmp(act, "TL_ACT_NONE") == 0;
}

/** Whether `c` broadcasts to the shape of `y`, and has its dtype. */
static inline int broadcasts_to(const ln_tensor_entry *c, const ln_tensor_entry *y)
{
    const tl_tensor *const a = c->tensor, *const b = y->tensor;
    for (int i = 1; i <= a->ndim && i <= b->ndim; i++) {
        if (a->dims[a->ndim - i] != 1 && a->dims[a->ndim - i] != b->dims[b->ndim - i])
            return 0;
    }
    return a->ndim <= b->ndim && a->dtype == b->dtype;
}
