// SPDX-License-Identifier: Apache-2.0
// Lays out a graph in rows.

#include "draw/cli_layers.h"

#include <math.h>
#include <stdlib.h>

enum { SWEEPS = 12, BEND_WIDTH = 14 };

// A node or a bend while positions are found. Edges lead from each to the next row only.
typedef struct place {
    cli_node *node;
    double wanted;     // the mean of its neighbours
    double neighbours; // their weights
} place;

typedef struct step {
    int from, to; // places
} step;

typedef struct work {
    cli_layers *l;
    place *places; // nodes, then bends
    int n;
    step *steps;
    int n_steps;
    int *order;  // places by row, from left to right
    int *starts; // of each row in it, and the end
    double *means, *weights, *offsets;
    int *sizes; // of a row while it is placed
} work;

// Rows

// The longest path to each node.
static void find_rows(cli_layers *l)
{
    for (int i = 0; i < l->n; i++)
        l->nodes[i].row = 0;
    // In the order of links, the row of `from` is known.
    for (const cli_link *e = l->links; e < l->links + l->n_links; e++)
        if (l->nodes[e->to].row <= l->nodes[e->from].row)
            l->nodes[e->to].row = l->nodes[e->from].row + 1;
    for (int i = 0; i < l->n; i++)
        if (l->nodes[i].row >= l->n_rows)
            l->n_rows = l->nodes[i].row + 1;
}

// Moves sources to the row above their first readers.
static int lower_sources(cli_layers *l)
{
    int *const first = malloc(((size_t)l->n + 1) * sizeof(*first)); // reader's row; -1: it reads
    if (!first)
        return -1;
    for (int i = 0; i < l->n; i++)
        first[i] = l->n_rows;
    for (const cli_link *e = l->links; e < l->links + l->n_links; e++) {
        first[e->to] = -1;
        if (first[e->from] > l->nodes[e->to].row)
            first[e->from] = l->nodes[e->to].row;
    }
    for (int i = 0; i < l->n; i++)
        if (first[i] > 0 && first[i] < l->n_rows)
            l->nodes[i].row = first[i] - 1;
    free(first);
    return 0;
}

// Bends: the edges of a node share those of a row.
static int add_bends(cli_layers *l)
{
    int *const last = calloc((size_t)l->n + 1, sizeof(*last)); // the last row before a reader
    l->first_bend = calloc((size_t)l->n + 1, sizeof(*l->first_bend));
    if (!last || !l->first_bend)
        return free(last), -1;
    for (const cli_link *e = l->links; e < l->links + l->n_links; e++)
        if (last[e->from] < l->nodes[e->to].row - 1)
            last[e->from] = l->nodes[e->to].row - 1;
    for (int i = 0; i < l->n; i++) {
        l->first_bend[i] = l->n_bends;
        l->n_bends += last[i] > l->nodes[i].row ? last[i] - l->nodes[i].row : 0;
    }
    l->bends = calloc((size_t)l->n_bends + 1, sizeof(*l->bends));
    for (int i = 0; l->bends && i < l->n; i++)
        for (int row = l->nodes[i].row + 1; row <= last[i]; row++)
            l->bends[l->first_bend[i] + row - l->nodes[i].row - 1] =
                (cli_node){.width = BEND_WIDTH, .row = row};
    free(last);
    return l->bends ? 0 : -1;
}

// The place of the edges from `node` in `row`: the node itself, or a bend.
static int place_in(const cli_layers *l, int node, int row)
{
    const int own = l->nodes[node].row;
    return row == own ? node : l->n + l->first_bend[node] + row - own - 1;
}

// Steps

static void add_steps(work *w)
{
    const cli_layers *const l = w->l;
    for (int i = 0; i < l->n; i++) {
        const int end = i + 1 < l->n ? l->first_bend[i + 1] : l->n_bends;
        for (int k = l->first_bend[i]; k < end; k++)
            w->steps[w->n_steps++] = (step){k == l->first_bend[i] ? i : l->n + k - 1, l->n + k};
    }
    for (const cli_link *e = l->links; e < l->links + l->n_links; e++)
        w->steps[w->n_steps++] = (step){place_in(l, e->from, l->nodes[e->to].row - 1), e->to};
}

static void fill_order(const work *w)
{
    int *const next = w->starts + 1;
    for (int i = 0; i < w->n; i++)
        next[w->places[i].node->row + 1]++;
    for (int r = 0; r < w->l->n_rows; r++)
        next[r + 1] += next[r];
    for (int i = 0; i < w->n; i++)
        w->order[next[w->places[i].node->row]++] = i;
}

// Positions

// Nodes follow nodes, and bends bends: chains and long edges are straight lines.
static double weight_of(const work *w, int of, int other)
{
    const int is_bend = of >= w->l->n, to_bend = other >= w->l->n;
    return is_bend && to_bend ? 8 : is_bend || to_bend ? 1e-4 : 1;
}

static void find_wanted(const work *w, int down)
{
    for (int i = 0; i < w->n; i++)
        w->places[i].wanted = w->places[i].neighbours = 0;
    for (const step *s = w->steps; s < w->steps + w->n_steps; s++) {
        place *const p = &w->places[down ? s->to : s->from];
        const int other = down ? s->from : s->to;
        const double weight = weight_of(w, (int)(p - w->places), other);
        p->wanted += weight * w->places[other].node->x;
        p->neighbours += weight;
    }
    for (int i = 0; i < w->n; i++) {
        place *const p = &w->places[i];
        p->wanted = p->neighbours > 0 ? p->wanted / p->neighbours : p->node->x;
    }
}

typedef struct sorted {
    double wanted, x;
    int place;
} sorted;

static int by_wanted(const void *a, const void *b)
{
    const sorted *const x = a, *const y = b;
    if (x->wanted != y->wanted)
        return x->wanted < y->wanted ? -1 : 1;
    return x->x < y->x ? -1 : x->x > y->x;
}

static int sort_row(const work *w, int row)
{
    const int begin = w->starts[row], n = w->starts[row + 1] - begin;
    sorted *const keys = malloc(((size_t)n + 1) * sizeof(*keys));
    if (!keys)
        return -1;
    for (int i = 0; i < n; i++) {
        const place *const p = &w->places[w->order[begin + i]];
        keys[i] = (sorted){p->wanted, p->node->x, w->order[begin + i]};
    }
    qsort(keys, (size_t)n, sizeof(*keys), by_wanted);
    for (int i = 0; i < n; i++)
        w->order[begin + i] = keys[i].place;
    free(keys);
    return 0;
}

// The positions nearest to the wanted ones at which nothing overlaps: least squares, by pooling
// neighbours that would overlap (isotonic regression).
static void place_row(const work *w, int row)
{
    const int begin = w->starts[row], n = w->starts[row + 1] - begin;
    int pools = 0;
    double offset = 0;
    for (int i = 0; i < n; i++) {
        const place *const p = &w->places[w->order[begin + i]];
        const cli_node *const before = i ? w->places[w->order[begin + i - 1]].node : NULL;
        offset += before ? (before->width + p->node->width) / 2 + w->l->gap_x : 0;
        w->offsets[i] = offset;
        w->means[pools] = p->wanted - offset;
        w->weights[pools] = p->node->height > 0 ? 1e5 : 1; // bends make room
        w->sizes[pools++] = 1;
        while (pools > 1 && w->means[pools - 2] > w->means[pools - 1]) {
            const double a = w->weights[pools - 2], b = w->weights[pools - 1];
            w->means[pools - 2] = (a * w->means[pools - 2] + b * w->means[pools - 1]) / (a + b);
            w->weights[pools - 2] = a + b;
            w->sizes[pools - 2] += w->sizes[pools - 1];
            pools--;
        }
    }
    for (int k = 0, i = 0; k < pools; k++)
        for (int end = i + w->sizes[k]; i < end; i++)
            w->places[w->order[begin + i]].node->x = w->means[k] + w->offsets[i];
}

// Sorts rows in the first sweeps, and straightens edges in the last.
static int sweep(const work *w)
{
    for (int r = 0; r < w->l->n_rows; r++)
        place_row(w, r);
    for (int s = 0; s < SWEEPS; s++) {
        const int down = s % 2 == 0;
        for (int k = 0; k < w->l->n_rows; k++) {
            const int row = down ? k : w->l->n_rows - 1 - k;
            find_wanted(w, down);
            if (s < SWEEPS / 2 && sort_row(w, row))
                return -1;
            place_row(w, row);
        }
    }
    return 0;
}

static void measure(cli_layers *l)
{
    double left = INFINITY, right = -INFINITY;
    for (int i = 0; i < l->n; i++) {
        const cli_node *const node = &l->nodes[i];
        if (node->width <= 0)
            continue;
        left = fmin(left, node->x - node->width / 2);
        right = fmax(right, node->x + node->width / 2);
        if (node->height > l->rows[node->row].bottom)
            l->rows[node->row].bottom = node->height;
    }
    for (int i = 0; i < l->n_bends; i++) {
        const double x = l->bends[i].x;
        left = fmin(left, x - BEND_WIDTH / 2.0);
        right = fmax(right, x + BEND_WIDTH / 2.0);
    }
    if (left > right)
        left = right = 0;
    for (int i = 0; i < l->n; i++)
        l->nodes[i].x -= left;
    for (int i = 0; i < l->n_bends; i++)
        l->bends[i].x -= left;
    l->width = right - left;
    for (int r = 0; r < l->n_rows; r++) {
        l->rows[r].top = r ? l->rows[r - 1].bottom + l->gap_y : 0;
        l->rows[r].bottom += l->rows[r].top;
    }
    l->height = l->n_rows ? l->rows[l->n_rows - 1].bottom : 0;
}

static int place_all(work *w)
{
    cli_layers *const l = w->l;
    const size_t n = (size_t)l->n + (size_t)l->n_bends + 1;
    w->n = (int)n - 1;
    w->places = calloc(n, sizeof(*w->places));
    w->steps = calloc(n + (size_t)l->n_links, sizeof(*w->steps));
    w->order = calloc(n, sizeof(*w->order));
    w->starts = calloc((size_t)l->n_rows + 3, sizeof(*w->starts));
    w->means = calloc(n, sizeof(*w->means));
    w->weights = calloc(n, sizeof(*w->weights));
    w->offsets = calloc(n, sizeof(*w->offsets));
    w->sizes = calloc(n, sizeof(*w->sizes));
    if (!w->places || !w->steps || !w->order || !w->starts || !w->means || !w->weights ||
        !w->offsets || !w->sizes)
        return -1;
    for (int i = 0; i < w->n; i++)
        w->places[i].node = i < l->n ? &l->nodes[i] : &l->bends[i - l->n];
    add_steps(w);
    fill_order(w);
    return sweep(w);
}

int cli_layers_find(cli_layers *l)
{
    work w = {.l = l};
    l->n_rows = l->n_bends = 0;
    l->rows = NULL;
    l->bends = NULL;
    l->first_bend = NULL;
    find_rows(l);
    l->rows = calloc((size_t)l->n_rows + 1, sizeof(*l->rows));
    const int failed = !l->rows || lower_sources(l) || add_bends(l) || place_all(&w);
    if (!failed)
        measure(l);
    free(w.places);
    free(w.steps);
    free(w.order);
    free(w.starts);
    free(w.means);
    free(w.weights);
    free(w.offsets);
    free(w.sizes);
    return failed ? -1 : 0;
}

double cli_layers_bend(const cli_layers *l, int node, int row)
{
    const int at = place_in(l, node, row);
    return at < l->n ? l->nodes[at].x : l->bends[at - l->n].x;
}

void cli_layers_free(cli_layers *l)
{
    free(l->rows);
    free(l->bends);
    free(l->first_bend);
}
