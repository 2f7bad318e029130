// SPDX-License-Identifier: Apache-2.0
// The memory plan in SVG: time across, address up, a box for each piece of memory.
//
// Time counts operators that compute: first those that run at load, then those of a run. A tensor
// and all that shares its memory (views, parts) are one box, from the first operator that produces
// any of it to the last that reads any.

#include <stdio.h>
#include <stdlib.h>

#include "draw/cli_svg.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"

enum { LEFT = 90, TOP = 40, PLOT_WIDTH = 1100, PLOT_HEIGHT = 640, WIDEST = 60, LABEL_WIDTH = 7 };

typedef struct box {
    const ln_tensor_entry *te; // the root, or NULL: scratch memory of `op`
    const ln_op *op;
    int first, last; // times, inclusive
    int is_read;
} box;

typedef struct plan {
    const ln_context *ctx;
    box *boxes;
    int n, n_load, n_times;
    ln_hash *index; // name of a root -> its box + 1
} plan;

static int computes(const ln_op *op)
{
    return op->run != NULL;
}

static box *box_of(const plan *p, const char *tname)
{
    const ln_hash *table = p->ctx->tensor_table;
    const ln_tensor_entry *root = ln_tensor_table_root(table, ln_tensor_table_find(table, tname));
    const size_t at = (size_t)ln_hash_find(p->index, root->name);
    return at ? &p->boxes[at - 1] : NULL;
}

static int add_box(plan *p, const char *tname, int time)
{
    const ln_hash *table = p->ctx->tensor_table;
    const ln_tensor_entry *root = ln_tensor_table_root(table, ln_tensor_table_find(table, tname));
    if (box_of(p, tname))
        return 0;
    const int is_kept = root->isstatic && !root->isload;
    p->boxes[p->n++] = (box){.te = root,
                             .op = ln_entry_creater(root),
                             .first = time,
                             .last = is_kept ? p->n_times - 1 : time};
    return ln_hash_insert(p->index, root->name, (void *)(size_t)p->n) < 0 ? cli_fail_memory() : 0;
}

static void extend_box(const plan *p, const char *tname, int time)
{
    box *b = box_of(p, tname);
    if (time > b->last)
        b->last = time;
}

static void read_box(const plan *p, const char *tname, int time)
{
    box *b = box_of(p, tname);
    // Data of files is loaded when an operator reads it.
    if (b->te->isload && !b->is_read && !b->op->op_arg->tensors_in)
        b->first = time;
    b->is_read = 1;
    extend_box(p, tname, time);
}

// Adds the outputs and inputs of the operator at `time`.
static int add_op(plan *p, const ln_op *op, int time)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        read_box(p, tle->name, time);
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        if (add_box(p, tle->name, time))
            return CLI_FAILED;
        extend_box(p, tle->name, time);
        if (ln_context_is_output(p->ctx, tle->name))
            extend_box(p, tle->name, p->n_times - 1);
    }
    if (op->op_arg->scratch_size)
        p->boxes[p->n++] = (box){.op = op, .first = time, .last = time};
    return 0;
}

// An operator that computes nothing has the time of the next one that computes.
static int fill(plan *p)
{
    int at_load = 0, run = p->n_load;
    LN_FOREACH (const ln_op *, op, p->ctx->ops) {
        const int is_early = op->op_arg->at_load || !op->op_arg->tensors_in;
        int *time = is_early ? &at_load : &run;
        const int now = *time < p->n_times ? *time : p->n_times - 1;
        if (add_op(p, op, now))
            return CLI_FAILED;
        *time += computes(op) != 0 && (op->op_arg->at_load || !is_early);
    }
    return 0;
}

// Drawing

static double min_double(double a, double b)
{
    return a < b ? a : b;
}

// Where a time begins: loading has a quarter of the width at most.
static double x_at(const plan *p, int time)
{
    const int n_run = p->n_times - p->n_load;
    const double run = min_double(WIDEST, 0.75 * PLOT_WIDTH / (n_run ? n_run : 1));
    const double load = p->n_load ? min_double(run, 0.25 * PLOT_WIDTH / p->n_load) : 0;
    return LEFT + (time < p->n_load ? time * load : p->n_load * load + (time - p->n_load) * run);
}

static double y_scale(const plan *p)
{
    const size_t size = p->ctx->mem_sizes[LN_MEM_CPU];
    return (double)PLOT_HEIGHT / (size ? (double)size : 1);
}

static const char *class_of(const plan *p, const box *b)
{
    if (!b->te)
        return "s";
    if (b->te->isload)
        return "l";
    if (b->te->isconst)
        return "c";
    return b->first < p->n_load || b->te->isstatic ? "i" : "t";
}

static void draw_box(const plan *p, const box *b)
{
    const ln_op_arg *op_arg = b->op->op_arg;
    const size_t offset = b->te ? b->te->offset : op_arg->scratch_offset;
    const size_t size = b->te ? ln_tensor_entry_capacity(b->te) : op_arg->scratch_size;
    const char *name = b->te ? b->te->name : "scratch";
    const double x = x_at(p, b->first), w = x_at(p, b->last + 1) - x;
    const double h = (double)size * y_scale(p);
    const double y = TOP + PLOT_HEIGHT - (double)offset * y_scale(p) - h;
    cli_print("<g class=\"%s\"><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>",
              class_of(p, b), x, y, w, h > 0.2 ? h : 0.2);
    if (h > 12 && w > 4 * LABEL_WIDTH) {
        cli_print("<text x=\"%.2f\" y=\"%.2f\">", x + 3, y + h / 2 + 4);
        cli_svg_text(name, (int)(w / LABEL_WIDTH) - 2);
        cli_print("</text>");
    }
    cli_print("<title>");
    if (b->te)
        cli_svg_tensor(b->te);
    else
        cli_print("scratch memory, %zu bytes", size);
    cli_print(" at %zu\n", offset);
    cli_svg_text(op_arg->name, LN_MAX_NAME_LEN);
    cli_print(", times %d to %d</title></g>\n", b->first - p->n_load + 1, b->last - p->n_load + 1);
}

static void draw_axes(const plan *p)
{
    const double right = x_at(p, p->n_times), load = x_at(p, p->n_load);
    const size_t size = p->ctx->mem_sizes[LN_MEM_CPU];
    for (int i = 0; i <= 4; i++) {
        const double y = TOP + PLOT_HEIGHT * (1 - i / 4.0);
        cli_print("<path class=\"a\" d=\"M%d %.1fH%.1f\"/><text class=\"r\" x=\"%d\" y=\"%.1f\">"
                  "%.1f KB</text>\n",
                  LEFT, y, right, LEFT - 6, y + 4, (double)size * i / 4 / 1024);
    }
    if (p->n_load)
        cli_print("<path class=\"a\" d=\"M%.1f %dV%d\"/>\n", load, TOP - 10,
                  TOP + PLOT_HEIGHT + 10);
    cli_print("<text x=\"%d\" y=\"%d\">%d operators at load, then %d of a run; %zu bytes</text>\n",
              LEFT, TOP - 16, p->n_load, p->n_times - p->n_load, size);
}

static void draw_legend(void)
{
    static const char *const rows[][2] = {{"c", "constants"},
                                          {"i", "inputs"},
                                          {"t", "tensors of a run"},
                                          {"s", "scratch memory"},
                                          {"l", "at load only"}};
    for (int i = 0; i < 5; i++)
        cli_print("<g class=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/></g>"
                  "<text x=\"%d\" y=\"%d\">%s</text>\n",
                  rows[i][0], LEFT + i * 130, TOP + PLOT_HEIGHT + 22, LEFT + i * 130 + 17,
                  TOP + PLOT_HEIGHT + 32, rows[i][1]);
}

static void draw(const plan *p)
{
    const double width = x_at(p, p->n_times) + 20;
    cli_svg_begin(width > 800 ? width : 800, TOP + PLOT_HEIGHT + 50,
                  "rect{stroke:#333;stroke-width:.3}.c rect{fill:#b0bec5}.i rect{fill:#a5d6a7}"
                  ".t rect{fill:#90caf9}.s rect{fill:#ffcc80}.l rect{fill:#e1bee7}"
                  ".a{stroke:#999;stroke-dasharray:3 3}.r{text-anchor:end}");
    draw_axes(p);
    for (int i = 0; i < p->n; i++)
        draw_box(p, &p->boxes[i]);
    draw_legend();
    cli_svg_end();
}

int cli_svg_memory(const ln_context *ctx)
{
    int n_ops = 0, n_boxes = 1;
    plan p = {.ctx = ctx};
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        n_ops += computes(op);
        n_boxes += 1 + ln_list_length(op->op_arg->tensors_out);
        p.n_load += computes(op) && op->op_arg->at_load;
    }
    p.n_times = n_ops ? n_ops : 1;
    p.boxes = calloc((size_t)n_boxes, sizeof(*p.boxes));
    p.index = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    const int status = p.boxes && p.index ? fill(&p) : cli_fail_memory();
    if (!status)
        draw(&p);
    free(p.boxes);
    ln_hash_free(p.index);
    return status;
}
