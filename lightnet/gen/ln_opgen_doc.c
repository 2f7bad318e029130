// SPDX-License-Identifier: Apache-2.0
// Generates the operators' page: a section for each, a table for its arguments.

#include "gen/ln_opgen.h"

#include <string.h>

#include "gen/ln_opgen_code.h"
#include "lightnet/ln_util.h"

static const char *const kind_names[] = {
    [LN_ARGDESC_IN] = "input",
    [LN_ARGDESC_OUT] = "output",
    [LN_ARGDESC_PARAM] = "parameter",
};

// Prints text into a cell of a table, where a bar and a newline would end it.
static void write_cell(ln_cgen *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            ln_cgen_print(out, " ");
        else
            ln_cgen_print(out, *text == '|' ? "\\%c" : "%c", *text);
    }
}

// Writes the properties of an argument besides its type.
static void write_notes(ln_cgen *out, const ln_argdesc *arg)
{
    const char *owner = ln_argdesc_text(arg, LN_ARGDESC_OWNER);
    if (arg->optional)
        ln_cgen_print(out, "; optional");
    if (arg->variadic)
        ln_cgen_print(out, "; %s: `%s0`, `%s1`, ...",
                      ln_argdesc_is(arg, LN_ARGDESC_OPTIONAL) ? "none or more" : "one or more",
                      arg->name, arg->name);
    if (ln_argdesc_is(arg, LN_ARGDESC_STATIC))
        ln_cgen_print(out, "; static");
    if (arg->fields[LN_ARGDESC_SETS])
        ln_cgen_print(out, "; sets `%s` at run time", ln_argdesc_text(arg, LN_ARGDESC_SETS));
    if (ln_argdesc_is(arg, LN_ARGDESC_DYNAMIC))
        ln_cgen_print(out, "; this large at most");
    if (owner)
        ln_cgen_print(out, "; shares the memory of `%s`", owner);
    if (arg->fields[LN_ARGDESC_DEFAULT]) {
        ln_cgen_print(out, "; default `");
        write_cell(out, ln_cgen_json(out, arg->fields[LN_ARGDESC_DEFAULT]));
        ln_cgen_print(out, "`");
    }
}

static void write_arg(ln_cgen *out, const ln_argdesc *arg)
{
    char type[LN_MAX_NAME_LEN];
    const char *doc = ln_argdesc_text(arg, LN_ARGDESC_DOC);
    ln_opgen_arg_type(arg, type, sizeof(type));
    ln_cgen_print(out, "| %s | `%s` | ", kind_names[arg->kind], arg->name);
    write_cell(out, type);
    write_notes(out, arg);
    ln_cgen_print(out, " | ");
    write_cell(out, doc ? doc : "");
    ln_cgen_print(out, " |\n");
}

static void write_op(ln_cgen *out, const ln_opdesc *op)
{
    const char *doc = ln_opdesc_text(op, LN_OPDESC_DOC);
    const ln_rjson *parents = op->fields[LN_OPDESC_INHERITS];
    const char *inherits = op->base                  ? op->base->optype
                           : parents && parents->len ? parents->items[0]->text
                                                     : ln_opdesc_text(op, LN_OPDESC_INHERITS);
    ln_cgen_print(out, "\n## %s\n\n", op->optype);
    if (doc)
        ln_cgen_print(out, "%s\n\n", doc);
    ln_cgen_print(out, "Architecture `%s`%s. Described in `%s`", op->arch,
                  op->pure ? "" : ", has side effects", ln_cgen_base_name(op->node->file));
    if (inherits)
        ln_cgen_print(out, ", after `%s`", inherits);
    ln_cgen_print(out, ".\n");
    if (op->nargs > 0)
        ln_cgen_print(out, "\n| | name | type | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < op->nargs; i++)
        write_arg(out, &op->args[i]);
}

void ln_opgen_docs(ln_cgen *out, const ln_opdescs *descs)
{
    ln_cgen_print(out, "# Operators\n\nGenerated from the operator descriptions: ");
    ln_opgen_print_sources(out, descs);
    ln_cgen_print(out, ".\n");
    for (size_t i = 0; i < descs->len; i++) {
        if (descs->ops[i]->own)
            write_op(out, descs->ops[i]);
    }
}
