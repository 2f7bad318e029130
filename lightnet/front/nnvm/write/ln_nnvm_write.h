// SPDX-License-Identifier: Apache-2.0
// Functions to write a LightNet operator to an NNVM graph, as core operators.
//
// The inverse of ln_nnvm.h: a writer reads its operator (inputs, parameters) and puts nodes into
// the graph, as if nothing could fail. It returns the value of the operator's first output.
//
//     static ln_nnvm_value write_swish(ln_nnvm_op *n)
//     {
//         const ln_nnvm_value x = ln_nnvm_op_in(n, "src");
//         return ln_put_binary(n, "mul", x, ln_put(n, "sigmoid", x));
//     }
//
// The returned node gets the tensor's name, nodes before it similar names. Reading and writing a
// graph must reproduce it: a writer emits the core operator whose translator emits these operators,
// or recognizes these operators (ln_nnvm_producer). Unused nodes are removed at the end.

#ifndef LN_NNVM_WRITE_H
#define LN_NNVM_WRITE_H

#include "front/nnvm/ln_nnvm_draft.h"
#include "front/nnvm/ln_nnvm_formula.h"
#include "lightnet/ln_op.h"

typedef struct ln_nnvm_writer {
    ln_nnvm_draft draft;
    ln_hash *values;    // tensor -> ln_nnvm_value
    ln_hash *constants; // tensor -> tl_tensor: those that were filled
    ln_hash *names;     // those that tensors and nodes have
    ln_hash *steps;     // the prefix of step names -> int: its uses
} ln_nnvm_writer;

/** The operator that is being written. Core has no operators that give scalars or truth values: the
 * value of such a tensor may have the shape [1], or another type, in which numbers that are not 0
 * are true, until a reader needs it as it is (ln_nnvm_op_in). */
typedef struct ln_nnvm_op {
    ln_nnvm_writer *writer;
    const ln_op *op;
    const char *label;   // its first output, after which its nodes are called
    uint32_t first_node; // the nodes from here on are its own
    int keeps_name;      // the node that it ends with is not called after the output
} ln_nnvm_op;

typedef ln_nnvm_value (*ln_nnvm_write_func)(ln_nnvm_op *n);

/** How an operator is written. A table of these ends with an optype of NULL. */
typedef struct ln_nnvm_op_row {
    const char *optype;
    ln_nnvm_write_func write;
    const char *param;             // the parameter that selects the function, or NULL
    int (*has)(const char *value); // whether core has something for that
} ln_nnvm_op_row;

extern const ln_nnvm_op_row ln_nnvm_write_rows_conv[];
extern const ln_nnvm_op_row ln_nnvm_write_rows_function[];
extern const ln_nnvm_op_row ln_nnvm_write_rows_image[];
extern const ln_nnvm_op_row ln_nnvm_write_rows_pair[];
extern const ln_nnvm_op_row ln_nnvm_write_rows_pick[];
extern const ln_nnvm_op_row ln_nnvm_write_rows_shape[];
extern const ln_nnvm_op_row ln_nnvm_write_rows_statistics[];

/** Writes the model, of abstract operators, as a graph of core operators, and its parameters beside
 *  it (ln_nnvm_draft_write). -1 with the reason in the context, which names all operators that core
 *  has nothing for. */
int ln_nnvm_write(ln_context *ctx, const char *file);

/** Makes a variable of an input of the model. */
void ln_nnvm_writer_input(ln_nnvm_writer *w, const char *name);

/** Records "FILE: operator 'NAME' (OPTYPE): REASON", unless something failed before. */
void ln_nnvm_op_fail(ln_nnvm_op *n, const char *fmt, ...) LN_PRINTF(2, 3);
int ln_nnvm_op_failed(const ln_nnvm_op *n);

// Tensors, by the role that they have in the operator

/** The node output for an input, with its type and shape. */
ln_nnvm_value ln_nnvm_op_in(ln_nnvm_op *n, const char *arg);

/** The same, but scalars may have the shape [1], and bools may be numbers. */
ln_nnvm_value ln_nnvm_op_raw(ln_nnvm_op *n, const char *arg);

/** The node output for a tensor name, as written so far; with the tensor's type and shape. */
ln_nnvm_value ln_nnvm_op_tensor(ln_nnvm_op *n, const char *tensor);
ln_nnvm_value ln_nnvm_op_whole(ln_nnvm_op *n, const char *tensor);

/** The record of an input or output; of TL_FLOAT and no dimensions when it is missing. */
const tl_tensor *ln_nnvm_op_tensor_of(const ln_nnvm_op *n, const char *arg);

/** Sets the node output for an output other than the first. */
void ln_nnvm_op_give(ln_nnvm_op *n, const char *tensor, ln_nnvm_value value);

/** The producer of the tensor (a name; NULL: returns NULL) if it is of this type
 *  and, unless `with` is NULL, has that text as its parameter `param`; else NULL. */
const ln_op *ln_nnvm_producer(const ln_nnvm_op *n, const char *tensor, const char *optype,
                              const char *param, const char *with);

/** The elements of a constant of the model itself, as its producer fills
 *  them; NULL: it is none, or a file beside may bring other ones. */
const tl_tensor *ln_nnvm_own_constant(ln_nnvm_op *n, const char *tensor);

/** Whether it is such a constant of one element, which a double holds. */
int ln_nnvm_own_scalar(ln_nnvm_op *n, const char *tensor, double *value);

// Nodes of core's operators, with the types and shapes of their outputs. Unless documented
// otherwise, each function adds one node to the graph, and returns its output 0.

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

/** src op number, as `__op_scalar__`. */
ln_nnvm_value ln_put_scalar(ln_nnvm_op *n, const char *op, ln_nnvm_value src, double number);

/** `__op_scalar__` with a number, `elemwise_op` where both have one shape, as far as core has
 * these, else `broadcast_op`. */
ln_nnvm_value ln_put_binary(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b);

/** The same for "max" and "min", which are a clip of floats with a number. NaN stays in all. */
ln_nnvm_value ln_put_bound(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b);

ln_nnvm_value ln_put_clip(ln_nnvm_op *n, ln_nnvm_value src, double min, double max);

/** No node if it has that type. */
ln_nnvm_value ln_put_cast(ln_nnvm_op *n, ln_nnvm_value src, tl_dtype dtype);

/** No node if it has that shape. */
ln_nnvm_value ln_put_reshape(ln_nnvm_op *n, ln_nnvm_value src, int ndim, const int *dims);

/** A tensor [A, B, L] as [A, B, 1, L], others as they are; and an image in the shape of `dst`. */
ln_nnvm_value ln_put_as_image(ln_nnvm_op *n, ln_nnvm_value src);
ln_nnvm_value ln_put_from_image(ln_nnvm_op *n, ln_nnvm_value src);

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

/** cond ? a : b, of one shape; cond != 0 is true. */
ln_nnvm_value ln_put_where(ln_nnvm_op *n, ln_nnvm_value cond, ln_nnvm_value a, ln_nnvm_value b);

/** The axes of a reduction, which stay with length 1 if `keeps`. */
typedef struct ln_nnvm_axes {
    int len, axes[LN_MAXDIM], keeps;
} ln_nnvm_axes;

/** A formula (ln_nnvm_formula.h) of x, whose reductions are over the axes. */
ln_nnvm_value ln_put_formula(ln_nnvm_op *n, const char *words, ln_nnvm_value x, double alpha,
                             double beta, ln_nnvm_axes axes);

/** x < 0 ? slope x : x; core's operator takes slopes that are not negative, others are several
 *  nodes. */
ln_nnvm_value ln_put_leaky(ln_nnvm_op *n, ln_nnvm_value x, double slope);

int ln_nnvm_same_shape(ln_nnvm_value a, ln_nnvm_value b);

/** The number of elements. */
int ln_nnvm_value_len(ln_nnvm_value v);

#endif
