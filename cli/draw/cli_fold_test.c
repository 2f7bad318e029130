// SPDX-License-Identifier: Apache-2.0
// Tests of cli_fold: which repeated blocks of a graph are found.

#include "draw/cli_fold.h"

#include <stdlib.h>
#include <string.h>

#include "ln_check.h"

enum { MAX = 2000 };

// A chain: each box reads the one before it. A letter is a token.
static cli_folding chain_of(const char *letters, int *tokens, cli_edge *edges)
{
    const int n = (int)strlen(letters);
    for (int i = 0; i < n; i++) {
        tokens[i] = (unsigned char)letters[i];
        edges[i] = (cli_edge){i, i + 1, i};
    }
    return (cli_folding){.n = n, .tokens = tokens, .n_edges = n ? n - 1 : 0, .edges = edges};
}

static void check_group(const cli_folding *f, int i, cli_group expected)
{
    ck_assert_int_lt(i, f->n_groups);
    ck_assert_int_eq(f->groups[i].what, expected.what);
    ck_assert_int_eq(f->groups[i].first, expected.first);
    ck_assert_int_eq(f->groups[i].end, expected.end);
    ck_assert_int_eq(f->groups[i].parent, expected.parent);
    ck_assert_int_eq(f->groups[i].count, expected.count);
}

static cli_folding fold(const char *letters)
{
    static int tokens[MAX];
    static cli_edge edges[MAX];
    cli_folding f = chain_of(letters, tokens, edges);
    ck_assert_int_eq(cli_fold(&f), 0);
    return f;
}

START_TEST(equal_layers_are_a_repeat_with_copies)
{
    cli_folding f = fold("xabcabcabcy");
    check_group(&f, 0, (cli_group){CLI_REPEAT, 1, 10, -1, 3});
    check_group(&f, 1, (cli_group){CLI_COPY, 1, 4, 0, 0});
    check_group(&f, 3, (cli_group){CLI_COPY, 7, 10, 0, 0});
    ck_assert_int_eq(f.n_groups, 4);
    free(f.groups);
}
END_TEST

START_TEST(a_repeat_of_single_boxes_has_no_copies)
{
    cli_folding f = fold("xaaay");
    check_group(&f, 0, (cli_group){CLI_REPEAT, 1, 4, -1, 3});
    ck_assert_int_eq(f.n_groups, 1);
    free(f.groups);
}
END_TEST

START_TEST(copies_contain_repeats)
{
    cli_folding f = fold("abbbcabbbc");
    check_group(&f, 0, (cli_group){CLI_REPEAT, 0, 10, -1, 2});
    check_group(&f, 1, (cli_group){CLI_COPY, 0, 5, 0, 0});
    check_group(&f, 2, (cli_group){CLI_REPEAT, 1, 4, 1, 3});
    check_group(&f, 3, (cli_group){CLI_COPY, 5, 10, 0, 0});
    check_group(&f, 4, (cli_group){CLI_REPEAT, 6, 9, 3, 3});
    ck_assert_int_eq(f.n_groups, 5);
    free(f.groups);
}
END_TEST

START_TEST(what_saves_too_little_stays)
{
    const char *const rows[] = {"", "a", "aa", "abc", "aab", "abcdefgh"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cli_folding f = fold(rows[i]);
        ck_assert_msg(!f.n_groups, "%s: %d groups", rows[i], f.n_groups);
        free(f.groups);
    }
}
END_TEST

// Three branches of one producer: none reads the one before it.
START_TEST(branches_are_no_repeat)
{
    const int tokens[] = {'x', 'a', 'b', 'a', 'b', 'a', 'b', 'y'};
    const cli_edge edges[] = {{0, 1, 0}, {1, 2, 1}, {0, 3, 0}, {3, 4, 2}, {0, 5, 0},
                              {5, 6, 3}, {2, 7, 4}, {4, 7, 5}, {6, 7, 6}};
    cli_folding f = {.n = 8, .tokens = tokens, .n_edges = 9, .edges = edges};
    ck_assert_int_eq(cli_fold(&f), 0);
    ck_assert_int_eq(f.n_groups, 0);
    free(f.groups);
}
END_TEST

// n a b | n a b | n: the copies can begin at n or after it. In a layer that ends with n, one tensor
// leads to the next copy in both cases, and the last position wins.
START_TEST(the_normalization_at_the_end_belongs_to_the_layer)
{
    cli_folding f = fold("nabnabn");
    check_group(&f, 0, (cli_group){CLI_REPEAT, 1, 7, -1, 2});
    free(f.groups);
}
END_TEST

// The same with an edge around n and a: it crosses positions within the layer only.
START_TEST(copies_begin_where_the_fewest_tensors_pass)
{
    const int tokens[] = {'n', 'a', 'b', 'n', 'a', 'b', 'n'};
    const cli_edge edges[] = {{0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {3, 4, 4},
                              {2, 5, 3}, {4, 5, 5}, {5, 6, 6}};
    cli_folding f = {.n = 7, .tokens = tokens, .n_edges = 7, .edges = edges};
    ck_assert_int_eq(cli_fold(&f), 0);
    check_group(&f, 0, (cli_group){CLI_REPEAT, 0, 6, -1, 2});
    free(f.groups);
}
END_TEST

START_TEST(long_lists_become_parts)
{
    static int tokens[MAX];
    static cli_edge edges[MAX];
    for (int i = 0; i < MAX; i++) {
        tokens[i] = i;
        edges[i] = (cli_edge){i, i + 1, i};
    }
    cli_folding f = {.n = MAX, .tokens = tokens, .n_edges = MAX - 1, .edges = edges};
    ck_assert_int_eq(cli_fold(&f), 0);
    ck_assert_int_eq(f.n_groups, 20);
    check_group(&f, 0, (cli_group){CLI_PART, 0, 100, -1, 0});
    check_group(&f, 19, (cli_group){CLI_PART, 1900, 2000, -1, 0});
    free(f.groups);
}
END_TEST

// Groups and boxes directly within each group, or in none (the last element).
static int *count_items(const cli_folding *f)
{
    int *const items = calloc((size_t)f->n_groups + 1, sizeof(*items));
    int *const inner = malloc((size_t)f->n * sizeof(*inner)); // the innermost group of a box
    ck_assert(items && inner);
    for (int i = 0; i < f->n; i++)
        inner[i] = f->n_groups;
    for (int g = 0; g < f->n_groups; g++) {
        items[f->groups[g].parent < 0 ? f->n_groups : f->groups[g].parent]++;
        for (int i = f->groups[g].first; i < f->groups[g].end; i++)
            inner[i] = g;
    }
    for (int i = 0; i < f->n; i++)
        items[inner[i]]++;
    free(inner);
    return items;
}

// Of boxes without repeats, and of one that repeats.
START_TEST(no_group_has_more_than_300_items)
{
    static const int sizes[] = {300, 301, 29999, 30001, 100000, 250000};
    for (int i = 0; i < 12; i++) {
        const int n = sizes[i / 2];
        int *const tokens = calloc((size_t)n, sizeof(*tokens));
        cli_edge *const edges = calloc((size_t)n, sizeof(*edges));
        ck_assert(tokens && edges);
        for (int k = 0; k < n; k++) {
            tokens[k] = i % 2 ? 0 : k;
            edges[k] = (cli_edge){k, k + 1, k};
        }
        cli_folding f = {.n = n, .tokens = tokens, .n_edges = n - 1, .edges = edges};
        ck_assert_int_eq(cli_fold(&f), 0);
        int *const items = count_items(&f);
        for (int g = 0; g <= f.n_groups; g++)
            ck_assert_msg(items[g] <= 300, "%d boxes: group %d has %d items", n, g, items[g]);
        free(items);
        free(f.groups);
        free(edges);
        free(tokens);
    }
}
END_TEST

LN_TEST_MAIN("repeated blocks", equal_layers_are_a_repeat_with_copies,
             a_repeat_of_single_boxes_has_no_copies, copies_contain_repeats,
             what_saves_too_little_stays, branches_are_no_repeat,
             the_normalization_at_the_end_belongs_to_the_layer,
             copies_begin_where_the_fewest_tensors_pass, long_lists_become_parts,
             no_group_has_more_than_300_items)
