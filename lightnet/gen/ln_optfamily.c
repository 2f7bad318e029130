// SPDX-License-Identifier: Apache-2.0
// Families of rules: one description for rules that differ in words.
//
//     {"for": [{"c": "conv"}, {"c": "matmul"}], "name": "${c}_scaled", ..}
//
// Each row of "for" makes a rule, in whose strings "${WORD}" is the row's text; items of arrays
// that become empty are left out. Members of a row that are no strings are fields of its rule.

#include "gen/ln_optfamily.h"

#include <string.h>

// The row's text for the word of `len` characters; NULL: it has none.
static const char *text_of(const ln_rjson *row, const char *word, size_t len)
{
    for (size_t i = 0; i < row->len; i++) {
        const ln_rjson *const item = row->items[i];
        if (item->type == LN_RJSON_STRING && strncmp(item->key, word, len) == 0 && !item->key[len])
            return item->text;
    }
    return NULL;
}

// `node->text` with the row's texts in place of words; NULL after a failure.
static char *expand_text(ln_arena *arena, const ln_rjson *node, const ln_rjson *row, ln_error *err)
{
    const char *out = "", *at = node->text;
    for (const char *next = strstr(at, "${"); next; next = strstr(at, "${")) {
        const char *const word = next + 2;
        const size_t len = strcspn(word, "}");
        const char *const text = text_of(row, word, len);
        if (!text) {
            ln_rjson_fail(node, err, "\"${%.*s}\", which a row of \"for\" does not have", (int)len,
                          word);
            return NULL;
        }
        ln_arena_extend(arena, &out, "%.*s%s", (int)(next - at), at, text);
        at = word + len + (word[len] == '}');
    }
    ln_arena_extend(arena, &out, "%s", at);
    return (char *)out;
}

// A copy of the node with the row's texts; NULL after a failure.
static ln_rjson *expand(ln_arena *arena, const ln_rjson *node, const ln_rjson *row, ln_error *err)
{
    ln_rjson *const copy = ln_arena_alloc(arena, sizeof(*copy));
    *copy = *node;
    if (node->type == LN_RJSON_STRING && !(copy->text = expand_text(arena, node, row, err)))
        return NULL;
    if (node->len)
        copy->items = ln_arena_alloc(arena, (node->len + row->len) * sizeof(ln_rjson *));
    copy->len = 0;
    for (size_t i = 0; i < node->len; i++) {
        ln_rjson *const item = expand(arena, node->items[i], row, err);
        if (!item)
            return NULL;
        if (node->type == LN_RJSON_OBJECT || item->type != LN_RJSON_STRING || *item->text)
            copy->items[copy->len++] = item;
    }
    return copy;
}

ln_rjson *ln_optfamily_rule(ln_arena *arena, const ln_rjson *family, const ln_rjson *row,
                            ln_error *err)
{
    ln_rjson plain = *family, *rule;
    plain.items = ln_arena_alloc(arena, (family->len + 1) * sizeof(ln_rjson *));
    plain.len = 0;
    for (size_t i = 0; i < family->len; i++)
        if (strcmp(family->items[i]->key, "for") != 0)
            plain.items[plain.len++] = family->items[i];
    if (row->type != LN_RJSON_OBJECT) {
        ln_rjson_fail(row, err, "a row of \"for\" is %s, expected an object",
                      ln_rjson_type_name(row->type));
        return NULL;
    }
    rule = expand(arena, &plain, row, err);
    for (size_t i = 0; rule && i < row->len; i++)
        if (row->items[i]->type != LN_RJSON_STRING)
            rule->items[rule->len++] = row->items[i];
    return rule;
}
