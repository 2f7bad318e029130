// SPDX-License-Identifier: Apache-2.0
// Rules that were not applied to operators which their patterns match, and why.

#include "command/cli_refused.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/cli_msg.h"

// Watching

// Enough for every rule that concerns some thousands of operators.
enum { MAX_REFUSED = 1 << 16 };

static const char *first_output(const ln_op *op)
{
    const ln_list *const out = op->op_arg->tensors_out;
    return out ? ((const ln_tensor_list_entry *)out->data)->name : "";
}

static int is_movement(const ln_op *op)
{
    return ln_op_kind(op) == LN_KIND_MOVEMENT;
}

static int first_node(const ln_op *op)
{
    const ln_model_node *const node = ln_op_node(op->op_arg, 0);
    return node ? node->number : 0;
}

static int reserve(cli_refusals *r)
{
    if (r->n < r->capacity)
        return 0;
    const int capacity = r->capacity ? 2 * r->capacity : 256;
    cli_refused *const items = realloc(r->items, (size_t)capacity * sizeof(*items));
    if (!items)
        return -1;
    r->items = items;
    r->capacity = capacity;
    return 0;
}

// The item of the rule and the tensor, a new one if need be. NULL: too many, or no memory.
static cli_refused *item_of(cli_refusals *r, const ln_context *ctx, const char *rule,
                            const char *tensor)
{
    char key[3 * LN_MAX_NAME_LEN];
    snprintf(key, sizeof(key), "%p %s %s", (const void *)ctx, rule, tensor);
    const int known = (int)(size_t)ln_hash_find(r->index, key);
    if (known)
        return &r->items[known - 1];
    if (r->n == MAX_REFUSED) {
        r->n_left_out++;
        return NULL;
    }
    char *const copy = ln_strdup(key);
    r->failed = r->failed || !copy || reserve(r) ||
                ln_hash_insert(r->index, copy, (void *)(size_t)(r->n + 1)) < 0;
    if (r->failed) {
        ln_free(copy);
        return NULL;
    }
    r->items[r->n] = (cli_refused){.rule = rule, .ctx = ctx};
    return &r->items[r->n++];
}

static int set_text(char **text, const char *value)
{
    free(*text);
    *text = value ? strdup(value) : NULL;
    return value && !*text ? -1 : 0;
}

// A rule that was applied once stays so, and else the last outcome counts.
static void note(void *data, const ln_rule_event *event)
{
    cli_refusals *const r = data;
    const char *const tensor = first_output(event->op);
    cli_refused *const item =
        r->failed ? NULL : item_of(r, event->op->op_arg->ctx, event->rule, tensor);
    if (!item || (item->tensor && item->outcome == LN_RULE_APPLIED))
        return;
    item->outcome = event->outcome;
    item->node = first_node(event->op);
    item->is_movement = is_movement(event->op);
    r->failed = set_text(&item->text, event->text) || set_text(&item->tensor, tensor);
}

int cli_refusals_watch(cli_refusals *r, ln_context *ctx)
{
    *r = (cli_refusals){.index = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL)};
    if (!r->index)
        return cli_fail_memory();
    ln_context_watch_rules(ctx, note, r);
    return 0;
}

static void free_item(const cli_refused *item)
{
    free(item->text);
    free(item->tensor);
}

void cli_refusals_free(cli_refusals *r)
{
    for (int i = 0; i < r->n; i++)
        free_item(&r->items[i]);
    free(r->items);
    ln_hash_free(r->index);
    *r = (cli_refusals){.n = 0};
}

// Finding

// The operators that runs of a program or subgraph compute, from 1 in their order.
typedef struct operators {
    const ln_op **ops;
    int n;
    ln_hash *by_tensor; // an output -> its producer's number; owns no name
    int *by_node;       // [number of the model's node]: the last operator that computes it, one
                        // that only moves data if there is no other
} operators;

static int add_op(operators *o, const ln_op *op)
{
    o->ops[++o->n] = op;
    for (int i = 0; i < ln_op_num_nodes(op->op_arg); i++) {
        int *const known = &o->by_node[ln_op_node(op->op_arg, i)->number];
        if (!*known || !is_movement(op) || is_movement(o->ops[*known]))
            *known = o->n;
    }
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (ln_hash_insert(o->by_tensor, tle->name, (void *)(size_t)o->n) < 0)
            return -1;
    return 0;
}

static int list_ops(operators *o, const ln_context *ctx, int n_nodes)
{
    o->ops = calloc((size_t)ln_list_length(ctx->ops) + 1, sizeof(*o->ops));
    o->by_node = calloc((size_t)n_nodes + 1, sizeof(*o->by_node));
    o->by_tensor = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!o->ops || !o->by_node || !o->by_tensor)
        return -1;
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (!op->op_arg->at_load && op->run && add_op(o, op))
            return -1;
    return 0;
}

// The number of the item's operator; 0: none is left of it.
static int find_op(const operators *o, const cli_refused *item)
{
    const int number = (int)(size_t)ln_hash_find(o->by_tensor, item->tensor);
    const int computes = number && (item->is_movement || !is_movement(o->ops[number]));
    return computes || !o->by_node[item->node] ? number : o->by_node[item->node];
}

static int by_position(const void *a, const void *b)
{
    const cli_refused *const x = a, *const y = b;
    return x->position != y->position ? x->position - y->position : x->number - y->number;
}

static int compare_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int by_content(const void *a, const void *b)
{
    const cli_refused *const x = a, *const y = b;
    const int differences[] = {x->position - y->position, strcmp(x->rule, y->rule),
                               (int)x->outcome - (int)y->outcome, compare_text(x->text, y->text),
                               x->number - y->number};
    int i = 0;
    while (i < 4 && !differences[i])
        i++;
    return differences[i];
}

// Operators that one operator computes often refuse a rule for the same reason: once is enough.
static void remove_repeated(cli_refusals *r)
{
    int n = 0;
    qsort(r->items, (size_t)r->n, sizeof(*r->items), by_content);
    for (int i = 0; i < r->n; i++) {
        const cli_refused *const item = &r->items[i], *const last = n ? &r->items[n - 1] : NULL;
        const int is_same = last && last->position == item->position &&
                            !strcmp(last->rule, item->rule) && last->outcome == item->outcome &&
                            !compare_text(last->text, item->text);
        if (is_same)
            free_item(item);
        else
            r->items[n++] = *item;
    }
    r->n = n;
    qsort(r->items, (size_t)n, sizeof(*r->items), by_position);
}

// Finds the operators of the items of `ctx`, whose positions are behind the first `*n` ones.
static int find_in(cli_refusals *r, const ln_context *ctx, int n_nodes, int *n)
{
    operators o = {.n = 0};
    const int status = list_ops(&o, ctx, n_nodes);
    for (cli_refused *item = r->items; item < r->items + r->n && !status; item++) {
        const int number = item->ctx == ctx ? find_op(&o, item) : 0;
        if (!number)
            continue;
        item->op = o.ops[number];
        item->position = *n + number;
    }
    *n += o.n;
    free(o.ops);
    free(o.by_node);
    ln_hash_free(o.by_tensor);
    return status;
}

// Removes the items of rules that were applied, and of operators that are gone.
static void keep_found(cli_refusals *r)
{
    int n = 0;
    for (int i = 0; i < r->n; i++) {
        cli_refused *const item = &r->items[i];
        item->number = i;
        if (item->op && item->outcome != LN_RULE_APPLIED)
            r->items[n++] = *item;
        else
            free_item(item);
    }
    r->n = n;
    remove_repeated(r);
}

int cli_refusals_find(cli_refusals *r, ln_context *ctx)
{
    int n = 0;
    ln_context_watch_rules(ctx, NULL, NULL);
    r->failed = r->failed || find_in(r, ctx, ctx->n_model_nodes, &n);
    for (const ln_list *node = ctx->bodies; node && !r->failed; node = node->next)
        r->failed = find_in(r, node->data, ctx->n_model_nodes, &n) != 0;
    if (!r->failed)
        keep_found(r);
    return r->failed ? cli_fail_memory() : 0;
}

// Text

const char *cli_refused_word(const cli_refused *item)
{
    static const char *const words[] = {
        [LN_RULE_APPLIED] = "applied", [LN_RULE_CONDITION] = "condition",
        [LN_RULE_READERS] = "readers", [LN_RULE_SIZES] = "sizes",
        [LN_RULE_ORDER] = "order",     [LN_RULE_OUTRANKED] = "outranked"};
    return words[item->outcome];
}

const char *cli_refused_why(const cli_refused *item, char text[LN_MAXLINE])
{
    static const char *const formats[] = {[LN_RULE_APPLIED] = "applied",
                                          [LN_RULE_CONDITION] = "false: %s",
                                          [LN_RULE_READERS] =
                                              "'%s' has other readers, or is an output",
                                          [LN_RULE_SIZES] = "sizes are open",
                                          [LN_RULE_ORDER] = "an operator between writes in place",
                                          [LN_RULE_OUTRANKED] = "%s was applied first"};
    snprintf(text, LN_MAXLINE, formats[item->outcome], item->text ? item->text : "a condition");
    return text;
}
