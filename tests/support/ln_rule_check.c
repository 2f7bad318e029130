// SPDX-License-Identifier: Apache-2.0
// The test of rewrite rules: builds models, compiles them twice, compares.

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L // open_memstream, for those who compile this file by themselves
#endif

#include "ln_rule_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_plugin.h"
#include "lightnet/ln_tensor.h"

// A case being tested.
typedef struct testing {
    const ln_rule_case *rule_case;
    double tolerance;
    const char *target;
    const char *create;
    const char *shown;        // a tensor that is an output, too; or NULL
    int fires;                // the rule must fire, or must not, or ANY
    int is_constant;          // no tensor is an input
    const char *host;         // the end of names in the model's interface: on a GPU, of copies
    const ln_context *parsed; // the model without copies of outputs; NULL: not read so far
    int empty;                // sizes of this value are 0 instead; NONE: as the case has them
    char reason[LN_MAXLINE];  // why it failed
} testing;

enum { NONE = -1, ANY = -1 };

// One of the two compiled models.
typedef struct compiled {
    ln_context *ctx;
    int warnings;
    int is_rejected; // by the compiler: neither reading nor running it failed
} compiled;

LN_PRINTF(2, 3)
static int fail(testing *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(t->reason, sizeof(t->reason), fmt, args);
    va_end(args);
    return -1;
}

// The model

// The next number in 0 .. 1 of a small generator.
static double next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static int size_of(const testing *t, const ln_rule_tensor *tensor, int axis)
{
    return tensor->dims[axis] == t->empty ? 0 : tensor->dims[axis];
}

static void print_data(FILE *fp, const testing *t, const ln_rule_tensor *tensor, uint64_t *state)
{
    const int is_float = strstr(tensor->dtype, "FLOAT") || strstr(tensor->dtype, "DOUBLE");
    int len = 1;
    for (int i = 0; i < tensor->ndim; i++)
        len *= size_of(t, tensor, i);
    for (int i = 0; i < len; i++) {
        const double value = tensor->low + (tensor->high - tensor->low) * next_random(state);
        fprintf(fp, "%s%.9g", i ? ", " : "", is_float ? value : round(value));
    }
}

// A `create`, or where tensors may be empty a `source`.
static void print_create(FILE *fp, const testing *t, const ln_rule_tensor *tensor, uint64_t *state)
{
    const int is_source = t->empty != NONE;
    fprintf(fp,
            "{\"name\": \"create_%s\", \"optype\": \"%s%s\", \"tensors_in\": [],\n"
            " \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"%s%s\"}],\n"
            " \"params\": [{\"arg_name\": \"dtype\", \"value\": \"%s\"},\n"
            "  {\"arg_name\": \"dims\", \"value\": [",
            tensor->name, is_source ? "source" : t->create,
            is_source ? t->create + strlen("create") : "", tensor->name, t->host, tensor->dtype);
    for (int i = 0; i < tensor->ndim; i++)
        fprintf(fp, "%s%d", i ? ", " : "", size_of(t, tensor, i));
    fprintf(fp,
            "]},\n%s  {\"arg_name\": \"from_file\", \"value\": false},\n"
            "  {\"arg_name\": \"data\", \"value\": [",
            is_source ? "" : "  {\"arg_name\": \"ran\", \"value\": [0, 0]},\n");
    print_data(fp, t, tensor, state);
    fprintf(fp, "]}]},\n");
}

// A copy to the GPU, or from there.
static void print_copy(FILE *fp, const testing *t, int is_to, const char *name, const char *dtype,
                       int ndim)
{
    fprintf(fp,
            "{\"name\": \"copy_%s\", \"optype\": \"%s_cuda\",\n"
            " \"tensors_in\": [{\"arg_name\": \"src\", \"name\": \"%s%s\"}],\n"
            " \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"%s%s\"}],\n"
            " \"params\": [{\"arg_name\": \"dtype\", \"value\": \"%s\"},\n"
            "  {\"arg_name\": \"permutation\", \"value\": [",
            name, is_to ? "to" : "from", name, is_to ? t->host : "", name, is_to ? "" : t->host,
            dtype);
    for (int i = 0; i < ndim; i++)
        fprintf(fp, "%s%d", i ? ", " : "", i);
    fprintf(fp, "]}]}");
}

// The copy of an output, which callers read in the CPU's memory.
static void print_output(FILE *fp, const testing *t, const char *name)
{
    const ln_tensor_entry *const te =
        t->parsed ? ln_tensor_table_find(t->parsed->tensor_table, name) : NULL;
    if (!te)
        return;
    fprintf(fp, ",\n");
    print_copy(fp, t, 0, name, tl_dtype_name(te->tensor->dtype), te->tensor->ndim);
}

static void print_interface(FILE *fp, const testing *t)
{
    int n = 0;
    const ln_rule_case *rule_case = t->rule_case;
    const char *const end = t->parsed ? t->host : "";
    fprintf(fp, "], \"inputs\": [");
    for (const ln_rule_tensor *tensor = rule_case->tensors; tensor->name; tensor++) {
        if (!tensor->is_const && !t->is_constant)
            fprintf(fp, "%s\"%s%s\"", n++ ? ", " : "", tensor->name, t->host);
    }
    fprintf(fp, "], \"outputs\": [");
    for (const char *const *output = rule_case->outputs; *output; output++)
        fprintf(fp, "%s\"%s%s\"", output == rule_case->outputs ? "" : ", ", *output, end);
    if (t->shown)
        fprintf(fp, "%s\"%s%s\"", *rule_case->outputs ? ", " : "", t->shown, end);
    fprintf(fp, "]}\n");
}

// The model as text. Returns new (free); NULL without memory.
static char *print_model(const testing *t, size_t *len)
{
    char *text = NULL;
    uint64_t state = 1;
    FILE *fp = open_memstream(&text, len);
    if (!fp)
        return NULL;
    fprintf(fp, "{\"ops\": [\n");
    for (const ln_rule_tensor *tensor = t->rule_case->tensors; tensor->name; tensor++) {
        print_create(fp, t, tensor, &state);
        if (*t->host) {
            print_copy(fp, t, 1, tensor->name, tensor->dtype, tensor->ndim);
            fprintf(fp, ",\n");
        }
    }
    fprintf(fp, "%s\n", t->rule_case->ops);
    for (const char *const *output = t->rule_case->outputs; *output; output++)
        print_output(fp, t, *output);
    if (t->shown)
        print_output(fp, t, t->shown);
    print_interface(fp, t);
    return fclose(fp) ? NULL : text;
}

// The same, and on a GPU with copies of outputs, whose shapes the operators before determine.
static char *print_whole_model(testing *t, size_t *len)
{
    char *text = print_model(t, len);
    ln_context *const ctx = text && *t->host ? ln_context_create() : NULL;
    if (ctx && !ln_context_init_text(ctx, t->rule_case->place, text, *len)) {
        free(text);
        t->parsed = ctx;
        text = print_model(t, len);
        t->parsed = NULL;
        ln_context_cleanup(ctx);
    }
    ln_context_free(ctx);
    return text;
}

// Compiling and running

static void count_warning(void *data, ln_msg_level level, const char *text)
{
    compiled *model = data;
    (void)text;
    model->warnings += level == LN_MSG_WARN;
}

static int compile(const testing *t, ln_context *ctx, int with)
{
    const ln_rule_case *rule_case = t->rule_case;
    return (rule_case->precision && ln_context_set_precision(ctx, rule_case->precision)) ||
           (!with && ln_context_disable_rule(ctx, rule_case->rule)) ||
           ln_context_compile(ctx, t->target);
}

// Compiles and runs the model, without the rule or with it. Without it, each tensor has memory of
// its own, so that a fault of the memory plan shows.
static int run_model(testing *t, compiled *model, const char *text, size_t len, int with)
{
    ln_context *ctx = model->ctx = ln_context_create();
    if (!ctx)
        return fail(t, "%s", ln_last_error());
    ctx->msg_func = count_warning;
    ctx->msg_data = model;
    if (!with)
        ln_context_keep_all(ctx);
    int failed = ln_context_init_text(ctx, t->rule_case->place, text, len);
    if (!failed)
        failed = model->is_rejected = compile(t, ctx, with);
    if (!failed)
        failed = ln_context_load(ctx, NULL) || ln_context_run(ctx);
    return failed ? fail(t, "%s the rule: %s", with ? "with" : "without", ln_context_error(ctx))
                  : 0;
}

static void free_model(compiled *model)
{
    if (model->ctx) {
        ln_context_unload(model->ctx);
        ln_context_cleanup(model->ctx);
    }
    ln_context_free(model->ctx);
}

static int count_fired(const compiled *model, const ln_rule_case *rule_case)
{
    const ln_rule_count *rule;
    if (rule_case->warns)
        return model->warnings;
    LN_LIST_FOREACH (rule, model->ctx->rules)
        if (ln_streq(rule->name, rule_case->rule))
            return rule->count;
    return 0;
}

// Comparing

static double element(const tl_tensor *tensor, const void *data, int i)
{
    double value;
    const size_t size = tl_size_of(tensor->dtype);
    tl_convert(&value, TL_DOUBLE, (const char *)data + (size_t)i * size, tensor->dtype);
    return value;
}

static int is_near(double a, double b, double tolerance)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return a == b || (isfinite(b) && fabs(a - b) <= tolerance * (1 + fabs(b)));
}

static int compare_data(testing *t, const char *output, const tl_tensor *tensor, const void *with,
                        const void *without)
{
    for (int i = 0; i < tensor->len; i++) {
        const double a = element(tensor, with, i), b = element(tensor, without, i);
        if (!is_near(a, b, t->tolerance))
            return fail(t, "element %d of '%s' is %.9g with the rule, %.9g without", i, output, a,
                        b);
    }
    return 0;
}

static int compare_output(testing *t, const compiled *with, const compiled *without,
                          const char *name)
{
    char output[LN_MAXLINE];
    snprintf(output, sizeof(output), "%s%s", name, t->host);
    const ln_tensor_entry *a = ln_tensor_table_find(with->ctx->tensor_table, output);
    const ln_tensor_entry *b = ln_tensor_table_find(without->ctx->tensor_table, output);
    if (!a || !b)
        return fail(t, "output '%s' is missing %s the rule", output, a ? "without" : "with");
    if (a->tensor->dtype != b->tensor->dtype || !tl_tensor_issameshape(a->tensor, b->tensor))
        return fail(t, "output '%s' has another dtype or shape with the rule", output);
    void *data_a = ln_context_get_data(with->ctx, output, NULL);
    void *data_b = ln_context_get_data(without->ctx, output, NULL);
    int status = data_a && data_b ? 0 : fail(t, "output '%s' cannot be read", output);
    if (!status)
        status = compare_data(t, output, a->tensor, data_a, data_b);
    ln_free(data_a);
    ln_free(data_b);
    return status;
}

static int compare(testing *t, const compiled *with, const compiled *without)
{
    const int fired = count_fired(with, t->rule_case);
    if (t->fires == 1 && !fired)
        return fail(t, "the rule does not fire");
    if (!t->fires && fired)
        return fail(t, "the rule fires, but must not");
    if (count_fired(without, t->rule_case))
        return fail(t, "the rule fires although it is disabled");
    for (const char *const *output = t->rule_case->outputs; *output; output++) {
        if (compare_output(t, with, without, *output))
            return -1;
    }
    return t->shown ? compare_output(t, with, without, t->shown) : 0;
}

// Cases

// 1: an operator of the case does not accept the shapes, or the data.
static int test_model(testing *t)
{
    compiled with = {0}, without = {0};
    size_t len = 0;
    char *text = print_whole_model(t, &len);
    int status = text ? 0 : fail(t, "out of memory");
    if (!status && run_model(t, &without, text, len, 0))
        status = without.is_rejected ? -1 : 1;
    if (!status)
        status = run_model(t, &with, text, len, 1);
    if (!status)
        status = compare(t, &with, &without);
    free_model(&with);
    free_model(&without);
    free(text);
    return status;
}

// Tests the model once more for each of the tensors (NULL: none), which is then an output, too.
static int test_shown(testing *t, const char *const *tensors, int fires)
{
    char reason[LN_MAXLINE];
    t->fires = fires;
    for (; tensors && *tensors; tensors++) {
        t->shown = *tensors;
        if (!test_model(t))
            continue;
        memcpy(reason, t->reason, sizeof(reason));
        return fail(t, "when '%s' is an output, too: %s", *tensors, reason);
    }
    return 0;
}

static int test_case(testing *t)
{
    const ln_rule_case *rule_case = t->rule_case;
    t->tolerance = rule_case->tolerance;
    t->empty = NONE;
    t->fires = rule_case->fires;
    if (test_model(t))
        return -1;
    if (!rule_case->fires)
        return 0;
    return test_shown(t, rule_case->removed, 0) || test_shown(t, rule_case->kept, 1) ? -1 : 0;
}

// The smallest size above `size`; NONE: none.
static int next_size(const ln_rule_case *rule_case, int size)
{
    int next = NONE;
    for (const ln_rule_tensor *tensor = rule_case->tensors; tensor->name; tensor++)
        for (int i = 0; i < tensor->ndim; i++)
            if (tensor->dims[i] > size && (next == NONE || tensor->dims[i] < next))
                next = tensor->dims[i];
    return next;
}

// The rule may fire or not, but computes the same.
static int test_variant(testing *t, int is_constant, int empty)
{
    char reason[LN_MAXLINE], sizes[64] = "";
    t->shown = NULL;
    t->fires = ANY;
    t->is_constant = is_constant;
    t->empty = empty;
    if (test_model(t) >= 0)
        return 0;
    memcpy(reason, t->reason, sizeof(reason));
    if (empty != NONE)
        snprintf(sizes, sizeof(sizes), "sizes of %d are 0, ", empty);
    return fail(t, "when %s%s: %s", sizes, is_constant ? "all inputs are constant" : "as before",
                reason);
}

// Tests the model with constants instead of inputs, and with tensors that have no elements: by
// turns, each size that the case has is 0 in all tensors. Of a case in which the rule does not fire
// it may then, within `tolerance`.
static int test_variants(testing *t, double tolerance)
{
    const ln_rule_case *rule_case = t->rule_case;
    t->tolerance = rule_case->fires ? rule_case->tolerance : tolerance;
    if (test_variant(t, 1, NONE))
        return -1;
    if (*t->host) // a GPU gets no empty tensors
        return 0;
    for (int size = next_size(rule_case, 0); size != NONE; size = next_size(rule_case, size))
        if (test_variant(t, 0, size) || test_variant(t, 1, size))
            return -1;
    return 0;
}

// Whether this CPU has the instructions that computing with the case's precision takes.
static int is_possible(const ln_rule_case *rule_case)
{
    return !ln_streq(rule_case->precision ? rule_case->precision : "", "bf16") ||
           tl_isa_contains(tl_isa_best(), TL_ISA_AVX512BF16);
}

static int make_stamp(const char *file)
{
    FILE *fp = fopen(file, "w");
    if (!fp || fclose(fp)) {
        fprintf(stderr, "%s: cannot write\n", file);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

// The tolerance of the cases in which the rule fires.
static double tolerance_of(const ln_rule_case *cases, const char *rule)
{
    double max = 0;
    for (; cases->rule; cases++)
        if (cases->fires && ln_streq(cases->rule, rule))
            max = fmax(max, cases->tolerance);
    return max;
}

int ln_rule_check(int argc, char **argv, const char *target, const char *create,
                  const ln_rule_case *cases)
{
    const char *stamp = argc > 1 ? argv[1] : NULL;
    int n = 0, model = 0, failures = 0;
    if (ln_plugin_load_path(NULL)) {
        fprintf(stderr, "%s\n", ln_last_error());
        return EXIT_FAILURE;
    }
    for (; cases[n].rule; n++) {
        model = n > 0 && ln_streq(cases[n].rule, cases[n - 1].rule) ? model + 1 : 0;
        testing t = {
            .rule_case = &cases[n],
            .target = target,
            .create = create,
            .host = strstr(cases[n].ops, "_cuda\"") ? "_on_cpu" : "",
        };
        const int possible = is_possible(&cases[n]);
        const int failed =
            possible && (test_case(&t) ||
                         // The build only sees that the rule fires as described.
                         (!stamp && test_variants(&t, tolerance_of(cases, cases[n].rule))));
        failures += failed != 0;
        if (!stamp)
            printf("%sok %d - %s, model %d (%s)%s\n", failed ? "not " : "", n + 1, cases[n].rule,
                   model, cases[n].place, possible ? "" : " # SKIP this CPU has no bfloat16");
        if (failed)
            fprintf(stderr, "%s: rule '%s', model %d: %s\n", cases[n].place, cases[n].rule, model,
                    t.reason);
    }
    if (!stamp)
        printf("1..%d\n", n);
    if (failures)
        return EXIT_FAILURE;
    return stamp ? make_stamp(stamp) : EXIT_SUCCESS;
}
