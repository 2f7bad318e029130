// SPDX-License-Identifier: Apache-2.0
// lightnet quantize: write the model, with layers in 8 bits where that is faster, compiled or as
// ONNX.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_options.h"
#include "command/cli_samples.h"
#include "input/cli_il.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_preprocess.h"
#include "input/cli_presets.h"
#include "input/cli_session.h"
#include "input/cli_source.h"
#include "lightnet/lightnet.h"
#include "lightnet/ln_quantize.h"
#include "lightnet/ln_session.h"
#include "output/cli_guard.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"

// Numbers below 0: not set.
typedef struct quantize_options {
    cli_options shared; // samples: --data
    const char *calibration;
    double percentile;
    double max_error;
    double top1;
    double seconds;
    int any_speed;
} quantize_options;

// Options

static const char *const methods[] = {"minmax", "percentile", "entropy"};

static int is_method(const char *name)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (!strcmp(name, methods[i]))
            return 1;
    return 0;
}

static const cli_format formats[] = {
    {".safetensors", "compiled", "a compiled model"},
    {".onnx", "onnx", "an ONNX model"},
    {NULL, NULL, NULL},
};

static int check_outfile(const quantize_options *opt)
{
    const char *const file = opt->shared.outfile;
    if (!cli_guard_is_file(file))
        return cli_usage("%s: quantize writes a file; write -o FILE.safetensors or FILE.onnx",
                         file);
    const cli_format *const form = cli_guard_format(file, formats, "");
    return form ? cli_guard_output(&opt->shared, file, form->kind) : CLI_WRONG_USAGE;
}

static int writes_onnx(const quantize_options *opt)
{
    return !strcmp(cli_guard_suffix(opt->shared.outfile), ".onnx");
}

static int check_options(const quantize_options *opt)
{
    if (!opt->shared.outfile)
        return cli_usage("quantize needs -o FILE");
    if (!opt->shared.samples)
        return cli_usage("quantize needs --data DIR or --data FILE");
    if (opt->calibration && !is_method(opt->calibration))
        return cli_usage("--calibration is '%s', expected minmax, percentile or entropy",
                         opt->calibration);
    if (opt->percentile >= 0 && !(opt->percentile >= 50 && opt->percentile <= 100))
        return cli_usage("--percentile is '%g', expected a number from 50 to 100", opt->percentile);
    if (opt->percentile >= 0 && !(opt->calibration && !strcmp(opt->calibration, "percentile")))
        return cli_usage("--percentile needs --calibration percentile");
    if (opt->top1 > 1)
        return cli_usage("--top1 is '%g', expected a number from 0 to 1", opt->top1);
    if (opt->seconds > 3600)
        return cli_usage("--seconds is '%g', expected at most 3600", opt->seconds);
    return cli_il_is_file(opt->shared.args[0])
               ? cli_fail("%s: quantize does not read the intermediate language; translate it "
                          "first, by lightnet convert %s -o FILE.json",
                          opt->shared.args[0], opt->shared.args[0])
               : check_outfile(opt);
}

static int fail(const ln_quantizer *quantizer, const quantize_options *opt)
{
    return cli_model_fail_for(cli_source_name(opt->shared.args[0]), &opt->shared,
                              ln_quantizer_error(quantizer));
}

static int set_text(ln_quantizer *quantizer, const quantize_options *opt, const char *key,
                    const char *value)
{
    return value && ln_quantizer_set(quantizer, key, value) ? fail(quantizer, opt) : 0;
}

// Below 0: not given.
static int set_number(ln_quantizer *quantizer, const quantize_options *opt, const char *key,
                      double value)
{
    char text[32];
    snprintf(text, sizeof(text), "%.17g", value);
    return set_text(quantizer, opt, key, value < 0 ? NULL : text);
}

static int set_options(ln_quantizer *quantizer, const quantize_options *opt)
{
    return set_text(quantizer, opt, "calibration", opt->calibration) ||
                   set_text(quantizer, opt, "any_speed", opt->any_speed ? "yes" : NULL) ||
                   set_text(quantizer, opt, "bf16", writes_onnx(opt) ? "no" : NULL) ||
                   set_number(quantizer, opt, "percentile", opt->percentile) ||
                   set_number(quantizer, opt, "max_error", opt->max_error) ||
                   set_number(quantizer, opt, "top1", opt->top1) ||
                   set_number(quantizer, opt, "seconds", opt->seconds)
               ? CLI_FAILED
               : 0;
}

// The report

// Cuts names, which have any length.
static void print_row(const ln_quantizer *quantizer, int i, int width)
{
    const ln_quantized_layer *const layer = ln_quantizer_layer(quantizer, i);
    char error[32] = "-";
    if (isfinite(layer->error))
        snprintf(error, sizeof(error), "%.6f", layer->error);
    cli_print("%-*.*s %-8s %-9s %10.4f %10.4f %10s\n", width, width, layer->name, layer->type,
              ln_quantizer_layer_precision(quantizer, i), layer->ns_before * 1e-6,
              layer->ns_after * 1e-6, error);
}

enum { MIN_WIDTH = 5, MAX_WIDTH = 40 };

// Why no layer is in 8 bits.
static const char *reason_of(const ln_quantized_model *model, const quantize_options *opt)
{
    if (!model->n_layers)
        return "it has no layers that can be in 8 bits";
    if (model->n_within)
        return "the mix that keeps the budget is not faster";
    return opt->any_speed ? "no mix of layers keeps the budget"
                          : "no faster mix of layers keeps the budget";
}

static void print_report(const ln_quantizer *quantizer, const quantize_options *opt)
{
    const ln_quantized_model *const model = ln_quantizer_result(quantizer);
    int width = MIN_WIDTH;
    for (int i = 0; i < model->n_layers; i++) {
        const int len = (int)strlen(ln_quantizer_layer(quantizer, i)->name);
        width = len > width ? len : width;
    }
    width = width < MAX_WIDTH ? width : MAX_WIDTH;
    cli_print("%-*s %-8s %-9s %10s %10s %10s\n", width, "layer", "type", "precision", "ms before",
              "ms after", "error");
    for (int i = 0; i < model->n_layers; i++)
        print_row(quantizer, i, width);
    cli_print("layers  %d of %d in 8 bits%s%s\n", model->n_quantized, model->n_layers,
              model->has_joints ? ", and additions and average pooling between them" : "",
              model->is_bf16 ? "; others may round to bfloat16" : "");
    cli_print("error   %.6f\n", model->error);
    cli_print("top1    %.6f\n", model->top1);
    cli_print("time    %.4f ms before, %.4f ms after\n", model->ns_before * 1e-6,
              model->ns_after * 1e-6);
    if (!model->n_quantized && !model->is_bf16)
        cli_print("The model stays float32: %s.\n", reason_of(model, opt));
}

// The command

static int run_quantize(const cli_options *shared)
{
    quantize_options with = *(const quantize_options *)shared;
    const quantize_options *const opt = &with;
    cli_photo photo = {0};
    ln_quantizer *quantizer = NULL;
    const cli_preset *const preset = cli_preset_apply(&with.shared.images);
    with.shared.images.has_beside = preset && preset->task;
    with.shared.images.photo = &photo;
    int status = check_options(opt);
    if (status)
        return status;
    ln_model *const model = cli_session_open(&opt->shared);
    if (!model)
        return CLI_FAILED;
    if (ln_quantizer_create(model, &quantizer))
        status = fail(NULL, opt);
    else if (set_options(quantizer, opt) || cli_samples_add(quantizer, model, &opt->shared))
        status = CLI_FAILED;
    else if (ln_quantizer_run(quantizer) || ln_quantizer_save(quantizer, opt->shared.outfile))
        status = fail(quantizer, opt);
    else
        print_report(quantizer, opt);
    ln_quantizer_free(quantizer);
    ln_model_free(model);
    return status;
}

static quantize_options given = {
    .shared = {CLI_DEFAULTS}, .percentile = -1, .max_error = -1, .top1 = -1, .seconds = -1};

#define OWN(name) offsetof(quantize_options, name)

static const cli_option options[] = {
    {"outfile", 'o', CLI_TEXT, CLI_FIELD(outfile), "FILE",
     "the model to write: .safetensors (compiled) or .onnx"},
    CLI_SHARED("target", "allow-output"),
    CLI_SHARED("shape", "shape"),
    {"preset", 0, CLI_PRESET, CLI_FIELD(images.preset), "NAME",
     "as for this family of models: --preprocess and open sizes of images, such as yolov8 (help "
     "lists them)",
     CLI_PRESET_WORDS},
    CLI_SHARED("preprocess", "max-memory"),
    CLI_SHARED("max-operators", "max-constant"),
    {"data", 0, CLI_TEXT, CLI_FIELD(samples), "DIR|FILE",
     "samples: DIR has a file per sample, or such a folder per input; FILE is an npy array"},
    {"max-error", 0, CLI_NOT_NEGATIVE, OWN(max_error), "E",
     "the budget: max relative error of the outputs (default 0.01, none with --top1)"},
    {"top1", 0, CLI_NOT_NEGATIVE, OWN(top1), "S",
     "the budget: min share of the first output's rows with the same argmax"},
    {"calibration", 0, CLI_TEXT, OWN(calibration), "METHOD",
     "compute ranges by minmax, percentile or entropy (default minmax)",
     "minmax percentile entropy"},
    {"percentile", 0, CLI_NOT_NEGATIVE, OWN(percentile), "P",
     "--calibration percentile: values within the range, at each end (default 99.99)"},
    {"any-speed", 0, CLI_FLAG, OWN(any_speed), NULL,
     "quantize layers even if that saves no time on this machine"},
    {"seconds", 0, CLI_NOT_NEGATIVE, OWN(seconds), "S",
     "measure each program for S seconds (default 0.3)"},
    CLI_SHARED("force", "threads"),
    CLI_SHARED("disable-rule", "plugin"),
    CLI_SHARED("tune", "tune"),
    CLI_SHARED("debug", "no-warnings"),
};

const cli_command cli_quantize_command = {
    {"quantize", "MODEL --data DIR|FILE -o FILE", 1, 1,
     "write the model with 8-bit layers, compiled or as ONNX"},
    CLI_ROWS(options),
    &given.shared,
    run_quantize};
