// SPDX-License-Identifier: Apache-2.0
// Detections: what the outputs of a model say about the picture that was its input.
//
//     ln_image_axis axes[2];                                // how the picture became the input
//     ln_image_axes(&format, image.height, image.width, 640, 640, axes);
//     const ln_detect_options options = {.score = 0.5, .overlap = 0.5};
//     ln_detections *found = ln_detect(n, names, outputs, axes, &options, &err);
//     for (int i = 0; found && i < ln_detections_count(found); i++) {
//         const ln_detection *d = ln_detections_item(found, i);
//         printf("%d %g at %g %g\n", d->class_index, d->score, d->box[0], d->box[1]);
//     }
//     ln_detections_free(found);
//
// Models of one family have outputs of one form, such as boxes [1, N, 4] and scores [1, N, C]. A
// table has the families, each with its task and its forms; ln_detect finds the form that the
// shapes, types and names of the outputs fit. A task or a family in the options restricts the
// search, where outputs of several families look alike.
//
// Units: coordinates of results are pixels of the picture, (0, 0) is the upper left corner of the
// upper left pixel, and the center of that pixel is (0.5, 0.5). Along an axis, coordinate v of the
// input is (v + axis.offset) * axis.in / axis.size of the picture, the inverse of ln_image_read.

#ifndef LN_DETECT_H
#define LN_DETECT_H

#include <stdint.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_image.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_tensor.h"

LN_BEGIN_DECLS

/** How detections are found. Zero is the default of each member but `score` and `overlap`. */
typedef struct ln_detect_options {
    const char *kind; // a task or a family of ln_detect_family; NULL: any that fits
    double score;     // the min score of a detection
    double overlap;   // the max intersection over union of two boxes of a class
    int max;          // the max number of detections; 0: 300
    int n_points;     // key points of a pose, 1 .. 1024, also without confidences where columns or
                      // labels leave no room for these; 0: 17, those of COCO
    int n_labels;     // of `labels`; 0: none
    // Names of the classes, also without the background, which their number settles. Names for
    // another number of classes are ignored. The detections keep them.
    const char *const *labels;
} ln_detect_options;

/** A key point, and the confidence that it is visible (1 if the model has none). */
typedef struct ln_key_point {
    float x, y, score;
} ln_key_point;

/** A detection. */
typedef struct ln_detection {
    int class_index;            // in the model's numbering
    const char *label;          // of `labels`; NULL: none, or they are for other classes
    float score;                // that of the class, by the model
    float box[4];               // x0, y0, x1, y1: x0 < x1, y0 < y1, inside the picture
    const ln_key_point *points; // [ln_detections_points], maybe outside; of an oriented box (obb)
                                // the corners, in the order of a walk around it. NULL: none
} ln_detection;

typedef struct ln_detections ln_detections;

/** Finds the detections in `n` outputs of one picture, names[i] with tensors[i]. axes: how the
 *  picture became the input (ln_image_axes), axes[0] the height. Of two boxes of a class whose
 *  intersection over union exceeds options->overlap, the one with the higher score remains (not for
 *  models that have done this themselves; of oriented boxes, the overlap is 1 minus the Hellinger
 *  distance of normal distributions with their centers and covariances). Ignores rows with a score
 * that is NaN or below options->score, and boxes that are infinite, NaN, or have no area in the
 * picture. Ignores outputs after the first 64, and those of TL_STRING. Returns new
 * (ln_detections_free), best first; equal scores by row, then class. NULL with a reason, among
 * others: the outputs fit no family (the reason names the outputs, and the nearest family with its
 * shapes), an unknown kind. The tensors' data, and options->labels, must outlive the detections. */
LN_API ln_detections *ln_detect(int n, const char *const *names, const tl_tensor *const *tensors,
                                const ln_image_axis axes[2], const ln_detect_options *options,
                                ln_error *err);

/** Ignores NULL. */
LN_API void ln_detections_free(ln_detections *found);

/** The number of detections. */
LN_API int ln_detections_count(const ln_detections *found);

/** Detection `i`, 0 .. count - 1. Returns borrowed (until ln_detections_free). */
LN_API const ln_detection *ln_detections_item(const ln_detections *found, int i);

/** The family and the task of the form that the outputs fit, such as "yolov8" and "detect". */
LN_API const char *ln_detections_family(const ln_detections *found);
LN_API const char *ln_detections_task(const ln_detections *found);

/** The number of classes that the outputs have, with a background; 0: unknown. */
LN_API int ln_detections_classes(const ln_detections *found);

/** Whether class 0 is the background, which is never found. */
LN_API int ln_detections_has_background(const ln_detections *found);

/** Whether a label is that of a background: "background", "__background__" or "N/A", in any case.
 */
LN_API int ln_detect_is_background(const char *label);

/** The number of key points of each detection; 0: none. */
LN_API int ln_detections_points(const ln_detections *found);

/** Whether each detection has a mask. */
LN_API int ln_detections_has_masks(const ln_detections *found);

/** The mask of detection `i`: the pixels of the picture in rows region[1] .. region[3] - 1 and
 *  columns region[0] .. region[2] - 1, those that the box touches. Fills region, and, unless `mask`
 *  is NULL, mask [rows, columns] with 1 for the object, else 0. A pixel belongs to it if its center
 *  is in the box, and the model's mask, interpolated linearly at that center, is above its
 *  threshold (logit 0, or probability 0.5). -1 with a reason: no masks, or no memory. */
LN_API int ln_detections_mask(const ln_detections *found, int i, int region[4], uint8_t *mask,
                              ln_error *err);

/** A row of the table of families. */
typedef struct ln_detect_family {
    const char *name;    // several rows have one name: forms of one family
    const char *task;    // "detect", "segment", "pose" or "obb"
    const char *outputs; // such as "output [1, 4 + C, N]"
    const char *models;  // that have such outputs
} ln_detect_family;

/** Row `i` of the table; NULL: out of range. Returns borrowed (forever). */
LN_API const ln_detect_family *ln_detect_family_row(int i);

/** The class of each pixel of the picture, from the first output that is [1, C, H, W] (the class
 *  with the max score, of equal ones the first), [1, 1, H, W] of a floating type (1 if it is at
 *  least `threshold`), or [1, H, W] or [1, 1, H, W] of integers (the class); is_nhwc: also
 *  [1, H, W, C]. Outputs whose aspect ratio differs from the input's fourfold do not fit. Each
 *  pixel has the class of the element that its center is in. *n_classes: C, 2 for scores, 0
 *  for integers. Returns new (tl_tensor_free_data_too), TL_INT32 [height, width] of the picture,
 *  -1 outside of the input. NULL with a reason: no output fits. */
LN_API tl_tensor *ln_class_map(int n, const char *const *names, const tl_tensor *const *tensors,
                               const ln_image_axis axes[2], int is_nhwc, double threshold,
                               int *n_classes, ln_error *err);

LN_END_DECLS

#endif
