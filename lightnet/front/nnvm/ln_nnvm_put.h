// SPDX-License-Identifier: Apache-2.0
// Nodes of NNVM's core operators, with the types and shapes of what they give.
//
// Each function puts one node into the graph unless it says otherwise, and returns its output 0.

#ifndef LN_NNVM_PUT_H
#define LN_NNVM_PUT_H

#include "front/nnvm/ln_nnvm_write.h"

/** Begins a node; inputs and attributes are the draft's (ln_nnvm_draft_arg, ..). */
void ln_put_begin(ln_nnvm_op *n, const char *op);
void ln_put_arg(ln_nnvm_op *n, ln_nnvm_value src);

/** Ends it: its output 0 has this type and shape; `n_outs` as for ln_nnvm_draft_end. */
ln_nnvm_value ln_put_end(ln_nnvm_op *n, tl_dtype dtype, int ndim, const int *dims, uint32_t n_outs);

/** All of it, of one output. LN_PUT(n, op, dtype, ndim, dims, part, part, ..), an input being
 * LN_SRC(value). */
ln_nnvm_value ln_put_parts(ln_nnvm_op *n, const char *op, tl_dtype dtype, int ndim, const int *dims,
                           const ln_part *parts);
#define LN_PUT(n, op, dtype, ndim, dims, ...) \
    ln_put_parts(n, op, dtype, ndim, dims, (const ln_part[]){__VA_ARGS__, {.kind = LN_PART_END}})
#define LN_SRC(value) LN_ENTRY((value).entry)

/** An operator of one input without attributes, which keeps the shape. */
ln_nnvm_value ln_put(ln_nnvm_op *n, const char *op, ln_nnvm_value src);

/** The same with a number. */
ln_nnvm_value ln_put_number(ln_nnvm_op *n, const char *op, ln_nnvm_value src, const char *key,
                            double value);

/** src op number, as `__op_scalar__`. */
ln_nnvm_value ln_put_scalar(ln_nnvm_op *n, const char *op, ln_nnvm_value src, double number);

/** `__op_scalar__` with a number, `elemwise_op` where both have one shape, as far as core has
 * these, else `broadcast_op`. */
ln_nnvm_value ln_put_binary(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b);

/** The same for "max" and "min", which are a clip of floats with a number. NaN stays in all. */
ln_nnvm_value ln_put_bound(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b);

ln_nnvm_value ln_put_clip(ln_nnvm_op *n, ln_nnvm_value src, double least, double most);

/** No node if it has that type. */
ln_nnvm_value ln_put_cast(ln_nnvm_op *n, ln_nnvm_value src, tl_dtype dtype);

/** No node if it has that shape. */
ln_nnvm_value ln_put_reshape(ln_nnvm_op *n, ln_nnvm_value src, int ndim, const int *dims);

/** dims'[k] = dims[axes[k]]. */
ln_nnvm_value ln_put_transpose(ln_nnvm_op *n, ln_nnvm_value src, const int *axes);

/** Indices begin[i], begin[i] + step[i], .. before end[i], which may be -1 for a negative step; no
 *  node if these are all. An empty one is a failure. */
ln_nnvm_value ln_put_slice(ln_nnvm_op *n, ln_nnvm_value src, const int *begin, const int *end,
                           const int *step);

/** No node for a single one. */
ln_nnvm_value ln_put_join(ln_nnvm_op *n, int len, const ln_nnvm_value *srcs, int axis);

/** No node where nothing is added. */
ln_nnvm_value ln_put_pad(ln_nnvm_op *n, ln_nnvm_value src, const int *before, const int *after,
                         double value);

/** Repeated to a shape to which it broadcasts: none to two nodes. */
ln_nnvm_value ln_put_expand(ln_nnvm_op *n, ln_nnvm_value src, int ndim, const int *dims);

/** Along axes, at least one; all of them without `keeps` give [1]. */
ln_nnvm_value ln_put_reduce(ln_nnvm_op *n, const char *op, ln_nnvm_value src, int n_axes,
                            const int *axes, int keeps);

/** A parameter with these elements (copied). */
ln_nnvm_value ln_put_constant(ln_nnvm_op *n, tl_dtype dtype, int ndim, const int *dims,
                              const void *data);

/** Equal elements, under the name of that tensor, which may be NULL; a single one is a number. */
ln_nnvm_value ln_put_full(ln_nnvm_op *n, const char *tensor, tl_dtype dtype, int ndim,
                          const int *dims, double value);

/** 1 where an element is not 0, else 0: two nodes. */
ln_nnvm_value ln_put_truth(ln_nnvm_op *n, ln_nnvm_value src);

/** Truth values as numbers: core's logic gives the type that it takes. No node for others. */
ln_nnvm_value ln_put_numbers(ln_nnvm_op *n, ln_nnvm_value src);

/** cond ? a : b, of one shape; what is not 0 is true. */
ln_nnvm_value ln_put_where(ln_nnvm_op *n, ln_nnvm_value cond, ln_nnvm_value a, ln_nnvm_value b);

/** x < 0 ? slope x : x; core's operator takes slopes that are not negative, others are several
 *  nodes. */
ln_nnvm_value ln_put_leaky(ln_nnvm_op *n, ln_nnvm_value x, double slope);

/** -1, 0, or 1, without a constant: several nodes. */
ln_nnvm_value ln_put_sign(ln_nnvm_op *n, ln_nnvm_value src);

int ln_nnvm_same_shape(ln_nnvm_value a, ln_nnvm_value b);

/** The number of elements. */
int ln_nnvm_value_len(ln_nnvm_value v);

#endif
