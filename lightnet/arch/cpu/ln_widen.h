// SPDX-License-Identifier: Apache-2.0
// The rule that computes 16-bit float graphs in 32 bits, hand-written, since it applies to
// operators of any type (graph.opt).
//
//     x f16 --> conv --> y f16 --> relu --> z f16
//
// becomes, operator by operator, in the order of the list,
//
//     x f16 --> cast --> x' f32 --> conv --> y' f32 --> relu --> z' f32 --> cast --> z f16
//                                               \--> cast --> y f16
//
// where the cast to y is removed as dead unless y is an output of the model or read by an operator
// that does not compute in 32 bits. docs/dev/design.md, "16-bit floats", has the decisions.

#ifndef LN_WIDEN_H
#define LN_WIDEN_H

#include "lightnet/ln_arch.h"

/** Replaces an abstract operator with inputs of TL_FLOAT16 or TL_BFLOAT16 by the same operator with
 * inputs of TL_FLOAT, if it supports them. */
ln_list *ln_widen_halves(const ln_context *ctx, ln_list **old_ops);

#endif
