// SPDX-License-Identifier: Apache-2.0
// The input that the files of run --each are read into, and how many of them are one run.

#include "command/cli_each_input.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input/cli_given.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_model_inputs.h"
#include "input/cli_session.h"
#include "input/cli_source.h"
#include "lightnet/ln_input.h"
#include "lightnet/ln_util.h"
#include "output/cli_msg.h"

// The batch

static int fail_batch(const cli_each_input *in)
{
    char shape[LN_MAXLINE];
    return cli_fail("%s: --batch is %d, but input '%s' has shape %s",
                    cli_source_name(in->opt->shared.args[0]), in->opt->batch, in->name,
                    cli_session_input_shape(in->model, in->index, shape));
}

// The last batch may have fewer files, but no fewer rows than the model allows.
static int set_batch(cli_each_input *in)
{
    const int batch = in->opt->batch, ndim = in->info->ndim;
    int min = 1, max = INT_MAX;
    if (!ndim || (ndim > 0 && ln_model_input_bounds(in->model, in->index, 0, &min, &max)))
        return fail_batch(in);
    if (batch > max || batch < min)
        return fail_batch(in);
    in->is_batched = 1;
    in->min_rows = min > 1 ? min : 1;
    return 0;
}

int cli_each_input_find(cli_each_input *in, const cli_run_options *opt, const ln_model *model,
                        int n)
{
    const int n_inputs = ln_model_num_inputs(model);
    const char *const source = cli_source_name(opt->shared.args[0]);
    int i = 0;
    while (i < n_inputs &&
           cli_given_is_named(&opt->shared, opt->shared.inputs.n, ln_model_input_name(model, i)))
        i++;
    if (!n_inputs)
        return cli_fail("%s: --each needs an input, and the model has none", source);
    if (i == n_inputs)
        return cli_fail("%s: all inputs have files by -i, and none is left for --each", source);
    if (!cli_session_has_types(model))
        return cli_fail("%s: an input has an unsupported type", source);
    *in = (cli_each_input){.opt = opt, .model = model, .index = i, .max = 1, .min_rows = 1};
    in->name = ln_model_input_name(model, i);
    in->info = ln_model_input_info(model, i);
    if (!opt->batch)
        return 0;
    in->max = opt->batch < n ? opt->batch : n;
    return set_batch(in);
}

// Reading

// The shape of a file.
typedef struct file_shape {
    int dims[LN_MAXDIM];
    int ndim;
    int n_open; // sizes; unknown dimensions count as one
} file_shape;

static file_shape shape_of_file(const cli_each_input *in)
{
    file_shape s = {.ndim = in->info->ndim, .n_open = in->info->ndim < 0};
    for (int axis = 0; axis < s.ndim; axis++) {
        s.dims[axis] = axis == 0 && in->is_batched ? 1 : in->info->dims[axis];
        s.n_open += s.dims[axis] < 0;
    }
    return s;
}

static tl_tensor *read_as(const cli_each_input *in, const char *file, file_shape *s, ln_error *err)
{
    tl_tensor *like = tl_tensor_create(NULL, s->ndim, s->dims, in->info->dtype);
    tl_tensor *t = like ? cli_given_read(&in->opt->shared, file, like, err) : NULL;
    if (!like)
        ln_error_set(err, "%s: %s", file, tl_last_error());
    tl_tensor_free(like);
    return t;
}

// The array in the file has its shape.
static tl_tensor *read_whole(const cli_each_input *in, const char *file, ln_error *err)
{
    tl_tensor *t = cli_given_read_as(&in->opt->shared, file, in->info->dtype, err);
    char text[LN_MAX_SHAPE];
    if (!t || !in->is_batched || (t->ndim && t->dims[0] == 1))
        return t;
    ln_error_set(err,
                 "%s: the array has shape %s, expected size 1 on the first axis, as --batch is "
                 "given",
                 file, ln_sprint_shape(text, sizeof(text), t->ndim, t->dims));
    tl_tensor_free_data_too(t);
    return NULL;
}

// Images and raw files have no shape: one row, if only the first axis is open.
static tl_tensor *read_shapeless(const cli_each_input *in, const char *file, file_shape *s,
                                 ln_error *err)
{
    char option[LN_MAXLINE];
    ln_error_clear(err);
    if (s->n_open == 1 && s->ndim > 0 && s->dims[0] < 0) {
        s->dims[0] = 1;
        return read_as(in, file, s, err);
    }
    ln_error_set(err, "%s: the file has no shape; give the open sizes of input '%s', as by %s",
                 file, in->name, cli_session_shape_option(in->model, in->index, option));
    return NULL;
}

tl_tensor *cli_each_input_read(const cli_each_input *in, const char *file, ln_error *err)
{
    file_shape s = shape_of_file(in);
    if (!s.n_open)
        return read_as(in, file, &s, err);
    tl_tensor *t = read_whole(in, file, err);
    return t || ln_error_status(err) != LN_BAD_ARGUMENT ? t : read_shapeless(in, file, &s, err);
}

// Other inputs

static int set_other(const cli_each_input *each, ln_session *session, int i, const char *file)
{
    char text[LN_MAXLINE];
    ln_error err;
    const cli_each_input in = {.opt = each->opt,
                               .model = each->model,
                               .index = i,
                               .name = ln_model_input_name(each->model, i),
                               .info = ln_model_input_info(each->model, i)};
    ln_error_clear(&err);
    tl_tensor *t = cli_each_input_read(&in, file, &err);
    if (!t)
        return cli_fail("%s: input '%s': %s", cli_source_name(in.opt->shared.args[0]), in.name,
                        ln_error_text(&err));
    if (cli_given_has_nan(text, file, in.name, t))
        cli_model_print_message((void *)in.opt, LN_MSG_WARN, text);
    const ln_status status =
        ln_session_set_input(session, in.name, t->dtype, t->ndim, t->dims, t->data);
    tl_tensor_free_data_too(t);
    return status ? cli_session_fail(session, &in.opt->shared) : 0;
}

static int fail_named(const cli_each_input *each, const char *arg, const char *name, int is_input)
{
    char list[LN_MAXLINE];
    const char *const source = cli_source_name(each->opt->shared.args[0]);
    return is_input ? cli_given_fail_duplicate(source, arg, name)
                    : cli_given_fail_unknown(source, arg, name,
                                             cli_session_list_inputs(each->model, list));
}

// Those that -i names. `is_set`: for each input.
static int set_named(const cli_each_input *each, ln_session *session, char *is_set)
{
    char name[LN_MAX_NAME_LEN];
    int status = 0;
    for (int k = 0; k < each->opt->shared.inputs.n && !status; k++) {
        const char *arg = each->opt->shared.inputs.items[k], *file = cli_given_split(arg, name);
        const int i = file ? ln_model_input_index(each->model, name) : 0;
        if (!file)
            continue;
        status = i < 0 || is_set[i] ? fail_named(each, arg, name, i >= 0)
                                    : set_other(each, session, i, file);
        if (!status)
            is_set[i] = 1;
    }
    return status;
}

static int set_unnamed(const cli_each_input *each, ln_session *session, const char *is_set)
{
    char shape[LN_MAXLINE];
    const ln_model *model = each->model;
    const char *const source = cli_source_name(each->opt->shared.args[0]);
    int k = 0, status = 0;
    for (int i = 0; i < ln_model_num_inputs(model) && !status; i++) {
        if (is_set[i] || i == each->index)
            continue;
        const char *file = cli_given_next(&each->opt->shared, &k);
        status = file ? set_other(each, session, i, file)
                      : cli_model_fail_not_given(source, ln_model_input_name(model, i),
                                                 ln_model_input_info(model, i)->dtype,
                                                 cli_session_input_shape(model, i, shape), "");
    }
    const char *surplus = status ? NULL : cli_given_next(&each->opt->shared, &k);
    return surplus ? cli_fail("%s: unexpected '-i %s': the files of --each are input '%s'", source,
                              surplus, each->name)
                   : status;
}

int cli_each_input_set_others(const cli_each_input *each, ln_session *session)
{
    char *is_set = calloc((size_t)ln_model_num_inputs(each->model), 1);
    int status = is_set ? 0 : cli_fail_memory();
    if (!status)
        status = set_named(each, session, is_set);
    if (!status)
        status = set_unnamed(each, session, is_set);
    free(is_set);
    return status;
}
