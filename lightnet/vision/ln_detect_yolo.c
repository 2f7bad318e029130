// SPDX-License-Identifier: Apache-2.0
// Forms of YOLO with all columns of a row in one output.
//
//     column      yolov5, yolov6, yolox     yolov8                   yolov10
//     0 .. 3      center x, y, w, h         center x, y, w, h        x0, y0, x1, y1
//     4           objectness                scores of classes        score
//     5           scores of classes                                  class
//     after       factors of prototypes     factors, or key points   factors, or key points
//
// In yolov8 the columns are rows of the output, [D, N], so that the step of a column is N.

#include <math.h>
#include <string.h>

#include "vision/ln_detect_form.h"

// Columns

// Sets r->n_levels if the output has `n_anchors` rows for each cell of 3 or 4 grids. Returns
// whether it does.
static int is_pyramid(ln_detect_reading *r, int n_anchors)
{
    for (int n_levels = 3; n_levels <= 4; n_levels++) {
        const int cells = ln_detect_cells(r, n_levels);
        if (cells > 0 && (int64_t)cells * n_anchors == r->n_rows) {
            r->n_levels = n_levels;
            return 1;
        }
    }
    return 0;
}

// Begins a form [N, D], or [D, N]. Returns the number of columns.
static int begin_columns(ln_detect_reading *r, int is_transposed)
{
    const tl_tensor *const t = r->of[0];
    const int last = t->dims[t->ndim - 1], other = t->dims[t->ndim - 2];
    r->n_rows = is_transposed ? last : other;
    r->row_step = is_transposed ? 1 : last;
    r->column_step = is_transposed ? last : 1;
    return is_transposed ? other : last;
}

static void set_classes(ln_detect_reading *r, int first_score, int n)
{
    r->first_score = first_score;
    r->n_scores = r->n_classes = n;
    r->score_first = (size_t)first_score * (size_t)r->column_step;
    r->score_row = (size_t)r->row_step;
    r->score_step = (size_t)r->column_step;
}

// The columns from `first` on are factors of prototypes.
static void set_prototypes(ln_detect_reading *r, int first)
{
    r->masks = LN_DETECT_PROTOTYPES;
    r->mask_role = 1;
    r->first_factor = first;
}

// Whether the prototypes are [1, M, H, W] and have the aspect ratio of the input.
static int has_prototypes(const ln_detect_reading *r)
{
    const int height = ln_detect_size(r, 'P'), width = ln_detect_size(r, 'Q');
    return r->of[1]->ndim == 4 && ln_detect_size(r, 'M') > 0 && height > 0 && width > 0 &&
           (int64_t)height * r->width == (int64_t)width * r->height;
}

// Without a pyramid, rows are more than columns.
static int grade_of(int is_sure, int n_rows, int n_columns)
{
    return is_sure ? LN_DETECT_SURE : n_rows > n_columns ? LN_DETECT_MAYBE : 0;
}

// YOLOv5 and forms like it

int ln_yolov5_fit(ln_detect_reading *r)
{
    const int n = begin_columns(r, 0);
    r->objectness = 4;
    set_classes(r, 5, n - 5);
    return n > 5 ? grade_of(is_pyramid(r, 3), r->n_rows, n) : 0;
}

int ln_yolov5_segment_fit(ln_detect_reading *r)
{
    const int n = begin_columns(r, 0), m = ln_detect_size(r, 'M');
    r->objectness = 4;
    set_classes(r, 5, n - 5 - m);
    set_prototypes(r, n - m);
    return has_prototypes(r) && r->n_scores > 0 ? grade_of(is_pyramid(r, 3), r->n_rows, n) : 0;
}

static int is_object_everywhere(const ln_detect_reading *r)
{
    for (int i = 0; i < r->n_rows; i++)
        if (ln_detect_column(r, i, 4) != 1)
            return 0;
    return 1;
}

int ln_yolov6_fit(ln_detect_reading *r)
{
    const int n = begin_columns(r, 0);
    set_classes(r, 5, n - 5);
    const int is_sure = n > 5 && is_pyramid(r, 1) && is_object_everywhere(r);
    // By name alone: another input size has other grids.
    const int is_asked = r->options->kind && !strcmp(r->options->kind, "yolov6");
    return is_sure ? LN_DETECT_SURE : n > 5 && is_asked ? LN_DETECT_MAYBE : 0;
}

int ln_yolox_fit(ln_detect_reading *r)
{
    const int n = begin_columns(r, 0);
    r->objectness = 4;
    set_classes(r, 5, n - 5);
    return n > 5 && is_pyramid(r, 1) ? LN_DETECT_SURE : 0;
}

// YOLOv8

int ln_yolov8_fit(ln_detect_reading *r)
{
    const int n = begin_columns(r, 1);
    set_classes(r, 4, n - 4);
    return n > 4 ? grade_of(is_pyramid(r, 1), r->n_rows, n) : 0;
}

int ln_yolov8_segment_fit(ln_detect_reading *r)
{
    const int n = begin_columns(r, 1), m = ln_detect_size(r, 'M');
    set_classes(r, 4, n - 4 - m);
    set_prototypes(r, n - m);
    return has_prototypes(r) && r->n_scores > 0 ? grade_of(is_pyramid(r, 1), r->n_rows, n) : 0;
}

static int is_pose_wanted(const ln_detect_reading *r)
{
    return r->options->kind && !strcmp(r->options->kind, "pose");
}

enum { COCO_POINTS = 17 };

// The key points of rows with `n` columns, of which `others` are none: as in the options; without
// these, the 17 of COCO, or as many as fit if poses are asked for. 0: none.
static int count_points(const ln_detect_reading *r, int n, int others)
{
    const int max = (n - others) / 3, wanted = r->options->n_points;
    if (wanted)
        return others + 2 * wanted <= n ? wanted : 0;
    if (n == others + 3 * COCO_POINTS)
        return COCO_POINTS;
    return is_pose_wanted(r) && n == others + 3 * max && max <= LN_DETECT_MAX_POINTS && max > 0
               ? max
               : 0;
}

static void set_points(ln_detect_reading *r, int n_columns, int n_points, int step)
{
    r->n_points = n_points;
    r->first_point = n_columns - step * n_points;
    r->point_step = step;
}

// The columns of a key point, of rows with `n` columns for these and the scores of classes: x, y
// and a confidence; x and y alone if there is no room for more, or if the labels fit only then.
static int point_step_of(const ln_detect_reading *r, int n, int n_points)
{
    const int with = n - 3 * n_points, without = n - 2 * n_points;
    return r->options->n_points && (with < 1 || without == r->options->n_labels) ? 2 : 3;
}

// Columns of one class and 17 points could also be those of 52 classes.
int ln_yolov8_pose_fit(ln_detect_reading *r)
{
    const int n = begin_columns(r, 1), n_points = count_points(r, n, 5);
    const int step = point_step_of(r, n - 4, n_points);
    set_points(r, n, n_points, step);
    set_classes(r, 4, n - 4 - step * n_points);
    if (!n_points || (r->options->n_labels == n - 4 && !is_pose_wanted(r)))
        return 0;
    return grade_of(is_pyramid(r, 1), r->n_rows, n);
}

// Rows that are detections: YOLOv10, and models with non-maximum suppression

static void set_found(ln_detect_reading *r)
{
    set_classes(r, r->form->columns.score, 1);
    r->n_classes = 0;
}

int ln_found_fit(ln_detect_reading *r)
{
    begin_columns(r, 0);
    set_found(r);
    return LN_DETECT_LIKELY;
}

int ln_found_other_fit(ln_detect_reading *r)
{
    return ln_found_fit(r) ? LN_DETECT_MAYBE : 0;
}

int ln_yolov10_segment_fit(ln_detect_reading *r)
{
    const int n = begin_columns(r, 0), m = ln_detect_size(r, 'M');
    set_found(r);
    set_prototypes(r, 6);
    return has_prototypes(r) && n - 6 == m ? LN_DETECT_LIKELY : 0;
}

int ln_yolov10_pose_fit(ln_detect_reading *r)
{
    const int n = begin_columns(r, 0), n_points = count_points(r, n, 6);
    const int step = n == 6 + 2 * n_points ? 2 : 3;
    set_found(r);
    set_points(r, n, n_points, step);
    return n_points && n == 6 + step * n_points ? LN_DETECT_LIKELY : 0;
}

// Rows

double ln_yolo_score(const ln_detect_reading *r, int row, int class_index)
{
    const double score = ln_detect_column(r, row, r->first_score + class_index);
    return r->objectness ? score * ln_detect_column(r, row, r->objectness) : score;
}

double ln_found_class(const ln_detect_reading *r, int row)
{
    return ln_detect_column(r, row, r->form->columns.class_index);
}

void ln_yolo_center_box(const ln_detect_reading *r, int row, double box[4])
{
    ln_detect_from_center(box, ln_detect_column(r, row, 0), ln_detect_column(r, row, 1),
                          ln_detect_column(r, row, 2), ln_detect_column(r, row, 3));
}

void ln_found_box(const ln_detect_reading *r, int row, double box[4])
{
    for (int k = 0; k < 4; k++)
        box[k] = ln_detect_column(r, row, r->form->columns.box + k);
}

// The center is relative to the cell, sizes are logarithms, both in strides.
void ln_yolox_box(const ln_detect_reading *r, int row, double box[4])
{
    const ln_detect_cell cell = ln_detect_cell_of(r, row, 1);
    ln_detect_from_center(box, (ln_detect_column(r, row, 0) + cell.x) * cell.stride,
                          (ln_detect_column(r, row, 1) + cell.y) * cell.stride,
                          exp(ln_detect_column(r, row, 2)) * cell.stride,
                          exp(ln_detect_column(r, row, 3)) * cell.stride);
}

void ln_yolo_point(const ln_detect_reading *r, int row, int k, ln_key_point *point)
{
    const int at = r->first_point + k * r->point_step;
    const double score = r->point_step > 2 ? ln_detect_column(r, row, at + 2) : 1;
    *point = (ln_key_point){(float)ln_detect_column(r, row, at),
                            (float)ln_detect_column(r, row, at + 1), (float)score};
}

// Oriented boxes: center, width and height, turned by an angle in radians. Their points are the
// four corners, their box is around these.

static int is_obb_wanted(const ln_detect_reading *r)
{
    return r->options->kind && !strcmp(r->options->kind, "obb");
}

int ln_yolov8_obb_fit(ln_detect_reading *r)
{
    const int n = begin_columns(r, 1);
    set_classes(r, 4, n - 5);
    r->angle = n - 1;
    r->n_points = 4;
    return n > 5 && is_obb_wanted(r) ? grade_of(is_pyramid(r, 1), r->n_rows, n) : 0;
}

int ln_yolov10_obb_fit(ln_detect_reading *r)
{
    begin_columns(r, 0);
    set_found(r);
    r->angle = 6;
    r->n_points = 4;
    return is_obb_wanted(r) ? LN_DETECT_SURE : 0;
}

// Corner `k`, in the order of a walk around the box.
static void corner_at(const ln_detect_reading *r, int row, int k, double *x, double *y)
{
    const double angle = ln_detect_column(r, row, r->angle);
    const double u = ln_detect_column(r, row, 2) / (k == 0 || k == 3 ? -2 : 2);
    const double v = ln_detect_column(r, row, 3) / (k < 2 ? -2 : 2);
    *x = ln_detect_column(r, row, 0) + u * cos(angle) - v * sin(angle);
    *y = ln_detect_column(r, row, 1) + u * sin(angle) + v * cos(angle);
}

void ln_obb_box(const ln_detect_reading *r, int row, double box[4])
{
    corner_at(r, row, 0, &box[0], &box[1]);
    box[2] = box[0];
    box[3] = box[1];
    for (int k = 1; k < 4; k++) {
        double x, y;
        corner_at(r, row, k, &x, &y);
        box[0] = fmin(box[0], x);
        box[1] = fmin(box[1], y);
        box[2] = fmax(box[2], x);
        box[3] = fmax(box[3], y);
    }
}

void ln_obb_point(const ln_detect_reading *r, int row, int k, ln_key_point *point)
{
    double x, y;
    corner_at(r, row, k, &x, &y);
    *point = (ln_key_point){(float)x, (float)y, 1};
}

// The covariance of a uniform distribution over the box: a x^2, b y^2, c xy.
typedef struct covariance {
    double a, b, c;
} covariance;

static covariance covariance_of(const ln_detect_reading *r, int row)
{
    const double w = ln_detect_column(r, row, 2), h = ln_detect_column(r, row, 3);
    const double angle = ln_detect_column(r, row, r->angle), s = sin(angle), c = cos(angle);
    const double u = w * w / 12, v = h * h / 12;
    return (covariance){u * c * c + v * s * s, u * s * s + v * c * c, (u - v) * c * s};
}

// 1 minus the Hellinger distance of two normal distributions with the centers and covariances of
// the boxes. Source: Llerena et al., Gaussian Bounding Boxes and Probabilistic
// Intersection-over-Union, 2021; Ultralytics, probiou.
double ln_obb_overlap(const ln_detect_reading *r, int row, int other)
{
    const covariance p = covariance_of(r, row), q = covariance_of(r, other);
    const double a = p.a + q.a, b = p.b + q.b, c = p.c + q.c, det = a * b - c * c;
    const double x = ln_detect_column(r, row, 0) - ln_detect_column(r, other, 0);
    const double y = ln_detect_column(r, row, 1) - ln_detect_column(r, other, 1);
    const double dets = fmax(p.a * p.b - p.c * p.c, 0) * fmax(q.a * q.b - q.c * q.c, 0);
    const double distance =
        (a * y * y + b * x * x - 2 * c * x * y) / det / 4 + log(det / (4 * sqrt(dets))) / 2;
    return 1 - sqrt(1 - exp(-fmax(distance, 0)));
}
