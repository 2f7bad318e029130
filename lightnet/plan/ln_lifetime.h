// SPDX-License-Identifier: Apache-2.0
// The memory blocks of a program, and their lifetimes.
//
// Time is the position in the list of operators, from 1; 0 is before a run. Operators at load have
// times before 0, in the same order. A tensor that only they read is alive only then, and runs
// reuse its memory. Tensors that share memory (views, no-copy joins, outputs that reuse an
// input's memory) form one block, named after the tensor at their root. Scratch memory is a
// separate block; operators at load share one. Example: source, pack (at load), conv and relu.
//
//     time      -4  -3  -2  -1  0   1   2   3   4   5 = n + 1
//     weight        =                                  packed at load, at -3
//     packed    =====================================  read in runs: always alive
//     conv_out                              =====      produced at 3, last read at 4
//     relu_out                                  =====  an output of the model lives to the end

#pragma once

#include <stddef.h>

#include "lightnet/ln_context.h"

typedef struct ln_block {
    const char *name;     // borrowed: the root tensor's, or the operator's for scratch memory
    const ln_op *scratch; // the operator whose scratch memory this is, or NULL
    ln_mem_type mtype;
    size_t size;     // bytes
    size_t offset;   // 0: not planned
    int first;       // alive from this time
    int last;        // to this time, inclusive
    int part_of;     // index of the block whose memory it reuses; its own index: none
    int is_constant; // its root is constant: it has the same content in all runs
    int reused;      // the time at which another block reuses its memory; -1: never
} ln_block;

typedef struct ln_lifetime {
    ln_block *blocks;
    size_t n;
    int begin; // the time of the first operator that runs at load; 0: none
    int end;   // the time after the last operator
    size_t load_scratch[LN_MEM_TYPE_SIZE]; // of each memory type: index + 1 of the scratch memory
                                           // that is used at load; 0: none
} ln_lifetime;

/** Determines the blocks of ctx and their lifetimes. Returns 0, or -1 with the reason in the
 * context. Tensors point to their blocks, so a context has one lifetime at a time. Free with
 * ln_lifetime_free. */
int ln_lifetime_find(const ln_context *ctx, ln_lifetime *life);

void ln_lifetime_free(ln_lifetime *life);

/** The block (never part of another one) of tensor `te`. */
ln_block *ln_lifetime_block(const ln_context *ctx, const ln_lifetime *life,
                            const ln_tensor_entry *te);

/** Whether the block is in use at all times. */
int ln_lifetime_is_always(const ln_lifetime *life, const ln_block *block);

/** Whether the block holds an input of the model, which is in use at all times, but which a caller
 * may set again for each run. */
int ln_lifetime_is_input(const ln_context *ctx, const ln_lifetime *life, const ln_block *block);

/** The offset of tensor `te`, whose owner has one. */
size_t ln_lifetime_view_offset(const ln_context *ctx, ln_tensor_entry *te);

/** The scratch memory of an operator that runs at load, which all such operators share. */
const ln_block *ln_lifetime_load_scratch(const ln_lifetime *life, const ln_op_arg *op_arg);

/** *bound: the max sum of live sizes in memory `mtype`, a lower bound of any plan. */
int ln_lifetime_bound(const ln_context *ctx, const ln_lifetime *life, ln_mem_type mtype,
                      size_t *bound);

/** 0 when no two blocks that are alive at the same time share memory, and blocks that reuse
 * another's memory have its offset; -1 with a reason that names both. O(n log n) for plans. */
int ln_lifetime_check(const ln_context *ctx, const ln_lifetime *life);
