// SPDX-License-Identifier: Apache-2.0
// Rewrites Concat, Split and channel gathers to the blocked layout.

#include "ln_rules_cpu.h"

#include <stdio.h>
#include <string.h>

#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_blocked.h"

enum {
    MAX_SRCS = 64,  // of an operator that is rewritten
    MAX_PICKED = 8, // sources of a pick that replaces several
};

// The sources of a new pick.
typedef struct sources {
    int n;
    const char *names[MAX_SRCS];
    int channels[MAX_SRCS];
} sources;

// Predicates

// The blocked tensor that from_blocked_cpu converts to `te`, or NULL.
static const ln_tensor_entry *blocks_of(const ln_tensor_entry *te)
{
    const ln_tensor_entry *blocks = NULL;
    const ln_op *const from = ln_entry_creater(te);
    if (!ln_op_is(from, LN_OP_FROM_BLOCKED_CPU) || ln_op_is_dynamic_beyond_batch(from) ||
        !ln_op_reads(from, "src", &blocks) || ln_entry_is_mutated(blocks))
        return NULL;
    return blocks;
}

// Whether images of this type support the blocked layout.
static int has_block_type(const ln_tensor_entry *te)
{
    return te->tensor->dtype == TL_FLOAT || te->tensor->dtype == TL_UINT8;
}

// Whether the operator works along the channel axis.
static int is_on_channel_axis(const ln_op *op, const char *optype, const char *arg_name)
{
    const ln_tensor_entry *te = NULL;
    return ln_op_is(op, optype) && !ln_op_is_dynamic_beyond_batch(op) &&
           ln_op_has_number(op, "axis", 1) && ln_op_reads(op, arg_name, &te) &&
           te->tensor->ndim == 4 && has_block_type(te) && !ln_entry_is_mutated(te);
}

static const ln_tensor_entry *entry_of(const ln_op *op, const ln_tensor_list_entry *tle)
{
    return ln_entry_of(tle, op->op_arg->tensor_table);
}

// The first operator to be tried that `applies`, unless the rule is disabled.
static const ln_op *find(const ln_context *ctx, const char *rule, int (*applies)(const ln_op *op))
{
    const ln_op *op = ln_pass_rule_begins(ctx, rule) ? ln_rule_anchor(ctx, NULL) : NULL;
    while (op && !applies(op))
        op = ln_rule_anchor(ctx, op);
    return op;
}

// Making

static void add_sources(ln_rule_made *made, const sources *srcs)
{
    char arg_name[32];
    for (int i = 0; i < srcs->n; i++) {
        snprintf(arg_name, sizeof(arg_name), "src%d", i);
        ln_rule_input(made, arg_name, srcs->names[i]);
    }
}

// pick_blocked_cpu of the channels `map`.
static void add_pick(ln_rule_made *made, const sources *srcs, int n_map, const int *map,
                     const char *dst)
{
    ln_rule_op(made, LN_OP_PICK_BLOCKED_CPU);
    add_sources(made, srcs);
    ln_rule_output(made, "dst", dst);
    ln_rule_ints(made, "channels", srcs->n, srcs->channels);
    ln_rule_ints(made, "map", n_map, map);
}

// The same of `n_map` channels from `first` on.
static void add_range(ln_rule_made *made, const sources *srcs, int first, int n_map,
                      const char *dst)
{
    int *const map = ln_alloc((size_t)n_map * sizeof(*map));
    if (!map) {
        ln_fail_last(made->ctx);
        made->failed = 1;
        return;
    }
    for (int i = 0; i < n_map; i++)
        map[i] = first + i;
    add_pick(made, srcs, n_map, map, dst);
    ln_free(map);
}

static void add_from_blocked(ln_rule_made *made, const char *src, int channels, const char *dst)
{
    ln_rule_op(made, LN_OP_FROM_BLOCKED_CPU);
    ln_rule_input(made, "src", src);
    ln_rule_output(made, "dst", dst);
    ln_rule_number(made, "channels", channels);
}

static ln_list *end(ln_rule_made *made, const ln_op *replaced, ln_list **old_ops)
{
    return ln_rule_end_subgraph(made, (const ln_op *const[]){replaced, NULL}, old_ops);
}

// Joining

static int can_join(const ln_op *op)
{
    int n_blocked = 0;
    if (!is_on_channel_axis(op, LN_OP_JOIN_CPU, "src0") || ln_op_num_in(op) > MAX_SRCS)
        return 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const ln_tensor_entry *const te = entry_of(op, tle);
        if (te->tensor->dims[1] < 1 || ln_entry_is_mutated(te))
            return 0;
        n_blocked += blocks_of(te) != NULL;
    }
    return n_blocked > 0;
}

// The sources of a join in blocks, put there if they are not.
static sources joined(ln_rule_made *made, const ln_op *op)
{
    sources srcs = {0};
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const ln_tensor_entry *const te = entry_of(op, tle);
        const ln_tensor_entry *const blocks = blocks_of(te);
        srcs.channels[srcs.n] = te->tensor->dims[1];
        srcs.names[srcs.n++] = blocks ? blocks->name : ln_rule_tensor(made, "xb");
        if (blocks)
            continue;
        ln_rule_op(made, LN_OP_TO_BLOCKED_CPU);
        ln_rule_input(made, "src", te->name);
        ln_rule_output(made, "dst", srcs.names[srcs.n - 1]);
    }
    return srcs;
}

// Whether each source starts at a block boundary of the result.
static int are_whole(const sources *srcs)
{
    for (int i = 0; i < srcs->n - 1; i++)
        if (srcs->channels[i] % TL_BLOCK != 0)
            return 0;
    return 1;
}

// join_cpu of channels, one source at least from blocks: joins blocks if all sources except the
// last have full blocks, otherwise picks.
ln_list *ln_join_in_blocks(const ln_context *ctx, ln_list **old_ops)
{
    const ln_tensor_entry *y = NULL;
    ln_rule_made made = {.ctx = ctx, .rule = "join_in_blocks"};
    const ln_op *const op = find(ctx, made.rule, can_join);
    *old_ops = NULL;
    if (!op || !ln_op_makes(op, "dst", &y))
        return NULL;
    const sources srcs = joined(&made, op);
    const char *const dst = ln_rule_tensor(&made, "yb");
    if (are_whole(&srcs)) {
        ln_rule_op(&made, LN_OP_JOIN_CPU);
        add_sources(&made, &srcs);
        ln_rule_output(&made, "dst", dst);
        ln_rule_number(&made, "axis", 1);
    } else {
        add_range(&made, &srcs, 0, y->tensor->dims[1], dst);
    }
    add_from_blocked(&made, dst, y->tensor->dims[1], y->name);
    return end(&made, op, old_ops);
}

// Splitting

static int can_split(const ln_op *op)
{
    const ln_tensor_entry *x = NULL;
    if (!is_on_channel_axis(op, LN_OP_SPLIT_CPU, "src") || ln_op_num_in(op) != 1)
        return 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (entry_of(op, tle)->tensor->dims[1] < 1)
            return 0;
    return ln_op_reads(op, "src", &x) && blocks_of(x);
}

// split_cpu of channels from blocks: a pick for each part.
ln_list *ln_split_in_blocks(const ln_context *ctx, ln_list **old_ops)
{
    const ln_tensor_entry *x = NULL;
    ln_rule_made made = {.ctx = ctx, .rule = "split_in_blocks"};
    const ln_op *const op = find(ctx, made.rule, can_split);
    *old_ops = NULL;
    if (!op || !ln_op_reads(op, "src", &x))
        return NULL;
    const sources srcs = {1, {blocks_of(x)->name}, {x->tensor->dims[1]}};
    int first = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        const int channels = entry_of(op, tle)->tensor->dims[1];
        const char *const dst = ln_rule_tensor(&made, "yb");
        add_range(&made, &srcs, first, channels, dst);
        add_from_blocked(&made, dst, channels, tle->name);
        first += channels;
    }
    return end(&made, op, old_ops);
}

// Picks of picks

// A channel of a tensor in blocks.
typedef struct place {
    const ln_tensor_entry *te;
    int channels; // of the tensor
    int channel;
} place;

// Channel `channel` of the concatenated sources of a pick.
static place source_of(const ln_op *pick, int channel)
{
    const int *channels = ln_op_ints(pick, "channels", NULL);
    const ln_list *src = pick->op_arg->tensors_in;
    for (; channel >= *channels; channels++, src = src->next)
        channel -= *channels;
    return (place){entry_of(pick, src->data), *channels, channel};
}

// The pick that produces a tensor, or NULL.
static const ln_op *pick_of(const ln_tensor_entry *te)
{
    const ln_op *const op = ln_entry_creater(te);
    return ln_op_is(op, LN_OP_PICK_BLOCKED_CPU) && !ln_op_is_dynamic_beyond_batch(op) ? op : NULL;
}

static int reads_no_mutated(const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (ln_entry_is_mutated(entry_of(op, tle)))
            return 0;
    return 1;
}

static int reads_pick(const ln_op *op)
{
    if (!ln_op_is(op, LN_OP_PICK_BLOCKED_CPU) || ln_op_is_dynamic_beyond_batch(op) ||
        !reads_no_mutated(op))
        return 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const ln_op *const pick = pick_of(entry_of(op, tle));
        if (pick && reads_no_mutated(pick))
            return 1;
    }
    return 0;
}

// The index of the tensor among the sources, added if missing; -1: too many.
static int index_of(sources *srcs, const place *at)
{
    for (int i = 0; i < srcs->n; i++)
        if (strcmp(srcs->names[i], at->te->name) == 0)
            return i;
    if (srcs->n == MAX_PICKED)
        return -1;
    srcs->names[srcs->n] = at->te->name;
    srcs->channels[srcs->n] = at->channels;
    return srcs->n++;
}

// Finds the source of each channel of `op`, looking through picks that produce its inputs: channel
// map[i] of srcs->names[indices[i]]. -1: more than MAX_PICKED sources.
static int trace(const ln_op *op, sources *srcs, int n_map, int *map, int *indices)
{
    const int *const own = ln_op_ints(op, "map", NULL);
    for (int i = 0; i < n_map; i++) {
        place at = source_of(op, own[i]);
        const ln_op *const pick = pick_of(at.te);
        if (pick && reads_no_mutated(pick))
            at = source_of(pick, ln_op_ints(pick, "map", NULL)[at.channel]);
        indices[i] = index_of(srcs, &at);
        map[i] = at.channel;
        if (indices[i] < 0)
            return -1;
    }
    return 0;
}

// Converts channels of sources to channels of the concatenated sources.
static void to_concatenated_indices(const sources *srcs, int n_map, int *map, const int *indices)
{
    int first[MAX_SRCS] = {0};
    for (int i = 1; i < srcs->n; i++)
        first[i] = first[i - 1] + srcs->channels[i - 1];
    for (int i = 0; i < n_map; i++)
        map[i] += first[indices[i]];
}

static ln_list *merge_picks(const ln_context *ctx, const ln_op *op, int n_map, int *map,
                            int *indices, ln_list **old_ops)
{
    sources srcs = {0};
    const ln_tensor_entry *y = NULL;
    ln_rule_made made = {.ctx = ctx, .rule = "pick_of_picks"};
    if (trace(op, &srcs, n_map, map, indices) < 0 || !ln_op_makes(op, "dst", &y))
        return NULL;
    to_concatenated_indices(&srcs, n_map, map, indices);
    add_pick(&made, &srcs, n_map, map, y->name);
    return end(&made, op, old_ops);
}

// pick_blocked_cpu of other picks: one pick from their sources, unless they are too many.
ln_list *ln_pick_of_picks(const ln_context *ctx, ln_list **old_ops)
{
    const ln_op *const op = find(ctx, "pick_of_picks", reads_pick);
    ln_list *new_ops = NULL;
    int n_map;
    *old_ops = NULL;
    if (!op || !ln_op_ints(op, "map", &n_map))
        return NULL;
    int *const map = ln_alloc((size_t)n_map * 2 * sizeof(*map));
    if (map)
        new_ops = merge_picks(ctx, op, n_map, map, map + n_map, old_ops);
    else
        ln_fail_last(ctx);
    ln_free(map);
    return new_ops;
}
