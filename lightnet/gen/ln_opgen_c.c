// SPDX-License-Identifier: Apache-2.0
// Generates the C of operators: a pre_run in which every variable stands before its first use, the
// other functions with the variables that they name, and the tables.

#include "gen/ln_opgen_c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_util.h"

/* ---- what the code of a description names ---- */

/** The C of a description that stands in one group of functions. */
typedef struct codes {
    const ln_rjson **nodes;
    size_t len;
} codes;

/** The variables of an argument `x`. */
typedef enum var {
    VAR_VALUE, /* x */
    VAR_ENTRY, /* x_entry */
    VAR_NAME,  /* x_name, not of parameters */
    VAR_COUNT, /* x_n, of variadic ones */
    VAR_NDIM,  /* x_ndim, x_dims, x_dtype: of outputs in pre_run */
    VAR_DIMS,
    VAR_DTYPE,
    VARS
} var;

static const char *const var_suffixes[VARS] = {"",      "_entry", "_name", "_n",
                                               "_ndim", "_dims",  "_dtype"};

/** A part of pre_run: an argument's declaration with the checks that its fields say (`code` NULL),
 * or one more check, or custom code. */
typedef struct step {
    const ln_argdesc *arg;
    const ln_rjson *code;
    int done;
} step;

typedef struct generator {
    ln_cgen *out;
    const ln_opdesc *op;
    codes pre;   /* all code in pre_run */
    codes later; /* all code in the other functions */
    step *steps;
    size_t nsteps;
    int failed; /* no memory */
} generator;

static void add_code(generator *g, codes *cs, const ln_rjson *node)
{
    if (!node || node->type != LN_RJSON_STRING)
        return;
    const ln_rjson **nodes = ln_realloc(cs->nodes, (cs->len + 1) * sizeof(*nodes));
    if (!nodes) {
        g->failed = 1;
        return;
    }
    cs->nodes = nodes;
    cs->nodes[cs->len++] = node;
}

static void add_code_items(generator *g, codes *cs, const ln_rjson *array)
{
    for (size_t i = 0; array && array->type == LN_RJSON_ARRAY && i < array->len; i++) {
        const ln_rjson *item = array->items[i];
        add_code(g, cs, item->type == LN_RJSON_OBJECT ? ln_rjson_get(item, "check") : item);
    }
}

/** The fields of an argument that hold C. */
static const ln_argdesc_field code_fields[] = {
    LN_ARGDESC_DTYPE,  LN_ARGDESC_NDIM,   LN_ARGDESC_DIMS,   LN_ARGDESC_LEN,    LN_ARGDESC_LEN_GT,
    LN_ARGDESC_LEN_GE, LN_ARGDESC_LEN_LT, LN_ARGDESC_LEN_LE, LN_ARGDESC_LEN_NE, LN_ARGDESC_EQ,
    LN_ARGDESC_GT,     LN_ARGDESC_GE,     LN_ARGDESC_LT,     LN_ARGDESC_LE,     LN_ARGDESC_NE,
};

#define LENGTH_OF(array) (sizeof(array) / sizeof(*(array)))

/** Collects the C with which an argument is declared. */
static void collect_declaration(generator *g, codes *cs, const ln_argdesc *arg)
{
    for (size_t i = 0; i < LENGTH_OF(code_fields); i++)
        add_code(g, cs, arg->fields[code_fields[i]]);
    add_code_items(g, cs, arg->fields[LN_ARGDESC_DIMS]);
    if (arg->kind == LN_ARGDESC_OUT) {
        add_code(g, cs, arg->fields[LN_ARGDESC_CUSTOM]);
        add_code(g, cs, arg->fields[LN_ARGDESC_CLEANUP]);
    }
}

static void collect_codes(generator *g)
{
    const ln_opdesc *op = g->op;
    static const ln_opdesc_field later[] = {LN_OPDESC_STATIC_RUN, LN_OPDESC_STATIC_CALL,
                                            LN_OPDESC_RUN,        LN_OPDESC_CALL,
                                            LN_OPDESC_POST_RUN,   LN_OPDESC_CALC_OFFSET};
    for (size_t i = 0; i < op->nargs; i++) {
        collect_declaration(g, &g->pre, &op->args[i]);
        add_code(g, &g->pre, op->args[i].fields[LN_ARGDESC_CHECK]);
        add_code_items(g, &g->pre, op->args[i].fields[LN_ARGDESC_CHECKS]);
        add_code(g, &g->pre, op->args[i].fields[LN_ARGDESC_CUSTOM]);
    }
    add_code(g, &g->pre, op->fields[LN_OPDESC_SCRATCH]);
    add_code(g, &g->pre, op->fields[LN_OPDESC_CUSTOM]);
    for (size_t i = 0; i < LENGTH_OF(later); i++)
        add_code(g, &g->later, op->fields[later[i]]);
}

static int codes_name(const codes *cs, const char *word)
{
    for (size_t i = 0; i < cs->len; i++) {
        if (ln_c_names(cs->nodes[i]->text, word))
            return 1;
    }
    return 0;
}

static int codes_name_var(const codes *cs, const ln_argdesc *arg, var v)
{
    char word[LN_MAX_NAME_LEN];
    snprintf(word, sizeof(word), "%s%s", arg->name, var_suffixes[v]);
    return codes_name(cs, word);
}

static int code_names_var(const ln_rjson *code, const ln_argdesc *arg, var v)
{
    const codes cs = {.nodes = &code, .len = 1};
    return code && codes_name_var(&cs, arg, v);
}

static int names_in_pre(const generator *g, const ln_argdesc *arg, var v)
{
    return codes_name_var(&g->pre, arg, v);
}

/** 1 when `priv` must keep the variable for a later function. */
static int is_kept(const generator *g, const ln_argdesc *arg, var v)
{
    return codes_name_var(&g->later, arg, v);
}

static int field_is(const ln_rjson *field, const char *text)
{
    return field && field->text && strcmp(field->text, text) == 0;
}

/** 1 when some output takes type or shape of tensor `arg`. */
static int is_model_of_output(const generator *g, const ln_argdesc *arg)
{
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *other = &g->op->args[i];
        if (other->kind == LN_ARGDESC_OUT &&
            (field_is(other->fields[LN_ARGDESC_SAMETYPE], arg->name) ||
             field_is(other->fields[LN_ARGDESC_SAMESHAPE], arg->name)))
            return 1;
    }
    return 0;
}

/** 1 when pre_run needs the variable `x` of argument x. */
static int has_value_in_pre(const generator *g, const ln_argdesc *arg)
{
    return names_in_pre(g, arg, VAR_VALUE) ||
           (arg->kind != LN_ARGDESC_PARAM && is_model_of_output(g, arg));
}

static int is_string(const ln_argdesc *arg)
{
    return arg->ptype == LN_ARGDESC_STRING || arg->ptype == LN_ARGDESC_ARRAY_STRING;
}

/** 1 for an array of strings that from_func converts: `priv` owns the values. */
static int is_converted_array(const ln_argdesc *arg)
{
    return arg->kind == LN_ARGDESC_PARAM && arg->ptype == LN_ARGDESC_ARRAY_STRING &&
           arg->fields[LN_ARGDESC_FROM_FUNC];
}

static int has_priv(const generator *g)
{
    if (g->op->fields[LN_OPDESC_EXTRA_PRIVS] || codes_name(&g->pre, "priv") ||
        codes_name(&g->later, "priv"))
        return 1;
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        if (arg->variadic || is_converted_array(arg))
            return 1;
        for (int v = VAR_VALUE; v <= VAR_COUNT; v++) {
            if (is_kept(g, arg, (var)v))
                return 1;
        }
    }
    return 0;
}

/* ---- types of variables ---- */

/** The C type of the value of a number or bool as ln_param_entry has it, for `value_...`. */
static const char *view_name(const ln_argdesc *arg)
{
    if (arg->ptype == LN_ARGDESC_BOOL || arg->ptype == LN_ARGDESC_ARRAY_BOOL)
        return "bool";
    return is_string(arg) ? "string" : ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
}

/** The type of one value of a parameter, ready for a name behind it. */
static void param_type(const ln_argdesc *arg, char *buf, size_t size)
{
    const char *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    const int is_bool = strcmp(view_name(arg), "bool") == 0;
    if (is_converted_array(arg))
        snprintf(buf, size, "const %s *", realtype);
    else if (arg->ptype == LN_ARGDESC_ARRAY_STRING)
        snprintf(buf, size, "char *const *");
    else if (is_string(arg) && !realtype)
        snprintf(buf, size, "const char *");
    else
        snprintf(buf, size, ln_argdesc_is_array(arg) ? "const %s *" : "%s ",
                 is_bool ? "ln_bool" : realtype);
}

/** The type of a variable that `priv` keeps, ready for a name behind it. */
static void kept_type(const ln_argdesc *arg, var v, char *buf, size_t size)
{
    const char *const_in = arg->kind == LN_ARGDESC_IN ? "const " : "";
    if (v == VAR_VALUE && arg->kind == LN_ARGDESC_PARAM)
        param_type(arg, buf, size);
    else if (v == VAR_VALUE)
        snprintf(buf, size, "%stl_tensor *%s", const_in, arg->variadic ? "*" : "");
    else if (v == VAR_ENTRY && arg->kind == LN_ARGDESC_PARAM)
        snprintf(buf, size, "ln_param_entry *");
    else if (v == VAR_ENTRY)
        snprintf(buf, size, "ln_tensor_entry *%s", arg->variadic ? "*" : "");
    else if (v == VAR_NAME)
        snprintf(buf, size, "const char *");
    else
        snprintf(buf, size, "int ");
}

/** 1 when struct priv has a member for the variable. */
static int is_member(const generator *g, const ln_argdesc *arg, var v)
{
    if (arg->variadic)
        return v == VAR_VALUE || v == VAR_ENTRY || v == VAR_COUNT;
    if (v == VAR_VALUE && is_converted_array(arg))
        return 1;
    return is_kept(g, arg, v);
}

static void write_struct(const generator *g)
{
    char type[LN_MAX_NAME_LEN];
    const ln_rjson *extra = g->op->fields[LN_OPDESC_EXTRA_PRIVS];
    ln_cgen_print(g->out, "struct %s_priv {\n", g->op->optype);
    for (size_t i = 0; i < g->op->nargs; i++) {
        for (int v = VAR_VALUE; v <= VAR_COUNT; v++) {
            const ln_argdesc *arg = &g->op->args[i];
            if (!is_member(g, arg, (var)v))
                continue;
            kept_type(arg, (var)v, type, sizeof(type));
            ln_cgen_line(g->out, 4, "%s%s%s;", type, arg->name, var_suffixes[v]);
        }
    }
    for (size_t i = 0; extra && i < extra->len; i++) {
        const ln_rjson *type_node = ln_rjson_get(extra->items[i], "type");
        const size_t len = strlen(type_node->text);
        ln_cgen_line_of(g->out, 4, type_node, "%s%s%s;", type_node->text,
                        len && type_node->text[len - 1] == '*' ? "" : " ",
                        ln_rjson_get(extra->items[i], "name")->text);
    }
    ln_cgen_print(g->out, "};\n\n");
}

/* ---- lines with expressions ---- */

/** 1 for C that cannot be wrong: a name of an argument, or a member of a tensor. */
static int is_plain(const generator *g, const ln_rjson *node)
{
    static const char *const members[] = {"",      "->dtype", "->ndim",
                                          "->len", "->dims",  "->array_len"};
    const char *text = node->text;
    if (node->type != LN_RJSON_STRING || strcmp(text, "LN_MAXDIM") == 0 ||
        (strncmp(text, "TL_", 3) == 0 && ln_c_is_identifier(text))) // a data type, checked already
        return 1;
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        const size_t len = strlen(arg->name);
        if (strncmp(text, arg->name, len) != 0)
            continue;
        const char *rest = text + len;
        rest += strncmp(rest, "_entry", 6) == 0 ? 6 : 0;
        for (size_t m = 0; m < LENGTH_OF(members); m++) {
            if (strcmp(rest, members[m]) == 0)
                return 1;
        }
        int end = 0;
        sscanf(rest, "->dims[%*1d]%n", &end);
        if (end && !rest[end])
            return 1;
    }
    return 0;
}

/** A line that holds the expression of `node`; with a #line directive where the expression can be
 *  wrong. NULL: a line of the generator's own. */
static void write_line(const generator *g, int indent, const ln_rjson *node, const char *fmt, ...)
    LN_PRINTF(4, 5);

static void write_line(const generator *g, int indent, const ln_rjson *node, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    const int len = vasprintf(&text, fmt, args);
    va_end(args);
    if (len < 0)
        g->out->failed = 1;
    else if (!node || is_plain(g, node))
        ln_cgen_line(g->out, indent, "%s", text);
    else
        ln_cgen_line_of(g->out, indent, node, "%s", text);
    if (len >= 0)
        free(text);
}

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

static void collect_steps(generator *g)
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
        add_code(g, &cs, s->code);
    else
        collect_declaration(g, &cs, s->arg);
    for (size_t i = 0; !s->code && i < LENGTH_OF(references); i++)
        found |= field_is(s->arg->fields[references[i]], arg->name);
    for (int v = VAR_VALUE; v < VARS && !found; v++)
        found = codes_name_var(&cs, arg, (var)v);
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
    write_line(g, indent, dtype, "ln_opck_tensor_dtype_eq(%s, %s);", entry, dtype->text);
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
        write_line(g, indent, ndim, "ln_opck_tensor_ndim(%s, %s);", entry, ndim->text);
    if (len)
        write_line(g, indent, len, "ln_opck_tensor_len(%s, %s);", entry, len->text);
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
    const int count = names_in_pre(g, arg, VAR_COUNT);
    if (names_in_pre(g, arg, VAR_VALUE))
        ln_cgen_line(g->out, 4, "%stl_tensor **%s = priv->%s;", const_in, arg->name, arg->name);
    if (names_in_pre(g, arg, VAR_ENTRY))
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
    if (has_value_in_pre(g, arg))
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
    if (has_value_in_pre(g, arg))
        ln_cgen_line(g->out, 4, "tl_tensor *%s = NULL;", x);
    ln_cgen_line(g->out, 4, "if (%s_name) {", x);
    ln_cgen_line(g->out, 8, "%s_entry = ln_tensor_table_find(op_arg->tensor_table, %s_name);", x,
                 x);
    ln_cgen_line(g->out, 8, "ln_opck_tensor_defined(%s_entry, %s_name);", x, x);
    if (has_value_in_pre(g, arg))
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
            write_line(g, 4, bound, "ln_opck_param_array_len_%s(%s_entry, %s);", cmp_names[i],
                       arg->name, bound->text);
    }
    for (int i = 0; i < 6; i++) {
        const ln_rjson *bound = arg->fields[LN_ARGDESC_EQ + i];
        if (bound)
            write_line(g, 4, bound, "ln_opck_param_%s%s_%s(%s_entry, %s);",
                       is_array ? "array_" : "", realtype, cmp_names[i], arg->name, bound->text);
        is_bounded |= bound != NULL;
    }
    if (!is_bounded && !is_string(arg) && realtype && strcmp(realtype, "int") == 0)
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
             view_name(arg));
}

static void write_param_value(const generator *g, const ln_argdesc *arg)
{
    char type[LN_MAX_NAME_LEN], value[LN_MAX_NAME_LEN];
    const ln_rjson *func = arg->fields[LN_ARGDESC_FROM_FUNC];
    param_type(arg, type, sizeof(type));
    param_value(arg, value, sizeof(value));
    const char *const_scalar = strchr(type, '*') || arg->fields[LN_ARGDESC_CUSTOM]
                                   ? ""
                                   : "const "; // custom code may change it
    if (is_converted_array(arg)) {
        write_converted_array(g, arg);
    } else if (func) {
        ln_cgen_line_of(g->out, 4, func, "%s%s%s = %s(%s);", const_scalar, type, arg->name,
                        func->text, value);
        write_unknown_string(g, arg, 4, "");
    } else if (has_value_in_pre(g, arg)) {
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
    if (names_in_pre(g, arg, VAR_DTYPE)) {
        write_line(g, indent, dtype, "%stl_dtype %s_dtype = %s;",
                   arg->fields[LN_ARGDESC_CUSTOM] ? "" : "const ", arg->name, shape->dtype);
        shape->dtype = set_name(shape, 0, arg->name, "_dtype");
    } else if (dtype && !is_plain(g, dtype)) {
        shape->node = dtype;
    }
}

static void write_ndim_text(const generator *g, const ln_argdesc *arg, int indent,
                            shape_text *shape)
{
    const ln_rjson *dims = arg->fields[LN_ARGDESC_DIMS], *ndim = arg->fields[LN_ARGDESC_NDIM];
    const char *sameshape = ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE);
    const int is_expression = ndim && !sameshape && !is_array(dims) && !is_plain(g, ndim);
    const int has_custom = arg->fields[LN_ARGDESC_CUSTOM] != NULL;
    char len[24];
    snprintf(len, sizeof(len), "%zu", dims ? dims->len : 0);
    if (sameshape)
        shape->ndim = set_name(shape, 1, sameshape, "->ndim");
    else
        shape->ndim = is_array(dims) ? set_name(shape, 1, len, "") : ndim->text;
    if (names_in_pre(g, arg, VAR_NDIM) || (is_expression && has_custom)) {
        write_line(g, indent, is_expression ? ndim : NULL, "%sint %s_ndim = %s;",
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
        if (!node && !is_plain(g, dims->items[i]))
            node = dims->items[i];
    }
    g->out->failed |= items.failed;
    write_line(g, indent, node,
               may_change ? "int %s_dims[LN_MAXDIM] = {%s};" : "const int %s_dims[] = {%s};",
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
    write_line(g, indent, dims, "memcpy(%s_dims, %s, sizeof(int) * (size_t)%s);", arg->name, source,
               ndim);
}

static void write_dims_text(const generator *g, const ln_argdesc *arg, int indent,
                            shape_text *shape)
{
    const ln_rjson *dims = arg->fields[LN_ARGDESC_DIMS];
    const char *sameshape = ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE);
    const int is_named = names_in_pre(g, arg, VAR_DIMS);
    const int has_custom = arg->fields[LN_ARGDESC_CUSTOM] != NULL;
    if (sameshape)
        shape->dims = set_name(shape, 2, sameshape, "->dims");
    else if (is_array(dims) && dims->len == 0 && !is_named)
        shape->dims = "NULL";
    else if (dims && !is_array(dims))
        shape->dims = dims->text;
    if (!is_named && shape->dims) {
        if (dims && !is_array(dims) && !is_plain(g, dims))
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
        write_line(g, indent, dims, "const int *%s_dims = %s;", arg->name, shape->dims);
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
        write_line(g, indent, len, "ln_opck_tensor_len(%s, %s);", entry, len->text);
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
    return has_entry_settings(arg) || names_in_pre(g, arg, VAR_ENTRY) || has_value_in_pre(g, arg) ||
           is_kept(g, arg, VAR_ENTRY) || is_kept(g, arg, VAR_VALUE) ||
           arg->fields[LN_ARGDESC_CLEANUP];
}

static void write_definition(const generator *g, const ln_argdesc *arg, int indent)
{
    shape_text shape;
    char entry[LN_MAX_NAME_LEN];
    const int has_entry = needs_output_entry(g, arg);
    write_shape(g, arg, indent, &shape);
    snprintf(entry, sizeof(entry), "%s%s_entry = ", arg->optional ? "" : "ln_tensor_entry *",
             arg->name);
    write_line(g, indent, shape.node, "%sln_op_define_output(op_arg, \"%s\", %s, %s, %s, %s)%s",
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
    write_line(g, 8, shape.node,
               "%s = ln_op_define_output(op_arg, ln_op_variadic_name(op_arg->tensors_out, \"%s\", "
               "i), %s, %s, %s, %s);",
               entry, x, shape.ndim, shape.dims, shape.dtype,
               ln_argdesc_text(arg, LN_ARGDESC_MTYPE));
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
    if (names_in_pre(g, arg, VAR_NAME) || is_kept(g, arg, VAR_NAME))
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
    if (has_value_in_pre(g, arg))
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
    if (v == VAR_VALUE && arg->kind == LN_ARGDESC_PARAM && !has_value_in_pre(g, arg) &&
        !arg->fields[LN_ARGDESC_FROM_FUNC])
        param_value(arg, buf, size);
    else if (v == VAR_VALUE && arg->kind != LN_ARGDESC_PARAM && !has_value_in_pre(g, arg) &&
             arg->optional)
        snprintf(buf, size, "%s_entry ? %s_entry->tensor : NULL", arg->name, arg->name);
    else if (v == VAR_VALUE && arg->kind != LN_ARGDESC_PARAM && !has_value_in_pre(g, arg))
        snprintf(buf, size, "%s_entry->tensor", arg->name);
    else
        snprintf(buf, size, "%s%s", arg->name, var_suffixes[v]);
}

static void write_keeping(const generator *g)
{
    char value[2 * LN_MAX_NAME_LEN];
    const char *last = NULL;
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        for (int v = VAR_VALUE; v <= VAR_NAME; v++) {
            if (!is_kept(g, arg, (var)v) || arg->variadic ||
                (v == VAR_VALUE && is_converted_array(arg)))
                continue;
            write_section(g, &last, "for the other functions");
            kept_value(g, arg, (var)v, value, sizeof(value));
            ln_cgen_line(g->out, 4, "priv->%s%s = %s;", arg->name, var_suffixes[v], value);
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

static int write_pre_run(generator *g, ln_error *err)
{
    const ln_rjson *scratch = g->op->fields[LN_OPDESC_SCRATCH],
                   *custom = g->op->fields[LN_OPDESC_CUSTOM];
    ln_cgen_print(g->out, "static void %s_pre_run(ln_op_arg *op_arg)\n{\n", g->op->optype);
    ln_cgen_line(g->out, 4, "if (ln_op_check_args(op_arg))");
    ln_cgen_line(g->out, 8, "return;");
    if (has_priv(g))
        write_priv_allocation(g);
    if (codes_name(&g->pre, "exec"))
        ln_cgen_line(g->out, 4, "const tl_exec exec = ln_op_exec(op_arg);");
    write_ready_steps(g, 0);
    write_ready_steps(g, 1);
    if (check_steps(g, err))
        return -1;
    write_keeping(g);
    if (scratch) {
        ln_cgen_print(g->out, "\n    // scratch memory\n");
        write_line(g, 4, scratch, "op_arg->scratch_size = %s;", scratch->text);
    }
    if (custom) {
        ln_cgen_print(g->out, "\n");
        ln_cgen_snippet(g->out, 4, custom);
    }
    ln_cgen_print(g->out, "}\n\n");
    return 0;
}

/* ---- the other functions ---- */

static int code_names_any(const generator *g, const ln_rjson *code)
{
    for (size_t i = 0; i < g->op->nargs; i++) {
        for (int v = VAR_VALUE; v <= VAR_COUNT; v++) {
            if (code_names_var(code, &g->op->args[i], (var)v))
                return 1;
        }
    }
    return 0;
}

/** Declares the variables that the code of a function names. */
static void write_locals(const generator *g, const ln_rjson *code, int needs_priv)
{
    char type[LN_MAX_NAME_LEN];
    int declared = 0;
    if (needs_priv || ln_c_names(code->text, "priv") || code_names_any(g, code)) {
        ln_cgen_line(g->out, 4, "struct %s_priv *priv = op_arg->priv;", g->op->optype);
        declared = 1;
    }
    for (size_t i = 0; i < g->op->nargs; i++) {
        for (int v = VAR_VALUE; v <= VAR_COUNT; v++) {
            const ln_argdesc *arg = &g->op->args[i];
            if (!code_names_var(code, arg, (var)v))
                continue;
            kept_type(arg, (var)v, type, sizeof(type));
            ln_cgen_line(g->out, 4, "%s%s%s%s = priv->%s%s;", strchr(type, '*') ? "" : "const ",
                         type, arg->name, var_suffixes[v], arg->name, var_suffixes[v]);
        }
    }
    if (ln_c_names(code->text, "exec")) {
        ln_cgen_line(g->out, 4, "const tl_exec exec = ln_op_exec(op_arg);");
        declared = 1;
    }
    if (declared)
        ln_cgen_print(g->out, "\n");
}

static int is_op_arg_used(const generator *g, const ln_rjson *code)
{
    return ln_c_names(code->text, "op_arg") || ln_c_names(code->text, "priv") ||
           ln_c_names(code->text, "exec") || code_names_any(g, code);
}

/** run or static_run: from statements, or from a call that must return 0. */
static void write_run(const generator *g, const char *name, const ln_rjson *run,
                      const ln_rjson *call)
{
    const ln_rjson *code = run ? run : call;
    if (!code)
        return;
    ln_cgen_print(g->out, "static void %s_%s(ln_op_arg *op_arg)\n{\n", g->op->optype, name);
    write_locals(g, code, 0);
    if (run && !is_op_arg_used(g, run))
        ln_cgen_line(g->out, 4, "(void)op_arg;");
    if (run) {
        ln_cgen_snippet(g->out, 4, run);
    } else {
        ln_cgen_line_of(g->out, 4, call, "if (%s)", call->text);
        ln_cgen_line(g->out, 8, "ln_op_fail_tl(op_arg);");
    }
    ln_cgen_print(g->out, "}\n\n");
}

/** The opposite of pre_run, also of one that failed half way: `priv` may be NULL, and all in it
 * that is not yet set is 0. */
static void write_post_run(const generator *g)
{
    const ln_rjson *code = g->op->fields[LN_OPDESC_POST_RUN];
    int has_outputs = 0;
    if (!has_priv(g) && !code)
        return;
    ln_cgen_print(g->out, "static void %s_post_run(ln_op_arg *op_arg)\n{\n", g->op->optype);
    if (has_priv(g)) {
        ln_cgen_line(g->out, 4, "struct %s_priv *priv = op_arg->priv;", g->op->optype);
        ln_cgen_line(g->out, 4, "if (!priv)");
        ln_cgen_line(g->out, 8, "return;");
    }
    for (size_t i = 0; i < g->op->nargs; i++)
        has_outputs |= g->op->args[i].kind == LN_ARGDESC_OUT;
    if (code) {
        char type[LN_MAX_NAME_LEN];
        for (size_t i = 0; i < g->op->nargs; i++) {
            for (int v = VAR_VALUE; v <= VAR_COUNT; v++) {
                const ln_argdesc *arg = &g->op->args[i];
                if (!code_names_var(code, arg, (var)v))
                    continue;
                kept_type(arg, (var)v, type, sizeof(type));
                ln_cgen_line(g->out, 4, "%s%s%s = priv->%s%s;", type, arg->name, var_suffixes[v],
                             arg->name, var_suffixes[v]);
            }
        }
        ln_cgen_snippet(g->out, 4, code);
    }
    if (has_outputs)
        ln_cgen_line(g->out, 4, "ln_op_undefine_outputs(op_arg);");
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        if (arg->variadic)
            ln_cgen_line(g->out, 4, "ln_free(priv->%s_entry);", arg->name);
        if (arg->variadic || is_converted_array(arg))
            ln_cgen_line(g->out, 4, "ln_free((void *)priv->%s);", arg->name);
    }
    if (has_priv(g)) {
        ln_cgen_line(g->out, 4, "ln_free(priv);");
        ln_cgen_line(g->out, 4, "op_arg->priv = NULL;");
    }
    ln_cgen_print(g->out, "}\n\n");
}

static void write_calc_offset(const generator *g)
{
    const ln_rjson *code = g->op->fields[LN_OPDESC_CALC_OFFSET];
    if (!code)
        return;
    ln_cgen_print(g->out,
                  "static size_t %s_calc_offset(ln_op_arg *op_arg, ln_tensor_entry *te)\n{\n",
                  g->op->optype);
    write_locals(g, code, 0);
    if (!is_op_arg_used(g, code))
        ln_cgen_line(g->out, 4, "(void)op_arg;");
    if (!ln_c_names(code->text, "te"))
        ln_cgen_line(g->out, 4, "(void)te;");
    ln_cgen_snippet(g->out, 4, code);
    ln_cgen_print(g->out, "}\n\n");
}

/* ---- tables ---- */

void ln_opgen_arg_type(const ln_argdesc *arg, char *buf, size_t size)
{
    static const char *const ptypes[LN_ARGDESC_PTYPES] = {
        "null", "string", "number", "bool", "array_string", "array_number", "array_bool"};
    const char *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    const char *len = ln_argdesc_text(arg, LN_ARGDESC_LEN);
    const ln_rjson *ndim = arg->fields[LN_ARGDESC_NDIM], *dims = arg->fields[LN_ARGDESC_DIMS];
    const char *dtype = ln_argdesc_text(arg, LN_ARGDESC_DTYPE);
    const char *sametype = ln_argdesc_text(arg, LN_ARGDESC_SAMETYPE);
    const char *sameshape = ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE);
    if (arg->kind == LN_ARGDESC_PARAM) {
        snprintf(buf, size, "%s%s%s%s%s%s", ptypes[arg->ptype], realtype ? " -> " : "",
                 realtype ? realtype : "", len ? " [" : "", len ? len : "", len ? "]" : "");
        return;
    }
    char shape[LN_MAX_NAME_LEN] = "";
    if (sameshape)
        snprintf(shape, sizeof(shape), "shape of %s", sameshape);
    else if (dims && dims->type == LN_RJSON_ARRAY)
        snprintf(shape, sizeof(shape), "%zu-D", dims->len);
    else if (ndim && ndim->type == LN_RJSON_NUMBER)
        snprintf(shape, sizeof(shape), "%s-D", ndim->text);
    snprintf(buf, size, "%s%s%s%s", shape,
             *shape && (sametype || dtype) ? sameshape ? ", " : " " : "",
             sametype ? "dtype of " : "",
             sametype ? sametype
             : dtype  ? dtype
             : *shape ? ""
                      : "any");
}

static void write_string_field(ln_cgen *line, const char *field, const char *text)
{
    if (!text)
        return;
    ln_cgen_print(line, ", .%s = \"", field);
    ln_cgen_escaped(line, text);
    ln_cgen_print(line, "\"");
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

static void write_arg_info(const generator *g, const ln_argdesc *arg)
{
    char type[LN_MAX_NAME_LEN], *value = NULL;
    size_t size = 0;
    ln_cgen line = {.file = "-"};
    ln_opgen_arg_type(arg, type, sizeof(type));
    ln_cgen_print(&line, "{.arg_name = \"%s\"", arg->name);
    write_string_field(&line, "doc",
                       arg->fields[LN_ARGDESC_DOC] ? ln_argdesc_text(arg, LN_ARGDESC_DOC) : "");
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
    if (arg->optional)
        ln_cgen_print(&line, ", .optional = 1");
    if (arg->variadic)
        ln_cgen_print(&line, ", .variadic = 1");
    if (arg->fields[LN_ARGDESC_INPLACE])
        ln_cgen_print(&line, ", .inplace = %s_%s_inplace", g->op->optype, arg->name);
    write_string_field(&line, "owner", ln_argdesc_text(arg, LN_ARGDESC_OWNER));
    g->out->failed |= line.failed;
    ln_cgen_line(g->out, 4, "%s},", line.text ? line.text : "");
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

static void write_arg_tables(const generator *g, ln_argdesc_kind kind)
{
    ln_cgen names = {.file = "-"};
    ln_cgen_print(g->out, "static const ln_arg_info %s_%s[] = {\n", g->op->optype,
                  kind_tables[kind].infos);
    for (size_t i = 0; i < g->op->nargs; i++) {
        if (g->op->args[i].kind != kind)
            continue;
        write_arg_info(g, &g->op->args[i]);
        ln_cgen_print(&names, "\"%s\", ", g->op->args[i].name);
    }
    ln_cgen_line(g->out, 4, "{.arg_name = NULL},");
    ln_cgen_print(g->out, "};\n");
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

static int is_inplace_writer(const ln_opdesc *op)
{
    for (size_t i = 0; i < op->nargs; i++) {
        if (op->args[i].fields[LN_ARGDESC_OWNER])
            return has_run(op);
    }
    return 0;
}

static void write_info_text(const generator *g, const char *field, const char *text)
{
    ln_cgen escaped = {.file = "-"};
    ln_cgen_escaped(&escaped, text ? text : "");
    ln_cgen_line(g->out, 4, ".%s = \"%s\",", field, escaped.text ? escaped.text : "");
    g->out->failed |= escaped.failed;
    ln_cgen_free(&escaped);
}

static void write_info(const generator *g)
{
    const char *op = g->op->optype;
    ln_cgen_print(g->out, "static const ln_op_info %s_info = {\n", op);
    write_info_text(g, "doc", ln_opdesc_text(g->op, LN_OPDESC_DOC));
    write_info_text(g, "author", ln_opdesc_text(g->op, LN_OPDESC_AUTHOR));
    write_info_text(g, "source", ln_opgen_base_name(g->op->node->file));
    ln_cgen_line(g->out, 4, ".pure = %d,", g->op->pure);
    ln_cgen_line(g->out, 4, ".inplace_writer = %d,", is_inplace_writer(g->op));
    for (size_t kind = 0; kind < LENGTH_OF(kind_tables); kind++)
        ln_cgen_line(g->out, 4, ".%s = %s_%s,", kind_tables[kind].infos, op,
                     kind_tables[kind].infos);
    ln_cgen_print(g->out, "};\n\n");
}

static void write_op_arg(const generator *g)
{
    const char *op = g->op->optype;
    ln_cgen_print(g->out, "static ln_op_arg %s_op_arg = {\n", op);
    ln_cgen_line(g->out, 4, ".optype = \"%s\",", op);
    ln_cgen_line(g->out, 4, ".arch = \"%s\",", g->op->arch);
    for (size_t kind = 0; kind < LENGTH_OF(kind_tables); kind++)
        ln_cgen_line(g->out, 4, ".%s = %s_%s,", kind_tables[kind].names, op,
                     kind_tables[kind].names);
    ln_cgen_line(g->out, 4, ".param_ptypes = %s_param_ptypes,", op);
    ln_cgen_line(g->out, 4, ".info = &%s_info,", op);
    ln_cgen_print(g->out, "};\n\n");
}

static int has_outputs(const ln_opdesc *op)
{
    for (size_t i = 0; i < op->nargs; i++) {
        if (op->args[i].kind == LN_ARGDESC_OUT)
            return 1;
    }
    return 0;
}

static void write_op(const generator *g)
{
    const ln_opdesc *op = g->op;
    ln_cgen_print(g->out, "ln_op ln_opimpl_%s = {\n", op->optype);
    ln_cgen_line(g->out, 4, ".op_arg = &%s_op_arg,", op->optype);
    ln_cgen_line(g->out, 4, ".pre_run = %s_pre_run,", op->optype);
    if (op->fields[LN_OPDESC_STATIC_RUN] || op->fields[LN_OPDESC_STATIC_CALL])
        ln_cgen_line(g->out, 4, ".static_run = %s_static_run,", op->optype);
    if (has_run(op))
        ln_cgen_line(g->out, 4, ".run = %s_run,", op->optype);
    if (has_priv(g) || op->fields[LN_OPDESC_POST_RUN])
        ln_cgen_line(g->out, 4, ".post_run = %s_post_run,", op->optype);
    else if (has_outputs(op))
        ln_cgen_line(g->out, 4, ".post_run = ln_op_undefine_outputs,");
    if (op->fields[LN_OPDESC_CALC_OFFSET])
        ln_cgen_line(g->out, 4, ".calc_offset = %s_calc_offset,", op->optype);
    ln_cgen_print(g->out, "};\n");
}

/* ---- one operator, one file ---- */

static int write_operator(generator *g, ln_error *err)
{
    const ln_opdesc *op = g->op;
    const int names_struct = codes_name(&g->pre, "priv_s") || codes_name(&g->later, "priv_s");
    const char *doc = ln_opdesc_text(op, LN_OPDESC_DOC);
    ln_cgen_print(g->out, "\n");
    if (doc)
        ln_cgen_line(g->out, 0, "// %s: %.*s", op->optype, (int)strcspn(doc, "\n"), doc);
    if (names_struct)
        ln_cgen_print(g->out, "#define priv_s %s_priv\n", op->optype);
    if (doc || names_struct)
        ln_cgen_print(g->out, "\n");
    if (has_priv(g))
        write_struct(g);
    if (write_pre_run(g, err))
        return -1;
    write_run(g, "static_run", op->fields[LN_OPDESC_STATIC_RUN], op->fields[LN_OPDESC_STATIC_CALL]);
    write_run(g, "run", op->fields[LN_OPDESC_RUN], op->fields[LN_OPDESC_CALL]);
    write_post_run(g);
    write_calc_offset(g);
    write_inplace(g);
    for (int kind = LN_ARGDESC_IN; kind <= LN_ARGDESC_PARAM; kind++)
        write_arg_tables(g, (ln_argdesc_kind)kind);
    write_ptypes(g);
    ln_cgen_print(g->out, "\n");
    write_info(g);
    write_op_arg(g);
    write_op(g);
    if (names_struct)
        ln_cgen_print(g->out, "\n#undef priv_s\n");
    return 0;
}

static int generate_operator(ln_cgen *out, const ln_opdesc *op, ln_error *err)
{
    generator g = {.out = out, .op = op};
    collect_codes(&g);
    collect_steps(&g);
    int result = write_operator(&g, err);
    if (g.failed && !result)
        result = ln_error_set(err, "%s: out of memory", op->node->file);
    ln_free(g.pre.nodes);
    ln_free(g.later.nodes);
    ln_free(g.steps);
    return result;
}

const char *ln_opgen_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void ln_opgen_print_sources(ln_cgen *out, const ln_opdescs *descs)
{
    const char *last = NULL;
    for (size_t i = 0; i < descs->len; i++) {
        const ln_opdesc *op = descs->ops[i];
        if (!op->own || op->node->file == last)
            continue;
        ln_cgen_print(out, "%s%s", last ? ", " : "", ln_opgen_base_name(op->node->file));
        last = op->node->file;
    }
}

/** Prints an #include of each header of one kind, "<...>" or others, that the descriptions ask for,
 * once. */
static void write_includes(ln_cgen *out, const ln_opdescs *descs, int is_system)
{
    for (size_t i = 0; i < descs->len; i++) {
        const ln_opdesc *op = descs->ops[i];
        for (size_t k = 0; op->own && op->autogen && k < op->nincludes; k++) {
            const char *name = op->includes[k]->text;
            char line[LN_MAX_NAME_LEN];
            snprintf(line, sizeof(line), is_system ? "#include %s\n" : "#include \"%s\"\n", name);
            if ((name[0] == '<') == is_system && out->text && !strstr(out->text, line))
                ln_cgen_print(out, "%s", line);
        }
    }
}

static int write_operators(ln_cgen *out, const ln_opdescs *descs, ln_error *err)
{
    for (size_t i = 0; i < descs->len; i++) {
        if (descs->ops[i]->own && descs->ops[i]->autogen &&
            generate_operator(out, descs->ops[i], err))
            return -1;
    }
    return 0;
}

/** Prints an #include of a header that the generator's own code needs when the draft has one of the
 * words. */
static void write_include_for(ln_cgen *out, const ln_cgen *draft, const char *header,
                              const char *word, const char *other)
{
    if (draft->text && (strstr(draft->text, word) || strstr(draft->text, other)))
        ln_cgen_print(out, "#include %s\n", header);
}

/** Prints the #includes that a file with the operators of `draft` needs. */
static void write_headers(ln_cgen *out, const ln_cgen *draft, const ln_opdescs *descs)
{
    const size_t before = out->len;
    write_include_for(out, draft, "<limits.h>", "INT_MIN", "INT_MAX");
    write_includes(out, descs, 1);
    write_include_for(out, draft, "<string.h>", "memcpy(", "strcmp(");
    ln_cgen_print(out, out->len > before ? "\n" : "");
    write_include_for(out, draft, "\"lightnet/ln_genop.h\"", "ln_op_default_", "_variadic");
    ln_cgen_print(out, "#include \"lightnet/ln_op.h\"\n#include \"tensorlight/tensorlight.h\"\n");
    write_includes(out, descs, 0);
}

int ln_opgen_c(ln_cgen *out, const ln_opdescs *descs, ln_error *err)
{
    ln_cgen draft = {.file = out->file}; // shows what is needed
    int result = write_operators(&draft, descs, err);
    ln_cgen_print(out, "// Generated from ");
    ln_opgen_print_sources(out, descs);
    ln_cgen_print(out, "; edit that, not this.\n\n");
    if (!result) {
        write_headers(out, &draft, descs);
        result = write_operators(out, descs, err);
    }
    ln_cgen_free(&draft);
    return result;
}

int ln_opgen_list(ln_cgen *out, const ln_opdescs *descs, const char *arch, ln_error *err)
{
    (void)err;
    ln_cgen_print(out, "// Generated from ");
    ln_opgen_print_sources(out, descs);
    ln_cgen_print(out, ": the operators of architecture '%s'.\n\n#include \"lightnet/ln_op.h\"\n\n",
                  arch);
    for (size_t i = 0; i < descs->len; i++) {
        const ln_opdesc *op = descs->ops[i];
        if (op->own && op->autogen && strcmp(op->arch, arch) == 0)
            ln_cgen_print(out, "extern ln_op ln_opimpl_%s;\n", op->optype);
    }
    ln_cgen_print(out, "\nstatic ln_op *ops_%s[] = {\n", arch);
    for (size_t i = 0; i < descs->len; i++) {
        const ln_opdesc *op = descs->ops[i];
        if (op->own && op->autogen && strcmp(op->arch, arch) == 0)
            ln_cgen_print(out, "    &ln_opimpl_%s,\n", op->optype);
    }
    ln_cgen_print(out, "    NULL,\n};\n");
    return 0;
}
