// SPDX-License-Identifier: Apache-2.0
// The class of each pixel of a picture, from a grid of scores or classes over the input.

#include <math.h>
#include <stdio.h>

#include "lightnet/ln_detect.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"

// An output with a class for each element of a grid.
typedef struct grid {
    const tl_tensor *t;
    int n_scores; // 1: each element is a score, or the class itself
    int height, width;
    size_t class_step; // elements from one class to the next
    size_t pixel_step;
    int is_class; // elements are classes
} grid;

static int read_grid(const tl_tensor *t, int is_nhwc, grid *g)
{
    if (t->ndim < 3 || t->ndim > 4 || !t->len || t->dtype == TL_STRING ||
        (t->ndim == 4 && t->dims[0] != 1))
        return 0;
    const int *const dims = t->dims + t->ndim - 3;
    const int has_last = is_nhwc && t->ndim == 4;
    *g = (grid){.t = t,
                .n_scores = dims[has_last ? 2 : 0],
                .height = dims[has_last ? 0 : 1],
                .width = dims[has_last ? 1 : 2]};
    g->class_step = has_last ? 1 : (size_t)g->height * (size_t)g->width;
    g->pixel_step = has_last ? (size_t)g->n_scores : 1;
    g->is_class = g->n_scores == 1 && !tl_dtype_is_float(t->dtype);
    return g->height > 1 || g->width > 1;
}

// The factor between the aspect ratios of grid and input.
enum { MAX_ASPECT_RATIO_ERROR = 4 };

// Whether the grid has about the aspect ratio of the input, unlike boxes [1, N, 4].
static int fits_input(const grid *g, const ln_image_axis axes[2])
{
    const double h = (double)g->height * axes[1].out, w = (double)g->width * axes[0].out;
    return h <= MAX_ASPECT_RATIO_ERROR * w && w <= MAX_ASPECT_RATIO_ERROR * h;
}

// For each pixel of the picture's axis the index on the grid's axis of `n`; -1: outside the input.
static int *place_pixels(const ln_image_axis *axis, int n)
{
    int *const at = ln_alloc_array((size_t)axis->in, sizeof(*at));
    for (int i = 0; at && i < axis->in; i++) {
        const double v = (i + 0.5) * axis->size / axis->in - axis->offset;
        const double k = floor(v * n / axis->out);
        at[i] = v >= 0 && k >= 0 && k < n ? (int)k : -1;
    }
    return at;
}

// The class of an element that is a score, or the class itself.
static int32_t class_of(const grid *g, float v, double threshold)
{
    return !g->is_class ? v >= (float)threshold : v >= 0 && v < 0x1p31f ? (int32_t)v : 0;
}

// Of equal scores the first one; NaN is the least. best: the scores of `classes`.
static void compare_scores(const grid *g, const float *scores, int c, float *best, int32_t *classes)
{
    const size_t n = (size_t)g->height * (size_t)g->width;
    const float *from = scores + (size_t)c * g->class_step;
    for (size_t i = 0; i < n; i++, from += g->pixel_step)
        if (*from > best[i] || (isnan(best[i]) && !isnan(*from))) {
            best[i] = *from;
            classes[i] = c;
        }
}

static void find_classes(const grid *g, const float *scores, double threshold, float *best,
                         int32_t *classes)
{
    const size_t n = (size_t)g->height * (size_t)g->width;
    for (size_t i = 0; i < n; i++)
        best[i] = scores[i * g->pixel_step];
    for (int c = 1; c < g->n_scores; c++)
        compare_scores(g, scores, c, best, classes);
    for (size_t i = 0; i < n && g->n_scores == 1; i++)
        classes[i] = class_of(g, best[i], threshold);
}

// Returns new: the class of each element of the grid; NULL: no memory.
static int32_t *classes_of(const grid *g, double threshold)
{
    const size_t n = (size_t)g->height * (size_t)g->width, len = (size_t)g->t->len;
    int32_t *const classes = ln_alloc_array(n, sizeof(*classes));
    float *const best = ln_alloc_array(n, sizeof(*best));
    float *const own = g->t->dtype == TL_FLOAT ? NULL : ln_alloc_array(len, sizeof(*own));
    const int has_memory = classes && best && (own || g->t->dtype == TL_FLOAT);
    if (own)
        tl_convert_array(own, TL_FLOAT, g->t->data, g->t->dtype, len);
    if (has_memory)
        find_classes(g, own ? own : g->t->data, threshold, best, classes);
    ln_free(own);
    ln_free(best);
    if (has_memory)
        return classes;
    ln_free(classes);
    return NULL;
}

static void fill_map(tl_tensor *map, const grid *g, const int32_t *classes, const int *rows,
                     const int *columns)
{
    int32_t *to = map->data;
    for (int y = 0; y < map->dims[0]; y++)
        for (int x = 0; x < map->dims[1]; x++)
            *to++ = rows[y] < 0 || columns[x] < 0
                        ? -1
                        : classes[(size_t)rows[y] * (size_t)g->width + (size_t)columns[x]];
}

static int fail_outputs(int n, const char *const *names, const tl_tensor *const *tensors,
                        ln_error *err)
{
    char text[1024] = "none", shape[LN_MAX_SHAPE];
    size_t len = 0;
    for (int i = 0; i < n && len < sizeof(text); i++)
        len += (size_t)snprintf(
            text + len, sizeof(text) - len, "%s'%.64s' %s", i ? ", " : "", names[i],
            ln_sprint_shape(shape, sizeof(shape), tensors[i]->ndim, tensors[i]->dims));
    return ln_error_set_as(err, LN_BAD_ARGUMENT,
                           "no output has a shape of masks: they are %s; expected [1, C, H, W] or "
                           "[1, H, W] with about the aspect ratio of the input",
                           text);
}

tl_tensor *ln_class_map(int n, const char *const *names, const tl_tensor *const *tensors,
                        const ln_image_axis axes[2], int is_nhwc, double threshold, int *n_classes,
                        ln_error *err)
{
    grid g = {0};
    int i = 0;
    while (i < n && !(read_grid(tensors[i], is_nhwc, &g) && fits_input(&g, axes)))
        i++;
    if (i == n)
        return fail_outputs(n, names, tensors, err), NULL;
    int32_t *const classes = classes_of(&g, threshold);
    int *const rows = place_pixels(&axes[0], g.height);
    int *const columns = place_pixels(&axes[1], g.width);
    tl_tensor *const map = classes && rows && columns
                               ? tl_tensor_zeros(2, (const int[]){axes[0].in, axes[1].in}, TL_INT32)
                               : NULL;
    if (map)
        fill_map(map, &g, classes, rows, columns);
    else
        ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory for classes of %d x %d pixels",
                        axes[0].in, axes[1].in);
    *n_classes = g.is_class ? 0 : g.n_scores == 1 ? 2 : g.n_scores;
    ln_free(classes);
    ln_free(rows);
    ln_free(columns);
    return map;
}
