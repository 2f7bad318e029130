// SPDX-License-Identifier: Apache-2.0
// lightnet quantize: write the model, with layers in 8 bits where that is faster, compiled or as
// ONNX.

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli_options.h"
#include "input/cli_beside.h"
#include "input/cli_given.h"
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
#include "tensorlight/tl_type.h"

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

// Samples for calibration: files of --data

//     DIR/*             of a model with one input: a file for each sample, in the order of names;
//                       with --preset, others may be beside the image (cli_beside.h)
//     DIR/INPUT/*       of a model with several: a folder for each input, with its name; the k-th
//                       files of all folders are a sample
//     FILE              of a model with one input: an npy array, whose first axis is samples

// Where samples come from.
typedef struct source {
    const quantize_options *opt;
    const ln_model *model;
    ln_quantizer *quantizer;
    int has_warned; // of pixels that are not scaled
} source;

static int fail_quantizer(const source *s, const char *file)
{
    return cli_fail("%s: %s", file, ln_quantizer_error(s->quantizer));
}

// A file for each sample

// The files of one input, in the order of their names.
typedef struct folder {
    char path[LN_MAXLINE];
    struct dirent **entries;
    int n;
    char file[LN_MAXLINE]; // of the current sample
    int is_beside;         // no files: the input is made beside an image
} folder;

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int open_folder(folder *f)
{
    f->n = scandir(f->path, &f->entries, is_visible, alphasort);
    if (f->n >= 0)
        return 0;
    f->n = 0;
    return cli_fail("%s: cannot read: %s", f->path, strerror(errno));
}

// Returns new (tl_tensor_free_data_too); NULL with a reason.
static tl_tensor *read_file(const source *s, int input, const char *file, ln_error *err)
{
    const tl_tensor *const info = ln_model_input_info(s->model, input);
    tl_tensor *t = cli_session_is_open(info)
                       ? cli_session_read_open(s->model, &s->opt->shared, input, info, file, err)
                       : cli_given_read(&s->opt->shared, file, info, err);
    if (!t)
        ln_error_prefix(err, "input '%s'", ln_model_input_name(s->model, input));
    return t;
}

// Reads the k-th file of a folder. NULL with a reason.
static tl_tensor *read_kth(const source *s, folder *f, int input, int k, ln_error *err)
{
    const char *const name = f->entries[k]->d_name;
    if (snprintf(f->file, LN_MAXLINE, "%s/%s", f->path, name) < LN_MAXLINE)
        return read_file(s, input, f->file, err);
    return ln_error_set(err, "%s/%s: the name is too long", f->path, name), NULL;
}

static void warn_skipped(const source *s, const ln_error *err)
{
    if (!s->opt->shared.quiet)
        cli_warn("%s; the sample is skipped", ln_error_text(err));
}

// Warns once of an image whose pixels are not scaled, and forgets it: the next sample has another.
static void warn_unscaled(source *s)
{
    cli_photo *const photo = s->opt->shared.images.photo;
    s->has_warned = s->has_warned || cli_preprocess_warn(photo);
    *photo = (cli_photo){0};
}

// Reads the k-th file of each folder. -1 with a reason.
static int read_files(const source *s, folder *folders, int n, int k, tl_tensor **inputs,
                      ln_error *err)
{
    for (int i = 0; i < n; i++)
        if (!folders[i].is_beside && !(inputs[i] = read_kth(s, &folders[i], i, k, err)))
            return -1;
    return 0;
}

// Makes the inputs beside the image, which has been read.
static int make_beside(const source *s, const folder *folders, int n, tl_tensor **inputs)
{
    for (int i = 0; i < n; i++)
        if (folders[i].is_beside && !(inputs[i] = cli_beside_make(&s->opt->shared, s->model, i)))
            return CLI_FAILED;
    return 0;
}

// The first folder of files; NULL: none.
static const folder *first_folder(const folder *folders, int n)
{
    int i = 0;
    while (i < n && folders[i].is_beside)
        i++;
    return i < n ? &folders[i] : NULL;
}

// Adds the k-th files of the folders as a sample; if one cannot be read, increments *n_skipped.
static int add_files(source *s, folder *folders, int n, int k, int *n_skipped)
{
    ln_error err = {0};
    tl_tensor **const inputs = calloc((size_t)n + 1, sizeof(tl_tensor *));
    int status = inputs ? 0 : cli_fail_memory();
    const int is_skipped = inputs && read_files(s, folders, n, k, inputs, &err);
    if (is_skipped)
        warn_skipped(s, &err);
    else if (!status)
        status = make_beside(s, folders, n, inputs);
    if (!is_skipped && !status &&
        ln_quantizer_add_sample(s->quantizer, n, (const tl_tensor *const *)inputs))
        status = fail_quantizer(s, first_folder(folders, n)->file);
    *n_skipped += is_skipped;
    warn_unscaled(s);
    for (int i = 0; i < n && inputs; i++)
        tl_tensor_free_data_too(inputs[i]);
    free(inputs);
    return status;
}

static int name_folder(const source *s, folder *f, int input, int is_alone)
{
    const char *const name = is_alone ? "" : ln_model_input_name(s->model, input);
    const int len = snprintf(f->path, sizeof(f->path), "%s%s%s", s->opt->shared.samples,
                             is_alone ? "" : "/", name);
    return (size_t)len < sizeof(f->path)
               ? 0
               : cli_fail("%s: the name is too long", s->opt->shared.samples);
}

static int check_folders(const folder *folders, int n)
{
    const folder *const first = first_folder(folders, n);
    if (first && !first->n)
        return cli_fail("%s: no files", first->path);
    for (int i = 0; i < n; i++)
        if (!folders[i].is_beside && folders[i].n != first->n)
            return cli_fail("%s has %d files, %s has %d, expected a file of each for a sample",
                            first->path, first->n, folders[i].path, folders[i].n);
    return 0;
}

static int open_folders(const source *s, folder *folders, int n)
{
    int n_given = 0;
    for (int i = 0; i < n; i++) {
        folders[i].is_beside = cli_beside_is_known(&s->opt->shared, s->model, i);
        n_given += !folders[i].is_beside;
    }
    for (int i = 0; i < n; i++)
        if (!folders[i].is_beside &&
            (name_folder(s, &folders[i], i, n_given == 1) || open_folder(&folders[i])))
            return CLI_FAILED;
    return check_folders(folders, n);
}

static int add_folders(source *s)
{
    const int n = ln_model_num_inputs(s->model);
    folder *const folders = calloc((size_t)n + 1, sizeof(*folders));
    int status = folders ? open_folders(s, folders, n) : cli_fail_memory(), n_skipped = 0;
    const folder *const first = status ? NULL : first_folder(folders, n);
    for (int k = 0; first && !status && k < first->n; k++)
        status = add_files(s, folders, n, k, &n_skipped);
    if (first && !status && n_skipped == first->n)
        status =
            cli_fail("%s: none of the %d samples can be read", s->opt->shared.samples, n_skipped);
    for (int i = 0; i < n && folders; i++) {
        for (int k = 0; k < folders[i].n; k++)
            free(folders[i].entries[k]);
        free(folders[i].entries);
    }
    free(folders);
    return status;
}

// An array of samples

static int fail_shape(const source *s, const tl_tensor *whole)
{
    char given[LN_MAXLINE], shape[LN_MAXLINE];
    ln_sprint_shape(given, sizeof(given), whole->ndim, whole->dims);
    return cli_fail("%s: the array has shape %s, expected samples along its first axis, for input "
                    "'%s' %s",
                    s->opt->shared.samples, given, ln_model_input_name(s->model, 0),
                    cli_session_input_shape(s->model, 0, shape));
}

// The shape of a sample in the array, whose axis of samples precedes the input's axes, or replaces
// the first. Sets dims, returns ndim; 0: neither.
static int sample_shape(const tl_tensor *whole, const tl_tensor *info, int *dims)
{
    const int is_in_front = whole->ndim == info->ndim + 1;
    if (whole->ndim < 1 || whole->ndim - is_in_front > LN_MAXDIM)
        return 0;
    for (int i = is_in_front; i < whole->ndim; i++)
        dims[i - is_in_front] = whole->dims[i];
    if (!is_in_front && whole->ndim == info->ndim)
        dims[0] = info->dims[0] > 0 ? info->dims[0] : 1;
    else if (!is_in_front)
        return 0;
    return whole->ndim - is_in_front;
}

static int add_part(const source *s, const tl_tensor *part, tl_dtype dtype)
{
    tl_tensor *const t = part->dtype == dtype ? NULL : tl_tensor_convert(part, NULL, dtype);
    const tl_tensor *const sample = part->dtype == dtype ? part : t;
    if (!sample)
        return cli_fail("%s: %s", s->opt->shared.samples, tl_last_error());
    const ln_status status = ln_quantizer_add_sample(s->quantizer, 1, &sample);
    tl_tensor_free_data_too(t);
    return status ? fail_quantizer(s, s->opt->shared.samples) : 0;
}

static int add_parts(const source *s, const tl_tensor *whole)
{
    int dims[LN_MAXDIM + 1];
    const tl_tensor *const info = ln_model_input_info(s->model, 0);
    const int ndim = sample_shape(whole, info, dims);
    tl_tensor *const part = ndim ? tl_tensor_create(NULL, ndim, dims, whole->dtype) : NULL;
    if (!part || !part->len || whole->len % part->len) {
        tl_tensor_free(part);
        return fail_shape(s, whole);
    }
    const tl_dtype from = whole->dtype, to = info->dtype;
    int status =
        from == to || (tl_dtype_is_float(from) && tl_dtype_is_float(to))
            ? 0
            : cli_fail("%s: the array is of %s, input '%s' of %s", s->opt->shared.samples,
                       tl_dtype_name(from), ln_model_input_name(s->model, 0), tl_dtype_name(to));
    for (int i = 0; i < whole->len / part->len && !status; i++) {
        part->data = (char *)whole->data + (size_t)i * tl_tensor_size(part);
        status = add_part(s, part, to);
    }
    tl_tensor_free(part);
    return status;
}

static int add_array(const source *s)
{
    ln_error err = {0};
    const int n = ln_model_num_inputs(s->model);
    if (n != 1)
        return cli_fail("%s: the model has %d inputs; --data is then a folder with a folder for "
                        "each of them",
                        s->opt->shared.samples, n);
    tl_tensor *const whole = cli_given_read_whole(&s->opt->shared, s->opt->shared.samples, &err);
    if (!whole)
        return cli_fail("%s", ln_error_text(&err));
    const int status = add_parts(s, whole);
    tl_tensor_free_data_too(whole);
    return status;
}

static int add_samples(ln_quantizer *quantizer, const ln_model *model, const quantize_options *opt)
{
    source s = {opt, model, quantizer, 0};
    struct stat st;
    if (stat(opt->shared.samples, &st))
        return cli_fail("%s: cannot read: %s", opt->shared.samples, strerror(errno));
    return S_ISDIR(st.st_mode) ? add_folders(&s) : add_array(&s);
}

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
    else if (set_options(quantizer, opt) || add_samples(quantizer, model, opt))
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
    CLI_SHARED("outfile", "allow-output"),
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
