// SPDX-License-Identifier: Apache-2.0
// Writes the JSON intermediate representation.
//
// Errors are checked once, at the end: of the stream, and texts that cannot be JSON.

#include "base/ln_error_memory.h"
#include "base/ln_outtext.h"
#include "front/json/ln_ir_json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ir/ln_fixed.h"
#include "data/ln_json.h"
#include "lightnet/ln_body.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"

// A model or body on its way to a stream.
typedef struct writer {
    FILE *fp;
    const ln_context *ctx;
    ln_error *err;
    int has_failed; // the reason is in `err`
} writer;

// Writes a string after the text `before`.
static void put(writer *w, const char *before, const char *string)
{
    fputs(before, w->fp);
    if (!w->has_failed)
        w->has_failed = ln_json_write_string(w->fp, string, w->err) != 0;
}

// Values

static void put_bool(const writer *w, ln_bool value)
{
    fputs(value ? "true" : "false", w->fp);
}

static void write_array(writer *w, const ln_param_entry *pe)
{
    fputc('[', w->fp);
    for (int i = 0; i < pe->array_len; i++) {
        fputs(i ? ", " : "", w->fp);
        if (pe->type == LN_PARAM_ARRAY_STRING)
            put(w, "", pe->value_array_string[i]);
        else if (pe->type == LN_PARAM_ARRAY_NUMBER)
            ln_json_write_number(w->fp, pe->value_array_double[i]);
        else
            put_bool(w, pe->value_array_bool[i]);
    }
    fputc(']', w->fp);
}

// A value that was never set is written as null.
static void write_value(writer *w, const ln_param_entry *pe)
{
    switch (pe->type) {
    case LN_PARAM_NUMBER:
        ln_json_write_number(w->fp, pe->value_double);
        break;
    case LN_PARAM_BOOL:
        put_bool(w, pe->value_bool);
        break;
    case LN_PARAM_ARRAY_STRING:
    case LN_PARAM_ARRAY_NUMBER:
    case LN_PARAM_ARRAY_BOOL:
        write_array(w, pe);
        break;
    default:
        if (pe->type == LN_PARAM_STRING && pe->value_string)
            put(w, "", pe->value_string);
        else
            fputs("null", w->fp);
    }
}

// Lists: one element a line, "[]" if empty

typedef void (*write_element_func)(writer *w, const void *element);

static void write_list(writer *w, int indent, const ln_list *list, write_element_func write_element)
{
    fputc('[', w->fp);
    for (const ln_list *node = list; node && !w->has_failed; node = node->next) {
        fprintf(w->fp, "%s\n%*s", node == list ? "" : ",", indent + 4, "");
        write_element(w, node->data);
    }
    if (list)
        fprintf(w->fp, "\n%*s", indent, "");
    fputc(']', w->fp);
}

static void write_param(writer *w, const void *element)
{
    const ln_param_entry *pe = element;
    put(w, "{\"arg_name\": ", pe->arg_name);
    fputs(", \"value\": ", w->fp);
    write_value(w, pe);
    fputc('}', w->fp);
}

static void write_tensor(writer *w, const void *element)
{
    const ln_tensor_list_entry *tle = element;
    put(w, "{\"arg_name\": ", tle->arg_name);
    put(w, ", \"name\": ", tle->name);
    if (w->ctx->target) {
        // The table has precedence; a model that was only read has its offsets in the lists.
        const ln_tensor_entry *te = ln_entry_of(tle, w->ctx->tensor_table);
        fprintf(w->fp, ", \"offset\": %zu", te ? te->offset : tle->offset);
    }
    fputc('}', w->fp);
}

// Writes a hash as a string, as it has more bits than a JSON number.
static void write_fixed_value(writer *w, const void *element)
{
    const ln_fixed_value *value = element;
    put(w, "{\"tensor\": ", value->tensor);
    if (value->rule)
        put(w, ", \"rule\": ", value->rule);
    fputs(value->frozen ? ", \"frozen\": true" : "", w->fp);
    fprintf(w->fp, ", \"hash\": \"%016" PRIx64 "\"}", value->hash);
}

// The nodes of the model

// Whether runs compute the operator, and it has nodes.
static int has_nodes(const writer *w, const ln_op *op)
{
    return w->ctx->target && !op->op_arg->at_load && op->run && ln_op_num_nodes(op->op_arg);
}

static void write_node_numbers(writer *w, const ln_op_arg *op_arg)
{
    fputs(",\n            \"nodes\": [", w->fp);
    for (int i = 0; i < ln_op_num_nodes(op_arg); i++)
        fprintf(w->fp, "%s%d", i ? ", " : "", ln_op_node(op_arg, i)->number);
    fputc(']', w->fp);
}

// Appends the nodes of the program's operators, or only counts them if `nodes` is NULL. Returns
// their number.
static size_t list_nodes(writer *w, const ln_context *ctx, const ln_model_node **nodes)
{
    size_t n = 0;
    w->ctx = ctx;
    LN_FOREACH (const ln_op *, op, ctx->ops)
        for (int i = 0; has_nodes(w, op) && i < ln_op_num_nodes(op->op_arg); i++, n++)
            if (nodes)
                nodes[n] = ln_op_node(op->op_arg, i);
    LN_FOREACH (const ln_context *, body, ctx->bodies)
        n += list_nodes(w, body, nodes ? nodes + n : NULL);
    w->ctx = ctx;
    return n;
}

static int by_number(const void *a, const void *b)
{
    const ln_model_node *const *const x = a, *const *const y = b;
    return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

static void write_node(writer *w, const ln_model_node *node)
{
    fprintf(w->fp, "\n        [%d", node->number);
    put(w, ", ", node->name);
    put(w, ", ", node->type);
    fputc(']', w->fp);
}

// Writes each node that runs compute once, by number.
static void write_nodes(writer *w)
{
    const ln_context *const ctx = w->ctx;
    const size_t n = ctx->target && !ctx->outer ? list_nodes(w, ctx, NULL) : 0;
    const ln_model_node **const nodes = n ? ln_alloc_array(n, sizeof(*nodes)) : NULL;
    if (n && !nodes)
        w->has_failed = ln_error_memory(w->err);
    if (!nodes)
        return;
    list_nodes(w, ctx, nodes);
    qsort(nodes, n, sizeof(*nodes), by_number);
    fprintf(w->fp, "    \"node_count\": %d,\n    \"model_nodes\": [", ctx->n_model_nodes);
    for (size_t i = 0; i < n; i++) {
        if (i && nodes[i]->number == nodes[i - 1]->number)
            continue;
        fputs(i ? "," : "", w->fp);
        write_node(w, nodes[i]);
    }
    fputs("\n    ],\n", w->fp);
    ln_free(nodes);
}

// Operators and the top

static void write_op(writer *w, const void *element)
{
    const ln_op_arg *op_arg = ((const ln_op *)element)->op_arg;
    put(w, "{\n            \"name\": ", op_arg->name);
    put(w, ",\n            \"optype\": ", op_arg->optype);
    fputs(",\n            \"tensors_in\": ", w->fp);
    write_list(w, 12, op_arg->tensors_in, write_tensor);
    fputs(",\n            \"tensors_out\": ", w->fp);
    write_list(w, 12, op_arg->tensors_out, write_tensor);
    fputs(",\n            \"params\": ", w->fp);
    write_list(w, 12, ln_op_params(op_arg), write_param);
    if (w->ctx->target && op_arg->scratch_size)
        fprintf(w->fp, ",\n            \"scratch\": {\"size\": %zu, \"offset\": %zu}",
                op_arg->scratch_size, op_arg->scratch_offset);
    if (has_nodes(w, element))
        write_node_numbers(w, op_arg);
    fputs("\n        }", w->fp);
}

// Omitted names are inferred again.
static void write_interface(writer *w, const char *key, const ln_list *names, unsigned declared)
{
    if (!names && !declared)
        return;
    fprintf(w->fp, "    \"%s\": [", key);
    for (const ln_list *node = names; node; node = node->next)
        put(w, node == names ? "" : ", ", node->data);
    fputs("],\n", w->fp);
}

static void write_plan(writer *w)
{
    const ln_context *const ctx = w->ctx;
    if (!ctx->target)
        return;
    if (!ctx->outer) {
        put(w, "    \"arch\": ", ctx->target);
        fputs(",\n", w->fp);
    }
    fputs("    \"mem_sizes\": {", w->fp);
    for (int mtype = LN_MEM_CPU; mtype < LN_MEM_TYPE_SIZE; mtype++) {
        if (mtype == LN_MEM_CPU || ctx->mem_sizes[mtype])
            fprintf(w->fp, "%s\"%s\": %zu", mtype > LN_MEM_CPU ? ", " : "",
                    ln_mem_type_name((ln_mem_type)mtype), ctx->mem_sizes[mtype]);
    }
    fputs("},\n", w->fp);
    if (!ctx->outer && ctx->planned_threads != 1)
        fprintf(w->fp, "    \"threads\": %d,\n", ctx->planned_threads);
}

static void write_size_names(writer *w, const void *element)
{
    const ln_open_sizes *sizes = element;
    put(w, "{\"tensor\": ", sizes->tensor);
    fputs(", \"names\": [", w->fp);
    for (int i = 0; i < sizes->ndim; i++) {
        if (sizes->names[i])
            put(w, i ? ", " : "", sizes->names[i]);
        else
            fputs(i ? ", null" : "null", w->fp);
    }
    fputs("]}", w->fp);
}

// Writes a line with an optional list; NULL: none.
static void write_optional(writer *w, const char *key, const ln_list *list,
                           write_element_func write)
{
    if (!list)
        return;
    fprintf(w->fp, "    \"%s\": ", key);
    write_list(w, 4, list, write);
    fputs(",\n", w->fp);
}

// Writes bodies in order: each may run those before it.
static void write_bodies(writer *w);

// Writes the common parts of models and bodies, and the bodies of a model before their operators.
static void write_program(writer *w)
{
    const ln_context *const ctx = w->ctx;
    write_plan(w);
    write_nodes(w);
    write_optional(w, "fixed", ctx->outer ? NULL : ln_fixed_values(ctx->fixed), write_fixed_value);
    write_interface(w, "inputs", ctx->inputs, ctx->declared & LN_DECLARES_INPUTS);
    write_interface(w, "outputs", ctx->outputs, ctx->declared & LN_DECLARES_OUTPUTS);
    write_optional(w, "sizes", ctx->outer ? NULL : ln_fixed_sizes(ctx->fixed), write_size_names);
    write_bodies(w);
    fputs("    \"ops\": ", w->fp);
    write_list(w, 4, ctx->ops, write_op);
}

static void write_bodies(writer *w)
{
    const ln_context *const ctx = w->ctx;
    fputs(ctx->bodies ? "    \"bodies\": {\n" : "", w->fp);
    for (const ln_list *node = ctx->bodies; node; node = node->next) {
        put(w, "    ", ln_body_name(node->data));
        fputs(": {\n", w->fp);
        w->ctx = node->data;
        write_program(w);
        w->ctx = ctx;
        fputs(node->next ? "\n    },\n" : "\n    }},\n", w->fp);
    }
}

static int write_model(FILE *fp, const void *arg, ln_error *err)
{
    writer w = {.fp = fp, .ctx = arg, .err = err};
    fprintf(fp, "{\n    \"version\": %d,\n", LN_IR_VERSION);
    write_program(&w);
    fputs("\n}\n", fp);
    return -w.has_failed;
}

int ln_ir_write(const ln_context *ctx, FILE *fp)
{
    return ln_outfile_print(fp, "stream", write_model, ctx, ctx->error);
}

int ln_ir_write_file(const ln_context *ctx, const char *outfile)
{
    return ln_outfile_write_or_print(outfile, write_model, ctx, ctx->error);
}
