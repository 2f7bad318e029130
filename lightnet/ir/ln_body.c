// SPDX-License-Identifier: Apache-2.0
// Bodies: programs that an operator of another program runs.

#include "lightnet/ln_body.h"

#include <string.h>

#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_dynamic.h"
#include "lightnet/ln_util.h"

/* Where a tensor of the body lies in a run. */
typedef struct place {
    tl_tensor *tensor;
    int given;     /* number of the input whose memory it lies in; -1: in the body's own */
    size_t offset; /* there */
} place;

struct ln_body {
    char *name;
    int number; /* its place in the order of bodies */
    int used;   /* an operator names it */
    place *places;
    size_t n_places;
};

static ln_context *outermost(ln_context *ctx)
{
    return ctx->outer ? ctx->outer : ctx;
}

// Takes the three, on success alone.
static int enter(ln_context *root, ln_context *ctx, struct ln_body *body, char *name)
{
    if (!root->body_names)
        root->body_names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ln_list *longer = root->body_names ? ln_list_append(root->bodies, ctx) : NULL;
    if (!longer)
        return -1;
    if (ln_hash_insert(root->body_names, name, ctx) < 0) {
        root->bodies = ln_list_remove(longer, ctx);
        return -1;
    }
    root->bodies = longer;
    *body = (struct ln_body){.name = name, .number = ln_hash_size(root->body_names)};
    ln_free(ctx->error);
    ctx->error = root->error;
    ctx->outer = root;
    ctx->body = body;
    ctx->declared = LN_DECLARES_INPUTS | LN_DECLARES_OUTPUTS;
    return 0;
}

static ln_context *find(const ln_context *root, const char *name)
{
    return root->body_names ? ln_hash_find(root->body_names, name) : NULL;
}

ln_context *ln_body_create(ln_context *ctx, const char *name)
{
    ln_context *root = outermost(ctx);
    if (find(root, name)) {
        ln_fail(root, "there is a body '%s' already", name);
        return NULL;
    }
    ln_context *made = ln_context_create();
    struct ln_body *body = made ? ln_alloc(sizeof(*body)) : NULL;
    char *copy = body ? ln_strdup(name) : NULL;
    if (copy && !enter(root, made, body, copy))
        return made;
    ln_free(copy);
    ln_free(body);
    ln_context_free(made);
    ln_fail_memory(root);
    return NULL;
}

const char *ln_body_name(const ln_context *body)
{
    return body->body->name;
}

ln_context *ln_body_find(ln_op_arg *op_arg, const char *name)
{
    ln_context *ctx = op_arg->ctx;
    ln_context *body = ctx ? find(outermost(ctx), name) : NULL;
    if (body && (!ctx->outer || body->body->number < ctx->body->number))
        return body;
    if (body)
        ln_op_fail(op_arg, "body '%s' does not stand before '%s', which is to run it", name,
                   ctx->body->name);
    else
        ln_op_fail(op_arg, "the model has no body '%s'", name);
    return NULL;
}

/* Interface */

int ln_body_num_inputs(const ln_context *body)
{
    return ln_list_length(body->inputs);
}

int ln_body_num_outputs(const ln_context *body)
{
    return ln_list_length(body->outputs);
}

static const ln_tensor_entry *entry_at(const ln_context *body, const ln_list *names, int i)
{
    return ln_tensor_table_find(body->tensor_table, ln_list_nth_data(names, i));
}

const tl_tensor *ln_body_input(const ln_context *body, int i)
{
    return entry_at(body, body->inputs, i)->tensor;
}

const tl_tensor *ln_body_output(const ln_context *body, int i)
{
    return entry_at(body, body->outputs, i)->tensor;
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
    const tl_tensor *there = ln_tensor_table_find(body->tensor_table, name)->tensor;
    if (there->dtype == dtype && there->ndim == ndim &&
        (!ndim || !memcmp(there->dims, dims, (size_t)ndim * sizeof(*dims))))
        return 0;
    return ln_op_fail(op_arg, "tensor '%s' of body '%s' is %s %s, expected %s %s", name,
                      body->body->name, tl_dtype_name(there->dtype),
                      ln_sprint_shape(is, sizeof(is), there->ndim, there->dims),
                      tl_dtype_name(dtype), ln_sprint_shape(wanted, sizeof(wanted), ndim, dims));
}

static int check_input(ln_op_arg *op_arg, const ln_context *body, const char *name, int ndim,
                       const int *dims, tl_dtype dtype)
{
    if (ln_context_is_mutated(body, name))
        return ln_op_fail(op_arg, "body '%s' writes its input '%s', expected that it only reads it",
                          body->body->name, name);
    return check(op_arg, body, name, ndim, dims, dtype);
}

int ln_body_check_input(ln_op_arg *op_arg, const ln_context *body, int i, int ndim, const int *dims,
                        tl_dtype dtype)
{
    return check_input(op_arg, body, ln_list_nth_data(body->inputs, i), ndim, dims, dtype);
}

int ln_body_check_inputs(ln_op_arg *op_arg, const ln_context *body, int first, int n,
                         const tl_tensor *const *tensors)
{
    const ln_list *node = ln_list_nth(body->inputs, first);
    for (int i = 0; i < n; i++, node = node->next)
        if (check_input(op_arg, body, node->data, tensors[i]->ndim, tensors[i]->dims,
                        tensors[i]->dtype))
            return -1;
    return 0;
}

int ln_body_check_output(ln_op_arg *op_arg, const ln_context *body, int i, int ndim,
                         const int *dims, tl_dtype dtype)
{
    const char *name = ln_list_nth_data(body->outputs, i);
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
    const char *name = ln_list_nth_data(body->outputs, i);
    const tl_tensor *there = ln_tensor_table_find(body->tensor_table, name)->tensor;
    for (int k = 0; k < ndim && k < there->ndim; k++)
        if (there->dims[k] > dims[k])
            return check(op_arg, body, name, ndim, dims, dtype);
    return check(op_arg, body, name, ndim, there->dims, dtype);
}

// The number of the input whose memory the tensor lies in; -1: none.
static int given_number(const ln_context *body, const ln_tensor_entry *te)
{
    const ln_tensor_entry *root = ln_tensor_table_root(body->tensor_table, te);
    const char *name;
    int i = 0;
    LN_LIST_FOREACH(name, ln_body_is_given(body, root) ? body->inputs : NULL)
    {
        if (ln_streq(name, root->name))
            return i;
        i++;
    }
    return -1;
}

int ln_body_output_source(const ln_context *body, int i)
{
    return given_number(body, entry_at(body, body->outputs, i));
}

size_t ln_body_memory(const ln_context *body)
{
    return body->mem_sizes[LN_MEM_CPU];
}

double ln_body_macs(const ln_context *body)
{
    const ln_op *op;
    double macs = 0;
    LN_LIST_FOREACH(op, body->ops)
    {
        macs += op->op_arg->macs;
    }
    return macs;
}

int ln_body_is_given(const ln_context *ctx, const ln_tensor_entry *te)
{
    return ctx->outer && ln_hash_find(ctx->input_names, te->name);
}

/* Life */

static int init_body(ln_context *body)
{
    return ln_context_index_names(body) || ln_context_init_ops(body)
               ? ln_fail_at(body, "body '%s'", body->body->name)
               : 0;
}

int ln_bodies_init(ln_context *ctx)
{
    ln_context *body;
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        if (init_body(body))
            return -1;
    }
    return 0;
}

void ln_bodies_share_settings(ln_context *ctx)
{
    ln_context *body;
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        body->msg_func = ctx->msg_func;
        body->msg_data = ctx->msg_data;
        body->isa = ctx->isa;
        body->optimize = ctx->optimize;
        body->disabled = ctx->disabled;
        body->tuned = ctx->tuned;
        body->pool = ctx->pool;
        body->seed = ctx->seed;
    }
}

static void forget_places(ln_context *body)
{
    ln_free(body->body->places);
    body->body->places = NULL;
    body->body->n_places = 0;
}

void ln_bodies_unload(ln_context *ctx)
{
    ln_context *body;
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        forget_places(body);
    }
}

static void free_body(ln_context *body)
{
    struct ln_body *own = body->body;
    forget_places(body);
    ln_context_free(body);
    ln_free(own->name);
    ln_free(own);
}

static void mark_used(const ln_context *root, const ln_context *program)
{
    const ln_op *op;
    LN_LIST_FOREACH(op, program->ops)
    {
        const ln_param_entry *param;
        LN_LIST_FOREACH(param, op->op_arg->params)
        {
            const int is_text = param->type == LN_PARAM_STRING && param->value_string;
            ln_context *body = is_text ? find(root, param->value_string) : NULL;
            if (body)
                body->body->used = 1;
        }
    }
}

void ln_bodies_prune(ln_context *ctx)
{
    ln_context *body;
    mark_used(ctx, ctx);
    ctx->bodies = ln_list_reverse(ctx->bodies);
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        if (body->body->used)
            mark_used(ctx, body);
    }
    ctx->bodies = ln_list_reverse(ctx->bodies);
    for (ln_list **link = &ctx->bodies; *link;) {
        ln_list *node = *link;
        body = node->data;
        if (body->body->used) {
            link = &node->next;
            continue;
        }
        *link = node->next;
        node->next = NULL;
        ln_list_free(node);
        ln_hash_remove(ctx->body_names, body->body->name);
        free_body(body);
    }
}

void ln_bodies_free(ln_context *ctx)
{
    ln_context *body;
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        free_body(body);
    }
    ln_list_free(ctx->bodies);
    ln_hash_free(ctx->body_names);
    ctx->bodies = NULL;
    ctx->body_names = NULL;
}

/* Running */

static int makes_input(const ln_context *body, const ln_op *op)
{
    const ln_list *outs = op->op_arg->tensors_out;
    return outs && ln_hash_find(body->input_names, ((ln_tensor_list_entry *)outs->data)->name);
}

int ln_body_check_ops(const ln_context *body)
{
    const ln_op *op;
    LN_LIST_FOREACH(op, body->ops)
    {
        if (op->static_run && !op->run && !makes_input(body, op))
            return ln_fail(body,
                           "operator '%s' (%s) of body '%s' makes a constant, expected that the "
                           "body is given it as an input",
                           op->op_arg->name, op->op_arg->optype, body->body->name);
    }
    return 0;
}

static place place_of(const ln_context *body, const ln_tensor_entry *te)
{
    const int given = given_number(body, te);
    const ln_tensor_entry *root = ln_tensor_table_root(body->tensor_table, te);
    return (place){te->tensor, given, given < 0 ? te->offset : te->offset - root->offset};
}

static int find_places(ln_context *body)
{
    const ln_op *op;
    place *at = ln_alloc_array((size_t)ln_hash_size(body->tensor_table), sizeof(*at));
    if (!at)
        return ln_fail_last(body);
    forget_places(body);
    body->body->places = at;
    LN_LIST_FOREACH(op, body->ops)
    {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
        {
            at[body->body->n_places++] =
                place_of(body, ln_tensor_table_find(body->tensor_table, tle->name));
        }
    }
    return 0;
}

// Bodies within it, and whatever else needs it.
static int prepare_ops(const ln_context *body)
{
    ln_op *op;
    LN_LIST_FOREACH(op, body->ops)
    {
        if (op->run && ln_op_call(op, op->static_run))
            return -1;
    }
    return 0;
}

static int fail_in(ln_op_arg *op_arg, const ln_context *body)
{
    ln_fail_at(body, "body '%s'", body->body->name);
    return ln_op_fail(op_arg, "its body fails");
}

int ln_body_prepare(ln_op_arg *op_arg, ln_context *body)
{
    body->pool = body->outer->pool;
    body->random = body->seed;
    if (!body->target)
        return ln_op_fail(op_arg, "body '%s' is not compiled", body->body->name);
    return ln_body_check_ops(body) || ln_context_forget_runs(body) || ln_context_check_plan(body) ||
                   find_places(body) || prepare_ops(body)
               ? fail_in(op_arg, body)
               : 0;
}

static void bind(ln_context *body, void *memory, const void *const *given)
{
    const struct ln_body *b = body->body;
    body->mem_starts[LN_MEM_CPU] = memory;
    for (const place *at = b->places; at < b->places + b->n_places; at++)
        at->tensor->data =
            at->given < 0 ? (char *)memory + at->offset : (char *)given[at->given] + at->offset;
}

int ln_body_run(ln_op_arg *op_arg, ln_context *body, void *memory, const void *const *given)
{
    ln_op *op;
    int status = 0;
    bind(body, memory, given);
    LN_LIST_FOREACH(op, body->ops)
    {
        if ((status = ln_dynamic_run(op)))
            break;
    }
    body->mem_starts[LN_MEM_CPU] = NULL; // it is not the body's
    return status ? fail_in(op_arg, body) : 0;
}
