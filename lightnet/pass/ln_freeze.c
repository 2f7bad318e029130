// SPDX-License-Identifier: Apache-2.0
// Freezing: replaces the static operators of a compiled program by their results.

#include "base/ln_list_end.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_from_file.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_optypes.h"
#include "lightnet/ln_util.h"
#include "pass/ln_rewriting.h"
#include "plan/ln_plan.h"
#include "run/ln_load.h"

// Results of up to SMALL_SIZE bytes, or up to MAX_GROWTH times the size of the inputs, are frozen.
enum { SMALL_SIZE = 4096, MAX_GROWTH = 2 };

typedef struct freezing {
    ln_context *ctx;
    ln_hash *random;     // tensors whose values depend on the seed
    ln_hash *needed;     // tensors that the frozen program reads
    ln_hash *frozen;     // operators that their results replace
    ln_weights *results; // data of the frozen program in its file
    ln_list *removed;    // ln_fixed_value of removed constants
} freezing;

static int note(const freezing *f, ln_hash *names, const char *name)
{
    char *key = ln_strdup(name);
    if (key && ln_hash_insert(names, key, key) >= 0)
        return 0;
    ln_free(key);
    return ln_fail_memory(f->ctx);
}

static int note_all(const freezing *f, ln_hash *names, const ln_list *tensors)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors)
        if (note(f, names, tle->name))
            return -1;
    return 0;
}

static int has_any(ln_hash *names, const ln_list *tensors)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors)
        if (ln_hash_find(names, tle->name))
            return 1;
    return 0;
}

// Choosing

static int note_random(const freezing *f)
{
    LN_FOREACH (const ln_op *, op, f->ctx->ops) {
        const ln_op_arg *op_arg = op->op_arg;
        if ((ln_produces_random(op) || has_any(f->random, op_arg->tensors_in)) &&
            note_all(f, f->random, op_arg->tensors_out))
            return -1;
    }
    return 0;
}

static size_t size_of_all(const ln_context *ctx, const ln_list *tensors)
{
    size_t size = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors)
        size += tl_tensor_size(ln_entry_of(tle, ctx->tensor_table)->tensor);
    return size;
}

static int is_worth_its_size(const ln_context *ctx, const ln_op_arg *op_arg)
{
    const size_t size = size_of_all(ctx, op_arg->tensors_out);
    return size <= SMALL_SIZE || size / MAX_GROWTH <= size_of_all(ctx, op_arg->tensors_in);
}

static int can_be_source(const ln_op_arg *op_arg)
{
    const ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op_arg)
        if (te->owner || te->isdynamic || te->mtype != LN_MEM_CPU || ln_entry_is_output(te))
            return 0;
    return 1;
}

// Freezes the operator, skips it, or marks its inputs as needed.
static int choose_op(const freezing *f, const ln_op *op)
{
    const ln_op_arg *op_arg = op->op_arg;
    if (op_arg->at_load && !has_any(f->needed, op_arg->tensors_out))
        return 0;
    if (op_arg->at_load && op->run && !op_arg->takes_inputs && can_be_source(op_arg) &&
        !has_any(f->random, op_arg->tensors_out) && is_worth_its_size(f->ctx, op_arg))
        return note(f, f->frozen, op_arg->name);
    return note_all(f, f->needed, op_arg->tensors_in);
}

// Selects operators to freeze: backwards, from tensors that runs read to operators at load.
static int choose(const freezing *f)
{
    int status = note_random(f);
    for (const ln_list *node = f->ctx->outputs; node && !status; node = node->next)
        status = note(f, f->needed, node->data);
    ln_list *backwards = status ? NULL : ln_list_copy(f->ctx->ops);
    if (!status && f->ctx->ops && !backwards)
        return ln_fail_memory(f->ctx);
    backwards = ln_list_reverse(backwards);
    for (const ln_list *node = backwards; node && !status; node = node->next)
        status = choose_op(f, node->data);
    ln_list_free(backwards);
    return status;
}

// While loading: computed results

static int keep_results(const freezing *f, const ln_op *op)
{
    const ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op->op_arg)
        if (ln_weights_copy(f->results, te->name, te->tensor, te->tensor->data))
            return ln_fail_memory(f->ctx);
    return 0;
}

static int note_removed(freezing *f, const ln_tensor_entry *te, uint64_t hash)
{
    ln_fixed_value *value = ln_fixed_value_create(te->name, NULL, hash);
    if (ln_list_push(&f->removed, value, ln_fixed_value_free))
        return ln_fail_memory(f->ctx);
    value->frozen = 1;
    return 0;
}

// Copies a needed tensor with data of a file; otherwise records its hash as a removed constant.
static int keep_weight(freezing *f, const ln_tensor_entry *te)
{
    const ln_weight *weight = ln_weights_of(f->ctx, te->name);
    uint64_t hash;
    if (!weight)
        return ln_fail(f->ctx,
                       "tensor '%s' reads its data from a file: pass one when compiling (-f FILE, "
                       "option 'weights')",
                       te->name);
    if (ln_hash_find(f->needed, te->name)) {
        tl_tensor *copy = ln_weight_clone(weight, f->ctx->error);
        if (!copy)
            return -1;
        if (!ln_weights_add(f->results, te->name, copy, 1))
            return 0;
        tl_tensor_free_data_too(copy);
        return ln_fail_memory(f->ctx);
    }
    return -(ln_weight_hash(weight, &hash, f->ctx->error) || note_removed(f, te, hash));
}

// Keeps a constant that is not computed from others, or records that it is removed.
static int keep_constant(freezing *f, const ln_op *op)
{
    const ln_tensor_list_entry *tle = op->op_arg->tensors_out->data;
    const ln_tensor_entry *te = ln_entry_of(tle, f->ctx->tensor_table);
    if (ln_from_file_name(op))
        return keep_weight(f, te);
    if (ln_hash_find(f->needed, te->name))
        return 0;
    const tl_tensor *const t = te->tensor;
    return note_removed(f, te, ln_elements_hash(t->data, t->dtype, (size_t)t->len));
}

// Called for each operator when it has run at load: keeps the data that the frozen program reads.
static int watch_op(const ln_context *ctx, const ln_op *op, void *data)
{
    freezing *f = data;
    const ln_op_arg *op_arg = op->op_arg;
    if (ln_hash_find(f->frozen, op_arg->name))
        return keep_results(f, op);
    if (op_arg->tensors_in || !op_arg->tensors_out)
        return 0;
    const ln_tensor_list_entry *tle = op_arg->tensors_out->data;
    return ln_entry_of(tle, ctx->tensor_table)->isconst ? keep_constant(f, op) : 0;
}

// The frozen program

int ln_context_replace_by_sources(ln_context *ctx, ln_list **position, int from_file)
{
    const ln_op *const op = (*position)->data;
    char name[LN_MAX_NAME_LEN];
    ln_list *sources = NULL;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        const tl_tensor *like = ln_entry_of(tle, ctx->tensor_table)->tensor;
        if (ln_context_unique_name(ctx, name, "source") ||
            ln_list_add(&sources,
                        ln_source_create(ctx, LN_OP_SOURCE_CPU, name, tle->name, like, from_file),
                        ln_rewriting_free_op)) {
            ln_list_free_deep(sources, ln_rewriting_free_op);
            return ln_fail_memory(ctx);
        }
    }
    return ln_context_replace_ops(ctx, position, 1, sources);
}

static int put_sources(const freezing *f)
{
    for (ln_list *node = f->ctx->ops, *next; node; node = next) {
        const ln_op *op = node->data;
        next = node->next;
        if (!ln_hash_find(f->frozen, op->op_arg->name))
            continue;
        if (ln_context_replace_by_sources(f->ctx, &node, 1))
            return -1;
        next = node;
    }
    return 0;
}

static int rebuild(freezing *f)
{
    ln_context *ctx = f->ctx;
    ln_weights_free(ctx->weights);
    ctx->weights = f->results;
    f->results = NULL;
    f->removed = ln_list_reverse(f->removed);
    while (f->removed) {
        if (ln_fixed_add(ctx->fixed, f->removed->data))
            return ln_fail_memory(ctx);
        f->removed = ln_list_remove_nth(f->removed, 0);
    }
    if (put_sources(f) || ln_cleanup_dead(ctx) < 0)
        return -1;
    ln_bodies_prune(ctx);
    return ln_plan_all(ctx);
}

static int freeze(freezing *f, const char *datafile)
{
    const ln_constants_watch watch = {watch_op, f};
    if (choose(f) || ln_load(f->ctx, datafile, &watch))
        return -1;
    ln_context_unload(f->ctx);
    if (!rebuild(f))
        return 0;
    ln_fail_at(f->ctx, "%s", f->ctx->source);
    ln_context_cleanup(f->ctx);
    return -1;
}

int ln_freeze(ln_context *ctx, const char *datafile)
{
    freezing f = {.ctx = ctx,
                  .random = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL),
                  .needed = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL),
                  .frozen = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL),
                  .results = ln_weights_create()};
    const int status =
        f.random && f.needed && f.frozen && f.results ? freeze(&f, datafile) : ln_fail_memory(ctx);
    ln_hash_free(f.random);
    ln_hash_free(f.needed);
    ln_hash_free(f.frozen);
    ln_weights_free(f.results);
    ln_list_free_deep(f.removed, ln_fixed_value_free);
    return status;
}
