// SPDX-License-Identifier: Apache-2.0
// Linear attention: each head of keys has a state, a matrix that each position updates.
//
// The columns of a state are independent. So a unit of work is up to COLUMNS of one head, over all
// positions; the state is updated in place, in the output.

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/tl_kernel.h"
#include "kernel/tl_poll.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_attention.h"
#include "tensorlight/tl_util.h"

enum { COLUMNS = 64 };

// Shapes

static int check_input(const tl_tensor *t, const char *name, int ndim, const int *dims,
                       const char *expected)
{
    char text[TL_SHAPE_TEXT_SIZE];
    if (!t)
        return 0;
    if (t->dtype != TL_FLOAT)
        return tl_fail("'%s' is of %s, expected TL_FLOAT", name, tl_dtype_name(t->dtype));
    int differs = t->ndim != ndim;
    for (int i = 0; i < ndim && !differs; i++)
        differs = t->dims[i] != dims[i];
    return differs ? tl_fail("'%s' has shape %s, expected %s", name,
                             tl_shape_text(text, t->ndim, t->dims), expected)
                   : 0;
}

// beta [B, T, G] or [B, T, 1].
static int check_beta(const tl_tensor *beta, int batch, int len, int heads)
{
    const int is_shared = beta && beta->ndim == 3 && beta->dims[2] == 1;
    return check_input(beta, "beta", 3, (int[]){batch, len, is_shared ? 1 : heads},
                       "[B, T, G] or [B, T, 1]");
}

int tl_linear_attention_check(const tl_linear_attention *a)
{
    if (tl_check_shape(a->q, "q", "[B, T, H, D]") < 0 ||
        tl_check_shape(a->k, "k", "[B, T, G, D]") < 0 ||
        tl_check_shape(a->v, "v", "[B, T, G, E]") < 0)
        return -1;
    const int b = a->q->dims[0], t = a->q->dims[1], h = a->q->dims[2], d = a->q->dims[3];
    const int g = a->k->dims[2], e = a->v->dims[3];
    const int is_by_element = a->decay && a->decay->ndim == 4;
    if (check_input(a->q, "q", 4, a->q->dims, "") < 0 ||
        check_input(a->k, "k", 4, (int[]){b, t, g, d}, "[B, T, G, D] with B, T and D of 'q'") < 0 ||
        check_input(a->v, "v", 4, (int[]){b, t, g, e}, "[B, T, G, E] with B, T and G of 'k'") < 0 ||
        check_input(a->past, "past", 4, (int[]){b, g, d, e}, "[B, G, D, E]") < 0 ||
        check_input(a->decay, "decay", is_by_element ? 4 : 3, (int[]){b, t, g, d},
                    "[B, T, G] or [B, T, G, D]") < 0 ||
        check_beta(a->beta, b, t, g) < 0)
        return -1;
    if (g == 0 ? h != 0 : h % g != 0)
        return tl_fail("'q' has %d heads, expected a multiple of %d, the heads of 'k'", h, g);
    return 0;
}

// A part of a head

typedef struct job {
    const float *q, *k, *v, *decay, *beta;
    float *dst, *state;
    size_t len, heads, group, d, e; // positions, heads of keys, heads of queries for each
    size_t parts;                   // of a state's columns
    int decays_by_element, has_beta_by_head, is_delta;
    float scale;
    const tl_stop *stop;
} job;

// The columns first .. first+n-1 of one head at one position.
typedef struct step {
    const job *j;
    size_t position; // of all, counted over the batch
    size_t head, n, first;
    float *state; // the columns of row 0
} step;

static const float *row_of(const step *s, const float *data, size_t len)
{
    return data + (s->position * s->j->heads + s->head) * len;
}

static void decay_state(const step *s)
{
    const job *const j = s->j;
    if (!j->decay)
        return;
    const float *const decay = row_of(s, j->decay, j->decays_by_element ? j->d : 1);
    float factor = 0;
    for (size_t i = 0; i < j->d; i++) {
        float *const row = s->state + i * j->e;
        if (i == 0 || j->decays_by_element)
            factor = expf(decay[i]);
        for (size_t c = 0; c < s->n; c++)
            row[c] *= factor;
    }
}

// update = v, or of the delta rule beta * (v - S^T k).
static void find_update(const step *s, const float *k, float *update)
{
    const job *const j = s->j;
    const float *const v = row_of(s, j->v, j->e) + s->first;
    float predicted[COLUMNS] = {0}; // S^T k
    for (size_t i = 0; i < j->d && j->is_delta; i++) {
        const float *const row = s->state + i * j->e;
        for (size_t c = 0; c < s->n; c++)
            predicted[c] += row[c] * k[i];
    }
    const float beta = !j->beta              ? 1
                       : j->has_beta_by_head ? *row_of(s, j->beta, 1)
                                             : j->beta[s->position];
    for (size_t c = 0; c < s->n; c++)
        update[c] = beta * (v[c] - predicted[c]);
}

static void add_update(const step *s, const float *k, const float *update)
{
    for (size_t i = 0; i < s->j->d; i++) {
        float *const row = s->state + i * s->j->e;
        for (size_t c = 0; c < s->n; c++)
            row[c] += k[i] * update[c];
    }
}

// dst = scale * S^T q of each head of queries that shares the state.
static void read_state(const step *s)
{
    const job *const j = s->j;
    const size_t head = s->position * j->heads * j->group + s->head * j->group;
    for (size_t h = head; h < head + j->group; h++) {
        const float *const q = j->q + h * j->d;
        float *const dst = j->dst + h * j->e + s->first;
        float sums[COLUMNS] = {0};
        for (size_t i = 0; i < j->d; i++) {
            const float *const row = s->state + i * j->e;
            for (size_t c = 0; c < s->n; c++)
                sums[c] += row[c] * q[i];
        }
        for (size_t c = 0; c < s->n; c++)
            dst[c] = j->scale * sums[c];
    }
}

static void run_unit(const job *j, size_t unit, tl_poll *poll)
{
    const size_t part = unit % j->parts, batch = unit / j->parts / j->heads;
    step s = {.j = j, .head = unit / j->parts % j->heads, .first = part * COLUMNS};
    float update[COLUMNS];
    s.n = tl_min_size(COLUMNS, j->e - s.first);
    s.state = j->state + (batch * j->heads + s.head) * j->d * j->e + s.first;
    for (size_t t = 0; t < j->len && !tl_poll_after(poll, 4 * j->d * s.n); t++) {
        s.position = batch * j->len + t;
        const float *const k = row_of(&s, j->k, j->d);
        decay_state(&s);
        find_update(&s, k, update);
        add_update(&s, k, update);
        read_state(&s);
    }
}

// Threads

static void run_units(void *arg, size_t begin, size_t end)
{
    const job *const j = arg;
    tl_poll poll = tl_poll_of(j->stop);
    for (size_t unit = begin; unit < end && !poll.is_stopped; unit++)
        run_unit(j, unit, &poll);
}

static const float *data_of(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

int tl_exec_linear_attention(const tl_exec *exec, const tl_linear_attention *a, tl_tensor *dst,
                             tl_tensor *state)
{
    assert(tl_linear_attention_check(a) == 0);
    job j = {.q = a->q->data,
             .k = a->k->data,
             .v = a->v->data,
             .decay = data_of(a->decay),
             .beta = data_of(a->beta),
             .dst = dst->data,
             .state = state->data,
             .len = (size_t)a->q->dims[1],
             .heads = (size_t)a->k->dims[2],
             .d = (size_t)a->q->dims[3],
             .e = (size_t)a->v->dims[3],
             .decays_by_element = a->decay && a->decay->ndim == 4,
             .has_beta_by_head = a->beta && a->beta->dims[2] == a->k->dims[2],
             .is_delta = a->is_delta,
             .scale = (float)a->scale,
             .stop = exec ? exec->stop : NULL};
    if (a->past)
        memcpy(state->data, a->past->data, tl_tensor_size(state));
    else
        memset(state->data, 0, tl_tensor_size(state));
    if (j.heads == 0 || j.e == 0 || j.len == 0)
        return 0;
    j.group = (size_t)a->q->dims[2] / j.heads;
    j.parts = (j.e + COLUMNS - 1) / COLUMNS;
    const double cost = (double)j.len * (double)(j.d ? j.d : 1) * COLUMNS * (3 + (double)j.group);
    const size_t grain = cost < TL_GRAIN_MEMORY_BOUND ? (size_t)(TL_GRAIN_MEMORY_BOUND / cost) : 1;
    tl_parallel(exec, (size_t)a->q->dims[0] * j.heads * j.parts, grain, run_units, &j);
    return 0;
}
