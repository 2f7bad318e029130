// SPDX-License-Identifier: Apache-2.0
// The rule that computes 16-bit float graphs in 32 bits, handwritten, since it applies to operators
// of any type (graph.opt).
//
//     x f16 --> conv --> y f16 --> relu --> z f16
//
// becomes, operator by operator, in the order of the list,
//
//     x f16 --> cast --> x' f32 --> conv --> y' f32 --> relu --> z' f32 --> cast --> z f16
//                                               \--> cast --> y f16
//
// where the cast to y is removed as dead unless y is an output of the model or read by an operator
// that does not compute in 32 bits. docs/dev/design.md, "16-bit floats", has the decisions.

#include "ln_rules_cpu.h"

#include "base/ln_alloc_fail.h"
#include "base/ln_list_end.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "tensorlight/tl_type.h"

static const char rule[] = "widen_halves";

static int is_half(tl_dtype dtype)
{
    return dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

static tl_dtype dtype_of(const ln_op *op, const ln_tensor_list_entry *tle)
{
    return ln_entry_of(tle, op->op_arg->tensor_table)->tensor->dtype;
}

// Operators to widen

// These operators move 16-bit elements unless their source has just been computed in 32 bits.
static int moves(const ln_op *op)
{
    return ln_op_has_trait(op, LN_TRAIT_MOVES);
}

// The 32-bit tensor that a cast rounded to the 16-bit tensor; NULL: no cast did. `only_ours`: casts
// by this rule only, not those of the model.
static const ln_tensor_entry *unrounded(const ln_tensor_entry *te, int only_ours)
{
    const ln_op *const producer = ln_entry_creater(te);
    const ln_tensor_entry *wide = NULL;
    return is_half(te->tensor->dtype) && ln_op_is(producer, LN_OP_CAST) &&
                   (!only_ours || ln_streq(producer->op_arg->rule, rule)) &&
                   ln_op_reads(producer, "src", &wide) && wide->tensor->dtype == TL_FLOAT
               ? wide
               : NULL;
}

// Whether the operator reads a 16-bit float; `only_ours`: one that this rule rounded from 32 bits.
// Operators that only move elements keep tensors that the model rounded in 16 bits.
static int reads_half(const ln_op *op, int only_ours)
{
    const ln_tensor_entry *te;
    LN_INPUTS_FOREACH (te, op->op_arg)
        if (only_ours ? unrounded(te, 1) != NULL : is_half(te->tensor->dtype))
            return 1;
    return 0;
}

// Whether an input or output of the operator is written in place, so that a copy of it would
// not be the same.
static int touches_mutated(const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const ln_tensor_entry *te = ln_entry_of(tle, op->op_arg->tensor_table);
        const ln_tensor_entry *wide = unrounded(te, 0);
        if (ln_entry_is_mutated(te) || (wide && ln_entry_is_mutated(wide)))
            return 1;
    }
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (ln_entry_is_mutated(ln_entry_of(tle, op->op_arg->tensor_table)))
            return 1;
    return 0;
}

// Whether to try the operator: it is abstract and pure, writes no input in place, and is no cast.
// try_wide() rejects operators with subgraphs, which they look up in the context.
static int may_widen(const ln_op *op)
{
    const ln_op_info *const info = op->op_arg->info;
    return ln_streq(op->op_arg->arch, "none") && info && info->pure && !info->inplace_writer &&
           !op->op_arg->takes_inputs && !ln_op_is(op, LN_OP_CAST) && !ln_op_is(op, LN_OP_BITCAST) &&
           !ln_op_is(op, LN_OP_STRING_CAST) && reads_half(op, moves(op)) && !touches_mutated(op);
}

// The operator in 32 bits

// Enters a copy of each input into `table`, 16-bit floats as TL_FLOAT. -1: no memory.
static int enter_inputs(ln_hash *table, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const ln_tensor_entry *te = ln_entry_of(tle, op->op_arg->tensor_table);
        const tl_tensor *t = te->tensor;
        if (ln_tensor_table_find(table, tle->name))
            continue;
        tl_tensor *like =
            tl_tensor_create(NULL, t->ndim, t->dims, is_half(t->dtype) ? TL_FLOAT : t->dtype);
        ln_tensor_entry *entry = like ? ln_tensor_entry_create(tle->name, like) : NULL;
        if (!entry)
            tl_tensor_free(like);
        if (!entry || ln_tensor_table_insert(table, entry) < 0) {
            ln_tensor_entry_free_tensor_too(entry);
            return -1;
        }
        entry->mtype = te->mtype;
        entry->isstatic = te->isstatic;
        entry->isconst = te->isconst;
    }
    return 0;
}

// Infers the output types for float inputs: checks the operator with such, outside of the context.
// 1, with the types in `dtypes`; 0: it does not support such inputs.
static int try_wide(const ln_op *op, tl_dtype *dtypes)
{
    ln_hash *const table = ln_tensor_table_create();
    ln_op *const trial = ln_op_copy(op);
    int works = 0;
    if (table && trial && !enter_inputs(table, op)) {
        trial->op_arg->tensor_table = table;
        trial->op_arg->ctx = NULL;
        works = !ln_op_call(trial, trial->pre_run);
        LN_FOREACH (const ln_tensor_list_entry *, tle, works ? trial->op_arg->tensors_out : NULL)
            *dtypes++ = dtype_of(trial, tle);
        ln_op_call(trial, trial->post_run);
    }
    ln_op_free_lists_too(trial);
    ln_tensor_table_free(table);
    return works;
}

// Whether each output keeps its type, or becomes TL_FLOAT from a 16-bit one.
static int are_like(const ln_op *op, const tl_dtype *dtypes)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        const tl_dtype dtype = dtype_of(op, tle), wide = *dtypes++;
        if (wide != dtype && !(is_half(dtype) && wide == TL_FLOAT))
            return 0;
    }
    return 1;
}

// The types of the operator's outputs for TL_FLOAT inputs, in order; returns new (ln_free). NULL:
// it cannot be widened; NULL with a reason in the context: no memory.
static tl_dtype *wide_dtypes(const ln_context *ctx, const ln_op *op)
{
    const unsigned long failures = ln_alloc_failures();
    tl_dtype *dtypes =
        ln_alloc_array((size_t)ln_tensor_list_length(op->op_arg->tensors_out) + 1, sizeof(*dtypes));
    if (dtypes && try_wide(op, dtypes) && are_like(op, dtypes))
        return dtypes;
    ln_free(dtypes);
    if (ln_alloc_failures() != failures)
        ln_fail_last(ctx);
    return NULL;
}

// Its replacement

static int sets_shape(const ln_op *op)
{
    const ln_arg_info *info = op->op_arg->info->tensors_out;
    while (info && info->dynamic <= 0)
        info = ln_arg_info_next(info);
    return info != NULL;
}

// Functions with steps: an argument just below a step, and the same rounded, have different
// results.
static const struct {
    const char *param, *value;
} steps[] = {
    {"func", "TL_UNARY_FLOOR"},  {"func", "TL_UNARY_CEIL"},
    {"func", "TL_UNARY_ROUND"},  {"func", "TL_UNARY_SIGN"},
    {"op", "TL_BINARY_MOD"},     {"op", "TL_BINARY_FMOD"},
    {"func", "TL_UNARY_SHRINK"}, {"func", "TL_UNARY_THRESHOLDEDRELU"},
    {"func", "TL_UNARY_NOT"},    {"mode", "TL_RESAMPLE_NEAREST"},
    {"dtype", "TL_FLOAT"}, // of quantize, before a cast that rounds to a float of 8 bits or less
};

static int has_steps(const ln_op *op)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (ln_op_has_string(op, steps[i].param, steps[i].value))
            return 1;
    return 0;
}

// Whether results depend on small differences: the operator has steps, or its outputs are
// integers, truth values, or shapes. It reads values as the model rounds them.
static int decides(const ln_op *op)
{
    if (moves(op))
        return 0;
    if (has_steps(op))
        return 1;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (!tl_dtype_is_float(dtype_of(op, tle)))
            return 1;
    return sets_shape(op);
}

// Adds a cast. Returns borrowed: the name of its result, which is `dst`, or a new one for NULL.
static const char *make_cast(ln_rule_made *made, const char *src, tl_dtype dtype, const char *dst)
{
    const char *const name = dst ? dst : ln_rule_tensor(made, "float");
    ln_rule_op(made, LN_OP_CAST);
    ln_rule_input(made, "src", src);
    ln_rule_output(made, "dst", name);
    ln_rule_string(made, "dtype", tl_dtype_name(dtype));
    return name;
}

static int set_name(ln_rule_made *made, ln_tensor_list_entry *tle, const char *name)
{
    if (!made->failed && ln_tensor_list_entry_set_name(tle, name)) {
        ln_fail_last(made->ctx);
        made->failed = 1;
    }
    return made->failed ? -1 : 0;
}

// Makes the operator, a copy of one in the context, read floats.
static void widen_inputs(ln_rule_made *made, const ln_op *op, ln_op *wide)
{
    const int needs_rounded = decides(op);
    ln_list *to = wide->op_arg->tensors_in;
    for (const ln_list *node = op->op_arg->tensors_in; node; node = node->next, to = to->next) {
        const ln_tensor_list_entry *tle = node->data;
        const ln_tensor_entry *te = ln_entry_of(tle, op->op_arg->tensor_table);
        const ln_tensor_entry *const from = needs_rounded ? NULL : unrounded(te, moves(op));
        if (is_half(te->tensor->dtype) &&
            set_name(made, to->data, from ? from->name : make_cast(made, te->name, TL_FLOAT, NULL)))
            return;
    }
}

// Adds float outputs, and casts to the original types.
static void widen_outputs(ln_rule_made *made, const ln_op *op, ln_op *wide, const tl_dtype *dtypes)
{
    const ln_list *to = wide->op_arg->tensors_out;
    for (const ln_list *node = op->op_arg->tensors_out; node; node = node->next, to = to->next) {
        const ln_tensor_list_entry *tle = node->data;
        const tl_dtype dtype = dtype_of(op, tle);
        const char *name = *dtypes++ == dtype ? NULL : ln_rule_tensor(made, "float");
        if (name && set_name(made, to->data, name))
            return;
        if (name)
            make_cast(made, name, dtype, tle->name);
    }
}

// Adds the operator in 32 bits, between its casts.
static void make_wide(ln_rule_made *made, const ln_op *op, const tl_dtype *dtypes)
{
    ln_op *const wide = ln_op_copy(op);
    if (wide)
        widen_inputs(made, op, wide);
    if (!made->failed && !ln_list_add(&made->ops, wide, NULL)) {
        widen_outputs(made, op, wide, dtypes);
        return;
    }
    ln_op_free_lists_too(wide);
    if (!made->failed)
        ln_fail_last(made->ctx);
    made->failed = 1;
}

// If `op` is a cast of the model to a wider float, and this rule rounded its 16-bit source: the
// 32-bit tensor that it can read instead; else NULL.
static const ln_tensor_entry *needless_rounding(const ln_op *op)
{
    const ln_tensor_entry *src = NULL, *dst = NULL;
    if (!ln_op_is(op, LN_OP_CAST) || ln_streq(op->op_arg->rule, rule) ||
        !ln_op_reads(op, "src", &src) || !ln_op_makes(op, "dst", &dst) || touches_mutated(op))
        return NULL;
    const tl_dtype dtype = dst->tensor->dtype;
    return tl_dtype_is_float(dtype) && !is_half(dtype) ? unrounded(src, 1) : NULL;
}

static void make_cast_from(ln_rule_made *made, const ln_op *cast, const ln_tensor_entry *wide)
{
    const ln_tensor_entry *dst = NULL;
    ln_op_makes(cast, "dst", &dst);
    if (dst->tensor->dtype != TL_FLOAT) {
        make_cast(made, wide->name, dst->tensor->dtype, dst->name);
        return;
    }
    ln_rule_op(made, LN_OP_FORWARD);
    ln_rule_input(made, "src", wide->name);
    ln_rule_output(made, "dst", dst->name);
}

static ln_list *widen(ln_rule_made *made, const ln_op *op, ln_list **old_ops)
{
    const ln_op *const replaced[] = {op, NULL};
    const ln_tensor_entry *const wide = needless_rounding(op);
    if (wide) {
        make_cast_from(made, op, wide);
        return ln_rule_end_subgraph(made, replaced, old_ops);
    }
    tl_dtype *const dtypes = may_widen(op) ? wide_dtypes(made->ctx, op) : NULL;
    if (!dtypes)
        return NULL;
    make_wide(made, op, dtypes);
    ln_free(dtypes);
    return ln_rule_end_subgraph(made, replaced, old_ops);
}

// Replaces an abstract operator with inputs of TL_FLOAT16 or TL_BFLOAT16 by the same operator with
// inputs of TL_FLOAT, if it supports them.
ln_list *ln_widen_halves(const ln_context *ctx, ln_list **old_ops)
{
    *old_ops = NULL;
    if (!ln_pass_rule_begins(ctx, rule))
        return NULL;
    for (const ln_op *op = ln_rule_anchor(ctx, NULL); op; op = ln_rule_anchor(ctx, op)) {
        ln_rule_made made = {.ctx = ctx, .rule = rule};
        ln_list *const ops = widen(&made, op, old_ops);
        if (*old_ops || made.failed)
            return ops;
    }
    return NULL;
}
