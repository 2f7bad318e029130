// SPDX-License-Identifier: Apache-2.0
// docs/onnx-domains.md is the list of all rows. To regenerate it after a change of a table:
//
//     LN_UPDATE=1 meson test -C build ln_onnx_domains

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/onnx/ln_onnx.h"
#include "ln_cases.h"
#include "ln_check.h"
#include "lightnet/ln_util.h"

typedef struct entry {
    const char *domain;
    const ln_onnx_row *row;
} entry;

enum { MAX = 2048 };

typedef struct list {
    entry entries[MAX];
    size_t n;
} list;

static void add(void *data, const char *domain, const ln_onnx_row *row)
{
    list *const l = data;
    ck_assert_uint_lt(l->n, MAX);
    l->entries[l->n++] = (entry){domain, row};
}

// By domain, ONNX's own first; then by name and operator set.
static int compare(const void *a, const void *b)
{
    const entry *const x = a, *const y = b;
    const int by_domain = strcmp(x->domain, y->domain);
    const int by_name = by_domain ? by_domain : strcmp(x->row->op_type, y->row->op_type);
    return by_name ? by_name : x->row->since - y->row->since;
}

// The first entry at or after `i` of another operator.
static size_t end_of(const list *l, size_t i)
{
    size_t end = i;
    while (end < l->n && ln_streq(l->entries[end].domain, l->entries[i].domain) &&
           ln_streq(l->entries[end].row->op_type, l->entries[i].row->op_type))
        end++;
    return end;
}

// The line of the operator whose entries are `begin` .. `end` - 1.
static void print_supported(FILE *out, const list *l, size_t begin, size_t end)
{
    int n = 0;
    for (size_t i = begin; i < end; i++) {
        const ln_onnx_row *const row = l->entries[i].row;
        if (!row->translate)
            continue;
        if (n++)
            fprintf(out, ", %d", row->since);
        else
            fprintf(out, "| %s | %d", row->op_type, row->since);
    }
    if (n)
        fprintf(out, " |\n");
}

static void print_unsupported(FILE *out, const list *l, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (!l->entries[i].row->translate)
            fprintf(out, "| %s | %s |\n", l->entries[i].row->op_type, l->entries[i].row->with);
}

static void print_operators(FILE *out, const list *l, size_t begin, size_t end, int is_supported)
{
    fprintf(out, is_supported ? "\n| operator | from operator set |\n|---|---|\n"
                              : "\n| not supported | reason |\n|---|---|\n");
    for (size_t i = begin; i < end; i = end_of(l, i))
        (is_supported ? print_supported : print_unsupported)(out, l, i, end_of(l, i));
}

static int has_any(const list *l, size_t begin, size_t end, int is_supported)
{
    int n = 0;
    for (size_t i = begin; i < end; i++)
        n += !l->entries[i].row->translate == !is_supported;
    return n > 0;
}

static void print_domains(FILE *out, const list *l)
{
    for (size_t i = 0, end; i < l->n; i = end) {
        const char *const domain = l->entries[i].domain;
        for (end = i; end < l->n && ln_streq(l->entries[end].domain, domain); end++)
            ;
        fprintf(out, "\n## `%s`\n", *domain ? domain : "ai.onnx");
        for (int is_supported = 1; is_supported >= 0; is_supported--)
            if (has_any(l, i, end, is_supported))
                print_operators(out, l, i, end, is_supported);
    }
}

static const char beginning[] =
    "# ONNX: operators by domain\n"
    "\n"
    "LightNet supports these operators, according to the tables of its ONNX front end. The page "
    "also\n"
    "lists operators that are out of scope, with the reason. [onnx.md](onnx.md) has limits of "
    "types and\n"
    "attributes, and [onnx-operators.md](onnx-operators.md) the results of ONNX's own test data.\n"
    "\n"
    "- **From operator set**: the first set in which LightNet supports the operator. Further "
    "numbers\n"
    "  are sets that change its meaning. Each applies up to the newest set, 28 of `ai.onnx`.\n"
    "- **Operators that are not listed** are unknown. LightNet rejects a model with such "
    "operators, or\n"
    "  with operators of another domain; the message lists all of them.\n"
    "- `lightnet show MODEL --missing` lists operators that a model needs and LightNet lacks.\n"
    "- **Functions** of a model, of any domain, are read as their nodes.\n"
    "\n"
    "The test `ln_onnx_domains` compares this page with the tables. To regenerate it, run\n"
    "`LN_UPDATE=1 meson test -C build ln_onnx_domains`.\n";

START_TEST(the_page_lists_all_operators)
{
    static list l;
    char *text = NULL;
    size_t size;
    ln_onnx_each_row(add, &l);
    qsort(l.entries, l.n, sizeof(l.entries[0]), compare);
    FILE *const out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    fputs(beginning, out);
    print_domains(out, &l);
    ck_assert_int_eq(fclose(out), 0);
    ln_assert_golden(text, getenv("LN_TEST_PAGE"));
    free(text);
}
END_TEST

START_TEST(each_unsupported_operator_has_a_reason)
{
    static list l;
    ln_onnx_each_row(add, &l);
    for (size_t i = 0; i < l.n; i++) {
        const ln_onnx_row *const row = l.entries[i].row;
        ck_assert_msg(row->translate || row->with, "%s.%s", l.entries[i].domain, row->op_type);
        ck_assert_int_ge(row->since, 1);
    }
}
END_TEST

LN_TEST_MAIN("onnx_domains", the_page_lists_all_operators, each_unsupported_operator_has_a_reason)
