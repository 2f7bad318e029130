// SPDX-License-Identifier: Apache-2.0
// lightnet verify: compare a model's outputs with stored ones, or its optimized program with the
// reference program or with that for another target.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cli_model.h"

typedef struct difference {
    double abs; // largest absolute difference
    double rel; // the same, as a part of the scale
    int index;  // of the first element outside the tolerance, -1: none
    double got, expected;
} difference;

/* How far a number may be from the expected one: atol + rtol * scale. */
typedef struct tolerance {
    double rtol; // below 0: integers must be the same
    double atol;
    double scale; // 0: the magnitude of each expected number
} tolerance;

static int is_floating(tl_dtype dtype)
{
    return dtype == TL_DOUBLE || dtype == TL_FLOAT || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

// Of a stored result: what --rtol says, or else what the type can hold.
static tolerance stored_tolerance(const cli_options *opt, tl_dtype dtype)
{
    const double rtol = !is_floating(dtype) || opt->rtol >= 0 ? opt->rtol
                        : tl_size_of(dtype) == 2              ? 1e-2
                                                              : 1e-3;
    return (tolerance){.rtol = rtol, .atol = opt->atol >= 0 ? opt->atol : 1e-5};
}

static double largest_finite(const tl_tensor *t)
{
    double largest = 0;
    for (int i = 0; i < t->len; i++) {
        const double x = fabs(cli_element(t, i));
        largest = isfinite(x) ? fmax(largest, x) : largest;
    }
    return largest;
}

// Of the reference program: rounding errors of sums are those of their largest terms, so the
// largest number of the tensor is what they are compared with.
static tolerance reference_tolerance(const cli_options *opt, const tl_tensor *expected)
{
    tolerance tol = stored_tolerance(opt, expected->dtype);
    tol.scale = largest_finite(expected);
    if (is_floating(expected->dtype) && opt->rtol < 0 && tl_size_of(expected->dtype) > 2)
        tol.rtol = 1e-4;
    if (opt->atol < 0)
        tol.atol = 1e-6;
    return tol;
}

// Equal infinities agree, NaN agrees with NaN.
static int agree(double got, double expected, const tolerance *tol)
{
    const double scale = tol->scale > 0 ? tol->scale : fabs(expected);
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    return got == expected || fabs(got - expected) <= tol->atol + tol->rtol * scale;
}

// Integers agree when they are the same, unless a tolerance is asked for: doubles do not hold all.
static int elements_agree(const tl_tensor *got, const tl_tensor *expected, int i,
                          const tolerance *tol)
{
    const size_t size = tl_size_of(got->dtype), at = (size_t)i * size;
    if (tol->rtol < 0)
        return !memcmp((const char *)got->data + at, (const char *)expected->data + at, size);
    return agree(cli_element(got, i), cli_element(expected, i), tol);
}

static void compare(const tl_tensor *got, const tl_tensor *expected, const tolerance *tol,
                    difference *diff)
{
    *diff = (difference){.index = -1};
    for (int i = 0; i < expected->len; i++) {
        const double g = cli_element(got, i), e = cli_element(expected, i);
        diff->abs = fmax(diff->abs, fabs(g - e));
        if (diff->index < 0 && !elements_agree(got, expected, i, tol)) {
            diff->index = i;
            diff->got = g;
            diff->expected = e;
        }
    }
    diff->rel = tol->scale > 0 ? diff->abs / tol->scale : diff->abs;
}

/* Stored data sets */

// Whether there is DIR/WHAT_K.npy, .pb or .bin; its name is then in `file`.
static int has_stored(char *file, const char *dir, const char *what, int k)
{
    static const char *const endings[] = {"npy", "pb", "bin"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (!cli_data_file(file, dir, what, k, endings[i]) && !access(file, F_OK))
            return 1;
    return 0;
}

// Finds the data of tensor `name`. Returns 0, or CLI_FAILED after a message.
static int find_stored(char *file, const char *dir, const char *what, int k, const char *name)
{
    if (has_stored(file, dir, what, k))
        return 0;
    return cli_fail("%s: there is no %s_%d.npy, .pb or .bin for %s '%s'", dir, what, k, what, name);
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

// Returns new: the stored output, of the type and shape that it was stored with; NULL after a
// message.
static tl_tensor *read_stored(const char *file, const tl_tensor *like)
{
    ln_error err;
    ln_error_clear(&err);
    const size_t len = strlen(file);
    tl_tensor *t = !strcmp(file + len - 4, ".bin") ? ln_input_read(file, like, NULL, &err)
                                                   : ln_input_read_whole(file, &err);
    if (!t)
        cli_fail("%s", ln_error_text(&err));
    else if (t->dtype == TL_UINT16 && like->dtype == TL_BFLOAT16)
        t->dtype = TL_BFLOAT16; // its bits, as files keep it that have no such type
    return t;
}

static int fail_type(const char *where, const char *name, const tl_tensor *got,
                     const tl_tensor *expected)
{
    char there[LN_MAX_SHAPE], wanted[LN_MAX_SHAPE];
    printf("%s: DIFFERS: output '%s' is %s %s, expected %s %s\n", where, name,
           tl_dtype_name(got->dtype), ln_sprint_shape(there, sizeof(there), got->ndim, got->dims),
           tl_dtype_name(expected->dtype),
           ln_sprint_shape(wanted, sizeof(wanted), expected->ndim, expected->dims));
    return CLI_FAILED;
}

// Returns 0 when the output agrees, CLI_FAILED after a message or when it does not (said in the
// line for the set).
static int compare_output(const cli_options *opt, const char *dir, const char *name,
                          const tl_tensor *got, const tl_tensor *expected, double *worst)
{
    const tolerance tol = stored_tolerance(opt, got->dtype);
    difference diff;
    if (got->dtype != expected->dtype || !tl_tensor_issameshape(got, expected))
        return fail_type(dir, name, got, expected);
    compare(got, expected, &tol, &diff);
    *worst = fmax(*worst, diff.abs);
    if (diff.index < 0)
        return 0;
    printf("%s: DIFFERS: output '%s'[%d] is %.9g, expected %.9g\n", dir, name, diff.index, diff.got,
           diff.expected);
    return CLI_FAILED;
}

static int compare_stored_outputs(ln_context *ctx, const cli_options *opt, const char *dir)
{
    char file[LN_MAXLINE];
    const char *name;
    int k = 0;
    double worst = 0;
    LN_LIST_FOREACH(name, ctx->outputs)
    {
        const tl_tensor *got = cli_model_tensor(ctx, opt, name);
        if (!got || find_stored(file, dir, "output", k++, name))
            return CLI_FAILED;
        tl_tensor *expected = read_stored(file, got);
        const int status =
            expected ? compare_output(opt, dir, name, got, expected, &worst) : CLI_FAILED;
        tl_tensor_free_data_too(expected);
        if (status)
            return status;
    }
    printf("%s: agrees (%d output%s, largest difference %.3g)\n", dir, k, k == 1 ? "" : "s", worst);
    return 0;
}

static int run(ln_context *ctx, const cli_options *opt)
{
    return ln_context_run(ctx) ? cli_model_fail(ctx, opt) : 0;
}

static int verify_set(ln_context *ctx, const cli_options *opt, const char *dir)
{
    return set_stored_inputs(ctx, opt, dir) || run(ctx, opt)
               ? CLI_FAILED
               : compare_stored_outputs(ctx, opt, dir);
}

/* A model whose sizes are open is read anew for each set, whose inputs close them. */

// The files DIR/input_0, DIR/input_1, ... as -i would name them. Free with free_files.
static int list_files(const char *dir, cli_strings *files)
{
    char file[LN_MAXLINE];
    while (has_stored(file, dir, "input", files->n)) {
        const char **longer = realloc(files->items, (size_t)(files->n + 1) * sizeof(*longer));
        char *copy = ln_strdup(file);
        if (longer)
            files->items = longer;
        if (!longer || !copy) {
            ln_free(copy);
            return cli_fail("out of memory");
        }
        files->items[files->n++] = copy;
    }
    return 0;
}

static void free_files(cli_strings *files)
{
    for (int i = 0; i < files->n; i++)
        ln_free((void *)files->items[i]);
    free(files->items);
}

static int verify_anew(const cli_options *opt, const char *dir)
{
    cli_options with = *opt;
    with.inputs = (cli_strings){0};
    ln_context *ctx = list_files(dir, &with.inputs) ? NULL : cli_model_open(&with, 0);
    const int status =
        ctx && !run(ctx, opt) && !compare_stored_outputs(ctx, opt, dir) ? 0 : CLI_FAILED;
    ln_context_free(ctx);
    free_files(&with.inputs);
    return status;
}

static int verify_sets(const cli_options *opt)
{
    int status = 0;
    ln_context *ctx = cli_model_try(opt);
    if (ctx && cli_model_load(ctx, opt)) {
        ln_context_free(ctx);
        return CLI_FAILED;
    }
    for (int i = 1; i < opt->n_args; i++)
        status |= ctx ? verify_set(ctx, opt, opt->args[i]) : verify_anew(opt, opt->args[i]);
    ln_context_free(ctx);
    return status;
}

/* The reference program */

// Returns 0 after the run, or CLI_FAILED after a message.
static int run_uncompiled(ln_context *ctx, const cli_options *opt)
{
    if (ctx->target)
        return cli_fail("%s: %s needs the model as it was before it was compiled", ctx->source,
                        opt->reference ? "--reference" : "--against");
    if (cli_model_load(ctx, opt) || cli_model_set_inputs(ctx, opt, 1))
        return CLI_FAILED;
    return run(ctx, opt);
}

// Returns new: a context that has run, with all its tensors to be read; NULL after a message.
static ln_context *open_kept(const cli_options *opt, int reference)
{
    ln_context *ctx = cli_model_read(opt);
    if (!ctx)
        return NULL;
    ln_context_keep_all(ctx);
    if (reference)
        ln_context_set_reference(ctx);
    if (!run_uncompiled(ctx, opt))
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

/* Two programs that are compared. */
typedef struct programs {
    ln_context *ctx, *reference;
    const cli_options *opt;
    int n;        // tensors that were compared
    double worst; // the largest difference, as a part of its tensor's largest number
} programs;

// A tensor that only one of the programs has, or in another form, is left out, but for outputs.
static int compare_tensor(programs *p, const ln_op *op, const char *name)
{
    const tl_tensor *got = ln_tensor_table_find(p->ctx->tensor_table, name)->tensor;
    const ln_tensor_entry *te = ln_tensor_table_find(p->reference->tensor_table, name);
    if (!te)
        return 0;
    if (got->dtype != te->tensor->dtype || !tl_tensor_issameshape(got, te->tensor)) {
        const int is_output = ln_context_is_output(p->ctx, name);
        return is_output ? fail_type(p->ctx->source, name, got, te->tensor) : 0;
    }
    const tolerance tol = reference_tolerance(p->opt, te->tensor);
    difference diff;
    compare(got, te->tensor, &tol, &diff);
    p->worst = fmax(p->worst, diff.rel);
    p->n++;
    return diff.index >= 0 ? report_difference(op, name, &diff) : 0;
}

// In the order in which the optimized program makes its tensors.
static int compare_programs(programs *p)
{
    const ln_op *op;
    LN_LIST_FOREACH(op, p->ctx->ops)
    {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
        {
            if (compare_tensor(p, op, tle->name))
                return CLI_FAILED;
        }
    }
    printf("agrees with the reference program (%d tensors, largest difference %.3g of the largest "
           "element)\n",
           p->n, p->worst);
    return CLI_OK;
}

static int verify_reference(const cli_options *opt)
{
    ln_context *ctx = open_kept(opt, 0);
    ln_context *reference = ctx ? open_kept(opt, 1) : NULL;
    programs p = {.ctx = ctx, .reference = reference, .opt = opt};
    const int status = reference ? compare_programs(&p) : CLI_FAILED;
    ln_context_free(ctx);
    ln_context_free(reference);
    return status;
}

/* Another target */

// Returns new: a context that has run on `target`; NULL after a message.
static ln_context *open_for(const cli_options *opt, const char *target)
{
    cli_options with = *opt;
    with.target = target;
    ln_context *ctx = cli_model_read(&with);
    if (!ctx || !run_uncompiled(ctx, &with))
        return ctx;
    ln_context_free(ctx);
    return NULL;
}

// Only outputs have the same meaning in both, as each program has tensors of its own. Returns 0
// when this one agrees.
static int compare_with_target(ln_context *ctx, ln_context *other, const cli_options *opt,
                               const char *name, double *worst)
{
    const tl_tensor *got = cli_model_tensor(ctx, opt, name);
    const tl_tensor *expected = got ? cli_model_tensor(other, opt, name) : NULL;
    difference diff;
    if (!expected)
        return CLI_FAILED;
    if (got->dtype != expected->dtype || !tl_tensor_issameshape(got, expected))
        return fail_type(opt->against, name, got, expected);
    const tolerance tol = reference_tolerance(opt, expected);
    compare(got, expected, &tol, &diff);
    *worst = fmax(*worst, diff.rel);
    if (diff.index < 0)
        return 0;
    printf("DIFFERS: output '%s'[%d] is %.9g for %s, %.9g for %s\n", name, diff.index, diff.got,
           cli_target(opt), diff.expected, opt->against);
    return CLI_FAILED;
}

static int compare_targets(ln_context *ctx, ln_context *other, const cli_options *opt)
{
    const char *name;
    double worst = 0;
    if (!ctx->outputs)
        return cli_fail("%s: the model has no outputs, so there is nothing to compare",
                        ctx->source);
    LN_LIST_FOREACH(name, ctx->outputs)
    {
        if (compare_with_target(ctx, other, opt, name, &worst))
            return CLI_FAILED;
    }
    const int n = ln_list_length(ctx->outputs);
    printf("%s agrees with %s (%d output%s, largest difference %.3g of the largest element)\n",
           cli_target(opt), opt->against, n, n == 1 ? "" : "s", worst);
    return CLI_OK;
}

static int verify_against(const cli_options *opt)
{
    ln_context *ctx = open_for(opt, opt->target);
    ln_context *other = ctx ? open_for(opt, opt->against) : NULL;
    const int status = other ? compare_targets(ctx, other, opt) : CLI_FAILED;
    ln_context_free(ctx);
    ln_context_free(other);
    return status;
}

int cli_verify(const cli_options *opt)
{
    const char *two_programs = opt->reference ? "--reference" : opt->against ? "--against" : NULL;
    if (opt->reference && opt->against)
        return cli_usage("--reference and --against name two things to compare with, expected one");
    if (two_programs && opt->n_args > 1)
        return cli_usage("%s compares two programs and takes no folder: '%s' is one argument too "
                         "many",
                         two_programs, opt->args[1]);
    if (two_programs)
        return opt->reference ? verify_reference(opt) : verify_against(opt);
    if (opt->n_args < 2)
        return cli_usage("verify needs a folder with input_K.npy and output_K.npy, --reference or "
                         "--against");
    if (opt->inputs.n)
        return cli_usage("-i goes with --reference or --against; without them, each folder holds "
                         "the inputs");
    return verify_sets(opt);
}
