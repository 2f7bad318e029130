// SPDX-License-Identifier: Apache-2.0
// Generates a pre_run in which every variable stands before its first use.

#include "gen/ln_opgen_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_util.h"

/* ---- pre_run: steps ---- */

static void add_step(generator *g, const ln_argdesc *arg, const ln_rjson *code)
{
    step *steps = ln_realloc(g->steps, (g->nsteps + 1) * sizeof(*steps));
    if (!steps) {
        g->failed = 1;
        return;
    }
    g->steps = steps;
    g->steps[g->nsteps++] = (step){.arg = arg, .code = code};
}

void ln_opgen_collect_steps(generator *g)
{
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        const ln_rjson *checks = arg->fields[LN_ARGDESC_CHECKS];
        add_step(g, arg, NULL);
        if (arg->kind == LN_ARGDESC_OUT)
            continue;
        if (arg->fields[LN_ARGDESC_CHECK])
            add_step(g, arg, arg->fields[LN_ARGDESC_CHECK]);
        for (size_t k = 0; checks && k < checks->len; k++) {
            const ln_rjson *check = ln_rjson_get(checks->items[k], "check");
            add_step(g, arg, check ? check : checks->items[k]);
        }
        if (arg->fields[LN_ARGDESC_CUSTOM])
            add_step(g, arg, arg->fields[LN_ARGDESC_CUSTOM]);
    }
}

/** 1 when the step names a variable of `arg`. */
static int step_names(generator *g, const step *s, const ln_argdesc *arg)
{
    static const ln_argdesc_field references[] = {LN_ARGDESC_SAMETYPE, LN_ARGDESC_SAMESHAPE,
                                                  LN_ARGDESC_OWNER};
    codes cs = {0};
    int found = 0;
    if (s->code)
        ln_opgen_add_code(g, &cs, s->code);
    else
        ln_opgen_collect_declaration(g, &cs, s->arg);
    for (size_t i = 0; !s->code && i < LENGTH_OF(references); i++)
        found |= ln_opgen_field_is(s->arg->fields[references[i]], arg->name);
    for (int v = VAR_VALUE; v < VARS && !found; v++)
        found = ln_opgen_codes_name_var(&cs, arg, (var)v);
    ln_free(cs.nodes);
    return found;
}

/** The step that `s` must wait for, or NULL. */
static const step *find_obstacle(generator *g, const step *s)
{
    for (const step *other = g->steps; other < g->steps + g->nsteps; other++) {
        if (other->done || other == s)
            continue;
        if (other->arg == s->arg ? other < s : !other->code && step_names(g, s, other->arg))
            return other;
    }
    return NULL;
}

/* ---- pre_run: inputs ---- */

/* The sets of types that "dtype" of an input can name. */
static const struct {
    const char *name, *before, *behind, *expected;
} dtype_sets[] = {
    {"FLT", "tl_dtype_is_float(", ")", "a floating-point type"},
    {"NUM", "", " != TL_BOOL", "a number type"},
};

static void write_dtype_check(const generator *g, const ln_argdesc *arg, const char *entry,
                              int indent)
{
    const ln_rjson *dtype = arg->fields[LN_ARGDESC_DTYPE];
    if (!dtype)
        return;
    for (size_t i = 0; i < LENGTH_OF(dtype_sets); i++) {
        if (strcmp(dtype->text, dtype_sets[i].name) != 0)
            continue;
        ln_cgen_line(
            g->out, indent,
            "ln_opck_satisfy_msg(%s%s->tensor->dtype%s, \"'%s' has data type %%s, expected %s\", "
            "tl_dtype_name(%s->tensor->dtype));",
            dtype_sets[i].before, entry, dtype_sets[i].behind, arg->name, dtype_sets[i].expected,
            entry);
        return;
    }
    ln_opgen_write_line(g, indent, dtype, "ln_opck_tensor_dtype_eq(%s, %s);", entry, dtype->text);
}

/** The checks that the fields of an input say. */
static void write_tensor_checks(const generator *g, const ln_argdesc *arg, const char *entry,
                                int indent)
{
    const char *mtype = ln_argdesc_text(arg, LN_ARGDESC_MTYPE);
    const char *sametype = ln_argdesc_text(arg, LN_ARGDESC_SAMETYPE);
    const char *sameshape = ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE);
    const ln_rjson *ndim = arg->fields[LN_ARGDESC_NDIM], *len = arg->fields[LN_ARGDESC_LEN];
    if (strcmp(mtype, "LN_MEM_NONE") != 0)
        ln_cgen_line(g->out, indent, "ln_opck_tensor_mtype_eq(%s, %s);", entry, mtype);
    write_dtype_check(g, arg, entry, indent);
    if (ndim)
        ln_opgen_write_line(g, indent, ndim, "ln_opck_tensor_ndim(%s, %s);", entry, ndim->text);
    if (len)
        ln_opgen_write_line(g, indent, len, "ln_opck_tensor_len(%s, %s);", entry, len->text);
    if (sametype)
        ln_cgen_line(g->out, indent, "ln_opck_tensor_issametype(%s, %s_entry);", entry, sametype);
    if (sameshape)
        ln_cgen_line(g->out, indent, "ln_opck_tensor_issameshape(%s, %s_entry);", entry, sameshape);
    if (ln_argdesc_is(arg, LN_ARGDESC_STATIC))
        ln_cgen_line(g->out, indent, "ln_opck_tensor_isstatic(%s);", entry);
}

static void write_variadic_locals(const generator *g, const ln_argdesc *arg)
{
    const char *const_in = arg->kind == LN_ARGDESC_IN ? "const " : "";
    const int count = ln_opgen_names_in_pre(g, arg, VAR_COUNT);
    if (ln_opgen_names_in_pre(g, arg, VAR_VALUE))
        ln_cgen_line(g->out, 4, "%stl_tensor **%s = priv->%s;", const_in, arg->name, arg->name);
    if (ln_opgen_names_in_pre(g, arg, VAR_ENTRY))
        ln_cgen_line(g->out, 4, "ln_tensor_entry **%s_entry = priv->%s_entry;", arg->name,
                     arg->name);
    if (count)
        ln_cgen_line(g->out, 4, "const int %s_n = priv->%s_n;", arg->name, arg->name);
}

/** 1 when the fields of an input say any check. */
static int has_tensor_checks(const ln_argdesc *arg)
{
    return strcmp(ln_argdesc_text(arg, LN_ARGDESC_MTYPE), "LN_MEM_NONE") != 0 ||
           arg->fields[LN_ARGDESC_DTYPE] || arg->fields[LN_ARGDESC_NDIM] ||
           arg->fields[LN_ARGDESC_LEN] || arg->fields[LN_ARGDESC_SAMETYPE] ||
           arg->fields[LN_ARGDESC_SAMESHAPE] || ln_argdesc_is(arg, LN_ARGDESC_STATIC);
}

static void write_variadic_input(const generator *g, const ln_argdesc *arg)
{
    char entry[LN_MAX_NAME_LEN];
    snprintf(entry, sizeof(entry), "priv->%s_entry[i]", arg->name);
    ln_cgen_line(g->out, 4,
                 "priv->%s_n = ln_op_find_variadic(op_arg, \"%s\", &priv->%s_entry, &priv->%s);",
                 arg->name, arg->name, arg->name, arg->name);
    ln_cgen_line(g->out, 4, "if (priv->%s_n < 0)", arg->name);
    ln_cgen_line(g->out, 8, "return;");
    write_variadic_locals(g, arg);
    if (!has_tensor_checks(arg))
        return;
    ln_cgen_line(g->out, 4, "for (int i = 0; i < priv->%s_n; i++) {", arg->name);
    write_tensor_checks(g, arg, entry, 8);
    ln_cgen_line(g->out, 4, "}");
}

static void write_input(const generator *g, const ln_argdesc *arg)
{
    char entry[LN_MAX_NAME_LEN];
    const char *x = arg->name;
    snprintf(entry, sizeof(entry), "%s_entry", x);
    ln_cgen_line(g->out, 4,
                 "const char *%s_name = ln_tensor_list_find_name(op_arg->tensors_in, \"%s\");", x,
                 x);
    ln_cgen_line(g->out, 4,
                 "ln_tensor_entry *%s_entry = ln_tensor_table_find(op_arg->tensor_table, %s_name);",
                 x, x);
    ln_cgen_line(g->out, 4, "ln_opck_tensor_defined(%s_entry, %s_name);", x, x);
    if (ln_opgen_has_value_in_pre(g, arg))
        ln_cgen_line(g->out, 4, "tl_tensor *%s = %s_entry->tensor;", x, x);
    write_tensor_checks(g, arg, entry, 4);
}

static void write_optional_input(const generator *g, const ln_argdesc *arg)
{
    char entry[LN_MAX_NAME_LEN];
    const char *x = arg->name;
    snprintf(entry, sizeof(entry), "%s_entry", x);
    ln_cgen_line(g->out, 4,
                 "const char *%s_name = ln_tensor_list_find_name(op_arg->tensors_in, \"%s\");", x,
                 x);
    ln_cgen_line(g->out, 4, "ln_tensor_entry *%s_entry = NULL;", x);
    if (ln_opgen_has_value_in_pre(g, arg))
        ln_cgen_line(g->out, 4, "tl_tensor *%s = NULL;", x);
    ln_cgen_line(g->out, 4, "if (%s_name) {", x);
    ln_cgen_line(g->out, 8, "%s_entry = ln_tensor_table_find(op_arg->tensor_table, %s_name);", x,
                 x);
    ln_cgen_line(g->out, 8, "ln_opck_tensor_defined(%s_entry, %s_name);", x, x);
    if (ln_opgen_has_value_in_pre(g, arg))
        ln_cgen_line(g->out, 8, "%s = %s_entry->tensor;", x, x);
    write_tensor_checks(g, arg, entry, 8);
    ln_cgen_line(g->out, 4, "}");
}

/* ---- pre_run: parameters ---- */

static const char *const cmp_names[] = {"eq", "gt", "ge", "lt", "le", "ne"};

/** The literal of one default value in C. */
static void append_default(ln_cgen *text, const ln_rjson *value)
{
    if (value->type == LN_RJSON_STRING) {
        ln_cgen_print(text, "\"");
        ln_cgen_escaped(text, value->text);
        ln_cgen_print(text, "\"");
    } else if (value->type == LN_RJSON_BOOL) {
        ln_cgen_print(text, value->boolean ? "LN_TRUE" : "LN_FALSE");
    } else {
        ln_cgen_print(text, "%s", value->text);
    }
}

/** Adds the parameter with its default to an operator without it. */
static void write_default(const generator *g, const ln_argdesc *arg)
{
    static const char *const kinds[LN_ARGDESC_PTYPES] = {
        [LN_ARGDESC_STRING] = "string",
        [LN_ARGDESC_NUMBER] = "number",
        [LN_ARGDESC_BOOL] = "bool",
        [LN_ARGDESC_ARRAY_STRING] = "array_string",
        [LN_ARGDESC_ARRAY_NUMBER] = "array_number",
        [LN_ARGDESC_ARRAY_BOOL] = "array_bool",
    };
    static const char *const types[LN_ARGDESC_PTYPES] = {
        [LN_ARGDESC_ARRAY_STRING] = "const char *const",
        [LN_ARGDESC_ARRAY_NUMBER] = "const double",
        [LN_ARGDESC_ARRAY_BOOL] = "const ln_bool",
    };
    const ln_rjson *value = arg->fields[LN_ARGDESC_DEFAULT];
    if (!value)
        return;
    ln_cgen text = {.file = "-"};
    if (value->type == LN_RJSON_ARRAY) {
        ln_cgen_print(&text, "%zu, (%s[]){", value->len, types[arg->ptype]);
        for (size_t i = 0; i < value->len; i++) {
            ln_cgen_print(&text, i ? ", " : "");
            append_default(&text, value->items[i]);
        }
        ln_cgen_print(&text, "}");
    } else {
        append_default(&text, value);
    }
    g->out->failed |= text.failed;
    ln_cgen_line(g->out, 4, "if (ln_op_default_%s(op_arg, \"%s\", %s))", kinds[arg->ptype],
                 arg->name, text.text ? text.text : "");
    ln_cgen_line(g->out, 8, "return;");
    ln_cgen_free(&text);
}

/** Length and bounds. */
static void write_param_checks(const generator *g, const ln_argdesc *arg)
{
    const int is_array = ln_argdesc_is_array(arg);
    const char *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    int is_bounded = 0;
    for (int i = 0; i < 6; i++) {
        const ln_rjson *bound = arg->fields[LN_ARGDESC_LEN + i];
        if (bound)
            ln_opgen_write_line(g, 4, bound, "ln_opck_param_array_len_%s(%s_entry, %s);",
                                cmp_names[i], arg->name, bound->text);
    }
    for (int i = 0; i < 6; i++) {
        const ln_rjson *bound = arg->fields[LN_ARGDESC_EQ + i];
        if (bound)
            ln_opgen_write_line(g, 4, bound, "ln_opck_param_%s%s_%s(%s_entry, %s);",
                                is_array ? "array_" : "", realtype, cmp_names[i], arg->name,
                                bound->text);
        is_bounded |= bound != NULL;
    }
    if (!is_bounded && !ln_opgen_is_string(arg) && realtype && strcmp(realtype, "int") == 0)
        ln_cgen_line(g->out, 4, "ln_opck_param_%sint_ge(%s_entry, INT_MIN); // any int",
                     is_array ? "array_" : "", arg->name);
}

static void write_unknown_string(const generator *g, const ln_argdesc *arg, int indent,
                                 const char *index)
{
    ln_cgen_line(g->out, indent,
                 "ln_opck_satisfy_msg((int)%s%s != -1, \"parameter '%s' is \\\"%%s\\\", which %s "
                 "does not know\", "
                 "%s_entry->value_%sstring%s);",
                 arg->name, index, arg->name, ln_argdesc_text(arg, LN_ARGDESC_FROM_FUNC), arg->name,
                 *index ? "array_" : "", index);
}

/** Converts an array of strings to an array that `priv` owns. */
static void write_converted_array(const generator *g, const ln_argdesc *arg)
{
    const char *p = arg->name, *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    const ln_rjson *func = arg->fields[LN_ARGDESC_FROM_FUNC];
    ln_cgen_line_of(g->out, 4, arg->fields[LN_ARGDESC_REALTYPE],
                    "%s *%s = ln_alloc_array((size_t)%s_entry->array_len, sizeof(%s));", realtype,
                    p, p, realtype);
    ln_cgen_line(g->out, 4, "if (!%s) {", p);
    ln_cgen_line(g->out, 8, "ln_op_fail_last(op_arg);");
    ln_cgen_line(g->out, 8, "return;");
    ln_cgen_line(g->out, 4, "}");
    ln_cgen_line(g->out, 4, "priv->%s = %s;", p, p);
    ln_cgen_line(g->out, 4, "for (int i = 0; i < %s_entry->array_len; i++) {", p);
    ln_cgen_line_of(g->out, 8, func, "%s[i] = %s(%s_entry->value_array_string[i]);", p, func->text,
                    p);
    write_unknown_string(g, arg, 8, "[i]");
    ln_cgen_line(g->out, 4, "}");
}

/** The parameter's value as an expression, where no function converts it. */
static void param_value(const ln_argdesc *arg, char *buf, size_t size)
{
    snprintf(buf, size, "%s_entry->value_%s%s", arg->name, ln_argdesc_is_array(arg) ? "array_" : "",
             ln_opgen_view_name(arg));
}

static void write_param_value(const generator *g, const ln_argdesc *arg)
{
    char type[LN_MAX_NAME_LEN], value[LN_MAX_NAME_LEN];
    const ln_rjson *func = arg->fields[LN_ARGDESC_FROM_FUNC];
    ln_opgen_param_type(arg, type, sizeof(type));
    param_value(arg, value, sizeof(value));
    const char *const_scalar = strchr(type, '*') || arg->fields[LN_ARGDESC_CUSTOM]
                                   ? ""
                                   : "const "; // custom code may change it
    if (ln_opgen_is_converted_array(arg)) {
        write_converted_array(g, arg);
    } else if (func) {
        ln_cgen_line_of(g->out, 4, func, "%s%s%s = %s(%s);", const_scalar, type, arg->name,
                        func->text, value);
        write_unknown_string(g, arg, 4, "");
    } else if (ln_opgen_has_value_in_pre(g, arg)) {
        ln_cgen_line(g->out, 4, "%s%s%s = %s;", const_scalar, type, arg->name, value);
    }
}

static void write_param(const generator *g, const ln_argdesc *arg)
{
    write_default(g, arg);
    ln_cgen_line(g->out, 4,
                 "ln_param_entry *%s_entry = ln_param_list_find(op_arg->params, \"%s\");",
                 arg->name, arg->name);
    ln_cgen_line(g->out, 4, "ln_opck_param_type(%s_entry, %s);", arg->name,
                 ln_argdesc_text(arg, LN_ARGDESC_PTYPE));
    write_param_checks(g, arg);
    if (arg->ptype != LN_ARGDESC_NULL)
        write_param_value(g, arg);
}

/* ---- pre_run: outputs ---- */

/** An output's shape and type: C expressions, or the variables that hold them. */
typedef struct shape_text {
    const char *ndim, *dims, *dtype;
    const ln_rjson *node;           /* where one of the expressions can be wrong, or NULL */
    char names[3][LN_MAX_NAME_LEN]; /* room for what the descriptions do not hold as it is */
} shape_text;

static int is_array(const ln_rjson *node)
{
    return node && node->type == LN_RJSON_ARRAY;
}

/** Makes a text of the shape from a name and a suffix. */
static const char *set_name(shape_text *shape, int i, const char *name, const char *suffix)
{
    snprintf(shape->names[i], sizeof(shape->names[i]), "%s%s", name, suffix);
    return shape->names[i];
}

static void write_dtype_text(const generator *g, const ln_argdesc *arg, int indent,
                             shape_text *shape)
{
    const ln_rjson *dtype = arg->fields[LN_ARGDESC_DTYPE];
    shape->dtype = dtype ? dtype->text
                         : set_name(shape, 0, ln_argdesc_text(arg, LN_ARGDESC_SAMETYPE), "->dtype");
    if (ln_opgen_names_in_pre(g, arg, VAR_DTYPE)) {
        ln_opgen_write_line(g, indent, dtype, "%stl_dtype %s_dtype = %s;",
                            arg->fields[LN_ARGDESC_CUSTOM] ? "" : "const ", arg->name,
                            shape->dtype);
        shape->dtype = set_name(shape, 0, arg->name, "_dtype");
    } else if (dtype && !ln_opgen_is_plain(g, dtype)) {
        shape->node = dtype;
    }
}

static void write_ndim_text(const generator *g, const ln_argdesc *arg, int indent,
                            shape_text *shape)
{
    const ln_rjson *dims = arg->fields[LN_ARGDESC_DIMS], *ndim = arg->fields[LN_ARGDESC_NDIM];
    const char *sameshape = ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE);
    const int is_expression = ndim && !sameshape && !is_array(dims) && !ln_opgen_is_plain(g, ndim);
    const int has_custom = arg->fields[LN_ARGDESC_CUSTOM] != NULL;
    char len[24];
    snprintf(len, sizeof(len), "%zu", dims ? dims->len : 0);
    if (sameshape)
        shape->ndim = set_name(shape, 1, sameshape, "->ndim");
    else
        shape->ndim = is_array(dims) ? set_name(shape, 1, len, "") : ndim->text;
    if (ln_opgen_names_in_pre(g, arg, VAR_NDIM) || (is_expression && has_custom)) {
        ln_opgen_write_line(g, indent, is_expression ? ndim : NULL, "%sint %s_ndim = %s;",
                            has_custom ? "" : "const ", arg->name, shape->ndim);
        shape->ndim = set_name(shape, 1, arg->name, "_ndim");
    } else if (is_expression) {
        shape->node = ndim;
    }
}

/** Declares x_dims as an array of the items of "dims": with room for more where custom code may
 *  change it. */
static void write_dims_array(const generator *g, const ln_argdesc *arg, int indent, int may_change)
{
    const ln_rjson *dims = arg->fields[LN_ARGDESC_DIMS], *node = NULL;
    ln_cgen items = {.file = "-"};
    for (size_t i = 0; i < dims->len; i++) {
        ln_cgen_print(&items, "%s%s", i ? ", " : "", dims->items[i]->text);
        if (!node && !ln_opgen_is_plain(g, dims->items[i]))
            node = dims->items[i];
    }
    g->out->failed |= items.failed;
    ln_opgen_write_line(g, indent, node,
                        may_change ? "int %s_dims[LN_MAXDIM] = {%s};"
                                   : "const int %s_dims[] = {%s};",
                        arg->name, items.text ? items.text : "0");
    ln_cgen_free(&items);
}

/** Declares x_dims as a copy of `source`, which custom code may change. */
static void write_dims_copy(const generator *g, const ln_argdesc *arg, int indent,
                            const char *source, const char *ndim)
{
    const ln_rjson *dims = arg->fields[LN_ARGDESC_DIMS];
    if (dims && !strstr(ndim, "->ndim")) // other tensors have no more dimensions than fit
        ln_cgen_line(g->out, indent, "ln_opck_satisfy(%s >= 0 && %s <= LN_MAXDIM);", ndim, ndim);
    ln_cgen_line(g->out, indent, "int %s_dims[LN_MAXDIM];", arg->name);
    ln_opgen_write_line(g, indent, dims, "memcpy(%s_dims, %s, sizeof(int) * (size_t)%s);",
                        arg->name, source, ndim);
}

static void write_dims_text(const generator *g, const ln_argdesc *arg, int indent,
                            shape_text *shape)
{
    const ln_rjson *dims = arg->fields[LN_ARGDESC_DIMS];
    const char *sameshape = ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE);
    const int is_named = ln_opgen_names_in_pre(g, arg, VAR_DIMS);
    const int has_custom = arg->fields[LN_ARGDESC_CUSTOM] != NULL;
    if (sameshape)
        shape->dims = set_name(shape, 2, sameshape, "->dims");
    else if (is_array(dims) && dims->len == 0 && !is_named)
        shape->dims = "NULL";
    else if (dims && !is_array(dims))
        shape->dims = dims->text;
    if (!is_named && shape->dims) {
        if (dims && !is_array(dims) && !ln_opgen_is_plain(g, dims))
            shape->node = dims;
        return;
    }
    if (is_array(dims))
        write_dims_array(g, arg, indent, is_named && has_custom);
    else if (!shape->dims)
        ln_cgen_line(g->out, indent, "int *%s_dims = NULL;", arg->name); // custom code sets it
    else if (has_custom)
        write_dims_copy(g, arg, indent, shape->dims, shape->ndim);
    else
        ln_opgen_write_line(g, indent, dims, "const int *%s_dims = %s;", arg->name, shape->dims);
    shape->dims = set_name(shape, 2, arg->name, "_dims");
}

/** Declares the variables that an output's shape needs; `shape` then has what to define it with. */
static void write_shape(const generator *g, const ln_argdesc *arg, int indent, shape_text *shape)
{
    *shape = (shape_text){0};
    write_dtype_text(g, arg, indent, shape);
    write_ndim_text(g, arg, indent, shape);
    write_dims_text(g, arg, indent, shape);
    if (arg->fields[LN_ARGDESC_CUSTOM])
        ln_cgen_snippet(g->out, indent, arg->fields[LN_ARGDESC_CUSTOM]);
}

/** What becomes of the entry once the output is defined. */
static void write_entry_settings(const generator *g, const ln_argdesc *arg, const char *entry,
                                 int indent)
{
    const ln_rjson *len = arg->fields[LN_ARGDESC_LEN];
    const char *owner = ln_argdesc_text(arg, LN_ARGDESC_OWNER);
    if (len)
        ln_opgen_write_line(g, indent, len, "ln_opck_tensor_len(%s, %s);", entry, len->text);
    if (ln_argdesc_is(arg, LN_ARGDESC_STATIC))
        ln_cgen_line(g->out, indent, "%s->isstatic = 1;", entry);
    if (owner) {
        ln_cgen_line(g->out, indent,
                     "if (ln_tensor_entry_set_owner(%s, op_arg->tensor_table, %s_name)) {", entry,
                     owner);
        ln_cgen_line(g->out, indent + 4, "ln_op_fail_last(op_arg);");
        ln_cgen_line(g->out, indent + 4, "return;");
        ln_cgen_line(g->out, indent, "}");
    }
}

static int has_entry_settings(const ln_argdesc *arg)
{
    return arg->fields[LN_ARGDESC_LEN] || arg->fields[LN_ARGDESC_OWNER] ||
           ln_argdesc_is(arg, LN_ARGDESC_STATIC);
}

/** 1 when something names the entry or tensor of an output once it is defined. */
static int needs_output_entry(const generator *g, const ln_argdesc *arg)
{
    return has_entry_settings(arg) || ln_opgen_names_in_pre(g, arg, VAR_ENTRY) ||
           ln_opgen_has_value_in_pre(g, arg) || ln_opgen_is_kept(g, arg, VAR_ENTRY) ||
           ln_opgen_is_kept(g, arg, VAR_VALUE) || arg->fields[LN_ARGDESC_CLEANUP];
}

static void write_definition(const generator *g, const ln_argdesc *arg, int indent)
{
    shape_text shape;
    char entry[LN_MAX_NAME_LEN];
    const int has_entry = needs_output_entry(g, arg);
    write_shape(g, arg, indent, &shape);
    snprintf(entry, sizeof(entry), "%s%s_entry = ", arg->optional ? "" : "ln_tensor_entry *",
             arg->name);
    ln_opgen_write_line(g, indent, shape.node,
                        "%sln_op_define_output(op_arg, \"%s\", %s, %s, %s, %s)%s",
                        has_entry ? entry : "if (!", arg->name, shape.ndim, shape.dims, shape.dtype,
                        ln_argdesc_text(arg, LN_ARGDESC_MTYPE), has_entry ? ";" : ")");
    if (arg->fields[LN_ARGDESC_CLEANUP])
        ln_cgen_snippet(g->out, indent, arg->fields[LN_ARGDESC_CLEANUP]);
    if (has_entry)
        ln_cgen_line(g->out, indent, "if (!%s_entry)", arg->name);
    ln_cgen_line(g->out, indent + 4, "return;");
    snprintf(entry, sizeof(entry), "%s_entry", arg->name);
    write_entry_settings(g, arg, entry, indent);
}

static void write_variadic_output(const generator *g, const ln_argdesc *arg)
{
    shape_text shape;
    char entry[LN_MAX_NAME_LEN];
    const char *x = arg->name;
    ln_cgen_line(g->out, 4,
                 "priv->%s_n = ln_op_alloc_variadic(op_arg, \"%s\", &priv->%s_entry, &priv->%s);",
                 x, x, x, x);
    ln_cgen_line(g->out, 4, "if (priv->%s_n < 0)", x);
    ln_cgen_line(g->out, 8, "return;");
    write_variadic_locals(g, arg);
    ln_cgen_line(g->out, 4, "for (int i = 0; i < priv->%s_n; i++) {", x);
    write_shape(g, arg, 8, &shape);
    snprintf(entry, sizeof(entry), "priv->%s_entry[i]", x);
    ln_opgen_write_line(
        g, 8, shape.node,
        "%s = ln_op_define_output(op_arg, ln_op_variadic_name(op_arg->tensors_out, \"%s\", "
        "i), %s, %s, %s, %s);",
        entry, x, shape.ndim, shape.dims, shape.dtype, ln_argdesc_text(arg, LN_ARGDESC_MTYPE));
    if (arg->fields[LN_ARGDESC_CLEANUP])
        ln_cgen_snippet(g->out, 8, arg->fields[LN_ARGDESC_CLEANUP]);
    ln_cgen_line(g->out, 8, "if (!%s)", entry);
    ln_cgen_line(g->out, 12, "return;");
    ln_cgen_line(g->out, 8, "priv->%s[i] = %s->tensor;", x, entry);
    write_entry_settings(g, arg, entry, 8);
    ln_cgen_line(g->out, 4, "}");
}

static void write_output(const generator *g, const ln_argdesc *arg)
{
    const char *x = arg->name;
    if (ln_opgen_names_in_pre(g, arg, VAR_NAME) || ln_opgen_is_kept(g, arg, VAR_NAME))
        ln_cgen_line(g->out, 4,
                     "const char *%s_name = ln_tensor_list_find_name(op_arg->tensors_out, \"%s\");",
                     x, x);
    if (!arg->optional) {
        write_definition(g, arg, 4);
    } else {
        if (needs_output_entry(g, arg))
            ln_cgen_line(g->out, 4, "ln_tensor_entry *%s_entry = NULL;", x);
        ln_cgen_line(g->out, 4,
                     "if (ln_tensor_list_find_by_arg_name(op_arg->tensors_out, \"%s\")) {", x);
        write_definition(g, arg, 8);
        ln_cgen_line(g->out, 4, "}");
    }
    if (ln_opgen_has_value_in_pre(g, arg))
        ln_cgen_line(g->out, 4,
                     arg->optional ? "tl_tensor *%s = %s_entry ? %s_entry->tensor : NULL;"
                                   : "tl_tensor *%s = %s_entry->tensor;",
                     x, x, x);
}

/* ---- pre_run ---- */

static void write_declaration(const generator *g, const ln_argdesc *arg)
{
    if (arg->kind == LN_ARGDESC_PARAM)
        write_param(g, arg);
    else if (arg->kind == LN_ARGDESC_OUT && arg->variadic)
        write_variadic_output(g, arg);
    else if (arg->kind == LN_ARGDESC_OUT)
        write_output(g, arg);
    else if (arg->variadic)
        write_variadic_input(g, arg);
    else if (arg->optional)
        write_optional_input(g, arg);
    else
        write_input(g, arg);
}

/** One more check of an argument, or its custom code. Of an optional argument only when it is
 * there; of a variadic one for each when it names the index `i`. */
static void write_extra(const generator *g, const step *s)
{
    const int is_custom = s->code == s->arg->fields[LN_ARGDESC_CUSTOM];
    const int is_each = s->arg->variadic && ln_c_names(s->code->text, "i") && !is_custom;
    const int is_block = is_each || s->arg->optional;
    const int indent = is_block ? 8 : 4;
    if (is_each)
        ln_cgen_line(g->out, 4, "for (int i = 0; i < priv->%s_n; i++) {", s->arg->name);
    else if (s->arg->optional)
        ln_cgen_line(g->out, 4, "if (%s_entry) {", s->arg->name);
    if (is_custom)
        ln_cgen_snippet(g->out, indent, s->code);
    else
        ln_cgen_line_of(g->out, indent, s->code, "%s(%s);",
                        ln_c_count_arguments(s->code->text) > 1 ? "ln_opck_satisfy_msg"
                                                                : "ln_opck_satisfy",
                        s->code->text);
    if (is_block)
        ln_cgen_line(g->out, 4, "}");
}

/** Writes the comment that begins a section, unless it is begun. Returns 1 when it was. */
static int write_section(const generator *g, const char **last, const char *title)
{
    if (*last == title)
        return 1;
    ln_cgen_print(g->out, "\n    // %s\n", title);
    *last = title;
    return 0;
}

/** Writes the steps that need not wait, in the order of the description; again and again while
 * there are some. `with_outputs` 0: the steps of inputs and parameters only. */
static void write_ready_steps(generator *g, int with_outputs)
{
    static const char *const titles[] = {"inputs", "outputs", "parameters"};
    static const char across[] = "across arguments";
    const char *last = NULL;
    int progress = 1;
    for (int round = 0; progress; round++) {
        progress = 0;
        for (step *s = g->steps; s < g->steps + g->nsteps; s++) {
            const int is_output = s->arg->kind == LN_ARGDESC_OUT;
            if (s->done || (is_output && !with_outputs) || find_obstacle(g, s))
                continue;
            if (write_section(g, &last, round && s->code ? across : titles[s->arg->kind]) &&
                !s->code)
                ln_cgen_print(g->out, "\n");
            if (s->code)
                write_extra(g, s);
            else
                write_declaration(g, s->arg);
            s->done = 1;
            progress = 1;
        }
    }
}

/** Every step is written, or the first of the others and what it waits for are told. */
static int check_steps(generator *g, ln_error *err)
{
    for (const step *s = g->steps; s < g->steps + g->nsteps; s++) {
        if (s->done)
            continue;
        const step *obstacle = find_obstacle(g, s);
        return ln_opdesc_fail(
            g->op, s->arg->node, err,
            "argument '%s' needs '%s', which cannot come first: they need each other", s->arg->name,
            obstacle->arg->name);
    }
    return 0;
}

/** Where pre_run finds a variable that `priv` is to keep. */
static void kept_value(const generator *g, const ln_argdesc *arg, var v, char *buf, size_t size)
{
    if (v == VAR_VALUE && arg->kind == LN_ARGDESC_PARAM && !ln_opgen_has_value_in_pre(g, arg) &&
        !arg->fields[LN_ARGDESC_FROM_FUNC])
        param_value(arg, buf, size);
    else if (v == VAR_VALUE && arg->kind != LN_ARGDESC_PARAM &&
             !ln_opgen_has_value_in_pre(g, arg) && arg->optional)
        snprintf(buf, size, "%s_entry ? %s_entry->tensor : NULL", arg->name, arg->name);
    else if (v == VAR_VALUE && arg->kind != LN_ARGDESC_PARAM && !ln_opgen_has_value_in_pre(g, arg))
        snprintf(buf, size, "%s_entry->tensor", arg->name);
    else
        snprintf(buf, size, "%s%s", arg->name, ln_opgen_var_suffixes[v]);
}

static void write_keeping(const generator *g)
{
    char value[2 * LN_MAX_NAME_LEN];
    const char *last = NULL;
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        for (int v = VAR_VALUE; v <= VAR_NAME; v++) {
            if (!ln_opgen_is_kept(g, arg, (var)v) || arg->variadic ||
                (v == VAR_VALUE && ln_opgen_is_converted_array(arg)))
                continue;
            write_section(g, &last, "for the other functions");
            kept_value(g, arg, (var)v, value, sizeof(value));
            ln_cgen_line(g->out, 4, "priv->%s%s = %s;", arg->name, ln_opgen_var_suffixes[v], value);
        }
    }
}

static void write_priv_allocation(const generator *g)
{
    ln_cgen_print(g->out, "\n");
    ln_cgen_line(g->out, 4, "struct %s_priv *priv = ln_alloc(sizeof(*priv));", g->op->optype);
    ln_cgen_line(g->out, 4, "if (!priv) {");
    ln_cgen_line(g->out, 8, "ln_op_fail_last(op_arg);");
    ln_cgen_line(g->out, 8, "return;");
    ln_cgen_line(g->out, 4, "}");
    ln_cgen_line(g->out, 4, "op_arg->priv = priv;");
}

int ln_opgen_write_pre_run(generator *g, ln_error *err)
{
    const ln_rjson *scratch = g->op->fields[LN_OPDESC_SCRATCH],
                   *custom = g->op->fields[LN_OPDESC_CUSTOM];
    ln_cgen_print(g->out, "static void %s_pre_run(ln_op_arg *op_arg)\n{\n", g->op->optype);
    ln_cgen_line(g->out, 4, "if (ln_op_check_args(op_arg))");
    ln_cgen_line(g->out, 8, "return;");
    if (ln_opgen_has_priv(g))
        write_priv_allocation(g);
    if (ln_opgen_codes_name(&g->pre, "exec"))
        ln_cgen_line(g->out, 4, "const tl_exec exec = ln_op_exec(op_arg);");
    write_ready_steps(g, 0);
    write_ready_steps(g, 1);
    if (check_steps(g, err))
        return -1;
    write_keeping(g);
    if (scratch) {
        ln_cgen_print(g->out, "\n    // scratch memory\n");
        ln_opgen_write_line(g, 4, scratch, "op_arg->scratch_size = %s;", scratch->text);
    }
    if (custom) {
        ln_cgen_print(g->out, "\n");
        ln_cgen_snippet(g->out, 4, custom);
    }
    ln_cgen_print(g->out, "}\n\n");
    return 0;
}
