// SPDX-License-Identifier: Apache-2.0
// The graph of operators in SVG.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/cli_picture.h"
#include "draw/cli_svg.h"
#include "lightnet/ln_body.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"

enum {
    MARGIN = 24,
    TOP = 106, // the title and the legend
    LABEL = 36,
    LINE = 42, // characters of small text
    MIN_WIDTH = 420,
    GAP = 24 // between a graph and the next one
};

// Edges

static double left_of(const cli_picture *p, int node)
{
    return cli_picture_left(p, p->nodes[node].row) + p->nodes[node].x - p->nodes[node].width / 2;
}

// Where edges enter (node 0 of the inner picture) or leave a node.
static double port_of(const cli_picture *p, int node, int leaves)
{
    const cli_picture *const inner = node && node <= p->n ? p->items[node - 1].inner : NULL;
    const double middle = cli_picture_left(p, p->nodes[node].row) + p->nodes[node].x;
    if (!inner)
        return middle;
    return middle - inner->layers.width / 2 + inner->nodes[leaves ? inner->n + 1 : 0].x;
}

static void curve(double x, double y, double to_x, double to_y)
{
    const double middle = (y + to_y) / 2;
    if (x - to_x < 1.5 && to_x - x < 1.5)
        cli_print("L%.1f %.1f", to_x, to_y);
    else
        cli_print("C%.1f %.1f %.1f %.1f %.1f %.1f", x, middle, to_x, middle, to_x, to_y);
}

// From the bottom of a row to the top of the next one, which may be in the next column.
static void draw_step(const cli_picture *p, int row, double x, double to_x, int lane)
{
    const double y = cli_picture_bottom(p, row), to_y = cli_picture_top(p, row + 1);
    const int c = cli_picture_column(p, row + 1);
    if (cli_picture_column(p, row) == c) {
        curve(x, y, to_x, to_y);
        return;
    }
    const double left = p->x + p->columns[c].x + p->columns[c].left;
    const double side = left - CLI_PICTURE_COLUMN_GAP / 2.0 + 5 * (lane % 5 - 2);
    cli_print("V%.1fH%.1fV%.1fH%.1fV%.1f", y + 7 + 3 * (lane % 5), side, to_y - 16 - 3 * (lane % 5),
              to_x, to_y);
}

static void draw_edge(const cli_picture *p, int e)
{
    const cli_link *const link = &p->links[e];
    const int from = p->nodes[link->from].row, to = p->nodes[link->to].row;
    const int is_outside = p->is_inner && !link->from, ends_outside = link->to == p->n + 1;
    double x = port_of(p, link->from, 1);
    cli_print("<path class=\"%s\" d=\"M%.1f %.1fV%.1f", ends_outside ? "e" : "e a", x,
              is_outside ? p->y - CLI_PICTURE_HEAD
                         : cli_picture_top(p, from) + p->nodes[link->from].height,
              cli_picture_bottom(p, from));
    for (int r = from + 1; r < to; r++) {
        const double bend = cli_picture_left(p, r) + cli_layers_bend(&p->layers, link->from, r);
        draw_step(p, r - 1, x, bend, e);
        cli_print("V%.1f", cli_picture_bottom(p, r));
        x = bend;
    }
    draw_step(p, to - 1, x, port_of(p, link->to, 0), e);
    if (ends_outside)
        cli_print("V%.1f", p->y + p->layers.height + CLI_PICTURE_PAD);
    cli_print("\"/>\n");
}

// Boxes

static void draw_title(const cli_graph *g, const cli_box *box)
{
    cli_print("<title>");
    cli_svg_text(box->op->op_arg->name, LN_MAX_NAME_LEN);
    LN_FOREACH (const ln_tensor_list_entry *, tle, box->op->op_arg->tensors_out) {
        cli_print("\n");
        cli_svg_text(tle->arg_name, LN_MAX_NAME_LEN);
        cli_print(" ");
        cli_svg_tensor(ln_entry_of(tle, g->ctx->tensor_table));
    }
    cli_print("</title>");
}

static void draw_text(const char *class, double x, double y, const char *text, int max)
{
    cli_print("<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    cli_svg_text(text, max);
    cli_print("</text>");
}

static void draw_names(const cli_box *box, const char *prefix, double x, double y)
{
    char shape[LN_MAX_SHAPE] = "", name[LN_MAX_NAME_LEN + 8];
    if (box->te)
        ln_sprint_shape(shape, sizeof(shape), box->te->tensor->ndim, box->te->tensor->dims);
    const int room = LINE - (int)strlen(shape) - 3;
    snprintf(name, sizeof(name), "%s%s", prefix, cli_box_name(box));
    draw_text("s", x + 13, y, name, room > 6 ? room : 6);
    draw_text("s r", x + CLI_PICTURE_WIDTH - 10, y, shape, LINE - 12);
}

static void draw_operator(const cli_box *box, double x, double y)
{
    const ln_op_arg *const op = box->op->op_arg;
    char kernel[2 * LN_MAX_NAME_LEN];
    snprintf(kernel, sizeof(kernel), "%s%s%s", op->optype, op->algorithm ? ", " : "",
             op->algorithm ? op->algorithm : "");
    draw_text("l", x + 13, y + 15, box->label, LABEL);
    draw_names(box, "", x, y + 29);
    draw_text("s", x + 13, y + 43, kernel, LINE);
}

static void draw_box(const cli_picture *p, const cli_box *box, double x, double y)
{
    const int is_op = box->what == CLI_BOX_OP;
    cli_print("<g class=\"b %s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
              "rx=\"%d\"/>",
              cli_kind_id(box->kind), x, y, CLI_PICTURE_WIDTH,
              is_op ? CLI_PICTURE_HEIGHT : CLI_PICTURE_PORT, is_op ? 5 : 11);
    if (is_op) {
        cli_print("<path class=\"k\" d=\"M%.1f %.1fh-1a4 4 0 0 0 -4 4v%da4 4 0 0 0 4 4h1z\"/>",
                  x + 5, y, CLI_PICTURE_HEIGHT - 8);
        draw_operator(box, x, y);
    } else
        draw_names(box, box->what == CLI_BOX_INPUT ? "input " : "output ", x, y + 15);
    draw_title(p->graph, box);
    cli_print("</g>\n");
}

static void draw_picture(const cli_picture *p);

// A closed part, or a frame with its picture.
static void draw_group(const cli_picture *p, int node, double x, double y)
{
    const cli_item *const i = &p->items[node - 1];
    char text[64];
    int n = 0;
    for (int b = i->first; b < i->end; b++)
        n += p->graph->boxes[b].what == CLI_BOX_OP;
    if (i->inner)
        snprintf(text, sizeof(text), "\xc3\x97 %d", i->group->count);
    else
        snprintf(text, sizeof(text), "%d operators", n);
    cli_print("<g class=\"%s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
              "rx=\"8\"/>",
              i->inner ? "f" : "b other", x, y, p->nodes[node].width, p->nodes[node].height);
    draw_text("l", x + (i->inner ? 9 : 13), y + (i->inner ? 15 : 29), text, LABEL);
    cli_print("<title>%d operators%s</title></g>\n", n, i->inner ? " in all copies" : "");
    if (!i->inner)
        return;
    i->inner->x = x + (p->nodes[node].width - i->inner->layers.width) / 2;
    i->inner->y = y + CLI_PICTURE_HEAD;
    draw_picture(i->inner);
}

static void draw_picture(const cli_picture *p)
{
    for (int e = 0; e < p->n_links; e++)
        draw_edge(p, e);
    for (int node = 1; node <= p->n; node++) {
        const cli_box *const box = cli_picture_box(p, &p->items[node - 1]);
        const double x = left_of(p, node), y = cli_picture_top(p, p->nodes[node].row);
        if (box)
            draw_box(p, box, x, y);
        else
            draw_group(p, node, x, y);
    }
}

// The heading

static const char style[] =
    "text{fill:#17202b}.l{font-size:12px;font-weight:600}.s{fill:#596675;font-size:10.5px}"
    ".r{text-anchor:end}.t{font-size:18px;font-weight:600}"
    ".e{fill:none;stroke:#8a97a6;stroke-width:1.3}.a{marker-end:url(#arrow)}"
    ".b rect{fill:#fff;stroke:#c5ccd5}.port rect{fill:#eef1f5;stroke:none}"
    ".f rect{fill:none;stroke:#8a97a6;stroke-dasharray:5 4}"
    ".convolution .k{fill:#3d72b4}.product .k{fill:#a3397f}.attention .k{fill:#dd5468}"
    ".normalization .k{fill:#26853a}.reduction .k{fill:#2a9fc0}.elementwise .k{fill:#b5990a}"
    ".movement .k{fill:#8b939d}.quantization .k{fill:#dd7c4f}.other .k{fill:#5f6670}";

// The model's graph, and one for each subgraph
typedef struct part {
    cli_graph graph;
    cli_picture *picture;
    double width, height;
} part;

typedef struct drawing {
    part *parts;
    int n;
} drawing;

// The kinds of all operators in the order of the legend, `other` last. Returns how many.
static int list_kinds(const drawing *d, ln_kind kinds[LN_N_KINDS])
{
    int is_used[LN_N_KINDS + 1] = {0}, n = 0;
    for (const part *p = d->parts; p < d->parts + d->n; p++)
        for (int i = 0; i < p->graph.folding.n; i++)
            is_used[p->graph.boxes[i].kind] = 1;
    for (int i = 1; i <= LN_N_KINDS; i++)
        if (is_used[i % LN_N_KINDS])
            kinds[n++] = (ln_kind)(i % LN_N_KINDS);
    return n;
}

static double kind_width(ln_kind kind)
{
    return 34 + 5.6 * (double)strlen(cli_kind_name(kind));
}

static void draw_legend(const drawing *d)
{
    double x = MARGIN;
    ln_kind kinds[LN_N_KINDS];
    for (int i = 0, n = list_kinds(d, kinds); i < n; i++) {
        cli_print("<g class=\"%s\"><path class=\"k\" d=\"M%.1f 58h10v10h-10z\"/></g>",
                  cli_kind_id((int)kinds[i]), x);
        draw_text("s", x + 15, 67, cli_kind_name(kinds[i]), LINE);
        x += kind_width(kinds[i]);
    }
    cli_print("\n");
}

static double legend_width(const drawing *d)
{
    double width = 2 * MARGIN;
    ln_kind kinds[LN_N_KINDS];
    for (int i = 0, n = list_kinds(d, kinds); i < n; i++)
        width += kind_width(kinds[i]);
    return width;
}

static int count_operators(const cli_graph *g)
{
    int n = 0;
    for (int i = 0; i < g->folding.n; i++)
        n += g->boxes[i].what == CLI_BOX_OP;
    return n;
}

static void draw_heading(const drawing *d)
{
    char text[160], subgraphs[32] = "";
    const cli_graph *const g = &d->parts->graph;
    const char *const slash = strrchr(g->ctx->source, '/');
    draw_text("t", MARGIN, 28, slash ? slash + 1 : g->ctx->source, 60);
    if (d->n > 1)
        snprintf(subgraphs, sizeof(subgraphs), "%d subgraph%s, ", d->n - 1, d->n > 2 ? "s" : "");
    snprintf(text, sizeof(text), "%d operators of a run, %scompiled for %.64s", count_operators(g),
             subgraphs, g->ctx->target);
    draw_text("s", MARGIN, 46, text, 160);
    draw_legend(d);
}

// Subgraphs: each is in a frame, below the graph

// The first box whose operator runs the subgraph; NULL: none is drawn.
static const cli_box *find_runner(const drawing *d, const ln_context *body)
{
    for (const part *p = d->parts; p < d->parts + d->n; p++)
        for (int i = 0; i < p->graph.folding.n; i++) {
            const cli_box *const box = &p->graph.boxes[i];
            const ln_context *run = box->what == CLI_BOX_OP ? cli_graph_body(box->op, 0) : NULL;
            for (int k = 0; run && run != body;)
                run = cli_graph_body(box->op, ++k);
            if (run)
                return box;
        }
    return NULL;
}

static void draw_frame(const drawing *d, const part *p, double x, double y, double width)
{
    const cli_box *const runner = find_runner(d, p->graph.ctx);
    char text[2 * LN_MAX_NAME_LEN + 32];
    snprintf(text, sizeof(text), "%s%s%s", ln_body_name(p->graph.ctx), runner ? ", run by " : "",
             runner ? cli_box_name(runner) : "");
    cli_print("<g class=\"f\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
              "rx=\"8\"/>",
              x, y, width, p->height + CLI_PICTURE_HEAD + CLI_PICTURE_PAD);
    draw_text("l", x + 9, y + 15, text, LABEL);
    cli_print("<title>%d operators</title></g>\n", count_operators(&p->graph));
}

static void draw_parts(const drawing *d, double width)
{
    double y = TOP;
    for (part *p = d->parts; p < d->parts + d->n; p++) {
        const double framed = fmax(p->width, CLI_PICTURE_WIDTH) + 2 * CLI_PICTURE_PAD;
        const int is_framed = p != d->parts;
        if (is_framed)
            draw_frame(d, p, (width - framed) / 2, y, framed);
        // In the middle of a diagram that something else makes wider.
        p->picture->x = (width - p->width) / 2;
        p->picture->y = y + (is_framed ? CLI_PICTURE_HEAD : 0);
        draw_picture(p->picture);
        y = p->picture->y + p->height + (is_framed ? CLI_PICTURE_PAD : 0) + GAP;
    }
}

// The diagram

static void draw(const drawing *d)
{
    double width = fmax(MIN_WIDTH, legend_width(d)), height = TOP + MARGIN - GAP;
    for (part *p = d->parts; p < d->parts + d->n; p++) {
        const int is_framed = p != d->parts;
        cli_picture_arrange(p->picture, &p->width, &p->height);
        width = fmax(width, 2 * MARGIN + fmax(p->width, is_framed ? CLI_PICTURE_WIDTH : 0) +
                                (is_framed ? 2 * CLI_PICTURE_PAD : 0));
        height += p->height + GAP + (is_framed ? CLI_PICTURE_HEAD + CLI_PICTURE_PAD : 0);
    }
    cli_svg_begin(width, height, style);
    cli_print("<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
              "markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" "
              "orient=\"auto\"><path d=\"M0 .6L8 4L0 7.4z\" fill=\"#8a97a6\"/></marker></defs>\n");
    draw_heading(d);
    draw_parts(d, width);
    cli_svg_end();
}

static int add_part(drawing *d, const ln_context *ctx)
{
    part *const p = &d->parts[d->n++];
    if (cli_graph_create(&p->graph, ctx))
        return CLI_FAILED;
    p->picture = cli_picture_create(&p->graph);
    return p->picture ? 0 : cli_fail_memory();
}

int cli_svg_graph(const ln_context *ctx)
{
    drawing d = {.parts = calloc((size_t)ln_list_length(ctx->bodies) + 1, sizeof(part))};
    int status = d.parts ? add_part(&d, ctx) : cli_fail_memory();
    for (const ln_list *node = ctx->bodies; node && !status; node = node->next)
        status = add_part(&d, node->data);
    if (!status)
        draw(&d);
    for (int i = 0; i < d.n; i++) {
        cli_picture_free(d.parts[i].picture);
        cli_graph_free(&d.parts[i].graph);
    }
    free(d.parts);
    return status;
}
