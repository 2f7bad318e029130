// SPDX-License-Identifier: Apache-2.0
// Rules as C: the struct of what a rule matches, its conditions, and the function that matches.

#include "gen/ln_optmatch.h"

#include <string.h>

/** `if (A || B || ..)` on as many lines as it needs, broken behind the `||`. */
static void write_condition(const ln_optwriter *w, const char *text)
{
    static const char begin[] = "    if (";
    size_t column = strlen(begin);
    ln_cgen_print(w->out, "%s", begin);
    for (int first = 1; *text; first = 0) {
        const char *end = strstr(text, " || ");
        const size_t len = end ? (size_t)(end - text) + 3 : strlen(text) + 1;
        if (!first && column + 1 + len > LN_CGEN_COLUMNS) {
            column = strlen(begin);
            ln_cgen_print(w->out, "\n%*s", (int)column, "");
        } else if (!first) {
            ln_cgen_print(w->out, " ");
            column++;
        }
        ln_cgen_print(w->out, "%.*s", (int)len, text);
        column += len;
        text += end ? len + 1 : len - 1;
    }
    ln_cgen_print(w->out, ")\n");
}

/* ---- what a rule matches ---- */

static void write_struct(const ln_optwriter *w)
{
    ln_cgen_print(w->out, "struct %s {\n", w->rule->name);
    for (const ln_optop *op = w->rule->match; op; op = op->next)
        ln_cgen_print(w->out, "    const ln_op *%s;\n", op->name);
    for (const ln_opttensor *tensor = w->rule->tensors; tensor; tensor = tensor->next) {
        if (!tensor->fresh)
            ln_cgen_print(w->out, "    const ln_tensor_entry *%s;%s\n", tensor->name,
                          tensor->optional ? " /* or NULL */" : "");
    }
    ln_cgen_print(w->out, "};\n\n");
}

/* ---- conditions ---- */

static void write_allows(const ln_optwriter *w)
{
    const char *all = "";
    for (int i = 0; i < w->rule->nwhen; i++)
        ln_arena_extend(w->desc->arena, &all, "%s;", w->rule->when[i]->text);
    ln_cgen_print(w->out, "/** The conditions under \"when\". */\n");
    ln_cgen_line(w->out, 0, "static int allows_%s(const ln_context *ctx, const struct %s *m)",
                 w->rule->name, w->rule->name);
    ln_cgen_print(w->out, "{\n");
    ln_optwrite_locals(w, all);
    if (!ln_c_names(all, "ctx"))
        ln_cgen_line(w->out, 4, "(void)ctx;");
    ln_cgen_print(w->out, "\n");
    for (int i = 0; i < w->rule->nwhen; i++) {
        ln_cgen_line_of(w->out, 4, w->rule->when[i], "if (!(%s))", w->rule->when[i]->text);
        ln_cgen_line(w->out, 8, "return 0;");
    }
    ln_cgen_print(w->out, "    return 1;\n}\n\n");
}

/* ---- the matching function ---- */

/** `!(ln_rule_is(..) || ..)` for the optypes of an operator. */
static const char *optype_test(const ln_optwriter *w, const ln_optop *op)
{
    const char *text = "";
    for (int i = 0; i < op->noptypes; i++)
        ln_arena_extend(w->desc->arena, &text, "%sln_rule_is(m->%s, \"%s\")", i ? " || " : "",
                        op->name, op->optypes[i]);
    return ln_arena_printf(w->desc->arena, op->noptypes > 1 ? "!(%s)" : "!%s", text);
}

/** The argument name as C: of two inputs that may be exchanged, the one that `order` says. */
static const char *input_name(const ln_optwriter *w, const ln_optarg *arg, const ln_optarg *before)
{
    const ln_optarg *pair = arg->exchange ? arg : before && before->exchange ? before : NULL;
    if (!pair)
        return ln_optwrite_quote(w, arg->arg_name);
    const char *other = arg->exchange ? arg->next->arg_name : before->arg_name;
    return ln_arena_printf(w->desc->arena, "order & %d ? \"%s\" : \"%s\"",
                           1 << (pair->exchange - 1), other, arg->arg_name);
}

static const char *tensor_tests(const ln_optwriter *w, const ln_optop *op)
{
    const char *text = "";
    const ln_optarg *before = NULL;
    for (const ln_optarg *arg = op->ins; arg; before = arg, arg = arg->next)
        ln_arena_extend(w->desc->arena, &text, " || !%s(m->%s, %s, &m->%s)",
                        arg->optional ? "ln_rule_may_read" : "ln_rule_reads", op->name,
                        input_name(w, arg, before), arg->tensor);
    for (const ln_optarg *arg = op->outs; arg; arg = arg->next)
        ln_arena_extend(w->desc->arena, &text, " || !ln_rule_makes(m->%s, \"%s\", &m->%s)",
                        op->name, arg->arg_name, arg->tensor);
    return text;
}

static const char *count_tests(const ln_optwriter *w, const ln_optop *op)
{
    const char *text = "", *absent = "";
    int nin = 0, nout = 0;
    for (const ln_optarg *arg = op->ins; arg; arg = arg->next, nin++) {
        if (arg->optional)
            ln_arena_extend(w->desc->arena, &absent, " - !m->%s", arg->tensor);
    }
    for (const ln_optarg *arg = op->outs; arg; arg = arg->next)
        nout++;
    if (!op->any_in)
        ln_arena_extend(w->desc->arena, &text, " || ln_rule_num_in(m->%s) != %d%s", op->name, nin,
                        absent);
    if (!op->any_out)
        ln_arena_extend(w->desc->arena, &text, " || ln_rule_num_out(m->%s) != %d", op->name, nout);
    return text;
}

/** Operators of the pattern that stand before `op` in the order of matching could be the same one.
 */
static const char *distinct_tests(const ln_optwriter *w, int index)
{
    const char *text = "";
    const ln_optop *op = w->rule->order[index];
    for (int k = 0; k < index; k++) {
        const ln_optop *other = w->rule->order[k];
        int may_be_same = 0;
        for (int i = 0; i < op->noptypes; i++) {
            for (int j = 0; j < other->noptypes; j++)
                may_be_same |= strcmp(op->optypes[i], other->optypes[j]) == 0;
        }
        if (may_be_same)
            ln_arena_extend(w->desc->arena, &text, " || m->%s == m->%s", op->name, other->name);
    }
    return text;
}

/** The tensor through which `op` was found: what it makes and an operator before it reads. */
static const char *found_through(const ln_optrule *rule, int index)
{
    for (int k = 0; k < index; k++) {
        for (const ln_optarg *arg = rule->order[k]->ins; arg; arg = arg->next) {
            if (ln_opttensor_find(rule, arg->tensor)->maker == rule->order[index])
                return arg->tensor;
        }
    }
    return NULL;
}

static void write_finding(const ln_optwriter *w, int index)
{
    const ln_optop *op = w->rule->order[index];
    if (ln_optkind_of(w->rule) == LN_OPT_COMBINER)
        ln_cgen_line(w->out, 4, "m->%s = ln_list_nth_data((ln_list *)win_ops, %d);", op->name,
                     index);
    else if (index == 0)
        ln_cgen_line(w->out, 4, "m->%s = op;", op->name);
    else
        ln_cgen_line(w->out, 4, "m->%s = ln_entry_creater(m->%s);", op->name,
                     found_through(w->rule, index));
}

static void write_op_match(const ln_optwriter *w, int index)
{
    const ln_optop *op = w->rule->order[index];
    ln_optwrite_comment(w, op->text);
    write_finding(w, index);
    write_condition(w, ln_arena_printf(w->desc->arena, "%s%s%s%s", optype_test(w, op),
                                       distinct_tests(w, index), tensor_tests(w, op),
                                       count_tests(w, op)));
    ln_cgen_line(w->out, 8, "return 0;");
}

/** After all operators are known, since a parameter may be another operator's. */
static void write_param_tests(const ln_optwriter *w)
{
    for (const ln_optop *op = w->rule->match; op; op = op->next) {
        for (const ln_optparam *param = op->params; param; param = param->next) {
            const char *rest =
                param->type == LN_OPT_PARAM
                    ? ln_arena_printf(w->desc->arena, ", m->%s, \"%s\"", param->op, param->param)
                    : ln_optwrite_value(w, param);
            ln_cgen_line(w->out, 4, "if (!%s(m->%s, \"%s\"%s))",
                         ln_optvalue_functions[param->type].test, op->name, param->arg_name, rest);
            ln_cgen_line(w->out, 8, "return 0;");
        }
    }
}

static void write_removed_tests(const ln_optwriter *w)
{
    int n = 0;
    for (const ln_opttensor *tensor = w->rule->tensors; tensor; tensor = tensor->next) {
        if (!tensor->removed)
            continue;
        if (n++ == 0)
            ln_cgen_line(w->out, 4, "// What disappears is used nowhere else.");
        ln_cgen_line(w->out, 4, "if (ln_entry_num_uses(m->%s) != %d)", tensor->name, tensor->reads);
        ln_cgen_line(w->out, 8, "return 0;");
    }
}

static void write_steady_tests(const ln_optwriter *w)
{
    int n = 0;
    for (const ln_opttensor *tensor = w->rule->tensors; tensor; tensor = tensor->next) {
        if (!tensor->steady)
            continue;
        if (n++ == 0)
            ln_cgen_line(w->out, 4,
                         "// What a kept operator reads and makes is not written in place.");
        const char *guard =
            tensor->optional ? ln_arena_printf(w->desc->arena, "m->%s && ", tensor->name) : "";
        ln_cgen_line(w->out, 4, "if (%sln_entry_is_mutated(m->%s))", guard, tensor->name);
        ln_cgen_line(w->out, 8, "return 0;");
    }
}

/** Conditions and replacements are about shapes as they are when compiling. */
static void write_dynamic_tests(const ln_optwriter *w)
{
    if (w->rule->dynamic)
        return;
    ln_cgen_line(w->out, 4, "// The shapes are the same in each run%s.",
                 w->rule->batch ? ", but for the batch" : "");
    for (const ln_optop *op = w->rule->match; op; op = op->next) {
        ln_cgen_line(w->out, 4, "if (%s(m->%s))",
                     w->rule->batch ? "ln_rule_is_dynamic_beyond_batch" : "ln_rule_is_dynamic",
                     op->name);
        ln_cgen_line(w->out, 8, "return 0;");
    }
}

static void write_match(const ln_optwriter *w)
{
    const ln_optrule *rule = w->rule;
    ln_cgen_line(
        w->out, 0, "static int match_%s(const ln_context *ctx, %s,%s struct %s *m)", rule->name,
        ln_optkind_of(rule) == LN_OPT_COMBINER ? "const ln_list *win_ops" : "const ln_op *op",
        rule->nexchange ? " unsigned order," : "", rule->name);
    ln_cgen_print(w->out, "{\n    memset(m, 0, sizeof(*m));\n");
    if (rule->nwhen == 0)
        ln_cgen_line(w->out, 4, "(void)ctx;");
    ln_cgen_print(w->out, "\n");
    for (int i = 0; i < rule->nmatch; i++) {
        write_op_match(w, i);
        ln_cgen_print(w->out, "\n");
    }
    write_dynamic_tests(w);
    write_param_tests(w);
    write_removed_tests(w);
    write_steady_tests(w);
    if (rule->nwhen > 0)
        ln_cgen_line(w->out, 4, "return allows_%s(ctx, m);", rule->name);
    else
        ln_cgen_line(w->out, 4, "return 1;");
    ln_cgen_print(w->out, "}\n\n");
}

void ln_optmatch_write(const ln_optwriter *w)
{
    write_struct(w);
    if (w->rule->nwhen > 0)
        write_allows(w);
    write_match(w);
}
