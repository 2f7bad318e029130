// SPDX-License-Identifier: Apache-2.0
// lightnet compile: write the compiled model, with a program for each set of shapes.

#include <stdlib.h>

#include "cli.h"
#include "cli_model.h"
#include "cli_shape_sets.h"

// NULL after a message.
static ln_context *compile(const cli_options *opt, int has_others)
{
    ln_context *ctx = cli_model_read(opt);
    if (!ctx)
        return NULL;
    ctx->many_shapes = has_others;
    if (!cli_model_rewrite(ctx, opt))
        return ctx;
    ln_context_free(ctx);
    return NULL;
}

static int compile_one(const cli_options *opt)
{
    ln_context *ctx = compile(opt, 0);
    const int status = ctx ? cli_model_write(ctx, opt) : CLI_FAILED;
    ln_context_free(ctx);
    return status;
}

static int compile_all(const cli_options *opt, const cli_shape_sets *sets, ln_context **programs)
{
    for (int i = 0; i < sets->n; i++) {
        cli_options one = *opt;
        one.shapes = sets->of[i];
        programs[i] = compile(&one, 1);
        if (!programs[i])
            return CLI_FAILED;
        programs[i]->msg_data = (void *)opt;
    }
    return ln_context_save_all(programs, sets->n, opt->datafile, opt->outfile)
               ? cli_model_fail(programs[0], opt)
               : CLI_OK;
}

static int compile_sets(const cli_options *opt, const cli_shape_sets *sets)
{
    if (sets->n == 1)
        return compile_one(opt);
    if (!cli_writes_one_file(opt))
        return cli_usage("--shape gives %d sets of shapes, and a JSON file has one program; write "
                         "-o FILE.safetensors",
                         sets->n);
    ln_context **programs = calloc((size_t)sets->n, sizeof(*programs));
    const int status = programs ? compile_all(opt, sets, programs) : cli_fail_memory();
    for (int i = 0; i < sets->n && programs; i++)
        ln_context_free(programs[i]);
    free(programs);
    return status;
}

int cli_compile(const cli_options *opt)
{
    cli_shape_sets sets;
    if (!opt->outfile)
        return cli_usage("compile needs -o FILE");
    int status = cli_model_check_outfile(opt);
    if (status)
        return status;
    status = cli_shape_sets_find(&sets, &opt->shapes);
    if (!status)
        status = compile_sets(opt, &sets);
    cli_shape_sets_free(&sets);
    return status;
}
