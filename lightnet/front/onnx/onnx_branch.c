// SPDX-License-Identifier: Apache-2.0
// ONNX's If: one branch if the condition is known, else both as bodies of the operator `branch`.
// Also helpers that loops share (onnx_control.c).

#include <stdio.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_body.h"
#include "front/onnx/ln_onnx_compound.h"
#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_bind.h"
#include "tensorlight/tl_type.h"

// Inlines the nodes of a branch, and writes the values of its outputs to `outs`.
static void inline_outputs(ln_onnx_node *n, const char *attr, const LnOnnx__Graph *graph,
                           const char **outs)
{
    if (n->proto->n_output > graph->n_output)
        ln_emit_fail_as(&n->emit, LN_BAD_MODEL, "'%s' has %zu outputs, expected %zu", attr,
                        graph->n_output, n->proto->n_output);
    ln_onnx_inline(n, graph, 0, NULL, (int)graph->n_output, outs);
}

static void inline_branch(ln_onnx_node *n, const char *attr)
{
    const LnOnnx__Graph *graph = ln_onnx_required_graph(n, attr);
    const char **outs = graph ? ln_onnx_new_names(n, graph->n_output) : NULL;
    if (!outs)
        return;
    inline_outputs(n, attr, graph, outs);
    for (size_t i = 0; i < n->proto->n_output && !ln_onnx_failed(n); i++)
        ln_onnx_alias(n, (int)i, outs[i]);
}

// A branch as a body.
typedef struct branch {
    ln_onnx_body body;
    const char **outs; // values whose tensors are the outputs of the body
} branch;

static void try_branch(ln_onnx_node *n, const char *attr, branch *b)
{
    const int n_outs = (int)n->proto->n_output;
    const LnOnnx__Graph *graph = ln_onnx_required_graph(n, attr);
    b->outs = graph ? ln_onnx_new_names(n, graph->n_output) : NULL;
    ln_onnx_body_begin(n, &b->body, 0);
    if (!b->outs)
        return;
    inline_outputs(n, attr, graph, b->outs);
    int n_tensors;
    const char **tensors = ln_onnx_flatten(n, n_outs, b->outs, &n_tensors);
    ln_onnx_body_end(n, &b->body, n_tensors, tensors);
}

// The operator for both branches: `branch` if their outputs have the same fixed shapes,
// `branch_dynamic` if only types and ranks are equal, else NULL.
static const char *branch_operator(ln_onnx_node *n, const branch *a, const branch *b)
{
    int is_fixed = 1;
    for (size_t i = 0; i < n->proto->n_output && !ln_onnx_failed(n); i++)
        if (!ln_onnx_is_alike(n->model, a->outs[i], b->outs[i]))
            return NULL;
    for (int i = 0; i < a->body.n_outputs && !ln_onnx_failed(n); i++) {
        const char *one = a->body.outputs[i], *other = b->body.outputs[i];
        const tl_tensor *x = ln_onnx_tensor_of(n, one), *y = ln_onnx_tensor_of(n, other);
        if (x->dtype != y->dtype || x->ndim != y->ndim)
            return NULL;
        is_fixed &= ln_onnx_same_shapes(n, one, other) && !ln_onnx_is_dynamic(n, one) &&
                    !ln_onnx_is_dynamic(n, other);
    }
    return is_fixed ? LN_OP_BRANCH : LN_OP_BRANCH_DYNAMIC;
}

// The captures of both branches, without duplicates.
static const char **join_captures(ln_onnx_node *n, const ln_onnx_body *a, const ln_onnx_body *b,
                                  int *len)
{
    ln_hash *seen = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    const char **all = ln_onnx_new_names(n, (size_t)a->n_captures + (size_t)b->n_captures);
    if (!seen)
        ln_emit_fail_memory(&n->emit);
    *len = 0;
    for (int i = 0; i < a->n_captures + b->n_captures && !ln_onnx_failed(n); i++) {
        const char *name = i < a->n_captures ? a->captures[i] : b->captures[i - a->n_captures];
        const int is_new = ln_hash_insert(seen, name, NULL);
        if (is_new < 0)
            ln_emit_fail_memory(&n->emit);
        else if (is_new)
            all[(*len)++] = name;
    }
    ln_hash_free(seen);
    return all;
}

// The outputs of the node, from the tensors of the operator.
static void alias_outputs(ln_onnx_node *n, const branch *like, const char *const *tensors)
{
    for (size_t i = 0; i < n->proto->n_output && !ln_onnx_failed(n); i++)
        ln_onnx_alias(n, (int)i, ln_onnx_rebuild(n, like->outs[i], &tensors));
}

static void emit_branch(ln_onnx_node *n, const char *optype, const char *cond, branch *then_branch,
                        branch *else_branch)
{
    int n_captures;
    ln_onnx_body *then_body = &then_branch->body, *else_body = &else_branch->body;
    const char **captures = join_captures(n, then_body, else_body, &n_captures);
    const int n_outs = then_body->n_outputs;
    const int is_plain =
        !ln_onnx_has_compound(n->model, (int)n->proto->n_output, then_branch->outs);
    const char **outs = ln_onnx_new_names(n, (size_t)n_outs);
    if (!n_outs || !outs) { // absent values, empty sequences
        alias_outputs(n, then_branch, outs);
        return;
    }
    const char *then_name = ln_onnx_body_make(n, then_body, n_captures, captures);
    const char *else_name = ln_onnx_body_make(n, else_body, n_captures, captures);
    ln_emit_begin(&n->emit, optype);
    ln_emit_arg(&n->emit, "cond", cond);
    for (int i = 0; i < n_captures; i++)
        ln_emit_arg_at(&n->emit, "src", i, captures[i]);
    ln_emit_set(&n->emit, LN_TEXT("then_body", then_name));
    ln_emit_set(&n->emit, LN_TEXT("else_body", else_name));
    ln_onnx_emit_outs(n, "dst", n_outs, is_plain ? 0 : -1, 1, outs);
    for (int i = 0; i < n_outs && !ln_onnx_failed(n); i++)
        ln_onnx_set_unknown(n, outs[i]);
    if (!is_plain)
        alias_outputs(n, then_branch, outs);
}

// Branches with shapes that do not fit: a run may never select them.

// Replaces a branch by operators that fail when they run, with the shapes of the other's outputs.
static void emit_failing_branch(ln_onnx_node *n, const char *attr, branch *b, const branch *other,
                                const char *why)
{
    const int n_outs = (int)n->proto->n_output;
    int n_tensors;
    const char **tensors = ln_onnx_flatten(n, n_outs, other->outs, &n_tensors);
    const char *const *next = tensors;
    ln_onnx_body_begin(n, &b->body, 0);
    if (!ln_onnx_failed(n) && !n_tensors) // without outputs, no operator is emitted
        ln_emit_fail(&n->emit, "'%s': %s", attr, why);
    for (int i = 0; i < n_tensors && !ln_onnx_failed(n); i++)
        tensors[i] = ln_onnx_fail_at_run(n, why, ln_onnx_tensor_of(n, tensors[i]));
    b->outs = ln_onnx_new_names(n, (size_t)n_outs);
    for (int i = 0; i < n_outs && !ln_onnx_failed(n); i++)
        b->outs[i] = ln_onnx_rebuild(n, other->outs[i], &next);
    if (ln_onnx_failed(n))
        return;
    ln_emit_warn(&n->emit, "'%s' does not fit; a run that selects it fails: %s", attr, why);
    ln_onnx_body_end(n, &b->body, n_tensors, tensors);
}

// As try_branch; if a run that selects the branch may fail instead, drops it and returns the
// reason.
static const char *try_or_drop(ln_onnx_node *n, const char *attr, branch *b, const char *cond)
{
    try_branch(n, attr, b);
    return ln_onnx_can_fail_at_run(n, 1, &cond) ? ln_onnx_body_drop(n, &b->body) : NULL;
}

static void try_branches(ln_onnx_node *n, const char *cond, branch *then_branch,
                         branch *else_branch)
{
    const char *const why_then = try_or_drop(n, "then_branch", then_branch, cond);
    if (why_then) {
        try_branch(n, "else_branch", else_branch);
        emit_failing_branch(n, "then_branch", then_branch, else_branch, why_then);
        return;
    }
    if (ln_onnx_failed(n))
        return;
    const char *const why_else = try_or_drop(n, "else_branch", else_branch, cond);
    if (why_else)
        emit_failing_branch(n, "else_branch", else_branch, then_branch, why_else);
}

static void translate_if(ln_onnx_node *n)
{
    const char *cond = ln_onnx_in(n, 0);
    ln_onnx_check_single(n, "the condition", cond);
    const tl_tensor *value = ln_onnx_value(n, cond);
    if (value || ln_onnx_failed(n)) {
        inline_branch(n, value && ln_onnx_is_true(value) ? "then_branch" : "else_branch");
        return;
    }
    branch then_branch, else_branch;
    const char *optype = NULL;
    const int is_given = ln_onnx_variation_of(n->model, cond) == LN_ONNX_BOUND;
    try_branches(n, cond, &then_branch, &else_branch);
    if (ln_onnx_failed(n) && is_given)
        ln_onnx_try_again(n);
    else if (ln_onnx_failed(n))
        return;
    else
        optype = branch_operator(n, &then_branch, &else_branch);
    // Prefers fixed sizes.
    if (optype && (ln_streq(optype, LN_OP_BRANCH) || !is_given)) {
        emit_branch(n, optype, cond, &then_branch, &else_branch);
        return;
    }
    value = ln_onnx_bound_value(n, cond);
    if (value) {
        inline_branch(n, ln_onnx_is_true(value) ? "then_branch" : "else_branch");
        return;
    }
    ln_bind_want_values(n->model->base.ctx);
    ln_emit_fail(&n->emit,
                 "the branches have outputs of different types, numbers of dimensions, or lengths "
                 "of sequences, and the condition is known only at run time; set the inputs that "
                 "it depends on before compiling");
}

const LnOnnx__Graph *ln_onnx_required_graph(ln_onnx_node *n, const char *name)
{
    const LnOnnx__Graph *graph = ln_onnx_graph(n, name);
    if (!graph)
        ln_emit_fail_as(&n->emit, LN_BAD_MODEL, "attribute '%s' is missing", name);
    return graph;
}

const char **ln_onnx_new_names(ln_onnx_node *n, size_t len)
{
    return ln_translation_alloc(&n->model->base, (len + 1) * sizeof(char *));
}

int ln_onnx_is_true(const tl_tensor *value)
{
    double number;
    tl_convert(&number, TL_DOUBLE, value->data, value->dtype);
    return number != 0;
}

void ln_onnx_check_single(ln_onnx_node *n, const char *what, const char *tensor)
{
    const int len = ln_onnx_tensor_of(n, tensor)->len;
    if (len != 1)
        ln_emit_fail(&n->emit, "%s has %d elements, expected 1", what, len);
}

void ln_onnx_emit_outs(ln_onnx_node *n, const char *arg, int len, int first, int last,
                       const char **names)
{
    for (int k = 0; k < len; k++) {
        char name[LN_MAX_NAME_LEN];
        snprintf(name, sizeof(name), "%s%d", arg, k);
        const char *tensor = (last && k == len - 1 ? ln_emit_end : ln_emit_out)(
            &n->emit, name, first < 0 ? LN_EMIT_TEMP : first + k);
        if (names)
            names[k] = tensor;
    }
}

int ln_onnx_same_shapes(ln_onnx_node *n, const char *one, const char *other)
{
    const tl_tensor *a = ln_onnx_tensor_of(n, one), *b = ln_onnx_tensor_of(n, other);
    return a->dtype == b->dtype && tl_tensor_issameshape(a, b);
}

void ln_onnx_try_again(ln_onnx_node *n)
{
    ln_translation_try_again(&n->model->base);
    ln_emit_begin(&n->emit, NULL);
}

const ln_onnx_row ln_onnx_rows_branch[] = {
    {"If", 1, translate_if},
    {NULL},
};
