// SPDX-License-Identifier: Apache-2.0
// Masks of detections: a grid of logits or probabilities over the input, or over the box, read
// between its elements at the centers of the picture's pixels.

#include <math.h>

#include "vision/ln_detect_form.h"

// The grid of a detection, over the rectangle x0, y0, x1, y1 of the input.
typedef struct grid {
    float *values; // [height, width]
    int height, width;
    double over[4];
    double threshold;
} grid;

// Sums of prototypes with the factors of the row.
static void sum_prototypes(const ln_detect_reading *r, int row, grid *g)
{
    const size_t n = (size_t)g->height * (size_t)g->width;
    for (int m = 0; m < ln_detect_size(r, 'M'); m++) {
        const double factor = ln_detect_column(r, row, r->first_factor + m);
        for (size_t i = 0; i < n; i++)
            g->values[i] += (float)(factor * ln_detect_at(r, r->mask_role, (size_t)m * n + i));
    }
}

static void copy_mask(const ln_detect_reading *r, int row, grid *g)
{
    const size_t n = (size_t)g->height * (size_t)g->width;
    for (size_t i = 0; i < n; i++)
        g->values[i] = (float)ln_detect_at(r, r->mask_role, (size_t)row * n + i);
}

static int init_grid(grid *g, const ln_detect_reading *r, int row, const double at[4],
                     ln_error *err)
{
    *g = (grid){.height = ln_detect_size(r, 'P'),
                .width = ln_detect_size(r, 'Q'),
                .over = {0, 0, r->width, r->height},
                .threshold = r->masks == LN_DETECT_PROTOTYPES ? 0 : 0.5};
    g->values = ln_alloc_array((size_t)g->height * (size_t)g->width, sizeof(*g->values));
    if (!g->values)
        return ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory for a mask of %d x %d",
                               g->height, g->width);
    for (int k = 0; k < 4 && r->masks == LN_DETECT_OF_BOX; k++)
        g->over[k] = at[k];
    (r->masks == LN_DETECT_PROTOTYPES ? sum_prototypes : copy_mask)(r, row, g);
    return 0;
}

// The two elements of an axis with `n` beside position v, from -0.5 on, and the weight of the
// second one.
static int split(double v, int n, int *next, double *weight)
{
    const double at = fmin(fmax(v, 0), n - 1);
    const int first = (int)at;
    *next = first + 1 < n ? first + 1 : first;
    *weight = at - first;
    return first;
}

// The value at a point of the input.
static double value_at(const grid *g, double x, double y)
{
    int i1, k1;
    double b, c;
    const int i0 =
        split((y - g->over[1]) / (g->over[3] - g->over[1]) * g->height - 0.5, g->height, &i1, &b);
    const int k0 =
        split((x - g->over[0]) / (g->over[2] - g->over[0]) * g->width - 0.5, g->width, &k1, &c);
    const float *const upper = g->values + (size_t)i0 * (size_t)g->width;
    const float *const lower = g->values + (size_t)i1 * (size_t)g->width;
    return (1 - b) * ((1 - c) * upper[k0] + c * upper[k1]) +
           b * ((1 - c) * lower[k0] + c * lower[k1]);
}

static double to_input(const ln_image_axis *axis, double v)
{
    return v * axis->size / axis->in - axis->offset;
}

static int is_inside(double v, double from, double to)
{
    return v >= from && v < to;
}

int ln_detect_fill_mask(const ln_detect_reading *r, const ln_image_axis axes[2], int row,
                        const double at[4], const float box[4], const int region[4], uint8_t *mask,
                        ln_error *err)
{
    grid g;
    if (init_grid(&g, r, row, at, err))
        return -1;
    for (int i = region[1]; i < region[3]; i++)
        for (int k = region[0]; k < region[2]; k++) {
            const double x = k + 0.5, y = i + 0.5;
            *mask++ = is_inside(x, box[0], box[2]) && is_inside(y, box[1], box[3]) &&
                      value_at(&g, to_input(&axes[1], x), to_input(&axes[0], y)) > g.threshold;
        }
    ln_free(g.values);
    return 0;
}
