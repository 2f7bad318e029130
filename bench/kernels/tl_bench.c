// SPDX-License-Identifier: Apache-2.0
// Times TensorLight's kernels on shapes of real networks, with each instruction set, beside oneDNN.
//
// A line for each shape and each kernel on it: GFLOP/s (GB/s if it is memory-bound), and the
// percentage of the measured peak of the machine with that instruction set.

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_dnnl.h"
#include "bench_job.h"

typedef struct options {
    int check; // compare instead of measuring
    int json;  // print the measurements as JSON
    int threads;
    double seconds;             // for each measurement
    tl_isa only;                // this instruction set, or TL_ISA_INVALID for all
    const char *const *filters; // a line must contain one of them; NULL ends
} options;

// An instruction set and its measured peak.
typedef struct isa_peak {
    tl_exec exec;
    double flops;
} isa_peak;

enum { MAX_SETS = 9 };

// The speeds of a kernel on a shape: operations per second, or bytes if it has no operations.
typedef struct row_speeds {
    double of[MAX_SETS]; // with each of the instruction sets; 0: it failed
    double dnnl;         // 0: oneDNN does not compute it
} row_speeds;

typedef struct bench {
    options opt;
    tl_pool *pool;
    isa_peak peaks_of[BENCH_NUMBERS_SIZE][TL_ISA_SIZE];
    int n_peaks_of[BENCH_NUMBERS_SIZE];
    const isa_peak *peaks; // those for the current group
    int n_peaks;
    bench_numbers numbers;
    int has_head; // of the table for these
    double bandwidth;
    int n_rows, n_failed;
} bench;

static const char usage[] =
    "usage: tl_bench [OPTION...] [TEXT...]\n"
    "Times the kernels whose line contains a TEXT, or all.\n\n"
    "  --threads N   threads (default 1; 0: all cores)\n"
    "  --seconds S   for each measurement (default 0.2)\n"
    "  --isa NAME    only the instruction set NAME\n"
    "  --json        print peaks, and all speeds in 1e9 per second, as JSON\n"
    "  --check       do not measure: compare all kernels and instruction "
    "sets, and oneDNN, on small shapes\n";

static int fail(const char *reason)
{
    fprintf(stderr, "tl_bench: error: %s\n", reason);
    return -1;
}

static double now(void)
{
    return (double)tl_clock() * 1e-9;
}

// Measuring: the shortest of many runs, in seconds; 0 after a failure

typedef int (*run_func)(void *arg);

static double shortest(run_func run, void *arg, double seconds)
{
    double min = 0;
    const double begin = now();
    for (int i = 0; i < 3 || now() - begin < seconds; i++) {
        const double start = now();
        if (run(arg))
            return 0;
        const double time = now() - start;
        if (i == 0 || time < min)
            min = time;
    }
    return min;
}

typedef struct kernel_run {
    const bench_kernel *kernel;
    bench_job *job;
    const tl_exec *exec;
} kernel_run;

static int run_kernel(void *arg)
{
    const kernel_run *const r = arg;
    return bench_job_run(r->job, r->kernel, *r->exec);
}

static int run_dnnl(void *arg)
{
    return bench_dnnl_run(arg);
}

// The time of its fastest variant; 0: none.
static double time_dnnl(const bench *b, bench_dnnl_kind kind, const bench_job *job)
{
    double min = 0;
    for (int way = 0; way < bench_dnnl_ways(kind); way++) {
        bench_dnnl *const d = bench_dnnl_create(kind, way, job);
        const double time = d ? shortest(run_dnnl, d, b->opt.seconds) : 0;
        if (time > 0 && (min == 0 || time < min))
            min = time;
        bench_dnnl_free(d);
    }
    return min;
}

// The table

static const char *const units[BENCH_NUMBERS_SIZE] = {"GFLOP/s", "GOP/s", "GFLOP/s"};

static void print_head(const bench *b)
{
    const char *const version = bench_dnnl_version();
    printf("%d thread%s; peaks:", b->opt.threads, b->opt.threads == 1 ? "" : "s");
    for (const isa_peak *p = b->peaks; p < b->peaks + b->n_peaks; p++)
        printf(" %s %.1f %s,", tl_isa_name(p->exec.isa), p->flops * 1e-9, units[b->numbers]);
    printf(" copy %.1f GB/s; oneDNN %s\n\n", b->bandwidth * 1e-9, version ? version : "is missing");
    printf("%-28s %-23s %-7s", "shape", "kernel", "");
    for (const isa_peak *p = b->peaks; p < b->peaks + b->n_peaks; p++)
        printf(" %10s    %%", tl_isa_name(p->exec.isa));
    printf(version ? " %8s  ratio\n" : "\n", "oneDNN");
}

static void measure_row(const bench *b, const bench_kernel *kernel, bench_job *job,
                        bench_dnnl_kind kind, row_speeds *speeds)
{
    const double amount = job->flops > 0 ? job->flops : job->bytes;
    for (int i = 0; i < b->n_peaks; i++) {
        kernel_run r = {kernel, job, &b->peaks[i].exec};
        const double time = shortest(run_kernel, &r, b->opt.seconds);
        speeds->of[i] = time > 0 ? amount / time : 0;
    }
    const double time = time_dnnl(b, kind, job);
    speeds->dnnl = time > 0 ? amount / time : 0;
}

static void print_row(const bench *b, const bench_kernel *kernel, const bench_job *job,
                      const row_speeds *speeds)
{
    printf("%-28s %-23s %-7s", job->shape.name, kernel->name,
           job->flops > 0 ? units[b->numbers] : "GB/s");
    for (int i = 0; i < b->n_peaks; i++)
        printf(" %10.2f %4.0f", speeds->of[i] * 1e-9,
               100 * speeds->of[i] / (job->flops > 0 ? b->peaks[i].flops : b->bandwidth));
    if (speeds->dnnl > 0 && b->n_peaks > 0 && speeds->of[b->n_peaks - 1] > 0)
        printf(" %8.2f %6.2f", speeds->dnnl * 1e-9, speeds->of[b->n_peaks - 1] / speeds->dnnl);
    printf("\n");
    fflush(stdout);
}

// The same as JSON: an object with the peaks of all instruction sets, and a list of rows.

static const char *const numbers_names[BENCH_NUMBERS_SIZE] = {"float32", "bytes", "bfloat16"};

static void begin_json(const bench *b)
{
    const char *const version = bench_dnnl_version();
    printf("{\"threads\": %d, \"seconds\": %g, \"onednn\": \"%s\", \"copy_gbs\": %.2f,\n",
           b->opt.threads, b->opt.seconds, version ? version : "", b->bandwidth * 1e-9);
    printf(" \"peaks\": {");
    for (int n = 0; n < BENCH_NUMBERS_SIZE; n++) {
        printf("%s\"%s\": {", n ? ", " : "", numbers_names[n]);
        for (int i = 0; i < b->n_peaks_of[n]; i++)
            printf("%s\"%s\": %.2f", i ? ", " : "", tl_isa_name(b->peaks_of[n][i].exec.isa),
                   b->peaks_of[n][i].flops * 1e-9);
        printf("}");
    }
    printf("},\n \"rows\": [");
}

static void print_json_row(const bench *b, const bench_kernel *kernel, const bench_job *job,
                           const row_speeds *speeds)
{
    printf("%s\n  {\"shape\": \"%s\", \"kernel\": \"%s\", \"numbers\": \"%s\", "
           "\"unit\": \"%s\"",
           b->n_rows ? "," : "", job->shape.name, kernel->name, numbers_names[b->numbers],
           job->flops > 0 ? units[b->numbers] : "GB/s");
    for (int i = 0; i < b->n_peaks; i++)
        printf(", \"%s\": %.3f", tl_isa_name(b->peaks[i].exec.isa), speeds->of[i] * 1e-9);
    if (speeds->dnnl > 0)
        printf(", \"onednn\": %.3f", speeds->dnnl * 1e-9);
    printf("}");
    fflush(stdout);
}

// Comparing

// Fewer groups of channels, and fewer channels in each.
static void shrink_groups(bench_shape *s, int max)
{
    enum { MAX_CHANNELS = 13 };
    const int in = s->dims[1] / s->group, out = s->out / s->group;
    const int src = in < MAX_CHANNELS ? in : MAX_CHANNELS;
    const int dst = out < MAX_CHANNELS ? out : MAX_CHANNELS;
    const int fit = max / (src < dst ? dst : src);
    s->group = s->group < fit ? s->group : fit;
    s->dims[1] = s->group * src;
    s->out = s->group * dst;
}

// The shape with extents that a check is quick on, and no multiples of a vector.
static bench_shape shrink(const bench_shape *shape)
{
    enum { MAX = 37, MAX_PIXELS = 19 };
    bench_shape s = *shape;
    if (s.group > 1)
        shrink_groups(&s, MAX);
    for (int i = 0; i < 4; i++) {
        s.dims[i] = s.dims[i] < MAX ? s.dims[i] : MAX;
        s.dims2[i] = s.dims2[i] < MAX ? s.dims2[i] : MAX;
    }
    for (int i = 2; i < 4 && s.size; i++)
        s.dims[i] = s.dims[i] < MAX_PIXELS ? s.dims[i] : MAX_PIXELS;
    s.out = s.out < MAX ? s.out : MAX;
    return s;
}

// The largest difference, as a part of the largest number; NaN where one is not a number.
static double difference(const tl_tensor *got, const tl_tensor *want)
{
    const float *const g = got->data, *const w = want->data;
    double largest = 0, max = 0;
    for (int i = 0; i < want->len; i++) {
        const double d = fabs((double)g[i] - w[i]);
        largest = fmax(largest, fabs((double)w[i]));
        if (!(d <= max))
            max = d;
    }
    return max > 0 ? max / largest : max;
}

// Prints a line of TAP.
static void report(bench *b, const char *shape, const char *kernel, const char *how, double diff)
{
    const int ok = diff <= 1e-4;
    b->n_rows++;
    b->n_failed += !ok;
    printf("%s %d - %s: %s, %s\n", ok ? "ok" : "not ok", b->n_rows, shape, kernel, how);
    if (!ok)
        printf("# the largest difference is %g of the largest number\n", diff);
}

static void check_row(bench *b, const bench_kernel *kernel, bench_job *job, const tl_tensor *want)
{
    for (const isa_peak *p = b->peaks; p < b->peaks + b->n_peaks; p++) {
        memset(job->plain_dst->data, 0xff, tl_tensor_size(job->plain_dst));
        const int failed =
            bench_job_run(job, kernel, p->exec) || (kernel->finish && kernel->finish(job));
        report(b, job->shape.name, kernel->name, tl_isa_name(p->exec.isa),
               failed ? NAN : difference(job->plain_dst, want));
    }
}

static void check_dnnl(bench *b, bench_dnnl_kind kind, bench_job *job, tl_tensor *want)
{
    for (int way = 0; way < bench_dnnl_ways(kind); way++) {
        bench_dnnl *const d = bench_dnnl_create(kind, way, job);
        memset(job->plain_dst->data, 0xff, tl_tensor_size(job->plain_dst));
        if (d)
            report(b, job->shape.name, "oneDNN", way ? "2nd way" : "1st way",
                   bench_dnnl_run(d) || bench_dnnl_result(d, job->plain_dst)
                       ? NAN
                       : difference(job->plain_dst, want));
        bench_dnnl_free(d);
    }
}

// The result of the group's first kernel in plain C, which all others must equal.
static int compute_wanted(const bench_group *group, const bench_shape *shape, bench_job *job)
{
    const bench_kernel *const first = group->kernels[0];
    const tl_exec plain = {.isa = TL_ISA_C};
    if (bench_job_prepare(job, first, shape, 1) || bench_job_run(job, first, plain))
        return -1;
    return first->finish ? first->finish(job) : 0;
}

// All rows

static int is_wanted(const bench *b, const char *shape, const char *kernel)
{
    if (!*b->opt.filters)
        return 1;
    for (const char *const *text = b->opt.filters; *text; text++)
        if (strstr(shape, *text) || strstr(kernel, *text))
            return 1;
    return 0;
}

static void measure_and_print(bench *b, const bench_group *group, const bench_kernel *kernel,
                              bench_job *job)
{
    row_speeds speeds = {.dnnl = 0};
    if (!b->opt.json && !b->has_head)
        print_head(b);
    b->has_head = 1;
    measure_row(b, kernel, job, group->dnnl, &speeds);
    (b->opt.json ? print_json_row : print_row)(b, kernel, job, &speeds);
    b->n_rows++;
}

// One kernel on one shape. `wanted` NULL: measures.
static int do_row(bench *b, const bench_group *group, const bench_kernel *kernel,
                  const bench_shape *shape, tl_tensor *wanted)
{
    bench_job job;
    const int status = bench_job_prepare(&job, kernel, shape, b->opt.threads);
    if (!status && wanted)
        check_row(b, kernel, &job, wanted);
    if (!status && wanted && kernel == group->kernels[0])
        check_dnnl(b, group->dnnl, &job, wanted);
    if (!status && !wanted)
        measure_and_print(b, group, kernel, &job);
    bench_job_free(&job);
    return status < 0 ? fail(tl_last_error()) : 0;
}

static int do_shape(bench *b, const bench_group *group, const bench_shape *shape)
{
    const bench_shape s = b->opt.check ? shrink(shape) : *shape;
    bench_job first = {.n_tensors = 0};
    int status = b->opt.check && compute_wanted(group, &s, &first) ? fail(tl_last_error()) : 0;
    for (const bench_kernel *const *kernel = group->kernels; *kernel && !status; kernel++)
        if (is_wanted(b, shape->name, (*kernel)->name))
            status = do_row(b, group, *kernel, &s, first.plain_dst);
    bench_job_free(&first);
    return status;
}

static int do_all(bench *b)
{
    if (b->opt.json)
        begin_json(b);
    for (int i = 0; i < bench_n_groups; i++) {
        const bench_group *const group = &bench_groups[i];
        b->has_head &= b->numbers == group->numbers;
        b->numbers = group->numbers;
        b->peaks = b->peaks_of[group->numbers];
        b->n_peaks = b->n_peaks_of[group->numbers];
        for (const bench_shape *s = group->shapes; s->name && b->n_peaks; s++)
            if (do_shape(b, group, s))
                return -1;
    }
    if (b->opt.json)
        printf("\n ]\n}\n");
    if (b->opt.check)
        printf("1..%d\n", b->n_rows);
    return b->n_rows ? 0 : fail("no line contains such a text");
}

// Beginning

// Sets with kernels, and their peak rates; TL_ISA_SIZE ends.
static const struct numbers_sets {
    double (*peak)(const tl_exec *exec);
    tl_isa sets[MAX_SETS];
} numbers_sets[BENCH_NUMBERS_SIZE] = {
    {tl_peak_flops, {TL_ISA_C, TL_ISA_AVX2, TL_ISA_AVX512, TL_ISA_NEON, TL_ISA_SIZE}},
    {tl_peak_byte_ops,
     {TL_ISA_C, TL_ISA_AVX2, TL_ISA_AVXVNNI, TL_ISA_AVX512VNNI, TL_ISA_NEON, TL_ISA_DOTPROD,
      TL_ISA_I8MM, TL_ISA_AMXINT8, TL_ISA_SIZE}},
    {tl_peak_bfloat16_flops, {TL_ISA_C, TL_ISA_AVX512BF16, TL_ISA_AMXBF16, TL_ISA_SIZE}},
};

// Those that this CPU supports; or only the requested one.
static void find_levels(bench *b, bench_numbers numbers)
{
    const tl_isa only[] = {b->opt.only, TL_ISA_SIZE};
    const tl_isa *isa = *only == TL_ISA_INVALID ? numbers_sets[numbers].sets : only;
    for (; *isa < TL_ISA_SIZE; isa++) {
        if (!tl_isa_is_usable(*isa))
            continue;
        isa_peak *const p = &b->peaks_of[numbers][b->n_peaks_of[numbers]++];
        p->exec = (tl_exec){.pool = b->pool, .isa = *isa};
        p->flops = b->opt.check ? 0 : numbers_sets[numbers].peak(&p->exec);
    }
}

static int begin(bench *b)
{
    bench_dnnl_set_threads(b->opt.threads);
    b->pool = tl_pool_create(b->opt.threads);
    if (!b->pool)
        return fail(tl_last_error());
    find_levels(b, BENCH_FLOATS);
    find_levels(b, BENCH_BYTES);
    find_levels(b, BENCH_PAIRS);
    if (!b->n_peaks_of[BENCH_BYTES])
        return fail("this machine has no such instruction set");
    b->bandwidth = b->opt.check ? 0 : tl_peak_bandwidth(&b->peaks_of[BENCH_BYTES][0].exec);
    return !b->opt.check && b->bandwidth <= 0 ? fail(tl_last_error()) : 0;
}

static const struct option longs[] = {
    {"check", no_argument, NULL, 'c'},
    {"json", no_argument, NULL, 'j'},
    {"threads", required_argument, NULL, 't'},
    {"seconds", required_argument, NULL, 's'},
    {"isa", required_argument, NULL, 'i'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

// The number that `text` is, or NaN.
static double number_of(const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    return end == text || *end || number < 0 || number > 1000 ? NAN : number;
}

// 0; -1: wrong usage; 1: help was requested.
static int read_option(options *opt, int c)
{
    const double number = c == 't' || c == 's' ? number_of(optarg) : 0;
    if (isnan(number))
        return -1;
    if (c == 'c')
        opt->check = 1;
    else if (c == 'j')
        opt->json = 1;
    else if (c == 't')
        opt->threads = (int)number ? (int)number : tl_cpu_count();
    else if (c == 's')
        opt->seconds = number;
    else if (c == 'i')
        opt->only = tl_isa_from_str(optarg);
    return c == 'h' ? 1 : c == '?' || (c == 'i' && opt->only == TL_ISA_INVALID) ? -1 : 0;
}

static int read_options(options *opt, int argc, char **argv)
{
    int c, status = 0;
    *opt = (options){.threads = 1, .seconds = 0.2, .only = TL_ISA_INVALID};
    while (!status && (c = getopt_long(argc, argv, "", longs, NULL)) != -1)
        status = read_option(opt, c);
    if (!status && opt->check && opt->json)
        status = -1; // a check prints TAP
    if (status)
        fputs(usage, status > 0 ? stdout : stderr);
    opt->filters = (const char *const *)argv + optind;
    return status;
}

int main(int argc, char **argv)
{
    bench b = {.n_rows = 0};
    const int early = read_options(&b.opt, argc, argv);
    if (early)
        return early > 0 ? 0 : 2;
    const int status = begin(&b) || do_all(&b) || b.n_failed;
    tl_pool_free(b.pool);
    return status;
}
