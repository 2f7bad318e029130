// SPDX-License-Identifier: Apache-2.0
// Generates the declarations of inputs and parameters in pre_run: their checks, defaults, values.

#include "gen/ln_opgen_code.h"

#include <stdio.h>
#include <string.h>

// Inputs

// 1 for a memory type of its own that is to be checked.
static int has_mtype_check(const generator *g, const ln_argdesc *arg)
{
    return ln_opgen_has_own_mtype(g, arg) &&
           !ln_opgen_field_is(arg->fields[LN_ARGDESC_MTYPE], "LN_MEM_NONE");
}

// Writes the checks of an input that are in no table; with indent 0 nothing. Returns their number.
static int write_tensor_checks(const generator *g, const ln_argdesc *arg, const char *entry,
                               int indent)
{
    static const struct {
        ln_argdesc_field field;
        const char *check;
    } checks[] = {
        {LN_ARGDESC_DTYPE, "dtype_eq"}, {LN_ARGDESC_NDIM, "ndim"}, {LN_ARGDESC_LEN, "len"}};
    int n = has_mtype_check(g, arg);
    if (n && indent)
        ln_cgen_line(g->out, indent, "ln_opck_tensor_mtype_eq(%s, %s);", entry,
                     ln_argdesc_text(arg, LN_ARGDESC_MTYPE));
    for (size_t i = 0; i < LENGTH_OF(checks); i++) {
        const ln_rjson *code = arg->fields[checks[i].field];
        if (!code || ln_opgen_is_listed(arg, checks[i].field))
            continue;
        n++;
        if (indent)
            ln_opgen_write_line(g, indent, code, "ln_opck_tensor_%s(%s, %s);", checks[i].check,
                                entry, code->text);
    }
    return n;
}

static void write_variadic_input(const generator *g, const ln_argdesc *arg)
{
    const char *sametype = ln_argdesc_text(arg, LN_ARGDESC_SAMETYPE);
    const char *sameshape = ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE);
    char entry[LN_MAX_NAME_LEN];
    snprintf(entry, sizeof(entry), "priv->%s_entry[i]", arg->name);
    ln_cgen_line(g->out, 4,
                 "priv->%s_n = ln_op_find_variadic(op_arg, \"%s\", &priv->%s_entry, &priv->%s);",
                 arg->name, arg->name, arg->name, arg->name);
    ln_cgen_line(g->out, 4, "if (priv->%s_n < 0)", arg->name);
    ln_cgen_line(g->out, 8, "return;");
    ln_opgen_write_variadic_locals(g, arg);
    ln_cgen_line(g->out, 4, "for (int i = 0; i < priv->%s_n; i++) {", arg->name);
    if (!ln_opgen_has_own_mtype(g, arg))
        ln_cgen_line(g->out, 8, "ln_opck_tensor_on_target(%s);", entry);
    if (arg->dtypes)
        ln_cgen_line(g->out, 8, "LN_OPCK_RETURN(ln_opck_dtypes(op_arg, %s, %s));", entry,
                     arg->dtypes);
    write_tensor_checks(g, arg, entry, 8);
    if (sametype)
        ln_cgen_line(g->out, 8, "ln_opck_tensor_issametype(%s, %s_entry);", entry, sametype);
    if (sameshape)
        ln_cgen_line(g->out, 8, "ln_opck_tensor_issameshape(%s, %s_entry);", entry, sameshape);
    if (ln_argdesc_is(arg, LN_ARGDESC_STATIC))
        ln_cgen_line(g->out, 8, "ln_opck_tensor_isstatic(%s);", entry);
    ln_cgen_line(g->out, 4, "}");
}

// 1 when the type or shape of a variadic argument must be that of `arg`.
static int is_model_of_variadic(const generator *g, const ln_argdesc *arg)
{
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *other = &g->op->args[i];
        if (other->variadic && other->kind == LN_ARGDESC_IN &&
            (ln_opgen_field_is(other->fields[LN_ARGDESC_SAMETYPE], arg->name) ||
             ln_opgen_field_is(other->fields[LN_ARGDESC_SAMESHAPE], arg->name)))
            return 1;
    }
    return 0;
}

static void write_single_input(const generator *g, const ln_argdesc *arg)
{
    char entry[LN_MAX_NAME_LEN];
    const char *x = arg->name;
    const int has_checks = write_tensor_checks(g, arg, "", 0) > 0;
    const int has_extras = arg->fields[LN_ARGDESC_CHECK] || arg->fields[LN_ARGDESC_CHECKS] ||
                           arg->fields[LN_ARGDESC_CUSTOM];
    int is_owner = 0; // of the memory of an output
    for (size_t i = 0; i < g->op->nargs; i++)
        is_owner |= ln_opgen_field_is(g->op->args[i].fields[LN_ARGDESC_OWNER], x);
    snprintf(entry, sizeof(entry), "%s_entry", x);
    if (ln_opgen_names_in_pre(g, arg, VAR_NAME) || ln_opgen_is_kept(g, arg, VAR_NAME) || is_owner)
        ln_cgen_line(g->out, 4,
                     "const char *%s_name = ln_tensor_list_find_name(op_arg->tensors_in, \"%s\");",
                     x, x);
    if (ln_opgen_names_in_pre(g, arg, VAR_ENTRY) || ln_opgen_is_kept(g, arg, VAR_ENTRY) ||
        has_checks || is_model_of_variadic(g, arg) || (arg->optional && has_extras))
        ln_cgen_line(g->out, 4, "ln_tensor_entry *%s = ln_op_find_input(op_arg, \"%s\");", entry,
                     x);
    if (has_checks && arg->optional)
        ln_cgen_line(g->out, 4, "if (%s) {", entry);
    write_tensor_checks(g, arg, entry, arg->optional ? 8 : 4);
    if (has_checks && arg->optional)
        ln_cgen_line(g->out, 4, "}");
}

void ln_opgen_write_input(const generator *g, const ln_argdesc *arg)
{
    if (arg->variadic)
        write_variadic_input(g, arg);
    else
        write_single_input(g, arg);
}

// Parameters

// 1 if a bound is C, not a number.
static int has_computed_bound(const ln_argdesc *arg)
{
    for (int f = LN_ARGDESC_LEN; f <= LN_ARGDESC_NE; f++) {
        if (arg->fields[f] && !ln_opgen_is_listed(arg, (ln_argdesc_field)f))
            return 1;
    }
    return 0;
}

// Bounds of the length and of the value that the tables do not hold.
static void write_param_checks(const generator *g, const ln_argdesc *arg)
{
    const int is_array = ln_argdesc_is_array(arg);
    const char *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    for (int f = LN_ARGDESC_EQ; f <= LN_ARGDESC_NE; f++) {
        const ln_rjson *bound = arg->fields[f - LN_ARGDESC_EQ + LN_ARGDESC_LEN];
        if (bound && bound->type != LN_RJSON_NUMBER)
            ln_opgen_write_line(g, 4, bound, "ln_opck_param_array_len_%s(%s_entry, %s);",
                                ln_argdesc_key((ln_argdesc_field)f), arg->name, bound->text);
    }
    for (int f = LN_ARGDESC_EQ; f <= LN_ARGDESC_NE; f++) {
        const ln_rjson *bound = arg->fields[f];
        if (bound && bound->type != LN_RJSON_NUMBER)
            ln_opgen_write_line(g, 4, bound, "ln_opck_param_%s%s_%s(%s_entry, %s);",
                                is_array ? "array_" : "", realtype,
                                ln_argdesc_key((ln_argdesc_field)f), arg->name, bound->text);
    }
}

// Fails for a string that from_func, which returned -1, does not know.
static void write_unknown_string(const generator *g, const ln_argdesc *arg, int indent,
                                 const char *index)
{
    const char *p = arg->name;
    char name_at[LN_MAX_NAME_LEN] = "NULL";
    if (arg->fields[LN_ARGDESC_NAME_FUNC])
        snprintf(name_at, sizeof(name_at), "name_of_%s_%s", g->op->optype, p);
    ln_cgen_line(g->out, indent,
                 "LN_OPCK_RETURN((int)%s%s == -1 && ln_op_fail_name(op_arg, \"%s\", "
                 "%s_entry->value_%sstring%s, %s));",
                 p, index, p, p, *index ? "array_" : "", index, name_at);
}

// Converts an array of strings to an array that `priv` owns.
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

// A value that equals the one of ln_op_begin is declared already.
static void write_param_value(const generator *g, const ln_argdesc *arg)
{
    char type[LN_MAX_NAME_LEN];
    const ln_rjson *func = arg->fields[LN_ARGDESC_FROM_FUNC];
    ln_opgen_local_type(arg, type, sizeof(type));
    if (ln_opgen_is_converted_array(arg)) {
        write_converted_array(g, arg);
    } else if (func) {
        ln_cgen_line_of(g->out, 4, func, "%s%s = %s(%s_entry->value_string);", type, arg->name,
                        func->text, arg->name);
        write_unknown_string(g, arg, 4, "");
    }
}

// Its name is none that a kernel's own function is likely to have, as blend_mode_name for 'blend'.
void ln_opgen_write_name_func(const generator *g, const ln_argdesc *arg)
{
    const ln_rjson *func = arg->fields[LN_ARGDESC_NAME_FUNC];
    if (!func)
        return;
    ln_cgen_print(g->out, "static const char *name_of_%s_%s(int i)\n{\n", g->op->optype, arg->name);
    ln_cgen_line_of(g->out, 4, func, "return %s((%s)i);", func->text,
                    ln_argdesc_text(arg, LN_ARGDESC_REALTYPE));
    ln_cgen_print(g->out, "}\n\n");
}

void ln_opgen_write_param(const generator *g, const ln_argdesc *arg)
{
    if (arg->fields[LN_ARGDESC_FROM_FUNC] || has_computed_bound(arg) ||
        ln_opgen_names_in_pre(g, arg, VAR_ENTRY) || ln_opgen_is_kept(g, arg, VAR_ENTRY))
        ln_cgen_line(g->out, 4,
                     "ln_param_entry *%s_entry = ln_param_list_find(op_arg->params, \"%s\");",
                     arg->name, arg->name);
    write_param_checks(g, arg);
    if (arg->ptype != LN_ARGDESC_NULL)
        write_param_value(g, arg);
}
