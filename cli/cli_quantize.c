// SPDX-License-Identifier: Apache-2.0
// lightnet quantize: write the model compiled, with those layers in 8 bits that are worth it.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cli_il.h"
#include "cli_model.h"
#include "cli_samples.h"
#include "cli_session.h"
#include "cli_source.h"
#include "lightnet/ln_quantize.h"

/* ---- options ---- */

static const char *const methods[] = {"minmax", "percentile", "entropy"};

static int is_method(const char *name)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (!strcmp(name, methods[i]))
            return 1;
    return 0;
}

static int check_options(const cli_options *opt)
{
    if (!opt->outfile)
        return cli_usage("quantize needs -o FILE");
    if (!opt->data)
        return cli_usage("quantize needs --data DIR or --data FILE");
    if (!cli_writes_one_file(opt))
        return cli_usage("%s: quantize writes one file; write -o FILE.safetensors", opt->outfile);
    if (opt->calibration && !is_method(opt->calibration))
        return cli_usage("--calibration is '%s', expected minmax, percentile or entropy",
                         opt->calibration);
    if (opt->percentile >= 0 && !(opt->percentile >= 50 && opt->percentile <= 100))
        return cli_usage("--percentile is '%g', expected a number from 50 to 100", opt->percentile);
    if (opt->top1 > 1)
        return cli_usage("--top1 is '%g', expected a number from 0 to 1", opt->top1);
    if (opt->each_seconds > 3600)
        return cli_usage("--seconds is '%g', expected at most 3600", opt->each_seconds);
    return cli_il_is_file(opt->args[0])
               ? cli_fail("%s: quantize does not read the intermediate language; translate it "
                          "first, by lightnet convert %s -o FILE.json",
                          opt->args[0], opt->args[0])
               : cli_model_check_outfile(opt);
}

static int fail(const ln_quantizer *quantizer, const cli_options *opt)
{
    return cli_model_fail_for(cli_source_name(opt->args[0]), opt, ln_quantizer_error(quantizer));
}

static int set_text(ln_quantizer *quantizer, const cli_options *opt, const char *key,
                    const char *value)
{
    return value && ln_quantizer_set(quantizer, key, value) ? fail(quantizer, opt) : 0;
}

// Below 0: not given.
static int set_number(ln_quantizer *quantizer, const cli_options *opt, const char *key,
                      double value)
{
    char text[32];
    snprintf(text, sizeof(text), "%.17g", value);
    return set_text(quantizer, opt, key, value < 0 ? NULL : text);
}

static int set_options(ln_quantizer *quantizer, const cli_options *opt)
{
    return set_text(quantizer, opt, "calibration", opt->calibration) ||
                   set_text(quantizer, opt, "any_speed", opt->any_speed ? "yes" : NULL) ||
                   set_number(quantizer, opt, "percentile", opt->percentile) ||
                   set_number(quantizer, opt, "max_error", opt->max_error) ||
                   set_number(quantizer, opt, "top1", opt->top1) ||
                   set_number(quantizer, opt, "seconds", opt->each_seconds)
               ? CLI_FAILED
               : 0;
}

/* ---- the report ---- */

// Names may have any length, and control characters.
static void print_row(const ln_quantizer *quantizer, int i, int width)
{
    const ln_quantized_layer *const layer = ln_quantizer_layer(quantizer, i);
    char error[32] = "-";
    if (isfinite(layer->error))
        snprintf(error, sizeof(error), "%.6f", layer->error);
    printf("%-*.*s %-8s %-9s %10.4f %10.4f %10s\n", width, width, layer->name, layer->type,
           ln_quantizer_layer_precision(quantizer, i), layer->ns_before * 1e-6,
           layer->ns_after * 1e-6, error);
}

enum { LEAST_WIDTH = 5, MOST_WIDTH = 40 };

static int width_of_names(const ln_quantizer *quantizer, int n)
{
    int width = LEAST_WIDTH;
    for (int i = 0; i < n; i++) {
        const int len = (int)strlen(ln_quantizer_layer(quantizer, i)->name);
        width = len > width ? len : width;
    }
    return width < MOST_WIDTH ? width : MOST_WIDTH;
}

static void print_table(const ln_quantizer *quantizer, const ln_quantized_model *model)
{
    const int width = width_of_names(quantizer, model->n_layers);
    printf("%-*s %-8s %-9s %10s %10s %10s\n", width, "layer", "type", "precision", "ms before",
           "ms after", "error");
    for (int i = 0; i < model->n_layers; i++)
        print_row(quantizer, i, width);
}

static const char *why_float(const ln_quantized_model *model)
{
    return !model->n_layers   ? "it has no layers that can be in 8 bits"
           : !model->n_within ? "no faster mix of layers keeps the budget"
                              : "the mix that keeps the budget is not faster";
}

static void print_report(const ln_quantizer *quantizer)
{
    const ln_quantized_model *const model = ln_quantizer_result(quantizer);
    print_table(quantizer, model);
    printf("layers  %d of %d in 8 bits%s%s\n", model->n_quantized, model->n_layers,
           model->has_joints ? ", and sums and means between them" : "",
           model->is_bf16 ? "; others may round to bfloat16" : "");
    printf("error   %.6f\n", model->error);
    printf("top1    %.6f\n", model->top1);
    printf("time    %.4f ms before, %.4f ms after\n", model->ns_before * 1e-6,
           model->ns_after * 1e-6);
    if (!model->n_quantized && !model->is_bf16)
        printf("The model stays float32: %s.\n", why_float(model));
}

/* ---- the command ---- */

static int run(ln_quantizer *quantizer, const ln_model *model, const cli_options *opt)
{
    if (set_options(quantizer, opt) || cli_samples_add(quantizer, model, opt))
        return CLI_FAILED;
    if (ln_quantizer_run(quantizer) || ln_quantizer_save(quantizer, opt->outfile))
        return fail(quantizer, opt);
    print_report(quantizer);
    return 0;
}

int cli_quantize(const cli_options *opt)
{
    ln_quantizer *quantizer = NULL;
    int status = check_options(opt);
    if (status)
        return status;
    ln_model *const model = cli_session_open(opt);
    if (!model)
        return CLI_FAILED;
    status = ln_quantizer_create(model, &quantizer) ? fail(NULL, opt) : run(quantizer, model, opt);
    ln_quantizer_free(quantizer);
    ln_model_free(model);
    return status;
}
