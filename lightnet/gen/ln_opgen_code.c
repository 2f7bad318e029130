// SPDX-License-Identifier: Apache-2.0
// Names in the code of a description, types of variables, lines with code.

#include "gen/ln_opgen_code.h"

#include <stdio.h>
#include <string.h>

#include "gen/ln_opdesc_fields.h"
#include "lightnet/ln_util.h"

// Names in the code of a description

const char *const ln_opgen_var_suffixes[VARS] = {"",      "_entry", "_name", "_n",
                                                 "_ndim", "_dims",  "_dtype"};

void ln_opgen_add_code(const generator *g, codes *cs, const ln_rjson *node)
{
    if (!node || node->type != LN_RJSON_STRING)
        return;
    cs->nodes = ln_arena_grow(&g->out->arena, cs->nodes, cs->len, sizeof(*cs->nodes));
    cs->nodes[cs->len++] = node;
}

static void add_code_items(const generator *g, codes *cs, const ln_rjson *array)
{
    for (size_t i = 0; array && array->type == LN_RJSON_ARRAY && i < array->len; i++)
        ln_opgen_add_code(g, cs, array->items[i]);
}

// The fields of an argument that hold C.
static const ln_argdesc_field code_fields[] = {
    LN_ARGDESC_DTYPE,  LN_ARGDESC_NDIM,   LN_ARGDESC_DIMS,   LN_ARGDESC_LEN,    LN_ARGDESC_LEN_GT,
    LN_ARGDESC_LEN_GE, LN_ARGDESC_LEN_LT, LN_ARGDESC_LEN_LE, LN_ARGDESC_LEN_NE, LN_ARGDESC_EQ,
    LN_ARGDESC_GT,     LN_ARGDESC_GE,     LN_ARGDESC_LT,     LN_ARGDESC_LE,     LN_ARGDESC_NE,
};

void ln_opgen_collect_declaration(const generator *g, codes *cs, const ln_argdesc *arg)
{
    for (size_t i = 0; i < LENGTH_OF(code_fields); i++)
        ln_opgen_add_code(g, cs, arg->fields[code_fields[i]]);
    add_code_items(g, cs, arg->fields[LN_ARGDESC_DIMS]);
    if (arg->kind == LN_ARGDESC_OUT) {
        ln_opgen_add_code(g, cs, arg->fields[LN_ARGDESC_CUSTOM]);
        ln_opgen_add_code(g, cs, arg->fields[LN_ARGDESC_CLEANUP]);
    }
}

void ln_opgen_collect_last_codes(const generator *g, codes *cs, const ln_opdesc *op)
{
    for (size_t f = 0; f < LN_OPDESC_FIELDS; f++) {
        if (ln_opdesc_op_fields[f].is_last)
            ln_opgen_add_code(g, cs, op->fields[f]);
    }
}

int ln_opgen_has_pre_run(const ln_opdesc *op)
{
    int has_last = 0;
    for (size_t f = 0; f < LN_OPDESC_FIELDS; f++)
        has_last |= ln_opdesc_op_fields[f].is_last && op->fields[f];
    return !op->base || has_last;
}

void ln_opgen_collect_codes(generator *g)
{
    const ln_opdesc *op = ln_opdesc_base(g->op);
    static const ln_opdesc_field later[] = {LN_OPDESC_STATIC_RUN, LN_OPDESC_STATIC_CALL,
                                            LN_OPDESC_RUN,        LN_OPDESC_CALL,
                                            LN_OPDESC_POST_RUN,   LN_OPDESC_CALC_OFFSET};
    for (size_t i = 0; i < op->nargs; i++) {
        ln_opgen_collect_declaration(g, &g->pre, &op->args[i]);
        ln_opgen_add_code(g, &g->pre, op->args[i].fields[LN_ARGDESC_CHECK]);
        add_code_items(g, &g->pre, op->args[i].fields[LN_ARGDESC_CHECKS]);
        ln_opgen_add_code(g, &g->pre, op->args[i].fields[LN_ARGDESC_CUSTOM]);
    }
    ln_opgen_collect_last_codes(g, &g->pre, op);
    for (size_t i = 0; i < LENGTH_OF(later); i++)
        ln_opgen_add_code(g, &g->later, op->fields[later[i]]);
    const ln_rjson *targets = op->fields[LN_OPDESC_TARGETS];
    for (size_t i = 0; targets && i < targets->len; i++) {
        const ln_rjson *row = targets->items[i];
        ln_opgen_add_code(g, &g->later, row);
        for (size_t k = 0; k < row->len; k++)
            ln_opgen_add_code(g, &g->later, row->items[k]);
    }
}

int ln_opgen_codes_name(const codes *cs, const char *word)
{
    for (size_t i = 0; i < cs->len; i++) {
        if (ln_c_names(cs->nodes[i]->text, word))
            return 1;
    }
    return 0;
}

int ln_opgen_codes_name_var(const codes *cs, const ln_argdesc *arg, var v)
{
    char word[LN_MAX_NAME_LEN];
    snprintf(word, sizeof(word), "%s%s", arg->name, ln_opgen_var_suffixes[v]);
    return ln_opgen_codes_name(cs, word);
}

int ln_opgen_code_names_var(const ln_rjson *code, const ln_argdesc *arg, var v)
{
    const codes cs = {.nodes = &code, .len = 1};
    return code && ln_opgen_codes_name_var(&cs, arg, v);
}

int ln_opgen_names_in_pre(const generator *g, const ln_argdesc *arg, var v)
{
    return ln_opgen_codes_name_var(&g->pre, arg, v);
}

int ln_opgen_is_kept(const generator *g, const ln_argdesc *arg, var v)
{
    return ln_opgen_codes_name_var(&g->later, arg, v);
}

int ln_opgen_field_is(const ln_rjson *field, const char *text)
{
    return field && field->text && strcmp(field->text, text) == 0;
}

int ln_opgen_is_sized(const ln_argdesc *arg)
{
    const ln_rjson *custom = arg->fields[LN_ARGDESC_CUSTOM];
    return arg->fields[LN_ARGDESC_SIZES] ||
           (arg->fields[LN_ARGDESC_SAMESHAPE] && !ln_opgen_code_names_var(custom, arg, VAR_DIMS) &&
            !ln_opgen_code_names_var(custom, arg, VAR_NDIM));
}

// 1 when some output takes type or shape of tensor `arg`.
static int is_model_of_output(const generator *g, const ln_argdesc *arg)
{
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *other = &g->op->args[i];
        if (other->kind == LN_ARGDESC_OUT &&
            (ln_opgen_field_is(other->fields[LN_ARGDESC_SAMETYPE], arg->name) ||
             (!ln_opgen_is_sized(other) &&
              ln_opgen_field_is(other->fields[LN_ARGDESC_SAMESHAPE], arg->name))))
            return 1;
    }
    return 0;
}

int ln_opgen_has_value_in_pre(const generator *g, const ln_argdesc *arg)
{
    return ln_opgen_names_in_pre(g, arg, VAR_VALUE) ||
           (arg->kind != LN_ARGDESC_PARAM && is_model_of_output(g, arg));
}

int ln_opgen_is_listed(const ln_argdesc *arg, ln_argdesc_field field)
{
    const ln_rjson *node = arg->fields[field];
    if (field == LN_ARGDESC_DTYPE)
        return arg->dtypes != NULL;
    if (!node || arg->variadic || (field == LN_ARGDESC_LEN && arg->kind != LN_ARGDESC_PARAM))
        return 0;
    if (field == LN_ARGDESC_NDIM)
        return node->type == LN_RJSON_NUMBER && node->number > 0;
    return node->type == LN_RJSON_NUMBER;
}

int ln_opgen_is_stored(const ln_argdesc *arg)
{
    return arg->kind != LN_ARGDESC_OUT && !arg->variadic && !arg->fields[LN_ARGDESC_FROM_FUNC];
}

int ln_opgen_is_member(const generator *g, const ln_argdesc *arg, var v)
{
    if (arg->variadic)
        return v == VAR_VALUE || v == VAR_ENTRY || v == VAR_COUNT;
    if (v == VAR_VALUE && ln_opgen_is_converted_array(arg))
        return 1;
    if (v == VAR_VALUE && ln_opgen_is_stored(arg) && ln_opgen_has_value_in_pre(g, arg))
        return 1;
    return ln_opgen_is_kept(g, arg, v);
}

int ln_opgen_has_own_mtype(const generator *g, const ln_argdesc *arg)
{
    return arg->fields[LN_ARGDESC_MTYPE] != g->op->fields[LN_OPDESC_MTYPE];
}

const char *ln_opgen_mtype(const generator *g, const ln_argdesc *arg)
{
    const ln_rjson *mtype = arg->fields[LN_ARGDESC_MTYPE];
    return g->op->fields[LN_OPDESC_TARGETS] && !ln_opgen_has_own_mtype(g, arg) ? "op_arg->mtype"
                                                                               : mtype->text;
}

int ln_opgen_is_string(const ln_argdesc *arg)
{
    return arg->ptype == LN_ARGDESC_STRING || arg->ptype == LN_ARGDESC_ARRAY_STRING;
}

int ln_opgen_is_converted_array(const ln_argdesc *arg)
{
    return arg->kind == LN_ARGDESC_PARAM && arg->ptype == LN_ARGDESC_ARRAY_STRING &&
           arg->fields[LN_ARGDESC_FROM_FUNC];
}

int ln_opgen_has_post_run(const ln_opdesc *op)
{
    for (size_t i = 0; i < op->nargs; i++) {
        if (op->args[i].variadic || ln_opgen_is_converted_array(&op->args[i]))
            return 1;
    }
    return op->fields[LN_OPDESC_POST_RUN] != NULL;
}

int ln_opgen_has_priv(const generator *g)
{
    if (g->op->fields[LN_OPDESC_EXTRA_PRIVS] || ln_opgen_codes_name(&g->pre, "priv") ||
        ln_opgen_codes_name(&g->later, "priv"))
        return 1;
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        for (int v = VAR_VALUE; v <= VAR_COUNT; v++) {
            if (ln_opgen_is_member(g, arg, (var)v))
                return 1;
        }
    }
    return 0;
}

// Types of variables

// The C type of one value of a parameter, to be followed by a name.
static void param_type(const ln_argdesc *arg, char *buf, size_t size)
{
    const char *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    const int is_bool = arg->ptype == LN_ARGDESC_BOOL || arg->ptype == LN_ARGDESC_ARRAY_BOOL;
    if (ln_opgen_is_converted_array(arg))
        snprintf(buf, size, "const %s *", realtype);
    else if (arg->ptype == LN_ARGDESC_ARRAY_STRING)
        snprintf(buf, size, "char *const *");
    else if (arg->ptype == LN_ARGDESC_NULL)
        snprintf(buf, size, "const void *");
    else if (ln_opgen_is_string(arg) && !realtype)
        snprintf(buf, size, "const char *");
    else
        snprintf(buf, size, ln_argdesc_is_array(arg) ? "const %s *" : "%s ",
                 is_bool ? "ln_bool" : realtype);
}

void ln_opgen_kept_type(const ln_argdesc *arg, var v, char *buf, size_t size)
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

void ln_opgen_local_type(const ln_argdesc *arg, char *buf, size_t size)
{
    char type[LN_MAX_NAME_LEN];
    ln_opgen_kept_type(arg, VAR_VALUE, type, sizeof(type));
    const int may_change = strchr(type, '*') || arg->fields[LN_ARGDESC_CUSTOM];
    snprintf(buf, size, "%s%s", may_change ? "" : "const ", type);
}

// Declarations

void ln_opgen_declare(const generator *g, declarations *d, const char *type, const char *name,
                      const char *suffix, const char *value)
{
    const size_t len = strcspn(type, "*");
    size_t i = 0; // the declaration of that type, a new one where there is none
    while (i < d->n && (strncmp(d->of[i].type, type, len) != 0 || d->of[i].type[len]))
        i++;
    if (i == d->n) {
        d->of = ln_arena_grow(&g->out->arena, d->of, d->n++, sizeof(*d->of));
        d->of[i].type = ln_arena_strndup(&g->out->arena, type, len);
        d->of[i].line = "";
    }
    ln_arena_extend(&g->out->arena, &d->of[i].line, "%s%s%s%s%s", *d->of[i].line ? ", " : "",
                    type + len, name, suffix, value);
}

void ln_opgen_write_declarations(const generator *g, const declarations *d)
{
    for (size_t i = 0; i < d->n; i++)
        ln_cgen_line(g->out, 4, "%s%s;", d->of[i].type, d->of[i].line);
}

// Lines with expressions

// 1 for one string of C.
static int is_literal(const char *text)
{
    const size_t len = strlen(text);
    return len > 1 && text[0] == '"' && strcspn(text + 1, "\"\\") == len - 2;
}

int ln_opgen_is_plain(const generator *g, const ln_rjson *node)
{
    static const char *const members[] = {"",      "->dtype", "->ndim",
                                          "->len", "->dims",  "->array_len"};
    const char *text = node->text, *entry_suffix = ln_opgen_var_suffixes[VAR_ENTRY];
    if (node->type != LN_RJSON_STRING || strcmp(text, "LN_MAXDIM") == 0 || is_literal(text) ||
        (strncmp(text, "TL_", 3) == 0 && ln_c_is_identifier(text))) // a data type, checked already
        return 1;
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        const size_t len = strlen(arg->name);
        if (strncmp(text, arg->name, len) != 0)
            continue;
        const char *rest = text + len;
        if (strncmp(rest, entry_suffix, strlen(entry_suffix)) == 0)
            rest += strlen(entry_suffix);
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

void ln_opgen_write_line(const generator *g, int indent, const ln_rjson *node, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *text = ln_arena_vprintf(&g->out->arena, fmt, args);
    va_end(args);
    if (!node || ln_opgen_is_plain(g, node))
        ln_cgen_line(g->out, indent, "%s", text);
    else
        ln_cgen_line_of(g->out, indent, node, "%s", text);
}

void ln_opgen_write_variadic_locals(const generator *g, const ln_argdesc *arg)
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
