// SPDX-License-Identifier: Apache-2.0
// Rules as C: comments, texts, names and values; patterns.

#include "gen/ln_optwrite.h"

#include <string.h>

ln_optkind ln_optkind_of(const ln_optrule *rule)
{
    if (rule->adjacent)
        return LN_OPT_COMBINER;
    return rule->nmatch == 1 ? LN_OPT_EXPANDER : LN_OPT_SUBGRAPH;
}

void ln_optwrite_comment(const ln_optwriter *w, const char *text)
{
    static const char begin[] = "/*", end[] = " */";
    size_t column = strlen(begin);
    ln_cgen_print(w->out, "%s", begin);
    while (*text) {
        const size_t len = strcspn(text, " ");
        const size_t tail = text[len] ? 0 : strlen(end);
        if (column + 1 + len + tail > LN_CGEN_COLUMNS) {
            ln_cgen_print(w->out, "\n%*s", (int)strlen(begin), "");
            column = strlen(begin);
        }
        ln_cgen_print(w->out, " %.*s", (int)len, text);
        column += 1 + len;
        text += len + strspn(text + len, " ");
    }
    ln_cgen_print(w->out, "%s\n", end);
}

void ln_optwrite_strings(const ln_optwriter *w, const char *begin, const char *const *texts,
                         const char *end)
{
    const int indent = (int)strlen(begin);
    for (int i = 0; texts[i]; i++)
        ln_cgen_line(w->out, i ? indent : 0, "%s%s%s", i ? "" : begin,
                     ln_cgen_quote(w->out, texts[i]), texts[i + 1] ? "" : end);
}

// The place of the operator in the rule's match.
static int op_index(const ln_optrule *rule, const char *name)
{
    int i = 0;
    while (strcmp(rule->order[i]->name, name) != 0)
        i++;
    return i;
}

int ln_optwrite_locals(const ln_optwriter *w, const char *code)
{
    const char *ops = "", *tensors = "";
    int n = 0;
    for (const ln_optop *op = w->rule->match; op; op = op->next) {
        if (ln_c_names(code, op->name))
            ln_arena_extend(w->desc->arena, &ops, "%s*const %s = m->ops[%d]", *ops ? ", " : "",
                            op->name, op_index(w->rule, op->name));
    }
    for (const ln_opttensor *tensor = w->rule->tensors; tensor; tensor = tensor->next) {
        if (!tensor->fresh && ln_c_names(code, tensor->name))
            ln_arena_extend(w->desc->arena, &tensors, "%s*const %s = m->tensors[%d]",
                            *tensors ? ", " : "", tensor->name, tensor->index);
    }
    if (ln_c_names(code, "ctx") && ++n)
        ln_cgen_line(w->out, 4, "const ln_context *const ctx = m->ctx;");
    if (*ops && ++n)
        ln_cgen_line(w->out, 4, "const ln_op %s;", ops);
    if (*tensors && ++n)
        ln_cgen_line(w->out, 4, "const ln_tensor_entry %s;", tensors);
    return n;
}

static const char *literal_list(const ln_optwriter *w, const ln_optparam *param)
{
    const char *text = "";
    for (int i = 0; i < param->len; i++)
        ln_arena_extend(w->desc->arena, &text, "%s%s", i ? ", " : "",
                        param->type == LN_OPT_STRINGS ? ln_cgen_quote(w->out, param->items[i])
                                                      : param->items[i]);
    return text;
}

static const char *c_bool(const char *text)
{
    return strcmp(text, "true") == 0 ? "LN_TRUE" : "LN_FALSE";
}

// An array of bools as C has it.
static const char *bool_list(const ln_optwriter *w, const ln_optparam *param)
{
    const char *text = "";
    for (int i = 0; i < param->len; i++)
        ln_arena_extend(w->desc->arena, &text, "%s%s", i ? ", " : "", c_bool(param->items[i]));
    return text;
}

const char *ln_optwrite_value(const ln_optwriter *w, const ln_optparam *param)
{
    ln_arena *arena = w->desc->arena;
    switch (param->type) {
    case LN_OPT_STRING:
        return ln_arena_printf(arena, ", %s", ln_cgen_quote(w->out, param->items[0]));
    case LN_OPT_NUMBER:
        return ln_arena_printf(arena, ", %s", param->items[0]);
    case LN_OPT_BOOL:
        return ln_arena_printf(arena, ", %s", c_bool(param->items[0]));
    case LN_OPT_STRINGS:
        return ln_arena_printf(arena, ", %d, (const char *const[]){%s}", param->len,
                               literal_list(w, param));
    case LN_OPT_NUMBERS:
        return ln_arena_printf(arena, ", %d, (const double[]){%s}", param->len,
                               literal_list(w, param));
    case LN_OPT_BOOLS:
        return ln_arena_printf(arena, ", %d, (const ln_bool[]){%s}", param->len,
                               bool_list(w, param));
    default:
        return "";
    }
}

// An integer that a long has.
static int is_integer(const char *text)
{
    const size_t digits = strspn(text + (*text == '-'), "0123456789");
    return digits > 0 && digits < 10 && text[digits + (size_t)(*text == '-')] == '\0';
}

static int is_name(const char *text)
{
    return ln_c_is_identifier(text) && strcmp(text, "true") != 0 && strcmp(text, "false") != 0 &&
           strcmp(text, "null") != 0;
}

int ln_optwrite_is_plain(const ln_optparam *param)
{
    int are_integers = param->len <= LN_MAXDIM;
    switch (param->type) {
    case LN_OPT_NUMBER:
    case LN_OPT_NUMBERS:
        for (int i = 0; i < param->len; i++)
            are_integers = are_integers && is_integer(param->items[i]);
        return are_integers;
    case LN_OPT_STRING:
        return !param->arg_name || is_name(param->items[0]);
    default:
        return param->type == LN_OPT_BOOL || param->type == LN_OPT_NULL ||
               param->type == LN_OPT_PARAM;
    }
}

const char *ln_optwrite_param(const ln_optwriter *w, const ln_optparam *param)
{
    ln_arena *arena = w->desc->arena;
    if (!param->arg_name)
        return ln_arena_printf(arena, "%s.*", param->op);
    if (param->type == LN_OPT_PARAM)
        return ln_arena_printf(arena, "%s=%s.%s", param->arg_name, param->op, param->param);
    if (param->type == LN_OPT_NUMBERS)
        return ln_arena_printf(arena, "%s=[%s]", param->arg_name, literal_list(w, param));
    return ln_arena_printf(arena, "%s=%s", param->arg_name, param->items[0]);
}

void ln_optwrite_json_item(ln_cgen *json, const ln_optparam *literal, int i)
{
    const int is_string = literal->type == LN_OPT_STRING || literal->type == LN_OPT_STRINGS;
    ln_cgen_print(json, is_string ? "\"" : "");
    if (is_string)
        ln_cgen_escaped(json, literal->items[i]);
    else
        ln_cgen_print(json, "%s", literal->items[i]);
    ln_cgen_print(json, is_string ? "\"" : "");
}

const ln_optvalue_function ln_optvalue_functions[] = {
    [LN_OPT_STRING] = {"ln_op_has_string", "ln_rule_string"},
    [LN_OPT_NUMBER] = {"ln_op_has_number", "ln_rule_number"},
    [LN_OPT_BOOL] = {"ln_op_has_bool", "ln_rule_bool"},
    [LN_OPT_NULL] = {"ln_op_has_null", "ln_rule_null"},
    [LN_OPT_STRINGS] = {"ln_op_has_strings", "ln_rule_strings"},
    [LN_OPT_NUMBERS] = {"ln_op_has_numbers", "ln_rule_numbers"},
    [LN_OPT_BOOLS] = {"ln_op_has_bools", "ln_rule_bools"},
    [LN_OPT_PARAM] = {"ln_op_same_param", "ln_rule_param"},
    [LN_OPT_CODE_STRING] = {NULL, "ln_rule_string"},
    [LN_OPT_CODE_NUMBER] = {NULL, "ln_rule_number"},
    [LN_OPT_CODE_BOOL] = {NULL, "ln_rule_bool"},
    [LN_OPT_CODE_INTS] = {NULL, "ln_rule_ints"},
    [LN_OPT_CODE_NUMBERS] = {NULL, "ln_rule_numbers"},
    [LN_OPT_CODE_INPUT] = {NULL, "ln_rule_constant"},
};

// Conditions

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

// Parameters whose values a text cannot express.
static void write_param_tests(const ln_optwriter *w)
{
    for (const ln_optop *op = w->rule->match; op; op = op->next) {
        for (const ln_optparam *param = op->params; param; param = param->next) {
            if (ln_optwrite_is_plain(param))
                continue;
            ln_cgen_line(w->out, 4, "if (!%s(m->ops[%d], \"%s\"%s))",
                         ln_optvalue_functions[param->type].test, op_index(w->rule, op->name),
                         param->arg_name, ln_optwrite_value(w, param));
            ln_cgen_line(w->out, 8, "return false;");
        }
    }
}

// A condition, joined to others by `&&`.
static const char *operand(const ln_optwriter *w, int i)
{
    const char *text = w->rule->when[i]->text;
    const int is_operand = w->rule->nwhen == 1 || ln_c_is_operand(text);
    return ln_arena_printf(w->desc->arena, is_operand ? "%s" : "(%s)", text);
}

// Joins condition i and the next ones on the same line; `*next` is the one after them.
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

// The pattern

// The tensor through which `op` is found: its output that an operator found earlier reads.
static const char *found_through(const ln_optrule *rule, int index)
{
    for (int k = 0; k < index; k++) {
        for (const ln_optarg *arg = rule->order[k]->ins; arg; arg = arg->next) {
            if (ln_opttensor_find(rule, arg->tensor)->producer == rule->order[index])
                return arg->tensor;
        }
    }
    return NULL;
}

// `OPTYPE [keep] [NAME]`, or `{OPTYPE|..} [keep] NAME`.
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
    if (rule->wide)
        ln_arena_extend(w->desc->arena, &fields, ", .wide = true");
    if (ln_optmatch_has_conditions(rule))
        ln_arena_extend(w->desc->arena, &fields, ", .allows = allows_%s", rule->name);
    ln_cgen_line(w->out, 0, "%s%s,", begin, fields);
    const char *ops[LN_MAX_RULE_OPS + 1] = {NULL};
    for (int i = 0; i < rule->nmatch; i++)
        ops[i] = op_text(w, i);
    ln_optwrite_strings(w, "    .match = ", ops, end);
}
