// SPDX-License-Identifier: Apache-2.0
// lightnet run --each: one model, run for each of many files.
//
// Decoding, running and writing overlap (cli_pipeline.h). A slot holds a file from the begin of
// decoding to the end of writing: first its input, then its part of the outputs of a run, or the
// reason for their absence. Several sessions run the model at the same time, each with its share of
// the threads: small models gain less from a second thread than from a second file.

#include "command/cli_each.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/cli_each_files.h"
#include "command/cli_each_input.h"
#include "command/cli_interrupt.h"
#include "command/cli_measure.h"
#include "command/cli_pipeline.h"
#include "command/cli_ranks.h"
#include "draw/cli_draw.h"
#include "input/cli_given.h"
#include "input/cli_il.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_preprocess.h"
#include "input/cli_session.h"
#include "input/cli_source.h"
#include "lightnet/lightnet.h"
#include "lightnet/ln_memory_plan.h"
#include "output/cli_found.h"
#include "output/cli_json_outputs.h"
#include "output/cli_known.h"
#include "output/cli_labels.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"
#include "output/cli_progress.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_util.h"

enum {
    MAX_THREADS = 16,                // that decode, and that run
    MAX_MEMORY = 1024 * 1024 * 1024, // of all sessions, bytes
    MAX_REUSED = 32 * 1024 * 1024,   // of a block that the next file reuses, bytes
};

// A file between decoding and writing.
typedef struct slot {
    cli_each_file file; // of standard input
    tl_tensor *input;
    cli_photo photo;
    tl_tensor **outputs; // [n_outputs], NULL before the run
    int has_failed;
    char *reason;  // names the file; NULL: no memory
    char *warning; // NULL: none
} slot;

// A thread that runs the model.
typedef struct runner {
    struct each *each;
    ln_session *session;
    int *items;   // [input.max]: files of the current batch
    void *buffer; // their inputs, one after the other
    size_t buffer_size;
    uint64_t begin, end; // of its first and last run; 0: there was none
    ln_error fatal;      // why it runs no further file
} runner;

typedef struct each {
    const cli_run_options *opt;
    cli_options opening; // those of the model: each session has its share of the threads
    const cli_labels *labels;
    const char *source; // of the files, for messages
    cli_ranks ranks;
    cli_each_files files;
    cli_each_input input;
    ln_model *model;
    runner *runners; // [n_runners]
    int n_runners;
    cli_pipeline *pipeline;
    slot *slots; // [capacity]
    int capacity;
    int n_outputs;
    pthread_mutex_t taking; // protects `next`
    int next;               // the first file that no session has claimed; -1: none is left
    // of the thread that writes
    FILE *out;
    cli_json json;            // of the item that is written, with --json
    cli_run_options printing; // how one output is printed
    cli_progress progress;
    int n_failed;
    int has_warned; // that pixels from 0 to 255 are the input
} each;

static slot *slot_of(const each *e, int item)
{
    return &e->slots[item % e->capacity];
}

static const char *path_of(const each *e, int item)
{
    return e->files.lines ? slot_of(e, item)->file.path : e->files.list.paths[item];
}

static void set_reason(slot *s, const char *reason)
{
    s->has_failed = 1;
    s->reason = strdup(reason);
}

// Decoding, in any thread

// A line of standard input; a file whose outputs cannot be written has failed already.
static int next_line(void *data, int item, int may_wait)
{
    each *const e = data;
    slot *const s = slot_of(e, item);
    ln_error err = {0};
    const cli_lines_found found = cli_each_files_next(&e->files, may_wait, &s->file, &err);
    if (*ln_error_text(&err))
        set_reason(s, ln_error_text(&err));
    return found == CLI_LINE ? 1 : found == CLI_LINES_END ? 0 : -1;
}

static void stop_lines(void *data)
{
    const each *const e = data;
    cli_lines_stop(e->files.lines);
}

// Reading a pipe could take forever, and only the first time.
static int check_file(const char *path, ln_error *err)
{
    struct stat st;
    if (stat(path, &st))
        return ln_error_set(err, "%s: cannot read: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return ln_error_set(err, "%s: this is not a regular file", path);
    return 0;
}

// Whether a float32 element is NaN; other float types: 1, cli_given_has_nan checks them.
static int may_have_nan(const tl_tensor *t)
{
    const float *data = t->data;
    int n = 0;
    if (t->dtype != TL_FLOAT)
        return tl_dtype_is_float(t->dtype);
    for (int i = 0; i < t->len; i++)
        n |= isnan(data[i]);
    return n;
}

static tl_tensor *read_input(const each *e, int item, const char *path, ln_error *err)
{
    slot *s = slot_of(e, item);
    cli_run_options with = *e->opt;
    cli_each_input input = e->input;
    s->photo = (cli_photo){0};
    with.shared.images.photo = &s->photo;
    input.opt = &with;
    return cli_each_input_read(&input, path, err);
}

static void decode(void *data, int item)
{
    const each *e = data;
    slot *s = slot_of(e, item);
    if (s->has_failed)
        return;
    // "-" would be standard input.
    const char *path = strcmp(path_of(e, item), "-") ? path_of(e, item) : "./-";
    char text[LN_MAXLINE];
    ln_error err = {0};
    s->input = check_file(path, &err) ? NULL : read_input(e, item, path, &err);
    if (!s->input)
        set_reason(s, ln_error_text(&err));
    else if (may_have_nan(s->input) && cli_given_has_nan(text, path, e->input.name, s->input))
        s->warning = strdup(text);
}

// Running

static int is_fatal(const runner *r)
{
    return *ln_error_text(&r->fatal) != '\0';
}

// A reason for these `n` files, or a fatal one. Returns -1.
static int fail_run(runner *r, const int *items, int n, ln_status status)
{
    char text[LN_MAXLINE];
    const char *reason = ln_session_error(r->session);
    if (status == LN_LIMIT_REACHED || status == LN_OUT_OF_MEMORY || status == LN_CANCELLED)
        return ln_error_set_as(&r->fatal, status, "%s", reason);
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%s: %s", path_of(r->each, items[i]), reason);
        set_reason(slot_of(r->each, items[i]), text);
    }
    return -1;
}

static int fail_memory(runner *r)
{
    return ln_error_set_as(&r->fatal, LN_OUT_OF_MEMORY, "out of memory");
}

// The inputs of `n` files, repeating the last one up to `rows`, one after the other. Returns
// borrowed; NULL: no memory.
static const void *gather(runner *r, const int *items, int n, int rows, size_t *size)
{
    const slot *first = slot_of(r->each, items[0]);
    const size_t row_size = tl_tensor_size(first->input);
    if (ln_size_mul(row_size, (size_t)rows, size))
        return NULL;
    if (rows == 1)
        return first->input->data;
    if (*size > r->buffer_size) {
        free(r->buffer);
        r->buffer = malloc(*size);
        r->buffer_size = r->buffer ? *size : 0;
    }
    for (int i = 0; r->buffer && i < rows && row_size; i++)
        memcpy((char *)r->buffer + (size_t)i * row_size,
               slot_of(r->each, items[i < n ? i : n - 1])->input->data, row_size);
    return r->buffer;
}

// Each file's part of output `k`, of a run of `rows`.
static int hand_out(runner *r, const int *items, int n, int rows, int k)
{
    char shape[LN_MAX_SHAPE];
    const char *name = ln_model_output_name(r->each->model, k);
    tl_tensor *t = (tl_tensor *)ln_session_output(r->session, name);
    if (!t)
        return ln_error_set(&r->fatal, "%s", ln_session_error(r->session));
    if (rows > 1 && (!t->ndim || t->dims[0] != rows))
        return ln_error_set(&r->fatal,
                            "output '%s' has shape %s for a batch of %d, expected a row for each "
                            "file; run it without --batch",
                            name, ln_sprint_shape(shape, sizeof(shape), t->ndim, t->dims), rows);
    for (int i = 0; i < n; i++) {
        tl_tensor **output = &slot_of(r->each, items[i])->outputs[k];
        *output = rows > 1 ? tl_tensor_slice(t, NULL, 0, i, 1) : tl_tensor_clone(t);
        if (!*output)
            return fail_memory(r);
    }
    return 0;
}

// -1 with a fatal reason if the time is over. Checked for each file: unreadable ones start no run,
// and a run has at least 1 ms, so timeouts alone do not stop a late --each.
static int check_time(runner *r)
{
    const cli_limits *const limits = &r->each->opt->shared.limits;
    if (limits->seconds < 0 || (double)(tl_clock() - limits->started) * 1e-9 <= limits->seconds)
        return 0;
    return ln_error_set_as(&r->fatal, LN_LIMIT_REACHED, "stopped at the time limit of %g s",
                           limits->seconds);
}

static ln_status run_session(runner *r, const void *data, size_t size, const tl_tensor *like,
                             int rows)
{
    const cli_each_input *const input = &r->each->input;
    int dims[LN_MAXDIM];
    for (int axis = 0; axis < like->ndim; axis++)
        dims[axis] = axis == 0 && input->is_batched ? rows : like->dims[axis];
    ln_status status =
        ln_session_bind_input(r->session, input->name, like->dtype, like->ndim, dims, data, size);
    const uint64_t start = tl_clock();
    if (!status)
        status = cli_session_run(r->session, &r->each->opt->shared);
    r->begin = r->begin ? r->begin : start;
    r->end = tl_clock();
    return status;
}

// Runs the files as one batch. Returns 0; -1: with reasons in their slots, or a fatal one.
static int run_files(runner *r, const int *items, int n)
{
    const each *const e = r->each;
    const tl_tensor *like = slot_of(e, items[0])->input;
    const int rows = n > e->input.min_rows ? n : e->input.min_rows;
    size_t size = SIZE_MAX; // stays if the product overflows
    if (check_time(r))
        return -1;
    const void *data = gather(r, items, n, rows, &size);
    if (!data && size)
        return fail_memory(r);
    // An empty array needs no data, but no data would remove the input.
    static const uint64_t nothing = 0;
    const ln_status status = run_session(r, data ? data : &nothing, size, like, rows);
    int failed = status ? fail_run(r, items, n, status) : 0;
    for (int k = 0; k < e->n_outputs && !failed; k++)
        failed = hand_out(r, items, n, rows, k);
    return failed;
}

static void clear_reason(slot *s)
{
    free(s->reason);
    s->reason = NULL;
    s->has_failed = 0;
}

// The same; where a batch fails, its files run one by one.
static void run_batch(runner *r, const int *items, int n)
{
    if (!run_files(r, items, n) || n == 1)
        return;
    for (int i = 0; i < n && !is_fatal(r); i++) {
        clear_reason(slot_of(r->each, items[i]));
        run_files(r, &items[i], 1);
    }
}

// Claims decoded files of one shape, up to a full batch, from the first one that no session has
// claimed. Returns how many; 0: none is left.
static int take_files(runner *r)
{
    each *const e = r->each;
    int *const items = r->items;
    int n = 0, item = e->next;
    // Items beyond the capacity are not decoded before the first one is written.
    const int end = e->files.n - item > e->capacity ? item + e->capacity : e->files.n;
    for (; item >= 0 && item < end && n < e->input.max; item++) {
        // The answers for lines that are there do not wait for other lines.
        if (n && e->files.lines && !cli_pipeline_has(e->pipeline, item))
            break;
        const int is_over = cli_pipeline_wait(e->pipeline, item);
        if (check_time(r) || is_over) {
            e->next = -1;
            return 0;
        }
        const slot *s = slot_of(e, item);
        if (s->has_failed)
            cli_pipeline_done(e->pipeline, item);
        else if (n && !tl_tensor_issameshape(s->input, slot_of(e, items[0])->input))
            break;
        else
            items[n++] = item;
    }
    e->next = item < e->files.n ? item : -1;
    return n;
}

// Claims files until there are some, or none is left. Returns how many.
static int take_next(runner *r)
{
    each *const e = r->each;
    int n = 0;
    pthread_mutex_lock(&e->taking);
    while (!n && e->next >= 0)
        n = take_files(r);
    pthread_mutex_unlock(&e->taking);
    return n;
}

// Runs batches until no file is left, or until a fatal reason, which stops the others, too.
static void run_in_session(void *data, int index)
{
    each *const e = data;
    runner *const r = &e->runners[index];
    for (int n; !is_fatal(r) && (n = take_next(r)) > 0;) {
        run_batch(r, r->items, n);
        for (int i = 0; i < n && !is_fatal(r); i++)
            cli_pipeline_done(e->pipeline, r->items[i]);
    }
    if (is_fatal(r))
        cli_pipeline_stop(e->pipeline);
}

// Writing

static void print_header(each *e, int item)
{
    if (e->opt->shared.json)
        cli_json_outputs_begin(&e->json, e->out, path_of(e, item));
    else if (e->opt->top || e->opt->draw || e->opt->task || !e->opt->outdir)
        cli_print("%s:\n", path_of(e, item));
}

static int print_output(each *e, const char *name, int k, const tl_tensor *t, const char *path)
{
    if (!e->opt->shared.json)
        return e->opt->top || !path ? cli_output_deliver(&e->printing, NULL, name, k, t, e->labels)
                                    : 0;
    if (e->opt->top)
        cli_output_warn_labels(&e->printing, name, t, e->labels);
    return cli_json_output(&e->json, e->opt, name, t, e->labels, path);
}

static const char *path_of_output(const each *e, int item, int k)
{
    if (!e->opt->outdir)
        return NULL;
    return e->files.lines ? slot_of(e, item)->file.outputs[k]
                          : cli_outnames_of(&e->files.names, item, k);
}

static int write_file(each *e, int item, int k)
{
    ln_error err = {0};
    const char *path = path_of_output(e, item, k);
    if (!path || !ln_npy_write(path, slot_of(e, item)->outputs[k], &err))
        return 0;
    if (e->opt->shared.json)
        cli_json_error(e->out, path_of(e, item), ln_error_text(&err));
    return cli_fail("output '%s': %s", ln_model_output_name(e->model, k), ln_error_text(&err));
}

// The files of the outputs, unless -O has the drawn image.
static int write_files(each *e, int item)
{
    int status = 0;
    for (int k = 0; k < e->n_outputs && !status && !e->opt->draw; k++)
        status = write_file(e, item, k);
    return status;
}

static int print_outputs(each *e, int item)
{
    int status = 0;
    print_header(e, item);
    for (int k = 0; k < e->n_outputs && !status; k++)
        status = print_output(e, ln_model_output_name(e->model, k), k, slot_of(e, item)->outputs[k],
                              e->opt->draw ? NULL : path_of_output(e, item, k));
    if (e->opt->shared.json)
        cli_json_close(&e->json); // the list of outputs
    e->printing.shared.quiet = 1; // warns of a wrong number of labels only once
    return status;
}

// Files come first, so that an object of JSON is whole or has the error.
static int write_all(each *e, int item)
{
    if (write_files(e, item)) {
        e->n_failed++;
        return 0;
    }
    const int status = print_outputs(e, item);
    if (e->opt->shared.json)
        cli_json_close(&e->json);
    return status;
}

// What the outputs show is found first, for the same reason.
static int find(each *e, int item, cli_run_options *with, cli_drawing *drawing, cli_found *found)
{
    ln_error err = {0};
    slot *s = slot_of(e, item);
    int status = 0;
    s->photo.drawing = drawing;
    with->shared.images.photo = &s->photo;
    for (int k = 0; k < e->n_outputs && !status; k++)
        status = cli_found_add(with, ln_model_output_name(e->model, k), s->outputs[k]);
    if (status || !cli_found_init(found, with, e->labels, &err))
        return status;
    if (e->opt->shared.json)
        cli_json_error(e->out, path_of(e, item), ln_error_text(&err));
    return cli_fail("%s", ln_error_text(&err));
}

static int print_found(each *e, int item, const cli_found *found)
{
    cli_json *const json = e->opt->shared.json ? &e->json : NULL;
    int status = print_outputs(e, item);
    if (!status)
        status = cli_output_deliver_found(&e->printing, json, found, e->labels);
    if (json)
        cli_json_close(json);
    return status;
}

static int write_found(each *e, int item)
{
    cli_drawing drawing = {0};
    cli_found found;
    cli_run_options with = e->printing;
    int status = 0;
    const int failed = find(e, item, &with, &drawing, &found);
    if (failed || write_files(e, item)) {
        e->n_failed++;
    } else {
        status = print_found(e, item, &found);
        e->n_failed += !status && e->opt->draw &&
                       cli_draw(&found, &with, e->labels, path_of_output(e, item, 0));
    }
    if (!failed)
        cli_found_free(&found);
    cli_found_free_drawing(&drawing);
    return status;
}

static void write_failure(each *e, int item)
{
    const char *reason = slot_of(e, item)->reason;
    e->n_failed++;
    cli_fail("%s", reason ? reason : "out of memory");
    if (e->opt->shared.json)
        cli_json_error(e->out, path_of(e, item), reason ? reason : "out of memory");
}

static void fail_photo(const each *e, int item)
{
    char text[LN_MAXLINE];
    snprintf(text, sizeof(text), "%s: %s needs an image", path_of(e, item),
             e->opt->draw ? "--draw" : "--task");
    set_reason(slot_of(e, item), text);
}

static void clear_slot(each *e, int item)
{
    slot *s = slot_of(e, item);
    tl_tensor_free_data_too(s->input);
    s->input = NULL;
    for (int k = 0; k < e->n_outputs; k++) {
        tl_tensor_free_data_too(s->outputs[k]);
        s->outputs[k] = NULL;
    }
    clear_reason(s);
    free(s->warning);
    s->warning = NULL;
    cli_each_files_free_one(&e->files, &s->file);
}

// Flushes after each file, for readers of a pipe.
static int flush(const each *e)
{
    errno = 0;
    return fflush(e->out) || ferror(e->out)
               ? cli_fail("standard output: cannot write: %s", strerror(errno ? errno : EIO))
               : 0;
}

static int write_item(void *data, int item)
{
    each *e = data;
    const slot *s = slot_of(e, item);
    int status = 0;
    cli_progress_hide(&e->progress);
    if (s->warning)
        cli_model_print_message((void *)e->opt, LN_MSG_WARN, s->warning);
    if (!e->has_warned)
        e->has_warned = cli_preprocess_warn(&s->photo);
    const int finds = e->opt->draw || e->opt->task;
    if (finds && !s->has_failed && !s->photo.file)
        fail_photo(e, item);
    if (s->has_failed)
        write_failure(e, item);
    else
        status = finds ? write_found(e, item) : write_all(e, item);
    if (!status)
        status = flush(e);
    clear_slot(e, item);
    cli_progress_show(&e->progress, item + 1);
    return status;
}

// All of it

static void cancel(void *data)
{
    const each *e = data;
    for (int i = 0; i < e->n_runners; i++)
        ln_session_cancel(e->runners[i].session);
    cli_pipeline_stop(e->pipeline);
}

static int min_of(int a, int b)
{
    return a < b ? a : b;
}

// Threads by option, else by LIGHTNET_NUM_THREADS; below 1: the variable is invalid.
static int count_threads(const cli_run_options *opt)
{
    const char *const env = getenv("LIGHTNET_NUM_THREADS");
    if (opt->shared.threads > 0)
        return opt->shared.threads;
    if (opt->shared.threads == 0 || !env || !*env || !strcmp(env, "0"))
        return tl_cpu_count();
    return (int)strtol(env, NULL, 10);
}

static int n_decoders(const each *e)
{
    const int n = count_threads(e->opt);
    return min_of(min_of(n > 0 ? n : 1, MAX_THREADS), e->files.n);
}

static int allocate(each *e)
{
    const double wanted = 2.0 * e->n_runners * e->input.max + 2.0 * n_decoders(e) + 2;
    e->n_outputs = ln_model_num_outputs(e->model);
    e->capacity = wanted < e->files.n ? (int)wanted : e->files.n;
    if (e->capacity < 1)
        e->capacity = 1; // no file is left
    e->slots = calloc((size_t)e->capacity, sizeof(*e->slots));
    for (int i = 0; e->slots && i < e->capacity; i++)
        if (!(e->slots[i].outputs = calloc((size_t)e->n_outputs + 1, sizeof(tl_tensor *))))
            return cli_fail_memory();
    return e->slots ? 0 : cli_fail_memory();
}

// Keeps freed pixels and inputs for the next file: by default malloc returns such blocks to the
// system, which clears each page again.
static void reuse_memory(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, MAX_REUSED);
    mallopt(M_TRIM_THRESHOLD, 4 * MAX_REUSED);
#endif
}

// Returns the number of files that are written; *signal: the one that ended it, 0: none.
static int run_all(each *e, int *signal)
{
    const cli_pipeline_steps steps = {.data = e,
                                      .n = e->files.n,
                                      .capacity = e->capacity,
                                      .n_decoders = n_decoders(e),
                                      .decode = decode,
                                      .write = write_item,
                                      .next = e->files.lines ? next_line : NULL,
                                      .stop = e->files.lines ? stop_lines : NULL};
    reuse_memory();
    cli_progress_begin(&e->progress, e->files.lines ? 0 : e->files.n);
    e->pipeline = cli_pipeline_start(&steps);
    if (!e->pipeline)
        return fail_memory(&e->runners[0]);
    cli_interrupt *interrupt = cli_interrupt_watch(cancel, e);
    cli_pipeline_run(e->pipeline, e->n_runners, run_in_session);
    *signal = cli_interrupt_end(interrupt);
    const int n = cli_pipeline_finish(e->pipeline);
    cli_progress_hide(&e->progress);
    return n;
}

// The first fatal reason of a session, or NULL.
static const char *fatal_of(const each *e)
{
    for (int i = 0; i < e->n_runners; i++)
        if (is_fatal(&e->runners[i]))
            return ln_error_text(&e->runners[i].fatal);
    return NULL;
}

// From the begin of the first run to the end of the last one.
static double run_seconds(const each *e)
{
    uint64_t begin = UINT64_MAX, end = 0;
    for (int i = 0; i < e->n_runners; i++) {
        const runner *const r = &e->runners[i];
        begin = r->begin && r->begin < begin ? r->begin : begin;
        end = r->end > end ? r->end : end;
    }
    return end ? (double)(end - begin) * 1e-9 : 0;
}

// The number of files that there are to run.
static int count_files(const each *e)
{
    return e->files.lines ? e->files.n_all - e->files.n_done : e->files.n;
}

static int report(each *e, int n, int signal)
{
    char kind[LN_MAXLINE];
    const int n_files = count_files(e);
    const char *const error = e->files.lines ? cli_lines_error(e->files.lines) : NULL;
    if (signal)
        return cli_fail("%s: interrupted after %d of %d files", e->source, n, n_files);
    if (fatal_of(e))
        return cli_model_fail_for(cli_source_name(e->opt->shared.args[0]), &e->opt->shared,
                                  fatal_of(e));
    if (n < n_files)
        return CLI_FAILED; // printing has failed, with a message
    if (cli_flush())
        return CLI_FAILED;
    if (error || !e->files.n_all)
        return cli_fail("%s: %s", e->source, error ? error : "the list has no path");
    cli_fprint(stderr, "info: %d file%s%s, run time: %.6fs\n", n, n == 1 ? "" : "s",
               cli_each_files_kind(&e->files, kind, sizeof(kind)), run_seconds(e));
    if (e->n_failed)
        cli_fail("%s: %d of %d files failed", e->source, e->n_failed, n_files);
    return cli_ranks_end(&e->ranks, e->source, e->n_failed, e->files.n_all);
}

static int run_and_report(each *e, int *signal)
{
    const int n = run_all(e, signal);
    return report(e, n, *signal);
}

// With --json, the output of `print` operators is dropped.
static int run_and_print(each *e, int *signal)
{
    const int saved = e->opt->shared.json ? cli_silence_output() : -1;
    e->out = saved < 0 ? stdout : fdopen(saved, "w");
    if (!e->out)
        cli_fail_memory();
    if (!e->out || (e->opt->shared.json && saved < 0))
        return CLI_FAILED;
    const int status = run_and_report(e, signal);
    if (e->out != stdout)
        fclose(e->out);
    return status;
}

// Before

// Compiled models run unchanged, with or without -r, and reject compile options.
static int check_compiled(const each *e)
{
    const cli_run_options *opt = e->opt;
    const char *const source = cli_source_name(opt->shared.args[0]);
    const char *const late = opt->shared.target       ? "-t"
                             : opt->shared.tune       ? "--tune"
                             : opt->shared.precision  ? "--precision"
                             : opt->shared.disabled.n ? "--disable-rule"
                                                      : NULL;
    const int is_compiled =
        ln_model_metadata(e->model, "target") || ln_model_metadata(e->model, "program.1");
    if (opt->shared.run_only && !is_compiled)
        return cli_fail("%s: the model is not compiled; run it without -r", source);
    if (is_compiled && late)
        return cli_fail("%s: the model is compiled already, too late for %s", source, late);
    return 0;
}

static int is_stdin_twice(const cli_run_options *opt)
{
    return cli_source_is_stdin(opt->shared.samples) && cli_source_is_stdin(opt->shared.args[0]);
}

static int check_sources(const each *e)
{
    const char *const model = e->opt->shared.args[0];
    if (is_stdin_twice(e->opt))
        return cli_usage("MODEL and --each cannot both be standard input");
    if (!cli_source_is_stream(model) && cli_il_is_file(model))
        return cli_fail("%s: --each does not support IL; convert the model first, by lightnet "
                        "convert %s -o FILE.json",
                        model, model);
    return 0;
}

// Opens the model for `n` sessions at the same time.
static int open_model(each *e, int n)
{
    const int n_threads = count_threads(e->opt);
    e->n_runners = n;
    e->opening.threads = n > 1 ? n_threads / n : e->opt->shared.threads;
    e->model = cli_session_open(&e->opening);
    if (!e->model || cli_known_read(e->opt->known, e->model))
        return CLI_FAILED;
    return check_compiled(e);
}

static int create_session(each *e, int i)
{
    runner *const r = &e->runners[i];
    r->each = e;
    ln_error_clear(&r->fatal);
    r->items = calloc((size_t)e->input.max, sizeof(*r->items));
    if (!r->items)
        return cli_fail_memory();
    r->session = cli_session_create(e->model, &e->opt->shared);
    return r->session ? cli_each_input_set_others(&e->input, r->session) : CLI_FAILED;
}

// The max number of sessions at the same time. A memory limit applies to one session, so it is 1.
static int max_sessions(const each *e)
{
    const int batch = e->opt->batch > 0 ? e->opt->batch : 1;
    const int n_batches = e->files.n / batch + (e->files.n % batch != 0);
    const int n = min_of(count_threads(e->opt), n_batches);
    return e->opt->shared.limits.memory || n < 1 ? 1 : min_of(n, MAX_THREADS);
}

// The number of those sessions that fit MAX_MEMORY, by the memory plan of the first.
static int count_sessions(const each *e)
{
    ln_memory_total totals[LN_MEM_TYPE_SIZE] = {{0}};
    if (ln_session_memory_plan(e->runners[0].session, NULL, NULL, totals))
        return e->n_runners; // open sizes, which are not known yet
    const size_t n = MAX_MEMORY / (totals[LN_MEM_CPU].size + 1);
    return n < (size_t)e->n_runners ? n > 1 ? (int)n : 1 : e->n_runners;
}

static void close_model(each *e)
{
    for (int i = 0; e->runners && i < e->n_runners; i++) {
        ln_session_free(e->runners[i].session);
        free(e->runners[i].items);
        free(e->runners[i].buffer);
    }
    free(e->runners);
    e->runners = NULL;
    ln_model_free(e->model);
    e->model = NULL;
}

// Opens the model and `n` sessions; fewer, with more threads each, if `n` would need too much
// memory.
static int open_sessions(each *e, int n)
{
    int status = open_model(e, n);
    if (!status)
        status = cli_each_input_find(&e->input, e->opt, e->model, e->files.n);
    if (!status && !(e->runners = calloc((size_t)n, sizeof(*e->runners))))
        status = cli_fail_memory();
    if (!status)
        status = create_session(e, 0);
    const int fewer = status ? n : count_sessions(e);
    if (fewer < n) {
        close_model(e);
        return open_sessions(e, fewer);
    }
    for (int i = 1; i < n && !status; i++)
        status = create_session(e, i);
    return status;
}

static int prepare(each *e)
{
    int status = check_sources(e);
    if (!status)
        status = cli_ranks_begin(&e->ranks, e->opt);
    if (!status)
        status = cli_each_files_find(&e->files, e->opt);
    if (!status)
        status = open_sessions(e, max_sessions(e));
    if (!status)
        status = cli_each_files_name(&e->files, e->model);
    return status ? status : allocate(e);
}

static void free_all(each *e)
{
    for (int i = 0; e->slots && i < e->capacity; i++) {
        if (e->slots[i].outputs)
            clear_slot(e, i);
        free(e->slots[i].outputs);
    }
    free(e->slots);
    cli_each_files_free(&e->files);
    cli_ranks_free(&e->ranks);
    close_model(e);
    pthread_mutex_destroy(&e->taking);
}

int cli_each_run(const cli_run_options *opt, const cli_labels *labels)
{
    each e = {.opt = opt, .opening = opt->shared, .labels = labels};
    int signal = 0;
    e.printing = *opt;
    e.printing.outdir = NULL;
    e.source = cli_source_name(opt->shared.samples);
    pthread_mutex_init(&e.taking, NULL);
    int status = prepare(&e);
    if (!status)
        status = run_and_print(&e, &signal);
    free_all(&e);
    if (signal)
        cli_interrupt_die(signal);
    return status;
}
