// SPDX-License-Identifier: Apache-2.0
// Delivers an output: prints it in full, as a summary, or its best classes; or writes a file.

#include "output/cli_output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "draw/cli_draw.h"
#include "input/cli_files.h"
#include "input/cli_model.h"
#include "output/cli_compare.h"
#include "output/cli_guard.h"
#include "output/cli_json_outputs.h"
#include "output/cli_labels.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"

// Whether -O names an npz file.
static int is_npz_output(const cli_run_options *opt)
{
    return opt->outdir && !strcmp(cli_guard_suffix(opt->outdir), ".npz");
}

// Larger outputs are printed as a summary; --top prints at most MAX_ROWS rows.
enum { LARGE = 256, MAX_ROWS = 16 };

// Statistics of the elements that are not NaN.
typedef struct summary {
    double min, max, sum;
    int n_nan;
} summary;

static summary summarize(const tl_tensor *t)
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
    if (t->dtype == TL_STRING) {
        cli_print("%d strings (--print-all prints them)\n", t->len);
        return;
    }
    const summary s = summarize(t);
    const int n = t->len - s.n_nan;
    if (!n)
        cli_print("all %d elements are NaN", t->len);
    else if (s.n_nan)
        cli_print("%d of %d elements are NaN, the others: min %g, max %g, mean %g", s.n_nan, t->len,
                  s.min, s.max, s.sum / n);
    else
        cli_print("%d elements, min %g, max %g, mean %g", n, s.min, s.max, s.sum / n);
    cli_print(" (--print-all prints them, --top K the best)\n");
}

// Ranks alone would not reveal a label file for other classes.
void cli_output_warn_labels(const cli_run_options *opt, const char *name, const tl_tensor *t,
                            const cli_labels *names)
{
    const int len = cli_output_classes(t);
    if (opt->shared.labels && names->n != len && !opt->shared.quiet)
        cli_warn("%s: %d label%s for the %d classes of output '%s'", opt->shared.labels, names->n,
                 names->n == 1 ? "" : "s", len, name);
}

static int check_top(const cli_run_options *opt, const char *name, const tl_tensor *t)
{
    return opt->top && t->dtype == TL_STRING
               ? cli_fail("output '%s' has strings, expected numbers for --top", name)
               : 0;
}

static int print_top(const char *name, const tl_tensor *t, const cli_run_options *opt,
                     const cli_labels *names)
{
    const int len = cli_output_classes(t), k = opt->top < len ? opt->top : len;
    const int n_rows = len ? t->len / len : 0;
    const int n_printed = n_rows <= MAX_ROWS || opt->print_all ? n_rows : MAX_ROWS;
    cli_ranked *ranks = malloc((size_t)len * sizeof(*ranks) + 1);
    if (!ranks)
        return cli_fail_memory();
    cli_output_warn_labels(opt, name, t, names);
    for (int row = 0; row < n_printed; row++) {
        cli_output_rank(ranks, t, row, len);
        cli_print("%s[%d]:\n", name, row);
        for (const cli_ranked *r = ranks; r < ranks + k; r++) {
            const char *label = cli_labels_name(names, len, r->index);
            cli_print("  %6d  %.6g%s%s\n", r->index, r->value, label ? "  " : "",
                      label ? label : "");
        }
    }
    if (n_printed < n_rows)
        cli_print("%s: %d more rows (--print-all prints them)\n", name, n_rows - n_printed);
    free(ranks);
    return 0;
}

static int write_output(const char *dir, const char *name, int k, const tl_tensor *t)
{
    char file[LN_MAXLINE];
    ln_error err = {0};
    if (cli_data_file(file, dir, "output", k, "npy"))
        return CLI_FAILED;
    return ln_npy_write(file, t, &err) ? cli_fail("output '%s': %s", name, ln_error_text(&err)) : 0;
}

static int add_json(cli_json *json, const cli_run_options *opt, const char *name, int k,
                    const tl_tensor *t, const cli_labels *names)
{
    char file[LN_MAXLINE];
    const int is_npz = is_npz_output(opt);
    if (opt->outdir && !is_npz && cli_data_file(file, opt->outdir, "output", k, "npy"))
        return CLI_FAILED;
    if (opt->top)
        cli_output_warn_labels(opt, name, t, names);
    return cli_json_output(json, opt, name, t, names,
                           !opt->outdir ? NULL
                           : is_npz     ? opt->outdir
                                        : file);
}

int cli_output_deliver(const cli_run_options *opt, cli_json *json, const char *name, int k,
                       const tl_tensor *t, const cli_labels *names)
{
    if (check_top(opt, name, t))
        return CLI_FAILED;
    if (json)
        return opt->outdir && !is_npz_output(opt) && write_output(opt->outdir, name, k, t)
                   ? CLI_FAILED
                   : add_json(json, opt, name, k, t, names);
    if (opt->top && print_top(name, t, opt, names))
        return CLI_FAILED;
    if (is_npz_output(opt))
        return 0; // written with the others
    if (opt->outdir)
        return write_output(opt->outdir, name, k, t);
    if (opt->top || opt->draw || opt->task)
        return 0;
    char shape[LN_MAX_SHAPE];
    cli_print("%s: %s %s\n", name, tl_dtype_name(t->dtype),
              ln_sprint_shape(shape, sizeof(shape), t->ndim, t->dims));
    if (opt->print_all || t->len <= LARGE)
        tl_tensor_print(t, NULL);
    else
        print_summary(t);
    return 0;
}

static int deliver_each(const cli_run_options *opt, cli_json *json, int n, const char *const *names,
                        const tl_tensor *const *tensors, const cli_labels *labels)
{
    ln_error err = {0};
    int status = 0;
    for (int k = 0; k < n && !status; k++)
        status = cli_output_deliver(opt, json, names[k], k, tensors[k], labels);
    if (!status && is_npz_output(opt) && ln_npz_write(opt->outdir, n, names, tensors, &err))
        status = cli_fail("%s", ln_error_text(&err));
    return status;
}

int cli_output_deliver_found(const cli_run_options *opt, cli_json *json, const cli_found *found,
                             const cli_labels *labels)
{
    if (json)
        return cli_found_json(found, json, labels);
    cli_found_print(found, opt, labels);
    return 0;
}

// *found: what the outputs show; NULL: it is not wanted.
static int deliver_and_draw(const cli_run_options *opt, cli_found *found, int n,
                            const char *const *names, const tl_tensor *const *tensors,
                            const cli_labels *labels)
{
    cli_json json, *const wanted = opt->shared.json ? &json : NULL;
    if (wanted)
        cli_json_outputs_begin(wanted, stdout, NULL);
    int status = deliver_each(opt, wanted, n, names, tensors, labels);
    if (wanted)
        cli_json_close(wanted); // the list of outputs
    if (!status && found)
        status = cli_output_deliver_found(opt, wanted, found, labels);
    if (wanted)
        cli_json_close(wanted);
    return !status && opt->draw ? cli_draw(found, opt, labels, opt->shared.outfile) : status;
}

static int deliver(const cli_run_options *opt, int n, const char *const *names,
                   const tl_tensor *const *tensors, const cli_labels *labels)
{
    cli_found found;
    ln_error err = {0};
    int status = 0;
    if (!opt->task && !opt->draw)
        return deliver_and_draw(opt, NULL, n, names, tensors, labels);
    for (int k = 0; k < n && !status; k++)
        status = cli_found_add(opt, names[k], tensors[k]);
    if (status)
        return status;
    if (cli_found_init(&found, opt, labels, &err))
        return cli_fail("%s", ln_error_text(&err));
    status = deliver_and_draw(opt, &found, n, names, tensors, labels);
    cli_found_free(&found);
    return status;
}

int cli_output_deliver_all(const cli_run_options *opt, int n, cli_output_getter get, void *data,
                           const cli_labels *labels)
{
    const char **const names = calloc((size_t)n + 1, sizeof(*names));
    const tl_tensor **const tensors = calloc((size_t)n + 1, sizeof(*tensors));
    int k = 0;
    while (names && tensors && k < n && (tensors[k] = get(data, k, &names[k])))
        k++;
    const int status = !names || !tensors ? cli_fail_memory()
                       : k < n            ? CLI_FAILED
                                          : deliver(opt, n, names, tensors, labels);
    free(names);
    free(tensors);
    return status;
}

int cli_output_prepare(const cli_run_options *opt, int *made)
{
    const char *const dir = opt->outdir;
    struct stat st;
    *made = 0;
    if (is_npz_output(opt))
        return opt->shared.samples ? cli_usage("--each writes to a folder, not to '%s'", dir)
                                   : cli_guard_output(&opt->shared, dir, "an npz archive");
    if (cli_files_is_input(dir) && stat(dir, &st))
        return cli_usage("-O is '%s', the name of a file; expected a folder or FILE.npz", dir);
    *made = !mkdir(dir, 0777);
    if (*made)
        return 0;
    if (errno != EEXIST)
        return cli_fail("%s: cannot create: %s", dir, strerror(errno));
    if (!stat(dir, &st) && !S_ISDIR(st.st_mode))
        return cli_fail("%s: cannot write: %s", dir, strerror(ENOTDIR));
    return access(dir, W_OK | X_OK) ? cli_fail("%s: cannot write: %s", dir, strerror(errno)) : 0;
}

int cli_output_check(const cli_run_options *opt, int n)
{
    char file[LN_MAXLINE];
    int status = CLI_OK;
    if (is_npz_output(opt))
        return CLI_OK; // see cli_output_prepare
    for (int k = 0; opt->outdir && k < n && !status; k++)
        status = cli_data_file(file, opt->outdir, "output", k, "npy")
                     ? CLI_FAILED
                     : cli_guard_inputs(&opt->shared, file);
    return status;
}

int cli_output_print_time(uint64_t ns)
{
    // Output of the model comes first, also if both streams go to one file.
    if (cli_flush())
        return CLI_FAILED;
    cli_fprint(stderr, "info: run time: %.6fs\n", (double)ns * 1e-9);
    return 0;
}
