// SPDX-License-Identifier: Apache-2.0
// Writes the JSON intermediate representation.
//
// Stream errors are looked at once, at the end; the writing functions fail only where a text cannot
// be JSON.

#include "base/ln_outtext.h"
#include "front/json/ln_ir_json.h"

#include <inttypes.h>

#include "ir/ln_fixed.h"
#include "data/ln_json.h"
#include "lightnet/ln_body.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"

// Values

static int write_array_element(FILE *fp, const ln_param_entry *pe, int i, ln_error *err)
{
    switch (pe->type) {
    case LN_PARAM_ARRAY_STRING:
        return ln_json_write_string(fp, pe->value_array_string[i], err);
    case LN_PARAM_ARRAY_NUMBER:
        ln_json_write_number(fp, pe->value_array_double[i]);
        return 0;
    default:
        fputs(pe->value_array_bool[i] ? "true" : "false", fp);
        return 0;
    }
}

static int write_array(FILE *fp, const ln_param_entry *pe, ln_error *err)
{
    fputc('[', fp);
    for (int i = 0; i < pe->array_len; i++) {
        if (i)
            fputs(", ", fp);
        if (write_array_element(fp, pe, i, err))
            return -1;
    }
    fputc(']', fp);
    return 0;
}

// A value that was never set has no form of its own: it is written as null.
static int write_value(FILE *fp, const ln_param_entry *pe, ln_error *err)
{
    switch (pe->type) {
    case LN_PARAM_STRING:
        if (pe->value_string)
            return ln_json_write_string(fp, pe->value_string, err);
        break;
    case LN_PARAM_NUMBER:
        ln_json_write_number(fp, pe->value_double);
        return 0;
    case LN_PARAM_BOOL:
        fputs(pe->value_bool ? "true" : "false", fp);
        return 0;
    case LN_PARAM_ARRAY_STRING:
    case LN_PARAM_ARRAY_NUMBER:
    case LN_PARAM_ARRAY_BOOL:
        return write_array(fp, pe, err);
    default:
        break;
    }
    fputs("null", fp);
    return 0;
}

// Lists: one element a line, "[]" when there is none

typedef int (*write_element_func)(FILE *fp, const ln_context *ctx, const void *element,
                                  ln_error *err);

static int write_list(FILE *fp, const ln_context *ctx, int indent, const ln_list *list,
                      write_element_func write_element, ln_error *err)
{
    fputc('[', fp);
    for (const ln_list *node = list; node; node = node->next) {
        fprintf(fp, "%s\n%*s", node == list ? "" : ",", indent + 4, "");
        if (write_element(fp, ctx, node->data, err))
            return -1;
    }
    if (list)
        fprintf(fp, "\n%*s", indent, "");
    fputc(']', fp);
    return 0;
}

static int write_param(FILE *fp, const ln_context *ctx, const void *element, ln_error *err)
{
    (void)ctx;
    const ln_param_entry *pe = element;
    fputs("{\"arg_name\": ", fp);
    if (ln_json_write_string(fp, pe->arg_name, err))
        return -1;
    fputs(", \"value\": ", fp);
    if (write_value(fp, pe, err))
        return -1;
    fputc('}', fp);
    return 0;
}

static int write_tensor(FILE *fp, const ln_context *ctx, const void *element, ln_error *err)
{
    const ln_tensor_list_entry *tle = element;
    fputs("{\"arg_name\": ", fp);
    if (ln_json_write_string(fp, tle->arg_name, err))
        return -1;
    fputs(", \"name\": ", fp);
    if (ln_json_write_string(fp, tle->name, err))
        return -1;
    if (ctx->target) {
        // The table knows best; a model that was only read has its offsets in the lists.
        const ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
        fprintf(fp, ", \"offset\": %zu", te ? te->offset : tle->offset);
    }
    fputc('}', fp);
    return 0;
}

// A hash has more bits than a number of JSON.
static int write_fixed_value(FILE *fp, const ln_context *ctx, const void *element, ln_error *err)
{
    (void)ctx;
    const ln_fixed_value *value = element;
    fputs("{\"tensor\": ", fp);
    if (ln_json_write_string(fp, value->tensor, err))
        return -1;
    fputs(value->rule ? ", \"rule\": " : "", fp);
    if (value->rule && ln_json_write_string(fp, value->rule, err))
        return -1;
    fputs(value->frozen ? ", \"frozen\": true" : "", fp);
    fprintf(fp, ", \"hash\": \"%016" PRIx64 "\"}", value->hash);
    return 0;
}

// Operators and the top

static int write_op(FILE *fp, const ln_context *ctx, const void *element, ln_error *err)
{
    const ln_op_arg *op_arg = ((const ln_op *)element)->op_arg;
    fputs("{\n            \"name\": ", fp);
    if (ln_json_write_string(fp, op_arg->name, err))
        return -1;
    fputs(",\n            \"optype\": ", fp);
    if (ln_json_write_string(fp, op_arg->optype, err))
        return -1;
    fputs(",\n            \"tensors_in\": ", fp);
    if (write_list(fp, ctx, 12, op_arg->tensors_in, write_tensor, err))
        return -1;
    fputs(",\n            \"tensors_out\": ", fp);
    if (write_list(fp, ctx, 12, op_arg->tensors_out, write_tensor, err))
        return -1;
    fputs(",\n            \"params\": ", fp);
    if (write_list(fp, ctx, 12, ln_op_params(op_arg), write_param, err))
        return -1;
    if (ctx->target && op_arg->scratch_size)
        fprintf(fp, ",\n            \"scratch\": {\"size\": %zu, \"offset\": %zu}",
                op_arg->scratch_size, op_arg->scratch_offset);
    fputs("\n        }", fp);
    return 0;
}

// Omitted names are inferred again.
static int write_interface(FILE *fp, const ln_context *ctx, int is_input, ln_error *err)
{
    const char *key = is_input ? "inputs" : "outputs";
    const ln_list *names = is_input ? ctx->inputs : ctx->outputs;
    const int declared = ctx->declared & (is_input ? LN_DECLARES_INPUTS : LN_DECLARES_OUTPUTS);
    if (!names && !declared)
        return 0;
    fprintf(fp, "    \"%s\": [", key);
    for (const ln_list *node = names; node; node = node->next) {
        if (ln_json_write_string(fp, node->data, err))
            return -1;
        if (node->next)
            fputs(", ", fp);
    }
    fputs("],\n", fp);
    return 0;
}

static int write_plan(FILE *fp, const ln_context *ctx, ln_error *err)
{
    if (!ctx->target)
        return 0;
    if (!ctx->outer) {
        fputs("    \"arch\": ", fp);
        if (ln_json_write_string(fp, ctx->target, err))
            return -1;
        fputs(",\n", fp);
    }
    fputs("    \"mem_sizes\": {", fp);
    for (int mtype = LN_MEM_CPU; mtype < LN_MEM_TYPE_SIZE; mtype++) {
        if (mtype == LN_MEM_CPU || ctx->mem_sizes[mtype])
            fprintf(fp, "%s\"%s\": %zu", mtype > LN_MEM_CPU ? ", " : "",
                    ln_mem_type_name((ln_mem_type)mtype), ctx->mem_sizes[mtype]);
    }
    fputs("},\n", fp);
    if (!ctx->outer && ctx->planned_threads != 1)
        fprintf(fp, "    \"threads\": %d,\n", ctx->planned_threads);
    return 0;
}

static int write_size_names(FILE *fp, const ln_context *ctx, const void *element, ln_error *err)
{
    (void)ctx;
    const ln_open_sizes *sizes = element;
    fputs("{\"tensor\": ", fp);
    if (ln_json_write_string(fp, sizes->tensor, err))
        return -1;
    fputs(", \"names\": [", fp);
    for (int i = 0; i < sizes->ndim; i++) {
        fputs(i ? ", " : "", fp);
        if (!sizes->names[i])
            fputs("null", fp);
        else if (ln_json_write_string(fp, sizes->names[i], err))
            return -1;
    }
    fputs("]}", fp);
    return 0;
}

static int write_bodies(FILE *fp, const ln_context *ctx, ln_error *err);

// A line with a list that only some models have; NULL: it has none.
static int write_optional(FILE *fp, const ln_context *ctx, const char *key, const ln_list *list,
                          write_element_func write, ln_error *err)
{
    if (!list)
        return 0;
    fprintf(fp, "    \"%s\": ", key);
    if (write_list(fp, ctx, 4, list, write, err))
        return -1;
    fputs(",\n", fp);
    return 0;
}

// Writes the common parts of models and bodies, and the bodies of a model before their operators.
static int write_program(FILE *fp, const ln_context *ctx, ln_error *err)
{
    const ln_list *const fixed = ctx->outer ? NULL : ln_fixed_values(ctx->fixed);
    const ln_list *const sizes = ctx->outer ? NULL : ln_fixed_sizes(ctx->fixed);
    if (write_plan(fp, ctx, err) ||
        write_optional(fp, ctx, "fixed", fixed, write_fixed_value, err) ||
        write_interface(fp, ctx, 1, err) || write_interface(fp, ctx, 0, err) ||
        write_optional(fp, ctx, "sizes", sizes, write_size_names, err) ||
        write_bodies(fp, ctx, err))
        return -1;
    fputs("    \"ops\": ", fp);
    return write_list(fp, ctx, 4, ctx->ops, write_op, err);
}

// In order: each may run those before it.
static int write_bodies(FILE *fp, const ln_context *ctx, ln_error *err)
{
    fputs(ctx->bodies ? "    \"bodies\": {\n" : "", fp);
    for (const ln_list *node = ctx->bodies; node; node = node->next) {
        fputs("    ", fp);
        if (ln_json_write_string(fp, ln_body_name(node->data), err))
            return -1;
        fputs(": {\n", fp);
        if (write_program(fp, node->data, err))
            return -1;
        fputs(node->next ? "\n    },\n" : "\n    }},\n", fp);
    }
    return 0;
}

static int write_model(FILE *fp, const void *arg, ln_error *err)
{
    const ln_context *ctx = arg;
    fprintf(fp, "{\n    \"version\": %d,\n", LN_IR_VERSION);
    if (write_program(fp, ctx, err))
        return -1;
    fputs("\n}\n", fp);
    return 0;
}

int ln_ir_write(const ln_context *ctx, FILE *fp)
{
    return ln_outfile_print(fp, "stream", write_model, ctx, ctx->error);
}

int ln_ir_write_file(const ln_context *ctx, const char *outfile)
{
    return ln_outfile_write_or_print(outfile, write_model, ctx, ctx->error);
}
