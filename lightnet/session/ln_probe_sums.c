// SPDX-License-Identifier: Apache-2.0
// Sizes of a model that have to be sums of others: by their names, by names of its outputs, else by
// trying sums until the model accepts prime numbers for all other sizes.

#include "session/ln_probe.h"

#include <string.h>

#include "ir/ln_sizes.h"
#include "lightnet/ln_tensor.h"

// The max number of reads.
enum { MAX_TRIALS = 48 };

// Multiples of the lengths: images may have to be larger, and divisible.
static const int scales[] = {1, 64};
enum { N_SCALES = sizeof(scales) / sizeof(scales[0]) };

int ln_probe_is_independent(const ln_probe *p, int i)
{
    return p->sizes[i].sum.n == 0;
}

static int is_batch(const ln_probe *p, int i)
{
    return p->sizes[i].at.axis == 0;
}

// Terms are independent, so sums do not depend on each other. No length is the sum of a batch.
static int may_be_sum(const ln_probe *p, int i, const ln_probe_sum *s)
{
    for (int k = 0; k < s->n; k++)
        if (s->terms[k] == i || !ln_probe_is_independent(p, s->terms[k]) ||
            (s->n == 2 && is_batch(p, i) != is_batch(p, s->terms[k])))
            return 0;
    for (int j = 0; j < p->n_sizes; j++)
        for (int k = 0; k < p->sizes[j].sum.n; k++)
            if (p->sizes[j].sum.terms[k] == i)
                return 0;
    return s->n > 0;
}

// Sum `k` of those that a size may be: of two sizes, of one, of one and 1. n 0: no more.
static ln_probe_sum sum_at(const ln_probe *p, int k)
{
    for (int z = 1; z < p->n_sizes; k -= z, z++)
        if (k < z)
            return (ln_probe_sum){2, {k, z}, 0};
    if (k < 2 * p->n_sizes)
        return (ln_probe_sum){1, {k % p->n_sizes}, k / p->n_sizes};
    return (ln_probe_sum){0};
}

static int find_name(const ln_probe *p, const char *name, size_t len)
{
    for (int i = 0; i < p->n_sizes; i++)
        if (strlen(p->sizes[i].name) == len && !memcmp(p->sizes[i].name, name, len))
            return i;
    return -1;
}

// The sum that the name of a size is, such as "past + new"; n 0: it is none.
static ln_probe_sum sum_of_name(const ln_probe *p, const ln_probe_size *size)
{
    const char *text = size->name, *term;
    size_t len;
    int64_t number, constant = 0;
    ln_probe_sum s = {0};
    while (ln_size_term(&text, &term, &len)) {
        const int is_number = ln_size_is_number(term, len, &number);
        const int i = is_number ? -1 : find_name(p, term, len);
        if (is_number)
            constant += number;
        else if (i < 0 || s.n == 2)
            return (ln_probe_sum){0};
        else
            s.terms[s.n++] = i;
        if (constant > LN_PROBE_CONSTANT)
            return (ln_probe_sum){0};
    }
    s.constant = (int)constant;
    return s;
}

static void use_names(ln_probe *p)
{
    for (int i = 0; i < p->n_sizes; i++) {
        const ln_probe_sum s = sum_of_name(p, &p->sizes[i]);
        if (may_be_sum(p, i, &s))
            p->sizes[i].sum = s;
    }
}

// Whether each output axis with the name of a size has its length. The cache after a step, which
// has the name of the mask's length, shows its sum.
static int is_consistent(const ln_probe *p, const ln_context *ctx)
{
    const ln_list *node = ctx->outputs;
    for (size_t i = 0; node && i < p->model->interface->n_outputs; i++, node = node->next) {
        const ln_port *const port = p->model->interface->outputs[i];
        const tl_tensor *const t = ln_tensor_table_find(ctx->tensor_table, node->data)->tensor;
        for (int axis = 0; axis < t->ndim && t->ndim == port->info.ndim; axis++) {
            const char *const name = port->dim_names[axis];
            const int k = name ? find_name(p, name, strlen(name)) : -1;
            if (k >= 0 && p->sizes[k].len != t->dims[axis])
                return 0;
        }
    }
    return 1;
}

// What the model does with prime numbers and the current sums.
typedef enum outcome { REJECTS, ACCEPTS, AGREES } outcome; // AGREES: its outputs do, too

static outcome try_order(ln_probe *p, int is_descending)
{
    ln_probe_set_primes(p, is_descending);
    ln_program *const program = ln_probe_read(p);
    const outcome result = !program ? REJECTS : is_consistent(p, program->ctx) ? AGREES : ACCEPTS;
    ln_program_free(program);
    return result;
}

// In another order, a wrong sum may be too short.
static outcome try_primes(ln_probe *p)
{
    const outcome a = try_order(p, 0), b = a == REJECTS ? REJECTS : try_order(p, 1);
    return a < b ? a : b;
}

// Whether the model accepts the lengths of sizes that are not open, for all.
static int accepts_ones(ln_probe *p)
{
    ln_probe_set_run(p, LN_PROBE_SIZES, 0);
    ln_program *const program = ln_probe_read(p);
    ln_program_free(program);
    return program != NULL;
}

// Tries a sum of each size, until the outputs agree; else sets the first one that the model
// accepts if it rejects all without a sum (`before`). Returns the outcome.
static outcome try_sums(ln_probe *p, outcome before)
{
    int n_trials = 0, found = -1;
    ln_probe_sum s, first = {0};
    for (int n = 0; s = sum_at(p, n), s.n; n++)
        for (int i = p->n_sizes - 1; i >= 0; i--) {
            if (!may_be_sum(p, i, &s) || n_trials++ >= MAX_TRIALS || p->has_no_memory)
                continue;
            p->sizes[i].sum = s;
            const outcome result = try_primes(p);
            if (result == AGREES)
                return AGREES;
            if (result == ACCEPTS && found < 0) {
                found = i;
                first = s;
            }
            p->sizes[i].sum = (ln_probe_sum){0};
        }
    if (found < 0 || before == ACCEPTS)
        return before;
    p->sizes[found].sum = first;
    return ACCEPTS;
}

static int is_named(const ln_probe *p, const ln_probe_size *size)
{
    return p->model->interface->inputs[size->at.input]->symbols[size->at.axis] != 0;
}

// Makes each size without a name equal to the first one at its axis. Returns their number.
static int join_unnamed(ln_probe *p)
{
    int n = 0;
    for (int i = 0; i < p->n_sizes; i++)
        for (int k = 0; k < i && !is_named(p, &p->sizes[i]); k++)
            if (!is_named(p, &p->sizes[k]) && p->sizes[k].at.axis == p->sizes[i].at.axis) {
                p->sizes[i].sum = (ln_probe_sum){1, {k}, 0};
                n++;
                break;
            }
    return n;
}

void ln_probe_find_sums(ln_probe *p)
{
    outcome result = REJECTS;
    use_names(p);
    for (int i = 0; i < N_SCALES && (i == 0 || result == REJECTS || !accepts_ones(p)); i++) {
        p->scale = scales[i];
        result = try_primes(p);
    }
    if (result == REJECTS && !p->wants_values) {
        p->scale = scales[0];
        if (join_unnamed(p))
            result = try_primes(p);
    }
    if (result != AGREES && !p->wants_values)
        result = try_sums(p, result);
    for (int i = 0; i < p->n_sizes && result == REJECTS; i++)
        p->sizes[i].sum = (ln_probe_sum){0};
}
