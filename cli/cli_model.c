// SPDX-License-Identifier: Apache-2.0
// What most commands begin with: a model read, compiled, loaded and given its inputs, as the
// options say.

#include "cli_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cli_model_fail(const ln_context *ctx)
{
    return cli_fail("%s", ln_context_error(ctx));
}

static void print_message(void *data, ln_msg_level level, const char *text)
{
    const cli_options *opt = data;
    if (level == LN_MSG_DEBUG ? opt->debug : !opt->quiet)
        fprintf(stderr, "%s: %s\n", level == LN_MSG_DEBUG ? "debug" : "warning", text);
}

static int read_source(ln_context *ctx, const char *source)
{
    if (strcmp(source, "-"))
        return ln_context_init(ctx, source);
    size_t len;
    char *text = ln_read_stream(stdin, "standard input", &len);
    if (!text)
        return ln_fail_last(ctx);
    const int status = ln_context_init_text(ctx, "standard input", text, len);
    ln_free(text);
    return status;
}

static int apply_settings(ln_context *ctx, const cli_options *opt)
{
    ln_context_set_seed(ctx, (uint64_t)opt->seed);
    if (ln_context_set_threads(ctx, opt->threads))
        return -1;
    for (int i = 0; i < opt->disabled.n; i++)
        if (ln_context_disable_rule(ctx, opt->disabled.items[i]))
            return -1;
    return 0;
}

ln_context *cli_model_read(const cli_options *opt)
{
    ln_context *ctx = ln_context_create();
    if (!ctx) {
        cli_fail("%s", ln_last_error());
        return NULL;
    }
    ctx->msg_func = print_message;
    ctx->msg_data = (void *)opt;
    int status = apply_settings(ctx, opt) || read_source(ctx, opt->args[0]);
    for (int i = 0; i < opt->fetch.n && !status; i++)
        status = ln_context_add_output(ctx, opt->fetch.items[i]);
    if (!status)
        return ctx;
    cli_model_fail(ctx);
    ln_context_free(ctx);
    return NULL;
}

int cli_model_load(ln_context *ctx, const cli_options *opt)
{
    if (opt->run_only && !ctx->target)
        return cli_fail("%s: the model is not compiled; run it without --run", opt->args[0]);
    if (!opt->run_only && ln_context_compile(ctx, opt->target))
        return cli_model_fail(ctx);
    return ln_context_load(ctx, opt->datafile) ? cli_model_fail(ctx) : 0;
}

/* Inputs */

// The numbers of "127" or "123.7,116.8,103.9", one for each channel. Returns how many, or -1.
static int read_numbers(const char *text, double numbers[3])
{
    int n = 0;
    char *end = (char *)text;
    do {
        const char *begin = end + (n > 0);
        numbers[n] = strtod(begin, &end);
        if (end == begin)
            return -1;
    } while (++n < 3 && *end == ',');
    return *end ? -1 : n;
}

static int per_channel(const char *option, const char *text, double dflt, double values[3])
{
    values[0] = dflt;
    const int n = text ? read_numbers(text, values) : 1;
    if (n != 1 && n != 3)
        return cli_usage("--%s is '%s', expected one number or three, separated by commas", option,
                         text);
    for (int i = n; i < 3; i++)
        values[i] = values[0];
    return 0;
}

static int image_format(const cli_options *opt, ln_image_format *format)
{
    memset(format, 0, sizeof(*format));
    format->bgr = opt->bgr;
    format->nhwc = !strcmp(opt->layout, "nhwc");
    if (!format->nhwc && strcmp(opt->layout, "nchw"))
        return cli_usage("--layout is '%s', expected nchw or nhwc", opt->layout);
    if (per_channel("mean", opt->mean, 0, format->mean))
        return CLI_WRONG_USAGE;
    return per_channel("scale", opt->scale, 1, format->scale);
}

static int set_from_file(ln_context *ctx, const char *name, const char *file,
                         const ln_image_format *format)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
    ln_error err;
    ln_error_clear(&err);
    tl_tensor *tensor = ln_input_read(file, te->tensor, format, &err);
    if (!tensor)
        return cli_fail("%s: input '%s': %s", ctx->source, name, ln_error_text(&err));
    const int status = ln_context_set_data(ctx, name, tensor->data);
    tl_tensor_free_data_too(tensor);
    return status ? cli_model_fail(ctx) : 0;
}

// "NAME=FILE" with the name of a tensor splits; anything else is a file for the next input in
// order.
static const char *split_name(const ln_context *ctx, const char *arg, const char **file)
{
    const char *equals = strchr(arg, '=');
    char name[LN_MAX_NAME_LEN];
    if (!equals || (size_t)(equals - arg) >= sizeof(name))
        return NULL;
    memcpy(name, arg, (size_t)(equals - arg));
    name[equals - arg] = '\0';
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
    *file = equals + 1;
    return te ? te->name : NULL;
}

static int set_random(ln_context *ctx, const char *name, uint64_t *state)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
    tl_tensor *tensor = tl_tensor_zeros(te->tensor->ndim, te->tensor->dims, te->tensor->dtype);
    if (!tensor || tl_tensor_fill_uniform(tensor, 0, 1, state)) {
        tl_tensor_free_data_too(tensor);
        return cli_fail("%s", tl_last_error());
    }
    const int status = ln_context_set_data(ctx, name, tensor->data);
    tl_tensor_free_data_too(tensor);
    return status ? cli_model_fail(ctx) : 0;
}

static int fail_missing(const ln_context *ctx, const char *name)
{
    const tl_tensor *t = ln_tensor_table_find(ctx->tensor_table, name)->tensor;
    char shape[LN_MAXLINE];
    return cli_fail("%s: input '%s' (%s %s) is not given; use -i %s=FILE", ctx->source, name,
                    tl_dtype_name(t->dtype),
                    ln_sprint_shape(shape, sizeof(shape), t->ndim, t->dims), name);
}

static int is_named(const ln_context *ctx, const cli_options *opt, const char *input)
{
    for (int i = 0; i < opt->inputs.n; i++) {
        const char *file;
        const char *name = split_name(ctx, opt->inputs.items[i], &file);
        if (name && !strcmp(name, input))
            return 1;
    }
    return 0;
}

static int set_named(ln_context *ctx, const cli_options *opt, const ln_image_format *format)
{
    for (int i = 0; i < opt->inputs.n; i++) {
        const char *file;
        const char *name = split_name(ctx, opt->inputs.items[i], &file);
        if (name && set_from_file(ctx, name, file, format))
            return CLI_FAILED;
    }
    return 0;
}

// The next -i FILE without a name, from `*i`; NULL when there is none.
static const char *next_unnamed(const ln_context *ctx, const cli_options *opt, int *i)
{
    const char *file;
    while (*i < opt->inputs.n) {
        const char *arg = opt->inputs.items[(*i)++];
        if (!split_name(ctx, arg, &file))
            return arg;
    }
    return NULL;
}

int cli_model_set_inputs(ln_context *ctx, const cli_options *opt, int random)
{
    ln_image_format format;
    uint64_t state = (uint64_t)opt->seed;
    int i = 0;
    const char *input;
    int status = image_format(opt, &format);
    if (!status)
        status = set_named(ctx, opt, &format);
    LN_LIST_FOREACH(input, ctx->inputs)
    {
        if (status || is_named(ctx, opt, input))
            continue;
        const char *file = next_unnamed(ctx, opt, &i);
        if (file)
            status = set_from_file(ctx, input, file, &format);
        else
            status = random ? set_random(ctx, input, &state) : fail_missing(ctx, input);
    }
    const char *surplus = status ? NULL : next_unnamed(ctx, opt, &i);
    if (surplus)
        return cli_fail("%s: '%s' is one input file too many: the model has %d inputs", ctx->source,
                        surplus, ln_list_length(ctx->inputs));
    return status;
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

const tl_tensor *cli_model_tensor(ln_context *ctx, const char *name)
{
    void *data = ln_context_get_data(ctx, name, NULL);
    if (!data) {
        cli_model_fail(ctx);
        return NULL;
    }
    free(data);
    return ln_tensor_table_find(ctx->tensor_table, name)->tensor;
}

uint64_t cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
