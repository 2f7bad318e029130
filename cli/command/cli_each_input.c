// SPDX-License-Identifier: Apache-2.0
// The input that run --each reads files into, and the number of files per run.

#include "command/cli_each_input.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input/cli_beside.h"
#include "input/cli_given.h"
#include "input/cli_model.h"
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
           (cli_given_is_named(&opt->shared, opt->shared.inputs.n, ln_model_input_name(model, i)) ||
            cli_beside_is_known(&opt->shared, model, i)))
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

// The input's type and shape for one file, with dimensions in `dims`.
static tl_tensor shape_of_file(const cli_each_input *in, int dims[LN_MAXDIM])
{
    tl_tensor shape = *in->info;
    shape.dims = dims;
    for (int axis = 0; axis < shape.ndim; axis++)
        dims[axis] = axis == 0 && in->is_batched ? 1 : in->info->dims[axis];
    return shape;
}

static tl_tensor *read_closed(const cli_each_input *in, const tl_tensor *shape, const char *file,
                              ln_error *err)
{
    tl_tensor *like = tl_tensor_create(NULL, shape->ndim, shape->dims, shape->dtype);
    tl_tensor *t = like ? cli_given_read(&in->opt->shared, file, like, err) : NULL;
    if (!like)
        ln_error_set(err, "%s: %s", file, tl_last_error());
    tl_tensor_free(like);
    return t;
}

static tl_tensor *read_open(const cli_each_input *in, const tl_tensor *shape, const char *file,
                            ln_error *err)
{
    char text[LN_MAX_SHAPE];
    tl_tensor *t = cli_session_read_open(in->model, &in->opt->shared, in->index, shape, file, err);
    if (!t || !in->is_batched || (t->ndim && t->dims[0] == 1))
        return t;
    ln_error_set(err,
                 "%s: the array has shape %s, expected size 1 on the first axis, as --batch is "
                 "given",
                 file, ln_sprint_shape(text, sizeof(text), t->ndim, t->dims));
    tl_tensor_free_data_too(t);
    return NULL;
}

tl_tensor *cli_each_input_read(const cli_each_input *in, const char *file, ln_error *err)
{
    int dims[LN_MAXDIM];
    const tl_tensor shape = shape_of_file(in, dims);
    return (cli_session_is_open(&shape) ? read_open : read_closed)(in, &shape, file, err);
}

// Other inputs

static tl_tensor *read_other(void *data, int i, const char *file)
{
    const cli_each_input *const each = data;
    ln_error err = {0};
    const cli_each_input in = {.opt = each->opt,
                               .model = each->model,
                               .index = i,
                               .name = ln_model_input_name(each->model, i),
                               .info = ln_model_input_info(each->model, i)};
    tl_tensor *t = cli_each_input_read(&in, file, &err);
    if (!t)
        cli_fail("%s: input '%s': %s", cli_source_name(in.opt->shared.args[0]), in.name,
                 ln_error_text(&err));
    return t;
}

int cli_each_input_set_others(const cli_each_input *each, ln_session *session)
{
    return cli_session_set_inputs(&(cli_session_inputs){.opt = &each->opt->shared,
                                                        .model = each->model,
                                                        .session = session,
                                                        .read = read_other,
                                                        .data = (void *)each,
                                                        .each = each->index});
}
