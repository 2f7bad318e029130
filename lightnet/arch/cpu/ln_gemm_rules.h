// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of gemm.opt.

#pragma once

#include <string.h>

#include "arch/cpu/ln_choice.h"
#include "ir/ln_sizes.h"
#include "lightnet/ln_op.h"
#include "tensorlight/tl_linalg.h"

/** Up to so many rows, an unpacked matrix is read once: packing it would only cost memory, unless
 * as bfloat16. Up to so many columns, panels would be mostly empty. */
enum { FEW_ROWS = 3, FEW_COLUMNS = 8 };

/** The rows of a tile of matrix units, and its terms. With fewer rows, a product is memory-bound:
 *  three parts of bfloat16 have 1.5 times the bytes of a float. With fewer terms, vectors suffice.
 */
enum { TILE_ROWS = 16, TILE_TERMS = 32 };

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

/** Whether the product `y` fills a tile with rows in each run. An open axis counts as 1. Programs
 * for one shape of many, which share the packed matrix, may be of one row each. */
static inline int fills_tile(const ln_context *ctx, const ln_tensor_entry *y)
{
    size_t rows = 1;
    int is_open = 0;
    for (int i = 0; i < y->tensor->ndim - 1; i++) {
        const int is_axis_open = ln_sizes_is_open(y, i);
        is_open |= is_axis_open;
        rows *= is_axis_open ? 1 : (size_t)y->tensor->dims[i];
    }
    return rows >= TILE_ROWS && (is_open || !ctx->many_shapes);
}

/** How the second factor `w` of the product `y` is packed: floats are split into three parts where
 *  matrix units then multiply them faster than vectors. */
static inline int packed_parts(const ln_context *ctx, const ln_tensor_entry *w,
                               const ln_tensor_entry *y)
{
    const int columns = y->tensor->dims[y->tensor->ndim - 1];
    return ctx->precision == TL_FLOAT && ln_has_units_for_halves(ctx) && fills_tile(ctx, y) &&
                   w->tensor->len / columns >= TILE_TERMS
               ? 3
               : 1;
}

static inline const char *packed_dtype(const ln_context *ctx, const ln_tensor_entry *w,
                                       const ln_tensor_entry *y)
{
    return ln_may_compute_in_halves(ctx) || packed_parts(ctx, w, y) > 1 ? "TL_BFLOAT16"
                                                                        : "TL_FLOAT";
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
