// SPDX-License-Identifier: Apache-2.0
// lightnet bench: how long a run takes, and each operator's part in it.

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"
#include "cli_model.h"

typedef struct timing {
    double *ms; // of each run, sorted in the end
    int n;
    int capacity;
} timing;

static int add_time(timing *t, double ms)
{
    if (t->n == t->capacity) {
        const int capacity = t->capacity ? 2 * t->capacity : 256;
        double *longer = realloc(t->ms, (size_t)capacity * sizeof(*longer));
        if (!longer)
            return cli_fail("out of memory");
        t->ms = longer;
        t->capacity = capacity;
    }
    t->ms[t->n++] = ms;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const timing *t, double q)
{
    return t->ms[(int)(q * (t->n - 1) + 0.5)];
}

// One run first, so that the measured ones find warm caches; then as many as fit in --seconds, at
// least three.
static int measure(ln_context *ctx, const cli_options *opt, timing *t)
{
    if (ln_context_run(ctx))
        return cli_model_fail(ctx, opt);
    const uint64_t begin = cli_now();
    while (t->n < 3 || (double)(cli_now() - begin) * 1e-9 < opt->seconds) {
        const uint64_t start = cli_now();
        if (ln_context_run(ctx))
            return cli_model_fail(ctx, opt);
        if (add_time(t, (double)(cli_now() - start) * 1e-6))
            return CLI_FAILED;
    }
    qsort(t->ms, (size_t)t->n, sizeof(*t->ms), by_value);
    return 0;
}

// What the model prints is part of the work, but not of the report. Returns what gives standard
// output back, or -1 after a message.
static int silence_output(void)
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

static void restore_output(int saved)
{
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

static long peak_memory_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void print_timing(const timing *t)
{
    printf("runs        %d\n", t->n);
    printf("min         %.6f ms\n", t->ms[0]);
    printf("median      %.6f ms\n", quantile(t, 0.5));
    printf("p95         %.6f ms\n", quantile(t, 0.95));
    printf("throughput  %.2f runs/s\n", 1e3 / quantile(t, 0.5));
    printf("peak memory %.1f MB\n", (double)peak_memory_kb() / 1024);
}

/* Per operator */

static int runs_each_time(const ln_op *op)
{
    return op->run && !op->op_arg->at_load;
}

static int time_ops(ln_context *ctx, const cli_options *opt, uint64_t *ns, int runs)
{
    for (int i = 0; i < runs; i++)
        if (ln_context_run_timed(ctx, ns))
            return cli_model_fail(ctx, opt);
    return 0;
}

static void print_ops(const ln_context *ctx, const uint64_t *ns, int runs)
{
    double total = 0;
    const ln_op *op;
    for (int i = 0; i < ln_list_length(ctx->ops); i++)
        total += (double)ns[i];
    printf("%-24s %-20s %10s %6s %9s\n", "operator", "type", "ms", "%", "GFLOP/s");
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const double t = (double)*ns++;
        if (runs_each_time(op))
            printf("%-24s %-20s %10.4f %6.1f %9.2f\n", op->op_arg->name, op->op_arg->optype,
                   t * 1e-6 / runs, 100 * t / fmax(total, 1),
                   2 * op->op_arg->macs * runs / fmax(t, 1));
    }
}

static void print_json_string(FILE *fp, const char *text)
{
    fputc('"', fp);
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20)
            fprintf(fp, "\\u%04x", *text);
        else
            fprintf(fp, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
    fputc('"', fp);
}

static void print_ops_json(const ln_context *ctx, const uint64_t *ns, int runs)
{
    const ln_op *op;
    const char *comma = "";
    printf(",\n \"ops\": [");
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const double ms = (double)*ns++ * 1e-6 / runs;
        if (!runs_each_time(op))
            continue;
        printf("%s\n  {\"name\": ", comma);
        print_json_string(stdout, op->op_arg->name);
        printf(", \"optype\": ");
        print_json_string(stdout, op->op_arg->optype);
        printf(", \"ms\": %.6f, \"macs\": %.0f}", ms, op->op_arg->macs);
        comma = ",";
    }
    printf("]");
}

/* The time of each operator in one run. */
typedef struct trace {
    const ln_context *ctx;
    const uint64_t *ns;
} trace;

// Chrome's trace event format: one complete event ("X") an operator, times in microseconds.
static int print_trace(FILE *fp, const void *arg, ln_error *err)
{
    const trace *tr = arg;
    const uint64_t *ns = tr->ns;
    const ln_op *op;
    double at = 0;
    const char *comma = "";
    (void)err;
    fprintf(fp, "{\"traceEvents\": [");
    LN_LIST_FOREACH(op, tr->ctx->ops)
    {
        const double us = (double)*ns++ * 1e-3;
        if (!runs_each_time(op))
            continue;
        fprintf(
            fp,
            "%s\n{\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": %.3f, \"dur\": %.3f, \"cat\": ",
            comma, at, us);
        print_json_string(fp, op->op_arg->optype);
        fprintf(fp, ", \"name\": ");
        print_json_string(fp, op->op_arg->name);
        fprintf(fp, "}");
        at += us;
        comma = ",";
    }
    fprintf(fp, "\n]}\n");
    return 0;
}

static int write_trace(const ln_context *ctx, const char *file, const uint64_t *ns)
{
    const trace tr = {.ctx = ctx, .ns = ns};
    ln_error err;
    ln_error_clear(&err);
    return ln_outfile_write(file, print_trace, &tr, &err) ? cli_fail("%s", ln_error_text(&err)) : 0;
}

static void print_json(const ln_context *ctx, const timing *t, const uint64_t *ns, int runs)
{
    printf("{\"model\": ");
    print_json_string(stdout, ctx->source);
    printf(
        ", \"runs\": %d, \"min_ms\": %.6f, \"median_ms\": %.6f, \"p95_ms\": %.6f, \"peak_kb\": %ld",
        t->n, t->ms[0], quantile(t, 0.5), quantile(t, 0.95), peak_memory_kb());
    if (ns)
        print_ops_json(ctx, ns, runs);
    printf("}\n");
}

// A trace shows one run; the table averages over as many as were measured, within reason.
static int table_runs(const cli_options *opt, const timing *t)
{
    return opt->trace ? 1 : t->n < 100 ? t->n : 100;
}

static int measure_all(ln_context *ctx, const cli_options *opt, timing *t, uint64_t *ns)
{
    const int saved = silence_output();
    if (saved < 0)
        return CLI_FAILED;
    int status = measure(ctx, opt, t);
    if (!status && ns)
        status = time_ops(ctx, opt, ns, table_runs(opt, t));
    restore_output(saved);
    return status;
}

static int report(const ln_context *ctx, const cli_options *opt, const timing *t,
                  const uint64_t *ns)
{
    const uint64_t *table = opt->per_op ? ns : NULL;
    const int runs = table_runs(opt, t);
    if (opt->trace && write_trace(ctx, opt->trace, ns))
        return CLI_FAILED;
    if (opt->json) {
        print_json(ctx, t, table, runs);
        return CLI_OK;
    }
    print_timing(t);
    if (table)
        print_ops(ctx, table, runs);
    return CLI_OK;
}

static int bench(ln_context *ctx, const cli_options *opt, timing *t)
{
    uint64_t *ns = NULL;
    if (opt->per_op || opt->trace) {
        ns = calloc((size_t)ln_list_length(ctx->ops) + 1, sizeof(*ns));
        if (!ns)
            return cli_fail("out of memory");
    }
    int status = measure_all(ctx, opt, t, ns);
    if (!status)
        status = report(ctx, opt, t, ns);
    free(ns);
    return status;
}

int cli_bench(const cli_options *opt)
{
    ln_context *ctx = cli_model_open(opt, 1);
    timing t = {0};
    const int status = ctx ? bench(ctx, opt, &t) : CLI_FAILED;
    free(t.ms);
    ln_context_free(ctx);
    return status;
}
