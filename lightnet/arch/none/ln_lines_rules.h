// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules of lines.opt.

#ifndef LN_LINES_RULES_H
#define LN_LINES_RULES_H

#include <string.h>

#include "lightnet/ln_rule.h"

/** Whether it is an image [N, C, L, 1] with L > 1. */
static inline int is_column(const ln_tensor_entry *te)
{
    const int *const dims = te->tensor->dims;
    return te->tensor->ndim == 4 && dims[2] > 1 && dims[3] == 1;
}

/** Whether `x` is an image of one column, and `y`, computed from it, too. */
static inline int stays_column(const ln_tensor_entry *x, const ln_tensor_entry *y)
{
    return is_column(x) && y->tensor->dims[3] == 1;
}

/** Whether `y` is a line or a column, and `x` the same as an image of one row. */
static inline int is_line_of(const ln_tensor_entry *x, const ln_tensor_entry *y)
{
    const int *const row = x->tensor->dims, *const column = y->tensor->dims;
    return is_row_of(x, y) || (is_column(y) && x->tensor->ndim == 4 && row[0] == column[0] &&
                               row[1] == column[1] && row[2] == 1 && row[3] == column[2]);
}

/** The dimensions of an image with the last two axes swapped. */
static const int *swapped_dims(const ln_tensor_entry *te, int dims[4])
{
    const int *const of = te->tensor->dims;
    memcpy(dims, (int[]){of[0], of[1], of[3], of[2]}, 4 * sizeof(*dims));
    return dims;
}

/** A parameter with values for both axes of an operator on images, with swapped axes. */
static const int *swapped(const ln_op *op, const char *arg_name, int numbers[4])
{
    int n;
    const int *const of = ln_rule_get_ints(op, arg_name, &n);
    for (int i = 0; i < n && i < 4; i++)
        numbers[i] = of[i ^ 1];
    return numbers;
}

/** Whether `k`, an operand with an image of one column, has one element per channel, or one in
 * all. */
static inline int is_number_of_channels(const ln_tensor_entry *k, const ln_tensor_entry *column)
{
    const tl_tensor *const t = k->tensor;
    return is_column(column) && t->ndim >= 2 && t->ndim <= 4 && t->dims[t->ndim - 1] == 1 &&
           t->dims[t->ndim - 2] == 1;
}

#endif
