// SPDX-License-Identifier: Apache-2.0
// Runs that are invented for a model: its sizes, their lengths, and programs for them.

#include "session/ln_probe.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_utf8.h"
#include "ir/ln_bind.h"
#include "ir/ln_limits.h"
#include "tensorlight/tl_util.h"

static const ln_port *port_of(const ln_probe *p, int input)
{
    return p->model->interface->inputs[input];
}

// Sizes

static int is_open(const ln_port *port, int axis)
{
    return port->kind == LN_PORT_INPUT && port->dims[axis] < 0;
}

// The size of an open axis; NULL: none yet.
static ln_probe_size *find_size(ln_probe *p, int input, int axis)
{
    const int symbol = port_of(p, input)->symbols[axis];
    for (int i = 0; i < p->n_sizes; i++) {
        const ln_axis at = p->sizes[i].at;
        if (symbol ? port_of(p, at.input)->symbols[at.axis] == symbol
                   : at.input == input && at.axis == axis)
            return &p->sizes[i];
    }
    return NULL;
}

// Copies what fits of a text of UTF-8.
static void copy_text(char *dst, size_t size, const char *text)
{
    const size_t len = strlen(text), n = ln_utf8_prefix(text, len < size ? len : size - 1);
    memcpy(dst, text, n);
    dst[n] = '\0';
}

static void add_size(ln_probe *p, int input, int axis)
{
    const ln_port *const port = port_of(p, input);
    ln_probe_size *const size = &p->sizes[p->n_sizes++];
    *size = (ln_probe_size){.at = {input, axis}};
    if (port->dim_names[axis])
        copy_text(size->name, sizeof(size->name), port->dim_names[axis]);
    else
        snprintf(size->name, sizeof(size->name), "%.*s[%d]", LN_MAX_NAME_LEN - 16, port->name,
                 axis);
}

// Returns whether all sizes are known, and not too many.
static int find_sizes(ln_probe *p)
{
    for (int i = 0; i < (int)p->model->interface->n_inputs; i++) {
        const ln_port *const port = port_of(p, i);
        if (port->kind == LN_PORT_INPUT && port->info.ndim < 0)
            return 0;
        for (int k = 0; k < port->info.ndim; k++) {
            if (!is_open(port, k) || find_size(p, i, k))
                continue;
            if (p->n_sizes == LN_PROBE_SIZES)
                return 0;
            add_size(p, i, k);
        }
    }
    return 1;
}

// Lengths

// `n` in units of the scale, unless the axis is a batch; or another one that bounds allow.
static int scaled(const ln_probe *p, const ln_probe_size *size, int n)
{
    const int64_t len = (int64_t)n * (size->at.axis ? p->scale : 1);
    const ln_port *const port = port_of(p, size->at.input);
    const int64_t min = port->min[size->at.axis] > 1 ? port->min[size->at.axis] : 1;
    const int64_t max = port->max[size->at.axis];
    return (int)(len < min ? min : len > max ? min + (len - min) % (max - min + 1) : len);
}

static void add_up(ln_probe *p)
{
    for (int i = 0; i < p->n_sizes; i++) {
        ln_probe_size *const size = &p->sizes[i];
        if (!size->sum.n)
            continue;
        size->len = size->sum.constant;
        for (int k = 0; k < size->sum.n; k++)
            size->len += p->sizes[size->sum.terms[k]].len;
    }
}

// Sets the values of inputs to the current lengths, without data.
static void set_values(ln_probe *p)
{
    add_up(p);
    for (int i = 0; i < (int)p->model->interface->n_inputs; i++) {
        const ln_port *const port = port_of(p, i);
        p->values[i] = (ln_value){.is_given = port->kind == LN_PORT_INPUT};
        p->values[i].ndim = p->values[i].is_given ? port->info.ndim : 0;
        for (int k = 0; k < p->values[i].ndim; k++)
            p->values[i].dims[k] = is_open(port, k) ? find_size(p, i, k)->len : port->dims[k];
    }
}

static int prime(int i)
{
    static const int primes[] = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59};
    return primes[i % (int)(sizeof(primes) / sizeof(primes[0]))];
}

void ln_probe_set_primes(ln_probe *p, int is_descending)
{
    for (int i = 0; i < p->n_sizes; i++)
        p->sizes[i].len = scaled(p, &p->sizes[i], prime(is_descending ? p->n_sizes - 1 - i : i));
    set_values(p);
}

void ln_probe_set_run(ln_probe *p, int opened, int run)
{
    for (int i = 0; i < p->n_sizes; i++) {
        // No sum relates these numbers.
        const unsigned random = ((unsigned)(i * LN_PAST_RUNS + run) * 2654435761u + 12345u) >> 8;
        const int n = opened < 0 || opened == i ? 2 + (int)(random % 23) : 1;
        p->sizes[i].len = scaled(p, &p->sizes[i], n);
    }
    set_values(p);
}

// Programs

static void note_culprit(void *data, const ln_missing_op *op)
{
    ln_culprit *const found = data;
    copy_text(found->op, sizeof(found->op), op->first);
    copy_text(found->optype, sizeof(found->optype), op->optype);
    copy_text(found->reason, sizeof(found->reason), op->reason);
}

ln_program *ln_probe_create(ln_probe *p)
{
    ln_error err = {0};
    p->culprit = (ln_culprit){0};
    p->wants_values = 0;
    p->failures = ln_call_begin();
    ln_program *const program = ln_program_create(p->model, &err);
    if (program) {
        program->ctx->msg_func = NULL;
        ln_limits_set_time(program->ctx, p->model->options->open_timeout, p->began);
    }
    if (program && !ln_context_set_missing(program->ctx, note_culprit, &p->culprit))
        return program;
    ln_program_free(program);
    p->has_no_memory = 1;
    return NULL;
}

int ln_probe_note(ln_probe *p, const ln_context *ctx, int status)
{
    const char *text = ln_context_error(ctx);
    const size_t len = strlen(p->model->name);
    p->has_no_memory |= ln_call_status(ctx->error, p->failures, LN_OK) == LN_OUT_OF_MEMORY;
    if (!status)
        return 0;
    const uint64_t limit = p->model->options->open_timeout;
    p->is_late |= limit && (tl_clock() - p->began) / 1000000 >= limit;
    if (!strncmp(text, p->model->name, len) && !strncmp(text + len, ": ", 2))
        text += len + 2;
    if (!*p->culprit.reason)
        copy_text(p->culprit.reason, sizeof(p->culprit.reason), text);
    return status;
}

ln_program *ln_probe_read(ln_probe *p)
{
    ln_program *const program = ln_probe_create(p);
    if (!program)
        return NULL;
    if (!ln_probe_note(p, program->ctx, ln_program_read_shapes(program, p->model, p->values)))
        return program;
    p->wants_values |= ln_bind_wants_values(program->ctx);
    ln_program_free(program);
    return NULL;
}

// Life

int ln_probe_init(ln_probe *p, const ln_model *model)
{
    *p = (ln_probe){.model = model, .began = tl_clock(), .scale = 1};
    p->values = ln_alloc_array(model->interface->n_inputs + 1, sizeof(*p->values));
    p->has_no_memory = !p->values;
    return p->values && find_sizes(p) ? 0 : -1;
}

void ln_probe_clear(ln_probe *p)
{
    ln_free(p->values);
    p->values = NULL;
}
