// SPDX-License-Identifier: Apache-2.0
// Generates the declaration of a parameter in pre_run: its default, its checks, its value.

#include "gen/ln_opgen_pre.h"

#include <stdio.h>
#include <string.h>

/* The comparisons, in the order of their fields. */
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
    const ln_rjson *value = arg->fields[LN_ARGDESC_DEFAULT];
    if (!value)
        return;
    const ln_ptype_spec *ptype = &ln_ptype_specs[arg->ptype];
    ln_cgen text = {.file = "-"};
    if (value->type == LN_RJSON_ARRAY && value->len == 0) {
        ln_cgen_print(&text, "0, NULL");
    } else if (value->type == LN_RJSON_ARRAY) {
        ln_cgen_print(&text, "%zu, (%s[]){", value->len, ptype->c_item);
        for (size_t i = 0; i < value->len; i++) {
            ln_cgen_print(&text, i ? ", " : "");
            append_default(&text, value->items[i]);
        }
        ln_cgen_print(&text, "}");
    } else {
        append_default(&text, value);
    }
    g->out->failed |= text.failed;
    ln_cgen_line(g->out, 4, "if (ln_op_default_%s(op_arg, \"%s\", %s))", ptype->word, arg->name,
                 text.text ? text.text : "");
    ln_cgen_line(g->out, 8, "return;");
    ln_cgen_free(&text);
}

/** Length and bounds. */
static void write_param_checks(const generator *g, const ln_argdesc *arg)
{
    const int is_array = ln_argdesc_is_array(arg);
    const char *realtype = ln_argdesc_text(arg, LN_ARGDESC_REALTYPE);
    int is_bounded = 0;
    for (size_t i = 0; i < LENGTH_OF(cmp_names); i++) {
        const ln_rjson *bound = arg->fields[LN_ARGDESC_LEN + i];
        if (bound)
            ln_opgen_write_line(g, 4, bound, "ln_opck_param_array_len_%s(%s_entry, %s);",
                                cmp_names[i], arg->name, bound->text);
    }
    for (size_t i = 0; i < LENGTH_OF(cmp_names); i++) {
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

/** Fails for a string that from_func, which returned -1, does not know. */
static void write_unknown_string(const generator *g, const ln_argdesc *arg, int indent,
                                 const char *index)
{
    const char *p = arg->name;
    char name_at[LN_MAX_NAME_LEN] = "NULL";
    if (arg->fields[LN_ARGDESC_NAME_FUNC])
        snprintf(name_at, sizeof(name_at), "name_of_%s_%s", g->op->optype, p);
    ln_cgen_line(g->out, indent, "if ((int)%s%s == -1) {", p, index);
    ln_cgen_line(g->out, indent + 4,
                 "ln_op_fail_name(op_arg, \"%s\", %s_entry->value_%sstring%s, %s);", p, p,
                 *index ? "array_" : "", index, name_at);
    ln_cgen_line(g->out, indent + 4, "return;");
    ln_cgen_line(g->out, indent, "}");
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

void ln_opgen_param_value(const ln_argdesc *arg, char *buf, size_t size)
{
    snprintf(buf, size, "%s_entry->value_%s%s", arg->name, ln_argdesc_is_array(arg) ? "array_" : "",
             ln_opgen_view_name(arg));
}

static void write_param_value(const generator *g, const ln_argdesc *arg)
{
    char type[LN_MAX_NAME_LEN], value[LN_MAX_NAME_LEN];
    const ln_rjson *func = arg->fields[LN_ARGDESC_FROM_FUNC];
    ln_opgen_param_type(arg, type, sizeof(type));
    ln_opgen_param_value(arg, value, sizeof(value));
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
