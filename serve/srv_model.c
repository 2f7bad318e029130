// SPDX-License-Identifier: Apache-2.0
// A model that was replaced still answers what it has accepted: its requests are its users, and the
// repository frees it when none is left.

#include "srv_model.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srv_pad_probe.h"
#include "srv_probe.h"
#include "srv_rows_probe.h"
#include "srv_run.h"
#include "tensorlight/tl_util.h"

enum { DEFAULT_BATCH = 8 };

struct srv_model {
    char *name, *version, *path;
    ln_model *model;
    srv_port *inputs, *outputs;
    int n_inputs, n_outputs;
    int max_batch; // rows that can run together; 1: axis 0 is no batch
    srv_pad *pad;  // NULL: requests of different lengths run apart
    uint64_t timeout_ns;
    srv_queue_limits limits;
    srv_queue *queue;
    pthread_t *threads;
    int n_threads;
    atomic_int n_users;
    pthread_mutex_t lock; // protects the figures
    srv_model_figures figures;
};

// Inputs and outputs

typedef const tl_tensor *(*info_func)(const ln_model *model, int i);
typedef const char *(*name_func)(const ln_model *model, int i);
typedef ln_status (*bounds_func)(const ln_model *model, int i, int axis, int *min, int *max);

static int set_port(srv_port *port, const ln_model *model, int i, info_func info, name_func name,
                    bounds_func bounds, srv_error *err)
{
    const tl_tensor *const t = info(model, i);
    *port = (srv_port){.name = name(model, i), .dtype = t->dtype, .ndim = t->ndim};
    port->datatype = srv_datatype_name(t->dtype);
    if (t->ndim > SRV_MAX_DIMS)
        return srv_fail(err, SRV_UNSUPPORTED, "'%s' has %d dimensions; the max is %d", port->name,
                        t->ndim, SRV_MAX_DIMS);
    for (int k = 0; k < t->ndim; k++) {
        port->dims[k] = t->dims[k];
        bounds(model, i, k, &port->min[k], &port->max[k]);
    }
    return 0;
}

static int set_ports(srv_model *m, srv_error *err)
{
    m->n_inputs = ln_model_num_inputs(m->model);
    m->n_outputs = ln_model_num_outputs(m->model);
    m->inputs = calloc((size_t)m->n_inputs + 1, sizeof(*m->inputs));
    m->outputs = calloc((size_t)m->n_outputs + 1, sizeof(*m->outputs));
    if (!m->inputs || !m->outputs)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    for (int i = 0; i < m->n_inputs; i++)
        if (set_port(&m->inputs[i], m->model, i, ln_model_input_info, ln_model_input_name,
                     ln_model_input_bounds, err))
            return -1;
    for (int i = 0; i < m->n_outputs; i++)
        if (set_port(&m->outputs[i], m->model, i, ln_model_output_info, ln_model_output_name,
                     ln_model_output_bounds, err))
            return -1;
    return 0;
}

// Threads

static void count_request(srv_model *m, const srv_request *r, uint64_t now)
{
    pthread_mutex_lock(&m->lock);
    m->figures.requests[r->error.status]++;
    srv_histogram_add(&m->figures.request_s, (double)(now - r->arrival) * 1e-9);
    srv_histogram_add(&m->figures.receive_s, (double)(r->queued - r->arrival) * 1e-9);
    srv_histogram_add(&m->figures.queue_s,
                      (double)(r->run_ns ? r->queue_ns : now - r->queued) * 1e-9);
    if (r->run_ns)
        srv_histogram_add(&m->figures.run_s, (double)r->run_ns * 1e-9);
    pthread_mutex_unlock(&m->lock);
}

static void end_request(void *owner, srv_request *r)
{
    srv_model *const m = owner;
    count_request(m, r, tl_clock());
    r->done(r);
    srv_model_release(m);
}

static void count_run(srv_model *m, int rows)
{
    pthread_mutex_lock(&m->lock);
    m->figures.runs++;
    m->figures.rows += (uint64_t)rows;
    srv_histogram_add(&m->figures.batch_rows, rows);
    pthread_mutex_unlock(&m->lock);
}

// Owns its session.
static void *work(void *data)
{
    srv_run *const run = data;
    srv_model *const m = run->owner;
    srv_batch batch;
    while (!srv_queue_take(m->queue, run->session, &batch)) {
        const uint64_t start = tl_clock();
        srv_model_keep(m); // its requests may end before the run
        const int n_runs = srv_run_batch(run, &batch);
        const uint64_t end = tl_clock();
        for (srv_request *r = batch.first; r; r = r->next) {
            r->queue_ns = start - r->queued;
            r->run_ns = end - start;
            if (n_runs > 1)
                count_run(m, r->rows);
        }
        if (n_runs == 1)
            count_run(m, batch.rows);
        srv_queue_finish(m->queue, &batch);
        srv_model_release(m);
    }
    srv_run_free(run);
    return NULL;
}

static int create_queue(srv_model *m, srv_error *err)
{
    m->limits.pad = m->pad;
    m->queue = srv_queue_create(&m->limits, end_request, m);
    return m->queue ? 0 : srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
}

static srv_probe probe_of(srv_model *m, const srv_run *run)
{
    return (srv_probe){m->model, run->session, m->inputs, m->outputs, m->n_inputs, m->n_outputs};
}

// Lets rows run together only if that does not change their results. Where they cannot be compared,
// the names of their sizes decide.
static void settle_rows(srv_model *m, srv_run *run, const srv_model_settings *settings)
{
    srv_error why = {.status = SRV_OK};
    const srv_probe probe = probe_of(m, run);
    const int status =
        m->max_batch > 1 ? srv_rows_probe(run, m->model, m->inputs, m->n_inputs, m->max_batch, &why)
                         : 0;
    if (why.status == SRV_CANCELLED)
        return;
    const int is_batched = !status || (status > 0 && srv_probe_has_names(&probe));
    if (settings->log && status)
        srv_log_event(settings->log, is_batched ? "info" : "warning",
                      is_batched ? "model '%s', version %s: requests run together, as the names of "
                                   "its sizes allow; results were not compared: %s"
                                 : "model '%s', version %s: requests do not run together: %s",
                      m->name, m->version, why.text);
    if (!is_batched)
        m->max_batch = m->limits.max_rows = 1;
}

// Whether the model's results are the same with padding, and its rows run together at all.
static int can_pad(srv_model *m, srv_run *run, srv_error *why)
{
    if (m->max_batch == 1)
        return srv_fail(why, SRV_UNSUPPORTED, "its rows cannot run together"), 0;
    run->pad = m->pad;
    return !srv_pad_probe(run, m->inputs, m->n_inputs, why);
}

// Keeps the padding that the metadata specify, or drops it with a warning.
static void settle_padding(srv_model *m, srv_run *run, const srv_model_settings *settings)
{
    srv_error why = {.status = SRV_OK};
    if (!m->pad || settings->max_batch == 1 || can_pad(m, run, &why) || why.status == SRV_CANCELLED)
        return;
    if (settings->log)
        srv_log_event(settings->log, "warning",
                      "model '%s', version %s: metadata '" SRV_PAD_KEY
                      "' is ignored, and requests of different lengths do not run together: %s",
                      m->name, m->version, why.text);
    srv_pad_free(m->pad);
    m->pad = NULL;
}

static int has_unknown_outputs(const srv_model *m)
{
    for (int i = 0; i < m->n_outputs; i++)
        if (m->outputs[i].ndim < 0 || m->outputs[i].dtype == TL_DTYPE_INVALID)
            return 1;
    return 0;
}

// Outputs that the file does not describe, of a model with open sizes. Where it does not run, they
// stay unknown.
static void settle_outputs(srv_model *m, srv_run *run)
{
    srv_error why = {.status = SRV_OK};
    const srv_probe probe = probe_of(m, run);
    if (has_unknown_outputs(m) && !srv_rows_run(run, m->model, m->inputs, m->n_inputs, &why))
        srv_probe_learn_outputs(&probe);
}

// `measured` 0: the max rows were not.
static void log_batches(const srv_model *m, const srv_model_settings *settings, int measured)
{
    if (!settings->log || m->max_batch == 1)
        return;
    const int rows = m->limits.max_rows;
    srv_log_event(settings->log, "info", "model '%s', version %s: batches of up to %d row%s (%s)%s",
                  m->name, m->version, rows, rows > 1 ? "s" : "",
                  settings->max_batch ? "--max-batch"
                  : measured          ? "measured"
                                      : "not measured, since sizes of inputs are open",
                  rows == 1 && settings->wait_ns ? "; --batch-wait has no effect" : "");
}

// By a session that ends, with its memory for the largest batch.
static int find_batches(srv_model *m, const srv_model_settings *settings, srv_opening *opening,
                        srv_error *err)
{
    const int max = settings->max_batch;
    srv_run *const run = srv_run_create(m->model, m->outputs, m->n_outputs, m, err);
    if (!run)
        return -1;
    const srv_probe probe = probe_of(m, run);
    int enough = 0;
    srv_opening_enter(opening, run->session);
    m->max_batch = srv_probe_rows(&probe, max ? max : DEFAULT_BATCH, max ? NULL : &enough, err);
    m->limits.max_rows = enough ? enough : m->max_batch;
    if (!err->status)
        settle_outputs(m, run);
    if (!err->status)
        settle_rows(m, run, settings);
    if (!err->status)
        settle_padding(m, run, settings);
    srv_opening_leave(opening);
    if (!err->status && !srv_opening_check(opening, err))
        log_batches(m, settings, enough);
    srv_run_free(run);
    return err->status ? -1 : 0;
}

static int start_thread(srv_model *m, srv_opening *opening, srv_error *err)
{
    srv_run *const run = srv_run_create(m->model, m->outputs, m->n_outputs, m, err);
    if (!run)
        return -1;
    run->pad = m->pad;
    const srv_probe probe = probe_of(m, run);
    srv_opening_enter(opening, run->session);
    srv_probe_warm_up(&probe, m->limits.max_rows, err);
    srv_opening_leave(opening);
    if (err->status || srv_opening_check(opening, err)) {
        srv_run_free(run);
        return -1;
    }
    if (pthread_create(&m->threads[m->n_threads], NULL, work, run)) {
        srv_run_free(run);
        return srv_fail(err, SRV_UNAVAILABLE, "cannot start a thread");
    }
    m->n_threads++;
    return 0;
}

void srv_model_free(srv_model *m)
{
    if (!m)
        return;
    if (m->queue)
        srv_queue_close(m->queue);
    for (int i = 0; i < m->n_threads; i++)
        pthread_join(m->threads[i], NULL);
    srv_queue_free(m->queue);
    srv_pad_free(m->pad);
    ln_model_free(m->model);
    pthread_mutex_destroy(&m->lock);
    free(m->threads);
    free(m->inputs);
    free(m->outputs);
    free(m->path);
    free(m->version);
    free(m->name);
    free(m);
}

static int start(srv_model *m, const srv_model_settings *settings, srv_opening *opening,
                 srv_error *err)
{
    if (srv_opening_check(opening, err))
        return -1;
    const ln_status status = ln_model_open(m->path, settings->options, &m->model);
    if (status)
        return srv_fail_ln(err, status, ln_model_error(NULL));
    if (set_ports(m, err) ||
        srv_pad_create(m->model, m->inputs, m->n_inputs, m->outputs, m->n_outputs, &m->pad, err))
        return -1;
    m->limits = (srv_queue_limits){settings->max_queue, 1, settings->wait_ns, NULL};
    m->threads = calloc((size_t)settings->instances, sizeof(*m->threads));
    if (!m->threads)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    if (find_batches(m, settings, opening, err) || create_queue(m, err))
        return -1;
    for (int i = 0; i < settings->instances; i++)
        if (start_thread(m, opening, err))
            return -1;
    return 0;
}

srv_model *srv_model_open(const char *name, const char *version, const char *path,
                          const srv_model_settings *settings, srv_opening *opening, srv_error *err)
{
    srv_model *const m = calloc(1, sizeof(*m));
    if (!m)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    pthread_mutex_init(&m->lock, NULL);
    m->timeout_ns = settings->timeout_ns;
    m->figures.request_s = m->figures.receive_s = srv_histogram_seconds;
    m->figures.queue_s = m->figures.run_s = srv_histogram_seconds;
    m->figures.batch_rows = srv_histogram_rows;
    m->name = strdup(name);
    m->version = strdup(version);
    m->path = strdup(path);
    if (!m->name || !m->version || !m->path)
        srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    else if (!start(m, settings, opening, err))
        return m;
    srv_model_free(m);
    return NULL;
}

srv_model *srv_model_keep(srv_model *m)
{
    atomic_fetch_add(&m->n_users, 1);
    return m;
}

void srv_model_release(srv_model *m)
{
    atomic_fetch_sub(&m->n_users, 1);
}

int srv_model_has_users(const srv_model *m)
{
    return atomic_load(&m->n_users) > 0;
}

void srv_model_close(srv_model *m)
{
    srv_queue_close(m->queue);
}

const char *srv_model_name(const srv_model *m)
{
    return m->name;
}

const char *srv_model_version(const srv_model *m)
{
    return m->version;
}

const char *srv_model_path(const srv_model *m)
{
    return m->path;
}

const char *srv_model_format(const srv_model *m)
{
    return ln_model_metadata(m->model, "format");
}

const srv_port *srv_model_inputs(const srv_model *m, int *n)
{
    *n = m->n_inputs;
    return m->inputs;
}

const srv_port *srv_model_outputs(const srv_model *m, int *n)
{
    *n = m->n_outputs;
    return m->outputs;
}

int srv_model_max_batch(const srv_model *m)
{
    return m->limits.max_rows;
}

// Requests

static const srv_port *find_port(const srv_port *ports, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(ports[i].name, name))
            return &ports[i];
    return NULL;
}

static int fail_unknown(srv_request *r, const char *what, const char *name, const srv_port *ports,
                        int n)
{
    srv_buffer known = {.data = NULL};
    for (int i = 0; i < n; i++)
        srv_buffer_printf(&known, "%s'%s'", i ? ", " : "", ports[i].name);
    srv_buffer_add(&known, "", 1);
    srv_fail(&r->error, SRV_INVALID, "the model has no %s '%s'; it has %s", what, name,
             n && known.data ? known.data : "none");
    srv_buffer_clear(&known);
    return -1;
}

// As "[-1, 3, 224, 224]".
static const char *shape_text(char *text, size_t size, int ndim, const int *dims)
{
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < ndim && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%d", i ? ", " : "", dims[i]);
    return text;
}

static int check_input(srv_request *r, const srv_port *port, const srv_tensor *t)
{
    enum { TEXT = 256 };
    char have[TEXT], want[TEXT];
    if (t->dtype != port->dtype)
        return srv_fail(&r->error, SRV_INVALID, "input '%s' has the type %s; the model's is %s",
                        t->name, srv_datatype_name(t->dtype),
                        port->datatype ? port->datatype : tl_dtype_name(port->dtype));
    int fits = port->ndim < 0 || t->ndim == port->ndim;
    for (int i = 0; fits && i < port->ndim; i++)
        fits = port->min[i] <= t->dims[i] && t->dims[i] <= port->max[i];
    if (fits)
        return 0;
    return srv_fail(&r->error, SRV_INVALID, "input '%s' has the shape [%s]; the model's is [%s]",
                    t->name, shape_text(have, TEXT, t->ndim, t->dims),
                    shape_text(want, TEXT, port->ndim, port->dims));
}

// Inputs in the order of the model, each once.
static int sort_inputs(const srv_model *m, srv_request *r)
{
    for (int i = 0; i < r->n_inputs; i++)
        if (!find_port(m->inputs, m->n_inputs, r->inputs[i].name))
            return fail_unknown(r, "input", r->inputs[i].name, m->inputs, m->n_inputs);
    for (int i = 0; i < m->n_inputs; i++) {
        int k = i;
        while (k < r->n_inputs && strcmp(r->inputs[k].name, m->inputs[i].name))
            k++;
        if (k >= r->n_inputs)
            return srv_fail(&r->error, SRV_INVALID, "the request has no input '%s'",
                            m->inputs[i].name);
        const srv_tensor found = r->inputs[k];
        r->inputs[k] = r->inputs[i];
        r->inputs[i] = found;
    }
    return r->n_inputs == m->n_inputs
               ? 0
               : srv_fail(&r->error, SRV_INVALID, "the request has the input '%s' twice",
                          r->inputs[m->n_inputs].name);
}

// Each output at most once: requests get copies.
static int check_wanted(const srv_model *m, srv_request *r)
{
    for (int i = 0; i < r->n_wanted; i++) {
        if (!find_port(m->outputs, m->n_outputs, r->wanted[i]))
            return fail_unknown(r, "output", r->wanted[i], m->outputs, m->n_outputs);
        for (int k = 0; k < i; k++)
            if (!strcmp(r->wanted[k], r->wanted[i]))
                return srv_fail(&r->error, SRV_INVALID, "the request has the output '%s' twice",
                                r->wanted[i]);
    }
    return 0;
}

static int check(const srv_model *m, srv_request *r)
{
    if (sort_inputs(m, r))
        return -1;
    for (int i = 0; i < r->n_inputs; i++)
        if (check_input(r, &m->inputs[i], &r->inputs[i]))
            return -1;
    return check_wanted(m, r);
}

// Requests join only if all their inputs have as many rows, and as many elements along axes of one
// name; otherwise the run explains what is wrong.
static void measure(const srv_model *m, srv_request *r)
{
    r->rows = 1;
    if (m->max_batch == 1)
        return;
    r->rows = r->inputs[0].dims[0];
    r->is_alone = r->rows == 0 || (m->pad && srv_pad_measure(m->pad, r));
    for (int i = 1; i < r->n_inputs; i++)
        r->is_alone |= r->inputs[i].dims[0] != r->rows;
}

static int submit(srv_model *m, srv_request *r)
{
    const uint64_t limit = r->arrival + m->timeout_ns;
    if (m->timeout_ns && (!r->deadline || limit < r->deadline))
        r->deadline = limit;
    if (check(m, r))
        return -1;
    measure(m, r);
    srv_model_keep(m);
    if (!srv_queue_push(m->queue, r))
        return 0;
    srv_model_release(m);
    return -1;
}

int srv_model_submit(srv_model *m, srv_request *r)
{
    if (!submit(m, r))
        return 0;
    srv_model_count(m, r->error.status);
    return -1;
}

void srv_model_count(srv_model *m, srv_status status)
{
    pthread_mutex_lock(&m->lock);
    m->figures.requests[status]++;
    pthread_mutex_unlock(&m->lock);
}

void srv_model_cancel(srv_model *m, srv_request *r)
{
    srv_queue_cancel(m->queue, r);
}

void srv_model_cancel_all(srv_model *m)
{
    srv_queue_cancel_all(m->queue);
}

void srv_model_expire(srv_model *m, uint64_t now)
{
    srv_queue_expire(m->queue, now);
}

int srv_model_queue_length(srv_model *m)
{
    return srv_queue_length(m->queue);
}

void srv_model_get_figures(srv_model *m, srv_model_figures *figures)
{
    pthread_mutex_lock(&m->lock);
    *figures = m->figures;
    pthread_mutex_unlock(&m->lock);
}
