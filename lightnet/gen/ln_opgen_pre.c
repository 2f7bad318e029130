// SPDX-License-Identifier: Apache-2.0
// Generates a pre_run that declares each variable before its first use.

#include "gen/ln_opgen_code.h"

#include <stdio.h>
#include <string.h>

#include "lightnet/ln_util.h"

static void add_step(generator *g, const ln_argdesc *arg, const ln_rjson *code)
{
    g->steps = ln_arena_grow(&g->out->arena, g->steps, g->nsteps, sizeof(*g->steps));
    g->steps[g->nsteps++] = (step){.arg = arg, .code = code};
}

void ln_opgen_collect_steps(generator *g)
{
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        const ln_rjson *checks = arg->fields[LN_ARGDESC_CHECKS];
        add_step(g, arg, NULL);
        if (arg->kind == LN_ARGDESC_OUT)
            continue;
        if (arg->fields[LN_ARGDESC_CHECK])
            add_step(g, arg, arg->fields[LN_ARGDESC_CHECK]);
        for (size_t k = 0; checks && k < checks->len; k++)
            add_step(g, arg, checks->items[k]);
        if (arg->fields[LN_ARGDESC_CUSTOM])
            add_step(g, arg, arg->fields[LN_ARGDESC_CUSTOM]);
    }
}

// 1 when the step names a variable of `arg`.
static int step_names(generator *g, const step *s, const ln_argdesc *arg)
{
    static const ln_argdesc_field references[] = {LN_ARGDESC_SAMETYPE, LN_ARGDESC_SAMESHAPE,
                                                  LN_ARGDESC_OWNER};
    const int is_declaring = !s->code && (s->arg->kind == LN_ARGDESC_OUT || s->arg->variadic);
    codes cs = {0};
    int found = 0;
    if (s->code)
        ln_opgen_add_code(g, &cs, s->code);
    else
        ln_opgen_collect_declaration(g, &cs, s->arg);
    for (size_t i = 0; is_declaring && i < LENGTH_OF(references); i++)
        found |= ln_opgen_field_is(s->arg->fields[references[i]], arg->name);
    for (int v = VAR_VALUE; v < VARS && !found; v++)
        found = ln_opgen_codes_name_var(&cs, arg, (var)v);
    return found;
}

// The step that `s` must wait for, or NULL.
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

// The function

// One more check of an argument, or its custom code. Of an optional argument only when it is
// there; of a variadic one for each when it names the index `i`.
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

// Writes the comment that begins a section, unless it is begun.
static void write_section(const generator *g, const char **last, const char *title)
{
    if (*last == title)
        return;
    ln_cgen_print(g->out, "    // %s\n", title);
    *last = title;
}

// Writes the steps that need not wait, in the order of the description; again and again while
// there are some. `with_outputs` 0: the steps of inputs and parameters only.
static void write_ready_steps(generator *g, int with_outputs)
{
    static void (*const writers[])(const generator *, const ln_argdesc *) = {
        [LN_ARGDESC_IN] = ln_opgen_write_input,
        [LN_ARGDESC_OUT] = ln_opgen_write_output,
        [LN_ARGDESC_PARAM] = ln_opgen_write_param,
    };
    static const char checks[] = "checks", outputs[] = "outputs";
    const char *last = NULL;
    for (int progress = 1; progress;) {
        progress = 0;
        for (step *s = g->steps; s < g->steps + g->nsteps; s++) {
            const int is_output = s->arg->kind == LN_ARGDESC_OUT;
            if (s->done || (is_output && !with_outputs) || find_obstacle(g, s))
                continue;
            if (s->code || is_output)
                write_section(g, &last, is_output ? outputs : checks);
            if (s->code)
                write_extra(g, s);
            else
                writers[s->arg->kind](g, s->arg);
            s->done = 1;
            progress = 1;
        }
    }
}

// Fails if a step is not written: reports the first one and its missing variable.
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

// Where pre_run finds a variable that `priv` is to keep.
static void kept_value(const generator *g, const ln_argdesc *arg, var v, char *buf, size_t size)
{
    if (v == VAR_VALUE && arg->kind == LN_ARGDESC_OUT && !ln_opgen_has_value_in_pre(g, arg))
        snprintf(buf, size,
                 arg->optional ? "%s_entry ? %s_entry->tensor : NULL" : "%s_entry->tensor",
                 arg->name, arg->name);
    else
        snprintf(buf, size, "%s%s", arg->name, ln_opgen_var_suffixes[v]);
}

// 1 when pre_run stores the variable in `priv`, since ln_op_begin has not, or code changes it.
static int is_kept_here(const generator *g, const ln_argdesc *arg, var v)
{
    if (!ln_opgen_is_kept(g, arg, v) || arg->variadic)
        return 0;
    if (v == VAR_VALUE && ln_opgen_is_stored(arg))
        return arg->fields[LN_ARGDESC_CUSTOM] && ln_opgen_has_value_in_pre(g, arg);
    return v != VAR_VALUE || !ln_opgen_is_converted_array(arg);
}

static void write_keeping(const generator *g)
{
    char value[2 * LN_MAX_NAME_LEN];
    const char *last = NULL;
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        for (int v = VAR_VALUE; v <= VAR_NAME; v++) {
            if (!is_kept_here(g, arg, (var)v))
                continue;
            write_section(g, &last, "for the other functions");
            kept_value(g, arg, (var)v, value, sizeof(value));
            ln_cgen_line(g->out, 4, "priv->%s%s = %s;", arg->name, ln_opgen_var_suffixes[v], value);
        }
    }
}

// Writes the fields about a run, whose C is assigned to the member of their name.
static void write_about_run(const generator *g)
{
    static const ln_opdesc_field told[] = {LN_OPDESC_CAN_FAIL, LN_OPDESC_MACS, LN_OPDESC_ALGORITHM,
                                           LN_OPDESC_LAYOUT};
    const char *last = NULL;
    for (size_t i = 0; i < LENGTH_OF(told); i++) {
        const ln_rjson *code = g->op->fields[told[i]];
        if (!code)
            continue;
        write_section(g, &last, "about a run");
        ln_opgen_write_line(g, 4, code, "op_arg->%s = %s;", ln_opdesc_key(told[i]), code->text);
    }
}

// 1 when something in pre_run names `priv`.
static int uses_priv(const generator *g)
{
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        if (arg->variadic || ln_opgen_is_converted_array(arg) ||
            (ln_opgen_is_stored(arg) && ln_opgen_has_value_in_pre(g, arg)))
            return 1;
        for (int v = VAR_VALUE; v <= VAR_NAME; v++) {
            if (is_kept_here(g, arg, (var)v))
                return 1;
        }
    }
    return ln_opgen_codes_name(&g->pre, "priv");
}

// Declares the values of ln_op_begin that pre_run names.
static void write_stored(generator *g)
{
    char type[2 * LN_MAX_NAME_LEN], value[2 * LN_MAX_NAME_LEN];
    declarations locals = {0};
    for (size_t i = 0; i < g->op->nargs; i++) {
        const ln_argdesc *arg = &g->op->args[i];
        if (!ln_opgen_is_stored(arg) || !ln_opgen_has_value_in_pre(g, arg))
            continue;
        ln_opgen_local_type(arg, type, sizeof(type));
        snprintf(value, sizeof(value), " = priv->%s", arg->name);
        ln_opgen_declare(g, &locals, type, arg->name, "", value);
    }
    ln_opgen_write_declarations(g, &locals);
}

// Writes the checks by tables, which come first.
static void write_beginning(generator *g)
{
    const char *op = g->op->optype;
    if (ln_opgen_has_priv(g))
        ln_cgen_line(g->out, 4, "if (ln_op_begin(op_arg, sizeof(struct %s_priv)))", op);
    else
        ln_cgen_line(g->out, 4, "if (ln_op_begin(op_arg, 0))");
    ln_cgen_line(g->out, 8, "return;");
    if (uses_priv(g))
        ln_cgen_line(g->out, 4, "struct %s_priv *priv = op_arg->priv;", op);
    write_stored(g);
}

void ln_opgen_write_last(const generator *g)
{
    const ln_rjson *scratch = g->op->fields[LN_OPDESC_SCRATCH],
                   *custom = g->op->fields[LN_OPDESC_CUSTOM];
    if (scratch) {
        ln_cgen_print(g->out, "    // scratch memory\n");
        ln_opgen_write_line(g, 4, scratch, "op_arg->scratch_size = %s;", scratch->text);
    }
    if (custom)
        ln_cgen_snippet(g->out, 4, custom);
    write_about_run(g);
}

int ln_opgen_write_pre_run(generator *g, ln_error *err)
{
    for (size_t i = 0; i < g->op->nargs; i++)
        ln_opgen_write_name_func(g, &g->op->args[i]);
    ln_cgen_print(g->out, "static void %s_pre_run(ln_op_arg *op_arg)\n{\n", g->op->optype);
    write_beginning(g);
    if (ln_opgen_codes_name(&g->pre, "exec"))
        ln_cgen_line(g->out, 4, "const tl_exec exec = ln_op_exec(op_arg);");
    write_ready_steps(g, 0);
    write_ready_steps(g, 1);
    if (check_steps(g, err))
        return -1;
    write_keeping(g);
    ln_opgen_write_last(g);
    ln_cgen_print(g->out, "}\n\n");
    return 0;
}
