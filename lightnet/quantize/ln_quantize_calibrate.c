// SPDX-License-Identifier: Apache-2.0
// Calibration: ranges of tensors from runs on samples.

#include "quantize/ln_quantize_calibrate.h"

#include "lightnet/ln_util.h"

/* A calibration under way. */
typedef struct calibration {
    ln_quantize_layers *layers;
    const ln_quantize_samples *samples;
    const ln_quantize_method *method;
    ln_error *err;
    ln_quantize_program program; /* unoptimized, so that all tensors are there */
    ln_quantize_seen *seen;      /* of the source of each layer; one for layers with one source */
    ln_hash *sources;            /* tensor -> ln_quantize_seen */
    int is_counting;
} calibration;

static int fail(calibration *c)
{
    return ln_quantize_program_fail(&c->program, c->err);
}

/* ---- observing ---- */

static int enter_source(calibration *c, int i)
{
    const char *const src = c->layers->items[i].src;
    return ln_hash_find(c->sources, src) || ln_hash_insert(c->sources, src, &c->seen[i]) >= 0
               ? 0
               : ln_error_set_last(c->err);
}

static int enter_sources(calibration *c)
{
    const size_t n = (size_t)c->layers->n;
    c->sources = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    c->seen = ln_alloc_array(n + 1, sizeof(*c->seen));
    if (!c->sources || !c->seen)
        return ln_error_set_last(c->err);
    for (int i = 0; i < c->layers->n; i++)
        if (enter_source(c, i))
            return -1;
    return 0;
}

static void observe_tensor(const calibration *c, const ln_tensor_entry *te)
{
    ln_quantize_seen *const seen = ln_hash_find(c->sources, te->name);
    if (seen && c->is_counting)
        ln_quantize_count(seen, te->tensor->data, (size_t)te->tensor->len);
    else if (seen)
        ln_quantize_see(seen, te->tensor->data, (size_t)te->tensor->len);
}

static int observe(void *data, const ln_op *op)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        observe_tensor(data, ln_entry_of(tle, op->op_arg->tensor_table));
    }
    return 0;
}

static int observe_all(calibration *c)
{
    for (int i = 0; i < c->samples->n; i++)
        if (ln_quantize_program_set(&c->program, c->samples, i, c->err))
            return -1;
        else if (ln_context_run_each(c->program.ctx, observe, c))
            return fail(c);
    return 0;
}

/* ---- the program ---- */

static int add_output(void *data, const char *tensor)
{
    return ln_context_add_output(data, tensor);
}

// Constants are outputs, so that they are there after loading.
static int add_constants(calibration *c)
{
    for (int i = 0; i < c->layers->n; i++)
        if (ln_quantize_layer_constants(&c->layers->items[i], add_output, c->program.ctx))
            return -1;
    return 0;
}

static const char target[] = "cpu";

static int make_program(calibration *c)
{
    if (ln_quantize_program_read(&c->program, c->samples, c->err))
        return -1;
    ln_context *const ctx = c->program.ctx;
    if (ln_quantize_layers_find(c->layers, ctx) || add_constants(c))
        return fail(c);
    ctx->optimize = 0;
    return ln_context_compile(ctx, target)
               ? fail(c)
               : ln_quantize_program_load(&c->program, c->samples, c->err);
}

/* ---- deciding ---- */

static int begin_counting(calibration *c)
{
    c->is_counting = 1;
    for (int i = 0; i < c->layers->n; i++)
        if (ln_hash_find(c->sources, c->layers->items[i].src) == &c->seen[i] &&
            ln_quantize_begin_bins(&c->seen[i]))
            return ln_error_set_last(c->err);
    return 0;
}

// An operator that is equal to another one is merged with it, and its result seen by nobody.
static void decide(const calibration *c)
{
    for (int i = 0; i < c->layers->n; i++) {
        ln_quantize_layer *const layer = &c->layers->items[i];
        const ln_quantize_seen *const seen = ln_hash_find(c->sources, layer->src);
        layer->step = ln_quantize_step_of(seen, c->method);
        layer->is_usable = layer->is_usable && seen->n > 0 && !seen->is_not_finite;
    }
}

static int calibrate(calibration *c)
{
    if (make_program(c) || enter_sources(c))
        return -1;
    if (ln_quantize_layers_weigh(c->layers, c->program.ctx))
        return fail(c);
    if (observe_all(c))
        return -1;
    if (c->method->kind != LN_QUANTIZE_MINMAX && (begin_counting(c) || observe_all(c)))
        return -1;
    decide(c);
    return 0;
}

int ln_quantize_calibrate(ln_quantize_layers *layers, const ln_quantize_samples *samples,
                          const ln_quantize_method *method, ln_error *err)
{
    calibration c = {.layers = layers, .samples = samples, .method = method, .err = err};
    const int status = calibrate(&c);
    for (int i = 0; i < layers->n && c.seen; i++)
        ln_quantize_seen_clear(&c.seen[i]);
    ln_free(c.seen);
    ln_hash_free(c.sources);
    ln_quantize_program_free(&c.program);
    return status;
}
