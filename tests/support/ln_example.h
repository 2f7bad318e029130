// SPDX-License-Identifier: Apache-2.0
// Runs the examples of operator descriptions: what `ln-opgen --tests` generates is a table of these
// and a main.
//
// Each example is a small model with literal inputs. It runs for every architecture that implements
// its operator, in four ways: the inputs given at run time or as constants, the program optimized
// or the reference. On the CPU also in a fifth way, unoptimized with copies of the inputs: these
// are results of operators, whose memory the tested operator's results may reuse; and in a sixth
// way, with the operator replaced by its meaning, if it has one.
//
// With "--as FORMAT FILE OPTYPE ..", each example of an abstract operator is written to that file,
// read again and run on the CPU. Only operators of these types may lack an equivalent in the
// format.

#ifndef LN_EXAMPLE_H
#define LN_EXAMPLE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_arch.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_plugin.h"
#include "lightnet/ln_util.h"

/** An expected output. */
typedef struct ln_example_output {
    const char *name;   // NULL ends an array of these
    const char *dtype;  // NULL: not checked
    int ndim;           // -1: the shape is not checked
    const int *dims;    // [ndim], or NULL
    int len;            // 1: all elements are data[0]
    const double *data; // [len]
} ln_example_output;

typedef struct ln_example {
    const char *place; // "conv.op:12", for messages
    const char *doc;
    const char *optype;
    const char *arch;
    const char *inputs;  // names as items of a JSON array
    const char *outputs; // the same
    const char *ops;     // the operators as a JSON array
    const char *given;   // inputs and operators again, where the tested operator reads copies
    const char *chain;   // of the inputs; NULL if rejected, or if inputs are static
    double tolerance;
    int has_meaning;       // the operator is described in terms of others, too,
    double meaning_within; // with this error
    const char *error;     // the model must be rejected with this in the message; NULL: it must run
    const ln_example_output *expected;
} ln_example;

/** One of the ways to run an example. */
typedef struct ln_example_way {
    const char *target;
    int constant;  // the inputs are constants
    int reference; // the program is not optimized
    int chain;     // the operator reads results of others; the program is only lowered
    int meaning;   // the operator is replaced by its meaning; the program is only lowered
} ln_example_way;

/** The way of this number; 0 when there is none for the example. */
static inline int ln_example_way_of(const ln_example *example, const char *target, int number,
                                    ln_example_way *way)
{
    *way = (ln_example_way){target, .constant = number & 1, .reference = number == 2 || number == 3,
                            number == 4, number == 5};
    way->constant &= !way->meaning;
    if (way->meaning)
        return example->has_meaning && strcmp(target, "cpu") == 0;
    if (way->chain)
        return example->chain && *example->inputs && strcmp(target, "cpu") == 0;
    return !way->constant || *example->inputs;
}

#define LN_EXAMPLE_WAYS 6

/** 1 when architecture `arch` can run the operator of the example. */
static inline int ln_example_is_for(const ln_example *example, const char *arch)
{
    char optype[LN_MAX_NAME_LEN];
    if (strcmp(example->arch, "none") != 0)
        return strcmp(example->arch, arch) == 0;
    snprintf(optype, sizeof(optype), "%s_%s", example->optype, arch);
    // What has a meaning needs no operator of the target.
    return ln_hash_find(LN_ARCH.op_proto_table, optype) ||
           (example->has_meaning && strcmp(arch, "cpu") == 0);
}

/** Lets the target lack the operator of the example. -1: no memory. */
static inline int ln_example_hide(ln_context *ctx, const ln_example *example, const char *target)
{
    const size_t size = strlen(example->optype) + strlen(target) + 2;
    char *optype = ln_alloc(size);
    if (optype)
        snprintf(optype, size, "%s_%s", example->optype, target);
    ln_list *const longer = optype ? ln_list_append(ctx->disabled, optype) : NULL;
    if (!longer)
        ln_free(optype);
    else
        ctx->disabled = longer;
    return longer ? 0 : -1;
}

/** Whether the program was compiled with the meaning of the example's operator. */
static inline int ln_example_has_meant(const ln_context *ctx, const ln_example *example)
{
    const size_t len = strlen(example->optype);
    const ln_rule_count *rule;
    LN_LIST_FOREACH (rule, ctx->rules)
        if (strcmp(rule->name, "canonical") == 0 || (!strncmp(rule->name, example->optype, len) &&
                                                     !strncmp(rule->name + len, "_means_", 7)))
            return 1;
    return 0;
}

/** Reads and compiles (unless `target` is NULL) the model of an example. -1 with the reason in
 * `ctx`. */
static inline int ln_example_compile(ln_context *ctx, const ln_example *example,
                                     const ln_example_way *way)
{
    static const char format[] = "{\"inputs\": [%s], \"outputs\": [%s], \"ops\": %s}";
    const char *ops = way->chain ? example->chain : example->ops;
    const char *inputs = way->constant ? "" : way->chain ? example->given : example->inputs;
    const size_t size = sizeof(format) + strlen(inputs) + strlen(example->outputs) + strlen(ops);
    char *text = ln_alloc(size);
    if (!text)
        return ln_fail_last(ctx);
    const int len = snprintf(text, size, format, inputs, example->outputs, ops);
    if (way->reference)
        ln_context_set_reference(ctx);
    ctx->optimize = ctx->optimize && !way->chain && !way->meaning;
    if (way->meaning && ln_example_hide(ctx, example, way->target)) {
        ln_free(text);
        return ln_fail_last(ctx);
    }
    int result = ln_context_allow_output(ctx, "/tmp") ||
                 ln_context_init_text(ctx, example->place, text, (size_t)len);
    ln_free(text);
    if (!result && way->target)
        result = ln_context_compile(ctx, way->target);
    return result;
}

/** 0, or -1 with the reason in `ctx`: type or shape differ. */
static inline int ln_example_check_type(ln_context *ctx, const ln_example_output *output,
                                        const tl_tensor *tensor)
{
    char is[LN_MAX_SHAPE], expected[LN_MAX_SHAPE];
    if (output->dtype && tensor->dtype != tl_dtype_from_str(output->dtype))
        return ln_fail(ctx, "'%s' has data type %s, expected %s", output->name,
                       tl_dtype_name(tensor->dtype), output->dtype);
    if (output->ndim < 0)
        return 0;
    ln_sprint_shape(is, sizeof(is), tensor->ndim, tensor->dims);
    ln_sprint_shape(expected, sizeof(expected), output->ndim, output->dims);
    if (strcmp(is, expected) != 0)
        return ln_fail(ctx, "'%s' has shape %s, expected %s", output->name, is, expected);
    return 0;
}

static inline int ln_example_is_close(double is, double expected, double tolerance)
{
    if (isnan(is) || isnan(expected))
        return isnan(is) && isnan(expected);
    return is == expected ||
           (isfinite(expected) && fabs(is - expected) <= tolerance * fmax(1, fabs(expected)));
}

/** 0, or -1 with the reason in `ctx`: an element differs. */
static inline int ln_example_check_data(ln_context *ctx, const ln_example_output *output,
                                        const tl_tensor *tensor, const char *data, double tolerance)
{
    if (output->len != 1 && output->len != tensor->len)
        return ln_fail(ctx, "'%s' has %d elements, expected %d", output->name, tensor->len,
                       output->len);
    for (int i = 0; i < tensor->len; i++) {
        double is;
        const double expected = output->data[output->len == 1 ? 0 : i];
        tl_convert(&is, TL_DOUBLE, data + (size_t)i * tl_size_of(tensor->dtype), tensor->dtype);
        if (!ln_example_is_close(is, expected, tolerance))
            return ln_fail(ctx, "'%s'[%d] is %.9g, expected %.9g within %g", output->name, i, is,
                           expected, tolerance);
    }
    return 0;
}

static inline int ln_example_check_output(ln_context *ctx, const ln_example_output *output,
                                          double tolerance)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, output->name);
    if (!entry)
        return ln_fail(ctx, "'%s' does not exist", output->name);
    if (ln_example_check_type(ctx, output, entry->tensor))
        return -1;
    void *data = ln_context_get_data(ctx, output->name, NULL);
    if (!data)
        return -1;
    const int result = ln_example_check_data(ctx, output, entry->tensor, data, tolerance);
    ln_free(data);
    return result;
}

/** Runs a compiled example and checks its outputs. -1 with the reason in `ctx`. */
static inline int ln_example_check(ln_context *ctx, const ln_example *example, double tolerance)
{
    if (ln_context_load(ctx, NULL) || ln_context_run(ctx))
        return -1;
    for (const ln_example_output *output = example->expected; output->name; output++) {
        if (ln_example_check_output(ctx, output, tolerance))
            return -1;
    }
    return 0;
}

/** Fills the input with the number, and runs. -1 with the reason in `ctx`: that fails, although no
 * operator says that it can. */
static inline int ln_example_run_with(ln_context *ctx, const tl_tensor *input, const char *name,
                                      double number)
{
    const size_t size = tl_size_of(input->dtype);
    char *data = ln_alloc(tl_tensor_size(input) + 1);
    const ln_op *op;
    if (!data)
        return ln_fail_last(ctx);
    for (int i = 0; i < input->len; i++)
        tl_convert(data + (size_t)i * size, input->dtype, &number, TL_DOUBLE);
    int status = ln_context_set_data(ctx, name, data);
    ln_free(data);
    if (status || !ln_context_run(ctx))
        return status;
    LN_LIST_FOREACH (op, ctx->ops)
        if (ln_op_can_fail(op))
            return 0;
    return ln_fail(ctx, "a run with %g in '%s' fails, but \"can_fail\" says that none does", number,
                   name);
}

/** Runs a loaded example of an abstract operator, to see whether its description says that a run
 * can fail, with other numbers in each input: indices out of range, divisors of 0. Inputs of
 * strings keep theirs, and operators of targets alone are not tried. -1 with the reason in `ctx`.
 */
static inline int ln_example_try_numbers(ln_context *ctx)
{
    static const double numbers[] = {0, -99, 99, -1e9, 1e9};
    const char *name;
    LN_LIST_FOREACH (name, ctx->inputs) {
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
        char *given = te->tensor->dtype == TL_STRING ? NULL : ln_context_get_data(ctx, name, NULL);
        for (size_t k = 0; given && k < sizeof(numbers) / sizeof(*numbers); k++) {
            if (ln_example_run_with(ctx, te->tensor, name, numbers[k])) {
                ln_free(given);
                return -1;
            }
        }
        const int failed = given && ln_context_set_data(ctx, name, given);
        ln_free(given);
        if (failed)
            return -1;
    }
    return 0;
}

/** 0, or -1 with the reason in `ctx`. */
static inline int ln_example_try(ln_context *ctx, const ln_example *example,
                                 const ln_example_way *way)
{
    const int failed = ln_example_compile(ctx, example, way);
    const double tolerance =
        way->meaning ? fmax(example->tolerance, example->meaning_within) : example->tolerance;
    if (!example->error && (failed || ln_example_check(ctx, example, tolerance)))
        return -1;
    if (!example->error)
        return way->reference && !way->constant && strcmp(example->arch, "none") == 0
                   ? ln_example_try_numbers(ctx)
                   : 0;
    if (!failed)
        return ln_fail(ctx, "the model was accepted, expected an error with \"%s\"",
                       example->error);
    return strstr(ln_context_error(ctx), example->error) ? 0 : -1;
}

/** Runs an example one way and prints a line of TAP. Returns 1 when it failed; counts in `n_meant`
 * those with a meaning. */
static inline int ln_example_run(const ln_example *example, const ln_example_way *way, int number,
                                 int *n_meant)
{
    ln_context *ctx = ln_context_create();
    const int failed = !ctx || ln_example_try(ctx, example, way);
    printf("%s %d - %s %s %s (%s, %s%s)\n", failed ? "not ok" : "ok", number, example->place,
           example->optype, example->doc, way->target,
           way->meaning     ? "its meaning"
           : way->chain     ? "after copies"
           : way->reference ? "reference"
                            : "optimized",
           way->constant ? ", constant inputs" : "");
    if (failed) {
        printf("# %s\n", ctx ? ln_context_error(ctx) : ln_last_error());
        if (example->error)
            printf("# expected an error with \"%s\"\n", example->error);
    }
    *n_meant += ctx && way->meaning && ln_example_has_meant(ctx, example);
    ln_context_free(ctx);
    return failed;
}

// In another format

/** Reads the model of an example without compiling it. -1 with the reason in `ctx`. */
static inline int ln_example_read(ln_context *ctx, const ln_example *example, int constant)
{
    const ln_example_way way = {NULL, .constant = constant, .reference = 0};
    return ln_example_compile(ctx, example, &way);
}

/** Sets the inputs of `ctx` to those of the example, which `own` has loaded: before the model is
 * read, as shapes may depend on them, or when it is loaded. -1 with the reason in `ctx`. */
static inline int ln_example_give(ln_context *ctx, ln_context *own, int binds)
{
    const char *name;
    int status = 0;
    LN_LIST_FOREACH (name, own->inputs) {
        const ln_tensor_entry *te = ln_tensor_table_find(own->tensor_table, name);
        tl_tensor tensor = *te->tensor;
        tensor.data = status ? NULL : ln_context_get_data(own, name, NULL);
        if (!tensor.data)
            status = ln_fail(ctx, "%s", ln_context_error(own));
        if (!status)
            status = binds ? ln_context_bind_input(ctx, name, &tensor)
                           : ln_context_set_data(ctx, name, tensor.data);
        ln_free(tensor.data);
    }
    return status ? -1 : 0;
}

/** Writes the example to `file`. -1 with the reason in `ctx`; 1: the format cannot express it. */
static inline int ln_example_write(ln_context *ctx, const ln_example *example, const char *format,
                                   const char *file, int constant)
{
    ln_context *own = ln_context_create();
    int status = !own || ln_example_read(own, example, constant) ? -1 : 0;
    if (!status && ln_context_write(own, NULL, format, file))
        status = ln_error_status(own->error) == LN_UNSUPPORTED ? 1 : -1;
    if (status)
        ln_fail(ctx, "%s", own ? ln_context_error(own) : ln_last_error());
    ln_context_free(own);
    return status;
}

/** Writes the example to `file`, reads that and runs it. -1 with the reason in `ctx`; 1: the format
 * cannot express it. */
static inline int ln_example_convert(ln_context *ctx, const ln_example *example, const char *format,
                                     const char *file, int constant)
{
    const ln_example_way way = {"cpu", .constant = constant, .reference = 0};
    int status = ln_example_write(ctx, example, format, file, constant);
    ln_context *own = status ? NULL : ln_context_create();
    if (!status && (!own || ln_example_compile(own, example, &way) || ln_context_load(own, NULL)))
        status = ln_fail(ctx, "%s", own ? ln_context_error(own) : ln_last_error());
    if (!status)
        status = ln_example_give(ctx, own, 1) || ln_context_init(ctx, file) ||
                         ln_context_compile(ctx, "cpu") || ln_context_load(ctx, NULL) ||
                         ln_example_give(ctx, own, 0) || ln_context_run(ctx)
                     ? -1
                     : 0;
    ln_context_free(own);
    for (const ln_example_output *output = example->expected; !status && output->name; output++)
        status = ln_example_check_output(ctx, output, example->tolerance);
    return status;
}

/** Whether a format need not have an operator; notes in `used` which of the names was needed. */
static inline int ln_example_may_lack(const char *optype, int n, char **names, int *used)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], optype) == 0)
            return used[i] = 1;
    return 0;
}

static inline int ln_example_main_as(const ln_example *examples, size_t n, const char *format,
                                     const char *file, int n_names, char **names)
{
    int number = 0, nfailed = 0, used[64] = {0};
    if (n_names > 64)
        return EXIT_FAILURE;
    for (size_t i = 0; i < 2 * n; i++) {
        const ln_example *const example = &examples[i / 2];
        const int constant = (int)(i % 2);
        if (example->error || strcmp(example->arch, "none") != 0)
            continue;
        ln_context *ctx = ln_context_create();
        const int status = ctx ? ln_example_convert(ctx, example, format, file, constant) : -1;
        const int may = status == 1 && ln_example_may_lack(example->optype, n_names, names, used);
        const int failed = status && !may;
        printf("%s %d - %s %s %s as %s%s\n", failed ? "not ok" : "ok", ++number, example->place,
               example->optype, example->doc, format, constant ? ", constant inputs" : "");
        if (status)
            printf("# %s\n", ctx ? ln_context_error(ctx) : ln_last_error());
        ln_context_free(ctx);
        nfailed += failed;
    }
    remove(file);
    for (int i = 0; i < n_names; i++) {
        printf("%s %d - %s has examples that cannot be written\n", used[i] ? "ok" : "not ok",
               ++number, names[i]);
        nfailed += !used[i];
    }
    printf("1..%d\n", number);
    return nfailed || number == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/** Runs `n` examples, with the plug-ins of LIGHTNET_PLUGIN_PATH; returns the exit status. A run
 * that tested nothing fails. */
static inline int ln_example_main(const ln_example *examples, size_t n, int argc, char **argv)
{
    int number = 0, nfailed = 0, n_meant = 0, has_meaning = 0;
    if (argc > 3 && strcmp(argv[1], "--as") == 0)
        return ln_example_main_as(examples, n, argv[2], argv[3], argc - 4, argv + 4);
    if (ln_plugin_load_path(NULL)) {
        fprintf(stderr, "%s\n", ln_last_error());
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < n; i++) {
        const int is_last = i + 1 == n || strcmp(examples[i].optype, examples[i + 1].optype) != 0;
        const ln_list *archs = ln_arch_list();
        const ln_arch *arch;
        LN_LIST_FOREACH (arch, archs) {
            for (int w = 0; w < LN_EXAMPLE_WAYS && ln_example_is_for(&examples[i], arch->arch_name);
                 w++) {
                ln_example_way way;
                if (ln_example_way_of(&examples[i], arch->arch_name, w, &way))
                    nfailed += ln_example_run(&examples[i], &way, ++number, &n_meant);
            }
        }
        has_meaning |= examples[i].has_meaning;
        if (is_last && has_meaning) {
            printf("%s %d - an example of %s has a meaning\n", n_meant ? "ok" : "not ok", ++number,
                   examples[i].optype);
            nfailed += !n_meant;
        }
        if (is_last)
            has_meaning = n_meant = 0;
    }
    printf("1..%d\n", number);
    return nfailed || number == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/** What the generated main calls: the function above, or another test of the same examples. */
#ifdef LN_EXAMPLE_MAIN
int LN_EXAMPLE_MAIN(const ln_example *examples, size_t n, int argc, char **argv);
#else
#define LN_EXAMPLE_MAIN ln_example_main
#endif

#endif
