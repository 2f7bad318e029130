// SPDX-License-Identifier: Apache-2.0
// What the rules of functions.opt ask and compute.

#ifndef LN_FUNCTIONS_RULES_H
#define LN_FUNCTIONS_RULES_H

#include <math.h>

#include "lightnet/ln_rule.h"

static inline int is_wide_float(const ln_tensor_entry *te)
{
    return te->tensor->dtype == TL_FLOAT || te->tensor->dtype == TL_DOUBLE;
}

/** What x times `gate`, a function of x, is called; NULL: nothing. */
static const char *gated_by(const ln_op *gate)
{
    if (ln_rule_has_string(gate, "func", "TL_UNARY_SIGMOID"))
        return "TL_UNARY_SWISH";
    return ln_rule_has_string(gate, "func", "TL_UNARY_HARDSIGMOID") ? "TL_UNARY_HARDSWISH" : NULL;
}

/** How far from the number that is meant a constant may be, in parts of it: as far as the type
 *  that the model writes it in may round it, or some digits of a float. */
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

/** Whether `a`, which was computed from the constant `k`, is meant to be `b`. */
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
