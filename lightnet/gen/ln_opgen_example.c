// SPDX-License-Identifier: Apache-2.0
// Generates a test program: the examples as a table of small models in the JSON IR.

#include "gen/ln_opgen_example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/ln_opgen_c.h"
#include "lightnet/ln_util.h"

typedef enum example_field {
    EXAMPLE_DOC,
    EXAMPLE_IN,
    EXAMPLE_PARAMS,
    EXAMPLE_OUT,
    EXAMPLE_TOLERANCE,
    EXAMPLE_ERROR,
    EXAMPLE_FIELDS
} example_field;

/* The members of an object, and what each must be. */
typedef struct member_spec {
    const char *key;
    ln_rjson_type type;
    int is_required;
} member_spec;

static const member_spec example_members[EXAMPLE_FIELDS] = {
    [EXAMPLE_DOC] = {"doc", LN_RJSON_STRING, 0},
    [EXAMPLE_IN] = {"in", LN_RJSON_OBJECT, 0},
    [EXAMPLE_PARAMS] = {"params", LN_RJSON_OBJECT, 0},
    [EXAMPLE_OUT] = {"out", LN_RJSON_OBJECT, 0},
    [EXAMPLE_TOLERANCE] = {"tolerance", LN_RJSON_NUMBER, 0},
    [EXAMPLE_ERROR] = {"error", LN_RJSON_STRING, 0},
};

enum { TENSOR_DTYPE, TENSOR_DIMS, TENSOR_DATA, TENSOR_FIELDS };

static const member_spec input_members[TENSOR_FIELDS] = {
    [TENSOR_DTYPE] = {"dtype", LN_RJSON_STRING, 1},
    [TENSOR_DIMS] = {"dims", LN_RJSON_ARRAY, 1},
    [TENSOR_DATA] = {"data", LN_RJSON_ARRAY, 1},
};

static const member_spec output_members[TENSOR_FIELDS] = {
    [TENSOR_DTYPE] = {"dtype", LN_RJSON_STRING, 0},
    [TENSOR_DIMS] = {"dims", LN_RJSON_ARRAY, 0},
    [TENSOR_DATA] = {"data", LN_RJSON_ARRAY, 1},
};

/* ---- checks ---- */

static int check_members(const ln_opdesc *op, const ln_rjson *object, const member_spec *specs,
                         size_t n, ln_error *err)
{
    if (object->type != LN_RJSON_OBJECT)
        return ln_opdesc_fail(op, object, err, "example: %s, expected an object",
                              ln_rjson_type_name(object->type));
    for (size_t i = 0; i < object->len; i++) {
        const ln_rjson *member = object->items[i];
        size_t k = 0;
        while (k < n && strcmp(specs[k].key, member->key) != 0)
            k++;
        if (k == n)
            return ln_opdesc_fail(op, member, err, "example: unknown key \"%s\"", member->key);
        if (member->type != specs[k].type)
            return ln_opdesc_fail(op, member, err, "example: \"%s\" is %s, expected %s",
                                  member->key, ln_rjson_type_name(member->type),
                                  ln_rjson_type_name(specs[k].type));
    }
    for (size_t k = 0; k < n; k++) {
        if (specs[k].is_required && !ln_rjson_get(object, specs[k].key))
            return ln_opdesc_fail(op, object, err, "example: \"%s\" is missing", specs[k].key);
    }
    return 0;
}

/** 1 when `text` is "nan", "inf" or "-inf". */
static int is_special(const char *text)
{
    return strcmp(text, "nan") == 0 || strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0;
}

static int check_numbers(const ln_opdesc *op, const ln_rjson *array, int is_data, ln_error *err)
{
    for (size_t i = 0; array && i < array->len; i++) {
        const ln_rjson *item = array->items[i];
        if (item->type != LN_RJSON_NUMBER &&
            !(is_data && item->type == LN_RJSON_STRING && is_special(item->text)))
            return ln_opdesc_fail(
                op, item, err, "example: item of \"%s\" is %s, expected a number%s", array->key,
                ln_rjson_type_name(item->type), is_data ? ", \"nan\", \"inf\" or \"-inf\"" : "");
    }
    return 0;
}

/** The argument that `name` is, or one of the variadic ones of. */
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

static int check_names(const ln_opdesc *op, ln_argdesc_kind kind, const ln_rjson *object,
                       ln_error *err)
{
    static const char *const kinds[] = {"input", "output", "parameter"};
    for (size_t i = 0; object && i < object->len; i++) {
        if (!find_arg(op, kind, object->items[i]->key))
            return ln_opdesc_fail(op, object->items[i], err, "example: there is no %s '%s'",
                                  kinds[kind], object->items[i]->key);
    }
    return 0;
}

static int check_tensors(const ln_opdesc *op, ln_argdesc_kind kind, const ln_rjson *tensors,
                         ln_error *err)
{
    const member_spec *specs = kind == LN_ARGDESC_IN ? input_members : output_members;
    if (check_names(op, kind, tensors, err))
        return -1;
    for (size_t i = 0; tensors && i < tensors->len; i++) {
        const ln_rjson *tensor = tensors->items[i];
        if (check_members(op, tensor, specs, TENSOR_FIELDS, err) ||
            check_numbers(op, ln_rjson_get(tensor, "dims"), 0, err) ||
            check_numbers(op, ln_rjson_get(tensor, "data"), 1, err))
            return -1;
    }
    return 0;
}

static int check_example(const ln_opdesc *op, const ln_rjson *example, ln_error *err)
{
    if (check_members(op, example, example_members, EXAMPLE_FIELDS, err))
        return -1;
    const ln_rjson *out = ln_rjson_get(example, "out"), *error = ln_rjson_get(example, "error");
    if (!out == !error)
        return ln_opdesc_fail(op, example, err, "example: expected \"out\" or \"error\"");
    if (check_tensors(op, LN_ARGDESC_IN, ln_rjson_get(example, "in"), err) ||
        check_tensors(op, LN_ARGDESC_OUT, out, err) ||
        check_names(op, LN_ARGDESC_PARAM, ln_rjson_get(example, "params"), err))
        return -1;
    return 0;
}

/* ---- the model ---- */

/** Whether a `create` can make the tensor: it makes no scalars and no empty ones. */
static int is_creatable(const ln_rjson *input)
{
    const ln_rjson *dims = ln_rjson_get(input, "dims");
    for (size_t i = 0; i < dims->len; i++)
        if (strcmp(dims->items[i]->text, "0") == 0)
            return 0;
    return dims->len > 0;
}

/** Prints the operator that makes an input: for an operator of a target, that target's. */
static void print_create(FILE *model, const ln_opdesc *op, const ln_rjson *input)
{
    const int is_abstract = strcmp(op->arch, "none") == 0;
    const char *optype = is_creatable(input) ? "create" : "source";
    fprintf(model,
            "{\"name\": \"create_%s\", \"optype\": \"%s%s%s\", \"tensors_in\": [], "
            "\"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"%s\"}], \"params\": [",
            input->key, optype, is_abstract ? "" : "_", is_abstract ? "" : op->arch, input->key);
    for (size_t i = 0; i < input->len; i++) {
        fprintf(model, "{\"arg_name\": \"%s\", \"value\": ", input->items[i]->key);
        ln_rjson_print(model, input->items[i]);
        fprintf(model, "}, ");
    }
    if (is_creatable(input))
        fprintf(model, "{\"arg_name\": \"ran\", \"value\": [0, 0]}, ");
    fprintf(model, "{\"arg_name\": \"from_file\", \"value\": false}]}, ");
}

static void print_tensor_list(FILE *model, const char *key, const ln_rjson *tensors)
{
    fprintf(model, "\"%s\": [", key);
    for (size_t i = 0; tensors && i < tensors->len; i++)
        fprintf(model, "%s{\"arg_name\": \"%s\", \"name\": \"%s\"}", i ? ", " : "",
                tensors->items[i]->key, tensors->items[i]->key);
    fprintf(model, "], ");
}

/** Prints the outputs' list of an example that must fail: as the description declares it. */
static void print_declared_outputs(FILE *model, const ln_opdesc *op)
{
    const char *comma = "";
    fprintf(model, "\"tensors_out\": [");
    for (size_t i = 0; i < op->nargs; i++) {
        const ln_argdesc *arg = &op->args[i];
        if (arg->kind != LN_ARGDESC_OUT || ln_argdesc_is(arg, LN_ARGDESC_OPTIONAL))
            continue;
        fprintf(model, "%s{\"arg_name\": \"%s%s\", \"name\": \"%s\"}", comma, arg->name,
                arg->variadic ? "0" : "", arg->name);
        comma = ", ";
    }
    fprintf(model, "], ");
}

static void print_model(FILE *model, const ln_opdesc *op, const ln_rjson *example)
{
    const ln_rjson *in = ln_rjson_get(example, "in"), *out = ln_rjson_get(example, "out");
    const ln_rjson *params = ln_rjson_get(example, "params");
    fprintf(model, "[");
    for (size_t i = 0; in && i < in->len; i++)
        print_create(model, op, in->items[i]);
    fprintf(model, "{\"name\": \"%s\", \"optype\": \"%s\", ", op->optype, op->optype);
    print_tensor_list(model, "tensors_in", in);
    if (out)
        print_tensor_list(model, "tensors_out", out);
    else
        print_declared_outputs(model, op);
    fprintf(model, "\"params\": [");
    for (size_t i = 0; params && i < params->len; i++) {
        fprintf(model, "%s{\"arg_name\": \"%s\", \"value\": ", i ? ", " : "",
                params->items[i]->key);
        ln_rjson_print(model, params->items[i]);
        fprintf(model, "}");
    }
    fprintf(model, "]}]");
}

/* ---- the table ---- */

/** Writes `.field = "...",`. */
static void write_string(ln_cgen *out, const char *field, const char *text)
{
    ln_cgen escaped = {.file = "-"};
    ln_cgen_escaped(&escaped, text);
    ln_cgen_line(out, 8, ".%s = \"%s\",", field, escaped.text ? escaped.text : "");
    out->failed |= escaped.failed;
    ln_cgen_free(&escaped);
}

/** Writes `.field = "\"a\", \"b\"",`. */
static void write_keys(ln_cgen *out, const char *field, const ln_rjson *object)
{
    ln_cgen keys = {.file = "-"};
    for (size_t i = 0; object && i < object->len; i++)
        ln_cgen_print(&keys, "%s\"%s\"", i ? ", " : "", object->items[i]->key);
    out->failed |= keys.failed;
    write_string(out, field, keys.text ? keys.text : "");
    ln_cgen_free(&keys);
}

static void append_number(ln_cgen *line, const ln_rjson *item)
{
    if (item->type == LN_RJSON_NUMBER)
        ln_cgen_print(line, "%s", item->text);
    else
        ln_cgen_print(line, "%s",
                      strcmp(item->text, "nan") == 0 ? "NAN"
                      : *item->text == '-'           ? "-INFINITY"
                                                     : "INFINITY");
}

static void append_array(ln_cgen *line, const char *type, const ln_rjson *array)
{
    if (array->len == 0) {
        ln_cgen_print(line, "NULL");
        return;
    }
    ln_cgen_print(line, "(const %s[]){", type);
    for (size_t i = 0; i < array->len; i++) {
        ln_cgen_print(line, i ? ", " : "");
        append_number(line, array->items[i]);
    }
    ln_cgen_print(line, "}");
}

static void write_expected(ln_cgen *out, const ln_rjson *tensor)
{
    const ln_rjson *dtype = ln_rjson_get(tensor, "dtype"), *dims = ln_rjson_get(tensor, "dims");
    const ln_rjson *data = ln_rjson_get(tensor, "data");
    ln_cgen line = {.file = "-"};
    ln_cgen_print(&line, "{.name = \"%s\", ", tensor->key);
    if (dtype)
        ln_cgen_print(&line, ".dtype = \"%s\", ", dtype->text);
    ln_cgen_print(&line, ".ndim = %d, ", dims ? (int)dims->len : -1);
    if (dims && dims->len > 0) {
        ln_cgen_print(&line, ".dims = ");
        append_array(&line, "int", dims);
        ln_cgen_print(&line, ", ");
    }
    ln_cgen_print(&line, ".len = %zu, .data = ", data->len);
    append_array(&line, "double", data);
    ln_cgen_print(&line, "},");
    out->failed |= line.failed;
    ln_cgen_line(out, 12, "%s", line.text ? line.text : "");
    ln_cgen_free(&line);
}

static void write_model(ln_cgen *out, const ln_opdesc *op, const ln_rjson *example)
{
    char *text = NULL;
    size_t size = 0;
    FILE *model = open_memstream(&text, &size);
    if (!model) {
        out->failed = 1;
        return;
    }
    print_model(model, op, example);
    fclose(model);
    write_string(out, "ops", text);
    free(text);
}

static void write_example(ln_cgen *out, const ln_opdesc *op, const ln_rjson *example)
{
    const ln_rjson *expected = ln_rjson_get(example, "out"),
                   *error = ln_rjson_get(example, "error");
    const ln_rjson *doc = ln_rjson_get(example, "doc"),
                   *tolerance = ln_rjson_get(example, "tolerance");
    ln_cgen_line(out, 4, "{");
    ln_cgen_line(out, 8, ".place = \"%s:%d\",", ln_cgen_base_name(example->file), example->line);
    write_string(out, "doc", doc ? doc->text : "");
    ln_cgen_line(out, 8, ".optype = \"%s\",", op->optype);
    ln_cgen_line(out, 8, ".arch = \"%s\",", op->arch);
    write_keys(out, "inputs", ln_rjson_get(example, "in"));
    write_keys(out, "outputs", expected);
    write_model(out, op, example);
    if (tolerance)
        ln_cgen_line(out, 8, ".tolerance = %s,", tolerance->text);
    if (error)
        write_string(out, "error", error->text);
    if (expected) {
        ln_cgen_line(out, 8, ".expected = (const ln_example_output[]){");
        for (size_t i = 0; i < expected->len; i++)
            write_expected(out, expected->items[i]);
        ln_cgen_line(out, 12, "{.name = NULL},");
        ln_cgen_line(out, 8, "},");
    }
    ln_cgen_line(out, 4, "},");
}

int ln_opgen_tests(ln_cgen *out, const ln_opdescs *descs, ln_error *err)
{
    size_t n = 0;
    ln_cgen_print(out, "// Generated from ");
    ln_opgen_print_sources(out, descs);
    ln_cgen_print(out, ": runs the examples of the operators.\n\n#include \"ln_example.h\"\n\n");
    ln_cgen_print(out, "static const ln_example examples[] = {\n");
    for (size_t i = 0; i < descs->len; i++) {
        const ln_opdesc *op = descs->ops[i];
        const ln_rjson *examples = op->fields[LN_OPDESC_EXAMPLES];
        for (size_t k = 0; op->own && examples && k < examples->len; k++, n++) {
            if (check_example(op, examples->items[k], err))
                return -1;
            write_example(out, op, examples->items[k]);
        }
    }
    if (n == 0)
        return ln_error_set(err, "the descriptions have no examples");
    ln_cgen_print(out, "};\n\nint main(void)\n{\n    return ln_example_main(examples, "
                       "sizeof(examples) / sizeof(*examples));\n}\n");
    return 0;
}
