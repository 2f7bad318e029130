// SPDX-License-Identifier: Apache-2.0
// Joins inputs, runs a session, splits outputs.

#include "srv_run.h"

#include <stdlib.h>
#include <string.h>

#include "tensorlight/tl_string.h"
#include "tensorlight/tl_tensor.h"
#include "tensorlight/tl_util.h"

enum { ALIGNMENT = 64 };

srv_run *srv_run_create(ln_model *model, const srv_port *outputs, int n_outputs, void *owner,
                        srv_error *err)
{
    srv_run *const run = calloc(1, sizeof(*run));
    if (!run)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    run->outputs = outputs;
    run->n_outputs = n_outputs;
    run->owner = owner;
    run->n_joined = ln_model_num_inputs(model);
    run->joined = calloc((size_t)run->n_joined + 1, sizeof(*run->joined));
    run->joined_size = calloc((size_t)run->n_joined + 1, sizeof(*run->joined_size));
    if (!run->joined || !run->joined_size) {
        srv_run_free(run);
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    }
    const ln_status status = ln_session_create(model, &run->session);
    if (status == LN_OK)
        return run;
    srv_fail_ln(err, status, ln_session_error(NULL));
    srv_run_free(run);
    return NULL;
}

void srv_run_free(srv_run *run)
{
    if (!run)
        return;
    ln_session_free(run->session);
    for (int i = 0; run->joined && i < run->n_joined; i++)
        free(run->joined[i]);
    free(run->joined);
    free(run->joined_size);
    free(run);
}

// Inputs

// Memory for joined input `i`, which grows.
static void *joined_of(srv_run *run, int i, size_t size)
{
    if (size <= run->joined_size[i] && run->joined[i])
        return run->joined[i];
    free(run->joined[i]);
    run->joined_size[i] = size;
    run->joined[i] = aligned_alloc(ALIGNMENT, size / ALIGNMENT * ALIGNMENT + ALIGNMENT);
    return run->joined[i];
}

static int fail_memory(srv_error *err)
{
    return srv_fail(err, SRV_OUT_OF_MEMORY, "the server has no memory for the inputs of a batch");
}

static int fail_session(const srv_run *run, ln_status status, srv_error *err)
{
    // Memory has a limit, too.
    const int is_late = run->time_limit && tl_clock() >= run->time_limit;
    if (status == LN_LIMIT_REACHED && !is_late)
        return srv_fail(err, SRV_TOO_LARGE, "%s", ln_session_error(run->session));
    return srv_fail_ln(err, status, ln_session_error(run->session));
}

static int set_strings(srv_run *run, const srv_batch *batch, int i, const int *dims, size_t len,
                       srv_error *err)
{
    const srv_tensor *const t = &batch->first->inputs[i];
    const char **const strings = calloc(len + 1, sizeof(*strings));
    size_t *const sizes = calloc(len + 1, sizeof(*sizes)), at = 0;
    int status = strings && sizes ? 0 : fail_memory(err);
    for (const srv_request *r = batch->first; r && !status; r = r->next)
        for (size_t k = 0; k < r->inputs[i].len; k++, at++) {
            strings[at] = r->inputs[i].strings[k];
            sizes[at] = r->inputs[i].sizes[k];
        }
    if (!status) {
        const ln_status set =
            ln_session_set_strings(run->session, t->name, t->ndim, dims, strings, sizes);
        status = set ? fail_session(run, set, err) : 0;
    }
    free(strings);
    free(sizes);
    return status;
}

// Input `i` of all requests, one after the other; that of a single one stays where it is.
static const void *join(srv_run *run, const srv_batch *batch, int i, const srv_tensor *whole)
{
    if (batch->n == 1)
        return batch->first->inputs[i].data;
    char *const joined = joined_of(run, i, whole->size), *to = joined;
    for (const srv_request *r = batch->first; r && to; r = r->next) {
        if (run->pad) {
            to = srv_pad_input(&run->pad->inputs[i], &r->inputs[i], whole->dims, to);
            continue;
        }
        memcpy(to, r->inputs[i].data, r->inputs[i].size);
        to += r->inputs[i].size;
    }
    return joined;
}

// The shape of input `i` of all requests: their rows, and the longest of each padded axis.
static int set_shape(const srv_run *run, const srv_batch *batch, int i, srv_tensor *whole,
                     srv_error *err)
{
    const srv_tensor *const t = &batch->first->inputs[i];
    long long dims[SRV_MAX_DIMS];
    whole->name = t->name;
    for (int k = 0; k < t->ndim; k++) {
        const int length = run->pad && batch->n > 1 ? run->pad->inputs[i].length_of[k] : -1;
        dims[k] = length < 0 ? t->dims[k] : run->longest[length];
    }
    if (batch->n > 1)
        dims[0] = batch->rows;
    return srv_tensor_shape(whole, t->dtype, t->ndim, dims, err);
}

static int set_input(srv_run *run, const srv_batch *batch, int i, srv_error *err)
{
    srv_tensor whole = {.name = NULL};
    if (set_shape(run, batch, i, &whole, err))
        return -1;
    if (whole.dtype == TL_STRING)
        return set_strings(run, batch, i, whole.dims, whole.len, err);
    const void *const data = join(run, batch, i, &whole);
    if (!data)
        return fail_memory(err);
    const ln_status status = ln_session_bind_input(run->session, whole.name, whole.dtype,
                                                   whole.ndim, whole.dims, data, whole.size);
    return status ? fail_session(run, status, err) : 0;
}

// Outputs

// What a request gets of an output: all of it, or some rows up to its lengths.
typedef struct part {
    const tl_tensor *whole;
    int begin, rows; // along axis 0
    int is_all;
} part;

static const void *address_of(const part *p, size_t size)
{
    const tl_tensor *const t = p->whole;
    const size_t row = p->is_all ? 0 : (size_t)t->len / (size_t)t->dims[0];
    return (const char *)t->data + row * (size_t)p->begin * size;
}

static int copy_strings(srv_tensor *to, const part *p, srv_error *err)
{
    const tl_string **const from = calloc(to->len + 1, sizeof(const tl_string *));
    const char **const strings = calloc(to->len + 1, sizeof(*strings));
    size_t *const sizes = calloc(to->len + 1, sizeof(*sizes));
    int status = from && strings && sizes
                     ? 0
                     : srv_fail(err, SRV_OUT_OF_MEMORY, "the server has no memory for strings");
    if (!status && to->len)
        srv_tensor_copy_box((void *)from, to->dims, address_of(p, sizeof(const tl_string *)),
                            p->whole->dims, to->dims, to->ndim, sizeof(const tl_string *));
    for (size_t k = 0; k < to->len && !status; k++) {
        strings[k] = from[k] ? tl_string_bytes(from[k]) : "";
        sizes[k] = from[k] ? from[k]->size : 0;
    }
    status = status || srv_tensor_from_strings(to, strings, sizes, err) ? -1 : 0;
    free((void *)from);
    free(strings);
    free(sizes);
    return status;
}

static int copy_elements(srv_tensor *to, const part *p, srv_error *err)
{
    const size_t size = tl_size_of(to->dtype);
    if (srv_tensor_alloc(to, err))
        return -1;
    if (to->size)
        srv_tensor_copy_box(to->data, to->dims, address_of(p, size), p->whole->dims, to->dims,
                            to->ndim, size);
    return 0;
}

static const srv_pad_port *pad_of(const srv_run *run, const char *name)
{
    for (int i = 0; run->pad && i < run->n_outputs; i++)
        if (!strcmp(run->outputs[i].name, name))
            return &run->pad->outputs[i];
    return NULL;
}

// The sizes of what request `r` gets of an output; -1 with a reason: it does not have them.
static int set_sizes(const srv_run *run, const char *name, const srv_request *r, const part *p,
                     long long *dims, srv_error *err)
{
    const tl_tensor *const t = p->whole;
    const srv_pad_port *const pad = p->is_all ? NULL : pad_of(run, name);
    for (int k = 0; k < t->ndim && k < SRV_MAX_DIMS; k++) {
        const int length = pad ? pad->length_of[k] : -1;
        dims[k] = length < 0 ? t->dims[k] : r->lengths[length];
        if (dims[k] > t->dims[k])
            return srv_fail(err, SRV_INTERNAL,
                            "output '%s' has the size %d in axis %d of a batch; "
                            "expected at least %lld",
                            name, t->dims[k], k, dims[k]);
    }
    if (!p->is_all)
        dims[0] = p->rows;
    return 0;
}

static int copy_output(srv_run *run, const char *name, const srv_batch *batch, const srv_request *r,
                       int begin, srv_tensor *to, srv_error *err)
{
    const tl_tensor *const t = ln_session_output(run->session, name);
    const part p = {t, begin, r->rows, batch->n == 1};
    long long dims[SRV_MAX_DIMS];
    if (!t)
        return srv_fail(err, SRV_INTERNAL, "output '%s': %s", name, ln_session_error(run->session));
    if (!(to->name = strdup(name)))
        return srv_fail(err, SRV_OUT_OF_MEMORY, "the server has no memory for outputs");
    if (!srv_datatype_name(t->dtype))
        return srv_fail(err, SRV_UNSUPPORTED,
                        "output '%s' has the type %s, which the protocol lacks", name,
                        tl_dtype_name(t->dtype));
    if (!p.is_all && (t->ndim < 1 || t->dims[0] != batch->rows))
        return srv_fail(err, SRV_INTERNAL, "output '%s' has no row for each row of the batch",
                        name);
    if (set_sizes(run, name, r, &p, dims, err) ||
        srv_tensor_shape(to, t->dtype, t->ndim, dims, err))
        return -1;
    return t->dtype == TL_STRING ? copy_strings(to, &p, err) : copy_elements(to, &p, err);
}

static void copy_outputs(srv_run *run, const srv_batch *batch, srv_request *r, int begin)
{
    const int n = r->n_wanted ? r->n_wanted : run->n_outputs;
    r->outputs = calloc((size_t)n + 1, sizeof(*r->outputs));
    if (!r->outputs) {
        srv_fail(&r->error, SRV_OUT_OF_MEMORY, "the server has no memory for outputs");
        return;
    }
    r->n_outputs = n;
    for (int i = 0; i < n; i++)
        if (copy_output(run, r->n_wanted ? r->wanted[i] : run->outputs[i].name, batch, r, begin,
                        &r->outputs[i], &r->error))
            return;
}

// Batches

// Milliseconds until the last deadline of the batch; 0: none, or one has no deadline.
static uint64_t timeout_of(const srv_batch *batch)
{
    uint64_t last = 0;
    for (const srv_request *r = batch->first; r; r = r->next) {
        if (!r->deadline)
            return 0;
        last = last > r->deadline ? last : r->deadline;
    }
    const uint64_t now = tl_clock();
    return last > now ? (last - now) / 1000000 + 1 : 1;
}

static int run_session(srv_run *run, const srv_batch *batch, srv_error *err)
{
    run->time_limit = 0;
    if (run->pad)
        srv_pad_longest(run->pad, batch->first, run->longest);
    for (int i = 0; i < batch->first->n_inputs; i++)
        if (set_input(run, batch, i, err))
            return -1;
    const uint64_t timeout = timeout_of(batch);
    run->time_limit = timeout ? tl_clock() + timeout * 1000000 : 0;
    ln_session_set_timeout(run->session, timeout);
    const ln_status status = ln_session_run(run->session);
    return status ? fail_session(run, status, err) : 0;
}

static void split_outputs(srv_run *run, const srv_batch *batch)
{
    int begin = 0;
    for (srv_request *r = batch->first; r; begin += r->rows, r = r->next)
        copy_outputs(run, batch, r, begin);
}

static void run_alone(srv_run *run, srv_request *r)
{
    srv_request *const next = r->next;
    r->next = NULL;
    const srv_batch one = {.first = r, .n = 1, .rows = r->rows};
    if (!run_session(run, &one, &r->error))
        copy_outputs(run, &one, r, 0);
    r->next = next;
}

static void run_each(srv_run *run, const srv_batch *batch)
{
    for (srv_request *r = batch->first; r; r = r->next)
        run_alone(run, r);
}

static void fail_each(const srv_batch *batch, const srv_error *err)
{
    for (srv_request *r = batch->first; r; r = r->next)
        srv_fail(&r->error, err->status, "%s", err->text);
}

// Others in its batch had more time.
static void fail_late(const srv_batch *batch)
{
    const uint64_t now = tl_clock();
    for (srv_request *r = batch->first; r; r = r->next)
        if (r->deadline && r->deadline < now)
            srv_fail(&r->error, SRV_TIMEOUT, "the run ended after the deadline of the request");
}

void srv_run_forget(srv_run *run, const srv_request *r)
{
    for (int i = 0; i < r->n_inputs; i++)
        if (r->inputs[i].dtype != TL_STRING)
            ln_session_bind_input(run->session, r->inputs[i].name, r->inputs[i].dtype, 0, NULL,
                                  NULL, 0);
}

int srv_run_together(srv_run *run, const srv_batch *batch, srv_error *err)
{
    const int status = run_session(run, batch, err);
    if (!status)
        split_outputs(run, batch);
    return status;
}

int srv_run_batch(srv_run *run, srv_batch *batch)
{
    int n_runs = 1;
    srv_error together = {.status = SRV_OK};
    if (batch->n == 1)
        run_each(run, batch);
    else if (srv_run_together(run, batch, &together)) {
        if (together.status == SRV_TIMEOUT || together.status == SRV_CANCELLED) {
            fail_each(batch, &together);
        } else {
            run_each(run, batch);
            n_runs = batch->n;
        }
    }
    fail_late(batch);
    srv_run_forget(run, batch->first); // they belong to requests that are about to end
    return n_runs;
}
