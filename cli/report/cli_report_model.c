// SPDX-License-Identifier: Apache-2.0
// Measures a model, and adds it to the JSON of a report.

#include "report/cli_report_model.h"

#include <stdlib.h>
#include <string.h>

#include "command/cli_decode.h"
#include "command/cli_refused.h"
#include "command/cli_timing.h"
#include "draw/cli_graph.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "report/cli_report_accuracy.h"
#include "report/cli_report_graph.h"

// The summary

static int add_stats(cli_json *json, const ln_context *ctx, const cli_options *opt)
{
    ln_stats stats;
    if (ln_context_stats(ctx, &stats))
        return cli_model_fail(ctx, opt);
    cli_json_open(json, "stats", '{');
    cli_json_count(json, "nodes", (uint64_t)ctx->n_model_nodes);
    cli_json_count(json, "parameters", stats.params);
    cli_json_count(json, "parameter_bytes", stats.param_size);
    cli_json_number(json, "macs", stats.macs);
    cli_json_close(json);
    return 0;
}

static void add_times(cli_json *json, const cli_timing *t)
{
    cli_json_open(json, "times", '{');
    cli_json_count(json, "runs", (uint64_t)t->runs.n);
    cli_json_fixed(json, "min", t->runs.ms[0], 6);
    cli_json_fixed(json, "median", cli_times_quantile(&t->runs, 0.5), 6);
    cli_json_fixed(json, "load", t->load, 6);
    cli_json_number(json, "peak_kb", t->peak_kb);
    cli_json_close(json);
}

// The machine

// The text after "model name : " of Linux; without it, that of the architecture.
static void add_processor(cli_json *json)
{
    static const char field[] = "model name";
    char *const text = ln_read_text("/proc/cpuinfo");
    char *at = text ? strstr(text, field) : NULL;
    at = at ? strchr(at, ':') : NULL;
    if (at)
        at[strcspn(at, "\n")] = '\0';
    cli_json_text(json, "processor", at ? at + strspn(at, ": ") : NULL);
    ln_free(text);
}

// The peaks of the arithmetic that the operators use, in operations per second.
static void add_machine(cli_json *json, const ln_context *ctx, const cli_op_times *times)
{
    cli_json_open(json, "machine", '{');
    add_processor(json);
    cli_json_text(json, "isa", tl_isa_name(ctx->isa));
    cli_json_count(json, "threads", (uint64_t)(ctx->pool ? tl_pool_size(ctx->pool) : 1));
    cli_json_number(json, "bandwidth", times->bandwidth);
    cli_json_open(json, "peaks", '{');
    for (int i = 0; i < CLI_N_ARITHMETIC; i++)
        if (times->peaks[i] > 0)
            cli_json_number(json, cli_arithmetic_name(i), times->peaks[i]);
    cli_json_close(json);
    cli_json_close(json);
}

// Decoding

static void add_decoded(cli_json *json, const cli_decoded *d)
{
    cli_json_open(json, "decode", '{');
    cli_json_count(json, "prompt", (uint64_t)d->prompt);
    cli_json_fixed(json, "prompt_ms", d->prompt_ms, 6);
    cli_json_open(json, "steps", '[');
    for (int i = 0; i < d->n_new; i++)
        cli_json_fixed(json, NULL, d->steps[i], 6);
    cli_json_close(json);
    cli_json_close(json);
}

// The model

static const char *precision_of(const ln_context *ctx)
{
    return ctx->precision == TL_BFLOAT16  ? "bfloat16"
           : ctx->precision == TL_FLOAT16 ? "float16"
           : ctx->allows_tf32             ? "tf32"
                                          : "float32";
}

static int add_compiled(cli_json *json, ln_context *ctx, const cli_options *opt,
                        const cli_timing *t, const cli_op_times *times, const cli_refusals *refused)
{
    cli_json_text(json, "target", ctx->target);
    cli_json_text(json, "precision", precision_of(ctx));
    add_times(json, t);
    add_machine(json, ctx, times);
    return cli_model_add_ports(json, ctx, opt) || add_stats(json, ctx, opt) ||
           cli_report_add_graph(json, "compiled", ctx, times, refused) ||
           cli_report_add_memory(json, ctx);
}

// What the model prints is not part of the report.
static int measure(ln_context *ctx, const cli_options *opt, double seconds, cli_timing *t,
                   cli_op_times *times)
{
    enum { MAX_RUNS = 100 };
    const int saved = cli_silence_output();
    if (saved < 0)
        return CLI_FAILED;
    int failed = cli_timing_load(t, ctx, opt) || cli_timing_run(t, ctx, opt, seconds);
    const cli_op_runs runs = {t->runs.n < MAX_RUNS ? t->runs.n : MAX_RUNS, seconds};
    failed = failed || cli_op_times_measure(times, ctx, opt, &t->inputs, &runs);
    cli_restore_output(saved);
    return failed ? CLI_FAILED : 0;
}

static int check_compiled(const ln_context *ctx, const char *against)
{
    return ctx->target && against
               ? cli_fail("%s: the model is compiled already, too late for --against", ctx->source)
               : 0;
}

// A compiled model has no graph before it.
static int add_context(cli_json *json, const cli_options *opt, const char *against, double seconds)
{
    cli_timing t = {.load = 0};
    cli_op_times times = {.n = 0};
    cli_refusals refused = {.n = 0};
    ln_context *const ctx = cli_timing_read(&t, opt);
    int status = ctx ? check_compiled(ctx, against) : CLI_FAILED;
    if (!status && !ctx->target)
        status = cli_report_add_graph(json, "model", ctx, NULL, NULL) ||
                 cli_refusals_watch(&refused, ctx);
    status = status || measure(ctx, opt, seconds, &t, &times) || cli_refusals_find(&refused, ctx) ||
             add_compiled(json, ctx, opt, &t, &times, &refused);
    cli_refusals_free(&refused);
    cli_op_times_free(&times);
    cli_timing_free(&t);
    ln_context_free(ctx);
    return status ? CLI_FAILED : 0;
}

int cli_report_add_model(cli_json *json, const cli_report_options *opt, int i)
{
    cli_options own = opt->shared;
    cli_decoded decoded = {.n_shapes = 0};
    int status = 0;
    own.args += i;
    own.n_args = 1;
    if (opt->decode) {
        const cli_decode decode = {&own, opt->decode, &opt->links, opt->seconds};
        status = cli_decode_take(&decode, &decoded);
        if (!own.shapes.n)
            own.shapes = (cli_strings){(const char **)decoded.shapes, decoded.n_shapes};
    }
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "source", own.args[0]);
    if (opt->decode && !status)
        add_decoded(json, &decoded);
    status = status ? status : add_context(json, &own, opt->against, opt->seconds);
    if (!status && opt->against)
        status = cli_report_add_accuracy(json, &own, opt->against);
    cli_json_close(json);
    cli_decoded_free(&decoded);
    return status;
}
