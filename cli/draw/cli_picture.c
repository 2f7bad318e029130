// SPDX-License-Identifier: Apache-2.0
// The layout of a graph on paper.

#include "draw/cli_picture.h"

#include <math.h>
#include <stdlib.h>

enum { GAP_X = 22, GAP_Y = 22, COLUMN_MAX = 2400 };

const cli_box *cli_picture_box(const cli_picture *p, const cli_item *i)
{
    return i->group ? NULL : &p->graph->boxes[i->first];
}

void cli_picture_free(cli_picture *p)
{
    if (!p)
        return;
    for (int i = 0; p->items && i < p->n; i++)
        cli_picture_free(p->items[i].inner);
    cli_layers_free(&p->layers);
    free(p->items);
    free(p->nodes);
    free(p->links);
    free(p);
}

// Items

static cli_picture *make_picture(const cli_graph *graph, int first, int end, int parent,
                                 int is_inner);

// The picture of the first copy of a repeat. NULL: no memory.
static cli_picture *picture_copy(const cli_graph *graph, int repeat)
{
    const cli_group *const groups = graph->folding.groups, *const g = &groups[repeat];
    const int len = (g->end - g->first) / g->count;
    int copy = repeat;
    while (len > 1 && groups[copy].what != CLI_COPY)
        copy++;
    return make_picture(graph, g->first, g->first + len, copy, 1);
}

static int add_group(cli_picture *p, int group)
{
    const cli_group *const g = &p->graph->folding.groups[group];
    cli_item *const made = &p->items[p->n++];
    *made = (cli_item){g->first, g->end, g, NULL};
    if (g->what != CLI_REPEAT)
        return 0;
    made->inner = picture_copy(p->graph, group);
    return made->inner ? 0 : -1;
}

// Groups of `parent` follow it, the outer ones first.
static int add_items(cli_picture *p, int parent)
{
    const cli_folding *const f = &p->graph->folding;
    int g = parent + 1;
    for (int i = p->first; i < p->end; i = p->items[p->n - 1].end) {
        while (g < f->n_groups && (f->groups[g].parent != parent || f->groups[g].first < i))
            g++;
        if (g < f->n_groups && f->groups[g].first == i && f->groups[g].end <= p->end) {
            if (add_group(p, g))
                return -1;
        } else
            p->items[p->n++] = (cli_item){i, i + 1, NULL, NULL};
    }
    return 0;
}

// Links

typedef struct linking {
    cli_picture *p;
    int *nodes; // [box - first]: its node
    int *seen;  // [node]: the last one that it has a link to
} linking;

static int node_of(const linking *l, int box)
{
    const cli_picture *const p = l->p;
    return box < p->first ? 0 : box >= p->end ? p->n + 1 : l->nodes[box - p->first];
}

static void add_link(const linking *l, int from, int to)
{
    if (from >= to || l->seen[from] == to)
        return;
    l->seen[from] = to;
    l->p->links[l->p->layers.n_links++] = (cli_link){from, to};
}

static void add_links(const linking *l)
{
    cli_picture *const p = l->p;
    const cli_folding *const f = &p->graph->folding;
    for (int i = 0; i < p->n; i++)
        for (int b = p->items[i].first; b < p->items[i].end; b++)
            l->nodes[b - p->first] = i + 1;
    for (int e = 0; e < f->n_edges; e++)
        if (f->edges[e].from < p->end && f->edges[e].to >= p->first &&
            (p->is_inner || f->edges[e].to < p->end) &&
            (f->edges[e].from >= p->first || f->edges[e].to < p->end))
            add_link(l, node_of(l, f->edges[e].from), node_of(l, f->edges[e].to));
    p->n_links = p->layers.n_links;
    for (int i = 1; i <= p->n && p->is_inner; i++)
        add_link(l, i, p->n + 1);
}

static int link_items(cli_picture *p)
{
    const size_t n_boxes = (size_t)(p->end - p->first) + 1, n = (size_t)p->n + 2;
    linking l = {p, calloc(n_boxes, sizeof(*l.nodes)), calloc(n, sizeof(*l.seen))};
    p->links = calloc((size_t)p->graph->folding.n_edges + n, sizeof(*p->links));
    const int failed = !l.nodes || !l.seen || !p->links;
    if (!failed)
        add_links(&l);
    free(l.nodes);
    free(l.seen);
    return failed ? -1 : 0;
}

// Sizes

static double width_of(const cli_item *i)
{
    const double inner = i->inner ? i->inner->layers.width + 2 * CLI_PICTURE_PAD : 0;
    return inner > CLI_PICTURE_WIDTH ? inner : CLI_PICTURE_WIDTH;
}

static double height_of(const cli_picture *p, const cli_item *i)
{
    const cli_box *const box = cli_picture_box(p, i);
    return i->inner ? i->inner->layers.height + CLI_PICTURE_HEAD + CLI_PICTURE_PAD
           : box && box->what != CLI_BOX_OP ? CLI_PICTURE_PORT
                                            : CLI_PICTURE_HEIGHT;
}

static int layout(cli_picture *p)
{
    p->nodes = calloc((size_t)p->n + 2, sizeof(*p->nodes));
    if (!p->nodes)
        return -1;
    for (int i = 0; i < p->n; i++) {
        p->nodes[i + 1].width = width_of(&p->items[i]);
        p->nodes[i + 1].height = height_of(p, &p->items[i]);
    }
    p->layers.n = p->n + 2;
    p->layers.nodes = p->nodes;
    p->layers.links = p->links;
    p->layers.gap_x = GAP_X;
    p->layers.gap_y = GAP_Y;
    return cli_layers_find(&p->layers);
}

static cli_picture *make_picture(const cli_graph *graph, int first, int end, int parent,
                                 int is_inner)
{
    cli_picture *const p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    *p = (cli_picture){
        .graph = graph, .first = first, .end = end, .is_inner = is_inner, .n_columns = 1};
    p->items = calloc((size_t)(end - first) + 1, sizeof(*p->items));
    if (p->items && !add_items(p, parent) && !link_items(p) && !layout(p))
        return p;
    cli_picture_free(p);
    return NULL;
}

// Columns

// Edges that pass below a row.
static int crossing(const cli_picture *p, int row)
{
    int n = 0;
    for (int e = 0; e < p->n_links; e++)
        n += p->nodes[p->links[e].from].row <= row && p->nodes[p->links[e].to].row > row;
    return n;
}

// The first row of the next column: of those near `y`, that with the fewest edges above, and of
// these the nearest.
static int find_cut(const cli_picture *p, int begin, double y)
{
    int best = -1;
    double least = 0;
    for (int r = begin + 1; r < p->layers.n_rows; r++) {
        const double off = fabs(p->layers.rows[r].top - y) / (0.15 * COLUMN_MAX);
        const double cost = off > 1 ? 1000 * off : crossing(p, r - 1) + off / 2;
        if (best < 0 || cost < least) {
            best = r;
            least = cost;
        }
    }
    return best;
}

static void split_columns(cli_picture *p)
{
    const int n = 1 + (int)(p->layers.height / COLUMN_MAX);
    while (p->n_columns < n && p->n_columns < CLI_PICTURE_COLUMNS) {
        const int begin = p->columns[p->n_columns - 1].row;
        const int cut = find_cut(p, begin, p->layers.rows[begin].top + p->layers.height / n);
        if (cut < 0)
            break;
        p->columns[p->n_columns++].row = cut;
    }
}

int cli_picture_column(const cli_picture *p, int row)
{
    int c = 0;
    while (c + 1 < p->n_columns && p->columns[c + 1].row <= row)
        c++;
    return c;
}

double cli_picture_left(const cli_picture *p, int row)
{
    return p->x + p->columns[cli_picture_column(p, row)].x;
}

static double shift_y(const cli_picture *p, int row)
{
    return p->y - p->layers.rows[p->columns[cli_picture_column(p, row)].row].top;
}

double cli_picture_top(const cli_picture *p, int row)
{
    return shift_y(p, row) + p->layers.rows[row].top;
}

double cli_picture_bottom(const cli_picture *p, int row)
{
    return shift_y(p, row) + p->layers.rows[row].bottom;
}

static double column_height(const cli_picture *p, int c)
{
    const int end = c + 1 < p->n_columns ? p->columns[c + 1].row : p->layers.n_rows;
    return end ? cli_picture_bottom(p, end - 1) - p->y : 0;
}

static void widen(const cli_picture *p, cli_column *columns, const cli_node *node)
{
    cli_column *const c = &columns[cli_picture_column(p, node->row)];
    c->left = fmin(c->left, node->x - node->width / 2);
    c->right = fmax(c->right, node->x + node->width / 2);
}

// Puts columns side by side. Returns their width.
static double place_columns(cli_picture *p)
{
    double x = 0;
    for (int c = 0; c < p->n_columns; c++) {
        p->columns[c].left = INFINITY;
        p->columns[c].right = -INFINITY;
    }
    for (int node = 1; node <= p->n; node++)
        widen(p, p->columns, &p->nodes[node]);
    for (int i = 0; i < p->layers.n_bends; i++)
        widen(p, p->columns, &p->layers.bends[i]);
    for (cli_column *c = p->columns; c < p->columns + p->n_columns && p->n; c++) {
        c->x = x - c->left;
        x += c->right - c->left + CLI_PICTURE_COLUMN_GAP;
    }
    return p->n ? x - CLI_PICTURE_COLUMN_GAP : 0;
}

void cli_picture_arrange(cli_picture *p, double *width, double *height)
{
    split_columns(p);
    *width = place_columns(p);
    *height = 0;
    for (int c = 0; c < p->n_columns; c++)
        *height = fmax(*height, column_height(p, c));
}

cli_picture *cli_picture_create(const cli_graph *graph)
{
    return make_picture(graph, 0, graph->folding.n, -1, 0);
}
