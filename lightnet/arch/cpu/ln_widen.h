// SPDX-License-Identifier: Apache-2.0
// The rule that lets graphs of 16-bit floats compute in 32 bits, written by hand, since it holds
// for operators of any type (graph.opt).
//
//     x f16 --> conv --> y f16 --> relu --> z f16
//
// becomes, operator by operator, in the order of the list,
//
//     x f16 --> cast --> x' f32 --> conv --> y' f32 --> relu --> z' f32 --> cast --> z f16
//                                               \--> cast --> y f16
//
// where the cast to y leaves as dead unless y is an output of the model or an operator reads y that
// does not compute in 32 bits. docs/dev/design.md, "16-bit floats", has the decisions.

#ifndef LN_WIDEN_H
#define LN_WIDEN_H

#include "lightnet/ln_arch.h"

/** Replaces an abstract operator with inputs of TL_FLOAT16 or TL_BFLOAT16 by the same operator with
 *  inputs of TL_FLOAT, where it takes such inputs. */
ln_list *ln_widen_halves(const ln_context *ctx, ln_list **old_ops);

#endif
