// SPDX-License-Identifier: Apache-2.0
// Elements of the sequences differ from the padding: a mask of 1 where the padding is 0, tokens 1
// beside those of 0. Floats vary, since a normalization maps constants to 0.

#include "srv_pad_probe.h"

#include <stdlib.h>
#include <string.h>

#include "srv_compare.h"
#include "tensorlight/tl_type.h"

enum { N_LENGTHS = 3, LONGER = 4 };

// Lengths of the short sequence, the first that the model runs; the other is LONGER times as long.
static const int short_lengths[N_LENGTHS] = {5, 16, 64};

typedef struct probe {
    srv_run *run;
    const srv_port *inputs;
    int n_inputs;
} probe;

static const srv_compare_rule rule = {
    "without padding", "with padding",
    "; an axis that grows with the sequence needs the name of its size", 1};

// Results

static int compare(const srv_request *alone, const srv_request *padded, srv_error *why)
{
    for (int i = 0; i < alone->n_outputs; i++)
        if (srv_compare_nans(&alone->outputs[i]))
            return srv_fail(why, SRV_INTERNAL, "output '%s' has NaN for a sequence without padding",
                            alone->outputs[i].name);
    return srv_compare(alone, padded, &rule, why);
}

// Sequences

static void set_elements(srv_tensor *t, const srv_pad_port *port)
{
    const size_t size = tl_size_of(t->dtype);
    const long long one = 1;
    unsigned char integer[sizeof(port->value)] = {0}; // 1, or 0 where the padding is 1
    tl_convert(integer, t->dtype, &one, TL_INT64);
    if (port->has_value && !memcmp(integer, port->value, sizeof(integer)))
        memset(integer, 0, sizeof(integer));
    for (size_t i = 0; i < t->len; i++) {
        const double varied = 1 - (double)(i * 37 % 64) / 128; // above 0.5, at most 1
        char *const element = (char *)t->data + i * size;
        if (tl_dtype_is_float(t->dtype))
            tl_convert(element, t->dtype, &varied, TL_DOUBLE);
        else
            memcpy(element, integer, size);
    }
}

static int set_strings(srv_tensor *t, srv_error *err)
{
    const char **const strings = calloc(t->len + 1, sizeof(*strings));
    size_t *const sizes = calloc(t->len + 1, sizeof(*sizes));
    for (size_t i = 0; strings && i < t->len; i++)
        strings[i] = "";
    const int status = strings && sizes ? srv_tensor_from_strings(t, strings, sizes, err)
                                        : srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    free((void *)strings);
    free(sizes);
    return status;
}

static int set_input(const probe *p, int i, int length, srv_tensor *t, srv_error *err)
{
    const srv_port *const port = &p->inputs[i];
    const srv_pad_port *const pad = &p->run->pad->inputs[i];
    long long dims[SRV_MAX_DIMS];
    if (port->ndim < 1 || !port->datatype)
        return srv_fail(err, SRV_UNSUPPORTED, "the shape or type of input '%s' is unknown",
                        port->name);
    for (int k = 0; k < port->ndim; k++) {
        dims[k] = k == 0 ? 1 : pad->length_of[k] >= 0 ? length : port->dims[k];
        if (dims[k] < 0)
            return srv_fail(err, SRV_UNSUPPORTED,
                            "axis %d of input '%s' is open, which metadata '" SRV_PAD_KEY
                            "' does not have",
                            k, port->name);
        if (dims[k] < port->min[k] || dims[k] > port->max[k])
            return srv_fail(err, SRV_UNSUPPORTED,
                            "axis %d of input '%s' has %d to %d elements, expected a range with "
                            "%d and %d, the lengths that are compared",
                            k, port->name, port->min[k], port->max[k], short_lengths[0],
                            LONGER * short_lengths[0]);
    }
    t->name = strdup(port->name);
    if (!t->name)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    if (srv_tensor_shape(t, port->dtype, port->ndim, dims, err))
        return -1;
    if (t->dtype == TL_STRING)
        return set_strings(t, err);
    if (srv_tensor_alloc(t, err))
        return -1;
    set_elements(t, pad);
    return 0;
}

// A request of one row.
static int make(const probe *p, int length, srv_request *r)
{
    *r = (srv_request){.rows = 1};
    if (srv_request_inputs(r, (size_t)p->n_inputs))
        return -1;
    for (int i = 0; i < p->n_inputs; i++)
        if (set_input(p, i, length, &r->inputs[i], &r->error))
            return -1;
    return srv_pad_measure(p->run->pad, r);
}

static int run_alone(const probe *p, int length, srv_request *r)
{
    srv_batch one = {.first = r, .n = 1, .rows = 1};
    if (make(p, length, r))
        return -1;
    srv_run_batch(p->run, &one);
    return r->error.status ? -1 : 0;
}

static int run_together(const probe *p, int length, srv_request r[2], srv_error *why)
{
    const srv_batch two = {.first = r, .n = 2, .rows = 2};
    for (int i = 0; i < 2; i++)
        if (make(p, i ? LONGER * length : length, &r[i]))
            return srv_fail(why, r[i].error.status, "%s", r[i].error.text);
    r[0].next = &r[1];
    const int status = srv_run_together(p->run, &two, why);
    srv_run_forget(p->run, r);
    for (int i = 0; i < 2 && !status; i++)
        if (r[i].error.status)
            return srv_fail(why, r[i].error.status, "%s", r[i].error.text);
    return status;
}

static int compare_length(const probe *p, int length, const srv_request alone[2], srv_error *why)
{
    srv_request padded[2] = {{.inputs = NULL}, {.inputs = NULL}};
    int status = run_together(p, length, padded, why);
    for (int i = 0; i < 2 && !status; i++)
        status = compare(&alone[i], &padded[i], why);
    for (int i = 0; i < 2; i++)
        srv_request_clear(&padded[i]);
    return status;
}

// 1: the model does not run these lengths, for the reason in *why.
static int probe_length(const probe *p, int length, srv_error *why)
{
    srv_request alone[2] = {{.inputs = NULL}, {.inputs = NULL}};
    int status = 0;
    for (int i = 0; i < 2 && !status; i++)
        if (run_alone(p, i ? LONGER * length : length, &alone[i])) {
            srv_fail(why, alone[i].error.status, "it does not run: %s", alone[i].error.text);
            status = 1;
        }
    if (!status)
        status = compare_length(p, length, alone, why);
    for (int i = 0; i < 2; i++)
        srv_request_clear(&alone[i]);
    return status;
}

int srv_pad_probe(srv_run *run, const srv_port *inputs, int n_inputs, srv_error *why)
{
    const probe p = {run, inputs, n_inputs};
    srv_error first = {.status = SRV_OK};
    for (int i = 0; i < N_LENGTHS; i++) {
        srv_error now = {.status = SRV_OK};
        const int status = probe_length(&p, short_lengths[i], &now);
        if (status <= 0)
            return status ? srv_fail(why, now.status, "%s", now.text) : 0;
        srv_fail(&first, now.status, "%s", now.text);
    }
    return srv_fail(why, first.status, "%s", first.text);
}
