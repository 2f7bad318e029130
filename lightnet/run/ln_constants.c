// SPDX-License-Identifier: Apache-2.0
// Computes constants once, when a context is loaded, and again after one of them was set.

#include "run/ln_load.h"

#include "ir/ln_context_ops.h"
#include "ir/ln_dynamic.h"
#include "ir/ln_from_file.h"
#include "ir/ln_limits.h"
#include "run/ln_update.h"
#include "ir/ln_weights.h"
#include "run/ln_sharing.h"

typedef struct loading {
    const ln_context *ctx;
    int again; // as for ln_constants_compute: keep data that callers may have set
} loading;

// In parts, to memory of a device.
static int copy_to_device(const ln_context *ctx, const ln_weight *weight, const ln_tensor_entry *te)
{
    unsigned char part[LN_VIEW_SIZE];
    const ln_copy_func copy = ln_mem_type_copy_func(te->mtype, LN_MEM_CPU);
    const size_t size = tl_tensor_size(weight->tensor);
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < sizeof(part) ? size - at : sizeof(part);
        if (ln_weight_read(weight, at, part, n, ctx->error))
            return -1;
        copy((char *)te->tensor->data + at, part, n);
    }
    return 0;
}

// In pieces, since a file may be slow, and loading may be cancelled.
static int read_to_cpu(const ln_context *ctx, const ln_weight *weight, const ln_tensor_entry *te)
{
    enum { PIECE_SIZE = 4 << 20 };
    const size_t size = tl_tensor_size(weight->tensor);
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < PIECE_SIZE ? size - at : PIECE_SIZE;
        if (ln_limits_check(ctx) ||
            ln_weight_read(weight, at, (char *)te->tensor->data + at, n, ctx->error))
            return -1;
    }
    return 0;
}

// Reads directly from the file to the tensor's memory, so that each weight is in memory once.
// Fills the tensor with zeros if it has no data.
static int fetch(const loading *load, ln_tensor_entry *te)
{
    const ln_weight *weight = ln_weights_of(load->ctx, te->name);
    int status = 0;
    if (!weight)
        ln_mem_type_info(te->mtype).memset_func(te->tensor->data, 0, tl_tensor_size(te->tensor));
    else
        status = (te->mtype == LN_MEM_CPU ? read_to_cpu : copy_to_device)(load->ctx, weight, te);
    if (!status)
        te->isfetched = LN_FETCHED_EARLIER;
    return status;
}

int ln_constants_fetch_tensor(const ln_context *ctx, ln_tensor_entry *te)
{
    const loading load = {.ctx = ctx};
    return fetch(&load, te);
}

// Reads the file data that only operators at load read, when this one needs it.
static int fetch_inputs(const loading *load, const ln_op *op)
{
    ln_tensor_entry *te;
    LN_INPUTS_FOREACH (te, op->op_arg) {
        const ln_op *producer = te->isload ? ln_entry_creater(te) : NULL;
        if (producer && te->isfetched == LN_FETCHED_NEVER && ln_from_file_name(producer) &&
            fetch(load, te))
            return -1;
    }
    return 0;
}

// Reads the file data that runs read, once. Data that only loading reads counts as not fetched, for
// fetch_inputs.
static int fetch_lasting(const loading *load, const ln_op *op)
{
    const char *name = ln_from_file_name(op);
    ln_tensor_entry *te = name ? ln_tensor_table_find(load->ctx->tensor_table, name) : NULL;
    if (te && te->isload)
        te->isfetched = LN_FETCHED_NEVER;
    else if (te && !load->again && ln_weights_of(load->ctx, name))
        return fetch(load, te);
    return 0;
}

static int compute(const loading *load, ln_op *op)
{
    const ln_op_arg *op_arg = op->op_arg;
    if (ln_limits_check(load->ctx))
        return -1;
    if (ln_sharing_has(load->ctx, op))
        return 0;
    if (fetch_lasting(load, op))
        return -1;
    if (load->again && !op_arg->tensors_in && !op->run)
        return 0;
    if (op_arg->at_load && fetch_inputs(load, op))
        return -1;
    if (ln_op_call(op, op->static_run) || ln_limits_check_op(op->op_arg))
        return -1;
    return op_arg->at_load ? ln_dynamic_run(op) : 0;
}

int ln_constants_compute(const ln_context *ctx, int again, const ln_constants_watch *watch)
{
    const loading load = {.ctx = ctx, .again = again};
    LN_FOREACH (ln_op *, op, ctx->ops)
        if (compute(&load, op) || (watch && watch->func(ctx, op, watch->data)))
            return -1;
    return 0;
}

int ln_constants_fetch(const ln_context *ctx)
{
    const loading load = {.ctx = ctx};
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (fetch_lasting(&load, op))
            return -1;
    return 0;
}

// The end of the memory that runs need.
static size_t end_of(const ln_context *ctx)
{
    size_t end = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const ln_op_arg *op_arg = op->op_arg;
        const ln_tensor_entry *te;
        LN_OUTPUTS_FOREACH (te, op_arg) {
            const size_t last = te->offset + ln_tensor_entry_capacity(te);
            if (te->mtype == LN_MEM_CPU && !te->isload && last > end)
                end = last;
        }
        const size_t last = op_arg->scratch_offset + op_arg->scratch_size;
        if (!op_arg->at_load && op_arg->scratch_size && last > end &&
            ln_op_scratch_type(op_arg) == LN_MEM_CPU)
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
