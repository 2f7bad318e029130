// SPDX-License-Identifier: Apache-2.0
// Runs the bodies of `branch_cpu` and `loop_cpu`.

#include "arch/cpu/ln_loop.h"

#include <stdint.h>
#include <string.h>

#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"

// Whether the single element of a tensor is not 0.
static int is_true(const tl_tensor *tensor)
{
    double number;
    tl_convert(&number, TL_DOUBLE, tensor->data, tensor->dtype);
    return number != 0;
}

static void copy_data(void *dst, const tl_tensor *src)
{
    if (src->len)
        memcpy(dst, src->data, tl_tensor_size(src));
}

// Branches

size_t ln_branch_memory(ln_op_arg *op_arg, const char *one, const char *other)
{
    const ln_context *a = ln_body_find(op_arg, one);
    const ln_context *b = a ? ln_body_find(op_arg, other) : NULL;
    if (!b)
        return 0;
    return ln_body_memory(a) > ln_body_memory(b) ? ln_body_memory(a) : ln_body_memory(b);
}

void ln_branch_prepare(ln_branch *branch)
{
    ln_branch_clear(branch);
    branch->given = ln_alloc_array((size_t)branch->n_src, sizeof(*branch->given));
    if (!branch->given)
        ln_op_fail_last(branch->op_arg);
    for (int k = 0; k < 2 && !branch->op_arg->failed; k++)
        if (branch->bodies[k])
            ln_body_prepare(branch->op_arg, branch->bodies[k]);
}

void ln_branch_run(const ln_branch *branch, const tl_exec *exec)
{
    ln_context *body = branch->bodies[is_true(branch->cond)];
    for (int k = 0; k < branch->n_src; k++)
        branch->given[k] = branch->src[k]->data;
    if (ln_body_run(branch->op_arg, body, exec->scratch, branch->given))
        return;
    for (int k = 0; k < branch->n_dst; k++) {
        ln_tensor_entry *dst = branch->dst[k];
        const tl_tensor *out = ln_body_output(body, k);
        if (dst->isdynamic && ln_op_set_dims(branch->op_arg, dst, out->ndim, out->dims))
            return;
        copy_data(dst->tensor->data, out);
    }
}

void ln_branch_clear(ln_branch *branch)
{
    ln_free(branch->given);
    branch->given = NULL;
}

// Loop-carried states

// The next value of state `k`, and the input of the body whose memory it uses, -1: none.
static const tl_tensor *next_state(const ln_loop *loop, int k)
{
    return ln_body_output(loop->body, loop->conditional + k);
}

static int source_of(const ln_loop *loop, int k)
{
    return ln_body_output_source(loop->body, loop->conditional + k);
}

// Saves the next states that are in memory of inputs, behind the body's memory; `back`: copies them
// from there to the inputs of the next iteration.
static void copy_aliased(const ln_loop *loop, char *memory, int back)
{
    size_t at = ln_body_memory(loop->body);
    for (int k = 0; k < loop->n_states; k++) {
        const size_t size = tl_tensor_size(loop->last[k]);
        if (source_of(loop, k) < 0 || !size)
            continue;
        if (back)
            memcpy(loop->last[k]->data, memory + at, size);
        else
            memcpy(memory + at, next_state(loop, k)->data, size);
        at += size;
    }
}

// Copies the next states to the inputs of the next iteration. A body may exchange states, so those
// in memory of inputs are saved before that is overwritten.
static void store_states(const ln_loop *loop, char *memory)
{
    copy_aliased(loop, memory, 0);
    for (int k = 0; k < loop->n_states; k++) {
        const size_t size = tl_tensor_size(loop->last[k]);
        if (source_of(loop, k) < 0 && size)
            memcpy(loop->last[k]->data, next_state(loop, k)->data, size);
    }
    copy_aliased(loop, memory, 1);
}

size_t ln_loop_memory(ln_op_arg *op_arg, const char *name)
{
    const ln_context *body = ln_body_find(op_arg, name);
    size_t size = body ? ln_body_memory(body) : 0;
    for (int i = 0; body && i < ln_body_num_outputs(body); i++)
        if (ln_body_output_source(body, i) >= 0 &&
            ln_size_add(size, tl_tensor_size(ln_body_output(body, i)), &size)) {
            ln_op_fail(op_arg, "body '%s' needs more memory than the address space has", name);
            return 0;
        }
    return size;
}

// Iterations

static char *part_at(const tl_tensor *stacked, int64_t i, int backward)
{
    const int64_t n = stacked->dims[0];
    const size_t size = n ? tl_tensor_size(stacked) / (size_t)n : 0;
    return (char *)stacked->data + size * (size_t)(backward ? n - 1 - i : i);
}

static int is_backward(const int *flags, int n, int i)
{
    return i < n && flags[i];
}

static void pass_rows(const ln_loop *loop, int64_t i)
{
    for (int k = 0; k < loop->n_rows; k++)
        loop->given[1 + loop->n_states + k] =
            part_at(loop->row[k], i, is_backward(loop->backward_rows, loop->n_backward_rows, k));
}

static void store_parts(const ln_loop *loop, int64_t i)
{
    for (int k = 0; k < loop->n_parts; k++) {
        const tl_tensor *part = ln_body_output(loop->body, loop->conditional + loop->n_states + k);
        char *at = part_at(loop->part[k]->tensor, i,
                           is_backward(loop->backward_parts, loop->n_backward_parts, k));
        copy_data(at, part);
    }
}

// Sets the length of the stacked outputs to `n` iterations.
static void set_parts(const ln_loop *loop, int64_t n)
{
    for (int k = 0; k < loop->n_parts; k++) {
        int dims[LN_MAXDIM];
        const tl_tensor *part = loop->part[k]->tensor;
        if (!loop->part[k]->isdynamic)
            continue;
        memcpy(dims, part->dims, (size_t)part->ndim * sizeof(*dims));
        dims[0] = (int)n;
        if (ln_op_set_dims(loop->op_arg, loop->part[k], part->ndim, dims))
            return;
    }
}

static int64_t max_trips(const ln_loop *loop)
{
    int64_t n = INT64_MAX;
    if (loop->trips)
        memcpy(&n, loop->trips->data, sizeof(n));
    if (loop->n_rows && n > loop->row[0]->dims[0])
        n = loop->row[0]->dims[0];
    return loop->max >= 0 && n > loop->max ? loop->max : n;
}

static void pass_states(const ln_loop *loop)
{
    for (int k = 0; k < loop->n_states; k++) {
        copy_data(loop->last[k]->data, loop->state[k]);
        loop->given[1 + k] = loop->last[k]->data;
    }
    for (int k = 0; k < loop->n_src; k++)
        loop->given[1 + loop->n_states + loop->n_rows + k] = loop->src[k]->data;
}

void ln_loop_prepare(ln_loop *loop)
{
    const size_t n = 1 + (size_t)loop->n_states + (size_t)loop->n_rows + (size_t)loop->n_src;
    ln_loop_clear(loop);
    loop->given = ln_alloc_array(n, sizeof(*loop->given));
    if (!loop->given)
        ln_op_fail_last(loop->op_arg);
    else if (loop->body)
        ln_body_prepare(loop->op_arg, loop->body);
}

void ln_loop_run(const ln_loop *loop, const tl_exec *exec)
{
    const int64_t n = max_trips(loop);
    int go_on = !loop->cond || is_true(loop->cond);
    int64_t i;
    pass_states(loop);
    loop->given[0] = &i;
    for (i = 0; i < n && go_on; i++) {
        pass_rows(loop, i);
        if (ln_body_run(loop->op_arg, loop->body, exec->scratch, loop->given))
            return;
        go_on = !loop->conditional || is_true(ln_body_output(loop->body, 0));
        store_parts(loop, i);
        store_states(loop, exec->scratch);
    }
    set_parts(loop, i);
}

void ln_loop_clear(ln_loop *loop)
{
    ln_free(loop->given);
    loop->given = NULL;
}
