// SPDX-License-Identifier: Apache-2.0
// The meanings of an operator: rules that replace it by simpler ones. Their pattern is the operator
// alone, and its tensors have the names of its arguments.

#include <string.h>

#include "gen/ln_opgen.h"
#include "gen/ln_opgen_code.h"
#include "gen/ln_optwrite.h"

static ln_rjson *text_node(const generator *g, const char *key, const char *text)
{
    ln_rjson *const node = ln_arena_alloc(&g->out->arena, sizeof(*node));
    *node = *g->op->fields[LN_OPDESC_MEANS];
    node->type = LN_RJSON_STRING;
    node->key = (char *)key;
    node->text = (char *)text;
    return node;
}

static void add_item(const generator *g, ln_rjson *to, ln_rjson *item)
{
    to->items = ln_arena_grow(&g->out->arena, to->items, to->len, sizeof(*to->items));
    to->items[to->len++] = item;
}

static const char *arguments(const generator *g, ln_argdesc_kind kind)
{
    const char *text = "";
    for (const ln_argdesc *a = g->op->args; a < g->op->args + g->op->nargs; a++) {
        if (a->kind == kind)
            ln_arena_extend(&g->out->arena, &text, a->variadic ? "%s*" : "%s%s%s=%s",
                            *text ? ", " : "", a->name, a->optional ? "?" : "", a->name);
    }
    return text;
}

// The rule of a replacement, or of an object with one; the `i`th meaning.
static ln_rjson *rule_of(const generator *g, ln_rjson *meaning, size_t i)
{
    ln_arena *const arena = &g->out->arena;
    const char *const optype = g->op->optype;
    ln_rjson *const rule = ln_arena_alloc(arena, sizeof(*rule)), *replace;
    *rule = *meaning;
    rule->type = LN_RJSON_OBJECT;
    rule->items = NULL;
    rule->len = 0;
    add_item(g, rule, text_node(g, "name", ln_arena_printf(arena, "%s_means_%zu", optype, i)));
    add_item(g, rule, text_node(g, "doc", "the operator in terms of others"));
    add_item(g, rule,
             text_node(g, "match",
                       ln_arena_printf(arena, "%s(%s | %s);", optype, arguments(g, LN_ARGDESC_IN),
                                       arguments(g, LN_ARGDESC_OUT))));
    for (size_t k = 0; meaning->type == LN_RJSON_OBJECT && k < meaning->len; k++)
        add_item(g, rule, meaning->items[k]);
    if (meaning->type == LN_RJSON_STRING) {
        replace = ln_arena_alloc(arena, sizeof(*replace));
        *replace = *meaning;
        replace->key = (char *)"replace";
        add_item(g, rule, replace);
    }
    return rule;
}

// All meanings as an optimizer description.
static ln_rjson description(const generator *g)
{
    ln_rjson *const means = (ln_rjson *)g->op->fields[LN_OPDESC_MEANS];
    ln_rjson *const rules = text_node(g, "rules", NULL);
    ln_rjson root = *means;
    rules->type = LN_RJSON_ARRAY;
    rules->items = NULL;
    rules->len = 0;
    if (means->type == LN_RJSON_ARRAY) {
        for (size_t i = 0; i < means->len; i++)
            add_item(g, rules, rule_of(g, means->items[i], i + 1));
    } else {
        add_item(g, rules, rule_of(g, means, 1));
    }
    root.type = LN_RJSON_OBJECT;
    root.items = NULL;
    root.len = 0;
    add_item(g, &root, text_node(g, "arch", g->op->arch));
    add_item(g, &root, rules);
    return root;
}

// Appends the lines of a replacement without their indentation.
static void add_lines(const generator *g, const char **text, const char *lines)
{
    lines += strspn(lines, " \n");
    for (size_t len; *lines; lines += len + strspn(lines + len, " \n")) {
        len = strcspn(lines, "\n");
        ln_arena_extend(&g->out->arena, text, "%s%.*s", **text ? "\n" : "", (int)len, lines);
    }
}

const char *ln_opgen_meaning(const generator *g)
{
    const ln_rjson *const means = g->op->fields[LN_OPDESC_MEANS];
    const char *text = "";
    if (!means)
        return NULL;
    if (means->type == LN_RJSON_STRING)
        add_lines(g, &text, means->text);
    for (size_t i = 0; i < means->len; i++) {
        const ln_rjson *const node = means->items[i], *const replace =
                                                          ln_rjson_get(node, "replace");
        add_lines(g, &text, i ? "or" : "");
        add_lines(g, &text, replace ? replace->text : node->text ? node->text : "");
    }
    return text;
}

int ln_opgen_write_means(const generator *g, const char **tables, ln_error *err)
{
    ln_optdesc desc = {.arena = &g->out->arena, .of_operator = 1};
    const char *names = "";
    if (!g->op->fields[LN_OPDESC_MEANS])
        return 0;
    const ln_rjson root = description(g);
    if (ln_optdesc_read(&desc, &root, err) || ln_optdesc_check(&desc, err))
        return -1;
    for (ln_optrule *rule = desc.rules; rule; rule = rule->next) {
        rule->dynamic = 1;
        ln_cgen_print(g->out, rule == desc.rules ? "\n" : "");
        const ln_optwriter w = {.desc = &desc, .rule = rule, .out = g->out};
        ln_optcode_rule(&w);
        ln_arena_extend(&g->out->arena, &names, "&rule_%s, ", rule->name);
    }
    ln_cgen_line(g->out, 0, "static const ln_rule *const %s_means[] = {%sNULL};", g->op->optype,
                 names);
    ln_arena_extend(&g->out->arena, tables, ".means = %s_means, ", g->op->optype);
    return 0;
}
