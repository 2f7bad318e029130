// SPDX-License-Identifier: Apache-2.0
// Generates the declaration of an input in pre_run, with the checks that its fields say.

#include "gen/ln_opgen_pre.h"

#include <stdio.h>
#include <string.h>

/* The sets of types that "dtype" of an input can name. */
static const struct {
    const char *name, *before, *behind, *expected;
} dtype_sets[] = {
    {"FLT", "tl_dtype_is_float(", ")", "a floating-point type"},
    {"NUM", "", " != TL_BOOL", "a number type"},
};

/** The type is in a set; `tensor` is C for the tensor. */
static void write_dtype_set_check(const generator *g, const ln_argdesc *arg, size_t set,
                                  const char *tensor, int indent)
{
    ln_cgen_line(g->out, indent,
                 "ln_opck_satisfy_msg(%s%s->dtype%s, \"'%s' has data type %%s, expected %s\", "
                 "tl_dtype_name(%s->dtype));",
                 dtype_sets[set].before, tensor, dtype_sets[set].behind, arg->name,
                 dtype_sets[set].expected, tensor);
}

static void write_dtype_check(const generator *g, const ln_argdesc *arg, const char *entry,
                              int indent)
{
    char tensor[LN_MAX_NAME_LEN];
    const ln_rjson *dtype = arg->fields[LN_ARGDESC_DTYPE];
    if (!dtype)
        return;
    if (!arg->variadic && ln_opgen_has_value_in_pre(g, arg))
        snprintf(tensor, sizeof(tensor), "%s", arg->name);
    else
        snprintf(tensor, sizeof(tensor), "%s->tensor", entry);
    for (size_t i = 0; i < LENGTH_OF(dtype_sets); i++) {
        if (strcmp(dtype->text, dtype_sets[i].name) != 0)
            continue;
        write_dtype_set_check(g, arg, i, tensor, indent);
        return;
    }
    ln_opgen_write_line(g, indent, dtype, "ln_opck_tensor_dtype_eq(%s, %s);", entry, dtype->text);
}

/** The checks that the fields of an input say. */
static void write_tensor_checks(const generator *g, const ln_argdesc *arg, const char *entry,
                                int indent)
{
    const char *mtype = ln_opgen_mtype(g, arg);
    const char *sametype = ln_argdesc_text(arg, LN_ARGDESC_SAMETYPE);
    const char *sameshape = ln_argdesc_text(arg, LN_ARGDESC_SAMESHAPE);
    const ln_rjson *ndim = arg->fields[LN_ARGDESC_NDIM], *len = arg->fields[LN_ARGDESC_LEN];
    if (strcmp(mtype, "op_arg->mtype") == 0)
        ln_cgen_line(g->out, indent, "ln_opck_tensor_on_target(%s);", entry);
    else if (strcmp(mtype, "LN_MEM_NONE") != 0)
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
/** 1 when the fields of an input say any check. */
static int has_tensor_checks(const generator *g, const ln_argdesc *arg)
{
    return strcmp(ln_opgen_mtype(g, arg), "LN_MEM_NONE") != 0 || arg->fields[LN_ARGDESC_DTYPE] ||
           arg->fields[LN_ARGDESC_NDIM] || arg->fields[LN_ARGDESC_LEN] ||
           arg->fields[LN_ARGDESC_SAMETYPE] || arg->fields[LN_ARGDESC_SAMESHAPE] ||
           ln_argdesc_is(arg, LN_ARGDESC_STATIC);
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
    if (!has_tensor_checks(g, arg))
        return;
    ln_cgen_line(g->out, 4, "for (int i = 0; i < priv->%s_n; i++) {", arg->name);
    write_tensor_checks(g, arg, entry, 8);
    ln_cgen_line(g->out, 4, "}");
}

/** Begins the block for an optional input that is there; the variables, declared before it, are
 * NULL while it is absent. */
static void begin_optional_input(const generator *g, const ln_argdesc *arg)
{
    ln_cgen_line(g->out, 4, "ln_tensor_entry *%s_entry = NULL;", arg->name);
    if (ln_opgen_has_value_in_pre(g, arg))
        ln_cgen_line(g->out, 4, "tl_tensor *%s = NULL;", arg->name);
    ln_cgen_line(g->out, 4, "if (%s_name) {", arg->name);
}

static void write_single_input(const generator *g, const ln_argdesc *arg)
{
    char entry[LN_MAX_NAME_LEN];
    const char *x = arg->name;
    const int indent = arg->optional ? 8 : 4;
    snprintf(entry, sizeof(entry), "%s_entry", x);
    ln_cgen_line(g->out, 4,
                 "const char *%s_name = ln_tensor_list_find_name(op_arg->tensors_in, \"%s\");", x,
                 x);
    if (arg->optional)
        begin_optional_input(g, arg);
    ln_cgen_line(g->out, indent, "%s%s = ln_op_find_input(op_arg, \"%s\");",
                 arg->optional ? "" : "ln_tensor_entry *", entry, x);
    ln_cgen_line(g->out, indent, "ln_opck_tensor_defined(%s, %s_name);", entry, x);
    if (ln_opgen_has_value_in_pre(g, arg))
        ln_cgen_line(g->out, indent, "%s%s = %s->tensor;", arg->optional ? "" : "tl_tensor *", x,
                     entry);
    write_tensor_checks(g, arg, entry, indent);
    if (arg->optional)
        ln_cgen_line(g->out, 4, "}");
}

void ln_opgen_write_input(const generator *g, const ln_argdesc *arg)
{
    if (arg->variadic)
        write_variadic_input(g, arg);
    else
        write_single_input(g, arg);
}
