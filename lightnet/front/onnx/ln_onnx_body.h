// SPDX-License-Identifier: Apache-2.0
// Moves emitted operators to bodies.
//
// The nodes of a graph are translated as part of the outer program, where constants and shapes are
// known. Then operators are moved into a body: those that depend on its inputs, or for a graph
// without inputs, on more than constants. Results of remaining operators that they read become
// further inputs: captures.

#pragma once

#include "front/onnx/ln_onnx.h"

/** Operators to move into a body. All memory lives until the translation ends. */
typedef struct ln_onnx_body {
    ln_list *before;     // the node of the program before `ops`; NULL: its start
    const char **inputs; // tensors for its inputs
    int n_inputs;
    ln_op **ops; // the operators to move, in order
    int n_ops;
    const char **captures;
    int n_captures;
    const char **outputs;
    int n_outputs;
} ln_onnx_body;

/** Begins a body of at most `max_inputs` inputs: operators emitted from now on may move there. */
void ln_onnx_body_begin(ln_onnx_node *n, ln_onnx_body *body, int max_inputs);

/** Adds an input to the body. Returns its tensor. */
const char *ln_onnx_body_input(ln_onnx_node *n, ln_onnx_body *body, tl_dtype dtype, int ndim,
                               const int *dims);

/** Selects the operators and captures of the body, with these tensors as outputs. */
void ln_onnx_body_end(ln_onnx_node *n, ln_onnx_body *body, int n_outputs,
                      const char *const *outputs);

/** Moves the operators to a new body, whose inputs are body->inputs, then `captures` (those of the
 * body and others). Returns its name. */
const char *ln_onnx_body_make(ln_onnx_node *n, ln_onnx_body *body, int n_captures,
                              const char *const *captures);

/** Whether the translation has failed because of shapes or values, in operators that only some runs
 * reach: the tensors `deciders` (elements may be NULL) decide it. 0 if the caller can pass the
 * values of the deciders, which this requests, or fix sizes. */
int ln_onnx_can_fail_at_run(ln_onnx_node *n, int n_deciders, const char *const *deciders);

/** Clears the failure, and removes the operators that were emitted for the body and depend on more
 *  than constants. Returns the reason, without the name of the file; NULL after a failure. */
const char *ln_onnx_body_drop(ln_onnx_node *n, ln_onnx_body *body);

/** Emits an operator that fails when it runs, with the message `why`. Returns its output, of the
 * type and shape of `like`. */
const char *ln_onnx_fail_at_run(ln_onnx_node *n, const char *why, const tl_tensor *like);

/** Marks the value of a tensor, produced by an operator with bodies, as known only at run time. */
void ln_onnx_set_unknown(ln_onnx_node *n, const char *tensor);

/** The max operators of an unrolled loop. */
enum { LN_ONNX_MAX_UNROLLED = 20000 };

// Helpers that If and loops share (onnx_branch.c)

/** The graph of a required attribute; NULL after a failure. */
const LnOnnx__Graph *ln_onnx_required_graph(ln_onnx_node *n, const char *name);

/** Allocates `len` names, until the translation ends. */
const char **ln_onnx_new_names(ln_onnx_node *n, size_t len);

/** Whether a known value, of any type, is not 0. */
int ln_onnx_is_true(const tl_tensor *value);

/** Fails unless the tensor has one element, the condition. */
void ln_onnx_check_single(ln_onnx_node *n, const char *what, const char *tensor);

/** Emits outputs `arg`0 .. of the operator: `len` outputs of the node from `first` on, or temporary
 * tensors if that is -1. `last`: ends the operator. Their tensors go to `names`, if not NULL. */
void ln_onnx_emit_outs(ln_onnx_node *n, const char *arg, int len, int first, int last,
                       const char **names);

/** Whether both have the same type and shape. */
int ln_onnx_same_shapes(ln_onnx_node *n, const char *one, const char *other);

/** Clears a failure, to try another way. */
void ln_onnx_try_again(ln_onnx_node *n);
