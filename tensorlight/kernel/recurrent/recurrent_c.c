// SPDX-License-Identifier: Apache-2.0
// A step of recurrent networks in plain C.

#ifndef T // once

#include "kernel/recurrent/recurrent.h"

#define TL_TEMPLATE "kernel/recurrent/recurrent_c.c"
#define TL_TAG      f64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"

#else // for each type

// The data of a sequence at a time step: input projection x, gates [G, H], states [H].
typedef struct NAME(row, c) {
    const T *x;
    T *gates, *h, *c, *reset_h;
} NAME(row, c);

// gate[j] = x[j] + product[j] + bias[j], for the gates first .. first+n-1.
static void NAME(sum_gates, c)(const tl_recurrent_job *job, const NAME(row, c) * r, size_t b,
                               size_t first, size_t n)
{
    const size_t len = job->hidden;
    for (size_t g = first; g < first + n; g++) {
        const T *const x = r->x + g * len, *const bias = (const T *)job->bias + g * len;
        const T *const product = (const T *)job->products + (g * job->rows + b) * len;
        T *const gate = r->gates + g * len;
        for (size_t j = 0; j < len; j++)
            gate[j] = x[j] + product[j] + bias[j];
    }
}

static void NAME(apply, c)(const tl_recurrent_job *job, const T *src, T *dst, size_t n, int act)
{
    job->acts[act](src, dst, n, &job->act_params[act]);
}

// Activates `n` elements of gates in place.
static void NAME(activate, c)(const tl_recurrent_job *job, T *gates, size_t n, int act)
{
    const T clip = (T)job->param->clip;
    for (size_t j = 0; clip > 0 && j < n; j++)
        gates[j] = gates[j] > clip ? clip : gates[j] < -clip ? -clip : gates[j];
    NAME(apply, c)(job, gates, gates, n, act);
}

static void NAME(stage_rnn, c)(const tl_recurrent_job *job, const NAME(row, c) * r, size_t b)
{
    NAME(sum_gates, c)(job, r, b, 0, 1);
    NAME(activate, c)(job, r->gates, job->hidden, 0);
    for (size_t j = 0; j < job->hidden; j++)
        r->h[j] = r->gates[j];
}

static void NAME(stage_gru_gates, c)(const tl_recurrent_job *job, const NAME(row, c) * r, size_t b)
{
    const size_t len = job->hidden;
    const T *const reset = r->gates + len;
    NAME(sum_gates, c)(job, r, b, 0, 2);
    NAME(activate, c)(job, r->gates, 2 * len, 0);
    for (size_t j = 0; j < len; j++)
        r->reset_h[j] = reset[j] * r->h[j];
}

static void NAME(stage_gru, c)(const tl_recurrent_job *job, const NAME(row, c) * r, size_t b)
{
    const size_t len = job->hidden;
    const T *const update = r->gates, *const reset = r->gates + len;
    T *const candidate = r->gates + 2 * len;
    if (job->param->reset_after) {
        const T *const x = r->x + 2 * len, *const bias = (const T *)job->bias + 2 * len;
        const T *const product = (const T *)job->products + (2 * job->rows + b) * len;
        for (size_t j = 0; j < len; j++)
            candidate[j] = x[j] + bias[j] + reset[j] * (product[j] + bias[len + j]);
    } else {
        NAME(sum_gates, c)(job, r, b, 2, 1);
    }
    NAME(activate, c)(job, candidate, len, 1);
    for (size_t j = 0; j < len; j++)
        r->h[j] = (1 - update[j]) * candidate[j] + update[j] * r->h[j];
}

// gate += peephole[k] * c
static void NAME(peep, c)(const tl_recurrent_job *job, const NAME(row, c) * r, T *gate, size_t k)
{
    if (!job->peephole)
        return;
    const T *const peephole = (const T *)job->peephole + k * job->hidden;
    for (size_t j = 0; j < job->hidden; j++)
        gate[j] += peephole[j] * r->c[j];
}

static void NAME(stage_lstm, c)(const tl_recurrent_job *job, const NAME(row, c) * r, size_t b)
{
    const size_t len = job->hidden;
    T *const input = r->gates, *const output = input + len;
    T *const forget = output + len, *const candidate = forget + len;
    NAME(sum_gates, c)(job, r, b, 0, 4);
    NAME(peep, c)(job, r, input, 0);
    NAME(peep, c)(job, r, forget, 2);
    NAME(activate, c)(job, input, len, 0);
    NAME(activate, c)(job, forget, len, 0);
    NAME(activate, c)(job, candidate, len, 1);
    for (size_t j = 0; job->param->coupled && j < len; j++)
        forget[j] = 1 - input[j];
    for (size_t j = 0; j < len; j++)
        r->c[j] = forget[j] * r->c[j] + input[j] * candidate[j];
    NAME(peep, c)(job, r, output, 1);
    NAME(activate, c)(job, output, len, 0);
    NAME(apply, c)(job, r->c, candidate, len, 2);
    for (size_t j = 0; j < len; j++)
        r->h[j] = output[j] * candidate[j];
}

void NAME(tl_recurrent, c)(void *arg, size_t begin, size_t end)
{
    static void (*const stages[TL_RECURRENT_STAGES])(const tl_recurrent_job *, const NAME(row, c) *,
                                                     size_t) = {
        [TL_RECURRENT_RNN] = NAME(stage_rnn, c),
        [TL_RECURRENT_GRU_GATES] = NAME(stage_gru_gates, c),
        [TL_RECURRENT_GRU] = NAME(stage_gru, c),
        [TL_RECURRENT_LSTM] = NAME(stage_lstm, c),
    };
    const tl_recurrent_job *const job = arg;
    const size_t len = job->hidden, width = job->n_gates * len;
    T *const dst = job->stage == TL_RECURRENT_GRU_GATES ? NULL : job->dst;
    for (size_t b = begin; b < end; b++) {
        const size_t steps = job->lens ? (size_t)job->lens[b] : job->steps;
        const int is_over = job->step >= steps;
        const size_t t = job->reverse && !is_over ? steps - 1 - job->step : job->step;
        const NAME(row, c)
            r = {(const T *)job->src + (t * job->rows + b) * width, (T *)job->gates + b * width,
                 (T *)job->h + b * len, (T *)job->c + b * len, (T *)job->reset_h + b * len};
        if (!is_over)
            stages[job->stage](job, &r, b);
        T *const row = dst ? dst + t * job->dst_step + b * len : NULL;
        for (size_t j = 0; row && j < len; j++)
            row[j] = is_over ? 0 : r.h[j];
    }
}

#endif
