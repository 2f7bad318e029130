// SPDX-License-Identifier: Apache-2.0
// Chains of element-wise steps: the notation of chain_cpu.
//
// A step is a text: the name of a function or an operation, and its operands: source I, srcI, or
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

/** Reads and checks steps on `n_srcs` sources; alpha and beta are the parameters of each. -1 with
 * the thread's reason: a text that is not a step, or a chain that TensorLight does not support. */
int ln_chain_read(ln_chain *chain, int n_srcs, int n_steps, char *const *texts, const double *alpha,
                  const double *beta);

#endif
