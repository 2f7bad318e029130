// SPDX-License-Identifier: Apache-2.0
// The graph of operators in SVG, drawn in layers.
//
// An operator's layer is the length of the longest path to it. Within a layer the order follows the
// mean position of the neighbours in the layers before and after (barycentres), in some sweeps down
// and up. An edge that spans several layers bends around the nodes between. Source: Sugiyama,
// Tagawa, Toda: Methods for Visual Understanding of Hierarchical System Structures, IEEE
// Transactions on Systems, Man, and Cybernetics 11 (2), 1981.

#include <stdio.h>
#include <stdlib.h>

#include "draw/cli_svg.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"

enum { WIDTH = 150, HEIGHT = 34, GAP_X = 30, GAP_Y = 30, MARGIN = 20, SWEEPS = 8, LABEL = 24 };

typedef struct node {
    const ln_op *op;
    int layer;
    double position; // in its layer, 0: the middle
    double sum;      // of its neighbours' positions, and their number
    int count;
} node;

// A node of a layer while that is sorted.
typedef struct key {
    double mean, position; // the mean position of its neighbours, and its own
    int node;
} key;

typedef struct edge {
    int from, to;
    const char *tensor;
} edge;

typedef struct graph {
    const ln_context *ctx;
    node *nodes;
    edge *edges;
    int n, n_edges, n_layers;
    double width;   // of the diagram
    int *order;     // nodes by layer, then by position
    int *layers;    // the index in it at which each layer begins, and its length
    key *keys;      // of a layer
    ln_hash *index; // operator name -> node + 1
} graph;

// The graph

// Constants are hidden: they would be most of the diagram.
static int is_hidden(const ln_context *ctx, const ln_op *op)
{
    const ln_list *outs = op->op_arg->tensors_out;
    if (op->op_arg->tensors_in || !outs)
        return 0;
    return ln_entry_of(outs->data, ctx->tensor_table)->isconst;
}

static int allocate(graph *g)
{
    const size_t n = (size_t)ln_list_length(g->ctx->ops) + 2;
    size_t n_inputs = 0;
    LN_FOREACH (const ln_op *, op, g->ctx->ops)
        n_inputs += (size_t)ln_list_length(op->op_arg->tensors_in);
    g->nodes = calloc(n, sizeof(*g->nodes));
    g->edges = calloc(n_inputs + 1, sizeof(*g->edges));
    g->order = calloc(n, sizeof(*g->order));
    g->layers = calloc(n, sizeof(*g->layers));
    g->keys = calloc(n, sizeof(*g->keys));
    g->index = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    return g->nodes && g->edges && g->order && g->layers && g->keys && g->index ? 0
                                                                                : cli_fail_memory();
}

// Operators come after those they read.
static int add_node(graph *g, const ln_op *op)
{
    node *v = &g->nodes[g->n];
    *v = (struct node){.op = op};
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const ln_op *producer = ln_context_creater(g->ctx, tle->name);
        const int from =
            producer ? (int)(size_t)ln_hash_find(g->index, producer->op_arg->name) - 1 : -1;
        if (from < 0)
            continue;
        g->edges[g->n_edges++] = (edge){from, g->n, tle->name};
        if (g->nodes[from].layer >= v->layer)
            v->layer = g->nodes[from].layer + 1;
    }
    if (v->layer >= g->n_layers)
        g->n_layers = v->layer + 1;
    g->n++;
    return ln_hash_insert(g->index, op->op_arg->name, (void *)(size_t)g->n) < 0 ? cli_fail_memory()
                                                                                : 0;
}

// Layers

static void set_positions(const graph *g, int layer)
{
    const int begin = g->layers[layer], end = g->layers[layer + 1];
    for (int i = begin; i < end; i++)
        g->nodes[g->order[i]].position = i - begin - (end - begin - 1) / 2.0;
}

// Sorts the nodes by layer, by counting.
static void fill_layers(const graph *g)
{
    int *const next = g->layers + 1; // the index of each layer's next node; at last the layer's end
    for (int i = 0; i < g->n; i++)
        next[g->nodes[i].layer + 1]++;
    for (int l = 0; l < g->n_layers; l++)
        next[l + 1] += next[l];
    for (int i = 0; i < g->n; i++)
        g->order[next[g->nodes[i].layer]++] = i;
    for (int l = 0; l < g->n_layers; l++)
        set_positions(g, l);
}

static int compare_keys(const void *a, const void *b)
{
    const key *x = a, *y = b;
    if (x->mean != y->mean)
        return x->mean < y->mean ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

static void sort_layer(const graph *g, int layer)
{
    int *order = g->order + g->layers[layer];
    const int n = g->layers[layer + 1] - g->layers[layer];
    for (int i = 0; i < n; i++) {
        const node *v = &g->nodes[order[i]];
        g->keys[i] = (key){v->count ? v->sum / v->count : v->position, v->position, order[i]};
    }
    qsort(g->keys, (size_t)n, sizeof(*g->keys), compare_keys);
    for (int i = 0; i < n; i++)
        order[i] = g->keys[i].node;
    set_positions(g, layer);
}

static void sweep(const graph *g, int down)
{
    for (node *v = g->nodes; v < g->nodes + g->n; v++)
        v->sum = v->count = 0;
    // The positions of the producers, or of the readers, of each node.
    for (const edge *e = g->edges; e < g->edges + g->n_edges; e++) {
        node *v = &g->nodes[down ? e->to : e->from];
        v->sum += g->nodes[down ? e->from : e->to].position;
        v->count++;
    }
    for (int l = 0; l < g->n_layers; l++)
        sort_layer(g, l);
}

static double find_width(const graph *g)
{
    int max = 1; // nodes in a layer
    for (int l = 0; l < g->n_layers; l++)
        if (g->layers[l + 1] - g->layers[l] > max)
            max = g->layers[l + 1] - g->layers[l];
    return max * (WIDTH + GAP_X) + 2.0 * MARGIN + WIDTH;
}

// Drawing

static double x_of(const graph *g, const node *v)
{
    return g->width / 2 + v->position * (WIDTH + GAP_X);
}

static double y_of(const node *v)
{
    return MARGIN + v->layer * (double)(HEIGHT + GAP_Y);
}

static void draw_edge(const graph *g, const edge *e)
{
    const node *from = &g->nodes[e->from], *to = &g->nodes[e->to];
    const double x = x_of(g, from), y = y_of(from) + HEIGHT, to_x = x_of(g, to), to_y = y_of(to);
    const int span = to->layer - from->layer;
    cli_print("<path class=\"e\" d=\"M%.1f %.1f", x, y);
    if (span == 1)
        cli_print("C%.1f %.1f %.1f %.1f", x, y + GAP_Y / 2.0, to_x, to_y - GAP_Y / 2.0);
    else {
        const double side = (x > to_x ? x : to_x) + WIDTH * 0.7 + (span < 10 ? span : 10) * 3;
        cli_print("C%.1f %.1f %.1f %.1f", side, y + GAP_Y, side, to_y - GAP_Y);
    }
    cli_print(" %.1f %.1f\"><title>", to_x, to_y);
    cli_svg_tensor(ln_tensor_table_find(g->ctx->tensor_table, e->tensor));
    cli_print("</title></path>\n");
}

static const ln_tensor_entry *output_of(const graph *g, const ln_op *op)
{
    const ln_list *outs = op->op_arg->tensors_out;
    return outs ? ln_entry_of(outs->data, g->ctx->tensor_table) : NULL;
}

static void draw_title(const graph *g, const ln_op *op)
{
    cli_print("<title>");
    cli_svg_text(op->op_arg->name, LN_MAX_NAME_LEN);
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        cli_print("\n");
        cli_svg_text(tle->arg_name, LN_MAX_NAME_LEN);
        cli_print(" ");
        cli_svg_tensor(ln_entry_of(tle, g->ctx->tensor_table));
    }
    cli_print("</title>");
}

static void draw_node(const graph *g, const node *v)
{
    char shape[LN_MAX_SHAPE] = "";
    const double x = x_of(g, v), y = y_of(v);
    const ln_tensor_entry *te = output_of(g, v->op);
    const int is_source = !v->op->op_arg->tensors_in;
    const char *class = is_source ? "i" : te && ln_entry_is_output(te) ? "o" : "n";
    const char *label = is_source && te ? te->name : v->op->op_arg->optype;
    if (te)
        ln_sprint_shape(shape, sizeof(shape), te->tensor->ndim, te->tensor->dims);
    cli_print("<g class=\"%s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"5\"/>"
              "<text x=\"%.1f\" y=\"%.1f\">",
              class, x - WIDTH / 2.0, y, WIDTH, HEIGHT, x, y + 14);
    cli_svg_text(label, LABEL);
    cli_print("</text><text class=\"s\" x=\"%.1f\" y=\"%.1f\">", x, y + 27);
    cli_svg_text(shape, LABEL);
    cli_print("</text>");
    draw_title(g, v->op);
    cli_print("</g>\n");
}

static void draw(const graph *g)
{
    cli_svg_begin(g->width, 2.0 * MARGIN + g->n_layers * (double)(HEIGHT + GAP_Y),
                  "text{text-anchor:middle}.s{fill:#555;font-size:10px}.e{fill:none;stroke:#888}"
                  ".n rect{fill:#eef3fb;stroke:#4a6fa5}.i rect{fill:#e8f5e9;stroke:#388e3c}"
                  ".o rect{fill:#fff3e0;stroke:#ef6c00}");
    for (int i = 0; i < g->n_edges; i++)
        draw_edge(g, &g->edges[i]);
    for (int i = 0; i < g->n; i++)
        draw_node(g, &g->nodes[i]);
    cli_svg_end();
}

int cli_svg_graph(const ln_context *ctx)
{
    graph g = {.ctx = ctx};
    int status = allocate(&g);
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (!status && !is_hidden(ctx, op))
            status = add_node(&g, op);
    if (!status) {
        fill_layers(&g);
        for (int i = 0; i < SWEEPS; i++)
            sweep(&g, i % 2 == 0);
        g.width = find_width(&g);
        draw(&g);
    }
    free(g.nodes);
    free(g.edges);
    free(g.order);
    free(g.layers);
    free(g.keys);
    ln_hash_free(g.index);
    return status;
}
