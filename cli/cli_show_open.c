// SPDX-License-Identifier: Apache-2.0
// What lightnet show prints of a model whose sizes are open.

#include "cli_show_open.h"

#include <stdio.h>

#include "cli_session.h"
#include "cli_source.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"

// Whether an input has an open size.
static int is_open(const ln_model *model)
{
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        if (cli_session_is_open(ln_model_input_info(model, i)))
            return 1;
    return 0;
}

static void print_port(const char *title, const char *name, const tl_tensor *info,
                       const char *shape)
{
    printf("%-10s %s %s %s\n", title, name, tl_dtype_name(info->dtype), shape);
}

// Those of a compiled model that has several. Returns how many there are.
static int print_programs(const ln_model *model)
{
    int n = 0;
    char key[32] = "program.1";
    const char *shapes;
    while ((shapes = ln_model_metadata(model, key))) {
        printf("%-10s %s\n", "program", shapes);
        snprintf(key, sizeof(key), "program.%d", ++n + 1);
    }
    return n;
}

static void print_interface(const ln_model *model, const cli_options *opt)
{
    char text[LN_MAXLINE];
    printf("%-10s %s, %s, whose sizes are open\n", "model", cli_source_name(opt->args[0]),
           ln_model_metadata(model, "format"));
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        print_port("input", ln_model_input_name(model, i), ln_model_input_info(model, i),
                   cli_session_input_shape(model, i, text));
    for (int i = 0; i < ln_model_num_outputs(model); i++)
        print_port("output", ln_model_output_name(model, i), ln_model_output_info(model, i),
                   cli_session_output_shape(model, i, text));
    if (print_programs(model)) {
        printf("%-10s are those of a program; choose one by --shape\n", "operators");
        return;
    }
    printf("%-10s depend on the sizes; give them, as by %s\n", "operators",
           cli_session_shape_options(model, text));
}

int cli_show_open(const cli_options *opt)
{
    // A stream was read already.
    ln_model *model = cli_source_is_stream(opt->args[0]) ? NULL : cli_session_try(opt);
    const int has_open = model && cli_session_has_types(model) && is_open(model);
    if (has_open)
        print_interface(model, opt);
    ln_model_free(model);
    return has_open;
}
