// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of activation.opt.

#pragma once

#include <string.h>

#include "lightnet/ln_op.h"
#include "tensorlight/tl_nn.h"

/** The activation that `op` computes on the floating-point tensor `x`, with its parameters;
 * TL_ACT_NONE: another function. */
static inline tl_act act_of(const ln_op *op, const ln_tensor_entry *x, double numbers[2])
{
    const tl_unary_func func = tl_unary_func_from_str(ln_op_string(op, "func"));
    numbers[0] = ln_op_number(op, "alpha");
    numbers[1] = ln_op_number(op, "beta");
    tl_activation act;
    if (!tl_dtype_is_float(x->tensor->dtype) ||
        tl_activation_of(&act, func, numbers[0], numbers[1]) < 0)
        return TL_ACT_NONE;
    // The parameters of an activation are floats, those of a function of doubles are doubles.
    if (x->tensor->dtype == TL_DOUBLE &&
        ((double)act.alpha != numbers[0] || (double)act.beta != numbers[1]))
        return TL_ACT_NONE;
    return act.act;
}
