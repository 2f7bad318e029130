// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of functions.opt.

#ifndef LN_FUNCTIONS_RULES_H
#define LN_FUNCTIONS_RULES_H

#include <math.h>

#include "lightnet/ln_rule.h"

static inline int is_wide_float(const ln_tensor_entry *te)
{
    return te->tensor->dtype == TL_FLOAT || te->tensor->dtype == TL_DOUBLE;
}

/** The name of the function x * `gate`, where `gate` is a function of x; NULL: none. */
static const char *gated_by(const ln_op *gate)
{
    if (ln_rule_has_string(gate, "func", "TL_UNARY_SIGMOID"))
        return "TL_UNARY_SWISH";
    return ln_rule_has_string(gate, "func", "TL_UNARY_HARDSIGMOID") ? "TL_UNARY_HARDSWISH" : NULL;
}

/** The max relative difference between a constant and the intended number: the rounding error of
 * its type in the model, or some digits of a float. */
static inline double rounding_of(const ln_tensor_entry *k)
{
    const ln_op *const maker = ln_entry_creater(k);
    const ln_tensor_entry *original = NULL;
    if (ln_rule_is(maker, "cast") && ln_rule_reads(maker, "src", &original))
        return rounding_of(original);
    return k->tensor->dtype == TL_BFLOAT16  ? 0x1p-8
           : k->tensor->dtype == TL_FLOAT16 ? 0x1p-11
                                            : 1e-6;
}

/** Whether `a`, computed from the constant `k`, equals `b` within that difference. */
static inline int is_near(const ln_tensor_entry *k, double a, double b)
{
    return fabs(a - b) <= rounding_of(k) * fabs(b);
}

/** Whether `op` multiplies by `factor`, or divides by its inverse: the constant `k`. */
static inline int scales_by(const ln_context *ctx, const ln_op *op, const ln_tensor_entry *k,
                            double factor)
{
    return is_near(k, factor_of(ctx, op, k), factor);
}

#endif
