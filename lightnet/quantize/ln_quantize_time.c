// SPDX-License-Identifier: Apache-2.0
// Measuring programs and the layers in them.

#include "quantize/ln_quantize_program.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

// Runs before the first that counts; min runs that count. Runs of one program follow each other,
// so that its weights are in the caches.
enum { WARM_UP = 2, MIN_RUNS = 5, RUNS_IN_TURN = 4, MIN_TURNS = 3 };

// Runs

static int is_over(uint64_t start, double seconds, int runs, int min)
{
    return runs >= min && (double)(tl_clock() - start) * 1e-9 >= seconds;
}

static int run_in_turn(const ln_quantize_program *p, const ln_quantize_samples *samples, double *ns,
                       ln_error *err)
{
    for (int run = -1; run < RUNS_IN_TURN; run++) {
        if (ln_quantize_program_set(p, samples, 0, err))
            return -1;
        const uint64_t start = tl_clock();
        if (ln_context_run(p->ctx))
            return ln_quantize_program_fail(p, err);
        const double now = (double)(tl_clock() - start);
        *ns = run < 0 ? *ns : fmin(*ns, now);
    }
    return 0;
}

int ln_quantize_time_both(double ns[2], const ln_quantize_program *const programs[2],
                          const ln_quantize_samples *samples, double seconds, ln_error *err)
{
    const uint64_t start = tl_clock();
    ns[0] = ns[1] = INFINITY;
    for (int turn = 0; !is_over(start, seconds, turn, MIN_TURNS); turn++)
        for (int i = 0; i < 2; i++)
            if (run_in_turn(programs[i], samples, &ns[i], err))
                return -1;
    return 0;
}

// Operators

// The min time of each operator of a program.
typedef struct op_times {
    int n;
    uint64_t *now;
    double *min;
} op_times;

static int time_ops(op_times *times, const ln_quantize_program *p,
                    const ln_quantize_samples *samples, double seconds, ln_error *err)
{
    const uint64_t start = tl_clock();
    for (int run = -WARM_UP; run < 0 || !is_over(start, seconds, run, MIN_RUNS); run++) {
        memset(times->now, 0, (size_t)times->n * sizeof(*times->now));
        if (ln_quantize_program_set(p, samples, 0, err))
            return -1;
        if (ln_context_run_timed(p->ctx, times->now))
            return ln_quantize_program_fail(p, err);
        for (int i = 0; i < times->n && run >= 0; i++)
            if (run == 0 || (double)times->now[i] < times->min[i])
                times->min[i] = (double)times->now[i];
    }
    return 0;
}

// Layers

// Names of tensors change when a program is compiled; those of weights do not. Operators on
// the weight of a layer belong to it, and so does the first operator of a run that reads it,
// with those that follow. Operators before the first layer belong to the first layer.
typedef struct owners {
    ln_hash *of; // tensor -> the number of its layer, from 1
} owners;

// The last of the layers whose constants (or else variables) `op` reads: from 1, or 0 for none.
static int owner_of_inputs(const owners *o, const ln_op *op, int constants)
{
    intptr_t last = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const intptr_t owner = (intptr_t)ln_hash_find(o->of, tle->name);
        if (owner > last && !ln_entry_of(tle, op->op_arg->tensor_table)->isconst == !constants)
            last = owner;
    }
    return (int)last;
}

static int own_outputs(const owners *o, const ln_op *op, int owner)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (owner && ln_hash_insert(o->of, tle->name, (void *)(intptr_t)owner) < 0)
            return -1;
    return 0;
}

static int own_weights(const owners *o, const ln_quantize_program *p)
{
    LN_FOREACH (const ln_op *, op, p->ctx->ops) {
        LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
            void *const number = ln_hash_find(p->weights, tle->name);
            if (number && ln_hash_insert(o->of, tle->name, number) < 0)
                return -1;
        }
    }
    return 0;
}

// Sets is_bf16 of layers with operators that compute in bfloat16. Call it after add_times.
static void find_bf16(char *is_bf16, const owners *o, const ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const int owner = owner_of_inputs(o, op, 1);
        if (owner && ln_streq(op->op_arg->algorithm ? op->op_arg->algorithm : "", "bfloat16"))
            is_bf16[owner - 1] = 1;
    }
}

// Operators without a layer are those before the first one, or of other branches.
static int add_times(double *ns, const owners *o, const ln_context *ctx, int n_layers,
                     const op_times *times)
{
    double pending = 0;
    int i = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const int constant = owner_of_inputs(o, op, 1);
        const int owner = constant ? constant : owner_of_inputs(o, op, 0);
        if (own_outputs(o, op, owner))
            return -1;
        if (owner)
            ns[owner - 1] += times->min[i] + (op->op_arg->at_load ? 0 : pending);
        else
            pending += times->min[i];
        if (owner && !op->op_arg->at_load)
            pending = 0;
        i++;
    }
    ns[n_layers] = pending;
    return 0;
}

int ln_quantize_time_layers(double *ns, char *is_bf16, const ln_quantize_layers *layers,
                            const ln_quantize_program *p, const ln_quantize_samples *samples,
                            double seconds, ln_error *err)
{
    const owners o = {ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL)};
    op_times times = {.n = ln_list_length(p->ctx->ops)};
    times.now = ln_alloc_array((size_t)times.n + 1, sizeof(*times.now));
    times.min = ln_alloc_array((size_t)times.n + 1, sizeof(*times.min));
    int status = o.of && times.now && times.min ? 0 : ln_error_set_last(err);
    memset(ns, 0, (size_t)(layers->n + 1) * sizeof(*ns));
    if (!status)
        status = time_ops(&times, p, samples, seconds, err);
    if (!status && (own_weights(&o, p) || add_times(ns, &o, p->ctx, layers->n, &times)))
        status = ln_error_set_last(err);
    if (!status && is_bf16)
        find_bf16(is_bf16, &o, p->ctx);
    ln_free(times.now);
    ln_free(times.min);
    ln_hash_free(o.of);
    return status;
}
