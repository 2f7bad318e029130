// SPDX-License-Identifier: Apache-2.0
// The memory blocks of a program, and when each is alive.

#include "plan/ln_lifetime.h"

#include <stdlib.h>
#include <string.h>

#include "base/ln_array.h"
#include "base/ln_rank_set.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "base/ln_name.h"
#include "lightnet/ln_util.h"

static int grow(const ln_context *ctx, ln_lifetime *life)
{
    return ln_array_grow(&life->blocks, life->n, sizeof(*life->blocks)) ? ln_fail_memory(ctx) : 0;
}

static ln_block *add_block(const ln_context *ctx, ln_lifetime *life, ln_block block)
{
    if (grow(ctx, life))
        return NULL;
    block.part_of = (int)life->n;
    block.reused = -1;
    life->blocks[life->n] = block;
    return &life->blocks[life->n++];
}

// Inputs of a body are in memory of its caller: without a type, they are neither planned nor
// reused.
static ln_block *add_root(const ln_context *ctx, ln_lifetime *life, const ln_tensor_entry *root)
{
    const int is_given = ln_body_is_given(ctx, root);
    return add_block(
        ctx, life,
        (ln_block){
            .name = root->name,
            .mtype = is_given ? LN_MEM_NONE : root->mtype,
            // An empty tensor also has its own offset.
            .size = ln_tensor_entry_capacity(root) ? ln_tensor_entry_capacity(root) : 1,
            .offset = is_given ? LN_BODY_GIVEN_OFFSET : root->offset,
            .first = life->end,
            .last = life->begin,
            .is_constant = root->isconst && !root->isdynamic,
        });
}

// The block of tensor `te`. Records it for all owners on the way, too, so that the time for all
// tensors is linear, even with long chains of owners.
static ln_block *find_or_add(const ln_context *ctx, ln_lifetime *life, ln_tensor_entry *te)
{
    ln_tensor_entry *at = te;
    while (at->owner && !at->block)
        at = ln_entry_owner(at, ctx->tensor_table);
    if (!at->block) {
        if (!add_root(ctx, life, at))
            return NULL;
        at->block = life->n;
    }
    for (; te != at; te = ln_entry_owner(te, ctx->tensor_table))
        te->block = at->block;
    return &life->blocks[at->block - 1];
}

// Extends the life of the block to this time. A new block has first > last: no time.
static void live_at(ln_block *block, int time)
{
    if (time < block->first)
        block->first = time;
    if (time > block->last)
        block->last = time;
}

static void live_always(const ln_lifetime *life, ln_block *block)
{
    live_at(block, life->begin);
    live_at(block, life->end);
}

static int use(const ln_context *ctx, ln_lifetime *life, ln_tensor_entry *te, int time)
{
    ln_block *block = find_or_add(ctx, life, te);
    if (!block)
        return -1;
    live_at(block, time);
    // Constants that runs read must outlive each run.
    if (ctx->keep || (te->isconst ? time >= 0 : te->isstatic))
        live_always(life, block);
    return 0;
}

// A constant without inputs is always alive, since callers may set it, unless it is from a file:
// such data is fetched again at its first use.
static int begin_life(const ln_context *ctx, ln_lifetime *life, const ln_op *op)
{
    ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op->op_arg) {
        ln_block *block = te->isconst ? find_or_add(ctx, life, te) : NULL;
        if (te->isconst && !block)
            return -1;
        if (te->isconst && !ln_from_file_name(op))
            live_always(life, block);
    }
    return 0;
}

static int use_all(const ln_context *ctx, ln_lifetime *life, const ln_list *tensors, int time)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors)
        if (use(ctx, life, ln_entry_of(tle, ctx->tensor_table), time))
            return -1;
    return 0;
}

static int add_scratch(const ln_context *ctx, ln_lifetime *life, const ln_op *op, int time)
{
    const ln_op_arg *op_arg = op->op_arg;
    const ln_mem_type mtype = ln_op_scratch_type(op_arg);
    if (!op_arg->scratch_size)
        return 0;
    if (op_arg->at_load && life->load_scratch[mtype]) {
        ln_block *shared = &life->blocks[life->load_scratch[mtype] - 1];
        if (op_arg->scratch_size > shared->size)
            shared->size = op_arg->scratch_size;
        return 0;
    }
    const ln_block scratch = {
        .name = op_arg->name,
        .scratch = op,
        .mtype = mtype,
        .size = op_arg->scratch_size,
        .offset = op_arg->scratch_offset,
        .first = op_arg->at_load ? life->begin : time,
        .last = op_arg->at_load ? 0 : time,
    };
    if (!add_block(ctx, life, scratch))
        return -1;
    if (op_arg->at_load)
        life->load_scratch[mtype] = life->n;
    return 0;
}

// Uses names of the model's interface. Ignores names without a producer.
static int use_names(const ln_context *ctx, ln_lifetime *life, const ln_list *names, int time)
{
    LN_FOREACH (const char *, name, names) {
        ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
        if (te && use(ctx, life, te, time))
            return -1;
    }
    return 0;
}

// Extends the lifetimes of the operator's tensors to its time, and adds its scratch memory.
static int find_uses_of(const ln_context *ctx, ln_lifetime *life, const ln_op *op, int position)
{
    const int time = op->op_arg->at_load ? position - life->end : position;
    const ln_list *outs = op->op_arg->tensors_out;
    if (!op->op_arg->tensors_in && outs && ln_entry_of(outs->data, ctx->tensor_table)->isconst)
        return begin_life(ctx, life, op);
    return -(use_all(ctx, life, op->op_arg->tensors_out, time) ||
             use_all(ctx, life, op->op_arg->tensors_in, time) || add_scratch(ctx, life, op, time));
}

static int find_uses(const ln_context *ctx, ln_lifetime *life)
{
    int position = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (find_uses_of(ctx, life, op, ++position))
            return -1;
    return -(use_names(ctx, life, ctx->inputs, 0) || use_names(ctx, life, ctx->outputs, life->end));
}

// Marks tensors that are alive only during loading, if operators run at load.
static void mark_short_lives(const ln_context *ctx, const ln_lifetime *life)
{
    LN_FOREACH (const ln_op *, op, life->begin < 0 ? ctx->ops : NULL) {
        ln_tensor_entry *te;
        LN_OUTPUTS_FOREACH (te, op->op_arg)
            te->isload = ln_lifetime_block(ctx, life, te)->last < 0;
    }
}

// Sets when the life of the program begins and ends.
static void begin(const ln_context *ctx, ln_lifetime *life)
{
    int has_load = 0;
    *life = (ln_lifetime){.end = 1};
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        ln_tensor_entry *te;
        LN_OUTPUTS_FOREACH (te, op->op_arg) {
            te->block = 0; // the results of an earlier lifetime
            te->isload = 0;
        }
        has_load |= op->op_arg->at_load != 0;
        life->end++;
    }
    life->begin = has_load ? 1 - life->end : 0;
}

static int index_of(const ln_lifetime *life, const ln_block *block)
{
    return (int)(block - life->blocks);
}

// Counts inputs of `op` within `block`.
static int count_inputs_in(const ln_context *ctx, const ln_lifetime *life, const ln_op *op,
                           const ln_block *block)
{
    const ln_tensor_entry *te;
    int n = 0;
    LN_INPUTS_FOREACH (te, op->op_arg)
        n += ln_lifetime_block(ctx, life, te) == block;
    return n;
}

// Whether dst and src have equal element sizes and counts. Equal byte sizes do not suffice: a bool
// result that overwrote a broadcast float input would destroy elements that are read again.
static int has_same_elements(const ln_tensor_entry *dst, const ln_tensor_entry *src)
{
    return tl_size_of(dst->tensor->dtype) == tl_size_of(src->tensor->dtype) &&
           ln_tensor_entry_capacity(dst) == ln_tensor_entry_capacity(src);
}

// Whether output `dst`, which is no view, may reuse the memory of input `src`: `op` is its last
// reader, and none of its outputs reuses it yet. Inputs of the model and constants have first <= 0.
static int may_reuse(const ln_context *ctx, const ln_lifetime *life, const ln_op *op, int time,
                     const ln_block *dst, const ln_block *src)
{
    return src != dst && src->first > 0 && dst->first == time && src->last == time &&
           src->reused != time && src->size == dst->size && src->mtype == dst->mtype &&
           !src->scratch && count_inputs_in(ctx, life, op, src) == 1;
}

// Whether `arg_name` is the input `name` of the description, or one of the variadic input `name`.
static int is_argument(const ln_op *op, const char *arg_name, const char *name)
{
    for (const ln_arg_info *in = op->op_arg->info->tensors_in; in; in = ln_arg_info_next(in))
        if (in->variadic && ln_streq(in->arg_name, name))
            return ln_name_number(arg_name, name) >= 0;
    return ln_streq(arg_name, name);
}

// Lets `dst_te` reuse the first possible input of argument `name`. Returns whether it did.
static int reuse_input(const ln_context *ctx, ln_lifetime *life, const ln_op *op, int time,
                       const ln_tensor_entry *dst_te, const char *name)
{
    ln_block *dst = ln_lifetime_block(ctx, life, dst_te);
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
        ln_block *src =
            is_argument(op, tle->arg_name, name) ? ln_lifetime_block(ctx, life, te) : NULL;
        // An input smaller than its block is only a part of it.
        if (src && ln_tensor_entry_capacity(te) == src->size && has_same_elements(dst_te, te) &&
            may_reuse(ctx, life, op, time, dst, src)) {
            dst->part_of = index_of(life, src);
            src->reused = time;
            src->last = dst->last > src->last ? dst->last : src->last;
            return 1;
        }
    }
    return 0;
}

static void merge_output(const ln_context *ctx, ln_lifetime *life, const ln_op *op, int time,
                         const ln_arg_info *info)
{
    const ln_tensor_entry *dst_te =
        ln_tensor_list_find_entry(op->op_arg->tensors_out, ctx->tensor_table, info->arg_name);
    // A dynamic input may be smaller than planned, and then broadcast: its elements are read
    // several times, and must not be overwritten in between.
    const int reads_once =
        dst_te && (!dst_te->isdynamic || ln_list_length(op->op_arg->tensors_in) == 1);
    int is_done = !reads_once || dst_te->owner || !ln_lifetime_block(ctx, life, dst_te);
    for (const char *const *arg = info->inplace; arg && *arg && !is_done; arg++)
        is_done = reuse_input(ctx, life, op, time, dst_te, *arg);
}

// Lets outputs reuse the memory of inputs at their last use, if the operator allows it.
static void merge_inplace(const ln_context *ctx, ln_lifetime *life)
{
    int time = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const ln_arg_info *out = op->op_arg->info ? op->op_arg->info->tensors_out : NULL;
        time++;
        for (; out; out = ln_arg_info_next(out))
            merge_output(ctx, life, op, time, out);
    }
}

int ln_lifetime_find(const ln_context *ctx, ln_lifetime *life)
{
    begin(ctx, life);
    if (grow(ctx, life) || find_uses(ctx, life)) { // life->blocks is never NULL
        ln_lifetime_free(life);
        return -1;
    }
    for (ln_block *block = life->blocks; block < life->blocks + life->n; block++)
        if (block->first > block->last) // unread tensors have memory, too
            block->first = block->last = life->begin;
    merge_inplace(ctx, life);
    mark_short_lives(ctx, life);
    return 0;
}

void ln_lifetime_free(ln_lifetime *life)
{
    ln_free(life->blocks);
    memset(life, 0, sizeof(*life));
}

ln_block *ln_lifetime_block(const ln_context *ctx, const ln_lifetime *life,
                            const ln_tensor_entry *te)
{
    (void)ctx;
    return te->block ? &life->blocks[life->blocks[te->block - 1].part_of] : NULL;
}

int ln_lifetime_is_always(const ln_lifetime *life, const ln_block *block)
{
    return block->first == life->begin && block->last == life->end;
}

int ln_lifetime_is_input(const ln_context *ctx, const ln_lifetime *life, const ln_block *block)
{
    return !block->scratch && !block->is_constant && ln_lifetime_is_always(life, block) &&
           ln_hash_find(ctx->input_names, block->name);
}

// The producer of a view computes its offset, or the no-copy join that absorbed it.
size_t ln_lifetime_view_offset(const ln_context *ctx, ln_tensor_entry *te)
{
    const ln_op *joined_by = ln_context_joiner(ctx, te);
    const ln_op *op = joined_by ? joined_by : ln_entry_creater(te);
    return op->calc_offset ? op->calc_offset(op->op_arg, te)
                           : ln_entry_owner(te, ctx->tensor_table)->offset;
}

static int is_part(const ln_lifetime *life, const ln_block *block)
{
    return block->part_of != index_of(life, block);
}

int ln_lifetime_bound(const ln_context *ctx, const ln_lifetime *life, ln_mem_type mtype,
                      size_t *bound)
{
    const size_t n_times = (size_t)(life->end - life->begin) + 2;
    size_t *begins = ln_alloc_array(2 * n_times, sizeof(*begins));
    if (!begins)
        return ln_fail_last(ctx);
    size_t *ends = begins + n_times;
    for (const ln_block *block = life->blocks; block < life->blocks + life->n; block++) {
        if (is_part(life, block) || block->mtype != mtype)
            continue;
        begins[block->first - life->begin] += block->size;
        ends[block->last - life->begin + 1] += block->size;
    }
    size_t alive = 0;
    *bound = 0;
    for (size_t time = 0; time < n_times; time++) {
        alive += begins[time] - ends[time];
        if (alive > *bound)
            *bound = alive;
    }
    ln_free(begins);
    return 0;
}

// Checking: blocks enter a set of live blocks, sorted by address, in order of time. While no two of
// the set overlap, a new one can only overlap its neighbours.

typedef struct live_set {
    const ln_block **at;  // all blocks of a type, in order of address: their ranks
    const ln_block **due; // the same in order of time
    size_t *ranks;        // of the blocks of the lifetime, by index
    size_t n;
    ln_rank_set alive; // the ranks of live blocks
} live_set;

static int by_begin(const void *a, const void *b)
{
    const ln_block *x = *(const ln_block *const *)a, *y = *(const ln_block *const *)b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int by_offset(const void *a, const void *b)
{
    const ln_block *x = *(const ln_block *const *)a, *y = *(const ln_block *const *)b;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : by_begin(a, b);
}

// The live neighbour on one side, or NULL. Removes dead ones on the way.
static const ln_block *neighbour(live_set *r, size_t rank, const ln_block *block,
                                 size_t (*next)(const ln_rank_set *set, size_t rank))
{
    for (size_t at = next(&r->alive, rank); at != LN_RANK_NONE; at = next(&r->alive, rank)) {
        if (r->at[at]->last >= block->first)
            return r->at[at];
        ln_rank_set_remove(&r->alive, at);
    }
    return NULL;
}

// Adds the block to the set. Returns a block that it overlaps, or NULL.
static const ln_block *add_live(live_set *r, size_t rank, const ln_block *block)
{
    const ln_block *below = neighbour(r, rank, block, ln_rank_set_below);
    const ln_block *above = neighbour(r, rank, block, ln_rank_set_above);
    if (below && below->size > block->offset - below->offset)
        return below;
    if (above && block->size > above->offset - block->offset)
        return above;
    ln_rank_set_add(&r->alive, rank);
    return NULL;
}

static void sort_blocks(const ln_lifetime *life, ln_mem_type mtype, live_set *r)
{
    r->n = 0;
    for (const ln_block *block = life->blocks; block < life->blocks + life->n; block++)
        if (!is_part(life, block) && block->mtype == mtype && block->size)
            r->at[r->n++] = block;
    if (r->n)
        memcpy(r->due, r->at, r->n * sizeof(*r->due));
    qsort(r->due, r->n, sizeof(*r->due), by_begin);
    qsort(r->at, r->n, sizeof(*r->at), by_offset);
    for (size_t i = 0; i < r->n; i++)
        r->ranks[r->at[i] - life->blocks] = i;
}

static int check_type(const ln_context *ctx, const ln_lifetime *life, ln_mem_type mtype,
                      live_set *r)
{
    int status = 0;
    sort_blocks(life, mtype, r);
    if (ln_rank_set_begin(&r->alive, r->n))
        return ln_fail_last(ctx);
    for (size_t i = 0; i < r->n && !status; i++) {
        const ln_block *block = r->due[i];
        const ln_block *other = add_live(r, r->ranks[block - life->blocks], block);
        if (other)
            status = ln_fail(
                ctx, "the memory plan lets '%s' and '%s' share memory while both are in use",
                other->name, block->name);
    }
    ln_rank_set_end(&r->alive);
    return status;
}

static int check_parts(const ln_context *ctx, const ln_lifetime *life)
{
    for (const ln_block *block = life->blocks; block < life->blocks + life->n; block++) {
        const ln_block *whole = &life->blocks[block->part_of];
        if (block->offset != whole->offset)
            return ln_fail(ctx,
                           "the memory plan has '%s' at offset %zu, expected that of '%s', %zu",
                           block->name, block->offset, whole->name, whole->offset);
    }
    return 0;
}

const ln_block *ln_lifetime_load_scratch(const ln_lifetime *life, const ln_op_arg *op_arg)
{
    return &life->blocks[life->load_scratch[ln_op_scratch_type(op_arg)] - 1];
}

static int check_load_scratch(const ln_context *ctx, const ln_lifetime *life)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const ln_op_arg *op_arg = op->op_arg;
        if (!op_arg->at_load || !op_arg->scratch_size)
            continue;
        const size_t expected = ln_lifetime_load_scratch(life, op_arg)->offset;
        if (op_arg->scratch_offset != expected)
            return ln_fail(ctx,
                           "the memory plan has the scratch memory of '%s' at offset %zu, expected "
                           "that of all that runs at load, %zu",
                           op_arg->name, op_arg->scratch_offset, expected);
    }
    return 0;
}

int ln_lifetime_check(const ln_context *ctx, const ln_lifetime *life)
{
    live_set r = {.at = ln_alloc_array(life->n, sizeof(*r.at)),
                  .due = ln_alloc_array(life->n, sizeof(*r.due)),
                  .ranks = ln_alloc_array(life->n, sizeof(*r.ranks))};
    int status = r.at && r.due && r.ranks ? 0 : ln_fail_last(ctx);
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE && !status; m++)
        status = check_type(ctx, life, m, &r);
    ln_free(r.at);
    ln_free(r.due);
    ln_free(r.ranks);
    return -(status || check_parts(ctx, life) || check_load_scratch(ctx, life));
}
