// SPDX-License-Identifier: Apache-2.0
// Choosing which layers are computed in 8 bits.

#include "quantize/ln_quantize_choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_util.h"
#include "quantize/ln_quantize_program.h"

// A mix is faster than float32 if it needs at most this share of its time: more may be noise.
static const double FASTER = 0.98;

// The state of the selection.
typedef struct selection {
    ln_quantize_choice *choice;
    const ln_quantize_layers *layers;
    const ln_quantize_samples *samples;
    const ln_quantize_budget *budget;
    ln_error *err;
    ln_quantize_outputs outputs; // in float32
    int *order;                  // of the candidates, the best ones first
    int n_candidates;
    char *trial; // the layers of a mix
} selection;

// Mixes

static int make(const selection *c, ln_quantize_program *p, const ln_quantize_mix *mix)
{
    return ln_quantize_program_make(p, c->samples, c->layers, mix, c->err);
}

static const ln_quantize_mix float32 = {0};

// The error of the mix on the first `n` samples.
static int measure_mix(const selection *c, const ln_quantize_mix *mix, int n,
                       ln_quantize_error *error)
{
    ln_quantize_program p = {0};
    const int status = -(make(c, &p, mix) ||
                         ln_quantize_error_find(error, &c->outputs, &p, c->samples, n, c->err));
    ln_quantize_program_free(&p);
    return status;
}

// Whether the error is within the budget.
static int is_within(const selection *c, const ln_quantize_error *error)
{
    const ln_quantize_budget *const b = c->budget;
    return (b->max_error < 0 || error->relative <= b->max_error) &&
           (b->top1 < 0 || error->top1 >= b->top1);
}

// 1, or 0: it exceeds the budget; -1 with a reason.
static int try_mix(const selection *c, const ln_quantize_mix *mix, ln_quantize_error *error)
{
    if (ln_quantize_report(c->samples, "select", c->choice->n_tried++, 0, c->err) ||
        measure_mix(c, mix, c->samples->n_alike, error))
        return -1;
    return is_within(c, error);
}

// Float32, and all layers in 8 bits

static int measure_float(selection *c)
{
    ln_quantize_program p = {0};
    const int status =
        -(make(c, &p, &float32) || ln_quantize_outputs_find(&c->outputs, &p, c->samples, c->err) ||
          ln_quantize_time_layers(c->choice->ns_before, NULL, c->layers, &p, c->samples,
                                  c->budget->seconds, c->err));
    ln_quantize_program_free(&p);
    return status;
}

static int measure_all(const selection *c)
{
    ln_quantize_program p = {0};
    for (int i = 0; i < c->layers->n; i++)
        c->trial[i] = (char)c->layers->items[i].is_usable;
    const int status = make(c, &p, &(ln_quantize_mix){.is_on = c->trial}) ||
                               ln_quantize_time_layers(c->choice->ns_int8, NULL, c->layers, &p,
                                                       c->samples, c->budget->seconds, c->err)
                           ? -1
                           : 0;
    ln_quantize_program_free(&p);
    return status;
}

static int measure_singles(const selection *c)
{
    const int n =
        c->samples->n_alike < LN_QUANTIZE_MAX_SINGLE ? c->samples->n_alike : LN_QUANTIZE_MAX_SINGLE;
    for (int i = 0; i < c->layers->n; i++) {
        ln_quantize_error error = {.relative = INFINITY};
        memset(c->trial, 0, (size_t)c->layers->n);
        c->trial[i] = 1;
        if (ln_quantize_report(c->samples, "layers", i, c->layers->n, c->err))
            return -1;
        if (c->layers->items[i].is_usable &&
            measure_mix(c, &(ln_quantize_mix){.is_on = c->trial}, n, &error))
            return -1;
        c->choice->errors[i] = error.relative;
    }
    return 0;
}

// The order

static double saved_ns(const ln_quantize_choice *choice, int i)
{
    return choice->ns_before[i] - choice->ns_int8[i];
}

// The value of a layer: time saved per error; if time does not count, the min error.
static double worth_of(const selection *c, int i)
{
    const double error = c->choice->errors[i] + 1e-12;
    return (c->budget->any_speed ? 1 : saved_ns(c->choice, i)) / error;
}

static int is_candidate(const selection *c, int i)
{
    return c->layers->items[i].is_usable && isfinite(c->choice->errors[i]) &&
           (c->budget->any_speed || saved_ns(c->choice, i) > 0);
}

typedef struct ranked {
    double worth;
    int number;
} ranked;

// The best first; equal ones in the order of the model.
static int compare_ranked(const void *a, const void *b)
{
    const ranked *const x = a, *const y = b;
    return x->worth > y->worth   ? -1
           : x->worth < y->worth ? 1
                                 : (x->number > y->number) - (x->number < y->number);
}

static int order_candidates(selection *c)
{
    ranked *const items = ln_alloc_array((size_t)c->layers->n + 1, sizeof(*items));
    if (!items)
        return ln_error_set_last(c->err);
    for (int i = 0; i < c->layers->n; i++)
        if (is_candidate(c, i))
            items[c->n_candidates++] = (ranked){worth_of(c, i), i};
    qsort(items, (size_t)c->n_candidates, sizeof(*items), compare_ranked);
    for (int i = 0; i < c->n_candidates; i++)
        c->order[i] = items[i].number;
    ln_free(items);
    return 0;
}

// Within the budget

static void accept(const selection *c, const ln_quantize_error *error)
{
    memcpy(c->choice->is_on, c->trial, (size_t)c->layers->n);
    c->choice->error = *error;
}

// Returns the length of the longest prefix found that keeps the budget; -1 with a reason. Errors
// mostly grow with the prefix, so it bisects; the accepted prefix was measured.
static int find_prefix(const selection *c)
{
    int within = 0, beyond = c->n_candidates + 1, next = c->n_candidates;
    while (within + 1 < beyond) {
        ln_quantize_error error;
        memset(c->trial, 0, (size_t)c->layers->n);
        for (int i = 0; i < next; i++)
            c->trial[c->order[i]] = 1;
        const int is_good = try_mix(c, &(ln_quantize_mix){.is_on = c->trial}, &error);
        if (is_good < 0)
            return -1;
        if (is_good)
            accept(c, &error);
        *(is_good ? &within : &beyond) = next;
        next = within + (beyond - within) / 2;
    }
    return within;
}

// Adds each candidate from number `from` on with which the mix keeps the budget.
static int add_candidates(const selection *c, int from)
{
    for (int i = from; i < c->n_candidates; i++) {
        ln_quantize_error error;
        const ln_quantize_error alone = {.relative = c->choice->errors[c->order[i]], .top1 = 1};
        memcpy(c->trial, c->choice->is_on, (size_t)c->layers->n);
        c->trial[c->order[i]] = 1;
        const int is_good =
            is_within(c, &alone) ? try_mix(c, &(ln_quantize_mix){.is_on = c->trial}, &error) : 0;
        if (is_good < 0)
            return -1;
        if (is_good)
            accept(c, &error);
    }
    return 0;
}

static int choose_within(const selection *c)
{
    c->choice->error = (ln_quantize_error){.top1 = 1};
    const int n = c->n_candidates ? find_prefix(c) : 0;
    return n < 0 ? -1 : add_candidates(c, n + 1);
}

// Against float32

static int count_quantized(const selection *c)
{
    int n = 0;
    for (int i = 0; i < c->layers->n; i++)
        n += c->choice->is_on[i];
    return n;
}

// A mix, compared with float32.
typedef struct variant {
    ln_quantize_mix mix;
    ln_quantize_error error;
    double total[2]; // ns of a run: in float32, of the mix
} variant;

static double ratio_of(const variant *v)
{
    return v->total[1] / v->total[0];
}

static int time_variant(const selection *c, variant *v)
{
    ln_quantize_program before = {0}, after = {0};
    const ln_quantize_program *const both[2] = {&before, &after};
    const int status =
        -(make(c, &before, &float32) || make(c, &after, &v->mix) ||
          ln_quantize_time_both(v->total, both, c->samples, c->budget->seconds, c->err));
    ln_quantize_program_free(&before);
    ln_quantize_program_free(&after);
    return status;
}

// Makes the variant the best one if it keeps the budget, and is faster beyond noise.
static int try_variant(const selection *c, variant *best, ln_quantize_mix mix)
{
    variant v = {.mix = mix};
    const int is_good = try_mix(c, &mix, &v.error);
    // An equal error means an equal program: no joint applies, or the CPU lacks bfloat16.
    if (is_good <= 0 || v.error.relative == best->error.relative)
        return is_good < 0 ? -1 : 0;
    if (time_variant(c, &v))
        return -1;
    if (ratio_of(&v) <= FASTER * ratio_of(best))
        *best = v;
    return 0;
}

// Tries joints, then bfloat16 in the best mix so far, then bfloat16 alone, since 8-bit layers may
// have used up the budget.
static int try_variants(const selection *c, variant *best)
{
    const int may_join = c->choice->n_within && c->layers->n_joints;
    if (may_join && try_variant(c, best, (ln_quantize_mix){c->choice->is_on, 1, 0}))
        return -1;
    if (!c->budget->may_bf16)
        return 0;
    ln_quantize_mix other = best->mix;
    other.is_bf16 = 1;
    if (try_variant(c, best, other))
        return -1;
    const int may_drop = other.is_on && !c->budget->any_speed;
    return may_drop ? try_variant(c, best, (ln_quantize_mix){.is_bf16 = 1}) : 0;
}

// The first variant: the mix of layers if it is faster, else float32.
static int time_first_variant(const selection *c, variant *best)
{
    variant v = {.mix = {.is_on = c->choice->is_on}, .error = c->choice->error};
    *best = (variant){.error = {.top1 = 1}, .total = {1, 1}};
    if (time_variant(c, &v))
        return -1;
    best->total[0] = best->total[1] = v.total[0];
    if (c->choice->n_within && (c->budget->any_speed || ratio_of(&v) <= FASTER))
        *best = v;
    return 0;
}

static int time_layers(const selection *c)
{
    ln_quantize_program p = {0};
    const int status = -(make(c, &p, &c->choice->mix) ||
                         ln_quantize_time_layers(c->choice->ns_after, c->choice->is_bf16, c->layers,
                                                 &p, c->samples, c->budget->seconds, c->err));
    ln_quantize_program_free(&p);
    return status;
}

static int time_choice(const selection *c)
{
    variant best;
    ln_quantize_choice *const choice = c->choice;
    choice->n_within = count_quantized(c);
    if (time_first_variant(c, &best) || try_variants(c, &best))
        return -1;
    choice->mix = best.mix;
    choice->error = best.error;
    choice->total[0] = best.total[0];
    choice->total[1] = best.total[1];
    if (!best.mix.is_on)
        memset(choice->is_on, 0, (size_t)c->layers->n);
    choice->n_on = count_quantized(c);
    return time_layers(c);
}

// All

static int allocate(selection *c)
{
    const size_t n = (size_t)c->layers->n + 1;
    ln_quantize_choice *const choice = c->choice;
    choice->is_on = ln_alloc(n);
    choice->is_bf16 = ln_alloc(n);
    choice->errors = ln_alloc_array(n, sizeof(double));
    choice->ns_before = ln_alloc_array(n, sizeof(double));
    choice->ns_int8 = ln_alloc_array(n, sizeof(double));
    choice->ns_after = ln_alloc_array(n, sizeof(double));
    c->order = ln_alloc_array(n, sizeof(*c->order));
    c->trial = ln_alloc(n);
    return choice->is_on && choice->is_bf16 && choice->errors && choice->ns_before &&
                   choice->ns_int8 && choice->ns_after && c->order && c->trial
               ? 0
               : ln_error_set_last(c->err);
}

int ln_quantize_choose(ln_quantize_choice *choice, const ln_quantize_layers *layers,
                       const ln_quantize_samples *samples, const ln_quantize_budget *budget,
                       ln_error *err)
{
    selection c = {
        .choice = choice, .layers = layers, .samples = samples, .budget = budget, .err = err};
    *choice = (ln_quantize_choice){0};
    const int status =
        -(allocate(&c) || ln_quantize_report(samples, "time", 0, 2, err) || measure_float(&c) ||
          ln_quantize_report(samples, "time", 1, 2, err) || measure_all(&c) ||
          measure_singles(&c) || order_candidates(&c) || choose_within(&c) || time_choice(&c));
    ln_quantize_outputs_free(&c.outputs);
    ln_free(c.order);
    ln_free(c.trial);
    return status;
}

void ln_quantize_choice_free(ln_quantize_choice *choice)
{
    ln_free(choice->is_on);
    ln_free(choice->is_bf16);
    ln_free(choice->errors);
    ln_free(choice->ns_before);
    ln_free(choice->ns_int8);
    ln_free(choice->ns_after);
    *choice = (ln_quantize_choice){0};
}
