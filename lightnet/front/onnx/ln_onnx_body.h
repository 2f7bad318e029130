// SPDX-License-Identifier: Apache-2.0
// Moves emitted operators to bodies.
//
// The nodes of a graph are translated as part of the outer program, where constants and shapes are
// known. Then the operators that belong inside are moved into a body: those that depend on its
// inputs, or, of a graph without inputs, that do not depend on constants alone. Results of
// remaining operators that they read become inputs of the body, too: captures.

#pragma once

#include "front/onnx/ln_onnx.h"

/** Operators on their way into a body. Everything lives until the translation ends. */
typedef struct ln_onnx_body {
    ln_list *before;     // the last node of the program before them; NULL: none
    const char **inputs; // tensors for its inputs
    int n_inputs;
    ln_op **ops; // the operators to move, in order
    int n_ops;
    const char **captures;
    int n_captures;
    const char **outputs;
    int n_outputs;
} ln_onnx_body;

/** Everything that is emitted from now on may become part of the body, with room for that many
 * inputs. */
void ln_onnx_body_begin(ln_onnx_node *n, ln_onnx_body *body, int max_inputs);

/** A tensor for the next input. */
const char *ln_onnx_body_input(ln_onnx_node *n, ln_onnx_body *body, tl_dtype dtype, int ndim,
                               const int *dims);

/** Finds the operators inside, with these tensors (NULL is ignored) as outputs. */
void ln_onnx_body_end(ln_onnx_node *n, ln_onnx_body *body, int n_outputs,
                      const char *const *outputs);

/** Moves the operators out of the program, into a new body with the inputs, then these captures,
 * its own among them. Returns its name. */
const char *ln_onnx_body_make(ln_onnx_node *n, ln_onnx_body *body, int n_captures,
                              const char *const *captures);

/** Whether the translation has failed because operators do not fit sizes or values, which a run may
 *  never reach: it depends on the tensors `deciders` (NULL: none) of the node. Not if the caller
 * can do better: pass the values of the deciders, which are asked for here, or fix sizes. */
int ln_onnx_can_wait(ln_onnx_node *n, int n_deciders, const char *const *deciders);

/** Clears the failure, and removes the operators that were emitted for the body and depend on more
 *  than constants. Returns the reason, without the name of the file; NULL after a failure. */
const char *ln_onnx_body_drop(ln_onnx_node *n, ln_onnx_body *body);

/** A tensor like `like`, for a body, by an operator that fails when it runs. */
const char *ln_onnx_fail_at_run(ln_onnx_node *n, const char *why, const tl_tensor *like);

/** Marks the value of a tensor, produced by an operator with bodies, as known only at run time. */
void ln_onnx_body_hide(ln_onnx_node *n, const char *tensor);

/** The max operators of an unrolled loop. */
enum { LN_ONNX_MAX_UNROLLED = 20000 };

// Helpers that If and loops share (onnx_branch.c)

/** The graph of a required attribute; NULL after a failure. */
const LnOnnx__Graph *ln_onnx_required_graph(ln_onnx_node *n, const char *name);

/** Room for `len` names, until the translation ends. */
const char **ln_onnx_new_names(ln_onnx_node *n, size_t len);

/** Whether a known value, of any type, is not 0. */
int ln_onnx_is_true(const tl_tensor *value);

/** Fails unless the tensor has one element, the condition. */
void ln_onnx_check_single(ln_onnx_node *n, const char *what, const char *tensor);

/** The operator's outputs `arg`, `len` of them, which are those of the node from number `first`.
 * `last`: with these it is whole. Their names go to `names`, unless that is NULL. */
void ln_onnx_emit_outs(ln_onnx_node *n, const char *arg, int len, int first, int last,
                       const char **names);

/** Whether both have the same type and shape. */
int ln_onnx_same_shapes(ln_onnx_node *n, const char *one, const char *other);

/** Clears a failure, to try another way. */
void ln_onnx_try_again(ln_onnx_node *n);
