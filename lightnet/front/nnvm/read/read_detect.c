// SPDX-License-Identifier: Apache-2.0
// Object detection: anchor boxes, their decoding, and non-maximum suppression.
// Source: W. Liu et al. 2016, "SSD: Single Shot MultiBox Detector".

#include <limits.h>
#include <math.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"
#include "tensorlight/tl_type.h"

// Anchor boxes (priors)

// The max number of box coordinates that are written as a constant.
enum { MAX_NUMBERS = 1 << 26 };

// The anchor boxes of a cell: of each size with ratio 1, then of the first size with each ratio but
// the first. Steps and offsets are [y, x].
typedef struct priors {
    double sizes[LN_NNVM_MAX_TUPLE], ratios[LN_NNVM_MAX_TUPLE];
    int n_sizes, n_ratios, n_boxes;
    double steps[2], offsets[2];
    int clips;
} priors;

static void read_pair(ln_nnvm_node *n, const char *key, double deflt, double pair[2])
{
    double given[LN_NNVM_MAX_TUPLE];
    const int len = ln_nnvm_floats(n, key, given);
    if (len > 0 && len != 2)
        ln_emit_fail(&n->emit, "attribute '%s' has %d numbers, expected 2", key, len);
    for (int i = 0; i < 2; i++)
        pair[i] = len == 2 ? given[i] : deflt;
}

static int read_factors(ln_nnvm_node *n, const char *key, double values[LN_NNVM_MAX_TUPLE])
{
    const int len = ln_nnvm_floats(n, key, values);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++)
        if (!(values[i] > 0))
            ln_emit_fail(&n->emit, "attribute '%s' has %g, expected more than 0", key, values[i]);
    if (len <= 0)
        values[0] = 1;
    return len > 0 ? len : 1;
}

static priors read_priors(ln_nnvm_node *n)
{
    priors p = {.clips = ln_attr_bool(&n->emit, "clip", 0)};
    p.n_sizes = read_factors(n, "sizes", p.sizes);
    p.n_ratios = read_factors(n, "ratios", p.ratios);
    p.n_boxes = p.n_sizes + p.n_ratios - 1;
    read_pair(n, "steps", -1, p.steps);
    read_pair(n, "offsets", 0.5, p.offsets);
    return p;
}

// Half the width and the height of box `k`, of an image of h x w cells.
static void half_size(const priors *p, int k, int h, int w, double half[2])
{
    const double size = k < p->n_sizes ? p->sizes[k] : p->sizes[0];
    const double root = k < p->n_sizes ? 1 : sqrt(p->ratios[k - p->n_sizes + 1]);
    half[0] = size * h / w * root / 2;
    half[1] = size / root / 2;
}

static void write_boxes(const priors *p, int h, int w, float *to)
{
    const double step_y = p->steps[0] > 0 ? p->steps[0] : 1.0 / h;
    const double step_x = p->steps[1] > 0 ? p->steps[1] : 1.0 / w;
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            for (int k = 0; k < p->n_boxes; k++) {
                const double x = (j + p->offsets[1]) * step_x, y = (i + p->offsets[0]) * step_y;
                double half[2];
                half_size(p, k, h, w, half);
                const double box[] = {x - half[0], y - half[1], x + half[0], y + half[1]};
                for (int c = 0; c < 4; c++)
                    *to++ = (float)(p->clips ? fmin(fmax(box[c], 0), 1) : box[c]);
            }
}

// The boxes depend on the shape of the data only, so they are a constant.
static void translate_prior(ln_nnvm_node *n)
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, ln_nnvm_in(n, 0));
    const priors p = read_priors(n);
    if (t->ndim != 4 || !t->len)
        ln_emit_fail(&n->emit,
                     "its data has %d dimensions and %d elements, expected 4 and at least 1",
                     t->ndim, t->len);
    if (ln_nnvm_failed(n))
        return;
    const int h = t->dims[2], w = t->dims[3];
    const int64_t n_boxes = (int64_t)h * w * p.n_boxes;
    if ((int64_t)h * w > MAX_NUMBERS || 4 * n_boxes > MAX_NUMBERS) {
        ln_emit_fail(&n->emit, "%d boxes for each of %d x %d cells, expected at most %d in all",
                     p.n_boxes, h, w, MAX_NUMBERS / 4);
        return;
    }
    const int dims[] = {1, (int)n_boxes, 4};
    float *const boxes =
        ln_translation_alloc(&n->model->base, (size_t)n_boxes * 4 * sizeof(*boxes));
    if (!boxes)
        return;
    write_boxes(&p, h, w, boxes);
    ln_nnvm_alias(n, 0, ln_emit_constant(&n->emit, TL_FLOAT, 3, dims, boxes));
}

// Decoding

static const char *part(ln_nnvm_node *n, const char *src, int axis, int start, int end)
{
    static const int one = 1;
    return ln_nnvm_slice(n, src, 1, &axis, &start, &end, &one, LN_EMIT_TEMP);
}

// Decodes center + deltas * variances * size and exp(deltas * variances) * size to corners.
static const char *emit_boxes(ln_nnvm_node *n, const char *deltas, const char *anchor)
{
    static const int pair = 2;
    double v[LN_NNVM_MAX_TUPLE] = {0.1, 0.1, 0.2, 0.2};
    const int len = ln_nnvm_floats(n, "variances", v), clips = ln_attr_bool(&n->emit, "clip", 1);
    if (len >= 0 && len != 4)
        ln_emit_fail(&n->emit, "attribute 'variances' has %d numbers, expected 4", len);
    const float of_center[] = {(float)v[0], (float)v[1]}, of_size[] = {(float)v[2], (float)v[3]};
    const char *const low = part(n, anchor, 2, 0, 2), *const high = part(n, anchor, 2, 2, 4);
    const char *const scales = ln_emit_constant(&n->emit, TL_FLOAT, 1, &pair, of_center);
    const char *const powers = ln_emit_constant(&n->emit, TL_FLOAT, 1, &pair, of_size);
    const char *const size = ln_emit_formula(&n->emit, "a - x", low, high, NULL, LN_EMIT_TEMP);
    const char *const center =
        ln_emit_formula(&n->emit, "(x + a) * 0.5", low, high, NULL, LN_EMIT_TEMP);
    const char *const shift = ln_emit_formula(&n->emit, "x * a * b", part(n, deltas, 2, 0, 2),
                                              scales, size, LN_EMIT_TEMP);
    const char *const half = ln_emit_formula(&n->emit, "exp(x * a) * b * 0.5",
                                             part(n, deltas, 2, 2, 4), powers, size, LN_EMIT_TEMP);
    const char *const corners[] = {
        ln_emit_formula(&n->emit, "x + a - b", shift, center, half, LN_EMIT_TEMP),
        ln_emit_formula(&n->emit, "x + a + b", shift, center, half, LN_EMIT_TEMP)};
    const char *const boxes = ln_nnvm_join(n, 2, corners, 2, LN_EMIT_TEMP);
    return clips ? ln_nnvm_clip(n, boxes, 0, 1, LN_EMIT_TEMP) : boxes;
}

// The rows (class, score, box) of all anchors, and which contain an object.
typedef struct detections {
    int n_batches, n_anchors;
    const char *rows;  // [N, A, 6]
    const char *found; // [N, A] of TL_BOOL
} detections;

// Fails unless the inputs are [N, C, A], [N, 4 A] and [1, A, 4] of floats.
static detections check_detections(ln_nnvm_node *n, const char *const in[3])
{
    const tl_tensor *t[3];
    for (int i = 0; i < 3; i++) {
        t[i] = ln_nnvm_tensor_of(n, in[i]);
        const int ndim = i == 1 ? 2 : 3;
        if (t[i]->ndim != ndim || t[i]->dtype != TL_FLOAT || !t[i]->len) {
            ln_emit_fail(&n->emit, "input %d is %s of %d dimensions, expected TL_FLOAT of %d", i,
                         tl_dtype_name(t[i]->dtype), t[i]->ndim, ndim);
            return (detections){0};
        }
    }
    const int n_batches = t[0]->dims[0], n_anchors = t[0]->dims[2];
    if (t[0]->dims[1] < 2)
        ln_emit_fail(&n->emit, "%d classes, expected the background and at least one",
                     t[0]->dims[1]);
    if (t[1]->dims[0] != n_batches || t[1]->dims[1] / 4 != n_anchors || t[1]->dims[1] % 4)
        ln_emit_fail(&n->emit, "its deltas are %d x %d, expected %d batches of 4 x %d",
                     t[1]->dims[0], t[1]->dims[1], n_batches, n_anchors);
    if (t[2]->dims[0] != 1 || t[2]->dims[1] != n_anchors || t[2]->dims[2] != 4)
        ln_emit_fail(&n->emit, "its anchors are %d x %d x %d, expected 1 x %d x 4", t[2]->dims[0],
                     t[2]->dims[1], t[2]->dims[2], n_anchors);
    return (detections){n_batches, n_anchors, NULL, NULL};
}

// Classes count from 0 after the background, the first. Rows below 'threshold' are -1.
static detections emit_detections(ln_nnvm_node *n)
{
    static const int classes = 1;
    const char *const in[] = {ln_nnvm_in(n, 0), ln_nnvm_in(n, 1), ln_nnvm_in(n, 2)};
    detections d = check_detections(n, in);
    const double threshold = ln_attr_number(&n->emit, "threshold", 0.01);
    if (ln_nnvm_failed(n))
        return d;
    const int each[] = {d.n_batches, d.n_anchors, 1}, of_boxes[] = {d.n_batches, d.n_anchors, 4};
    const char *const objects = part(n, in[0], 1, 1, INT_MAX - 1);
    const char *const score =
        ln_emit_reduce(&n->emit, "TL_REDUCE_MAX", objects, 1, &classes, 0, LN_EMIT_TEMP);
    const char *const best =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_ARGREDUCE, LN_ARG("src", objects), LN_INT("axis", 1),
                LN_BOOL("is_min", 0), LN_BOOL("keepdims", 0));
    const char *const label = ln_emit_cast(&n->emit, best, TL_FLOAT, LN_EMIT_TEMP);
    const char *const deltas = ln_emit_reshape(&n->emit, in[1], 3, of_boxes, LN_EMIT_TEMP);
    const char *const columns[] = {ln_emit_reshape(&n->emit, label, 3, each, LN_EMIT_TEMP),
                                   ln_emit_reshape(&n->emit, score, 3, each, LN_EMIT_TEMP),
                                   emit_boxes(n, deltas, in[2])};
    const char *const rows = ln_nnvm_join(n, 3, columns, 2, LN_EMIT_TEMP);
    d.found = ln_emit_compare(&n->emit, "TL_COMPARE_GREATER_EQUAL", score,
                              ln_nnvm_scalar_like(n, score, threshold));
    d.rows = ln_emit_where(&n->emit, ln_emit_reshape(&n->emit, d.found, 3, each, LN_EMIT_TEMP),
                           rows, ln_nnvm_scalar_like(n, rows, -1), LN_EMIT_TEMP);
    return d;
}

// Outputs the rows with objects first, in their order, and their number.
static void translate_transform(ln_nnvm_node *n)
{
    static const int anchors = 1;
    const detections d = emit_detections(n);
    const int each[] = {d.n_batches, d.n_anchors, 1}, all[] = {d.n_batches, d.n_anchors, 6};
    // topk is stable.
    LN_EMIT_BEGIN(&n->emit, LN_OP_TOPK, LN_ARG("src", d.found), LN_INT("k", d.n_anchors),
                  LN_INT("axis", 1));
    ln_emit_out(&n->emit, "values", LN_EMIT_TEMP);
    const char *order = ln_emit_end(&n->emit, "indices", LN_EMIT_TEMP);
    order = ln_emit_reshape(&n->emit, order, 3, each, LN_EMIT_TEMP);
    order = ln_emit_expand(&n->emit, order, 3, all, LN_EMIT_TEMP);
    LN_EMIT(&n->emit, 0, LN_OP_TAKE_ALONG, LN_ARG("src", d.rows), LN_ARG("index", order),
            LN_INT("axis", 1));
    ln_emit_reduce(&n->emit, "TL_REDUCE_SUM",
                   ln_emit_cast(&n->emit, d.found, TL_INT32, LN_EMIT_TEMP), 1, &anchors, 0, 1);
}

// Non-maximum suppression

// Arguments of `nms_rows`.
typedef struct suppression {
    int box, score, label;
    double overlap;
    int across_labels, max_compared, max, packs;
} suppression;

// Begins the operator; `count` may be NULL.
static void begin_suppression(ln_nnvm_node *n, const suppression *s, const char *rows,
                              const char *count)
{
    LN_EMIT_BEGIN(&n->emit, LN_OP_NMS_ROWS, LN_ARG("src", rows), LN_ARG("count", count),
                  LN_INT("box", s->box), LN_INT("score", s->score), LN_INT("label", s->label),
                  LN_NUMBER("overlap", s->overlap > 0 ? s->overlap : 0),
                  LN_INT("most_compared", s->max_compared), LN_INT("most", s->max),
                  LN_BOOL("across_labels", s->across_labels), LN_BOOL("packs", s->packs));
}

// Reads a limit. Values <= 0 mean none, which is 0 in LightNet.
static int read_max(ln_nnvm_node *n, const char *key)
{
    const int max = ln_attr_int_in(&n->emit, key, -1, INT_MIN, INT_MAX);
    return max > 0 ? max : 0;
}

// Outputs the rows, the best first, or their indices.
static void translate_nms(ln_nnvm_node *n)
{
    const char *const rows = ln_nnvm_in(n, 0);
    const char *const count = ln_emit_cast(&n->emit, ln_nnvm_in(n, 1), TL_INT32, LN_EMIT_TEMP);
    const int wants_index = ln_attr_bool(&n->emit, "return_indices", 1);
    const suppression s = {.box = ln_attr_int_in(&n->emit, "coord_start", 2, 0, INT_MAX),
                           .score = ln_attr_int_in(&n->emit, "score_index", 1, 0, INT_MAX),
                           .label = ln_attr_int_in(&n->emit, "id_index", 0, -1, INT_MAX),
                           .overlap = ln_attr_number(&n->emit, "iou_threshold", 0.5),
                           .across_labels = ln_attr_bool(&n->emit, "force_suppress", 0),
                           .max_compared = read_max(n, "top_k"),
                           .max = read_max(n, "max_output_size"),
                           .packs = ln_attr_bool(&n->emit, "invalid_to_bottom", 0)};
    begin_suppression(n, &s, rows, count);
    if (wants_index)
        ln_emit_out(&n->emit, "index", 0);
    ln_emit_end(&n->emit, "dst", wants_index ? LN_EMIT_TEMP : 0);
}

// The arguments of older operators.
static suppression old_suppression(ln_nnvm_node *n)
{
    return (suppression){.box = 2,
                         .score = 1,
                         .overlap = ln_attr_number(&n->emit, "nms_threshold", 0.5),
                         .across_labels = ln_attr_bool(&n->emit, "force_suppress", 0),
                         .max_compared = read_max(n, "nms_topk")};
}

// nms, the older name of non_max_suppression.
static void translate_old_nms(ln_nnvm_node *n)
{
    const char *const rows = ln_nnvm_in(n, 0);
    const char *const count = ln_emit_cast(&n->emit, ln_nnvm_in(n, 1), TL_INT32, LN_EMIT_TEMP);
    const suppression s = old_suppression(n);
    begin_suppression(n, &s, rows, count);
    ln_emit_end(&n->emit, "dst", 0);
}

// multibox_transform_loc and non_max_suppression in one. A threshold above 1 suppresses nothing.
static void translate_detection(ln_nnvm_node *n)
{
    suppression s = old_suppression(n);
    s.overlap = s.overlap > 1 ? 0 : s.overlap;
    if (ln_attr_int(&n->emit, "background_id", 0))
        ln_emit_fail(&n->emit, "attribute 'background_id' is %d, expected 0",
                     (int)ln_attr_int(&n->emit, "background_id", 0));
    const detections d = emit_detections(n);
    begin_suppression(n, &s, d.rows, NULL);
    ln_emit_end(&n->emit, "dst", 0);
}

// Rows [.., N, K] as [B, N, K].
static const char *as_batches(ln_nnvm_node *n, const char *rows)
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, rows);
    if (t->ndim < 2 || t->dtype != TL_FLOAT || !t->len)
        return ln_emit_fail(&n->emit, "its data is not float32 [.., rows, columns]"), NULL;
    const int height = t->dims[t->ndim - 2], width = t->dims[t->ndim - 1];
    const int dims[] = {t->len / height / width, height, width};
    return t->ndim == 3 ? rows : ln_emit_reshape(&n->emit, rows, 3, dims, LN_EMIT_TEMP);
}

// Sets rows [B, N, K] to -1 unless the comparison holds for their `column`.
static const char *filter_rows(ln_nnvm_node *n, const char *rows, int column, const char *compare,
                               double number)
{
    const char *const column_of = part(n, rows, 2, column, column + 1);
    const char *const is_kept =
        ln_emit_compare(&n->emit, compare, column_of, ln_nnvm_scalar_like(n, rows, number));
    return ln_emit_where(&n->emit, is_kept, rows, ln_nnvm_scalar_like(n, rows, -1), LN_EMIT_TEMP);
}

// MXNet's box_nms, of any rows: removes boxes that overlap by more than 'overlap_thresh', and rows
// that score at most 'valid_thresh' or are background. The remaining rows come first.
static void translate_box_nms(ln_nnvm_node *n)
{
    static const ln_attr_word formats[] = {{"corner"}, {0}};
    const suppression s = {
        .box = ln_attr_int_in(&n->emit, "coord_start", 2, 0, INT_MAX),
        .score = ln_attr_int_in(&n->emit, "score_index", 1, 0, INT_MAX - 1),
        .label = ln_attr_int_in(&n->emit, "id_index", -1, -1, INT_MAX - 1),
        .overlap = nextafterf((float)ln_attr_number(&n->emit, "overlap_thresh", 0.5), 2),
        .across_labels = ln_attr_bool(&n->emit, "force_suppress", 0),
        .max_compared = read_max(n, "topk"),
        .packs = 1};
    const double min = ln_attr_number(&n->emit, "valid_thresh", 0);
    const int background = ln_attr_int_in(&n->emit, "background_id", -1, -1, INT_MAX);
    ln_attr_choose(&n->emit, "in_format", "corner", formats);
    ln_attr_choose(&n->emit, "out_format", "corner", formats);
    if (!(min >= 0 && s.overlap > 0))
        ln_emit_fail(&n->emit, "a threshold is negative or NaN, expected at least 0");
    int dims[LN_MAXDIM];
    const int ndim = ln_nnvm_copy_dims(n, ln_nnvm_in(n, 0), dims);
    const char *rows = as_batches(n, ln_nnvm_in(n, 0));
    if (!ln_nnvm_failed(n) && (s.score >= dims[ndim - 1] || s.label >= dims[ndim - 1]))
        ln_emit_fail(&n->emit, "index %d exceeds a row of %d numbers",
                     s.score > s.label ? s.score : s.label, dims[ndim - 1]);
    if (ln_nnvm_failed(n))
        return;
    rows = filter_rows(n, rows, s.score, "TL_COMPARE_GREATER", min);
    if (s.label >= 0 && background >= 0)
        rows = filter_rows(n, rows, s.label, "TL_COMPARE_NOT_EQUAL", background);
    begin_suppression(n, &s, rows, NULL);
    const char *const dst = ln_emit_end(&n->emit, "dst", ndim == 3 ? 0 : LN_EMIT_TEMP);
    if (ndim != 3)
        ln_emit_reshape(&n->emit, dst, ndim, dims, 0);
}

// YOLO

// Views the data as [N, C / s^2, H, s, W, s], and moves positions in a block to the outermost
// channels. The result, [N, C, H, W] in memory, has the shape [N, C s^2, H / s, W / s].
static void translate_reorg(ln_nnvm_node *n)
{
    static const int axes[] = {0, 3, 5, 1, 2, 4};
    const char *src = ln_nnvm_in(n, 0);
    int d[LN_MAXDIM];
    const int s = ln_attr_int_in(&n->emit, "stride", 1, 1, 1 << 12);
    ln_nnvm_image_dims(n, src, d);
    if (!ln_nnvm_failed(n) && (d[1] % (s * s) || d[2] % s || d[3] % s))
        ln_emit_fail(&n->emit, "an image of %d x %d x %d, expected multiples of %d, %d and %d",
                     d[1], d[2], d[3], s * s, s, s);
    if (ln_nnvm_failed(n)) // d[1] * s * s may overflow
        return;
    const int blocks[] = {d[0], d[1] / (s * s), d[2], s, d[3], s};
    const int dims[] = {d[0], d[1] * s * s, d[2] / s, d[3] / s};
    src = ln_emit_reshape(&n->emit, src, 6, blocks, LN_EMIT_TEMP);
    src = ln_emit_transpose(&n->emit, src, axes, LN_EMIT_TEMP);
    ln_emit_reshape(&n->emit, src, 4, dims, 0);
}

const ln_nnvm_row ln_nnvm_rows_detect[] = {
    {"multibox_prior", LN_IN_CORE, translate_prior, NULL, 1, 1},
    {"multibox_transform_loc", LN_IN_CORE, translate_transform, NULL, 3, 3},
    {"_contrib_MultiBoxDetection", LN_IN_MXNET, translate_detection, NULL, 3, 3},
    {"non_max_suppression", LN_IN_CORE, translate_nms, NULL, 2, 2},
    {"_contrib_box_nms", LN_IN_MXNET, translate_box_nms, NULL, 1, 1},
    {"nms", LN_IN_CORE, translate_old_nms, NULL, 2, 2},
    {"yolo_reorg yolo2_reorg", LN_IN_CORE, translate_reorg, NULL, 1, 1},
    {NULL},
};
