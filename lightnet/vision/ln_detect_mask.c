// SPDX-License-Identifier: Apache-2.0
// Masks of detections: a grid of logits or probabilities over the input, or over the box, read
// between its elements at the centers of the picture's pixels.

#include <math.h>
#include <string.h>

#include "vision/ln_detect_form.h"

// The grid of a detection, over the rectangle x0, y0, x1, y1 of the input.
typedef struct grid {
    float *values; // [height, width]
    int height, width;
    double over[4];
    float threshold;
} grid;

// Sums of prototypes with the factors of the row.
static void sum_prototypes(const ln_detect_reading *r, int row, grid *g)
{
    const size_t n = (size_t)g->height * (size_t)g->width;
    const float *prototype = r->data[r->mask_role];
    for (int m = 0; m < ln_detect_size(r, 'M'); m++, prototype += n) {
        const float factor = (float)ln_detect_column(r, row, r->first_factor + m);
        for (size_t i = 0; i < n; i++)
            g->values[i] += factor * prototype[i];
    }
}

static void copy_mask(const ln_detect_reading *r, int row, grid *g)
{
    const size_t n = (size_t)g->height * (size_t)g->width;
    memcpy(g->values, r->data[r->mask_role] + (size_t)row * n, n * sizeof(*g->values));
}

static int init_grid(grid *g, const ln_detect_reading *r, int row, const double at[4],
                     ln_error *err)
{
    *g = (grid){.height = ln_detect_size(r, 'P'),
                .width = ln_detect_size(r, 'Q'),
                .over = {0, 0, r->width, r->height},
                .threshold = r->masks == LN_DETECT_PROTOTYPES ? 0 : 0.5f};
    g->values = ln_alloc_array((size_t)g->height * (size_t)g->width, sizeof(*g->values));
    if (!g->values)
        return ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory for a mask of %d x %d",
                               g->height, g->width);
    for (int k = 0; k < 4 && r->masks == LN_DETECT_OF_BOX; k++)
        g->over[k] = at[k];
    (r->masks == LN_DETECT_PROTOTYPES ? sum_prototypes : copy_mask)(r, row, g);
    return 0;
}

// The two elements of an axis beside a pixel's center, and the weight of the second one.
typedef struct tap {
    int first, next;
    float weight;
} tap;

// For pixel `i` of the picture's axis; the grid has `n` elements between `from` and `to` of the
// input. Beyond the outer centers it has the values there.
static tap tap_of(const ln_image_axis *axis, int i, double from, double to, int n)
{
    const double v = (i + 0.5) * axis->size / axis->in - axis->offset;
    const double at = fmin(fmax((v - from) / (to - from) * n - 0.5, 0), n - 1);
    const int first = (int)at;
    return (tap){first, first + 1 < n ? first + 1 : first, (float)(at - first)};
}

static float value_at(const grid *g, tap y, tap x)
{
    const float *const upper = g->values + (size_t)y.first * (size_t)g->width;
    const float *const lower = g->values + (size_t)y.next * (size_t)g->width;
    const float above = upper[x.first] + x.weight * (upper[x.next] - upper[x.first]);
    const float below = lower[x.first] + x.weight * (lower[x.next] - lower[x.first]);
    return above + y.weight * (below - above);
}

static int is_inside(int i, float from, float to)
{
    return (float)i + 0.5f >= from && (float)i + 0.5f < to;
}

static void fill(const grid *g, const ln_image_axis axes[2], const tap *columns, const float box[4],
                 const int region[4], uint8_t *mask)
{
    for (int i = region[1]; i < region[3]; i++) {
        const tap row = tap_of(&axes[0], i, g->over[1], g->over[3], g->height);
        const int row_is_inside = is_inside(i, box[1], box[3]);
        for (int k = region[0]; k < region[2]; k++)
            *mask++ = row_is_inside && is_inside(k, box[0], box[2]) &&
                      value_at(g, row, columns[k - region[0]]) > g->threshold;
    }
}

int ln_detect_fill_mask(const ln_detect_reading *r, const ln_image_axis axes[2], int row,
                        const double at[4], const float box[4], const int region[4], uint8_t *mask,
                        ln_error *err)
{
    grid g;
    const int n = region[2] - region[0];
    tap *const columns = ln_alloc_array((size_t)n, sizeof(*columns));
    int status = columns ? init_grid(&g, r, row, at, err)
                         : ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory for %d pixels", n);
    if (!status) {
        for (int k = 0; k < n; k++)
            columns[k] = tap_of(&axes[1], region[0] + k, g.over[0], g.over[2], g.width);
        fill(&g, axes, columns, box, region, mask);
        ln_free(g.values);
    }
    ln_free(columns);
    return status;
}
