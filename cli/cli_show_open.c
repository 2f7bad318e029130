// SPDX-License-Identifier: Apache-2.0
// What lightnet show prints of a model whose sizes are open.

#include "cli_show_open.h"

#include <stdio.h>

#include "cli_session.h"
#include "cli_source.h"

typedef const char *(*dim_name_func)(const ln_model *, int, int);

static int is_open(const tl_tensor *info)
{
    int n = info->ndim < 0;
    for (int i = 0; i < info->ndim; i++)
        n += info->dims[i] < 0;
    return n > 0;
}

// The first input with an open size; -1: none.
static int find_open(const ln_model *model)
{
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        if (is_open(ln_model_input_info(model, i)))
            return i;
    return -1;
}

static void print_dim(int dim, const char *name)
{
    if (dim >= 0)
        printf("%d", dim);
    else
        printf("%s", name ? name : "?");
}

static void print_port(const ln_model *model, int i, const char *title, const char *name,
                       const tl_tensor *info, dim_name_func dim_name)
{
    printf("%-10s %s %s ", title, name, tl_dtype_name(info->dtype));
    if (info->ndim < 0) {
        printf("of any shape\n");
        return;
    }
    printf("[");
    for (int axis = 0; axis < info->ndim; axis++) {
        printf(axis ? ", " : "");
        print_dim(info->dims[axis], dim_name(model, i, axis));
    }
    printf("]\n");
}

// How --shape would close the sizes of an input.
static void print_example(const char *name, const tl_tensor *info)
{
    printf("%-10s depend on the sizes; give them, as by --shape '%s=", "operators", name);
    for (int axis = 0; axis < info->ndim; axis++)
        printf("%s%d", axis ? "x" : "", info->dims[axis] < 0 ? 1 : info->dims[axis]);
    printf("%s'\n", info->ndim < 0 ? "1" : "");
}

static void print_interface(const ln_model *model, const cli_options *opt, int open_input)
{
    printf("%-10s %s, %s, whose sizes are open\n", "model", cli_source_name(opt->args[0]),
           ln_model_metadata(model, "format"));
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        print_port(model, i, "input", ln_model_input_name(model, i), ln_model_input_info(model, i),
                   ln_model_input_dim_name);
    for (int i = 0; i < ln_model_num_outputs(model); i++)
        print_port(model, i, "output", ln_model_output_name(model, i),
                   ln_model_output_info(model, i), ln_model_output_dim_name);
    print_example(ln_model_input_name(model, open_input), ln_model_input_info(model, open_input));
}

int cli_show_open(const cli_options *opt)
{
    // A stream was read already.
    ln_model *model = cli_source_is_stream(opt->args[0]) ? NULL : cli_session_try(opt);
    const int open_input = model ? find_open(model) : -1;
    if (open_input >= 0)
        print_interface(model, opt, open_input);
    ln_model_free(model);
    return open_input >= 0;
}
