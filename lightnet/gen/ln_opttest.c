// SPDX-License-Identifier: Apache-2.0
// The tests of rules as C: for each the smallest models that match, as rows of a table.
//
// A rule's model is its pattern with a `create` for each tensor that comes from outside. Properties
// outside of the pattern (shapes, parameters, other inputs) come from the rule's "tests". Each of
// these is tried with every optype of the sets, with and without the inputs that may be absent, in
// both orders of inputs that may be exchanged, and a few times where sizes are drawn at random.

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gen/ln_optwrite.h"

// How often a test with random sizes is tried.
#define DRAWS 3

// The largest dimension of a tensor in a test.
#define MAX_DIM 1000000

// A tensor that comes from outside.
typedef struct source {
    struct source *next;
    const char *name;
} source;

// One model in the making.
typedef struct writer {
    const ln_optdesc *desc;
    const ln_optrule *rule;
    const ln_opttest *test;
    ln_cgen *out;
    ln_error *err;
    int number;      // of the rule's models, from 0
    int alternative; // which optype of each set
    int exchanged;   // bit n: the inputs of the nth '<->'
    int absent;      // without optional inputs
    uint32_t random; // the generator of sizes
    int *sizes;      // the values of test->sizes, in their order
    source *sources;
} writer;

static const ln_opttest no_hints = {.fires = 1};

// Sizes

static void draw_sizes(writer *w)
{
    int i = 0;
    for (const ln_optsize *size = w->test->sizes; size; size = size->next)
        i++;
    w->sizes = ln_arena_alloc(w->desc->arena, (size_t)i * sizeof(*w->sizes));
    i = 0;
    for (const ln_optsize *size = w->test->sizes; size; size = size->next) {
        w->random = w->random * 1664525u + 1013904223u;
        w->sizes[i++] =
            size->low + (int)((w->random >> 8) % (unsigned)(size->high - size->low + 1));
    }
}

// The value of "12" or "N"; -1: no such size.
static int size_of(const writer *w, const char *text, size_t len)
{
    char *end;
    const long number = strtol(text, &end, 10);
    if (end == text + len)
        return number > MAX_DIM ? MAX_DIM + 1 : (int)number;
    int i = 0;
    for (const ln_optsize *size = w->test->sizes; size; size = size->next, i++) {
        if (strlen(size->name) == len && strncmp(size->name, text, len) == 0)
            return w->sizes[i];
    }
    return -1;
}

// The value of "2*N", at most MAX_DIM + 1; -1: an unknown size in it.
static int product_of(const writer *w, const char *text)
{
    int64_t product = 1;
    for (;;) {
        text += strspn(text, " *");
        const size_t len = strcspn(text, " *");
        const int factor = len ? size_of(w, text, len) : 1;
        if (factor < 0)
            return -1;
        product *= factor;
        if (product > MAX_DIM)
            product = MAX_DIM + 1;
        if (!text[len])
            return (int)product;
        text += len;
    }
}

// Tensors

// Notes that the model reads a tensor; one that the pattern does not produce is a source.
static void add_source(writer *w, const char *name)
{
    source **tail = &w->sources;
    const ln_opttensor *tensor = ln_opttensor_find(w->rule, name);
    if (tensor && tensor->producer)
        return;
    while (*tail) {
        if (strcmp((*tail)->name, name) == 0)
            return;
        tail = &(*tail)->next;
    }
    *tail = ln_arena_alloc(w->desc->arena, sizeof(**tail));
    (*tail)->name = name;
}

static int write_source(const writer *w, const char *name)
{
    static const char *const default_dims[] = {"2", "3", "4", "5"};
    static const ln_opthint default_hint = {
        .dtype = "TL_FLOAT", .dims = (const char **)default_dims, .ndim = 4, .low = -1, .high = 1};
    const ln_opthint *hint = w->test->tensors;
    while (hint && strcmp(hint->tensor, name) != 0)
        hint = hint->next;
    hint = hint ? hint : &default_hint;
    ln_cgen_print(w->out, "    {\"%s\", \"%s\", %d, {", name, hint->dtype, hint->ndim);
    for (int i = 0; i < hint->ndim; i++) {
        const int size = product_of(w, hint->dims[i]);
        if (size < 0)
            return ln_optrule_fail(w->rule, &hint->place, w->err,
                                   "dimension '%s' is neither a number nor a size of the test",
                                   hint->dims[i]);
        if (size == 0 || size > MAX_DIM)
            return ln_optrule_fail(w->rule, &hint->place, w->err,
                                   "dimension '%s' is out of range, expected 1 to %d",
                                   hint->dims[i], MAX_DIM);
        ln_cgen_print(w->out, "%s%d", i ? ", " : "", size);
    }
    ln_cgen_print(w->out, "}, %.9g, %.9g, %d},\n", hint->low, hint->high, hint->is_const);
    return 0;
}

// Operators

static const char *optype_of(const writer *w, const ln_optop *op)
{
    return op->optypes[w->alternative % op->noptypes];
}

// The hints for an operator of the pattern: by its name, or by the optype it has this time.
static const ln_optop *find_op_hint(const writer *w, const ln_optop *op)
{
    const ln_optop *hint = ln_optop_find(w->test->ops, op->name);
    return hint ? hint : ln_optop_find(w->test->ops, optype_of(w, op));
}

// The tensor of an argument: that of its partner where two inputs are exchanged this time.
static const char *tensor_of(const writer *w, const ln_optarg *arg, const ln_optarg *before)
{
    if (arg->exchange && (w->exchanged >> (arg->exchange - 1)) & 1)
        return arg->next->tensor;
    if (before && before->exchange && (w->exchanged >> (before->exchange - 1)) & 1)
        return before->tensor;
    return arg->tensor;
}

static void print_tensors(writer *w, ln_cgen *json, const ln_optarg *args, int *n)
{
    const ln_optarg *before = NULL;
    for (const ln_optarg *arg = args; arg; before = arg, arg = arg->next) {
        if (arg->optional && w->absent)
            continue;
        ln_cgen_print(json, "%s{\"arg_name\": \"%s\", \"name\": \"%s\"}", (*n)++ ? ", " : "",
                      arg->arg_name, tensor_of(w, arg, before));
    }
}

static void print_item(const writer *w, ln_cgen *json, const ln_optparam *param, int i)
{
    const char *item = param->items[i];
    const int size = isalpha((unsigned char)item[0]) ? size_of(w, item, strlen(item)) : -1;
    if (size >= 0)
        ln_cgen_print(json, "%d", size);
    else
        ln_optwrite_json_item(json, param, i);
}

// The literal that a parameter of the pattern or of a hint has in this model, or NULL.
static const ln_optparam *find_literal(const writer *w, const ln_optop *op, const char *name)
{
    const ln_optop *hint = find_op_hint(w, op);
    const ln_optparam *const lists[] = {op->params, hint ? hint->params : NULL};
    for (size_t i = 0; i < 2; i++) {
        for (const ln_optparam *param = lists[i]; param; param = param->next) {
            if (param->arg_name && strcmp(param->arg_name, name) == 0 && param->type < LN_OPT_PARAM)
                return param;
        }
    }
    return NULL;
}

static int print_param(const writer *w, ln_cgen *json, const ln_optparam *param, int *n)
{
    const ln_optparam *literal = param;
    if (param->type == LN_OPT_PARAM && ln_optop_find(w->rule->match, param->op))
        literal = find_literal(w, ln_optop_find(w->rule->match, param->op), param->param);
    if (!literal || !param->arg_name || literal->type >= LN_OPT_PARAM)
        return ln_optrule_fail(w->rule, &param->place, w->err,
                               "the test needs a literal value for this parameter");
    const int is_array = literal->type >= LN_OPT_STRINGS;
    ln_cgen_print(json, "%s{\"arg_name\": \"%s\", \"value\": %s", (*n)++ ? ", " : "",
                  param->arg_name, is_array ? "[" : "");
    for (int i = 0; i < literal->len; i++) {
        ln_cgen_print(json, "%s", i ? ", " : "");
        print_item(w, json, literal, i);
    }
    ln_cgen_print(json, "%s}", is_array ? "]" : "");
    return 0;
}

static int print_params(const writer *w, ln_cgen *json, const ln_optparam *params, int *n)
{
    for (const ln_optparam *param = params; param; param = param->next) {
        if (print_param(w, json, param, n))
            return -1;
    }
    return 0;
}

// Writes one line of a model's text as a C string literal, then `after`, and frees it.
static void write_text(const writer *w, ln_cgen *json, const char *after)
{
    ln_cgen_print(json, "\n");
    ln_cgen_line(w->out, 4, "%s%s", ln_cgen_quote(json, json->text), after);
    ln_cgen_free(json);
}

static void write_tensors(writer *w, const char *key, const ln_optarg *args,
                          const ln_optarg *hinted)
{
    ln_cgen json = {0};
    int n = 0;
    ln_cgen_print(&json, "  \"%s\": [", key);
    print_tensors(w, &json, args, &n);
    print_tensors(w, &json, hinted, &n);
    ln_cgen_print(&json, "],");
    write_text(w, &json, "");
}

// An operator of the pattern as the JSON IR has it.
static int write_op(writer *w, const ln_optop *op, int is_last)
{
    const ln_optop *hint = find_op_hint(w, op);
    ln_cgen name = {0}, params = {0};
    int n = 0;
    ln_cgen_print(&name, " {\"name\": \"%s\", \"optype\": \"%s\",", op->name, optype_of(w, op));
    write_text(w, &name, "");
    write_tensors(w, "tensors_in", op->ins, hint ? hint->ins : NULL);
    write_tensors(w, "tensors_out", op->outs, hint ? hint->outs : NULL);
    ln_cgen_print(&params, "  \"params\": [");
    const int failed = print_params(w, &params, op->params, &n) ||
                       print_params(w, &params, hint ? hint->params : NULL, &n);
    ln_cgen_print(&params, "]}%s", is_last ? "" : ",");
    write_text(w, &params, is_last ? ";" : "");
    return failed ? -1 : 0;
}

// Producers first: the opposite of the order of matching. A window stays as it is written.
static const ln_optop *nth_op(const ln_optrule *rule, int n)
{
    return rule->order[rule->adjacent ? n : rule->nmatch - 1 - n];
}

static void find_sources(writer *w)
{
    w->sources = NULL;
    for (int i = 0; i < w->rule->nmatch; i++) {
        const ln_optop *op = nth_op(w->rule, i), *hint = find_op_hint(w, op);
        for (const ln_optarg *arg = op->ins; arg; arg = arg->next) {
            if (!arg->optional || !w->absent)
                add_source(w, arg->tensor);
        }
        for (const ln_optarg *arg = hint ? hint->ins : NULL; arg; arg = arg->next)
            add_source(w, arg->tensor);
    }
}

static int is_output(const ln_opttensor *tensor)
{
    return tensor->producer && !tensor->removed && !tensor->producer->keep;
}

static int is_removed(const ln_opttensor *tensor)
{
    return tensor->removed;
}

static int is_kept(const ln_opttensor *tensor)
{
    return tensor->producer && tensor->producer->keep;
}

static int has_any(const ln_optrule *rule, int (*belongs)(const ln_opttensor *))
{
    const ln_opttensor *tensor = rule->tensors;
    while (tensor && !belongs(tensor))
        tensor = tensor->next;
    return tensor != NULL;
}

// The names of the tensors that belong to a list of a test case.
static void write_names(const writer *w, const char *list, int (*belongs)(const ln_opttensor *))
{
    ln_cgen_print(w->out, "static const char *const %s_%d_%s[] = {", w->rule->name, w->number,
                  list);
    for (const ln_opttensor *tensor = w->rule->tensors; tensor; tensor = tensor->next) {
        if (belongs(tensor))
            ln_cgen_print(w->out, "\"%s\", ", tensor->name);
    }
    ln_cgen_print(w->out, "NULL};\n\n");
}

static int write_model(writer *w)
{
    find_sources(w);
    ln_cgen_print(w->out, "static const ln_rule_tensor %s_%d_tensors[] = {\n", w->rule->name,
                  w->number);
    for (const source *s = w->sources; s; s = s->next) {
        if (write_source(w, s->name))
            return -1;
    }
    ln_cgen_print(w->out, "    {NULL},\n};\n\nstatic const char %s_%d_ops[] =\n", w->rule->name,
                  w->number);
    for (int i = 0; i < w->rule->nmatch; i++) {
        if (write_op(w, nth_op(w->rule, i), i + 1 == w->rule->nmatch))
            return -1;
    }
    ln_cgen_print(w->out, "\n");
    write_names(w, "outputs", is_output);
    if (has_any(w->rule, is_removed))
        write_names(w, "removed", is_removed);
    if (has_any(w->rule, is_kept))
        write_names(w, "kept", is_kept);
    return 0;
}

// The table

// Calls `write` with inputs there, absent and exchanged.
static int for_inputs(writer *w, int (*write)(writer *))
{
    int n_absences = 1;
    for (const ln_opttensor *tensor = w->rule->tensors; tensor; tensor = tensor->next)
        if (tensor->optional)
            n_absences = 2;
    for (w->absent = 0; w->absent < n_absences; w->absent++) {
        for (w->exchanged = 0; w->exchanged < 1 << w->rule->nexchange; w->exchanged++) {
            if (write(w))
                return -1;
            w->number++;
        }
    }
    return 0;
}

// Calls `write` for every model of a test.
static int for_models(writer *w, int (*write)(writer *))
{
    int draws = 1, alternatives = 1;
    for (const ln_optsize *size = w->test->sizes; size; size = size->next)
        draws = size->low < size->high ? DRAWS : draws;
    for (const ln_optop *op = w->rule->match; op; op = op->next)
        alternatives = op->noptypes > alternatives ? op->noptypes : alternatives;
    for (int draw = 0; draw < draws; draw++) {
        draw_sizes(w);
        for (w->alternative = 0; w->alternative < alternatives; w->alternative++) {
            if (for_inputs(w, write))
                return -1;
        }
    }
    return 0;
}

// Calls `write` for every model of a rule; one written by hand has none.
static int for_tests(const ln_optdesc *desc, const ln_optrule *rule, ln_cgen *out, ln_error *err,
                     int (*write)(writer *))
{
    writer w = {.desc = desc, .rule = rule, .out = out, .err = err};
    if (rule->function)
        return 0;
    for (const char *c = rule->name; *c; c++)
        w.random = w.random * 31 + (unsigned char)*c; // every rule draws its own sizes
    w.test = rule->tests ? rule->tests : &no_hints;
    for (; w.test; w.test = w.test->next) {
        if (for_models(&w, write))
            return -1;
    }
    return 0;
}

// The name of a list of this model as C.
static const char *list_name(const writer *w, const char *list,
                             int (*belongs)(const ln_opttensor *))
{
    if (!has_any(w->rule, belongs))
        return "NULL";
    return ln_arena_printf(w->desc->arena, "%s_%d_%s", w->rule->name, w->number, list);
}

static int write_row(writer *w)
{
    const ln_rjson *place = w->test->place.file ? &w->test->place : &w->rule->place;
    const char *rule = w->rule->name;
    ln_cgen_line(
        w->out, 4,
        "{\"%s\", \"%s:%d\", %s_%d_tensors, %s_%d_ops, %s_%d_outputs, %s, %s, %d, %d, %.9g, %s},",
        rule, ln_cgen_base_name(place->file), place->line, rule, w->number, rule, w->number, rule,
        w->number, list_name(w, "removed", is_removed), list_name(w, "kept", is_kept),
        w->test->fires, w->rule->warn != NULL, w->test->tolerance,
        w->test->precision ? "\"bf16\"" : "NULL");
    return 0;
}

int ln_optcode_tests(const ln_optdesc *desc, ln_cgen *out, ln_error *err)
{
    ln_optcode_banner(desc, "The tests of an architecture's rewrites", out);
    ln_cgen_print(out, "#include \"ln_rule_check.h\"\n\n");
    for (const ln_optrule *rule = desc->rules; rule; rule = rule->next) {
        if (for_tests(desc, rule, out, err, write_model))
            return -1;
    }
    ln_cgen_print(out, "static const ln_rule_case cases[] = {\n");
    for (const ln_optrule *rule = desc->rules; rule; rule = rule->next)
        for_tests(desc, rule, out, err, write_row);
    ln_cgen_print(out, "    {NULL},\n};\n\nint main(int argc, char **argv)\n{\n");
    // With the architecture's own suffix, as the operators of the pattern spell `create`.
    ln_cgen_line(out, 4, "return ln_rule_check(argc, argv, \"%s\", \"create%s\", cases);",
                 strcmp(desc->arch, "none") == 0 ? "cpu" : desc->arch,
                 desc->lower ? desc->lower->text : "");
    ln_cgen_print(out, "}\n");
    return 0;
}
