// SPDX-License-Identifier: Apache-2.0
// Tensors whose memory may have more rows than they have (ln_tensor_entry.rows).

#pragma once

#include "lightnet/ln_context.h"

/** Whether operators read elements of the tensor only as attention on the CPU reads keys or values,
 *  with rows along `axis`. -1: no memory. */
int ln_only_attention_reads(const ln_context *ctx, const ln_tensor_entry *te, int axis);

/** Whether only `op` reads elements of the tensor; others may read its shape. -1: no memory. */
int ln_only_reads(const ln_context *ctx, const ln_tensor_entry *te, const ln_op *op);
