// SPDX-License-Identifier: Apache-2.0
// Detections: finds the outputs with boxes and scores, and runs non-maximum suppression.

#include "draw/cli_boxes.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/cli_preprocess.h"
#include "output/cli_compare.h"
#include "output/cli_labels.h"
#include "output/cli_msg.h"
#include "tensorlight/tl_shape.h"
#include "tensorlight/tl_tensor.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

// Outputs

// Returns N of a float output [1, .., N, columns], else -1. columns 0: any number.
static int num_rows(const tl_tensor *t, int columns)
{
    if (t->ndim < 2 || !tl_dtype_is_float(t->dtype))
        return -1;
    for (int i = 0; i < t->ndim - 2; i++)
        if (t->dims[i] != 1)
            return -1;
    const int m = t->dims[t->ndim - 1];
    return m > 0 && (!columns || m == columns) ? t->dims[t->ndim - 2] : -1;
}

static int is_named_like_boxes(const char *name)
{
    return strstr(name, "box") || strstr(name, "Box") || strstr(name, "loc");
}

// Whether outputs `i` and `k` can be boxes [N, 4] and scores [N, C]. `is_strict`: with C = 4, where
// they can also be scores and boxes, requires names that distinguish them.
static int can_be_boxes_and_scores(const cli_drawing *d, int i, int k, int is_strict)
{
    const int n = num_rows(d->tensors[i], 4);
    if (i == k || n < 0 || num_rows(d->tensors[k], 0) != n)
        return 0;
    return !is_strict || num_rows(d->tensors[k], 4) < 0 ||
           (is_named_like_boxes(d->names[i]) && !is_named_like_boxes(d->names[k]));
}

static int find_outputs(const cli_drawing *d, const tl_tensor **boxes, const tl_tensor **scores)
{
    for (int is_strict = 1; is_strict >= 0; is_strict--)
        for (int i = 0; i < d->n; i++)
            for (int k = 0; k < d->n; k++) {
                if (!can_be_boxes_and_scores(d, i, k, is_strict))
                    continue;
                *boxes = d->tensors[i];
                *scores = d->tensors[k];
                return 0;
            }
    return -1;
}

static int fail_outputs(const cli_photo *photo)
{
    const cli_drawing *d = photo->drawing;
    char text[LN_MAXLINE] = "", shape[LN_MAX_SHAPE];
    size_t len = 0;
    for (int i = 0; i < d->n && len < sizeof(text); i++)
        len += (size_t)snprintf(
            text + len, sizeof(text) - len, "%s'%s' %s", i ? ", " : "", d->names[i],
            ln_sprint_shape(shape, sizeof(shape), d->tensors[i]->ndim, d->tensors[i]->dims));
    return cli_fail("%s: --draw boxes: the outputs are %s; expected boxes [1, N, 4] and scores [1, "
                    "N, C] of a floating type",
                    photo->file, text);
}

// Classes

int cli_boxes_labels_background(const cli_labels *labels, int n_classes)
{
    if (labels->n == n_classes && n_classes)
        return !strcasecmp(labels->lines[0], "background");
    return labels->n && labels->n == n_classes - 1 ? 1 : -1;
}

const char *cli_boxes_label(const cli_labels *labels, int n_classes, int class)
{
    const int i = class - (labels->n == n_classes - 1);
    return i >= 0 && i < labels->n ? labels->lines[i] : NULL;
}

// Whether each row sums to 1, as softmax makes it; then class 0 is the background.
static int is_softmax(const tl_tensor *scores, int n, int n_classes)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int c = 0; c < n_classes; c++)
            sum += cli_element(scores, i * n_classes + c);
        if (!(fabs(sum - 1) < 1e-2))
            return 0;
    }
    return n_classes > 1;
}

// Suppression

enum { MAX_PER_CLASS = 200 };

// The arguments of tl_exec_nms.
typedef struct suppression {
    tl_tensor *boxes;    // [1, N, 4]
    tl_tensor *scores;   // [1, C, N], without the background
    tl_tensor *selected; // [C * max, 3]: batch, class, box, as in ONNX NonMaxSuppression
    void *scratch;
    size_t scratch_size;
} suppression;

static void free_suppression(suppression *s)
{
    tl_tensor_free_data_too(s->boxes);
    tl_tensor_free_data_too(s->scores);
    tl_tensor_free_data_too(s->selected);
    free(s->scratch);
}

// Copies boxes, and scores from class `first` on, transposed. Boxes with infinite or NaN
// coordinates get scores below all thresholds.
static void fill_suppression(const suppression *s, const tl_tensor *boxes, const tl_tensor *scores,
                             int first)
{
    const int n = s->boxes->dims[1], n_classes = s->scores->dims[1];
    float *coords = s->boxes->data, *score = s->scores->data;
    for (int i = 0; i < n; i++) {
        int is_finite = 1;
        for (int k = 0; k < 4; k++) {
            coords[4 * i + k] = (float)cli_element(boxes, 4 * i + k);
            is_finite &= isfinite(coords[4 * i + k]);
        }
        for (int c = 0; c < n_classes; c++) {
            const double v = cli_element(scores, i * (n_classes + first) + c + first);
            score[(size_t)c * (size_t)n + (size_t)i] = !is_finite ? -1 : v >= 0 ? (float)v : 0;
        }
    }
}

static int create_suppression(suppression *s, int n, int n_classes)
{
    const int max = n < MAX_PER_CLASS ? n : MAX_PER_CLASS;
    s->boxes = tl_tensor_zeros(3, (int[]){1, n, 4}, TL_FLOAT);
    s->scores = tl_tensor_zeros(3, (int[]){1, n_classes, n}, TL_FLOAT);
    s->selected = n_classes <= INT_MAX / max
                      ? tl_tensor_zeros(2, (int[]){n_classes * max, 3}, TL_INT64)
                      : NULL;
    if (!s->boxes || !s->scores || !s->selected)
        return -1;
    s->scratch_size = (tl_nms_scratch(s->boxes) + 63) / 64 * 64;
    s->scratch = s->scratch_size ? aligned_alloc(64, s->scratch_size) : NULL;
    return -(s->scratch_size && !s->scratch);
}

static int collect(cli_boxes *boxes, const suppression *s, int n_found, int first)
{
    const int64_t *row = s->selected->data;
    const float *coords = s->boxes->data, *score = s->scores->data;
    boxes->items = calloc((size_t)n_found + 1, sizeof(*boxes->items));
    for (int i = 0; boxes->items && i < n_found; i++, row += 3) {
        cli_box *box = &boxes->items[boxes->n++];
        box->class = (int)row[1] + first;
        box->score = score[row[1] * s->scores->dims[2] + row[2]];
        for (int k = 0; k < 4; k++) {
            box->at[k] = coords[4 * row[2] + k];
            boxes->is_relative &= fabs(box->at[k]) <= 2;
        }
    }
    return boxes->items ? 0 : cli_fail_memory();
}

static int suppress(cli_boxes *boxes, const cli_run_options *opt, const tl_tensor *coords,
                    const tl_tensor *scores, int n_classes)
{
    const int n = num_rows(coords, 4), first = boxes->has_background;
    // tl_exec_nms requires scores above the threshold; --threshold includes it.
    const tl_nms how = {.max = MAX_PER_CLASS,
                        .overlap = (float)opt->overlap,
                        .score = nextafterf((float)opt->threshold, -INFINITY),
                        .has_score = 1};
    suppression s = {0};
    int n_found = 0;
    int status = create_suppression(&s, n, n_classes - first) ? cli_fail_memory() : 0;
    if (!status) {
        fill_suppression(&s, coords, scores, first);
        const tl_exec exec = {
            .scratch = s.scratch, .scratch_size = s.scratch_size, .isa = tl_isa_best()};
        if (tl_exec_nms(&exec, s.boxes, s.scores, &how, s.selected, &n_found))
            status =
                cli_fail("%s: --draw boxes: %s", opt->shared.images.photo->file, tl_last_error());
    }
    if (!status)
        status = collect(boxes, &s, n_found, first);
    free_suppression(&s);
    return status;
}

int cli_boxes_find(cli_boxes *boxes, const cli_run_options *opt, const cli_labels *labels)
{
    const tl_tensor *coords, *scores;
    *boxes = (cli_boxes){.is_relative = 1};
    if (find_outputs(opt->shared.images.photo->drawing, &coords, &scores))
        return fail_outputs(opt->shared.images.photo);
    const int n_classes = scores->dims[scores->ndim - 1];
    const int background = cli_boxes_labels_background(labels, n_classes);
    boxes->has_background = background >= 0 ? background && n_classes > 1
                                            : is_softmax(scores, num_rows(coords, 4), n_classes);
    boxes->n_classes = n_classes;
    return coords->len ? suppress(boxes, opt, coords, scores, n_classes) : 0;
}

void cli_boxes_free(cli_boxes *boxes)
{
    free(boxes->items);
    boxes->items = NULL;
}
