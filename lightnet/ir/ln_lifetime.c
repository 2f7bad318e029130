// SPDX-License-Identifier: Apache-2.0
// Which pieces of memory a program needs, and when each is alive.

#include "ir/ln_lifetime.h"

#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_util.h"

static int grow(const ln_context *ctx, ln_lifetime *life)
{
    const size_t capacity = life->capacity ? 2 * life->capacity : 64;
    ln_block *blocks = ln_realloc(life->blocks, capacity * sizeof(*blocks));
    if (!blocks)
        return ln_fail(ctx, "out of memory");
    life->blocks = blocks;
    life->capacity = capacity;
    return 0;
}

static ln_block *add_block(const ln_context *ctx, ln_lifetime *life, ln_block block)
{
    if (life->n == life->capacity && grow(ctx, life))
        return NULL;
    block.part_of = (int)life->n;
    block.taken = -1;
    life->blocks[life->n] = block;
    return &life->blocks[life->n++];
}

static ln_block *find_or_add(const ln_context *ctx, ln_lifetime *life, const ln_tensor_entry *te)
{
    const ln_tensor_entry *root = ln_tensor_table_root(ctx->tensor_table, te);
    const size_t index = (size_t)ln_hash_find(life->by_name, root->name);
    if (index)
        return &life->blocks[index - 1];
    const ln_block fresh = {
        .name = root->name,
        .mtype = root->mtype,
        .size = tl_tensor_size(root->tensor),
        .offset = root->offset,
        .first = root->isstatic || ctx->keep ? 0 : life->end,
        .last = root->isstatic || ctx->keep ? life->end : 0,
    };
    ln_block *block = add_block(ctx, life, fresh);
    if (block && ln_hash_insert(life->by_name, root->name, (void *)life->n) < 0) {
        ln_fail(ctx, "out of memory");
        return NULL;
    }
    return block;
}

static int use(const ln_context *ctx, ln_lifetime *life, const char *tname, int time)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    ln_block *block = find_or_add(ctx, life, te);
    if (!block)
        return -1;
    if (time < block->first)
        block->first = time;
    if (time > block->last)
        block->last = time;
    return 0;
}

static int use_all(const ln_context *ctx, ln_lifetime *life, const ln_list *tensors, int time)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, tensors)
    {
        if (use(ctx, life, tle->name, time))
            return -1;
    }
    return 0;
}

static int add_scratch(const ln_context *ctx, ln_lifetime *life, const ln_op *op, int time)
{
    const ln_op_arg *op_arg = op->op_arg;
    if (!op_arg->scratch_size)
        return 0;
    const ln_block scratch = {
        .name = op_arg->name,
        .scratch = op,
        .mtype = LN_MEM_CPU,
        .size = op_arg->scratch_size,
        .offset = op_arg->scratch_offset,
        .first = op_arg->at_load ? 0 : time,
        .last = op_arg->at_load ? 0 : time,
    };
    return add_block(ctx, life, scratch) ? 0 : -1;
}

static int find_uses(const ln_context *ctx, ln_lifetime *life)
{
    const ln_op *op;
    const char *name;
    int time = 0;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        time++;
        if (use_all(ctx, life, op->op_arg->tensors_out, time) ||
            use_all(ctx, life, op->op_arg->tensors_in, time) || add_scratch(ctx, life, op, time))
            return -1;
    }
    LN_LIST_FOREACH(name, ctx->outputs)
    {
        if (ln_tensor_table_find(ctx->tensor_table, name) && use(ctx, life, name, life->end))
            return -1;
    }
    return 0;
}

static int index_of(const ln_lifetime *life, const ln_block *block)
{
    return (int)(block - life->blocks);
}

// Inputs of `op` that lie in `block`, in whole or in part.
static int count_inputs_in(const ln_context *ctx, const ln_lifetime *life, const ln_op *op,
                           const ln_block *block)
{
    const ln_tensor_list_entry *tle;
    int n = 0;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_in)
    {
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
        n += ln_lifetime_block(ctx, life, te) == block;
    }
    return n;
}

// Whether output `dst`, a root of its own, may be computed over the memory of input `src`, which is
// read for the last time.
static int may_take_over(const ln_context *ctx, const ln_lifetime *life, const ln_op *op, int time,
                         const ln_block *dst, const ln_block *src)
{
    return src != dst && src->first > 0 && dst->first == time && src->last == time &&
           src->taken != time && src->size == dst->size && src->mtype == dst->mtype &&
           !src->scratch && count_inputs_in(ctx, life, op, src) == 1;
}

static void take_over(ln_lifetime *life, ln_block *dst, ln_block *src, int time)
{
    dst->part_of = index_of(life, src);
    src->taken = time;
    if (dst->last > src->last)
        src->last = dst->last;
}

static void merge_output(const ln_context *ctx, ln_lifetime *life, const ln_op *op, int time,
                         const ln_arg_info *info)
{
    const ln_tensor_entry *dst_te =
        ln_tensor_list_find_entry(op->op_arg->tensors_out, ctx->tensor_table, info->arg_name);
    ln_block *dst = dst_te && !dst_te->owner ? ln_lifetime_block(ctx, life, dst_te) : NULL;
    for (const char *const *arg = info->inplace; dst && arg && *arg; arg++) {
        const ln_tensor_entry *src_te =
            ln_tensor_list_find_entry(op->op_arg->tensors_in, ctx->tensor_table, *arg);
        ln_block *src = src_te ? ln_lifetime_block(ctx, life, src_te) : NULL;
        if (src && may_take_over(ctx, life, op, time, dst, src)) {
            take_over(life, dst, src, time);
            return;
        }
    }
}

// Lets outputs take over the memory of inputs that nothing reads any more, where the operator
// allows it.
static void merge_inplace(const ln_context *ctx, ln_lifetime *life)
{
    const ln_op *op;
    int time = 0;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_op_info *info = op->op_arg->info;
        time++;
        for (const ln_arg_info *arg = info ? info->tensors_out : NULL; arg && arg->arg_name; arg++)
            merge_output(ctx, life, op, time, arg);
    }
}

int ln_lifetime_find(const ln_context *ctx, ln_lifetime *life)
{
    memset(life, 0, sizeof(*life));
    life->end = ln_list_length(ctx->ops) + 1;
    life->by_name = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!life->by_name)
        return ln_fail(ctx, "out of memory");
    if (find_uses(ctx, life)) {
        ln_lifetime_free(life);
        return -1;
    }
    merge_inplace(ctx, life);
    return 0;
}

void ln_lifetime_free(ln_lifetime *life)
{
    ln_free(life->blocks);
    ln_hash_free(life->by_name);
    memset(life, 0, sizeof(*life));
}

ln_block *ln_lifetime_block(const ln_context *ctx, const ln_lifetime *life,
                            const ln_tensor_entry *te)
{
    const ln_tensor_entry *root = ln_tensor_table_root(ctx->tensor_table, te);
    const size_t index = (size_t)ln_hash_find(life->by_name, root->name);
    if (!index)
        return NULL;
    size_t i = index - 1;
    while ((size_t)life->blocks[i].part_of != i)
        i = (size_t)life->blocks[i].part_of;
    return &life->blocks[i];
}

size_t ln_lifetime_bound(const ln_lifetime *life, ln_mem_type mtype)
{
    size_t *begins = calloc(2 * ((size_t)life->end + 2), sizeof(*begins));
    if (!begins)
        return 0;
    size_t *ends = begins + life->end + 2;
    for (size_t i = 0; i < life->n; i++) {
        const ln_block *block = &life->blocks[i];
        if (block->part_of != (int)i || block->mtype != mtype)
            continue;
        begins[block->first] += block->size;
        ends[block->last + 1] += block->size;
    }
    size_t alive = 0, most = 0;
    for (int time = 0; time <= life->end; time++) {
        alive += begins[time] - ends[time];
        if (alive > most)
            most = alive;
    }
    free(begins);
    return most;
}

static int by_offset(const void *a, const void *b)
{
    const ln_block *x = *(ln_block *const *)a, *y = *(ln_block *const *)b;
    if (x->mtype != y->mtype)
        return x->mtype < y->mtype ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int alive_together(const ln_block *a, const ln_block *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static int check_sorted(const ln_context *ctx, ln_block **sorted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const ln_block *a = sorted[i];
        for (size_t j = i + 1; j < n; j++) {
            const ln_block *b = sorted[j];
            if (b->mtype != a->mtype || b->offset >= a->offset + a->size)
                break;
            if (b->size && alive_together(a, b))
                return ln_fail(
                    ctx, "the memory plan lets '%s' and '%s' share memory while both are in use",
                    a->name, b->name);
        }
    }
    return 0;
}

int ln_lifetime_check(const ln_context *ctx, const ln_lifetime *life)
{
    ln_block **sorted = ln_alloc((life->n + 1) * sizeof(*sorted));
    size_t n = 0;
    if (!sorted)
        return ln_fail(ctx, "out of memory");
    for (size_t i = 0; i < life->n; i++)
        if (life->blocks[i].part_of == (int)i)
            sorted[n++] = &life->blocks[i];
    qsort(sorted, n, sizeof(*sorted), by_offset);
    const int status = check_sorted(ctx, sorted, n);
    ln_free(sorted);
    return status;
}
