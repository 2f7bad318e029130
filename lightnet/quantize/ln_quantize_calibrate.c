// SPDX-License-Identifier: Apache-2.0
// Calibration: ranges of tensors from runs on samples.

#include "quantize/ln_quantize_program.h"

#include "lightnet/ln_util.h"

// The state of a calibration.
typedef struct calibration {
    ln_quantize_layers *layers;
    const ln_quantize_samples *samples;
    const ln_quantize_method *method;
    ln_error *err;
    ln_quantize_program program; // unoptimized: it has all tensors
    int made_for;                // the sample with its shapes
    int is_counting;
} calibration;

static int fail(calibration *c)
{
    return ln_quantize_program_fail(&c->program, c->err);
}

// Observing

static int observe(void *data, const ln_op *op)
{
    const calibration *const c = data;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        const tl_tensor *const t = ln_entry_of(tle, op->op_arg->tensor_table)->tensor;
        ln_quantize_source *const source = ln_quantize_layers_source(c->layers, tle->name);
        if (source && c->is_counting)
            ln_quantize_stats_count(&source->stats, t->data, (size_t)t->len);
        else if (source)
            ln_quantize_stats_extend(&source->stats, t->data, (size_t)t->len);
    }
    return 0;
}

// The program

static int add_output(void *data, const char *tensor)
{
    return ln_context_add_output(data, tensor);
}

static const char target[] = "cpu";

// Replaces the program by one for the shapes of sample `i`.
static int create_program(calibration *c, int i)
{
    ln_quantize_program_free(&c->program);
    c->made_for = i;
    if (ln_quantize_program_read(&c->program, c->samples, i, c->err))
        return -1;
    ln_context *const ctx = c->program.ctx;
    ctx->optimize = 0;
    if (c->layers->n == 0 && ln_quantize_layers_find(c->layers, ctx))
        return fail(c);
    // Constants become outputs, so that loading keeps them.
    for (int k = 0; k < c->layers->n; k++)
        if (ln_quantize_layer_constants(&c->layers->items[k], add_output, ctx))
            return fail(c);
    return ln_context_compile(ctx, target)
               ? fail(c)
               : ln_quantize_program_load(&c->program, c->samples, c->err);
}

static int observe_sample(calibration *c, int i)
{
    const char *const step = c->is_counting ? "count" : "calibrate";
    if (ln_quantize_report(c->samples, step, i, c->samples->n, c->err) ||
        (!ln_quantize_are_alike(c->samples, c->made_for, i) && create_program(c, i)) ||
        ln_quantize_program_set(&c->program, c->samples, i, c->err))
        return -1;
    return ln_context_run_each(c->program.ctx, observe, c) ? fail(c) : 0;
}

static int observe_all(calibration *c)
{
    for (int i = 0; i < c->samples->n; i++)
        if (observe_sample(c, i))
            return -1;
    return 0;
}

// Deciding

static int begin_counting(calibration *c)
{
    c->is_counting = 1;
    for (int i = 0; i < c->layers->n_sources; i++)
        if (ln_quantize_stats_begin_bins(&c->layers->sources[i].stats))
            return ln_error_set_last(c->err);
    return 0;
}

// A source without values (n == 0) is the result of an operator that was merged with an equal one.
static void decide(const calibration *c)
{
    for (int i = 0; i < c->layers->n_sources; i++) {
        ln_quantize_source *const source = &c->layers->sources[i];
        source->step = ln_quantize_step_of(&source->stats, c->method);
        source->is_usable = source->stats.n > 0 && !source->stats.is_not_finite;
        ln_quantize_stats_clear(&source->stats);
    }
    for (int i = 0; i < c->layers->n; i++) {
        ln_quantize_layer *const layer = &c->layers->items[i];
        if (!ln_quantize_layers_source(c->layers, layer->src)->is_usable)
            layer->is_usable = 0;
    }
}

static int calibrate(calibration *c)
{
    if (create_program(c, 0))
        return -1;
    if (ln_quantize_layers_quantize(c->layers, c->program.ctx))
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
    ln_quantize_program_free(&c.program);
    return status;
}
