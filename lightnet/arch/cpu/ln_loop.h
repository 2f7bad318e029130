// SPDX-License-Identifier: Apache-2.0
// Runs the bodies of `branch_cpu` and `loop_cpu`.
//
// Rows are scan inputs, parts scan outputs of ONNX. A loop keeps its states in its outputs, where
// iterations read them; the next ones are copied there. One that is (a view of) an input of the
// body would change while others are copied, so it is copied through scratch memory.

#pragma once

#include "lightnet/ln_body.h"
#include "tensorlight/tl_exec.h"

/** A loaded branch: the arguments of the operator, see its description. */
typedef struct ln_branch {
    ln_op_arg *op_arg;
    ln_context *bodies[2]; // of a false and of a true condition
    const tl_tensor *cond;
    const tl_tensor **src;
    ln_tensor_entry **dst;
    int n_src, n_dst;
    const void **given; // the addresses of the body's inputs
} ln_branch;

/** A loaded loop: the arguments of the operator, see its description. */
typedef struct ln_loop {
    ln_op_arg *op_arg;
    ln_context *body;
    int conditional, max;
    const tl_tensor *trips, *cond; // or NULL
    const tl_tensor **state, **row, **src;
    tl_tensor **last;
    ln_tensor_entry **part;
    int n_states, n_rows, n_src, n_parts;
    const int *backward_rows, *backward_parts;
    int n_backward_rows, n_backward_parts;
    const void **given; // addresses of the body's inputs: iteration, states, elements of rows, src
} ln_loop;

/** Scratch memory for the larger of two bodies; 0 if one is missing. */
size_t ln_branch_memory(ln_op_arg *op_arg, const char *one, const char *other);

/** As those of a loop, below. */
void ln_branch_prepare(ln_branch *branch);
void ln_branch_run(const ln_branch *branch, const tl_exec *exec);
void ln_branch_clear(ln_branch *branch);

/** Scratch memory for a loop of the body; 0 when it is missing. */
size_t ln_loop_memory(ln_op_arg *op_arg, const char *name);

/** Prepares the body and allocates `given`; fails as ln_op_fail does. */
void ln_loop_prepare(ln_loop *loop);

/** Runs the loop; fails as ln_op_fail does. */
void ln_loop_run(const ln_loop *loop, const tl_exec *exec);

/** Frees the memory of ln_loop_prepare. */
void ln_loop_clear(ln_loop *loop);
