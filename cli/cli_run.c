// SPDX-License-Identifier: Apache-2.0
// lightnet run, and the short form: compile, run, and hand out the outputs.

#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "cli_model.h"
#include "cli_output.h"
#include "cli_run_session.h"

// A model that has the key "inputs", be it empty, means what it says. Compiling writes it too.
static int names_inputs(const ln_context *ctx)
{
    return ctx->declared & LN_DECLARES_INPUTS;
}

static int run_once(ln_context *ctx, const cli_options *opt)
{
    const uint64_t start = tl_clock();
    if (ln_context_run(ctx))
        return cli_model_fail(ctx, opt);
    return cli_output_print_time(tl_clock() - start);
}

static int hand_out_all(ln_context *ctx, const cli_options *opt, const cli_labels *names)
{
    const char *name;
    int k = 0, status = 0;
    LN_LIST_FOREACH(name, ctx->outputs)
    {
        const tl_tensor *t = status ? NULL : cli_model_tensor(ctx, opt, name);
        status = t ? cli_output_deliver(opt, name, k++, t, names) : CLI_FAILED;
    }
    return status;
}

static int load_and_run(ln_context *ctx, const cli_options *opt)
{
    const int is_meant = names_inputs(ctx) || opt->inputs.n;
    if (cli_model_load(ctx, opt) || cli_model_set_inputs(ctx, opt, 0))
        return CLI_FAILED;
    if (!is_meant)
        cli_model_warn_constant(ctx);
    const int status = cli_output_check(opt, ln_list_length(ctx->outputs));
    return status ? status : run_once(ctx, opt);
}

// With a context, for what sessions do not have.
static int run_context(const cli_options *opt, const cli_labels *names)
{
    ln_context *ctx = cli_model_read(opt);
    int status = ctx ? load_and_run(ctx, opt) : CLI_FAILED;
    if (!status)
        status = hand_out_all(ctx, opt, names);
    ln_context_free(ctx);
    return status;
}

static int run_and_hand_out(const cli_options *opt, const cli_labels *names)
{
    ln_model *model = opt->map ? cli_run_session_open_mapped(opt) : cli_run_session_open(opt);
    if (!model && opt->map)
        return CLI_FAILED;
    int has_other_shape = 1;
    const int status = model ? cli_run_session(model, opt, names, &has_other_shape) : 0;
    return has_other_shape ? run_context(opt, names) : status;
}

int cli_run(const cli_options *opt)
{
    cli_labels names;
    int made = 0;
    if (opt->labels && !opt->top)
        return cli_usage("--labels needs --top K");
    int status = cli_labels_read(opt->labels, &names);
    if (!status && opt->outdir)
        status = cli_output_prepare(opt->outdir, &made);
    if (!status)
        status = run_and_hand_out(opt, &names);
    if (status && made)
        rmdir(opt->outdir); // stays when an output is in it
    cli_labels_free(&names);
    return status;
}

// The short form has no option for inputs.
static int check_inputs(const ln_context *ctx, const cli_options *opt)
{
    char call[LN_MAXLINE];
    const char *name;
    LN_LIST_FOREACH(name, ctx->missing)
    {
        if (!ln_list_find_custom(ctx->inputs, name, ln_str_cmp))
            continue;
        snprintf(call, sizeof(call), "lightnet run %.256s ", opt->args[0]);
        return cli_model_fail_missing(ctx, name, call);
    }
    return 0;
}

// The short form runs with the data that the model itself makes, and prints what the model prints.
static int compile_and_run(ln_context *ctx, const cli_options *opt)
{
    const int is_meant = names_inputs(ctx);
    if (cli_model_compile(ctx, opt))
        return CLI_FAILED;
    if (opt->outfile && cli_model_write(ctx, opt))
        return CLI_FAILED;
    if (opt->compile_only)
        return 0;
    // A model that was written with its weights has them.
    if (ln_context_load(ctx, cli_writes_one_file(opt) ? NULL : opt->datafile))
        return cli_model_fail(ctx, opt);
    if (!is_meant)
        cli_model_warn_constant(ctx);
    return check_inputs(ctx, opt) ? CLI_FAILED : run_once(ctx, opt);
}

int cli_short(const cli_options *opt)
{
    if (opt->compile_only && opt->run_only)
        return cli_usage("-c and -r exclude each other");
    int status = opt->outfile ? cli_model_check_outfile(opt) : CLI_OK;
    if (status)
        return status;
    ln_context *ctx = cli_model_read(opt);
    status = ctx ? compile_and_run(ctx, opt) : CLI_FAILED;
    ln_context_free(ctx);
    return status;
}
