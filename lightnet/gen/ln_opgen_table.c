// SPDX-License-Identifier: Apache-2.0
// Generates the tables of an operator: its arguments, its information, the prototype.

#include "gen/ln_opgen_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** 1 when the custom code of an output decides its variable; then the fields do not tell. */
static int is_custom(const ln_argdesc *arg, var v)
{
    return arg->kind == LN_ARGDESC_OUT &&
           ln_opgen_code_names_var(arg->fields[LN_ARGDESC_CUSTOM], arg, v);
}

static void write_shape(const ln_argdesc *arg, char *buf, size_t size)
{
    const char *sameshape = ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE);
    const ln_rjson *ndim = arg->fields[LN_ARGDESC_NDIM], *dims = arg->fields[LN_ARGDESC_DIMS];
    *buf = '\0';
    if (is_custom(arg, VAR_NDIM))
        return;
    if (sameshape && !is_custom(arg, VAR_DIMS))
        snprintf(buf, size, "shape of %s", sameshape);
    else if (dims && dims->type == LN_RJSON_ARRAY)
        snprintf(buf, size, "%zu-D", dims->len);
    else if (ndim && ndim->type == LN_RJSON_NUMBER)
        snprintf(buf, size, "%s-D", ndim->text);
}

static void write_dtype(const ln_argdesc *arg, char *buf, size_t size)
{
    const char *dtype = ln_argdesc_text(arg, LN_ARGDESC_DTYPE);
    const char *sametype = ln_argdesc_text(arg, LN_ARGDESC_SAMETYPE);
    *buf = '\0';
    if ((sametype || dtype) && !is_custom(arg, VAR_DTYPE))
        snprintf(buf, size, "%s%s", sametype ? "dtype of " : "", sametype ? sametype : dtype);
}

void ln_opgen_arg_type(const ln_argdesc *arg, char *buf, size_t size)
{
    const char *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    const char *len = ln_argdesc_text(arg, LN_ARGDESC_LEN);
    if (arg->kind == LN_ARGDESC_PARAM) {
        snprintf(buf, size, "%s%s%s%s%s%s", ln_ptype_specs[arg->ptype].word, realtype ? " -> " : "",
                 realtype ? realtype : "", len ? " [" : "", len ? len : "", len ? "]" : "");
        return;
    }
    char shape[LN_MAX_NAME_LEN], dtype[LN_MAX_NAME_LEN];
    write_shape(arg, shape, sizeof(shape));
    write_dtype(arg, dtype, sizeof(dtype));
    const char *between = !*shape || !*dtype                           ? ""
                          : ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE) ? ", "
                                                                       : " ";
    snprintf(buf, size, "%s%s%s", *shape || *dtype ? shape : "any", between, dtype);
}

/** Appends a string in quotes. */
static void append_string(ln_cgen *line, const char *text)
{
    ln_cgen_print(line, "\"");
    ln_cgen_escaped(line, text ? text : "");
    ln_cgen_print(line, "\"");
}

static void write_string_field(ln_cgen *line, const char *field, const char *text)
{
    if (!text)
        return;
    ln_cgen_print(line, ", .%s = ", field);
    append_string(line, text);
}

static void write_inplace(const generator *g)
{
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_rjson *names = g->op->args[i].fields[LN_ARGDESC_INPLACE];
        if (!names)
            continue;
        ln_cgen_print(g->out, "static const char *const %s_%s_inplace[] = {", g->op->optype,
                      g->op->args[i].name);
        for (size_t k = 0; k < names->len; k++)
            ln_cgen_print(g->out, "\"%s\", ", names->items[k]->text);
        ln_cgen_print(g->out, "NULL};\n");
    }
}

/** What ln_op_begin checks of an input. */
static void write_input_checks(const generator *g, const ln_argdesc *arg, ln_cgen *line)
{
    const char *dtype = ln_argdesc_text(arg, LN_ARGDESC_DTYPE);
    if (ln_opgen_is_listed(arg, LN_ARGDESC_DTYPE) && ln_opgen_dtype_set(dtype))
        ln_cgen_print(line, ", .dtypes = %s", ln_opgen_dtype_set(dtype));
    else if (ln_opgen_is_listed(arg, LN_ARGDESC_DTYPE))
        ln_cgen_print(line, ", .dtypes = LN_DTYPE_BIT(%s)", dtype);
    if (ln_opgen_is_listed(arg, LN_ARGDESC_NDIM))
        ln_cgen_print(line, ", .ndim = %s", ln_argdesc_text(arg, LN_ARGDESC_NDIM));
    if (ln_argdesc_is(arg, LN_ARGDESC_STATIC))
        ln_cgen_print(line, ", .isstatic = 1");
    if (ln_opgen_has_own_mtype(g, arg))
        ln_cgen_print(line, ", .anywhere = 1");
    write_string_field(line, "same_type", ln_argdesc_text(arg, LN_ARGDESC_SAMETYPE));
    write_string_field(line, "same_shape", ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE));
}

/** The fields from `first` on that bound a length or a value by a number. */
static void write_bounds(const ln_argdesc *arg, int first, const char *what, ln_cgen *line)
{
    static const char *const cmps[] = {"EQ", "GT", "GE", "LT", "LE", "NE"};
    for (int i = 0; i < (int)LENGTH_OF(cmps); i++) {
        if (ln_opgen_is_listed(arg, (ln_argdesc_field)(first + i)))
            ln_cgen_print(line, "%s%s(%s, %s)", line->text ? ", " : "", what, cmps[i],
                          arg->fields[first + i]->text);
    }
}

/** One value of a default: a string, or a number as bools are, too. */
static void write_default_value(const ln_rjson *value, ln_cgen *line)
{
    if (value->type == LN_RJSON_STRING) {
        append_string(line, value->text);
    } else if (value->type == LN_RJSON_BOOL) {
        ln_cgen_print(line, "%d", value->boolean);
    } else {
        ln_cgen_print(line, "%s", value->text);
    }
}

static void write_default_values(const ln_argdesc *arg, const ln_rjson *value, ln_cgen *line)
{
    const size_t n = value->type == LN_RJSON_ARRAY ? value->len : 1;
    if (n == 0)
        return;
    ln_cgen_print(line, ln_opgen_is_string(arg) ? ", LN_STRINGS(" : ", LN_NUMBERS(");
    for (size_t i = 0; i < n; i++) {
        ln_cgen_print(line, i ? ", " : "");
        write_default_value(value->type == LN_RJSON_ARRAY ? value->items[i] : value, line);
    }
    ln_cgen_print(line, ")");
}

/** What ln_op_begin checks of a parameter, and adds. */
static void write_param_checks(const ln_argdesc *arg, ln_cgen *line)
{
    const char *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    ln_cgen bounds = {.file = "-"};
    if (!ln_opgen_is_string(arg) && realtype && strcmp(realtype, "int") != 0)
        ln_cgen_print(line, ", .view = LN_OPCK_%s",
                      strcmp(realtype, "float") == 0 ? "FLOAT" : "DOUBLE");
    write_bounds(arg, LN_ARGDESC_LEN, "LN_LENGTH", &bounds);
    write_bounds(arg, LN_ARGDESC_EQ, "LN_VALUE", &bounds);
    if (bounds.text)
        ln_cgen_print(line, ", .bounds = LN_BOUNDS(%s)", bounds.text);
    line->failed |= bounds.failed;
    ln_cgen_free(&bounds);
    if (arg->fields[LN_ARGDESC_DEFAULT])
        write_default_values(arg, arg->fields[LN_ARGDESC_DEFAULT], line);
}

static void write_checks(const generator *g, const ln_argdesc *arg, ln_cgen *line)
{
    if (arg->kind == LN_ARGDESC_IN && !arg->variadic)
        write_input_checks(g, arg, line);
    else if (arg->kind == LN_ARGDESC_PARAM)
        write_param_checks(arg, line);
    if (ln_opgen_is_stored(arg) && ln_opgen_is_member(g, arg, VAR_VALUE))
        ln_cgen_print(line, ", .at = LN_PRIV(%s, %s)", g->op->optype, arg->name);
}

/** Appends the row of an argument, and what ends the table behind the last. */
static void write_arg_info(const generator *g, const ln_argdesc *arg, int is_last)
{
    char type[LN_MAX_NAME_LEN], *value = NULL;
    size_t size = 0;
    ln_cgen line = {.file = "-"};
    ln_opgen_arg_type(arg, type, sizeof(type));
    ln_cgen_print(&line, "{\"%s\", ", arg->name);
    append_string(&line, ln_argdesc_text(arg, LN_ARGDESC_DOC));
    write_string_field(&line, "type", type);
    if (arg->fields[LN_ARGDESC_DEFAULT]) {
        FILE *stream = open_memstream(&value, &size);
        if (stream) {
            ln_rjson_print(stream, arg->fields[LN_ARGDESC_DEFAULT]);
            fclose(stream);
        }
        line.failed |= !value;
        write_string_field(&line, "deflt", value);
        free(value);
    }
    if (ln_argdesc_is(arg, LN_ARGDESC_OPTIONAL))
        ln_cgen_print(&line, ", .optional = 1");
    if (arg->variadic)
        ln_cgen_print(&line, ", .variadic = 1");
    if (arg->fields[LN_ARGDESC_INPLACE])
        ln_cgen_print(&line, ", .inplace = %s_%s_inplace", g->op->optype, arg->name);
    write_string_field(&line, "owner", ln_argdesc_text(arg, LN_ARGDESC_OWNER));
    write_string_field(&line, "sets", ln_argdesc_text(arg, LN_ARGDESC_SETS));
    if (arg->fields[LN_ARGDESC_DYNAMIC])
        ln_cgen_print(&line, ", .dynamic = %d", ln_argdesc_is(arg, LN_ARGDESC_DYNAMIC) ? 1 : -1);
    write_checks(g, arg, &line);
    g->out->failed |= line.failed;
    ln_cgen_line(g->out, 4, "%s},%s", line.text ? line.text : "",
                 is_last ? " {.arg_name = NULL}};" : "");
    ln_cgen_free(&line);
}

/* The three tables of each kind of arguments. */
static const struct {
    const char *infos, *names;
} kind_tables[] = {
    [LN_ARGDESC_IN] = {"tensors_in", "in_arg_names"},
    [LN_ARGDESC_OUT] = {"tensors_out", "out_arg_names"},
    [LN_ARGDESC_PARAM] = {"params", "param_arg_names"},
};

/** The argument of a kind that follows the first `i`, or NULL. */
static const ln_argdesc *next_arg(const ln_opdesc *op, ln_argdesc_kind kind, size_t i)
{
    while (i < op->nargs && op->args[i].kind != kind)
        i++;
    return i < op->nargs ? &op->args[i] : NULL;
}

static void write_arg_infos(const generator *g, ln_argdesc_kind kind)
{
    const ln_opdesc *op = g->op;
    const ln_argdesc *arg = next_arg(op, kind, 0), *next;
    ln_cgen_print(g->out, "static const ln_arg_info %s_%s[] = {%s\n", op->optype,
                  kind_tables[kind].infos, arg ? "" : "{.arg_name = NULL}};");
    for (; arg; arg = next) {
        next = next_arg(op, kind, (size_t)(arg - op->args) + 1);
        write_arg_info(g, arg, !next);
    }
}

static void write_arg_names(const generator *g, ln_argdesc_kind kind)
{
    ln_cgen names = {.file = "-"};
    for (size_t i = 0; i < g->op->nargs; i++) {
        if (g->op->args[i].kind == kind)
            ln_cgen_print(&names, "\"%s\", ", g->op->args[i].name);
    }
    ln_cgen_line(g->out, 0, "static const char *%s_%s[] = {%sNULL};", g->op->optype,
                 kind_tables[kind].names, names.text ? names.text : "");
    g->out->failed |= names.failed;
    ln_cgen_free(&names);
}

static void write_ptypes(const generator *g)
{
    ln_cgen types = {.file = "-"};
    for (size_t i = 0; i < g->op->nargs; i++) {
        if (g->op->args[i].kind == LN_ARGDESC_PARAM)
            ln_cgen_print(&types, "%s, ", ln_argdesc_text(&g->op->args[i], LN_ARGDESC_PTYPE));
    }
    ln_cgen_line(g->out, 0, "static const ln_param_type %s_param_ptypes[] = {%sLN_PARAM_INVALID};",
                 g->op->optype, types.text ? types.text : "");
    g->out->failed |= types.failed;
    ln_cgen_free(&types);
}

static int has_run(const ln_opdesc *op)
{
    return op->fields[LN_OPDESC_RUN] || op->fields[LN_OPDESC_CALL];
}

static void write_info(const generator *g)
{
    const ln_opdesc *op = g->op;
    ln_cgen line = {.file = "-"};
    ln_cgen_print(&line, "LN_OP_INFO(%s, ", op->optype);
    append_string(&line, ln_opdesc_text(op, LN_OPDESC_DOC));
    ln_cgen_print(&line, ", ");
    append_string(&line, ln_opdesc_text(op, LN_OPDESC_AUTHOR));
    ln_cgen_print(&line, ", ");
    append_string(&line, ln_cgen_base_name(op->node->file));
    ln_cgen_print(&line, ", .pure = %d%s", op->pure,
                  op->inplace_writer ? ", .inplace_writer = 1" : "");
    ln_cgen_line(g->out, 0, "%s);", line.text ? line.text : "");
    ln_cgen_print(g->out, "\n");
    g->out->failed |= line.failed;
    ln_cgen_free(&line);
}

void ln_opgen_write_tables(const generator *g)
{
    write_inplace(g);
    for (int kind = LN_ARGDESC_IN; kind <= LN_ARGDESC_PARAM; kind++) {
        write_arg_infos(g, (ln_argdesc_kind)kind);
        write_arg_names(g, (ln_argdesc_kind)kind);
    }
    write_ptypes(g);
    write_info(g);
}

void ln_opgen_write_prototype(const generator *g)
{
    const ln_opdesc *op = g->op;
    const char *base = ln_opdesc_base(op)->optype, *mtype = ln_opdesc_text(op, LN_OPDESC_MTYPE);
    ln_cgen line = {.file = "-"};
    ln_cgen_print(&line, "LN_GENOP(%s, %s, \"%s\", %s, %s_pre_run", base, op->optype, op->arch,
                  mtype ? mtype : "LN_MEM_NONE", ln_opgen_has_pre_run(op) ? op->optype : base);
    if (op->fields[LN_OPDESC_STATIC_RUN] || op->fields[LN_OPDESC_STATIC_CALL])
        ln_cgen_print(&line, ", .static_run = %s_static_run", op->optype);
    if (has_run(op))
        ln_cgen_print(&line, ", .run = %s_run", op->optype);
    if (ln_opgen_has_post_run(op))
        ln_cgen_print(&line, ", .post_run = %s_post_run", base);
    else
        ln_cgen_print(&line, ", .post_run = ln_op_end");
    if (op->fields[LN_OPDESC_CALC_OFFSET])
        ln_cgen_print(&line, ", .calc_offset = %s_calc_offset", base);
    ln_cgen_line(g->out, 0, "%s);", line.text ? line.text : "");
    g->out->failed |= line.failed;
    ln_cgen_free(&line);
}
