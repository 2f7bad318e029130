// SPDX-License-Identifier: Apache-2.0
// What the rules of blocked_window.opt ask and compute.

#ifndef LN_BLOCKED_WINDOW_RULES_H
#define LN_BLOCKED_WINDOW_RULES_H

#include "lightnet/ln_rule.h"

/** Whether each channel of `x` is convolved by itself, to one channel. */
static inline int is_depthwise(const ln_op *conv, const ln_tensor_entry *x,
                               const ln_tensor_entry *w)
{
    return ln_rule_has_number(conv, "group", x->tensor->dims[1]) &&
           w->tensor->dims[0] == x->tensor->dims[1];
}

/** Whether no window of an extent lies within its padding: top, left, bottom, right. */
static inline int is_less(const int padding[4], const int size[2])
{
    return padding[0] < size[0] && padding[2] < size[0] && padding[1] < size[1] &&
           padding[3] < size[1];
}

#endif
