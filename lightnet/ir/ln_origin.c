// SPDX-License-Identifier: Apache-2.0
// Where operators come from.

#include "ir/ln_origin.h"

#include <string.h>

#include "ir/ln_context_ops.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"

// A node, shared by origins.
typedef struct node {
    ln_model_node info;
    int refs;
    char text[];
} node;

// In the order of their numbers.
struct ln_origin {
    int refs, n;
    node *nodes[];
};

// Nodes

static node *create_node(const char *name, const char *type, int number)
{
    const size_t name_size = strlen(name) + 1, type_size = strlen(type) + 1;
    node *const made = ln_alloc(sizeof(*made) + name_size + type_size);
    if (!made)
        return NULL;
    made->refs = 0;
    memcpy(made->text, name, name_size);
    memcpy(made->text + name_size, type, type_size);
    made->info = (ln_model_node){made->text, made->text + name_size, number};
    return made;
}

static void add(ln_origin *to, node *n)
{
    n->refs++;
    to->nodes[to->n++] = n;
}

// Origins

static ln_origin *create(int room)
{
    ln_origin *const made = ln_alloc(sizeof(*made) + (size_t)room * sizeof(made->nodes[0]));
    if (made)
        *made = (ln_origin){.refs = 1};
    return made;
}

ln_origin *ln_origin_of_node(const char *name, const char *type, int number)
{
    node *const n = create_node(name, type, number);
    ln_origin *const made = n ? create(1) : NULL;
    if (made)
        add(made, n);
    else
        ln_free(n);
    return made;
}

ln_origin *ln_origin_create(ln_context *ctx, const char *name, const char *type)
{
    while (ctx->outer)
        ctx = ctx->outer;
    return ln_origin_of_node(name, type, ++ctx->n_model_nodes);
}

ln_origin *ln_origin_of_nodes(ln_origin *const *origins, int n)
{
    ln_origin *const made = create(n);
    for (int i = 0; made && i < n; i++)
        add(made, origins[i]->nodes[0]);
    return made;
}

ln_origin *ln_origin_keep(ln_origin *origin)
{
    if (origin)
        origin->refs++;
    return origin;
}

void ln_origin_free(ln_origin *origin)
{
    if (!origin || --origin->refs)
        return;
    for (int i = 0; i < origin->n; i++)
        if (--origin->nodes[i]->refs == 0)
            ln_free(origin->nodes[i]);
    ln_free(origin);
}

void ln_origin_give(ln_op *op, ln_origin *origin)
{
    if (!op->op_arg->origin)
        op->op_arg->origin = ln_origin_keep(origin);
}

// Returns new: the union of both.
static ln_origin *merge(const ln_origin *a, const ln_origin *b)
{
    const int most = a->n + b->n < LN_MAX_ORIGINS ? a->n + b->n : LN_MAX_ORIGINS;
    ln_origin *const made = create(most);
    for (int i = 0, k = 0; made && made->n < most && (i < a->n || k < b->n);) {
        const int takes_a =
            k == b->n || (i < a->n && a->nodes[i]->info.number <= b->nodes[k]->info.number);
        node *const n = takes_a ? a->nodes[i] : b->nodes[k];
        i += i < a->n && a->nodes[i] == n;
        k += k < b->n && b->nodes[k] == n;
        add(made, n);
    }
    return made;
}

ln_origin *ln_origin_join(const ln_list *ops)
{
    ln_origin *all = NULL;
    LN_FOREACH (const ln_op *, op, ops) {
        ln_origin *const own = op->op_arg->origin;
        if (!own || own == all)
            continue;
        ln_origin *const joined = all ? merge(all, own) : ln_origin_keep(own);
        ln_origin_free(all);
        all = joined;
    }
    return all;
}

int ln_origin_note_all(ln_context *ctx)
{
    LN_FOREACH (ln_op *, op, ctx->ops) {
        if (op->op_arg->origin || !op->op_arg->tensors_in)
            continue;
        op->op_arg->origin = ln_origin_create(ctx, op->op_arg->name, op->op_arg->optype);
        if (!op->op_arg->origin)
            return ln_fail_memory(ctx);
    }
    return 0;
}

// The interface

int ln_op_num_nodes(const ln_op_arg *op_arg)
{
    return op_arg->origin ? op_arg->origin->n : 0;
}

const ln_model_node *ln_op_node(const ln_op_arg *op_arg, int i)
{
    return i >= 0 && i < ln_op_num_nodes(op_arg) ? &op_arg->origin->nodes[i]->info : NULL;
}
