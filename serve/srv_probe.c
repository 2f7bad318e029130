// SPDX-License-Identifier: Apache-2.0
// Zeros as inputs, and what the outputs tell.

#include "srv_probe.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensorlight/tl_util.h"

enum { MAX_WARM = 64 }; // rows that zeros are made for
enum { N_TIMES = 5 };   // measurements of a run

#define MEASURE_NS 500000000 // no measurement begins later
#define GAIN       1.05      // of rows per second, for which a batch grows

// Names of sizes

static int is_name(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

// Whether the size of axis 0 alone is called `batch`.
static int is_batch(const char *(*name_of)(const ln_model *model, int i, int axis),
                    const ln_model *model, int i, const srv_port *port, const char *batch)
{
    for (int k = 0; k < port->ndim || k == 0; k++)
        if (is_name(name_of(model, i, k), batch) != (k == 0))
            return 0;
    return 1;
}

int srv_probe_has_names(const srv_probe *p)
{
    const char *const batch = p->n_inputs ? ln_model_input_dim_name(p->model, 0, 0) : NULL;
    for (int i = 0; i < p->n_inputs; i++)
        if (!is_batch(ln_model_input_dim_name, p->model, i, &p->inputs[i], batch))
            return 0;
    for (int i = 0; i < p->n_outputs; i++)
        if (!is_batch(ln_model_output_dim_name, p->model, i, &p->outputs[i], batch))
            return 0;
    return batch != NULL;
}

// Whether the inputs can have a batch: an open size in axis 0 of each, of one name or of none.
static int can_have_batch(const srv_probe *p)
{
    const char *const batch = p->n_inputs ? ln_model_input_dim_name(p->model, 0, 0) : NULL;
    for (int i = 0; i < p->n_inputs; i++) {
        const char *const name = ln_model_input_dim_name(p->model, i, 0);
        if (p->inputs[i].ndim < 1 || p->inputs[i].dims[0] >= 0 || !name != !batch ||
            (name && strcmp(name, batch)))
            return 0;
    }
    return p->n_inputs > 0;
}

static int is_fixed(const srv_probe *p)
{
    for (int i = 0; i < p->n_inputs; i++) {
        if (p->inputs[i].ndim < 0 || !p->inputs[i].datatype)
            return 0;
        for (int k = 1; k < p->inputs[i].ndim; k++)
            if (p->inputs[i].dims[k] < 0)
                return 0;
    }
    return 1;
}

// Runs

static ln_status set_zeros(const srv_probe *p, const srv_port *port, int rows, srv_error *err)
{
    srv_tensor t = {.name = (char *)port->name};
    long long dims[SRV_MAX_DIMS];
    ln_status status = LN_OUT_OF_MEMORY;
    for (int k = 0; k < port->ndim; k++)
        dims[k] = k == 0 && port->dims[0] < 0 ? rows : port->dims[k];
    if (srv_tensor_shape(&t, port->dtype, port->ndim, dims, err))
        return LN_OUT_OF_MEMORY;
    const char **const strings = calloc(t.len + 1, sizeof(*strings));
    for (size_t i = 0; strings && i < t.len; i++)
        strings[i] = "";
    if (strings && port->dtype == TL_STRING) {
        status = ln_session_set_strings(p->session, port->name, t.ndim, t.dims, strings, NULL);
    } else if (strings && !srv_tensor_alloc(&t, err)) {
        memset(t.data, 0, t.size);
        status = ln_session_set_input(p->session, port->name, port->dtype, t.ndim, t.dims, t.data);
    }
    free(strings);
    free(t.data);
    return status;
}

static void forget_zeros(const srv_probe *p)
{
    for (int i = 0; i < p->n_inputs; i++)
        ln_session_bind_input(p->session, p->inputs[i].name, p->inputs[i].dtype, 0, NULL, NULL, 0);
}

// The time of a run, without its inputs; 0: it failed. A status that any input would cause is an
// error.
static uint64_t run_rows(const srv_probe *p, int rows, srv_error *err)
{
    ln_status status = LN_OK;
    for (int i = 0; i < p->n_inputs && !status; i++)
        status = set_zeros(p, &p->inputs[i], rows, err);
    const uint64_t begin = tl_clock();
    if (!status)
        status = ln_session_run(p->session);
    if (status && status != LN_BAD_ARGUMENT)
        srv_fail_ln(err, status, ln_session_error(p->session));
    return status ? 0 : tl_clock() - begin + 1;
}

// Whether the outputs of the last run have `rows` rows, and else the sizes in `dims` of each, which
// the first call (rows 1) sets.
static int follows(const srv_probe *p, int rows, int (*dims)[SRV_MAX_DIMS])
{
    for (int i = 0; i < p->n_outputs; i++) {
        const tl_tensor *const t = ln_session_output(p->session, p->outputs[i].name);
        if (!t || t->ndim < 1 || t->ndim > SRV_MAX_DIMS || t->dims[0] != rows)
            return 0;
        if (rows > 1 && memcmp(dims[i] + 1, t->dims + 1, sizeof(int) * (size_t)(t->ndim - 1)))
            return 0;
        memcpy(dims[i], t->dims, sizeof(int) * (size_t)t->ndim);
    }
    return 1;
}

// Rows 1, 2 and 3: a fixed size cannot equal all of them.
static int has_batch_by_runs(const srv_probe *p, srv_error *err)
{
    int(*const dims)[SRV_MAX_DIMS] = calloc((size_t)p->n_outputs + 1, sizeof(*dims));
    int yes = dims && p->n_outputs > 0;
    for (int rows = 1; rows <= 3 && yes; rows++)
        yes = run_rows(p, rows, err) && follows(p, rows, dims);
    free(dims);
    return yes;
}

static int max_rows_of(const srv_probe *p, int max)
{
    for (int i = 0; i < p->n_inputs; i++)
        max = max < p->inputs[i].max[0] ? max : p->inputs[i].max[0];
    return max;
}

static int min_rows_of(const srv_probe *p)
{
    int min = 1;
    for (int i = 0; i < p->n_inputs; i++)
        if (p->inputs[i].ndim > 0 && p->inputs[i].dims[0] < 0 && min < p->inputs[i].min[0])
            min = p->inputs[i].min[0];
    return min;
}

void srv_probe_learn_outputs(const srv_probe *p)
{
    for (int i = 0; i < p->n_outputs; i++) {
        const tl_tensor *const t = ln_session_output(p->session, p->outputs[i].name);
        if (!t || t->ndim > SRV_MAX_DIMS)
            continue;
        srv_port *const port = &p->outputs[i];
        if (port->dtype == TL_DTYPE_INVALID) {
            port->dtype = t->dtype;
            port->datatype = srv_datatype_name(t->dtype);
        }
        if (port->ndim >= 0)
            continue;
        port->ndim = t->ndim;
        for (int k = 0; k < t->ndim; k++) {
            port->dims[k] = -1;
            port->max[k] = INT_MAX;
        }
    }
}

void srv_probe_warm_up(const srv_probe *p, int max_rows, srv_error *err)
{
    if (is_fixed(p) && run_rows(p, min_rows_of(p), err))
        srv_probe_learn_outputs(p);
    if (max_rows > 1 && max_rows <= MAX_WARM && is_fixed(p) && !err->status)
        run_rows(p, max_rows, err); // the memory of the largest batch
    forget_zeros(p);
}

int srv_probe_enough(double one, double all, int max)
{
    const double b = (all - one) / (max - 1), a = one - b;
    const double n = ceil(a / (GAIN * all / max - b));
    return a <= 0 ? 1 : b <= 0 || n >= max ? max : (int)n;
}

// The least time of runs of as many rows; 0: one failed.
static uint64_t time_rows(const srv_probe *p, int rows, srv_error *err)
{
    const uint64_t begin = tl_clock();
    uint64_t least = run_rows(p, rows, err);
    for (int k = 1; k < N_TIMES && least && tl_clock() - begin < MEASURE_NS; k++) {
        const uint64_t time = run_rows(p, rows, err);
        least = time < least ? time : least;
    }
    return least;
}

static int find_rows(const srv_probe *p, int max, srv_error *err)
{
    int rows = can_have_batch(p) ? max_rows_of(p, max) : 1;
    if (rows > 1 && !srv_probe_has_names(p))
        rows = is_fixed(p) && max_rows_of(p, 3) == 3 && min_rows_of(p) == 1 &&
                       has_batch_by_runs(p, err)
                   ? rows
                   : 1;
    return rows > 1 ? rows : 1;
}

int srv_probe_rows(const srv_probe *p, int max, int *enough, srv_error *err)
{
    const int is_timed = enough && is_fixed(p) && min_rows_of(p) == 1;
    uint64_t all = 0;
    srv_probe_warm_up(p, 1, err);
    const uint64_t one = is_timed && !err->status ? time_rows(p, 1, err) : 0;
    const int rows = err->status ? 1 : find_rows(p, max, err);
    if (one && rows > 1 && rows <= MAX_WARM && run_rows(p, rows, err))
        all = time_rows(p, rows, err);
    forget_zeros(p);
    if (enough)
        *enough = all ? srv_probe_enough((double)one, (double)all, rows) : 0;
    return rows;
}
