// SPDX-License-Identifier: Apache-2.0
// The forms of outputs that ln_detect reads: a table of what each one looks like and how its rows
// become boxes.
//
// A form has roles, such as boxes [N, 4] and scores [N, C]. Its `fit` grades the outputs that fit
// the roles by their shapes; the form with the best grade reads them. A row is a box that the model
// proposes, in the input's pixels or in fractions of its size, with a score for each class, or one
// class and its score.

#pragma once

#include "lightnet/ln_detect.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_tensor.h"

enum {
    LN_DETECT_MAX_ROLES = 12,
    LN_DETECT_MAX_OUTPUTS = 64,
    LN_DETECT_MAX_POINTS = 1024,
    LN_DETECT_N_LETTERS = 26,
    // Grades of `fit`; 0: the outputs do not fit.
    LN_DETECT_MAYBE = 1,  // the number of dimensions fits
    LN_DETECT_LIKELY = 2, // a constant size fits
    LN_DETECT_SURE = 3 // sizes are those that the input's size implies, or equal in several outputs
};

typedef enum ln_detect_type { LN_DETECT_FLOAT, LN_DETECT_INTEGER, LN_DETECT_ANY } ln_detect_type;

/** What an output of a form looks like. */
typedef struct ln_detect_role {
    const char *shape; // the last axes, such as "N,4": numbers, and letters for sizes, equal ones
                       // for one letter; the axes before have length 1. U, V, W: the cells of the
                       // grids with stride 8, 16, 32; X, Y, Z: twice these. NULL: no further role
    const char *names; // parts of its name in any case, "box|loc"; NULL: any
    ln_detect_type type;
} ln_detect_role;

typedef struct ln_detect_reading ln_detect_reading;

/** Traits of forms. */
enum {
    LN_DETECT_NAMED = 1,      // outputs without the names of the roles do not fit
    LN_DETECT_SUPPRESSED = 2, // the model has run non-maximum suppression
    LN_DETECT_ALL = 4,        // a row may be found for several classes, not only the best one
    LN_DETECT_FRACTIONS = 8,  // boxes are fractions of the input's size
    LN_DETECT_EITHER = 16     // the same if no coordinate exceeds 2, else pixels
};

/** Heads of Darknet: an output for each grid, [A (5 + C), H, W] or [H, W, A, 5 + C], with raw
 * centers and sizes relative to A anchors. */
typedef struct ln_detect_head {
    int n_levels, first_stride; // strides are first_stride, twice that, ..
    int n_anchors;
    const double (*anchors)[2]; // [levels * anchors]: width and height in pixels
    const double *scales;       // [levels] of the sigmoid of centers; NULL: 1
    int has_last;               // the columns are the last axis
    int is_probability;         // scores are probabilities, not logits
    int is_softmax;             // of the classes; else each has a sigmoid
} ln_detect_head;

/** Columns of rows that are detections already. */
typedef struct ln_detect_columns {
    int box; // the first of x0, y0, x1, y1
    int score, class_index;
} ln_detect_columns;

typedef struct ln_detect_form {
    ln_detect_family family;
    ln_detect_columns columns;
    const ln_detect_head *head; // of Darknet's forms
    ln_detect_role roles[LN_DETECT_MAX_ROLES + 1];
    unsigned traits;
    /** Grades the outputs, and sets the members of *r from n_rows on. */
    int (*fit)(ln_detect_reading *r);
    /** Prepares the scores of a row; NULL: nothing to do. */
    void (*begin)(ln_detect_reading *r, int row);
    double (*score)(const ln_detect_reading *r, int row, int class_index);
    /** The class of a row, if n_scores is 1; NULL: the index of the score. */
    double (*class_of)(const ln_detect_reading *r, int row);
    /** x0, y0, x1, y1. */
    void (*box)(const ln_detect_reading *r, int row, double box[4]);
    void (*point)(const ln_detect_reading *r, int row, int k, ln_key_point *point);
    /** The overlap of two rows, 0 to 1; NULL: the intersection over union of their boxes. */
    double (*overlap)(const ln_detect_reading *r, int row, int other);
} ln_detect_form;

/** How the masks of a form are stored. */
typedef enum ln_detect_masks {
    LN_DETECT_NO_MASKS,
    LN_DETECT_PROTOTYPES, // logits of the whole input, sums of prototypes with factors of the row
    LN_DETECT_OF_INPUT,   // probabilities of the whole input
    LN_DETECT_OF_BOX      // probabilities of the box
} ln_detect_masks;

/** Outputs that fit a form. */
struct ln_detect_reading {
    const ln_detect_form *form;
    const ln_detect_options *options;
    int height, width;                        // of the input
    const tl_tensor *of[LN_DETECT_MAX_ROLES]; // the output of each role
    const float *data[LN_DETECT_MAX_ROLES];   // its elements; NULL while forms are tried
    float *own[LN_DETECT_MAX_ROLES];          // the same where they were converted
    int sizes[LN_DETECT_N_LETTERS];           // of the letters A .. Z; below 0: none
    // by `fit`
    int n_rows;
    int n_scores;     // of a row
    int n_classes;    // 0: unknown
    int background;   // class 0 is the background; -1: `labels` or the scores decide
    int n_levels;     // of a pyramid of grids
    int first_stride; // of its first grid, 8 by default; then twice that, ..
    // Where the scores of a row are, or what grows with them: elements of an output
    int score_role;
    size_t score_first; // that of class 0 in row 0
    size_t score_row;   // from row to row
    size_t score_step;  // from class to class; 0: `score` alone knows
    // of role 0, where one output has all columns
    int row_step, column_step; // elements
    int objectness; // its column, a factor of all scores; rows below options->score are skipped, as
                    // in YOLOv5; 0: none
    int first_score; // a column
    int first_point; // a column
    int point_step;  // columns: x, y and, if 3, the confidence
    int n_points;
    ln_detect_masks masks;
    int mask_role;
    int first_factor; // a column
    int angle;        // a column
    // of the current row, by `begin`
    double max, sum; // of the softmax
};

// ln_detect_rows.c

/** The size of letter `c`. */
static inline int ln_detect_size(const ln_detect_reading *r, char c)
{
    return r->sizes[c - 'A'];
}

/** Element `i` of the output of a role. */
double ln_detect_at(const ln_detect_reading *r, int role, size_t i);

/** Column `column` of a row of role 0. */
double ln_detect_column(const ln_detect_reading *r, int row, int column);

/** The cells of grids with strides 8, 16, .. of `n_levels`; -1: more than INT_MAX. */
int ln_detect_cells(const ln_detect_reading *r, int n_levels);

/** A cell of a pyramid of grids, its rows one after the other, those with the smallest stride
 *  first, `n_anchors` rows a cell. */
typedef struct ln_detect_cell {
    int level, stride, x, y, anchor;
    int row; // within the level
} ln_detect_cell;

/** The cell of a row. */
ln_detect_cell ln_detect_cell_of(const ln_detect_reading *r, int row, int n_anchors);

/** x0, y0, x1, y1 from the center and the size. */
void ln_detect_from_center(double box[4], double x, double y, double width, double height);

/** The forms, in the order of their families. NULL: out of range. */
const ln_detect_form *ln_detect_form_row(int i);

/** The best form for the outputs. Fills *r. -1 with a reason that names the nearest form. */
int ln_detect_find(ln_detect_reading *r, int n, const char *const *names,
                   const tl_tensor *const *tensors, ln_error *err);

// Members of forms, by the file that has them

// ln_detect_yolo.c: one output has all columns
int ln_yolov5_fit(ln_detect_reading *r);
int ln_yolov5_segment_fit(ln_detect_reading *r);
int ln_yolov6_fit(ln_detect_reading *r);
int ln_yolov8_fit(ln_detect_reading *r);
int ln_yolov8_segment_fit(ln_detect_reading *r);
int ln_yolov8_pose_fit(ln_detect_reading *r);
int ln_yolov8_obb_fit(ln_detect_reading *r);
int ln_yolov10_obb_fit(ln_detect_reading *r);
int ln_found_fit(ln_detect_reading *r);
int ln_found_other_fit(ln_detect_reading *r);
int ln_yolov10_segment_fit(ln_detect_reading *r);
int ln_yolov10_pose_fit(ln_detect_reading *r);
int ln_yolox_fit(ln_detect_reading *r);
double ln_yolo_score(const ln_detect_reading *r, int row, int class_index);
double ln_found_class(const ln_detect_reading *r, int row);
void ln_yolo_center_box(const ln_detect_reading *r, int row, double box[4]);
void ln_found_box(const ln_detect_reading *r, int row, double box[4]);
void ln_obb_box(const ln_detect_reading *r, int row, double box[4]);
void ln_yolox_box(const ln_detect_reading *r, int row, double box[4]);
void ln_yolo_point(const ln_detect_reading *r, int row, int k, ln_key_point *point);
void ln_obb_point(const ln_detect_reading *r, int row, int k, ln_key_point *point);
double ln_obb_overlap(const ln_detect_reading *r, int row, int other);

// ln_detect_boxes.c: role 0 has boxes, role 1 scores, role 2 classes or masks
int ln_boxes_fit(ln_detect_reading *r);
int ln_labels_fit(ln_detect_reading *r);
int ln_ssd_fit(ln_detect_reading *r);
int ln_torchvision_fit(ln_detect_reading *r);
int ln_torchvision_segment_fit(ln_detect_reading *r);
int ln_torchvision_pose_fit(ln_detect_reading *r);
int ln_tensorflow_fit(ln_detect_reading *r);
int ln_tensorflow_segment_fit(ln_detect_reading *r);
int ln_nms_fit(ln_detect_reading *r);
int ln_yolov3_fit(ln_detect_reading *r);
int ln_detr_fit(ln_detect_reading *r);
int ln_rtdetr_fit(ln_detect_reading *r);
void ln_detr_begin(ln_detect_reading *r, int row);
double ln_boxes_score(const ln_detect_reading *r, int row, int class_index);
double ln_detr_score(const ln_detect_reading *r, int row, int class_index);
double ln_rtdetr_score(const ln_detect_reading *r, int row, int class_index);
double ln_yolov3_score(const ln_detect_reading *r, int row, int class_index);
double ln_labels_class(const ln_detect_reading *r, int row);
double ln_yolov3_class(const ln_detect_reading *r, int row);
void ln_corner_box(const ln_detect_reading *r, int row, double box[4]);
void ln_yx_box(const ln_detect_reading *r, int row, double box[4]);
void ln_center_box(const ln_detect_reading *r, int row, double box[4]);
void ln_yolov3_box(const ln_detect_reading *r, int row, double box[4]);
void ln_torchvision_point(const ln_detect_reading *r, int row, int k, ln_key_point *point);

// ln_detect_heads.c: boxes relative to anchors
extern const ln_detect_head ln_yolov2_head, ln_tiny_yolov2_head, ln_yolov3_head,
    ln_tiny_yolov3_head;
extern const ln_detect_head ln_yolov4_head, ln_yolov4_zoo_head;
int ln_retinaface_fit(ln_detect_reading *r);
int ln_scrfd_fit(ln_detect_reading *r);
int ln_scrfd_points_fit(ln_detect_reading *r);
int ln_yunet_fit(ln_detect_reading *r);
int ln_blazeface_fit(ln_detect_reading *r);
int ln_darknet_fit(ln_detect_reading *r);
int ln_darknet_other_fit(ln_detect_reading *r);
void ln_darknet_begin(ln_detect_reading *r, int row);
void ln_retinaface_begin(ln_detect_reading *r, int row);
double ln_retinaface_score(const ln_detect_reading *r, int row, int class_index);
double ln_scrfd_score(const ln_detect_reading *r, int row, int class_index);
double ln_yunet_score(const ln_detect_reading *r, int row, int class_index);
double ln_blazeface_score(const ln_detect_reading *r, int row, int class_index);
double ln_darknet_score(const ln_detect_reading *r, int row, int class_index);
void ln_retinaface_box(const ln_detect_reading *r, int row, double box[4]);
void ln_scrfd_box(const ln_detect_reading *r, int row, double box[4]);
void ln_yunet_box(const ln_detect_reading *r, int row, double box[4]);
void ln_blazeface_box(const ln_detect_reading *r, int row, double box[4]);
void ln_darknet_box(const ln_detect_reading *r, int row, double box[4]);
void ln_retinaface_point(const ln_detect_reading *r, int row, int k, ln_key_point *point);
void ln_yunet_point(const ln_detect_reading *r, int row, int k, ln_key_point *point);
void ln_blazeface_point(const ln_detect_reading *r, int row, int k, ln_key_point *point);
void ln_scrfd_point(const ln_detect_reading *r, int row, int k, ln_key_point *point);

// ln_detect_mask.c

/** Whether `mask` pixels of the picture, of a box in it, can be read: see ln_detections_mask.
 *  at: x0, y0, x1, y1 of the box in the input, for LN_DETECT_OF_BOX. */
int ln_detect_fill_mask(const ln_detect_reading *r, const ln_image_axis axes[2], int row,
                        const double at[4], const float box[4], const int region[4], uint8_t *mask,
                        ln_error *err);
