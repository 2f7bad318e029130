// SPDX-License-Identifier: Apache-2.0
// Writing a model as an NNVM graph: inputs, operators in order, heads.

#include "front/nnvm/write/ln_nnvm_write.h"

#include <stdio.h>
#include <string.h>

#include "front/ln_missing.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_hash.h"
#include "pass/ln_rewriting.h"

static const ln_nnvm_op_row *const tables[] = {
    ln_nnvm_write_rows_conv,       ln_nnvm_write_rows_function, ln_nnvm_write_rows_image,
    ln_nnvm_write_rows_pair,       ln_nnvm_write_rows_pick,     ln_nnvm_write_rows_shape,
    ln_nnvm_write_rows_statistics,
};

static const ln_nnvm_op_row *find_row(const char *optype)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const ln_nnvm_op_row *row = tables[i]; row->optype; row++)
            if (!strcmp(row->optype, optype))
                return row;
    return NULL;
}

// Names and inputs

// Reserves the names of tensors, also of those that no node produces in the end.
static void reserve_names(ln_nnvm_writer *w)
{
    LN_FOREACH (const ln_op *, op, w->draft.base.ctx->ops)
        LN_FOREACH (const ln_tensor_list_entry *, out, op->op_arg->tensors_out)
            ln_nnvm_draft_reserve_name(&w->draft, out->name);
}

// Operators

static void check_sizes(ln_nnvm_op *n)
{
    LN_FOREACH (const ln_tensor_list_entry *, out, n->op->op_arg->tensors_out) {
        const ln_tensor_entry *te = ln_entry_of(out, n->draft->base.ctx->tensor_table);
        if (te && te->isdynamic)
            ln_nnvm_op_fail(n, "the size of its output '%.256s' is known only at run time",
                            out->name);
        if (te && !te->tensor->len)
            ln_nnvm_op_fail(n, "its output '%.256s' has 0 elements, expected at least 1 in NNVM",
                            out->name);
    }
}

static void write_op(ln_nnvm_writer *w, const ln_op *op)
{
    const ln_list *outs = op->op_arg->tensors_out;
    ln_nnvm_op n = {.writer = w,
                    .draft = &w->draft,
                    .op = op,
                    .label =
                        outs ? ((const ln_tensor_list_entry *)outs->data)->name : op->op_arg->name,
                    .first_node = (uint32_t)w->draft.n_nodes};
    if (ln_produces_inputs(op->op_arg->optype))
        return; // written with its reader
    check_sizes(&n);
    if (w->draft.base.failed)
        return;
    const ln_nnvm_value v = find_row(op->op_arg->optype)->write(&n);
    ln_nnvm_op_set_out(&n, n.label, v);
}

// The unsupported operator type, or value of the parameter that selects the function; NULL: core
// supports the operator.
static const char *lacking(const ln_op *op)
{
    const ln_nnvm_op_row *const row = find_row(op->op_arg->optype);
    if (!row)
        return ln_produces_inputs(op->op_arg->optype) ? NULL : op->op_arg->optype;
    const char *const value = row->param ? ln_op_string(op, row->param) : NULL;
    return value && !row->has(value) ? value : NULL;
}

static int has_op(const ln_op *op)
{
    return !lacking(op);
}

// Fails with a list of all that core lacks, each with the first operator that needs it.
static void check_support(ln_nnvm_writer *w)
{
    ln_missing missing = {.translation = &w->draft.base, .shows_first = 1, .is_writer = 1};
    LN_FOREACH (const ln_op *, op, w->draft.base.ctx->ops) {
        const char *const what = lacking(op);
        char place[256];
        if (!what)
            continue;
        snprintf(place, sizeof(place), "'%.128s'", op->op_arg->name);
        ln_missing_note(&missing, what, &(ln_missing_op){.optype = what, .first = place});
    }
    ln_missing_report(&missing, "operators that NNVM's core lacks");
}

// Whether the reader would name the output so: after its node, or, since inputs and constants keep
// their names, with "_0" appended.
static int is_read_as(ln_nnvm_writer *w, ln_nnvm_entry entry, const char *name)
{
    ln_translation *const t = &w->draft.base;
    const char *const node = ln_nnvm_draft_name(&w->draft, entry);
    const char *const op = ln_nnvm_draft_op(&w->draft, entry);
    const int is_named = ln_streq(ln_nnvm_output_name(t, node, entry.index), name);
    return is_named ||
           ((!strcmp(op, "null") || !strcmp(op, "full")) &&
            ln_streq(ln_translation_print(t, "%.*s_0", ln_name_stem(node), node), name));
}

// Copies an output that is an input, a constant, or another output, so that it has its own name.
static ln_nnvm_value named_head(ln_nnvm_op *n)
{
    ln_nnvm_value v = ln_nnvm_op_whole(n, n->label);
    if (!ln_nnvm_op_failed(n) && !is_read_as(n->writer, v.entry, n->label))
        v = ln_put(n, "copy", v);
    ln_nnvm_op_set_out(n, n->label, v);
    return v;
}

static void add_heads(ln_nnvm_writer *w)
{
    LN_FOREACH (const char *, name, w->draft.base.ctx->outputs) {
        ln_nnvm_op n = {.writer = w,
                        .draft = &w->draft,
                        .op = ln_context_creater(w->draft.base.ctx, name),
                        .label = name,
                        .first_node = (uint32_t)w->draft.n_nodes};
        if (!n.op)
            ln_translation_fail(&w->draft.base, "no operator produces output '%.256s'", name);
        ln_nnvm_draft_head(&w->draft, named_head(&n).entry);
    }
}

static void write_model(ln_nnvm_writer *w)
{
    reserve_names(w);
    check_support(w);
    LN_FOREACH (const char *, name, w->draft.base.ctx->inputs)
        ln_nnvm_writer_input(w, name);
    LN_FOREACH (const ln_op *, op, w->draft.base.ctx->ops)
        if (!w->draft.base.failed)
            write_op(w, op);
    add_heads(w);
}

int ln_nnvm_write(ln_context *ctx, const char *file)
{
    ln_nnvm_writer w = {0};
    if (ln_pass_lower(ctx, has_op))
        return -1;
    ln_nnvm_draft_init(&w.draft, ctx, file);
    w.values = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!w.values)
        ln_translation_fail_memory(&w.draft.base);
    if (!w.draft.base.failed)
        write_model(&w);
    const int status = ln_nnvm_draft_write(&w.draft);
    ln_hash_free(w.values);
    ln_nnvm_draft_clear(&w.draft);
    return status;
}
