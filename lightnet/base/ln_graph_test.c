// SPDX-License-Identifier: Apache-2.0
// Tests of graphs. Nodes and edges are strings; a graph is drawn as "ab bc", edges from a letter to
// a letter.

#include "lightnet/ln_graph.h"

#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_msg.h"

#include "ln_check.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

// The names of the nodes: one string for each letter.
static char *letter(char c)
{
    static char names[26][2];
    names[c - 'a'][0] = c;
    return names[c - 'a'];
}

// Returns new graph of the nodes in `nodes` and the edges in `edges`, both in order. NULL: no
// memory.
static ln_graph *draw(const char *nodes, const char *edges)
{
    ln_graph *graph = ln_graph_create(ln_str_cmp, ln_str_cmp);
    int failed = !graph;
    for (; !failed && *nodes; nodes++)
        failed = !ln_graph_add(graph, letter(*nodes));
    for (; !failed && *edges; edges += edges[2] ? 3 : 2)
        failed = ln_graph_link(graph, letter(edges[0]), letter(edges[1]), letter('e')) < 0;
    if (!failed)
        return graph;
    ln_graph_free(graph);
    return NULL;
}

static void print_str(FILE *fp, const void *str)
{
    fputs(str, fp);
}

static void check_text(ln_graph *graph, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    ck_assert_int_eq(ln_graph_fprint(fp, graph, print_str, print_str), 0);
    fclose(fp);
    ck_assert_str_eq(text, expected);
    free(text);
    ck_assert_int_eq(ln_graph_is_valid(graph), LN_TRUE);
}

// The layers as "ab|c".
static void check_layers(const ln_list *layers, const char *expected)
{
    char text[64] = "";
    for (; layers; layers = layers->next) {
        for (const ln_list *l = layers->data; l; l = l->next)
            strcat(text, ((const ln_graph_node *)l->data)->data);
        if (layers->next)
            strcat(text, "|");
    }
    ck_assert_str_eq(text, expected);
}

START_TEST(an_edge_is_listed_at_both_ends)
{
    ln_graph *graph = ln_graph_create(ln_str_cmp, ln_str_cmp);
    ln_graph_node *a = ln_graph_add(graph, letter('a')), *b = ln_graph_add(graph, letter('b'));
    ck_assert_int_eq(ln_graph_link_node(graph, a, b, letter('e')), 0);
    const ln_graph_edge_node *out = a->out_edge_nodes->data, *in = b->in_edge_nodes->data;
    ck_assert_ptr_eq(out->node, b);
    ck_assert_ptr_eq(in->node, a);
    ck_assert_str_eq(out->edge_data, "e");
    ck_assert_str_eq(in->edge_data, "e");
    ck_assert_uint_eq(a->outdegree, 1);
    ck_assert_uint_eq(a->indegree, 0);
    ck_assert_uint_eq(b->indegree, 1);
    ck_assert_uint_eq(graph->size, 2);
    ck_assert_int_eq(ln_graph_is_valid(graph), LN_TRUE);
    ln_graph_free(graph);
    ln_graph_free(NULL);
    ln_graph_node_free(NULL);
    ln_graph_edge_node_free(NULL);
}
END_TEST

START_TEST(first_node_with_equal_data_is_found)
{
    const char same[] = "b";
    ln_graph *graph = draw("abb", "");
    ck_assert_ptr_eq(ln_graph_find(graph, (void *)same), graph->nodes->next->data);
    ck_assert_ptr_null(ln_graph_find(graph, letter('c')));
    ln_graph_free(graph);
}
END_TEST

START_TEST(rejects_a_link_to_a_missing_node)
{
    ln_graph *graph = draw("ab", "ab");
    ck_assert_int_eq(ln_graph_link(graph, letter('x'), letter('a'), NULL), -1);
    ck_assert_str_eq(ln_last_error(),
                     "the graph has no node with the data of the edge's beginning");
    ck_assert_int_eq(ln_graph_link(graph, letter('a'), letter('x'), NULL), -1);
    ck_assert_str_eq(ln_last_error(), "the graph has no node with the data of the edge's end");
    check_text(graph, "a -> b (e)\nb\n");
    ln_graph_free(graph);
}
END_TEST

START_TEST(graph_is_printed_a_node_a_line)
{
    ln_graph *graph = draw("abc", "ab ac bc cc");
    check_text(graph, "a -> b (e), c (e)\nb -> c (e)\nc -> c (e)\n");
    char text[32] = "";
    FILE *fp = fmemopen(text, sizeof(text), "w");
    ck_assert_int_eq(ln_graph_fprint(fp, graph, print_str, NULL), 0);
    fclose(fp);
    ck_assert_str_eq(text, "a -> b, c\nb -> c\nc -> c\n");
    FILE *read_only = fopen("/dev/null", "r");
    ck_assert_int_eq(ln_graph_fprint(read_only, graph, print_str, NULL), -1);
    fclose(read_only);
    ln_graph_free(graph);
}
END_TEST

START_TEST(oldest_matching_edge_is_unlinked)
{
    char x1[] = "x", y[] = "y", x2[] = "x";
    ln_graph *graph = draw("ab", "");
    void *a = letter('a'), *b = letter('b');
    ln_graph_link(graph, a, b, x1);
    ln_graph_link(graph, a, b, y);
    ln_graph_link(graph, a, b, x2);
    ck_assert_ptr_null(ln_graph_unlink(graph, a, b, (void *)"z"));
    ck_assert_ptr_null(ln_graph_unlink(graph, b, a, NULL));
    ck_assert_ptr_null(ln_graph_unlink(graph, a, letter('c'), NULL));
    check_text(graph, "a -> b (x), b (y), b (x)\nb\n");
    ck_assert_ptr_eq(ln_graph_unlink(graph, a, b, (void *)"y"), y);
    check_text(graph, "a -> b (x), b (x)\nb\n");
    ck_assert_ptr_eq(ln_graph_unlink(graph, a, b, (void *)"x"), x1);
    check_text(graph, "a -> b (x)\nb\n");
    ck_assert_ptr_eq(ln_graph_unlink(graph, a, b, NULL), x2);
    check_text(graph, "a\nb\n");
    ln_graph_link(graph, a, b, y);
    check_text(graph, "a -> b (y)\nb\n");
    ln_graph_free(graph);
}
END_TEST

START_TEST(loop_is_linked_and_unlinked)
{
    ln_graph *graph = draw("a", "aa aa");
    ln_graph_node *a = graph->nodes->data;
    ck_assert_uint_eq(a->indegree, 2);
    ck_assert_ptr_eq(ln_graph_unlink_node(a, a, NULL), letter('e'));
    check_text(graph, "a -> a (e)\n");
    ck_assert_uint_eq(a->indegree, 1);
    ck_assert_uint_eq(a->outdegree, 1);
    ln_graph_free(graph);
}
END_TEST

START_TEST(node_is_removed_with_its_edges)
{
    const struct {
        char removed;
        const char *left;
    } rows[] = {
        {'a', "b -> b (e), c (e)\nc -> b (e)\n"},
        {'b', "a\nc -> a (e)\n"},
        {'c', "a -> b (e)\nb -> a (e), b (e)\n"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        ln_graph *graph = draw("abc", "ab ba bb bc cb ca");
        ln_graph_remove_node(graph, ln_graph_find(graph, letter(rows[i].removed)));
        check_text(graph, rows[i].left);
        ln_graph_add(graph, letter('z'));
        ck_assert_uint_eq(graph->size, 3);
        ck_assert_int_eq(ln_graph_is_valid(graph), LN_TRUE);
        ln_graph_free(graph);
    }
    ln_graph *graph = draw("a", "aa");
    ln_graph_remove_node(graph, graph->nodes->data);
    check_text(graph, "");
    ln_graph_free(graph);
}
END_TEST

START_TEST(copy_has_nodes_and_edges_of_its_own_in_order)
{
    ln_graph *graph = draw("abc", "cb ab ca ab bb");
    ln_graph *copy = ln_graph_copy(graph);
    const ln_graph_node *b = ln_graph_find(copy, letter('b'));
    const ln_graph_edge_node *first_in = b->in_edge_nodes->data;
    ck_assert_ptr_eq(first_in->node, ln_graph_find(copy, letter('c')));
    ln_graph_free(graph);
    check_text(copy, "a -> b (e), b (e)\nb -> b (e)\nc -> b (e), a (e)\n");
    ck_assert_int_eq(ln_graph_link(copy, letter('b'), letter('a'), letter('e')), 0);
    ck_assert_int_eq(ln_graph_is_valid(copy), LN_TRUE);
    ln_graph_free(copy);
}
END_TEST

START_TEST(outliers_have_no_edge_to_another_node)
{
    ln_graph *graph = draw("abcde", "ab cc");
    ck_assert_int_eq(ln_graph_num_outlier(graph), 3); // c, d, e
    ln_graph_free(graph);
    graph = draw("", "");
    ck_assert_int_eq(ln_graph_num_outlier(graph), 0);
    ln_graph_free(graph);
}
END_TEST

START_TEST(nodes_are_sorted_into_the_layer_after_their_last_predecessor)
{
    const struct {
        const char *nodes, *edges, *layers;
        int n;
    } rows[] = {
        {"", "", "", 0},
        {"a", "", "a", 1},
        {"cab", "", "cab", 1},
        {"abcd", "ab ac bd cd", "a|bc|d", 3},     // diamond
        {"abcd", "ac ab bd cd", "a|bc|d", 3},     // insertion order, not edge order
        {"dcba", "ab bc cd", "a|b|c|d", 4},       // against insertion order
        {"abcd", "ab bc cd ad ac", "a|b|c|d", 4}, // shortcuts
        {"abc", "ab ab bc ab", "a|b|c", 3},       // several edges
        {"xaybz", "ab", "xayz|b", 2},             // outliers
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        ln_graph *graph = draw(rows[i].nodes, rows[i].edges);
        ln_list *layers = (ln_list *)graph;
        ck_assert_int_eq(ln_graph_topsort(graph, &layers), rows[i].n);
        check_layers(layers, rows[i].layers);
        ln_graph_free_topsortlist(layers);
        ln_graph_free(graph);
    }
}
END_TEST

START_TEST(cycle_has_no_topological_order)
{
    const char *const edges[] = {"aa", "ab ba", "ab bc ca", "ab bc cb", "ba cb bc"};
    for (size_t i = 0; i < LEN(edges); i++) {
        ln_graph *graph = draw("abc", edges[i]);
        ln_list *layers = (ln_list *)graph;
        ck_assert_int_eq(ln_graph_topsort(graph, &layers), -1);
        ck_assert_ptr_null(layers);
        ck_assert_ptr_nonnull(strstr(ln_last_error(), "cycle"));
        ln_graph_free(graph);
    }
}
END_TEST

START_TEST(long_chain_is_built_sorted_and_copied)
{
    enum { N = 20000 };
    ln_graph *graph = ln_graph_create(NULL, NULL);
    ln_graph_node *last = NULL;
    for (size_t i = 0; i < N; i++) {
        ln_graph_node *node = ln_graph_add(graph, NULL);
        if (last)
            ck_assert_int_eq(ln_graph_link_node(graph, last, node, NULL), 0);
        last = node;
    }
    ln_graph *copy = ln_graph_copy(graph);
    ln_list *layers = NULL;
    ck_assert_int_eq(ln_graph_topsort(copy, &layers), N);
    ck_assert_int_eq(ln_graph_is_valid(copy), LN_TRUE);
    ln_graph_free_topsortlist(layers);
    ln_graph_free(copy);
    ln_graph_free(graph);
}
END_TEST

START_TEST(star_is_taken_apart_in_any_order_in_time_that_grows_with_its_size)
{
    // A quadratic step would exceed the test's time limit.
    enum { N = 50000 };
    ln_graph *graph = ln_graph_create(NULL, NULL);
    ln_graph_node *hub = ln_graph_add(graph, NULL);
    ln_graph_edge_node **outs = ln_alloc_array(N, sizeof(*outs));
    for (size_t i = 0; i < N; i++) {
        ln_graph_node *node = ln_graph_add(graph, NULL);
        outs[i] = ln_graph_add_edge(graph, hub, node, NULL);
        ck_assert_int_eq(ln_graph_link_node(graph, node, hub, NULL), 0);
    }
    for (size_t i = N; i-- > N / 2;)
        ln_graph_remove_edge(outs[i]);
    ck_assert_uint_eq(hub->outdegree, N / 2);
    ck_assert_int_eq(ln_graph_is_valid(graph), LN_TRUE);
    while (graph->last->data != hub && graph->size > 1)
        ln_graph_remove_node(graph, graph->last->data);
    ck_assert_uint_eq(hub->indegree, 0);
    ck_assert_uint_eq(hub->outdegree, 0);
    ln_free(outs);
    ln_graph_free(graph);
}
END_TEST

START_TEST(graph_survives_every_failing_allocation)
{
    ln_graph *graph = draw("abcd", "ab ac bd cd");
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        ln_list *layers = NULL;
        ln_alloc_fail_after(n);
        ln_graph *drawn = draw("abc", "ab ac bb");
        const ln_bool draw_failed = ln_alloc_fail_stop();
        ln_alloc_fail_after(n);
        ln_graph *copy = ln_graph_copy(graph);
        const ln_bool copy_failed = ln_alloc_fail_stop();
        ln_alloc_fail_after(n);
        const int n_layers = ln_graph_topsort(graph, &layers);
        const ln_bool sort_failed = ln_alloc_fail_stop();
        ck_assert_int_eq(drawn == NULL, draw_failed);
        ck_assert_int_eq(copy == NULL, copy_failed);
        ck_assert_int_eq(n_layers, sort_failed ? -1 : 3);
        ck_assert_int_eq(layers == NULL, sort_failed);
        ln_graph_free_topsortlist(layers);
        ln_graph_free(copy);
        ln_graph_free(drawn);
        failed = draw_failed || copy_failed || sort_failed;
    }
    ln_graph_free(graph);
}
END_TEST

START_TEST(failed_link_leaves_the_graph_as_before)
{
    ln_graph *graph = draw("ab", "ab");
    for (int n = 0; n < 2; n++) { // the ends of the edge
        ln_alloc_fail_after(n);
        ck_assert_int_eq(ln_graph_link(graph, letter('a'), letter('b'), letter('f')), -1);
        ck_assert_int_eq(ln_alloc_fail_stop(), LN_TRUE);
        check_text(graph, "a -> b (e)\nb\n");
    }
    ln_alloc_fail_after(0);
    ck_assert_ptr_null(ln_graph_add(graph, letter('c')));
    ck_assert_int_eq(ln_alloc_fail_stop(), LN_TRUE);
    check_text(graph, "a -> b (e)\nb\n");
    ln_graph_free(graph);
}
END_TEST

START_TEST(broken_graph_is_not_valid)
{
    ln_graph *graph = draw("ab", "ab ab");
    ln_graph_node *a = graph->nodes->data, *b = graph->last->data;
    ln_graph_edge_node *out = a->out_edge_nodes->data, *second = a->last_out->data;
    const struct {
        void *place;
        size_t size;
    } broken[] = {
        {&graph->size, sizeof(graph->size)},       {&graph->last, sizeof(graph->last)},
        {&a->outdegree, sizeof(a->outdegree)},     {&a->last_out, sizeof(a->last_out)},
        {&b->indegree, sizeof(b->indegree)},       {&b->before, sizeof(b->before)},
        {&out->edge_data, sizeof(out->edge_data)}, {&out->twin, sizeof(out->twin)},
        {&second->before, sizeof(second->before)},
    };
    for (size_t i = 0; i < LEN(broken); i++) {
        void *kept = ln_clone(broken[i].place, broken[i].size);
        memset(broken[i].place, 0, broken[i].size);
        ck_assert_int_eq(ln_graph_is_valid(graph), LN_FALSE);
        memcpy(broken[i].place, kept, broken[i].size);
        ln_free(kept);
        ck_assert_int_eq(ln_graph_is_valid(graph), LN_TRUE);
    }
    out->node = a;
    ck_assert_int_eq(ln_graph_is_valid(graph), LN_FALSE);
    out->node = b;
    ln_graph_free(graph);
}
END_TEST

LN_TEST_MAIN("graph", an_edge_is_listed_at_both_ends, first_node_with_equal_data_is_found,
             rejects_a_link_to_a_missing_node, graph_is_printed_a_node_a_line,
             oldest_matching_edge_is_unlinked, loop_is_linked_and_unlinked,
             node_is_removed_with_its_edges, copy_has_nodes_and_edges_of_its_own_in_order,
             outliers_have_no_edge_to_another_node,
             nodes_are_sorted_into_the_layer_after_their_last_predecessor,
             cycle_has_no_topological_order, long_chain_is_built_sorted_and_copied,
             star_is_taken_apart_in_any_order_in_time_that_grows_with_its_size,
             graph_survives_every_failing_allocation, failed_link_leaves_the_graph_as_before,
             broken_graph_is_not_valid)
