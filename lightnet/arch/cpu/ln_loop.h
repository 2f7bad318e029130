// SPDX-License-Identifier: Apache-2.0
// How `branch_cpu` and `loop_cpu` run their bodies.
//
// A loop keeps its states where they are to be at the end, in its outputs: there each iteration is
// given them. What it makes of them is copied there when it is done. A next state that is (a view
// of) something the body was given would change while others are copied, so it goes by way of
// scratch memory behind the body's.

#ifndef LN_LOOP_H
#define LN_LOOP_H

#include "lightnet/ln_body.h"
#include "tensorlight/tl_exec.h"

/* A loop that is loaded: the arguments of the operator, see its description. */
typedef struct ln_loop {
    ln_op_arg *op_arg;
    ln_context *body;
    int conditional, most;
    const tl_tensor *trips, *cond; /* or NULL */
    const tl_tensor **state, **row, **src;
    tl_tensor **last, **part;
    int n_states, n_rows, n_src, n_parts;
    const int *backward_rows, *backward_parts;
    int n_backward_rows, n_backward_parts;
    const void **given; /* where the inputs of the body lie */
} ln_loop;

/** Whether the single element of a tensor is not 0. */
int ln_is_true(const tl_tensor *tensor);

/** Scratch memory for the larger of two bodies; 0 when one is missing. */
size_t ln_branches_memory(ln_op_arg *op_arg, const char *one, const char *other);

/** Scratch memory for a loop of the body; 0 when it is missing. */
size_t ln_loop_memory(ln_op_arg *op_arg, const char *name);

/** Prepares the body and allocates `given`; fails as ln_op_fail does. */
void ln_loop_prepare(ln_loop *loop);

/** Runs the loop; fails as ln_op_fail does. */
void ln_loop_run(const ln_loop *loop, const tl_exec *exec);

/** Frees what ln_loop_prepare allocated. */
void ln_loop_clear(ln_loop *loop);

#endif
