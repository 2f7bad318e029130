// SPDX-License-Identifier: Apache-2.0
// Rules as C: comments, names and values.

#include "gen/ln_optwrite.h"

#include <string.h>

ln_optkind ln_optkind_of(const ln_optrule *rule)
{
    if (rule->adjacent)
        return LN_OPT_COMBINER;
    return rule->nmatch == 1 ? LN_OPT_EXPANDER : LN_OPT_SUBGRAPH;
}

const char *ln_optwrite_quote(const ln_optwriter *w, const char *text)
{
    ln_cgen literal = {0};
    ln_cgen_escaped(&literal, text);
    const char *result =
        ln_arena_printf(w->desc->arena, "\"%s\"", literal.text ? literal.text : "");
    w->out->failed |= literal.failed;
    ln_cgen_free(&literal);
    return result;
}

void ln_optwrite_words(const ln_optwriter *w, const char *begin, const char *next, const char *text,
                       const char *end)
{
    size_t column = strlen(begin);
    ln_cgen_print(w->out, "%s", begin);
    while (*text) {
        const size_t len = strcspn(text, " ");
        const size_t tail = text[len] ? 0 : strlen(end);
        if (column + 1 + len + tail > LN_CGEN_COLUMNS && column > strlen(next)) {
            ln_cgen_print(w->out, "\n%s", next);
            column = strlen(next);
        }
        ln_cgen_print(w->out, " %.*s", (int)len, text);
        column += 1 + len;
        text += len + strspn(text + len, " ");
    }
    ln_cgen_print(w->out, "%s\n", end);
}

void ln_optwrite_comment(const ln_optwriter *w, const char *text)
{
    ln_optwrite_words(w, "    //", "    //", text, "");
}

void ln_optwrite_locals(const ln_optwriter *w, const char *code)
{
    for (const ln_optop *op = w->rule->match; op; op = op->next) {
        if (ln_c_names(code, op->name))
            ln_cgen_line(w->out, 4, "const ln_op *%s = m->%s;", op->name, op->name);
    }
    for (const ln_opttensor *tensor = w->rule->tensors; tensor; tensor = tensor->next) {
        if (!tensor->fresh && ln_c_names(code, tensor->name))
            ln_cgen_line(w->out, 4, "const ln_tensor_entry *%s = m->%s;", tensor->name,
                         tensor->name);
    }
}

static const char *literal_list(const ln_optwriter *w, const ln_optparam *param)
{
    const char *text = "";
    for (int i = 0; i < param->len; i++)
        ln_arena_extend(w->desc->arena, &text, "%s%s", i ? ", " : "",
                        param->type == LN_OPT_STRINGS ? ln_optwrite_quote(w, param->items[i])
                                                      : param->items[i]);
    return text;
}

static const char *c_bool(const char *text)
{
    return strcmp(text, "true") == 0 ? "LN_TRUE" : "LN_FALSE";
}

/** An array of bools as C has it. */
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
        return ln_arena_printf(arena, ", %s", ln_optwrite_quote(w, param->items[0]));
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

const ln_optvalue_function ln_optvalue_functions[] = {
    [LN_OPT_STRING] = {"ln_rule_has_string", "ln_rule_string"},
    [LN_OPT_NUMBER] = {"ln_rule_has_number", "ln_rule_number"},
    [LN_OPT_BOOL] = {"ln_rule_has_bool", "ln_rule_bool"},
    [LN_OPT_NULL] = {"ln_rule_has_null", "ln_rule_null"},
    [LN_OPT_STRINGS] = {"ln_rule_has_strings", "ln_rule_strings"},
    [LN_OPT_NUMBERS] = {"ln_rule_has_numbers", "ln_rule_numbers"},
    [LN_OPT_BOOLS] = {"ln_rule_has_bools", "ln_rule_bools"},
    [LN_OPT_PARAM] = {"ln_rule_same_param", "ln_rule_param"},
    [LN_OPT_CODE_STRING] = {NULL, "ln_rule_string"},
    [LN_OPT_CODE_NUMBER] = {NULL, "ln_rule_number"},
    [LN_OPT_CODE_BOOL] = {NULL, "ln_rule_bool"},
    [LN_OPT_CODE_INTS] = {NULL, "ln_rule_ints"},
    [LN_OPT_CODE_NUMBERS] = {NULL, "ln_rule_numbers"},
};
