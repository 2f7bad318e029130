// SPDX-License-Identifier: Apache-2.0
// lightnet bench --shapes: how long runs take whose shapes change.
//
// The file has a line for each run, in order: NAME=1x16 OTHER=1x16. The inputs hold random data,
// made before the clock starts. The time of a run is that of setting its inputs, of making a
// program where the model has none for these shapes, and of running it.

#include "cli_bench_shapes.h"

#include <stdio.h>
#include <string.h>

#include "cli_measure.h"
#include "cli_model.h"
#include "cli_op_times.h"
#include "cli_session.h"
#include "cli_shape.h"
#include "cli_source.h"

static const char blanks[] = " \t\r";

typedef struct bench {
    const cli_options *opt;
    ln_model *model;
    ln_session *session;
    tl_tensor **inputs; /* of the run under way, as the model orders them; NULL: not given */
    int line;           /* of the file */
    ln_hash *seen;      /* lines so far; owns them */
    int n_new;          /* different ones */
    uint64_t random;
    double total; /* ms */
    double peak_kb;
    cli_times runs;
} bench;

static int fail_line(const bench *b, const char *reason)
{
    return cli_fail("%s:%d: %s", b->opt->run_shapes, b->line, reason);
}

/* Data */

// Integers are 0 or 1, which most models can use as indices: they are numbers below 2 without their
// fraction. Bools are filled as bytes, as a bool is 1 for any number but 0.
static int fill(const tl_tensor *t, uint64_t *random)
{
    tl_tensor as = *t;
    if (t->dtype == TL_BOOL)
        as.dtype = TL_UINT8;
    return tl_dtype_is_float(t->dtype) ? tl_tensor_fill_random(&as, TL_NORMAL, 0, 1, random)
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
        snprintf(text, sizeof(text), "input '%s' is given twice", shape->name);
    if (i < 0 || b->inputs[i])
        return fail_line(b, text);
    const tl_dtype dtype = ln_model_input_info(b->model, i)->dtype;
    b->inputs[i] = tl_tensor_zeros(shape->ndim, shape->dims, dtype);
    return b->inputs[i] && !fill(b->inputs[i], &b->random) ? 0 : fail_line(b, tl_last_error());
}

// Makes the inputs of a line, which it takes apart.
static int make_inputs(bench *b, char *line)
{
    char text[LN_MAXLINE];
    cli_shape shape;
    for (char *word; (word = strsep(&line, blanks));) {
        if (!*word)
            continue;
        if (cli_shape_read(&shape, word) || shape.is_range) {
            snprintf(text, sizeof(text), "'%.256s', expected NAME=1x3x224x224", word);
            return fail_line(b, text);
        }
        if (make_input(b, &shape))
            return CLI_FAILED;
    }
    return 0;
}

// No run may read what belongs to another.
static void free_inputs(const bench *b)
{
    for (int i = 0; i < ln_model_num_inputs(b->model); i++) {
        ln_session_bind_input(b->session, ln_model_input_name(b->model, i), TL_FLOAT, 0, NULL, NULL,
                              0);
        tl_tensor_free_data_too(b->inputs[i]);
        b->inputs[i] = NULL;
    }
}

/* Runs */

static ln_status bind_inputs(const bench *b)
{
    ln_status status = LN_OK;
    for (int i = 0; i < ln_model_num_inputs(b->model) && !status; i++) {
        const tl_tensor *t = b->inputs[i];
        if (t)
            status = ln_session_bind_input(b->session, ln_model_input_name(b->model, i), t->dtype,
                                           t->ndim, t->dims, t->data, tl_tensor_size(t));
    }
    return status;
}

// Each run has a limit of its own, which is 1 ms at least.
static int check_time(const bench *b)
{
    const double ms = (double)(tl_clock() - b->opt->started) * 1e-6;
    const double most = b->opt->max_seconds * 1e3;
    char text[LN_MAXLINE];
    if (b->opt->max_seconds < 0 || ms <= most)
        return 0;
    snprintf(text, sizeof(text), "stopped at the time limit of %.0f ms", most);
    return fail_line(b, text);
}

static int run_once(bench *b)
{
    const uint64_t start = tl_clock();
    if (bind_inputs(b) || cli_session_run(b->session, b->opt))
        return fail_line(b, ln_session_error(b->session));
    const double ms = (double)(tl_clock() - start) * 1e-6;
    b->total += ms;
    return cli_times_add(&b->runs, ms);
}

// Counts the line if it is none of those before.
static int note_line(bench *b, const char *line)
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

static void trim_end(char *line)
{
    size_t len = strlen(line);
    while (len && strchr(blanks, line[len - 1]))
        line[--len] = '\0';
}

static int run_line(bench *b, char *line)
{
    trim_end(line);
    if (!*line)
        return 0;
    const int failed = check_time(b) || note_line(b, line) || make_inputs(b, line) || run_once(b);
    free_inputs(b);
    return failed ? CLI_FAILED : 0;
}

static int run_lines(bench *b, char *text)
{
    int status = 0;
    for (char *line; !status && (line = strsep(&text, "\n"));) {
        b->line++;
        status = run_line(b, line);
    }
    return status || b->runs.n ? status : cli_fail("%s: there are no shapes", b->opt->run_shapes);
}

/* The report */

static void print_table(const bench *b)
{
    printf("runs        %d\n", b->runs.n);
    printf("new shapes  %d\n", b->n_new);
    printf("total       %.3f ms\n", b->total);
    printf("median      %.6f ms\n", cli_times_quantile(&b->runs, 0.5));
    printf("p95         %.6f ms\n", cli_times_quantile(&b->runs, 0.95));
    printf("longest     %.6f ms\n", cli_times_quantile(&b->runs, 1));
    printf("peak memory %.1f MB\n", b->peak_kb / 1024);
}

static void print_json(const bench *b)
{
    printf("{\"model\": ");
    cli_json_string(stdout, cli_source_name(b->opt->args[0]));
    printf(", \"runs\": %d, \"new_shapes\": %d, \"total_ms\": %.6f, \"median_ms\": %.6f, "
           "\"p95_ms\": %.6f, \"max_ms\": %.6f, \"peak_rss_mb\": %.3f}\n",
           b->runs.n, b->n_new, b->total, cli_times_quantile(&b->runs, 0.5),
           cli_times_quantile(&b->runs, 0.95), cli_times_quantile(&b->runs, 1), b->peak_kb / 1024);
}

static void report(bench *b)
{
    cli_times_sort(&b->runs);
    if (b->opt->json)
        print_json(b);
    else
        print_table(b);
}

/* The command */

static int prepare(bench *b)
{
    b->model = cli_session_open(b->opt);
    if (!b->model)
        return CLI_FAILED;
    b->session = cli_session_create(b->model, b->opt);
    if (!b->session)
        return CLI_FAILED;
    b->seen = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, ln_free);
    b->inputs = ln_alloc_array((size_t)ln_model_num_inputs(b->model), sizeof(tl_tensor *));
    return b->seen && b->inputs ? 0 : cli_fail_memory();
}

static int measure(bench *b, char *text)
{
    const int saved = cli_silence_output();
    if (saved < 0)
        return CLI_FAILED;
    const int failed = prepare(b) || run_lines(b, text);
    b->peak_kb = cli_peak_memory_kb();
    cli_restore_output(saved);
    return failed ? CLI_FAILED : 0;
}

int cli_bench_shapes(const cli_options *opt)
{
    bench b = {.opt = opt, .random = (uint64_t)opt->seed};
    char *text = ln_read_text(opt->run_shapes);
    const int status = text ? measure(&b, text) : cli_fail("%s", ln_last_error());
    if (!status)
        report(&b);
    cli_times_free(&b.runs);
    ln_free(b.inputs);
    ln_hash_free(b.seen);
    ln_session_free(b.session);
    ln_model_free(b.model);
    ln_free(text);
    return status;
}
