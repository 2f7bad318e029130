// SPDX-License-Identifier: Apache-2.0
// What the rules of blocked_resize.opt ask and compute.

#ifndef LN_BLOCKED_RESIZE_RULES_H
#define LN_BLOCKED_RESIZE_RULES_H

#include <string.h>

#include "lightnet/ln_rule.h"

/** The four numbers of a parameter, of each axis, and `last` of the lanes. */
static const double *with_lanes(const ln_op *op, const char *arg_name, double last, double *numbers)
{
    const ln_param_entry *const pe = ln_param_list_find(op->op_arg->params, arg_name);
    memcpy(numbers, pe->value_array_double, 4 * sizeof(*numbers));
    numbers[4] = last;
    return numbers;
}

/** Whether a resample looks along the first two axes at the place where it is. */
static inline int keeps_channels(const ln_op *op)
{
    double shift[5], start[5], span[5], steps[5], stretch[5];
    with_lanes(op, "shift", 0, shift);
    with_lanes(op, "start", 0, start);
    with_lanes(op, "span", 0, span);
    with_lanes(op, "steps", 0, steps);
    with_lanes(op, "stretch", 0, stretch);
    int keeps = 1;
    for (int i = 0; i < 2; i++)
        keeps &= shift[i] + start[i] == 0 && span[i] == steps[i] && stretch[i] == 1;
    return keeps;
}

/** The shape that `work` makes, with the blocks of `xb`. */
static const int *blocked_dims(const ln_op *work, const ln_tensor_entry *xb, int *dims)
{
    memcpy(dims, ln_rule_get_ints(work, "dims", NULL), 4 * sizeof(*dims));
    dims[1] = xb->tensor->dims[1];
    dims[4] = xb->tensor->dims[4];
    return dims;
}

/** Whether only height and width change. */
static inline int changes_extent(const ln_tensor_entry *x, const ln_tensor_entry *y)
{
    return x->tensor->dims[0] == y->tensor->dims[0] && x->tensor->dims[1] == y->tensor->dims[1];
}

#endif
