// SPDX-License-Identifier: Apache-2.0
// Moves emitted operators to bodies.

#include "front/onnx/ln_onnx_body.h"

#include <stdio.h>
#include <string.h>

#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_bind.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"

void ln_onnx_body_begin(ln_onnx_node *n, ln_onnx_body *body, int max_inputs)
{
    *body = (ln_onnx_body){.before = n->model->base.ctx->last};
    body->inputs = ln_translation_alloc(&n->model->base, ((size_t)max_inputs + 1) * sizeof(char *));
}

const char *ln_onnx_body_input(ln_onnx_node *n, ln_onnx_body *body, tl_dtype dtype, int ndim,
                               const int *dims)
{
    const char *name = ln_translation_name(&n->model->base, "given");
    tl_tensor *like = name ? tl_tensor_create(NULL, ndim, dims, dtype) : NULL;
    if (!like)
        ln_emit_fail_memory(&n->emit);
    else if (ln_translation_source(&n->model->base, name, like, 0))
        ln_onnx_set_variation(n->model, name, LN_ONNX_UNKNOWN);
    tl_tensor_free(like);
    if (ln_onnx_failed(n))
        return NULL;
    body->inputs[body->n_inputs++] = name;
    return name;
}

// Moving operators to a body

typedef struct extraction {
    ln_onnx_node *n;
    ln_onnx_body *body;
    ln_hash *inside;   // tensors produced in the body
    ln_hash *captured; // tensors read in the body and produced outside
} extraction;

static int has(const ln_hash *set, const char *tensor)
{
    return ln_hash_find_extended(set, tensor, NULL, NULL);
}

static void insert(extraction *f, ln_hash *set, const char *tensor)
{
    if (ln_hash_insert(set, tensor, NULL) < 0)
        ln_emit_fail_memory(&f->n->emit);
}

static int reads_inside(const extraction *f, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (has(f->inside, tle->name))
            return 1;
    return 0;
}

static int varies(const ln_onnx_node *n, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (ln_onnx_variation_of(n->model, tle->name) != LN_ONNX_CONSTANT)
            return 1;
    return 0;
}

static int program_has_effect(const ln_context *root, const ln_context *program);

// Whether the operator, or one in its bodies, has a side effect: random numbers, or a failure.
static int has_effect(const ln_context *root, const ln_op *op)
{
    if (ln_op_has_effect(op))
        return 1;
    LN_FOREACH (const ln_param_entry *, param, root->bodies ? op->op_arg->params : NULL) {
        const int is_text = param->type == LN_PARAM_STRING && param->value_string;
        const ln_context *body = is_text ? ln_body_named(root, param->value_string) : NULL;
        if (body && program_has_effect(root, body))
            return 1;
    }
    return 0;
}

static int program_has_effect(const ln_context *root, const ln_context *program)
{
    LN_FOREACH (const ln_op *, op, program->ops)
        if (has_effect(root, op))
            return 1;
    return 0;
}

// Whether the operator can fail, so that only runs that reach the body may compute it. Bodies have
// no inputs of unknown sizes, so an operator with such inputs stays outside.
static int must_run_inside(const ln_op *op)
{
    return op->op_arg->can_fail && !op->op_arg->isdynamic;
}

static void select_op(extraction *f, ln_op *op)
{
    ln_onnx_body *body = f->body;
    body->ops[body->n_ops++] = op;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        insert(f, f->inside, tle->name);
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        if (has(f->inside, tle->name) || has(f->captured, tle->name))
            continue;
        body->captures[body->n_captures++] =
            ln_translation_print(&f->n->model->base, "%s", tle->name);
        insert(f, f->captured, tle->name);
    }
}

static const ln_list *first_emitted(const ln_onnx_node *n, const ln_onnx_body *body)
{
    return body->before ? body->before->next : n->model->base.ctx->ops;
}

// Allocates the lists for all candidates, and an operator for each output.
static void reserve_lists(extraction *f, int n_outputs)
{
    size_t n_ops = (size_t)n_outputs, n_read = (size_t)n_outputs;
    for (const ln_list *node = first_emitted(f->n, f->body); node; node = node->next) {
        const ln_op *op = node->data;
        n_ops++;
        n_read += (size_t)ln_tensor_list_length(op->op_arg->tensors_in);
    }
    ln_onnx_model *m = f->n->model;
    f->body->ops = ln_translation_alloc(&m->base, (n_ops + 1) * sizeof(ln_op *));
    f->body->captures = ln_translation_alloc(&m->base, (n_read + 1) * sizeof(char *));
    f->body->outputs = ln_translation_alloc(&m->base, ((size_t)n_outputs + 1) * sizeof(char *));
}

static void select_ops(extraction *f)
{
    for (int i = 0; i < f->body->n_inputs; i++)
        insert(f, f->inside, f->body->inputs[i]);
    for (const ln_list *node = first_emitted(f->n, f->body); node; node = node->next) {
        ln_op *op = node->data;
        // Loop-invariant operators stay outside, unless they can fail.
        const int is_loop = f->body->n_inputs > 0, has_inputs = op->op_arg->tensors_in != NULL;
        if (!ln_onnx_failed(f->n) &&
            (has_effect(f->n->model->base.ctx, op) || reads_inside(f, op) || must_run_inside(op) ||
             (!is_loop && has_inputs && varies(f->n, op))))
            select_op(f, op);
    }
}

// Copies outputs that are duplicates or produced outside: each is a separate tensor of the body.
static void select_outputs(extraction *f, int n_outputs, const char *const *outputs)
{
    ln_hash *used = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!used)
        ln_emit_fail_memory(&f->n->emit);
    for (int i = 0; i < n_outputs && !ln_onnx_failed(f->n); i++) {
        const char *tensor = outputs[i];
        if (!has(f->inside, tensor) || has(used, tensor)) {
            tensor = ln_emit_simple(&f->n->emit, LN_OP_FORWARD, tensor, LN_EMIT_TEMP);
            if (tensor)
                select_op(f, ln_context_creater(f->n->model->base.ctx, tensor));
        }
        if (tensor)
            insert(f, used, tensor);
        f->body->outputs[f->body->n_outputs++] =
            ln_translation_print(&f->n->model->base, "%s", tensor);
    }
    ln_hash_free(used);
}

void ln_onnx_body_end(ln_onnx_node *n, ln_onnx_body *body, int n_outputs,
                      const char *const *outputs)
{
    extraction f = {.n = n,
                    .body = body,
                    .inside = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL),
                    .captured = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL)};
    if (!f.inside || !f.captured)
        ln_emit_fail_memory(&n->emit);
    reserve_lists(&f, n_outputs);
    if (!ln_onnx_failed(n)) {
        select_ops(&f);
        select_outputs(&f, n_outputs, outputs);
    }
    ln_hash_free(f.inside);
    ln_hash_free(f.captured);
}

// Filling the body

static int copy_inputs(const ln_onnx_node *n, ln_context *made, int len, const char *const *names)
{
    ln_translation inner = {.ctx = made, .file = n->model->base.file};
    for (int i = 0; i < len; i++)
        if (ln_context_push_input(made, names[i]) ||
            !ln_translation_source(&inner, names[i], ln_onnx_tensor_of(n, names[i]), 0))
            return -1;
    return 0;
}

static int copy_ops(ln_context *made, const ln_onnx_body *body)
{
    for (int i = 0; i < body->n_ops; i++) {
        ln_list *end = NULL;
        ln_op *copy = ln_op_copy(body->ops[i]);
        if (!copy || ln_context_add_op(made, &end, copy))
            return -1;
    }
    for (int i = 0; i < body->n_outputs; i++)
        if (ln_context_push_output(made, body->outputs[i]))
            return -1;
    return 0;
}

static void remove_op(ln_onnx_node *n, ln_op *op)
{
    ln_list *position = op->op_arg->node;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        ln_hash_remove(n->model->varying, tle->name);
        ln_hash_remove(n->model->values, tle->name);
        ln_hash_remove(n->model->unfolded, tle->name);
    }
    if (ln_context_remove_op(n->model->base.ctx, &position))
        ln_emit_fail_memory(&n->emit);
}

const char *ln_onnx_body_make(ln_onnx_node *n, ln_onnx_body *body, int n_captures,
                              const char *const *captures)
{
    const LnOnnx__Node *p = n->proto;
    const char *name = ln_onnx_failed(n)
                           ? NULL
                           : ln_translation_print(&n->model->base, "%.200s_%d",
                                                  p->name && *p->name ? p->name : p->op_type,
                                                  ln_bodies_count(n->model->base.ctx));
    ln_context *made = name ? ln_body_create(n->model->base.ctx, name) : NULL;
    if (!made || copy_inputs(n, made, body->n_inputs, body->inputs) ||
        copy_inputs(n, made, n_captures, captures) || copy_ops(made, body))
        ln_emit_fail_memory(&n->emit);
    // Consumers are removed before producers.
    for (int i = body->n_ops; i-- > 0 && !ln_onnx_failed(n);)
        remove_op(n, body->ops[i]);
    for (int i = body->n_inputs; i-- > 0 && !ln_onnx_failed(n);)
        remove_op(n, ln_context_creater(n->model->base.ctx, body->inputs[i]));
    return ln_onnx_failed(n) ? NULL : name;
}

// Bodies that do not fit

// Requests the values of the deciders, if the caller offers values, and they follow from scalars.
static int requests_values(ln_onnx_node *n, int n_deciders, const char *const *deciders)
{
    int n_settings = 0;
    if (!ln_bind_has_offer(n->model->base.ctx, LN_OFFERS_VALUES))
        return 0;
    for (int i = 0; i < n_deciders; i++)
        if (deciders[i] && !ln_onnx_depends_on_scalars_only(n, deciders[i]))
            return 0;
        else if (deciders[i])
            n_settings++;
    if (n_settings)
        ln_bind_want_values(n->model->base.ctx);
    return n_settings > 0;
}

int ln_onnx_can_fail_at_run(ln_onnx_node *n, int n_deciders, const char *const *deciders)
{
    const ln_context *const ctx = n->model->base.ctx;
    if (!ln_onnx_failed(n) || ln_error_status(ctx->error) != LN_OK ||
        ln_bind_has_offer(ctx, LN_OFFERS_SIZES))
        return 0;
    int n_unknown = 0;
    for (int i = 0; i < n_deciders; i++)
        n_unknown += deciders[i] && ln_onnx_variation_of(n->model, deciders[i]) > LN_ONNX_BOUND;
    if (n_deciders && !n_unknown)
        return 0;
    const int has_asked = ln_bind_wants_values(ctx) && ln_bind_has_offer(ctx, LN_OFFERS_VALUES);
    return !has_asked && !requests_values(n, n_deciders, deciders) &&
           ln_error_status(ctx->error) == LN_OK; // no limit or lack of memory stopped the search
}

const char *ln_onnx_body_drop(ln_onnx_node *n, ln_onnx_body *body)
{
    ln_translation *const t = &n->model->base;
    char why[LN_MAXLINE];
    const char *text = ln_error_text(t->ctx->error);
    const size_t len = strlen(t->file);
    if (!strncmp(text, t->file, len) && text[len] == ':')
        text += len + 2;
    snprintf(why, sizeof(why), "%s", text);
    ln_onnx_try_again(n);
    for (ln_list *node = t->ctx->last, *before; node && node != body->before; node = before) {
        ln_op *const op = node->data;
        before = op->op_arg->before;
        if (varies(n, op))
            remove_op(n, op);
    }
    return ln_translation_print(t, "%s", why);
}

const char *ln_onnx_fail_at_run(ln_onnx_node *n, const char *why, const tl_tensor *like)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_FAIL, LN_TEXT("message", why),
                   LN_DTYPE("dtype", like->dtype), LN_INTS("dims", like->ndim, like->dims));
}

void ln_onnx_set_unknown(ln_onnx_node *n, const char *tensor)
{
    if (tensor && !ln_onnx_failed(n))
        ln_onnx_set_variation(n->model, tensor, LN_ONNX_UNKNOWN);
}
