// SPDX-License-Identifier: Apache-2.0
// Rules as C: the fields of a table that say what a rule matches, and the function of its
// conditions.

#include "gen/ln_optwrite.h"

#include <string.h>

/* ---- conditions ---- */

int ln_optmatch_has_conditions(const ln_optrule *rule)
{
    for (const ln_optop *op = rule->match; op; op = op->next) {
        for (const ln_optparam *param = op->params; param; param = param->next) {
            if (!ln_optwrite_is_plain(param))
                return 1;
        }
    }
    return rule->nwhen > 0;
}

/** Parameters whose values a text cannot say. */
static void write_param_tests(const ln_optwriter *w)
{
    for (const ln_optop *op = w->rule->match; op; op = op->next) {
        for (const ln_optparam *param = op->params; param; param = param->next) {
            if (ln_optwrite_is_plain(param))
                continue;
            ln_cgen_line(w->out, 4, "if (!%s(m->ops[%d], \"%s\"%s))",
                         ln_optvalue_functions[param->type].test,
                         ln_optwrite_op_index(w->rule, op->name), param->arg_name,
                         ln_optwrite_value(w, param));
            ln_cgen_line(w->out, 8, "return false;");
        }
    }
}

/** A condition, which stands between others and `&&` where there are some. */
static const char *operand(const ln_optwriter *w, int i)
{
    const char *text = w->rule->when[i]->text;
    const int is_operand = w->rule->nwhen == 1 || ln_c_is_operand(text);
    return ln_arena_printf(w->desc->arena, is_operand ? "%s" : "(%s)", text);
}

/** The conditions i and those after it that stand on the same line, in one; `*next` is the one
 * behind them. */
static const char *conditions_of_line(const ln_optwriter *w, int i, int *next)
{
    const ln_optrule *rule = w->rule;
    const char *text = operand(w, i);
    for (*next = i + 1; *next < rule->nwhen; ++*next) {
        if (rule->when[*next]->text_line != rule->when[i]->text_line)
            break;
        ln_arena_extend(w->desc->arena, &text, " && %s", operand(w, *next));
    }
    return text;
}

static void write_when(const ln_optwriter *w)
{
    int next;
    for (int i = 0; i < w->rule->nwhen; i = next) {
        const char *text = conditions_of_line(w, i, &next);
        ln_cgen_line_of(w->out, i ? 11 : 4, w->rule->when[i], "%s%s%s", i ? "" : "return ", text,
                        next < w->rule->nwhen ? " &&" : ";");
    }
    if (w->rule->nwhen == 0)
        ln_cgen_line(w->out, 4, "return true;");
}

void ln_optmatch_conditions(const ln_optwriter *w)
{
    const char *all = "";
    for (int i = 0; i < w->rule->nwhen; i++)
        ln_arena_extend(w->desc->arena, &all, "%s;", w->rule->when[i]->text);
    ln_cgen_line(w->out, 0, "static bool allows_%s(const ln_rule_match *m)", w->rule->name);
    ln_cgen_print(w->out, "{\n");
    const int n = ln_optwrite_locals(w, all);
    if (n == 0 && w->rule->nwhen > 0)
        ln_cgen_line(w->out, 4, "(void)m;");
    write_param_tests(w);
    write_when(w);
    ln_cgen_print(w->out, "}\n\n");
}

/* ---- the pattern ---- */

/** The tensor through which `op` is found: what it makes and an operator before it reads. */
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

/** `OPTYPE [keep] [NAME]`, or `{OPTYPE|..} [keep] NAME`. */
static const char *head(const ln_optwriter *w, const ln_optop *op)
{
    const char *text = "";
    for (int i = 0; i < op->noptypes; i++)
        ln_arena_extend(w->desc->arena, &text, "%s%s", i ? "|" : "", op->optypes[i]);
    if (op->noptypes > 1)
        text = ln_arena_printf(w->desc->arena, "{%s}", text);
    if (op->keep)
        ln_arena_extend(w->desc->arena, &text, " keep %s", op->name);
    else if (op->noptypes > 1 || strcmp(op->name, op->optypes[0]) != 0)
        ln_arena_extend(w->desc->arena, &text, " %s", op->name);
    return text;
}

static const char *group(const ln_optwriter *w, const ln_optarg *args, int any)
{
    const char *text = "", *between = "";
    for (const ln_optarg *arg = args; arg; arg = arg->next) {
        ln_arena_extend(w->desc->arena, &text, "%s%s%s=%s", between, arg->arg_name,
                        arg->optional ? "?" : "", arg->tensor);
        between = arg->exchange ? " <-> " : ", ";
    }
    if (any)
        ln_arena_extend(w->desc->arena, &text, "%s*", between);
    return text;
}

static const char *params(const ln_optwriter *w, const ln_optop *op)
{
    const char *text = "";
    for (const ln_optparam *param = op->params; param; param = param->next) {
        if (ln_optwrite_is_plain(param))
            ln_arena_extend(w->desc->arena, &text, "%s%s", *text ? ", " : " | ",
                            ln_optwrite_param(w, param));
    }
    return text;
}

static const char *op_text(const ln_optwriter *w, int index)
{
    const ln_optop *op = w->rule->order[index];
    const char *through = found_through(w->rule, index);
    if (ln_optkind_of(w->rule) == LN_OPT_COMBINER)
        through = NULL;
    return ln_arena_printf(w->desc->arena, "%s%s%s(%s | %s%s);", through ? through : "",
                           through ? " = " : "", head(w, op), group(w, op->ins, op->any_in),
                           group(w, op->outs, op->any_out), params(w, op));
}

static void write_match(const ln_optwriter *w, const char *end)
{
    const char *ops[LN_MAX_RULE_OPS + 1] = {NULL};
    for (int i = 0; i < w->rule->nmatch; i++)
        ops[i] = op_text(w, i);
    ln_optwrite_strings(w, "    .match = ", ops, end);
}

static const char *removed(const ln_optwriter *w)
{
    const char *text = "";
    for (const ln_opttensor *tensor = w->rule->tensors; tensor; tensor = tensor->next) {
        if (tensor->removed)
            ln_arena_extend(w->desc->arena, &text, "%s%s %d", *text ? ", " : "", tensor->name,
                            tensor->reads);
    }
    return text;
}

void ln_optmatch_fields(const ln_optwriter *w, const char *begin, const char *end)
{
    const ln_optrule *rule = w->rule;
    const char *fields = "";
    if (*removed(w))
        ln_arena_extend(w->desc->arena, &fields, ", .removed = \"%s\"", removed(w));
    if (rule->nexchange)
        ln_arena_extend(w->desc->arena, &fields, ", .swaps = %d", rule->nexchange);
    if (rule->dynamic || rule->batch)
        ln_arena_extend(w->desc->arena, &fields, ", .sizes = %s",
                        rule->dynamic ? "LN_RULE_OPEN" : "LN_RULE_OPEN_BATCH");
    if (ln_optmatch_has_conditions(rule))
        ln_arena_extend(w->desc->arena, &fields, ", .allows = allows_%s", rule->name);
    ln_cgen_line(w->out, 0, "%s%s,", begin, fields);
    write_match(w, end);
}
