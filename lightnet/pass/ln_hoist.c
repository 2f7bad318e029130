// SPDX-License-Identifier: Apache-2.0
// Hoists static operators of bodies (subgraphs) into the outer program: they run once, at load.
//
//     before: loop(src0=w, src1=x)                   body(.., a, b): p = pack(a), y = gemm(b, p)
//     after:  p2 = pack(w), loop(src0=x, src1=p2)    body(.., b, p): y = gemm(b, p)
//
// A source of p remains in the body, and makes p an input. Inputs without readers are removed: a.

#include <string.h>

#include "base/ln_name.h"
#include "base/ln_list_end.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_dfg_value.h"
#include "ir/ln_from_file.h"
#include "ir/ln_origin.h"
#include "lightnet/ln_optypes.h"
#include "lightnet/ln_util.h"
#include "pass/ln_rewriting.h"

// Records `op` as the runner of each body that it names.
static void note_runner(const ln_context *root, ln_op *op)
{
    LN_FOREACH (const ln_param_entry *, param, op->op_arg->params) {
        const int is_text = param->type == LN_PARAM_STRING && param->value_string;
        const ln_context *body = is_text ? ln_body_named(root, param->value_string) : NULL;
        if (!body)
            continue;
        body->body->runner = op;
        body->body->n_runners++;
    }
}

void ln_hoist_note_runners(const ln_context *ctx)
{
    const ln_context *root = ctx->outer ? ctx->outer : ctx;
    LN_FOREACH (ln_op *, op, root->bodies ? ctx->ops : NULL)
        note_runner(root, op);
}

// The i of an input with arg_name "src<i>"; -1: another input.
static int src_index(const ln_tensor_list_entry *tle)
{
    return ln_name_number(tle->arg_name, "src");
}

// Whether no index of an input exceeds their number: then src0, src1, .. have no gaps.
static int has_all_srcs(const ln_op *op)
{
    const int n = ln_body_num_src(op);
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (src_index(tle) >= n)
            return 0;
    return 1;
}

// Whether the operator passes src0, src1, .. as the last inputs of its bodies.
static int passes_src(const ln_op *op)
{
    return (ln_op_is_form_of(op, LN_OP_BRANCH) || ln_op_is_form_of(op, LN_OP_LOOP)) &&
           has_all_srcs(op);
}

// The index of src0 among the body's inputs.
static int index_of_src0(const ln_context *body, const ln_op *runner)
{
    return ln_body_num_inputs(body) - ln_body_num_src(runner);
}

// Marking of constant inputs

int ln_hoist_mark(ln_context *body)
{
    struct ln_body *own = body->body;
    const size_t n = (size_t)ln_body_num_inputs(body);
    if (!body->optimize || own->n_runners != 1 || !n || !passes_src(own->runner) ||
        index_of_src0(body, own->runner) < 0)
        return 0;
    own->is_constant = ln_alloc_array(n, sizeof(*own->is_constant));
    if (!own->is_constant)
        return ln_fail_last(body);
    own->n_constant = (int)n;
    memset(own->is_constant, 0, n);
    unsigned char *const is_constant_src = own->is_constant + index_of_src0(body, own->runner);
    LN_FOREACH (const ln_tensor_list_entry *, tle, own->runner->op_arg->tensors_in) {
        const ln_tensor_entry *te = ln_entry_of(tle, own->runner->op_arg->tensor_table);
        if (src_index(tle) >= 0)
            is_constant_src[src_index(tle)] = te->isconst && !te->isdynamic;
    }
    return ln_context_recheck(body);
}

void ln_hoist_end(const ln_context *body)
{
    ln_free(body->body->is_constant);
    body->body->is_constant = NULL;
    body->body->n_constant = body->body->n_runners = 0;
    body->body->runner = NULL;
}

// Moving operators. An operator moves if all of its inputs are constant inputs of the body or
// outputs of moved operators: if `names` has all of them.

typedef struct hoisting {
    ln_context *ctx; // of the runner
    ln_op *runner;
    ln_context *bodies[2]; // two of a branch, one of a loop; `which` is an index here
    ln_hash *names[2];     // for each body: the name of a tensor -> its name in ctx
    int n_bodies;
    ln_list *srcs; // the new src0, src1, .. of the runner: names in ctx (char *)
} hoisting;

static int map_name(const hoisting *h, int which, const char *inner, const char *outer)
{
    char *key = ln_strdup(inner), *name = ln_strdup(outer);
    if (key && name && ln_hash_insert(h->names[which], key, name) >= 0)
        return 0;
    ln_free(key);
    ln_free(name);
    return ln_fail_memory(h->ctx);
}

static const char *outer_name(const hoisting *h, int which, const char *inner)
{
    return ln_hash_find(h->names[which], inner);
}

// Maps the constant inputs of the body to the tensors that the runner passes.
static int map_constants(const hoisting *h, int which)
{
    const ln_context *body = h->bodies[which];
    const int first = index_of_src0(body, h->runner);
    LN_FOREACH (const ln_tensor_list_entry *, tle, h->runner->op_arg->tensors_in) {
        const int i = first + src_index(tle);
        if (i >= first && body->body->is_constant[i] &&
            map_name(h, which, ln_list_nth_data(body->inputs, (size_t)i), tle->name))
            return -1;
    }
    return 0;
}

static int inputs_are_mapped(const hoisting *h, int which, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (!outer_name(h, which, tle->name))
            return 0;
    return 1;
}

// A view stays in the body if its owner does. Outputs of the body stay.
static int output_may_move(const hoisting *h, int which, const ln_tensor_entry *te)
{
    return te->isconst && !te->isdynamic && te->mtype == LN_MEM_CPU && !ln_entry_is_output(te) &&
           (!te->owner || outer_name(h, which, te->owner));
}

static int outputs_may_move(const hoisting *h, int which, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        const ln_tensor_entry *te = ln_entry_of(tle, h->bodies[which]->tensor_table);
        // The operator is the source of a constant input, or of a moved tensor.
        if (outer_name(h, which, tle->name) || !output_may_move(h, which, te))
            return 0;
    }
    return op->op_arg->tensors_out != NULL;
}

static int may_move(const hoisting *h, int which, const ln_op *op)
{
    return !op->op_arg->takes_inputs && inputs_are_mapped(h, which, op) &&
           outputs_may_move(h, which, op);
}

// Appends a tensor to a list. -1 with a reason: out of memory.
static int append_tensor(const ln_context *ctx, ln_list **list, const char *arg_name,
                         const char *name)
{
    ln_list *longer = ln_tensor_list_append(*list, arg_name, name);
    if (!longer)
        return ln_fail_memory(ctx);
    *list = longer;
    return 0;
}

static int copy_inputs(const hoisting *h, int which, const ln_op *op, ln_op_arg *copy)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (append_tensor(h->ctx, &copy->tensors_in, tle->arg_name,
                          outer_name(h, which, tle->name)))
            return -1;
    return 0;
}

static int copy_outputs(const hoisting *h, int which, const ln_op *op, ln_op_arg *copy)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        char name[LN_MAX_NAME_LEN];
        if (ln_context_unique_name(h->ctx, name, op->op_arg->optype) ||
            append_tensor(h->ctx, &copy->tensors_out, tle->arg_name, name) ||
            map_name(h, which, tle->name, name))
            return -1;
    }
    return 0;
}

static int copy_params(const ln_context *ctx, const ln_op *op, ln_op_arg *copy)
{
    copy->params = ln_param_list_copy(op->op_arg->params);
    copy->rule = op->op_arg->rule;
    return op->op_arg->params && !copy->params ? ln_fail_memory(ctx) : 0;
}

// Inserts a copy of the operator into ctx, before the runner.
static int insert_copy(const hoisting *h, int which, const ln_op *op)
{
    char name[LN_MAX_NAME_LEN];
    ln_list *position = h->runner->op_arg->node;
    if (ln_context_unique_name(h->ctx, name, op->op_arg->optype))
        return -1;
    ln_op *copy = ln_op_create_from_proto(op, name, NULL, NULL, NULL, h->ctx->tensor_table);
    if (!copy)
        return ln_fail_last(h->ctx);
    ln_origin_give(copy, op->op_arg->origin);
    if (!copy_inputs(h, which, op, copy->op_arg) && !copy_outputs(h, which, op, copy->op_arg) &&
        !copy_params(h->ctx, op, copy->op_arg))
        return ln_context_add_op(h->ctx, &position, copy);
    ln_op_free_lists_too(copy);
    return -1;
}

// Moves operators to ctx, and leaves sources of their outputs in the body. Returns the number of
// moved operators, or -1.
static int move_ops(const hoisting *h, int which)
{
    int n = 0;
    ln_context *body = h->bodies[which];
    for (ln_list *node = body->ops, *next; node; node = next) {
        const ln_op *op = node->data;
        next = node->next;
        if (!may_move(h, which, op))
            continue;
        if (insert_copy(h, which, op) || ln_context_replace_by_sources(body, &node, 0))
            return -1;
        next = node;
        n++;
    }
    return n;
}

// Inputs of bodies

static int add_src(hoisting *h, const char *name)
{
    return ln_list_add(&h->srcs, ln_strdup(name), ln_free) ? ln_fail_memory(h->ctx) : 0;
}

// Whether a body reads src<i>. first[which]: the index of src0 among that body's inputs.
static int is_read(const hoisting *h, const int *first, int i)
{
    for (int which = 0; which < h->n_bodies; which++) {
        const ln_context *body = h->bodies[which];
        if (ln_context_num_uses(body, ln_list_nth_data(body->inputs, (size_t)(first[which] + i))))
            return 1;
    }
    return 0;
}

// Removes an input of the body. Its source becomes dead code.
static void remove_input(ln_context *body, int i)
{
    ln_list **link = &body->inputs;
    while (i-- > 0)
        link = &(*link)->next;
    ln_list *node = *link;
    *link = node->next;
    node->next = NULL;
    ln_hash_remove(body->input_names, node->data);
    ln_list_free_deep(node, ln_free);
}

static const char *src_of(const ln_op *runner, int number)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, runner->op_arg->tensors_in)
        if (src_index(tle) == number)
            return tle->name;
    return NULL;
}

// Removes each src<i> that no body reads, and sets h->srcs to the others. Runs from the last to the
// first, so that the remaining indices stay valid.
static int remove_unread_srcs(hoisting *h)
{
    int status = 0;
    const int first[2] = {index_of_src0(h->bodies[0], h->runner),
                          h->n_bodies > 1 ? index_of_src0(h->bodies[1], h->runner) : 0};
    for (int i = ln_body_num_src(h->runner); i-- > 0 && !status;) {
        if (is_read(h, first, i))
            status = add_src(h, src_of(h->runner, i));
        else
            for (int which = 0; which < h->n_bodies; which++)
                remove_input(h->bodies[which], first[which] + i);
    }
    h->srcs = ln_list_reverse(h->srcs);
    for (int which = 0; which < h->n_bodies && !status; which++)
        status = ln_context_index_names(h->bodies[which]);
    return status;
}

// Appends an input that nothing reads, since the runner passes all inputs to both bodies.
static int push_unused_input(const hoisting *h, int which, const tl_tensor *like)
{
    ln_context *body = h->bodies[which];
    char name[LN_MAX_NAME_LEN], op_name[LN_MAX_NAME_LEN];
    ln_list *position = body->ops;
    if (ln_context_unique_name(body, name, "unread") ||
        ln_context_unique_name(body, op_name, "source"))
        return -1;
    ln_op *source = ln_source_create(body, LN_OP_SOURCE_CPU, op_name, name, like, 0);
    if (source && !ln_context_push_input(body, name))
        return ln_context_add_op(body, &position, source);
    ln_op_free_lists_too(source);
    return -1;
}

// Makes a moved tensor an input of the body, and its copy in ctx a source of the runner.
static int push_moved_input(hoisting *h, int which, const ln_tensor_list_entry *tle)
{
    ln_context *const body = h->bodies[which];
    const tl_tensor *like = ln_entry_of(tle, body->tensor_table)->tensor;
    if (ln_context_push_input(body, tle->name) || add_src(h, outer_name(h, which, tle->name)))
        return -1;
    return h->n_bodies > 1 ? push_unused_input(h, 1 - which, like) : 0;
}

// Whether the operator is the source of a moved tensor, not an input of the body.
static int is_moved_source(const hoisting *h, int which, const ln_op *op)
{
    const ln_list *outs = op->op_arg->tensors_out;
    const ln_tensor_list_entry *tle = outs ? outs->data : NULL;
    return tle && !op->op_arg->tensors_in && !tle->value->isinput &&
           outer_name(h, which, tle->name) && ln_context_num_uses(h->bodies[which], tle->name) > 0;
}

// Replacing the runner

// The inputs other than src<i> as before, then h->srcs as src0, src1, ..
static int write_inputs(const hoisting *h, ln_op_arg *copy)
{
    char arg_name[LN_MAX_NAME_LEN];
    int i = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, h->runner->op_arg->tensors_in)
        if (src_index(tle) < 0 &&
            append_tensor(h->ctx, &copy->tensors_in, tle->arg_name, tle->name))
            return -1;
    LN_FOREACH (const char *, name, h->srcs) {
        if (ln_name_print(arg_name, "src%d", i++))
            return ln_fail_last(h->ctx);
        if (append_tensor(h->ctx, &copy->tensors_in, arg_name, name))
            return -1;
    }
    return 0;
}

static int replace_runner(hoisting *h)
{
    const ln_op_arg *old = h->runner->op_arg;
    ln_list *position = old->node;
    ln_op *op =
        ln_op_create_from_proto(h->runner, old->name, NULL, NULL, NULL, h->ctx->tensor_table);
    ln_list *ops = op ? ln_list_append(NULL, op) : NULL;
    if (ops)
        op->op_arg->tensors_out = ln_tensor_list_copy(old->tensors_out);
    if (!ops || write_inputs(h, op->op_arg) || copy_params(h->ctx, h->runner, op->op_arg)) {
        ln_list_free(ops);
        ln_op_free_lists_too(op);
        return ln_fail_memory(h->ctx);
    }
    h->runner = op;
    return ln_context_replace_ops(h->ctx, &position, 1, ops);
}

// Updates the inputs of the bodies and of the runner, once operators have moved.
static int change_interface(hoisting *h)
{
    if (remove_unread_srcs(h))
        return -1;
    for (int which = 0; which < h->n_bodies; which++) {
        LN_FOREACH (const ln_op *, op, h->bodies[which]->ops)
            if (is_moved_source(h, which, op) &&
                push_moved_input(h, which, op->op_arg->tensors_out->data))
                return -1;
    }
    for (int which = 0; which < h->n_bodies; which++) {
        ln_body_forget_names(h->bodies[which]);
        if (ln_cleanup_dead(h->bodies[which]) < 0)
            return -1;
    }
    return replace_runner(h);
}

static int move_all(hoisting *h)
{
    int n = 0;
    for (int which = 0; which < h->n_bodies; which++) {
        const int moved = map_constants(h, which) ? -1 : move_ops(h, which);
        if (moved < 0)
            return -1;
        n += moved;
    }
    return n ? change_interface(h) : 0;
}

static int hoist_bodies(hoisting *h)
{
    int status = 0;
    for (int which = 0; which < h->n_bodies; which++) {
        h->names[which] = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, ln_free);
        if (!h->names[which])
            status = ln_fail_memory(h->ctx);
    }
    status = -(status || move_all(h));
    for (int which = 0; which < h->n_bodies; which++)
        ln_hash_free(h->names[which]);
    ln_list_free_deep(h->srcs, ln_free);
    return status;
}

// Finds the bodies with marked inputs (ln_hoist_mark), at most two: only this operator runs them.
static void find_bodies(hoisting *h)
{
    const ln_context *root = h->ctx->outer ? h->ctx->outer : h->ctx;
    LN_FOREACH (const ln_param_entry *, param, h->runner->op_arg->params) {
        const int is_text = param->type == LN_PARAM_STRING && param->value_string;
        ln_context *body = is_text ? ln_body_named(root, param->value_string) : NULL;
        if (body && body->body->is_constant && h->n_bodies < 2)
            h->bodies[h->n_bodies++] = body;
    }
}

int ln_hoist(ln_context *ctx)
{
    int n = 0;
    for (ln_list *node = ctx->ops; node; node = node->next) {
        hoisting h = {.ctx = ctx, .runner = node->data};
        if (!passes_src(h.runner))
            continue;
        find_bodies(&h);
        // The bodies of a branch have the same inputs: both can change, or neither.
        if (h.n_bodies != (ln_op_is_form_of(h.runner, LN_OP_BRANCH) ? 2 : 1))
            continue;
        if (hoist_bodies(&h))
            return -1;
        node = h.runner->op_arg->node;
        n++;
    }
    return -(n && ln_cleanup_dead(ctx) < 0);
}
