// SPDX-License-Identifier: Apache-2.0
// A directed graph as adjacency lists. An edge stands at both of its ends; see ln_graph.h.

#include "lightnet/ln_graph.h"

#include "lightnet/ln_hash.h"
#include "lightnet/ln_msg.h"

// Appends in constant time. `last` is the list's last node.
static int append(ln_list **list, ln_list **last, void *data)
{
    ln_list *node = ln_list_prepend(NULL, data);
    if (!node)
        return -1;
    if (*last)
        (*last)->next = node;
    else
        *list = node;
    *last = node;
    return 0;
}

// Removes the node behind `before` (NULL: the first). Returns its data.
static void *remove_after(ln_list **list, ln_list **last, ln_list *before)
{
    ln_list **link = before ? &before->next : list;
    void *data = (*link)->data;
    if (*link == *last)
        *last = before;
    *link = ln_list_remove_nth(*link, 0);
    return data;
}

ln_graph_node *ln_graph_node_create(void *data, ln_cmp_func node_data_cmp)
{
    ln_graph_node *node = ln_alloc(sizeof(*node));
    if (!node)
        return NULL;
    node->data = data;
    node->node_data_cmp = node_data_cmp ? node_data_cmp : ln_direct_cmp;
    return node;
}

static void free_edge_node(void *edge_node)
{
    ln_graph_edge_node_free(edge_node);
}

void ln_graph_node_free(ln_graph_node *node)
{
    if (!node)
        return;
    ln_list_free_deep(node->out_edge_nodes, free_edge_node);
    ln_list_free_deep(node->in_edge_nodes, free_edge_node);
    ln_free(node);
}

ln_graph_edge_node *ln_graph_edge_node_create(void *edge_data, ln_graph_node *node,
                                              ln_cmp_func edge_data_cmp)
{
    ln_graph_edge_node *edge_node = ln_alloc(sizeof(*edge_node));
    if (!edge_node)
        return NULL;
    edge_node->edge_data = edge_data;
    edge_node->node = node;
    edge_node->edge_data_cmp = edge_data_cmp ? edge_data_cmp : ln_direct_cmp;
    return edge_node;
}

void ln_graph_edge_node_free(ln_graph_edge_node *edge_node)
{
    ln_free(edge_node);
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

static void free_graph_node(void *node)
{
    ln_graph_node_free(node);
}

void ln_graph_free(ln_graph *graph)
{
    if (!graph)
        return;
    ln_list_free_deep(graph->nodes, free_graph_node);
    ln_free(graph);
}

ln_graph_node *ln_graph_add(ln_graph *graph, void *data)
{
    ln_graph_node *node = ln_graph_node_create(data, graph->node_data_cmp);
    if (!node)
        return NULL;
    node->before = graph->last;
    if (append(&graph->nodes, &graph->last, node)) {
        ln_graph_node_free(node);
        return NULL;
    }
    graph->size++;
    return node;
}

static int find_edge(const ln_list *edge_nodes, const ln_graph_node *other, const void *edge_data,
                     const ln_list **before)
{
    const ln_list *last = NULL;
    for (; edge_nodes; last = edge_nodes, edge_nodes = edge_nodes->next) {
        const ln_graph_edge_node *e = edge_nodes->data;
        if (e->node == other && (!edge_data || !e->edge_data_cmp(e->edge_data, edge_data))) {
            *before = last;
            return 1;
        }
    }
    return 0;
}

// The edge is known to stand at the other end too: its mirror is the edge with the very same data
// pointer, the oldest of them.
static void remove_in(ln_graph_node *node, const ln_graph_node *from, const void *edge_data)
{
    const ln_list *before = NULL;
    for (const ln_list *l = node->in_edge_nodes; l; before = l, l = l->next) {
        const ln_graph_edge_node *e = l->data;
        if (e->node != from || e->edge_data != edge_data)
            continue;
        ln_graph_edge_node_free(
            remove_after(&node->in_edge_nodes, &node->last_in, (ln_list *)before));
        node->indegree--;
        return;
    }
}

static void remove_out(ln_graph_node *node, const ln_graph_node *to, const void *edge_data)
{
    const ln_list *before = NULL;
    for (const ln_list *l = node->out_edge_nodes; l; before = l, l = l->next) {
        const ln_graph_edge_node *e = l->data;
        if (e->node != to || e->edge_data != edge_data)
            continue;
        ln_graph_edge_node_free(
            remove_after(&node->out_edge_nodes, &node->last_out, (ln_list *)before));
        node->outdegree--;
        return;
    }
}

static void remove_edges(ln_graph_node *node)
{
    while (node->out_edge_nodes) {
        const ln_graph_edge_node e = *(ln_graph_edge_node *)node->out_edge_nodes->data;
        ln_graph_unlink_node(node, e.node, NULL);
    }
    while (node->in_edge_nodes) {
        const ln_graph_edge_node e = *(ln_graph_edge_node *)node->in_edge_nodes->data;
        remove_out(e.node, node, e.edge_data);
        remove_in(node, e.node, e.edge_data);
    }
}

void ln_graph_remove_node(ln_graph *graph, ln_graph_node *node)
{
    remove_edges(node);
    ln_list *place = node->before ? node->before->next : graph->nodes;
    if (place->next)
        ((ln_graph_node *)place->next->data)->before = node->before;
    remove_after(&graph->nodes, &graph->last, node->before);
    graph->size--;
    ln_graph_node_free(node);
}

ln_graph_node *ln_graph_find(ln_graph *graph, void *data)
{
    ln_graph_node *node;
    LN_LIST_FOREACH(node, graph->nodes)
    {
        if (!graph->node_data_cmp(node->data, data))
            return node;
    }
    return NULL;
}

// The first nodes with these data. -1 with a reason when one is missing.
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
    if (find_both(graph, data1, data2, &node1, &node2))
        return -1;
    return ln_graph_link_node(graph, node1, node2, edge_data);
}

int ln_graph_link_node(ln_graph *graph, ln_graph_node *node1, ln_graph_node *node2, void *edge_data)
{
    ln_graph_edge_node *out = ln_graph_edge_node_create(edge_data, node2, graph->edge_data_cmp);
    ln_graph_edge_node *in = ln_graph_edge_node_create(edge_data, node1, graph->edge_data_cmp);
    ln_list *last_out = node1->last_out;
    if (!out || !in || append(&node1->out_edge_nodes, &node1->last_out, out))
        goto fail;
    if (append(&node2->in_edge_nodes, &node2->last_in, in)) {
        remove_after(&node1->out_edge_nodes, &node1->last_out, last_out);
        goto fail;
    }
    node1->outdegree++;
    node2->indegree++;
    return 0;
fail:
    ln_graph_edge_node_free(out);
    ln_graph_edge_node_free(in);
    return -1;
}

void *ln_graph_unlink(ln_graph *graph, void *data1, void *data2, void *edge_data)
{
    ln_graph_node *node1, *node2;
    if (find_both(graph, data1, data2, &node1, &node2))
        return NULL;
    return ln_graph_unlink_node(node1, node2, edge_data);
}

void *ln_graph_unlink_node(ln_graph_node *node1, ln_graph_node *node2, void *edge_data)
{
    const ln_list *before;
    if (!find_edge(node1->out_edge_nodes, node2, edge_data, &before))
        return NULL;
    ln_graph_edge_node *out =
        remove_after(&node1->out_edge_nodes, &node1->last_out, (ln_list *)before);
    void *found = out->edge_data;
    ln_graph_edge_node_free(out);
    node1->outdegree--;
    remove_in(node2, node1, found);
    return found;
}

// Copies the nodes without edges; *copies maps each node to its copy.
static int copy_nodes(ln_graph *graph, ln_graph *copy, ln_hash *copies)
{
    ln_graph_node *node;
    LN_LIST_FOREACH(node, graph->nodes)
    {
        ln_graph_node *twin = ln_graph_add(copy, node->data);
        if (!twin || ln_hash_insert(copies, node, twin) < 0)
            return -1;
    }
    return 0;
}

// Copies one side of the edges of all nodes, in order.
static int copy_edges(ln_graph *graph, const ln_hash *copies, int out)
{
    ln_graph_node *node;
    LN_LIST_FOREACH(node, graph->nodes)
    {
        ln_graph_node *twin = ln_hash_find(copies, node);
        const ln_graph_edge_node *e;
        LN_LIST_FOREACH(e, out ? node->out_edge_nodes : node->in_edge_nodes)
        {
            ln_graph_edge_node *edge = ln_graph_edge_node_create(
                e->edge_data, ln_hash_find(copies, e->node), e->edge_data_cmp);
            if (!edge || (out ? append(&twin->out_edge_nodes, &twin->last_out, edge)
                              : append(&twin->in_edge_nodes, &twin->last_in, edge))) {
                ln_graph_edge_node_free(edge);
                return -1;
            }
        }
        twin->outdegree = node->outdegree;
        twin->indegree = node->indegree;
    }
    return 0;
}

ln_graph *ln_graph_copy(ln_graph *graph)
{
    ln_graph *copy = ln_graph_create(graph->node_data_cmp, graph->edge_data_cmp);
    ln_hash *copies = ln_hash_create(NULL, NULL, NULL, NULL);
    const int failed = !copy || !copies || copy_nodes(graph, copy, copies) ||
                       copy_edges(graph, copies, 1) || copy_edges(graph, copies, 0);
    ln_hash_free(copies);
    if (!failed)
        return copy;
    ln_graph_free(copy);
    return NULL;
}

static int is_alone(const ln_graph_node *node)
{
    const ln_graph_edge_node *e;
    LN_LIST_FOREACH(e, node->out_edge_nodes)
    {
        if (e->node != node)
            return 0;
    }
    LN_LIST_FOREACH(e, node->in_edge_nodes)
    {
        if (e->node != node)
            return 0;
    }
    return 1;
}

int ln_graph_num_outlier(ln_graph *graph)
{
    const ln_graph_node *node;
    int n = 0;
    LN_LIST_FOREACH(node, graph->nodes)
    {
        n += is_alone(node);
    }
    return n;
}

/* Topological sort: Kahn's algorithm (Kahn 1962). `order` is a queue of positions of nodes whose
 * predecessors are all sorted. */

typedef struct sorter {
    ln_graph_node **nodes; // by position, the order of insertion
    size_t *waits;         // predecessors that are not sorted yet
    size_t *layer_of;      // the layer of each node
    size_t *order;
    ln_hash *position; // node -> position + 1
    size_t n;
    size_t n_layers;
} sorter;

static void free_sorter(sorter *s)
{
    ln_free(s->nodes);
    ln_free(s->waits);
    ln_free(s->layer_of);
    ln_free(s->order);
    ln_hash_free(s->position);
}

static int init_sorter(sorter *s, const ln_graph *graph)
{
    ln_graph_node *node;
    *s = (sorter){.n = 0};
    s->nodes = ln_alloc_array(graph->size, sizeof(*s->nodes));
    s->waits = ln_alloc_array(graph->size, sizeof(*s->waits));
    s->layer_of = ln_alloc_array(graph->size, sizeof(*s->layer_of));
    s->order = ln_alloc_array(graph->size, sizeof(*s->order));
    s->position = ln_hash_create(NULL, NULL, NULL, NULL);
    if (!s->nodes || !s->waits || !s->layer_of || !s->order || !s->position)
        return -1;
    LN_LIST_FOREACH(node, graph->nodes)
    {
        s->nodes[s->n] = node;
        s->waits[s->n] = node->indegree;
        if (ln_hash_insert(s->position, node, (void *)(s->n + 1)) < 0)
            return -1;
        s->n++;
    }
    return 0;
}

// Finds the layer of every node: one more than that of its last predecessor. -1 on a cycle.
static int find_layers(sorter *s)
{
    size_t n_ready = 0;
    for (size_t i = 0; i < s->n; i++)
        if (!s->waits[i])
            s->order[n_ready++] = i;
    for (size_t done = 0; done < n_ready; done++) {
        const size_t i = s->order[done];
        const ln_graph_edge_node *e;
        if (s->layer_of[i] >= s->n_layers)
            s->n_layers = s->layer_of[i] + 1;
        LN_LIST_FOREACH(e, s->nodes[i]->out_edge_nodes)
        {
            const size_t j = (size_t)ln_hash_find(s->position, e->node) - 1;
            if (s->layer_of[j] <= s->layer_of[i])
                s->layer_of[j] = s->layer_of[i] + 1;
            if (!--s->waits[j])
                s->order[n_ready++] = j;
        }
    }
    return n_ready == s->n ? 0 : ln_error_set(NULL, "the graph has a cycle");
}

// The layers as lists; from the last node to the first, so that prepending keeps the order of
// insertion. NULL without memory.
static ln_list *list_layers(const sorter *s)
{
    ln_list *layers = NULL;
    ln_list **heads = ln_alloc_array(s->n_layers, sizeof(*heads));
    int failed = !heads;
    for (size_t i = s->n; i-- > 0 && !failed;) {
        ln_list *longer = ln_list_prepend(heads[s->layer_of[i]], s->nodes[i]);
        failed = !longer;
        if (longer)
            heads[s->layer_of[i]] = longer;
    }
    for (size_t k = s->n_layers; k-- > 0 && heads;) {
        ln_list *longer = failed ? NULL : ln_list_prepend(layers, heads[k]);
        failed = !longer;
        if (longer)
            layers = longer;
        else
            ln_list_free(heads[k]);
    }
    ln_free(heads);
    if (!failed)
        return layers;
    ln_graph_free_topsortlist(layers);
    return NULL;
}

int ln_graph_topsort(ln_graph *graph, ln_list **layers)
{
    sorter s;
    *layers = NULL;
    int status = init_sorter(&s, graph) || find_layers(&s) ? -1 : (int)s.n_layers;
    if (status > 0 && !(*layers = list_layers(&s)))
        status = -1;
    free_sorter(&s);
    return status;
}

static void free_layer(void *layer)
{
    ln_list_free(layer);
}

void ln_graph_free_topsortlist(ln_list *layers)
{
    ln_list_free_deep(layers, free_layer);
}

static void print_edge_label(FILE *fp, const ln_graph_edge_node *e, ln_fprint_func print_edge)
{
    if (!print_edge)
        return;
    fputs(" (", fp);
    print_edge(fp, e->edge_data);
    fputs(")", fp);
}

int ln_graph_fprint(FILE *fp, ln_graph *graph, ln_fprint_func print_node, ln_fprint_func print_edge)
{
    const ln_graph_node *node;
    LN_LIST_FOREACH(node, graph->nodes)
    {
        const ln_graph_edge_node *e;
        const char *separator = " -> ";
        print_node(fp, node->data);
        LN_LIST_FOREACH(e, node->out_edge_nodes)
        {
            fputs(separator, fp);
            print_node(fp, e->node->data);
            print_edge_label(fp, e, print_edge);
            separator = ", ";
        }
        fputs("\n", fp);
    }
    return ferror(fp) ? ln_error_set(NULL, "the graph cannot be printed") : 0;
}

static size_t count_edges(const ln_list *edge_nodes, const ln_graph_node *other,
                          const void *edge_data)
{
    const ln_graph_edge_node *e;
    size_t n = 0;
    LN_LIST_FOREACH(e, edge_nodes)
    {
        n += e->node == other && e->edge_data == edge_data;
    }
    return n;
}

static int ends_in(const ln_list *list, const ln_list *last)
{
    while (list && list->next)
        list = list->next;
    return list == last;
}

static int node_is_valid(const ln_hash *nodes, const ln_graph_node *node)
{
    const ln_graph_edge_node *e;
    if ((size_t)ln_list_length(node->out_edge_nodes) != node->outdegree ||
        (size_t)ln_list_length(node->in_edge_nodes) != node->indegree ||
        !ends_in(node->out_edge_nodes, node->last_out) ||
        !ends_in(node->in_edge_nodes, node->last_in))
        return 0;
    LN_LIST_FOREACH(e, node->out_edge_nodes)
    {
        if (!ln_hash_find(nodes, e->node) ||
            count_edges(node->out_edge_nodes, e->node, e->edge_data) !=
                count_edges(e->node->in_edge_nodes, node, e->edge_data))
            return 0;
    }
    LN_LIST_FOREACH(e, node->in_edge_nodes)
    {
        if (!ln_hash_find(nodes, e->node) ||
            !count_edges(e->node->out_edge_nodes, node, e->edge_data))
            return 0;
    }
    return 1;
}

// Returns new set of the graph's nodes (ln_hash_free); NULL with a reason: no memory.
static ln_hash *create_node_set(const ln_graph *graph)
{
    ln_hash *nodes = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    for (const ln_list *l = graph->nodes; nodes && l; l = l->next) {
        if (ln_hash_insert(nodes, l->data, l->data) < 0) {
            ln_hash_free(nodes);
            return NULL;
        }
    }
    return nodes;
}

static ln_bool nodes_are_valid(const ln_graph *graph, const ln_hash *nodes)
{
    const ln_list *before = NULL;
    for (const ln_list *l = graph->nodes; l; before = l, l = l->next) {
        const ln_graph_node *node = l->data;
        if (node->before != before || !node_is_valid(nodes, node))
            return LN_FALSE;
    }
    return LN_TRUE;
}

ln_bool ln_graph_is_valid(const ln_graph *graph)
{
    if (!graph || (size_t)ln_list_length(graph->nodes) != graph->size ||
        !ends_in(graph->nodes, graph->last))
        return LN_FALSE;
    ln_hash *nodes = create_node_set(graph);
    const ln_bool valid = nodes && nodes_are_valid(graph, nodes);
    ln_hash_free(nodes);
    return valid;
}
