// SPDX-License-Identifier: Apache-2.0
// Loans: tensors of a loaded context are temporarily placed in the caller's memory, inputs and
// outputs, to avoid copies.
//
// A loan moves all tensors of one block together: views of the tensor, and those whose memory it
// reuses.

#pragma once

#include <stddef.h>

#include "lightnet/ln_context.h"

/** A tensor that moves with a block. */
typedef struct ln_loan_member {
    tl_tensor *tensor;
    size_t offset; // in the block
} ln_loan_member;

/** All zero: the tensor always stays at its planned address. */
typedef struct ln_loan {
    const ln_tensor_entry *root; // the root of the block; NULL: no loan
    size_t size;                 // bytes of the block
    ln_loan_member *members;     // in an array that loans[n] owns
    size_t n_members;
    void *memory; // address of the block; NULL: the planned one
} ln_loan;

/** Determines loans for `n` inputs and outputs of the context, `names` (NULL: none). Excludes
 * constants, and inputs that an operator writes or that have outputs as views. Of two outputs in
 * one block, the first one has the loan. *loans: new (ln_loans_free). -1 with a reason in the
 * context: no memory. */
int ln_loans_find(const ln_context *ctx, const char *const *names, size_t n, ln_loan **loans);

/** Accepts NULL. */
void ln_loans_free(ln_loan *loans, size_t n);

/** Moves the block to `memory` of loan->size bytes, aligned to the size of an element; NULL: to its
 * planned address. */
void ln_loan_move(const ln_context *ctx, ln_loan *loan, void *memory);

/** Resets the loans after ln_memory_move, which moves all tensors to planned addresses. */
void ln_loans_forget(ln_loan *loans, size_t n);
