// SPDX-License-Identifier: Apache-2.0
// lightnet bench: how long loading and a run take, and each operator's part in it.

#include <stdio.h>
#include <time.h>

#include "cli.h"
#include "cli_bench_shapes.h"
#include "cli_guard.h"
#include "cli_kept.h"
#include "cli_measure.h"
#include "cli_model.h"
#include "cli_op_times.h"

/* From the start of the process to the first output. */
enum { PHASE_START, PHASE_READ, PHASE_LOAD, PHASE_INPUTS, PHASE_FIRST_RUN, N_PHASES };

typedef struct timing {
    cli_phase phases[N_PHASES];
    double load;    // ms of all phases
    double peak_kb; // the largest memory
    cli_times runs;
    cli_kept inputs; // of each run
} timing;

/* Loading */

// The processor time of the process until now stands for what came before the command: the system
// tells when a process began to hundredths of a second only.
static double ms_of_process(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void end_phase(timing *t, int phase, uint64_t *since)
{
    const uint64_t now = tl_clock();
    t->phases[phase].ms = (double)(now - *since) * 1e-6;
    *since = now;
}

// Returns 0 after the first run, or CLI_FAILED after a message.
static int load_and_run(timing *t, ln_context *ctx, const cli_options *opt, uint64_t *since)
{
    if (cli_model_load(ctx, opt))
        return CLI_FAILED;
    end_phase(t, PHASE_LOAD, since);
    cli_model_warn_constant(ctx);
    if (cli_model_set_inputs(ctx, opt, 1))
        return CLI_FAILED;
    end_phase(t, PHASE_INPUTS, since);
    if (cli_kept_take(&t->inputs, ctx))
        return CLI_FAILED;
    *since = tl_clock();
    if (ln_context_run(ctx))
        return cli_model_fail(ctx, opt);
    end_phase(t, PHASE_FIRST_RUN, since);
    return 0;
}

// Returns new: the context after its first run; NULL after a message.
static ln_context *open_model(timing *t, const cli_options *opt)
{
    uint64_t since = tl_clock();
    *t = (timing){.phases = {{"start", ms_of_process()},
                             {"read", 0},
                             {"compile and load", 0},
                             {"set inputs", 0},
                             {"first run", 0}}};
    ln_context *ctx = cli_model_read(opt);
    end_phase(t, PHASE_READ, &since);
    if (ctx && load_and_run(t, ctx, opt, &since)) {
        ln_context_free(ctx);
        return NULL;
    }
    for (int i = 0; i < N_PHASES; i++)
        t->load += t->phases[i].ms;
    return ctx;
}

/* Running */

// As many runs as fit in --seconds, at least three. The first run is behind, and caches are warm.
static int measure_runs(timing *t, ln_context *ctx, const cli_options *opt)
{
    const uint64_t begin = tl_clock();
    while (t->runs.n < 3 || (double)(tl_clock() - begin) * 1e-9 < opt->seconds) {
        if (cli_kept_restore(&t->inputs, ctx))
            return cli_model_fail(ctx, opt);
        const uint64_t start = tl_clock();
        if (ln_context_run(ctx))
            return cli_model_fail(ctx, opt);
        if (cli_times_add(&t->runs, (double)(tl_clock() - start) * 1e-6))
            return CLI_FAILED;
    }
    cli_times_sort(&t->runs);
    t->peak_kb = cli_peak_memory_kb();
    return 0;
}

/* Each operator */

// As many runs as were measured, within reason.
static int measure_ops(cli_op_times *times, ln_context *ctx, const cli_options *opt,
                       const timing *t)
{
    return opt->per_op || opt->trace ? cli_op_times_measure(times, ctx, opt, &t->inputs,
                                                            t->runs.n < 100 ? t->runs.n : 100)
                                     : 0;
}

/* The report */

static void print_timing(const timing *t)
{
    printf("runs        %d\n", t->runs.n);
    printf("min         %.6f ms\n", t->runs.ms[0]);
    printf("median      %.6f ms\n", cli_times_quantile(&t->runs, 0.5));
    printf("p95         %.6f ms\n", cli_times_quantile(&t->runs, 0.95));
    printf("throughput  %.2f runs/s\n", 1e3 / cli_times_quantile(&t->runs, 0.5));
    printf("peak memory %.1f MB\n", t->peak_kb / 1024);
    printf("load time   %.3f ms to the first output\n", t->load);
}

static void print_json(const ln_context *ctx, const timing *t, const cli_op_times *times)
{
    printf("{\"model\": ");
    cli_json_string(stdout, ctx->source);
    printf(", \"runs\": %d, \"min_ms\": %.6f, \"median_ms\": %.6f, \"p95_ms\": %.6f, \"peak_kb\": "
           "%.0f, \"load_ms\": %.3f",
           t->runs.n, t->runs.ms[0], cli_times_quantile(&t->runs, 0.5),
           cli_times_quantile(&t->runs, 0.95), t->peak_kb, t->load);
    if (times)
        cli_op_times_print_json(times);
    printf("}\n");
}

static int report(const ln_context *ctx, const cli_options *opt, const timing *t,
                  const cli_op_times *times)
{
    if (opt->trace && cli_op_times_write_trace(times, ctx, t->phases, N_PHASES, opt->trace))
        return CLI_FAILED;
    if (opt->json) {
        print_json(ctx, t, opt->per_op ? times : NULL);
        return CLI_OK;
    }
    print_timing(t);
    if (opt->per_op)
        cli_op_times_print(times, ctx);
    return CLI_OK;
}

// Returns new: the context that was measured; NULL after a message.
static ln_context *measure(timing *t, cli_op_times *times, const cli_options *opt)
{
    const int saved = cli_silence_output();
    ln_context *ctx = saved < 0 ? NULL : open_model(t, opt);
    if (ctx && (measure_runs(t, ctx, opt) || measure_ops(times, ctx, opt, t))) {
        ln_context_free(ctx);
        ctx = NULL;
    }
    if (saved >= 0)
        cli_restore_output(saved);
    return ctx;
}

// What looks at runs of one set of shapes.
static int check_shapes(const cli_options *opt)
{
    const char *other = opt->inputs.n ? "-i"
                        : opt->per_op ? "--per-op"
                        : opt->trace  ? "--trace"
                                      : NULL;
    return other ? cli_usage("--shapes and %s exclude each other", other) : CLI_OK;
}

int cli_bench(const cli_options *opt)
{
    if (opt->map && !opt->run_shapes)
        return cli_usage("--map needs --shapes FILE");
    if (opt->run_shapes)
        return check_shapes(opt) ? CLI_WRONG_USAGE : cli_bench_shapes(opt);
    timing t = {.load = 0};
    cli_op_times times = {.n = 0};
    int status = opt->trace ? cli_guard_output(opt, opt->trace, NULL) : CLI_OK;
    if (status)
        return status;
    ln_context *ctx = measure(&t, &times, opt);
    status = ctx ? report(ctx, opt, &t, &times) : CLI_FAILED;
    cli_op_times_free(&times);
    cli_times_free(&t.runs);
    cli_kept_free(&t.inputs);
    ln_context_free(ctx);
    return status;
}
