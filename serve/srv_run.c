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
    if (status == LN_LIMIT_REACHED && !run->has_timeout)
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

// The data of all requests, one after the other; that of a single one stays where it is.
static const void *join(srv_run *run, const srv_batch *batch, int i, size_t size)
{
    if (batch->n == 1)
        return batch->first->inputs[i].data;
    char *const joined = joined_of(run, i, size), *to = joined;
    for (const srv_request *r = batch->first; r && to; r = r->next) {
        memcpy(to, r->inputs[i].data, r->inputs[i].size);
        to += r->inputs[i].size;
    }
    return joined;
}

static int set_input(srv_run *run, const srv_batch *batch, int i, srv_error *err)
{
    const srv_tensor *const t = &batch->first->inputs[i];
    int dims[SRV_MAX_DIMS];
    size_t size = 0, len = 0;
    memcpy(dims, t->dims, sizeof(dims));
    if (batch->n > 1)
        dims[0] = batch->rows;
    for (const srv_request *r = batch->first; r; r = r->next) {
        size += r->inputs[i].size;
        len += r->inputs[i].len;
    }
    if (t->dtype == TL_STRING)
        return set_strings(run, batch, i, dims, len, err);
    const void *const data = join(run, batch, i, size);
    if (!data)
        return fail_memory(err);
    const ln_status status =
        ln_session_bind_input(run->session, t->name, t->dtype, t->ndim, dims, data, size);
    return status ? fail_session(run, status, err) : 0;
}

// Outputs

static int copy_strings(srv_tensor *to, const tl_string *const *from, srv_error *err)
{
    const char **const strings = calloc(to->len + 1, sizeof(*strings));
    size_t *const sizes = calloc(to->len + 1, sizeof(*sizes));
    int status = strings && sizes
                     ? 0
                     : srv_fail(err, SRV_OUT_OF_MEMORY, "the server has no memory for strings");
    for (size_t k = 0; k < to->len && !status; k++) {
        strings[k] = from[k] ? tl_string_bytes(from[k]) : "";
        sizes[k] = from[k] ? from[k]->size : 0;
    }
    status = status || srv_tensor_from_strings(to, strings, sizes, err) ? -1 : 0;
    free(strings);
    free(sizes);
    return status;
}

// Rows `begin` to `begin + rows` of an output along axis 0; all of it if the batch is one request.
static int copy_output(srv_run *run, const char *name, const srv_batch *batch, int begin, int rows,
                       srv_tensor *to, srv_error *err)
{
    const tl_tensor *const t = ln_session_output(run->session, name);
    long long dims[SRV_MAX_DIMS];
    if (!t || !(to->name = strdup(name)))
        return srv_fail(err, SRV_INTERNAL, "output '%s': %s", name, ln_session_error(run->session));
    if (!srv_datatype_name(t->dtype))
        return srv_fail(err, SRV_UNSUPPORTED,
                        "output '%s' has the type %s, which the protocol lacks", name,
                        tl_dtype_name(t->dtype));
    for (int i = 0; i < t->ndim && i < SRV_MAX_DIMS; i++)
        dims[i] = t->dims[i];
    const int is_part = batch->n > 1;
    if (is_part && (t->ndim < 1 || t->dims[0] != batch->rows))
        return srv_fail(err, SRV_INTERNAL, "output '%s' has no row for each row of the batch",
                        name);
    if (is_part)
        dims[0] = rows;
    if (srv_tensor_shape(to, t->dtype, t->ndim, dims, err))
        return -1;
    const size_t first = is_part ? (size_t)t->len / (size_t)batch->rows * (size_t)begin : 0;
    if (t->dtype == TL_STRING)
        return copy_strings(to, (const tl_string *const *)t->data + first, err);
    if (srv_tensor_alloc(to, err))
        return -1;
    if (to->size)
        memcpy(to->data, (const char *)t->data + first * tl_size_of(t->dtype), to->size);
    return 0;
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
        if (copy_output(run, r->n_wanted ? r->wanted[i] : run->outputs[i].name, batch, begin,
                        r->rows, &r->outputs[i], &r->error))
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

static int run_together(srv_run *run, const srv_batch *batch, srv_error *err)
{
    for (int i = 0; i < batch->first->n_inputs; i++)
        if (set_input(run, batch, i, err))
            return -1;
    const uint64_t timeout = timeout_of(batch);
    run->has_timeout = timeout > 0;
    ln_session_set_timeout(run->session, timeout);
    const ln_status status = ln_session_run(run->session);
    return status ? fail_session(run, status, err) : 0;
}

static void run_alone(srv_run *run, srv_request *r)
{
    srv_request *const next = r->next;
    r->next = NULL;
    const srv_batch one = {.first = r, .n = 1, .rows = r->rows};
    if (!run_together(run, &one, &r->error))
        copy_outputs(run, &one, r, 0);
    r->next = next;
}

// Inputs that the session borrowed belong to requests that are about to end.
static void forget_inputs(srv_run *run, const srv_request *r)
{
    for (int i = 0; i < r->n_inputs; i++)
        if (r->inputs[i].dtype != TL_STRING)
            ln_session_bind_input(run->session, r->inputs[i].name, r->inputs[i].dtype, 0, NULL,
                                  NULL, 0);
}

static void split_outputs(srv_run *run, const srv_batch *batch)
{
    int begin = 0;
    for (srv_request *r = batch->first; r; begin += r->rows, r = r->next)
        copy_outputs(run, batch, r, begin);
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

void srv_run_batch(srv_run *run, srv_batch *batch)
{
    srv_error together = {.status = SRV_OK};
    if (batch->n == 1)
        run_each(run, batch);
    else if (!run_together(run, batch, &together))
        split_outputs(run, batch);
    else if (together.status == SRV_TIMEOUT || together.status == SRV_CANCELLED)
        fail_each(batch, &together);
    else
        run_each(run, batch);
    fail_late(batch);
    forget_inputs(run, batch->first);
}
