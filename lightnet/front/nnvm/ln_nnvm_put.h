// SPDX-License-Identifier: Apache-2.0
// Nodes of NNVM's core operators, for writers of LightNet's operators (write/ln_nnvm_write.h) and
// for rewriters of MXNet's (mxnet/ln_nnvm_core.h).
//
//     static ln_nnvm_value write_swish(ln_nnvm_op *n)
//     {
//         const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
//         return ln_put_binary(n, "mul", x, ln_put(n, "sigmoid", x));
//     }
//
// The returned node gets the name of the operator's output, nodes before it similar names. Unless
// documented otherwise, each function adds one node to the graph, and returns its output 0.

#pragma once

#include "front/nnvm/ln_nnvm_draft.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_tensor.h"

/** An output of a node. Type and shape are those in the graph; values of rewriters, which have
 * neither, have TL_DTYPE_INVALID and no dimensions. */
typedef struct ln_nnvm_value {
    ln_nnvm_entry entry;
    tl_dtype dtype;
    int ndim;
    int dims[LN_MAXDIM];
    int is_number; // one element of known value, `number`
    double number;
} ln_nnvm_value;

/** The operator for which nodes are made. */
typedef struct ln_nnvm_op {
    ln_nnvm_draft *draft;
    const char *label;   // its first output, the stem of its nodes' names
    uint32_t first_node; // its nodes are those from here on

    // Of a program that is written (ln_nnvm_write.h)
    struct ln_nnvm_writer *writer;
    const ln_op *op;
    int keeps_name; // its last node does not get the name of the output

    // Of a graph that is rewritten (ln_nnvm_core.h)
    struct ln_nnvm_core *core;
    ln_emit *e;     // the node in the file, for its attributes (ln_attr.h)
    int is_reading; // the rewritten graph will be read, not written
    const struct ln_nnvm_row *row;
} ln_nnvm_op;

/** Records "FILE: operator 'NAME' (OPTYPE): REASON" of a program's operator, unless something
 * failed before. */
void ln_nnvm_op_fail(ln_nnvm_op *n, const char *fmt, ...) LN_PRINTF(2, 3);

int ln_nnvm_op_failed(const ln_nnvm_op *n);

/** Begins a node; its inputs and attributes follow. */
void ln_put_begin(ln_nnvm_op *n, const char *op);
void ln_put_set(ln_nnvm_op *n, ln_part part);
#define LN_SRC(value) LN_ENTRY((value).entry)

/** Ends it: its output 0 has the type and the shape of `like`; `n_outs` as for ln_nnvm_draft_end.
 */
ln_nnvm_value ln_put_end(ln_nnvm_op *n, ln_nnvm_value like, uint32_t n_outs);

/** Adds a node of one output, with these parts: LN_PUT(n, op, like, part, part, ..). */
ln_nnvm_value ln_put_parts(ln_nnvm_op *n, const char *op, ln_nnvm_value like, const ln_part *parts);
#define LN_PUT(n, op, like, ...) \
    ln_put_parts(n, op, like, (const ln_part[]){__VA_ARGS__, {.kind = LN_PART_END}})

/** The value with another shape, or of another type: no node. */
ln_nnvm_value ln_nnvm_shaped(ln_nnvm_value v, int ndim, const int *dims);
ln_nnvm_value ln_nnvm_typed(ln_nnvm_value v, tl_dtype dtype);

/** An operator of one input, or two, without attributes, with the shape of the first. */
ln_nnvm_value ln_put(ln_nnvm_op *n, const char *op, ln_nnvm_value src);
ln_nnvm_value ln_put_pair(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b);

/** src op number, as `__op_scalar__`. */
ln_nnvm_value ln_put_scalar(ln_nnvm_op *n, const char *op, ln_nnvm_value src, double number);

/** `__op_scalar__` with a number, `elemwise_op` for equal shapes, if core has these, else
 * `broadcast_op`. */
ln_nnvm_value ln_put_binary(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b);

/** Whether core has `__op_scalar__` or `elemwise_op` of the operation. */
int ln_nnvm_is_operation(const char *op);

/** The same for "max" and "min", which are a clip of floats by a number. All propagate NaN. */
ln_nnvm_value ln_put_bound(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b);

ln_nnvm_value ln_put_clip(ln_nnvm_op *n, ln_nnvm_value src, double min, double max);

/** Adds no node if it has that type. */
ln_nnvm_value ln_put_cast(ln_nnvm_op *n, ln_nnvm_value src, tl_dtype dtype);

/** Adds no node if it has that shape. */
ln_nnvm_value ln_put_reshape(ln_nnvm_op *n, ln_nnvm_value src, int ndim, const int *dims);

/** A tensor [A, B, L] as [A, B, 1, L], others unchanged. */
ln_nnvm_value ln_put_as_image(ln_nnvm_op *n, ln_nnvm_value src);

/** dims'[k] = dims[axes[k]]. */
ln_nnvm_value ln_put_transpose(ln_nnvm_op *n, ln_nnvm_value src, const int *axes);

/** Slices [begin[i] : end[i] : step[i]], where end[i] may be -1 for a negative step; adds no node
 * for the whole tensor. Fails if the slice is empty. */
ln_nnvm_value ln_put_slice(ln_nnvm_op *n, ln_nnvm_value src, const int *begin, const int *end,
                           const int *step);

/** Concatenates; adds no node for a single tensor. */
ln_nnvm_value ln_put_join(ln_nnvm_op *n, int len, const ln_nnvm_value *srcs, int axis);

/** Adds no node without padding. */
ln_nnvm_value ln_put_pad(ln_nnvm_op *n, ln_nnvm_value src, const int *before, const int *after,
                         double value);

/** Broadcasts to a shape: none to two nodes. */
ln_nnvm_value ln_put_expand(ln_nnvm_op *n, ln_nnvm_value src, int ndim, const int *dims);

/** The axes of a reduction, which remain with length 1 if `keeps`. */
typedef struct ln_put_axes {
    int len, axes[LN_MAXDIM], keeps;
} ln_put_axes;

/** Reduces along at least one axis; along all of them without `keeps`, returns [1]. */
ln_nnvm_value ln_put_reduce(ln_nnvm_op *n, const char *op, ln_nnvm_value src,
                            const ln_put_axes *axes);

/** A parameter with these elements (copied). */
ln_nnvm_value ln_put_constant(ln_nnvm_op *n, tl_dtype dtype, int ndim, const int *dims,
                              const void *data);

/** `full`, named `tensor`, which may be NULL; a single element is a number. */
ln_nnvm_value ln_put_full(ln_nnvm_op *n, const char *tensor, tl_dtype dtype, int ndim,
                          const int *dims, double value);

/** 1 where an element is not 0, else 0: two nodes. */
ln_nnvm_value ln_put_truth(ln_nnvm_op *n, ln_nnvm_value src);

/** Casts TL_BOOL to TL_UINT8, as core's logic returns the type of its inputs; others unchanged. */
ln_nnvm_value ln_put_numbers(ln_nnvm_op *n, ln_nnvm_value src);

/** cond ? a : b, of one shape; cond != 0 is true. */
ln_nnvm_value ln_put_where(ln_nnvm_op *n, ln_nnvm_value cond, ln_nnvm_value a, ln_nnvm_value b);

/** x < 0 ? slope x : x; core's operator requires slopes that are not negative, others are several
 *  nodes. */
ln_nnvm_value ln_put_leaky(ln_nnvm_op *n, ln_nnvm_value x, double slope);

int ln_nnvm_same_shape(ln_nnvm_value a, ln_nnvm_value b);

/** The number of elements. */
int ln_nnvm_value_len(ln_nnvm_value v);

// Formulas of core's operators (ir/ln_formula.h): "x / (fabs(x) + 1)". Functions are operators of
// core, or have formulas themselves. + - * / are of two values of one shape, or of one and a
// number.
//
//     broadcast_sub .. of two values that broadcast
//     clip(x, a, b)    x between two numbers
//     c ? x : y        x where c is not 0, else y
//     sum mean max ..  a reduction along the axes

/** A formula of x, whose reductions are over the axes. */
ln_nnvm_value ln_put_formula(ln_nnvm_op *n, const char *text, ln_nnvm_value x, double alpha,
                             double beta, const ln_put_axes *axes);

/** The formula of an element-wise function, "TL_UNARY_.." (borrowed); NULL: it has none. */
const char *ln_nnvm_formula_of(const char *func);
