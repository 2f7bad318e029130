// SPDX-License-Identifier: Apache-2.0
// The memory of a context that shares its constants (ctx->store), in three parts:
//
//     0         constants_end          lasting_end                      mem_sizes[LN_MEM_CPU]
//     |  constants  |  other static tensors    |  inputs, temporary tensors       |
//        in the store     the context's own        the context's own, or lent by its session
//
// The plan has them in this order. A block of constants in the store is not computed again, nor are
// tensors that only its computation reads. A constant of a mapped file stays there, if it is
// aligned like CPU memory.

#pragma once

#include "lightnet/ln_context.h"
#include "plan/ln_lifetime.h"

typedef struct ln_sharing ln_sharing;

/** Creates ctx->sharing: reuses available constants of the store, and allocates memory for the
 * rest. `life`: of the checked plan. -1 with a reason in the context: no memory, a limit. */
int ln_sharing_begin(ln_context *ctx, const ln_lifetime *life);

/** Returns constants to the store, and frees the rest. Accepts a context without sharing. */
void ln_sharing_end(ln_context *ctx);

/** The address of the tensor in CPU memory. */
void *ln_sharing_address(const ln_context *ctx, const ln_tensor_entry *te);

/** Whether the store had all outputs of the operator, so that loading skips it. */
int ln_sharing_has(const ln_context *ctx, const ln_op *op);

/** Bytes of memory for inputs and temporary tensors. */
size_t ln_sharing_run_size(const ln_context *ctx);

/** Whether all tensors that are always alive are below that memory, as in plans of this planner;
 * plans from files may differ. */
int ln_sharing_is_movable(const ln_context *ctx);

/** Replaces the memory of the loaded, movable context by `region` of that many bytes, aligned like
 * CPU memory. The region stays the caller's, who sets all inputs before the next run. Does not
 * update tensors: ln_memory_move. */
void ln_sharing_move(ln_context *ctx, void *region);

/** Publishes the constants that loading has computed. -1 with a reason in the context: no
 * memory. */
int ln_sharing_publish(ln_context *ctx);
