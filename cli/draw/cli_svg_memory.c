// SPDX-License-Identifier: Apache-2.0
// The memory plan of a run in SVG: operators across, offsets up, a box for each block of memory.
//
// Constants are left out: they are always there, and most of the memory. Offsets that only they use
// are left out, too, so the axis counts the memory of the run.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/cli_svg.h"
#include "lightnet/ln_memory_plan.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"

enum {
    LEFT = 64,
    TOP = 84,
    PLOT_WIDTH = 1100,
    PLOT_HEIGHT = 560,
    MARGIN = 24,
    LABEL_HEIGHT = 14,
    CHAR_WIDTH = 6, // of labels
    N_TICKS = 7
};

// A block of a run.
typedef struct box {
    ln_memory_block block;
    double offset;   // without the constants below it, in bytes
    int first, last; // operators, from 0
} box;

typedef struct plan {
    const ln_context *ctx;
    box *boxes;
    int n, capacity;
    int *before; // [position]: operators of a run before that position in the list
    int n_run, n_ops;
    double constants, size; // bytes of constants, and of the run
} plan;

static int runs(const ln_op *op)
{
    return op->run && !op->op_arg->at_load;
}

// Times

static int count_operators(plan *p)
{
    p->n_ops = ln_list_length(p->ctx->ops);
    p->before = calloc((size_t)p->n_ops + 3, sizeof(*p->before));
    if (!p->before)
        return -1;
    int position = 0;
    LN_FOREACH (const ln_op *, op, p->ctx->ops) {
        p->before[++position] = p->n_run;
        p->n_run += runs(op);
    }
    p->before[p->n_ops + 1] = p->before[p->n_ops + 2] = p->n_run;
    return 0;
}

// Operators of a run before a time of the plan.
static int operators_before(const plan *p, int time)
{
    return time <= 0 ? 0 : p->before[time < p->n_ops + 2 ? time : p->n_ops + 2];
}

// Blocks

static int add_block(void *data, const ln_memory_block *block)
{
    plan *const p = data;
    if (block->mtype != LN_MEM_CPU || block->last < 0 || block->reuses || !block->size)
        return 0;
    if (block->is_constant) {
        p->constants += (double)block->size;
        return 0;
    }
    if (p->n == p->capacity) {
        const int capacity = p->capacity ? 2 * p->capacity : 64;
        box *const longer = realloc(p->boxes, (size_t)capacity * sizeof(*longer));
        if (!longer)
            return -1;
        p->boxes = longer;
        p->capacity = capacity;
    }
    const int first = operators_before(p, block->first),
              last = operators_before(p, block->last + 1);
    p->boxes[p->n++] = (box){*block, 0, first, last > first ? last - 1 : first};
    return 0;
}

static int by_offset(const void *a, const void *b)
{
    const size_t x = ((const box *)a)->block.offset, y = ((const box *)b)->block.offset;
    return x < y ? -1 : x > y;
}

// Moves blocks down over gaps between all of them.
static void pack(plan *p)
{
    double end = 0, gaps = 0;
    if (p->n)
        qsort(p->boxes, (size_t)p->n, sizeof(*p->boxes), by_offset);
    for (box *b = p->boxes; b < p->boxes + p->n; b++) {
        const double offset = (double)b->block.offset;
        gaps += offset > end ? offset - end : 0;
        end = fmax(end, offset + (double)b->block.size);
        b->offset = offset - gaps;
    }
    p->size = end - gaps;
}

// Drawing

// The largest unit of which there is at least one.
static const char *unit_of(double bytes, double *unit)
{
    static const char *const names[] = {"B", "kB", "MB", "GB", "TB"};
    int i = 0;
    for (*unit = 1; bytes >= 1000 * *unit && i < 4; i++)
        *unit *= 1000;
    return names[i];
}

static void print_bytes(double bytes)
{
    double unit;
    const char *const name = unit_of(bytes, &unit);
    cli_print("%.3g %s", bytes / unit, name);
}

// A round number of bytes, N_TICKS or fewer of which are at least `max`.
static double step_of(double max)
{
    const double rough = fmax(max, 1) / N_TICKS, power = pow(10, floor(log10(rough)));
    return power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
}

static double x_of(const plan *p, int op)
{
    return LEFT + (double)PLOT_WIDTH * op / (p->n_run ? p->n_run : 1);
}

static double y_of(double bytes, double max)
{
    return TOP + PLOT_HEIGHT * (1 - bytes / max);
}

static const char *class_of(const box *b)
{
    return b->block.is_scratch ? "s" : b->block.first <= 0 ? "i" : "t";
}

static void draw_label(const box *b, double x, double y, double w, double h)
{
    if (h < LABEL_HEIGHT || w < CHAR_WIDTH * (double)(strlen(b->block.name) + 2))
        return;
    cli_print("<text class=\"n\" x=\"%.2f\" y=\"%.2f\">", x + w / 2, y + h / 2 + 4);
    cli_svg_text(b->block.name, LN_MAX_NAME_LEN);
    cli_print("</text>");
}

static void draw_box(const plan *p, const box *b, double max)
{
    const double x = x_of(p, b->first), w = x_of(p, b->last + 1) - x;
    const double y = y_of(b->offset + (double)b->block.size, max), h = y_of(b->offset, max) - y;
    cli_print("<g class=\"%s\"><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>",
              class_of(b), x, y, w, h > 0.2 ? h : 0.2);
    draw_label(b, x, y, w, h);
    cli_print("<title>");
    if (b->block.is_scratch)
        cli_print("scratch memory of ");
    cli_svg_text(b->block.name, LN_MAX_NAME_LEN);
    cli_print(": %zu bytes at %zu\noperators %d to %d</title></g>\n", b->block.size,
              b->block.offset, b->first + 1, b->last + 1);
}

static void draw_axes(const plan *p, double step, double max)
{
    double unit;
    const char *const name = unit_of(max, &unit);
    const int every = (int)fmax(1, step_of(p->n_run)), n = (int)(max / step + 0.5);
    for (int i = 0; i <= n; i++) {
        const double at = step * i;
        cli_print("<path class=\"a\" d=\"M%d %.1fH%d\"/><text class=\"r\" x=\"%d\" y=\"%.1f\">"
                  "%g</text>\n",
                  LEFT, y_of(at, max), LEFT + PLOT_WIDTH, LEFT - 7, y_of(at, max) + 4, at / unit);
    }
    for (int i = 0; i <= p->n_run; i += every)
        cli_print("<text class=\"m\" x=\"%.1f\" y=\"%d\">%d</text>\n", x_of(p, i),
                  TOP + PLOT_HEIGHT + 18, i);
    cli_print("<text class=\"r\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT - 7, TOP - 14, name);
    cli_print("<text class=\"r\" x=\"%d\" y=\"%d\">operators of a run</text>\n", LEFT + PLOT_WIDTH,
              TOP + PLOT_HEIGHT + 38);
}

static void draw_heading(const plan *p)
{
    const char *const slash = strrchr(p->ctx->source, '/');
    const double size = (double)p->ctx->mem_sizes[LN_MEM_CPU];
    const double rest = size - p->size - p->constants; // used before a run, or by nothing
    cli_print("<text class=\"h\" x=\"%d\" y=\"30\">", MARGIN);
    cli_svg_text(slash ? slash + 1 : p->ctx->source, LN_MAX_NAME_LEN);
    cli_print("</text><text x=\"%d\" y=\"50\">", MARGIN);
    print_bytes(p->size);
    cli_print(" for the tensors of a run; not drawn: ");
    print_bytes(p->constants);
    cli_print(" for weights and other constants");
    if (rest > 0) {
        cli_print(", ");
        print_bytes(rest);
        cli_print(" for loading and alignment");
    }
    cli_print("; together ");
    print_bytes(size);
    cli_print("</text>\n");
}

static void draw_legend(void)
{
    static const char *const rows[][2] = {
        {"i", "input"}, {"t", "tensor"}, {"s", "scratch memory of an operator"}};
    for (int i = 0; i < 3; i++)
        cli_print("<g class=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/></g>"
                  "<text x=\"%d\" y=\"%d\">%s</text>\n",
                  rows[i][0], LEFT + i * 90, TOP + PLOT_HEIGHT + 28, LEFT + i * 90 + 18,
                  TOP + PLOT_HEIGHT + 38, rows[i][1]);
}

static void draw(const plan *p)
{
    const double step = step_of(p->size), max = step * fmax(1, ceil(p->size / step - 1e-9));
    cli_svg_begin(LEFT + PLOT_WIDTH + MARGIN, TOP + PLOT_HEIGHT + 56,
                  "text{fill:#4a5562}.h{font-size:18px;font-weight:600;fill:#17202b}"
                  ".n{fill:#17202b;font-size:10.5px;text-anchor:middle}rect{stroke:#fff;"
                  "stroke-width:.6}.i rect{fill:#9bcfa5}.t rect{fill:#8fb4dd}.s rect{fill:#f0b48c}"
                  ".a{stroke:#d5dbe3}.r{text-anchor:end}.m{text-anchor:middle}");
    draw_heading(p);
    draw_axes(p, step, max);
    for (int i = 0; i < p->n; i++)
        draw_box(p, &p->boxes[i], max);
    draw_legend();
    cli_svg_end();
}

int cli_svg_memory(const ln_context *ctx)
{
    plan p = {.ctx = ctx};
    int status = count_operators(&p) ? cli_fail_memory() : 0;
    if (!status && ln_context_memory_plan(ctx, add_block, &p, NULL))
        status = cli_fail("%s: %s", ctx->source, ln_context_error(ctx));
    if (!status) {
        pack(&p);
        draw(&p);
    }
    free(p.boxes);
    free(p.before);
    return status;
}
