// SPDX-License-Identifier: Apache-2.0
// Generates the C of operators: their functions, with the variables that each names, and the file.

#include "gen/ln_opgen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/ln_opgen_code.h"
#include "lightnet/ln_util.h"

static void write_struct(generator *g)
{
    char type[LN_MAX_NAME_LEN];
    declarations members = {0};
    const ln_rjson *extra = g->op->fields[LN_OPDESC_EXTRA_PRIVS];
    ln_cgen_print(g->out, "struct %s_priv {\n", g->op->optype);
    for (size_t i = 0; i < g->op->nargs; i++) {
        for (int v = VAR_VALUE; v <= VAR_COUNT; v++) {
            const ln_argdesc *arg = &g->op->args[i];
            if (!ln_opgen_is_member(g, arg, (var)v))
                continue;
            ln_opgen_kept_type(arg, (var)v, type, sizeof(type));
            ln_opgen_declare(g, &members, type, arg->name, ln_opgen_var_suffixes[v], "");
        }
    }
    ln_opgen_write_declarations(g, &members);
    for (size_t i = 0; extra && i < extra->len; i++) {
        const ln_rjson *type_node = ln_rjson_get(extra->items[i], "type");
        const size_t len = strlen(type_node->text);
        ln_cgen_line_of(g->out, 4, type_node, "%s%s%s;", type_node->text,
                        len && type_node->text[len - 1] == '*' ? "" : " ",
                        ln_rjson_get(extra->items[i], "name")->text);
    }
    ln_cgen_print(g->out, "};\n\n");
}

// The other functions

// The type whose pre_run, private structure and tables the operator uses.
static const char *base_type(const generator *g)
{
    return ln_opdesc_base(g->op)->optype;
}

static int codes_name_any(const generator *g, const codes *cs)
{
    for (size_t i = 0; i < g->op->nargs; i++) {
        for (int v = VAR_VALUE; v <= VAR_COUNT; v++) {
            if (ln_opgen_codes_name_var(cs, &g->op->args[i], (var)v))
                return 1;
        }
    }
    return 0;
}

// Declares the variables of arguments that the code of a function names.
static void write_arg_locals(generator *g, const codes *cs)
{
    char type[LN_MAX_NAME_LEN], local[2 * LN_MAX_NAME_LEN], value[2 * LN_MAX_NAME_LEN];
    declarations locals = {0};
    for (size_t i = 0; i < g->op->nargs; i++) {
        for (int v = VAR_VALUE; v <= VAR_COUNT; v++) {
            const ln_argdesc *arg = &g->op->args[i];
            const char *suffix = ln_opgen_var_suffixes[v];
            if (!ln_opgen_codes_name_var(cs, arg, (var)v))
                continue;
            ln_opgen_kept_type(arg, (var)v, type, sizeof(type));
            snprintf(local, sizeof(local), "%s%s", strchr(type, '*') ? "" : "const ", type);
            snprintf(value, sizeof(value), " = priv->%s%s", arg->name, suffix);
            ln_opgen_declare(g, &locals, local, arg->name, suffix, value);
        }
    }
    ln_opgen_write_declarations(g, &locals);
}

// Declares all variables that the code of a function names. Returns 0: there are none.
static int declare_locals(generator *g, const codes *cs)
{
    const int has_args = codes_name_any(g, cs), has_exec = ln_opgen_codes_name(cs, "exec");
    const int has_locals = has_args || ln_opgen_codes_name(cs, "priv");
    if (has_locals)
        ln_cgen_line(g->out, 4, "struct %s_priv *priv = op_arg->priv;", base_type(g));
    write_arg_locals(g, cs);
    if (has_exec)
        ln_cgen_line(g->out, 4, "const tl_exec exec = ln_op_exec(op_arg);");
    return has_locals || has_exec;
}

// The same, and an empty line.
static void write_locals(generator *g, const codes *cs)
{
    if (declare_locals(g, cs))
        ln_cgen_print(g->out, "\n");
}

static int is_op_arg_used(const generator *g, const codes *cs)
{
    return ln_opgen_codes_name(cs, "op_arg") || ln_opgen_codes_name(cs, "priv") ||
           ln_opgen_codes_name(cs, "exec") || codes_name_any(g, cs);
}

// Writes a pre_run for a target, which calls and extends that of its base.
static void write_target_pre_run(generator *g)
{
    codes cs = {0};
    ln_opgen_collect_last_codes(g, &cs, g->op);
    ln_cgen_print(g->out, "static void %s_pre_run(ln_op_arg *op_arg)\n{\n", g->op->optype);
    ln_cgen_line(g->out, 4, "%s_pre_run(op_arg);", base_type(g));
    ln_cgen_line(g->out, 4, "if (op_arg->failed)");
    ln_cgen_line(g->out, 8, "return;");
    declare_locals(g, &cs);
    ln_opgen_write_last(g);
    ln_cgen_print(g->out, "}\n\n");
}

// run or static_run: from statements, or from a call that must return 0.
static void write_run(generator *g, const char *name, const ln_rjson *run, const ln_rjson *call)
{
    const ln_rjson *code = run ? run : call;
    const codes cs = {.nodes = &code, .len = 1};
    if (!code)
        return;
    ln_cgen_print(g->out, "static void %s_%s(ln_op_arg *op_arg)\n{\n", g->op->optype, name);
    write_locals(g, &cs);
    if (run && !is_op_arg_used(g, &cs))
        ln_cgen_line(g->out, 4, "(void)op_arg;");
    if (run) {
        ln_cgen_snippet(g->out, 4, run);
    } else {
        ln_cgen_line_of(g->out, 4, call, "if (%s)", call->text);
        ln_cgen_line(g->out, 8, "ln_op_fail_tl(op_arg);");
    }
    ln_cgen_print(g->out, "}\n\n");
}

// The opposite of pre_run, also of one that failed half way: all in `priv` that is not yet set is
// 0. Without code or arrays of its own an operator needs none but ln_op_end.
static void write_post_run(generator *g)
{
    const ln_rjson *code = g->op->fields[LN_OPDESC_POST_RUN];
    const codes cs = {.nodes = &code, .len = 1};
    if (!ln_opgen_has_post_run(g->op))
        return;
    ln_cgen_print(g->out, "static void %s_post_run(ln_op_arg *op_arg)\n{\n", g->op->optype);
    if (ln_opgen_has_priv(g)) {
        ln_cgen_line(g->out, 4, "struct %s_priv *priv = op_arg->priv;", g->op->optype);
        ln_cgen_line(g->out, 4, "if (!priv)");
        ln_cgen_line(g->out, 8, "return;");
    }
    if (code) {
        write_arg_locals(g, &cs);
        ln_cgen_snippet(g->out, 4, code);
    }
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        if (arg->variadic)
            ln_cgen_line(g->out, 4, "ln_free(priv->%s_entry);", arg->name);
        if (arg->variadic || ln_opgen_is_converted_array(arg))
            ln_cgen_line(g->out, 4, "ln_free((void *)priv->%s);", arg->name);
    }
    ln_cgen_line(g->out, 4, "ln_op_end(op_arg);");
    ln_cgen_print(g->out, "}\n\n");
}

static void write_calc_offset(generator *g)
{
    const ln_rjson *code = g->op->fields[LN_OPDESC_CALC_OFFSET];
    const codes cs = {.nodes = &code, .len = 1};
    if (!code)
        return;
    ln_cgen_print(g->out,
                  "static size_t %s_calc_offset(ln_op_arg *op_arg, ln_tensor_entry *te)\n{\n",
                  g->op->optype);
    write_locals(g, &cs);
    if (!is_op_arg_used(g, &cs))
        ln_cgen_line(g->out, 4, "(void)op_arg;");
    if (!ln_c_names(code->text, "te"))
        ln_cgen_line(g->out, 4, "(void)te;");
    ln_cgen_snippet(g->out, 4, code);
    ln_cgen_print(g->out, "}\n\n");
}

// One operator, one file

// Writes the code that an operator shares with its targets.
static int write_shared(generator *g, ln_error *err)
{
    if (ln_opgen_has_priv(g))
        write_struct(g);
    if (ln_opgen_write_pre_run(g, err))
        return -1;
    write_post_run(g);
    write_calc_offset(g);
    return ln_opgen_write_tables(g, err);
}

// Whether an operator of a target is more than a prototype with the functions of its base.
static int has_functions(const ln_opdesc *op)
{
    return ln_opgen_has_pre_run(op) || op->fields[LN_OPDESC_RUN] || op->fields[LN_OPDESC_CALL] ||
           op->fields[LN_OPDESC_STATIC_RUN] || op->fields[LN_OPDESC_STATIC_CALL];
}

static int write_operator(generator *g, ln_error *err)
{
    const ln_opdesc *op = g->op;
    const int names_struct =
        ln_opgen_codes_name(&g->pre, "priv_s") || ln_opgen_codes_name(&g->later, "priv_s");
    const char *doc = ln_opdesc_text(op, LN_OPDESC_DOC);
    if (!op->base || has_functions(op))
        ln_cgen_print(g->out, "\n");
    if (!op->base && doc)
        ln_cgen_comment(g->out, "%s: %.*s", op->optype, (int)strcspn(doc, "\n"), doc);
    if (names_struct)
        ln_cgen_print(g->out, "#define priv_s %s_priv\n", base_type(g));
    if ((!op->base && doc) || names_struct)
        ln_cgen_print(g->out, "\n");
    if (!op->base && write_shared(g, err))
        return -1;
    if (op->base && ln_opgen_has_pre_run(op))
        write_target_pre_run(g);
    write_run(g, "static_run", op->fields[LN_OPDESC_STATIC_RUN], op->fields[LN_OPDESC_STATIC_CALL]);
    write_run(g, "run", op->fields[LN_OPDESC_RUN], op->fields[LN_OPDESC_CALL]);
    ln_opgen_write_prototype(g);
    if (names_struct)
        ln_cgen_print(g->out, "\n#undef priv_s\n");
    return 0;
}

void ln_opgen_print_sources(ln_cgen *out, const ln_opdescs *descs)
{
    const char *last = NULL;
    for (size_t i = 0; i < descs->len; i++) {
        const ln_opdesc *op = descs->ops[i];
        if (!op->own || op->node->file == last)
            continue;
        ln_cgen_print(out, "%s%s", last ? ", " : "", ln_cgen_base_name(op->node->file));
        last = op->node->file;
    }
}

// Prints an #include of each header of one kind, "<...>" or others, that the descriptions ask for,
// once.
static void write_includes(ln_cgen *out, const ln_opdescs *descs, int is_system)
{
    for (size_t i = 0; i < descs->len; i++) {
        const ln_opdesc *op = descs->ops[i];
        for (size_t k = 0; ln_opdesc_is_generated(op) && k < op->nincludes; k++) {
            const char *name = op->includes[k]->text;
            char line[LN_MAX_NAME_LEN];
            snprintf(line, sizeof(line), is_system ? "#include %s\n" : "#include \"%s\"\n", name);
            if ((name[0] == '<') == is_system && out->text && !strstr(out->text, line))
                ln_cgen_print(out, "%s", line);
        }
    }
}

static int write_operators(ln_cgen *out, const ln_opdescs *descs, int has_docs, ln_error *err)
{
    for (size_t i = 0; i < descs->len; i++) {
        generator g = {.out = out, .op = descs->ops[i], .has_docs = has_docs};
        if (!ln_opdesc_is_generated(g.op))
            continue;
        ln_opgen_collect_codes(&g);
        ln_opgen_collect_steps(&g);
        if (write_operator(&g, err))
            return -1;
    }
    return 0;
}

// Prints an #include of a header that the generator's own code needs when the draft has one of the
// words, of which there are at most three.
static void write_include_for(ln_cgen *out, const ln_cgen *draft, const char *header,
                              const char *const words[3])
{
    for (int i = 0; draft->text && i < 3 && words[i]; i++) {
        if (!strstr(draft->text, words[i]))
            continue;
        ln_cgen_print(out, "#include %s\n", header);
        return;
    }
}

// Prints the #includes that a file with the operators of `draft` needs.
static void write_headers(ln_cgen *out, const ln_cgen *draft, const ln_opdescs *descs)
{
    const size_t before = out->len;
    write_include_for(out, draft, "<limits.h>", (const char *const[3]){"INT_MIN", "INT_MAX"});
    write_includes(out, descs, 1);
    write_include_for(out, draft, "<string.h>", (const char *const[3]){"memcpy(", "strcmp("});
    ln_cgen_print(out, out->len > before ? "\n" : "");
    ln_cgen_print(out, "#include \"lightnet/ln_genop.h\"\n"
                       "#include \"tensorlight/tensorlight.h\"\n");
    write_include_for(out, draft, "\"lightnet/ln_rule.h\"", (const char *const[3]){"ln_rule "});
    write_includes(out, descs, 0);
}

int ln_opgen_c(ln_cgen *out, const ln_opdescs *descs, int has_docs, ln_error *err)
{
    ln_cgen draft = {.file = out->file}; // to find needed declarations
    int result = write_operators(&draft, descs, has_docs, err);
    ln_cgen_print(out, "// Generated from ");
    ln_opgen_print_sources(out, descs);
    ln_cgen_print(out, "; edit that, not this.\n\n");
    if (!result) {
        write_headers(out, &draft, descs);
        result = write_operators(out, descs, has_docs, err);
    }
    ln_cgen_free(&draft);
    return result;
}

// Each generated operator of the architecture: `before` and its name, ", " between two.
static const char *list_operators(ln_cgen *out, const ln_opdescs *descs, const char *arch,
                                  const char *before)
{
    const char *names = "";
    for (size_t i = 0; i < descs->len; i++) {
        const ln_opdesc *op = descs->ops[i];
        if (ln_opdesc_is_generated(op) && strcmp(op->arch, arch) == 0)
            ln_arena_extend(&out->arena, &names, "%s%sln_opimpl_%s", *names ? ", " : "", before,
                            op->optype);
    }
    return names;
}

void ln_opgen_list(ln_cgen *out, const ln_opdescs *descs, const char *arch)
{
    const char *declared = list_operators(out, descs, arch, "");
    const char *listed = list_operators(out, descs, arch, "&");
    ln_arena_extend(&out->arena, &listed, "%sNULL", *listed ? ", " : "");
    ln_cgen_print(out, "// Generated from ");
    ln_opgen_print_sources(out, descs);
    ln_cgen_print(out, ": the operators of architecture '%s'.\n\n#include \"lightnet/ln_op.h\"\n\n",
                  arch);
    if (*declared)
        ln_cgen_line(out, 0, "extern ln_op %s;", declared);
    ln_cgen_print(out, "\nstatic ln_op *ops_%s[] = {\n", arch);
    ln_cgen_filled(out, listed);
    ln_cgen_print(out, "};\n");
}

void ln_opgen_types(ln_cgen *out, const ln_opdescs *descs)
{
    ln_cgen_print(out, "// Generated from ");
    ln_opgen_print_sources(out, descs);
    ln_cgen_print(out, ": the types of their operators.\n\n");
    for (size_t i = 0; i < descs->len; i++) {
        const ln_opdesc *const op = descs->ops[i];
        char *const upper = ln_arena_printf(&out->arena, "%s", op->optype);
        for (char *c = upper; *c; c++)
            *c -= *c >= 'a' && *c <= 'z' ? 'a' - 'A' : 0;
        if (ln_opdesc_is_generated(op))
            ln_cgen_line(out, 0, "#define LN_OP_%s \"%s\"", upper, op->optype);
    }
}

void ln_opgen_doc_table(ln_cgen *out, const ln_opdescs *descs)
{
    ln_cgen_print(out, "// Generated from ");
    ln_opgen_print_sources(out, descs);
    ln_cgen_print(out, ": the documentation of their operators.\n\n#include "
                       "\"lightnet/ln_op.h\"\n\n");
    for (size_t i = 0; i < descs->len; i++) {
        const generator g = {.out = out, .op = descs->ops[i]};
        if (ln_opdesc_is_generated(g.op) && !g.op->base)
            ln_opgen_write_docs(&g);
    }
    ln_cgen_print(out, "\nstatic const struct {\n    const char *optype;\n"
                       "    const ln_op_docs *docs;\n} op_docs[] = {\n");
    for (size_t i = 0; i < descs->len; i++) {
        const ln_opdesc *op = descs->ops[i];
        if (ln_opdesc_is_generated(op))
            ln_cgen_line(out, 4, "{\"%s\", &%s_docs},", op->optype, ln_opdesc_base(op)->optype);
    }
    ln_cgen_print(out, "};\n");
}
