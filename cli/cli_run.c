// SPDX-License-Identifier: Apache-2.0
// lightnet run, and the short form: compile, run, and hand out the outputs.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "cli_model.h"

// Outputs with more elements than this are summed up in a line instead of printed.
enum { LARGE = 1000 };

static void print_time(uint64_t ns)
{
    fflush(stdout);
    fprintf(stderr, "info: run time: %.6fs\n", (double)ns * 1e-9);
}

static int run_once(ln_context *ctx)
{
    const uint64_t start = cli_now();
    if (ln_context_run(ctx))
        return cli_model_fail(ctx);
    print_time(cli_now() - start);
    return 0;
}

/* Ways to hand out an output */

static double element(const tl_tensor *t, int i)
{
    double value;
    tl_convert(&value, TL_DOUBLE, (const char *)t->data + (size_t)i * tl_size_of(t->dtype),
               t->dtype);
    return value;
}

static void print_summary(const tl_tensor *t)
{
    double min = INFINITY, max = -INFINITY, sum = 0;
    for (int i = 0; i < t->len; i++) {
        const double v = element(t, i);
        min = fmin(min, v);
        max = fmax(max, v);
        sum += v;
    }
    printf("%d elements, min %g, max %g, mean %g (--print-all prints them)\n", t->len, min, max,
           sum / t->len);
}

static void print_tensor(const char *name, const tl_tensor *t, int whole)
{
    char shape[LN_MAXLINE];
    printf("%s: %s %s\n", name, tl_dtype_name(t->dtype),
           ln_sprint_shape(shape, sizeof(shape), t->ndim, t->dims));
    if (whole || t->len <= LARGE)
        tl_tensor_print(t, NULL);
    else
        print_summary(t);
}

typedef struct labels {
    char *text;
    char **lines;
    int n;
} labels;

static int read_labels(const char *file, labels *names)
{
    memset(names, 0, sizeof(*names));
    if (!file)
        return 0;
    names->text = ln_read_text(file);
    if (!names->text)
        return cli_fail("%s", ln_last_error());
    char *rest = names->text, *line;
    while ((line = strsep(&rest, "\n"))) {
        char **lines = realloc(names->lines, (size_t)(names->n + 1) * sizeof(*lines));
        if (!lines)
            return cli_fail("out of memory");
        names->lines = lines;
        names->lines[names->n++] = line;
    }
    return 0;
}

static void free_labels(labels *names)
{
    ln_free(names->text);
    free(names->lines);
}

static int best_not_taken(const tl_tensor *t, int row, int len, const char *taken)
{
    int best = -1;
    for (int i = 0; i < len; i++)
        if (!taken[i] && (best < 0 || element(t, row * len + i) > element(t, row * len + best)))
            best = i;
    return best;
}

static int print_top(const char *name, const tl_tensor *t, int k, const labels *names)
{
    const int len = t->ndim ? t->dims[t->ndim - 1] : 1;
    char *taken = calloc((size_t)len + 1, 1);
    if (!taken)
        return cli_fail("out of memory");
    for (int row = 0; row < t->len / len; row++) {
        printf("%s[%d]:\n", name, row);
        memset(taken, 0, (size_t)len);
        for (int i = 0; i < k && i < len; i++) {
            const int best = best_not_taken(t, row, len, taken);
            taken[best] = 1;
            printf("  %6d  %.6g%s%s\n", best, element(t, row * len + best),
                   best < names->n ? "  " : "", best < names->n ? names->lines[best] : "");
        }
    }
    free(taken);
    return 0;
}

static int write_output(const char *dir, int k, const tl_tensor *t)
{
    char file[LN_MAXLINE];
    ln_error err;
    ln_error_clear(&err);
    snprintf(file, sizeof(file), "%s/output_%d.npy", dir, k);
    return ln_npy_write(file, t, &err) ? cli_fail("%s", ln_error_text(&err)) : 0;
}

static int hand_out(const cli_options *opt, const char *name, int k, const tl_tensor *t,
                    const labels *names)
{
    if (opt->top && print_top(name, t, opt->top, names))
        return CLI_FAILED;
    if (opt->outdir)
        return write_output(opt->outdir, k, t);
    if (!opt->top)
        print_tensor(name, t, opt->print_all);
    return 0;
}

static int hand_out_all(ln_context *ctx, const cli_options *opt)
{
    labels names;
    const char *name;
    int k = 0;
    int status = read_labels(opt->labels, &names);
    if (!status && opt->outdir && mkdir(opt->outdir, 0777) && errno != EEXIST)
        status = cli_fail("%s: %s", opt->outdir, strerror(errno));
    LN_LIST_FOREACH(name, ctx->outputs)
    {
        const tl_tensor *t = status ? NULL : cli_model_tensor(ctx, name);
        status = t ? hand_out(opt, name, k++, t, &names) : CLI_FAILED;
    }
    free_labels(&names);
    return status;
}

int cli_run(const cli_options *opt)
{
    ln_context *ctx = cli_model_open(opt, 0);
    if (!ctx)
        return CLI_FAILED;
    int status = run_once(ctx);
    if (!status)
        status = hand_out_all(ctx, opt);
    ln_context_free(ctx);
    return status;
}

// The short form runs with the data that the model itself makes, and prints what the model prints.
static int compile_and_run(ln_context *ctx, const cli_options *opt)
{
    if (!opt->run_only && ln_context_compile(ctx, opt->target))
        return cli_model_fail(ctx);
    if (opt->run_only && !ctx->target)
        return cli_fail("%s: the model is not compiled; run it without -r", opt->args[0]);
    if (opt->outfile && ln_context_print(ctx, opt->outfile))
        return cli_model_fail(ctx);
    if (opt->compile_only)
        return 0;
    return ln_context_load(ctx, opt->datafile) ? cli_model_fail(ctx) : run_once(ctx);
}

int cli_short(const cli_options *opt)
{
    if (opt->compile_only && opt->run_only)
        return cli_usage("-c and -r exclude each other");
    ln_context *ctx = cli_model_read(opt);
    const int status = ctx ? compile_and_run(ctx, opt) : CLI_FAILED;
    ln_context_free(ctx);
    return status;
}
