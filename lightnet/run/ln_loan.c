// SPDX-License-Identifier: Apache-2.0
// Tensors of a loaded context that temporarily use memory of the caller.

#include "run/ln_loan.h"

#include <string.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "lightnet/ln_util.h"
#include "plan/ln_lifetime.h"
#include "run/ln_sharing.h"

// The search for loans.
typedef struct finder {
    const ln_context *ctx;
    ln_lifetime life;
    ln_loan **of; // of each block; NULL: none
    ln_loan *loans;
    size_t n;
} finder;

static const ln_tensor_entry *find_entry(const ln_context *ctx, const char *name)
{
    return ln_tensor_table_find(ctx->tensor_table, name);
}

static int is_input(const ln_context *ctx, const ln_tensor_entry *te)
{
    return ln_hash_find(ctx->input_names, te->name) != NULL;
}

static ln_loan **loan_at(const finder *f, const ln_block *block)
{
    return &f->of[block - f->life.blocks];
}

// Sets the loan of an input or output, if its block may have one; the first tensor of a block has
// it.
static void add_loan(finder *f, ln_loan *loan, const char *name)
{
    const ln_tensor_entry *te = name ? find_entry(f->ctx, name) : NULL;
    const ln_block *block = te ? ln_lifetime_block(f->ctx, &f->life, te) : NULL;
    if (!block || block->mtype != LN_MEM_CPU)
        return;
    ln_loan **of_block = loan_at(f, block);
    // An input can be lent if runs only read it, and its value is not fixed; an output if each run
    // writes it, so it is not always alive.
    const int may_be_lent = is_input(f->ctx, te) ? !te->owner && block->reused < 0 &&
                                                       !ln_context_is_mutated(f->ctx, te->name) &&
                                                       !ln_fixed_find(f->ctx->fixed, te->name)
                                                 : !ln_lifetime_is_always(&f->life, block);
    if (*of_block || block->is_constant || !may_be_lent)
        return;
    *loan = (ln_loan){.root = find_entry(f->ctx, block->name), .size = block->size};
    *of_block = loan;
}

// Removes loans of inputs that share memory with outputs, which must not change after the run.
static void exclude_visible_inputs(const finder *f)
{
    LN_FOREACH (const char *, name, f->ctx->outputs) {
        const ln_tensor_entry *te = find_entry(f->ctx, name);
        const ln_block *block = te ? ln_lifetime_block(f->ctx, &f->life, te) : NULL;
        ln_loan **of_block = block ? loan_at(f, block) : NULL;
        if (of_block && *of_block && is_input(f->ctx, (*of_block)->root)) {
            **of_block = (ln_loan){0};
            *of_block = NULL;
        }
    }
}

static void visit_members(const finder *f, void (*visit)(ln_loan *, const ln_tensor_entry *))
{
    LN_FOREACH (const ln_op *, op, f->ctx->ops) {
        LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
            const ln_tensor_entry *te = find_entry(f->ctx, tle->name);
            const ln_block *block = ln_lifetime_block(f->ctx, &f->life, te);
            if (block && *loan_at(f, block))
                visit(*loan_at(f, block), te);
        }
    }
}

static void count_member(ln_loan *loan, const ln_tensor_entry *te)
{
    (void)te;
    loan->n_members++;
}

static void add_member(ln_loan *loan, const ln_tensor_entry *te)
{
    loan->members[loan->n_members++] =
        (ln_loan_member){te->tensor, te->offset - loan->root->offset};
}

static int find_members(const finder *f)
{
    size_t n = 0;
    visit_members(f, count_member);
    for (size_t i = 0; i < f->n; i++)
        n += f->loans[i].n_members;
    ln_loan_member *members = ln_alloc_array(n + 1, sizeof(*members));
    if (!members)
        return ln_fail_last(f->ctx);
    f->loans[f->n].members = members;
    for (size_t i = 0; i < f->n; i++) {
        f->loans[i].members = members;
        members += f->loans[i].n_members;
        f->loans[i].n_members = 0;
    }
    visit_members(f, add_member);
    return 0;
}

static int find_loans(finder *f, const char *const *names)
{
    if (!f->loans || !f->of)
        return ln_fail_last(f->ctx);
    for (size_t i = 0; i < f->n; i++)
        add_loan(f, &f->loans[i], names[i]);
    exclude_visible_inputs(f);
    return find_members(f);
}

int ln_loans_find(const ln_context *ctx, const char *const *names, size_t n, ln_loan **loans)
{
    finder f = {.ctx = ctx, .n = n};
    if (ln_lifetime_find(ctx, &f.life))
        return -1;
    f.loans = ln_alloc_array(n + 1, sizeof(*f.loans)); // the last one has the members of all
    f.of = ln_alloc_array(f.life.n, sizeof(*f.of));
    const int status = find_loans(&f, names);
    ln_free(f.of);
    ln_lifetime_free(&f.life);
    if (!status)
        *loans = f.loans;
    else
        ln_loans_free(f.loans, n);
    return status;
}

void ln_loans_free(ln_loan *loans, size_t n)
{
    if (loans)
        ln_free(loans[n].members);
    ln_free(loans);
}

void ln_loan_move(const ln_context *ctx, ln_loan *loan, void *memory)
{
    if (memory == loan->memory)
        return;
    char *begin = memory ? memory : ln_sharing_address(ctx, loan->root);
    for (size_t i = 0; i < loan->n_members; i++)
        loan->members[i].tensor->data = begin + loan->members[i].offset;
    loan->memory = memory;
}

void ln_loans_forget(ln_loan *loans, size_t n)
{
    for (size_t i = 0; i < n; i++)
        loans[i].memory = NULL;
}
