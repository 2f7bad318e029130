// SPDX-License-Identifier: Apache-2.0
// Forms whose boxes are relative to anchors: RetinaFace, SCRFD, BlazeFace, Darknet.

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
    const int64_t width = grid_width(r, level), cell = at / N_ANCHORS;
    const int64_t column = cell % width, row_of_grid = cell / width;
    *x = ((double)column + 0.5) * (8 << level);
    *y = ((double)row_of_grid + 0.5) * (8 << level);
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

// YuNet: as SCRFD with one anchor a cell; roles 9 .. 11 are the second factor of the scores.
// Source: OpenCV, face_detect.cpp.

int ln_yunet_fit(ln_detect_reading *r)
{
    int64_t n = 0;
    r->n_levels = N_GRIDS;
    for (int level = 0; level < N_GRIDS; level++)
        n += r->sizes['U' - 'A' + level];
    r->n_rows = (int)n;
    r->n_scores = r->n_classes = 1;
    r->n_points = 5;
    return n > 0 && n <= INT32_MAX ? LN_DETECT_SURE : 0;
}

double ln_yunet_score(const ln_detect_reading *r, int row, int class_index)
{
    const ln_detect_cell cell = ln_detect_cell_of(r, row, 1);
    (void)class_index;
    return sqrt(ln_detect_at(r, cell.level, (size_t)cell.row) *
                ln_detect_at(r, 9 + cell.level, (size_t)cell.row));
}

void ln_yunet_box(const ln_detect_reading *r, int row, double box[4])
{
    const ln_detect_cell cell = ln_detect_cell_of(r, row, 1);
    double v[4];
    for (int k = 0; k < 4; k++)
        v[k] = ln_detect_at(r, 3 + cell.level, (size_t)cell.row * 4 + (size_t)k);
    ln_detect_from_center(box, (cell.x + v[0]) * cell.stride, (cell.y + v[1]) * cell.stride,
                          exp(v[2]) * cell.stride, exp(v[3]) * cell.stride);
}

void ln_yunet_point(const ln_detect_reading *r, int row, int k, ln_key_point *point)
{
    const ln_detect_cell cell = ln_detect_cell_of(r, row, 1);
    const size_t at = (size_t)cell.row * 10 + (size_t)k * 2;
    *point = (ln_key_point){
        (float)((cell.x + ln_detect_at(r, 6 + cell.level, at)) * cell.stride),
        (float)((cell.y + ln_detect_at(r, 6 + cell.level, at + 1)) * cell.stride), 1};
}

// BlazeFace: roles scores and rows of box and points, both for each of two grids, or of all cells.
// Source: MediaPipe, face_detection_short_range.pbtxt, ssd_anchors_calculator.cc and
// tensors_to_detections_calculator.cc. Anchors are centers of cells; values are pixels.

enum { BLAZE_GRID = 16, BLAZE_FIRST = 2 * 16 * 16, BLAZE_ROWS = BLAZE_FIRST + 6 * 8 * 8 };

int ln_blazeface_fit(ln_detect_reading *r)
{
    r->n_rows = BLAZE_ROWS;
    r->n_scores = r->n_classes = 1;
    r->n_points = 6;
    return LN_DETECT_SURE;
}

// Element `k` of the row of the scores (what = 0, of length 1), or of the boxes (1, 16).
static double blaze_at(const ln_detect_reading *r, int what, int row, int k)
{
    const size_t len = what ? 16 : 1;
    if (!r->of[2])
        return ln_detect_at(r, what, (size_t)row * len + (size_t)k);
    const int is_second = row >= BLAZE_FIRST;
    const size_t at = (size_t)(is_second ? row - BLAZE_FIRST : row);
    return ln_detect_at(r, 2 * what + is_second, at * len + (size_t)k);
}

// The center of the anchor, in the input's pixels.
static void find_blaze_anchor(const ln_detect_reading *r, int row, double *x, double *y)
{
    const int is_second = row >= BLAZE_FIRST, grid = is_second ? BLAZE_GRID / 2 : BLAZE_GRID;
    const int cell = is_second ? (row - BLAZE_FIRST) / 6 : row / 2;
    *x = (cell % grid + 0.5) * r->width / grid;
    *y = ((double)(cell / grid) + 0.5) * r->height / grid;
}

double ln_blazeface_score(const ln_detect_reading *r, int row, int class_index)
{
    (void)class_index;
    return 1 / (1 + exp(-blaze_at(r, 0, row, 0)));
}

void ln_blazeface_box(const ln_detect_reading *r, int row, double box[4])
{
    double x, y;
    find_blaze_anchor(r, row, &x, &y);
    ln_detect_from_center(box, x + blaze_at(r, 1, row, 0), y + blaze_at(r, 1, row, 1),
                          blaze_at(r, 1, row, 2), blaze_at(r, 1, row, 3));
}

void ln_blazeface_point(const ln_detect_reading *r, int row, int k, ln_key_point *point)
{
    double x, y;
    find_blaze_anchor(r, row, &x, &y);
    *point = (ln_key_point){(float)(x + blaze_at(r, 1, row, 4 + 2 * k)),
                            (float)(y + blaze_at(r, 1, row, 5 + 2 * k)), 1};
}

// Darknet: a role for each grid. Sources: the .cfg files of YOLOv2 to YOLOv4, their masks of
// anchors and scale_x_y; the README files of the ONNX model zoo.

static const double yolov2_anchors[][2] = {{0.57273 * 32, 0.677385 * 32},
                                           {1.87446 * 32, 2.06253 * 32},
                                           {3.33843 * 32, 5.47434 * 32},
                                           {7.88282 * 32, 3.52778 * 32},
                                           {9.77052 * 32, 9.16828 * 32}};
static const double tiny_yolov2_anchors[][2] = {{1.08 * 32, 1.19 * 32},
                                                {3.42 * 32, 4.41 * 32},
                                                {6.63 * 32, 11.38 * 32},
                                                {9.42 * 32, 5.11 * 32},
                                                {16.62 * 32, 10.52 * 32}};
static const double yolov3_anchors[][2] = {{10, 13},  {16, 30},  {33, 23},   {30, 61},  {62, 45},
                                           {59, 119}, {116, 90}, {156, 198}, {373, 326}};
static const double tiny_yolov3_anchors[][2] = {{23, 27}, {37, 58},   {81, 82},
                                                {81, 82}, {135, 169}, {344, 319}};
static const double yolov4_anchors[][2] = {{12, 16},  {19, 36},   {40, 28},   {36, 75},  {76, 55},
                                           {72, 146}, {142, 110}, {192, 243}, {459, 401}};
static const double yolov4_scales[] = {1.2, 1.1, 1.05};

const ln_detect_head ln_yolov2_head = {
    .n_levels = 1, .first_stride = 32, .n_anchors = 5, .anchors = yolov2_anchors, .is_softmax = 1};
const ln_detect_head ln_tiny_yolov2_head = {.n_levels = 1,
                                            .first_stride = 32,
                                            .n_anchors = 5,
                                            .anchors = tiny_yolov2_anchors,
                                            .is_softmax = 1};
const ln_detect_head ln_yolov3_head = {
    .n_levels = 3, .first_stride = 8, .n_anchors = 3, .anchors = yolov3_anchors};
const ln_detect_head ln_tiny_yolov3_head = {
    .n_levels = 2, .first_stride = 16, .n_anchors = 3, .anchors = tiny_yolov3_anchors};
const ln_detect_head ln_yolov4_head = {.n_levels = 3,
                                       .first_stride = 8,
                                       .n_anchors = 3,
                                       .anchors = yolov4_anchors,
                                       .scales = yolov4_scales};
const ln_detect_head ln_yolov4_zoo_head = {.n_levels = 3,
                                           .first_stride = 8,
                                           .n_anchors = 3,
                                           .anchors = yolov4_anchors,
                                           .scales = yolov4_scales,
                                           .has_last = 1,
                                           .is_probability = 1};

// Roles have heights and widths in these letters, and D columns.
int ln_darknet_fit(ln_detect_reading *r)
{
    static const char heights[] = "AEG", widths[] = "BFH";
    const ln_detect_head *const head = r->form->head;
    const int n_columns = ln_detect_size(r, 'D'), n_anchors = head->n_anchors;
    int64_t n = 0;
    for (int level = 0; level < head->n_levels; level++) {
        const int stride = head->first_stride << level;
        const int height = ln_detect_size(r, heights[level]);
        const int width = ln_detect_size(r, widths[level]);
        if (height != r->height / stride || width != r->width / stride)
            return 0;
        n += (int64_t)n_anchors * height * width;
    }
    r->n_levels = head->n_levels;
    r->first_stride = head->first_stride;
    r->n_scores = r->n_classes = (head->has_last ? n_columns : n_columns / n_anchors) - 5;
    r->n_rows = n <= INT32_MAX ? (int)n : 0;
    return r->n_rows > 0 && r->n_scores > 0 && (head->has_last || n_columns % n_anchors == 0)
               ? LN_DETECT_SURE
               : 0;
}

// A form with the shapes of another one, which is more likely.
int ln_darknet_other_fit(ln_detect_reading *r)
{
    return ln_darknet_fit(r) ? LN_DETECT_LIKELY : 0;
}

// Column `k` of a row, which is in `cell`.
static double darknet_at(const ln_detect_reading *r, const ln_detect_cell *cell, int k)
{
    const size_t n_columns = (size_t)r->n_scores + 5;
    const size_t height = (size_t)(r->height / cell->stride);
    const size_t width = (size_t)(r->width / cell->stride);
    const size_t channel = (size_t)cell->anchor * n_columns + (size_t)k;
    const size_t at = r->form->head->has_last
                          ? (size_t)cell->row * n_columns + (size_t)k
                          : (channel * height + (size_t)cell->y) * width + (size_t)cell->x;
    return ln_detect_at(r, cell->level, at);
}

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

void ln_darknet_begin(ln_detect_reading *r, int row)
{
    const ln_detect_cell cell = ln_detect_cell_of(r, row, r->form->head->n_anchors);
    r->max = -INFINITY;
    r->sum = 0;
    for (int c = 0; c < r->n_scores; c++)
        r->max = fmax(r->max, darknet_at(r, &cell, 5 + c));
    for (int c = 0; c < r->n_scores; c++)
        r->sum += exp(darknet_at(r, &cell, 5 + c) - r->max);
}

double ln_darknet_score(const ln_detect_reading *r, int row, int class_index)
{
    const ln_detect_head *const head = r->form->head;
    const ln_detect_cell cell = ln_detect_cell_of(r, row, head->n_anchors);
    const double object = darknet_at(r, &cell, 4), score = darknet_at(r, &cell, 5 + class_index);
    if (head->is_probability)
        return object * score;
    return sigmoid(object) * (head->is_softmax ? exp(score - r->max) / r->sum : sigmoid(score));
}

static double darknet_center(double v, int cell, double scale, int stride)
{
    return (scale * sigmoid(v) - (scale - 1) / 2 + cell) * stride;
}

void ln_darknet_box(const ln_detect_reading *r, int row, double box[4])
{
    const ln_detect_head *const head = r->form->head;
    const ln_detect_cell cell = ln_detect_cell_of(r, row, head->n_anchors);
    const double scale = head->scales ? head->scales[cell.level] : 1;
    const double *const anchor = head->anchors[cell.level * head->n_anchors + cell.anchor];
    ln_detect_from_center(box, darknet_center(darknet_at(r, &cell, 0), cell.x, scale, cell.stride),
                          darknet_center(darknet_at(r, &cell, 1), cell.y, scale, cell.stride),
                          exp(darknet_at(r, &cell, 2)) * anchor[0],
                          exp(darknet_at(r, &cell, 3)) * anchor[1]);
}
