// SPDX-License-Identifier: Apache-2.0
// lightnet verify: compare a model's outputs with stored ones, or its optimized program with the
// reference program.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cli_model.h"

typedef struct difference {
    double abs; // largest absolute difference
    double rel; // largest difference relative to the expected value
    int index;  // of the first element outside the tolerance, -1: none
    double got, expected;
} difference;

// Equal infinities agree, NaN agrees with NaN.
static int agree(double got, double expected, const cli_options *opt)
{
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    return got == expected || fabs(got - expected) <= opt->atol + opt->rtol * fabs(expected);
}

static void compare(const tl_tensor *got, const tl_tensor *expected, const cli_options *opt,
                    difference *diff)
{
    *diff = (difference){.index = -1};
    for (int i = 0; i < expected->len; i++) {
        const double g = cli_element(got, i), e = cli_element(expected, i);
        const double d = fabs(g - e);
        diff->abs = fmax(diff->abs, d);
        if (e != 0)
            diff->rel = fmax(diff->rel, d / fabs(e));
        if (diff->index < 0 && !agree(g, e, opt)) {
            diff->index = i;
            diff->got = g;
            diff->expected = e;
        }
    }
}

/* Stored data sets */

// Finds DIR/WHAT_K.npy, or .bin, the data of tensor `name`. Returns 0, or CLI_FAILED after a
// message.
static int find_stored(char *file, const char *dir, const char *what, int k, const char *name)
{
    static const char *const endings[] = {"npy", "bin"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (cli_data_file(file, dir, what, k, endings[i]))
            return CLI_FAILED;
        if (!access(file, F_OK))
            return 0;
    }
    return cli_fail("%s: there is no %s_%d.npy or %s_%d.bin for %s '%s'", dir, what, k, what, k,
                    what, name);
}

static int set_stored_inputs(ln_context *ctx, const cli_options *opt, const char *dir)
{
    char file[LN_MAXLINE];
    const char *name;
    int k = 0;
    LN_LIST_FOREACH(name, ctx->inputs)
    {
        if (find_stored(file, dir, "input", k++, name) || cli_model_set_input(ctx, opt, name, file))
            return CLI_FAILED;
    }
    return 0;
}

// Returns 0 when all outputs agree, CLI_FAILED after a message or when one does not (said in the
// line for the set).
static int compare_stored_outputs(ln_context *ctx, const cli_options *opt, const char *dir)
{
    char file[LN_MAXLINE];
    const char *name;
    int k = 0;
    double worst = 0;
    LN_LIST_FOREACH(name, ctx->outputs)
    {
        const tl_tensor *got = cli_model_tensor(ctx, opt, name);
        difference diff;
        ln_error err;
        ln_error_clear(&err);
        if (!got || find_stored(file, dir, "output", k++, name))
            return CLI_FAILED;
        tl_tensor *expected = ln_input_read(file, got, NULL, &err);
        if (!expected)
            return cli_fail("%s: output '%s': %s", ctx->source, name, ln_error_text(&err));
        compare(got, expected, opt, &diff);
        tl_tensor_free_data_too(expected);
        if (diff.index >= 0) {
            printf("%s: DIFFERS: output '%s'[%d] is %.9g, expected %.9g\n", dir, name, diff.index,
                   diff.got, diff.expected);
            return CLI_FAILED;
        }
        worst = fmax(worst, diff.abs);
    }
    printf("%s: agrees (%d output%s, largest difference %.3g)\n", dir, k, k == 1 ? "" : "s", worst);
    return 0;
}

static int verify_set(ln_context *ctx, const cli_options *opt, const char *dir)
{
    if (set_stored_inputs(ctx, opt, dir))
        return CLI_FAILED;
    if (ln_context_run(ctx))
        return cli_model_fail(ctx, opt);
    return compare_stored_outputs(ctx, opt, dir);
}

static int verify_sets(const cli_options *opt)
{
    ln_context *ctx = cli_model_read(opt);
    int status = ctx ? cli_model_load(ctx, opt) : CLI_FAILED;
    const int ready = !status;
    for (int i = 1; i < opt->n_args && ready; i++)
        status |= verify_set(ctx, opt, opt->args[i]);
    ln_context_free(ctx);
    return status;
}

/* The reference program */

// Returns 0 after the run, or CLI_FAILED after a message.
static int run_kept(ln_context *ctx, const cli_options *opt, int reference)
{
    if (ctx->target)
        return cli_fail("%s: --reference needs the model as it was before it was compiled",
                        ctx->source);
    ln_context_keep_all(ctx);
    if (reference)
        ln_context_set_reference(ctx);
    if (cli_model_load(ctx, opt) || cli_model_set_inputs(ctx, opt, 1))
        return CLI_FAILED;
    return ln_context_run(ctx) ? cli_model_fail(ctx, opt) : 0;
}

// Returns new: a context that has run, with all its tensors to be read; NULL after a message.
static ln_context *open_kept(const cli_options *opt, int reference)
{
    ln_context *ctx = cli_model_read(opt);
    if (!ctx || !run_kept(ctx, opt, reference))
        return ctx;
    ln_context_free(ctx);
    return NULL;
}

static int report_difference(const ln_op *op, const char *tensor, const difference *diff)
{
    printf("DIFFERS: tensor '%s'[%d] is %.9g, expected %.9g; made by operator '%s' (%s)%s%s\n",
           tensor, diff->index, diff->got, diff->expected, op->op_arg->name, op->op_arg->optype,
           op->op_arg->rule ? ", rule " : "", op->op_arg->rule ? op->op_arg->rule : "");
    return CLI_FAILED;
}

// Compares every tensor that both programs have, in the order in which the optimized one makes
// them.
static int compare_programs(ln_context *ctx, ln_context *reference, const cli_options *opt)
{
    int n = 0;
    double worst = 0;
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
        {
            const ln_tensor_entry *got = ln_tensor_table_find(ctx->tensor_table, tle->name);
            const ln_tensor_entry *expected =
                ln_tensor_table_find(reference->tensor_table, tle->name);
            difference diff;
            if (!expected || !tl_tensor_issameshape(got->tensor, expected->tensor))
                continue;
            compare(got->tensor, expected->tensor, opt, &diff);
            if (diff.index >= 0)
                return report_difference(op, tle->name, &diff);
            worst = fmax(worst, diff.abs);
            n++;
        }
    }
    printf("agrees with the reference program (%d tensors, largest difference %.3g)\n", n, worst);
    return CLI_OK;
}

static int verify_reference(const cli_options *opt)
{
    ln_context *ctx = open_kept(opt, 0);
    ln_context *reference = ctx ? open_kept(opt, 1) : NULL;
    const int status = reference ? compare_programs(ctx, reference, opt) : CLI_FAILED;
    ln_context_free(ctx);
    ln_context_free(reference);
    return status;
}

int cli_verify(const cli_options *opt)
{
    if (opt->reference && opt->n_args > 1)
        return cli_usage("--reference compares two programs and takes no folder: '%s' is one "
                         "argument too many",
                         opt->args[1]);
    if (opt->reference)
        return verify_reference(opt);
    if (opt->n_args < 2)
        return cli_usage("verify needs a folder with input_K.npy and output_K.npy, or --reference");
    if (opt->inputs.n)
        return cli_usage("-i goes with --reference; without it, each folder holds the inputs");
    return verify_sets(opt);
}
