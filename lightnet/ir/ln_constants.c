// SPDX-License-Identifier: Apache-2.0
// What is computed once: constants, when a context is loaded, and again when one of them was set.

#include "ir/ln_constants.h"

#include "ir/ln_context_ops.h"
#include "ir/ln_dynamic.h"
#include "ir/ln_from_file.h"
#include "ir/ln_weights.h"

// Weights that have been copied leave the memory again after this many bytes, so that the process
// never holds much of them twice.
enum { REST_SIZE = 256 << 10 };

typedef struct loading {
    const ln_context *ctx;
    int again;
    size_t copied; // bytes, since the maps were told to rest
} loading;

void ln_constants_rest(const ln_context *ctx)
{
    ln_weights_rest(ctx->weights);
    ln_weights_rest(ctx->given);
}

static void rest(loading *load)
{
    ln_constants_rest(load->ctx);
    load->copied = 0;
}

// Copies piece by piece. What is still missing counts as 0.
static void fetch(loading *load, ln_tensor_entry *te)
{
    const tl_tensor *weight = ln_weights_of(load->ctx, te->name);
    const ln_copy_func copy = ln_mem_type_copy_func(te->mtype, LN_MEM_CPU);
    const size_t size = weight ? tl_tensor_size(weight) : 0;
    if (!weight)
        ln_mem_type_info(te->mtype).memset_func(te->tensor->data, 0, tl_tensor_size(te->tensor));
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < REST_SIZE - load->copied ? size - at : REST_SIZE - load->copied;
        copy((char *)te->tensor->data + at, (const char *)weight->data + at, n);
        load->copied += n;
        if (load->copied == REST_SIZE)
            rest(load);
    }
    te->isfetched = 1;
}

void ln_constants_fetch_tensor(const ln_context *ctx, ln_tensor_entry *te)
{
    loading load = {.ctx = ctx};
    fetch(&load, te);
}

// Data of files that is wanted now; what lives on is fetched once only.
static void fetch_inputs(loading *load, const ln_op *op)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_in)
    {
        ln_tensor_entry *te = ln_tensor_table_find(load->ctx->tensor_table, tle->name);
        const ln_op *maker = te->isload ? ln_context_creater(load->ctx, te->name) : NULL;
        if (maker && !te->isfetched && ln_from_file_name(maker))
            fetch(load, te);
    }
}

static void fetch_lasting(loading *load, const ln_op *op)
{
    const char *name = ln_from_file_name(op);
    ln_tensor_entry *te = name ? ln_tensor_table_find(load->ctx->tensor_table, name) : NULL;
    if (te && te->isload)
        te->isfetched = 0;
    else if (te && !load->again && ln_weights_of(load->ctx, name))
        fetch(load, te);
}

static int compute(loading *load, ln_op *op)
{
    const ln_op_arg *op_arg = op->op_arg;
    fetch_lasting(load, op);
    if (load->again && !op_arg->tensors_in && !op->run)
        return 0;
    if (op_arg->at_load)
        fetch_inputs(load, op);
    if (ln_op_call(op, op->static_run))
        return -1;
    return op_arg->at_load ? ln_dynamic_run(op) : 0;
}

int ln_constants_compute(const ln_context *ctx, int again, const ln_constants_watch *watch)
{
    ln_op *op;
    loading load = {.ctx = ctx, .again = again};
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (compute(&load, op) || (watch && watch->func(ctx, op, watch->data)))
            return -1;
    }
    rest(&load);
    return 0;
}

void ln_constants_fetch(const ln_context *ctx)
{
    const ln_op *op;
    loading load = {.ctx = ctx};
    LN_LIST_FOREACH(op, ctx->ops)
    {
        fetch_lasting(&load, op);
    }
    rest(&load);
}

// The end of what runs need of the memory.
static size_t end_of(const ln_context *ctx)
{
    size_t end = 0;
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_op_arg *op_arg = op->op_arg;
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH(tle, op_arg->tensors_out)
        {
            const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
            const size_t last = te->offset + ln_tensor_entry_capacity(te);
            if (te->mtype == LN_MEM_CPU && !te->isload && last > end)
                end = last;
        }
        const size_t last = op_arg->scratch_offset + op_arg->scratch_size;
        if (!op_arg->at_load && op_arg->scratch_size && last > end)
            end = last;
    }
    return end;
}

void ln_constants_release(const ln_context *ctx)
{
    const size_t end = end_of(ctx), size = ctx->mem_sizes[LN_MEM_CPU];
    if (end < size)
        ln_mem_discard((char *)ctx->mem_starts[LN_MEM_CPU] + end, size - end);
}
