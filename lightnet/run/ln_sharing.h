// SPDX-License-Identifier: Apache-2.0
// The memory of a context whose constants others share (ctx->store), in three parts:
//
//     0         constants_end          lasting_end                      mem_sizes[LN_MEM_CPU]
//     |  constants  |  what else lives always  |  inputs, what lives for a while  |
//        in the store     the context's own        the context's own, or lent by whoever runs it
//
// The plan has them in this order. A block of constants that the store has is not computed, and
// neither is what only its computation reads. A constant of a file that is mapped lies there, if it
// is aligned as CPU memory is.

#ifndef LN_SHARING_H
#define LN_SHARING_H

#include "lightnet/ln_context.h"
#include "plan/ln_lifetime.h"

typedef struct ln_sharing ln_sharing;

/** Makes ctx->sharing: takes from the store what it has, and allocates the rest. `life`: of the
 * checked plan. -1 with a reason in the context: no memory, a limit. */
int ln_sharing_begin(ln_context *ctx, const ln_lifetime *life);

/** Gives everything back. Takes a context without sharing. */
void ln_sharing_end(ln_context *ctx);

/** Where the tensor, one of CPU memory, lies. */
void *ln_sharing_address(const ln_context *ctx, const ln_tensor_entry *te);

/** Whether the store has had all that the operator makes, so that loading leaves it out. */
int ln_sharing_has(const ln_context *ctx, const ln_op *op);

/** Bytes of memory for inputs and what lives for a while. */
size_t ln_sharing_run_size(const ln_context *ctx);

/** Whether all that lives always lies below that memory, as in each plan that is made here; one
 * from a file may be another. */
int ln_sharing_is_movable(const ln_context *ctx);

/** Lets the loaded context, which is movable, have `region`, of so many bytes and aligned as CPU
 * memory is, in place of its own. The region stays the caller's, who sets all inputs before the
 * next run. Tensors are still where they were: ln_memory_move. */
void ln_sharing_move(ln_context *ctx, void *region);

/** Lets other contexts use what loading has computed. -1 with a reason in the context: no memory.
 */
int ln_sharing_publish(ln_context *ctx);

#endif
