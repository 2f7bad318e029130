// SPDX-License-Identifier: Apache-2.0
// lightnet show: the operators of a model, and its memory plan.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_options.h"
#include "command/cli_refused.h"
#include "draw/cli_svg.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_model_inputs.h"
#include "input/cli_params.h"
#include "input/cli_session.h"
#include "input/cli_source.h"
#include "lightnet/lightnet.h"
#include "lightnet/ln_body.h"
#include "lightnet/ln_util.h"
#include "output/cli_color.h"
#include "output/cli_json.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"
#include "tensorlight/tl_type.h"

typedef struct show_options {
    cli_options shared;
    int dot, svg, svg_memory;
    int missing, refused;
} show_options;

static void print_port(const char *title, const char *name, const tl_tensor *info,
                       const char *shape)
{
    cli_print("%-10s %s %s %s\n", title, name, tl_dtype_name(info->dtype), shape);
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
    size_t n = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        counts[n++] = (type_count){.optype = op->op_arg->optype, .n = 1};
    }
    return n;
}

// The number of operators of each type, by name, `total` in all. Returns new (free), *n_types
// counts; NULL after a message.
static type_count *count_types(const ln_context *ctx, size_t total, size_t *n_types)
{
    *n_types = 0;
    type_count *counts = calloc(total + 1, sizeof(*counts));
    if (!counts)
        return cli_fail_memory(), NULL;
    size_t n = list_types(ctx, counts);
    LN_FOREACH (const ln_context *, body, ctx->bodies)
        n += list_types(body, counts + n);
    qsort(counts, n, sizeof(*counts), by_name);
    for (size_t i = 0; i < n; i++) {
        if (*n_types && !strcmp(counts[*n_types - 1].optype, counts[i].optype))
            counts[*n_types - 1].n++;
        else
            counts[(*n_types)++] = counts[i];
    }
    return counts;
}

static int print_types(const ln_context *ctx, size_t total)
{
    size_t n_types;
    type_count *counts = count_types(ctx, total, &n_types);
    if (!counts)
        return CLI_FAILED;
    for (size_t i = 0; i < n_types; i++)
        cli_print("  %6d %s\n", counts[i].n, counts[i].optype);
    free(counts);
    return 0;
}

// The number of operators of a run that the CPU computes for a program of another target.
static int count_on_cpu(const ln_context *ctx)
{
    int n = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const ln_op_arg *op_arg = op->op_arg;
        n += !op_arg->at_load && op->run && strcmp(op_arg->arch, ctx->target) != 0;
    }
    return n;
}

static void print_on_cpu(const ln_context *ctx)
{
    const int n = count_on_cpu(ctx);
    if (n)
        cli_print("%-10s %d operator%s of each run\n", "on the CPU", n, n == 1 ? "" : "s");
}

static int print_stats(const ln_context *ctx, const cli_options *opt)
{
    ln_stats stats;
    if (ln_context_stats(ctx, &stats))
        return cli_model_fail(ctx, opt);
    cli_print("%-10s %zu (%zu bytes)\n", "parameters", stats.params, stats.param_size);
    if (stats.macs > 0)
        cli_print("%-10s %.0f multiply-accumulates a run\n", "work", stats.macs);
    cli_print("%-10s %zu bytes, %.3f times the lower bound of %zu\n", "memory", stats.memory,
              stats.memory_bound ? (double)stats.memory / (double)stats.memory_bound : 1.0,
              stats.memory_bound);
    for (int m = LN_MEM_CPU + 1; m < LN_MEM_TYPE_SIZE; m++)
        if (ctx->mem_sizes[m])
            cli_print("%-10s and %zu bytes of %s\n", "", ctx->mem_sizes[m], ln_mem_type_name(m));
    if (!stats.ops)
        cli_print("%-10s 0: the model computes nothing\n", "operators");
    else
        cli_print("%-10s %d: %d at load only, %d views\n", "operators", stats.ops,
                  stats.ops_at_load, stats.views);
    print_on_cpu(ctx);
    return print_types(ctx, (size_t)stats.ops);
}

// In DOT, the backslash of an escape sequence is escaped itself.
static void print_quoted(const char *text)
{
    cli_print("\"");
    for (size_t used, left = strlen(text); left > 0; text += used, left -= used) {
        char part[8];
        const size_t len = ln_escape_char(part, text, left, &used);
        cli_print("%s%.*s", *part == '"' || *part == '\\' ? "\\" : "", (int)len, part);
    }
    cli_print("\"");
}

static void print_edges(const ln_context *ctx, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const ln_op *producer = ln_entry_creater(ln_entry_of(tle, ctx->tensor_table));
        cli_print("    ");
        print_quoted(producer->op_arg->name);
        cli_print(" -> ");
        print_quoted(op->op_arg->name);
        cli_print(" [label=");
        print_quoted(tle->name);
        cli_print("];\n");
    }
}

static void print_dot(const ln_context *ctx)
{
    cli_print("digraph model {\n    node [shape=box];\n");
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        cli_print("    ");
        print_quoted(op->op_arg->name);
        cli_print(" [label=");
        print_quoted(op->op_arg->optype);
        cli_print("];\n");
    }
    LN_FOREACH (const ln_op *, op, ctx->ops)
        print_edges(ctx, op);
    cli_print("}\n");
}

// The table of operators

enum { NAME_WIDTH = 28 };

typedef struct table {
    cli_params counted;
    double params, macs, size;
} table;

// Formats an integer, a large one with an SI prefix; "-" for 0.
static const char *format_count(char text[16], double x)
{
    static const char prefixes[] = "kMGTP";
    if (x < 99999.5) {
        if (x > 0)
            snprintf(text, 16, "%.0f", x);
        else
            snprintf(text, 16, "-");
        return text;
    }
    const char *prefix = prefixes;
    x /= 1000;
    while (x >= 999.95 && prefix[1]) {
        x /= 1000;
        prefix++;
    }
    snprintf(text, 16, "%.1f %c", x, *prefix);
    return text;
}

// Lines

// With the params, macs and size of `t`.
static void print_line(const char *name, const char *optype, const char *shape, const table *t,
                       const char *algorithm)
{
    char p[16], m[16], s[16];
    cli_print("%-*.*s  %-24s  %-20s %9s %9s %9s%s%s\n", NAME_WIDTH, NAME_WIDTH, name, optype, shape,
              format_count(p, t->params), format_count(m, t->macs), format_count(s, t->size),
              algorithm ? "  " : "", algorithm ? algorithm : "");
}

// Prints an operator of a run: its first output, or NULL, and its own params, macs and size.
typedef void (*op_printer)(void *data, const ln_op *op, const tl_tensor *output, const table *own);

static void print_op(void *data, const ln_op *op, const tl_tensor *output, const table *own)
{
    char shape[LN_MAX_SHAPE] = "";
    (void)data;
    if (output)
        ln_sprint_shape(shape, sizeof(shape), output->ndim, output->dims);
    print_line(op->op_arg->name, op->op_arg->optype, shape, own, op->op_arg->algorithm);
}

static int count_op(table *t, const ln_op *op, op_printer print, void *data)
{
    const tl_tensor *output = NULL;
    const ln_op_arg *op_arg = op->op_arg;
    if (op_arg->at_load || !op->run)
        return 0;
    table own = {.macs = op_arg->macs};
    if (cli_params_count(&t->counted, op, &own.params))
        return CLI_FAILED;
    const ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op_arg) {
        own.size += (double)ln_tensor_entry_capacity(te);
        if (!output)
            output = te->tensor;
    }
    print(data, op, output, &own);
    t->params += own.params;
    t->macs += own.macs;
    t->size += own.size;
    return 0;
}

// Calls print(data, ..) for each operator that a run computes. *t: their totals.
static int each_op(table *t, const ln_context *ctx, op_printer print, void *data)
{
    *t = (table){.params = 0};
    int status = cli_params_begin(&t->counted, ctx);
    LN_FOREACH (const ln_op *, op, ctx->ops)
        status = status ? status : count_op(t, op, print, data);
    cli_params_end(&t->counted);
    return status;
}

// A line for each operator that a run computes: its type, the shape of its first output, the
// parameters that no earlier one reads, multiply-accumulates, the bytes of its outputs, and its
// algorithm or function, if there are several; and the totals.
static int print_ops(const ln_context *ctx)
{
    table t;
    cli_print("\n%s%-*s  %-24s  %-20s %9s %9s %9s  algorithm%s\n", cli_color(stdout, CLI_BOLD),
              NAME_WIDTH, "operator", "type", "output", "params", "MACs", "bytes",
              cli_color_end(stdout));
    const int status = each_op(&t, ctx, print_op, NULL);
    if (!status)
        print_line("total", "", "", &t, NULL);
    return status;
}

// Rules that were not applied

// The subgraph that has the operator, or NULL.
static const char *subgraph_of(const ln_op *op)
{
    return op->op_arg->ctx->outer ? ln_body_name(op->op_arg->ctx) : NULL;
}

// A line for each rule and operator of a run; `r` NULL: nobody wants to know.
static void print_refused(const cli_refusals *r)
{
    char why[LN_MAXLINE], name[2 * LN_MAX_NAME_LEN];
    if (!r)
        return;
    cli_print("\n%s%-*s  %-24s  why it was not applied%s\n", cli_color(stdout, CLI_BOLD),
              NAME_WIDTH, "operator", "rule", cli_color_end(stdout));
    for (const cli_refused *item = r->items; item < r->items + r->n; item++) {
        const char *const subgraph = subgraph_of(item->op);
        snprintf(name, sizeof(name), "%s%s%s", subgraph ? subgraph : "", subgraph ? ": " : "",
                 item->op->op_arg->name);
        cli_print("%-*.*s  %-24s  %s\n", NAME_WIDTH, NAME_WIDTH, name, item->rule,
                  cli_refused_why(item, why));
    }
    if (r->n_left_out)
        cli_print("and %d more\n", r->n_left_out);
}

static void add_refused(cli_json *doc, const cli_refusals *r)
{
    if (!r)
        return;
    cli_json_open(doc, "refused", '[');
    for (const cli_refused *item = r->items; item < r->items + r->n; item++) {
        cli_json_open(doc, NULL, '{');
        cli_json_text(doc, "name", item->op->op_arg->name);
        cli_json_text(doc, "subgraph", subgraph_of(item->op));
        cli_json_text(doc, "rule", item->rule);
        cli_json_text(doc, "why", cli_refused_word(item));
        cli_json_text(doc, "text", item->text);
        cli_json_close(doc);
    }
    cli_json_close(doc);
    cli_json_count(doc, "refused_left_out", (uint64_t)r->n_left_out);
}

// The same as JSON

static void add_memory(cli_json *doc, const ln_context *ctx, const ln_stats *stats)
{
    cli_json_open(doc, "memory", '{');
    cli_json_count(doc, "bytes", stats->memory);
    cli_json_count(doc, "lower_bound", stats->memory_bound);
    cli_json_open(doc, "other", '{');
    for (int m = LN_MEM_CPU + 1; m < LN_MEM_TYPE_SIZE; m++)
        if (ctx->mem_sizes[m])
            cli_json_count(doc, ln_mem_type_name(m), ctx->mem_sizes[m]);
    cli_json_close(doc);
    cli_json_close(doc);
}

static int add_types(cli_json *doc, const ln_context *ctx, size_t total)
{
    size_t n;
    type_count *counts = count_types(ctx, total, &n);
    cli_json_open(doc, "types", '{');
    for (size_t i = 0; counts && i < n; i++)
        cli_json_count(doc, counts[i].optype, (uint64_t)counts[i].n);
    cli_json_close(doc);
    free(counts);
    return counts ? 0 : CLI_FAILED;
}

static void add_op(void *data, const ln_op *op, const tl_tensor *output, const table *own)
{
    cli_json *doc = data;
    cli_json_open(doc, NULL, '{');
    cli_json_text(doc, "name", op->op_arg->name);
    cli_json_text(doc, "type", op->op_arg->optype);
    cli_json_shape(doc, "shape", output ? output->ndim : -1, output ? output->dims : NULL);
    cli_json_count(doc, "params", (uint64_t)own->params);
    cli_json_number(doc, "macs", own->macs);
    cli_json_count(doc, "bytes", (uint64_t)own->size);
    cli_json_text(doc, "algorithm", op->op_arg->algorithm);
    cli_json_close(doc);
}

// Returns 0, or CLI_FAILED after a message; the document is complete, without what failed.
static int print_json(const ln_context *ctx, const cli_options *opt, const cli_refusals *refused)
{
    cli_json doc = {0};
    ln_stats stats;
    table t;
    if (ln_context_stats(ctx, &stats))
        return cli_model_fail(ctx, opt);
    cli_json_open(&doc, NULL, '{');
    cli_json_text(&doc, "model", ctx->source);
    cli_json_text(&doc, "target", ctx->target);
    int status = cli_model_add_ports(&doc, ctx, opt);
    cli_json_count(&doc, "parameters", stats.params);
    cli_json_count(&doc, "parameter_bytes", stats.param_size);
    cli_json_number(&doc, "macs", stats.macs);
    add_memory(&doc, ctx, &stats);
    cli_json_count(&doc, "operators", (uint64_t)stats.ops);
    cli_json_count(&doc, "operators_at_load", (uint64_t)stats.ops_at_load);
    cli_json_count(&doc, "views", (uint64_t)stats.views);
    cli_json_count(&doc, "operators_on_cpu", (uint64_t)count_on_cpu(ctx));
    status = status || add_types(&doc, ctx, (size_t)stats.ops);
    cli_json_open(&doc, "ops", '[');
    status = status || each_op(&t, ctx, add_op, &doc);
    cli_json_close(&doc);
    add_refused(&doc, refused);
    cli_json_close(&doc);
    return status ? CLI_FAILED : 0;
}

// Models whose sizes are open

// Keys of outputs that are maps (ZipMap); LightNet has their values as a tensor.
static void print_keys(const ln_model *model)
{
    static const char prefix[] = "keys of ";
    const size_t len = sizeof(prefix) - 1;
    const char *key;
    for (int i = 0; (key = ln_model_metadata_key(model, i)); i++)
        if (!strncmp(key, prefix, len))
            cli_print("%-10s %s: %s\n", "keys", key + len, ln_model_metadata(model, key));
}

// Which open sizes one program serves

static void print_size(void *data, const ln_open_size *size)
{
    cli_session_add_sum(data, size);
    cli_print("%-10s %s: ", size->name ? "size" : "sizes",
              size->name ? size->name : "all together");
    if (size->sum)
        cli_print("equals %s\n", size->sum);
    else if (size->is_shared > 0)
        cli_print("one program for all lengths\n");
    else if (!size->op)
        cli_print("%s: %s\n", size->is_shared ? "unknown" : "a program for each length",
                  size->reason);
    else
        cli_print(size->is_shared
                      ? "unknown: operator '%s' (%s) rejects the lengths tried: %s\n"
                      : "a program for each length, because of operator '%s' (%s): %s\n",
                  size->op, size->optype, size->reason);
}

static void add_size(void *data, const ln_open_size *size)
{
    cli_json *const doc = data;
    cli_json_open(doc, NULL, '{');
    cli_json_text(doc, "name", size->name);
    cli_json_text(doc, "sum", size->sum);
    if (size->sum || size->is_shared < 0)
        cli_json_null(doc, "one_program");
    else
        cli_json_flag(doc, "one_program", size->is_shared);
    cli_json_text(doc, "operator", size->op);
    cli_json_text(doc, "type", size->optype);
    cli_json_text(doc, "reason", size->reason);
    cli_json_close(doc);
}

static int print_interface(const ln_model *model, const cli_options *opt)
{
    char text[LN_MAXLINE];
    cli_sums sums = {0};
    cli_print("%-10s %s, %s, whose sizes are open\n", "model", cli_source_name(opt->args[0]),
              ln_model_metadata(model, "format"));
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        print_port("input", ln_model_input_name(model, i), ln_model_input_info(model, i),
                   cli_session_input_shape(model, i, text));
    for (int i = 0; i < ln_model_num_outputs(model); i++)
        print_port("output", ln_model_output_name(model, i), ln_model_output_info(model, i),
                   cli_session_output_shape(model, i, text));
    print_keys(model);
    if (ln_model_check_sizes(model, print_size, &sums))
        return cli_fail("%s", ln_model_error(NULL));
    // The programs of a compiled model with several.
    int n = 0;
    char key[32] = "program.1";
    const char *shapes;
    while ((shapes = ln_model_metadata(model, key))) {
        cli_print("%-10s %s\n", "program", shapes);
        snprintf(key, sizeof(key), "program.%d", ++n + 1);
    }
    if (n)
        cli_print("%-10s are those of a program; choose one by --shape\n", "operators");
    else
        cli_print("%-10s depend on the sizes; give them, as by %s\n", "operators",
                  cli_session_shape_options(model, &sums, text));
    return 0;
}

// The same as JSON; without a target yet.
static int print_interface_as_json(const ln_model *model, const cli_options *opt)
{
    char text[LN_MAXLINE], key[32] = "program.1";
    const char *shapes;
    cli_json doc = {0};
    cli_json_open(&doc, NULL, '{');
    cli_json_text(&doc, "model", cli_source_name(opt->args[0]));
    cli_json_text(&doc, "format", ln_model_metadata(model, "format"));
    cli_json_open(&doc, "inputs", '[');
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        cli_model_add_port(&doc, ln_model_input_name(model, i), ln_model_input_info(model, i),
                           cli_session_input_shape(model, i, text));
    cli_json_close(&doc);
    cli_json_open(&doc, "outputs", '[');
    for (int i = 0; i < ln_model_num_outputs(model); i++)
        cli_model_add_port(&doc, ln_model_output_name(model, i), ln_model_output_info(model, i),
                           cli_session_output_shape(model, i, text));
    cli_json_close(&doc);
    cli_json_open(&doc, "programs", '[');
    for (int n = 1; (shapes = ln_model_metadata(model, key)); n++) {
        cli_json_text(&doc, NULL, shapes);
        snprintf(key, sizeof(key), "program.%d", n + 1);
    }
    cli_json_close(&doc);
    cli_json_open(&doc, "sizes", '[');
    const ln_status status = ln_model_check_sizes(model, add_size, &doc);
    cli_json_close(&doc);
    cli_json_close(&doc);
    return status ? cli_fail("%s", ln_model_error(NULL)) : 0;
}

// Prints the interface of the model, with the names of open sizes. Returns the exit status, or -1
// if it did not: the session API cannot open the model, or no size is open.
static int show_open(const cli_options *opt)
{
    ln_model *model = cli_session_try_open(opt);
    int status = model ? cli_session_check_given(model, opt) : -1;
    if (!status)
        status = cli_session_check_sums(model, opt);
    if (!status)
        status = (opt->json ? print_interface_as_json : print_interface)(model, opt);
    ln_model_free(model);
    return status;
}

// The command

// Whether bfloat16, if it is allowed, has an effect.
static void print_precision(const ln_context *ctx)
{
    int n = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const char *const algorithm = op->op_arg->algorithm;
        n += algorithm && !strcmp(algorithm, "bfloat16");
    }
    if (ctx->precision == TL_BFLOAT16 && !strcmp(ctx->target, "cpu"))
        cli_print("%-10s %s\n", "precision",
                  n ? "bf16" : "float32: bf16 rounds nothing, since it is not faster here");
}

static int print_table(const ln_context *ctx, const cli_options *opt, const cli_refusals *refused)
{
    cli_print("%-10s %s, compiled for %s\n", "model", ctx->source, ctx->target);
    print_precision(ctx);
    if (ln_context_describe(ctx, print_input, NULL, NULL))
        return cli_model_fail(ctx, opt);
    if (cli_model_is_constant(ctx))
        cli_print(
            "%-10s none: all is computed when the model is loaded, and runs compute nothing\n",
            "input");
    if (ln_context_describe(ctx, NULL, print_output, NULL))
        return cli_model_fail(ctx, opt);
    ln_model *model = cli_source_is_stream(opt->args[0]) ? NULL : cli_session_try(opt);
    print_keys(model);
    ln_model_free(model);
    if (print_stats(ctx, opt) || print_ops(ctx))
        return CLI_FAILED;
    print_refused(refused);
    return CLI_OK;
}

static int show_compiled(const ln_context *ctx, const show_options *opt,
                         const cli_refusals *refused)
{
    return opt->svg           ? cli_svg_graph(ctx)
           : opt->svg_memory  ? cli_svg_memory(ctx)
           : opt->shared.json ? print_json(ctx, &opt->shared, refused)
                              : print_table(ctx, &opt->shared, refused);
}

static int show_refused(ln_context *ctx, const show_options *opt)
{
    cli_refusals refused;
    if (ctx->target)
        return cli_fail("%s: the model is compiled already, too late for --refused", ctx->source);
    const int status = cli_refusals_watch(&refused, ctx) || cli_model_compile(ctx, &opt->shared) ||
                               cli_refusals_find(&refused, ctx)
                           ? CLI_FAILED
                           : show_compiled(ctx, opt, &refused);
    cli_refusals_free(&refused);
    return status;
}

static int show_model(ln_context *ctx, const show_options *opt)
{
    if (cli_model_check_given(ctx, &opt->shared))
        return CLI_FAILED;
    if (opt->dot) {
        print_dot(ctx);
        return CLI_OK;
    }
    if (opt->refused)
        return show_refused(ctx, opt);
    return cli_model_compile(ctx, &opt->shared) ? CLI_FAILED : show_compiled(ctx, opt, NULL);
}

// Which diagram is printed; NULL: none.
static const char *diagram_of(const show_options *opt)
{
    return opt->svg ? "--svg" : opt->svg_memory ? "--svg-memory" : opt->dot ? "--dot" : NULL;
}

const char *cli_show_diagram(const cli_options *opt)
{
    return diagram_of((const show_options *)opt);
}

static int run_show(const cli_options *shared)
{
    const show_options *opt = (const show_options *)shared;
    if (opt->dot + opt->svg + opt->svg_memory + opt->shared.json > 1)
        return cli_usage("--dot, --svg, --svg-memory and --json exclude each other");
    if (opt->missing && diagram_of(opt))
        return cli_usage("--missing excludes --dot, --svg and --svg-memory");
    if (opt->refused && (diagram_of(opt) || opt->missing))
        return cli_usage("--refused excludes --dot, --svg, --svg-memory and --missing");
    if (opt->missing)
        return cli_missing(&opt->shared);
    ln_context *ctx = cli_model_create(&opt->shared);
    if (!ctx)
        return CLI_FAILED;
    // A model with open sizes has no operators yet.
    const int wants_table = !diagram_of(opt);
    const int is_read = !cli_model_read_into(ctx, &opt->shared);
    int status = is_read ? show_model(ctx, opt) : wants_table ? show_open(&opt->shared) : -1;
    if (status < 0 && !cli_session_fail_open(&opt->shared))
        cli_model_fail_read(ctx, &opt->shared);
    ln_context_free(ctx);
    return status < 0 ? CLI_FAILED : status;
}

static show_options given = {.shared = {CLI_DEFAULTS, .may_write = "-", .only_values = 1}};

#define OWN(name) offsetof(show_options, name)

static const cli_option options[] = {
    CLI_SHARED("target", "allow-output"),
    CLI_INPUT_VALUES,
    CLI_SHARED("shape", "shape"),
    CLI_SHARED("max-memory", "max-constant"),
    CLI_SHARED("json", "json"),
    {"missing", 0, CLI_FLAG, OWN(missing), NULL,
     "list the operators that the model needs and LightNet lacks"},
    {"refused", 0, CLI_FLAG, OWN(refused), NULL,
     "also list the rules that match operators but were not applied, and why"},
    {"dot", 0, CLI_FLAG, OWN(dot), NULL, "print the graph for Graphviz"},
    {"svg", 0, CLI_FLAG, OWN(svg), NULL, "print a diagram of the compiled graph as SVG"},
    {"svg-memory", 0, CLI_FLAG, OWN(svg_memory), NULL, "print a diagram of the memory plan as SVG"},
    CLI_SHARED("threads", "threads"),
    CLI_SHARED("disable-rule", "tune"),
    CLI_SHARED("debug", "no-warnings"),
};

const cli_command cli_show_command = {
    {"show", "MODEL", 1, 1, "print the operators, sizes and memory plan of the model"},
    CLI_ROWS(options),
    &given.shared,
    run_show};
