// SPDX-License-Identifier: Apache-2.0
// lightnet show: what a model is made of, and how its memory is planned.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cli_model.h"
#include "cli_show_open.h"
#include "cli_show_ops.h"
#include "cli_svg.h"

static void print_port(const char *title, const char *name, const tl_tensor *info,
                       const char *shape)
{
    printf("%-10s %s %s %s\n", title, name, tl_dtype_name(info->dtype), shape);
}

static void print_input(void *data, const char *name, const tl_tensor *info, const char *shape)
{
    (void)data;
    print_port("input", name, info, shape);
}

static void print_output(void *data, const char *name, const tl_tensor *info, const char *shape)
{
    (void)data;
    print_port("output", name, info, shape);
}

typedef struct type_count {
    const char *optype;
    int n;
} type_count;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const type_count *)a)->optype, ((const type_count *)b)->optype);
}

static size_t list_types(const ln_context *ctx, type_count *counts)
{
    const ln_op *op;
    size_t n = 0;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        counts[n++] = (type_count){.optype = op->op_arg->optype, .n = 1};
    }
    return n;
}

// How many operators there are of each type, by name, `total` in all.
static int print_types(const ln_context *ctx, size_t total)
{
    const ln_context *body;
    size_t n_types = 0;
    type_count *counts = calloc(total + 1, sizeof(*counts));
    if (!counts)
        return cli_fail_memory();
    size_t n = list_types(ctx, counts);
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        n += list_types(body, counts + n);
    }
    qsort(counts, n, sizeof(*counts), by_name);
    for (size_t i = 0; i < n; i++) {
        if (n_types && !strcmp(counts[n_types - 1].optype, counts[i].optype))
            counts[n_types - 1].n++;
        else
            counts[n_types++] = counts[i];
    }
    for (size_t i = 0; i < n_types; i++)
        printf("  %6d %s\n", counts[i].n, counts[i].optype);
    free(counts);
    return 0;
}

static int print_stats(const ln_context *ctx, const cli_options *opt)
{
    ln_stats stats;
    if (ln_context_stats(ctx, &stats))
        return cli_model_fail(ctx, opt);
    printf("%-10s %zu (%zu bytes)\n", "parameters", stats.params, stats.param_size);
    if (stats.macs > 0)
        printf("%-10s %.0f multiply-accumulates a run\n", "work", stats.macs);
    printf("%-10s %zu bytes, %.3f times the lower bound of %zu\n", "memory", stats.memory,
           stats.memory_bound ? (double)stats.memory / (double)stats.memory_bound : 1.0,
           stats.memory_bound);
    if (!stats.ops)
        printf("%-10s 0: the model computes nothing\n", "operators");
    else
        printf("%-10s %d: %d at load only, %d views\n", "operators", stats.ops, stats.ops_at_load,
               stats.views);
    return print_types(ctx, (size_t)stats.ops);
}

static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('"');
}

static void print_edges(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_in)
    {
        const ln_op *maker = ln_entry_creater(ln_entry_of(tle, ctx->tensor_table));
        printf("    ");
        print_quoted(maker->op_arg->name);
        printf(" -> ");
        print_quoted(op->op_arg->name);
        printf(" [label=");
        print_quoted(tle->name);
        printf("];\n");
    }
}

static void print_dot(const ln_context *ctx)
{
    const ln_op *op;
    printf("digraph model {\n    node [shape=box];\n");
    LN_LIST_FOREACH(op, ctx->ops)
    {
        printf("    ");
        print_quoted(op->op_arg->name);
        printf(" [label=");
        print_quoted(op->op_arg->optype);
        printf("];\n");
    }
    LN_LIST_FOREACH(op, ctx->ops)
    {
        print_edges(ctx, op);
    }
    printf("}\n");
}

static int print_table(const ln_context *ctx, const cli_options *opt)
{
    printf("%-10s %s, compiled for %s\n", "model", ctx->source, ctx->target);
    if (ln_context_describe(ctx, print_input, NULL, NULL))
        return cli_model_fail(ctx, opt);
    if (cli_model_is_constant(ctx))
        printf("%-10s none: all is computed when the model is loaded, and runs compute nothing\n",
               "input");
    if (ln_context_describe(ctx, NULL, print_output, NULL))
        return cli_model_fail(ctx, opt);
    return print_stats(ctx, opt) || cli_show_ops(ctx) ? CLI_FAILED : CLI_OK;
}

static int show_model(ln_context *ctx, const cli_options *opt)
{
    if (opt->dot) {
        print_dot(ctx);
        return CLI_OK;
    }
    if (opt->svg)
        return cli_svg_graph(ctx);
    if (cli_model_compile(ctx, opt))
        return CLI_FAILED;
    return opt->svg_memory ? cli_svg_memory(ctx) : print_table(ctx, opt);
}

// Where sizes are open there are no operators yet.
static int show_unread(const ln_context *ctx, const cli_options *opt)
{
    const int wants_table = !opt->dot && !opt->svg && !opt->svg_memory;
    return wants_table && cli_show_open(opt) ? CLI_OK : cli_model_fail_read(ctx, opt);
}

int cli_show(const cli_options *opt)
{
    if (opt->dot + opt->svg + opt->svg_memory > 1)
        return cli_usage("--dot, --svg and --svg-memory exclude each other");
    ln_context *ctx = cli_model_create(opt);
    if (!ctx)
        return CLI_FAILED;
    const int status = cli_model_read_into(ctx, opt) ? show_unread(ctx, opt) : show_model(ctx, opt);
    ln_context_free(ctx);
    return status;
}
