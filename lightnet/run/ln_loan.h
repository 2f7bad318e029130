// SPDX-License-Identifier: Apache-2.0
// Tensors of a loaded context that lie in memory of others for a while: an input where its data is,
// an output where it is wanted. So neither is copied.
//
// A loan moves all tensors of one block together: views of the tensor, and those that hand their
// memory on to it.

#ifndef LN_LOAN_H
#define LN_LOAN_H

#include <stddef.h>

#include "lightnet/ln_context.h"

/* A tensor that moves with a block. */
typedef struct ln_loan_member {
    tl_tensor *tensor;
    size_t offset; /* in the block */
} ln_loan_member;

/* All zero: the tensor always lies where it is planned. */
typedef struct ln_loan {
    const ln_tensor_entry *root; /* what the block is named after; NULL: there is no loan */
    size_t size;                 /* bytes of the block */
    ln_loan_member *members;     /* owned, and those of the next loans */
    size_t n_members;
    void *memory; /* where the block lies; NULL: where it is planned */
} ln_loan;

/** Finds how each of `n` inputs and outputs of the context, `names` (NULL: none), may lie
 * elsewhere. Never constants, inputs that an operator writes, or that outputs are views of. Of two
 * outputs in one block, the first one has the loan. *loans: new (ln_loans_free). -1 with a reason
 * in the context: no memory. */
int ln_loans_find(const ln_context *ctx, const char *const *names, size_t n, ln_loan **loans);

/** Takes NULL. */
void ln_loans_free(ln_loan *loans, size_t n);

/** Lets the block lie in `memory` of loan->size bytes, aligned to the size of an element, from now
 * on; NULL: where it is planned. */
void ln_loan_move(const ln_context *ctx, ln_loan *loan, void *memory);

/** After ln_memory_move: all lies where it is planned. */
void ln_loans_forget(ln_loan *loans, size_t n);

#endif
