// SPDX-License-Identifier: Apache-2.0
// Writing a model as ONNX: inputs, operators in order, outputs.

#include "front/onnx/write/ln_onnx_write.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_utf8.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_sizes.h"
#include "ir/ln_fixed.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_version.h"
#include "pass/ln_rewriting.h"

// Max operators of a model: bodies that run bodies can multiply them.
enum { MAX_OPS = 1 << 22 };

#define TABLE(kind) ln_onnx_write_rows_##kind,
static const ln_onnx_op_row *const tables[] = {LN_ONNX_WRITE_TABLES(TABLE)};

// NULL: none for the operator.
static const ln_onnx_op_row *find_row(const ln_op *op)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const ln_onnx_op_row *row = tables[i]; row->optype; row++)
            if (ln_op_is(op, row->optype))
                return row;
    return NULL;
}

// Whether ONNX has the operator, in one or more nodes.
static int has_op(const ln_op *op)
{
    const ln_onnx_op_row *const row = find_row(op);
    if (row)
        return !row->has || row->has(op);
    return ln_produces_inputs(op->op_arg->optype) || ln_is_placeholder(op) || ln_onnx_has_form(op);
}

// Levels

void ln_onnx_level_init(ln_onnx_writer *w, ln_onnx_level *level, ln_onnx_level *outer,
                        const ln_context *ctx)
{
    *level = (ln_onnx_level){.outer = outer, .ctx = ctx};
    level->values = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!level->values)
        ln_translation_fail_memory(&w->base);
}

void ln_onnx_level_clear(ln_onnx_level *level)
{
    ln_hash_free(level->values);
}

void ln_onnx_level_set(ln_onnx_writer *w, ln_onnx_level *level, const char *tensor,
                       const char *value)
{
    const ln_tensor_entry *const te = ln_tensor_table_find(level->ctx->tensor_table, tensor);
    if (!w->base.failed && ln_hash_insert(level->values, tensor, (void *)value) < 0)
        ln_translation_fail_memory(&w->base);
    if (te)
        ln_onnx_note_type(w, value, te->tensor->dtype);
}

// Operators in order

static void write_op(ln_onnx_writer *w, ln_onnx_level *level, const ln_op *op)
{
    const ln_list *const outs = op->op_arg->tensors_out;
    const ln_onnx_op_row *const row = find_row(op);
    ln_onnx_op n = {.writer = w, .level = level, .op = op, .label = op->op_arg->name};
    if (ln_produces_inputs(op->op_arg->optype) || ln_is_placeholder(op))
        return; // written with its reader
    const ln_tensor_list_entry *const first = outs ? outs->data : NULL;
    if (first)
        n.label = ln_onnx_op_out(&n, first->arg_name);
    if (row)
        row->write(&n);
    else
        ln_onnx_write_form(&n, NULL);
}

void ln_onnx_write_level(ln_onnx_writer *w, ln_onnx_level *level)
{
    LN_FOREACH (const ln_op *, op, level->ctx->ops) {
        ln_translation_check(&w->base);
        if (w->n_ops++ >= MAX_OPS && !w->base.failed)
            ln_translation_fail_as(&w->base, LN_LIMIT_REACHED,
                                   "more than %d operators, with bodies counted at each use",
                                   MAX_OPS);
        if (!w->base.failed)
            write_op(w, level, op);
    }
}

// Names

static void check_name(ln_onnx_writer *w, const char *name)
{
    const unsigned char *p = (const unsigned char *)name;
    size_t left = strlen(name);
    for (size_t len; left && !w->base.failed; p += len, left -= len) {
        len = ln_utf8_length(p, left);
        if (!len) {
            ln_translation_fail(
                &w->base, "tensor '%.256s': the name is not UTF-8, which ONNX requires", name);
            return;
        }
    }
}

// Reserves the names of the model's tensors, also of those that no node produces in the end.
static void reserve_names(ln_onnx_writer *w, const ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        LN_FOREACH (const ln_tensor_list_entry *, out, op->op_arg->tensors_out) {
            check_name(w, out->name);
            if (!w->base.failed && !ctx->outer &&
                ln_hash_insert(w->names, out->name, (void *)out->name) < 0)
                ln_translation_fail_memory(&w->base);
        }
    }
    LN_FOREACH (const ln_context *, body, ctx->bodies)
        reserve_names(w, body);
}

// Inputs and outputs

static const ln_open_sizes *sizes_of(const ln_context *ctx, const char *name, int ndim)
{
    return ln_fixed_sizes_of(ctx->fixed, name, ndim);
}

// The dim_param of an open size: its name, or a unique one, as equal names mean equal sizes.
static const char *size_name(ln_onnx_writer *w, const ln_open_sizes *sizes, const char *tensor,
                             int i)
{
    const char *const name = sizes ? sizes->names[i] : NULL;
    if (name && *name)
        return name;
    return ln_translation_print(&w->base, "%.*s_%d", ln_name_stem(tensor), tensor, i);
}

static void add_input(ln_onnx_writer *w, ln_onnx_level *level, const char *name)
{
    const ln_tensor_entry *const te = ln_tensor_table_find(level->ctx->tensor_table, name);
    const ln_op *const op = ln_context_creater(level->ctx, name);
    const char *names[LN_MAXDIM] = {NULL};
    if (!te || !op) {
        ln_translation_fail(&w->base, "no operator produces input '%.256s'", name);
        return;
    }
    const int *const min = ln_is_placeholder(op) ? ln_placeholder_min(op) : NULL;
    const int *const max = min ? ln_placeholder_max(op) : NULL;
    const ln_open_sizes *const sizes = sizes_of(level->ctx, name, te->tensor->ndim);
    for (int i = 0; min && i < te->tensor->ndim; i++)
        if (min[i] != max[i])
            names[i] = size_name(w, sizes, name, i);
    ln_onnx_list_add(w, &w->inputs, ln_onnx_put_info(w, name, te->tensor, names));
    ln_onnx_level_set(w, level, name, name);
}

// Copies a value of another name, such as a constant, to the output.
static void put_output(ln_onnx_op *n, const char *value)
{
    ln_onnx_put_begin(n, "Identity");
    ln_onnx_put_set(n, LN_ONNX_SRC(value));
    ln_onnx_put_end(n, 1, &n->label);
}

// Open sizes of the model have its names; other sizes that are known only at run time are
// unspecified.
static void add_output(ln_onnx_writer *w, ln_onnx_level *level, const char *name)
{
    const ln_tensor_entry *const te = ln_tensor_table_find(level->ctx->tensor_table, name);
    ln_onnx_op n = {
        .writer = w, .level = level, .op = ln_context_creater(level->ctx, name), .label = name};
    const char *names[LN_MAXDIM] = {NULL};
    if (!te || !n.op) {
        ln_translation_fail(&w->base, "no operator produces output '%.256s'", name);
        return;
    }
    const ln_open_sizes *const sizes = sizes_of(level->ctx, name, te->tensor->ndim);
    for (int i = 0; i < te->tensor->ndim; i++)
        if (ln_sizes_is_open(te, i))
            names[i] = sizes && sizes->names[i] ? sizes->names[i] : "";
    const char *const value = ln_onnx_op_value(&n, name);
    if (!w->base.failed && strcmp(value, name) != 0)
        put_output(&n, value);
    ln_onnx_list_add(w, &level->outputs, ln_onnx_put_info(w, name, te->tensor, names));
}

// The model

// The ir_version that introduced an operator set.
static int ir_version(int opset)
{
    static const int since[][2] = {{25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {0, 8}};
    int i = 0;
    while (opset < since[i][0])
        i++;
    return since[i][1];
}

static void write_graph(ln_onnx_writer *w, ln_onnx_level *level)
{
    const ln_context *const ctx = level->ctx;
    reserve_names(w, ctx);
    LN_FOREACH (const char *, name, ctx->inputs)
        if (!w->base.failed)
            add_input(w, level, name);
    ln_onnx_write_level(w, level);
    LN_FOREACH (const char *, name, ctx->outputs)
        if (!w->base.failed)
            add_output(w, level, name);
}

// The operator sets of a model, ONNX's own first.
typedef struct imports {
    LnOnnx__OperatorSet sets[LN_ONNX_DOMAINS + 1], *each[LN_ONNX_DOMAINS + 1];
    size_t len;
} imports;

static void add_import(imports *list, const char *domain, int version)
{
    LnOnnx__OperatorSet *const set = &list->sets[list->len];
    ln_onnx__operator_set__init(set);
    set->domain = (char *)domain;
    set->has_version = 1;
    set->version = version;
    list->each[list->len++] = set;
}

static int pack(ln_onnx_writer *w, const ln_onnx_level *level, int is_external)
{
    imports list = {.len = 0};
    const ln_onnx_list infos = ln_onnx_level_infos(w, level);
    LnOnnx__Graph graph = LN_ONNX__GRAPH__INIT;
    LnOnnx__Model model = LN_ONNX__MODEL__INIT;
    add_import(&list, "", w->opset);
    for (ln_onnx_domain d = LN_ONNX_ML; d < LN_ONNX_DOMAINS; d++)
        if (w->domains[d])
            add_import(&list, ln_onnx_domain_name(d), w->domains[d]);
    graph.name = "lightnet";
    graph.node = (LnOnnx__Node **)level->nodes.items;
    graph.n_node = level->nodes.len;
    graph.initializer = (LnOnnx__Tensor **)w->initializers.items;
    graph.n_initializer = w->initializers.len;
    graph.value_info = (LnOnnx__ValueInfo **)infos.items;
    graph.n_value_info = infos.len;
    graph.input = (LnOnnx__ValueInfo **)w->inputs.items;
    graph.n_input = w->inputs.len;
    graph.output = (LnOnnx__ValueInfo **)level->outputs.items;
    graph.n_output = level->outputs.len;
    model.has_ir_version = 1;
    model.ir_version = ir_version(w->opset);
    model.producer_name = "LightNet";
    model.producer_version = LN_VERSION;
    model.graph = &graph;
    model.opset_import = list.each;
    model.n_opset_import = list.len;
    return w->base.failed ? -1 : ln_onnx_pack(w, &model, is_external);
}

static int create_tables(ln_onnx_writer *w)
{
    w->names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    w->constants = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    w->types = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!w->names || !w->constants || !w->types)
        ln_translation_fail_memory(&w->base);
    return w->base.failed ? -1 : 0;
}

// Writes the graph in an operator set. 1: its nodes need a newer one, w->needed.
static int write_in(ln_onnx_writer *w, int opset, ln_context *ctx, int is_external)
{
    ln_onnx_level level;
    w->opset = w->needed = opset;
    w->missing.translation = &w->base;
    w->missing.shows_first = w->missing.is_writer = 1;
    ln_onnx_level_init(w, &level, NULL, ctx);
    if (!create_tables(w))
        write_graph(w, &level);
    if (!w->base.failed)
        ln_onnx_prune(w, &level);
    if (w->n_missing)
        ln_missing_report(&w->missing, "operators that ONNX has no nodes for");
    else if (!ctx->outputs)
        ln_translation_fail(&w->base, "the model has no outputs, which a graph of ONNX must have");
    const int is_done = w->base.failed || w->needed <= opset;
    int status = w->base.failed ? -1 : 0;
    if (!status && is_done)
        status = pack(w, &level, is_external);
    ln_onnx_level_clear(&level);
    ln_hash_free(w->names);
    ln_hash_free(w->constants);
    ln_hash_free(w->types);
    ln_translation_clear(&w->base);
    return is_done ? status : 1;
}

static int write_model(ln_context *ctx, const char *file, int is_external)
{
    int opset = LN_ONNX_OLDEST_WRITTEN, status = ln_pass_lower(ctx, has_op) ? -1 : 1;
    while (status == 1) {
        ln_onnx_writer w = {.base = {.ctx = ctx, .file = file}};
        status = write_in(&w, opset, ctx, is_external);
        opset = w.needed;
    }
    return status;
}

int ln_onnx_write(ln_context *ctx, const char *file)
{
    return write_model(ctx, file, 0);
}

int ln_onnx_write_external(ln_context *ctx, const char *file)
{
    return write_model(ctx, file, 1);
}
