// SPDX-License-Identifier: Apache-2.0
// lightnet run, and the short form: compile, run, and hand out the outputs.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "cli_compare.h"
#include "cli_guard.h"
#include "cli_model.h"

// Outputs with more elements than this are summed up in a line instead of printed; of outputs with
// more rows than this, the best of the first ones are printed.
enum { LARGE = 256, MOST_ROWS = 16 };

// A model that has the key "inputs", be it empty, means what it says. Compiling writes it too.
static int names_inputs(const ln_context *ctx)
{
    return ctx->declared & LN_DECLARES_INPUTS;
}

static int run_once(ln_context *ctx, const cli_options *opt)
{
    const uint64_t start = tl_clock();
    if (ln_context_run(ctx))
        return cli_model_fail(ctx, opt);
    const uint64_t ns = tl_clock() - start;
    // What the model printed comes first, also where both streams go to one file.
    if (cli_flush())
        return CLI_FAILED;
    fprintf(stderr, "info: run time: %.6fs\n", (double)ns * 1e-9);
    return 0;
}

/* Ways to hand out an output */

/* Of the elements that are not NaN. */
typedef struct summary {
    double min, max, sum;
    int n_nan;
} summary;

static summary sum_up(const tl_tensor *t)
{
    summary s = {.min = INFINITY, .max = -INFINITY};
    for (int i = 0; i < t->len; i++) {
        const double v = cli_element(t, i);
        s.n_nan += isnan(v);
        s.min = fmin(s.min, v);
        s.max = fmax(s.max, v);
        s.sum += isnan(v) ? 0 : v;
    }
    return s;
}

static void print_summary(const tl_tensor *t)
{
    const summary s = sum_up(t);
    const int n = t->len - s.n_nan;
    if (!n)
        printf("all %d elements are NaN", t->len);
    else if (s.n_nan)
        printf("%d of %d elements are NaN, the others: min %g, max %g, mean %g", s.n_nan, t->len,
               s.min, s.max, s.sum / n);
    else
        printf("%d elements, min %g, max %g, mean %g", n, s.min, s.max, s.sum / n);
    printf(" (--print-all prints them, --top K the best)\n");
}

static void print_tensor(const char *name, const tl_tensor *t, int whole)
{
    char shape[LN_MAX_SHAPE];
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

static int add_label(labels *names, char *line)
{
    char **lines = realloc(names->lines, (size_t)(names->n + 1) * sizeof(*lines));
    if (!lines)
        return cli_fail_memory();
    line[strcspn(line, "\r")] = '\0';
    names->lines = lines;
    names->lines[names->n++] = line;
    return 0;
}

static int read_labels(const char *file, labels *names)
{
    memset(names, 0, sizeof(*names));
    if (!file)
        return 0;
    names->text = ln_read_text(file);
    if (!names->text)
        return cli_fail("%s", ln_last_error());
    char *rest = names->text;
    while (*rest) {
        char *line = strsep(&rest, "\n");
        if (add_label(names, line))
            return CLI_FAILED;
        if (!rest)
            break;
    }
    return 0;
}

static void free_labels(labels *names)
{
    ln_free(names->text);
    free(names->lines);
}

/* An element of a row and where it stands. */
typedef struct ranked {
    double value;
    int index;
} ranked;

// The largest first, of equal ones the one with the lowest index; NaN last.
static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value))
        return isnan(x->value) ? 1 : -1;
    if (x->value > y->value || x->value < y->value)
        return x->value > y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void print_ranks(const ranked *ranks, int k, const labels *names)
{
    for (int i = 0; i < k; i++) {
        const int labelled = ranks[i].index < names->n;
        printf("  %6d  %.6g%s%s\n", ranks[i].index, ranks[i].value, labelled ? "  " : "",
               labelled ? names->lines[ranks[i].index] : "");
    }
}

// A file of labels for other classes is a mistake that the ranks alone would not show.
static void warn_of_labels(const char *name, int len, const labels *names, const cli_options *opt)
{
    if (opt->labels && names->n != len && !opt->quiet)
        fprintf(stderr, "warning: %s: %d label%s for the %d classes of output '%s'\n", opt->labels,
                names->n, names->n == 1 ? "" : "s", len, name);
}

static int print_top(const char *name, const tl_tensor *t, const cli_options *opt,
                     const labels *names)
{
    const int len = t->ndim ? t->dims[t->ndim - 1] : 1, k = opt->top < len ? opt->top : len;
    const int n_rows = len ? t->len / len : 0;
    const int n_printed = n_rows <= MOST_ROWS || opt->print_all ? n_rows : MOST_ROWS;
    ranked *ranks = malloc((size_t)len * sizeof(*ranks) + 1);
    if (!ranks)
        return cli_fail_memory();
    warn_of_labels(name, len, names, opt);
    for (int row = 0; row < n_printed; row++) {
        for (int i = 0; i < len; i++)
            ranks[i] = (ranked){.value = cli_element(t, row * len + i), .index = i};
        qsort(ranks, (size_t)len, sizeof(*ranks), by_rank);
        printf("%s[%d]:\n", name, row);
        print_ranks(ranks, k, names);
    }
    if (n_printed < n_rows)
        printf("%s: %d more rows (--print-all prints them)\n", name, n_rows - n_printed);
    free(ranks);
    return 0;
}

static int write_output(const char *dir, const char *name, int k, const tl_tensor *t)
{
    char file[LN_MAXLINE];
    ln_error err;
    ln_error_clear(&err);
    if (cli_data_file(file, dir, "output", k, "npy"))
        return CLI_FAILED;
    return ln_npy_write(file, t, &err) ? cli_fail("output '%s': %s", name, ln_error_text(&err)) : 0;
}

static int hand_out(const cli_options *opt, const char *name, int k, const tl_tensor *t,
                    const labels *names)
{
    if (opt->top && print_top(name, t, opt, names))
        return CLI_FAILED;
    if (opt->outdir)
        return write_output(opt->outdir, name, k, t);
    if (!opt->top)
        print_tensor(name, t, opt->print_all);
    return 0;
}

static int hand_out_all(ln_context *ctx, const cli_options *opt, const labels *names)
{
    const char *name;
    int k = 0, status = 0;
    LN_LIST_FOREACH(name, ctx->outputs)
    {
        const tl_tensor *t = status ? NULL : cli_model_tensor(ctx, opt, name);
        status = t ? hand_out(opt, name, k++, t, names) : CLI_FAILED;
    }
    return status;
}

// Finds out before the run whether there is a folder to write to; `*made`: it is new.
static int prepare_outdir(const char *dir, int *made)
{
    struct stat st;
    *made = !mkdir(dir, 0777);
    if (*made)
        return 0;
    if (errno != EEXIST)
        return cli_fail("%s: cannot create: %s", dir, strerror(errno));
    if (!stat(dir, &st) && !S_ISDIR(st.st_mode))
        return cli_fail("%s: cannot write: %s", dir, strerror(ENOTDIR));
    return access(dir, W_OK | X_OK) ? cli_fail("%s: cannot write: %s", dir, strerror(errno)) : 0;
}

// Before the run, whether one of the files to be written is an input.
static int check_outputs(const ln_context *ctx, const cli_options *opt)
{
    char file[LN_MAXLINE];
    int status = CLI_OK;
    for (int k = 0; opt->outdir && k < ln_list_length(ctx->outputs) && !status; k++)
        status = cli_data_file(file, opt->outdir, "output", k, "npy") ? CLI_FAILED
                                                                      : cli_guard_inputs(opt, file);
    return status;
}

static int load_and_run(ln_context *ctx, const cli_options *opt)
{
    const int is_meant = names_inputs(ctx) || opt->inputs.n;
    if (cli_model_load(ctx, opt) || cli_model_set_inputs(ctx, opt, 0))
        return CLI_FAILED;
    if (!is_meant)
        cli_model_warn_constant(ctx);
    const int status = check_outputs(ctx, opt);
    return status ? status : run_once(ctx, opt);
}

static int run_and_hand_out(const cli_options *opt, const labels *names)
{
    ln_context *ctx = cli_model_read(opt);
    int status = ctx ? load_and_run(ctx, opt) : CLI_FAILED;
    if (!status)
        status = hand_out_all(ctx, opt, names);
    ln_context_free(ctx);
    return status;
}

int cli_run(const cli_options *opt)
{
    labels names;
    int made = 0;
    if (opt->labels && !opt->top)
        return cli_usage("--labels needs --top K");
    int status = read_labels(opt->labels, &names);
    if (!status && opt->outdir)
        status = prepare_outdir(opt->outdir, &made);
    if (!status)
        status = run_and_hand_out(opt, &names);
    if (status && made)
        rmdir(opt->outdir); // stays when an output is in it
    free_labels(&names);
    return status;
}

// The short form has no option for inputs.
static int check_inputs(const ln_context *ctx, const cli_options *opt)
{
    char call[LN_MAXLINE];
    const char *name;
    LN_LIST_FOREACH(name, ctx->missing)
    {
        if (!ln_list_find_custom(ctx->inputs, name, ln_str_cmp))
            continue;
        snprintf(call, sizeof(call), "lightnet run %.256s ", opt->args[0]);
        return cli_model_fail_missing(ctx, name, call);
    }
    return 0;
}

// The short form runs with the data that the model itself makes, and prints what the model prints.
static int compile_and_run(ln_context *ctx, const cli_options *opt)
{
    const int is_meant = names_inputs(ctx);
    if (cli_model_compile(ctx, opt))
        return CLI_FAILED;
    if (opt->outfile && cli_model_write(ctx, opt))
        return CLI_FAILED;
    if (opt->compile_only)
        return 0;
    // A model that was written with its weights has them.
    if (ln_context_load(ctx, cli_writes_one_file(opt) ? NULL : opt->datafile))
        return cli_model_fail(ctx, opt);
    if (!is_meant)
        cli_model_warn_constant(ctx);
    return check_inputs(ctx, opt) ? CLI_FAILED : run_once(ctx, opt);
}

int cli_short(const cli_options *opt)
{
    if (opt->compile_only && opt->run_only)
        return cli_usage("-c and -r exclude each other");
    int status = opt->outfile ? cli_model_check_outfile(opt) : CLI_OK;
    if (status)
        return status;
    ln_context *ctx = cli_model_read(opt);
    status = ctx ? compile_and_run(ctx, opt) : CLI_FAILED;
    ln_context_free(ctx);
    return status;
}
