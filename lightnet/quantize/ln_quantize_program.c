// SPDX-License-Identifier: Apache-2.0
// Programs of a model for the samples of calibration.

#include "quantize/ln_quantize_program.h"

#include "pass/ln_rewriting.h"

static const char default_target[] = "cpu";

int ln_quantize_program_fail(const ln_quantize_program *p, ln_error *err)
{
    const ln_status status = ln_error_status(p->ctx->error);
    return status == LN_OK ? ln_error_set(err, "%s", ln_context_error(p->ctx))
                           : ln_error_set_as(err, status, "%s", ln_context_error(p->ctx));
}

const ln_value *ln_quantize_shapes(const ln_quantize_samples *samples, int i)
{
    return samples->values + (size_t)i * samples->model->interface->n_inputs;
}

int ln_quantize_are_alike(const ln_quantize_samples *samples, int i, int k)
{
    const ln_value *const a = ln_quantize_shapes(samples, i), *const b =
                                                                  ln_quantize_shapes(samples, k);
    for (size_t n = 0; n < samples->model->interface->n_inputs; n++)
        if (!ln_value_is_like(&a[n], &b[n]))
            return 0;
    return 1;
}

// Programs with other constants of the same names must not meet in the model's store; it has no
// programs for other shapes. Warnings about the model would come again with each program.
static int create(ln_quantize_program *p, const ln_quantize_samples *samples, ln_error *err)
{
    *p = (ln_quantize_program){.program = ln_program_create(samples->model, err)};
    if (!p->program)
        return -1;
    p->ctx = p->program->ctx;
    p->ctx->store = NULL;
    p->ctx->msg_func = NULL;
    p->ctx->many_shapes = 0;
    p->weights = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    return p->weights ? 0 : ln_error_set_last(err);
}

int ln_quantize_program_read(ln_quantize_program *p, const ln_quantize_samples *samples, int i,
                             ln_error *err)
{
    if (create(p, samples, err))
        return -1;
    return ln_program_read(p->program, samples->model, ln_quantize_shapes(samples, i)) ||
                   ln_canonicalize(p->ctx)
               ? ln_quantize_program_fail(p, err)
               : 0;
}

static int write_open(ln_quantize_program *p, const ln_quantize_samples *samples,
                      const ln_quantize_layers *layers, const ln_quantize_mix *mix,
                      const char *file, ln_error *err)
{
    if (create(p, samples, err))
        return -1;
    return ln_program_read_open(p->program, samples->model, ln_quantize_shapes(samples, 0)) ||
                   ln_canonicalize(p->ctx) || ln_quantize_insert(p->ctx, layers, mix, p->weights) ||
                   ln_context_write(p->ctx, samples->model->options->weights, "onnx", file)
               ? ln_quantize_program_fail(p, err)
               : 0;
}

int ln_quantize_program_write(const ln_quantize_samples *samples, const ln_quantize_layers *layers,
                              const ln_quantize_mix *mix, const char *file, ln_error *err)
{
    ln_quantize_program p = {0};
    const int status = write_open(&p, samples, layers, mix, file, err);
    ln_quantize_program_free(&p);
    return status;
}

int ln_quantize_program_compile(ln_quantize_program *p, const ln_quantize_samples *samples,
                                const ln_quantize_layers *layers, const ln_quantize_mix *mix,
                                ln_error *err)
{
    const char *const target = samples->model->options->target;
    if (ln_quantize_program_read(p, samples, 0, err))
        return -1;
    p->ctx->precision = mix->is_bf16 ? TL_BFLOAT16 : TL_FLOAT;
    return ln_quantize_insert(p->ctx, layers, mix, p->weights) ||
                   ln_context_compile(p->ctx, target ? target : default_target)
               ? ln_quantize_program_fail(p, err)
               : 0;
}

int ln_quantize_program_load(ln_quantize_program *p, const ln_quantize_samples *samples,
                             ln_error *err)
{
    return ln_context_load(p->ctx, samples->model->options->weights)
               ? ln_quantize_program_fail(p, err)
               : 0;
}

int ln_quantize_program_make(ln_quantize_program *p, const ln_quantize_samples *samples,
                             const ln_quantize_layers *layers, const ln_quantize_mix *mix,
                             ln_error *err)
{
    return -(ln_quantize_program_compile(p, samples, layers, mix, err) ||
             ln_quantize_program_load(p, samples, err));
}

int ln_quantize_program_set(const ln_quantize_program *p, const ln_quantize_samples *samples, int i,
                            ln_error *err)
{
    const ln_model *const model = samples->model;
    for (int k = 0; k < model->n_required; k++)
        if (ln_context_set_data(p->ctx, model->required[k]->name,
                                samples->data[i * model->n_required + k]))
            return ln_quantize_program_fail(p, err);
    return 0;
}

int ln_quantize_program_run(const ln_quantize_program *p, const ln_quantize_samples *samples, int i,
                            ln_error *err)
{
    if (ln_quantize_program_set(p, samples, i, err))
        return -1;
    return ln_context_run(p->ctx) ? ln_quantize_program_fail(p, err) : 0;
}

void ln_quantize_program_free(ln_quantize_program *p)
{
    ln_program_free(p->program);
    ln_hash_free(p->weights);
    *p = (ln_quantize_program){0};
}

int ln_quantize_report(const ln_quantize_samples *samples, const char *step, int done, int total,
                       ln_error *err)
{
    const ln_quantize_progress *const p = &samples->progress;
    if (!p->func || !p->func(p->data, step, done, total))
        return 0;
    return ln_error_set_as(err, LN_CANCELLED, "the caller ended the quantization, in step '%s'",
                           step);
}
