// SPDX-License-Identifier: Apache-2.0
// The memory plan of a run in SVG: operators across, offsets up, a box for each block of memory.

#include <math.h>
#include <string.h>

#include "draw/cli_memory.h"
#include "draw/cli_svg.h"
#include "output/cli_print.h"
#include "output/cli_units.h"

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

// Drawing

// A round number of bytes, N_TICKS or fewer of which are at least `max`.
static double step_of(double max)
{
    const double rough = fmax(max, 1) / N_TICKS, power = pow(10, floor(log10(rough)));
    return power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
}

static double x_of(const cli_memory *m, int op)
{
    return LEFT + (double)PLOT_WIDTH * op / (m->n_run ? m->n_run : 1);
}

static double y_of(double bytes, double max)
{
    return TOP + PLOT_HEIGHT * (1 - bytes / max);
}

static const char *class_of(const cli_block *b)
{
    return b->plan.is_scratch ? "s" : b->plan.first <= 0 ? "i" : "t";
}

static void draw_label(const cli_block *b, double x, double y, double w, double h)
{
    if (h < LABEL_HEIGHT || w < CHAR_WIDTH * (double)(strlen(b->plan.name) + 2))
        return;
    cli_print("<text class=\"n\" x=\"%.2f\" y=\"%.2f\">", x + w / 2, y + h / 2 + 4);
    cli_svg_text(b->plan.name, LN_MAX_NAME_LEN);
    cli_print("</text>");
}

static void draw_box(const cli_memory *m, const cli_block *b, double max)
{
    const double x = x_of(m, b->first), w = x_of(m, b->last + 1) - x;
    const double low = (double)b->offset, high = low + (double)b->plan.size;
    const double y = y_of(high, max), h = y_of(low, max) - y;
    cli_print("<g class=\"%s\"><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>",
              class_of(b), x, y, w, h > 0.2 ? h : 0.2);
    draw_label(b, x, y, w, h);
    cli_print("<title>");
    if (b->plan.is_scratch)
        cli_print("scratch memory of ");
    cli_svg_text(b->plan.name, LN_MAX_NAME_LEN);
    cli_print(": %zu bytes at %zu\noperators %d to %d</title></g>\n", b->plan.size, b->plan.offset,
              b->first + 1, b->last + 1);
}

static void draw_axes(const cli_memory *m, double step, double max)
{
    double unit;
    const char *const name = cli_byte_unit(max, &unit);
    const int every = (int)fmax(1, step_of(m->n_run)), n = (int)(max / step + 0.5);
    for (int i = 0; i <= n; i++) {
        const double at = step * i;
        cli_print("<path class=\"a\" d=\"M%d %.1fH%d\"/><text class=\"r\" x=\"%d\" y=\"%.1f\">"
                  "%g</text>\n",
                  LEFT, y_of(at, max), LEFT + PLOT_WIDTH, LEFT - 7, y_of(at, max) + 4, at / unit);
    }
    for (int i = 0; i <= m->n_run; i += every)
        cli_print("<text class=\"m\" x=\"%.1f\" y=\"%d\">%d</text>\n", x_of(m, i),
                  TOP + PLOT_HEIGHT + 18, i);
    cli_print("<text class=\"r\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT - 7, TOP - 14, name);
    cli_print("<text class=\"r\" x=\"%d\" y=\"%d\">operators of a run</text>\n", LEFT + PLOT_WIDTH,
              TOP + PLOT_HEIGHT + 38);
}

static void draw_heading(const cli_memory *m, const ln_context *ctx)
{
    char run[CLI_BYTES_TEXT], constants[CLI_BYTES_TEXT], rest[CLI_BYTES_TEXT], all[CLI_BYTES_TEXT];
    const char *const slash = strrchr(ctx->source, '/');
    cli_print("<text class=\"h\" x=\"%d\" y=\"30\">", MARGIN);
    cli_svg_text(slash ? slash + 1 : ctx->source, LN_MAX_NAME_LEN);
    cli_print(
        "</text><text x=\"%d\" y=\"50\">%s for the tensors of a run; not drawn: %s for weights "
        "and other constants, %s for loading and alignment; together %s</text>\n",
        MARGIN, cli_bytes_text(run, (double)m->size),
        cli_bytes_text(constants, (double)m->constants),
        cli_bytes_text(rest, (double)(m->planned.size - m->size - m->constants)),
        cli_bytes_text(all, (double)m->planned.size));
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

static void draw(const cli_memory *m, const ln_context *ctx)
{
    const double size = (double)m->size, step = step_of(size);
    const double max = step * fmax(1, ceil(size / step - 1e-9));
    cli_svg_begin(LEFT + PLOT_WIDTH + MARGIN, TOP + PLOT_HEIGHT + 56,
                  "text{fill:#4a5562}.h{font-size:18px;font-weight:600;fill:#17202b}"
                  ".n{fill:#17202b;font-size:10.5px;text-anchor:middle}rect{stroke:#fff;"
                  "stroke-width:.6}.i rect{fill:#9bcfa5}.t rect{fill:#8fb4dd}.s rect{fill:#f0b48c}"
                  ".a{stroke:#d5dbe3}.r{text-anchor:end}.m{text-anchor:middle}");
    draw_heading(m, ctx);
    draw_axes(m, step, max);
    for (const cli_block *b = m->blocks; b < m->blocks + m->n; b++)
        draw_box(m, b, max);
    draw_legend();
    cli_svg_end();
}

int cli_svg_memory(const ln_context *ctx)
{
    cli_memory m;
    const int status = cli_memory_list(&m, ctx);
    if (!status)
        draw(&m, ctx);
    cli_memory_free(&m);
    return status;
}
