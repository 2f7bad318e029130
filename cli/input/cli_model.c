// SPDX-License-Identifier: Apache-2.0
// The first steps of most commands: reads, compiles and loads a model and sets its inputs, by the
// options.

#include "input/cli_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/cli_given.h"
#include "input/cli_il.h"
#include "input/cli_model_fail.h"
#include "input/cli_model_inputs.h"
#include "input/cli_npz.h"
#include "input/cli_session.h"
#include "input/cli_shape.h"
#include "input/cli_source.h"
#include "lightnet/ln_optypes.h"
#include "output/cli_guard.h"
#include "output/cli_print.h"

const char *cli_target(const cli_options *opt)
{
    return opt->target ? opt->target : "cpu";
}

// How to read a model, and whether to convert it.
typedef struct reading {
    const char *source;
    const char *format, *file; // to convert it to; NULL: it is read only
} reading;

static int use_stream(ln_context *ctx, void *data)
{
    const reading *in = data;
    size_t len;
    const char *name = cli_source_name(in->source);
    char *text = cli_source_read(in->source, &len);
    if (!text)
        return ln_fail_last(ctx);
    int status = cli_il_read_text(ctx, name, text, len);
    if (status > 0)
        status = in->format ? ln_context_convert_text(ctx, name, text, len, in->format, in->file)
                            : ln_context_init_text(ctx, name, text, len);
    else if (!status && in->format)
        status = ln_context_write(ctx, ctx->datafile, in->format, in->file);
    ln_free(text);
    return status;
}

static int read_source(ln_context *ctx, const char *source)
{
    reading in = {.source = source};
    ln_context_clear_error(ctx);
    if (cli_source_is_stream(source))
        return ln_context_do(ctx, use_stream, &in);
    const int status = cli_il_read_file(ctx, source);
    return status > 0 ? ln_context_init(ctx, source) : status;
}

static int convert_source(ln_context *ctx, const char *source, const char *format, const char *file)
{
    reading in = {.source = source, .format = format, .file = file};
    ln_context_clear_error(ctx);
    if (cli_source_is_stream(source))
        return ln_context_do(ctx, use_stream, &in);
    const int status = cli_il_read_file(ctx, source);
    return status > 0    ? ln_context_convert(ctx, source, format, file)
           : status == 0 ? ln_context_write(ctx, ctx->datafile, format, file)
                         : status;
}

// Options about inputs, before the model is read

static int bind_sequence(ln_context *ctx, const char *name, const char *file)
{
    int n;
    ln_error err = {0};
    tl_tensor **tensors = ln_input_read_sequence(file, &n, &err);
    if (!tensors)
        return ln_fail_as(ctx, ln_error_status(&err), "%s", ln_error_text(&err));
    const int status = ln_context_bind_sequence(ctx, name, n, (const tl_tensor *const *)tensors);
    ln_input_free_sequence(tensors, n);
    return status;
}

// A file that can be read twice and has a shape sets the input's shape, and its value where the
// model computes shapes from it. Other files have no effect before the model is read, so commands
// that set no inputs reject them.
static int bind_input(ln_context *ctx, const cli_options *opt, const char *arg)
{
    char name[LN_MAX_NAME_LEN];
    ln_error err = {0};
    const char *named = cli_given_split(arg, name);
    const char *file = named ? named : arg;
    if (!cli_source_is_stream(file) && ln_input_is_sequence(file))
        return bind_sequence(ctx, named ? name : NULL, file);
    const int is_stream = cli_source_is_stream(file);
    tl_tensor *value = is_stream ? NULL : cli_npz_read_whole(file, &err);
    // LN_BAD_ARGUMENT: a file without a shape. Names of inputs and files may contain '='.
    const int is_damaged =
        !is_stream && ln_error_status(&err) != LN_BAD_ARGUMENT && !strchr(file, '=');
    if (!value && (opt->only_values || is_damaged))
        return ln_fail_as(ctx, ln_error_status(&err), "'-i %s': %s", arg,
                          is_stream ? "expected a file, not a stream" : ln_error_text(&err));
    const int status = value || !named ? ln_context_bind_input(ctx, named ? name : NULL, value) : 0;
    tl_tensor_free_data_too(value);
    return status;
}

// Within the limits of the context, which the arrays of a file may exceed. -1 with a reason in the
// context.
static int bind_inputs(ln_context *ctx, void *data)
{
    const cli_options *const opt = data;
    int status = opt->datafile ? ln_context_bind_file(ctx, opt->datafile) : 0;
    for (int i = 0; i < opt->shapes.n && !status; i++) {
        cli_shape s;
        status = cli_shape_read(&s, opt->shapes.items[i]) ||
                 (*s.sum       ? ln_context_bind_sum(ctx, s.name, s.sum)
                  : s.is_range ? ln_context_bind_range(ctx, s.name, s.ndim, s.min, s.dims)
                               : ln_context_bind_shape(ctx, s.name, s.ndim, s.dims));
    }
    for (int i = 0; i < opt->inputs.n && !status; i++)
        status = bind_input(ctx, opt, opt->inputs.items[i]);
    return status;
}

static int set_limit(ln_context *ctx, ln_limit limit, uint64_t value)
{
    return value && ln_context_set_limit(ctx, limit, value) ? cli_fail("%s", ln_context_error(ctx))
                                                            : 0;
}

void cli_model_refresh_random(ln_context *ctx, const cli_options *opt)
{
    if (opt->seed < 0)
        ln_context_refresh_random(ctx);
}

static int apply_settings(ln_context *ctx, const cli_options *opt)
{
    if (set_limit(ctx, LN_LIMIT_MEMORY, opt->limits.memory) ||
        set_limit(ctx, LN_LIMIT_TIME, cli_options_time_left(opt)) ||
        set_limit(ctx, LN_LIMIT_FOLD_MEMORY, opt->limits.constant) ||
        set_limit(ctx, LN_LIMIT_OPS, (uint64_t)opt->limits.operators))
        return -1;
    ln_context_set_seed(ctx, cli_options_seed(opt));
    // By the option, else the environment, which the library reads, else all cores.
    const char *env = getenv("LIGHTNET_NUM_THREADS");
    if ((opt->threads >= 0 || !env || !*env) &&
        ln_context_set_threads(ctx, opt->threads < 0 ? 0 : opt->threads))
        return cli_model_fail(ctx, opt);
    if (opt->tune && ln_context_set_tuning(ctx))
        return cli_model_fail(ctx, opt);
    if (opt->precision && ln_context_set_precision(ctx, opt->precision))
        return cli_fail("--precision: %s", ln_context_error(ctx));
    for (int i = 0; i < opt->disabled.n; i++)
        if (ln_context_disable_rule(ctx, opt->disabled.items[i])) {
            const char *error = ln_context_error(ctx), *mark = strrchr(error, '?');
            const int suggests_another = mark && !mark[1];
            return cli_fail("%s%s", error,
                            suggests_another ? "" : "; 'lightnet ops --rules' lists them");
        }
    for (int i = 0; i < opt->includes.n; i++)
        if (ln_context_allow_folder(ctx, opt->includes.items[i]))
            return cli_fail("--include %s", ln_context_error(ctx));
    if (opt->may_write && ln_context_allow_output(ctx, opt->may_write))
        return cli_fail("--allow-output %s", ln_context_error(ctx));
    return 0;
}

int cli_model_read_into(ln_context *ctx, const cli_options *opt)
{
    int failed = read_source(ctx, opt->args[0]);
    for (int i = 0; i < opt->fetch.n && !failed; i++)
        failed = ln_context_add_output(ctx, opt->fetch.items[i]);
    return failed;
}

ln_context *cli_model_create(const cli_options *opt)
{
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return cli_fail("%s", ln_last_error()), NULL;
    ctx->msg_func = cli_model_print_message;
    ctx->msg_data = (void *)opt;
    if (!apply_settings(ctx, opt)) {
        if (!ln_context_do(ctx, bind_inputs, (void *)opt))
            return ctx;
        cli_fail("%s", ln_context_error(ctx));
    }
    ln_context_free(ctx);
    return NULL;
}

ln_context *cli_model_read(const cli_options *opt)
{
    ln_context *ctx = cli_model_create(opt);
    if (!ctx || !cli_model_read_into(ctx, opt))
        return ctx;
    if (!cli_session_fail_open(opt))
        cli_model_fail_read(ctx, opt);
    ln_context_free(ctx);
    return NULL;
}

ln_context *cli_model_try(const cli_options *opt)
{
    ln_context *ctx = cli_model_create(opt);
    if (!ctx || !cli_model_read_into(ctx, opt))
        return ctx;
    ln_context_free(ctx);
    return NULL;
}

// A compiled model runs unchanged: options of compilation are rejected.
static int check_compiled(const ln_context *ctx, const cli_options *opt)
{
    if (opt->target && strcmp(opt->target, ctx->target))
        return cli_fail("%s: the model is compiled for '%s', not for '%s'", ctx->source,
                        ctx->target, opt->target);
    if (opt->disabled.n)
        return cli_fail("%s: the model is compiled already, too late for --disable-rule",
                        ctx->source);
    if (opt->tune)
        return cli_fail("%s: the model is compiled already, too late for --tune", ctx->source);
    if (opt->precision)
        return cli_fail("%s: the model is compiled already, too late for --precision", ctx->source);
    return 0;
}

// Blocked layouts and fast algorithms need fixed heights and widths.
static void warn_of_plain_kernels(const ln_context *ctx)
{
    char text[LN_MAXLINE];
    int n = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops)
        n += op->op_arg->isdynamic && ln_op_is(op, LN_OP_CONV2D_CPU);
    snprintf(text, sizeof(text),
             "%s: convolutions with open heights or widths use plain kernels (%d here), many times "
             "slower than those for fixed sizes; compile a program for each size with --shape",
             ctx->source, n);
    if (n)
        cli_msg_print("warning", text);
}

int cli_model_rewrite(ln_context *ctx, const cli_options *opt)
{
    if (ln_context_compile(ctx, cli_target(opt)))
        return cli_model_fail(ctx, opt);
    warn_of_plain_kernels(ctx);
    return 0;
}

int cli_model_compile(ln_context *ctx, const cli_options *opt)
{
    if (ctx->target)
        return check_compiled(ctx, opt);
    if (opt->run_only)
        return cli_fail("%s: the model is not compiled; run it without -r", ctx->source);
    return cli_model_rewrite(ctx, opt);
}

int cli_model_load(ln_context *ctx, const cli_options *opt)
{
    if (cli_model_compile(ctx, opt))
        return CLI_FAILED;
    return ln_context_load(ctx, opt->datafile) ? cli_model_fail(ctx, opt) : 0;
}

// Writing

// Files of -i are checked between reading and writing. Without them a graph need not be read.
static int convert_with_inputs(ln_context *ctx, const cli_options *opt, const char *format)
{
    if (read_source(ctx, opt->args[0]))
        return cli_model_fail_read(ctx, opt);
    if (!ctx->target && cli_model_check_given(ctx, opt))
        return CLI_FAILED;
    return ln_context_write(ctx, opt->datafile, format, opt->outfile) ? cli_model_fail(ctx, opt)
                                                                      : 0;
}

int cli_model_convert(ln_context *ctx, const cli_options *opt, const char *format)
{
    if (opt->inputs.n)
        return convert_with_inputs(ctx, opt, format);
    return convert_source(ctx, opt->args[0], format, opt->outfile) ? cli_model_fail_read(ctx, opt)
                                                                   : 0;
}

// The name of the weight file beside opt->outfile. -1 after a message.
static int name_weights(const cli_options *opt, char file[LN_MAXLINE])
{
    return ln_data_name_beside(file, LN_MAXLINE, opt->outfile, ".safetensors")
               ? cli_fail("%s", ln_last_error())
               : 0;
}

static int write_own_weights(ln_context *ctx, const cli_options *opt)
{
    char file[LN_MAXLINE];
    const int n = ln_data_num_own(ctx);
    if (!n)
        return 0;
    if (!cli_guard_is_file(opt->outfile)) {
        ln_warn(ctx,
                "%s: the model's weights (%d tensors) are not written; -o FILE.json writes them to "
                "FILE.safetensors",
                ctx->source, n);
        return 0;
    }
    if (name_weights(opt, file) || cli_guard_beside(opt, file))
        return CLI_FAILED;
    if (ln_data_save(ctx, file))
        return cli_fail("%s", ln_context_error(ctx));
    cli_fprint(stderr, "info: weights written to %s; run %s with -f %s\n", file, opt->outfile,
               file);
    return 0;
}

// Formats of compiled models by suffix.
static const cli_format compiled_formats[] = {
    {".json", "JSON", NULL},
    {".safetensors", "one file", "a compiled model"},
    {"", "JSON", NULL},
    {NULL, NULL, NULL},
};

int cli_writes_one_file(const cli_options *opt)
{
    return opt->outfile && !strcmp(cli_guard_suffix(opt->outfile), compiled_formats[1].suffix) &&
           cli_guard_is_file(opt->outfile);
}

int cli_model_check_outfile(const cli_options *opt)
{
    const cli_format *form = cli_guard_format(opt->outfile, compiled_formats, "");
    return form ? cli_guard_output(opt, opt->outfile, form->kind) : CLI_WRONG_USAGE;
}

// Writes the weights first: if that fails, an existing model file is unchanged.
static int write_both(ln_context *ctx, const cli_options *opt, const char *format)
{
    if (write_own_weights(ctx, opt))
        return CLI_FAILED;
    const int status = !format ? ln_context_print(ctx, opt->outfile)
                       : cli_il_is_format(format)
                           ? cli_il_write(ctx, opt->outfile) // the library does not write IL
                           : ln_context_write(ctx, opt->datafile, format, opt->outfile);
    return status ? cli_model_fail(ctx, opt) : 0;
}

int cli_model_write(ln_context *ctx, const cli_options *opt)
{
    if (cli_writes_one_file(opt))
        return ln_context_save(ctx, opt->datafile, opt->outfile) ? cli_model_fail(ctx, opt) : 0;
    return write_both(ctx, opt, NULL);
}

int cli_model_write_as(ln_context *ctx, const cli_options *opt, const char *format)
{
    if (read_source(ctx, opt->args[0]))
        return cli_model_fail_read(ctx, opt);
    // The library would reject it only when it writes the weights.
    if (ctx->target)
        return cli_fail("%s: the model is compiled, for '%s'; convert the original model",
                        ctx->source, ctx->target);
    return cli_model_check_given(ctx, opt) ? CLI_FAILED : write_both(ctx, opt, format);
}

// Running

int cli_model_is_constant(const ln_context *ctx)
{
    int n_at_load = 0;
    LN_FOREACH (const ln_op *, op, ctx->inputs ? NULL : ctx->ops) {
        if (op->run && op->op_arg->tensors_in && !op->op_arg->at_load)
            return 0;
        n_at_load += op->run && op->op_arg->at_load;
    }
    return n_at_load > 0;
}

void cli_model_warn_constant(const ln_context *ctx)
{
    if (cli_model_is_constant(ctx))
        ln_warn(ctx,
                "%s: the model names no inputs: all of it is computed when it is loaded, and runs "
                "compute nothing",
                ctx->source);
}

ln_context *cli_model_open(const cli_options *opt, int random)
{
    ln_context *ctx = cli_model_read(opt);
    if (ctx && (cli_model_load(ctx, opt) || cli_model_set_inputs(ctx, opt, random))) {
        ln_context_free(ctx);
        return NULL;
    }
    return ctx;
}

const tl_tensor *cli_model_tensor(ln_context *ctx, const cli_options *opt, const char *name)
{
    void *data = ln_context_get_data(ctx, name, NULL);
    if (!data)
        return cli_model_fail(ctx, opt), NULL;
    free(data);
    return ln_tensor_table_find(ctx->tensor_table, name)->tensor;
}

int cli_data_file(char *file, const char *dir, const char *what, int k, const char *ending)
{
    const int len = snprintf(file, LN_MAXLINE, "%s/%s_%d.%s", dir, what, k, ending);
    return len < LN_MAXLINE ? 0 : cli_fail("%.64s...: the name of the folder is too long", dir);
}

// Inputs and outputs as JSON

void cli_model_add_port(void *data, const char *name, const tl_tensor *info, const char *shape)
{
    cli_json *const json = data;
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", name);
    cli_json_text(json, "dtype", tl_dtype_name(info->dtype));
    cli_json_shape(json, "shape", info->ndim, info->dims);
    cli_json_text(json, "shape_text", shape);
    cli_json_close(json);
}

int cli_model_add_ports(cli_json *json, const ln_context *ctx, const cli_options *opt)
{
    cli_json_open(json, "inputs", '[');
    int status = ln_context_describe(ctx, cli_model_add_port, NULL, json);
    cli_json_close(json);
    cli_json_open(json, "outputs", '[');
    status = status || ln_context_describe(ctx, NULL, cli_model_add_port, json);
    cli_json_close(json);
    return status ? cli_model_fail(ctx, opt) : 0;
}
