// SPDX-License-Identifier: Apache-2.0
// Functions to write a LightNet operator to an NNVM graph, as core operators.
//
// The inverse of ln_nnvm.h: a writer reads its operator (inputs, parameters) and puts nodes into
// the graph (ln_nnvm_put.h), as if nothing could fail. It returns the value of the operator's first
// output.
//
// Reading and writing a graph must reproduce it: a writer emits the core operator whose translator
// emits these operators, or recognizes these operators (ln_nnvm_producer). Unused nodes are removed
// at the end. Core has no operators that return scalars or bools: the value of such a tensor may
// have the shape [1], or a numeric type, in which all but 0 is true, until a reader needs it
// unchanged (ln_nnvm_op_in).

#pragma once

#include "front/nnvm/ln_nnvm_put.h"

typedef struct ln_nnvm_writer {
    ln_nnvm_draft draft;
    ln_hash *values; // tensor -> ln_nnvm_value
} ln_nnvm_writer;

typedef ln_nnvm_value (*ln_nnvm_write_func)(ln_nnvm_op *n);

/** How an operator is written. A table of these ends with an optype of NULL. */
typedef struct ln_nnvm_op_row {
    const char *optype;
    ln_nnvm_write_func write;
    const char *param;             // the parameter that selects the function, or NULL
    int (*has)(const char *value); // whether core supports that value
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
 *  lacks. */
int ln_nnvm_write(ln_context *ctx, const char *file);

/** Adds a variable for an input of the model. */
void ln_nnvm_writer_input(ln_nnvm_writer *w, const char *name);

// Tensors, by the role that they have in the operator

/** The node output for an input, with its type and shape. */
ln_nnvm_value ln_nnvm_op_in(ln_nnvm_op *n, const char *arg);

/** The same, but scalars may have the shape [1], and bools a numeric type. */
ln_nnvm_value ln_nnvm_op_raw(ln_nnvm_op *n, const char *arg);

/** The node output for a tensor name: as written so far, and with the tensor's type and shape. */
ln_nnvm_value ln_nnvm_op_tensor(ln_nnvm_op *n, const char *tensor);
ln_nnvm_value ln_nnvm_op_whole(ln_nnvm_op *n, const char *tensor);

/** The record of an input or output; of TL_FLOAT and no dimensions when it is missing. */
const tl_tensor *ln_nnvm_op_tensor_of(const ln_nnvm_op *n, const char *arg);

/** Sets the node output for an output other than the first. */
void ln_nnvm_op_set_out(ln_nnvm_op *n, const char *tensor, ln_nnvm_value value);

/** The producer of the tensor (a name; NULL: returns NULL) if it is of this type
 *  and, unless `with` is NULL, has that text as its parameter `param`; else NULL. */
const ln_op *ln_nnvm_producer(const ln_nnvm_op *n, const char *tensor, const char *optype,
                              const char *param, const char *with);

/** A constant of the model itself, with its elements; NULL: not constant, or a parameter file may
 *  replace it. */
const tl_tensor *ln_nnvm_own_constant(ln_nnvm_op *n, const char *tensor);

/** Whether it is such a constant, of one element that a double represents exactly. */
int ln_nnvm_own_scalar(ln_nnvm_op *n, const char *tensor, double *value);

/** The windows of a convolution or pool over images; 1-D data are images of one row. */
typedef struct ln_nnvm_windows {
    int axes; // 1 or 2
    int size[2], stride[2], dilation[2];
    int padding[4];        // before both axes, after them
    int output_padding[2]; // of a transposed convolution
} ln_nnvm_windows;

ln_nnvm_windows ln_nnvm_op_windows(ln_nnvm_op *n, int is_transposed);

/** Reshapes an image to the shape of output `dst`. */
ln_nnvm_value ln_put_from_image(ln_nnvm_op *n, ln_nnvm_value src);
