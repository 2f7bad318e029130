// SPDX-License-Identifier: Apache-2.0
// A directed graph as adjacency lists. Both ends of an edge list it; see ln_graph.h.

#include "lightnet/ln_graph.h"

#include <stdint.h>

#include "base/ln_list_end.h"
#include "base/ln_slab.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_msg.h"

// A node, or an end of an edge, is in one block with its node of the list that contains it.
struct node_block {
    ln_graph_node node;
    ln_list list_node;
    ln_slab *home;
};

struct end_block {
    ln_graph_edge_node end;
    ln_list list_node;
    ln_slab *home;
};

// Puts `list_node` after the last node of a list whose end is known.
static void append(ln_list **list, ln_list **last, ln_list *list_node)
{
    if (*last)
        (*last)->next = list_node;
    else
        *list = list_node;
    *last = list_node;
}

// Removes the node after `before`, the first when that is NULL.
static void remove_behind(ln_list **list, ln_list **last, ln_list *before)
{
    ln_list **link = before ? &before->next : list;
    *link = (*link)->next;
    if (!*link)
        *last = before;
}

ln_graph_node *ln_graph_node_create(void *data, ln_cmp_func node_data_cmp)
{
    ln_slab *home;
    struct node_block *block = ln_slab_alloc(LN_SLAB_GRAPH_NODES, sizeof(*block), &home);
    if (!block)
        return NULL;
    block->home = home;
    block->node.data = data;
    block->node.node_data_cmp = node_data_cmp ? node_data_cmp : ln_direct_cmp;
    block->list_node.data = &block->node;
    return &block->node;
}

static void free_ends(const ln_list *list_node)
{
    while (list_node) {
        ln_graph_edge_node *end = list_node->data;
        list_node = list_node->next;
        ln_graph_edge_node_free(end);
    }
}

void ln_graph_node_free(ln_graph_node *node)
{
    if (!node)
        return;
    free_ends(node->out_edge_nodes);
    free_ends(node->in_edge_nodes);
    ln_slab_free(node, 0, ((struct node_block *)node)->home);
}

ln_graph_edge_node *ln_graph_edge_node_create(void *edge_data, ln_graph_node *node,
                                              ln_cmp_func edge_data_cmp)
{
    ln_slab *home;
    struct end_block *block = ln_slab_alloc(LN_SLAB_GRAPH_EDGES, sizeof(*block), &home);
    if (!block)
        return NULL;
    block->home = home;
    block->end.edge_data = edge_data;
    block->end.node = node;
    block->end.edge_data_cmp = edge_data_cmp ? edge_data_cmp : ln_direct_cmp;
    block->list_node.data = &block->end;
    return &block->end;
}

void ln_graph_edge_node_free(ln_graph_edge_node *edge_node)
{
    if (edge_node)
        ln_slab_free(edge_node, 0, ((struct end_block *)edge_node)->home);
}

ln_graph *ln_graph_create(ln_cmp_func node_cmp, ln_cmp_func edge_cmp)
{
    ln_graph *graph = ln_alloc(sizeof(*graph));
    if (!graph)
        return NULL;
    graph->node_data_cmp = node_cmp ? node_cmp : ln_direct_cmp;
    graph->edge_data_cmp = edge_cmp ? edge_cmp : ln_direct_cmp;
    return graph;
}

void ln_graph_free(ln_graph *graph)
{
    if (!graph)
        return;
    for (const ln_list *list_node = graph->nodes; list_node;) {
        ln_graph_node *node = list_node->data;
        list_node = list_node->next;
        ln_graph_node_free(node);
    }
    ln_free(graph);
}

ln_graph_node *ln_graph_add(ln_graph *graph, void *data)
{
    ln_graph_node *node = ln_graph_node_create(data, graph->node_data_cmp);
    if (!node)
        return NULL;
    node->before = graph->last;
    append(&graph->nodes, &graph->last, &((struct node_block *)node)->list_node);
    graph->size++;
    return node;
}

// The edges of a node in one direction.
struct ends {
    ln_list **list; // of ln_graph_edge_node
    ln_list **last;
    size_t *degree;
};

static struct ends out_ends(ln_graph_node *node)
{
    return (struct ends){&node->out_edge_nodes, &node->last_out, &node->outdegree};
}

static struct ends in_ends(ln_graph_node *node)
{
    return (struct ends){&node->in_edge_nodes, &node->last_in, &node->indegree};
}

static struct ends ends_of(ln_graph_node *node, int outward)
{
    return outward ? out_ends(node) : in_ends(node);
}

// Returns borrowed; NULL: no memory.
static ln_graph_edge_node *append_end(struct ends ends, ln_graph_node *other, void *edge_data,
                                      ln_cmp_func cmp)
{
    ln_graph_edge_node *end = ln_graph_edge_node_create(edge_data, other, cmp);
    if (!end)
        return NULL;
    end->before = *ends.last;
    append(ends.list, ends.last, &((struct end_block *)end)->list_node);
    ++*ends.degree;
    return end;
}

// Removes an end and frees it.
static void remove_end(struct ends ends, ln_graph_edge_node *end)
{
    ln_list *before = end->before;
    remove_behind(ends.list, ends.last, before);
    const ln_list *behind = before ? before->next : *ends.list;
    if (behind)
        ((ln_graph_edge_node *)behind->data)->before = before;
    ln_graph_edge_node_free(end);
    --*ends.degree;
}

static void set_twins(ln_graph_edge_node *out, ln_graph_edge_node *in)
{
    out->twin = in;
    in->twin = out;
}

// The oldest edge from `node` to `other` with these data, any when NULL; NULL: none.
static ln_graph_edge_node *find_edge(const ln_graph_node *node, const ln_graph_node *other,
                                     const void *edge_data)
{
    LN_FOREACH (ln_graph_edge_node *, out, node->out_edge_nodes)
        if (out->node == other &&
            (!edge_data || out->edge_data_cmp(out->edge_data, edge_data) == 0))
            return out;
    return NULL;
}

void ln_graph_remove_node(ln_graph *graph, ln_graph_node *node)
{
    while (node->out_edge_nodes)
        ln_graph_remove_edge(node->out_edge_nodes->data);
    while (node->in_edge_nodes)
        ln_graph_remove_edge(((ln_graph_edge_node *)node->in_edge_nodes->data)->twin);
    ln_list *before = node->before;
    remove_behind(&graph->nodes, &graph->last, before);
    const ln_list *behind = before ? before->next : graph->nodes;
    if (behind)
        ((ln_graph_node *)behind->data)->before = before;
    graph->size--;
    ln_graph_node_free(node);
}

ln_graph_node *ln_graph_find(ln_graph *graph, void *data)
{
    LN_FOREACH (ln_graph_node *, node, graph->nodes)
        if (node->node_data_cmp(node->data, data) == 0)
            return node;
    return NULL;
}

// The first nodes with these data; -1 with a reason when one is missing.
static int find_both(ln_graph *graph, void *data1, void *data2, ln_graph_node **node1,
                     ln_graph_node **node2)
{
    *node1 = ln_graph_find(graph, data1);
    *node2 = ln_graph_find(graph, data2);
    if (*node1 && *node2)
        return 0;
    return ln_error_set(NULL, "the graph has no node with the data of the edge's %s",
                        *node1 ? "end" : "beginning");
}

int ln_graph_link(ln_graph *graph, void *data1, void *data2, void *edge_data)
{
    ln_graph_node *node1, *node2;
    if (find_both(graph, data1, data2, &node1, &node2) < 0)
        return -1;
    return ln_graph_link_node(graph, node1, node2, edge_data);
}

int ln_graph_link_node(ln_graph *graph, ln_graph_node *node1, ln_graph_node *node2, void *edge_data)
{
    return ln_graph_add_edge(graph, node1, node2, edge_data) ? 0 : -1;
}

ln_graph_edge_node *ln_graph_add_edge(ln_graph *graph, ln_graph_node *node1, ln_graph_node *node2,
                                      void *edge_data)
{
    ln_graph_edge_node *out = append_end(out_ends(node1), node2, edge_data, graph->edge_data_cmp);
    if (!out)
        return NULL;
    ln_graph_edge_node *in = append_end(in_ends(node2), node1, edge_data, graph->edge_data_cmp);
    if (!in) {
        remove_end(out_ends(node1), out);
        return NULL;
    }
    set_twins(out, in);
    return out;
}

void ln_graph_remove_edge(ln_graph_edge_node *out)
{
    ln_graph_edge_node *in = out->twin;
    ln_graph_node *from = in->node, *to = out->node;
    remove_end(out_ends(from), out);
    remove_end(in_ends(to), in);
}

void *ln_graph_unlink(ln_graph *graph, void *data1, void *data2, void *edge_data)
{
    ln_graph_node *node1, *node2;
    if (find_both(graph, data1, data2, &node1, &node2) < 0)
        return NULL;
    return ln_graph_unlink_node(node1, node2, edge_data);
}

void *ln_graph_unlink_node(ln_graph_node *node1, ln_graph_node *node2, void *edge_data)
{
    ln_graph_edge_node *out = find_edge(node1, node2, edge_data);
    void *removed = out ? out->edge_data : NULL;
    if (out)
        ln_graph_remove_edge(out);
    return removed;
}

// Returns new table from each node of the graph to its position in `nodes` (ln_hash_free).
static ln_hash *number_nodes(const ln_graph *graph)
{
    ln_hash *numbers = ln_hash_create(NULL, NULL, NULL, NULL);
    uintptr_t i = 0;
    LN_FOREACH (const ln_graph_node *, node, graph->nodes) {
        if (!numbers || ln_hash_insert(numbers, node, (void *)i++) < 0) {
            ln_hash_free(numbers);
            return NULL;
        }
    }
    return numbers;
}

// The state of copying a graph.
struct copying {
    ln_hash *nodes; // node -> its copy
    ln_hash *ends;  // edge node -> its copy
};

// Copies ends, and makes each the twin of the copy of its twin, if that exists already.
static int copy_ends(struct copying *copying, struct ends ends, const ln_list *list)
{
    LN_FOREACH (const ln_graph_edge_node *, edge, list) {
        ln_graph_node *other = ln_hash_find(copying->nodes, edge->node);
        ln_graph_edge_node *end = append_end(ends, other, edge->edge_data, edge->edge_data_cmp);
        if (!end || ln_hash_insert(copying->ends, edge, end) < 0)
            return -1;
        ln_graph_edge_node *twin = ln_hash_find(copying->ends, edge->twin);
        if (twin)
            set_twins(end, twin);
    }
    return 0;
}

// Copies nodes, then edges, into an empty graph.
static int copy_into(ln_graph *copy, const ln_graph *graph, struct copying *copying)
{
    LN_FOREACH (const ln_graph_node *, node, graph->nodes) {
        ln_graph_node *to = ln_graph_add(copy, node->data);
        if (!to || ln_hash_insert(copying->nodes, node, to) < 0)
            return -1;
    }
    LN_FOREACH (const ln_graph_node *, node, graph->nodes) {
        ln_graph_node *to = ln_hash_find(copying->nodes, node);
        if (copy_ends(copying, out_ends(to), node->out_edge_nodes) < 0 ||
            copy_ends(copying, in_ends(to), node->in_edge_nodes) < 0)
            return -1;
    }
    return 0;
}

ln_graph *ln_graph_copy(ln_graph *graph)
{
    ln_graph *copy = ln_graph_create(graph->node_data_cmp, graph->edge_data_cmp);
    struct copying copying = {.nodes = ln_hash_create(NULL, NULL, NULL, NULL),
                              .ends = ln_hash_create(NULL, NULL, NULL, NULL)};
    if (!copy || !copying.nodes || !copying.ends || copy_into(copy, graph, &copying) < 0) {
        ln_graph_free(copy);
        copy = NULL;
    }
    ln_hash_free(copying.nodes);
    ln_hash_free(copying.ends);
    return copy;
}

// Whether all edges in a list lead to `node` itself.
static int only_loops(const ln_list *edge_nodes, const ln_graph_node *node)
{
    while (edge_nodes && ((const ln_graph_edge_node *)edge_nodes->data)->node == node)
        edge_nodes = edge_nodes->next;
    return !edge_nodes;
}

int ln_graph_num_outlier(ln_graph *graph)
{
    int n = 0;
    LN_FOREACH (const ln_graph_node *, node, graph->nodes)
        n += only_loops(node->out_edge_nodes, node) && only_loops(node->in_edge_nodes, node);
    return n;
}

// The state of sorting for each node, by number.
struct node_state {
    ln_graph_node *node;
    size_t waits_for; // in edges from nodes without a layer
    size_t layer;     // final if waits_for is 0
};

struct sorting {
    ln_hash *numbers;
    struct node_state *states; // [size]
    size_t *ready;             // [size], nodes whose layer is final, in the order they were found
    size_t n_ready;
    size_t n_layers;
};

static int begin_sorting(struct sorting *sorting, const ln_graph *graph)
{
    sorting->numbers = number_nodes(graph);
    sorting->states = ln_alloc_array(graph->size, sizeof(*sorting->states));
    sorting->ready = ln_alloc_array(graph->size, sizeof(*sorting->ready));
    if (!sorting->numbers || !sorting->states || !sorting->ready)
        return -1;
    size_t i = 0;
    LN_FOREACH (ln_graph_node *, node, graph->nodes) {
        if (node->indegree == 0)
            sorting->ready[sorting->n_ready++] = i;
        sorting->states[i++] = (struct node_state){node, node->indegree, 0};
    }
    return 0;
}

// The successors of a node whose layer is final wait for one edge less, in a layer after it.
static void release_successors(struct sorting *sorting, const struct node_state *state)
{
    LN_FOREACH (const ln_graph_edge_node *, edge_node, state->node->out_edge_nodes) {
        const size_t i = (size_t)(uintptr_t)ln_hash_find(sorting->numbers, edge_node->node);
        struct node_state *next = &sorting->states[i];
        if (next->layer <= state->layer)
            next->layer = state->layer + 1;
        if (--next->waits_for == 0)
            sorting->ready[sorting->n_ready++] = i;
    }
}

static int assign_layers(struct sorting *sorting, const ln_graph *graph)
{
    for (size_t i = 0; i < sorting->n_ready; i++) {
        const struct node_state *state = &sorting->states[sorting->ready[i]];
        if (state->layer >= sorting->n_layers)
            sorting->n_layers = state->layer + 1;
        release_successors(sorting, state);
    }
    if (sorting->n_ready < graph->size)
        return ln_error_set(NULL,
                            "graph has a cycle: %zu of its %zu nodes are on a cycle or after one",
                            graph->size - sorting->n_ready, graph->size);
    return 0;
}

// Sorts the nodes by layer, and within a layer by number, from the last to the first: layers are
// filled from the end.
static int fill_layers(ln_list **tops, const struct sorting *sorting)
{
    for (size_t i = sorting->n_ready; i > 0; i--) {
        const struct node_state *state = &sorting->states[i - 1];
        if (ln_list_push(&tops[state->layer], state->node, NULL))
            return -1;
    }
    return 0;
}

// Joins n lists, n > 0 (takes them). NULL: no memory, they are still the caller's.
static ln_list *list_of_lists(ln_list *const *lists, size_t n)
{
    ln_list *list = NULL;
    for (size_t i = n; i > 0; i--)
        if (ln_list_push(&list, lists[i - 1], NULL)) {
            ln_list_free(list);
            return NULL;
        }
    return list;
}

static int collect_layers(const struct sorting *sorting, ln_list **layers)
{
    const size_t n = sorting->n_layers;
    ln_list **tops = ln_alloc_array(n, sizeof(ln_list *));
    if (!tops)
        return -1;
    if (fill_layers(tops, sorting) == 0)
        *layers = list_of_lists(tops, n);
    const int failed = n > 0 && !*layers;
    for (size_t i = 0; failed && i < n; i++)
        ln_list_free(tops[i]);
    ln_free(tops);
    return failed ? -1 : 0;
}

int ln_graph_topsort(ln_graph *graph, ln_list **layers)
{
    struct sorting sorting = {0};
    *layers = NULL;
    int n = -1;
    if (begin_sorting(&sorting, graph) == 0 && assign_layers(&sorting, graph) == 0 &&
        collect_layers(&sorting, layers) == 0)
        n = (int)sorting.n_layers;
    ln_hash_free(sorting.numbers);
    ln_free(sorting.states);
    ln_free(sorting.ready);
    return n;
}

static void free_layer(void *layer)
{
    ln_list_free(layer);
}

void ln_graph_free_topsortlist(ln_list *layers)
{
    ln_list_free_deep(layers, free_layer);
}

int ln_graph_fprint(FILE *fp, ln_graph *graph, ln_fprint_func print_node, ln_fprint_func print_edge)
{
    LN_FOREACH (const ln_graph_node *, node, graph->nodes) {
        print_node(fp, node->data);
        for (const ln_list *l = node->out_edge_nodes; l; l = l->next) {
            const ln_graph_edge_node *const edge = l->data;
            fputs(l == node->out_edge_nodes ? " -> " : ", ", fp);
            print_node(fp, edge->node->data);
            if (!print_edge)
                continue;
            fputs(" (", fp);
            print_edge(fp, edge->edge_data);
            fputc(')', fp);
        }
        fputc('\n', fp);
    }
    return ferror(fp) ? ln_error_set(NULL, "cannot write the graph") : 0;
}

// Whether a list has `len` nodes and ends with `last`.
static int is_list_of(const ln_list *list, size_t len, const ln_list *last)
{
    const ln_list *end = NULL;
    for (; list && len > 0; list = list->next, len--)
        end = list;
    return !list && len == 0 && end == last;
}

// Whether `end` and its twin, which must be in the list of the other node, agree.
static int matches_twin(const ln_graph_edge_node *end, const ln_graph_node *node, int outward)
{
    const ln_graph_edge_node *twin = end->twin;
    if (!twin || twin->twin != end || twin->node != node || twin->edge_data != end->edge_data)
        return 0;
    const ln_list *at = twin->before ? twin->before->next : *ends_of(end->node, !outward).list;
    return at && at->data == twin;
}

// Whether each edge of a node has the right `before`, and is also in the list of its other end.
static int ends_match(ln_graph_node *node, int outward, const ln_hash *numbers)
{
    const ln_list *before = NULL;
    for (ln_list *l = *ends_of(node, outward).list; l; before = l, l = l->next) {
        const ln_graph_edge_node *end = l->data;
        if (end->before != before || !ln_hash_find_extended(numbers, end->node, NULL, NULL) ||
            !matches_twin(end, node, outward))
            return 0;
    }
    return 1;
}

static int is_valid_node(ln_graph_node *node, const ln_list *before, const ln_hash *numbers)
{
    return node->before == before &&
           is_list_of(node->out_edge_nodes, node->outdegree, node->last_out) &&
           is_list_of(node->in_edge_nodes, node->indegree, node->last_in) &&
           ends_match(node, 1, numbers) && ends_match(node, 0, numbers);
}

ln_bool ln_graph_is_valid(const ln_graph *graph)
{
    if (!graph || !is_list_of(graph->nodes, graph->size, graph->last))
        return LN_FALSE;
    ln_hash *numbers = number_nodes(graph);
    int valid = numbers && (size_t)ln_hash_size(numbers) == graph->size;
    const ln_list *before = NULL;
    for (const ln_list *l = graph->nodes; valid && l; before = l, l = l->next)
        valid = is_valid_node(l->data, before, numbers);
    ln_hash_free(numbers);
    return valid;
}
