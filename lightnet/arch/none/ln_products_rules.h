// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of products.opt.

#ifndef LN_PRODUCTS_RULES_H
#define LN_PRODUCTS_RULES_H

#include <math.h>

#include "lightnet/ln_rule.h"

/** The factor of an operator with the constant `k` as src2; NaN: another function, or an unknown
 * value. */
static inline double factor_of(const ln_context *ctx, const ln_op *op, const ln_tensor_entry *k)
{
    const double value = ln_rule_scalar(ctx, k);
    if (ln_rule_has_string(op, "op", "TL_BINARY_MUL"))
        return value;
    return ln_rule_has_string(op, "op", "TL_BINARY_DIV") ? 1 / value : NAN;
}

/** Whether a transpose moves the last axis of its source to the second-to-last position. */
static inline int turns_last(const ln_op *transpose)
{
    int n;
    const int *axes = ln_rule_get_ints(transpose, "axes", &n);
    return n >= 2 && axes[n - 2] == n - 1;
}

/** The transpose's axes with the last two swapped. Returns their number. */
static inline int turned(const ln_op *transpose, int *axes)
{
    int n;
    const int *given = ln_rule_get_ints(transpose, "axes", &n);
    for (int i = 0; i < n; i++)
        axes[i] = given[i < n - 2 ? i : 2 * n - 3 - i];
    return n;
}

#endif
