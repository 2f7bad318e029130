// SPDX-License-Identifier: Apache-2.0
// lightnet bench: how long loading and a run take, and each operator's part in it.

#include <stdio.h>
#include <string.h>

#include "cli_options.h"
#include "command/cli_decode.h"
#include "command/cli_measure.h"
#include "command/cli_timing.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_model_inputs.h"
#include "input/cli_session.h"
#include "input/cli_shape.h"
#include "input/cli_source.h"
#include "output/cli_guard.h"
#include "output/cli_print.h"

typedef struct bench_options {
    cli_options shared;
    const char *run_shapes; // --shapes
    const char *decode;
    cli_strings links;
    double seconds;
    const char *trace;
    int per_op;
} bench_options;

// One model with several shapes: --shapes

// The file has a line for each run, in order: NAME=1x16 OTHER=1x16. The inputs hold random data,
// created before the clock starts. The time of a run includes binding its inputs, and compiling a
// program if the model has none for these shapes.

static const char blanks[] = " \t\r";

typedef struct bench {
    const bench_options *opt;
    ln_model *model;
    ln_session *session;
    tl_tensor **inputs; // of the current run, in the model's order; NULL: not given
    int line;           // of the file
    ln_hash *seen;      // lines so far; owns them
    int n_new;          // the number of different lines
    uint64_t random;
    double total; // ms
    double peak_kb;
    cli_times runs;
} bench;

static int fail_line(const bench *b, const char *reason)
{
    return cli_fail("%s:%d: %s", b->opt->run_shapes, b->line, reason);
}

// Data

// Integers are 0 or 1, valid indices for most models: uniform numbers below 2, truncated. Bools are
// filled as bytes, as any number but 0 converts to true.
static int fill(const tl_tensor *t, uint64_t *random)
{
    tl_tensor as = *t;
    if (t->dtype == TL_STRING)
        return 0; // empty
    if (t->dtype == TL_BOOL)
        as.dtype = TL_UINT8;
    return tl_dtype_has_fractions(t->dtype) ? tl_exec_random(NULL, &as, TL_NORMAL, 0, 1, random)
                                            : tl_tensor_fill_uniform(&as, 0, 2, random);
}

static int make_input(bench *b, const cli_shape *shape)
{
    char text[LN_MAXLINE], known[LN_MAXLINE];
    const int i = ln_model_input_index(b->model, shape->name);
    if (i < 0)
        snprintf(text, sizeof(text), "the model has no input '%s'; its inputs: %.3000s",
                 shape->name, cli_session_list_inputs(b->model, known));
    else if (b->inputs[i])
        snprintf(text, sizeof(text), "duplicate input '%s'", shape->name);
    if (i < 0 || b->inputs[i])
        return fail_line(b, text);
    const tl_dtype dtype = ln_model_input_info(b->model, i)->dtype;
    b->inputs[i] = tl_tensor_zeros(shape->ndim, shape->dims, dtype);
    return b->inputs[i] && !fill(b->inputs[i], &b->random) ? 0 : fail_line(b, tl_last_error());
}

// Makes the inputs of a line, which it splits in place.
static int make_inputs(bench *b, char *line)
{
    char text[LN_MAXLINE];
    cli_shape shape;
    for (char *word; (word = strsep(&line, blanks));) {
        if (!*word)
            continue;
        if (cli_shape_read(&shape, word) || shape.is_range || *shape.sum) {
            snprintf(text, sizeof(text), "'%.256s', expected NAME=1x3x224x224", word);
            return fail_line(b, text);
        }
        if (make_input(b, &shape))
            return CLI_FAILED;
    }
    return 0;
}

// Runs

// Each run has a separate limit, which is 1 ms at least.
static int check_time(const bench *b)
{
    const double ms = (double)(tl_clock() - b->opt->shared.limits.started) * 1e-6;
    const double max = b->opt->shared.limits.seconds * 1e3;
    char text[LN_MAXLINE];
    if (b->opt->shared.limits.seconds < 0 || ms <= max)
        return 0;
    snprintf(text, sizeof(text), "stopped at the time limit of %.0f ms", max);
    return fail_line(b, text);
}

static int run_once(bench *b)
{
    const uint64_t start = tl_clock();
    ln_status status = LN_OK;
    for (int i = 0; i < ln_model_num_inputs(b->model) && !status; i++) {
        const tl_tensor *t = b->inputs[i];
        if (t)
            status = ln_session_bind_input(b->session, ln_model_input_name(b->model, i), t->dtype,
                                           t->ndim, t->dims, t->data, tl_tensor_size(t));
    }
    if (status || cli_session_run(b->session, &b->opt->shared))
        return fail_line(b, ln_session_error(b->session));
    const double ms = (double)(tl_clock() - start) * 1e-6;
    b->total += ms;
    return cli_times_add(&b->runs, ms);
}

// Counts the line if it differs from all lines before.
static int count_line(bench *b, const char *line)
{
    char *copy = ln_strdup(line);
    const int is_new = copy ? ln_hash_insert(b->seen, copy, copy) : -1;
    if (is_new < 0) {
        ln_free(copy);
        return cli_fail_memory();
    }
    b->n_new += is_new;
    return 0;
}

static int run_line(bench *b, char *line)
{
    size_t len = strlen(line);
    while (len && strchr(blanks, line[len - 1]))
        line[--len] = '\0';
    if (!len)
        return 0;
    const int failed = check_time(b) || count_line(b, line) || make_inputs(b, line) || run_once(b);
    // The next run must not read inputs of this one.
    for (int i = 0; i < ln_model_num_inputs(b->model); i++) {
        ln_session_bind_input(b->session, ln_model_input_name(b->model, i), TL_FLOAT, 0, NULL, NULL,
                              0);
        tl_tensor_free_data_too(b->inputs[i]);
        b->inputs[i] = NULL;
    }
    return failed ? CLI_FAILED : 0;
}

// The report of --shapes

static void report_shapes(bench *b)
{
    cli_times_sort(&b->runs);
    const double median = cli_times_quantile(&b->runs, 0.5);
    const double p95 = cli_times_quantile(&b->runs, 0.95);
    const double longest = cli_times_quantile(&b->runs, 1), peak_mb = b->peak_kb / 1024;
    if (b->opt->shared.json) {
        cli_json json = {.is_line = 1};
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "model", cli_source_name(b->opt->shared.args[0]));
        cli_json_count(&json, "runs", (uint64_t)b->runs.n);
        cli_json_count(&json, "new_shapes", (uint64_t)b->n_new);
        cli_json_fixed(&json, "total_ms", b->total, 6);
        cli_json_fixed(&json, "median_ms", median, 6);
        cli_json_fixed(&json, "p95_ms", p95, 6);
        cli_json_fixed(&json, "max_ms", longest, 6);
        cli_json_number(&json, "peak_rss_mb", peak_mb);
        cli_json_close(&json);
        return;
    }
    cli_print("runs        %d\n", b->runs.n);
    cli_print("new shapes  %d\n", b->n_new);
    cli_print("total       %.3f ms\n", b->total);
    cli_print("median      %.6f ms\n", median);
    cli_print("p95         %.6f ms\n", p95);
    cli_print("longest     %.6f ms\n", longest);
    cli_print("peak memory %.1f MB\n", peak_mb);
}

// The command

static int prepare(bench *b)
{
    b->model = cli_session_open(&b->opt->shared);
    if (!b->model)
        return CLI_FAILED;
    b->session = cli_session_create(b->model, &b->opt->shared);
    if (!b->session)
        return CLI_FAILED;
    b->seen = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, ln_free);
    b->inputs = ln_alloc_array((size_t)ln_model_num_inputs(b->model), sizeof(tl_tensor *));
    return b->seen && b->inputs ? 0 : cli_fail_memory();
}

static int measure_lines(bench *b, char *text)
{
    const int saved = cli_silence_output();
    if (saved < 0)
        return CLI_FAILED;
    int failed = prepare(b);
    for (char *line; !failed && (line = strsep(&text, "\n"));) {
        b->line++;
        failed = run_line(b, line);
    }
    if (!failed && !b->runs.n)
        failed = cli_fail("%s: no shapes", b->opt->run_shapes);
    b->peak_kb = cli_peak_memory_kb();
    cli_restore_output(saved);
    return failed ? CLI_FAILED : 0;
}

// Runs the model once for each line of opt->run_shapes and prints the times.
static int bench_shapes(const bench_options *opt)
{
    bench b = {.opt = opt, .random = cli_options_seed(&opt->shared)};
    char *text = ln_read_text(opt->run_shapes);
    const int status = text ? measure_lines(&b, text) : cli_fail("%s", ln_last_error());
    if (!status)
        report_shapes(&b);
    cli_times_free(&b.runs);
    ln_free(b.inputs);
    ln_hash_free(b.seen);
    ln_session_free(b.session);
    ln_model_free(b.model);
    ln_free(text);
    return status;
}

// One model with one set of shapes

// Returns new: the context after its first run; NULL after a message.
static ln_context *open_model(cli_timing *t, const cli_options *opt)
{
    ln_context *ctx = cli_timing_read(t, opt);
    if (ctx && cli_timing_load(t, ctx, opt)) {
        ln_context_free(ctx);
        return NULL;
    }
    return ctx;
}

// The report

static void print_json(const ln_context *ctx, const cli_timing *t, const cli_op_times *times)
{
    cli_json json = {.is_line = !times};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "model", ctx->source);
    cli_json_count(&json, "runs", (uint64_t)t->runs.n);
    cli_json_fixed(&json, "min_ms", t->runs.ms[0], 6);
    cli_json_fixed(&json, "median_ms", cli_times_quantile(&t->runs, 0.5), 6);
    cli_json_fixed(&json, "p95_ms", cli_times_quantile(&t->runs, 0.95), 6);
    cli_json_number(&json, "peak_kb", t->peak_kb);
    cli_json_fixed(&json, "load_ms", t->load, 6);
    if (times)
        cli_op_times_add(times, &json);
    cli_json_close(&json);
}

static int report(const ln_context *ctx, const bench_options *opt, const cli_timing *t,
                  const cli_op_times *times)
{
    if (opt->trace && cli_op_times_write_trace(times, ctx, t->phases, CLI_N_PHASES, opt->trace))
        return CLI_FAILED;
    if (opt->shared.json) {
        print_json(ctx, t, opt->per_op ? times : NULL);
        return CLI_OK;
    }
    cli_print("runs        %d\n", t->runs.n);
    cli_print("min         %.6f ms\n", t->runs.ms[0]);
    cli_print("median      %.6f ms\n", cli_times_quantile(&t->runs, 0.5));
    cli_print("p95         %.6f ms\n", cli_times_quantile(&t->runs, 0.95));
    cli_print("throughput  %.2f runs/s\n", 1e3 / cli_times_quantile(&t->runs, 0.5));
    cli_print("peak memory %.1f MB\n", t->peak_kb / 1024);
    cli_print("load time   %.3f ms to the first output\n", t->load);
    if (opt->per_op)
        cli_op_times_print(times, ctx);
    return CLI_OK;
}

// Returns new: the context that was measured; NULL after a message.
static ln_context *measure(cli_timing *t, cli_op_times *times, const bench_options *opt)
{
    const int saved = cli_silence_output();
    ln_context *ctx = saved < 0 ? NULL : open_model(t, &opt->shared);
    int failed = ctx && cli_timing_run(t, ctx, &opt->shared, opt->seconds);
    if (ctx && !failed && (opt->per_op || opt->trace)) {
        // As many runs as were measured, within reason.
        const cli_op_runs runs = {t->runs.n < 100 ? t->runs.n : 100, opt->seconds};
        failed = cli_op_times_measure(times, ctx, &opt->shared, &t->inputs, &runs);
    }
    if (failed) {
        ln_context_free(ctx);
        ctx = NULL;
    }
    if (saved >= 0)
        cli_restore_output(saved);
    return ctx;
}

// Rejects options that inspect runs with one set of shapes, beside option `name`.
static int check_shapes(const bench_options *opt, const char *name)
{
    const char *other = opt->shared.inputs.n             ? "-i"
                        : opt->per_op                    ? "--per-op"
                        : opt->trace                     ? "--trace"
                        : opt->decode && opt->run_shapes ? "--shapes"
                                                         : NULL;
    return other ? cli_usage("%s and %s exclude each other", name, other) : CLI_OK;
}

static int bench_decode(const bench_options *opt)
{
    const cli_decode decode = {&opt->shared, opt->decode, &opt->links, opt->seconds};
    return check_shapes(opt, "--decode") ? CLI_WRONG_USAGE : cli_decode_measure(&decode);
}

static int run_bench(const cli_options *shared)
{
    const bench_options *opt = (const bench_options *)shared;
    if (opt->shared.map && !opt->run_shapes && !opt->decode)
        return cli_usage("--map needs --shapes FILE, or --decode");
    if (opt->links.n && !opt->decode)
        return cli_usage("--link needs --decode PROMPT,NEW");
    if (opt->decode)
        return bench_decode(opt);
    if (opt->run_shapes)
        return check_shapes(opt, "--shapes") ? CLI_WRONG_USAGE : bench_shapes(opt);
    cli_timing t = {.load = 0};
    cli_op_times times = {.n = 0};
    int status = opt->trace ? cli_guard_output(&opt->shared, opt->trace, NULL) : CLI_OK;
    if (status)
        return status;
    ln_context *ctx = measure(&t, &times, opt);
    status = ctx ? report(ctx, opt, &t, &times) : CLI_FAILED;
    cli_op_times_free(&times);
    cli_timing_free(&t);
    ln_context_free(ctx);
    return status;
}

static bench_options given = {.shared = {CLI_DEFAULTS, .may_write = "-"}, .seconds = 2};

#define OWN(name) offsetof(bench_options, name)

static const cli_option options[] = {
    CLI_SHARED("target", "allow-output"),
    CLI_SHARED("input", "input"),
    CLI_SHARED("shape", "shape"),
    CLI_SHARED("preprocess", "max-constant"),
    {"shapes", 0, CLI_TEXT, OWN(run_shapes), "FILE",
     "run once for each line of FILE with shapes of inputs, such as NAME=1x16 OTHER=1x16"},
    {"decode", 0, CLI_TEXT, OWN(decode), "PROMPT,NEW",
     "a model with a cache: tokens per second of a prompt, and of NEW steps of one token"},
    {"link", 0, CLI_TEXTS, OWN(links), "OUT=IN",
     "with --decode: output OUT is input IN of the next run (default: by the names of exporters)"},
    {"seconds", 0, CLI_NOT_NEGATIVE, OWN(seconds), "S", "measure for S seconds (default 2)"},
    {"per-op", 0, CLI_FLAG, OWN(per_op), NULL, "time each operator"},
    {"trace", 0, CLI_TEXT, OWN(trace), "FILE", "write a Chrome trace of one run to FILE"},
    CLI_SHARED("json", "no-warnings"),
};

const cli_command cli_bench_command = {
    {"bench", "MODEL", 1, 1, "measure run times"}, CLI_ROWS(options), &given.shared, run_bench};
