// SPDX-License-Identifier: Apache-2.0
// Generates the declaration of a parameter in pre_run: its default, its checks, its value.

#include "gen/ln_opgen_pre.h"

#include <stdio.h>
#include <string.h>

/* The comparisons, in the order of their fields. */
static const char *const cmp_names[] = {"eq", "gt", "ge", "lt", "le", "ne"};

/** 1 when a bound is no number, but C. */
static int has_computed_bound(const ln_argdesc *arg)
{
    for (int f = LN_ARGDESC_LEN; f <= LN_ARGDESC_NE; f++) {
        if (arg->fields[f] && !ln_opgen_is_listed(arg, (ln_argdesc_field)f))
            return 1;
    }
    return 0;
}

/** Bounds of the length and of the value that the tables do not hold. */
static void write_param_checks(const generator *g, const ln_argdesc *arg)
{
    const int is_array = ln_argdesc_is_array(arg);
    const char *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    for (size_t i = 0; i < LENGTH_OF(cmp_names); i++) {
        const ln_rjson *bound = arg->fields[LN_ARGDESC_LEN + i];
        if (bound && bound->type != LN_RJSON_NUMBER)
            ln_opgen_write_line(g, 4, bound, "ln_opck_param_array_len_%s(%s_entry, %s);",
                                cmp_names[i], arg->name, bound->text);
    }
    for (size_t i = 0; i < LENGTH_OF(cmp_names); i++) {
        const ln_rjson *bound = arg->fields[LN_ARGDESC_EQ + i];
        if (bound && bound->type != LN_RJSON_NUMBER)
            ln_opgen_write_line(g, 4, bound, "ln_opck_param_%s%s_%s(%s_entry, %s);",
                                is_array ? "array_" : "", realtype, cmp_names[i], arg->name,
                                bound->text);
    }
}

/** Fails for a string that from_func, which returned -1, does not know. */
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

/** A value that is no more than what ln_op_begin has stored is declared already. */
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
