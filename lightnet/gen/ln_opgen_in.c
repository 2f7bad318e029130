// SPDX-License-Identifier: Apache-2.0
// Generates the declaration of an input in pre_run, with the checks that its fields say.

#include "gen/ln_opgen_pre.h"

#include <stdio.h>
#include <string.h>

/** 1 for a memory type of its own that is to be checked. */
static int has_mtype_check(const generator *g, const ln_argdesc *arg)
{
    return ln_opgen_has_own_mtype(g, arg) &&
           !ln_opgen_field_is(arg->fields[LN_ARGDESC_MTYPE], "LN_MEM_NONE");
}

static void write_dtype_check(const generator *g, const ln_rjson *dtype, const char *entry,
                              int indent)
{
    const char *set = ln_opgen_dtype_set(dtype->text);
    if (set)
        ln_cgen_line(g->out, indent, "LN_OPCK_RETURN(ln_opck_dtypes(op_arg, %s, %s));", entry, set);
    else
        ln_opgen_write_line(g, indent, dtype, "ln_opck_tensor_dtype_eq(%s, %s);", entry,
                            dtype->text);
}

/** The checks that the fields of an input say, but for those that the tables hold. */
static void write_tensor_checks(const generator *g, const ln_argdesc *arg, const char *entry,
                                int indent)
{
    const char *sametype = ln_argdesc_text(arg, LN_ARGDESC_SAMETYPE);
    const char *sameshape = ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE);
    const ln_rjson *ndim = arg->fields[LN_ARGDESC_NDIM], *len = arg->fields[LN_ARGDESC_LEN];
    if (arg->variadic && !ln_opgen_has_own_mtype(g, arg))
        ln_cgen_line(g->out, indent, "ln_opck_tensor_on_target(%s);", entry);
    else if (has_mtype_check(g, arg))
        ln_cgen_line(g->out, indent, "ln_opck_tensor_mtype_eq(%s, %s);", entry,
                     ln_argdesc_text(arg, LN_ARGDESC_MTYPE));
    if (arg->fields[LN_ARGDESC_DTYPE] && !ln_opgen_is_listed(arg, LN_ARGDESC_DTYPE))
        write_dtype_check(g, arg->fields[LN_ARGDESC_DTYPE], entry, indent);
    if (ndim && !ln_opgen_is_listed(arg, LN_ARGDESC_NDIM))
        ln_opgen_write_line(g, indent, ndim, "ln_opck_tensor_ndim(%s, %s);", entry, ndim->text);
    if (len)
        ln_opgen_write_line(g, indent, len, "ln_opck_tensor_len(%s, %s);", entry, len->text);
    if (sametype && arg->variadic)
        ln_cgen_line(g->out, indent, "ln_opck_tensor_issametype(%s, %s_entry);", entry, sametype);
    if (sameshape && arg->variadic)
        ln_cgen_line(g->out, indent, "ln_opck_tensor_issameshape(%s, %s_entry);", entry, sameshape);
    if (ln_argdesc_is(arg, LN_ARGDESC_STATIC) && arg->variadic)
        ln_cgen_line(g->out, indent, "ln_opck_tensor_isstatic(%s);", entry);
}

/** 1 when the fields of an input say any check that no table holds. */
static int has_tensor_checks(const generator *g, const ln_argdesc *arg)
{
    return arg->variadic || has_mtype_check(g, arg) || arg->fields[LN_ARGDESC_LEN] ||
           (arg->fields[LN_ARGDESC_DTYPE] && !ln_opgen_is_listed(arg, LN_ARGDESC_DTYPE)) ||
           (arg->fields[LN_ARGDESC_NDIM] && !ln_opgen_is_listed(arg, LN_ARGDESC_NDIM));
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
    ln_opgen_write_variadic_locals(g, arg);
    ln_cgen_line(g->out, 4, "for (int i = 0; i < priv->%s_n; i++) {", arg->name);
    write_tensor_checks(g, arg, entry, 8);
    ln_cgen_line(g->out, 4, "}");
}

/** 1 when the type or shape of a variadic argument must be that of `arg`. */
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

/** 1 when an output lies in the memory of `arg`. */
static int is_owner(const generator *g, const ln_argdesc *arg)
{
    for (size_t i = 0; i < g->op->nargs; i++) {
        if (ln_opgen_field_is(g->op->args[i].fields[LN_ARGDESC_OWNER], arg->name))
            return 1;
    }
    return 0;
}

static int needs_entry(const generator *g, const ln_argdesc *arg)
{
    const int has_extras = arg->fields[LN_ARGDESC_CHECK] || arg->fields[LN_ARGDESC_CHECKS] ||
                           arg->fields[LN_ARGDESC_CUSTOM];
    return ln_opgen_names_in_pre(g, arg, VAR_ENTRY) || ln_opgen_is_kept(g, arg, VAR_ENTRY) ||
           has_tensor_checks(g, arg) || is_model_of_variadic(g, arg) ||
           (arg->optional && has_extras);
}

static void write_single_input(const generator *g, const ln_argdesc *arg)
{
    char entry[LN_MAX_NAME_LEN];
    const char *x = arg->name;
    const int has_checks = has_tensor_checks(g, arg);
    snprintf(entry, sizeof(entry), "%s_entry", x);
    if (ln_opgen_names_in_pre(g, arg, VAR_NAME) || ln_opgen_is_kept(g, arg, VAR_NAME) ||
        is_owner(g, arg))
        ln_cgen_line(g->out, 4,
                     "const char *%s_name = ln_tensor_list_find_name(op_arg->tensors_in, \"%s\");",
                     x, x);
    if (needs_entry(g, arg))
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
