// SPDX-License-Identifier: Apache-2.0
// A directed graph as adjacency lists; loops and several edges between two nodes are allowed.
//
// Each edge has two ends: an edge from u to v with data e is an edge node (e, v) in
// u's out_edge_nodes and one (e, u) in v's in_edge_nodes, each the `twin` of the
// other. All lists are in the order of insertion, so the k-th edge from u to v is
// the same one at both ends. A graph keeps node data and edge data and never frees
// them. Programs may read the structs, but change them only through these functions.
//
//     ln_graph *graph = ln_graph_create(ln_str_cmp, ln_str_cmp);
//     ln_graph_node *conv = ln_graph_add(graph, "conv"), *relu = ln_graph_add(graph, "relu");
//     ln_graph_link_node(graph, conv, relu, "conv_out");

#ifndef LN_GRAPH_H
#define LN_GRAPH_H

#include <stddef.h>
#include <stdio.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_util.h"

LN_BEGIN_DECLS

typedef struct ln_graph_node {
    void *data;
    ln_list *out_edge_nodes; // of ln_graph_edge_node
    ln_list *in_edge_nodes;  // of ln_graph_edge_node
    ln_cmp_func node_data_cmp;
    size_t indegree;
    size_t outdegree;
    ln_list *last_out;      // the last of out_edge_nodes, or NULL
    ln_list *last_in;       // the last of in_edge_nodes, or NULL
    ln_list *before;        // in front of this one in the graph's nodes; NULL: first, or in none
    struct ln_ports *ports; // of a data flow graph: its operator's inputs and outputs
} ln_graph_node;

/** One end of an edge: its data, and the node at the other end. */
typedef struct ln_graph_edge_node {
    void *edge_data;
    ln_graph_node *node;
    ln_cmp_func edge_data_cmp;
    struct ln_graph_edge_node *twin; // the edge's other end; NULL: in no graph
    ln_list *before; // in front of this one in the list of its end; NULL: first, or in none
} ln_graph_edge_node;

typedef struct ln_graph {
    size_t size;    // nodes
    ln_list *nodes; // of ln_graph_node
    ln_cmp_func node_data_cmp;
    ln_cmp_func edge_data_cmp;
    ln_list *last; // the last of nodes, or NULL
} ln_graph;

/** Returns new node in no graph (ln_graph_node_free); NULL with a reason. node_data_cmp NULL:
 * compares pointers. */
LN_API ln_graph_node *ln_graph_node_create(void *data, ln_cmp_func node_data_cmp);
/** Frees a node that is in no graph, and its edge nodes. Ignores NULL. */
LN_API void ln_graph_node_free(ln_graph_node *node);
/** Returns new edge node (ln_graph_edge_node_free); NULL with a reason. edge_data_cmp NULL:
 * compares pointers. */
LN_API ln_graph_edge_node *ln_graph_edge_node_create(void *edge_data, ln_graph_node *node,
                                                     ln_cmp_func edge_data_cmp);
/** Frees an edge node, not the node it leads to. Ignores NULL. */
LN_API void ln_graph_edge_node_free(ln_graph_edge_node *edge_node);

/** Returns new empty graph (ln_graph_free); NULL with a reason. Node data are equal
 * if node_cmp returns 0, edge data if edge_cmp does; NULL: compares pointers. */
LN_API ln_graph *ln_graph_create(ln_cmp_func node_cmp, ln_cmp_func edge_cmp);
/** Frees the graph, its nodes and edges. Ignores NULL. */
LN_API void ln_graph_free(ln_graph *graph);

/** Adds a node after the others, also if one has equal data. O(1). Returns borrowed,
 * until it is removed; NULL with a reason, the graph is then as before. */
LN_API ln_graph_node *ln_graph_add(ln_graph *graph, void *data);
/** Removes a node of the graph with all its edges and frees it. */
LN_API void ln_graph_remove_node(ln_graph *graph, ln_graph_node *node);
/** The first node whose data are equal to `data`, or NULL. O(nodes). */
LN_API ln_graph_node *ln_graph_find(ln_graph *graph, void *data);

/** Adds an edge from the first node with data1 to the first with data2. Returns 0; -1 with a
 * reason: no such node, no memory; the graph is then as before. */
LN_API int ln_graph_link(ln_graph *graph, void *data1, void *data2, void *edge_data);
/** Adds an edge from node1 to node2, both of the graph. O(1). Returns 0; -1 with a reason: no
 * memory, as before. */
LN_API int ln_graph_link_node(ln_graph *graph, ln_graph_node *node1, ln_graph_node *node2,
                              void *edge_data);
/** As ln_graph_link_node. Returns borrowed: the edge's end in node1's out_edge_nodes, until the
 * edge is removed; NULL with a reason. */
LN_API ln_graph_edge_node *ln_graph_add_edge(ln_graph *graph, ln_graph_node *node1,
                                             ln_graph_node *node2, void *edge_data);
/** Removes the edge of which `out` is the end in an out_edge_nodes list. O(1). */
LN_API void ln_graph_remove_edge(ln_graph_edge_node *out);
/** ln_graph_unlink_node for the first nodes with data1 and data2; NULL also when there is no such
 * node. */
LN_API void *ln_graph_unlink(ln_graph *graph, void *data1, void *data2, void *edge_data);
/** Removes the oldest edge from node1 to node2 with equal edge data, or with any when edge_data is
 * NULL. Returns the removed edge's data, or NULL without such an edge. O(out edges of node1). */
LN_API void *ln_graph_unlink_node(ln_graph_node *node1, ln_graph_node *node2, void *edge_data);

/** Returns new graph with the same node data, edges and order of both (ln_graph_free); NULL with a
 * reason. */
LN_API ln_graph *ln_graph_copy(ln_graph *graph);
/** The number of nodes without an edge from or to another node. */
LN_API int ln_graph_num_outlier(ln_graph *graph);
/** Sorts the graph topologically: *layers becomes a new list of layers (ln_graph_free_topsortlist),
 * each a list of borrowed ln_graph_node in the order of insertion. A node is in the layer after
 * the last of its predecessors, in the first layer when it has none. Returns the number of layers,
 * 0 for an empty graph; -1 with a reason and *layers NULL: a cycle, no memory. O(nodes + edges).
 * Source: Kahn, Topological sorting of large networks, 1962. */
LN_API int ln_graph_topsort(ln_graph *graph, ln_list **layers);
/** Frees the layers of ln_graph_topsort. Ignores NULL. */
LN_API void ln_graph_free_topsortlist(ln_list *layers);

/** Prints a line for each node, in order: "NODE -> NEXT (EDGE), NEXT (EDGE)", or "NODE" alone when
 * it has no out edge. print_edge NULL leaves out " (EDGE)". Returns 0; -1 with a reason: the stream
 * could not be written. */
LN_API int ln_graph_fprint(FILE *fp, ln_graph *graph, ln_fprint_func print_node,
                           ln_fprint_func print_edge);
/** Whether sizes, degrees and the ends of lists are right, and both nodes of each edge, nodes of
 * the graph, list it. No memory for the check counts as invalid. O(nodes + edges). */
LN_API ln_bool ln_graph_is_valid(const ln_graph *graph);

LN_END_DECLS

#endif
