// SPDX-License-Identifier: Apache-2.0
// lightnet bench: how long loading and a run take, and each operator's part in it.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "cli_guard.h"
#include "cli_model.h"
#include "cli_op_times.h"

/* From the start of the process to the first output. */
enum { PHASE_START, PHASE_READ, PHASE_LOAD, PHASE_INPUTS, PHASE_FIRST_RUN, N_PHASES };

typedef struct timing {
    cli_phase phases[N_PHASES];
    double load;    // ms of all phases
    double peak_kb; // the largest memory
    double *ms;     // of each run, sorted in the end
    int n;
    int capacity;
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

static int add_time(timing *t, double ms)
{
    if (t->n == t->capacity) {
        const int capacity = t->capacity ? 2 * t->capacity : 256;
        double *longer = realloc(t->ms, (size_t)capacity * sizeof(*longer));
        if (!longer)
            return cli_fail_memory();
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

// The most memory that was resident at once, in KB. Where the kernel has no such field, getrusage
// must do, which begins with the memory of the program that started this one.
static double peak_memory_kb(void)
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

// As many runs as fit in --seconds, at least three. The first run is behind, and caches are warm.
static int measure_runs(timing *t, const ln_context *ctx, const cli_options *opt)
{
    const uint64_t begin = tl_clock();
    while (t->n < 3 || (double)(tl_clock() - begin) * 1e-9 < opt->seconds) {
        const uint64_t start = tl_clock();
        if (ln_context_run(ctx))
            return cli_model_fail(ctx, opt);
        if (add_time(t, (double)(tl_clock() - start) * 1e-6))
            return CLI_FAILED;
    }
    qsort(t->ms, (size_t)t->n, sizeof(*t->ms), by_value);
    t->peak_kb = peak_memory_kb();
    return 0;
}

/* Each operator */

// As many runs as were measured, within reason.
static int measure_ops(cli_op_times *times, const ln_context *ctx, const cli_options *opt,
                       const timing *t)
{
    return opt->per_op || opt->trace
               ? cli_op_times_measure(times, ctx, opt, t->n < 100 ? t->n : 100)
               : 0;
}

/* The report */

static void print_timing(const timing *t)
{
    printf("runs        %d\n", t->n);
    printf("min         %.6f ms\n", t->ms[0]);
    printf("median      %.6f ms\n", quantile(t, 0.5));
    printf("p95         %.6f ms\n", quantile(t, 0.95));
    printf("throughput  %.2f runs/s\n", 1e3 / quantile(t, 0.5));
    printf("peak memory %.1f MB\n", t->peak_kb / 1024);
    printf("load time   %.3f ms to the first output\n", t->load);
}

static void print_json(const ln_context *ctx, const timing *t, const cli_op_times *times)
{
    printf("{\"model\": ");
    cli_json_string(stdout, ctx->source);
    printf(", \"runs\": %d, \"min_ms\": %.6f, \"median_ms\": %.6f, \"p95_ms\": %.6f, \"peak_kb\": "
           "%.0f, \"load_ms\": %.3f",
           t->n, t->ms[0], quantile(t, 0.5), quantile(t, 0.95), t->peak_kb, t->load);
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

// Returns new: the context that was measured; NULL after a message.
static ln_context *measure(timing *t, cli_op_times *times, const cli_options *opt)
{
    const int saved = silence_output();
    ln_context *ctx = saved < 0 ? NULL : open_model(t, opt);
    if (ctx && (measure_runs(t, ctx, opt) || measure_ops(times, ctx, opt, t))) {
        ln_context_free(ctx);
        ctx = NULL;
    }
    if (saved >= 0)
        restore_output(saved);
    return ctx;
}

int cli_bench(const cli_options *opt)
{
    timing t = {.n = 0};
    cli_op_times times = {.n = 0};
    int status = opt->trace ? cli_guard_output(opt, opt->trace, NULL) : CLI_OK;
    if (status)
        return status;
    ln_context *ctx = measure(&t, &times, opt);
    status = ctx ? report(ctx, opt, &t, &times) : CLI_FAILED;
    cli_op_times_free(&times);
    free(t.ms);
    ln_context_free(ctx);
    return status;
}
