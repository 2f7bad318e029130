// SPDX-License-Identifier: Apache-2.0
// The memory plan of a compiled model: its blocks, their offsets and lifetimes.
//
//     static int print_block(void *data, const ln_memory_block *block)
//     {
//         printf("%s: %zu bytes at %zu\n", block->name, block->size, block->offset);
//         return 0;
//     }
//     ...
//     ln_context_memory_plan(ctx, print_block, NULL, NULL);
//
// A block is memory that tensors share (a tensor, its views and parts), or the scratch memory of an
// operator. Time is the position in the list of operators, from 1; 0 is before a run, and the
// number of operators + 1 is after it. Operators at load have negative times, in the same order.

#ifndef LN_MEMORY_PLAN_H
#define LN_MEMORY_PLAN_H

#include <stddef.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_mem.h"

LN_BEGIN_DECLS

struct ln_context;

/** A block of a memory plan. Strings are borrowed from the context. */
typedef struct ln_memory_block {
    const char *name; // of the tensor at its root; of the operator for scratch memory
    ln_mem_type mtype;
    size_t size;          // bytes
    size_t offset;        // bytes, in the memory of its type
    int first, last;      // it is live from `first` to `last`, inclusive
    const char *first_op; // the operators at these times; NULL: before or after all operators
    const char *last_op;
    const char *reuses; // the block whose memory it has: an output in place of an input; NULL: its
                        // own memory
    int is_scratch;     // scratch memory of an operator
    int is_constant;    // it has the same content in all runs
} ln_memory_block;

/** The bytes of one memory type. */
typedef struct ln_memory_total {
    size_t size;  // planned; 0: not used
    size_t bound; // the max sum of live sizes, a lower bound of any plan
} ln_memory_total;

/** Receives a block; a value other than 0 ends the list. */
typedef int (*ln_memory_func)(void *data, const ln_memory_block *block);

/** Calls func(data, ..) (NULL: not) for each block of the plan of a compiled context, without those
 *  of subgraphs, in the order of their first use in the list of operators. Fills totals
 *  [LN_MEM_TYPE_SIZE] (NULL: not). -1 with a reason: the context is not compiled, `func` ended the
 *  list, no memory. */
LN_API int ln_context_memory_plan(const struct ln_context *ctx, ln_memory_func func, void *data,
                                  ln_memory_total *totals);

LN_END_DECLS

#endif
