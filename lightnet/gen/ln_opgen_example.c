// SPDX-License-Identifier: Apache-2.0
// Generates a test program: the examples as a table of small models in the JSON IR.

#include "gen/ln_opgen.h"

#include <ctype.h>
#include <string.h>

#include "gen/ln_optdesc.h"
#include "gen/ln_optwrite.h"

// Checks

// The argument that `name` is, or one of the variadic ones of.
static const ln_argdesc *find_arg(const ln_opdesc *op, ln_argdesc_kind kind, const char *name)
{
    for (size_t i = 0; i < op->nargs; i++) {
        const ln_argdesc *arg = &op->args[i];
        const size_t len = strlen(arg->name);
        if (arg->kind != kind || strncmp(arg->name, name, len) != 0)
            continue;
        if (arg->variadic ? name[len] && !name[len + strspn(name + len, "0123456789")] : !name[len])
            return arg;
    }
    return NULL;
}

// Records a reason for a place in an example; returns -1.
static int fail(const ln_opdesc *op, const ln_rjson *place, ln_error *err, const char *reason,
                const char *what)
{
    return ln_opdesc_fail(op, place, err, "example: %s '%s'", reason, what);
}

static int check_name(const ln_opdesc *op, ln_argdesc_kind kind, const ln_rjson *place,
                      const char *name, ln_error *err)
{
    static const char *const unknown[] = {"unknown input", "unknown output", "unknown parameter"};
    return find_arg(op, kind, name) ? 0 : fail(op, place, err, unknown[kind], name);
}

static int check_tensors(const ln_opdesc *op, ln_argdesc_kind kind, const ln_optarg *args,
                         ln_error *err)
{
    for (const ln_optarg *arg = args; arg; arg = arg->next) {
        if (check_name(op, kind, &arg->place, arg->arg_name, err))
            return -1;
        if (kind == LN_ARGDESC_IN && !arg->data->has_dims)
            return fail(op, &arg->place, err, "expected '[DTYPE] [DIMS] {DATA}' for input",
                        arg->arg_name);
        for (const ln_optarg *before = args; before != arg; before = before->next) {
            if (strcmp(before->arg_name, arg->arg_name) == 0)
                return fail(op, &arg->place, err, "given twice:", arg->arg_name);
        }
    }
    return 0;
}

static int check_params(const ln_opdesc *op, const ln_optparam *params, ln_error *err)
{
    for (const ln_optparam *param = params; param; param = param->next) {
        if (!param->arg_name || param->type >= LN_OPT_PARAM)
            return fail(op, &param->place, err, "expected a literal value for parameter",
                        param->arg_name ? param->arg_name : param->op);
        if (check_name(op, LN_ARGDESC_PARAM, &param->place, param->arg_name, err))
            return -1;
        for (const ln_optparam *before = params; before != param; before = before->next) {
            if (strcmp(before->arg_name, param->arg_name) == 0)
                return fail(op, &param->place, err, "given twice:", param->arg_name);
        }
    }
    return 0;
}

static int check_example(const ln_opdesc *op, const ln_optexample *example, ln_error *err)
{
    if (example->error ? example->op.outs != NULL : !example->op.outs && ln_opdesc_has_output(op))
        return ln_opdesc_fail(op, &example->op.place, err,
                              "example: expected either outputs or 'fails \"MESSAGE\"'");
    return -(check_tensors(op, LN_ARGDESC_IN, example->op.ins, err) ||
             check_tensors(op, LN_ARGDESC_OUT, example->op.outs, err) ||
             check_params(op, example->op.params, err));
}

// The model

// Whether a `create` can produce the tensor: not scalars, not empty ones.
static int is_creatable(const ln_optdata *data)
{
    for (int i = 0; i < data->ndim; i++)
        if (strcmp(data->dims[i], "0") == 0)
            return 0;
    return data->ndim > 0;
}

// 1 for "nan", "inf" and "-inf".
static int is_special(const char *item)
{
    return isalpha((unsigned char)item[*item == '-']) != 0;
}

static void print_array(ln_cgen *model, const char *const *items, int len)
{
    ln_cgen_print(model, "[");
    for (int i = 0; i < len; i++) {
        const char *quote = is_special(items[i]) ? "\"" : "";
        ln_cgen_print(model, "%s%s%s%s", i ? ", " : "", quote, items[i], quote);
    }
    ln_cgen_print(model, "]");
}

// Prints what every operator beside the tested one begins with: for one of a target, that
// target's.
static void print_begin(ln_cgen *model, const ln_opdesc *op, const char *optype, const char *name)
{
    const int is_abstract = strcmp(op->arch, "none") == 0;
    ln_cgen_print(model, "{\"name\": \"%s_%s\", \"optype\": \"%s%s%s\", ", optype, name, optype,
                  is_abstract ? "" : "_", is_abstract ? "" : op->arch);
}

// Prints the producer of an input, whose name gets a prefix.
static void print_create(ln_cgen *model, const ln_opdesc *op, const ln_optarg *input,
                         const char *prefix)
{
    const ln_optdata *data = input->data;
    print_begin(model, op, is_creatable(data) ? "create" : "source", input->arg_name);
    ln_cgen_print(model,
                  "\"tensors_in\": [], "
                  "\"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"%s%s\"}], \"params\": "
                  "[{\"arg_name\": \"dtype\", \"value\": \"%s\"}, ",
                  prefix, input->arg_name, data->dtype);
    ln_cgen_print(model, "{\"arg_name\": \"dims\", \"value\": ");
    print_array(model, data->dims, data->ndim);
    ln_cgen_print(model, "}, {\"arg_name\": \"data\", \"value\": ");
    print_array(model, data->items, data->len);
    ln_cgen_print(model, "}, ");
    if (is_creatable(data))
        ln_cgen_print(model, "{\"arg_name\": \"ran\", \"value\": [0, 0]}, ");
    ln_cgen_print(model, "{\"arg_name\": \"from_file\", \"value\": false}]}, ");
}

// Whether an input must be static, so that no operator of a run can produce it.
static int reads_static(const ln_opdesc *op)
{
    for (size_t i = 0; i < op->nargs; i++)
        if (op->args[i].kind == LN_ARGDESC_IN && ln_argdesc_is(&op->args[i], LN_ARGDESC_STATIC))
            return 1;
    return 0;
}

// Prints an operator that copies the created tensor to the input.
static void print_copy(ln_cgen *model, const ln_opdesc *op, const ln_optarg *input,
                       const char *prefix)
{
    print_begin(model, op, "cast", input->arg_name);
    ln_cgen_print(model,
                  "\"tensors_in\": [{\"arg_name\": \"src\", \"name\": \"%s%s\"}], "
                  "\"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"%s\"}], "
                  "\"params\": [{\"arg_name\": \"dtype\", \"value\": \"%s\"}]}, ",
                  prefix, input->arg_name, input->arg_name, input->data->dtype);
}

static void print_tensor_list(ln_cgen *model, const char *key, const ln_optarg *args)
{
    ln_cgen_print(model, "\"%s\": [", key);
    for (const ln_optarg *arg = args; arg; arg = arg->next)
        ln_cgen_print(model, "%s{\"arg_name\": \"%s\", \"name\": \"%s\"}", arg == args ? "" : ", ",
                      arg->arg_name, arg->arg_name);
    ln_cgen_print(model, "], ");
}

// Prints the outputs' list of an example that must fail: as the description declares it.
static void print_declared_outputs(ln_cgen *model, const ln_opdesc *op)
{
    const char *comma = "";
    ln_cgen_print(model, "\"tensors_out\": [");
    for (size_t i = 0; i < op->nargs; i++) {
        const ln_argdesc *arg = &op->args[i];
        if (arg->kind != LN_ARGDESC_OUT || ln_argdesc_is(arg, LN_ARGDESC_OPTIONAL))
            continue;
        ln_cgen_print(model, "%s{\"arg_name\": \"%s%s\", \"name\": \"%s\"}", comma, arg->name,
                      arg->variadic ? "0" : "", arg->name);
        comma = ", ";
    }
    ln_cgen_print(model, "], ");
}

static void print_param(ln_cgen *model, const ln_optparam *param, const char *comma)
{
    const int is_array = param->type >= LN_OPT_STRINGS;
    ln_cgen_print(model, "%s{\"arg_name\": \"%s\", \"value\": %s", comma, param->arg_name,
                  is_array ? "[" : "");
    for (int i = 0; i < param->len; i++) {
        ln_cgen_print(model, i ? ", " : "");
        ln_optwrite_json_item(model, param, i);
    }
    ln_cgen_print(model, is_array ? "]}" : "}");
}

// Prints the parameters of an example, and the values of those that it leaves out.
static void print_params(ln_cgen *model, const ln_opdesc *op, const ln_optparam *params)
{
    const char *comma = "";
    ln_cgen_print(model, "\"params\": [");
    for (const ln_optparam *param = params; param; param = param->next, comma = ", ")
        print_param(model, param, comma);
    for (size_t i = 0; i < op->nargs; i++) {
        const ln_rjson *value = op->args[i].fields[LN_ARGDESC_EXAMPLE];
        const ln_optparam *given = params;
        while (given && strcmp(given->arg_name, op->args[i].name) != 0)
            given = given->next;
        if (!value || given || op->args[i].fields[LN_ARGDESC_DEFAULT])
            continue;
        ln_cgen_print(model, "%s{\"arg_name\": \"%s\", \"value\": %s}", comma, op->args[i].name,
                      ln_cgen_json(model, value));
        comma = ", ";
    }
    ln_cgen_print(model, "]");
}

// With a prefix, the model's inputs have it in their names, and the tested operator reads copies
// of them.
static void print_model(ln_cgen *model, const ln_opdesc *op, const ln_optexample *example,
                        const char *prefix)
{
    ln_cgen_print(model, "[");
    for (const ln_optarg *input = example->op.ins; input; input = input->next) {
        print_create(model, op, input, prefix);
        if (*prefix)
            print_copy(model, op, input, prefix);
    }
    ln_cgen_print(model, "{\"name\": \"%s\", \"optype\": \"%s\", ", op->optype, op->optype);
    print_tensor_list(model, "tensors_in", example->op.ins);
    if (example->error)
        print_declared_outputs(model, op);
    else
        print_tensor_list(model, "tensors_out", example->op.outs);
    print_params(model, op, example->op.params);
    ln_cgen_print(model, "}]");
}

// The table

// Writes `.field = "...",`.
static void write_string(ln_cgen *out, const char *field, const char *text)
{
    ln_cgen_line(out, 8, ".%s = %s,", field, ln_cgen_quote(out, text));
}

// Writes `.field = "\"a\", \"b\"",`.
static void write_keys(ln_cgen *out, const char *field, const char *prefix, const ln_optarg *args)
{
    const char *keys = "";
    for (const ln_optarg *arg = args; arg; arg = arg->next)
        ln_arena_extend(&out->arena, &keys, "%s\"%s%s\"", arg == args ? "" : ", ", prefix,
                        arg->arg_name);
    write_string(out, field, keys);
}

// Writes the names of the inputs and the operators of one form of the model.
static void write_model(ln_cgen *out, const ln_opdesc *op, const ln_optexample *example,
                        const char *prefix, const char *inputs, const char *ops)
{
    ln_cgen model = {.file = "-"};
    write_keys(out, inputs, prefix, example->op.ins);
    print_model(&model, op, example, prefix);
    write_string(out, ops, model.text);
    ln_cgen_free(&model);
}

static void append_array(ln_cgen *line, const char *type, const char *const *items, int len)
{
    if (len == 0) {
        ln_cgen_print(line, "NULL");
        return;
    }
    ln_cgen_print(line, "(const %s[]){", type);
    for (int i = 0; i < len; i++) {
        const char *number = !is_special(items[i])          ? items[i]
                             : strcmp(items[i], "nan") == 0 ? "NAN"
                             : *items[i] == '-'             ? "-INFINITY"
                                                            : "INFINITY";
        ln_cgen_print(line, "%s%s", i ? ", " : "", number);
    }
    ln_cgen_print(line, "}");
}

static void write_expected(ln_cgen *out, const ln_optarg *output)
{
    const ln_optdata *data = output->data;
    ln_cgen line = {.file = "-"};
    ln_cgen_print(&line, "{.name = \"%s\", ", output->arg_name);
    if (data->dtype)
        ln_cgen_print(&line, ".dtype = \"%s\", ", data->dtype);
    ln_cgen_print(&line, ".ndim = %d, ", data->has_dims ? data->ndim : -1);
    if (data->ndim > 0) {
        ln_cgen_print(&line, ".dims = ");
        append_array(&line, "int", data->dims, data->ndim);
        ln_cgen_print(&line, ", ");
    }
    ln_cgen_print(&line, ".len = %d, .data = ", data->len);
    append_array(&line, "double", data->items, data->len);
    ln_cgen_print(&line, "},");
    ln_cgen_line(out, 12, "%s", line.text);
    ln_cgen_free(&line);
}

// The largest error of the operator's meanings.
static double meaning_within(const ln_opdesc *op)
{
    const ln_rjson *const means = op->fields[LN_OPDESC_MEANS];
    double max = 0;
    for (size_t i = 0; i < means->len; i++) {
        const ln_rjson *const within = ln_rjson_get(means->items[i], "within");
        max = within && within->number > max ? within->number : max;
    }
    return max;
}

static void write_example(ln_cgen *out, const ln_opdesc *op, const ln_optexample *example)
{
    const ln_rjson *place = &example->op.place;
    ln_cgen_line(out, 4, "{");
    ln_cgen_line(out, 8, ".place = \"%s:%d\",", ln_cgen_base_name(place->file), place->line);
    write_string(out, "doc", example->doc);
    ln_cgen_line(out, 8, ".optype = \"%s\",", op->optype);
    ln_cgen_line(out, 8, ".arch = \"%s\",", op->arch);
    write_model(out, op, example, "", "inputs", "ops");
    if (!example->error && !reads_static(op))
        write_model(out, op, example, "given_", "given", "chain");
    write_keys(out, "outputs", "", example->op.outs);
    if (example->tolerance)
        ln_cgen_line(out, 8, ".tolerance = %s,", example->tolerance);
    if (op->fields[LN_OPDESC_MEANS] && !example->error)
        ln_cgen_line(out, 8, ".has_meaning = 1, .meaning_within = %g,", meaning_within(op));
    if (example->error)
        write_string(out, "error", example->error);
    if (!example->error) {
        ln_cgen_line(out, 8, ".expected = (const ln_example_output[]){");
        for (const ln_optarg *output = example->op.outs; output; output = output->next)
            write_expected(out, output);
        ln_cgen_line(out, 12, "{.name = NULL},");
        ln_cgen_line(out, 8, "},");
    }
    ln_cgen_line(out, 4, "},");
}

// Writes the examples of an operator, and counts them in `*n`.
static int write_examples(ln_cgen *out, const ln_opdesc *op, size_t *n, ln_error *err)
{
    const ln_rjson *text = op->fields[LN_OPDESC_EXAMPLES];
    const char *subject = ln_arena_printf(&out->arena, "operator '%s': example", op->optype);
    ln_optexample *examples = NULL;
    if (!op->own || !text)
        return 0;
    if (ln_optpat_parse_examples(&out->arena, subject, text, &examples, err))
        return -1;
    for (const ln_optexample *example = examples; example; example = example->next, (*n)++) {
        if (check_example(op, example, err))
            return -1;
        write_example(out, op, example);
    }
    return 0;
}

int ln_opgen_tests(ln_cgen *out, const ln_opdescs *descs, ln_error *err)
{
    ln_cgen_print(out, "// Generated from ");
    ln_opgen_print_sources(out, descs);
    ln_cgen_print(out, ": runs the examples of the operators.\n\n#include \"ln_example.h\"\n\n"
                       "static const ln_example examples[] = {\n");
    size_t n = 0;
    for (size_t i = 0; i < descs->len; i++) {
        if (write_examples(out, descs->ops[i], &n, err))
            return -1;
    }
    ln_cgen_print(out, "};\n\nint main(int argc, char **argv)\n{\n    return "
                       "LN_EXAMPLE_MAIN(examples, sizeof(examples) / sizeof(*examples), argc, "
                       "argv);\n}\n");
    return n > 0 ? 0 : ln_error_set(err, "the descriptions have no examples");
}
