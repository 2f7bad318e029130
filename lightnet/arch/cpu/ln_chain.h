// SPDX-License-Identifier: Apache-2.0
// Chains of element-by-element steps: how chain_cpu says its steps, and the rule that makes it of
// operators (graph.opt), written by hand, since these have any number of tensors.
//
// A step is a text: a function or an operation by its name, and what it takes: source I, srcI, or
// the result of step K, stepK.
//
//     "TL_BINARY_MUL src0 src1"  "TL_UNARY_CLIP step0"  "TL_BINARY_ADD step1 src0"

#ifndef LN_CHAIN_H
#define LN_CHAIN_H

#include "lightnet/ln_arch.h"
#include "tensorlight/tl_elementwise.h"

/* The steps of an operator. */
typedef struct ln_chain {
    tl_chain_step steps[TL_CHAIN_STEPS];
    int n_steps;
} ln_chain;

/** Reads and checks steps that take `n_srcs` sources; alpha and beta are the numbers of each. -1
 *  with the thread's reason: a text that is no step, or a chain that TensorLight does not take. */
int ln_chain_read(ln_chain *chain, int n_srcs, int n_steps, char *const *texts, const double *alpha,
                  const double *beta);

/** Functions and operations on floats of one shape that only each other read: chain_cpu, as far as
 *  its sources and steps go. */
ln_list *ln_chain_elements(const ln_context *ctx, ln_list **old_ops);

#endif
