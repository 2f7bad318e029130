// SPDX-License-Identifier: Apache-2.0
// Bodies: programs that an operator of another program runs.

#include "lightnet/ln_body.h"

#include <string.h>

#include "base/ln_list_end.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_dynamic.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_util.h"

/* Where a tensor of the body lies in a run. */
typedef struct place {
    tl_tensor *tensor;
    int given;     /* number of the input whose memory it lies in; -1: in the body's own */
    size_t offset; /* there */
} place;

/* The names in a list, to be found by their numbers. */
typedef struct names {
    const ln_list *list; /* whose names they are */
    const char **at;
    int n;
} names;

struct ln_body {
    char *name;
    int number; /* its place in the order of bodies */
    int used;   /* an operator names it */
    place *places;
    size_t n_places;
    names inputs, outputs; /* of the context's lists, once asked for */
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
    ln_list *node = root->body_names ? ln_list_prepend(NULL, ctx) : NULL;
    if (!node)
        return -1;
    if (ln_hash_insert(root->body_names, name, ctx) < 0) {
        ln_list_free(node);
        return -1;
    }
    ln_list_extend(&root->bodies, &root->last_body, node);
    *body = (struct ln_body){.name = name, .number = ln_hash_size(root->body_names)};
    ln_free(ctx->error);
    ln_limits_free(ctx->limits);
    ctx->error = root->error;
    ctx->limits = root->limits;
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

static void forget_names(names *known)
{
    ln_free(known->at);
    *known = (names){0};
}

// The interface of a body that operators run stays as it is, so an array of its names is made once.
// Without memory for that they are looked for in the list.
static void learn_names(names *known, const ln_list *list)
{
    const char *name;
    forget_names(known);
    known->n = ln_list_length(list);
    known->at = ln_alloc_array((size_t)known->n, sizeof(*known->at));
    if (!known->at)
        return;
    int i = 0;
    LN_LIST_FOREACH(name, list)
    {
        known->at[i++] = name;
    }
    known->list = list;
}

static const names *inputs_of(const ln_context *body)
{
    names *known = &body->body->inputs;
    if (!known->list || known->list != body->inputs)
        learn_names(known, body->inputs);
    return known;
}

static const names *outputs_of(const ln_context *body)
{
    names *known = &body->body->outputs;
    if (!known->list || known->list != body->outputs)
        learn_names(known, body->outputs);
    return known;
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
    const names *known = inputs_of(body);
    return known->at ? known->at[i] : ln_list_nth_data(body->inputs, i);
}

static const char *output_name(const ln_context *body, int i)
{
    const names *known = outputs_of(body);
    return known->at ? known->at[i] : ln_list_nth_data(body->outputs, i);
}

static const ln_tensor_entry *output_entry(const ln_context *body, int i)
{
    return ln_tensor_table_find(body->tensor_table, output_name(body, i));
}

const tl_tensor *ln_body_input(const ln_context *body, int i)
{
    return ln_tensor_table_find(body->tensor_table, input_name(body, i))->tensor;
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
    return (int)(intptr_t)ln_hash_find(body->input_names, root->name) - 1;
}

int ln_body_output_source(const ln_context *body, int i)
{
    return given_number(body, output_entry(body, i));
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

int ln_bodies_count(const ln_context *ctx)
{
    return ctx->body_names ? ln_hash_size(ctx->body_names) : 0;
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
    forget_names(&own->inputs);
    forget_names(&own->outputs);
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
    ctx->last_body = ln_list_end(ctx->bodies);
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
    ctx->bodies = ctx->last_body = NULL;
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
    int status = ln_limits_check(body);
    bind(body, memory, given);
    LN_LIST_FOREACH(op, status ? NULL : body->ops)
    {
        if ((status = ln_dynamic_run(op)))
            break;
    }
    body->mem_starts[LN_MEM_CPU] = NULL; // it is not the body's
    return status ? fail_in(op_arg, body) : 0;
}
