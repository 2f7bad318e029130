// SPDX-License-Identifier: Apache-2.0
// Bodies: programs that an operator of another program runs.

#include "lightnet/ln_body.h"

#include <string.h>

#include "base/ln_name.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "lightnet/ln_util.h"

ln_context *ln_body_outermost(ln_context *ctx)
{
    return ctx->outer ? ctx->outer : ctx;
}

ln_context *ln_body_named(const ln_context *root, const char *name)
{
    return root->body_names ? ln_hash_find(root->body_names, name) : NULL;
}

const char *ln_body_name(const ln_context *body)
{
    return body->body->name;
}

ln_context *ln_body_find(ln_op_arg *op_arg, const char *name)
{
    ln_context *ctx = op_arg->ctx;
    ln_context *body = ctx ? ln_body_named(ln_body_outermost(ctx), name) : NULL;
    if (body && (!ctx->outer || body->body->number < ctx->body->number))
        return body;
    if (body)
        ln_op_fail(op_arg, "body '%s' must come before '%s', which runs it", name, ctx->body->name);
    else
        ln_op_fail(op_arg, "the model has no body '%s'", name);
    return NULL;
}

// Interface

static void forget_names(ln_body_names *known)
{
    ln_free(known->at);
    *known = (ln_body_names){0};
}

// The inputs and outputs of a body never change once operators run it, so their names are cached
// in arrays. If memory runs out, the list is searched.
static void cache_names(ln_body_names *known, const ln_list *list)
{
    forget_names(known);
    known->n = ln_list_length(list);
    known->at = ln_alloc_array((size_t)known->n, sizeof(*known->at));
    if (!known->at)
        return;
    int i = 0;
    LN_FOREACH (const char *, name, list)
        known->at[i++] = name;
    known->list = list;
}

static const ln_body_names *inputs_of(const ln_context *body)
{
    ln_body_names *known = &body->body->inputs;
    if (!known->list || known->list != body->inputs)
        cache_names(known, body->inputs);
    return known;
}

static const ln_body_names *outputs_of(const ln_context *body)
{
    ln_body_names *known = &body->body->outputs;
    if (!known->list || known->list != body->outputs)
        cache_names(known, body->outputs);
    return known;
}

void ln_body_forget_names(ln_context *body)
{
    forget_names(&body->body->inputs);
    forget_names(&body->body->outputs);
}

int ln_body_num_inputs(const ln_context *body)
{
    return inputs_of(body)->n;
}

int ln_body_num_outputs(const ln_context *body)
{
    return outputs_of(body)->n;
}

static const char *input_name(const ln_context *body, int i)
{
    const ln_body_names *known = inputs_of(body);
    return known->at ? known->at[i] : ln_list_nth_data(body->inputs, i);
}

static const char *output_name(const ln_context *body, int i)
{
    const ln_body_names *known = outputs_of(body);
    return known->at ? known->at[i] : ln_list_nth_data(body->outputs, i);
}

static const ln_tensor_entry *output_entry(const ln_context *body, int i)
{
    return ln_tensor_table_find(body->tensor_table, output_name(body, i));
}

const tl_tensor *ln_body_output(const ln_context *body, int i)
{
    return output_entry(body, i)->tensor;
}

const tl_tensor *ln_body_find_output(ln_op_arg *op_arg, const char *name, int i)
{
    const ln_context *body = ln_body_find(op_arg, name);
    const int n = body ? ln_body_num_outputs(body) : 0;
    if (i < n)
        return ln_body_output(body, i);
    if (body)
        ln_op_fail(op_arg, "body '%s' has %d outputs, expected at least %d", name, n, i + 1);
    return NULL;
}

int ln_body_check_numbers(ln_op_arg *op_arg, const ln_context *body, int n_inputs, int n_outputs)
{
    const int ins = ln_body_num_inputs(body), outs = ln_body_num_outputs(body);
    if (ins == n_inputs && outs == n_outputs)
        return 0;
    return ln_op_fail(op_arg, "body '%s' has %d inputs and %d outputs, expected %d and %d",
                      body->body->name, ins, outs, n_inputs, n_outputs);
}

static int check(ln_op_arg *op_arg, const ln_context *body, const char *name, int ndim,
                 const int *dims, tl_dtype dtype)
{
    char is[LN_MAX_SHAPE], wanted[LN_MAX_SHAPE];
    const tl_tensor *found = ln_tensor_table_find(body->tensor_table, name)->tensor;
    if (found->dtype == dtype && found->ndim == ndim &&
        (!ndim || !memcmp(found->dims, dims, (size_t)ndim * sizeof(*dims))))
        return 0;
    return ln_op_fail(op_arg, "tensor '%s' of body '%s' is %s %s, expected %s %s", name,
                      body->body->name, tl_dtype_name(found->dtype),
                      ln_sprint_shape(is, sizeof(is), found->ndim, found->dims),
                      tl_dtype_name(dtype), ln_sprint_shape(wanted, sizeof(wanted), ndim, dims));
}

static int check_input(ln_op_arg *op_arg, const ln_context *body, const char *name, int ndim,
                       const int *dims, tl_dtype dtype)
{
    if (ln_context_is_mutated(body, name))
        return ln_op_fail(op_arg, "body '%s' writes its input '%s', expected a read-only input",
                          body->body->name, name);
    return check(op_arg, body, name, ndim, dims, dtype);
}

int ln_body_check_input(ln_op_arg *op_arg, const ln_context *body, int i, int ndim, const int *dims,
                        tl_dtype dtype)
{
    return check_input(op_arg, body, input_name(body, i), ndim, dims, dtype);
}

int ln_body_check_inputs(ln_op_arg *op_arg, const ln_context *body, int first, int n,
                         const tl_tensor *const *tensors)
{
    for (int i = 0; i < n; i++)
        if (check_input(op_arg, body, input_name(body, first + i), tensors[i]->ndim,
                        tensors[i]->dims, tensors[i]->dtype))
            return -1;
    return 0;
}

int ln_body_check_output(ln_op_arg *op_arg, const ln_context *body, int i, int ndim,
                         const int *dims, tl_dtype dtype)
{
    const char *name = output_name(body, i);
    if (ln_tensor_table_find(body->tensor_table, name)->isdynamic)
        return ln_op_fail(
            op_arg,
            "the size of tensor '%s' of body '%s' is known only at run time, expected "
            "a fixed one",
            name, body->body->name);
    return check(op_arg, body, name, ndim, dims, dtype);
}

int ln_body_check_bound(ln_op_arg *op_arg, const ln_context *body, int i, int ndim, const int *dims,
                        tl_dtype dtype)
{
    const char *name = output_name(body, i);
    const tl_tensor *found = ln_tensor_table_find(body->tensor_table, name)->tensor;
    for (int k = 0; k < ndim && k < found->ndim; k++)
        if (found->dims[k] > dims[k])
            return check(op_arg, body, name, ndim, dims, dtype);
    return check(op_arg, body, name, ndim, found->dims, dtype);
}

int ln_body_given_number(const ln_context *body, const ln_tensor_entry *te)
{
    const ln_tensor_entry *root = ln_tensor_table_root(body->tensor_table, te);
    return (int)(intptr_t)ln_hash_find(body->input_names, root->name) - 1;
}

int ln_body_output_source(const ln_context *body, int i)
{
    return ln_body_given_number(body, output_entry(body, i));
}

size_t ln_body_memory(const ln_context *body)
{
    return body->mem_sizes[LN_MEM_CPU];
}

double ln_body_macs(const ln_context *body)
{
    double macs = 0;
    LN_FOREACH (const ln_op *, op, body->ops)
        macs += op->op_arg->macs;
    return macs;
}

int ln_body_is_given(const ln_context *ctx, const ln_tensor_entry *te)
{
    return ctx->outer && ln_hash_find(ctx->input_names, te->name);
}

// Constants, while it is rewritten

// The number of the input `name`, if it counts as constant; else -1.
static int constant_number(const ln_context *ctx, const char *name)
{
    const int i = ctx->outer ? (int)(intptr_t)ln_hash_find(ctx->input_names, name) - 1 : -1;
    return i >= 0 && i < ctx->body->n_constant && ctx->body->is_constant[i] ? i : -1;
}

int ln_body_is_given_constant(const ln_context *ctx, const ln_tensor_entry *te)
{
    return constant_number(ctx, te->name) >= 0;
}

int ln_body_num_src(const ln_op *runner)
{
    int n = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, runner->op_arg->tensors_in)
        n += ln_name_number(tle->arg_name, "src") >= 0;
    return n;
}

// What the runner passes as input `i` of the body, one of the last inputs: its own inputs `src`.
static const ln_tensor_entry *given_by_runner(const ln_context *body, int i)
{
    const ln_op *runner = body->body->runner;
    const int number = i - (ln_body_num_inputs(body) - ln_body_num_src(runner));
    LN_FOREACH (const ln_tensor_list_entry *, tle, runner->op_arg->tensors_in)
        if (ln_name_number(tle->arg_name, "src") == number)
            return ln_entry_of(tle, runner->op_arg->tensor_table);
    return NULL;
}

const ln_tensor_entry *ln_body_origin(const ln_context **ctx, const ln_tensor_entry *te)
{
    for (int i; (i = constant_number(*ctx, te->name)) >= 0;) {
        te = given_by_runner(*ctx, i);
        *ctx = (*ctx)->body->runner->op_arg->ctx;
    }
    return te;
}

// Running

int ln_body_check_ops(const ln_context *body)
{
    LN_FOREACH (const ln_op *, op, body->ops) {
        const ln_tensor_list_entry *const out =
            op->op_arg->tensors_out ? op->op_arg->tensors_out->data : NULL;
        const int produces_input = out && ln_hash_find(body->input_names, out->name);
        if (op->static_run && !op->run && !produces_input)
            return ln_fail(
                body,
                "operator '%s' (%s) of body '%s' creates a constant, expected an input of the body",
                op->op_arg->name, op->op_arg->optype, body->body->name);
        if (ln_op_scratch_type(op->op_arg) != LN_MEM_CPU) // where a body has no memory
            return ln_fail(body,
                           "operator '%s' (%s) of body '%s' computes in %s, expected LN_MEM_CPU",
                           op->op_arg->name, op->op_arg->optype, body->body->name,
                           ln_mem_type_name(op->op_arg->mtype));
    }
    return 0;
}