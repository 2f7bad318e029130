// SPDX-License-Identifier: Apache-2.0
// Functions as formulas of NNVM's core operators, for graphs that are written and for those that
// are rewritten.
//
// A formula is text (ir/ln_formula.h): "x / (fabs(x) + 1)". Its functions are operators of core's,
// or have formulas themselves. + - * / are of two values of one shape, or of one and a number.
//
//     broadcast_sub .. of two values, which are broadcast
//     clip(x, a, b)    x between two numbers
//     c ? x : y        x where c is not 0, else y
//     sum mean max ..  a reduction along some axes

#ifndef LN_NNVM_FORMULA_H
#define LN_NNVM_FORMULA_H

#include "front/nnvm/ln_nnvm_draft.h"
#include "lightnet/ln_tensor.h"

/** The value of a tensor, or of an intermediate step. Its type and shape are those in the graph;
 * rewriters, which know neither, leave them zero. */
typedef struct ln_nnvm_value {
    ln_nnvm_entry entry;
    tl_dtype dtype;
    int ndim;
    int dims[LN_MAXDIM];
    int is_number; // it is one element, this one
    double number;
} ln_nnvm_value;

/** Makes the nodes of a formula. */
typedef struct ln_nnvm_formula_maker {
    ln_translation *base;

    // The value of operator `op`, or of a reduction, "where" or "add", applied to `len` values,
    // with `to`.
    ln_nnvm_value (*put)(void *to, const char *op, int len, const ln_nnvm_value *srcs);
    void *to;
} ln_nnvm_formula_maker;

/** Whether a function is a reduction. */
int ln_nnvm_formula_reduces(const char *name);

/** The formula of an element-wise function, "TL_UNARY_.." (borrowed); NULL: it has none. */
const char *ln_nnvm_formula_of(const char *func);

/** The value of a formula. */
ln_nnvm_value ln_nnvm_formula_make(const ln_nnvm_formula_maker *m, const char *text,
                                   ln_nnvm_value x, double alpha, double beta);

/** The operations with a number on the right or the left, and of equal shapes, that core has beside
 * those that are broadcast. */
typedef struct ln_nnvm_operation {
    const char *op, *right, *left; // "sub", and in __sub_scalar__ and __rsub_scalar__
    int has_elemwise;
} ln_nnvm_operation;

/** The operation, borrowed; NULL: it has only the form that is broadcast. */
const ln_nnvm_operation *ln_nnvm_find_operation(const char *op);

#endif
