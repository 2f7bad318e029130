// SPDX-License-Identifier: Apache-2.0
// Forms whose boxes are relative to anchors: RetinaFace, SCRFD, YOLOv4.

#include <math.h>

#include "vision/ln_detect_form.h"

// RetinaFace: roles boxes, scores and points. Source: biubug6/Pytorch_Retinaface, prior_box.py and
// box_utils.py. Grids are rounded up; each cell has two square anchors.

static const int anchor_sizes[3][2] = {{16, 32}, {64, 128}, {256, 512}};

enum { N_GRIDS = 3, N_ANCHORS = 2 };

static const double center_variance = 0.1, size_variance = 0.2;

static int64_t grid_width(const ln_detect_reading *r, int level)
{
    return ((int64_t)r->width + (8 << level) - 1) / (8 << level);
}

static int64_t grid_cells(const ln_detect_reading *r, int level)
{
    return grid_width(r, level) * (((int64_t)r->height + (8 << level) - 1) / (8 << level));
}

int ln_retinaface_fit(ln_detect_reading *r)
{
    int64_t n = 0;
    for (int level = 0; level < N_GRIDS; level++)
        n += N_ANCHORS * grid_cells(r, level);
    r->n_rows = ln_detect_size(r, 'N');
    r->n_scores = r->n_classes = 2;
    r->background = 1;
    r->n_points = 5;
    return n == r->n_rows ? LN_DETECT_SURE : 0;
}

// The anchor of a row: center and size.
static void find_anchor(const ln_detect_reading *r, int row, double *x, double *y, double *size)
{
    int level = 0;
    int64_t at = row;
    for (; level < N_GRIDS - 1 && at >= N_ANCHORS * grid_cells(r, level); level++)
        at -= N_ANCHORS * grid_cells(r, level);
    const int64_t cell = at / N_ANCHORS, width = grid_width(r, level);
    *x = ((double)(cell % width) + 0.5) * (8 << level);
    *y = ((double)(cell / width) + 0.5) * (8 << level);
    *size = anchor_sizes[level][at % N_ANCHORS];
}

// Some exports lack the softmax.
void ln_retinaface_begin(ln_detect_reading *r, int row)
{
    const double a = ln_detect_at(r, 1, (size_t)row * 2);
    const double b = ln_detect_at(r, 1, (size_t)row * 2 + 1);
    const int is_probability = a >= 0 && b >= 0 && fabs(a + b - 1) < 1e-3;
    r->max = fmax(a, b);
    r->sum = is_probability ? 0 : exp(a - r->max) + exp(b - r->max);
}

double ln_retinaface_score(const ln_detect_reading *r, int row, int class_index)
{
    const double v = ln_detect_at(r, 1, (size_t)row * 2 + (size_t)class_index);
    return r->sum == 0 ? v : exp(v - r->max) / r->sum;
}

void ln_retinaface_box(const ln_detect_reading *r, int row, double box[4])
{
    double x, y, size, v[4];
    find_anchor(r, row, &x, &y, &size);
    for (int k = 0; k < 4; k++)
        v[k] = ln_detect_at(r, 0, (size_t)row * 4 + (size_t)k);
    ln_detect_from_center(box, x + v[0] * center_variance * size, y + v[1] * center_variance * size,
                          size * exp(v[2] * size_variance), size * exp(v[3] * size_variance));
}

void ln_retinaface_point(const ln_detect_reading *r, int row, int k, ln_key_point *point)
{
    double x, y, size;
    const size_t at = (size_t)row * 10 + (size_t)k * 2;
    find_anchor(r, row, &x, &y, &size);
    *point = (ln_key_point){(float)(x + ln_detect_at(r, 2, at) * center_variance * size),
                            (float)(y + ln_detect_at(r, 2, at + 1) * center_variance * size), 1};
}

// SCRFD: roles 0 .. 2 scores, 3 .. 5 boxes, 6 .. 8 points, of three grids with two anchors a cell.
// Distances from the upper left corner of the cell, in strides. Source: insightface, scrfd.py.

int ln_scrfd_fit(ln_detect_reading *r)
{
    int64_t n = 0;
    r->n_levels = N_GRIDS;
    for (int level = 0; level < N_GRIDS; level++)
        n += r->sizes['X' - 'A' + level];
    r->n_rows = (int)n;
    r->n_scores = r->n_classes = 1;
    return n > 0 && n <= INT32_MAX ? LN_DETECT_SURE : 0;
}

int ln_scrfd_points_fit(ln_detect_reading *r)
{
    r->n_points = 5;
    return ln_scrfd_fit(r);
}

double ln_scrfd_score(const ln_detect_reading *r, int row, int class_index)
{
    const ln_detect_cell cell = ln_detect_cell_of(r, row, N_ANCHORS);
    (void)class_index;
    return ln_detect_at(r, cell.level, (size_t)cell.row);
}

void ln_scrfd_box(const ln_detect_reading *r, int row, double box[4])
{
    const ln_detect_cell cell = ln_detect_cell_of(r, row, N_ANCHORS);
    for (int k = 0; k < 4; k++) {
        const double v = ln_detect_at(r, 3 + cell.level, (size_t)cell.row * 4 + (size_t)k);
        box[k] = ((k & 1 ? cell.y : cell.x) + (k < 2 ? -v : v)) * cell.stride;
    }
}

void ln_scrfd_point(const ln_detect_reading *r, int row, int k, ln_key_point *point)
{
    const ln_detect_cell cell = ln_detect_cell_of(r, row, N_ANCHORS);
    const size_t at = (size_t)cell.row * 10 + (size_t)k * 2;
    *point = (ln_key_point){
        (float)((cell.x + ln_detect_at(r, 6 + cell.level, at)) * cell.stride),
        (float)((cell.y + ln_detect_at(r, 6 + cell.level, at + 1)) * cell.stride), 1};
}

// YOLOv4 of the ONNX model zoo: a role for each grid [H, W, 3, 5 + C]. Center and size are raw,
// scores are probabilities. Source: the zoo's README of yolov4.

static const double yolov4_anchors[3][3][2] = {{{12, 16}, {19, 36}, {40, 28}},
                                               {{36, 75}, {76, 55}, {72, 146}},
                                               {{142, 110}, {192, 243}, {459, 401}}};
static const double yolov4_scales[3] = {1.2, 1.1, 1.05};

enum { N_YOLOV4_ANCHORS = 3 };

int ln_yolov4_fit(ln_detect_reading *r)
{
    static const char heights[] = "AEG", widths[] = "BFH";
    int64_t n = 0;
    for (int level = 0; level < N_GRIDS; level++) {
        if (ln_detect_size(r, heights[level]) != r->height / (8 << level) ||
            ln_detect_size(r, widths[level]) != r->width / (8 << level))
            return 0;
        n += (int64_t)N_YOLOV4_ANCHORS * ln_detect_size(r, heights[level]) *
             ln_detect_size(r, widths[level]);
    }
    r->n_levels = N_GRIDS;
    r->n_rows = (int)n;
    r->n_scores = r->n_classes = ln_detect_size(r, 'D') - 5;
    return n > 0 && n <= INT32_MAX && r->n_scores > 0 ? LN_DETECT_SURE : 0;
}

// Column `k` of a row, which is in `cell`.
static double yolov4_at(const ln_detect_reading *r, const ln_detect_cell *cell, int k)
{
    return ln_detect_at(r, cell->level,
                        (size_t)cell->row * (size_t)ln_detect_size(r, 'D') + (size_t)k);
}

double ln_yolov4_score(const ln_detect_reading *r, int row, int class_index)
{
    const ln_detect_cell cell = ln_detect_cell_of(r, row, N_YOLOV4_ANCHORS);
    return yolov4_at(r, &cell, 4) * yolov4_at(r, &cell, 5 + class_index);
}

static double yolov4_center(double v, int cell, double scale, int stride)
{
    return (scale / (1 + exp(-v)) - (scale - 1) / 2 + cell) * stride;
}

void ln_yolov4_box(const ln_detect_reading *r, int row, double box[4])
{
    const ln_detect_cell cell = ln_detect_cell_of(r, row, N_YOLOV4_ANCHORS);
    const double scale = yolov4_scales[cell.level];
    const double *const anchor = yolov4_anchors[cell.level][cell.anchor];
    ln_detect_from_center(box, yolov4_center(yolov4_at(r, &cell, 0), cell.x, scale, cell.stride),
                          yolov4_center(yolov4_at(r, &cell, 1), cell.y, scale, cell.stride),
                          exp(yolov4_at(r, &cell, 2)) * anchor[0],
                          exp(yolov4_at(r, &cell, 3)) * anchor[1]);
}
