// SPDX-License-Identifier: Apache-2.0
// Constants set by a caller: recomputes exactly the values that depend on them.

#include "run/ln_update.h"

#include "base/ln_list_end.h"
#include "ir/ln_context_ops.h"
#include "run/ln_load.h"
#include "ir/ln_dynamic.h"
#include "ir/ln_from_file.h"
#include "ir/ln_limits.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_util.h"

// A result of loading, kept in separate memory.
typedef struct kept {
    const ln_context *ctx; // whose memory limit counts it
    char *name;
    size_t size;
    ln_mem_type mtype;
    void *data;
    void *planned; // the planned address
} kept;

static void free_kept(void *p)
{
    kept *k = p;
    if (k->data)
        ln_limits_give(k->ctx, k->size);
    ln_mem_type_info(k->mtype).free_func(k->data);
    ln_free(k->name);
    ln_free(k);
}

static kept *find_kept(const ln_context *ctx, const ln_tensor_entry *te)
{
    return ctx->kept ? ln_hash_find(ctx->kept, te->name) : NULL;
}

// Frees the kept data of the tensor, which is at its planned address again.
static void drop(ln_context *ctx, ln_tensor_entry *te)
{
    const kept *k = find_kept(ctx, te);
    if (!k)
        return;
    te->tensor->data = k->planned;
    ln_hash_remove(ctx->kept, te->name);
}

void ln_update_forget(ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        if (op->op_arg->at_load)
            op->op_arg->at_load = LN_AT_LOAD_DONE;
        LN_FOREACH (const ln_tensor_list_entry *, tle, ctx->kept ? op->op_arg->tensors_out : NULL)
            drop(ctx, ln_entry_of(tle, ctx->tensor_table));
    }
    ln_hash_free(ctx->kept);
    ctx->kept = NULL;
}

// Allocates separate memory for the tensor, without data yet.
static int allocate_own(ln_context *ctx, ln_tensor_entry *te)
{
    const size_t size = tl_tensor_size(te->tensor);
    if (ln_limits_forbid(ctx, size))
        return ln_fail_as(
            ctx, LN_LIMIT_REACHED,
            "keeping tensor '%s', %zu bytes, exceeds the limit of %zu bytes of memory", te->name,
            size, ln_limits_memory(ctx));
    if (!ctx->kept)
        ctx->kept = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, free_kept);
    kept *k = ctx->kept ? ln_alloc(sizeof(*k)) : NULL;
    if (!k)
        return ln_fail_last(ctx);
    *k = (kept){.ctx = ctx,
                .name = ln_strdup(te->name),
                .size = size,
                .mtype = te->mtype,
                .data = ln_mem_type_info(te->mtype).alloc_func(size),
                .planned = te->tensor->data};
    if (k->data)
        ln_limits_take(ctx, size);
    if (!k->name || !k->data || ln_hash_insert(ctx->kept, k->name, k) < 0) {
        ln_fail_as(ctx, LN_OUT_OF_MEMORY, "cannot allocate %zu bytes to keep tensor '%s'", size,
                   te->name);
        free_kept(k);
        return -1;
    }
    te->tensor->data = k->data;
    return 0;
}

// Copies the tensor's data.
static int keep(ln_context *ctx, ln_tensor_entry *te)
{
    const void *data = te->tensor->data;
    if (allocate_own(ctx, te))
        return -1;
    ln_mem_type_copy_func(te->mtype, te->mtype)(te->tensor->data, data, tl_tensor_size(te->tensor));
    return 0;
}

// Reads the tensor's data from the file.
static int keep_weight(ln_context *ctx, ln_tensor_entry *te)
{
    if (allocate_own(ctx, te))
        return -1;
    if (!ln_constants_fetch_tensor(ctx, te))
        return 0;
    drop(ctx, te);
    return -1;
}

// Marking

// Adds the tensor to the list `todo`, of those whose readers are not marked yet.
static int outdate(ln_context *ctx, ln_tensor_entry *te, ln_list **todo)
{
    drop(ctx, te);
    return ln_list_push(todo, te, NULL);
}

static int outdate_op(ln_context *ctx, const ln_op *op, ln_list **todo)
{
    ln_tensor_entry *te;
    if (!op->op_arg->at_load || op->op_arg->at_load == LN_AT_LOAD_OUTDATED)
        return 0;
    op->op_arg->at_load = LN_AT_LOAD_OUTDATED;
    LN_OUTPUTS_FOREACH (te, op->op_arg)
        if (outdate(ctx, te, todo))
            return -1;
    return 0;
}

static int outdate_readers(ln_context *ctx, const ln_tensor_entry *te, ln_list **todo)
{
    ln_list *readers;
    int status = ln_context_readers(ctx, te, &readers);
    LN_FOREACH (const ln_op *, reader, readers)
        status = status ? status : outdate_op(ctx, reader, todo);
    ln_list_free(readers);
    return status;
}

void ln_update_mark(ln_context *ctx, ln_tensor_entry *te)
{
    ln_list *todo = NULL;
    te->isfetched = LN_FETCHED_NEVER;
    if (ctx->stale & LN_STALE_ALL)
        return;
    int status = 0;
    for (; te && !status; te = ln_entry_owner(te, ctx->tensor_table)) // and its owners
        status = outdate(ctx, te, &todo);
    while (todo && !status) {
        const ln_tensor_entry *next = todo->data;
        todo = ln_list_remove_nth(todo, 0);
        status = outdate_readers(ctx, next, &todo);
    }
    ln_list_free(todo);
    // If memory runs out, all values count as dependent.
    ctx->stale |= status ? LN_STALE_ALL : LN_STALE_MARKED;
    if (status)
        ln_context_clear_error(ctx);
}

// Computing

static int is_renewed(const ln_op *op)
{
    return op->op_arg->at_load == LN_AT_LOAD_OUTDATED || op->op_arg->at_load == LN_AT_LOAD_PULLED;
}

// Marks producers of inputs to compute again. Backwards, since readers follow producers.
static void pull(const ln_context *ctx)
{
    for (const ln_list *node = ctx->last; node; node = ((ln_op *)node->data)->op_arg->before) {
        const ln_op *op = node->data;
        LN_FOREACH (const ln_tensor_list_entry *, tle,
                    is_renewed(op) ? op->op_arg->tensors_in : NULL) {
            const ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
            const ln_op *producer = te->isload && !find_kept(ctx, te) ? ln_entry_creater(te) : NULL;
            if (producer && producer->op_arg->at_load == LN_AT_LOAD_DONE)
                producer->op_arg->at_load = LN_AT_LOAD_PULLED;
        }
    }
}

static int produces_views(const ln_op *op)
{
    const ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op->op_arg)
        if (te->owner)
            return 1;
    return 0;
}

// Reads an input from its file: to separate memory if its data is unchanged and an outdated
// operator reads it, as in later updates; to its planned address if it is new or read only now.
static int fetch_input(ln_context *ctx, const ln_op *op, ln_tensor_entry *te)
{
    if (te->isfetched == LN_FETCHED_EARLIER && op->op_arg->at_load == LN_AT_LOAD_OUTDATED &&
        ln_weights_of(ctx, te->name))
        return keep_weight(ctx, te);
    if (ln_constants_fetch_tensor(ctx, te))
        return -1;
    te->isfetched = LN_FETCHED_NOW;
    return 0;
}

static int prepare_input(ln_context *ctx, const ln_op *op, ln_tensor_entry *te)
{
    const ln_op *producer = te->isload ? ln_entry_creater(te) : NULL;
    if (!producer)
        return 0;
    if (ln_from_file_name(producer) && te->isfetched != LN_FETCHED_NOW && !find_kept(ctx, te) &&
        fetch_input(ctx, op, te))
        return -1;
    const kept *k = find_kept(ctx, te);
    if (k && produces_views(op)) // views are at planned addresses, so the data must be there, too
        ln_mem_type_copy_func(te->mtype, te->mtype)(k->planned, k->data, k->size);
    return 0;
}

static int is_read_by_outdated(ln_context *ctx, const ln_tensor_entry *te)
{
    ln_list *readers;
    int found = ln_context_readers(ctx, te, &readers);
    LN_FOREACH (const ln_op *, reader, readers)
        found = found || reader->op_arg->at_load == LN_AT_LOAD_OUTDATED;
    ln_list_free(readers);
    return found;
}

static int keep_results(ln_context *ctx, const ln_op *op)
{
    ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op->op_arg) {
        const int wanted = te->isload ? is_read_by_outdated(ctx, te) : 0;
        if (wanted < 0 || (wanted && keep(ctx, te)))
            return -1;
    }
    return 0;
}

static int renew(ln_context *ctx, ln_op *op)
{
    ln_tensor_entry *te;
    LN_INPUTS_FOREACH (te, op->op_arg)
        if (prepare_input(ctx, op, te))
            return -1;
    if (ln_op_call(op, op->static_run) || ln_dynamic_run(op))
        return -1;
    return op->op_arg->at_load == LN_AT_LOAD_PULLED ? keep_results(ctx, op) : 0;
}

// Prepares an operator of runs again if its prepared data may depend on constants that were set.
static int prepare_again(const ln_context *ctx, ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle,
                op->static_run && !op->op_arg->at_load ? op->op_arg->tensors_in : NULL)
        if (ln_entry_of(tle, ctx->tensor_table)->isconst)
            return -(ln_op_call(op, op->static_run) || ln_limits_check_op(op->op_arg));
    return 0;
}

// Updates marks after the update; if that failed, operators remain outdated, for the next attempt.
static void settle(const ln_context *ctx, int failed)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        ln_op_arg *op_arg = op->op_arg;
        const char *name = ln_from_file_name(op);
        ln_tensor_entry *te = name ? ln_tensor_table_find(ctx->tensor_table, name) : NULL;
        if (te && te->isfetched == LN_FETCHED_NOW)
            te->isfetched = failed ? LN_FETCHED_NEVER : LN_FETCHED_EARLIER;
        if (op_arg->at_load == LN_AT_LOAD_PULLED ||
            (op_arg->at_load == LN_AT_LOAD_OUTDATED && !failed))
            op_arg->at_load = LN_AT_LOAD_DONE;
    }
}

int ln_update_fetch(ln_context *ctx)
{
    ctx->stale |= LN_STALE_ALL | LN_STALE_FILE;
    if (ln_constants_fetch(ctx))
        return -1;
    ctx->stale &= ~LN_STALE_FILE;
    return 0;
}

int ln_update_run(ln_context *ctx)
{
    int status = ctx->stale & LN_STALE_FILE ? ln_update_fetch(ctx) : 0;
    if (status)
        return -1;
    if (ctx->stale & LN_STALE_ALL) {
        ln_update_forget(ctx);
        status = ln_constants_compute(ctx, 1, NULL);
        settle(ctx, status);
    } else if (ctx->stale) {
        pull(ctx);
        LN_FOREACH (ln_op *, op, ctx->ops)
            if (!status && (is_renewed(op) ? renew(ctx, op) : prepare_again(ctx, op)))
                status = -1;
        settle(ctx, status);
    }
    if (!status)
        ctx->stale = 0;
    return status;
}
