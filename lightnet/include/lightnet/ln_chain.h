// SPDX-License-Identifier: Apache-2.0
// Chains of element-wise steps, for operators such as chain_cpu: their notation, and the rule that
// fuses other operators into them. For targets.
//
// A step is a string: the name of a function or an operation, and its operands: source I, srcI,
// or the result of step K, stepK.
//
//     "TL_BINARY_MUL src0 src1"  "TL_UNARY_CLIP step0"  "TL_BINARY_ADD step1 src0"

#ifndef LN_CHAIN_H
#define LN_CHAIN_H

#include "lightnet/ln_api.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_list.h"
#include "tensorlight/tl_elementwise.h"

LN_BEGIN_DECLS

/** The steps of an operator. */
typedef struct ln_chain {
    tl_chain_step steps[TL_CHAIN_STEPS];
    int n_steps;
} ln_chain;

/** Parses and checks steps on `n_srcs` sources; alpha and beta are the parameters of each. -1 with
 * the thread's reason: a string that is not a step, or a chain that TensorLight does not support.
 */
LN_API int ln_chain_read(ln_chain *chain, int n_srcs, int n_steps, char *const *texts,
                         const double *alpha, const double *beta);

/** A target's operators that become chains. */
typedef struct ln_chain_ops {
    const char *rule;                   // the name of its rule
    const char *unary, *binary, *chain; // optypes with the arguments of unary_cpu and so on
    int has_halves;                     // they compute 16-bit floats, too
} ln_chain_ops;

/** A subgraph function: fuses functions and operations on floats of one shape without other readers
 * into a chain, up to its max sources and steps. */
LN_API ln_list *ln_chain_fuse(const ln_chain_ops *ops, const ln_context *ctx, ln_list **old_ops);

LN_END_DECLS

#endif
