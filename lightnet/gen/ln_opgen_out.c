// SPDX-License-Identifier: Apache-2.0
// Generates the definition of an output in pre_run: its shape and type, its entry in the table.

#include "gen/ln_opgen_code.h"

#include <stdio.h>
#include <string.h>

// An output's shape and type: C expressions, or the variables that hold them.
typedef struct shape_text {
    const char *ndim, *dims, *dtype;
    const ln_rjson *node;           // where one of the expressions can be wrong, or NULL
    char names[3][LN_MAX_NAME_LEN]; // buffers for texts that no description has
} shape_text;

static int is_array(const ln_rjson *node)
{
    return node && node->type == LN_RJSON_ARRAY;
}

// Makes a text of the shape from a name and a suffix.
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

// Declares x_dims as an array of the items of "dims": with room for more where custom code may
// change it.
static void write_dims_array(const generator *g, const ln_argdesc *arg, int indent, int may_change)
{
    const ln_rjson *dims = arg->fields[LN_ARGDESC_DIMS], *node = NULL;
    const char *items = "";
    for (size_t i = 0; i < dims->len; i++) {
        ln_arena_extend(&g->out->arena, &items, "%s%s", i ? ", " : "", dims->items[i]->text);
        if (!node && !ln_opgen_is_plain(g, dims->items[i]))
            node = dims->items[i];
    }
    ln_opgen_write_line(g, indent, node,
                        may_change ? "int %s_dims[LN_MAXDIM] = {%s};"
                                   : "const int %s_dims[] = {%s};",
                        arg->name, *items ? items : "0");
}

// Declares x_dims as a copy of `source`, which custom code may change.
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

// Custom code stores the kernel's own lengths in x_dims: those that the expression does not know,
// and others to compare.
static void write_kernel_dims(const generator *g, const ln_argdesc *arg, int indent,
                              shape_text *shape)
{
    shape->dims = "NULL";
    if (ln_opgen_names_in_pre(g, arg, VAR_DIMS)) {
        ln_cgen_line(g->out, indent, "int %s_dims[LN_MAXDIM] = LN_NO_DIMS;", arg->name);
        shape->dims = set_name(shape, 2, arg->name, "_dims");
    }
    if (arg->fields[LN_ARGDESC_CUSTOM])
        ln_cgen_snippet(g->out, indent, arg->fields[LN_ARGDESC_CUSTOM]);
}

// Declares the variables of an output's shape; `shape` gets their names.
static void write_shape(const generator *g, const ln_argdesc *arg, int indent, shape_text *shape)
{
    *shape = (shape_text){0};
    write_dtype_text(g, arg, indent, shape);
    if (ln_opgen_is_sized(arg)) {
        write_kernel_dims(g, arg, indent, shape);
        return;
    }
    write_ndim_text(g, arg, indent, shape);
    write_dims_text(g, arg, indent, shape);
    if (arg->fields[LN_ARGDESC_CUSTOM])
        ln_cgen_snippet(g->out, indent, arg->fields[LN_ARGDESC_CUSTOM]);
}

// Writes the code that sets fields of a defined output's entry.
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

// 1 when something names the entry or tensor of an output once it is defined.
static int needs_output_entry(const generator *g, const ln_argdesc *arg)
{
    return arg->fields[LN_ARGDESC_LEN] || arg->fields[LN_ARGDESC_OWNER] ||
           ln_argdesc_is(arg, LN_ARGDESC_STATIC) || ln_opgen_names_in_pre(g, arg, VAR_ENTRY) ||
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
    const char *const begin = has_entry ? entry : "if (!", *const end = has_entry ? ";" : ")";
    if (ln_opgen_is_sized(arg))
        ln_opgen_write_line(g, indent, shape.node,
                            "%sln_op_define_sized(op_arg, \"%s\", %s, %s, %s)%s", begin, arg->name,
                            shape.dtype, ln_opgen_mtype(g, arg), shape.dims, end);
    else
        ln_opgen_write_line(
            g, indent, shape.node, "%sln_op_define_output(op_arg, \"%s\", %s, %s, %s, %s)%s", begin,
            arg->name, shape.ndim, shape.dims, shape.dtype, ln_opgen_mtype(g, arg), end);
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
    ln_opgen_write_variadic_locals(g, arg);
    ln_cgen_line(g->out, 4, "const ln_list *%s_at = op_arg->tensors_out;", x);
    ln_cgen_line(g->out, 4, "for (int i = 0; i < priv->%s_n; i++) {", x);
    write_shape(g, arg, 8, &shape);
    snprintf(entry, sizeof(entry), "priv->%s_entry[i]", x);
    if (ln_opgen_is_sized(arg))
        ln_opgen_write_line(
            g, 8, shape.node,
            "%s = ln_op_define_variadic_sized(op_arg, &%s_at, \"%s\", i, %s, %s, %s);", entry, x, x,
            shape.dtype, ln_opgen_mtype(g, arg), shape.dims);
    else
        ln_opgen_write_line(
            g, 8, shape.node, "%s = ln_op_define_variadic(op_arg, &%s_at, \"%s\", %s, %s, %s, %s);",
            entry, x, x, shape.ndim, shape.dims, shape.dtype, ln_opgen_mtype(g, arg));
    if (arg->fields[LN_ARGDESC_CLEANUP])
        ln_cgen_snippet(g->out, 8, arg->fields[LN_ARGDESC_CLEANUP]);
    ln_cgen_line(g->out, 8, "if (!%s)", entry);
    ln_cgen_line(g->out, 12, "return;");
    ln_cgen_line(g->out, 8, "priv->%s[i] = %s->tensor;", x, entry);
    write_entry_settings(g, arg, entry, 8);
    ln_cgen_line(g->out, 4, "}");
}

static void write_single_output(const generator *g, const ln_argdesc *arg)
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

void ln_opgen_write_output(const generator *g, const ln_argdesc *arg)
{
    if (arg->variadic)
        write_variadic_output(g, arg);
    else
        write_single_output(g, arg);
}
