// SPDX-License-Identifier: Apache-2.0
// How the sizes of a model's inputs change from run to run, and which are sums of others.

#include "session/ln_changes.h"

#include <stdint.h>
#include <string.h>

// The first axis of an input is its batch, which often has two sizes only.
static int weight_of(int axis, int weight)
{
    return axis == 0 ? 1 : weight;
}

void ln_changes_note(ln_changes *changes, const ln_value *values, size_t n, int weight)
{
    for (size_t i = 0; i < n; i++) {
        ln_changes *c = &changes[i];
        if (!values[i].is_given)
            continue;
        for (int k = 0; k < values[i].ndim; k++) {
            const int step = c->n_runs ? values[i].dims[k] - c->dims[0][k] : 0;
            c->times[k] += step ? weight_of(k, weight) : 0;
            c->steps[k] = step ? step : c->steps[k];
        }
        memmove(c->dims[1], c->dims[0], sizeof(c->dims) - sizeof(c->dims[0]));
        memcpy(c->dims[0], values[i].dims, sizeof(c->dims[0]));
        c->n_runs += c->n_runs < LN_PAST_RUNS;
    }
}

// Sums of sizes

// What sums are found by.
typedef struct history {
    ln_changes *changes;
    ln_port *const *ports;
    const ln_value *values;
    int n;
} history;

// The next axis of all inputs; the first one after {0, -1}. Returns whether there is one.
static int next_axis(const history *h, ln_axis *a)
{
    a->axis++;
    while (a->input < h->n && a->axis >= h->values[a->input].ndim)
        *a = (ln_axis){a->input + 1, 0};
    return a->input < h->n;
}

static int length(const history *h, ln_axis a, int run)
{
    return h->changes[a.input].dims[run][a.axis];
}

// The number of runs in which an axis has a known length.
static int n_runs(const history *h, ln_axis a)
{
    return h->changes[a.input].n_runs;
}

static int varies(const history *h, ln_axis a)
{
    for (int run = 1; run < n_runs(h, a); run++)
        if (length(h, a, run) != length(h, a, 0))
            return 1;
    return 0;
}

static int has_one_name(const history *h, ln_axis a, ln_axis b)
{
    const int of_a = h->ports[a.input]->symbols[a.axis], of_b = h->ports[b.input]->symbols[b.axis];
    return of_a && of_a == of_b;
}

// Whether a == sum in all runs.
static int holds(const history *h, ln_axis a, const ln_sum *sum)
{
    for (int i = 0; i < sum->n; i++)
        if (n_runs(h, sum->terms[i]) != n_runs(h, a))
            return 0;
    for (int run = 0; run < n_runs(h, a); run++) {
        int64_t value = sum->constant;
        for (int i = 0; i < sum->n; i++)
            value += length(h, sum->terms[i], run);
        if (value != length(h, a, run))
            return 0;
    }
    return 1;
}

// The sizes that others are sums of, those of one name once.
enum { MAX_BASES = 8 };
typedef struct bases {
    int n;
    ln_axis at[MAX_BASES];
    int is_term[MAX_BASES], is_sum[MAX_BASES];
} bases;

static int is_at(ln_axis a, ln_axis b)
{
    return a.input == b.input && a.axis == b.axis;
}

// The base that equals the size: *sum. Returns whether there is one.
static int find_equal(const history *h, const bases *b, ln_axis a, ln_sum *sum)
{
    for (int i = 0; i < b->n; i++) {
        *sum = (ln_sum){.n = 1, .terms = {b->at[i]}};
        if (has_one_name(h, a, b->at[i]) || (varies(h, a) && holds(h, a, sum)))
            return 1;
    }
    *sum = (ln_sum){0};
    return 0;
}

// The size as a smaller base and a constant, or as the sum of two bases, which are no sums.
static int find_sum(const history *h, const bases *b, int which, ln_sum *sum)
{
    const ln_axis a = b->at[which];
    for (int i = 0; i < b->n; i++) {
        const int more = length(h, a, 0) - length(h, b->at[i], 0);
        if (i == which || b->is_sum[i])
            continue;
        *sum = (ln_sum){.n = 1, .terms = {b->at[i]}, .constant = more};
        if (more > 0 && holds(h, a, sum))
            return 1;
        for (int k = 0; k < i; k++) {
            *sum = (ln_sum){.n = 2, .terms = {b->at[k], b->at[i]}};
            if (k != which && !b->is_sum[k] && holds(h, a, sum))
                return 1;
        }
    }
    *sum = (ln_sum){0};
    return 0;
}

static void mark_terms(bases *b, const ln_sum *sum)
{
    for (int i = 0; i < sum->n; i++)
        for (int k = 0; k < b->n; k++)
            b->is_term[k] |= is_at(b->at[k], sum->terms[i]);
}

static ln_sum *sum_of(const history *h, ln_axis a)
{
    return &h->changes[a.input].sums[a.axis];
}

static void find_bases(const history *h, bases *b)
{
    for (ln_axis a = {0, -1}; next_axis(h, &a);)
        if (h->ports[a.input]->dims[a.axis] == LN_PORT_OPEN && varies(h, a) &&
            !find_equal(h, b, a, sum_of(h, a)) && b->n < MAX_BASES)
            b->at[b->n++] = a;
}

// Changes of a size count for the base that equals it. What equals a base with a sum has that sum.
static void follow_bases(const history *h)
{
    for (ln_axis a = {0, -1}; next_axis(h, &a);) {
        const ln_axis base = sum_of(h, a)->terms[0];
        if (sum_of(h, a)->n != 1 || sum_of(h, a)->constant)
            continue;
        int *const of_base = &h->changes[base.input].times[base.axis];
        const int times = h->changes[a.input].times[a.axis];
        *of_base = times > *of_base ? times : *of_base;
        if (sum_of(h, base)->n)
            *sum_of(h, a) = *sum_of(h, base);
    }
}

void ln_changes_find_sums(ln_changes *changes, ln_port *const *ports, const ln_value *values,
                          size_t n)
{
    const history h = {changes, ports, values, (int)n};
    bases b = {0};
    for (size_t i = 0; i < n; i++)
        memset(changes[i].sums, 0, sizeof(changes[i].sums));
    find_bases(&h, &b);
    for (int i = 0; i < b.n; i++) {
        b.is_sum[i] = !b.is_term[i] && find_sum(&h, &b, i, sum_of(&h, b.at[i]));
        mark_terms(&b, sum_of(&h, b.at[i]));
    }
    follow_bases(&h);
}
