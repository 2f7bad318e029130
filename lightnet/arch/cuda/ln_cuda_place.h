// SPDX-License-Identifier: Apache-2.0
// The rewrites of the target cuda that are written by hand.

#pragma once

#include "lightnet/ln_arch.h"
#include "lightnet/ln_op.h"
#include "ln_optypes_cuda.h"
#include "tensorlight/tl_nn.h"

/** A subgraph function of an early stage, which changes the context's precision and notes only:
 * graphs of 16-bit floats compute in this type on the GPU, and images have their channels last
 * where all convolutions are fast with them. */
ln_list *ln_cuda_note_model(const ln_context *ctx, ln_list **old_ops);

/** A subgraph function: replaces an abstract operator by one of the GPU, between copies. */
ln_list *ln_cuda_place(const ln_context *ctx, ln_list **old_ops);

/** Subgraph functions: let an attention read regions of a tensor in place, a depthwise convolution
 * compute the sums of squeeze-and-excitation, and fuse element-wise operators into chains. */
ln_list *ln_cuda_attend_in_place(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_fuse_sums(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_chain_elements(const ln_context *ctx, ln_list **old_ops);

/** The parameters of a conv2d_cuda, without its activation. */
static inline tl_conv2d_param ln_cuda_param_of(const ln_op *conv)
{
    return tl_conv2d_param_of(ln_op_int(conv, "group"), ln_op_ints(conv, "size", NULL),
                              ln_op_ints(conv, "stride", NULL), ln_op_ints(conv, "dilation", NULL),
                              ln_op_ints(conv, "padding", NULL));
}
