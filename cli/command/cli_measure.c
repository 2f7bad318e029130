// SPDX-License-Identifier: Apache-2.0
// Helpers of benchmarks: times of runs and operators, peak memory, silencing the model.

#include "command/cli_measure.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "input/cli_model_fail.h"
#include "lightnet/ln_util.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"
#include "tensorlight/tl_peak.h"

// Times

int cli_times_add(cli_times *times, double ms)
{
    if (times->n == times->capacity) {
        const int capacity = times->capacity ? 2 * times->capacity : 256;
        double *longer = realloc(times->ms, (size_t)capacity * sizeof(*longer));
        if (!longer)
            return cli_fail_memory();
        times->ms = longer;
        times->capacity = capacity;
    }
    times->ms[times->n++] = ms;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void cli_times_sort(cli_times *times)
{
    qsort(times->ms, (size_t)times->n, sizeof(*times->ms), by_value);
}

double cli_times_quantile(const cli_times *times, double q)
{
    return times->ms[(int)(q * (times->n - 1) + 0.5)];
}

void cli_times_free(cli_times *times)
{
    free(times->ms);
}

// Inputs

struct cli_kept_input {
    const char *name;
    tl_tensor *data;
};

int cli_kept_take(cli_kept *kept, const ln_context *ctx)
{
    *kept = (cli_kept){calloc((size_t)ln_list_length(ctx->inputs) + 1, sizeof(*kept->inputs)), 0};
    if (!kept->inputs)
        return cli_fail_memory();
    LN_FOREACH (const char *, name, ctx->inputs) {
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
        if (!te->isdynamic)
            continue;
        tl_tensor *data = tl_tensor_clone(te->tensor);
        if (!data)
            return cli_fail("input '%s': %s", name, tl_last_error());
        kept->inputs[kept->n++] = (struct cli_kept_input){name, data};
    }
    return 0;
}

int cli_kept_restore(const cli_kept *kept, ln_context *ctx)
{
    int status = 0;
    for (int i = 0; i < kept->n && !status; i++)
        status = ln_context_set_data(ctx, kept->inputs[i].name, kept->inputs[i].data->data);
    return status;
}

void cli_kept_free(cli_kept *kept)
{
    for (int i = 0; i < kept->n; i++)
        tl_tensor_free_data_too(kept->inputs[i].data);
    free(kept->inputs);
}

// Memory

// Without this field, falls back to getrusage, whose max includes that of the program that called
// exec.
double cli_peak_memory_kb(void)
{
    static const char field[] = "\nVmHWM:";
    char *text = ln_read_text("/proc/self/status");
    const char *at = text ? strstr(text, field) : NULL;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const double kb = at ? strtod(at + strlen(field), NULL) : (double)usage.ru_maxrss;
    ln_free(text);
    return kb;
}

// Standard output

int cli_silence_output(void)
{
    fflush(stdout);
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int saved = null < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (saved < 0 || dup2(null, STDOUT_FILENO) < 0)
        cli_fail("standard output: cannot redirect: %s", strerror(errno));
    if (null >= 0)
        close(null);
    return saved;
}

void cli_restore_output(int saved)
{
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

// Peaks

// Arithmetic that operators of this algorithm use; the first, all others.
static const struct arithmetic {
    const char *name;
    double (*peak)(const tl_exec *exec);
} arithmetic[CLI_N_ARITHMETIC] = {{"float32", tl_peak_flops},
                                  {"bfloat16", tl_peak_bfloat16_flops},
                                  {"quantized", tl_peak_byte_ops}};

static int arithmetic_of(const ln_op_arg *op)
{
    for (int i = 1; i < CLI_N_ARITHMETIC; i++)
        if (op->algorithm && !strcmp(op->algorithm, arithmetic[i].name))
            return i;
    return 0;
}

const char *cli_arithmetic_name(int i)
{
    return arithmetic[i].name;
}

// Measures the peaks of `used` arithmetic again, and of memory, which takes longer, each third
// time; the best measurement counts.
static int measure_peaks(cli_op_times *times, const ln_context *ctx, const int *used, int number)
{
    const tl_exec exec = {.pool = ctx->pool, .isa = ctx->isa};
    for (int i = 0; i < CLI_N_ARITHMETIC; i++)
        if (used[i])
            times->peaks[i] = fmax(times->peaks[i], arithmetic[i].peak(&exec));
    if (number % 3 == 0)
        times->bandwidth = fmax(times->bandwidth, tl_peak_bandwidth(&exec));
    return times->bandwidth > 0 ? 0 : cli_fail_memory();
}

// Operators

// Measuring

static int is_timed(const ln_op *op)
{
    return op->run && !op->op_arg->at_load;
}

// A run of the loaded context; `min` becomes the shortest times of the operators, `ns` those of
// this run.
static int time_run(ln_context *ctx, const cli_options *opt, const cli_kept *inputs, uint64_t *min,
                    uint64_t *ns, size_t n)
{
    memset(ns, 0, n * sizeof(*ns));
    if (cli_kept_restore(inputs, ctx) || ln_context_run_timed(ctx, ns))
        return cli_model_fail(ctx, opt);
    for (size_t k = 0; k < n; k++)
        min[k] = ns[k] < min[k] ? ns[k] : min[k];
    return 0;
}

// Writes the shortest times of all operators of ctx->ops to `min`. The peaks are the best of
// measurements before, between and after the runs: if other programs use the machine for a while,
// peaks and operators both have the other times.
static int time_ops(cli_op_times *times, ln_context *ctx, const cli_options *opt,
                    const cli_kept *inputs, uint64_t *min, const cli_op_runs *r)
{
    const int n_peaks = (int)fmin(16, 2 + 10 * r->seconds); // some 0.06 seconds each
    const size_t n = (size_t)ln_list_length(ctx->ops);
    uint64_t *ns = calloc(n + 1, sizeof(*ns));
    int status = ns ? 0 : cli_fail_memory(), used[CLI_N_ARITHMETIC] = {1};
    memset(min, 0xff, n * sizeof(*min));
    LN_FOREACH (const ln_op *, op, ctx->ops)
        used[arithmetic_of(op->op_arg)] |= is_timed(op);
    for (int i = 0, peaks = 0; i <= r->n && !status; i++) {
        for (; !status && peaks < n_peaks && peaks * r->n <= i * (n_peaks - 1); peaks++)
            status = measure_peaks(times, ctx, used, peaks);
        if (!status && i < r->n)
            status = time_run(ctx, opt, inputs, min, ns, n);
    }
    free(ns);
    return status;
}

static const tl_tensor *tensor_of(const ln_context *ctx, const ln_tensor_list_entry *tle)
{
    return ln_entry_of(tle, ctx->tensor_table)->tensor;
}

static double length_of(const ln_context *ctx, const ln_list *tensors)
{
    double len = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors)
        len += tensor_of(ctx, tle)->len;
    return len;
}

// The bytes of each tensor, but of at most `max` of its elements.
static double bytes_of(const ln_context *ctx, const ln_list *tensors, double max)
{
    double bytes = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors) {
        const tl_tensor *const t = tensor_of(ctx, tle);
        bytes += fmin(t->len, max) * (double)tl_size_of(t->dtype);
    }
    return bytes;
}

// The bytes that an operator reads and writes. One that moves elements reads as many of an input as
// it writes: of a table the rows that it gathers.
static double moved_bytes(const ln_context *ctx, const ln_op *op)
{
    const ln_op_arg *const arg = op->op_arg;
    const double written = length_of(ctx, arg->tensors_out);
    const double max = ln_op_has_trait(op, LN_TRAIT_MOVES) ? written : INFINITY;
    return bytes_of(ctx, arg->tensors_in, max) + bytes_of(ctx, arg->tensors_out, INFINITY);
}

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static cli_op_time time_of(const cli_op_times *times, const ln_context *ctx, const ln_op *timed,
                           uint64_t ns)
{
    const ln_op_arg *const op = timed->op_arg;
    cli_op_time t = {
        .op = op,
        .algorithm = or_dash(op->algorithm),
        .layout = or_dash(op->layout),
        .ms = (double)ns * 1e-6,
        .bytes = moved_bytes(ctx, timed),
    };
    if (op->tensors_out) {
        // "1x3x224x224", the syntax of --shape.
        const tl_tensor *const out = tensor_of(ctx, op->tensors_out->data);
        char *at = t.output;
        for (int i = 0; i < out->ndim; i++)
            at += sprintf(at, "%s%d", i ? "x" : "", out->dims[i]);
    }
    if (ns) {
        t.gflops = 2 * op->macs / (double)ns;
        t.peak = 100 * t.gflops * 1e9 / times->peaks[arithmetic_of(op)];
        t.gbs = t.bytes / (double)ns;
    }
    return t;
}

// `ns` and the items have room for every operator of ctx->ops.
static int fill_items(cli_op_times *times, ln_context *ctx, const cli_options *opt,
                      const cli_kept *inputs, uint64_t *ns, const cli_op_runs *runs)
{
    if (time_ops(times, ctx, opt, inputs, ns, runs))
        return CLI_FAILED;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const uint64_t t = *ns++;
        if (!is_timed(op))
            continue;
        times->items[times->n] = time_of(times, ctx, op, t);
        times->ms += times->items[times->n++].ms;
    }
    return 0;
}

int cli_op_times_measure(cli_op_times *times, ln_context *ctx, const cli_options *opt,
                         const cli_kept *inputs, const cli_op_runs *runs)
{
    const size_t n = (size_t)ln_list_length(ctx->ops) + 1;
    uint64_t *ns = calloc(n, sizeof(*ns));
    *times = (cli_op_times){.items = calloc(n, sizeof(*times->items))};
    const int status =
        !ns || !times->items ? cli_fail_memory() : fill_items(times, ctx, opt, inputs, ns, runs);
    free(ns);
    return status;
}

void cli_op_times_free(cli_op_times *times)
{
    free(times->items);
}

// The table

// Widths of the columns of text.
typedef struct widths {
    int name, optype, algorithm, layout, output;
} widths;

static void widen(int *width, const char *text)
{
    const int len = (int)strlen(text);
    *width = len > *width ? len : *width;
}

static widths measure_widths(const cli_op_times *times)
{
    widths w = {strlen("operator"), strlen("type"), strlen("algorithm"), strlen("layout"),
                strlen("output")};
    for (const cli_op_time *t = times->items; t < times->items + times->n; t++) {
        widen(&w.name, t->op->name);
        widen(&w.optype, t->op->optype);
        widen(&w.algorithm, t->algorithm);
        widen(&w.layout, t->layout);
        widen(&w.output, t->output);
    }
    return w;
}

// Prints the nodes of the model that an operator computes: their types, and the name of the first.
static void print_nodes(const ln_op_arg *op)
{
    enum { MAX_TYPES = 6 };
    const int n = ln_op_num_nodes(op);
    for (int i = 0; i < n && i < MAX_TYPES; i++)
        cli_print("%s%s", i ? "+" : " ", ln_op_node(op, i)->type);
    if (n > MAX_TYPES)
        cli_print("+%s%d others", n == LN_MAX_ORIGINS ? "at least " : "", n - MAX_TYPES);
    cli_print(n ? " %s\n" : "%s\n", n ? ln_op_node(op, 0)->name : "");
}

static void print_peaks(const cli_op_times *times, const ln_context *ctx)
{
    cli_print("peak        %.1f GFLOP/s (%s)", times->peaks[0] * 1e-9, tl_isa_name(ctx->isa));
    for (int i = 1; i < CLI_N_ARITHMETIC; i++)
        if (times->peaks[i] > 0)
            cli_print(", %.1f %s", times->peaks[i] * 1e-9, arithmetic[i].name);
    cli_print(", %.1f GB/s\n", times->bandwidth * 1e-9);
}

// The speed of arithmetic, or "-": the operator has none.
static void print_rates(const cli_op_time *t)
{
    if (t->op->macs > 0)
        cli_print(" %9.2f %6.1f", t->gflops, t->peak);
    else
        cli_print(" %9s %6s", "-", "-");
}

void cli_op_times_print(const cli_op_times *times, const ln_context *ctx)
{
    const widths w = measure_widths(times);
    print_peaks(times, ctx);
    cli_print("%-*s %-*s %-*s %-*s %-*s %10s %6s %9s %6s %9s %7s nodes\n", w.name, "operator",
              w.optype, "type", w.algorithm, "algorithm", w.layout, "layout", w.output, "output",
              "ms", "%", "GFLOP/s", "% peak", "MB", "GB/s");
    for (const cli_op_time *t = times->items; t < times->items + times->n; t++) {
        cli_print("%-*s %-*s %-*s %-*s %-*s %10.4f %6.1f", w.name, t->op->name, w.optype,
                  t->op->optype, w.algorithm, t->algorithm, w.layout, t->layout, w.output,
                  t->output, t->ms, times->ms > 0 ? 100 * t->ms / times->ms : 0);
        print_rates(t);
        cli_print(" %9.3f %7.2f", t->bytes * 1e-6, t->gbs);
        print_nodes(t->op);
    }
}

// JSON

// Members that JSON and traces share; name, type and time differ.
static void add_members(cli_json *json, const cli_op_time *t)
{
    cli_json_text(json, "algorithm", t->algorithm);
    cli_json_text(json, "layout", t->layout);
    cli_json_text(json, "output", t->output);
    cli_json_number(json, "macs", t->op->macs);
    cli_json_number(json, "gflops", t->gflops);
    cli_json_number(json, "peak_percent", t->peak);
    cli_json_number(json, "bytes", t->bytes);
    cli_json_number(json, "gbs", t->gbs);
    cli_json_open(json, "nodes", '[');
    for (int i = 0; i < ln_op_num_nodes(t->op); i++) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", ln_op_node(t->op, i)->name);
        cli_json_text(json, "type", ln_op_node(t->op, i)->type);
        cli_json_close(json);
    }
    cli_json_close(json);
}

void cli_op_times_add(const cli_op_times *times, cli_json *json)
{
    cli_json_number(json, "peak_gflops", times->peaks[0] * 1e-9);
    cli_json_open(json, "peaks", '{');
    for (int i = 0; i < CLI_N_ARITHMETIC; i++)
        if (times->peaks[i] > 0)
            cli_json_number(json, arithmetic[i].name, times->peaks[i] * 1e-9);
    cli_json_close(json);
    cli_json_number(json, "peak_gbs", times->bandwidth * 1e-9);
    cli_json_open(json, "ops", '[');
    for (const cli_op_time *t = times->items; t < times->items + times->n; t++) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", t->op->name);
        cli_json_text(json, "optype", t->op->optype);
        cli_json_fixed(json, "ms", t->ms, 6);
        add_members(json, t);
        cli_json_close(json);
    }
    cli_json_close(json);
}

// Traces

typedef struct trace {
    const cli_op_times *times;
    const cli_phase *phases;
    int n_phases;
    const char *source;
} trace;

// Begins a complete event ("X") at `*at`, up to its arguments; the next one follows it. Times are
// in microseconds.
static void begin_event(cli_json *json, double *at, double us, const char *category,
                        const char *name)
{
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "ph", "X");
    cli_json_count(json, "pid", 1);
    cli_json_count(json, "tid", 1);
    cli_json_fixed(json, "ts", *at, 3);
    cli_json_fixed(json, "dur", us, 3);
    cli_json_text(json, "cat", category);
    cli_json_text(json, "name", name);
    cli_json_open(json, "args", '{');
    *at += us;
}

static void end_event(cli_json *json)
{
    cli_json_close(json);
    cli_json_close(json);
}

// First an event of metadata ("M"), which names the process.
static int print_trace(FILE *fp, const void *arg, ln_error *err)
{
    const trace *tr = arg;
    cli_json json = {.fp = fp};
    double at = 0;
    (void)err;
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "displayTimeUnit", "ms");
    cli_json_open(&json, "traceEvents", '[');
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "ph", "M");
    cli_json_count(&json, "pid", 1);
    cli_json_text(&json, "name", "process_name");
    cli_json_open(&json, "args", '{');
    cli_json_text(&json, "name", tr->source);
    end_event(&json);
    for (const cli_phase *p = tr->phases; p < tr->phases + tr->n_phases; p++) {
        begin_event(&json, &at, p->ms * 1e3, "load", p->name);
        end_event(&json);
    }
    for (const cli_op_time *t = tr->times->items; t < tr->times->items + tr->times->n; t++) {
        begin_event(&json, &at, t->ms * 1e3, t->op->optype, t->op->name);
        add_members(&json, t);
        end_event(&json);
    }
    cli_json_close(&json);
    cli_json_close(&json);
    return 0;
}

int cli_op_times_write_trace(const cli_op_times *times, const ln_context *ctx,
                             const cli_phase *phases, int n, const char *file)
{
    const trace tr = {times, phases, n, ctx->source};
    ln_error err = {0};
    return ln_outfile_write(file, print_trace, &tr, &err) ? cli_fail("%s", ln_error_text(&err)) : 0;
}
