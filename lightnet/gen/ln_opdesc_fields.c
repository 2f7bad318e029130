// SPDX-License-Identifier: Apache-2.0
// Operator descriptions: the table of fields, and messages about errors in one.

#include "gen/ln_opdesc_fields.h"

#include <stdio.h>
#include <string.h>

const field_spec ln_opdesc_op_fields[LN_OPDESC_FIELDS] = {
    [LN_OPDESC_OPTYPE] = {"optype", STRING, .is_required = 1, .is_own = 1},
    [LN_OPDESC_AUTHOR] = {"author", STRING, .is_required = 1, .of_file = 1},
    [LN_OPDESC_ARCH] = {"arch", STRING, .is_required = 1, .of_file = 1},
    [LN_OPDESC_INHERITS] = {"inherits", STRING | ARRAY, .is_own = 1},
    [LN_OPDESC_AUTOGEN] = {"autogen", BOOL, .is_own = 1},
    [LN_OPDESC_TARGETS] = {"targets", OBJECT, .is_own = 1},
    [LN_OPDESC_DOC] = {"doc", STRING},
    [LN_OPDESC_PURE] = {"pure", BOOL},
    [LN_OPDESC_WRITES] = {"writes", STRING},
    [LN_OPDESC_MTYPE] = {"mtype", STRING, .of_target = 1, .of_file = 1},
    [LN_OPDESC_INPLACE] = {"inplace", ARRAY},
    [LN_OPDESC_INPLACE_WRITER] = {"inplace_writer", BOOL},
    [LN_OPDESC_STRINGS] = {"strings", BOOL},
    [LN_OPDESC_TRAITS] = {"traits", ARRAY},
    [LN_OPDESC_MEANS] = {"means", STRING | ARRAY, .is_own = 1},
    [LN_OPDESC_EXTRA_PRIVS] = {"extra_privs", ARRAY},
    [LN_OPDESC_TENSORS_IN] = {"tensors_in", ARRAY, .is_required = 1},
    [LN_OPDESC_TENSORS_OUT] = {"tensors_out", ARRAY, .is_required = 1},
    [LN_OPDESC_PARAMS] = {"params", ARRAY, .is_required = 1},
    [LN_OPDESC_CUSTOM] = {"custom", STRING, .is_body = 1, .of_target = 1, .is_last = 1},
    [LN_OPDESC_SCRATCH] = {"scratch", CODE, .of_target = 1, .is_last = 1},
    [LN_OPDESC_CAN_FAIL] = {"can_fail", CODE, .is_last = 1},
    [LN_OPDESC_MACS] = {"macs", CODE, .of_target = 1, .is_last = 1},
    [LN_OPDESC_ALGORITHM] = {"algorithm", STRING, .of_target = 1, .is_last = 1},
    [LN_OPDESC_LAYOUT] = {"layout", STRING, .of_target = 1, .is_last = 1},
    [LN_OPDESC_STATIC_RUN] = {"static_run", STRING, .is_body = 1, .of_target = 1},
    [LN_OPDESC_STATIC_CALL] = {"static_call", STRING, .of_target = 1},
    [LN_OPDESC_RUN] = {"run", STRING, .is_body = 1, .of_target = 1},
    [LN_OPDESC_CALL] = {"call", STRING, .of_target = 1},
    [LN_OPDESC_POST_RUN] = {"post_run", STRING, .is_body = 1},
    [LN_OPDESC_CALC_OFFSET] = {"calc_offset", STRING, .is_body = 1},
    [LN_OPDESC_ONNX] = {"onnx", STRING, .is_own = 1},
    [LN_OPDESC_EXAMPLES] = {"examples", STRING, .is_own = 1},
};

const field_spec ln_opdesc_arg_fields[LN_ARGDESC_FIELDS] = {
    [LN_ARGDESC_ARG_NAME] = {"arg_name", STRING, ALL},
    [LN_ARGDESC_TYPE] = {"type", STRING, ALL},
    [LN_ARGDESC_DOC] = {"doc", STRING, ALL},
    [LN_ARGDESC_OPTIONAL] = {"optional", BOOL, TENSOR},
    [LN_ARGDESC_VARIADIC] = {"variadic", BOOL, TENSOR},
    [LN_ARGDESC_MTYPE] = {"mtype", STRING, TENSOR},
    [LN_ARGDESC_DTYPE] = {"dtype", STRING, TENSOR},
    [LN_ARGDESC_SAMETYPE] = {"sametype", STRING, TENSOR},
    [LN_ARGDESC_NDIM] = {"ndim", CODE, TENSOR},
    [LN_ARGDESC_DIMS] = {"dims", ARRAY | STRING, OUT},
    [LN_ARGDESC_SAMESHAPE] = {"sameshape", STRING, TENSOR},
    [LN_ARGDESC_SIZES] = {"sizes", STRING, OUT},
    [LN_ARGDESC_VALUES] = {"values", STRING, OUT},
    [LN_ARGDESC_STATIC] = {"static", BOOL, TENSOR},
    [LN_ARGDESC_OWNER] = {"owner", STRING, OUT},
    [LN_ARGDESC_INPLACE] = {"inplace", ARRAY, OUT},
    [LN_ARGDESC_DYNAMIC] = {"dynamic", BOOL, OUT},
    [LN_ARGDESC_SETS] = {"sets", STRING, IN},
    [LN_ARGDESC_PTYPE] = {"ptype", STRING, PARAM},
    [LN_ARGDESC_REALTYPE] = {"realtype", STRING, PARAM},
    [LN_ARGDESC_FROM_FUNC] = {"from_func", STRING, PARAM},
    [LN_ARGDESC_NAME_FUNC] = {"name_func", STRING, PARAM},
    [LN_ARGDESC_DEFAULT] = {"default", ANY, PARAM},
    [LN_ARGDESC_EXAMPLE] = {"example", ANY, PARAM},
    [LN_ARGDESC_LEN] = {"len", CODE, ALL},
    [LN_ARGDESC_LEN_GT] = {"len_gt", CODE, PARAM},
    [LN_ARGDESC_LEN_GE] = {"len_ge", CODE, PARAM},
    [LN_ARGDESC_LEN_LT] = {"len_lt", CODE, PARAM},
    [LN_ARGDESC_LEN_LE] = {"len_le", CODE, PARAM},
    [LN_ARGDESC_LEN_NE] = {"len_ne", CODE, PARAM},
    [LN_ARGDESC_EQ] = {"eq", CODE, PARAM},
    [LN_ARGDESC_GT] = {"gt", CODE, PARAM},
    [LN_ARGDESC_GE] = {"ge", CODE, PARAM},
    [LN_ARGDESC_LT] = {"lt", CODE, PARAM},
    [LN_ARGDESC_LE] = {"le", CODE, PARAM},
    [LN_ARGDESC_NE] = {"ne", CODE, PARAM},
    [LN_ARGDESC_CHECK] = {"check", STRING | OBJECT, IN | PARAM},
    [LN_ARGDESC_CHECKS] = {"checks", ARRAY, IN | PARAM},
    [LN_ARGDESC_CUSTOM] = {"custom", STRING, ALL, .is_body = 1},
    [LN_ARGDESC_CLEANUP] = {"cleanup", STRING, OUT, .is_body = 1},
};
const ln_opdesc_field ln_opdesc_kind_fields[] = {
    [LN_ARGDESC_IN] = LN_OPDESC_TENSORS_IN,
    [LN_ARGDESC_OUT] = LN_OPDESC_TENSORS_OUT,
    [LN_ARGDESC_PARAM] = LN_OPDESC_PARAMS,
};

const ln_ptype_spec ln_ptype_specs[LN_ARGDESC_PTYPES] = {
    [LN_ARGDESC_NULL] = {"LN_PARAM_NULL", "null", LN_RJSON_NULL},
    [LN_ARGDESC_STRING] = {"LN_PARAM_STRING", "string", LN_RJSON_STRING},
    [LN_ARGDESC_NUMBER] = {"LN_PARAM_NUMBER", "number", LN_RJSON_NUMBER},
    [LN_ARGDESC_BOOL] = {"LN_PARAM_BOOL", "bool", LN_RJSON_BOOL},
    [LN_ARGDESC_ARRAY_STRING] = {"LN_PARAM_ARRAY_STRING", "array_string", LN_RJSON_STRING},
    [LN_ARGDESC_ARRAY_NUMBER] = {"LN_PARAM_ARRAY_NUMBER", "array_number", LN_RJSON_NUMBER},
    [LN_ARGDESC_ARRAY_BOOL] = {"LN_PARAM_ARRAY_BOOL", "array_bool", LN_RJSON_BOOL},
};

const field_pair ln_opdesc_op_pairs[LN_OPDESC_OP_PAIRS] = {
    {LN_OPDESC_RUN, LN_OPDESC_CALL},
    {LN_OPDESC_STATIC_RUN, LN_OPDESC_STATIC_CALL},
};

const field_pair ln_opdesc_arg_pairs[LN_OPDESC_ARG_PAIRS] = {
    {LN_ARGDESC_DTYPE, LN_ARGDESC_SAMETYPE}, {LN_ARGDESC_DIMS, LN_ARGDESC_SAMESHAPE},
    {LN_ARGDESC_NDIM, LN_ARGDESC_SAMESHAPE}, {LN_ARGDESC_SIZES, LN_ARGDESC_SAMESHAPE},
    {LN_ARGDESC_SIZES, LN_ARGDESC_NDIM},     {LN_ARGDESC_SIZES, LN_ARGDESC_DIMS},
};

// Types of the fields

const char *ln_opdesc_key(ln_opdesc_field field)
{
    return ln_opdesc_op_fields[field].key;
}

const char *ln_argdesc_key(ln_argdesc_field field)
{
    return ln_opdesc_arg_fields[field].key;
}

const char *ln_opdesc_text(const ln_opdesc *op, ln_opdesc_field field)
{
    return op->fields[field] ? op->fields[field]->text : NULL;
}

const char *ln_argdesc_text(const ln_argdesc *arg, ln_argdesc_field field)
{
    return arg->fields[field] ? arg->fields[field]->text : NULL;
}

int ln_argdesc_is(const ln_argdesc *arg, ln_argdesc_field field)
{
    return arg->fields[field] && arg->fields[field]->boolean;
}

int ln_opdesc_is_generated(const ln_opdesc *op)
{
    return op->own && op->autogen;
}

const ln_opdesc *ln_opdesc_base(const ln_opdesc *op)
{
    return op->base ? op->base : op;
}

int ln_opdesc_has_output(const ln_opdesc *op)
{
    for (size_t i = 0; i < op->nargs; i++) {
        if (op->args[i].kind == LN_ARGDESC_OUT)
            return 1;
    }
    return 0;
}

int ln_argdesc_is_array(const ln_argdesc *arg)
{
    return arg->kind == LN_ARGDESC_PARAM && arg->ptype >= LN_ARGDESC_ARRAY_STRING;
}

const ln_argdesc *ln_opdesc_find_arg(const ln_opdesc *op, const char *arg_name)
{
    for (size_t i = 0; i < op->nargs; i++) {
        if (strcmp(op->args[i].name, arg_name) == 0)
            return &op->args[i];
    }
    return NULL;
}

// Mistakes

static int vfail_at(const char *optype, const ln_rjson *node, int line, int column, ln_error *err,
                    const char *fmt, va_list args)
{
    char reason[LN_MAXLINE];
    vsnprintf(reason, sizeof(reason), fmt, args);
    return ln_error_set(err, "%s:%d:%d: operator '%s': %s", node->file, line, column, optype,
                        reason);
}

int ln_opdesc_fail(const ln_opdesc *op, const ln_rjson *node, ln_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vfail_at(op->optype, node, node->line, node->column, err, fmt, args);
    va_end(args);
    return -1;
}

int ln_opdesc_fail_key(const ln_opdesc *op, const ln_rjson *node, ln_error *err, const char *fmt,
                       ...)
{
    va_list args;
    va_start(args, fmt);
    vfail_at(op->optype, node, node->key_line, node->key_column, err, fmt, args);
    va_end(args);
    return -1;
}

const char *ln_opdesc_types_text(int types, char buf[LN_OPDESC_TYPES_TEXT])
{
    const char *or_text = "";
    buf[0] = '\0';
    for (int type = LN_RJSON_NULL; type <= LN_RJSON_OBJECT; type++) {
        if (!(types & 1 << type))
            continue;
        const size_t len = strlen(buf);
        snprintf(buf + len, LN_OPDESC_TYPES_TEXT - len, "%s%s", or_text,
                 ln_rjson_type_name((ln_rjson_type)type));
        or_text = " or ";
    }
    return buf;
}

int ln_opdesc_check_items(const ln_opdesc *op, const ln_rjson *array, int types, ln_error *err)
{
    char text[LN_OPDESC_TYPES_TEXT];
    for (size_t i = 0; array && i < array->len; i++) {
        if (!(types & 1 << array->items[i]->type))
            return ln_opdesc_fail(op, array->items[i], err, "item of \"%s\" is %s, expected %s",
                                  array->key, ln_rjson_type_name(array->items[i]->type),
                                  ln_opdesc_types_text(types, text));
    }
    return 0;
}

int ln_opdesc_check_pairs(const ln_opdesc *op, const ln_rjson *const *fields,
                          const field_spec *specs, const field_pair *pairs, size_t n, ln_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const ln_rjson *other = fields[pairs[i].other];
        if (fields[pairs[i].one] && other)
            return ln_opdesc_fail_key(op, other, err, "\"%s\" beside \"%s\", expected one of them",
                                      specs[pairs[i].other].key, specs[pairs[i].one].key);
    }
    return 0;
}
