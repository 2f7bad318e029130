// SPDX-License-Identifier: Apache-2.0
// Sets the inputs of a context from the files of -i, or to random data.

#include "input/cli_model_inputs.h"

#include <string.h>
#include <unistd.h>

#include "input/cli_given.h"
#include "input/cli_model_fail.h"
#include "input/cli_npz.h"
#include "input/cli_source.h"
#include "lightnet/ln_input.h"

static const tl_tensor *record(const ln_context *ctx, const char *name)
{
    return ln_tensor_table_find(ctx->tensor_table, name)->tensor;
}

int cli_model_set_input(ln_context *ctx, const cli_options *opt, const char *name, const char *arg,
                        int warns)
{
    char text[LN_MAXLINE];
    ln_error err;
    ln_error_clear(&err);
    // Unread inputs may have any shape; they are set if they can be.
    const int may_be_other =
        *arg && !ln_context_num_uses(ctx, name) &&
        !access(cli_source_is_stdin(arg) ? "/dev/stdin" : cli_npz_file(arg, text), R_OK);
    // Open sizes are those of the file from now on, or the max if the file has no shape.
    const int is_open = ln_tensor_table_find(ctx->tensor_table, name)->isdynamic;
    if (*arg && is_open && !may_be_other && !cli_source_is_stream(arg)) {
        tl_tensor *whole = cli_given_read_whole(opt, arg, &err);
        const int failed = whole && ln_context_set_shape(ctx, name, whole->ndim, whole->dims);
        tl_tensor_free_data_too(whole);
        if (failed)
            return cli_model_fail(ctx, opt);
        ln_error_clear(&err);
    }
    tl_tensor *tensor = cli_given_read(opt, arg, record(ctx, name), &err);
    if (!tensor && may_be_other)
        return 0;
    if (!tensor)
        return cli_fail("%s: input '%s': %s", ctx->source, name, ln_error_text(&err));
    if (warns && cli_given_has_nan(text, arg, name, tensor))
        ln_warn(ctx, "%s", text);
    const int status = ln_context_set_data(ctx, name, tensor->data);
    tl_tensor_free_data_too(tensor);
    return status ? cli_model_fail(ctx, opt) : 0;
}

static int set_random(ln_context *ctx, const char *name, uint64_t *state)
{
    const tl_tensor *like = record(ctx, name);
    tl_tensor *tensor = tl_tensor_zeros(like->ndim, like->dims, like->dtype);
    const int has_strings = like->dtype == TL_STRING; // empty ones
    if (!tensor || (!has_strings && tl_tensor_fill_uniform(tensor, 0, 1, state))) {
        tl_tensor_free_data_too(tensor);
        return cli_fail("%s: input '%s': %s", ctx->source, name, tl_last_error());
    }
    // Fails if shapes depend on the value: random data cannot replace it.
    const int status = ln_context_set_data(ctx, name, tensor->data);
    tl_tensor_free_data_too(tensor);
    return status ? cli_model_fail_missing(ctx, name, "") : 0;
}

int cli_model_fail_not_given(const char *source, const char *name, tl_dtype dtype,
                             const char *shape, const char *call)
{
    // Names of ONNX models may have characters that are special to a shell.
    const char *quote = strpbrk(name, " \t;&|<>()$`\"*?[]#~!{}\\") ? "'" : "";
    return cli_fail("%s: input '%s' (%s %s) is not given; use %s-i %s%s=FILE%s", source, name,
                    tl_dtype_name(dtype), shape, call, quote, name, quote);
}

int cli_model_fail_missing(const ln_context *ctx, const char *name, const char *call)
{
    const tl_tensor *t = record(ctx, name);
    char shape[LN_MAX_SHAPE];
    ln_sprint_shape(shape, sizeof(shape), t->ndim, t->dims);
    return cli_model_fail_not_given(ctx->source, name, t->dtype, shape, call);
}

// The names of the model's inputs, as many as fit.
static const char *list_inputs(const ln_context *ctx, char text[LN_MAXLINE])
{
    size_t len = 0;
    snprintf(text, LN_MAXLINE, "none");
    LN_FOREACH (const char *, name, ctx->inputs)
        if (len < LN_MAXLINE)
            len += (size_t)snprintf(text + len, LN_MAXLINE - len, "%s%s", len ? ", " : "", name);
    return text;
}

// Inputs of the model's file, which may be several tensors

// The input of that name that is not a tensor. -1: none.
static int find_compound(const ln_context *ctx, const char *name, ln_value_info *info)
{
    ln_value_walk walk = ln_context_walk_values(ctx, 0);
    while (!ln_value_walk_next(&walk, info))
        if (info->form != LN_FORM_TENSOR && !strcmp(info->name, name))
            return 0;
    return -1;
}

// The name of tensor `i` of the value.
static const char *tensor_of(const ln_list *names, const ln_value_info *info, int i)
{
    for (i += info->first; i > 0; i--)
        names = names->next;
    return names->data;
}

// Sets the tensor from `src` (takes it), which was read from `file`.
static int set_tensor(ln_context *ctx, const cli_options *opt, const char *name, const char *file,
                      tl_tensor *src)
{
    char text[LN_MAXLINE];
    ln_error err = {0};
    tl_tensor *tensor = ln_input_fit(file, src, record(ctx, name), &err);
    if (!tensor)
        return cli_fail("%s: input '%s': %s", ctx->source, name, ln_error_text(&err));
    if (cli_given_has_nan(text, file, name, tensor))
        ln_warn(ctx, "%s", text);
    const int status = ln_context_set_data(ctx, name, tensor->data);
    tl_tensor_free_data_too(tensor);
    return status ? cli_model_fail(ctx, opt) : 0;
}

static int set_compound(ln_context *ctx, const cli_options *opt, const ln_value_info *info,
                        const char *file)
{
    int n, status = 0;
    ln_error err = {0};
    if (info->form == LN_FORM_OPTIONAL && !ln_input_is_sequence(file))
        return info->len < 0
                   ? cli_fail("%s: '%s' has no shape; give that of input '%s' with --shape",
                              ctx->source, file, info->name)
                   : cli_model_set_input(ctx, opt, info->name, file, 1);
    tl_tensor **tensors = cli_given_read_sequence(opt, file, &n, &err);
    if (!tensors)
        return cli_fail("%s: input '%s': %s", ctx->source, info->name, ln_error_text(&err));
    if ((n < 0 ? 0 : n) != (info->len < 0 ? 0 : info->len))
        status =
            cli_fail("%s: input '%s': %s: the sequence has %d tensors, expected %d", ctx->source,
                     info->name, file, n < 0 ? 0 : n, info->len < 0 ? 0 : info->len);
    for (int i = 0; i < n && !status; i++) {
        status = set_tensor(ctx, opt, tensor_of(ctx->inputs, info, i), file, tensors[i]);
        tensors[i] = NULL;
    }
    ln_input_free_sequence(tensors, n);
    return status;
}

// -i may also name a tensor whose producer has no inputs.
static int check_name(const ln_context *ctx, const cli_options *opt, int i, const char *name)
{
    char text[LN_MAXLINE];
    ln_value_info info;
    const ln_op *producer = ln_context_creater(ctx, name);
    if (find_compound(ctx, name, &info) && (!producer || producer->op_arg->tensors_in))
        return cli_given_fail_unknown(ctx->source, opt->inputs.items[i], name,
                                      list_inputs(ctx, text));
    return cli_given_is_named(opt, i, name)
               ? cli_given_fail_duplicate(ctx->source, opt->inputs.items[i], name)
               : 0;
}

static int check_surplus(const ln_context *ctx, const cli_options *opt, int i)
{
    const char *surplus = cli_given_next(opt, &i);
    return surplus ? cli_given_fail_surplus(ctx->source, surplus, ln_list_length(ctx->inputs)) : 0;
}

// Reads the file as a run would. Unread inputs may have any shape, open sizes are those of the
// file.
static int check_file(const ln_context *ctx, const cli_options *opt, const char *name,
                      const char *file)
{
    ln_error err = {0};
    ln_value_info info;
    if (!find_compound(ctx, name, &info) || !ln_context_num_uses(ctx, name) ||
        ln_tensor_table_find(ctx->tensor_table, name)->isdynamic)
        return 0;
    tl_tensor *t = cli_given_read(opt, file, record(ctx, name), &err);
    tl_tensor_free_data_too(t);
    return t ? 0 : cli_fail("%s: input '%s': %s", ctx->source, name, ln_error_text(&err));
}

int cli_model_check_given(const ln_context *ctx, const cli_options *opt)
{
    char name[LN_MAX_NAME_LEN];
    ln_value_info info;
    int status = 0, next = 0;
    if (ctx->target && opt->inputs.n)
        return cli_fail("%s: the model is compiled already, too late for -i", ctx->source);
    for (int i = 0; i < opt->inputs.n && !status; i++) {
        const char *file = cli_given_split(opt->inputs.items[i], name);
        status = file && (check_name(ctx, opt, i, name) || check_file(ctx, opt, name, file));
    }
    ln_value_walk walk = ln_context_walk_values(ctx, 0);
    while (!status && next < opt->inputs.n && !ln_value_walk_next(&walk, &info)) {
        const int is_named = cli_given_is_named(opt, opt->inputs.n, info.name);
        const char *file = is_named ? NULL : cli_given_next(opt, &next);
        status = file ? check_file(ctx, opt, info.name, file) : 0;
    }
    return status ? CLI_FAILED : check_surplus(ctx, opt, next);
}

static int set_named(ln_context *ctx, const cli_options *opt)
{
    char name[LN_MAX_NAME_LEN];
    for (int i = 0; i < opt->inputs.n; i++) {
        const char *file = cli_given_split(opt->inputs.items[i], name);
        ln_value_info info;
        if (file && (check_name(ctx, opt, i, name) ||
                     (find_compound(ctx, name, &info) ? cli_model_set_input(ctx, opt, name, file, 1)
                                                      : set_compound(ctx, opt, &info, file))))
            return CLI_FAILED;
    }
    return 0;
}

static int set_random_or_fail(ln_context *ctx, const char *name, int random, uint64_t *state)
{
    return random ? set_random(ctx, name, state) : cli_model_fail_missing(ctx, name, "");
}

// Sets the tensors of a sequence or an optional value that is not given by its name: from the next
// file, or those that are not given by their own names to random data. An optional value without a
// file is absent.
static int set_unnamed_compound(ln_context *ctx, const cli_options *opt, const ln_value_info *info,
                                int *i, int random, uint64_t *state)
{
    const char *first = info->len > 0 ? tensor_of(ctx->inputs, info, 0) : NULL;
    const int is_by_tensor = first && cli_given_is_named(opt, opt->inputs.n, first);
    const char *file = is_by_tensor ? NULL : cli_given_next(opt, i);
    if (file)
        return set_compound(ctx, opt, info, file);
    for (int k = 0; k < info->len; k++) {
        const char *name = tensor_of(ctx->inputs, info, k);
        if (!cli_given_is_named(opt, opt->inputs.n, name) &&
            set_random_or_fail(ctx, name, random, state))
            return CLI_FAILED;
    }
    return 0;
}

static int set_unnamed(ln_context *ctx, const cli_options *opt, int random)
{
    uint64_t state = cli_options_seed(opt);
    int i = 0;
    ln_value_walk walk = ln_context_walk_values(ctx, 0);
    ln_value_info info;
    while (!ln_value_walk_next(&walk, &info)) {
        if (cli_given_is_named(opt, opt->inputs.n, info.name))
            continue;
        const int is_tensor = info.form == LN_FORM_TENSOR;
        const char *file = is_tensor ? cli_given_next(opt, &i) : NULL;
        const int status = !is_tensor ? set_unnamed_compound(ctx, opt, &info, &i, random, &state)
                           : file     ? cli_model_set_input(ctx, opt, info.name, file, 1)
                                      : set_random_or_fail(ctx, info.name, random, &state);
        if (status)
            return status;
    }
    return check_surplus(ctx, opt, i);
}

int cli_model_set_inputs(ln_context *ctx, const cli_options *opt, int random)
{
    return set_named(ctx, opt) || set_unnamed(ctx, opt, random) ? CLI_FAILED : 0;
}
