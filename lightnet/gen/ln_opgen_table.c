// SPDX-License-Identifier: Apache-2.0
// Generates the tables of an operator: its arguments, its information, the prototype.

#include "gen/ln_opgen_code.h"

#include <stdio.h>
#include <string.h>

// 1 if the custom code of an output sets its variable instead of the fields.
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

void ln_opgen_arg_type(const ln_argdesc *arg, char *buf, size_t size)
{
    const char *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    const char *len = ln_argdesc_text(arg, LN_ARGDESC_LEN);
    if (arg->kind == LN_ARGDESC_PARAM) {
        snprintf(buf, size, "%s%s%s%s%s%s", ln_ptype_specs[arg->ptype].word, realtype ? " -> " : "",
                 realtype ? realtype : "", len ? " [" : "", len ? len : "", len ? "]" : "");
        return;
    }
    const int has_dtype = !is_custom(arg, VAR_DTYPE);
    const char *sametype = has_dtype ? ln_argdesc_text(arg, LN_ARGDESC_SAMETYPE) : NULL;
    const char *own = sametype    ? sametype
                      : has_dtype ? ln_argdesc_text(arg, LN_ARGDESC_DTYPE)
                                  : NULL;
    char shape[LN_MAX_NAME_LEN], dtype[LN_MAX_NAME_LEN];
    write_shape(arg, shape, sizeof(shape));
    snprintf(dtype, sizeof(dtype), "%s%s", sametype ? "dtype of " : "", own ? own : "");
    const char *between = !*shape || !*dtype                           ? ""
                          : ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE) ? ", "
                                                                       : " ";
    snprintf(buf, size, "%s%s%s", *shape || *dtype ? shape : "any", between, dtype);
}

// Appends to the line of a table.
#define APPEND(g, line, ...) ln_arena_extend(&(g)->out->arena, line, __VA_ARGS__)

static const char *quote(const generator *g, const char *text)
{
    return ln_cgen_quote(g->out, text ? text : "");
}

static void write_string_field(const generator *g, const char **line, const char *field,
                               const char *text)
{
    if (text)
        APPEND(g, line, ", .%s = %s", field, quote(g, text));
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

// The checks of an input by ln_op_begin.
static void write_input_checks(const generator *g, const ln_argdesc *arg, const char **line)
{
    if (arg->dtypes)
        APPEND(g, line, ", .dtypes = %s", arg->dtypes);
    if (ln_opgen_is_listed(arg, LN_ARGDESC_NDIM))
        APPEND(g, line, ", .ndim = %s", ln_argdesc_text(arg, LN_ARGDESC_NDIM));
    if (ln_argdesc_is(arg, LN_ARGDESC_STATIC))
        APPEND(g, line, ", .isstatic = 1");
    if (ln_opgen_has_own_mtype(g, arg))
        APPEND(g, line, ", .anywhere = 1");
    write_string_field(g, line, "same_type", ln_argdesc_text(arg, LN_ARGDESC_SAMETYPE));
    write_string_field(g, line, "same_shape", ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE));
}

// The fields from `first` on that bound a length or a value by a number.
static void write_bounds(const generator *g, const ln_argdesc *arg, int first, const char *what,
                         const char **line)
{
    static const char *const cmps[] = {"EQ", "GT", "GE", "LT", "LE", "NE"};
    for (int i = 0; i < (int)LENGTH_OF(cmps); i++) {
        if (ln_opgen_is_listed(arg, (ln_argdesc_field)(first + i)))
            APPEND(g, line, "%s%s(%s, %s)", **line ? ", " : "", what, cmps[i],
                   arg->fields[first + i]->text);
    }
}

static void write_default_values(const generator *g, const ln_argdesc *arg, const ln_rjson *value,
                                 const char **line)
{
    const size_t n = value->type == LN_RJSON_ARRAY ? value->len : 1;
    if (n == 0)
        return;
    APPEND(g, line, ln_opgen_is_string(arg) ? ", LN_STRINGS(" : ", LN_NUMBERS(");
    for (size_t i = 0; i < n; i++) {
        const ln_rjson *item = value->type == LN_RJSON_ARRAY ? value->items[i] : value;
        const char *text = item->type == LN_RJSON_STRING ? quote(g, item->text)
                           : item->type != LN_RJSON_BOOL ? item->text
                           : item->boolean               ? "1"
                                                         : "0";
        APPEND(g, line, "%s%s", i ? ", " : "", text);
    }
    APPEND(g, line, ")");
}

// The checks of a parameter by ln_op_begin, and its default.
static void write_param_checks(const generator *g, const ln_argdesc *arg, const char **line)
{
    const char *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    const char *bounds = "";
    if (!ln_opgen_is_string(arg) && realtype && strcmp(realtype, "int") != 0)
        APPEND(g, line, ", .view = LN_OPCK_%s",
               strcmp(realtype, "float") == 0 ? "FLOAT" : "DOUBLE");
    write_bounds(g, arg, LN_ARGDESC_LEN, "LN_LENGTH", &bounds);
    write_bounds(g, arg, LN_ARGDESC_EQ, "LN_VALUE", &bounds);
    if (*bounds)
        APPEND(g, line, ", .bounds = LN_BOUNDS(%s)", bounds);
    if (arg->fields[LN_ARGDESC_DEFAULT])
        write_default_values(g, arg, arg->fields[LN_ARGDESC_DEFAULT], line);
}

// Appends the row of an argument, and ends the table after the last.
static void write_arg_info(const generator *g, const ln_argdesc *arg, int is_last)
{
    const char *line = "", *sets = ln_argdesc_text(arg, LN_ARGDESC_SETS);
    APPEND(g, &line, "{\"%s\"", arg->name);
    if (arg->fields[LN_ARGDESC_DEFAULT])
        APPEND(g, &line, ", .has_default = 1");
    if (ln_argdesc_is(arg, LN_ARGDESC_OPTIONAL))
        APPEND(g, &line, ", .optional = 1");
    if (arg->variadic)
        APPEND(g, &line, ", .variadic = 1");
    if (arg->fields[LN_ARGDESC_INPLACE])
        APPEND(g, &line, ", .inplace = %s_%s_inplace", g->op->optype, arg->name);
    write_string_field(g, &line, "owner", ln_argdesc_text(arg, LN_ARGDESC_OWNER));
    write_string_field(g, &line, "sets", sets);
    if (sets)
        APPEND(g, &line, ", .is_setter = 1");
    if (arg->fields[LN_ARGDESC_DYNAMIC])
        APPEND(g, &line, ", .dynamic = %d", ln_argdesc_is(arg, LN_ARGDESC_DYNAMIC) ? 1 : -1);
    if (arg->kind == LN_ARGDESC_IN && !arg->variadic)
        write_input_checks(g, arg, &line);
    else if (arg->kind == LN_ARGDESC_PARAM)
        write_param_checks(g, arg, &line);
    if (ln_opgen_is_stored(arg) && ln_opgen_is_member(g, arg, VAR_VALUE))
        APPEND(g, &line, ", .at = LN_PRIV(%s, %s)", g->op->optype, arg->name);
    ln_cgen_line(g->out, 4, "%s%s", line, is_last ? ", .islast = 1}};" : "},");
}

// The table of each kind of arguments.
static const char *const kind_tables[] = {
    [LN_ARGDESC_IN] = "tensors_in",
    [LN_ARGDESC_OUT] = "tensors_out",
    [LN_ARGDESC_PARAM] = "params",
};

// The argument of a kind that follows the first `i`, or NULL.
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
    if (arg)
        ln_cgen_print(g->out, "static const ln_arg_info %s_%s[] = {\n", op->optype,
                      kind_tables[kind]);
    for (; arg; arg = next) {
        next = next_arg(op, kind, (size_t)(arg - op->args) + 1);
        write_arg_info(g, arg, !next);
    }
}

// Appends the documentation of an argument, and ends the table after the last.
static void write_arg_docs(const generator *g, const ln_argdesc *arg, int is_last)
{
    char type[LN_MAX_NAME_LEN];
    const char *line = "";
    const ln_rjson *deflt = arg->fields[LN_ARGDESC_DEFAULT];
    ln_opgen_arg_type(arg, type, sizeof(type));
    APPEND(g, &line, "{%s, %s, %s}", quote(g, ln_argdesc_text(arg, LN_ARGDESC_DOC)), quote(g, type),
           deflt ? quote(g, ln_cgen_json(g->out, deflt)) : "NULL");
    ln_cgen_line(g->out, 4, "%s%s", line, is_last ? "};" : ",");
}

void ln_opgen_write_docs(const generator *g)
{
    const ln_opdesc *op = g->op;
    const char *const meaning = ln_opgen_meaning(g);
    size_t n = 0;
    if (op->nargs)
        ln_cgen_print(g->out, "static const ln_arg_docs %s_docs_args[] = {\n", op->optype);
    for (int kind = LN_ARGDESC_IN; kind <= LN_ARGDESC_PARAM; kind++) {
        const ln_argdesc *arg = next_arg(op, (ln_argdesc_kind)kind, 0);
        for (; arg; arg = next_arg(op, (ln_argdesc_kind)kind, (size_t)(arg - op->args) + 1))
            write_arg_docs(g, arg, ++n == op->nargs);
    }
    ln_cgen_line(g->out, 0, "static const ln_op_docs %s_docs = {%s, %s, %s, %s%s, %s};", op->optype,
                 quote(g, ln_opdesc_text(op, LN_OPDESC_DOC)),
                 quote(g, ln_opdesc_text(op, LN_OPDESC_AUTHOR)),
                 quote(g, ln_cgen_base_name(op->node->file)), op->nargs ? op->optype : "NULL",
                 op->nargs ? "_docs_args" : "", meaning ? quote(g, meaning) : "NULL");
}

// The expression for the lengths of an output; that of another output of the same shape. NULL:
// `same` is the input whose shape it has, or NULL.
static const ln_rjson *find_sizes(const ln_opdesc *op, const ln_argdesc *arg,
                                  const ln_argdesc **same)
{
    *same = NULL;
    if (!ln_opgen_is_sized(arg) || arg->fields[LN_ARGDESC_SIZES])
        return arg->fields[LN_ARGDESC_SIZES];
    *same = ln_opdesc_find_arg(op, ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE));
    return (*same)->kind == LN_ARGDESC_OUT ? find_sizes(op, *same, same) : NULL;
}

static int write_sizes_of(const generator *g, const ln_argdesc *arg, word_list *w, ln_error *err)
{
    const ln_argdesc *same;
    const ln_rjson *sizes = find_sizes(g->op, arg, &same);
    ln_cgen_line(g->out, 4, "// %s", arg->name);
    if (sizes)
        return ln_opgen_write_sizes(g, sizes, 1, w, err);
    if (!same) {
        ln_cgen_line(g->out, 4, "{LN_SIZE_END, 1, 0},");
        return 0;
    }
    const ln_rjson node = {.type = LN_RJSON_STRING, .text = (char *)same->name, .key = "sameshape"};
    return ln_opgen_write_sizes(g, &node, 1, w, err);
}

static int write_values_of(const generator *g, const ln_argdesc *arg, word_list *w, ln_error *err)
{
    const ln_rjson *values = arg->fields[LN_ARGDESC_VALUES];
    if (values)
        return ln_opgen_write_sizes(g, values, 0, w, err);
    ln_cgen_line(g->out, 4, "{LN_SIZE_END, 1, 0},");
    return 0;
}

// The code of a kind of expression, of all outputs.
static int write_codes(const generator *g, const char *name, ln_argdesc_field field, word_list *w,
                       const char **tables, ln_error *err)
{
    const ln_opdesc *op = g->op;
    int is_there = 0;
    for (const ln_argdesc *a = op->args; a < op->args + op->nargs; a++)
        is_there |= a->kind == LN_ARGDESC_OUT &&
                    (field == LN_ARGDESC_SIZES ? ln_opgen_is_sized(a) : a->fields[field] != NULL);
    if (!is_there)
        return 0;
    ln_cgen_print(g->out, "static const ln_size_code %s_%s[] = {\n", op->optype, name);
    for (const ln_argdesc *a = op->args; a < op->args + op->nargs; a++) {
        if (a->kind == LN_ARGDESC_OUT &&
            (field == LN_ARGDESC_SIZES ? write_sizes_of(g, a, w, err)
                                       : write_values_of(g, a, w, err)))
            return -1;
    }
    ln_cgen_print(g->out, "};\n");
    APPEND(g, tables, ".%s = %s_%s, ", name, op->optype, name);
    return 0;
}

static int write_expressions(const generator *g, const char **tables, ln_error *err)
{
    word_list w = {0};
    const char *line = "";
    if (write_codes(g, "sizes", LN_ARGDESC_SIZES, &w, tables, err) ||
        write_codes(g, "values", LN_ARGDESC_VALUES, &w, tables, err))
        return -1;
    for (size_t i = 0; i < w.n; i++)
        APPEND(g, &line, "%s%s", i ? ", " : "", quote(g, w.at[i]));
    if (!w.n)
        return 0;
    ln_cgen_line(g->out, 0, "static const char *const %s_words[] = {%s};", g->op->optype, line);
    APPEND(g, tables, ".words = %s_words, ", g->op->optype);
    return 0;
}

int ln_opgen_write_tables(const generator *g, ln_error *err)
{
    const ln_opdesc *op = g->op;
    const char *types = "", *tables = "";
    const ln_rjson *strings = op->fields[LN_OPDESC_STRINGS];
    write_inplace(g);
    for (int kind = LN_ARGDESC_IN; kind <= LN_ARGDESC_PARAM; kind++) {
        write_arg_infos(g, (ln_argdesc_kind)kind);
        if (next_arg(op, (ln_argdesc_kind)kind, 0))
            APPEND(g, &tables, ".%s = %s_%s, ", kind_tables[kind], op->optype, kind_tables[kind]);
    }
    for (size_t i = 0; i < op->nargs; i++) {
        if (op->args[i].kind == LN_ARGDESC_PARAM)
            APPEND(g, &types, "%s, ", ln_argdesc_text(&op->args[i], LN_ARGDESC_PTYPE));
    }
    ln_cgen_line(g->out, 0, "static const ln_param_type %s_param_ptypes[] = {%sLN_PARAM_INVALID};",
                 op->optype, types);
    if (write_expressions(g, &tables, err) || ln_opgen_write_means(g, &tables, err))
        return -1;
    if (g->has_docs) {
        ln_opgen_write_docs(g);
        APPEND(g, &tables, ".docs = &%s_docs, ", op->optype);
    }
    ln_cgen_line(g->out, 0, "LN_OP_INFO(%s, %zu, %s.pure = %d%s%s%s%s%s%s);", op->optype,
                 op->nargs + LENGTH_OF(kind_tables), tables, op->pure,
                 op->inplace_writer ? ", .inplace_writer = 1" : "",
                 strings && strings->boolean ? ", .strings = 1" : "",
                 op->writes ? ", .writes = " : "", op->writes ? op->writes : "",
                 op->traits ? ", .traits = " : "", op->traits ? op->traits : "");
    ln_cgen_print(g->out, "\n");
    return 0;
}

void ln_opgen_write_prototype(const generator *g)
{
    const ln_opdesc *op = g->op;
    const char *base = ln_opdesc_base(op)->optype, *mtype = ln_opdesc_text(op, LN_OPDESC_MTYPE);
    const char *line = "";
    APPEND(g, &line, "LN_GENOP(%s, %s, \"%s\", %s, %s_pre_run", base, op->optype, op->arch,
           mtype ? mtype : "LN_MEM_NONE", ln_opgen_has_pre_run(op) ? op->optype : base);
    if (op->fields[LN_OPDESC_STATIC_RUN] || op->fields[LN_OPDESC_STATIC_CALL])
        APPEND(g, &line, ", .static_run = %s_static_run", op->optype);
    if (op->fields[LN_OPDESC_RUN] || op->fields[LN_OPDESC_CALL])
        APPEND(g, &line, ", .run = %s_run", op->optype);
    if (ln_opgen_has_post_run(op))
        APPEND(g, &line, ", .post_run = %s_post_run", base);
    else
        APPEND(g, &line, ", .post_run = ln_op_end");
    if (op->fields[LN_OPDESC_CALC_OFFSET])
        APPEND(g, &line, ", .calc_offset = %s_calc_offset", base);
    ln_cgen_line(g->out, 0, "%s);", line);
}
