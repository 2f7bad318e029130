// SPDX-License-Identifier: Apache-2.0
// The rewrites of the target cuda that are written by hand.

#pragma once

#include "lightnet/ln_arch.h"
#include "ln_optypes_cuda.h"

/** A subgraph function of an early stage, which changes the context's precision and notes only:
 * graphs of 16-bit floats compute in this type on the GPU, and images have their channels last
 * where all convolutions are fast with them. */
ln_list *ln_cuda_note_model(const ln_context *ctx, ln_list **old_ops);

/** A subgraph function: replaces an abstract operator by one of the GPU, between copies. */
ln_list *ln_cuda_place(const ln_context *ctx, ln_list **old_ops);

/** Subgraph functions: fuse a sum, or an activation, into the convolution or product before it, the
 * operators of squeeze-and-excitation, and element-wise operators of the GPU into chains; let an
 * attention read regions of a tensor in place. */
ln_list *ln_cuda_fuse_sum(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_fuse_act(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_attend_in_place(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_fuse_excite(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_fuse_sums(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_fuse_scale(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_chain_elements(const ln_context *ctx, ln_list **old_ops);

/** Subgraph functions: compute poolings and 1x1 convolutions of joined images from the parts, a
 * pooling with the first layer before it, and a shuffle of channels by one operator. */
ln_list *ln_cuda_pool_parts(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_product_of_parts(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_fuse_maxpool(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_interleave_join(const ln_context *ctx, ln_list **old_ops);
ln_list *ln_cuda_interleave_region(const ln_context *ctx, ln_list **old_ops);
