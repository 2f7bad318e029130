// SPDX-License-Identifier: Apache-2.0
// Forms with boxes in role 0, scores in role 1, and classes, indices or masks in the others.

#include <math.h>
#include <string.h>

#include "vision/ln_detect_form.h"

// Fitting

// Scores [N, C].
static void set_scores(ln_detect_reading *r, int background)
{
    r->n_rows = ln_detect_size(r, 'N');
    r->n_scores = r->n_classes = ln_detect_size(r, 'C');
    r->background = background;
    r->score_role = 1;
    r->score_row = (size_t)r->n_scores;
    r->score_step = 1;
}

// Scores [N], classes [N].
static void set_classes(ln_detect_reading *r, int background)
{
    r->n_rows = ln_detect_size(r, 'N');
    r->n_scores = 1;
    r->background = background;
}

int ln_boxes_fit(ln_detect_reading *r)
{
    set_scores(r, -1);
    return r->n_scores > 0 ? LN_DETECT_SURE : 0;
}

int ln_labels_fit(ln_detect_reading *r)
{
    set_classes(r, 0);
    return r->of[0]->ndim > 2 ? LN_DETECT_SURE : LN_DETECT_MAYBE;
}

int ln_ssd_fit(ln_detect_reading *r)
{
    set_classes(r, 1);
    return LN_DETECT_SURE;
}

int ln_torchvision_fit(ln_detect_reading *r)
{
    set_classes(r, 1);
    return r->of[0]->ndim == 2 ? LN_DETECT_SURE : LN_DETECT_MAYBE;
}

static void set_masks(ln_detect_reading *r, int role)
{
    const int is_whole = ln_detect_size(r, 'P') == r->height && ln_detect_size(r, 'Q') == r->width;
    r->masks = is_whole ? LN_DETECT_OF_INPUT : LN_DETECT_OF_BOX;
    r->mask_role = role;
}

static int has_masks(const ln_detect_reading *r)
{
    return ln_detect_size(r, 'P') > 0 && ln_detect_size(r, 'Q') > 0;
}

int ln_torchvision_segment_fit(ln_detect_reading *r)
{
    set_classes(r, 1);
    set_masks(r, 3);
    return has_masks(r) ? LN_DETECT_SURE : 0;
}

int ln_torchvision_pose_fit(ln_detect_reading *r)
{
    set_classes(r, 1);
    r->n_points = ln_detect_size(r, 'K');
    return r->n_points > 0 && r->n_points <= LN_DETECT_MAX_POINTS ? LN_DETECT_SURE : 0;
}

int ln_tensorflow_segment_fit(ln_detect_reading *r)
{
    set_classes(r, 1);
    set_masks(r, 3);
    r->masks = LN_DETECT_OF_BOX;
    return has_masks(r) ? LN_DETECT_SURE : 0;
}

// Only the first rows are valid, as many as the output of role 3 has.
static void set_count(ln_detect_reading *r)
{
    const double n = ln_detect_at(r, 3, 0);
    r->n_rows = n >= 0 && n < r->n_rows ? (int)n : n >= 0 ? r->n_rows : 0;
}

int ln_tensorflow_fit(ln_detect_reading *r)
{
    set_classes(r, 1);
    set_count(r);
    return LN_DETECT_SURE;
}

int ln_nms_fit(ln_detect_reading *r)
{
    set_classes(r, 0);
    set_count(r);
    return LN_DETECT_SURE;
}

// Rows are those of the indices.
int ln_yolov3_fit(ln_detect_reading *r)
{
    r->n_rows = ln_detect_size(r, 'M');
    r->n_scores = 1;
    r->n_classes = ln_detect_size(r, 'C');
    return LN_DETECT_SURE;
}

// Both forms of DETR have the same shapes. Where there are labels, their number shows whether the
// last class is "no object"; else the number of rows does: 100 in DETR, 300 in the later ones.
static int has_no_object(const ln_detect_reading *r)
{
    const int n_labels = r->options->n_labels, n = ln_detect_size(r, 'C');
    return n_labels == n || n_labels == n - 1 ? n_labels == n - 1 : ln_detect_size(r, 'N') < 300;
}

int ln_detr_fit(ln_detect_reading *r)
{
    set_scores(r, 0);
    r->n_classes = --r->n_scores;
    return r->n_scores <= 0 ? 0 : has_no_object(r) ? LN_DETECT_SURE : LN_DETECT_LIKELY;
}

int ln_rtdetr_fit(ln_detect_reading *r)
{
    set_scores(r, 0);
    return r->n_scores <= 0 ? 0 : has_no_object(r) ? LN_DETECT_LIKELY : LN_DETECT_SURE;
}

// Scores and classes

void ln_detr_begin(ln_detect_reading *r, int row)
{
    const int n = r->n_scores + 1;
    const size_t first = (size_t)row * (size_t)n;
    r->max = -INFINITY;
    r->sum = 0;
    for (int c = 0; c < n; c++)
        r->max = fmax(r->max, ln_detect_at(r, 1, first + (size_t)c));
    for (int c = 0; c < n; c++)
        r->sum += exp(ln_detect_at(r, 1, first + (size_t)c) - r->max);
}

double ln_detr_score(const ln_detect_reading *r, int row, int class_index)
{
    const size_t n = (size_t)r->n_scores + 1;
    return exp(ln_detect_at(r, 1, (size_t)row * n + (size_t)class_index) - r->max) / r->sum;
}

double ln_boxes_score(const ln_detect_reading *r, int row, int class_index)
{
    return ln_detect_at(r, 1, (size_t)row * (size_t)r->n_scores + (size_t)class_index);
}

double ln_rtdetr_score(const ln_detect_reading *r, int row, int class_index)
{
    return 1 / (1 + exp(-ln_boxes_score(r, row, class_index)));
}

double ln_labels_class(const ln_detect_reading *r, int row)
{
    return ln_detect_at(r, 2, (size_t)row);
}

// An index of role 2: batch, class, box; -1: out of range.
static int index_at(const ln_detect_reading *r, int row, int k, int n)
{
    const double v = ln_detect_at(r, 2, (size_t)row * 3 + (size_t)k);
    return v >= 0 && v < n ? (int)v : -1;
}

double ln_yolov3_class(const ln_detect_reading *r, int row)
{
    return index_at(r, row, 1, r->n_classes);
}

double ln_yolov3_score(const ln_detect_reading *r, int row, int class_index)
{
    const int n = ln_detect_size(r, 'N');
    const int c = index_at(r, row, 1, r->n_classes), box = index_at(r, row, 2, n);
    (void)class_index;
    return c < 0 || box < 0 ? NAN : ln_detect_at(r, 1, (size_t)c * (size_t)n + (size_t)box);
}

// Boxes

void ln_corner_box(const ln_detect_reading *r, int row, double box[4])
{
    for (int k = 0; k < 4; k++)
        box[k] = ln_detect_at(r, 0, (size_t)row * 4 + (size_t)k);
}

void ln_yx_box(const ln_detect_reading *r, int row, double box[4])
{
    for (int k = 0; k < 4; k++)
        box[k] = ln_detect_at(r, 0, (size_t)row * 4 + (size_t)(k ^ 1));
}

void ln_center_box(const ln_detect_reading *r, int row, double box[4])
{
    const size_t at = (size_t)row * 4;
    ln_detect_from_center(box, ln_detect_at(r, 0, at), ln_detect_at(r, 0, at + 1),
                          ln_detect_at(r, 0, at + 2), ln_detect_at(r, 0, at + 3));
}

// Called for rows with a score only, whose indices are in range.
void ln_yolov3_box(const ln_detect_reading *r, int row, double box[4])
{
    ln_yx_box(r, index_at(r, row, 2, ln_detect_size(r, 'N')), box);
}

void ln_torchvision_point(const ln_detect_reading *r, int row, int k, ln_key_point *point)
{
    const size_t at = ((size_t)row * (size_t)r->n_points + (size_t)k) * 3;
    *point = (ln_key_point){(float)ln_detect_at(r, 3, at), (float)ln_detect_at(r, 3, at + 1),
                            (float)ln_detect_at(r, 3, at + 2)};
}
