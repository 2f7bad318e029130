// SPDX-License-Identifier: Apache-2.0
// lightnet convert: writes an uncompiled model in another format.

#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli_options.h"
#include "input/cli_il.h"
#include "input/cli_model.h"
#include "output/cli_guard.h"
#include "output/cli_print.h"

typedef struct convert_options {
    cli_options shared;
    const char *format; // --to
    int external_data;
} convert_options;

// Formats by suffix. NNVM files also end in .json.
static const cli_format by_suffix[] = {
    {".json", "ir", NULL},        {".net", "il", "an IL model"},
    {".il", "il", "an IL model"}, {".onnx", "onnx", "an ONNX model"},
    {NULL, NULL, NULL},
};

// Values of --to.
static const cli_format by_name[] = {
    {NULL, "ir", NULL},
    {NULL, "il", "an IL model"},
    {NULL, "nnvm", "an NNVM graph"},
    {NULL, "onnx", "an ONNX model"},
};

static const cli_format *format_of_option(const char *format)
{
    for (size_t i = 0; i < sizeof(by_name) / sizeof(by_name[0]); i++)
        if (!strcasecmp(format, by_name[i].format))
            return &by_name[i];
    cli_usage("--to is '%s', expected ir, il, nnvm or onnx", format);
    return NULL;
}

// Finds NNVM's parameter file, which the library writes beside the graph.
static int find_params(const convert_options *opt, char file[LN_MAXLINE], struct stat *st)
{
    return ln_data_name_beside(file, LN_MAXLINE, opt->shared.outfile, ".params") ? -1
                                                                                 : stat(file, st);
}

// An existing parameter file may belong to another graph, so it is guarded, too.
static int convert_to_nnvm(ln_context *ctx, const convert_options *opt)
{
    char file[LN_MAXLINE];
    struct stat before, now;
    const int was_there = !find_params(opt, file, &before);
    if (was_there && cli_guard_is_file(opt->shared.outfile) && cli_guard_beside(&opt->shared, file))
        return CLI_FAILED;
    if (cli_model_convert(ctx, &opt->shared, "nnvm"))
        return CLI_FAILED;
    // Writing replaces the file, so the same inode means that no parameters were written.
    if (!find_params(opt, file, &now) && !(was_there && now.st_ino == before.st_ino))
        cli_fprint(stderr, "info: parameters written to %s; run %s with -f %s\n", file,
                   opt->shared.outfile, file);
    return CLI_OK;
}

// Only with --external-data, or beyond 2 GB, ONNX has a file for data beside it.
static int convert_to_onnx(ln_context *ctx, const convert_options *opt)
{
    char file[LN_MAXLINE];
    snprintf(file, sizeof(file), "%.*s.data", LN_MAXLINE - 16, opt->shared.outfile);
    if (opt->external_data && cli_guard_is_file(opt->shared.outfile) &&
        cli_guard_beside(&opt->shared, file))
        return CLI_FAILED;
    return cli_model_convert(ctx, &opt->shared, opt->external_data ? "onnx-external" : "onnx")
               ? CLI_FAILED
               : CLI_OK;
}

static int convert(ln_context *ctx, const convert_options *opt, const char *format)
{
    if (!strcasecmp(format, "onnx"))
        return convert_to_onnx(ctx, opt);
    return strcasecmp(format, "nnvm") ? cli_model_write_as(ctx, &opt->shared, format)
                                      : convert_to_nnvm(ctx, opt);
}

static int run_convert(const cli_options *shared)
{
    const convert_options *opt = (const convert_options *)shared;
    if (!opt->shared.outfile)
        return cli_usage("convert needs -o FILE");
    const cli_format *form =
        opt->format ? format_of_option(opt->format)
                    : cli_guard_format(opt->shared.outfile, by_suffix,
                                       "; or give the format with --to ir, il, nnvm or onnx");
    if (form && opt->external_data && strcasecmp(form->format, "onnx") != 0)
        return cli_usage("--external-data is for models in ONNX, not in %s", form->format);
    int status =
        form ? cli_guard_output(&opt->shared, opt->shared.outfile, form->kind) : CLI_WRONG_USAGE;
    // Before the model is read, and weights are written beside it.
    if (!status && cli_il_is_format(form->format) && !cli_il_can_write())
        status =
            cli_fail("%s: this build cannot write the intermediate language", opt->shared.outfile);
    if (status)
        return status;
    ln_context *ctx = cli_model_create(&opt->shared);
    status = ctx ? convert(ctx, opt, form->format) : CLI_FAILED;
    ln_context_free(ctx);
    return status;
}

static convert_options given = {.shared = {CLI_DEFAULTS, .may_write = "-", .only_values = 1}};

#define OWN(name) offsetof(convert_options, name)

static const cli_option options[] = {
    CLI_SHARED("outfile", "outfile"),
    {"to", 0, CLI_TEXT, OWN(format), "FORMAT",
     "write ir, il, nnvm or onnx (default: by the suffix of FILE)", "ir il nnvm onnx"},
    {"external-data", 0, CLI_FLAG, OWN(external_data), NULL,
     "write the data of an ONNX model to FILE.data"},
    CLI_SHARED("datafile", "allow-output"),
    CLI_INPUT_VALUES,
    CLI_SHARED("shape", "shape"),
    CLI_SHARED("max-memory", "max-constant"),
    CLI_SHARED("force", "force"),
    CLI_SHARED("plugin", "plugin"),
    CLI_SHARED("no-warnings", "no-warnings"),
};

const cli_command cli_convert_command = {
    {"convert", "MODEL -o FILE", 1, 1, "write the uncompiled model in another format"},
    CLI_ROWS(options),
    &given.shared,
    run_convert};
